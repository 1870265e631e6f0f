//! The queue of a service, its workers, and the thread that watches over deadlines.

use super::{Make, Options, Priority, Request, Status, Ticket, dropped, lock, too_long};
use crate::cache::Cache;
use crate::key::Key;
use crate::record::Recording;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Which translation: a base key, and what tells its state from others.
type Name = (Key, u64);

/// What is to be done, or is being done.
#[derive(Clone)]
pub(super) struct Job {
    pub name: Name,
    pub priority: Priority,
    pub deadline: Duration,
    pub ticket: Ticket,
}

/// A place in the queue. A request that became more urgent has several, of which the first counts.
struct Place {
    priority: Priority,
    number: u64,
    name: Name,
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    /// The greatest is the most urgent one, and of equals the first that came.
    fn cmp(&self, other: &Place) -> Ordering {
        self.priority.cmp(&other.priority).then(other.number.cmp(&self.number))
    }
}

#[derive(Default)]
struct State {
    places: BinaryHeap<Place>,
    waiting: FxHashMap<Name, (Job, Make)>,
    /// In work, with when it has to be done.
    working: FxHashMap<Name, (Job, Instant, u64)>,
    /// Counts requests.
    number: u64,
    workers: usize,
    made: u64,
    failed: u64,
    shared: u64,
    lost: usize,
    closed: bool,
}

pub(super) struct Queue {
    cache: Arc<Cache>,
    options: Options,
    state: Mutex<State>,
    /// There is something to do.
    work: Condvar,
    /// Something was done.
    rest: Condvar,
    /// Something has a deadline.
    watch: Condvar,
}

impl Queue {
    pub(super) fn start(cache: Arc<Cache>, options: Options) -> Arc<Queue> {
        let queue = Arc::new(Queue {
            cache,
            options,
            state: Mutex::default(),
            work: Condvar::new(),
            rest: Condvar::new(),
            watch: Condvar::new(),
        });
        let mut state = queue.state();
        for _ in 0..options.workers.max(1) {
            queue.spawn(&mut state);
        }
        drop(state);
        let watcher = Arc::clone(&queue);
        // Without it there are no deadlines.
        let _ = thread::Builder::new().name("shader deadlines".into()).spawn(move || watcher.watch());
        queue
    }

    pub(super) fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn spawn(self: &Arc<Queue>, state: &mut State) {
        let queue = Arc::clone(self);
        if thread::Builder::new().name("shader translation".into()).spawn(move || queue.run()).is_ok() {
            state.workers += 1;
        }
    }

    pub(super) fn push(&self, request: Request) -> Ticket {
        let Request { base, state: of_state, priority, deadline, make } = request;
        let name = (base, of_state);
        let mut state = self.state();
        if let Some((job, _, _)) = state.working.get(&name) {
            let ticket = job.ticket.clone();
            state.shared += 1;
            return ticket;
        }
        let is_full = state.waiting.len() >= self.options.waiting;
        let (ticket, is_new, raised) = match state.waiting.get_mut(&name) {
            Some((job, _)) => {
                let raised = priority > job.priority;
                job.priority = job.priority.max(priority);
                (job.ticket.clone(), false, raised)
            }
            None if is_full => return Ticket::finished(dropped("too many requests wait")),
            None => {
                let deadline = deadline.unwrap_or(self.options.deadline);
                let job = Job { name, priority, deadline, ticket: Ticket::new() };
                let ticket = job.ticket.clone();
                state.waiting.insert(name, (job, make));
                (ticket, true, true)
            }
        };
        if !is_new {
            state.shared += 1;
        }
        // Nobody is there to do it: whoever waits for it would wait for ever.
        if state.workers == 0 || state.closed {
            state.waiting.remove(&name);
            drop(state);
            ticket.finish(&dropped("the service has no threads"));
            return ticket;
        }
        if raised {
            state.number += 1;
            let number = state.number;
            state.places.push(Place { priority, number, name });
            self.work.notify_one();
        }
        ticket
    }

    /// A worker.
    fn run(self: Arc<Queue>) {
        loop {
            let Some((job, make, number)) = self.next() else { return };
            let (found, _) = self.cache.make(job.name.0, make);
            let mut state = self.state();
            // The watcher has given up this job and this thread.
            let is_lost = state.working.get(&job.name).is_none_or(|(_, _, n)| *n != number);
            if is_lost {
                state.lost = state.lost.saturating_sub(1);
                drop(state);
                if found.is_ok() {
                    // It was slow, and not endless.
                    self.cache.forget(job.name.0, &self.nothing_known());
                }
                return;
            }
            state.working.remove(&job.name);
            state.made += 1;
            state.failed += u64::from(found.is_err());
            drop(state);
            job.ticket.finish(&found);
            self.rest.notify_all();
        }
    }

    /// The most urgent job, when there is one; none when the service is closed.
    fn next(&self) -> Option<(Job, Make, u64)> {
        let mut state = self.state();
        loop {
            if state.closed {
                state.workers = state.workers.saturating_sub(1);
                self.rest.notify_all();
                return None;
            }
            while let Some(place) = state.places.pop() {
                // An older place of a request that became more urgent since.
                let Some((job, make)) = state.waiting.remove(&place.name) else { continue };
                let end = Instant::now() + job.deadline;
                state.working.insert(place.name, (job.clone(), end, place.number));
                self.watch.notify_one();
                return Some((job, make, place.number));
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives up jobs whose time is over.
    fn watch(self: Arc<Queue>) {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let late: Vec<Job> = state
                .working
                .values()
                .filter(|(_, end, _)| *end <= now)
                .map(|(job, ..)| job.clone())
                .collect();
            for job in late {
                if state.lost >= self.options.lost {
                    break;
                }
                state.working.remove(&job.name);
                state.lost += 1;
                state.made += 1;
                state.failed += 1;
                state.workers = state.workers.saturating_sub(1);
                if !state.closed {
                    self.spawn(&mut state);
                }
                drop(state);
                self.give_up(&job);
                state = self.state();
            }
            if state.closed && state.working.is_empty() {
                return;
            }
            // Where no more threads may be lost, one that ends changes that.
            let next = match state.lost >= self.options.lost {
                true => Some(Duration::from_millis(100)),
                false => state.working.values().map(|(_, end, _)| end.saturating_duration_since(now)).min(),
            };
            state = match next {
                Some(next) => {
                    let waited = self.watch.wait_timeout(state, next.max(Duration::from_millis(1)));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.watch.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// What a translation asked before its time was over is not known: its failure depends on every version there is.
    fn nothing_known(&self) -> Recording {
        let parts = self.cache.versions().iter().map(|(name, _)| name.to_owned()).collect();
        Recording { facts: Vec::new(), parts }
    }

    fn give_up(&self, job: &Job) {
        let found = self.cache.keep(job.name.0, &self.nothing_known(), Err(too_long(job)));
        job.ticket.finish(&found);
        self.rest.notify_all();
    }

    pub(super) fn cancel(&self, which: impl Fn(&Job) -> bool) -> usize {
        let mut state = self.state();
        let names: Vec<Name> =
            state.waiting.values().filter(|(job, _)| which(job)).map(|(job, _)| job.name).collect();
        let jobs: Vec<Job> =
            names.iter().filter_map(|name| state.waiting.remove(name)).map(|(job, _)| job).collect();
        drop(state);
        for job in &jobs {
            job.ticket.finish(&dropped("cancelled"));
        }
        self.rest.notify_all();
        jobs.len()
    }

    pub(super) fn status(&self) -> Status {
        let state = self.state();
        Status {
            waiting: state.waiting.len(),
            working: state.working.len(),
            made: state.made,
            failed: state.failed,
            shared: state.shared,
            lost: state.lost,
        }
    }

    pub(super) fn wait_idle(&self) {
        let mut state = self.state();
        while !(state.waiting.is_empty() && state.working.is_empty()) {
            state = self.rest.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.work.notify_all();
        self.watch.notify_all();
        self.cancel(|_| true);
        let mut state = self.state();
        while state.workers > 0 {
            // Nobody gives up these any more.
            if state.lost >= self.options.lost && !state.working.is_empty() {
                break;
            }
            let waited = self.rest.wait_timeout(state, Duration::from_millis(50));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        self.watch.notify_all();
    }
}
