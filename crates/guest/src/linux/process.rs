//! A process: threads that take turns, what they share, and the kernel's answers to them.
//!
//! Threads are not the host's: one runs at a time, until it waits or its turn is over, so a run with a seed is the same
//! every time. A call that has to wait is asked again, with the registers it was made with, when its thread has the next
//! turn.

use super::abi::{DefaultAction, Errno, Set, Signal, flags, sig};
use super::calls::{self, Answer, Reply, Wait};
use super::frame::{self, Delivery};
use super::fs::Files;
use super::shared::Shared;
use super::signals::{AltStack, DEFAULT, IGNORE, Info, Pending, Signals};
use super::timers::Timers;
use super::{Death, Status, backtrace::Symbols};
use crate::cpu::{Cpu, reg};
use crate::engine::{Cause, Exception};
use crate::machine::{Action, Kernel};
use crate::memory::Memory;
use std::sync::Arc;

/// Threads of a process.
pub(super) const MAX_THREADS: usize = 1024;

/// A call that waits.
#[derive(Debug)]
pub(super) struct Blocked {
    pub wait: Wait,
    /// Somebody woke it: the futex it waits for.
    pub woken: bool,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub tid: u32,
    /// The processor while another thread has it.
    pub cpu: Cpu,
    pub mask: Set,
    /// The mask to come back to when a call has set one while it waits.
    pub saved_mask: Option<Set>,
    pub pending: Pending,
    pub altstack: AltStack,
    /// A word to clear, and futex to wake, at the end.
    pub clear_tid: u32,
    pub blocked: Option<Blocked>,
}

impl Thread {
    pub fn new(tid: u32, cpu: Cpu, mask: Set) -> Thread {
        Thread {
            tid,
            cpu,
            mask,
            saved_mask: None,
            pending: Pending::default(),
            altstack: AltStack::default(),
            clear_tid: 0,
            blocked: None,
        }
    }
}

/// A part of memory whose contents go to a file.
#[derive(Clone, Debug)]
pub(super) struct SharedArea {
    pub address: u32,
    pub length: u32,
    pub file: super::fs::File,
    pub offset: u64,
}

/// The address space, besides what is mapped.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    /// Where the heap begins and ends.
    pub heap: u32,
    pub end: u32,
    /// Where new mappings are looked for, from here downwards.
    pub top: u32,
    /// Readable pages are executable: the program does not say otherwise.
    pub executable: bool,
    pub shared: Vec<SharedArea>,
}

/// The program that runs.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Path in the guest.
    pub path: Vec<u8>,
    pub bytes: Arc<[u8]>,
    pub arguments: Vec<Vec<u8>>,
    pub symbols: Arc<Symbols>,
}

/// Why a process returns to the system.
#[derive(Debug)]
pub enum Stop {
    /// It is over.
    Ended,
    /// Its turn is over: every thread waits, or it gives way.
    Yield,
    /// It becomes two.
    Fork(Box<super::calls::process::Fork>),
    /// It becomes another program.
    Exec(Box<super::loader::Loaded>),
}

/// A process of Linux.
#[derive(Debug)]
pub struct Process {
    pub(super) shared: Arc<Shared>,
    pub(super) pid: u32,
    pub(super) program: Program,
    pub(super) threads: Vec<Thread>,
    pub(super) current: usize,
    pub(super) files: Files,
    pub(super) cwd: Vec<u8>,
    pub(super) umask: u32,
    pub(super) space: Space,
    pub(super) signals: Signals,
    /// Time of SIGALRM, and what follows it, in nanoseconds.
    pub(super) alarm: Option<u64>,
    pub(super) alarm_interval: u64,
    pub(super) timers: Timers,
    /// Name given by `prctl`.
    pub(super) name: Vec<u8>,
    pub(super) status: Option<Status>,
    pub(super) death: Option<Death>,
}

impl Process {
    pub(super) fn new(
        shared: Arc<Shared>,
        pid: u32,
        loaded: &super::loader::Loaded,
        files: Files,
    ) -> Process {
        Process {
            shared,
            pid,
            program: loaded.program.clone(),
            threads: vec![Thread::new(pid, loaded.cpu.clone(), Set::default())],
            current: 0,
            files,
            cwd: b"/".to_vec(),
            umask: 0o022,
            space: loaded.space.clone(),
            signals: Signals::new(),
            alarm: None,
            alarm_interval: 0,
            timers: Timers::default(),
            name: Vec::new(),
            status: None,
            death: None,
        }
    }

    pub(super) fn thread(&self) -> Option<&Thread> {
        self.threads.get(self.current)
    }

    pub(super) fn thread_mut(&mut self) -> Option<&mut Thread> {
        self.threads.get_mut(self.current)
    }

    pub(super) fn tid(&self) -> u32 {
        self.thread().map_or(self.pid, |thread| thread.tid)
    }

    /// The process is over, without a last word.
    pub(super) fn end(&mut self, status: Status) -> Stop {
        self.status = Some(status);
        Stop::Ended
    }

    /// The process dies of a signal.
    fn die(&mut self, info: &Info, cpu: &Cpu, memory: &Memory) -> Stop {
        self.death = Some(Death::new(self, info, cpu, memory));
        self.end(Status::Killed(info.signal))
    }

    /// Takes the signals that others sent, and those of alarms and timers when it is time.
    fn collect(&mut self) {
        if let Some(entry) = self.shared.table().entries.get_mut(&self.pid) {
            entry.mail.drain(..).for_each(|info| self.signals.pending.push(info));
        }
        if let Some(time) = self.alarm {
            let now = self.shared.monotonic();
            if now >= time {
                self.signals.pending.push(Info::sent(sig::ALRM, super::abi::code::KERNEL, 0, 0));
                self.alarm = (self.alarm_interval != 0).then(|| now.saturating_add(self.alarm_interval));
            }
        }
        self.expire_timers();
    }

    /// Sends the signals of timers that have expired.
    fn expire_timers(&mut self) {
        let now = self.shared.monotonic();
        if self.timers.next().is_none_or(|time| time > now) {
            return;
        }
        let Process { timers, signals, threads, .. } = self;
        let waits = |timer| {
            signals.pending.has_timer(timer) || threads.iter().any(|thread| thread.pending.has_timer(timer))
        };
        for (tid, info) in timers.expire(now, waits) {
            match tid.and_then(|tid| threads.iter_mut().find(|thread| thread.tid == tid)) {
                Some(thread) => thread.pending.push(info),
                None => signals.pending.push(info),
            }
        }
    }

    /// When an alarm or a timer is due.
    pub(super) fn due(&self) -> Option<u64> {
        [self.alarm, self.timers.next()].into_iter().flatten().min()
    }

    /// Whether a signal would have an effect on a thread that does not block it.
    fn matters(&self, signal: Signal) -> bool {
        match self.signals.action(signal).handler {
            IGNORE => false,
            DEFAULT => signal.default_action() == DefaultAction::Terminate,
            _ => true,
        }
    }

    /// The signals a thread would take now.
    fn deliverable(&self, thread: &Thread) -> Set {
        let pending = thread.pending.set().with(self.signals.pending.set());
        pending.without(thread.mask)
    }

    /// Whether a signal interrupts what the current thread waits for.
    fn interrupted(&self) -> Option<Signal> {
        let set = self.deliverable(self.thread()?);
        (1..=Signal::MAX).map(Signal).find(|&signal| set.has(signal) && self.matters(signal))
    }

    /// Takes signals until a handler starts or none is left.
    fn deliver(&mut self, cpu: &mut Cpu, memory: &mut Memory) -> Option<Stop> {
        loop {
            let wanted = self.deliverable(self.thread()?);
            if wanted == Set::default() {
                return None;
            }
            let from_thread = self.thread_mut()?.pending.take(wanted);
            let info = match from_thread {
                Some(info) => info,
                None => self.signals.pending.take(wanted)?,
            };
            let action = self.signals.action(info.signal);
            match action.handler {
                IGNORE => {}
                DEFAULT => {
                    if info.signal.default_action() == DefaultAction::Terminate {
                        return Some(self.die(&info, cpu, memory));
                    }
                }
                _ => {
                    if let Some(stop) = self.handle(&info, action, cpu, memory) {
                        return Some(stop);
                    }
                }
            }
        }
    }

    /// Starts a handler.
    fn handle(
        &mut self,
        info: &Info,
        action: super::signals::Action,
        cpu: &mut Cpu,
        memory: &mut Memory,
    ) -> Option<Stop> {
        let trampoline = super::loader::TRAMPOLINE_PAGE;
        let thread = self.thread_mut()?;
        let mask = thread.saved_mask.take().unwrap_or(thread.mask);
        let delivery = Delivery { info: *info, action, mask, altstack: thread.altstack, trampoline };
        if frame::enter(cpu, memory, &delivery).is_err() {
            // No room for the frame: as on Linux, the program dies unless another stack is there for SIGSEGV.
            let info = Info { signal: sig::SEGV, code: super::abi::code::KERNEL, ..*info };
            let segv = self.signals.action(sig::SEGV);
            let other = delivery.info.signal != sig::SEGV && segv.flags & flags::SA_ONSTACK != 0;
            if !other || segv.handler <= IGNORE {
                return Some(self.die(&info, cpu, memory));
            }
            return self.handle(&info, segv, cpu, memory);
        }
        let mut blocked = thread.mask.with(action.mask);
        if action.flags & flags::SA_NODEFER == 0 {
            blocked = blocked.with(Set::of(info.signal));
        }
        thread.mask = blocked.blockable();
        if action.flags & flags::SA_RESETHAND != 0 {
            self.signals.set_action(info.signal, super::signals::Action::default());
        }
        None
    }

    /// A signal that the thread cannot put off.
    fn force(&mut self, info: Info, cpu: &mut Cpu, memory: &mut Memory) -> Option<Stop> {
        let action = self.signals.action(info.signal);
        let masked = self.thread().is_some_and(|thread| thread.mask.has(info.signal));
        if action.handler <= IGNORE || masked {
            return Some(self.die(&info, cpu, memory));
        }
        self.handle(&info, action, cpu, memory)
    }

    /// Answers the call in the registers.
    fn call(&mut self, cpu: &mut Cpu, memory: &mut Memory) -> Option<Stop> {
        let interrupted =
            self.thread().is_some_and(|thread| thread.blocked.is_some()).then(|| self.interrupted());
        let interrupted = interrupted.flatten();
        let reply = calls::dispatch(self, cpu, memory, interrupted.is_some());
        let stop = self.finish(reply, interrupted, cpu);
        if stop.is_some() {
            return stop;
        }
        if let Some(stop) = self.deliver(cpu, memory) {
            return Some(stop);
        }
        // The call set a mask for its time, and no handler came between.
        let thread = self.thread_mut()?;
        if let Some(mask) = thread.saved_mask.take() {
            thread.mask = mask;
        }
        None
    }

    fn finish(&mut self, reply: Reply, interrupted: Option<Signal>, cpu: &mut Cpu) -> Option<Stop> {
        let mut answer = |value, failed| {
            cpu.set(reg::V0, value);
            cpu.set(reg::A3, u32::from(failed));
        };
        let thread = self.thread_mut();
        match reply {
            Ok(Answer::Wait(wait)) => {
                match interrupted {
                    None => {
                        let thread = thread?;
                        let woken = thread.blocked.as_ref().is_some_and(|blocked| blocked.woken);
                        thread.blocked = Some(Blocked { wait, woken });
                        return Some(Stop::Yield);
                    }
                    Some(signal) => {
                        let restart = wait.restarts;
                        thread?.blocked = None;
                        if restart && self.signals.action(signal).flags & flags::SA_RESTART != 0 {
                            // The registers are those of the call still.
                            cpu.pc = cpu.pc.wrapping_sub(4);
                        } else {
                            answer(Errno::EINTR.0, true);
                        }
                        return None;
                    }
                }
            }
            Ok(Answer::Value(value)) => answer(value, false),
            Ok(Answer::Pair(first, second)) => {
                answer(first, false);
                cpu.set(reg::V1, second);
            }
            Ok(Answer::Untouched) => {}
            // The current thread may be another one by now, which waits; no call that stops has waited.
            Ok(Answer::Stop(stop)) => return Some(stop),
            Err(errno) => answer(errno.0, true),
        }
        if let Some(thread) = self.thread_mut() {
            thread.blocked = None;
        }
        None
    }

    /// Gives a thread that can go on the processor: the next one when `turn` says so. `Err` when the process is over or
    /// has something for the system; `Ok(false)` when all threads wait.
    pub(super) fn schedule(&mut self, cpu: &mut Cpu, memory: &mut Memory, turn: bool) -> Result<bool, Stop> {
        self.collect();
        let count = self.threads.len();
        let first = self.current + usize::from(turn);
        for step in 0..count {
            let next = (first + step) % count.max(1);
            self.switch(next, cpu);
            let waits = self.thread().is_some_and(|thread| thread.blocked.is_some());
            if waits {
                match self.call(cpu, memory) {
                    None => return Ok(true),
                    Some(Stop::Yield) => {}
                    Some(stop) => return Err(stop),
                }
            } else {
                return self.deliver(cpu, memory).map_or(Ok(true), Err);
            }
        }
        Ok(false)
    }

    /// Gives the processor to the thread of an index.
    fn switch(&mut self, next: usize, cpu: &mut Cpu) {
        if next == self.current {
            return;
        }
        if let Some(thread) = self.threads.get_mut(self.current) {
            thread.cpu = cpu.clone();
        }
        if let Some(thread) = self.threads.get(next) {
            *cpu = thread.cpu.clone();
            cpu.link.valid = false;
            self.current = next;
        }
    }

    /// Takes the current thread away; another one has the processor then, if there is one.
    pub(super) fn remove_thread(&mut self, cpu: &mut Cpu) {
        if self.current < self.threads.len() {
            self.threads.remove(self.current);
        }
        self.current = if self.threads.is_empty() { 0 } else { self.current % self.threads.len() };
        if let Some(thread) = self.threads.get(self.current) {
            *cpu = thread.cpu.clone();
        }
    }

    /// The calls that wait.
    pub(super) fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.threads.iter().filter_map(|thread| thread.blocked.as_ref()).map(|blocked| &blocked.wait)
    }
}

impl Kernel for Process {
    type Exit = Stop;

    fn syscall(&mut self, cpu: &mut Cpu, memory: &mut Memory) -> Action<Stop> {
        self.call(cpu, memory).map_or(Action::Continue, Action::Stop)
    }

    fn exception(&mut self, cpu: &mut Cpu, memory: &mut Memory, exception: &Exception) -> Action<Stop> {
        let info = frame::of_exception(exception, cpu.fcsr, self.shared.config.break_codes);
        if exception.cause == Cause::Float {
            // As the kernel does: the causes that are enabled go, so that the context does not raise them again.
            let enabled = cpu.fcsr >> 7 & 0x1f | 0x20;
            cpu.fcsr &= !(enabled << 12);
        }
        self.force(info, cpu, memory).map_or(Action::Continue, Action::Stop)
    }

    fn looks_at_registers(&self) -> bool {
        self.signals.handles_faults()
    }
}
