//! Spans cut into quads of four pixels.

use crate::frame::TILE;
use xenoglot_raster::Edges;

/// Quads that are drawn at once.
pub const GROUP: usize = 4;
/// Pixels of a quad.
pub const QUAD: usize = 4;
/// Quads that are collected: those of a row more than one group at least.
const ROOM: usize = 64;
/// A quad that covers nothing, behind the pixels of a tile.
const NONE: u32 = TILE * TILE + 1;

/// Quads of a tile. Each is the place of its first pixel in the tile, and the last column of its span, 16 bits further up.
pub struct Quads {
    list: [u32; ROOM],
    len: usize,
}

impl Quads {
    /// None.
    #[inline(always)]
    pub fn new() -> Quads {
        Quads { list: [NONE; ROOM], len: 0 }
    }

    /// Cuts up what a triangle covers of the tile whose first pixel is `origin`, and hands out groups; the last one may not
    /// be full.
    #[inline(always)]
    pub fn cut(&mut self, edges: &Edges, origin: [i32; 2], mut draw: impl FnMut(&[u32; GROUP])) {
        let side = TILE as i32;
        let [first, last] = edges.rows();
        let (first, last) = (first.max(origin[1]), last.min(origin[1] + side - 1));
        let mut row = (first - origin[1]) as u32 * TILE;
        let mut spans = edges.spans(first, last);
        loop {
            while self.len <= ROOM - (TILE as usize / QUAD) {
                let Some([left, right]) = spans.next() else { break };
                let (mut left, right) = ((left - origin[0]).max(0), (right - origin[0]).min(side - 1));
                while left <= right {
                    if let Some(quad) = self.list.get_mut(self.len) {
                        *quad = (row + left as u32) | (right as u32) << 16;
                    }
                    self.len += 1;
                    left += QUAD as i32;
                }
                row += TILE;
            }
            if self.len == 0 {
                return;
            }
            let end = self.len.next_multiple_of(GROUP);
            if let Some(rest) = self.list.get_mut(self.len..end) {
                rest.fill(NONE);
            }
            for group in self.list.get(..end).unwrap_or_default().as_chunks().0 {
                draw(group);
            }
            self.len = 0;
        }
    }
}
