//! The `interp` engine: workgroups one after the other on the IR interpreter, warps in lock step.

use super::launch::Launch;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::{Module, Resource};
use xenoglot_maxwell::info::StorageBinding;
use xenoglot_maxwell::lift::layout;

/// Lanes of a warp.
const WARP: u8 = 32;
/// Instructions a launch may take: a hundred times what the longest kernel of the corpus takes.
const LIMITS: Limits = Limits { fuel: 200_000_000, call_depth: 64, memory: 256 << 20, events: 0, trace: 0 };

/// The module's resource at a binding of set 0.
fn resource(module: &Module, binding: u32) -> Option<Resource> {
    module.resources.iter().find(|(_, r)| r.binding == binding && r.set == 0).map(|(id, _)| id)
}

/// Global memory after a launch of a module with these storage buffers.
///
/// # Errors
/// What stopped it.
pub fn run(launch: &Launch, module: &Module, storage: &[StorageBinding]) -> Result<Vec<u8>, String> {
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
    let mut parts = Vec::with_capacity(storage.len());
    for binding in storage {
        let part = launch.memory_from(binding.address).ok_or("a storage buffer begins nowhere")?;
        let resource = resource(module, binding.binding).ok_or("a storage buffer is not in the module")?;
        bindings.set_buffer(resource, part.to_vec());
        parts.push((resource, part));
    }
    interpreter.dispatch(launch.kernel.grid, &mut bindings, &LIMITS).map_err(|t| t.to_string())?;
    let mut memory = bindings.buffer(global).to_vec();
    // Buffers reach to the end of memory: what was changed through one goes to where it lies.
    for (resource, before) in parts {
        let at = memory.len() - before.len();
        let changes = memory[at..].iter_mut().zip(before.iter().zip(bindings.buffer(resource)));
        changes.filter(|(_, (before, after))| before != after).for_each(|(to, (_, after))| *to = *after);
    }
    Ok(memory)
}
