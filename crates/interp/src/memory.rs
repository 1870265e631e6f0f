//! Little-endian access to bytes, lane by lane: a lane that is not wholly inside is outside.

use crate::outcome::Stats;
use crate::trap::Cause;
use xenoglot_ir::flags::Flags;
use xenoglot_ir::fold::{Cx, eval, sign_extend};
use xenoglot_ir::imm::{Imm, MemInfo};
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::op::Op;
use xenoglot_ir::ty::{Bits, Kind, Type};

/// The memory an access goes to, with what happens outside of it.
pub(crate) struct Region<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) policy: OutOfBounds,
    pub(crate) info: MemInfo,
    pub(crate) stats: &'a mut Stats,
}

impl Region<'_> {
    fn check(&self, offset: u64, ty: Type) -> Result<(), Cause> {
        let align_log2 = self.info.align_log2;
        if offset & ((1 << align_log2) - 1) != 0 {
            return Err(Cause::Misaligned { offset, align_log2 });
        }
        if self.policy == OutOfBounds::Fault && !inside(self.bytes.len(), offset, ty) {
            return Err(Cause::OutOfBounds { space: self.info.space, offset, size: self.bytes.len() as u64 });
        }
        Ok(())
    }

    pub(crate) fn load(&mut self, offset: u64, ty: Type) -> Result<Bits, Cause> {
        self.check(offset, ty)?;
        let (value, lost) = load(self.bytes, offset, ty);
        self.stats.out_of_bounds += lost;
        Ok(value)
    }

    pub(crate) fn store(&mut self, offset: u64, ty: Type, value: Bits) -> Result<(), Cause> {
        self.check(offset, ty)?;
        self.stats.out_of_bounds += store(self.bytes, offset, ty, value);
        Ok(())
    }

    /// `a` is the operand, or the expected value of a compare-exchange that stores `b`.
    pub(crate) fn atomic(&mut self, op: Op, offset: u64, ty: Type, a: u64, b: u64) -> Result<Bits, Cause> {
        let old = self.load(offset, ty)?;
        let new = updated(op, ty, old.0[0], [a, b])?;
        // Counted by the load already.
        store(self.bytes, offset, ty, Bits::scalar(new));
        Ok(old)
    }
}

/// What an atomic with these operands stores over `old`.
pub(crate) fn updated(op: Op, ty: Type, old: u64, [a, b]: [u64; 2]) -> Result<u64, Cause> {
    Ok(match op {
        Op::AtomicCmpxchg if old == a => b,
        Op::AtomicCmpxchg => old,
        Op::AtomicFadd => {
            let cx = Cx { result: ty, arg: ty, flags: Flags::NONE, imm: Imm::None };
            let sum = eval(Op::Fadd, &cx, &[Bits::scalar(old), Bits::scalar(a)], &[ty, ty]);
            sum.map_err(|_| Cause::Unsupported { op })?.0[0]
        }
        _ => combine(op, ty.kind(), old, a).ok_or(Cause::Unsupported { op })?,
    })
}

/// Where lane `i` of a `ty` at `offset` lies in `size` bytes of memory; `None` if not wholly inside.
fn place(size: usize, offset: u64, ty: Type, i: usize) -> Option<std::ops::Range<usize>> {
    let bytes = (ty.kind().bits() / 8) as usize;
    let start = usize::try_from(offset).ok()?.checked_add(i * bytes)?;
    let end = start.checked_add(bytes)?;
    (end <= size).then_some(start..end)
}

/// Whether all of a `ty` at `offset` lies inside `size` bytes.
fn inside(size: usize, offset: u64, ty: Type) -> bool {
    (0..usize::from(ty.lanes())).all(|i| place(size, offset, ty, i).is_some())
}

/// Loads a `ty`, zeros for lanes outside, and how many lanes were outside.
fn load(memory: &[u8], offset: u64, ty: Type) -> (Bits, u64) {
    let (mut out, mut lost) = (Bits::default(), 0);
    for i in 0..usize::from(ty.lanes()) {
        match place(memory.len(), offset, ty, i) {
            Some(range) => {
                out.0[i] = memory[range].iter().rev().fold(0, |acc, &b| acc << 8 | u64::from(b));
            }
            None => lost += 1,
        }
    }
    (out, lost)
}

/// Stores a `ty`, drops lanes outside, and gives how many those were.
fn store(memory: &mut [u8], offset: u64, ty: Type, value: Bits) -> u64 {
    let mut lost = 0;
    for i in 0..usize::from(ty.lanes()) {
        match place(memory.len(), offset, ty, i) {
            Some(range) => {
                let n = range.len();
                memory[range].copy_from_slice(&value.0[i].to_le_bytes()[..n]);
            }
            None => lost += 1,
        }
    }
    lost
}

/// What an atomic stores over `old`; `None` if `op` is no read-modify-write of one operand.
fn combine(op: Op, kind: Kind, old: u64, operand: u64) -> Option<u64> {
    let signed = |x| sign_extend(kind, x);
    Some(match op {
        Op::AtomicAdd => old.wrapping_add(operand) & kind.mask(),
        Op::AtomicAnd => old & operand,
        Op::AtomicOr => old | operand,
        Op::AtomicXor => old ^ operand,
        Op::AtomicXchg => operand,
        Op::AtomicUmin => old.min(operand),
        Op::AtomicUmax => old.max(operand),
        Op::AtomicSmin if signed(operand) < signed(old) => operand,
        Op::AtomicSmax if signed(operand) > signed(old) => operand,
        Op::AtomicSmin | Op::AtomicSmax => old,
        Op::AtomicIncWrap if old >= operand => 0,
        Op::AtomicIncWrap => old + 1,
        Op::AtomicDecWrap if old == 0 || old > operand => operand,
        Op::AtomicDecWrap => old - 1,
        _ => return None,
    })
}
