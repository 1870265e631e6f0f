//! Several processes with one store, and processes that are killed while they write.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use xenoglot_cache::store::{Options, Store};
use xenoglot_cache::{Entry, Key, Kind, Title};
use xenoglot_testgen::property::{budget, seed};
use xenoglot_testgen::rng::Rng;

/// The arguments of a process that this test starts: store, number of the process, milliseconds.
const CHILD: &str = "XENOGLOT_CACHE_TEST_CHILD";

fn key(process: u32, n: u32) -> Key {
    Key::of("test").number(process.into()).number(n.into()).finish()
}

fn entry(process: u32, n: u32) -> Entry {
    let words = 30 + n % 400;
    let payload: Vec<u8> = (0..words).flat_map(|i| (i * (n | 1) + process).to_le_bytes()).collect();
    Entry { kind: Kind::Artifact, stamp: 0, title: Title::NONE, payload: payload.into() }
}

/// Puts entries and looks up everybody's, until its time is over. Says after each flush how many are on disk.
fn child(store: &Path, process: u32, time: Duration) {
    let store = Store::open(store, Options::default()).unwrap();
    let (end, mut rng, mut n) = (Instant::now() + time, Rng::new(process.into()), 0);
    while Instant::now() < end {
        for _ in 0..1 + rng.below(20) {
            store.put(&key(process, n), &entry(process, n)).unwrap();
            n += 1;
        }
        for _ in 0..50 {
            let (other, wanted) = (rng.below(8), rng.below(n + 1));
            let found = store.get(&key(other, wanted));
            assert!(
                found.is_none_or(|found| found == entry(other, wanted)),
                "{other}, {wanted}: another entry"
            );
        }
        if store.flush().is_ok() {
            println!("flushed {n}");
        }
    }
    store.flush().unwrap();
    println!("flushed {n}");
    assert_eq!((store.counts().quarantined, store.counts().files_set_aside), (0, 0));
}

#[test]
fn as_a_child() {
    let Ok(arguments) = std::env::var(CHILD) else { return };
    let [store, process, time] = arguments.split('|').collect::<Vec<_>>()[..] else { panic!("{arguments}") };
    child(Path::new(store), process.parse().unwrap(), Duration::from_millis(time.parse().unwrap()));
}

fn start(store: &Path, process: u32, time: Duration) -> Child {
    let arguments = format!("{}|{process}|{}", store.display(), time.as_millis());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "as_a_child", "--nocapture", "--test-threads=1"])
        .env(CHILD, arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The last number that a process said after `flushed`.
fn last_flushed(output: &str) -> u32 {
    let said = output.lines().filter_map(|line| line.split("flushed ").nth(1));
    said.filter_map(|number| number.trim().parse().ok()).next_back().unwrap_or(0)
}

fn together(processes: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let time = budget(Duration::from_secs(2), Duration::from_secs(60));
    let children: Vec<Child> = (0..processes).map(|process| start(&path, process, time)).collect();
    let said: Vec<u32> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}");
            last_flushed(&text)
        })
        .collect();
    let store = Store::open(&path, Options::default()).unwrap();
    for (process, &count) in (0..).zip(&said) {
        assert!(count > 0, "process {process} put nothing");
        for n in 0..count {
            assert_eq!(
                store.get(&key(process, n)),
                Some(entry(process, n)),
                "process {process}, {n} of {count}"
            );
        }
    }
    let scan = store.verify().unwrap();
    assert_eq!(scan.damaged, []);
    assert_eq!(scan.kinds[0].0, said.iter().map(|&n| u64::from(n)).sum::<u64>());
    eprintln!("{processes} processes: {said:?} entries");
}

#[test]
fn two_processes_lose_nothing() {
    together(2);
}

#[test]
fn eight_processes_lose_nothing() {
    together(8);
}

#[test]
fn a_killed_process_loses_what_it_had_not_flushed() {
    let mut rng = Rng::new(seed());
    let folder = tempfile::tempdir().unwrap();
    for round in 0..budget(10, 300) {
        let path = folder.path().join(format!("{round}.redb"));
        let mut child = start(&path, 3, Duration::from_secs(600));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("flushed") {
            assert_ne!(output.read_line(&mut text).unwrap(), 0, "{text}");
        }
        std::thread::sleep(Duration::from_micros(rng.below(60_000).into()));
        // SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_string(&mut text).unwrap();
        let count = last_flushed(&text);
        let store = Store::open(&path, Options::default()).unwrap();
        for n in 0..count {
            assert_eq!(store.get(&key(3, n)), Some(entry(3, n)), "round {round}: {n} of {count}");
        }
        for n in count..count + 100 {
            assert!(store.get(&key(3, n)).is_none_or(|found| found == entry(3, n)));
        }
        assert_eq!(store.counts().files_set_aside, 0, "round {round}");
    }
}

/// A process that is stopped at any moment, perhaps while it writes, does not stop the others.
#[test]
fn a_stopped_process_keeps_nobody_waiting() {
    let mut rng = Rng::new(seed() ^ 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let options = Options { patience: Duration::from_millis(20), ..Options::default() };
    let store = Store::open(&path, options).unwrap();
    let mut child = start(&path, 3, Duration::from_secs(600));
    let signal = |signal| {
        // SAFETY: a call that takes numbers; the process is a child that was not waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
    };
    for round in 0..budget(20, 500) {
        std::thread::sleep(Duration::from_micros(rng.below(20_000).into()));
        signal(libc::SIGSTOP);
        store.put(&key(4, round), &entry(4, round)).unwrap();
        let _ = store.flush();
        assert_eq!(store.get(&key(4, round)), Some(entry(4, round)));
        signal(libc::SIGCONT);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    store.flush().unwrap();
    drop(store);
    let store = Store::open(&path, Options::default()).unwrap();
    (0..budget(20, 500)).for_each(|n| assert_eq!(store.get(&key(4, n)), Some(entry(4, n))));
}
