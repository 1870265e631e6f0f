//! The command FIFO's entries: register writes, and what they mean.
//!
//! The names are the original's; register numbers and the layout of values are this project's.
//!
//! | register | value |
//! |---|---|
//! | 00 | wait until all signals of the mask are there, and clear them |
//! | 01, 02 | program address; load the program |
//! | 10 + tb | tile format: 0 RGB565, 1 RGBA5551, 2 RGBA8888, 3 Z16 |
//! | 14 + tb | address of the tile's first pixel in memory |
//! | 18 + tb | what a fill writes, in the tile's format |
//! | 1c | bytes from row to row in memory, of all tiles |
//! | 20 | bits 3–0 attributes of a vertex (1–15, with the position), bit 8 perspective |
//! | 21, 22 | address of vertices, of indices |
//! | 23 | number of triangles, 16 bits |
//! | 24 | the bin's first pixel: x in 15–0, y in 31–16 |
//! | 25 | bits 2n + 1 and 2n: the tile buffer that programs call tb n |
//! | 26 | triangles that are not drawn: 0 none, 1 clockwise, 2 counter-clockwise ones |
//! | 30, 32, 33 | fill, store, load the tile buffer in 29–28 |
//! | 31 | draw the triangles |
//! | 40–43 | lanes x, y, z, w for the next write of a global |
//! | 44 | write the global in 31–28 |
//! | 50 + n, 54 + n | address of texture n, of its palette |
//! | 58 + n | format of texture n: 3–0 and 7–4 logarithms of width and height (3–10), 9–8 format (0 RGB565, 1 RGBA5551, 2 palette), 12 bilinear |
//!
//! Bits 27–0 of what starts a unit are the signals raised when it is done. Bits without a meaning have to be zero.

use crate::machine::Faults;
use serde::{Deserialize, Serialize};
use xenoglot_vpu::texture::TexelFormat;
use xenoglot_vpu::{TILE_BUFFERS, Texture, TileFormat};

/// An entry of the FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Write {
    /// Register.
    pub register: u8,
    /// Value.
    pub value: u32,
}

/// Signals by the original's names. The numbers, and all but the four first groups' bits, are this project's; any other
/// use of the 28 bits is as good.
pub mod sig {
    /// The program is loaded.
    pub const VPU_PROG: u32 = 1;
    /// The tile buffer is filled.
    pub const CLEAR_TILE: u32 = 1 << 1;
    /// The triangles are drawn.
    pub const TRIANGLES: u32 = 1 << 2;
    /// Tile buffer 0 is stored; 1 to 3 follow.
    pub const VPU_TILE0: u32 = 1 << 4;
    /// Tile buffer 0 is loaded; 1 to 3 follow.
    pub const LOAD_TILE0: u32 = 1 << 8;
    /// The global is written.
    pub const GLOBAL: u32 = 1 << 12;
    /// All there are.
    pub const ALL: u32 = (1 << 28) - 1;
}

/// Which triangles are not drawn, by their winding as seen on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Cull {
    /// All are drawn.
    #[default]
    None,
    /// Clockwise ones are not.
    Clockwise,
    /// Counter-clockwise ones are not.
    CounterClockwise,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the registers; the table above has units")]
pub enum Command {
    SigWait(u32),
    SetVpuProgram(u32),
    ExecVpuProgramLoad { sig: u32 },
    SetVpuTileFormat(u8, TileFormat),
    SetVpuTileAddr(u8, u32),
    SetFillTileBufferValue(u8, u32),
    SetTileStride(u32),
    SetTriangleVertexFormat { attributes: u8, perspective: bool },
    SetTriangleVertexDataAddr(u32),
    SetTriangleIndexDataAddr(u32),
    SetTriangleCount(u16),
    SetBinTopLeft(u16, u16),
    SetDrawTargets([u8; TILE_BUFFERS]),
    SetCull(Cull),
    ExecFillTileBuffer { tile: u8, sig: u32 },
    ExecDrawTriangles { sig: u32 },
    ExecVpuTileStore { tile: u8, sig: u32 },
    ExecVpuTileLoad { tile: u8, sig: u32 },
    SetVpuGlobal(u8, u32),
    ExecWriteVpuGlobal { global: u8, sig: u32 },
    SetTextureAddr(u8, u32),
    SetTexturePalette(u8, u32),
    SetTextureFormat(u8, Texture),
}

impl Command {
    /// Reads a write. Textures come without addresses.
    ///
    /// # Errors
    /// The fault of a register that does not exist or of a value without a meaning.
    pub fn decode(write: Write) -> Result<Command, Faults> {
        let Write { register, value } = write;
        let n = register & 3;
        let sig = value & sig::ALL;
        let within = |mask: u32| if value & !mask == 0 { Ok(()) } else { Err(Faults::VALUE) };
        let tile = || within(sig::ALL | 3 << 28).map(|()| (value >> 28) as u8);
        Ok(match register {
            0x00 => within(sig::ALL).map(|()| Command::SigWait(value))?,
            0x01 => Command::SetVpuProgram(value),
            0x02 => within(sig::ALL).map(|()| Command::ExecVpuProgramLoad { sig })?,
            0x10..0x14 => Command::SetVpuTileFormat(n, TileFormat::from_bits(value).ok_or(Faults::VALUE)?),
            0x14..0x18 => Command::SetVpuTileAddr(n, value),
            0x18..0x1c => Command::SetFillTileBufferValue(n, value),
            0x1c => Command::SetTileStride(value),
            0x20 => {
                within(0x10f)?;
                let attributes = (value & 15) as u8;
                if attributes == 0 {
                    return Err(Faults::VALUE);
                }
                Command::SetTriangleVertexFormat { attributes, perspective: value >> 8 != 0 }
            }
            0x21 => Command::SetTriangleVertexDataAddr(value),
            0x22 => Command::SetTriangleIndexDataAddr(value),
            0x23 => within(0xffff).map(|()| Command::SetTriangleCount(value as u16))?,
            0x24 => Command::SetBinTopLeft(value as u16, (value >> 16) as u16),
            0x25 => {
                within(0xff)?;
                Command::SetDrawTargets(std::array::from_fn(|n| (value >> (2 * n) & 3) as u8))
            }
            0x26 => Command::SetCull(match value {
                0 => Cull::None,
                1 => Cull::Clockwise,
                2 => Cull::CounterClockwise,
                _ => return Err(Faults::VALUE),
            }),
            0x30 => Command::ExecFillTileBuffer { tile: tile()?, sig },
            0x31 => within(sig::ALL).map(|()| Command::ExecDrawTriangles { sig })?,
            0x32 => Command::ExecVpuTileStore { tile: tile()?, sig },
            0x33 => Command::ExecVpuTileLoad { tile: tile()?, sig },
            0x40..0x44 => Command::SetVpuGlobal(n, value),
            0x44 => Command::ExecWriteVpuGlobal { global: (value >> 28) as u8, sig },
            0x50..0x54 => Command::SetTextureAddr(n, value),
            0x54..0x58 => Command::SetTexturePalette(n, value),
            0x58..0x5c => {
                within(0x13ff)?;
                let log2_size = [(value & 15) as u8, (value >> 4 & 15) as u8];
                if !log2_size.iter().all(|l| (3..=10).contains(l)) {
                    return Err(Faults::VALUE);
                }
                let format = TexelFormat::from_bits(value >> 8 & 3).ok_or(Faults::VALUE)?;
                let bilinear = value >> 12 != 0;
                Command::SetTextureFormat(n, Texture { log2_size, format, bilinear, ..Texture::default() })
            }
            _ => return Err(Faults::REGISTER),
        })
    }

    /// The write. Numbers of tile buffers, globals and textures are taken modulo what there is, signals beyond
    /// [`sig::ALL`] are dropped.
    pub fn encode(self) -> Write {
        let at = |base: u8, n: u8| base + (n & 3);
        let exec = |n: u8, sig: u32| u32::from(n) << 28 | sig & sig::ALL;
        let (register, value) = match self {
            Command::SigWait(mask) => (0x00, mask & sig::ALL),
            Command::SetVpuProgram(address) => (0x01, address),
            Command::ExecVpuProgramLoad { sig } => (0x02, exec(0, sig)),
            Command::SetVpuTileFormat(tile, format) => (at(0x10, tile), format as u32),
            Command::SetVpuTileAddr(tile, address) => (at(0x14, tile), address),
            Command::SetFillTileBufferValue(tile, value) => (at(0x18, tile), value),
            Command::SetTileStride(bytes) => (0x1c, bytes),
            Command::SetTriangleVertexFormat { attributes, perspective } => {
                (0x20, u32::from(attributes & 15) | u32::from(perspective) << 8)
            }
            Command::SetTriangleVertexDataAddr(address) => (0x21, address),
            Command::SetTriangleIndexDataAddr(address) => (0x22, address),
            Command::SetTriangleCount(count) => (0x23, count.into()),
            Command::SetBinTopLeft(x, y) => (0x24, u32::from(x) | u32::from(y) << 16),
            Command::SetDrawTargets(tiles) => {
                (0x25, tiles.iter().rev().fold(0, |all, &t| all << 2 | u32::from(t & 3)))
            }
            Command::SetCull(cull) => (0x26, cull as u32),
            Command::ExecFillTileBuffer { tile, sig } => (0x30, exec(tile & 3, sig)),
            Command::ExecDrawTriangles { sig } => (0x31, exec(0, sig)),
            Command::ExecVpuTileStore { tile, sig } => (0x32, exec(tile & 3, sig)),
            Command::ExecVpuTileLoad { tile, sig } => (0x33, exec(tile & 3, sig)),
            Command::SetVpuGlobal(lane, value) => (at(0x40, lane), value),
            Command::ExecWriteVpuGlobal { global, sig } => (0x44, exec(global & 15, sig)),
            Command::SetTextureAddr(n, address) => (at(0x50, n), address),
            Command::SetTexturePalette(n, address) => (at(0x54, n), address),
            Command::SetTextureFormat(n, texture) => {
                let [w, h] = texture.log2_size.map(|l| u32::from(l & 15));
                let format = (texture.format as u32) << 8 | u32::from(texture.bilinear) << 12;
                (at(0x58, n), w | h << 4 | format)
            }
        };
        Write { register, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn what_is_decoded_encodes_to_the_same(register in any::<u8>(), value in any::<u32>(), mask in 0u32..32) {
            let write = Write { register, value: value >> mask };
            match Command::decode(write) {
                Ok(command) => prop_assert_eq!(command.encode(), write),
                Err(fault) => prop_assert!(!fault.is_empty()),
            }
        }
    }
}
