//! Guests' programs on disk, from which translations are made again after an update.

use crate::cache::Cache;
use crate::guest::Guest;
use crate::priority::step_back;
use crate::record::from_bytes;
use crate::store::StoreError;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

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
    /// Threads. They get the processor's time that others leave, where the system knows such threads (Linux).
    pub workers: usize,
    /// Ends it when it becomes true; programs in work are finished.
    pub cancel: &'a AtomicBool,
    /// Told how many programs are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Cache {
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
                    self.wait_for_room();
                }
                (refill.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, order.len());
            }
        };
        let started = thread::scope(|scope| {
            let politely = || {
                step_back();
                work();
            };
            let start =
                |_| thread::Builder::new().name("cache refill".into()).spawn_scoped(scope, politely).is_ok();
            (0..refill.workers.max(1)).filter(|n| start(*n)).count()
        });
        if started == 0 {
            work();
        }
        Ok(Refilled { programs: order.len(), done: done.into_inner() })
    }
}
