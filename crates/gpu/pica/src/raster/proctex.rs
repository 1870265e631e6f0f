//! The procedural texture: coordinates, through noise, clamping and functions, to an index of a colour table.

use xenoglot_pica_shader::float::F16;

use super::batch::{Batch, byte, round_half_away, semantic, truncate};
use super::combiner::Source;
use crate::regs::{self, Registers};
use crate::tables::Tables;

/// Values the first hash of the noise is mixed with.
pub const NOISE_FIRST: [u32; 16] = [0, 4, 10, 8, 4, 9, 7, 12, 5, 15, 13, 14, 11, 15, 2, 11];
/// The same for the second.
pub const NOISE_SECOND: [u32; 16] = [10, 2, 15, 8, 0, 7, 4, 5, 5, 13, 2, 6, 13, 9, 3, 14];

/// Value and difference to the next, by coordinate.
type Map = [[f32; 2]; 128];

/// What happens to coordinates beyond 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// 0.
    Zero,
    /// 1.
    Edge,
    /// The fraction.
    Repeat,
    /// The fraction, turned round every other time.
    Mirror,
    /// 1 above a half, else 0.
    Pulse,
}

impl Clamp {
    /// The mode of a number; numbers above 4 leave the edge.
    fn from_number(number: u32) -> Clamp {
        match number {
            0 => Clamp::Zero,
            2 => Clamp::Repeat,
            3 => Clamp::Mirror,
            4 => Clamp::Pulse,
            _ => Clamp::Edge,
        }
    }

    fn apply(self, coordinate: f32) -> f32 {
        match self {
            Clamp::Zero if coordinate > 1.0 => 0.0,
            Clamp::Zero => coordinate,
            Clamp::Edge => coordinate.min(1.0),
            Clamp::Repeat => fraction(coordinate),
            Clamp::Mirror if truncate(coordinate) % 2 == 0 => fraction(coordinate),
            Clamp::Mirror => 1.0 - fraction(coordinate),
            Clamp::Pulse if coordinate > 0.5 => 1.0,
            Clamp::Pulse => 0.0,
        }
    }
}

/// The part after the point of a number that is not negative.
fn fraction(value: f32) -> f32 {
    value - value.trunc()
}

/// Every other row or column is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shift {
    /// None is.
    None,
    /// Pairs are, from the second on.
    Odd,
    /// The same, one earlier.
    Even,
}

impl Shift {
    fn from_number(number: u32) -> Shift {
        match number {
            1 => Shift::Odd,
            2 => Shift::Even,
            _ => Shift::None,
        }
    }

    /// What to add to a coordinate of mode `clamp` where the other one is `other`.
    fn offset(self, other: f32, clamp: Clamp) -> f32 {
        let offset = if clamp == Clamp::Mirror { 1.0 } else { 0.5 };
        let whole = truncate(other);
        match self {
            Shift::None => 0.0,
            Shift::Odd => offset * (whole / 2 % 2) as f32,
            Shift::Even => offset * (whole.saturating_add(1) / 2 % 2) as f32,
        }
    }
}

/// Combination of the coordinates, by number; numbers above 9 give 0.
fn combine(function: u32, u: f32, v: f32) -> f32 {
    let length = || (u * u + v * v).sqrt();
    match function {
        0 => u,
        1 => u * u,
        2 => v,
        3 => v * v,
        4 => (u + v) * 0.5,
        5 => (u * u + v * v) * 0.5,
        6 => length().min(1.0),
        7 => u.min(v),
        8 => u.max(v),
        9 => (((u + v) * 0.5 + length()) * 0.5).min(1.0),
        _ => 0.0,
    }
}

/// A coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Beyond 1.
    pub clamp: Clamp,
    /// Displacement by the other coordinate.
    pub shift: Shift,
    /// Of the noise, times 4095.
    pub amplitude: f32,
    /// Of the noise.
    pub phase: f32,
    /// Of the noise.
    pub frequency: f32,
}

impl Axis {
    /// The axis `number`: 0 u, 1 v.
    fn decode(regs: &Registers, number: u32) -> Axis {
        let noise = regs::PROCTEX_NOISE_U + number;
        Axis {
            clamp: Clamp::from_number(regs.bits(regs::PROCTEX_SETUP, 3 * number, 3)),
            shift: Shift::from_number(regs.bits(regs::PROCTEX_SETUP, 16 + 2 * number, 2)),
            amplitude: f32::from(regs.bits(noise, 0, 16) as i16),
            phase: F16.to_f32(regs.bits(noise, 16, 16)),
            frequency: F16.to_f32(regs.bits(regs::PROCTEX_NOISE_FREQUENCY, 16 * number, 16)),
        }
    }

    /// Whole part and fraction of the place in the noise lattice.
    fn lattice(&self, coordinate: f32) -> (u32, f32) {
        let place = 9.0 * self.frequency * (coordinate + self.phase).abs();
        let whole = truncate(place);
        (whole as u32, place - whole as f32)
    }
}

/// What the registers say.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Semantic of the first coordinate.
    pub coordinates: usize,
    /// u and v.
    pub axes: [Axis; 2],
    /// How the coordinates are combined.
    pub color_function: u32,
    /// Function of alpha, if it is not the colour's.
    pub alpha_function: Option<u32>,
    /// Whether there is noise.
    pub noise: bool,
    /// Whether colours are interpolated.
    pub linear: bool,
    /// First entry of the colour table.
    pub offset: f32,
    /// Its last entry from there.
    pub last: f32,
}

impl Setup {
    /// Decodes the registers; none if the unit is off.
    pub fn decode(regs: &Registers) -> Option<Setup> {
        let setup = |lo, count| regs.bits(regs::PROCTEX_SETUP, lo, count);
        regs.bit(regs::TEXTURE_UNITS, 10).then(|| Setup {
            coordinates: match regs.bits(regs::TEXTURE_UNITS, 8, 2) {
                0 => semantic::TEX0,
                1 => semantic::TEX1,
                _ => semantic::TEX2,
            },
            axes: [Axis::decode(regs, 0), Axis::decode(regs, 1)],
            color_function: setup(6, 4),
            alpha_function: (setup(14, 1) != 0).then_some(setup(10, 4)),
            noise: setup(15, 1) != 0,
            linear: regs.bits(regs::PROCTEX_LUT, 0, 3) & 1 != 0,
            offset: regs.bits(regs::PROCTEX_LUT_OFFSET, 0, 8) as f32,
            last: regs.bits(regs::PROCTEX_LUT, 11, 8) as f32 - 1.0,
        })
    }
}

/// The procedural texture of a draw.
#[derive(Clone, Debug)]
pub struct Proctex {
    setup: Setup,
    noise: Option<Box<Map>>,
    color_map: Box<Map>,
    alpha_map: Box<Map>,
    colors: Box<[[u8; 4]; 256]>,
    differences: Box<[[i8; 4]; 256]>,
}

impl Proctex {
    /// Decodes registers and tables; none if the unit is off.
    pub fn decode(regs: &Registers, tables: &Tables) -> Option<Proctex> {
        Setup::decode(regs).map(|setup| Proctex {
            setup,
            noise: setup.noise.then(|| map(&tables.noise)),
            color_map: map(&tables.color_map),
            alpha_map: map(&tables.alpha_map),
            colors: Box::new(tables.colors.map(u32::to_le_bytes)),
            differences: Box::new(
                tables.color_differences.map(|word| word.to_le_bytes().map(|byte| byte as i8)),
            ),
        })
    }

    /// Semantics of the attributes it reads.
    pub fn semantics(&self) -> [usize; 2] {
        [self.setup.coordinates, self.setup.coordinates + 1]
    }

    /// Works out the colours of the batch.
    pub fn run(&self, batch: &mut Batch) {
        for lane in 0..batch.len {
            let (u, v) = (
                batch.attributes[self.setup.coordinates][lane],
                batch.attributes[self.setup.coordinates + 1][lane],
            );
            let color = self.color(u, v);
            for (plane, value) in batch.planes[Source::Procedural.plane()..][..4].iter_mut().zip(color) {
                plane[lane] = value;
            }
        }
    }

    fn color(&self, u: f32, v: f32) -> [u16; 4] {
        let [axis_u, axis_v] = &self.setup.axes;
        let (mut u, mut v) = (u.abs(), v.abs());
        let offset_u = axis_u.shift.offset(v, axis_u.clamp);
        let offset_v = axis_v.shift.offset(u, axis_v.clamp);
        if let Some(noise) = &self.noise {
            let strength = self.noise_at(noise, u, v);
            u = (u + strength * axis_u.amplitude / 4095.0).abs();
            v = (v + strength * axis_v.amplitude / 4095.0).abs();
        }
        let u = axis_u.clamp.apply(u + offset_u);
        let v = axis_v.clamp.apply(v + offset_v);
        let mut color = self.table_color(look_up(&self.color_map, combine(self.setup.color_function, u, v)));
        if let Some(function) = self.setup.alpha_function {
            color[3] = byte(look_up(&self.alpha_map, combine(function, u, v)) * 255.0);
        }
        color
    }

    fn table_color(&self, position: f32) -> [u16; 4] {
        let index = self.setup.offset + position * self.setup.last;
        if !self.setup.linear {
            return self.colors[round_half_away(index) as usize & 0xff].map(u16::from);
        }
        let whole = truncate(index);
        let fraction = index - whole as f32;
        let entry = whole as usize & 0xff;
        let (color, difference) = (self.colors[entry], self.differences[entry]);
        [0, 1, 2, 3].map(|i: usize| byte(f32::from(color[i]) + fraction * 2.0 * f32::from(difference[i])))
    }

    fn noise_at(&self, noise: &Map, u: f32, v: f32) -> f32 {
        let (x, x_fraction) = self.setup.axes[0].lattice(u);
        let (y, y_fraction) = self.setup.axes[1].lattice(v);
        let gradient = |i: u32, j: u32| {
            let distance = x_fraction + y_fraction - (i + j) as f32;
            random(x.wrapping_add(i), y.wrapping_add(j)) * distance
        };
        let (x_share, y_share) = (look_up(noise, x_fraction), look_up(noise, y_fraction));
        let below = mix(gradient(0, 0), gradient(1, 0), x_share);
        let above = mix(gradient(0, 1), gradient(1, 1), x_share);
        mix(below, above, y_share)
    }
}

/// Pseudo-random value of a lattice point, -1 to 1.
fn random(x: u32, y: u32) -> f32 {
    let a = hash(x);
    let mut b = hash(y);
    if a % 4 == 1 {
        b += 4;
    }
    b ^= (a & 1) * 6;
    b = (b + 10 + a) & 15;
    b ^= NOISE_SECOND[a as usize & 15];
    -1.0 + b as f32 * 2.0 / 15.0
}

fn hash(v: u32) -> u32 {
    (((v % 9 + 2) * 3) & 15) ^ NOISE_FIRST[((v / 9) & 15) as usize]
}

fn mix(a: f32, b: f32, share: f32) -> f32 {
    a * (1.0 - share) + b * share
}

fn map(words: &[u32; 128]) -> Box<Map> {
    Box::new(words.map(entry))
}

/// Value and difference to the next of a word of a map.
pub fn entry(word: u32) -> [f32; 2] {
    let difference = (word << 8) as i32 >> 20;
    [(word & 0xfff) as f32 / 4095.0, difference as f32 / 4095.0]
}

fn look_up(map: &Map, coordinate: f32) -> f32 {
    let place = coordinate * 128.0;
    let index = truncate(place).clamp(0, 127);
    let [value, difference] = map[index as usize];
    value + (place - index as f32) * difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clamp_modes() {
        let row = |number| [0.25, 0.75, 1.25, 2.25].map(|c| Clamp::from_number(number).apply(c));
        assert_eq!(row(0), [0.25, 0.75, 0.0, 0.0]);
        assert_eq!(row(1), [0.25, 0.75, 1.0, 1.0]);
        assert_eq!(row(2), [0.25, 0.75, 0.25, 0.25]);
        assert_eq!(row(3), [0.25, 0.75, 0.75, 0.25]);
        assert_eq!(row(4), [0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn shifts() {
        let row = |number, clamp| [0.5, 1.5, 2.5, 3.5].map(|v| Shift::from_number(number).offset(v, clamp));
        assert_eq!(row(0, Clamp::Edge), [0.0; 4]);
        assert_eq!(row(1, Clamp::Edge), [0.0, 0.0, 0.5, 0.5]);
        assert_eq!(row(2, Clamp::Edge), [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(row(1, Clamp::Mirror), [0.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn functions() {
        let (u, v) = (0.75, 1.0);
        let expected = [0.75, 0.5625, 1.0, 1.0, 0.875, 0.78125, 1.0, 0.75, 1.0, 1.0, 0.0];
        for (number, expected) in (0..).zip(expected) {
            assert_eq!(combine(number, u, v), expected, "{number}");
        }
        assert_eq!(combine(9, 0.0, 0.5), 0.375);
    }

    #[test]
    fn noise_by_its_formula() {
        assert_eq!(hash(0), 6);
        assert_eq!(hash(9), 6 ^ 4);
        assert_eq!(hash(8), 30 & 15);
        // a = b = 6: (6 + 10 + 6) & 15 = 6, xor 4 = 2.
        assert_eq!(random(0, 0), -1.0 + 2.0 * 2.0 / 15.0);
        // a = hash(1) = 9: b = 6 + 4 = 10, xor 6 = 12, (12 + 19) & 15 = 15, xor 13 = 2.
        assert_eq!(random(1, 0), -1.0 + 2.0 * 2.0 / 15.0);
        assert!((0..200).all(|x| (0..200).all(|y| random(x, y).abs() <= 1.0)));
    }

    #[test]
    fn maps() {
        let mut words = [0; 128];
        words[3] = 4095 | 0x801 << 12;
        let map = map(&words);
        assert_eq!(look_up(&map, 3.0 / 128.0), 1.0);
        assert_eq!(look_up(&map, 3.5 / 128.0), 1.0 - 0.5 * (2047.0 / 4095.0));
    }
}
