//! Compiles on threads of its own, while the guest goes on.
//!
//! The threads are the process's. They are started for the first job and stay: engines that come and go would otherwise
//! start threads while those of the engine before are still ending. Their priority is the ordinary one: a guest that waits
//! for code runs tens of times slower until it is there.

use crate::compiler::{Code, Codegen, Job};
use crate::error::CompileError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Most threads. Programs make code hot about as fast as two compile it.
const MOST_THREADS: usize = 2;

/// A job that was done.
pub(crate) struct Done {
    /// Its number.
    pub(crate) number: u64,
    pub(crate) code: Result<Code, CompileError>,
    pub(crate) time: Duration,
}

/// Where jobs of an engine go when they are done.
#[derive(Default)]
struct Outbox {
    ready: AtomicBool,
    done: Mutex<Vec<Done>>,
}

impl Outbox {
    fn done(&self) -> MutexGuard<'_, Vec<Done>> {
        // The list stays valid when a thread panics while it holds the lock.
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job that waits for a thread to take it. When its ticket is dropped before that, it is never compiled.
pub(crate) struct Ticket(Mutex<Option<Job>>);

impl Ticket {
    pub(crate) fn new(job: Job) -> Arc<Ticket> {
        Arc::new(Ticket(Mutex::new(Some(job))))
    }

    /// Takes the job; `None` when another thread has taken it.
    pub(crate) fn begin(&self) -> Option<Job> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The process's threads, as an engine has them.
pub(crate) struct Workers {
    pool: &'static ThreadPool,
    outbox: Arc<Outbox>,
}

/// The threads; nothing where they cannot be started, and on a host with a single processor, where code would only come
/// later.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let count = (processors - 1).min(MOST_THREADS);
        if count == 0 {
            return None;
        }
        let builder =
            ThreadPoolBuilder::new().num_threads(count).thread_name(|n| format!("xenoglot-cpu-{n}"));
        builder.build().ok()
    });
    pool.as_ref()
}

impl Workers {
    /// Threads for an engine; `None` when it has to compile by itself.
    pub(crate) fn new() -> Option<Workers> {
        Some(Workers { pool: pool()?, outbox: Arc::default() })
    }

    /// Hands a job over.
    pub(crate) fn give(&self, number: u64, ticket: &Arc<Ticket>) {
        let (ticket, outbox) = (Arc::downgrade(ticket), Arc::clone(&self.outbox));
        self.pool.spawn_fifo(move || {
            let Some(job) = ticket.upgrade().and_then(|ticket| ticket.begin()) else { return };
            let start = Instant::now();
            let code = compile(&job);
            let done = Done { number, code, time: start.elapsed() };
            outbox.done().push(done);
            outbox.ready.store(true, Ordering::Release);
        });
    }

    /// Whether there are jobs that were done.
    pub(crate) fn is_ready(&self) -> bool {
        self.outbox.ready.load(Ordering::Acquire)
    }

    /// The jobs that were done since the last time.
    pub(crate) fn take(&self) -> Vec<Done> {
        // Cleared before the list is taken: a job that is added meanwhile sets it again.
        self.outbox.ready.store(false, Ordering::Release);
        std::mem::take(&mut *self.outbox.done())
    }
}

/// Compiles in one of the threads.
fn compile(job: &Job) -> Result<Code, CompileError> {
    thread_local! {
        static CODEGEN: RefCell<Option<Codegen>> = const { RefCell::new(None) };
    }
    CODEGEN.with_borrow_mut(|place| {
        let mut codegen = match place.take() {
            Some(codegen) => codegen,
            None => Codegen::new()?,
        };
        // A panic of the code generator must not end the process: the region stays interpreted, and the generator is made anew.
        let result = catch_unwind(AssertUnwindSafe(|| codegen.compile(job)));
        let result = result.map_err(|_| CompileError::Codegen("a panic".into()))?;
        *place = Some(codegen);
        result
    })
}
