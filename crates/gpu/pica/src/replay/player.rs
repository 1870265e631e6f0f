//! Captures being played.

use super::op::{MACHINE, OpError, Operation, Shown, Unmapped};
use crate::gpu::Gpu;
use crate::lcd::{FrameError, Image};
use crate::memory::{Memory, Regions};
use crate::renderer::Renderer;
use crate::report::{self, Report};
use crate::shader::Engines;
use thiserror::Error;
use xenoglot_capture::{Capture, Op};

/// Bounds on what a capture may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of main memory. Video memory has its 6 MiB.
    pub fcram: u32,
    /// Pixels in a row, and rows, of a shown frame.
    pub side: u32,
    /// Operations of a frame.
    pub operations: u64,
    /// Bytes that fills, transfers, copies and memory writes of a frame touch.
    pub bytes: u64,
    /// Work of all calls of a frame.
    pub gpu: report::Limits,
}

impl Default for Limits {
    /// The console's memory, and more work than a frame of any title has.
    fn default() -> Limits {
        Limits {
            fcram: 128 << 20,
            side: 2048,
            operations: 1 << 20,
            bytes: 1 << 30,
            gpu: report::Limits::default(),
        }
    }
}

/// Why a capture is not played any further.
#[derive(Debug, Error)]
pub enum Error {
    /// A capture of another machine.
    #[error("a capture of machine {:?}, not PICA", .0.escape_ascii().to_string())]
    Machine([u8; 4]),
    /// Initial memory that the machine has not.
    #[error("memory block {block}: {bytes} bytes at {address:#010x} are not all memory")]
    Block {
        /// Number of the block, from 0.
        block: usize,
        /// Physical address.
        address: u32,
        /// Its length.
        bytes: usize,
    },
    /// An initial register that there is not.
    #[error("initial register {0:#x}: there is no such register")]
    Register(u32),
    /// An operation that is none.
    #[error("operation {op} at byte {offset:#x}: {error}")]
    Operation {
        /// Number of the operation, from 0.
        op: u64,
        /// Where it starts in the stream of operations.
        offset: u64,
        /// What is wrong.
        error: OpError,
    },
    /// A memory write or a shown frame outside memory.
    #[error("operation {op}: {bytes} bytes at {address:#010x} are not all memory")]
    Unmapped {
        /// Number of the operation, from 0.
        op: u64,
        /// Physical address.
        address: u32,
        /// Bytes from there on.
        bytes: u64,
    },
    /// A shown frame of a format that there is not, or larger than allowed.
    #[error("operation {op}: a frame of {width}x{height} pixels in format {format} cannot be shown")]
    Shown {
        /// Number of the operation, from 0.
        op: u64,
        /// Pixels of a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Number of the format.
        format: u32,
    },
    /// More work in a frame than [`Limits`] allows.
    #[error("operation {op}: more {what} in a frame than the limit of {limit}")]
    Limit {
        /// Number of the operation, from 0.
        op: u64,
        /// Of what there is too much.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

/// A GPU with its memory and the operations still to play.
pub struct Player<'c, R> {
    gpu: Gpu<R>,
    memory: Regions,
    ops: Box<dyn Iterator<Item = Op<'c>> + 'c>,
    /// Number of the next operation and where it starts; nothing after an error.
    next: Option<(u64, u64)>,
    limits: Limits,
    spent: Spent,
    report: Report,
}

/// Work of the frame so far.
#[derive(Default)]
struct Spent {
    operations: u64,
    bytes: u64,
    gpu: Report,
}

/// Bytes of an operation before its payload.
const OP_HEAD: u64 = 8;

impl<'c, R: Renderer> Player<'c, R> {
    /// A player at the start of a capture that shades with the engines that need no compiler.
    ///
    /// # Errors
    /// Another machine, and memory or registers that it has not.
    pub fn new(capture: &'c Capture, renderer: R, limits: Limits) -> Result<Player<'c, R>, Error> {
        Player::with_engines(capture, renderer, Engines::default(), limits)
    }

    /// The same with other engines.
    ///
    /// # Errors
    /// As [`Player::new`].
    pub fn with_engines(
        capture: &'c Capture,
        renderer: R,
        engines: Engines,
        limits: Limits,
    ) -> Result<Player<'c, R>, Error> {
        if capture.machine != MACHINE {
            return Err(Error::Machine(capture.machine));
        }
        let mut memory = Regions::console(limits.fcram);
        memory.set_tracked(true);
        for (block, content) in capture.memory.iter().enumerate() {
            let (address, bytes) = (content.address, content.bytes.len());
            write(&mut memory, address, &content.bytes).ok_or(Error::Block { block, address, bytes })?;
        }
        let mut gpu = Gpu::with_engines(renderer, engines);
        for &(register, value) in &capture.registers {
            if register as usize >= crate::regs::COUNT {
                return Err(Error::Register(register));
            }
            gpu.registers_mut().set(register, value);
        }
        Ok(Player {
            gpu,
            memory,
            ops: Box::new(capture.ops.iter()),
            next: Some((0, 0)),
            limits,
            spent: Spent::default(),
            report: Report::default(),
        })
    }

    /// Plays to the end of the next frame and gives what it shows, with the renderer's resolution; nothing at the end of the capture, where operations
    /// after the last frame have been played, too, and after an error.
    pub fn next_frame(&mut self) -> Option<Result<Image, Error>> {
        loop {
            let (number, offset) = self.next?;
            let op = self.ops.next()?;
            self.next = Some((number + 1, offset + OP_HEAD + op.payload.len() as u64));
            let operation = Operation::decode(&op);
            let played = operation
                .map_err(|error| Error::Operation { op: number, offset, error })
                .and_then(|operation| self.play(number, &operation));
            match played {
                Ok(None) => {}
                Ok(Some(image)) => {
                    self.spent = Spent::default();
                    return Some(Ok(image));
                }
                Err(error) => {
                    self.next = None;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Does an operation; gives the frame if the operation ends one.
    fn play(&mut self, number: u64, operation: &Operation) -> Result<Option<Image>, Error> {
        self.spent.operations += 1;
        self.spent.bytes = self.spent.bytes.saturating_add(operation.bytes());
        self.check(number)?;
        if let Operation::Frame(shown) = *operation {
            return self.show(number, shown).map(Some);
        }
        self.gpu.set_limits(left(&self.limits.gpu, &self.spent.gpu));
        let done = operation.run(&mut self.gpu, &mut self.memory);
        done.map_err(|Unmapped { address, bytes }| Error::Unmapped { op: number, address, bytes })?;
        let report = self.gpu.take_report();
        self.spent.gpu.writes += report.writes;
        self.spent.gpu.draws += report.draws;
        self.spent.gpu.vertices += report.vertices;
        self.spent.gpu.instructions += report.instructions;
        self.spent.gpu.pixels += report.pixels;
        self.report.merge(report);
        self.check(number)?;
        Ok(None)
    }

    /// Whether the frame is within its limits so far. The GPU stops at its own.
    fn check(&self, op: u64) -> Result<(), Error> {
        let Spent { operations, bytes, gpu } = &self.spent;
        let bounds = [
            ("operations", *operations, self.limits.operations.saturating_add(1)),
            ("bytes of memory touched", *bytes, self.limits.bytes.saturating_add(1)),
            ("register writes", gpu.writes, self.limits.gpu.writes),
            ("draws", gpu.draws, self.limits.gpu.draws),
            ("shaded vertices", gpu.vertices, self.limits.gpu.vertices),
            ("shader instructions", gpu.instructions, self.limits.gpu.instructions),
            ("pixels", gpu.pixels, self.limits.gpu.pixels),
        ];
        match bounds.into_iter().find(|(_, spent, limit)| spent >= limit) {
            Some((what, _, limit)) => Err(Error::Limit { op, what, limit }),
            None => Ok(()),
        }
    }

    fn show(&mut self, op: u64, shown: Shown) -> Result<Image, Error> {
        let Shown { width, height, .. } = shown;
        let frame = shown.frame();
        if width > self.limits.side || height > self.limits.side {
            return Err(Error::Shown { op, width, height, format: shown.format });
        }
        self.gpu.picture(&mut self.memory, &frame).map_err(|error| match error {
            FrameError::Shape { width, height, format } => Error::Shown { op, width, height, format },
            FrameError::Unmapped { address, bytes } => Error::Unmapped { op, address, bytes },
        })
    }

    /// Number of the next operation, from 0; nothing after an error.
    pub fn position(&self) -> Option<u64> {
        self.next.map(|(number, _)| number)
    }

    /// What was done and what went wrong since the last call.
    pub fn take_report(&mut self) -> Report {
        std::mem::take(&mut self.report)
    }

    /// The GPU.
    pub fn gpu(&self) -> &Gpu<R> {
        &self.gpu
    }

    /// Its memory, after what was drawn is brought there.
    pub fn memory(&mut self) -> &Regions {
        self.gpu.flush(&mut self.memory);
        &self.memory
    }
}

fn write(memory: &mut Regions, address: u32, bytes: &[u8]) -> Option<()> {
    let len = u32::try_from(bytes.len()).ok()?;
    if len != 0 {
        memory.bytes_mut(address, len)?.copy_from_slice(bytes);
    }
    Some(())
}

/// What a frame may still do.
fn left(limits: &report::Limits, spent: &Report) -> report::Limits {
    report::Limits {
        writes: limits.writes.saturating_sub(spent.writes),
        draws: limits.draws.saturating_sub(spent.draws),
        vertices: limits.vertices.saturating_sub(spent.vertices),
        instructions: limits.instructions.saturating_sub(spent.instructions),
        pixels: limits.pixels.saturating_sub(spent.pixels),
    }
}
