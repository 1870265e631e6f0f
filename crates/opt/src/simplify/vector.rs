//! Rules for moving lanes: where does each lane of the result come from, and what is the simplest op that fetches
//! them from there.

use super::{Args, Rule, Site};
use smallvec::SmallVec;
use xenoglot_ir::{Flags, Function, Imm, Lanes, Op, Value};

/// Where a lane comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A scalar.
    Scalar(Value),
    /// A lane of a vector.
    Lane(Value, u8),
}

/// Longest chain of ops followed. Their own operands were simplified before, so chains are short.
const MAX_HOPS: usize = 16;

/// Follows a lane back through ops that only move lanes.
fn trace(f: &Function, mut at: Source) -> Source {
    for _ in 0..MAX_HOPS {
        let (Source::Scalar(v) | Source::Lane(v, _)) = at;
        let Some(inst) = f.def_inst(v) else { break };
        let (data, args) = (&f.insts[inst], f.args(inst));
        at = match (at, data.op, data.imm, args) {
            (Source::Scalar(_), Op::Extract, Imm::Lane(lane), &[a]) => Source::Lane(a, lane),
            (Source::Lane(..), Op::Splat, _, &[a]) => Source::Scalar(a),
            (Source::Lane(_, i), Op::Build, _, args) if usize::from(i) < args.len() => {
                Source::Scalar(args[usize::from(i)])
            }
            (Source::Lane(_, i), Op::Insert, Imm::Lane(lane), &[a, b]) => {
                if i == lane {
                    Source::Scalar(b)
                } else {
                    Source::Lane(a, i)
                }
            }
            (Source::Lane(_, i), Op::Shuffle, Imm::Lanes(lanes), &[a, b]) => {
                match lanes.as_slice().get(usize::from(i)) {
                    Some(&l) if l < 4 => Source::Lane(a, l),
                    Some(&l) => Source::Lane(b, l - 4),
                    None => break,
                }
            }
            _ => break,
        };
        // A one-lane vector is a scalar.
        if let Source::Lane(v, _) = at
            && f.ty(v).is_scalar()
        {
            at = Source::Scalar(v);
        }
    }
    at
}

pub(super) fn rule(s: &mut Site<'_>) -> Rule {
    let sources: Option<SmallVec<[Source; 4]>> = (0..s.ty.lanes()).map(|i| source(s, i)).collect();
    let Some(sources) = sources else { return Rule::Keep };
    let new = combine(s, &sources);
    match &new {
        Rule::Inst(op, _, imm, args) if *op == s.op && *imm == s.imm && *args == s.args => Rule::Keep,
        _ => new,
    }
}

/// Where lane `i` of the instruction's result comes from.
fn source(s: &Site<'_>, i: u8) -> Option<Source> {
    let first = match (s.op, s.imm, s.args.as_slice()) {
        (Op::Splat, _, &[a]) => Source::Scalar(a),
        (Op::Build, _, args) => Source::Scalar(*args.get(usize::from(i))?),
        (Op::Extract, Imm::Lane(lane), &[a]) => Source::Lane(a, lane),
        (Op::Insert, Imm::Lane(lane), &[_, b]) if lane == i => Source::Scalar(b),
        (Op::Insert, _, &[a, _]) => Source::Lane(a, i),
        (Op::Shuffle, Imm::Lanes(lanes), &[a, b]) => match *lanes.as_slice().get(usize::from(i))? {
            l if l < 4 => Source::Lane(a, l),
            l => Source::Lane(b, l - 4),
        },
        _ => return None,
    };
    Some(trace(s.f, first))
}

/// The simplest op that makes a vector of `sources`.
fn combine(s: &Site<'_>, sources: &[Source]) -> Rule {
    if let &[only] = sources {
        return match only {
            Source::Scalar(v) => Rule::Value(v),
            Source::Lane(v, lane) => {
                Rule::Inst(Op::Extract, Flags::NONE, Imm::Lane(lane), [v].into_iter().collect())
            }
        };
    }
    let scalars: Option<Args> = sources
        .iter()
        .map(|&x| match x {
            Source::Scalar(v) => Some(v),
            Source::Lane(..) => None,
        })
        .collect();
    if let Some(args) = scalars {
        return if args.iter().all(|&v| v == args[0]) {
            Rule::op(Op::Splat, &args[..1])
        } else {
            Rule::Inst(Op::Build, Flags::NONE, Imm::None, args)
        };
    }
    shuffle(s, sources).or_else(|| insert(s, sources)).unwrap_or(Rule::Keep)
}

/// All lanes of one vector or two of one type.
fn shuffle(s: &Site<'_>, sources: &[Source]) -> Option<Rule> {
    let mut from: Args = Args::new();
    let mut lanes: SmallVec<[u8; 4]> = SmallVec::new();
    for &x in sources {
        let Source::Lane(v, lane) = x else { return None };
        let at = from.iter().position(|&k| k == v).unwrap_or_else(|| {
            from.push(v);
            from.len() - 1
        });
        if at > 1 {
            return None;
        }
        lanes.push(at as u8 * 4 + lane);
    }
    let a = *from.first()?;
    let b = from.get(1).copied().unwrap_or(a);
    if s.f.ty(a) != s.f.ty(b) {
        return None;
    }
    let same = lanes.iter().enumerate().all(|(i, &l)| usize::from(l) == i);
    if same && s.f.ty(a) == s.ty {
        return Some(Rule::Value(a));
    }
    Some(Rule::Inst(Op::Shuffle, Flags::NONE, Imm::Lanes(Lanes::new(&lanes)?), [a, b].into_iter().collect()))
}

/// A vector of which one lane is replaced by a scalar.
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
    Some(Rule::Inst(Op::Insert, Flags::NONE, Imm::Lane(lane), [base, v].into_iter().collect()))
}
