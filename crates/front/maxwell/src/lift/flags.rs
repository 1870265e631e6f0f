//! Which condition-code flags are read after an instruction.
//!
//! `.CC` writes all of them, and mostly one is read, by the next instruction of a wide sum. Carries are cheap and wanted
//! nearly always; where a program reads other flags, too, they are computed only where something reads them.

use super::regs::FlagSet;
use crate::flow::{Exit, Flow, Target};

/// Flags by node.
pub(super) enum LiveFlags {
    /// The same ones everywhere.
    Same(FlagSet),
    Nodes(Vec<FlagSet>),
}

impl LiveFlags {
    pub fn new(flow: &Flow) -> LiveFlags {
        let reads: Vec<FlagSet> = flow.nodes.iter().map(|node| FlagSet::read_by(&node.inst)).collect();
        let any = reads.iter().fold(FlagSet::default(), |all, &flags| all.union(flags));
        if any.is_carry() { LiveFlags::Same(any) } else { LiveFlags::Nodes(after_nodes(flow, &reads, any)) }
    }

    /// Those that may be read after a node before they are written again.
    pub fn after(&self, node: u32) -> FlagSet {
        match self {
            LiveFlags::Same(flags) => *flags,
            LiveFlags::Nodes(nodes) => nodes.get(node as usize).copied().unwrap_or_default(),
        }
    }
}

fn after_nodes(flow: &Flow, reads: &[FlagSet], any: FlagSet) -> Vec<FlagSet> {
    let writes: Vec<FlagSet> = flow.nodes.iter().map(|node| FlagSet::written_by(&node.inst)).collect();
    let mut before = vec![FlagSet::default(); flow.nodes.len()];
    let mut after = before.clone();
    let mut changed = true;
    // Most nodes come before those that control goes on to, so that few rounds are needed.
    while std::mem::take(&mut changed) {
        for (number, node) in flow.nodes.iter().enumerate().rev() {
            let at = |target: &Target| match target {
                Target::Node(to) => before.get(*to as usize).copied().unwrap_or(any),
                Target::End => FlagSet::default(),
                // Any place that was pushed.
                Target::Pop(_) => any,
            };
            let out = match &node.exit {
                Exit::Always(to) | Exit::Push { to, .. } => at(to),
                Exit::If(yes, no) => at(yes).union(at(no)),
                Exit::Table { cases, otherwise } => {
                    cases.iter().fold(at(otherwise), |all, (_, to)| all.union(at(to)))
                }
            };
            after[number] = out;
            let new = reads[number].union(out.without(writes[number]));
            changed |= before[number] != new;
            before[number] = new;
        }
    }
    after
}
