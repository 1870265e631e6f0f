//! Draws: primitives with their states.

use crate::primitive::Primitive;
use crate::state::RenderState;
use thiserror::Error;
use xenoglot_raster::Edges;

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
        Ok(Draw { states, primitives, state_of: &state_of[..primitives.len()] })
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

    /// A primitive and its state's number.
    #[inline(always)]
    pub(crate) fn primitive(&self, number: usize) -> Option<(&'a Primitive, usize)> {
        Some((self.primitives.get(number)?, usize::from(*self.state_of.get(number)?)))
    }

    /// Those of its primitives that are in a range, as far as there are any.
    pub fn part(&self, range: std::ops::Range<usize>) -> Draw<'a> {
        let end = range.end.min(self.primitives.len());
        let range = range.start.min(end)..end;
        Draw {
            states: self.states,
            primitives: &self.primitives[range.clone()],
            state_of: &self.state_of[range],
        }
    }

    /// The number of each primitive's state.
    pub fn state_of(&self) -> &'a [u16] {
        self.state_of
    }

    /// What each primitive may cover of a frame.
    pub fn edges(&self, frame: [u32; 2]) -> Vec<Edges> {
        self.iter().map(|(primitive, _, state)| primitive.edges(state, frame)).collect()
    }
}
