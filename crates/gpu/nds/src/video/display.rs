//! What follows the 2D engines: display modes, master brightness, the display FIFO.

use crate::engine2d::PictureLine;
use crate::state::{Io, StateError, Stated};
use fearless_simd::{Level, Simd, dispatch};

/// A line of the display FIFO's pixels, or of video memory: colours of 15 bits.
pub type ColorLine = [u16; 256];

/// Colours of 15 bits as the screens have them: the lowest bit of each channel is 0.
pub fn widen(colors: &ColorLine, out: &mut PictureLine) {
    for (out, &color) in out.iter_mut().zip(colors) {
        let color = u32::from(color);
        *out = (color & 31) << 1 | (color >> 5 & 31) << 7 | (color >> 10 & 31) << 13;
    }
}

/// Master brightness of a line: `control` is MASTER_BRIGHT.
pub fn master_brightness(level: Level, control: u16, line: &mut PictureLine) {
    let factor = u32::from(control & 31).min(16);
    match control >> 14 {
        _ if factor == 0 => {}
        1 => dispatch!(level, simd => each_channel(simd, line, |c| c + (((63 - c) * factor) >> 4))),
        2 => dispatch!(level, simd => each_channel(simd, line, |c| c - ((c * factor + 15) >> 4))),
        _ => {}
    }
}

/// Changes the channels of a line.
#[inline(always)]
fn each_channel<S: Simd>(_: S, line: &mut PictureLine, change: impl Fn(u32) -> u32) {
    for color in line {
        let [r, g, b] = [*color, *color >> 6, *color >> 12].map(|channel| change(channel & 63));
        *color = r | g << 6 | b << 12;
    }
}

/// Entries of the display FIFO.
const ENTRIES: usize = 16;

/// The display FIFO: a ring of sixteen pixels that is read all the time.
#[derive(Clone, Debug, Default)]
pub struct DisplayFifo {
    ring: [u16; ENTRIES],
    /// Entry that is written next.
    writes: u32,
    /// Pixels that a DMA delivered for the next line.
    delivered: Vec<u16>,
}

impl DisplayFifo {
    /// Writes 16 bits: the lower or the upper half of the port. The upper one completes two pixels.
    pub fn write(&mut self, is_upper: bool, value: u16) {
        let at = (self.writes as usize + usize::from(is_upper)) % ENTRIES;
        self.ring[at] = value;
        if is_upper {
            self.writes = (self.writes + 2) % ENTRIES as u32;
        }
    }

    /// Pixels that a DMA delivers for the next line that is drawn; those after 256 are dropped.
    pub fn deliver(&mut self, pixels: &[u16]) {
        let room = 256usize.saturating_sub(self.delivered.len());
        self.delivered.extend(pixels.iter().take(room));
    }

    /// The vertical blank.
    pub fn clear(&mut self) {
        self.writes = 0;
        self.delivered.clear();
    }

    /// A line as it is read: what a DMA delivered, else the ring over and over.
    pub fn line(&mut self) -> ColorLine {
        let line = std::array::from_fn(|x| self.delivered.get(x).copied().unwrap_or(self.ring[x % ENTRIES]));
        // What was read stays in the ring.
        if let Some(last) = self.delivered.last_chunk::<ENTRIES>() {
            self.ring = *last;
        }
        self.delivered.clear();
        line
    }
}

impl Stated for DisplayFifo {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let DisplayFifo { ring, writes, delivered } = self;
        ring.state(io)?;
        writes.state(io)?;
        *writes %= ENTRIES as u32;
        io.list(delivered, 256)
    }
}
