//! How often each value is used.

use crate::entities::Value;
use crate::func::Function;
use cranelift_entity::SecondaryMap;

/// Numbers of uses by instructions, terminators and edges of all blocks in the layout.
#[derive(Default)]
pub struct Uses {
    count: SecondaryMap<Value, u32>,
}

impl Uses {
    /// Analyses `f`.
    pub fn compute(&mut self, f: &Function) {
        self.count.clear();
        self.count.resize(f.values.len());
        for &b in &f.layout {
            f.for_each_use(b, |v| self.count[v] += 1);
        }
    }

    /// Uses of `v`; an operand that occurs twice counts twice.
    pub fn count(&self, v: Value) -> u32 {
        self.count[v]
    }
}
