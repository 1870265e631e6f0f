//! What compiled code calls: fold functions of ops without native code, and accesses off the fast path.

use crate::error::Fault;
use xenoglot_ir::fold::{self, Cx, eval};
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::{Bits, Kind, Op, Type};

/// Words of the area that arguments and results pass through: four operands of four components in four lanes.
pub(crate) const WORDS: usize = 64;
const LANES: usize = crate::LANES as usize;

/// An op that is evaluated by its fold function.
#[derive(Debug)]
pub(crate) struct FoldCall {
    pub(crate) op: Op,
    pub(crate) cx: Cx,
    pub(crate) types: Vec<Type>,
}

/// An access that may leave its memory.
#[derive(Debug)]
pub(crate) struct Access {
    /// Number of the buffer; private memory if none.
    pub(crate) buffer: Option<u32>,
    pub(crate) components: usize,
    pub(crate) policy: OutOfBounds,
}

/// What a program's code points to. Boxed, as code has the addresses.
pub(crate) type Sites = Vec<Box<Site>>;

/// What compiled code points to; lives as long as the code.
#[derive(Debug)]
pub(crate) enum Site {
    Fold(FoldCall),
    Access(Access),
}

/// Bools are all ones in registers.
fn from_word(kind: Kind, word: u32) -> u64 {
    if kind == Kind::Bool { u64::from(word & 1) } else { u64::from(word) }
}

fn to_word(kind: Kind, bits: u64) -> u32 {
    if kind == Kind::Bool { 0u32.wrapping_sub(bits as u32 & 1) } else { bits as u32 }
}

/// Evaluates the op for the lanes of the mask. `words` has the operands, component by component, lane by lane, and takes
/// the result in their place.
pub(crate) fn fold(call: &FoldCall, words: &mut [u32; WORDS], mask: u32) -> Result<(), Fault> {
    let mut results = [0; 4 * LANES];
    for lane in (0..LANES).filter(|l| mask >> l & 1 == 1) {
        let mut args = [Bits::default(); fold::MAX_FOLD_ARGS];
        let mut at = lane;
        for (arg, ty) in args.iter_mut().zip(&call.types) {
            for c in 0..usize::from(ty.lanes()) {
                arg.0[c] = from_word(ty.kind(), words[at]);
                at += LANES;
            }
        }
        let args = &args[..call.types.len().min(fold::MAX_FOLD_ARGS)];
        // Compiling tried it: only a division by zero is left.
        let result = eval(call.op, &call.cx, args, &call.types).map_err(|_| Fault::DivisionByZero)?;
        for c in 0..usize::from(call.cx.result.lanes()) {
            results[c * LANES + lane] = to_word(call.cx.result.kind(), result.0[c]);
        }
    }
    words[..results.len()].copy_from_slice(&results);
    Ok(())
}

/// Where component `c` of an access at `offset` lies in `size` bytes; `None` outside.
fn place(size: usize, offset: u32, c: usize) -> Option<std::ops::Range<usize>> {
    let start = (offset as usize).checked_add(4 * c)?;
    let end = start.checked_add(4)?;
    (end <= size).then_some(start..end)
}

fn check(access: &Access, size: usize, offset: u32) -> Result<(), Fault> {
    let outside = place(size, offset, access.components - 1).is_none();
    if outside && access.policy == OutOfBounds::Fault { Err(Fault::OutOfBounds) } else { Ok(()) }
}

/// Loads for the lane from `memory`: its offset is in word `lane`, its components go behind the offsets. Components
/// outside are zero.
pub(crate) fn gather(
    access: &Access,
    memory: &[u8],
    words: &mut [u32; WORDS],
    lane: usize,
) -> Result<(), Fault> {
    let offset = words[lane];
    check(access, memory.len(), offset)?;
    for c in 0..access.components {
        let word = place(memory.len(), offset, c).and_then(|range| memory[range].first_chunk::<4>());
        words[(c + 1) * LANES + lane] = word.map_or(0, |w| u32::from_le_bytes(*w));
    }
    Ok(())
}

/// Stores for the lane; words as in [`gather`]. Components outside are dropped.
pub(crate) fn scatter(
    access: &Access,
    memory: &mut [u8],
    words: &[u32; WORDS],
    lane: usize,
) -> Result<(), Fault> {
    let offset = words[lane];
    check(access, memory.len(), offset)?;
    for c in 0..access.components {
        if let Some(range) = place(memory.len(), offset, c) {
            memory[range].copy_from_slice(&words[(c + 1) * LANES + lane].to_le_bytes());
        }
    }
    Ok(())
}
