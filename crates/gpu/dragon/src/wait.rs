//! Waits that never end.

use crate::event::Event;
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// Why a wait counts as endless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No unit can do anything any more.
    Stuck,
    /// The run was not over after so many ticks.
    Limit(u64),
}

/// What one unit was doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitState {
    /// The unit.
    pub name: &'static str,
    /// Its event in the last tick.
    pub event: Event,
    /// What it holds, for people.
    pub state: String,
}

impl fmt::Display for UnitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18} {:<18} {}", self.name, format!("{:?}", self.event), self.state)
    }
}

/// A run that never ends.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct EndlessWait {
    /// Why.
    pub reason: Reason,
    /// The tick that would come next.
    pub tick: u64,
    /// Signals that are raised.
    pub signals: u32,
    /// Signals that are waited for.
    pub mask: u32,
    /// All units.
    pub units: Vec<UnitState>,
}

impl fmt::Display for EndlessWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Stuck => write!(f, "endless wait: nothing can happen after tick {}", self.tick)?,
            Reason::Limit(ticks) => write!(f, "endless wait: not over after {ticks} ticks")?,
        }
        write!(f, "; signals {:#x}, waiting for {:#x}", self.signals, self.mask & !self.signals)?;
        self.units.iter().try_for_each(|unit| write!(f, "\n  {unit}"))
    }
}
