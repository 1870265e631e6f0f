//! The engine: interprets, counts, compiles what is executed often, and runs that.

use crate::aot::Library;
use crate::background::{Ticket, Workers};
use crate::baseline;
use crate::compiler::{Code, Compiler, Job};
use crate::error::CompileError;
use crate::exec;
use crate::options::{Access, Compiled, INTERPRETED, Observer, Options, Stats};
use crate::orders::{Hot, Order, Orders};
use crate::signals::{self, Run};
use crate::state::{COUNTERS, Exit, State, counter_of};
use crate::table::Table;
use crate::words::Words;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use xenoglot_guest::memory::{Identity, Memory, PAGE_BITS};
use xenoglot_guest::{Cpu, Engine, Event, Interpreter, float_cause};
use xenoglot_mips::lift;

/// A region with code.
pub(crate) struct Region {
    pub(crate) entries: Vec<u32>,
    pub(crate) code: Range<u64>,
}

/// Whether there is code for an address that is better than baseline code.
fn optimized(table: &Table, baseline: &FxHashMap<u32, u64>, pc: u32) -> bool {
    table.get(pc).is_some_and(|code| baseline.get(&pc) != Some(&code))
}

/// A block that ran less often than this part of the threshold is left out of the regions of others. Most of a program's
/// code never runs, and compiling it takes longer than all else in programs that run for seconds.
const COLD_SHARE: u32 = 5;
/// A page of code may change this often, and more by [`PER_CHANGE`], before its code is only interpreted.
const MOST_CHANGES: u32 = 32;
/// Instructions executed for each further change. A guest that compiles writes to its pages of code for as long as it runs, and what it
/// has written runs often; one that changes its code all the time would spend more on compiling than it saves.
const PER_CHANGE: u64 = 1 << 18;
/// How often an access leaves its code until that is compiled again so that the access asks the memory.
pub(crate) const MOST_LEFT: u32 = 32;
/// Regions that other threads compile at a time for one engine. When they have so many, the guest's thread does the next one: it
/// would wait longer for it than that takes.
const MOST_ORDERS: usize = 24;
/// FCSR's bits of enabled exceptions: none is set while compiled code runs.
const ENABLES: u32 = 0xf80;
/// Cause bits of FCSR.
const CAUSE: u32 = 0x3f << 12;

/// An engine that compiles. The direct interpreter runs what is not compiled.
pub struct Jit {
    pub(crate) options: Options,
    interpreter: Interpreter,
    compiler: Compiler,
    pub(crate) table: Table,
    pub(crate) state: Box<State>,
    /// Baseline code by guest addresses, as long as the table has nothing better.
    pub(crate) baseline: FxHashMap<u32, u64>,
    /// By the places of counters: blocks that have no baseline code.
    pub(crate) unlikely: Vec<bool>,
    regions: Vec<Region>,
    by_page: FxHashMap<u32, Vec<usize>>,
    /// How often the code of a page changed.
    changes: FxHashMap<u32, u32>,
    /// How often the access at an address left its code; from [`MOST_LEFT`] on it asks.
    pub(crate) left: FxHashMap<u32, u32>,
    /// Addresses whose code cannot be compiled.
    refused: FxHashSet<u32>,
    /// The memory that all of this is of.
    memory: Option<Identity>,
    /// Whether code keeps all registers exact at faults, not only live ones.
    exact: bool,
    /// A program that was compiled ahead of time, and whether memory has it.
    pub(crate) library: Option<Arc<Library>>,
    pub(crate) fits: bool,
    /// Threads that compile, from the first hot block on.
    workers: Option<Workers>,
    /// The regions that those threads compile.
    orders: Orders,
    pub(crate) stats: Stats,
    pub(crate) observer: Option<Observer>,
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
        let mut table = Table::new()?;
        table.set_missing(compiler.missing);
        let mut state = Box::new(State::new(compiler.ask_load, compiler.ask_store, table.parts()));
        state.counters.fill(options.runs());
        Ok(Jit {
            options,
            interpreter: Interpreter::default(),
            compiler,
            table,
            state,
            baseline: FxHashMap::default(),
            unlikely: vec![false; COUNTERS],
            regions: Vec::new(),
            by_page: FxHashMap::default(),
            changes: FxHashMap::default(),
            left: FxHashMap::default(),
            refused: FxHashSet::default(),
            memory: None,
            exact: true,
            library: None,
            fits: false,
            workers: None,
            orders: Orders::default(),
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
        self.orders.clear();
        self.compiler.clear();
        self.state.counters.fill(self.options.runs());
        self.baseline.clear();
        self.unlikely.fill(false);
        self.refused.clear();
    }

    /// Forgets the code of pages that changed.
    fn forget(&mut self, pages: &[u32]) {
        self.interpreter.forget(pages);
        for page in pages {
            // Its functions call each other without a look at what memory has.
            self.fits &= self.library.as_ref().is_none_or(|library| !library.has_page(*page));
            if self.orders.forget_page(*page) | self.by_page.contains_key(page) {
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
                if self.table.get(pc).is_some_and(|code| region.code.contains(&code)) {
                    self.table.set(pc, None);
                    self.baseline.remove(&pc);
                }
            }
        }
    }

    /// Compiles the block that the guest is at, or has it compiled, and counts its runs anew; whether there is code for it now.
    fn get_hot(&mut self, memory: &mut Memory) -> bool {
        let pc = self.state.cpu.pc;
        if let Some(left) = self.state.counters.get_mut(counter_of(pc)) {
            *left = self.options.runs();
        }
        optimized(&self.table, &self.baseline, pc) || self.compile(pc, memory)
    }

    /// Puts code where it can run; its address. Everything else goes when the memory for code is full.
    pub(crate) fn place(&mut self, code: &Code) -> Result<u64, CompileError> {
        match self.compiler.install(code) {
            Err(CompileError::Full) => {
                self.clear();
                self.compiler.install(code)
            }
            other => other,
        }
    }

    /// Whether the code of an address changes so often that it is only interpreted.
    pub(crate) fn changes_often(&self, pc: u32) -> bool {
        let most = u64::from(MOST_CHANGES) + self.state.cpu.retired / PER_CHANGE;
        self.changes.get(&(pc >> PAGE_BITS)).is_some_and(|&changes| u64::from(changes) > most)
    }

    /// Counts an access that left the code of `pc`.
    #[cold]
    fn count_left(&mut self, pc: u32) {
        let left = self.left.entry(pc).or_default();
        *left = left.saturating_add(1);
        if *left == MOST_LEFT {
            self.orders.forget_page(pc >> PAGE_BITS);
            self.forget_page(pc >> PAGE_BITS);
        }
    }

    /// Lifts the region at `pc`: what is to be compiled, and what will have code then. From now on the memory watches its words.
    fn lift(&mut self, pc: u32, memory: &mut Memory) -> Option<(Order, Job)> {
        let start = Instant::now();
        let endian = self.state.cpu.endian;
        let gp = Some(self.state.cpu.get(28));
        let options = lift::Options { endian, max_insts: self.options.max_insts, gp };
        let (table, baseline) = (&self.table, &self.baseline);
        let library = self.library.as_deref().filter(|_| self.fits);
        let in_library = |pc| library.is_some_and(|library| library.get(pc).is_some());
        let (counters, runs) = (&self.state.counters, self.options.runs());
        let least = runs / COLD_SHARE;
        let is_cold =
            |pc: u32| counters.get(counter_of(pc)).is_some_and(|&left| runs - left.min(runs) < least);
        let orders = &self.orders;
        let has_region =
            |pc| optimized(table, baseline, pc) || in_library(pc) || is_cold(pc) || orders.has_entry(pc);
        let words = Words { memory, endian, has_region: &has_region };
        let lift::Region { module, entries, words, runs } = lift::lift(&words, pc, &options);
        module.entry_func().filter(|_| runs)?;
        words.iter().for_each(|&word| memory.watch_code(word));
        let asks = |&(&pc, &left): &(&u32, &u32)| left >= MOST_LEFT && words.binary_search(&pc).is_ok();
        let asks = self.left.iter().filter(asks).map(|(&pc, _)| pc).collect();
        let Options { access, links, .. } = self.options;
        let job = Job::new(module, access, asks, self.exact, links.then_some(&mut self.table));
        let order = Order { pc, entries, words, time: start.elapsed() };
        Some((order, job))
    }

    /// Compiles the region at `pc`, or has it compiled; whether there is code for it now.
    #[cold]
    fn compile(&mut self, pc: u32, memory: &mut Memory) -> bool {
        if self.changes_often(pc) || self.refused.contains(&pc) {
            return false;
        }
        match self.orders.hot(pc) {
            Hot::New => {}
            Hot::Wait => return false,
            Hot::Take(taken) => {
                let (order, job) = *taken;
                return self.compile_now(order, &job);
            }
        }
        let Some((order, job)) = self.lift(pc, memory) else { return false };
        if self.options.background && self.workers.is_none() {
            self.workers = Workers::new();
            self.options.background = self.workers.is_some();
        }
        if let Some(workers) = &self.workers
            && self.orders.len() < MOST_ORDERS
        {
            let ticket = Ticket::new(job);
            workers.give(self.orders.add(order, Arc::clone(&ticket)), &ticket);
            return false;
        }
        self.compile_now(order, &job)
    }

    /// Compiles in this thread; whether there is code now.
    fn compile_now(&mut self, order: Order, job: &Job) -> bool {
        let start = Instant::now();
        let code = self.compiler.compile(job);
        self.install(order, code, start.elapsed())
    }

    /// Installs what other threads have compiled. What changed since it was lifted is not among the orders any more.
    fn receive(&mut self) {
        let Some(workers) = self.workers.as_ref().filter(|workers| workers.is_ready()) else { return };
        for done in workers.take() {
            if let Some(order) = self.orders.take(done.number) {
                let is_installed = self.install(order, done.code, done.time);
                self.stats.background += u64::from(is_installed);
            }
        }
    }

    /// Installs the code of a region; false if it could not be compiled, and the region is interpreted from then on. `time` is
    /// how long compiling took.
    fn install(&mut self, order: Order, code: Result<Code, CompileError>, time: Duration) -> bool {
        let installed = code.and_then(|code| Ok((self.place(&code)?, code.len())));
        let pc = order.pc;
        let Ok((code, bytes)) = installed else {
            self.refused.insert(pc);
            self.stats.refused += 1;
            return false;
        };
        self.stats.regions += 1;
        self.stats.guest_bytes += 4 * order.words.len() as u64;
        self.stats.host_bytes += bytes as u64;
        self.stats.time += order.time + time;
        if let Some(observer) = &self.observer {
            observer(&Compiled { pc, address: code, bytes });
        }
        let pages = order.pages();
        let mut entries = order.entries;
        // Regions that overlap: an address keeps the code it has, unless that is baseline code.
        entries.retain(|&entry| entry == pc || !optimized(&self.table, &self.baseline, entry));
        for &entry in &entries {
            self.table.set(entry, Some(code));
            let Some(before) = self.baseline.remove(&entry) else { continue };
            let bytes =
                baseline::detour(entry, self.options.links.then(|| self.table.entry(entry)).flatten());
            // Without the detour, loops are found by their counters.
            let _ = self.compiler.patch(before + baseline::DETOUR, &bytes);
        }
        self.add_region(entries, code..code + bytes as u64, &pages);
        true
    }

    /// Notes what pages a region is of.
    pub(crate) fn add_region(&mut self, entries: Vec<u32>, code: Range<u64>, pages: &[u32]) {
        let number = self.regions.len();
        for &page in pages {
            self.by_page.entry(page).or_default().push(number);
        }
        self.regions.push(Region { entries, code });
    }

    /// The code for a guest address: the way in, and what that is told.
    fn find(&self, pc: u32) -> Option<(u64, u64)> {
        let library = self.library.as_ref().filter(|_| self.fits);
        let own = || self.table.get(pc).map(|code| (exec::engine_way(), code));
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
            let cause = float_cause(state.last_float, state.last_operands, state.cpu.fcsr);
            state.cpu.fcsr = state.cpu.fcsr & !CAUSE | cause;
        }
        match exit >> 32 {
            next if next == Exit::Next as u64 => Exit::Next,
            access if access == Exit::Access as u64 => Exit::Access,
            hot if hot == Exit::Hot as u64 => Exit::Hot,
            _ => Exit::Interpret,
        }
    }

    /// Interprets until there is code for the guest's address, it is to be made, or other threads made some; the event that came
    /// first. An address whose counter is zero is hot.
    fn interpret(&mut self, memory: &mut Memory, fuel: &mut u64) -> Option<Event> {
        let Jit { interpreter, table, unlikely, state, options, library, fits, workers, .. } = self;
        let State { cpu, counters, .. } = &mut **state;
        let library = library.as_deref().filter(|_| *fits);
        if cpu.fcsr & ENABLES != 0 {
            // A little at a time: the program may return to what is usual.
            let slice = (*fuel).min(64);
            let mut left = slice;
            let event = interpreter.run_until(cpu, memory, &mut left, |_| false);
            *fuel -= slice - left;
            return event.filter(|&event| event != Event::OutOfFuel);
        }
        let is_ready = || workers.as_ref().is_some_and(Workers::is_ready);
        let warm = options.warm();
        interpreter.run_until(cpu, memory, fuel, |pc| {
            let place = counter_of(pc);
            let ready = counters.get_mut(place).is_some_and(|left| {
                *left = left.saturating_sub(INTERPRETED);
                *left == 0 || *left <= warm && unlikely.get(place) == Some(&false)
            });
            ready
                || is_ready()
                || table.get(pc).is_some()
                || library.is_some_and(|library| library.get(pc).is_some())
        })
    }

    fn run_state(&mut self, memory: &mut Memory, fuel: &mut u64) -> Event {
        loop {
            if memory.is_stale() {
                self.forget(&memory.take_stale());
            }
            self.receive();
            if *fuel == 0 {
                return Event::OutOfFuel;
            }
            let pc = self.state.cpu.pc;
            if self.state.cpu.fcsr & ENABLES == 0
                && let Some(code) = self.find(pc)
            {
                let exit = self.enter(code, fuel);
                match exit {
                    Exit::Next => continue,
                    Exit::Hot => {
                        self.get_hot(memory);
                        continue;
                    }
                    Exit::Interpret | Exit::Access => {}
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
            let is_ready = self.workers.as_ref().is_some_and(Workers::is_ready);
            if is_ready || memory.is_stale() || self.state.cpu.fcsr & ENABLES != 0 || self.find(pc).is_some()
            {
                continue;
            }
            let is_hot = self.state.counters.get(counter_of(pc)) == Some(&0);
            let has_code = if is_hot { self.get_hot(memory) } else { self.warm(pc, memory) };
            if !has_code && let Some(event) = self.interpreter.step(&mut self.state.cpu, memory, fuel) {
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

    fn repeat_itself(&mut self) {
        self.options.background = false;
        self.workers = None;
        self.orders.clear();
    }

    fn exact_registers(&mut self, exact: bool) {
        if exact && !self.exact {
            self.exact = true;
            self.clear();
        } else if !exact && self.regions.is_empty() && self.orders.len() == 0 {
            // Only before there is code: what is exact already stays so.
            self.exact = false;
        }
    }
}
