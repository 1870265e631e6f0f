//! The programs on a device of the host.

use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Error, Layout, Program};

use crate::grid::{Grid, TILE};
use crate::wgsl::{self, Shape};

/// Invocations of a workgroup.
const GROUP: u32 = 64;

/// The programs, compiled.
#[derive(Clone, Debug)]
pub struct Binner {
    layout: Layout,
    coarse: Program,
    fine: Program,
}

impl Binner {
    /// Compiles them for bounds and tiles of [`TILE`] pixels a side.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses them.
    pub fn new(device: &Device) -> Result<Binner, Error> {
        Binner::with(device, TILE, Shape::Boxes)
    }

    /// Compiles them for primitives of a shape and tiles of `tile` pixels a side, a power of two; grids must have the same.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses them.
    pub fn with(device: &Device, tile: u32, shape: Shape) -> Result<Binner, Error> {
        let bindings = [Access::Read, Access::Read, Access::ReadWrite, Access::ReadWrite];
        let bindings: Vec<Binding> = (0..).zip(bindings).map(|(i, access)| Binding::new(i, access)).collect();
        let layout = device.layout(&bindings);
        let source = wgsl::binning(tile, shape);
        let program = |entry| device.wgsl_program(&layout, &source, entry);
        let (coarse, fine) = (program("coarse")?, program("fine")?);
        Ok(Binner { layout, coarse, fine })
    }

    /// Makes the bitmaps of tiles in `tiles`, of [`Grid::words`] words, by way of those of bins in `bins`, of
    /// [`Grid::bin_words`]. `primitives` has `stride` words of each, which begin with those of its shape.
    ///
    /// # Errors
    /// [`Error::Buffer`], [`Error::Arguments`].
    pub fn record(
        &self,
        device: &Device,
        commands: &mut Commands,
        grid: &Grid,
        (primitives, stride): (&Buffer, usize),
        bins: &Buffer,
        tiles: &Buffer,
    ) -> Result<(), Error> {
        let [width, height] = grid.size;
        let size = device.buffer_of(&[width, height, grid.primitives, stride as u32])?;
        let arguments = Arguments::new(device, &self.layout, &[&size, primitives, bins, tiles])?;
        let ([bin_columns, bin_rows], [columns, rows]) = (grid.bins(), grid.tiles());
        let words = grid.primitive_words();
        commands.dispatch(&self.coarse, &arguments, &[], [words.div_ceil(GROUP), bin_columns, bin_rows]);
        let groups = [columns.div_ceil(GROUP), rows, grid.summary_words()];
        commands.dispatch(&self.fine, &arguments, &[], groups);
        Ok(())
    }
}
