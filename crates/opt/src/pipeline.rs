//! The pass list.
//!
//! [`optimize`] reads as what happens to a module, [`optimize_function`] as what happens to each of its functions;
//! [`PASSES`] is what `--print-after` and tests know passes by.

use crate::session::{Run, Session};
use crate::{
    Changed, Context, Lacks, add_position, block_params, branch_fold, bypass, combine_samplers,
    constant_fold, copy_propagate, cse, dead_code, flatten, inline_calls, join_components, legalize, licm,
    lower_absent, lower_derivatives, lower_draw_parameters, lower_float64, lower_floats, lower_helpers,
    lower_int64, lower_invocations, lower_levels, lower_memory, lower_narrow, lower_signed_atomics,
    lower_subgroups, lower_texel_buffers, lower_texture_lines, lower_wide_atomics, promote, quads, relax,
    scalarize, separate_bindings, separate_comparisons, separate_samplers, simplify, split_arrays,
};
use std::time::{Duration, Instant};
use xenoglot_ir::verify::{VerifyErrors, verify, verify_func};
use xenoglot_ir::{Func, Function, Module, Stage, TermKind};

/// A pass.
pub struct Pass {
    /// Its name: that of its file.
    pub name: &'static str,
    /// `opt/` and its name, which tells it apart from what else has a version.
    pub path: &'static str,
    /// What it does, in a line.
    pub doc: &'static str,
    /// Counts the changes of its code: part of a cache's keys, so that results of other code are not served. The test
    /// `versions` fails where a pass changed and its version did not.
    pub version: u16,
    /// The pass.
    pub kind: PassKind,
}

/// What a pass works on.
#[derive(Clone, Copy)]
pub enum PassKind {
    /// A function at a time.
    Function(Run),
    /// The module, since it adds functions, memory or inputs to it. It does nothing where the host lacks nothing that the
    /// pass makes.
    Module(fn(&mut Module, &Lacks) -> Changed),
    /// The module, with memory that outlives it.
    Buffered(fn(&mut Module, &Lacks, &mut Context) -> Changed),
}

macro_rules! passes {
    ($($name:ident $version:literal $kind:ident $doc:literal,)+) => {
        /// Every pass, by name.
        pub const PASSES: &[Pass] = &[$(
            Pass {
                name: stringify!($name),
                path: concat!("opt/", stringify!($name)),
                doc: $doc,
                version: $version,
                kind: PassKind::$kind($name::run),
            }
        ),+];
    };
}

passes! {
    promote 3 Function "guest registers become SSA values",
    quads 1 Function "sums over quads become derivatives and plain sums",
    relax 1 Function "floats lose what only guests ask for: flushed denormals, rules for zeros and NaNs, rounding",
    constant_fold 1 Function "ops on constants become constants",
    simplify 1 Function "ops become simpler equal ones",
    copy_propagate 1 Function "values that are always another are replaced by it",
    cse 1 Function "equal instructions are merged",
    branch_fold 2 Function "edges never taken and blocks that do nothing go",
    block_params 1 Function "parameters that are one constant become it",
    licm 2 Function "loop-invariant code moves before the loop",
    dead_code 1 Function "what nobody needs goes",
    bypass 1 Function "edges lead past short blocks that compute constants",
    flatten 2 Function "short arms of branches are computed always, and selected",
    scalarize 1 Function "vector ops become scalar ops",
    lower_memory 4 Function "narrow accesses go by words, wrapping and float atomics are loops",
    join_components 2 Module "variables at one location become one vector",
    add_position 1 Module "vertex shaders without a position get one",
    separate_samplers 1 Module "textures that come with their sampler get one of their own",
    combine_samplers 2 Module "textures without a sampler get the one that they are sampled with",
    lower_absent 4 Module "features that the host does not have at all are what devices without them have",
    lower_draw_parameters 1 Module "what a draw begins with is read from a uniform buffer",
    lower_invocations 1 Module "workgroups, and invocations in them, are computed from the invocation in the dispatch",
    lower_texel_buffers 2 Module "buffers of texels become storage buffers",
    lower_texture_lines 2 Module "textures of one dimension become rows of two-dimensional ones",
    lower_helpers 2 Module "invocations remember whether they are helpers",
    lower_levels 2 Module "levels of detail and offsets of gathers are computed",
    lower_derivatives 2 Module "derivatives of compute shaders are differences within quads",
    separate_comparisons 1 Module "textures that are compared with and read otherwise are declared twice",
    separate_bindings 1 Module "resources at one binding get others",
    split_arrays 1 Module "arrays of buffers become single buffers",
    lower_floats 5 Module "float arithmetic that the host lacks is computed in integers, wider floats or by `fma`",
    lower_narrow 2 Module "integers and floats of less than 32 bits become 32 bits wide",
    legalize 8 Buffered "ops and flags that no shading language has become ops that they have",
    lower_float64 1 Module "64-bit floats become the integers of their bits",
    lower_int64 3 Module "64-bit integers become pairs of 32-bit ones",
    inline_calls 1 Module "functions take the place of their calls",
    lower_wide_atomics 1 Module "64-bit atomics on shared memory are done under a lock",
    lower_signed_atomics 1 Module "signed least and greatest in memory are loops",
    lower_subgroups 3 Module "subgroups of another width than the host's go through shared memory, or are the host's",
}

/// The pass of a name, looked up at compile time.
macro_rules! pass {
    ($name:ident) => {
        const { listed(stringify!($name)) }
    };
}

const fn listed(name: &str) -> &'static Pass {
    let mut i = 0;
    while i < PASSES.len() {
        if is_same(PASSES[i].name, name) {
            return &PASSES[i];
        }
        i += 1;
    }
    panic!("no such pass")
}

/// Whether two names are equal; `==` of strings is not `const` yet.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The pass called `name`.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

/// How much to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Level {
    /// Promotion and what makes its result readable; for debugging front ends.
    None,
    /// And one look at what lifting leaves behind: for guests whose compilers have optimised already.
    Light,
    /// All of the pass list.
    #[default]
    Full,
}

/// How to optimise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// How much to do; `None`: lightly where the guest's compiler has optimised ([`Module::optimized`]), else all of it.
    pub level: Option<Level>,
    /// Whether to end with scalar ops only, for back ends without vectors.
    pub scalarize: bool,
    /// Whether to drop what the guest's floats do otherwise than the host's: see [`relax`].
    pub relaxed_floats: bool,
    /// What the host lacks, to be made of what it has.
    pub lacks: Lacks,
}

/// A pass that ran, and on what.
#[derive(Clone, Copy)]
pub struct Ran<'a> {
    /// The pass.
    pub pass: &'static Pass,
    /// The module.
    pub module: &'a Module,
    /// The function of it that the pass ran on; `None` if it ran on the module.
    pub func: Option<Func>,
    /// What it changed.
    pub changed: Changed,
    /// How long it took; zero unless [`Observer::timed`].
    pub took: Duration,
}

/// Called after each pass, to print, measure or verify; may stop the pipeline.
pub trait Observer {
    /// Why it stopped.
    type Error;

    /// A pass ran. An error ends the optimisation; the module is left as the pass left it.
    fn after(&mut self, ran: Ran<'_>) -> Result<(), Self::Error>;

    /// Whether to measure; otherwise `took` is zero.
    fn timed(&self) -> bool {
        false
    }
}

/// An observer that does nothing.
impl Observer for () {
    type Error = std::convert::Infallible;

    fn after(&mut self, _: Ran<'_>) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Verifies after each pass what it ran on.
pub struct Verify;

impl Observer for Verify {
    type Error = VerifyErrors;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), VerifyErrors> {
        match ran.func {
            Some(func) => verify_func(ran.module, func),
            None => verify(ran.module),
        }
    }
}

/// Runs passes over a function one by one and tells the observer.
struct Runner<'a, O: Observer> {
    session: Session<'a>,
    observer: &'a mut O,
}

impl<O: Observer> Runner<'_, O> {
    fn run(&mut self, pass: &'static Pass) -> Result<Changed, O::Error> {
        let PassKind::Function(run) = pass.kind else { return Ok(Changed::NONE) };
        let start = self.observer.timed().then(Instant::now);
        let changed = self.session.run(run);
        let took = start.map_or(Duration::ZERO, |s| s.elapsed());
        let (module, func) = (self.session.module(), Some(self.session.func()));
        self.observer.after(Ran { pass, module, func, changed, took })?;
        Ok(changed)
    }
}

/// Runs a pass over a module and tells the observer.
fn run_module<O: Observer>(
    module: &mut Module,
    pass: &'static Pass,
    lacks: &Lacks,
    cx: &mut Context,
    observer: &mut O,
) -> Result<Changed, O::Error> {
    let start = observer.timed().then(Instant::now);
    let changed = match pass.kind {
        PassKind::Module(run) => run(module, lacks),
        PassKind::Buffered(run) => run(module, lacks, cx),
        PassKind::Function(_) => return Ok(Changed::NONE),
    };
    let took = start.map_or(Duration::ZERO, |s| s.elapsed());
    observer.after(Ran { pass, module, func: None, changed, took })?;
    Ok(changed)
}

/// Optimises one function of `module`.
pub fn optimize_function<O: Observer>(
    module: &mut Module,
    func: Func,
    cx: &mut Context,
    options: &Options,
    observer: &mut O,
) -> Result<(), O::Error> {
    module.funcs[func].guest_code.clear();
    let (has_quads, is_gpu) = (module.stage == Stage::Fragment, module.stage != Stage::Cpu);
    let level = options.level.unwrap_or(if module.optimized { Level::Light } else { Level::Full });
    let mut r = Runner { session: cx.session(module, func), observer };
    r.run(pass!(promote))?;
    if has_quads {
        r.run(pass!(quads))?;
    }
    if options.relaxed_floats {
        r.run(pass!(relax))?;
    }
    if options.lacks.narrow_memory {
        r.run(pass!(lower_memory))?;
    }
    if level >= Level::Light {
        r.run(pass!(simplify))?;
    }
    if level == Level::Full {
        // Lanes moved directly leave most masked writes dead: what follows need not look at them.
        r.run(pass!(dead_code))?;
        r.run(pass!(branch_fold))?;
        r.run(pass!(copy_propagate))?;
        r.run(pass!(cse))?;
        // Equal operands and one-way branches show only now.
        r.run(pass!(simplify))?;
        if r.run(pass!(branch_fold))?.cfg {
            r.run(pass!(copy_propagate))?;
        }
        r.run(pass!(block_params))?;
        r.run(pass!(licm))?;
    }
    if options.scalarize {
        r.run(pass!(scalarize))?;
        r.run(pass!(simplify))?;
        r.run(pass!(cse))?;
    }
    // What is dead is often all that an arm has: what goes both ways to one place is a jump, and its condition may be dead.
    let removed = r.run(pass!(dead_code))?.any();
    let hollow = || has_hollow_block(&r.session.module().funcs[func]);
    if level == Level::Full && removed && hollow() && r.run(pass!(branch_fold))?.cfg {
        r.run(pass!(dead_code))?;
    }
    if level >= Level::Light && is_gpu {
        r.run(pass!(bypass))?;
        r.run(pass!(flatten))?;
    }
    Ok(())
}

/// Whether a block does nothing but jump on.
fn has_hollow_block(f: &Function) -> bool {
    f.layout
        .iter()
        .map(|&block| &f.blocks[block])
        .any(|b| b.insts.is_empty() && b.term.kind == TermKind::Jump)
}

/// Optimises every function of a module, then makes what the host lacks of what it has.
pub fn optimize<O: Observer>(
    module: &mut Module,
    cx: &mut Context,
    options: &Options,
    observer: &mut O,
) -> Result<(), O::Error> {
    let (funcs, lacks) = (module.funcs.len(), &options.lacks);
    // Before registers are promoted, as it makes new ones.
    if lacks.location_components {
        run_module(module, pass!(join_components), lacks, cx, observer)?;
    }
    for func in module.funcs.keys() {
        optimize_function(module, func, cx, options, observer)?;
    }
    module.relaxed_floats |= options.relaxed_floats;
    for (is_lacking, pass) in [
        (lacks.vertex_without_position, pass!(add_position)),
        (lacks.absent.any(), pass!(lower_absent)),
        (lacks.draw_parameters, pass!(lower_draw_parameters)),
        (lacks.invocations, pass!(lower_invocations)),
        (lacks.combined_samplers, pass!(separate_samplers)),
        (lacks.separate_samplers, pass!(combine_samplers)),
        (lacks.texel_buffers, pass!(lower_texel_buffers)),
        (lacks.texture_lines, pass!(lower_texture_lines)),
        (lacks.helpers, pass!(lower_helpers)),
        (lacks.levels.any(), pass!(lower_levels)),
        (lacks.compute_derivatives, pass!(lower_derivatives)),
        (lacks.buffer_arrays.is_some(), pass!(split_arrays)),
        (lacks.shared_bindings, pass!(separate_comparisons)),
        (lacks.shared_bindings, pass!(separate_bindings)),
        (lacks.floats.any(), pass!(lower_floats)),
        (lacks.shared_int64_atomics, pass!(lower_wide_atomics)),
        (lacks.signed_atomics, pass!(lower_signed_atomics)),
        (lacks.subgroups.is_some(), pass!(lower_subgroups)),
    ] {
        if is_lacking {
            run_module(module, pass, lacks, cx, observer)?;
        }
    }
    for func in module.funcs.keys().skip(funcs) {
        optimize_function(module, func, cx, options, observer)?;
    }
    if lacks.narrow.any() && run_module(module, pass!(lower_narrow), lacks, cx, observer)?.any() {
        for func in module.funcs.keys() {
            // Masks of what is masked already go.
            let mut r = Runner { session: cx.session(module, func), observer: &mut *observer };
            r.run(pass!(simplify))?;
            r.run(pass!(cse))?;
            r.run(pass!(dead_code))?;
        }
    }
    // Last, as it makes of the other passes' ops, too, what the host has; and what it makes is as short as it gets.
    if lacks.arithmetic.any() {
        run_module(module, pass!(legalize), lacks, cx, observer)?;
    }
    if lacks.floats.float64 {
        run_module(module, pass!(lower_float64), lacks, cx, observer)?;
    }
    if lacks.int64 {
        run_module(module, pass!(lower_int64), lacks, cx, observer)?;
    }
    if lacks.calls
        && run_module(module, pass!(inline_calls), lacks, cx, observer)?.any()
        && let Some(entry) = module.entry.expand()
    {
        // What callers know of their operands shows now.
        let mut r = Runner { session: cx.session(module, entry), observer };
        for pass in [pass!(simplify), pass!(branch_fold), pass!(copy_propagate), pass!(cse), pass!(dead_code)]
        {
            r.run(pass)?;
        }
    }
    Ok(())
}
