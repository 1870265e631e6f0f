//! Chunks: tag, lengths, checksum, payload.

use crate::error::Damage;
use std::io::Read;

/// `tag`, compression, stored length, unpacked length, checksum.
pub(crate) const HEAD: usize = 4 + 4 + 8 + 8 + 4;

/// As it is in the file.
const STORED: u32 = 0;
/// A zstd frame.
const ZSTD: u32 = 1;

/// Below this, compression is not tried.
const SMALL: usize = 64;

/// A chunk whose checksum is right.
pub(crate) struct Chunk<'a> {
    pub(crate) tag: [u8; 4],
    compression: u32,
    stored: &'a [u8],
    unpacked: u64,
}

/// Appends a chunk, compressed if that makes it smaller.
pub(crate) fn write(out: &mut Vec<u8>, tag: [u8; 4], payload: &[u8]) {
    let packed = (payload.len() >= SMALL)
        .then(|| ruzstd::encoding::compress_to_vec(payload, ruzstd::encoding::CompressionLevel::Fastest))
        .filter(|packed| packed.len() < payload.len());
    let (compression, stored) = match &packed {
        Some(packed) => (ZSTD, packed.as_slice()),
        None => (STORED, payload),
    };
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(&tag);
    head.extend_from_slice(&compression.to_le_bytes());
    head.extend_from_slice(&(stored.len() as u64).to_le_bytes());
    head.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    let checksum = checksum(&head, stored);
    out.extend_from_slice(&head);
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(stored);
}

fn checksum(head: &[u8], stored: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(stored);
    hasher.finalize()
}

/// A chunk and what is after it, or the tag of one that is damaged.
type Found<'a> = Result<(Chunk<'a>, &'a [u8]), ([u8; 4], Damage)>;

/// The chunk at the start of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Found<'_> {
    let tag = bytes.first_chunk::<4>().copied().unwrap_or(*b"    ");
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
        return Err((tag, Damage::Truncated { missing: (HEAD - bytes.len()) as u64 }));
    };
    let word = |at: usize| head.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    let (compression, length, unpacked, stored_sum) = (word(4), long(8), long(16), word(24));
    let whole = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let Some((stored, after)) = whole else {
        return Err((tag, Damage::Truncated { missing: length.saturating_sub(rest.len() as u64) }));
    };
    let found = checksum(head.get(..24).unwrap_or(head), stored);
    if found != stored_sum {
        return Err((tag, Damage::Checksum { stored: stored_sum, found }));
    }
    Ok((Chunk { tag, compression, stored, unpacked }, after))
}

impl Chunk<'_> {
    /// The payload, at most `limit` bytes.
    pub(crate) fn unpack(&self, limit: u64) -> Result<Vec<u8>, Damage> {
        if self.unpacked > limit {
            return Err(Damage::TooLarge { size: self.unpacked, limit });
        }
        let zstd = |e: &dyn std::fmt::Display| Damage::Zstd(e.to_string());
        let out = match self.compression {
            STORED => self.stored.to_vec(),
            ZSTD => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(self.stored).map_err(|e| zstd(&e))?;
                let mut out = Vec::new();
                // One byte more than announced shows that there is more.
                decoder.take(self.unpacked + 1).read_to_end(&mut out).map_err(|e| zstd(&e))?;
                out
            }
            other => return Err(Damage::Compression(other)),
        };
        if out.len() as u64 != self.unpacked {
            return Err(Damage::Zstd(format!("{} bytes instead of {}", out.len(), self.unpacked)));
        }
        Ok(out)
    }
}
