//! A cache of translated shaders.
//!
//! ```
//! use xenoglot_cache::{Cache, Key, Stateless, Versions};
//!
//! let cache = Cache::memory(Versions::from_iter([("front end", 1), ("writer", 4)]));
//! let base = Key::of("example").bytes(b"machine code").bytes(b"options").finish();
//! for _ in 0..2 {
//!     let entry = cache.translate(base, &Stateless, |recorder| {
//!         // Only the first time.
//!         recorder.uses("front end");
//!         recorder.uses("writer");
//!         Ok(b"host code".to_vec())
//!     })?;
//!     assert_eq!(*entry.payload, *b"host code");
//! }
//! assert_eq!(cache.counts().hits, 1);
//! # Ok::<(), xenoglot_cache::Failure>(())
//! ```
#![deny(missing_docs)]

mod cache;
mod codec;
#[cfg(feature = "disk")]
mod disk;
pub mod entry;
mod failure;
mod key;
mod memory;
mod record;
pub mod service;
#[cfg(feature = "disk")]
pub mod store;
#[cfg(feature = "translate")]
pub mod translate;
mod versions;

pub use cache::{Cache, Counts, Found, MEMORY};
#[cfg(feature = "disk")]
pub use disk::Options;
pub use entry::{Entry, Kind};
pub use failure::{Cause, Failure};
pub use key::{Canonical, Key, KeyWriter, Title, canonical};
pub use record::{Fact, Recorder, Recording, State, Stateless, from_bytes, to_bytes};
pub use versions::Versions;
