//! Which operand descriptor each instruction uses.
//!
//! Instructions share descriptors. With [`Layout::Plain`], an instruction uses only the bits of the sources it has, so two may
//! share a descriptor that neither fills alone. In order of the code, each takes the first descriptor that agrees with it in
//! those bits. The disassembler runs the same allocation to see which descriptors it must spell out.
//!
//! With [`Layout::Picasso`], lanes that an instruction does not read need not agree either ([`bits_read`]); a new descriptor has
//! in them what the source text says. A descriptor of a MAD that is out of its reach changes places with the first one that no
//! MAD uses.

use super::Layout;
use crate::desc::{Component, Descriptor, Mask};
use crate::inst::{Format, Opcode};
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

/// The bits of a descriptor that have an effect on an operation with this mask, as picasso has it.
pub(crate) fn bits_read(op: Opcode, mask: Mask) -> u32 {
    use Component::{W, X, Y, Z};
    let unwritten = || Component::ALL.into_iter().filter(|&lane| !mask.contains(lane)).collect();
    let all = [true; 3];
    // Lanes that are not read, and of which sources.
    let (lanes, sources): (Vec<Component>, [bool; 3]) = match op {
        Opcode::Add | Opcode::Mul | Opcode::Sge | Opcode::Sgei | Opcode::Slt | Opcode::Slti => {
            (unwritten(), all)
        }
        Opcode::Flr | Opcode::Max | Opcode::Min | Opcode::Mov | Opcode::Mad | Opcode::Madi => {
            (unwritten(), all)
        }
        Opcode::Dp3 => (vec![W], all),
        Opcode::Dph | Opcode::Dphi => (vec![W], [true, false, false]),
        Opcode::Ex2 | Opcode::Lg2 | Opcode::Rcp | Opcode::Rsq => (vec![Y, Z, W], all),
        Opcode::Mova => {
            let address = [X, Y].into_iter().filter(|&lane| !mask.contains(lane));
            (address.chain([Z, W]).collect(), all)
        }
        // Picasso compares the second source whole.
        Opcode::Cmp => (vec![Z, W], [true, false, false]),
        _ => (Vec::new(), all),
    };
    let unread = sources.iter().enumerate().filter(|(_, unread)| **unread).fold(0, |bits, (source, _)| {
        lanes.iter().fold(bits, |bits, lane| bits | Descriptor::lane_bits(source, *lane))
    });
    op.descriptor_bits() & !unread
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
pub(crate) fn allocate(
    fixed: &[u32],
    wants: &[Want],
    layout: Layout,
) -> Result<(Vec<u32>, Vec<u8>), Failure> {
    // Sources that force an index are not written for picasso.
    if layout == Layout::Picasso && wants.iter().all(|want| want.forced.is_none()) {
        return as_picasso(fixed, wants);
    }
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

fn as_picasso(fixed: &[u32], wants: &[Want]) -> Result<(Vec<u32>, Vec<u8>), Failure> {
    let mut table: Vec<Entry> = fixed.iter().map(|&value| Entry { value, used: !0 }).collect();
    let mut indices: Vec<u8> = Vec::with_capacity(wants.len());
    let mut of_mad = [false; MAD_REACH];
    // What `.desc` gives a place stays there.
    of_mad.iter_mut().take(fixed.len()).for_each(|taken| *taken = true);
    for (i, want) in wants.iter().enumerate() {
        let agrees = |entry: &Entry| (entry.value ^ want.value) & want.bits & entry.used == 0;
        let mut index = table.iter().position(agrees).unwrap_or(table.len());
        match table.get_mut(index) {
            Some(entry) => {
                entry.value = entry.value & !want.bits | want.value & want.bits;
                entry.used |= want.bits;
            }
            None if index < MAX_DESCRIPTORS => table.push(Entry { value: want.value, used: want.bits }),
            None => return Err(Failure::Full(i)),
        }
        if index >= want.reach {
            let nearer = of_mad.iter().position(|taken| !taken).ok_or(Failure::Full(i))?;
            table.swap(nearer, index);
            for other in &mut indices {
                match usize::from(*other) {
                    n if n == nearer => *other = index as u8,
                    n if n == index => *other = nearer as u8,
                    _ => {}
                }
            }
            index = nearer;
        }
        if want.reach == MAD_REACH
            && let Some(taken) = of_mad.get_mut(index)
        {
            *taken = true;
        }
        indices.push(index as u8);
    }
    Ok((table.iter().map(|entry| entry.value).collect(), indices))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(fixed: &[u32], wants: &[Want]) -> Result<(Vec<u32>, Vec<u8>), Failure> {
        super::allocate(fixed, wants, Layout::Plain)
    }

    #[test]
    fn picasso_compares_lanes_that_are_read() {
        // RCP reads x alone: the rest of the first source does not matter, and is then that of the second instruction.
        let bits = bits_read(Opcode::Rcp, Mask::ALL);
        assert_eq!(bits, 0xf | 1 << 4 | 3 << 11);
        let (one, two) = (want(bits, 0x00f), want(!0, 0x7ef));
        assert_eq!(super::allocate(&[], &[one, two], Layout::Picasso), Ok((vec![0x7ef], vec![0, 0])));
        // A new one has what the source says in all lanes.
        let new = want(bits, 0x7ef);
        assert_eq!(super::allocate(&[], &[new], Layout::Picasso), Ok((vec![0x7ef], vec![0])));
        let xz = Mask::NONE.with(Component::X).with(Component::Z);
        assert_eq!(bits_read(Opcode::Mov, xz), 0xf | 1 << 4 | 3 << 11 | 3 << 7);
        assert_eq!(bits_read(Opcode::Dp4, xz), Opcode::Dp4.descriptor_bits());
    }

    #[test]
    fn picasso_moves_the_descriptor_of_a_mad_into_reach() {
        let mut wants: Vec<Want> = (0..40).map(|i| want(!0, i)).collect();
        wants.push(Want { reach: MAD_REACH, ..want(!0, 99) });
        wants.push(Want { reach: MAD_REACH, ..want(!0, 98) });
        wants.push(want(!0, 0));
        let (table, indices) = super::allocate(&[], &wants, Layout::Picasso).unwrap();
        assert_eq!([table[0], table[1], table[40], table[41]], [99, 98, 0, 1]);
        assert_eq!([0, 1, 2, 40, 41, 42].map(|i| indices[i]), [40, 41, 2, 0, 1, 40]);
    }

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
