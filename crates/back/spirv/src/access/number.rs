//! Offsets, elements and components, computed where they are known.

use super::*;

/// A number that may be known.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Known(u32),
    Id(Id),
    /// `id * factor + plus`, signed; [`Parts`](crate::offsets::Parts).
    Scaled {
        id: Id,
        factor: u32,
        plus: i32,
    },
}

/// A word of a view: the element, and the component if elements are vectors.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) element: Number,
    pub(super) component: Option<Number>,
}

impl Body<'_, '_> {
    /// A computed offset.
    pub(super) fn offset(&mut self, offset: Value) -> Number {
        let parts = match self.scratch.offsets.apart() {
            true => offsets::parts(self.function, offset),
            false => None,
        };
        match parts {
            Some(Parts { value, factor, plus }) => {
                Number::Scaled { id: self.value(value), factor, plus: plus.cast_signed() }
            }
            None => Number::Id(self.value(offset)),
        }
    }

    pub(super) fn id(&mut self, n: Number) -> Id {
        match n {
            Number::Known(n) => self.unit().u32(n),
            Number::Id(id) => id,
            Number::Scaled { id, factor, plus } => {
                let scaled = match factor {
                    1 => id,
                    _ if factor.is_power_of_two() => {
                        self.once_of(S::ShiftLeftLogical, id, factor.trailing_zeros())
                    }
                    _ => self.once_of(S::IMul, id, factor),
                };
                if plus == 0 { scaled } else { self.once_of(S::IAdd, scaled, plus.cast_unsigned()) }
            }
        }
    }

    /// An op on a value and a constant, once where it is visible.
    pub(super) fn once_of(&mut self, op: S, a: Id, b: u32) -> Id {
        let b = self.unit().u32(b);
        self.once([op as u32, a, b, 0], |body| body.unit().op(op, Type::I32, &[a, b]))
    }

    pub(super) fn calc(&mut self, op: S, a: Number, b: u32) -> Number {
        match (op, a) {
            (S::IAdd, _) | (S::ShiftRightLogical, _) if b == 0 => a,
            (S::IAdd, Number::Known(a)) => Number::Known(a.wrapping_add(b)),
            (S::ShiftRightLogical, Number::Known(a)) => Number::Known(a >> b),
            (S::ShiftLeftLogical, Number::Known(a)) => Number::Known(a << b),
            (S::BitwiseAnd, Number::Known(a)) => Number::Known(a & b),
            (S::IAdd, Number::Scaled { id, factor, plus }) => {
                Number::Scaled { id, factor, plus: plus.wrapping_add_unsigned(b) }
            }
            (S::ShiftRightLogical, Number::Scaled { id, factor, plus }) if factor.trailing_zeros() >= b => {
                Number::Scaled { id, factor: factor >> b, plus: plus >> b }
            }
            (S::BitwiseAnd, Number::Scaled { factor, plus, .. })
                if factor.trailing_zeros() >= b.trailing_ones() =>
            {
                Number::Known(plus.cast_unsigned() & b)
            }
            (_, a) => {
                let a = self.id(a);
                Number::Id(self.once_of(op, a, b))
            }
        }
    }

    /// The `k`th word from a byte offset on, whose word number is `first`.
    pub(super) fn word(&mut self, view: &View, place: Number, first: Number, align: u8, k: u32) -> Word {
        if view.element.is_scalar() {
            return Word { element: self.calc(S::IAdd, first, k), component: None };
        }
        if align >= 4 {
            let element = self.calc(S::ShiftRightLogical, place, 4);
            let element = self.calc(S::IAdd, element, k / 4);
            return Word { element, component: Some(Number::Known(k % 4)) };
        }
        let word = self.calc(S::IAdd, first, k);
        Word {
            element: self.calc(S::ShiftRightLogical, word, 2),
            component: Some(self.calc(S::BitwiseAnd, word, 3)),
        }
    }

    /// Number of the word that holds lane `i`, and the lane's first bit in it.
    pub(super) fn part(&mut self, place: Number, bits: u32, i: u32) -> (Number, Number) {
        let byte = self.calc(S::IAdd, place, i * bits / 8);
        let word = self.calc(S::ShiftRightLogical, byte, 2);
        let within = self.calc(S::BitwiseAnd, byte, 3);
        (word, self.calc(S::ShiftLeftLogical, within, 3))
    }
}
