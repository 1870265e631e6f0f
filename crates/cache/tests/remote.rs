//! Remote tiers against real servers: Redis, an S3-compatible one, a shared folder; and the network cut in the middle.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use xenoglot_cache::remote::Remote;
use xenoglot_cache::{Cache, Key, Recorder, Stateless, Versions};
use xenoglot_testgen::skip::skip;

/// A server that ends with its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a server and waits until it takes connections; none, with a notice, where it is not installed.
fn start(command: &mut Command, port: u16) -> Option<Server> {
    let name = command.get_program().to_string_lossy().into_owned();
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = started else {
        skip(&format!("{name} is not installed"));
        return None;
    };
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if child.try_wait().unwrap().is_some() || start.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
            let _ = child.wait();
            skip(&format!("{name} does not start"));
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Some(Server(child))
}

/// A wire to a server, which can be cut.
struct Wire {
    address: SocketAddr,
    cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    fn to(port: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, open) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (is_cut, streams) = (Arc::clone(&cut), Arc::clone(&open));
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                // One that is cut takes connections, and nothing comes of them.
                if is_cut.load(Ordering::SeqCst) {
                    streams.lock().unwrap().push(near);
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    thread::spawn(move || {
                        let mut bytes = [0; 4096];
                        while let Ok(count @ 1..) = from.read(&mut bytes) {
                            if to.write_all(&bytes[..count]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                streams.lock().unwrap().extend([near, far]);
            }
        });
        Wire { address, cut, open }
    }

    /// Cuts it, in the middle of whatever is sent.
    fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.cut.store(false, Ordering::SeqCst);
        self.open.lock().unwrap().clear();
    }
}

fn cache(remote: impl Remote + 'static) -> Cache {
    Cache::memory([("part", 1)].into_iter().collect::<Versions>()).with_remote(Box::new(remote))
}

/// Some kilobytes that are unlike those of other programs.
fn result(n: u64) -> Vec<u8> {
    (0..512u64).flat_map(|i| (i.wrapping_mul(n | 1) ^ n << 20).to_le_bytes()).collect()
}

/// Translates programs; gives how many were made.
fn translate(cache: &Cache, programs: std::ops::Range<u64>) -> u64 {
    let mut made = 0;
    for n in programs {
        let base = Key::of("remote server test").number(n).finish();
        let found = cache.translate(base, &Stateless, |recorder: &Recorder| {
            recorder.uses("part");
            made += 1;
            Ok(result(n))
        });
        assert_eq!(*found.unwrap().payload, result(n), "program {n}");
    }
    made
}

/// What one machine made another one finds; while the wire is cut both go on; when it is mended they share again.
fn check<R: Remote + 'static>(remote: impl Fn() -> R, wire: Option<&Wire>) {
    let first = cache(remote());
    assert_eq!(translate(&first, 0..100), 100);
    // What waits is sent.
    drop(first);
    let second = cache(remote());
    assert_eq!(translate(&second, 0..100), 0, "{:?}", second.remote_problem());
    assert_eq!(second.remote_counts().unwrap().damaged, 0);
    let Some(wire) = wire else { return };
    let cutter = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            wire.cut();
        });
        // Somewhere in here.
        translate(&second, 1000..1400)
    });
    assert!(cutter <= 400);
    let start = Instant::now();
    while second.remote_problem().is_none() && start.elapsed() < Duration::from_secs(60) {
        translate(&second, 5000..5001 + start.elapsed().as_millis() as u64);
    }
    assert!(second.remote_problem().is_some());
    // While it is cut, translation goes on, and does not wait for each of them.
    assert_eq!(translate(&second, 2_000_000..2_000_050), 50);
    wire.mend();
    let start = Instant::now();
    let mut n = 3_000_000;
    while second.remote_problem().is_some() {
        assert!(start.elapsed() < Duration::from_secs(120), "{:?}", second.remote_problem());
        translate(&second, n..n + 1);
        n += 1;
        thread::sleep(Duration::from_millis(100));
    }
    translate(&second, 4_000_000..4_000_050);
    drop(second);
    let third = cache(remote());
    assert_eq!(translate(&third, 0..100), 0);
    assert_eq!(translate(&third, 4_000_000..4_000_050), 0);
}

#[test]
fn redis_keeps_what_machines_share() {
    let port = free_port();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("redis-server");
    command
        .args(["--port", &port.to_string(), "--save", "", "--appendonly", "no"])
        .current_dir(folder.path());
    let Some(_server) = start(&mut command, port) else { return };
    let wire = Wire::to(port);
    let url = format!("redis://{}/0", wire.address);
    check(|| xenoglot_cache::remote::Redis::new(&url).unwrap(), Some(&wire));
}

mod objects {
    use super::*;
    use xenoglot_cache::remote::{Bucket, Objects};

    #[test]
    fn a_folder_keeps_what_machines_share() {
        let folder = tempfile::tempdir().unwrap();
        check(|| Objects::folder(&folder.path().join("shared")).unwrap(), None);
    }

    #[test]
    fn a_bucket_keeps_what_machines_share() {
        let port = free_port();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let Some(_server) = start(&mut command, port) else { return };
        let wire = Wire::to(port);
        // The server takes anybody, and makes a bucket at a request without a body.
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "PUT /shaders HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let bucket = Bucket {
            name: "shaders".into(),
            endpoint: Some(format!("http://{}", wire.address)),
            region: Some("us-east-1".into()),
            credentials: Some(("id".into(), "secret".into())),
        };
        check(|| Objects::bucket(&bucket).unwrap(), Some(&wire));
    }
}
