//! Linear filters and levels of detail: OpenGL ES 1.1, sections 3.7.7 and 3.7.8.
//!
//! The logarithm that chooses a level is a polynomial of sums and products, so that programs on a host's GPU choose the same.

use super::options::Chip;
use super::setup::Setup;
use crate::regs::Registers;
use crate::texture::Texture;

/// Bits of a weight between two texels or levels.
pub const WEIGHT_BITS: u32 = 8;
pub(crate) const ONE: u32 = 1 << WEIGHT_BITS;
/// Beyond this there is nothing between texels.
pub(crate) const FARTHEST: f32 = 16_777_216.0;
/// log2(1 + x) is x + x (1 - x) p(x), p being this polynomial, within 2^-15 (least squares; exact at 0 and 1).
pub(crate) const LOG2: [f32; 4] = [0.441_835_9, -0.266_536_3, 0.147_018_77, -0.044_243_74];

/// An image of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Bytes from the base image.
    pub offset: u32,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
}

/// How texels become a sample.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Whether texels are mixed where the image is enlarged.
    pub magnify_linear: bool,
    /// The same where it is reduced.
    pub minify_linear: bool,
    /// Whether neighbouring levels are mixed.
    pub between_levels: bool,
    /// Added to the level of detail.
    pub bias: f32,
    /// Level with the most detail, and the last.
    pub range: [f32; 2],
    levels: Vec<Level>,
}

/// A level to sample, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Number of the level.
    pub level: usize,
    /// Part of the next level, 0 to 255 of 256.
    pub next: u32,
    /// Whether texels are mixed.
    pub linear: bool,
}

impl Filter {
    /// Decodes a unit's registers of parameters and levels for the base image `texture`; none if its nearest texels
    /// are all there is to it.
    pub fn decode(
        regs: &Registers,
        parameters: u32,
        lod: u32,
        texture: &Texture,
        chip: Chip,
    ) -> Option<Filter> {
        let linear = |bit| chip.filters && regs.bit(parameters, bit);
        let last = if chip.mipmaps { regs.bits(lod, 16, 4) } else { 0 };
        let first = regs.bits(lod, 24, 4).min(last);
        let bias = (regs.bits(lod, 0, 13) << 19) as i32 >> 19;
        let filter = Filter {
            magnify_linear: linear(1),
            minify_linear: linear(2),
            between_levels: regs.bit(parameters, 24),
            bias: if chip.mipmaps { bias as f32 / 256.0 } else { 0.0 },
            range: [first as f32, last as f32],
            levels: levels(texture, last),
        };
        (filter.magnify_linear || filter.minify_linear || last > 0).then_some(filter)
    }

    /// The levels, the base image first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The level of detail up to which the image is taken for enlarged.
    pub fn threshold(&self) -> f32 {
        // A sharp minification takes over from a smooth magnification later.
        let smooth = self.magnify_linear && !self.minify_linear && self.range[1] > 0.0;
        if smooth { 0.5 } else { 0.0 }
    }

    /// The level of a number up to the last.
    pub fn level(&self, number: usize) -> Level {
        let last = self.levels.len().saturating_sub(1);
        self.levels.get(number.min(last)).copied().unwrap_or(Level { offset: 0, width: 1, height: 1 })
    }

    /// Bytes and tiles of all levels of `texture`.
    pub fn extent(&self, texture: &Texture) -> (u32, u32) {
        let images = self.levels.iter().map(|level| level.of(texture));
        images.fold((0, 0), |(bytes, tiles), image| (bytes + image.bytes(), tiles + image.tiles()))
    }

    /// What to sample where a pixel's step is the square root of `density` texels of the base image.
    pub fn choose(&self, density: f32) -> Choice {
        let detail = half_log2(density) + self.bias;
        let [first, last] = self.range;
        if detail <= self.threshold() {
            return Choice { level: first as usize, next: 0, linear: self.magnify_linear };
        }
        let detail = detail.max(first).min(last);
        let (level, next) = if self.between_levels {
            (detail.floor(), ((detail - detail.floor()) * ONE as f32) as u32)
        } else {
            ((detail + 0.5).ceil() - 1.0, 0)
        };
        Choice { level: level as usize, next, linear: self.minify_linear }
    }
}

/// Half the logarithm of a square, to base 2. For 0 some number below -63, for what is no finite number one of 64 at least.
fn half_log2(square: f32) -> f32 {
    let bits = square.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let x = f32::from_bits(bits & 0x7f_ffff | 0x3f80_0000) - 1.0;
    let [a, b, c, d] = LOG2;
    let p = ((d * x + c) * x + b) * x + a;
    let log2 = x + x * (1.0 - x) * p;
    (exponent as f32 + log2) * 0.5
}

impl Level {
    /// The image of this level of the texture whose base image is `base`.
    pub fn of(&self, base: &Texture) -> Texture {
        let address = base.address.wrapping_add(self.offset);
        Texture { address, width: self.width, height: self.height, format: base.format }
    }
}

/// The base image and `last` smaller ones. Each has half the size of the one before and follows it in memory.
fn levels(texture: &Texture, last: u32) -> Vec<Level> {
    let mut offset = 0;
    let level = |number: u32| {
        let [width, height] = [texture.width, texture.height].map(|size| (size >> number).max(1));
        let level = Level { offset, width, height };
        offset += level.of(texture).bytes();
        level
    };
    (0..=last).map(level).collect()
}

/// A place between two texels of a row or column: the first one's number and the part of the second, of 256.
pub fn between(coordinate: f32, size: u32) -> (i32, u32) {
    let place = coordinate * size as f32 - 0.5;
    let first = place.floor().clamp(-FARTHEST, FARTHEST);
    (first as i32, (((place - first) * ONE as f32) as u32).min(ONE - 1))
}

/// The values `part` of 256 on the way from `a` to `b`, times 256.
pub fn mix(a: [u32; 4], b: [u32; 4], part: u32) -> [u32; 4] {
    std::array::from_fn(|i| a[i] * (ONE - part) + b[i] * part)
}

/// Values times 2^`bits`, rounded, to a texel.
pub fn round(values: [u32; 4], bits: u32) -> u32 {
    u32::from_le_bytes(values.map(|value| ((value + (1 << bits >> 1)) >> bits) as u8))
}

/// What a pixel's attributes are one pixel to the right and one upwards.
pub fn neighbours(setup: &Setup, weights: &[f32; 3], semantics: [usize; 3]) -> [[f32; 3]; 2] {
    [1, 2].map(|direction| {
        let weights: [f32; 3] =
            std::array::from_fn(|vertex| weights[vertex] + setup.weights[vertex][direction] as f32);
        let sum = |values: &[f32; 3]| -> f32 { values.iter().zip(&weights).map(|(v, w)| v * w).sum() };
        let inverse_w = sum(&setup.inverse_w);
        semantics.map(|semantic| sum(&setup.attributes[semantic]) / inverse_w)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FCRAM;
    use crate::texture::Format;

    const TEXTURE: Texture = Texture { address: FCRAM, width: 64, height: 16, format: Format::Rgba8 };
    const PARAMETERS: u32 = 0x83;
    const LOD: u32 = 0x84;

    fn filter(parameters: u32, lod: u32) -> Option<Filter> {
        let mut regs = Registers::default();
        regs.set(PARAMETERS, parameters);
        regs.set(LOD, lod);
        Filter::decode(&regs, PARAMETERS, LOD, &TEXTURE, Chip::ALL)
    }

    fn choice(parameters: u32, lod: u32, density: f32) -> (usize, u32, bool) {
        let Choice { level, next, linear } = filter(parameters, lod).unwrap().choose(density * density);
        (level, next, linear)
    }

    #[test]
    fn levels_follow_each_other() {
        let filter = filter(0, 3 << 16).unwrap();
        let levels: Vec<_> = (0..5).map(|n| filter.level(n)).map(|l| (l.offset, l.width, l.height)).collect();
        // Levels end at whole tiles: 16x4 texels take as much as 16x8.
        let expected = [(0, 64, 16), (4096, 32, 8), (5120, 16, 4), (5632, 8, 2), (5632, 8, 2)];
        assert_eq!(levels, expected);
        assert_eq!(filter.extent(&TEXTURE), (5632 + 256, 16 + 4 + 2 + 1));
    }

    #[test]
    fn without_filters_and_levels_there_is_nothing_to_do() {
        assert!(filter(0, 0x1fff).is_none());
        let mut regs = Registers::default();
        regs.set(PARAMETERS, 6);
        regs.set(LOD, 3 << 16);
        assert!(Filter::decode(&regs, PARAMETERS, LOD, &TEXTURE, Chip::default()).is_none());
    }

    #[test]
    fn density_chooses_filter_and_level() {
        let (magnify, minify, between) = (2, 4, 1 << 24);
        let last = 3 << 16;
        assert_eq!(choice(magnify, 0, 1.0), (0, 0, true));
        assert_eq!(choice(magnify, 0, 1.1), (0, 0, false));
        assert_eq!(choice(minify, 0, 0.5), (0, 0, false));
        assert_eq!(choice(minify, 0, 16.0), (0, 0, true));
        // Nearest level: halves go down.
        let sqrt_2 = 2f32.sqrt();
        assert_eq!(choice(0, last, sqrt_2 * 0.99).0, 0);
        assert_eq!(choice(0, last, sqrt_2 * 1.01).0, 1);
        assert_eq!(choice(0, last, 100.0).0, 3);
        // Between levels: 2^1.25 texels.
        let (level, next, _) = choice(between, last, 2f32.powf(1.25));
        assert!(level == 1 && next.abs_diff(64) <= 1, "{level} {next}");
        // A smooth magnification lasts until half a level below sharp levels.
        assert!(choice(magnify, last, sqrt_2 * 0.99).2);
        assert!(!choice(magnify, last, sqrt_2 * 1.01).2);
    }

    #[test]
    fn logarithm_of_squares() {
        for n in -40..40 {
            assert_eq!(half_log2(4f32.powi(n)), n as f32);
        }
        for n in 1..10_000 {
            let density = n as f32 * 0.037;
            assert!((half_log2(density * density) - density.log2()).abs() < 2e-5, "{density}");
        }
    }

    #[test]
    fn bias_and_range() {
        let bias = |levels: i32| (levels * 256) as u32 & 0x1fff;
        assert_eq!(choice(0, 3 << 16 | bias(2), 1.0).0, 2);
        assert_eq!(choice(0, 3 << 16 | bias(-2), 8.0).0, 1);
        assert_eq!(choice(0, 3 << 16 | 2 << 24, 1.0).0, 2);
        assert_eq!(choice(0, 1 << 16 | 2 << 24, 1.0).0, 1);
        for density in [0.0, f32::INFINITY, f32::NAN] {
            assert!(choice(1 << 24, 3 << 16, density).0 <= 3);
        }
    }

    #[test]
    fn samples_between_texels() {
        // The middle of a texel of eight is its own; between two middles both count.
        assert_eq!(between(0.5 / 8.0, 8), (0, 0));
        assert_eq!(between(1.0 / 8.0, 8), (0, 128));
        assert_eq!(between(0.0, 8), (-1, 128));
        assert_eq!(between(f32::NAN, 8), (0, 0));
        for coordinate in [f32::INFINITY, f32::NEG_INFINITY, 1e30] {
            assert!(between(coordinate, 8).1 < ONE);
        }
        let mixed = mix([0, 255, 100, 1], [255, 255, 50, 2], 128);
        assert_eq!(round(mixed, WEIGHT_BITS).to_le_bytes(), [128, 255, 75, 2]);
    }
}
