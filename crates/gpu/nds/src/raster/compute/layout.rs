//! What the passes read: the records of `wgsl/frame.wgsl`.

use super::Band;
use crate::raster::Rules;
use crate::raster::buffers::Clear;
use crate::raster::finish::Finish;
use crate::raster::polygon::{RasterPolygon, Shadow};
use crate::raster::shade::Environment;
use crate::registers::{Control, Registers};

/// Words of a polygon.
pub const POLYGON_WORDS: usize = 76;
/// Words of a span.
pub const SPAN_WORDS: u64 = 16;
/// Words of a pixel.
pub const PIXEL_WORDS: u64 = 8;

/// Flags of a polygon.
const FRONT: u32 = 1 << 12;
const W_BUFFERED: u32 = 1 << 13;
const WIREFRAME: u32 = 1 << 14;
const FILLS_EDGES: u32 = 1 << 15;
const SHADOW_MASK: u32 = 1 << 16;
const SHADOW: u32 = 1 << 17;
const OPAQUE: u32 = 1 << 18;
/// With the rules: of finished rows only colours are wanted.
const COLORS_ONLY: u32 = 1 << 30;
/// With the rules: upper edges are drawn over lower ones in this frame.
const OVERLAPS_EDGES: u32 = 1 << 31;

/// TEXIMAGE_PARAM's format.
const TEXTURE_FORMAT: u32 = 7 << 26;
/// CLRIMAGE_OFFSET counts.
const CLEAR_IMAGE: u32 = 1 << 16;

/// A polygon of the frame, with the registers it was submitted with.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// As the CPU renderer takes it.
    pub polygon: RasterPolygon,
    /// POLYGON_ATTR.
    pub attributes: u32,
    /// TEXIMAGE_PARAM.
    pub texture: u32,
    /// PLTT_BASE.
    pub palette: u32,
    /// The picture in the texture's place: its first word behind texture memory, and its size.
    pub picture: Option<(u32, [u32; 2])>,
}

/// A polygon's rows in a band, and where what they need lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// First row.
    pub first: i32,
    /// Rows.
    pub rows: u32,
    /// Number of the first span.
    pub span: u32,
    /// First word of its bitmaps of drawn pixels.
    pub drawn: u32,
    /// Words of a row of them.
    pub drawn_words: u32,
    /// Column of their first bit.
    pub drawn_x: i32,
}

impl Submitted {
    /// Whether it is a shadow mask.
    pub fn is_mask(&self) -> bool {
        self.polygon.shadow == Shadow::Mask
    }

    fn flags(&self) -> u32 {
        let polygon = &self.polygon;
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        u32::from(polygon.len & 15)
            | u32::from(polygon.top & 15) << 4
            | u32::from(polygon.bottom & 15) << 8
            | flag(polygon.front, FRONT)
            | flag(polygon.is_w, W_BUFFERED)
            | flag(polygon.wireframe, WIREFRAME)
            | flag(polygon.fills_edges, FILLS_EDGES)
            | flag(polygon.shadow == Shadow::Mask, SHADOW_MASK)
            | flag(polygon.shadow == Shadow::Drawn, SHADOW)
            | flag(polygon.is_opaque, OPAQUE)
    }

    /// Appends its record.
    pub fn write(&self, place: &Place, out: &mut Vec<u32>) {
        let polygon = &self.polygon;
        let texture =
            if polygon.shader.is_textured() { self.texture } else { self.texture & !TEXTURE_FORMAT };
        let (picture, [width, height]) = self.picture.unwrap_or((self.palette, [0; 2]));
        out.extend([place.first as u32, place.rows, place.span, self.flags()]);
        out.extend([self.attributes, texture, picture, width | height << 16]);
        out.extend([place.drawn, place.drawn_words, place.drawn_x as u32, 0]);
        out.extend([polygon.top_y, polygon.bottom_y].map(|v| v as u32));
        for vertex in &polygon.vertices {
            let [r, g, b, s, t, ..] = vertex.values;
            let end = vertex.end;
            out.extend([end.x, end.y, end.w, vertex.depth].map(|v| v as u32));
            out.push((r | g << 9 | b << 18) as u32);
            out.push(s as u32 & 0xffff | (t as u32) << 16);
        }
        // To whole vectors.
        out.extend([0; 2]);
    }
}

/// What all bands of a frame have in common.
#[derive(Clone, Debug)]
pub struct FrameState {
    clear: Clear,
    finish: Finish,
    toon: [u32; 32],
    control: Control,
    alpha_ref: u32,
    colors_only: bool,
}

impl FrameState {
    /// From the registers.
    pub fn new(registers: &Registers, environment: &Environment, colors_only: bool) -> FrameState {
        let clear = Clear::new(registers);
        let control = registers.control();
        FrameState {
            finish: Finish::new(registers, clear.border()),
            clear,
            toon: environment.toon,
            control,
            alpha_ref: registers.alpha_dropped(),
            colors_only,
        }
    }

    /// The record of a band. `clears` has a bit for each span.
    pub fn write(&self, band: &Band, rules: Rules, polygons: u32, clears: &[u32]) -> Vec<u32> {
        let clear_image =
            self.clear.image.map_or(0, |offset| u32::from(u16::from_le_bytes(offset)) | CLEAR_IMAGE);
        let fog = &self.finish.fog;
        let overlap = if rules.overlaps_edges(self.control) { OVERLAPS_EDGES } else { 0 };
        let colors_only = if self.colors_only { COLORS_ONLY } else { 0 };
        let mut out = vec![band.width, band.rows, polygons, 0];
        out.extend([band.kept, band.first, band.height, band.scale.get()]);
        out.extend([band.finish_first, band.finish_rows, self.control.bits().into(), self.alpha_ref]);
        out.extend([self.clear.color, self.clear.attributes, self.clear.depth, clear_image]);
        out.extend([rules.bits() | overlap | colors_only, fog.color, fog.offset, fog.shift]);
        out.extend(self.finish.edge_colors);
        out.extend(self.toon);
        out.extend(fog.table);
        out.extend_from_slice(clears);
        // A run-time sized array has an element at least, and a record an even number of words.
        out.extend([0; 2]);
        out
    }
}
