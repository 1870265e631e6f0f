//! Objects that are made in the background.

use super::queue::{Craft, Queue, Stage};
use super::{Options, Priority, Status, Ticket, lock, too_long};
use crate::failure::{Cause, Failure, attempt};
use crate::objects::Objects;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How far a workshop is with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<V> {
    /// It is there.
    Ready(V),
    /// It is being made, or waits to be.
    InWork,
    /// Nobody has asked for it, or it had to make room.
    New,
}

/// Objects by key, made on threads of the workshop or by the caller: what a [`Service`](super::Service) is for bytes.
///
/// At most so many are kept, those that are used; one that is asked for while it is made is made once. An object whose
/// making panics, or takes longer than [`Options::deadline`], is what the workshop was told to have in its place.
pub struct Workshop<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Clone + Send + 'static,
{
    queue: Arc<Queue<Shelf<K, V>>>,
}

struct Shelf<K, V> {
    objects: Mutex<Objects<K, V>>,
    broken: Box<dyn Fn(Failure) -> V + Send + Sync>,
}

impl<K: Clone + Eq + Hash + Send + 'static, V: Clone + Send + 'static> Craft for Shelf<K, V> {
    type Name = K;
    type Work = Box<dyn FnOnce() -> V + Send>;
    type Done = V;

    fn make(&self, key: &K, work: Self::Work) -> V {
        let made = attempt(|| Ok(work())).unwrap_or_else(&self.broken);
        lock(&self.objects).insert(key.clone(), made.clone());
        made
    }

    fn give_up(&self, key: &K, deadline: Duration) -> V {
        let broken = (self.broken)(too_long(deadline));
        lock(&self.objects).insert(key.clone(), broken.clone());
        broken
    }

    // It is in the place of the other.
    fn came_late(&self, _: &K, _: &V) {}

    fn drop_job(&self, why: &str) -> V {
        (self.broken)(Failure { cause: Cause::Refused, text: why.to_owned() })
    }

    fn is_failure(_: &V) -> bool {
        false
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, V: Clone + Send + 'static> Workshop<K, V> {
    /// Nothing yet, and never more than `most`. `broken` makes what is kept in the place of an object that could not be made.
    pub fn new(
        most: usize,
        options: Options,
        broken: impl Fn(Failure) -> V + Send + Sync + 'static,
    ) -> Workshop<K, V> {
        let shelf = Shelf { objects: Mutex::new(Objects::new(most)), broken: Box::new(broken) };
        Workshop { queue: Queue::new(shelf, options) }
    }

    fn objects(&self) -> &Mutex<Objects<K, V>> {
        &self.queue.craft().objects
    }

    /// The object of a key, if it is there.
    pub fn get(&self, key: &K) -> Option<V> {
        lock(self.objects()).get(key).cloned()
    }

    /// How far it is with the object of a key. It does not count as used.
    pub fn standing(&self, key: &K) -> Standing<V> {
        // What is in work comes to the shelf before it leaves the queue.
        let stage = self.queue.stage(key);
        match (lock(self.objects()).peek(key).cloned(), stage) {
            (Some(object), _) => Standing::Ready(object),
            (None, Stage::Nowhere) => Standing::New,
            (None, Stage::Waiting | Stage::Working) => Standing::InWork,
        }
    }

    /// Has the object of a key made in the background, unless it is there or being made already. What cannot be, because too many
    /// wait or there are no threads, is broken at once and asked for again next time.
    pub fn begin(&self, key: &K, priority: Priority, make: impl FnOnce() -> V + Send + 'static) -> Ticket<V> {
        let known = |shelf: &Shelf<K, V>| lock(&shelf.objects).get(key).cloned();
        self.queue.push(key.clone(), priority, None, Box::new(make), known)
    }

    /// Puts an object that the caller has made.
    pub fn insert(&self, key: K, object: V) {
        lock(self.objects()).insert(key, object);
    }

    /// Objects there are, and of them those that `of` says.
    pub fn count(&self, of: impl Fn(&V) -> bool) -> [usize; 2] {
        let objects = lock(self.objects());
        [objects.len(), objects.values().filter(|object| of(object)).count()]
    }

    /// What is being done. There are no failures: what is broken is an object.
    pub fn status(&self) -> Status {
        self.queue.status()
    }

    /// Waits until nothing waits and nothing is in work.
    pub fn wait_idle(&self) {
        self.queue.wait_idle();
    }
}

/// What is in work is waited for until its deadline; what waits is dropped.
impl<K: Clone + Eq + Hash + Send + 'static, V: Clone + Send + 'static> Drop for Workshop<K, V> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Tools that workers take for a job and put back: compilers, devices. One whose job does not end is gone with it.
#[derive(Debug)]
pub struct Spares<T>(Mutex<Vec<T>>);

impl<T> Default for Spares<T> {
    fn default() -> Spares<T> {
        Spares(Mutex::new(Vec::new()))
    }
}

impl<T> Spares<T> {
    /// Takes a tool, if one is free.
    pub fn take(&self) -> Option<T> {
        lock(&self.0).pop()
    }

    /// Puts a tool back, which the next job may have.
    pub fn put(&self, tool: T) {
        lock(&self.0).push(tool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;

    type Made = Result<u32, Cause>;

    fn workshop(most: usize, deadline: Duration) -> Workshop<u32, Made> {
        let options = Options { workers: 2, deadline, waiting: 8, ..Options::default() };
        Workshop::new(most, options, |failure| Err(failure.cause))
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn an_object_is_made_once_and_is_ready_when_it_is_no_longer_in_work() {
        let workshop = workshop(100, LONG);
        let made = Arc::new(AtomicUsize::new(0));
        let (go, wait) = channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        assert_eq!(workshop.standing(&1), Standing::New);
        let tickets = [0; 3].map(|_| {
            let (made, wait) = (Arc::clone(&made), Arc::clone(&wait));
            workshop.begin(&1, Priority::Soon, move || {
                let _ = lock(&wait).recv();
                made.fetch_add(1, Ordering::SeqCst);
                Ok(10)
            })
        });
        assert_eq!((workshop.standing(&1), workshop.get(&1)), (Standing::InWork, None));
        go.send(()).unwrap();
        loop {
            match workshop.standing(&1) {
                Standing::Ready(object) => break assert_eq!(object, Ok(10)),
                standing => assert_eq!(standing, Standing::InWork),
            }
            thread::yield_now();
        }
        assert!(tickets.iter().all(|ticket| ticket.wait(None) == Some(Ok(10))));
        assert_eq!((made.load(Ordering::SeqCst), workshop.count(Result::is_err)), (1, [1, 0]));
        assert_eq!(workshop.status().shared, 2);
    }

    #[test]
    fn what_cannot_be_made_is_broken_and_the_others_are_made() {
        let workshop = workshop(100, LONG);
        let panics = workshop.begin(&1, Priority::Now, || panic!("a bug"));
        assert_eq!(panics.wait(None), Some(Err(Cause::Panicked)));
        for n in 2..50 {
            // The queue is short, and what it refuses can be asked for again.
            while workshop.begin(&n, Priority::Soon, move || Ok(n)).poll() == Some(Err(Cause::Refused)) {
                thread::yield_now();
            }
        }
        workshop.wait_idle();
        assert_eq!(workshop.count(Result::is_err), [49, 1]);
    }

    #[test]
    fn what_takes_too_long_is_broken_until_it_comes_to_an_end() {
        let workshop = workshop(100, Duration::from_millis(50));
        let (end, ended) = channel::<()>();
        let hangs = workshop.begin(&0, Priority::Now, move || {
            let _ = ended.recv();
            Ok(0)
        });
        assert_eq!(hangs.wait(None), Some(Err(Cause::TimedOut)));
        assert_eq!(workshop.get(&0), Some(Err(Cause::TimedOut)));
        // It was slow, and not endless.
        end.send(()).unwrap();
        while workshop.get(&0) != Some(Ok(0)) {
            thread::yield_now();
        }
    }

    #[test]
    fn there_are_never_more_than_there_may_be() {
        let workshop = workshop(16, LONG);
        for n in 0..1000 {
            workshop.insert(n, Ok(n));
            assert!(workshop.count(Result::is_ok)[0] <= 16);
        }
    }
}
