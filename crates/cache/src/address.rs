//! Programs by where they lie in guest memory.
//!
//! Before an emulator can look up a program's translation it would have to hash its code, at every draw. This tier knows
//! which program lies at an address, and what its code was. As long as nobody has written there it answers at once; after
//! a write it compares the code with what it was, and answers if that is the same. It never changes what other tiers
//! have: a write costs what lay there, and translations of it are found again when it comes back.

use crate::key::Key;
use std::collections::BTreeMap;
use std::ops::Range;

/// How an emulator sees that code was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Tracking {
    /// It cannot: code is compared at every look-up.
    #[default]
    Compare,
    /// It says which memory was written: [`Addresses::written`].
    Written,
}

/// A program at an address.
#[derive(Clone, Debug)]
struct Placed {
    code: Box<[u8]>,
    key: Key,
    /// Whether it has to be compared again.
    written: bool,
    /// When it was last asked for.
    used: u64,
}

/// The programs of a guest's memory by their addresses.
#[derive(Clone, Debug)]
pub struct Addresses {
    tracking: Tracking,
    placed: BTreeMap<u64, Placed>,
    /// Bytes of the longest program: no other can reach further.
    longest: u64,
    bytes: usize,
    limit: usize,
    /// Counts what was asked.
    tick: u64,
}

impl Addresses {
    /// No programs yet. At most `limit` bytes of code are kept; where there is no room, programs go that were not asked for
    /// for longest, a quarter of the limit at once.
    pub fn new(tracking: Tracking, limit: usize) -> Addresses {
        Addresses { tracking, placed: BTreeMap::new(), longest: 0, bytes: 0, limit, tick: 0 }
    }

    /// The key of the program at an address, if it is what was put there. `memory` is the guest's memory from that address
    /// on; none of it is read where nobody has written.
    pub fn get(&mut self, address: u64, memory: &[u8]) -> Option<Key> {
        let placed = self.placed.get_mut(&address)?;
        if placed.written || self.tracking == Tracking::Compare {
            if memory.get(..placed.code.len()) != Some(&*placed.code) {
                self.bytes -= placed.code.len();
                self.placed.remove(&address);
                return None;
            }
            placed.written = false;
        }
        self.tick += 1;
        placed.used = self.tick;
        Some(placed.key)
    }

    /// Puts a program of these bytes at an address, in the place of what was there.
    pub fn put(&mut self, address: u64, code: &[u8], key: Key) {
        if let Some(old) = self.placed.remove(&address) {
            self.bytes -= old.code.len();
        }
        if code.len() > self.limit {
            return;
        }
        if self.bytes + code.len() > self.limit {
            self.make_room((self.limit - code.len()).min(self.limit / 4 * 3));
        }
        self.longest = self.longest.max(code.len() as u64);
        self.bytes += code.len();
        self.tick += 1;
        self.placed.insert(address, Placed { code: code.into(), key, written: false, used: self.tick });
    }

    /// Drops the programs that were not asked for for longest until at most so many bytes are left.
    fn make_room(&mut self, bytes: usize) {
        let mut order: Vec<(u64, u64)> = self.placed.iter().map(|(at, placed)| (placed.used, *at)).collect();
        order.sort_unstable();
        for (_, address) in order {
            if self.bytes <= bytes {
                break;
            }
            if let Some(old) = self.placed.remove(&address) {
                self.bytes -= old.code.len();
            }
        }
    }

    /// The guest, or a copy by its GPU, has written these addresses.
    pub fn written(&mut self, addresses: Range<u64>) {
        let first = addresses.start.saturating_sub(self.longest);
        for (address, placed) in self.placed.range_mut(first..addresses.end.max(first)) {
            placed.written |= address.saturating_add(placed.code.len() as u64) > addresses.start;
        }
    }

    /// Programs there are.
    pub fn len(&self) -> usize {
        self.placed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.placed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(code: &[u8]) -> Key {
        Key::of("code").bytes(code).finish()
    }

    #[test]
    fn a_write_costs_what_lay_there_if_it_changed_it() {
        let mut memory = vec![0u8; 256];
        memory[16..24].copy_from_slice(b"program1");
        memory[24..32].copy_from_slice(b"program2");
        let mut addresses = Addresses::new(Tracking::Written, 1 << 20);
        addresses.put(16, &memory[16..24], key(b"program1"));
        addresses.put(24, &memory[24..32], key(b"program2"));
        // Nobody said that anything was written: memory is not read.
        assert_eq!(addresses.get(16, &[]), Some(key(b"program1")));
        memory[23] = b'9';
        addresses.written(23..24);
        assert_eq!(addresses.get(24, &memory[24..]), Some(key(b"program2")));
        assert_eq!(addresses.get(16, &memory[16..]), None);
        // The same bytes written again change nothing.
        addresses.written(0..256);
        assert_eq!(addresses.get(24, &memory[24..]), Some(key(b"program2")));
        assert_eq!(addresses.len(), 1);
    }

    #[test]
    fn what_is_asked_for_stays_when_there_is_no_room() {
        let code = [7; 16];
        let mut addresses = Addresses::new(Tracking::Written, 1024);
        addresses.put(0, &code, key(&code));
        for n in 1..10_000 {
            addresses.put(n * 16, &code, key(&code));
            assert_eq!(addresses.get(0, &code), Some(key(&code)));
            assert!(addresses.len() <= 64);
        }
        addresses.put(16, &[1; 2000], key(&code));
        assert_eq!(addresses.get(16, &[1; 2000]), None);
        assert!(addresses.len() > 40);
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(300))]

        /// Whatever is written where: an answer is the key of what is in memory.
        #[test]
        fn an_answer_is_of_the_present_code(
            steps in prop::collection::vec((0u8..3, 0usize..56, 1usize..9, any::<u8>()), 0..60),
            tracked: bool,
        ) {
            let tracking = if tracked { Tracking::Written } else { Tracking::Compare };
            let mut addresses = Addresses::new(tracking, 40);
            let mut memory = [0u8; 64];
            let mut lengths = BTreeMap::new();
            for (what, at, length, value) in steps {
                match what {
                    0 => {
                        memory[at..at + length].fill(value & 1);
                        addresses.written(at as u64..(at + length) as u64);
                    }
                    1 => {
                        addresses.put(at as u64, &memory[at..at + length], key(&memory[at..at + length]));
                        lengths.insert(at, length);
                    }
                    _ => if let Some(found) = addresses.get(at as u64, &memory[at..]) {
                        prop_assert_eq!(found, key(&memory[at..at + lengths[&at]]));
                    }
                }
            }
        }
    }
}
