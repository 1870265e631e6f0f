//! The renderer on the host's GPU (feature `host`).
//!
//! ```text
//! triangles ─clip, setup, bins─▶ batch ─tile programs─▶ surfaces ─flush─▶ guest memory
//! ```
//!
//! Triangles are clipped and set up on the CPU by the CPU renderer's own code; from there on a program per pixel state
//! ([`crate::fragment::tile`]) does the rest, tile by tile. Programs compile in the background: until one is ready its
//! draws are the CPU renderer's, as are draws that a program cannot do ([`Detour`]).
//!
//! Colour and depth buffers stay on the device (`cache`): textures are decoded from them there, and fills, display transfers
//! and texture copies are done there. Guest memory that [is tracked](Memory::is_tracked) is written when it is about to be
//! read; other memory at the end of each call of [`crate::gpu::Gpu`].
//!
//! | room | what it is for |
//! |---|---|
//! | `bins` | triangles as programs read them |
//! | `binning` | bins that the device makes |
//! | `batch` | work that waits |
//! | `cache` | guest memory on the device |
//! | `kernels` | programs that move and decode it |
//! | `present` | frames to pictures on the device |
//! | `guests` | what a cache on disk keeps of the guest |
//! | `textures` | textures |
//! | `custom` | dumps and replacements of textures |
//! | `transfers` | fills, transfers and copies |

mod batch;
mod binning;
mod bins;
mod cache;
mod custom;
mod guests;
mod kernels;
mod present;
#[cfg(test)]
mod tests;
mod textures;
mod transfers;

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use xenoglot_host::{
    Buffer, Commands, Compilation, Device, Error as HostError, Layout, Program, State, Table,
};

use crate::fragment::layout::{
    DENSITY, FIRST_BIN, FIRST_ENLARGED, MORE_TEXELS, ORIGIN, OUTSIDE, PLANES, SAMPLES, STENCIL, TILES,
    UNIT_STRIDE, UNITS, Uniforms, set, tables as table_words, uniforms_for,
};
use crate::fragment::tile::TileKey;
pub use crate::fragment::{Binning, Options, Scale};
use crate::lcd::{Frame, Gamma, Image as Picture};
use crate::memory::{ADDRESSES, Memory, ranges};
use crate::raster::framebuffer::{PixelBuffer, Size};
use crate::raster::sample::Image;
use crate::raster::state::{State as DrawState, UNIT_SOURCES};
use crate::raster::{self, Chip, Reference};
use crate::regs::Registers;
use crate::renderer::{Detour, Draw, OutOfPixels, Renderer};
use crate::report::{Error, Report, Traffic};
use crate::tables::Tables;
use crate::texture::tiling::TILE;
use crate::transfer::Job;
use batch::{Batch, Buffers, Groups};
use binning::{Binners, Pool};
use bins::{Bins, NotFinite};
use cache::{Cache, Context};
pub use custom::{CustomTextures, GuestTexture, Replacement};
use guests::PixelState;
pub(crate) use guests::remember;
pub use guests::{guest_of_pixels, translate_again};
use kernels::Kernels;
pub use present::PresentError;
use textures::Textures;

/// Tile programs of a device. Renderers may share them. Where the device's cache is on disk, it keeps pixel states, too:
/// see [`translate_again`].
pub struct Programs {
    device: Device,
    layout: Layout,
    table: Table<PixelState>,
    binners: Binners,
    /// Compiled when they are needed first.
    kernels: OnceLock<Result<Kernels, HostError>>,
}

impl Programs {
    /// No programs yet.
    pub fn new(device: &Device, compilation: Compilation) -> Programs {
        let layout = batch::layout(device);
        let cache = Arc::clone(device.cache());
        let translate = move |state: &PixelState| Ok(state.generate(&cache));
        let table = Table::new(device, &layout, compilation, translate);
        let (binners, kernels) = (Binners::default(), OnceLock::new());
        Programs { device: device.clone(), layout, table, binners, kernels }
    }

    /// Programs by state: ready, compiling, refused.
    pub fn counts(&self) -> [usize; 3] {
        self.table.counts()
    }

    fn kernels(&self) -> Result<&Kernels, HostError> {
        self.kernels.get_or_init(|| Kernels::new(&self.device)).as_ref().map_err(Clone::clone)
    }

    /// Looks up the program of draws with these registers on renderers with these options and, if it is not there, has it
    /// compiled: for emulators that know pixel states before they are drawn with.
    pub fn prepare(&self, regs: &Registers, options: Options) {
        if let Some(state) = PixelState::decode(regs, options, self.device.cache()) {
            self.table.get(&state);
        }
    }

    /// How long draws have been looking up programs so far: see [`Table::waited`].
    pub fn waited(&self) -> Duration {
        self.table.waited()
    }
}

/// A renderer on the host's GPU.
pub struct HostRenderer {
    programs: Arc<Programs>,
    options: Options,
    cpu: raster::Renderer,
    bins: Bins,
    pool: Pool,
    batch: Batch,
    commands: Commands,
    cache: Cache,
    textures: Textures,
    tables: Option<(Tables, Buffer)>,
    /// Colour look-up table of the frame that was shown last.
    levels: Option<(Arc<Gamma>, Buffer)>,
    /// Dummy buffers for draws without one: read, colour, depth.
    none: [Buffer; 3],
    detours: Vec<Detour>,
    traffic: Traffic,
    /// Pixels that could not be read back.
    lost: Option<HostError>,
    /// Why the device failed, once: all is the CPU renderer's then.
    broken: Option<Detour>,
}

/// Triangles from which on a device that is not the processor bins them.
const MANY: usize = 512;

/// What a draw needs besides its triangles.
struct Prepared<'a> {
    key: &'a TileKey,
    state: &'a DrawState,
    program: Program,
}

impl HostRenderer {
    /// A renderer with the programs of a device and default options.
    ///
    /// # Errors
    /// The device has no memory.
    pub fn new(programs: Arc<Programs>) -> Result<HostRenderer, HostError> {
        HostRenderer::with_options(programs, Options::default())
    }

    /// The same with other options. A [scale](Scale) shows in pictures that are [presented](HostRenderer::present) from memory
    /// that [is tracked](Memory::is_tracked); what comes to guest memory is the same at any scale.
    ///
    /// # Errors
    /// The device has no memory.
    pub fn with_options(programs: Arc<Programs>, options: Options) -> Result<HostRenderer, HostError> {
        let none = [programs.device.buffer(4)?, programs.device.buffer(4)?, programs.device.buffer(4)?];
        Ok(HostRenderer {
            programs,
            options,
            cpu: raster::Renderer::with_options(raster::Options {
                reference: Reference::Chip(options.chip),
                ..raster::Options::default()
            }),
            bins: Bins::default(),
            pool: Pool::default(),
            batch: Batch::default(),
            commands: Commands::default(),
            cache: Cache::new(options.scale),
            textures: Textures::default(),
            tables: None,
            levels: None,
            none,
            detours: Vec::new(),
            traffic: Traffic::default(),
            lost: None,
            broken: None,
        })
    }

    /// Sets a function that gets each texture when it is decoded and may replace it: see [`GuestTexture`]. Draws that take a
    /// [detour](Detour) to the CPU renderer have the guest's textures.
    pub fn set_custom_textures(&mut self, custom: Option<Box<CustomTextures>>) {
        self.textures.set_custom(custom);
    }

    /// Its options.
    pub fn options(&self) -> Options {
        self.options
    }

    /// The programs.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The parts that work on guest memory on the device, and what they work with.
    fn parts<'a>(
        &'a mut self,
        programs: &'a Programs,
    ) -> Result<(Context<'a>, &'a mut Cache, &'a mut Textures), HostError> {
        let cx = Context {
            device: &programs.device,
            kernels: programs.kernels()?,
            layout: &programs.layout,
            binners: &programs.binners,
            batch: &mut self.batch,
            commands: &mut self.commands,
            traffic: &mut self.traffic,
        };
        Ok((cx, &mut self.cache, &mut self.textures))
    }

    /// Does something on the device. If the device fails, what only it had is lost, and the CPU renderer does all from then on.
    fn attempt<T>(
        &mut self,
        action: impl FnOnce(&mut Context, &mut Cache, &mut Textures) -> Result<T, HostError>,
    ) -> Result<T, Detour> {
        let programs = Arc::clone(&self.programs);
        let done =
            self.parts(&programs).and_then(|(mut cx, cache, textures)| action(&mut cx, cache, textures));
        done.map_err(|error| {
            let detour = Detour::Device(error.to_string());
            self.broken = Some(detour.clone());
            if self.cache.owns(&ADDRESSES) {
                self.lost.get_or_insert(error);
            }
            self.forget();
            detour
        })
    }

    /// Brings ranges to guest memory.
    fn bring(&mut self, memory: &mut dyn Memory, ranges: &[Range<u64>]) {
        if ranges.iter().any(|range| self.cache.is_dirty(range)) {
            // `attempt` records a failure.
            let _ = self
                .attempt(|cx, cache, _| ranges.iter().try_for_each(|range| cache.flush(cx, memory, range)));
        }
    }

    /// Draws on the device, or says why not; then nothing has been drawn.
    fn try_draw(&mut self, mut draw: Draw<'_>) -> Result<Result<(), OutOfPixels>, Detour> {
        let on_device = match self.options.binning {
            Binning::Processor => false,
            Binning::ByCount => draw.triangles.len() >= MANY && !self.programs.device.is_software(),
            Binning::Device => true,
        };
        if on_device {
            match self.draw_binned(draw.again(), false) {
                // The tiles that triangles touch may be memory where not all in their bounds are.
                Err(Detour::Unmapped) => {}
                done => return done,
            }
        }
        self.draw_binned(draw, true)
    }

    /// The same, binned here or by the device.
    fn draw_binned(&mut self, draw: Draw<'_>, here: bool) -> Result<Result<(), OutOfPixels>, Detour> {
        let Draw { regs, tables, memory, triangles, pixels, .. } = draw;
        let Some(state) = DrawState::decode(regs, tables, self.options.chip) else { return Ok(Ok(())) };
        if state.is_modelled() {
            return Err(Detour::Modelled);
        }
        let pixels_of = PixelState::decode(regs, self.options, self.programs.device.cache());
        let Some(pixels_of) = pixels_of else { return Ok(Ok(())) };
        if state.feedback {
            return Err(Detour::Feedback);
        }
        if self.cache.size_of(state.size.pixels().into()) > self.programs.device.max_buffer() {
            return Err(Detour::TooLarge);
        }
        let program = match self.programs.table.get(&pixels_of) {
            State::Ready(program) => program,
            State::Compiling => return Err(Detour::Compiling),
            State::Failed(error) => return Err(Detour::NoProgram(error.to_string())),
        };
        let mut left = *pixels;
        let key = pixels_of.key();
        let collected =
            self.bins.collect(regs, &state, key, (self.options.scale, here), triangles, &mut left);
        let done = collected.map_err(|NotFinite| Detour::NotFinite)?;
        if !self.bins.is_empty() {
            let prepared = Prepared { key, state: &state, program };
            self.record(regs, tables, memory, prepared)?;
        }
        *pixels = left;
        Ok(done)
    }

    fn record(
        &mut self,
        regs: &Registers,
        tables: &Tables,
        memory: &mut dyn Memory,
        Prepared { key, state, program }: Prepared,
    ) -> Result<(), Detour> {
        let pixels = state.size.pixels();
        let tiles = self.bins.tiles(state.size);
        let places = places(state).map(|place| place.map(|place| (place, tile_range(place, tiles))));
        let is_memory = |(place, range): &(PixelBuffer, Range<u64>)| {
            let start = place.address.checked_add(tiles.0.saturating_mul(TILE as u32 * place.bytes));
            range.end <= ADDRESSES.end
                && start.is_some_and(|start| memory.bytes(start, (range.end - range.start) as u32).is_some())
        };
        if !places.iter().flatten().all(is_memory) {
            return Err(Detour::Unmapped);
        }
        let tables = if key.fragment().reads_tables() {
            self.table_buffer(tables).map_err(|e| Detour::Device(e.to_string()))?
        } else {
            self.none[0].clone()
        };
        let too_much = self.batch.words() + self.bins.words() > batch::WORDS;
        let none = self.none.clone();
        let (buffers, enlarged, strides) = self.attempt(|cx, cache, textures| {
            if too_much {
                cx.submit()?;
            }
            // A command list may name any number of buffers, and the call ends only after all of them.
            cache.tidy(cx, memory)?;
            let mut texels = [0; 3].map(|_: u32| none[0].clone());
            let mut enlarged = [[1, 0]; 3];
            let units = texels.iter_mut().zip(&mut enlarged).enumerate();
            for (unit, (texels, enlarged)) in units {
                let Some(image) = key.fragment().reads_texture(unit).then(|| image_of(state, unit)).flatten()
                else {
                    continue;
                };
                let found = textures.get(cx, cache, image, memory)?;
                (*texels, *enlarged) = (found.buffer, [found.scale, found.first]);
            }
            let mut surface = |place: &Option<(PixelBuffer, Range<u64>)>, none: &Buffer| match place {
                Some((place, range)) => {
                    let found = cache.pixels(cx, memory, *place, pixels, range)?;
                    cache.own(memory, found.id, range);
                    Ok((found.buffer, found.stride))
                }
                None => Ok((none.clone(), 0)),
            };
            let [(color, color_stride), (depth, depth_stride)] =
                [surface(&places[0], &none[1])?, surface(&places[1], &none[2])?];
            let buffers = Buffers { tables, textures: texels, color, depth, binned: None };
            Ok((buffers, enlarged, [color_stride, depth_stride]))
        })?;

        let scale = self.options.scale;
        let mut uniforms = draw_uniforms(regs, state, self.options);
        set(&mut uniforms, PLANES, strides.map(|words| words * 4));
        for ([texels, first], at) in enlarged.into_iter().zip((UNITS..).step_by(UNIT_STRIDE as usize)) {
            if scale == Scale::ONE {
                // There is no plane without the larger version: its width and height are the texture's.
                let sizes = uniforms.iter_mut().skip(at as usize / 4).take(2);
                sizes.for_each(|size| *size *= texels);
            } else {
                set(&mut uniforms, at + MORE_TEXELS, [texels - 1]);
                set(&mut uniforms, at + FIRST_ENLARGED, [first]);
                let density = texels as f32 / scale.get() as f32;
                set(&mut uniforms, at + DENSITY, [(density * density).to_bits()]);
            }
        }
        if self.bins.are_listed() {
            self.dispatch(state.size, &program, &buffers, &mut uniforms);
            return Ok(());
        }
        self.dispatch_binned(&program, buffers, &mut uniforms).map_err(|e| Detour::Device(e.to_string()))
    }

    /// Adds dispatches over the bins of as many triangles as a uniform buffer has room for.
    fn dispatch(&mut self, size: Size, program: &Program, buffers: &Buffers, uniforms: &mut Uniforms) {
        let (device, planes) = (&self.programs.device, self.options.scale.planes());
        for chunk in 0..self.bins.chunks() {
            set(uniforms, FIRST_BIN, [self.batch.lists.len() as u32 * 4]);
            let (bins, triangles) = self.bins.write(chunk, size, &mut self.batch.lists);
            if bins != 0 {
                let triangles = self.batch.place(device, triangles);
                let groups = Groups::Direct([bins, planes]);
                self.batch.draw(device, program.clone(), buffers.clone(), (uniforms, triangles), groups);
            }
        }
    }

    /// The same, with bins that the device makes. If it fails it has added none.
    fn dispatch_binned(
        &mut self,
        program: &Program,
        buffers: Buffers,
        uniforms: &mut Uniforms,
    ) -> Result<(), HostError> {
        let (rectangle, planes) = (self.bins.rectangle(), self.options.scale.planes());
        set(uniforms, ORIGIN, rectangle.pixel().map(|at| at as u32));
        let (device, batch) = (&self.programs.device, &mut self.batch);
        let (parts, stride) = self.bins.parts();
        // The first part is the largest: where there is room for it, there is for all.
        for part in parts {
            let draw = self.pool.start(device, batch, (part, stride), rectangle, planes)?;
            let buffers = Buffers { binned: Some(draw.binned().clone()), ..buffers.clone() };
            for number in 0..draw.windows() {
                let window = draw.gather(device, batch, number);
                let (groups, at) = window.groups;
                let place = (&*uniforms, window.offset);
                batch.draw(device, program.clone(), buffers.clone(), place, Groups::Indirect(groups, at));
            }
        }
        Ok(())
    }

    fn table_buffer(&mut self, tables: &Tables) -> Result<Buffer, HostError> {
        match &self.tables {
            Some((known, buffer)) if known == tables => Ok(buffer.clone()),
            _ => {
                let buffer = self.programs.device.buffer_of(&table_words(tables))?;
                self.tables = Some((tables.clone(), buffer.clone()));
                Ok(buffer)
            }
        }
    }
}

/// The image of a texture unit.
fn image_of(state: &DrawState, unit: usize) -> Option<&Image> {
    let source = UNIT_SOURCES.get(unit)?;
    let units = &state.shading.as_ref()?.units;
    units.iter().find(|(found, _)| found == source)?.1.image()
}

/// Colour and depth buffer.
fn places(state: &DrawState) -> [Option<PixelBuffer>; 2] {
    [state.target.buffer(), state.depth_stencil.as_ref().map(|tests| tests.buffer)]
}

/// Addresses of a buffer's tiles, first and last.
fn tile_range(place: PixelBuffer, (first, last): (u32, u32)) -> Range<u64> {
    let bytes = u64::from(place.bytes) * TILE as u64;
    let start = u64::from(place.address);
    start + u64::from(first) * bytes..start + (u64::from(last) + 1) * bytes
}

/// The uniform buffer of a draw.
fn draw_uniforms(regs: &Registers, state: &DrawState, options: Options) -> Box<Uniforms> {
    let mut words = uniforms_for(regs, options.chip);
    let last_row = state.size.height.saturating_sub(1);
    set(&mut words, TILES, [state.size.tiles_per_row(), last_row]);
    set(&mut words, SAMPLES, [options.scale.get()]);
    if let Some(outside) = state.screen.outside {
        set(&mut words, OUTSIDE, [outside.x0, outside.y0, outside.x1, outside.y1].map(|edge| edge as u32));
    }
    if let Some(stencil) = state.depth_stencil.as_ref().and_then(|tests| tests.stencil) {
        set(&mut words, STENCIL, [stencil.reference, stencil.input_mask, stencil.write_mask].map(u32::from));
    }
    words
}

impl Renderer for HostRenderer {
    fn chip(&self) -> Chip {
        self.options.chip
    }

    fn draw(&mut self, mut draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let tried = match &self.broken {
            Some(detour) => Err(detour.clone()),
            None => self.try_draw(draw.again()),
        };
        match tried {
            Ok(done) => return done,
            Err(detour) => self.detours.push(detour),
        }
        let Some(state) = DrawState::decode(draw.regs, draw.tables, self.options.chip) else { return Ok(()) };
        let pixels = u64::from(state.size.pixels());
        let span = |place: PixelBuffer| ranges(place.address, pixels * u64::from(place.bytes));
        let written: Vec<Range<u64>> = places(&state).into_iter().flatten().flat_map(span).collect();
        let units = state.shading.iter().flat_map(|shading| &shading.units);
        let textures = units.filter_map(|(_, unit)| unit.image()).flat_map(|image| image.ranges());
        let read = textures.flat_map(|(address, len)| ranges(address, len.into()));
        let read = read.chain(state.target.depth().into_iter().flat_map(span));
        let touched: Vec<Range<u64>> = read.chain(written.iter().cloned()).collect();
        self.bring(draw.memory, &touched);
        let done = self.cpu.draw(draw);
        written.iter().for_each(|range| self.cache.invalidate(range));
        done
    }

    fn finish(&mut self, memory: &mut dyn Memory) {
        if !memory.is_tracked() {
            self.bring(memory, &[ADDRESSES]);
            self.cache.forget();
            self.textures.invalidate();
        } else if self.broken.is_none() {
            // `attempt` records a failure.
            let _ = self.attempt(|cx, cache, _| {
                cx.submit()?;
                cache.tidy(cx, memory)
            });
        }
    }

    fn report(&mut self, report: &mut Report) {
        for detour in self.detours.drain(..) {
            report.add(Error::Detour(detour));
        }
        if let Some(error) = self.lost.take() {
            report.add(Error::Lost(error.to_string()));
        }
        report.traffic.merge(std::mem::take(&mut self.traffic));
    }

    fn transfer(&mut self, memory: &mut dyn Memory, job: &Job) -> bool {
        memory.is_tracked()
            && self.broken.is_none()
            && transfers::is_possible(job, &self.cache, &self.programs.device)
            && self.attempt(|cx, cache, _| transfers::run(cx, cache, memory, job)).is_ok()
    }

    fn owns(&self, range: &Range<u64>) -> bool {
        self.cache.owns(range)
    }

    fn flush_region(&mut self, memory: &mut dyn Memory, range: &Range<u64>) {
        self.bring(memory, std::slice::from_ref(range));
    }

    fn invalidate_region(&mut self, range: &Range<u64>) {
        self.cache.invalidate(range);
    }

    fn picture(&mut self, memory: &mut dyn Memory, frame: &Frame) -> Option<Picture> {
        if self.options.scale == Scale::ONE {
            return None;
        }
        let picture = self.present(memory, frame, None).ok()?;
        self.screenshot(&picture).ok()
    }

    fn forget(&mut self) {
        self.batch = Batch::default();
        self.commands = Commands::default();
        self.cache.forget();
        self.textures.invalidate();
    }
}
