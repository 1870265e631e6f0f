//! Counts and positions of samples. Hosts do not tell positions: they are those of Direct3D's standard patterns
//! (`D3D11_STANDARD_MULTISAMPLE_PATTERN`), which Vulkan's standard sample locations are, too.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::SpecInfo;
use xenoglot_ir::{Imm, Op, Type, Value};

/// Positions of the samples of a pixel, in sixteenths of it from its centre.
type Pattern = &'static [(i8, i8)];

/// The standard patterns, of 1, 2, 4, 8 and 16 samples.
const PATTERNS: [Pattern; 5] = [
    &[(0, 0)],
    &[(4, 4), (-4, -4)],
    &[(-2, -6), (6, -2), (-6, 2), (2, 6)],
    &[(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
    &[
        (1, 1),
        (-1, -3),
        (-3, 2),
        (4, -1),
        (-5, -2),
        (2, 5),
        (5, 3),
        (3, -5),
        (-2, 6),
        (0, -7),
        (-4, -6),
        (-6, 4),
        (-8, 0),
        (7, -4),
        (6, 7),
        (-7, -8),
    ],
];

/// Eight positions along an axis from `first` on as nibbles of a word, lowest first; 0 behind the last.
fn nibbles(pattern: Pattern, first: usize, axis: impl Fn(&(i8, i8)) -> i8) -> u32 {
    let samples = pattern.iter().skip(first).take(8);
    samples.enumerate().fold(0, |word, (n, at)| word | (axis(at) as u32 & 15) << (4 * n))
}

impl Cx<'_> {
    pub(super) fn samples(&mut self, call: &Call<'_>) -> Lift<Made> {
        match call.op {
            Dx::RenderTargetGetSampleCount => Ok(self.target_samples()?.into()),
            Dx::RenderTargetGetSamplePosition => {
                let (count, index) = (self.target_samples()?, self.arg(call, 0)?);
                Ok(self.sample_position(count, index))
            }
            // Texture, sample.
            Dx::Texture2DMSGetSamplePosition => {
                let (handle, info) = self.texture(call)?;
                let texture = self.opaque(&handle, xenoglot_ir::Kind::Tex)?;
                let count = self.inst(Op::TexQuerySamples, Imm::Tex(info), &[texture], Type::I32);
                let index = self.arg(call, 1)?;
                Ok(self.sample_position(count, index))
            }
            _ => Err(NOT_LIFTED),
        }
    }

    fn target_samples(&mut self) -> Lift<Value> {
        let known = self.options.samples.filter(|n| (1..=16).contains(n));
        if let Some(id) = self.options.samples_constant {
            let spec = SpecInfo { id, default: known.unwrap_or(1).into() };
            return Ok(self.inst(Op::SpecConst, Imm::Spec(spec), &[], Type::I32));
        }
        let samples = known.ok_or(Stop::Unsupported("the number of the targets' samples is not told"))?;
        Ok(self.i32(samples.into()))
    }

    /// The position of a sample of so many, in pixels from the centre; zeros where there is no such sample or pattern.
    fn sample_position(&mut self, count: Value, index: Value) -> Made {
        let x = self.sample_axis(count, index, |at| at.0);
        let y = self.sample_axis(count, index, |at| at.1);
        Made::Value(Val::scalars([x, y]))
    }

    fn sample_axis(&mut self, count: Value, index: Value, axis: fn(&(i8, i8)) -> i8) -> Value {
        let eight = self.i32(8);
        let first_half = self.op(Op::IcmpUlt, &[index, eight]);
        let mut word = self.i32(0);
        for pattern in PATTERNS {
            let mut of_pattern = self.i32(nibbles(pattern, 0, axis));
            if pattern.len() > 8 {
                let second = self.i32(nibbles(pattern, 8, axis));
                of_pattern = self.op(Op::Select, &[first_half, of_pattern, second]);
            }
            let samples = self.i32(pattern.len() as u32);
            let is_it = self.op(Op::IcmpEq, &[count, samples]);
            word = self.op(Op::Select, &[is_it, of_pattern, word]);
        }
        let (seven, two) = (self.i32(7), self.i32(2));
        let place = self.op(Op::And, &[index, seven]);
        let from = self.op(Op::Shl, &[place, two]);
        let nibble = self.op(Op::Ushr, &[word, from]);
        let inside = self.op(Op::IcmpUlt, &[index, count]);
        let zero = self.i32(0);
        let nibble = self.op(Op::Select, &[inside, nibble, zero]);
        self.sixteenths(nibble)
    }
}

#[cfg(test)]
mod tests {
    use super::{PATTERNS, nibbles};

    #[test]
    fn nibbles_are_positions() {
        for pattern in PATTERNS {
            for (n, at) in pattern.iter().enumerate() {
                for (axis, want) in [(0, at.0), (1, at.1)] {
                    let of = move |at: &(i8, i8)| if axis == 0 { at.0 } else { at.1 };
                    let word = nibbles(pattern, n / 8 * 8, of);
                    let nibble = (word << (28 - 4 * (n % 8))) as i32 >> 28;
                    assert_eq!(nibble, i32::from(want), "sample {n} of {}", pattern.len());
                }
            }
        }
    }
}
