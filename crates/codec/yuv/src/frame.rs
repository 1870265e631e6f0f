//! Frames: where the samples lie.

use crate::format::{Format, Layout, Packed, Rows, Subsampling};
use alloc::vec::Vec;
use thiserror::Error;

/// A plane: rows of `pitch` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    /// The bytes.
    pub data: &'a [u8],
    /// Bytes from a row to the next.
    pub pitch: usize,
}

/// Why there is no such frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Samples of so many bits are not supported.
    #[error("samples of {0} bits; 8 to 16 are supported")]
    Bits(u32),
    /// A packed layout of another number of bits than its own.
    #[error("samples of {given} bits; the layout has {needed}")]
    PackedBits {
        /// The layout's.
        needed: u32,
        /// Those given.
        given: u32,
    },
    /// A packed layout of another subsampling than its own.
    #[error("packed layouts are 4:2:2, or 4:4:4 with a fourth sample")]
    Packed,
    /// Another number of planes than the layout's.
    #[error("{given} planes, the layout has {needed}")]
    Planes {
        /// The layout's.
        needed: usize,
        /// Those given.
        given: usize,
    },
    /// A plane is too short, or its rows overlap.
    #[error("plane {plane}: {given} bytes, {needed} are needed")]
    Plane {
        /// Which.
        plane: usize,
        /// Bytes needed: of the plane, or of a row if its pitch is too small.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The frame has more bytes than an address counts.
    #[error("a frame of {0} x {1} is too large")]
    TooLarge(usize, usize),
    /// The output does not hold the texels.
    #[error("the output has room for {given} texels, the frame has {needed}")]
    Output {
        /// Texels of the frame, or places that are sampled.
        needed: usize,
        /// Texels given.
        given: usize,
    },
}

/// How samples of one kind are found in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// In bytes or words of their own: that of column `x` begins at byte `offset + x * step`.
    Apart,
    /// Ten bits, three to a word of 32: that of column `x` is the sample `offset + x * step` of the row.
    Tens,
    /// The two highest bits of a byte, which is byte `offset + x * step`.
    Twos,
}

/// Samples of one kind. Row `y` begins at byte `y * pitch`.
#[derive(Clone, Copy)]
pub(crate) struct Channel<'a> {
    pub data: &'a [u8],
    pub pitch: usize,
    pub packing: Packing,
    pub offset: usize,
    pub step: usize,
    pub size: [usize; 2],
}

/// A frame whose planes hold what its format says.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub(crate) format: Format,
    pub(crate) size: [usize; 2],
    /// Cr, luma, Cb: red, green, blue.
    pub(crate) channels: [Channel<'a>; 3],
    pub(crate) alpha: Option<Channel<'a>>,
}

/// A format that a frame may have, with what is of no matter to its layout made the same for all.
fn checked(format: Format) -> Result<Format, Error> {
    if !(8..=16).contains(&format.bits) {
        return Err(Error::Bits(format.bits));
    }
    if let Some(needed) = format.layout.bits()
        && needed != format.bits
    {
        return Err(Error::PackedBits { needed, given: format.bits });
    }
    if format.layout.subsampling().is_some_and(|subsampling| subsampling != format.subsampling) {
        return Err(Error::Packed);
    }
    Ok(Format {
        subsampling: match format.layout {
            Layout::Mono => Subsampling::S444,
            _ => format.subsampling,
        },
        high: format.high && format.layout.bits().is_none(),
        ..format
    })
}

impl<'a> Frame<'a> {
    /// A frame of `width` by `height` luma samples. A size that is no multiple of the subsampling's factors has a chroma sample for
    /// the last, incomplete group.
    ///
    /// Rows need not be padded as [`Format::planes`] has it: those of [`Layout::PackedV210`] have at least 16 bytes for every six
    /// texels begun.
    ///
    /// # Errors
    /// When the planes are not what the format needs.
    pub fn new(
        format: Format,
        width: usize,
        height: usize,
        planes: &[Plane<'a>],
    ) -> Result<Frame<'a>, Error> {
        let format = checked(format)?;
        let too_large = Error::TooLarge(width, height);
        let needed = format.planes_of(width, height, Rows::Shortest).ok_or(too_large)?;
        if needed.len() != planes.len() {
            return Err(Error::Planes { needed: needed.len(), given: planes.len() });
        }
        for (plane, (&(row, rows), given)) in needed.iter().zip(planes).enumerate() {
            if rows > 1 && given.pitch < row {
                return Err(Error::Plane { plane, needed: row, given: given.pitch });
            }
            let bytes = rows.saturating_sub(1).checked_mul(given.pitch).and_then(|n| n.checked_add(row));
            let bytes = if rows == 0 { 0 } else { bytes.ok_or(too_large)? };
            if given.data.len() < bytes {
                return Err(Error::Plane { plane, needed: bytes, given: given.data.len() });
            }
        }
        let [fx, fy] = format.subsampling.factors();
        let (luma, chroma) = ([width, height], [width.div_ceil(fx), height.div_ceil(fy)]);
        // A channel of a plane, its first sample and its step in samples.
        let channel = |plane: usize, first: usize, step: usize, size: [usize; 2]| {
            let Plane { data, pitch } = planes[plane];
            let bytes = format.sample_bytes();
            let (offset, step) = (first * bytes, step * bytes);
            Channel { data, pitch, packing: Packing::Apart, offset, step, size }
        };
        let semi_planar = |cr: usize, cb: usize| {
            [channel(1, cr, 2, chroma), channel(0, 0, 1, luma), channel(1, cb, 2, chroma)]
        };
        let mut alpha = None;
        let channels = match format.layout {
            Layout::Planar | Layout::PlanarAlpha => {
                if format.layout.has_alpha() {
                    alpha = Some(channel(3, 0, 1, luma));
                }
                [channel(2, 0, 1, chroma), channel(0, 0, 1, luma), channel(1, 0, 1, chroma)]
            }
            Layout::SemiPlanar => semi_planar(1, 0),
            Layout::SemiPlanarSwapped => semi_planar(0, 1),
            Layout::Mono => [channel(0, 0, 1, luma); 3],
            layout => {
                // All that are left are packed.
                let none =
                    Packed { subsampling: Subsampling::S444, first: [0; 3], steps: [0; 3], alpha: None };
                let Packed { first, steps, alpha: of_alpha, .. } = layout.packed().unwrap_or(none);
                let tens = |of: usize, size| {
                    let Plane { data, pitch } = planes[0];
                    Channel { data, pitch, packing: Packing::Tens, offset: first[of], step: steps[of], size }
                };
                let of = |of: usize, size| match layout.bits() {
                    Some(_) => tens(of, size),
                    None => channel(0, first[of], steps[of], size),
                };
                alpha = of_alpha.map(|first| channel(0, first, steps[1], luma));
                if layout == Layout::PackedY410 {
                    let twos = channel(0, 0, 1, luma);
                    alpha = Some(Channel { packing: Packing::Twos, offset: 3, step: 4, ..twos });
                }
                [of(0, chroma), of(1, luma), of(2, chroma)]
            }
        };
        Ok(Frame { format, size: luma, channels, alpha })
    }

    /// A frame whose planes follow each other in `data` with the rows of [`Format::planes`].
    ///
    /// # Errors
    /// As [`Frame::new`].
    pub fn tight(format: Format, width: usize, height: usize, data: &'a [u8]) -> Result<Frame<'a>, Error> {
        let format = checked(format)?;
        let needed = format.bytes(width, height).ok_or(Error::TooLarge(width, height))?;
        let mut rest = data.get(..needed).ok_or(Error::Plane { plane: 0, needed, given: data.len() })?;
        let mut planes = Vec::with_capacity(4);
        for (pitch, rows) in format.planes(width, height).unwrap_or_default() {
            let (plane, behind) = rest.split_at(pitch * rows);
            planes.push(Plane { data: plane, pitch });
            rest = behind;
        }
        Frame::new(format, width, height, &planes)
    }

    /// Width and height in luma samples.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }
}

impl Channel<'_> {
    /// The code at a column and a row of a channel of a format; 0 where there is none.
    pub(crate) fn code(&self, format: Format, x: usize, y: usize) -> u16 {
        let row = self.data.get(y * self.pitch..).unwrap_or_default();
        let at = self.offset + x * self.step;
        let byte = |at: usize| row.get(at).copied().map_or(0, u16::from);
        match self.packing {
            Packing::Apart if format.bits == 8 => byte(at),
            Packing::Apart => {
                let word = byte(at) | byte(at + 1) << 8;
                let unused = 16 - format.bits;
                if format.high { word >> unused } else { word & (u16::MAX >> unused) }
            }
            Packing::Tens => ten(row, at),
            Packing::Twos => byte(at) >> 6,
        }
    }
}

/// A sample of a row of words of 32 bits that have three of ten bits each.
#[inline(always)]
pub(crate) fn ten(row: &[u8], sample: usize) -> u16 {
    let word = row.get(sample / 3 * 4..).and_then(|word| word.first_chunk());
    let word = u32::from_le_bytes(word.copied().unwrap_or_default());
    (word >> (10 * (sample % 3)) & 0x3ff) as u16
}
