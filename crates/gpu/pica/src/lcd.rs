//! What the screens show: framebuffers in guest memory, gamma, both screens, and the right eye's picture.
//!
//! ```
//! use xenoglot_pica::lcd::{Eye, Lcd, Picture, Screen};
//! use xenoglot_pica::memory::{FCRAM, Memory, Regions};
//!
//! let mut memory = Regions::console(1 << 20);
//! let mut lcd = Lcd::default();
//! // Two columns of three rows in RGB8, which the screen shows as three columns of two rows.
//! for (address, value) in [(0x1040_0568, FCRAM), (0x1040_055c, 3 << 16 | 2), (0x1040_0590, 6), (0x1040_0570, 1)] {
//!     lcd.write(address, value);
//! }
//! memory.bytes_mut(FCRAM, 3).unwrap().copy_from_slice(&[10, 20, 30]);
//! let Picture::Frame(frame) = lcd.picture(Screen::Bottom, Eye::Left) else { panic!("a frame") };
//! let image = frame.read(&memory)?;
//! // The first pixel in memory is the lower left one.
//! assert_eq!((image.width, image.height, &image.rgba[3 * 4..][..4]), (3, 2, &[30, 20, 10, 255][..]));
//! # Ok::<(), xenoglot_pica::lcd::FrameError>(())
//! ```
//!
//! The registers are those that 3dbrew has in *GPU/External Registers* ("LCD Source Framebuffer Setup") and *LCD Registers*.
//! Of the interlacing modes, AB means that the two eyes' pictures are shown; scanline doubling (AA) is shown without it.

use crate::memory::Memory;
use crate::transfer::Pixel;
use std::sync::Arc;
use thiserror::Error;

/// A screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Screen {
    /// 400×240 pixels, for two eyes.
    Top,
    /// 320×240 pixels.
    Bottom,
}

/// Whose picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eye {
    /// The left eye's, and that of pictures without depth.
    Left,
    /// The right eye's.
    Right,
}

/// Most pixels along a side of a frame.
pub const SIDE: u32 = 2048;

/// First register of the top screen's framebuffers; those of the bottom screen are 0x100 further on.
const SETUP: u32 = 0x1040_0400;
const SETUP_STRIDE: u32 = 0x100;
/// Registers that fill the screens with a colour.
const FILL: [u32; 2] = [0x1020_2204, 0x1020_2a04];
const FILL_ON: u32 = 1 << 24;

/// Offsets of the registers of a screen.
const SIZE: u32 = 0x5c;
const LEFT: [u32; 2] = [0x68, 0x6c];
const FORMAT: u32 = 0x70;
const SELECT: u32 = 0x78;
const GAMMA_INDEX: u32 = 0x80;
const GAMMA_DATA: u32 = 0x84;
const BYTES_PER_ROW: u32 = 0x90;
const RIGHT: [u32; 2] = [0x94, 0x98];
/// Interlacing mode AB: both eyes' pictures.
const BOTH_EYES: u32 = 2;

/// A colour look-up table: red, green and blue of each level.
pub type Gamma = [[u8; 3]; 256];

/// The registers of both screens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lcd {
    screens: [Registers; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Registers {
    fill: u32,
    size: u32,
    left: [u32; 2],
    right: [u32; 2],
    format: u32,
    select: u32,
    bytes_per_row: u32,
    gamma_index: u8,
    /// The gamma table once something was written to it; until then levels are shown as they are.
    gamma: Option<Arc<Gamma>>,
}

/// What a screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Nothing: there is no framebuffer.
    Off,
    /// Red, green and blue all over.
    Color([u8; 3]),
    /// A framebuffer.
    Frame(Frame),
}

/// Rows of pixels in guest memory, from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Physical address of the first pixel.
    pub address: u32,
    /// Pixels of a row, 1 to [`SIDE`].
    pub width: u32,
    /// Rows, 1 to [`SIDE`].
    pub height: u32,
    /// Bytes from row to row.
    pub bytes_per_row: u32,
    /// As in display transfers: 0 RGBA8, 1 RGB8, 2 RGB565, 3 RGB5A1, 4 RGBA4.
    pub format: u32,
    /// The picture lies on its side, like the console's screens: a quarter turn to the left makes it upright.
    pub on_its_side: bool,
    /// The table that gives the shown level of each stored one; without it they are the same.
    pub gamma: Option<Arc<Gamma>>,
}

/// Why a frame cannot be shown.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// An unknown format, or a side of 0 or more than [`SIDE`] pixels.
    #[error("a frame of {width}x{height} pixels in format {format} cannot be shown")]
    Shape {
        /// Pixels of a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Number of the format.
        format: u32,
    },
    /// Not all of it is memory.
    #[error("frame: {bytes} bytes at {address:#010x} are not all memory")]
    Unmapped {
        /// Physical address.
        address: u32,
        /// Bytes from there on.
        bytes: u64,
    },
}

/// A picture: red, green, blue and alpha of each pixel, rows from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}

impl Lcd {
    /// Takes a write to a physical address. Returns whether it is one of the screens' registers; other writes are ignored.
    pub fn write(&mut self, address: u32, value: u32) -> bool {
        for (screen, fill) in self.screens.iter_mut().zip(FILL) {
            if address == fill {
                screen.fill = value;
                return true;
            }
        }
        let offset = address.wrapping_sub(SETUP);
        let screen = self.screens.get_mut((offset / SETUP_STRIDE) as usize);
        screen.is_some_and(|screen| screen.write(offset % SETUP_STRIDE, value))
    }

    /// What a screen shows an eye. Without a picture for each eye, both see the left one.
    pub fn picture(&self, screen: Screen, eye: Eye) -> Picture {
        let [top, bottom] = &self.screens;
        match screen {
            Screen::Top => top.picture(eye),
            Screen::Bottom => bottom.picture(Eye::Left),
        }
    }

    /// Whether the top screen has a picture for each eye.
    pub fn is_stereoscopic(&self) -> bool {
        self.screens.first().is_some_and(Registers::is_stereoscopic)
    }
}

impl Registers {
    fn write(&mut self, offset: u32, value: u32) -> bool {
        let [left, right] = [&mut self.left, &mut self.right];
        let place = match offset {
            SIZE => &mut self.size,
            FORMAT => &mut self.format,
            SELECT => &mut self.select,
            BYTES_PER_ROW => &mut self.bytes_per_row,
            GAMMA_INDEX => {
                self.gamma_index = value as u8;
                return true;
            }
            GAMMA_DATA => {
                let same = || Arc::new(std::array::from_fn(|level| [level as u8; 3]));
                let table = Arc::make_mut(self.gamma.get_or_insert_with(same));
                if let Some(entry) = table.get_mut(usize::from(self.gamma_index)) {
                    let [r, g, b, _] = value.to_le_bytes();
                    *entry = [r, g, b];
                }
                self.gamma_index = self.gamma_index.wrapping_add(1);
                return true;
            }
            _ => {
                let mut places = LEFT.into_iter().chain(RIGHT).zip(left.iter_mut().chain(right));
                match places.find(|(of, _)| *of == offset) {
                    Some((_, place)) => place,
                    None => return false,
                }
            }
        };
        *place = value;
        true
    }

    fn is_stereoscopic(&self) -> bool {
        self.format >> 4 & 3 == BOTH_EYES
    }

    fn picture(&self, eye: Eye) -> Picture {
        if self.fill & FILL_ON != 0 {
            let [r, g, b, _] = self.fill.to_le_bytes();
            return Picture::Color([r, g, b]);
        }
        let pair = if eye == Eye::Right && self.is_stereoscopic() { self.right } else { self.left };
        let [first, second] = pair;
        let address = if self.select & 1 == 0 { first } else { second };
        let (width, height) = (self.size & 0xffff, self.size >> 16);
        if address == 0 || width == 0 || height == 0 {
            return Picture::Off;
        }
        Picture::Frame(Frame {
            address,
            width,
            height,
            bytes_per_row: self.bytes_per_row,
            format: self.format & 7,
            on_its_side: true,
            gamma: self.gamma.clone(),
        })
    }
}

impl Frame {
    /// The format of its pixels.
    pub(crate) fn pixel(&self) -> Result<Pixel, FrameError> {
        let Frame { width, height, format, .. } = *self;
        let side = 1..=SIDE;
        let pixel = Pixel::of(format).ok().filter(|_| side.contains(&width) && side.contains(&height));
        pixel.ok_or(FrameError::Shape { width, height, format })
    }

    /// Bytes from its first pixel to its last one.
    pub fn bytes(&self) -> u64 {
        let row = self.pixel().map_or(0, |pixel| u64::from(self.width) * u64::from(pixel.bytes()));
        u64::from(self.height.saturating_sub(1)) * u64::from(self.bytes_per_row) + row
    }

    /// The picture in guest memory, upright.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn read(&self, memory: &dyn Memory) -> Result<Image, FrameError> {
        let pixel = self.pixel()?;
        let Frame { address, width, height, .. } = *self;
        let error = FrameError::Unmapped { address, bytes: self.bytes() };
        let bytes =
            u32::try_from(self.bytes()).ok().and_then(|len| memory.bytes(address, len)).ok_or(error)?;
        let (width, height) = (width as usize, height as usize);
        let size = pixel.bytes() as usize;
        let mut rgba = Vec::with_capacity(width * height * 4);
        let mut add = |x: usize, y: usize| {
            let at = y * self.bytes_per_row as usize + x * size;
            let stored = bytes.get(at..).and_then(|rest| rest.get(..size)).unwrap_or_default();
            let [r, g, b, a] = pixel.decode(stored);
            let levels = |table: &Gamma| {
                let level = |value: u8, channel: usize| table[usize::from(value)][channel];
                [level(r, 0), level(g, 1), level(b, 2), a]
            };
            rgba.extend(self.gamma.as_deref().map_or([r, g, b, a], levels));
        };
        if self.on_its_side {
            // The right column becomes the top row.
            (0..width).rev().for_each(|x| (0..height).for_each(|y| add(x, y)));
            return Ok(Image { width: height as u32, height: width as u32, rgba });
        }
        (0..height).for_each(|y| (0..width).for_each(|x| add(x, y)));
        Ok(Image { width: width as u32, height: height as u32, rgba })
    }
}

impl Image {
    /// A picture of one colour.
    pub fn filled([r, g, b]: [u8; 3], width: u32, height: u32) -> Image {
        let pixels = width as usize * height as usize;
        Image { width, height, rgba: [r, g, b, 255].repeat(pixels) }
    }

    /// Both eyes' pictures side by side, the left one first. The result is as high as the lower one.
    pub fn side_by_side(left: &Image, right: &Image) -> Image {
        let row = |image: &Image| image.width.max(1) as usize * 4;
        let pairs = left.rgba.chunks(row(left)).zip(right.rgba.chunks(row(right)));
        let rgba = pairs.flat_map(|(left, right)| left.iter().chain(right)).copied().collect();
        let width = left.width.saturating_add(right.width);
        Image { width, height: left.height.min(right.height), rgba }
    }

    /// Both eyes' pictures, of one size, for glasses of red and cyan: the left one's red, the right one's green and blue.
    pub fn anaglyph(left: &Image, right: &Image) -> Image {
        let pairs = left.rgba.as_chunks::<4>().0.iter().zip(right.rgba.as_chunks::<4>().0);
        let rgba = pairs.flat_map(|([r, _, _, a], [_, g, b, _])| [*r, *g, *b, *a]).collect();
        Image { rgba, ..*left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    /// A frame of 3x2 pixels in RGB8 whose red is their number.
    fn memory() -> Regions {
        let mut memory = Regions::new();
        memory.add(FCRAM, (1..=16).flat_map(|n| [0, 0, n]).collect());
        memory
    }

    fn reds(image: &Image) -> Vec<u8> {
        image.rgba.iter().step_by(4).copied().collect()
    }

    fn top(lcd: &mut Lcd, writes: &[(u32, u32)]) {
        writes.iter().for_each(|&(offset, value)| assert!(lcd.write(SETUP + offset, value), "{offset:#x}"));
    }

    fn seen(lcd: &Lcd, eye: Eye) -> Vec<u8> {
        match lcd.picture(Screen::Top, eye) {
            Picture::Frame(frame) => reds(&frame.read(&memory()).unwrap()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn buffers_eyes_and_rows_are_chosen() {
        let mut lcd = Lcd::default();
        assert_eq!(lcd.picture(Screen::Top, Eye::Left), Picture::Off);
        top(
            &mut lcd,
            &[(SIZE, 2 << 16 | 2), (BYTES_PER_ROW, 6), (FORMAT, 1), (LEFT[0], FCRAM), (LEFT[1], FCRAM + 12)],
        );
        top(&mut lcd, &[(RIGHT[0], FCRAM + 24), (RIGHT[1], FCRAM + 36)]);
        // Columns 1 and 0, each from top to bottom.
        assert_eq!(seen(&lcd, Eye::Left), [2, 4, 1, 3]);
        assert_eq!(seen(&lcd, Eye::Right), [2, 4, 1, 3]);
        top(&mut lcd, &[(SELECT, 1)]);
        assert_eq!(seen(&lcd, Eye::Left), [6, 8, 5, 7]);
        top(&mut lcd, &[(FORMAT, 1 | BOTH_EYES << 4)]);
        assert!(lcd.is_stereoscopic());
        assert_eq!(seen(&lcd, Eye::Right), [14, 16, 13, 15]);
        // Every other row only.
        top(&mut lcd, &[(SELECT, 0), (BYTES_PER_ROW, 12)]);
        assert_eq!(seen(&lcd, Eye::Left), [2, 6, 1, 5]);
        assert!(!lcd.write(SETUP + 0x60, 1) && !lcd.write(SETUP + 2 * SETUP_STRIDE + SIZE, 1));
    }

    #[test]
    fn gamma_and_fills() {
        let mut lcd = Lcd::default();
        top(&mut lcd, &[(SIZE, 1 << 16 | 3), (BYTES_PER_ROW, 9), (FORMAT, 1), (LEFT[0], FCRAM)]);
        // Levels 1 and 2.
        top(&mut lcd, &[(GAMMA_INDEX, 1), (GAMMA_DATA, 0x0605_0428), (GAMMA_DATA, 0x0000_0029)]);
        assert_eq!(seen(&lcd, Eye::Left), [3, 0x29, 0x28]);
        lcd.write(FILL[0], FILL_ON | 0x0003_0201);
        assert_eq!(lcd.picture(Screen::Top, Eye::Left), Picture::Color([1, 2, 3]));
    }

    #[test]
    fn what_cannot_be_shown_is_refused() {
        let frame = Frame {
            address: FCRAM,
            width: 4,
            height: 4,
            bytes_per_row: 12,
            format: 1,
            on_its_side: false,
            gamma: None,
        };
        assert_eq!(reds(&frame.read(&memory()).unwrap()), (1..=16).collect::<Vec<u8>>());
        let far = Frame { bytes_per_row: 13, ..frame.clone() };
        assert_eq!(far.read(&memory()), Err(FrameError::Unmapped { address: FCRAM, bytes: 51 }));
        for wrong in [
            Frame { format: 5, ..frame.clone() },
            Frame { width: 0, ..frame.clone() },
            Frame { height: SIDE + 1, ..frame },
        ] {
            assert!(matches!(wrong.read(&memory()), Err(FrameError::Shape { .. })));
        }
    }

    #[test]
    fn two_pictures_become_one() {
        let (left, right) = (Image::filled([1, 2, 3], 2, 1), Image::filled([4, 5, 6], 1, 1));
        let both = Image::side_by_side(&left, &right);
        assert_eq!((both.width, both.height, reds(&both)), (3, 1, vec![1, 1, 4]));
        assert_eq!(Image::anaglyph(&left, &Image::filled([4, 5, 6], 2, 1)), Image::filled([1, 5, 6], 2, 1));
    }
}
