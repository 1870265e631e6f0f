//! BC7 of opaque blocks and of blocks with alpha, in separate groups of sixteen.

use super::group::{self, Group};
use super::lanes::{LANES, Rows};
use super::{BATCH, Coder, OfBytes, Quality, Texels, at_best, word};
use fearless_simd::Level;

/// Encodes rows of blocks as BC7, opaque blocks in groups of their own: for a group of opaque blocks the encoder skips alpha.
pub struct ByAlpha<'a> {
    level: Level,
    quality: Quality,
    out: &'a mut [[u8; 16]],
    /// Blocks with alpha, and opaque ones.
    groups: [Group; 2],
}

impl<'a> ByAlpha<'a> {
    pub fn new(quality: Quality, out: &'a mut [[u8; 16]]) -> ByAlpha<'a> {
        ByAlpha { level: Level::new(), quality, out, groups: Default::default() }
    }

    /// Adds a row of blocks, the first of which goes to `first`.
    pub fn add<const T: usize>(&mut self, texels: &Texels<'_, T>, first: usize) {
        let mut rows = [[0; BATCH]; 4];
        for left in (0..texels.width).step_by(BATCH) {
            texels.rows(left, &mut rows, word);
            let count = (texels.width - left).div_ceil(4).min(LANES);
            let first = first + left / 4;
            let opaque = opaque(&rows);
            if count == LANES && (opaque == 0 || opaque == 0xffff) {
                let of_all = OfBytes { coder: Coder::Bc7, rows: &rows, quality: self.quality };
                let words = at_best(self.level, of_all);
                for (lane, out) in self.out.iter_mut().skip(first).take(LANES).enumerate() {
                    group::store(&words, lane, out);
                }
                continue;
            }
            let [a, b, c, d] = &rows;
            let [a, b, c, d] = [a, b, c, d].map(|row| row.as_chunks().0);
            for (lane, (((a, b), c), d)) in a.iter().zip(b).zip(c).zip(d).enumerate().take(count) {
                let at = usize::from(opaque >> lane & 1);
                self.groups[at].push(first + lane, [a, b, c, d]);
                if self.groups[at].is_full() {
                    self.encode(at);
                }
            }
        }
    }

    fn encode(&mut self, at: usize) {
        let (level, quality) = (self.level, self.quality);
        self.groups[at].encode(self.out, |rows| at_best(level, OfBytes { coder: Coder::Bc7, rows, quality }));
    }

    /// Encodes what is left.
    pub fn finish(mut self) {
        self.encode(0);
        self.encode(1);
    }
}

/// A bit for each of sixteen blocks that is opaque.
#[inline(always)]
fn opaque(rows: &Rows<u32>) -> u16 {
    let mut columns = [u32::MAX; BATCH];
    for row in rows {
        for (column, texel) in columns.iter_mut().zip(row) {
            *column &= texel;
        }
    }
    let mut opaque = 0;
    for (lane, [a, b, c, d]) in columns.as_chunks().0.iter().enumerate() {
        opaque |= u16::from((a & b & c & d) >> 24 == 0xff) << lane;
    }
    opaque
}
