//! Translations that take their process down: they cost themselves only.
#![cfg(unix)]

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use xenoglot_cache::process::{Limits, Workers, serve};
use xenoglot_cache::service::{Options, Priority, Request, Service};
use xenoglot_cache::{Cache, Cause, Failure, Key, Stateless, Versions};

/// Set in processes that this test starts.
const CHILD: &str = "XENOGLOT_CACHE_TEST_WORKER";

/// What a translator or driver may do with a program.
fn work(request: &[u8]) -> Result<Vec<u8>, Failure> {
    match u32::from_le_bytes(request.try_into().unwrap()) {
        100 => panic!("a bug"),
        // A driver that crashes.
        200 => std::process::abort(),
        // One that never comes back.
        300 => loop {
            std::thread::park();
        },
        // One that takes all the memory there is.
        400 => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(vec![1; 1 << 24]);
            }
        }
        500 => {
            println!("a driver that prints");
            Err(Failure::refused("not supported"))
        }
        n => Ok(n.to_le_bytes().repeat(10)),
    }
}

#[test]
fn as_a_worker() {
    if std::env::var_os(CHILD).is_some() {
        serve(work).unwrap();
    }
}

fn workers() -> Workers {
    let command = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "as_a_worker", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
        command
    };
    // A process may take long to start on a busy machine.
    Workers::new(command, Limits { deadline: Duration::from_secs(20), memory: Some(1 << 30) })
}

fn expected(n: u32) -> Result<Vec<u8>, Cause> {
    match n {
        100 => Err(Cause::Panicked),
        200 => Err(Cause::Crashed),
        300 => Err(Cause::TimedOut),
        400 => Err(Cause::OutOfMemory),
        500 => Err(Cause::Refused),
        n => Ok(n.to_le_bytes().repeat(10)),
    }
}

/// A thousand programs, five of them bad in every way there is: a thousand are served, and a second time from the cache.
#[test]
fn what_kills_its_process_costs_itself_only() {
    let cache = Arc::new(Cache::memory([("driver", 1)].into_iter().collect::<Versions>()));
    let service = Service::new(Arc::clone(&cache), Options { workers: 2, ..Options::default() });
    let workers = Arc::new(workers());
    for round in 0..2 {
        let tickets: Vec<_> = (0..1000u32)
            .map(|n| {
                let workers = Arc::clone(&workers);
                let request = Request {
                    base: Key::of("poison").number(n.into()).finish(),
                    state: 0,
                    priority: Priority::Soon,
                    // The process's own deadline counts.
                    deadline: Some(Duration::from_secs(600)),
                    snapshot: None,
                    make: Box::new(move |recorder| {
                        recorder.uses("driver");
                        workers.run(&n.to_le_bytes())
                    }),
                };
                service.request(&Stateless, request)
            })
            .collect();
        for (n, ticket) in (0..).zip(tickets) {
            let found = ticket.wait(None).unwrap();
            let found = found.map(|entry| entry.payload.to_vec()).map_err(|failure| failure.cause);
            assert_eq!(found, expected(n), "program {n} in round {round}");
        }
    }
    let status = service.status();
    assert_eq!((status.made, status.failed, status.lost), (1000, 5, 0));
    assert_eq!(cache.counts().hits, 1000);
}
