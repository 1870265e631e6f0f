//! The renderer on the host's GPU: binning, then a program that draws tiles; frames are those of the other engines, bit
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
//! The next batch is set up and handed over while the device draws the one before. Batches are smaller where a device's
//! buffers are.
//!
//! A [`DeviceFrame`] stays on the device from draw to draw ([`Renderer::draw_on`]); nothing is read back until
//! [`Renderer::read`], and nobody waits but for the batch before the last.

use crate::draw::Draw;
use crate::frame::{Frame, Memory, Targets};
use crate::program::{PRIMITIVE_WORDS, batch_words, frame_words, state_words, uber};
use crate::rules::STATE_WORDS;
use xenoglot_host::{Access, Arguments, Binding, Buffer, Commands, Device, Layout, Program};
use xenoglot_raster::host::Binner;
use xenoglot_raster::wgsl::Shape;
use xenoglot_raster::{Edges, Grid};

pub use xenoglot_host::Error;

/// Primitives of a batch.
const BATCH: u32 = 16384;

/// How frames are drawn; they are the same for all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Pixels along a side of a tile: 8 or 16.
    pub tile: u32,
    /// Primitives of a batch at most.
    pub batch: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { tile: 8, batch: BATCH }
    }
}

impl Options {
    /// Most bytes on the device while primitives are drawn into a frame.
    pub fn memory(&self, size: [u32; 2], states: usize, guest: usize) -> u64 {
        let grid = Grid { size, primitives: self.batch.clamp(1, BATCH), tile: self.tile };
        let records = PRIMITIVE_WORDS as u64 * u64::from(grid.primitives);
        let batch = records + grid.words() + grid.bin_words() + 8;
        let pixels = 2 * u64::from(size[0]) * u64::from(size[1]);
        let state = (STATE_WORDS * states) as u64;
        4 * (pixels + state + 1 + 2 * batch) + guest as u64
    }
}

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
    layout: Layout,
    program: Program,
    clear_layout: Layout,
    clear: Program,
    binner: Binner,
    /// The guest's memory as it was when it had this stamp.
    memory: Option<(u64, Buffer)>,
    /// Bytes of batches that nobody has waited for.
    in_flight: u64,
    most_bytes: u64,
}

impl Renderer {
    /// Compiles the programs, which takes as long as the driver does.
    ///
    /// # Errors
    /// [`Error::Program`] if the driver refuses them.
    pub fn new(device: &Device, options: Options) -> Result<Renderer, Error> {
        let access = |number| if number == 5 || number == 6 { Access::ReadWrite } else { Access::Read };
        let bindings: Vec<Binding> = (0..8).map(|number| Binding::new(number, access(number))).collect();
        let layout = device.layout(&bindings);
        let program = device.program(&layout, uber(options.tile))?;
        let binner = Binner::with(device, options.tile, Shape::Edges)?;
        let clear_layout =
            device.layout(&[Binding::new(0, Access::Read), Binding::new(1, Access::ReadWrite)]);
        let clear = device.wgsl_program(&clear_layout, include_str!("clear.wgsl"), "fill")?;
        Ok(Renderer {
            device: device.clone(),
            options,
            layout,
            program,
            clear_layout,
            clear,
            binner,
            memory: None,
            in_flight: 0,
            most_bytes: 0,
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
        let guest = self.upload(memory)?;
        let DeviceFrame { colors, depths, .. } = frame;
        let states: Vec<u32> = draw.states().iter().flat_map(state_words).collect();
        let states = self.device.buffer_of(&states)?;
        let sizes = self.device.buffer_of(&[memory.units().len() as u32 - 1])?;
        let edges = draw.edges(size);
        let lasting: u64 = [&guest, colors, depths, &states, &sizes].map(Buffer::size).iter().sum();
        let mut first = 0;
        while first < draw.len() {
            let count = self.batch(size, draw.len() - first);
            let grid = Grid { size, primitives: count, tile: self.options.tile };
            let batch = edges.get(first..first + count as usize).unwrap_or_default();
            let mut commands = Commands::default();
            let bins = self.bin(&mut commands, &grid, draw, batch, first)?;
            let [primitives, tiles, _] = &bins;
            let frame = self.device.buffer_of(&frame_words(&grid))?;
            let buffers = [&frame, tiles, primitives, &states, &guest, colors, depths, &sizes];
            let arguments = Arguments::new(&self.device, &self.layout, &buffers)?;
            let [columns, rows] = grid.tiles();
            commands.dispatch(&self.program, &arguments, &[], [columns, rows, 1]);
            commands.submit(&self.device)?;
            // The binner has a buffer of the grid of its own, as large as the frame's.
            let bytes = bins.iter().map(Buffer::size).sum::<u64>() + 2 * frame.size();
            self.most_bytes = self.most_bytes.max(lasting + self.in_flight + bytes);
            if self.in_flight == 0 {
                self.in_flight = bytes;
            } else {
                self.device.wait()?;
                self.in_flight = 0;
            }
            first += count as usize;
        }
        Ok(())
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

    /// Records binning of a batch; its primitives, and the bitmaps of its tiles and bins.
    fn bin(
        &self,
        commands: &mut Commands,
        grid: &Grid,
        draw: &Draw<'_>,
        edges: &[Edges],
        first: usize,
    ) -> Result<[Buffer; 3], Error> {
        let device = &self.device;
        let records = batch_words(draw, edges, first);
        let records = device.buffer_of(&records)?;
        let [bins, tiles] = [device.buffer(4 * grid.bin_words())?, device.buffer(4 * grid.words())?];
        self.binner.record(device, commands, grid, (&records, PRIMITIVE_WORDS), &bins, &tiles)?;
        Ok([records, tiles, bins])
    }

    /// Primitives of the next batch: as many as there are and fit into buffers, at least 32.
    fn batch(&self, size: [u32; 2], left: usize) -> u32 {
        let mut count = self.options.batch.clamp(1, BATCH).min(left as u32);
        while count > 32 {
            let grid = Grid { size, primitives: count, tile: self.options.tile };
            let records = 4 * PRIMITIVE_WORDS as u64 * u64::from(count);
            if (4 * grid.words()).max(records) <= self.device.max_buffer() {
                break;
            }
            count = (count / 2).next_multiple_of(32);
        }
        count
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
