//! Files: what a program has open, and where it finds them.

pub(super) mod resolve;
pub(super) mod special;

use super::abi::{Errno, flags, stat::Stat};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Open files of a process.
const MAX_FILES: usize = 1024;

/// What reading and writing does.
#[derive(Debug)]
pub(super) enum Node {
    /// A file, directory or stream of the host.
    Host { fd: OwnedFd, kind: FileType },
    /// `/dev/null`.
    Null,
    /// `/dev/zero`; `/dev/full` when it refuses to be written.
    Zero { full: bool },
    /// `/dev/random` and `/dev/urandom`.
    Random,
    /// A counter (`eventfd`), which is the host's. Its eight bytes are in the guest's order.
    Event(OwnedFd),
    /// What is waited for (`epoll`), by descriptors.
    Epoll(Mutex<BTreeMap<u32, Interest>>),
    /// A file that only this kernel has, such as `/proc/self/maps`.
    Bytes(Arc<[u8]>),
}

/// What `epoll` is asked of a file.
#[derive(Debug)]
pub(super) struct Interest {
    pub file: Weak<Description>,
    pub events: u32,
    /// What the program wants to be told, as it is in its memory.
    pub data: [u8; 8],
}

/// A directory's entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub ino: u64,
    pub kind: u8,
    pub name: Vec<u8>,
}

/// What of an open file changes.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Flags as `F_GETFL` answers them.
    pub flags: u32,
    /// Where reading goes on, in files that only this kernel has and in directories.
    pub offset: u64,
    /// The entries, once a directory was read.
    pub entries: Option<Vec<Entry>>,
}

/// An open file; descriptors that were duplicated or inherited share it.
#[derive(Debug)]
pub(super) struct Description {
    pub node: Node,
    /// Absolute path in the guest; empty when there is none.
    pub path: Vec<u8>,
    /// Both ends are the guest's: nobody outside makes it ready.
    pub inside: bool,
    state: Mutex<State>,
}

/// A shared open file.
pub(super) type File = Arc<Description>;

impl Description {
    pub fn new(node: Node, path: Vec<u8>, flags: u32) -> File {
        let state = Mutex::new(State { flags, ..State::default() });
        Arc::new(Description { node, path, inside: false, state })
    }

    /// An end of a pipe of the guest's.
    pub fn pipe(fd: OwnedFd, flags: u32) -> File {
        let state = Mutex::new(State { flags, ..State::default() });
        let node = Node::Host { fd, kind: FileType::Fifo };
        Arc::new(Description { node, path: Vec::new(), inside: true, state })
    }

    /// A socket of the guest's.
    pub fn socket(fd: OwnedFd, flags: u32) -> File {
        let state = Mutex::new(State { flags, ..State::default() });
        let node = Node::Host { fd, kind: FileType::Socket };
        Arc::new(Description { node, path: Vec::new(), inside: true, state })
    }

    /// A counter of the guest's.
    pub fn event(fd: OwnedFd, flags: u32) -> File {
        let state = Mutex::new(State { flags, ..State::default() });
        Arc::new(Description { node: Node::Event(fd), path: Vec::new(), inside: true, state })
    }

    /// A stream of the host's: its kind is asked for.
    pub fn host(fd: OwnedFd, path: Vec<u8>, flags: u32) -> Result<File, Errno> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        Ok(Description::new(Node::Host { fd, kind }, path, flags))
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn flags(&self) -> u32 {
        self.state().flags
    }

    pub fn readable(&self) -> bool {
        self.flags() & (flags::O_ACCMODE | flags::O_PATH) != 1 && self.flags() & flags::O_PATH == 0
    }

    pub fn writable(&self) -> bool {
        self.flags() & flags::O_ACCMODE != flags::O_RDONLY && self.flags() & flags::O_PATH == 0
    }

    pub fn nonblocking(&self) -> bool {
        self.flags() & flags::O_NONBLOCK != 0
    }

    /// The host's file, and `EINVAL` when there is none.
    pub fn fd(&self) -> Result<&OwnedFd, Errno> {
        match &self.node {
            Node::Host { fd, .. } => Ok(fd),
            _ => Err(Errno::EINVAL),
        }
    }

    pub fn is_directory(&self) -> bool {
        matches!(self.node, Node::Host { kind: FileType::Directory, .. })
    }

    /// Whether reading and writing may have to wait for somebody.
    pub fn may_wait(&self) -> bool {
        matches!(
            self.node,
            Node::Event(_)
                | Node::Host { kind: FileType::Fifo | FileType::CharacterDevice | FileType::Socket, .. }
        )
    }

    /// Which of `wanted` holds now.
    pub fn ready(&self, wanted: PollFlags) -> Result<PollFlags, Errno> {
        let (Node::Host { fd, .. } | Node::Event(fd)) = &self.node else {
            return Ok(wanted & (PollFlags::IN | PollFlags::OUT));
        };
        let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), wanted)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut fds, Some(&now))?;
        Ok(fds.first().map_or(PollFlags::empty(), PollFd::revents))
    }

    pub fn stat(&self) -> Result<Stat, Errno> {
        match &self.node {
            Node::Host { fd, .. } | Node::Event(fd) => Ok(rustix::fs::fstat(fd)?.into()),
            node => Ok(special::stat(node)),
        }
    }

    /// Reads a directory's entries, unless that was done.
    pub fn read_directory(&self) -> Result<(), Errno> {
        let mut state = self.state();
        if state.entries.is_some() {
            return Ok(());
        }
        if !self.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(self.fd()?)? {
            let entry = entry?;
            let kind = match entry.file_type() {
                FileType::Fifo => 1,
                FileType::CharacterDevice => 2,
                FileType::Directory => 4,
                FileType::BlockDevice => 6,
                FileType::RegularFile => 8,
                FileType::Symlink => 10,
                FileType::Socket => 12,
                _ => 0,
            };
            entries.push(Entry { ino: entry.ino(), kind, name: entry.file_name().to_bytes().to_vec() });
        }
        // The host's order is not the same everywhere; a guest's output is.
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        state.entries = Some(entries);
        Ok(())
    }
}

/// A descriptor.
#[derive(Clone, Debug)]
pub(super) struct Descriptor {
    pub file: File,
    /// Closed by `execve`.
    pub close_on_exec: bool,
}

/// The descriptors of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    slots: Vec<Option<Descriptor>>,
}

impl Files {
    pub fn get(&self, fd: u32) -> Result<&File, Errno> {
        Ok(&self.slots.get(fd as usize).and_then(Option::as_ref).ok_or(Errno::EBADF)?.file)
    }

    pub fn get_mut(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        self.slots.get_mut(fd as usize).and_then(Option::as_mut).ok_or(Errno::EBADF)
    }

    /// Puts a file at the lowest free number from `least` on.
    pub fn insert(&mut self, file: File, close_on_exec: bool, least: u32) -> Result<u32, Errno> {
        let least = least as usize;
        if least >= MAX_FILES {
            return Err(Errno::EINVAL);
        }
        let free = (least..MAX_FILES).find(|&fd| self.slots.get(fd).is_none_or(Option::is_none));
        let fd = free.ok_or(Errno::EMFILE)?;
        self.put(fd as u32, Descriptor { file, close_on_exec })?;
        Ok(fd as u32)
    }

    /// Puts a file at a number; what was there is closed.
    pub fn put(&mut self, fd: u32, descriptor: Descriptor) -> Result<(), Errno> {
        let at = fd as usize;
        if at >= MAX_FILES {
            return Err(Errno::EBADF);
        }
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Some(descriptor);
        }
        Ok(())
    }

    pub fn close(&mut self, fd: u32) -> Result<(), Errno> {
        self.slots.get_mut(fd as usize).and_then(Option::take).map(|_| ()).ok_or(Errno::EBADF)
    }

    pub fn close_for_exec(&mut self) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|descriptor| descriptor.close_on_exec) {
                *slot = None;
            }
        }
    }

    pub fn count(&self) -> u32 {
        self.slots.len() as u32
    }
}
