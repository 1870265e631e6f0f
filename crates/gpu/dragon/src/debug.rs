//! Breakpoints: where a run stops.

use crate::event::Event;
use crate::machine::Machine;
use crate::unit::{UNITS, VPU_NAMES};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// What a run stops at. As text: `tick=5000`, `rasterizer`, `vpu1=Exec`, `pc=3`, `register=31` (hexadecimal).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breakpoint {
    /// This tick is the next one.
    Tick(u64),
    /// A unit began with this event, or with any that is not idle.
    Event(&'static str, Option<Event>),
    /// A VPU issued the instruction at this word of the program.
    Program(u16),
    /// The command processor took a write of this register.
    Register(u8),
}

/// Text that is no breakpoint.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no breakpoint: there are tick=N, UNIT, UNIT=EVENT, pc=WORD and register=HEX")]
pub struct UnknownBreakpoint(String);

impl FromStr for Breakpoint {
    type Err = UnknownBreakpoint;

    fn from_str(text: &str) -> Result<Breakpoint, UnknownBreakpoint> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let found = match (name, value) {
            ("tick", Some(value)) => value.parse().ok().map(Breakpoint::Tick),
            ("pc", Some(value)) => value.parse().ok().map(Breakpoint::Program),
            ("register", Some(value)) => u8::from_str_radix(value, 16).ok().map(Breakpoint::Register),
            (unit, event) => {
                let unit = UNITS.iter().chain(&VPU_NAMES).find(|n| **n == unit);
                let event = event.map(Event::parse);
                // A name without an event is any event; one with an unknown event is nothing.
                (event != Some(None)).then_some(unit).flatten().map(|n| Breakpoint::Event(n, event.flatten()))
            }
        };
        found.ok_or_else(|| UnknownBreakpoint(text.into()))
    }
}

impl fmt::Display for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breakpoint::Tick(tick) => write!(f, "tick={tick}"),
            Breakpoint::Event(unit, None) => f.write_str(unit),
            Breakpoint::Event(unit, Some(event)) => write!(f, "{unit}={event:?}"),
            Breakpoint::Program(word) => write!(f, "pc={word}"),
            Breakpoint::Register(register) => write!(f, "register={register:02x}"),
        }
    }
}

/// Compares each tick with the one before.
///
/// ```
/// use xenoglot_dragon::command::{Command, sig};
/// use xenoglot_dragon::debug::Watch;
/// use xenoglot_dragon::{Machine, Params};
///
/// let mut machine = Machine::new(Params::default())?;
/// let writes = [Command::ExecFillTileBuffer { tile: 0, sig: sig::CLEAR_TILE }.encode(); 2];
/// let mut watch = Watch::new(&machine, vec!["command=UnitBusy".parse()?]);
/// let mut rest = &writes[..];
/// assert!(!machine.run_until(&mut rest, u64::MAX, |m| watch.hit(m).is_some())?);
/// assert_eq!(machine.now(), 2); // The second fill waits for the first.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    breakpoints: Vec<Breakpoint>,
    before: Vec<Event>,
}

impl Watch {
    /// Breakpoints for what `machine` does from its next tick on.
    pub fn new(machine: &Machine, breakpoints: Vec<Breakpoint>) -> Watch {
        Watch { breakpoints, before: machine.events.clone() }
    }

    /// The first tick after `now` that is a breakpoint: what [`Machine::run_until`] has to pause before.
    pub fn next_tick(&self, now: u64) -> u64 {
        let ticks =
            self.breakpoints.iter().filter_map(|b| if let Breakpoint::Tick(t) = b { Some(*t) } else { None });
        ticks.filter(|&t| t > now).min().unwrap_or(u64::MAX)
    }

    /// The breakpoint that the last tick has met; to be called after every tick.
    pub fn hit(&mut self, machine: &Machine) -> Option<Breakpoint> {
        let hit = self.breakpoints.iter().find(|b| self.meets(machine, b)).copied();
        self.before.clone_from(&machine.events);
        hit
    }

    fn meets(&self, machine: &Machine, breakpoint: &Breakpoint) -> bool {
        match *breakpoint {
            Breakpoint::Tick(tick) => machine.now() == tick,
            Breakpoint::Event(unit, event) => {
                let units = machine.activity().zip(&self.before);
                let began = |now: Event, before: Event| {
                    now != before && event.map_or(now != Event::GenericIdle, |event| now == event)
                };
                units.into_iter().any(|((name, now), &before)| name == unit && began(now, before))
            }
            Breakpoint::Program(word) => machine.issued().any(|issued| issued == word),
            Breakpoint::Register(register) => machine.taken().is_some_and(|write| write.register == register),
        }
    }
}
