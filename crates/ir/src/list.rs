//! Lists of values in one pool: no allocation for each.

use crate::entities::Value;
use cranelift_entity::packed_option::ReservedValue as _;

/// The values of many lists. Lists that grow move to its end; what they leave is not used again before the pool is cleared.
#[derive(Clone, Debug, Default)]
pub struct ValuePool(Vec<Value>);

impl ValuePool {
    /// Forgets all lists.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Makes room for `values` more.
    pub fn reserve(&mut self, values: usize) {
        self.0.reserve(values);
    }

    /// Pads so that the list that starts at `start` has its room.
    fn pad(&mut self, start: usize, room: usize) {
        self.0.resize(start + room, Value::reserved_value());
    }
}

/// A list in a [`ValuePool`]. Its copies are one list as long as none of them changes its length. Room for it is the power
/// of two that its length needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueList {
    start: u32,
    len: u32,
}

impl ValueList {
    /// An empty list.
    pub const EMPTY: ValueList = ValueList { start: 0, len: 0 };

    /// A list of these values.
    ///
    /// # Panics
    /// If the pool has 2^32 values.
    #[inline]
    pub fn from_slice(values: &[Value], pool: &mut ValuePool) -> ValueList {
        let start = pool.0.len();
        // Nearly all lists are short: no call copies them.
        match *values {
            [] => return ValueList::EMPTY,
            [a] => pool.0.push(a),
            [a, b] => pool.0.extend([a, b]),
            [a, b, c] => pool.0.extend([a, b, c, Value::reserved_value()]),
            _ => {
                pool.0.extend_from_slice(values);
                pool.pad(start, values.len().next_power_of_two());
            }
        }
        ValueList { start: offset(start), len: values.len() as u32 }
    }

    /// A list of these values and one of another alone, which stand next to each other: what an instruction needs.
    ///
    /// # Panics
    /// If the pool has 2^32 values.
    #[inline]
    pub(crate) fn pair(values: &[Value], alone: Value, pool: &mut ValuePool) -> [ValueList; 2] {
        let start = pool.0.len();
        match *values {
            [] => pool.0.push(alone),
            [a] => pool.0.extend([a, alone]),
            [a, b] => pool.0.extend([a, b, alone]),
            [a, b, c] => pool.0.extend([a, b, c, Value::reserved_value(), alone]),
            _ => {
                return [ValueList::from_slice(values, pool), ValueList::from_slice(&[alone], pool)];
            }
        }
        let last = offset(pool.0.len() - 1);
        let list = ValueList { start: offset(start), len: values.len() as u32 };
        [if values.is_empty() { ValueList::EMPTY } else { list }, ValueList { start: last, len: 1 }]
    }

    /// The values.
    #[inline]
    pub fn as_slice(self, pool: &ValuePool) -> &[Value] {
        &pool.0[self.start as usize..][..self.len as usize]
    }

    /// The values, to be changed.
    #[inline]
    pub fn as_mut_slice(self, pool: &mut ValuePool) -> &mut [Value] {
        &mut pool.0[self.start as usize..][..self.len as usize]
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Adds a value at the end.
    ///
    /// # Panics
    /// If the pool has 2^32 values.
    pub fn push(&mut self, value: Value, pool: &mut ValuePool) {
        let len = self.len();
        if self.is_empty() {
            *self = ValueList::from_slice(&[value], pool);
            return;
        }
        if len.is_power_of_two() {
            let mut start = self.start as usize;
            if start + len != pool.0.len() {
                let values = start..start + len;
                start = pool.0.len();
                pool.0.extend_from_within(values);
                self.start = offset(start);
            }
            pool.pad(start, 2 * len);
        }
        pool.0[self.start as usize + len] = value;
        self.len += 1;
    }

    /// Makes it a list of these values.
    ///
    /// # Panics
    /// If the pool has 2^32 values.
    pub fn assign(&mut self, values: &[Value], pool: &mut ValuePool) {
        if self.is_empty() || values.len() > self.len().next_power_of_two() {
            *self = ValueList::from_slice(values, pool);
        } else {
            self.len = values.len() as u32;
            self.as_mut_slice(pool).copy_from_slice(values);
        }
    }

    /// Keeps the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len().min(len) as u32;
    }
}

/// Pools are addressed by 32 bits, as all entities are.
fn offset(start: usize) -> u32 {
    assert!(start <= u32::MAX as usize, "a function of 2^32 operands");
    start as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef as _;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        /// Lists that grow and shrink in turns keep what vectors would.
        #[test]
        fn lists_are_vectors(steps in proptest::collection::vec((0..5usize, 0..9usize, any::<bool>()), 0..200)) {
            let mut pool = ValuePool::default();
            let mut lists = [ValueList::EMPTY; 5];
            let mut vectors: [Vec<Value>; 5] = Default::default();
            for (n, (at, k, grow)) in steps.into_iter().enumerate() {
                let v = Value::new(n);
                match (grow, k) {
                    (true, 0) => {
                        vectors[at] = vec![v; n % 6];
                        lists[at] = ValueList::from_slice(&vectors[at], &mut pool);
                    }
                    (true, 1) => {
                        vectors[at] = vec![v; n % 6];
                        lists[at].assign(&vectors[at], &mut pool);
                    }
                    (true, _) => {
                        vectors[at].push(v);
                        lists[at].push(v, &mut pool);
                    }
                    (false, k) => {
                        vectors[at].truncate(k);
                        lists[at].truncate(k);
                    }
                }
                for (list, vector) in lists.iter().zip(&vectors) {
                    prop_assert_eq!(list.as_slice(&pool), &vector[..]);
                }
            }
        }
    }
}
