//! The state of writing: buffers that outlive a module, and what is at hand while one is written.

use crate::buffers::{Buffers, Names};
use crate::error::Error;
use crate::helpers::Helpers;
use crate::memory::Accessors;
use crate::names::Namer;
use crate::options::{Options, Target};
use crate::plan::Plan;
use crate::variables::Variables;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Block, Func, Function, Inst, Kind, Module, NO_GUEST, Resource, Stage, Var};
use xenoglot_structure::Tree;

/// Buffers for writing many modules.
#[derive(Default)]
pub struct Context {
    plan: Plan,
    variables: Variables,
    buffers: Buffers,
    helpers: Helpers,
    accessors: Accessors,
    namer: Namer,
    functions: String,
    guests: Vec<u32>,
}

/// A language extension that is required when used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Extension {
    Int64,
    Int16,
    Int8,
    Float16,
    AtomicInt64,
    Fma,
    SubgroupBasic,
    SubgroupVote,
    SubgroupBallot,
    SubgroupArithmetic,
    SubgroupShuffle,
    SubgroupQuad,
    Demote,
    ClipDistance,
    ShadowLod,
    LoadFormatted,
    Nonuniform,
    DrawParameters,
    ShaderClock,
    RealtimeClock,
    ViewportLayer,
    ViewportMask,
}

impl Extension {
    pub(crate) const ALL: [Extension; 22] = [
        Extension::Int64,
        Extension::Int16,
        Extension::Int8,
        Extension::Float16,
        Extension::AtomicInt64,
        Extension::Fma,
        Extension::SubgroupBasic,
        Extension::SubgroupVote,
        Extension::SubgroupBallot,
        Extension::SubgroupArithmetic,
        Extension::SubgroupShuffle,
        Extension::SubgroupQuad,
        Extension::Demote,
        Extension::ClipDistance,
        Extension::ShadowLod,
        Extension::LoadFormatted,
        Extension::Nonuniform,
        Extension::DrawParameters,
        Extension::ShaderClock,
        Extension::RealtimeClock,
        Extension::ViewportLayer,
        Extension::ViewportMask,
    ];

    /// What values of a kind need; floats are also seen as their bits.
    pub(crate) fn of(kind: Kind) -> &'static [Extension] {
        match kind {
            Kind::I64 | Kind::F64 => &[Extension::Int64],
            Kind::F16 => &[Extension::Float16, Extension::Int16],
            Kind::I16 => &[Extension::Int16],
            Kind::I8 => &[Extension::Int8],
            _ => &[],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Extension::Int64 => "GL_ARB_gpu_shader_int64",
            Extension::Int16 => "GL_EXT_shader_explicit_arithmetic_types_int16",
            Extension::Int8 => "GL_EXT_shader_explicit_arithmetic_types_int8",
            Extension::Float16 => "GL_EXT_shader_explicit_arithmetic_types_float16",
            Extension::AtomicInt64 => "GL_EXT_shader_atomic_int64",
            Extension::Fma => "GL_EXT_gpu_shader5",
            Extension::SubgroupBasic => "GL_KHR_shader_subgroup_basic",
            Extension::SubgroupVote => "GL_KHR_shader_subgroup_vote",
            Extension::SubgroupBallot => "GL_KHR_shader_subgroup_ballot",
            Extension::SubgroupArithmetic => "GL_KHR_shader_subgroup_arithmetic",
            Extension::SubgroupShuffle => "GL_KHR_shader_subgroup_shuffle",
            Extension::SubgroupQuad => "GL_KHR_shader_subgroup_quad",
            Extension::Demote => "GL_EXT_demote_to_helper_invocation",
            Extension::ClipDistance => "GL_EXT_clip_cull_distance",
            Extension::ShadowLod => "GL_EXT_texture_shadow_lod",
            Extension::LoadFormatted => "GL_EXT_shader_image_load_formatted",
            Extension::Nonuniform => "GL_EXT_nonuniform_qualifier",
            Extension::DrawParameters => "GL_ARB_shader_draw_parameters",
            Extension::ShaderClock => "GL_ARB_shader_clock",
            Extension::RealtimeClock => "GL_EXT_shader_realtime_clock",
            Extension::ViewportLayer => "GL_ARB_shader_viewport_layer_array",
            Extension::ViewportMask => "GL_NV_viewport_array2",
        }
    }
}

/// What a module's entities are called in the output.
#[derive(Default)]
pub(crate) struct ModuleNames {
    pub(crate) vars: Names<Var>,
    pub(crate) resources: Names<Resource>,
    /// As arrays of 64-bit integers, where there are such.
    pub(crate) wide: Names<Resource>,
    pub(crate) funcs: Names<Func>,
    pub(crate) privates: Names<Func>,
    pub(crate) shared: String,
}

/// A function being written.
pub(crate) struct Writer<'a> {
    pub(crate) module: &'a Module,
    pub(crate) options: &'a Options,
    pub(crate) names: &'a ModuleNames,
    pub(crate) func_id: Func,
    pub(crate) func: &'a Function,
    pub(crate) plan: &'a Plan,
    pub(crate) vars: &'a Variables,
    pub(crate) slots: &'a [String],
    pub(crate) buffers: &'a Buffers,
    pub(crate) helpers: &'a mut Helpers,
    pub(crate) accessors: &'a mut Accessors,
    pub(crate) namer: &'a mut Namer,
    pub(crate) extensions: &'a mut u32,
    pub(crate) out: &'a mut String,
    pub(crate) guests: &'a mut Vec<u32>,
    pub(crate) last_guest: u32,
    pub(crate) indent: usize,
}

impl Writer<'_> {
    pub(crate) fn target(&self) -> Target {
        self.options.target
    }

    pub(crate) fn extension(&mut self, e: Extension) {
        *self.extensions |= 1 << e as u32;
    }

    /// Remembers that the statement at hand does what the instruction's guest address stands for.
    pub(crate) fn note_guest(&mut self, inst: Inst) {
        self.note_address(self.func.insts[inst].guest);
    }

    pub(crate) fn note_address(&mut self, guest: u32) {
        if self.options.guest_comments && guest != NO_GUEST && guest != self.last_guest {
            self.guests.push(guest);
        }
    }
}

/// The qualifier that forbids contraction, with a blank, as the target has it.
pub(crate) fn precise(target: Target) -> &'static str {
    if target.is_450() { "precise " } else { "PRECISE " }
}

impl Context {
    /// As [`emit`](crate::emit), with the buffers of this context.
    ///
    /// # Errors
    /// As [`emit`](crate::emit).
    pub fn emit(&mut self, module: &Module, options: &Options) -> Result<String, Error> {
        let target = options.target;
        match module.stage {
            Stage::Vertex | Stage::Fragment => {}
            Stage::Geometry | Stage::TessControl | Stage::TessEval if target.is_450() => {}
            Stage::Compute if target != Target::Gl330 => {}
            stage => return Err(Error::UnsupportedStage(stage)),
        }
        let entry = module.entry.expand().ok_or(Error::Malformed("there is no entry function"))?;
        self.helpers.clear();
        self.accessors.clear();
        self.namer.clear();
        self.functions.clear();
        self.buffers.compute(module, target)?;
        let names = self.name_module(module, entry);
        let mut extensions = 0;
        let order = callees_first(module, entry)?;
        for &id in &order {
            let f =
                module.funcs.get(id).ok_or(Error::Malformed("a call of a function that does not exist"))?;
            self.function(module, options, &names, id, f, id == entry, &mut extensions)?;
        }
        let mut out = String::with_capacity(self.functions.len() + 4096);
        let mut body = String::new();
        self.accessors.write(&mut body, module, &names, &self.buffers, &mut extensions, target)?;
        crate::interface::write(&mut out, module, options, &names, &self.buffers, &mut extensions)?;
        for &id in &order {
            self.private_memory(&mut out, module, &names, id);
        }
        self.helpers.write(&mut out, precise(target));
        out.push_str(&body);
        out.push_str(&self.functions);
        let head = crate::interface::head(module, target, extensions);
        out.insert_str(0, &head);
        if out.len() > options.max_output {
            return Err(Error::TooLarge(options.max_output));
        }
        Ok(out)
    }

    fn name_module(&mut self, module: &Module, entry: Func) -> ModuleNames {
        let mut names = ModuleNames::default();
        for var in module.vars.values() {
            names.vars.push(self.namer.unique(&var.name));
        }
        for resource in module.resources.values() {
            names.resources.push(self.namer.unique(&resource.name));
            names.wide.push(self.namer.unique(&format!("{}_wide", resource.name)));
        }
        for (id, f) in module.funcs.iter() {
            names.funcs.push(if id == entry { "main".into() } else { self.namer.unique(&f.name) });
            names.privates.push(match f.private_size {
                0 => String::new(),
                _ => self.namer.unique("scratch"),
            });
        }
        names.shared = if self.buffers.shared { self.namer.unique("workgroup") } else { String::new() };
        names
    }

    fn private_memory(&self, out: &mut String, module: &Module, names: &ModuleNames, id: Func) {
        use std::fmt::Write;
        let size = module.funcs.get(id).map_or(0, |f| f.private_size);
        if let (1.., Some(name)) = (size, names.privates.get(id)) {
            let _ = writeln!(out, "uint {name}[{}];\n", size.div_ceil(4));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what a module's functions share")]
    fn function(
        &mut self,
        module: &Module,
        options: &Options,
        names: &ModuleNames,
        id: Func,
        f: &Function,
        is_entry: bool,
        extensions: &mut u32,
    ) -> Result<(), Error> {
        let structure =
            xenoglot_structure::Options { depth_limit: options.depth_limit, ..Default::default() };
        let tree: Tree = xenoglot_structure::structure(f, &structure)?;
        self.plan.compute(f);
        check_kinds(f, &self.plan, options.target, extensions)?;
        self.variables.compute(f, &self.plan, &mut self.namer);
        let slots: Vec<String> = match self.plan.uses_slots() {
            true => f.slots.values().map(|s| self.namer.local(&s.name)).collect(),
            false => Vec::new(),
        };
        let mut writer = Writer {
            module,
            options,
            names,
            func_id: id,
            func: f,
            plan: &self.plan,
            vars: &self.variables,
            slots: &slots,
            buffers: &self.buffers,
            helpers: &mut self.helpers,
            accessors: &mut self.accessors,
            namer: &mut self.namer,
            extensions,
            out: &mut self.functions,
            guests: &mut self.guests,
            last_guest: NO_GUEST,
            indent: 1,
        };
        writer.function(&tree, is_entry)?;
        self.namer.end_function();
        Ok(())
    }
}

/// The functions that `entry` calls, each after those it calls itself.
fn callees_first(module: &Module, entry: Func) -> Result<Vec<Func>, Error> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; module.funcs.len()];
    let mut order = Vec::new();
    let mut stack = vec![(entry, false)];
    while let Some((id, leaving)) = stack.pop() {
        let missing = Error::Malformed("a call of a function that does not exist");
        let s = state.get_mut(id.index()).ok_or(missing)?;
        if leaving {
            *s = State::Done;
            order.push(id);
            continue;
        }
        match *s {
            State::Done => continue,
            State::Open => return Err(Error::Malformed("functions that call each other in a circle")),
            State::New => *s = State::Open,
        }
        stack.push((id, true));
        let f = &module.funcs[id];
        for &b in &f.layout {
            for &inst in &f.blocks[b].insts {
                if let xenoglot_ir::Imm::Func(callee) = f.insts[inst].imm
                    && state.get(callee.index()) != Some(&State::Done)
                {
                    stack.push((callee, false));
                }
            }
        }
    }
    Ok(order)
}

/// Refuses values of kinds that the target does not have.
fn check_kinds(f: &Function, plan: &Plan, target: Target, extensions: &mut u32) -> Result<(), Error> {
    use crate::error::Guest;
    use xenoglot_ir::ValueDef;
    for (v, data) in f.values.iter() {
        if plan.mode(v) == crate::plan::Mode::Dead {
            continue;
        }
        let reason = match data.ty.kind() {
            Kind::Bool | Kind::I32 | Kind::F32 => continue,
            // Written where they are used.
            Kind::Tex | Kind::Samp | Kind::Img => continue,
            kind @ (Kind::I64 | Kind::F64 | Kind::I8 | Kind::I16 | Kind::F16) if target.is_450() => {
                for extension in Extension::of(kind) {
                    *extensions |= 1 << *extension as u32;
                }
                continue;
            }
            Kind::I64 | Kind::F64 => "64-bit types need version 450",
            Kind::I8 | Kind::I16 | Kind::F16 => "8-bit and 16-bit types need version 450",
            _ => "handles are not written",
        };
        return Err(match data.def {
            ValueDef::Inst(inst, _) => {
                let data = &f.insts[inst];
                Error::Unsupported { op: data.op, guest: Guest::new(data.guest), reason }
            }
            ValueDef::Param(..) => Error::UnsupportedDeclaration { name: f.name.clone(), reason },
        });
    }
    Ok(())
}

/// Whether a block is one of the tree's; used where a malformed tree would index out of range.
pub(crate) fn block_exists(f: &Function, b: Block) -> bool {
    f.blocks.is_valid(b)
}
