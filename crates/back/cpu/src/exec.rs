//! Executable memory, and the border to guest code. Never writable and executable at once.

use crate::error::CompileError;
use crate::state::State;
use std::io;
use std::ptr::NonNull;

/// Bytes of address space for code.
const SIZE: usize = 256 << 20;
/// Alignment of functions.
const ALIGN: usize = 16;

/// Memory for code. Pages are writable while something is put there, and executable otherwise.
pub(crate) struct Arena {
    base: NonNull<u8>,
    used: usize,
    page: usize,
}

impl Arena {
    /// Reserves the address space.
    pub(crate) fn new() -> io::Result<Arena> {
        let protection = libc::PROT_NONE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0) };
        // SAFETY: asking for the size of a page has no precondition.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        match NonNull::new(base.cast()) {
            Some(base) if base.as_ptr() as isize != -1 => {
                Ok(Arena { base, used: 0, page: usize::try_from(page).unwrap_or(4096).max(4096) })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn protect(&self, start: usize, end: usize, protection: libc::c_int) -> io::Result<()> {
        // SAFETY: the range, of whole pages, lies in the mapping. No guest code runs while this does, and Rust keeps no
        // reference into it.
        let result = unsafe { libc::mprotect(self.base.as_ptr().add(start).cast(), end - start, protection) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Puts code there; its address.
    pub(crate) fn add(&mut self, code: &[u8]) -> Result<u64, CompileError> {
        let start = self.used.next_multiple_of(ALIGN);
        self.write(start, code)?;
        self.used = start + code.len();
        Ok(self.base.as_ptr() as u64 + start as u64)
    }

    /// Changes code at an address.
    pub(crate) fn patch(&mut self, address: u64, code: &[u8]) -> Result<(), CompileError> {
        let start = address.wrapping_sub(self.base.as_ptr() as u64);
        match usize::try_from(start) {
            Ok(start) if start.checked_add(code.len()).is_some_and(|end| end <= self.used) => {
                self.write(start, code)
            }
            _ => Err(CompileError::unsupported("code that is not there")),
        }
    }

    fn write(&mut self, start: usize, code: &[u8]) -> Result<(), CompileError> {
        let end = start + code.len();
        if end > SIZE {
            return Err(CompileError::Full);
        }
        let (first, last) = (start / self.page * self.page, end.next_multiple_of(self.page).min(SIZE));
        self.protect(first, last, libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the pages of the range were just made writable, and nothing else uses it.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), self.base.as_ptr().add(start), code.len());
        }
        self.protect(first, last, libc::PROT_READ | libc::PROT_EXEC)?;
        Ok(())
    }

    /// The address of the first byte.
    pub(crate) fn base(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    /// Bytes that are used.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Forgets what lies behind the first `used` bytes.
    pub(crate) fn truncate(&mut self, used: usize) {
        self.used = self.used.min(used);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is this arena's, and no guest code runs when its engine is dropped.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), SIZE);
        }
    }
}

/// MXCSR with all exceptions masked, the rounding and flushing that the guest's control register asks for, and no flags. Both
/// detect tiny results after rounding, and take denormal operands as they are.
fn mxcsr_for(fcsr: u32) -> u32 {
    // FCSR's bits 1-0: to nearest, to zero, up, down. MXCSR's bits 14-13: to nearest, down, up, to zero.
    let rounding = [0, 3, 2, 1][(fcsr & 3) as usize];
    // Denormal results become zeros by bit 24, and bit 15.
    0x1f80 | rounding << 13 | (fcsr >> 24 & 1) << 15
}

fn mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: the instruction stores 32 bits to the variable.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags));
    }
    value
}

/// # Safety
/// Rust's code runs with the default: it is not to meet another value.
unsafe fn set_mxcsr(value: u32) {
    // SAFETY: the instruction loads 32 bits from the variable; the caller vouches for the rest.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags));
    }
}

/// Calls `enter` with all registers of the host kept that a function has to keep. The handler of signals returns from here by
/// itself, to the instruction behind the call, with the stack pointer from the state.
#[unsafe(naked)]
unsafe extern "sysv64" fn shielded(state: *mut State, pc: u32, code: u64, enter: u64) -> u64 {
    std::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [rdi + {stack}], rsp",
        "lea rax, [rsp - {bytes}]",
        "mov [rdi + {limit}], rax",
        "call rcx",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        stack = const State::HOST_STACK,
        limit = const State::STACK_LIMIT,
        bytes = const State::STACK,
    )
}

/// Calls code of the engine's, with the fuel in the pinned register. That code keeps the stack and frame pointers and the fuel,
/// and no other register: [`shielded`] has kept them all.
#[unsafe(naked)]
unsafe extern "sysv64" fn engine_code(state: *mut State, pc: u32, code: u64) -> u64 {
    std::arch::naked_asm!(
        "push rdi",
        "mov r15, [rdi + {fuel}]",
        "call rdx",
        "pop rdi",
        "mov [rdi + {fuel}], r15",
        "ret",
        fuel = const State::FUEL,
    )
}

/// What [`run`] enters code by that [`crate::emit::function`] or [`crate::baseline::compile`] made.
pub(crate) fn engine_way() -> u64 {
    engine_code as *const () as u64
}

/// Runs guest code for `pc` by `enter`; what it returned, and the flags of MXCSR it left. MXCSR is as before afterwards.
///
/// # Safety
/// `enter` is a function of a library, or [`engine_way`], and `code` the address of what that calls, in executable memory; the
/// state has the memory and the table that the code was made for.
pub(crate) unsafe fn run(enter: u64, state: &mut State, pc: u32, code: u64) -> (u64, u32) {
    let host = mxcsr();
    // SAFETY: only guest code runs with it, and what that calls uses no floats.
    unsafe { set_mxcsr(mxcsr_for(state.cpu.fcsr)) };
    // SAFETY: the caller vouches for the addresses.
    let exit = unsafe { shielded(state, pc, code, enter) };
    let flags = mxcsr() & 0x3f;
    // SAFETY: it is what it was.
    unsafe { set_mxcsr(host) };
    (exit, flags)
}
