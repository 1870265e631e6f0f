//! Frames: where the samples lie.

use thiserror::Error;

/// How samples share planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A plane each for luma, Cb and Cr.
    Planar,
    /// A plane for luma, one for pairs of Cb and Cr.
    SemiPlanar,
    /// A plane for luma, one for pairs of Cr and Cb.
    SemiPlanarSwapped,
    /// One plane of luma, Cb, luma, Cr; 4:2:2 only.
    PackedYuyv,
    /// One plane of Cb, luma, Cr, luma; 4:2:2 only.
    PackedUyvy,
    /// One plane of Cr, Cb, luma and a sample that is left out, which many call AYUV; 4:4:4 only.
    PackedVuya,
    /// Luma alone: grey. Subsampling is of no matter.
    Mono,
}

/// How many chroma samples there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subsampling {
    /// Half along both axes.
    S420,
    /// Half along x.
    S422,
    /// Half along y.
    S440,
    /// All.
    S444,
}

impl Subsampling {
    /// Luma samples to a chroma sample along x and y.
    pub const fn factors(self) -> [usize; 2] {
        match self {
            Subsampling::S420 => [2, 2],
            Subsampling::S422 => [2, 1],
            Subsampling::S440 => [1, 2],
            Subsampling::S444 => [1, 1],
        }
    }
}

/// The form of a frame's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Planes.
    pub layout: Layout,
    /// Chroma samples.
    pub subsampling: Subsampling,
    /// Bits of a sample, 8 to 16. Those of 8 are bytes, others little-endian words.
    pub bits: u32,
    /// Whether words have their value in the high bits, as Vulkan's formats do, and not in the low ones, as files do.
    pub high: bool,
}

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
        /// Texels of the frame.
        needed: usize,
        /// Texels given.
        given: usize,
    },
}

/// Samples of one kind: that at column `x` of row `y` begins at `offset + y * pitch + x * step`.
#[derive(Clone, Copy)]
pub(crate) struct Channel<'a> {
    pub data: &'a [u8],
    pub pitch: usize,
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
}

impl Format {
    const fn sample_bytes(self) -> usize {
        if self.bits == 8 { 1 } else { 2 }
    }

    /// Bytes of a row, and rows, of each plane of a frame of `width` by `height`, without padding; nothing if they cannot be
    /// counted.
    pub fn planes(self, width: usize, height: usize) -> Option<Vec<(usize, usize)>> {
        let [fx, fy] = self.subsampling.factors();
        let (cw, ch) = (width.div_ceil(fx), height.div_ceil(fy));
        let row = |samples: usize| samples.checked_mul(self.sample_bytes());
        Some(match self.layout {
            Layout::Planar => vec![(row(width)?, height), (row(cw)?, ch), (row(cw)?, ch)],
            Layout::SemiPlanar | Layout::SemiPlanarSwapped => {
                vec![(row(width)?, height), (row(cw.checked_mul(2)?)?, ch)]
            }
            Layout::PackedYuyv | Layout::PackedUyvy => vec![(row(cw.checked_mul(4)?)?, height)],
            Layout::PackedVuya => vec![(row(width.checked_mul(4)?)?, height)],
            Layout::Mono => vec![(row(width)?, height)],
        })
    }

    /// Bytes of a frame of `width` by `height` without padding; nothing if they cannot be counted.
    pub fn bytes(self, width: usize, height: usize) -> Option<usize> {
        self.planes(width, height)?
            .into_iter()
            .try_fold(0usize, |all, (row, rows)| all.checked_add(row.checked_mul(rows)?))
    }
}

impl<'a> Frame<'a> {
    /// A frame of `width` by `height` luma samples. An odd size has a chroma sample for the last half pair.
    ///
    /// # Errors
    /// When the planes are not what the format needs.
    pub fn new(
        format: Format,
        width: usize,
        height: usize,
        planes: &[Plane<'a>],
    ) -> Result<Frame<'a>, Error> {
        if !(8..=16).contains(&format.bits) {
            return Err(Error::Bits(format.bits));
        }
        let format = match format.layout {
            Layout::Mono => Format { subsampling: Subsampling::S444, ..format },
            _ => format,
        };
        let subsampling = match format.layout {
            Layout::PackedYuyv | Layout::PackedUyvy => Subsampling::S422,
            Layout::PackedVuya => Subsampling::S444,
            _ => format.subsampling,
        };
        if format.subsampling != subsampling {
            return Err(Error::Packed);
        }
        let too_large = Error::TooLarge(width, height);
        let needed = format.planes(width, height).ok_or(too_large)?;
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
        let chroma = [width.div_ceil(fx), height.div_ceil(fy)];
        // A channel of a plane, its first sample and its step in samples.
        let channel = |plane: usize, first: usize, step: usize, size: [usize; 2]| {
            let Plane { data, pitch } = planes[plane];
            let bytes = format.sample_bytes();
            Channel { data, pitch, offset: first * bytes, step: step * bytes, size }
        };
        let luma = [width, height];
        let channels = match format.layout {
            Layout::Planar => [channel(2, 0, 1, chroma), channel(0, 0, 1, luma), channel(1, 0, 1, chroma)],
            Layout::SemiPlanar => {
                [channel(1, 1, 2, chroma), channel(0, 0, 1, luma), channel(1, 0, 2, chroma)]
            }
            Layout::SemiPlanarSwapped => {
                [channel(1, 0, 2, chroma), channel(0, 0, 1, luma), channel(1, 1, 2, chroma)]
            }
            Layout::PackedYuyv => {
                [channel(0, 3, 4, chroma), channel(0, 0, 2, luma), channel(0, 1, 4, chroma)]
            }
            Layout::PackedVuya => [channel(0, 0, 4, luma), channel(0, 2, 4, luma), channel(0, 1, 4, luma)],
            // Conversions leave chroma out, but for the model that takes samples for colours.
            Layout::Mono => [channel(0, 0, 1, luma); 3],
            Layout::PackedUyvy => {
                [channel(0, 2, 4, chroma), channel(0, 1, 2, luma), channel(0, 0, 4, chroma)]
            }
        };
        Ok(Frame { format, size: luma, channels })
    }

    /// A frame whose planes follow each other in `data` without padding.
    ///
    /// # Errors
    /// As [`Frame::new`].
    pub fn tight(format: Format, width: usize, height: usize, data: &'a [u8]) -> Result<Frame<'a>, Error> {
        if !(8..=16).contains(&format.bits) {
            return Err(Error::Bits(format.bits));
        }
        let needed = format.bytes(width, height).ok_or(Error::TooLarge(width, height))?;
        let mut rest = data.get(..needed).ok_or(Error::Plane { plane: 0, needed, given: data.len() })?;
        let mut planes = Vec::with_capacity(3);
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
