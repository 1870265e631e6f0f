//! Random Maxwell kernels, and the memory they run on.
//!
//! Instructions are words of the front end's table whose registers are kept to few, so that values meet. Programs end:
//! wherever control may go backwards it takes from a number of rounds that nothing else writes. Results are the same on
//! every device: NaNs are made one before anything sees their bits, each lane has memory of its own, and only kernels
//! whose control never parts talk across lanes.

mod asm;
pub mod fatbin;
mod fragments;
mod shape;
mod words;

use crate::rng::Rng;
use asm::Asm;
pub use fragments::{Fragments, fragments};
pub use words::Words;
use xenoglot_maxwell::lift::{Kernel, LiftError, LiftOptions, Lifted, lift_compute};

/// What a kernel's control flow is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// None; lanes talk to each other.
    Straight,
    /// SSY with SYNC, PBK with BRK, PCNT with CONT, PRET and CAL with RET, nested as compilers do; exits under predicates.
    Structured,
    /// That, with branches forward out of everything and to labels within, which leave entries on the stack.
    Gotos,
    /// Pushes, pops and branches anywhere. Most of them leave more on the stack than they take.
    Misuse,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 4] =
        [Category::Straight, Category::Structured, Category::Gotos, Category::Misuse];
}

/// A generated kernel of one workgroup.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Groups of a scheduling word and three instructions.
    pub code: Vec<u8>,
    /// Global memory from address 0 on: [`LANE_BYTES`] for each lane.
    pub memory: Vec<u8>,
    /// Constant bank [`BANK`].
    pub constants: Vec<u8>,
}

/// Lanes of the workgroup.
pub const LANES: u32 = 32;
/// Bytes of global memory of each lane: what loads, stores and atomics reach, and then the registers at the end.
pub const LANE_BYTES: u32 = 256;
/// The constant bank that programs read.
pub const BANK: u8 = 3;

/// Bytes of constants: words beyond them are read, too.
const BANK_BYTES: u32 = 256;
/// Bytes of shared memory of each lane.
const SHARED_BYTES: u32 = 64;
/// Bytes of local memory.
const LOCAL_BYTES: u32 = 64;

/// A kernel of about `size` statements.
pub fn program(rng: &mut Rng, words: &Words, category: Category, size: u32) -> Sample {
    let mut asm = Asm::default();
    shape::write(rng, words, &mut asm, category, size);
    Sample {
        code: asm.code(rng),
        memory: (0..LANES * LANE_BYTES / 4).flat_map(|_| word(rng).to_le_bytes()).collect(),
        constants: (0..BANK_BYTES / 4).flat_map(|_| word(rng).to_le_bytes()).collect(),
    }
}

/// A number that integer and float operations find interesting.
fn word(rng: &mut Rng) -> u32 {
    const SPECIAL: &[u32] = &[
        0,
        1,
        2,
        31,
        32,
        33,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
        0xffff,
        0x8000,
        0x3c00_3c00,
        0x7c00_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x0000_0400,
        0x807f_ffff,
        0x4f00_0000,
        0x5f80_0000,
        0x7ff0_0000,
    ];
    match rng.below(4) {
        0 => rng.pick(SPECIAL).copied().unwrap_or(0),
        1 => (rng.below(2000) as f32 / 16.0 - 50.0).to_bits(),
        2 => rng.below(64),
        _ => rng.next_u32(),
    }
}

impl Sample {
    /// Lifts the kernel; global memory starts at address 0.
    ///
    /// # Errors
    /// The lifter's.
    pub fn lift(&self, options: &LiftOptions) -> Result<Lifted, LiftError> {
        let kernel = Kernel {
            code: &self.code,
            entry: 0,
            workgroup: [LANES, 1, 1],
            shared_bytes: SHARED_BYTES * LANES,
            local_bytes: LOCAL_BYTES,
            constants: &[],
            functions: &[],
        };
        lift_compute(&kernel, options)
    }
}
