//! The buffers of a frame: two layers of colour, depth and attributes.

use super::Scale;
use crate::memory::TextureMemory;
use crate::raster::shade::{Color, from_rgb555, pack};
use crate::registers::{Control, Registers, color6};

/// Pixels in a row.
pub const WIDTH: usize = 256;
/// Rows.
pub const HEIGHT: usize = 192;

bitflags::bitflags! {
    /// Attributes of a pixel but for its numbers: coverage \[12:8\], id of the last translucent polygon \[21:16\], id of
    /// the opaque polygon \[29:24\].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PixelFlags: u32 {
        /// On a left edge.
        const LEFT_EDGE = 1 << 0;
        /// On a right edge.
        const RIGHT_EDGE = 1 << 1;
        /// In a polygon's first row.
        const TOP_ROW = 1 << 2;
        /// In a polygon's last row.
        const BOTTOM_ROW = 1 << 3;
        /// Of a back-facing polygon.
        const BACK = 1 << 4;
        /// Of what ends a polygon below: a lower X-major edge, or the last row between its edges. Noted where
        /// [`Rules::EDGE_OVERLAP`](super::Rules::EDGE_OVERLAP) asks for it.
        const LOWER_EDGE = 1 << 5;
        /// Fog.
        const FOG = 1 << 15;
        /// Translucent.
        const TRANSLUCENT = 1 << 22;
    }
}

/// On any edge.
pub const EDGES: u32 = 15;
/// Bits of coverage.
pub const COVERAGE: u32 = 31 << 8;
/// Opaque polygon id.
pub const OPAQUE_ID: u32 = 63 << 24;

/// A row of a layer.
#[derive(Clone, Debug)]
pub struct Row {
    /// Colours.
    pub color: [Color; WIDTH],
    /// Depths of 24 bits.
    pub depth: [u32; WIDTH],
    /// [`PixelFlags`] and numbers.
    pub attributes: [u32; WIDTH],
}

impl Default for Row {
    fn default() -> Row {
        Row { color: [0; WIDTH], depth: [0; WIDTH], attributes: [0; WIDTH] }
    }
}

/// A row: the top layer and, for antialiasing, the layer under edge pixels.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// On top.
    pub top: Row,
    /// Under edge pixels; anything elsewhere.
    pub under: Row,
}

/// What an empty frame is filled with.
#[derive(Clone, Copy, Debug)]
pub struct Clear {
    /// Colour.
    pub color: Color,
    /// Polygon id and fog.
    pub attributes: u32,
    /// Depth of 24 bits.
    pub depth: u32,
    /// Offset of the image, if there is one.
    pub image: Option<[u8; 2]>,
}

/// A depth of 15 bits in 24.
fn expand_depth(depth: u16) -> u32 {
    u32::from(depth & 0x7fff) * 0x200 + 0x1ff
}

impl Clear {
    /// From the registers.
    pub fn new(registers: &Registers) -> Clear {
        let color = registers.clear_color;
        Clear {
            color: pack(color6(color as u16).map(u32::from), color >> 16 & 31),
            attributes: color & (OPAQUE_ID | PixelFlags::FOG.bits()),
            depth: expand_depth(registers.clear_depth),
            image: registers
                .control()
                .contains(Control::CLEAR_IMAGE)
                .then(|| registers.clear_image_offset.to_le_bytes()),
        }
    }

    /// Depth and polygon id outside the screen: the clear registers', even with a clear image.
    pub fn border(&self) -> (u32, u32) {
        (self.depth, self.attributes & OPAQUE_ID)
    }

    /// Empties row `y` of a frame whose pixels are `scale` to one of the image.
    #[inline(always)]
    pub fn fill(&self, memory: &TextureMemory, scale: Scale, y: usize, row: &mut Row) {
        let Some([x_offset, y_offset]) = self.image else {
            row.color.fill(self.color);
            row.depth.fill(self.depth);
            row.attributes.fill(self.attributes);
            return;
        };
        let line = u32::from(y_offset.wrapping_add((y / scale.get() as usize) as u8));
        let [colors, depths] = [0x40000, 0x60000].map(|image| memory.halves(image | line << 9));
        let id = self.attributes & OPAQUE_ID;
        let columns =
            colors.iter().zip(depths).map(|(&color, &depth)| [color, depth].map(u16::from_le_bytes));
        let mut image = Row::default();
        for (x, [color, depth]) in columns.enumerate().take(WIDTH) {
            image.color[x] = from_rgb555(color.into()) | (u32::from(color >> 15) * (31 << 24));
            image.depth[x] = expand_depth(depth);
            image.attributes[x] = id | u32::from(depth & 0x8000);
        }
        scroll(&mut row.color, &image.color, x_offset, scale);
        scroll(&mut row.depth, &image.depth, x_offset, scale);
        scroll(&mut row.attributes, &image.attributes, x_offset, scale);
    }
}

/// A row of an image from column `by` on, around its end, whose pixels become `scale` each.
#[inline(always)]
fn scroll(to: &mut [u32; WIDTH], from: &[u32; WIDTH], by: u8, scale: Scale) {
    if scale == Scale::ONE {
        let (start, end) = from.split_at(by.into());
        to[..end.len()].copy_from_slice(end);
        to[end.len()..].copy_from_slice(start);
    } else {
        for (x, to) in to.iter_mut().enumerate() {
            *to = from[usize::from(by.wrapping_add((x / scale.get() as usize) as u8))];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_depth_is_filled_up() {
        let registers = Registers { clear_depth: 0x7fff, clear_color: 0x3f1f_ffff, ..Registers::default() };
        let mut row = Row::default();
        let clear = Clear::new(&registers);
        clear.fill(&TextureMemory::default(), Scale::ONE, 0, &mut row);
        assert_eq!((row.depth[0], row.color[0]), (0xff_ffff, pack([63; 3], 31)));
        assert_eq!(row.attributes[0], 0x3f00_8000);
        assert_eq!(clear.border(), (0xff_ffff, 0x3f00_0000));
    }

    #[test]
    fn clear_image_has_alpha_fog_and_scroll() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0x40000, &[0x1f, 0x80]);
        memory.write_textures(0x60000, &[1, 0x80]);
        let registers = Registers {
            control: Control::CLEAR_IMAGE.bits(),
            clear_image_offset: 0xffff,
            clear_color: 0x0100_8000,
            ..Registers::default()
        };
        let mut row = Row::default();
        Clear::new(&registers).fill(&memory, Scale::ONE, 1, &mut row);
        assert_eq!((row.color[1], row.depth[1]), (pack([63, 0, 0], 31), 0x3ff));
        assert_eq!((row.attributes[1], row.attributes[0]), (0x0100_8000, 0x0100_0000));
    }
}
