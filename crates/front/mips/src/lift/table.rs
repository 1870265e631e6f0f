//! Jump tables: where a jump to a register may lead.
//!
//! Compilers load the address from a table, at an address that is a constant plus an unknown index. In position-independent
//! code the table's address comes from the global offset table, and its entries are relative to `gp`. What is found here is a
//! guess that the lifted code compares the real address with: where the guess is wrong, the jump leaves the region.

use super::Code;
use crate::decode::decode;
use crate::isa::Op;

/// Instructions before the jump that are looked at.
const WINDOW: u32 = 24;
/// Entries of a table that are looked at.
const MOST: u32 = 256;
/// How far targets may be from the jump.
const NEAR: u32 = 1 << 16;
const GP: usize = 28;

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Constant(u32),
    /// A constant plus anything.
    Indexed(u32),
    /// The word at a constant plus anything, plus a constant.
    Loaded {
        table: u32,
        plus: u32,
    },
}

impl Known {
    fn plus(self, other: Known) -> Known {
        match (self, other) {
            (Known::Constant(a), Known::Constant(b)) => Known::Constant(a.wrapping_add(b)),
            (Known::Constant(a), Known::Indexed(b)) | (Known::Indexed(b), Known::Constant(a)) => {
                Known::Indexed(a.wrapping_add(b))
            }
            (Known::Constant(a), Known::Loaded { table, plus })
            | (Known::Loaded { table, plus }, Known::Constant(a)) => {
                Known::Loaded { table, plus: plus.wrapping_add(a) }
            }
            (Known::Constant(a), _) | (_, Known::Constant(a)) => Known::Indexed(a),
            _ => Known::Nothing,
        }
    }
}

/// Where the jump at `pc` to a register may lead, in the order of the table, each address once.
pub(super) fn targets(code: &impl Code, pc: u32, register: u8, gp: Option<u32>) -> Vec<u32> {
    let Known::Loaded { table, plus } = known(code, pc, register, gp) else { return Vec::new() };
    let mut targets = Vec::new();
    for n in 0..MOST {
        let Some(entry) = code.data(table.wrapping_add(4 * n)) else { break };
        let target = entry.wrapping_add(plus);
        let near = target.wrapping_sub(pc).wrapping_add(NEAR) < 2 * NEAR;
        if target & 3 != 0 || !near || code.instruction(target).is_none() {
            break;
        }
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

/// What is known of a register at `pc`, by the instructions before it.
fn known(code: &impl Code, pc: u32, register: u8, gp: Option<u32>) -> Known {
    let mut registers = [Known::Nothing; 32];
    let unknown = |registers: &mut [Known; 32]| {
        registers.fill(Known::Nothing);
        registers[0] = Known::Constant(0);
        registers[GP] = gp.map_or(Known::Nothing, Known::Constant);
    };
    unknown(&mut registers);
    for back in (1..=WINDOW).rev() {
        let Some(inst) = code.instruction(pc.wrapping_sub(4 * back)).and_then(|word| decode(word).ok())
        else {
            unknown(&mut registers);
            continue;
        };
        let [rs, rt, rd] = [inst.rs(), inst.rt(), inst.rd()].map(usize::from);
        let immediate = Known::Constant(inst.imm() as u32);
        let (to, value) = match inst.op {
            Op::Lui => (rt, Known::Constant(inst.uimm() << 16)),
            Op::Addiu | Op::Addi => (rt, registers[rs].plus(immediate)),
            Op::Ori => match registers[rs] {
                Known::Constant(c) => (rt, Known::Constant(c | inst.uimm())),
                _ => (rt, Known::Nothing),
            },
            Op::Addu | Op::Add => (rd, registers[rs].plus(registers[rt])),
            Op::Or if rt == 0 => (rd, registers[rs]),
            Op::Lw => match registers[rs].plus(immediate) {
                Known::Constant(address) => (rt, code.data(address).map_or(Known::Nothing, Known::Constant)),
                Known::Indexed(table) if registers[rs] != Known::Nothing => {
                    (rt, Known::Loaded { table, plus: 0 })
                }
                _ => (rt, Known::Nothing),
            },
            // What comes behind such a jump, other code has led to.
            Op::J | Op::Jr | Op::JrHb | Op::Jal | Op::Jalr | Op::JalrHb => {
                unknown(&mut registers);
                continue;
            }
            _ if inst.op.has_slot() => continue,
            // Its destination, whichever of the two it is.
            _ => {
                registers[rt] = Known::Nothing;
                (rd, Known::Nothing)
            }
        };
        if to != 0 {
            registers[to] = value;
        }
        registers[0] = Known::Constant(0);
    }
    registers[usize::from(register & 31)]
}
