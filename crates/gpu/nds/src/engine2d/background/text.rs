//! Text backgrounds: maps of 32 x 32 tiles with flips.

use super::{DEEP, MOSAIC, Row, WRAP, screen, size, tile_base};
use crate::engine2d::layer::{Layer, WIDTH};
use crate::video::vram::View;

/// Pixels of the tiles that a line touches.
const SPAN: usize = WIDTH + 8;

/// Bytes of eight pixels of 4 bits, the leftmost in the lowest byte.
#[inline(always)]
pub fn spread(row: u32) -> u64 {
    let row = u64::from(row);
    let row = (row | row << 16) & 0x0000_ffff_0000_ffff;
    let row = (row | row << 8) & 0x00ff_00ff_00ff_00ff;
    (row | row << 4) & 0x0f0f_0f0f_0f0f_0f0f
}

/// The same with the palette in the upper four bits, where a pixel is not 0.
#[inline(always)]
pub fn with_palette(pixels: u64, palette: u16) -> u64 {
    let visible = (pixels + 0x0f0f_0f0f_0f0f_0f0f) & 0x1010_1010_1010_1010;
    // Ones above each pixel that is visible: 16 - 1 in its lower half, moved up.
    let mask = (visible - (visible >> 4)) << 4;
    let half = u32::from(palette) * 0x1010_1010;
    pixels | mask & (u64::from(half) | u64::from(half) << 32)
}

/// Eight pixels of 4 bits the other way round.
#[inline(always)]
fn mirrored(row: u32) -> u32 {
    let row = row.swap_bytes();
    row >> 4 & 0x0f0f_0f0f | (row & 0x0f0f_0f0f) << 4
}

/// A map's row: of 32 entries, then those of the map to its right.
struct Map<'a> {
    halves: [&'a [[u8; 2]]; 2],
}

impl<'a> Map<'a> {
    #[inline(always)]
    fn new(view: &View<'a>, base: u32, is_wide: bool) -> Map<'a> {
        let row = |at| view.block::<64>(at).as_chunks().0;
        // Maps of 2 KiB are side by side.
        Map { halves: [row(base), row(base + if is_wide { 0x800 } else { 0 })] }
    }

    #[inline(always)]
    fn entry(&self, column: u32) -> u16 {
        let row = self.halves[column as usize / 32 % 2];
        row.get(column as usize % 32).map_or(0, |&entry| u16::from_le_bytes(entry))
    }
}

impl Row<'_> {
    #[inline(always)]
    pub(super) fn text(&self, n: usize, control: u16, layer: &mut Layer) {
        let [scroll_x, scroll_y] = self.registers.scroll(n);
        let line = if control & MOSAIC != 0 { self.mosaic.line() } else { self.line };
        let y = line.wrapping_add(scroll_y);
        let (is_wide, is_tall) = (size(control) & 1 != 0, size(control) & 2 != 0);
        let [tiles, maps] = self.registers.bases();
        let view = self.memory.background;
        let below = if is_tall && y & 0x100 != 0 { 0x800 << u32::from(is_wide) } else { 0 };
        let map = Map::new(&view, maps + screen(control) * 0x800 + below + (y >> 3 & 31) * 64, is_wide);
        let tiles = tiles + tile_base(control);
        let first = scroll_x >> 3;
        let skip = scroll_x as usize & 7;
        let row = |entry: u16| if entry & 0x800 != 0 { 7 - (y & 7) } else { y & 7 };
        let mut index = [0u64; SPAN / 8];
        if control & DEEP == 0 {
            let mut rows = [0u32; SPAN / 8];
            let mut entries = [0u16; SPAN / 8];
            for ((column, out), kept) in (first..).zip(&mut rows).zip(&mut entries) {
                let entry = map.entry(column);
                *out = view.word(tiles + u32::from(entry & 0x3ff) * 32 + row(entry) * 4);
                *kept = entry;
            }
            for ((pixels, tile), entry) in index.iter_mut().zip(rows).zip(entries) {
                let tile = if entry & 0x400 != 0 { mirrored(tile) } else { tile };
                *pixels = with_palette(spread(tile), entry >> 12);
            }
        } else {
            // Slots of BG2 and BG3 are theirs alone; BG0 and BG1 choose.
            let slot = if n < 2 && control & WRAP != 0 { n + 2 } else { n };
            let tile = |entry: u16| {
                let tile = view.double(tiles + u32::from(entry & 0x3ff) * 64 + row(entry) * 8);
                if entry & 0x400 != 0 { tile.swap_bytes() } else { tile }
            };
            if let Some(palettes) = self.palette_slot(slot) {
                let colors = self.memory.background_palettes;
                let mut color = [0u16; SPAN];
                let (places, _) = color.as_chunks_mut::<8>();
                for ((column, pixels), color) in (first..).zip(&mut index).zip(places) {
                    let entry = map.entry(column);
                    *pixels = tile(entry);
                    // 512 bytes of a palette are within a page.
                    let palette: &[[u8; 2]; 256] = palette(&colors, palettes + u32::from(entry >> 12) * 512);
                    for (color, index) in color.iter_mut().zip(pixels.to_le_bytes()) {
                        *color = u16::from_le_bytes(palette[usize::from(index)]);
                    }
                }
                layer.index.copy_from_slice(&bytes(&index)[skip..skip + WIDTH]);
                layer.color.copy_from_slice(&color[skip..skip + WIDTH]);
                return;
            }
            for (column, pixels) in (first..).zip(&mut index) {
                *pixels = tile(map.entry(column));
            }
        }
        layer.index.copy_from_slice(&bytes(&index)[skip..skip + WIDTH]);
    }
}

#[inline(always)]
fn bytes(words: &[u64; SPAN / 8]) -> [u8; SPAN] {
    let mut out = [0; SPAN];
    for (out, word) in out.as_chunks_mut().0.iter_mut().zip(words) {
        *out = word.to_le_bytes();
    }
    out
}

/// The palette of 256 colours at an address.
#[inline(always)]
pub fn palette<'a>(view: &View<'a>, address: u32) -> &'a [[u8; 2]; 256] {
    let (pairs, _) = view.block::<512>(address).as_chunks::<2>();
    pairs.first_chunk().unwrap_or(&[[0; 2]; 256])
}
