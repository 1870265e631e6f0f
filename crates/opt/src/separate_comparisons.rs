//! Gives textures and samplers that are compared with and used otherwise, too, a second declaration for the comparisons: what naga
//! reads has textures of depths and of colours, and samplers that compare.
//!
//! ```text
//! texture @t = set 0 binding 3 2d                      texture @t = set 0 binding 3 2d
//!                                                      texture @t_depth = set 0 binding 3 2d
//! v2 : f32x4 = tex.gather 2d, v0, v1, ..         =>    v2 : f32x4 = tex.gather 2d, v0, v1, ..
//! v3 : f32 = tex.sample 2d shadow compare, v0, ..      v4 : tex = resource_handle @t_depth
//!                                                      v3 : f32 = tex.sample 2d shadow compare, v4, ..
//! ```
//!
//! Both have one binding, until [`separate_bindings`](crate::separate_bindings) moves the second.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::entity::{SecondaryMap, packed_option::PackedOption};
use xenoglot_ir::list::ValueList;
use xenoglot_ir::{Function, Imm, Inst, Kind, Module, Op, Resource, Value};

/// Declares textures and samplers again for comparisons.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.shared_bindings {
        return Changed::NONE;
    }
    // How each is used: compared with, and otherwise.
    let mut used: SecondaryMap<Resource, [bool; 2]> = SecondaryMap::new();
    for f in module.funcs.values() {
        for &inst in f.layout.iter().flat_map(|&block| &f.blocks[block].insts) {
            let Some(compares) = reads(f, inst) else { continue };
            for resource in handles(f, inst).filter_map(|v| resource(f, v)) {
                used[resource][usize::from(compares)] = true;
            }
        }
    }
    let both: Vec<Resource> = module.resources.keys().filter(|&of| used[of] == [true; 2]).collect();
    let mut compared: SecondaryMap<Resource, PackedOption<Resource>> = SecondaryMap::new();
    for &of in &both {
        let mut data = module.resources[of].clone();
        data.name.push_str("_depth");
        while module.resources.values().any(|other| other.name == data.name) {
            data.name.push('_');
        }
        compared[of] = module.resources.push(data).into();
    }
    if !both.is_empty() {
        module.funcs.values_mut().for_each(|f| rewrite(f, &compared));
    }
    Changed::insts_if(!both.is_empty())
}

/// Whether an instruction that reads a texture compares.
fn reads(f: &Function, inst: Inst) -> Option<bool> {
    let Imm::Tex(info) = f.insts[inst].imm else { return None };
    matches!(f.insts[inst].op, Op::TexSample | Op::TexGather | Op::TexFetch).then_some(info.shadow)
}

/// The texture, and its sampler if that is apart.
fn handles(f: &Function, inst: Inst) -> impl Iterator<Item = Value> {
    f.args(inst).iter().copied().take_while(|&v| matches!(f.ty(v).kind(), Kind::Tex | Kind::Samp))
}

fn resource(f: &Function, handle: Value) -> Option<Resource> {
    match f.insts[f.def_inst(handle)?].imm {
        Imm::Resource(resource) => Some(resource),
        _ => None,
    }
}

fn rewrite(f: &mut Function, compared: &SecondaryMap<Resource, PackedOption<Resource>>) {
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            if reads(f, inst) == Some(true) {
                let mut args: SmallVec<[Value; 8]> = f.args(inst).into();
                for n in 0..handles(f, inst).count() {
                    let other = resource(f, args[n]).and_then(|of| compared[of].expand());
                    args[n] = other.map_or(args[n], |other| edit::take_handle(f, block, args[n], other));
                }
                f.insts[inst].args = ValueList::from_slice(&args, &mut f.pool);
            }
            f.blocks[block].insts.push(inst);
        }
    }
}
