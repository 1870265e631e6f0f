//! A frame as a host draws it: vertices on the screen, the triangles of each draw, and the commands for every bin.

use super::bins::{Bin, bin_triangles};
use super::image::Image;
use super::picture::Picture;
use crate::command::{Command, Write, sig};
use crate::machine::Machine;
use crate::unit::triangle::ATTRIBUTE_BYTES;
use crate::wait::EndlessWait;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xenoglot_vpu::asm::AsmError;
use xenoglot_vpu::{MAX_PROGRAM_WORDS, TileFormat};

/// In which order tile buffers are filled, drawn into and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Buffering {
    /// One after the other.
    Single,
    /// While a bin is drawn, the bin before it is stored and the tile buffers of the next one are filled.
    #[default]
    Double,
}

/// A vertex as memory holds it: x and y in sixteenths of a pixel; depth as u0.16 and 1/w as u1.15; red, green, blue and
/// alpha as s1.14; the place in the texture as s1.14, then 1 if it has one, and 0. Without textures the last four are left
/// out.
pub type ScreenVertex = [i16; 12];

/// Triangles that are drawn with one texture and one program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Part {
    /// Corners, by number of the vertex.
    pub triangles: Vec<[u32; 3]>,
    /// Number of the texture, if there is one.
    pub texture: Option<usize>,
    /// Number of the program.
    pub program: usize,
}

/// A frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Pixels across and down, at most 1024 each.
    pub screen: [u16; 2],
    /// Vertices, at most 65536.
    pub vertices: Vec<ScreenVertex>,
    /// What is drawn, in order.
    pub parts: Vec<Part>,
    /// Textures; one at a time is texture 0 of the program.
    pub textures: Vec<Image>,
    /// Programs: attribute 1 is the colour, 2 the place in texture 0 if there are textures; tb0 is colour in RGB565, tb1
    /// depth.
    pub programs: Vec<Vec<u32>>,
    /// Order of the tile buffers.
    pub buffering: Buffering,
    /// Whether each bin is given only the triangles that touch it.
    pub binning: bool,
    /// Whether attributes are interpolated in perspective.
    pub perspective: bool,
    /// Whether bins are filled with two greys in turn, so that they are seen; all with one if not.
    pub checkerboard: bool,
}

/// Frames to draw.
pub trait Animation: Sync {
    /// How many there are before they repeat.
    fn frames(&self) -> u32;

    /// Frame `n`.
    fn scene(&self, n: u32) -> Scene;
}

/// What came of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The picture.
    pub picture: Picture,
    /// Ticks it took.
    pub ticks: u64,
}

/// A frame that is being drawn: what the host has still to write, and where the picture will be. With the machine's
/// [checkpoint](crate::checkpoint) it is drawn to its end elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// Writes that the FIFO has not taken.
    writes: Vec<Write>,
    screen: [u16; 2],
    /// Address of the picture, and bytes of a row.
    picture: u32,
    stride: u32,
    /// The tick it began in.
    start: u64,
}

impl Drawing {
    /// Goes on as [`Machine::run_until`]; gives whether the frame is drawn.
    ///
    /// # Errors
    /// A program that never ends.
    pub fn run_until(
        &mut self,
        machine: &mut Machine,
        before: u64,
        stop: impl FnMut(&Machine) -> bool,
    ) -> Result<bool, EndlessWait> {
        let mut rest = self.writes.as_slice();
        let done = machine.run_until(&mut rest, before, stop);
        let taken = self.writes.len() - rest.len();
        self.writes.drain(..taken);
        done
    }

    /// Draws the rest of the frame and reads the picture.
    ///
    /// # Errors
    /// A program that never ends.
    pub fn finish(mut self, machine: &mut Machine) -> Result<Frame, DemoError> {
        check_screen(self.screen)?;
        self.run_until(machine, u64::MAX, |_| false)?;
        let ticks = machine.now().saturating_sub(self.start);
        Ok(Frame { picture: self.read(machine.memory().bytes()), ticks })
    }

    fn read(&self, memory: &[u8]) -> Picture {
        let [width, height] = self.screen.map(u32::from);
        let pixel = |x: u32, y: u32| {
            let at = self.picture.wrapping_add(y.wrapping_mul(self.stride)).wrapping_add(2 * x) as usize;
            let v = memory.get(at..at + 2).map_or(0, |b| u32::from(u16::from_le_bytes([b[0], b[1]])));
            let wide = |v: u32, bits: u32| (v << (8 - bits) | v >> (2 * bits - 8)) as u8;
            [wide(v >> 11, 5), wide(v >> 5 & 63, 6), wide(v & 31, 5)]
        };
        let rgb = (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect();
        Picture { width, height, rgb }
    }
}

fn check_screen(screen: [u16; 2]) -> Result<(), DemoError> {
    let possible = screen.iter().all(|n| (1..=MAX_SCREEN).contains(n));
    if possible { Ok(()) } else { Err(DemoError::TooLarge("the screen")) }
}

/// Why a frame cannot be drawn.
#[derive(Debug, Error)]
pub enum DemoError {
    /// The model and the frame do not fit the machine's memory, or its 16-bit counts.
    #[error("the model does not fit: {0}")]
    TooLarge(&'static str),
    /// The machine waits for ever.
    #[error(transparent)]
    Endless(#[from] EndlessWait),
    /// The program does not assemble.
    #[error("program: {0}")]
    Asm(#[from] AsmError),
}

/// Bytes that each program has in memory.
const PROGRAM_BYTES: u32 = (MAX_PROGRAM_WORDS * 4) as u32;
/// Signals of the fills of colour and depth.
const COLOR_FILLED: u32 = sig::CLEAR_TILE;
const DEPTH_FILLED: u32 = 1 << 16;
/// The largest screen: coordinates of vertices have 11 bits, and models reach beyond it.
const MAX_SCREEN: u16 = 1024;
/// Most triangles of a draw.
const MAX_DRAWN: usize = u16::MAX as usize;

impl Scene {
    /// Draws it and reads the picture back.
    ///
    /// # Errors
    /// A frame too large, or a program that never ends.
    pub fn draw(&self, machine: &mut Machine) -> Result<Frame, DemoError> {
        self.begin(machine)?.finish(machine)
    }

    /// Puts it into memory, ready to be drawn.
    ///
    /// # Errors
    /// A frame too large.
    pub fn begin(&self, machine: &mut Machine) -> Result<Drawing, DemoError> {
        check_screen(self.screen)?;
        if self.vertices.len() > 1 << 16 {
            return Err(DemoError::TooLarge("more vertices than 16 bits count"));
        }
        let size = machine.params().bin_size as u16;
        let bins = self.bins(size);
        let layout = self.upload(machine, &bins)?;
        let writes = self.commands(&bins, &layout, size);
        let (screen, start) = (self.screen, machine.now());
        Ok(Drawing { writes, screen, picture: layout.picture, stride: layout.stride, start })
    }

    /// Attributes of a vertex, the position among them.
    fn attributes(&self) -> u8 {
        if self.textures.is_empty() { 2 } else { 3 }
    }

    /// Each bin's draws: a part and those of its triangles that touch the bin.
    fn bins(&self, size: u16) -> Vec<BinDraws<'_>> {
        let place = |i: u32| self.vertices.get(i as usize).map_or([0; 2], |v| [v[0], v[1]]);
        let all: Vec<(&Part, [u32; 3])> =
            self.parts.iter().flat_map(|part| part.triangles.iter().map(move |&t| (part, t))).collect();
        let corners: Vec<[[i16; 2]; 3]> = all.iter().map(|(_, t)| t.map(place)).collect();
        let mut bins = bin_triangles(self.screen, size, if self.binning { &corners } else { &[] });
        if !self.binning
            && let Some(first) = bins.first_mut()
        {
            // All bins share the first one's list.
            first.triangles = (0..all.len() as u32).collect();
        }
        let draws = |bin: Bin| {
            let touching: Vec<(&Part, [u32; 3])> =
                bin.triangles.iter().filter_map(|&t| all.get(t as usize).copied()).collect();
            let same = |a: &(&Part, _), b: &(&Part, _)| std::ptr::eq(a.0, b.0);
            let mut draws: Vec<(&Part, Vec<[u32; 3]>)> = Vec::new();
            for run in touching.chunk_by(same).flat_map(|run| run.chunks(MAX_DRAWN)) {
                draws.extend(run.first().map(|&(part, _)| (part, run.iter().map(|&(_, t)| t).collect())));
            }
            BinDraws { x: bin.x, y: bin.y, draws }
        };
        bins.into_iter().map(draws).collect()
    }

    /// Puts programs, vertices, textures and indices into memory, and finds a place for the picture.
    fn upload(&self, machine: &mut Machine, bins: &[BinDraws<'_>]) -> Result<Layout, DemoError> {
        let mut at = 0;
        let mut programs = Vec::new();
        for program in &self.programs {
            let mut bytes: Vec<u8> = program.iter().flat_map(|w| w.to_le_bytes()).collect();
            bytes.resize(PROGRAM_BYTES as usize, 0);
            programs.push(at);
            put(machine, &mut at, &bytes)?;
        }
        let vertices = at;
        let halves = usize::from(self.attributes()) * 4;
        let bytes: Vec<u8> =
            self.vertices.iter().flat_map(|v| &v[..halves]).flat_map(|v| v.to_le_bytes()).collect();
        put(machine, &mut at, &bytes)?;
        let mut textures = Vec::new();
        for image in &self.textures {
            textures.push(at);
            put(machine, &mut at, &image.encode())?;
        }
        let mut indices: Vec<Vec<u32>> = Vec::new();
        for bin in bins {
            let mut draws = Vec::new();
            for (_, triangles) in &bin.draws {
                draws.push(at);
                let bytes: Vec<u8> =
                    triangles.iter().flatten().flat_map(|&i| (i as u16).to_le_bytes()).collect();
                put(machine, &mut at, &bytes)?;
            }
            indices.push(draws);
        }
        let size = machine.params().bin_size;
        let [width, height] = self.screen.map(|n| u32::from(n).next_multiple_of(size));
        let layout = Layout { programs, vertices, indices, textures, picture: at, stride: 2 * width };
        if u64::from(at) + u64::from(layout.stride) * u64::from(height)
            > u64::from(machine.params().memory.bytes)
        {
            return Err(DemoError::TooLarge("memory is full"));
        }
        Ok(layout)
    }

    /// What goes into the FIFO.
    fn commands(&self, bins: &[BinDraws<'_>], layout: &Layout, size: u16) -> Vec<Write> {
        let state = (None, None);
        let mut out = List { writes: Vec::new(), scene: self, bins, layout, size, state };
        for tile in 0..4 {
            let format = if tile % 2 == 0 { TileFormat::Rgb565 } else { TileFormat::Z16 };
            out.push(Command::SetVpuTileFormat(tile, format));
        }
        let perspective = self.perspective;
        out.push(Command::SetTriangleVertexFormat { attributes: self.attributes(), perspective });
        out.push(Command::SetTriangleVertexDataAddr(layout.vertices));
        out.push(Command::SetTileStride(layout.stride));
        match self.buffering {
            Buffering::Single => {
                for bin in 0..bins.len() {
                    out.fill(bin, 0);
                    out.push(Command::SigWait(COLOR_FILLED | DEPTH_FILLED));
                    out.draw(bin, 0);
                    out.push(Command::SigWait(sig::TRIANGLES));
                    out.store(bin, 0);
                    out.push(Command::SigWait(sig::VPU_TILE0));
                }
            }
            Buffering::Double => {
                out.fill(0, 0);
                for bin in 0..bins.len() {
                    let (set, other) = (2 * (bin as u8 % 2), 2 * ((bin as u8 + 1) % 2));
                    out.push(Command::SigWait(COLOR_FILLED | DEPTH_FILLED));
                    out.draw(bin, set);
                    if bin > 0 {
                        out.push(Command::SigWait(sig::VPU_TILE0 << other));
                    }
                    if bin + 1 < bins.len() {
                        out.fill(bin + 1, other);
                    }
                    out.push(Command::SigWait(sig::TRIANGLES));
                    out.store(bin, set);
                }
                out.push(Command::SigWait(sig::VPU_TILE0 << (2 * ((bins.len() + 1) % 2))));
            }
        }
        out.writes
    }
}

/// A bin's first pixel and its draws.
struct BinDraws<'s> {
    x: u16,
    y: u16,
    draws: Vec<(&'s Part, Vec<[u32; 3]>)>,
}

/// Where things are in memory.
struct Layout {
    programs: Vec<u32>,
    vertices: u32,
    /// The indices of each bin's draws.
    indices: Vec<Vec<u32>>,
    textures: Vec<u32>,
    picture: u32,
    /// Bytes of a row.
    stride: u32,
}

/// Writes at the next burst.
fn put(machine: &mut Machine, at: &mut u32, bytes: &[u8]) -> Result<(), DemoError> {
    let memory = DemoError::TooLarge("memory is full");
    machine.memory_mut().write(*at, bytes).ok_or(memory)?;
    // What was written lies in memory, which has at most 64 MiB.
    *at = (*at + bytes.len() as u32).next_multiple_of(32);
    Ok(())
}

/// Commands that are gathered.
struct List<'a> {
    writes: Vec<Write>,
    scene: &'a Scene,
    bins: &'a [BinDraws<'a>],
    layout: &'a Layout,
    size: u16,
    /// The program that is loaded and the texture that is set.
    state: (Option<usize>, Option<usize>),
}

impl List<'_> {
    fn push(&mut self, command: Command) {
        self.writes.push(command.encode());
    }

    /// Fills the colour and depth buffers `set` and `set + 1`: with a checkerboard, every other bin has the
    /// other of two greys.
    fn fill(&mut self, bin: usize, set: u8) {
        let BinDraws { x, y, .. } = self.bins[bin];
        let light = self.scene.checkerboard && (x / self.size + y / self.size).is_multiple_of(2);
        let grey = if light { 0x5acb } else { 0x39c7 };
        self.push(Command::SetFillTileBufferValue(set, grey));
        self.push(Command::ExecFillTileBuffer { tile: set, sig: COLOR_FILLED });
        self.push(Command::SetFillTileBufferValue(set + 1, 0xffff));
        self.push(Command::ExecFillTileBuffer { tile: set + 1, sig: DEPTH_FILLED });
    }

    /// Starts the draws of a bin, the last of which is to be waited for: program and texture are those of all threads, so
    /// that they change between draws only.
    fn draw(&mut self, bin: usize, set: u8) {
        let BinDraws { x, y, .. } = self.bins[bin];
        self.push(Command::SetDrawTargets([set, set + 1, set, set + 1]));
        self.push(Command::SetBinTopLeft(x, y));
        let shared = if self.scene.binning { bin } else { 0 };
        let (draws, indices) = (&self.bins[shared].draws, &self.layout.indices[shared]);
        if draws.is_empty() {
            self.push(Command::SetTriangleCount(0));
            self.push(Command::ExecDrawTriangles { sig: sig::TRIANGLES });
        }
        for (n, ((part, triangles), &address)) in draws.iter().zip(indices).enumerate() {
            if n > 0 {
                self.push(Command::SigWait(sig::TRIANGLES));
            }
            self.prepare(part);
            self.push(Command::SetTriangleIndexDataAddr(address));
            self.push(Command::SetTriangleCount(triangles.len() as u16));
            self.push(Command::ExecDrawTriangles { sig: sig::TRIANGLES });
        }
    }

    /// Loads a part's program and sets its texture, where they are not there yet.
    fn prepare(&mut self, part: &Part) {
        if self.state.0 != Some(part.program)
            && let Some(&address) = self.layout.programs.get(part.program)
        {
            self.state.0 = Some(part.program);
            self.push(Command::SetVpuProgram(address));
            self.push(Command::ExecVpuProgramLoad { sig: sig::VPU_PROG });
            self.push(Command::SigWait(sig::VPU_PROG));
        }
        if let Some(texture) = part.texture
            && self.state.1 != Some(texture)
            && let Some((&address, image)) =
                self.layout.textures.get(texture).zip(self.scene.textures.get(texture))
        {
            self.state.1 = Some(texture);
            self.push(Command::SetTextureAddr(0, address));
            self.push(Command::SetTextureFormat(0, image.texture()));
        }
    }

    fn store(&mut self, bin: usize, set: u8) {
        let BinDraws { x, y, .. } = self.bins[bin];
        let address = self.layout.picture + u32::from(y) * self.layout.stride + 2 * u32::from(x);
        self.push(Command::SetVpuTileAddr(set, address));
        self.push(Command::ExecVpuTileStore { tile: set, sig: sig::VPU_TILE0 << set });
    }
}

// Vertices have a position, a colour and a place in the texture.
const _: () = assert!(ATTRIBUTE_BYTES * 3 == size_of::<ScreenVertex>() as u32);
