//! Textures in guest memory, and a cache of their decoded tiles. Formats and decoding are `xenoglot-texture`'s.
//!
//! A texture is a row-major array of 8×8 tiles; a texel's place in its tile is the z order of its coordinates
//! (vectors/picagpu/FORMAT.md, section 5). Decoded texels are `u32`s of red, green, blue and alpha from the lowest
//! byte. Coordinates here count from the first row in memory.

pub mod cache;
pub mod tiling;

pub use cache::TileCache;
pub use xenoglot_texture::console::pica::{Format, decode_tile, widen4, widen5, widen6};

/// A texture of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Physical address of the first tile.
    pub address: u32,
    /// Width in texels, at most 2047.
    pub width: u32,
    /// Height in texels, at most 2047.
    pub height: u32,
    /// Texel format.
    pub format: Format,
}

impl Texture {
    /// Tiles in a row.
    pub fn tiles_per_row(&self) -> u32 {
        self.width.div_ceil(8)
    }

    /// Tiles of the texture.
    pub fn tiles(&self) -> u32 {
        self.tiles_per_row() * self.height.div_ceil(8)
    }

    /// Bytes of the texture.
    pub fn bytes(&self) -> u32 {
        self.tiles() * self.format.tile_bytes()
    }
}
