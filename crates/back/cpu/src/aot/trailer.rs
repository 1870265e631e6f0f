//! What a library says of itself, behind its last byte: whether it is whole, what it was made of and for.

use super::VERSION;
use crate::state::State;
use std::ops::Range;
use thiserror::Error;
use xenoglot_mips::lift::layout;

const MAGIC: &[u8; 8] = b"xga lib\0";
/// Bytes of the fields behind the ranges.
const FIXED: usize = 4 + 4 + 32 + 32 + 8 + 32 + 8;
/// Bytes of a range.
const RANGE: usize = 4 + 4 + 32;
/// Most ranges.
const MOST_RANGES: usize = 1 << 16;

/// A hash.
pub(super) type Hash = [u8; 32];

pub(super) fn hash(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

/// Code of the program that a library was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) range: Range<u32>,
    pub(super) hash: Hash,
}

/// The processor that a library needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// x86-64-v2: SSE4.1.
    V2 = 2,
    /// x86-64-v3: AVX2, BMI2, LZCNT, MOVBE.
    V3 = 3,
}

impl Level {
    /// That of this host; `None` where it is none of them.
    pub(super) fn of_host() -> Option<Level> {
        use std::arch::is_x86_feature_detected as has;
        let v2 = has!("sse4.2") && has!("ssse3") && has!("popcnt");
        let v3 =
            has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("movbe") && has!("fma");
        match (v2, v3) {
            (true, true) => Some(Level::V3),
            (true, false) => Some(Level::V2),
            _ => None,
        }
    }

    /// The compiler's name for it.
    pub(super) fn march(self) -> &'static str {
        match self {
            Level::V2 => "-march=x86-64-v2",
            Level::V3 => "-march=x86-64-v3",
        }
    }
}

/// What a library says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) level: u32,
    /// The program's code where it was loaded.
    pub(super) code: Vec<Code>,
    /// The program's file.
    pub(super) elf: Hash,
    /// What the library relies on of this crate.
    pub(super) abi: Hash,
}

/// A name for all that libraries rely on: the layout of the state, and how code is lifted and written.
pub(super) fn abi() -> Hash {
    let text = format!(
        "{VERSION} {} {} {} {} {} {} {} {}",
        xenoglot_mips::VERSION,
        layout::SIZE,
        State::STACK_LIMIT,
        State::FAULT_PC,
        State::FAULT_PENDING,
        State::WINDOW,
        State::FUEL,
        State::STACK,
    );
    hash(text.as_bytes())
}

/// The description at the end of a library's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The BLAKE3 hash of the program's file.
    pub elf: [u8; 32],
    /// Where the program's code is, at the addresses at which the library runs.
    pub code: Vec<Range<u32>>,
    /// Whether it was made by this version.
    pub is_current: bool,
    /// Whether it was made for a processor that the host's is one of.
    pub runs_here: bool,
}

/// Why a file is no library of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no library of a program: {0}")]
pub struct NotALibrary(pub(super) &'static str);

/// Describes the library in a file, without loading it: the bytes need not be trusted.
///
/// # Errors
/// The file is no library, or it is truncated.
pub fn describe(file: &[u8]) -> Result<Description, NotALibrary> {
    let trailer = Trailer::read(file).map_err(NotALibrary)?;
    let (is_current, runs_here) = (trailer.is_current(), trailer.runs_here());
    let code = trailer.code.into_iter().map(|code| code.range).collect();
    Ok(Description { elf: trailer.elf, code, is_current, runs_here })
}

impl Trailer {
    /// Whether this version made the library.
    pub(super) fn is_current(&self) -> bool {
        self.abi == abi()
    }

    /// Whether the host has the processor that it needs.
    pub(super) fn runs_here(&self) -> bool {
        Level::of_host().is_some_and(|level| self.level <= level as u32)
    }

    /// The bytes to append to a library.
    pub(super) fn write(&self, library: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.code.len() * RANGE + FIXED);
        for code in &self.code {
            out.extend(code.range.start.to_le_bytes());
            out.extend(code.range.end.to_le_bytes());
            out.extend(code.hash);
        }
        out.extend((self.code.len() as u32).to_le_bytes());
        out.extend(self.level.to_le_bytes());
        out.extend(self.elf);
        out.extend(self.abi);
        out.extend((library.len() as u64).to_le_bytes());
        let mut all = blake3::Hasher::new();
        all.update(library).update(&out);
        out.extend(all.finalize().as_bytes());
        out.extend(MAGIC);
        out
    }

    /// Reads it from the end of a file.
    pub(super) fn read(file: &[u8]) -> Result<Trailer, &'static str> {
        const SHORT: &str = "it is too short";
        let (rest, magic) = file.split_last_chunk().ok_or(SHORT)?;
        if magic != MAGIC {
            return Err("its end has no mark");
        }
        let (rest, whole) = rest.split_last_chunk::<32>().ok_or(SHORT)?;
        if hash(rest) != *whole {
            return Err("it is not as it was made");
        }
        let (rest, length) = rest.split_last_chunk().ok_or(SHORT)?;
        let (rest, &abi) = rest.split_last_chunk().ok_or(SHORT)?;
        let (rest, &elf) = rest.split_last_chunk().ok_or(SHORT)?;
        let (rest, level) = rest.split_last_chunk().ok_or(SHORT)?;
        let (rest, count) = rest.split_last_chunk().ok_or(SHORT)?;
        let count = u32::from_le_bytes(*count) as usize;
        let ranges = rest.len().checked_sub(count.min(MOST_RANGES) * RANGE).ok_or(SHORT)?;
        if count > MOST_RANGES || ranges as u64 != u64::from_le_bytes(*length) {
            return Err("its lengths do not fit");
        }
        let code = rest.get(ranges..).unwrap_or_default().chunks_exact(RANGE).map(|chunk| {
            let (start, rest) = chunk.split_first_chunk()?;
            let (end, rest) = rest.split_first_chunk()?;
            let range = u32::from_le_bytes(*start)..u32::from_le_bytes(*end);
            Some(Code { range, hash: *rest.first_chunk()? })
        });
        let code: Option<Vec<Code>> = code.collect();
        Ok(Trailer { level: u32::from_le_bytes(*level), code: code.ok_or(SHORT)?, elf, abi })
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, MAGIC, Trailer, abi, hash};
    use xenoglot_testgen::property::{budget, rng};

    #[test]
    fn what_is_written_is_read_and_damage_is_seen() {
        let trailer = Trailer {
            level: 2,
            code: vec![Code { range: 0x40_0000..0x40_0100, hash: hash(b"code") }],
            elf: hash(b"elf"),
            abi: abi(),
        };
        let library = b"\x7fELF and more";
        let file = [library.as_slice(), &trailer.write(library)].concat();
        assert_eq!(Trailer::read(&file), Ok(trailer));
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert!(Trailer::read(&damaged).is_err(), "{at}");
            assert!(Trailer::read(&file[..at]).is_err(), "{at}");
        }
    }

    /// Random bytes with a correct hash and mark appended: whatever is accepted is written back to the same bytes.
    #[test]
    fn any_bytes_are_read_or_refused() {
        let mut rng = rng(1);
        let mut read = 0;
        for _ in 0..budget(20_000, 2_000_000) {
            let mut bytes: Vec<u8> = (0..rng.below(400)).map(|_| rng.below(256) as u8).collect();
            // Lengths and counts that fit are rare by chance.
            if let Some(place) = bytes.len().checked_sub(8 + 32 + 32 + 4 + 4) {
                let count = rng.below(4);
                bytes[place..place + 4].copy_from_slice(&count.to_le_bytes());
                let length = (place as u64).wrapping_sub(40 * u64::from(count));
                let end = bytes.len();
                bytes[end - 8..].copy_from_slice(&length.to_le_bytes());
            }
            let whole = hash(&bytes);
            let file = [&bytes[..], &whole, MAGIC].concat();
            if let Ok(trailer) = Trailer::read(&file) {
                read += 1;
                let length = bytes.len() - trailer.code.len() * 40 - 80;
                assert_eq!([&bytes[..length], &trailer.write(&bytes[..length])].concat(), file);
            }
        }
        assert!(read > 1000, "{read}");
    }
}
