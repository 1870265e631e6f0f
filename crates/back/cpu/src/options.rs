//! How to compile, and what came of it.

use std::sync::Arc;
use std::time::Duration;

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
    /// How often a block is interpreted before it is compiled by way of the IR, with those blocks reached from it that ran at
    /// least a fifth as often. 0 compiles everything at once.
    pub threshold: u32,
    /// How often a block is interpreted before it has baseline code: made at once, without the IR, with each register written to
    /// memory when it changes. A run of that code counts a quarter of one in the interpreter towards the threshold. `None` for no
    /// baseline code; there is none either where code reaches memory otherwise than in a window.
    pub baseline: Option<u32>,
    /// About how many instructions are compiled together at most.
    pub max_insts: u32,
    /// How code reaches memory. Where the system refuses a window, there are tables.
    pub access: Access,
    /// Whether code goes on at other code by itself. Without it, every call, return and jump to another region goes through
    /// the engine: slow, and good for finding out what linking is worth.
    pub links: bool,
    /// Whether other threads compile, while the guest goes on as it is. Where fuel ends a run then depends on the time,
    /// within a block. Hosts with a single processor compile in the guest's thread anyway.
    pub background: bool,
}

/// What interpreting a block takes of its counter. Running baseline code takes one.
pub(crate) const INTERPRETED: u32 = 4;

impl Options {
    /// What counters of blocks begin with. They are zero when a block is hot.
    pub(crate) fn runs(&self) -> u32 {
        // Code takes it below zero.
        (i32::MAX as u32).min(self.threshold.saturating_add(1).saturating_mul(INTERPRETED))
    }

    /// What is left of a counter when its block is to have baseline code; 0 for never.
    pub(crate) fn warm(&self) -> u32 {
        let most = self
            .baseline
            .filter(|_| self.access == Access::Window)
            .map(|most| most.saturating_add(1).saturating_mul(INTERPRETED));
        most.map_or(0, |most| self.runs().saturating_sub(most))
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threshold: 1000,
            baseline: Some(24),
            max_insts: 512,
            access: Access::Window,
            links: true,
            background: true,
        }
    }
}

/// What was compiled so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Regions.
    pub regions: u64,
    /// Those of them that other threads compiled.
    pub background: u64,
    /// Regions that were forgotten, because their code changed or the memory for code was full; those of baseline code as well.
    pub forgotten: u64,
    /// Regions that could not be compiled, and are interpreted.
    pub refused: u64,
    /// Bytes of guest code, each time it was compiled.
    pub guest_bytes: u64,
    /// Bytes of the host's code.
    pub host_bytes: u64,
    /// Time to lift and compile.
    pub time: Duration,
    /// Regions of baseline code, which are not counted above.
    pub baseline: u64,
    /// Its bytes of the host's code.
    pub baseline_bytes: u64,
    /// Time to compile it.
    pub baseline_time: Duration,
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
