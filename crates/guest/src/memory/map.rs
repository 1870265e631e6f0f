//! Mapping, unmapping, rights.

use super::{
    CODE, MAPPED, Memory, OFFSET, OWNED, PAGE_BITS, PAGE_BYTES, PAGES, RIGHTS_SHIFT, Rights, usable,
};

/// The pages of an area, as numbers. Empty for no bytes.
fn pages(address: u32, length: u64) -> std::ops::Range<usize> {
    let first = (address >> PAGE_BITS) as usize;
    let end = (u64::from(address) + length).div_ceil(u64::from(PAGE_BYTES)).min(PAGES as u64) as usize;
    if length == 0 { first..first } else { first..end.max(first) }
}

impl Memory {
    /// Maps the pages of an area, as zeros; what was there is gone.
    pub fn map(&mut self, address: u32, length: u64, rights: Rights) {
        self.unmap(address, length);
        let entry = usable(MAPPED | u32::from(rights.0) << RIGHTS_SHIFT);
        pages(address, length).for_each(|page| self.set_entry(page, entry));
    }

    /// Unmaps the pages of an area.
    pub fn unmap(&mut self, address: u32, length: u64) {
        let range = pages(address, length);
        self.invalidate(range.clone());
        for page in range {
            let Some(&entry) = self.table.get(page) else { break };
            let frame = entry & !OFFSET;
            self.set_entry(page, 0);
            if entry & OWNED != 0 {
                // The next owner wants zeros.
                if let Some(bytes) =
                    self.frames.get_mut(frame as usize..).and_then(|b| b.get_mut(..1 << PAGE_BITS))
                {
                    bytes.fill(0);
                }
                self.free.push(frame >> PAGE_BITS);
            }
        }
    }

    /// Sets the rights of the pages of an area. Answers `false`, having changed nothing, when one is not mapped.
    pub fn protect(&mut self, address: u32, length: u64, rights: Rights) -> bool {
        let range = pages(address, length);
        if !self
            .table
            .get(range.clone())
            .is_some_and(|entries| entries.iter().all(|entry| entry & MAPPED != 0))
        {
            return false;
        }
        self.invalidate(range.clone());
        for page in range {
            let Some(&entry) = self.table.get(page) else { break };
            self.set_entry(page, usable(entry & !(7 << RIGHTS_SHIFT) | u32::from(rights.0) << RIGHTS_SHIFT));
        }
        true
    }

    /// Moves the pages of an area with contents and rights; what was at the destination is gone. The areas must not
    /// overlap.
    pub fn relocate(&mut self, from: u32, to: u32, length: u64) {
        self.unmap(to, length);
        self.invalidate(pages(from, length));
        for (source, target) in pages(from, length).zip(pages(to, length)) {
            let entry = self.table.get(source).copied().unwrap_or_default();
            self.set_entry(source, 0);
            self.set_entry(target, entry);
        }
    }

    /// Rights of the page of an address; `None` when it is not mapped.
    pub fn rights(&self, address: u32) -> Option<Rights> {
        let entry = self.entry(address);
        (entry & MAPPED != 0).then(|| super::rights(entry))
    }

    /// Whether no page of an area is mapped.
    pub fn is_free(&self, address: u32, length: u64) -> bool {
        u64::from(address) + length <= 1 << 32
            && self
                .table
                .get(pages(address, length))
                .is_some_and(|e| e.iter().all(|entry| entry & MAPPED == 0))
    }

    /// Whether every page of an area is mapped.
    pub fn is_mapped(&self, address: u32, length: u64) -> bool {
        u64::from(address) + length <= 1 << 32
            && self
                .table
                .get(pages(address, length))
                .is_some_and(|e| e.iter().all(|entry| entry & MAPPED != 0))
    }

    /// The highest free area of `length` bytes that lies in `low..high`.
    pub fn find_free(&self, length: u64, low: u32, high: u32) -> Option<u32> {
        let wanted = length.div_ceil(u64::from(PAGE_BYTES)).max(1);
        let mut free = 0;
        for page in ((low >> PAGE_BITS)..(high >> PAGE_BITS)).rev() {
            free = if self.table.get(page as usize)? & MAPPED == 0 { free + 1 } else { 0 };
            if free == wanted {
                return Some(page << PAGE_BITS);
            }
        }
        None
    }

    /// Reports code of the pages as stale, and that of the page before: its last branch may have its slot in the first.
    fn invalidate(&mut self, range: std::ops::Range<usize>) {
        if self.code.is_empty() {
            return;
        }
        for page in range.start.saturating_sub(1)..range.end {
            if self.table.get(page).is_some_and(|entry| entry & CODE != 0) {
                self.forget_code((page as u32) << PAGE_BITS);
            }
        }
    }

    /// The same memory again, as `fork` wants it; nothing of it is watched. `None` when the host has no room.
    pub fn duplicate(&self) -> Option<Memory> {
        let mut frames = Vec::new();
        frames.try_reserve_exact(self.frames.len()).ok()?;
        frames.extend_from_slice(&self.frames);
        let mut table = self.table.clone();
        for entry in table.iter_mut().filter(|entry| **entry & CODE != 0) {
            *entry = usable(*entry & !CODE);
        }
        let (code, stale) = Default::default();
        let (host, identity) = (None, super::Identity::new());
        Some(Memory {
            table,
            frames,
            free: self.free.clone(),
            limit: self.limit,
            code,
            stale,
            host,
            identity,
        })
    }

    /// The mapped areas in order: runs of pages with the same rights.
    pub fn areas(&self) -> Vec<(std::ops::Range<u64>, Rights)> {
        let mut out: Vec<(std::ops::Range<u64>, Rights)> = Vec::new();
        for (page, &entry) in self.table.iter().enumerate().filter(|(_, entry)| **entry & MAPPED != 0) {
            let (start, rights) = ((page as u64) << PAGE_BITS, super::rights(entry));
            match out.last_mut() {
                Some((range, same)) if range.end == start && *same == rights => range.end += 1 << PAGE_BITS,
                _ => out.push((start..start + (1 << PAGE_BITS), rights)),
            }
        }
        out
    }
}
