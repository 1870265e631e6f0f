//! Random programs in the IR whose results every correct host agrees on, bit for bit.
//!
//! A program is a compute kernel with one storage buffer in, one out, and an arbitrary control-flow graph. What could
//! make correct hosts differ does not occur:
//!
//! * It ends: every cycle passes a block that takes from a counter and leaves when that is used up.
//! * Accesses stay inside the invocation's own part of the buffers.
//! * A NaN is replaced by the canonical one before its bits can be seen.
//! * Without [`Options::denormals`], results of float arithmetic below a bound are replaced by a zero of their sign.
//!   The bound's square is a normal number, so no product or sum of what is left is denormal.
//! * Float to integer conversions clamp; there are no approximate ops, no undefined values, no integer divisions that
//!   trap.

mod body;
mod ops;
mod steps;
mod values;

use crate::cfg::{self, Shape};
use crate::rng::Rng;
use std::collections::BTreeMap;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{Func, Kind, Module, Op, Resource, Stage, Type};

pub use ops::{Family, family};

/// 32-bit words of the input buffer per invocation: the first half integers, the second floats.
pub const IN_WORDS: u32 = 16;
/// 32-bit words of the output buffer per invocation.
pub const OUT_WORDS: u32 = 16;

/// The input buffer: set 0, binding 0, read only.
pub const INPUT: u32 = 0;
/// The output buffer: set 0, binding 1. It starts as zeros.
pub const OUTPUT: u32 = 1;

/// What programs may contain.
#[derive(Clone, Debug)]
pub struct Options {
    /// Families of ops.
    pub families: Vec<Family>,
    /// Ops of these families left out.
    pub without: Vec<Op>,
    /// Kinds of values besides `bool`, `i32` and `f32`.
    pub kinds: Vec<Kind>,
    /// Shape of the graph; any if `None`.
    pub shape: Option<Shape>,
    /// Most nodes of the graph.
    pub nodes: u32,
    /// Most ops per node, what makes them safe not counted.
    pub ops: u32,
    /// Times that control may go round a cycle, in all and per call.
    pub iterations: u32,
    /// Most functions besides the entry.
    pub helpers: u32,
    /// Invocations of the workgroup, along x.
    pub invocations: u32,
    /// Whether denormals may occur.
    pub denormals: bool,
}

impl Default for Options {
    /// Everything with 32-bit values but denormals: 12 nodes of up to 8 ops, 40 iterations, two helpers, 4 invocations.
    fn default() -> Options {
        Options {
            families: Family::ALL.to_vec(),
            without: Vec::new(),
            kinds: Vec::new(),
            shape: None,
            nodes: 12,
            ops: 8,
            iterations: 40,
            helpers: 2,
            invocations: 4,
            denormals: false,
        }
    }
}

impl Options {
    /// Integers and control flow only.
    pub fn integers() -> Options {
        let floats = |f: &Family| !matches!(ops::CLASSES[*f as usize].1, ops::Uses::Floats);
        Options { families: Family::ALL.iter().copied().filter(floats).collect(), ..Options::default() }
    }

    fn has(&self, family: Family) -> bool {
        self.families.contains(&family)
    }
}

/// A program for the seed: the same for the same seed and options.
pub fn generate(seed: u64, options: &Options) -> Module {
    let mut rng = Rng::new(seed);
    let mut module = Module::new(Stage::Compute, format!("random {seed}"));
    module.workgroup = [options.invocations.max(1), 1, 1];
    for (name, access) in [("words_in", Access::Read), ("words_out", Access::ReadWrite)] {
        module.resources.push(ResourceData {
            name: name.into(),
            kind: ResourceKind::StorageBuffer { access },
            set: 0,
            binding: module.resources.len() as u32,
            count: Count::One,
            oob: OutOfBounds::Undefined,
        });
    }
    let id = module.vars.push(VarData {
        name: "invocation".into(),
        direction: Direction::Input,
        ty: Type::new(Kind::I32, 3).unwrap_or(Type::I32),
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let memory = body::Memory { id, input: Resource::new(0), output: Resource::new(1) };

    let helpers = if options.has(Family::Calls) { rng.below(options.helpers + 1) } else { 0 };
    let mut callees: Vec<body::Signature> = Vec::new();
    for n in 0..helpers {
        // Helpers are leaves, small and short, so that calls in a loop stay cheap.
        let succs = graph(&mut rng, options, options.nodes.min(5));
        let signature = body::Signature::random(Func::new(n as usize), &mut rng, options);
        module.funcs.push(body::helper(&mut rng, options, &signature, &succs));
        callees.push(signature);
    }
    let succs = graph(&mut rng, options, options.nodes);
    let main = body::main(&mut rng, options, &callees, &memory, &succs);
    module.entry = Some(module.funcs.push(main)).into();
    module
}

fn graph(rng: &mut Rng, options: &Options, nodes: u32) -> cfg::Succs {
    let mut succs = cfg::keep_reachable(match options.shape {
        Some(shape) => cfg::random_of(rng, shape, nodes),
        None => cfg::random(rng, nodes),
    });
    if !options.has(Family::Switches) {
        succs.iter_mut().for_each(|to| to.truncate(2));
        succs = cfg::keep_reachable(succs);
    }
    succs
}

/// The input buffer's words for a seed.
pub fn inputs(seed: u64, options: &Options) -> Vec<u32> {
    let mut rng = Rng::new(seed ^ 0x005e_ed0f_1a57_00d5);
    let mut word = |n: u32| {
        let kind = if n < IN_WORDS / 2 { Kind::I32 } else { Kind::F32 };
        values::interesting(&mut rng, kind, options.denormals) as u32
    };
    (0..options.invocations.max(1) * IN_WORDS).map(|n| word(n % IN_WORDS)).collect()
}

/// Size of the output buffer in 32-bit words.
pub fn output_words(options: &Options) -> usize {
    (options.invocations.max(1) * OUT_WORDS) as usize
}

/// How often each op occurs in a module.
pub fn count_ops(module: &Module) -> BTreeMap<Op, u64> {
    let mut counts = BTreeMap::new();
    for f in module.funcs.values() {
        for inst in f.layout.iter().flat_map(|&b| &f.blocks[b].insts) {
            *counts.entry(f.insts[*inst].op).or_insert(0) += 1;
        }
    }
    counts
}

/// The output buffer of `words` words after a run of a generated module on the interpreter; none if the run was
/// stopped.
///
/// # Panics
/// If the interpreter refuses the module: the generator is wrong then.
pub fn interpret(module: &Module, input: &[u32], words: usize) -> Option<Vec<u32>> {
    let mut interpreter = Interpreter::new(module).unwrap_or_else(|e| panic!("{}: {e}", module.name));
    let mut bindings = Bindings::new(module);
    bindings.set_words(Resource::new(INPUT as usize), input);
    bindings.set_words(Resource::new(OUTPUT as usize), &vec![0; words]);
    interpreter.dispatch([1; 3], &mut bindings, &Limits::default()).ok()?;
    Some(bindings.words(Resource::new(OUTPUT as usize)))
}
