//! Decoded tiles of one texture unit, valid for one draw.
//!
//! Guest memory may change between draws without notice, so nothing outlives [`TileCache::start`]; within a draw a
//! tile is decoded when it is touched first. Direct mapped and of bounded size.

use super::tiling::TILE;
use super::{Texture, decode_tile};
use crate::memory::Memory;

/// Enough for a texture of 1024×1024 without conflicts: 4 MiB.
const MAX_SLOTS: usize = 1 << 14;
const MIN_SLOTS: usize = 64;

/// A cache of decoded tiles.
#[derive(Debug, Default)]
pub struct TileCache {
    /// Epoch and tile of each slot.
    tags: Vec<u64>,
    tiles: Vec<[u32; TILE]>,
    epoch: u64,
}

impl TileCache {
    /// Forgets everything and makes room for textures of `tiles` tiles together.
    pub fn start(&mut self, tiles: u32) {
        let slots = (tiles as usize).next_power_of_two().clamp(MIN_SLOTS, MAX_SLOTS);
        if slots > self.tags.len() {
            self.tags.resize(slots, 0);
            self.tiles.resize(slots, [0; TILE]);
        }
        self.epoch += 1;
    }

    /// The tile `tile` of `texture`, which is image `image` of the unit (a cube's face). Bytes that are not memory
    /// read as 0.
    #[inline]
    pub fn tile(&mut self, memory: &dyn Memory, texture: &Texture, image: u32, tile: u32) -> &[u32; TILE] {
        let tag = self.epoch << 32 | u64::from(image) << 24 | u64::from(tile);
        let slot = (tile as usize ^ image as usize) & (self.tags.len() - 1);
        if self.tags[slot] != tag {
            self.tags[slot] = tag;
            fill(memory, texture, tile, &mut self.tiles[slot]);
        }
        &self.tiles[slot]
    }
}

#[cold]
fn fill(memory: &dyn Memory, texture: &Texture, tile: u32, texels: &mut [u32; TILE]) {
    let len = texture.format.tile_bytes();
    let address = texture.address.wrapping_add(tile.wrapping_mul(len));
    match memory.bytes(address, len) {
        Some(bytes) => decode_tile(texture.format, bytes, texels),
        None => decode_tile(texture.format, &[0; 256][..len as usize], texels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};
    use crate::texture::Format;

    #[test]
    fn a_draw_sees_memory_as_it_is_then() {
        let mut memory = Regions::console(1 << 12);
        let texture = Texture { address: FCRAM, width: 16, height: 8, format: Format::A8 };
        let mut cache = TileCache::default();
        cache.start(texture.tiles());
        assert_eq!(cache.tile(&memory, &texture, 0, 1)[0], 0);
        memory.bytes_mut(FCRAM + 64, 1).unwrap()[0] = 7;
        assert_eq!(cache.tile(&memory, &texture, 0, 1)[0], 0);
        cache.start(texture.tiles());
        assert_eq!(cache.tile(&memory, &texture, 0, 1)[0], 7 << 24);
        assert_eq!(cache.tile(&memory, &texture, 0, 0)[0], 0);
    }

    #[test]
    fn outside_memory_is_zero() {
        let memory = Regions::new();
        let texture = Texture { address: 0xffff_fff8, width: 8, height: 8, format: Format::Rgba8 };
        let mut cache = TileCache::default();
        cache.start(1);
        assert_eq!(cache.tile(&memory, &texture, 0, 5), &[0; TILE]);
    }
}
