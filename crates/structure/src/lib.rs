//! Turns any control-flow graph into structured control flow: nested selections and loops with a single exit each, as SPIR-V,
//! GLSL and WGSL demand. It never fails, never duplicates a block, and never nests deeper than asked.
//!
//! The method is dominator nesting with a loop forest and selector exits:
//!
//! 1. `forest` finds the loops from the outside in; a loop with several entries gets an added dispatch header.
//! 2. `region` collapses inner loops, which leaves acyclic graphs, and computes their dominators.
//! 3. `nest` emits each block once: in the arm of a branch that leads to it if it has one in edge, else after the construct of its
//!    immediate dominator. A selection has one exit: arms that lead further say where to in a *selector*, a variable of small
//!    constants, and what they lead to stands behind a test of it unless all ways lead there. Loops are left by `break` only,
//!    with the target in the selector, so that lanes which leave a loop come together before any exit's code runs.
//! 4. `prune` removes the selector assignments that nobody reads.
//!
//! Added per loop with several entries: one dispatch node; per follower and list at most one guard. Cost:
//! O((V + E) · min(loop depth, depth limit) + (V + E) log V). All walks use explicit stacks; the output depends on the input only.
//!
//! Nothing here knows what is in a block, or a host language. [`mod@check`] proves a tree right, [`trace`] runs it, and
//! [`dominance`] tells a back end which values need a variable.
//!
//! ```
//! use xenoglot_ir::Block;
//! use xenoglot_ir::entity::EntityRef;
//! use xenoglot_structure::check::check;
//! use xenoglot_structure::{Graph, Options, structure_graph};
//!
//! // Two blocks that jump to each other, both of which can be entered first: an irreducible loop.
//! let successors = [vec![1, 2], vec![2, 3], vec![1], vec![]];
//! let successors = successors.map(|list| list.into_iter().map(Block::new).collect::<Vec<_>>());
//! let graph = Graph::new(Block::new(0), successors)?;
//! let options = Options::default();
//! let tree = structure_graph(&graph, &options);
//! check(&graph, &tree, options.depth_limit).map_err(|violations| format!("{violations:?}"))?;
//! assert_eq!(tree.stats().loops, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod check;
pub mod dominance;
mod exits;
mod forest;
pub mod graph;
mod layout;
mod nest;
mod print;
mod prune;
mod region;
pub mod trace;
pub mod tree;

pub use graph::{Edge, Graph, GraphError};
pub use layout::Fault;
pub use tree::Tree;

use xenoglot_ir::{Block, Function};

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 2;

/// What a caller may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The most constructs around a statement, at least [`Options::MIN_DEPTH_LIMIT`] (smaller values count as that).
    ///
    /// Mesa's lavapipe (22.3 and 25.0.7 measured) computes wrong results without an error where selections nest 80 deep or
    /// diverging loops 81 deep, so the default keeps well below.
    pub depth_limit: u32,
    /// Nodes to be executed inside a loop although nothing leads from them back into it: code on the way out of a loop that
    /// holds convergent operations, where the guest's own reconvergence point comes after it.
    ///
    /// A pair (node, with) asks for `node` inside the innermost loop that contains `with`. It is honoured if all ways to `node`
    /// come from that loop (through other such nodes, perhaps) and `node` is in no other loop inside the next one out; else it
    /// has no effect. [`tree::Stats::pinned`] counts the pins whose node is in its loop.
    pub pins: &'a [(Block, Block)],
}

impl Options<'_> {
    /// The least depth at which every graph can be expressed with a loop.
    pub const MIN_DEPTH_LIMIT: u32 = 4;
    /// The default depth limit.
    pub const DEPTH_LIMIT: u32 = 48;
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { depth_limit: Self::DEPTH_LIMIT, pins: &[] }
    }
}

/// Structures a function: the reachable blocks, under their own ids. Short code on the way out of a loop that needs no other
/// invocations stays in the loop, where that leaves the loop fewer exits.
///
/// # Errors
/// As [`Graph::of`].
pub fn structure(function: &Function, options: &Options<'_>) -> Result<Tree, GraphError> {
    Ok(with_exits(&Graph::of(function)?, options, &exits::short(function)))
}

/// Structures a graph.
pub fn structure_graph(graph: &Graph, options: &Options<'_>) -> Tree {
    with_exits(graph, options, &[])
}

fn with_exits(graph: &Graph, options: &Options<'_>, exits: &[exits::Exit]) -> Tree {
    if graph.successors(graph.entry()).is_empty() {
        return Tree::of_one_block(graph);
    }
    let limit = options.depth_limit.max(Options::MIN_DEPTH_LIMIT);
    let mut steps = 0;
    // At worst a loop costs two levels, one guard and itself, and the innermost region two more.
    let forest = forest::Forest::build(graph, options.pins, exits, (limit - 2) / 2, &mut steps);
    let regions = region::Regions::build(&forest, &mut steps);
    let mut tree = nest::nest(&forest, &regions, limit, steps);
    prune::prune(&mut tree);
    tree
}
