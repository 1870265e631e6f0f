//! Handles in registers, traced through the SSA form to the constant banks that they come from.
//!
//! While a program is lifted, registers are slots: only what is in the same block is seen. [`trace_handles`] looks again
//! after `promote`, across blocks and loops: a handle that turns out to be a word of a constant bank, a texture's and a
//! sampler's part combined, or an element of an array there, names a texture of its own in place of an element of the
//! table.

use super::handle::{DEFAULT_ARRAY, MAX_ARRAY};
use super::layout::{BANKS, MAX_RESOURCES, TEXTURE_BINDING, bank_binding};
use super::{LiftOptions, Lifted};
use crate::gpu::{ConstantWord, GpuAccessor, Handle, Texture};
use crate::info::TextureBinding;
use smallvec::SmallVec;
use xenoglot_ir::module::{Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Bits, Flags, Function, Imm, Inst, Op, Resource, Space, Type, Value};

/// Where a handle comes from.
pub(super) enum Traced {
    /// From one place.
    One(Handle),
    /// From an array in a constant bank, at an index in bytes.
    Array {
        /// The first.
        handle: Handle,
        /// How far behind the first.
        index: Value,
    },
}

type Args = SmallVec<[Value; 4]>;

fn definition(f: &Function, v: Value) -> Option<(Op, Args)> {
    let inst = f.def_inst(v)?;
    Some((f.insts[inst].op, f.args(inst).into()))
}

/// Bank and offset of a value that was loaded from a constant bank.
fn load_of(f: &Function, bank_of: &dyn Fn(Resource) -> Option<u8>, v: Value) -> Option<(u8, Value)> {
    let inst = f.def_inst(v)?;
    let Imm::Mem(mem) = f.insts[inst].imm else { return None };
    let resource = mem.resource.expand().filter(|_| mem.space == Space::Uniform)?;
    Some((bank_of(resource)?, *f.args(inst).first()?))
}

/// The word a value was loaded from, perhaps masked or shifted since.
fn loaded_word(f: &Function, bank_of: &dyn Fn(Resource) -> Option<u8>, v: Value) -> Option<ConstantWord> {
    let v = match definition(f, v) {
        Some((Op::And | Op::Shl, args)) => *args.first()?,
        _ => v,
    };
    let (bank, offset) = load_of(f, bank_of, v)?;
    let offset = f.const_bits(offset)?.lane(0) as u32;
    Some(ConstantWord { bank, offset })
}

/// Where a handle comes from, if that is seen; `bank_of` tells the bank that a buffer is.
pub(super) fn traced(f: &Function, bank_of: &dyn Fn(Resource) -> Option<u8>, v: Value) -> Option<Traced> {
    if let Some((Op::Or, args)) = definition(f, v)
        && let [a, b] = args[..]
    {
        let (texture, sampler) = (loaded_word(f, bank_of, a)?, loaded_word(f, bank_of, b)?);
        // The sampler's number is in the upper bits.
        let swap = matches!(definition(f, a), Some((Op::Shl, _)));
        let (texture, sampler) = if swap { (sampler, texture) } else { (texture, sampler) };
        return Some(Traced::One(Handle { texture, sampler: Some(sampler) }));
    }
    if let Some(texture) = loaded_word(f, bank_of, v) {
        return Some(Traced::One(Handle { texture, sampler: None }));
    }
    let (bank, offset) = load_of(f, bank_of, v)?;
    let Some((Op::Iadd, args)) = definition(f, offset) else { return None };
    let [index, base] = args[..] else { return None };
    let base = f.const_bits(base)?.lane(0) as u32;
    Some(Traced::Array {
        handle: Handle { texture: ConstantWord { bank, offset: base }, sampler: None },
        index,
    })
}

/// Elements of an array whose index is masked and then shifted to bytes.
pub(super) fn masked_length(f: &Function, index: Value) -> Option<u32> {
    let mut v = index;
    for _ in 0..4 {
        let (op, args) = definition(f, v)?;
        let known = args.iter().find_map(|&a| f.const_bits(a)).map(|b| b.lane(0) as u32);
        match (op, known) {
            (Op::And, Some(mask)) => {
                let mask = if v == index { mask >> 2 } else { mask };
                return mask.checked_add(1).filter(|n| n.is_power_of_two());
            }
            (Op::Select, _) => v = *args.get(1)?,
            (Op::Shl, Some(_)) => v = *args.first()?,
            _ => return None,
        }
    }
    None
}

/// Gives textures that the table was asked for, but whose handles come from constant banks, bindings of their own. What the
/// GPU says of such a texture has to be what was taken for granted of one of the table: shape as the instruction has it,
/// floats, coordinates from 0 to 1.
pub fn trace_handles(lifted: &mut Lifted, options: &LiftOptions, gpu: &dyn GpuAccessor) {
    if !lifted.info.textures.iter().any(|t| t.handle == Handle::TABLE) {
        return;
    }
    let resources = &lifted.module.resources;
    let banks: Vec<(Resource, u8)> = resources
        .iter()
        .filter(|(_, r)| r.set == options.set)
        .filter_map(|(id, r)| Some((id, (0..BANKS).find(|&bank| bank_binding(bank.into()) == r.binding)?)))
        .collect();
    let bank_of = |resource| banks.iter().find(|(id, _)| *id == resource).map(|b| b.1);
    let funcs: Vec<_> = lifted.module.funcs.keys().collect();
    for func in funcs {
        let f = &lifted.module.funcs[func];
        let insts: Vec<Inst> = f.layout.iter().flat_map(|&b| &f.blocks[b].insts).copied().collect();
        for inst in insts {
            retrace(lifted, options, gpu, (func, inst), &bank_of);
        }
    }
    // Tables that nothing is taken from are no part of the interface.
    let used = |binding: u32| {
        lifted.module.funcs.values().any(|f| {
            let mut insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts);
            insts.any(|&i| match f.insts[i].imm {
                Imm::Resource(r) => lifted.module.resources[r].binding == binding,
                _ => false,
            })
        })
    };
    let unused: Vec<u32> = lifted
        .info
        .textures
        .iter()
        .filter(|t| t.handle == Handle::TABLE && !used(t.binding))
        .map(|t| t.binding)
        .collect();
    lifted.info.textures.retain(|t| !unused.contains(&t.binding));
}

/// A handle of the table, seen once more.
fn retrace(
    lifted: &mut Lifted,
    options: &LiftOptions,
    gpu: &dyn GpuAccessor,
    (func, inst): (xenoglot_ir::Func, Inst),
    bank_of: &dyn Fn(Resource) -> Option<u8>,
) -> Option<()> {
    let f = &lifted.module.funcs[func];
    let Imm::Resource(table) = f.insts[inst].imm else { return None };
    let place = &lifted.module.resources[table];
    if place.set != options.set
        || !(TEXTURE_BINDING..TEXTURE_BINDING + MAX_RESOURCES).contains(&place.binding)
    {
        return None;
    }
    let of = lifted
        .info
        .textures
        .iter()
        .find(|t| t.binding == place.binding && t.handle == Handle::TABLE)?
        .clone();
    // The element is the handle's number, masked and bounded.
    let (Op::Umin, bounded) = definition(f, *f.args(inst).first()?)? else { return None };
    let (Op::And, masked) = definition(f, *bounded.first()?)? else { return None };
    let (handle, index) = match traced(f, bank_of, *masked.first()?)? {
        Traced::One(handle) => (handle, None),
        Traced::Array { handle, index } => (handle, Some(index)),
    };
    if gpu.texture(handle) != Texture::default() {
        return None;
    }
    let count = index.map(|index| {
        let length = gpu.array_length(handle).or_else(|| masked_length(f, index));
        length.unwrap_or(DEFAULT_ARRAY).clamp(1, MAX_ARRAY)
    });
    let binding = binding(lifted, options, TextureBinding { handle, count, ..of })?;
    let f = &mut lifted.module.funcs[func];
    let (flags, guest) = (f.insts[inst].flags, f.insts[inst].guest);
    let mut made: SmallVec<[Inst; 4]> = SmallVec::new();
    let mut make = |f: &mut Function, op, imm, args: &[Value]| {
        let inst = f.make_inst(op, Flags::NONE, imm, args, &[Type::I32], guest);
        made.push(inst);
        f.result(inst)
    };
    let mut element: SmallVec<[Value; 1]> = SmallVec::new();
    if let (Some(index), Some(count)) = (index, count) {
        let [two, last] = [2, count - 1].map(|n| f.consts.push(Bits::scalar(n.into())));
        let two = make(f, Op::Const, Imm::Const(two), &[])?;
        let last = make(f, Op::Const, Imm::Const(last), &[])?;
        let number = make(f, Op::Ushr, Imm::None, &[index, two])?;
        element.push(make(f, Op::Umin, Imm::None, &[number, last])?);
    }
    let Function { insts, pool, blocks, layout, .. } = f;
    let data = &mut insts[inst];
    data.imm = Imm::Resource(binding);
    data.flags = if element.is_empty() { Flags::NONE } else { flags };
    data.args.assign(&element, pool);
    for &block in layout.iter() {
        if let Some(at) = blocks[block].insts.iter().position(|&i| i == inst) {
            blocks[block].insts.splice(at..at, made.iter().copied());
            break;
        }
    }
    Some(())
}

/// The resource of a texture, which is made if there is none yet.
fn binding(lifted: &mut Lifted, options: &LiftOptions, texture: TextureBinding) -> Option<Resource> {
    let Lifted { module, info } = lifted;
    let like = |t: &&TextureBinding| TextureBinding { binding: texture.binding, ..(*t).clone() } == texture;
    let known = info.textures.iter().find(like).map(|t| t.binding);
    if let Some(binding) = known {
        let mut all = module.resources.iter();
        return all.find(|(_, r)| r.set == options.set && r.binding == binding).map(|(id, _)| id);
    }
    let next = info.textures.iter().map(|t| t.binding + 1).max().unwrap_or(TEXTURE_BINDING);
    if next >= TEXTURE_BINDING + MAX_RESOURCES {
        return None;
    }
    let resource = module.resources.push(ResourceData {
        name: format!("tex{}", next - TEXTURE_BINDING),
        kind: ResourceKind::Texture {
            dim: texture.dim,
            arrayed: texture.arrayed,
            multisampled: texture.multisampled,
            texel: texture.texel,
        },
        set: options.set,
        binding: next,
        count: texture.count.map_or(Count::One, Count::Fixed),
        oob: OutOfBounds::Zero,
    });
    info.textures.push(TextureBinding { binding: next, ..texture });
    Some(resource)
}
