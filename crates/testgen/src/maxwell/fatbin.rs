//! Fat binaries of given members.

use xenoglot_maxwell::container::fatbin::{Compression, Kind, MAGIC};

/// A member to be written.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// What it is.
    pub kind: Kind,
    /// The architecture's number.
    pub sm: u32,
    /// Its contents.
    pub contents: &'a [u8],
    /// How it is stored.
    pub compression: Option<Compression>,
}

/// A fat binary of one container.
pub fn fat_binary(members: &[Member]) -> Vec<u8> {
    let all: Vec<u8> = members.iter().flat_map(member).collect();
    let header = [1u16.to_le_bytes(), 16u16.to_le_bytes()].concat();
    [&MAGIC[..], &header, &(all.len() as u64).to_le_bytes(), &all].concat()
}

fn member(member: &Member) -> Vec<u8> {
    let (mut stored, flag) = match member.compression {
        None => (member.contents.to_vec(), 0),
        Some(Compression::Lz4) => (lz4_flex::block::compress(member.contents), 0x2000),
        Some(Compression::Zstd) => {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            (ruzstd::encoding::compress_to_vec(member.contents, level), 0x8000)
        }
    };
    let compressed = member.compression.map_or(0, |_| stored.len() as u32);
    let whole = member.compression.map_or(0, |_| member.contents.len() as u64);
    stored.resize(stored.len().next_multiple_of(8), 0);
    let kind = match member.kind {
        Kind::Ptx => 1,
        Kind::Cubin => 2,
        Kind::Other(number) => number,
    };
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let start = words(&[u32::from(kind) | 0x101 << 16, 64]);
    let middle = words(&[compressed, 0, 7 | 1 << 16, member.sm, 0, 0, 0x11 | flag, 0, 0, 0]);
    [&start[..], &(stored.len() as u64).to_le_bytes(), &middle, &whole.to_le_bytes(), &stored].concat()
}

/// An ELF file for a host with a section `.nv_fatbin`.
pub fn in_library(section: &[u8]) -> Vec<u8> {
    const NAMES: &[u8] = b"\0.nv_fatbin\0.shstrtab\0";
    const HEADER: u64 = 64;
    let padded = section.len().next_multiple_of(8) as u64;
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    // A shared library for x86-64.
    header.extend([3u16, 62].iter().flat_map(|v| v.to_le_bytes()));
    header.extend(1u32.to_le_bytes());
    header.extend([0, 0, HEADER + padded + 24].iter().flat_map(|v: &u64| v.to_le_bytes()));
    header.extend(0u32.to_le_bytes());
    header.extend([64u16, 0, 0, 64, 3, 2].iter().flat_map(|v| v.to_le_bytes()));
    let sections =
        [[0; 4], [1, 1, HEADER, section.len() as u64], [12, 3, HEADER + padded, NAMES.len() as u64]];
    let table = sections.iter().flat_map(|&[name, kind, offset, size]| {
        let mut entry = [(name as u32).to_le_bytes(), (kind as u32).to_le_bytes()].concat();
        entry.extend([0, 0, offset, size, 0, 8, 0].iter().flat_map(|v: &u64| v.to_le_bytes()));
        entry
    });
    let table: Vec<u8> = table.collect();
    let mut body = section.to_vec();
    body.resize(padded as usize, 0);
    let mut names = NAMES.to_vec();
    names.resize(24, 0);
    [header, body, names, table].concat()
}
