//! What a store's file does not have yet.
//!
//! The thread that draws looks up and puts here while others do that may be without a processor at any point, for as long as
//! the system likes. So no lock is over more than one entry; a flush takes a whole layer and leaves an empty one.

use super::trie::Trie;
use super::write::Change;
use crate::key::Key;
use arc_swap::{ArcSwap, ArcSwapOption};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Changes, and how often entries of the file were used.
#[derive(Default)]
pub(super) struct Layer {
    changes: Trie<Mutex<Change>>,
    uses: Trie<AtomicU32>,
    bytes: AtomicUsize,
    /// Threads that are changing it.
    writers: AtomicUsize,
    /// Nothing is added any more but by those.
    closed: AtomicBool,
}

impl Layer {
    /// Notes a change, in the place of an earlier one of the same key.
    fn change(&self, key: &Key, change: Change) {
        self.bytes.fetch_add(change.bytes(), Ordering::Relaxed);
        if let Some((there, change)) = self.changes.add(key, Mutex::new(change)) {
            let change = change.into_inner().unwrap_or_else(PoisonError::into_inner);
            let old = std::mem::replace(&mut *there.lock().unwrap_or_else(PoisonError::into_inner), change);
            self.bytes.fetch_sub(old.bytes(), Ordering::Relaxed);
        }
    }

    /// Notes a change unless there is one of this key.
    fn change_if_new(&self, key: &Key, change: Change) {
        let bytes = change.bytes();
        if self.changes.add(key, Mutex::new(change)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn used(&self, key: &Key, count: u32) {
        let there = self.uses.get(key);
        let there = there.or_else(|| self.uses.add(key, AtomicU32::new(count)).map(|(there, _)| there));
        if let Some(there) = there {
            there.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn get(&self, key: &Key) -> Option<Change> {
        let change = self.changes.get(key)?;
        Some(change.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// The changes, in order of keys.
    pub(super) fn changes(&self) -> Vec<(Key, Change)> {
        let get = |change: &Mutex<Change>| change.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.changes.sorted().into_iter().map(|(key, change)| (key, get(change))).collect()
    }

    /// How often entries were used, in order of keys.
    pub(super) fn uses(&self) -> Vec<(Key, u32)> {
        let get = |(key, count): (Key, &AtomicU32)| (key, count.load(Ordering::Relaxed));
        self.uses.sorted().into_iter().map(get).collect()
    }
}

/// A thread that changes a layer.
struct Writer<'a>(&'a Layer);

impl<'a> Writer<'a> {
    /// `None` if the layer is closed.
    fn enter(layer: &'a Layer) -> Option<Writer<'a>> {
        // Sequentially consistent, as in `Pending::take`: one of the two sees what the other has done.
        layer.writers.fetch_add(1, Ordering::SeqCst);
        let writer = Writer(layer);
        (!layer.closed.load(Ordering::SeqCst)).then_some(writer)
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.0.writers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The layer that grows, and the one that a flush is writing.
#[derive(Default)]
pub(super) struct Pending {
    current: ArcSwap<Layer>,
    in_flight: ArcSwapOption<Layer>,
}

impl Pending {
    /// Does something with the layer that grows.
    fn write<R>(&self, work: impl FnOnce(&Layer) -> R) -> R {
        loop {
            let layer = self.current.load();
            // One that is closed has a successor.
            if let Some(writer) = Writer::enter(&layer) {
                return work(writer.0);
            }
        }
    }

    /// Notes a change. Gives the bytes of all, about.
    pub(super) fn change(&self, key: &Key, change: Change) -> usize {
        self.write(|layer| {
            layer.change(key, change);
            layer.bytes.load(Ordering::Relaxed)
        })
    }

    /// Notes that an entry of the file was used.
    pub(super) fn used(&self, key: &Key) {
        self.write(|layer| layer.used(key, 1));
    }

    /// The last change of a key that look-ups in the file may not see yet.
    pub(super) fn get(&self, key: &Key) -> Option<Change> {
        self.current.load().get(key).or_else(|| self.in_flight.load().as_ref()?.get(key))
    }

    /// Memory that changes take, about.
    pub(super) fn bytes(&self) -> usize {
        self.current.load().bytes.load(Ordering::Relaxed)
    }

    /// What is to be written. Look-ups see it until [`Pending::written`].
    pub(super) fn take(&self) -> Arc<Layer> {
        let layer = self.current.load_full();
        // Look-ups see the layer in one of both places at any time.
        self.in_flight.store(Some(Arc::clone(&layer)));
        self.current.store(Arc::default());
        layer.closed.store(true, Ordering::SeqCst);
        wait_until(|| layer.writers.load(Ordering::SeqCst) == 0);
        layer
    }

    /// The file has what was taken, or will not.
    pub(super) fn written(&self, layer: Arc<Layer>) {
        self.in_flight.store(None);
        retire(layer);
    }

    /// Has what was taken written by the next flush, but for what has been changed since, and unless there is too much of it.
    pub(super) fn put_back(&self, layer: &Layer, most: usize) {
        let current = self.current.load();
        for (key, change) in layer.changes() {
            if current.bytes.load(Ordering::Relaxed) + change.bytes() > most {
                break;
            }
            current.change_if_new(&key, change);
        }
        layer.uses().into_iter().for_each(|(key, count)| current.used(&key, count));
    }

    /// Forgets everything but what is being written.
    pub(super) fn clear(&self) {
        retire(self.current.swap(Arc::default()));
    }
}

/// Drops what may still be in use by look-ups, when they are done: it may take long, and none of them shall do it.
pub(super) fn retire<T>(value: Arc<T>) {
    wait_until(|| Arc::strong_count(&value) == 1);
}

/// Waits for what other threads do in a moment, once they have a processor.
fn wait_until(done: impl Fn() -> bool) {
    while !done() {
        thread::sleep(Duration::from_micros(100));
    }
}
