//! Stencil and depth test, blending, dither: shaded pixels to stored words.

use super::combine::{keep_alpha, mix};
use super::setting::{Fact, Setting, choose};
use super::texture::argb1555;
use super::{Pairs, Values};
use crate::state::{DepthTest, blend, depth, stencil};
use xenoglot_raster::inlined;
use xenoglot_raster::ops::Ops;

/// Bits of a stored depth that are the stencil where there is one.
const STENCIL: i32 = 15;

/// What the tests of a pixel say.
#[derive(Clone, Copy, Debug)]
pub struct Tests<B> {
    /// Whether there is a stencil.
    has_stencil: Fact<B>,
    /// Whether the stencil test lets it through; true without one.
    stencil: B,
    /// Whether the depth test does.
    depth: B,
}

impl<B: Copy> Tests<B> {
    /// Where the pixel changes anything, if the alpha test lets it through.
    #[inline(always)]
    pub fn matter<O: Ops<Bool = B>>(&self, o: &mut O) -> B {
        match self.has_stencil {
            Fact::Known(false) => self.depth,
            Fact::Known(true) => o.bool(true),
            Fact::Depends(has) => o.either(self.depth, has),
        }
    }

    /// Whether the pixel passes them all.
    #[inline(always)]
    pub fn pass<O: Ops<Bool = B>>(&self, o: &mut O) -> B {
        match self.has_stencil {
            Fact::Known(false) => self.depth,
            _ => o.both(self.stencil, self.depth),
        }
    }
}

/// The words that take the place of `stored`, of what [`super::shade`] made.
#[inline(always)]
pub fn output<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    place: [O::Int; 2],
    [word, z]: [O::Int; 2],
    stored: [O::Int; 2],
) -> [O::Int; 2] {
    let (drawn, zero) = (o.shr_by(z, 16), o.int(0));
    let z = o.and_with(z, 0xffff);
    let tests = tests(o, values, z, stored[1]);
    let matters = tests.matter(o);
    let dropped = o.equal(drawn, zero);
    let kept = o.not(dropped);
    let matters = o.both(matters, kept);
    o.when(
        matters,
        stored,
        inlined!(|o: &mut O| {
            let green_alpha = o.shr_by(word, 8);
            let color = [o.and_with(word, 0xff_00ff), o.and_with(green_alpha, 0xff_00ff)];
            store(o, values, place, color, z, &tests, stored)
        }),
    )
}

/// The tests of a pixel of depth `z` against the stored depth word.
#[inline(always)]
pub fn tests<O: Ops>(o: &mut O, values: &Values<O>, z: O::Int, stored: O::Int) -> Tests<O::Bool> {
    let key = &values.key;
    let has_stencil = key.stencil.has(o, stencil::ENABLE);
    let [z, old, passes] = choose(
        o,
        has_stencil,
        inlined!(|o: &mut O| {
            let (reference, old) = (
                o.and(values.state.reference, values.state.stencil_mask),
                o.and(stored, values.state.stencil_mask),
            );
            let passes = compare(o, key.stencil, reference, old);
            let (one, zero) = (o.int(1), o.int(0));
            let passes = o.select(passes, one, zero);
            [o.and_with(z, !STENCIL), o.and_with(stored, !STENCIL), passes]
        }),
        inlined!(|o: &mut O| [z, stored, o.int(1)]),
    );
    let depth = compare(o, key.depth, z, old);
    let stencil = match has_stencil {
        Fact::Known(false) => o.bool(true),
        _ => {
            let one = o.int(1);
            o.equal(passes, one)
        }
    };
    Tests { has_stencil, stencil, depth }
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

/// A bit for each test that passes where the new value is below, equal to, above the stored one.
const PASSES: [i32; 3] = {
    use DepthTest::{Always, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let below = 1 << Always as i32 | 1 << Less as i32 | 1 << LessEqual as i32 | 1 << NotEqual as i32;
    let same = 1 << Always as i32 | 1 << LessEqual as i32 | 1 << GreaterEqual as i32 | 1 << Equal as i32;
    let above = 1 << Always as i32 | 1 << Greater as i32 | 1 << GreaterEqual as i32 | 1 << NotEqual as i32;
    [below, same, above]
};

/// Whether a value passes against the stored one. The test is in the three lowest bits.
#[inline(always)]
fn compare<O: Ops>(o: &mut O, test: Setting<O::Int>, value: O::Int, stored: O::Int) -> O::Bool {
    let test = match test {
        Setting::Known(byte) => byte & depth::TEST,
        Setting::Loaded(byte) => {
            let (less, equal) = (o.less(value, stored), o.equal(value, stored));
            let [below, same, above] = PASSES.map(|bits| o.int(bits));
            let bits = o.select(equal, same, above);
            let bits = o.select(less, below, bits);
            let test = o.and_with(byte, depth::TEST.into());
            let bit = o.shr(bits, test);
            let (bit, one) = (o.and_with(bit, 1), o.int(1));
            return o.equal(bit, one);
        }
    };
    match ALL[usize::from(test)] {
        DepthTest::Always => o.bool(true),
        DepthTest::Less => o.less(value, stored),
        DepthTest::LessEqual => {
            let greater = o.less(stored, value);
            o.not(greater)
        }
        DepthTest::Greater => o.less(stored, value),
        DepthTest::GreaterEqual => {
            let less = o.less(value, stored);
            o.not(less)
        }
        DepthTest::Equal => o.equal(value, stored),
        DepthTest::NotEqual => {
            let equal = o.equal(value, stored);
            o.not(equal)
        }
        DepthTest::Never => o.bool(false),
    }
}

/// The words of a pixel that the alpha test lets through, where its tests matter.
#[inline(always)]
pub fn store<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    place: [O::Int; 2],
    color: Pairs<O::Int>,
    z: O::Int,
    tests: &Tests<O::Bool>,
    stored: [O::Int; 2],
) -> [O::Int; 2] {
    let new_color = blended(o, values, place, color, stored[0]);
    let [new_color] = choose(
        o,
        tests.has_stencil,
        inlined!(|o: &mut O| {
            let passes = tests.pass(o);
            [o.select(passes, new_color, stored[0])]
        }),
        inlined!(|_: &mut O| [new_color]),
    );
    [new_color, new_depth(o, values, z, tests, stored[1])]
}

/// The depth word of a pixel that the alpha test lets through, where its tests matter.
#[inline(always)]
pub fn new_depth<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    z: O::Int,
    tests: &Tests<O::Bool>,
    stored: O::Int,
) -> O::Int {
    let write = values.key.depth.has(o, depth::WRITE);
    let [depth] = choose(o, write, inlined!(|_: &mut O| [z]), inlined!(|_: &mut O| [stored]));
    let [word] = choose(
        o,
        tests.has_stencil,
        inlined!(|o: &mut O| {
            let passes = tests.pass(o);
            let depth = o.select(passes, depth, stored);
            let depth = o.and_with(depth, !STENCIL);
            let stencil = stencilled(o, values, tests, stored);
            [o.or(depth, stencil)]
        }),
        inlined!(|_: &mut O| [depth]),
    );
    word
}

/// The new stencil.
#[inline(always)]
fn stencilled<O: Ops>(o: &mut O, values: &Values<O>, tests: &Tests<O::Bool>, stored: O::Int) -> O::Int {
    let old = o.and_with(stored, STENCIL);
    let [fails, depth_fails, passes] = values.key.operations;
    let (fails, depth_fails, passes) = (
        operate(o, fails, old, values.state.reference),
        operate(o, depth_fails, old, values.state.reference),
        operate(o, passes, old, values.state.reference),
    );
    let new = o.select(tests.depth, passes, depth_fails);
    let new = o.select(tests.stencil, new, fails);
    // Bits outside of the mask stay.
    let changed = o.xor(old, new);
    let changed = o.and(changed, values.state.stencil_mask);
    o.xor(old, changed)
}

/// What an operation makes of a stencil.
#[inline(always)]
fn operate<O: Ops>(o: &mut O, operation: Setting<O::Int>, old: O::Int, reference: O::Int) -> O::Int {
    match operation {
        Setting::Known(operation) => one_operation(o, operation & 7, old, reference),
        Setting::Loaded(operation) => {
            let operation = o.and_with(operation, 7);
            let mut new = old;
            for number in stencil::ZERO..=stencil::DECREMENT_WRAP {
                let made = one_operation(o, number, old, reference);
                let number = o.int(number.into());
                let is_it = o.equal(operation, number);
                new = o.select(is_it, made, new);
            }
            new
        }
    }
}

#[inline(always)]
fn one_operation<O: Ops>(o: &mut O, operation: u8, old: O::Int, reference: O::Int) -> O::Int {
    let (zero, most) = (o.int(0), o.int(STENCIL));
    let (more, less) = (o.add_to(old, 1), o.add_to(old, -1));
    match operation {
        stencil::ZERO => zero,
        stencil::REPLACE => reference,
        stencil::INCREMENT => o.min(more, most),
        stencil::DECREMENT => o.max(less, zero),
        stencil::INVERT => o.xor(old, most),
        stencil::INCREMENT_WRAP => o.and(more, most),
        stencil::DECREMENT_WRAP => o.and(less, most),
        _ => old,
    }
}

/// The colour word of a pixel that is drawn.
#[inline(always)]
fn blended<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    place: [O::Int; 2],
    color: Pairs<O::Int>,
    stored: O::Int,
) -> O::Int {
    let kind = values.key.blend;
    let (replaced, added) = (kind.is(o, 0xff, blend::REPLACE), kind.is(o, 0xff, blend::ADD));
    let (subtracted, mixed) = (kind.is(o, 0xff, blend::SUBTRACT), kind.is(o, 0xff, blend::ALPHA));
    let color = choose(
        o,
        mixed,
        inlined!(|o: &mut O| {
            let alpha = o.shr_by(color[1], 16);
            let share = o.halves(alpha, alpha);
            let old = argb1555(o, stored);
            let red_blue = mix(o, old[0], color[0], share);
            let green = mix(o, old[1], color[1], share);
            [red_blue, keep_alpha(o, green, color[1])]
        }),
        inlined!(|_: &mut O| color),
    );
    let new = dithered(o, color, place);
    let [word] = choose(
        o,
        added,
        inlined!(|o: &mut O| {
            let old = fields(o, stored);
            let sums = [o.add_halves(old[0], new[0]), o.add_halves(old[1], new[1])];
            let most = [o.int(0x1f_001f), o.int(0x1_001f)];
            let sums = [o.min_halves(sums[0], most[0]), o.min_halves(sums[1], most[1])];
            [packed(o, sums)]
        }),
        inlined!(|o: &mut O| {
            choose(
                o,
                subtracted,
                inlined!(|o: &mut O| {
                    let old = fields(o, stored);
                    let less = [o.min_halves(old[0], new[0]), o.min_halves(old[1], new[1])];
                    let rest = [o.sub_halves(old[0], less[0]), o.sub_halves(old[1], less[1])];
                    [packed(o, rest)]
                }),
                inlined!(|o: &mut O| {
                    let new_one = match (replaced, mixed) {
                        (Fact::Known(a), Fact::Known(b)) => Fact::Known(a || b),
                        (Fact::Depends(a), Fact::Depends(b)) => Fact::Depends(o.either(a, b)),
                        (fact @ Fact::Depends(_), _) | (_, fact) => fact,
                    };
                    choose(o, new_one, inlined!(|o: &mut O| [packed(o, new)]), inlined!(|_: &mut O| [stored]))
                }),
            )
        }),
    );
    word
}

/// The colour word of a pixel whose colour takes the place of the stored one.
#[inline(always)]
pub fn replaced<O: Ops>(o: &mut O, color: Pairs<O::Int>, place: [O::Int; 2]) -> O::Int {
    let new = dithered(o, color, place);
    packed(o, new)
}

/// Channels of a stored word: red and blue, green and alpha, in halves.
#[inline(always)]
fn fields<O: Ops>(o: &mut O, word: O::Int) -> Pairs<O::Int> {
    let (red, blue) = (o.shr_by(word, 10), o.shl_by(word, 16));
    let (green, alpha) = (o.shr_by(word, 5), o.shl_by(word, 1));
    let (red, blue) = (o.and_with(red, 0x1f), o.and_with(blue, 0x1f_0000));
    let (green, alpha) = (o.and_with(green, 0x1f), o.and_with(alpha, 0x1_0000));
    [o.or(red, blue), o.or(green, alpha)]
}

/// The stored word of channels.
#[inline(always)]
fn packed<O: Ops>(o: &mut O, [red_blue, green_alpha]: Pairs<O::Int>) -> O::Int {
    let (red, blue) = (o.shl_by(red_blue, 10), o.shr_by(red_blue, 16));
    let (green, alpha) = (o.shl_by(green_alpha, 5), o.shr_by(green_alpha, 1));
    let (red, green, alpha) = (o.and_with(red, 0x7c00), o.and_with(green, 0x3e0), o.and_with(alpha, 0x8000));
    let (high, low) = (o.or(alpha, red), o.or(green, blue));
    o.or(high, low)
}

/// Channels of 8 bits to those of a stored word.
#[inline(always)]
fn dithered<O: Ops>(o: &mut O, color: Pairs<O::Int>, [x, y]: [O::Int; 2]) -> Pairs<O::Int> {
    // Bayer's 4x4 matrix in halves, 0 to 7: bits of x ^ y and y, the lowest ones first.
    let both = o.xor(x, y);
    let (high, low) = (o.shl_by(both, 2), o.shr_by(both, 1));
    let (high, low) = (o.and_with(high, 4), o.and_with(low, 1));
    let middle = o.shl_by(y, 1);
    let middle = o.and_with(middle, 2);
    let step = o.or(high, low);
    let step = o.or(step, middle);
    let steps = o.halves(step, step);
    let white = o.int(0xff_00ff);
    let (red_blue, green) = (o.add_halves(color[0], steps), o.add_halves(color[1], step));
    let (red_blue, green_alpha) = (o.min_halves(red_blue, white), o.min_halves(green, white));
    let red_blue = o.shr_halves(red_blue, 3);
    let (green, alpha) = (o.shr_by(green_alpha, 3), o.shr_by(green_alpha, 7));
    let (green, alpha) = (o.and_with(green, 0x1f), o.and_with(alpha, 0x1_0000));
    [red_blue, o.or(green, alpha)]
}
