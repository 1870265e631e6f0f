//! The block-linear layout of Tegra and of NVIDIA's other GPUs since Fermi: groups of bytes (GOBs) of 64 bytes by 8
//! rows; blocks of one GOB's width, of some GOBs' height and depth; rows of blocks, layers of such rows. Source:
//! `vectors/texture/FORMAT.md`.

use thiserror::Error;

const GOB_WIDTH: usize = 64;
const GOB_ROWS: usize = 8;
const GOB_BYTES: usize = GOB_WIDTH * GOB_ROWS;
/// Levels of the largest size there is.
const MAX_LEVELS: u32 = 32;

/// GOBs of a block along y and z: powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    height: usize,
    depth: usize,
}

/// Why nothing was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The block-linear memory is too short.
    #[error("the block-linear memory is {given} bytes, the level has {needed}")]
    Tiled {
        /// Bytes of the level.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The linear memory is too short.
    #[error("the linear memory is {given} bytes, the level has {needed}")]
    Linear {
        /// Bytes of the level.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The level has more bytes than an address counts.
    #[error("a level of {0:?} is too large")]
    TooLarge(Level),
}

impl Block {
    /// `height` GOBs high, `depth` deep: powers of two up to 32, as registers hold their logarithms.
    pub fn new(height: u32, depth: u32) -> Option<Block> {
        let legal = |n: u32| n.is_power_of_two() && n <= 32;
        (legal(height) && legal(depth)).then_some(Block { height: height as usize, depth: depth as usize })
    }

    /// What drivers choose for the largest level, of `rows` rows of elements and `slices` slices.
    pub const fn usual(rows: u32, slices: u32) -> Block {
        let height = match rows.saturating_add(rows / 2) {
            128.. => 16,
            64.. => 8,
            32.. => 4,
            16.. => 2,
            _ => 1,
        };
        let depth = match slices.saturating_add(slices / 2) {
            16.. => 16,
            8.. => 8,
            4.. => 4,
            2.. => 2,
            _ => 1,
        };
        Block { height, depth }
    }

    /// The block as deep as it is, `height` GOBs high: a power of two up to 32.
    pub fn with_height(self, height: u32) -> Option<Block> {
        Block::new(height, self.depth as u32)
    }

    /// The layout of a smaller mip: halved until the mip no longer fits.
    pub const fn of_level(self, rows: u32, slices: u32) -> Block {
        let Block { mut height, mut depth } = self;
        while height > 1 && rows as usize <= height / 2 * GOB_ROWS {
            height /= 2;
        }
        while depth > 1 && slices as usize <= depth / 2 {
            depth /= 2;
        }
        Block { height, depth }
    }

    const fn bytes(self) -> usize {
        GOB_BYTES * self.height * self.depth
    }
}

/// A level of a surface, in elements: texels, or blocks of a compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub rows: u32,
    /// Slices.
    pub slices: u32,
    /// Bytes of an element.
    pub element: u32,
}

impl Level {
    /// Bytes in rows without padding; nothing if they cannot be counted.
    pub fn linear_bytes(self) -> Option<usize> {
        [self.rows, self.slices, self.element]
            .iter()
            .try_fold(self.width as usize, |all, &n| all.checked_mul(n as usize))
    }

    /// Bytes in whole blocks of `block`; nothing if they cannot be counted.
    pub fn tiled_bytes(self, block: Block) -> Option<usize> {
        let across = (self.width as usize).checked_mul(self.element as usize)?.div_ceil(GOB_WIDTH);
        let down = (self.rows as usize).div_ceil(GOB_ROWS * block.height);
        let deep = (self.slices as usize).div_ceil(block.depth);
        across.checked_mul(down)?.checked_mul(deep)?.checked_mul(block.bytes())
    }

    /// Writes the rows in `linear` block-linear to `tiled`. Padding is left alone.
    ///
    /// # Errors
    /// When either is too short; nothing is written then.
    pub fn tile(self, block: Block, linear: &[u8], tiled: &mut [u8]) -> Result<(), Error> {
        self.check(block, linear.len(), tiled.len())?;
        self.each_run(block, |line, tile, bytes| {
            tiled[tile..tile + bytes].copy_from_slice(&linear[line..line + bytes]);
        });
        Ok(())
    }

    /// Writes the block-linear `tiled` as rows without padding to `linear`.
    ///
    /// # Errors
    /// When either is too short; nothing is written then.
    pub fn untile(self, block: Block, tiled: &[u8], linear: &mut [u8]) -> Result<(), Error> {
        self.check(block, linear.len(), tiled.len())?;
        self.each_run(block, |line, tile, bytes| {
            linear[line..line + bytes].copy_from_slice(&tiled[tile..tile + bytes]);
        });
        Ok(())
    }

    fn check(self, block: Block, linear: usize, tiled: usize) -> Result<(), Error> {
        let needed = self.linear_bytes().ok_or(Error::TooLarge(self))?;
        if linear < needed {
            return Err(Error::Linear { needed, given: linear });
        }
        let needed = self.tiled_bytes(block).ok_or(Error::TooLarge(self))?;
        if tiled < needed {
            return Err(Error::Tiled { needed, given: tiled });
        }
        Ok(())
    }

    /// Calls `moved` with the linear offset, the block-linear offset and the length of every run of bytes that lie
    /// together in both.
    fn each_run(self, block: Block, mut moved: impl FnMut(usize, usize, usize)) {
        /// Bytes that lie together.
        const RUN: usize = 16;
        let pitch = self.width as usize * self.element as usize;
        let rows = self.rows as usize;
        let across = pitch.div_ceil(GOB_WIDTH) * block.bytes();
        let down = rows.div_ceil(GOB_ROWS * block.height) * across;
        for z in 0..self.slices as usize {
            let slice = z / block.depth * down + z % block.depth * block.height * GOB_BYTES;
            for y in 0..rows {
                let gob = y / GOB_ROWS;
                let row = slice
                    + gob / block.height * across
                    + gob % block.height * GOB_BYTES
                    + y % 8 / 2 * 64
                    + y % 2 * 16;
                let line = (z * rows + y) * pitch;
                for x in (0..pitch).step_by(RUN) {
                    let tile = row + x / GOB_WIDTH * block.bytes() + x % 64 / 32 * 256 + x % 32 / 16 * 32;
                    moved(line + x, tile, RUN.min(pitch - x));
                }
            }
        }
    }
}

/// A surface of levels and layers. Sizes are in texels, of level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Surface {
    /// Width, height, depth.
    pub size: [u32; 3],
    /// Width, height and depth of an element in texels.
    pub element_size: [u32; 3],
    /// Bytes of an element.
    pub element: u32,
    /// Levels, each half the size of that before; up to 32.
    pub levels: u32,
    /// Layers of levels.
    pub layers: u32,
    /// The block of the largest level.
    pub block: Block,
}

/// A level of a layer and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What it is.
    pub level: Level,
    /// Its block.
    pub block: Block,
    /// Where it begins in block-linear memory.
    pub tiled: usize,
    /// Where it begins in linear memory.
    pub linear: usize,
}

impl Surface {
    /// Level `level` of a layer.
    pub fn level(&self, level: u32) -> Level {
        let elements = |a: usize| {
            (self.size[a].checked_shr(level).unwrap_or(0).max(1)).div_ceil(self.element_size[a].max(1))
        };
        Level { width: elements(0), rows: elements(1), slices: elements(2), element: self.element }
    }

    /// Level `level` of layer `layer`; nothing if there is none, or if its place cannot be counted.
    pub fn placed(&self, layer: u32, level: u32) -> Option<Placed> {
        if layer >= self.layers || level >= self.levels {
            return None;
        }
        let (layer_tiled, layer_linear) = self.layer_bytes()?;
        let (tiled, linear) = self.bytes_before(level)?;
        let description = self.level(level);
        Some(Placed {
            level: description,
            block: self.block.of_level(description.rows, description.slices),
            tiled: layer_tiled.checked_mul(layer as usize)?.checked_add(tiled)?,
            linear: layer_linear.checked_mul(layer as usize)?.checked_add(linear)?,
        })
    }

    /// Bytes in block-linear and in linear memory; nothing if they cannot be counted.
    pub fn bytes(&self) -> Option<(usize, usize)> {
        let (tiled, linear) = self.layer_bytes()?;
        Some((tiled.checked_mul(self.layers as usize)?, linear.checked_mul(self.layers as usize)?))
    }

    /// Bytes of a layer; where there are several, each begins at a whole block of the largest level.
    fn layer_bytes(&self) -> Option<(usize, usize)> {
        let (tiled, linear) = self.bytes_before(self.levels)?;
        if self.layers < 2 {
            return Some((tiled, linear));
        }
        let first = self.level(0);
        let block = self.block.of_level(first.rows, first.slices);
        Some((tiled.checked_next_multiple_of(block.bytes())?, linear))
    }

    /// Bytes of the levels before `level`.
    fn bytes_before(&self, level: u32) -> Option<(usize, usize)> {
        if level > MAX_LEVELS {
            return None;
        }
        (0..level).try_fold((0usize, 0usize), |(tiled, linear), index| {
            let level = self.level(index);
            let block = self.block.of_level(level.rows, level.slices);
            Some((tiled.checked_add(level.tiled_bytes(block)?)?, linear.checked_add(level.linear_bytes()?)?))
        })
    }
}
