//! Bounded integer sequences: values of 2^n, 3·2^n or 5·2^n levels. Five digits of three share eight bits, three digits
//! of five share seven.

/// Room for 64 values and what a last group writes behind them.
pub const ROOM: usize = 128;

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
    /// Those of weights by range: 2 to 7, and 10 to 15 for the finer ones.
    #[inline(always)]
    pub fn of_weights(range: u32) -> Option<Levels> {
        let row = match range {
            2..=7 => range - 2,
            10..=15 => range - 4,
            _ => return None,
        };
        LEVELS.get(row as usize).copied()
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

/// The finest levels of which `count` values, an even number of up to 18, fit in `room` bits.
#[inline(always)]
pub fn finest(count: u32, room: u32) -> Option<Levels> {
    let row = FINEST.get(count as usize / 2)?.get(room as usize)?;
    if *row == NONE { None } else { LEVELS.get(usize::from(*row)).copied() }
}

pub const NONE: u8 = 0xff;

/// Rows of [`LEVELS`] by half the count and the room.
pub static FINEST: [[u8; 128]; 10] = {
    let mut table = [[NONE; 128]; 10];
    let mut half = 1;
    while half < 10 {
        let mut row = COARSEST;
        while row < LEVELS.len() {
            let mut room = LEVELS[row].bits(2 * half as u32) as usize;
            while room < 128 {
                table[half][room] = row as u8;
                room += 1;
            }
            row += 1;
        }
        half += 1;
    }
    table
};

/// Weights, 0 to 64; `bits` has nothing behind them.
#[inline(always)]
pub fn weights(bits: u128, levels: Levels, count: usize, out: &mut [u8; ROOM]) {
    let table = &WEIGHTS[usize::from(levels.row) % WEIGHTS.len()];
    unpack(bits, levels, count, |v| table[v % table.len()], out);
}

/// Values of endpoints, 0 to 255; `bits` has nothing behind them.
#[inline(always)]
pub fn values(bits: u128, levels: Levels, count: usize, out: &mut [u8; ROOM]) {
    let table = &VALUES[usize::from(levels.row) % VALUES.len()];
    unpack(bits, levels, count, |v| table[v % table.len()], out);
}

#[inline(always)]
fn unpack(mut bits: u128, levels: Levels, count: usize, value: impl Fn(usize) -> u8, out: &mut [u8; ROOM]) {
    let n = u32::from(levels.bits);
    let mask = (1u64 << n) - 1;
    match levels.digit {
        Digit::None => {
            for out in out.iter_mut().take(count) {
                *out = value((bits as u64 & mask) as usize);
                bits >>= n;
            }
        }
        Digit::Trit => {
            for out in out.as_chunks_mut::<5>().0.iter_mut().take(count.div_ceil(5)) {
                let group = bits as u64;
                bits >>= 5 * n + 8;
                let packed = group >> n & 3
                    | group >> (2 * n) & 0xc
                    | group >> (3 * n) & 0x10
                    | group >> (4 * n) & 0x60
                    | group >> (5 * n) & 0x80;
                let digits = TRITS[packed as usize & 0xff];
                for (i, (out, before)) in out.iter_mut().zip([0, 2, 4, 5, 7]).enumerate() {
                    let low = group >> (i as u32 * n + before) & mask;
                    *out = value((u64::from(digits >> (2 * i) & 3) << n | low) as usize);
                }
            }
        }
        Digit::Quint => {
            for out in out.as_chunks_mut::<3>().0.iter_mut().take(count.div_ceil(3)) {
                let group = bits as u64;
                bits >>= 3 * n + 7;
                let packed = group >> n & 7 | group >> (2 * n) & 0x18 | group >> (3 * n) & 0x60;
                let digits = QUINTS[packed as usize & 0x7f];
                for (i, (out, before)) in out.iter_mut().zip([0, 3, 5]).enumerate() {
                    let low = group >> (i as u32 * n + before) & mask;
                    *out = value((u64::from(digits >> (3 * i) & 7) << n | low) as usize);
                }
            }
        }
    }
}

/// Five digits of three in two bits each, by the eight bits they share.
pub static TRITS: [u16; 256] = {
    let mut table = [0; 256];
    let mut t = 0u16;
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
        table[t as usize] = t0 | t1 << 2 | t2 << 4 | t3 << 6 | t4 << 8;
        t += 1;
    }
    table
};

/// Three digits of five in three bits each, by the seven bits they share.
pub static QUINTS: [u16; 128] = {
    let mut table = [0; 128];
    let mut q = 0u16;
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
        table[q as usize] = q0 | q1 << 3 | q2 << 6;
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
pub static WEIGHTS: [[u8; 32]; 12] = {
    let mut table = [[0; 32]; 12];
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

    #[test]
    fn every_packing_has_digits_in_range() {
        assert!(TRITS.iter().all(|t| (0..5).all(|i| t >> (2 * i) & 3 < 3)));
        assert!(QUINTS.iter().all(|q| (0..3).all(|i| q >> (3 * i) & 7 < 5)));
    }
}
