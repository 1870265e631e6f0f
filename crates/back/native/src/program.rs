//! A compiled program, what it is bound to, and how a range of invocations is run.

use crate::compiler::{Compiled, Compiler, Tier};
use crate::error::RunError;
use crate::exec::{self, Buffer, Context, Exit, Lanes};
use crate::{CompileError, LANES, Variant};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use xenoglot_ir::Module;
use xenoglot_ir::entity::EntityRef;

/// Bounds on a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Rounds of loops that all groups of [`LANES`] invocations together may go.
    pub fuel: u64,
}

impl Default for Limits {
    /// Sixteen million rounds.
    fn default() -> Limits {
        Limits { fuel: 1 << 24 }
    }
}

/// What a run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ran {
    /// Groups that the optimistic variant gave up, and the exact one ran.
    pub given_up: u32,
    /// Invocations that only the exact variant ran.
    pub exact: u32,
    /// Rounds of loops.
    pub rounds: u64,
}

enum Memory<'a> {
    Read(&'a [u8]),
    Write(&'a mut [u8]),
}

/// The buffers of a run by set and binding. Bytes are little-endian whatever the host is.
#[derive(Default)]
pub struct Bindings<'a> {
    slots: Vec<(u32, u32, Memory<'a>)>,
}

impl<'a> Bindings<'a> {
    /// Nothing is bound.
    pub fn new() -> Bindings<'a> {
        Bindings::default()
    }

    fn bind(&mut self, set: u32, binding: u32, memory: Memory<'a>) {
        self.slots.retain(|s| (s.0, s.1) != (set, binding));
        self.slots.push((set, binding, memory));
    }

    /// Binds bytes that the program only loads.
    pub fn read(&mut self, set: u32, binding: u32, bytes: &'a [u8]) -> &mut Self {
        self.bind(set, binding, Memory::Read(bytes));
        self
    }

    /// Binds bytes that the program may store to.
    pub fn write(&mut self, set: u32, binding: u32, bytes: &'a mut [u8]) -> &mut Self {
        self.bind(set, binding, Memory::Write(bytes));
        self
    }
}

/// What the program does with a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) set: u32,
    pub(crate) binding: u32,
    pub(crate) loads: bool,
    pub(crate) stores: bool,
    /// Least size in bytes: the declared one of a uniform buffer, else 0.
    pub(crate) size: u32,
}

/// A compiled module. It may be run by several threads at once, on buffers of their own.
#[derive(Debug)]
pub struct Program {
    module: Module,
    uses: Vec<Use>,
    private_size: u32,
    optimistic: Option<Compiled>,
    exact: OnceLock<Result<Compiled, Arc<CompileError>>>,
}

/// After so many groups given up, the rest of a run is left to the exact variant if they are half of all.
const PATIENCE: u32 = 16;

impl Program {
    pub(crate) fn new(
        module: Module,
        uses: Vec<Use>,
        private_size: u32,
        code: Compiled,
        variant: Variant,
    ) -> Program {
        let (optimistic, exact) = match variant {
            Variant::Optimistic => (Some(code), OnceLock::new()),
            Variant::Exact => (None, OnceLock::from(Ok(code))),
        };
        Program { module, uses, private_size, optimistic, exact }
    }

    /// The variants compiled so far.
    fn compiled(&self) -> impl Iterator<Item = &Compiled> {
        let exact = self.exact.get().and_then(|compiled| compiled.as_ref().ok());
        self.optimistic.iter().chain(exact)
    }

    /// The code of the variant that runs first, as it lies in memory. Its calls and tables are addresses of this process.
    pub fn machine_code(&self) -> &[u8] {
        self.compiled().next().map_or(&[], |compiled| compiled.code.bytes())
    }

    /// Bytes of code of the variants compiled so far, with their constants.
    pub fn code_size(&self) -> usize {
        self.compiled().map(|c| c.code.len()).sum()
    }

    /// Bytes of stack that the code of a variant compiled so far takes at most: [`MAX_FRAME`](crate::MAX_FRAME) or less.
    pub fn stack_size(&self) -> u32 {
        self.compiled().map(|c| c.frame).max().unwrap_or(0)
    }

    /// Compiles the exact variant now instead of when a run first needs it.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn prepare_exact(&self, compiler: &mut Compiler) -> Result<(), Arc<CompileError>> {
        self.exact(|| compiler.variant(&self.module, Variant::Exact, Tier::Quick)).map(|_| ())
    }

    /// The exact variant. One that is refused is so for all runs: it is not compiled again.
    fn exact(
        &self,
        compile: impl FnOnce() -> Result<Compiled, CompileError>,
    ) -> Result<&Compiled, Arc<CompileError>> {
        self.exact.get_or_init(|| compile().map_err(Arc::new)).as_ref().map_err(Arc::clone)
    }

    /// Runs the invocations whose numbers along x are in `range`; those along y and z are 0.
    ///
    /// Invocations of a group run in lock step, groups one after the other. A module that vouches for the alignment of
    /// an address and is wrong gets the bytes at that address; the interpreter traps.
    ///
    /// # Errors
    /// What stopped it; see [`RunError`].
    pub fn run(&self, bindings: &mut Bindings, range: Range<u32>, limits: &Limits) -> Result<Ran, RunError> {
        if range.is_empty() {
            return Ok(Ran::default());
        }
        if range.end > u32::MAX - LANES {
            return Err(RunError::Range);
        }
        let (buffers, sizes) = self.buffers(bindings)?;
        let mut private = vec![0; self.private_size as usize * LANES as usize];
        let mut run = Run {
            program: self,
            context: Context::new([0, 1, 2, 3], limits.fuel, &mut private),
            buffers: &buffers,
            exact: None,
            ran: Ran::default(),
        };
        let mut first = range.start;
        if let Some(code) = &self.optimistic {
            let safe = code.safe_end(&sizes).clamp(range.start, range.end);
            first = run.optimistic(&mut Ready::new(code, &buffers), range.start, safe)?;
        }
        if first < range.end {
            run.ran.exact += range.end - first;
            run.exactly(first, range.end)?;
        }
        Ok(Ran { rounds: limits.fuel.saturating_sub(run.context.fuel), ..run.ran })
    }

    /// The table of buffers by resource, and their sizes.
    fn buffers(&self, bindings: &mut Bindings) -> Result<(Vec<Buffer>, Vec<usize>), RunError> {
        let (mut buffers, mut sizes) =
            (Vec::with_capacity(self.uses.len()), Vec::with_capacity(self.uses.len()));
        for u in &self.uses {
            let bad = |what| RunError::Binding { set: u.set, binding: u.binding, what };
            let slot = bindings.slots.iter_mut().find(|s| (s.0, s.1) == (u.set, u.binding)).map(|s| &mut s.2);
            let (buffer, len) = match slot {
                None if u.loads || u.stores => return Err(bad("nothing is bound")),
                None => (Buffer::unbound(), 0),
                Some(Memory::Read(_)) if u.stores => {
                    return Err(bad("bound for reading, and the module stores"));
                }
                Some(Memory::Read(bytes)) => (Buffer::read(bytes), bytes.len()),
                Some(Memory::Write(bytes)) => {
                    let len = bytes.len();
                    (Buffer::write(bytes), len)
                }
            };
            if (u.loads || u.stores) && len < u.size as usize {
                return Err(bad("smaller than the module declares"));
            }
            buffers.push(buffer);
            sizes.push(len);
        }
        Ok((buffers, sizes))
    }
}

impl Compiled {
    /// The first invocation whose affine addresses may leave a buffer, or 2^32 itself.
    fn safe_end(&self, sizes: &[usize]) -> u32 {
        let ends = self.reach.iter().map(|&(resource, stride, end)| {
            let size = sizes.get(resource.index()).map_or(0, |&s| (s as u64).min(1 << 32));
            match size.checked_sub(end) {
                None => 0,
                Some(_) if stride == 0 => u32::MAX,
                Some(room) => (room / u64::from(stride) + 1).try_into().unwrap_or(u32::MAX),
            }
        });
        ends.min().unwrap_or(u32::MAX)
    }
}

/// Code with its constants and homes.
struct Ready<'a> {
    compiled: &'a Compiled,
    constants: Vec<Lanes>,
    homes: Vec<Lanes>,
}

impl<'a> Ready<'a> {
    fn new(compiled: &'a Compiled, buffers: &[Buffer]) -> Ready<'a> {
        let constants = exec::constants(&compiled.constants, buffers);
        Ready { compiled, constants, homes: vec![Lanes::ZERO; compiled.homes as usize] }
    }
}

/// A run in progress.
struct Run<'a> {
    program: &'a Program,
    context: Context,
    buffers: &'a [Buffer],
    /// The exact variant once it was needed.
    exact: Option<Ready<'a>>,
    ran: Ran,
}

impl<'a> Run<'a> {
    /// Runs the exact variant.
    fn exactly(&mut self, first: u32, end: u32) -> Result<(), RunError> {
        let mut exact = match self.exact.take() {
            Some(exact) => exact,
            None => {
                let program = self.program;
                let compile = || Compiler::new()?.variant(&program.module, Variant::Exact, Tier::Quick);
                Ready::new(program.exact(compile)?, self.buffers)
            }
        };
        let exit = self.code(&mut exact, first, end);
        self.exact = Some(exact);
        let invocation = self.context.at;
        match exit {
            Exit::Done => Ok(()),
            Exit::OutOfFuel => Err(RunError::OutOfFuel { invocation }),
            Exit::Fault(cause) => Err(RunError::Fault { invocation, cause }),
            // The exact variant never does.
            Exit::GiveUp => Ok(()),
        }
    }

    /// Runs code for whole groups, then for the rest with the last invocation in the lanes that are left: they do the same
    /// as it does.
    fn code(&mut self, ready: &mut Ready, first: u32, end: u32) -> Exit {
        let Ready { compiled: Compiled { code, .. }, constants, homes } = ready;
        let whole = first + (end - first) / LANES * LANES;
        if first < whole {
            self.context.lanes = [0, 1, 2, 3];
            let exit = exec::run(code, constants, homes, &mut self.context, self.buffers, first, whole);
            if exit != Exit::Done {
                return exit;
            }
        }
        if whole < end {
            self.context.lanes = [0, 1, 2, 3].map(|lane| lane.min(end - whole - 1));
            return exec::run(code, constants, homes, &mut self.context, self.buffers, whole, end);
        }
        Exit::Done
    }

    /// Runs the optimistic variant where it can; gives the first invocation it left.
    fn optimistic(&mut self, code: &mut Ready, mut first: u32, end: u32) -> Result<u32, RunError> {
        let start = first;
        while first < end {
            if self.code(code, first, end) == Exit::Done {
                return Ok(end);
            }
            // A NaN may have led a group astray, so that only the exact variant's word on fuel and faults counts.
            let at = self.context.at;
            let next = (at + LANES).min(end);
            self.exactly(at, next)?;
            self.ran.given_up += 1;
            first = next;
            if self.ran.given_up >= PATIENCE && self.ran.given_up > (first - start) / LANES / 2 {
                return Ok(first);
            }
        }
        Ok(end)
    }
}
