//! Products of words out of products of halves.
//!
//! The machine has no 32-bit multiplier: compilers make a product of three XMADs, its upper word of four and an IADD3.RS
//! (listings in `vectors/maxwell/compute`). What a value is of such a product is kept while lifting; where the last instruction completes
//! it, one multiplication is made. The parts are computed only if somebody else needs them ([`pending`](super::pending)).

use super::cx::{Cx, Lift};
use crate::inst::{Operand, Part};
use crate::modifier::XmadMode;
use xenoglot_ir::{Op, Value};

/// A part of the product of two words. `lo` and `hi` are unsigned halves, `hi` signed where the product is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// `lo(a) * lo(b) + c`.
    Low { a: Value, b: Value, c: Value },
    /// The lower half of `lo(a) * hi(b)`, and `lo(b)` above it.
    Merged { a: Value, b: Value },
    /// `lo(a) * hi(b)`.
    LowHigh { a: Value, b: Value, signed: bool },
    /// `hi(a) * lo(b)` plus the upper half of `lo(a) * lo(b)`.
    HighLow { a: Value, b: Value, signed: bool },
    /// `hi(a) * hi(b) + c`, corrected for the signs of the other parts.
    High { a: Value, b: Value, c: Value, signed: bool },
}

/// An XMAD apart from the words it takes.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Which halves of A and B are taken.
    pub parts: (Part, Part),
    pub mode: XmadMode,
    /// Whether the halves are signed.
    pub signs: (bool, bool),
    /// `.PSL`: the product is shifted.
    pub shifted: bool,
    /// `.MRG`: the lower half of B comes above the result's.
    pub merged: bool,
    /// `.X` or `.CC`.
    pub carries: bool,
}

/// An XMAD and the words it takes.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    pub shape: Shape,
    pub a: Value,
    pub b: Value,
    pub c: Value,
}

impl Cx<'_> {
    fn is_zero(&self, v: Value) -> bool {
        self.b.func.const_lane(v).is_some_and(|lane| lane == 0)
    }

    fn is_half(&self, v: Value) -> bool {
        self.b.func.const_lane(v).is_some_and(|lane| lane <= 0xffff)
    }

    /// What part of a product an operand is, computed or not.
    fn piece(&mut self, o: &Operand) -> Lift<Option<Piece>> {
        if let Some(pending) = self.pending_in(o) {
            return Ok(Some(pending));
        }
        let v = self.raw(o)?;
        Ok(self.pieces.get(&v).copied())
    }

    /// `op(a, b) + c`.
    fn whole(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        let product = self.op(op, &[a, b]);
        if self.is_zero(c) { product } else { self.op(Op::Iadd, &[product, c]) }
    }

    /// The product that an XMAD completes.
    pub fn completed(&mut self, x: &Shape, [oa, ob, oc]: [&Operand; 3]) -> Lift<Option<Value>> {
        let is_last =
            x.shifted && !x.merged && !x.carries && x.signs == (false, false) && oa.part == Part::H1;
        if !is_last || !matches!(x.mode, XmadMode::Cbcc | XmadMode::Full) || !is_plain(oc) {
            return Ok(None);
        }
        let Some(Piece::Low { a, b, c }) = self.piece(oc)? else { return Ok(None) };
        let complete = self.raw(oa)? == a
            && match (x.mode, ob.part == Part::H1) {
                (XmadMode::Cbcc, true) => self.piece(ob)? == Some(Piece::Merged { a, b }),
                (XmadMode::Full, false) => self.is_half(b) && self.raw(ob)? == b,
                _ => false,
            };
        Ok(complete.then(|| self.whole(Op::Imul, a, b, c)))
    }

    /// The factors and the addend of a lowest part that is not computed, if C is that of the product of `a` and `b` alone.
    pub fn pending_low(&mut self, oc: &Operand, a: Value, b: Value) -> Option<[Value; 3]> {
        match self.pending_in(oc).filter(|_| is_plain(oc))? {
            Piece::Low { a: low_a, b: low_b, c } if (low_a, low_b) == (a, b) && self.is_zero(c) => {
                Some([a, b, c])
            }
            _ => None,
        }
    }

    /// What an XMAD's result is of a product; `low` is what C stands for, if it stands for a lowest part.
    pub fn part_of_product(&self, x: Halves, low: Option<[Value; 3]>) -> Option<Piece> {
        let Halves { shape, a, b, c } = x;
        if shape.shifted || shape.carries {
            return None;
        }
        let upper = (shape.parts.0 == Part::H1, shape.parts.1 == Part::H1);
        let lone = self.is_zero(c);
        Some(match (shape.mode, upper, shape.signs, shape.merged) {
            (XmadMode::Full, (false, false), (false, false), false) => Piece::Low { a, b, c },
            (XmadMode::Full, (false, true), (false, false), true) if lone => Piece::Merged { a, b },
            (XmadMode::Full, (false, true), (false, signed), false) if lone => {
                Piece::LowHigh { a, b, signed }
            }
            (XmadMode::Chi, (true, false), (signed, false), false) => match self.pieces.get(&c) {
                _ if low.is_some() => Piece::HighLow { a, b, signed },
                Some(&Piece::Low { a: low_a, b: low_b, c })
                    if (low_a, low_b) == (a, b) && self.is_zero(c) =>
                {
                    Piece::HighLow { a, b, signed }
                }
                _ => return None,
            },
            (XmadMode::Full, (true, true), (false, false), false) => Piece::High { a, b, c, signed: false },
            (XmadMode::Csfu, (true, true), (true, true), false) => Piece::High { a, b, c, signed: true },
            _ => return None,
        })
    }

    /// The upper word of the product that an IADD3.RS completes.
    pub fn completed_high(&mut self, [x, y, z]: [&Operand; 3]) -> Lift<Option<Value>> {
        if ![x, y, z].into_iter().all(is_plain) {
            return Ok(None);
        }
        let Some(Piece::High { a, b, c, signed }) = self.piece(z)? else { return Ok(None) };
        let middle = [Some(Piece::HighLow { a, b, signed }), Some(Piece::LowHigh { a, b, signed })];
        let pieces = [self.piece(x)?, self.piece(y)?];
        let complete = pieces == middle || [pieces[1], pieces[0]] == middle;
        Ok(complete.then(|| self.whole(if signed { Op::Imulh } else { Op::Umulh }, a, b, c)))
    }
}

/// Whether an operand is a word as it is.
fn is_plain(o: &Operand) -> bool {
    !o.neg && !o.abs && !o.inv && o.part == Part::Full
}
