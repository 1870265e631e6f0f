//! Affine and extended backgrounds, and bitmaps: what is found by a point and a matrix.

use super::text::palette;
use super::{MOSAIC, Row, WRAP, screen, tile_base};
use crate::engine2d::layer::{Layer, WIDTH};

/// Size of a map or bitmap: powers of two of pixels.
#[derive(Clone, Copy)]
pub struct Area {
    pub width: u32,
    pub height: u32,
}

/// Where a line's pixels are.
struct Places {
    x: [u32; WIDTH],
    y: [u32; WIDTH],
    /// 255 within the area, else 0.
    inside: [u8; WIDTH],
}

impl Row<'_> {
    /// The places of a line's pixels in an area, wrapped around.
    #[inline(always)]
    fn places(&self, n: usize, control: u16, area: Area) -> Places {
        let point = if control & MOSAIC != 0 { self.mosaic.point(n - 2) } else { self.points.now()[n - 2] };
        let [pa, _, pc, _] = self.registers.matrix(n - 2);
        let wraps = control & WRAP != 0;
        let (width, height) = (1u32 << area.width, 1u32 << area.height);
        let mut out = Places { x: [0; WIDTH], y: [0; WIDTH], inside: [0; WIDTH] };
        for i in 0..WIDTH {
            let x = (point.x.wrapping_add(i as i32 * pa) >> 8) as u32;
            let y = (point.y.wrapping_add(i as i32 * pc) >> 8) as u32;
            out.x[i] = x & (width - 1);
            out.y[i] = y & (height - 1);
            out.inside[i] = if wraps | ((x < width) & (y < height)) { 255 } else { 0 };
        }
        out
    }

    #[inline(always)]
    pub(super) fn affine(&self, n: usize, control: u16, area: Area, layer: &mut Layer) {
        let places = self.places(n, control, area);
        let [tiles, maps] = self.registers.bases();
        let view = self.memory.background;
        let map = maps + screen(control) * 0x800;
        // 256 tiles are as large as a page. A map, of 2 KiB or a multiple, lies in at most two.
        let tiles: &[u8; 0x4000] = view.block(tiles + tile_base(control));
        let mut entries = [0u32; WIDTH];
        let mut within = [0u32; WIDTH];
        let map = view.area(map);
        for i in 0..WIDTH {
            let (x, y) = (places.x[i], places.y[i]);
            entries[i] = map.place(((y >> 3) << (area.width - 3)) + (x >> 3));
            within[i] = (y & 7) * 8 + (x & 7);
        }
        for ((index, entry), within) in layer.index.iter_mut().zip(entries).zip(within) {
            let tile = u32::from(view.byte_at(entry));
            *index = tiles[(tile * 64 + within) as usize % 0x4000];
        }
        for (index, inside) in layer.index.iter_mut().zip(&places.inside) {
            *index &= inside;
        }
    }

    #[inline(always)]
    pub(super) fn extended_tiles(&self, n: usize, control: u16, area: Area, layer: &mut Layer) {
        let places = self.places(n, control, area);
        let [tiles, maps] = self.registers.bases();
        let view = self.memory.background;
        let map = maps + screen(control) * 0x800;
        let tiles = tiles + tile_base(control);
        let mut entries = [0u16; WIDTH];
        let mut halves = [0u32; WIDTH];
        let map = view.area(map);
        for (i, half) in halves.iter_mut().enumerate() {
            *half = map.place((((places.y[i] >> 3) << (area.width - 3)) + (places.x[i] >> 3)) * 2);
        }
        for (entry, half) in entries.iter_mut().zip(halves) {
            *entry = view.half_at(half);
        }
        let mut pixels = [0u32; WIDTH];
        for i in 0..WIDTH {
            let entry = u32::from(entries[i]);
            let x = (places.x[i] & 7) ^ ((entry >> 10 & 1) * 7);
            let y = (places.y[i] & 7) ^ ((entry >> 11 & 1) * 7);
            pixels[i] = tiles + (entry & 0x3ff) * 64 + y * 8 + x;
        }
        for (index, pixel) in layer.index.iter_mut().zip(pixels) {
            *index = view.byte(pixel);
        }
        for (index, inside) in layer.index.iter_mut().zip(&places.inside) {
            *index &= inside;
        }
        if let Some(slot) = self.palette_slot(n) {
            let colors = self.memory.background_palettes;
            for ((color, &index), entry) in layer.color.iter_mut().zip(&layer.index).zip(entries) {
                let palette = palette(&colors, slot + u32::from(entry >> 12) * 512);
                *color = u16::from_le_bytes(palette[usize::from(index)]);
            }
        }
    }

    #[inline(always)]
    pub(super) fn bitmap(
        &self,
        n: usize,
        control: u16,
        area: Area,
        base: u32,
        is_direct: bool,
        layer: &mut Layer,
    ) {
        let places = self.places(n, control, area);
        let view = self.memory.background;
        let [_, _, pc, _] = self.registers.matrix(n - 2);
        let shift = u32::from(is_direct);
        // A row of up to 1024 bytes is within a page.
        let row = base + ((places.y[0] << area.width) << shift);
        let row = (pc == 0).then(|| view.row(row));
        let mut at = [0u32; WIDTH];
        for (i, at) in at.iter_mut().enumerate() {
            *at = base + (((places.y[i] << area.width) + places.x[i]) << shift);
        }
        if is_direct {
            let mut colors = [0u16; WIDTH];
            match row {
                Some(row) => colors.iter_mut().zip(&places.x).for_each(
                    #[inline(always)]
                    |(color, &x)| *color = view.half_at(row + 2 * x),
                ),
                None => colors.iter_mut().zip(at).for_each(
                    #[inline(always)]
                    |(color, at)| *color = view.half(at),
                ),
            }
            for (i, color) in colors.into_iter().enumerate() {
                layer.index[i] = (color >> 15) as u8 & places.inside[i];
                // Bit 15 is no part of the colour.
                layer.color[i] = color & 0x7fff;
            }
            return;
        }
        match row {
            Some(row) => layer.index.iter_mut().zip(&places.x).for_each(
                #[inline(always)]
                |(index, &x)| *index = view.byte_at(row + x),
            ),
            None => layer.index.iter_mut().zip(at).for_each(
                #[inline(always)]
                |(index, at)| *index = view.byte(at),
            ),
        }
        for (index, inside) in layer.index.iter_mut().zip(&places.inside) {
            *index &= inside;
        }
    }
}
