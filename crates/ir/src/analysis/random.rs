//! Random functions for the tests of this folder: any control-flow graph, a few values.

use crate::builder::Builder;
use crate::entities::Value;
use crate::func::Function;
use crate::op::Op;
use crate::ty::Type;

/// A small generator (xorshift), so that failures repeat.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }
}

/// Up to 12 blocks with any edges, none carrying arguments; often irreducible, sometimes partly unreachable.
pub fn random_cfg(rng: &mut Rng) -> Function {
    let mut f = Function::new("f");
    let n = 1 + rng.below(12);
    let blocks: Vec<_> = (0..n).map(|_| f.add_block()).collect();
    let v = f.add_param(blocks[0], Type::I32);
    for &block in &blocks {
        let mut b = Builder::new(&mut f, block);
        let mut target = || (blocks[rng.below(n)], &[] as &[Value]);
        let (x, y, z) = (target(), target(), target());
        match rng.below(8) {
            0 => b.ret(&[]),
            1 | 2 => b.jump(x.0, &[]),
            3 => b.switch(v, &[(0, x.0, &[]), (5, y.0, &[])], z),
            _ => b.branch(v, x, y),
        }
    }
    f
}

/// [`random_cfg`] with block parameters, instructions and uses of any value (dominating or not).
pub fn random_function(rng: &mut Rng) -> Function {
    let mut f = random_cfg(rng);
    let blocks = f.layout.clone();
    for &b in &blocks {
        for _ in 0..rng.below(3) {
            f.add_param(b, Type::I32);
        }
        for _ in 0..rng.below(4) {
            Builder::new(&mut f, b).i32(0);
        }
    }
    let values: Vec<Value> = f.values.keys().collect();
    for &b in &blocks {
        for _ in 0..rng.below(3) {
            let (x, y) = (values[rng.below(values.len())], values[rng.below(values.len())]);
            Builder::new(&mut f, b).op(Op::Iadd, &[x, y]);
        }
        for e in 0..f.edges(b).len() {
            let to = f.edges(b)[e].block;
            let args: Vec<Value> = (0..f.params(to).len()).map(|_| values[rng.below(values.len())]).collect();
            f.blocks[b].term.edges[e] = f.make_edge(to, &args);
        }
    }
    f
}
