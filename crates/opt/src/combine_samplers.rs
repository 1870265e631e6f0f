//! Gives textures the samplers that they are sampled with: GLSL has both in one.
//!
//! ```text
//! texture @t = .. binding 3, sampler @s = ..          texture @t = .. binding 3
//! v0 : tex = resource_handle @t                       v0 : tex = resource_handle @t
//! v1 : samp = resource_handle @s                =>
//! v3 : f32x4 = tex.sample 2d, v0, v1, v2              v3 : f32x4 = tex.sample 2d, v0, v2
//! ```
//!
//! A texture keeps its binding with the first sampler that it is sampled with; with each other one, and apart from it for
//! comparisons, it is declared again as `texture_sampler`, at the next bindings that are free. Handles that are chosen at run time stay apart,
//! and so does the whole module then, for the back end to refuse.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::list::ValueList;
use xenoglot_ir::stage::Samplers;
use xenoglot_ir::{Function, Imm, Inst, Kind, Module, Op, Resource, Value};

/// A texture with a sampler of an array or not, for comparisons or not.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pair {
    texture: Resource,
    /// The sampler and, in an array of them, which; nothing where a texture is read without.
    sampler: Option<(Resource, u64)>,
    shadow: bool,
}

/// Combines the samplers of a module with their textures.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.separate_samplers || module.samplers != Samplers::Separate {
        return Changed::NONE;
    }
    let mut pairs: Vec<Pair> = Vec::new();
    for f in module.funcs.values() {
        for inst in insts(f) {
            if !matches!(f.insts[inst].imm, Imm::Tex(_)) || !takes_texture(f, inst) {
                continue;
            }
            let Some(pair) = pair(f, inst) else { return Changed::NONE };
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    // Comparisons come last, so that a texture that is also read otherwise has its own name for that.
    pairs.sort_by_key(|pair| (pair.shadow, pair.sampler.is_none()));
    let mut combined: Vec<(Pair, Resource)> = Vec::new();
    for &pair in &pairs {
        let resource = declare(module, &combined, pair);
        combined.push((pair, resource));
    }
    let mut changed = false;
    for f in module.funcs.values_mut() {
        changed |= rewrite(f, &combined);
    }
    module.samplers = Samplers::Combined;
    Changed::insts_if(changed)
}

fn insts(f: &Function) -> impl Iterator<Item = Inst> {
    f.layout.iter().flat_map(|&block| f.blocks[block].insts.iter().copied())
}

fn takes_texture(f: &Function, inst: Inst) -> bool {
    f.args(inst).first().is_some_and(|&v| f.ty(v).kind() == Kind::Tex)
}

/// The resource of a handle, and the element of it that is known.
fn resource(f: &Function, v: Value) -> Option<(Resource, Option<u64>)> {
    let inst = f.def_inst(v)?;
    let Imm::Resource(resource) = f.insts[inst].imm else { return None };
    if f.insts[inst].op != Op::ResourceHandle {
        return None;
    }
    let element = match f.args(inst).first() {
        Some(&element) => f.const_bits(element).map(|bits| bits.lane(0)),
        None => Some(0),
    };
    Some((resource, element))
}

fn pair(f: &Function, inst: Inst) -> Option<Pair> {
    let Imm::Tex(info) = f.insts[inst].imm else { return None };
    let args = f.args(inst);
    let (texture, _) = resource(f, *args.first()?)?;
    let sampler = match args.get(1) {
        Some(&v) if f.ty(v).kind() == Kind::Samp => {
            let (sampler, element) = resource(f, v)?;
            Some((sampler, element?))
        }
        _ => None,
    };
    Some(Pair { texture, sampler, shadow: info.shadow })
}

/// The resource that a pair becomes.
fn declare(module: &mut Module, combined: &[(Pair, Resource)], pair: Pair) -> Resource {
    let mut known = combined.iter().filter(|(other, _)| other.texture == pair.texture);
    // What is read without a sampler takes any.
    if let (None, Some(&(_, resource))) = (pair.sampler, known.clone().find(|(other, _)| !other.shadow)) {
        return resource;
    }
    if known.next().is_none() {
        return pair.texture;
    }
    let mut data = module.resources[pair.texture].clone();
    if let Some((sampler, _)) = pair.sampler {
        data.name = format!("{}_{}", data.name, module.resources[sampler].name);
    }
    while module.resources.values().any(|r| r.name == data.name) {
        data.name.push('_');
    }
    data.binding =
        module.resources.values().map(|r| r.binding).max().map_or(0, |last| last.saturating_add(1));
    module.resources.push(data)
}

fn rewrite(f: &mut Function, combined: &[(Pair, Resource)]) -> bool {
    let mut changed = false;
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            let data = &f.insts[inst];
            let sampler =
                data.op == Op::ResourceHandle && f.result(inst).is_some_and(|v| f.ty(v).kind() == Kind::Samp);
            if sampler {
                changed = true;
                continue;
            }
            let found =
                (matches!(data.imm, Imm::Tex(_)) && takes_texture(f, inst)).then(|| pair(f, inst)).flatten();
            if let Some(pair) = found
                && let Some(&(_, resource)) = combined.iter().find(|(other, _)| *other == pair)
            {
                changed = true;
                let mut args: SmallVec<[Value; 8]> = f.args(inst).into();
                if pair.sampler.is_some() {
                    args.remove(1);
                }
                if resource != pair.texture {
                    args[0] = edit::take_handle(f, block, args[0], resource);
                }
                f.insts[inst].args = ValueList::from_slice(&args, &mut f.pool);
            }
            f.blocks[block].insts.push(inst);
        }
    }
    changed
}
