//! Runs the cases of a suite on threads, and gives none more than its time.
//!
//! A case that takes longer is reported as [`Verdict::TimedOut`] with its name, and the suite goes on: the thread is left to
//! itself, since nothing ends a thread from outside, and another takes its place. What a case works on is shared, not
//! borrowed, for that reason. A panic costs the case that panicked.

use crate::Error;
use crate::report::{Case, Observer, Summary, Verdict};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// What a case may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// What is run at once: the cases that come of one program, scene or file.
pub(crate) struct Item<T> {
    /// Names of its cases, in the order in which they are given to [`Emit`]; the name of a file whose cases only
    /// reading it tells.
    pub names: Vec<String>,
    /// `names` are the cases, not the file.
    listed: bool,
    /// How many of them are worked out together: they share the sum of their limits.
    pub together: usize,
    /// What it is.
    pub data: T,
}

impl<T> Item<T> {
    /// Cases whose results come together.
    pub fn together(names: Vec<String>, data: T) -> Item<T> {
        Item { together: names.len(), names, listed: true, data }
    }

    /// A file of cases that are worked out together, one for `bytes_each` or so of its `bytes`.
    pub fn file(name: String, bytes: usize, bytes_each: usize, data: T) -> Item<T> {
        Item { together: 1 + bytes / bytes_each.max(1), names: vec![name], listed: false, data }
    }

    /// A case.
    pub fn single(name: String, data: T) -> Item<T> {
        Item { names: vec![name], together: 1, listed: true, data }
    }
}

/// Takes the cases of an item as they are done.
pub(crate) type Emit<'e> = dyn FnMut(Case) + 'e;

/// How a suite is run.
pub(crate) struct Work<T, S> {
    /// What is run.
    pub items: Vec<Item<T>>,
    /// Threads, each with a state of its own.
    pub threads: usize,
    /// Makes the state of a thread.
    pub start: Box<dyn Fn() -> Result<S, Error> + Send + Sync>,
    /// Runs an item.
    pub judge: Box<Judge<T, S>>,
}

/// Runs an item on a thread with a state. An error is the suite's, such as that of a damaged file.
pub(crate) type Judge<T, S> = dyn Fn(&mut S, &Item<T>, &mut Emit) -> Result<(), Error> + Send + Sync;

impl<T: Send + Sync + 'static> Work<T, ()> {
    /// Items that need nothing but themselves, on as many threads as there are.
    pub fn plain(
        items: Vec<Item<T>>,
        judge: impl Fn(&Item<T>, &mut Emit) + Send + Sync + 'static,
    ) -> Work<T, ()> {
        Work::with(items, || Ok(()), move |(), item, emit| judge(item, emit))
    }
}

impl<T: Send + Sync + 'static, S: 'static> Work<T, S> {
    /// Items on threads that each have a state, such as a device.
    pub fn with(
        items: Vec<Item<T>>,
        start: impl Fn() -> Result<S, Error> + Send + Sync + 'static,
        judge: impl Fn(&mut S, &Item<T>, &mut Emit) + Send + Sync + 'static,
    ) -> Work<T, S> {
        let judge = move |state: &mut S, item: &Item<T>, emit: &mut Emit| {
            judge(state, item, emit);
            Ok(())
        };
        Work { items, threads: rayon::current_num_threads(), start: Box::new(start), judge: Box::new(judge) }
    }

    /// Files whose cases only reading them tells.
    pub fn files(
        items: Vec<Item<T>>,
        start: impl Fn() -> Result<S, Error> + Send + Sync + 'static,
        cases: impl Fn(&mut S, &T) -> Result<Vec<Case>, Error> + Send + Sync + 'static,
    ) -> Work<T, S> {
        let judge = move |state: &mut S, item: &Item<T>, emit: &mut Emit| {
            cases(state, &item.data)?.into_iter().for_each(emit);
            Ok(())
        };
        Work { items, threads: rayon::current_num_threads(), start: Box::new(start), judge: Box::new(judge) }
    }

    /// The same, on one thread.
    pub fn on_one_thread(self) -> Work<T, S> {
        Work { threads: 1, ..self }
    }

    /// Runs all items, each case within [`LIMIT`].
    ///
    /// # Errors
    /// That of a thread's start, or of an item.
    pub fn run(self, observer: &dyn Observer) -> Result<Summary, Error> {
        self.run_within(LIMIT, observer)
    }

    /// [`Work::run`] with another limit.
    ///
    /// # Errors
    /// As [`Work::run`].
    pub fn run_within(mut self, limit: Duration, observer: &dyn Observer) -> Result<Summary, Error> {
        let mut numbers = 0..;
        self.items.retain(|_| numbers.next().is_some_and(|number| observer.wants(number)));
        let listed = self.items.iter().filter(|item| item.listed);
        observer.total(listed.map(|item| item.names.len()).sum());
        let threads = self.threads.clamp(1, self.items.len().max(1));
        let count = self.items.len();
        let (events, inbox) = channel();
        let shared = Arc::new(Shared { work: self, next: AtomicUsize::new(0) });
        let mut watch =
            Watch { shared, limit, observer, events, running: BTreeMap::new(), cases: Vec::new(), alive: 0 };
        (0..threads).for_each(|_| watch.spawn());
        let done = watch.until_done(&inbox, count);
        watch.until_left(&inbox);
        done?;
        Ok(Summary::of(&watch.cases))
    }
}

struct Shared<T, S> {
    work: Work<T, S>,
    /// The first item that no thread has taken.
    next: AtomicUsize,
}

/// What a thread says.
enum Event {
    /// It has taken an item; the flag tells it to take no more.
    Begun { item: usize, given_up: Arc<AtomicBool> },
    /// A case is done.
    Case { item: usize, case: Case },
    /// An item is done; if it panicked, with what it said.
    Ended { item: usize, panic: Option<String> },
    /// It could not start, or an item is none of the suite.
    Failed(Error),
    /// It has dropped its state and takes no more; its flag is as in `Begun`.
    Left { given_up: Arc<AtomicBool> },
}

/// An item on a thread.
struct Running {
    deadline: Instant,
    emitted: usize,
    given_up: Arc<AtomicBool>,
}

struct Watch<'o, T, S> {
    shared: Arc<Shared<T, S>>,
    limit: Duration,
    observer: &'o dyn Observer,
    events: Sender<Event>,
    running: BTreeMap<usize, Running>,
    cases: Vec<Case>,
    /// Threads that have not left and are not given up.
    alive: usize,
}

impl<T: Send + Sync + 'static, S: 'static> Watch<'_, T, S> {
    fn spawn(&mut self) {
        let (shared, events) = (Arc::clone(&self.shared), self.events.clone());
        self.alive += 1;
        // A thread that is given up cannot be waited for.
        drop(std::thread::spawn(move || {
            let given_up = Arc::new(AtomicBool::new(false));
            serve(&shared, &events, &given_up);
            let _ = events.send(Event::Left { given_up });
        }));
    }

    fn is_listed(&self, item: usize) -> bool {
        self.shared.work.items.get(item).is_some_and(|item| item.listed)
    }

    fn allowed(&self, item: usize) -> Duration {
        let together = self.shared.work.items.get(item).map_or(1, |item| item.together);
        self.limit.saturating_mul(u32::try_from(together).unwrap_or(u32::MAX).max(1))
    }

    fn until_done(&mut self, inbox: &Receiver<Event>, count: usize) -> Result<(), Error> {
        let mut done = 0;
        while done < count {
            let next = self.running.values().map(|r| r.deadline).min();
            let event = match next {
                Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Begun { item, given_up }) => {
                    let deadline = Instant::now() + self.allowed(item);
                    self.running.insert(item, Running { deadline, emitted: 0, given_up });
                }
                Ok(Event::Case { item, case }) => {
                    let deadline = Instant::now() + self.limit;
                    if let Some(running) = self.running.get_mut(&item) {
                        running.emitted += 1;
                        running.deadline = running.deadline.max(deadline);
                        if !self.is_listed(item) {
                            self.observer.total(1);
                        }
                        self.report(case);
                    }
                }
                Ok(Event::Ended { item, panic }) => {
                    if let Some(running) = self.running.remove(&item) {
                        let is_whole = panic.is_none() && !self.is_listed(item);
                        let why = panic.map_or("no result".to_owned(), |why| format!("panicked: {why}"));
                        if !is_whole {
                            self.missing(item, running.emitted, &|| Verdict::Failed(why.clone()));
                        }
                        done += 1;
                    }
                }
                Ok(Event::Failed(error)) => return Err(error),
                Ok(Event::Left { given_up }) => self.let_go(&given_up),
                Err(RecvTimeoutError::Timeout) => done += self.give_up(),
                // This watch has a sender itself.
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    /// Counts a thread no longer, which may leave after it was given up, and says so to it.
    fn let_go(&mut self, given_up: &AtomicBool) {
        if !given_up.swap(true, Ordering::Relaxed) {
            self.alive -= 1;
        }
    }

    /// Waits for the threads to drop what they have: a driver's library that is unloaded at the end of the process while a
    /// device is being closed crashes it. No longer than for a case.
    fn until_left(&mut self, inbox: &Receiver<Event>) {
        // After a failure items are left; no thread takes another.
        self.shared.next.store(usize::MAX / 2, Ordering::Relaxed);
        let deadline = Instant::now() + self.limit;
        while self.alive > 0 {
            match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::Left { given_up }) => self.let_go(&given_up),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Reports what is over its time, and starts a thread for each; how many items that were.
    fn give_up(&mut self) -> usize {
        let now = Instant::now();
        let late: Vec<usize> =
            self.running.iter().filter(|(_, r)| r.deadline <= now).map(|(&item, _)| item).collect();
        for &item in &late {
            if let Some(running) = self.running.remove(&item) {
                self.let_go(&running.given_up);
                let seconds = self.allowed(item).as_secs_f64();
                self.missing(item, running.emitted, &|| {
                    Verdict::TimedOut(format!("no result within {seconds} s"))
                });
                self.spawn();
            }
        }
        late.len()
    }

    /// Reports the cases of an item that did not come.
    fn missing(&mut self, item: usize, emitted: usize, verdict: &dyn Fn() -> Verdict) {
        let shared = Arc::clone(&self.shared);
        let names = shared.work.items.get(item).map_or(&[][..], |item| &item.names);
        if !self.is_listed(item) {
            self.observer.total(1);
        }
        let emitted = if self.is_listed(item) { emitted } else { 0 };
        for name in names.iter().skip(emitted) {
            self.report(Case { name: name.clone(), verdict: verdict() });
        }
    }

    fn report(&mut self, case: Case) {
        self.observer.case(&case);
        self.cases.push(case);
    }
}

/// A thread: takes items until there are no more, or it is given up.
fn serve<T, S>(shared: &Shared<T, S>, events: &Sender<Event>, given_up: &Arc<AtomicBool>) {
    let mut state = None;
    // Nobody listens any more where sending fails: the run is over.
    while !given_up.load(Ordering::Relaxed) {
        let item = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(work) = shared.work.items.get(item) else { return };
        if events.send(Event::Begun { item, given_up: Arc::clone(given_up) }).is_err() {
            return;
        }
        let own = match state.take().map_or_else(|| (shared.work.start)(), Ok) {
            Ok(own) => own,
            Err(error) => {
                let _ = events.send(Event::Failed(error));
                return;
            }
        };
        let place = state.insert(own);
        let mut emit = |case| {
            let _ = events.send(Event::Case { item, case });
        };
        let judged = catch_unwind(AssertUnwindSafe(|| (shared.work.judge)(place, work, &mut emit)));
        let panic = match judged {
            Ok(Ok(())) => None,
            Ok(Err(error)) => {
                let _ = events.send(Event::Failed(error));
                return;
            }
            Err(why) => Some(said(&*why)),
        };
        if panic.is_some() {
            // It may be in any state.
            state = None;
        }
        let _ = events.send(Event::Ended { item, panic });
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Seen(Mutex<Vec<Case>>);

    impl Observer for Seen {
        fn total(&self, _cases: usize) {}

        fn case(&self, case: &Case) {
            self.0.lock().unwrap().push(case.clone());
        }
    }

    fn sorted(seen: Seen) -> Vec<Case> {
        let mut cases = seen.0.into_inner().unwrap();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn items(count: usize) -> Vec<Item<usize>> {
        (0..count).map(|n| Item::single(format!("case {n}"), n)).collect()
    }

    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn items_that_the_observer_does_not_want_do_not_run() {
        struct Even(Seen);

        impl Observer for Even {
            fn wants(&self, item: usize) -> bool {
                item.is_multiple_of(2)
            }
            fn total(&self, cases: usize) {
                assert_eq!(cases, 3);
            }
            fn case(&self, case: &Case) {
                self.0.case(case);
            }
        }

        let work = Work::plain(items(5), |item, emit| {
            emit(Case { name: item.names[0].clone(), verdict: Verdict::Passed });
        });
        let seen = Even(Seen::default());
        assert_eq!(work.run_within(LIMIT, &seen).unwrap(), Summary { passed: 3, failed: 0, unconfirmed: 0 });
        let names: Vec<String> = sorted(seen.0).into_iter().map(|case| case.name).collect();
        assert_eq!(names, ["case 0", "case 2", "case 4"]);
    }

    #[test]
    fn a_case_that_never_ends_is_a_time_out_with_its_name_and_the_others_go_on() {
        let seen = Seen::default();
        let work = Work::plain(items(6), |item, emit| {
            if matches!(item.data, 0 | 3) {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
            emit(Case { name: item.names[0].clone(), verdict: Verdict::Passed });
        });
        let summary = work.on_one_thread().run_within(SHORT, &seen).unwrap();
        assert_eq!(summary, Summary { passed: 4, failed: 2, unconfirmed: 0 });
        let cases = sorted(seen);
        let late: Vec<&str> = cases
            .iter()
            .filter(|c| matches!(&c.verdict, Verdict::TimedOut(why) if why == "no result within 0.3 s"))
            .map(|c| c.name.as_str())
            .collect();
        assert_eq!(late, ["case 0", "case 3"], "{cases:?}");
    }

    #[test]
    fn a_run_ends_when_its_threads_have_dropped_their_states() {
        struct Slow(Arc<AtomicUsize>);

        impl Drop for Slow {
            fn drop(&mut self) {
                std::thread::sleep(Duration::from_millis(50));
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }

        let (made, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, slow) = (Arc::clone(&made), Arc::clone(&dropped));
        let start = move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Slow(Arc::clone(&slow)))
        };
        let judge = |_: &mut Slow, item: &Item<usize>, emit: &mut Emit| {
            emit(Case { name: item.names[0].clone(), verdict: Verdict::Passed });
        };
        let summary = Work::with(items(9), start, judge).run_within(LIMIT, &Seen::default()).unwrap();
        assert_eq!(summary.passed, 9);
        assert_eq!(made.load(Ordering::Relaxed), dropped.load(Ordering::Relaxed));
    }

    #[test]
    fn cases_of_an_item_that_came_in_time_stay() {
        let seen = Seen::default();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let work = Work::plain(vec![Item { together: 1, ..Item::together(names, ()) }], |item, emit| {
            emit(Case { name: item.names[0].clone(), verdict: Verdict::Passed });
            std::thread::sleep(Duration::from_secs(600));
        });
        work.run_within(SHORT, &seen).unwrap();
        let verdicts: Vec<bool> = sorted(seen).iter().map(|c| c.verdict == Verdict::Passed).collect();
        assert_eq!(verdicts, [true, false, false]);
    }

    #[test]
    fn a_panic_is_its_cases_and_a_start_that_fails_is_the_suites() {
        let seen = Seen::default();
        let work = Work::plain(items(3), |item, emit| {
            assert_ne!(item.data, 1, "number one");
            emit(Case { name: item.names[0].clone(), verdict: Verdict::Passed });
        });
        // Telling where it panicked takes its time.
        let summary = work.run_within(LIMIT, &seen).unwrap();
        assert_eq!((summary.passed, summary.failed), (2, 1));
        let Verdict::Failed(why) = &sorted(seen)[1].verdict else { panic!("it did not fail") };
        assert!(why.contains("number one"), "{why}");
        let work = Work::with(items(1), || Err::<(), _>(Error::Device("none".into())), |(), _, _| {});
        assert!(matches!(work.run_within(SHORT, &Seen::default()), Err(Error::Device(_))));
    }
}
