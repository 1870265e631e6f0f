//! What frames wait for the cache while all it knows is translated again.

use super::cache::binary;
use anyhow::Result;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use xenoglot::pica::Options as Lift;
use xenoglot::{Host, Options as CodeOptions};
use xenoglot_cache::translate::{pica, present};
use xenoglot_cache::{Cache, Guest, Key, Kind, Options, Recording, Refill};

/// A frame at 60 a second.
const FRAME: Duration = Duration::from_nanos(16_666_667);
/// Frames at least, however fast the cache is full.
const FRAMES: usize = 120;
/// Look-ups of a frame that memory answers, and as many that it does not: of what is on disk, and of what is nowhere.
const LOOK_UPS: usize = 20;
/// New entries of a frame.
const INSERTS: usize = 4;
/// Entries on disk from before, which frames look up.
const KEPT: usize = 4096;

/// What frames waited for.
#[derive(Debug, Serialize)]
pub struct Play {
    /// Programs that were translated again meanwhile.
    pub refilled: usize,
    /// Programs a second.
    pub rate: f64,
    /// Frames.
    pub frames: usize,
    /// Milliseconds that a frame's look-ups and inserts took, mean.
    pub mean: f64,
    /// The longest.
    pub worst: f64,
    /// What it consists of, where the system says (Linux).
    pub of: Option<Parts>,
}

/// Milliseconds of a frame's look-ups and inserts by what the thread did: the longest of each.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Parts {
    /// It slept: it waited for a lock, for another thread, or for the disk.
    pub waiting: f64,
    /// It ran.
    pub running: f64,
    /// It could have run, but other threads had the processors; a busy machine does that to any thread.
    pub without_processor: f64,
    /// Frames that waited or ran for more than 2 ms.
    pub late: usize,
}

/// What a frame has for the cache, in milliseconds.
const BUDGET: f64 = 2.0;

impl Parts {
    /// With a frame that took so many milliseconds between two readings of the thread's times.
    fn add(&mut self, took: f64, before: Times, after: Times) {
        let running = (after.running - before.running) * 1e3;
        let without_processor = (after.without_processor - before.without_processor) * 1e3;
        // The readings are not of the same moment.
        let waiting = (took - running - without_processor).max(0.0);
        self.waiting = self.waiting.max(waiting);
        self.running = self.running.max(running);
        self.without_processor = self.without_processor.max(without_processor);
        self.late += usize::from(waiting + running > BUDGET);
    }
}

/// Seconds of this thread.
#[derive(Clone, Copy)]
struct Times {
    running: f64,
    without_processor: f64,
}

#[cfg(target_os = "linux")]
impl Times {
    fn now() -> Option<Times> {
        use rustix::time::{ClockId, clock_gettime};

        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let without_processor = text.split_whitespace().nth(1)?.parse::<u64>().ok()? as f64 * 1e-9;
        let running = clock_gettime(ClockId::ThreadCPUTime);
        Some(Times { running: running.tv_sec as f64 + running.tv_nsec as f64 * 1e-9, without_processor })
    }
}

#[cfg(not(target_os = "linux"))]
impl Times {
    fn now() -> Option<Times> {
        None
    }
}

fn key(of: &str, n: usize) -> Key {
    Key::of("bench play").bytes(of.as_bytes()).number(n as u64).finish()
}

/// Frames before a cache in a folder, while so many programs are translated anew into it.
pub fn run(folder: &Path, programs: usize) -> Result<Play> {
    let open = || Cache::open(folder, present(), &Options::default());
    let cache = open()?;
    for n in 0..programs {
        let program = (n as u64).to_le_bytes().to_vec();
        cache.remember(&Guest { kind: "bench".into(), program, recording: Recording::default() });
    }
    for n in 0..KEPT {
        cache.put(key("kept", n), Kind::Artifact, 1, payload(n));
    }
    drop(cache);
    let cache = open()?;
    let cancel = AtomicBool::new(false);
    let (host, options, lift) = (Host::default(), CodeOptions::default(), Lift::default());
    let translate = |guest: &Guest| {
        if let Ok(number) = guest.program.as_slice().try_into().map(usize::from_le_bytes) {
            drop(pica::translate(&cache, &binary(number), 0, &lift, &host, &options));
        }
    };
    let progress = |_, _| {};
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let refill = Refill { workers, cancel: &cancel, progress: &progress };
    std::thread::scope(|scope| {
        let start = Instant::now();
        let (cache, refill, translate) = (&cache, &refill, &translate);
        let refilling = scope.spawn(move || {
            let refilled = cache.refill(refill, translate);
            (refilled, start.elapsed().as_secs_f64())
        });
        let mut play = Play {
            refilled: 0,
            rate: 0.0,
            frames: 0,
            mean: 0.0,
            worst: 0.0,
            of: Times::now().map(|_| Parts::default()),
        };
        while play.frames < FRAMES || !refilling.is_finished() {
            let begin = Instant::now();
            frame(cache, &mut play);
            std::thread::sleep(FRAME.saturating_sub(begin.elapsed()));
        }
        play.mean /= play.frames as f64;
        let (refilled, seconds) = refilling.join().map_err(|_| anyhow::anyhow!("a translation panicked"))?;
        play.refilled = refilled?.done;
        let translated = cache.counts().misses;
        if translated != play.refilled as u64 {
            anyhow::bail!("{translated} of {} programs were translated", play.refilled);
        }
        play.rate = play.refilled as f64 / seconds;
        Ok(play)
    })
}

fn payload(n: usize) -> Vec<u8> {
    (0..1024u32).flat_map(|i| (i.wrapping_mul(n as u32 | 1) & 0x00ff_00ff).to_le_bytes()).collect()
}

/// What a frame asks of the cache.
fn frame(cache: &Cache, play: &mut Play) {
    let number = play.frames;
    let new: Vec<Vec<u8>> = (0..INSERTS).map(|n| payload(number * INSERTS + n)).collect();
    let (before, start) = (Times::now(), Instant::now());
    for n in 0..LOOK_UPS {
        let _ = cache.get(&key("kept", n));
        let _ = cache.get(&key("kept", (number * LOOK_UPS + n) % KEPT));
        let _ = cache.get(&key("nowhere", number * LOOK_UPS + n));
    }
    for (n, payload) in new.into_iter().enumerate() {
        cache.put(key("new", number * INSERTS + n), Kind::Artifact, 1, payload);
    }
    let took = start.elapsed().as_secs_f64();
    if let (Some(before), Some(after), Some(of)) = (before, Times::now(), &mut play.of) {
        of.add(took * 1e3, before, after);
    }
    play.frames += 1;
    play.mean += took * 1e3;
    play.worst = play.worst.max(took * 1e3);
}
