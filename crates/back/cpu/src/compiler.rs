//! From the IR to code in memory.

use crate::emit::{self, How};
use crate::error::CompileError;
use crate::exec::Arena;
use crate::signals::{Pending, Site};
use crate::state::State;
use crate::table::Table;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, UserFuncName};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use std::sync::OnceLock;
use xenoglot_ir::Function;

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

/// A compiler with memory for code.
pub(crate) struct Compiler {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    arena: Arena,
    /// Bytes of the arena that do not come from a guest.
    kept: usize,
    /// Where code may raise a signal, in order.
    pub(crate) sites: Vec<Site>,
    /// Addresses of the ways in and out.
    pub(crate) enter: u64,
    pub(crate) missing: u64,
    pub(crate) ask_load: u64,
    pub(crate) ask_store: u64,
}

impl Compiler {
    pub(crate) fn new() -> Result<Compiler, CompileError> {
        let mut compiler = Compiler {
            isa: host()?,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            arena: Arena::new()?,
            kept: 0,
            sites: Vec::new(),
            enter: 0,
            missing: 0,
            ask_load: 0,
            ask_store: 0,
        };
        compiler.enter = compiler.thunk(emit::enter)?;
        compiler.missing = compiler.thunk(emit::missing)?;
        compiler.ask_load =
            compiler.thunk(|func, builder, isa| emit::slow(func, builder, isa, State::RUST_LOAD))?;
        compiler.ask_store =
            compiler.thunk(|func, builder, isa| emit::slow(func, builder, isa, State::RUST_STORE))?;
        compiler.kept = compiler.arena.used();
        Ok(compiler)
    }

    fn thunk(
        &mut self,
        emit: impl FnOnce(&mut ir::Function, &mut FunctionBuilderContext, &dyn TargetIsa),
    ) -> Result<u64, CompileError> {
        self.context.clear();
        self.context.func.name = UserFuncName::user(0, 0);
        emit(&mut self.context.func, &mut self.builder, &*self.isa);
        Ok(self.place(&[])?.0)
    }

    /// Compiles a function; the address of its code, and its bytes.
    pub(crate) fn compile(
        &mut self,
        f: &Function,
        table: &mut Table,
        how: &How<'_>,
    ) -> Result<(u64, usize), CompileError> {
        self.context.clear();
        self.context.func.name = UserFuncName::user(0, 0);
        let func = &mut self.context.func;
        let sites = emit::function(func, &mut self.builder, &*self.isa, f, table, how)
            .inspect_err(|_| self.builder = FunctionBuilderContext::new())?;
        self.place(&sites)
    }

    /// Compiles what was emitted, with what is known of the places that may raise a signal, by their source locations.
    fn place(&mut self, sites: &[Pending]) -> Result<(u64, usize), CompileError> {
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
        let code = compiled.code_buffer();
        let address = self.arena.add(code)?;
        let start = (address - self.arena.base()) as u32;
        let first = self.sites.len();
        for trap in compiled.buffer.traps().iter().filter(|trap| emit::is_site(trap.code)) {
            let locations = compiled.buffer.get_srclocs_sorted();
            let after = locations.partition_point(|location| location.start <= trap.offset);
            let location = locations.get(after.wrapping_sub(1)).filter(|location| trap.offset < location.end);
            let location = location.map(|location| location.loc.bits());
            let site = emit::site_of(trap.code, sites.len(), location);
            let site = site.and_then(|site| sites.get(site as usize));
            let Some(&pending) = site else {
                self.sites.truncate(first);
                return Err(CompileError::Codegen("an access of unknown origin".into()));
            };
            self.sites.push(Site { offset: start + trap.offset, pending });
        }
        // Checks are behind the code that they are of.
        self.sites
            .get_mut(first..)
            .into_iter()
            .for_each(|sites| sites.sort_unstable_by_key(|site| site.offset));
        Ok((address, code.len()))
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
