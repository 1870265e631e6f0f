//! Which blocks dominate which in the structured form.
//!
//! A block that dominates another in the graph need not do so in the tree: where a loop has several exits, or a block was moved
//! out of deep nesting, control comes together and parts again on a selector. A back end keeps a value in a variable if its
//! definition does not dominate a use here (for hosts in SSA form), or is not visible there (for hosts with scopes).

use xenoglot_ir::Block;
use xenoglot_ir::analysis::domtree::DomTree;

use crate::tree::{Arms, List, Stmt, Tree};

/// A range of numbers that contains those of all descendants.
#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.start < self.end
    }
}

/// Dominance and visibility between the blocks of a tree; each query costs O(1).
///
/// An edge's arguments are read where the block it comes from ends; use that block for the place of such a use.
pub struct Dominance {
    /// By block: its number in a preorder of the dominator tree, and its subtree's end. Empty for blocks not in the tree.
    dominated: Vec<Span>,
    /// By block: the numbers of the blocks from this one to the end of its list, nested lists included.
    visible: Vec<Span>,
}

impl Dominance {
    /// Analyses a tree. O(statements · log(blocks)).
    pub fn new(tree: &Tree) -> Dominance {
        let mut walk = Walk {
            tree,
            // One more for the start of the function.
            dominators: DomTree::new(tree.block_count() + 1),
            order: Vec::with_capacity(tree.block_count()),
            visible: vec![Span::default(); tree.block_count()],
            at: Some(tree.block_count() as u32),
        };
        walk.run();
        let dominated = number(&walk.dominators, &walk.order, tree.block_count());
        Dominance { dominated, visible: walk.visible }
    }

    /// Whether every way through the structured form to `b` passes `a`; also if they are the same block. False for blocks that
    /// are not in the tree.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        Self::holds(&self.dominated, a, b)
    }

    /// Whether what `a` declares, in the innermost braces around it, is in scope at `b`; also if they are the same block.
    /// Implies [`Dominance::dominates`].
    pub fn visible(&self, a: Block, b: Block) -> bool {
        Self::holds(&self.visible, a, b)
    }

    fn holds(spans: &[Span], a: Block, b: Block) -> bool {
        match (spans.get(a.as_u32() as usize), spans.get(b.as_u32() as usize)) {
            (Some(a), Some(&b)) => b.end > b.start && a.contains(b),
            _ => false,
        }
    }
}

/// Preorder numbers of the dominator tree over `order`, which lists parents before children.
fn number(dominators: &DomTree, order: &[Block], root: usize) -> Vec<Span> {
    let mut size = vec![1u32; root + 1];
    for block in order.iter().rev() {
        size[dominators.parent(block.as_u32()) as usize] += size[block.as_u32() as usize];
    }
    let mut spans = vec![Span::default(); root + 1];
    let mut next = vec![0u32; root + 1];
    spans[root].end = size[root];
    next[root] = 1;
    for block in order {
        let b = block.as_u32() as usize;
        let slot = &mut next[dominators.parent(block.as_u32()) as usize];
        let start = *slot;
        *slot += size[b];
        spans[b] = Span { start, end: start + size[b] };
        next[b] = start + 1;
    }
    spans.truncate(root);
    spans
}

enum Step {
    List { list: List, next: u32, first_here: usize },
    Arms { arms: Arms, next: u32, head: u32, after: Option<u32> },
    Guard { head: u32 },
    Loop { breaks: Option<u32> },
}

struct Walk<'a> {
    tree: &'a Tree,
    dominators: DomTree,
    /// The blocks in the order of the text.
    order: Vec<Block>,
    visible: Vec<Span>,
    /// The last block that dominates the place at hand; none where control does not get.
    at: Option<u32>,
}

impl Walk<'_> {
    fn run(&mut self) {
        // Blocks of the lists at hand whose scope is still open.
        let mut open: Vec<Block> = Vec::new();
        let mut stack = vec![Step::List { list: self.tree.root(), next: 0, first_here: 0 }];
        // The loops at hand, by place in `stack`.
        let mut loops: Vec<usize> = Vec::new();
        while let Some(top) = stack.last_mut() {
            match top {
                Step::List { list, next, first_here } => {
                    let Some(&stmt) = self.tree.list(*list).get(*next as usize) else {
                        for block in open.drain(*first_here..) {
                            self.visible[block.as_u32() as usize].end = self.order.len() as u32;
                        }
                        stack.pop();
                        continue;
                    };
                    *next += 1;
                    let first_here = open.len();
                    let list = |list| Step::List { list, next: 0, first_here };
                    let head = self.at.unwrap_or(self.tree.block_count() as u32);
                    match stmt {
                        Stmt::Block(block) => {
                            self.block(block, head);
                            open.push(block);
                        }
                        Stmt::Edge(_) | Stmt::Set { .. } => {}
                        Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                            stack.push(Step::Arms { arms, next: 0, head, after: None });
                        }
                        Stmt::Guard { body, .. } => stack.extend([Step::Guard { head }, list(body)]),
                        Stmt::Loop { body, .. } => {
                            loops.push(stack.len());
                            stack.extend([Step::Loop { breaks: None }, list(body)]);
                        }
                        Stmt::Break => {
                            let innermost = loops.last().and_then(|&l| stack.get_mut(l));
                            if let Some(Step::Loop { breaks }) = innermost {
                                *breaks = common(&self.dominators, *breaks, self.at);
                            }
                            self.at = None;
                        }
                        Stmt::Continue | Stmt::Terminate(_) | Stmt::Unreachable => self.at = None,
                    }
                }
                Step::Arms { arms, next, head, after } => {
                    if *next > 0 {
                        *after = common(&self.dominators, *after, self.at);
                    }
                    if *next == arms.len {
                        self.at = *after;
                        stack.pop();
                        continue;
                    }
                    self.at = Some(*head);
                    let list = self.tree.arms(*arms)[*next as usize].body;
                    *next += 1;
                    stack.push(Step::List { list, next: 0, first_here: open.len() });
                }
                Step::Guard { head } => {
                    self.at = Some(*head);
                    stack.pop();
                }
                Step::Loop { breaks } => {
                    self.at = *breaks;
                    loops.pop();
                    stack.pop();
                }
            }
        }
    }

    fn block(&mut self, block: Block, above: u32) {
        let b = block.as_u32();
        let start = self.order.len() as u32;
        self.order.push(block);
        self.visible[b as usize] = Span { start, end: start + 1 };
        self.dominators.attach(b, above);
        self.at = Some(b);
    }
}

fn common(dominators: &DomTree, a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(dominators.common(a, b, &mut 0)),
        (one, other) => one.or(other),
    }
}
