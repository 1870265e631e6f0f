//! Constant zeros that host compilers cannot see.
//!
//! Some host compilers take liberties with constant zeros, whatever they are told of signed zeros. Mesa's lavapipe
//! drops them from sums, so that -0 + 0 stays -0, and makes +0 of products with them.

use super::layout::{UNIFORM_BINDING, UNIFORM_ZERO};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::imm::Space;
use xenoglot_ir::{Builder, Flags, Function, Kind, MemInfo, Module, Op, Resource, Type, Value};

/// Replaces each constant of a lifted module that has a float zero by one that is computed with a word of the
/// uniform buffer, which is zero. For programs whose zeros must have the right sign on such hosts; after all passes,
/// which make further constants.
pub fn hide_zeros(module: &mut Module) {
    let uniforms = module.resources.iter().find(|(_, r)| (r.set, r.binding) == (0, UNIFORM_BINDING));
    let Some(uniforms) = uniforms.map(|(id, _)| id) else { return };
    for (_, func) in module.funcs.iter_mut() {
        hide_in(func, uniforms);
    }
}

fn hide_in(func: &mut Function, uniforms: Resource) {
    let Some(entry) = func.entry() else { return };
    let zeros: Vec<(Value, Type)> = func
        .layout
        .iter()
        .flat_map(|&block| func.blocks[block].insts.iter())
        .filter_map(|&inst| Some((func.result(inst)?, func.insts[inst].op)))
        .filter(|&(v, op)| op == Op::Const && has_zero(func, v))
        .map(|(v, _)| (v, func.ty(v)))
        .collect();
    if zeros.is_empty() {
        return;
    }
    // What follows is written at the end of the entry block, then moved to its start.
    let written = func.blocks[entry].insts.len();
    let mut hidden: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut b = Builder::new(func, entry);
    let at = b.i32(UNIFORM_ZERO);
    let zero = b.load(MemInfo::plain(Space::Uniform, Some(uniforms), 2), at, Type::I32);
    for (v, ty) in zeros {
        let Some(bits) = b.func.const_bits(v) else { continue };
        let Some(words) = Type::new(Kind::I32, ty.lanes()) else { continue };
        let visible = b.constant(words, bits);
        let mask = if ty.lanes() == 1 { zero } else { b.splat(zero, ty.lanes()) };
        let both = b.op(Op::Or, &[visible, mask]);
        hidden[v] = Some(b.convert(Op::Bitcast, Flags::NONE, both, ty));
    }
    func.blocks[entry].insts.rotate_left(written);
    for block in func.layout.clone() {
        func.map_uses(block, |v| hidden[v].unwrap_or(v));
    }
}

fn has_zero(func: &Function, v: Value) -> bool {
    let ty = func.ty(v);
    ty.kind() == Kind::F32
        && func
            .const_bits(v)
            .is_some_and(|bits| (0..ty.lanes().into()).any(|i| bits.lane(i) & 0x7fff_ffff == 0))
}
