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
//! Colour and depth buffers stay on the device from draw to draw. They are brought to guest memory before something
//! else of the renderer reads it there: a texture, a draw on the CPU, a buffer that overlaps them; and at the end of
//! each call of [`crate::gpu::Gpu`], so that transfers, copies and the emulator find them. Within one call only the renderer
//! sees pending pixels: command lists and vertex data read from a buffer being drawn to see the old bytes.
//!
//! | room | what it is for |
//! |---|---|
//! | `bins` | triangles as programs read them |
//! | `batch` | draws that wait |
//! | `guests` | what a cache on disk keeps of the guest |
//! | `surfaces` | colour and depth buffers |
//! | `textures` | textures |

mod batch;
mod bins;
mod guests;
mod surfaces;
#[cfg(test)]
mod tests;
mod textures;

use std::sync::Arc;
use std::time::Duration;

use xenoglot_host::{
    Buffer, Commands, Compilation, Device, Error as HostError, Layout, Program, State, Table,
};

use crate::fragment::layout::{FIRST_BIN, OUTSIDE, STENCIL, TILES, set, tables as table_words, uniforms};
use crate::fragment::tile::TileKey;
use crate::memory::Memory;
use crate::raster::framebuffer::PixelBuffer;
use crate::raster::state::{State as DrawState, Target};
use crate::raster::{self, Chip};
use crate::regs::Registers;
use crate::renderer::{Detour, Draw, OutOfPixels, Renderer};
use crate::report::{Error, Report};
use crate::tables::Tables;
use batch::{Batch, Buffers};
use bins::{Bins, NotFinite};
use guests::PixelState;
pub(crate) use guests::remember;
pub use guests::{guest_of_pixels, translate_again};
use surfaces::Surfaces;
use textures::Textures;

/// Tile programs of a device. Renderers may share them. Where the device's cache is on disk, it keeps pixel states, too:
/// see [`translate_again`].
pub struct Programs {
    device: Device,
    layout: Layout,
    table: Table<PixelState>,
}

impl Programs {
    /// No programs yet.
    pub fn new(device: &Device, compilation: Compilation) -> Programs {
        let layout = batch::layout(device);
        let cache = Arc::clone(device.cache());
        let translate = move |state: &PixelState| Ok(state.generate(&cache));
        let table = Table::new(device, &layout, compilation, translate);
        Programs { device: device.clone(), layout, table }
    }

    /// Programs by state: ready, compiling, refused.
    pub fn counts(&self) -> [usize; 3] {
        self.table.counts()
    }

    /// How long draws have been looking up programs so far: see [`Table::waited`].
    pub fn waited(&self) -> Duration {
        self.table.waited()
    }
}

/// A renderer on the host's GPU.
pub struct HostRenderer {
    programs: Arc<Programs>,
    cpu: raster::Renderer,
    bins: Bins,
    batch: Batch,
    commands: Commands,
    surfaces: Surfaces,
    textures: Textures,
    tables: Option<(Tables, Buffer)>,
    /// Dummy buffers for draws without one: read, colour, depth.
    none: [Buffer; 3],
    detours: Vec<Detour>,
    /// Pixels that could not be read back.
    lost: Option<HostError>,
    /// Why the device failed, once: all is the CPU renderer's then.
    broken: Option<Detour>,
}

/// What a draw needs besides its triangles.
struct Prepared<'a> {
    key: &'a TileKey,
    state: &'a DrawState,
    program: Program,
}

impl HostRenderer {
    /// A renderer with the programs of a device.
    ///
    /// # Errors
    /// The device has no memory.
    pub fn new(programs: Arc<Programs>) -> Result<HostRenderer, HostError> {
        let none = [programs.device.buffer(4)?, programs.device.buffer(4)?, programs.device.buffer(4)?];
        Ok(HostRenderer {
            programs,
            cpu: raster::Renderer::new(),
            bins: Bins::default(),
            batch: Batch::default(),
            commands: Commands::default(),
            surfaces: Surfaces::default(),
            textures: Textures::default(),
            tables: None,
            none,
            detours: Vec::new(),
            lost: None,
            broken: None,
        })
    }

    /// The programs.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Brings what was drawn to guest memory.
    fn flush(&mut self, memory: &mut dyn Memory) {
        let Programs { device, layout, .. } = &*self.programs;
        let recorded = self.batch.record(device, layout, &mut self.commands);
        let flushed = recorded.and_then(|()| self.surfaces.flush(device, &mut self.commands, memory));
        if let Err(error) = flushed {
            self.broken = Some(Detour::Device(error.to_string()));
            self.lost.get_or_insert(error);
        }
        self.textures.invalidate();
    }

    /// Draws on the device, or says why not; then nothing has been drawn.
    fn try_draw(&mut self, draw: Draw<'_>) -> Result<Result<(), OutOfPixels>, Detour> {
        let Draw { regs, tables, memory, triangles, pixels } = draw;
        let Some(state) = DrawState::decode(regs, tables, Chip::default()) else { return Ok(Ok(())) };
        let Some(key) = TileKey::decode(regs) else { return Ok(Ok(())) };
        if state.feedback {
            return Err(Detour::Feedback);
        }
        let pixels_of = PixelState::new(key, regs, self.programs.device.cache());
        let program = match self.programs.table.get(&pixels_of) {
            State::Ready(program) => program,
            State::Compiling => return Err(Detour::Compiling),
            State::Failed(error) => return Err(Detour::NoProgram(error.to_string())),
        };
        let mut left = *pixels;
        let key = pixels_of.key();
        let collected = self.bins.collect(regs, &state, key, triangles, &mut left);
        let done = collected.map_err(|NotFinite| Detour::NotFinite)?;
        if !self.bins.is_empty() {
            let prepared = Prepared { key, state: &state, program };
            self.record(regs, tables, memory, prepared).map_err(|e| Detour::Device(e.to_string()))?;
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
    ) -> Result<(), HostError> {
        let pixels = state.size.pixels();
        let places = [color_buffer(&state.target), state.depth_stencil.as_ref().map(|tests| tests.buffer)];
        let units = state.shading.iter().flat_map(|shading| &shading.units);
        let textures = units.filter_map(|(_, unit)| unit.image()).flat_map(|image| image.ranges());
        let has_room = |&place: &PixelBuffer| self.surfaces.has_room(place, pixels);
        if self.surfaces.is_drawn(textures) || !places.iter().flatten().all(has_room) {
            self.flush(memory);
        }
        if self.batch.words() + self.bins.words() > batch::WORDS {
            self.submit()?;
        }

        let device = &self.programs.device;
        let mut texels = [0; 3].map(|_: u32| self.none[0].clone());
        for (unit, texels) in
            texels.iter_mut().enumerate().filter(|(unit, _)| key.fragment().reads_texture(*unit))
        {
            if let Some(buffer) = self.textures.get(device, regs, unit, memory)? {
                *texels = buffer;
            }
        }
        let tiles = self.bins.tiles();
        let mut surface = |place: Option<PixelBuffer>, none: &Buffer| match place {
            Some(place) => self.surfaces.get(device, memory, place, pixels, tiles),
            None => Ok(none.clone()),
        };
        let [color, depth] = [surface(places[0], &self.none[1])?, surface(places[1], &self.none[2])?];
        let tables =
            if key.fragment().reads_tables() { self.table_buffer(tables)? } else { self.none[0].clone() };

        let mut uniforms = draw_uniforms(regs, state);
        let buffers = Buffers { tables, textures: texels, color, depth };
        for chunk in 0..self.bins.chunks() {
            set(&mut uniforms, FIRST_BIN, [self.batch.bins.len() as u32 * 4]);
            let (bins, triangles) = self.bins.write(chunk, state.size, &mut self.batch.bins);
            if bins != 0 {
                let device = &self.programs.device;
                self.batch.push(device, program.clone(), buffers.clone(), &uniforms, triangles, bins);
            }
        }
        Ok(())
    }

    /// Hands the draws so far to the device.
    fn submit(&mut self) -> Result<(), HostError> {
        let Programs { device, layout, .. } = &*self.programs;
        self.batch.record(device, layout, &mut self.commands)?;
        self.commands.submit(device)
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

fn color_buffer(target: &Target) -> Option<PixelBuffer> {
    match target {
        Target::None => None,
        Target::Color(output) => Some(output.buffer.buffer),
        Target::Shadow(map) => Some(map.buffer),
    }
}

/// The uniform buffer of a draw.
fn draw_uniforms(regs: &Registers, state: &DrawState) -> Box<crate::fragment::layout::Uniforms> {
    let mut words = uniforms(regs);
    let last_row = state.size.height.saturating_sub(1);
    set(&mut words, TILES, [state.size.tiles_per_row(), last_row]);
    if let Some(outside) = state.screen.outside {
        set(&mut words, OUTSIDE, [outside.x0, outside.y0, outside.x1, outside.y1].map(|edge| edge as u32));
    }
    if let Some(stencil) = state.depth_stencil.as_ref().and_then(|tests| tests.stencil) {
        set(&mut words, STENCIL, [stencil.reference, stencil.input_mask, stencil.write_mask].map(u32::from));
    }
    words
}

impl Renderer for HostRenderer {
    fn draw(&mut self, mut draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let tried = match &self.broken {
            Some(detour) => Err(detour.clone()),
            None => self.try_draw(draw.again()),
        };
        match tried {
            Ok(done) => return done,
            Err(detour) => self.detours.push(detour),
        }
        self.flush(draw.memory);
        let done = self.cpu.draw(draw);
        self.textures.invalidate();
        done
    }

    fn finish(&mut self, memory: &mut dyn Memory, report: &mut Report) {
        self.flush(memory);
        for detour in self.detours.drain(..) {
            report.add(Error::Detour(detour));
        }
        if let Some(error) = self.lost.take() {
            report.add(Error::Lost(error.to_string()));
        }
    }
}
