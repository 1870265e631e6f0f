//! Finds SHBINs inside anything: executables, archives, memory dumps.
//!
//! A candidate counts only if the whole file parses, so stray magics do not show up. The search is linear in the
//! data: candidates are found by their magic, and the bytes read in vain or more than once while parsing them are
//! bounded by a multiple of the data's length.

use super::reader::Reader;
use super::shbin::{self, Shbin};
use super::{ContainerError, Limits};

/// A SHBIN found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Byte offset in the data.
    pub offset: usize,
    /// Bytes up to the end of its last section.
    pub len: usize,
    /// What it holds.
    pub shbin: Shbin,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// The files, in order of their offsets; they do not overlap.
    pub found: Vec<Found>,
    /// Magics that no valid file follows, with the reason; only the first [`MAX_REJECTED`] are kept.
    pub rejected: Vec<(usize, ContainerError)>,
    /// Where the search gave up because parsing candidates had used up its budget; `None` if it saw all the data.
    pub gave_up_at: Option<usize>,
}

/// How many rejected magics an [`Extraction`] keeps.
pub const MAX_REJECTED: usize = 64;

/// Bytes that may be read in vain, per byte of data.
const WORK_PER_BYTE: u64 = 16;
/// Bytes that may be read in vain in any case.
const WORK_FLOOR: u64 = 1 << 20;

/// Finds every SHBIN in `data`.
pub fn extract(data: &[u8], limits: &Limits) -> Extraction {
    let mut result = Extraction::default();
    let mut budget = WORK_FLOOR.saturating_add((data.len() as u64).saturating_mul(WORK_PER_BYTE));
    let finder = memchr::memmem::Finder::new(b"DVLB");
    let mut at = 0;
    while let Some(step) = data.get(at..).and_then(|rest| finder.find(rest)) {
        let offset = at + step;
        if budget == 0 {
            result.gave_up_at = Some(offset);
            break;
        }
        let reader = Reader::new(&data[offset..], limits);
        match shbin::parse(&reader, limits) {
            Ok(shbin) => {
                let len = reader.extent();
                budget = budget.saturating_sub(reader.work().saturating_sub(len as u64));
                result.found.push(Found { offset, len, shbin });
                at = offset + len;
            }
            Err(reason) => {
                budget = budget.saturating_sub(reader.work());
                if result.rejected.len() < MAX_REJECTED {
                    result.rejected.push((offset, reason));
                }
                at = offset + 4;
            }
        }
    }
    result
}
