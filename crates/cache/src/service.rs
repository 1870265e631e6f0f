//! Translations in the background: by priority, once for all who ask, each within its deadline.
//!
//! A [`Service`] has workers that make entries of a [`Cache`]. Whoever needs one asks with a [`Request`] and gets a
//! [`Ticket`], which can be polled, waited for, or made to call back. Requests with the same key while the first is on its
//! way share its work, and raise its priority.
//!
//! * A panic of a translation is that translation's failure.
//! * A translation that takes longer than its deadline fails as [`Cause::TimedOut`]. Its thread cannot be stopped: it is
//!   left to itself and another takes its place, so that the others go on; when it comes to an end, it ends. At most
//!   [`Options::lost`] threads are left so; after that, those who wait, wait.
//! * What a guest may draw meanwhile is the emulator's choice: [`Policy`] has the usual ones.
//! * Workers run at a low priority: [`Options::steps_back`].
//!
//! [`Workshop`] does the same for what bytes cannot hold: machine code in memory, pipelines of a driver.

mod queue;
#[cfg(test)]
mod tests;
mod workshop;

use crate::cache::{Cache, Found};
use crate::failure::{Cause, Failure};
use crate::key::Key;
use crate::record::{Recorder, Recording, State};
use queue::{Craft, Queue};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use workshop::{Spares, Standing, Workshop};

/// How soon something is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// Perhaps some day: what fills a cache again after an update.
    Warm,
    /// Before long: what a guest uploaded and has not used.
    #[default]
    Soon,
    /// A draw waits for it, or is left out.
    Now,
}

/// What an emulator draws while a shader is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// The draw waits: every frame is right, some are late.
    Wait,
    /// The draw is made by the engine that needs no translation.
    #[default]
    Interpret,
    /// The draw is left out: no frame is late, some lack things. Not for draws whose result is kept, or read by the guest.
    Skip,
}

impl Policy {
    /// Whether a draw that finds its shader on the way has to wait for it. Draws that write what later frames use cannot be
    /// left out.
    pub fn waits(self, is_kept: bool) -> bool {
        match self {
            Policy::Wait => true,
            Policy::Interpret => false,
            Policy::Skip => is_kept,
        }
    }
}

/// How a service works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads at most, which are started when there is work for them; as many as the machine has cores, but one, by
    /// default.
    pub workers: usize,
    /// How long a translation may take where its request does not say.
    pub deadline: Duration,
    /// Requests that wait at most: a guest can make them faster than they are done.
    pub waiting: usize,
    /// Threads that may be left to themselves.
    pub lost: usize,
    /// Whether workers run at a low priority (a nice value 10 higher on Linux; elsewhere the same), so that threads that draw
    /// get the cores first. For a service whose callers all wait, it should be off.
    pub steps_back: bool,
}

impl Default for Options {
    fn default() -> Options {
        let cores = thread::available_parallelism().map_or(1, |n| n.get());
        Options {
            workers: cores.saturating_sub(1).max(1),
            deadline: Duration::from_secs(10),
            waiting: 1 << 16,
            lost: 16,
            steps_back: true,
        }
    }
}

/// Makes a translation, telling the recorder what it asks.
pub type Make = Box<dyn FnOnce(&Recorder) -> Result<Vec<u8>, Failure> + Send>;

/// What is to be translated.
pub struct Request {
    /// The base key: [`Cache::find`].
    pub base: Key,
    /// What tells this request from others with the same base: of the state in which it is made. 0 where there is one state.
    pub state: u64,
    /// How soon it is needed.
    pub priority: Priority,
    /// How long it may take; the service's if it does not say.
    pub deadline: Option<Duration>,
    /// The state as a worker asks it, for a tier that is too slow to be asked by who requests. Without one the remote is not
    /// asked.
    pub snapshot: Option<Arc<dyn State + Send + Sync>>,
    /// Makes it.
    pub make: Make,
}

/// Called when something is there.
type Callback<T> = Box<dyn FnOnce(&T) + Send>;

enum Progress<T> {
    Waiting(Vec<Callback<T>>),
    Done(T),
}

/// Something on its way: a translation, unless it says otherwise. Clones are the same ticket.
pub struct Ticket<T = Found>(Arc<Shared<T>>);

impl<T> Clone for Ticket<T> {
    fn clone(&self) -> Ticket<T> {
        Ticket(Arc::clone(&self.0))
    }
}

struct Shared<T> {
    progress: Mutex<Progress<T>>,
    done: Condvar,
}

impl<T: Clone> Ticket<T> {
    fn new() -> Ticket<T> {
        Ticket(Arc::new(Shared { progress: Mutex::new(Progress::Waiting(Vec::new())), done: Condvar::new() }))
    }

    fn finished(found: T) -> Ticket<T> {
        Ticket(Arc::new(Shared { progress: Mutex::new(Progress::Done(found)), done: Condvar::new() }))
    }

    /// What came of it, if it is done.
    pub fn poll(&self) -> Option<T> {
        match &*lock(&self.0.progress) {
            Progress::Done(found) => Some(found.clone()),
            Progress::Waiting(_) => None,
        }
    }

    /// Waits until it is done, or for so long.
    pub fn wait(&self, limit: Option<Duration>) -> Option<T> {
        let end = limit.map(|limit| Instant::now() + limit);
        let mut progress = lock(&self.0.progress);
        loop {
            if let Progress::Done(found) = &*progress {
                return Some(found.clone());
            }
            progress = match end {
                None => self.0.done.wait(progress).unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.checked_duration_since(Instant::now())?;
                    let waited = self.0.done.wait_timeout(progress, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Has `callback` called when it is done: at once, if it is; else on a worker's thread.
    pub fn then(&self, callback: impl FnOnce(&T) + Send + 'static) {
        let mut progress = lock(&self.0.progress);
        match &mut *progress {
            Progress::Waiting(callbacks) => callbacks.push(Box::new(callback)),
            Progress::Done(found) => {
                let found = found.clone();
                drop(progress);
                callback(&found);
            }
        }
    }

    /// Done; only the first time counts.
    fn finish(&self, found: &T) -> bool {
        let callbacks = {
            let mut progress = lock(&self.0.progress);
            match &mut *progress {
                Progress::Done(_) => return false,
                Progress::Waiting(callbacks) => {
                    let callbacks = std::mem::take(callbacks);
                    *progress = Progress::Done(found.clone());
                    callbacks
                }
            }
        };
        self.0.done.notify_all();
        for callback in callbacks {
            // A callback that panics is its owner's trouble, and not that of the next one.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| callback(found)));
        }
        true
    }
}

/// What a service does at the moment, and what it has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Requests that wait.
    pub waiting: usize,
    /// Requests in work.
    pub working: usize,
    /// Translations made.
    pub made: u64,
    /// Of these, failures.
    pub failed: u64,
    /// Requests that took part in another's work.
    pub shared: u64,
    /// Threads left to themselves because their translation does not end.
    pub lost: usize,
}

/// Translations: a base key, and what tells its state from others.
struct Translations(Arc<Cache>);

impl Translations {
    /// What a translation asked before its time was over is not known: its failure depends on every version there is.
    fn nothing_known(&self) -> Recording {
        let parts = self.0.versions().iter().map(|(name, _)| name.to_owned()).collect();
        Recording { facts: Vec::new(), parts }
    }
}

impl Craft for Translations {
    type Name = (Key, u64);
    type Work = (Option<Arc<dyn State + Send + Sync>>, Make);
    type Done = Found;

    fn make(&self, (base, _): &(Key, u64), (snapshot, make): Self::Work) -> Found {
        let far = snapshot.and_then(|state| self.0.find_far(*base, &*state));
        far.unwrap_or_else(|| self.0.make(*base, make).0)
    }

    fn give_up(&self, (base, _): &(Key, u64), deadline: Duration) -> Found {
        self.0.keep(*base, &self.nothing_known(), Err(too_long(deadline)))
    }

    fn came_late(&self, (base, _): &(Key, u64), done: &Found) {
        if done.is_ok() {
            // It was slow, and not endless.
            self.0.forget(*base, &self.nothing_known());
        }
    }

    fn drop_job(&self, why: &str) -> Found {
        Err(Failure { cause: Cause::Refused, text: why.to_owned() })
    }

    fn is_failure(done: &Found) -> bool {
        done.is_err()
    }
}

/// Translates in the background. Dropping it drops what waits, whose tickets fail, and waits for what is in work until its
/// deadline.
pub struct Service {
    queue: Arc<Queue<Translations>>,
}

impl Service {
    /// A service for a cache.
    pub fn new(cache: Arc<Cache>, options: Options) -> Service {
        Service { queue: Queue::new(Translations(cache), options) }
    }

    /// The cache that translations are put in.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.queue.craft().0
    }

    /// The translation of a program in a state: from the cache, or on its way.
    pub fn request(&self, state: &dyn State, request: Request) -> Ticket {
        let Request { base, state: of_state, priority, deadline, snapshot, make } = request;
        match self.cache().find(base, state) {
            Some(found) => Ticket::finished(found),
            None => {
                let known = |cache: &Translations| cache.0.look_up_near(base, state);
                self.queue.push((base, of_state), priority, deadline, (snapshot, make), known)
            }
        }
    }

    /// What is being done.
    pub fn status(&self) -> Status {
        self.queue.status()
    }

    /// Drops all requests below a priority that wait; their tickets fail. Gives how many there were.
    pub fn cancel_below(&self, priority: Priority) -> usize {
        self.queue.cancel(|job| job.priority < priority)
    }

    /// Waits until nothing waits and nothing is in work.
    pub fn wait_idle(&self) {
        self.queue.wait_idle();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is nothing of a job that took too long.
fn too_long(deadline: Duration) -> Failure {
    Failure { cause: Cause::TimedOut, text: format!("more than {} ms", deadline.as_millis()) }
}
