//! Accesses that the host refuses: signals that machine code of guests raises.
//!
//! Code that works on a [window](xenoglot_guest::memory::Memory::window) leaves the check of an access to the host's page
//! protection, and that of its alignment to an instruction that is none. Both end in a signal. Its handler opens the
//! page, and the access is executed again, or it makes the code return, as if it had called for it: before an access that
//! may fail, every register is in its home.
//!
//! The handlers are installed once for the process, in front of those that were there, which get every signal that does not
//! come from a guest's code.

use crate::aot::Library;
use crate::state::{Exit, State};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// What is to be done when an access fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// The guest's instruction.
    pub(crate) access: u32,
    /// Where the guest goes on, with the registers that are in their homes.
    pub(crate) pc: u32,
    /// How many instructions before that are not counted yet; less than zero where some behind it are.
    pub(crate) count: i32,
}

/// An instruction of machine code that may raise a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Where it is, from the beginning of the memory for code.
    pub(crate) offset: u32,
    pub(crate) pending: Pending,
}

/// What the handler has to know of the code that runs.
pub(crate) struct Run<'a> {
    pub(crate) state: *mut State,
    /// The address of the memory for code.
    pub(crate) code: u64,
    /// In the order of their offsets.
    pub(crate) sites: &'a [Site],
    /// Code that was compiled ahead of time.
    pub(crate) library: Option<&'a Library>,
}

thread_local! {
    static CURRENT: Cell<*const Run<'static>> = const { Cell::new(null()) };
    static STACK: Stack = Stack::new();
}

/// Bytes beside the window that accesses may lead to.
const MARGIN: u64 = 1 << 16;

/// The signals, in the order of [`previous`].
const SIGNALS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL];

/// What handled the signals before; `None` where the handlers could not be installed.
fn previous() -> &'static OnceLock<Option<[libc::sigaction; 3]>> {
    static PREVIOUS: OnceLock<Option<[libc::sigaction; 3]>> = OnceLock::new();
    &PREVIOUS
}

/// Installs the handlers, once; whether they are there.
pub(crate) fn install() -> bool {
    let all = || {
        // SAFETY: all zeros is a value of this type.
        let mut own: libc::sigaction = unsafe { std::mem::zeroed() };
        own.sa_sigaction = handle as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the set is one to initialise.
        unsafe { libc::sigemptyset(&raw mut own.sa_mask) };
        let mut before = [own; 3];
        for (signal, before) in SIGNALS.into_iter().zip(&mut before) {
            // SAFETY: both are what the call wants, and the handler keeps to what handlers may do.
            if unsafe { libc::sigaction(signal, &raw const own, before) } != 0 {
                return None;
            }
        }
        Some(before)
    };
    previous().get_or_init(all).is_some()
}

/// Runs what executes guest code while the handler knows of it.
pub(crate) fn with<T>(run: &Run<'_>, work: impl FnOnce() -> T) -> T {
    STACK.with(|_| ());
    let before = CURRENT.replace(std::ptr::from_ref(run).cast());
    let result = work();
    CURRENT.set(before);
    result
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let run = CURRENT.get();
    // SAFETY: `with` set the address, and its borrow lives while it is set; the system hands over the rest.
    let handled = !run.is_null() && unsafe { of_guest(&*run, signal, &*info, &mut *context.cast()) };
    if !handled {
        // SAFETY: the arguments are those of this handler.
        unsafe { hand_on(signal, info, context) };
    }
}

/// Handles a signal of a guest's code; whether it is one.
///
/// # Safety
/// The state of the run is that of the code which raised the signal, and nobody else has it or its memory.
unsafe fn of_guest(run: &Run<'_>, signal: c_int, info: &siginfo_t, context: &mut ucontext_t) -> bool {
    let registers = &mut context.uc_mcontext.gregs;
    let instruction = registers[libc::REG_RIP as usize] as u64;
    let library = run.library.filter(|library| library.has_code(instruction));
    let at = instruction.wrapping_sub(run.code);
    let site = run.sites.binary_search_by_key(&at, |site| site.offset.into());
    let site = site.ok().and_then(|n| run.sites.get(n));
    if library.is_none() && site.is_none() {
        return false;
    }
    // SAFETY: the caller vouches for it.
    let state = unsafe { &mut *run.state };
    if signal != libc::SIGILL {
        // SAFETY: these signals have an address.
        let address = unsafe { info.si_addr() } as u64;
        let write = registers[libc::REG_ERR as usize] & 2 != 0;
        // Beside the guest's memory there is nothing, but an offset of an instruction leads there.
        let place = address.wrapping_sub(state.window()).wrapping_add(MARGIN);
        if place >= (1 << 32) + 2 * MARGIN {
            return false;
        }
        let address = u32::try_from(place.wrapping_sub(MARGIN));
        // SAFETY: the caller vouches for the memory, which the state has while its code runs.
        if address.is_ok_and(|address| unsafe { state.open(address, write) }) {
            return true;
        }
    }
    if let Some(library) = library {
        // The code has a way out that writes registers to their homes.
        let Some(out) = library.out(instruction) else { return false };
        (state.fault_pc, state.fault_pending) = (out.pc, out.pending);
        registers[libc::REG_RIP as usize] = out.address as i64;
        return true;
    }
    let Some(site) = site else { return false };
    // The code returns: its frame goes, and the address to return to is taken from the stack.
    let return_address = (state.host_stack - 8) as *const u64;
    // SAFETY: the way in has called the code, and the return address is below its own stack.
    registers[libc::REG_RIP as usize] = unsafe { return_address.read() } as i64;
    registers[libc::REG_RSP as usize] = state.host_stack as i64;
    registers[libc::REG_RAX as usize] = ((Exit::Access as u64) << 32 | u64::from(site.pending.pc)) as i64;
    state.fault_pc = site.pending.access;
    // The pinned register has the fuel.
    state.fuel = (registers[libc::REG_R15 as usize]).wrapping_sub(site.pending.count.into());
    true
}

/// Hands a signal to whoever had it before.
///
/// # Safety
/// The arguments are those of a handler.
unsafe fn hand_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let before = previous().get().copied().flatten();
    let number = SIGNALS.iter().position(|&known| known == signal);
    let before = before.zip(number).and_then(|(before, number)| before.get(number).copied());
    match before {
        Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
            if before.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: the flag says that it is a handler of this type.
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal, info, context);
            } else {
                // SAFETY: without the flag it is one of this type.
                let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal);
            }
        }
        // The instruction is executed again, and ends the process.
        // SAFETY: the default is a handler for every signal.
        _ => drop(unsafe { libc::signal(signal, libc::SIG_DFL) }),
    }
}

/// A stack for the handler, where the thread's own is small: the host's registers alone take some KiB of it.
struct Stack {
    place: *mut c_void,
    before: libc::stack_t,
}

impl Stack {
    const BYTES: usize = 128 << 10;

    fn new() -> Stack {
        let mut before = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: the place is one for the result.
        unsafe { libc::sigaltstack(null(), before.as_mut_ptr()) };
        // SAFETY: it is set, and all zeros is a value, too.
        let before = unsafe { before.assume_init() };
        let none = Stack { place: null_mut(), before };
        if before.ss_flags & libc::SS_DISABLE == 0 && before.ss_size >= Stack::BYTES {
            return none;
        }
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
        let place = unsafe { libc::mmap(null_mut(), Stack::BYTES, rights, flags, -1, 0) };
        if place == libc::MAP_FAILED {
            return none;
        }
        let own = libc::stack_t { ss_sp: place, ss_flags: 0, ss_size: Stack::BYTES };
        // SAFETY: the stack is there until it is taken away in `drop`.
        unsafe { libc::sigaltstack(&raw const own, null_mut()) };
        Stack { place, before }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if !self.place.is_null() {
            // SAFETY: the stack that was there before is put back, and this one is nobody's any more.
            unsafe {
                libc::sigaltstack(&raw const self.before, null_mut());
                libc::munmap(self.place, Stack::BYTES);
            }
        }
    }
}
