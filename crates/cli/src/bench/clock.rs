//! What a thread's time went to: whether it slept, ran, or had no processor, beside plain arithmetic.

use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What a frame has for the cache, in milliseconds.
const BUDGET: f64 = 2.0;

/// A thread's times so far, in seconds.
#[derive(Clone, Copy)]
struct Times {
    running: f64,
    without_processor: f64,
    /// How often it was given a processor.
    turns: u64,
}

#[cfg(target_os = "linux")]
impl Times {
    fn now() -> Option<Times> {
        use rustix::time::{ClockId, clock_gettime};

        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let mut fields = text.split_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
        let (without_processor, turns) = (fields.next()? as f64 * 1e-9, fields.next()?);
        let running = clock_gettime(ClockId::ThreadCPUTime);
        let running = running.tv_sec as f64 + running.tv_nsec as f64 * 1e-9;
        Some(Times { running, without_processor, turns })
    }
}

#[cfg(not(target_os = "linux"))]
impl Times {
    fn now() -> Option<Times> {
        None
    }
}

/// Milliseconds of a stretch of a thread's work, by what the thread did.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Parts {
    /// It slept: it waited for a lock, for another thread, or for the disk.
    pub waiting: f64,
    /// It ran.
    pub running: f64,
    /// It could have run, but other threads had the processors; a busy machine does that to any thread.
    pub without_processor: f64,
}

impl Parts {
    /// Does something. Gives how many milliseconds it took, and what they were, where the system says (Linux).
    pub fn of(work: impl FnOnce()) -> (f64, Option<Parts>) {
        let (before, start) = (Times::now(), Instant::now());
        work();
        let took = start.elapsed().as_secs_f64() * 1e3;
        let parts = before.zip(Times::now()).map(|(before, after)| {
            let running = (after.running - before.running) * 1e3;
            let without_processor = (after.without_processor - before.without_processor) * 1e3;
            // A thread that kept its processor did not wait; a hypervisor may have had it. The difference may be below zero, as the
            // readings are not of the same moment.
            let waiting = match after.turns == before.turns {
                true => 0.0,
                false => (took - running - without_processor).max(0.0),
            };
            Parts { waiting, running, without_processor }
        });
        (took, parts)
    }

    /// The longest of each.
    pub fn max(self, other: Parts) -> Parts {
        Parts {
            waiting: self.waiting.max(other.waiting),
            running: self.running.max(other.running),
            without_processor: self.without_processor.max(other.without_processor),
        }
    }

    /// Whether the thread waited or ran for longer than a frame has.
    pub fn is_late(&self) -> bool {
        self.waiting + self.running > BUDGET
    }
}

/// Plain arithmetic that should take as long as frames do: it needs no lock, no other thread and no memory. What it takes beyond
/// its time is the machine's. A guest of a hypervisor, above all, is charged for time in which its processor was another's: then
/// everything is slower, arithmetic, too.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Control {
    /// The longest run, in milliseconds of the thread's time.
    pub longest: f64,
    /// Runs that took more than 2 ms.
    pub late: usize,
    /// Milliseconds of a step, of each run.
    #[serde(skip)]
    steps: Vec<f64>,
}

impl Control {
    /// A run that takes so many milliseconds when the machine is as it is mostly.
    pub fn run(&mut self, milliseconds: f64) {
        /// Steps of a run that is too short to be interrupted often.
        const FEW: u32 = 1 << 12;
        let start = Instant::now();
        spin(FEW);
        self.steps.push(start.elapsed().max(Duration::from_nanos(1)).as_secs_f64() * 1e3 / f64::from(FEW));
        let middle = self.steps.len() / 2;
        let (_, step, _) = self.steps.select_nth_unstable_by(middle, f64::total_cmp);
        let count = (milliseconds / *step) as u32;
        let (took, parts) = Parts::of(|| spin(count));
        let running = parts.map_or(took, |parts| parts.running);
        self.longest = self.longest.max(running);
        self.late += usize::from(running > BUDGET);
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:9.3} ms the longest, {} over 2 ms", self.longest, self.late)
    }
}

fn spin(steps: u32) {
    let mut x = 1u32;
    for _ in 0..steps {
        x = black_box(x).wrapping_mul(3).wrapping_add(1);
    }
    black_box(x);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_not_time_that_the_thread_runs() {
        let nap = Duration::from_millis(30);
        let (took, parts) = Parts::of(|| std::thread::sleep(nap));
        let parts = parts.unwrap();
        assert!(took >= 30.0 && parts.waiting > parts.running && parts.is_late());
    }
}
