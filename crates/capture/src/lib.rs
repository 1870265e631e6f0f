//! The `.xgc` container: what a GPU was given, frame by frame, to replay it anywhere.
//!
//! A capture has the memory and registers a machine started with, the stream of what it was told and what was written
//! to its memory, and, if wanted, the frames that come out. The container knows no machine: operations are a number
//! and bytes, whose meaning is the machine's. `docs/xgc.md` describes the bytes for those who write captures.
//!
//! ```
//! use xenoglot_capture::{Capture, Info, Limits, MEMORY_WRITE, FRAME_END};
//!
//! let mut capture = Capture::new(*b"PICA", Info { title: "nothing".into(), ..Info::default() });
//! capture.write_memory(0x1800_0000, &[1, 2, 3]);
//! capture.ops.push(FRAME_END, &[&[0; 20]]);
//! let bytes = capture.to_bytes();
//! let back = Capture::from_bytes(&bytes, &Limits::default())?;
//! assert_eq!(back, capture);
//! assert_eq!(back.ops.iter().map(|op| op.kind).collect::<Vec<_>>(), [MEMORY_WRITE, FRAME_END]);
//! # Ok::<(), xenoglot_capture::Error>(())
//! ```
//!
//! Files are written whole or not at all ([`Capture::save`]). A damaged or truncated file gives an error that names the
//! chunk and carries what was read before it ([`Error::recovered`]).
#![deny(missing_docs)]

mod chunk;
mod error;
mod read;
mod stream;
mod write;

pub use error::{Damage, Error};
pub use read::Limits;
pub use stream::{FIRST_MACHINE_OP, FRAME_END, MEMORY_WRITE, Op, Stream};

use serde::{Deserialize, Serialize};

/// Version of the format this crate writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// What a file starts with. As in PNG, the bytes tell damage by transfers of text.
pub const MAGIC: [u8; 8] = *b"\x89XGC\r\n\x1a\n";

/// Where a capture is from. Text for people; empty if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Info {
    /// What is seen.
    pub title: String,
    /// The program that wrote it, with its version.
    pub creator: String,
    /// Anything else.
    pub comment: String,
}

/// Memory at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Address in the machine.
    pub address: u32,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// A frame as it must come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the [`FRAME_END`] that shows it, from 0.
    pub index: u32,
    /// Pixels in a row, 1 to 8192.
    pub width: u32,
    /// Rows, 1 to 8192.
    pub height: u32,
    /// Red, green, blue and alpha of each pixel, rows from top to bottom.
    pub rgba: Vec<u8>,
}

/// A capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Four letters that name the machine, which gives the operations their meaning.
    pub machine: [u8; 4],
    /// Where it is from.
    pub info: Info,
    /// Registers before the first operation: number and value. All others are 0.
    pub registers: Vec<(u32, u32)>,
    /// Memory before the first operation. All else is 0.
    pub memory: Vec<Block>,
    /// What happens.
    pub ops: Stream,
    /// Frames that are known, by [`Frame::index`].
    pub frames: Vec<Frame>,
}

impl Capture {
    /// A capture in which nothing happens.
    pub fn new(machine: [u8; 4], info: Info) -> Capture {
        Capture { machine, info, ..Capture::default() }
    }

    /// Records that the guest's processor wrote `bytes` from `address` on.
    pub fn write_memory(&mut self, address: u32, bytes: &[u8]) {
        self.ops.push(MEMORY_WRITE, &[&address.to_le_bytes(), bytes]);
    }
}
