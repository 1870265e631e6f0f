//! Codes of planes.

use super::ROOM;
use super::lanes::Lanes;
use crate::frame::{Channel, Format};
use std::ops::Range;

/// A code or a sum of codes, which is converted to a single.
pub(super) trait Number: Copy + Default {
    /// Converts sixteen numbers, or eight, each for two places.
    fn singles<L: Lanes, const N: usize>(lanes: L, of: &[Self; N]) -> L::Singles;
}

macro_rules! number {
    ($ty:ty, $all:ident, $pairs:ident) => {
        impl Number for $ty {
            #[inline(always)]
            fn singles<L: Lanes, const N: usize>(lanes: L, of: &[$ty; N]) -> L::Singles {
                match of.first_chunk() {
                    Some(all) => lanes.$all(all),
                    None => lanes.$pairs(of.first_chunk().unwrap_or(&[0; 8])),
                }
            }
        }
    };
}

number!(u8, of_bytes, of_byte_pairs);
number!(u16, of_words, of_word_pairs);

impl Number for u32 {
    #[inline(always)]
    fn singles<L: Lanes, const N: usize>(lanes: L, of: &[u32; N]) -> L::Singles {
        let mut all = [0; 16];
        for i in 0..16 {
            all[i] = of[i * N / 16];
        }
        lanes.of_longs(&all)
    }
}

/// A sample's code: a byte, or a word.
pub(super) trait Code: Number + Into<u16> {
    /// A plane's bytes as codes, if codes are bytes.
    fn as_they_are(data: &[u8]) -> Option<&[Self]>;

    /// Reads codes that are `step` bytes apart.
    fn gather(reader: &Reader, data: &[u8], step: usize, out: &mut [Self]);
}

impl Code for u8 {
    #[inline(always)]
    fn as_they_are(data: &[u8]) -> Option<&[u8]> {
        Some(data)
    }

    #[inline(always)]
    fn gather(_: &Reader, data: &[u8], step: usize, out: &mut [u8]) {
        match step {
            1 => spread::<1, 1, _>(data, out, |[byte]| *byte),
            2 => spread::<1, 2, _>(data, out, |[byte]| *byte),
            _ => spread::<1, 4, _>(data, out, |[byte]| *byte),
        }
    }
}

impl Code for u16 {
    #[inline(always)]
    fn as_they_are(_: &[u8]) -> Option<&[u16]> {
        None
    }

    #[inline(always)]
    fn gather(reader: &Reader, data: &[u8], step: usize, out: &mut [u16]) {
        let Reader { shift, mask } = *reader;
        let word = |bytes: &[u8; 2]| u16::from_le_bytes(*bytes) >> shift & mask;
        match step {
            2 => spread::<2, 2, _>(data, out, word),
            4 => spread::<2, 4, _>(data, out, word),
            _ => spread::<2, 8, _>(data, out, word),
        }
    }
}

/// Reads codes of a format.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// How far a word's code is from its lowest bit, and the bits of a code.
    shift: u32,
    mask: u16,
}

impl Reader {
    pub(super) fn new(format: Format) -> Reader {
        let unused = 16 - format.bits;
        let (shift, mask) = if format.high { (unused, u16::MAX) } else { (0, u16::MAX >> unused) };
        Reader { shift, mask }
    }

    /// Codes of a row's columns, and `around` more (0 or 1) on either side. Beyond the row's ends its outermost codes are
    /// repeated.
    #[inline(always)]
    pub(super) fn read<'r, C: Code>(
        &self,
        channel: &Channel<'r>,
        y: usize,
        columns: Range<usize>,
        around: usize,
        room: &'r mut [C; ROOM],
    ) -> &'r [C] {
        let (width, wanted) = (channel.size[0], columns.len() + 2 * around);
        let start = columns.start.saturating_sub(around);
        let end = (columns.end + around).min(width).max(start);
        let at = channel.offset + y * channel.pitch + start * channel.step;
        let data = channel.data.get(at..).unwrap_or_default();
        if channel.step == 1
            && end - start == wanted
            && let Some(codes) = C::as_they_are(data).and_then(|codes| codes.get(..wanted))
        {
            return codes;
        }
        // The first of a row is put where the one before it belongs, too.
        let skipped = (start + around).saturating_sub(columns.start);
        let loaded = (end - start).min(ROOM - skipped);
        C::gather(self, data, channel.step, &mut room[skipped..skipped + loaded]);
        if let (1, [edge, inner, ..]) = (skipped, &mut room[..]) {
            *edge = *inner;
        }
        let filled = skipped + loaded;
        if let (true, Some(&last)) = (filled < wanted, room.get(filled.wrapping_sub(1))) {
            room[filled..].fill(last);
        }
        room.get(..wanted).unwrap_or_default()
    }
}

/// Codes of `BYTES` bytes at every `STEP`th.
#[inline(always)]
fn spread<const BYTES: usize, const STEP: usize, C>(
    data: &[u8],
    codes: &mut [C],
    code: impl Fn(&[u8; BYTES]) -> C,
) {
    let (whole, rest) = data.as_chunks::<STEP>();
    let filled = whole.len().min(codes.len());
    for (out, bytes) in codes.iter_mut().zip(whole) {
        if let Some(bytes) = bytes.first_chunk() {
            *out = code(bytes);
        }
    }
    // The last of a row may have nothing behind it.
    if let (Some(out), Some(bytes)) = (codes.get_mut(filled), rest.first_chunk()) {
        *out = code(bytes);
    }
}
