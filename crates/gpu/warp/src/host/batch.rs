//! A batch of primitives on the device.

use crate::program::{PRIMITIVE_WORDS, batch_words};
use xenoglot_host::{Buffer, Commands, Device, Error};
use xenoglot_raster::host::Binner;
use xenoglot_raster::{Edges, Grid};

use crate::draw::Draw;

/// What all batches of a draw share.
pub struct Scene<'a> {
    pub draw: &'a Draw<'a>,
    /// Edges of all primitives.
    pub edges: Vec<Edges>,
    /// The number of each state's variant.
    pub variant_of: Vec<u32>,
    pub colors: Buffer,
    pub depths: Buffer,
    pub states: Buffer,
    pub guest: Buffer,
    /// The number of the memory's units less one.
    pub sizes: Buffer,
}

impl Scene<'_> {
    /// Bytes of its buffers.
    pub fn bytes(&self) -> u64 {
        let Scene { colors, depths, states, guest, sizes, .. } = self;
        [guest, colors, depths, states, sizes].map(Buffer::size).iter().sum()
    }

    /// Edges from a primitive on.
    pub fn edges_from(&self, first: usize) -> &[Edges] {
        self.edges.get(first..).unwrap_or_default()
    }
}

/// Primitives that are binned together.
pub struct Batch {
    pub grid: Grid,
    /// Its first primitive among those of the draw.
    pub first: usize,
    pub primitives: Buffer,
    /// Bitmaps of tiles.
    pub tiles: Buffer,
    /// Bytes of its buffers, those of the binner with them.
    pub bytes: u64,
}

impl Batch {
    /// Records binning of the primitives from one on, as many as the grid has.
    pub fn bin(
        device: &Device,
        binner: &Binner,
        commands: &mut Commands,
        scene: &Scene<'_>,
        grid: Grid,
        first: usize,
    ) -> Result<Batch, Error> {
        let edges = scene.edges_from(first);
        let edges = edges.get(..grid.primitives as usize).unwrap_or(edges);
        let primitives = device.buffer_of(&batch_words(scene.draw, edges, first, &scene.variant_of))?;
        let [bins, tiles] = [device.buffer(4 * grid.bin_words())?, device.buffer(4 * grid.words())?];
        commands.stage("binning");
        binner.record(device, commands, &grid, (&primitives, PRIMITIVE_WORDS), &bins, &tiles)?;
        let bytes = [&primitives, &bins, &tiles].map(Buffer::size).iter().sum::<u64>() + GRID_BYTES;
        Ok(Batch { grid, first, primitives, tiles, bytes })
    }
}

/// Bytes of a grid as programs have it.
pub const GRID_BYTES: u64 = 16;
