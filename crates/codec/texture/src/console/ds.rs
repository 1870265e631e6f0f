//! Textures of the Nintendo DS: formats 1 to 7 of TEXIMAGE_PARAM, rows of texels, low bits first. Source:
//! `vectors/texture/FORMAT.md`.

use thiserror::Error;

/// A decoded texel. The colour means nothing where alpha is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Texel {
    /// Five bits each of red, green and blue, red lowest; bit 15 is what the texture or palette has there.
    pub color: u16,
    /// 0 to 31.
    pub alpha: u8,
}

impl Texel {
    /// Eight bits a component, by repetition.
    pub const fn rgba8(self) -> [u8; 4] {
        const fn five(value: u16) -> u8 {
            ((value & 0x1f) << 3 | (value & 0x1f) >> 2) as u8
        }
        [five(self.color), five(self.color >> 5), five(self.color >> 10), five(self.alpha as u16)]
    }
}

/// The texture memory and the palette memory as the 3D unit sees them. What lies behind their ends reads as 0.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// Up to 512 KiB, in slots of 128.
    pub texture: &'a [u8],
    /// Up to 128 KiB.
    pub palette: &'a [u8],
}

/// The registers that describe a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// TEXIMAGE_PARAM.
    pub param: u32,
    /// PLTT_BASE.
    pub palette_base: u32,
}

/// Why nothing was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Format 0 is no texture.
    #[error("format 0 is no texture")]
    NoTexture,
    /// The output does not hold the texels.
    #[error("the output has room for {given} texels, the texture has {needed}")]
    Output {
        /// Texels of the texture.
        needed: usize,
        /// Texels given.
        given: usize,
    },
}

const SLOT: usize = 0x2_0000;
const OPAQUE: u8 = 31;

impl Memory<'_> {
    fn byte(&self, address: usize) -> u8 {
        self.texture.get(address & (4 * SLOT - 1)).copied().unwrap_or(0)
    }

    fn word(&self, address: usize) -> u16 {
        u16::from_le_bytes([self.byte(address), self.byte(address + 1)])
    }

    /// The color at a byte address of the palette memory.
    fn color(&self, address: usize) -> u16 {
        let byte = |at: usize| self.palette.get(at & (SLOT - 1)).copied().unwrap_or(0);
        u16::from_le_bytes([byte(address), byte(address + 1)])
    }
}

impl Texture {
    /// Width in texels, 8 to 1024.
    pub const fn width(self) -> usize {
        8 << (self.param >> 20 & 7)
    }

    /// Rows, 8 to 1024.
    pub const fn height(self) -> usize {
        8 << (self.param >> 23 & 7)
    }

    /// Decodes the texture, rows of texels without padding, to the start of `out`.
    ///
    /// # Errors
    /// For format 0, and when `out` is too short.
    pub fn decode_into(self, memory: &Memory<'_>, out: &mut [Texel]) -> Result<(), Error> {
        let (needed, given) = (self.width() * self.height(), out.len());
        let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
        let address = (self.param as usize & 0xffff) << 3;
        let format = self.param >> 26 & 7;
        let base = self.palette_base as usize & 0x1fff;
        let palette =
            |index: u8| memory.color((base << if format == 2 { 3 } else { 4 }) + 2 * usize::from(index));
        let first_clear = self.param >> 29 & 1 != 0;
        let indexed = |index: u8| Texel {
            color: palette(index),
            alpha: if index == 0 && first_clear { 0 } else { OPAQUE },
        };
        let packed = |i: usize, bits: usize| {
            let per_byte = 8 / bits;
            memory.byte(address + i / per_byte) >> (i % per_byte * bits) & ((1 << bits) - 1)
        };
        let texel = |i: usize| match format {
            1 => {
                let byte = memory.byte(address + i);
                let alpha = byte >> 5;
                Texel { color: palette(byte & 0x1f), alpha: alpha * 4 + alpha / 2 }
            }
            2 => indexed(packed(i, 2)),
            3 => indexed(packed(i, 4)),
            4 => indexed(memory.byte(address + i)),
            5 => self.compressed(memory, address, base << 4, i),
            6 => {
                let byte = memory.byte(address + i);
                Texel { color: palette(byte & 7), alpha: byte >> 3 }
            }
            _ => {
                let color = memory.word(address + 2 * i);
                Texel { color, alpha: if color & 0x8000 != 0 { OPAQUE } else { 0 } }
            }
        };
        if format == 0 {
            return Err(Error::NoTexture);
        }
        for (i, out) in out.iter_mut().enumerate() {
            *out = texel(i);
        }
        Ok(())
    }

    /// Texel `i` of format 5: blocks of 4×4 texels in slot 0 or 2, a word of slot 1 for each.
    fn compressed(self, memory: &Memory<'_>, address: usize, base: usize, i: usize) -> Texel {
        let (x, y) = (i % self.width(), i / self.width());
        let block = (address + 4 * (y / 4 * (self.width() / 4) + x / 4)) & (4 * SLOT - 1);
        let upper = block >= 2 * SLOT;
        let info = memory.word(SLOT + block % SLOT / 2 + if upper { SLOT / 2 } else { 0 });
        let texels = if block / SLOT % 2 == 1 { 0 } else { memory.byte(block + y % 4) };
        let color = |index: u16| memory.color(base + 4 * usize::from(info & 0x3fff) + 2 * usize::from(index));
        let mixed = |a: u16, b: u16| {
            let shift = (a + b).ilog2();
            let channel = |at: u32| {
                let part = |index: u16| color(index) >> at & 0x1f;
                (part(0) * a + part(1) * b) >> shift << at
            };
            channel(0) | channel(5) | channel(10)
        };
        let index = u16::from(texels >> (x % 4 * 2) & 3);
        let opaque = |color: u16| Texel { color, alpha: OPAQUE };
        match (info >> 14, index) {
            (_, 0 | 1) | (0, 2) | (2, _) => opaque(color(index)),
            (1, 2) => opaque(mixed(1, 1)),
            (3, 2) => opaque(mixed(5, 3)),
            (3, _) => opaque(mixed(3, 5)),
            _ => Texel::default(),
        }
    }
}
