//! Futexes: threads of a process that wait for a word.

use super::{Answer, Call, Reply, Wait, value};
use crate::linux::abi::Errno;
use crate::linux::process::Process;

const PRIVATE: u32 = 128;
const CLOCK_REALTIME: u32 = 256;
const ANY: u32 = u32::MAX;

pub(super) fn futex(call: &mut Call<'_>) -> Reply {
    operate(call, false)
}

pub(super) fn futex_time64(call: &mut Call<'_>) -> Reply {
    operate(call, true)
}

/// Wakes up to `count` threads that wait for an address and any of the bits.
pub(in crate::linux) fn wake(process: &mut Process, address: u32, count: u32, bits: u32) -> u32 {
    let mut woken = 0;
    for thread in &mut process.threads {
        let Some(blocked) = &mut thread.blocked else { continue };
        if woken == count {
            break;
        }
        if !blocked.woken && blocked.wait.futex.is_some_and(|(at, mask)| at == address && mask & bits != 0) {
            blocked.woken = true;
            woken += 1;
        }
    }
    woken
}

fn requeue(process: &mut Process, from: u32, to: u32, count: u32) -> u32 {
    let mut moved = 0;
    for thread in &mut process.threads {
        let Some(blocked) = &mut thread.blocked else { continue };
        if moved < count
            && !blocked.woken
            && let Some((at, _)) = &mut blocked.wait.futex
            && *at == from
        {
            *at = to;
            moved += 1;
        }
    }
    moved
}

fn operate(call: &mut Call<'_>, wide: bool) -> Reply {
    let (address, operation, number, fourth, second) =
        (call.arg(0), call.arg(1), call.arg(2), call.arg(3), call.arg(4));
    let bits = call.arg(5);
    if address & 3 != 0 {
        return Err(Errno::EINVAL);
    }
    match operation & !(PRIVATE | CLOCK_REALTIME) {
        0 => wait(call, ANY, false, wide),
        1 => value(wake(call.process, address, number, ANY)),
        3 => {
            let woken = wake(call.process, address, number, ANY);
            value(woken + requeue(call.process, address, second, fourth))
        }
        4 => {
            if call.word(address)? != bits {
                return Err(Errno::EAGAIN);
            }
            let woken = wake(call.process, address, number, ANY);
            value(woken + requeue(call.process, address, second, fourth))
        }
        5 => wake_op(call),
        9 if bits != 0 => wait(call, bits, true, wide),
        10 if bits != 0 => value(wake(call.process, address, number, bits)),
        9 | 10 => Err(Errno::EINVAL),
        _ => Err(Errno::ENOSYS),
    }
}

fn wait(call: &mut Call<'_>, bits: u32, absolute: bool, wide: bool) -> Reply {
    let (address, operation, expected, timeout) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    let blocked = call.process.thread().and_then(|thread| thread.blocked.as_ref());
    if let Some(blocked) = blocked {
        if blocked.woken {
            return value(0);
        }
        let deadline = blocked.wait.deadline;
        // Another thread may have moved it to another futex.
        let futex = blocked.wait.futex;
        if call.expired(deadline) {
            return Err(Errno::ETIMEDOUT);
        }
        return Ok(Answer::Wait(Wait { deadline, futex, restarts: deadline.is_none(), ..Wait::default() }));
    }
    if call.word(address)? != expected {
        return Err(Errno::EAGAIN);
    }
    let deadline = match timeout {
        0 => None,
        _ => {
            let time = call.time(timeout, wide)?;
            let shared = &call.process.shared;
            Some(if !absolute {
                shared.monotonic().saturating_add(time)
            } else if operation & CLOCK_REALTIME != 0 {
                let rest = time.saturating_sub(shared.realtime());
                shared.monotonic().saturating_add(rest)
            } else {
                time
            })
        }
    };
    let futex = Some((address, bits));
    Ok(Answer::Wait(Wait { deadline, futex, restarts: deadline.is_none(), ..Wait::default() }))
}

/// Changes a second word and wakes those who wait for the first, and those of the second when a comparison of what it
/// was holds (`man 2 futex`, FUTEX_WAKE_OP).
fn wake_op(call: &mut Call<'_>) -> Reply {
    let (first, count, count2, second, code) =
        (call.arg(0), call.arg(2), call.arg(3), call.arg(4), call.arg(5));
    let signed = |bits: u32| ((bits << 20) as i32 >> 20) as u32;
    let (operand, compared) = (signed(code >> 12 & 0xfff), signed(code & 0xfff));
    let operand = if code >> 31 != 0 { 1 << (operand & 31) } else { operand };
    let old = call.word(second)?;
    let new = match code >> 28 & 7 {
        0 => operand,
        1 => old.wrapping_add(operand),
        2 => old | operand,
        3 => old & !operand,
        4 => old ^ operand,
        _ => return Err(Errno::ENOSYS),
    };
    let (a, b) = (old as i32, compared as i32);
    let holds = match code >> 24 & 15 {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        _ => return Err(Errno::ENOSYS),
    };
    call.put_word(second, new)?;
    let mut woken = wake(call.process, first, count, ANY);
    if holds {
        woken += wake(call.process, second, count2, ANY);
    }
    value(woken)
}
