//! The address space.

use super::{Answer, Call, DONE, Reply, value};
use crate::linux::abi::{Errno, flags};
use crate::linux::fs::{File, Node};
use crate::linux::loader::{LOWEST, rights};
use crate::linux::process::SharedArea;
use crate::memory::{Memory, PAGE_BYTES, Rights};

/// Mappings whose contents go to files, of a process.
const MAX_SHARED: usize = 4096;
/// Where the part of the address space that programs have ends.
const TASK_SIZE: u64 = 0x7fff_8000;

fn whole_pages(length: u32) -> Result<u32, Errno> {
    length.checked_next_multiple_of(PAGE_BYTES).filter(|&length| length != 0).ok_or(Errno::EINVAL)
}

/// Checks an area that a program names.
fn area(address: u32, length: u32) -> Result<(u32, u32), Errno> {
    let length = whole_pages(length)?;
    if !address.is_multiple_of(PAGE_BYTES) || u64::from(address) + u64::from(length) > TASK_SIZE {
        return Err(Errno::EINVAL);
    }
    Ok((address, length))
}

fn protection(call: &Call<'_>, bits: u32) -> Rights {
    rights(bits & 1 != 0, bits & 2 != 0, bits & 4 != 0, call.process.space.executable)
}

/// Sets the end of the heap, and answers where it is; an end that cannot be leaves it where it was.
pub(super) fn brk(call: &mut Call<'_>) -> Reply {
    let wanted = call.arg(0);
    let space = &call.process.space;
    let (heap, end) = (space.heap, space.end);
    if wanted < heap || u64::from(wanted) > TASK_SIZE {
        return value(end);
    }
    let (from, to) = (end.next_multiple_of(PAGE_BYTES), wanted.next_multiple_of(PAGE_BYTES));
    if to > from {
        let length = u64::from(to - from);
        if !call.memory.is_free(from, length) {
            return value(end);
        }
        let rights = rights(true, true, false, space.executable);
        call.memory.map(from, length, rights);
    } else if to < from {
        call.memory.unmap(to, u64::from(from - to));
    }
    call.process.space.end = wanted;
    value(wanted)
}

pub(super) fn mmap(call: &mut Call<'_>) -> Reply {
    let offset = u64::from(call.arg(5));
    map(call, offset)
}

pub(super) fn mmap2(call: &mut Call<'_>) -> Reply {
    let offset = u64::from(call.arg(5)) * u64::from(PAGE_BYTES);
    map(call, offset)
}

fn map(call: &mut Call<'_>, offset: u64) -> Reply {
    let (hint, length, bits, flags, fd) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3), call.arg(4));
    let length = whole_pages(length)?;
    if !offset.is_multiple_of(u64::from(PAGE_BYTES)) || !matches!(flags & flags::MAP_TYPE, 1..=3) {
        return Err(Errno::EINVAL);
    }
    let file =
        if flags & flags::MAP_ANONYMOUS == 0 { Some(call.process.files.get(fd)?.clone()) } else { None };
    // MAP_SHARED_VALIDATE is 3.
    let shared = flags & 1 != 0;
    if let Some(file) = &file {
        let written = shared && bits & 2 != 0;
        if !file.readable() || written && !file.writable() {
            return Err(Errno::EACCES);
        }
    }
    let address = place(call, hint, length, flags)?;
    flush(call, address, length)?;
    let wanted = protection(call, bits);
    call.memory.map(address, length.into(), wanted);
    if let Some(file) = file {
        if let Err(error) = fill(call.memory, address, length, &file, offset) {
            call.memory.unmap(address, length.into());
            return Err(error);
        }
        if shared && file.writable() {
            if call.process.space.shared.len() >= MAX_SHARED {
                return Err(Errno::ENOMEM);
            }
            call.process.space.shared.push(SharedArea { address, length, file, offset });
        }
    }
    value(address)
}

/// Where a mapping goes.
fn place(call: &Call<'_>, hint: u32, length: u32, flags: u32) -> Result<u32, Errno> {
    let free = |address: u32| address >= LOWEST && call.memory.is_free(address, length.into());
    if flags & (flags::MAP_FIXED | flags::MAP_FIXED_NOREPLACE) != 0 {
        let (address, _) = area(hint, length)?;
        if address < LOWEST {
            return Err(Errno::EPERM);
        }
        if flags & flags::MAP_FIXED_NOREPLACE != 0 && !free(address) {
            return Err(Errno::EEXIST);
        }
        return Ok(address);
    }
    let hint = hint & !(PAGE_BYTES - 1);
    if hint != 0 && area(hint, length).is_ok() && free(hint) {
        return Ok(hint);
    }
    call.memory.find_free(length.into(), LOWEST, call.process.space.top).ok_or(Errno::ENOMEM)
}

/// Copies a file's contents to a new mapping.
fn fill(memory: &mut Memory, address: u32, length: u32, file: &File, offset: u64) -> Result<(), Errno> {
    let mut done = 0;
    let mut buffer = vec![0; super::CHUNK];
    while done < length {
        let count = buffer.len().min((length - done) as usize);
        let at = offset.saturating_add(done.into());
        let read = match &file.node {
            Node::Host { fd, .. } => rustix::io::pread(fd, buffer.get_mut(..count).unwrap_or_default(), at)
                .map_err(|_| Errno::ENODEV)?,
            Node::Bytes(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let count = rest.len().min(count);
                if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
                    to.copy_from_slice(from);
                }
                count
            }
            Node::Zero { full: false } => return Ok(()),
            _ => return Err(Errno::ENODEV),
        };
        if read == 0 {
            break;
        }
        memory
            .poke(address.wrapping_add(done), buffer.get(..read).unwrap_or_default())
            .map_err(|_| Errno::ENOMEM)?;
        done += read as u32;
    }
    Ok(())
}

/// Writes what belongs to files in an area back to them, and forgets it.
fn flush(call: &mut Call<'_>, address: u32, length: u32) -> Result<(), Errno> {
    write_back(call, address, length)?;
    let end = address.saturating_add(length);
    let areas = std::mem::take(&mut call.process.space.shared);
    for area in areas {
        let stop = area.address.saturating_add(area.length);
        // What lies before and behind the area stays.
        for (from, to) in [(area.address, stop.min(address)), (area.address.max(end), stop)] {
            if from < to {
                let offset = area.offset + u64::from(from - area.address);
                let file = area.file.clone();
                call.process.space.shared.push(SharedArea { address: from, length: to - from, file, offset });
            }
        }
    }
    Ok(())
}

fn write_back(call: &mut Call<'_>, address: u32, length: u32) -> Result<(), Errno> {
    let end = address.saturating_add(length);
    for area in &call.process.space.shared {
        store(call.memory, area, address, end)?;
    }
    Ok(())
}

/// Writes the part of a shared mapping that lies in `from..to` to its file, up to the file's end.
fn store(memory: &Memory, area: &SharedArea, from: u32, to: u32) -> Result<(), Errno> {
    let fd = area.file.fd()?;
    let size = rustix::fs::fstat(fd)?.st_size as u64;
    let mut at = area.address.max(from);
    let end = area.address.saturating_add(area.length).min(to);
    while at < end {
        let offset = area.offset + u64::from(at - area.address);
        let count = u64::from(end - at).min(super::CHUNK as u64).min(size.saturating_sub(offset));
        if count == 0 {
            break;
        }
        let mut bytes = vec![0; count as usize];
        if memory.read_bytes(at, &mut bytes).is_err() {
            break;
        }
        let written = rustix::io::pwrite(fd, &bytes, offset)?;
        if written == 0 {
            break;
        }
        at = at.saturating_add(written as u32);
    }
    Ok(())
}

/// Writes everything that belongs to files, at the end of a process.
pub(in crate::linux) fn flush_all(areas: &[SharedArea], memory: &Memory) {
    for area in areas {
        if let Err(error) = store(memory, area, 0, u32::MAX) {
            tracing::warn!(?error, "a shared mapping was not written to its file");
        }
    }
}

pub(super) fn munmap(call: &mut Call<'_>) -> Reply {
    let (address, length) = area(call.arg(0), call.arg(1))?;
    flush(call, address, length)?;
    call.memory.unmap(address, length.into());
    DONE
}

pub(super) fn msync(call: &mut Call<'_>) -> Reply {
    let (address, length) = area(call.arg(0), call.arg(1))?;
    write_back(call, address, length)?;
    DONE
}

pub(super) fn mprotect(call: &mut Call<'_>) -> Reply {
    if call.arg(1) == 0 {
        return DONE;
    }
    let (address, length) = area(call.arg(0), call.arg(1))?;
    let wanted = protection(call, call.arg(2));
    if call.memory.protect(address, length.into(), wanted) { DONE } else { Err(Errno::ENOMEM) }
}

pub(super) fn mremap(call: &mut Call<'_>) -> Reply {
    const MAYMOVE: u32 = 1;
    const FIXED: u32 = 2;
    let (address, old) = area(call.arg(0), call.arg(1))?;
    let new = whole_pages(call.arg(2))?;
    let (flags, target) = (call.arg(3), call.arg(4));
    if !call.memory.is_mapped(address, old.into()) {
        return Err(Errno::EFAULT);
    }
    let page_rights = call.memory.rights(address).unwrap_or_default();
    let fixed = flags & FIXED != 0;
    if !fixed && new <= old {
        if new < old {
            flush(call, address + new, old - new)?;
            call.memory.unmap(address + new, u64::from(old - new));
        }
        return value(address);
    }
    let behind = address + old;
    if !fixed && area(address, new).is_ok() && call.memory.is_free(behind, u64::from(new - old)) {
        call.memory.map(behind, u64::from(new - old), page_rights);
        return value(address);
    }
    if flags & MAYMOVE == 0 {
        return Err(if fixed { Errno::EINVAL } else { Errno::ENOMEM });
    }
    let to = if fixed {
        let (to, _) = area(target, new)?;
        if to < LOWEST || to < address.saturating_add(old) && address < to.saturating_add(new) {
            return Err(Errno::EINVAL);
        }
        flush(call, to, new)?;
        to
    } else {
        call.memory.find_free(new.into(), LOWEST, call.process.space.top).ok_or(Errno::ENOMEM)?
    };
    flush(call, address, old)?;
    call.memory.unmap(to, new.into());
    call.memory.relocate(address, to, old.min(new).into());
    if new > old {
        call.memory.map(to + old, u64::from(new - old), page_rights);
    } else {
        call.memory.unmap(address + new, u64::from(old - new));
    }
    value(to)
}

/// Says that code was written. Engines see every write themselves; this is for those that want to hear of it.
pub(super) fn cacheflush(call: &mut Call<'_>) -> Reply {
    call.memory.flush_code(call.arg(0), call.arg(1));
    Ok(Answer::Value(0))
}

/// All that is mapped is in memory.
pub(super) fn mincore(call: &mut Call<'_>) -> Reply {
    let (address, length, mut place) = (call.arg(0), call.arg(1), call.arg(2));
    if !address.is_multiple_of(PAGE_BYTES) {
        return Err(Errno::EINVAL);
    }
    if !call.memory.is_mapped(address, length.into()) {
        return Err(Errno::ENOMEM);
    }
    let mut left = length.div_ceil(PAGE_BYTES);
    while left != 0 {
        let count = left.min(PAGE_BYTES);
        call.put(place, &vec![1; count as usize])?;
        (left, place) = (left - count, place.wrapping_add(count));
    }
    DONE
}
