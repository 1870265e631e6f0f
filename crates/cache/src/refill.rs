//! Guests' programs on disk, from which translations are made again after an update.

use crate::cache::Cache;
use crate::entry::{Entry, Kind};
use crate::key::Key;
use crate::record::{Recording, from_bytes, to_bytes};
use crate::store::StoreError;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// A guest's program with everything that its translation depends on but the host: what any machine can make code of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// What the program is to whoever translates it: a kind of guest, a schema.
    pub kind: String,
    /// The program and how it is lifted, in the form of that kind.
    pub program: Vec<u8>,
    /// What the front end asked, with the answers.
    pub recording: Recording,
}

/// What a refill did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refilled {
    /// Programs there are.
    pub programs: usize,
    /// Programs that were handed to the translator: fewer if it was cancelled.
    pub done: usize,
}

/// How a refill goes on.
pub struct Refill<'a> {
    /// Threads.
    pub workers: usize,
    /// Ends it when it becomes true; programs in work are finished.
    pub cancel: &'a AtomicBool,
    /// Told how many programs are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Cache {
    /// Keeps a guest's program on disk, or notes that it was used in this run, too. Does nothing for a cache in memory.
    pub fn remember(&self, guest: &Guest) {
        let (Some(store), Some(bytes)) = (self.guests(), to_bytes(guest)) else { return };
        let key = Key::of("guest").bytes(&bytes).finish();
        // Once in a run is enough.
        if self.seen(key) || store.get(&key).is_some() {
            return;
        }
        let entry = Entry { kind: Kind::Guest, stamp: 0, title: self.title(), payload: Arc::from(bytes) };
        if let Err(error) = store.put(&key, &entry) {
            tracing::warn!(%key, %error, "a guest's program is not kept");
        }
    }

    /// Hands each guest's program on disk to `translate`, on several threads: those first that were used in most runs, and
    /// of equals the last used. Look-ups go on meanwhile. `translate` puts what it makes in the cache.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn refill(
        &self,
        refill: &Refill,
        translate: &(dyn Fn(&Guest) + Sync),
    ) -> Result<Refilled, StoreError> {
        let Some(store) = self.guests() else { return Ok(Refilled::default()) };
        store.flush()?;
        let mut order = Vec::new();
        store.scan(|item| {
            order.push((item.hits, item.last, item.key));
            ControlFlow::Continue(())
        })?;
        order.sort_unstable_by(|a, b| b.cmp(a));
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            while !refill.cancel.load(Ordering::Relaxed) {
                let Some((_, _, key)) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                let guest = store.peek(key).and_then(|entry| from_bytes::<Guest>(&entry.payload));
                if let Some(guest) = guest {
                    translate(&guest);
                }
                (refill.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, order.len());
            }
        };
        thread::scope(|scope| {
            // One of them is this thread.
            for _ in 1..refill.workers.max(1) {
                let _ = thread::Builder::new().name("cache refill".into()).spawn_scoped(scope, work);
            }
            work();
        });
        Ok(Refilled { programs: order.len(), done: done.into_inner() })
    }
}
