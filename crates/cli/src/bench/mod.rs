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

use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;

/// First bytes of a file packed by Zstandard.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Most bytes of a file, unpacked.
const MOST_BYTES: u64 = 1 << 28;

/// The bytes of a file, unpacked if it is packed by Zstandard.
fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let context = || path.display().to_string();
    let bytes = crate::source::read(path)?;
    if !bytes.starts_with(&ZSTD) {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice()).with_context(context)?;
    decoder.take(MOST_BYTES).read_to_end(&mut out).with_context(context)?;
    Ok(out)
}
