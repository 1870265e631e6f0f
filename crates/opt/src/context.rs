//! What passes share: analyses, facts about the module, buffers that outlive a function.

use crate::effects::Rare;
use crate::{
    block_params, branch_fold, copy_propagate, cse, dead_code, edit, licm, promote, scalarize, simplify,
};
use xenoglot_ir::analysis::{Analyses, Changed};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::{Function, Module, Resource};

/// State of the optimiser, reused from function to function.
pub struct Context {
    /// Analyses of the function at hand. Every pass leaves them telling the truth.
    pub analyses: Analyses,
    pub(crate) oob: SecondaryMap<Resource, OutOfBounds>,
    pub(crate) rare: Rare,
    /// Whether something may have lost its last use since `dead_code` ran.
    pub(crate) loose: bool,
    /// Whether `branch_fold` left nothing for its next run, and no pass changed anything since.
    pub(crate) folded: bool,
    pub(crate) replaced: edit::Replaced,
    pub(crate) promote: promote::Buffers,
    pub(crate) simplify: simplify::Buffers,
    pub(crate) copy_propagate: copy_propagate::Buffers,
    pub(crate) cse: cse::Buffers,
    pub(crate) dead_code: dead_code::Buffers,
    pub(crate) branch_fold: branch_fold::Buffers,
    pub(crate) block_params: block_params::Buffers,
    pub(crate) licm: licm::Buffers,
    pub(crate) scalarize: scalarize::Buffers,
}

impl Default for Context {
    fn default() -> Context {
        Context {
            analyses: Analyses::new(),
            // What is not known may fault.
            oob: SecondaryMap::with_default(OutOfBounds::Fault),
            rare: Rare::default(),
            loose: true,
            folded: false,
            replaced: Default::default(),
            promote: Default::default(),
            simplify: Default::default(),
            copy_propagate: Default::default(),
            cse: Default::default(),
            dead_code: Default::default(),
            branch_fold: Default::default(),
            block_params: Default::default(),
            licm: Default::default(),
            scalarize: Default::default(),
        }
    }
}

impl Context {
    /// A context that knows no module: every access to a resource may fault.
    pub fn new() -> Context {
        Context::default()
    }

    /// Learns what accesses outside `module`'s resources do. Call [`Context::begin`] before each of its functions.
    pub fn set_module(&mut self, module: &Module) {
        self.oob.clear();
        for (r, data) in &module.resources {
            self.oob[r] = data.oob;
        }
    }

    /// Starts on `f`: whatever is known of another function is forgotten.
    pub fn begin(&mut self, f: &Function) {
        self.analyses.clear();
        self.rare = Rare::of(f);
        self.loose = true;
        self.folded = false;
        self.replaced.reset(f);
        self.replaced.stale.all();
    }

    /// A pass ends: what is not true any more is forgotten.
    pub(crate) fn end(&mut self, changed: Changed) -> Changed {
        self.loose |= changed.any();
        self.end_tight(changed)
    }

    /// A pass ends that took no value its last use.
    pub(crate) fn end_tight(&mut self, changed: Changed) -> Changed {
        self.analyses.invalidate(changed);
        self.folded &= !changed.any();
        changed
    }
}
