//! One instruction of one thread.

use crate::REGISTERS;
use crate::inst::Inst;
use crate::isa::Op;
use crate::number::{LANES, Lanes, Number};
use crate::program::Program;
use serde::{Deserialize, Serialize};

/// A thread's registers and place in the program.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Thread {
    /// Registers.
    pub registers: [Lanes; REGISTERS],
    /// The word that comes next.
    pub pc: u16,
}

/// What a thread sees of the machine.
pub trait Surroundings {
    /// Global `n`, 0–15.
    fn global(&self, n: u8) -> Lanes;
    /// The pixel of tile buffer `n`, 0–3.
    fn load_tile(&mut self, n: u8) -> Lanes;
    /// Sets the pixel of tile buffer `n`, 0–3.
    fn store_tile(&mut self, n: u8, v: &Lanes);
    /// Texture `n`, 0–3, at lanes x and y.
    fn sample(&mut self, n: u8, uv: &Lanes) -> Lanes;
}

/// What became of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It goes on, having executed this operation.
    Next(Op),
    /// It ended, by EXIT or by running past the end.
    Exit,
    /// It ended by KILL.
    Kill,
    /// It ended at a word that is no instruction.
    Undefined,
}

/// Executes the next instruction.
#[inline]
pub fn step(thread: &mut Thread, program: &Program, number: Number, around: &mut impl Surroundings) -> Step {
    let inst = match program.get(thread.pc) {
        Some(Ok(inst)) => inst,
        Some(Err(_)) => return Step::Undefined,
        None => return Step::Exit,
    };
    thread.pc += 1;
    let source = |n: u8| match n {
        0..16 => thread.registers[usize::from(n)],
        _ => around.global(n & 15),
    };
    let a = source(inst.a);
    let result = match inst.op {
        Op::Nop => return Step::Next(inst.op),
        Op::Exit => return Step::Exit,
        Op::Mov => a,
        Op::Swz => inst.swizzle().map(|lane| a[usize::from(lane)]),
        Op::Imm => [number.ratio(inst.value(), 8); LANES],
        Op::Ldg => around.global((number.whole(a[0]).wrapping_add(i32::from(inst.extra)) & 15) as u8),
        Op::Ldt => around.load_tile(inst.extra as u8),
        Op::Tex => around.sample(inst.extra as u8, &a),
        Op::Store => {
            around.store_tile(inst.extra as u8, &a);
            return Step::Next(inst.op);
        }
        Op::Kill => return if number.is_negative(a[0]) { Step::Kill } else { Step::Next(inst.op) },
        Op::Jmp => {
            thread.pc = inst.extra;
            return Step::Next(inst.op);
        }
        Op::Jz => {
            if number.is_zero(a[0]) {
                thread.pc = inst.extra;
            }
            return Step::Next(inst.op);
        }
        op => number.alu(op, &a, &source(inst.b), &source(inst.c)),
    };
    write(thread, &inst, number, &result);
    Step::Next(inst.op)
}

#[inline]
fn write(thread: &mut Thread, inst: &Inst, number: Number, result: &Lanes) {
    let d = &mut thread.registers[usize::from(inst.d & 15)];
    for (lane, (old, &new)) in d.iter_mut().zip(result).enumerate() {
        if inst.mask >> lane & 1 != 0 {
            *old = if inst.saturate { number.saturate(new) } else { new };
        }
    }
}
