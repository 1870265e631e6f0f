//! Makes of features that a host does not have at all what every device without them has, so that the rest of the shader runs:
//!
//! ```text
//! output %size = builtin point_size : f32          (points are one pixel)
//! input %rate = builtin shading_rate : i32         v0 : i32 = const 0      (one fragment a pixel)
//!   v0 : i32 = input %rate                    =>
//!   output %size, v1
//!   v2 : f32x4, v3 : bool = tex.sample 2d residency ..    v2 : f32x4 = tex.sample 2d ..
//!                                                        v3 : bool = const true
//! ```
//!
//! Targets without layers and viewports have one of each, the first. Writing another is not lowered: the picture would be wrong.

use crate::edit::Replaced;
use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::imm::TexInfo;
use xenoglot_ir::module::{Builtin, Direction, Semantic, VarData};
use xenoglot_ir::{Bits, Builder, Function, Imm, Inst, Module, Op, Stage, Value, Var};

/// Features that a host does not have at all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// Sizes of points, and places in them: they are one pixel.
    pub point_size: bool,
    /// Fragments of several pixels: each is of one.
    pub shading_rate: bool,
    /// Layers and viewports that a fragment shader can tell: each is the first.
    pub fragment_targets: bool,
    /// Sparse textures: every texel counts as resident.
    pub residency: bool,
}

impl Options {
    /// None of these features.
    pub const ALL: Options =
        Options { point_size: true, shading_rate: true, fragment_targets: true, residency: true };

    /// Whether the host lacks any.
    pub const fn any(self) -> bool {
        self.point_size || self.shading_rate || self.fragment_targets || self.residency
    }

    /// Whether a variable is one of what the host lacks.
    fn is_absent(self, stage: Stage, data: &VarData) -> bool {
        let Semantic::Builtin(builtin) = data.semantic else { return false };
        match (builtin, data.direction) {
            (Builtin::PointSize, Direction::Output) => self.point_size,
            (Builtin::PointCoord, Direction::Input) => self.point_size,
            (Builtin::ShadingRate, _) => self.shading_rate,
            (Builtin::Layer | Builtin::ViewportIndex, Direction::Input) => {
                self.fragment_targets && stage == Stage::Fragment
            }
            _ => false,
        }
    }
}

/// Does without the features that the host lacks.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let absent = lacks.absent;
    let mut vars: SecondaryMap<Var, bool> = SecondaryMap::new();
    let mut any = absent.residency;
    for (var, data) in &module.vars {
        // What is captured is still written.
        vars[var] = absent.is_absent(module.stage, data) && !module.captures.iter().any(|c| c.var == var);
        any |= vars[var];
    }
    if !any {
        return Changed::NONE;
    }
    let mut changed = false;
    for f in module.funcs.values_mut() {
        changed |= function(f, &vars, absent.residency);
    }
    edit::drop_vars(module, |var| vars[var]);
    if changed { Changed::INSTS } else { Changed::NONE }
}

fn function(f: &mut Function, vars: &SecondaryMap<Var, bool>, residency: bool) -> bool {
    let is_absent = |f: &Function, inst: Inst| match f.insts[inst].imm {
        Imm::Tex(read) => residency && read.residency,
        Imm::Var(var) => vars[var],
        _ => false,
    };
    edit::replace_insts(f, is_absent, |b, inst, replaced| {
        if let Imm::Tex(read) = b.func.insts[inst].imm {
            resident(b, inst, read, replaced);
        } else if b.func.insts[inst].op != Op::Output {
            // The only floats among them are the place in a point: the middle of the pixel.
            let floats = b.func.result(inst).map(|v| b.func.ty(v)).filter(|ty| ty.kind().is_float());
            let middle = floats.map(|ty| Bits::splat(ty, 0.5f32.to_bits().into()));
            edit::rewrite_const(b.func, inst, middle.unwrap_or_default());
            let block = b.block();
            b.func.blocks[block].insts.push(inst);
        }
    })
}

/// Reads texels as an instruction does that also tells whether they are resident; they are.
fn resident(b: &mut Builder, inst: Inst, read: TexInfo, replaced: &mut Replaced) {
    let &[texel, is_resident] = b.func.results(inst) else { return };
    let data = &b.func.insts[inst];
    let (op, flags) = (data.op, data.flags);
    let (args, ty) = (SmallVec::<[Value; 8]>::from(b.func.args(inst)), b.func.ty(texel));
    let made = b.inst(op, flags, Imm::Tex(TexInfo { residency: false, ..read }), &args, &[ty]);
    let is_there = b.bool(true);
    if let Some(made) = b.func.result(made) {
        replaced.set(b.func, texel, made);
        replaced.set(b.func, is_resident, is_there);
    }
}
