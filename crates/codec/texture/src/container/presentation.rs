//! What files say of texels beside their format: how they stand for light, and which way up a picture is.

use std::fmt;

/// How colours stand for light. Alpha is proportional to what it covers, whatever this is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// The file does not say: `.astc`, and DDS without the DX10 header.
    #[default]
    Unknown,
    /// Values are proportional to light, or no colours at all.
    Linear,
    /// Red, green and blue are encoded by the function of sRGB.
    Srgb,
    /// They are encoded by another function: its number, above 2, of the Khronos Data Format specification
    /// (`KHR_DF_TRANSFER_*`). Only KTX 2 has such.
    Other(u8),
}

impl Transfer {
    /// That of a format's number.
    pub(super) const fn of_number(srgb: bool) -> Transfer {
        if srgb { Transfer::Srgb } else { Transfer::Linear }
    }

    /// The function of a number of the Khronos Data Format specification.
    pub const fn from_number(number: u8) -> Transfer {
        match number {
            0 => Transfer::Unknown,
            1 => Transfer::Linear,
            2 => Transfer::Srgb,
            other => Transfer::Other(other),
        }
    }

    /// Its number there.
    pub const fn number(self) -> u8 {
        match self {
            Transfer::Unknown => 0,
            Transfer::Linear => 1,
            Transfer::Srgb => 2,
            Transfer::Other(number) => number,
        }
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transfer::Unknown => f.write_str("unknown"),
            Transfer::Linear => f.write_str("linear"),
            Transfer::Srgb => f.write_str("srgb"),
            Transfer::Other(number) => write!(f, "KHR_DF_TRANSFER {number}"),
        }
    }
}

/// What a component of a texel is to be read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The component red, green, blue or alpha, by its number from 0.
    Component(u8),
    /// 0.
    Zero,
    /// 1.
    One,
}

/// What red, green, blue and alpha are to be read from. Decoding leaves components where the file has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle(pub [Source; 4]);

impl Swizzle {
    /// From the letters of KTX 2.
    pub(super) fn from_letters(letters: &[u8]) -> Option<Swizzle> {
        let letters: [u8; 4] = letters.try_into().ok()?;
        let mut sources = [Source::Zero; 4];
        for (source, letter) in sources.iter_mut().zip(letters) {
            *source = match letter {
                b'r' => Source::Component(0),
                b'g' => Source::Component(1),
                b'b' => Source::Component(2),
                b'a' => Source::Component(3),
                b'0' => Source::Zero,
                b'1' => Source::One,
                _ => return None,
            };
        }
        Some(Swizzle(sources))
    }
}

/// As the letters of KTX 2.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for source in self.0 {
            f.write_str(match source {
                Source::Component(0) => "r",
                Source::Component(1) => "g",
                Source::Component(2) => "b",
                Source::Component(_) => "a",
                Source::Zero => "0",
                Source::One => "1",
            })?;
        }
        Ok(())
    }
}

/// A component encoded by sRGB, 0..=1, to a linear one (IEC 61966-2-1).
pub fn srgb_to_linear(encoded: f32) -> f32 {
    let encoded = f64::from(encoded);
    let linear = if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) };
    linear as f32
}

/// A linear component, 0..=1, encoded by sRGB.
pub fn linear_to_srgb(linear: f32) -> f32 {
    let linear = f64::from(linear);
    let encoded = if linear <= 0.0031308 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    encoded as f32
}

/// Where a picture's texels lie when it is seen: the directions in which the coordinates s, t and r of texels grow. The
/// default is what files mean that do not say: to the right, down, and away from the viewer.
///
/// Images hold texels in the order of the file; nothing here turns them over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orientation {
    /// s grows to the left: the first texel of a row is its right end.
    pub left: bool,
    /// t grows upwards: the first row is the lowest.
    pub up: bool,
    /// r grows towards the viewer: the first slice is the farthest.
    pub out: bool,
}

impl Orientation {
    /// From the letters of KTX 2: `rd`, `ru`, `ruo`, for as many dimensions as the texture has.
    pub(super) fn from_letters(letters: &[u8]) -> Option<Orientation> {
        let (s, rest) = letters.split_first()?;
        let (t, rest) = rest.split_first().unwrap_or((&b'd', &[]));
        let (r, rest) = rest.split_first().unwrap_or((&b'i', &[]));
        if !rest.is_empty() {
            return None;
        }
        let is = |letter: &u8, default: u8, other: u8| match *letter {
            letter if letter == default => Some(false),
            letter if letter == other => Some(true),
            _ => None,
        };
        Some(Orientation { left: is(s, b'r', b'l')?, up: is(t, b'd', b'u')?, out: is(r, b'i', b'o')? })
    }

    /// From the text of KTX 1: `S=r,T=d,R=i`.
    pub(super) fn from_assignments(text: &[u8]) -> Option<Orientation> {
        let mut letters = Vec::with_capacity(3);
        for (assignment, name) in text.split(|&byte| byte == b',').zip(b"STR") {
            match assignment {
                [axis, b'=', letter] if axis == name => letters.push(*letter),
                _ => return None,
            }
        }
        Orientation::from_letters(&letters)
    }

    /// The letters of KTX 2 for a texture of 1 to 3 dimensions.
    pub fn letters(self, dimensions: usize) -> String {
        let letters = [
            if self.left { 'l' } else { 'r' },
            if self.up { 'u' } else { 'd' },
            if self.out { 'o' } else { 'i' },
        ];
        letters.into_iter().take(dimensions).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_there_and_back() {
        for byte in 0..=255u8 {
            let encoded = f32::from(byte) / 255.0;
            let back = linear_to_srgb(srgb_to_linear(encoded));
            assert_eq!((back * 255.0).round() as u8, byte);
        }
        // Values of the standard's tables.
        assert!((srgb_to_linear(0.5) - 0.214_041_14).abs() < 1e-7);
        assert!((linear_to_srgb(0.5) - 0.735_357).abs() < 1e-6);
        assert_eq!((srgb_to_linear(0.0), srgb_to_linear(1.0)), (0.0, 1.0));
    }

    #[test]
    fn orientations_of_both_ktx() {
        let up = Orientation { up: true, ..Orientation::default() };
        assert_eq!(Orientation::from_letters(b"ru"), Some(up));
        assert_eq!(Orientation::from_assignments(b"S=r,T=u"), Some(up));
        let all = Orientation { left: true, up: true, out: true };
        assert_eq!(Orientation::from_letters(b"luo"), Some(all));
        assert_eq!(Orientation::from_assignments(b"S=l,T=u,R=o"), Some(all));
        assert_eq!(Orientation::from_letters(b"r"), Some(Orientation::default()));
        assert_eq!((all.letters(3), up.letters(2), up.letters(1)), ("luo".into(), "ru".into(), "r".into()));
        for wrong in [&b""[..], b"x", b"rx", b"rdx", b"rdii", b"dr", b"S=r"] {
            assert_eq!(Orientation::from_letters(wrong), None);
        }
        for wrong in [&b""[..], b"rd", b"T=d,S=r", b"S=r;T=d", b"S=r,T=x", b"S=r,T="] {
            assert_eq!(Orientation::from_assignments(wrong), None);
        }
    }
}
