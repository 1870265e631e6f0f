//! Caches with a remote between them, and remotes that fail.

use super::*;
use crate::cache::Cache;
use crate::failure::Failure;
use crate::record::{Recorder, Stateless};
use crate::versions::Versions;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// A remote in memory, which can be cut off and can get bytes wrong.
#[derive(Clone, Default)]
struct Fake(Arc<FakeState>);

#[derive(Default)]
struct FakeState {
    entries: Mutex<BTreeMap<Key, Vec<u8>>>,
    cut: AtomicBool,
    calls: AtomicU64,
}

impl Fake {
    fn cut(&self, cut: bool) {
        self.0.cut.store(cut, Ordering::SeqCst);
    }

    fn call(&self) -> Result<std::sync::MutexGuard<'_, BTreeMap<Key, Vec<u8>>>, RemoteError> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        match self.0.cut.load(Ordering::SeqCst) {
            true => Err(RemoteError::new("cut")),
            false => Ok(self.0.entries.lock().unwrap()),
        }
    }
}

impl Remote for Fake {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, RemoteError> {
        Ok(self.call()?.get(key).cloned())
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), RemoteError> {
        self.call()?.insert(*key, bytes.to_vec());
        Ok(())
    }
}

fn cache(remote: &Fake) -> Cache {
    let versions: Versions = [("part", 1)].into_iter().collect();
    Cache::memory(versions).with_remote(Box::new(remote.clone()))
}

fn base(n: u64) -> Key {
    Key::of("remote test").number(n).finish()
}

fn translate(cache: &Cache, n: u64, made: &mut u64) -> Vec<u8> {
    let found = cache.translate(base(n), &Stateless, |recorder: &Recorder| {
        recorder.uses("part");
        *made += 1;
        match n % 10 {
            9 => Err(Failure::refused("never")),
            _ => Ok(n.to_le_bytes().repeat(20)),
        }
    });
    found.map(|entry| entry.payload.to_vec()).unwrap_or_default()
}

#[test]
fn one_machine_translates_and_the_others_find_it() {
    let remote = Fake::default();
    let (mut made, mut again) = (0, 0);
    let first = cache(&remote);
    let results: Vec<Vec<u8>> = (0..100).map(|n| translate(&first, n, &mut made)).collect();
    assert_eq!((made, first.remote_counts().unwrap().misses), (100, 100));
    // What waits is sent.
    drop(first);
    let second = cache(&remote);
    // Nobody waits for a network here.
    assert!(second.find(base(1), &Stateless).is_none());
    assert!((0..100).map(|n| translate(&second, n, &mut again)).eq(results));
    // Failures are every machine's own.
    assert_eq!(again, 10);
    assert!(second.find(base(1), &Stateless).is_some());
}

#[test]
fn a_damaged_entry_is_translated_again_and_replaced() {
    let remote = Fake::default();
    let (mut made, mut again) = (0, 0);
    let first = cache(&remote);
    let result = translate(&first, 1, &mut made);
    drop(first);
    for bytes in remote.0.entries.lock().unwrap().values_mut() {
        *bytes.last_mut().unwrap() ^= 1;
    }
    let second = cache(&remote);
    assert_eq!(translate(&second, 1, &mut again), result);
    assert_eq!((again, second.remote_counts().unwrap().damaged), (1, 1));
    drop(second);
    assert_eq!(translate(&cache(&remote), 1, &mut again), result);
    assert_eq!(again, 1);
}

#[test]
fn a_cut_network_costs_one_call_and_translation_goes_on() {
    let remote = Fake::default();
    let cache = cache(&remote);
    let mut made = 0;
    (0..10).for_each(|n| drop(translate(&cache, n, &mut made)));
    remote.cut(true);
    let before = remote.0.calls.load(Ordering::SeqCst);
    for n in 10..500 {
        assert_eq!(translate(&cache, n, &mut made).is_empty(), n % 10 == 9);
    }
    assert_eq!(made, 500);
    // It is not asked for each of them. Who sends and who asks may both be on their way when it is cut; pauses may end.
    let calls = remote.0.calls.load(Ordering::SeqCst) - before;
    assert!(calls < 100, "{calls} calls of a remote that is cut off");
    assert_eq!(cache.remote_problem(), Some(RemoteError::new("cut")));
    // What was to be sent meanwhile is not.
    while cache.remote_counts().unwrap().dropped == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    remote.cut(false);
    let mut n = 1000;
    while cache.remote_problem().is_some() {
        translate(&cache, n, &mut made);
        n += 10;
        thread::sleep(Duration::from_millis(5));
    }
    let last = translate(&cache, n, &mut made);
    drop(cache);
    let mut again = 0;
    assert_eq!(translate(&super::tests::cache(&remote), n, &mut again), last);
    assert_eq!(again, 0);
}
