//! Codes of planes.

use super::ROOM;
use super::lanes::Lanes;
use crate::frame::{Channel, Format};
use std::ops::Range;

/// What is made singles of: a code or a sum of codes.
pub(super) trait Number: Copy + Default {
    /// Of sixteen, or of eight, each twice.
    fn singles<L: Lanes, const N: usize>(lanes: L, of: &[Self; N]) -> L::Singles;
}

impl Number for u8 {
    #[inline(always)]
    fn singles<L: Lanes, const N: usize>(lanes: L, of: &[u8; N]) -> L::Singles {
        match of.first_chunk() {
            Some(all) => lanes.of_bytes(all),
            None => lanes.of_byte_pairs(of.first_chunk().unwrap_or(&[0; 8])),
        }
    }
}

impl Number for u16 {
    #[inline(always)]
    fn singles<L: Lanes, const N: usize>(lanes: L, of: &[u16; N]) -> L::Singles {
        match of.first_chunk() {
            Some(all) => lanes.of_words(all),
            None => lanes.of_word_pairs(of.first_chunk().unwrap_or(&[0; 8])),
        }
    }
}

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
    /// Codes of a plane's bytes, where they are these bytes.
    fn as_they_are(data: &[u8]) -> Option<&[Self]>;

    /// Reads a code from every `step` bytes.
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
    /// Where in words the code is.
    shift: u32,
    mask: u16,
}

impl Reader {
    pub(super) fn new(format: Format) -> Reader {
        let unused = 16 - format.bits;
        let (shift, mask) = if format.high { (unused, u16::MAX) } else { (0, u16::MAX >> unused) };
        Reader { shift, mask }
    }

    /// Codes of some columns of a row, with `around` ones before and behind them, 0 or 1, or those at the edges again.
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
