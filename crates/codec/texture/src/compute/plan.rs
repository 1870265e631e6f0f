//! Where the levels of a texture lie, and the workgroups that decode them.

use super::{PICTURE_WORDS, picture};
use crate::format::{Extent, Format};

/// Most levels of a texture in one dispatch.
pub const MAX_LEVELS: usize = 16;

/// Words of a [`Plan`] for its program: the number of levels, and what is told of each.
pub const PLAN_WORDS: usize = 4 + MAX_LEVELS * PICTURE_WORDS;

/// A texture of blocks: its levels lie as in KTX 2 files, the largest first, and each has all its layers, faces or slices, one
/// after the other, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// What they are.
    pub format: Format,
    /// Texels of the largest level; its depth are layers, of a cube faces, unless it is a volume.
    pub extent: Extent,
    /// Levels, 1 to [`MAX_LEVELS`], each half as large as that before.
    pub levels: u32,
    /// Whether the third axis is depth, which is halved, too.
    pub volume: bool,
}

/// A level of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its texels, and layers or slices.
    pub extent: Extent,
    /// The byte where its blocks begin.
    pub blocks: u64,
    /// The byte where its texels begin: a multiple of 256.
    pub texels: u64,
    /// Bytes from a row of texels to the next: a multiple of 256, as copies to textures want it.
    pub row: u32,
}

/// How a texture is decoded to a buffer in one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the program is told of all levels, [`PLAN_WORDS`] words.
    pub uniform: Vec<u32>,
    /// Workgroups along each axis.
    pub groups: [u32; 3],
    /// The levels.
    pub levels: Vec<Level>,
    /// Bytes of all blocks.
    pub block_bytes: u64,
    /// Bytes of all texels.
    pub texel_bytes: u64,
}

/// What rows and levels begin at multiples of.
const ALIGNMENT: u32 = 256;

impl Plan {
    /// The plan of a texture on a device that allows `max_groups` workgroups along an axis, 65,535 on every one. Nothing if there
    /// are no levels or too many, a size is zero, the format has no program, or numbers are too large for programs, which
    /// count in 32 bits.
    pub fn new(blocks: &Blocks, max_groups: u32) -> Option<Plan> {
        let Blocks { format, extent, levels, volume } = *blocks;
        let largest = extent.width.max(extent.height).max(if volume { extent.depth } else { 1 });
        let most = (u32::BITS - largest.leading_zeros()).min(MAX_LEVELS as u32);
        if !format.has_program() || extent.width == 0 || extent.height == 0 || extent.depth == 0 {
            return None;
        }
        // Slices of such blocks are no layers.
        if levels == 0 || levels > most || (!volume && format.block()[2] > 1) {
            return None;
        }
        let element = if format.texel().bytes() == 8 { 8 } else { 4 };
        let mut uniform = vec![levels, 0, 0, 0];
        let (mut first_group, mut block, mut texel) = (0u32, 0u64, 0u64);
        let mut placed = Vec::with_capacity(levels as usize);
        for level in 0..levels {
            let smaller = |size: u32| (size >> level).max(1);
            let extent = Extent {
                width: smaller(extent.width),
                height: smaller(extent.height),
                depth: if volume { smaller(extent.depth) } else { extent.depth },
            };
            let (mut words, groups) = picture(format, extent);
            let row = extent
                .width
                .checked_mul(format.texel().bytes() as u32)?
                .checked_next_multiple_of(ALIGNMENT)?;
            words[3] = row / element;
            words[11] = first_group;
            words[15] = u32::try_from(block / format.block_bytes() as u64).ok()?;
            words[16..19].copy_from_slice(&groups);
            words[19] = u32::try_from(texel / u64::from(element)).ok()?;
            uniform.extend(words);
            placed.push(Level { extent, blocks: block, texels: texel, row });
            first_group =
                groups.iter().try_fold(1u32, |all, &n| all.checked_mul(n))?.checked_add(first_group)?;
            block = block.checked_add(format.data_bytes(extent)? as u64)?;
            let rows = u64::from(extent.height).checked_mul(u64::from(extent.depth))?;
            texel = texel.checked_add(u64::from(row).checked_mul(rows)?)?;
        }
        // Indices of words are of 32 bits.
        u32::try_from(texel / 4).ok()?;
        uniform.resize(PLAN_WORDS, 0);
        let down = first_group.div_ceil(max_groups.max(1));
        let across = first_group.div_ceil(down.max(1));
        (down <= max_groups).then_some(Plan {
            uniform,
            groups: [across, down, 1],
            levels: placed,
            block_bytes: block,
            texel_bytes: texel,
        })
    }
}
