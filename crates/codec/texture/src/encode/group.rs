//! Groups of blocks that are encoded together, although they are not neighbours.

use super::lanes::{LANES, Rows, Words};

/// Up to sixteen blocks, one in each lane, and their places among blocks of 16 bytes.
pub struct Group {
    count: usize,
    places: [usize; LANES],
    rows: Rows<u32>,
}

impl Default for Group {
    fn default() -> Group {
        Group { count: 0, places: [0; LANES], rows: [[0; 4 * LANES]; 4] }
    }
}

impl Group {
    /// Adds a block, given its rows of texels; returns its lane. The group must not be full.
    #[inline(always)]
    pub fn push(&mut self, place: usize, texels: [&[u32; 4]; 4]) -> usize {
        let lane = self.count % LANES;
        self.places[lane] = place;
        for (row, texels) in self.rows.iter_mut().zip(texels) {
            row[4 * lane..][..4].copy_from_slice(texels);
        }
        self.count = lane + 1;
        lane
    }

    pub fn is_full(&self) -> bool {
        self.count == LANES
    }

    /// Lanes that have a block.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Encodes all blocks and empties the group. Lanes without a block repeat the first block, so that a property of all blocks,
    /// such as being opaque, holds in all lanes.
    #[inline(always)]
    pub fn encode(&mut self, out: &mut [[u8; 16]], encoder: impl FnOnce(&Rows<u32>) -> Words) {
        if self.count == 0 {
            return;
        }
        for lane in self.count..LANES {
            for row in &mut self.rows {
                row.copy_within(..4, 4 * lane);
            }
        }
        let words = encoder(&self.rows);
        for (lane, place) in self.places.iter().enumerate().take(self.count) {
            if let Some(out) = out.get_mut(*place) {
                store(&words, lane, out);
            }
        }
        self.count = 0;
    }
}

/// Stores the block of a lane.
#[inline(always)]
pub fn store(words: &Words, lane: usize, out: &mut [u8]) {
    for (out, words) in out.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *out = words[lane].to_le_bytes();
    }
}
