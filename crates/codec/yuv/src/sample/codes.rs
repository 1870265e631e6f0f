//! Codes of planes.

use super::lanes::Lanes;
use super::words::Words;
use crate::format::Format;
use crate::frame::{Channel, Packing, ten};
use pulp::bytemuck::Pod;
use std::ops::Range;

/// A code or a sum of codes.
pub(super) trait Number: Copy + Default {
    /// Products of sixteen numbers and each of some factors.
    fn by<L: Lanes, const N: usize>(lanes: L, of: &[Self; 16], by: [L::Singles; N]) -> [L::Singles; N];

    /// The highest bits of numbers that begin at the highest bit, as words.
    fn words<W: Words>(words: W, of: &[Self; 32]) -> W::Words;

    /// Those of numbers at even places, and those of numbers at odd ones.
    fn word_pairs<W: Words>(words: W, of: &[Self; 64]) -> [W::Words; 2];
}

macro_rules! number {
    ($ty:ty, $by:ident, $words:ident => $load:expr, $load_pairs:expr) => {
        impl Number for $ty {
            #[inline(always)]
            fn by<L: Lanes, const N: usize>(
                lanes: L,
                of: &[$ty; 16],
                by: [L::Singles; N],
            ) -> [L::Singles; N] {
                lanes.$by(of, by)
            }

            #[inline(always)]
            fn words<W: Words>($words: W, of: &[$ty; 32]) -> W::Words {
                $load(of)
            }

            #[inline(always)]
            fn word_pairs<W: Words>($words: W, of: &[$ty; 64]) -> [W::Words; 2] {
                $load_pairs(of)
            }
        }
    };
}

number!(u8, bytes_by, words => |of| words.load_bytes(of), |of| words.load_byte_pairs(of));
number!(u16, words_by, words => |of| words.load(of), |of| words.load_pairs(of));
// Sums of sixteen codes of 16 bits.
number!(u32, longs_by, words => |of| words.load(&high_words(of)), |of| words.load_pairs(&high_words(of)));

/// The high 16 of 20 bits.
#[inline(always)]
fn high_words<const N: usize>(of: &[u32; N]) -> [u16; N] {
    let mut out = [0; N];
    for (out, of) in out.iter_mut().zip(of) {
        *out = (of >> 4) as u16;
    }
    out
}

/// A sample's code: a byte, or a word.
pub(super) trait Code: Number + Pod + Into<u16> {
    /// Products of 32 codes and each of some factors: those of codes at even places, and of those at odd ones.
    fn pairs_by<L: Lanes, const N: usize>(
        lanes: L,
        of: &[Self; 32],
        by: [L::Singles; N],
    ) -> [[L::Singles; N]; 2];

    /// Products of 64 codes that begin at the highest bit, in ones of eight bits: of those at even places, and of those at odd
    /// ones.
    fn scaled_pairs<W: Words>(words: W, of: &[Self; 64], by: W::Scale) -> [W::Words; 2];

    /// A plane's bytes as codes, if codes are bytes.
    fn as_they_are(data: &[u8]) -> Option<&[Self]>;

    /// Reads codes that are `step` bytes apart.
    fn gather(reader: &Reader, data: &[u8], step: usize, out: &mut [Self]);

    /// Of the low bits of a word.
    fn of_word(word: u16) -> Self;
}

impl Code for u8 {
    #[inline(always)]
    fn pairs_by<L: Lanes, const N: usize>(
        lanes: L,
        of: &[u8; 32],
        by: [L::Singles; N],
    ) -> [[L::Singles; N]; 2] {
        lanes.byte_pairs_by(of, by)
    }

    #[inline(always)]
    fn scaled_pairs<W: Words>(words: W, of: &[u8; 64], by: W::Scale) -> [W::Words; 2] {
        words.scaled_byte_pairs(of, by)
    }

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

    #[inline(always)]
    fn of_word(word: u16) -> u8 {
        word as u8
    }
}

impl Code for u16 {
    #[inline(always)]
    fn pairs_by<L: Lanes, const N: usize>(
        lanes: L,
        of: &[u16; 32],
        by: [L::Singles; N],
    ) -> [[L::Singles; N]; 2] {
        lanes.word_pairs_by(of, by)
    }

    #[inline(always)]
    fn scaled_pairs<W: Words>(words: W, of: &[u16; 64], by: W::Scale) -> [W::Words; 2] {
        words.scaled_pairs(of, by)
    }

    #[inline(always)]
    fn as_they_are(_: &[u8]) -> Option<&[u16]> {
        None
    }

    #[inline(always)]
    fn gather(reader: &Reader, data: &[u8], step: usize, out: &mut [u16]) {
        let reader = *reader;
        let word = |bytes: &[u8; 2]| reader.code(u16::from_le_bytes(*bytes));
        match step {
            2 => spread::<2, 2, _>(data, out, word),
            4 => spread::<2, 4, _>(data, out, word),
            _ => spread::<2, 8, _>(data, out, word),
        }
    }

    #[inline(always)]
    fn of_word(word: u16) -> u16 {
        word
    }
}

/// Reads codes of a format.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// How far a word is shifted, and the bits that are kept then.
    left: u32,
    right: u32,
    mask: u16,
}

impl Reader {
    /// For codes in the high bits of words, or in the low ones.
    pub(super) fn new(format: Format, is_high: bool) -> Reader {
        let unused = 16 - format.bits;
        let (left, right) = match (format.high, is_high) {
            (false, true) => (unused, 0),
            (true, false) => (0, unused),
            _ => (0, 0),
        };
        let mask = if is_high { u16::MAX << unused } else { u16::MAX >> unused };
        Reader { left, right, mask }
    }

    #[inline(always)]
    fn code(self, word: u16) -> u16 {
        word << self.left >> self.right & self.mask
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
        room: &'r mut [C],
    ) -> &'r [C] {
        if channel.packing != Packing::Apart {
            return self.unpack(channel, y, columns, around, room);
        }
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
        let loaded = (end - start).min(room.len() - skipped);
        C::gather(self, data, channel.step, &mut room[skipped..skipped + loaded]);
        if let (1, [edge, inner, ..]) = (skipped, &mut room[..]) {
            *edge = *inner;
        }
        let filled = skipped + loaded;
        if let (true, Some(&last)) = (filled < wanted, room.get(filled.wrapping_sub(1))) {
            room[filled..wanted].fill(last);
        }
        room.get(..wanted).unwrap_or_default()
    }

    /// [`Reader::read`] for codes that are parts of words. There is one such function for all instruction sets, which have little
    /// for it, so that their rows of other codes stay small.
    #[inline(never)]
    fn unpack<'r, C: Code>(
        &self,
        channel: &Channel<'r>,
        y: usize,
        columns: Range<usize>,
        around: usize,
        room: &'r mut [C],
    ) -> &'r [C] {
        let Channel { data, pitch, packing, offset, step, size } = *channel;
        let room = room.get_mut(..columns.len() + 2 * around).unwrap_or_default();
        let row = data.get(y * pitch..).unwrap_or_default();
        let start = columns.start.saturating_sub(around);
        let first = offset + start * step;
        let before = (start + around).saturating_sub(columns.start).min(room.len());
        let (edge, codes) = room.split_at_mut(before);
        let within = size[0].saturating_sub(start).min(codes.len());
        let (codes, behind) = codes.split_at_mut(within);
        let code = |sample| C::of_word(self.code(sample));
        match (packing, step) {
            (Packing::Twos, _) => {
                let bytes = row.get(first..).unwrap_or_default().iter().step_by(step.max(1));
                for (code, byte) in codes.iter_mut().zip(bytes) {
                    *code = C::of_word((byte >> 6).into());
                }
            }
            (_, 2) => tens::<6, _>(row, first, 2, codes, code),
            (_, 3) => tens::<4, _>(row, first, 3, codes, code),
            _ => tens::<3, _>(row, first, 4, codes, code),
        }
        if let (Some(&first), Some(&last)) = (codes.first(), codes.last()) {
            edge.fill(first);
            behind.fill(last);
        }
        room
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

/// Samples of a row that has three of ten bits to a word of 32: those `step` apart, which repeat their places in words after every
/// `PERIOD`, twelve samples on.
#[inline(always)]
fn tens<const PERIOD: usize, C>(
    row: &[u8],
    first: usize,
    step: usize,
    codes: &mut [C],
    code: impl Fn(u16) -> C,
) {
    let mut places = [(0, 0); PERIOD];
    for (i, place) in places.iter_mut().enumerate() {
        let sample = first % 12 + i * step;
        *place = (sample / 3, 10 * (sample % 3));
    }
    let mut rest = row.get(first / 12 * 16..).unwrap_or_default();
    let mut done = 0;
    for out in codes.as_chunks_mut::<PERIOD>().0 {
        let Some(bytes) = rest.first_chunk::<32>() else { break };
        let (words, _) = bytes.as_chunks();
        for (out, (word, shift)) in out.iter_mut().zip(places) {
            // There are eight words.
            *out = code((u32::from_le_bytes(words[word & 7]) >> shift & 0x3ff) as u16);
        }
        rest = &rest[16..];
        done += PERIOD;
    }
    for (i, out) in codes.iter_mut().enumerate().skip(done) {
        *out = code(ten(row, first + i * step));
    }
}
