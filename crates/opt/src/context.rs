//! Buffers that outlive a function.

use crate::session::{Known, Session};
use crate::{
    block_params, branch_fold, copy_propagate, cse, dead_code, legalize, licm, promote, scalarize, simplify,
};
use xenoglot_ir::{Func, Module};

/// The optimiser's memory, reused from function to function.
///
/// A context by itself knows nothing of any function: [`Context::session`] is how passes run.
#[derive(Default)]
pub struct Context {
    pub(crate) known: Known,
    pub(crate) buffers: Buffers,
}

/// What passes work with. Each makes its own ready before it uses them.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) promote: promote::Buffers,
    pub(crate) simplify: simplify::Buffers,
    pub(crate) copy_propagate: copy_propagate::Buffers,
    pub(crate) cse: cse::Buffers,
    pub(crate) dead_code: dead_code::Buffers,
    pub(crate) branch_fold: branch_fold::Buffers,
    pub(crate) block_params: block_params::Buffers,
    pub(crate) licm: licm::Buffers,
    pub(crate) scalarize: scalarize::Buffers,
    pub(crate) legalize: legalize::Buffers,
}

impl Context {
    /// A context with empty buffers.
    pub fn new() -> Context {
        Context::default()
    }

    /// Opens a function of `module` for passes.
    pub fn session<'a>(&'a mut self, module: &'a mut Module, func: Func) -> Session<'a> {
        Session::new(self, module, func)
    }
}
