//! What invocations are in the middle of.

use super::*;

/// What all invocations of a run share.
pub(crate) struct World<'a> {
    pub(crate) bindings: &'a mut Bindings,
    pub(crate) shared: &'a mut Vec<u8>,
    pub(crate) limits: Limits,
    pub(crate) fuel: u64,
    pub(crate) memory: u64,
    pub(crate) stats: Stats,
    pub(crate) trace: Vec<Visit>,
    pub(crate) events: Vec<Event>,
    /// Workgroups in the dispatch.
    pub(crate) groups: [u32; 3],
    /// The workgroup that runs.
    pub(crate) group: [u32; 3],
    /// The guest of functions of stage `cpu`.
    pub(crate) guest: Option<&'a mut dyn Guest>,
    /// Invocations run together: who directs them records the visits.
    pub(crate) together: bool,
    /// Inputs and outputs of invocations that have their own.
    pub(crate) fragments: Option<Fragments<'a>>,
}

/// What fragments that run together have each for itself.
pub(crate) struct Fragments<'a> {
    /// By fragment.
    pub(crate) inputs: &'a [Vec<(Var, Bits)>],
    /// By fragment, all elements of all outputs.
    pub(crate) outputs: Vec<Vec<Bits>>,
}

/// A call in progress.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) func: Func,
    pub(crate) block: Block,
    /// Number of the next instruction in the function's code.
    pub(crate) pc: u32,
    /// Where its registers start.
    pub(super) base: usize,
    /// Where its private memory starts.
    pub(super) private: usize,
    /// Iterations of the loops around the block, outermost first; only kept where invocations run together.
    pub(crate) iterations: Vec<u64>,
}

/// An invocation.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub(crate) frames: Vec<Frame>,
    pub(super) regs: Vec<Bits>,
    pub(super) private: Vec<u8>,
    pub(super) scratch: Vec<Bits>,
    pub(crate) returns: SmallVec<[Bits; 4]>,
    pub(crate) end: Option<End>,
    /// Stands at a barrier.
    pub(crate) waits: bool,
    pub(crate) helper: bool,
    /// Position in the workgroup.
    pub(crate) local: [u32; 3],
    pub(crate) index: u32,
}

impl World<'_> {
    pub(crate) fn burn(&mut self) -> Result<(), Cause> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Cause::Fuel)?;
        self.stats.insts += 1;
        Ok(())
    }

    /// An element of an invocation's output.
    pub(super) fn output(&mut self, invocation: u32, var: Var, index: u32) -> Result<&mut Bits, Cause> {
        let place = self.bindings.place(var, index)?;
        let all = match &mut self.fragments {
            Some(fragments) => fragments.outputs.get_mut(invocation as usize).map(Vec::as_mut_slice),
            None => Some(self.bindings.all_outputs_mut()),
        };
        all.and_then(|all| all.get_mut(place)).ok_or(Cause::Element { var, index })
    }

    pub(crate) fn claim(&mut self, bytes: u64) -> Result<(), Cause> {
        let limit = self.limits.memory;
        let left = limit.checked_sub(self.memory);
        if left.is_none_or(|left| bytes > left) {
            return Err(Cause::Memory { limit });
        }
        self.memory += bytes;
        Ok(())
    }

    pub(crate) fn release(&mut self, bytes: u64) {
        self.memory -= bytes;
    }

    pub(super) fn visit(&mut self, func: Func, block: Block) {
        self.stats.blocks += 1;
        if !self.together {
            self.record(Visit { func, block, subgroup: 0, lanes: 1 });
        }
    }

    pub(crate) fn record(&mut self, visit: Visit) {
        if self.trace.len() < self.limits.trace {
            self.trace.push(visit);
        }
    }

    pub(super) fn event(&mut self, event: Event) -> Result<(), Cause> {
        if self.events.len() >= self.limits.events {
            return Err(Cause::Events { limit: self.limits.events });
        }
        self.events.push(event);
        Ok(())
    }

    /// Gives the workgroup its shared memory, zeroed.
    pub(crate) fn reset_shared(&mut self, size: u32) -> Result<(), Cause> {
        self.release(self.shared.len() as u64);
        self.shared.clear();
        self.claim(u64::from(size))?;
        self.shared.resize(size as usize, 0);
        Ok(())
    }
}

impl Lane {
    pub(crate) fn frame(&mut self) -> &mut Frame {
        // Only called while the invocation runs, and it ends when the last frame goes.
        self.frames.last_mut().unwrap_or_else(|| unreachable!("a running invocation has a frame"))
    }

    pub(super) fn base(&self) -> usize {
        self.frames.last().map_or(0, |f| f.base)
    }

    pub(crate) fn reg(&self, r: u32) -> Bits {
        self.regs[self.base() + r as usize]
    }

    pub(crate) fn set(&mut self, r: u32, value: Bits) {
        let base = self.base();
        self.regs[base + r as usize] = value;
    }

    /// Goes on behind an instruction executed together.
    pub(crate) fn step_over(&mut self) {
        self.frame().pc += 1;
    }

    /// Forgets the last run.
    pub(crate) fn reset(&mut self, local: [u32; 3], index: u32) {
        self.frames.clear();
        self.regs.clear();
        self.private.clear();
        self.returns.clear();
        self.end = None;
        self.waits = false;
        self.helper = false;
        self.local = local;
        self.index = index;
    }
}
