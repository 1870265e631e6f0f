//! Reads what a draw begins with from a uniform buffer, for languages that do not tell it: WGSL, and what naga reads.
//!
//! ```text
//! input %base = builtin base_instance : i32        resource @draw_parameters = uniform 16 set 0 binding 999
//!                                             =>
//!   v0 : i32 = input %base                           v1 : i32 = const 4
//!                                                    v0 : i32 = load uniform @draw_parameters align 4, v1
//! ```
//!
//! Whoever draws binds the buffer ([`SET`], [`BINDING`]) and writes three words to it: the base vertex, the first instance
//! and the index of the draw. A module with another resource in that place keeps its inputs.

use crate::{Changed, Lacks, edit};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::imm::MemInfo;
use xenoglot_ir::module::{
    Builtin, Count, Direction, OutOfBounds, ResourceData, ResourceKind, Semantic, VarData,
};
use xenoglot_ir::{Builder, Function, Imm, Module, Op, Resource, Space, Var};

/// The set of the buffer.
pub const SET: u32 = 0;
/// The binding of the buffer: the last one that WebGPU has.
pub const BINDING: u32 = 999;

/// Makes a module's inputs of the draw loads of the buffer.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.draw_parameters {
        return Changed::NONE;
    }
    let mut places: SecondaryMap<Var, Option<u32>> = SecondaryMap::new();
    let mut any = false;
    for (var, data) in &module.vars {
        places[var] = place(data);
        any |= places[var].is_some();
    }
    if !any || module.resources.values().any(|r| (r.set, r.binding) == (SET, BINDING)) {
        return Changed::NONE;
    }
    let buffer = declare(module);
    for f in module.funcs.values_mut() {
        rewrite(f, buffer, &places);
    }
    edit::drop_vars(module, |var| places[var].is_some());
    Changed::INSTS
}

/// Where in the buffer an input is.
fn place(data: &VarData) -> Option<u32> {
    match data.semantic {
        Semantic::Builtin(builtin) if data.direction == Direction::Input => match builtin {
            Builtin::BaseVertex => Some(0),
            Builtin::BaseInstance => Some(4),
            Builtin::DrawIndex => Some(8),
            _ => None,
        },
        _ => None,
    }
}

fn declare(module: &mut Module) -> Resource {
    let mut name = "draw_parameters".to_owned();
    while module.resources.values().any(|r| r.name == name) {
        name.push('_');
    }
    let kind = ResourceKind::UniformBuffer { size: 16 };
    let (count, oob) = (Count::One, OutOfBounds::Undefined);
    module.resources.push(ResourceData { name, kind, set: SET, binding: BINDING, count, oob })
}

fn rewrite(f: &mut Function, buffer: Resource, places: &SecondaryMap<Var, Option<u32>>) {
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            if let Imm::Var(var) = f.insts[inst].imm
                && let Some(at) = places[var]
            {
                let flags = f.insts[inst].flags;
                let at = Builder::new(f, block).i32(at);
                let word = Imm::Mem(MemInfo::plain(Space::Uniform, Some(buffer), 2));
                edit::rewrite(f, inst, Op::Load, flags, word, &[at]);
            }
            f.blocks[block].insts.push(inst);
        }
    }
}
