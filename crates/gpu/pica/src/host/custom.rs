//! Custom textures: dumps and replacements.
//!
//! A texture is identified by a hash of its bytes in guest memory. The embedder's function gets each decoded texture once (a
//! dump), and may return a replacement with more texels of the same shape. Textures that were drawn on the device, cubes and
//! shadow maps are not replaced.

use crate::texture::Format;

/// A texture of the guest.
#[derive(Clone, Copy, Debug)]
pub struct GuestTexture<'a> {
    /// The first 16 bytes of BLAKE3 of its bytes in guest memory.
    pub hash: [u8; 16],
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Its format.
    pub format: Format,
    /// Texels, r in the lowest byte; rows from the top of the image down.
    pub texels: &'a [u32],
}

impl GuestTexture<'_> {
    /// A name for a file: `64x32-rgba4-` and the hash.
    pub fn name(&self) -> String {
        let format = self.format.to_string().to_lowercase();
        let hash: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}x{}-{format}-{hash}", self.width, self.height)
    }
}

/// Texels in place of a texture's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Texels along each axis for one of the guest's: 1, 2, 4 or 8.
    pub scale: u32,
    /// In the order of [`GuestTexture::texels`].
    pub texels: Vec<u32>,
}

/// Takes each texture when it is decoded, and replaces some.
pub type CustomTextures = dyn FnMut(&GuestTexture<'_>) -> Option<Replacement> + Send;

impl Replacement {
    /// Whether the scale is one that is taken, and the texels are as many as it asks for.
    pub(super) fn fits(&self, texture: &GuestTexture<'_>) -> bool {
        matches!(self.scale, 1 | 2 | 4 | 8)
            && self.texels.len() == texture.texels.len() * (self.scale * self.scale) as usize
    }
}
