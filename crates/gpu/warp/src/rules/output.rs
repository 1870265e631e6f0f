//! Depth test, blending, dither: shaded pixels to stored words.

use super::combine::scale;
use super::setting::{Fact, choose};
use super::{Key, Setting};
use crate::state::{DepthTest, blend, depth};
use xenoglot_raster::ops::Ops;

/// Bayer's 4x4 matrix in halves, a nibble each, row by row: rows 0 and 1, rows 2 and 3.
const DITHER: [u32; 2] = [0x3726_5140, 0x2637_4051];

/// A shaded pixel.
#[derive(Clone, Copy, Debug)]
pub struct Shaded<I> {
    /// Channels, 0 to 255.
    pub color: [I; 4],
    /// Depth, 16 bits.
    pub z: I,
}

impl<I> Shaded<I> {
    /// The bit beside a depth that says the pixel is drawn.
    pub const DRAWN: i32 = 1 << 16;
}

/// The words that take the place of `stored`, of what [`super::shade`] made.
#[inline(always)]
pub fn output<O: Ops>(
    o: &mut O,
    key: &Key<O::Int>,
    place: [O::Int; 2],
    [word, z]: [O::Int; 2],
    stored: [O::Int; 2],
) -> [O::Int; 2] {
    let (drawn, zero) = (o.shr_by(z, 16), o.int(0));
    let z = o.and_with(z, 0xffff);
    let passes = depth_test(o, key, z, stored[1]);
    let dropped = o.equal(drawn, zero);
    let kept = o.not(dropped);
    let passes = o.both(passes, kept);
    o.when(passes, stored, |o| {
        let color = [0, 8, 16, 24].map(|shift| {
            let channel = o.shr_by(word, shift);
            o.and_with(channel, 255)
        });
        store(o, key, place, &Shaded { color, z }, stored)
    })
}

/// Whether a depth passes against the stored one.
#[inline(always)]
pub fn depth_test<O: Ops>(o: &mut O, key: &Key<O::Int>, z: O::Int, stored: O::Int) -> O::Bool {
    let less = o.less(z, stored);
    let equal = o.equal(z, stored);
    let test = match key.depth {
        Setting::Known(byte) => byte & depth::TEST,
        Setting::Loaded(byte) => {
            // A bit for each test that a relation passes.
            let tests = |relation: fn(DepthTest) -> bool| {
                ALL.into_iter().filter(|&test| relation(test)).fold(0, |bits, test| bits | 1 << test as i32)
            };
            let [below, same, above] = [
                tests(|t| {
                    matches!(
                        t,
                        DepthTest::Always | DepthTest::Less | DepthTest::LessEqual | DepthTest::NotEqual
                    )
                }),
                tests(|t| {
                    matches!(
                        t,
                        DepthTest::Always | DepthTest::LessEqual | DepthTest::GreaterEqual | DepthTest::Equal
                    )
                }),
                tests(|t| {
                    matches!(
                        t,
                        DepthTest::Always
                            | DepthTest::Greater
                            | DepthTest::GreaterEqual
                            | DepthTest::NotEqual
                    )
                }),
            ]
            .map(|bits| o.int(bits));
            let bits = o.select(equal, same, above);
            let bits = o.select(less, below, bits);
            let test = o.and_with(byte, depth::TEST.into());
            let bit = o.shr(bits, test);
            let (bit, one) = (o.and_with(bit, 1), o.int(1));
            return o.equal(bit, one);
        }
    };
    let not_greater = o.either(less, equal);
    match ALL[usize::from(test)] {
        DepthTest::Always => o.bool(true),
        DepthTest::Less => less,
        DepthTest::LessEqual => not_greater,
        DepthTest::Greater => o.not(not_greater),
        DepthTest::GreaterEqual => o.not(less),
        DepthTest::Equal => equal,
        DepthTest::NotEqual => o.not(equal),
        DepthTest::Never => o.bool(false),
    }
}

/// By number.
const ALL: [DepthTest; 8] = [
    DepthTest::Always,
    DepthTest::Less,
    DepthTest::LessEqual,
    DepthTest::Greater,
    DepthTest::GreaterEqual,
    DepthTest::Equal,
    DepthTest::NotEqual,
    DepthTest::Never,
];

/// The words of a pixel that is drawn.
#[inline(always)]
pub fn store<O: Ops>(
    o: &mut O,
    key: &Key<O::Int>,
    [x, y]: [O::Int; 2],
    shaded: &Shaded<O::Int>,
    stored: [O::Int; 2],
) -> [O::Int; 2] {
    let write = key.depth.has(o, depth::WRITE);
    let [new_depth] = choose(o, write, |_| [shaded.z], |_| [stored[1]]);
    let kinds = [blend::REPLACE, blend::ADD, blend::SUBTRACT, blend::ALPHA];
    let [replaced, added, subtracted, mixed] = kinds.map(|kind| key.blend.is(o, 0xff, kind));

    let mixed_color = choose(o, mixed, |o| mix(o, shaded.color, stored[0]), |_| shaded.color);
    let new = dithered(o, mixed_color, [x, y]);
    let [color] = choose(
        o,
        added,
        |o| {
            let old = fields(o, stored[0]);
            let sum = [0, 1, 2, 3].map(|i| {
                let sum = o.add(old[i], new[i]);
                let most = o.int(MOST[i]);
                o.min(sum, most)
            });
            [packed(o, sum)]
        },
        |o| {
            choose(
                o,
                subtracted,
                |o| {
                    let (old, zero) = (fields(o, stored[0]), o.int(0));
                    let rest = [0, 1, 2, 3].map(|i| {
                        let rest = o.sub(old[i], new[i]);
                        o.max(rest, zero)
                    });
                    [packed(o, rest)]
                },
                |o| {
                    let new_one = match (replaced, mixed) {
                        (Fact::Known(a), Fact::Known(b)) => Fact::Known(a || b),
                        (Fact::Depends(a), Fact::Depends(b)) => Fact::Depends(o.either(a, b)),
                        (fact @ Fact::Depends(_), _) | (_, fact) => fact,
                    };
                    choose(o, new_one, |o| [packed(o, new)], |_| [stored[0]])
                },
            )
        },
    );
    [color, new_depth]
}

/// Greatest value of each channel of a stored word.
const MOST: [i32; 4] = [31, 31, 31, 1];
/// Lowest bit of each channel of a stored word.
const SHIFTS: [u32; 4] = [10, 5, 0, 15];

/// Channels of a stored word.
#[inline(always)]
fn fields<O: Ops>(o: &mut O, word: O::Int) -> [O::Int; 4] {
    [0, 1, 2, 3].map(|i| {
        let value = o.shr_by(word, SHIFTS[i]);
        o.and_with(value, MOST[i])
    })
}

/// The stored word of channels.
#[inline(always)]
fn packed<O: Ops>(o: &mut O, channels: [O::Int; 4]) -> O::Int {
    let [red, green, blue, alpha] = [0, 1, 2, 3].map(|i| o.shl_by(channels[i], SHIFTS[i]));
    let (high, low) = (o.or(alpha, red), o.or(green, blue));
    o.or(high, low)
}

/// The new colour mixed with the stored one by its alpha.
#[inline(always)]
fn mix<O: Ops>(o: &mut O, color: [O::Int; 4], word: O::Int) -> [O::Int; 4] {
    let old = fields(o, word);
    let [red, green, blue, alpha] = color;
    let white = o.int(255);
    let rest = o.sub(white, alpha);
    let [red, green, blue] = [(red, old[0]), (green, old[1]), (blue, old[2])].map(|(new, old)| {
        let (high, low) = (o.shl_by(old, 3), o.shr_by(old, 2));
        let old = o.or(high, low);
        let (old, new) = (o.mul(old, rest), o.mul(new, alpha));
        let sum = o.add(old, new);
        scale(o, sum)
    });
    [red, green, blue, alpha]
}

/// Channels of 8 bits to those of a stored word.
#[inline(always)]
fn dithered<O: Ops>(o: &mut O, color: [O::Int; 4], [x, y]: [O::Int; 2]) -> [O::Int; 4] {
    let (upper, lower) = (o.int(DITHER[0] as i32), o.int(DITHER[1] as i32));
    let (half, zero) = (o.and_with(y, 2), o.int(0));
    let is_upper = o.equal(half, zero);
    let rows = o.select(is_upper, upper, lower);
    let (column, row) = (o.and_with(x, 3), o.and_with(y, 1));
    let (column, row) = (o.shl_by(column, 2), o.shl_by(row, 4));
    let shift = o.or(column, row);
    let step = o.shr(rows, shift);
    let step = o.and_with(step, 7);
    let [red, green, blue, alpha] = color;
    let white = o.int(255);
    let [red, green, blue] = [red, green, blue].map(|channel| {
        let sum = o.add(channel, step);
        let sum = o.min(sum, white);
        o.shr_by(sum, 3)
    });
    [red, green, blue, o.shr_by(alpha, 7)]
}
