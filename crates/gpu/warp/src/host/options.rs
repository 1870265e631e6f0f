//! How frames are drawn, and what it takes of the device's memory.

use crate::program::PRIMITIVE_WORDS;
use crate::rules::STATE_WORDS;
use xenoglot_host::Compilation;
use xenoglot_raster::Grid;
use xenoglot_raster::shade_program::ITEM_WORDS;
use xenoglot_raster::wgsl::Joining;

/// Primitives of a batch.
const BATCH: u32 = 16384;
/// Pixels that are shaded before they are stored, of a frame that has no more: 16 MiB.
const SHADED_PIXELS: u64 = 1 << 21;
/// What offsets of uniform buffers are multiples of at most, in bytes.
const UNIFORM: u64 = 256;

/// Which programs draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Architecture {
    /// One program, whose states are data, draws tiles from the first primitive to the last.
    #[default]
    Uber,
    /// A program for each variant of the state shades tiles of primitives, in any order; another one takes what they made
    /// through tests and blending, in order. While a variant's program is in the making, one for all states shades.
    Split(Compilation),
}

/// How frames are drawn; they are the same for all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Pixels along a side of a tile: 8 or 16.
    pub tile: u32,
    /// Primitives of a batch at most.
    pub batch: u32,
    /// Which programs draw.
    pub architecture: Architecture,
    /// How binning joins bits; as the device can if it is not said.
    pub joining: Option<Joining>,
}

impl Default for Options {
    fn default() -> Options {
        Options { tile: 8, batch: BATCH, architecture: Architecture::Uber, joining: None }
    }
}

impl Options {
    /// Primitives of a batch at most.
    pub(super) fn most(&self) -> u32 {
        self.batch.clamp(1, BATCH)
    }

    /// The grid of a batch of a frame.
    pub(super) fn grid(&self, size: [u32; 2], primitives: u32) -> Grid {
        Grid { size, primitives, tile: self.tile }
    }

    /// Tiles of primitives that are shaded before they are stored. A primitive that covers the frame has room.
    pub fn instances(&self, size: [u32; 2]) -> u64 {
        let tiles = self.grid(size, 0).tiles().map(u64::from).iter().product();
        let usual = SHADED_PIXELS / (u64::from(self.tile) * u64::from(self.tile));
        usual.max(tiles).min(tiles * u64::from(self.most()))
    }

    /// Bytes of items and of shaded words for so many tiles of primitives.
    pub(super) fn scratch(&self, instances: u64) -> [u64; 2] {
        let pixels = u64::from(self.tile) * u64::from(self.tile);
        [4 * u64::from(ITEM_WORDS) * instances, 8 * pixels * instances]
    }

    /// Most bytes on the device while primitives are drawn into a frame; no frame before it was larger.
    pub fn memory(&self, size: [u32; 2], states: usize, guest: usize) -> u64 {
        let grid = self.grid(size, self.most());
        let records = PRIMITIVE_WORDS as u64 * u64::from(grid.primitives);
        let batch = 4 * (records + grid.words() + grid.bin_words() + 8);
        let pixels = 2 * u64::from(size[0]) * u64::from(size[1]);
        let state = (STATE_WORDS * states) as u64;
        let (split, split_batch) = match self.architecture {
            Architecture::Uber => (0, 0),
            Architecture::Split(_) => {
                let tiles: u64 = grid.tiles().map(u64::from).iter().product();
                let slots = tiles * u64::from(grid.primitive_words());
                let variants = states.max(1) as u64;
                (self.scratch(self.instances(size)).iter().sum(), 4 * slots + (24 + UNIFORM) * variants + 20)
            }
        };
        4 * (pixels + state + 1) + split + 2 * (batch + split_batch) + guest as u64
    }
}
