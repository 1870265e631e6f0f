//! What a flush writes.

use super::Options;
use super::medium::{ENTRIES, Fault, Medium, ORDER, TOTALS, USES};
use crate::key::Key;
use redb::{Database, ReadableTable, Table, WriteTransaction};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A change to an entry.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// It has these bytes from now on.
    Put(Arc<[u8]>),
    /// It goes.
    Remove,
}

impl Change {
    /// Memory it takes, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Change::Put(bytes) => bytes.len() + 96,
            Change::Remove => 64,
        }
    }
}

/// What a flush did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub commits: u64,
    pub evicted: u64,
}

/// A transaction makes room for at most this part of the cap.
const PART: u64 = 50;

impl Medium {
    /// Writes changes and uses, which are in order of keys, in one transaction, then makes room in further ones. So pages are
    /// touched once, and the file does not depend on who put what first.
    pub(super) fn write(
        &self,
        changes: &[(Key, Change)],
        uses: &[(Key, u32)],
        options: &Options,
    ) -> Result<Tally, Fault> {
        let Medium::Writable { database, .. } = self else { return Ok(Tally::default()) };
        let transaction = begin(database, options.patience)?;
        let mut bytes = {
            let mut tables = Tables::open(&transaction)?;
            for (key, change) in changes {
                match change {
                    Change::Put(bytes) => tables.put(key, bytes)?,
                    Change::Remove => drop(tables.remove(key)?),
                }
            }
            for (key, count) in uses {
                tables.touch(key, *count)?;
            }
            tables.finish()?
        };
        transaction.commit()?;
        let mut tally = Tally { commits: 1, evicted: 0 };
        while bytes > options.cap {
            let transaction = begin(database, options.patience)?;
            let (evicted, left) = {
                let mut tables = Tables::open(&transaction)?;
                let evicted = tables.evict(options.cap)?;
                (evicted, tables.finish()?)
            };
            transaction.commit()?;
            tally.commits += 1;
            tally.evicted += evicted;
            if evicted == 0 {
                break;
            }
            bytes = left;
        }
        Ok(tally)
    }
}

/// Begins to write, when no other process does any more.
pub(super) fn begin(database: &Database, patience: Duration) -> Result<WriteTransaction, Fault> {
    let end = Instant::now() + patience;
    let mut pause = Duration::from_micros(200);
    loop {
        match database.try_begin_write().map_err(Fault::from) {
            Err(Fault::Busy) if Instant::now() < end => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            begun => return begun,
        }
    }
}

/// The tables of a store, in a transaction.
pub(super) struct Tables<'a> {
    entries: Table<'a, &'static [u8; 32], &'static [u8]>,
    uses: Table<'a, &'static [u8; 32], (u64, u32, u32)>,
    order: Table<'a, (u64, &'static [u8; 32]), ()>,
    totals: Table<'a, &'static str, u64>,
    tick: u64,
    bytes: u64,
    count: u64,
}

impl<'a> Tables<'a> {
    pub(super) fn open(transaction: &'a WriteTransaction) -> Result<Tables<'a>, Fault> {
        let totals = transaction.open_table(TOTALS)?;
        let number = |name: &str| -> Result<u64, Fault> { Ok(totals.get(name)?.map_or(0, |n| n.value())) };
        let (tick, bytes, count) = (number("tick")?.wrapping_add(1), number("bytes")?, number("entries")?);
        Ok(Tables {
            entries: transaction.open_table(ENTRIES)?,
            uses: transaction.open_table(USES)?,
            order: transaction.open_table(ORDER)?,
            totals,
            tick,
            bytes,
            count,
        })
    }

    fn put(&mut self, key: &Key, bytes: &[u8]) -> Result<(), Fault> {
        let hits = self.remove(key)?.unwrap_or(0);
        self.entries.insert(&key.0, bytes)?;
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.uses.insert(&key.0, (self.tick, size, hits))?;
        self.order.insert((self.tick, &key.0), ())?;
        self.bytes = self.bytes.saturating_add(size.into());
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// Removes an entry; gives how often it was used.
    pub(super) fn remove(&mut self, key: &Key) -> Result<Option<u32>, Fault> {
        let was_there = self.entries.remove(&key.0)?.is_some();
        let Some((last, size, hits)) = self.uses.remove(&key.0)?.map(|use_| use_.value()) else {
            return Ok(None);
        };
        self.order.remove((last, &key.0))?;
        if was_there {
            self.bytes = self.bytes.saturating_sub(size.into());
            self.count = self.count.saturating_sub(1);
        }
        Ok(Some(hits))
    }

    fn touch(&mut self, key: &Key, count: u32) -> Result<(), Fault> {
        let Some((last, size, hits)) = self.uses.get(&key.0)?.map(|use_| use_.value()) else { return Ok(()) };
        self.order.remove((last, &key.0))?;
        self.order.insert((self.tick, &key.0), ())?;
        self.uses.insert(&key.0, (self.tick, size, hits.saturating_add(count)))?;
        Ok(())
    }

    /// Removes what was not used for longest until there is room, or as much as goes at once.
    pub(super) fn evict(&mut self, cap: u64) -> Result<u64, Fault> {
        let wanted = self.bytes.saturating_sub(cap).min((cap / PART).max(1));
        let (mut freed, mut oldest) = (0, Vec::new());
        for row in self.order.iter()? {
            if freed >= wanted {
                break;
            }
            let (place, ()) = row.map(|(place, unit)| (place.value().1.to_owned(), unit.value()))?;
            let key = Key(place);
            freed += self.uses.get(&key.0)?.map_or(0, |use_| u64::from(use_.value().1));
            oldest.push(key);
        }
        for key in &oldest {
            self.remove(key)?;
        }
        Ok(oldest.len() as u64)
    }

    /// Writes the numbers about the whole. Gives the bytes of all entries.
    pub(super) fn finish(mut self) -> Result<u64, Fault> {
        self.totals.insert("tick", self.tick)?;
        self.totals.insert("bytes", self.bytes)?;
        self.totals.insert("entries", self.count)?;
        Ok(self.bytes)
    }
}
