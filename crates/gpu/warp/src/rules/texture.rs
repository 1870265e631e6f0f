//! Texels: level, filter, address, format.

use super::interpolate::{Attributes, Weights, coordinates, weights};
use super::setting::choose;
use super::{Key, Setting, StateValues};
use crate::state::{LEVELS, format};
use xenoglot_raster::ops::Ops;

/// Fraction bits of texture coordinates.
const FRACTION: u32 = 5;
/// Half a texel.
const HALF_TEXEL: i32 = 16;

/// Two channels in the halves of a word, twice: red and blue, green and alpha.
type Pairs<I> = [I; 2];

/// A texture at a pixel: its channels.
#[inline(always)]
pub fn sample<O: Ops>(
    o: &mut O,
    key: &Key<O::Int>,
    state: &StateValues<O::Int>,
    attributes: &Attributes<O>,
    place: [O::Int; 2],
    at: &Weights<O>,
) -> [O::Int; 4] {
    let uv = coordinates(o, attributes, at);
    let scale = o.float((1 << FRACTION) as f32);
    let fixed = uv.map(|value| {
        let value = o.fmul(scale, value);
        o.round(value)
    });
    if let Setting::Known(0) = key.last_level {
        let level = o.int(0);
        return filter(o, key, state, fixed, level);
    }
    let detail = level_of_detail(o, attributes, place, uv);
    let last = key.last_level.value(o);
    let trilinear = key.format.has(o, format::TRILINEAR);
    let [detail] = choose(o, trilinear, |_| [detail], |o| [o.add_to(detail, 128)]);
    let level = o.sar_by(detail, 8);
    let level = o.min(level, last);
    let texel = filter(o, key, state, fixed, level);
    choose(
        o,
        trilinear,
        |o| {
            let fraction = o.and_with(detail, 255);
            let zero = o.int(0);
            let whole = o.equal(fraction, zero);
            let is_last = o.equal(level, last);
            let single = o.either(whole, is_last);
            let mixed = o.not(single);
            o.when(mixed, texel, |o| {
                let next = o.add_to(level, 1);
                // Where the level is the last one the result is not taken, and there is none behind the last.
                let next = o.min(next, last);
                let next = filter(o, key, state, fixed, next);
                [0, 1, 2, 3].map(|i| {
                    let sum = o.shl_by(texel[i], 8);
                    let difference = o.sub(next[i], texel[i]);
                    let step = o.mul(difference, fraction);
                    let sum = o.add(sum, step);
                    let sum = o.add_to(sum, 128);
                    o.shr_by(sum, 8)
                })
            })
        },
        |_| texel,
    )
}

/// Level of detail in 256ths, of how far coordinates are from those of the other pixels of the quad.
#[inline(always)]
fn level_of_detail<O: Ops>(
    o: &mut O,
    attributes: &Attributes<O>,
    [x, y]: [O::Int; 2],
    uv: [O::Float; 2],
) -> O::Int {
    let one = o.int(1);
    let others = [[o.xor(x, one), y], [x, o.xor(y, one)]];
    let others = others.map(|place| {
        let at = weights(o, attributes, place);
        coordinates(o, attributes, &at)
    });
    let [u, v] = [0, 1].map(|axis| {
        let [across, down] = others.map(|other| {
            let difference = o.fsub(other[axis], uv[axis]);
            o.fabs(difference)
        });
        o.fadd(across, down)
    });
    let texels = o.fmax(u, v);
    let one = o.float(1.0);
    let texels = o.fmax(texels, one);
    log2(o, texels)
}

/// 256 times the logarithm to base 2 of what is not below 1, the nearest integer.
///
/// Hosts' logarithms differ, sums and products do not: `m` in `sqrt(1/2)..sqrt(2)`, then the series of
/// `ln m = 2 atanh s`, `s = (m - 1) / (m + 1)`, whose rest is below 2^-30.
#[inline(always)]
fn log2<O: Ops>(o: &mut O, value: O::Float) -> O::Int {
    let bits = o.bits(value);
    let exponent = o.shr_by(bits, 23);
    let exponent = o.add_to(exponent, -127);
    let mantissa = o.and_with(bits, 0x7f_ffff);
    // From the mantissa of sqrt(2) on.
    let threshold = o.int(0x35_04f3);
    let low = o.less(mantissa, threshold);
    let (one, half) = (o.int(0x3f80_0000), o.int(0x3f00_0000));
    let scale = o.select(low, one, half);
    let m = o.or(mantissa, scale);
    let m = o.float_of_bits(m);
    let above = o.add_to(exponent, 1);
    let exponent = o.select(low, exponent, above);

    let one = o.float(1.0);
    let (over, under) = (o.fsub(m, one), o.fadd(m, one));
    let s = o.fdiv(over, under);
    let square = o.fmul(s, s);
    // 2 * 256 / ln(2) / n for n = 9, 7, 5, 3, 1.
    const FACTOR: f64 = 512.0 * std::f64::consts::LOG2_E;
    let mut sum = o.float((FACTOR / 9.0) as f32);
    for n in [7.0, 5.0, 3.0, 1.0] {
        let term = o.float((FACTOR / n) as f32);
        let product = o.fmul(sum, square);
        sum = o.fadd(product, term);
    }
    let fraction = o.fmul(sum, s);
    let fraction = o.round(fraction);
    let whole = o.shl_by(exponent, 8);
    o.add(whole, fraction)
}

/// A level at a place in 32nds of texels of level 0.
#[inline(always)]
fn filter<O: Ops>(
    o: &mut O,
    key: &Key<O::Int>,
    state: &StateValues<O::Int>,
    fixed: [O::Int; 2],
    level: O::Int,
) -> [O::Int; 4] {
    let source = Source::new(o, key, state, level);
    let [u, v] = fixed.map(|value| o.sar(value, level));
    let bilinear = key.format.has(o, format::BILINEAR);
    choose(
        o,
        bilinear,
        |o| {
            let at = [u, v].map(|value| o.add_to(value, -HALF_TEXEL));
            let [fu, fv] = at.map(|value| o.and_with(value, (1 << FRACTION) - 1));
            let [u0, v0] = at.map(|value| o.sar_by(value, FRACTION));
            let (u1, v1) = (o.add_to(u0, 1), o.add_to(v0, 1));
            let xs = [u0, u1].map(|u| source.column(o, u));
            let ys = [v0, v1].map(|v| source.row(o, v));
            // Halves of a word stay apart: what is mixed has at most 13 bits.
            let rows = ys.map(|y| {
                let [a, b] = xs.map(|x| source.texel(o, key, x, y));
                [0, 1].map(|pair| {
                    let start = o.shl_by(a[pair], FRACTION);
                    let difference = o.sub(b[pair], a[pair]);
                    let step = o.mul(difference, fu);
                    o.add(start, step)
                })
            });
            let mixed = rows.map(|pairs| split(o, pairs));
            [0, 1, 2, 3].map(|i| {
                let [top, bottom] = mixed.map(|channels| channels[i]);
                let start = o.shl_by(top, FRACTION);
                let difference = o.sub(bottom, top);
                let step = o.mul(difference, fv);
                let sum = o.add(start, step);
                let sum = o.add_to(sum, 1 << (2 * FRACTION - 1));
                o.shr_by(sum, 2 * FRACTION)
            })
        },
        |o| {
            let [u, v] = [u, v].map(|value| o.sar_by(value, FRACTION));
            let (x, y) = (source.column(o, u), source.row(o, v));
            let pairs = source.texel(o, key, x, y);
            split(o, pairs)
        },
    )
}

/// Red, green, blue, alpha.
#[inline(always)]
fn split<O: Ops>(o: &mut O, [red_blue, green_alpha]: Pairs<O::Int>) -> [O::Int; 4] {
    let [red, green] = [red_blue, green_alpha].map(|pair| o.and_with(pair, 0xffff));
    let [blue, alpha] = [red_blue, green_alpha].map(|pair| o.shr_by(pair, 16));
    [red, green, blue, alpha]
}

/// A level of a texture.
struct Source<O: Ops> {
    /// First and last texel along either axis.
    clamp: [[O::Int; 2]; 2],
    /// Bits of coordinates that are kept.
    mask: [O::Int; 2],
    /// Units of 16 bits in a row of blocks.
    stride: O::Int,
    /// First unit.
    base: O::Int,
    /// Texels of a unit, as a shift.
    shift: O::Int,
}

impl<O: Ops> Source<O> {
    #[inline(always)]
    fn new(o: &mut O, key: &Key<O::Int>, state: &StateValues<O::Int>, level: O::Int) -> Source<O> {
        let single = matches!(key.last_level, Setting::Known(0));
        let at_level = |o: &mut O, value| if single { value } else { o.sar(value, level) };
        let [left, top, right, bottom] = state.clamp.map(|value| at_level(o, value));
        let mask = state.mask.map(|value| at_level(o, value));
        let width = at_level(o, state.width);
        let one = o.int(1);
        let width = o.max(width, one);
        let byte = key.format.is(o, format::KIND, format::I8);
        let [shift] = choose(o, byte, |o| [o.int(1)], |o| [o.int(0)]);
        // Units of a row, then blocks of eight of them.
        let width = o.add(width, shift);
        let width = o.sar(width, shift);
        let blocks = o.add_to(width, 7);
        let blocks = o.sar_by(blocks, 3);
        let stride = o.shl_by(blocks, 6);
        let levels = match key.last_level {
            Setting::Known(last) => usize::from(last) + 1,
            Setting::Loaded(_) => LEVELS,
        };
        let mut base = state.levels[0];
        for (number, &place) in (0..).zip(&state.levels).take(levels).skip(1) {
            let number = o.int(number);
            let is_it = o.equal(level, number);
            base = o.select(is_it, place, base);
        }
        let base = o.shr_by(base, 1);
        Source { clamp: [[left, right], [top, bottom]], mask, stride, base, shift }
    }

    #[inline(always)]
    fn wrap(&self, o: &mut O, value: O::Int, axis: usize) -> O::Int {
        let [low, high] = self.clamp[axis];
        let value = o.max(value, low);
        let value = o.min(value, high);
        o.and(value, self.mask[axis])
    }

    /// What a column adds to an address, and the column.
    #[inline(always)]
    fn column(&self, o: &mut O, u: O::Int) -> [O::Int; 2] {
        let u = self.wrap(o, u, 0);
        let unit = o.sar(u, self.shift);
        let block = o.and_with(unit, !7);
        let block = o.shl_by(block, 3);
        let inner = o.and_with(unit, 7);
        [o.or(block, inner), u]
    }

    /// What a row adds to an address.
    #[inline(always)]
    fn row(&self, o: &mut O, v: O::Int) -> O::Int {
        let v = self.wrap(o, v, 1);
        let block = o.sar_by(v, 3);
        let block = o.mul(block, self.stride);
        let inner = o.and_with(v, 7);
        let inner = o.shl_by(inner, 3);
        let row = o.add(block, inner);
        o.add(row, self.base)
    }

    #[inline(always)]
    fn texel(&self, o: &mut O, key: &Key<O::Int>, [x, column]: [O::Int; 2], y: O::Int) -> Pairs<O::Int> {
        let at = o.add(x, y);
        let unit = o.load(at);
        let [byte, luminance] = [format::I8, format::LA88].map(|kind| key.format.is(o, format::KIND, kind));
        choose(
            o,
            byte,
            |o| {
                let odd = o.and_with(column, 1);
                let shift = o.shl_by(odd, 3);
                let value = o.shr(unit, shift);
                let value = o.and_with(value, 255);
                let high = o.shl_by(value, 16);
                let both = o.or(value, high);
                [both; 2]
            },
            |o| choose(o, luminance, |o| luminance_alpha(o, unit), |o| argb1555(o, unit)),
        )
    }
}

#[inline(always)]
fn luminance_alpha<O: Ops>(o: &mut O, unit: O::Int) -> Pairs<O::Int> {
    let value = o.and_with(unit, 255);
    let high = o.shl_by(value, 16);
    let both = o.or(value, high);
    let alpha = o.and_with(unit, 0xff00);
    let alpha = o.shl_by(alpha, 8);
    [both, o.or(value, alpha)]
}

#[inline(always)]
fn argb1555<O: Ops>(o: &mut O, unit: O::Int) -> Pairs<O::Int> {
    let (red, blue) = (o.shr_by(unit, 10), o.shl_by(unit, 16));
    let (red, blue) = (o.and_with(red, 0x1f), o.and_with(blue, 0x1f_0000));
    let pair = o.or(red, blue);
    let (high, low) = (o.shl_by(pair, 3), o.shr_by(pair, 2));
    let low = o.and_with(low, 0x7_0007);
    let red_blue = o.or(high, low);
    let green = o.shr_by(unit, 5);
    let green = o.and_with(green, 0x1f);
    let (high, low) = (o.shl_by(green, 3), o.shr_by(green, 2));
    let green = o.or(high, low);
    // Bit 15 to eight ones in the upper half.
    let alpha = o.shl_by(unit, 16);
    let alpha = o.sar_by(alpha, 15);
    let alpha = o.and_with(alpha, 0xff_0000);
    [red_blue, o.or(green, alpha)]
}
