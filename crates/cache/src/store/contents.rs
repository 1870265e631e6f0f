//! Looking at a whole store: totals, all entries, verification, removal of what is of no use.

use super::medium::{ENTRIES, Fault, Medium, Snapshot, TOTALS, USES, guard};
use super::place::Place;
use super::write::{Tables, begin};
use super::{Gc, Store, StoreError};
use crate::entry::{self, EntryError, HEADER, Header, Kind};
use crate::key::Key;
use redb::{ReadTransaction, ReadableDatabase, ReadableTable};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// An entry as a scan of a store meets it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its key.
    pub key: Key,
    /// Its bytes, of which nothing is checked.
    pub bytes: &'a [u8],
    /// The tick of its last use: greater is later.
    pub last: u64,
    /// How often it was used.
    pub hits: u32,
}

impl Item<'_> {
    /// What its header says.
    ///
    /// # Errors
    /// Bytes that are no entry's.
    pub fn header(&self) -> Result<Header, EntryError> {
        Header::read(self.bytes)
    }
}

/// What a store has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Entries and bytes of each kind, in the order of [`Kind::ALL`].
    pub kinds: [(u64, u64); Kind::ALL.len()],
    /// Bytes of payloads before they were packed.
    pub unpacked: u64,
    /// Entries whose bytes are wrong.
    pub damaged: Vec<Key>,
}

impl Store {
    /// Calls `see` for each entry on disk, in order of keys, until it breaks off.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn scan(&self, mut see: impl FnMut(Item<'_>) -> ControlFlow<()>) -> Result<(), StoreError> {
        let generation = self.generation();
        let transaction = {
            let medium = self.medium();
            guard(self.path(), || medium.begin_read())
        };
        let scanned = transaction.and_then(|transaction| {
            let Some(transaction) = transaction else { return Ok(()) };
            guard(self.path(), || {
                let (entries, uses) = (transaction.open_table(ENTRIES)?, transaction.open_table(USES)?);
                for row in entries.iter()? {
                    let (key, bytes) = row?;
                    let (last, _, hits) = uses.get(key.value())?.map_or((0, 0, 0), |use_| use_.value());
                    let item = Item { key: Key(*key.value()), bytes: bytes.value(), last, hits };
                    if see(item).is_break() {
                        break;
                    }
                }
                Ok(())
            })
        });
        scanned.inspect_err(|error| self.failed(error.clone(), generation))
    }

    /// The bytes of all entries on disk, by key: stores for which they are equal answer every look-up alike, whatever their files
    /// look like. All of them are in memory then.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn contents(&self) -> Result<BTreeMap<Key, Vec<u8>>, StoreError> {
        let mut contents = BTreeMap::new();
        self.scan(|item| {
            contents.insert(item.key, item.bytes.to_vec());
            ControlFlow::Continue(())
        })?;
        Ok(contents)
    }

    /// Entries on disk and their bytes.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn totals(&self) -> Result<(u64, u64), StoreError> {
        let medium = self.medium();
        guard(self.path(), || {
            let Some(transaction) = medium.begin_read()? else { return Ok((0, 0)) };
            let totals = transaction.open_table(TOTALS)?;
            let number =
                |name: &str| -> Result<u64, Fault> { Ok(totals.get(name)?.map_or(0, |n| n.value())) };
            Ok((number("entries")?, number("bytes")?))
        })
    }

    /// Checks every entry on disk, and removes the damaged ones with the next flush.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn verify(&self) -> Result<Scan, StoreError> {
        let mut found = Scan::default();
        self.scan(|item| {
            match entry::check(&item.key, item.bytes) {
                Ok(header) => {
                    if let Some((count, bytes)) = found.kinds.get_mut(header.kind as usize) {
                        *count += 1;
                        *bytes += (HEADER + header.stored as usize) as u64;
                    }
                    found.unpacked += u64::from(header.payload);
                }
                Err(error) => {
                    tracing::warn!(key = %item.key, %error, "damaged");
                    found.damaged.push(item.key);
                }
            }
            ControlFlow::Continue(())
        })?;
        for key in &found.damaged {
            self.counters.quarantined.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.remove(key);
        }
        Ok(found)
    }

    /// Removes entries that `gc` describes, and gives their space back to the file system. Gives how many went.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn collect(&self, gc: &Gc) -> Result<u64, StoreError> {
        self.flush()?;
        let mut useless = Vec::new();
        self.scan(|item| {
            let is_useless = item.header().is_ok_and(|header| {
                gc.title.is_none_or(|title| title == header.title)
                    && (gc.all || gc.stamps.contains(&header.stamp))
            });
            if is_useless {
                useless.push(item.key);
            }
            ControlFlow::Continue(())
        })?;
        let mut removed = useless.len() as u64;
        useless.iter().for_each(|key| self.remove(key));
        self.flush()?;
        if let Some(to) = gc.to {
            let medium = self.medium();
            removed += guard(self.path(), || medium.shrink(to, self.options.patience))?;
        }
        let mut medium = self.medium_mut();
        guard(self.path(), || medium.compact(&*self.place))?;
        Ok(removed)
    }
}

impl Medium {
    fn begin_read(&self) -> Result<Option<ReadTransaction>, Fault> {
        Ok(match self {
            Medium::None => None,
            Medium::ReadOnly { database, .. } => Some(database.begin_read()?),
            Medium::Writable { database, .. } => Some(database.begin_read()?),
        })
    }

    /// Removes the least recently used entries until at most `to` bytes are left.
    fn shrink(&self, to: u64, patience: std::time::Duration) -> Result<u64, Fault> {
        let Medium::Writable { database, .. } = self else { return Ok(0) };
        let mut removed = 0;
        loop {
            let transaction = begin(database, patience)?;
            let (evicted, left) = {
                let mut tables = Tables::open(&transaction)?;
                let evicted = tables.evict(to)?;
                (evicted, tables.finish()?)
            };
            transaction.commit()?;
            removed += evicted;
            if evicted == 0 || left <= to {
                return Ok(removed);
            }
        }
    }

    /// Makes the file smaller where no other process reads it.
    fn compact(&mut self, place: &dyn Place) -> Result<(), Fault> {
        let Medium::Writable { entries, database } = std::mem::take(self) else { return Ok(()) };
        // The snapshots are readers that would be in the way.
        drop(entries);
        let mut database = database;
        match database.compact() {
            Ok(_) | Err(redb::CompactionError::TransactionInProgress) => {}
            Err(error) => return Err(error.into()),
        }
        *self = Medium::Writable { entries: Snapshot::new(&database, Some(place))?, database };
        Ok(())
    }
}
