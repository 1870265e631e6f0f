//! Vectors from lanes that lie in several values.

use super::Builder;
use crate::entities::Value;
use crate::imm::Lanes;
use crate::op::Op;

/// Lanes a vector has at most.
pub(super) const MAX_LANES: usize = 4;

/// A lane that is not needed.
pub const ANY_LANE: u8 = u8::MAX;

/// Where a lane is: a scalar, or in a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub value: Value,
    pub lane: u8,
}

/// Where one to four lanes come from; `None` for a lane that is not needed.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    parts: [Option<Part>; MAX_LANES],
    len: usize,
}

impl Parts {
    pub const IN_ORDER: [u8; MAX_LANES] = [0, 1, 2, 3];

    /// Lanes that no user has asked for yet.
    pub fn new(len: usize) -> Parts {
        Parts { parts: [None; MAX_LANES], len: len.clamp(1, MAX_LANES) }
    }

    /// The first lanes of `v`.
    pub fn of(v: Value, len: usize) -> Parts {
        let mut parts = Parts::new(len);
        parts.parts = Parts::IN_ORDER.map(|lane| Some(Part { value: v, lane }));
        parts
    }

    pub fn set(&mut self, lane: u8, part: Part) {
        if let Some(at) = self.parts.get_mut(usize::from(lane)) {
            *at = Some(part);
        }
    }

    /// The lanes that somebody wants, by number.
    fn wanted(&self) -> impl Iterator<Item = (u8, Part)> + use<> {
        let Parts { parts, len } = *self;
        (0..len as u8).filter_map(move |i| Some((i, parts[usize::from(i)]?)))
    }
}

impl Builder<'_> {
    /// Lanes of `v`, one to four in any order: a scalar for one, a vector for more. Lanes that it does not have are its
    /// last; [`ANY_LANE`] may be anything.
    pub fn lanes(&mut self, v: Value, lanes: &[u8]) -> Value {
        let last = self.func.ty(v).lanes().saturating_sub(1);
        if last == 0 {
            return self.splat(v, lanes.len() as u8);
        }
        let mut picked = [0; MAX_LANES];
        let mut in_order = lanes.len() == usize::from(last) + 1;
        for (i, (to, &lane)) in (0..).zip(picked.iter_mut().zip(lanes)) {
            *to = if lane == ANY_LANE { i } else { lane }.min(last);
            in_order &= *to == i;
        }
        match Lanes::new(&picked[..lanes.len().min(MAX_LANES)]) {
            _ if in_order => v,
            _ if lanes.len() == 1 => self.extract(v, picked[0]),
            Some(lanes) => self.shuffle(v, v, lanes),
            None => v,
        }
    }

    /// A value of these lanes.
    pub(super) fn gather(&mut self, parts: &Parts) -> Value {
        match self.gather_at_once(parts) {
            Some(v) => v,
            None => self.merge(parts),
        }
    }

    /// A value of these lanes, which are `lanes` of `v`, too.
    pub(super) fn gather_or(&mut self, parts: &Parts, v: Value, lanes: &[u8]) -> Value {
        match self.gather_at_once(parts) {
            Some(v) => v,
            None => self.lanes(v, lanes),
        }
    }

    fn is_scalar(&self, v: Value) -> bool {
        self.func.ty(v).is_scalar()
    }

    /// The scalar at `part`.
    fn scalar(&mut self, part: Part) -> Value {
        if self.is_scalar(part.value) { part.value } else { self.extract(part.value, part.lane) }
    }

    /// Lanes of one value, or of two vectors of one type, or scalars.
    fn gather_at_once(&mut self, parts: &Parts) -> Option<Value> {
        let n = parts.len;
        let mut wanted = parts.wanted();
        let (_, first) = wanted.next()?;
        if n == 1 {
            return Some(self.scalar(first));
        }
        let (a, mut b) = (first.value, first.value);
        let scalar = self.is_scalar(a);
        let mut more = false;
        for (_, part) in wanted {
            if part.value != a && part.value != b {
                more |= b != a;
                b = part.value;
            }
            if self.is_scalar(part.value) != scalar {
                return None;
            }
        }
        if scalar {
            if a == b {
                return Some(self.splat(a, n as u8));
            }
            let mut args = [a; MAX_LANES];
            parts.wanted().for_each(|(i, part)| args[usize::from(i)] = part.value);
            return Some(self.op(Op::Build, &args[..n]));
        }
        let ty = self.func.ty(a);
        if more || ty != self.func.ty(b) {
            return None;
        }
        let mut lanes = [ANY_LANE; MAX_LANES];
        for (i, part) in parts.wanted() {
            lanes[usize::from(i)] = part.lane + if part.value == a { 0 } else { MAX_LANES as u8 };
        }
        if a == b {
            return Some(self.lanes(a, &lanes[..n]));
        }
        let last = ty.lanes().saturating_sub(1);
        for (i, lane) in (0..).zip(&mut lanes).filter(|(_, lane)| **lane == ANY_LANE) {
            *lane = last.min(i);
        }
        let lanes = Lanes::new(&lanes[..n])?;
        Some(self.shuffle(a, b, lanes))
    }

    /// Vector by vector, then the scalars; all scalars where that takes less, or where the vectors are not of the result's
    /// type.
    fn merge(&mut self, parts: &Parts) -> Value {
        let mut wanted = parts.wanted();
        let vector = wanted.find(|(_, p)| !self.is_scalar(p.value)).map(|(_, p)| p.value);
        let scalars = parts.wanted().filter(|(_, p)| self.is_scalar(p.value)).count();
        let Some(first) = vector.filter(|_| scalars + 1 < parts.wanted().count()) else {
            return self.build(parts);
        };
        let ty = self.func.ty(first);
        let fits = |b: &Self, v| b.is_scalar(v) || b.func.ty(v) == ty;
        if usize::from(ty.lanes()) != parts.len || !parts.wanted().all(|(_, p)| fits(self, p.value)) {
            return self.build(parts);
        }
        let of_first = |p: &Part| p.value == first;
        let mut merged = self.add_lanes(first, parts, of_first);
        let mut seen = [Some(first), None, None, None];
        for (i, part) in parts.wanted() {
            if seen.contains(&Some(part.value)) {
                continue;
            }
            seen[usize::from(i)] = Some(part.value);
            merged = if self.is_scalar(part.value) {
                let lanes = parts.wanted().filter(|(_, p)| p.value == part.value);
                lanes.fold(merged, |v, (lane, p)| self.insert(v, lane, p.value))
            } else {
                self.add_lanes(merged, parts, |p| p.value == part.value)
            };
        }
        merged
    }

    /// `v` with those of the lanes that are in one vector.
    fn add_lanes(&mut self, v: Value, parts: &Parts, which: impl Fn(&Part) -> bool) -> Value {
        let mut all = Parts::of(v, parts.len);
        for (i, part) in parts.wanted().filter(|(_, p)| which(p)) {
            all.set(i, part);
        }
        self.gather_at_once(&all).unwrap_or(v)
    }

    fn build(&mut self, parts: &Parts) -> Value {
        let mut args = [None; MAX_LANES];
        for (i, part) in parts.wanted() {
            args[usize::from(i)] = Some(self.scalar(part));
        }
        let any = args.iter().flatten().next().copied();
        let args: smallvec::SmallVec<[Value; MAX_LANES]> =
            args[..parts.len].iter().filter_map(|v| v.or(any)).collect();
        self.op(Op::Build, &args)
    }
}
