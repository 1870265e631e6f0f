//! Calls on paths.

use super::{Call, DONE, Reply, value};
use crate::linux::abi::{Errno, flags, stat::Stat};
use crate::linux::fs::resolve::{Place, Purpose, normal};
use crate::linux::fs::{Description, Node, special};
use rustix::fs::{AtFlags, FileType, Mode, Timespec, Timestamps};
use std::sync::Arc;

const EXE: &[u8] = b"/proc/self/exe";

/// A file that only this kernel has.
fn own_file(call: &Call<'_>, path: &[u8]) -> Option<Node> {
    if let Some(node) = special::device(path) {
        return Some(node);
    }
    let program = &call.process.program;
    let bytes: Arc<[u8]> = match path {
        EXE => Arc::clone(&program.bytes),
        b"/proc/self/cmdline" => {
            program.arguments.iter().flat_map(|text| text.iter().copied().chain([0])).collect()
        }
        b"/proc/self/comm" => [call.process.name.as_slice(), b"\n"].concat().into(),
        b"/proc/self/maps" => maps(call).into_bytes().into(),
        _ => return None,
    };
    Some(Node::Bytes(bytes))
}

/// Memory as `/proc/self/maps` has it; without names but for the heap and the stack, which libraries look for.
fn maps(call: &Call<'_>) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let sp = call.cpu.get(crate::cpu::reg::SP);
    for (range, rights) in call.memory.areas() {
        let mark = |right, mark: char| if rights.has(right) { mark } else { '-' };
        use crate::memory::Rights;
        let heap =
            range.start < u64::from(call.process.space.end) && range.end > u64::from(call.process.space.heap);
        let name = match () {
            () if range.contains(&u64::from(sp)) => "[stack]",
            () if heap => "[heap]",
            () => "",
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{:08x}-{:08x} {}{}{}p 00000000 00:00 0          {name}",
            range.start,
            range.end,
            mark(Rights::READ, 'r'),
            mark(Rights::WRITE, 'w'),
            mark(Rights::EXECUTE, 'x'),
        );
    }
    out
}

fn find(call: &Call<'_>, path: &[u8], follow: bool) -> Result<Place, Errno> {
    call.process.shared.root.resolve(path, follow, Purpose::Find)
}

fn change(call: &Call<'_>, path: &[u8], follow: bool) -> Result<Place, Errno> {
    call.process.shared.root.resolve(path, follow, Purpose::Change)
}

fn stat_path(call: &Call<'_>, path: &[u8], follow: bool) -> Result<Stat, Errno> {
    if let Some(node) = own_file(call, &normal(path)) {
        return Ok(special::stat(&node));
    }
    let place = find(call, path, follow)?;
    Ok(rustix::fs::statat(&place.dir, place.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?.into())
}

/// The mode of a file.
pub(super) fn permissions(call: &Call<'_>, path: &[u8]) -> Result<u32, Errno> {
    Ok(stat_path(call, path, true)?.mode)
}

pub(super) fn open(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    open_at(call, flags::AT_FDCWD, &path, call.arg(1), call.arg(2))
}

pub(super) fn openat(call: &mut Call<'_>) -> Reply {
    let path = call.path(1)?;
    open_at(call, call.arg(0), &path, call.arg(2), call.arg(3))
}

pub(super) fn creat(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    open_at(call, flags::AT_FDCWD, &path, flags::O_CREAT | flags::O_TRUNC | 1, call.arg(1))
}

fn open_at(call: &mut Call<'_>, dir: u32, path: &[u8], bits: u32, mode: u32) -> Reply {
    let path = call.absolute(dir, path)?;
    let close_on_exec = bits & flags::O_CLOEXEC != 0;
    let kept =
        bits & (flags::O_ACCMODE | flags::O_APPEND | flags::O_NONBLOCK | flags::O_PATH | flags::O_DIRECTORY);
    let plain = normal(&path);
    let file = if let Some(node) = own_file(call, &plain) {
        if bits & flags::O_DIRECTORY != 0 {
            return Err(Errno::ENOTDIR);
        }
        Description::new(node, plain, kept)
    } else if let Some(number) = descriptor_path(&plain) {
        call.process.files.get(number)?.clone()
    } else {
        if bits & flags::O_TMPFILE != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let follow = bits & flags::O_NOFOLLOW == 0
            && bits & (flags::O_CREAT | flags::O_EXCL) != flags::O_CREAT | flags::O_EXCL;
        let writes = bits & flags::O_ACCMODE != flags::O_RDONLY || bits & flags::O_TRUNC != 0;
        let place = place_to_open(call, &path, follow, bits & flags::O_CREAT != 0, writes)?;
        // Without the umask of this process, which the guest's stands in for.
        let mode = Mode::from_raw_mode(mode & 0o777 & !call.process.umask);
        let fd = rustix::fs::openat(&place.dir, place.name.as_slice(), flags::open_flags(bits), mode)?;
        Description::host(fd, place.path, kept)?
    };
    value(call.process.files.insert(file, close_on_exec, 0)?)
}

/// Where a file to open is. What exists is opened where it is; what does not is made in the root.
fn place_to_open(
    call: &Call<'_>,
    path: &[u8],
    follow: bool,
    create: bool,
    writes: bool,
) -> Result<Place, Errno> {
    let found = find(call, path, follow);
    let exists = found.as_ref().is_ok_and(|place| {
        rustix::fs::statat(&place.dir, place.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    });
    if exists {
        return match found {
            Ok(place) if writes && !place.writable => {
                // Writing to a folder is refused with its own error.
                let stat = rustix::fs::statat(&place.dir, place.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
                let folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
                Err(if folder { Errno::EISDIR } else { Errno::EROFS })
            }
            other => other,
        };
    }
    if create { change(call, path, follow) } else { found.and(Err(Errno::ENOENT)) }
}

/// The descriptor that a path under `/dev/fd` or `/proc/self/fd` names, or one of the three standard streams.
fn descriptor_path(path: &[u8]) -> Option<u32> {
    match path {
        b"/dev/stdin" => return Some(0),
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        _ => {}
    }
    let number = path.strip_prefix(b"/dev/fd/").or_else(|| path.strip_prefix(b"/proc/self/fd/"))?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// What a call on a descriptor, a path or both is about.
fn stat_at(call: &Call<'_>, fd: u32, path: &[u8], bits: u32) -> Result<Stat, Errno> {
    if path.is_empty() && bits & flags::AT_EMPTY_PATH != 0 {
        return if fd == flags::AT_FDCWD {
            stat_path(call, &call.process.cwd, true)
        } else {
            call.process.files.get(fd)?.stat()
        };
    }
    let path = call.absolute(fd, path)?;
    if let Some(number) = descriptor_path(&normal(&path)) {
        return call.process.files.get(number)?.stat();
    }
    stat_path(call, &path, bits & flags::AT_SYMLINK_NOFOLLOW == 0)
}

fn put_stat64(call: &mut Call<'_>, stat: Stat, address: u32) -> Reply {
    let bytes = stat.stat64(call.cpu.endian);
    call.put(address, &bytes)?;
    DONE
}

pub(super) fn stat64(call: &mut Call<'_>) -> Reply {
    let stat = stat_at(call, flags::AT_FDCWD, &call.path(0)?, 0)?;
    put_stat64(call, stat, call.arg(1))
}

pub(super) fn lstat64(call: &mut Call<'_>) -> Reply {
    let stat = stat_at(call, flags::AT_FDCWD, &call.path(0)?, flags::AT_SYMLINK_NOFOLLOW)?;
    put_stat64(call, stat, call.arg(1))
}

pub(super) fn fstatat64(call: &mut Call<'_>) -> Reply {
    let stat = stat_at(call, call.arg(0), &call.path(1)?, call.arg(3))?;
    put_stat64(call, stat, call.arg(2))
}

fn put_stat(call: &mut Call<'_>, bits: u32) -> Reply {
    let stat = stat_at(call, flags::AT_FDCWD, &call.path(0)?, bits)?;
    let bytes = stat.stat(call.cpu.endian).ok_or(Errno::EOVERFLOW)?;
    call.put(call.arg(1), &bytes)?;
    DONE
}

pub(super) fn stat(call: &mut Call<'_>) -> Reply {
    put_stat(call, 0)
}

pub(super) fn lstat(call: &mut Call<'_>) -> Reply {
    put_stat(call, flags::AT_SYMLINK_NOFOLLOW)
}

pub(super) fn statx(call: &mut Call<'_>) -> Reply {
    let stat = stat_at(call, call.arg(0), &call.path(1)?, call.arg(2))?;
    let bytes = stat.statx(call.cpu.endian);
    call.put(call.arg(4), &bytes)?;
    DONE
}

/// `struct statfs64` of some file system: how much room there is on the host is not told.
pub(super) fn put_statfs64(call: &mut Call<'_>) -> Reply {
    const EXT4: u32 = 0xef53;
    let layout = call.layout().words([EXT4, 4096, 4096, 0]);
    let layout = [1 << 20, 1 << 19, 1 << 20, 1 << 19, 1 << 19].into_iter().fold(layout, |l, n: u64| l.u64(n));
    let bytes = layout.words([0, 0, 255, 0]).pad_to(88).bytes;
    call.put(call.arg(2), &bytes)?;
    DONE
}

pub(super) fn statfs64(call: &mut Call<'_>) -> Reply {
    let path = call.absolute(flags::AT_FDCWD, &call.path(0)?)?;
    stat_path(call, &path, true)?;
    put_statfs64(call)
}

fn check_access(call: &mut Call<'_>, fd: u32, path: &[u8], wanted: u32) -> Reply {
    let stat = stat_at(call, fd, path, 0)?;
    let kind = FileType::from_raw_mode(stat.mode);
    // As for root: everything may be read and written, and executed when anybody may execute it.
    if wanted & 1 != 0 && kind == FileType::RegularFile && stat.mode & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    let on_disk = matches!(kind, FileType::RegularFile | FileType::Directory);
    if wanted & 2 != 0 && on_disk && !call.process.shared.config.writable {
        return Err(Errno::EROFS);
    }
    DONE
}

pub(super) fn access(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    check_access(call, flags::AT_FDCWD, &path, call.arg(1))
}

pub(super) fn faccessat(call: &mut Call<'_>) -> Reply {
    let path = call.path(1)?;
    check_access(call, call.arg(0), &path, call.arg(2))
}

fn read_link(call: &mut Call<'_>, fd: u32, path: &[u8], address: u32, room: u32) -> Reply {
    let path = call.absolute(fd, path)?;
    let mut target = if normal(&path) == EXE {
        call.process.program.path.clone()
    } else {
        let place = find(call, &path, false)?;
        rustix::fs::readlinkat(&place.dir, place.name.as_slice(), Vec::new())?.into_bytes()
    };
    target.truncate(room as usize);
    call.put(address, &target)?;
    value(target.len() as u32)
}

pub(super) fn readlink(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    read_link(call, flags::AT_FDCWD, &path, call.arg(1), call.arg(2))
}

pub(super) fn readlinkat(call: &mut Call<'_>) -> Reply {
    let path = call.path(1)?;
    read_link(call, call.arg(0), &path, call.arg(2), call.arg(3))
}

pub(super) fn getcwd(call: &mut Call<'_>) -> Reply {
    let mut path = call.process.cwd.clone();
    path.push(0);
    if path.len() > call.arg(1) as usize {
        return Err(Errno::ERANGE);
    }
    call.put(call.arg(0), &path)?;
    value(path.len() as u32)
}

pub(super) fn chdir(call: &mut Call<'_>) -> Reply {
    let path = call.absolute(flags::AT_FDCWD, &call.path(0)?)?;
    let place = find(call, &path, true)?;
    let stat = rustix::fs::statat(&place.dir, place.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Errno::ENOTDIR);
    }
    call.process.cwd = place.path;
    DONE
}

fn remove(call: &mut Call<'_>, fd: u32, path: &[u8], bits: u32) -> Reply {
    let path = call.absolute(fd, path)?;
    let place = change(call, &path, false)?;
    let folder = bits & flags::AT_REMOVEDIR != 0;
    let host = if folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    rustix::fs::unlinkat(&place.dir, place.name.as_slice(), host)?;
    DONE
}

pub(super) fn unlink(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    remove(call, flags::AT_FDCWD, &path, 0)
}

pub(super) fn rmdir(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    remove(call, flags::AT_FDCWD, &path, flags::AT_REMOVEDIR)
}

pub(super) fn unlinkat(call: &mut Call<'_>) -> Reply {
    let path = call.path(1)?;
    remove(call, call.arg(0), &path, call.arg(2))
}

fn make_folder(call: &mut Call<'_>, fd: u32, path: &[u8], mode: u32) -> Reply {
    let path = call.absolute(fd, path)?;
    // A path that ends with a slash names what is to be made.
    let plain = path.strip_suffix(b"/").unwrap_or(&path);
    if stat_path(call, plain, false).is_ok() {
        return Err(Errno::EEXIST);
    }
    let place = change(call, plain, false)?;
    let mode = Mode::from_raw_mode(mode & 0o777 & !call.process.umask);
    rustix::fs::mkdirat(&place.dir, place.name.as_slice(), mode)?;
    DONE
}

pub(super) fn mkdir(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    make_folder(call, flags::AT_FDCWD, &path, call.arg(1))
}

pub(super) fn mkdirat(call: &mut Call<'_>) -> Reply {
    let path = call.path(1)?;
    make_folder(call, call.arg(0), &path, call.arg(2))
}

fn move_path(call: &mut Call<'_>, from: (u32, &[u8]), to: (u32, &[u8]), no_replace: bool) -> Reply {
    let (from, to) = (call.absolute(from.0, from.1)?, call.absolute(to.0, to.1)?);
    let (from, to) = (change(call, &from, false)?, change(call, &to, false)?);
    let bits = if no_replace { rustix::fs::RenameFlags::NOREPLACE } else { rustix::fs::RenameFlags::empty() };
    rustix::fs::renameat_with(&from.dir, from.name.as_slice(), &to.dir, to.name.as_slice(), bits)?;
    DONE
}

pub(super) fn rename(call: &mut Call<'_>) -> Reply {
    let (from, to) = (call.path(0)?, call.path(1)?);
    move_path(call, (flags::AT_FDCWD, &from), (flags::AT_FDCWD, &to), false)
}

pub(super) fn renameat(call: &mut Call<'_>) -> Reply {
    let (from, to) = (call.path(1)?, call.path(3)?);
    move_path(call, (call.arg(0), &from), (call.arg(2), &to), false)
}

pub(super) fn renameat2(call: &mut Call<'_>) -> Reply {
    let (from, to, bits) = (call.path(1)?, call.path(3)?, call.arg(4));
    if bits & !1 != 0 {
        return Err(Errno::EINVAL);
    }
    move_path(call, (call.arg(0), &from), (call.arg(2), &to), bits & 1 != 0)
}

fn make_link(call: &mut Call<'_>, from: (u32, &[u8]), to: (u32, &[u8]), follow: bool) -> Reply {
    let (from, to) = (call.absolute(from.0, from.1)?, call.absolute(to.0, to.1)?);
    let (from, to) = (change(call, &from, follow)?, change(call, &to, false)?);
    let bits = AtFlags::empty();
    rustix::fs::linkat(&from.dir, from.name.as_slice(), &to.dir, to.name.as_slice(), bits)?;
    DONE
}

pub(super) fn link(call: &mut Call<'_>) -> Reply {
    let (from, to) = (call.path(0)?, call.path(1)?);
    make_link(call, (flags::AT_FDCWD, &from), (flags::AT_FDCWD, &to), false)
}

pub(super) fn linkat(call: &mut Call<'_>) -> Reply {
    let (from, to) = (call.path(1)?, call.path(3)?);
    let follow = call.arg(4) & flags::AT_SYMLINK_FOLLOW != 0;
    make_link(call, (call.arg(0), &from), (call.arg(2), &to), follow)
}

/// The target is text of the guest's: it is walked below the guest's root whenever it is used.
fn make_symlink(call: &mut Call<'_>, target: &[u8], fd: u32, path: &[u8]) -> Reply {
    let path = call.absolute(fd, path)?;
    let place = change(call, &path, false)?;
    rustix::fs::symlinkat(target, &place.dir, place.name.as_slice())?;
    DONE
}

pub(super) fn symlink(call: &mut Call<'_>) -> Reply {
    let (target, path) = (call.path(0)?, call.path(1)?);
    make_symlink(call, &target, flags::AT_FDCWD, &path)
}

pub(super) fn symlinkat(call: &mut Call<'_>) -> Reply {
    let (target, path) = (call.path(0)?, call.path(2)?);
    make_symlink(call, &target, call.arg(1), &path)
}

/// The host's file of a place, opened without following links: what is then changed is that file.
fn host_file(place: &Place, bits: u32) -> Result<std::os::fd::OwnedFd, Errno> {
    Ok(rustix::fs::openat(&place.dir, place.name.as_slice(), flags::open_flags(bits), Mode::empty())?)
}

fn set_mode(call: &mut Call<'_>, fd: u32, path: &[u8], mode: u32) -> Reply {
    let path = call.absolute(fd, path)?;
    let place = change(call, &path, true)?;
    rustix::fs::fchmod(host_file(&place, flags::O_RDONLY)?, Mode::from_raw_mode(mode & 0o777))?;
    DONE
}

pub(super) fn chmod(call: &mut Call<'_>) -> Reply {
    let path = call.path(0)?;
    set_mode(call, flags::AT_FDCWD, &path, call.arg(1))
}

pub(super) fn fchmodat(call: &mut Call<'_>) -> Reply {
    let path = call.path(1)?;
    set_mode(call, call.arg(0), &path, call.arg(2))
}

/// There is one user, whose all files are.
pub(super) fn chown(call: &mut Call<'_>) -> Reply {
    let path = call.absolute(flags::AT_FDCWD, &call.path(0)?)?;
    change(call, &path, true)?;
    DONE
}

fn resize(call: &mut Call<'_>, length: u64) -> Reply {
    let path = call.absolute(flags::AT_FDCWD, &call.path(0)?)?;
    let place = change(call, &path, true)?;
    if length > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    rustix::fs::ftruncate(host_file(&place, 1)?, length)?;
    DONE
}

pub(super) fn truncate(call: &mut Call<'_>) -> Reply {
    resize(call, call.arg(1).into())
}

pub(super) fn truncate64(call: &mut Call<'_>) -> Reply {
    resize(call, call.wide(2))
}

/// Times of a file; both forms of the call have them as the kernel's `timespec` of their width.
pub(super) fn utimensat(call: &mut Call<'_>) -> Reply {
    const NOW: u32 = 0x3fff_ffff;
    const OMIT: u32 = 0x3fff_fffe;
    let (fd, path, times, bits) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    let wide = call.cpu.get(crate::cpu::reg::V0) == 4412;
    let now = call.process.shared.realtime();
    let host = |time: crate::linux::abi::stat::Time| match time.nanos {
        NOW => Timespec { tv_sec: (now / super::NANOS) as i64, tv_nsec: (now % super::NANOS) as i64 },
        // What is left alone has the host's own number.
        OMIT => Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        nanos => Timespec { tv_sec: time.seconds, tv_nsec: nanos.min(999_999_999).into() },
    };
    let (accessed, modified) = if times == 0 {
        let now = crate::linux::abi::stat::Time { seconds: 0, nanos: NOW };
        (now, now)
    } else {
        let second = times.wrapping_add(if wide { 16 } else { 8 });
        (call.timespec(times, wide)?, call.timespec(second, wide)?)
    };
    let times = Timestamps { last_access: host(accessed), last_modification: host(modified) };
    if path == 0 {
        let file = call.process.files.get(fd)?;
        if !call.process.shared.config.writable || !file.writable() {
            return Err(Errno::EROFS);
        }
        rustix::fs::futimens(file.fd()?, &times)?;
        return DONE;
    }
    let path = call.absolute(fd, &call.path(1)?)?;
    let follow = bits & flags::AT_SYMLINK_NOFOLLOW == 0;
    let place = change(call, &path, follow)?;
    rustix::fs::utimensat(&place.dir, place.name.as_slice(), &times, AtFlags::SYMLINK_NOFOLLOW)?;
    DONE
}
