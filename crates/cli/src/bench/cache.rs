//! What the shader cache costs: look-ups, inserts, opening, warming up, bytes.

use super::clock::Parts;
use super::play::{self, Play};
use anyhow::{Context, Result, anyhow};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use xenoglot::pica::Options as Lift;
use xenoglot::{Host, Options as CodeOptions};
use xenoglot_cache::store::{Options, Store};
use xenoglot_cache::translate::{pica, present};
use xenoglot_cache::{Cache, Entry, Key, Kind, Stateless, Title, entry};
use xenoglot_pica_shader::container::{Dvle, Output, Semantic, Shbin};
use xenoglot_pica_shader::desc::Mask;
use xenoglot_testgen::pica::{Category, program};
use xenoglot_testgen::rng::Rng;

/// What was measured. Look-ups and inserts are medians.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Entries of the store.
    pub entries: usize,
    /// Microseconds of a look-up by key in memory.
    pub memory_get: f64,
    /// Microseconds of a look-up of a translation in memory: what it asked, its key, its entry.
    pub memory_find: f64,
    /// Microseconds of a look-up on disk of an entry of 4 KiB, hash checked and unpacked.
    pub disk_get: f64,
    /// Microseconds of an insert, packed and hashed, without the flush.
    pub put: f64,
    /// Milliseconds of a flush of 1000 entries.
    pub flush: f64,
    /// Seconds to open the store, all checksums verified.
    pub open: f64,
    /// Bytes of the store's file.
    pub file: u64,
    /// SPIR-V modules of the corpus: how many, their bytes, and their bytes as entries.
    pub modules: (usize, usize, usize),
    /// Programs translated a second into an empty cache, as `batch` does, on one core and on two.
    pub cold: [f64; 2],
    /// The same programs a second from a cache on disk that has them.
    pub warm: f64,
    /// Frames while as many programs as the store has entries are translated again.
    pub play: Play,
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// Microseconds of each of `count` runs; the clock's own cost is below a tenth of one.
fn each(count: usize, mut run: impl FnMut(usize)) -> f64 {
    let one = |n| {
        let start = Instant::now();
        run(n);
        start.elapsed().as_secs_f64() * 1e6
    };
    median((0..count).map(one).collect())
}

/// Microseconds of one of many runs that are too short for a clock.
fn many(count: usize, mut run: impl FnMut(usize)) -> f64 {
    let rounds = (0..9).map(|_| {
        let start = Instant::now();
        (0..count).for_each(&mut run);
        start.elapsed().as_secs_f64() * 1e6 / count as f64
    });
    median(rounds.collect())
}

fn key(n: usize) -> Key {
    Key::of("bench").number(n as u64).finish()
}

/// The shader binary of a number, as in a corpus of a console: 20 to 200 words.
pub(super) fn binary(number: usize) -> Shbin {
    let output = |(register, semantic)| Output { semantic, register, mask: Mask::ALL };
    let outputs = [Semantic::Position, Semantic::Color, Semantic::TexCoord0, Semantic::View];
    let outputs: Vec<Output> = (0..).zip(outputs).map(output).collect();
    let mut rng = Rng::new(number as u64);
    let words = 20 + rng.below(180);
    let sample = program(&mut rng, Category::Structured, words);
    let end = sample.program.code.len() as u32;
    let executable = Dvle { main: sample.entry, end, output_mask: 15, outputs, ..Dvle::default() };
    Shbin { program: sample.program, executables: vec![executable], ..Shbin::default() }
}

/// Modules of the corpus, cut or repeated to 4 KiB.
fn payloads(modules: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let long = |module: &Vec<u8>| module.iter().copied().cycle().take(4096).collect();
    modules.iter().filter(|module| !module.is_empty()).map(long).collect()
}

/// Measures in a folder that goes afterwards.
pub fn run(quick: bool) -> Result<Report> {
    let folder = tempfile::tempdir()?;
    let entries = if quick { 5_000 } else { 50_000 };
    let (cold, warm, modules) = translations(&folder.path().join("cache"), quick)?;
    let bytes = |of: &dyn Fn(&Vec<u8>) -> usize| modules.iter().map(of).sum::<usize>();
    let stored = |module: &Vec<u8>| {
        let payload = module.as_slice().into();
        let entry = Entry { kind: Kind::Artifact, stamp: 1, title: Title::NONE, payload };
        entry::encode(&key(0), &entry).map_or(0, |bytes| bytes.len())
    };
    let sizes = (modules.len(), bytes(&Vec::len), bytes(&stored));

    let path = folder.path().join("store.redb");
    let payloads = payloads(&modules);
    let of = |n: usize| {
        let mut payload = payloads.get(n % payloads.len().max(1)).cloned().unwrap_or_default();
        // No two are the same.
        payload.iter_mut().zip((n as u64).to_le_bytes()).for_each(|(byte, n)| *byte ^= n);
        Entry { kind: Kind::Artifact, stamp: 1, title: Title::NONE, payload: payload.into() }
    };
    let store = Store::open(&path, Options::default())?;
    let mut put = Vec::new();
    let mut flushes = Vec::new();
    for n in 0..entries {
        let entry = of(n);
        let start = Instant::now();
        store.put(&key(n), &entry)?;
        put.push(start.elapsed().as_secs_f64() * 1e6);
        if n % 1000 == 999 {
            let start = Instant::now();
            store.flush()?;
            flushes.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    drop(store);
    let start = Instant::now();
    let store = Store::open(&path, Options::default())?;
    let open = start.elapsed().as_secs_f64();
    let mut rng = Rng::new(1);
    let looked_up: Vec<usize> = (0..5000).map(|_| rng.below(entries as u32) as usize).collect();
    drop(store);
    // Opened anew each time: what an earlier round has read is not in its memory.
    let from_disk = || -> Result<f64> {
        let store = Store::open(&path, Options::default())?;
        let median = each(looked_up.len(), |n| {
            let _ = black_box(store.get(&key(looked_up.get(n).copied().unwrap_or(0))));
        });
        match store.counts().misses {
            0 => Ok(median),
            misses => Err(anyhow!("{misses} entries are not found")),
        }
    };
    let disk_get = from_disk()?;

    let memory = Cache::memory(present());
    let keys: Vec<Key> = (0..1024).map(key).collect();
    for key in &keys {
        let entry = memory.translate(*key, &Stateless, |recorder| {
            ["pica", "ir", "opt", "spirv"].into_iter().for_each(|part| recorder.uses(part));
            Ok(vec![7; 4096])
        });
        memory.put(*key, Kind::Artifact, 0, entry?.payload.to_vec());
    }
    let at = |n: usize| keys.get(n % keys.len()).copied().unwrap_or(key(0));
    let play = play::run(&folder.path().join("play"), entries)?;
    // The best of five, one before the frames and four after them, as the machine's speed may change.
    let disk_get = (0..4).try_fold(disk_get, |best, _| Ok::<_, anyhow::Error>(best.min(from_disk()?)))?;
    Ok(Report {
        entries,
        memory_get: many(10_000, |n| drop(black_box(memory.get(&at(n))))),
        memory_find: many(10_000, |n| drop(black_box(memory.find(at(n), &Stateless)))),
        disk_get,
        put: median(put),
        flush: median(flushes),
        open,
        file: std::fs::metadata(&path)?.len(),
        modules: sizes,
        cold,
        warm,
        play,
    })
}

/// The corpus translated: programs a second cold on one core and on two, warm, and the modules.
fn translations(folder: &Path, quick: bool) -> Result<([f64; 2], f64, Vec<Vec<u8>>)> {
    let files: Vec<Shbin> = (0..if quick { 200 } else { 2000 }).map(binary).collect();
    let (host, options, lift) = (Host::default(), CodeOptions::default(), Lift::default());
    let translate = |cache: &Cache, threads: usize| -> Result<(f64, Vec<Vec<u8>>)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let start = Instant::now();
        let done: Vec<_> = pool.install(|| {
            let one = |file| pica::translate(cache, file, 0, &lift, &host, &options);
            files.par_iter().map(one).collect()
        });
        let rate = files.len() as f64 / start.elapsed().as_secs_f64();
        Ok((rate, done.into_iter().flatten().map(|entry| entry.payload.to_vec()).collect()))
    };
    // Of some rounds that with the middle ratio: a round's two rates are of the same seconds, in which the machine has one speed.
    let mut modules = Vec::new();
    let mut rounds = [[0.0f64; 2]; 7];
    for round in &mut rounds {
        for (rate, threads) in round.iter_mut().zip([1, 2]) {
            (*rate, modules) = translate(&Cache::memory(present()), threads)?;
        }
    }
    rounds.sort_by(|[one, two], [other_one, other_two]| (two / one).total_cmp(&(other_two / other_one)));
    let cold = rounds[rounds.len() / 2];
    let open = || Cache::open(folder, present(), &xenoglot_cache::Options::default());
    let cache = open()?;
    translate(&cache, 2)?;
    drop(cache);
    let cache = open()?;
    let (warm, again) = translate(&cache, 1)?;
    (again == modules).then_some(()).context("the cache gives other code")?;
    Ok((cold, warm, modules))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            entries,
            memory_get,
            memory_find,
            disk_get,
            put,
            flush,
            open,
            file,
            modules,
            cold,
            warm,
            play,
        } = self;
        let (count, raw, stored) = modules;
        let mean = |bytes: usize| bytes / (*count).max(1);
        writeln!(f, "look-up by key, memory           {memory_get:9.3} µs")?;
        writeln!(f, "look-up of a translation, memory {memory_find:9.3} µs")?;
        writeln!(f, "look-up of 4 KiB, disk           {disk_get:9.1} µs")?;
        writeln!(f, "insert of 4 KiB                  {put:9.1} µs")?;
        writeln!(f, "flush of 1000 entries            {flush:9.1} ms")?;
        writeln!(f, "open, {entries} entries          {open:9.3} s, a file of {file} bytes")?;
        writeln!(
            f,
            "{count} SPIR-V modules           {:9} bytes each, {} as entries",
            mean(*raw),
            mean(*stored)
        )?;
        let [one, two] = cold;
        writeln!(
            f,
            "programs a second, cold          {one:9.0} on one core, {two:.0} on two: {:.2}x",
            two / one
        )?;
        writeln!(f, "programs a second, warm          {warm:9.0} on one core")?;
        let Play { refilled, rate, frames, mean, worst, of, late, control } = play;
        writeln!(f, "filled in again                  {rate:9.0} programs a second, {refilled} in all")?;
        writeln!(f, "a frame's look-ups meanwhile     {mean:9.3} ms, {worst:.3} the longest of {frames}")?;
        if let Some(Parts { waiting, running, without_processor }) = of {
            writeln!(f, "  waiting for the cache          {waiting:9.3} ms, the longest")?;
            writeln!(f, "  running                        {running:9.3} ms, the longest")?;
            writeln!(f, "  without a processor            {without_processor:9.3} ms, the longest")?;
            writeln!(f, "  waiting or running over 2 ms   {late:9} frames")?;
            writeln!(f, "  as long of plain arithmetic    {control}")?;
        }
        Ok(())
    }
}
