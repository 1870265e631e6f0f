//! Draws: what is touched is brought to the device, then there are steps for the triangles.

use std::ops::Range;

use xenoglot_host::{Buffer, Error as HostError, Program, State};

use super::batch::{self, Buffers, Groups};
use super::guests::PixelState;
use super::setup;
use super::triangles::{Extent, NotFinite};
use super::{HostRenderer, Options, Scale, Triangles, binning};
use crate::fragment::layout::{
    DENSITY, FIRST_BIN, FIRST_ENLARGED, MORE_TEXELS, ORIGIN, OUTSIDE, PLANES, SAMPLES, STENCIL, TILES,
    UNIT_STRIDE, UNITS, Uniforms, set, tables as table_words, uniforms_for,
};
use crate::fragment::tile::TileKey;
use crate::memory::{ADDRESSES, Memory};
use crate::raster::framebuffer::PixelBuffer;
use crate::raster::sample::Image;
use crate::raster::state::{State as DrawState, UNIT_SOURCES};
use crate::regs::Registers;
use crate::renderer::{Detour, Draw, OutOfPixels};
use crate::tables::Tables;
use crate::texture::tiling::TILE;

/// From this many triangles on, a device that is not the processor sets them up.
const MANY: usize = 512;

/// Where triangles are set up and binned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Processor,
    Device,
}

/// What a draw needs besides its triangles, which are collected.
struct Prepared<'a> {
    key: &'a TileKey,
    state: &'a DrawState,
    program: Program,
    side: Side,
    extent: Extent,
}

impl HostRenderer {
    /// Draws on the device, or says why not; then nothing has been drawn.
    pub(super) fn try_draw(&mut self, mut draw: Draw<'_>) -> Result<Result<(), OutOfPixels>, Detour> {
        let on_device = match self.options.triangles {
            Triangles::Processor => false,
            Triangles::ByCount => draw.triangles.len() >= MANY && !self.programs.device.is_software(),
            Triangles::Device => true,
        };
        if on_device {
            match self.draw_by(Side::Device, draw.again()) {
                // The tiles that triangles touch may be memory where not all in their bounds are.
                Err(Detour::Unmapped) => {}
                // The device is still there, but has no room or program for this.
                Err(Detour::Device(_)) if self.broken.is_none() => {}
                done => return done,
            }
        }
        self.draw_by(Side::Processor, draw)
    }

    fn draw_by(&mut self, side: Side, draw: Draw<'_>) -> Result<Result<(), OutOfPixels>, Detour> {
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
        let collected = match side {
            Side::Processor => self.bins.collect(regs, &state, key, self.options.scale, triangles, &mut left),
            Side::Device => self.corners.collect(regs, &state, key, triangles, &mut left),
        };
        let done = collected.map_err(|NotFinite| Detour::NotFinite)?;
        let extent = match side {
            Side::Processor => self.bins.extent(),
            Side::Device => self.corners.extent(state.size),
        };
        if let Some(extent) = extent {
            let prepared = Prepared { key, state: &state, program, side, extent };
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
        Prepared { key, state, program, side, extent }: Prepared,
    ) -> Result<(), Detour> {
        let pixels = state.size.pixels();
        let tiles = extent.tiles;
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
        let too_much = self.batch.words() + extent.words > batch::WORDS;
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
        match side {
            Side::Processor => {
                self.dispatch(state, &program, &buffers, &mut uniforms);
                Ok(())
            }
            Side::Device => {
                let done = self.dispatch_set_up(state, &program, buffers, &mut uniforms);
                done.map_err(|e| Detour::Device(e.to_string()))
            }
        }
    }

    /// Adds dispatches over the bins of as many triangles as a uniform buffer has room for.
    fn dispatch(&mut self, state: &DrawState, program: &Program, buffers: &Buffers, uniforms: &mut Uniforms) {
        let (device, planes) = (&self.programs.device, self.options.scale.planes());
        for chunk in 0..self.bins.chunks() {
            set(uniforms, FIRST_BIN, [self.batch.lists.len() as u32 * 4]);
            let (bins, triangles) = self.bins.write(chunk, state.size, &mut self.batch.lists);
            if bins != 0 {
                let triangles = self.batch.place(device, triangles);
                let groups = Groups::Direct([bins, planes]);
                self.batch.draw(device, program.clone(), buffers.clone(), (uniforms, triangles), groups);
            }
        }
    }

    /// The same with triangles that the device sets up and bins. If it fails it has added none.
    fn dispatch_set_up(
        &mut self,
        state: &DrawState,
        program: &Program,
        buffers: Buffers,
        uniforms: &mut Uniforms,
    ) -> Result<(), HostError> {
        let (rectangle, scale) = (self.corners.rectangle(), self.options.scale);
        set(uniforms, ORIGIN, rectangle.pixel());
        let setup = setup::Draw {
            attributes: self.corners.attributes() as u32,
            screen: &state.screen,
            size: state.size,
            origin: rectangle.pixel(),
            reach: scale.reach(),
        };
        let (device, batch) = (&self.programs.device, &mut self.batch);
        let vertices = (batch.add(self.corners.vertices()) / 4) as u32;
        // The first part is the largest: where there is room for it, there is for all.
        for corners in self.corners.corners().chunks(binning::TRIANGLES) {
            let corners = (corners, vertices);
            let draw = self.pool.start(&self.programs, batch, corners, rectangle, scale.planes(), setup)?;
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
pub(super) fn image_of(state: &DrawState, unit: usize) -> Option<&Image> {
    let source = UNIT_SOURCES.get(unit)?;
    let units = &state.shading.as_ref()?.units;
    units.iter().find(|(found, _)| found == source)?.1.image()
}

/// Colour and depth buffer.
pub(super) fn places(state: &DrawState) -> [Option<PixelBuffer>; 2] {
    [state.target.buffer(), state.depth_stencil.as_ref().map(|tests| tests.buffer)]
}

/// Addresses of a buffer's tiles, first and last.
fn tile_range(place: PixelBuffer, (first, last): (u32, u32)) -> Range<u64> {
    let bytes = u64::from(place.bytes) * TILE as u64;
    let start = u64::from(place.address);
    start + u64::from(first) * bytes..start + (u64::from(last) + 1) * bytes
}

/// The uniform buffer of a draw.
pub(super) fn draw_uniforms(regs: &Registers, state: &DrawState, options: Options) -> Box<Uniforms> {
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
