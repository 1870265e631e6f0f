//! Triangles on the device: setup, bitmaps of `xenoglot-raster`, then the lists that tile programs read.
//!
//! ```text
//! vertices ─setup─▶ triangles ─coarse, fine─▶ bitmaps of all triangles by tile ─gather─▶ bins and lists ─indirect dispatch─▶ tile program
//!                                                            └────── for each window of triangles ──────┘
//! ```
//!
//! A tile program has its triangles in a uniform buffer, which has room for a window of them. Its bins are those that have
//! triangles of the window, in any order; lists are in drawing order.

use std::sync::OnceLock;

use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Error, Layout, Program};
use xenoglot_raster::host::Binner;
use xenoglot_raster::wgsl::Shape;
use xenoglot_raster::{Grid, TILE};

use super::batch::{Batch, Source};
use super::corners::Rectangle;
use super::kernels::{PARAMS, params};
use super::{Programs, setup};
use crate::fragment::layout::TRIANGLES_SIZE;
use crate::fragment::tile::BIN_BYTES;

/// Most triangles that are binned together: bitmaps of the largest framebuffer are 17 MiB then.
pub const TRIANGLES: usize = 1 << 12;
/// Most triangles of a window: lists of the largest framebuffer are 64 MiB then.
const WINDOW: usize = 1 << 9;
/// Triangles of a word of a bitmap.
const WORD: usize = 32;
/// Bytes of the arguments of an indirect dispatch.
const GROUPS: usize = 16;
/// Bytes of a grid's parameters.
const GRID_BYTES: u64 = 16;
/// Invocations of a workgroup that gathers.
const GATHERING: u32 = 64;

/// Buffers that draws share one after the other: each draw overwrites them on the device before it reads them.
#[derive(Debug, Default)]
pub struct Pool {
    triangles: Option<Buffer>,
    bins: Option<Buffer>,
    tiles: Option<Buffer>,
    lists: Option<Buffer>,
    groups: Option<Buffer>,
}

/// What tile programs read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binned {
    /// Triangles, padded so that a uniform buffer's size fits behind the start of every window.
    pub triangles: Buffer,
    /// Bins and lists.
    pub lists: Buffer,
}

/// A window of triangles that was binned.
#[derive(Debug)]
pub struct Window {
    /// The byte of the triangles where it begins.
    pub offset: u32,
    /// How many bins it has, as arguments of an indirect dispatch.
    pub groups: (Buffer, u64),
}

/// Bitmaps that wait to be made.
#[derive(Debug)]
pub struct Marking {
    grid: Grid,
    /// Words of a triangle.
    stride: usize,
    triangles: Buffer,
    bins: Buffer,
    tiles: Buffer,
}

/// Lists of a window that wait to be made.
#[derive(Debug)]
pub struct Gathering {
    tiles: Buffer,
    lists: Buffer,
    groups: Buffer,
    params: [u32; PARAMS],
    count: u32,
}

/// A draw whose triangles are being binned.
pub struct Binning {
    binned: Binned,
    tiles: Buffer,
    groups: Buffer,
    rectangle: Rectangle,
    grid: Grid,
    /// Bytes of a triangle, and triangles of a window.
    size: usize,
    window: usize,
}

impl Pool {
    /// Adds the steps that set up triangles and make their bitmaps; the vertices begin at a word of the batch. On an error no step
    /// is added.
    pub fn start(
        &mut self,
        programs: &Programs,
        batch: &mut Batch,
        (corners, vertices): (&[[u32; 3]], u32),
        rectangle: Rectangle,
        planes: u32,
        draw: setup::Draw<'_>,
    ) -> Result<Binning, Error> {
        let device = &programs.device;
        let program = programs.kernels()?.setup(device)?;
        // Compiled now, so that turning steps into commands cannot fail.
        programs.binners.compiled(device)?;
        let count = corners.len() as u32;
        let stride = draw.record_words() as usize;
        let (size, bytes) = (4 * stride, 4 * stride as u64 * u64::from(count));
        let [columns, rows] = rectangle.size();
        let grid = Grid { size: [TILE * columns, TILE * rows], primitives: count, tile: TILE };
        let window = (TRIANGLES_SIZE as usize / size).min(WINDOW) / WORD * WORD;
        let of_lists = u64::from(columns) * u64::from(rows) * (u64::from(BIN_BYTES) + 4 * window as u64);
        let groups = match &self.groups {
            Some(groups) => groups.clone(),
            None => self.groups.insert(device.indirect_buffer((TRIANGLES / WORD * GROUPS) as u64)?).clone(),
        };
        let binned = Binned {
            triangles: room(device, &mut self.triangles, bytes + u64::from(TRIANGLES_SIZE))?,
            lists: room(device, &mut self.lists, of_lists)?,
        };
        let tiles = room(device, &mut self.tiles, 4 * grid.words())?;
        let bins = room(device, &mut self.bins, 4 * grid.bin_words())?;
        let triangles = binned.triangles.clone();

        let first = [vertices, (batch.add(corners.as_flattened()) / 4) as u32];
        let params = draw.params(count, first);
        batch.kernel(device, program, Source::Lists, &triangles, &params, [count, 1]);
        let none = [0, planes, 1, 0].repeat(count.div_ceil(window.max(1) as u32) as usize);
        let first = batch.add(&none);
        batch.copy(Source::Lists, first..first + size_of_val(none.as_slice()) as u64, &groups, 0);
        batch.mark(Marking { grid, stride, triangles, bins, tiles: tiles.clone() });
        Ok(Binning { binned, tiles, groups, rectangle, grid, size, window })
    }
}

impl Binning {
    /// What its tile programs read.
    pub fn binned(&self) -> &Binned {
        &self.binned
    }

    /// Windows of triangles.
    pub fn windows(&self) -> u32 {
        self.grid.primitives.div_ceil(self.window.max(1) as u32)
    }

    /// Adds the step that makes lists of a window, in place of those of the window before it.
    pub fn gather(&self, device: &Device, batch: &mut Batch, number: u32) -> Window {
        let ([column, row], [columns, rows]) = (self.rectangle.low, self.rectangle.size());
        let words = (self.window / WORD) as u32;
        let (first, all) = (number * words, self.grid.primitive_words());
        let params = params(&[
            columns,
            columns * rows,
            column,
            row,
            self.grid.summary_words(),
            all,
            first,
            words.min(all.saturating_sub(first)),
            self.window as u32,
            number,
        ]);
        let gathering = Gathering {
            tiles: self.tiles.clone(),
            lists: self.binned.lists.clone(),
            groups: self.groups.clone(),
            params,
            count: columns * rows,
        };
        batch.gather(device, gathering);
        let offset = number * (self.window * self.size) as u32;
        Window { offset, groups: (self.groups.clone(), u64::from(number) * GROUPS as u64) }
    }
}

/// A buffer of at least so many bytes: the one there is, or a larger one in its place.
fn room(device: &Device, place: &mut Option<Buffer>, bytes: u64) -> Result<Buffer, Error> {
    if let Some(buffer) = place.as_ref().filter(|buffer| buffer.size() >= bytes) {
        return Ok(buffer.clone());
    }
    let larger = bytes.next_power_of_two();
    let buffer = device.buffer(if larger > device.max_buffer() { bytes } else { larger })?;
    Ok(place.insert(buffer).clone())
}

/// The programs, compiled on first use.
#[derive(Debug, Default)]
pub struct Binners(OnceLock<Result<Compiled, Error>>);

#[derive(Debug)]
struct Compiled {
    binner: Binner,
    layout: Layout,
    gather: Program,
}

impl Compiled {
    fn new(device: &Device) -> Result<Compiled, Error> {
        let accesses =
            [Access::Uniform { size: PARAMS as u32 * 4 }, Access::Read, Access::ReadWrite, Access::ReadWrite];
        let bindings: Vec<Binding> =
            (0..).zip(accesses).map(|(number, access)| Binding::new(number, access)).collect();
        let layout = device.layout(&bindings);
        Ok(Compiled {
            binner: Binner::with(device, TILE, Shape::HalfPlanes)?,
            gather: device.wgsl_program(&layout, include_str!("gather.wgsl"), "gather")?,
            layout,
        })
    }
}

impl Binners {
    fn compiled(&self, device: &Device) -> Result<&Compiled, Error> {
        self.0.get_or_init(|| Compiled::new(device)).as_ref().map_err(Clone::clone)
    }

    /// Turns a step into commands; gives how many bytes these have.
    pub fn mark(&self, device: &Device, commands: &mut Commands, step: &Marking) -> Result<u64, Error> {
        let Marking { grid, stride, triangles, bins, tiles } = step;
        let binner = &self.compiled(device)?.binner;
        binner.record(device, commands, grid, (triangles, *stride), bins, tiles)?;
        Ok(GRID_BYTES)
    }

    /// Turns a step into a command, with parameters at an offset of a buffer.
    pub fn gather(
        &self,
        device: &Device,
        commands: &mut Commands,
        step: &Gathering,
        (uniforms, offset): (&Buffer, u32),
    ) -> Result<(), Error> {
        let Compiled { layout, gather, .. } = self.compiled(device)?;
        let buffers = [uniforms, &step.tiles, &step.lists, &step.groups];
        let arguments = Arguments::new(device, layout, &buffers)?;
        commands.dispatch(gather, &arguments, &[offset], [step.count.div_ceil(GATHERING), 1, 1]);
        Ok(())
    }
}

impl Gathering {
    /// What goes to the uniform buffer.
    pub fn params(&self) -> &[u32; PARAMS] {
        &self.params
    }
}
