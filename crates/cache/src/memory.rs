//! The tier in memory.

use crate::entry::Entry;
use crate::key::Key;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Arc<Entry>> for Bytes {
    /// With what the maps around an entry take.
    fn weight(&self, _: &Key, entry: &Arc<Entry>) -> u64 {
        entry.payload.len() as u64 + 192
    }
}

/// Entries by key, up to so many bytes. Entries that are used again stay, those of a single scan go.
pub(crate) struct Memory(Cache<Key, Arc<Entry>, Bytes, FxBuildHasher>);

impl Memory {
    pub(crate) fn new(bytes: u64) -> Memory {
        let expected = usize::try_from(bytes / 4096).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        Memory(Cache::with(expected, bytes, Bytes, FxBuildHasher, Default::default()))
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.0.get(key)
    }

    pub(crate) fn put(&self, key: Key, entry: Arc<Entry>) {
        self.0.insert(key, entry);
    }

    pub(crate) fn remove(&self, key: &Key) {
        self.0.remove(key);
    }

    pub(crate) fn usage(&self) -> (usize, u64) {
        (self.0.len(), self.0.weight())
    }
}
