//! Products of words out of products of halves.
//!
//! The machine has no 32-bit multiplier: compilers make a product of three XMADs, its upper word of four and an IADD3.RS
//! (listings in `vectors/maxwell/compute`). What a value is of such a product is kept while lifting; where the last instruction completes
//! it, one multiplication is made, and the parts go if nobody else needs them.

use super::cx::Cx;
use crate::inst::Part;
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

/// An XMAD's operands: whole words, and which halves of A and B are taken.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    pub a: (Value, Part),
    pub b: (Value, Part),
    pub c: Value,
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

impl Cx<'_> {
    fn is_zero(&self, v: Value) -> bool {
        self.b.func.const_bits(v).is_some_and(|bits| bits.0[0] == 0)
    }

    fn is_half(&self, v: Value) -> bool {
        self.b.func.const_bits(v).is_some_and(|bits| bits.0[0] <= 0xffff)
    }

    fn piece(&self, v: Value) -> Option<Piece> {
        self.pieces.get(&v).copied()
    }

    /// `op(a, b) + c`.
    fn whole(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        let product = self.op(op, &[a, b]);
        if self.is_zero(c) { product } else { self.op(Op::Iadd, &[product, c]) }
    }

    /// The product that an XMAD completes.
    pub fn completed(&mut self, x: Halves) -> Option<Value> {
        if !x.shifted || x.merged || x.carries || x.signs != (false, false) || x.a.1 != Part::H1 {
            return None;
        }
        let Some(Piece::Low { a, b, c }) = self.piece(x.c) else { return None };
        let complete = a == x.a.0
            && match x.mode {
                XmadMode::Cbcc => x.b.1 == Part::H1 && self.piece(x.b.0) == Some(Piece::Merged { a, b }),
                XmadMode::Full => x.b.1 != Part::H1 && x.b.0 == b && self.is_half(b),
                _ => false,
            };
        complete.then(|| self.whole(Op::Imul, a, b, c))
    }

    /// What an XMAD's result is of a product.
    pub fn note_piece(&mut self, x: Halves, result: Value) {
        if x.shifted || x.carries {
            return;
        }
        let ((a, part_a), (b, part_b)) = (x.a, x.b);
        let upper = (part_a == Part::H1, part_b == Part::H1);
        let lone = self.is_zero(x.c);
        let piece = match (x.mode, upper, x.signs, x.merged) {
            (XmadMode::Full, (false, false), (false, false), false) => Piece::Low { a, b, c: x.c },
            (XmadMode::Full, (false, true), (false, false), true) if lone => Piece::Merged { a, b },
            (XmadMode::Full, (false, true), (false, signed), false) if lone => {
                Piece::LowHigh { a, b, signed }
            }
            (XmadMode::Chi, (true, false), (signed, false), false) => match self.piece(x.c) {
                Some(Piece::Low { a: low_a, b: low_b, c }) if (low_a, low_b) == (a, b) && self.is_zero(c) => {
                    Piece::HighLow { a, b, signed }
                }
                _ => return,
            },
            (XmadMode::Full, (true, true), (false, false), false) => {
                Piece::High { a, b, c: x.c, signed: false }
            }
            (XmadMode::Csfu, (true, true), (true, true), false) => Piece::High { a, b, c: x.c, signed: true },
            _ => return,
        };
        self.pieces.insert(result, piece);
    }

    /// The upper word of the product that an IADD3.RS completes.
    pub fn completed_high(&mut self, x: Value, y: Value, z: Value) -> Option<Value> {
        let Piece::High { a, b, c, signed } = self.piece(z)? else { return None };
        let middle = [Some(Piece::HighLow { a, b, signed }), Some(Piece::LowHigh { a, b, signed })];
        let pieces = [self.piece(x), self.piece(y)];
        let complete = pieces == middle || [pieces[1], pieces[0]] == middle;
        complete.then(|| self.whole(if signed { Op::Imulh } else { Op::Umulh }, a, b, c))
    }
}
