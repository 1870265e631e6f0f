//! Codes of planes.

use super::halves::halves;
use super::lanes::Lanes;
use super::tens::tens;
use super::window::Window;
use super::words::Words;
use crate::format::Format;
use crate::frame::{Channel, Packing};
use core::ops::Range;
use pulp::NullaryFnOnce;
use pulp::bytemuck::{Pod, cast_slice, pod_read_unaligned};

/// A code or a sum of codes.
///
/// Codes of more than eight bits are read as words of the frame; a [`Reader`] or a `Place` says which bits of the word the code is.
/// Sums of codes ignore both.
pub(super) trait Number: Copy + Default {
    /// Products of sixteen numbers and each of some factors.
    fn by<L: Lanes, const N: usize>(
        lanes: L,
        reader: Reader,
        of: &[Self; 16],
        by: [L::Singles; N],
    ) -> [L::Singles; N];

    /// The highest bits of numbers that begin at the highest bit, as words.
    fn words<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Self; HALF],
    ) -> W::Words;

    /// [`Number::words`] of a group of numbers: of the first half and of the second.
    fn word_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Self; GROUP],
    ) -> [W::Words; 2];
}

/// Sums of codes of up to 12 bits.
impl Number for u16 {
    #[inline(always)]
    fn by<L: Lanes, const N: usize>(
        lanes: L,
        _: Reader,
        of: &[u16; 16],
        by: [L::Singles; N],
    ) -> [L::Singles; N] {
        lanes.words_by(of, by)
    }

    #[inline(always)]
    fn words<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u16; HALF],
    ) -> W::Words {
        words.centered(words.load(of))
    }

    #[inline(always)]
    fn word_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u16; GROUP],
    ) -> [W::Words; 2] {
        let numbers = words.load_halves(of);
        halves!(h => words.centered(numbers[h]))
    }
}

/// Sums of sixteen codes of 16 bits.
impl Number for u32 {
    #[inline(always)]
    fn by<L: Lanes, const N: usize>(
        lanes: L,
        _: Reader,
        of: &[u32; 16],
        by: [L::Singles; N],
    ) -> [L::Singles; N] {
        lanes.longs_by(of, by)
    }

    #[inline(always)]
    fn words<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[u32; HALF],
    ) -> W::Words {
        u16::words(words, place, &high_words(of))
    }

    #[inline(always)]
    fn word_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[u32; GROUP],
    ) -> [W::Words; 2] {
        u16::word_halves(words, place, &high_words(of))
    }
}

/// The high 16 of 20 bits.
#[inline(always)]
fn high_words<const N: usize>(of: &[u32; N]) -> [u16; N] {
    let mut out = [0; N];
    for (out, of) in out.iter_mut().zip(of) {
        *out = (of >> 4) as u16;
    }
    out
}

/// A word of a frame, little-endian.
pub(super) type Word = [u8; 2];

/// Little-endian words as numbers.
#[inline(always)]
fn numbers<const N: usize>(of: &[Word; N]) -> [u16; N] {
    let mut out = [0; N];
    for (out, word) in out.iter_mut().zip(of) {
        *out = u16::from_le_bytes(*word);
    }
    out
}

/// The codes in words of a frame.
#[inline(always)]
fn codes<const N: usize>(reader: Reader, of: &[Word; N]) -> [u16; N] {
    let mut out = numbers(of);
    for word in &mut out {
        *word = reader.code(*word);
    }
    out
}

impl Number for Word {
    #[inline(always)]
    fn by<L: Lanes, const N: usize>(
        lanes: L,
        reader: Reader,
        of: &[Word; 16],
        by: [L::Singles; N],
    ) -> [L::Singles; N] {
        lanes.words_by(&codes(reader, of), by)
    }

    #[inline(always)]
    fn words<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Word; HALF],
    ) -> W::Words {
        words.centered(words.placed(words.load(&numbers(of)), place))
    }

    #[inline(always)]
    fn word_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Word; GROUP],
    ) -> [W::Words; 2] {
        let numbers = words.load_halves(&numbers(of));
        halves!(h => words.centered(words.placed(numbers[h], place)))
    }
}

impl Number for u8 {
    #[inline(always)]
    fn by<L: Lanes, const N: usize>(
        lanes: L,
        _: Reader,
        of: &[u8; 16],
        by: [L::Singles; N],
    ) -> [L::Singles; N] {
        lanes.bytes_by(of, by)
    }

    #[inline(always)]
    fn words<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u8; HALF],
    ) -> W::Words {
        words.load_bytes(of)
    }

    #[inline(always)]
    fn word_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u8; GROUP],
    ) -> [W::Words; 2] {
        words.load_byte_halves(of)
    }
}

/// A sample's code: a byte, or a word of a frame.
pub(super) trait Code: Number + Pod {
    /// Products of 32 codes and each of some factors: those of codes at even places, and of those at odd ones.
    fn pairs_by<L: Lanes, const N: usize>(
        lanes: L,
        reader: Reader,
        of: &[Self; 32],
        by: [L::Singles; N],
    ) -> [[L::Singles; N]; 2];

    /// The highest bits of a group of codes as words: of the codes at even places, and of the codes at odd places.
    fn word_pairs<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Self; GROUP],
    ) -> [W::Words; 2];

    /// Products of a group of codes, in ones of eight bits: of those at even places, and of those at odd ones.
    fn scaled_pairs<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Self; GROUP],
        by: W::Scale,
    ) -> [W::Words; 2];

    /// The same of one half of codes and of the other.
    fn scaled_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Self; GROUP],
        by: W::Scale,
    ) -> [W::Words; 2];

    /// The code as a number.
    fn number(self, reader: Reader) -> u16;

    /// Two codes as numbers, taken from one word: compilers vectorise its shifts, but make shuffles of separate loads.
    fn numbers(pair: &[Self; 2], reader: Reader) -> [u16; 2];

    /// Reads codes that are `step` bytes apart.
    fn gather(data: &[u8], step: usize, out: &mut [Self]);

    /// For a code in the low bits.
    fn of_low(code: u16) -> Self;
}

impl Code for u8 {
    #[inline(always)]
    fn pairs_by<L: Lanes, const N: usize>(
        lanes: L,
        _: Reader,
        of: &[u8; 32],
        by: [L::Singles; N],
    ) -> [[L::Singles; N]; 2] {
        lanes.byte_pairs_by(of, by)
    }

    #[inline(always)]
    fn word_pairs<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u8; GROUP],
    ) -> [W::Words; 2] {
        words.load_byte_pairs(of)
    }

    #[inline(always)]
    fn scaled_pairs<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u8; GROUP],
        by: W::Scale,
    ) -> [W::Words; 2] {
        words.scaled_byte_pairs(of, by)
    }

    #[inline(always)]
    fn scaled_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        _: W::Place,
        of: &[u8; GROUP],
        by: W::Scale,
    ) -> [W::Words; 2] {
        words.scaled_byte_halves(of, by)
    }

    #[inline(always)]
    fn number(self, _: Reader) -> u16 {
        self.into()
    }

    #[inline(always)]
    fn numbers(pair: &[u8; 2], _: Reader) -> [u16; 2] {
        let word = u16::from_le_bytes(*pair);
        [word & 0xff, word >> 8]
    }

    #[inline(always)]
    fn gather(data: &[u8], step: usize, out: &mut [u8]) {
        match step {
            1 => spread(data, out, |[byte]| *byte),
            2 => spread(data, out, |bytes| u16::from_le_bytes(*bytes) as u8),
            _ => spread(data, out, |bytes| u32::from_le_bytes(*bytes) as u8),
        }
    }

    #[inline(always)]
    fn of_low(code: u16) -> u8 {
        code as u8
    }
}

impl Code for Word {
    #[inline(always)]
    fn pairs_by<L: Lanes, const N: usize>(
        lanes: L,
        reader: Reader,
        of: &[Word; 32],
        by: [L::Singles; N],
    ) -> [[L::Singles; N]; 2] {
        lanes.word_pairs_by(&codes(reader, of), by)
    }

    #[inline(always)]
    fn word_pairs<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Word; GROUP],
    ) -> [W::Words; 2] {
        let numbers = words.load_pairs(&numbers(of));
        halves!(h => words.centered(words.placed(numbers[h], place)))
    }

    #[inline(always)]
    fn scaled_pairs<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Word; GROUP],
        by: W::Scale,
    ) -> [W::Words; 2] {
        let numbers = words.load_pairs(&numbers(of));
        halves!(h => words.scaled(words.placed(numbers[h], place), by))
    }

    #[inline(always)]
    fn scaled_halves<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(
        words: W,
        place: W::Place,
        of: &[Word; GROUP],
        by: W::Scale,
    ) -> [W::Words; 2] {
        let numbers = words.load_halves(&numbers(of));
        halves!(h => words.scaled(words.placed(numbers[h], place), by))
    }

    #[inline(always)]
    fn number(self, reader: Reader) -> u16 {
        reader.code(u16::from_le_bytes(self))
    }

    #[inline(always)]
    fn numbers(&[first, second]: &[Word; 2], reader: Reader) -> [u16; 2] {
        let [a, b] = first;
        let [c, d] = second;
        let word = u32::from_le_bytes([a, b, c, d]);
        [word as u16, (word >> 16) as u16].map(|word| reader.code(word))
    }

    #[inline(always)]
    fn gather(data: &[u8], step: usize, out: &mut [Word]) {
        match step {
            2 => spread(data, out, |word| *word),
            4 => spread(data, out, |bytes| (u32::from_le_bytes(*bytes) as u16).to_le_bytes()),
            _ => spread(data, out, |bytes| (u64::from_le_bytes(*bytes) as u16).to_le_bytes()),
        }
    }

    #[inline(always)]
    fn of_low(code: u16) -> Word {
        code.to_le_bytes()
    }
}

/// Reads codes of a format.
#[derive(Clone, Copy)]
pub struct Reader {
    /// How far a word is shifted, and the bits that are kept then.
    pub left: u32,
    right: u32,
    pub mask: u16,
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
    pub(super) fn code(self, word: u16) -> u16 {
        word << self.left >> self.right & self.mask
    }

    /// Codes of a row's columns and of `around` more columns on either side, as stored in the frame. Beyond the row's ends its outermost codes are
    /// repeated.
    #[inline(always)]
    pub(super) fn read<'r, C: Code>(
        self,
        channel: &Channel<'r>,
        y: usize,
        columns: Range<usize>,
        around: usize,
        room: &'r mut [C],
    ) -> &'r [C] {
        self.read_by(channel, y, columns, around, room, |copying| copying.call())
    }

    /// [`Reader::read`] without columns around; what has to be copied is copied by one function for all callers.
    #[inline(always)]
    pub(super) fn read_apart<'r, L: Lanes, C: Code>(
        self,
        lanes: L,
        channel: &Channel<'r>,
        y: usize,
        columns: Range<usize>,
        room: &'r mut [C],
    ) -> &'r [C] {
        self.read_by(channel, y, columns, 0, room, |copying| lanes.apart(copying))
    }

    /// [`Reader::read`], where `copy` does what has to be copied.
    #[inline(always)]
    fn read_by<'r, C: Code>(
        self,
        channel: &Channel<'r>,
        y: usize,
        columns: Range<usize>,
        around: usize,
        room: &'r mut [C],
        copy: impl FnOnce(Copying<'_, C>),
    ) -> &'r [C] {
        if let Some(codes) = self.in_place(channel, y, &columns, around) {
            return codes;
        }
        let wanted = columns.len() + 2 * around;
        copy(Copying { reader: self, channel, y, columns, around, room: &mut *room });
        room.get(..wanted).unwrap_or_default()
    }

    /// The codes of [`Reader::read`], if they lie next to each other in the frame.
    #[inline(always)]
    fn in_place<'r, C: Code>(
        self,
        channel: &Channel<'r>,
        y: usize,
        columns: &Range<usize>,
        around: usize,
    ) -> Option<&'r [C]> {
        let is_whole = around <= columns.start && columns.end + around <= channel.size[0];
        if !is_whole || channel.packing != Packing::Apart || channel.step != size_of::<C>() {
            return None;
        }
        let at = channel.offset + y * channel.pitch + (columns.start - around) * channel.step;
        let bytes = (columns.len() + 2 * around) * size_of::<C>();
        channel.data.get(at..)?.get(..bytes).map(cast_slice)
    }

    /// [`Copying`] of codes that are parts of words: one function for all instruction sets, as none of them helps.
    #[inline(never)]
    fn unpack<C: Code>(
        self,
        channel: &Channel<'_>,
        y: usize,
        columns: Range<usize>,
        around: usize,
        room: &mut [C],
    ) {
        let Channel { data, pitch, packing, offset, step, size } = *channel;
        let window = Window::new(&columns, around, size[0]);
        let room = room.get_mut(..window.wanted).unwrap_or_default();
        let row = data.get(y * pitch..).unwrap_or_default();
        let first = offset + window.columns.start * step;
        let codes = room.get_mut(window.places.clone()).unwrap_or_default();
        match (packing, step) {
            (Packing::Twos, _) => {
                let bytes = row.get(first..).unwrap_or_default().iter().step_by(step.max(1));
                for (code, byte) in codes.iter_mut().zip(bytes) {
                    *code = C::of_low((byte >> 6).into());
                }
            }
            (_, step) => tens(row, first, step, codes),
        }
        window.repeat_ends(room);
    }
}

/// Copies codes that do not lie next to each other in the frame into `room`.
struct Copying<'a, C> {
    reader: Reader,
    channel: &'a Channel<'a>,
    y: usize,
    columns: Range<usize>,
    around: usize,
    room: &'a mut [C],
}

impl<C: Code> NullaryFnOnce for Copying<'_, C> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Copying { reader, channel, y, columns, around, room } = self;
        if channel.packing != Packing::Apart {
            return reader.unpack(channel, y, columns, around, room);
        }
        let window = Window::new(&columns, around, channel.size[0]);
        let room = room.get_mut(..window.wanted).unwrap_or_default();
        let at = channel.offset + y * channel.pitch + window.columns.start * channel.step;
        let data = channel.data.get(at..).unwrap_or_default();
        C::gather(data, channel.step, room.get_mut(window.places.clone()).unwrap_or_default());
        window.repeat_ends(room);
    }
}

/// Codes at every `STEP`th byte. `code` takes each from a whole word: compilers vectorise that, but not loads with gaps.
#[inline(always)]
fn spread<const STEP: usize, C: Pod>(data: &[u8], codes: &mut [C], code: impl Fn(&[u8; STEP]) -> C) {
    let (whole, rest) = data.as_chunks();
    let filled = whole.len().min(codes.len());
    for (out, bytes) in codes.iter_mut().zip(whole) {
        *out = code(bytes);
    }
    // The last of a row may have nothing behind it.
    if let (Some(out), Some(bytes)) = (codes.get_mut(filled), rest.get(..size_of::<C>())) {
        *out = pod_read_unaligned(bytes);
    }
}
