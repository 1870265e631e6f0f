//! ASTC: every footprint of two and three dimensions, every profile.
//!
//! A block is decoded in steps, a file each: `mode` reads the header, `ise` the packed integers, `grid` spreads the
//! weights over the texels, `partition` says whose endpoints a texel has, `endpoint` makes those, `blend` the texels.
//! Where the specification says error, `vectors/texture/FORMAT.md` says which texels it is and of what bits.

mod blend;
mod endpoint;
mod grid;
pub(crate) mod ise;
mod mode;
mod partition;
pub(crate) mod shape;
mod void;

use crate::format::Profile;
use crate::simd::Simd;
use blend::{Blend, Color};
use endpoint::{Endpoints, Own, Partitions};
use mode::Header;
use shape::Shape;

/// Most texels of a block: 6×6×6.
const MAX_TEXELS: usize = 216;

/// Texels that loops take at a time.
const CHUNK: usize = 32;

/// Room for the texels of a block in whole chunks.
const ROOM: usize = MAX_TEXELS.next_multiple_of(CHUNK);

/// A block size of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Footprint {
    width: u8,
    height: u8,
    depth: u8,
}

impl Footprint {
    /// All of them, the flat ones first.
    pub const ALL: [Footprint; 24] = {
        const SIZES: [[u8; 3]; 24] = [
            [4, 4, 1],
            [5, 4, 1],
            [5, 5, 1],
            [6, 5, 1],
            [6, 6, 1],
            [8, 5, 1],
            [8, 6, 1],
            [8, 8, 1],
            [10, 5, 1],
            [10, 6, 1],
            [10, 8, 1],
            [10, 10, 1],
            [12, 10, 1],
            [12, 12, 1],
            [3, 3, 3],
            [4, 3, 3],
            [4, 4, 3],
            [4, 4, 4],
            [5, 4, 4],
            [5, 5, 4],
            [5, 5, 5],
            [6, 5, 5],
            [6, 6, 5],
            [6, 6, 6],
        ];
        let mut all = [Footprint { width: 4, height: 4, depth: 1 }; 24];
        let mut i = 0;
        while i < all.len() {
            let [width, height, depth] = SIZES[i];
            all[i] = Footprint { width, height, depth };
            i += 1;
        }
        all
    };

    /// The footprint of this width, height and depth in texels, if there is one.
    pub fn new(width: u32, height: u32, depth: u32) -> Option<Footprint> {
        Footprint::ALL.into_iter().find(|f| f.size() == [width, height, depth])
    }

    /// Width, height and depth in texels.
    pub const fn size(self) -> [u32; 3] {
        [self.width as u32, self.height as u32, self.depth as u32]
    }

    const fn texels(self) -> usize {
        self.width as usize * self.height as usize * self.depth as usize
    }
}

/// The colour of texels that illegal blocks have: magenta, or NaN where the output is of floats.
const fn error(profile: Profile) -> Color {
    match profile {
        Profile::LdrUnorm8 | Profile::Srgb => [0xff, 0, 0xff, 0xff],
        Profile::LdrFloat16 | Profile::Hdr => [0xffff; 4],
    }
}

/// Decodes a row of blocks of a slice, whole slices, or a layer of blocks with depth. `size` is the width and height of
/// a slice in texels.
#[inline(always)]
pub(crate) fn decode_band<S: Simd>(
    simd: S,
    footprint: Footprint,
    profile: Profile,
    size: [usize; 2],
    data: &[u8],
    out: &mut [u8],
) {
    match profile {
        Profile::LdrUnorm8 => band::<S, blend::Unorm8>(simd, footprint, profile, size, data, out),
        Profile::Srgb => band::<S, blend::Srgb>(simd, footprint, profile, size, data, out),
        Profile::LdrFloat16 => band::<S, blend::Float16>(simd, footprint, profile, size, data, out),
        Profile::Hdr => band::<S, blend::Hdr>(simd, footprint, profile, size, data, out),
    }
}

/// Blocks that are decoded together, step by step: what a step of one block waits for, the same step of others does not.
const TOGETHER: usize = 32;

#[inline(always)]
fn band<S: Simd, B: Blend>(
    simd: S,
    footprint: Footprint,
    profile: Profile,
    [width, height]: [usize; 2],
    data: &[u8],
    out: &mut [u8],
) {
    let [bw, bh, bd] = footprint.size().map(|n| n as usize);
    let bytes = B::BYTES;
    let (pitch, slice) = (width * bytes, width * height * bytes);
    let shape = shape::of(footprint);
    let mut scratch = Scratch::new();
    let mut texels = Texels([0; ROOM * 8]);
    let mut read = [const { Block::new() }; TOGETHER];
    let (mut partitions, mut endpoints) = (Partitions::new(), Endpoints::new());
    // A band is one row of blocks, whose last may have fewer rows, or whole slices.
    let rows = (out.len() / pitch).min(height);
    let mut data = data.as_chunks::<16>().0;
    for layer in out.chunks_mut(slice * bd) {
        for y in (0..rows).step_by(bh) {
            for left in (0..width).step_by(TOGETHER * bw) {
                let count = (width - left).div_ceil(bw).min(TOGETHER).min(data.len());
                let (blocks, rest) = data.split_at(count);
                data = rest;
                for (bits, block) in blocks.iter().zip(&mut read) {
                    block.read(simd, footprint, profile, u128::from_le_bytes(*bits));
                }
                partitions.clear();
                for block in read.iter_mut().take(count) {
                    block.partitions = partitions.add(&block.header, &block.values, profile);
                }
                endpoint::endpoints(simd, &partitions, profile, &mut endpoints);
                for (x, block) in (left..).step_by(bw).zip(read.iter().take(count)) {
                    block.texels::<S, B>(simd, shape, &endpoints, &mut scratch, &mut texels.0);
                    let run = bw.min(width - x) * bytes;
                    let decoded = texels.0.chunks_exact(bw * bytes);
                    if bd == 1 {
                        // One slice, perhaps a part of one.
                        let rows = layer[y * pitch..].chunks_exact_mut(pitch);
                        for (row, texels) in rows.zip(decoded).take(bh) {
                            copy(&mut row[x * bytes..][..run], &texels[..run]);
                        }
                        continue;
                    }
                    for (row, texels) in decoded.take(bh * bd).enumerate() {
                        let (z, y) = (row / bh, y + row % bh);
                        if y < height
                            && let Some(row) = layer.get_mut(z * slice + y * pitch + x * bytes..)
                            && let Some(row) = row.get_mut(..run)
                        {
                            copy(row, &texels[..run]);
                        }
                    }
                }
            }
        }
    }
}

/// Copies texels. For whole rows of the smaller blocks a call would cost more than the copy.
#[inline(always)]
fn copy(to: &mut [u8], from: &[u8]) {
    match from.len() {
        16 => to[..16].copy_from_slice(&from[..16]),
        32 => to[..32].copy_from_slice(&from[..32]),
        48 => to[..48].copy_from_slice(&from[..48]),
        64 => to[..64].copy_from_slice(&from[..64]),
        _ => to.copy_from_slice(from),
    }
}

/// The texels of a block as bytes of the output.
#[repr(align(64))]
struct Texels([u8; ROOM * 8]);

/// What blocks need while they are decoded; cleared by nobody, written before it is read.
#[repr(align(64))]
struct Scratch {
    /// Weights of the texels, 0 to 64, of both planes.
    weights: [[u8; ROOM]; 2],
    /// What of the grid makes the weights.
    mix: grid::Mix,
    /// Partitions of the texels.
    partitions: [u8; ROOM],
}

impl Scratch {
    fn new() -> Scratch {
        Scratch { mix: grid::Mix::new(), weights: [[0; ROOM]; 2], partitions: [0; ROOM] }
    }
}

/// What a block says.
#[repr(align(64))]
struct Block {
    /// The colour of all texels; the rest is another block's then.
    constant: Option<Color>,
    header: Header,
    /// Weights of the grid and values of endpoints as they are packed.
    weights: ise::Packed,
    values: ise::Packed,
    partitions: Own,
}

impl Block {
    const fn new() -> Block {
        Block {
            constant: None,
            header: Header::NONE,
            weights: ise::NONE,
            values: ise::NONE,
            partitions: Own::NONE,
        }
    }

    /// All but the endpoints.
    #[inline(always)]
    fn read<S: Simd>(&mut self, simd: S, footprint: Footprint, profile: Profile, bits: u128) {
        if mode::is_void(bits) {
            self.constant = Some(void::constant(bits, footprint, profile).unwrap_or(error(profile)));
            return;
        }
        let Some(header) = Header::parse(bits, footprint) else {
            self.constant = Some(error(profile));
            return;
        };
        self.constant = None;
        let weights = bits.reverse_bits() & ((1 << header.weight_bits) - 1);
        ise::unpack(simd, weights, header.weight_levels, header.weight_count, &mut self.weights);
        let values = bits >> header.values_at & ((1 << header.value_bits) - 1);
        // All that there may be, for loops of a length that is known; what is not there reads as zero.
        if header.partitions == 1 {
            ise::unpack(simd, values, header.value_levels, ise::MAX_VALUES_OF_ONE, &mut self.values);
        } else {
            ise::unpack(simd, values, header.value_levels, ise::MAX_VALUES, &mut self.values);
        }
        self.header = header;
    }

    /// The texels, as bytes of the output, in rows of slices.
    #[inline(always)]
    fn texels<S: Simd, B: Blend>(
        &self,
        simd: S,
        shape: &Shape,
        endpoints: &Endpoints,
        scratch: &mut Scratch,
        out: &mut [u8; ROOM * 8],
    ) {
        if let Some(color) = self.constant {
            return blend::fill::<B>(color, shape.texels, out);
        }
        let header = &self.header;
        let points = ise::weights(simd, &self.weights, header.weight_levels);
        if header.grid == shape.size {
            grid::copy(header, &points, &mut scratch.weights);
        } else {
            grid::mix(header, shape, &mut scratch.mix);
            let [first, second] = &mut scratch.weights;
            grid::spread(simd, shape, &scratch.mix, &points, 0, first);
            if header.second_plane.is_some() {
                grid::spread(simd, shape, &scratch.mix, &points, 1, second);
            }
        }
        if header.partitions > 1 {
            partition::select(header, shape, &mut scratch.partitions);
        }
        blend::texels::<B>(header, (endpoints, self.partitions), scratch, shape, out);
    }
}
