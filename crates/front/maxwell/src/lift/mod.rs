//! From machine code to IR.
//!
//! [`lift_compute`] makes a module of a kernel: control flow comes from [`crate::flow`], blocks from `graph`, and what
//! instructions mean from the files named after their kinds. Registers are slots until `promote`. Sources of what
//! instructions do: the PTX ISA that they implement, and the recorded runs in `vectors/maxwell` (FORMAT.md there).
//!
//! What a lane of a warp sees is lifted, an invocation being a lane: the warp's stack becomes edges. A trap (BPT) ends
//! the invocation.

mod atomic;
mod attribute;
mod bindless;
mod bits;
mod compare;
mod compute_stage;
mod convert;
mod cubes;
mod cx;
mod flags;
mod float;
mod fragment;
mod gradients;
mod graph;
mod graphics;
mod half;
mod handle;
mod insts;
mod int;
mod interface;
mod layers;
pub mod layout;
mod memory;
mod mul;
mod pending;
mod perspective;
mod product;
mod regs;
mod rework;
mod scaling;
mod special;
mod stack;
mod storage;
mod surface;
mod texture;
mod value;
mod video;
mod viewports;
mod warp;

use crate::flow::{self, FlowError};
pub use crate::flow::{ConstantBank, Limits};
use crate::gpu::{DefaultGpu, GpuAccessor};
use crate::info::ShaderInfo;
use crate::inst::Inst;
use crate::modifier::{BarMode, Mod, Reserved};
use crate::opcode::Opcode;
pub use bindless::trace_handles;
pub use compute_stage::{DRAW_BYTES, stage_to_compute};
pub use cubes::flatten_integer_cubes;
use cx::Cx;
pub use gradients::join_gradients;
pub use graphics::{Shader, lift_graphics};
use interface::Io;
pub use layers::layer_shader;
pub use perspective::cancel_perspective;
use regs::FlagSet;
pub use scaling::{SCALE_BYTES, scale_textures};
pub use storage::bind_storage;
use thiserror::Error;
use value::Numbers;
use xenoglot_ir::{Builder, Function, Module, Stage};

/// A compute kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    /// Code, little-endian 64-bit words, the first being a scheduling word.
    pub code: &'a [u8],
    /// Byte offset of the entry in the code.
    pub entry: u32,
    /// Invocations of a workgroup along x, y and z.
    pub workgroup: [u32; 3],
    /// Bytes of shared memory of a workgroup.
    pub shared_bytes: u32,
    /// Bytes of local memory of an invocation.
    pub local_bytes: u32,
    /// Constant banks whose data is known: where jump tables are read from.
    pub constants: &'a [ConstantBank<'a>],
    /// Byte offsets of functions in the code: where a computed call may go that no table is found for.
    pub functions: &'a [u32],
}

/// Where global memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalMemory {
    /// One storage buffer holds the guest addresses from `base` on, as far as it reaches, at most 4 GiB. Outside, loads
    /// give 0 and stores are dropped.
    Window {
        /// Guest address of the buffer's first byte, a multiple of 16.
        base: u64,
    },
}

/// How to lift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiftOptions {
    /// Where global memory is.
    pub global: GlobalMemory,
    /// Generic address of shared memory, a multiple of 16 MiB.
    pub shared_window: u32,
    /// Generic address of local memory, a multiple of 16 MiB.
    pub local_window: u32,
    /// Descriptor set of everything bound.
    pub set: u32,
    /// Bounds on the work.
    pub limits: Limits,
}

impl Default for LiftOptions {
    fn default() -> LiftOptions {
        LiftOptions {
            global: GlobalMemory::Window { base: 0 },
            shared_window: 0x0100_0000,
            local_window: 0x0200_0000,
            set: 0,
            limits: Limits::default(),
        }
    }
}

/// Why a shader cannot be lifted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LiftError {
    /// Control flow cannot be resolved.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// An instruction, or a form of it, that has no lifting yet.
    #[error("{address:#06x}: `{text}` is not supported")]
    Unsupported {
        /// Byte address.
        address: u32,
        /// The instruction's text.
        text: String,
    },
    /// An access to shared memory in a kernel that has none: it counts on what its launch gives it.
    #[error(
        "{address:#06x}: `{text}`: the kernel has no shared memory of its own, how much it gets dynamically has to be said"
    )]
    NoShared {
        /// Byte address.
        address: u32,
        /// The instruction's text.
        text: String,
    },
    /// A workgroup of no or too many invocations.
    #[error("a workgroup of {0:?} invocations; 1 to 1024 are possible")]
    Workgroup([u32; 3]),
    /// A header's program of another stage, or that the state given does not suit.
    #[error("{0}")]
    Stage(&'static str),
    /// More shared memory than a workgroup, or more local memory than an invocation can have.
    #[error("{0} bytes of shared or local memory; at most {MAX_MEMORY} are possible")]
    Memory(u32),
}

/// Most bytes of shared or of local memory: 16 MiB, the size of their windows.
pub const MAX_MEMORY: u32 = 1 << 24;

/// What is not supported; where is known further up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsupported;

impl From<Reserved> for Unsupported {
    fn from(_: Reserved) -> Unsupported {
        Unsupported
    }
}

/// A lifted shader.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The module, with slots: run at least `promote` before emission.
    pub module: Module,
    /// What it uses.
    pub info: ShaderInfo,
}

/// What an instruction of usual kernels makes, lifted and by the passes: their functions do not move as they grow.
const INSTS_PER_NODE: usize = 6;

/// Lifts a compute kernel into a module whose entry function is `main`.
///
/// # Errors
/// See [`LiftError`].
pub fn lift_compute(kernel: &Kernel<'_>, options: &LiftOptions) -> Result<Lifted, LiftError> {
    lift_compute_on(kernel, options, &DefaultGpu)
}

/// [`lift_compute`] for a GPU that knows what the kernel's textures and images are.
///
/// # Errors
/// As [`lift_compute`].
pub fn lift_compute_on(
    kernel: &Kernel<'_>,
    options: &LiftOptions,
    gpu: &dyn GpuAccessor,
) -> Result<Lifted, LiftError> {
    let size = kernel.workgroup;
    let count = size.iter().fold(1u64, |n, &s| n.saturating_mul(s.into()));
    if !(1..=1024).contains(&count) {
        return Err(LiftError::Workgroup(size));
    }
    for bytes in [kernel.shared_bytes, kernel.local_bytes] {
        if bytes > MAX_MEMORY {
            return Err(LiftError::Memory(bytes));
        }
    }
    let known = flow::Known { constants: kernel.constants, functions: kernel.functions };
    let flow = flow::explore(kernel.code, kernel.entry, known, options.limits)?;
    let mut module = Module::new(Stage::Compute, "maxwell");
    module.workgroup = size;
    let reduces = flow.nodes.iter().any(|n| reduces(&n.inst));
    let scratch = kernel.shared_bytes.next_multiple_of(4);
    module.shared_size = if reduces { scratch + 4 } else { kernel.shared_bytes };
    let mut func = Function::new("main");
    func.reserve(INSTS_PER_NODE * flow.nodes.len());
    let stack_base = kernel.local_bytes.next_multiple_of(4);
    func.private_size = if flow.entries.is_empty() { kernel.local_bytes } else { stack_base + stack::BYTES };
    let entry = func.add_block();
    let info = ShaderInfo {
        workgroup: size,
        shared_bytes: module.shared_size,
        local_bytes: kernel.local_bytes,
        ..ShaderInfo::default()
    };
    let mut cx = Cx {
        b: Builder::forwarding(&mut func, entry),
        module: &mut module,
        regs: Default::default(),
        info,
        options: *options,
        guard: None,
        banks: [None; layout::BANKS as usize],
        numbers: Numbers::new(entry),
        known: Default::default(),
        flags_read: FlagSet::default(),
        pieces: Default::default(),
        pending: Vec::new(),
        global: None,
        io: Io::new(gpu, None),
        bound: Default::default(),
        shapes: texture::named_shapes(flow.nodes.iter().map(|n| &n.inst)),
        stack_base,
        barrier_scratch: reduces.then_some(scratch),
    };
    if graph::emit(&mut cx, &flow)? {
        cx.b.ret(&[]);
    }
    let info = cx.finished_info();
    module.entry = Some(module.funcs.push(func)).into();
    Ok(Lifted { module, info })
}

fn reduces(inst: &Inst) -> bool {
    inst.op == Opcode::Bar && inst.get(Mod::BarMode) == Ok(BarMode::Red)
}
