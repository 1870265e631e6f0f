//! Captures of the PICA200 as frames for this machine, so that what it is given has the shape of real games' frames.
//!
//! The capture is played with the PICA's own renderer; triangles are taken where they reach its clipper: transformed and
//! assembled. Kept are positions, depth, colours of vertices or of the combiners' constant, and texture 0 where a combiner
//! reads it; triangles are clipped to the viewport, culled, and drawn in the capture's order, opaque or blended by alpha.
//! The rest of the PICA's fragment stages (further textures, lighting, fog, stencil) has no counterpart here.

use super::demo::{TEXTURE_PROGRAM, UNTESTED_PROGRAM};
use super::image::Image;
use super::picture::Picture;
use super::scene::{Animation, Buffering, Part, Scene, ScreenVertex};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use thiserror::Error;
use xenoglot_capture::Capture;
use xenoglot_pica::memory::Memory;
use xenoglot_pica::raster::Renderer as Software;
use xenoglot_pica::regs::{self, Registers};
use xenoglot_pica::renderer::{Draw, OutOfPixels, Renderer};
use xenoglot_pica::replay::{Error as ReplayError, Limits, Player};
use xenoglot_pica::texture::{Format, Texture, TileCache};
use xenoglot_pica::vertex::Vertex;
use xenoglot_pica_shader::float::F24;
use xenoglot_vpu::asm::{AsmError, assemble};

/// Bounds on what is taken of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilmLimits {
    /// Frames; those after are left out.
    pub frames: usize,
    /// Triangles of a frame; those after are left out.
    pub triangles: usize,
    /// Triangles of all frames; frames after those are left out.
    pub all_triangles: usize,
    /// Textures of a frame; draws with others are drawn without.
    pub textures: usize,
    /// Texels of the different textures of all frames, as they are kept; draws with further ones are drawn without.
    pub texels: usize,
    /// What playing may take.
    pub replay: Limits,
}

impl Default for FilmLimits {
    fn default() -> FilmLimits {
        FilmLimits {
            frames: 1000,
            triangles: 1 << 17,
            all_triangles: 1 << 22,
            textures: 64,
            texels: 1 << 26,
            replay: Limits::default(),
        }
    }
}

/// Why a capture is not converted.
#[derive(Debug, Error)]
pub enum FilmError {
    /// It cannot be played.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// It shows no frame.
    #[error("the capture shows no frame")]
    NoFrames,
    /// Our own program does not assemble.
    #[error("program: {0}")]
    Asm(#[from] AsmError),
}

/// Frames of a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    /// Frames.
    pub scenes: Vec<Scene>,
    /// What the capture itself shows, for comparison.
    pub shown: Vec<Picture>,
    /// What was left out, for people.
    pub notes: Vec<String>,
}

impl Animation for Film {
    fn frames(&self) -> u32 {
        self.scenes.len() as u32
    }

    fn scene(&self, n: u32) -> Scene {
        let n = n as usize % self.scenes.len().max(1);
        match self.scenes.get(n) {
            Some(scene) => scene.clone(),
            None => empty([1, 1], Vec::new()),
        }
    }
}

fn empty(screen: [u16; 2], programs: Vec<Vec<u32>>) -> Scene {
    Scene {
        screen,
        vertices: Vec::new(),
        parts: Vec::new(),
        textures: Vec::new(),
        programs,
        buffering: Buffering::Double,
        binning: true,
        perspective: true,
        checkerboard: false,
    }
}

/// Plays a capture and takes its frames.
///
/// # Errors
/// One that cannot be played, or shows nothing.
pub fn load_capture(capture: &Capture, limits: &FilmLimits) -> Result<Film, FilmError> {
    let programs = vec![assemble(TEXTURE_PROGRAM)?, assemble(UNTESTED_PROGRAM)?];
    let mut film = Film { scenes: Vec::new(), shown: Vec::new(), notes: Vec::new() };
    let frame = Rc::new(RefCell::new(Taken::default()));
    let taker = Taker { inner: Software::default(), frame: frame.clone(), limits: *limits };
    let mut player = Player::new(capture, taker, limits.replay)?;
    let mut triangles = 0;
    while film.scenes.len() < limits.frames {
        if triangles > limits.all_triangles {
            film.notes.push(format!(
                "more triangles than {}: frames after them are left out",
                limits.all_triangles
            ));
            break;
        }
        let Some(shown) = player.next_frame() else { break };
        let shown = shown?;
        let taken = frame.take();
        triangles += taken.triangles;
        film.notes.extend_from_slice(&taken.notes);
        film.scenes.push(taken.scene(&programs, [shown.width, shown.height]));
        frame.borrow_mut().library = taken.library;
        let rgb = shown.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        film.shown.push(Picture { width: shown.width, height: shown.height, rgb });
    }
    film.notes.sort();
    film.notes.dedup();
    if film.scenes.is_empty() { Err(FilmError::NoFrames) } else { Ok(film) }
}

/// Draws, and keeps what it is given.
struct Taker {
    inner: Software,
    frame: Rc<RefCell<Taken>>,
    limits: FilmLimits,
}

/// What of a frame was taken.
#[derive(Default)]
struct Taken {
    draws: Vec<TakenDraw>,
    triangles: usize,
    textures: Vec<Image>,
    /// Bytes of textures that were looked at.
    looked_at: u64,
    /// Textures of the frame by what they are made of.
    known: HashMap<u64, usize>,
    /// Those of all frames, and how many texels they have.
    library: (HashMap<u64, Image>, usize),
    notes: Vec<String>,
}

struct TakenDraw {
    /// Address of the colour buffer, its width and height.
    target: (u32, [u32; 2]),
    texture: Option<usize>,
    tested: bool,
    triangles: Vec<[Corner; 3]>,
}

/// A vertex on the framebuffer, y upwards.
#[derive(Clone, Copy)]
struct Corner {
    x: f32,
    y: f32,
    depth: f32,
    reciprocal: f32,
    color: [f32; 4],
    place: [f32; 2],
}

impl Renderer for Taker {
    fn draw(&mut self, mut draw: Draw<'_>) -> Result<(), OutOfPixels> {
        self.frame.borrow_mut().take(&draw, &self.limits);
        self.inner.draw(draw.again())
    }

    xenoglot_pica::forward_renderer!(inner);
}

/// Bytes of textures that are looked at in a frame: each draw's texture may have changed since the last.
const MAX_TEXTURE_BYTES: u64 = 1 << 30;

/// First registers of the combiners' stages.
const STAGES: [u32; 6] =
    [regs::COMBINER0, regs::COMBINER1, regs::COMBINER2, regs::COMBINER3, regs::COMBINER4, regs::COMBINER5];
/// Sources of combiners.
const PRIMARY: u32 = 0;
const TEXTURE: u32 = 3;
const CONSTANT: u32 = 14;

/// What the combiners read: vertices' colours, texture 0, and else a constant.
struct Sources {
    primary: bool,
    texture: bool,
    constant: Option<[f32; 4]>,
}

impl Sources {
    fn decode(registers: &Registers) -> Sources {
        let mut sources = Sources { primary: false, texture: false, constant: None };
        for stage in STAGES {
            // Operations that read one and three sources; the others read two.
            let operands = match registers.bits(stage + 2, 0, 4) {
                0 => 1,
                4 | 8 | 9 => 3,
                _ => 2,
            };
            for n in 0..operands {
                match registers.bits(stage, 4 * n, 4) {
                    PRIMARY => sources.primary = true,
                    TEXTURE => sources.texture = true,
                    CONSTANT if sources.constant.is_none() => {
                        let byte = |n: u32| registers.bits(stage + 3, 8 * n, 8) as f32 / 255.0;
                        sources.constant = Some(std::array::from_fn(|n| byte(n as u32)));
                    }
                    _ => {}
                }
            }
        }
        sources
    }
}

impl Taken {
    fn take(&mut self, draw: &Draw<'_>, limits: &FilmLimits) {
        let registers = draw.regs;
        let float = |register: u32| F24.to_f32(registers.get(register));
        let half = [float(regs::VIEWPORT_HALF_WIDTH), float(regs::VIEWPORT_HALF_HEIGHT)];
        let signed = |lo: u32| ((registers.bits(regs::VIEWPORT_CORNER, lo, 10) << 22) as i32 >> 22) as f32;
        let corner = [signed(0), signed(16)];
        let [scale, offset] = [float(regs::DEPTH_SCALE), float(regs::DEPTH_OFFSET)];
        let tested = registers.bit(regs::DEPTH_TEST, 0) && registers.bits(regs::DEPTH_TEST, 4, 3) != 1;
        // With "greater" the far end is the near one.
        let turned = tested && registers.bits(regs::DEPTH_TEST, 4, 3) >= 6;
        let blended = registers.bit(regs::FRAGMENT_MODE, 8) && registers.bits(regs::BLENDING, 20, 4) != 0;
        let cutout = registers.bit(regs::ALPHA_TEST, 0);
        let sources = Sources::decode(registers);
        let texture = match sources.texture {
            true => self.texture(registers, draw.memory, blended || cutout, limits),
            false => None,
        };
        let keep = registers.bits(regs::CULLING, 0, 2);
        let mut triangles = Vec::new();
        for triangle in draw.triangles.iter() {
            let polygon = clip(triangle);
            let color = |v: &Vertex| {
                let own = [v.values[8], v.values[9], v.values[10], v.values[11]];
                let [r, g, b, a] = if sources.primary { own } else { sources.constant.unwrap_or([1.0; 4]) };
                [r, g, b, if blended { a } else { 1.0 }]
            };
            let corners: Vec<Corner> = polygon
                .iter()
                .map(|v| {
                    let [x, y, z, w] = [v.values[0], v.values[1], v.values[2], v.values[3]];
                    let depth = (z / w * scale + offset).clamp(0.0, 1.0);
                    Corner {
                        x: (x / w + 1.0) * half[0] + corner[0],
                        y: (y / w + 1.0) * half[1] + corner[1],
                        depth: if turned { 1.0 - depth } else { depth },
                        reciprocal: 1.0 / w,
                        color: color(v),
                        // The first row in memory is the top one.
                        place: [v.values[12], 1.0 - v.values[13]],
                    }
                })
                .collect();
            for n in 2..corners.len() {
                let t = [corners[0], corners[n - 1], corners[n]];
                let area = (t[1].x - t[0].x) * (t[2].y - t[0].y) - (t[1].y - t[0].y) * (t[2].x - t[0].x);
                let kept = match keep {
                    1 => area < 0.0,
                    2 => area > 0.0,
                    _ => area != 0.0,
                };
                if kept && t.iter().all(Corner::is_finite) && self.triangles < limits.triangles {
                    self.triangles += 1;
                    triangles.push(t);
                }
            }
        }
        if self.triangles >= limits.triangles {
            self.note(format!("more triangles than {} in a frame", limits.triangles));
        }
        let size = [
            registers.bits(regs::FRAMEBUFFER_SIZE, 0, 11),
            registers.bits(regs::FRAMEBUFFER_SIZE, 12, 10) + 1,
        ];
        let target = (registers.get(regs::COLOR_ADDRESS), size);
        if !triangles.is_empty() {
            self.draws.push(TakenDraw { target, texture, tested, triangles });
        }
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < 16 && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Texture 0 as an image, if it is a flat one.
    fn texture(
        &mut self,
        registers: &Registers,
        memory: &dyn Memory,
        alpha: bool,
        limits: &FilmLimits,
    ) -> Option<usize> {
        let [size, parameters, address] = [regs::TEXTURE0 + 1, regs::TEXTURE0 + 2, regs::TEXTURE0 + 4];
        if !registers.bit(regs::TEXTURE_UNITS, 0) || registers.bits(parameters, 28, 3) != 0 {
            return None;
        }
        let format = Format::from_number(registers.bits(regs::TEXTURE0_FORMAT, 0, 4))?;
        let (height, width) = (registers.bits(size, 0, 11), registers.bits(size, 16, 11));
        let texture = Texture { address: registers.bits(address, 0, 28) << 3, width, height, format };
        if texture.address == 0 || width == 0 || height == 0 {
            return None;
        }
        self.looked_at += u64::from(texture.bytes());
        if self.looked_at > MAX_TEXTURE_BYTES {
            self.note(format!(
                "more than {MAX_TEXTURE_BYTES} bytes of textures in a frame, counted once a draw"
            ));
            return None;
        }
        let bytes = memory.bytes(texture.address, texture.bytes())?;
        let mut hasher = DefaultHasher::new();
        (width, height, registers.bits(regs::TEXTURE0_FORMAT, 0, 4), alpha, bytes).hash(&mut hasher);
        let key = hasher.finish();
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        if self.textures.len() >= limits.textures {
            self.note(format!("more textures than {} in a frame", limits.textures));
            return None;
        }
        let image = match self.library.0.get(&key) {
            Some(image) => image.clone(),
            None if self.library.1 > limits.texels => {
                self.note(format!("more texels than {}", limits.texels));
                return None;
            }
            None => {
                let image = decode(&texture, memory, alpha);
                self.library.1 += image.texels().len();
                self.library.0.insert(key, image.clone());
                image
            }
        };
        self.textures.push(image);
        self.known.insert(key, self.textures.len() - 1);
        Some(self.textures.len() - 1)
    }

    /// The draws of the colour buffer that is shown, as a scene of so many pixels: of buffers of that size, upright or on their
    /// side, the one with most triangles.
    fn scene(&self, programs: &[Vec<u32>], shown: [u32; 2]) -> Scene {
        let [width, height] = shown;
        let mut counts: Vec<((u32, [u32; 2]), usize)> = Vec::new();
        for draw in &self.draws {
            match counts.iter_mut().find(|(target, _)| *target == draw.target) {
                Some((_, count)) => *count += draw.triangles.len(),
                None => counts.push((draw.target, draw.triangles.len())),
            }
        }
        let fits = |size: [u32; 2]| size == [width, height] || size == [height, width];
        let target = counts.iter().max_by_key(|((_, size), count)| (fits(*size), *count)).map(|(t, _)| *t);
        let Some((address, size)) = target else {
            return empty([width, height].map(|n| n.clamp(1, 1024) as u16), programs.to_vec());
        };
        let on_its_side = size == [height, width] && size != [width, height];
        let screen = if on_its_side { [size[1], size[0]] } else { size };
        let mut scene = empty(screen.map(|n| n.clamp(1, 1024) as u16), programs.to_vec());
        scene.textures.clone_from(&self.textures);
        let mut vertices = Vertices::default();
        for draw in self.draws.iter().filter(|d| d.target == (address, size)) {
            // 1/w of a draw has any scale; its ratios are what counts.
            let corners = || draw.triangles.iter().flatten();
            let most = corners().map(|c| c.reciprocal).fold(f32::MIN_POSITIVE, f32::max);
            let triangle = |t: &[Corner; 3]| {
                // Textures repeat: the least place of a triangle is brought to between 0 and 1.
                let low: [f32; 2] = std::array::from_fn(|n| {
                    t.iter().map(|c| c.place[n]).fold(f32::INFINITY, f32::min).floor()
                });
                t.map(|c| {
                    let [x, y] = match on_its_side {
                        // What is shown of it is turned to the left, and its rows count from below.
                        true => [size[1] as f32 - c.y, size[0] as f32 - c.x],
                        false => [c.x, size[1] as f32 - c.y],
                    };
                    vertices.number(&vertex([x, y], &c, most, low, draw.texture.is_some()))
                })
            };
            let triangles = draw.triangles.iter().map(triangle).collect();
            let part = Part { triangles, texture: draw.texture, program: usize::from(!draw.tested) };
            // Draws of one kind that follow each other are one.
            match scene.parts.last_mut() {
                Some(last) if (last.texture, last.program) == (part.texture, part.program) => {
                    last.triangles.extend(part.triangles);
                }
                _ => scene.parts.push(part),
            }
        }
        scene.vertices = vertices.all;
        scene
    }
}

/// A texture's picture, with its alpha or without.
fn decode(texture: &Texture, memory: &dyn Memory, alpha: bool) -> Image {
    let Texture { width, height, .. } = *texture;
    let mut cache = TileCache::default();
    cache.start(texture.tiles());
    let row = texture.tiles_per_row();
    let mut texels = vec![0u32; (width * height) as usize];
    for tile in 0..texture.tiles() {
        let (left, top) = (tile % row * 8, tile / row * 8);
        for (n, &texel) in (0..).zip(cache.tile(memory, texture, 0, tile)) {
            let (x, y) = (left + n % 8, top + n / 8);
            if x < width && y < height {
                texels[(y * width + x) as usize] = texel;
            }
        }
    }
    let pixel = |x: u32, y: u32| {
        let [r, g, b, a] = texels.get((y * width + x) as usize).map_or([0; 4], |t| t.to_le_bytes());
        [r, g, b, if alpha { a } else { 255 }]
    };
    Image::new(width, height, pixel)
}

impl Corner {
    fn is_finite(&self) -> bool {
        [self.x, self.y, self.depth, self.reciprocal].iter().chain(&self.place).all(|v| v.is_finite())
    }
}

fn vertex([x, y]: [f32; 2], c: &Corner, most: f32, low: [f32; 2], textured: bool) -> ScreenVertex {
    // Casts of floats saturate.
    let signed = |v: f32| v.round() as i16;
    let unsigned = |v: f32| v.round() as u16 as i16;
    let mut out = ScreenVertex::default();
    [out[0], out[1]] = [signed(x * 16.0), signed(y * 16.0)];
    out[2] = unsigned(c.depth * 65535.0);
    out[3] = unsigned((c.reciprocal / most * 32768.0).max(1.0));
    for (o, v) in out[4..8].iter_mut().zip(c.color) {
        *o = signed(v.clamp(0.0, 1.0) * 16384.0);
    }
    if textured {
        for (n, o) in out[8..10].iter_mut().enumerate() {
            *o = signed((c.place[n] - low[n]) * 16384.0);
        }
        out[10] = 16384;
    }
    out
}

/// Vertices, each once.
#[derive(Default)]
struct Vertices {
    all: Vec<ScreenVertex>,
    known: HashMap<ScreenVertex, u32>,
}

impl Vertices {
    fn number(&mut self, vertex: &ScreenVertex) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.known.entry(*vertex).or_insert(next);
        if number == next {
            self.all.push(*vertex);
        }
        number
    }
}

/// The part of a triangle in the viewport: x and y from -w to w, z from -w to 0, w positive. At most ten corners.
fn clip(triangle: [&Vertex; 3]) -> Vec<Vertex> {
    const PLANES: [[f32; 5]; 7] = [
        [0.0, 0.0, 0.0, 1.0, -1e-6],
        [1.0, 0.0, 0.0, 1.0, 0.0],
        [-1.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 1.0, 0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, -1.0, 0.0, 0.0],
    ];
    let mut polygon = triangle.map(|vertex| *vertex).to_vec();
    for [a, b, c, d, e] in PLANES {
        let inside = |v: &Vertex| v.values[0] * a + v.values[1] * b + v.values[2] * c + v.values[3] * d + e;
        let mut out = Vec::with_capacity(polygon.len() + 1);
        for (n, v) in polygon.iter().enumerate() {
            let next = &polygon[(n + 1) % polygon.len()];
            let (here, there) = (inside(v), inside(next));
            if here >= 0.0 {
                out.push(*v);
            }
            if (here >= 0.0) != (there >= 0.0) {
                let part = here / (here - there);
                let values = std::array::from_fn(|k| v.values[k] + (next.values[k] - v.values[k]) * part);
                out.push(Vertex { values });
            }
        }
        polygon = out;
    }
    polygon
}
