//! Values by key that threads add without ever waiting for one another.

use crate::key::Key;
use once_cell::race::OnceBox;
use std::hash::{BuildHasher, RandomState};

/// Branches at the root: a few thousand keys are then three or four nodes deep.
const ROOTS: usize = 256;

/// A tree by the bits of the keys' hashes. Nodes are added by a single compare-and-swap and only go with the whole, so a
/// thread that loses its processor at any point keeps no other waiting, as one that holds a lock would.
///
/// The hash has a secret of its own: whoever chooses keys does not choose how deep the tree is.
pub(super) struct Trie<V> {
    roots: Box<[OnceBox<Node<V>>; ROOTS]>,
    secret: RandomState,
}

struct Node<V> {
    key: Key,
    value: V,
    below: [OnceBox<Node<V>>; 4],
}

impl<V> Node<V> {
    fn below(&self, path: u64) -> &OnceBox<Node<V>> {
        let [a, b, c, d] = &self.below;
        match path & 3 {
            0 => a,
            1 => b,
            2 => c,
            _ => d,
        }
    }
}

impl<V> Default for Trie<V> {
    fn default() -> Trie<V> {
        Trie { roots: Box::new([const { OnceBox::new() }; ROOTS]), secret: RandomState::new() }
    }
}

impl<V> Trie<V> {
    /// The root of a key, and the branches to take from there, two bits each.
    fn start(&self, key: &Key) -> (&OnceBox<Node<V>>, u64) {
        let hash = self.secret.hash_one(key.0);
        let [root, ..] = hash.to_le_bytes();
        (&self.roots[usize::from(root)], hash >> u8::BITS)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &Key) -> Option<&V> {
        let (mut place, mut path) = self.start(key);
        loop {
            let node = place.get()?;
            if node.key == *key {
                return Some(&node.value);
            }
            place = node.below(path);
            path >>= 2;
        }
    }

    /// Adds the value of a key. If there is one already, gives that and the one that was not added.
    pub(super) fn add(&self, key: &Key, value: V) -> Option<(&V, V)> {
        let mut new = Box::new(Node { key: *key, value, below: [const { OnceBox::new() }; 4] });
        let (mut place, mut path) = self.start(key);
        loop {
            match place.get() {
                Some(node) if node.key == *key => return Some((&node.value, new.value)),
                Some(node) => {
                    place = node.below(path);
                    path >>= 2;
                }
                None => match place.set(new) {
                    Ok(()) => return None,
                    // Another thread was first.
                    Err(back) => new = back,
                },
            }
        }
    }

    /// All keys and values, sorted by key. What is added meanwhile may be missing.
    pub(super) fn sorted(&self) -> Vec<(Key, &V)> {
        let mut open: Vec<&Node<V>> = self.roots.iter().filter_map(OnceBox::get).collect();
        let mut all = Vec::new();
        while let Some(node) = open.pop() {
            all.push((node.key, &node.value));
            open.extend(node.below.iter().filter_map(OnceBox::get));
        }
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn what_several_threads_add_is_there_once() {
        let trie = Trie::default();
        let key = |n: u32| Key::of("trie").number(n.into()).finish();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..5000 {
                        if let Some((there, _)) = trie.add(&key(n), AtomicU32::new(1)) {
                            there.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let mut keys: Vec<Key> = (0..5000).map(key).collect();
        keys.sort_unstable();
        let all = trie.sorted();
        assert!(all.iter().map(|(key, _)| key).eq(&keys));
        assert!(all.iter().all(|(_, count)| count.load(Ordering::Relaxed) == 4));
        assert!(keys.iter().all(|key| trie.get(key).is_some()));
        assert!(trie.get(&key(5000)).is_none());
    }
}
