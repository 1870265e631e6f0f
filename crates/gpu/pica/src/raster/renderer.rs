//! The stages in their order.

use super::batch::{Batch, LANES, Pixels, Plane, STEP, round_half_away, semantic};
use super::clip::Clipper;
use super::combiner::Source;
use super::coverage::Walker;
use super::interpolate;
use super::lighting::{LutCache, Scratch};
use super::options::{Chip, Options};
use super::sample::{UNITS, Unit};
use super::setup::Setup;
use super::state::{Output, Shading, State, Target};
use crate::early_depth::EarlyDepth;
use crate::memory::Memory;
use crate::renderer::{Draw, OutOfPixels};
use crate::tables::Tables;
use crate::texture::TileCache;
use crate::vertex::Vertex;

/// What a pixel that is shaded alone costs of the budget.
const ALONE_COST: u64 = 16;

/// A pixel after fog, before it meets the destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragment {
    /// Interpolated attributes by semantic, as in [`Vertex::values`]; those the draw does not need are arbitrary.
    pub attributes: [f32; semantic::COUNT],
    /// z/w, from -1 to 0.
    pub z: f32,
    /// w.
    pub w: f32,
    /// Depth of 0 to 1, if the draw needs it; otherwise arbitrary.
    pub depth: f32,
    /// Colour.
    pub color: [u8; 4],
    /// Whether it passes the alpha test.
    pub passes: bool,
}

/// The CPU renderer: scratch memory and caches that outlive a draw. It holds no state of the machine.
#[derive(Debug, Default)]
pub struct Renderer {
    clipper: Clipper,
    rasteriser: Rasteriser,
}

/// All but the clipper, whose polygons are borrowed while this runs.
#[derive(Debug, Default)]
struct Rasteriser {
    setup: Setup,
    walker: Walker,
    pipeline: Pipeline,
}

/// What pixels are read from and written to.
struct Buffers<'a> {
    memory: &'a mut dyn Memory,
    early_depth: &'a mut EarlyDepth,
}

/// What shading pixels needs.
#[derive(Debug, Default)]
struct Pipeline {
    options: Options,
    batch: Box<Batch>,
    destination: Box<Destination>,
    lighting: Box<Scratch>,
    luts: LutCache,
    textures: [TileCache; UNITS],
    /// Fragments, if they are asked for.
    log: Option<Vec<Fragment>>,
}

#[derive(Debug)]
struct Destination([Plane; 4]);

impl Default for Destination {
    fn default() -> Self {
        Destination([[0; LANES]; 4])
    }
}

impl Renderer {
    /// A renderer with default options.
    pub fn new() -> Renderer {
        Renderer::default()
    }

    /// A renderer with these options.
    pub fn with_options(options: Options) -> Renderer {
        let pipeline = Pipeline { options, ..Pipeline::default() };
        Renderer { rasteriser: Rasteriser { pipeline, ..Rasteriser::default() }, ..Renderer::default() }
    }

    /// Starts to keep the fragments of draws that shade colours: for comparison with other renderers.
    pub fn record_fragments(&mut self) {
        self.rasteriser.pipeline.log.get_or_insert_default();
    }

    /// The fragments kept since the last call, in the order they were shaded.
    pub fn take_fragments(&mut self) -> Vec<Fragment> {
        self.rasteriser.pipeline.log.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl crate::renderer::Renderer for Renderer {
    fn chip(&self) -> Chip {
        self.rasteriser.pipeline.options.reference.chip()
    }

    /// Takes the pixels in the bounds of what clipping leaves off the draw's, sixteen for each pixel that must be
    /// shaded alone because a draw reads what it writes.
    ///
    /// # Errors
    /// The first triangle with more pixels than are left, and all after it, are not drawn; none are left then.
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let Draw { regs, tables, memory, early_depth, triangles, pixels } = draw;
        let options = self.rasteriser.pipeline.options;
        let Some(state) = State::decode(regs, tables, options.reference.chip()) else { return Ok(()) };
        self.clipper.configure(regs);
        self.rasteriser.pipeline.start(&state, tables);
        let mut buffers = Buffers { memory, early_depth };
        let Renderer { clipper, rasteriser } = self;
        clipper.each(triangles, state.is_lit(), |vertices| {
            rasteriser.draw(&state, vertices, &mut buffers, pixels)
        })
    }
}

impl Rasteriser {
    fn draw(
        &mut self,
        state: &State,
        vertices: [&Vertex; 3],
        buffers: &mut Buffers<'_>,
        pixels: &mut u64,
    ) -> Result<(), OutOfPixels> {
        let Rasteriser { setup, walker, pipeline } = self;
        if !setup.prepare(&state.screen, vertices) {
            return Ok(());
        }
        let (limit, cost) = if state.feedback { (1, ALONE_COST) } else { (LANES, 1) };
        let Some(left) = pixels.checked_sub(setup.bounds.pixels() * cost) else {
            *pixels = 0;
            return Err(OutOfPixels);
        };
        *pixels = left;
        walker.walk(setup, state.screen.outside, state.size, limit, |pixels| {
            pipeline.shade(state, setup, pixels, buffers);
        });
        Ok(())
    }
}

impl Pipeline {
    /// Prepares the state shared by all pixels of a draw.
    fn start(&mut self, state: &State, tables: &Tables) {
        let Some(shading) = &state.shading else { return };
        self.start_textures(shading);
        shading.program.fill_constants(&mut self.batch);
        for (source, unit) in &shading.units {
            if let Unit::Constant(color) = unit {
                self.fill(*source, *color);
            }
        }
        if shading.proctex.is_none() {
            self.fill(Source::Procedural, [0; 4]);
        }
        match &shading.lighting {
            Some(lighting) => lighting.tables().for_each(|table| self.luts.prepare(tables, table)),
            None => {
                self.fill(Source::LightPrimary, [0; 4]);
                self.fill(Source::LightSecondary, [0; 4]);
            }
        }
    }

    fn start_textures(&mut self, shading: &Shading) {
        for ((_, unit), cache) in shading.units.iter().zip(&mut self.textures) {
            if let Some(image) = unit.image() {
                cache.start(image.tiles());
            }
        }
    }

    fn fill(&mut self, source: Source, color: [u8; 4]) {
        for (plane, value) in self.batch.planes[source.plane()..].iter_mut().zip(color) {
            plane.fill(u16::from(value));
        }
    }

    /// Takes pixels of one triangle from weights to memory.
    fn shade(&mut self, state: &State, setup: &Setup, pixels: &mut Pixels, buffers: &mut Buffers) {
        #[cfg(target_arch = "x86_64")]
        if self.options.code.is_avx2() {
            // SAFETY: the processor has AVX2.
            unsafe { self.shade_avx2(state, setup, pixels, buffers) };
            return;
        }
        self.shade_portable(state, setup, pixels, buffers);
    }

    /// As [`Pipeline::shade_portable`], whose stages are inlined so that all of them are compiled for AVX2 here.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn shade_avx2(&mut self, state: &State, setup: &Setup, pixels: &mut Pixels, buffers: &mut Buffers) {
        self.shade_portable(state, setup, pixels, buffers);
    }

    #[inline(always)]
    fn shade_portable(&mut self, state: &State, setup: &Setup, pixels: &mut Pixels, buffers: &mut Buffers) {
        let Buffers { memory, early_depth } = buffers;
        interpolate::start(&mut self.batch, pixels, setup);
        if let Some(depth) = &state.depth {
            depth.run(&mut self.batch, setup);
        }
        if let Some(test) = &state.early_depth {
            test.run(&mut self.batch, pixels, early_depth);
            if self.batch.is_dead() {
                return;
            }
        }
        // Without an alpha test the tests before the colours give the same result as after them.
        let early = state.alpha_test.is_none() && !state.feedback;
        if early && !self.test_depth(state, pixels, *memory) {
            return;
        }
        if let Some(shading) = &state.shading {
            interpolate::attributes(&mut self.batch, setup, &state.screen);
            self.shade_color(state, shading, setup, *memory);
            if self.log.is_some() {
                self.record(state, setup);
            }
        }
        if let Some(alpha_test) = &state.alpha_test {
            alpha_test.run(&mut self.batch);
        }
        // Fog leaves alpha alone: the order of it and the alpha test does not matter.
        if !early && !self.test_depth(state, pixels, *memory) {
            return;
        }
        match &state.target {
            Target::None => {}
            Target::Color(output) => {
                if let Some(gas) = state.shading.as_ref().and_then(|shading| shading.gas.as_ref()) {
                    gas.run(&mut self.batch);
                }
                self.write(output, pixels, *memory);
            }
            Target::Shadow(map) => map.run(&self.batch, pixels, *memory),
            Target::Gas(gas) => gas.run(&self.batch, pixels, *memory),
        }
    }

    /// Stencil and depth test; whether a pixel is left.
    #[inline(always)]
    fn test_depth(&mut self, state: &State, pixels: &Pixels, memory: &mut dyn Memory) -> bool {
        if let Some(tests) = &state.depth_stencil {
            tests.run(&mut self.batch, pixels, memory);
        }
        !self.batch.is_dead()
    }

    #[cold]
    fn record(&mut self, state: &State, setup: &Setup) {
        let (batch, Some(log)) = (&self.batch, &mut self.log) else { return };
        log.extend((0..batch.len).map(|lane| {
            let [z, w] = interpolate::position(batch, setup, lane);
            let alpha = batch.color[3][lane];
            Fragment {
                attributes: batch.attributes.each_ref().map(|plane| plane[lane]),
                z,
                w,
                depth: batch.depth[lane],
                color: batch.color.each_ref().map(|plane| plane[lane] as u8),
                passes: state.alpha_test.is_none_or(|test| test.passes(alpha)),
            }
        }));
    }

    /// Colours of the batch, which needs attributes and depth.
    #[inline(always)]
    fn shade_color(&mut self, state: &State, shading: &Shading, setup: &Setup, memory: &dyn Memory) {
        if state.feedback {
            self.start_textures(shading);
        }
        let batch = &mut self.batch;
        if shading.primary {
            round_colors(batch);
        }
        for ((source, unit), cache) in shading.units.iter().zip(&mut self.textures) {
            if let Unit::Image(image) = unit {
                image.run(batch, *source, setup, cache, memory);
            }
        }
        if let Some(proctex) = &shading.proctex {
            proctex.run(batch);
        }
        if let Some(lighting) = &shading.lighting {
            lighting.run(batch, &mut self.lighting, &self.luts);
        }
        shading.program.run(batch);
        if let Some(fog) = &shading.fog {
            fog.run(batch);
        }
    }

    #[inline(always)]
    fn write(&mut self, output: &Output, pixels: &Pixels, memory: &mut dyn Memory) {
        let lanes = self.batch.lanes();
        let (batch, destination) = (&mut *self.batch, &mut self.destination.0);
        if output.reads_destination() {
            output.buffer.load(memory, pixels, destination);
        }
        output.mix(&mut batch.color, destination, lanes);
        output.buffer.store(memory, pixels, &batch.color, &batch.alive);
    }
}

/// Interpolated colours to 8 bits.
#[inline(always)]
fn round_colors(batch: &mut Batch) {
    let lanes = batch.lanes();
    let colors = &batch.attributes[semantic::COLOR..semantic::COLOR + 4];
    for (plane, values) in batch.planes[Source::Primary.plane()..].iter_mut().zip(colors) {
        let values = values[..lanes].as_chunks::<STEP>().0;
        for (to, from) in plane.as_chunks_mut::<STEP>().0.iter_mut().zip(values) {
            for i in 0..STEP {
                to[i] = (round_half_away(from[i] * 255.0) & 0xff) as u16;
            }
        }
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// Fragment of given attributes and depth, by the stages from the texture units to fog.
    pub fn shade(
        state: &State,
        tables: &Tables,
        memory: &dyn Memory,
        attributes: &[f32; semantic::COUNT],
        depth: f32,
    ) -> [u16; 4] {
        let mut pipeline = Pipeline::default();
        pipeline.start(state, tables);
        pipeline.batch.start(1);
        for (plane, value) in pipeline.batch.attributes.iter_mut().zip(attributes) {
            plane.fill(*value);
        }
        pipeline.batch.depth.fill(depth);
        if let Some(shading) = &state.shading {
            pipeline.shade_color(state, shading, &Setup::default(), memory);
        }
        pipeline.batch.color.each_ref().map(|plane| plane[0])
    }
}
