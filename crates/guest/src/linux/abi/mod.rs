//! What o32 programs and the kernel agree on: numbers and layouts, from the headers of Linux for MIPS (`asm/*.h`).

mod errno;
pub(crate) mod flags;
mod layout;
mod signal;
pub(crate) mod stat;

pub(crate) use errno::Errno;
pub(crate) use layout::Layout;
pub(crate) use signal::{Default as DefaultAction, Set, code};
pub use signal::{Signal, sig};
