//! The renderer on the host's GPU (feature `compute`): what the CPU renderer draws, bit for bit, and the same at up to 16
//! times the console's resolution.
//!
//! ```text
//! polygons ─set_up─▶ spans ────────┐
//!     └───binning, narrow─▶ tiles ─┴─draw─▶ pixels ─cover, finish─▶ rows
//! ```
//!
//! Everything is integers, so that every device gives the same. A frame is drawn in bands of rows: a pass over a band sets
//! up each polygon's span of each row, `xenoglot-raster` finds the polygons whose bounds touch a tile, of which those stay
//! whose spans do, and then each pixel follows its tile's polygons in drawing order. What edge marking looks at in the rows
//! around, and what shadow masks leave two rows below, are rows that a band keeps of the one before.
//!
//! Antialiased coverage of an X-major edge depends on how many of its pixels were drawn before one. Nothing else depends
//! on it, so that it is found when all are drawn, from a bitmap of each span.
//!
//! | room | what it is for |
//! |---|---|
//! | `band` | how many rows a band has, and its polygons |
//! | `layout` | the records that the passes read |
//! | `clears` | which spans clear the shadow mask |
//! | `pool` | buffers that a frame leaves to the next |
//! | `wgsl/` | the passes: `spans`, `narrow`, `draw` with `colors`, `finish`; `frame` has what they share |

mod band;
mod clears;
mod layout;
mod pool;

use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Layout, Program};
use xenoglot_raster::host::Binner;
use xenoglot_raster::{Bounds, TILE, wgsl};

pub use xenoglot_host::Error;

use super::frame::{Frame, FrameRow};
use super::polygon::RasterPolygon;
use super::replace::{Replacements, Replacer};
use super::shade::Environment;
use super::shadow::MaskHistory;
use super::{Rules, Scale};
use crate::geometry::polygon::{Polygon, PolygonList};
use crate::memory::TextureMemory;
use crate::registers::{Control, Registers};
use band::{Band, BandPolygons, Bands};
use clears::MaskRows;
use layout::{FrameState, PIXEL_WORDS, SPAN_WORDS, Submitted};
use pool::Pool;
use std::sync::Arc;

/// Invocations of a workgroup of `set_up` and of `draw_columns`.
const GROUP: u32 = 64;

/// The passes, compiled.
#[derive(Clone, Debug)]
struct Programs {
    layout: Layout,
    set_up: Program,
    extents: Program,
    narrow: Program,
    draw: Program,
    draw_columns: Program,
    cover: Program,
    finish: Program,
    binner: Binner,
}

impl Programs {
    fn new(device: &Device, invocations: Invocations) -> Result<Programs, Error> {
        let bindings = (0..8).map(|i| Binding::new(i, if i < 3 { Access::Read } else { Access::ReadWrite }));
        let layout = device.layout(&bindings.collect::<Vec<_>>());
        let shared = [wgsl::GRID, include_str!("wgsl/frame.wgsl")].concat();
        let colors = include_str!("wgsl/colors.wgsl");
        let spans = [&shared, include_str!("wgsl/spans.wgsl")].concat();
        let narrow = [&shared, include_str!("wgsl/narrow.wgsl")].concat();
        let pixels = match invocations {
            Invocations::OfPixels => "const PIXELS = 1u;\n",
            Invocations::OfFour => "const PIXELS = 4u;\n",
        };
        let draw = [&shared, pixels, colors, include_str!("wgsl/draw.wgsl")].concat();
        let finish = [&shared, colors, include_str!("wgsl/finish.wgsl")].concat();
        let program = |source: &str, entry| device.wgsl_program(&layout, source, entry);
        Ok(Programs {
            set_up: program(&spans, "set_up")?,
            extents: program(&narrow, "extents")?,
            narrow: program(&narrow, "narrow")?,
            draw: program(&draw, "draw")?,
            draw_columns: program(&draw, "draw_columns")?,
            cover: program(&finish, "cover")?,
            finish: program(&finish, "finish")?,
            binner: Binner::new(device)?,
            layout,
        })
    }
}

/// What an invocation draws. Frames are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocations {
    /// A pixel: a GPU has most to do at once.
    OfPixels,
    /// Four pixels of a row, which share what is loaded of a polygon: on a host's processor each load is one of its own.
    OfFour,
}

impl Invocations {
    /// Those that a device is fastest with.
    pub fn best_for(device: &Device) -> Invocations {
        if device.is_software() { Invocations::OfFour } else { Invocations::OfPixels }
    }
}

/// How frames are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Gaps of edges at the console's resolution; above it there are none.
    pub rules: Rules,
    /// Resolution.
    pub scale: Scale,
    /// Most rows of a band; 0 is as many as fit. Frames are the same.
    pub band_rows: u32,
    /// Only colours are brought back: rows have no depths and attributes.
    pub colors_only: bool,
}

/// The renderer and the frame it drew last.
#[derive(Debug)]
pub struct ComputeRenderer {
    device: Device,
    programs: Programs,
    options: Options,
    polygons: Vec<Submitted>,
    /// Texture memory with the pictures in place of textures behind it, as they are on the device.
    memory: Option<(TextureMemory, Buffer)>,
    replacer: Replacer,
    pool: Pool,
    /// Colours, depths and attributes, row by row.
    planes: [Vec<u32>; 3],
    size: [usize; 2],
    scroll_x: u16,
}

impl ComputeRenderer {
    /// A renderer with an empty frame. Compiles its programs, which takes as long as the driver does.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses them.
    pub fn new(device: &Device, options: Options) -> Result<ComputeRenderer, Error> {
        ComputeRenderer::with_invocations(device, options, Invocations::best_for(device))
    }

    /// The same with other invocations than are best for the device.
    ///
    /// # Errors
    /// As [`ComputeRenderer::new`].
    pub fn with_invocations(
        device: &Device,
        options: Options,
        invocations: Invocations,
    ) -> Result<ComputeRenderer, Error> {
        let programs = Programs::new(device, invocations)?;
        let planes = std::array::from_fn(|_| Vec::new());
        let device = device.clone();
        Ok(ComputeRenderer {
            device,
            programs,
            options,
            polygons: Vec::new(),
            memory: None,
            replacer: Replacer::default(),
            pool: Pool::default(),
            planes,
            size: [0; 2],
            scroll_x: 0,
        })
    }

    /// Changes how frames are drawn from the next one on.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Draws pictures in place of textures from the next frame on, or no more.
    pub fn set_replacements(&mut self, replacements: Option<Arc<dyn Replacements>>) {
        self.replacer = Replacer::new(replacements);
        self.memory = None;
    }

    /// Draws a frame and waits for it.
    ///
    /// # Errors
    /// What the device says; the frame before is gone then.
    pub fn draw(
        &mut self,
        list: &PolygonList,
        registers: &Registers,
        memory: &TextureMemory,
    ) -> Result<(), Error> {
        let scale = self.options.scale;
        let rules = self.options.rules.at(scale).rules;
        self.upload(list, memory)?;
        self.take_over(list, registers.control());
        self.scroll_x = registers.scroll_x & 0x1ff;
        let environment = Environment::new(registers, memory, &[]);
        let state = FrameState::new(registers, &environment, self.options.colors_only);
        let [width, height] = scale.size().map(|size| size as u32);
        let all = || self.polygons.iter().map(|submitted| (submitted, 0));
        let has_masks = self.polygons.iter().any(Submitted::is_mask);
        let whole = || MaskRows::advance(&mut MaskHistory::default(), 0..height as i32, all(), 0);
        let by_columns = has_masks && whole().depends;

        self.planes.iter_mut().for_each(Vec::clear);
        self.size = scale.size();
        let antialiasing = registers.control().contains(Control::ANTIALIASING);
        let bands = Bands { width, height, scale, antialiasing, most_rows: self.options.band_rows };
        let mut history = MaskHistory::default();
        let mut before: Option<(Band, Buffer)> = None;
        while let Some((band, polygons)) = bands.next(before.as_ref().map(|(band, _)| band), &self.polygons) {
            let rows = band.first as i32..(band.first + band.rows) as i32;
            let clears = if has_masks {
                MaskRows::advance(&mut history, rows, polygons.spans(&self.polygons), polygons.span_count)
                    .clears
            } else {
                Vec::new()
            };
            let frame = state.write(&band, rules, polygons.len(), &clears);
            let pixels =
                self.draw_band(&band, &polygons, &frame, by_columns, antialiasing, before.as_ref())?;
            if let Some((_, pixels)) = before.replace((band, pixels)) {
                self.pool.give(pixels);
            }
        }
        if let Some((_, pixels)) = before {
            self.pool.give(pixels);
        }
        Ok(())
    }

    /// Takes the polygons over in drawing order.
    fn take_over(&mut self, list: &PolygonList, control: Control) {
        let scale = self.options.scale;
        let starts: Vec<u32> = (self.replacer.pictures().iter())
            .scan(0, |next, picture| Some(std::mem::replace(next, *next + picture.words().len() as u32)))
            .collect();
        let picture = |submitted: &Polygon| {
            let place = self.replacer.place(submitted.texture, submitted.palette)? as usize;
            Some((*starts.get(place)?, self.replacer.pictures().get(place)?.size()))
        };
        self.polygons.clear();
        self.polygons.extend(list.drawn().map(|(_, submitted)| {
            let mut polygon = RasterPolygon::default();
            polygon.take_over(submitted, &list.vertices, control, scale);
            let (attributes, texture, palette) = (submitted.attributes, submitted.texture, submitted.palette);
            Submitted { polygon, attributes, texture, palette, picture: picture(submitted) }
        }));
    }

    /// Brings texture memory and the pictures of a frame to the device, as far as they have changed.
    fn upload(&mut self, list: &PolygonList, memory: &TextureMemory) -> Result<(), Error> {
        let has_other_pictures = self.replacer.find(list, memory);
        match &mut self.memory {
            Some((there, buffer)) if !has_other_pictures => {
                if there != memory {
                    let words = memory.words();
                    let mut commands = Commands::default();
                    commands.copy(&self.device.buffer_of(&words)?, 0..4 * words.len() as u64, buffer, 0);
                    commands.submit(&self.device)?;
                    there.clone_from(memory);
                }
            }
            _ => {
                // What is there is of other pictures, also if this fails.
                self.memory = None;
                let mut words = memory.words();
                self.replacer.pictures().iter().for_each(|picture| words.extend_from_slice(picture.words()));
                self.memory = Some((memory.clone(), self.device.buffer_of(&words)?));
            }
        }
        Ok(())
    }

    /// Draws a band and appends the rows that are finished; the pixels it leaves.
    fn draw_band(
        &mut self,
        band: &Band,
        polygons: &BandPolygons,
        frame: &[u32],
        by_columns: bool,
        antialiasing: bool,
        before: Option<&(Band, Buffer)>,
    ) -> Result<Buffer, Error> {
        let Some((_, memory)) = &self.memory else {
            return Err(Error::Arguments("no texture memory".into()));
        };
        let device = &self.device;
        let grid = band.grid(polygons.len());
        let buffer = |words: u64| device.buffer(4 * words);
        let frame = device.buffer_of(frame)?;
        let records = device.buffer_of(&polygons.records())?;
        let bounds = device.buffer_of(&polygons.bounds)?;
        let spans = buffer(SPAN_WORDS * u64::from(polygons.span_count.max(1)))?;
        let [tile_columns, tile_rows] = grid.tiles();
        let extent_words = u64::from(tile_rows) * u64::from(polygons.len());
        let (bins, tiles) = (buffer(grid.bin_words())?, buffer(grid.words() + extent_words)?);
        let drawn = buffer(polygons.drawn_words.into())?;
        // Large ones that are written as a whole.
        let pixels = self.pool.take(device, 4 * PIXEL_WORDS * band.pixels())?;
        let planes = if self.options.colors_only { 1 } else { self.planes.len() };
        let plane_words = u64::from(band.width) * u64::from(band.finish_rows);
        let finished_bytes = 4 * plane_words * planes as u64;
        let finished = self.pool.take(device, finished_bytes)?;

        let mut commands = Commands::default();
        if let Some((band_before, pixels_before)) = before {
            let bytes = |rows: u32| 4 * PIXEL_WORDS * u64::from(rows) * u64::from(band.width);
            let last = bytes(band_before.rows)..bytes(band_before.rows + band_before.kept);
            commands.copy(pixels_before, last, &pixels, 0);
        }
        let programs = &self.programs;
        let arguments = [&frame, &records, memory, &spans, &tiles, &drawn, &pixels, &finished];
        let arguments = Arguments::new(device, &programs.layout, &arguments)?;
        let mut dispatch = |program, groups| commands.dispatch(program, &arguments, &[], groups);
        let by_tile = |rows: u32| [band.width.div_ceil(TILE), rows.div_ceil(TILE), 1];
        if polygons.len() > 0 {
            dispatch(&programs.set_up, [polygons.most_rows.div_ceil(GROUP), polygons.len(), 1]);
            programs.binner.record(device, &mut commands, &grid, (&bounds, Bounds::WORDS), &bins, &tiles)?;
        }
        let mut dispatch = |program, groups| commands.dispatch(program, &arguments, &[], groups);
        if polygons.len() > 0 {
            dispatch(&programs.extents, [tile_rows.div_ceil(GROUP), polygons.len(), 1]);
            dispatch(&programs.narrow, [tile_columns.div_ceil(GROUP), tile_rows, 1]);
        }
        if by_columns {
            dispatch(&programs.draw_columns, [band.width.div_ceil(GROUP), band.kept, 1]);
        } else {
            dispatch(&programs.draw, by_tile(band.rows));
        }
        if antialiasing {
            dispatch(&programs.cover, [tile_columns.div_ceil(TILE), band.rows.div_ceil(TILE), 1]);
        }
        dispatch(&programs.finish, by_tile(band.finish_rows));
        commands.submit(device)?;
        let read = device.read(&[(&finished, 0..finished_bytes)])?;
        let words = read.first().map_or(&[][..], Vec::as_slice);
        for (plane, words) in self.planes.iter_mut().zip(words.chunks_exact((plane_words as usize).max(1))) {
            plane.extend_from_slice(words);
        }
        self.pool.give(finished);
        Ok(pixels)
    }
}

impl Frame for ComputeRenderer {
    fn size(&self) -> [usize; 2] {
        self.size
    }

    fn scroll(&self) -> usize {
        self.scroll_x.into()
    }

    fn row(&self, y: usize) -> Option<FrameRow<'_>> {
        let start = y.checked_mul(self.size[0])?;
        let row = start..start.checked_add(self.size[0])?;
        let [color, depth, attributes] = &self.planes;
        Some(FrameRow {
            color: color.get(row.clone())?,
            depth: depth.get(row.clone()).unwrap_or_default(),
            attributes: attributes.get(row).unwrap_or_default(),
        })
    }
}
