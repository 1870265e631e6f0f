//! Memory after a launch against what was expected, field by field.

use super::format::{Buffer, Mode, Slot, SlotType};
use super::launch::Launch;
use crate::report::Verdict;

/// Fields whose expectation is doubtful, with the reason: FORMAT.md, section 1, "Doubtful fields".
const DOUBTFUL: &[(&str, &str, u32, &str)] = &[
    ("f32_arith", "out", 10, "the assembler may fuse this product and sum"),
    ("setp_float", "out", 25, "the machine code takes zeros for normal numbers"),
];

/// The doubtful field of a buffer that starts at `word` of a record.
fn doubtful(kernel: &str, buffer: &str, word: u32) -> Option<&'static str> {
    let found = DOUBTFUL.iter().find(|d| (d.0, d.1, d.2) == (kernel, buffer, word));
    found.map(|d| d.3)
}

/// Bits of an exponent and of a mantissa.
#[derive(Clone, Copy)]
struct Shape {
    exponent: u32,
    mantissa: u32,
}

const HALF: Shape = Shape { exponent: 5, mantissa: 10 };
const SINGLE: Shape = Shape { exponent: 8, mantissa: 23 };
const DOUBLE: Shape = Shape { exponent: 11, mantissa: 52 };

impl Shape {
    fn is_nan(self, bits: u64) -> bool {
        let all_ones = ((1 << self.exponent) - 1) << self.mantissa;
        bits & self.magnitude() > all_ones
    }

    fn magnitude(self) -> u64 {
        (1 << (self.exponent + self.mantissa)) - 1
    }

    fn value(self, bits: u64) -> f64 {
        match self.mantissa {
            52 => f64::from_bits(bits),
            23 => f32::from_bits(bits as u32).into(),
            _ => half(bits as u16),
        }
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + mantissa / 1024.0) * 2f64.powi(e - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Whether one number is right.
fn is_right(slot: &Slot, shape: Shape, got: u64, want: u64) -> bool {
    let nans = shape.is_nan(got) && shape.is_nan(want);
    let zeros = (got | want) & shape.magnitude() == 0;
    match slot.mode {
        Mode::Bits => got == want,
        Mode::NanAny => got == want || nans,
        Mode::NanAnyZeroAny => got == want || nans || zeros,
        Mode::Approx => {
            let (got, want) = (shape.value(got), shape.value(want));
            match want.is_finite() && got.is_finite() {
                true => (got - want).abs() <= slot.abs.max(slot.rel * want.abs()),
                false => nans || got == want,
            }
        }
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w))
}

/// Whether the field at word `at` is right, and what it is and should be.
fn field(slot: &Slot, at: usize, got: &[u32], want: &[u32]) -> Option<(bool, u64, u64)> {
    let wide = |words: &[u32]| Some(u64::from(*words.get(at)?) | u64::from(*words.get(at + 1)?) << 32);
    let one = |words: &[u32]| words.get(at).map(|&w| u64::from(w));
    let (got, want) = match slot.ty {
        SlotType::U64 | SlotType::F64 => (wide(got)?, wide(want)?),
        _ => (one(got)?, one(want)?),
    };
    let right = match slot.ty {
        SlotType::U32 | SlotType::U64 => got == want,
        SlotType::F32 => is_right(slot, SINGLE, got, want),
        SlotType::F64 => is_right(slot, DOUBLE, got, want),
        SlotType::F16 => got >> 16 == want >> 16 && is_right(slot, HALF, got & 0xffff, want & 0xffff),
        SlotType::F16x2 => {
            [0, 16].iter().all(|&half| is_right(slot, HALF, got >> half & 0xffff, want >> half & 0xffff))
        }
    };
    Some((right, got, want))
}

/// What differs first in a buffer; a doubtful field only if nothing else does.
fn difference(kernel: &str, buffer: &Buffer, got: &[u8]) -> Option<Verdict> {
    let Some(after) = &buffer.after else {
        let changed = got.iter().zip(&buffer.before).position(|(a, b)| a != b)?;
        return Some(Verdict::Failed(format!("buffer {}: byte {changed:#x} was written", buffer.name)));
    };
    let (got, want): (Vec<u32>, Vec<u32>) = (words(got).collect(), words(after).collect());
    if got.len() != want.len() {
        let difference = format!("buffer {}: {} words, expected {}", buffer.name, got.len(), want.len());
        return Some(Verdict::Failed(difference));
    }
    let stride = (buffer.stride_words as usize).max(1);
    let mut covered = vec![false; stride];
    for slot in &buffer.slots {
        let count = if matches!(slot.ty, SlotType::U64 | SlotType::F64) { 2 } else { 1 };
        covered.iter_mut().skip(slot.word as usize).take(count).for_each(|c| *c = true);
    }
    let mut unconfirmed = None;
    for record in 0..want.len() / stride {
        for slot in &buffer.slots {
            let at = record * stride + slot.word as usize;
            if let Some((false, got, want)) = field(slot, at, &got, &want) {
                let difference = format!(
                    "buffer {}, record {record}, word {} ({:?}, {:?}): {got:#x}, expected {want:#x}",
                    buffer.name, slot.word, slot.ty, slot.mode
                );
                let Some(reason) = doubtful(kernel, &buffer.name, slot.word) else {
                    return Some(Verdict::Failed(difference));
                };
                unconfirmed.get_or_insert(Verdict::Unconfirmed(format!("{difference}; {reason}")));
            }
        }
    }
    let odd = |&i: &usize| !covered[i % stride] && got[i] != want[i];
    match (0..want.len()).find(odd) {
        Some(i) => {
            let difference =
                format!("buffer {}, word {i}: {:#x}, expected {:#x}", buffer.name, got[i], want[i]);
            Some(Verdict::Failed(difference))
        }
        None => unconfirmed,
    }
}

/// How a launch that left `memory` ended.
pub fn judge(launch: &Launch, memory: &[u8]) -> Verdict {
    let before = launch.memory.bytes();
    if memory.len() != before.len() {
        let (got, want) = (memory.len(), before.len());
        return Verdict::Failed(format!("{got} bytes of memory, expected {want}"));
    }
    let mut covered = vec![false; memory.len()];
    let mut unconfirmed = None;
    for (buffer, range) in launch.kernel.buffers.iter().zip(launch.memory.buffers()) {
        let range = range.clone();
        covered[range.clone()].fill(true);
        match difference(&launch.kernel.name, buffer, &memory[range]) {
            Some(failed @ Verdict::Failed(_)) => return failed,
            other => unconfirmed = unconfirmed.or(other),
        }
    }
    // Global data comes after the buffers; kernels may write it, and no expectation says what.
    for range in launch.memory.buffers().iter().skip(launch.kernel.buffers.len()) {
        covered[range.clone()].fill(true);
    }
    match (0..memory.len()).find(|&i| !covered[i] && memory[i] != before[i]) {
        Some(i) => Verdict::Failed(format!("byte {i:#x} of memory, outside all buffers, was written")),
        None => unconfirmed.unwrap_or(Verdict::Passed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(ty: SlotType, mode: Mode) -> Slot {
        Slot { word: 0, ty, mode, rel: 1e-3, abs: 1e-6 }
    }

    fn right(ty: SlotType, mode: Mode, got: &[u32], want: &[u32]) -> bool {
        field(&slot(ty, mode), 0, got, want).unwrap().0
    }

    #[test]
    fn nans_and_zeros_are_equal_where_a_mode_says_so() {
        let (nan, other, negative) = (0x7fc0_0000, 0xffff_ffff, 0x8000_0000);
        assert!(!right(SlotType::F32, Mode::Bits, &[nan], &[other]));
        assert!(right(SlotType::F32, Mode::NanAny, &[nan], &[other]));
        assert!(!right(SlotType::F32, Mode::NanAny, &[0x7f80_0000], &[nan]));
        assert!(!right(SlotType::F32, Mode::NanAny, &[0], &[negative]));
        assert!(right(SlotType::F32, Mode::NanAnyZeroAny, &[0], &[negative]));
        assert!(right(SlotType::F64, Mode::NanAny, &[1, 0x7ff0_0000], &[0, 0xfff8_0000]));
        assert!(right(SlotType::F16x2, Mode::NanAny, &[0x7e00_3c00], &[0xfe01_3c00]));
        assert!(!right(SlotType::F16x2, Mode::NanAny, &[0x7e00_3c00], &[0xfe01_3c01]));
    }

    #[test]
    fn approximate_values_may_differ_a_little() {
        let close =
            |got: f32, want: f32| right(SlotType::F32, Mode::Approx, &[got.to_bits()], &[want.to_bits()]);
        assert!(close(1.0005, 1.0) && !close(1.005, 1.0));
        assert!(close(1e-7, 0.0) && !close(1e-5, 0.0));
        assert!(close(f32::INFINITY, f32::INFINITY) && !close(f32::MAX, f32::INFINITY));
        assert!(close(f32::NAN, -f32::NAN) && !close(1.0, f32::NAN));
        assert_eq!([0x3c00, 0xc000, 1, 0x7c00].map(half), [1.0, -2.0, 2f64.powi(-24), f64::INFINITY]);
    }
}
