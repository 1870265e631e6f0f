//! OBJs: a line of all of them, fetched a line before it is shown.

use super::Memory;
use super::background::text::{palette, spread, with_palette};
use super::layer::WIDTH;
use super::oam::Entry;
use super::registers::{DispCnt, Registers};
use crate::state::stated;
use fearless_simd::prelude::*;
use fearless_simd::{mask16x8, u16x8};

/// Columns to the left of the screen: an OBJ is up to 128 wide.
pub const LEFT: usize = 128;
/// Columns of a line with those beside the screen.
const COLUMNS: usize = 512;

/// Attribute of a pixel: nothing is drawn. With the priority in bits 0 and 1, the lower number is in front.
const TRANSPARENT: u16 = 4;
/// Attribute: mosaic.
const MOSAIC: u16 = 8;
/// Attribute, bits 8 to 12: 0, alpha + 1 of a bitmap, or this for the registers' factors.
pub(super) const SEMI: u16 = 31;

/// Code of a pixel: a colour itself, in the lower 15 bits.
const DIRECT: u16 = 1 << 15;
/// Code of a pixel: a colour of the extended palettes, in the lower 12 bits. Without either, one of the palette.
const EXTENDED: u16 = 1 << 12;

/// A line of OBJs.
#[derive(Clone, Debug)]
pub struct ObjLine {
    /// What colour each pixel has: palettes count when the line is shown.
    pub(super) code: [u16; COLUMNS],
    /// Priority, flags and blending.
    pub(super) attributes: [u16; COLUMNS],
    /// Where the window of OBJs is: not 0.
    pub window: [u8; COLUMNS],
    /// Whether there is anything but transparent pixels, windows, or mosaic.
    is_dirty: bool,
    has_mosaic: bool,
    /// Priorities that OBJs have, a bit each.
    priorities: u8,
    /// Whether an OBJ is blended by itself.
    has_blending: bool,
    /// Whether an OBJ has colours that are not in the palette.
    has_colors: bool,
}

impl Default for ObjLine {
    fn default() -> ObjLine {
        ObjLine {
            code: [0; COLUMNS],
            attributes: [TRANSPARENT; COLUMNS],
            window: [0; COLUMNS],
            is_dirty: false,
            has_mosaic: false,
            priorities: 0,
            has_blending: false,
            has_colors: false,
        }
    }
}

impl ObjLine {
    /// Whether an OBJ has colours that are not in the palette.
    pub fn has_colors(&self) -> bool {
        self.has_colors
    }

    /// Without OBJs.
    pub fn clear(&mut self) {
        if self.is_dirty {
            self.attributes = [TRANSPARENT; COLUMNS];
            self.window = [0; COLUMNS];
            (self.is_dirty, self.has_mosaic) = (false, false);
            (self.priorities, self.has_blending, self.has_colors) = (0, false, false);
        }
    }

    /// Puts eight pixels from column `x` on, which starts [`LEFT`] columns left of the screen. Those that are not within the
    /// OBJ's picture are nothing.
    #[inline(always)]
    fn put<S: Simd>(&mut self, simd: S, obj: &ObjRow, x: usize, pixels: Pixels<S>) {
        let Pixels { codes, visible, inside } = pixels;
        if obj.is_window {
            let Some(window) = self.window.get_mut(x..).and_then(|w| w.first_chunk_mut::<8>()) else {
                return;
            };
            let mut columns = [0u16; 8];
            visible.select(u16x8::splat(simd, 1), u16x8::splat(simd, 0)).store_slice(&mut columns);
            for (place, column) in window.iter_mut().zip(columns) {
                *place |= column as u8;
            }
            return;
        }
        let Some(places) = self.attributes.get_mut(x..).and_then(|a| a.first_chunk_mut::<8>()) else {
            return;
        };
        let Some(colors) = self.code.get_mut(x..).and_then(|c| c.first_chunk_mut::<8>()) else { return };
        let before = u16x8::from_slice(simd, places);
        let attributes = u16x8::splat(simd, obj.attributes);
        // What is drawn has to be in front. What is not still replaces what is not.
        let in_front = u16x8::splat(simd, obj.attributes & 3).simd_lt(before & 7);
        let over_nothing = (before & TRANSPARENT).simd_ne(0);
        let replaces = ((visible & in_front) | (!visible & over_nothing)) & inside;
        let new = visible.select(attributes, attributes | TRANSPARENT);
        replaces.select(new, before).store_slice(places);
        let code = u16x8::from_slice(simd, colors);
        replaces.select(codes, code).store_slice(colors);
    }

    /// Mosaic of columns, over all OBJs, when the line is shown.
    #[inline(always)]
    pub fn apply_mosaic(&mut self, registers: &Registers) {
        let width = usize::from(registers.mosaic(2)) + 1;
        if !self.has_mosaic || width == 1 {
            return;
        }
        let (mut code, mut held) = (0, TRANSPARENT);
        let places = self.code[LEFT..].iter_mut().zip(&mut self.attributes[LEFT..]);
        for (column, (place, attributes)) in places.take(WIDTH).enumerate() {
            let is_first = column % width == 0;
            if is_first || *attributes & MOSAIC == 0 || held & MOSAIC == 0 || *attributes & 3 < held & 3 {
                (code, held) = (*place, *attributes);
            } else {
                (*place, *attributes) = (code, held);
            }
        }
    }
}

/// What the OBJs of a line are fetched from.
pub struct Fetch<'a> {
    /// Registers.
    pub registers: &'a Registers,
    /// Memory.
    pub memory: &'a Memory<'a>,
    /// The line that is to be shown.
    pub line: u32,
    /// The line that OBJs with mosaic are fetched from.
    pub mosaic_line: u32,
    /// The OBJs on the line, a bit each.
    pub entries: u128,
}

/// Eight pixels of an OBJ.
struct Pixels<S: Simd> {
    codes: u16x8<S>,
    /// Those that are drawn.
    visible: mask16x8<S>,
    /// Those that are within its picture.
    inside: mask16x8<S>,
}

/// A row of an OBJ.
struct ObjRow {
    entry: Entry,
    /// Column of its place's first pixel, [`LEFT`] columns left of the screen on.
    x: usize,
    /// Row within its place.
    row: u32,
    /// Its place's width and height.
    place: [u32; 2],
    attributes: u16,
    is_window: bool,
}

impl Fetch<'_> {
    #[inline(always)]
    pub fn run<S: Simd>(&self, simd: S, out: &mut ObjLine) {
        let mut entries = self.entries;
        while entries != 0 {
            let number = entries.trailing_zeros() as usize;
            entries &= entries - 1;
            self.obj(simd, Entry::read(self.memory.oam, number), out);
        }
    }

    #[inline(always)]
    fn obj<S: Simd>(&self, simd: S, entry: Entry, out: &mut ObjLine) {
        let [attr0, attr1, attr2] = entry.0;
        let Some(place) = entry.place() else { return };
        // 9 bits with a sign.
        let x = i32::from((attr1 << 7) as i16 >> 7) + LEFT as i32;
        let Ok(x) = usize::try_from(x) else { return };
        if x + place[0] as usize <= LEFT {
            return;
        }
        let mode = attr0 >> 10 & 3;
        let is_window = mode == 2;
        let has_mosaic = attr0 & 0x1000 != 0 && !is_window;
        let mut row = self.line.wrapping_sub(entry.y()) & 0xff;
        if has_mosaic {
            row = row.saturating_sub(self.line.saturating_sub(self.mosaic_line));
        }
        let blend = match mode {
            1 => SEMI,
            3 => match attr2 >> 12 {
                0 => return,
                alpha => alpha + 1,
            },
            _ => 0,
        };
        out.is_dirty = true;
        out.has_mosaic |= has_mosaic;
        if !is_window {
            out.priorities |= 1 << (attr2 >> 10 & 3);
            out.has_blending |= blend != 0;
            let has_palettes = self.registers.dispcnt().contains(DispCnt::OBJ_PALETTES);
            out.has_colors |= mode == 3 || has_palettes && attr0 & 0x2000 != 0;
        }
        let mosaic = if has_mosaic { MOSAIC } else { 0 };
        let attributes = attr2 >> 10 & 3 | mosaic | blend << 8;
        let row = ObjRow { entry, x, row, place, attributes, is_window };
        match (mode == 3, entry.is_affine()) {
            (false, false) => self.tiles(simd, &row, out),
            (false, true) => self.affine_tiles(simd, &row, out),
            (true, _) => self.bitmap(simd, &row, out),
        }
    }

    /// Bytes from a row of tiles to the next, for pixels of `depth` bits.
    #[inline(always)]
    fn tile_stride(&self, width: u32, depth: u32) -> u32 {
        match self.registers.dispcnt().contains(DispCnt::OBJ_TILES_1D) {
            true => width * depth,
            false => 1024,
        }
    }

    #[inline(always)]
    fn tile_base(&self, entry: Entry) -> u32 {
        let boundary = match self.registers.dispcnt().contains(DispCnt::OBJ_TILES_1D) {
            true => self.registers.control() >> 20 & 3,
            false => 0,
        };
        u32::from(entry.0[2] & 0x3ff) * (32 << boundary)
    }

    /// What is added to indices of 8 bits to make codes.
    #[inline(always)]
    fn palette_code(&self, entry: Entry) -> u16 {
        match self.registers.dispcnt().contains(DispCnt::OBJ_PALETTES) {
            true => EXTENDED | (entry.0[2] >> 12) << 8,
            false => 0,
        }
    }

    #[inline(always)]
    fn tiles<S: Simd>(&self, simd: S, obj: &ObjRow, out: &mut ObjLine) {
        let [attr0, attr1, attr2] = obj.entry.0;
        let [width, height] = obj.place;
        let (flip_x, flip_y) = (attr1 & 0x1000 != 0, attr1 & 0x2000 != 0);
        let row = if flip_y { (height - 1).wrapping_sub(obj.row) } else { obj.row };
        let is_deep = attr0 & 0x2000 != 0;
        let depth = if is_deep { 8 } else { 4 };
        let base =
            self.tile_base(obj.entry) + (row >> 3) * self.tile_stride(width, depth) + (row & 7) * depth;
        let code = self.palette_code(obj.entry);
        let view = self.memory.obj;
        let count = width / 8;
        for column in 0..count {
            let from = if flip_x { count - 1 - column } else { column };
            let (pixels, code) = if is_deep {
                (view.double(base + from * 64), code)
            } else {
                (with_palette(spread(view.word(base + from * 32)), attr2 >> 12), 0)
            };
            let pixels = if flip_x { pixels.swap_bytes() } else { pixels }.to_le_bytes();
            let pixels = u16x8::from_slice(simd, &pixels.map(u16::from));
            let visible = pixels.simd_ne(0);
            let pixels = Pixels { codes: pixels | code, visible, inside: mask16x8::splat(simd, true) };
            out.put(simd, obj, obj.x + 8 * column as usize, pixels);
        }
    }

    /// Puts the pixels of an affine OBJ's row, eight at a time. `pixel` gives what its picture has at a column and row: what is
    /// visible is not 0 in the bits of `bits`.
    #[inline(always)]
    fn affine<S: Simd>(
        &self,
        simd: S,
        obj: &ObjRow,
        bits: u16,
        code: u16,
        out: &mut ObjLine,
        pixel: impl Fn(u32, u32) -> u16,
    ) {
        let number = usize::from(obj.entry.0[1] >> 9 & 31);
        let matrix = [0, 1, 2, 3].map(|i| {
            let half = self.memory.oam.get(16 * number + 4 * i + 3).copied().unwrap_or(0);
            i32::from(half as i16)
        });
        let [width, height] = obj.entry.size();
        let [place_width, place_height] = obj.place;
        let dy = obj.row as i32 - place_height as i32 / 2;
        let left = -(place_width as i32 / 2);
        let [pa, pb, pc, pd] = matrix;
        let mut x = left * pa + dy * pb + (width << 7) as i32;
        let mut y = left * pc + dy * pd + (height << 7) as i32;
        for first in (0..place_width as usize).step_by(8) {
            let (mut pixels, mut inside) = ([0u16; 8], [0u16; 8]);
            for (place, inside) in pixels.iter_mut().zip(&mut inside) {
                let (column, row) = ((x >> 8) as u32, (y >> 8) as u32);
                if (column < width) & (row < height) {
                    (*place, *inside) = (pixel(column, row), 1);
                }
                (x, y) = (x + pa, y + pc);
            }
            let pixels = u16x8::from_slice(simd, &pixels);
            let inside = u16x8::from_slice(simd, &inside).simd_ne(0);
            let pixels = Pixels { codes: pixels | code, visible: (pixels & bits).simd_ne(0), inside };
            out.put(simd, obj, obj.x + first, pixels);
        }
    }

    #[inline(always)]
    fn affine_tiles<S: Simd>(&self, simd: S, obj: &ObjRow, out: &mut ObjLine) {
        let [attr0, _, attr2] = obj.entry.0;
        let is_deep = attr0 & 0x2000 != 0;
        let depth = if is_deep { 8 } else { 4 };
        let [width, _] = obj.entry.size();
        let (base, stride) = (self.tile_base(obj.entry), self.tile_stride(width, depth));
        let view = self.memory.obj;
        let row = move |x: u32, y: u32| base + (y >> 3) * stride + (x >> 3) * 8 * depth + (y & 7) * depth;
        if is_deep {
            self.affine(
                simd,
                obj,
                0xff,
                self.palette_code(obj.entry),
                out,
                #[inline(always)]
                |x, y| u16::from(view.byte(row(x, y) + (x & 7))),
            );
        } else {
            self.affine(
                simd,
                obj,
                0xf,
                attr2 >> 12 << 4,
                out,
                #[inline(always)]
                |x, y| u16::from(view.byte(row(x, y) + (x >> 1 & 3)) >> (4 * (x & 1)) & 15),
            );
        }
    }

    #[inline(always)]
    fn bitmap<S: Simd>(&self, simd: S, obj: &ObjRow, out: &mut ObjLine) {
        let [_, attr1, attr2] = obj.entry.0;
        let [width, height] = obj.entry.size();
        let control = self.registers.dispcnt();
        let tile = u32::from(attr2 & 0x3ff);
        let (is_1d, is_wide) =
            (control.contains(DispCnt::OBJ_BITMAP_1D), control.contains(DispCnt::OBJ_BITMAP_WIDE));
        let (base, stride) = match (is_1d, is_wide) {
            (true, true) => return,
            (true, false) => (tile * (128 << (self.registers.control() >> 22 & 1)), width * 2),
            (false, true) => ((tile & 31) * 16 + (tile & !31) * 128, 512),
            (false, false) => ((tile & 15) * 16 + (tile & !15) * 128, 256),
        };
        let view = self.memory.obj;
        let pixel = |x: u32, y: u32| view.half(base + y * stride + x * 2);
        if obj.entry.is_affine() {
            return self.affine(simd, obj, 0x8000, DIRECT, out, pixel);
        }
        let (flip_x, flip_y) = (attr1 & 0x1000 != 0, attr1 & 0x2000 != 0);
        let y = if flip_y { (height - 1).wrapping_sub(obj.row) } else { obj.row };
        for first in (0..width).step_by(8) {
            let mut pixels = [0u16; 8];
            for (x, place) in (first..).zip(&mut pixels) {
                *place = pixel(if flip_x { width - 1 - x } else { x }, y);
            }
            let pixels = u16x8::from_slice(simd, &pixels);
            let visible = (pixels & 0x8000).simd_ne(0);
            let pixels = Pixels { codes: pixels | DIRECT, visible, inside: mask16x8::splat(simd, true) };
            out.put(simd, obj, obj.x + first as usize, pixels);
        }
    }
}

/// OBJs of a line as they are shown.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// In bits 0 to 2, the priority, or 4 and more where there is nothing; from bit 8 on, how a pixel is blended by itself: not,
    /// with alpha + 1 of 16, or with the registers' factors ([`SEMI`]).
    pub attributes: [u16; WIDTH],
    /// Colours as those of layers, or their places in the palettes.
    pub color: [u16; WIDTH],
    /// Priorities that pixels may have, a bit each.
    pub priorities: u8,
    /// Whether a pixel may be blended by itself.
    pub has_blending: bool,
}

impl Default for Resolved {
    fn default() -> Resolved {
        Resolved { attributes: [TRANSPARENT; WIDTH], color: [0; WIDTH], priorities: 0, has_blending: false }
    }
}

impl Resolved {
    /// Looks colours up; or takes what is in the palettes by its place there, as `indexed` says.
    #[inline(always)]
    pub fn resolve(&mut self, line: &ObjLine, memory: &Memory, indexed: bool) {
        self.priorities = line.priorities;
        self.has_blending = line.has_blending;
        let on_screen = line.attributes[LEFT..].first_chunk().zip(line.code[LEFT..].first_chunk::<WIDTH>());
        let Some((attributes, codes)) = on_screen.filter(|_| self.priorities != 0) else { return };
        self.attributes = *attributes;
        if indexed {
            for (color, &code) in self.color.iter_mut().zip(codes) {
                *color = code & 255 | 256;
            }
            return;
        }
        let colors = memory.obj_colors();
        for (color, &code) in self.color.iter_mut().zip(codes) {
            *color = colors[usize::from(code as u8)];
        }
        if !line.has_colors {
            return;
        }
        for (color, &code) in self.color.iter_mut().zip(codes) {
            if code & DIRECT != 0 {
                *color = code & 0x7fff;
            } else if code & EXTENDED != 0 {
                let palette = palette(&memory.obj_palettes, u32::from(code >> 8 & 15) * 512);
                *color = u16::from_le_bytes(palette[usize::from(code as u8)]);
            }
        }
    }
}

stated!(ObjLine { code, attributes, window, is_dirty, has_mosaic, priorities, has_blending, has_colors });
