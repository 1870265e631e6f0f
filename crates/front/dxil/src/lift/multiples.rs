//! What addresses are multiples of.

use xenoglot_ir::{Function, Op, Value};

/// Operations that are looked through.
const MOST_DEPTH: u32 = 8;

/// A power of two, and what is left of a number that is divided by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Multiple {
    log2: u8,
    rest: u32,
}

impl Multiple {
    /// Of a number that is known.
    pub fn known(n: u32) -> Multiple {
        Multiple { log2: 31, rest: n }
    }

    /// Of what can be any number.
    const ANY: Multiple = Multiple { log2: 0, rest: 0 };

    /// Of a value.
    pub fn of(func: &Function, v: Value) -> Multiple {
        Multiple::within(func, v, MOST_DEPTH)
    }

    fn within(func: &Function, v: Value, depth: u32) -> Multiple {
        if let Some(bits) = func.const_bits(v) {
            return Multiple::known(bits.lane(0) as u32);
        }
        let (Some(inst), Some(depth)) = (func.def_inst(v), depth.checked_sub(1)) else {
            return Multiple::ANY;
        };
        let &[a, b] = func.args(inst) else { return Multiple::ANY };
        let constant = func.const_bits(b).map(|bits| bits.lane(0) as u32);
        let of = |v| Multiple::within(func, v, depth);
        match (func.insts[inst].op, constant) {
            (Op::Iadd, _) => of(a).plus(of(b)),
            (Op::Imul, Some(by)) => of(a).times(by),
            (Op::Imul, None) => match func.const_bits(a) {
                Some(bits) => of(b).times(bits.lane(0) as u32),
                None => Multiple::ANY,
            },
            (Op::Shl, Some(by)) if by < 32 => of(a).times(1 << by),
            (Op::Or, Some(bits)) => {
                let a = of(a);
                Multiple { rest: a.rest | bits, ..a }
            }
            (Op::And, Some(mask)) => {
                let a = of(a);
                match mask.trailing_zeros() as u8 {
                    zeros if zeros > a.log2 => Multiple { log2: zeros.min(31), rest: 0 },
                    _ => Multiple { rest: a.rest & mask, ..a },
                }
            }
            _ => Multiple::ANY,
        }
    }

    /// Of a sum.
    pub fn plus(self, other: Multiple) -> Multiple {
        Multiple { log2: self.log2.min(other.log2), rest: self.rest.wrapping_add(other.rest) }
    }

    /// Of a product.
    pub fn times(self, by: u32) -> Multiple {
        let more = by.trailing_zeros().min(31) as u8;
        Multiple { log2: (self.log2 + more).min(31), rest: self.rest.wrapping_mul(by) }
    }

    /// The logarithm of the greatest power of two that divides every number so many bytes further.
    pub fn align_log2(self, further: u32) -> u8 {
        let rest = self.rest.wrapping_add(further);
        self.log2.min(rest.trailing_zeros().min(31) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products() {
        let any = Multiple::ANY;
        assert_eq!(any.times(16).plus(Multiple::known(4)).align_log2(0), 2);
        assert_eq!(any.times(16).plus(Multiple::known(4)).align_log2(12), 4);
        assert_eq!(any.times(12).align_log2(0), 2);
        assert_eq!(any.times(12).align_log2(8), 2);
        assert_eq!(any.times(8).times(2).align_log2(16), 4);
        assert_eq!(any.plus(Multiple::known(4)).align_log2(0), 0);
        assert_eq!(Multiple::known(20).align_log2(0), 2);
        assert_eq!(Multiple::known(0).align_log2(0), 31);
    }
}
