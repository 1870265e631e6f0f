//! Bounded integer sequences: values of 2^n, 3·2^n or 5·2^n levels. Five digits of three share eight bits, three digits
//! of five share seven.

use crate::simd::Simd;

/// Most values that endpoints are made of.
pub const MAX_VALUES: usize = 18;

/// The same of one partition.
pub const MAX_VALUES_OF_ONE: usize = 8;

/// Room for 64 values and what a last group writes behind them.
const ROOM: usize = 72;

/// How many levels values have: the bits of a value, and the digit above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    bits: u8,
    digit: Digit,
    /// The row of the table that undoes the quantisation.
    row: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digit {
    None,
    Trit,
    Quint,
}

/// Every number of levels, the coarsest first.
pub const LEVELS: [Levels; 21] = {
    const DIGITS: [(Digit, u8); 21] = [
        (Digit::None, 1),  // 2
        (Digit::Trit, 0),  // 3
        (Digit::None, 2),  // 4
        (Digit::Quint, 0), // 5
        (Digit::Trit, 1),  // 6
        (Digit::None, 3),  // 8
        (Digit::Quint, 1), // 10
        (Digit::Trit, 2),  // 12
        (Digit::None, 4),  // 16
        (Digit::Quint, 2), // 20
        (Digit::Trit, 3),  // 24
        (Digit::None, 5),  // 32
        (Digit::Quint, 3), // 40
        (Digit::Trit, 4),  // 48
        (Digit::None, 6),  // 64
        (Digit::Quint, 4), // 80
        (Digit::Trit, 5),  // 96
        (Digit::None, 7),  // 128
        (Digit::Quint, 5), // 160
        (Digit::Trit, 6),  // 192
        (Digit::None, 8),  // 256
    ];
    let mut levels = [Levels { bits: 0, digit: Digit::None, row: 0 }; 21];
    let mut i = 0;
    while i < levels.len() {
        let (digit, bits) = DIGITS[i];
        levels[i] = Levels { bits, digit, row: i as u8 };
        i += 1;
    }
    levels
};

/// The coarsest that endpoints may have: six levels.
const COARSEST: usize = 4;

impl Levels {
    /// Two.
    pub const COARSEST: Levels = LEVELS[0];

    /// Those of weights by range: 2 to 7, and 10 to 15 for the finer ones.
    pub const fn of_weights(range: u32) -> Option<Levels> {
        match range {
            2..=7 => Some(LEVELS[range as usize - 2]),
            10..=15 => Some(LEVELS[range as usize - 4]),
            _ => None,
        }
    }

    /// Values of a digit, 1 if there is none.
    pub const fn radix(self) -> u32 {
        match self.digit {
            Digit::None => 1,
            Digit::Trit => 3,
            Digit::Quint => 5,
        }
    }

    /// Bits of a value below its digit.
    pub const fn low_bits(self) -> u32 {
        self.bits as u32
    }

    /// Bits of a value, and values that share the bits of their digits, 1 if they have none.
    #[cfg(feature = "compute")]
    pub const fn bits_and_group(self) -> [u32; 2] {
        let group = match self.digit {
            Digit::None => 1,
            Digit::Trit => 5,
            Digit::Quint => 3,
        };
        [self.bits as u32, group]
    }

    /// Bits of `count` values.
    #[inline(always)]
    pub const fn bits(self, count: u32) -> u32 {
        let digits = match self.digit {
            Digit::None => 0,
            Digit::Trit => (8 * count).div_ceil(5),
            Digit::Quint => (7 * count).div_ceil(3),
        };
        count * self.bits as u32 + digits
    }
}

/// The finest levels of which `count` values, an even number of up to 18, fit in `room` bits, and the bits they take.
#[inline(always)]
pub fn finest(count: usize, room: u32) -> Option<(Levels, u32)> {
    let Finest { row, bits } = FINEST.get(count / 2)?.get(room as usize)?;
    if *bits == 0 { None } else { Some((LEVELS[usize::from(*row) % LEVELS.len()], u32::from(*bits))) }
}

#[derive(Clone, Copy)]
pub struct Finest {
    /// A row of [`LEVELS`].
    pub row: u8,
    /// Bits of the values; none where not even the coarsest levels fit.
    pub bits: u8,
}

/// By half the count and the room.
pub static FINEST: [[Finest; 128]; 10] = {
    let mut table = [[Finest { row: 0, bits: 0 }; 128]; 10];
    let mut half = 1;
    while half < 10 {
        let mut row = COARSEST;
        while row < LEVELS.len() {
            let bits = LEVELS[row].bits(2 * half as u32);
            let mut room = bits as usize;
            while room < 128 {
                table[half][room] = Finest { row: row as u8, bits: bits as u8 };
                room += 1;
            }
            row += 1;
        }
        half += 1;
    }
    table
};

/// Weights, 0 to 64, of values as they are packed.
#[inline(always)]
pub fn weights<S: Simd>(simd: S, packed: &Packed, levels: Levels) -> [u8; 64] {
    let table = &WEIGHTS[usize::from(levels.row) % WEIGHTS.len()];
    let mut out = [0; 64];
    for (out, packed) in out.as_chunks_mut().0.iter_mut().zip(packed.0.as_chunks().0) {
        *out = simd.pick(table, packed);
    }
    out
}

/// Values of endpoints, 0 to 255, of values as they are packed; zeros behind them.
#[inline(always)]
pub fn values(packed: &Packed, levels: Levels) -> [u8; VALUES_ROOM] {
    let Unquantized { turned, bits, skip, factor, fall, step } =
        UNQUANTIZED[usize::from(levels.row) % UNQUANTIZED.len()];
    let low = (1 << bits) - 1;
    let mut out = [0; VALUES_ROOM];
    for (out, packed) in out.iter_mut().zip(&packed.0) {
        let v = u16::from(*packed);
        let spread = (((v & low) >> skip) * factor) >> fall;
        let turn = (v & turned).wrapping_neg() & 0x1ff;
        let sum = ((v >> bits) * step + spread) ^ turn;
        *out = (turn & 0x80 | sum >> 2) as u8;
    }
    out
}

/// Room for the values of endpoints, and what four partitions of eight reach behind them.
const VALUES_ROOM: usize = 32;

/// How endpoint values follow from the digit and the bits below it: the digit counts `step`, the bits above the lowest
/// `skip` are repeated, as a product, of which the lowest `fall` bits are cut off. Two more bits are below the value.
#[derive(Clone, Copy)]
struct Unquantized {
    bits: u16,
    /// 1 where the lowest bit turns all others around.
    turned: u16,
    skip: u16,
    factor: u16,
    fall: u16,
    step: u16,
}

/// By level; those too coarse for endpoints are not used.
static UNQUANTIZED: [Unquantized; 21] = {
    let mut table = [Unquantized { bits: 0, turned: 0, skip: 0, factor: 0, fall: 0, step: 0 }; 21];
    let mut row = COARSEST;
    while row < table.len() {
        let Levels { bits, digit, .. } = LEVELS[row];
        let (factor, fall, step) = match (digit, bits) {
            (Digit::None, 3) => (73 << 1, 0, 0),
            (Digit::None, 4) => (17 << 2, 0, 0),
            (Digit::None, 5) => (33, 0, 0),
            (Digit::None, 6) => (65, 2, 0),
            (Digit::None, 7) => (129, 4, 0),
            (Digit::None, _) => (4, 0, 0),
            (Digit::Trit, 1) => (0, 0, 204),
            (Digit::Trit, 2) => (0b1_0001_0110, 0, 93),
            (Digit::Trit, 3) => (0b1000_0101, 0, 44),
            (Digit::Trit, 4) => (0b100_0001, 0, 22),
            (Digit::Trit, 5) => (129, 2, 11),
            (Digit::Trit, _) => (257, 4, 5),
            (Digit::Quint, 1) => (0, 0, 113),
            (Digit::Quint, 2) => (0b1_0000_1100, 0, 54),
            (Digit::Quint, 3) => (0b1_0000_0101, 1, 26),
            (Digit::Quint, 4) => (129, 1, 13),
            (Digit::Quint, _) => (257, 3, 6),
        };
        let turned = !matches!(digit, Digit::None) as u16;
        table[row] = Unquantized { bits: bits as u16, turned, skip: turned, factor, fall, step };
        row += 1;
    }
    table
};

/// Values whose trit or quint is the most significant part.
#[repr(align(64))]
pub struct Packed([u8; ROOM]);

pub const NONE: Packed = Packed([0; ROOM]);

/// Values as they are packed, to where they are read from: a copy would wait for all that was just written.
/// `bits` has nothing behind them.
#[inline(always)]
pub fn unpack<S: Simd>(simd: S, mut bits: u128, levels: Levels, count: usize, out: &mut Packed) {
    let out = &mut out.0;
    *out = [0; ROOM];
    let n = u32::from(levels.bits) & 0xf;
    match levels.digit {
        Digit::None => {
            for eight in out.as_chunks_mut().0.iter_mut().take(count.div_ceil(8)) {
                let (_, low) = group(simd, bits as u64, n, &[0; 8]);
                *eight = low.to_le_bytes();
                bits >>= 8 * n;
            }
        }
        Digit::Trit => {
            for first in (0..count.min(ROOM - 8)).step_by(5) {
                let (shared, low) = group(simd, bits as u64, n, &TRIT_BITS);
                let values = TRITS[shared & 0xff] << n | low;
                // Zeros behind the five are overwritten.
                out[first..first + 8].copy_from_slice(&values.to_le_bytes());
                bits >>= 5 * n + 8;
            }
        }
        Digit::Quint => {
            for first in (0..count.min(ROOM - 8)).step_by(3) {
                let (shared, low) = group(simd, bits as u64, n, &QUINT_BITS);
                let values = u64::from(QUINTS[shared & 0x7f]) << n | low;
                out[first..first + 8].copy_from_slice(&values.to_le_bytes());
                bits >>= 3 * n + 7;
            }
        }
    }
}

/// Bits of the shared number that follow the bits of each value of a group.
pub const TRIT_BITS: [u32; 5] = [2, 2, 1, 2, 1];
pub const QUINT_BITS: [u32; 3] = [3, 2, 2];

/// The number that the values of a group share, and their `n` bits, a byte for each.
#[inline(always)]
fn group<S: Simd, const N: usize>(simd: S, bits: u64, n: u32, widths: &[u32; N]) -> (usize, u64) {
    if S::BIT_LANES {
        let shared = const { &SHARED_MASKS[N] }[n as usize % 9];
        let lanes = (0x0101_0101_0101_0101 >> (64 - 8 * N)) * ((1 << n) - 1);
        return (simd.gather(bits, shared) as usize, simd.scatter(simd.gather(bits, !shared), lanes));
    }
    let (mut shared, mut low) = (0, 0);
    let (mut at, mut have) = (0, 0);
    for (i, width) in widths.iter().enumerate() {
        low |= (bits >> at & ((1 << n) - 1)) << (8 * i);
        at += n;
        // Eight values of eight bits end with the word.
        shared |= (bits.unbounded_shr(at) & ((1 << width) - 1)) << have;
        at += width;
        have += width;
    }
    (shared as usize, low)
}

/// Where the shared number lies, by the values of a group and their bits.
static SHARED_MASKS: [[u64; 9]; 9] = {
    let mut table = [[0; 9]; 9];
    let mut n = 0;
    while n < 7 {
        table[5][n as usize] = shared_mask(n, &TRIT_BITS);
        table[3][n as usize] = shared_mask(n, &QUINT_BITS);
        n += 1;
    }
    table
};

const fn shared_mask(n: u32, widths: &[u32]) -> u64 {
    let (mut mask, mut at, mut i) = (0, 0, 0);
    while i < widths.len() {
        at += n;
        mask |= ((1 << widths[i]) - 1) << at;
        at += widths[i];
        i += 1;
    }
    mask
}

/// Five digits of three in a byte each, by the eight bits they share.
pub static TRITS: [u64; 256] = {
    let mut table = [0; 256];
    let mut t = 0u64;
    while t < 256 {
        let (c, t4, t3);
        if t >> 2 & 7 == 7 {
            c = t >> 5 << 2 | t & 3;
            (t4, t3) = (2, 2);
        } else {
            c = t & 0x1f;
            (t4, t3) = if t >> 5 & 3 == 3 { (2, t >> 7) } else { (t >> 7, t >> 5 & 3) };
        }
        let (t2, t1, t0) = if c & 3 == 3 {
            (2, c >> 4, (c >> 3 & 1) << 1 | c >> 2 & 1 & !(c >> 3))
        } else if c >> 2 & 3 == 3 {
            (2, 2, c & 3)
        } else {
            (c >> 4, c >> 2 & 3, (c >> 1 & 1) << 1 | c & 1 & !(c >> 1))
        };
        table[t as usize] = t0 | t1 << 8 | t2 << 16 | t3 << 24 | t4 << 32;
        t += 1;
    }
    table
};

/// Three digits of five in a byte each, by the seven bits they share.
pub static QUINTS: [u32; 128] = {
    let mut table = [0; 128];
    let mut q = 0u32;
    while q < 128 {
        let (q2, q1, q0);
        if q >> 1 & 3 == 3 && q >> 5 == 0 {
            let odd = q & 1;
            q2 = odd << 2 | (q >> 4 & 1 & !odd) << 1 | q >> 3 & 1 & !odd;
            (q1, q0) = (4, 4);
        } else {
            let c;
            if q >> 1 & 3 == 3 {
                q2 = 4;
                c = (q >> 3 & 3) << 3 | (!(q >> 5) & 3) << 1 | q & 1;
            } else {
                q2 = q >> 5;
                c = q & 0x1f;
            }
            (q1, q0) = if c & 7 == 5 { (4, c >> 3) } else { (c >> 3, c & 7) };
        }
        table[q as usize] = q0 | q1 << 8 | q2 << 16;
        q += 1;
    }
    table
};

/// `value` of `bits` bits repeated to `width`.
const fn repeated(value: u32, bits: u32, width: u32) -> u32 {
    let (mut out, mut have) = (value, bits);
    while have < width {
        out = out << bits | value;
        have += bits;
    }
    out >> (have - width)
}

/// The bits of `value` where `pattern` has their letters, `a` the lowest; zeros elsewhere.
const fn spread(value: u32, pattern: &[u8]) -> u32 {
    let (mut out, mut i) = (0, 0);
    while i < pattern.len() {
        out <<= 1;
        if pattern[i] != b'0' {
            out |= value >> (pattern[i] - b'a') & 1;
        }
        i += 1;
    }
    out
}

/// A digit and the bits below it put in order over `width` bits: the digit counts `step`, the bits fill `pattern`, the
/// lowest turns all around.
const fn unquantized(value: u32, bits: u32, step: u32, pattern: &[u8], width: u32) -> u32 {
    let low = value & ((1 << bits) - 1);
    let all = (1 << (width + 1)) - 1;
    let turn = if low & 1 != 0 { all } else { 0 };
    let sum = ((value >> bits) * step + spread(low, pattern)) ^ turn;
    turn & 1 << (width - 1) | sum >> 2
}

/// Endpoint values by level.
pub static VALUES: [[u8; 256]; 21] = {
    let mut table = [[0; 256]; 21];
    let mut row = COARSEST;
    while row < table.len() {
        let Levels { bits, digit, .. } = LEVELS[row];
        let bits = bits as u32;
        let mut v = 0;
        while v < 256 {
            let value = match (digit, bits) {
                (Digit::None, _) => repeated(v & ((1 << bits) - 1), bits, 8),
                (Digit::Trit, 1) => unquantized(v, bits, 204, b"000000000", 8),
                (Digit::Trit, 2) => unquantized(v, bits, 93, b"b000b0bb0", 8),
                (Digit::Trit, 3) => unquantized(v, bits, 44, b"cb000cbcb", 8),
                (Digit::Trit, 4) => unquantized(v, bits, 22, b"dcb000dcb", 8),
                (Digit::Trit, 5) => unquantized(v, bits, 11, b"edcb000ed", 8),
                (Digit::Trit, _) => unquantized(v, bits, 5, b"fedcb000f", 8),
                (Digit::Quint, 1) => unquantized(v, bits, 113, b"000000000", 8),
                (Digit::Quint, 2) => unquantized(v, bits, 54, b"b0000bb00", 8),
                (Digit::Quint, 3) => unquantized(v, bits, 26, b"cb0000cbc", 8),
                (Digit::Quint, 4) => unquantized(v, bits, 13, b"dcb0000dc", 8),
                (Digit::Quint, _) => unquantized(v, bits, 6, b"edcb0000e", 8),
            };
            table[row][v as usize] = value as u8;
            v += 1;
        }
        row += 1;
    }
    table
};

/// Weights by level.
pub static WEIGHTS: [[u8; 64]; 12] = {
    let mut table = [[0; 64]; 12];
    let mut row = 0;
    while row < table.len() {
        let Levels { bits, digit, .. } = LEVELS[row];
        let bits = bits as u32;
        let mut v = 0;
        while v < 32 {
            let value = match (digit, bits) {
                (Digit::None, _) => repeated(v & ((1 << bits) - 1), bits, 6),
                (Digit::Trit, 0) => [0, 32, 63, 0][v as usize & 3],
                (Digit::Trit, 1) => unquantized(v, bits, 50, b"0000000", 6),
                (Digit::Trit, 2) => unquantized(v, bits, 23, b"b000b0b", 6),
                (Digit::Trit, _) => unquantized(v, bits, 11, b"cb000cb", 6),
                (Digit::Quint, 0) => [0, 16, 32, 47, 63, 0, 0, 0][v as usize & 7],
                (Digit::Quint, 1) => unquantized(v, bits, 28, b"0000000", 6),
                (Digit::Quint, _) => unquantized(v, bits, 13, b"b0000b0", 6),
            };
            table[row][v as usize] = value as u8 + (value > 32) as u8;
            v += 1;
        }
        row += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(l: Levels) -> usize {
        let digit = match l.digit {
            Digit::None => 1,
            Digit::Trit => 3,
            Digit::Quint => 5,
        };
        digit << l.bits
    }

    /// All levels of a range are different and reach both ends.
    #[test]
    fn levels_spread_over_the_range() {
        for l in LEVELS {
            let n = levels(l);
            let distinct = |values: &[u8]| {
                let mut values = values[..n].to_vec();
                values.sort();
                values.dedup();
                (values.len(), values[0], values[values.len() - 1])
            };
            let row = usize::from(l.row);
            if row >= COARSEST {
                assert_eq!(distinct(&VALUES[row]), (n, 0, 255), "{l:?}");
            }
            if row < WEIGHTS.len() {
                assert_eq!(distinct(&WEIGHTS[row]), (n, 0, 64), "{l:?}");
            }
        }
        assert!(LEVELS.is_sorted_by_key(|l| levels(*l)));
    }

    /// The products are the table.
    #[test]
    fn values_are_those_of_the_table() {
        for l in &LEVELS[COARSEST..] {
            for (v, value) in VALUES[usize::from(l.row)].iter().enumerate().take(levels(*l)) {
                let mut packed = NONE;
                packed.0[3] = v as u8;
                assert_eq!(values(&packed, *l)[3], *value, "{l:?} {v}");
            }
        }
    }

    #[test]
    fn every_packing_has_digits_in_range() {
        assert!(TRITS.iter().all(|t| t.to_le_bytes().iter().all(|&digit| digit < 3)));
        assert!(QUINTS.iter().all(|q| q.to_le_bytes().iter().all(|&digit| digit < 5)));
    }
}
