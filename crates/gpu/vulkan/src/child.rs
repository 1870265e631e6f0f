//! Child processes that cannot hang or flood their parent.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How much of a child's standard error is kept: the last so many bytes.
const STDERR_BYTES: usize = 4096;

/// A child whose streams are served by threads. Killed on drop.
pub(crate) struct Guarded {
    child: Child,
    /// Lines for its standard input; `None` once that is closed.
    input: Option<Sender<Vec<u8>>>,
    lines: Receiver<Vec<u8>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_closed: Receiver<()>,
}

/// Why there is no further line.
pub(crate) enum NoLine {
    /// The child closed its output.
    Closed,
    Timeout,
}

impl Guarded {
    /// Starts a child. Of its output, a line longer than `longest_line` bytes comes in pieces.
    pub(crate) fn start(command: &mut Command, longest_line: u64) -> std::io::Result<Guarded> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (send_line, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || forward_lines(stdout, longest_line, &send_line));
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let (send_closed, stderr_closed) = channel();
        if let Some(pipe) = child.stderr.take() {
            let tail = Arc::clone(&stderr);
            std::thread::spawn(move || {
                keep_tail(pipe, &tail);
                // The parent may be gone.
                let _ = send_closed.send(());
            });
        }
        let (input, to_write) = channel::<Vec<u8>>();
        if let Some(mut stdin) = child.stdin.take() {
            // A child that does not read its input blocks this thread only; killing the child ends it.
            std::thread::spawn(move || to_write.iter().try_for_each(|line| stdin.write_all(&line)));
        }
        Ok(Guarded { child, input: Some(input), lines, stderr, stderr_closed })
    }

    /// Hands the child bytes to read. That it no longer reads shows in what it answers.
    pub(crate) fn write(&self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            let _ = input.send(bytes);
        }
    }

    /// Tells the child that no more input comes.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line of output, with its line break.
    pub(crate) fn line(&self, deadline: Instant) -> Result<Vec<u8>, NoLine> {
        self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|error| {
            match error {
                RecvTimeoutError::Timeout => NoLine::Timeout,
                RecvTimeoutError::Disconnected => NoLine::Closed,
            }
        })
    }

    /// The exit status of a child that has closed its output; one that lingers is killed.
    pub(crate) fn finish(&mut self) -> std::io::Result<ExitStatus> {
        const LINGER: Duration = Duration::from_secs(2);
        // Its standard error closes when it ends. A grandchild may hold the pipe, hence the limit.
        let _ = self.stderr_closed.recv_timeout(LINGER);
        match self.child.try_wait()? {
            Some(status) => Ok(status),
            None => {
                // Closed streams come a moment before the exit status.
                std::thread::sleep(Duration::from_millis(50));
                match self.child.try_wait()? {
                    Some(status) => Ok(status),
                    None => {
                        self.child.kill()?;
                        self.child.wait()
                    }
                }
            }
        }
    }

    /// The end of what it wrote to standard error so far.
    pub(crate) fn stderr(&self) -> String {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).trim().to_owned()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Both fail only for a child that is already gone and waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward_lines(stdout: impl Read, longest: u64, lines: &Sender<Vec<u8>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(longest).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) || lines.send(line).is_err() {
            return;
        }
    }
}

fn keep_tail(mut pipe: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(length @ 1..) = pipe.read(&mut chunk) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(chunk.get(..length).unwrap_or_default());
        let excess = tail.len().saturating_sub(STDERR_BYTES);
        tail.drain(..excess);
    }
}

/// How a process ended, with the name of the signal that killed it.
pub(crate) fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        // The numbers POSIX fixes, and SIGBUS as Linux has it.
        let name = match signal {
            4 => "SIGILL",
            5 => "SIGTRAP",
            6 => "SIGABRT",
            7 => "SIGBUS",
            8 => "SIGFPE",
            9 => "SIGKILL",
            11 => "SIGSEGV",
            15 => "SIGTERM",
            _ => return format!("signal {signal}"),
        };
        return format!("signal {signal}, {name}");
    }
    status.to_string()
}
