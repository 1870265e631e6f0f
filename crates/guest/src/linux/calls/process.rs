//! Processes and threads.

use super::{Answer, Call, DONE, NANOS, Reply, Wait, value};
use crate::cpu::{Cpu, reg};
use crate::linux::Status;
use crate::linux::abi::{Errno, Signal, flags};
use crate::linux::loader::{self, Start};
use crate::linux::process::{MAX_THREADS, Stop, Thread};
use std::sync::Arc;

/// Bytes of the first line of a script, and how often a script may be run by a script.
const MAX_LINE: usize = 256;
const MAX_SCRIPTS: u32 = 4;
/// Arguments and variables of a program.
const MAX_STRINGS: usize = 1 << 17;
/// Bytes of one of them.
const MAX_STRING: u32 = 128 << 10;

/// A process that becomes two.
#[derive(Debug)]
pub struct Fork {
    pub(in crate::linux) pid: u32,
    pub(in crate::linux) cpu: Cpu,
    /// The child uses the memory of its parent, which waits until the child has one of its own or ends.
    pub(in crate::linux) borrows: bool,
    pub(in crate::linux) clear_tid: u32,
    /// A word of the child's that takes its number.
    pub(in crate::linux) set_tid: u32,
}

pub(super) fn exit(call: &mut Call<'_>) -> Reply {
    let code = call.arg(0);
    if call.process.threads.len() == 1 {
        return Ok(Answer::Stop(call.process.end(Status::Exited(code & 0xff))));
    }
    let clear = call.thread()?.clear_tid;
    if clear != 0 && call.put_word(clear, 0).is_ok() {
        super::futex::wake(call.process, clear, 1, u32::MAX);
    }
    call.process.remove_thread(call.cpu);
    Ok(Answer::Stop(Stop::Yield))
}

pub(super) fn exit_group(call: &mut Call<'_>) -> Reply {
    let code = call.arg(0);
    Ok(Answer::Stop(call.process.end(Status::Exited(code & 0xff))))
}

pub(super) fn sched_yield(call: &mut Call<'_>) -> Reply {
    call.cpu.set(reg::V0, 0);
    call.cpu.set(reg::A3, 0);
    Ok(Answer::Stop(Stop::Yield))
}

/// The processor that a new thread or process starts with.
fn child_cpu(call: &Call<'_>, stack: u32) -> Cpu {
    let mut cpu = call.cpu.clone();
    cpu.set(reg::V0, 0);
    cpu.set(reg::A3, 0);
    if stack != 0 {
        cpu.set(reg::SP, stack);
    }
    cpu
}

pub(super) fn fork(call: &mut Call<'_>) -> Reply {
    split(call, Fork { pid: 0, cpu: child_cpu(call, 0), borrows: false, clear_tid: 0, set_tid: 0 })
}

fn split(call: &mut Call<'_>, mut fork: Fork) -> Reply {
    let mut table = call.process.shared.table();
    if table.running() >= call.process.shared.config.processes {
        return Err(Errno::EAGAIN);
    }
    fork.pid = table.number();
    drop(table);
    call.cpu.set(reg::V0, fork.pid);
    call.cpu.set(reg::A3, 0);
    Ok(Answer::Stop(Stop::Fork(Box::new(fork))))
}

pub(super) fn clone(call: &mut Call<'_>) -> Reply {
    let (bits, stack, parent_tid, tls, child_tid) =
        (call.arg(0), call.arg(1), call.arg(2), call.arg(3), call.arg(4));
    let mut cpu = child_cpu(call, stack);
    if bits & flags::CLONE_SETTLS != 0 {
        cpu.tls = tls;
    }
    let clear_tid = if bits & flags::CLONE_CHILD_CLEARTID != 0 { child_tid } else { 0 };
    if bits & flags::CLONE_THREAD == 0 {
        let borrows = bits & flags::CLONE_VM != 0;
        // A process that shares memory and runs beside its parent is neither a thread nor a process here.
        if borrows && bits & flags::CLONE_VFORK == 0 {
            return Err(Errno::EINVAL);
        }
        let set_tid = if bits & flags::CLONE_CHILD_SETTID != 0 { child_tid } else { 0 };
        return split(call, Fork { pid: 0, cpu, borrows, clear_tid, set_tid });
    }
    if bits & flags::CLONE_VM == 0 {
        return Err(Errno::EINVAL);
    }
    if call.process.threads.len() >= MAX_THREADS {
        return Err(Errno::EAGAIN);
    }
    let tid = call.process.shared.table().number();
    for (bit, address) in [(flags::CLONE_PARENT_SETTID, parent_tid), (flags::CLONE_CHILD_SETTID, child_tid)] {
        if bits & bit != 0 {
            call.put_word(address, tid)?;
        }
    }
    let mask = call.thread()?.mask;
    let mut thread = Thread::new(tid, cpu, mask);
    thread.clear_tid = clear_tid;
    call.process.threads.push(thread);
    value(tid)
}

pub(super) fn set_tid_address(call: &mut Call<'_>) -> Reply {
    let address = call.arg(0);
    call.thread()?.clear_tid = address;
    value(call.process.tid())
}

pub(super) fn set_thread_area(call: &mut Call<'_>) -> Reply {
    call.cpu.tls = call.arg(0);
    DONE
}

/// A list of strings that ends with zero.
fn strings(call: &Call<'_>, mut address: u32) -> Result<Vec<Vec<u8>>, Errno> {
    let mut out = Vec::new();
    while address != 0 {
        let text = call.word(address)?;
        if text == 0 {
            break;
        }
        if out.len() >= MAX_STRINGS {
            return Err(Errno::E2BIG);
        }
        out.push(call.text(text, MAX_STRING).map_err(|e| if e == Errno::EFAULT { e } else { Errno::E2BIG })?);
        address = address.wrapping_add(4);
    }
    Ok(out)
}

/// The interpreter of a script and its argument.
fn shebang(bytes: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let line = bytes.strip_prefix(b"#!")?;
    let line = line.get(..line.len().min(MAX_LINE))?.split(|&byte| byte == b'\n').next()?;
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (path, argument) = line.split_at_checked(end)?;
    let argument = argument.trim_ascii();
    (!path.is_empty()).then(|| (path.to_vec(), (!argument.is_empty()).then(|| argument.to_vec())))
}

pub(super) fn execve(call: &mut Call<'_>) -> Reply {
    let mut path = call.absolute(flags::AT_FDCWD, &call.path(0)?)?;
    let mut arguments = strings(call, call.arg(1))?;
    let environment = strings(call, call.arg(2))?;
    let shared = Arc::clone(&call.process.shared);
    let mut scripts = 0;
    let (bytes, path) = loop {
        let own = crate::linux::fs::resolve::normal(&path) == b"/proc/self/exe";
        let (bytes, found) = if own || path == call.process.program.path {
            (Arc::clone(&call.process.program.bytes), call.process.program.path.clone())
        } else {
            let access = super::path::permissions(call, &path)?;
            if access & 0o111 == 0 {
                return Err(Errno::EACCES);
            }
            let (bytes, found) = loader::read_file(&shared.root, &path)?;
            (Arc::from(bytes), found)
        };
        let Some((interpreter, argument)) = shebang(&bytes) else { break (bytes, found) };
        scripts += 1;
        if scripts > MAX_SCRIPTS {
            return Err(Errno::ELOOP);
        }
        let script = std::mem::replace(&mut path, call.absolute(flags::AT_FDCWD, &interpreter)?);
        let rest = arguments.split_off(arguments.len().min(1));
        arguments = [interpreter].into_iter().chain(argument).chain([script]).chain(rest).collect();
    };
    let start = Start { path, bytes, arguments: &arguments, environment: &environment };
    let loaded = loader::load(&shared, start).map_err(|error| {
        tracing::info!(%error, "execve");
        error.errno()
    })?;
    Ok(Answer::Stop(Stop::Exec(Box::new(loaded))))
}

/// Which children a call asks for.
fn wanted(pid: i32, child: u32, group: u32, own_group: u32) -> bool {
    match pid {
        -1 => true,
        0 => group == own_group,
        pid if pid > 0 => child == pid as u32,
        pid => group == pid.unsigned_abs(),
    }
}

/// A child that ended, which is forgotten with `reap`; `Ok(None)` when there is one that has not.
fn ended_child(call: &Call<'_>, pid: i32, reap: bool) -> Result<Option<(u32, Status)>, Errno> {
    let own = call.process.pid;
    let mut table = call.process.shared.table();
    let group = table.entries.get(&own).map_or(own, |entry| entry.group);
    let mut any = false;
    let mut found = None;
    for (&child, entry) in table.entries.iter().filter(|(_, entry)| entry.parent == own) {
        if wanted(pid, child, entry.group, group) {
            any = true;
            if let Some(status) = entry.status {
                found = Some((child, status));
                break;
            }
        }
    }
    if let Some((child, _)) = found
        && reap
    {
        table.entries.remove(&child);
    }
    if any { Ok(found) } else { Err(Errno::ECHILD) }
}

const NO_HANG: u32 = 1;

fn wait(call: &mut Call<'_>, usage: u32) -> Reply {
    let (pid, status, options) = (call.arg(0) as i32, call.arg(1), call.arg(2));
    match ended_child(call, pid, true)? {
        Some((child, ended)) => {
            if status != 0 {
                call.put_word(status, ended.word())?;
            }
            if usage != 0 {
                call.put(usage, &[0; 72])?;
            }
            value(child)
        }
        None if options & NO_HANG != 0 => value(0),
        None => Ok(Answer::Wait(Wait { restarts: true, ..Wait::default() })),
    }
}

pub(super) fn waitpid(call: &mut Call<'_>) -> Reply {
    wait(call, 0)
}

pub(super) fn wait4(call: &mut Call<'_>) -> Reply {
    wait(call, call.arg(3))
}

pub(super) fn waitid(call: &mut Call<'_>) -> Reply {
    const NO_REAP: u32 = 0x0100_0000;
    let (kind, id, info, options) = (call.arg(0), call.arg(1), call.arg(2), call.arg(3));
    let pid = match kind {
        0 => -1,
        1 => id as i32,
        2 => (id as i32).wrapping_neg(),
        _ => return Err(Errno::EINVAL),
    };
    match ended_child(call, pid, options & NO_REAP == 0)? {
        Some((pid, ended)) => {
            use crate::linux::abi::{code, sig};
            use crate::linux::signals::{Fields, Info};
            let (code, status) = match ended {
                Status::Exited(status) => (code::CLD_EXITED, status),
                Status::Killed(Signal(number)) => (code::CLD_KILLED, number),
            };
            if info != 0 {
                let fields = Fields::Child { pid, status };
                let bytes = Info { signal: sig::CHLD, code, fields }.layout(call.cpu.endian);
                call.put(info, &bytes)?;
            }
            DONE
        }
        None if options & NO_HANG != 0 => {
            if info != 0 {
                call.put(info, &[0; 128])?;
            }
            DONE
        }
        None => Ok(Answer::Wait(Wait { restarts: true, ..Wait::default() })),
    }
}

/// Calls that succeed and do nothing: there is one user, one processor, and memory is never swapped.
pub(super) fn zero(_: &mut Call<'_>) -> Reply {
    DONE
}

pub(super) fn getpid(call: &mut Call<'_>) -> Reply {
    value(call.process.pid)
}

pub(super) fn gettid(call: &mut Call<'_>) -> Reply {
    value(call.process.tid())
}

/// Who the process belongs to, by the numbers of a process.
fn relation(call: &Call<'_>, pid: u32, of: fn(&crate::linux::shared::Entry) -> u32) -> Reply {
    let pid = if pid == 0 { call.process.pid } else { pid };
    let table = call.process.shared.table();
    value(of(table.entries.get(&pid).ok_or(Errno::ESRCH)?))
}

pub(super) fn getppid(call: &mut Call<'_>) -> Reply {
    relation(call, 0, |entry| entry.parent)
}

pub(super) fn getpgrp(call: &mut Call<'_>) -> Reply {
    relation(call, 0, |entry| entry.group)
}

pub(super) fn getpgid(call: &mut Call<'_>) -> Reply {
    relation(call, call.arg(0), |entry| entry.group)
}

pub(super) fn getsid(call: &mut Call<'_>) -> Reply {
    relation(call, call.arg(0), |entry| entry.session)
}

pub(super) fn setpgid(call: &mut Call<'_>) -> Reply {
    let own = call.process.pid;
    let pid = if call.arg(0) == 0 { own } else { call.arg(0) };
    let group = if call.arg(1) == 0 { pid } else { call.arg(1) };
    let mut table = call.process.shared.table();
    let entry = table.entries.get_mut(&pid).ok_or(Errno::ESRCH)?;
    if pid != own && entry.parent != own {
        return Err(Errno::ESRCH);
    }
    entry.group = group;
    DONE
}

pub(super) fn setsid(call: &mut Call<'_>) -> Reply {
    let own = call.process.pid;
    let mut table = call.process.shared.table();
    let entry = table.entries.get_mut(&own).ok_or(Errno::ESRCH)?;
    (entry.group, entry.session) = (own, own);
    value(own)
}

pub(super) fn umask(call: &mut Call<'_>) -> Reply {
    let new = call.arg(0) & 0o777;
    value(std::mem::replace(&mut call.process.umask, new))
}

pub(super) fn getresid(call: &mut Call<'_>) -> Reply {
    for n in 0..3 {
        call.put_word(call.arg(n), 0)?;
    }
    DONE
}

/// A nice value of 0, as the kernel answers it.
pub(super) fn getpriority(_: &mut Call<'_>) -> Reply {
    value(20)
}

/// A limit: MIPS numbers them in its own way (`asm/resource.h`).
fn limit(call: &Call<'_>, resource: u32) -> Result<u64, Errno> {
    const UNLIMITED: u64 = u64::MAX;
    let config = &call.process.shared.config;
    match resource {
        3 => Ok(config.stack.into()),
        // RLIMIT_NOFILE, RLIMIT_NPROC.
        5 => Ok(1024),
        8 => Ok(config.processes as u64),
        // RLIMIT_AS.
        6 => Ok(config.memory),
        0..16 => Ok(UNLIMITED),
        _ => Err(Errno::EINVAL),
    }
}

pub(super) fn getrlimit(call: &mut Call<'_>) -> Reply {
    // RLIM_INFINITY of o32.
    let limit = limit(call, call.arg(0))?.min(0x7fff_ffff) as u32;
    let bytes = call.layout().words([limit, limit]).bytes;
    call.put(call.arg(1), &bytes)?;
    DONE
}

/// Limits are given from outside: setting one is accepted, and changes nothing.
pub(super) fn prlimit64(call: &mut Call<'_>) -> Reply {
    let (pid, resource, old) = (call.arg(0), call.arg(1), call.arg(3));
    if pid != 0 && pid != call.process.pid {
        return Err(Errno::EPERM);
    }
    let limit = limit(call, resource)?;
    if old != 0 {
        let bytes = call.layout().u64(limit).u64(limit).bytes;
        call.put(old, &bytes)?;
    }
    DONE
}

/// `struct rusage`, with the instructions executed as time, at a thousand million a second.
pub(super) fn getrusage(call: &mut Call<'_>) -> Reply {
    let time = if call.arg(0) as i32 == -1 { 0 } else { call.cpu.retired };
    let words = [(time / NANOS) as u32, (time % NANOS / 1000) as u32];
    let bytes = call.layout().words(words).pad_to(72).bytes;
    call.put(call.arg(1), &bytes)?;
    DONE
}
