//! The GPU's memory, and the pictures drawn in it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;
use xenoglot_raster::Grid;

/// Bytes of memory at most: 64 MiB.
pub const MEMORY_BYTES: usize = 1 << 26;
/// Columns and rows of a picture at most: what positions in eighths of a pixel reach.
pub const MOST_PIXELS: u32 = 2048;

/// What is wrong with memory or targets.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Memory is not a power of two in size, or too large.
    #[error("memory of {bytes} bytes is not a power of two from 2 to {MEMORY_BYTES}")]
    Memory {
        /// Its bytes.
        bytes: usize,
    },
    /// A picture is too large.
    #[error("a picture of {width}x{height} pixels is larger than {MOST_PIXELS}x{MOST_PIXELS}", width = size[0], height = size[1])]
    Size {
        /// Columns and rows.
        size: [u32; 2],
    },
    /// Rows of a picture share memory, so that the order of pixels would matter.
    #[error("rows of {width} pixels every {stride} bytes share memory")]
    Overlap {
        /// Columns.
        width: u32,
        /// Bytes from row to row.
        stride: u32,
    },
}

/// The GPU's memory. Addresses wrap around at its size.
#[derive(Clone, Debug)]
pub struct Memory {
    units: Vec<u16>,
    stamp: Stamp,
}

impl PartialEq for Memory {
    fn eq(&self, other: &Memory) -> bool {
        self.units == other.units
    }
}

impl Eq for Memory {}

/// A number for what memory has, given when somebody asks and taken back when it changes; 0 for none. Numbers are never
/// given again.
#[derive(Debug, Default)]
struct Stamp(AtomicU64);

impl Stamp {
    fn get(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let own = self.0.load(Ordering::Relaxed);
        if own != 0 {
            return own;
        }
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        self.0
            .compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed)
            .map_or_else(|first| first, |_| next)
    }

    fn take_back(&mut self) {
        *self.0.get_mut() = 0;
    }
}

impl Clone for Stamp {
    fn clone(&self) -> Stamp {
        Stamp(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

impl Memory {
    /// Memory of zeros.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(bytes: usize) -> Result<Memory, Error> {
        if !bytes.is_power_of_two() || !(2..=MEMORY_BYTES).contains(&bytes) {
            return Err(Error::Memory { bytes });
        }
        Ok(Memory { units: vec![0; bytes / 2], stamp: Stamp::default() })
    }

    /// Its units of 16 bits.
    pub fn units(&self) -> &[u16] {
        &self.units
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        2 * self.units.len()
    }

    /// Words of two units each, the low one first.
    pub fn words(&self) -> Vec<u32> {
        self.units
            .chunks(2)
            .map(|units| units.iter().rev().fold(0, |word, &unit| word << 16 | u32::from(unit)))
            .collect()
    }

    /// A unit; addresses count units.
    pub fn unit(&self, at: u32) -> u16 {
        self.units.get(at as usize & (self.units.len() - 1)).copied().unwrap_or(0)
    }

    /// `len` units from unit `at` on; a copy where they wrap around.
    fn row(&self, at: u32, len: usize) -> Cow<'_, [u16]> {
        let at = at as usize & (self.units.len() - 1);
        match self.units.get(at..at + len) {
            Some(row) => row.into(),
            None => (at as u32..).take(len).map(|at| self.unit(at)).collect(),
        }
    }

    /// Replaces units from unit `at` on.
    fn set_row(&mut self, at: u32, values: impl ExactSizeIterator<Item = u16>) {
        let at = at as usize & (self.units.len() - 1);
        self.stamp.take_back();
        if let Some(units) = self.units.get_mut(at..at + values.len()) {
            units.iter_mut().zip(values).for_each(|(unit, value)| *unit = value);
        } else {
            (at as u32..).zip(values).for_each(|(at, value)| self.set_unit(at, value));
        }
    }

    /// Replaces a unit.
    pub fn set_unit(&mut self, at: u32, value: u16) {
        let at = at as usize & (self.units.len() - 1);
        if let Some(unit) = self.units.get_mut(at) {
            *unit = value;
            self.stamp.take_back();
        }
    }

    /// A number that memory with other units never has, for whoever keeps copies of it.
    pub fn stamp(&self) -> u64 {
        self.stamp.get()
    }

    /// Replaces bytes from a byte address on.
    pub fn write(&mut self, at: u32, bytes: &[u8]) {
        if !at.is_multiple_of(2) {
            let Some((&first, rest)) = bytes.split_first() else { return };
            self.set_unit(at / 2, self.unit(at / 2) & 0xff | u16::from(first) << 8);
            return self.write(at.wrapping_add(1), rest);
        }
        let (units, last) = bytes.as_chunks();
        self.set_row(at / 2, units.iter().map(|&unit| u16::from_le_bytes(unit)));
        if let &[last] = last {
            let at = (at / 2).wrapping_add(units.len() as u32);
            self.set_unit(at, self.unit(at) & !0xff | u16::from(last));
        }
    }

    /// Bytes from a byte address on.
    pub fn read(&self, at: u32, length: u32) -> Vec<u8> {
        let (odd, length) = (at as usize % 2, length as usize);
        let units = self.row(at / 2, (odd + length).div_ceil(2));
        units.iter().flat_map(|unit| unit.to_le_bytes()).skip(odd).take(length).collect()
    }
}

/// A picture in memory, 16 bits a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// First byte; the lowest bit is not read.
    pub offset: u32,
    /// Columns and rows.
    pub size: [u32; 2],
    /// Bytes from row to row; the lowest bit is not read.
    pub stride: u32,
}

impl Surface {
    fn check(&self) -> Result<(), Error> {
        let [width, height] = self.size;
        if width > MOST_PIXELS || height > MOST_PIXELS {
            return Err(Error::Size { size: self.size });
        }
        if height > 1 && self.stride / 2 < width {
            return Err(Error::Overlap { width, stride: self.stride });
        }
        Ok(())
    }

    /// Where a pixel is, in units.
    pub fn unit(&self, x: u32, y: u32) -> u32 {
        (self.offset / 2).wrapping_add(x).wrapping_add(y.wrapping_mul(self.stride / 2))
    }
}

/// Colours and depths that are drawn into. A primitive covers pixels of either; what lies outside of one is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Colours: alpha, red, green, blue from the highest bit down.
    pub color: Surface,
    /// Depths.
    pub depth: Surface,
}

impl Targets {
    /// Columns and rows that primitives may cover.
    pub fn size(&self) -> [u32; 2] {
        [0, 1].map(|axis| self.color.size[axis].max(self.depth.size[axis]))
    }
}

/// Pixels along a side of a tile.
pub(crate) const TILE: u32 = 64;
/// Pixels of a tile.
pub(crate) const TILE_PIXELS: usize = (TILE * TILE) as usize;
/// Words behind a tile's pixels: sixteen pixels from any place on are there.
const BEHIND: usize = 16;

/// Words of a tile's pixels and those behind.
pub(crate) type TileWords = [i32; TILE_PIXELS + BEHIND];

/// A square of a frame. Its rows begin with cache lines: fields stay in this order.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Tile {
    /// Colour in the lower half, depth in the upper, row by row.
    words: TileWords,
    /// What all of them are instead, until one is drawn.
    cleared: Option<i32>,
}

impl Tile {
    /// The words, to be drawn into.
    pub fn words_mut(&mut self) -> &mut TileWords {
        if let Some(word) = self.cleared.take() {
            self.words.fill(word);
        }
        &mut self.words
    }

    fn word(&self, at: usize) -> i32 {
        self.cleared.unwrap_or(self.words[at])
    }
}

/// Colours and depths at hand while primitives are drawn: between [`Frame::load`] and [`Frame::store`] memory has what was
/// there before, also for textures in the targets' place.
#[derive(Clone, Debug)]
pub struct Frame {
    targets: Targets,
    pub(crate) tiles: Vec<Tile>,
}

impl Frame {
    /// Takes pictures from memory. Colours outside of theirs are 0, depths the greatest.
    ///
    /// # Errors
    /// [`Error::Size`], [`Error::Overlap`].
    pub fn load(memory: &Memory, targets: &Targets) -> Result<Frame, Error> {
        targets.color.check()?;
        targets.depth.check()?;
        let [columns, rows] = targets.size().map(|pixels| pixels.div_ceil(TILE));
        let tile = Tile { words: [0; TILE_PIXELS + BEHIND], cleared: Some(word([0, 0xffff])) };
        let mut frame = Frame { targets: *targets, tiles: vec![tile; (columns * rows) as usize] };
        let mut row = vec![0; targets.size()[0] as usize];
        for y in 0..targets.size()[1] {
            row.fill(word([0, 0xffff]));
            for (plane, surface) in [&targets.color, &targets.depth].into_iter().enumerate() {
                let [width, height] = surface.size;
                if y < height {
                    let units = memory.row(surface.unit(0, y), width as usize);
                    row.iter_mut()
                        .zip(&*units)
                        .for_each(|(word, &unit)| *word = with_plane(*word, plane, unit));
                }
            }
            frame.set_row(y, &row);
        }
        Ok(frame)
    }

    /// Fills pictures.
    pub fn clear(&mut self, color: Option<u16>, depth: Option<u16>) {
        if let (Some(color), Some(depth)) = (color, depth)
            && self.targets.size() == self.targets.depth.size
        {
            self.tiles.iter_mut().for_each(|tile| tile.cleared = Some(word([color, depth])));
            return;
        }
        let mut row = Vec::new();
        let surfaces = [(self.targets.color, color), (self.targets.depth, depth)];
        for (plane, (surface, value)) in surfaces.into_iter().enumerate() {
            let Some(value) = value else { continue };
            let [width, height] = surface.size;
            for y in 0..height {
                self.row(y, &mut row);
                row.iter_mut().take(width as usize).for_each(|word| *word = with_plane(*word, plane, value));
                self.set_row(y, &row);
            }
        }
    }

    /// The tiles with a row of pixels.
    fn tiles_of(&self, y: u32) -> std::ops::Range<usize> {
        let columns = self.size()[0].div_ceil(TILE) as usize;
        let first = (y / TILE) as usize * columns;
        first..first + columns
    }

    /// Copies the words of a row to `out`, which is emptied first.
    fn row(&self, y: u32, out: &mut Vec<i32>) {
        let pixels = pixel_of_tile(0, y)..pixel_of_tile(0, y) + TILE as usize;
        out.clear();
        for tile in self.tiles.get(self.tiles_of(y)).unwrap_or_default() {
            match tile.cleared {
                Some(word) => out.extend([word; TILE as usize]),
                None => out.extend_from_slice(&tile.words[pixels.clone()]),
            }
        }
        out.truncate(self.size()[0] as usize);
    }

    /// Replaces the words of a row.
    fn set_row(&mut self, y: u32, words: &[i32]) {
        let (first, tiles) = (pixel_of_tile(0, y), self.tiles_of(y));
        let tiles = self.tiles.get_mut(tiles).unwrap_or_default();
        for (tile, words) in tiles.iter_mut().zip(words.chunks(TILE as usize)) {
            tile.words_mut()[first..first + words.len()].copy_from_slice(words);
        }
    }

    fn tile(&self, x: u32, y: u32) -> usize {
        let columns = self.size()[0].div_ceil(TILE);
        (y / TILE * columns + x / TILE) as usize
    }

    /// Colour and depth of a pixel; 0 outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u16; 2] {
        let word = self.tiles.get(self.tile(x, y)).map_or(0, |tile| tile.word(pixel_of_tile(x, y)));
        [word as u16, (word >> 16) as u16]
    }

    /// Replaces colour and depth of a pixel, if it is in the frame.
    pub fn set_pixel(&mut self, x: u32, y: u32, pixel: [u16; 2]) {
        let tile = self.tile(x, y);
        if let Some(tile) = self.tiles.get_mut(tile) {
            tile.words_mut()[pixel_of_tile(x, y)] = word(pixel);
        }
    }

    /// Puts the pictures back to memory, colours first.
    pub fn store(&self, memory: &mut Memory) {
        let mut row = Vec::new();
        for (plane, surface) in [&self.targets.color, &self.targets.depth].into_iter().enumerate() {
            let [width, height] = surface.size;
            for y in 0..height {
                self.row(y, &mut row);
                let words = row.get(..width as usize).unwrap_or_default();
                memory.set_row(surface.unit(0, y), words.iter().map(|word| (word >> (16 * plane)) as u16));
            }
        }
    }

    /// Colours and depths, a word each, row by row.
    pub fn words(&self) -> [Vec<u32>; 2] {
        let [width, height] = self.size();
        let mut planes = [0, 1].map(|_| Vec::with_capacity((width * height) as usize));
        let mut row = Vec::new();
        for y in 0..height {
            self.row(y, &mut row);
            for (plane, words) in planes.iter_mut().enumerate() {
                words.extend(row.iter().map(|&word| u32::from((word >> (16 * plane)) as u16)));
            }
        }
        planes
    }

    /// Replaces colours and depths, row by row; rows with missing words are left alone.
    pub fn set_words(&mut self, colors: &[u32], depths: &[u32]) {
        let width = self.size()[0] as usize;
        let mut row = vec![0; width];
        let rows = colors.chunks_exact(width.max(1)).zip(depths.chunks_exact(width.max(1)));
        for (y, (colors, depths)) in (0..self.size()[1]).zip(rows) {
            let pixels = colors.iter().zip(depths);
            row.iter_mut()
                .zip(pixels)
                .for_each(|(to, (&color, &depth))| *to = word([color as u16, depth as u16]));
            self.set_row(y, &row);
        }
    }

    /// Columns and rows that primitives may cover.
    pub fn size(&self) -> [u32; 2] {
        self.targets.size()
    }

    /// Where it is.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Its tiles for a number of primitives.
    pub(crate) fn grid(&self, primitives: u32) -> Grid {
        Grid { size: self.size(), primitives, tile: TILE }
    }
}

fn word([color, depth]: [u16; 2]) -> i32 {
    (u32::from(color) | u32::from(depth) << 16) as i32
}

/// A pixel with another colour, plane 0, or depth, plane 1.
fn with_plane(pixel: i32, plane: usize, value: u16) -> i32 {
    let shift = 16 * plane;
    pixel & !(0xffff << shift) | i32::from(value) << shift
}

/// Place of a pixel in its tile.
fn pixel_of_tile(x: u32, y: u32) -> usize {
    (y % TILE * TILE + x % TILE) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surface() -> impl Strategy<Value = Surface> {
        let size = [0u32..150, 0u32..70];
        (any::<u32>(), size, 0u32..40).prop_map(|(offset, size, more)| {
            let stride = 2 * (size[0] + more) + more % 2;
            Surface { offset, size, stride }
        })
    }

    fn memory() -> impl Strategy<Value = Memory> {
        (4u32..14, any::<u64>()).prop_map(|(bits, seed)| {
            let mut memory = Memory::new(1 << bits).unwrap();
            let mut rng = xenoglot_testgen::rng::Rng::new(seed);
            (0..1 << (bits - 1)).for_each(|at| memory.set_unit(at, rng.next_u32() as u16));
            memory
        })
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(64))]

        #[test]
        fn bytes_are_read_as_they_were_written(
            mut memory in memory(),
            at in any::<u32>(),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            more in 0u32..20,
        ) {
            let mut expected = memory.clone();
            for (at, &byte) in (0..).map(|i| at.wrapping_add(i)).zip(&bytes) {
                let mut halves = expected.unit(at / 2).to_le_bytes();
                halves[at as usize % 2] = byte;
                expected.set_unit(at / 2, u16::from_le_bytes(halves));
            }
            memory.write(at, &bytes);
            prop_assert!(memory == expected);
            let all = 0..bytes.len() as u32 + more;
            let read = all.clone().map(|i| at.wrapping_add(i));
            let read: Vec<u8> = read.map(|at| memory.unit(at / 2).to_le_bytes()[at as usize % 2]).collect();
            prop_assert_eq!(memory.read(at, all.end), read);
        }

        /// Rows go to where each pixel is, also where they wrap around at the end of memory.
        #[test]
        fn pictures_are_their_pixels(
            mut memory in memory(),
            color in surface(),
            depth in surface(),
            clear in proptest::option::of(any::<u16>()),
        ) {
            let targets = Targets { color, depth };
            let mut frame = Frame::load(&memory, &targets).unwrap();
            let [width, height] = targets.size();
            let mut expected = memory.clone();
            let planes = [(color, 0), (depth, 0xffff)];
            for [x, y] in (0..height).flat_map(|y| (0..width).map(move |x| [x, y])) {
                let pixel = planes.map(|(surface, outside)| {
                    let is_there = x < surface.size[0] && y < surface.size[1];
                    if is_there { memory.unit(surface.unit(x, y)) } else { outside }
                });
                prop_assert_eq!(frame.pixel(x, y), pixel);
            }
            let [colors, depths] = frame.words();
            let loaded = frame.clone();
            frame.clear(None, clear);
            frame.set_words(&colors, &depths);
            prop_assert_eq!(frame.words(), loaded.words());
            frame.clear(clear, None);
            for (plane, (surface, _)) in planes.into_iter().enumerate() {
                let [width, height] = surface.size;
                for [x, y] in (0..height).flat_map(|y| (0..width).map(move |x| [x, y])) {
                    let value = if plane == 0 { clear } else { None };
                    expected.set_unit(surface.unit(x, y), value.unwrap_or(loaded.pixel(x, y)[plane]));
                }
            }
            frame.store(&mut memory);
            prop_assert!(memory == expected);
        }
    }
}
