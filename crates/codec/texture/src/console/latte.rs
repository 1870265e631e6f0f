//! Tiled surfaces of Latte, the Wii U's GPU, which is of the R600 family: tiles of 8x8 elements, either in rows or spread over two
//! pipes and four banks of memory. The facts are from AMD's address library, published for the R600 as
//! <https://github.com/decaf-emu/addrlib>.

use thiserror::Error;

/// Elements along a side of a tile.
const TILE: usize = 8;
const TILE_ELEMENTS: usize = TILE * TILE;
const PIPES: usize = 2;
const BANKS: usize = 4;
/// Bytes of the pipe interleave: so many lie together in a bank of a pipe.
const GROUP: usize = 256;
/// Elements along the sides of a macro tile, which has a tile in each bank of each pipe.
const MACRO: [usize; 2] = [TILE * BANKS, TILE * PIPES];

/// How tiles lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// In rows: GX2's tile mode 2, `1D_TILED_THIN1`.
    Micro,
    /// In macro tiles: GX2's tile mode 4, `2D_TILED_THIN1`. The number, of three bits, is the surface's swizzle, which changes the
    /// pipe (its lowest bit) and the bank of every tile.
    Macro(u8),
}

/// A surface, in elements: texels, or blocks of a compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Surface {
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub rows: u32,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub element: u32,
    /// How its tiles lie.
    pub tiling: Tiling,
}

/// Why nothing was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The tiled memory is too short.
    #[error("the tiled memory is {given} bytes, the surface has {needed}")]
    Tiled {
        /// Bytes of the surface.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The linear memory is too short.
    #[error("the linear memory is {given} bytes, the surface has {needed}")]
    Linear {
        /// Bytes of the surface.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// No surface has such elements, or it has more bytes than an address counts.
    #[error("there is no surface {0:?}")]
    Surface(Surface),
}

impl Surface {
    /// Bytes in rows without padding; nothing if they cannot be counted.
    pub fn linear_bytes(self) -> Option<usize> {
        (self.width as usize).checked_mul(self.rows as usize)?.checked_mul(self.element_bytes()?)
    }

    /// Bytes in whole tiles, and in whole groups of them; nothing if they cannot be counted.
    pub fn tiled_bytes(self) -> Option<usize> {
        let [pitch, rows] = self.padded()?;
        pitch.checked_mul(rows)?.checked_mul(self.element_bytes()?)
    }

    /// Writes the tiled surface as rows without padding to `linear`.
    ///
    /// # Errors
    /// When either is too short, or there is no such surface; nothing is written then.
    pub fn untile(self, tiled: &[u8], linear: &mut [u8]) -> Result<(), Error> {
        let none = Error::Surface(self);
        let needed = self.linear_bytes().ok_or(none)?;
        let given = linear.len();
        let linear = linear.get_mut(..needed).ok_or(Error::Linear { needed, given })?;
        let needed = self.tiled_bytes().ok_or(none)?;
        if tiled.len() < needed {
            return Err(Error::Tiled { needed, given: tiled.len() });
        }
        let ([pitch, _], Some(size)) = (self.padded().ok_or(none)?, self.element_bytes()) else {
            return Err(none);
        };
        if linear.is_empty() {
            return Ok(());
        }
        for (y, row) in linear.chunks_exact_mut(self.width as usize * size).enumerate() {
            for (x, element) in row.chunks_exact_mut(size).enumerate() {
                let at = self.address(x, y, pitch, size);
                if let Some(tiled) = tiled.get(at..at + size) {
                    element.copy_from_slice(tiled);
                }
            }
        }
        Ok(())
    }

    fn element_bytes(self) -> Option<usize> {
        matches!(self.element, 1 | 2 | 4 | 8 | 16).then_some(self.element as usize)
    }

    /// Elements of a row and rows with padding: a row of tiles, or of tiles of one bank, is whole groups.
    fn padded(self) -> Option<[usize; 2]> {
        let in_group = (GROUP / TILE_ELEMENTS / self.element_bytes()?).max(1);
        let [across, down] = match self.tiling {
            Tiling::Micro => [TILE, TILE],
            Tiling::Macro(_) => MACRO,
        };
        Some([
            (self.width as usize).checked_next_multiple_of(across * in_group)?,
            (self.rows as usize).checked_next_multiple_of(down)?,
        ])
    }

    /// Where an element lies.
    fn address(self, x: usize, y: usize, pitch: usize, size: usize) -> usize {
        let in_tile = place(x, y, size) * size;
        match self.tiling {
            Tiling::Micro => (x / TILE + y / TILE * (pitch / TILE)) * TILE_ELEMENTS * size + in_tile,
            Tiling::Macro(swizzle) => {
                let tile = x / MACRO[0] + y / MACRO[1] * (pitch / MACRO[0]);
                let (across, down) = (x / TILE, y / TILE);
                let pipe = (across ^ down) & 1;
                let bank = [(across ^ (down / 4)) & 1, ((across / 2) ^ (down / 2)) & 1];
                let place = (pipe | bank[0] << 1 | bank[1] << 2) ^ usize::from(swizzle & 7);
                let offset = tile * TILE_ELEMENTS * size + in_tile;
                (offset / GROUP * (PIPES * BANKS) + place) * GROUP + offset % GROUP
            }
        }
    }
}

/// The number of an element in its tile: the bits of both places, in an order for each size of elements.
fn place(x: usize, y: usize, size: usize) -> usize {
    let (x, y) = ([x & 1, x >> 1 & 1, x >> 2 & 1], [y & 1, y >> 1 & 1, y >> 2 & 1]);
    let bits = match size {
        1 => [x[0], x[1], x[2], y[1], y[0], y[2]],
        2 => [x[0], x[1], x[2], y[0], y[1], y[2]],
        4 => [x[0], x[1], y[0], x[2], y[1], y[2]],
        8 => [x[0], y[0], x[1], x[2], y[1], y[2]],
        _ => [y[0], x[0], x[1], x[2], y[1], y[2]],
    };
    bits.iter().rev().fold(0, |place, bit| place << 1 | bit)
}
