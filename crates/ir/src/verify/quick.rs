//! One walk over a function that has nothing wrong with it, as nearly all have.
//!
//! In reverse post-order, what dominates a use was come to before it: a value that was not is either wrong or in a block
//! that is not reached. Whatever is not as expected ends the walk, and the checks of [`super::func`], one by one, say why.

use super::func::terminator;
use super::types::Site;
use super::{Sink, imm};
use crate::analysis::{Cfg, Dominators};
use crate::entities::Value;
use crate::func::{Function, ValueDef};
use crate::imm::Imm;
use crate::module::Module;
use cranelift_entity::EntityRef as _;

/// Whether every block of `f` is reached and nothing is wrong, slots apart.
pub(super) fn is_sound(m: &Module, f: &Function) -> bool {
    walk(m, f).is_some()
}

fn walk(m: &Module, f: &Function) -> Option<()> {
    blocks(f)?;
    let (mut cfg, mut dominators) = (Cfg::default(), Dominators::default());
    cfg.compute(f);
    dominators.compute(&cfg);
    ensure(cfg.rpo().len() == f.layout.len())?;
    let mut sink = Sink::new(m);
    // The block that defines a value, by its number in the order, counted from 1.
    let mut homes = vec![0; f.values.len()];
    let mut listed = vec![false; f.insts.len()];
    for (number, &block) in (1..).zip(cfg.rpo()) {
        let uses = |homes: &[u32], values: &[Value]| {
            values.iter().all(|v| match homes.get(v.index()) {
                Some(&home) if home == number => true,
                Some(&home) => home != 0 && dominators.dominates_by_number(home - 1, number - 1),
                None => false,
            })
        };
        f.params(block).iter().for_each(|v| homes[v.index()] = number);
        for &inst in &f.blocks[block].insts {
            let data = f.insts.get(inst)?;
            ensure(!std::mem::replace(&mut listed[inst.index()], true))?;
            ensure(uses(&homes, data.args.as_slice(&f.pool)))?;
            for (n, &v) in data.results.as_slice(&f.pool).iter().enumerate() {
                ensure(f.values.get(v)?.def == ValueDef::Inst(inst, u16::try_from(n).ok()?))?;
                homes[v.index()] = number;
            }
            if Site::is_plain(f, data) {
                continue;
            }
            if data.imm != Imm::None {
                imm::ids(&mut sink, f, &data.imm);
                ensure(sink.count() == 0)?;
            }
            Site::new(f, inst).check(&mut sink);
        }
        ensure(uses(&homes, f.term_args(block)))?;
        ensure(f.edges(block).iter().all(|edge| uses(&homes, f.edge_args(edge))))?;
        terminator(&mut sink, f, block);
        ensure(sink.count() == 0)?;
    }
    Some(())
}

/// Whether the layout lists blocks that exist, once, with parameters of their own, and edges lead to those that it lists
/// but not to the first.
fn blocks(f: &Function) -> Option<()> {
    let mut listed = vec![false; f.blocks.len()];
    for &block in &f.layout {
        let listed = listed.get_mut(block.index())?;
        ensure(!std::mem::replace(listed, true))?;
        for (n, &v) in f.params(block).iter().enumerate() {
            ensure(f.values.get(v)?.def == ValueDef::Param(block, u16::try_from(n).ok()?))?;
        }
    }
    let entry = f.entry()?;
    let mut edges = f.layout.iter().flat_map(|&block| f.edges(block));
    ensure(edges.all(|edge| edge.block != entry && listed.get(edge.block.index()) == Some(&true)))
}

fn ensure(holds: bool) -> Option<()> {
    holds.then_some(())
}
