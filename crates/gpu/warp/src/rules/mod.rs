//! The pixel rules, once for every engine.
//!
//! ```text
//! covered ─▶ depth ─▶ depth test ─▶ texel ─▶ alpha test ─▶ combiner ─▶ blend, dither ─▶ stored words
//! ```
//!
//! [`pixel`] is the whole of it; [`shade`] and [`output`] are its halves for an engine that shades primitives apart and
//! stores them in order. Rules are written over [`Ops`]; what decides about a primitive's code is a [`Setting`], which an
//! engine knows or loads.

mod combine;
mod interpolate;
mod output;
mod setting;
mod texture;

pub use interpolate::Attributes;
pub use output::{Shaded, output};
pub use setting::{Fact, Setting, choose};

use crate::state::{LEVELS, combiner};
use xenoglot_raster::ops::Ops;

/// What decides about a primitive's code: bytes of its state.
#[derive(Clone, Copy, Debug)]
pub struct Key<I> {
    /// [`crate::state::depth`].
    pub depth: Setting<I>,
    /// [`crate::state::blend`].
    pub blend: Setting<I>,
    /// [`crate::state::combiner`].
    pub combiner: Setting<I>,
    /// [`crate::state::format`].
    pub format: Setting<I>,
    /// Last level of the texture.
    pub last_level: Setting<I>,
    /// Texels whose alpha is below it are not drawn.
    pub threshold: Setting<I>,
}

/// The numbers of a primitive's state.
#[derive(Clone, Copy, Debug)]
pub struct StateValues<I> {
    /// Red, green, blue, alpha.
    pub constant: [I; 4],
    /// Left, top, right, bottom.
    pub clamp: [I; 4],
    /// Bits of coordinates, with their sign.
    pub mask: [I; 2],
    /// Texels in a row.
    pub width: I,
    /// Places of levels, in bytes.
    pub levels: [I; LEVELS],
}

/// A primitive as an engine has it.
#[derive(Clone, Copy, Debug)]
pub struct Primitive<O: Ops> {
    /// What decides about its code.
    pub key: Key<O::Int>,
    /// The rest of its state.
    pub state: StateValues<O::Int>,
    /// What is interpolated.
    pub attributes: Attributes<O>,
}

/// The colour and depth words that take the place of `stored` at a pixel.
#[inline(always)]
pub fn pixel<O: Ops>(
    o: &mut O,
    primitive: &Primitive<O>,
    [x, y]: [O::Int; 2],
    covered: O::Bool,
    stored: [O::Int; 2],
) -> [O::Int; 2] {
    o.when(covered, stored, |o| {
        let weights = interpolate::weights(o, &primitive.attributes, [x, y]);
        let z = interpolate::depth(o, &primitive.attributes, &weights);
        let passes = output::depth_test(o, &primitive.key, z, stored[1]);
        o.when(passes, stored, |o| {
            let (color, alive) = color(o, primitive, [x, y], &weights);
            let shaded = Shaded { color, z };
            let [new_color, new_depth] = output::store(o, &primitive.key, [x, y], &shaded, stored);
            match alive {
                Fact::Known(true) => [new_color, new_depth],
                Fact::Known(false) => stored,
                Fact::Depends(alive) => {
                    [o.select(alive, new_color, stored[0]), o.select(alive, new_depth, stored[1])]
                }
            }
        })
    })
}

/// Colour and depth of a pixel whether it passes the depth test or not: the colour's channels in a word, red lowest, and
/// the depth with 2^16 if the pixel is drawn. 0 where it is not covered.
#[inline(always)]
pub fn shade<O: Ops>(
    o: &mut O,
    primitive: &Primitive<O>,
    [x, y]: [O::Int; 2],
    covered: O::Bool,
) -> [O::Int; 2] {
    let zero = o.int(0);
    o.when(covered, [zero; 2], |o| {
        let weights = interpolate::weights(o, &primitive.attributes, [x, y]);
        let z = interpolate::depth(o, &primitive.attributes, &weights);
        let (color, alive) = color(o, primitive, [x, y], &weights);
        let drawn = o.int(Shaded::<i32>::DRAWN);
        let drawn = match alive {
            Fact::Known(true) => drawn,
            Fact::Known(false) => zero,
            Fact::Depends(alive) => o.select(alive, drawn, zero),
        };
        let z = o.or(z, drawn);
        let mut word = color[0];
        for (channel, shift) in color.into_iter().zip([0, 8, 16, 24]).skip(1) {
            let channel = o.shl_by(channel, shift);
            word = o.or(word, channel);
        }
        [word, z]
    })
}

/// The combined colour, and whether the alpha test lets it through.
#[inline(always)]
fn color<O: Ops>(
    o: &mut O,
    primitive: &Primitive<O>,
    place: [O::Int; 2],
    weights: &interpolate::Weights<O>,
) -> ([O::Int; 4], Fact<O::Bool>) {
    let Primitive { key, state, attributes } = primitive;
    let sampled = key.combiner.has(o, combiner::SAMPLE);
    let texel = choose(
        o,
        sampled,
        |o| texture::sample(o, key, state, attributes, place, weights),
        |o| {
            let zero = o.int(0);
            [zero; 4]
        },
    );
    let alive = match key.threshold {
        Setting::Known(0) => Fact::Known(true),
        threshold => {
            let threshold = threshold.value(o);
            let killed = o.less(texel[3], threshold);
            Fact::Depends(o.not(killed))
        }
    };
    let color = interpolate::color(o, attributes, weights);
    (combine::combine(o, key, state, texel, color), alive)
}
