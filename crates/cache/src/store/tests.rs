//! Stores on a disk that is cut off, torn, full, and wrong in any byte.

mod disk;
mod kill;

use super::*;
use crate::entry::Kind;
use disk::MemoryPlace;
use std::collections::BTreeMap;
use xenoglot_testgen::property::budget;

pub(super) fn key(n: u32) -> Key {
    Key::of("test").number(n.into()).finish()
}

/// An entry of some hundred bytes to some kilobytes, unlike every other.
pub(super) fn entry(n: u32) -> Entry {
    let words = 20 + (n.wrapping_mul(0x9e37_79b9) >> 23);
    let payload: Vec<u8> = (0..words).flat_map(|i| (i.wrapping_mul(n) ^ (n << 7)).to_le_bytes()).collect();
    Entry { kind: Kind::Artifact, stamp: 1, title: Title(u64::from(n % 3)), payload: payload.into() }
}

pub(super) fn options() -> Options {
    Options { patience: Duration::ZERO, ..Options::default() }
}

#[test]
fn what_was_put_is_found_again_and_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/store.redb");
    let store = Store::open(&path, options()).unwrap();
    assert_eq!(store.get(&key(1)), None);
    (1..100).for_each(|n| store.put(&key(n), &entry(n)).unwrap());
    assert_eq!(store.get(&key(7)), Some(entry(7)), "before a flush");
    store.flush().unwrap();
    assert_eq!(store.get(&key(7)), Some(entry(7)), "after it");
    store.remove(&key(8));
    store.put(&key(9), &entry(900)).unwrap();
    assert_eq!(store.get(&key(8)), None);
    drop(store);
    let store = Store::open(&path, options()).unwrap();
    let found: BTreeMap<u32, bool> =
        (1..100).map(|n| (n, store.get(&key(n)) == Some(entry(n)))).filter(|(_, same)| !same).collect();
    assert_eq!(found, BTreeMap::from([(8, false), (9, false)]));
    assert_eq!(store.get(&key(9)), Some(entry(900)));
    assert_eq!(store.totals().unwrap().0, 98);
    assert_eq!(store.problem().map(|p| p.to_string()), None);
}

#[test]
fn the_least_recently_used_go_in_small_steps() {
    let cap = 200_000;
    let store = Store::at(Box::new(MemoryPlace::default()), Options { cap, ..options() }).unwrap();
    (0..50).for_each(|n| store.put(&key(n), &entry(n)).unwrap());
    for round in 1..40u32 {
        (0..50).for_each(|n| store.put(&key(round * 50 + n), &entry(round * 50 + n)).unwrap());
        // Entry 3 is used all the time.
        assert_eq!(store.get(&key(3)), Some(entry(3)), "round {round}");
        let before = store.counts();
        store.flush().unwrap();
        let after = store.counts();
        let (steps, evicted) = (after.commits - before.commits - 1, after.evicted - before.evicted);
        // An entry packs to at most 2.2 KiB: a fiftieth of the cap is reached within that.
        assert!(evicted <= steps * (cap / 50 / 64), "{evicted} entries in {steps} steps");
        assert!(store.totals().unwrap().1 <= cap);
    }
    let (count, bytes) = store.totals().unwrap();
    let verified = store.verify().unwrap();
    assert_eq!(verified.kinds[0], (count, bytes));
    assert_eq!(verified.damaged, []);
    assert_eq!(store.get(&key(3)), Some(entry(3)));
    assert_eq!(store.get(&key(4)), None);
}

#[test]
fn entries_of_a_title_and_of_a_stamp_are_collected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = Store::open(&path, options()).unwrap();
    (0..300).for_each(|n| store.put(&key(n), &entry(n)).unwrap());
    store.flush().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    let removed = store.collect(&Gc { title: Some(Title(1)), all: true, ..Gc::default() }).unwrap();
    assert_eq!(removed, 100);
    assert!((0..300).all(|n| store.get(&key(n)).is_some() == (n % 3 != 1)));
    assert_eq!(store.collect(&Gc { stamps: vec![2], ..Gc::default() }).unwrap(), 0);
    assert_eq!(store.collect(&Gc { stamps: vec![1], title: Some(Title(2)), ..Gc::default() }).unwrap(), 100);
    store.collect(&Gc { to: Some(10_000), ..Gc::default() }).unwrap();
    assert!(store.totals().unwrap().1 <= 10_000);
    assert!(std::fs::metadata(&path).unwrap().len() < size / 2);
}

#[test]
fn a_file_of_something_else_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    std::fs::write(&path, b"a letter to the editor").unwrap();
    let store = Store::open(&path, options()).unwrap();
    assert_eq!(store.counts().files_set_aside, 1);
    store.put(&key(1), &entry(1)).unwrap();
    drop(store);
    assert_eq!(Store::open(&path, options()).unwrap().get(&key(1)), Some(entry(1)));
    let kept = std::fs::read(folder.path().join("store.redb.damaged")).unwrap();
    assert_eq!(kept, b"a letter to the editor");
}

#[test]
#[cfg(unix)]
fn a_removed_folder_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache/store.redb");
    let store = Store::open(&path, options()).unwrap();
    store.put(&key(1), &entry(1)).unwrap();
    store.flush().unwrap();
    std::fs::remove_dir_all(folder.path().join("cache")).unwrap();
    store.put(&key(2), &entry(2)).unwrap();
    let error = store.flush().unwrap_err();
    assert!(matches!(error, StoreError::Removed(_)), "{error}");
    assert_eq!(store.problem().unwrap().to_string(), error.to_string());
    assert!(!store.is_writable());
    // From here on it is an empty store.
    store.put(&key(3), &entry(3)).unwrap();
    assert_eq!(store.get(&key(3)), None);
    store.flush().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), b"").unwrap();
    let error = Store::open(&folder.path().join("file/store.redb"), options()).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}

#[test]
fn a_store_that_is_only_read_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = Store::open(&path, options()).unwrap();
    store.put(&key(1), &entry(1)).unwrap();
    drop(store);
    let before = std::fs::read(&path).unwrap();
    let store = Store::open(&path, Options { read_only: true, ..options() }).unwrap();
    assert_eq!(store.get(&key(1)), Some(entry(1)));
    store.put(&key(2), &entry(2)).unwrap();
    store.flush().unwrap();
    assert_eq!(store.get(&key(2)), None);
    drop(store);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_full_disk_is_one_clear_error() {
    let place = MemoryPlace::default();
    let store = Store::at(Box::new(place.clone()), options()).unwrap();
    (0..20).for_each(|n| store.put(&key(n), &entry(n)).unwrap());
    store.flush().unwrap();
    place.fill();
    (20..400).for_each(|n| store.put(&key(n), &entry(n)).unwrap());
    let error = store.flush().unwrap_err();
    assert!(
        matches!(&error, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull),
        "{error}"
    );
    assert!(store.problem().is_some());
    (0..400).for_each(|n| assert!(store.get(&key(n)).is_none_or(|found| found == entry(n))));
    store.put(&key(500), &entry(500)).unwrap();
    store.flush().unwrap();
    assert_eq!(store.counts().files_set_aside, 0);
    drop(store);
    // With room again, what was flushed before is there.
    place.make_room();
    let store = Store::at(Box::new(place), options()).unwrap();
    assert!((0..20).all(|n| store.get(&key(n)) == Some(entry(n))));
}

#[test]
fn a_pack_adds_what_is_missing_and_replaces_nothing() {
    let full = Store::at(Box::new(MemoryPlace::default()), options()).unwrap();
    (0..50).for_each(|n| full.put(&key(n), &entry(n)).unwrap());
    let mut pack = Vec::new();
    assert_eq!(full.export(None, &mut pack).unwrap(), 50);
    let own = Store::at(Box::new(MemoryPlace::default()), options()).unwrap();
    own.put(&key(7), &entry(700)).unwrap();
    // The last byte belongs to the last entry's payload.
    *pack.last_mut().unwrap() ^= 1;
    let imported = own.import(&*pack).unwrap();
    assert_eq!(imported, pack::Imported { added: 48, known: 1, damaged: 1 });
    assert_eq!(own.get(&key(7)), Some(entry(700)));
    assert_eq!((0..50).filter(|n| own.get(&key(*n)) == Some(entry(*n))).count(), 48);
    let mut one = Vec::new();
    assert_eq!(full.export(Some(Title(1)), &mut one).unwrap(), 17);
    for end in 0..one.len().min(3000) {
        let cut = Store::at(Box::new(MemoryPlace::default()), options()).unwrap();
        // An entry's end is a pack's end, too.
        if let Ok(imported) = cut.import(&one[..end]) {
            assert_eq!(imported.damaged, 0);
        }
    }
}

proptest::proptest! {
    #![proptest_config(xenoglot_testgen::property::config(200))]

    #[test]
    fn any_bytes_are_a_pack_or_refused(bytes: Vec<u8>) {
        let store = Store::at(Box::new(MemoryPlace::default()), options()).unwrap();
        let mut pack = b"\x89XGCP\r\n\x1a\x01\0\0\0".to_vec();
        pack.extend(&bytes);
        proptest::prop_assert!(store.import(&*bytes).is_err());
        proptest::prop_assert_eq!(store.import(&*pack).map_or(0, |imported| imported.added), 0);
    }
}

#[test]
fn what_is_put_while_others_flush_is_found_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = Store::open(&path, options()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let (threads, each) = (4, budget(400, 4000));
    std::thread::scope(|scope| {
        let (store, done) = (&store, &done);
        let flusher = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                store.flush().unwrap();
            }
        });
        let writers: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    for n in 0..each {
                        let number = n * threads + thread;
                        store.put(&key(number), &entry(number)).unwrap();
                        assert_eq!(store.get(&key(number)), Some(entry(number)), "{number}");
                        if n % 3 == 0 {
                            store.remove(&key(number));
                            assert_eq!(store.get(&key(number)), None, "{number}");
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Relaxed);
        flusher.join().unwrap();
    });
    drop(store);
    let store = Store::open(&path, options()).unwrap();
    for number in 0..threads * each {
        let is_there = !(number / threads).is_multiple_of(3);
        assert_eq!(store.get(&key(number)), is_there.then(|| entry(number)), "{number}");
    }
}
