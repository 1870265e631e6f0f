//! The tables of fragment lighting.

use super::super::batch::{Floats, truncate};
use crate::tables::Tables;

/// Numbers of tables in register 0x1C5.
pub mod table {
    /// Distribution 0.
    pub const D0: usize = 0;
    /// Distribution 1.
    pub const D1: usize = 1;
    /// Fresnel.
    pub const FR: usize = 3;
    /// Blue reflection.
    pub const RB: usize = 4;
    /// Green reflection.
    pub const RG: usize = 5;
    /// Red reflection.
    pub const RR: usize = 6;
    /// Spot of light 0.
    pub const SPOT: usize = 8;
    /// Distance attenuation of light 0.
    pub const DISTANCE: usize = 16;
    /// Tables there are.
    pub const COUNT: usize = 24;
}

/// Value and difference to the next.
pub type Entries = [[f32; 2]; 256];

/// Decoded tables, kept while their words stay the same.
#[derive(Clone, Debug, Default)]
pub struct LutCache {
    tables: Vec<Option<Box<Decoded>>>,
}

#[derive(Clone, Debug)]
struct Decoded {
    words: [u32; 256],
    entries: Entries,
}

impl LutCache {
    /// Makes sure that [`LutCache::get`] gives the table `number` as it is in `tables`.
    pub fn prepare(&mut self, tables: &Tables, number: usize) {
        let words = &tables.lighting[number];
        self.tables.resize(table::COUNT, None);
        match &mut self.tables[number] {
            Some(decoded) if decoded.words == *words => {}
            slot => *slot = Some(Box::new(Decoded { words: *words, entries: words.map(entry) })),
        }
    }

    /// The table `number`; none before it is prepared.
    pub fn get(&self, number: usize) -> Option<&Entries> {
        Some(&self.tables.get(number)?.as_ref()?.entries)
    }
}

/// Value in bits 11:0, magnitude of the difference in 22:12, its sign in 23.
pub fn entry(word: u32) -> [f32; 2] {
    let difference = (word >> 12 & 0x7ff) as f32 / 2047.0;
    [(word & 0xfff) as f32 / 4095.0, if word >> 23 & 1 != 0 { -difference } else { difference }]
}

/// How an index comes from its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// -1 to 1, two's complement.
    Signed,
    /// 0 to 1 of the absolute value.
    Absolute,
    /// 0 to 1, negative ones are 0.
    Positive,
}

impl Index {
    /// Of a table with a signed index or not, for a light.
    pub fn new(signed: bool, two_sided: bool) -> Index {
        match (signed, two_sided) {
            (true, _) => Index::Signed,
            (false, true) => Index::Absolute,
            (false, false) => Index::Positive,
        }
    }
}

/// `values` become what the table gives for them, times `scale`.
#[inline(always)]
pub fn look_up(entries: &Entries, index: Index, scale: f32, values: &mut [f32]) {
    match index {
        Index::Signed => each(entries, scale, values, |value| {
            let place = value * 128.0;
            let whole = floor(place).clamp(-128, 127);
            (whole as usize & 0xff, place - whole as f32)
        }),
        Index::Absolute => each(entries, scale, values, |value| unsigned(value.abs())),
        Index::Positive => each(entries, scale, values, |value| unsigned(value.max(0.0))),
    }
}

/// The table's values for numbers that are 0 to 1.
#[inline(always)]
pub fn look_up_unit(entries: &Entries, values: &mut Floats, lanes: usize) {
    each(entries, 1.0, &mut values[..lanes], unsigned);
}

#[inline(always)]
fn each(entries: &Entries, scale: f32, values: &mut [f32], place: impl Fn(f32) -> (usize, f32)) {
    for value in values {
        let (index, fraction) = place(*value);
        let [base, difference] = entries[index & 0xff];
        *value = (base + difference * fraction) * scale;
    }
}

#[inline(always)]
fn unsigned(value: f32) -> (usize, f32) {
    let place = value * 256.0;
    let whole = truncate(place).clamp(0, 255);
    (whole as usize, place - whole as f32)
}

#[inline(always)]
fn floor(value: f32) -> i32 {
    let whole = truncate(value);
    whole.saturating_sub(i32::from((whole as f32) > value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        assert_eq!(entry(0xfff), [1.0, 0.0]);
        assert_eq!(entry(0x7ff << 12), [0.0, 1.0]);
        assert_eq!(entry(0xfff << 12), [0.0, -1.0]);
    }

    #[test]
    fn indices() {
        let mut entries: Entries = std::array::from_fn(|i| [i as f32, 0.0]);
        entries[0xff] = [255.0, 1.0];
        let at = |index, value| {
            let mut values = [value];
            look_up(&entries, index, 1.0, &mut values);
            values[0]
        };
        assert_eq!([0.0, 0.5, 1.0, -0.5].map(|v| at(Index::Absolute, v)), [0.0, 128.0, 256.0, 128.0]);
        assert_eq!([0.0, 0.5, -0.5].map(|v| at(Index::Positive, v)), [0.0, 128.0, 0.0]);
        assert_eq!(
            [0.0, 0.5, 1.0, -0.5, -1.0].map(|v| at(Index::Signed, v)),
            [0.0, 64.0, 127.0, 192.0, 128.0]
        );
        // -1/256 lies half way in the last entry.
        assert_eq!(at(Index::Signed, -1.0 / 256.0), 255.5);
    }

    #[test]
    fn the_cache_follows_the_words() {
        let mut tables = Tables::default();
        let mut cache = LutCache::default();
        assert!(cache.get(table::D1).is_none());
        cache.prepare(&tables, table::D1);
        assert_eq!(cache.get(table::D1).unwrap()[7], [0.0, 0.0]);
        tables.lighting[table::D1][7] = 0xfff;
        cache.prepare(&tables, table::D1);
        assert_eq!(cache.get(table::D1).unwrap()[7], [1.0, 0.0]);
    }
}
