//! The tables of decoders and encoders as words of a storage buffer, from those that the CPU uses.

use crate::astc::ise;
use crate::bc::{self, color, partition};
use crate::encode::{bc1, bc7};
use crate::etc;
use std::fmt::Write;

/// Tables of a program, and the constants that tell it where they are.
#[derive(Default)]
pub struct Tables {
    pub words: Vec<u32>,
    /// WGSL.
    pub constants: String,
}

impl Tables {
    /// Adds words; the constant `name` is the index of the first.
    fn words(&mut self, name: &str, words: impl IntoIterator<Item = u32>) {
        self.constant(name, self.words.len());
        self.words.extend(words);
    }

    /// Adds bytes, four to a word; the constant `name` is the index of the first byte.
    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.constant(name, 4 * self.words.len());
        let (words, rest) = bytes.as_chunks();
        debug_assert!(rest.is_empty());
        self.words.extend(words.iter().map(|word| u32::from_le_bytes(*word)));
    }

    fn constant(&mut self, name: &str, value: usize) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.constants, "const {name}: u32 = {value}u;");
    }
}

/// Colours of BC1, BC2 and BC3: scales of components, and rows of sixths of both colours, and alpha.
pub fn bc_color(tables: &mut Tables) {
    tables.words("SCALE", [color::SCALE_5, color::SCALE_6, color::SCALE_5]);
    tables.words("FOUR_COLORS", [6, 0, 255, 0, 6, 255, 4, 2, 255, 2, 4, 255]);
}

/// The rows of BC1 with alpha for blocks of three colours.
pub fn transparent_black(tables: &mut Tables) {
    tables.words("THREE_COLORS", [6, 0, 255, 0, 6, 255, 3, 3, 255, 0, 0, 0]);
}

/// Those of BC1 without alpha.
pub fn opaque_black(tables: &mut Tables) {
    tables.words("THREE_COLORS", [6, 0, 255, 0, 6, 255, 3, 3, 255, 0, 0, 255]);
}

/// What BC6H and BC7 share.
fn bc_index(tables: &mut Tables) {
    tables.words("TWO", partition::TWO);
    tables.words("ANCHOR_OF_TWO", partition::ANCHOR_OF_TWO.map(u32::from));
    // Those of n bits begin at 2^n: as many as there are before.
    let rows =
        partition::WEIGHTS.iter().enumerate().flat_map(|(bits, row)| row.iter().copied().take(1 << bits));
    tables.words("WEIGHTS", std::iter::once(0).chain(rows));
}

/// Rows of the fields of a mode in their order.
pub fn bc7(tables: &mut Tables) {
    bc_index(tables);
    tables.words("THREE", partition::THREE);
    tables.words("ANCHORS_OF_THREE", partition::ANCHORS_OF_THREE.as_flattened().iter().map(|&a| a.into()));
    let row = |mode: &bc::bc7::Mode| {
        [
            mode.subsets as u32,
            mode.partition,
            mode.rotation,
            mode.selector,
            mode.color,
            mode.alpha,
            mode.own_lowest.into(),
            mode.shared_lowest.into(),
            mode.index,
            mode.second_index,
        ]
    };
    tables.words("MODES", bc::bc7::MODES.iter().flat_map(row));
}

/// Rows of the fields of a mode, with the first of its runs and the one behind its last; and the runs of all modes.
pub fn bc6h(tables: &mut Tables) {
    bc_index(tables);
    let mut end = 0;
    let row = |mode: &bc::bc6h::Mode| {
        let [red, green, blue] = mode.deltas;
        let start = end;
        end += mode.runs.len() as u32;
        [
            mode.regions,
            mode.transformed.into(),
            mode.precision,
            red,
            green,
            blue,
            mode.header,
            mode.code,
            start,
            end,
        ]
    };
    tables.words("MODES", bc::bc6h::MODES.iter().flat_map(row));
    let run = |&(component, first, last): &bc::bc6h::Run| u32::from_le_bytes([component, first, last, 0]);
    tables.words("RUNS", bc::bc6h::MODES.iter().flat_map(|mode| mode.runs.iter().map(run)));
}

/// Colours of ETC1 and ETC2.
pub fn etc_color(tables: &mut Tables) {
    tables.words("MODIFIERS", etc::color::MODIFIERS.as_flattened().iter().map(|&m| m.into()));
    tables.words("DISTANCES", etc::color::DISTANCES.map(u32::from));
}

/// Modifiers of EAC, as numbers with a sign.
pub fn eac(tables: &mut Tables) {
    tables.words("EAC_MODIFIERS", etc::eac::MODIFIERS.as_flattened().iter().map(|&m| i32::from(m) as u32));
}

/// Integer sequences and what their values mean.
pub fn astc(tables: &mut Tables) {
    const NO_LEVELS: u8 = 0xff;
    tables.constant("NO_LEVELS", NO_LEVELS.into());
    tables.words("LEVELS", ise::LEVELS.iter().flat_map(|levels| levels.bits_and_group()));
    // Digits that have a byte each there have two bits or three here.
    let digits = |bytes: &[u8], bits: u32| bytes.iter().rev().fold(0, |all, &d| all << bits | u32::from(d));
    tables.words("TRITS", ise::TRITS.iter().map(|digit| digits(&digit.to_le_bytes()[..5], 2)));
    tables.words("QUINTS", ise::QUINTS.iter().map(|digit| digits(&digit.to_le_bytes()[..3], 3)));
    let finest = ise::FINEST.as_flattened().iter();
    let rows: Vec<u8> = finest.map(|finest| if finest.bits == 0 { NO_LEVELS } else { finest.row }).collect();
    tables.bytes("FINEST", &rows);
    tables.bytes("VALUES", ise::VALUES.as_flattened());
    tables.bytes("WEIGHTS", ise::WEIGHTS.as_flattened());
}

/// For each byte the codes of end points that an encoder gives blocks of that colour, the second in the next byte of a word.
fn pairs(pairs: &[[u8; 2]; 256]) -> impl Iterator<Item = u32> {
    pairs.iter().map(|&[first, second]| u32::from_le_bytes([first, second, 0, 0]))
}

/// Single colours of BC1, of five bits and of six.
pub fn bc1_single(tables: &mut Tables) {
    let [five, six] = &*bc1::NEAREST;
    tables.words("NEAREST_5", pairs(five));
    tables.words("NEAREST_6", pairs(six));
}

/// Single colours of BC7.
pub fn bc7_single(tables: &mut Tables) {
    tables.words("SOLID", pairs(&bc7::SOLID));
}
