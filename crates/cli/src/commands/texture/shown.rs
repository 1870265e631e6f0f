//! Decoded images as they are to be seen: upright, and with the colours that a file's format asks for.

use crate::picture::{Picture, open_exr, values};
use anyhow::{Context, Error, Result, bail};
use std::borrow::Cow;
use xenoglot_texture::container::{
    self, Limits, Orientation, Texture, Transfer, linear_to_srgb, srgb_to_linear,
};
use xenoglot_texture::{Extent, Texel};

/// What may still be taken of memory for a file.
#[derive(Clone, Copy)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// What the limits leave beside a texture.
    pub fn new(limits: &Limits, texture: &Texture<'_>) -> Budget {
        Budget { left: limits.bytes.saturating_sub(texture.held_bytes()) }
    }

    /// Takes `bytes`, or says why not.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        let Some(left) = self.left.checked_sub(bytes) else {
            let needed = container::Error::Memory { needed: bytes as u64, limit: self.left as u64 };
            return Err(explained(needed));
        };
        self.left = left;
        Ok(())
    }
}

/// An error with what helps against it.
pub fn explained(error: container::Error) -> Error {
    match error {
        container::Error::Memory { .. } | container::Error::Window { .. } => {
            Error::new(error).context("more memory is needed than --memory-limit allows")
        }
        _ => Error::new(error),
    }
}

/// A decoded image.
pub struct Shown<'a> {
    pub texel: Texel,
    /// Whether the file has floats: texels of other numbers may be decoded to them.
    pub floats: bool,
    pub extent: Extent,
    pub transfer: Transfer,
    pub orientation: Orientation,
    /// Rows of slices in the order of the file.
    pub texels: Cow<'a, [u8]>,
}

impl Shown<'_> {
    /// Width, and rows of all slices, which lie below each other, the nearest first.
    pub fn size(&self) -> Result<[u32; 2]> {
        let Extent { width, height, depth } = self.extent;
        Ok([width, height.checked_mul(depth).context("too many slices")?])
    }

    /// The bytes of the texel that is seen at a place.
    fn at(&self, x: usize, y: usize) -> &[u8] {
        let [width, height, depth] =
            [self.extent.width, self.extent.height, self.extent.depth].map(|size| size as usize);
        let turned = |turned: bool, at: usize, size: usize| if turned { size - 1 - at } else { at };
        let slice = turned(self.orientation.out, y / height, depth);
        let row = turned(self.orientation.up, y % height, height);
        let column = turned(self.orientation.left, x, width);
        let start = ((slice * height + row) * width + column) * self.texel.bytes();
        self.texels.get(start..start + self.texel.bytes()).unwrap_or(&[0; 16])
    }

    /// As a picture of eight bits: what is wider is clamped to 0..=1 and rounded, floats are encoded by sRGB. Other numbers
    /// stay what they are.
    pub fn picture(self, budget: &mut Budget) -> Result<Picture> {
        let [width, height] = self.size()?;
        let as_seen = self.orientation == Orientation::default();
        let encoded = self.floats && matches!(self.transfer, Transfer::Linear | Transfer::Unknown);
        let srgb = encoded || self.transfer == Transfer::Srgb;
        let rgba = match self.texels {
            Cow::Owned(texels) if as_seen && self.texel == Texel::Rgba8 => texels,
            _ => {
                let pixels = (width as usize).checked_mul(height as usize);
                let bytes = pixels.and_then(|n| n.checked_mul(4)).context("the picture is too large")?;
                budget.take(bytes)?;
                let mut rgba = Vec::with_capacity(bytes);
                for y in 0..height as usize {
                    for x in 0..width as usize {
                        rgba.extend(rgba8(self.texel, self.at(x, y), encoded));
                    }
                }
                rgba
            }
        };
        Ok(Picture { width, height, rgba, srgb })
    }

    /// As OpenEXR, whose colours are linear: halves as halves, what has more bits or is encoded as singles.
    pub fn open_exr(&self, budget: &mut Budget) -> Result<Vec<u8>> {
        if let Transfer::Other(_) = self.transfer {
            bail!("{} cannot be made linear; --to ktx2 keeps it", self.transfer);
        }
        let [width, height] = self.size()?.map(|size| size as usize);
        let srgb = self.transfer == Transfer::Srgb;
        let halves = self.texel == Texel::Rgba16Float && !srgb;
        let bytes = width.checked_mul(height).and_then(|n| n.checked_mul(if halves { 8 } else { 16 }));
        budget.take(bytes.context("the picture is too large")?)?;
        open_exr(halves, [width, height], |x, y| {
            let [r, g, b, a] = values(self.texel, self.at(x, y));
            if srgb { [srgb_to_linear(r), srgb_to_linear(g), srgb_to_linear(b), a] } else { [r, g, b, a] }
        })
    }
}

/// Whether texels are floats.
pub fn is_float(texel: Texel) -> bool {
    matches!(texel, Texel::Rgba16Float | Texel::Rgba32Float)
}

/// A texel in eight bits, `encoded` by sRGB or as it is; of signed ones -1 is black and 1 white.
fn rgba8(texel: Texel, bytes: &[u8], encoded: bool) -> [u8; 4] {
    if let (Texel::Rgba8, Some(rgba)) = (texel, bytes.first_chunk()) {
        return *rgba;
    }
    let [r, g, b, a] = values(texel, bytes);
    let color = match texel {
        Texel::R16Snorm => [(r + 1.0) / 2.0, 0.0, 0.0, a],
        Texel::Rg16Snorm => [(r + 1.0) / 2.0, (g + 1.0) / 2.0, 0.0, a],
        _ if encoded => {
            let srgb = |c: f32| linear_to_srgb(c.clamp(0.0, 1.0));
            [srgb(r), srgb(g), srgb(b), a]
        }
        _ => [r, g, b, a],
    };
    color.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8)
}
