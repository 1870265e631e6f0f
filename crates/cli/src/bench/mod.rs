//! Measurements, one file each: they print what the project's documents say about speed.

pub mod cache;
mod clock;
pub mod codec;
pub mod dragon;
pub mod dxil;
#[cfg(feature = "gpu")]
pub mod host;
#[cfg(feature = "vulkan")]
pub mod maxwell;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod mips;
pub mod nds;
mod pages;
pub mod pica;
mod play;
mod shaders;
#[cfg(feature = "gpu")]
mod traffic;
pub mod translate;
pub mod warp;
mod yuv;

use anyhow::Result;
use std::path::Path;

/// The bytes of a file, unpacked if it is packed by Zstandard.
fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let bytes = crate::source::read(path)?;
    crate::source::unpacked(path, bytes)
}
