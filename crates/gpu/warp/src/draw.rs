//! Draws: primitives with their states, and the values that rules want of them.

use crate::primitive::Primitive;
use crate::rules::{self, Attributes, Key, Setting, StateValues};
use crate::state::RenderState;
use thiserror::Error;
use xenoglot_raster::Edges;
use xenoglot_raster::ops::Ops;

/// A primitive has no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("primitive {primitive} has state {state}, and there are {states}")]
pub struct NoState {
    /// The primitive.
    pub primitive: usize,
    /// Its state.
    pub state: usize,
    /// How many there are.
    pub states: usize,
}

/// Primitives in drawing order, each with one of the states.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    states: &'a [RenderState],
    primitives: &'a [Primitive],
    state_of: &'a [u16],
}

impl<'a> Draw<'a> {
    /// Primitives and, for each, which of the states it has.
    ///
    /// # Errors
    /// If there is no such state, or none is named.
    pub fn new(
        states: &'a [RenderState],
        primitives: &'a [Primitive],
        state_of: &'a [u16],
    ) -> Result<Draw<'a>, NoState> {
        for primitive in 0..primitives.len() {
            let state = state_of.get(primitive).map_or(usize::MAX, |&state| state.into());
            if state >= states.len() {
                return Err(NoState { primitive, state, states: states.len() });
            }
        }
        Ok(Draw { states, primitives, state_of })
    }

    /// How many primitives there are.
    pub fn len(&self) -> usize {
        self.primitives.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    /// The states.
    pub fn states(&self) -> &'a [RenderState] {
        self.states
    }

    /// Each primitive with its state's number and its state.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a Primitive, u16, &'a RenderState)> + use<'a> {
        let states = self.states;
        self.primitives
            .iter()
            .zip(self.state_of)
            .map(move |(primitive, &state)| (primitive, state, &states[usize::from(state)]))
    }

    /// A primitive with its state.
    pub fn get(&self, number: usize) -> Option<(&'a Primitive, &'a RenderState)> {
        let state = self.states.get(usize::from(*self.state_of.get(number)?))?;
        Some((self.primitives.get(number)?, state))
    }

    /// What each primitive may cover of a frame.
    pub fn edges(&self, frame: [u32; 2]) -> Vec<Edges> {
        self.iter().map(|(primitive, _, state)| primitive.edges(state, frame)).collect()
    }
}

/// A primitive and its state as constants of an engine.
#[inline(always)]
pub fn values<O: Ops>(o: &mut O, primitive: &Primitive, state: &RenderState) -> rules::Primitive<O> {
    let known = Setting::Known;
    let key = Key {
        depth: known(state.depth),
        blend: known(state.blend),
        combiner: known(state.combiner),
        format: known(state.format),
        last_level: known(state.last_level()),
        threshold: known(state.alpha_threshold),
    };
    let values = StateValues {
        constant: state.constant.map(|v| o.int(v.into())),
        clamp: state.clamp.map(|v| o.int(v.into())),
        mask: state.mask.map(|v| o.int((v as i16).into())),
        width: o.int(state.width.into()),
        levels: state.levels.map(|v| o.int(v as i32)),
    };
    let color = [0, 1, 2, 3].map(|channel| primitive.color.map(|color| o.float(color[channel].into())));
    let mut floats = |values: [f32; 3]| values.map(|value| o.float(value));
    let (u, v, w, z) = (floats(primitive.u), floats(primitive.v), floats(primitive.w), floats(primitive.z));
    let attributes = Attributes {
        origin: [o.int(primitive.x[0] >> 16), o.int(primitive.y[0].into())],
        u,
        v,
        w,
        color,
        z,
        dx: primitive.dx.map(|value| o.float(value)),
        dy: primitive.dy.map(|value| o.float(value)),
        offset: primitive.offset.map(|value| o.float(value.into())),
    };
    rules::Primitive { key, state: values, attributes }
}
