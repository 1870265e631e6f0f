//! Triangles to pixels on the CPU, bit for bit as vectors/picagpu/FORMAT.md, sections 5, 7 and 8, describes.
//!
//! Registers are decoded once per draw into a `state::State` that knows which stages have an effect. Triangles are
//! processed in order; the pixels one of them covers go through the stages in batches of up to `batch::LANES`, a
//! plane of values per quantity, so that each stage is a few plain loops.
//!
//! | room | stage |
//! |---|---|
//! | `state` | registers to what each stage needs |
//! | `clip` | clipping |
//! | `setup` | screen coordinates, culling, bounds, fill rule |
//! | `coverage` | covered pixels of a triangle |
//! | `interpolate` | weights to attributes and depth |
//! | `sample`, `filter` | texture units |
//! | `proctex` | procedural texture |
//! | `lighting` | fragment lighting |
//! | `combiner` | the six combiner stages |
//! | `fog` | fog |
//! | `gas` | gas: densities and their shading |
//! | `early` | the early depth test |
//! | `alpha_test`, `depth_stencil` | tests |
//! | `blend`, `logic_op` | into the destination |
//! | `shadow_map` | shadow mode, instead of all that follows the combiners |
//! | `framebuffer` | buffers in guest memory |
//!
//! Where the document is silent: pixels outside the colour buffer's width and height are dropped; so is what lies
//! outside guest memory, which reads as 0. A buffer or texture that reaches the end of addresses goes on at 0. A width
//! or height that is no multiple of 8 takes whole tiles in memory. Triangles without area cover nothing. Combiner
//! sources, operands and operations that have no meaning give 0, as alpha's dot products do.
//!
//! [`Options`] says what else the renderer can do; nothing of it is on unless asked for.

// Lanes of several planes are indexed together.
#![allow(clippy::needless_range_loop)]

pub(crate) mod alpha_test;
pub(crate) mod batch;
pub(crate) mod blend;
pub(crate) mod clip;
pub(crate) mod combiner;
pub(crate) mod coverage;
pub(crate) mod depth_stencil;
pub(crate) mod early;
pub(crate) mod filter;
pub(crate) mod fog;
pub(crate) mod framebuffer;
pub(crate) mod gas;
pub(crate) mod interpolate;
pub(crate) mod lighting;
pub(crate) mod logic_op;
mod options;
pub(crate) mod proctex;
mod renderer;
pub(crate) mod sample;
pub(crate) mod setup;
pub(crate) mod shadow_map;
pub(crate) mod state;

pub use options::{Chip, Code, Options, Reference};
#[cfg(test)]
pub(crate) use renderer::testing;
pub use renderer::{Fragment, Renderer};
