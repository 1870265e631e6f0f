//! A dominator tree that grows from its root, with nearest common ancestors in logarithmic time.
//!
//! Each node carries one jump pointer to an ancestor, placed like the digits of a skew-binary number of its depth, so that
//! jumps and single steps together reach any ancestor in O(log depth) moves.

/// A growing tree over dense ids.
#[derive(Default)]
pub struct DomTree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    jump: u32,
    depth: u32,
}

impl DomTree {
    /// A forest of `len` roots.
    pub fn new(len: usize) -> DomTree {
        let mut tree = DomTree::default();
        tree.reset(len);
        tree
    }

    /// Makes it a forest of `len` roots.
    pub fn reset(&mut self, len: usize) {
        self.nodes.clear();
        self.nodes.extend((0..len as u32).map(|n| Node { parent: n, jump: n, depth: 0 }));
    }

    /// Makes `node`, a root without descendants, a child of `parent`.
    #[inline]
    pub fn attach(&mut self, node: u32, parent: u32) {
        let p = self.nodes[parent as usize];
        let j = self.nodes[p.jump as usize];
        let even = p.depth - j.depth == j.depth - self.depth(j.jump);
        let jump = if even && parent != p.jump { j.jump } else { parent };
        self.nodes[node as usize] = Node { parent, jump, depth: p.depth + 1 };
    }

    /// The parent; a root is its own.
    #[inline]
    pub fn parent(&self, node: u32) -> u32 {
        self.nodes[node as usize].parent
    }

    /// Steps to the root.
    #[inline]
    pub fn depth(&self, node: u32) -> u32 {
        self.nodes[node as usize].depth
    }

    /// The nearest common ancestor of two nodes of one tree. `steps` grows by the work it takes.
    #[inline]
    pub fn common(&self, a: u32, b: u32, steps: &mut u64) -> u32 {
        let at = |n: u32| self.nodes[n as usize];
        let (mut a, mut b) = if self.depth(a) >= self.depth(b) { (a, b) } else { (b, a) };
        let depth = self.depth(b);
        while self.depth(a) > depth {
            *steps += 1;
            let Node { parent, jump, .. } = at(a);
            a = if self.depth(jump) >= depth { jump } else { parent };
        }
        while a != b {
            *steps += 1;
            let (x, y) = (at(a), at(b));
            (a, b) = if x.jump == y.jump { (x.parent, y.parent) } else { (x.jump, y.jump) };
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::DomTree;

    /// Against climbing step by step, on a tree where node n hangs on n/3 or on n-1.
    #[test]
    fn common_ancestors_agree_with_climbing() {
        let n = 400;
        let mut tree = DomTree::new(n as usize);
        for i in 1..n {
            tree.attach(i, if i % 7 == 0 { i / 3 } else { i - 1 });
        }
        let slow = |mut a: u32, mut b: u32| {
            while a != b {
                if a > b { a = tree.parent(a) } else { b = tree.parent(b) }
            }
            a
        };
        for a in 0..n {
            for b in (a % 5..n).step_by(5) {
                assert_eq!(tree.common(a, b, &mut 0), slow(a, b), "{a} {b}");
            }
        }
    }

    #[test]
    fn a_common_ancestor_on_a_chain_takes_logarithmic_steps() {
        let n = 1 << 16;
        let mut tree = DomTree::new(n as usize);
        for i in 1..n {
            tree.attach(i, i - 1);
        }
        let mut steps = 0;
        assert_eq!(tree.common(n - 1, 12345, &mut steps), 12345);
        assert!(steps <= 3 * 16, "{steps}");
    }
}
