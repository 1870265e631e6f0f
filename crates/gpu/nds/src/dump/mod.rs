//! Frame dumps, `NTRFD`: a frame's commands, with the state of the engines before them, as emulators write them and as Jaklyy's
//! ndsframereplay draws them on consoles.
//!
//! The layout is that of ndsframereplay's "format implementation.txt": little endian, nothing compressed. A dump is a file, or a
//! chunk `ndSf` of a PNG. It holds one frame; a [`Scene`](crate::container::Scene) holds any number of them from a reset on. Levels of the matrix stacks
//! are not in it: they are 0 when a frame begins.

mod png;
mod read;
mod scene;
mod write;

use crate::registers::Registers;
use thiserror::Error;

/// First bytes of a dump.
pub const MAGIC: [u8; 5] = *b"NTRFD";
/// Version of the layout.
pub const VERSION: u16 = 0;
/// Fewer bytes than this of commands and parameters, as ndsframereplay wants it.
pub const MAX_COMMAND_BYTES: usize = 500_000;
/// The number that stands for a write to DISP_1DOT_DEPTH among the commands. It is VEC_TEST's, which is left out of dumps.
pub const ONE_DOT_DEPTH: u8 = 0x72;

/// A matrix as MTX_LOAD_4x4 takes it.
pub type Matrix = [u32; 16];

/// The geometry engine before a frame's first command, as parameters of the commands that make it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// POLYGON_ATTR in force.
    pub attributes: u32,
    /// POLYGON_ATTR from the next BEGIN_VTXS on.
    pub next_attributes: u32,
    /// COLOR.
    pub color: u32,
    /// VIEWPORT.
    pub viewport: u32,
    /// The projection stack's entry.
    pub projection_stack: Matrix,
    /// The position stack's entries.
    pub position_stack: Box<[Matrix; 32]>,
    /// The vector stack's entries.
    pub vector_stack: Box<[Matrix; 32]>,
    /// The texture stack's entry.
    pub texture_stack: Matrix,
    /// The projection matrix.
    pub projection: Matrix,
    /// The position matrix.
    pub position: Matrix,
    /// The vector matrix.
    pub vector: Matrix,
    /// The texture matrix.
    pub texture_matrix: Matrix,
    /// MTX_MODE.
    pub mode: u32,
    /// BEGIN_VTXS.
    pub primitive: u32,
    /// The vertex that VTX_XY and others build on: x and y, z.
    pub vertex: (u32, u16),
    /// TEXCOORD.
    pub texcoord: u32,
    /// TEXIMAGE_PARAM.
    pub texture: u32,
    /// PLTT_BASE.
    pub palette: u32,
    /// DIF_AMB.
    pub diffuse_ambient: u32,
    /// SPE_EMI.
    pub specular_emission: u32,
    /// SHININESS.
    pub shininess: [u32; 32],
    /// LIGHT_VECTOR of each light, with a vector matrix of identity.
    pub light_vectors: [u32; 4],
    /// LIGHT_COLOR of each light.
    pub light_colors: [u32; 4],
    /// The SWAP_BUFFERS before.
    pub swap: u32,
}

/// Banks that a dump has: A to G.
pub const BANKS: usize = 7;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameDump {
    /// Rendering registers as latched for the frame; DISP_1DOT_DEPTH as before its first command. No scroll.
    pub registers: Registers,
    /// The geometry engine.
    pub state: State,
    /// VRAMCNT of banks A to G, and the contents of those that are textures or texture palettes.
    pub banks: [(u8, Vec<u8>); BANKS],
    /// Commands by number; [`ONE_DOT_DEPTH`] is the register.
    pub commands: Vec<u8>,
    /// Their parameters, one after the other.
    pub params: Vec<u32>,
}

/// What is wrong with a dump.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// Neither a dump nor a PNG with one.
    #[error("no frame dump: it begins with neither {} nor a PNG's bytes", MAGIC.escape_ascii())]
    Magic,
    /// A PNG without one.
    #[error("a PNG without a chunk ndSf")]
    NoChunk,
    /// Of another version.
    #[error("version {0} of the format; this reads {VERSION}")]
    Version(u16),
    /// Compressed in some way.
    #[error("compression {0}; only 0, none, is known")]
    Compression(u8),
    /// It ends early.
    #[error("the dump ends {0} bytes early")]
    Truncated(usize),
    /// It goes on behind its end.
    #[error("{0} bytes follow the dump's end")]
    Surplus(usize),
    /// More commands than there may be.
    #[error("{0} bytes of commands and parameters; there are fewer than {MAX_COMMAND_BYTES}")]
    Commands(u64),
    /// A number that is no command.
    #[error("command {0:#04x}")]
    Command(u8),
    /// The commands take another number of parameters.
    #[error("{given} parameters for commands that take {wanted}")]
    Params {
        /// As the dump says.
        given: u32,
        /// What its commands take.
        wanted: u64,
    },
}

/// Why a dump could not be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{offset:#x}: {problem}")]
pub struct DumpError {
    /// Where in the file.
    pub offset: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// Why a dump and a scene cannot be made of each other.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConversionError {
    /// A scene has one DISP_1DOT_DEPTH.
    #[error("command {0} changes DISP_1DOT_DEPTH within the frame, which a scene cannot")]
    OneDotDepth(usize),
    /// The dump does not end with SWAP_BUFFERS, or has one before.
    #[error("a frame dump ends with its only SWAP_BUFFERS; this one has one at command {0:?}")]
    Swap(Option<usize>),
    /// The scene has no frame.
    #[error("the scene has no SWAP_BUFFERS")]
    NoFrame,
    /// The engine's state before the frame is one that dumps have no room for.
    #[error("before the frame {0}, which a frame dump cannot say")]
    State(&'static str),
    /// There are too many commands.
    #[error("{0} bytes of commands and parameters; a frame dump has fewer than {MAX_COMMAND_BYTES}")]
    Commands(usize),
    /// The scene does not play.
    #[error(transparent)]
    Play(#[from] crate::play::PlayError),
}

/// Bytes of a bank, and what of its VRAMCNT says that the 3D engines have it.
struct BankKind {
    bytes: usize,
    /// Bits of VRAMCNT that count: on, and its use.
    mask: u8,
}

/// Banks A to G.
const KINDS: [BankKind; BANKS] = {
    const fn kind(kib: usize, mask: u8) -> BankKind {
        BankKind { bytes: kib << 10, mask }
    }
    // A and B have two bits for their use, the others three.
    [
        kind(128, 0x83),
        kind(128, 0x83),
        kind(128, 0x87),
        kind(128, 0x87),
        kind(64, 0x87),
        kind(16, 0x87),
        kind(16, 0x87),
    ]
};

impl BankKind {
    /// Whether a bank is a texture or texture palettes.
    fn is_three_d(&self, control: u8) -> bool {
        control & self.mask == 0x83
    }
}

/// Parameters of a command in dumps; `None` if it is none.
fn params(command: u8) -> Option<usize> {
    use crate::geometry::command::{Command, info};

    if command == ONE_DOT_DEPTH {
        return Some(1);
    }
    let info = info(command);
    // Those that change nothing are left out.
    let is_kept = !matches!(info.command?, Command::Nop | Command::BoxTest | Command::VecTest);
    is_kept.then_some(info.params.into())
}
