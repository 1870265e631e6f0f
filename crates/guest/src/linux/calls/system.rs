//! What a program asks of the machine.

use super::{Call, DONE, Reply, value};
use crate::linux::abi::Errno;

/// `struct utsname`: six names of 65 bytes.
pub(super) fn uname(call: &mut Call<'_>) -> Reply {
    let mut bytes = Vec::new();
    for (n, name) in ["Linux", "xenoglot", "6.1.0", "#1", "mips", "(none)"].iter().enumerate() {
        bytes.extend(name.as_bytes());
        bytes.resize(65 * (n + 1), 0);
    }
    call.put(call.arg(0), &bytes)?;
    DONE
}

pub(super) fn getrandom(call: &mut Call<'_>) -> Reply {
    let (address, length) = (call.arg(0), call.arg(1).min(1 << 20));
    let mut bytes = vec![0; length as usize];
    call.process.shared.random(&mut bytes);
    call.put(address, &bytes)?;
    value(length)
}

/// `struct sysinfo`, with the memory limit as the machine's memory.
pub(super) fn sysinfo(call: &mut Call<'_>) -> Reply {
    let uptime = call.process.shared.monotonic() / 1_000_000_000;
    let total = call.process.shared.config.memory.min(u32::MAX.into()) as u32;
    let free = total.saturating_sub(call.memory.resident().saturating_mul(4096));
    let processes = call.process.shared.table().running() as u16;
    let layout = call.layout().u32(uptime as u32).words([0; 3]).words([total, free, 0, 0, 0, 0]);
    let layout = layout.u16(processes).u16(0).words([0, 0, 1]).pad_to(64);
    call.put(call.arg(0), &layout.bytes)?;
    DONE
}

/// One processor, of which all threads have a turn.
pub(super) fn sched_getaffinity(call: &mut Call<'_>) -> Reply {
    if call.arg(1) < 4 {
        return Err(Errno::EINVAL);
    }
    call.put_word(call.arg(2), 1)?;
    value(4)
}

pub(super) fn sched_getparam(call: &mut Call<'_>) -> Reply {
    call.put_word(call.arg(1), 0)?;
    DONE
}

pub(super) fn getcpu(call: &mut Call<'_>) -> Reply {
    for n in 0..2 {
        if call.arg(n) != 0 {
            call.put_word(call.arg(n), 0)?;
        }
    }
    DONE
}

/// Names of threads; everything else is refused.
pub(super) fn prctl(call: &mut Call<'_>) -> Reply {
    const SET_NAME: u32 = 15;
    const GET_NAME: u32 = 16;
    match call.arg(0) {
        SET_NAME => {
            let address = call.arg(1);
            let mut name = Vec::new();
            for n in 0..15 {
                match call.get(address.wrapping_add(n), 1)?.first() {
                    Some(&byte) if byte != 0 => name.push(byte),
                    _ => break,
                }
            }
            call.process.name = name;
            DONE
        }
        GET_NAME => {
            let mut name = call.process.name.clone();
            name.resize(16, 0);
            call.put(call.arg(1), &name)?;
            DONE
        }
        _ => Err(Errno::EINVAL),
    }
}

/// One thread runs at a time, and sees what the others wrote.
pub(super) fn membarrier(_: &mut Call<'_>) -> Reply {
    DONE
}
