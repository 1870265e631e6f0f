//! What the units of a machine did at each tick.
//!
//! A [`Recorder`] takes one event per track and tick, merges equal neighbours and gives a [`Trace`]. Time is whole
//! ticks of one clock. A trace is written as Chrome's trace JSON ([`chrome`]), as a Perfetto trace ([`perfetto`]), as a
//! picture ([`svg`]), and read by [`report`] and [`path`]. The same trace gives the same bytes. Nothing here knows a machine, and
//! nothing does I/O.
//!
//! ```
//! use xenoglot_trace::{Kind, Recorder, Schema};
//!
//! static SCHEMA: Schema = Schema {
//!     process: "machine",
//!     events: &[("Idle", Kind::Idle), ("Work", Kind::Work), ("Stall", Kind::Stall)],
//! };
//! let mut recorder = Recorder::new(&SCHEMA, 100_000_000, &["unit"], &["queue"]);
//! recorder.event(0, 1, 3); // three ticks of work
//! recorder.event(0, 2, 1);
//! recorder.advance(4);
//! let trace = recorder.finish();
//! assert_eq!(trace.tracks[0].spans.len(), 2);
//! assert_eq!(trace.totals(0)[1], 3);
//! ```
#![deny(missing_docs)]

pub mod chrome;
pub mod path;
pub mod perfetto;
mod recorder;
pub mod report;
pub mod svg;

pub use recorder::Recorder;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What an event means to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing to do: left blank.
    Idle,
    /// Progress.
    Work,
    /// Something to do, and it cannot: waiting for memory, for room, for a result.
    Stall,
}

/// The events a machine's units report, and the machine's name.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// Name of the process that the tracks belong to.
    pub process: &'static str,
    /// Names and kinds by number.
    pub events: &'static [(&'static str, Kind)],
}

/// A run of ticks with one event. A recording has millions, so that these are kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First tick.
    pub start: u64,
    /// Ticks, at least one; a longer run is several spans.
    pub ticks: u32,
    /// The event's number.
    pub event: u16,
}

impl Span {
    /// The tick after the last.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(u64::from(self.ticks))
    }
}

/// What one unit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// The unit.
    pub name: String,
    /// In order of time; spans of kind [`Kind::Idle`] are left out.
    pub spans: Vec<Span>,
    /// Ticks reported as idle.
    pub idle: u64,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// What it counts.
    pub name: String,
    /// Tick and value from then on; values differ from their neighbours.
    pub samples: Vec<(u64, i64)>,
}

/// A named part of the run, such as a bin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// First tick.
    pub start: u64,
    /// The tick after the last.
    pub end: u64,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Name of the process.
    pub process: String,
    /// Names and kinds of events by number.
    pub events: Vec<(String, Kind)>,
    /// Ticks a second, at least 1.
    pub clock_hz: u64,
    /// Ticks recorded; tick numbers lie below.
    pub ticks: u64,
    /// Units.
    pub tracks: Vec<Track>,
    /// Quantities.
    pub counters: Vec<Counter>,
    /// Parts of the run in the order of their starts.
    pub phases: Vec<Phase>,
}

/// A trace that contradicts itself, or is of another machine.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the trace contradicts itself: {0}")]
pub struct Inconsistent(pub(crate) &'static str);

/// Kinds of events that a trace that is read may have.
const MAX_EVENTS: usize = 4096;

impl Trace {
    /// Checks what readers of traces rely on: spans of events that exist, in order and within the ticks; no more ticks
    /// of a track than there are; phases that end after their start.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check(&self) -> Result<(), Inconsistent> {
        let bad = |what| Err(Inconsistent(what));
        if self.events.len() > MAX_EVENTS {
            return bad("too many kinds of events");
        }
        for track in &self.tracks {
            let mut end = 0;
            for s in &track.spans {
                if s.start < end
                    || s.ticks == 0
                    || s.end() > self.ticks
                    || s.start.checked_add(u64::from(s.ticks)).is_none()
                {
                    return bad("spans overlap or lie outside");
                }
                if self.kind(s.event) == Kind::Idle || usize::from(s.event) >= self.events.len() {
                    return bad("a span of no event");
                }
                end = s.end();
            }
            let spans: u64 = track.spans.iter().map(|s| u64::from(s.ticks)).sum();
            if track.idle.checked_add(spans).is_none_or(|all| all > self.ticks) {
                return bad("a track has more ticks than there are");
            }
        }
        if self.phases.iter().any(|p| p.start > p.end || p.end > self.ticks) {
            return bad("a phase ends before it starts or after the end");
        }
        Ok(())
    }

    /// The name of an event.
    pub fn event_name(&self, event: u16) -> &str {
        self.events.get(usize::from(event)).map_or("?", |(name, _)| name)
    }

    /// The kind of an event.
    pub fn kind(&self, event: u16) -> Kind {
        self.events.get(usize::from(event)).map_or(Kind::Work, |&(_, kind)| kind)
    }

    /// Ticks of a track by event. Idle ones are counted at event 0.
    pub fn totals(&self, track: usize) -> Vec<u64> {
        let mut totals = vec![0; self.events.len()];
        if let Some(track) = self.tracks.get(track) {
            for span in &track.spans {
                if let Some(total) = totals.get_mut(usize::from(span.event)) {
                    *total += u64::from(span.ticks);
                }
            }
            if let Some(first) = totals.first_mut() {
                *first += track.idle;
            }
        }
        totals
    }

    /// Leaves what lies in the ticks from `from` to `to` alone. Spans and phases that reach out of them are cut there, and
    /// counters begin with the value that they have at `from`. Tick numbers stay as they are.
    pub fn clip(&mut self, from: u64, to: u64) {
        for track in &mut self.tracks {
            track.spans.retain_mut(|span| {
                let (start, end) = (span.start.max(from), span.end().min(to));
                // No longer than it was.
                (span.start, span.ticks) = (start, end.saturating_sub(start) as u32);
                span.ticks > 0
            });
        }
        for Counter { samples, .. } in &mut self.counters {
            let first = samples.partition_point(|&(tick, _)| tick <= from).saturating_sub(1);
            samples.drain(..first);
            samples.retain(|&(tick, _)| tick.max(from) < to);
            samples.iter_mut().for_each(|(tick, _)| *tick = (*tick).max(from));
        }
        self.phases.retain_mut(|phase| {
            (phase.start, phase.end) = (phase.start.max(from), phase.end.min(to));
            phase.start < phase.end
        });
    }

    /// Moves everything `ticks` ticks later, for a trace that follows another one; the ticks before it are empty.
    pub fn delay(&mut self, ticks: u64) {
        self.ticks = self.ticks.saturating_add(ticks);
        let spans = self.tracks.iter_mut().flat_map(|t| &mut t.spans).map(|s| &mut s.start);
        let samples = self.counters.iter_mut().flat_map(|c| &mut c.samples).map(|s| &mut s.0);
        let phases = self.phases.iter_mut().flat_map(|p| [&mut p.start, &mut p.end]);
        for tick in spans.chain(samples).chain(phases) {
            *tick = tick.saturating_add(ticks);
        }
    }

    /// Appends a later trace of the same units. Its ticks count from the same tick 0 as this trace's
    /// ([`delay`](Self::delay) moves them).
    pub fn append(&mut self, later: Trace) {
        for (track, more) in self.tracks.iter_mut().zip(later.tracks) {
            track.spans.extend(more.spans);
            track.idle += more.idle;
        }
        for (counter, more) in self.counters.iter_mut().zip(later.counters) {
            counter.samples.extend(more.samples);
        }
        self.phases.extend(later.phases);
        self.ticks = self.ticks.max(later.ticks);
    }

    /// Nanoseconds from the start to the beginning of a tick, rounded down.
    pub fn nanoseconds(&self, tick: u64) -> u64 {
        let ns = u128::from(tick) * 1_000_000_000 / u128::from(self.clock_hz.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use crate::report::tests::sample;

    #[test]
    fn one_trace_follows_another() {
        let mut twice = sample();
        let mut later = sample();
        later.delay(twice.ticks);
        twice.append(later);
        twice.check().unwrap();
        assert_eq!(twice.ticks, 2 * sample().ticks);
        for n in 0..twice.tracks.len() {
            let once = sample().totals(n);
            assert!(twice.totals(n).iter().zip(once).all(|(&twice, once)| twice == 2 * once));
        }
        assert_eq!(twice.phases[1].start, sample().ticks + sample().phases[0].start);
    }

    #[test]
    fn a_window_cuts_what_reaches_out_of_it() {
        let mut whole = sample();
        whole.clip(0, u64::MAX);
        assert_eq!(whole, sample());
        for (from, to) in [(0, 10), (1, 4), (3, 9), (5, 5), (9, 20)] {
            let mut trace = sample();
            trace.clip(from, to);
            trace.check().unwrap();
            let inside = |tick: &u64| (from..to).contains(tick);
            for (cut, track) in trace.tracks.iter().zip(sample().tracks) {
                let ticks = |spans: &[crate::Span]| -> Vec<(u64, u16)> {
                    spans.iter().flat_map(|s| (s.start..s.end()).map(|tick| (tick, s.event))).collect()
                };
                let mut want = ticks(&track.spans);
                want.retain(|(tick, _)| inside(tick));
                assert_eq!(ticks(&cut.spans), want, "{from}..{to}");
            }
            assert!(trace.counters.iter().flat_map(|c| &c.samples).all(|(tick, _)| inside(tick)));
        }
    }
}
