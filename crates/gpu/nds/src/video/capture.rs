//! Display capture: engine A's picture, or that of the 3D engines, into video memory.

use super::display::ColorLine;
use super::vram::Vram;
use crate::engine2d::PictureLine;
use fearless_simd::{Level, Simd, dispatch};

/// Bytes of a bank that is captured into.
const BANK: usize = 0x20000;

/// DISPCAPCNT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureControl(pub u32);

impl CaptureControl {
    /// Bits that exist.
    pub const MASK: u32 = 0xef3f_1f1f;
    /// Capture is asked for, or going on.
    pub const ENABLE: u32 = 1 << 31;

    fn factors(self) -> [u32; 2] {
        [self.0 & 31, self.0 >> 8 & 31].map(|f| f.min(16))
    }

    fn bank(self) -> usize {
        (self.0 >> 16 & 3) as usize
    }

    fn offset(self) -> usize {
        (self.0 >> 18 & 3) as usize * 0x8000
    }

    /// Width and height.
    pub fn size(self) -> [u32; 2] {
        [[128, 128], [256, 64], [256, 128], [256, 192]][(self.0 >> 20 & 3) as usize]
    }

    /// Whether source A is the picture of the 3D engines alone.
    fn is_three_d(self) -> bool {
        self.0 & 1 << 24 != 0
    }

    /// Whether source B is the display FIFO.
    pub fn takes_fifo(self) -> bool {
        self.0 & 1 << 25 != 0
    }

    fn read_offset(self) -> usize {
        (self.0 >> 26 & 3) as usize * 0x8000
    }

    /// Whether source A is captured, and source B; both are blended.
    pub fn sources(self) -> [bool; 2] {
        [[true, false], [false, true], [true, true], [true, true]][(self.0 >> 29 & 3) as usize]
    }
}

/// What a line is captured from.
pub struct Sources<'a> {
    /// Engine A's picture.
    pub picture: &'a PictureLine,
    /// The 3D engines'.
    pub three_d: &'a PictureLine,
    /// The display FIFO's line.
    pub fifo: &'a ColorLine,
    /// Bank of source B, as DISPCNT has it.
    pub bank: usize,
    /// Whether the screen shows video memory: then source B starts where that does.
    pub shows_vram: bool,
}

/// Source A: colours of 15 bits, alpha in bit 15.
#[inline(always)]
fn source_a(control: CaptureControl, sources: &Sources) -> ColorLine {
    let mut out = [0; 256];
    if control.is_three_d() {
        for (out, &color) in out.iter_mut().zip(sources.three_d) {
            let alpha = if color >> 24 != 0 { 0x8000 } else { 0 };
            *out = (color >> 1 & 31 | (color >> 9 & 31) << 5 | (color >> 17 & 31) << 10) as u16 | alpha;
        }
    } else {
        for (out, &color) in out.iter_mut().zip(sources.picture) {
            *out = (color >> 1 & 31 | (color >> 7 & 31) << 5 | (color >> 13 & 31) << 10) as u16 | 0x8000;
        }
    }
    out
}

#[inline(always)]
fn source_b(control: CaptureControl, sources: &Sources, vram: &Vram, y: u32) -> ColorLine {
    if control.takes_fifo() {
        return *sources.fifo;
    }
    if !vram.is_lcdc(sources.bank) {
        return [0; 256];
    }
    let offset = if sources.shows_vram { 0 } else { control.read_offset() };
    row(vram, sources.bank, offset + 512 * y as usize)
}

/// 256 colours of a bank from an offset on, which is a multiple of 512 and wraps around; black past the end of small banks.
#[inline]
pub fn row(vram: &Vram, bank: usize, offset: usize) -> ColorLine {
    let offset = offset % BANK;
    let pairs = vram.bank(bank).get(offset..).unwrap_or_default().as_chunks::<2>().0;
    let mut out = [0; 256];
    out.iter_mut().zip(pairs).for_each(|(out, pair)| *out = u16::from_le_bytes(*pair));
    out
}

/// Captures line `y` of a picture; `control` is DISPCAPCNT.
pub fn capture(level: Level, control: CaptureControl, sources: &Sources, vram: &mut Vram, y: u32) {
    let [width, height] = control.size();
    let bank = control.bank();
    if y >= height || !vram.is_lcdc(bank) {
        return;
    }
    let line = dispatch!(level, simd => captured(simd, control, sources, vram, y));
    let start = (control.offset() + (y * width) as usize * 2) % BANK;
    let place = vram.bank_mut(bank).get_mut(start..start + 2 * width as usize).unwrap_or_default();
    for (pair, color) in place.as_chunks_mut().0.iter_mut().zip(line) {
        *pair = color.to_le_bytes();
    }
}

#[inline(always)]
fn captured<S: Simd>(_: S, control: CaptureControl, sources: &Sources, vram: &Vram, y: u32) -> ColorLine {
    match control.sources() {
        [true, false] => source_a(control, sources),
        [false, _] => source_b(control, sources, vram, y),
        [true, true] => {
            let (a, b) = (source_a(control, sources), source_b(control, sources, vram, y));
            blend(control.factors(), &a, &b)
        }
    }
}

#[inline(always)]
fn blend([eva, evb]: [u32; 2], a: &ColorLine, b: &ColorLine) -> ColorLine {
    let mut out = [0; 256];
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        let (a, b) = (u32::from(a), u32::from(b));
        let (factor_a, factor_b) = ((a >> 15) * eva, (b >> 15) * evb);
        let channel = |a: u32, b: u32| (((a & 31) * factor_a + (b & 31) * factor_b + 8) >> 4).min(31);
        let (red, green, blue) = (channel(a, b), channel(a >> 5, b >> 5), channel(a >> 10, b >> 10));
        let alpha = u32::from(factor_a | factor_b != 0);
        *out = (red | green << 5 | blue << 10 | alpha << 15) as u16;
    }
    out
}
