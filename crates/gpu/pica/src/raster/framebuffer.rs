//! The colour and depth buffers in guest memory.
//!
//! Row 0 of a buffer is the top of the screen; pixels lie in tiles as those of textures do. What lies outside guest
//! memory reads as 0 and is not written.

use super::batch::{LANES, Pixels, Plane};
use crate::memory::Memory;
use crate::regs::{self, Registers};
use crate::texture::{widen4, widen5, widen6};

/// Size of the buffers in pixels, at most 2047×1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// Decodes the register.
    pub fn decode(regs: &Registers) -> Size {
        Size {
            width: regs.bits(regs::FRAMEBUFFER_SIZE, 0, 11),
            height: regs.bits(regs::FRAMEBUFFER_SIZE, 12, 10) + 1,
        }
    }

    /// Tiles in a row.
    pub fn tiles_per_row(&self) -> u32 {
        self.width.div_ceil(8)
    }

    /// Pixels of a buffer with the unused ones of its last tiles.
    pub fn pixels(&self) -> u32 {
        self.tiles_per_row() * self.height.div_ceil(8) * LANES as u32
    }
}

/// Format of the colour buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorFormat {
    /// Bytes a, b, g, r.
    Rgba8,
    /// Bytes b, g, r.
    Rgb8,
    /// 16 bits, r on top, alpha in bit 0.
    Rgb5A1,
    /// 16 bits, r on top.
    Rgb565,
    /// 16 bits, r on top.
    Rgba4,
}

impl ColorFormat {
    /// Decodes the register; numbers above 4 are none.
    pub fn decode(regs: &Registers) -> Option<ColorFormat> {
        Some(match regs.bits(regs::COLOR_FORMAT, 16, 3) {
            0 => ColorFormat::Rgba8,
            1 => ColorFormat::Rgb8,
            2 => ColorFormat::Rgb5A1,
            3 => ColorFormat::Rgb565,
            4 => ColorFormat::Rgba4,
            _ => return None,
        })
    }

    /// Bytes of a pixel.
    pub fn bytes(self) -> u32 {
        match self {
            ColorFormat::Rgba8 => 4,
            ColorFormat::Rgb8 => 3,
            ColorFormat::Rgb5A1 | ColorFormat::Rgb565 | ColorFormat::Rgba4 => 2,
        }
    }

    /// Widens stored words to channels of 8 bits.
    #[inline(always)]
    fn unpack(self, words: &[u32], out: &mut [Plane; 4]) {
        match self {
            ColorFormat::Rgba8 => unpack(words, out, |w| [w >> 24, w >> 16, w >> 8, w].map(|v| v as u8)),
            ColorFormat::Rgb8 => unpack(words, out, |w| [(w >> 16) as u8, (w >> 8) as u8, w as u8, 255]),
            ColorFormat::Rgb5A1 => unpack(words, out, |w| {
                [widen5(w >> 11), widen5(w >> 6), widen5(w >> 1), ((w & 1) as u8).wrapping_neg()]
            }),
            ColorFormat::Rgb565 => {
                unpack(words, out, |w| [widen5(w >> 11), widen6(w >> 5), widen5(w), 255]);
            }
            ColorFormat::Rgba4 => {
                unpack(words, out, |w| [widen4(w >> 12), widen4(w >> 8), widen4(w >> 4), widen4(w)]);
            }
        }
    }

    /// Narrows channels to stored words by dropping low bits.
    #[inline(always)]
    fn pack(self, color: &[Plane; 4], words: &mut [u32]) {
        match self {
            ColorFormat::Rgba8 => pack(color, words, |[r, g, b, a]| r << 24 | g << 16 | b << 8 | a),
            ColorFormat::Rgb8 => pack(color, words, |[r, g, b, _]| r << 16 | g << 8 | b),
            ColorFormat::Rgb5A1 => {
                pack(color, words, |[r, g, b, a]| r >> 3 << 11 | g >> 3 << 6 | b >> 3 << 1 | a >> 7);
            }
            ColorFormat::Rgb565 => pack(color, words, |[r, g, b, _]| r >> 3 << 11 | g >> 2 << 5 | b >> 3),
            ColorFormat::Rgba4 => {
                pack(color, words, |[r, g, b, a]| r >> 4 << 12 | g >> 4 << 8 | b >> 4 << 4 | a >> 4);
            }
        }
    }
}

#[inline(always)]
fn unpack(words: &[u32], out: &mut [Plane; 4], channels: impl Fn(u32) -> [u8; 4]) {
    let [r, g, b, a] = out;
    for ((((word, r), g), b), a) in words.iter().zip(r).zip(g).zip(b).zip(a) {
        [*r, *g, *b, *a] = channels(*word).map(u16::from);
    }
}

#[inline(always)]
fn pack(color: &[Plane; 4], words: &mut [u32], word: impl Fn([u32; 4]) -> u32) {
    let [r, g, b, a] = color;
    for ((((to, r), g), b), a) in words.iter_mut().zip(r).zip(g).zip(b).zip(a) {
        *to = word([*r, *g, *b, *a].map(u32::from));
    }
}

/// Format of the depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DepthFormat {
    /// 16 bits.
    D16,
    /// 24 bits in three bytes.
    D24,
    /// 24 bits below 8 of stencil.
    D24S8,
}

impl DepthFormat {
    /// Decodes the register; 1 is none.
    pub fn decode(regs: &Registers) -> Option<DepthFormat> {
        Some(match regs.bits(regs::DEPTH_FORMAT, 0, 2) {
            0 => DepthFormat::D16,
            2 => DepthFormat::D24,
            3 => DepthFormat::D24S8,
            _ => return None,
        })
    }

    /// Bytes of a pixel.
    pub fn bytes(self) -> u32 {
        match self {
            DepthFormat::D16 => 2,
            DepthFormat::D24 => 3,
            DepthFormat::D24S8 => 4,
        }
    }

    /// The largest depth.
    pub fn max(self) -> u32 {
        match self {
            DepthFormat::D16 => 0xffff,
            DepthFormat::D24 | DepthFormat::D24S8 => 0xff_ffff,
        }
    }
}

/// Stored pixels, in the low bits.
pub type Words = [u32; LANES];

/// Pixels of one size in guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelBuffer {
    /// Physical address of pixel 0.
    pub address: u32,
    /// Bytes of a pixel, 2 to 4.
    pub bytes: u32,
}

impl PixelBuffer {
    /// Loads the pixels' words.
    #[inline(always)]
    pub fn load(&self, memory: &dyn Memory, pixels: &Pixels, words: &mut Words) {
        match self.bytes {
            2 => load(self, memory, pixels, words, |&b: &[u8; 2]| u32::from(u16::from_le_bytes(b))),
            3 => load(self, memory, pixels, words, |&[a, b, c]: &[u8; 3]| u32::from_le_bytes([a, b, c, 0])),
            _ => load(self, memory, pixels, words, |&b: &[u8; 4]| u32::from_le_bytes(b)),
        }
    }

    /// Stores the words of the pixels for which `alive` is not 0.
    #[inline(always)]
    pub fn store(&self, memory: &mut dyn Memory, pixels: &Pixels, words: &Words, alive: &Plane) {
        match self.bytes {
            2 => store(self, memory, pixels, words, alive, |w| (w as u16).to_le_bytes()),
            3 => store(self, memory, pixels, words, alive, |w| {
                let [a, b, c, _] = w.to_le_bytes();
                [a, b, c]
            }),
            _ => store(self, memory, pixels, words, alive, u32::to_le_bytes),
        }
    }

    /// Address of the pixel at a place; the buffer goes on at 0 where addresses end.
    fn pixel_address(&self, index: u32) -> u32 {
        self.address.wrapping_add(index.wrapping_mul(self.bytes))
    }

    /// Whether the buffer up to the last of these pixels fits in `len` bytes.
    fn fits(&self, pixels: &Pixels, len: usize) -> bool {
        let last = pixels.index[..pixels.len].iter().max();
        last.is_none_or(|&last| (u64::from(last) + 1) * u64::from(self.bytes) <= len as u64)
    }
}

#[inline(always)]
fn load<const N: usize>(
    buffer: &PixelBuffer,
    memory: &dyn Memory,
    pixels: &Pixels,
    words: &mut Words,
    word: impl Fn(&[u8; N]) -> u32,
) {
    if pixels.whole_tile
        && let Some(bytes) = memory.bytes(buffer.pixel_address(pixels.index[0]), (LANES * N) as u32)
    {
        for (to, from) in words.iter_mut().zip(bytes.as_chunks::<N>().0) {
            *to = word(from);
        }
        return;
    }
    let tail = memory.tail(buffer.address).unwrap_or_default();
    for (to, &index) in words.iter_mut().zip(&pixels.index[..pixels.len]) {
        let bytes = tail.get(index as usize * N..).and_then(|bytes| bytes.first_chunk());
        // What is not in the memory the buffer starts in may be in another.
        let bytes = bytes.or_else(|| memory.bytes(buffer.pixel_address(index), N as u32)?.first_chunk());
        *to = bytes.map_or(0, &word);
    }
}

#[inline(always)]
fn store<const N: usize>(
    buffer: &PixelBuffer,
    memory: &mut dyn Memory,
    pixels: &Pixels,
    words: &Words,
    alive: &Plane,
    bytes: impl Fn(u32) -> [u8; N],
) {
    if pixels.whole_tile
        && alive.iter().all(|&alive| alive != 0)
        && let Some(to) = memory.bytes_mut(buffer.pixel_address(pixels.index[0]), (LANES * N) as u32)
    {
        for (to, from) in to.as_chunks_mut::<N>().0.iter_mut().zip(words) {
            *to = bytes(*from);
        }
        return;
    }
    let lanes = pixels.index[..pixels.len].iter().zip(words).zip(alive);
    let lanes = lanes.filter(|&(_, &alive)| alive != 0).map(|((&index, &word), _)| (index, word));
    match memory.tail_mut(buffer.address) {
        Some(tail) if buffer.fits(pixels, tail.len()) => {
            for (index, word) in lanes {
                if let Some(to) = tail.get_mut(index as usize * N..).and_then(|to| to.first_chunk_mut()) {
                    *to = bytes(word);
                }
            }
        }
        // Some pixels are in other memory, or in none.
        _ => {
            for (index, word) in lanes {
                if let Some(to) = memory.bytes_mut(buffer.pixel_address(index), N as u32) {
                    to.copy_from_slice(&bytes(word));
                }
            }
        }
    }
}

/// The colour buffer of a draw.
#[derive(Clone, Copy, Debug)]
pub struct ColorBuffer {
    /// Where it is.
    pub buffer: PixelBuffer,
    format: ColorFormat,
}

impl ColorBuffer {
    /// Decodes the registers; none if the format is none.
    pub fn decode(regs: &Registers) -> Option<ColorBuffer> {
        let format = ColorFormat::decode(regs)?;
        let address = regs.get(regs::COLOR_ADDRESS) << 3;
        Some(ColorBuffer { buffer: PixelBuffer { address, bytes: format.bytes() }, format })
    }

    /// Loads the pixels' colours.
    #[inline(always)]
    pub fn load(&self, memory: &dyn Memory, pixels: &Pixels, color: &mut [Plane; 4]) {
        let mut words = [0; LANES];
        self.buffer.load(memory, pixels, &mut words);
        self.format.unpack(&words, color);
    }

    /// Stores the colours of the pixels for which `alive` is not 0.
    #[inline(always)]
    pub fn store(&self, memory: &mut dyn Memory, pixels: &Pixels, color: &[Plane; 4], alive: &Plane) {
        let mut words = [0; LANES];
        self.format.pack(color, &mut words);
        self.buffer.store(memory, pixels, &words, alive);
    }
}

/// Address of a depth buffer.
pub fn depth_address(regs: &Registers) -> u32 {
    regs.get(regs::DEPTH_ADDRESS) << 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    fn buffer(number: u32) -> ColorBuffer {
        let mut regs = Registers::default();
        regs.set(regs::COLOR_FORMAT, number << 16);
        regs.set(regs::COLOR_ADDRESS, FCRAM / 8);
        ColorBuffer::decode(&regs).unwrap()
    }

    /// A pixel stored at place 1 and read back.
    fn round_trip(number: u32, color: [u16; 4]) -> (Vec<u8>, [u16; 4]) {
        let buffer = buffer(number);
        let mut memory = Regions::console(64);
        let mut pixels = Pixels { len: 1, ..Pixels::default() };
        pixels.index[0] = 1;
        buffer.store(&mut memory, &pixels, &color.map(|value| [value; LANES]), &[u16::MAX; LANES]);
        let mut back = [[0; LANES]; 4];
        buffer.load(&memory, &pixels, &mut back);
        let size = buffer.buffer.bytes;
        (memory.bytes(FCRAM + size, size).unwrap().to_vec(), back.map(|plane| plane[0]))
    }

    #[test]
    fn formats() {
        let color = [0x87, 0x65, 0x43, 0x9f];
        assert_eq!(round_trip(0, color), (vec![0x9f, 0x43, 0x65, 0x87], color));
        assert_eq!(round_trip(1, color), (vec![0x43, 0x65, 0x87], [0x87, 0x65, 0x43, 255]));
        let rgb5a1 = 0x10 << 11 | 0x0c << 6 | 0x08 << 1 | 1u16;
        assert_eq!(round_trip(2, color), (rgb5a1.to_le_bytes().to_vec(), [0x84, 0x63, 0x42, 255]));
        let rgb565 = 0x10 << 11 | 0x19 << 5 | 0x08u16;
        assert_eq!(round_trip(3, color), (rgb565.to_le_bytes().to_vec(), [0x84, 0x65, 0x42, 255]));
        assert_eq!(round_trip(4, color), (vec![0x49, 0x86], [0x88, 0x66, 0x44, 0x99]));
    }

    #[test]
    fn whole_tiles_and_single_pixels_are_the_same() {
        for number in 0..5 {
            let buffer = buffer(number);
            let color: [Plane; 4] =
                std::array::from_fn(|c| std::array::from_fn(|lane| (lane * 37 + c * 59) as u16 & 0xff));
            let mut pixels = Pixels { len: LANES, whole_tile: true, ..Pixels::default() };
            pixels.index = std::array::from_fn(|lane| lane as u32);
            let stored = |pixels: &Pixels| {
                let mut memory = Regions::console(256);
                buffer.store(&mut memory, pixels, &color, &[1; LANES]);
                let mut back = [[0; LANES]; 4];
                buffer.load(&memory, pixels, &mut back);
                (memory.bytes(FCRAM, 256).unwrap().to_vec(), back)
            };
            let whole = stored(&pixels);
            pixels.whole_tile = false;
            assert_eq!(whole, stored(&pixels));
        }
    }

    /// A buffer over the end of addresses, whose parts are in two memories with a hole between.
    #[test]
    fn pixels_are_found_wherever_they_are() {
        let buffer =
            ColorBuffer { buffer: PixelBuffer { address: 0u32.wrapping_sub(128), bytes: 4 }, ..buffer(0) };
        let color = [[0xa5; LANES]; 4];
        let stored = |whole_tile: bool, hole: u32| {
            let mut memory = Regions::new();
            memory.add(0u32.wrapping_sub(128), vec![0; 64]);
            memory.add(hole, vec![0; 256]);
            let mut pixels = Pixels { len: LANES, whole_tile, ..Pixels::default() };
            pixels.index = std::array::from_fn(|lane| lane as u32);
            buffer.store(&mut memory, &pixels, &color, &[1; LANES]);
            let mut back = [[0; LANES]; 4];
            buffer.load(&memory, &pixels, &mut back);
            back[0].map(|red| red != 0)
        };
        for whole_tile in [false, true] {
            // Bytes 64 to 128 + 32 of the buffer are missing.
            let back = stored(whole_tile, 32);
            assert!((0..LANES).all(|lane| back[lane] != (16..40).contains(&lane)), "{back:?}");
        }
    }

    #[test]
    fn outside_memory_is_dropped() {
        let buffer = buffer(0);
        let mut memory = Regions::console(6);
        let mut pixels = Pixels { len: 3, ..Pixels::default() };
        pixels.index[..3].copy_from_slice(&[0, 1, u32::MAX]);
        buffer.store(&mut memory, &pixels, &[[255; LANES]; 4], &[1; LANES]);
        assert_eq!(memory.bytes(FCRAM, 6), Some(&[255, 255, 255, 255, 0, 0][..]));
        let mut back = [[7; LANES]; 4];
        buffer.load(&memory, &pixels, &mut back);
        assert_eq!(back[0][..3], [255, 0, 0]);
    }
}
