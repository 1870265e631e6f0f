//! Blending of fragment and stored pixel, on channels of 8 bits.

use super::batch::{LANES, Plane};
use crate::regs::{self, Registers};

/// How the weighted colours are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equation {
    /// Sum.
    Add,
    /// Source minus destination.
    Subtract,
    /// Destination minus source.
    ReverseSubtract,
    /// Least.
    Min,
    /// Greatest.
    Max,
}

impl Equation {
    /// The equation of a number; numbers above 4 add.
    pub fn from_number(number: u32) -> Equation {
        match number {
            1 => Equation::Subtract,
            2 => Equation::ReverseSubtract,
            3 => Equation::Min,
            4 => Equation::Max,
            _ => Equation::Add,
        }
    }

    /// `source` becomes the result; all values are 0 to 255.
    #[inline(always)]
    fn run(self, source: &mut [u16], source_factor: &Plane, destination: &Plane, destination_factor: &Plane) {
        let weights = (source_factor, destination, destination_factor);
        // Sums from 256 * 255 on are white whether they fit 16 bits or not.
        match self {
            Equation::Add => weighted(source, weights, |s, d| (s.saturating_add(d) / 255).min(255)),
            Equation::Subtract => weighted(source, weights, |s, d| s.saturating_sub(d) / 255),
            Equation::ReverseSubtract => weighted(source, weights, |s, d| d.saturating_sub(s) / 255),
            Equation::Min => weighted(source, weights, |s, d| s.min(d) / 255),
            Equation::Max => weighted(source, weights, |s, d| s.max(d) / 255),
        }
    }
}

#[inline(always)]
fn weighted(source: &mut [u16], (fs, d, fd): (&Plane, &Plane, &Plane), op: impl Fn(u16, u16) -> u16) {
    for (((source, fs), d), fd) in source.iter_mut().zip(fs).zip(d).zip(fd) {
        *source = op(*source * fs, d * fd);
    }
}

/// Weight of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    Constant(u8),
    /// A channel of the source, of the destination or of the blend constant, inverted or not.
    SourceColor {
        invert: bool,
    },
    DestinationColor {
        invert: bool,
    },
    SourceAlpha {
        invert: bool,
    },
    DestinationAlpha {
        invert: bool,
    },
    /// min(As, 255 - Ad).
    AlphaSaturate,
}

impl Factor {
    /// The factor of a number for the channel `channel`; `constant` is the blend constant. 15 is one, as the
    /// document names no meaning.
    fn from_number(number: u32, channel: usize, constant: [u8; 4]) -> Factor {
        let invert = number & 1 != 0;
        let flip = if invert { 0xff } else { 0 };
        match number {
            0 => Factor::Constant(0),
            2 | 3 => Factor::SourceColor { invert },
            4 | 5 => Factor::DestinationColor { invert },
            6 | 7 => Factor::SourceAlpha { invert },
            8 | 9 => Factor::DestinationAlpha { invert },
            10 | 11 => Factor::Constant(constant[channel] ^ flip),
            12 | 13 => Factor::Constant(constant[3] ^ flip),
            14 if channel < 3 => Factor::AlphaSaturate,
            _ => Factor::Constant(255),
        }
    }

    #[inline(always)]
    fn fill(self, out: &mut Plane, channel: usize, source: &[Plane; 4], destination: &[Plane; 4]) {
        let copy = |out: &mut Plane, from: &Plane, invert: bool| {
            let flip = if invert { 0xff } else { 0 };
            for (out, value) in out.iter_mut().zip(from) {
                *out = value ^ flip;
            }
        };
        match self {
            Factor::Constant(value) => out.fill(u16::from(value)),
            Factor::SourceColor { invert } => copy(out, &source[channel], invert),
            Factor::DestinationColor { invert } => copy(out, &destination[channel], invert),
            Factor::SourceAlpha { invert } => copy(out, &source[3], invert),
            Factor::DestinationAlpha { invert } => copy(out, &destination[3], invert),
            Factor::AlphaSaturate => {
                for ((out, source), destination) in out.iter_mut().zip(&source[3]).zip(&destination[3]) {
                    *out = (*source).min(255 ^ destination);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    equation: Equation,
    source: Factor,
    destination: Factor,
}

/// Blending of a draw.
#[derive(Clone, Copy, Debug)]
pub struct Blend {
    channels: [Channel; 4],
}

impl Blend {
    /// Decodes the registers; none if the fragment replaces the pixel.
    pub fn decode(regs: &Registers) -> Option<Blend> {
        let constant = regs.get(regs::BLEND_CONSTANT).to_le_bytes();
        let bits = |lo, count| regs.bits(regs::BLENDING, lo, count);
        let channel = |channel: usize| {
            let (equation, source, destination) = if channel < 3 { (0, 16, 20) } else { (8, 24, 28) };
            Channel {
                equation: Equation::from_number(bits(equation, 3)),
                source: Factor::from_number(bits(source, 4), channel, constant),
                destination: Factor::from_number(bits(destination, 4), channel, constant),
            }
        };
        let blend = Blend { channels: [0, 1, 2, 3].map(channel) };
        let is_copy = blend.channels.iter().all(|channel| {
            matches!(channel.equation, Equation::Add | Equation::Subtract)
                && channel.source == Factor::Constant(255)
                && channel.destination == Factor::Constant(0)
        });
        (!is_copy).then_some(blend)
    }

    /// `source` becomes the blended colour of the first `lanes` pixels.
    #[inline(always)]
    pub fn run(&self, source: &mut [Plane; 4], destination: &[Plane; 4], lanes: usize) {
        let original = *source;
        let (mut source_factor, mut destination_factor) = ([0; LANES], [0; LANES]);
        for (number, channel) in self.channels.iter().enumerate() {
            channel.source.fill(&mut source_factor, number, &original, destination);
            channel.destination.fill(&mut destination_factor, number, &original, destination);
            let source = &mut source[number][..lanes];
            channel.equation.run(source, &source_factor, &destination[number], &destination_factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANT: [u8; 4] = [11, 22, 33, 44];

    fn blend(equation: u32, source: u32, destination: u32, s: [u16; 4], d: [u16; 4]) -> [u16; 4] {
        let mut regs = Registers::default();
        let factors = source << 16 | destination << 20 | source << 24 | destination << 28;
        regs.set(regs::BLENDING, equation | equation << 8 | factors);
        regs.set(regs::BLEND_CONSTANT, u32::from_le_bytes(CONSTANT));
        let mut color = s.map(|value| [value; LANES]);
        if let Some(blend) = Blend::decode(&regs) {
            blend.run(&mut color, &d.map(|value| [value; LANES]), 8);
        }
        color.map(|plane| plane[0])
    }

    #[test]
    fn factors_by_number() {
        let (s, d) = ([10, 20, 30, 40], [50, 60, 70, 200]);
        let white = [255; 4];
        let expected: [[u16; 4]; 15] = [
            [0; 4],
            [255; 4],
            s,
            s.map(|v| 255 - v),
            d,
            d.map(|v| 255 - v),
            [40; 4],
            [215; 4],
            [200; 4],
            [55; 4],
            [11, 22, 33, 44],
            [244, 233, 222, 211],
            [44; 4],
            [211; 4],
            [40, 40, 40, 255],
        ];
        let constant = CONSTANT;
        for (number, expected) in (0..).zip(expected) {
            for channel in 0..4 {
                let mut out = [0; LANES];
                let [s, d] = [s, d].map(|color| color.map(|value| [value; LANES]));
                Factor::from_number(number, channel, constant).fill(&mut out, channel, &s, &d);
                assert_eq!(out[0], expected[channel], "factor {number} channel {channel}");
            }
        }
        assert_eq!(blend(0, 4, 0, white, d), d);
    }

    #[test]
    fn equations_against_wide_integers() {
        let equations: [fn(i32, i32) -> i32; 5] = [
            |s, d| (s + d) / 255,
            |s, d| (s - d) / 255,
            |s, d| (d - s) / 255,
            |s, d| s.min(d) / 255,
            |s, d| s.max(d) / 255,
        ];
        for (number, equation) in (0..).zip(equations) {
            for s in [0, 1, 100, 128, 254, 255u16] {
                for d in [0, 1, 77, 200, 255u16] {
                    for (fs, fd) in [(255, 255), (254, 255), (13, 200), (0, 255)] {
                        let expected = equation(i32::from(s * fs), i32::from(d * fd)).clamp(0, 255) as u16;
                        let mut source = [s; LANES];
                        Equation::from_number(number).run(
                            &mut source,
                            &[fs; LANES],
                            &[d; LANES],
                            &[fd; LANES],
                        );
                        assert_eq!(source[0], expected, "{number}: {s} {fs} {d} {fd}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_and_zero_copy() {
        let mut regs = Registers::default();
        regs.set(regs::BLENDING, 0x0101_0000);
        assert!(Blend::decode(&regs).is_none());
        assert_eq!(blend(0, 1, 0, [1, 2, 3, 4], [9; 4]), [1, 2, 3, 4]);
    }
}
