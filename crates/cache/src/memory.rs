//! The tier in memory.

use crate::entry::Entry;
use crate::key::Key;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// Bytes of a part of the cache that has a lock of its own. Larger entries are not kept.
const PART: u64 = 2 << 20;
/// Parts at most.
const PARTS: u64 = 64;

/// How often a lock is tried. Whoever holds one and has a processor gives it back within less.
const ATTEMPTS: u32 = 64;

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

/// Another thread holds the lock of that part of the cache, and may have lost its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

impl Memory {
    pub(crate) fn new(bytes: u64) -> Memory {
        let expected = usize::try_from(bytes / 4096).unwrap_or(usize::MAX).clamp(64, 1 << 20);
        let mut options = OptionsBuilder::new();
        options.estimated_items_capacity(expected).weight_capacity(bytes);
        options.shards((bytes / PART).clamp(1, PARTS) as usize);
        Memory(match options.build() {
            Ok(options) => Cache::with_options(options, Bytes, FxBuildHasher, DefaultLifecycle::default()),
            // Every option that has to be given is given above.
            Err(_) => Cache::with(expected, bytes, Bytes, FxBuildHasher, DefaultLifecycle::default()),
        })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.0.get(key)
    }

    /// The same without waiting for threads that have no processor.
    pub(crate) fn try_get(&self, key: &Key) -> Result<Option<Arc<Entry>>, Busy> {
        for _ in 0..ATTEMPTS {
            if let Ok(found) = self.0.try_get(key) {
                return Ok(found);
            }
            std::hint::spin_loop();
        }
        Err(Busy)
    }

    pub(crate) fn put(&self, key: Key, entry: Arc<Entry>) {
        self.0.insert(key, entry);
    }

    /// The same without waiting for threads that have no processor.
    pub(crate) fn try_put(&self, key: Key, entry: Arc<Entry>) -> Result<(), Busy> {
        let mut back = entry;
        for _ in 0..ATTEMPTS {
            match self.0.try_insert(key, back) {
                Ok(()) => return Ok(()),
                Err((_, entry)) => back = entry,
            }
            std::hint::spin_loop();
        }
        Err(Busy)
    }

    pub(crate) fn remove(&self, key: &Key) {
        self.0.remove(key);
    }

    pub(crate) fn usage(&self) -> (usize, u64) {
        (self.0.len(), self.0.weight())
    }
}
