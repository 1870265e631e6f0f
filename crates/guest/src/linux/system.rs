//! The processes of a guest, their turns, and what happens when all of them wait.

use super::abi::Errno;
use super::calls::process::Fork;
use super::fs::resolve::{Root, normal};
use super::fs::{Description, Descriptor, Files, Node};
use super::loader::{self, LoadError, Loaded, Start};
use super::process::{Process, Stop, Thread};
use super::shared::{Entry, FIRST_PID, Shared};
use super::timers::Timers;
use super::{Config, Death, Status, Stdio};
use crate::cpu::{Cpu, reg};
use crate::engine::Engine;
use crate::machine::{Machine, Outcome};
use crate::memory::Memory;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Instructions of a turn.
const TURN: u64 = 1 << 17;
/// Deaths of child processes that are kept to be told of.
const MAX_DEATHS: usize = 16;

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The ELF file.
    pub bytes: Arc<[u8]>,
    /// Where the program is in the guest; `/proc/self/exe` answers it.
    pub path: String,
    /// The arguments, with the program's name as the first.
    pub arguments: Vec<Vec<u8>>,
    /// The environment: `NAME=value`.
    pub environment: Vec<Vec<u8>>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first process ended; those it started are gone with it.
    Ended(Status),
    /// The fuel is used up; the guest can run on.
    OutOfFuel,
    /// The time is up; the guest can run on.
    OutOfTime,
    /// Everybody waits for somebody.
    Deadlock,
}

/// A process and what it runs on.
#[derive(Debug)]
struct Slot<E> {
    machine: Machine<E, Process>,
    /// The process whose memory this one uses.
    lender: Option<u32>,
    /// The memory is lent: the process waits for it.
    lent: bool,
}

/// A guest: a program, and the processes it starts.
pub struct System<E> {
    shared: Arc<Shared>,
    slots: Vec<Slot<E>>,
    new_engine: Box<dyn FnMut() -> E + Send>,
    deaths: Vec<Death>,
    instructions: u64,
}

impl<E> std::fmt::Debug for System<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("System").field("processes", &self.slots.len()).finish_non_exhaustive()
    }
}

impl<E: Engine> System<E> {
    /// Loads a program. Every process has an engine of its own, from `new_engine`.
    ///
    /// # Errors
    /// When the file is no program that can run here, or a folder of the configuration is not there.
    pub fn new(
        config: Config,
        stdio: Stdio,
        program: Program,
        mut new_engine: impl FnMut() -> E + Send + 'static,
    ) -> Result<System<E>, LoadError> {
        let mut root = Root::default();
        let folders = [(config.root.as_ref(), config.writable), (config.sysroot.as_ref(), false)];
        for (path, writable) in folders {
            let Some(path) = path else { continue };
            root.add(path, writable)
                .map_err(|error| LoadError::Folder { path: path.display().to_string(), error })?;
        }
        let mut files = Files::default();
        for (number, stream) in stdio.streams.into_iter().enumerate() {
            let flags = if number == 0 { 0 } else { 1 };
            let file = match stream {
                Some(fd) => Description::host(fd, Vec::new(), flags),
                None => Ok(Description::new(Node::Null, b"/dev/null".to_vec(), flags)),
            };
            let put =
                file.and_then(|file| files.put(number as u32, Descriptor { file, close_on_exec: false }));
            if let Err(error) = put {
                // As good as closed.
                tracing::warn!(number, ?error, "a standard stream cannot be used");
            }
        }
        let shared = Arc::new(Shared::new(config, root));
        let path = normal(program.path.as_bytes());
        let Program { bytes, arguments, environment, .. } = program;
        let start = Start { path, bytes, arguments: &arguments, environment: &environment };
        let loaded = loader::load(&shared, start)?;
        let process = Process::new(Arc::clone(&shared), FIRST_PID, &loaded, files);
        let is_seeded = shared.config.seed.is_some();
        let mut new_engine: Box<dyn FnMut() -> E + Send> = Box::new(move || {
            let mut engine = new_engine();
            if is_seeded {
                engine.repeat_itself();
            }
            engine
        });
        let machine =
            Machine { cpu: loaded.cpu, memory: loaded.memory, engine: new_engine(), kernel: process };
        let slots = vec![Slot { machine, lender: None, lent: false }];
        Ok(System { shared, slots, new_engine, deaths: Vec::new(), instructions: 0 })
    }

    /// Processes that faults ended, in the order they ended, up to some; and the first process when any signal ended it.
    pub fn deaths(&self) -> &[Death] {
        &self.deaths
    }

    /// Instructions that all processes executed.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Runs until the first process ends, `fuel` instructions are executed, or `until` is past. Fuel may be overrun by
    /// a block.
    pub fn run(&mut self, fuel: &mut u64, until: Option<Instant>) -> End {
        loop {
            let mut progress = false;
            let mut index = 0;
            while index < self.slots.len() {
                if *fuel == 0 {
                    return End::OutOfFuel;
                }
                if until.is_some_and(|until| Instant::now() >= until) {
                    return End::OutOfTime;
                }
                match self.turn(index, fuel) {
                    None => {}
                    Some(stop) => {
                        progress = true;
                        if let Some(status) = self.stopped(index, stop) {
                            return End::Ended(status);
                        }
                    }
                }
                index += 1;
            }
            if !progress {
                if !self.wait(until) {
                    return End::Deadlock;
                }
                // Alarms that nobody hears of, on a clock that is set forward, come to an end, too.
                *fuel = fuel.saturating_sub(1);
            }
        }
    }

    /// Gives a process its turn. `None` when all its threads wait.
    fn turn(&mut self, index: usize, fuel: &mut u64) -> Option<Stop> {
        let slot = self.slots.get_mut(index).filter(|slot| !slot.lent)?;
        let machine = &mut slot.machine;
        match machine.kernel.schedule(&mut machine.cpu, &mut machine.memory, true) {
            Err(stop) => return Some(stop),
            Ok(false) => return None,
            Ok(true) => {}
        }
        let granted = TURN.min(*fuel);
        let mut left = granted;
        let outcome = machine.run(&mut left);
        let used = granted - left;
        *fuel -= used;
        self.instructions = self.instructions.saturating_add(used);
        self.shared.executed(used);
        match outcome {
            Outcome::Exit(stop) => Some(stop),
            Outcome::OutOfFuel => Some(Stop::Yield),
        }
    }

    /// Does what a process returned for. Answers how the first process ended, if it did.
    fn stopped(&mut self, index: usize, stop: Stop) -> Option<Status> {
        match stop {
            Stop::Yield => None,
            Stop::Ended => self.ended(index),
            Stop::Fork(fork) => {
                self.fork(index, *fork);
                None
            }
            Stop::Exec(loaded) => {
                self.exec(index, *loaded);
                None
            }
        }
    }

    fn ended(&mut self, index: usize) -> Option<Status> {
        self.give_back(index);
        if index >= self.slots.len() {
            return None;
        }
        let slot = self.slots.remove(index);
        let Machine { memory, kernel, .. } = slot.machine;
        super::calls::flush_all(&kernel.space.shared, &memory);
        let status = kernel.status.unwrap_or(Status::Exited(0));
        if let Some(death) = kernel.death
            && (kernel.pid == FIRST_PID || death.signal.is_fault() && self.deaths.len() < MAX_DEATHS)
        {
            self.deaths.push(death);
        }
        if kernel.pid == FIRST_PID {
            return Some(status);
        }
        let mut table = self.shared.table();
        table.end(kernel.pid, status);
        let parent = table.entries.get(&kernel.pid).map(|entry| entry.parent);
        let ignored = self
            .slots
            .iter()
            .any(|slot| Some(slot.machine.kernel.pid) == parent && slot.machine.kernel.ignores_children());
        if ignored {
            table.entries.remove(&kernel.pid);
        }
        None
    }

    /// Returns memory and engine to the process they were borrowed from.
    fn give_back(&mut self, index: usize) {
        let Some(lender) = self.slots.get_mut(index).and_then(|slot| slot.lender.take()) else { return };
        let Some(from) = self.slots.iter().position(|slot| slot.machine.kernel.pid == lender) else { return };
        if let Ok([lender, borrower]) = self.slots.get_disjoint_mut([from, index]) {
            std::mem::swap(&mut lender.machine.memory, &mut borrower.machine.memory);
            std::mem::swap(&mut lender.machine.engine, &mut borrower.machine.engine);
            lender.lent = false;
        }
    }

    fn fork(&mut self, index: usize, fork: Fork) {
        let engine = (self.new_engine)();
        let Some(slot) = self.slots.get_mut(index) else { return };
        let mut engine = engine;
        let memory = if fork.borrows {
            std::mem::swap(&mut engine, &mut slot.machine.engine);
            slot.lent = true;
            std::mem::replace(&mut slot.machine.memory, Memory::new(0))
        } else {
            match slot.machine.memory.duplicate() {
                Some(memory) => memory,
                None => {
                    slot.machine.cpu.set(reg::V0, Errno::ENOMEM.0);
                    slot.machine.cpu.set(reg::A3, 1);
                    return;
                }
            }
        };
        let parent = &slot.machine.kernel;
        let pid = parent.pid;
        let kernel = parent.child(&fork);
        {
            let mut table = self.shared.table();
            let (group, session) =
                table.entries.get(&pid).map_or((pid, pid), |entry| (entry.group, entry.session));
            let entry = Entry { parent: pid, group, session, status: None, mail: Default::default() };
            table.entries.insert(fork.pid, entry);
        }
        let mut machine = Machine { cpu: fork.cpu, memory, engine, kernel };
        if fork.set_tid != 0 {
            let bytes = super::abi::Layout::new(machine.cpu.endian).u32(fork.pid).bytes;
            // As in the kernel, an address that cannot be written is the program's loss.
            let _ = machine.memory.write_bytes(fork.set_tid, &bytes);
        }
        let lender = fork.borrows.then_some(pid);
        self.slots.push(Slot { machine, lender, lent: false });
    }

    fn exec(&mut self, index: usize, loaded: Loaded) {
        let borrowed = self.slots.get(index).is_some_and(|slot| slot.lender.is_some());
        if let Some(slot) = self.slots.get(index).filter(|_| !borrowed) {
            super::calls::flush_all(&slot.machine.kernel.space.shared, &slot.machine.memory);
        }
        self.give_back(index);
        let engine = (self.new_engine)();
        let Some(slot) = self.slots.get_mut(index) else { return };
        slot.machine.kernel.become_program(&loaded);
        slot.machine.cpu = loaded.cpu;
        slot.machine.memory = loaded.memory;
        slot.machine.engine = engine;
    }

    /// Waits until somebody can go on. Answers `false` when that will never be.
    fn wait(&self, until: Option<Instant>) -> bool {
        let waiting = || self.slots.iter().filter(|slot| !slot.lent).map(|slot| &slot.machine.kernel);
        let deadline = waiting()
            .flat_map(|process| process.waits().map(|wait| wait.deadline).chain([process.due()]))
            .flatten()
            .min();
        let files = waiting().flat_map(Process::waits).flat_map(|wait| &wait.files);
        let files: Vec<_> = files.filter(|(file, _)| !file.inside && file.fd().is_ok()).collect();
        if files.is_empty() && deadline.is_none() {
            return false;
        }
        let mut fds: Vec<PollFd<'_>> = files
            .iter()
            .filter_map(|(file, wanted)| match &file.node {
                Node::Host { fd, .. } => Some(PollFd::from_borrowed_fd(fd.as_fd(), *wanted)),
                _ => None,
            })
            .collect();
        let poll = |fds: &mut [PollFd<'_>], time: Option<Duration>| {
            let time = time.map(|time| Timespec {
                tv_sec: time.as_secs().min(i64::MAX as u64) as i64,
                tv_nsec: time.subsec_nanos().into(),
            });
            // A signal that interrupts it is a reason to look again.
            let ready = rustix::event::poll(fds, time.as_ref()).unwrap_or_default();
            ready != 0 && fds.iter().any(|fd| fd.revents() != PollFlags::empty())
        };
        let limit = until.map(|until| until.saturating_duration_since(Instant::now()));
        if let Some(deadline) = deadline {
            // Files that are ready come before a clock that is set forward.
            if poll(&mut fds, Some(Duration::ZERO)) || self.shared.skip_to(deadline) {
                return true;
            }
            let left = Duration::from_nanos(deadline.saturating_sub(self.shared.monotonic()));
            poll(&mut fds, Some(limit.map_or(left, |limit| limit.min(left))));
        } else {
            poll(&mut fds, limit);
        }
        true
    }
}

impl Process {
    /// The process that comes of a fork.
    fn child(&self, fork: &Fork) -> Process {
        let mut thread = Thread::new(fork.pid, fork.cpu.clone(), Default::default());
        if let Some(parent) = self.thread() {
            thread.mask = parent.mask;
            thread.altstack = parent.altstack;
        }
        thread.clear_tid = fork.clear_tid;
        let mut signals = self.signals.clone();
        signals.pending.clear();
        Process {
            shared: Arc::clone(&self.shared),
            pid: fork.pid,
            program: self.program.clone(),
            threads: vec![thread],
            current: 0,
            files: self.files.clone(),
            cwd: self.cwd.clone(),
            umask: self.umask,
            space: self.space.clone(),
            signals,
            alarm: None,
            alarm_interval: 0,
            timers: Timers::default(),
            name: self.name.clone(),
            status: None,
            death: None,
        }
    }

    /// `execve`: what is left is the files, the folder, what is ignored, and what is blocked.
    fn become_program(&mut self, loaded: &Loaded) {
        let mask = self.thread().map(|thread| thread.mask).unwrap_or_default();
        self.threads = vec![Thread::new(self.pid, Cpu::clone(&loaded.cpu), mask)];
        self.current = 0;
        self.program = loaded.program.clone();
        self.space = loaded.space.clone();
        self.files.close_for_exec();
        self.signals.reset_for_exec();
        self.timers = Timers::default();
        self.name.clear();
    }

    fn ignores_children(&self) -> bool {
        super::calls::ignores_children(self.signals.action(super::abi::sig::CHLD))
    }
}
