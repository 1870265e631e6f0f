//! What bytes cannot hold: compiled code, pipelines, modules. In memory, of one owner, up to a number of them.

use quick_cache::UnitWeighter;
use quick_cache::unsync::Cache;
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::hash::Hash;

/// Objects by key, at most so many. Of those that have no room the ones go first that were used once, long ago.
///
/// ```
/// use xenoglot_cache::Objects;
///
/// let mut pipelines = Objects::new(100);
/// for key in 0..100_000 {
///     assert_eq!(pipelines.get_or_insert_with(&(key % 10), || format!("pipeline {key}")), format!("pipeline {}", key % 10));
/// }
/// assert_eq!(pipelines.len(), 10);
/// ```
pub struct Objects<K, V>(Cache<K, V, UnitWeighter, FxBuildHasher>);

impl<K: Eq + Hash + Clone, V: Clone> Objects<K, V> {
    /// None yet, and never more than `most`.
    pub fn new(most: usize) -> Objects<K, V> {
        Objects(Cache::with(most, most as u64, UnitWeighter, FxBuildHasher, Default::default()))
    }

    /// The object of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    /// The object of a key. It does not count as used.
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.0.peek(key)
    }

    /// Whether there is one. It does not count as used.
    pub fn contains(&self, key: &K) -> bool {
        self.peek(key).is_some()
    }

    /// All of them, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The object of a key, made now if there is none.
    pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> V) -> V {
        if let Some(value) = self.0.get(key) {
            return value.clone();
        }
        let value = make();
        self.0.insert(key.clone(), value.clone());
        value
    }

    /// Puts an object in the place of what there was.
    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, value);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Eq + Hash + Clone, V: Clone> fmt::Debug for Objects<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_when_ten_times_as_many_come_and_go() {
        let mut objects = Objects::new(64);
        let mut made = 0;
        for n in 0..6400u32 {
            for key in [n + 1000, n % 8] {
                objects.get_or_insert_with(&key, || {
                    made += u32::from(key < 8);
                    key
                });
            }
            assert!(objects.len() <= 64);
        }
        assert_eq!(made, 8);
    }
}
