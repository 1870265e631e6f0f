//! Which operand descriptor each instruction uses.
//!
//! Instructions share descriptors, and an instruction cares only for the bits of the sources it has, so two may share
//! one that neither fills alone. The first that agrees is taken, in order of the code, as picasso does. The
//! disassembler runs the same allocation to see which descriptors it must spell out.

use crate::inst::Format;
use crate::program::MAX_DESCRIPTORS;

/// Descriptors that MAD and MADI reach.
const MAD_REACH: usize = 32;

/// What an instruction wants of its descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Want {
    /// The bits it obeys.
    pub(crate) bits: u32,
    /// What they should be.
    pub(crate) value: u32,
    /// How many descriptors it can reach.
    pub(crate) reach: usize,
    /// The index the source asks for.
    pub(crate) forced: Option<u8>,
}

/// How many descriptors an instruction of this format can reach.
pub(crate) fn reach(format: Format) -> usize {
    match format {
        Format::Mad | Format::MadInverted => MAD_REACH,
        _ => MAX_DESCRIPTORS,
    }
}

/// Why an instruction gets no descriptor: the number of the want, and what stood at the index it forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// None agrees and there is no room for another.
    Full(usize),
    /// The forced one disagrees.
    Disagrees(usize, u32),
}

/// An entry of a descriptor table in the making.
#[derive(Clone, Copy)]
struct Entry {
    value: u32,
    /// Bits that some instruction relies on.
    used: u32,
}

/// Gives every want an index, starting from the `fixed` table.
pub(crate) fn allocate(fixed: &[u32], wants: &[Want]) -> Result<(Vec<u32>, Vec<u8>), Failure> {
    let in_order: Vec<usize> = (0..wants.len()).collect();
    allocate_in(fixed, wants, &in_order).or_else(|_| {
        // Instructions of short reach first, where the plain order left them no room.
        let mut by_reach = in_order;
        by_reach.sort_by_key(|&i| wants[i].reach);
        allocate_in(fixed, wants, &by_reach)
    })
}

fn allocate_in(fixed: &[u32], wants: &[Want], order: &[usize]) -> Result<(Vec<u32>, Vec<u8>), Failure> {
    let mut table: Vec<Entry> = fixed.iter().map(|&value| Entry { value, used: !0 }).collect();
    let mut indices = vec![0; wants.len()];
    for &i in order {
        let want = &wants[i];
        let agrees = |entry: &Entry| (entry.value ^ want.value) & want.bits & entry.used == 0;
        let index = match want.forced {
            Some(forced) => {
                let index = usize::from(forced);
                // Beyond the table the memory is zero, and stays so: a forced index never makes the table longer.
                let entry = table.get(index).copied().unwrap_or(Entry { value: 0, used: !0 });
                if !agrees(&entry) {
                    return Err(Failure::Disagrees(i, entry.value));
                }
                index
            }
            None => match table.iter().take(want.reach).position(agrees) {
                Some(index) => index,
                None if table.len() < want.reach => {
                    table.push(Entry { value: 0, used: 0 });
                    table.len() - 1
                }
                None => return Err(Failure::Full(i)),
            },
        };
        if let Some(entry) = table.get_mut(index) {
            entry.value |= want.value & want.bits & !entry.used;
            entry.used |= want.bits;
        }
        // At most 128 entries are in reach.
        indices[i] = index as u8;
    }
    Ok((table.iter().map(|entry| entry.value).collect(), indices))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(bits: u32, value: u32) -> Want {
        Want { bits, value, reach: MAX_DESCRIPTORS, forced: None }
    }

    #[test]
    fn instructions_with_fewer_sources_share() {
        let (one, two) = (want(0xff, 0x0012), want(0xffff, 0x3412));
        assert_eq!(allocate(&[], &[one, two, one]), Ok((vec![0x3412], vec![0, 0, 0])));
        let other = want(0xffff, 0x5512);
        assert_eq!(allocate(&[], &[one, two, other]), Ok((vec![0x3412, 0x5512], vec![0, 0, 1])));
    }

    #[test]
    fn short_reach_goes_first_when_room_is_short() {
        let mut wants: Vec<Want> = (0..40).map(|i| want(!0, i)).collect();
        wants.push(Want { reach: MAD_REACH, ..want(!0, 99) });
        let (table, indices) = allocate(&[], &wants).unwrap();
        assert_eq!((table[0], indices[40]), (99, 0));
        assert_eq!((table.len(), indices[0]), (41, 1));
    }

    #[test]
    fn a_full_table_is_an_error() {
        let wants: Vec<Want> = (0..129).map(|i| want(!0, i)).collect();
        assert_eq!(allocate(&[], &wants), Err(Failure::Full(128)));
        assert!(allocate(&[], &wants[..128]).is_ok());
    }

    #[test]
    fn a_forced_descriptor_must_agree() {
        let forced = |value, index| Want { forced: Some(index), ..want(0xff, value) };
        assert_eq!(allocate(&[1, 2], &[forced(2, 1)]), Ok((vec![1, 2], vec![1])));
        assert_eq!(allocate(&[1, 2], &[forced(2, 0)]), Err(Failure::Disagrees(0, 1)));
        assert_eq!(allocate(&[1, 2], &[forced(0, 7)]), Ok((vec![1, 2], vec![7])));
        assert_eq!(allocate(&[1, 2], &[forced(3, 7)]), Err(Failure::Disagrees(0, 0)));
    }
}
