//! The programs on a device of the host.

use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Error, Layout, Program};

use crate::grid::{Grid, TILE};
use crate::wgsl::{self, Joining, Shape};

/// Invocations of a workgroup of those that make lists.
const GROUP: u32 = 64;

/// Binning, compiled.
#[derive(Clone, Debug)]
pub struct Binner {
    layout: Layout,
    joining: Joining,
    coarse: Program,
    fine: Program,
}

/// The grid as programs have it, for primitives of `stride` words.
fn grid_buffer(device: &Device, grid: &Grid, stride: usize) -> Result<Buffer, Error> {
    let [width, height] = grid.size;
    device.buffer_of(&[width, height, grid.primitives, stride as u32])
}

/// How [`Binner::with`] joins bits on a device.
pub fn joining_of(device: &Device) -> Joining {
    if device.has_subgroups() { Joining::Subgroups } else { Joining::Plain }
}

fn layout<const N: usize>(device: &Device, accesses: [Access; N]) -> Layout {
    let bindings: Vec<Binding> = (0..).zip(accesses).map(|(i, access)| Binding::new(i, access)).collect();
    device.layout(&bindings)
}

/// Two entry points of one source.
fn programs(
    device: &Device,
    layout: &Layout,
    source: &str,
    [first, second]: [&str; 2],
) -> Result<[Program; 2], Error> {
    let program = |entry| device.wgsl_program(layout, source, entry);
    Ok([program(first)?, program(second)?])
}

impl Binner {
    /// Compiles it for bounds and tiles of [`TILE`] pixels a side.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses it.
    pub fn new(device: &Device) -> Result<Binner, Error> {
        Binner::with(device, TILE, Shape::Boxes)
    }

    /// Compiles it for primitives of a shape and tiles of `tile` pixels a side, a power of two; grids must have the same.
    /// Subgroups join bits where the device has them.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses it.
    pub fn with(device: &Device, tile: u32, shape: Shape) -> Result<Binner, Error> {
        Binner::joining(device, tile, shape, joining_of(device))
    }

    /// As [`Binner::with`], with a way to join bits that the device has.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses it.
    pub fn joining(device: &Device, tile: u32, shape: Shape, joining: Joining) -> Result<Binner, Error> {
        let layout = layout(device, [Access::Read, Access::Read, Access::ReadWrite, Access::ReadWrite]);
        let source = wgsl::binning(tile, shape, joining);
        let [coarse, fine] = programs(device, &layout, &source, ["coarse", "fine"])?;
        Ok(Binner { layout, joining, coarse, fine })
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
        let size = grid_buffer(device, grid, stride)?;
        let arguments = Arguments::new(device, &self.layout, &[&size, primitives, bins, tiles])?;
        let ([bin_columns, bin_rows], [columns, rows]) = (grid.bins(), grid.tiles());
        let [words_of_group, columns_of_group] = self.joining.of_a_workgroup();
        let words = grid.primitive_words().div_ceil(words_of_group);
        commands.dispatch(&self.coarse, &arguments, &[], [words, bin_columns, bin_rows]);
        let groups = [columns.div_ceil(columns_of_group), rows, grid.summary_words()];
        commands.dispatch(&self.fine, &arguments, &[], groups);
        Ok(())
    }
}

/// What makes lists for [shading programs](crate::shade_program) of bitmaps, compiled.
#[derive(Clone, Debug)]
pub struct Sorter {
    layout: Layout,
    collect: Program,
    measure: Program,
}

/// Lists of a batch.
#[derive(Clone, Debug)]
pub struct Lists {
    /// The first slot of each word of each tile's bitmap.
    pub slots: Buffer,
    /// Slots, then the length of each list.
    pub lengths: Buffer,
    /// Numbers of workgroups of each list: those of list `n` from byte `16 n` on.
    pub groups: Buffer,
    /// Where each list begins.
    pub firsts: Buffer,
}

impl Lists {
    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        [&self.slots, &self.lengths, &self.groups, &self.firsts].map(Buffer::size).iter().sum()
    }
}

impl Sorter {
    /// Compiles it for tiles of `tile` pixels a side, a power of two; grids must have the same.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses it.
    pub fn new(device: &Device, tile: u32) -> Result<Sorter, Error> {
        let (read, write) = (Access::Read, Access::ReadWrite);
        let layout = layout(device, [read, read, read, read, write, write, write, write]);
        let [collect, measure] = programs(device, &layout, &wgsl::lists(tile), ["collect", "measure"])?;
        Ok(Sorter { layout, collect, measure })
    }

    /// Makes lists in `items`, of [`crate::shade_program::ITEM_WORDS`] words each: that of each variant from its place in
    /// `firsts` on, where there must be room for all tiles that the boxes of its primitives touch
    /// ([`Grid::tiles_of`]). `primitives` has `stride` words of each, with the number of its variant in word
    /// [`crate::Edges::VARIANT`].
    ///
    /// # Errors
    /// [`Error::Buffer`], [`Error::Arguments`].
    pub fn record(
        &self,
        device: &Device,
        commands: &mut Commands,
        grid: &Grid,
        (primitives, stride): (&Buffer, usize),
        tiles: &Buffer,
        (firsts, items): (&[u32], &Buffer),
    ) -> Result<Lists, Error> {
        let variants = firsts.len() as u32;
        let [columns, rows] = grid.tiles();
        let words = u64::from(columns) * u64::from(rows) * u64::from(grid.primitive_words());
        let lists = Lists {
            slots: device.buffer(4 * words)?,
            lengths: device.buffer(4 + 4 * u64::from(variants))?,
            groups: device.indirect_buffer(16 * u64::from(variants))?,
            firsts: device.buffer_of(firsts)?,
        };
        let size = grid_buffer(device, grid, stride)?;
        let Lists { slots, lengths, groups, firsts } = &lists;
        let buffers = [&size, primitives, tiles, firsts, slots, lengths, items, groups];
        let arguments = Arguments::new(device, &self.layout, &buffers)?;
        let groups = [columns.div_ceil(GROUP), rows, grid.summary_words()];
        commands.dispatch(&self.collect, &arguments, &[], groups);
        commands.dispatch(&self.measure, &arguments, &[], [variants.div_ceil(GROUP), 1, 1]);
        Ok(lists)
    }
}
