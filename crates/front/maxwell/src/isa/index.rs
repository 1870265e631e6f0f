//! The form of a word, by its upper 13 bits.

use super::form::{COUNT, FORMS, FormId};

/// Bits of the index.
const BITS: u32 = 13;
const SHIFT: u32 = 64 - BITS;
const SIZE: usize = 1 << BITS;
/// Forms that share their upper bits and are told apart by lower ones.
const SLOTS: usize = 4;
const EMPTY: u16 = u16::MAX;

static INDEX: [[u16; SLOTS]; SIZE] = {
    let mut index = [[EMPTY; SLOTS]; SIZE];
    let mut form = 0;
    while form < COUNT {
        let mask = (FORMS.0[form].mask >> SHIFT) as usize;
        let value = (FORMS.0[form].value >> SHIFT) as usize;
        // Every setting of the bits that the form leaves open.
        let open = !mask & (SIZE - 1);
        let mut setting = 0;
        loop {
            let entry = &mut index[value | setting];
            let mut slot = 0;
            while entry[slot] != EMPTY {
                let other = &FORMS.0[entry[slot] as usize];
                let both = FORMS.0[form].mask & other.mask;
                assert!((FORMS.0[form].value ^ other.value) & both != 0, "two forms match one word");
                slot += 1;
                assert!(slot < SLOTS, "too many forms share their upper bits");
            }
            entry[slot] = form as u16;
            setting = setting.wrapping_sub(open) & open;
            if setting == 0 {
                break;
            }
        }
        form += 1;
    }
    index
};

/// The form that a word matches.
pub(crate) fn find(word: u64) -> Option<FormId> {
    let slots = &INDEX[(word >> SHIFT) as usize];
    slots
        .iter()
        .take_while(|id| **id != EMPTY)
        .map(|id| FormId(*id))
        .find(|id| word & FORMS[*id].mask == FORMS[*id].value)
}
