//! The engine: interprets, counts, compiles what is executed often, and runs that.

use crate::aot::Library;
use crate::compiler::Compiler;
use crate::emit::How;
use crate::error::CompileError;
use crate::exec;
use crate::signals::{self, Run};
use crate::state::{Exit, State};
use crate::table::Table;
use crate::words::Words;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use xenoglot_guest::memory::{Identity, Memory, PAGE_BITS};
use xenoglot_guest::{Cpu, Engine, Event, Interpreter, float_cause};
use xenoglot_mips::lift::{self, layout};

/// How machine code reaches the guest's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// In an area of the host's that is laid out as the guest's memory: the host's page protection checks. Needs handlers of
    /// SIGSEGV, SIGBUS and SIGILL, and Linux.
    Window,
    /// Through tables of pages.
    Tables,
    /// By calls: slow, and good for finding out what the others are worth.
    Calls,
}

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How often a block is interpreted before it is compiled with what is reached from it. 0 compiles everything at once.
    pub threshold: u32,
    /// About how many instructions are compiled together at most.
    pub max_insts: u32,
    /// How code reaches memory. Where the system refuses a window, there are tables.
    pub access: Access,
}

impl Default for Options {
    fn default() -> Self {
        Options { threshold: 200, max_insts: 512, access: Access::Window }
    }
}

/// What was compiled so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Regions.
    pub regions: u64,
    /// Regions that were forgotten, because their code changed or the memory for code was full.
    pub forgotten: u64,
    /// Regions that could not be compiled, and are interpreted.
    pub refused: u64,
    /// Bytes of guest code, each time it was compiled.
    pub guest_bytes: u64,
    /// Bytes of the host's code.
    pub host_bytes: u64,
    /// Time to lift and compile.
    pub time: Duration,
}

/// Code that was compiled: what a profiler of the host needs to name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The guest's address that it begins with.
    pub pc: u32,
    /// Where it lies on the host. Code that is forgotten makes room for other code.
    pub address: u64,
    /// Its bytes.
    pub bytes: usize,
}

/// Called with each piece of code that was compiled.
pub type Observer = Arc<dyn Fn(&Compiled) + Send + Sync>;

/// A region with code.
struct Region {
    entries: Vec<u32>,
    code: u64,
}

/// Counters of blocks by hash.
const COUNTERS: usize = 1 << 14;
/// Changes of a page after which its code is only interpreted.
const MOST_CHANGES: u32 = 32;
/// How often an access leaves its code until that is compiled again so that the access asks the memory.
const MOST_LEFT: u32 = 32;
/// FCSR's bits of rounding, enabled exceptions and flushing: none is set while compiled code runs.
const UNUSUAL: u32 = 0x0100_0f83;
/// Cause bits of FCSR.
const CAUSE: u32 = 0x3f << 12;

/// An engine that compiles. The direct interpreter runs what is not compiled.
pub struct Jit {
    options: Options,
    interpreter: Interpreter,
    compiler: Compiler,
    table: Table,
    state: Box<State>,
    counters: Vec<u32>,
    regions: Vec<Region>,
    by_page: FxHashMap<u32, Vec<usize>>,
    /// How often the code of a page changed.
    changes: FxHashMap<u32, u32>,
    /// How often the access at an address left its code; from [`MOST_LEFT`] on it asks.
    left: FxHashMap<u32, u32>,
    /// Addresses whose code cannot be compiled.
    refused: FxHashSet<u32>,
    /// The memory that all of this is of.
    memory: Option<Identity>,
    /// A program that was compiled ahead of time, and whether memory has it.
    library: Option<Arc<Library>>,
    fits: bool,
    stats: Stats,
    observer: Option<Observer>,
}

// SAFETY: the pointers in the state are set for the time of a run, but for those to the table and to code, which the engine
// owns.
unsafe impl Send for Jit {}

impl std::fmt::Debug for Jit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jit")
            .field("options", &self.options)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

impl Jit {
    /// An engine without code.
    ///
    /// # Errors
    /// When the host is not supported, or the system gives no memory for code.
    pub fn new(mut options: Options) -> Result<Jit, CompileError> {
        if options.access == Access::Window && !signals::install() {
            options.access = Access::Tables;
        }
        let compiler = Compiler::new()?;
        let mut table = Table::new();
        table.set_missing(compiler.missing);
        let state = Box::new(State::new(compiler.ask_load, compiler.ask_store, table.parts()));
        Ok(Jit {
            options,
            interpreter: Interpreter::default(),
            compiler,
            table,
            state,
            counters: vec![0; COUNTERS],
            regions: Vec::new(),
            by_page: FxHashMap::default(),
            changes: FxHashMap::default(),
            left: FxHashMap::default(),
            refused: FxHashSet::default(),
            memory: None,
            library: None,
            fits: false,
            stats: Stats::default(),
            observer: None,
        })
    }

    /// An engine that runs a library's code where it can.
    ///
    /// # Errors
    /// As [`Jit::new`].
    pub fn with_library(options: Options, library: Arc<Library>) -> Result<Jit, CompileError> {
        Ok(Jit { library: Some(library), ..Jit::new(options)? })
    }

    /// Whether code of the library runs: memory has the program, as far as it was used last.
    pub fn uses_library(&self) -> bool {
        self.fits
    }

    /// Calls `observer` for each piece of code compiled from now on.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// What was compiled so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Forgets all code.
    fn clear(&mut self) {
        self.table.clear();
        self.stats.forgotten += self.regions.len() as u64;
        self.regions.clear();
        self.by_page.clear();
        self.compiler.clear();
        self.counters.fill(0);
        self.refused.clear();
    }

    /// Forgets the code of pages that changed.
    fn forget(&mut self, pages: &[u32]) {
        self.interpreter.forget(pages);
        for page in pages {
            // Its functions call each other without a look at what memory has.
            self.fits &= self.library.as_ref().is_none_or(|library| !library.has_page(*page));
            if self.by_page.contains_key(page) {
                *self.changes.entry(*page).or_default() += 1;
                self.refused.clear();
                self.forget_page(*page);
            }
        }
    }

    /// Forgets the code of a page.
    fn forget_page(&mut self, page: u32) {
        for number in self.by_page.remove(&page).unwrap_or_default() {
            let Some(region) = self.regions.get_mut(number) else { continue };
            let entries = std::mem::take(&mut region.entries);
            self.stats.forgotten += u64::from(!entries.is_empty());
            for pc in entries {
                if self.table.get(pc) == Some(region.code) {
                    self.table.set(pc, None);
                }
            }
        }
    }

    /// Counts an access that left the code of `pc`.
    #[cold]
    fn count_left(&mut self, pc: u32) {
        let left = self.left.entry(pc).or_default();
        *left = left.saturating_add(1);
        if *left == MOST_LEFT {
            self.forget_page(pc >> PAGE_BITS);
        }
    }

    /// Compiles the region at `pc`; whether there is code for it.
    #[cold]
    fn compile(&mut self, pc: u32, memory: &mut Memory) -> bool {
        let page = pc >> PAGE_BITS;
        let changed = self.changes.get(&page).is_some_and(|&changes| changes > MOST_CHANGES);
        if changed || self.refused.contains(&pc) {
            return false;
        }
        let start = Instant::now();
        let endian = self.state.cpu.endian;
        let gp = Some(self.state.cpu.get(28));
        let options = lift::Options { endian, max_insts: self.options.max_insts, gp };
        let (table, library) = (&self.table, self.library.as_deref().filter(|_| self.fits));
        let in_library = |pc| library.is_some_and(|library| library.get(pc).is_some());
        let words = Words { memory, endian, has_region: &|pc| table.get(pc).is_some() || in_library(pc) };
        let region = lift::lift(&words, pc, &options);
        let Some(func) = region.module.entry_func().filter(|_| region.runs) else { return false };
        let left = std::mem::take(&mut self.left);
        let asks = |pc: u32| left.get(&pc).is_some_and(|&left| left >= MOST_LEFT);
        let how = How { counter: layout::FUEL, access: self.options.access, asks: &asks };
        let mut result = self.compiler.compile(func, &mut self.table, &how);
        if matches!(result, Err(CompileError::Full)) {
            self.clear();
            result = self.compiler.compile(func, &mut self.table, &how);
        }
        self.left = left;
        let Ok((code, bytes)) = result else {
            self.refused.insert(pc);
            self.stats.refused += 1;
            return false;
        };
        let number = self.regions.len();
        let mut pages = BTreeSet::new();
        for &word in &region.words {
            memory.watch_code(word);
            pages.insert(word >> PAGE_BITS);
        }
        for page in pages {
            self.by_page.entry(page).or_default().push(number);
        }
        self.stats.regions += 1;
        self.stats.guest_bytes += 4 * region.words.len() as u64;
        self.stats.host_bytes += bytes as u64;
        self.stats.time += start.elapsed();
        if let Some(observer) = &self.observer {
            observer(&Compiled { pc, address: code, bytes });
        }
        let mut entries = region.entries;
        // Regions that overlap: an address keeps the code it has.
        entries.retain(|&entry| entry == pc || self.table.get(entry).is_none());
        entries.iter().for_each(|&entry| self.table.set(entry, Some(code)));
        self.regions.push(Region { entries, code });
        true
    }

    /// The code for a guest address: the way in, and what that is told.
    fn find(&self, pc: u32) -> Option<(u64, u64)> {
        let library = self.library.as_ref().filter(|_| self.fits);
        let own = || self.table.get(pc).map(|code| (self.compiler.enter, code));
        library.and_then(|library| library.get(pc)).map(|code| (code, 0)).or_else(own)
    }

    /// Runs the code for the guest's address.
    fn enter(&mut self, (way, code): (u64, u64), fuel: &mut u64) -> Exit {
        let state = &mut *self.state;
        let before = i64::try_from(*fuel).unwrap_or(i64::MAX);
        state.fuel = before;
        state.last_float = 0;
        state.fault_pc = 0;
        let library = self.library.as_deref().filter(|_| self.fits);
        let run = Run { state, code: self.compiler.base(), sites: &self.compiler.sites, library };
        // SAFETY: the addresses are those of this engine's compiler, and `run` has set the memory.
        let enter = || unsafe { exec::run(way, state, state.cpu.pc, code) };
        let (exit, flags) = signals::with(&run, enter);
        let used = before.wrapping_sub(state.fuel).max(0) as u64;
        state.cpu.retired += used;
        *fuel = fuel.saturating_sub(used);
        state.cpu.pc = exit as u32;
        // Flags of MXCSR: 2 division by zero, 3 overflow, 4 underflow, 5 inexact. Those of FCSR, two bits up: inexact,
        // underflow, overflow, division by zero.
        let flags = flags >> 5 & 1 | flags >> 3 & 2 | flags >> 1 & 4 | flags << 1 & 8;
        state.cpu.fcsr |= flags << 2;
        if state.last_float != 0 {
            let cause = float_cause(state.last_float, state.last_operands);
            state.cpu.fcsr = state.cpu.fcsr & !CAUSE | cause;
        }
        match exit >> 32 {
            next if next == Exit::Next as u64 => Exit::Next,
            access if access == Exit::Access as u64 => Exit::Access,
            _ => Exit::Interpret,
        }
    }

    /// Interprets until there is code for the guest's address, or it is to be made; the event that came first.
    fn interpret(&mut self, memory: &mut Memory, fuel: &mut u64) -> Option<Event> {
        let Jit { interpreter, table, counters, state, options, library, fits, .. } = self;
        let library = library.as_deref().filter(|_| *fits);
        if state.cpu.fcsr & UNUSUAL != 0 {
            // A little at a time: the program may return to what is usual.
            let slice = (*fuel).min(64);
            let mut left = slice;
            let event = interpreter.run_until(&mut state.cpu, memory, &mut left, |_| false);
            *fuel -= slice - left;
            return event.filter(|&event| event != Event::OutOfFuel);
        }
        interpreter.run_until(&mut state.cpu, memory, fuel, |pc| {
            let counter = counters.get_mut((pc >> 2) as usize & (COUNTERS - 1));
            let hot = counter.is_some_and(|counter| {
                *counter += 1;
                *counter > options.threshold
            });
            hot || table.get(pc).is_some() || library.is_some_and(|library| library.get(pc).is_some())
        })
    }

    fn run_state(&mut self, memory: &mut Memory, fuel: &mut u64) -> Event {
        loop {
            if memory.is_stale() {
                self.forget(&memory.take_stale());
            }
            if *fuel == 0 {
                return Event::OutOfFuel;
            }
            let pc = self.state.cpu.pc;
            if self.state.cpu.fcsr & UNUSUAL == 0
                && let Some(code) = self.find(pc)
            {
                let exit = self.enter(code, fuel);
                if exit == Exit::Next {
                    continue;
                }
                // Where the guest goes on may be before the access.
                let access = if self.state.fault_pc == 0 { self.state.cpu.pc } else { self.state.fault_pc };
                let resident = memory.resident();
                if let Some(event) = self.interpreter.step(&mut self.state.cpu, memory, fuel) {
                    return event;
                }
                // The first store to a page leaves the code where there is no window, but once.
                if exit == Exit::Access && memory.resident() == resident {
                    self.count_left(access);
                }
                continue;
            }
            if let Some(event) = self.interpret(memory, fuel) {
                return event;
            }
            let pc = self.state.cpu.pc;
            if memory.is_stale() || self.state.cpu.fcsr & UNUSUAL != 0 || self.find(pc).is_some() {
                continue;
            }
            if let Some(counter) = self.counters.get_mut((pc >> 2) as usize & (COUNTERS - 1)) {
                *counter = 0;
            }
            if !self.compile(pc, memory)
                && let Some(event) = self.interpreter.step(&mut self.state.cpu, memory, fuel)
            {
                return event;
            }
        }
    }
}

impl Engine for Jit {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        let renewed = self.memory != Some(memory.identity());
        if renewed {
            self.memory = Some(memory.identity());
            self.interpreter = Interpreter::default();
            self.changes.clear();
            self.left.clear();
            self.clear();
        }
        if !self.state.set_memory(memory, self.options.access) {
            self.options.access = Access::Tables;
            self.clear();
            self.state.set_memory(memory, self.options.access);
        }
        if renewed && let Some(library) = &self.library {
            self.fits = self.options.access == Access::Window && library.fits(memory);
            if self.fits {
                library.watch(memory);
            }
        }
        self.state.cpu.clone_from(cpu);
        let event = self.run_state(memory, fuel);
        cpu.clone_from(&self.state.cpu);
        self.state.clear_memory();
        event
    }
}
