//! Formats: how samples share planes, how many of them there are, and of how many bits.

use alloc::vec;
use alloc::vec::Vec;

/// How samples share planes. Packed layouts are named by the order of their samples in memory: Y is luma, U is Cb, V is Cr and A is
/// alpha.
///
/// Alpha is taken only by a conversion that asks for it ([`crate::Component::Alpha`]); it is 1 otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A plane each for luma, Cb and Cr: I420, I422, I444 and the like.
    Planar,
    /// A plane each for luma, Cb, Cr and alpha, the last with as many samples as luma: FFmpeg's `yuva420p` and the like.
    PlanarAlpha,
    /// A plane for luma, one for pairs of Cb and Cr: NV12, NV16, NV24, P010.
    SemiPlanar,
    /// A plane for luma, one for pairs of Cr and Cb: NV21, NV61, NV42.
    SemiPlanarSwapped,
    /// One plane of luma, Cb, luma, Cr; 4:2:2 only. Also YUY2; with words that have their value in the high bits Y210, Y212 and
    /// Y216.
    PackedYuyv,
    /// One plane of Cb, luma, Cr, luma; 4:2:2 only.
    PackedUyvy,
    /// One plane of luma, Cr, luma, Cb; 4:2:2 only.
    PackedYvyu,
    /// One plane of Cr, luma, Cb, luma; 4:2:2 only.
    PackedVyuy,
    /// One plane of Cb, luma, Cr, luma of ten bits, three to a little-endian word of 32 bits from its lowest bits on; 4:2:2 only.
    /// Six texels take 16 bytes. Rows of files are padded to a multiple of 128 bytes, which are 48 texels.
    PackedV210,
    /// One plane of Cr, Cb, luma and alpha; 4:4:4 only. Many call it AYUV, by the order in a word of 32 bits.
    PackedVuya,
    /// One plane of Cb, luma, Cr and alpha; 4:4:4 only. With words that have their value in the high bits Y412 and Y416.
    PackedUyva,
    /// One plane of alpha, luma, Cb and Cr; 4:4:4 only. What FFmpeg calls AYUV and AYUV64.
    PackedAyuv,
    /// One plane of Cr, luma, Cb and alpha; 4:4:4 only. What Vulkan's formats of red, green, blue and alpha are to a conversion.
    PackedVyua,
    /// One plane of little-endian words of 32 bits that have, from the lowest bits on, Cb, luma and Cr of ten bits and alpha of
    /// two; 4:4:4 only.
    PackedY410,
    /// Luma alone: grey. Subsampling is of no matter.
    Mono,
}

/// How many chroma samples there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subsampling {
    /// A quarter along both axes.
    S410,
    /// A quarter along x.
    S411,
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
    /// All of them.
    pub const ALL: [Subsampling; 6] = [
        Subsampling::S410,
        Subsampling::S411,
        Subsampling::S420,
        Subsampling::S422,
        Subsampling::S440,
        Subsampling::S444,
    ];

    /// Luma samples to a chroma sample along x and y.
    pub const fn factors(self) -> [usize; 2] {
        match self {
            Subsampling::S410 => [4, 4],
            Subsampling::S411 => [4, 1],
            Subsampling::S420 => [2, 2],
            Subsampling::S422 => [2, 1],
            Subsampling::S440 => [1, 2],
            Subsampling::S444 => [1, 1],
        }
    }
}

/// Where the samples of a packed layout lie: those of Cr, luma and Cb are `steps` apart, counted in samples.
pub(crate) struct Packed {
    pub subsampling: Subsampling,
    pub first: [usize; 3],
    pub steps: [usize; 3],
    /// The first of alpha, which is as far apart as luma.
    pub alpha: Option<usize>,
}

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 15] = [
        Layout::Planar,
        Layout::PlanarAlpha,
        Layout::SemiPlanar,
        Layout::SemiPlanarSwapped,
        Layout::PackedYuyv,
        Layout::PackedUyvy,
        Layout::PackedYvyu,
        Layout::PackedVyuy,
        Layout::PackedV210,
        Layout::PackedVuya,
        Layout::PackedUyva,
        Layout::PackedAyuv,
        Layout::PackedVyua,
        Layout::PackedY410,
        Layout::Mono,
    ];

    /// The order of a packed layout.
    pub(crate) const fn packed(self) -> Option<Packed> {
        let (first, alpha) = match self {
            Layout::Planar | Layout::PlanarAlpha | Layout::Mono => return None,
            Layout::SemiPlanar | Layout::SemiPlanarSwapped => return None,
            Layout::PackedYuyv => ([3, 0, 1], None),
            Layout::PackedUyvy | Layout::PackedV210 => ([2, 1, 0], None),
            Layout::PackedYvyu => ([1, 0, 3], None),
            Layout::PackedVyuy => ([0, 1, 2], None),
            Layout::PackedVuya => ([0, 2, 1], Some(3)),
            Layout::PackedUyva => ([2, 1, 0], Some(3)),
            Layout::PackedAyuv => ([3, 1, 2], Some(0)),
            Layout::PackedVyua => ([0, 1, 2], Some(3)),
            // Alpha is not among the samples of ten bits.
            Layout::PackedY410 => ([2, 1, 0], None),
        };
        let (subsampling, steps) = match (self, alpha) {
            (Layout::PackedY410, _) => (Subsampling::S444, [3; 3]),
            (_, Some(_)) => (Subsampling::S444, [4; 3]),
            (_, None) => (Subsampling::S422, [4, 2, 4]),
        };
        Some(Packed { subsampling, first, steps, alpha })
    }

    /// The only subsampling that the layout has, if it does not go with all.
    pub const fn subsampling(self) -> Option<Subsampling> {
        match self.packed() {
            Some(packed) => Some(packed.subsampling),
            None => None,
        }
    }

    /// The only number of bits that the layout's samples have, if they may not have 8 to 16.
    pub const fn bits(self) -> Option<u32> {
        match self {
            Layout::PackedV210 | Layout::PackedY410 => Some(10),
            _ => None,
        }
    }

    /// Whether there are samples of alpha.
    pub const fn has_alpha(self) -> bool {
        matches!(self, Layout::PlanarAlpha | Layout::PackedY410)
            || matches!(self.packed(), Some(Packed { alpha: Some(_), .. }))
    }
}

/// The form of a frame's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Planes.
    pub layout: Layout,
    /// Chroma samples.
    pub subsampling: Subsampling,
    /// Bits of a sample, 8 to 16. Those of 8 are bytes, others little-endian words, but for [`Layout::PackedV210`] and
    /// [`Layout::PackedY410`], which have 10 bits.
    pub bits: u32,
    /// Whether words have their value in the high bits, as Vulkan's formats do, and not in the low ones, as files do. It is of no
    /// matter to bytes and to layouts of three samples to a word.
    pub high: bool,
}

/// Whether rows of a layout that files pad have their padding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    AsInFiles,
    Shortest,
}

impl Format {
    pub(crate) const fn sample_bytes(self) -> usize {
        if self.bits == 8 { 1 } else { 2 }
    }

    /// Bits of the samples of alpha, if there are any.
    pub(crate) const fn alpha_bits(self) -> Option<u32> {
        match self.layout {
            Layout::PackedY410 => Some(2),
            layout if layout.has_alpha() => Some(self.bits),
            _ => None,
        }
    }

    /// Bytes of a row, and rows, of each plane of a frame of `width` by `height`; nothing if they cannot be counted. Rows have no
    /// padding but that of [`Layout::PackedV210`].
    pub fn planes(self, width: usize, height: usize) -> Option<Vec<(usize, usize)>> {
        self.planes_of(width, height, Rows::AsInFiles)
    }

    pub(crate) fn planes_of(self, width: usize, height: usize, rows: Rows) -> Option<Vec<(usize, usize)>> {
        let [fx, fy] = self.subsampling.factors();
        let (cw, ch) = (width.div_ceil(fx), height.div_ceil(fy));
        let row = |samples: usize| samples.checked_mul(self.sample_bytes());
        let (luma, chroma) = ((row(width)?, height), (row(cw)?, ch));
        Some(match self.layout {
            Layout::Planar => vec![luma, chroma, chroma],
            Layout::PlanarAlpha => vec![luma, chroma, chroma, luma],
            Layout::SemiPlanar | Layout::SemiPlanarSwapped => vec![luma, (row(cw.checked_mul(2)?)?, ch)],
            Layout::PackedYuyv | Layout::PackedUyvy | Layout::PackedYvyu | Layout::PackedVyuy => {
                vec![(row(cw.checked_mul(4)?)?, height)]
            }
            Layout::PackedV210 => {
                let bytes = match rows {
                    Rows::AsInFiles => width.div_ceil(48).checked_mul(128)?,
                    Rows::Shortest => width.div_ceil(6).checked_mul(16)?,
                };
                vec![(bytes, height)]
            }
            Layout::PackedVuya | Layout::PackedUyva | Layout::PackedAyuv | Layout::PackedVyua => {
                vec![(row(width.checked_mul(4)?)?, height)]
            }
            Layout::PackedY410 => vec![(width.checked_mul(4)?, height)],
            Layout::Mono => vec![luma],
        })
    }

    /// Bytes of a frame of `width` by `height` whose rows are those of [`Format::planes`]; nothing if they cannot be counted.
    pub fn bytes(self, width: usize, height: usize) -> Option<usize> {
        self.planes(width, height)?
            .into_iter()
            .try_fold(0usize, |all, (row, rows)| all.checked_add(row.checked_mul(rows)?))
    }
}
