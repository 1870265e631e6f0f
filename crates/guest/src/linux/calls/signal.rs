//! Signals.

use super::{Answer, Call, DONE, Reply, Wait, value};
use crate::linux::abi::{Errno, Set, Signal, code, sig};
use crate::linux::frame;
use crate::linux::signals::{Action, AltStack, Fields, IGNORE, Info};

pub(super) fn rt_sigaction(call: &mut Call<'_>) -> Reply {
    let (number, new, old, size) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    let signal = Signal::new(number).filter(|_| size == 16).ok_or(Errno::EINVAL)?;
    let before = call.process.signals.action(signal);
    if new != 0 {
        if matches!(signal, sig::KILL | sig::STOP) {
            return Err(Errno::EINVAL);
        }
        let (flags, handler) = (call.word(new)?, call.word(new.wrapping_add(4))?);
        let mask = call.set(new.wrapping_add(8), size)?.blockable();
        call.process.signals.set_action(signal, Action { flags, handler, mask });
    }
    if old != 0 {
        let bytes = call.layout().words([before.flags, before.handler]).words(before.mask.words()).bytes;
        call.put(old, &bytes)?;
    }
    DONE
}

pub(super) fn rt_sigprocmask(call: &mut Call<'_>) -> Reply {
    let (how, new, old, size) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    let before = call.thread()?.mask;
    if new != 0 {
        let set = call.set(new, size)?;
        let after = match how {
            1 => before.with(set),
            2 => before.without(set),
            3 => set,
            _ => return Err(Errno::EINVAL),
        };
        call.thread()?.mask = after.blockable();
    }
    if old != 0 {
        call.put_set(old, before)?;
    }
    DONE
}

pub(super) fn rt_sigpending(call: &mut Call<'_>) -> Reply {
    let thread = call.thread()?;
    let (set, mask) = (thread.pending.set(), thread.mask);
    let set = set.with(call.process.signals.pending.set());
    call.put_set(call.arg(0), Set(set.0 & mask.0))?;
    DONE
}

/// A mask for the time of a call that waits.
pub(super) fn mask_for_now(call: &mut Call<'_>, address: u32, size: u32) -> Result<(), Errno> {
    if address == 0 || call.resumed().is_some() {
        return Ok(());
    }
    let set = call.set(address, size)?.blockable();
    let thread = call.thread()?;
    thread.saved_mask = Some(thread.mask);
    thread.mask = set;
    Ok(())
}

pub(super) fn rt_sigsuspend(call: &mut Call<'_>) -> Reply {
    mask_for_now(call, call.arg(0), call.arg(1))?;
    Ok(Answer::Wait(Wait::default()))
}

pub(super) fn pause(_: &mut Call<'_>) -> Reply {
    Ok(Answer::Wait(Wait::default()))
}

pub(super) fn rt_sigtimedwait(call: &mut Call<'_>) -> Reply {
    timed_wait(call, false)
}

pub(super) fn rt_sigtimedwait_time64(call: &mut Call<'_>) -> Reply {
    timed_wait(call, true)
}

fn timed_wait(call: &mut Call<'_>, wide: bool) -> Reply {
    let (info, timeout) = (call.arg(1), call.arg(2));
    let wanted = call.set(call.arg(0), call.arg(3))?;
    let taken = match call.thread()?.pending.take(wanted) {
        Some(taken) => Some(taken),
        None => call.process.signals.pending.take(wanted),
    };
    if let Some(taken) = taken {
        if info != 0 {
            let bytes = taken.layout(call.cpu.endian);
            call.put(info, &bytes)?;
        }
        return value(taken.signal.0);
    }
    let nanos = if timeout == 0 { None } else { Some(call.time(timeout, wide)?) };
    let deadline = call.deadline(nanos);
    if call.expired(deadline) {
        return Err(Errno::EAGAIN);
    }
    Ok(Answer::Wait(Wait { deadline, ..Wait::default() }))
}

pub(super) fn sigaltstack(call: &mut Call<'_>) -> Reply {
    const DISABLE: u32 = 2;
    const LEAST: u32 = 2048;
    let (new, old) = (call.arg(0), call.arg(1));
    let sp = call.cpu.get(crate::cpu::reg::SP);
    let before = call.thread()?.altstack;
    if new != 0 {
        let [address, size, flags] = [0, 4, 8].map(|at| call.word(new.wrapping_add(at)));
        let (address, size, flags) = (address?, size?, flags?);
        if before.holds(sp) {
            return Err(Errno::EPERM);
        }
        let after = match flags & !0x8000_0000 {
            DISABLE => AltStack::default(),
            0 | 1 if size >= LEAST => AltStack { address, size },
            0 | 1 => return Err(Errno::ENOMEM),
            _ => return Err(Errno::EINVAL),
        };
        call.thread()?.altstack = after;
    }
    if old != 0 {
        let bytes = frame::altstack_layout(before, sp, call.cpu.endian);
        call.put(old, &bytes)?;
    }
    DONE
}

pub(super) fn sigreturn(call: &mut Call<'_>) -> Reply {
    leave(call, false)
}

pub(super) fn rt_sigreturn(call: &mut Call<'_>) -> Reply {
    leave(call, true)
}

fn leave(call: &mut Call<'_>, rt: bool) -> Reply {
    let Ok(restored) = frame::leave(call.cpu, call.memory, rt) else {
        // Nothing to go back to.
        let info = Info { signal: sig::SEGV, code: code::KERNEL, fields: Fields::Fault { address: 0 } };
        call.process.signals.set_action(sig::SEGV, Action::default());
        call.thread()?.mask = Set::default();
        call.raise(info);
        return Ok(Answer::Untouched);
    };
    let thread = call.thread()?;
    thread.mask = restored.mask;
    if let Some(altstack) = restored.altstack {
        thread.altstack = altstack;
    }
    Ok(Answer::Untouched)
}

/// The signal of an argument; `None` for 0, with which only is asked whether somebody is there.
fn signal(number: u32) -> Result<Option<Signal>, Errno> {
    if number == 0 { Ok(None) } else { Signal::new(number).map(Some).ok_or(Errno::EINVAL) }
}

pub(super) fn kill(call: &mut Call<'_>) -> Reply {
    let (to, own) = (call.arg(0) as i32, call.process.pid);
    let signal = signal(call.arg(1))?;
    let mut table = call.process.shared.table();
    let group = table.entries.get(&own).map_or(own, |entry| entry.group);
    let wanted: Vec<u32> = table
        .entries
        .iter()
        .filter(|(pid, entry)| match to {
            0 => entry.group == group,
            -1 => **pid != own,
            to if to > 0 => **pid == to as u32,
            to => entry.group == to.unsigned_abs(),
        })
        .map(|(&pid, _)| pid)
        .collect();
    if wanted.is_empty() {
        return Err(Errno::ESRCH);
    }
    let Some(signal) = signal else { return DONE };
    let info = Info::sent(signal, code::USER, own, 0);
    for &pid in wanted.iter().filter(|&&pid| pid != own) {
        table.send(pid, info);
    }
    drop(table);
    if wanted.contains(&own) {
        call.process.signals.pending.push(info);
    }
    DONE
}

/// A signal to a thread of this process.
fn to_thread(call: &mut Call<'_>, tid: u32, number: u32, info: impl Fn(Signal) -> Info) -> Reply {
    let signal = signal(number)?;
    let thread = call.process.threads.iter_mut().find(|thread| thread.tid == tid).ok_or(Errno::ESRCH)?;
    if let Some(signal) = signal {
        thread.pending.push(info(signal));
    }
    DONE
}

pub(super) fn tkill(call: &mut Call<'_>) -> Reply {
    let pid = call.process.pid;
    to_thread(call, call.arg(0), call.arg(1), |signal| Info::sent(signal, code::TKILL, pid, 0))
}

pub(super) fn tgkill(call: &mut Call<'_>) -> Reply {
    let pid = call.process.pid;
    if call.arg(0) != pid {
        return Err(Errno::ESRCH);
    }
    to_thread(call, call.arg(1), call.arg(2), |signal| Info::sent(signal, code::TKILL, pid, 0))
}

/// The code and value of a `siginfo_t` that a program fills in.
fn given(call: &Call<'_>, address: u32) -> Result<(i32, u32), Errno> {
    Ok((call.word(address.wrapping_add(4))? as i32, call.word(address.wrapping_add(20))?))
}

pub(super) fn rt_sigqueueinfo(call: &mut Call<'_>) -> Reply {
    let (to, own) = (call.arg(0), call.process.pid);
    let signal = signal(call.arg(1))?;
    let (code, number) = given(call, call.arg(2))?;
    let code = if code >= 0 { code::QUEUE } else { code };
    let Some(signal) = signal else { return DONE };
    let info = Info::sent(signal, code, own, number);
    if to == own {
        call.process.signals.pending.push(info);
    } else if !call.process.shared.table().send(to, info) {
        return Err(Errno::ESRCH);
    }
    DONE
}

pub(super) fn rt_tgsigqueueinfo(call: &mut Call<'_>) -> Reply {
    let pid = call.process.pid;
    if call.arg(0) != pid {
        return Err(Errno::ESRCH);
    }
    let (code, number) = given(call, call.arg(3))?;
    to_thread(call, call.arg(1), call.arg(2), |signal| Info::sent(signal, code, pid, number))
}

/// Whether a program asked not to hear of its children.
pub(in crate::linux) fn ignores_children(action: Action) -> bool {
    action.handler == IGNORE || action.flags & crate::linux::abi::flags::SA_NOCLDWAIT != 0
}
