//! Flags of calls that MIPS numbers in its own way (`asm/fcntl.h`, `asm/mman.h`), and those all machines share.

use rustix::fs::OFlags;

pub const O_ACCMODE: u32 = 3;
pub const O_RDONLY: u32 = 0;
pub const O_APPEND: u32 = 0x8;
pub const O_NONBLOCK: u32 = 0x80;
pub const O_CREAT: u32 = 0x100;
pub const O_TRUNC: u32 = 0x200;
pub const O_EXCL: u32 = 0x400;
pub const O_LARGEFILE: u32 = 0x2000;
pub const O_DIRECTORY: u32 = 0x1_0000;
pub const O_NOFOLLOW: u32 = 0x2_0000;
pub const O_CLOEXEC: u32 = 0x8_0000;
pub const O_PATH: u32 = 0x20_0000;
/// With `O_DIRECTORY`, which it implies.
pub const O_TMPFILE: u32 = 0x40_0000;

/// What the host's `open` is asked for.
pub fn open_flags(guest: u32) -> OFlags {
    let mut out = match guest & O_ACCMODE {
        O_RDONLY => OFlags::RDONLY,
        1 => OFlags::WRONLY,
        _ => OFlags::RDWR,
    };
    for (bit, host) in [
        (O_APPEND, OFlags::APPEND),
        (O_CREAT, OFlags::CREATE),
        (O_TRUNC, OFlags::TRUNC),
        (O_EXCL, OFlags::EXCL),
        (O_DIRECTORY, OFlags::DIRECTORY),
        (O_PATH, OFlags::PATH),
    ] {
        out.set(host, guest & bit != 0);
    }
    // Never a terminal of ours, never inherited, never a wait for the other end of a pipe.
    out | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW
}

pub const AT_FDCWD: u32 = -100i32 as u32;
pub const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
pub const AT_REMOVEDIR: u32 = 0x200;
pub const AT_SYMLINK_FOLLOW: u32 = 0x400;
pub const AT_EMPTY_PATH: u32 = 0x1000;

pub const MAP_TYPE: u32 = 15;
pub const MAP_FIXED: u32 = 0x10;
pub const MAP_ANONYMOUS: u32 = 0x800;
pub const MAP_FIXED_NOREPLACE: u32 = 0x10_0000;

pub const CLONE_VM: u32 = 0x100;
pub const CLONE_VFORK: u32 = 0x4000;
pub const CLONE_THREAD: u32 = 0x1_0000;
pub const CLONE_SETTLS: u32 = 0x8_0000;
pub const CLONE_PARENT_SETTID: u32 = 0x10_0000;
pub const CLONE_CHILD_CLEARTID: u32 = 0x20_0000;
pub const CLONE_CHILD_SETTID: u32 = 0x100_0000;

pub const SA_SIGINFO: u32 = 0x8;
pub const SA_NOCLDWAIT: u32 = 0x1_0000;
pub const SA_ONSTACK: u32 = 0x800_0000;
pub const SA_RESTART: u32 = 0x1000_0000;
pub const SA_NODEFER: u32 = 0x4000_0000;
pub const SA_RESETHAND: u32 = 0x8000_0000;

pub const POLLIN: u32 = 1;
pub const POLLOUT: u32 = 4;
pub const POLLERR: u32 = 8;
pub const POLLHUP: u32 = 16;
pub const POLLNVAL: u32 = 32;
