//! A writer that is killed after any step, a machine that loses power, a file with any byte wrong.

use super::disk::{MemoryPlace, Step, apply};
use super::*;
use xenoglot_testgen::property::{budget, seed};
use xenoglot_testgen::rng::Rng;

/// What the store had when a flush was done, after so many steps of the disk.
struct Flushed {
    steps: usize,
    contents: BTreeMap<u32, u32>,
}

/// A store that is filled, changed, and makes room; every state it was flushed in.
fn run(cap: u64, rounds: u32) -> (MemoryPlace, Vec<Flushed>) {
    let place = MemoryPlace::default();
    let store = Store::at(Box::new(place.clone()), Options { cap, ..options() }).unwrap();
    let (mut contents, mut flushed) = (BTreeMap::new(), Vec::new());
    for round in 0..rounds {
        for n in 0..10 {
            let (name, value) = ((round * 7 + n) % 50, round * 100 + n);
            store.put(&key(name), &entry(value)).unwrap();
            contents.insert(name, value);
        }
        store.remove(&key(round));
        contents.remove(&round);
        store.get(&key(round + 1));
        store.flush().unwrap();
        flushed.push(Flushed { steps: place.steps(), contents: contents.clone() });
    }
    drop(store);
    (place, flushed)
}

/// Opens what is left of a store. Every answer must be something that was put under that name; what was flushed must be
/// there, if nothing was to make room.
fn check(bytes: Vec<u8>, flushed: &[Flushed], steps: usize, nothing_went: bool) {
    let store = Store::at(Box::new(MemoryPlace::of(bytes)), options()).unwrap();
    let last = flushed.iter().rfind(|state| state.steps <= steps).map(|state| &state.contents);
    let next = flushed.iter().find(|state| state.steps > steps).map(|state| &state.contents);
    for name in 0..50 {
        let found = store.get(&key(name));
        let known = |contents: Option<&BTreeMap<u32, u32>>| contents.and_then(|c| c.get(&name)).copied();
        let (old, new) = (known(last), known(next));
        match &found {
            Some(found) => {
                let allowed = [old, new].into_iter().flatten().any(|value| *found == entry(value));
                assert!(allowed, "after {steps} steps, entry {name} is neither the old nor the new one");
            }
            // It may have gone in what came after the flush.
            None => assert!(
                !nothing_went || old.is_none() || new.is_none(),
                "after {steps} steps, {name} is lost"
            ),
        }
    }
    // A file that was never flushed may not be a database yet.
    if nothing_went && last.is_some() {
        assert_eq!(store.counts().files_set_aside, 0, "after {steps} steps");
    }
    // And it can be used.
    store.put(&key(1000), &entry(1000)).unwrap();
    store.flush().unwrap();
    assert_eq!(store.get(&key(1000)), Some(entry(1000)));
}

/// Which steps to stop after: all in long runs, else 30 at random.
fn stops(steps: usize, rng: &mut Rng) -> Vec<usize> {
    match budget(Some(30), None) {
        Some(some) => (0..some).map(|_| rng.below(steps as u32 + 1) as usize).collect(),
        None => (0..=steps).collect(),
    }
}

#[test]
fn a_writer_killed_after_any_step_loses_the_last_interval_at_most() {
    let mut rng = Rng::new(seed());
    for cap in [1 << 30, 12_000] {
        let (place, flushed) = run(cap, 12);
        let journal = place.journal();
        for stop in stops(journal.len(), &mut rng) {
            let mut bytes = Vec::new();
            journal[..stop].iter().for_each(|step| apply(&mut bytes, step));
            check(bytes.clone(), &flushed, stop, cap > 1 << 20);
            // Half of the next write.
            if let Some(Step::Write(at, data)) = journal.get(stop) {
                apply(&mut bytes, &Step::Write(*at, data[..data.len() / 2].to_vec()));
                check(bytes, &flushed, stop, cap > 1 << 20);
            }
        }
    }
}

#[test]
fn a_machine_without_power_loses_the_last_interval_at_most() {
    let mut rng = Rng::new(seed() ^ 1);
    let (place, flushed) = run(1 << 30, 12);
    let journal = place.journal();
    for stop in stops(journal.len(), &mut rng) {
        // Since the last sync, any of the writes may have come to the disk.
        let synced =
            journal[..stop].iter().rposition(|step| matches!(step, Step::Sync)).map_or(0, |at| at + 1);
        let mut bytes = Vec::new();
        for (at, step) in journal[..stop].iter().enumerate() {
            if at < synced || matches!(step, Step::Length(_)) || rng.below(2) == 0 {
                apply(&mut bytes, step);
            }
        }
        // A flush that was not synced is not one.
        let done: Vec<Flushed> = flushed
            .iter()
            .map(|state| Flushed { steps: state.steps, contents: state.contents.clone() })
            .collect();
        check(bytes, &done, stop, true);
    }
}

/// A store with a few small entries, one replaced and one removed: every value each name ever had.
fn small() -> (MemoryPlace, BTreeMap<u32, Vec<u32>>) {
    let place = MemoryPlace::default();
    let store = Store::at(Box::new(place.clone()), options()).unwrap();
    let mut was_put: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (name, value) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (1, 101)] {
        store.put(&key(name), &short(value)).unwrap();
        was_put.entry(name).or_default().push(value);
        if value == 4 {
            store.flush().unwrap();
        }
    }
    store.remove(&key(2));
    drop(store);
    (place, was_put)
}

fn short(n: u32) -> Entry {
    let payload: Vec<u8> = (0..40u32).flat_map(|i| (i * (n + 1)).to_le_bytes()).collect();
    Entry { payload: payload.into(), ..entry(n) }
}

/// Opens a damaged store in both ways and uses it. Every answer is something that was put under that name: a wrong byte may
/// lead to a page of an earlier state.
fn use_damaged(place: &MemoryPlace, was_put: &BTreeMap<u32, Vec<u32>>) {
    for read_only in [true, false] {
        let store = match Store::at(Box::new(place.copy()), Options { read_only, ..options() }) {
            Ok(store) => store,
            // What may not be written cannot be set aside.
            Err(StoreError::Damaged { .. }) if read_only => continue,
            Err(error) => panic!("{error}"),
        };
        for (name, values) in was_put {
            let found = store.get(&key(*name));
            let is_known = |found: &Entry| values.iter().any(|value| *found == short(*value));
            assert!(found.as_ref().is_none_or(is_known), "entry {name} is another");
        }
        store.put(&key(1000), &short(1000)).unwrap();
        let _ = store.flush();
        let _ = store.verify();
        assert!(store.get(&key(1000)).is_none_or(|found| found == short(1000)));
    }
}

/// Every byte that a use of the store reads, or 300 of them in short runs. Others cannot change what it does.
#[test]
fn any_wrong_byte_costs_entries_and_nothing_else() {
    let mut rng = Rng::new(seed() ^ 2);
    let (place, was_put) = small();
    let bytes = place.bytes();
    let place = MemoryPlace::noting(bytes.clone());
    use_damaged(&place, &was_put);
    let read = place.bytes_read();
    let tried: Vec<usize> = match budget(Some(300), None) {
        Some(some) => (0..some).map(|_| read[rng.below(read.len() as u32) as usize]).collect(),
        None => read.clone(),
    };
    eprintln!("{} of {} bytes are read, {} are tried", read.len(), bytes.len(), tried.len());
    let flips: Vec<(usize, u8)> = tried.iter().map(|&at| (at, 1 << rng.below(8))).collect();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for part in flips.chunks(flips.len().div_ceil(threads).max(1)) {
            let (bytes, was_put) = (&bytes, &was_put);
            scope.spawn(move || {
                for &(at, bit) in part {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= bit;
                    let run = || use_damaged(&MemoryPlace::of(damaged), was_put);
                    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                    assert!(ran.is_ok(), "byte {at}, bit {bit:#04x}");
                }
            });
        }
    });
}
