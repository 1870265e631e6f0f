//! The `interp` engine: workgroups one after the other on the IR interpreter, warps in lock step.

use super::launch::Launch;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::{Module, Resource};
use xenoglot_maxwell::lift::layout;

/// Lanes of a warp.
const WARP: u8 = 32;
/// Instructions a launch may take: a hundred times what the longest kernel of the corpus takes.
const LIMITS: Limits = Limits { fuel: 200_000_000, call_depth: 64, memory: 256 << 20, events: 0, trace: 0 };

/// The module's resource at a binding of set 0.
fn resource(module: &Module, binding: u32) -> Option<Resource> {
    module.resources.iter().find(|(_, r)| r.binding == binding && r.set == 0).map(|(id, _)| id)
}

/// Global memory after a launch.
///
/// # Errors
/// What stopped it.
pub fn run(launch: &Launch, module: &Module) -> Result<Vec<u8>, String> {
    let mut interpreter = Interpreter::new(module).map_err(|e| e.to_string())?;
    interpreter.set_subgroup_width(WARP);
    let mut bindings = Bindings::new(module);
    for (bank, data) in &launch.banks {
        if let Some(r) = resource(module, layout::bank_binding(*bank)) {
            bindings.set_buffer(r, data.clone());
        }
    }
    let Some(global) = resource(module, layout::GLOBAL_BINDING) else {
        return Err("the module has no global memory".into());
    };
    bindings.set_buffer(global, launch.memory.bytes().to_vec());
    interpreter.dispatch(launch.kernel.grid, &mut bindings, &LIMITS).map_err(|t| t.to_string())?;
    Ok(bindings.buffer(global).to_vec())
}
