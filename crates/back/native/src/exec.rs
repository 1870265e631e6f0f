//! Executable memory, and the border between compiled code and Rust. All `unsafe` code of the crate is here.
//!
//! What compiled code relies on, and [`run`] provides: a [`Context`] with its [`constants`] and as many homes as the code
//! has, and a table with one [`Buffer`] per resource, whose memory is the caller's for the time of the call, writable if
//! the code stores to it. What it promises: it accesses only those and at most [`MAX_FRAME`](crate::MAX_FRAME) bytes of
//! stack, which it probes page by page, buffers at offsets it has compared with [`Buffer::bounds`], or that the caller of the optimistic variant has checked for
//! the whole range, and it calls only the functions of this file, with pointers to the program's own [`Site`]s.

use crate::LANES;
use crate::error::{CompileError, Fault};
use crate::host::{self, Access, Site, WORDS};
use memmap2::{Mmap, MmapMut};
use std::mem::offset_of;
use xenoglot_ir::Resource;
use xenoglot_ir::entity::EntityRef;

/// A buffer as compiled code sees it.
#[repr(C)]
pub(crate) struct Buffer {
    base: *mut u8,
    /// By number of components less one: one more than the last offset at which they all lie inside; 0 if there is none.
    bounds: [u32; 4],
    len: usize,
}

impl Buffer {
    pub(crate) const SIZE: usize = size_of::<Buffer>();
    pub(crate) const BASE: usize = offset_of!(Buffer, base);

    /// Where the bound for so many components is.
    pub(crate) fn bound(components: usize) -> usize {
        offset_of!(Buffer, bounds) + 4 * (components - 1)
    }

    fn new(base: *mut u8, len: usize) -> Buffer {
        let bounds = std::array::from_fn(|c| bound(len, c + 1));
        Buffer { base, bounds, len }
    }

    pub(crate) fn unbound() -> Buffer {
        Buffer::new(std::ptr::NonNull::dangling().as_ptr(), 0)
    }

    /// A buffer that is not written.
    pub(crate) fn read(bytes: &[u8]) -> Buffer {
        Buffer::new(bytes.as_ptr().cast_mut(), bytes.len())
    }

    pub(crate) fn write(bytes: &mut [u8]) -> Buffer {
        Buffer::new(bytes.as_mut_ptr(), bytes.len())
    }
}

/// One more than the last offset at which so many components lie inside `len` bytes; 0 if there is none.
pub(crate) fn bound(len: usize, components: usize) -> u32 {
    (len + 1).saturating_sub(4 * components).try_into().unwrap_or(u32::MAX)
}

/// A word in all lanes, aligned for instructions that take it from memory.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Lanes([u32; LANES as usize]);

impl Lanes {
    pub(crate) const ZERO: Lanes = Lanes([0; LANES as usize]);
}

/// The table of words that `code` reads and nothing changes.
pub(crate) fn constants(words: &[(Resource, u32)], buffers: &[Buffer]) -> Vec<Lanes> {
    let word = |&(resource, offset): &(Resource, u32)| {
        let Some(buffer) = buffers.get(resource.index()) else { return 0 };
        // SAFETY: the memory is the caller's for the time of the run, and the program has no stores to it.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.base, buffer.len) };
        let word = bytes.get(offset as usize..).and_then(<[u8]>::first_chunk);
        word.map_or(0, |w| u32::from_le_bytes(*w))
    };
    words.iter().map(|w| Lanes([word(w); LANES as usize])).collect()
}

/// The state of a run as compiled code sees it.
#[repr(C)]
pub(crate) struct Context {
    /// By lane: its invocation less the group's first.
    pub(crate) lanes: [u32; 4],
    /// Rounds of loops that may be gone after the last finished group.
    pub(crate) fuel: u64,
    /// What the group at work has left of them.
    left: u64,
    private: *mut u8,
    private_len: usize,
    /// The [`constants`] of the code that runs.
    constants: *const Lanes,
    /// Memory for values that outlive their block.
    homes: *mut Lanes,
    /// First invocation of the group at which the code returned.
    pub(crate) at: u32,
}

impl Context {
    pub(crate) const LANES: usize = offset_of!(Context, lanes);
    pub(crate) const FUEL: usize = offset_of!(Context, fuel);
    pub(crate) const LEFT: usize = offset_of!(Context, left);
    pub(crate) const PRIVATE: usize = offset_of!(Context, private);
    pub(crate) const CONSTANTS: usize = offset_of!(Context, constants);
    pub(crate) const HOMES: usize = offset_of!(Context, homes);
    pub(crate) const AT: usize = offset_of!(Context, at);

    /// A context whose lanes' private memory is `private`, one lane's after the other's.
    pub(crate) fn new(lanes: [u32; 4], fuel: u64, private: &mut [u8]) -> Context {
        let (private, private_len) = (private.as_mut_ptr(), private.len());
        let (constants, homes) = (std::ptr::null(), std::ptr::null_mut());
        Context { lanes, fuel, left: 0, private, private_len, constants, homes, at: 0 }
    }
}

/// What compiled code returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Done,
    /// The optimistic variant met a NaN; the group has stored nothing that the exact variant would not store.
    GiveUp,
    OutOfFuel,
    Fault(Fault),
}

impl Exit {
    pub(crate) const DONE: u32 = 0;
    pub(crate) const GIVE_UP: u32 = 1;
    pub(crate) const OUT_OF_FUEL: u32 = 2;
}

/// Compiled code in executable memory.
#[derive(Debug)]
pub(crate) struct Code {
    memory: Mmap,
}

type Entry = extern "C" fn(*mut Context, *const Buffer, u32, u32) -> u32;

impl Code {
    /// Makes `bytes` executable.
    pub(crate) fn new(bytes: &[u8]) -> Result<Code, CompileError> {
        let mut memory = MmapMut::map_anon(bytes.len().max(1))?;
        memory[..bytes.len()].copy_from_slice(bytes);
        Ok(Code { memory: memory.make_exec()? })
    }

    /// The code.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory
    }

    /// Bytes of code.
    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }
}

/// Runs `code` for the invocations from `first` on, in groups of [`LANES`] until one starts at or after `end`. `constants`
/// are those of the code, `homes` as many as it has.
pub(crate) fn run(
    code: &Code,
    constants: &[Lanes],
    homes: &mut [Lanes],
    context: &mut Context,
    buffers: &[Buffer],
    first: u32,
    end: u32,
) -> Exit {
    context.constants = constants.as_ptr();
    context.homes = homes.as_mut_ptr();
    // SAFETY: the memory holds a function of this type, made by `emit` and never changed since: `Code` is only made from
    // what the compiler returned for it.
    let entry: Entry = unsafe { std::mem::transmute(code.memory.as_ptr()) };
    match entry(context, buffers.as_ptr(), first, end) {
        Exit::DONE => Exit::Done,
        Exit::GIVE_UP => Exit::GiveUp,
        Exit::OUT_OF_FUEL => Exit::OutOfFuel,
        status => Exit::Fault(fault(status)),
    }
}

fn fault(status: u32) -> Fault {
    [Fault::OutOfBounds, Fault::DivisionByZero]
        .into_iter()
        .find(|&f| f as u32 == status)
        .unwrap_or(Fault::Unreachable)
}

fn status(result: Result<(), Fault>) -> u32 {
    result.map_or_else(|fault| fault as u32, |()| 0)
}

/// Evaluates a fold function; see [`host::fold`].
pub(crate) extern "C" fn fold(site: *const Site, words: *mut [u32; WORDS], mask: u32) -> u32 {
    // SAFETY: compiled code passes a site of its program, which outlives the call, and its own stack area of that size.
    let (site, words) = unsafe { (&*site, &mut *words) };
    match site {
        Site::Fold(call) => status(host::fold(call, words, mask)),
        Site::Access(_) => Fault::Unreachable as u32,
    }
}

/// Loads for the lanes of the mask; see [`host::gather`].
pub(crate) extern "C" fn gather(
    site: *const Site,
    words: *mut [u32; WORDS],
    mask: u32,
    context: *const Context,
    buffers: *const Buffer,
) -> u32 {
    // SAFETY: as in `fold`.
    let (site, words) = unsafe { (&*site, &mut *words) };
    let Site::Access(access) = site else { return Fault::Unreachable as u32 };
    status(lanes(mask).try_for_each(|lane| {
        let (base, len) = memory(access, context, buffers, lane);
        // SAFETY: the memory is the caller's for the time of the run, and nobody writes to it during this call.
        host::gather(access, unsafe { std::slice::from_raw_parts(base, len) }, words, lane)
    }))
}

/// Stores for the lanes of the mask; see [`host::scatter`].
pub(crate) extern "C" fn scatter(
    site: *const Site,
    words: *mut [u32; WORDS],
    mask: u32,
    context: *const Context,
    buffers: *const Buffer,
) -> u32 {
    // SAFETY: as in `fold`.
    let (site, words) = unsafe { (&*site, &*words) };
    let Site::Access(access) = site else { return Fault::Unreachable as u32 };
    status(lanes(mask).try_for_each(|lane| {
        let (base, len) = memory(access, context, buffers, lane);
        // SAFETY: as in `gather`; `Program::run` binds for writing what the module stores to.
        host::scatter(access, unsafe { std::slice::from_raw_parts_mut(base, len) }, words, lane)
    }))
}

/// Zeros the private memory of all lanes.
pub(crate) extern "C" fn clear_private(context: *mut Context) {
    // SAFETY: compiled code passes the context it was called with, whose private memory is the run's.
    unsafe {
        let context = &*context;
        std::slice::from_raw_parts_mut(context.private, context.private_len).fill(0);
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES as usize).filter(move |l| mask >> l & 1 == 1)
}

fn memory(access: &Access, context: *const Context, buffers: *const Buffer, lane: usize) -> (*mut u8, usize) {
    // SAFETY: both are what compiled code was called with, and the table has an entry for every resource.
    unsafe {
        match access.buffer {
            Some(n) => {
                let buffer = &*buffers.add(n as usize);
                (buffer.base, buffer.len)
            }
            None => {
                let len = (*context).private_len / LANES as usize;
                ((*context).private.add(lane * len), len)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_admit_the_last_whole_place_only() {
        assert_eq!([0, 3, 4, 5, 16, 20].map(|len| bound(len, 1)), [0, 0, 1, 2, 13, 17]);
        assert_eq!([0, 15, 16, 17].map(|len| bound(len, 4)), [0, 0, 1, 2]);
        assert_eq!(bound(1 << 33, 1), u32::MAX);
    }

    /// Off the fast path: parts outside are zero or dropped, and nothing around them is touched.
    #[test]
    fn straddling_accesses_are_cut() {
        let mut bytes = [1u8; 24];
        let context = Context::new([0, 1, 2, 3], 0, &mut []);
        let buffers = [Buffer::write(&mut bytes[4..20])];
        let policy = xenoglot_ir::module::OutOfBounds::Zero;
        let site = Site::Access(Access { buffer: Some(0), components: 2, policy });
        let mut words = [7u32; WORDS];
        words[..4].copy_from_slice(&[0, 12, 16, u32::MAX]);
        assert_eq!(gather(&site, &mut words, 0b1111, &context, buffers.as_ptr()), 0);
        let one = 0x0101_0101;
        assert_eq!(words[4..12], [one, one, 0, 0, one, 0, 0, 0]);
        words[4..12].fill(0x0505_0505);
        assert_eq!(scatter(&site, &mut words, 0b1110, &context, buffers.as_ptr()), 0);
        assert_eq!(bytes[..16], [1; 16]);
        assert_eq!(bytes[16..], [5, 5, 5, 5, 1, 1, 1, 1]);
    }
}
