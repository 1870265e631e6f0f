//! From the IR to code in memory.

use crate::emit::{self, How};
use crate::error::CompileError;
use crate::exec::Arena;
use crate::options::Access;
use crate::signals::{Pending, Site};
use crate::state::State;
use crate::table::Table;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, UserFuncName};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;
use xenoglot_ir::Module;
use xenoglot_mips::lift::layout;

/// Most bytes of stack that code may take: it runs on the host's.
const MAX_FRAME: u32 = 32 << 10;

/// The host, found out once.
fn host() -> Result<OwnedTargetIsa, CompileError> {
    static HOST: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let isa = || {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("regalloc_algorithm", "backtracking"),
            // The code generator wants them for tail calls.
            ("preserve_frame_pointers", "true"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
            ("enable_pinned_reg", "true"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
            ("unwind_info", "false"),
        ] {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        cranelift_native::builder()?.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
    };
    HOST.get_or_init(isa).clone().map_err(CompileError::Codegen)
}

/// A function to compile, with all that its code depends on, so that any thread can do it.
pub(crate) struct Job {
    /// Its entry is the function.
    module: Module,
    access: Access,
    /// Where the table has the code of guest addresses that the function leads to. `None` when code returns instead of going on
    /// by itself.
    links: Option<FxHashMap<u32, u64>>,
    /// Guest addresses of accesses that ask the memory.
    asks: FxHashSet<u32>,
    /// Whether registers are exact at faults.
    exact: bool,
}

impl Job {
    /// A job for code that goes on at other code through `table`.
    pub(crate) fn new(
        module: Module,
        access: Access,
        asks: FxHashSet<u32>,
        exact: bool,
        table: Option<&mut Table>,
    ) -> Job {
        let targets = |f| emit::targets(f).collect::<Vec<u32>>();
        let targets = module.entry_func().map(targets).unwrap_or_default();
        let links = table.map(|table| {
            targets.into_iter().filter_map(|pc| Some((pc, table.entry(pc)?))).collect::<FxHashMap<_, _>>()
        });
        Job { module, access, links, asks, exact }
    }
}

/// Code of the host, which may lie anywhere.
pub(crate) struct Code {
    bytes: Vec<u8>,
    /// Where it may raise a signal, in order, from its own beginning.
    sites: Vec<Site>,
}

impl Code {
    /// Code, and where it may raise a signal, in order.
    pub(crate) fn new(bytes: Vec<u8>, sites: Vec<Site>) -> Code {
        Code { bytes, sites }
    }

    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Makes code. Each thread that compiles has one.
pub(crate) struct Codegen {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
}

impl Codegen {
    pub(crate) fn new() -> Result<Codegen, CompileError> {
        Ok(Codegen { isa: host()?, context: Context::new(), builder: FunctionBuilderContext::new() })
    }

    fn thunk(
        &mut self,
        emit: impl FnOnce(&mut ir::Function, &mut FunctionBuilderContext, &dyn TargetIsa),
    ) -> Result<Code, CompileError> {
        self.context.clear();
        self.context.func.name = UserFuncName::user(0, 0);
        emit(&mut self.context.func, &mut self.builder, &*self.isa);
        self.finish(&[])
    }

    /// Compiles a function.
    pub(crate) fn compile(&mut self, job: &Job) -> Result<Code, CompileError> {
        self.context.clear();
        self.context.func.name = UserFuncName::user(0, 0);
        let func = &mut self.context.func;
        let f = job.module.entry_func();
        let f = f.ok_or_else(|| CompileError::unsupported("a module without a function"))?;
        let how = How {
            counter: layout::FUEL,
            access: job.access,
            links: job.links.as_ref(),
            asks: &job.asks,
            exact: job.exact,
        };
        let sites = emit::function(func, &mut self.builder, &*self.isa, f, &how)
            .inspect_err(|_| self.builder = FunctionBuilderContext::new())?;
        self.finish(&sites)
    }

    /// Compiles what was emitted, with what is known of the places that may raise a signal, by their source locations.
    fn finish(&mut self, pending: &[Pending]) -> Result<Code, CompileError> {
        let compiled = self
            .context
            .compile(&*self.isa, &mut ControlPlane::default())
            .map_err(|e| CompileError::Codegen(format!("{:?}", e.inner)))?;
        if !compiled.buffer.relocs().is_empty() {
            return Err(CompileError::Codegen("the host lacks an instruction".into()));
        }
        let frame = compiled.buffer.frame_layout().map_or(0, |layout| layout.frame_to_fp_offset);
        if frame > MAX_FRAME {
            return Err(CompileError::unsupported(format!("{frame} bytes of stack")));
        }
        let mut sites = Vec::new();
        for trap in compiled.buffer.traps().iter().filter(|trap| emit::is_site(trap.code)) {
            let locations = compiled.buffer.get_srclocs_sorted();
            let after = locations.partition_point(|location| location.start <= trap.offset);
            let location = locations.get(after.wrapping_sub(1)).filter(|location| trap.offset < location.end);
            let location = location.map(|location| location.loc.bits());
            let site = emit::site_of(trap.code, pending.len(), location);
            let Some(&pending) = site.and_then(|site| pending.get(site as usize)) else {
                return Err(CompileError::Codegen("an access of unknown origin".into()));
            };
            sites.push(Site { offset: trap.offset, pending });
        }
        // Checks are behind the code that they are of.
        sites.sort_unstable_by_key(|site| site.offset);
        Ok(Code { bytes: compiled.code_buffer().to_vec(), sites })
    }
}

/// Entry points into the engine: for addresses without code, and for loads and stores that ask the memory.
/// Compiled once: a shell starts processes, with an engine each, by the hundred.
fn thunks(codegen: &mut Codegen) -> Result<&'static [Code; 3], CompileError> {
    static THUNKS: OnceLock<[Code; 3]> = OnceLock::new();
    if let Some(thunks) = THUNKS.get() {
        return Ok(thunks);
    }
    let mut ask = |ask: i32| codegen.thunk(|func, builder, isa| emit::slow(func, builder, isa, ask));
    let (load, store) = (ask(State::RUST_LOAD)?, ask(State::RUST_STORE)?);
    let thunks = [codegen.thunk(emit::missing)?, load, store];
    Ok(THUNKS.get_or_init(|| thunks))
}

/// A compiler with memory for code.
pub(crate) struct Compiler {
    codegen: Codegen,
    arena: Arena,
    /// Bytes of the arena that do not come from a guest.
    kept: usize,
    /// Where code may raise a signal, in order.
    pub(crate) sites: Vec<Site>,
    /// Addresses of the entry points into the engine.
    pub(crate) missing: u64,
    pub(crate) ask_load: u64,
    pub(crate) ask_store: u64,
}

impl Compiler {
    pub(crate) fn new() -> Result<Compiler, CompileError> {
        let mut codegen = Codegen::new()?;
        let mut arena = Arena::new()?;
        let mut added = [0; 3];
        for (address, code) in added.iter_mut().zip(thunks(&mut codegen)?) {
            *address = arena.add(&code.bytes)?;
        }
        let [missing, ask_load, ask_store] = added;
        let kept = arena.used();
        Ok(Compiler { codegen, arena, kept, sites: Vec::new(), missing, ask_load, ask_store })
    }

    /// Compiles a function, in this thread.
    pub(crate) fn compile(&mut self, job: &Job) -> Result<Code, CompileError> {
        self.codegen.compile(job)
    }

    /// Puts code where it can run; its address.
    pub(crate) fn install(&mut self, code: &Code) -> Result<u64, CompileError> {
        let address = self.arena.add(&code.bytes)?;
        let start = (address - self.arena.base()) as u32;
        let sites = code.sites.iter().map(|site| Site { offset: start + site.offset, ..*site });
        self.sites.extend(sites);
        Ok(address)
    }

    /// Changes code that is there.
    pub(crate) fn patch(&mut self, address: u64, bytes: &[u8]) -> Result<(), CompileError> {
        self.arena.patch(address, bytes)
    }

    /// The address of the memory for code.
    pub(crate) fn base(&self) -> u64 {
        self.arena.base()
    }

    /// Forgets the code of guests. Nobody may have its addresses any more.
    pub(crate) fn clear(&mut self) {
        self.arena.truncate(self.kept);
        self.sites.clear();
    }
}
