//! End points as modes of BC7 store them.

use super::super::uastc::Endpoints;
use crate::bc::bc7::MODES;

/// How the texels of a subset share its line: a texel at level l of `top` is the first end with the weight 1 - l / `top`
/// and the second with l / `top`. Sums over texels.
#[derive(Clone, Copy)]
pub struct Shares {
    /// Of squares of the first end's weights, of products of both, and of squares of the second's.
    squares: [f32; 3],
    /// Of both weights of the texels between the ends.
    inner: [f32; 2],
}

impl Shares {
    /// Of the indices of `W` bits whose lowest bits are in `mask`. The second end is at `top`, which no index exceeds.
    #[inline(always)]
    pub fn of<const W: usize>(indices: u64, mask: u64, top: u8) -> Shares {
        let bits: [u64; W] = core::array::from_fn(|bit| indices >> bit & mask);
        let (mut sum, mut squares, mut low, mut high) = (0, 0, 0, 0);
        for (i, a) in bits.iter().enumerate() {
            low |= a;
            high |= a ^ (u64::from(top >> i & 1) * mask);
            sum += a.count_ones() << i;
            squares += a.count_ones() << (2 * i);
            for (j, b) in bits.iter().enumerate().skip(i + 1) {
                squares += (a & b).count_ones() << (i + j + 1);
            }
        }
        let scale = 1.0 / f32::from(top);
        let (sum, squares) = (sum as f32 * scale, squares as f32 * scale * scale);
        let (count, at_top) = (mask.count_ones() as f32, (!high & mask).count_ones() as f32);
        let inner = (low & high).count_ones() as f32;
        let far_inner = sum - at_top;
        Shares {
            squares: [count - 2.0 * sum + squares, sum - squares, squares],
            inner: [inner - far_inner, far_inner],
        }
    }
}

/// A pair of end points: codes, and the lowest bits (p-bits) that all components of an end share.
#[derive(Clone, Copy, Default)]
pub struct Codes {
    pub codes: [[u32; 4]; 2],
    pub lowest: [u8; 2],
}

/// What stands for a value of eight bits: the greatest code that stands for no more, how far below the value that is, and how
/// far above it the next one is, in a byte each. Where there is no next one, it is as far as can be.
const fn codes_around(value: u8, bits: u32, lowest: Option<u8>) -> u32 {
    let mut code = 0;
    while code + 1 < 1 << bits && expanded(code + 1, bits, lowest) <= value {
        code += 1;
    }
    let (first, mut up) = (expanded(code, bits, lowest), u8::MAX);
    if first > value {
        // The least code stands for more than the value: no other one is nearer.
        return code | (value.wrapping_sub(first) as u32) << 8 | (up as u32) << 16;
    }
    if code + 1 < 1 << bits {
        up = expanded(code + 1, bits, lowest) - value;
    }
    code | ((value - first) as u32) << 8 | (up as u32) << 16
}

/// The value of eight bits that a code of `bits` bits stands for.
const fn expanded(code: u32, bits: u32, lowest: Option<u8>) -> u8 {
    let (whole, bits) = match lowest {
        Some(lowest) => (code << 1 | lowest as u32, bits + 1),
        None => (code, bits),
    };
    (whole << (8 - bits) | whole >> (2 * bits - 8)) as u8
}

/// [`codes_around`] each value.
struct Table([u32; 256]);

impl Table {
    const fn new(bits: u32, lowest: Option<u8>) -> Table {
        let (mut out, mut value) = ([0; 256], 0);
        while value < 256 {
            out[value] = codes_around(value as u8, bits, lowest);
            value += 1;
        }
        Table(out)
    }

    #[inline(always)]
    fn around(&self, value: u8) -> u32 {
        self.0[value as usize]
    }

    /// The square of how far the nearest code is off.
    #[inline(always)]
    fn square(&self, value: u8) -> i32 {
        let [_, down, up, _] = self.around(value).to_le_bytes();
        let off = i32::from((down as i8).unsigned_abs().min(up));
        off * off
    }
}

/// Tables of mode `B` for colours and for alpha, by the lowest bit.
const fn tables<const B: usize>() -> [[Table; 2]; 2] {
    const fn both(bits: u32, has_lowest: bool) -> [Table; 2] {
        if has_lowest {
            [Table::new(bits, Some(0)), Table::new(bits, Some(1))]
        } else {
            [Table::new(bits, None), Table::new(bits, None)]
        }
    }
    let mode = &MODES[B];
    let has_lowest = mode.own_lowest || mode.shared_lowest;
    let alpha = if mode.alpha == 0 { mode.color } else { mode.alpha };
    [both(mode.color, has_lowest), both(alpha, has_lowest)]
}

/// The codes of the first `C` components in mode `B`.
#[inline(always)]
pub fn codes<const B: usize, const C: usize>(ends: &Endpoints, shares: &Shares) -> Codes {
    let tables = const { &tables::<B>() };
    let lowest = lowest::<B, C>(ends, tables);
    // Of both ends, all four components in a vector.
    let (mut code, mut down, mut up) = ([[0; 4]; 2], [[0.0; 4]; 2], [[0.0; 4]; 2]);
    for end in 0..2 {
        let mut around = [0; 4];
        for c in 0..4 {
            around[c] = tables[c / 3][usize::from(lowest[end] & 1)].around(ends[end][c]);
        }
        for c in 0..4 {
            code[end][c] = around[c] & 0xff;
            down[end][c] = -((around[c] << 16) as i32 >> 24) as f32;
            up[end][c] = (around[c] >> 16) as i32 as f32;
        }
    }
    // UASTC takes the high byte of sixteen bits, which is half a step below the fraction for dark components, and half a step
    // above it for bright ones. BC7 rounds.
    let [near_inner, far_inner] = shares.inner;
    let mut lean = [0.0; 4];
    for c in 0..4 {
        let [from, to] = [ends[0][c], ends[1][c]].map(f32::from);
        let above = (from + to) * (1.0 / 256.0) - 1.0;
        lean[c] = if from == to { 0.0 } else { above };
    }
    let [near, both, far] = shares.squares;
    let both = 2.0 * both;
    let (mut cost, mut added) = ([f32::MAX; 4], [[0; 4]; 2]);
    for (choice, [first, second]) in
        [[&down, &down], [&up, &down], [&down, &up], [&up, &up]].into_iter().enumerate()
    {
        for c in 0..4 {
            let (a, b) = (first[0][c], second[1][c]);
            let each = a * (near * a + both * b - lean[c] * near_inner) + b * (far * b - lean[c] * far_inner);
            let is_better = each < cost[c];
            cost[c] = if is_better { each } else { cost[c] };
            added[0][c] = if is_better { choice as u32 & 1 } else { added[0][c] };
            added[1][c] = if is_better { choice as u32 >> 1 } else { added[1][c] };
        }
    }
    for end in 0..2 {
        for c in 0..4 {
            code[end][c] += added[end][c];
        }
    }
    Codes { codes: code, lowest }
}

/// The lowest bits with which values are nearest. Alpha that is 0 or 255 stays so.
#[inline(always)]
fn lowest<const B: usize, const C: usize>(ends: &Endpoints, tables: &[[Table; 2]; 2]) -> [u8; 2] {
    let mode = const { &MODES[B] };
    if !mode.own_lowest && !mode.shared_lowest {
        return [0; 2];
    }
    let mut gain = [0; 2];
    for end in 0..2 {
        for c in 0..C {
            let [without, with] = &tables[c / 3];
            gain[end] += without.square(ends[end][c]) - with.square(ends[end][c]);
        }
    }
    if mode.shared_lowest {
        return [u8::from(gain[0] + gain[1] > 0); 2];
    }
    let mut out = [0; 2];
    for end in 0..2 {
        out[end] = match ends[end][3] {
            255 if C == 4 => 1,
            0 if C == 4 => 0,
            _ => u8::from(gain[end] > 0),
        };
    }
    out
}
