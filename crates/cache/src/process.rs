//! Work in processes of its own: for what can take a process down, as drivers can, and what can use up its memory.
//!
//! [`Workers`] start a command as often as work comes at once, and hand each process one request after the other. The
//! process answers in [`serve`]. When it dies, gives no answer in time or runs out of the memory it was given, that request
//! has failed, and the next one gets a new process. In a [`Service`](crate::service::Service) such a request is one whose
//! `make` calls [`Workers::run`].
//!
//! Requests go over standard input, a length (four bytes, little-endian) before each. Answers come over standard output,
//! where drivers print, too: each begins with a mark, then a status (0: done, 1: a [`Failure`]), a length, and the bytes. On standard
//! error a mark tells where what is said of a request begins.

use crate::failure::{Cause, Failure, attempt};
use std::convert::Infallible;
use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

const MARK: [u8; 8] = *b"\nXGWORK\x01";
/// Comes before what a process says of a request on standard error.
const REQUEST: [u8; 8] = *b"\nXGWORK\x02";
/// The environment variable with the bytes of address space that a process may have.
const MEMORY: &str = "XENOGLOT_WORKER_MEMORY";
/// The longest request or answer.
const LONGEST: u32 = 1 << 30;
/// How many of the last bytes that a process says on standard error are kept.
const STDERR: usize = 4096;
/// How long a process's last words may take to come after its end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What a process may take for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time, with that to start it.
    pub deadline: Duration,
    /// Bytes of address space, where the system can limit that (Linux). Drivers reserve much more than they use.
    pub memory: Option<u64>,
}

impl Default for Limits {
    /// A minute, and all the memory there is.
    fn default() -> Limits {
        Limits { deadline: Duration::from_secs(60), memory: None }
    }
}

/// Processes that work, as many as there are requests at once.
pub struct Workers {
    command: Box<dyn Fn() -> Command + Send + Sync>,
    limits: Limits,
    idle: Mutex<Vec<Worker>>,
}

struct Worker {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<Result<Vec<u8>, Failure>>,
    stderr: Arc<Mutex<Said>>,
    /// Disconnected when the process's standard error is at its end.
    stderr_ended: Receiver<Infallible>,
}

/// What a process says of a request on standard error.
#[derive(Default)]
struct Said {
    /// The end of it.
    tail: Vec<u8>,
    /// Whether a runtime has said that it gives up for want of memory. A backtrace of any length may follow.
    is_out_of_memory: bool,
}

impl Said {
    fn add(&mut self, bytes: &[u8]) {
        // What Rust's and C++'s runtimes say before they give up.
        const REASONS: [&[u8]; 2] = [b"memory allocation of", b"std::bad_alloc"];
        // A reason may come in two parts, and so may a mark.
        let mut before = self.tail.len().saturating_sub(REASONS[0].len());
        self.tail.extend_from_slice(bytes);
        let new = self.tail.get(before..).unwrap_or_default();
        if let Some(at) = new.windows(REQUEST.len()).rposition(|part| part == REQUEST) {
            self.tail.drain(..before + at + REQUEST.len());
            (before, self.is_out_of_memory) = (0, false);
        }
        let new = self.tail.get(before..).unwrap_or_default();
        self.is_out_of_memory |=
            REASONS.iter().any(|reason| new.windows(reason.len()).any(|part| part == *reason));
        let excess = self.tail.len().saturating_sub(STDERR);
        self.tail.drain(..excess);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail for a process only that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    /// Workers that `command` starts: programs that call [`serve`].
    pub fn new(command: impl Fn() -> Command + Send + Sync + 'static, limits: Limits) -> Workers {
        Workers { command: Box::new(command), limits, idle: Mutex::default() }
    }

    /// Has a process answer a request; whoever calls waits.
    ///
    /// # Errors
    /// The process's own; and [`Cause::Crashed`], [`Cause::TimedOut`] and [`Cause::OutOfMemory`] if it could not answer.
    pub fn run(&self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        let crashed = |what: &str, error: io::Error| Failure {
            cause: Cause::Crashed,
            text: format!("{what}: {error}"),
        };
        let length = u32::try_from(request.len()).ok().filter(|length| *length <= LONGEST);
        let length = length.ok_or_else(|| Failure::refused("a request that is too long"))?;
        let idle = lock(&self.idle).pop();
        let mut worker = match idle {
            Some(worker) => worker,
            None => self.start().map_err(|error| crashed("the process does not start", error))?,
        };
        // A process that dies meanwhile does not answer, which says more than the pipe.
        let _ = worker
            .stdin
            .write_all(&length.to_le_bytes())
            .and_then(|()| worker.stdin.write_all(request))
            .and_then(|()| worker.stdin.flush());
        match worker.answers.recv_timeout(self.limits.deadline) {
            Ok(answer) => {
                lock(&self.idle).push(worker);
                answer
            }
            Err(RecvTimeoutError::Timeout) => {
                let text = format!("more than {} ms", self.limits.deadline.as_millis());
                Err(Failure { cause: Cause::TimedOut, text })
            }
            Err(RecvTimeoutError::Disconnected) => Err(died(&mut worker)),
        }
    }

    fn start(&self) -> io::Result<Worker> {
        let mut command = (self.command)();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match self.limits.memory {
            Some(bytes) => command.env(MEMORY, bytes.to_string()),
            None => command.env_remove(MEMORY),
        };
        let mut child = command.spawn()?;
        let gone = || io::Error::other("its streams are gone");
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let mut stderr = child.stderr.take().ok_or_else(gone)?;
        let (answer, answers) = channel();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Ok(read) = read_answer(&mut stdout) {
                if answer.send(read).is_err() {
                    return;
                }
            }
        });
        let said = Arc::new(Mutex::new(Said::default()));
        let kept = Arc::clone(&said);
        let (end, stderr_ended) = channel();
        thread::spawn(move || {
            let _end = end;
            let mut chunk = [0; 1024];
            while let Ok(length @ 1..) = stderr.read(&mut chunk) {
                lock(&kept).add(chunk.get(..length).unwrap_or_default());
            }
        });
        Ok(Worker { child, stdin, answers, stderr: said, stderr_ended })
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// How a process came to an end that gave no answer.
fn died(worker: &mut Worker) -> Failure {
    let status = worker.child.wait();
    // Not for ever: what the process started may have its standard error, too, and live on.
    let _ = worker.stderr_ended.recv_timeout(LAST_WORDS);
    let said = lock(&worker.stderr);
    let cause = if said.is_out_of_memory { Cause::OutOfMemory } else { Cause::Crashed };
    let said = String::from_utf8_lossy(&said.tail).trim().to_owned();
    let how = status.map_or_else(|error| error.to_string(), describe);
    let last = said.lines().next_back().unwrap_or_default();
    Failure { cause, text: if last.is_empty() { how } else { format!("{how}; {last}") } }
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.to_string()
}

/// Skips what is no answer, and reads one.
fn read_answer(from: &mut impl Read) -> io::Result<Result<Vec<u8>, Failure>> {
    let mut last = [0; MARK.len()];
    while last != MARK {
        let mut next = [0];
        from.read_exact(&mut next)?;
        last.rotate_left(1);
        last[MARK.len() - 1] = next[0];
    }
    let mut status = [0];
    from.read_exact(&mut status)?;
    let bytes = read_bytes(from)?;
    let no_failure = || Failure { cause: Cause::Crashed, text: "an answer that says nothing".into() };
    Ok(match status {
        [0] => Ok(bytes),
        _ => Err(Failure::from_bytes(&bytes).unwrap_or_else(no_failure)),
    })
}

/// Reads bytes behind their length.
fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Memory is taken as bytes come, whatever the length says.
    let mut bytes = Vec::new();
    from.take(length.into()).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// In a process that [`Workers`] started: answers requests with `work` until there are no more. A panic is the failure of its
/// request.
///
/// # Errors
/// Standard input or output is gone, as they are when the parent is.
pub fn serve(mut work: impl FnMut(&[u8]) -> Result<Vec<u8>, Failure>) -> io::Result<()> {
    limit_memory();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let request = match read_bytes(&mut input) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            request => request?,
        };
        // Where standard error is closed, nothing that is said of the request arrives either.
        let _ = io::stderr().write_all(&REQUEST);
        let (status, bytes) = match attempt(|| work(&request)) {
            Ok(bytes) => (0, bytes),
            Err(failure) => (1, failure.to_bytes()),
        };
        let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LONGEST);
        let length = length.ok_or(io::ErrorKind::FileTooLarge)?;
        output.write_all(&MARK)?;
        output.write_all(&[status])?;
        output.write_all(&length.to_le_bytes())?;
        output.write_all(&bytes)?;
        output.flush()?;
    }
}

/// Takes the limit of the environment. Where there is none to be set, the system's own stays.
fn limit_memory() {
    #[cfg(target_os = "linux")]
    if let Some(bytes) = std::env::var(MEMORY).ok().and_then(|bytes| bytes.parse().ok()) {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_an_end_is_found_before_a_long_backtrace() {
        let said_in = |text: &str, length| {
            let mut said = Said::default();
            text.as_bytes().chunks(length).for_each(|chunk| said.add(chunk));
            said
        };
        let frames = "   0: frame\n".repeat(1000);
        for length in 1..60 {
            let text = format!("{frames}memory allocation of 16777216 bytes failed\n{frames}end");
            let said = said_in(&text, length);
            assert!(
                said.is_out_of_memory && said.tail.ends_with(b"end") && said.tail.len() == STDERR,
                "{length}"
            );
            assert!(!said_in(&frames, length).is_out_of_memory);
            assert!(
                said_in("terminate called after throwing an instance of 'std::bad_alloc'", length)
                    .is_out_of_memory
            );
        }
    }

    #[test]
    fn what_is_said_of_a_request_is_told_from_what_was_said_before() {
        let text =
            [&b"memory allocation of 1 bytes failed"[..], &REQUEST, b"a bug", &REQUEST, b"signal"].concat();
        for length in 1..text.len() {
            let mut said = Said::default();
            text.chunks(length).for_each(|chunk| said.add(chunk));
            assert_eq!((&said.tail[..], said.is_out_of_memory), (&b"signal"[..], false), "{length}");
        }
    }

    #[test]
    fn an_answer_is_found_among_what_drivers_print() {
        let mut stream = b"MESA: warning\n\nXGWOR\nXGWORK\x02".to_vec();
        for (status, bytes) in [(0, b"answer".to_vec()), (1, Failure::refused("no").to_bytes())] {
            stream.extend(MARK);
            stream.push(status);
            stream.extend((bytes.len() as u32).to_le_bytes());
            stream.extend(bytes);
            stream.extend(b"noise");
        }
        let mut from = &*stream;
        assert_eq!(read_answer(&mut from).unwrap(), Ok(b"answer".to_vec()));
        assert_eq!(read_answer(&mut from).unwrap(), Err(Failure::refused("no")));
        assert!(read_answer(&mut from).is_err());
        let huge = [&MARK[..], &[0], &u32::MAX.to_le_bytes()].concat();
        assert!(read_answer(&mut &*huge).is_err());
    }
}
