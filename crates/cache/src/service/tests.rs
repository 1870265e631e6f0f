use super::*;
use crate::record::Stateless;
use crate::versions::Versions;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

fn service(workers: usize, deadline: Duration) -> Service {
    let cache = Arc::new(Cache::memory([("part", 1)].into_iter().collect::<Versions>()));
    Service::new(cache, Options { workers, deadline, ..Options::default() })
}

fn key(n: usize) -> Key {
    Key::of("test").number(n as u64).finish()
}

fn request(
    n: usize,
    priority: Priority,
    make: impl FnOnce(&Recorder) -> Result<Vec<u8>, Failure> + Send + 'static,
) -> Request {
    Request { base: key(n), state: 0, priority, deadline: None, snapshot: None, make: Box::new(make) }
}

const LONG: Duration = Duration::from_secs(600);

#[test]
fn the_most_urgent_is_done_first_and_of_equals_the_first() {
    let service = service(1, LONG);
    let (order, done) = channel();
    let (go, wait) = channel::<()>();
    let blocker = request(0, Priority::Now, move |_| {
        let _ = wait.recv();
        Ok(vec![])
    });
    let first = service.request(&Stateless, blocker);
    while service.status().working == 0 {
        thread::yield_now();
    }
    let ask = |n, priority| {
        let order = order.clone();
        let make = move |_: &Recorder| {
            let _ = order.send(n);
            Ok(vec![n as u8])
        };
        service.request(&Stateless, request(n, priority, make))
    };
    ask(1, Priority::Warm);
    ask(2, Priority::Soon);
    ask(3, Priority::Soon);
    ask(4, Priority::Now);
    // It becomes urgent while it waits, and is done once.
    ask(1, Priority::Now);
    assert_eq!(first.poll(), None);
    go.send(()).unwrap();
    service.wait_idle();
    assert_eq!(done.try_iter().collect::<Vec<_>>(), [4, 1, 2, 3]);
    let status = service.status();
    assert_eq!((status.made, status.shared), (5, 1));
    assert_eq!(&*ask(3, Priority::Soon).poll().unwrap().unwrap().payload, [3]);
}

#[test]
fn who_asks_for_the_same_shares_the_work() {
    let service = service(4, LONG);
    let made = Arc::new(AtomicUsize::new(0));
    let called = Arc::new(AtomicUsize::new(0));
    let tickets: Vec<Ticket> = (0..200)
        .map(|n| {
            let made = Arc::clone(&made);
            let make = move |_: &Recorder| {
                made.fetch_add(1, Ordering::SeqCst);
                Ok(vec![(n % 10) as u8])
            };
            let ticket = service.request(&Stateless, request(n % 10, Priority::Soon, make));
            let called = Arc::clone(&called);
            ticket.then(move |found| {
                called.fetch_add(usize::from(found.is_ok()), Ordering::SeqCst);
            });
            ticket
        })
        .collect();
    for (n, ticket) in tickets.iter().enumerate() {
        assert_eq!(&*ticket.wait(None).unwrap().unwrap().payload, [(n % 10) as u8]);
    }
    assert_eq!(made.load(Ordering::SeqCst), 10);
    service.wait_idle();
    drop(service);
    assert_eq!(called.load(Ordering::SeqCst), 200);
}

/// One that panics, ones that do not end, one that takes too much: among a thousand good ones.
#[test]
fn a_poisoned_translation_costs_itself_only() {
    let service = service(2, Duration::from_millis(200));
    let (end, ended) = channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    let ask = |n: usize| {
        let ended = Arc::clone(&ended);
        let make = move |recorder: &Recorder| {
            recorder.uses("part");
            match n {
                300 => panic!("a bug at {n}"),
                400 | 500 => {
                    let _ = lock(&ended).recv();
                    Ok(vec![])
                }
                600 => Err(Failure { cause: Cause::OutOfMemory, text: "1 GiB".into() }),
                _ => Ok(n.to_le_bytes().to_vec()),
            }
        };
        // The good ones have all the time they need, however busy the machine is.
        let deadline = (!matches!(n, 400 | 500)).then_some(LONG);
        service.request(&Stateless, Request { deadline, ..request(n, Priority::Soon, make) })
    };
    let check = |tickets: Vec<Ticket>| {
        for (n, ticket) in tickets.iter().enumerate() {
            let found = ticket.wait(None).unwrap();
            match n {
                300 => {
                    let failure = found.unwrap_err();
                    assert_eq!((failure.cause, &*failure.text), (Cause::Panicked, "a bug at 300"));
                }
                400 | 500 => assert_eq!(found.unwrap_err().cause, Cause::TimedOut),
                600 => assert_eq!(found.unwrap_err().cause, Cause::OutOfMemory),
                _ => assert_eq!(*found.unwrap().payload, n.to_le_bytes()),
            }
        }
    };
    check((0..1000).map(ask).collect());
    let status = service.status();
    assert_eq!((status.made, status.failed, status.lost), (1000, 4, 2));
    // Failures are remembered as the others are.
    check((0..1000).map(ask).collect());
    assert_eq!(service.status().made, 1000);
    drop(end);
}

/// The thread that watches over deadlines already waits for a later one.
#[test]
fn a_deadline_may_be_sooner_than_that_of_what_is_in_work() {
    let service = service(2, LONG);
    let (end, ended) = channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    let ask = |n, deadline| {
        let ended = Arc::clone(&ended);
        let make = move |_: &Recorder| {
            let _ = lock(&ended).recv();
            Ok(vec![n as u8])
        };
        service.request(&Stateless, Request { deadline, ..request(n, Priority::Now, make) })
    };
    let slow = ask(0, None);
    while service.status().working == 0 {
        thread::yield_now();
    }
    let late = ask(1, Some(Duration::from_millis(20)));
    assert_eq!(late.wait(None).unwrap().unwrap_err().cause, Cause::TimedOut);
    drop(end);
    assert_eq!(&*slow.wait(None).unwrap().unwrap().payload, [0]);
}

#[cfg(target_os = "linux")]
#[test]
fn workers_let_others_go_first_unless_told_not_to() {
    use rustix::process::getpriority_process;

    let here = getpriority_process(None).unwrap();
    for (steps_back, meant) in [(true, (here + 10).min(19)), (false, here)] {
        let cache = Arc::new(Cache::memory(Versions::default()));
        let service = Service::new(cache, Options { steps_back, ..Options::default() });
        // Linux keeps it for each thread, and 0 is the one that asks.
        let make = |_: &Recorder| Ok(getpriority_process(None).unwrap_or(-1).to_le_bytes().to_vec());
        let ticket = service.request(&Stateless, request(0, Priority::Now, make));
        assert_eq!(*ticket.wait(None).unwrap().unwrap().payload, meant.to_le_bytes());
    }
}

#[test]
fn a_failure_is_tried_again_after_an_update() {
    let versions = |n| [("part", n), ("other", n)].into_iter().collect::<Versions>();
    let failing = |recorder: &Recorder| {
        recorder.uses("part");
        Err::<Vec<u8>, _>(Failure::refused("not supported"))
    };
    let old = Cache::memory(versions(1));
    assert!(old.translate(key(1), &Stateless, failing).is_err());
    assert!(old.translate(key(1), &Stateless, |_| unreachable!()).is_err());
    let new = Cache::memory(versions(2));
    assert!(new.translate(key(1), &Stateless, |_| Ok(vec![])).is_ok());
}

#[test]
fn what_waits_is_cancelled_and_a_service_ends_with_work_left() {
    let service = service(1, LONG);
    let (go, wait) = channel::<()>();
    let working = service.request(
        &Stateless,
        request(0, Priority::Now, move |_| {
            let _ = wait.recv();
            Ok(vec![7])
        }),
    );
    while service.status().working == 0 {
        thread::yield_now();
    }
    let warm = service.request(&Stateless, request(1, Priority::Warm, |_| Ok(vec![])));
    let soon = service.request(&Stateless, request(2, Priority::Soon, |_| Ok(vec![])));
    assert_eq!(service.cancel_below(Priority::Soon), 1);
    assert!(warm.poll().unwrap().is_err() && soon.poll().is_none());
    assert_eq!(soon.wait(Some(Duration::from_millis(1))), None);
    go.send(()).unwrap();
    drop(service);
    assert_eq!(&*working.poll().unwrap().unwrap().payload, [7]);
    assert!(soon.poll().is_some());
}

#[test]
fn what_draws_meanwhile_is_a_choice() {
    assert!(Policy::Wait.waits(false));
    assert!(!Policy::Interpret.waits(true));
    assert!(Policy::Skip.waits(true) && !Policy::Skip.waits(false));
}
