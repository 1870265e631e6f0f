//! Samples with gradients of their own, which the machine has for plain shapes only: of volumes and cubes compilers make
//! four samples, one for each lane of a quad.
//!
//! ```text
//! for lane in 0..4:
//!     c = quad_add(broadcast(dx, lane), broadcast(coordinate, lane), 0xcc)       lanes 1 and 3: with dx
//!     c = quad_add(broadcast(dy, lane), c, 0xf0)                                 lanes 2 and 3: with dy
//!     t = broadcast(sample c, 0)                      the level comes from the differences: dx and dy
//!     result = select(lane is mine, t, result)   =>   result = sample coordinate, gradient dx dy
//! ```
//!
//! Run it after `promote`, before quads become derivatives; what stays unused goes with dead code. What differs in any way
//! stays as it is, and samples by the differences of the quad.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use xenoglot_ir::imm::TexOperands;
use xenoglot_ir::{Flags, Function, Imm, Inst, Module, Op, Stage, Type, Value};

/// Lanes of a quad.
const QUAD: u32 = 4;

type Values = SmallVec<[Value; 4]>;

/// Makes one sample with gradients of four in a fragment shader's functions.
pub fn join_gradients(module: &mut Module) {
    if module.stage != Stage::Fragment {
        return;
    }
    for func in module.funcs.values_mut() {
        let insts = || func.layout.iter().flat_map(|&b| &func.blocks[b].insts).copied();
        if insts().any(|i| func.insts[i].op == Op::SgQuadBroadcast) {
            join(func);
        }
    }
}

/// A sample for one lane of the quad.
#[derive(Clone, PartialEq)]
struct Sample {
    coordinates: Values,
    gradient: [Values; 2],
}

/// A component of a result: what each lane takes.
struct Component {
    number: u8,
    /// By lane.
    samples: [Inst; QUAD as usize],
    /// The sample that is done last.
    last: Inst,
}

fn join(f: &mut Function) {
    let selects: Vec<Inst> = f
        .layout
        .iter()
        .flat_map(|&b| &f.blocks[b].insts)
        .copied()
        .filter(|&i| f.insts[i].op == Op::Select)
        .collect();
    let mut joined: FxHashMap<Inst, Value> = FxHashMap::default();
    let mut before: FxHashMap<Inst, SmallVec<[Inst; 8]>> = FxHashMap::default();
    let mut by: FxHashMap<Value, Value> = FxHashMap::default();
    for select in selects {
        let Some(component) = component(f, select) else { continue };
        let texel = match joined.get(&component.last) {
            Some(&texel) => texel,
            None => {
                let Some((texel, made)) = sample(f, &component) else { continue };
                before.insert(component.last, made);
                joined.insert(component.last, texel);
                texel
            }
        };
        let (Some(old), guest) = (f.result(select), f.insts[select].guest) else { continue };
        let made = before.entry(component.last).or_default();
        let mut v = texel;
        let lane = (Op::Extract, Imm::Lane(component.number), f.ty(texel).lane());
        for (op, imm, ty) in [lane, (Op::Bitcast, Imm::None, f.ty(old))] {
            if f.ty(v) != ty {
                let inst = f.make_inst(op, Flags::NONE, imm, &[v], &[ty], guest);
                made.push(inst);
                v = f.result(inst).unwrap_or(v);
            }
        }
        by.insert(old, v);
    }
    if by.is_empty() {
        return;
    }
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        let insts = std::mem::take(&mut f.blocks[block].insts);
        for inst in insts {
            f.blocks[block].insts.extend(before.remove(&inst).into_iter().flatten());
            f.blocks[block].insts.push(inst);
        }
        f.map_uses(block, |v| by.get(&v).copied().unwrap_or(v));
    }
}

/// What a value is whose bits this one is.
fn bits_of(f: &Function, mut v: Value) -> Value {
    while let Some(inst) = f.def_inst(v)
        && f.insts[inst].op == Op::Bitcast
        && let &[arg] = f.args(inst)
        && matches!(f.ty(arg), Type::I32 | Type::F32)
    {
        v = arg;
    }
    v
}

fn made_by(f: &Function, v: Value, op: Op) -> Option<Inst> {
    f.def_inst(bits_of(f, v)).filter(|&i| f.insts[i].op == op)
}

fn number(f: &Function, v: Value) -> Option<u32> {
    Some(f.const_bits(v)?.lane(0) as u32)
}

/// The lane of the quad that a condition holds in, if it is one alone.
fn only_lane(f: &Function, cond: Value) -> Option<u32> {
    let &[id, lane] = f.args(made_by(f, cond, Op::IcmpEq)?) else { return None };
    let id = made_by(f, id, Op::SgId)?;
    let Imm::Subgroup(info) = f.insts[id].imm else { return None };
    number(f, lane).filter(|&lane| u32::from(info.width) == QUAD && lane < QUAD)
}

/// What lanes take by a chain of selections, if each takes its component of a sample.
fn component(f: &Function, select: Inst) -> Option<Component> {
    let mut found: [Option<Inst>; QUAD as usize] = [None; QUAD as usize];
    let (mut number, mut last) = (None, None);
    let mut at = select;
    for _ in 0..QUAD {
        let &[cond, taken, rest] = f.args(at) else { return None };
        let lane = only_lane(f, cond)?;
        let (sample, component) = taken_from(f, taken, lane)?;
        let place = found.get_mut(lane as usize)?;
        if place.replace(sample).is_some() || *number.get_or_insert(component) != component {
            return None;
        }
        last.get_or_insert(sample);
        match made_by(f, rest, Op::Select) {
            Some(next) if found.contains(&None) => at = next,
            _ => break,
        }
    }
    let [Some(a), Some(b), Some(c), Some(d)] = found else { return None };
    Some(Component { number: number?, samples: [a, b, c, d], last: last? })
}

/// The sample and the component of it that the first lane has told all others; the first itself may take it directly.
fn taken_from(f: &Function, v: Value, lane: u32) -> Option<(Inst, u8)> {
    let v = match made_by(f, v, Op::SgQuadBroadcast) {
        Some(told) => {
            let &[v, from] = f.args(told) else { return None };
            (number(f, from)? == 0).then_some(v)?
        }
        None => (lane == 0).then_some(v)?,
    };
    let v = bits_of(f, v);
    let inst = f.def_inst(v)?;
    match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::Extract, Imm::Lane(component)) => {
            let sample = f.def_inst(*f.args(inst).first()?)?;
            (f.insts[sample].op == Op::TexSample).then_some((sample, component))
        }
        (Op::TexSample, _) => Some((inst, 0)),
        _ => None,
    }
}

/// The value of a lane that all others were told; constants are everybody's.
fn told(f: &Function, v: Value, lane: u32) -> Option<Value> {
    if f.const_bits(bits_of(f, v)).is_some() {
        return Some(bits_of(f, v));
    }
    let &[v, from] = f.args(made_by(f, v, Op::SgQuadBroadcast)?) else { return None };
    (number(f, from)? == lane).then(|| bits_of(f, v))
}

/// The coordinates and gradients that a sample was done with for a lane.
fn sample_of(f: &Function, sample: Inst, lane: u32) -> Option<Sample> {
    let Imm::Tex(info) = f.insts[sample].imm else { return None };
    let coordinates = *f.args(sample).get(1)?;
    let built: Values = match made_by(f, coordinates, Op::Build) {
        Some(build) => f.args(build).into(),
        None => SmallVec::from_slice(&[coordinates]),
    };
    let mut all = Sample { coordinates: Values::new(), gradient: Default::default() };
    for (i, &v) in built.iter().enumerate() {
        if i >= usize::from(info.spatial()) {
            all.coordinates.push(v); // the layer
            continue;
        }
        let step = |v: Value, signs: u32| {
            let &[step, rest, table] = f.args(made_by(f, v, Op::SgQuadAdd)?) else { return None };
            (number(f, table)? == signs).then_some((told(f, step, lane)?, rest))
        };
        let (dy, v) = step(v, 0xf0)?;
        let (dx, v) = step(v, 0xcc)?;
        all.coordinates.push(told(f, v, lane)?);
        all.gradient[0].push(dx);
        all.gradient[1].push(dy);
    }
    Some(all)
}

/// The sample with gradients that takes the place of four, and the instructions that make it.
fn sample(f: &mut Function, of: &Component) -> Option<(Value, SmallVec<[Inst; 8]>)> {
    let last = of.last;
    let (Imm::Tex(mut info), guest) = (f.insts[last].imm, f.insts[last].guest) else { return None };
    let implicit = TexOperands::COMPARE.0 | TexOperands::OFFSET.0;
    if info.operands.0 & !implicit != 0 {
        return None;
    }
    let samples: Vec<Sample> =
        (0..QUAD).zip(of.samples).map(|(lane, s)| sample_of(f, s, lane)).collect::<Option<_>>()?;
    let first = samples.first()?.clone();
    let spatial = usize::from(info.spatial());
    let same =
        |s: &Sample| s.gradient == first.gradient && s.coordinates[..spatial] == first.coordinates[..spatial];
    let alike =
        |&s: &Inst| f.insts[s].imm == f.insts[last].imm && f.args(s).get(2..) == f.args(last).get(2..);
    if !samples.iter().all(same) || !of.samples.iter().all(alike) {
        return None;
    }
    let mut made = SmallVec::new();
    let mut make = |f: &mut Function, op, imm, args: &[Value], ty| {
        let inst = f.make_inst(op, Flags::NONE, imm, args, &[ty], guest);
        made.push(inst);
        f.result(inst)
    };
    let mut vector = |f: &mut Function, values: &[Value]| {
        let mut lanes = Values::new();
        for &v in values {
            lanes.push(match f.ty(v) {
                Type::F32 => v,
                _ => make(f, Op::Bitcast, Imm::None, &[v], Type::F32)?,
            });
        }
        match lanes[..] {
            [v] => Some(v),
            _ => {
                let ty = Type::F32.with_lanes(lanes.len() as u8)?;
                make(f, Op::Build, Imm::None, &lanes, ty)
            }
        }
    };
    let coordinates = vector(f, &first.coordinates)?;
    let [along_x, along_y] = [vector(f, &first.gradient[0])?, vector(f, &first.gradient[1])?];
    let mut args: SmallVec<[Value; 8]> = f.args(last).into();
    *args.get_mut(1)? = coordinates;
    let at = 2 + usize::from(info.operands.0 & TexOperands::COMPARE.0 != 0);
    args.insert_from_slice(at.min(args.len()), &[along_x, along_y]);
    info.operands.0 |= TexOperands::GRAD.0;
    let ty = f.ty(f.result(last)?);
    let texel = make(f, Op::TexSample, Imm::Tex(info), &args, ty)?;
    Some((texel, made))
}
