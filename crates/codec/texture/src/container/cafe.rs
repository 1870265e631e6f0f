//! BFLIM of the Wii U: a surface of its GPU in front of the footer that [`clim`](super::clim) reads. Sources: those named there;
//! numbers of tile modes are GX2's, see [`latte`](crate::console::latte).

use super::{Container, Error, Limits, Shape, Source, Swizzle, Texture, Transfer};
use crate::console::latte::{Surface, Tiling};
use crate::format::{Extent, Format, Texel};
use crate::plain::{Layout, Numeric};
use std::borrow::Cow;

/// Tile modes that are read.
const MICRO: u8 = 2;
const MACRO: u8 = 4;

/// Reads a picture of `[width, height]` from its surface, by the format's number and the byte of tile mode and swizzle.
pub fn read<'a>(
    surface: &[u8],
    [width, height]: [u32; 2],
    number: u32,
    tiles: u8,
    limits: &Limits,
) -> Result<Texture<'a>, Error> {
    let tiling = match (tiles & 31, tiles >> 5) {
        (MICRO, _) => Tiling::Micro,
        (MACRO, swizzle) => Tiling::Macro(swizzle),
        (mode, _) => return Err(Error::Format(format!("BFLIM of the Wii U with tile mode {mode}"))),
    };
    let (format, transfer) =
        format(number).ok_or_else(|| Error::Format(format!("{number} of BFLIM of the Wii U")))?;
    let shape = Shape::picture(Container::Bflim, format, transfer, Extent::flat(width, height));
    let mut texture = shape.texture(limits)?;
    texture.swizzle = swizzle(number);
    let [across, down, _] = texture.format.block();
    let tiled = Surface {
        width: width.div_ceil(across),
        rows: height.div_ceil(down),
        element: texture.format.block_bytes() as u32,
        tiling,
    };
    if tiled.tiled_bytes() != Some(surface.len()) {
        return Err(Error::Malformed("size of the data"));
    }
    let size = texture.image_bytes(0)?;
    limits.allow(size)?;
    let mut rows = vec![0; size];
    tiled.untile(surface, &mut rows).map_err(|_| Error::Malformed("size of the data"))?;
    texture.push([0; 3], Cow::Owned(rows));
    Ok(texture)
}

/// A format and its transfer function by its number. Packed colours (5:6:5, 5:5:5:1, 4:4:4:4, 10:10:10:2), packed luminance with alpha
/// and RGBX are not read: sources disagree on the order of their components, or on whether there are such files.
fn format(number: u32) -> Option<(Format, Transfer)> {
    let array = |order| Layout::array(order, 8, Numeric::Unorm).map(Format::of_layout);
    let format = match number {
        0 => array(b"l")?,
        1 => array(b"a")?,
        3 => array(b"la")?,
        9 | 20 => Format::Plain(Texel::Rgba8),
        12 | 21 => Format::Bc1,
        13 | 22 => Format::Bc2,
        14 | 23 => Format::Bc3,
        15 | 16 => Format::Bc4Unorm,
        17 => Format::Bc5Unorm,
        _ => return None,
    };
    Some((format, if number >= 20 { Transfer::Srgb } else { Transfer::Unknown }))
}

/// What the components of BC4 and BC5 stand for: luminance, alpha, or both. Alpha alone has black beside it, as in `A8`.
fn swizzle(number: u32) -> Option<Swizzle> {
    let [first, second] = [0, 1].map(Source::Component);
    match number {
        15 => Some(Swizzle([first, first, first, Source::One])),
        16 => Some(Swizzle([Source::Zero, Source::Zero, Source::Zero, first])),
        17 => Some(Swizzle([first, first, first, second])),
        _ => None,
    }
}
