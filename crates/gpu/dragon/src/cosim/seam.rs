//! Where a model sits in a machine, and how a unit is ticked that may have one in its place.

use super::{AttachError, Config, Model, Reply, Request};
use crate::event::{Activity, Event};
use crate::machine::{Faults, Shared};
use crate::memory::Direction;
use crate::unit::Unit;
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

/// Most bytes of an access.
const MAX_ACCESS: u32 = 4096;

/// An access of memory that a model has asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Access {
    done: u64,
    address: u32,
    bytes: u32,
}

/// A unit's seam: the model in its place, if there is one, and what the machine keeps for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Seam<I, O> {
    slot: Option<Slot<I, O>>,
    /// Whether the model was handed the unit's job.
    told: bool,
    access: Option<Access>,
}

impl<I, O> Default for Seam<I, O> {
    fn default() -> Self {
        Seam { slot: None, told: false, access: None }
    }
}

impl<I, O> Seam<I, O> {
    /// Whether the unit is a model from outside.
    pub fn is_external(&self) -> bool {
        self.slot.is_some()
    }

    /// Whether there is a place for a model, but none in it.
    fn is_vacant(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.is_empty())
    }

    /// Puts a model here. `idle`: the unit has nothing under way.
    pub fn attach(
        &mut self,
        model: Box<dyn Model<I, O>>,
        config: &Config,
        idle: bool,
    ) -> Result<(), AttachError> {
        match &mut self.slot {
            Some(slot) if idle || slot.has_state() => slot.attach(model, config),
            None if idle => {
                let mut slot = Slot::empty();
                slot.attach(model, config)?;
                self.slot = Some(slot);
                Ok(())
            }
            _ => Err(AttachError::Busy),
        }
    }

    /// A tick, or what the model is asked otherwise; `None` without a model.
    pub fn ask(&mut self, input: &I) -> Option<O> {
        self.slot.as_mut().and_then(|slot| slot.tick(input))
    }

    /// Whether the state of the model, if there is one, can be saved.
    pub fn is_savable(&self) -> bool {
        self.slot.as_ref().is_none_or(|slot| slot.is_empty() || slot.has_state())
    }

    /// What is to be said of the model by the unit's description.
    pub fn describe(&self) -> &'static str {
        match &self.slot {
            None => "",
            Some(slot) if slot.is_empty() => ", no model",
            Some(_) => ", a model",
        }
    }

    /// Whether the unit has a job that the model does not know of yet; now it does.
    pub fn tell(&mut self, job: bool) -> bool {
        let new = job && !self.told;
        self.told = job;
        new
    }

    /// The model is done with its job: the next one is new.
    pub fn finish(&mut self) {
        self.told = false;
    }

    /// Memory's answer in tick `now`, and where what was read is when it is there.
    pub fn reply(&mut self, now: u64) -> (Reply, Option<(u32, u32)>) {
        let Some(Access { done, address, bytes }) = self.access else { return (Reply::default(), None) };
        let over = done <= now;
        if over {
            self.access = None;
        }
        (Reply { done, valid: over.into(), reserved: 0 }, over.then_some((address, bytes)))
    }

    /// Asks memory for what the model asks for; false if it has an access under way, or asks for more than
    /// any unit needs.
    pub fn request(
        &mut self,
        unit: Unit,
        direction: Direction,
        request: &Request,
        shared: &mut Shared,
    ) -> bool {
        let Request { valid, address, bytes, .. } = *request;
        if valid == 0 {
            return true;
        }
        if self.access.is_some() || bytes == 0 || bytes > MAX_ACCESS {
            return false;
        }
        let done = shared.access(unit, direction, address, bytes);
        self.access = Some(Access { done, address, bytes });
        true
    }
}

/// What a model's answer says of its tick.
pub(crate) trait Answer {
    fn until(&self) -> u64;
    fn event(&self) -> u32;
}

/// What came of carrying out a model's answer.
pub(crate) struct Outcome {
    /// Whether it was possible.
    pub sound: bool,
    /// Whether anything was handed over.
    pub handed: bool,
}

/// A unit that a model can stand for. What of its state other units see stays here, and is the same for both.
pub(crate) trait Replaceable {
    /// What a model is handed in a tick.
    type Input;
    /// What it answers.
    type Output: Answer;
    /// What the unit reaches of others in its tick.
    type Others<'a>: ?Sized;

    fn seam(&self) -> &Seam<Self::Input, Self::Output>;

    fn seam_mut(&mut self) -> &mut Seam<Self::Input, Self::Output>;

    /// Whether it has nothing under way.
    fn is_idle(&self) -> bool;

    /// A tick of the machine's own unit.
    fn tick_own(&mut self, shared: &mut Shared, others: &mut Self::Others<'_>) -> Activity;

    /// What a model is handed in this tick, and whether there is anything new in it.
    fn input(&mut self, shared: &mut Shared, others: &mut Self::Others<'_>) -> (Self::Input, bool);

    /// Does what the model answered, as far as that is possible.
    fn carry_out(
        &mut self,
        output: &Self::Output,
        shared: &mut Shared,
        others: &mut Self::Others<'_>,
    ) -> Outcome;

    /// A tick, of whichever is there.
    #[inline]
    fn tick(&mut self, shared: &mut Shared, others: &mut Self::Others<'_>) -> Activity {
        if self.seam().is_external() {
            self.tick_model(shared, others)
        } else {
            self.tick_own(shared, others)
        }
    }

    #[cold]
    fn tick_model(&mut self, shared: &mut Shared, others: &mut Self::Others<'_>) -> Activity {
        if self.seam().is_vacant() {
            return if self.is_idle() { Activity::IDLE } else { Activity::blocked(Event::QueueFull) };
        }
        let (input, new) = self.input(shared, others);
        let Some(output) = self.seam_mut().ask(&input) else { return Activity::IDLE };
        let Outcome { mut sound, handed } = self.carry_out(&output, shared, others);
        let event = Event::ALL.get(output.event() as usize).copied();
        sound &= event.is_some();
        if !sound {
            shared.faults |= Faults::MODEL;
        }
        // Where something was handed over, either way, others may act in the next tick.
        let next = shared.now + 1;
        let until = if new || handed { next } else { output.until().max(next) };
        Activity::until(event.unwrap_or(Event::Tick), until)
    }

    /// Whether its model, if it has one, can be saved.
    fn is_savable(&self) -> bool {
        self.seam().is_savable()
    }

    /// Puts a model in the unit's place.
    fn attach(
        &mut self,
        model: Box<dyn Model<Self::Input, Self::Output>>,
        config: &Config,
    ) -> Result<(), AttachError> {
        let idle = self.is_idle();
        self.seam_mut().attach(model, config, idle)
    }
}
