//! Guests' programs in a form that any machine can make code of.

use crate::cache::Cache;
use crate::record::Recording;
use serde::{Deserialize, Serialize};

/// A guest's program with everything that its translation depends on but the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// What the program is to whoever translates it: a kind of guest, a schema.
    pub kind: String,
    /// The program and how it is lifted, in the form of that kind.
    pub program: Vec<u8>,
    /// What the front end asked, with the answers.
    pub recording: Recording,
}

impl Cache {
    /// Keeps a guest's program on disk, or notes that it was used in this run, too. Does nothing for a cache in memory.
    pub fn remember(&self, guest: &Guest) {
        #[cfg(feature = "disk")]
        self.remember_on_disk(guest);
        #[cfg(not(feature = "disk"))]
        let _ = guest;
    }

    #[cfg(feature = "disk")]
    fn remember_on_disk(&self, guest: &Guest) {
        use crate::entry::{Entry, Kind};
        use crate::key::Key;

        let (Some(store), Some(bytes)) = (self.guests(), crate::record::to_bytes(guest)) else { return };
        let key = Key::of("guest").bytes(&bytes).finish();
        // Once in a run is enough.
        if self.seen(key) || store.get(&key).is_some() {
            return;
        }
        let entry = Entry { kind: Kind::Guest, stamp: 0, title: self.title(), payload: bytes.into() };
        if let Err(error) = store.put(&key, &entry) {
            tracing::warn!(%key, %error, "a guest's program is not kept");
        }
    }
}
