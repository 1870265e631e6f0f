//! The proof of an assignment: which value each variable holds is followed over all paths.

use super::{Temp, Temporaries, Walk, is_written, leaves};
use thiserror::Error;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Value};

/// A variable does not hold what is read from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{block} reads {value} from {temp:?}, which holds {holds:?}")]
pub struct Clash {
    /// Where.
    pub block: Block,
    /// What is read.
    pub value: Value,
    /// From where; `None` if the value has no variable.
    pub temp: Option<Temp>,
    /// What is there; `None` if that depends on the path or nothing is.
    pub holds: Option<Value>,
}

/// What each variable holds; `None` where it depends.
type State = Vec<Option<Value>>;

/// Checks that on every path each wanted value is still in its variable when it is read.
pub fn check(
    f: &Function,
    cfg: &Cfg,
    temps: &Temporaries,
    wanted: impl Fn(Value) -> bool + Copy,
) -> Result<(), Clash> {
    let mut entry: SecondaryMap<Block, Option<State>> = SecondaryMap::new();
    if let Some(first) = f.entry() {
        entry[first] = Some(vec![None; temps.temps().len()]);
    }
    // States only lose knowledge, so this ends.
    let mut changed = true;
    while changed {
        changed = false;
        for &block in cfg.rpo() {
            let Some(mut state) = entry[block].clone() else { continue };
            run(f, temps, wanted, block, &mut state);
            for edge in f.edges(block) {
                let merged = match &entry[edge.block] {
                    None => state.clone(),
                    Some(old) => {
                        old.iter().zip(&state).map(|(a, b)| if a == b { *a } else { None }).collect()
                    }
                };
                if entry[edge.block].as_ref() != Some(&merged) {
                    entry[edge.block] = Some(merged);
                    changed = true;
                }
            }
        }
    }
    for &block in cfg.rpo() {
        if let Some(state) = &mut entry[block] {
            verify(f, temps, wanted, block, state)?;
        }
    }
    Ok(())
}

fn write(temps: &Temporaries, state: &mut State, v: Value) {
    if let Some(t) = temps.of(v) {
        state[t.as_u32() as usize] = Some(v);
    }
}

/// The effect of `block` on `state`. Parameters were written by the edge, all at once: of two in one variable
/// only one is there.
fn run(
    f: &Function,
    temps: &Temporaries,
    wanted: impl Fn(Value) -> bool + Copy,
    block: Block,
    state: &mut State,
) {
    f.params(block).iter().filter(|&&v| wanted(v)).for_each(|&v| write(temps, state, v));
    for &inst in &f.blocks[block].insts {
        f.results(inst).iter().filter(|&&v| wanted(v)).for_each(|&v| write(temps, state, v));
    }
}

fn verify(
    f: &Function,
    temps: &Temporaries,
    wanted: impl Fn(Value) -> bool + Copy,
    block: Block,
    state: &mut State,
) -> Result<(), Clash> {
    let mut walk = Walk::default();
    let mut read = |state: &State, values: &[Value]| {
        let mut clash = Ok(());
        leaves(f, wanted, &mut walk, values, |value| {
            let temp = temps.of(value);
            let holds = temp.and_then(|t| state[t.as_u32() as usize]);
            if holds != Some(value) {
                clash = Err(Clash { block, value, temp, holds });
            }
        });
        clash
    };
    f.params(block).iter().filter(|&&v| wanted(v)).for_each(|&v| write(temps, state, v));
    for &inst in &f.blocks[block].insts {
        if is_written(f, wanted, inst) {
            read(state, f.args(inst))?;
        }
        f.results(inst).iter().filter(|&&v| wanted(v)).for_each(|&v| write(temps, state, v));
    }
    read(state, f.term_args(block))?;
    for edge in f.edges(block) {
        read(state, f.edge_args(edge))?;
    }
    Ok(())
}
