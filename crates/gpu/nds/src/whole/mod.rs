//! Scenes of whole pictures, `.n2d`: memory, registers and writes by line, and what both screens should show.
//!
//! The layout is that of `vectors/nds-2d/FORMAT.md`: chunks of a tag, a length and a payload. This is the file unpacked; the
//! crate does not compress.

mod play;
mod read;
mod results;

pub use play::{PlayError, Player};

/// First chunk of every file.
pub const FIRST: [u8; 4] = *b"ND2D";
/// Version of the layout.
pub const VERSION: u32 = 1;

/// How much a file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: usize,
    /// Chunks.
    pub chunks: usize,
    /// Frames.
    pub frames: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 64 << 20, chunks: 4096, frames: 4096 }
    }
}

/// Memory that a scene starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// A bank of video memory: 0 to 8 are A to I.
    Bank(u8),
    /// Palettes, 2 KiB.
    Palettes,
    /// OAM, 2 KiB.
    Oam,
}

impl Region {
    fn new(number: u8) -> Option<Region> {
        match number {
            0..9 => Some(Region::Bank(number)),
            9 => Some(Region::Palettes),
            10 => Some(Region::Oam),
            _ => None,
        }
    }

    /// Its bytes.
    fn size(self) -> u32 {
        match self {
            Region::Bank(bank) => {
                [0x20000, 0x20000, 0x20000, 0x20000, 0x10000, 0x4000, 0x4000, 0x8000, 0x4000]
                    [usize::from(bank) % 9]
            }
            Region::Palettes | Region::Oam => 0x800,
        }
    }
}

/// A part of memory that a scene starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is a part of.
    pub region: Region,
    /// Where it goes.
    pub offset: u32,
    /// What it is.
    pub source: Source,
}

/// Where bytes of a piece are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The scene has them.
    Bytes(Vec<u8>),
    /// A memory image, `mem/NAME.bin` beside the scenes.
    Image {
        /// Its name.
        name: String,
        /// First byte.
        offset: u32,
        /// Bytes.
        length: u32,
    },
}

/// The processor writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Address.
    pub address: u32,
    /// Value.
    pub value: u32,
    /// Bytes: 1, 2 or 4.
    pub bytes: u8,
}

/// A write in a line's horizontal blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWrite {
    /// Frame; -1 is the vertical blank before the first.
    pub frame: i16,
    /// Line.
    pub line: u16,
    /// What is written.
    pub write: Write,
}

/// What should come of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// CRC-32 of each row of a screen, colours as 32 bits.
    Rows {
        /// Frame.
        frame: u32,
        /// The upper screen (0) or the lower.
        screen: u8,
        /// 192 sums.
        sums: Vec<u32>,
    },
    /// Colours of a screen.
    Pixels {
        /// Frame.
        frame: u32,
        /// The upper screen (0) or the lower.
        screen: u8,
        /// 256 x 192 colours of 18 bits.
        colors: Vec<u32>,
    },
    /// A part of a bank of video memory.
    Memory {
        /// Frame.
        frame: u32,
        /// 0 to 8 are A to I.
        bank: u8,
        /// First byte.
        offset: u32,
        /// What is there.
        halves: Vec<u16>,
    },
    /// CRC-32 of all banks, and DISPCAPCNT as read.
    Sums {
        /// Frame.
        frame: u32,
        /// Banks A to I.
        banks: [u32; 9],
        /// DISPCAPCNT.
        capture: u32,
    },
    /// An expectation of a kind that is not known.
    Unknown([u8; 4]),
}

/// A scene of whole pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Lines `key=value`: name, features, frames, about.
    pub meta: String,
    /// Frames.
    pub frames: u32,
    /// Memory, in order.
    pub memory: Vec<Piece>,
    /// Writes before anything is drawn.
    pub start: Vec<Write>,
    /// Writes by line, in order.
    pub writes: Vec<LineWrite>,
    /// Words for GXFIFO by frame that shows them, each ending with a SWAP_BUFFERS.
    pub streams: Vec<(u32, Vec<u32>)>,
    /// What a display DMA delivers by frame: 256 x 192 colours.
    pub display: Vec<(u32, Vec<u16>)>,
    /// What should come of it.
    pub expected: Vec<Expected>,
    /// Tags of other chunks, which are skipped: a scene that has any may ask for more than is done.
    pub unknown: Vec<[u8; 4]>,
}

impl Whole {
    /// The value of a key of [`Whole::meta`].
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.meta.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// Names of the memory images it starts from.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        self.memory.iter().filter_map(|piece| match &piece.source {
            Source::Image { name, .. } => Some(name.as_str()),
            Source::Bytes(_) => None,
        })
    }
}
