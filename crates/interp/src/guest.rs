//! Functions of CPU guests: memory that may refuse, and registers with homes.

use crate::code::{Access, FuncCode};
use crate::exec::{Lane, World};
use crate::trap::Cause;
use xenoglot_ir::fold::Cx;
use xenoglot_ir::imm::Space;
use xenoglot_ir::{Bits, Op, Type};

/// That the guest's memory does not allow an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused;

/// What functions of stage `cpu` run on.
pub trait Guest {
    /// Reads bytes from an address on. The address is a multiple of `align`, or the guest may refuse.
    ///
    /// # Errors
    /// When the guest's memory does not allow it.
    fn load(&mut self, address: u64, align: u64, bytes: &mut [u8]) -> Result<(), Refused>;

    /// Writes bytes from an address on; see [`Guest::load`].
    ///
    /// # Errors
    /// When the guest's memory does not allow it; nothing is written then.
    fn store(&mut self, address: u64, align: u64, bytes: &[u8]) -> Result<(), Refused>;

    /// The bytes of space `guest_regs`.
    fn registers(&mut self) -> &mut [u8];

    /// An op that may round was executed: for guests whose float exceptions leave marks.
    fn float(&mut self, op: Op, cx: &Cx, args: &[Bits]);
}

/// Whether an op may round its result.
pub(crate) fn rounds(op: Op) -> bool {
    use Op::*;
    matches!(op, Fadd | Fsub | Fmul | Fdiv | Fma | Sqrt | F2f | F2s | S2f | RoundEven | Floor | Ceil | Trunc)
}

/// Reads the slots of the function at work that have homes.
pub(crate) fn fill(lane: &mut Lane, world: &mut World, func: &FuncCode) -> Result<(), Cause> {
    if func.homes.is_empty() {
        return Ok(());
    }
    let registers = world.guest.as_deref_mut().ok_or(Cause::NoGuest)?.registers();
    for &(slot, home, bytes) in &func.homes {
        let from = home_in(registers, home, bytes)?;
        lane.set(slot, Bits::scalar(from.iter().rev().fold(0, |acc, &b| acc << 8 | u64::from(b))));
    }
    Ok(())
}

/// Writes the slots of the function at work that have homes.
pub(crate) fn spill(lane: &Lane, world: &mut World, func: &FuncCode) -> Result<(), Cause> {
    if func.homes.is_empty() {
        return Ok(());
    }
    let registers = world.guest.as_deref_mut().ok_or(Cause::NoGuest)?.registers();
    for &(slot, home, bytes) in &func.homes {
        let value = lane.reg(slot).0[0].to_le_bytes();
        home_in(registers, home, bytes)?.copy_from_slice(&value[..bytes as usize]);
    }
    Ok(())
}

fn home_in(registers: &mut [u8], home: u32, bytes: u32) -> Result<&mut [u8], Cause> {
    let size = registers.len() as u64;
    let range = home as usize..home as usize + bytes as usize;
    registers.get_mut(range).ok_or(Cause::OutOfBounds {
        space: Space::GuestRegs,
        offset: u64::from(home),
        size,
    })
}

/// Most bytes of an access: four lanes of 64 bits.
const MAX_BYTES: usize = 32;

/// The bytes of lane `i` of an access.
fn lane_bytes(ty: Type, i: usize) -> std::ops::Range<usize> {
    let bytes = (ty.kind().bits() / 8) as usize;
    i * bytes..(i + 1) * bytes
}

/// Loads from the guest's memory.
pub(crate) fn load(
    lane: &Lane,
    world: &mut World,
    func: &FuncCode,
    access: &Access,
    address: u64,
) -> Result<Bits, Cause> {
    let guest = world.guest.as_deref_mut().ok_or(Cause::NoGuest)?;
    let (mut buffer, lanes) = ([0; MAX_BYTES], usize::from(access.ty.lanes()));
    let bytes = &mut buffer[..lane_bytes(access.ty, lanes - 1).end];
    if guest.load(address, 1 << access.mem.align_log2, bytes).is_err() {
        spill(lane, world, func)?;
        return Err(Cause::Guest { address });
    }
    let mut out = Bits::default();
    for (i, out) in out.0.iter_mut().enumerate().take(lanes) {
        let bytes = &bytes[lane_bytes(access.ty, i)];
        let join = |acc, &b: &u8| acc << 8 | u64::from(b);
        *out = if access.mem.big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) };
    }
    Ok(out)
}

/// Stores to the guest's memory.
pub(crate) fn store(
    lane: &Lane,
    world: &mut World,
    func: &FuncCode,
    access: &Access,
    address: u64,
    value: Bits,
) -> Result<(), Cause> {
    let guest = world.guest.as_deref_mut().ok_or(Cause::NoGuest)?;
    let (mut buffer, lanes) = ([0; MAX_BYTES], usize::from(access.ty.lanes()));
    let bytes = &mut buffer[..lane_bytes(access.ty, lanes - 1).end];
    for (i, value) in value.0.iter().enumerate().take(lanes) {
        let place = &mut bytes[lane_bytes(access.ty, i)];
        let n = place.len();
        place.copy_from_slice(&value.to_le_bytes()[..n]);
        if access.mem.big {
            place.reverse();
        }
    }
    if guest.store(address, 1 << access.mem.align_log2, bytes).is_err() {
        spill(lane, world, func)?;
        return Err(Cause::Guest { address });
    }
    Ok(())
}
