//! Programs by key, compiled in the background.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use xenoglot_cache::service::{Options, Priority, Spares, Standing, Workshop};
use xenoglot_ir::Module;

use crate::rehearsal::Rehearsal;
use crate::{Device, Error, Layout, Program};

/// Programs that are kept. A title has some hundreds.
const PROGRAMS: usize = 8192;

/// When programs are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compilation {
    /// On threads of the table; until it is done, the program is [`State::Compiling`]. Where the driver compiles a
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

/// Makes modules of keys.
type Translate<K> = dyn Fn(&K) -> Result<Module, Error> + Send + Sync;

type Made = Result<Program, Error>;

/// Programs of one layout by key.
///
/// Any thread may ask. The code of programs is looked up in the device's cache before it is translated. At most 8,192
/// programs are kept, of those that are used. A program that takes the driver longer than ten seconds, or makes our
/// translator panic, has failed. Dropping the table waits for the programs that are being compiled.
pub struct Table<K>
where
    K: Clone + Eq + Hash + Send + 'static,
{
    shop: Arc<Shop<K>>,
    programs: Workshop<K, Made>,
    compilation: Compilation,
    /// Nanoseconds that callers spent in [`Table::get`].
    waited: AtomicU64,
}

impl<K: Clone + Eq + Hash + Send + 'static> fmt::Debug for Table<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ready, compiling, failed] = self.counts();
        f.debug_struct("Table")
            .field("ready", &ready)
            .field("compiling", &compiling)
            .field("failed", &failed)
            .finish_non_exhaustive()
    }
}

/// What makes programs.
struct Shop<K> {
    device: Device,
    layout: Layout,
    translate: Box<Translate<K>>,
    /// `None` for devices that need none.
    rehearsals: Spares<Option<Rehearsal>>,
}

impl<K> Shop<K> {
    /// Makes a program for a caller who waits for it.
    fn make(&self, key: &K) -> Made {
        self.device.program(&self.layout, (self.translate)(key)?)
    }

    /// Makes a program whose first run does not wait for the driver.
    fn make_ready(&self, key: &K) -> Made {
        let words = self.device.words((self.translate)(key)?)?;
        // What would take this process down has done so to another one.
        self.device.compiled_elsewhere(&self.layout, &words)?;
        // Without it programs are as right, and late.
        let open = || Rehearsal::new(&self.device, &self.layout).ok().flatten();
        let rehearsal = self.rehearsals.take().unwrap_or_else(open);
        if let Some(rehearsal) = &rehearsal {
            rehearsal.run(&words)?;
        }
        self.rehearsals.put(rehearsal);
        self.device.program_of(&self.layout, &words)
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
        let shop = Shop {
            device: device.clone(),
            layout: layout.clone(),
            translate: Box::new(translate),
            rehearsals: Spares::default(),
        };
        let failed = |failure: xenoglot_cache::Failure| Err(Error::Translation(failure.to_string()));
        let programs = Workshop::new(PROGRAMS, Options::default(), failed);
        Table { shop: Arc::new(shop), programs, compilation, waited: AtomicU64::new(0) }
    }

    /// The program of a key; one that was not asked for before is compiled.
    pub fn get(&self, key: &K) -> State {
        let start = Instant::now();
        let state = self.find_or_begin(key);
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(nanoseconds, Ordering::Relaxed);
        state
    }

    /// How long all callers have been in [`Table::get`] so far: what of their frames was spent on looking up programs, or on
    /// waiting for them if they are compiled when they are asked for.
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }

    fn find_or_begin(&self, key: &K) -> State {
        if let Some(made) = self.programs.get(key) {
            return made.into();
        }
        match self.compilation {
            Compilation::Blocking => {
                let made = self.shop.make(key);
                self.programs.insert(key.clone(), made.clone());
                made.into()
            }
            Compilation::Background => {
                let (shop, of) = (Arc::clone(&self.shop), key.clone());
                let ticket = self.programs.begin(key, Priority::Now, move || shop.make_ready(&of));
                ticket.poll().map_or(State::Compiling, State::from)
            }
        }
    }

    /// How it stands with the program of a key; `None` if it was not asked for. It does not count as used.
    pub fn peek(&self, key: &K) -> Option<State> {
        match self.programs.standing(key) {
            Standing::Ready(made) => Some(made.into()),
            Standing::InWork => Some(State::Compiling),
            Standing::New => None,
        }
    }

    /// Programs by state: ready, compiling, failed.
    pub fn counts(&self) -> [usize; 3] {
        // What is in work comes to the others before it is no longer in work.
        let status = self.programs.status();
        let [made, failed] = self.programs.count(Result::is_err);
        [made - failed, status.waiting + status.working, failed]
    }
}

impl From<Made> for State {
    fn from(made: Made) -> State {
        made.map_or_else(State::Failed, State::Ready)
    }
}
