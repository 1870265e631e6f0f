//! Readers for the parts of the oracle's files that these tests use (vectors/pica/FORMAT.md).

use std::io::Read;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// One conversion of picafloats.
pub struct FloatCase {
    /// Width: 24, 20 or 16.
    pub kind: u8,
    /// The narrow word.
    pub raw: u32,
    /// The IEEE single.
    pub single: u32,
}

/// The static part of one program of picavec.
#[allow(dead_code, reason = "each test binary uses its own part")]
pub struct ProgramCase {
    pub id: u32,
    pub geometry: bool,
    pub entry: u16,
    pub code: Vec<u32>,
    pub descriptors: Vec<u32>,
}

fn unpack(name: &str) -> Vec<u8> {
    let path = root().join("vectors/pica").join(name);
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(file).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn words(bytes: &[u8], at: usize, n: usize) -> Vec<u32> {
    (0..n).map(|i| word(bytes, at + 4 * i)).collect()
}

/// All conversions of picafloats.
#[allow(dead_code, reason = "each test binary uses its own part")]
pub fn floats() -> Vec<FloatCase> {
    let bytes = unpack("picafloats.bin.zst");
    assert_eq!(&bytes[..8], b"PICF0001");
    let n = word(&bytes, 8) as usize;
    let record =
        |at: usize| FloatCase { kind: bytes[at], raw: word(&bytes, at + 1), single: word(&bytes, at + 5) };
    (0..n).map(|i| record(12 + 9 * i)).collect()
}

/// All programs of the public picavec set.
#[allow(dead_code, reason = "each test binary uses its own part")]
pub fn programs() -> Vec<ProgramCase> {
    let bytes = unpack("picavec-public.bin.zst");
    assert_eq!(&bytes[..8], b"PICV0001");
    let mut at = 12;
    let mut cases = Vec::new();
    for _ in 0..word(&bytes, 8) {
        let body = at + 4;
        let (n_code, n_desc) = (half(&bytes, body + 12) as usize, half(&bytes, body + 14) as usize);
        let code_at = body + 22;
        cases.push(ProgramCase {
            id: word(&bytes, body),
            geometry: half(&bytes, body + 6) & 1 != 0,
            entry: half(&bytes, body + 8),
            code: words(&bytes, code_at, n_code),
            descriptors: words(&bytes, code_at + 4 * n_code, n_desc),
        });
        at = body + word(&bytes, at) as usize;
    }
    assert_eq!(at, bytes.len());
    cases
}
