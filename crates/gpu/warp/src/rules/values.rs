//! Primitives and states as words, and as the values that rules have of them.

use super::interpolate::Attributes;
use super::setting::Setting;
use super::texture::{DECODED, FRACTION};
use crate::primitive::Primitive;
use crate::state::{LEVELS, RenderState, blend, stencil};
use std::convert::identity;
use xenoglot_raster::ops::Ops;
use xenoglot_raster::{each, inlined};

/// Words of a primitive's attributes.
pub const ATTRIBUTE_WORDS: usize = 32;
/// Where a primitive's colours begin: the channels of its first vertex, of its second, of its third.
const COLORS: usize = 20;
/// Words of a state.
pub const STATE_WORDS: usize = KEY_WORDS + 31;
/// Words of a [`Key`], a byte each.
const KEY_WORDS: usize = 3;
/// Word and byte of [`Key::shift`].
const SHIFT: (usize, u32) = (1, 2);
/// Where words of strides, and behind them those of bases, begin.
const STRIDES: usize = KEY_WORDS + 8;

/// What decides about a primitive's code: bytes of its state.
#[derive(Clone, Copy, Debug)]
pub struct Key<I> {
    /// [`crate::state::depth`].
    pub depth: Setting<I>,
    /// [`crate::state::blend`].
    pub blend: Setting<I>,
    /// [`crate::state::combiner`].
    pub combiner: Setting<I>,
    /// Texels whose alpha is below it are not drawn.
    pub threshold: Setting<I>,
    /// [`crate::state::format`].
    pub format: Setting<I>,
    /// Last level of the texture.
    pub last_level: Setting<I>,
    /// Texels of a unit, as a shift; [`super::DECODED`] if the texture is a table of texels.
    pub shift: Setting<I>,
    /// Not 0 if there is fog.
    pub fog: Setting<I>,
    /// [`crate::state::Stencil::test`].
    pub stencil: Setting<I>,
    /// [`crate::state::Stencil::operations`].
    pub operations: [Setting<I>; 3],
}

impl<I> Key<I> {
    /// Whether it is known that what a primitive does to depth and stencil does not depend on its colour, and its colour not
    /// on the stored one.
    #[inline(always)]
    pub fn is_opaque(&self) -> bool {
        matches!((&self.blend, &self.threshold), (Setting::Known(blend::REPLACE), Setting::Known(0)))
    }

    /// Whether it is known that there is no stencil.
    #[inline(always)]
    pub fn has_no_stencil(&self) -> bool {
        matches!(self.stencil, Setting::Known(test) if test & stencil::ENABLE == 0)
    }
}

/// The numbers of a primitive's state.
#[derive(Clone, Copy, Debug)]
pub struct StateValues<I> {
    /// Red and blue, green and alpha, in halves.
    pub constant: [I; 2],
    /// Left, top, right, bottom, in 32nds of texels.
    pub clamp: [I; 4],
    /// Bits of coordinates, with their sign.
    pub mask: [I; 2],
    /// Units from one row of blocks to the next, of each level.
    pub strides: [I; LEVELS],
    /// First unit of each level.
    pub bases: [I; LEVELS],
    /// First unit of the palette.
    pub palette: I,
    /// [`crate::state::Fog::start`].
    pub fog_start: I,
    /// [`crate::state::Fog::scale`].
    pub fog_scale: I,
    /// Red and blue, green and 0, in halves.
    pub fog_color: [I; 2],
    /// [`crate::state::Stencil::reference`], bits 0 to 3.
    pub reference: I,
    /// [`crate::state::Stencil::mask`], bits 0 to 3.
    pub stencil_mask: I,
}

/// A primitive as an engine has it.
#[derive(Clone, Copy, Debug)]
pub struct Values<O: Ops> {
    /// What decides about its code.
    pub key: Key<O::Int>,
    /// The rest of its state.
    pub state: StateValues<O::Int>,
    /// What is interpolated.
    pub attributes: Attributes<O>,
}

/// Gives `put` the words of a primitive's interpolated attributes with their numbers: the origin, then floats.
#[inline(always)]
pub fn put_attributes(primitive: &Primitive, mut put: impl FnMut(usize, u32)) {
    let Primitive { x, y, u, v, w, color, z, dx, dy, offset, .. } = primitive;
    put(0, (x[0] >> 16) as u32);
    put(1, i32::from(y[0]) as u32);
    each!([(2, u), (5, v), (8, w), (11, z)], (first, values) => {
        each!([0, 1, 2], i => put(first + i, values[i].to_bits()))
    });
    each!([(14, dx), (16, dy)], (first, values) => each!([0, 1], i => put(first + i, values[i].to_bits())));
    each!([0, 1], axis => put(18 + axis, f32::from(offset[axis]).to_bits()));
    each!([0, 1, 2], vertex => each!([0, 1, 2, 3], channel => {
        put(COLORS + 4 * vertex + channel, f32::from(color[vertex][channel]).to_bits());
    }));
}

/// The same as an array.
#[inline]
pub fn attribute_words(primitive: &Primitive) -> [u32; ATTRIBUTE_WORDS] {
    let mut words = [0; ATTRIBUTE_WORDS];
    put_attributes(primitive, inlined!(|number: usize, word: u32| words[number] = word));
    words
}

/// A state as words: its [`Key`], then its [`StateValues`].
pub fn state_words(state: &RenderState) -> [u32; STATE_WORDS] {
    let [operations, fog] = [&state.stencil.operations, &state.fog.color];
    let key = [
        [state.depth, state.blend, state.combiner, state.alpha_threshold],
        [state.format, state.last_level(), state.texels_shift() as u8, state.fog.enable],
        [state.stencil.test, operations[0], operations[1], operations[2]],
    ];
    let halves = |low: u8, high: u8| u32::from(low) | u32::from(high) << 16;
    let [red, green, blue, alpha] = state.constant;
    let clamp = state.clamp.map(|texel| i32::from(texel) << FRACTION);
    let signed = clamp.into_iter().chain(state.mask.map(|mask| i32::from(mask as i16)));
    let all = key.map(u32::from_le_bytes).into_iter();
    let all = all.chain([halves(red, blue), halves(green, alpha)]);
    let all = all.chain(signed.map(|v| v as u32));
    let all = all.chain((0..LEVELS as u32).map(|level| state.stride(level) as u32));
    let all = all.chain(state.levels.map(|bytes| bytes / 2)).chain([state.palette / 2]);
    let all = all.chain([state.fog.start.into(), state.fog.scale.into()]);
    let all = all.chain([halves(fog[0], fog[2]), halves(fog[1], 0)]);
    let all = all.chain([state.stencil.reference & 15, state.stencil.mask & 15].map(u32::from));
    let mut words = [0; STATE_WORDS];
    for (word, value) in words.iter_mut().zip(all) {
        *word = value;
    }
    words
}

/// The words of a state whose texture is a table: of each level the place of texel 0, 0 and entries of a row.
pub fn set_decoded(words: &mut [u32; STATE_WORDS], places: &[[i32; 2]; LEVELS]) {
    words[SHIFT.0] = words[SHIFT.0] & !(0xff << (8 * SHIFT.1)) | u32::from(DECODED) << (8 * SHIFT.1);
    let levels = words.iter_mut().skip(STRIDES);
    for (word, value) in levels.zip([1, 0].into_iter().flat_map(|i| places.map(|place| place[i]))) {
        *word = value as u32;
    }
}

/// The key of a state's words, known.
#[inline(always)]
pub fn known_key<I>(words: &[u32; STATE_WORDS]) -> Key<I> {
    key(inlined!(|word: usize, byte: u32| Setting::Known((words[word] >> (8 * byte)) as u8)))
}

/// The key of a state's words, loaded.
pub fn loaded_key<O: Ops>(o: &mut O, mut word: impl FnMut(&mut O, usize) -> O::Int) -> Key<O::Int> {
    let words = [0, 1, 2].map(|i| word(o, i));
    key(|word: usize, byte: u32| {
        let value = o.shr_by(words[word], 8 * byte);
        Setting::Loaded(o.and_with(value, 255))
    })
}

#[inline(always)]
fn key<I>(mut byte: impl FnMut(usize, u32) -> Setting<I>) -> Key<I> {
    Key {
        depth: byte(0, 0),
        blend: byte(0, 1),
        combiner: byte(0, 2),
        threshold: byte(0, 3),
        format: byte(1, 0),
        last_level: byte(1, 1),
        shift: byte(SHIFT.0, SHIFT.1),
        fog: byte(1, 3),
        stencil: byte(2, 0),
        operations: [byte(2, 1), byte(2, 2), byte(2, 3)],
    }
}

impl<I> StateValues<I> {
    /// The values of a state's words.
    #[inline(always)]
    pub fn load<O: Ops<Int = I>>(o: &mut O, mut word: impl FnMut(&mut O, usize) -> I) -> StateValues<I> {
        let mut at = KEY_WORDS - 1;
        let mut next = identity(inlined!(|| {
            at += 1;
            word(o, at)
        }));
        StateValues {
            constant: [next(), next()],
            clamp: [next(), next(), next(), next()],
            mask: [next(), next()],
            strides: [next(), next(), next(), next(), next(), next(), next(), next()],
            bases: [next(), next(), next(), next(), next(), next(), next(), next()],
            palette: next(),
            fog_start: next(),
            fog_scale: next(),
            fog_color: [next(), next()],
            reference: next(),
            stencil_mask: next(),
        }
    }
}

impl<O: Ops> Attributes<O> {
    /// The values of a primitive's words.
    #[inline(always)]
    pub fn load(o: &mut O, mut word: impl FnMut(&mut O, usize) -> O::Int) -> Attributes<O> {
        let origin = [word(o, 0), word(o, 1)];
        let color = each!([0, 1, 2, 3], channel => each!([0, 1, 2], vertex => {
            let bits = word(o, COLORS + 4 * vertex + channel);
            o.float_of_bits(bits)
        }));
        let mut at = 1;
        let mut next = identity(inlined!(|| {
            at += 1;
            let bits = word(o, at);
            o.float_of_bits(bits)
        }));
        Attributes {
            origin,
            u: [next(), next(), next()],
            v: [next(), next(), next()],
            w: [next(), next(), next()],
            z: [next(), next(), next()],
            dx: [next(), next()],
            dy: [next(), next()],
            offset: [next(), next()],
            color,
        }
    }
}

impl<O: Ops> Values<O> {
    /// Those of a primitive's and a state's words, as constants.
    #[inline(always)]
    pub fn constants(
        o: &mut O,
        attributes: &[u32; ATTRIBUTE_WORDS],
        state: &[u32; STATE_WORDS],
    ) -> Values<O> {
        Values {
            key: known_key(state),
            state: StateValues::load(o, inlined!(|o: &mut O, i: usize| o.int(state[i] as i32))),
            attributes: Attributes::load(o, inlined!(|o: &mut O, i: usize| o.int(attributes[i] as i32))),
        }
    }
}
