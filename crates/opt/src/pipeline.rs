//! The pass list.
//!
//! [`optimize_function`] reads as what happens to a function; [`PASSES`] is what `--print-after` and tests know
//! passes by.

use crate::session::{Run, Session};
use crate::{
    Changed, Context, block_params, branch_fold, constant_fold, copy_propagate, cse, dead_code, licm,
    lower_floats, lower_memory, lower_subgroups, lower_wide_atomics, promote, scalarize, simplify,
};
use std::time::{Duration, Instant};
use xenoglot_ir::verify::{VerifyErrors, verify_func};
use xenoglot_ir::{Func, Module};

/// A pass.
pub struct Pass {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What it does, in a line.
    pub doc: &'static str,
    /// The pass.
    pub run: Run,
}

macro_rules! passes {
    ($($name:ident $doc:literal,)+) => {
        /// Every pass, by name.
        pub const PASSES: &[Pass] =
            &[$(Pass { name: stringify!($name), doc: $doc, run: $name::run }),+];
    };
}

passes! {
    promote "guest registers become SSA values",
    constant_fold "ops on constants become constants",
    simplify "ops become simpler equal ones",
    copy_propagate "values that are always another are replaced by it",
    cse "equal instructions are merged",
    branch_fold "edges never taken and blocks that do nothing go",
    block_params "parameters that are one constant become it",
    licm "loop-invariant code moves before the loop",
    dead_code "what nobody needs goes",
    scalarize "vector ops become scalar ops",
    lower_memory "narrow accesses go by words, wrapping and float atomics are loops",
}

/// The pass called `name`.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

/// How much to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
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
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// How much to do; `None`: lightly where the guest's compiler has optimised ([`Module::optimized`]), else all of it.
    pub level: Option<Level>,
    /// Whether to end with scalar ops only, for back ends without vectors.
    pub scalarize: bool,
    /// Whether to leave only accesses of words, for back ends without others, and no 64-bit atomics on shared memory.
    pub lower_memory: bool,
    /// What the host's floats cannot do, to be done with integers.
    pub floats: lower_floats::Options,
    /// Lanes of the host's subgroups, where ops on subgroups of other widths are to go through shared memory. 0: leave
    /// them.
    pub subgroup_width: u8,
}

/// A pass that ran, and on what.
#[derive(Clone, Copy)]
pub struct Ran<'a> {
    /// The pass.
    pub pass: &'static Pass,
    /// The module.
    pub module: &'a Module,
    /// The function of it that the pass ran on.
    pub func: Func,
    /// What it changed.
    pub changed: Changed,
    /// How long it took; zero unless [`Observer::timed`].
    pub took: Duration,
}

/// Who looks on after each pass, to print, measure or verify, and may stop it.
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

/// Verifies the function after each pass.
pub struct Verify;

impl Observer for Verify {
    type Error = VerifyErrors;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), VerifyErrors> {
        verify_func(ran.module, ran.func)
    }
}

/// Runs passes one by one and tells the observer.
struct Runner<'a, O: Observer> {
    session: Session<'a>,
    observer: &'a mut O,
}

impl<O: Observer> Runner<'_, O> {
    fn run(&mut self, name: &'static str) -> Result<Changed, O::Error> {
        // The list below names passes of the table only; the tests run every line of it.
        let Some(pass) = pass(name) else { return Ok(Changed::NONE) };
        let start = self.observer.timed().then(Instant::now);
        let changed = self.session.run(pass.run);
        let took = start.map_or(Duration::ZERO, |s| s.elapsed());
        let (module, func) = (self.session.module(), self.session.func());
        self.observer.after(Ran { pass, module, func, changed, took })?;
        Ok(changed)
    }
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
    let level = options.level.unwrap_or(if module.optimized { Level::Light } else { Level::Full });
    let mut r = Runner { session: cx.session(module, func), observer };
    r.run("promote")?;
    if options.lower_memory {
        r.run("lower_memory")?;
    }
    if level >= Level::Light {
        r.run("simplify")?;
    }
    if level == Level::Full {
        // Lanes moved directly leave most masked writes dead: what follows need not look at them.
        r.run("dead_code")?;
        r.run("branch_fold")?;
        r.run("copy_propagate")?;
        r.run("cse")?;
        // Equal operands and one-way branches show only now.
        r.run("simplify")?;
        if r.run("branch_fold")?.cfg {
            r.run("copy_propagate")?;
        }
        r.run("block_params")?;
        r.run("licm")?;
    }
    if options.scalarize {
        r.run("scalarize")?;
        r.run("simplify")?;
        r.run("cse")?;
    }
    r.run("dead_code")?;
    Ok(())
}

/// Optimises every function of a module, then lowers what the options say the host lacks.
pub fn optimize<O: Observer>(
    module: &mut Module,
    cx: &mut Context,
    options: &Options,
    observer: &mut O,
) -> Result<(), O::Error> {
    let funcs = module.funcs.len();
    for func in module.funcs.keys() {
        optimize_function(module, func, cx, options, observer)?;
    }
    lower_floats::run(module, options.floats);
    if options.lower_memory {
        lower_wide_atomics::run(module);
    }
    if options.subgroup_width != 0 {
        lower_subgroups::run(module, options.subgroup_width);
    }
    for func in module.funcs.keys().skip(funcs) {
        optimize_function(module, func, cx, options, observer)?;
    }
    Ok(())
}
