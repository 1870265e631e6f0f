//! Guest memory: 4 GiB in pages of 4 KiB, each with its rights, checked at every access.
//!
//! A table has one word for each page: the frame that holds its bytes, and what may be done with it without a closer
//! look. Frames lie in one growing block, so an access is a look into the table, one test, and the bytes. A page gets a
//! frame when it is first written; until then it reads as zeros. No access of a guest reaches memory of the host outside
//! of that block.
//!
//! For machine code there are two ways to the bytes: tables of what to add to an address ([`Memory::host_pages`]), and an area
//! of the host in which the guest's address space is laid out, with the host's page protection for the guest's
//! ([`Memory::window`]).
//!
//! Engines that keep translated code tell the memory what they translated ([`Memory::watch_code`]); a write to such
//! words, or a change of their page, is then reported ([`Memory::take_stale`]).

mod frames;
mod host;
mod map;
mod window;

pub use host::Identity;

use frames::Frames;
use std::collections::HashMap;
use thiserror::Error;

/// Bits of an address within a page.
pub const PAGE_BITS: u32 = 12;
/// Bytes of a page.
pub const PAGE_BYTES: u32 = 1 << PAGE_BITS;
/// Pages of the address space.
pub(crate) const PAGES: usize = 1 << (32 - PAGE_BITS);

const OFFSET: u32 = PAGE_BYTES - 1;

// Bits of an entry below the frame. The first two are what the fast path tests.
/// Readable, with a frame: in a block, that may be the zeros.
const READ: u32 = 1;
/// Writable, with a frame of its own, and without translated code.
const WRITE: u32 = 1 << 1;
/// Rights as mapped.
const RIGHTS_SHIFT: u32 = 2;
/// Mapped at all.
const MAPPED: u32 = 1 << 5;
/// Has a frame of its own.
const OWNED: u32 = 1 << 6;
/// Has words that an engine translated.
const CODE: u32 = 1 << 7;
/// Open to machine code in the window, as far as the first two bits say.
const OPEN: u32 = 1 << 8;

/// What may be done with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Rights = Rights(0);
    /// Reading.
    pub const READ: Rights = Rights(1);
    /// Writing.
    pub const WRITE: Rights = Rights(2);
    /// Executing.
    pub const EXECUTE: Rights = Rights(4);

    /// Rights by their bits: 1 reading, 2 writing, 4 executing. Other bits are ignored.
    pub fn from_bits(bits: u32) -> Rights {
        Rights((bits & 7) as u8)
    }

    /// Both.
    pub const fn and(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
    pub fn has(self, other: Rights) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What an access was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// The fetch of an instruction.
    Fetch,
}

/// Why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Nothing is mapped there.
    Unmapped,
    /// The page does not allow it.
    Denied,
    /// The address is no multiple of the size.
    Unaligned,
    /// The guest has as much memory as the limit allows.
    Exhausted,
}

/// An access that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("{access:?} at {address:#010x}: {kind:?}")]
pub struct Fault {
    /// Guest address of the access.
    pub address: u32,
    /// What it was for.
    pub access: Access,
    /// Why it failed.
    pub kind: FaultKind,
}

/// The words of a page that an engine translated: a bit each.
type Words = [u64; 16];

/// The parts of the table that ever had an entry other than zero, a bit for each of [`PART`] pages. A walk over the whole
/// table would read 4 MiB, most of which a small program never touches.
#[derive(Clone, Copy, Default)]
struct Touched([u64; PAGES / PART / 64]);

/// Pages in a part of the table: 4 KiB of entries.
const PART: usize = 1024;

impl Touched {
    fn add(&mut self, page: usize) {
        let part = page / PART;
        if let Some(bits) = self.0.get_mut(part / 64) {
            *bits |= 1 << (part % 64);
        }
    }

    /// The pages of these parts, in order.
    fn pages(self) -> impl Iterator<Item = usize> {
        let parts = (0..PAGES / PART)
            .filter(move |&part| self.0.get(part / 64).is_some_and(|bits| bits >> (part % 64) & 1 != 0));
        parts.flat_map(|part| part * PART..(part + 1) * PART)
    }
}

/// Memory of a guest.
pub struct Memory {
    table: Box<[u32; PAGES]>,
    touched: Touched,
    frames: Frames,
    /// Pages with frames of their own, and how many there may be.
    owned: u32,
    limit: u32,
    code: HashMap<u32, Box<Words>>,
    stale: Vec<u32>,
    host: Option<host::Pages>,
    identity: Identity,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("frames", &self.resident())
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// Empty memory that takes at most about `limit` bytes of the host's.
    pub fn new(limit: u64) -> Memory {
        let table: Box<[u32]> = vec![0; PAGES].into_boxed_slice();
        let Ok(table) = table.try_into() else { unreachable!("the table has {PAGES} entries") };
        let limit = (limit >> PAGE_BITS).min(PAGES as u64 - 1) as u32;
        Memory {
            table,
            touched: Touched::default(),
            frames: Frames::new(),
            owned: 0,
            limit,
            code: HashMap::new(),
            stale: Vec::new(),
            host: None,
            identity: Identity::new(),
        }
    }

    /// Pages that have bytes of their own.
    pub fn resident(&self) -> u32 {
        self.owned
    }

    #[inline(always)]
    fn entry(&self, address: u32) -> u32 {
        // The index is below the table's length, which the compiler sees.
        self.table[(address >> PAGE_BITS) as usize]
    }

    /// The entries that are not zero, with their pages, in order.
    fn entries(&self) -> impl Iterator<Item = (usize, u32)> {
        let entries = self.touched.pages().filter_map(|page| Some((page, *self.table.get(page)?)));
        entries.filter(|&(_, entry)| entry != 0)
    }

    /// Sets the entry of a page, with the bits of the fast path put right.
    fn set_entry(&mut self, page: usize, entry: u32) {
        let Some(&before) = self.table.get(page) else { return };
        let mut entry = usable(entry, self.frames.window().is_some()) & !OPEN;
        if before & OPEN != 0 {
            if (before ^ entry) & (READ | WRITE) == 0 {
                entry |= OPEN;
            } else {
                self.close(page..page + 1);
            }
        }
        if entry != 0 {
            self.touched.add(page);
        }
        if let Some(place) = self.table.get_mut(page) {
            *place = entry;
            if let Some(host) = &mut self.host {
                host.set(page, entry);
            }
        }
    }

    /// Reads `N` bytes, a power of two, from an address that is a multiple of `N`.
    ///
    /// # Errors
    /// When the address is unaligned, unmapped or not readable.
    #[inline(always)]
    pub fn read<const N: usize>(&self, address: u32) -> Result<[u8; N], Fault> {
        let entry = self.entry(address);
        if (entry ^ READ) & READ | address & (N as u32 - 1) == 0
            && let Some(bytes) = self.frames.read(entry, address)
        {
            return Ok(bytes);
        }
        self.read_slowly(address)
    }

    /// A read that is not of a page with a frame.
    #[cold]
    #[inline(never)]
    fn read_slowly<const N: usize>(&self, address: u32) -> Result<[u8; N], Fault> {
        let entry = self.entry(address);
        if address & (N as u32 - 1) == 0 && entry & OWNED == 0 && rights(entry).has(Rights::READ) {
            return Ok([0; N]);
        }
        Err(self.fault(address, N as u32, Access::Read))
    }

    /// Writes `N` bytes, a power of two, to an address that is a multiple of `N`. The result says whether words that an
    /// engine watches were changed.
    ///
    /// # Errors
    /// When the address is unaligned, unmapped or not writable, or no memory is left for the page.
    #[inline(always)]
    pub fn write<const N: usize>(&mut self, address: u32, bytes: [u8; N]) -> Result<bool, Fault> {
        let entry = self.entry(address);
        if (entry >> 1 ^ 1) & 1 | address & (N as u32 - 1) == 0 && self.frames.write(entry, address, bytes) {
            return Ok(false);
        }
        self.write_slowly(address, &bytes)
    }

    /// Fetches an instruction's bytes.
    ///
    /// # Errors
    /// When the address is unaligned, unmapped or not executable.
    pub fn fetch(&self, address: u32) -> Result<[u8; 4], Fault> {
        let entry = self.entry(address);
        if address & 3 == 0
            && rights(entry).has(Rights::EXECUTE)
            && let Some(bytes) = self.page_bytes(address, 4).first_chunk()
        {
            return Ok(*bytes);
        }
        Err(self.fault(address, 4, Access::Fetch))
    }

    /// Why an access fails.
    #[cold]
    fn fault(&self, address: u32, size: u32, access: Access) -> Fault {
        let kind = if address & (size - 1) != 0 {
            FaultKind::Unaligned
        } else if self.entry(address) & MAPPED == 0 {
            FaultKind::Unmapped
        } else {
            FaultKind::Denied
        };
        Fault { address, access, kind }
    }

    /// A write that is not to a page with its own frame and without code.
    #[cold]
    #[inline(never)]
    fn write_slowly(&mut self, address: u32, bytes: &[u8]) -> Result<bool, Fault> {
        let size = bytes.len() as u32;
        if address & (size - 1) != 0 || !rights(self.entry(address)).has(Rights::WRITE) {
            return Err(self.fault(address, size, Access::Write));
        }
        self.own(address)?;
        let changed = self.wrote_code(address, size);
        self.put(address, bytes);
        Ok(changed)
    }

    /// Bytes of one page, as they are, whatever its rights.
    fn page_bytes(&self, address: u32, count: usize) -> &[u8] {
        static ZEROS: [u8; PAGE_BYTES as usize] = [0; PAGE_BYTES as usize];
        match self.entry(address) {
            entry if entry & OWNED == 0 => ZEROS.get(..count).unwrap_or_default(),
            entry => self.frames.bytes(entry, address, count),
        }
    }

    /// Sets bytes of one page that has a frame of its own.
    fn put(&mut self, address: u32, bytes: &[u8]) {
        let place = self.frames.bytes_mut(self.entry(address), address, bytes.len());
        if place.len() == bytes.len() {
            place.copy_from_slice(bytes);
        }
    }

    /// Gives a mapped page a frame of its own.
    fn own(&mut self, address: u32) -> Result<(), Fault> {
        let entry = self.entry(address);
        if entry & OWNED != 0 {
            return Ok(());
        }
        let page = address >> PAGE_BITS;
        let frame = if self.owned < self.limit { self.frames.take(page) } else { None };
        let frame = frame.ok_or(Fault { address, access: Access::Write, kind: FaultKind::Exhausted })?;
        self.owned += 1;
        self.frames_moved();
        self.set_entry(page as usize, frame << PAGE_BITS | entry & OFFSET | OWNED);
        Ok(())
    }

    /// Reads bytes across pages, as a program would.
    ///
    /// # Errors
    /// When one of them is not readable.
    pub fn read_bytes(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        self.each_page(address, out.len(), |memory, address, range| {
            if !rights(memory.entry(address)).has(Rights::READ) {
                return Err(memory.fault(address, 1, Access::Read));
            }
            let from = memory.page_bytes(address, range.len());
            out.get_mut(range).filter(|to| to.len() == from.len()).into_iter().for_each(|to| {
                to.copy_from_slice(from);
            });
            Ok(())
        })
    }

    /// Writes bytes across pages, as a program would; those before a fault are written.
    ///
    /// # Errors
    /// When one of them is not writable, or no memory is left.
    pub fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> Result<bool, Fault> {
        self.store(address, bytes, Rights::WRITE)
    }

    /// Writes bytes to mapped pages whatever their rights are, as a loader or debugger does.
    ///
    /// # Errors
    /// When a page is not mapped, or no memory is left.
    pub fn poke(&mut self, address: u32, bytes: &[u8]) -> Result<bool, Fault> {
        self.store(address, bytes, Rights::NONE)
    }

    fn store(&mut self, address: u32, bytes: &[u8], wanted: Rights) -> Result<bool, Fault> {
        let mut changed = false;
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let address = address.wrapping_add(done as u32);
            let count = rest.len().min((PAGE_BYTES - (address & OFFSET)) as usize);
            let entry = self.entry(address);
            if entry & MAPPED == 0 || !rights(entry).has(wanted) {
                return Err(self.fault(address, 1, Access::Write));
            }
            self.own(address)?;
            changed |= self.wrote_code(address, count as u32);
            self.put(address, rest.get(..count).unwrap_or_default());
            done += count;
        }
        Ok(changed)
    }

    /// Calls `each` with the address and the range of the bytes of every page of an area.
    fn each_page<E>(
        &self,
        address: u32,
        length: usize,
        mut each: impl FnMut(&Memory, u32, std::ops::Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut done = 0;
        while done < length {
            let address = address.wrapping_add(done as u32);
            let count = (length - done).min((PAGE_BYTES - (address & OFFSET)) as usize);
            each(self, address, done..done + count)?;
            done += count;
        }
        Ok(())
    }

    /// Says that an engine translated the word at `address`: a change of it is reported from now on.
    pub fn watch_code(&mut self, address: u32) {
        let words = self.code.entry(address >> PAGE_BITS).or_default();
        let word = (address & OFFSET) >> 2;
        if let Some(bits) = words.get_mut((word >> 6) as usize) {
            *bits |= 1 << (word & 63);
        }
        let entry = self.entry(address);
        if entry & CODE == 0 {
            self.set_entry((address >> PAGE_BITS) as usize, entry | CODE);
        }
    }

    /// [`Memory::watch_code`] for all words of an area.
    pub fn watch_range(&mut self, address: u32, length: u32) {
        let mut at = address & !3;
        let end = u64::from(address) + u64::from(length);
        while u64::from(at) < end {
            self.watch_code(at);
            let page = (u64::from(at >> PAGE_BITS) + 1) << PAGE_BITS;
            let Some(words) = self.code.get_mut(&(at >> PAGE_BITS)) else { return };
            let last = (end.min(page) - 1) as u32;
            for word in (at & OFFSET) >> 2..=(last & OFFSET) >> 2 {
                if let Some(bits) = words.get_mut((word >> 6) as usize) {
                    *bits |= 1 << (word & 63);
                }
            }
            let Ok(next) = u32::try_from(page) else { return };
            at = next;
        }
    }

    /// Whether words that an engine watches lie in `size` bytes of one page.
    pub fn is_watched(&self, address: u32, size: u32) -> bool {
        if self.entry(address) & CODE == 0 {
            return false;
        }
        let first = (address & OFFSET) >> 2;
        let last = ((address & OFFSET) + size.max(1) - 1) >> 2;
        self.code.get(&(address >> PAGE_BITS)).is_some_and(|words| {
            (first..=last)
                .any(|word| words.get((word >> 6) as usize).is_some_and(|bits| bits >> (word & 63) & 1 != 0))
        })
    }

    /// Whether words that an engine watches lie in `size` bytes of one page; the page is stale then.
    fn wrote_code(&mut self, address: u32, size: u32) -> bool {
        let hit = self.is_watched(address, size);
        if hit {
            self.forget_code(address);
        }
        hit
    }

    /// Reports a page's code as stale, and watches it no longer.
    fn forget_code(&mut self, address: u32) {
        let entry = self.entry(address);
        if entry & CODE != 0 {
            self.set_entry((address >> PAGE_BITS) as usize, entry & !CODE);
            self.code.remove(&(address >> PAGE_BITS));
            self.stale.push(address >> PAGE_BITS);
        }
    }

    /// Reports the code of an area as stale, as an instruction cache flush does. Nothing that was written since it was
    /// translated is missed without, so this is only for engines that want to hear of it.
    pub fn flush_code(&mut self, address: u32, length: u32) {
        let first = address >> PAGE_BITS;
        let last = address.saturating_add(length.max(1) - 1) >> PAGE_BITS;
        (first..=last).for_each(|page| self.forget_code(page << PAGE_BITS));
    }

    /// Whether pages of translated code changed since [`take_stale`](Self::take_stale).
    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// The numbers of the pages whose translated code is no longer what memory has, or may run no longer.
    pub fn take_stale(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.stale)
    }
}

fn rights(entry: u32) -> Rights {
    Rights::from_bits(entry >> RIGHTS_SHIFT)
}

/// An entry with the bits of the fast path put right. In a window, only pages with frames of their own are read at once: the
/// others have no memory yet.
fn usable(entry: u32, in_window: bool) -> u32 {
    let rights = rights(entry);
    let mut entry = entry & !(READ | WRITE);
    if rights.has(Rights::READ) && (entry & OWNED != 0 || !in_window) {
        entry |= READ;
    }
    if rights.has(Rights::WRITE) && entry & (OWNED | CODE) == OWNED {
        entry |= WRITE;
    }
    entry
}
