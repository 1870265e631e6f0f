//! Logic operations between the fragment and the stored pixel, on channels of 8 bits.

/// The operation of a number on source `s` and destination `d`; the lowest four bits of the number count.
#[inline(always)]
pub fn apply(number: u32, s: &mut [u16], d: &[u16]) {
    match number & 15 {
        0 => s.fill(0),
        1 => each(s, d, |s, d| s & d),
        2 => each(s, d, |s, d| s & !d),
        3 => {}
        4 => s.fill(0xff),
        5 => each(s, d, |s, _| !s),
        6 => each(s, d, |_, d| d),
        7 => each(s, d, |_, d| !d),
        8 => each(s, d, |s, d| !(s & d)),
        9 => each(s, d, |s, d| s | d),
        10 => each(s, d, |s, d| !(s | d)),
        11 => each(s, d, |s, d| s ^ d),
        12 => each(s, d, |s, d| !(s ^ d)),
        13 => each(s, d, |s, d| !s & d),
        14 => each(s, d, |s, d| s | !d),
        _ => each(s, d, |s, d| !s | d),
    }
}

/// Whether the operation looks at the destination.
pub fn reads_destination(number: u32) -> bool {
    !matches!(number & 15, 0 | 3 | 4 | 5)
}

#[inline(always)]
fn each(s: &mut [u16], d: &[u16], op: impl Fn(u16, u16) -> u16) {
    for (s, &d) in s.iter_mut().zip(d) {
        *s = op(*s, d) & 0xff;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results for the bit pairs s = 0 0 1 1, d = 0 1 0 1, the first pair on the left.
    const TRUTH: [u16; 16] = [
        0b0000, 0b0001, 0b0010, 0b0011, 0b1111, 0b1100, 0b0101, 0b1010, 0b1110, 0b0111, 0b1000, 0b0110,
        0b1001, 0b0100, 0b1011, 0b1101,
    ];

    #[test]
    fn truth_tables() {
        for (number, expected) in (0..).zip(TRUTH) {
            let mut s = [0b0011];
            apply(number, &mut s, &[0b0101]);
            assert_eq!(s[0] & 15, expected, "{number}");
            assert!(s[0] <= 255);
            let mut flipped = [0b0011];
            apply(number, &mut flipped, &[0b1010]);
            if !reads_destination(number) {
                assert_eq!(s, flipped);
            }
        }
    }
}
