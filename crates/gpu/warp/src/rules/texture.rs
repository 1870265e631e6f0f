//! Texels: level, filter, address, format.

use super::interpolate::{Attributes, Weights, coordinates, weights};
use super::setting::choose;
use super::{Fact, Key, Pairs, Setting, StateValues, Values};
use crate::state::{LEVELS, format};
use xenoglot_raster::ops::Ops;
use xenoglot_raster::{each, inlined};

/// Fraction bits of texture coordinates.
pub const FRACTION: u32 = 5;
/// [`Key::shift`] of textures that are tables of decoded texels.
pub const DECODED: u8 = 3;
/// Half a texel.
const HALF_TEXEL: i32 = 16;

/// A texture at a pixel.
#[inline(always)]
pub fn sample<O: Ops>(o: &mut O, values: &Values<O>, place: [O::Int; 2], at: &Weights<O>) -> Pairs<O::Int> {
    let Values { key, state, attributes } = values;
    let uv = coordinates(o, attributes, at);
    let scale = o.float((1 << FRACTION) as f32);
    let fixed = each!([uv[0], uv[1]], value => {
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
    let [detail] =
        choose(o, trilinear, inlined!(|_: &mut O| [detail]), inlined!(|o: &mut O| [o.add_to(detail, 128)]));
    let level = o.sar_by(detail, 8);
    let level = o.min(level, last);
    let (zero, fraction) = (o.int(0), o.and_with(detail, 255));
    let whole = o.equal(fraction, zero);
    let is_last = o.equal(level, last);
    let single = o.either(whole, is_last);
    let mixed = o.not(single);
    let mixed = match trilinear {
        Fact::Known(_) => mixed,
        Fact::Depends(trilinear) => o.both(mixed, trilinear),
    };
    // Where the level is the last one the next is not taken, and there is none behind the last.
    let next = o.add_to(level, 1);
    let next = o.min(next, last);
    // A loop, so that there is one filter in an engine's code.
    let mut texels = [[zero; 2]; 2];
    let steps = [(o.bool(true), level), (mixed, next)];
    for (step, (wanted, level)) in steps.into_iter().enumerate() {
        if step == 1 && matches!(trilinear, Fact::Known(false)) {
            break;
        }
        texels[step] = o.when(wanted, texels[0], inlined!(|o: &mut O| filter(o, key, state, fixed, level)));
    }
    let [texel, next] = texels;
    choose(
        o,
        trilinear,
        inlined!(|o: &mut O| {
            // Where the next level is not wanted it is this one.
            let (fraction, half) = (o.halves(fraction, fraction), o.int(0x80_0080));
            each!([0, 1], pair => {
                let sum = o.shl_halves(texel[pair], 8);
                let difference = o.sub_halves(next[pair], texel[pair]);
                let step = o.mul_halves(difference, fraction);
                let sum = o.add_halves(sum, step);
                let sum = o.add_halves(sum, half);
                o.shr_halves(sum, 8)
            })
        }),
        inlined!(|_: &mut O| texel),
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
    let others = each!([[o.xor(x, one), y], [x, o.xor(y, one)]], place => {
        let at = weights(o, attributes, place);
        coordinates(o, attributes, &at)
    });
    let [u, v] = each!([0, 1], axis => {
        let [across, down] = each!([0, 1], direction => {
            let other: [O::Float; 2] = others[direction];
            let difference = o.fsub(other[axis], uv[axis]);
            o.fabs(difference)
        });
        let texels = o.fadd(across, down);
        // Keeps NaNs out of the maximum below.
        let one = o.float(1.0);
        o.fmax(texels, one)
    });
    let texels = o.fmax(u, v);
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
) -> Pairs<O::Int> {
    let source = Source::new(o, key, state, level);
    let [u, v] =
        if source.single { fixed } else { each!([fixed[0], fixed[1]], value => o.sar(value, level)) };
    let bilinear = key.format.has(o, format::BILINEAR);
    choose(
        o,
        bilinear,
        inlined!(|o: &mut O| {
            let [u, v] = each!([0, 1], axis => {
                let value = o.add_to([u, v][axis], -HALF_TEXEL);
                source.clamp(o, value, axis)
            });
            let [fu, fv] = each!([u, v], value => o.and_with(value, (1 << FRACTION) - 1));
            let fu = o.shl_by(fu, 1);
            let right = o.halves(fu, fu);
            // Rows in 64ths of channels, below 2^14.
            let [top, bottom] = if let Setting::Known(DECODED) = key.shift {
                source.decoded_rows(o, [u, v], right)
            } else {
                source.rows(o, key, state, [u, v], right)
            };
            // (32 top + (bottom - top) fv + 512) / 1024 of rows in 32nds, by whole steps of a 32nd.
            let fv = o.shl_by(fv, 10);
            let (down, half) = (o.halves(fv, fv), o.int(0x20_0020));
            each!([0, 1], pair => {
                let difference = o.sub_halves(bottom[pair], top[pair]);
                let step = o.mul_halves_high(difference, down);
                let start = o.add_halves(top[pair], half);
                let start = o.shr_halves(start, 1);
                let sum = o.add_halves(start, step);
                o.shr_halves(sum, FRACTION)
            })
        }),
        inlined!(|o: &mut O| {
            let [u, v] = each!([0, 1], axis => {
                let value = source.clamp(o, [u, v][axis], axis);
                let value = o.sar_by(value, FRACTION);
                o.and(value, source.mask[axis])
            });
            let (x, y) = (source.column(o, u), source.row(o, v));
            source.texel(o, key, state, x, y)
        }),
    )
}

/// A texel of a level as an entry of a table: red, green, blue, alpha from the lowest byte up.
#[inline(always)]
pub fn decoded<O: Ops>(o: &mut O, values: &Values<O>, place: [O::Int; 2], level: O::Int) -> O::Int {
    let Values { key, state, .. } = values;
    let source = Source::new(o, key, state, level);
    let [x, y] = each!([0, 1], axis => o.and(place[axis], source.mask[axis]));
    let (x, y) = (source.column(o, x), source.row(o, y));
    let [red_blue, green_alpha] = source.texel(o, key, state, x, y);
    let green_alpha = o.shl_by(green_alpha, 8);
    o.or(red_blue, green_alpha)
}

/// A level of a texture.
struct Source<O: Ops> {
    /// Whether there is no other level.
    single: bool,
    /// First and last texel along either axis, in 32nds of texels.
    clamp: [[O::Int; 2]; 2],
    /// Bits of coordinates that are kept.
    mask: [O::Int; 2],
    /// Units of 16 bits in a row of blocks.
    stride: O::Int,
    /// First unit.
    base: O::Int,
    /// Texels of a unit, as a shift.
    shift: Setting<O::Int>,
}

impl<O: Ops> Source<O> {
    #[inline(always)]
    fn new(o: &mut O, key: &Key<O::Int>, state: &StateValues<O::Int>, level: O::Int) -> Source<O> {
        let StateValues { clamp: [left, top, right, bottom], mask, strides, bases, .. } = *state;
        let shift = key.shift;
        if let Setting::Known(0) = key.last_level {
            let clamp = [[left, right], [top, bottom]];
            return Source { single: true, clamp, mask, stride: strides[0], base: bases[0], shift };
        }
        let [left, top, right, bottom] = each!([left, top, right, bottom], value => {
            let value = o.sar(value, level);
            o.and_with(value, -1 << FRACTION)
        });
        let mask = each!([mask[0], mask[1]], value => o.sar(value, level));
        let levels = match key.last_level {
            Setting::Known(last) => usize::from(last) + 1,
            Setting::Loaded(_) => LEVELS,
        };
        let (mut stride, mut base) = (strides[0], bases[0]);
        for number in 1..LEVELS {
            if number >= levels {
                break;
            }
            let is_it = o.int(number as i32);
            let is_it = o.equal(level, is_it);
            stride = o.select(is_it, strides[number], stride);
            base = o.select(is_it, bases[number], base);
        }
        Source { single: false, clamp: [[left, right], [top, bottom]], mask, stride, base, shift }
    }

    /// A coordinate in 32nds of texels between the first and the last texel. At the last one it has no fraction, so that the
    /// texel behind does not count in a filter.
    #[inline(always)]
    fn clamp(&self, o: &mut O, value: O::Int, axis: usize) -> O::Int {
        let [low, high] = self.clamp[axis];
        let value = o.max(value, low);
        o.min(value, high)
    }

    /// The two rows of a filter at a place, mixed of two texels each.
    #[inline(always)]
    fn rows(
        &self,
        o: &mut O,
        key: &Key<O::Int>,
        state: &StateValues<O::Int>,
        place: [O::Int; 2],
        right: O::Int,
    ) -> [Pairs<O::Int>; 2] {
        let [us, vs] = each!([0, 1], axis => {
            let first = o.sar_by(place[axis], FRACTION);
            let second = o.add_to(first, 1);
            each!([first, second], value => o.and(value, self.mask[axis]))
        });
        let xs = each!([us[0], us[1]], u => self.column(o, u));
        let ys = each!([vs[0], vs[1]], v => self.row(o, v));
        let whole = o.int(0x40_0040);
        let left = o.sub(whole, right);
        // A loop, so that there is one format in an engine's code.
        let mut rows = [[left; 2]; 2];
        for (row, y) in rows.iter_mut().zip(ys) {
            for (column, weight) in [left, right].into_iter().enumerate() {
                let texel = self.texel(o, key, state, xs[column], y);
                let part = each!([0, 1], pair => o.mul_halves(texel[pair], weight));
                *row = if column == 0 {
                    part
                } else {
                    each!([0, 1], pair => o.add_halves(row[pair], part[pair]))
                };
            }
        }
        rows
    }

    /// The same of a table, where each row has its first texel behind the last one, and rows are as long as the stride says.
    #[inline(always)]
    fn decoded_rows(&self, o: &mut O, place: [O::Int; 2], right: O::Int) -> [Pairs<O::Int>; 2] {
        let [x, y] = each!([0, 1], axis => {
            let value = o.sar_by(place[axis], FRACTION);
            o.and(value, self.mask[axis])
        });
        let row = o.mul(y, self.stride);
        let at = o.add(row, x);
        let top = o.add(at, self.base);
        let bottom = o.add(top, self.stride);
        o.mixed_rows([top, bottom], right)
    }

    /// What a column adds to an address, and the column.
    #[inline(always)]
    fn column(&self, o: &mut O, u: O::Int) -> [O::Int; 2] {
        let unit = match self.shift {
            Setting::Known(0) => u,
            shift => {
                let shift = shift.value(o);
                o.sar(u, shift)
            }
        };
        let block = o.and_with(unit, !7);
        let block = o.shl_by(block, 3);
        let inner = o.and_with(unit, 7);
        [o.or(block, inner), u]
    }

    /// What a row adds to an address.
    #[inline(always)]
    fn row(&self, o: &mut O, v: O::Int) -> O::Int {
        let block = o.sar_by(v, 3);
        let block = o.mul(block, self.stride);
        let inner = o.and_with(v, 7);
        let inner = o.shl_by(inner, 3);
        let row = o.add(block, inner);
        o.add(row, self.base)
    }

    #[inline(always)]
    fn texel(
        &self,
        o: &mut O,
        key: &Key<O::Int>,
        state: &StateValues<O::Int>,
        [x, column]: [O::Int; 2],
        y: O::Int,
    ) -> Pairs<O::Int> {
        let at = o.add(x, y);
        let unit = o.load(at);
        let narrow = self.shift.has(o, 3);
        choose(
            o,
            narrow,
            inlined!(|o: &mut O| self.narrow(o, key, state, unit, column)),
            inlined!(|o: &mut O| {
                let is_luminance = key.format.is(o, format::KIND, format::LA88);
                let is_565 = key.format.is(o, format::KIND, format::RGB565);
                choose(
                    o,
                    is_luminance,
                    inlined!(|o: &mut O| luminance_alpha(o, unit)),
                    inlined!(|o: &mut O| {
                        choose(
                            o,
                            is_565,
                            inlined!(|o: &mut O| rgb565(o, unit)),
                            inlined!(|o: &mut O| argb1555(o, unit)),
                        )
                    }),
                )
            }),
        )
    }

    /// A texel of a part of a unit.
    #[inline(always)]
    fn narrow(
        &self,
        o: &mut O,
        key: &Key<O::Int>,
        state: &StateValues<O::Int>,
        unit: O::Int,
        column: O::Int,
    ) -> Pairs<O::Int> {
        let is_nibble = self.shift.is(o, 3, 2);
        let [value, whole] = choose(
            o,
            is_nibble,
            inlined!(|o: &mut O| {
                let place = o.and_with(column, 3);
                let place = o.shl_by(place, 2);
                let value = o.shr(unit, place);
                let value = o.and_with(value, 15);
                [value, o.times(value, 17)]
            }),
            inlined!(|o: &mut O| {
                let place = o.and_with(column, 1);
                let place = o.shl_by(place, 3);
                let value = o.shr(unit, place);
                let value = o.and_with(value, 255);
                [value, value]
            }),
        );
        // Of the kinds with more than one texel in a unit those with a palette have this bit.
        let has_palette = match key.format {
            Setting::Known(kind) => Fact::Known(kind & format::PALETTE8 & !3 != 0),
            kind => kind.has(o, format::PALETTE8 & !3),
        };
        choose(
            o,
            has_palette,
            inlined!(|o: &mut O| {
                let at = o.add(state.palette, value);
                let unit = o.load(at);
                argb1555(o, unit)
            }),
            inlined!(|o: &mut O| {
                let both = o.halves(whole, whole);
                [both; 2]
            }),
        )
    }
}

#[inline(always)]
fn luminance_alpha<O: Ops>(o: &mut O, unit: O::Int) -> Pairs<O::Int> {
    let value = o.and_with(unit, 255);
    let alpha = o.and_with(unit, 0xff00);
    let alpha = o.shl_by(alpha, 8);
    [o.halves(value, value), o.or(value, alpha)]
}

/// A texel or a stored colour. Bits above the 16th do not count.
#[inline(always)]
pub fn argb1555<O: Ops>(o: &mut O, unit: O::Int) -> Pairs<O::Int> {
    let (red, blue) = (o.and_with(unit, 0x7c00), o.shl_by(unit, 26));
    let (green, alpha) = (o.shl_by(unit, 5), o.shl_by(unit, 16));
    let (blue, green) = (o.and_with(blue, 0x7c00_0000), o.and_with(green, 0x7c00));
    // Bit 15 five times.
    let alpha = o.sar_by(alpha, 5);
    let alpha = o.and_with(alpha, 0x7c00_0000);
    let (red_blue, green_alpha) = (o.or(red, blue), o.or(green, alpha));
    [o.widen_fives(red_blue), o.widen_fives(green_alpha)]
}

#[inline(always)]
fn rgb565<O: Ops>(o: &mut O, unit: O::Int) -> Pairs<O::Int> {
    let (red, blue) = (o.shr_by(unit, 1), o.shl_by(unit, 26));
    let (red, blue) = (o.and_with(red, 0x7c00), o.and_with(blue, 0x7c00_0000));
    let red_blue = o.or(red, blue);
    let green = o.shr_by(unit, 5);
    let green = o.and_with(green, 0x3f);
    let (high, low) = (o.shl_by(green, 2), o.shr_by(green, 4));
    let (green, opaque) = (o.or(high, low), o.int(0xff_0000));
    [o.widen_fives(red_blue), o.or(green, opaque)]
}
