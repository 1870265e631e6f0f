//! A capture from bytes and from a file.

use crate::chunk;
use crate::error::{Damage, Error};
use crate::{Block, Capture, Frame, MAGIC, VERSION};
use std::path::Path;

/// Bounds on what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all chunks together, unpacked.
    pub bytes: u64,
}

impl Default for Limits {
    /// One gigabyte.
    fn default() -> Self {
        Limits { bytes: 1 << 30 }
    }
}

/// Pixels in a row, and rows, of a frame.
const MAX_SIDE: u32 = 8192;

impl Capture {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Io`], and what [`Capture::from_bytes`] answers.
    pub fn load(path: &Path, limits: &Limits) -> Result<Capture, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::Io { path: path.into(), source })?;
        Capture::from_bytes(&bytes, limits)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// Bytes that are no capture, a later version, and damage, with what was read before it.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Capture, Error> {
        let Some((head, mut rest)) = bytes.split_first_chunk::<16>() else { return Err(Error::Magic) };
        let [magic @ .., v0, v1, v2, v3, m0, m1, m2, m3] = *head;
        if magic != MAGIC {
            let as_text = magic.starts_with(&MAGIC[..4]);
            return Err(if as_text { Error::LineEnds } else { Error::Magic });
        }
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if version == 0 || version > VERSION {
            return Err(Error::Version(version));
        }
        let mut capture = Capture { machine: [m0, m1, m2, m3], ..Capture::default() };
        let mut left = limits.bytes;
        for number in 0.. {
            let offset = (bytes.len() - rest.len()) as u64;
            let read = match rest {
                [] => Err((*b"    ", Damage::NoEnd)),
                _ => chunk::read(rest).and_then(|(chunk, after)| {
                    let payload = chunk.unpack(left).map_err(|damage| (chunk.tag, damage))?;
                    left -= payload.len() as u64;
                    let more = capture.take(chunk.tag, &payload).map_err(|damage| (chunk.tag, damage))?;
                    Ok((more, after))
                }),
            };
            match read {
                Ok((true, after)) => rest = after,
                Ok((false, _)) => break,
                Err((tag, damage)) => {
                    let recovered = Box::new(capture);
                    return Err(Error::Chunk { number, tag, offset, damage, recovered });
                }
            }
        }
        Ok(capture)
    }

    /// Takes in a chunk; false if it is the last.
    fn take(&mut self, tag: [u8; 4], payload: &[u8]) -> Result<bool, Damage> {
        let contents = |what, at| Err(Damage::Contents { what, at });
        match &tag {
            b"INFO" => match serde_json::from_slice(payload) {
                Ok(info) => self.info = info,
                Err(e) => return contents("description", e.column()),
            },
            b"REGS" => {
                let (pairs, rest) = payload.as_chunks::<8>();
                if !rest.is_empty() {
                    return contents("register", payload.len() - rest.len());
                }
                let pair = |&[a, b, c, d, e, f, g, h]: &[u8; 8]| {
                    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
                };
                self.registers.extend(pairs.iter().map(pair));
            }
            b"MEMB" => match payload.split_first_chunk() {
                Some((address, bytes)) => {
                    self.memory.push(Block { address: u32::from_le_bytes(*address), bytes: bytes.into() });
                }
                None => return contents("address", 0),
            },
            b"OPER" => {
                if let Err(at) = self.ops.append(payload) {
                    return contents("operation", at);
                }
            }
            b"FRAM" => self.frames.push(frame(payload)?),
            b"DONE" => return Ok(false),
            // As in PNG, a small first letter says that a reader may pass over the chunk.
            [first, ..] if first.is_ascii_lowercase() => {}
            _ => return Err(Damage::Unknown),
        }
        Ok(true)
    }
}

fn frame(payload: &[u8]) -> Result<Frame, Damage> {
    let Some((head, rgba)) = payload.split_first_chunk::<12>() else {
        return Err(Damage::Contents { what: "frame", at: 0 });
    };
    let word = |at: usize| head.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
    let (index, width, height) = (word(0), word(4), word(8));
    let sides = [width, height].iter().all(|side| (1..=MAX_SIDE).contains(side));
    if !sides || rgba.len() as u64 != 4 * u64::from(width) * u64::from(height) {
        return Err(Damage::Contents { what: "frame size", at: 4 });
    }
    Ok(Frame { index, width, height, rgba: rgba.into() })
}
