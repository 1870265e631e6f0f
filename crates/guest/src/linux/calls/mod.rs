//! System calls: how they are found, what they are given, and how they answer.
//!
//! A handler that has to wait answers [`Answer::Wait`] and is asked again later, with the same registers: it must not have
//! done anything then.

mod epoll;
mod file;
mod futex;
mod memory;
mod path;
mod poll;
pub(super) mod process;
mod signal;
mod socket;
mod system;
mod table;
mod time;

pub(super) use memory::flush_all;
pub(super) use signal::ignores_children;
pub use table::calls;

use super::abi::{Errno, Layout, Set, flags, stat::Time};
use super::fs::File;
use super::process::{Process, Stop, Thread};
use super::signals::Info;
use crate::cpu::{Cpu, reg};
use crate::memory::{Memory, PAGE_BYTES};
use rustix::event::PollFlags;

/// What a call waits for. Whatever it is, the call is asked again at the latest at its deadline.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// Time on the monotonic clock.
    pub deadline: Option<u64>,
    pub files: Vec<(File, PollFlags)>,
    /// A futex: address and bits.
    pub futex: Option<(u32, u32)>,
    /// Whether the call starts again behind a handler that asks for that (`SA_RESTART`).
    pub restarts: bool,
}

/// What a call answers.
#[derive(Debug)]
pub(super) enum Answer {
    Value(u32),
    /// A second value in `v1`.
    Pair(u32, u32),
    Wait(Wait),
    /// The registers are as they shall be.
    Untouched,
    Stop(Stop),
}

pub(super) type Reply = Result<Answer, Errno>;

/// The answer of a call that has nothing to say.
pub(super) const DONE: Reply = Ok(Answer::Value(0));

pub(super) fn value(value: u32) -> Reply {
    Ok(Answer::Value(value))
}

/// Bytes that are moved at a time between a guest and a file.
pub(super) const CHUNK: usize = 1 << 16;
/// Bytes of a path.
const MAX_PATH: u32 = 4096;
/// Calls that libraries and tools try first, and do without: no reason to warn.
const TRIED: &[&str] = &["rseq", "clone3", "sendfile64", "copy_file_range"];
const NANOS: u64 = 1_000_000_000;

/// A call: who makes it, and with what.
pub(super) struct Call<'a> {
    pub process: &'a mut Process,
    pub cpu: &'a mut Cpu,
    pub memory: &'a mut Memory,
    arguments: [u32; 8],
    /// A signal ends the wait: the call is asked for the last time.
    pub interrupted: bool,
}

/// Answers the call whose number is in `v0`.
pub(super) fn dispatch(
    process: &mut Process,
    cpu: &mut Cpu,
    memory: &mut Memory,
    interrupted: bool,
) -> Reply {
    let stack = |n: u32| {
        let mut bytes = [0; 4];
        // What cannot be read is zero, as for the kernel, which loads them for every call.
        let _ = memory.read_bytes(cpu.get(reg::SP).wrapping_add(4 * n), &mut bytes);
        cpu.endian.word(bytes)
    };
    let mut arguments = [0; 8];
    for (n, argument) in arguments.iter_mut().enumerate() {
        *argument = if n < 4 { cpu.get(reg::A0 + n) } else { stack(n as u32) };
    }
    let mut number = cpu.get(reg::V0);
    if number == table::BASE {
        // `syscall`: the number is the first argument.
        number = arguments[0];
        arguments.rotate_left(1);
    }
    let row = table::find(number);
    let Some(handler) = row.and_then(|row| row.handler) else {
        if process.shared.first_time(number) {
            let name = row.map_or("no call of o32", |row| row.name);
            if TRIED.contains(&name) {
                tracing::debug!(number, name, "system call is not supported: ENOSYS");
            } else {
                tracing::warn!(number, name, "system call is not supported: ENOSYS");
            }
        }
        return Err(Errno::ENOSYS);
    };
    let mut call = Call { process, cpu, memory, arguments, interrupted };
    let reply = handler(&mut call);
    if let Some(row) = row {
        let pid = call.process.pid;
        tracing::trace!(pid, name = row.name, arguments = ?arguments.map(|a| format!("{a:#x}")), ?reply, "call");
    }
    reply
}

impl Call<'_> {
    /// Argument `n`, from 0.
    pub fn arg(&self, n: usize) -> u32 {
        self.arguments.get(n).copied().unwrap_or_default()
    }

    /// The 64 bits in arguments `n` and `n + 1`.
    pub fn wide(&self, n: usize) -> u64 {
        let (a, b) = (self.arg(n), self.arg(n + 1));
        let (high, low) = if self.cpu.endian == xenoglot_mips::Endian::Big { (a, b) } else { (b, a) };
        u64::from(high) << 32 | u64::from(low)
    }

    pub fn file(&self, n: usize) -> Result<File, Errno> {
        self.process.files.get(self.arg(n)).cloned()
    }

    pub fn thread(&mut self) -> Result<&mut Thread, Errno> {
        self.process.thread_mut().ok_or(Errno::ESRCH)
    }

    /// The call's state of waiting, when it is not asked for the first time.
    pub fn resumed(&self) -> Option<&Wait> {
        self.process.thread()?.blocked.as_ref().map(|blocked| &blocked.wait)
    }

    /// The deadline of a call: that of the first time, or so many nanoseconds from now.
    pub fn deadline(&self, nanos: Option<u64>) -> Option<u64> {
        match self.resumed() {
            Some(wait) => wait.deadline,
            None => nanos.map(|nanos| self.process.shared.monotonic().saturating_add(nanos)),
        }
    }

    pub fn expired(&self, deadline: Option<u64>) -> bool {
        deadline.is_some_and(|deadline| self.process.shared.monotonic() >= deadline)
    }

    pub fn layout(&self) -> Layout {
        Layout::new(self.cpu.endian)
    }

    pub fn word(&self, address: u32) -> Result<u32, Errno> {
        let mut bytes = [0; 4];
        self.memory.read_bytes(address, &mut bytes)?;
        Ok(self.cpu.endian.word(bytes))
    }

    pub fn put(&mut self, address: u32, bytes: &[u8]) -> Result<(), Errno> {
        self.memory.write_bytes(address, bytes)?;
        Ok(())
    }

    pub fn put_word(&mut self, address: u32, word: u32) -> Result<(), Errno> {
        let bytes = self.layout().u32(word).bytes;
        self.put(address, &bytes)
    }

    pub fn get(&self, address: u32, length: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; length.min(1 << 20)];
        self.memory.read_bytes(address, &mut bytes)?;
        Ok(bytes)
    }

    /// A string that ends with zero.
    pub fn text(&self, address: u32, limit: u32) -> Result<Vec<u8>, Errno> {
        let mut out: Vec<u8> = Vec::new();
        let mut at = address;
        while (out.len() as u32) < limit {
            let count = (PAGE_BYTES - at % PAGE_BYTES).min(limit - out.len() as u32);
            let mut bytes = vec![0; count as usize];
            self.memory.read_bytes(at, &mut bytes)?;
            if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
                bytes.truncate(end);
                out.extend(bytes);
                return Ok(out);
            }
            out.extend(bytes);
            at = at.wrapping_add(count);
        }
        Err(Errno::ENAMETOOLONG)
    }

    /// A path in argument `n`.
    pub fn path(&self, n: usize) -> Result<Vec<u8>, Errno> {
        self.text(self.arg(n), MAX_PATH)
    }

    /// A set of signals, of the size the program says it has.
    pub fn set(&self, address: u32, size: u32) -> Result<Set, Errno> {
        if size != 16 {
            return Err(Errno::EINVAL);
        }
        let mut words = [0; 4];
        for (n, word) in words.iter_mut().enumerate() {
            *word = self.word(address.wrapping_add(4 * n as u32))?;
        }
        Ok(Set::from_words(words))
    }

    pub fn put_set(&mut self, address: u32, set: Set) -> Result<(), Errno> {
        let bytes = self.layout().words(set.words()).bytes;
        self.put(address, &bytes)
    }

    /// A time of two words, or with `wide` of two of 64 bits; in nanoseconds.
    pub fn time(&self, address: u32, wide: bool) -> Result<u64, Errno> {
        let time = self.timespec(address, wide)?;
        if time.seconds < 0 || u64::from(time.nanos) >= NANOS {
            return Err(Errno::EINVAL);
        }
        Ok((time.seconds as u64).saturating_mul(NANOS).saturating_add(time.nanos.into()))
    }

    pub fn timespec(&self, address: u32, wide: bool) -> Result<Time, Errno> {
        let at = |n: u32| self.word(address.wrapping_add(4 * n));
        if !wide {
            return Ok(Time { seconds: i64::from(at(0)? as i32), nanos: at(1)? });
        }
        let words = [at(0)?, at(1)?, at(2)?, at(3)?];
        let [high, low, _, nanos] = match self.cpu.endian {
            xenoglot_mips::Endian::Big => words,
            xenoglot_mips::Endian::Little => [words[1], words[0], words[3], words[2]],
        };
        Ok(Time { seconds: (u64::from(high) << 32 | u64::from(low)) as i64, nanos })
    }

    pub fn put_time(&mut self, address: u32, nanos: u64, wide: bool) -> Result<(), Errno> {
        let (seconds, nanos) = (nanos / NANOS, nanos % NANOS);
        let layout = self.layout();
        let layout =
            if wide { layout.u64(seconds).u64(nanos) } else { layout.u32(seconds as u32).u32(nanos as u32) };
        self.put(address, &layout.bytes)
    }

    /// Sends a signal to the thread that makes the call.
    pub fn raise(&mut self, info: Info) {
        if let Some(thread) = self.process.thread_mut() {
            thread.pending.push(info);
        }
    }

    /// The absolute path that `path` is, seen from the folder of descriptor `fd`.
    pub fn absolute(&self, fd: u32, path: &[u8]) -> Result<Vec<u8>, Errno> {
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        if path.starts_with(b"/") || fd == flags::AT_FDCWD {
            return Ok(super::fs::resolve::join(&self.process.cwd, path));
        }
        let file = self.process.files.get(fd)?;
        if !file.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        Ok(super::fs::resolve::join(&file.path, path))
    }
}
