//! What the processes of a guest have in common: the table of processes, the clock, random numbers, files.

use super::abi::sig;
use super::fs::resolve::Root;
use super::signals::{Fields, Info};
use super::{Config, Status};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of the first process.
pub(super) const FIRST_PID: u32 = 100;
/// Signals on their way to a process.
const MAX_MAIL: usize = 1024;

/// What others know of a process.
#[derive(Debug)]
pub(super) struct Entry {
    pub parent: u32,
    pub group: u32,
    pub session: u32,
    /// How it ended; it waits to be asked for then.
    pub status: Option<Status>,
    /// Signals that others sent it.
    pub mail: VecDeque<Info>,
}

/// The table of processes.
#[derive(Debug)]
pub(super) struct Table {
    next: u32,
    pub entries: BTreeMap<u32, Entry>,
}

impl Table {
    /// A number for a new process or thread.
    pub fn number(&mut self) -> u32 {
        loop {
            let number = self.next;
            self.next = if number >= i32::MAX as u32 { FIRST_PID } else { number + 1 };
            if !self.entries.contains_key(&number) {
                return number;
            }
        }
    }

    /// Processes that have not ended.
    pub fn running(&self) -> usize {
        self.entries.values().filter(|entry| entry.status.is_none()).count()
    }

    pub fn send(&mut self, pid: u32, info: Info) -> bool {
        let Some(entry) = self.entries.get_mut(&pid) else { return false };
        if entry.status.is_none() && entry.mail.len() < MAX_MAIL {
            entry.mail.push_back(info);
        }
        true
    }

    /// Notes the end of a process and tells its parent. `forget`: the parent does not want to know.
    pub fn end(&mut self, pid: u32, status: Status) {
        let Some(entry) = self.entries.get_mut(&pid) else { return };
        entry.status = Some(status);
        let parent = entry.parent;
        // Orphans are nobody's.
        for child in self.entries.values_mut().filter(|entry| entry.parent == pid) {
            child.parent = 1;
        }
        self.entries.retain(|_, entry| entry.parent != 1 || entry.status.is_none());
        let (code, status) = match status {
            Status::Exited(code) => (super::abi::code::CLD_EXITED, code),
            Status::Killed(signal) => (super::abi::code::CLD_KILLED, signal.0),
        };
        self.send(parent, Info { signal: sig::CHLD, code, fields: Fields::Child { pid, status } });
    }
}

/// The clock of a guest: the host's, or one that runs with the instructions executed.
#[derive(Debug)]
enum Clock {
    Host,
    Instructions { nanos: u64 },
}

/// What the processes of a guest have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub config: Config,
    pub root: Root,
    table: Mutex<Table>,
    clock: Mutex<Clock>,
    random: Mutex<u64>,
    unknown: Mutex<HashSet<u32>>,
}

/// Where the clock of instructions starts: 2024-01-01.
const EPOCH: u64 = 1_704_067_200_000_000_000;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn host_clock(id: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(id);
    (time.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.max(0) as u64)
}

impl Shared {
    pub fn new(config: Config, root: Root) -> Shared {
        let first =
            Entry { parent: 1, group: FIRST_PID, session: FIRST_PID, status: None, mail: VecDeque::new() };
        let clock = if config.seed.is_some() { Clock::Instructions { nanos: 0 } } else { Clock::Host };
        let seed = config.seed.unwrap_or_else(|| {
            use std::hash::{BuildHasher, RandomState};
            RandomState::new().hash_one(host_clock(rustix::time::ClockId::Monotonic))
        });
        Shared {
            config,
            root,
            table: Mutex::new(Table { next: FIRST_PID + 1, entries: BTreeMap::from([(FIRST_PID, first)]) }),
            clock: Mutex::new(clock),
            random: Mutex::new(seed),
            unknown: Mutex::default(),
        }
    }

    pub fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    /// Nanoseconds since some time in the past, which never go back.
    pub fn monotonic(&self) -> u64 {
        match &mut *lock(&self.clock) {
            Clock::Host => host_clock(rustix::time::ClockId::Monotonic),
            Clock::Instructions { nanos } => {
                // A program that waits for the clock to go on shall see that.
                *nanos = nanos.saturating_add(100);
                *nanos
            }
        }
    }

    /// Nanoseconds since 1970.
    pub fn realtime(&self) -> u64 {
        let host = matches!(&*lock(&self.clock), Clock::Host);
        if host {
            host_clock(rustix::time::ClockId::Realtime)
        } else {
            EPOCH.saturating_add(self.monotonic())
        }
    }

    /// Counts instructions that were executed, at a thousand million a second.
    pub fn executed(&self, instructions: u64) {
        if let Clock::Instructions { nanos } = &mut *lock(&self.clock) {
            *nanos = nanos.saturating_add(instructions);
        }
    }

    /// With the clock of instructions, nothing is waited for: the clock is set to the time. Answers whether it was.
    pub fn skip_to(&self, monotonic: u64) -> bool {
        match &mut *lock(&self.clock) {
            Clock::Host => false,
            Clock::Instructions { nanos } => {
                *nanos = monotonic.max(*nanos);
                true
            }
        }
    }

    /// Random bytes: the host's, or those of the seed.
    pub fn random(&self, out: &mut [u8]) {
        if self.config.seed.is_none()
            && rustix::rand::getrandom(&mut *out, rustix::rand::GetRandomFlags::empty()) == Ok(out.len())
        {
            return;
        }
        let mut state = lock(&self.random);
        for chunk in out.chunks_mut(8) {
            // SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = *state;
            x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            let bytes = (x ^ x >> 31).to_le_bytes();
            chunk.copy_from_slice(bytes.get(..chunk.len()).unwrap_or_default());
        }
    }

    /// Whether this is the first time that the call is asked for.
    pub fn first_time(&self, number: u32) -> bool {
        let mut unknown = lock(&self.unknown);
        // A guest that tries every number fills no memory.
        unknown.len() < 1024 && unknown.insert(number)
    }
}
