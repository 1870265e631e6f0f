//! The renderer on the host's GPU: binning, then programs that draw tiles; frames are those of the other engines, bit
//! for bit.
//!
//! Memory on the device is bounded by [`Options::memory`], whatever primitives cover. For a frame of W x H pixels, tiles of T
//! and batches of B primitives it is, in bytes:
//!
//! ```text
//! 8 W H                                       colours and depths
//! + guest memory + 136 states + 4
//! + 2 (192 B                                  two batches: primitives,
//!      + 4 (ceil(B/32) + ceil(B/1024)) ceil(W/T) ceil(H/T)      bitmaps of tiles,
//!      + 4 ceil(B/32) ceil(W/8T) ceil(H/8T)                     bitmaps of bins,
//!      + 32)                                                    sizes
//! ```
//!
//! and where shading is apart from depth and blending ([`Architecture::Split`]), with V variants of states, at most as many
//! as states:
//!
//! ```text
//! + (12 + 8 T T) I                            I tiles of primitives: items, shaded words
//! + 2 (4 ceil(B/32) ceil(W/T) ceil(H/T)       two batches: slots,
//!      + 280 V + 20)                                            lists
//!
//! I = min(max(2^21 / (T T), ceil(W/T) ceil(H/T)), B ceil(W/T) ceil(H/T))
//! ```
//!
//! The next batch is set up and handed over while the device draws the one before. Batches are smaller where a device's
//! buffers are, or where boxes of primitives touch more than I tiles.
//!
//! A [`DeviceFrame`] stays on the device from draw to draw ([`Renderer::draw_on`]); nothing is read back until
//! [`Renderer::read`], and nobody waits but for the batch before the last.

mod batch;
mod options;
mod split;
mod uber;

use self::batch::{Batch, Scene};
use self::split::{Plan, Split};
use self::uber::Uber;
use crate::cpu::Engine;
use crate::draw::Draw;
use crate::frame::{Frame, Memory, Targets};
use crate::program::{PRIMITIVE_WORDS, state_words};
use std::time::Duration;
use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Layout, Program};
use xenoglot_raster::host::{Binner, joining_of};
use xenoglot_raster::wgsl::Shape;

pub use self::options::{Architecture, Options};
pub use xenoglot_host::{Compilation, Error};
pub use xenoglot_raster::wgsl::Joining;

/// Colours and depths on the device, a word each, row by row.
#[derive(Debug)]
pub struct DeviceFrame {
    targets: Targets,
    colors: Buffer,
    depths: Buffer,
}

/// The renderer.
#[derive(Debug)]
pub struct Renderer {
    device: Device,
    options: Options,
    pipelines: Pipelines,
    clear_layout: Layout,
    clear: Program,
    binner: Binner,
    /// The guest's memory as it was when it had this stamp.
    memory: Option<(u64, Buffer)>,
    /// Bytes of batches that nobody has waited for.
    in_flight: u64,
    most_bytes: u64,
    /// What stages took, where they are measured.
    times: Option<Vec<(&'static str, Duration)>>,
}

/// What draws.
#[derive(Debug)]
enum Pipelines {
    Uber(Uber),
    Split(Box<Split>),
}

impl Renderer {
    /// Compiles the programs, which takes as long as the driver does.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses them.
    pub fn new(device: &Device, options: Options) -> Result<Renderer, Error> {
        let pipelines = match options.architecture {
            Architecture::Uber => Pipelines::Uber(Uber::new(device, options.tile)?),
            Architecture::Split(compilation) => {
                Pipelines::Split(Box::new(Split::new(device, options, compilation)?))
            }
        };
        let joining = options.joining.unwrap_or_else(|| joining_of(device));
        let binner = Binner::joining(device, options.tile, Shape::Edges, joining)?;
        let clear_layout =
            device.layout(&[Binding::new(0, Access::Read), Binding::new(1, Access::ReadWrite)]);
        let clear = device.wgsl_program(&clear_layout, include_str!("clear.wgsl"), "fill")?;
        Ok(Renderer {
            device: device.clone(),
            options,
            pipelines,
            clear_layout,
            clear,
            binner,
            memory: None,
            in_flight: 0,
            most_bytes: 0,
            times: None,
        })
    }

    /// Draws primitives and waits for them.
    ///
    /// # Errors
    /// What the device says; the frame is as it was before.
    pub fn draw(&mut self, frame: &mut Frame, memory: &Memory, draw: &Draw<'_>) -> Result<(), Error> {
        if draw.is_empty() || frame.size().contains(&0) {
            return Ok(());
        }
        let on_device = self.load(frame)?;
        self.draw_on(&on_device, memory, draw)?;
        self.read(&on_device, frame)
    }

    /// Draws primitives on the device; on the CPU where it fails, whose error is returned. The frame is the same.
    pub fn draw_or_redraw(
        &mut self,
        engine: &Engine,
        frame: &mut Frame,
        memory: &Memory,
        draw: &Draw<'_>,
    ) -> Option<Error> {
        let failed = self.draw(frame, memory, draw).err();
        if failed.is_some() {
            engine.draw(frame, memory, draw);
        }
        failed
    }

    /// Brings a frame to the device.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn load(&self, frame: &Frame) -> Result<DeviceFrame, Error> {
        let [colors, depths] = frame.words();
        let [colors, depths] = [self.device.buffer_of(&colors)?, self.device.buffer_of(&depths)?];
        Ok(DeviceFrame { targets: *frame.targets(), colors, depths })
    }

    /// Waits for what is drawn on a frame and brings it to one of the same size.
    ///
    /// # Errors
    /// What the device says; the frame is as it was before.
    pub fn read(&mut self, from: &DeviceFrame, frame: &mut Frame) -> Result<(), Error> {
        let bytes = from.colors.size();
        let read = self.device.read(&[(&from.colors, 0..bytes), (&from.depths, 0..bytes)])?;
        self.in_flight = 0;
        if let [colors, depths] = read.as_slice() {
            frame.set_words(colors, depths);
        }
        Ok(())
    }

    /// Fills the pictures of a frame, as [`Frame::clear`] does.
    ///
    /// # Errors
    /// What the device says.
    pub fn clear(&self, frame: &DeviceFrame, color: Option<u16>, depth: Option<u16>) -> Result<(), Error> {
        let mut commands = Commands::default();
        let Targets { color: colors, depth: depths } = frame.targets;
        let [stride, _] = frame.targets.size();
        for (surface, value, words) in [(colors, color, &frame.colors), (depths, depth, &frame.depths)] {
            let (Some(value), [columns, rows]) = (value, surface.size) else { continue };
            let clear = self.device.buffer_of(&[columns, stride, value.into()])?;
            let arguments = Arguments::new(&self.device, &self.clear_layout, &[&clear, words])?;
            commands.dispatch(&self.clear, &arguments, &[], [columns.div_ceil(64), rows, 1]);
        }
        commands.submit(&self.device)
    }

    /// Draws primitives on a frame. The device may still be drawing when this returns.
    ///
    /// # Errors
    /// What the device says; some of the primitives may be drawn.
    pub fn draw_on(&mut self, frame: &DeviceFrame, memory: &Memory, draw: &Draw<'_>) -> Result<(), Error> {
        let size = frame.targets.size();
        if draw.is_empty() || size.contains(&0) {
            return Ok(());
        }
        let states: Vec<u32> = draw.states().iter().flat_map(state_words).collect();
        let (plan, variant_of) = match &self.pipelines {
            Pipelines::Uber(_) => (Plan::default(), Vec::new()),
            Pipelines::Split(split) => split.plan(draw),
        };
        let scene = Scene {
            draw,
            edges: draw.edges(size),
            variant_of,
            colors: frame.colors.clone(),
            depths: frame.depths.clone(),
            states: self.device.buffer_of(&states)?,
            guest: self.upload(memory)?,
            sizes: self.device.buffer_of(&[memory.units().len() as u32 - 1])?,
        };
        let mut first = 0;
        while first < draw.len() {
            let grid = self.options.grid(size, self.batch(size, &scene, first));
            let mut commands = Commands::default();
            let batch = Batch::bin(&self.device, &self.binner, &mut commands, &scene, grid, first)?;
            let (shared, bytes) = match &mut self.pipelines {
                Pipelines::Uber(uber) => (0, uber.record(&self.device, &mut commands, &scene, &batch)?),
                Pipelines::Split(split) => {
                    let bytes = split.record(&self.device, &mut commands, &scene, &plan, &batch)?;
                    (split.bytes(), bytes)
                }
            };
            self.submit(&mut commands)?;
            let bytes = batch.bytes + bytes;
            self.most_bytes = self.most_bytes.max(scene.bytes() + shared + self.in_flight + bytes);
            if self.in_flight == 0 {
                self.in_flight = bytes;
            } else {
                self.device.wait()?;
                self.in_flight = 0;
            }
            first += grid.primitives as usize;
        }
        Ok(())
    }

    fn submit(&mut self, commands: &mut Commands) -> Result<(), Error> {
        let Some(times) = &mut self.times else { return commands.submit(&self.device) };
        for (stage, time) in commands.submit_timed(&self.device)? {
            match times.iter_mut().find(|(name, _)| *name == stage) {
                Some((_, sum)) => *sum += time,
                None => times.push((stage, time)),
            }
        }
        Ok(())
    }

    /// Begins or ends measuring stages by the device's clock, if it has one ([`Renderer::take_times`]). While it does, each
    /// batch is waited for, so that frames take longer.
    pub fn measure_stages(&mut self, on: bool) {
        self.times = on.then(Vec::new);
    }

    /// How long stages took since they were asked for last: `binning` and `drawing`, or `binning`, `sorting`, `shading` and
    /// `output`.
    pub fn take_times(&mut self) -> Vec<(&'static str, Duration)> {
        self.times.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Waits for all that was drawn.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::Device`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.device.wait()?;
        self.in_flight = 0;
        Ok(())
    }

    /// Most bytes that buffers had together while primitives were drawn.
    pub fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Primitives of the next batch: as many as there are and fit into buffers.
    fn batch(&self, size: [u32; 2], scene: &Scene<'_>, first: usize) -> u32 {
        let edges = scene.edges_from(first);
        let mut count = self.options.most().min(edges.len() as u32);
        while count > 32 {
            let grid = self.options.grid(size, count);
            let records = 4 * PRIMITIVE_WORDS as u64 * u64::from(count);
            if (4 * grid.words()).max(records) <= self.device.max_buffer() {
                break;
            }
            count = (count / 2).next_multiple_of(32);
        }
        match &self.pipelines {
            Pipelines::Uber(_) => count,
            Pipelines::Split(split) => {
                split.fitting(&self.options.grid(size, count), edges.get(..count as usize).unwrap_or(edges))
            }
        }
    }

    /// The guest's memory on the device.
    fn upload(&mut self, memory: &Memory) -> Result<Buffer, Error> {
        let stamp = memory.stamp();
        if let Some((held, buffer)) = &self.memory
            && *held == stamp
        {
            return Ok(buffer.clone());
        }
        let buffer = self.device.buffer_of(&memory.words())?;
        self.memory = Some((stamp, buffer.clone()));
        Ok(buffer)
    }
}
