//! Dumps in pictures: the chunk `ndSf` of a PNG.

use super::Problem;

/// First bytes of a PNG.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
/// The chunk.
const TAG: [u8; 4] = *b"ndSf";

/// Where the dump is in a file; all of it, unless it is a PNG. Checksums of a PNG are not looked at: what is in the dump is
/// checked.
pub fn find(bytes: &[u8]) -> Result<std::ops::Range<usize>, (usize, Problem)> {
    if !bytes.starts_with(&SIGNATURE) {
        return Ok(0..bytes.len());
    }
    let mut at = SIGNATURE.len();
    // Length, tag, contents, checksum.
    while let Some(&[a, b, c, d, ref tag @ ..]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let start = at + 8;
        let end = start.saturating_add(u32::from_be_bytes([a, b, c, d]) as usize);
        if *tag == TAG {
            return match end.checked_sub(bytes.len()) {
                None | Some(0) => Ok(start..end),
                Some(missing) => Err((bytes.len(), Problem::Truncated(missing))),
            };
        }
        at = end.saturating_add(4);
    }
    Err((bytes.len(), Problem::NoChunk))
}
