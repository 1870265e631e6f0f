//! What values of LLVM were lifted to.

use super::memory::Pointer;
use super::val::Val;
use xenoglot_ir::Value;

/// What is known of values, by their places: a word for each, as nearly all are scalars.
#[derive(Default)]
pub(super) struct Known {
    slots: Vec<Slot>,
    others: Vec<Val>,
}

/// 0 for nothing, a scalar's number and one more, or with the highest bit the place of another.
#[derive(Clone, Copy)]
struct Slot(u32);

const OTHER: u32 = 1 << 31;

impl Known {
    /// Nothing of `count` values.
    pub fn new(count: usize) -> Known {
        Known { slots: vec![Slot(0); count], others: Vec::new() }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn other(&self, at: usize) -> Option<&Val> {
        let slot = self.slots.get(at)?.0;
        if slot & OTHER == 0 { None } else { self.others.get((slot & !OTHER) as usize) }
    }

    /// A scalar; none of what is not known, and of all else.
    #[inline]
    pub fn scalar(&self, at: usize) -> Option<Value> {
        match self.slots.get(at)?.0 {
            slot @ 1..OTHER => Some(Value::from_u32(slot - 1)),
            _ => None,
        }
    }

    /// An address.
    #[inline]
    pub fn pointer(&self, at: usize) -> Option<&Pointer> {
        match self.other(at)? {
            Val::Pointer(pointer) => Some(pointer),
            _ => None,
        }
    }

    /// A value.
    #[inline]
    pub fn get(&self, at: usize) -> Option<Val> {
        match self.scalar(at) {
            Some(v) => Some(Val::Scalar(v)),
            None => self.other(at).cloned(),
        }
    }

    /// Gives a value its meaning; limits on instructions keep numbers below 2^31.
    #[inline]
    pub fn set_scalar(&mut self, at: usize, v: Value) {
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot(v.as_u32() + 1);
        }
    }

    /// [`Known::set_scalar`] of any value.
    pub fn set(&mut self, at: usize, v: Val) {
        if let Val::Scalar(v) = v {
            return self.set_scalar(at, v);
        }
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot(self.others.len() as u32 | OTHER);
            self.others.push(v);
        }
    }
}
