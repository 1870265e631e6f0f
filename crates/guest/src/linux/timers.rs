//! A process's timers (`timer_create`), each of which sends a signal when it expires.

use super::abi::{Signal, code};
use super::signals::{Fields, Info};

/// Timers of a process.
const MAX_TIMERS: usize = 256;

/// What an expiration does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    None,
    /// A signal for the process, or for one of its threads, with a value.
    Signal {
        signal: Signal,
        thread: Option<u32>,
        value: u32,
    },
}

/// A timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub clock: u32,
    pub notice: Notice,
    /// When it expires next, on the monotonic clock, in nanoseconds; `None` when it is disarmed.
    pub next: Option<u64>,
    /// Time between expirations; 0 for one alone.
    pub interval: u64,
    /// Expirations that the last signal stands for beside its own.
    pub overrun: u32,
}

/// The timers of a process by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    slots: Vec<Option<Timer>>,
}

impl Timers {
    /// The number of a new timer, which is disarmed; `None` when there are too many.
    pub fn create(&mut self, clock: u32, notice: Notice) -> Option<u32> {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if free >= MAX_TIMERS {
            return None;
        }
        if free == self.slots.len() {
            self.slots.push(None);
        }
        let timer = Timer { clock, notice, next: None, interval: 0, overrun: 0 };
        *self.slots.get_mut(free)? = Some(timer);
        Some(free as u32)
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Timer> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    /// Deletes a timer; whether there was one.
    pub fn delete(&mut self, number: u32) -> bool {
        self.slots.get_mut(number as usize).and_then(Option::take).is_some()
    }

    /// When the first of them expires.
    pub fn next(&self) -> Option<u64> {
        self.slots.iter().flatten().filter_map(|timer| timer.next).min()
    }

    /// Signals of the timers that have expired by `now`, with the threads that they are for. Expirations of a timer whose last
    /// signal still `waits` are only counted.
    pub fn expire(&mut self, now: u64, mut waits: impl FnMut(u32) -> bool) -> Vec<(Option<u32>, Info)> {
        let mut out = Vec::new();
        for (number, timer) in (0..).zip(&mut self.slots) {
            let Some(timer) = timer else { continue };
            let Some(time) = timer.next.filter(|&time| time <= now) else { continue };
            let missed = (now - time).checked_div(timer.interval).unwrap_or_default();
            timer.next = (timer.interval != 0)
                .then(|| time.saturating_add(timer.interval.saturating_mul(missed.saturating_add(1))));
            let Notice::Signal { signal, thread, value } = timer.notice else { continue };
            let missed = u32::try_from(missed).unwrap_or(i32::MAX as u32);
            if waits(number) {
                timer.overrun = timer.overrun.saturating_add(missed).saturating_add(1);
            } else {
                timer.overrun = missed;
                let fields = Fields::Timer { number, overrun: missed, value };
                out.push((thread, Info { signal, code: code::TIMER, fields }));
            }
        }
        out
    }
}
