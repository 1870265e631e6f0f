//! After an update what depends on it is made again from guests' programs, on any number of threads to the same store.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use xenoglot_cache::{
    Cache, Failure, Guest, Key, Kind, Options, Recorder, Recording, Refill, Refilled, State, Stateless,
    Versions, to_bytes,
};

const PROGRAMS: u32 = 200;

fn versions(fold: u16, glsl: u16) -> Versions {
    [("lift", 1), ("fold", fold), ("spirv", 1), ("glsl", glsl)].into_iter().collect()
}

fn open(folder: &Path, versions: Versions) -> Cache {
    Cache::open(folder, versions, &Options::default()).unwrap()
}

/// Every third program is for GLSL.
fn writer(n: u32) -> &'static str {
    if n.is_multiple_of(3) { "glsl" } else { "spirv" }
}

fn base(n: u32) -> Key {
    Key::of("program").number(n.into()).finish()
}

/// What the GPU is asked: one of ten switches.
struct Gpu([bool; 10]);

impl State for Gpu {
    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        to_bytes(self.0.get(usize::from(*query.first()?))?)
    }
}

fn make(n: u32, version: u16, recorder: &Recorder, state: &dyn State) -> Result<Vec<u8>, Failure> {
    ["lift", "fold", writer(n)].into_iter().for_each(|part| recorder.uses(part));
    let query = (n % 10) as u8;
    let answer = state.answer(&[query]);
    recorder.note(&query, || answer.clone());
    if n.is_multiple_of(20) {
        return Err(Failure::refused(format!("program {n}")));
    }
    Ok([&n.to_le_bytes()[..], &answer.unwrap_or_default(), &version.to_le_bytes()].concat().repeat(30))
}

fn guest(n: u32, recording: Recording) -> Guest {
    Guest { kind: "test".into(), program: n.to_le_bytes().to_vec(), recording }
}

fn fill(cache: &Cache, version: u16) {
    let gpu = Gpu([true; 10]);
    for n in 0..PROGRAMS {
        let (_, recording) = cache.make(base(n), |recorder| make(n, version, recorder, &gpu));
        cache.remember(&guest(n, recording));
    }
    cache.flush().unwrap();
}

fn refill(cache: &Cache, workers: usize, version: u16) -> Refilled {
    let cancel = AtomicBool::new(false);
    let most = AtomicUsize::new(0);
    let progress = |done, total| {
        assert_eq!(total, PROGRAMS as usize);
        most.fetch_max(done, Ordering::Relaxed);
    };
    let translate = |guest: &Guest| {
        let n = u32::from_le_bytes(guest.program[..].try_into().unwrap());
        let recorded = &guest.recording;
        let _ = cache.translate(base(n), recorded, |recorder| make(n, version, recorder, recorded));
    };
    let refilled =
        cache.refill(&Refill { workers, cancel: &cancel, progress: &progress }, &translate).unwrap();
    assert_eq!(most.into_inner(), refilled.done);
    cache.flush().unwrap();
    refilled
}

/// Everything that is on disk, by key.
fn contents(cache: &Cache) -> BTreeMap<Key, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for store in [cache.hosts().unwrap(), cache.guests().unwrap()] {
        store
            .scan(|item| {
                contents.insert(item.key, item.bytes.to_vec());
                ControlFlow::Continue(())
            })
            .unwrap();
    }
    contents
}

#[test]
fn an_update_costs_what_depends_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = Gpu([true; 10]);
    fill(&open(folder.path(), versions(1, 1)), 1);
    let found = |cache: &Cache| (0..PROGRAMS).filter(|n| cache.find(base(*n), &gpu).is_some()).count();
    assert_eq!(found(&open(folder.path(), versions(1, 1))), 200);
    // A new writer of GLSL.
    let cache = open(folder.path(), versions(1, 2));
    assert_eq!(found(&cache), 200 - 67);
    assert_eq!(refill(&cache, 2, 2), Refilled { programs: 200, done: 200 });
    assert_eq!(found(&cache), 200);
    let entries = |kind: Kind| cache.hosts().unwrap().verify().unwrap().kinds[kind as usize].0;
    let before = entries(Kind::Artifact) + entries(Kind::Failure);
    assert_eq!((before, cache.drop_outdated(None).unwrap()), (267, 67));
    assert_eq!(found(&cache), 200);
    // One answer changed: what asked for it misses.
    let changed = Gpu(std::array::from_fn(|n| n != 4));
    let missing: Vec<u32> = (0..PROGRAMS).filter(|n| cache.find(base(*n), &changed).is_none()).collect();
    assert_eq!(missing, (4..PROGRAMS).step_by(10).collect::<Vec<_>>());
    assert!(cache.find(base(1), &Stateless).is_none());
}

#[test]
fn one_thread_and_eight_make_the_same_store() {
    let of = |workers: usize| {
        let folder = tempfile::tempdir().unwrap();
        fill(&open(folder.path(), versions(1, 1)), 1);
        let cache = open(folder.path(), versions(2, 1));
        refill(&cache, workers, 2);
        contents(&cache)
    };
    let one = of(1);
    assert!(one.len() > 2 * PROGRAMS as usize);
    assert!(one == of(8));
}

#[test]
fn the_most_used_come_first_and_a_refill_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    fill(&open(folder.path(), versions(1, 1)), 1);
    let recording =
        |cache: &Cache, n| cache.make(base(n), |recorder| make(n, 1, recorder, &Gpu([true; 10]))).1;
    for _ in 0..3 {
        let cache = open(folder.path(), versions(1, 1));
        for n in [150, 30, 77] {
            cache.remember(&guest(n, recording(&cache, n)));
        }
    }
    let cache = open(folder.path(), versions(2, 1));
    let (cancel, order) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let translate = |guest: &Guest| {
        let mut order = order.lock().unwrap();
        order.push(guest.program[0]);
        cancel.store(order.len() == 3, Ordering::Relaxed);
    };
    let refilled =
        cache.refill(&Refill { workers: 1, cancel: &cancel, progress: &|_, _| {} }, &translate).unwrap();
    assert_eq!(refilled, Refilled { programs: 200, done: 3 });
    let mut order = order.into_inner().unwrap();
    order.sort();
    assert_eq!(order, [30, 77, 150]);
}
