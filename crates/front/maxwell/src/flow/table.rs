//! Jump tables: `LDC Rn, c[b][Rm + t]` before `BRX Rn k`, the bank's data known at translation time. A `BRX` on a pointer
//! from memory is a call: of a function that the file names.

use super::{ConstantBank, word};
use crate::code::{WORD, is_control};
use crate::decode::decode;
use crate::inst::{Inst, Role, Value};
use crate::modifier::{LogicOp, Mod};
use crate::opcode::Opcode;

/// Instructions looked at before the branch.
const REACH: u32 = 64;
/// Most entries of a table.
const MAX_ENTRIES: u32 = 1024;

/// Values of the branch's register and the addresses they lead to; none if no table is found.
///
/// The index's bound is taken from the minimum or mask that made it. Without one, all of the bank from the table on
/// that can be a code address counts.
pub(super) fn recover(code: &[u8], constants: &[ConstantBank<'_>], branch: &Inst) -> Option<Vec<(u32, u32)>> {
    let register = branch.operand(Role::A)?.reg()?;
    let Value::Target(base) = branch.operand(Role::Target)?.value else { return None };
    let load = definition(code, branch.address, register)?;
    let Value::Const { bank, offset, index } = load.operand(Role::A)?.value else {
        return None;
    };
    if load.op != Opcode::Ldc {
        return None;
    }
    let data = constants.iter().find(|c| c.bank == u32::from(bank))?.data;
    let table = data.get(usize::try_from(offset).ok()?..)?;
    let count = bound(code, load.address, index).unwrap_or(MAX_ENTRIES).min(MAX_ENTRIES);
    let mut entries = Vec::new();
    for entry in table.as_chunks::<4>().0.iter().take(count as usize) {
        let value = u32::from_le_bytes(*entry);
        let to = value.wrapping_add(base);
        let valid = to.is_multiple_of(WORD) && word(code, to).is_some();
        if !valid {
            break;
        }
        entries.push((value, to));
    }
    entries.sort_unstable();
    entries.dedup();
    (!entries.is_empty()).then_some(entries)
}

/// Values of the branch's register by which it is a call of one of the functions, and where they are; none if there is no
/// function. The register has a pointer to a function: an offset in the code, to which the branch adds its own.
pub(super) fn functions(functions: &[u32], branch: &Inst) -> Option<Vec<(u32, u32)>> {
    let Value::Target(base) = branch.operand(Role::Target)?.value else { return None };
    let entries: Vec<(u32, u32)> = functions.iter().map(|&at| (at.wrapping_sub(base), at)).collect();
    (!entries.is_empty()).then_some(entries)
}

/// The last instruction before `address`, in the order of the code, that writes `register` without a predicate.
fn definition(code: &[u8], address: u32, register: u8) -> Option<Inst> {
    let addresses = (1..=REACH).map_while(|i| address.checked_sub(i * WORD)).filter(|&a| !is_control(a));
    let mut insts = addresses.map_while(|a| decode(a, word(code, a)?).ok());
    insts
        .find(|i| i.operand(Role::Dst).and_then(|o| o.reg()) == Some(register))
        .filter(|i| i.guard.is_always())
}

/// One more than the greatest index, if `register` is four times a bounded index.
fn bound(code: &[u8], address: u32, register: u8) -> Option<u32> {
    let scaled = definition(code, address, register)?;
    let by_four = scaled.op == Opcode::Shl && scaled.operand(Role::B)?.imm() == Some(2);
    if !by_four {
        return None;
    }
    let index = definition(code, scaled.address, scaled.operand(Role::A)?.reg()?)?;
    let limit = index.operand(Role::B)?.imm()?;
    let bounded = match index.op {
        Opcode::Imnmx => {
            !index.has(Mod::Signed)
                && index.operand(Role::Pred).is_some_and(|p| p.value == Value::Pred(7) && !p.inv)
        }
        Opcode::Lop | Opcode::Lop32i => index.get(Mod::LogicOp) == Ok(LogicOp::And),
        _ => false,
    };
    bounded.then(|| limit.checked_add(1)).flatten()
}
