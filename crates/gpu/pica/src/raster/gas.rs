//! Gas: densities that add up in the colour buffer (fragment mode 1), and their shading (fog mode 7).
//!
//! 3dbrew (GPU/Internal Registers), GBATEK and libctru name the registers and what they are for; none has the arithmetic, and
//! there are no published tests of a console. What is computed here is a model that gives each register the part its name
//! says; `docs/pica200.md` has it in one place, with what each step rests on.

use xenoglot_pica_shader::float::F16;

use super::batch::{Batch, LANES, Pixels};
use super::combiner::Source;
use super::fog;
use super::framebuffer::{DepthFormat, PixelBuffer, depth_address};
use super::options::Chip;
use crate::memory::Memory;
use crate::regs::{self, Registers};
use crate::tables::Tables;

const MODE_GAS: u32 = 1;
const FOG_GAS: u32 = 7;
/// Entries of the colour table; before them are as many differences.
const COLORS: usize = 8;

/// Whether fragments of the draw are densities.
pub fn accumulates(regs: &Registers) -> bool {
    regs.bits(regs::FRAGMENT_MODE, 0, 2) == MODE_GAS
}

/// Whether the draw shows densities.
pub fn is_shown(regs: &Registers) -> bool {
    regs.bits(regs::FOG_MODE, 0, 3) == FOG_GAS
}

/// How far a fragment lies before what is in the depth buffer, from the gas depth function (126 \[25:24\]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    /// Function 0, never: 0.
    None,
    /// Function 1, always: 1.
    Full,
    /// Function 2, greater: what passes has the greater depth.
    Above,
    /// Function 3, less and the others.
    Below,
}

/// Densities that add up.
#[derive(Clone, Copy, Debug)]
pub struct Accumulation {
    /// The colour buffer, four bytes a pixel: plain density in the low half, depth density in the high one.
    pub buffer: PixelBuffer,
    /// The depth buffer.
    pub depth: Option<(PixelBuffer, DepthFormat)>,
    distance: Distance,
    /// Factor of the distance.
    proportion: f32,
}

impl Accumulation {
    /// Decodes the registers, if fragments are densities and colours are written.
    pub fn decode(regs: &Registers) -> Option<Accumulation> {
        let distance = match regs.bits(regs::GAS_DEPTH, 24, 2) {
            0 => Distance::None,
            1 => Distance::Full,
            2 => Distance::Above,
            _ => Distance::Below,
        };
        let depth = |format: DepthFormat| {
            (PixelBuffer { address: depth_address(regs), bytes: format.bytes() }, format)
        };
        let needs_depth = matches!(distance, Distance::Above | Distance::Below);
        (regs.bits(regs::COLOR_WRITE, 0, 4) != 0).then(|| Accumulation {
            buffer: PixelBuffer { address: regs.get(regs::COLOR_ADDRESS) << 3, bytes: 4 },
            depth: DepthFormat::decode(regs).filter(|_| needs_depth).map(depth),
            distance,
            // Eight fractional bits.
            proportion: regs.bits(regs::GAS_DEPTH, 0, 24) as f32 / 256.0,
        })
    }

    /// Adds the batch, which needs its depth and colour.
    pub fn run(&self, batch: &Batch, pixels: &Pixels, memory: &mut dyn Memory) {
        let (mut words, mut depths) = ([0; LANES], [0; LANES]);
        self.buffer.load(memory, pixels, &mut words);
        if let Some((buffer, _)) = &self.depth {
            buffer.load(memory, pixels, &mut depths);
        }
        for (lane, word) in words.iter_mut().enumerate().take(batch.len) {
            *word = self.add(*word, batch.color[0][lane], batch.depth[lane], depths[lane]);
        }
        self.buffer.store(memory, pixels, &words, &batch.alive);
    }

    /// The word that takes the place of `stored`, with a density of 0 to 255 and what the depth buffer has.
    fn add(&self, stored: u32, density: u16, depth: f32, word: u32) -> u32 {
        let there = self.depth.map_or(0.0, |(_, format)| (word & format.max()) as f32 / format.max() as f32);
        let distance = match self.distance {
            Distance::None => 0.0,
            Distance::Full => 1.0,
            Distance::Above => ((depth - there) * self.proportion).clamp(0.0, 1.0),
            Distance::Below => ((there - depth) * self.proportion).clamp(0.0, 1.0),
        };
        let deep = (f32::from(density) * distance) as u16;
        let [plain, sum] = [stored as u16, (stored >> 16) as u16];
        u32::from(plain.saturating_add(density)) | u32::from(sum.saturating_add(deep)) << 16
    }
}

/// A light's part of the shading: intensities and how fast they fall with the density, 0 to 1.
#[derive(Clone, Copy, Debug)]
struct Light {
    least: f32,
    most: f32,
    attenuation: f32,
}

impl Light {
    fn decode(word: u32) -> Light {
        let [least, most, attenuation, _] = word.to_le_bytes().map(|byte| f32::from(byte) / 255.0);
        Light { least, most, attenuation }
    }

    fn intensity(&self, density: f32) -> f32 {
        self.most - (self.most - self.least) * (density * self.attenuation).clamp(0.0, 1.0)
    }
}

/// Densities to colours.
#[derive(Clone, Debug)]
pub struct Shading {
    /// Whether the depth density is shown and not the plain one.
    deep: bool,
    /// Factor of densities: one over the greatest.
    scale: f32,
    /// Factor of densities for the table of opacities.
    attenuation: f32,
    planar: Light,
    view: Light,
    /// How much of the second light there is.
    towards: f32,
    /// Whether the colour table is for the light and not for the density.
    by_light: bool,
    /// Differences and colours, r, g, b.
    colors: [[[f32; 3]; COLORS]; 2],
    /// Fog's table, which has opacities.
    opacities: Box<[[f32; 2]; 128]>,
}

impl Shading {
    /// Decodes registers and tables, if densities are shown and that is obeyed.
    pub fn decode(regs: &Registers, tables: &Tables, chip: Chip) -> Option<Shading> {
        let color = |n: usize, entry: fn(u8) -> f32| {
            let [r, g, b, _] = tables.gas.get(n).copied().unwrap_or_default().to_le_bytes();
            [r, g, b].map(entry)
        };
        let [differences, colors] = [0, COLORS].map(|first: usize| {
            // Differences are signed, in steps of two as those of procedural textures.
            let entry = if first == 0 { |byte| f32::from(byte as i8) * 2.0 } else { |byte| f32::from(byte) };
            std::array::from_fn(|n| color(first + n, entry))
        });
        (chip.gas && is_shown(regs)).then(|| Shading {
            deep: regs.bit(regs::FOG_MODE, 3),
            scale: F16.to_f32(regs.bits(regs::GAS_MAXIMUM, 0, 16)),
            attenuation: F16.to_f32(regs.bits(regs::GAS_ATTENUATION, 0, 16)),
            planar: Light::decode(regs.get(regs::GAS_PLANAR)),
            view: Light::decode(regs.get(regs::GAS_VIEW)),
            towards: regs.bits(regs::GAS_COLOR, 0, 8) as f32 / 255.0,
            by_light: regs.bit(regs::GAS_COLOR, 8),
            colors: [differences, colors],
            opacities: Box::new(tables.fog.map(fog::entry)),
        })
    }

    /// Gives the batch its colours from the densities that unit 0 read.
    pub fn run(&self, batch: &mut Batch) {
        let first = Source::Texture0.plane();
        for lane in 0..batch.len {
            let [r, g, b, a] = [0, 1, 2, 3].map(|channel| batch.planes[first + channel][lane]);
            let density = if self.deep { r << 8 | g } else { b << 8 | a };
            let color = self.color(density);
            batch.color.iter_mut().zip(color).for_each(|(plane, value)| plane[lane] = value);
        }
    }

    /// The colour of a density.
    fn color(&self, density: u16) -> [u16; 4] {
        // NaNs, which the registers may make, are 0.
        let unit = |value: f32| if value > 0.0 { value.min(1.0) } else { 0.0 };
        let density = unit(f32::from(density) / 255.0 * self.scale);
        let light = unit(self.planar.intensity(density) + self.view.intensity(density) * self.towards);
        let at = if self.by_light { light } else { density } * COLORS as f32;
        let entry = (at as usize).min(COLORS - 1);
        let rest = at - entry as f32;
        let [differences, colors] = self.colors.map(|table| table.get(entry).copied().unwrap_or_default());
        let [r, g, b] = [0, 1, 2].map(|n| (colors[n] + differences[n] * rest).clamp(0.0, 255.0) as u16);
        let at = unit(density * self.attenuation) * 128.0;
        let entry = (at as usize).min(127);
        let [value, difference] = self.opacities.get(entry).copied().unwrap_or_default();
        let opacity = unit(value + difference * (at - entry as f32));
        [r, g, b, (opacity * 255.0) as u16]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    fn accumulation(gas_depth: u32) -> Accumulation {
        let mut regs = Registers::default();
        regs.set(regs::COLOR_WRITE, 15);
        regs.set(regs::DEPTH_FORMAT, 2);
        regs.set(regs::COLOR_ADDRESS, FCRAM / 8);
        regs.set(regs::GAS_DEPTH, gas_depth);
        Accumulation::decode(&regs).unwrap()
    }

    #[test]
    fn densities_add_up_in_both_halves() {
        // A quarter before what is there, four times.
        let less = accumulation(3 << 24 | 0x200);
        let half = 0x80_0000;
        assert_eq!(less.add(0x0003_0010, 100, 0.25, half), 0x0035_0074);
        assert_eq!(less.add(0, 100, 0.75, half), 100);
        assert_eq!(accumulation(2 << 24 | 0x500).add(0, 100, 0.75, half), 100 << 16 | 100);
        assert_eq!(accumulation(1 << 24).add(0, 100, 0.0, 0), 100 << 16 | 100);
        assert_eq!(accumulation(0).add(0, 100, 0.0, half), 100);
        assert_eq!(accumulation(1 << 24).add(0xfff0_ffff, 100, 0.0, 0), u32::MAX);
    }

    #[test]
    fn dead_pixels_add_nothing() {
        let mut memory = Regions::console(8);
        let mut batch = Batch::of(2);
        batch.color[0] = [9; LANES];
        batch.alive[1] = 0;
        let mut pixels = Pixels::default();
        (0..2).for_each(|n| pixels.push(n, [0; 3]));
        accumulation(0).run(&batch, &pixels, &mut memory);
        assert_eq!(memory.bytes(FCRAM, 8), Some([9, 0, 0, 0, 0, 0, 0, 0].as_slice()));
    }

    fn shading(writes: &[(u32, u32)]) -> Shading {
        let mut regs = Registers::default();
        regs.set(regs::FOG_MODE, FOG_GAS);
        // One: a density of 255 is the greatest.
        regs.set(regs::GAS_MAXIMUM, 15 << 10);
        regs.set(regs::GAS_ATTENUATION, 15 << 10);
        writes.iter().for_each(|&(register, value)| regs.set(register, value));
        let mut tables = Tables::default();
        for (n, word) in tables.gas.iter_mut().enumerate() {
            // Red grows by 32 an entry, blue is constant.
            *word = if n < COLORS { 16 } else { ((n as u32 - 8) * 32) | 0x40_0000 };
        }
        tables.fog = [0, 1, 2, 3].map(|n| [n * 32; 32]).as_flattened().try_into().unwrap();
        tables.fog = tables.fog.map(|n: u32| (n * 2047 / 128) << 13);
        Shading::decode(&regs, &tables, Chip::ALL).unwrap()
    }

    #[test]
    fn colours_follow_the_density() {
        let plain = shading(&[]);
        assert_eq!(plain.color(0), [0, 0, 64, 0]);
        assert_eq!(plain.color(128)[..3], [128, 0, 64]);
        assert_eq!(plain.color(255)[..3], [255, 0, 64]);
        assert_eq!(plain.color(40000), plain.color(255));
        // The table has steps of a quarter.
        assert_eq!([64, 128, 192].map(|n| plain.color(n)[3]), [63, 127, 191]);
        // Half the scale: twice the density for the same.
        assert_eq!(shading(&[(regs::GAS_MAXIMUM, 14 << 10)]).color(256)[..3], plain.color(128)[..3]);
    }

    #[test]
    fn colours_follow_the_light() {
        // Full light that falls to a fifth at the greatest density.
        let lit = shading(&[(regs::GAS_COLOR, 1 << 8), (regs::GAS_PLANAR, 0xff_ff33)]);
        let red = [0, 128, 255].map(|n| lit.color(n)[0]);
        assert_eq!(red, [255, 153, 51]);
        // The second light adds to it.
        let both = shading(&[(regs::GAS_COLOR, 0x1ff), (regs::GAS_PLANAR, 0x3333), (regs::GAS_VIEW, 0x3333)]);
        assert_eq!(both.color(9)[0], 102);
    }

    #[test]
    fn registers_that_are_no_numbers_do_no_harm() {
        for word in [0xffff, 0x7c00, 0xfc00, 0x7e00] {
            let shading = shading(&[(regs::GAS_MAXIMUM, word), (regs::GAS_ATTENUATION, word)]);
            for density in [0, 1, u16::MAX] {
                assert!(shading.color(density).iter().all(|&channel| channel < 256));
            }
        }
    }

    #[test]
    fn the_half_that_is_shown() {
        let mut batch = Batch::of(1);
        let first = Source::Texture0.plane();
        for (channel, value) in [0, 128, 0, 64].into_iter().enumerate() {
            batch.planes[first + channel][0] = value;
        }
        shading(&[]).run(&mut batch);
        assert_eq!(batch.color[0][0], 64);
        shading(&[(regs::FOG_MODE, FOG_GAS | 8)]).run(&mut batch);
        assert_eq!(batch.color[0][0], 128);
    }
}
