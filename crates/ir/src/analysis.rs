//! Facts computed from a function: order of blocks, dominance, loops, liveness, uses.
//!
//! Each analysis is a struct of reusable buffers with `compute(&mut self, ..)`; none recurses, hashes or allocates
//! per block once its buffers have grown. [`Analyses`] holds one of each and knows which are up to date.
//!
//! Only blocks that the entry reaches take part: an unreachable block has no order, dominates nothing and is in no
//! loop. All analyses expect a function whose block, value and instruction ids exist; they do not expect it to be
//! verified in any other way, so the verifier can use them.

use crate::func::Function;

pub mod cfg;
pub mod dominators;
pub mod domtree;
pub mod liveness;
pub mod loops;
pub mod positions;
pub mod post_dominators;
#[cfg(test)]
mod random;
mod tree;
pub mod uses;

pub use cfg::{Cfg, Pred};
pub use dominators::Dominators;
pub use liveness::Liveness;
pub use loops::{Loop, LoopData, Loops};
pub use positions::Positions;
pub use post_dominators::PostDominators;
pub use uses::Uses;

/// What a pass changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changed {
    /// Blocks or edges were added, removed or retargeted.
    pub cfg: bool,
    /// Instructions, values, parameters or operands were added, removed, moved or replaced.
    pub insts: bool,
}

impl Changed {
    /// Nothing.
    pub const NONE: Changed = Changed { cfg: false, insts: false };
    /// Instructions or values, but no edge.
    pub const INSTS: Changed = Changed { cfg: false, insts: true };
    /// Everything.
    pub const ALL: Changed = Changed { cfg: true, insts: true };

    /// Whether anything changed.
    pub fn any(self) -> bool {
        self.cfg || self.insts
    }

    /// What either changed.
    pub fn or(self, other: Changed) -> Changed {
        Changed { cfg: self.cfg || other.cfg, insts: self.insts || other.insts }
    }

    /// [`Changed::INSTS`] if `changed`.
    pub fn insts_if(changed: bool) -> Changed {
        Changed { cfg: false, insts: changed }
    }
}

/// Which analyses are up to date.
#[derive(Clone, Copy, Default)]
struct Valid {
    cfg: bool,
    dominators: bool,
    post_dominators: bool,
    loops: bool,
    positions: bool,
    liveness: bool,
    uses: bool,
}

macro_rules! analysis {
    ($(#[$doc:meta])* $name:ident: $ty:ty, $ensure:ident, |$s:ident, $f:ident| $compute:expr) => {
        #[doc = concat!("Computes [`Analyses::", stringify!($name), "`] unless it is up to date.")]
        pub fn $ensure(&mut self, $f: &Function) {
            if !self.valid.$name {
                let $s = &mut *self;
                $compute;
                self.valid.$name = true;
            }
        }

        $(#[$doc])*
        ///
        /// It is of the function as it was at the last `ensure`; asking without one is a mistake that debug
        /// builds report.
        pub fn $name(&self) -> &$ty {
            debug_assert!(self.valid.$name, concat!(stringify!($name), " is not up to date"));
            &self.$name
        }
    };
}

/// One of each analysis with a note which are up to date.
///
/// `ensure_*` brings one up to date, the method of its name lends it out. Whoever changes the function calls
/// [`Analyses::invalidate`] before the next `ensure`.
#[derive(Default)]
pub struct Analyses {
    valid: Valid,
    cfg: Cfg,
    dominators: Dominators,
    post_dominators: PostDominators,
    loops: Loops,
    positions: Positions,
    liveness: Liveness,
    uses: Uses,
}

impl Analyses {
    /// Nothing computed yet.
    pub fn new() -> Analyses {
        Analyses::default()
    }

    /// Forgets what `changed` made untrue.
    pub fn invalidate(&mut self, changed: Changed) {
        if changed.cfg {
            self.valid = Valid::default();
        }
        if changed.insts {
            self.valid.positions = false;
            self.valid.liveness = false;
            self.valid.uses = false;
        }
    }

    /// Forgets everything: for another function.
    pub fn clear(&mut self) {
        self.valid = Valid::default();
    }

    analysis! {
        /// Predecessors and order of the blocks.
        cfg: Cfg, ensure_cfg, |s, f| s.cfg.compute(f)
    }
    analysis! {
        /// Dominators.
        dominators: Dominators, ensure_dominators, |s, f| {
            s.ensure_cfg(f);
            s.dominators.compute(&s.cfg)
        }
    }
    analysis! {
        /// Post-dominators.
        post_dominators: PostDominators, ensure_post_dominators, |s, f| {
            s.ensure_cfg(f);
            s.post_dominators.compute(f, &s.cfg)
        }
    }
    analysis! {
        /// The loop forest.
        loops: Loops, ensure_loops, |s, f| {
            s.ensure_cfg(f);
            s.loops.compute(f, &s.cfg)
        }
    }
    analysis! {
        /// Where instructions stand.
        positions: Positions, ensure_positions, |s, f| s.positions.compute(f)
    }
    analysis! {
        /// Live values by block.
        liveness: Liveness, ensure_liveness, |s, f| {
            s.ensure_cfg(f);
            s.ensure_positions(f);
            s.liveness.compute(f, &s.cfg, &s.positions)
        }
    }
    analysis! {
        /// Numbers of uses.
        uses: Uses, ensure_uses, |s, f| s.uses.compute(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn a_change_makes_the_next_ensure_compute_again() {
        let mut f = Function::new("f");
        let b = f.add_block();
        Builder::new(&mut f, b).ret(&[]);
        let mut a = Analyses::new();
        a.ensure_dominators(&f);
        a.ensure_uses(&f);
        let c = f.add_block();
        f.set_jump(b, c, &[], 0);
        a.ensure_cfg(&f);
        assert_eq!(a.cfg().rpo().len(), 1, "not told, so not seen");
        a.invalidate(Changed::INSTS);
        a.ensure_cfg(&f);
        assert_eq!(a.cfg().rpo().len(), 1, "instructions do not concern the graph");
        a.invalidate(Changed::ALL);
        a.ensure_dominators(&f);
        assert_eq!(a.cfg().rpo().len(), 2);
        assert_eq!(a.dominators().idom(c), Some(b));
    }
}
