//! How a record is written.

use super::super::bits::{Bits, MAX_FIXED};
use super::super::error::{ErrorKind, Step};

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// Not at all: it is this one.
    Literal(u64),
    /// In so many bits.
    Fixed(u32),
    /// In groups of so many bits.
    Vbr(u32),
    /// In groups of six.
    Vbr6,
    /// As one of 64 characters.
    Char6,
}

impl Scalar {
    #[inline(always)]
    pub fn read(self, bits: &mut Bits) -> u64 {
        match self {
            Scalar::Literal(value) => value,
            Scalar::Fixed(width) => bits.fixed(width),
            Scalar::Vbr(width) => bits.vbr(width),
            Scalar::Vbr6 => bits.vbr6(),
            Scalar::Char6 => char6(bits.fixed(6)).into(),
        }
    }

    /// Bits that a number takes at least.
    pub fn least_bits(self) -> u64 {
        match self {
            Scalar::Literal(_) => 0,
            Scalar::Fixed(width) | Scalar::Vbr(width) => width.into(),
            Scalar::Vbr6 | Scalar::Char6 => 6,
        }
    }
}

/// What follows a record's single numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    None,
    /// A count, and as many numbers.
    Array(Scalar),
    /// A count, and as many bytes.
    Blob,
}

/// How a record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abbreviation {
    /// Its code.
    pub code: Scalar,
    /// Where its first operands are among all scalars.
    start: u32,
    /// Behind them.
    end: u32,
    /// Its last operands.
    pub rest: Rest,
}

/// An encoding as abbreviations list them.
enum Encoding {
    Scalar(Scalar),
    Array,
    Blob,
}

impl Abbreviation {
    /// Reads the definition of one, adding its scalars to the others. Arrays and blobs are the last operand, and elements of
    /// arrays take at least a bit, or a few bytes could ask for any amount of memory.
    pub fn read(bits: &mut Bits, scalars: &mut Vec<Scalar>) -> Step<Abbreviation> {
        let wrong = |what| ErrorKind::malformed(what, 0u32);
        let mut left = bits.vbr(5);
        let start = scalars.len();
        let mut rest = Rest::None;
        while left > 0 {
            // Past the end all are of the same kind: this ends.
            if bits.left() == 0 {
                return Err(ErrorKind::Truncated("an abbreviation"));
            }
            left -= 1;
            match encoding(bits)? {
                Encoding::Scalar(scalar) => scalars.push(scalar),
                Encoding::Array => {
                    rest = match (left, encoding(bits)?) {
                        (1, Encoding::Scalar(element)) if element.least_bits() > 0 => Rest::Array(element),
                        _ => return Err(wrong("element of an array")),
                    };
                    left = 0;
                }
                Encoding::Blob if left == 0 => rest = Rest::Blob,
                Encoding::Blob => return Err(wrong("place of a blob")),
            }
        }
        // A scalar takes four bits at least: numbers of them stay below 2^32.
        match scalars.get(start) {
            Some(&code) => {
                Ok(Abbreviation { code, start: start as u32 + 1, end: scalars.len() as u32, rest })
            }
            None => Err(wrong("abbreviation")),
        }
    }

    /// Its first operands, of all scalars.
    #[inline]
    pub fn scalars<'a>(&self, all: &'a [Scalar]) -> &'a [Scalar] {
        all.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

fn encoding(bits: &mut Bits) -> Step<Encoding> {
    if bits.fixed(1) == 1 {
        return Ok(Encoding::Scalar(Scalar::Literal(bits.vbr(8))));
    }
    let width = |bits: &mut Bits, least: u64, of: fn(u32) -> Scalar| match bits.vbr(5) {
        // LLVM writes numbers of no bits for zeros.
        0 => Ok(Encoding::Scalar(Scalar::Literal(0))),
        width if (least..=MAX_FIXED.into()).contains(&width) => Ok(Encoding::Scalar(of(width as u32))),
        width => Err(ErrorKind::malformed("width of a number", width)),
    };
    match bits.fixed(3) {
        1 => width(bits, 1, Scalar::Fixed),
        2 => width(bits, 2, |width| if width == 6 { Scalar::Vbr6 } else { Scalar::Vbr(width) }),
        3 => Ok(Encoding::Array),
        4 => Ok(Encoding::Scalar(Scalar::Char6)),
        5 => Ok(Encoding::Blob),
        other => Err(ErrorKind::malformed("encoding", other)),
    }
}

/// Letters, digits, a point and an underscore.
fn char6(value: u64) -> u8 {
    match value as u8 {
        v @ 0..26 => b'a' + v,
        v @ 26..52 => b'A' + (v - 26),
        v @ 52..62 => b'0' + (v - 52),
        62 => b'.',
        _ => b'_',
    }
}
