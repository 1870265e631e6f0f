//! The renderer on the host's GPU (feature `host`).
//!
//! ```text
//! triangles ─clip, setup, bins─▶ batch ─tile programs─▶ surfaces ─flush─▶ guest memory
//! ```
//!
//! Triangles are clipped on the CPU by the CPU renderer's own code, which sets up those of small draws, too; those of large ones are
//! set up and binned on the device. From there on a program per pixel state ([`crate::fragment::tile`]) does the rest, tile by tile. Programs compile in the background: until one is ready its
//! draws are the CPU renderer's, as are draws that a program cannot do ([`Detour`]).
//!
//! Colour and depth buffers stay on the device (`cache`): textures are decoded from them there, and fills, display transfers
//! and texture copies are done there. Guest memory that [is tracked](Memory::is_tracked) is written when it is about to be
//! read; other memory at the end of each call of [`crate::gpu::Gpu`].
//!
//! | room | what it is for |
//! |---|---|
//! | `draws` | a draw, step by step |
//! | `triangles` | what the processor computes of triangles |
//! | `bins` | triangles that it sets up and bins |
//! | `corners` | triangles that the device sets up and bins |
//! | `setup`, `binning` | how it does that |
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
mod corners;
mod custom;
mod draws;
mod guests;
mod kernels;
mod present;
mod setup;
#[cfg(test)]
mod tests;
mod textures;
mod transfers;
mod triangles;

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use xenoglot_host::{Buffer, Commands, Compilation, Device, Error as HostError, Layout, Table};

pub use crate::fragment::{Options, Scale, Triangles};
use crate::lcd::{Frame, Gamma, Image as Picture};
use crate::memory::{ADDRESSES, Memory, ranges};
use crate::raster::framebuffer::PixelBuffer;
use crate::raster::state::State as DrawState;
use crate::raster::{self, Chip, Reference};
use crate::regs::Registers;
use crate::renderer::{Detour, Draw, OutOfPixels, Renderer};
use crate::report::{Error, Report, Traffic};
use crate::tables::Tables;
use crate::transfer::Job;
use batch::Batch;
use binning::{Binners, Pool};
use bins::Bins;
use cache::{Cache, Context};
use corners::Corners;
pub use custom::{CustomTextures, GuestTexture, Replacement};
use draws::places;
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
    corners: Corners,
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
            corners: Corners::default(),
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
