//! A queue of jobs, its workers, and the thread that watches over deadlines.

use super::{Options, Priority, Status, Ticket, lock};
use crate::priority::step_back;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What the jobs of a queue are, and what comes of them.
pub(super) trait Craft: Send + Sync + 'static {
    /// What tells jobs apart: two of one name are one job.
    type Name: Clone + Eq + Hash + Send;
    /// What makes the result.
    type Work: Send;
    /// The result.
    type Done: Clone + Send + 'static;

    /// Does a job and keeps what comes of it. Panics of the work are its own.
    fn make(&self, name: &Self::Name, work: Self::Work) -> Self::Done;
    /// Keeps that a job has taken too long.
    fn give_up(&self, name: &Self::Name, deadline: Duration) -> Self::Done;
    /// A job that was given up has come to an end after all, and its result is kept.
    fn came_late(&self, name: &Self::Name, done: &Self::Done);
    /// What comes of a job that nobody will do.
    fn drop_job(&self, why: &str) -> Self::Done;
    /// Whether it is a failure.
    fn is_failure(done: &Self::Done) -> bool;
}

/// What is to be done, or is being done.
pub(super) struct Job<C: Craft> {
    pub name: C::Name,
    pub priority: Priority,
    pub deadline: Duration,
    pub ticket: Ticket<C::Done>,
}

impl<C: Craft> Clone for Job<C> {
    fn clone(&self) -> Self {
        let Job { name, priority, deadline, ticket } = self;
        Job { name: name.clone(), priority: *priority, deadline: *deadline, ticket: ticket.clone() }
    }
}

/// A place in the queue. A request that became more urgent has several, of which the first counts.
struct Place<N> {
    priority: Priority,
    number: u64,
    name: N,
}

impl<N> PartialEq for Place<N> {
    fn eq(&self, other: &Place<N>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<N> Eq for Place<N> {}

impl<N> PartialOrd for Place<N> {
    fn partial_cmp(&self, other: &Place<N>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N> Ord for Place<N> {
    /// The greatest is the most urgent one, and of equals the first that came.
    fn cmp(&self, other: &Place<N>) -> Ordering {
        self.priority.cmp(&other.priority).then(other.number.cmp(&self.number))
    }
}

struct State<C: Craft> {
    places: BinaryHeap<Place<C::Name>>,
    waiting: FxHashMap<C::Name, (Job<C>, C::Work)>,
    /// In work, with when it has to be done.
    working: FxHashMap<C::Name, (Job<C>, Instant, u64)>,
    /// Counts requests.
    number: u64,
    workers: usize,
    /// Workers without work.
    idle: usize,
    /// Whether there is a thread that watches.
    watched: bool,
    /// When it next looks at deadlines by itself; `None` if it sleeps until it is woken.
    wakes: Option<Instant>,
    made: u64,
    failed: u64,
    shared: u64,
    lost: usize,
    closed: bool,
}

impl<C: Craft> Default for State<C> {
    fn default() -> Self {
        State {
            places: BinaryHeap::new(),
            waiting: FxHashMap::default(),
            working: FxHashMap::default(),
            number: 0,
            workers: 0,
            idle: 0,
            watched: false,
            wakes: None,
            made: 0,
            failed: 0,
            shared: 0,
            lost: 0,
            closed: false,
        }
    }
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Nowhere,
    Waiting,
    Working,
}

pub(super) struct Queue<C: Craft> {
    craft: C,
    options: Options,
    state: Mutex<State<C>>,
    /// There is something to do.
    work: Condvar,
    /// Something was done.
    rest: Condvar,
    /// Something has a deadline.
    watch: Condvar,
}

impl<C: Craft> Queue<C> {
    /// A queue without jobs. Threads are started for the first ones.
    pub(super) fn new(craft: C, options: Options) -> Arc<Queue<C>> {
        Arc::new(Queue {
            craft,
            options,
            state: Mutex::default(),
            work: Condvar::new(),
            rest: Condvar::new(),
            watch: Condvar::new(),
        })
    }

    pub(super) fn craft(&self) -> &C {
        &self.craft
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        lock(&self.state)
    }

    /// Starts another worker, if there may be one more.
    fn spawn(self: &Arc<Queue<C>>, state: &mut State<C>) {
        if state.workers >= self.options.workers.max(1) {
            return;
        }
        let queue = Arc::clone(self);
        if thread::Builder::new().name("shader translation".into()).spawn(move || queue.run()).is_ok() {
            state.workers += 1;
        }
        if !state.watched {
            let watcher = Arc::clone(self);
            let watch = move || watcher.watch();
            // Without it there are no deadlines.
            state.watched = thread::Builder::new().name("shader deadlines".into()).spawn(watch).is_ok();
        }
    }

    /// Where the job of a name is.
    pub(super) fn stage(&self, name: &C::Name) -> Stage {
        let state = self.state();
        match () {
            () if state.working.contains_key(name) => Stage::Working,
            () if state.waiting.contains_key(name) => Stage::Waiting,
            () => Stage::Nowhere,
        }
    }

    /// Adds a job, unless it is there already. `known` is asked for its result if it is not: it may have come to an end since
    /// whoever asks looked for it.
    pub(super) fn push(
        self: &Arc<Queue<C>>,
        name: C::Name,
        priority: Priority,
        deadline: Option<Duration>,
        work: C::Work,
        known: impl FnOnce(&C) -> Option<C::Done>,
    ) -> Ticket<C::Done> {
        let mut state = self.state();
        if let Some((job, _, _)) = state.working.get(&name) {
            let ticket = job.ticket.clone();
            state.shared += 1;
            return ticket;
        }
        // Results are kept before their jobs leave the queue, which is locked now.
        if !state.waiting.contains_key(&name)
            && let Some(done) = known(&self.craft)
        {
            state.shared += 1;
            return Ticket::finished(done);
        }
        let is_full = state.waiting.len() >= self.options.waiting;
        let (ticket, is_new, raised) = match state.waiting.get_mut(&name) {
            Some((job, _)) => {
                let raised = priority > job.priority;
                job.priority = job.priority.max(priority);
                (job.ticket.clone(), false, raised)
            }
            None if is_full => return Ticket::finished(self.craft.drop_job("too many requests wait")),
            None => {
                let deadline = deadline.unwrap_or(self.options.deadline);
                let job = Job { name: name.clone(), priority, deadline, ticket: Ticket::new() };
                let ticket = job.ticket.clone();
                state.waiting.insert(name.clone(), (job, work));
                (ticket, true, true)
            }
        };
        if !is_new {
            state.shared += 1;
        } else if state.idle < state.waiting.len() && !state.closed {
            self.spawn(&mut state);
        }
        // Nobody is there to do it: whoever waits for it would wait for ever.
        if state.workers == 0 || state.closed {
            state.waiting.remove(&name);
            drop(state);
            ticket.finish(&self.craft.drop_job("there are no threads to translate on"));
            return ticket;
        }
        if raised {
            state.number += 1;
            let number = state.number;
            state.places.push(Place { priority, number, name });
            drop(state);
            self.work.notify_one();
        }
        ticket
    }

    /// A worker.
    fn run(self: Arc<Queue<C>>) {
        if self.options.steps_back {
            step_back();
        }
        loop {
            let Some((job, work, number)) = self.next() else { return };
            let done = self.craft.make(&job.name, work);
            let mut state = self.state();
            // The watcher has given up this job and this thread.
            let is_lost = state.working.get(&job.name).is_none_or(|(_, _, n)| *n != number);
            if is_lost {
                state.lost = state.lost.saturating_sub(1);
                drop(state);
                self.craft.came_late(&job.name, &done);
                return;
            }
            state.working.remove(&job.name);
            state.made += 1;
            state.failed += u64::from(C::is_failure(&done));
            drop(state);
            job.ticket.finish(&done);
            self.rest.notify_all();
        }
    }

    /// The most urgent job, when there is one; none when the queue is closed.
    fn next(&self) -> Option<(Job<C>, C::Work, u64)> {
        let mut state = self.state();
        loop {
            if state.closed {
                state.workers = state.workers.saturating_sub(1);
                self.rest.notify_all();
                return None;
            }
            while let Some(place) = state.places.pop() {
                // An older place of a request that became more urgent since.
                let Some((job, work)) = state.waiting.remove(&place.name) else { continue };
                let end = Instant::now() + job.deadline;
                state.working.insert(place.name, (job.clone(), end, place.number));
                let is_first = state.wakes.is_none_or(|wakes| end < wakes);
                // A thread that is woken may preempt this one, which must not hold the lock then.
                drop(state);
                if is_first {
                    self.watch.notify_one();
                }
                return Some((job, work, place.number));
            }
            state.idle += 1;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle = state.idle.saturating_sub(1);
        }
    }

    /// Gives up jobs whose time is over.
    fn watch(self: Arc<Queue<C>>) {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let late: Vec<Job<C>> = state
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
                let done = self.craft.give_up(&job.name, job.deadline);
                job.ticket.finish(&done);
                self.rest.notify_all();
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
            let next = next.map(|next| next.max(Duration::from_millis(1)));
            state.wakes = next.map(|next| now + next);
            state = match next {
                Some(next) => {
                    let waited = self.watch.wait_timeout(state, next);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.watch.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    pub(super) fn cancel(&self, which: impl Fn(&Job<C>) -> bool) -> usize {
        let mut state = self.state();
        let names: Vec<C::Name> =
            state.waiting.values().filter(|(job, _)| which(job)).map(|(job, _)| job.name.clone()).collect();
        let jobs: Vec<Job<C>> =
            names.iter().filter_map(|name| state.waiting.remove(name)).map(|(job, _)| job).collect();
        drop(state);
        for job in &jobs {
            job.ticket.finish(&self.craft.drop_job("cancelled"));
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
