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
//!
//! * [`Cache`] finds translations by a base [`Key`] and a [`State`], which is asked what the front end asked when the
//!   translation was made ([`Recorder`]). [`Cache::memory`] does no I/O; `Cache::open` (feature `disk`) has a folder.
//! * [`entry`] is the format of entries, which check themselves; `store` keeps them in a file that several processes may
//!   have open, whatever becomes of disk and process.
//! * `process` (feature `process`) has work done in other processes, which may crash.
//! * [`remote`] is a tier that machines share: a folder, a bucket (feature `object-store`), a server (feature `redis`).
//! * `foz` (feature `foz`) writes SPIR-V in the form that `fossilize-replay` reads.
//! * [`service`] translates in the background: by priority, once for all who ask, within a deadline.
//! * `translate` (features `dxil`, `maxwell`, `pica`) has the keys and recorders of the facade's guests.
//! * [`Addresses`] finds programs by where they lie in guest memory, [`Objects`] keeps what bytes cannot hold.
//!
//! `docs/cache.md` says what depends on what, and what happens when something goes wrong.
#![deny(missing_docs)]

mod address;
mod cache;
mod codec;
#[cfg(feature = "disk")]
mod disk;
pub mod entry;
mod failure;
#[cfg(feature = "foz")]
pub mod foz;
mod guest;
mod in_work;
mod key;
mod memory;
mod objects;
mod priority;
#[cfg(feature = "process")]
pub mod process;
mod record;
#[cfg(feature = "disk")]
mod refill;
pub mod remote;
pub mod service;
#[cfg(feature = "disk")]
pub mod store;
#[cfg(feature = "translate")]
pub mod translate;
mod versions;
#[cfg(feature = "vulkan")]
mod vulkan;

pub use address::{Addresses, Tracking};
pub use cache::{Cache, Counts, Found, MEMORY};
#[cfg(feature = "disk")]
pub use disk::Options;
pub use entry::{Entry, Kind};
pub use failure::{Cause, Failure};
pub use guest::Guest;
pub use key::{Canonical, Key, KeyWriter, Title, canonical};
pub use objects::Objects;
pub use record::{Fact, Recorder, Recording, State, Stateless, from_bytes, to_bytes};
#[cfg(feature = "disk")]
pub use refill::{Refill, Refilled};
pub use versions::Versions;
#[cfg(feature = "translate")]
pub use xenoglot;
