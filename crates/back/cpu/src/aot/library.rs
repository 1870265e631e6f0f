//! A library of a program, loaded.

use super::AotError;
use super::trailer::{self, Trailer};
use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};
use std::path::Path;
use xenoglot_guest::memory::Memory;

/// An access of the library's code to the guest's memory.
#[derive(Clone, Copy)]
#[repr(C)]
struct Site {
    /// Where the instruction is, from this field on.
    insn: i32,
    /// Where its way out is, from this field on.
    out: i32,
    /// The guest's instruction.
    pc: u32,
    /// How many instructions of the guest are executed, but not counted yet.
    pending: u32,
}

/// What a library has for whoever loads it: `xga_info` of its sources.
#[repr(C)]
struct Info {
    code: *const u8,
    code_end: *const u8,
    sites: *const Site,
    sites_end: *const Site,
    table: *const i32,
    base: u32,
    count: u32,
}

/// A program's code, compiled ahead of time.
pub struct Library {
    info: *const Info,
    trailer: Trailer,
    /// Keeps it where it is.
    _loaded: Loaded,
}

// SAFETY: nothing that the pointers lead to changes.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("code", &self.trailer.code).finish_non_exhaustive()
    }
}

/// Where an access that failed goes on, and what is known of it.
pub(crate) struct Out {
    pub(crate) address: u64,
    pub(crate) pc: u32,
    pub(crate) pending: u32,
}

impl Library {
    /// Loads a library that [`compile`](super::compile) made of the program's ELF file. Its code may do whatever the user may: it is to
    /// come from somebody who is trusted.
    ///
    /// # Errors
    /// When it is damaged, made by another version, for another processor, or of another program.
    pub fn open(path: &Path, elf: &[u8]) -> Result<Library, AotError> {
        let file = std::fs::read(path).map_err(AotError::file(path))?;
        let trailer = Trailer::read(&file)
            .map_err(|problem| AotError::NotALibrary { path: path.to_owned(), problem })?;
        let stale = |problem| Err(AotError::Stale { path: path.to_owned(), problem });
        if !trailer.is_current() {
            return stale("it was made by another version");
        }
        if trailer.elf != trailer::hash(elf) {
            return stale("it was made of another program");
        }
        if !trailer.runs_here() {
            return stale("it was made for another processor");
        }
        // A name without a folder would be searched for elsewhere.
        let path = std::path::absolute(path).map_err(AotError::file(path))?;
        let failed = |error| AotError::Load { path: path.clone(), error };
        // SAFETY: it is what `compile` made, by its hash, and has nothing that runs when it is loaded.
        let loaded = unsafe { Loaded::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }.map_err(failed)?;
        // SAFETY: the sources define it with this type.
        let info = unsafe { loaded.get::<*const Info>(b"xga_info\0") }.map_err(failed)?.into_raw();
        Ok(Library { info: info.cast_const().cast(), trailer, _loaded: loaded })
    }

    fn info(&self) -> &Info {
        // SAFETY: the library is loaded as long as this lives.
        unsafe { &*self.info }
    }

    /// Whether memory has the program's code where the library wants it, so that it may run.
    pub(crate) fn fits(&self, memory: &Memory) -> bool {
        let mut bytes = Vec::new();
        self.trailer.code.iter().all(|code| {
            bytes.resize((code.range.end.saturating_sub(code.range.start)) as usize, 0);
            let pages = code.range.clone().step_by(1 << xenoglot_guest::memory::PAGE_BITS);
            let last = code.range.end.wrapping_sub(4);
            pages.chain([last]).all(|pc| memory.fetch(pc & !3).is_ok())
                && memory.read_bytes(code.range.start, &mut bytes).is_ok()
                && trailer::hash(&bytes) == code.hash
        })
    }

    /// Has memory say when code of the program changes.
    pub(crate) fn watch(&self, memory: &mut Memory) {
        for code in &self.trailer.code {
            memory.watch_range(code.range.start, code.range.end.saturating_sub(code.range.start));
        }
    }

    /// Whether a page has code of the program.
    pub(crate) fn has_page(&self, page: u32) -> bool {
        let bits = xenoglot_guest::memory::PAGE_BITS;
        self.trailer
            .code
            .iter()
            .any(|code| (code.range.start >> bits..=code.range.end.wrapping_sub(1) >> bits).contains(&page))
    }

    /// The code for a guest address.
    pub(crate) fn get(&self, pc: u32) -> Option<u64> {
        let info = self.info();
        let place = pc.wrapping_sub(info.base).rotate_right(2);
        if place >= info.count {
            return None;
        }
        // SAFETY: the table has so many entries.
        let entry = unsafe { info.table.add(place as usize) };
        // SAFETY: as above.
        let distance = unsafe { *entry };
        (distance != 0).then(|| (entry.expose_provenance() as u64).wrapping_add_signed(distance.into()))
    }

    /// Whether an instruction of the host is one of the library's.
    pub(crate) fn has_code(&self, address: u64) -> bool {
        let info = self.info();
        (info.code.expose_provenance() as u64..info.code_end.expose_provenance() as u64).contains(&address)
    }

    /// Where the access by an instruction goes on when it fails. It looks at one after the other: a program that fails is at its
    /// end, mostly.
    pub(crate) fn out(&self, address: u64) -> Option<Out> {
        let info = self.info();
        let mut site = info.sites;
        while site < info.sites_end {
            let place = site.expose_provenance() as u64;
            // SAFETY: it is before the end of the sites.
            let found = unsafe { *site };
            if place.wrapping_add_signed(found.insn.into()) == address {
                let address = (place + 4).wrapping_add_signed(found.out.into());
                return Some(Out { address, pc: found.pc, pending: found.pending });
            }
            // SAFETY: as above.
            site = unsafe { site.add(1) };
        }
        None
    }
}
