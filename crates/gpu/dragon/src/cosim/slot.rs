//! Where a model sits in a machine.

use super::{AttachError, Config, Model};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A model, or the saved state of one. Clones and checkpoints hold the saved state.
pub(crate) struct Slot<I, O> {
    model: Option<Box<dyn Model<I, O>>>,
    saved: Option<Vec<u8>>,
}

impl<I, O> Slot<I, O> {
    pub fn empty() -> Slot<I, O> {
        Slot { model: None, saved: None }
    }

    /// Puts a model here that goes on where the last one was saved.
    pub fn attach(&mut self, mut model: Box<dyn Model<I, O>>, config: &Config) -> Result<(), AttachError> {
        model.reset(config);
        if let Some(state) = self.state()
            && !model.load(&state)
        {
            return Err(AttachError::State);
        }
        *self = Slot { model: Some(model), saved: None };
        Ok(())
    }

    pub fn tick(&mut self, input: &I) -> Option<O> {
        self.model.as_mut().map(|model| model.tick(input))
    }

    pub fn is_empty(&self) -> bool {
        self.model.is_none()
    }

    /// Whether a model that is attached could go on where this one is.
    pub fn has_state(&self) -> bool {
        self.state().is_some()
    }

    fn state(&self) -> Option<Vec<u8>> {
        match &self.model {
            Some(model) => model.save(),
            None => self.saved.clone(),
        }
    }

    /// Whether the state of the model, if there is one, can be saved.
    pub fn is_savable(&self) -> bool {
        self.is_empty() || self.has_state()
    }
}

impl<I, O> Clone for Slot<I, O> {
    fn clone(&self) -> Self {
        Slot { model: None, saved: self.state() }
    }
}

impl<I, O> fmt::Debug for Slot<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "no model" } else { "a model" })
    }
}

impl<I, O> Serialize for Slot<I, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.state().serialize(serializer)
    }
}

impl<'de, I, O> Deserialize<'de> for Slot<I, O> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Slot { model: None, saved: Deserialize::deserialize(deserializer)? })
    }
}
