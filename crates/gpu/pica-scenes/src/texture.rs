//! Pictures made of formulas, and textures made of them.

use crate::builder::{Builder, Texture};
use crate::math::hash;
use xenoglot_pica::texture::Format;
use xenoglot_pica::texture::tiling::{ROW_ORDER, TILE};

/// Red, green, blue, alpha.
pub type Texel = [u8; 4];

/// A picture, rows from top to bottom. Its sides are multiples of 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    texels: Vec<Texel>,
}

/// The texel a part `t` of the way from one to another.
pub fn mix(from: Texel, to: Texel, t: f32) -> Texel {
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|i| (f32::from(from[i]) * (1.0 - t) + f32::from(to[i]) * t + 0.5) as u8)
}

/// An opaque texel.
pub const fn rgb(r: u8, g: u8, b: u8) -> Texel {
    [r, g, b, 255]
}

impl Image {
    /// A square of `side` texels; `f` gives them from x and y, which go from 0 to 1 to the right and down.
    pub fn square(side: u32, f: impl Fn(f32, f32) -> Texel) -> Image {
        let at = |i: u32| (i as f32 + 0.5) / side as f32;
        let texels = (0..side * side).map(|i| f(at(i % side), at(i / side))).collect();
        Image { width: side, height: side, texels }
    }

    /// `cells` by `cells` fields of two colours in turn.
    pub fn checker(side: u32, cells: f32, a: Texel, b: Texel) -> Image {
        Image::square(
            side,
            |x, y| if ((x * cells) as u32 + (y * cells) as u32).is_multiple_of(2) { a } else { b },
        )
    }

    /// A wooden crate: planks in a frame.
    pub fn crate_side(side: u32) -> Image {
        Image::square(side, |x, y| {
            let edge = x.min(y).min(1.0 - x).min(1.0 - y);
            let diagonal = libm::fabsf(x - y);
            let (along, across) = if edge < 0.12 { (y + x, edge * 40.0) } else { (x, y * 24.0) };
            let grain = noise(along * 6.0, across, 3);
            let wood = mix(rgb(120, 74, 36), rgb(214, 160, 96), grain);
            let seam =
                libm::fabsf(edge - 0.12) < 0.012 || (edge > 0.12 && libm::fabsf(diagonal - 0.1) < 0.014);
            if seam { mix(wood, rgb(40, 22, 10), 0.8) } else { wood }
        })
    }

    /// Bricks in mortar, `rows` of them.
    pub fn bricks(side: u32, rows: f32) -> Image {
        Image::square(side, |x, y| {
            let row = libm::floorf(y * rows);
            let across = x * rows / 2.0 + if (row as u32).is_multiple_of(2) { 0.0 } else { 0.5 };
            let (column, u, v) = (libm::floorf(across), across - libm::floorf(across), y * rows - row);
            let grain = noise(x * 40.0, y * 40.0, 7);
            if u < 0.05 || v < 0.1 {
                return mix(rgb(150, 146, 138), rgb(190, 186, 178), grain);
            }
            let columns = rows as u32 / 2;
            let shade = hash(row as u32 * 31 + column as u32 % columns);
            mix(mix(rgb(134, 52, 36), rgb(190, 92, 60), shade), rgb(90, 40, 30), grain * 0.4)
        })
    }

    /// Light that falls off from the middle.
    pub fn spot(side: u32) -> Image {
        Image::square(side, |x, y| {
            let far = libm::hypotf(x - 0.5, y - 0.5) * 2.0;
            let light = (255.0 * libm::powf((1.0 - far).clamp(0.0, 1.0), 0.7)) as u8;
            [light; 4]
        })
    }

    /// The picture as a texture of a format, tile by tile.
    pub fn encode(&self, format: Format) -> Vec<u8> {
        let mut bytes = Vec::new();
        for tile in 0..self.width / 8 * (self.height / 8) {
            let (left, top) = (tile % (self.width / 8) * 8, tile / (self.width / 8) * 8);
            let texel = |x: u32, y: u32| self.texels[((top + y) * self.width + left + x) as usize];
            let texels: [Texel; TILE] =
                ROW_ORDER.map(|place| texel(u32::from(place) % 8, u32::from(place) / 8));
            match format {
                Format::Etc1 => etc1(&mut bytes, texel),
                _ => pack(&mut bytes, format, &texels),
            }
        }
        bytes
    }
}

/// Texels of a tile in their order in memory.
fn pack(bytes: &mut Vec<u8>, format: Format, texels: &[Texel; TILE]) {
    let words = |widths: [u32; 4]| {
        texels.iter().flat_map(move |texel| {
            let narrow =
                |word: u32, (&channel, bits): (&u8, u32)| word << bits | u32::from(channel) >> (8 - bits);
            (texel.iter().zip(widths).fold(0, narrow) as u16).to_le_bytes()
        })
    };
    match format {
        Format::Rgba8 => bytes.extend(texels.iter().flat_map(|&[r, g, b, a]| [a, b, g, r])),
        Format::Rgb8 => bytes.extend(texels.iter().flat_map(|&[r, g, b, _]| [b, g, r])),
        Format::Rgb565 => bytes.extend(words([5, 6, 5, 0])),
        Format::Rgb5A1 => bytes.extend(words([5, 5, 5, 1])),
        Format::Rgba4 => bytes.extend(words([4, 4, 4, 4])),
        Format::Ia8 => bytes.extend(texels.iter().flat_map(|&[i, _, _, a]| [a, i])),
        Format::I8 => bytes.extend(texels.iter().map(|&[i, ..]| i)),
        Format::A8 => bytes.extend(texels.iter().map(|&[.., a]| a)),
        Format::I4 => {
            bytes.extend(texels.as_chunks().0.iter().map(|&[[low, ..], [high, ..]]| low >> 4 | high & 0xf0));
        }
        _ => panic!("no scene makes textures of format {format:?}"),
    }
}

/// What the tables of ETC1 add or subtract.
const MODIFIERS: [[i32; 2]; 8] =
    [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// A tile as four blocks of 4x4 texels, each in two halves of 2x4 with a colour of four bits per channel.
fn etc1(bytes: &mut Vec<u8>, texel: impl Fn(u32, u32) -> Texel) {
    for (left, top) in [(0, 0), (4, 0), (0, 4), (4, 4)] {
        let mut block = 0u64;
        for half in 0..2 {
            let places: [(u32, u32); 8] = std::array::from_fn(|i| (half * 2 + i as u32 / 4, i as u32 % 4));
            let texels = places.map(|(x, y)| texel(left + x, top + y).map(i32::from));
            let mean = [0, 1, 2].map(|c| texels.iter().map(|t| t[c]).sum::<i32>() / 8);
            let narrow = mean.map(|c| (c * 15 + 127) / 255);
            let error = |table: usize| -> i32 { texels.iter().map(|t| nearest(t, narrow, table).1).sum() };
            let table = (0..8).min_by_key(|&table| error(table)).unwrap_or(0);
            for ((x, y), texel) in places.into_iter().zip(&texels) {
                let (step, _) = nearest(texel, narrow, table);
                let bit = 4 * x + y;
                block |= (step as u64 & 1) << bit | (step as u64 >> 1) << (16 + bit);
            }
            block |= (table as u64) << (37 - 3 * half);
            for (channel, value) in (0..).zip(narrow) {
                block |= (value as u64) << (60 - 8 * channel - 4 * half);
            }
        }
        bytes.extend(block.to_le_bytes());
    }
}

/// The step of a table that comes nearest to a texel, and how far it is off: bit 0 the large one, bit 1 subtracted.
fn nearest(texel: &[i32; 4], narrow: [i32; 3], table: usize) -> (u32, i32) {
    let error = |step: u32| {
        let size = MODIFIERS[table][step as usize & 1];
        let add = if step & 2 == 0 { size } else { -size };
        let channel = |c: usize| ((narrow[c] * 17 + add).clamp(0, 255) - texel[c]).pow(2);
        (0..3).map(channel).sum::<i32>()
    };
    let step = (0..4).min_by_key(|&step| error(step)).unwrap_or(0);
    (step, error(step))
}

/// Smooth noise from 0 to 1 in three octaves.
pub fn noise(x: f32, y: f32, seed: u32) -> f32 {
    let octave = |n: u32| {
        let scale = (1 << n) as f32;
        lattice(x * scale, y * scale, seed + n) / (2 << n) as f32
    };
    (octave(0) + octave(1) + octave(2)) * 8.0 / 7.0
}

fn lattice(x: f32, y: f32, seed: u32) -> f32 {
    let (column, row) = (libm::floorf(x), libm::floorf(y));
    let ease = |t: f32| t * t * (3.0 - 2.0 * t);
    let (u, v) = (ease(x - column), ease(y - row));
    let at = |i: i32, j: i32| {
        let (i, j) = (column as i32 + i, row as i32 + j);
        hash(
            seed.wrapping_mul(7919)
                ^ (i as u32).wrapping_mul(374_761_393)
                ^ (j as u32).wrapping_mul(668_265_263),
        )
    };
    let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
    lerp(lerp(at(0, 0), at(1, 0), u), lerp(at(0, 1), at(1, 1), u), v)
}

impl Builder {
    /// Places a picture as a texture.
    pub fn texture(&mut self, image: &Image, format: Format) -> Texture {
        let address = self.place(image.encode(format));
        Texture { address, width: image.width, height: image.height, format }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_pica::texture::decode_tile;

    /// Largest difference of a channel after encoding and decoding.
    fn loss(format: Format, channels: &[usize], image: &Image) -> u8 {
        let bytes = image.encode(format);
        let mut worst = 0;
        for (number, tile) in bytes.chunks(format.tile_bytes() as usize).enumerate() {
            let mut texels = [0; TILE];
            decode_tile(format, tile, &mut texels);
            let tiles = image.width as usize / 8;
            for (i, got) in texels.iter().enumerate() {
                let (x, y) = (number % tiles * 8 + i % 8, number / tiles * 8 + i / 8);
                let expected = image.texels[y * image.width as usize + x];
                let differences = channels.iter().map(|&c| got.to_le_bytes()[c].abs_diff(expected[c]));
                worst = worst.max(differences.max().unwrap_or(0));
            }
        }
        worst
    }

    #[test]
    fn textures_decode_to_the_picture() {
        let image =
            Image::square(16, |x, y| [(x * 255.0) as u8, (y * 255.0) as u8, 200, (x * y * 255.0) as u8]);
        assert_eq!(loss(Format::Rgba8, &[0, 1, 2, 3], &image), 0);
        assert_eq!(loss(Format::Rgb8, &[0, 1, 2], &image), 0);
        assert_eq!(loss(Format::Ia8, &[0, 3], &image), 0);
        assert_eq!(loss(Format::I8, &[0], &image), 0);
        assert_eq!(loss(Format::A8, &[3], &image), 0);
        assert!(loss(Format::Rgb565, &[0, 1, 2], &image) < 8);
        assert!(loss(Format::Rgb5A1, &[0, 1, 2], &image) < 8);
        assert!(loss(Format::Rgba4, &[0, 1, 2, 3], &image) < 16);
        assert!(loss(Format::I4, &[0], &image) < 16);
        assert!(loss(Format::Etc1, &[0, 1, 2], &image) < 48);
    }
}
