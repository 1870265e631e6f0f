//! The `interp` engine: the lifted module on the IR interpreter.

use super::compare::Observed;
use super::format::TestProgram;
use super::kernel;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Bits, Module, Resource};
use xenoglot_pica_shader::lift::layout::*;

/// Instructions of IR a run may take; the programs of the suite need a fraction of it.
pub(super) const FUEL: u64 = 20_000_000;

/// The module's resource at a binding of set 0.
pub(super) fn resource(module: &Module, binding: u32) -> Option<Resource> {
    module.resources.iter().find(|(_, r)| r.binding == binding).map(|(id, _)| id)
}

/// Runs every set of a program on a compute kernel.
pub fn run(p: &TestProgram, module: &Module) -> Vec<Result<Observed, String>> {
    let mut interpreter = match Interpreter::new(module) {
        Ok(i) => i,
        Err(e) => return vec![Err(e.to_string()); p.sets.len()],
    };
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    p.sets
        .iter()
        .map(|set| {
            let mut bindings = Bindings::new(module);
            for (binding, bytes) in [
                (UNIFORM_BINDING, kernel::uniforms(p, set)),
                (INPUT_BINDING, kernel::inputs(set)),
                (STATE_BINDING, vec![0; kernel::state_size(p)]),
                (EVENT_BINDING, vec![0; kernel::event_size(p)]),
            ] {
                if let Some(r) = resource(module, binding) {
                    bindings.set_buffer(r, bytes);
                }
            }
            for (var, data) in module.vars.iter() {
                debug_assert_eq!(data.name, "invocation", "variable {}", var.index());
                bindings.set_input(var, Bits::default());
            }
            interpreter.run_entry(&mut bindings, &limits).map_err(|t| t.to_string())?;
            let buffer = |binding| resource(module, binding).map_or(&[][..], |r| bindings.buffer(r));
            kernel::observe(p, buffer(STATE_BINDING), buffer(EVENT_BINDING))
        })
        .collect()
}
