//! From program words to IR.
//!
//! [`lift`] makes a whole module: an entry wrapper around the program. Control flow is explored with the scope
//! stacks as part of a node's identity (`flow`, `graph`); programs with too many contexts are lifted with the stacks
//! as data (`stacks`), so every program that decodes is lifted. What instructions compute is in `insts` and
//! `geometry`, the wrappers in `wrap`, the buffers they use in [`layout`].
//!
//! Guest addresses in the IR are word addresses.

mod flow;
mod geometry;
mod graph;
mod insts;
pub mod layout;
mod live;
pub mod record;
mod regs;
mod stacks;
mod wrap;
mod zeros;

pub use wrap::{ClipSpace, OutputMap, VertexOutputs};
pub use zeros::hide_zeros;

use crate::decode::DecodeError;
use crate::flow::END_PC;
use crate::inst::{Dst, Inst, SrcReg};
use crate::program::Program;
use flow::Stop;
use insts::Cx;
use regs::{File, Regs};
use thiserror::Error;
use xenoglot_ir::module::ListingLine;
use xenoglot_ir::{Builder, Function, Module, NO_GUEST, Stage};

/// The arithmetic of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Numeric {
    /// IEEE single, and a NaN product of factors that are none is +0. What the vectors define.
    #[default]
    Single,
    /// As `Single`, and each result (of MAD the product, too; of dot products only the sum) is rounded to the chip's
    /// 24-bit format, denormals flushed, as the chip is believed to do.
    F24,
    /// IEEE single without the rule for products.
    Fast,
}

/// What is made around the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapper {
    /// A vertex shader: inputs at locations, uniforms in a buffer.
    Vertex(VertexOutputs),
    /// A compute kernel over the buffers of [`layout`]: one invocation per vertex (or primitive).
    Compute {
        /// Invocations of a workgroup along x. The buffers have room for whole workgroups.
        workgroup: u32,
        /// The registers start as the state record has them (geometry invocations see their predecessor's);
        /// otherwise at zero.
        persistent: bool,
        /// For a geometry program: what EMIT copies, and how often.
        geometry: Option<GeometryWrapper>,
    },
}

/// What the compute wrapper of a vertex program that is not persistent loads and stores; others have whole records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Records {
    /// v0 to v15, and a state record that takes all registers.
    #[default]
    Whole,
    /// The same, but only output registers are stored.
    Outputs,
    /// Only the registers of [`Lifted::inputs`] and [`Lifted::outputs`], each set without gaps
    /// ([`layout::packed_place`]).
    Packed,
}

/// The geometry part of a compute wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeometryWrapper {
    /// Bit n: EMIT copies `o` n.
    pub output_mask: u16,
    /// EMITs of an invocation whose vertices and primitives are stored; those beyond are counted only.
    pub emit_capacity: u32,
}

/// Bounds on the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions in distinct scope contexts before the stacks become data. 0 makes them data at once.
    pub max_nodes: usize,
    /// The same for each word of the program that control reaches, beyond [`Limits::FREE_NODES`]. Programs with many
    /// contexts per word are better off with stacks as data: drivers take minutes for shaders of thousands of blocks.
    pub nodes_per_word: usize,
}

impl Limits {
    /// Instructions in distinct scope contexts that programs of any length may have.
    pub const FREE_NODES: usize = 256;

    /// Stacks are always data.
    pub const STACKS_AS_DATA: Limits = Limits { max_nodes: 0, nodes_per_word: 0 };

    fn nodes_of(&self, words: usize) -> usize {
        self.max_nodes.min(Limits::FREE_NODES.saturating_add(self.nodes_per_word.saturating_mul(words)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_nodes: 5120, nodes_per_word: 8 }
    }
}

/// How to lift.
#[derive(Clone, Copy, Debug)]
pub struct LiftOptions {
    /// Word address of the entry point, below 4095.
    pub entry: u32,
    /// Arithmetic.
    pub numeric: Numeric,
    /// What is made around the program.
    pub wrapper: Wrapper,
    /// Whether the compute wrapper counts executed instructions.
    pub count_steps: bool,
    /// What the compute wrapper of a vertex program loads and stores.
    pub records: Records,
    /// Whether each instruction that writes a register leaves a `slot_set` at its address, for those who follow a run word
    /// by word. Otherwise registers are forwarded within a block, and what only moves lanes leaves nothing.
    pub traceable: bool,
    /// Bounds.
    pub limits: Limits,
}

impl LiftOptions {
    /// Lifts from `entry` with a compute wrapper of 64 invocations for a vertex program.
    pub fn compute(entry: u32) -> LiftOptions {
        LiftOptions {
            entry,
            numeric: Numeric::default(),
            wrapper: Wrapper::Compute { workgroup: 64, persistent: false, geometry: None },
            count_steps: false,
            records: Records::default(),
            traceable: false,
            limits: Limits::default(),
        }
    }

    /// Lifts from `entry` as a vertex shader.
    pub fn vertex(entry: u32, outputs: VertexOutputs) -> LiftOptions {
        LiftOptions { wrapper: Wrapper::Vertex(outputs), ..LiftOptions::compute(entry) }
    }
}

/// Why a program cannot be lifted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LiftError {
    /// Control can reach a word that is no instruction.
    #[error("control reaches a word that is no instruction: {0}")]
    Decode(DecodeError),
    /// The entry point is outside program memory.
    #[error("entry point {entry:#x} is outside program memory (0x0 to 0xffe)")]
    Entry {
        /// The entry point.
        entry: u32,
    },
    /// A workgroup of no or too many invocations.
    #[error("a workgroup of {0} invocations; 1 to 1024 are possible")]
    Workgroup(u32),
}

/// What lifting did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FlowStats {
    /// Instructions, one per scope context; 0 if the stacks are data.
    pub nodes: usize,
    /// Scope contexts; 0 if the stacks are data.
    pub contexts: usize,
    /// Whether the stacks are data.
    pub stacks_as_data: bool,
}

/// A lifted program.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The module, with slots: run at least `promote` before emission.
    pub module: Module,
    /// Statistics.
    pub flow: FlowStats,
    /// Bit n: the program reads v `n`.
    pub inputs: u16,
    /// Bit n: the program writes o `n`.
    pub outputs: u16,
}

/// Registers a run of instructions names: inputs read, outputs written.
fn registers<'i>(insts: impl Iterator<Item = &'i Inst>) -> (u16, u16) {
    insts.fold((0, 0), |(inputs, outputs), inst| {
        let read = inst.srcs().iter().fold(0, |m, s| match s.reg {
            SrcReg::Input(n) => m | 1 << (n & 15),
            _ => m,
        });
        let written = match inst.dst() {
            Some(Dst::Output(n)) => 1 << (n & 15),
            _ => 0,
        };
        (inputs | read, outputs | written)
    })
}

/// What a lifted instruction usually makes, and what a wrapper makes.
const INSTS_PER_NODE: usize = 6;
const INSTS_AROUND: usize = 64;

/// Lifts the program into a module whose entry function is `main`.
pub fn lift(program: &Program, options: &LiftOptions) -> Result<Lifted, LiftError> {
    if options.entry >= END_PC {
        return Err(LiftError::Entry { entry: options.entry });
    }
    let flow = match flow::explore(program, options.entry, options.limits) {
        Ok(flow) => Some(flow),
        Err(Stop::TooManyNodes) => None,
        Err(Stop::Error(e)) => return Err(e),
    };
    let (inputs, outputs) = match &flow {
        Some(flow) => registers(flow.nodes.iter().map(|n| &n.inst)),
        None => (u16::MAX, u16::MAX),
    };
    let stage = match options.wrapper {
        Wrapper::Vertex(_) => Stage::Vertex,
        Wrapper::Compute { .. } => Stage::Compute,
    };
    let mut module = Module::new(stage, "pica200");
    let mut func = Function::new("main");
    if let Some(flow) = &flow {
        func.reserve(INSTS_PER_NODE * flow.nodes.len() + INSTS_AROUND);
    }
    let entry = func.add_block();
    let start = func.add_block();
    let end = func.add_block();
    let mut cx = Cx {
        uniforms: wrap::uniforms(&mut module),
        b: if options.traceable {
            Builder::new(&mut func, entry)
        } else {
            Builder::forwarding(&mut func, entry)
        },
        regs: Regs::default(),
        program,
        numeric: options.numeric,
        inputs: [None; 16],
        loaded: [None; 96],
        output_mask: 0,
        events: None,
    };
    let record = match options.wrapper {
        Wrapper::Vertex(_) => {
            wrap::vertex_inputs(&mut module, &mut cx, inputs);
            None
        }
        Wrapper::Compute { workgroup, persistent, geometry } => {
            if !(1..=1024).contains(&workgroup) {
                return Err(LiftError::Workgroup(workgroup));
            }
            module.workgroup = [workgroup, 1, 1];
            cx.output_mask = geometry.map_or(0, |g| g.output_mask);
            let capacity = geometry.map(|g| g.emit_capacity);
            // EMIT exchanges the banks of all outputs there are, also of those written only later in the program.
            for n in (0..16u8).filter(|n| geometry.is_some() && (outputs | cx.output_mask) >> n & 1 == 1) {
                cx.regs.vector(cx.b.func, File::Output, n);
            }
            let packed = options.records == Records::Packed && geometry.is_none() && !persistent;
            let packed = packed.then_some(outputs);
            Some((wrap::compute_prologue(&mut module, &mut cx, inputs, packed, capacity), persistent))
        }
    };
    cx.b.switch_to(start);
    match &flow {
        Some(flow) => {
            let live = if options.traceable {
                Vec::new()
            } else {
                let (at_end, always) = wrap::live(options, outputs);
                live::after_nodes(program, flow, at_end, always)
            };
            graph::emit(&mut cx, flow, &live, end, options.count_steps);
        }
        None => stacks::emit(&mut cx, options.entry, end, options.count_steps)?,
    }
    cx.b.switch_to(end);
    cx.b.set_guest(NO_GUEST);
    match (options.wrapper, record) {
        (Wrapper::Vertex(mapped), _) => wrap::vertex_outputs(&mut module, &mut cx, mapped, outputs),
        (_, Some((record, persistent))) => {
            if options.records == Records::Whole || cx.events.is_some() {
                wrap::compute_epilogue(&mut cx, record, options.count_steps, persistent);
            } else {
                wrap::store_outputs(&mut cx, record);
            }
        }
        (_, None) => {}
    }
    cx.b.ret(&[]);
    cx.b.switch_to(entry);
    if let Some((record, true)) = record {
        wrap::load_state(&mut cx, record);
    }
    cx.b.jump(start, &[]);
    module.entry = Some(module.funcs.push(func)).into();
    let stats = match flow {
        Some(flow) => FlowStats { nodes: flow.nodes.len(), contexts: flow.contexts, stacks_as_data: false },
        None => FlowStats { stacks_as_data: true, ..FlowStats::default() },
    };
    Ok(Lifted { module, flow: stats, inputs, outputs })
}

/// Adds a listing, one line per word address, for comments in what is made of the module.
pub fn add_listing(module: &mut Module, lines: impl IntoIterator<Item = (u32, String)>) {
    module.listing = lines.into_iter().map(|(address, text)| ListingLine { address, text }).collect();
    module.listing.sort_by_key(|l| l.address);
}
