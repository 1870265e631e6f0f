//! What a GPU did and what went wrong.

use crate::command::ListError;
use crate::raster::{Chip, gas};
use crate::regs::{EARLY_DEPTH, Registers};
use crate::renderer::{Detour, OutOfPixels};
use crate::shader::EngineError;
use crate::timing::Cycles;
use crate::transfer::TransferError;
use std::collections::BTreeMap;
use thiserror::Error;

/// Bounds on the work of one call: a hostile command list can jump to itself, draw billions of vertices, run shaders
/// that never end or fill the screen for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Register writes.
    pub writes: u64,
    /// Draws, batches of immediate mode included.
    pub draws: u64,
    /// Vertices of all draws.
    pub vertices: u64,
    /// Instructions of all shader invocations, in the engine's measure. A translation counts as a million.
    pub instructions: u64,
    /// Pixels that the renderer looks at, in its measure: the CPU renderer counts those in the bounds of triangles.
    pub pixels: u64,
}

impl Default for Limits {
    /// Far more than a frame of any title.
    fn default() -> Limits {
        Limits { writes: 1 << 24, draws: 1 << 16, vertices: 1 << 22, instructions: 1 << 30, pixels: 1 << 28 }
    }
}

/// What is left of the limits during a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    left: Limits,
}

fn take(left: &mut u64) -> bool {
    let some = *left != 0;
    *left = left.saturating_sub(1);
    some
}

impl Budget {
    pub fn new(limits: Limits) -> Budget {
        Budget { limits, left: limits }
    }

    pub fn write(&mut self) -> Result<(), Error> {
        if take(&mut self.left.writes) { Ok(()) } else { Err(Error::Writes(self.limits.writes)) }
    }

    pub fn draw(&mut self) -> Result<(), Error> {
        if take(&mut self.left.draws) { Ok(()) } else { Err(Error::Draws(self.limits.draws)) }
    }

    /// As many of `count` vertices as a draw that begins now may have.
    pub fn allowed(&self, count: u32) -> u32 {
        if self.left.draws == 0 { 0 } else { u64::from(count).min(self.left.vertices) as u32 }
    }

    /// As many of `count` vertices as there is room for, and what to say if these are not all.
    pub fn vertices(&mut self, count: u32) -> (u32, Option<Error>) {
        let allowed = u64::from(count).min(self.left.vertices);
        self.left.vertices -= allowed;
        let error = (allowed < count.into()).then_some(Error::Vertices(self.limits.vertices));
        (allowed as u32, error)
    }

    /// Has pixels drawn by `draw`, which takes off what was: how many, and what to say if these are not all.
    pub fn pixels(&mut self, draw: impl FnOnce(&mut u64) -> Result<(), OutOfPixels>) -> (u64, Option<Error>) {
        let before = self.left.pixels;
        let error = draw(&mut self.left.pixels).err().map(|OutOfPixels| Error::Pixels(self.limits.pixels));
        (before.saturating_sub(self.left.pixels), error)
    }

    /// Instructions that may be executed; engines take off what was.
    pub fn fuel(&mut self) -> &mut u64 {
        &mut self.left.instructions
    }

    /// Instructions that were executed.
    pub fn instructions(&self) -> u64 {
        self.limits.instructions.saturating_sub(self.left.instructions)
    }
}

/// What went wrong. The frame goes on without the part that failed.
#[derive(Debug, Error)]
pub enum Error {
    /// A command list.
    #[error(transparent)]
    List(#[from] ListError),
    /// A fill, transfer or copy.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// [`Limits::writes`]: the rest of the list is skipped.
    #[error("more than {0} register writes")]
    Writes(u64),
    /// [`Limits::draws`]: the draw is skipped.
    #[error("more than {0} draws")]
    Draws(u64),
    /// [`Limits::vertices`]: the rest of the draw is skipped.
    #[error("more than {0} vertices")]
    Vertices(u64),
    /// [`Limits::pixels`]: the rest of the draw is skipped.
    #[error("more than {0} pixels")]
    Pixels(u64),
    /// The index array of a draw is not in memory; the draw is skipped.
    #[error("draw: no memory for {count} indices at {address:#010x}")]
    Indices {
        /// Physical address.
        address: u32,
        /// Indices.
        count: u32,
    },
    /// The last engine failed, too; part of the draw is missing.
    #[error("shader: {0}")]
    Shader(#[from] EngineError),
    /// An engine failed and the next one took over; nothing is missing.
    #[error("shader engine {engine} fell back: {error}")]
    Fallback {
        /// The engine's name.
        engine: &'static str,
        /// Why.
        error: EngineError,
    },
    /// A renderer had the CPU renderer draw; nothing is missing.
    #[error("draw on the CPU: {0}")]
    Detour(Detour),
    /// The host's GPU failed; what it drew since the call began is missing.
    #[error("drawn pixels are lost: {0}")]
    Lost(String),
}

/// Messages that are kept.
const KEPT: usize = 64;

/// Draws that asked for what is only done with options of [`Chip`], because it is not documented what the chip does
/// (docs/pica200.md). They are drawn without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Fragment mode 1: drawn as normal fragments.
    pub gas: u64,
    /// Fog mode 7: no fog.
    pub gas_fog: u64,
    /// The early depth test: all fragments pass it.
    pub early_depth: u64,
}

impl Ignored {
    /// Counts a draw.
    pub(crate) fn draw(&mut self, regs: &Registers, chip: Chip) {
        self.gas += u64::from(!chip.gas && gas::accumulates(regs));
        self.gas_fog += u64::from(!chip.gas && gas::is_shown(regs));
        self.early_depth += u64::from(!chip.early_depth && regs.bit(EARLY_DEPTH, 0));
    }

    /// Names and counts of what there was.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [("gas", self.gas), ("gas fog", self.gas_fog), ("early depth test", self.early_depth)]
            .into_iter()
            .filter(|&(_, draws)| draws != 0)
    }
}

/// What an engine did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Batches.
    pub batches: u64,
    /// Vertices and invocations of the geometry unit in them.
    pub invocations: u64,
}

/// What a renderer on the host's GPU moved, and how often it waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of guest memory that went to the device.
    pub uploaded: u64,
    /// Bytes that came back.
    pub downloaded: u64,
    /// Bytes of triangles, lists and parameters of commands, and of uploads that went along with them.
    pub commands: u64,
    /// Command buffers handed to the device.
    pub submissions: u64,
    /// Times that the processor waited for the device.
    pub waits: u64,
}

impl Traffic {
    /// Adds what a later count has.
    pub fn merge(&mut self, later: Traffic) {
        self.uploaded += later.uploaded;
        self.downloaded += later.downloaded;
        self.commands += later.commands;
        self.submissions += later.submissions;
        self.waits += later.waits;
    }
}

/// Counts since the last [`Gpu::take_report`](crate::gpu::Gpu::take_report).
#[derive(Debug, Default)]
pub struct Report {
    /// Register writes, of lists and single ones.
    pub writes: u64,
    /// Draws, batches of immediate mode included.
    pub draws: u64,
    /// Vertices that were shaded.
    pub vertices: u64,
    /// Invocations of the geometry unit.
    pub invocations: u64,
    /// Triangles handed to the renderer.
    pub triangles: u64,
    /// Instructions of all shader invocations, as [`Limits::instructions`] counts them.
    pub instructions: u64,
    /// Pixels that the renderer looked at, in the measure of [`Limits::pixels`].
    pub pixels: u64,
    /// What the chip would have taken, by estimate.
    pub cycles: Cycles,
    /// Draws that use features which are not emulated.
    pub ignored: Ignored,
    /// What each engine did, by its name.
    pub engines: BTreeMap<&'static str, Share>,
    /// Batches that a slower engine did because a faster one was still translating the program.
    pub deferred: u64,
    /// Batches that an engine could not do and the next one did.
    pub fallbacks: u64,
    /// Draws that a renderer had the CPU renderer draw.
    pub detours: u64,
    /// What a renderer on the host's GPU moved.
    pub traffic: Traffic,
    /// Errors after which something is missing.
    pub errors: u64,
    /// The first errors, fall-backs and detours.
    pub messages: Vec<Error>,
}

impl Report {
    /// Adds what a later report has.
    pub fn merge(&mut self, later: Report) {
        self.writes += later.writes;
        self.draws += later.draws;
        self.vertices += later.vertices;
        self.invocations += later.invocations;
        self.triangles += later.triangles;
        self.instructions += later.instructions;
        self.pixels += later.pixels;
        self.cycles.merge(later.cycles);
        for (engine, share) in later.engines {
            let sum = self.engines.entry(engine).or_default();
            sum.batches += share.batches;
            sum.invocations += share.invocations;
        }
        self.ignored.gas += later.ignored.gas;
        self.ignored.gas_fog += later.ignored.gas_fog;
        self.ignored.early_depth += later.ignored.early_depth;
        self.deferred += later.deferred;
        self.fallbacks += later.fallbacks;
        self.detours += later.detours;
        self.traffic.merge(later.traffic);
        self.errors += later.errors;
        let room = KEPT.saturating_sub(self.messages.len());
        self.messages.extend(later.messages.into_iter().take(room));
    }

    /// Counts a batch.
    pub(crate) fn serve(&mut self, engine: &'static str, invocations: u64) {
        let share = self.engines.entry(engine).or_default();
        share.batches += 1;
        share.invocations += invocations;
    }

    /// Counts and keeps an error.
    pub fn add(&mut self, error: Error) {
        match error {
            Error::Fallback { .. } => self.fallbacks += 1,
            Error::Detour(_) => self.detours += 1,
            _ => self.errors += 1,
        }
        if self.messages.len() < KEPT {
            self.messages.push(error);
        }
    }
}
