//! The demo: a model that turns before a checkerboard, bin by bin.

use super::bins::{Bin, bin_triangles};
use super::mesh::Mesh;
use super::picture::Picture;
use crate::command::{Command, Write, sig};
use crate::machine::Machine;
use crate::unit::triangle::ATTRIBUTE_BYTES;
use crate::wait::EndlessWait;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::f32::consts::TAU;
use thiserror::Error;
use xenoglot_vpu::asm::{AsmError, assemble};
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

/// A vertex as memory holds it; without a texture the last four are left out.
type Vertex = [i16; 12];

/// A demo.
#[derive(Clone, Debug, PartialEq)]
pub struct Demo {
    /// The model; it is best [`centred`](Mesh::centred).
    pub mesh: Mesh,
    /// The program: attribute 1 is the colour, 2 the place in texture 0 if the model has one, with 1 in lane z where the
    /// vertex has such a place; tb0 is colour in RGB565, tb1 depth.
    pub program: Vec<u32>,
    /// Pixels across and down, at most 1024 each.
    pub screen: [u16; 2],
    /// Frames of a whole turn.
    pub frames: u32,
    /// Order of the tile buffers.
    pub buffering: Buffering,
    /// Whether each bin is given only the triangles that touch it.
    pub binning: bool,
    /// Whether colours are interpolated in perspective.
    pub perspective: bool,
    /// Whether bins are filled with two greys in turn, so that they are seen; all with one if not.
    pub checkerboard: bool,
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

/// Draws fragments nearer than the depth in tb1.
pub const DEPTH_PROGRAM: &str = "\
    ldt   r2, tb1           ; depth so far
    swz   r3, r0.zzzz
    sub   r4.x, r2, r3
    kill  r4
    store tb0, r1
    store tb1, r3
    exit
";

/// Draws what is nearer than what tb1 holds, coloured by a texture where there is one and blended by its alpha over what
/// is there. Only what is opaque hides what comes later.
pub const TEXTURE_PROGRAM: &str = "\
    ldt   r4, tb1           ; depth so far
    swz   r5, r0.zzzz
    sub   r6.x, r4, r5
    kill  r6
    tex   r3, r2, t0
    swz   r6, r2.zzzz       ; has it a place in the texture?
    mul   r3, r3, r1
    sel   r1, r3, r1, r6
    swz   r7, r1.wwww       ; blended over what is there
    ldt   r8, tb0
    sub   r9, r1, r8
    mad   r8, r9, r7, r8
    store tb0, r8
    imm   r9, 0.9375
    sge   r9, r7, r9        ; is it opaque?
    sel   r4, r5, r4, r9
    store tb1, r4
    exit
";

const VERTICES: u32 = (MAX_PROGRAM_WORDS * 4) as u32;
/// Signals of the fills of colour and depth.
const COLOR_FILLED: u32 = sig::CLEAR_TILE;
const DEPTH_FILLED: u32 = 1 << 16;
/// Distance of the eye from the model's middle, and of the picture plane from the eye in half screens.
const EYE: f32 = 3.0;
const FOCAL: f32 = 2.6;
/// The largest screen: coordinates of vertices have 11 bits, and models reach beyond it.
const MAX_SCREEN: u16 = 1024;

impl Demo {
    /// The original's picture: 320 by 240 pixels, 200 frames, a model with depth, and with texture and blending where it
    /// has them.
    ///
    /// # Errors
    /// None that can happen: the program is ours.
    pub fn new(mesh: Mesh) -> Result<Demo, DemoError> {
        let plain = mesh.texture.is_none() && !mesh.triangles.iter().any(|t| mesh.is_translucent(t));
        let program = assemble(if plain { DEPTH_PROGRAM } else { TEXTURE_PROGRAM })?;
        let (screen, buffering) = ([320, 240], Buffering::default());
        Ok(Demo {
            mesh,
            program,
            screen,
            frames: 200,
            buffering,
            binning: true,
            perspective: true,
            checkerboard: true,
        })
    }

    /// Draws frame `n` of the turn and reads it back.
    ///
    /// # Errors
    /// A model too large, or a program that never ends.
    pub fn frame(&self, machine: &mut Machine, n: u32) -> Result<Frame, DemoError> {
        self.begin(machine, n)?.finish(machine)
    }

    /// Puts frame `n` of the turn into memory, ready to be drawn.
    ///
    /// # Errors
    /// A model too large.
    pub fn begin(&self, machine: &mut Machine, n: u32) -> Result<Drawing, DemoError> {
        let angle = TAU * (n % self.frames.max(1)) as f32 / self.frames.max(1) as f32;
        let vertices = self.project(angle);
        let triangles = self.painted(&vertices);
        let corners: Vec<[[i16; 2]; 3]> = triangles
            .iter()
            .map(|t| t.map(|i| vertices.get(i as usize).map_or([0; 2], |v| [v[0], v[1]])))
            .collect();
        let size = machine.params().bin_size as u16;
        let mut bins = bin_triangles(self.screen, size, &corners);
        if !self.binning {
            let all: Vec<u32> = (0..triangles.len() as u32).collect();
            bins.iter_mut().for_each(|b| b.triangles.clone_from(&all));
        }
        let layout = self.upload(machine, &vertices, &triangles, &bins)?;
        let writes = self.commands(&bins, &layout, size);
        let (screen, start) = (self.screen, machine.now());
        Ok(Drawing { writes, screen, picture: layout.picture, stride: layout.stride, start })
    }

    /// Attributes of a vertex, the position among them.
    fn attributes(&self) -> u8 {
        if self.mesh.texture.is_some() { 3 } else { 2 }
    }

    /// Triangles in the order of drawing: opaque ones, then those that are seen through, the farthest first.
    fn painted(&self, vertices: &[Vertex]) -> Vec<[u32; 3]> {
        let depth = |&i: &u32| vertices.get(i as usize).map_or(0, |v| u32::from(v[2] as u16));
        let mut triangles = self.mesh.triangles.clone();
        triangles.sort_by_key(|t| {
            let translucent = self.mesh.is_translucent(t);
            (translucent, Reverse(if translucent { t.iter().map(depth).sum::<u32>() } else { 0 }))
        });
        triangles
    }

    /// Vertices on the screen: x and y in sixteenths, depth, 1/w, four lanes of colour, four of the place in the texture.
    fn project(&self, angle: f32) -> Vec<Vertex> {
        let ((sin, cos), (tilt_sin, tilt_cos)) = (angle.sin_cos(), 0.5f32.sin_cos());
        let half = self.screen.map(|n| f32::from(n) / 2.0);
        let scale = half[0].min(half[1]) * FOCAL;
        let to_i16 = |v: f32| v.round() as i16;
        let to_u16 = |v: f32| v.round() as u16 as i16;
        let vertex = |p: &[f32; 3], c: &[f32; 4], t: Option<[f32; 2]>| {
            let (x, z) = (p[0] * cos + p[2] * sin, p[2] * cos - p[0] * sin);
            let (y, z) = (p[1] * tilt_cos - z * tilt_sin, p[1] * tilt_sin + z * tilt_cos);
            let w = (EYE - z).max(0.1);
            let depth = ((w - EYE + 1.5) / 3.0).clamp(0.0, 1.0) * 65535.0;
            let mut out = Vertex::default();
            out[0] = to_i16((half[0] + x / w * scale) * 16.0);
            out[1] = to_i16((half[1] - y / w * scale) * 16.0);
            out[2] = to_u16(depth);
            out[3] = to_u16((1.0 / w).min(1.0) * 32768.0);
            let place = t.map_or([0.0; 3], |[u, v]| [u, v, 1.0]);
            let lanes = c.iter().chain(&place);
            out[4..].iter_mut().zip(lanes).for_each(|(o, v)| *o = to_i16(v * 16384.0));
            out
        };
        let places = self.mesh.texcoords.iter().copied().chain(std::iter::repeat(None));
        self.mesh
            .positions
            .iter()
            .zip(&self.mesh.colors)
            .zip(places)
            .map(|((p, c), t)| vertex(p, c, t))
            .collect()
    }

    /// Puts program, vertices and indices into memory, and finds a place for the picture.
    fn upload(
        &self,
        machine: &mut Machine,
        vertices: &[Vertex],
        triangles: &[[u32; 3]],
        bins: &[Bin],
    ) -> Result<Layout, DemoError> {
        if vertices.len() > 1 << 16 || bins.iter().any(|b| b.triangles.len() > usize::from(u16::MAX)) {
            return Err(DemoError::TooLarge("more vertices or triangles than 16 bits count"));
        }
        check_screen(self.screen)?;
        let memory = DemoError::TooLarge("memory is full");
        let mut program: Vec<u8> = self.program.iter().flat_map(|w| w.to_le_bytes()).collect();
        program.resize(VERTICES as usize, 0);
        machine.memory_mut().write(0, &program).ok_or(memory)?;
        let halves = usize::from(self.attributes()) * 4;
        let bytes: Vec<u8> =
            vertices.iter().flat_map(|v| &v[..halves]).flat_map(|v| v.to_le_bytes()).collect();
        let mut at = VERTICES;
        put(machine, &mut at, &bytes)?;
        let texture = at;
        if let Some(image) = &self.mesh.texture {
            put(machine, &mut at, &image.encode())?;
        }
        let mut indices = Vec::new();
        for bin in bins {
            // Without binning all bins share one list.
            if !self.binning && !indices.is_empty() {
                indices.push(indices[0]);
                continue;
            }
            indices.push(at);
            let corners = bin.triangles.iter().filter_map(|&t| triangles.get(t as usize));
            let bytes: Vec<u8> = corners.flatten().flat_map(|&i| (i as u16).to_le_bytes()).collect();
            put(machine, &mut at, &bytes)?;
        }
        let size = machine.params().bin_size;
        let [width, height] = self.screen.map(|n| u32::from(n).next_multiple_of(size));
        let layout = Layout { indices, texture, picture: at, stride: 2 * width };
        if u64::from(at) + u64::from(layout.stride) * u64::from(height)
            > u64::from(machine.params().memory.bytes)
        {
            return Err(DemoError::TooLarge("memory is full"));
        }
        Ok(layout)
    }

    /// What goes into the FIFO.
    fn commands(&self, bins: &[Bin], layout: &Layout, size: u16) -> Vec<Write> {
        let checkerboard = self.checkerboard;
        let mut out = List { writes: Vec::new(), bins, layout, size, checkerboard };
        out.push(Command::SetVpuProgram(0));
        out.push(Command::ExecVpuProgramLoad { sig: sig::VPU_PROG });
        for tile in 0..4 {
            let format = if tile % 2 == 0 { TileFormat::Rgb565 } else { TileFormat::Z16 };
            out.push(Command::SetVpuTileFormat(tile, format));
        }
        let perspective = self.perspective;
        out.push(Command::SetTriangleVertexFormat { attributes: self.attributes(), perspective });
        if let Some(image) = &self.mesh.texture {
            out.push(Command::SetTextureAddr(0, layout.texture));
            out.push(Command::SetTextureFormat(0, image.texture()));
        }
        out.push(Command::SetTriangleVertexDataAddr(VERTICES));
        out.push(Command::SetTileStride(layout.stride));
        out.push(Command::SigWait(sig::VPU_PROG));
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

/// Where things are in memory.
struct Layout {
    /// Each bin's indices.
    indices: Vec<u32>,
    texture: u32,
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
    bins: &'a [Bin],
    layout: &'a Layout,
    size: u16,
    checkerboard: bool,
}

impl List<'_> {
    fn push(&mut self, command: Command) {
        self.writes.push(command.encode());
    }

    /// Fills the colour and depth buffers `set` and `set + 1`: with a checkerboard, every other bin has the
    /// other of two greys.
    fn fill(&mut self, bin: usize, set: u8) {
        let Bin { x, y, .. } = self.bins[bin];
        let light = self.checkerboard && (x / self.size + y / self.size).is_multiple_of(2);
        let grey = if light { 0x5acb } else { 0x39c7 };
        self.push(Command::SetFillTileBufferValue(set, grey));
        self.push(Command::ExecFillTileBuffer { tile: set, sig: COLOR_FILLED });
        self.push(Command::SetFillTileBufferValue(set + 1, 0xffff));
        self.push(Command::ExecFillTileBuffer { tile: set + 1, sig: DEPTH_FILLED });
    }

    fn draw(&mut self, bin: usize, set: u8) {
        let Bin { x, y, ref triangles } = self.bins[bin];
        let count = triangles.len() as u16;
        self.push(Command::SetDrawTargets([set, set + 1, set, set + 1]));
        self.push(Command::SetBinTopLeft(x, y));
        self.push(Command::SetTriangleIndexDataAddr(self.layout.indices[bin]));
        self.push(Command::SetTriangleCount(count));
        self.push(Command::ExecDrawTriangles { sig: sig::TRIANGLES });
    }

    fn store(&mut self, bin: usize, set: u8) {
        let Bin { x, y, .. } = self.bins[bin];
        let address = self.layout.picture + u32::from(y) * self.layout.stride + 2 * u32::from(x);
        self.push(Command::SetVpuTileAddr(set, address));
        self.push(Command::ExecVpuTileStore { tile: set, sig: sig::VPU_TILE0 << set });
    }
}

// Vertices of the demo have a position, a colour and a place in the texture.
const _: () = assert!(ATTRIBUTE_BYTES * 3 == size_of::<Vertex>() as u32);
