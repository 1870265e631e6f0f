//! Warp: a fixed-function GPU as consoles and arcade boards had them, which never existed.
//!
//! Triangles in eighths of a pixel with spans in integers; perspective textures in three formats with mip levels and two
//! filters; a combiner, alpha and depth test, four blends, dither; 16-bit colour and depth anywhere in 64 MiB of memory.
//! It shows how a chip is built on [`xenoglot_raster`]: the pixel rules are written once ([`rules`]) and run on every
//! engine with the same bits.
//!
//! ```
//! use xenoglot_warp::{Cull, Draw, Engine, Frame, Memory, RenderState, Surface, Targets, Vertex, Viewport, clip, state};
//!
//! let memory = Memory::new(1 << 16)?;
//! let surface = |offset| Surface { offset, size: [64, 48], stride: 128 };
//! let mut frame = Frame::load(&memory, &Targets { color: surface(0), depth: surface(0x2000) })?;
//! frame.clear(Some(0), Some(0xffff));
//!
//! let vertex = |x, y| Vertex { position: [x, y, 0.5, 1.0], uv: [0.0; 2], color: [1.0, 0.0, 0.0, 1.0] };
//! let viewport = Viewport { origin: [0.0; 2], size: [64.0, 48.0], depth: [0.0, 1.0] };
//! let mut primitives = Vec::new();
//! clip::draw([vertex(-1.0, -1.0), vertex(1.0, -1.0), vertex(-1.0, 1.0)], &viewport, Cull::None, &mut primitives);
//!
//! let red = RenderState { scissor: [0, 0, 64, 48], combiner: state::combiner::COLOR, ..RenderState::default() };
//! Engine::new().draw(&mut frame, &memory, &Draw::new(&[red], &primitives, &vec![0; primitives.len()])?);
//! assert_eq!(frame.pixel(1, 1)[0], 0xfc00);
//! assert_eq!(frame.pixel(63, 47)[0], 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | `clip`, `setup` | clip space to primitives |
//! | `state`, `primitive` | what a primitive is drawn with, and what it is, as bytes |
//! | `frame` | memory, targets, pixels at hand |
//! | `rules` | the pixel rules |
//! | `reference` | the engine that shows what they mean |
//! | `cpu` | the fast engine: [`Engine`] |
//! | `program` | the rules as programs of the IR: one whose states are data, or shading and output apart (feature `ir`) |
//! | `host` | the renderer on the host's GPU (feature `host`) |
//! | `golden` | files of scenes with expected frames |
//! | `model` | triangles with textures before a camera as scenes |
#![deny(missing_docs)]

pub mod clip;
mod cpu;
mod draw;
mod frame;
pub mod golden;
#[cfg(feature = "host")]
pub mod host;
pub mod model;
mod primitive;
#[cfg(feature = "ir")]
pub mod program;
pub mod reference;
pub mod rules;
mod setup;
pub mod state;

pub use clip::Viewport;
pub use cpu::Engine;
pub use draw::{Draw, NoState};
pub use frame::{Error, Frame, MEMORY_BYTES, MOST_PIXELS, Memory, Surface, Targets};
pub use primitive::{PRIMITIVE_BYTES, Primitive};
pub use setup::{Cull, Vertex, set_up};
pub use state::{Fog, RenderState, Stencil};
#[cfg(feature = "host")]
pub use xenoglot_host;
pub use xenoglot_raster;
