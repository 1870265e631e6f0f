//! Fragment lighting: up to eight lights with tables for their distribution, spots and attenuation.

mod config;
mod lut;
mod shade;

pub use config::{Bump, BumpKind, Input, Light, Lighting, Lookup, Shadow};
pub use lut::{Index, LutCache, entry, table};
pub use shade::Scratch;
