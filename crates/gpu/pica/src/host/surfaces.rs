//! Colour and depth buffers on the device: a word per pixel in the order of guest memory.

use xenoglot_host::{Buffer, Commands, Device, Error};

use crate::memory::Memory;
use crate::raster::framebuffer::PixelBuffer;
use crate::texture::tiling::TILE;

/// Buffers that were drawn to since they were last in guest memory.
#[derive(Debug, Default)]
pub struct Surfaces {
    list: Vec<Surface>,
}

#[derive(Debug)]
struct Surface {
    place: PixelBuffer,
    /// Pixels, a multiple of a tile's.
    pixels: u32,
    buffer: Buffer,
    /// First and last tile that were drawn to.
    drawn: Option<(u32, u32)>,
}

impl Surface {
    /// Start and length in guest memory.
    fn range(&self) -> (u32, u32) {
        (self.place.address, self.pixels.wrapping_mul(self.place.bytes))
    }
}

/// Whether two ranges of start and length have an address in common.
fn overlap((a, a_len): (u32, u32), (b, b_len): (u32, u32)) -> bool {
    a.wrapping_sub(b) < b_len || b.wrapping_sub(a) < a_len
}

impl Surfaces {
    /// Whether something that was drawn is not in guest memory and lies in one of these ranges of start and length.
    pub fn is_drawn(&self, mut ranges: impl Iterator<Item = (u32, u32)>) -> bool {
        ranges.any(|range| self.list.iter().any(|s| s.drawn.is_some() && overlap(s.range(), range)))
    }

    /// Whether a buffer is there, or can be made without one that was drawn to being in the way.
    pub fn has_room(&self, place: PixelBuffer, pixels: u32) -> bool {
        let range = (place.address, pixels.wrapping_mul(place.bytes));
        self.list.iter().all(|s| s.drawn.is_none() || s.fits(place, pixels) || !overlap(s.range(), range))
    }

    /// The buffer at a place with at least so many pixels, as guest memory has it if it is not there yet. The tiles
    /// `drawn`, first and last, are to be drawn to.
    pub fn get(
        &mut self,
        device: &Device,
        memory: &dyn Memory,
        place: PixelBuffer,
        pixels: u32,
        drawn: (u32, u32),
    ) -> Result<Buffer, Error> {
        let found = self.list.iter().position(|surface| surface.fits(place, pixels));
        let surface = match found {
            Some(index) => &mut self.list[index],
            None => {
                let buffer = device.buffer_of(&load(memory, place, pixels))?;
                let surface = Surface { place, pixels, buffer, drawn: None };
                // Others there hold what guest memory has.
                self.list.retain(|other| !overlap(other.range(), surface.range()));
                self.list.push_mut(surface)
            }
        };
        let (first, last) = surface.drawn.unwrap_or(drawn);
        surface.drawn = Some((first.min(drawn.0), last.max(drawn.1)));
        Ok(surface.buffer.clone())
    }

    /// Brings to guest memory what was drawn after `commands` are done, and forgets all buffers.
    pub fn flush(
        &mut self,
        device: &Device,
        commands: &mut Commands,
        memory: &mut dyn Memory,
    ) -> Result<(), Error> {
        let drawn: Vec<(Surface, (u32, u32))> = self
            .list
            .drain(..)
            .filter_map(|surface| {
                let drawn = surface.drawn?;
                Some((surface, drawn))
            })
            .collect();
        commands.submit(device)?;
        if drawn.is_empty() {
            return Ok(());
        }
        let tile_bytes = TILE as u64 * 4;
        let parts: Vec<_> = drawn
            .iter()
            .map(|(surface, (first, last))| {
                (&surface.buffer, u64::from(*first) * tile_bytes..u64::from(last + 1) * tile_bytes)
            })
            .collect();
        let parts = device.read(&parts)?;
        for ((surface, (first, _)), words) in drawn.iter().zip(&parts) {
            store(memory, surface.place, *first, words);
        }
        Ok(())
    }
}

impl Surface {
    fn fits(&self, place: PixelBuffer, pixels: u32) -> bool {
        self.place == place && self.pixels >= pixels
    }
}

/// Address of a tile; buffers go on at 0 where addresses end.
fn tile_address(place: PixelBuffer, tile: u32) -> u32 {
    place.address.wrapping_add(tile.wrapping_mul(TILE as u32 * place.bytes))
}

/// The words of a buffer's pixels; what is not memory is 0.
pub(super) fn load(memory: &dyn Memory, place: PixelBuffer, pixels: u32) -> Vec<u32> {
    let mut words = vec![0; pixels as usize];
    let size = place.bytes as usize;
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    for (tile, words) in (0..).zip(words.chunks_mut(TILE)) {
        let address = tile_address(place, tile);
        match memory.bytes(address, TILE as u32 * place.bytes) {
            Some(bytes) => {
                for (to, from) in words.iter_mut().zip(bytes.chunks_exact(size)) {
                    *to = word(from);
                }
            }
            None => {
                for (pixel, to) in (0..).zip(words) {
                    let address = address.wrapping_add(pixel * place.bytes);
                    *to = memory.bytes(address, place.bytes).map_or(0, word);
                }
            }
        }
    }
    words
}

/// Puts words of pixels from a tile on into memory; what is not memory is dropped.
pub(super) fn store(memory: &mut dyn Memory, place: PixelBuffer, first: u32, words: &[u32]) {
    let size = place.bytes as usize;
    for (tile, words) in (first..).zip(words.chunks(TILE)) {
        let address = tile_address(place, tile);
        match memory.bytes_mut(address, TILE as u32 * place.bytes) {
            Some(bytes) => {
                for (to, from) in bytes.chunks_exact_mut(size).zip(words) {
                    to.copy_from_slice(&from.to_le_bytes()[..size]);
                }
            }
            None => {
                for (pixel, word) in (0..).zip(words) {
                    let address = address.wrapping_add(pixel * place.bytes);
                    if let Some(to) = memory.bytes_mut(address, place.bytes) {
                        to.copy_from_slice(&word.to_le_bytes()[..size]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Regions;

    /// Three bytes a pixel, and a hole between two memories.
    #[test]
    fn words_come_back_where_there_is_memory() {
        let place = PixelBuffer { address: 0x1000, bytes: 3 };
        let mut memory = Regions::new();
        memory.add(0x1000, (0..=199).collect());
        memory.add(0x1000 + 300, vec![7; 84]);
        let mut words = load(&memory, place, 128);
        assert_eq!((words[0], words[65], words[66], words[100]), (0x02_0100, 0xc5_c4c3, 0, 0x07_0707));
        for word in &mut words {
            *word ^= 0xff_ffff;
        }
        store(&mut memory, place, 1, &words[64..]);
        assert_eq!(memory.bytes(0x1000, 3), Some(&[0, 1, 2][..]), "another tile");
        assert_eq!(memory.bytes(0x1000 + 195, 5), Some(&[!195, !196, !197, 198, 199][..]));
        assert_eq!(memory.bytes(0x1000 + 300, 1), Some(&[0xf8][..]));
    }

    #[test]
    fn ranges_overlap_across_the_end_of_addresses() {
        assert!(overlap((u32::MAX, 8), (3, 4)) && overlap((3, 4), (u32::MAX, 8)));
        assert!(!overlap((0, 4), (4, 4)));
    }
}
