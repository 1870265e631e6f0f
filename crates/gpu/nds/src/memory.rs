//! Texture and palette memory as the rendering engine sees it: slots mapped, one after the other.

/// Bytes of texture memory: slots 0 to 3 of 128 KiB.
pub const TEXTURE_BYTES: usize = 0x80000;
/// Bytes of texture palette memory: slots 0 to 5 of 16 KiB.
pub const PALETTE_BYTES: usize = 0x18000;
/// Addresses of palette memory; those above [`PALETTE_BYTES`] read as zero.
const PALETTE_SPACE: usize = 0x20000;

/// Texture and palette memory. An address wraps around at the end of its space.
#[derive(Clone, PartialEq, Eq)]
pub struct TextureMemory {
    textures: Box<[u8; TEXTURE_BYTES]>,
    palettes: Box<[u16; PALETTE_SPACE / 2]>,
}

fn zeroed<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    let Ok(array) = vec![T::default(); N].into_boxed_slice().try_into() else { unreachable!("N elements") };
    array
}

impl Default for TextureMemory {
    fn default() -> TextureMemory {
        TextureMemory { textures: zeroed(), palettes: zeroed() }
    }
}

impl std::fmt::Debug for TextureMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextureMemory").finish_non_exhaustive()
    }
}

impl TextureMemory {
    /// Writes texture memory from `address` on, wrapping around.
    pub fn write_textures(&mut self, address: u32, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            self.textures[(address as usize).wrapping_add(i) % TEXTURE_BYTES] = *byte;
        }
    }

    /// Writes palette memory from `address` on, wrapping around; writes to unmapped addresses are dropped.
    pub fn write_palettes(&mut self, address: u32, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            let at = (address as usize).wrapping_add(i) % PALETTE_SPACE;
            if at < PALETTE_BYTES {
                let color = &mut self.palettes[at / 2];
                let mut pair = color.to_le_bytes();
                pair[at % 2] = *byte;
                *color = u16::from_le_bytes(pair);
            }
        }
    }

    /// Texture memory.
    pub fn textures(&self) -> &[u8; TEXTURE_BYTES] {
        &self.textures
    }

    /// Palette memory as bytes.
    pub fn palettes(&self) -> Vec<u8> {
        self.palettes.iter().take(PALETTE_BYTES / 2).flat_map(|c| c.to_le_bytes()).collect()
    }

    /// Both as words: texture memory, then the whole space of palettes.
    #[cfg(feature = "compute")]
    pub(crate) fn words(&self) -> Vec<u32> {
        let textures = self.textures.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes));
        let palettes =
            self.palettes.as_chunks::<2>().0.iter().map(|&[a, b]| u32::from(a) | u32::from(b) << 16);
        textures.chain(palettes).collect()
    }

    /// A byte of a texture.
    #[inline]
    pub fn byte(&self, address: u32) -> u8 {
        self.textures[address as usize % TEXTURE_BYTES]
    }

    /// Two bytes of a texture; bit 0 of the address does not count.
    #[inline]
    pub fn half(&self, address: u32) -> u16 {
        let at = (address as usize % TEXTURE_BYTES) & !1;
        u16::from_le_bytes([self.textures[at], self.textures[at | 1]])
    }

    /// The row of an image of 256 halves that `address` is in.
    #[inline(always)]
    pub(crate) fn halves(&self, address: u32) -> &[[u8; 2]] {
        let at = (address as usize % TEXTURE_BYTES) & !0x1ff;
        self.textures[at..at + 0x200].as_chunks().0
    }

    /// A colour of a palette by byte address; bit 0 does not count.
    #[inline]
    pub fn color(&self, address: u32) -> u16 {
        self.palettes[address as usize % PALETTE_SPACE / 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_wrap_and_unmapped_palettes_are_black() {
        let mut memory = TextureMemory::default();
        memory.write_textures(TEXTURE_BYTES as u32 - 1, &[1, 2]);
        assert_eq!((memory.byte(0x7ffff), memory.byte(0x80000), memory.half(0)), (1, 2, 2));
        memory.write_palettes(0x17ffe, &[1, 2, 3, 4]);
        assert_eq!((memory.color(0x17ffe), memory.color(0x18000), memory.color(0x37ffe)), (0x201, 0, 0x201));
        assert_eq!(memory.palettes().len(), PALETTE_BYTES);
    }
}
