//! The cache: tiers in memory and on disk behind one look-up.

use crate::entry::{Entry, Kind};
use crate::failure::{Failure, attempt};
use crate::in_work::InWork;
use crate::key::{Key, Title};
use crate::memory::{Busy, Memory};
use crate::record::{Recorder, Recording, State, Stateless};
use crate::remote::{Far, Remote, RemoteCounts, RemoteError};
#[cfg(feature = "disk")]
use crate::store::{self, Store, StoreError};
use crate::versions::Versions;
use quick_cache::UnitWeighter;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of entries in memory, unless a caller wants more or less.
pub const MEMORY: u64 = 64 << 20;

/// Kinds of questions that are kept of one program. Front ends are deterministic, so that there are several only where
/// the answer to one question decides which others are asked.
const SHAPES: u64 = 32;

/// A cache of translations. Any thread may use it.
///
/// A translation is found by a base key (of the program, its options, the host) and a [`State`], which is asked what the
/// front end asked when the translation was made; and only if what had a part in it has the versions it had.
pub struct Cache {
    memory: Arc<Memory>,
    shapes: Shapes,
    versions: Versions,
    title: Title,
    hits: AtomicU64,
    misses: AtomicU64,
    in_work: InWork,
    remote: Option<Far>,
    #[cfg(feature = "disk")]
    disk: Option<crate::disk::Disk>,
    /// Guests' programs that were used in this run.
    #[cfg(feature = "disk")]
    guests_seen: std::sync::Mutex<rustc_hash::FxHashSet<Key>>,
}

/// What happened to a cache since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Look-ups of translations that were answered: by code or by a failure.
    pub hits: u64,
    /// Look-ups that were not.
    pub misses: u64,
    /// Entries in memory.
    pub entries: usize,
    /// Bytes they take.
    pub bytes: u64,
}

/// What a front end asked, without the answers, and what had a part in the translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shape {
    queries: Vec<Vec<u8>>,
    parts: Vec<String>,
}

impl Shape {
    fn of(recording: &Recording) -> Shape {
        Shape {
            queries: recording.facts.iter().map(|fact| fact.query.clone()).collect(),
            parts: recording.parts.iter().cloned().collect(),
        }
    }
}

/// A shape as look-ups need it.
struct Ready {
    queries: Vec<Vec<u8>>,
    /// Of the names and versions of the parts.
    parts: Key,
    /// The key of the translation where nothing was asked.
    alone: Option<Key>,
}

impl Ready {
    fn new(base: Key, shape: Shape, versions: &Versions) -> Ready {
        let mut parts = Key::of("parts");
        for part in &shape.parts {
            parts.bytes(part.as_bytes()).number(versions.get(part).unwrap_or(0).into());
        }
        let mut ready = Ready { queries: shape.queries, parts: parts.finish(), alone: None };
        if ready.queries.is_empty() {
            ready.alone = ready.specialised(base, &Stateless);
        }
        ready
    }

    /// The key of a program's translation in a state; `None` where the state cannot answer.
    fn specialised(&self, base: Key, state: &dyn State) -> Option<Key> {
        if self.alone.is_some() {
            return self.alone;
        }
        let mut key = Key::of("specialised");
        key.key(base).key(self.parts).number(self.queries.len() as u64);
        for query in &self.queries {
            key.bytes(query).bytes(&state.answer(query)?);
        }
        Some(key.finish())
    }
}

/// Shapes that were looked up, by base key and place: reading and hashing them would cost most of a look-up in memory.
type Shapes = quick_cache::sync::Cache<(Key, u64), Arc<Ready>, UnitWeighter, FxBuildHasher>;

/// How many of them are kept.
const READY_SHAPES: u64 = 1 << 16;

/// How far a look-up goes.
type Get = fn(&Cache, &Key) -> Option<Arc<Entry>>;

/// What a look-up found.
pub type Found = Result<Arc<Entry>, Failure>;

impl Cache {
    /// A cache in memory, of [`MEMORY`] bytes, for translations made under `versions`. It does no I/O.
    pub fn memory(versions: Versions) -> Cache {
        Cache::with_memory(MEMORY, versions)
    }

    /// A cache in memory, of so many bytes.
    pub fn with_memory(bytes: u64, versions: Versions) -> Cache {
        Cache::of(Arc::new(Memory::new(bytes)), versions)
    }

    fn of(memory: Arc<Memory>, versions: Versions) -> Cache {
        Cache {
            memory,
            shapes: Shapes::with(1024, READY_SHAPES, UnitWeighter, FxBuildHasher, Default::default()),
            versions,
            title: Title::NONE,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            in_work: InWork::default(),
            remote: None,
            #[cfg(feature = "disk")]
            disk: None,
            #[cfg(feature = "disk")]
            guests_seen: Default::default(),
        }
    }

    #[cfg(feature = "disk")]
    pub(crate) fn with_disk(
        memory: Arc<Memory>,
        versions: Versions,
        title: Title,
        disk: crate::disk::Disk,
    ) -> Cache {
        Cache { title, disk: Some(disk), ..Cache::of(memory, versions) }
    }

    /// The same with a tier behind it that machines share.
    pub fn with_remote(mut self, remote: Box<dyn Remote>) -> Cache {
        self.remote = Some(Far::new(remote));
        self
    }

    /// What happened between the cache and its remote, if it has one.
    pub fn remote_counts(&self) -> Option<RemoteCounts> {
        self.remote.as_ref().map(Far::counts)
    }

    /// Why the remote is not asked at the moment; `None` while all is well.
    pub fn remote_problem(&self) -> Option<RemoteError> {
        self.remote.as_ref().and_then(Far::problem)
    }

    /// The versions that translations are made under.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Whose entries this cache puts.
    pub fn title(&self) -> Title {
        self.title
    }

    /// Whether what is put outlives the process.
    pub fn is_kept(&self) -> bool {
        #[cfg(feature = "disk")]
        if self.disk.is_some() {
            return true;
        }
        false
    }

    /// Whether the disk has all entries that memory has.
    fn is_all_on_disk(&self) -> bool {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.disk {
            return disk.hosts().is_writable();
        }
        false
    }

    /// The entry of a key, from memory or else from disk.
    pub fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        match self.memory.try_get(key) {
            Ok(None) => {}
            Ok(found) => return found,
            // What is in memory is on disk, too, and look-ups there do not wait for threads that have lost their processor.
            Err(Busy) if self.is_all_on_disk() => {}
            Err(Busy) => {
                if let Some(entry) = self.memory.get(key) {
                    return Some(entry);
                }
            }
        }
        #[cfg(feature = "disk")]
        if let Some(entry) = self.disk.as_ref().and_then(|disk| disk.get(key)) {
            let entry = Arc::new(entry);
            // If it is busy, the next look-up reads the disk, too.
            let _ = self.memory.try_put(*key, Arc::clone(&entry));
            return Some(entry);
        }
        None
    }

    /// The entry of a key, from the remote if it is nowhere nearer.
    fn get_far(&self, key: &Key) -> Option<Arc<Entry>> {
        self.get(key).or_else(|| {
            let entry = Arc::new(self.remote.as_ref()?.get(key)?);
            self.put_near(*key, &entry);
            Some(entry)
        })
    }

    /// Puts an entry: into memory, on disk with the next flush, and to the remote after a while.
    ///
    /// If it replaces another while a thread that has lost its processor is at that part of the memory, look-ups may give the
    /// other for a moment: this one does not wait.
    pub fn put(&self, key: Key, kind: Kind, stamp: u64, payload: Vec<u8>) -> Arc<Entry> {
        let entry = Arc::new(self.entry(kind, stamp, payload));
        self.put_near(key, &entry);
        if let Some(remote) = &self.remote {
            remote.put(&key, &entry);
        }
        entry
    }

    fn put_near(&self, key: Key, entry: &Arc<Entry>) {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.disk {
            disk.put(&key, entry);
        }
        if self.memory.try_put(key, Arc::clone(entry)) == Err(Busy) && !self.outdates(key) {
            self.memory.put(key, Arc::clone(entry));
        }
    }

    /// Has an entry in memory go soon, for that on disk is newer. Gives whether it will.
    fn outdates(&self, key: Key) -> bool {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.disk {
            return self.is_all_on_disk() && disk.outdates(key);
        }
        let _ = key;
        false
    }

    /// Removes an entry.
    pub fn remove(&self, key: &Key) {
        self.memory.remove(key);
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.disk {
            disk.remove(key);
        }
    }

    /// The translation of a program in a state, if there is one in memory or on disk: its entry, or why it cannot be
    /// translated.
    pub fn find(&self, base: Key, state: &dyn State) -> Option<Found> {
        let found = self.look_up(base, state, Cache::get);
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// The same without being counted.
    pub(crate) fn look_up_near(&self, base: Key, state: &dyn State) -> Option<Found> {
        self.look_up(base, state, Cache::get)
    }

    /// The same, from the remote if it is nowhere nearer. Waits for the network; does not count.
    pub(crate) fn find_far(&self, base: Key, state: &dyn State) -> Option<Found> {
        self.remote.as_ref()?;
        self.look_up(base, state, Cache::get_far)
    }

    fn look_up(&self, base: Key, state: &dyn State, get: Get) -> Option<Found> {
        for number in 0..SHAPES {
            let shape = self.ready_shape(base, number, get)?;
            let Some(key) = shape.specialised(base, state) else { continue };
            match get(self, &key) {
                Some(entry) if entry.kind == Kind::Artifact => return Some(Ok(entry)),
                Some(entry) if entry.kind == Kind::Failure => {
                    return Some(Err(Failure::from_bytes(&entry.payload)?));
                }
                _ => {}
            }
        }
        None
    }

    /// The translation of a program in a state; made now if there is none. A panic of `make` is a failure, and failures
    /// are kept as results are. Several threads that want the same program wait for the first; `make` must not ask for that
    /// program itself.
    ///
    /// # Errors
    /// Why the program cannot be translated, be it for the first time or remembered.
    pub fn translate(
        &self,
        base: Key,
        state: &dyn State,
        make: impl FnOnce(&Recorder) -> Result<Vec<u8>, Failure>,
    ) -> Found {
        if let Some(found) = self.look_up(base, state, Cache::get) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return found;
        }
        let turn = self.in_work.turn(base);
        // The thread that was waited for has made this translation, unless it was for another state.
        if turn.waited
            && let Some(found) = self.look_up(base, state, Cache::get)
        {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return found;
        }
        if let Some(found) = self.find_far(base, state) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return found;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        self.make(base, make).0
    }

    /// Makes a translation anew and puts it. Gives what was asked, too.
    pub fn make(
        &self,
        base: Key,
        make: impl FnOnce(&Recorder) -> Result<Vec<u8>, Failure>,
    ) -> (Found, Recording) {
        let recorder = Recorder::new();
        let made = attempt(|| make(&recorder));
        let recording = recorder.recording();
        (self.keep(base, &recording, made), recording)
    }

    /// Removes what was kept with what was asked.
    pub fn forget(&self, base: Key, recording: &Recording) {
        if let Some(key) = self.ready(base, Shape::of(recording)).specialised(base, recording) {
            self.remove(&key);
        }
    }

    /// Puts a translation, or why there is none, with what was asked.
    pub fn keep(&self, base: Key, recording: &Recording, made: Result<Vec<u8>, Failure>) -> Found {
        let shape = Shape::of(recording);
        let versions = self.versions.part(shape.parts.iter().map(String::as_str));
        let stamp = versions.stamp();
        // What was asked is answered as it was then.
        let Some(key) = self.ready(base, shape.clone()).specialised(base, recording) else {
            return made.map(|payload| Arc::new(self.entry(Kind::Artifact, stamp, payload)));
        };
        self.keep_shape(base, &shape);
        self.keep_versions(stamp, &versions);
        match made {
            Ok(payload) => Ok(self.put(key, Kind::Artifact, stamp, payload)),
            Err(failure) => {
                self.put(key, Kind::Failure, stamp, failure.to_bytes());
                Err(failure)
            }
        }
    }

    fn entry(&self, kind: Kind, stamp: u64, payload: Vec<u8>) -> Entry {
        Entry { kind, stamp, title: self.title, payload: payload.into() }
    }

    fn ready(&self, base: Key, shape: Shape) -> Ready {
        Ready::new(base, shape, &self.versions)
    }

    fn ready_shape(&self, base: Key, number: u64, get: Get) -> Option<Arc<Ready>> {
        // Whoever is at the same part of the table may have lost its processor. Shapes can be had without it.
        if let Ok(Some(ready)) = self.shapes.try_get(&(base, number)) {
            return Some(ready);
        }
        let ready = Arc::new(self.ready(base, self.shape(base, number, get)?));
        let _ = self.shapes.try_insert((base, number), Arc::clone(&ready));
        Some(ready)
    }

    fn shape(&self, base: Key, number: u64, get: Get) -> Option<Shape> {
        let entry = get(self, &shape_key(base, number)).filter(|entry| entry.kind == Kind::Shape)?;
        crate::record::from_bytes(&entry.payload)
    }

    /// Puts a shape behind those that there are, unless it is among them. Another process may put one at the same place:
    /// then what belongs to one of the two is translated once more.
    fn keep_shape(&self, base: Key, shape: &Shape) {
        for number in 0..SHAPES {
            match self.shape(base, number, Cache::get) {
                Some(known) if known == *shape => return,
                Some(_) => {}
                None => {
                    if let Some(bytes) = crate::record::to_bytes(shape) {
                        self.put(shape_key(base, number), Kind::Shape, 0, bytes);
                        self.shapes.remove(&(base, number));
                    }
                    return;
                }
            }
        }
        // All places are taken by questions that this front end asked once: it starts over.
        if let Some(bytes) = crate::record::to_bytes(shape) {
            let number = Key::of("place").bytes(&bytes).finish().short() % SHAPES;
            self.put(shape_key(base, number), Kind::Shape, 0, bytes);
            self.shapes.remove(&(base, number));
        }
    }

    /// So that whoever removes entries of old versions knows what their stamp stands for.
    fn keep_versions(&self, stamp: u64, versions: &Versions) {
        let key = Versions::key_of(stamp);
        if self.get(&key).is_none() {
            self.put(key, Kind::Versions, 0, versions.to_bytes());
        }
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        let (entries, bytes) = self.memory.usage();
        Counts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            entries,
            bytes,
        }
    }
}

#[cfg(feature = "disk")]
impl Cache {
    /// The store of guests' programs, if the cache is on disk.
    pub fn guests(&self) -> Option<&Store> {
        self.disk.as_ref().map(|disk| disk.guests())
    }

    /// The store of hosts' code, if the cache is on disk.
    pub fn hosts(&self) -> Option<&Store> {
        self.disk.as_ref().map(|disk| disk.hosts())
    }

    /// Writes what was put to disk now.
    ///
    /// # Errors
    /// The first store's that fails.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.disk.as_ref().map_or(Ok(()), |disk| disk.flush())
    }

    /// Waits until what was put has room in memory without that of others.
    pub(crate) fn wait_for_room(&self) {
        self.disk.iter().for_each(|disk| disk.wait_for_room());
    }

    /// Notes that a guest's program was used. Gives whether it was before in this run.
    pub(crate) fn seen(&self, key: Key) -> bool {
        !self.guests_seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(key)
    }

    /// Why the cache is not on disk any more, or a part of it is not; `None` while all is well.
    pub fn problem(&self) -> Option<StoreError> {
        self.disk.as_ref().and_then(|disk| disk.problem())
    }

    /// Removes translations made under versions that are not ours from disk. Gives how many went.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn drop_outdated(&self, to: Option<u64>) -> Result<u64, StoreError> {
        let Some(disk) = &self.disk else { return Ok(0) };
        disk.flush()?;
        let mut stamps = Vec::new();
        disk.hosts().scan(|item| {
            if let Ok(header) = item.header()
                && header.kind == Kind::Versions
                && let Ok(entry) = crate::entry::decode(&item.key, item.bytes)
                && let Some(versions) = Versions::from_bytes(&entry.payload)
                && !versions.is_current(&self.versions)
            {
                stamps.push(versions.stamp());
            }
            std::ops::ControlFlow::Continue(())
        })?;
        disk.hosts().collect(&store::Gc { stamps, to, ..store::Gc::default() })
    }
}

fn shape_key(base: Key, number: u64) -> Key {
    Key::of("shape").key(base).number(number).finish()
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
