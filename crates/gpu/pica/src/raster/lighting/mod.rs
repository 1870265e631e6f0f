//! Fragment lighting: up to eight lights with tables for their distribution, spots and attenuation.

mod config;
mod lut;
mod shade;

pub use config::Lighting;
pub use lut::LutCache;
pub use shade::Scratch;
