//! Runs a graph or a tree under an oracle and records the blocks and edges it visits: what tests compare.

use xenoglot_ir::Block;

use crate::graph::{Edge, Graph};
use crate::layout::{Event, Fault, Layout};
use crate::tree::Tree;

/// What a run visited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The blocks, in order.
    pub blocks: Vec<Block>,
    /// The edges taken, in order.
    pub edges: Vec<Edge>,
    /// Whether it ended in a block without successors; if not, fuel ran out.
    pub ended: bool,
}

/// Follows `graph` for at most `fuel` blocks. `choose` is asked at each block with two or more out edges which of them to take;
/// its answer counts modulo their number.
pub fn run_graph(graph: &Graph, fuel: usize, mut choose: impl FnMut(Block) -> usize) -> Trace {
    let mut trace = Trace::default();
    let mut block = graph.entry();
    while trace.blocks.len() < fuel {
        trace.blocks.push(block);
        let successors = graph.successors(block);
        let index = match successors.len() {
            0 => {
                trace.ended = true;
                break;
            }
            1 => 0,
            n => choose(block) % n,
        };
        trace.edges.push(Edge { from: block, index: index as u32 });
        block = successors[index];
    }
    trace
}

/// The same for a tree.
///
/// # Errors
/// The tree is malformed.
pub fn run_tree(tree: &Tree, fuel: usize, mut choose: impl FnMut(Block) -> usize) -> Result<Trace, Fault> {
    let layout = Layout::new(tree);
    let mut cursor = layout.start();
    let mut trace = Trace::default();
    loop {
        match cursor.next(&layout)? {
            Event::Block(_) if trace.blocks.len() == fuel => return Ok(trace),
            Event::Block(block) => trace.blocks.push(block),
            Event::Edge(edge) => trace.edges.push(edge),
            Event::Branch(block, arms) => {
                let arms = tree.arms(arms);
                let arm = arms.get(choose(block).checked_rem(arms.len()).unwrap_or(0));
                cursor.enter(&layout, arm.map(|a| a.body).unwrap_or_default());
            }
            Event::Terminate(_) => {
                trace.ended = true;
                return Ok(trace);
            }
        }
    }
}
