//! Short code on the way out of loops.
//!
//! ```text
//! loop {                          loop {
//!   if a { exit = 1; break }        if a { short; break }
//!   if b { exit = 2; break }   =>   if b { break }
//! }                               }
//! if exit == 1 { short }          rest
//! rest
//! ```
//!
//! Lanes come together behind a loop before code of one of its exits is executed, for which the loop has to say where it was left.
//! A few ops that do not look at other lanes can as well be done before leaving.

use xenoglot_ir::{Block, Function, TermKind};

/// Instructions of code that is short.
const SHORT: usize = 8;

/// A block that may stay in the loop that leads to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) block: Block,
    /// A block that leads to it.
    pub(crate) from: Block,
    /// Where it leads: another exit of the loop, or the loop would have no fewer of them.
    pub(crate) to: Block,
}

/// The blocks that are short, behind one choice alone, and lead to one place; none if nothing leads back.
pub(crate) fn short(function: &Function) -> Vec<Exit> {
    // By block: its place in the layout, and how many edges lead to it.
    let mut blocks = vec![(0, 0); function.blocks.len()];
    for (at, &block) in function.layout.iter().enumerate() {
        if let Some(known) = blocks.get_mut(block.as_u32() as usize) {
            known.0 = at;
        }
        for edge in function.edges(block) {
            if let Some(known) = blocks.get_mut(edge.block.as_u32() as usize) {
                known.1 += 1;
            }
        }
    }
    let known = |block: Block| blocks.get(block.as_u32() as usize).copied().unwrap_or((0, 0));
    let leads_back =
        |&block: &Block| function.edges(block).iter().any(|edge| known(edge.block).0 <= known(block).0);
    if !function.layout.iter().any(leads_back) {
        return Vec::new();
    }
    let mut exits = Vec::new();
    for &from in &function.layout {
        let choices = function.edges(from);
        if choices.len() < 2 {
            continue;
        }
        exits.extend(choices.iter().filter_map(|choice| {
            let to = way_on(function, choice.block).filter(|_| known(choice.block).1 == 1)?;
            Some(Exit { block: choice.block, from, to })
        }));
    }
    exits
}

/// Where a short block leads.
fn way_on(function: &Function, block: Block) -> Option<Block> {
    let data = function.blocks.get(block)?;
    let (TermKind::Jump, [edge]) = (data.term.kind, function.edges(block)) else { return None };
    let is_short = data.insts.len() <= SHORT
        && data.insts.iter().all(|&inst| !function.insts[inst].op.info().traits.convergent);
    is_short.then_some(edge.block)
}
