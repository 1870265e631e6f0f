//! Phis of a block that never differ: on each edge into the block they get the same value, or one of them an undefined one.
//!
//! Where ways to several blocks go through one place first, a value for one of these blocks is undefined on the ways to the others:
//!
//! ```text
//! %a = OpPhi %uint %1 %left %undef %right
//! %b = OpPhi %uint %undef %left %2 %right   =>   %a = OpPhi %uint %1 %left %2 %right
//! ```

use super::{From, Id, PHI, Ssa, UNDEF, phi_number, range, root};
use std::ops::Range;

/// Phis of a block that are compared with each other.
const MOST_PHIS: usize = 16;

impl Ssa {
    /// Joins phis that the function's code uses; words in `literals` are no ids. True if any were joined: [`Ssa::simplify`], which runs before
    /// this, may find more then. `is_one_type` compares two variables.
    pub(crate) fn join(
        &mut self,
        code: &[u32],
        literals: &[Range<usize>],
        is_one_type: impl Fn(u32, u32) -> bool,
    ) -> bool {
        let mut phis = self.in_blocks_with_gaps();
        if phis.is_empty() {
            return false;
        }
        let needed = self.needed(code, literals);
        phis.retain(|&(_, number)| needed[number as usize]);
        phis.sort_unstable();
        let mut joined = false;
        for block in phis.chunk_by(|a, b| a.0 == b.0) {
            let block = &block[..block.len().min(MOST_PHIS)];
            for (at, &(_, kept)) in block.iter().enumerate() {
                for &(_, other) in &block[at + 1..] {
                    joined |= is_one_type(self.var(kept), self.var(other)) && self.join_two(kept, other);
                }
            }
        }
        joined
    }

    /// The phis of joins at which some phi has an undefined operand, each with its block.
    fn in_blocks_with_gaps(&self) -> Vec<(u32, u32)> {
        let kept = || (0..).zip(&self.phis).filter(|(number, phi)| phi.is == PHI + number);
        let is_merge = |block: u32| matches!(self.blocks[block as usize].from, From::Merge { .. });
        let mut blocks: Vec<u32> = kept()
            .filter(|(_, phi)| self.operands[range(&phi.operands)].contains(&UNDEF) && is_merge(phi.block))
            .map(|(_, phi)| phi.block)
            .collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        blocks.sort_unstable();
        let phis = kept().filter(|(_, phi)| blocks.binary_search(&phi.block).is_ok());
        phis.map(|(number, phi)| (phi.block, number)).collect()
    }

    /// For each phi whether code uses it, directly or through other phis.
    fn needed(&mut self, code: &[u32], literals: &[Range<usize>]) -> Vec<bool> {
        let Ssa { phis, operands, .. } = self;
        let mut needed = vec![false; phis.len()];
        let mut work = Vec::new();
        let mut need = |phis: &mut [_], work: &mut Vec<u32>, id: Id| {
            if let Some(number) = phi_number(id).and_then(|_| phi_number(root(phis, id)))
                && let Some(slot) = needed.get_mut(number)
                && !std::mem::replace(slot, true)
            {
                work.push(number as u32);
            }
        };
        let mut at = 0;
        let ends = literals.iter().map(|literal| (literal.start, literal.end));
        for (start, end) in ends.chain([(code.len(), code.len())]) {
            for &word in code.get(at..start).unwrap_or_default() {
                need(phis, &mut work, word);
            }
            at = end;
        }
        while let Some(number) = work.pop() {
            for n in range(&phis[number as usize].operands) {
                need(phis, &mut work, operands[n]);
            }
        }
        needed
    }

    /// Replaces a phi by another one of its block if they never differ; true if so.
    fn join_two(&mut self, kept: u32, other: u32) -> bool {
        let Ssa { phis, operands, .. } = self;
        if phis[kept as usize].is != PHI + kept || phis[other as usize].is != PHI + other {
            return false;
        }
        let [mine, its] = [kept, other].map(|number| range(&phis[number as usize].operands));
        let mut given = |n: usize| {
            operands[n] = root(phis, operands[n]);
            operands[n]
        };
        let is_one = mine.len() == its.len()
            && mine.clone().zip(its.clone()).all(|(n, m)| {
                let (a, b) = (given(n), given(m));
                a == b || a == UNDEF || b == UNDEF
            });
        if !is_one {
            return false;
        }
        for (n, m) in mine.zip(its) {
            if operands[n] == UNDEF {
                operands[n] = operands[m];
            }
        }
        phis[other as usize].is = PHI + kept;
        true
    }
}
