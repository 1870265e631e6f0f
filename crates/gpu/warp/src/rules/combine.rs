//! The combiner: texel and colour to a colour.

use super::setting::choose;
use super::{Key, StateValues};
use crate::state::combiner;
use xenoglot_raster::ops::Ops;

/// The product of two channels: `a*b/255`, nearly.
#[inline(always)]
pub fn multiply<O: Ops>(o: &mut O, a: O::Int, b: O::Int) -> O::Int {
    let product = o.mul(a, b);
    scale(o, product)
}

/// A sum of products of channels as a channel.
#[inline(always)]
pub fn scale<O: Ops>(o: &mut O, sum: O::Int) -> O::Int {
    let high = o.shr_by(sum, 8);
    let sum = o.add(sum, high);
    let sum = o.add_to(sum, 128);
    o.shr_by(sum, 8)
}

/// The combined colour.
#[inline(always)]
pub fn combine<O: Ops>(
    o: &mut O,
    key: &Key<O::Int>,
    state: &StateValues<O::Int>,
    texel: [O::Int; 4],
    color: [O::Int; 4],
) -> [O::Int; 4] {
    let [multiplied, is_texel, is_color] = [combiner::MULTIPLY, combiner::TEXEL, combiner::COLOR]
        .map(|mode| key.combiner.is(o, combiner::MODE, mode));
    let combined = choose(
        o,
        multiplied,
        |o| [0, 1, 2, 3].map(|i| multiply(o, texel[i], color[i])),
        |o| {
            choose(
                o,
                is_texel,
                |_| texel,
                |o| {
                    let zero = o.int(0);
                    choose(o, is_color, |_| color, |_| [zero; 4])
                },
            )
        },
    );
    let constant = key.combiner.has(o, combiner::ADD_CONSTANT);
    choose(
        o,
        constant,
        |o| {
            let white = o.int(255);
            [0, 1, 2, 3].map(|i| {
                let sum = o.add(combined[i], state.constant[i]);
                o.min(sum, white)
            })
        },
        |_| combined,
    )
}
