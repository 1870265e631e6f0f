//! The pixel rules, once for every engine.
//!
//! ```text
//! covered ─▶ depth ─▶ stencil, depth test ─▶ texel ─▶ alpha test ─▶ combiner ─▶ fog ─▶ blend, dither ─▶ stored words
//! ```
//!
//! [`pixel`] is the whole of it; [`shade`] and [`output`] are its halves for an engine that shades primitives apart and
//! stores them in order, [`resolve`] and [`paint`] those for one that tests opaque primitives before it shades any. Rules are written over [`Ops`]; what decides about a primitive's code is a [`Setting`], which an
//! engine knows or loads. Colours are two words: red and blue, green and alpha, in halves of 16 bits.

mod combine;
mod interpolate;
mod output;
mod setting;
mod texture;
mod values;
mod variant;

pub use interpolate::Attributes;
pub use output::output;
pub use setting::{Fact, Setting, choose};
pub use texture::{DECODED, decoded};
pub use values::{
    ATTRIBUTE_WORDS, Key, STATE_WORDS, StateValues, Values, attribute_words, known_key, loaded_key,
    put_attributes, set_decoded, state_words,
};
pub use variant::Variant;

use crate::state::combiner;
use xenoglot_raster::inlined;
use xenoglot_raster::ops::Ops;

/// A colour: red and blue, green and alpha, the first of each in the lower half; 0 to 255.
pub type Pairs<I> = [I; 2];

/// The bit beside a depth that says that a shaded pixel is drawn.
const DRAWN: i32 = 1 << 16;

/// The colour and depth words that take the place of `stored` at a pixel.
#[inline(always)]
pub fn pixel<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    place: [O::Int; 2],
    covered: O::Bool,
    stored: [O::Int; 2],
) -> [O::Int; 2] {
    o.when(
        covered,
        stored,
        inlined!(|o: &mut O| {
            let weights = interpolate::weights(o, &values.attributes, place);
            let z = interpolate::depth(o, &values.attributes, &weights);
            let tests = output::tests(o, values, z, stored[1]);
            let matters = tests.matter(o);
            o.when(
                matters,
                stored,
                inlined!(|o: &mut O| {
                    let (color, alive) = color(o, values, place, &weights, inlined!(|_: &mut O| z));
                    let [new_color, new_depth] = output::store(o, values, place, color, z, &tests, stored);
                    match alive {
                        Fact::Known(true) => [new_color, new_depth],
                        Fact::Known(false) => stored,
                        Fact::Depends(alive) => {
                            [o.select(alive, new_color, stored[0]), o.select(alive, new_depth, stored[1])]
                        }
                    }
                }),
            )
        }),
    )
}

/// Colour and depth of a pixel whether it passes its tests or not: the colour's channels in a word, red lowest, and the
/// depth with 2^16 if the pixel is drawn. 0 where it is not covered.
#[inline(always)]
pub fn shade<O: Ops>(o: &mut O, values: &Values<O>, place: [O::Int; 2], covered: O::Bool) -> [O::Int; 2] {
    let zero = o.int(0);
    o.when(
        covered,
        [zero; 2],
        inlined!(|o: &mut O| {
            let weights = interpolate::weights(o, &values.attributes, place);
            let z = interpolate::depth(o, &values.attributes, &weights);
            let ([red_blue, green_alpha], alive) = color(o, values, place, &weights, inlined!(|_: &mut O| z));
            let drawn = o.int(DRAWN);
            let drawn = match alive {
                Fact::Known(true) => drawn,
                Fact::Known(false) => zero,
                Fact::Depends(alive) => o.select(alive, drawn, zero),
            };
            let green_alpha = o.shl_by(green_alpha, 8);
            [o.or(red_blue, green_alpha), o.or(z, drawn)]
        }),
    )
}

/// What the tests of an opaque primitive ([`Key::is_opaque`]) make of a pixel.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<O: Ops> {
    /// Where the primitive is drawn: where [`paint`] has its colour.
    pub drawn: O::Bool,
    /// The depth word.
    pub depth: O::Int,
    /// Where it takes the place of the stored one.
    pub changed: O::Bool,
}

/// The tests of an opaque primitive against the stored depth word. With [`paint`] it is [`pixel`], for an engine that knows
/// which primitive is drawn last before it shades one.
#[inline(always)]
pub fn resolve<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    place: [O::Int; 2],
    covered: O::Bool,
    stored: O::Int,
) -> Resolved<O> {
    let weights = interpolate::weights(o, &values.attributes, place);
    let z = interpolate::depth(o, &values.attributes, &weights);
    let tests = output::tests(o, values, z, stored);
    let depth = output::new_depth(o, values, z, &tests, stored);
    let passes = tests.pass(o);
    let drawn = o.both(covered, passes);
    let matters = tests.matter(o);
    let changed = o.both(covered, matters);
    Resolved { drawn, depth, changed }
}

/// The colour word of an opaque primitive at a pixel where it is drawn.
#[inline(always)]
pub fn paint<O: Ops>(o: &mut O, values: &Values<O>, place: [O::Int; 2]) -> O::Int {
    let weights = interpolate::weights(o, &values.attributes, place);
    let (color, _) = color(
        o,
        values,
        place,
        &weights,
        inlined!(|o: &mut O| interpolate::depth(o, &values.attributes, &weights)),
    );
    output::replaced(o, color, place)
}

/// The colour, and whether the alpha test lets it through. `z` makes the depth, which only fog reads.
#[inline(always)]
fn color<O: Ops>(
    o: &mut O,
    values: &Values<O>,
    place: [O::Int; 2],
    weights: &interpolate::Weights<O>,
    z: impl FnOnce(&mut O) -> O::Int,
) -> (Pairs<O::Int>, Fact<O::Bool>) {
    let Values { key, state, attributes } = values;
    // Before the texel: an engine has few registers, and of twelve attributes two words are left.
    let color = interpolate::color(o, attributes, weights);
    let sampled = key.combiner.has(o, combiner::SAMPLE);
    let texel = choose(
        o,
        sampled,
        inlined!(|o: &mut O| texture::sample(o, values, place, weights)),
        inlined!(|o: &mut O| {
            let zero = o.int(0);
            [zero; 2]
        }),
    );
    let alive = match key.threshold {
        Setting::Known(0) => Fact::Known(true),
        threshold => {
            let (alpha, threshold) = (o.shr_by(texel[1], 16), threshold.value(o));
            let killed = o.less(alpha, threshold);
            Fact::Depends(o.not(killed))
        }
    };
    let color = combine::combine(o, key, state, texel, color);
    let fog = key.fog.has(o, 255);
    let color = choose(
        o,
        fog,
        inlined!(|o: &mut O| {
            let z = z(o);
            combine::fog(o, state, color, z)
        }),
        inlined!(|_: &mut O| color),
    );
    (color, alive)
}
