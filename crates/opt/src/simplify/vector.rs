//! Rules for moving lanes: where does each lane of the result come from, and what is the simplest op that fetches
//! them from there.

use super::{Args, Rule, Site};
use xenoglot_ir::{Flags, Function, Imm, Lanes, Op, Value};

/// Where a lane comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A scalar.
    Scalar(Value),
    /// A lane of a vector.
    Lane(Value, u8),
}

/// Lanes a vector has at most.
const MAX_LANES: usize = 4;

/// Longest chain of ops followed. Their own operands were simplified before, so chains are short.
const MAX_HOPS: usize = 16;

/// Whether `op` only moves lanes.
pub(super) fn is_mover(op: Op) -> bool {
    matches!(op, Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle)
}

/// Follows lanes back through ops that only move lanes. Lanes next to each other mostly come from one vector, so its
/// definition is looked up once.
fn trace(f: &Function, sources: &mut [Source]) {
    for _ in 0..MAX_HOPS {
        let mut moved = false;
        let mut last = None;
        for at in &mut *sources {
            let (Source::Scalar(v) | Source::Lane(v, _)) = *at;
            let mover = match last {
                Some((of, mover)) if of == v => mover,
                _ => last.insert((v, mover(f, v))).1,
            };
            if let Some(from) = mover.and_then(|m| hop(m, *at)) {
                *at = match from {
                    // A one-lane vector is a scalar.
                    Source::Lane(v, _) if f.ty(v).is_scalar() => Source::Scalar(v),
                    from => from,
                };
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

/// The op, immediate and operands that define `v`, if the op only moves lanes.
fn mover(f: &Function, v: Value) -> Option<(Op, Imm, &[Value])> {
    let data = &f.insts[f.def_inst(v)?];
    is_mover(data.op).then(|| (data.op, data.imm, data.args.as_slice(&f.pool)))
}

/// Where the op that makes the value of `at` has it from.
fn hop((op, imm, args): (Op, Imm, &[Value]), at: Source) -> Option<Source> {
    Some(match (at, op, imm, args) {
        (Source::Scalar(_), Op::Extract, Imm::Lane(lane), &[a]) => Source::Lane(a, lane),
        (Source::Lane(..), Op::Splat, _, &[a]) => Source::Scalar(a),
        (Source::Lane(_, i), Op::Build, _, args) => Source::Scalar(*args.get(usize::from(i))?),
        (Source::Lane(_, i), Op::Insert, Imm::Lane(lane), &[_, b]) if i == lane => Source::Scalar(b),
        (Source::Lane(_, i), Op::Insert, Imm::Lane(_), &[a, _]) => Source::Lane(a, i),
        (Source::Lane(_, i), Op::Shuffle, Imm::Lanes(lanes), &[a, b]) => {
            match *lanes.as_slice().get(usize::from(i))? {
                l if l < 4 => Source::Lane(a, l),
                l => Source::Lane(b, l - 4),
            }
        }
        _ => return None,
    })
}

pub(super) fn rule(s: &mut Site<'_>) -> Rule {
    let Some(mut sources) = sources(s) else { return Rule::Keep };
    let sources = &mut sources[..usize::from(s.ty.lanes()).min(MAX_LANES)];
    trace(s.f, sources);
    let new = combine(s, sources);
    match &new {
        Rule::Inst(op, _, imm, args) if *op == s.op && *imm == s.imm && *args == s.args => Rule::Keep,
        _ => new,
    }
}

/// Where the lanes of the instruction's result come from; lanes it does not have repeat the last.
fn sources(s: &Site<'_>) -> Option<[Source; MAX_LANES]> {
    let lanes = [0u8, 1, 2, 3];
    Some(match (s.op, s.imm, s.args.as_slice()) {
        (Op::Splat, _, &[a]) => [Source::Scalar(a); MAX_LANES],
        (Op::Build, _, args) => {
            let last = args.len().checked_sub(1)?;
            lanes.map(|i| Source::Scalar(args[usize::from(i).min(last)]))
        }
        (Op::Extract, Imm::Lane(lane), &[a]) => [Source::Lane(a, lane); MAX_LANES],
        (Op::Insert, Imm::Lane(lane), &[a, b]) => {
            lanes.map(|i| if i == lane { Source::Scalar(b) } else { Source::Lane(a, i) })
        }
        (Op::Shuffle, Imm::Lanes(picked), &[a, b]) => {
            let picked = picked.as_slice();
            let last = picked.len().checked_sub(1)?;
            lanes.map(|i| match picked[usize::from(i).min(last)] {
                l if l < 4 => Source::Lane(a, l),
                l => Source::Lane(b, l - 4),
            })
        }
        _ => return None,
    })
}

/// The simplest op that makes a vector of `sources`.
fn combine(s: &Site<'_>, sources: &[Source]) -> Rule {
    if let &[only] = sources {
        return match only {
            Source::Scalar(v) => Rule::Value(v),
            Source::Lane(v, lane) => {
                Rule::Inst(Op::Extract, Flags::NONE, Imm::Lane(lane), Args::from_slice(&[v]))
            }
        };
    }
    let mut scalars = Args::new();
    for &x in sources {
        match x {
            Source::Scalar(v) => scalars.push(v),
            Source::Lane(..) => break,
        }
    }
    if scalars.len() == sources.len() {
        return if scalars.iter().all(|&v| v == scalars[0]) {
            Rule::op(Op::Splat, &scalars[..1])
        } else {
            Rule::Inst(Op::Build, Flags::NONE, Imm::None, scalars)
        };
    }
    shuffle(s, sources).or_else(|| insert(s, sources)).unwrap_or(Rule::Keep)
}

/// All lanes of one vector or two of one type.
fn shuffle(s: &Site<'_>, sources: &[Source]) -> Option<Rule> {
    let Source::Lane(a, _) = *sources.first()? else { return None };
    let (mut b, mut lanes, mut same) = (a, [0; MAX_LANES], true);
    for (i, &x) in sources.iter().enumerate() {
        let Source::Lane(v, lane) = x else { return None };
        if v != a && v != b {
            if b != a {
                return None;
            }
            b = v;
        }
        lanes[i] = if v == a { lane } else { lane + 4 };
        same &= usize::from(lanes[i]) == i;
    }
    if s.f.ty(a) != s.f.ty(b) {
        return None;
    }
    if same && s.f.ty(a) == s.ty {
        return Some(Rule::Value(a));
    }
    let lanes = Imm::Lanes(Lanes::new(&lanes[..sources.len()])?);
    Some(Rule::Inst(Op::Shuffle, Flags::NONE, lanes, Args::from_slice(&[a, b])))
}

/// `insert`: a vector with one lane replaced by a scalar.
fn insert(s: &Site<'_>, sources: &[Source]) -> Option<Rule> {
    let base = sources.iter().find_map(|x| match *x {
        Source::Lane(v, _) => Some(v),
        Source::Scalar(_) => None,
    })?;
    let mut replaced = None;
    for (i, &x) in sources.iter().enumerate() {
        match x {
            Source::Lane(v, lane) if v == base && usize::from(lane) == i => {}
            Source::Scalar(v) if replaced.is_none() => replaced = Some((i as u8, v)),
            _ => return None,
        }
    }
    let (lane, v) = replaced.filter(|_| s.f.ty(base) == s.ty)?;
    Some(Rule::Inst(Op::Insert, Flags::NONE, Imm::Lane(lane), Args::from_slice(&[base, v])))
}
