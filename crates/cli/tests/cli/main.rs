//! The program as its users run it.

mod cache;
mod codecs;
mod commands;
mod common;
mod documents;
mod dragon;
mod failures;
#[cfg(target_os = "linux")]
mod guests;
mod habits;
mod modules;
mod outputs;
mod packages;
mod render;
#[cfg(all(unix, feature = "gpu", feature = "naga", feature = "vulkan"))]
mod tour;
