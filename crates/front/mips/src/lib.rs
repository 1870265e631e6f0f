//! 32-bit MIPS user code: MIPS I, MIPS II, MIPS32 release 1 and release 2, with the floating-point unit, in either byte
//! order.
//!
//! * [`isa`] is the table of instructions, [`decode`] finds the row of a word, [`Inst`] reads its fields, and
//!   [`disasm`] prints it in the syntax of the GNU binutils.
//! * [`container`] reads ELF files.
//! * [`lift`](mod@lift) turns the code that is reached from an address into the IR.
//!
//! Nothing here does I/O or runs code. Coprocessor 0, coprocessor 2 and the application-specific
//! extensions (DSP, MSA, MT, MIPS16) are not decoded: user code that contains them gets an
//! [`Unknown`] word.
//!
//! ```
//! let inst = xenoglot_mips::decode(0x27bd_ffe0).unwrap();
//! assert_eq!(inst.op, xenoglot_mips::Op::Addiu);
//! assert_eq!(inst.text(0x40_0000).to_string(), "addiu\tsp,sp,-32");
//! ```
#![deny(missing_docs)]

pub mod container;
mod decode;
pub mod disasm;
mod inst;
pub mod isa;
pub mod lift;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 4;

pub use decode::{Unknown, decode};
pub use inst::{Endian, Fmt, Inst};
pub use isa::Op;
