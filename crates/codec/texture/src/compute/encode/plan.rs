//! Where texels and blocks of a picture lie, and the workgroups that encode it.

use super::{sizes, texel_of};
use crate::compute::PICTURE_WORDS;
use crate::format::{Extent, Format};

/// Words of an [`EncoderPlan`] for its program.
pub const ENCODER_PLAN_WORDS: usize = PICTURE_WORDS;

/// Invocations of a workgroup, each of which encodes a block.
const INVOCATIONS: u32 = 64;

/// How a picture is encoded in one dispatch: slices of rows without padding, of texels ([`Format::encoder_texel`]) and of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderPlan {
    /// What the program is told of the picture.
    pub uniform: [u32; ENCODER_PLAN_WORDS],
    /// Workgroups along each axis.
    pub groups: [u32; 3],
    /// Bytes of all texels.
    pub texel_bytes: u64,
    /// Bytes of all blocks.
    pub block_bytes: u64,
}

impl EncoderPlan {
    /// The plan of a picture on a device that allows `max_groups` workgroups along an axis, 65,535 on every one. Nothing if the format
    /// is none of [`Encoder::FORMATS`](super::Encoder::FORMATS), the picture is empty, or it has more workgroups than the device has along two axes, or more words
    /// than 32 bits count.
    pub fn new(format: Format, extent: Extent, max_groups: u32) -> Option<EncoderPlan> {
        EncoderPlan::padded(format, extent, 1, max_groups)
    }

    /// The same with rows of texels and of blocks that begin at multiples of `alignment` bytes, which is a power of two.
    pub(super) fn padded(
        format: Format,
        extent: Extent,
        alignment: u32,
        max_groups: u32,
    ) -> Option<EncoderPlan> {
        let Extent { width, height, depth } = extent;
        let texel = texel_of(format).ok()?;
        let [_, rows, slices] = extent.blocks(format.block());
        let (row, block_row) = EncoderPlan::rows(format, width, alignment)?;
        let (pitch, across) = (row / texel.bytes() as u32, block_row / format.block_bytes() as u32);
        // Blocks of the padding are encoded, too: they repeat the last column.
        let texels = Extent { width: pitch, ..extent };
        let blocks = Extent { width: across.checked_mul(4)?, height: rows.checked_mul(4)?, depth };
        let [texel_bytes, _] = sizes(format, texels).ok()?;
        let [_, block_bytes] = sizes(format, blocks).ok()?;
        u32::try_from(texel_bytes / 4).ok()?;
        u32::try_from(block_bytes / 4).ok()?;
        let count = u32::try_from(block_bytes / format.block_bytes()).ok().filter(|&count| count > 0)?;
        let all = count.div_ceil(INVOCATIONS);
        let down = all.div_ceil(max_groups.max(1));
        let groups = [all.div_ceil(down), down, 1];
        let mut uniform = [0; ENCODER_PLAN_WORDS];
        uniform[..7].copy_from_slice(&[width, height, depth, pitch, across, rows, slices]);
        uniform[16..19].copy_from_slice(&groups);
        let (texel_bytes, block_bytes) = (texel_bytes as u64, block_bytes as u64);
        (down <= max_groups).then_some(EncoderPlan { uniform, groups, texel_bytes, block_bytes })
    }

    /// Bytes from a row of texels to the next, and from one of blocks.
    pub(super) fn rows(format: Format, width: u32, alignment: u32) -> Option<(u32, u32)> {
        let texel = format.encoder_texel()?.bytes() as u32;
        let texels = width.checked_mul(texel)?.checked_next_multiple_of(alignment)?;
        let blocks = width.div_ceil(4).checked_mul(format.block_bytes() as u32)?;
        Some((texels, blocks.checked_next_multiple_of(alignment)?))
    }
}
