//! Entries of the shader cache, packs of them, and files of them.

use std::time::Duration;
use xenoglot_cache::entry::{HEADER, decode, encode};
use xenoglot_cache::store::pack::Reader;
use xenoglot_cache::store::{Options, Store, StoreError};
use xenoglot_cache::{Entry, Failure, Guest, Key, Kind, Recording, Title, from_bytes, to_bytes};

/// An entry: what is read is written and read back the same, as it comes and with its hash put right. What entries hold is
/// read or refused.
pub fn cache_entry(data: &[u8]) {
    let key = Key::of("fuzzing").finish();
    for data in [data.to_vec(), with_hash(&key, data)] {
        if let Ok(entry) = decode(&key, &data) {
            let written = encode(&key, &entry).expect("what was read is not too large");
            assert_eq!(decode(&key, &written), Ok(entry));
        }
    }
    if let Some(recording) = from_bytes::<Recording>(data) {
        assert_eq!(to_bytes(&recording).and_then(|bytes| from_bytes(&bytes)), Some(recording));
    }
    if let Some(guest) = from_bytes::<Guest>(data) {
        assert_eq!(to_bytes(&guest).and_then(|bytes| from_bytes(&bytes)), Some(guest));
    }
    if let Some(key) = std::str::from_utf8(data).ok().and_then(Key::parse) {
        assert_eq!(Key::parse(&key.to_string()), Some(key));
    }
    if let Some(failure) = from_bytes::<Failure>(data) {
        assert_eq!(to_bytes(&failure).and_then(|bytes| from_bytes(&bytes)), Some(failure));
    }
}

/// A pack: entries to its end, or a place where it cannot be followed.
pub fn cache_pack(data: &[u8]) {
    let Ok(mut pack) = Reader::new(data) else { return };
    let mut bytes_read = 12;
    while let Ok(Some((key, bytes))) = pack.next_entry() {
        bytes_read += 36 + bytes.len();
        assert!(bytes_read <= data.len());
        let _ = decode(&key, &bytes);
    }
}

/// A store's file: what it answers was put under that name, and it can be used, or is set aside.
pub fn cache_store(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("store.redb");
    for read_only in [true, false] {
        std::fs::write(&path, data).expect("a temporary file");
        let options = Options { read_only, patience: Duration::ZERO, ..Options::default() };
        let store = match Store::open(&path, options) {
            Ok(store) => store,
            // What may not be written cannot be set aside.
            Err(StoreError::Damaged { .. }) if read_only => continue,
            Err(error) => panic!("{error}"),
        };
        for n in 0..12 {
            let found = store.get(&Key::of("fuzzing").number(n.into()).finish());
            assert!(found.is_none_or(|found| found == entry(n)), "entry {n} is another");
        }
        let key = Key::of("fuzzing").finish();
        store.put(&key, &entry(5)).expect("a small entry");
        let _ = store.flush();
        let _ = store.verify();
        assert!(store.get(&key).is_none_or(|found| found == entry(5)));
    }
}

/// Files of stores with none to some entries.
pub fn stores() -> Vec<Vec<u8>> {
    let store = |count: u32| {
        let folder = tempfile::tempdir().ok()?;
        let path = folder.path().join("store.redb");
        let store = Store::open(&path, Options::default()).ok()?;
        for n in 0..count {
            store.put(&Key::of("fuzzing").number(n.into()).finish(), &entry(n)).ok()?;
        }
        drop(store);
        std::fs::read(&path).ok()
    };
    (0..12).filter_map(store).collect()
}

/// The bytes of an entry with the right length and hash.
fn with_hash(key: &Key, data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    let Some((header, stored)) = data.split_at_mut_checked(HEADER) else { return data };
    let (head, hash) = header.split_at_mut(32);
    head[28..].copy_from_slice(&(stored.len() as u32).to_le_bytes());
    let mut hasher = blake3::Hasher::new();
    hasher.update(&key.0).update(head).update(stored);
    hash.copy_from_slice(hasher.finalize().as_bytes());
    data
}

/// Unlike all others.
fn entry(n: u32) -> Entry {
    let kind = Kind::ALL[n as usize % Kind::ALL.len()];
    let payload: Vec<u8> = (0..n * n).flat_map(|i| (i % (n + 1)).to_le_bytes()).collect();
    Entry { kind, stamp: n.into(), title: Title(7), payload: payload.into() }
}

/// Entries of all kinds, short and long.
pub fn entries() -> Vec<Vec<u8>> {
    let key = Key::of("fuzzing").finish();
    (0..16).filter_map(|n| encode(&key, &entry(n)).ok()).collect()
}

/// Packs of none to some entries.
pub fn packs() -> Vec<Vec<u8>> {
    let pack = |count: u32| {
        let mut pack = b"\x89XGCP\r\n\x1a\x01\0\0\0".to_vec();
        for n in 0..count {
            let key = Key::of("fuzzing").number(n.into()).finish();
            let bytes = encode(&key, &entry(n)).unwrap_or_default();
            pack.extend(key.0);
            pack.extend((bytes.len() as u32).to_le_bytes());
            pack.extend(bytes);
        }
        pack
    };
    (0..12).map(pack).collect()
}
