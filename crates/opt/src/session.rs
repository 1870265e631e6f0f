//! A function that passes run on, with what they know of it.
//!
//! Passes tell each other what they found out, so that none looks twice for what another has seen to. Such knowledge
//! holds for one function, in the state the last pass left it in. [`Session`] ties it to that function: it starts knowing
//! nothing and holds the function borrowed, so nobody can change it between passes or run a pass on another one. A pass
//! ends with `Work::done`, which forgets whatever the pass does not say it kept: a new pass is slow before it is wrong.

use crate::context::{Buffers, Context};
use crate::edit::Replaced;
use crate::effects::{Rare, Resources};
use xenoglot_ir::analysis::{Analyses, Changed};
use xenoglot_ir::{Func, Function, Module};

/// A function of a module while passes run on it.
///
/// ```
/// use xenoglot_ir::{Function, Module, Stage};
/// use xenoglot_opt::{Context, promote, simplify};
///
/// let mut module = Module::new(Stage::Compute, "two functions");
/// let funcs = ["one", "other"].map(|name| module.funcs.push(Function::new(name)));
/// let mut context = Context::new();
/// for func in funcs {
///     let mut session = context.session(&mut module, func);
///     session.run(promote::run);
///     session.run(simplify::run);
/// }
/// ```
///
/// The function cannot be changed behind the session's back, and the context serves one session at a time:
///
/// ```compile_fail,E0499
/// # use xenoglot_ir::{Function, Module, Stage};
/// # use xenoglot_opt::{Context, promote};
/// # let mut module = Module::new(Stage::Compute, "two functions");
/// # let funcs = ["one", "other"].map(|name| module.funcs.push(Function::new(name)));
/// # let mut context = Context::new();
/// let mut session = context.session(&mut module, funcs[0]);
/// module.funcs[funcs[0]].layout.clear();
/// session.run(promote::run);
/// ```
pub struct Session<'a> {
    module: &'a mut Module,
    func: Func,
    known: &'a mut Known,
    buffers: &'a mut Buffers,
}

/// What passes know of the function of a session.
///
/// | fact | whose | used by |
/// |---|---|---|
/// | `analyses` | whoever asks first | all |
/// | `rare` | the session's, at its start | `branch_fold`, `copy_propagate` |
/// | `all_used` | `dead_code`'s | `dead_code`, `block_params` |
/// | `folded` | `branch_fold`'s | `branch_fold` |
/// | `replaced.stale` | `simplify`'s, kept true by [`Replaced`] | `simplify` |
#[derive(Default)]
pub(crate) struct Known {
    /// Analyses of the function.
    pub(crate) analyses: Analyses,
    /// Which rare ops the function may have. No pass makes such ops.
    pub(crate) rare: Rare,
    /// `dead_code` would find nothing: no value lost its last use since it ran.
    pub(crate) all_used: bool,
    /// `branch_fold` would find nothing.
    pub(crate) folded: bool,
    /// The results that `simplify` has yet to look at. The rest of it is empty between passes.
    pub(crate) replaced: Replaced,
}

/// What is still true after a pass changed something, beyond what [`Changed`] says.
#[derive(Clone, Copy)]
pub(crate) struct Keeps {
    /// Analyses of the graph, although blocks went: the entry did not reach them.
    pub(crate) graph: bool,
    /// [`Known::all_used`]: no value lost its last use.
    pub(crate) all_used: bool,
    /// `stale` of [`Known::replaced`]: operands and ops changed through [`Replaced`] only, or the pass marked the results.
    pub(crate) stale: bool,
}

impl Keeps {
    /// Nothing: always right.
    pub(crate) const NOTHING: Keeps = Keeps { graph: false, all_used: false, stale: false };
    /// For passes that rewrite operands through [`Replaced`].
    pub(crate) const STALE: Keeps = Keeps { stale: true, ..Keeps::NOTHING };
    /// For those whose every value was used as much before, too.
    pub(crate) const USES: Keeps = Keeps { all_used: true, ..Keeps::STALE };
}

/// A function in the hands of a pass.
pub struct Work<'a> {
    pub(crate) f: &'a mut Function,
    pub(crate) resources: &'a Resources,
    pub(crate) known: &'a mut Known,
    pub(crate) buffers: &'a mut Buffers,
    changed: Changed,
}

/// That a pass is done and has said what it changed: made by [`Work`] alone.
#[must_use]
pub struct Done(Changed);

/// A pass.
pub type Run = fn(&mut Work<'_>) -> Done;

impl Work<'_> {
    /// Something changed, and the pass goes on: what is not true any more is forgotten.
    pub(crate) fn change(&mut self, changed: Changed, keeps: Keeps) {
        self.changed = self.changed.or(changed);
        if !changed.any() {
            return;
        }
        let forget = if keeps.graph { Changed::INSTS } else { changed };
        self.known.analyses.invalidate(forget);
        self.known.folded = false;
        self.known.all_used &= keeps.all_used;
        if !keeps.stale {
            self.known.replaced.stale.all();
        }
    }

    /// The pass is done; this was its last change.
    pub(crate) fn done(&mut self, changed: Changed, keeps: Keeps) -> Done {
        self.change(changed, keeps);
        Done(self.changed)
    }

    /// The pass is done; all that changed has been said.
    pub(crate) fn finish(&self) -> Done {
        Done(self.changed)
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(cx: &'a mut Context, module: &'a mut Module, func: Func) -> Session<'a> {
        let Context { known, buffers } = cx;
        known.start(&module.funcs[func]);
        Session { module, func, known, buffers }
    }

    /// Runs a pass; what it changed.
    pub fn run(&mut self, pass: Run) -> Changed {
        let Module { funcs, resources, .. } = &mut *self.module;
        let mut work = Work {
            f: &mut funcs[self.func],
            resources,
            known: self.known,
            buffers: self.buffers,
            changed: Changed::NONE,
        };
        let Done(changed) = pass(&mut work);
        debug_assert!(self.known.rare.covers(self.function()), "a pass made a rare op");
        changed
    }

    /// The module.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The function's number.
    pub fn func(&self) -> Func {
        self.func
    }

    /// The function, as the last pass left it.
    pub fn function(&self) -> &Function {
        &self.module.funcs[self.func]
    }
}

impl Known {
    /// Forgets all that is known of another function; buffers stay.
    fn start(&mut self, f: &Function) {
        self.analyses.clear();
        self.rare = Rare::of(f);
        self.all_used = false;
        self.folded = false;
        self.replaced.reset(f);
        self.replaced.stale.all();
    }
}
