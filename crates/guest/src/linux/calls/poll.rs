//! Waiting for several files.

use super::{Answer, Call, Reply, Wait, value};
use crate::linux::abi::{Errno, flags};
use crate::linux::fs::File;
use rustix::event::PollFlags;

/// Descriptors of a call.
const MAX_FILES: u32 = 1024;

/// What is asked of a descriptor, and what holds.
struct Asked {
    wanted: PollFlags,
    file: Option<File>,
    found: PollFlags,
}

fn ask(call: &Call<'_>, fd: u32, wanted: PollFlags) -> Result<Asked, Errno> {
    let file = call.process.files.get(fd).ok().cloned();
    let found = match &file {
        Some(file) => file.ready(wanted)?,
        None => PollFlags::NVAL,
    };
    Ok(Asked { wanted, file, found })
}

/// Waits for one of them until a deadline.
fn wait(asked: Vec<Asked>, deadline: Option<u64>) -> Reply {
    let files = asked.into_iter().filter_map(|asked| Some((asked.file?, asked.wanted))).collect();
    Ok(Answer::Wait(Wait { deadline, files, ..Wait::default() }))
}

pub(super) fn from_guest(bits: u32) -> PollFlags {
    let mut out = PollFlags::empty();
    for (bit, host) in [(flags::POLLIN, PollFlags::IN), (flags::POLLOUT, PollFlags::OUT)] {
        out.set(host, bits & bit != 0);
    }
    out
}

pub(super) fn to_guest(host: PollFlags) -> u32 {
    let pairs = [
        (flags::POLLIN, PollFlags::IN),
        (flags::POLLOUT, PollFlags::OUT),
        (flags::POLLERR, PollFlags::ERR),
        (flags::POLLHUP, PollFlags::HUP),
        (flags::POLLNVAL, PollFlags::NVAL),
    ];
    pairs.iter().filter(|(_, flag)| host.contains(*flag)).fold(0, |bits, (bit, _)| bits | bit)
}

fn poll_until(call: &mut Call<'_>, deadline: Option<u64>) -> Reply {
    let (address, count) = (call.arg(0), call.arg(1));
    if count > MAX_FILES {
        return Err(Errno::EINVAL);
    }
    let mut all = Vec::new();
    let mut ready = 0;
    for n in 0..count {
        let at = address.wrapping_add(8 * n);
        let fd = call.word(at)?;
        let bytes = call.get(at.wrapping_add(4), 2)?;
        let [first, second] = [0, 1].map(|n| u32::from(bytes.get(n).copied().unwrap_or_default()));
        let big = call.cpu.endian == xenoglot_mips::Endian::Big;
        let events = if big { first << 8 | second } else { second << 8 | first };
        let mut found = 0;
        if fd as i32 >= 0 {
            let asked = ask(call, fd, from_guest(events))?;
            found = to_guest(asked.found);
            all.push(asked);
        }
        ready += u32::from(found != 0);
        let bytes = call.layout().u16(found as u16).bytes;
        call.put(at.wrapping_add(6), &bytes)?;
    }
    if ready != 0 || call.expired(deadline) { value(ready) } else { wait(all, deadline) }
}

pub(super) fn poll(call: &mut Call<'_>) -> Reply {
    let timeout = call.arg(2) as i32;
    let nanos = u64::try_from(timeout).ok().map(|millis| millis * 1_000_000);
    let deadline = call.deadline(nanos);
    poll_until(call, deadline)
}

fn ppoll_for(call: &mut Call<'_>, wide: bool) -> Reply {
    let nanos = match call.arg(2) {
        0 => None,
        address => Some(call.time(address, wide)?),
    };
    super::signal::mask_for_now(call, call.arg(3), call.arg(4))?;
    let deadline = call.deadline(nanos);
    poll_until(call, deadline)
}

pub(super) fn ppoll(call: &mut Call<'_>) -> Reply {
    ppoll_for(call, false)
}

pub(super) fn ppoll_time64(call: &mut Call<'_>) -> Reply {
    ppoll_for(call, true)
}

fn select_until(call: &mut Call<'_>, deadline: Option<u64>) -> Reply {
    let count = call.arg(0);
    if count > MAX_FILES {
        return Err(Errno::EINVAL);
    }
    let words = count.div_ceil(32);
    let sets = [call.arg(1), call.arg(2), call.arg(3)];
    let mut asked_bits = [const { Vec::new() }; 3];
    for (bits, &address) in asked_bits.iter_mut().zip(&sets) {
        for n in 0..words {
            bits.push(if address == 0 { 0 } else { call.word(address.wrapping_add(4 * n))? });
        }
    }
    let has =
        |set: &[u32], fd: u32| set.get((fd / 32) as usize).is_some_and(|word| word >> (fd % 32) & 1 != 0);
    let [reads, writes, _] = &asked_bits;
    let mut found = [const { Vec::new() }; 3].map(|mut bits: Vec<u32>| {
        bits.resize(words as usize, 0);
        bits
    });
    let mut all = Vec::new();
    let mut ready = 0;
    for fd in 0..count {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, has(reads, fd));
        wanted.set(PollFlags::OUT, has(writes, fd));
        if wanted.is_empty() {
            continue;
        }
        let asked = ask(call, fd, wanted)?;
        if asked.file.is_none() {
            return Err(Errno::EBADF);
        }
        // A file that ended or failed does not make its reader or writer wait.
        let over = asked.found.intersects(PollFlags::HUP | PollFlags::ERR);
        for (set, flag) in found.iter_mut().zip([PollFlags::IN, PollFlags::OUT]) {
            if wanted.contains(flag)
                && (over || asked.found.contains(flag))
                && let Some(word) = set.get_mut((fd / 32) as usize)
            {
                *word |= 1 << (fd % 32);
                ready += 1;
            }
        }
        all.push(asked);
    }
    if ready == 0 && !call.expired(deadline) {
        return wait(all, deadline);
    }
    for (bits, &address) in found.into_iter().zip(&sets) {
        if address != 0 {
            let bytes = call.layout().words(bits).bytes;
            call.put(address, &bytes)?;
        }
    }
    value(ready)
}

/// The timeout is a `timeval`.
pub(super) fn select(call: &mut Call<'_>) -> Reply {
    let nanos = match call.arg(4) {
        0 => None,
        address => {
            let (seconds, micros) = (call.word(address)?, call.word(address.wrapping_add(4))?);
            Some(u64::from(seconds) * super::NANOS + u64::from(micros) * 1000)
        }
    };
    let deadline = call.deadline(nanos);
    select_until(call, deadline)
}

fn pselect(call: &mut Call<'_>, wide: bool) -> Reply {
    let nanos = match call.arg(4) {
        0 => None,
        address => Some(call.time(address, wide)?),
    };
    if call.arg(5) != 0 {
        // A pair: address and size of the set.
        let (set, size) = (call.word(call.arg(5))?, call.word(call.arg(5).wrapping_add(4))?);
        super::signal::mask_for_now(call, set, size)?;
    }
    let deadline = call.deadline(nanos);
    select_until(call, deadline)
}

pub(super) fn pselect6(call: &mut Call<'_>) -> Reply {
    pselect(call, false)
}

pub(super) fn pselect6_time64(call: &mut Call<'_>) -> Reply {
    pselect(call, true)
}
