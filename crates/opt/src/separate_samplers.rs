//! Gives textures that come with their sampler one of its own: WGSL and what naga reads have textures and samplers apart.
//!
//! ```text
//! resource %t = texture 2d float set 0 binding 3       resource %t = texture 2d float set 0 binding 3
//!                                                  =>  resource %t_sampler = sampler set 0 binding 515
//!   v0 : tex = resource_handle %t                        v0 : tex = resource_handle %t
//!   v2 : f32x4 = tex.sample 2d, v0, v1                   v3 : samp = resource_handle %t_sampler
//!                                                        v2 : f32x4 = tex.sample 2d, v0, v3, v1
//! ```
//!
//! The sampler of the texture at a binding is in the same set, [`SAMPLERS`] bindings further, so that whoever binds them knows
//! where. A texture whose handle is chosen at run time keeps its sampler, and so does one with another resource in that place.

use crate::{Changed, Lacks};
use xenoglot_ir::entity::{SecondaryMap, packed_option::PackedOption};
use xenoglot_ir::list::ValueList;
use xenoglot_ir::module::{OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::stage::Samplers;
use xenoglot_ir::{Function, Imm, Inst, Kind, Module, Op, Resource, Type, Value};

/// From a texture's binding to that of its sampler. WebGPU has bindings up to 999.
pub const SAMPLERS: u32 = 512;

/// Separates the samplers of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.combined_samplers || module.samplers != Samplers::Combined {
        return Changed::NONE;
    }
    let mut samplers = Samplings::of(module);
    if samplers.sampled.is_empty() {
        // Textures that are only fetched from need none.
        module.samplers = if samplers.is_whole { Samplers::Separate } else { Samplers::Combined };
        return Changed::NONE;
    }
    for &texture in &samplers.sampled {
        match declare(module, texture) {
            Some(sampler) => samplers.of[texture] = sampler.into(),
            None => samplers.is_whole = false,
        }
    }
    let mut changed = false;
    for f in module.funcs.values_mut() {
        changed |= rewrite(f, &samplers.of);
    }
    if samplers.is_whole {
        module.samplers = Samplers::Separate;
    }
    if changed { Changed::INSTS } else { Changed::NONE }
}

/// What is sampled in a module.
struct Samplings {
    /// Textures that are sampled with their own samplers, each once, in the order of the code.
    sampled: Vec<Resource>,
    /// Their samplers, once there are any.
    of: SecondaryMap<Resource, PackedOption<Resource>>,
    /// Whether all that is sampled is known by its resource.
    is_whole: bool,
}

impl Samplings {
    fn of(module: &Module) -> Samplings {
        let mut found = Samplings { sampled: Vec::new(), of: SecondaryMap::new(), is_whole: true };
        let mut seen: SecondaryMap<Resource, bool> = SecondaryMap::new();
        for f in module.funcs.values() {
            for inst in insts(f).filter(|&inst| takes_no_sampler(f, inst)) {
                match texture(f, inst) {
                    Some(texture) if seen[texture] => {}
                    Some(texture) => {
                        seen[texture] = true;
                        found.sampled.push(texture);
                    }
                    None => found.is_whole = false,
                }
            }
        }
        found
    }
}

fn insts(f: &Function) -> impl Iterator<Item = Inst> {
    f.layout.iter().flat_map(|&block| f.blocks[block].insts.iter().copied())
}

/// Whether an instruction samples with the texture's own sampler.
fn takes_no_sampler(f: &Function, inst: Inst) -> bool {
    matches!(f.insts[inst].op, Op::TexSample | Op::TexGather | Op::TexQueryLod)
        && f.args(inst).get(1).is_none_or(|&v| f.ty(v).kind() != Kind::Samp)
}

/// The texture that an instruction samples, if its handle is taken of a resource in sight.
fn texture(f: &Function, inst: Inst) -> Option<Resource> {
    let handle = f.def_inst(*f.args(inst).first()?)?;
    match f.insts[handle].imm {
        Imm::Resource(texture) if f.insts[handle].op == Op::ResourceHandle => Some(texture),
        _ => None,
    }
}

/// Declares a texture's sampler.
fn declare(module: &mut Module, texture: Resource) -> Option<Resource> {
    let data = module.resources.get(texture)?;
    let (set, binding, count) = (data.set, data.binding.checked_add(SAMPLERS)?, data.count);
    let mut name = format!("{}_sampler", data.name);
    if module.resources.values().any(|r| r.set == set && r.binding == binding) {
        return None;
    }
    while module.resources.values().any(|r| r.name == name) {
        name.push('_');
    }
    let (kind, oob) = (ResourceKind::Sampler, OutOfBounds::Undefined);
    Some(module.resources.push(ResourceData { name, kind, set, binding, count, oob }))
}

/// Takes a handle of the sampler behind each handle of its texture, and hands it to what samples.
fn rewrite(f: &mut Function, samplers: &SecondaryMap<Resource, PackedOption<Resource>>) -> bool {
    let mut handles: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let sampling: Vec<Inst> = insts(f).filter(|&inst| takes_no_sampler(f, inst)).collect();
    let mut changed = false;
    for at in 0..f.layout.len() {
        let block = f.layout[at];
        let is_texture = |f: &Function, inst: Inst| match f.insts[inst].imm {
            Imm::Resource(r) if f.insts[inst].op == Op::ResourceHandle => samplers[r].expand(),
            _ => None,
        };
        if f.blocks[block].insts.iter().all(|&inst| is_texture(f, inst).is_none()) {
            continue;
        }
        let insts = std::mem::take(&mut f.blocks[block].insts);
        for inst in insts {
            f.blocks[block].insts.push(inst);
            let (Some(sampler), Some(handle)) = (is_texture(f, inst), f.result(inst)) else { continue };
            let (element, data) = (f.args(inst).to_vec(), &f.insts[inst]);
            // Of an element that differs between invocations, the sampler's does.
            let (flags, guest, ty) = (data.flags, data.guest, Type::scalar(Kind::Samp));
            let taken =
                f.make_inst(Op::ResourceHandle, flags, Imm::Resource(sampler), &element, &[ty], guest);
            f.blocks[block].insts.push(taken);
            handles[handle] = f.result(taken).into();
        }
    }
    for inst in sampling {
        let Some(&handle) = f.args(inst).first() else { continue };
        let Some(sampler) = handles[handle].expand() else { continue };
        let mut args = f.args(inst).to_vec();
        args.insert(1, sampler);
        f.insts[inst].args = ValueList::from_slice(&args, &mut f.pool);
        changed = true;
    }
    changed
}
