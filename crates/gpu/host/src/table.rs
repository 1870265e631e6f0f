//! Programs by key, compiled in the background.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustc_hash::FxHashMap;
use xenoglot_ir::Module;

use crate::rehearsal::Rehearsal;
use crate::{Device, Error, Layout, Program};

/// When programs are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compilation {
    /// On a thread of the table; until it is done, the program is [`State::Compiling`]. Where the driver compiles a
    /// program when it first runs, the thread has it run: it must come to an end when all its buffers are zero.
    #[default]
    Background,
    /// When they are asked for, while the caller waits.
    Blocking,
}

/// How it stands with a program.
#[derive(Clone, Debug)]
pub enum State {
    /// It can run.
    Ready(Program),
    /// Not yet.
    Compiling,
    /// It never will.
    Failed(Error),
}

/// Makes programs of keys.
type Translate<K> = dyn Fn(&K) -> Result<Module, Error> + Send + Sync;
type States<K> = Arc<Mutex<FxHashMap<K, State>>>;

/// Programs of one layout by key.
///
/// Any thread may ask. Programs are kept as long as the table: there are as many as the guest has states of the kind the key describes.
/// Dropping the table waits for the program that is being compiled.
pub struct Table<K> {
    device: Device,
    layout: Layout,
    translate: Arc<Translate<K>>,
    states: States<K>,
    compilation: Compilation,
    worker: Mutex<Option<Worker<K>>>,
}

struct Worker<K> {
    /// Set when pending compilations are no longer needed.
    stop: Arc<AtomicBool>,
    jobs: Option<Sender<K>>,
    thread: Option<JoinHandle<()>>,
}

impl<K> Drop for Worker<K> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Without a sender the thread ends.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<K: Clone + Eq + Hash + Send + 'static> Table<K> {
    /// An empty table. `translate` makes the module of a key: any thread may call it, and it must give the same for the
    /// same key.
    pub fn new(
        device: &Device,
        layout: &Layout,
        compilation: Compilation,
        translate: impl Fn(&K) -> Result<Module, Error> + Send + Sync + 'static,
    ) -> Table<K> {
        Table {
            device: device.clone(),
            layout: layout.clone(),
            translate: Arc::new(translate),
            states: Arc::default(),
            compilation,
            worker: Mutex::new(None),
        }
    }

    /// The program of a key; one that was not asked for before is compiled.
    pub fn get(&self, key: &K) -> State {
        if let Some(state) = lock(&self.states).get(key) {
            return state.clone();
        }
        let state = match self.compilation {
            Compilation::Blocking => {
                let module = (self.translate)(key);
                module.and_then(|module| self.device.program(&self.layout, module)).into()
            }
            Compilation::Background => match self.send(key) {
                // Whoever is faster: the thread may have put its result there.
                Ok(()) => return lock(&self.states).entry(key.clone()).or_insert(State::Compiling).clone(),
                Err(error) => State::Failed(error),
            },
        };
        lock(&self.states).insert(key.clone(), state.clone());
        state
    }

    /// Programs by state: ready, compiling, failed.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for state in lock(&self.states).values() {
            counts[match state {
                State::Ready(_) => 0,
                State::Compiling => 1,
                State::Failed(_) => 2,
            }] += 1;
        }
        counts
    }

    fn send(&self, key: &K) -> Result<(), Error> {
        let mut slot = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = match &mut *slot {
            Some(worker) => worker,
            None => slot.insert(Worker::start(
                self.device.clone(),
                self.layout.clone(),
                Arc::clone(&self.translate),
                Arc::clone(&self.states),
            )?),
        };
        let gone = || Error::Translation("the thread that compiles is gone".into());
        worker.jobs.as_ref().ok_or_else(gone)?.send(key.clone()).map_err(|_| gone())
    }
}

impl<K: Eq + Hash + Send + 'static> Worker<K> {
    fn start(
        device: Device,
        layout: Layout,
        translate: Arc<Translate<K>>,
        states: States<K>,
    ) -> Result<Worker<K>, Error> {
        let (jobs, keys) = channel::<K>();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || {
            // Without it programs are as right, and late.
            let rehearsal = Rehearsal::new(&device, &layout).ok().flatten();
            let rehearsed = |key: &K| {
                let words = device.words(translate(key)?)?;
                if let Some(rehearsal) = &rehearsal {
                    rehearsal.run(&words)?;
                }
                device.program_of(&layout, &words)
            };
            for key in keys {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let state = rehearsed(&key).into();
                lock(&states).insert(key, state);
            }
        };
        let thread = std::thread::Builder::new().name("host programs".into()).spawn(run);
        let thread = thread.map_err(|e| Error::Translation(format!("no thread to compile on: {e}")))?;
        Ok(Worker { stop, jobs: Some(jobs), thread: Some(thread) })
    }
}

impl From<Result<Program, Error>> for State {
    fn from(made: Result<Program, Error>) -> State {
        made.map_or_else(State::Failed, State::Ready)
    }
}

/// No state is left half changed by a panic.
fn lock<K>(states: &Mutex<FxHashMap<K, State>>) -> MutexGuard<'_, FxHashMap<K, State>> {
    states.lock().unwrap_or_else(PoisonError::into_inner)
}
