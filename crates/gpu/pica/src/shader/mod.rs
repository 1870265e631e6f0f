//! Vertex and geometry shading: what is uploaded to the units, and the engines that run it.
//!
//! A [`Shader`], which is everything that changes a translation, is lifted to a [`Program`] once. An [`Engine`] runs
//! programs on batches of vertices, whose registers are [`Packed`]. [`Engines`] chooses among them, draw by draw: the first
//! one, or the one that measurements say is done first; what one cannot run another one gets.

mod cost;
mod engine;
mod engines;
#[cfg(feature = "host")]
mod fetch;
#[cfg(feature = "host")]
mod host;
mod inputs;
mod interp;
mod lanes;
#[cfg(feature = "native")]
mod native;
mod packed;
mod program;
#[cfg(feature = "host")]
mod rounds;
mod unit;

pub use engine::{Bank, Batch, Cost, Engine, EngineError, GeometryState, Invocations, Readiness};
pub(crate) use engines::GeometryUnit;
pub use engines::{Choice, Engines, Fallback, Feed, Served};
#[cfg(feature = "host")]
pub use host::Host;
#[cfg(feature = "host")]
pub(crate) use host::module_for_host;
pub(crate) use inputs::Arrays;
pub use inputs::Inputs;
pub use interp::Interp;
pub use lanes::Lanes;
#[cfg(feature = "native")]
pub use native::{Native, Tiers};
pub(crate) use packed::place;
pub use packed::{Packed, Row};
pub use program::{Program, Shader};
pub use unit::{FLOAT_UNIFORMS, Kind, Source, UniformPort, Uniforms, Unit, Upload, Words, unpack24};
#[cfg(feature = "native")]
pub use xenoglot_native::Tier;
pub use xenoglot_pica_shader::lift::record::Event;
