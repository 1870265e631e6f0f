//! A front end in one file, for a machine that does not exist: four registers and five instructions of two bytes.
//!
//! `cargo run -p xenoglot --example toy_guest`; `docs/add-a-front-end.md` explains it.

use std::collections::BTreeMap;
use thiserror::Error;
use xenoglot::{Code, Host};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Block, Builder, Function, MemInfo, Module, Op, Slot, Space, Stage, Type, verify};

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inst {
    /// `rd = value`
    Set { rd: u8, value: u8 },
    /// `rd = rd + rs`
    Add { rd: u8, rs: u8 },
    /// `r3 = r3 - 1`; goes to instruction `to` unless that is 0.
    Loop { to: u8 },
    /// Word 0 of the buffer becomes `rs`.
    Out { rs: u8 },
    /// Ends the program.
    End,
}

/// Why a program is refused, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
enum ToyError {
    /// No such instruction.
    #[error("{at:#x}: {code:#04x} is no instruction")]
    Opcode { at: usize, code: u8 },
    /// A jump out of the program.
    #[error("{at:#x}: a jump to instruction {to}; there are {count}")]
    Target { at: usize, to: u8, count: usize },
    /// Control can leave the program at its end.
    #[error("the last instruction is no `end`")]
    NoEnd,
}

/// Reads a program. Everything is checked here: what is decoded can be lifted.
fn decode(code: &[u8]) -> Result<Vec<Inst>, ToyError> {
    let pairs = code.as_chunks().0;
    let mut insts = Vec::with_capacity(pairs.len());
    for (n, &[opcode, operand]) in pairs.iter().enumerate() {
        let (at, rd, rs) = (2 * n, operand >> 6, operand & 3);
        insts.push(match opcode {
            0x00 => Inst::End,
            0x01 => Inst::Set { rd, value: operand & 63 },
            0x02 => Inst::Add { rd, rs },
            0x03 if usize::from(operand) < pairs.len() => Inst::Loop { to: operand },
            0x03 => return Err(ToyError::Target { at, to: operand, count: pairs.len() }),
            0x04 => Inst::Out { rs },
            code => return Err(ToyError::Opcode { at, code }),
        });
    }
    if insts.last() != Some(&Inst::End) {
        return Err(ToyError::NoEnd);
    }
    Ok(insts)
}

/// The instructions that begin a block: the first, those jumped to, and those behind a jump or an end.
fn leaders(insts: &[Inst], f: &mut Function) -> BTreeMap<usize, Block> {
    let mut leaders = vec![0];
    for (n, inst) in insts.iter().enumerate() {
        match *inst {
            Inst::Loop { to } => leaders.extend([usize::from(to), n + 1]),
            Inst::End if n + 1 < insts.len() => leaders.push(n + 1),
            _ => {}
        }
    }
    leaders.sort();
    leaders.dedup();
    leaders.into_iter().map(|leader| (leader, f.add_block())).collect()
}

/// A compute module of a program, for one invocation.
fn lift(insts: &[Inst]) -> Module {
    let mut module = Module::new(Stage::Compute, "toy");
    let out = module.resources.push(ResourceData {
        name: "out".into(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding: 0,
        count: Count::One,
        oob: OutOfBounds::Ignore,
    });
    let mut f = Function::new("main");
    let registers: [Slot; 4] = std::array::from_fn(|n| f.add_slot(format!("r{n}"), Type::I32));
    let slot = |register: u8| registers[usize::from(register & 3)];
    // The function's first block has no predecessors, so the program's first instruction, a jump's possible target, gets
    // another.
    let entry = f.add_block();
    let blocks = leaders(insts, &mut f);
    let mut b = Builder::new(&mut f, entry);
    for register in registers {
        let zero = b.i32(0);
        b.slot_set(register, zero);
    }
    let mut open = true;
    for (n, inst) in insts.iter().enumerate() {
        if let Some(&block) = blocks.get(&n) {
            if open {
                b.jump(block, &[]);
            }
            b.switch_to(block);
        }
        // What the listing calls this instruction, in errors and comments.
        b.set_guest(2 * n as u32);
        open = match *inst {
            Inst::Set { rd, value } => {
                let value = b.i32(value.into());
                b.slot_set(slot(rd), value);
                true
            }
            Inst::Add { rd, rs } => {
                let (a, c) = (b.slot_get(slot(rd)), b.slot_get(slot(rs)));
                let sum = b.op(Op::Iadd, &[a, c]);
                b.slot_set(slot(rd), sum);
                true
            }
            Inst::Loop { to } => {
                let (counter, one, zero) = (b.slot_get(slot(3)), b.i32(1), b.i32(0));
                let less = b.op(Op::Isub, &[counter, one]);
                b.slot_set(slot(3), less);
                let again = b.op(Op::IcmpNe, &[less, zero]);
                b.branch(again, (blocks[&usize::from(to)], &[]), (blocks[&(n + 1)], &[]));
                false
            }
            Inst::Out { rs } => {
                let (offset, value) = (b.i32(0), b.slot_get(slot(rs)));
                b.store(MemInfo::plain(Space::Storage, Some(out), 2), offset, value);
                true
            }
            Inst::End => {
                b.ret(&[]);
                false
            }
        };
    }
    module.entry = Some(module.funcs.push(f)).into();
    module
}

/// Runs a module on the interpreter: what is in word 0 of its buffer afterwards.
fn run(module: &Module) -> Result<u32, Box<dyn std::error::Error>> {
    let mut bindings = Bindings::new(module);
    let buffer = module.resources.keys().next().ok_or("no buffer")?;
    bindings.set_words(buffer, &[0]);
    Interpreter::new(module)?.run_entry(&mut bindings, &Limits::default())?;
    bindings.words(buffer).first().copied().ok_or_else(|| "an empty buffer".into())
}

/// `r3 = 3; r1 = 7; again: r0 += r1; loop again; out r0; end`
const PROGRAM: [u8; 12] = [0x01, 0xc3, 0x01, 0x47, 0x02, 0x01, 0x03, 0x02, 0x04, 0x00, 0x00, 0x00];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut module = lift(&decode(&PROGRAM)?);
    verify(&module)?;
    println!("{module}");
    println!("the interpreter leaves {}", run(&module)?);
    let host: Host = "vulkan-glsl".parse()?;
    match xenoglot::compile(&mut module, &host, &Default::default())? {
        Code::Text(glsl) => println!("{glsl}"),
        Code::Words(words) => println!("{} words", words.len()),
        other => println!("{} bytes", other.into_bytes().len()),
    }
    Ok(())
}

#[test]
fn three_sevens_are_twenty_one() {
    let mut module = lift(&decode(&PROGRAM).unwrap());
    assert_eq!(run(&module).unwrap(), 21);
    // And after all passes.
    xenoglot::Translator::new().optimize(&mut module, None);
    assert_eq!(run(&module).unwrap(), 21);
}

#[test]
fn any_bytes_are_refused_or_become_a_sound_module() {
    let mut lifted = 0;
    for [a, b] in (0..6).flat_map(|a| (0..6).map(move |b| [a, b])) {
        for [x, y] in (0..=255).step_by(5).flat_map(|x| (0..=255).step_by(5).map(move |y| [x, y])) {
            if let Ok(insts) = decode(&[a, x, b, y, 0, 0]) {
                verify(&lift(&insts)).unwrap();
                lifted += 1;
            }
        }
    }
    assert!(lifted > 10_000, "{lifted}");
}
