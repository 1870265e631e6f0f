//! The compiler: a host description and buffers that are used again for each program.

use crate::emit::{self, Emitted};
use crate::error::CompileError;
use crate::exec::Code;
use crate::host::Sites;
use crate::plan::Plan;
use crate::program::{Program, Use};
use crate::{MAX_FRAME, Variant};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::UserFuncName;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, ir};
use cranelift_frontend::FunctionBuilderContext;
use std::sync::OnceLock;
use xenoglot_ir::imm::Space;
use xenoglot_ir::module::{Access, Count, ResourceKind};
use xenoglot_ir::{Function, Imm, Module, Op, Resource, Stage};

/// Code of one variant with what it points to.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) code: Code,
    _sites: Sites,
    /// Words that code finds in a table of the run.
    pub(crate) constants: Vec<(Resource, u32)>,
    /// What the optimistic variant relies on: resource, stride, end of the accesses of invocation 0.
    pub(crate) reach: Vec<(Resource, u32, u64)>,
    /// Homes of values that outlive their block.
    pub(crate) homes: u32,
    /// Bytes of stack.
    pub(crate) frame: u32,
}

/// Bytes of a frame that its layout does not count: the frame pointer and the return address.
const SETUP: u32 = 16;

/// Most bytes of private memory per invocation.
const MAX_PRIVATE: u32 = 1 << 16;

/// How much work goes into a program's code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Tier {
    /// Registers are allocated in one pass over the code. The thorough allocator is used only where the frame would be too
    /// large.
    #[default]
    Quick,
    /// Registers are allocated by Cranelift's backtracking allocator: the code takes two to three times as long to make, and
    /// runs faster, as less of it moves values to the stack and back. For programs that run often.
    Thorough,
}

/// Compiles modules for the host.
pub struct Compiler {
    isas: Isas,
    tier: Tier,
    context: Context,
    builder: FunctionBuilderContext,
}

/// The host with each allocator of registers.
#[derive(Clone)]
struct Isas {
    /// One pass over the code. Each value that does not stay in registers gets a place of its own in the frame.
    quick: OwnedTargetIsa,
    /// Places in the frame are shared; takes several times as long.
    thorough: OwnedTargetIsa,
}

fn isa(allocator: &str) -> Result<OwnedTargetIsa, String> {
    if cfg!(target_endian = "big") {
        return Err("words in big-endian order".into());
    }
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "none"),
        ("regalloc_algorithm", allocator),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // A frame is larger than a guard page, and must not reach behind it unseen.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(|e| e.to_string())?;
    }
    cranelift_native::builder()?.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
}

/// The host, found out once.
fn host() -> Result<Isas, CompileError> {
    static HOST: OnceLock<Result<Isas, String>> = OnceLock::new();
    HOST.get_or_init(|| Ok(Isas { quick: isa("single_pass")?, thorough: isa("backtracking")? }))
        .clone()
        .map_err(CompileError::Host)
}

impl Compiler {
    /// A compiler for the host.
    ///
    /// # Errors
    /// [`CompileError::Host`].
    pub fn new() -> Result<Compiler, CompileError> {
        Ok(Compiler {
            isas: host()?,
            tier: Tier::default(),
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
        })
    }

    /// How much work goes into the programs that are compiled from now on; at first [`Tier::Quick`]. Of programs with two variants
    /// only the optimistic one is compiled thoroughly.
    pub fn set_tier(&mut self, tier: Tier) {
        self.tier = tier;
    }

    /// Compiles the entry function of a verified module of stage compute.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] and what the code generator or the system refuse.
    pub fn compile(&mut self, module: &Module) -> Result<Program, CompileError> {
        let f = entry(module)?;
        let uses = uses(module, f)?;
        let variant = if is_repeatable(module, f, &uses) { Variant::Optimistic } else { Variant::Exact };
        let code = self.variant(module, variant, self.tier)?;
        Ok(Program::new(module.clone(), uses, f.private_size, code, variant))
    }

    pub(crate) fn variant(
        &mut self,
        module: &Module,
        variant: Variant,
        tier: Tier,
    ) -> Result<Compiled, CompileError> {
        let Isas { quick, thorough } = self.isas.clone();
        let mut compiled = None;
        if tier == Tier::Quick {
            compiled = Some(self.with(&quick, module, variant)?).filter(|c| c.frame <= MAX_FRAME);
        }
        let compiled = compiled.map_or_else(|| self.with(&thorough, module, variant), Ok)?;
        if compiled.frame > MAX_FRAME {
            return Err(CompileError::unsupported(format!("{} bytes of stack", compiled.frame), None));
        }
        Ok(compiled)
    }

    fn with(
        &mut self,
        isa: &OwnedTargetIsa,
        module: &Module,
        variant: Variant,
    ) -> Result<Compiled, CompileError> {
        let f = entry(module)?;
        let mut plan = Plan::new(module, f, variant);
        self.context.clear();
        self.context.func.name = UserFuncName::user(0, 0);
        self.context.func.signature = emit::signature(&**isa);
        let func: &mut ir::Function = &mut self.context.func;
        let Emitted { sites, constants, homes } =
            emit::function(func, &mut self.builder, &**isa, module, f, &mut plan, variant)
                .inspect_err(|_| self.builder = FunctionBuilderContext::new())?;
        let compiled = self
            .context
            .compile(&**isa, &mut ControlPlane::default())
            .map_err(|e| CompileError::Codegen(format!("{:?}", e.inner)))?;
        if !compiled.buffer.relocs().is_empty() {
            return Err(CompileError::Host("an instruction is missing".into()));
        }
        let Some(layout) = compiled.buffer.frame_layout() else {
            return Err(CompileError::Codegen("a function without a frame".into()));
        };
        let frame = layout.frame_to_fp_offset.saturating_add(SETUP);
        let code = Code::new(compiled.code_buffer())?;
        Ok(Compiled { code, _sites: sites, constants, reach: plan.reach, homes, frame })
    }
}

fn entry(module: &Module) -> Result<&Function, CompileError> {
    if module.stage != Stage::Compute {
        return Err(CompileError::unsupported(format!("stage {}", module.stage.name()), None));
    }
    let f = module.entry_func().ok_or_else(|| CompileError::unsupported("a module without entry", None))?;
    if f.private_size > MAX_PRIVATE {
        return Err(CompileError::unsupported(format!("{} bytes of private memory", f.private_size), None));
    }
    Ok(f)
}

/// What the function does with each resource.
fn uses(module: &Module, f: &Function) -> Result<Vec<Use>, CompileError> {
    let mut uses: Vec<Use> = module
        .resources
        .values()
        .map(|r| {
            let size = if let ResourceKind::UniformBuffer { size } = r.kind { size } else { 0 };
            Use { set: r.set, binding: r.binding, loads: false, stores: false, size }
        })
        .collect();
    for &inst in f.layout.iter().flat_map(|&b| &f.blocks[b].insts) {
        let data = &f.insts[inst];
        let Imm::Mem(mem) = data.imm else { continue };
        let unsupported = |what: String| CompileError::unsupported(what, Some(inst));
        let Some(resource) = mem.resource.expand() else {
            if mem.space == Space::Private {
                continue;
            }
            return Err(unsupported(format!("{} memory", mem.space.name())));
        };
        if module.resources[resource].count != Count::One {
            return Err(unsupported("arrays of buffers".into()));
        }
        match module.resources[resource].kind {
            ResourceKind::UniformBuffer { .. } | ResourceKind::StorageBuffer { .. } => {}
            kind => return Err(unsupported(format!("accesses to a {}", kind.name().name()))),
        }
        let u = &mut uses[resource.as_u32() as usize];
        u.loads |= data.op == Op::Load;
        u.stores |= data.op == Op::Store;
    }
    Ok(uses)
}

/// Whether a group that has stored something right can start again and will do the same: whether no store changes what a
/// load sees, or none comes before a load and none between two places where a group may be given up.
fn is_repeatable(module: &Module, f: &Function, uses: &[Use]) -> bool {
    let place = |u: &Use| (u.set, u.binding);
    let clash = uses.iter().any(|s| s.stores && uses.iter().any(|l| l.loads && place(l) == place(s)));
    if !clash {
        return true;
    }
    // One block that ends in its stores: all is decided before the first of them.
    let [block] = f.layout[..] else { return false };
    let mut stored = false;
    let writable = |r: Resource| {
        !matches!(module.resources[r].kind, ResourceKind::StorageBuffer { access: Access::Read })
    };
    f.blocks[block].insts.iter().all(|&inst| match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::Store, Imm::Mem(mem)) => {
            stored |= mem.resource.expand().is_some_and(writable);
            true
        }
        (Op::Load, _) => !stored,
        // A float made after a store would be looked at after it.
        _ => !stored || f.result(inst).is_none_or(|v| !f.ty(v).kind().is_float()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::settings::ProbestackStrategy;

    #[test]
    fn frames_are_probed() {
        let Isas { quick, thorough } = host().unwrap();
        for isa in [quick, thorough] {
            assert!(isa.flags().enable_probestack());
            assert_eq!(isa.flags().probestack_strategy(), ProbestackStrategy::Inline);
        }
    }
}
