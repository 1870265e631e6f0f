//! Paths of a guest to files of the host, below folders that they cannot leave.
//!
//! A path is walked component by component, each opened in the folder before it and never followed by the host: a
//! symbolic link is read here, and the path that it makes is walked anew from the guest's root, as another folder may have
//! what it leads to; `..` goes back to the folder that was walked through. A file that is exchanged for a link meanwhile is
//! refused, not followed.

use crate::linux::abi::Errno;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Links that a path may lead through, as on Linux.
const MAX_LINKS: u32 = 40;
/// Bytes of a path, as on Linux.
const MAX_PATH: usize = 4096;

/// A folder of the host that a guest sees as its root.
#[derive(Debug)]
struct Layer {
    root: OwnedFd,
    writable: bool,
}

/// The folders a guest sees; what the first does not have is looked for in the next.
#[derive(Debug, Default)]
pub(in crate::linux) struct Root {
    layers: Vec<Layer>,
}

/// Where a path leads.
#[derive(Debug)]
pub(in crate::linux) struct Place {
    /// The folder, for the host.
    pub dir: OwnedFd,
    /// The name in it: one component; `.` for the folder itself.
    pub name: Vec<u8>,
    /// The path from the guest's root, without links.
    pub path: Vec<u8>,
    /// Whether the guest may change it.
    pub writable: bool,
}

/// What a walk came to.
#[derive(Debug)]
enum Walked {
    Place(Place),
    /// A link: the path that it makes of the one walked, from the guest's root.
    Link(Vec<u8>),
}

/// Where a path is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum Purpose {
    /// Something that exists, in any of the folders.
    Find,
    /// Something that is made or changed: only in the first folder, and only when it may be written.
    Change,
}

fn components(path: &[u8]) -> impl DoubleEndedIterator<Item = Vec<u8>> + '_ {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec)
}

/// `path` seen from the folder `base`, both of the guest; no links are looked at.
pub(in crate::linux) fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    let mut out = if path.starts_with(b"/") { Vec::new() } else { base.to_vec() };
    out.push(b'/');
    out.extend(path);
    out
}

/// The path without `.`, `..` and empty components, as text only.
pub(in crate::linux) fn normal(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for part in components(path) {
        match part.as_slice() {
            b"." => {}
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    text(&parts)
}

fn text<'a>(parts: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        out.push(b'/');
        out.extend(part);
    }
    if out.is_empty() { b"/".to_vec() } else { out }
}

impl Root {
    /// Adds a folder below those there are.
    pub fn add(&mut self, path: &std::path::Path, writable: bool) -> std::io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.layers.push(Layer { root: rustix::fs::open(path, flags, Mode::empty())?, writable });
        Ok(())
    }

    /// Where an absolute path leads. The last component need not exist; when it is a link, `follow` says whether the
    /// place is where that leads.
    pub fn resolve(&self, path: &[u8], follow: bool, purpose: Purpose) -> Result<Place, Errno> {
        let mut path = path.to_vec();
        for _ in 0..=MAX_LINKS {
            if path.len() > MAX_PATH {
                return Err(Errno::ENAMETOOLONG);
            }
            match self.walk(&path, follow, purpose)? {
                Walked::Place(place) => return Ok(place),
                Walked::Link(target) => path = target,
            }
        }
        Err(Errno::ELOOP)
    }

    /// Walks a path to its end or to the first link, in the first folder that has either.
    fn walk(&self, path: &[u8], follow: bool, purpose: Purpose) -> Result<Walked, Errno> {
        if purpose == Purpose::Change {
            let layer = self.layers.first().filter(|layer| layer.writable).ok_or(Errno::EROFS)?;
            return layer.walk(path, follow);
        }
        let mut answer = Err(Errno::ENOENT);
        for layer in &self.layers {
            match layer.walk(path, follow) {
                Ok(Walked::Place(place)) if !exists(&place) => {
                    if answer.is_err() {
                        answer = Ok(Walked::Place(place));
                    }
                }
                Ok(walked) => return Ok(walked),
                Err(error) if answer.is_err() && error != Errno::ENOENT => answer = Err(error),
                Err(_) => {}
            }
        }
        answer
    }
}

fn exists(place: &Place) -> bool {
    rustix::fs::statat(&place.dir, place.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Where a link in `dir` leads; `None` when it is none.
fn link(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        other => other?,
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    Ok(Some(rustix::fs::readlinkat(dir, name, Vec::new())?.into_bytes()))
}

impl Layer {
    fn walk(&self, path: &[u8], follow: bool) -> Result<Walked, Errno> {
        // A path that ends with a slash is a folder.
        let folder = path.ends_with(b"/");
        let mut todo: VecDeque<Vec<u8>> = components(path).collect();
        let mut folders: Vec<(Vec<u8>, OwnedFd)> = Vec::new();
        while let Some(name) = todo.pop_front() {
            let dir = folders.last().map_or(self.root.as_fd(), |(_, fd)| fd.as_fd());
            match name.as_slice() {
                b"." => continue,
                b".." => {
                    folders.pop();
                    continue;
                }
                _ => {}
            }
            let last = todo.is_empty();
            if (!last || follow || folder)
                && let Some(target) = link(dir, &name)?
            {
                // Folders that were walked through are no links: their names lead to them again.
                let before = folders.iter().map(|(name, _)| name).filter(|_| !target.starts_with(b"/"));
                let target: Vec<Vec<u8>> = components(&target).collect();
                let mut path = text(before.chain(&target).chain(&todo));
                if folder {
                    path.push(b'/');
                }
                return Ok(Walked::Link(path));
            }
            if last && folder {
                // What is there must be one.
                let stat = rustix::fs::statat(dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
                if stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory) {
                    return Err(Errno::ENOTDIR);
                }
            }
            if last {
                let dir = dir.try_clone_to_owned().map_err(|_| Errno::EMFILE)?;
                let path = text(folders.iter().map(|(name, _)| name).chain([&name]));
                return Ok(Walked::Place(Place { dir, name, path, writable: self.writable }));
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = rustix::fs::openat(dir, name.as_slice(), flags, Mode::empty())?;
            folders.push((name, fd));
        }
        let dir = folders.last().map_or(self.root.as_fd(), |(_, fd)| fd.as_fd());
        let dir = dir.try_clone_to_owned().map_err(|_| Errno::EMFILE)?;
        let path = text(folders.iter().map(|(name, _)| name));
        Ok(Walked::Place(Place { dir, name: b".".to_vec(), path, writable: self.writable }))
    }
}
