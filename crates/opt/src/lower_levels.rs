//! Computes levels of detail and offsets that the host's language has no ops for:
//!
//! ```text
//! v4 : f32x2 = tex.query_lod 2d, v0, v1, v2          its gradients in texels, the logarithm of the longer one
//! v5 : f32x4 = tex.sample 2d min_lod, v0, v1, v2, v3     =>  tex.sample 2d grad, with gradients no shorter than that level's texels
//! v6 : f32x4 = tex.gather 2d offset, v0, v1, v2, v7      =>  tex.gather 2d, at coordinates as many texels further
//! ```
//!
//! Compute shaders have no implicit level of detail in most languages: they sample with gradients, which
//! [`lower_derivatives`](crate::lower_derivatives) makes of the neighbours in a quad.
//!
//! The level is that of the Vulkan specification ("Level-of-Detail Operation") without what only the sampler knows: its bias, its
//! bounds and anisotropy. A coordinate that an offset moves is rounded once more. Cube maps, comparisons and offsets that are
//! constants stay as they are.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::{Builder, Flags, Function, Imm, Inst, Kind, Lanes, Module, Op, Stage, Type, Value};

type Values = SmallVec<[Value; 8]>;

/// What of levels and offsets the host lacks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// Queries of levels, least levels, offsets of gathers that are not constants, and offsets of texels that are fetched.
    pub queries: bool,
    /// Implicit levels in compute shaders.
    pub implicit_in_compute: bool,
}

impl Options {
    /// None of it.
    pub const ALL: Options = Options { queries: true, implicit_in_compute: true };

    /// Whether the host lacks any.
    pub const fn any(self) -> bool {
        self.queries || self.implicit_in_compute
    }
}

/// What happens to an access.
#[derive(Clone, Copy)]
enum Step {
    QueryLevel,
    /// Sampling with a least level, or in a stage without implicit ones.
    Gradients,
    /// Sampling at a level, with a least one.
    LeastLevel,
    MoveGather,
    MoveFetch,
}

/// Computes what the host cannot be asked for.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let options = lacks.levels;
    let compute = module.stage == Stage::Compute && options.implicit_in_compute;
    let mut changed = false;
    for f in module.funcs.values_mut() {
        changed |= function(f, options.queries, compute);
    }
    Changed::insts_if(changed)
}

fn function(f: &mut Function, queries: bool, compute: bool) -> bool {
    let step = |f: &Function, inst| step(f, inst, queries, compute);
    edit::replace_insts(
        f,
        |f, inst| step(f, inst).is_some(),
        |b, inst, replaced| {
            let Some((step, access)) = step(b.func, inst) else { return };
            let made = match step {
                Step::QueryLevel => access.level(b),
                Step::Gradients => access.with_gradients(b),
                Step::LeastLevel => access.at_least_level(b),
                Step::MoveGather => access.moved(b),
                Step::MoveFetch => access.moved_fetch(b),
            };
            if let Some(result) = b.func.result(inst) {
                replaced.set(b.func, result, made);
            }
        },
    )
}

/// What happens to an instruction, if it is an access to which anything does.
fn step(f: &Function, inst: Inst, queries: bool, compute: bool) -> Option<(Step, Access)> {
    let Imm::Tex(info) = f.insts[inst].imm else { return None };
    if !matches!(info.dim, Dim::D1 | Dim::D2 | Dim::D3) || info.residency {
        return None;
    }
    let has = |operand: TexOperands| info.operands.0 & operand.0 != 0;
    let offset_is_known =
        || Access::of(f, inst, info)?.operand(TexOperands::OFFSET).map(|v| f.const_bits(v).is_some());
    let step = match f.insts[inst].op {
        Op::TexQueryLod if queries || compute => Step::QueryLevel,
        Op::TexSample if !info.shadow => {
            let (least, level) = (has(TexOperands::MIN_LOD) && queries, has(TexOperands::LOD));
            let is_implicit = !level && !has(TexOperands::GRAD);
            match (least, level) {
                (true, true) => Step::LeastLevel,
                (true, false) => Step::Gradients,
                _ if compute && is_implicit => Step::Gradients,
                _ => return None,
            }
        }
        Op::TexGather if queries && offset_is_known() == Some(false) => Step::MoveGather,
        Op::TexFetch if queries && has(TexOperands::OFFSET) => Step::MoveFetch,
        _ => return None,
    };
    Some((step, Access::of(f, inst, info)?))
}

/// An access, its operands told apart.
struct Access {
    op: Op,
    flags: Flags,
    info: TexInfo,
    /// The texture, and its sampler if that is apart.
    handles: SmallVec<[Value; 2]>,
    coordinates: Value,
    operands: SmallVec<[(TexOperands, Value); 4]>,
    gradients: Option<[Value; 2]>,
    ty: Type,
}

impl Access {
    /// `None` if it has no coordinates.
    fn of(f: &Function, inst: Inst, info: TexInfo) -> Option<Access> {
        let args = f.args(inst);
        let handles: SmallVec<[Value; 2]> =
            args.iter().copied().take_while(|&v| matches!(f.ty(v).kind(), Kind::Tex | Kind::Samp)).collect();
        let mut rest = args.iter().copied().skip(handles.len());
        let coordinates = rest.next()?;
        let (mut operands, mut gradients) = (SmallVec::new(), None);
        for (operand, _) in TexOperands::NAMED {
            if info.operands.0 & operand.0 == 0 {
                continue;
            }
            let Some(v) = rest.next() else { break };
            match operand {
                TexOperands::GRAD => gradients = rest.next().map(|other| [v, other]),
                _ => operands.push((operand, v)),
            }
        }
        let data = &f.insts[inst];
        let ty = f.result(inst).map_or(Type::F32X4, |v| f.ty(v));
        Some(Access { op: data.op, flags: data.flags, info, handles, coordinates, operands, gradients, ty })
    }

    fn operand(&self, operand: TexOperands) -> Option<Value> {
        self.operands.iter().find(|(of, _)| *of == operand).map(|&(_, v)| v)
    }

    /// The access without some operands, and with others.
    fn make(&self, b: &mut Builder, without: u8, with: &[(TexOperands, &[Value])]) -> Value {
        let mut args: Values = self.handles.iter().copied().collect();
        args.push(self.coordinates);
        let mut operands = TexOperands(0);
        for (operand, _) in TexOperands::NAMED {
            let new = with.iter().find(|(of, _)| *of == operand);
            let old = self.operand(operand).filter(|_| without & operand.0 == 0);
            match new {
                Some((_, values)) => args.extend_from_slice(values),
                None if old.is_some() => args.extend(old),
                None => continue,
            }
            operands.0 |= operand.0;
        }
        let info = TexInfo { operands, ..self.info };
        let made = b.inst(self.op, self.flags, Imm::Tex(info), &args, &[self.ty]);
        b.func.result(made).unwrap_or(self.coordinates)
    }

    /// The type of a place within a layer.
    fn place(&self) -> Type {
        Type::new(Kind::F32, self.info.spatial()).unwrap_or(Type::F32)
    }

    /// The first lanes of a vector of one more, which is the layer; all of another.
    fn within_layer(&self, b: &mut Builder, v: Value) -> Value {
        let lanes = self.info.spatial();
        if b.func.ty(v).lanes() == lanes {
            return v;
        }
        match Lanes::new(&[0, 1, 2][..usize::from(lanes)]) {
            Some(first) if lanes > 1 => b.shuffle(v, v, first),
            _ => b.extract(v, 0),
        }
    }

    /// Texels of the largest level along each axis, as floats.
    fn size(&self, b: &mut Builder) -> Value {
        let levels = !self.info.multisampled;
        let operands = if levels { TexOperands::LOD } else { TexOperands(0) };
        let info = TexInfo { operands, shadow: false, component: 0, ..self.info };
        let mut args: SmallVec<[Value; 2]> = self.handles.first().copied().into_iter().collect();
        if levels {
            args.push(b.i32(0));
        }
        let ty = Type::new(Kind::I32, info.size_lanes()).unwrap_or(Type::I32);
        let made = b.inst(Op::TexQuerySize, self.flags, Imm::Tex(info), &args, &[ty]);
        let Some(size) = b.func.result(made) else { return self.coordinates };
        let size = self.within_layer(b, size);
        b.convert(Op::U2f, Flags::NONE, size, self.place())
    }

    /// How coordinates change towards the neighbours in x and in y: as told, or as they do.
    fn own_gradients(&self, b: &mut Builder) -> [Value; 2] {
        if let Some(told) = self.gradients {
            return told;
        }
        let place = self.within_layer(b, self.coordinates);
        let gradients = [Op::DdxCoarse, Op::DdyCoarse].map(|op| b.op(op, &[place]));
        match self.operand(TexOperands::BIAS) {
            Some(bias) => {
                let factor = b.op(Op::Exp2, &[bias]);
                let factor = self.everywhere(b, factor);
                gradients.map(|v| b.op(Op::Fmul, &[v, factor]))
            }
            None => gradients,
        }
    }

    /// A number along each axis.
    fn everywhere(&self, b: &mut Builder, v: Value) -> Value {
        match self.info.spatial() {
            1 => v,
            lanes => b.splat(v, lanes),
        }
    }

    /// The square of a vector's length.
    fn square(&self, b: &mut Builder, v: Value) -> Value {
        let squares = b.op(Op::Fmul, &[v, v]);
        if self.info.spatial() == 1 {
            return squares;
        }
        let lanes: Values = (0..self.info.spatial()).map(|lane| b.extract(squares, lane)).collect();
        lanes.iter().copied().reduce(|sum, lane| b.op(Op::Fadd, &[sum, lane])).unwrap_or(squares)
    }

    /// Takes the handles again: in compute shaders gradients end a block, and handles are of one.
    fn take_handles(&mut self, b: &mut Builder) {
        let block = b.block();
        for handle in &mut self.handles {
            if let Some(Imm::Resource(resource)) = b.func.def_inst(*handle).map(|inst| b.func.insts[inst].imm)
            {
                *handle = edit::take_handle(b.func, block, *handle, resource);
            }
        }
    }

    /// The level that sampling would take, of those there are, and of all.
    fn level(mut self, b: &mut Builder) -> Value {
        let gradients = self.own_gradients(b);
        self.take_handles(b);
        let size = self.size(b);
        let squares = gradients.map(|gradient| {
            let texels = b.op(Op::Fmul, &[gradient, size]);
            self.square(b, texels)
        });
        let longer = b.op(Op::Fmax, &squares);
        let half = b.f32(0.5);
        let level = b.op(Op::Log2, &[longer]);
        let level = b.op(Op::Fmul, &[level, half]);
        let info = TexInfo { operands: TexOperands(0), ..self.info };
        let handles = self.handles.first().copied();
        let made = b.inst(Op::TexQueryLevels, self.flags, Imm::Tex(info), handles.as_slice(), &[Type::I32]);
        let Some(count) = b.func.result(made) else { return level };
        let count = b.convert(Op::U2f, Flags::NONE, count, Type::F32);
        let (one, zero) = (b.f32(-1.0), b.f32(0.0));
        let last = b.op(Op::Fadd, &[count, one]);
        let clamped = b.op(Op::Fmax, &[level, zero]);
        let clamped = b.op(Op::Fmin, &[clamped, last]);
        b.op(Op::Build, &[clamped, level])
    }

    fn with_gradients(mut self, b: &mut Builder) -> Value {
        let mut gradients = self.own_gradients(b);
        self.take_handles(b);
        if let Some(least) = self.operand(TexOperands::MIN_LOD) {
            let size = self.size(b);
            gradients = [0, 1].map(|axis| self.no_shorter(b, gradients[axis], least, size, axis as u8));
        }
        let without = TexOperands::BIAS.0 | TexOperands::MIN_LOD.0;
        self.make(b, without, &[(TexOperands::GRAD, &gradients)])
    }

    /// A gradient that is at least a texel of a level long. Each of the two is, so that filters along the longer one do not take
    /// a larger level.
    fn no_shorter(&self, b: &mut Builder, v: Value, level: Value, size: Value, axis: u8) -> Value {
        let texels = b.op(Op::Fmul, &[v, size]);
        let square = self.square(b, texels);
        let wanted = b.op(Op::Exp2, &[level]);
        let needed = b.op(Op::Fmul, &[wanted, wanted]);
        // Along its own direction, or an axis where it has none.
        let length = b.op(Op::Sqrt, &[square]);
        let factor = b.op(Op::Fdiv, &[wanted, length]);
        let factor = self.everywhere(b, factor);
        let longer = b.op(Op::Fmul, &[v, factor]);
        let lanes = self.info.spatial();
        let axis = axis.min(lanes - 1);
        let along = match lanes {
            1 => b.op(Op::Fdiv, &[wanted, size]),
            _ => {
                let texels = b.extract(size, axis);
                let (step, zero) = (b.op(Op::Fdiv, &[wanted, texels]), b.f32(0.0));
                let steps: Values = (0..lanes).map(|lane| if lane == axis { step } else { zero }).collect();
                b.op(Op::Build, &steps)
            }
        };
        let none = b.f32(f32::MIN_POSITIVE);
        let has_direction = b.op(Op::FcmpOlt, &[none, square]);
        let longer = b.select(has_direction, longer, along);
        let is_short = b.op(Op::FcmpOlt, &[square, needed]);
        b.select(is_short, longer, v)
    }

    fn at_least_level(&self, b: &mut Builder) -> Value {
        let (level, least) = (self.operand(TexOperands::LOD), self.operand(TexOperands::MIN_LOD));
        let (Some(level), Some(least)) = (level, least) else { return self.coordinates };
        let level = b.op(Op::Fmax, &[level, least]);
        self.make(b, TexOperands::MIN_LOD.0, &[(TexOperands::LOD, &[level])])
    }

    /// The gather at coordinates so many texels further.
    fn moved(mut self, b: &mut Builder) -> Value {
        let Some(offset) = self.operand(TexOperands::OFFSET) else { return self.coordinates };
        let offset = b.convert(Op::S2f, Flags::NONE, offset, self.place());
        let size = self.size(b);
        let offset = b.op(Op::Fdiv, &[offset, size]);
        let place = self.within_layer(b, self.coordinates);
        let moved = b.op(Op::Fadd, &[place, offset]);
        self.coordinates = self.with_layer(b, moved);
        self.make(b, TexOperands::OFFSET.0, &[])
    }

    /// The texel so many further.
    fn moved_fetch(mut self, b: &mut Builder) -> Value {
        let Some(offset) = self.operand(TexOperands::OFFSET) else { return self.coordinates };
        let place = self.within_layer(b, self.coordinates);
        let moved = b.op(Op::Iadd, &[place, offset]);
        self.coordinates = self.with_layer(b, moved);
        self.make(b, TexOperands::OFFSET.0, &[])
    }

    /// A place within the layer of the coordinates.
    fn with_layer(&self, b: &mut Builder, place: Value) -> Value {
        let lanes = self.info.spatial();
        if !self.info.arrayed {
            return place;
        }
        let mut all: Values = match lanes {
            1 => [place].into_iter().collect(),
            _ => (0..lanes).map(|lane| b.extract(place, lane)).collect(),
        };
        all.push(b.extract(self.coordinates, lanes));
        b.op(Op::Build, &all)
    }
}
