//! Clocks, sleeping, alarms.

use super::{Answer, Call, DONE, NANOS, Reply, Wait, value};
use crate::linux::abi::{Errno, Signal, sig};
use crate::linux::process::Process;
use crate::linux::timers::Notice;

const ABSOLUTE: u32 = 1;

/// The time of a clock, in nanoseconds.
fn clock(process: &Process, id: u32, retired: u64) -> Result<u64, Errno> {
    match id {
        // CLOCK_REALTIME, _COARSE, and the one of atomic time.
        0 | 5 | 11 => Ok(process.shared.realtime()),
        // CLOCK_MONOTONIC, _RAW, _COARSE, CLOCK_BOOTTIME.
        1 | 4 | 6 | 7 => Ok(process.shared.monotonic()),
        // Time of the process and the thread: what they executed, at a thousand million instructions a second.
        2 | 3 => Ok(retired),
        _ => Err(Errno::EINVAL),
    }
}

fn get(call: &mut Call<'_>, wide: bool) -> Reply {
    let time = clock(call.process, call.arg(0), call.cpu.retired)?;
    call.put_time(call.arg(1), time, wide)?;
    DONE
}

pub(super) fn clock_gettime(call: &mut Call<'_>) -> Reply {
    get(call, false)
}

pub(super) fn clock_gettime64(call: &mut Call<'_>) -> Reply {
    get(call, true)
}

fn resolution(call: &mut Call<'_>, wide: bool) -> Reply {
    clock(call.process, call.arg(0), 0)?;
    if call.arg(1) != 0 {
        call.put_time(call.arg(1), 1, wide)?;
    }
    DONE
}

pub(super) fn clock_getres(call: &mut Call<'_>) -> Reply {
    resolution(call, false)
}

pub(super) fn clock_getres_time64(call: &mut Call<'_>) -> Reply {
    resolution(call, true)
}

pub(super) fn time(call: &mut Call<'_>) -> Reply {
    let seconds = (call.process.shared.realtime() / NANOS) as u32;
    if call.arg(0) != 0 {
        call.put_word(call.arg(0), seconds)?;
    }
    value(seconds)
}

pub(super) fn gettimeofday(call: &mut Call<'_>) -> Reply {
    let now = call.process.shared.realtime();
    if call.arg(0) != 0 {
        let bytes = call.layout().words([(now / NANOS) as u32, (now % NANOS / 1000) as u32]).bytes;
        call.put(call.arg(0), &bytes)?;
    }
    if call.arg(1) != 0 {
        let bytes = call.layout().words([0, 0]).bytes;
        call.put(call.arg(1), &bytes)?;
    }
    DONE
}

/// Ticks of a hundredth of a second: of the process, by what it executed.
pub(super) fn times(call: &mut Call<'_>) -> Reply {
    let ticks = |nanos: u64| (nanos / 10_000_000) as u32;
    if call.arg(0) != 0 {
        let bytes = call.layout().words([ticks(call.cpu.retired), 0, 0, 0]).bytes;
        call.put(call.arg(0), &bytes)?;
    }
    value(ticks(call.process.shared.monotonic()))
}

/// Sleeps until a deadline; what is left goes to `rest` when a signal comes first.
fn sleep(call: &mut Call<'_>, deadline: u64, rest: u32, wide: bool) -> Reply {
    let now = call.process.shared.monotonic();
    if now >= deadline {
        return DONE;
    }
    if call.interrupted {
        if rest != 0 {
            call.put_time(rest, deadline - now, wide)?;
        }
        return Err(Errno::EINTR);
    }
    Ok(Answer::Wait(Wait { deadline: Some(deadline), ..Wait::default() }))
}

pub(super) fn nanosleep(call: &mut Call<'_>) -> Reply {
    let time = call.time(call.arg(0), false)?;
    let deadline = call.deadline(Some(time)).unwrap_or_default();
    sleep(call, deadline, call.arg(1), false)
}

fn clock_sleep(call: &mut Call<'_>, wide: bool) -> Reply {
    let (id, flags, rest) = (call.arg(0), call.arg(1), call.arg(3));
    let now = clock(call.process, id, 0)?;
    let time = call.time(call.arg(2), wide)?;
    let absolute = flags & ABSOLUTE != 0;
    let nanos = if absolute { time.saturating_sub(now) } else { time };
    let deadline = call.deadline(Some(nanos)).unwrap_or_default();
    sleep(call, deadline, if absolute { 0 } else { rest }, wide)
}

pub(super) fn clock_nanosleep(call: &mut Call<'_>) -> Reply {
    clock_sleep(call, false)
}

pub(super) fn clock_nanosleep_time64(call: &mut Call<'_>) -> Reply {
    clock_sleep(call, true)
}

/// What is left until the alarm.
fn left(process: &Process) -> u64 {
    process.alarm.map_or(0, |time| time.saturating_sub(process.shared.monotonic()).max(1))
}

pub(super) fn alarm(call: &mut Call<'_>) -> Reply {
    let old = left(call.process).div_ceil(NANOS) as u32;
    let nanos = u64::from(call.arg(0)) * NANOS;
    call.process.alarm = (nanos != 0).then(|| call.process.shared.monotonic().saturating_add(nanos));
    call.process.alarm_interval = 0;
    value(old)
}

/// Writes interval and rest of the alarm.
fn put_alarm(call: &mut Call<'_>, place: u32) -> Result<(), Errno> {
    let (left, interval) = (left(call.process), call.process.alarm_interval);
    let words = [interval / NANOS, interval % NANOS / 1000, left / NANOS, left % NANOS / 1000];
    let bytes = call.layout().words(words.map(|word| word as u32)).bytes;
    call.put(place, &bytes)
}

/// `ITIMER_REAL` only.
pub(super) fn setitimer(call: &mut Call<'_>) -> Reply {
    if call.arg(0) != 0 {
        return Err(Errno::EINVAL);
    }
    let new = call.arg(1);
    let mut micros = [0; 4];
    if new != 0 {
        for (n, word) in micros.iter_mut().enumerate() {
            *word = call.word(new.wrapping_add(4 * n as u32))?;
        }
    }
    let [interval, interval_micros, first, first_micros] = micros.map(u64::from);
    if interval_micros >= 1_000_000 || first_micros >= 1_000_000 {
        return Err(Errno::EINVAL);
    }
    if call.arg(2) != 0 {
        put_alarm(call, call.arg(2))?;
    }
    let first = first * NANOS + first_micros * 1000;
    call.process.alarm = (first != 0).then(|| call.process.shared.monotonic().saturating_add(first));
    call.process.alarm_interval = interval * NANOS + interval_micros * 1000;
    DONE
}

pub(super) fn getitimer(call: &mut Call<'_>) -> Reply {
    if call.arg(0) != 0 {
        return Err(Errno::EINVAL);
    }
    put_alarm(call, call.arg(1))?;
    DONE
}

/// Kinds of notices in `struct sigevent`.
const SIGEV_SIGNAL: u32 = 0;
const SIGEV_NONE: u32 = 1;
const SIGEV_THREAD_ID: u32 = 4;

pub(super) fn timer_create(call: &mut Call<'_>) -> Reply {
    let (id, event, place) = (call.arg(0), call.arg(1), call.arg(2));
    clock(call.process, id, 0)?;
    // Timers of the time that a process has used are not there.
    if matches!(id, 2 | 3) {
        return Err(Errno::EOPNOTSUPP);
    }
    let notice = if event == 0 {
        None
    } else {
        let [value, signal, kind, tid] = [0, 4, 8, 12].map(|at| call.word(event.wrapping_add(at)));
        let (signal, thread) = (Signal(signal?), tid?);
        match kind? {
            SIGEV_NONE => Some(Notice::None),
            SIGEV_SIGNAL | SIGEV_THREAD_ID if !(1..=Signal::MAX).contains(&signal.0) => {
                return Err(Errno::EINVAL);
            }
            SIGEV_SIGNAL => Some(Notice::Signal { signal, thread: None, value: value? }),
            SIGEV_THREAD_ID if call.process.threads.iter().any(|other| other.tid == thread) => {
                Some(Notice::Signal { signal, thread: Some(thread), value: value? })
            }
            _ => return Err(Errno::EINVAL),
        }
    };
    // Without a description a timer sends SIGALRM with its number.
    let number = call.process.timers.create(id, notice.unwrap_or(Notice::None)).ok_or(Errno::EAGAIN)?;
    if let (None, Some(timer)) = (notice, call.process.timers.get_mut(number)) {
        timer.notice = Notice::Signal { signal: sig::ALRM, thread: None, value: number };
    }
    if let Err(error) = call.put_word(place, number) {
        call.process.timers.delete(number);
        return Err(error);
    }
    DONE
}

pub(super) fn timer_delete(call: &mut Call<'_>) -> Reply {
    if call.process.timers.delete(call.arg(0)) { DONE } else { Err(Errno::EINVAL) }
}

pub(super) fn timer_getoverrun(call: &mut Call<'_>) -> Reply {
    let number = call.arg(0);
    value(call.process.timers.get_mut(number).ok_or(Errno::EINVAL)?.overrun)
}

/// Writes interval and rest of a timer.
fn put_timer(call: &mut Call<'_>, number: u32, place: u32, wide: bool) -> Result<(), Errno> {
    let now = call.process.shared.monotonic();
    let timer = call.process.timers.get_mut(number).ok_or(Errno::EINVAL)?;
    let (interval, rest) = (timer.interval, timer.next.map_or(0, |time| time.saturating_sub(now).max(1)));
    call.put_time(place, interval, wide)?;
    call.put_time(place.wrapping_add(if wide { 16 } else { 8 }), rest, wide)
}

fn set_timer(call: &mut Call<'_>, wide: bool) -> Reply {
    let (number, flags, new, old) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    let interval = call.time(new, wide)?;
    let first = call.time(new.wrapping_add(if wide { 16 } else { 8 }), wide)?;
    let id = call.process.timers.get_mut(number).ok_or(Errno::EINVAL)?.clock;
    if old != 0 {
        put_timer(call, number, old, wide)?;
    }
    let left = match flags & ABSOLUTE != 0 {
        true => first.saturating_sub(clock(call.process, id, 0)?),
        false => first,
    };
    let next = call.process.shared.monotonic().saturating_add(left);
    if let Some(timer) = call.process.timers.get_mut(number) {
        timer.next = (first != 0).then_some(next);
        timer.interval = interval;
        timer.overrun = 0;
    }
    DONE
}

pub(super) fn timer_settime(call: &mut Call<'_>) -> Reply {
    set_timer(call, false)
}

pub(super) fn timer_settime64(call: &mut Call<'_>) -> Reply {
    set_timer(call, true)
}

pub(super) fn timer_gettime(call: &mut Call<'_>) -> Reply {
    put_timer(call, call.arg(0), call.arg(1), false)?;
    DONE
}

pub(super) fn timer_gettime64(call: &mut Call<'_>) -> Reply {
    put_timer(call, call.arg(0), call.arg(1), true)?;
    DONE
}
