//! Makes textures and images of one dimension rows of two-dimensional ones: WGSL has no arrays of them, neither it nor MSL
//! compares with them or gives them levels of detail.
//!
//! ```text
//! texture @t = set 0 binding 3 1d               texture @t = set 0 binding 3 2d
//!                                         =>
//!                                                 v3 : f32 = const 0.5
//!                                                 v4 : f32x2 = build v1, v3
//!   v2 : f32x4 = tex.sample 1d, v0, v1            v2 : f32x4 = tex.sample 2d, v0, v4
//! ```
//!
//! Whoever binds them binds textures of height 1, with as many levels and layers. What is sampled lies in the middle of the
//! row, where neither a filter nor an address mode finds anything else.

use crate::edit::Replaced;
use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::module::ResourceKind;
use xenoglot_ir::{Builder, Function, Imm, Inst, Kind, Lanes, Module, Op, Type, Value};

/// Makes textures and images of one dimension two-dimensional.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.texture_lines {
        return Changed::NONE;
    }
    let mut any = false;
    for data in module.resources.values_mut() {
        if let ResourceKind::Texture { dim, .. } | ResourceKind::Image { dim, .. } = &mut data.kind
            && *dim == Dim::D1
        {
            *dim = Dim::D2;
            any = true;
        }
    }
    if !any {
        return Changed::NONE;
    }
    module.funcs.values_mut().for_each(function);
    Changed::INSTS
}

fn function(f: &mut Function) {
    let line = |f: &Function, inst: Inst| match f.insts[inst].imm {
        Imm::Tex(line) if line.dim == Dim::D1 => Some(line),
        _ => None,
    };
    edit::replace_insts(
        f,
        |f, inst| line(f, inst).is_some(),
        |b, inst, replaced| {
            if let Some(line) = line(b.func, inst) {
                access(b, inst, line, replaced);
            }
        },
    );
}

/// Adds an access to a line as one to a row.
fn access(b: &mut Builder, inst: Inst, line: TexInfo, replaced: &mut Replaced) {
    let (op, flags) = (b.func.insts[inst].op, b.func.insts[inst].flags);
    let row = TexInfo { dim: Dim::D2, ..line };
    let mut old: SmallVec<[Value; 8]> = b.func.args(inst).into();
    old.reverse();
    let mut args: SmallVec<[Value; 8]> = old.pop().into_iter().collect();
    if old.last().is_some_and(|&v| b.func.ty(v).kind() == Kind::Samp) {
        args.extend(old.pop());
    }
    if !matches!(op, Op::TexQuerySize | Op::TexQueryLevels | Op::TexQuerySamples | Op::ImgQuery) {
        args.extend(old.pop().map(|v| two_dimensional(b, v, true)));
    }
    for (operand, _) in TexOperands::NAMED {
        if line.operands.0 & operand.0 == 0 {
            continue;
        }
        match operand {
            // Neither changes along the row's other side.
            TexOperands::GRAD => {
                for _ in 0..2 {
                    args.extend(old.pop().map(|v| two_dimensional(b, v, false)));
                }
            }
            TexOperands::OFFSET => args.extend(old.pop().map(|v| two_dimensional(b, v, false))),
            _ => args.extend(old.pop()),
        }
    }
    args.extend(old.into_iter().rev());
    let results: SmallVec<[Value; 2]> = b.func.results(inst).into();
    if let (Op::TexQuerySize | Op::ImgQuery, &[size]) = (op, &results[..]) {
        let made = b.inst(op, flags, Imm::Tex(row), &args, &[two_lanes(b.func.ty(size))]);
        let Some(whole) = b.func.result(made) else { return };
        let length = match Lanes::new(&[0, 2]) {
            Some(lanes) if line.arrayed => b.shuffle(whole, whole, lanes),
            _ => b.extract(whole, 0),
        };
        replaced.set(b.func, size, length);
        return;
    }
    edit::rewrite(b.func, inst, op, flags, Imm::Tex(row), &args);
    let block = b.block();
    b.func.blocks[block].insts.push(inst);
}

/// A type with a lane more.
fn two_lanes(ty: Type) -> Type {
    ty.with_lanes(ty.lanes() + 1).unwrap_or(ty)
}

/// A coordinate, and its layer, with a place in the row's other side between them: in the middle of it, or at zero.
fn two_dimensional(b: &mut Builder, v: Value, is_coordinate: bool) -> Value {
    let ty = b.func.ty(v);
    let across = match ty.kind() {
        Kind::F32 => b.f32(if is_coordinate { 0.5 } else { 0.0 }),
        _ => b.i32(0),
    };
    match ty.lanes() {
        1 => b.op(Op::Build, &[v, across]),
        _ => {
            let (x, layer) = (b.extract(v, 0), b.extract(v, 1));
            b.op(Op::Build, &[x, across, layer])
        }
    }
}
