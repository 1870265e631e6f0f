//! Pixel formats of display transfers. They are numbered differently from colour buffers' formats.

use super::TransferError;

/// A format of the transfer engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pixel {
    Rgba8,
    Rgb8,
    Rgb565,
    Rgb5A1,
    Rgba4,
}

/// A field of 16-bit pixels: lowest bit and width.
type Field = (u32, u32);

fn widen(value: u32, bits: u32) -> u8 {
    match bits {
        0 => 255,
        1 => (value * 255) as u8,
        _ => (value << (8 - bits) | value >> (2 * bits).saturating_sub(8)) as u8,
    }
}

impl Pixel {
    pub fn of(number: u32) -> Result<Pixel, TransferError> {
        match number {
            0 => Ok(Pixel::Rgba8),
            1 => Ok(Pixel::Rgb8),
            2 => Ok(Pixel::Rgb565),
            3 => Ok(Pixel::Rgb5A1),
            4 => Ok(Pixel::Rgba4),
            _ => Err(TransferError::Format(number)),
        }
    }

    /// Its number, as [`Pixel::of`] has it.
    #[cfg(feature = "host")]
    pub fn number(self) -> u32 {
        self as u32
    }

    pub fn bytes(self) -> u32 {
        match self {
            Pixel::Rgba8 => 4,
            Pixel::Rgb8 => 3,
            Pixel::Rgb565 | Pixel::Rgb5A1 | Pixel::Rgba4 => 2,
        }
    }

    /// r, g, b, a of a 16-bit pixel.
    fn fields(self) -> [Field; 4] {
        match self {
            Pixel::Rgb565 => [(11, 5), (5, 6), (0, 5), (0, 0)],
            Pixel::Rgb5A1 => [(11, 5), (6, 5), (1, 5), (0, 1)],
            _ => [(12, 4), (8, 4), (4, 4), (0, 4)],
        }
    }

    /// r, g, b, a; alpha is 255 where the format has none.
    pub fn decode(self, bytes: &[u8]) -> [u8; 4] {
        match *bytes {
            [a, b, g, r] => [r, g, b, a],
            [b, g, r] => [r, g, b, 255],
            [low, high] => {
                let word = u32::from(u16::from_le_bytes([low, high]));
                self.fields().map(|(lo, bits)| widen(word >> lo & ((1 << bits) - 1), bits))
            }
            _ => [0; 4],
        }
    }

    /// The first [`Pixel::bytes`] of these are the pixel; channels keep their highest bits.
    pub fn encode(self, [r, g, b, a]: [u8; 4]) -> [u8; 4] {
        match self {
            Pixel::Rgba8 => [a, b, g, r],
            Pixel::Rgb8 => [b, g, r, 0],
            _ => {
                let narrow = |(channel, (lo, bits))| (u32::from(channel) >> (8 - bits)) << lo;
                let word = [r, g, b, a].into_iter().zip(self.fields()).map(narrow).sum::<u32>();
                word.to_le_bytes()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_16_bit_pixel_survives() {
        for pixel in [Pixel::Rgb565, Pixel::Rgb5A1, Pixel::Rgba4] {
            for word in 0..=u16::MAX {
                let back = pixel.encode(pixel.decode(&word.to_le_bytes()));
                assert_eq!(back[..2], word.to_le_bytes(), "{pixel:?}");
            }
        }
    }

    #[test]
    fn widening_repeats_the_highest_bits() {
        assert_eq!(Pixel::Rgb565.decode(&0xf81fu16.to_le_bytes()), [255, 0, 255, 255]);
        assert_eq!(Pixel::Rgb565.decode(&0x8400u16.to_le_bytes()), [132, 130, 0, 255]);
        assert_eq!(Pixel::Rgba4.decode(&0x1234u16.to_le_bytes()), [0x11, 0x22, 0x33, 0x44]);
        assert_eq!(Pixel::Rgb8.decode(&[1, 2, 3]), [3, 2, 1, 255]);
        assert_eq!(Pixel::Rgba8.decode(&[1, 2, 3, 4]), [4, 3, 2, 1]);
    }
}
