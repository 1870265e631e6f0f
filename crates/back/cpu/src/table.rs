//! Where the code for a guest address is.

use rustc_hash::FxHashMap;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The addresses of parts, at first zeros: pages of the system's, so that those that are never used cost nothing. An allocator
/// clears all 8 MiB when it has had them before, and a shell starts processes, with an engine each, by the hundred.
struct Parts(NonNull<u64>);

impl Parts {
    const COUNT: usize = 1 << (32 - Table::PART_BITS);
    const BYTES: usize = Parts::COUNT * size_of::<u64>();

    fn new() -> io::Result<Parts> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), Parts::BYTES, rights, flags, -1, 0) };
        match NonNull::new(base.cast::<u64>()) {
            Some(place) if base != libc::MAP_FAILED => Ok(Parts(place)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn set(&mut self, number: u32, address: u64) {
        if (number as usize) < Parts::COUNT {
            // SAFETY: the place is within the mapping, which is aligned to pages, and only code that this thread would run reads it.
            unsafe { self.0.as_ptr().add(number as usize).write(address) };
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and no guest code runs when its engine is dropped.
        unsafe {
            libc::munmap(self.0.as_ptr().cast(), Parts::BYTES);
        }
    }
}

/// Addresses of code in parts of 4 KiB of guest code. Machine code reads it: `parts[turned >> PART_BITS]` is the address of a
/// part or zero, and the part's word `turned & (1 << PART_BITS) - 1` the address of code, where `turned` is the guest address
/// rotated to the right by [`ALIGN_LOG2`](Table::ALIGN_LOG2).
pub(crate) struct Table {
    parts: Parts,
    owned: FxHashMap<u32, Box<[AtomicU64]>>,
    /// Code for addresses without code.
    missing: u64,
}

impl Table {
    /// Instructions are at multiples of four bytes.
    pub(crate) const ALIGN_LOG2: u32 = 2;
    /// Entries of a part.
    pub(crate) const PART_BITS: u32 = 10;

    pub(crate) fn new() -> io::Result<Table> {
        Ok(Table { parts: Parts::new()?, owned: FxHashMap::default(), missing: 0 })
    }

    /// Sets the code for addresses without code, before there are any.
    pub(crate) fn set_missing(&mut self, missing: u64) {
        self.missing = missing;
    }

    /// The table of parts, for machine code. It stays where it is.
    pub(crate) fn parts(&self) -> *const u64 {
        self.parts.0.as_ptr()
    }

    fn place(&mut self, pc: u32) -> Option<&AtomicU64> {
        let turned = pc.rotate_right(Table::ALIGN_LOG2);
        let number = turned >> Table::PART_BITS;
        let missing = self.missing;
        let part = self.owned.entry(number).or_insert_with(|| {
            (0..1 << Table::PART_BITS).map(|_| AtomicU64::new(missing)).collect::<Vec<_>>().into_boxed_slice()
        });
        self.parts.set(number, part.as_ptr() as u64);
        part.get((turned & ((1 << Table::PART_BITS) - 1)) as usize)
    }

    /// Where the address of the code for `pc` is, for machine code. It stays there.
    pub(crate) fn entry(&mut self, pc: u32) -> Option<u64> {
        if pc & 3 != 0 {
            return None;
        }
        self.place(pc).map(|place| std::ptr::from_ref(place) as u64)
    }

    /// The code for `pc`.
    pub(crate) fn get(&self, pc: u32) -> Option<u64> {
        let turned = pc.rotate_right(Table::ALIGN_LOG2);
        let part = self.owned.get(&(turned >> Table::PART_BITS))?;
        let code = part.get((turned & ((1 << Table::PART_BITS) - 1)) as usize)?.load(Ordering::Relaxed);
        (code != self.missing).then_some(code)
    }

    /// Sets the code for `pc`, an address of an instruction.
    pub(crate) fn set(&mut self, pc: u32, code: Option<u64>) {
        let code = code.unwrap_or(self.missing);
        if pc & 3 == 0
            && let Some(place) = self.place(pc)
        {
            place.store(code, Ordering::Relaxed);
        }
    }

    /// Forgets all code.
    pub(crate) fn clear(&mut self) {
        for place in self.owned.values().flat_map(|part| part.iter()) {
            place.store(self.missing, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code for an address as machine code looks it up: none where there is no part.
    fn looked_up(table: &Table, pc: u32) -> Option<u64> {
        let turned = pc.rotate_right(Table::ALIGN_LOG2);
        let (number, index) = (turned >> Table::PART_BITS, turned & ((1 << Table::PART_BITS) - 1));
        // SAFETY: there are as many parts as numbers of so many bits.
        let part = unsafe { table.parts().add(number as usize).read() } as *const u64;
        // SAFETY: a part has as many words as indices of so many bits, and lives as long as the table.
        (!part.is_null()).then(|| unsafe { part.add(index as usize).read() })
    }

    #[test]
    fn machine_code_finds_what_is_set() {
        let mut table = Table::new().expect("memory");
        table.set_missing(7);
        for pc in [0, 0x0fff_fffc, 0x0040_0000, 0x7fff_fffc, 0xffff_fffc] {
            assert_eq!((table.get(pc), looked_up(&table, pc)), (None, None));
            table.set(pc, Some(u64::from(pc) + 100));
        }
        for pc in [0, 0x0fff_fffc, 0x0040_0000, 0x7fff_fffc, 0xffff_fffc] {
            let code = Some(u64::from(pc) + 100);
            assert_eq!((table.get(pc), looked_up(&table, pc)), (code, code));
        }
        // The neighbours have what stands for code that is missing, and addresses that are not aligned have no parts.
        assert_eq!((table.get(8), looked_up(&table, 8)), (None, Some(7)));
        for pc in [1, 0x0040_0002, 0xffff_ffff] {
            table.set(pc, Some(1));
            assert_eq!((table.get(pc), looked_up(&table, pc), table.entry(pc)), (None, None, None));
        }
        table.clear();
        assert_eq!((table.get(0), looked_up(&table, 0)), (None, Some(7)));
    }
}
