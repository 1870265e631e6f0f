//! Where the code for a guest address is.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Addresses of code in parts of 4 KiB of guest code. Machine code reads it: `parts[turned >> PART_BITS]` is the address of a
/// part or zero, and the part's word `turned & (1 << PART_BITS) - 1` the address of code, where `turned` is the guest address
/// rotated to the right by [`ALIGN_LOG2`](Table::ALIGN_LOG2).
pub(crate) struct Table {
    parts: Vec<u64>,
    owned: FxHashMap<u32, Box<[AtomicU64]>>,
    /// Code for addresses without code.
    missing: u64,
}

impl Table {
    /// Instructions are at multiples of four bytes.
    pub(crate) const ALIGN_LOG2: u32 = 2;
    /// Entries of a part.
    pub(crate) const PART_BITS: u32 = 10;

    pub(crate) fn new() -> Table {
        Table { parts: vec![0; 1 << (32 - Table::PART_BITS)], owned: FxHashMap::default(), missing: 0 }
    }

    /// Sets the code for addresses without code, before there are any.
    pub(crate) fn set_missing(&mut self, missing: u64) {
        self.missing = missing;
    }

    /// The table of parts, for machine code. It stays where it is.
    pub(crate) fn parts(&self) -> *const u64 {
        self.parts.as_ptr()
    }

    fn place(&mut self, pc: u32) -> Option<&AtomicU64> {
        let turned = pc.rotate_right(Table::ALIGN_LOG2);
        let number = turned >> Table::PART_BITS;
        let missing = self.missing;
        let part = self.owned.entry(number).or_insert_with(|| {
            (0..1 << Table::PART_BITS).map(|_| AtomicU64::new(missing)).collect::<Vec<_>>().into_boxed_slice()
        });
        if let Some(place) = self.parts.get_mut(number as usize) {
            *place = part.as_ptr() as u64;
        }
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
