//! The program as its users run it.

mod codecs;
mod commands;
mod common;
mod dragon;
mod failures;
#[cfg(target_os = "linux")]
mod guests;
mod outputs;
mod render;
#[cfg(all(unix, feature = "gpu", feature = "naga", feature = "vulkan"))]
mod tour;
