//! What frames wait for the cache while all it knows is translated again.

use super::cache::binary;
use super::clock::{Control, Parts};
use super::pages::SmallPages;
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
    /// The longest of each of its parts, where the system says (Linux).
    pub of: Option<Parts>,
    /// Frames that waited or ran for more than 2 ms.
    pub late: usize,
    /// As much of plain arithmetic after each frame.
    pub control: Control,
}

fn key(of: &str, n: usize) -> Key {
    Key::of("bench play").bytes(of.as_bytes()).number(n as u64).finish()
}

/// Frames before a cache in a folder, while so many programs are translated anew into it.
pub fn run(folder: &Path, programs: usize) -> Result<Play> {
    let _small = SmallPages::begin();
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
            of: None,
            late: 0,
            control: Control::default(),
        };
        while play.frames < FRAMES || !refilling.is_finished() {
            let begin = Instant::now();
            frame(cache, &mut play);
            play.control.run(play.mean / play.frames as f64);
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
    let look_up = || {
        for n in 0..LOOK_UPS {
            let _ = cache.get(&key("kept", n));
            let _ = cache.get(&key("kept", (number * LOOK_UPS + n) % KEPT));
            let _ = cache.get(&key("nowhere", number * LOOK_UPS + n));
        }
        for (n, payload) in new.into_iter().enumerate() {
            cache.put(key("new", number * INSERTS + n), Kind::Artifact, 1, payload);
        }
    };
    let (took, parts) = Parts::of(look_up);
    if let Some(parts) = parts {
        play.of = Some(play.of.unwrap_or_default().max(parts));
        play.late += usize::from(parts.is_late());
    }
    play.frames += 1;
    play.mean += took;
    play.worst = play.worst.max(took);
}
