//! What a process and its threads know of signals.

use super::abi::{Layout, Set, Signal, sig};
use std::collections::VecDeque;
use xenoglot_mips::Endian;

/// Signals that wait for a thread or process; more are dropped, as on Linux when the queue is full.
const MAX_PENDING: usize = 1024;

/// What came with a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    /// The address that a fault is about.
    Fault { address: u32 },
    /// Who sent it, and the value that came with it.
    Sender { pid: u32, value: u32 },
    /// The timer that expired, how often it did besides, and the value that it was made with.
    Timer { number: u32, overrun: u32, value: u32 },
    /// The child whose state changed, and its exit code or signal.
    Child { pid: u32, status: u32 },
}

/// A signal that was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Info {
    pub signal: Signal,
    pub code: i32,
    pub fields: Fields,
}

impl Info {
    /// One that a process sent.
    pub fn sent(signal: Signal, code: i32, pid: u32, value: u32) -> Info {
        Info { signal, code, fields: Fields::Sender { pid, value } }
    }

    /// `siginfo_t` of MIPS: the code comes before the error number, which is not so elsewhere. 128 bytes.
    pub fn layout(&self, endian: Endian) -> Vec<u8> {
        let layout = Layout::new(endian).words([self.signal.0, self.code as u32, 0]);
        let layout = match self.fields {
            Fields::Fault { address } => layout.u32(address),
            Fields::Sender { pid, value } => layout.words([pid, 0, value]),
            Fields::Timer { number, overrun, value } => layout.words([number, overrun, value]),
            Fields::Child { pid, status } => layout.words([pid, 0, status, 0, 0]),
        };
        layout.pad_to(128).bytes
    }
}

/// `SIG_DFL`.
pub(super) const DEFAULT: u32 = 0;
/// `SIG_IGN`.
pub(super) const IGNORE: u32 = 1;

/// What a process does about a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Action {
    pub flags: u32,
    /// [`DEFAULT`], [`IGNORE`] or an address.
    pub handler: u32,
    pub mask: Set,
}

/// The actions of a process, and the signals that any of its threads may take.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    actions: Vec<Action>,
    pub pending: Pending,
}

impl Signals {
    pub fn new() -> Signals {
        Signals { actions: vec![Action::default(); Signal::MAX as usize], pending: Pending::default() }
    }

    pub fn action(&self, signal: Signal) -> Action {
        self.actions.get(signal.0.wrapping_sub(1) as usize).copied().unwrap_or_default()
    }

    pub fn set_action(&mut self, signal: Signal, action: Action) {
        if let Some(place) = self.actions.get_mut(signal.0.wrapping_sub(1) as usize) {
            *place = action;
        }
    }

    /// Whether the program has a handler for a signal that an instruction raises.
    pub fn handles_faults(&self) -> bool {
        let raised = [sig::ILL, sig::TRAP, sig::BUS, sig::FPE, sig::SEGV];
        raised.into_iter().any(|signal| self.action(signal).handler > IGNORE)
    }

    /// Handlers are gone with the program that had them; what is ignored stays ignored.
    pub fn reset_for_exec(&mut self) {
        for action in &mut self.actions {
            let handler = if action.handler == IGNORE { IGNORE } else { DEFAULT };
            *action = Action { handler, ..Action::default() };
        }
    }
}

/// Signals that wait to be taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    queue: VecDeque<Info>,
}

impl Pending {
    /// Adds a signal; of those that are not for real time, one at a time waits.
    pub fn push(&mut self, info: Info) {
        let queued = info.signal.0 < 32 && self.queue.iter().any(|other| other.signal == info.signal);
        if !queued && self.queue.len() < MAX_PENDING {
            self.queue.push_back(info);
        }
    }

    pub fn set(&self) -> Set {
        self.queue.iter().fold(Set::default(), |set, info| set.with(Set::of(info.signal)))
    }

    /// Takes the signal of the lowest number among `wanted`.
    pub fn take(&mut self, wanted: Set) -> Option<Info> {
        let least = self.queue.iter().map(|info| info.signal).filter(|&signal| wanted.has(signal)).min()?;
        let at = self.queue.iter().position(|info| info.signal == least)?;
        self.queue.remove(at)
    }

    /// Whether a signal of a timer waits.
    pub fn has_timer(&self, timer: u32) -> bool {
        let is_its = |info: &Info| matches!(info.fields, Fields::Timer { number, .. } if number == timer);
        self.queue.iter().any(is_its)
    }

    pub fn clear(&mut self) {
        self.queue.clear();
    }
}

/// The stack that handlers may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct AltStack {
    pub address: u32,
    pub size: u32,
}

impl AltStack {
    /// Whether a stack pointer is on it.
    pub fn holds(&self, sp: u32) -> bool {
        self.size != 0 && sp.wrapping_sub(self.address) < self.size
    }
}
