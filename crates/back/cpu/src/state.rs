//! What guest code works on, and what it asks of Rust.

use crate::options::Access;
use std::mem::offset_of;
use xenoglot_guest::memory::{Fault, Memory};
use xenoglot_guest::{Cpu, Link};
use xenoglot_mips::lift::layout;

/// Why guest code returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// The guest goes on at the address.
    Next = 0,
    /// The instruction at the address is for the interpreter.
    Interpret = 1,
    /// So is the access to memory at the address, which may be one that code could do if it asked.
    Access = 2,
    /// The block at the address ran often.
    Hot = 3,
}

/// Counters of blocks, by a hash of their addresses.
pub(crate) const COUNTERS: usize = 1 << 14;

/// The state of a guest while its code runs. It begins with the registers, as [`layout`] has them.
#[repr(C)]
pub(crate) struct State {
    pub(crate) cpu: Cpu,
    pub(crate) last_float: u32,
    pub(crate) last_operands: [u64; 3],
    pub(crate) fuel: i64,
    read_pages: *const u64,
    write_pages: *const u64,
    /// Where the guest's memory is, with the host's page protection for its own; 0 for nowhere.
    window: u64,
    parts: *const u64,
    ask_load: u64,
    ask_store: u64,
    rust_load: Ask,
    rust_store: Ask,
    memory: *mut Memory,
    answer: u64,
    refused: u32,
    zero: u64,
    /// The stack pointer of the way in.
    pub(crate) host_stack: u64,
    /// Calls within each other go no farther down than this.
    stack_limit: u64,
    /// The instruction whose access failed in code of a library, and what is not counted then.
    pub(crate) fault_pc: u32,
    pub(crate) fault_pending: u32,
    /// Where a branch goes whose delay slot changes what it reads.
    target: u32,
    /// How often blocks still run until they are hot.
    pub(crate) counters: [u32; COUNTERS],
}

// The layout that lifted code relies on.
const _: () = {
    assert!(offset_of!(State, cpu) == 0);
    assert!(offset_of!(Cpu, regs) == layout::GENERAL as usize);
    assert!(offset_of!(Cpu, regs) + 4 * xenoglot_guest::HI == layout::HI as usize);
    assert!(offset_of!(Cpu, regs) + 4 * xenoglot_guest::LO == layout::LO as usize);
    assert!(offset_of!(Cpu, fpr) == layout::FLOAT as usize);
    assert!(offset_of!(Cpu, fcsr) == layout::FCSR as usize);
    assert!(offset_of!(Cpu, tls) == layout::THREAD as usize);
    assert!(offset_of!(Cpu, link) + offset_of!(Link, address) == layout::LINK_ADDRESS as usize);
    assert!(offset_of!(Cpu, link) + offset_of!(Link, value) == layout::LINK_VALUE as usize);
    assert!(offset_of!(Cpu, link) + offset_of!(Link, valid) == layout::LINK_VALID as usize);
    assert!(offset_of!(State, last_float) == layout::LAST_FLOAT as usize);
    assert!(offset_of!(State, last_operands) == layout::LAST_OPERANDS[0] as usize);
    assert!(offset_of!(State, fuel) == layout::FUEL as usize);
    assert!(offset_of!(State, read_pages) == layout::SIZE as usize);
};

/// The place among [`COUNTERS`] of the block at an address.
pub(crate) fn counter_of(pc: u32) -> usize {
    (pc >> 2) as usize & (COUNTERS - 1)
}

/// A question about memory: state, address, bytes of the access, value to store. Not zero: refused.
type Ask = extern "C" fn(*mut State, u32, u32, u64) -> u32;

impl State {
    /// Bytes of registers.
    pub(crate) const REGISTERS: u32 = layout::SIZE;
    pub(crate) const READ_PAGES: i32 = offset_of!(State, read_pages) as i32;
    pub(crate) const WRITE_PAGES: i32 = offset_of!(State, write_pages) as i32;
    pub(crate) const WINDOW: i32 = offset_of!(State, window) as i32;
    pub(crate) const FUEL: i32 = offset_of!(State, fuel) as i32;
    pub(crate) const HOST_STACK: i32 = offset_of!(State, host_stack) as i32;
    pub(crate) const STACK_LIMIT: i32 = offset_of!(State, stack_limit) as i32;
    pub(crate) const FAULT_PC: i32 = offset_of!(State, fault_pc) as i32;
    pub(crate) const FAULT_PENDING: i32 = offset_of!(State, fault_pending) as i32;
    /// Bytes of the host's stack that calls within each other take before they are unwound.
    pub(crate) const STACK: i32 = 64 << 10;
    pub(crate) const PARTS: i32 = offset_of!(State, parts) as i32;
    pub(crate) const ASK_LOAD: i32 = offset_of!(State, ask_load) as i32;
    pub(crate) const ASK_STORE: i32 = offset_of!(State, ask_store) as i32;
    pub(crate) const RUST_LOAD: i32 = offset_of!(State, rust_load) as i32;
    pub(crate) const RUST_STORE: i32 = offset_of!(State, rust_store) as i32;
    pub(crate) const ANSWER: i32 = offset_of!(State, answer) as i32;
    /// A zero that the code generator does not know.
    pub(crate) const ZERO: i32 = offset_of!(State, zero) as i32;
    pub(crate) const TARGET: i32 = offset_of!(State, target) as i32;
    pub(crate) const REFUSED: i32 = offset_of!(State, refused) as i32;

    /// A state for code with these ways to ask, and a table of code.
    pub(crate) fn new(ask_load: u64, ask_store: u64, parts: *const u64) -> State {
        State {
            cpu: Cpu::new(xenoglot_mips::Endian::Little),
            last_float: 0,
            last_operands: [0; 3],
            fuel: 0,
            read_pages: std::ptr::null(),
            write_pages: std::ptr::null(),
            window: 0,
            parts,
            ask_load,
            ask_store,
            rust_load: load,
            rust_store: store,
            memory: std::ptr::null_mut(),
            answer: 0,
            refused: 0,
            zero: 0,
            host_stack: 0,
            stack_limit: 0,
            fault_pc: 0,
            fault_pending: 0,
            target: 0,
            counters: [0; COUNTERS],
        }
    }

    /// Where code finds the counter of the block at an address.
    pub(crate) fn counter(pc: u32) -> i32 {
        (offset_of!(State, counters) + 4 * counter_of(pc)) as i32
    }

    /// Lets code use a memory until [`State::clear_memory`], in the way it was made for; whether it can.
    pub(crate) fn set_memory(&mut self, memory: &mut Memory, access: Access) -> bool {
        match access {
            Access::Window => match memory.window() {
                Some(window) => self.window = window.expose_provenance() as u64,
                None => return false,
            },
            Access::Tables | Access::Calls => (self.read_pages, self.write_pages) = memory.host_pages(),
        }
        self.memory = memory;
        true
    }

    /// The host's address of the guest's address 0.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Opens a page of the memory to code; whether that helps.
    ///
    /// # Safety
    /// Code is running on the state, and nobody else uses it or its memory.
    pub(crate) unsafe fn open(&mut self, address: u32, write: bool) -> bool {
        // SAFETY: `set_memory` set it for the time of the run.
        unsafe { self.memory.as_mut() }.is_some_and(|memory| memory.open(address, write))
    }

    /// Takes the memory away again, so that nobody uses it later.
    pub(crate) fn clear_memory(&mut self) {
        self.memory = std::ptr::null_mut();
    }
}

/// Loads what is not in the tables of pages. The value is in the order of the host.
extern "C" fn load(state: *mut State, address: u32, bytes: u32, _: u64) -> u32 {
    // SAFETY: guest code passes the state it runs on, and nobody else has it or its memory, which `set_memory` set for the
    // time of the run, while the code is in this call.
    let (state, memory) = unsafe { (&mut *state, &*(*state).memory) };
    let value = match bytes {
        1 => memory.read::<1>(address).map(|bytes| u64::from(bytes[0])),
        2 => memory.read(address).map(|bytes| u64::from(u16::from_le_bytes(bytes))),
        4 => memory.read(address).map(|bytes| u64::from(u32::from_le_bytes(bytes))),
        _ => memory.read(address).map(u64::from_le_bytes),
    };
    match value {
        Ok(value) => {
            state.answer = value;
            0
        }
        Err(_) => 1,
    }
}

/// Stores where the tables of pages say nothing. Refuses, too, what would change translated code: the interpreter stores that,
/// and what was translated goes before the guest goes on.
extern "C" fn store(state: *mut State, address: u32, bytes: u32, value: u64) -> u32 {
    // SAFETY: as in `load`.
    let memory = unsafe { &mut *(*state).memory };
    if memory.is_watched(address, bytes) {
        return 1;
    }
    let value = value.to_le_bytes();
    let result: Result<bool, Fault> = match value {
        [a, ..] if bytes == 1 => memory.write(address, [a]),
        [a, b, ..] if bytes == 2 => memory.write(address, [a, b]),
        [a, b, c, d, ..] if bytes == 4 => memory.write(address, [a, b, c, d]),
        all => memory.write(address, all),
    };
    u32::from(result.is_err())
}
