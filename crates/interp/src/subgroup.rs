//! Ops that the active invocations of a subgroup execute together.

use crate::trap::Cause;
use xenoglot_ir::flags::Flags;
use xenoglot_ir::fold::{Cx, Fault, eval};
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::op::Op;
use xenoglot_ir::{Bits, Imm, Kind, Type};

/// One active lane: its number in the subgroup, its operands, the first of which becomes its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) lane: u32,
    pub(crate) value: Bits,
    pub(crate) second: Bits,
    pub(crate) third: Bits,
}

/// Lanes of a quad. A subgroup's first lane is the first of a quad.
const QUAD: u32 = 4;

/// Replaces each active lane's operand by its result. `lanes` are in ascending order; `ty` is the result's type.
pub(crate) fn together(
    op: Op,
    info: &SubgroupInfo,
    ty: Type,
    width: u8,
    flags: Flags,
    lanes: &mut [Active],
) -> Result<(), Cause> {
    if op == Op::SgId && u32::from(info.width) == QUAD {
        lanes.iter_mut().for_each(|a| a.value = Bits::scalar((a.lane % QUAD).into()));
        return Ok(());
    }
    if info.width != 0 && info.width != width {
        return Err(Cause::SubgroupWidth { guest: info.width, host: width });
    }
    let first = lanes.first().copied();
    match op {
        Op::SgId => lanes.iter_mut().for_each(|a| a.value = Bits::scalar(a.lane.into())),
        Op::SgSize => lanes.iter_mut().for_each(|a| a.value = Bits::scalar(width.into())),
        Op::SgElect => lanes
            .iter_mut()
            .for_each(|a| a.value = Bits::scalar((Some(a.lane) == first.map(|f| f.lane)).into())),
        Op::SgBallot => {
            let mask = lanes.iter().fold(0u64, |mask, a| mask | (a.value.0[0] & 1) << a.lane);
            let low = mask & ty.kind().mask();
            everyone(lanes, if ty.is_scalar() { Bits::scalar(low) } else { Bits([low, mask >> 32, 0, 0]) });
        }
        Op::SgReadFirst => everyone(lanes, first.map_or(Bits::default(), |f| f.value)),
        Op::SgAll => reduce(op, Reduce::And, ty, lanes)?,
        Op::SgAny => reduce(op, Reduce::Or, ty, lanes)?,
        Op::SgShuffle => from_lanes(lanes, |_, to| to),
        Op::SgShuffleXor => from_lanes(lanes, |id, mask| id ^ mask),
        Op::SgShuffleUp => from_lanes(lanes, |id, by| id.wrapping_sub(by)),
        Op::SgShuffleDown => from_lanes(lanes, |id, by| id.wrapping_add(by)),
        Op::SgQuadSwap => of_quad(lanes, |id, way| id ^ (way.min(2) + 1)),
        Op::SgQuadBroadcast => of_quad(lanes, |_, lane| lane),
        Op::SgQuadAdd => {
            for a in lanes {
                a.value = quad_add(ty, flags, a)?;
            }
        }
        Op::DdxFine => derivative(op, ty, lanes, |id| [id & !1, id | 1])?,
        Op::DdyFine => derivative(op, ty, lanes, |id| [id & !2, id | 2])?,
        Op::DdxCoarse => derivative(op, ty, lanes, |_| [0, 1])?,
        Op::DdyCoarse => derivative(op, ty, lanes, |_| [0, 2])?,
        Op::SgReduce => reduce(op, info.reduce, ty, lanes)?,
        Op::SgScan => {
            let mut sum =
                if info.exclusive { Some(Bits::splat(ty, identity(info.reduce, ty.kind()))) } else { None };
            for a in lanes {
                let with = match sum {
                    Some(sum) => combine(op, info.reduce, ty, sum, a.value)?,
                    None => a.value,
                };
                a.value = if info.exclusive { sum.unwrap_or_default() } else { with };
                sum = Some(with);
            }
        }
        _ => return Err(Cause::Unsupported { op }),
    }
    Ok(())
}

fn everyone(lanes: &mut [Active], value: Bits) {
    lanes.iter_mut().for_each(|a| a.value = value);
}

/// Gives each lane the operand of the lane that `source` makes of its number and second operand, if that is active.
fn from_lanes(lanes: &mut [Active], source: impl Fn(u32, u32) -> u32) {
    let mut values = [None; 64];
    for a in lanes.iter() {
        values[a.lane as usize] = Some(a.value);
    }
    for a in lanes {
        let from = source(a.lane, a.second.0[0] as u32);
        a.value = values.get(from as usize).copied().flatten().unwrap_or(a.value);
    }
}

/// Gives each lane the operand of the lane of its quad that `source` makes of its number there and its second operand, if
/// that is active.
fn of_quad(lanes: &mut [Active], source: impl Fn(u32, u32) -> u32) {
    let source = |lane: u32, second: u32| lane - lane % QUAD + source(lane % QUAD, second) % QUAD;
    from_lanes(lanes, source);
}

/// Gives each lane the difference of the operands of two lanes of its quad: the second of those that `of` names less the
/// first, a lane that is not active counting for its own.
fn derivative(op: Op, ty: Type, lanes: &mut [Active], of: impl Fn(u32) -> [u32; 2]) -> Result<(), Cause> {
    let mut ends = [0, 1].map(|_| lanes.to_vec());
    for (end, lanes) in ends.iter_mut().enumerate() {
        of_quad(lanes, |id, _| of(id)[end]);
    }
    let [from, to] = ends;
    for ((a, from), to) in lanes.iter_mut().zip(from).zip(to) {
        a.value = float(op, Op::Fsub, ty, Flags::NONE, &[to.value, from.value])?;
    }
    Ok(())
}

fn quad_add(ty: Type, flags: Flags, a: &Active) -> Result<Bits, Cause> {
    let op = Op::SgQuadAdd;
    let negative = |v: Bits| float(op, Op::Fneg, ty, Flags::NONE, &[v]);
    let [x, y] = match a.third.0[0] >> (2 * (QUAD - 1 - a.lane % QUAD)) & 3 {
        0 => [a.value, a.second],
        1 => [negative(a.value)?, a.second],
        2 => [a.value, negative(a.second)?],
        _ => return Ok(a.second),
    };
    float(op, Op::Fadd, ty, flags, &[x, y])
}

/// `by` on floats, for `op`.
fn float(op: Op, by: Op, ty: Type, flags: Flags, args: &[Bits]) -> Result<Bits, Cause> {
    let cx = Cx { result: ty, arg: ty, flags, imm: Imm::None };
    eval(by, &cx, args, &[ty, ty][..args.len().min(2)]).map_err(|_| Cause::Unsupported { op })
}

fn reduce(op: Op, how: Reduce, ty: Type, lanes: &mut [Active]) -> Result<(), Cause> {
    let Some((first, rest)) = lanes.split_first() else { return Ok(()) };
    let sum = rest.iter().try_fold(first.value, |sum, a| combine(op, how, ty, sum, a.value))?;
    everyone(lanes, sum);
    Ok(())
}

fn combine(op: Op, how: Reduce, ty: Type, a: Bits, b: Bits) -> Result<Bits, Cause> {
    let (by, fits) = match how {
        Reduce::Iadd => (Op::Iadd, ty.kind().is_int()),
        Reduce::Imul => (Op::Imul, ty.kind().is_int()),
        Reduce::Imin => (Op::Imin, ty.kind().is_int()),
        Reduce::Imax => (Op::Imax, ty.kind().is_int()),
        Reduce::Umin => (Op::Umin, ty.kind().is_int()),
        Reduce::Umax => (Op::Umax, ty.kind().is_int()),
        Reduce::Fadd => (Op::Fadd, ty.kind().is_float()),
        Reduce::Fmul => (Op::Fmul, ty.kind().is_float()),
        Reduce::Fmin => (Op::Fmin, ty.kind().is_float()),
        Reduce::Fmax => (Op::Fmax, ty.kind().is_float()),
        Reduce::And => (Op::And, !ty.kind().is_float()),
        Reduce::Or => (Op::Or, !ty.kind().is_float()),
        Reduce::Xor => (Op::Xor, !ty.kind().is_float()),
    };
    if !fits {
        return Err(Cause::Unsupported { op });
    }
    let cx = Cx { result: ty, arg: ty, flags: Flags::NONE, imm: Imm::None };
    eval(by, &cx, &[a, b], &[ty, ty]).map_err(|fault| match fault {
        Fault::Unsupported => Cause::Unsupported { op },
        Fault::DivisionByZero => Cause::DivisionByZero,
    })
}

/// What an exclusive scan starts from: combined with anything it gives that.
fn identity(how: Reduce, kind: Kind) -> u64 {
    let (one, infinity) = match kind {
        Kind::F16 => (0x3c00, 0x7c00),
        Kind::F32 => (1f32.to_bits().into(), f32::INFINITY.to_bits().into()),
        Kind::F64 => (1f64.to_bits(), f64::INFINITY.to_bits()),
        _ => (1, 0),
    };
    let sign = kind.mask() ^ kind.mask() >> 1;
    match how {
        Reduce::Iadd | Reduce::Fadd | Reduce::Or | Reduce::Xor | Reduce::Umax => 0,
        Reduce::Imul | Reduce::Fmul => one,
        Reduce::And | Reduce::Umin => kind.mask(),
        Reduce::Imin => kind.mask() >> 1,
        Reduce::Imax => sign,
        Reduce::Fmin => infinity,
        Reduce::Fmax => infinity | sign,
    }
}
