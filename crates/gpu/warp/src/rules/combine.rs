//! The combiner and fog: texel and colour to a colour.

use super::setting::choose;
use super::{Key, Pairs, StateValues};
use crate::state::combiner;
use xenoglot_raster::inlined;
use xenoglot_raster::ops::Ops;

/// Channels at their most.
const WHITE: i32 = 0xff_00ff;

/// Sums of products of channels as channels: `sum / 255`, nearly.
#[inline(always)]
pub fn scale<O: Ops>(o: &mut O, sum: O::Int) -> O::Int {
    let (high, half) = (o.shr_halves(sum, 8), o.int(0x80_0080));
    let sum = o.add_halves(sum, high);
    let sum = o.add_halves(sum, half);
    o.shr_halves(sum, 8)
}

/// Channels mixed: `b` counts as much as `share`, of 255.
#[inline(always)]
pub fn mix<O: Ops>(o: &mut O, a: O::Int, b: O::Int, share: O::Int) -> O::Int {
    let white = o.int(WHITE);
    let rest = o.sub(white, share);
    let (a, b) = (o.mul_halves(a, rest), o.mul_halves(b, share));
    let sum = o.add_halves(a, b);
    scale(o, sum)
}

/// The combined colour.
#[inline(always)]
pub fn combine<O: Ops>(
    o: &mut O,
    key: &Key<O::Int>,
    state: &StateValues<O::Int>,
    texel: Pairs<O::Int>,
    color: Pairs<O::Int>,
) -> Pairs<O::Int> {
    let multiplied = key.combiner.is(o, combiner::MODE, combiner::MULTIPLY);
    let is_texel = key.combiner.is(o, combiner::MODE, combiner::TEXEL);
    let is_color = key.combiner.is(o, combiner::MODE, combiner::COLOR);
    let combined = choose(
        o,
        multiplied,
        inlined!(|o: &mut O| {
            let products = [o.mul_halves(texel[0], color[0]), o.mul_halves(texel[1], color[1])];
            [scale(o, products[0]), scale(o, products[1])]
        }),
        inlined!(|o: &mut O| {
            choose(
                o,
                is_texel,
                inlined!(|_: &mut O| texel),
                inlined!(|o: &mut O| {
                    let zero = o.int(0);
                    choose(o, is_color, inlined!(|_: &mut O| color), inlined!(|_: &mut O| [zero; 2]))
                }),
            )
        }),
    );
    let constant = key.combiner.has(o, combiner::ADD_CONSTANT);
    choose(
        o,
        constant,
        inlined!(|o: &mut O| {
            let white = o.int(WHITE);
            let sums =
                [o.add_halves(combined[0], state.constant[0]), o.add_halves(combined[1], state.constant[1])];
            [o.min_halves(sums[0], white), o.min_halves(sums[1], white)]
        }),
        inlined!(|_: &mut O| combined),
    )
}

/// A colour in fog at a depth.
#[inline(always)]
pub fn fog<O: Ops>(o: &mut O, state: &StateValues<O::Int>, color: Pairs<O::Int>, z: O::Int) -> Pairs<O::Int> {
    let (zero, white) = (o.int(0), o.int(255));
    let behind = o.sub(z, state.fog_start);
    let behind = o.max(behind, zero);
    let share = o.mul(behind, state.fog_scale);
    let share = o.shr_by(share, 16);
    let share = o.min(share, white);
    let share = o.halves(share, share);
    let red_blue = mix(o, color[0], state.fog_color[0], share);
    let green = mix(o, color[1], state.fog_color[1], share);
    [red_blue, keep_alpha(o, green, color[1])]
}

/// The green of one word and the alpha of another.
#[inline(always)]
pub fn keep_alpha<O: Ops>(o: &mut O, green: O::Int, alpha: O::Int) -> O::Int {
    let (green, alpha) = (o.and_with(green, 0xffff), o.and_with(alpha, !0xffff));
    o.or(green, alpha)
}
