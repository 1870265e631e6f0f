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
        match (!any.is_carry()).then(|| after_nodes(flow, &reads, any)).flatten() {
            Some(nodes) => LiveFlags::Nodes(nodes),
            None => LiveFlags::Same(any),
        }
    }

    /// Those that may be read after a node before they are written again.
    pub fn after(&self, node: u32) -> FlagSet {
        match self {
            LiveFlags::Same(flags) => *flags,
            LiveFlags::Nodes(nodes) => nodes.get(node as usize).copied().unwrap_or_default(),
        }
    }
}

/// Walks over all nodes, of which programs need as many as they have loops inside each other, and one or two.
const MOST_WALKS: usize = 16;

/// Those read after each node; none if that takes too long to find.
fn after_nodes(flow: &Flow, reads: &[FlagSet], any: FlagSet) -> Option<Vec<FlagSet>> {
    let writes: Vec<FlagSet> = flow.nodes.iter().map(|node| FlagSet::written_by(&node.inst)).collect();
    let mut before = vec![FlagSet::default(); flow.nodes.len()];
    let mut after = before.clone();
    for _ in 0..MOST_WALKS {
        let mut changed = false;
        // Most nodes come before those that control goes on to.
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
        if !changed {
            return Some(after);
        }
    }
    None
}
