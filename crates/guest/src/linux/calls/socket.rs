//! Sockets: pairs of them within the guest. There is no network.

use super::{Call, DONE, Reply, file, value};
use crate::linux::abi::{Errno, flags};
use crate::linux::fs::{Description, File, Node};
use rustix::event::PollFlags;
use rustix::fs::FileType;
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType};

const AF_UNIX: u32 = 1;
/// MIPS has these two the other way round.
const SOCK_DGRAM: u32 = 1;
const SOCK_STREAM: u32 = 2;
const SOCK_SEQPACKET: u32 = 5;

pub(super) fn socket(_: &mut Call<'_>) -> Reply {
    Err(Errno::EAFNOSUPPORT)
}

pub(super) fn socketpair(call: &mut Call<'_>) -> Reply {
    let (domain, kind, protocol, place) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    if domain != AF_UNIX {
        return Err(Errno::EAFNOSUPPORT);
    }
    if protocol > 1 {
        return Err(Errno::EPROTONOSUPPORT);
    }
    let host = match kind & 15 {
        SOCK_DGRAM => SocketType::DGRAM,
        SOCK_STREAM => SocketType::STREAM,
        SOCK_SEQPACKET => SocketType::SEQPACKET,
        _ => return Err(Errno::EPROTONOSUPPORT),
    };
    // Never waited for on the host: that is done by asking again.
    let host_flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (first, second) = rustix::net::socketpair(AddressFamily::UNIX, host, host_flags, None)?;
    let (status, close_on_exec) = (2 | kind & flags::O_NONBLOCK, kind & flags::O_CLOEXEC != 0);
    let first = call.process.files.insert(Description::socket(first, status), close_on_exec, 0)?;
    let second = match call.process.files.insert(Description::socket(second, status), close_on_exec, 0) {
        Ok(second) => second,
        Err(error) => {
            call.process.files.close(first)?;
            return Err(error);
        }
    };
    let bytes = call.layout().words([first, second]).bytes;
    call.put(place, &bytes)?;
    DONE
}

/// One of the guest's sockets in argument 0.
fn inside(call: &Call<'_>) -> Result<File, Errno> {
    let file = call.file(0)?;
    let is_socket = matches!(file.node, Node::Host { kind: FileType::Socket, .. });
    if is_socket && file.inside { Ok(file) } else { Err(Errno::ENOTSOCK) }
}

/// Binding, listening, accepting: a pair is connected, and nobody else is there.
pub(super) fn connected(call: &mut Call<'_>) -> Reply {
    inside(call)?;
    Err(Errno::EISCONN)
}

/// Messages with ancillary data.
pub(super) fn no_message(call: &mut Call<'_>) -> Reply {
    inside(call)?;
    Err(Errno::EOPNOTSUPP)
}

/// Flags of `send` and `recv`: not to wait, and no SIGPIPE. Others are refused.
const DONTWAIT: u32 = 0x40;
const NOSIGNAL: u32 = 0x4000;

/// Checks the flags of a call, and that it need not wait where it must not.
fn ready(call: &Call<'_>, wanted: PollFlags) -> Result<PollFlags, Errno> {
    let (file, flags) = (inside(call)?, call.arg(3));
    if flags & !(DONTWAIT | NOSIGNAL) != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let ready = file.ready(wanted)?;
    if flags & DONTWAIT != 0 && ready.is_empty() { Err(Errno::EAGAIN) } else { Ok(ready) }
}

pub(super) fn send(call: &mut Call<'_>) -> Reply {
    let ready = ready(call, PollFlags::OUT)?;
    if call.arg(3) & NOSIGNAL != 0 && ready.intersects(PollFlags::HUP | PollFlags::ERR) {
        return Err(Errno::EPIPE);
    }
    file::write(call)
}

pub(super) fn recv(call: &mut Call<'_>) -> Reply {
    ready(call, PollFlags::IN)?;
    file::read(call)
}

pub(super) fn recvfrom(call: &mut Call<'_>) -> Reply {
    inside(call)?;
    if call.arg(5) != 0 {
        call.put_word(call.arg(5), 0)?;
    }
    recv(call)
}

pub(super) fn shutdown(call: &mut Call<'_>) -> Reply {
    let how = match call.arg(1) {
        0 => Shutdown::Read,
        1 => Shutdown::Write,
        2 => Shutdown::Both,
        _ => return Err(Errno::EINVAL),
    };
    rustix::net::shutdown(inside(call)?.fd()?, how)?;
    DONE
}

/// The name of a socket of a pair: its family alone.
pub(super) fn name(call: &mut Call<'_>) -> Reply {
    inside(call)?;
    let (place, length) = (call.arg(1), call.arg(2));
    if call.word(length)? >= 2 {
        let bytes = call.layout().u16(AF_UNIX as u16).bytes;
        call.put(place, &bytes)?;
    }
    call.put_word(length, 2)?;
    DONE
}

/// Options read as 0: no error is pending.
pub(super) fn getsockopt(call: &mut Call<'_>) -> Reply {
    inside(call)?;
    let (place, length) = (call.arg(3), call.arg(4));
    if call.word(length)? < 4 {
        return Err(Errno::EINVAL);
    }
    call.put_word(place, 0)?;
    call.put_word(length, 4)?;
    DONE
}

pub(super) fn setsockopt(call: &mut Call<'_>) -> Reply {
    inside(call)?;
    value(0)
}
