//! From a module of LLVM to IR.
//!
//! [`lift`](lift()) takes an entry point. Functions are lifted where they are called. Blocks become blocks, phis their parameters; aggregates are taken apart; what
//! functions called `dx.op` do is in `ops/`, files named after what they are about. Integers of odd widths live in the next
//! wider type with zeros above. Memory of the invocation and of the workgroup is bytes; constants in memory are read
//! where they are known.
//!
//! Where resources are bound is a [`Remapper`]'s to say; by default a register space is a descriptor set and a register is
//! a binding. `bind.rs` follows what it says, `bytes.rs` accesses buffers wherever they are.

mod ags;
mod bind;
mod bytes;
mod checks;
mod choices;
mod constants;
mod cx;
mod flow;
mod hits;
mod insts;
mod int;
mod interface;
mod known;
mod layout;
mod memory;
mod multiples;
mod node;
mod ops;
mod payload;
mod phis;
mod places;
mod queries;
mod resource;
mod runs;
mod shader;
mod val;
mod vendor;
mod words;

use crate::binding::{BindError, RegisterSpaces, Remapper};
use crate::bitcode::{InstKind, Module};
use crate::model::ShaderKind;
use crate::program::{Denormals, Program, ProgramError, Vendor};
use cx::Cx;
use thiserror::Error;
use xenoglot_ir::stage::{self, Samplers};
use xenoglot_ir::{Flags, Function, Inst, Kind, Module as IrModule, Stage, verify};

/// Bounds on the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory of a workgroup, and of an invocation.
    pub memory: u32,
    /// Instructions of IR.
    pub instructions: usize,
}

impl Limits {
    /// D3D12 has 32 KiB of memory for a workgroup and 16 KiB of indexable registers.
    pub const DEFAULT: Limits = Limits { memory: 1 << 20, instructions: 1 << 22 };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// Who enforces D3D's out-of-bounds rules for buffers: loads give 0, stores are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bounds {
    /// The code, before each access: right everywhere, and much to compile for the driver.
    #[default]
    Checked,
    /// The device: Vulkan's `robustBufferAccess2`, or a program of which it is known that it stays inside.
    Device,
}

/// How to lift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiftOptions {
    /// Which of a library's shaders, from 0.
    pub entry: usize,
    /// Who enforces D3D's out-of-bounds rules.
    pub bounds: Bounds,
    /// Pixel shaders: bit n says that location n is per primitive in the mesh shader (bit 63 covers 63 and up). Not
    /// recorded in the container.
    pub primitive_inputs: u64,
    /// Hull and domain shaders: first location of patch constants. Default: the number of control-point rows that the hull
    /// shader writes or the domain shader reads; the two differ only where the domain shader leaves rows out.
    pub control_point_rows: Option<u32>,
    /// Whether all of what is bound is there: residency statuses say so. Otherwise the host is asked where a shader looks at
    /// them (`SparseResidency`), of textures and typed buffers.
    pub all_resident: bool,
    /// Pixel shaders: samples of the targets, 1 to 16, which a shader that asks for them has to be told here, or by
    /// [`samples_constant`](LiftOptions::samples_constant).
    pub samples: Option<u8>,
    /// Pixel shaders: the number of the specialization constant that says how many samples the targets have; what `samples` says,
    /// or 1, is its default.
    pub samples_constant: Option<u32>,
    /// Pixel shaders: whether `SV_Target1` is the second source of the blending of target 0.
    pub dual_source: bool,
    /// Whether equal computations of `SV_Position` give equal bits in all shaders before the rasteriser.
    pub invariant_position: bool,
    /// Whether components of 16 bits pass between stages and to targets as such (`StorageInputOutput16`), in shaders with native
    /// 16-bit types. Otherwise they pass as 32 bits. All stages of a pipeline need the same.
    pub interface_16bit: bool,
    /// Pixel shaders: whether waves are without helper lanes, as Direct3D has them: what helpers have counts in no vote, ballot,
    /// reduction or scan. Otherwise waves have the lanes that the host's subgroups have. Quads have their helpers in any case.
    pub waves_without_helpers: bool,
    /// Whether no products and sums are fused: all arithmetic is as if it were `precise`.
    pub precise: bool,
    /// Whether images have no format unless atomics access them (`StorageImageReadWithoutFormat`, `StorageImageWriteWithoutFormat`):
    /// views of any format may be bound then. Otherwise texels are those of the format that `lift/resource.rs` chooses.
    pub images_without_format: bool,
    /// Whether types of at least 16 bits (`min16float` and others of shaders without native 16-bit types) have 16 bits in registers.
    /// Otherwise they have 32. In memory and between stages they have 32 in any case.
    pub native_min_precision: bool,
    /// Whether constant buffers are storage buffers that are only read: for hosts whose uniform buffers are smaller than Direct3D's
    /// 64 KiB, or begin where Direct3D's need not.
    pub constants_as_storage: bool,
    /// Pixel shaders: for each target which of the components that the shader writes to it is in each of its components: 0 to 3.
    /// For hosts whose formats have their components in another order.
    pub target_swizzles: [[u8; 4]; 8],
    /// Bounds on the work.
    pub limits: Limits,
}

impl LiftOptions {
    /// The first shader, on a host of which nothing is known.
    pub const DEFAULT: LiftOptions = LiftOptions {
        entry: 0,
        bounds: Bounds::Checked,
        primitive_inputs: 0,
        control_point_rows: None,
        all_resident: false,
        samples: None,
        samples_constant: None,
        dual_source: false,
        invariant_position: false,
        interface_16bit: false,
        waves_without_helpers: false,
        precise: false,
        images_without_format: false,
        native_min_precision: false,
        constants_as_storage: false,
        target_swizzles: [[0, 1, 2, 3]; 8],
        limits: Limits::DEFAULT,
    };
}

impl Default for LiftOptions {
    fn default() -> LiftOptions {
        LiftOptions::DEFAULT
    }
}

/// Why a shader cannot be lifted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LiftError {
    /// Its metadata is not a shader's.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A number of a shader that there is not.
    #[error("the module has {count} shaders, and not the one asked for")]
    NoEntry {
        /// How many there are.
        count: usize,
    },
    /// A stage without lifting.
    #[error("shaders of kind {} are not supported", .0.profile())]
    Stage(ShaderKind),
    /// The entry point has no code, or takes or returns something.
    #[error("the entry point is no shader's function")]
    Entry,
    /// A workgroup of no or too many invocations.
    #[error("a workgroup of {0:?} invocations; 1 to 1024 are possible")]
    Workgroup([u32; 3]),
    /// Registers or a heap that nothing is bound to.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// More memory than the limit.
    #[error("more memory than the limit")]
    Memory,
    /// More instructions than the limit.
    #[error("more instructions than the limit")]
    Instructions,
    /// Bitcode that breaks LLVM's rules, of types or of definitions that come before their uses, in the IR's terms.
    #[error("the shader is not sound: {0}")]
    Unsound(String),
    /// A phi that says nothing of an edge, or stands behind other instructions.
    #[error("block {0}: a phi that does not fit the graph")]
    Phi(u32),
    /// A value that is used where no definition reaches.
    #[error("instruction {inst}: value {value} is used before it is defined")]
    Order {
        /// The instruction's number in its function.
        inst: u32,
        /// The value's number.
        value: u32,
    },
    /// An intrinsic of a vendor's library.
    #[error("instruction {inst}: {intrinsic} of {library} is not supported")]
    Vendor {
        /// The instruction's number in its function.
        inst: u32,
        /// The library.
        library: Vendor,
        /// What is asked of the vendor's driver.
        intrinsic: String,
    },
    /// An instruction, or a form of it, that has no lifting.
    #[error("instruction {inst}: `{text}` is not supported{}{}", if .why.is_empty() { "" } else { ": " }, .why)]
    Unsupported {
        /// The instruction's number in its function.
        inst: u32,
        /// Its operator, or the name of the function that it calls.
        text: String,
        /// What of it is not supported, if it is not all.
        why: &'static str,
    },
}

/// What stops the lifter of one instruction; which is known further up.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// Something that is not supported, in words if it is not the instruction as a whole.
    Unsupported(&'static str),
    /// A value without definition so far.
    Undefined(u32),
    /// An error that names what it is about itself; boxed, as all results have room for it.
    Error(Box<LiftError>),
}

impl From<LiftError> for Stop {
    fn from(error: LiftError) -> Stop {
        Stop::Error(Box::new(error))
    }
}

pub(crate) type Lift<T> = Result<T, Stop>;

/// A lifted shader.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The module.
    pub module: IrModule,
    /// What the metadata says of it.
    pub program: Program,
}

/// Lifts the entry point of a module, a descriptor set for each register space. What comes of it is verified.
///
/// # Errors
/// See [`LiftError`].
pub fn lift(module: &Module, options: &LiftOptions) -> Result<Lifted, LiftError> {
    lift_bound(module, options, &RegisterSpaces::default())
}

/// Lifts the entry point of a module, its resources bound as a remapper says. What comes of it is verified.
///
/// # Errors
/// See [`LiftError`].
pub fn lift_bound(
    module: &Module,
    options: &LiftOptions,
    remapper: &dyn Remapper,
) -> Result<Lifted, LiftError> {
    let programs = Program::all(module)?;
    let count = programs.len();
    let program = programs.into_iter().nth(options.entry).ok_or(LiftError::NoEntry { count })?;
    let stage = stage_of(program.kind).ok_or(LiftError::Stage(program.kind))?;
    let size = program.threads;
    let count = size.iter().fold(1u64, |n, &s| n.saturating_mul(s.into()));
    if !(1..=1024).contains(&count) {
        return Err(LiftError::Workgroup(size));
    }
    let function = program.function.and_then(|f| module.functions.get(f as usize)).ok_or(LiftError::Entry)?;
    let body = function.body.as_ref().ok_or(LiftError::Entry)?;
    let mut ir = IrModule::new(stage, program.name.clone());
    let square_quads = places::has_square_quads(module, &program);
    ir.workgroup = match &program.node {
        _ if square_quads => places::workgroup(size),
        Some(node) => node::workgroup(node, size)?,
        None => size,
    };
    ir.pipeline = program.pipeline;
    ir.pipeline.dual_source = options.dual_source && stage == Stage::Fragment;
    ir.pipeline.invariant_position = options.invariant_position
        && matches!(stage, Stage::Vertex | Stage::TessEval | Stage::Geometry | Stage::Mesh);
    // What is flushed says so op by op.
    if program.denormals == Denormals::Preserve {
        ir.denormals = stage::Denormals::Preserve;
    }
    ir.samplers = Samplers::Separate;
    ir.optimized = true;
    let mut func = Function::new("main");
    func.reserve(body.insts.len());
    let mut cx = Cx::new(module, body, &program, (*options, remapper), &mut ir, &mut func)?;
    cx.square_quads = square_quads;
    shader::emit(&mut cx)?;
    cx.finish();
    if program.denormals == Denormals::Flush {
        flush(&mut func);
    }
    ir.entry = Some(ir.funcs.push(func)).into();
    if options.images_without_format {
        resource::drop_formats(&mut ir);
    }
    // The bitcode's reader does not look for this, as what is sound is sound in the IR, too.
    verify(&ir)
        .map_err(|e| LiftError::Unsound(e.errors.first().map(|e| e.to_string()).unwrap_or_default()))?;
    Ok(Lifted { module: ir, program })
}

/// Has arithmetic of 32-bit floats flush denormals.
fn flush(func: &mut Function) {
    let insts: Vec<Inst> = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).copied().collect();
    for inst in insts {
        let values = func.results(inst).iter().chain(func.args(inst));
        let single = values.into_iter().any(|&v| func.ty(v).kind() == Kind::F32);
        let data = &mut func.insts[inst];
        if single && Flags::NONE.with_ftz().within(data.op.info().flags) {
            data.flags = data.flags.with_ftz();
        }
    }
}

fn stage_of(kind: ShaderKind) -> Option<Stage> {
    Some(match kind {
        ShaderKind::Pixel => Stage::Fragment,
        ShaderKind::Vertex => Stage::Vertex,
        ShaderKind::Geometry => Stage::Geometry,
        ShaderKind::Hull => Stage::TessControl,
        ShaderKind::Domain => Stage::TessEval,
        ShaderKind::Compute | ShaderKind::Node => Stage::Compute,
        ShaderKind::Library => return None,
        ShaderKind::RayGeneration => Stage::RayGen,
        ShaderKind::Intersection => Stage::Intersection,
        ShaderKind::AnyHit => Stage::AnyHit,
        ShaderKind::ClosestHit => Stage::ClosestHit,
        ShaderKind::Miss => Stage::Miss,
        ShaderKind::Callable => Stage::Callable,
        ShaderKind::Mesh => Stage::Mesh,
        ShaderKind::Amplification => Stage::Task,
    })
}

/// An instruction's operator, or the name of the function that it calls.
fn mnemonic(module: &Module, body: &crate::bitcode::Body, kind: &InstKind) -> String {
    let name = match kind {
        InstKind::Call { callee, .. } => {
            let callee = module.value(Some(body), *callee).map(|v| &v.def);
            let Some(crate::bitcode::Def::Function(index)) = callee else { return "call".into() };
            let name = module.functions.get(*index as usize).map_or(&[][..], |f| &f.name);
            return String::from_utf8_lossy(name).into_owned();
        }
        InstKind::Binary { op, .. } => op.name(),
        InstKind::Cast { op, .. } => op.name(),
        InstKind::Gep { .. } => "getelementptr",
        InstKind::Select(_) => "select",
        InstKind::ExtractElement(_) => "extractelement",
        InstKind::InsertElement(_) => "insertelement",
        InstKind::ShuffleVector(_) => "shufflevector",
        InstKind::Compare { predicate, .. } => predicate.name(),
        InstKind::Return(_) => "ret",
        InstKind::Jump(_) | InstKind::Branch { .. } => "br",
        InstKind::Switch { .. } => "switch",
        InstKind::Unreachable => "unreachable",
        InstKind::Phi(_) => "phi",
        InstKind::Alloca { .. } => "alloca",
        InstKind::Load { .. } => "load",
        InstKind::Store { .. } => "store",
        InstKind::ExtractValue { .. } => "extractvalue",
        InstKind::InsertValue { .. } => "insertvalue",
        InstKind::AtomicRmw { .. } => "atomicrmw",
        InstKind::CompareExchange { .. } => "cmpxchg",
        InstKind::Fence(_) => "fence",
    };
    name.into()
}
