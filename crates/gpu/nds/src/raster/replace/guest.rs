//! The guest's textures as pictures, and what identifies them.

use crate::memory::{TEXTURE_BYTES, TextureMemory};
use crate::raster::lanes::{LANES, SignedLanes};
use crate::raster::shade::{Color, colors_from_rgb555};
use crate::raster::texture::{Format, Texture};
use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Bits of TEXIMAGE_PARAM that say what a texture shows, not how it is wrapped: address, size, format, colour 0.
const SHOWN: u32 = 0xffff | 0x3f << 20 | 7 << 26 | 1 << 29;

/// What a texture shows, wherever it lies in memory: size and format, and XXH3 of its texels' colours.
///
/// As text, for names of files: `64x32_palette16_0123456789abcdef`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextureKey {
    /// Columns and rows.
    pub size: [u32; 2],
    /// Format.
    pub format: Format,
    /// Of its texels in the order of rows, each a word of 6 bits of red, green and blue from the lowest byte on and 5 bits of alpha,
    /// least significant byte first. Texels of alpha 0 count as 0, whatever their colour.
    pub hash: u64,
}

/// Names of formats.
const FORMATS: [(Format, &str); 7] = [
    (Format::A3I5, "a3i5"),
    (Format::Palette4, "palette4"),
    (Format::Palette16, "palette16"),
    (Format::Palette256, "palette256"),
    (Format::Compressed, "compressed"),
    (Format::A5I3, "a5i3"),
    (Format::Direct, "direct"),
];

impl fmt::Display for TextureKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [width, height] = self.size;
        let format =
            FORMATS.iter().find(|(format, _)| *format == self.format).map_or("none", |&(_, name)| name);
        write!(f, "{width}x{height}_{format}_{:016x}", self.hash)
    }
}

/// Text that is no [`TextureKey`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not a texture's name, such as 64x32_palette16_0123456789abcdef")]
pub struct NotAKey(String);

impl FromStr for TextureKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<TextureKey, NotAKey> {
        let parse = || {
            let mut parts = text.split('_');
            let (size, format, hash) = (parts.next()?, parts.next()?, parts.next()?);
            let (width, height) = size.split_once('x')?;
            let format = FORMATS.iter().find(|&&(_, name)| name == format)?.0;
            let key = TextureKey {
                size: [width.parse().ok()?, height.parse().ok()?],
                format,
                hash: u64::from_str_radix(hash, 16).ok()?,
            };
            // There is one text of each.
            (key.to_string() == text).then_some(key)
        };
        parse().ok_or_else(|| NotAKey(text.to_owned()))
    }
}

/// A texture of the guest's, as a polygon uses it.
#[derive(Clone, Debug)]
pub struct GuestTexture {
    /// What identifies it.
    pub key: TextureKey,
    /// Its texels in the order of rows: 6 bits of red, green and blue from the lowest byte on, 5 of alpha. Wireframes show
    /// the colours of transparent texels.
    pub texels: Vec<Color>,
}

impl GuestTexture {
    /// That of TEXIMAGE_PARAM and PLTT_BASE.
    pub fn read(param: u32, palette: u32, memory: &TextureMemory) -> GuestTexture {
        let texture = Texture::new(param & SHOWN, palette);
        let size = size(param);
        let mut texels = Vec::with_capacity((size[0] * size[1]) as usize);
        dispatch!(Level::new(), simd => {
            for first in (0..size[0] * size[1]).step_by(LANES) {
                let place = |lane: usize| (first + lane as u32) as i32;
                let columns = std::array::from_fn(|lane| (place(lane) % size[0] as i32) << 4);
                let rows = std::array::from_fn(|lane| (place(lane) / size[0] as i32) << 4);
                let at = [columns, rows].map(|at| SignedLanes::load_array(simd, at));
                let read = texture.texels(simd, memory, at);
                let colors = colors_from_rgb555(read.color).to_array();
                let alphas = read.alpha.to_array();
                texels.extend(colors.iter().zip(alphas).map(|(&color, alpha)| color | alpha << 24));
            }
        });
        let mut hasher = Xxh3Default::new();
        for &texel in &texels {
            let shown = if texel >> 24 == 0 { 0 } else { texel };
            hasher.update(&shown.to_le_bytes());
        }
        let key = TextureKey { size, format: texture.format, hash: hasher.digest() };
        GuestTexture { key, texels }
    }

    /// Its texels with 8 bits of red, green, blue and alpha. A picture of these colours in its place changes nothing.
    pub fn rgba8(&self) -> Vec<[u8; 4]> {
        self.texels.iter().map(|&texel| to_rgba8(texel)).collect()
    }
}

/// 6 bits of colours and 5 of alpha with 8 bits each.
fn to_rgba8(texel: Color) -> [u8; 4] {
    let [r, g, b, a] = texel.to_le_bytes();
    let [r, g, b] = [r, g, b].map(|c| c << 2 | c >> 4);
    [r, g, b, a << 3 | a >> 2]
}

/// The nearest 6 bits of colours and 5 of alpha.
pub(super) fn from_rgba8([r, g, b, a]: [u8; 4]) -> Color {
    let nearest = |value: u8, most: u32| ((u32::from(value) * most * 2 + 255) / 510) as u8;
    u32::from_le_bytes([nearest(r, 63), nearest(g, 63), nearest(b, 63), nearest(a, 31)])
}

fn size(param: u32) -> [u32; 2] {
    [8 << (param >> 20 & 7), 8 << (param >> 23 & 7)]
}

/// A hash of the memory that a texture is read from, and of its size and format. It takes much less time than reading the texels. Two
/// textures that show the same may have different ones.
pub(super) fn memory_hash(param: u32, palette: u32, memory: &TextureMemory, palettes: &[u8]) -> u64 {
    let texture = Texture::new(param, palette);
    let texels = size(param).iter().product::<u32>() as usize;
    // Bits of a texel, and bytes of colours.
    let (bits, colors) = match texture.format {
        Format::None => (0, 0),
        Format::A3I5 => (8, 64),
        Format::Palette4 => (2, 8),
        Format::Palette16 => (4, 32),
        Format::Palette256 => (8, 512),
        Format::Compressed => (2, palettes.len()),
        Format::A5I3 => (8, 16),
        Format::Direct => (16, 0),
    };
    let mut parts = vec![u64::from(param & SHOWN & !0xffff)];
    let mut add = |bytes: &[u8]| parts.push(xxh3_64(bytes));
    wrapped(memory.textures(), texture.base as usize, texels * bits / 8).into_iter().for_each(&mut add);
    if texture.format == Format::Compressed {
        // Words of blocks depend on where these are.
        add(&(param as u16).to_le_bytes());
        add(&memory.textures()[0x20000..0x40000]);
        add(&palette.to_le_bytes());
        add(palettes);
    } else {
        let from = (texture.palette as usize).min(palettes.len());
        add(&palettes[from..palettes.len().min(from + colors)]);
    }
    xxh3_64(&parts.iter().flat_map(|part| part.to_le_bytes()).collect::<Vec<u8>>())
}

/// A part of a memory that wraps around.
fn wrapped(bytes: &[u8; TEXTURE_BYTES], from: usize, count: usize) -> [&[u8]; 2] {
    let from = from % TEXTURE_BYTES;
    let end = from + count.min(TEXTURE_BYTES);
    [&bytes[from..end.min(TEXTURE_BYTES)], &bytes[..end.saturating_sub(TEXTURE_BYTES)]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = TextureKey { size: [64, 8], format: Format::A5I3, hash: 0xab };
        assert_eq!(key.to_string(), "64x8_a5i3_00000000000000ab");
        assert_eq!(key.to_string().parse(), Ok(key));
        for text in
            ["", "64x8_a5i3", "64x8_a5i3_ab", "+64x8_a5i3_00000000000000ab", "64x8_rgb_00000000000000ab"]
        {
            assert_eq!(text.parse::<TextureKey>(), Err(NotAKey(text.to_owned())));
        }
    }

    #[test]
    fn all_colors_survive_eight_bits() {
        for value in 0..=63u8 {
            let texel = u32::from_le_bytes([value, 63 - value, value ^ 21, value & 31]);
            assert_eq!(from_rgba8(to_rgba8(texel)), texel);
        }
    }

    /// One picture at two places, with two palettes whose unused colours differ.
    #[test]
    fn the_key_depends_on_what_is_shown_alone() {
        let mut memory = TextureMemory::default();
        let texels: Vec<u8> = (0..32).map(|i| (i * 7) & 0x77).collect();
        memory.write_textures(0x100, &texels);
        memory.write_textures(0x7ff0, &texels);
        for (at, unused) in [(0x20, 1), (0x400, 2)] {
            let colors: Vec<u8> =
                (0..16u16).flat_map(|i| if i < 8 { i * 999 } else { unused }.to_le_bytes()).collect();
            memory.write_palettes(at, &colors);
        }
        let read =
            |at: u32, palette: u32| GuestTexture::read(3 << 26 | at >> 3 | 3 << 16, palette >> 4, &memory);
        let first = read(0x100, 0x20);
        assert_eq!((first.key.size, first.texels.len()), ([8, 8], 64));
        assert_eq!(first.key, read(0x7ff0, 0x400).key);
        assert_ne!(first.key, read(0x108, 0x20).key);
    }

    #[test]
    fn the_hash_of_memory_covers_what_is_read() {
        let mut memory = TextureMemory::default();
        let hashes = |memory: &TextureMemory| {
            let palettes = memory.palettes();
            [0x7_fff0u32, 0].map(|at| memory_hash(4 << 26 | at >> 3, 1, memory, &palettes))
        };
        let before = hashes(&memory);
        // The texture at the end of memory goes on at its beginning.
        memory.write_textures(0x2f, &[1]);
        let after = hashes(&memory);
        assert!(after[0] != before[0] && after[1] != before[1]);
        memory.write_textures(0x30, &[1]);
        assert!(hashes(&memory)[0] == after[0] && hashes(&memory)[1] != after[1]);
        let before = hashes(&memory);
        memory.write_palettes(16 + 510, &[1]);
        assert_ne!(before, hashes(&memory));
        let before = hashes(&memory);
        memory.write_palettes(16 + 512, &[1]);
        assert_eq!(before, hashes(&memory));
    }
}
