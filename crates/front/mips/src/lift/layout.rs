//! Where the guest's registers lie in space `guest_regs`, in bytes. Words are little-endian there on every host.

/// General register 0; the others follow, four bytes each.
pub const GENERAL: u32 = 0;
/// HI.
pub const HI: u32 = 32 * 4;
/// LO.
pub const LO: u32 = 33 * 4;
/// Floating-point register 0; the others follow, four bytes each. A double's low word is in the even one.
pub const FLOAT: u32 = 64 * 4;
/// FCSR, the control and status of the floating-point unit.
pub const FCSR: u32 = 388;
/// The thread pointer.
pub const THREAD: u32 = 392;
/// Address that load-linked marked.
pub const LINK_ADDRESS: u32 = 396;
/// What load-linked read.
pub const LINK_VALUE: u32 = 400;
/// Whether there is a mark: a byte.
pub const LINK_VALID: u32 = 404;
/// The word of the floating-point instruction that was executed last, of those whose cause bits are not in FCSR yet; 0
/// for none.
pub const LAST_FLOAT: u32 = 424;
/// Its three operands (`fs`, `ft`, `fr`) as bits, eight bytes each; those it does not have may be anything.
pub const LAST_OPERANDS: [u32; 3] = [432, 440, 448];
/// Instructions that may still be executed: eight bytes, signed.
pub const FUEL: u32 = 456;
/// Bytes of all of it.
pub const SIZE: u32 = 464;
