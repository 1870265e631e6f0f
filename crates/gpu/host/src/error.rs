//! What can go wrong.

use thiserror::Error;

/// Why the host's GPU did not do what was requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// No device, or none whose name contains the selector.
    #[error("no GPU {}; there are: {}", selector.as_deref().unwrap_or("for compute programs"), available.join(", "))]
    NoDevice {
        /// The part of a name that was asked for.
        selector: Option<String>,
        /// Names of the devices there are.
        available: Vec<String>,
    },
    /// The device did not open.
    #[error("{name} does not open: {reason}")]
    Open {
        /// Its name.
        name: String,
        /// What it says.
        reason: String,
    },
    /// The driver, or naga before it, refused a program.
    #[error("program refused: {0}")]
    Program(String),
    /// A program could not be made for this host.
    #[error("no program: {0}")]
    Translation(String),
    /// A buffer is larger than the device allows, or memory is full.
    #[error("no buffer of {size} bytes: {reason}")]
    Buffer {
        /// Bytes asked for.
        size: u64,
        /// Why not.
        reason: String,
    },
    /// A texture is larger than the device allows, or memory is full.
    #[error("no texture of {}x{}x{} texels: {reason}", size[0], size[1], size[2])]
    Texture {
        /// Texels along each axis.
        size: [u32; 3],
        /// Why not.
        reason: String,
    },
    /// Arguments do not fit their layout, or a command its buffers.
    #[error("bad arguments: {0}")]
    Arguments(String),
    /// The device did not finish in time.
    #[error("the device did not finish within {0} s")]
    Timeout(u64),
    /// The device failed while it worked.
    #[error("the device failed: {0}")]
    Device(String),
    /// The device is gone: unplugged, reset by the driver, or closed. Nothing that is opened on it works any more.
    #[error("the device is lost: {0}")]
    Lost(String),
}
