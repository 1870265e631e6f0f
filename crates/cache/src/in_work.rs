//! Programs that are being translated, so that none is translated twice at once.

use crate::key::Key;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// The programs in work.
#[derive(Debug, Default)]
pub(crate) struct InWork {
    keys: Mutex<BTreeSet<Key>>,
    done: Condvar,
}

/// A thread's turn to translate a program, until it is dropped.
pub(crate) struct Turn<'a> {
    in_work: &'a InWork,
    key: Key,
    /// Another thread was translating the program.
    pub(crate) waited: bool,
}

impl InWork {
    /// Waits until no other thread translates the program.
    pub(crate) fn turn(&self, key: Key) -> Turn<'_> {
        let mut waited = false;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        while !keys.insert(key) {
            waited = true;
            keys = self.done.wait(keys).unwrap_or_else(PoisonError::into_inner);
        }
        Turn { in_work: self, key, waited }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut keys = self.in_work.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&self.key);
        self.in_work.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_thread_at_a_time_is_at_a_program() {
        let (in_work, at_it, waited) = (InWork::default(), AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for n in 0..100u8 {
                        let turn = in_work.turn(Key([n % 2; 32]));
                        if n % 2 == 0 {
                            assert_eq!(at_it.fetch_add(1, Ordering::SeqCst), 0);
                            std::thread::yield_now();
                            at_it.fetch_sub(1, Ordering::SeqCst);
                        }
                        waited.fetch_add(turn.waited.into(), Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(in_work.keys.lock().unwrap().is_empty());
    }
}
