//! A dominator tree that grows from its root, with nearest common ancestors in logarithmic time.
//!
//! Each node carries one jump pointer to an ancestor, placed like the digits of a skew-binary number of its depth, so that
//! jumps and single steps together reach any ancestor in O(log depth) moves.

/// A growing tree over dense ids.
#[derive(Default)]
pub struct DomTree {
    parent: Vec<u32>,
    jump: Vec<u32>,
    depth: Vec<u32>,
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
        let DomTree { parent, jump, depth } = self;
        for own in [parent, jump] {
            own.clear();
            own.extend(0..len as u32);
        }
        depth.clear();
        depth.resize(len, 0);
    }

    /// Makes `node`, a root without descendants, a child of `parent`.
    pub fn attach(&mut self, node: u32, parent: u32) {
        let [n, p] = [node, parent].map(|x| x as usize);
        let j = self.jump[p] as usize;
        let jj = self.jump[j] as usize;
        self.parent[n] = parent;
        self.depth[n] = self.depth[p] + 1;
        let even = self.depth[p] - self.depth[j] == self.depth[j] - self.depth[jj];
        self.jump[n] = if even && p != j { jj as u32 } else { parent };
    }

    /// The parent; a root is its own.
    pub fn parent(&self, node: u32) -> u32 {
        self.parent[node as usize]
    }

    /// Steps to the root.
    pub fn depth(&self, node: u32) -> u32 {
        self.depth[node as usize]
    }

    /// The nearest common ancestor of two nodes of one tree. `steps` grows by the work it takes.
    pub fn common(&self, a: u32, b: u32, steps: &mut u64) -> u32 {
        let (mut a, mut b) = if self.depth(a) >= self.depth(b) { (a, b) } else { (b, a) };
        while self.depth(a) > self.depth(b) {
            *steps += 1;
            let jump = self.jump[a as usize];
            a = if self.depth(jump) >= self.depth(b) { jump } else { self.parent(a) };
        }
        while a != b {
            *steps += 1;
            let (ja, jb) = (self.jump[a as usize], self.jump[b as usize]);
            (a, b) = if ja == jb { (self.parent(a), self.parent(b)) } else { (ja, jb) };
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
