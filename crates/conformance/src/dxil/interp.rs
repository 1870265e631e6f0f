//! The `interp` engine: workgroups one after the other on the IR interpreter.

use super::format::{Kind, Test};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::module::ImageFormat;
use xenoglot_ir::{Module, Resource};

/// Instructions a dispatch may take: a hundred times what the longest one takes.
pub(super) const LIMITS: Limits =
    Limits { fuel: 200_000_000, call_depth: 64, memory: 256 << 20, events: 0, trace: 0 };

fn resource(module: &Module, set: u32, binding: u32) -> Option<Resource> {
    module.resources.iter().find(|(_, r)| (r.set, r.binding) == (set, binding)).map(|(id, _)| id)
}

/// What raw and structured buffers are to the module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Raw {
    Bytes,
    /// Texels of one word.
    Texels,
}

/// The test's resources after the dispatch.
///
/// # Errors
/// What stopped it.
pub fn run(test: &Test, module: &Module, raw: Raw) -> Result<Vec<Vec<u8>>, String> {
    let mut interpreter = Interpreter::new(module).map_err(|e| e.to_string())?;
    let mut bindings = Bindings::new(module);
    let bound: Vec<Option<Resource>> =
        test.resources.iter().map(|r| resource(module, r.space, r.register)).collect();
    for (r, id) in test.resources.iter().zip(&bound) {
        match (*id, r.kind) {
            (Some(id), Kind::Typed(format)) => bindings.set_texels(id, r.data.clone(), format),
            (Some(id), Kind::Raw | Kind::Structured) if raw == Raw::Texels => {
                bindings.set_texels(id, r.data.clone(), ImageFormat::R32ui);
            }
            (Some(id), _) => bindings.set_buffer(id, r.data.clone()),
            (None, _) => {}
        }
    }
    interpreter.dispatch(test.groups, &mut bindings, &LIMITS).map_err(|t| t.to_string())?;
    let after = |(r, id): (&super::format::Resource, &Option<Resource>)| match *id {
        Some(id) => bindings.buffer(id).to_vec(),
        None => r.data.clone(),
    };
    Ok(test.resources.iter().zip(&bound).map(after).collect())
}
