//! Files that every program may have, whatever its root: devices without a device, and `/proc/self`.

use super::Node;
use crate::linux::abi::stat::Stat;

const S_IFREG: u32 = 0o100_000;
const S_IFCHR: u32 = 0o020_000;

/// The device of a path.
pub(in crate::linux) fn device(path: &[u8]) -> Option<Node> {
    match path {
        b"/dev/null" => Some(Node::Null),
        b"/dev/zero" => Some(Node::Zero { full: false }),
        b"/dev/full" => Some(Node::Zero { full: true }),
        b"/dev/random" | b"/dev/urandom" => Some(Node::Random),
        _ => None,
    }
}

pub(in crate::linux) fn stat(node: &Node) -> Stat {
    // The numbers of Linux's memory devices.
    let minor = match node {
        Node::Null => 3,
        Node::Zero { full: false } => 5,
        Node::Zero { full: true } => 7,
        Node::Random => 9,
        Node::Host { .. } | Node::Event(_) | Node::Epoll(_) | Node::Bytes(_) => 0,
    };
    let size = if let Node::Bytes(bytes) = node { bytes.len() as u64 } else { 0 };
    let mode = if minor == 0 { S_IFREG | 0o444 } else { S_IFCHR | 0o666 };
    let rdev = if minor == 0 { 0 } else { rustix::fs::makedev(1, minor) };
    Stat {
        dev: 1,
        ino: 1 + u64::from(minor),
        mode,
        links: 1,
        rdev,
        size,
        block_size: 4096,
        ..Stat::default()
    }
}
