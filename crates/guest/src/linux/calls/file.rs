//! Calls on descriptors.

use super::{Answer, CHUNK, Call, DONE, Reply, Wait, value};
use crate::linux::abi::{Errno, code, flags, sig};
use crate::linux::fs::{Description, Descriptor, File, Node};
use crate::linux::signals::Info;
use rustix::event::{EventfdFlags, PollFlags};
use rustix::fs::{Mode, SeekFrom};

/// Parts of a vector (`UIO_MAXIOV`).
const MAX_PARTS: u32 = 1024;

/// Memory of the guest that is read or written: addresses and lengths.
type Parts = Vec<(u32, u32)>;

fn parts(call: &Call<'_>) -> Result<Parts, Errno> {
    let (address, count) = (call.arg(1), call.arg(2));
    if count > MAX_PARTS {
        return Err(Errno::EINVAL);
    }
    let mut total = 0u32;
    let mut out = Vec::new();
    for n in 0..count {
        let at = address.wrapping_add(8 * n);
        let (base, length) = (call.word(at)?, call.word(at.wrapping_add(4))?);
        total = total.checked_add(length).filter(|&total| total as i32 >= 0).ok_or(Errno::EINVAL)?;
        out.push((base, length));
    }
    Ok(out)
}

pub(super) fn read(call: &mut Call<'_>) -> Reply {
    let part = (call.arg(1), call.arg(2).min(i32::MAX as u32));
    input(call, &[part], None)
}

pub(super) fn readv(call: &mut Call<'_>) -> Reply {
    let parts = parts(call)?;
    input(call, &parts, None)
}

pub(super) fn pread64(call: &mut Call<'_>) -> Reply {
    let part = (call.arg(1), call.arg(2).min(i32::MAX as u32));
    let offset = call.wide(4);
    input(call, &[part], Some(offset))
}

pub(super) fn write(call: &mut Call<'_>) -> Reply {
    let part = (call.arg(1), call.arg(2).min(i32::MAX as u32));
    output(call, &[part], None)
}

pub(super) fn writev(call: &mut Call<'_>) -> Reply {
    let parts = parts(call)?;
    output(call, &parts, None)
}

pub(super) fn pwrite64(call: &mut Call<'_>) -> Reply {
    let part = (call.arg(1), call.arg(2).min(i32::MAX as u32));
    let offset = call.wide(4);
    output(call, &[part], Some(offset))
}

/// Whether a stream has what is asked for; the answer otherwise.
fn until_ready(file: &File, wanted: PollFlags) -> Option<Reply> {
    if !file.may_wait() {
        return None;
    }
    match file.ready(wanted) {
        Err(error) => Some(Err(error)),
        Ok(ready) if !ready.is_empty() => None,
        Ok(_) if file.nonblocking() => Some(Err(Errno::EAGAIN)),
        Ok(_) => Some(wait_for(file, wanted)),
    }
}

fn wait_for(file: &File, wanted: PollFlags) -> Reply {
    Ok(Answer::Wait(Wait { files: vec![(file.clone(), wanted)], restarts: true, ..Wait::default() }))
}

/// Checks that an offset may be given.
fn seekable(file: &File, offset: Option<u64>) -> Result<(), Errno> {
    match offset {
        Some(_) if file.may_wait() => Err(Errno::ESPIPE),
        Some(offset) if offset > i64::MAX as u64 => Err(Errno::EINVAL),
        _ => Ok(()),
    }
}

/// Checks that a counter is read or written as a whole.
fn counts(file: &File, parts: &[(u32, u32)]) -> Result<(), Errno> {
    let is_whole = parts.first().is_some_and(|&(_, length)| length >= 8);
    if matches!(file.node, Node::Event(_)) && !is_whole { Err(Errno::EINVAL) } else { Ok(()) }
}

fn input(call: &mut Call<'_>, parts: &[(u32, u32)], offset: Option<u64>) -> Reply {
    let file = call.file(0)?;
    if !file.readable() {
        return Err(Errno::EBADF);
    }
    if file.is_directory() {
        return Err(Errno::EISDIR);
    }
    seekable(&file, offset)?;
    counts(&file, parts)?;
    if parts.iter().all(|&(_, length)| length == 0) {
        return value(0);
    }
    if let Some(reply) = until_ready(&file, PollFlags::IN) {
        return reply;
    }
    let mut total = 0u32;
    let mut buffer = vec![0; CHUNK];
    for &(address, length) in parts {
        let mut done = 0;
        while done < length {
            let count = buffer.len().min((length - done) as usize);
            let part = buffer.get_mut(..count).unwrap_or_default();
            let at = offset.map(|offset| offset.saturating_add(total.into()));
            let read = match read_some(call, &file, part, at) {
                Ok(read) => read,
                Err(Errno::EAGAIN) if total == 0 && !file.nonblocking() => {
                    return wait_for(&file, PollFlags::IN);
                }
                Err(_) if total != 0 => return value(total),
                Err(error) => return Err(error),
            };
            let bytes = buffer.get(..read).unwrap_or_default();
            if let Err(error) = call.put(address.wrapping_add(done), bytes) {
                return if total == 0 { Err(error) } else { value(total) };
            }
            done += read as u32;
            total += read as u32;
            // A stream gives what it has.
            if read < count || file.may_wait() {
                return value(total);
            }
        }
    }
    value(total)
}

fn read_some(call: &Call<'_>, file: &Description, out: &mut [u8], at: Option<u64>) -> Result<usize, Errno> {
    match &file.node {
        Node::Host { fd, .. } => Ok(match at {
            Some(at) => rustix::io::pread(fd, out, at)?,
            None => rustix::io::read(fd, out)?,
        }),
        Node::Event(fd) => {
            let mut bytes = [0; 8];
            let out = out.get_mut(..8).ok_or(Errno::EINVAL)?;
            rustix::io::read(fd, &mut bytes)?;
            out.copy_from_slice(&call.layout().u64(u64::from_ne_bytes(bytes)).bytes);
            Ok(8)
        }
        Node::Epoll(_) => Err(Errno::EINVAL),
        Node::Null => Ok(0),
        Node::Zero { .. } => {
            out.fill(0);
            Ok(out.len())
        }
        Node::Random => {
            call.process.shared.random(out);
            Ok(out.len())
        }
        Node::Bytes(bytes) => {
            let mut state = file.state();
            let from = usize::try_from(at.unwrap_or(state.offset)).unwrap_or(usize::MAX);
            let rest = bytes.get(from..).unwrap_or_default();
            let count = rest.len().min(out.len());
            if let (Some(to), Some(from)) = (out.get_mut(..count), rest.get(..count)) {
                to.copy_from_slice(from);
            }
            if at.is_none() {
                state.offset += count as u64;
            }
            Ok(count)
        }
    }
}

fn output(call: &mut Call<'_>, parts: &[(u32, u32)], offset: Option<u64>) -> Reply {
    let file = call.file(0)?;
    if !file.writable() {
        return Err(Errno::EBADF);
    }
    seekable(&file, offset)?;
    counts(&file, parts)?;
    if let Some(reply) = until_ready(&file, PollFlags::OUT) {
        return reply;
    }
    let mut total = 0u32;
    for &(address, length) in parts {
        let mut done = 0;
        while done < length {
            let count = CHUNK.min((length - done) as usize);
            let bytes = match call.get(address.wrapping_add(done), count) {
                Ok(bytes) => bytes,
                Err(error) => return if total == 0 { Err(error) } else { value(total) },
            };
            let at = offset.map(|offset| offset.saturating_add(total.into()));
            let written = match write_some(call, &file, &bytes, at) {
                Ok(written) => written,
                Err(Errno::EAGAIN) if total == 0 && !file.nonblocking() => {
                    return wait_for(&file, PollFlags::OUT);
                }
                Err(_) if total != 0 => return value(total),
                Err(Errno::EPIPE) => {
                    let pid = call.process.pid;
                    call.raise(Info::sent(sig::PIPE, code::USER, pid, 0));
                    return Err(Errno::EPIPE);
                }
                Err(error) => return Err(error),
            };
            done += written as u32;
            total += written as u32;
            if written < count {
                return value(total);
            }
        }
    }
    value(total)
}

fn write_some(call: &Call<'_>, file: &Description, bytes: &[u8], at: Option<u64>) -> Result<usize, Errno> {
    match &file.node {
        Node::Host { fd, .. } => Ok(match at {
            Some(at) => rustix::io::pwrite(fd, bytes, at)?,
            None => rustix::io::write(fd, bytes)?,
        }),
        Node::Event(fd) => {
            let bytes = *bytes.first_chunk().ok_or(Errno::EINVAL)?;
            let count = match call.cpu.endian {
                xenoglot_mips::Endian::Big => u64::from_be_bytes(bytes),
                xenoglot_mips::Endian::Little => u64::from_le_bytes(bytes),
            };
            Ok(rustix::io::write(fd, &count.to_ne_bytes())?)
        }
        Node::Epoll(_) => Err(Errno::EINVAL),
        Node::Zero { full: true } => Err(Errno::ENOSPC),
        Node::Null | Node::Zero { .. } | Node::Random => Ok(bytes.len()),
        Node::Bytes(_) => Err(Errno::EBADF),
    }
}

pub(super) fn preadv(call: &mut Call<'_>) -> Reply {
    let (parts, offset) = (parts(call)?, low_and_high(call));
    input(call, &parts, Some(offset))
}

pub(super) fn pwritev(call: &mut Call<'_>) -> Reply {
    let (parts, offset) = (parts(call)?, low_and_high(call));
    output(call, &parts, Some(offset))
}

/// An offset in two arguments, the lower word first whatever the byte order.
fn low_and_high(call: &Call<'_>) -> u64 {
    u64::from(call.arg(4)) << 32 | u64::from(call.arg(3))
}

/// `eventfd` without flags.
pub(super) fn eventfd(call: &mut Call<'_>) -> Reply {
    new_event(call, 0)
}

pub(super) fn eventfd2(call: &mut Call<'_>) -> Reply {
    new_event(call, call.arg(1))
}

fn new_event(call: &mut Call<'_>, bits: u32) -> Reply {
    const SEMAPHORE: u32 = 1;
    if bits & !(SEMAPHORE | flags::O_NONBLOCK | flags::O_CLOEXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    // Never waited for on the host: that is done by asking again.
    let mut host = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    host.set(EventfdFlags::SEMAPHORE, bits & SEMAPHORE != 0);
    let fd = rustix::event::eventfd(call.arg(0), host)?;
    let file = Description::event(fd, 2 | bits & flags::O_NONBLOCK);
    value(call.process.files.insert(file, bits & flags::O_CLOEXEC != 0, 0)?)
}

pub(super) fn close(call: &mut Call<'_>) -> Reply {
    call.process.files.close(call.arg(0))?;
    DONE
}

pub(super) fn close_range(call: &mut Call<'_>) -> Reply {
    const CLOEXEC: u32 = 4;
    let (first, last, flags) = (call.arg(0), call.arg(1), call.arg(2));
    if first > last || flags & !CLOEXEC != 0 {
        return Err(Errno::EINVAL);
    }
    for fd in first..last.saturating_add(1).min(call.process.files.count()) {
        // Numbers without a file are passed over.
        match call.process.files.get_mut(fd) {
            Ok(descriptor) if flags & CLOEXEC != 0 => descriptor.close_on_exec = true,
            _ => drop(call.process.files.close(fd)),
        }
    }
    DONE
}

/// Moves the place where reading and writing goes on.
fn seek(call: &Call<'_>, offset: i64, whence: u32) -> Result<u64, Errno> {
    let file = call.file(0)?;
    let from_start = || u64::try_from(offset).map_err(|_| Errno::EINVAL);
    if file.is_directory() {
        let mut state = file.state();
        state.offset = match whence {
            0 => from_start()?,
            1 if offset == 0 => state.offset,
            _ => return Err(Errno::EINVAL),
        };
        if state.offset == 0 {
            state.entries = None;
        }
        return Ok(state.offset);
    }
    match &file.node {
        Node::Host { fd, .. } => {
            let to = match whence {
                0 => SeekFrom::Start(from_start()?),
                1 => SeekFrom::Current(offset),
                2 => SeekFrom::End(offset),
                3 => SeekFrom::Data(from_start()?),
                4 => SeekFrom::Hole(from_start()?),
                _ => return Err(Errno::EINVAL),
            };
            Ok(rustix::fs::seek(fd, to)?)
        }
        Node::Bytes(bytes) => {
            let mut state = file.state();
            let base = match whence {
                0 => 0,
                1 => state.offset as i64,
                2 => bytes.len() as i64,
                _ => return Err(Errno::EINVAL),
            };
            let to = base.checked_add(offset).and_then(|to| u64::try_from(to).ok());
            state.offset = to.ok_or(Errno::EINVAL)?;
            Ok(state.offset)
        }
        _ => Ok(0),
    }
}

pub(super) fn lseek(call: &mut Call<'_>) -> Reply {
    let at = seek(call, i64::from(call.arg(1) as i32), call.arg(2))?;
    value(u32::try_from(at).map_err(|_| Errno::EOVERFLOW)?)
}

pub(super) fn llseek(call: &mut Call<'_>) -> Reply {
    let offset = u64::from(call.arg(1)) << 32 | u64::from(call.arg(2));
    let at = seek(call, offset as i64, call.arg(4))?;
    let bytes = call.layout().u64(at).bytes;
    call.put(call.arg(3), &bytes)?;
    DONE
}

pub(super) fn dup(call: &mut Call<'_>) -> Reply {
    let file = call.file(0)?;
    value(call.process.files.insert(file, false, 0)?)
}

fn duplicate(call: &mut Call<'_>, close_on_exec: bool) -> Reply {
    let (file, to) = (call.file(0)?, call.arg(1));
    call.process.files.put(to, Descriptor { file, close_on_exec })?;
    value(to)
}

pub(super) fn dup2(call: &mut Call<'_>) -> Reply {
    if call.arg(0) == call.arg(1) {
        call.file(0)?;
        return value(call.arg(1));
    }
    duplicate(call, false)
}

pub(super) fn dup3(call: &mut Call<'_>) -> Reply {
    if call.arg(0) == call.arg(1) {
        return Err(Errno::EINVAL);
    }
    duplicate(call, call.arg(2) & flags::O_CLOEXEC != 0)
}

fn new_pipe(call: &mut Call<'_>, bits: u32) -> Result<(u32, u32), Errno> {
    // Never waited for on the host: that is done by asking again.
    let host = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
    let (read, write) = rustix::pipe::pipe_with(host)?;
    let status = bits & flags::O_NONBLOCK;
    let close_on_exec = bits & flags::O_CLOEXEC != 0;
    let (read, write) = (Description::pipe(read, status), Description::pipe(write, status | 1));
    let first = call.process.files.insert(read, close_on_exec, 0)?;
    match call.process.files.insert(write, close_on_exec, 0) {
        Ok(second) => Ok((first, second)),
        Err(error) => {
            call.process.files.close(first)?;
            Err(error)
        }
    }
}

/// Answers both descriptors in registers.
pub(super) fn pipe(call: &mut Call<'_>) -> Reply {
    let (read, write) = new_pipe(call, 0)?;
    Ok(Answer::Pair(read, write))
}

pub(super) fn pipe2(call: &mut Call<'_>) -> Reply {
    let (read, write) = new_pipe(call, call.arg(1))?;
    let bytes = call.layout().words([read, write]).bytes;
    call.put(call.arg(0), &bytes)?;
    DONE
}

pub(super) fn fcntl(call: &mut Call<'_>) -> Reply {
    let (fd, command, argument) = (call.arg(0), call.arg(1), call.arg(2));
    let file = call.file(0)?;
    match command {
        0 => value(call.process.files.insert(file, false, argument)?),
        1030 => value(call.process.files.insert(file, true, argument)?),
        1 => value(u32::from(call.process.files.get_mut(fd)?.close_on_exec)),
        2 => {
            call.process.files.get_mut(fd)?.close_on_exec = argument & 1 != 0;
            DONE
        }
        3 => value(file.flags() | flags::O_LARGEFILE),
        4 => {
            let changeable = flags::O_APPEND | flags::O_NONBLOCK;
            let mut state = file.state();
            state.flags = state.flags & !changeable | argument & changeable;
            if let Node::Host { fd, .. } = &file.node {
                // How the host's file waits is ours to say; where it writes is not.
                let mut host = rustix::fs::fcntl_getfl(fd)?;
                host.set(rustix::fs::OFlags::APPEND, argument & flags::O_APPEND != 0);
                rustix::fs::fcntl_setfl(fd, host)?;
            }
            DONE
        }
        // Locks: F_GETLK answers that nobody has one; the two forms have the type first.
        14 | 33 => {
            let bytes = call.layout().u16(2).bytes;
            call.put(argument, &bytes)?;
            DONE
        }
        6 | 7 | 34 | 35 => DONE,
        // F_GETOWN, F_SETOWN
        23 | 24 => DONE,
        _ => Err(Errno::EINVAL),
    }
}

/// There are no terminals: `TCGETS` and `TIOCGWINSZ` answer as for a file.
pub(super) fn ioctl(call: &mut Call<'_>) -> Reply {
    const FIOCLEX: u32 = 0x6601;
    const FIONCLEX: u32 = 0x6602;
    const FIONBIO: u32 = 0x667e;
    const FIONREAD: u32 = 0x467f;
    let file = call.file(0)?;
    match call.arg(1) {
        request @ (FIOCLEX | FIONCLEX) => {
            call.process.files.get_mut(call.arg(0))?.close_on_exec = request == FIOCLEX;
            DONE
        }
        FIONBIO => {
            let on = call.word(call.arg(2))? != 0;
            let mut state = file.state();
            state.flags = state.flags & !flags::O_NONBLOCK | if on { flags::O_NONBLOCK } else { 0 };
            DONE
        }
        FIONREAD => {
            let count = rustix::io::ioctl_fionread(file.fd()?)?;
            call.put_word(call.arg(2), count.min(i32::MAX as u64) as u32)?;
            DONE
        }
        _ => Err(Errno::ENOTTY),
    }
}

fn resize(call: &Call<'_>, length: u64) -> Reply {
    let file = call.file(0)?;
    if !file.writable() || length > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    rustix::fs::ftruncate(file.fd()?, length)?;
    DONE
}

pub(super) fn ftruncate(call: &mut Call<'_>) -> Reply {
    resize(call, call.arg(1).into())
}

pub(super) fn ftruncate64(call: &mut Call<'_>) -> Reply {
    resize(call, call.wide(2))
}

pub(super) fn fchmod(call: &mut Call<'_>) -> Reply {
    let file = call.file(0)?;
    if !call.process.shared.config.writable {
        return Err(Errno::EROFS);
    }
    // Only of files that were opened for writing: others may be of the sysroot.
    if !file.writable() && !file.is_directory() {
        return Err(Errno::EPERM);
    }
    rustix::fs::fchmod(file.fd()?, Mode::from_raw_mode(call.arg(1) & 0o777))?;
    DONE
}

pub(super) fn fsync(call: &mut Call<'_>) -> Reply {
    if let Node::Host { fd, .. } = &call.file(0)?.node {
        rustix::fs::fsync(fd)?;
    }
    DONE
}

pub(super) fn fchdir(call: &mut Call<'_>) -> Reply {
    let file = call.file(0)?;
    if !file.is_directory() {
        return Err(Errno::ENOTDIR);
    }
    call.process.cwd = file.path.clone();
    DONE
}

pub(super) fn fstat64(call: &mut Call<'_>) -> Reply {
    let bytes = call.file(0)?.stat()?.stat64(call.cpu.endian);
    call.put(call.arg(1), &bytes)?;
    DONE
}

pub(super) fn fstat(call: &mut Call<'_>) -> Reply {
    let bytes = call.file(0)?.stat()?.stat(call.cpu.endian).ok_or(Errno::EOVERFLOW)?;
    call.put(call.arg(1), &bytes)?;
    DONE
}

pub(super) fn fstatfs64(call: &mut Call<'_>) -> Reply {
    call.file(0)?;
    super::path::put_statfs64(call)
}

/// Entries as `struct linux_dirent64`: number, where the next is, length, kind, name.
pub(super) fn getdents64(call: &mut Call<'_>) -> Reply {
    let (file, address, room) = (call.file(0)?, call.arg(1), call.arg(2) as usize);
    file.read_directory()?;
    let mut state = file.state();
    let mut layout = call.layout();
    let mut next = state.offset;
    let entries = state.entries.as_deref().unwrap_or_default();
    for entry in entries.get(usize::try_from(next).unwrap_or(usize::MAX)..).unwrap_or_default() {
        let length = (19 + entry.name.len() + 1).next_multiple_of(8);
        if layout.bytes.len() + length > room.min(1 << 20) {
            break;
        }
        next += 1;
        let end = layout.bytes.len() + length;
        layout = layout.u64(entry.ino).u64(next).u16(length as u16);
        layout = layout.raw(&[entry.kind]).raw(&entry.name).pad_to(end);
    }
    if layout.bytes.is_empty() && next < entries.len() as u64 {
        return Err(Errno::EINVAL);
    }
    call.put(address, &layout.bytes)?;
    state.offset = next;
    value(layout.bytes.len() as u32)
}
