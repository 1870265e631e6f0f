//! Models as scenes: triangles with textures before a camera become the scene that draws them.
//!
//! ```
//! use xenoglot_warp::model::{Corner, Model, Triangle, View};
//!
//! let corner = |x, y, color| Corner { position: [x, y, 0.0], color, uv: [0.0; 2] };
//! let corners = [corner(-1.0, -1.0, [1.0, 0.0, 0.0, 1.0]), corner(1.0, -1.0, [1.0; 4]), corner(0.0, 1.0, [1.0; 4])];
//! let model = Model { triangles: vec![Triangle { corners, texture: None }], textures: Vec::new() };
//! let scene = model.scene(&View { size: [64, 48], ..View::default() })?;
//! assert_eq!(scene.passes.len(), 1);
//! assert!(scene.primitives.len() >= 1);
//! # Ok::<(), xenoglot_warp::model::Error>(())
//! ```

use crate::clip::{self, Viewport};
use crate::frame::{MEMORY_BYTES, MOST_PIXELS, Surface, Targets};
use crate::golden::{Pass, Scene};
use crate::setup::{Cull, Vertex};
use crate::state::{DepthTest, Fog, LEVELS, RenderState, blend, combiner, depth, format};
use thiserror::Error;

/// Why a model is no scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The frame is empty or too large.
    #[error("a frame of {}x{} pixels is not between 1x1 and {MOST_PIXELS}x{MOST_PIXELS}", size[0], size[1])]
    Size {
        /// Columns and rows.
        size: [u32; 2],
    },
    /// A side of a texture is no power of two up to 256, or there are not as many texels as its sides say.
    #[error("texture {texture} has no sides that are powers of two up to 256, or not all its texels")]
    Texture {
        /// Its number.
        texture: usize,
    },
    /// A triangle's texture is not there.
    #[error("triangle {triangle} has a texture that is not there")]
    NoTexture {
        /// Its number.
        triangle: usize,
    },
    /// Frame and textures do not fit into the memory.
    #[error("frame and textures take more than {MEMORY_BYTES} bytes")]
    Memory,
    /// States have numbers of 16 bits.
    #[error("more than 65536 states")]
    States,
}

/// A triangle's corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner {
    /// Where it is; y is up.
    pub position: [f32; 3],
    /// Red, green, blue and alpha, 0 to 1.
    pub color: [f32; 4],
    /// Its place in the texture: 0 to 1 from left to right and from top to bottom, repeated beyond.
    pub uv: [f32; 2],
}

/// A triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Triangle {
    /// Its corners.
    pub corners: [Corner; 3],
    /// The number of its texture, by which colours are multiplied.
    pub texture: Option<usize>,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texture {
    /// Texels of a row, and rows: powers of two up to 256.
    pub size: [u32; 2],
    /// Red, green, blue and alpha, row by row.
    pub texels: Vec<[u8; 4]>,
}

/// Triangles and their textures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The triangles.
    pub triangles: Vec<Triangle>,
    /// The textures.
    pub textures: Vec<Texture>,
}

/// The frame and the camera, which looks at the middle of the model from where all of it is in the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Columns and rows.
    pub size: [u32; 2],
    /// How far the model is turned about the vertical axis, in degrees.
    pub turn: f32,
    /// How far the camera looks down, in degrees.
    pub down: f32,
    /// How near the camera is: 2 is half as far as where all of the model is in the frame.
    pub zoom: f32,
    /// The colour behind the model, red, green and blue; fog goes over to it.
    pub background: [u8; 3],
    /// Whether there is fog.
    pub fog: bool,
}

impl Default for View {
    fn default() -> View {
        let background = [72, 96, 128];
        View { size: [640, 480], turn: 30.0, down: 25.0, zoom: 1.0, background, fog: false }
    }
}

/// A loaded model. Triangles have a texture where all of their corners have a place in it.
#[cfg(feature = "gltf")]
impl From<&xenoglot_dragon::host::Mesh> for Model {
    fn from(mesh: &xenoglot_dragon::host::Mesh) -> Model {
        let textures = mesh.textures.iter();
        let textures = textures.map(|image| Texture { size: image.size(), texels: image.texels().to_vec() });
        let corner = |index: u32| {
            let index = index as usize;
            let texcoord = mesh.texcoords.get(index).copied().flatten();
            let position = mesh.positions.get(index).copied().unwrap_or_default();
            let color = mesh.colors.get(index).copied().unwrap_or([1.0; 4]);
            (Corner { position, color, uv: texcoord.unwrap_or_default() }, texcoord.is_some())
        };
        let triangle = |(triangle, surface): (&[u32; 3], &u16)| {
            let corners = triangle.map(corner);
            let texture = mesh.materials.get(usize::from(*surface)).and_then(|material| material.texture);
            let has_places = corners.iter().all(|(_, has_place)| *has_place);
            let corners = corners.map(|(corner, _)| corner);
            Triangle { corners, texture: texture.filter(|_| has_places) }
        };
        Model {
            triangles: mesh.triangles.iter().zip(&mesh.surfaces).map(triangle).collect(),
            textures: textures.collect(),
        }
    }
}

/// Longest side of a texture, as a shift.
const LONGEST: u32 = 8;
/// Bytes of a unit of 16 bits.
const UNIT: usize = 2;
/// Units along a side of a block of a texture.
const BLOCK: u32 = 8;
/// Half the angle of view up and down, as its tangent.
const TANGENT: f32 = 0.45;
/// What part of a surface's colour is there without light, and from where the light comes.
const AMBIENT: f32 = 0.4;
const LIGHT: [f32; 3] = [0.36, 0.8, 0.48];

/// A texture in memory.
struct Placed {
    state: RenderState,
    size: [f32; 2],
}

impl Model {
    /// The scene of one pass that draws the model: opaque triangles, then translucent ones from the back to the front. It
    /// compares colours.
    ///
    /// # Errors
    /// See [`enum@Error`].
    pub fn scene(&self, view: &View) -> Result<Scene, Error> {
        let [width, height] = view.size;
        if view.size.iter().any(|pixels| !(1..=MOST_PIXELS).contains(pixels)) {
            return Err(Error::Size { size: view.size });
        }
        let bytes = 2 * width * height;
        let surface = |offset| Surface { offset, size: view.size, stride: 2 * width };
        let mut uploads = Vec::new();
        let base = RenderState {
            scissor: [0, 0, width as i16, height as i16],
            depth: DepthTest::LessEqual as u8 | depth::WRITE,
            combiner: combiner::COLOR,
            fog: fog(view),
            ..RenderState::default()
        };
        let mut placed = vec![Placed { state: base, size: [1.0; 2] }];
        let mut end = 2 * bytes;
        for (number, texture) in self.textures.iter().enumerate() {
            let first = end.next_multiple_of(128);
            let (made, data) = texture.place(&base, first).ok_or(Error::Texture { texture: number })?;
            placed.push(made);
            end = first + data.len() as u32;
            if end as usize > MEMORY_BYTES {
                return Err(Error::Memory);
            }
            uploads.push((first, data));
        }
        let camera = Camera::new(self, view);
        let mut drawn = Vec::new();
        for (number, triangle) in self.triangles.iter().enumerate() {
            let place = triangle.texture.map_or(0, |texture| texture.saturating_add(1));
            let texture = placed.get(place).ok_or(Error::NoTexture { triangle: number })?;
            let vertices = camera.vertices(triangle, texture.size);
            let translucent = triangle.corners.iter().any(|corner| corner.color[3] < 1.0);
            drawn.push((translucent, place, vertices));
        }
        // Stable: the order of the model where distances are equal.
        let distance = |vertices: &[Vertex; 3]| vertices.iter().map(|v| v.position[3]).sum::<f32>();
        drawn.sort_by(|(a, _, first), (b, _, second)| match (a, b) {
            (true, true) => distance(second).total_cmp(&distance(first)),
            _ => a.cmp(b),
        });
        let viewport = Viewport { origin: [0.0; 2], size: view.size.map(|v| v as f32), depth: [0.0, 1.0] };
        let states = [false, true].into_iter().flat_map(|translucent| {
            placed.iter().map(move |placed| RenderState {
                blend: if translucent { blend::ALPHA } else { blend::REPLACE },
                depth: placed.state.depth & if translucent { depth::TEST } else { !0 },
                ..placed.state
            })
        });
        let states: Vec<RenderState> = states.collect();
        let (mut primitives, mut state_of) = (Vec::new(), Vec::new());
        for (translucent, place, vertices) in drawn {
            let state = if translucent { placed.len() + place } else { place };
            let state = u16::try_from(state).map_err(|_| Error::States)?;
            clip::draw(vertices, &viewport, Cull::None, &mut primitives);
            state_of.resize(primitives.len(), state);
        }
        let pass = Pass {
            targets: Targets { color: surface(0), depth: surface(bytes) },
            primitives: 0..primitives.len(),
            clear_color: Some(stored(view.background)),
            clear_depth: Some(0xffff),
        };
        let (passes, ranges) = (vec![pass], vec![(0, bytes)]);
        Ok(Scene { states, state_of, primitives, uploads, passes, ranges, results: Vec::new() })
    }
}

/// Fog from half the depths on.
fn fog(view: &View) -> Fog {
    Fog { enable: view.fog.into(), start: 0x7000, scale: 0x220, color: view.background }
}

/// A colour as it is stored.
fn stored([red, green, blue]: [u8; 3]) -> u16 {
    let [red, green, blue] = [red, green, blue].map(|channel| u16::from(channel) >> 3);
    0x8000 | red << 10 | green << 5 | blue
}

/// Where corners of triangles go.
struct Camera {
    middle: [f32; 3],
    /// Sine and cosine of both angles.
    turn: [f32; 2],
    down: [f32; 2],
    distance: f32,
    /// Depths of the near and the far plane.
    planes: [f32; 2],
    aspect: f32,
}

impl Camera {
    fn new(model: &Model, view: &View) -> Camera {
        let positions = || model.triangles.iter().flat_map(|triangle| triangle.corners.map(|c| c.position));
        let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
        for position in positions() {
            for axis in 0..3 {
                low[axis] = low[axis].min(position[axis]);
                high[axis] = high[axis].max(position[axis]);
            }
        }
        let middle = [0, 1, 2].map(|axis| 0.5 * low[axis] + 0.5 * high[axis]);
        let middle = if positions().next().is_none() { [0.0; 3] } else { middle };
        let reach = |p: [f32; 3]| (0..3).map(|i| (p[i] - middle[i]) * (p[i] - middle[i])).sum::<f32>();
        let radius = positions().map(reach).fold(0.0, f32::max).sqrt().clamp(1e-6, 1e18);
        let zoom = if view.zoom > 0.0 { view.zoom } else { 1.0 };
        let distance = radius / TANGENT / zoom;
        let planes = [(distance - radius).max(distance / 64.0), distance + radius];
        let [turn, down] = [view.turn, view.down].map(|degrees| degrees.to_radians().sin_cos().into());
        Camera { middle, turn, down, distance, planes, aspect: view.size[1] as f32 / view.size[0] as f32 }
    }

    /// A point before the camera: to the right, up, away.
    fn turned(&self, p: [f32; 3]) -> [f32; 3] {
        let ([sin, cos], [x, y, z]) = (self.turn, p);
        let (x, z) = (cos * x + sin * z, cos * z - sin * x);
        let [sin, cos] = self.down;
        [x, cos * y - sin * z, -(cos * z + sin * y)]
    }

    fn vertices(&self, triangle: &Triangle, size: [f32; 2]) -> [Vertex; 3] {
        let light = light(triangle.corners.map(|corner| corner.position));
        let [near, far] = self.planes;
        triangle.corners.map(|corner| {
            let [x, y, z] = self.turned([0, 1, 2].map(|axis| corner.position[axis] - self.middle[axis]));
            let w = z + self.distance;
            let [red, green, blue, alpha] = corner.color;
            Vertex {
                // Rows go down. Depth is 0 at the near and w at the far plane.
                position: [x * self.aspect / TANGENT, -y / TANGENT, far * (w - near) / (far - near), w],
                uv: [corner.uv[0] * size[0], corner.uv[1] * size[1]],
                color: [red * light, green * light, blue * light, alpha],
            }
        })
    }
}

/// How much light falls on a triangle, whichever side of it is seen.
fn light([a, b, c]: [[f32; 3]; 3]) -> f32 {
    let [p, q] = [b, c].map(|to| [0, 1, 2].map(|i| to[i] - a[i]));
    let normal = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = dot(normal, normal).sqrt();
    if !(length > 0.0 && length.is_finite()) {
        return 1.0;
    }
    AMBIENT + (1.0 - AMBIENT) * (dot(normal, LIGHT) / length).abs()
}

impl Texture {
    /// Its state and its bytes with all levels, the first of which lies at `first`; `None` if it is none.
    fn place(&self, base: &RenderState, first: u32) -> Option<(Placed, Vec<u8>)> {
        let [width, height] = self.size;
        let fits = |side: u32| side.is_power_of_two() && side <= 1 << LONGEST;
        if !self.size.iter().all(|&side| fits(side)) || self.texels.len() != (width * height) as usize {
            return None;
        }
        let opaque = self.texels.iter().all(|texel| texel[3] == 255);
        let kind = if opaque { format::RGB565 } else { format::ARGB1555 };
        let mut state = RenderState {
            combiner: combiner::SAMPLE | combiner::MULTIPLY,
            alpha_threshold: if opaque { 0 } else { 128 },
            clamp: [i16::MIN, i16::MIN, i16::MAX, i16::MAX],
            mask: self.size.map(|side| side as u16 - 1),
            width: width as i16,
            max_level: width.max(height).ilog2().min(LEVELS as u32 - 1) as i8,
            format: kind | format::BILINEAR | format::TRILINEAR,
            ..*base
        };
        let mut bytes = Vec::new();
        let mut level = self.clone();
        for (number, offset) in (0..).zip(&mut state.levels).take(state.max_level as usize + 1) {
            *offset = first + bytes.len() as u32;
            let blocks = level.size.map(|side| side.div_ceil(BLOCK));
            let mut units = vec![0u16; (blocks[0] * blocks[1] * BLOCK * BLOCK) as usize];
            let [columns, _] = level.size;
            for ((x, y), texel) in (0..).map(|i| (i % columns, i / columns)).zip(&level.texels) {
                let block = (y / BLOCK) * blocks[0] + x / BLOCK;
                let at = BLOCK * BLOCK * block + BLOCK * (y % BLOCK) + x % BLOCK;
                if let Some(unit) = units.get_mut(at as usize) {
                    *unit = encode(*texel, opaque);
                }
            }
            bytes.reserve(UNIT * units.len());
            bytes.extend(units.into_iter().flat_map(u16::to_le_bytes));
            debug_assert_eq!(self.size.map(|side| (side >> number).max(1)), level.size);
            level = level.half();
        }
        Some((Placed { state, size: self.size.map(|side| side as f32) }, bytes))
    }

    /// The next level: means of four texels, or of two where a side is 1.
    fn half(&self) -> Texture {
        let [width, height] = self.size;
        let size = self.size.map(|side| (side / 2).max(1));
        let texel = |x: u32, y: u32| {
            self.texels
                .get((y.min(height - 1) * width + x.min(width - 1)) as usize)
                .copied()
                .unwrap_or_default()
        };
        let places = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [2 * x, 2 * y]));
        let texels = places.map(|[x, y]| {
            let four = [texel(x, y), texel(x + 1, y), texel(x, y + 1), texel(x + 1, y + 1)];
            [0, 1, 2, 3].map(|channel| {
                let sum: u32 = four.iter().map(|texel| u32::from(texel[channel])).sum();
                ((sum + 2) / 4) as u8
            })
        });
        Texture { size, texels: texels.collect() }
    }
}

/// A texel as RGB565 if it is opaque, as ARGB1555 if not.
fn encode([red, green, blue, alpha]: [u8; 4], opaque: bool) -> u16 {
    let [red, green, blue] = [red, green, blue].map(u16::from);
    if opaque {
        return red >> 3 << 11 | green >> 2 << 5 | blue >> 3;
    }
    u16::from(alpha >> 7) << 15 | red >> 3 << 10 | green >> 3 << 5 | blue >> 3
}
