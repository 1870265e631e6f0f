//! The input: a control-flow graph without anything in its blocks.
//!
//! Two edges between the same two blocks are two edges: a branch may reach one block through both arms with different
//! arguments, a switch through many cases.

use std::fmt;

use cranelift_entity::{EntityRef, PrimaryMap};
use thiserror::Error;
use xenoglot_ir::{Block, Function};

/// An edge: one of the successors of a block, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// The block it comes from.
    pub from: Block,
    /// Which of that block's edges it is, from 0.
    pub index: u32,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.from, self.index)
    }
}

/// Why a graph was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum GraphError {
    /// An edge leads to a block that does not exist.
    #[error("edge {edge} leads to {target}, but there are {blocks} blocks")]
    TargetOutOfRange {
        /// The edge.
        edge: Edge,
        /// Where it leads.
        target: Block,
        /// How many blocks there are.
        blocks: usize,
    },
    /// The entry is not a block.
    #[error("the entry is {entry}, but there are {blocks} blocks")]
    EntryOutOfRange {
        /// The entry.
        entry: Block,
        /// How many blocks there are.
        blocks: usize,
    },
    /// More blocks or edges than [`Graph::MAX`].
    #[error("{count} blocks or edges are more than {max}", max = Graph::MAX)]
    TooLarge {
        /// How many there are.
        count: usize,
    },
}

/// A control-flow graph: blocks, an entry, and for each block its ordered successors.
#[derive(Clone, Debug)]
pub struct Graph {
    entry: Block,
    /// Where each block's successors end in `targets`; they start where the previous block's end.
    ends: PrimaryMap<Block, u32>,
    targets: Vec<Block>,
}

impl Graph {
    /// The most blocks and the most edges a graph may have: ids of added nodes and loops stay within 32 bits.
    pub const MAX: usize = 1 << 29;

    /// Builds a graph from each block's successors, in the order of the blocks.
    ///
    /// # Errors
    /// An entry or a successor that is not a block, or more than [`Graph::MAX`] blocks or edges.
    pub fn new<S>(entry: Block, successors: impl IntoIterator<Item = S>) -> Result<Graph, GraphError>
    where
        S: IntoIterator<Item = Block>,
    {
        let successors = successors.into_iter();
        let blocks = successors.size_hint().0;
        let mut graph =
            Graph { entry, ends: PrimaryMap::with_capacity(blocks), targets: Vec::with_capacity(2 * blocks) };
        for out in successors {
            for target in out {
                if graph.targets.len() == Graph::MAX {
                    return Err(GraphError::TooLarge { count: graph.targets.len() + 1 });
                }
                graph.targets.push(target);
            }
            if graph.ends.len() == Graph::MAX {
                return Err(GraphError::TooLarge { count: graph.ends.len() + 1 });
            }
            graph.ends.push(graph.targets.len() as u32);
        }
        let blocks = graph.ends.len();
        if !graph.ends.is_valid(entry) {
            return Err(GraphError::EntryOutOfRange { entry, blocks });
        }
        if graph.targets.iter().all(|&target| graph.ends.is_valid(target)) {
            return Ok(graph);
        }
        for from in graph.blocks() {
            for (index, &target) in (0..).zip(graph.successors(from)) {
                if !graph.ends.is_valid(target) {
                    return Err(GraphError::TargetOutOfRange { edge: Edge { from, index }, target, blocks });
                }
            }
        }
        Ok(graph)
    }

    /// The graph of a function. Blocks keep their ids; those that are not in the layout have no successors.
    ///
    /// # Errors
    /// As [`Graph::new`]; a function that passed the verifier is refused for its size only.
    pub fn of(function: &Function) -> Result<Graph, GraphError> {
        let mut exists = vec![false; function.blocks.len()];
        for block in &function.layout {
            if let Some(slot) = exists.get_mut(block.index()) {
                *slot = true;
            }
        }
        let entry = function.entry().unwrap_or(Block::from_u32(0));
        Graph::new(
            entry,
            function.blocks.keys().zip(exists).map(|(block, exists)| {
                let edges = if exists { function.edges(block) } else { &[] };
                edges.iter().map(|e| e.block)
            }),
        )
    }

    /// Where execution starts.
    pub fn entry(&self) -> Block {
        self.entry
    }

    /// How many blocks there are, unreachable ones included.
    pub fn block_count(&self) -> usize {
        self.ends.len()
    }

    /// How many edges there are, those of unreachable blocks included.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// The blocks in order.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Block> + use<> {
        self.ends.keys()
    }

    /// Where the edges of `block` lead, in the order of its terminator.
    ///
    /// # Panics
    /// If `block` is not in the graph.
    pub fn successors(&self, block: Block) -> &[Block] {
        &self.targets[self.first_edge(block) as usize..self.ends[block] as usize]
    }

    /// The number of the first edge of `block` among all edges.
    pub(crate) fn first_edge(&self, block: Block) -> u32 {
        block.index().checked_sub(1).map_or(0, |before| self.ends[Block::new(before)])
    }

    /// Where all edges lead, block after block.
    pub(crate) fn targets(&self) -> &[Block] {
        &self.targets
    }

    /// Which blocks execution can reach, by index.
    pub fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.block_count()];
        let mut stack = vec![self.entry];
        seen[self.entry.index()] = true;
        while let Some(block) = stack.pop() {
            for &target in self.successors(block) {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push(target);
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(i: u32) -> Block {
        Block::from_u32(i)
    }

    #[test]
    fn successors_keep_their_order() {
        let g = Graph::new(b(0), [vec![b(1), b(1)], vec![], vec![b(0), b(2)]]).unwrap();
        assert_eq!(g.successors(b(0)), [b(1), b(1)]);
        assert_eq!(g.successors(b(1)), []);
        assert_eq!(g.successors(b(2)), [b(0), b(2)]);
        assert_eq!(g.reachable(), [true, true, false]);
        assert_eq!((g.block_count(), g.edge_count()), (3, 4));
    }

    #[test]
    fn bad_graphs_are_named() {
        let e = Graph::new(b(0), [vec![b(0), b(3)]]).unwrap_err();
        assert_eq!(e.to_string(), "edge block0.1 leads to block3, but there are 1 blocks");
        let e = Graph::new(b(0), Vec::<Vec<Block>>::new()).unwrap_err();
        assert_eq!(e.to_string(), "the entry is block0, but there are 0 blocks");
        assert_eq!(Graph::of(&Function::default()).unwrap_err(), e);
    }
}
