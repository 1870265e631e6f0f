//! Programs that are being translated, so that none is translated twice at once.

use crate::key::Key;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Parts with a lock of their own: a thread that has lost its processor while it holds one is in few others' way.
const PARTS: usize = 256;

/// The programs in work.
#[derive(Debug)]
pub(crate) struct InWork(Box<[Part; PARTS]>);

#[derive(Debug, Default)]
struct Part {
    keys: Mutex<BTreeSet<Key>>,
    done: Condvar,
}

impl Default for InWork {
    fn default() -> InWork {
        InWork(Box::new(std::array::from_fn(|_| Part::default())))
    }
}

/// A thread's turn to translate a program, until it is dropped.
pub(crate) struct Turn<'a> {
    part: &'a Part,
    key: Key,
    /// Another thread was translating the program.
    pub(crate) waited: bool,
}

impl InWork {
    /// Waits until no other thread translates the program.
    pub(crate) fn turn(&self, key: Key) -> Turn<'_> {
        let mut waited = false;
        let [number, ..] = key.0;
        let part = &self.0[usize::from(number)];
        let mut keys = part.keys.lock().unwrap_or_else(PoisonError::into_inner);
        while !keys.insert(key) {
            waited = true;
            keys = part.done.wait(keys).unwrap_or_else(PoisonError::into_inner);
        }
        Turn { part, key, waited }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut keys = self.part.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&self.key);
        self.part.done.notify_all();
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
        assert!(in_work.0.iter().all(|part| part.keys.lock().unwrap().is_empty()));
    }
}
