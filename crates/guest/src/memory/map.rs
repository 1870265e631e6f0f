//! Mapping, unmapping, rights.

use super::frames::Frames;
use super::window::Open;
use super::{
    CODE, MAPPED, Memory, OFFSET, OPEN, OWNED, PAGE_BITS, PAGE_BYTES, PAGES, READ, RIGHTS_SHIFT, Rights,
    WRITE, usable,
};
use std::ops::Range;

/// Pages that are opened to machine code together, at most: each time costs a signal.
const TOGETHER: usize = 16;

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
        let entry = MAPPED | u32::from(rights.0) << RIGHTS_SHIFT;
        pages(address, length).for_each(|page| self.set_entry(page, entry));
    }

    /// Unmaps the pages of an area.
    pub fn unmap(&mut self, address: u32, length: u64) {
        let range = pages(address, length);
        self.invalidate(range.clone());
        self.close(range.clone());
        let before = self.owned;
        for page in range.clone() {
            let Some(&entry) = self.table.get(page) else { break };
            self.set_entry(page, 0);
            if entry & OWNED != 0 {
                self.frames.give_back(entry >> PAGE_BITS);
                self.owned -= 1;
            }
        }
        if let Some(window) = self.frames.window().filter(|_| self.owned != before) {
            window.clear(range);
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
        self.close(range.clone());
        for page in range {
            let Some(&entry) = self.table.get(page) else { break };
            self.set_entry(page, entry & !(7 << RIGHTS_SHIFT) | u32::from(rights.0) << RIGHTS_SHIFT);
        }
        true
    }

    /// Moves the pages of an area with contents and rights; what was at the destination is gone. The areas must not
    /// overlap.
    pub fn relocate(&mut self, from: u32, to: u32, length: u64) {
        self.unmap(to, length);
        self.invalidate(pages(from, length));
        self.close(pages(from, length));
        let in_window = self.frames.window().is_some();
        for (source, target) in pages(from, length).zip(pages(to, length)) {
            let mut entry = self.table.get(source).copied().unwrap_or_default();
            self.set_entry(source, 0);
            if in_window && entry & OWNED != 0 {
                let bytes = self.frames.bytes(entry, 0, PAGE_BYTES as usize).to_vec();
                entry = (target as u32) << PAGE_BITS | entry & OFFSET;
                self.frames.bytes_mut(entry, 0, PAGE_BYTES as usize).copy_from_slice(&bytes);
            }
            self.set_entry(target, entry);
        }
        if let Some(window) = self.frames.window() {
            window.clear(pages(from, length));
        }
    }

    /// Takes pages away from machine code that has some of them.
    pub(super) fn close(&mut self, range: Range<usize>) {
        let Some(window) = self.frames.window() else { return };
        let Some(entries) = self.table.get_mut(range.clone()) else { return };
        if !entries.iter().any(|entry| entry & OPEN != 0) {
            return;
        }
        let closed = match window.close(range) {
            true => entries,
            false => &mut self.table[..],
        };
        closed.iter_mut().for_each(|entry| *entry &= !OPEN);
    }

    /// The address at which machine code of the host finds this memory: the guest's address is to be added to it, and accesses
    /// up to eight bytes are the host's own. One that the host refuses, by a signal, has to be told to
    /// [`Memory::open`], and goes through this memory if that does not help. The host checks no alignment. `None` where the
    /// system has no such area.
    ///
    /// The area stays where it is as long as the memory lives. It may be accessed while nobody else uses the memory.
    pub fn window(&mut self) -> Option<*mut u8> {
        if self.frames.window().is_none() {
            let mut frames = Frames::in_window()?;
            for page in self.touched.pages() {
                let Some(entry) = self.table.get_mut(page).filter(|entry| **entry != 0) else { continue };
                if *entry & OWNED != 0 {
                    let moved = (page as u32) << PAGE_BITS | *entry & OFFSET;
                    let bytes = self.frames.bytes(*entry, 0, PAGE_BYTES as usize);
                    frames.bytes_mut(moved, 0, PAGE_BYTES as usize).copy_from_slice(bytes);
                    *entry = moved;
                }
                *entry = usable(*entry, true);
            }
            self.frames = frames;
            self.frames_moved();
        }
        self.frames.window().map(|window| window.guarded())
    }

    /// Opens the page of an address, and some around it, to machine code that was refused an access in the
    /// [window](Memory::window). Whether it helps to try again.
    pub fn open(&mut self, address: u32, write: bool) -> bool {
        let page = (address >> PAGE_BITS) as usize;
        let wanted = if write { Rights::WRITE } else { Rights::READ };
        let Some(before) = self.table.get(page).copied() else { return false };
        if before & OPEN != 0 || !super::rights(before).has(wanted) || self.frames.window().is_none() {
            return false;
        }
        let alike = |entry: u32| (entry ^ before) & !(!OFFSET | READ | WRITE) == 0;
        let first = page / TOGETHER * TOGETHER;
        let mut range = page..page + 1;
        while range.end < first + TOGETHER && self.table.get(range.end).copied().is_some_and(alike) {
            range.end += 1;
        }
        while range.start > first && self.table.get(range.start - 1).copied().is_some_and(alike) {
            range.start -= 1;
        }
        // The page itself first, if there is not memory for all.
        let others = range.clone().filter(|&other| other != page);
        let failed =
            std::iter::once(page).chain(others).find(|&n| self.own((n as u32) << PAGE_BITS).is_err());
        match failed {
            Some(failed) if failed == page => return false,
            Some(_) => range = page..page + 1,
            None => {}
        }
        let Some(entry) = self.table.get(page).copied() else { return false };
        let open = match (entry & READ != 0, entry & WRITE != 0) {
            (true, true) => Open::Write,
            (true, false) if !write => Open::Read,
            // What may be written but not read, nobody asks of the host.
            _ => return false,
        };
        if !self.frames.window().is_some_and(|window| window.open(range.clone(), open)) {
            return false;
        }
        self.table.get_mut(range).into_iter().flatten().for_each(|entry| *entry |= OPEN);
        true
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
        let mut copy = Memory::new(0);
        copy.limit = self.limit;
        // Without a window of its own the copy works all the same, more slowly.
        if self.frames.window().is_some()
            && let Some(frames) = Frames::in_window()
        {
            copy.frames = frames;
        }
        for (page, entry) in self.entries() {
            copy.set_entry(page, entry & OFFSET & !(OWNED | CODE));
            if entry & OWNED != 0 {
                let address = (page as u32) << PAGE_BITS;
                copy.own(address).ok()?;
                copy.put(address, self.frames.bytes(entry, 0, PAGE_BYTES as usize));
            }
        }
        Some(copy)
    }

    /// The mapped areas in order: runs of pages with the same rights.
    pub fn areas(&self) -> Vec<(std::ops::Range<u64>, Rights)> {
        let mut out: Vec<(std::ops::Range<u64>, Rights)> = Vec::new();
        for (page, entry) in self.entries().filter(|(_, entry)| entry & MAPPED != 0) {
            let (start, rights) = ((page as u64) << PAGE_BITS, super::rights(entry));
            match out.last_mut() {
                Some((range, same)) if range.end == start && *same == rights => range.end += 1 << PAGE_BITS,
                _ => out.push((start..start + (1 << PAGE_BITS), rights)),
            }
        }
        out
    }
}
