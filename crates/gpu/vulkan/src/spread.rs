//! Work spread over the host's cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Handles each item on one of as many threads as the host has cores. Every thread has a state of its own, made by
/// `start`: a worker process ([`crate::isolated`]) and what goes with it. A thread that is done with an item takes the
/// next one, so that few large items do not leave the other threads idle. Results are in the order of the items.
///
/// # Errors
/// The first error of `start`.
///
/// # Panics
/// If `start` or `each` does, after the other threads have ended.
pub fn spread<T: Sync, S, R: Send, E: Send>(
    items: &[T],
    start: impl Fn() -> Result<S, E> + Sync,
    each: impl Fn(&mut S, &T) -> R + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut state = start()?;
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return Ok(done) };
            done.push((number, each(&mut state, item)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let parts: Result<Vec<_>, E> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let mut results: Vec<(usize, R)> = parts?.into_iter().flatten().collect();
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..200).collect();
        // A state counts what its thread did.
        let each = |count: &mut u64, item: &u64| {
            *count += 1;
            (*count, item * item)
        };
        let results = spread(&items, || Ok::<_, ()>(0), each).unwrap();
        assert!(results.iter().zip(&items).all(|((_, square), item)| *square == item * item));
        assert!(results.iter().all(|(count, _)| *count >= 1));
    }

    #[test]
    fn errors_of_a_start_are_the_errors_of_all() {
        assert_eq!(spread(&[1, 2], || Err::<(), _>("no device"), |(), item| *item), Err("no device"));
        assert_eq!(spread(&[], || Err::<(), _>("no device"), |(), item: &u8| *item), Ok(vec![]));
    }
}
