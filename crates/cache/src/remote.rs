//! Entries that machines share: the tier behind memory and disk.
//!
//! A [`Remote`] is a bucket, a folder or a server that keeps entries by key. It is asked by whoever is about to translate
//! anyway, on a worker's thread: never by [`Cache::find`](crate::Cache::find), so that no frame waits for a network. What is
//! translated goes there from a thread of its own. Where it fails, the cache goes on without it and asks again after a
//! pause.
//!
//! Entries that come from there are checked as those from disk are, against damage. Against somebody who makes entries
//! there is no check: a remote is to be written by one's own machines only.

#[cfg(feature = "object-store")]
mod objects;
#[cfg(feature = "redis")]
mod redis;
#[cfg(test)]
mod tests;

#[cfg(feature = "object-store")]
pub use objects::{Bucket, Objects};
#[cfg(feature = "redis")]
pub use redis::Redis;

use crate::entry::{self, Entry, Kind};
use crate::key::Key;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Entries that wait to be sent at most.
const WAITING: usize = 4096;
/// The pause after a failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why a remote does not answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct RemoteError(String);

impl RemoteError {
    /// What was said about it.
    pub fn new(error: impl std::fmt::Display) -> RemoteError {
        RemoteError(error.to_string())
    }
}

/// Keeps bytes by key for several machines. Calls end in a few seconds, whatever the network does.
pub trait Remote: Send + Sync {
    /// The bytes of a key, if there are any.
    ///
    /// # Errors
    /// It cannot be asked.
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, RemoteError>;

    /// Keeps bytes for a key, in the place of what there was.
    ///
    /// # Errors
    /// It cannot be told.
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), RemoteError>;
}

/// What happened between a cache and its remote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteCounts {
    /// Entries that it had.
    pub hits: u64,
    /// Entries that it had not.
    pub misses: u64,
    /// Entries that it had, and whose bytes were wrong.
    pub damaged: u64,
    /// Entries sent.
    pub sent: u64,
    /// Entries not sent: because of a failure, or because too many waited.
    pub dropped: u64,
    /// Calls that failed.
    pub failures: u64,
}

#[derive(Default)]
struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    sent: AtomicU64,
    dropped: AtomicU64,
    failures: AtomicU64,
}

/// Whether it is worth asking.
#[derive(Default)]
struct Health {
    /// Not before then.
    until: Option<Instant>,
    pause: Duration,
    last: Option<RemoteError>,
}

struct Line {
    remote: Box<dyn Remote>,
    counters: Counters,
    health: Mutex<Health>,
}

/// A remote, and the thread that sends to it.
pub(crate) struct Far {
    line: Arc<Line>,
    sender: Option<SyncSender<(Key, Arc<Entry>)>>,
    thread: Option<JoinHandle<()>>,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Line {
    fn health(&self) -> std::sync::MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_up(&self) -> bool {
        self.health().until.is_none_or(|until| until <= Instant::now())
    }

    /// Takes note of how a call went.
    fn note<T>(&self, result: Result<T, RemoteError>) -> Option<T> {
        let mut health = self.health();
        match result {
            Ok(value) => {
                if health.until.take().is_some() {
                    tracing::info!("the remote cache answers again");
                }
                health.pause = Duration::ZERO;
                Some(value)
            }
            Err(error) => {
                count(&self.counters.failures);
                if health.until.is_none() {
                    tracing::warn!(%error, "going on without the remote cache");
                }
                health.pause = (health.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                health.until = Some(Instant::now() + health.pause);
                health.last = Some(error);
                None
            }
        }
    }

    fn send(&self, key: &Key, entry: &Entry) {
        let sent = match entry::encode(key, entry) {
            Ok(bytes) if self.is_up() => self.note(self.remote.put(key, &bytes)),
            _ => None,
        };
        count(if sent.is_some() { &self.counters.sent } else { &self.counters.dropped });
    }
}

impl Far {
    pub(crate) fn new(remote: Box<dyn Remote>) -> Far {
        let line = Arc::new(Line { remote, counters: Counters::default(), health: Mutex::default() });
        let (sender, entries): (_, Receiver<(Key, Arc<Entry>)>) = sync_channel(WAITING);
        let to = Arc::clone(&line);
        let send = move || entries.iter().for_each(|(key, entry)| to.send(&key, &entry));
        // Without a thread entries are taken from the remote and none are sent.
        let thread = thread::Builder::new().name("remote cache".into()).spawn(send).ok();
        Far { line, sender: Some(sender), thread }
    }

    /// The entry of a key. Waits for the network.
    pub(crate) fn get(&self, key: &Key) -> Option<Entry> {
        let Line { remote, counters, .. } = &*self.line;
        if !self.line.is_up() {
            return None;
        }
        let Some(bytes) = self.line.note(remote.get(key))? else {
            count(&counters.misses);
            return None;
        };
        match entry::decode(key, &bytes) {
            Ok(entry) => {
                count(&counters.hits);
                Some(entry)
            }
            Err(error) => {
                tracing::warn!(%key, %error, "the remote cache has a damaged entry");
                count(&counters.damaged);
                None
            }
        }
    }

    /// Has an entry sent, if it is of use elsewhere.
    pub(crate) fn put(&self, key: &Key, entry: &Arc<Entry>) {
        // Failures may be this machine's own, and what a driver made is.
        if !matches!(entry.kind, Kind::Artifact | Kind::Shape | Kind::Versions) {
            return;
        }
        let sent = self.sender.as_ref().is_some_and(|s| s.try_send((*key, Arc::clone(entry))).is_ok());
        if !sent {
            count(&self.line.counters.dropped);
        }
    }

    pub(crate) fn counts(&self) -> RemoteCounts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let c = &self.line.counters;
        RemoteCounts {
            hits: get(&c.hits),
            misses: get(&c.misses),
            damaged: get(&c.damaged),
            sent: get(&c.sent),
            dropped: get(&c.dropped),
            failures: get(&c.failures),
        }
    }

    /// The last failure, while it is not asked because of it.
    pub(crate) fn problem(&self) -> Option<RemoteError> {
        let health = self.line.health();
        health.until.and(health.last.clone())
    }
}

/// What waits is sent first; nothing is, while the remote fails.
impl Drop for Far {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
