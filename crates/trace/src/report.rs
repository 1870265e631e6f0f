//! What a trace says: how busy units are, what they wait for, which unit each phase hangs on, what changed between two
//! traces.

use crate::{Kind, Span, Trace};
use serde::Serialize;
use std::fmt;

/// One unit's share of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unit {
    /// The unit.
    pub name: String,
    /// Ticks at work.
    pub work: u64,
    /// Ticks waiting.
    pub stall: u64,
    /// Ticks with nothing to do.
    pub idle: u64,
    /// What it waited for, most ticks first.
    pub stalls: Vec<(String, u64)>,
}

/// Which units a phase hung on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Critical {
    /// The phase.
    pub phase: String,
    /// Its ticks.
    pub ticks: u64,
    /// Units with what they did, most ticks first, equal ones in the order of the tracks. The ticks add up to the phase's.
    pub parts: Vec<(String, u64)>,
}

/// A report on one trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Ticks of the trace.
    pub ticks: u64,
    /// Units in the order of the tracks.
    pub units: Vec<Unit>,
    /// Phases.
    pub phases: Vec<Critical>,
}

/// What a unit did more or less of in a second trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The unit.
    pub unit: String,
    /// The event.
    pub event: String,
    /// Ticks in the first trace.
    pub before: u64,
    /// Ticks in the second.
    pub after: u64,
}

/// Two traces compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Ticks of the first trace.
    pub before: u64,
    /// Ticks of the second.
    pub after: u64,
    /// What differs, by unit and event, the largest difference first.
    pub changes: Vec<Change>,
}

/// Reads a trace. `order` names units from the end of the pipeline to its start: each tick of a phase hangs on the
/// first of them that works or, if none does, on the first that waits.
pub fn report(trace: &Trace, order: &[&str]) -> Report {
    let units = (0..trace.tracks.len()).map(|n| unit(trace, n)).collect();
    let order: Vec<usize> =
        order.iter().filter_map(|name| trace.tracks.iter().position(|t| t.name == *name)).collect();
    let phases = trace
        .phases
        .iter()
        .map(|phase| Critical {
            phase: phase.name.clone(),
            ticks: phase.end - phase.start,
            parts: critical(trace, &order, phase.start, phase.end),
        })
        .collect();
    Report { ticks: trace.ticks, units, phases }
}

fn unit(trace: &Trace, n: usize) -> Unit {
    let mut unit =
        Unit { name: trace.tracks[n].name.clone(), work: 0, stall: 0, idle: 0, stalls: Vec::new() };
    for (event, ticks) in (0..).zip(trace.totals(n)) {
        match trace.kind(event) {
            Kind::Idle => unit.idle += ticks,
            Kind::Work => unit.work += ticks,
            Kind::Stall => {
                unit.stall += ticks;
                if ticks > 0 {
                    unit.stalls.push((trace.event_name(event).into(), ticks));
                }
            }
        }
    }
    // Stable: equal ones stay in the order of the events.
    unit.stalls.sort_by_key(|s| std::cmp::Reverse(s.1));
    unit
}

/// Where a track stands while time passes.
struct Cursor<'t> {
    spans: &'t [Span],
}

impl<'t> Cursor<'t> {
    fn new(spans: &'t [Span], from: u64) -> Cursor<'t> {
        Cursor { spans: &spans[spans.partition_point(|s| s.end() <= from)..] }
    }

    /// The event at `tick`, and the tick up to which it holds. Ticks never go back.
    fn at(&mut self, tick: u64) -> (Option<u16>, u64) {
        while let Some(first) = self.spans.first().filter(|s| s.end() <= tick) {
            debug_assert!(first.end() <= tick);
            self.spans = &self.spans[1..];
        }
        match self.spans.first() {
            Some(s) if s.start <= tick => (Some(s.event), s.end()),
            Some(s) => (None, s.start),
            None => (None, u64::MAX),
        }
    }
}

fn critical(trace: &Trace, order: &[usize], from: u64, to: u64) -> Vec<(String, u64)> {
    let mut cursors: Vec<Cursor> =
        order.iter().map(|&track| Cursor::new(&trace.tracks[track].spans, from)).collect();
    let mut parts: Vec<(Option<(usize, u16)>, u64)> = Vec::new();
    let mut tick = from;
    while tick < to {
        let mut until = to;
        let (mut working, mut waiting) = (None, None);
        for (&track, cursor) in order.iter().zip(&mut cursors) {
            let (event, holds) = cursor.at(tick);
            until = until.min(holds);
            match event.map(|e| (e, trace.kind(e))) {
                Some((e, Kind::Work)) => working = working.or(Some((track, e))),
                Some((e, Kind::Stall)) => waiting = waiting.or(Some((track, e))),
                _ => {}
            }
        }
        let blamed = working.or(waiting);
        match parts.iter_mut().find(|p| p.0 == blamed) {
            Some(part) => part.1 += until - tick,
            None => parts.push((blamed, until - tick)),
        }
        tick = until;
    }
    parts.sort_by_key(|&(blamed, ticks)| (std::cmp::Reverse(ticks), blamed));
    let name = |blamed: Option<(usize, u16)>| match blamed {
        Some((track, event)) => format!("{}: {}", trace.tracks[track].name, trace.event_name(event)),
        None => "nothing".into(),
    };
    parts.into_iter().map(|(blamed, ticks)| (name(blamed), ticks)).collect()
}

/// Compares two traces unit by unit, by names.
pub fn compare(before: &Trace, after: &Trace) -> Comparison {
    let totals = |trace: &Trace| -> Vec<(String, String, u64)> {
        let of_track = |n: usize| {
            let unit = trace.tracks[n].name.clone();
            let named = (0..).zip(trace.totals(n)).filter(|t| t.1 > 0);
            named.map(move |(event, ticks)| (unit.clone(), event, ticks)).collect::<Vec<_>>()
        };
        let all = (0..trace.tracks.len()).flat_map(of_track);
        all.map(|(unit, event, ticks)| (unit, trace.event_name(event).to_owned(), ticks)).collect()
    };
    let mut changes: Vec<Change> = totals(before)
        .into_iter()
        .map(|(unit, event, before)| Change { unit, event, before, after: 0 })
        .collect();
    for (unit, event, after) in totals(after) {
        match changes.iter_mut().find(|c| c.unit == unit && c.event == event) {
            Some(change) => change.after = after,
            None => changes.push(Change { unit, event, before: 0, after }),
        }
    }
    changes.retain(|c| c.before != c.after);
    changes.sort_by_key(|c| std::cmp::Reverse(c.before.abs_diff(c.after)));
    Comparison { before: before.ticks, after: after.ticks, changes }
}

fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// Phases of the text form: those with most ticks.
const PHASES: usize = 10;
/// Stalls, parts and changes of the text form.
const TOP: usize = 3;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} ticks\n\n{:<16} {:>7} {:>7} {:>7}  waits for",
            self.ticks, "unit", "work", "stall", "idle"
        )?;
        for unit in &self.units {
            let [work, stall, idle] = [unit.work, unit.stall, unit.idle].map(|t| percent(t, self.ticks));
            let stalls: Vec<String> = unit
                .stalls
                .iter()
                .take(TOP)
                .map(|(name, ticks)| format!("{name} {:.1} %", percent(*ticks, self.ticks)))
                .collect();
            writeln!(
                f,
                "{:<16} {work:>5.1} % {stall:>5.1} % {idle:>5.1} %  {}",
                unit.name,
                stalls.join(", ")
            )?;
        }
        let mut longest: Vec<&Critical> = self.phases.iter().collect();
        longest.sort_by_key(|p| std::cmp::Reverse(p.ticks));
        if !longest.is_empty() {
            writeln!(f, "\n{:<16} {:>8}  hangs on", "phase", "ticks")?;
        }
        for phase in longest.into_iter().take(PHASES) {
            let parts: Vec<String> = phase
                .parts
                .iter()
                .take(TOP)
                .map(|(name, ticks)| format!("{name} {:.0} %", percent(*ticks, phase.ticks)))
                .collect();
            writeln!(f, "{:<16} {:>8}  {}", phase.phase, phase.ticks, parts.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = percent(self.after, self.before) - 100.0;
        writeln!(f, "{} → {} ticks ({change:+.1} %)\n", self.before, self.after)?;
        for c in &self.changes {
            let signed = i128::from(c.after) - i128::from(c.before);
            writeln!(f, "{:<16} {:<20} {:>10} → {:>10} {signed:>+10}", c.unit, c.event, c.before, c.after)?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Recorder, Schema};

    static SCHEMA: Schema = Schema {
        process: "machine",
        events: &[
            ("Idle", Kind::Idle),
            ("Work", Kind::Work),
            ("QueueFull", Kind::Stall),
            ("MemRead", Kind::Stall),
        ],
    };

    /// Two units for ten ticks: `back` works ticks 2 to 5 and waits for one; `front` works, waits, works.
    pub(crate) fn sample() -> Trace {
        let mut r = Recorder::new(&SCHEMA, 100_000_000, &["front", "back"], &["queue"]);
        for tick in 0..10 {
            r.event(0, [1, 1, 1, 2, 2, 2, 1, 1, 0, 0][tick], 1);
            r.event(1, [0, 0, 1, 1, 1, 1, 3, 0, 0, 0][tick], 1);
            r.count(0, [0, 1, 2, 2, 2, 2, 1, 0, 0, 0][tick]);
            r.advance(1);
        }
        r.phase("bin 0".into(), 0);
        r.finish()
    }

    #[test]
    fn units_add_up_to_all_ticks() {
        let report = report(&sample(), &["back", "front"]);
        assert!(report.units.iter().all(|u| u.work + u.stall + u.idle == report.ticks));
        assert_eq!(report.units[0].stalls, [("QueueFull".to_owned(), 3)]);
        let parts: Vec<(&str, u64)> = report.phases[0].parts.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        assert_eq!(parts, [("front: Work", 4), ("back: Work", 4), ("nothing", 2)]);
    }

    #[test]
    fn a_trace_comes_back_from_json() {
        let trace = sample();
        let mut bytes = Vec::new();
        crate::chrome::write(&trace, &mut bytes).unwrap();
        assert_eq!(crate::chrome::read(&bytes).unwrap(), trace);
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let spans = events.iter().filter(|e| e["ph"] == "X").count();
        assert_eq!(spans, trace.tracks.iter().map(|t| t.spans.len()).sum::<usize>() + 1);
    }

    #[test]
    fn a_comparison_names_what_changed() {
        let (before, mut after) = (sample(), sample());
        after.tracks[1].spans[0].ticks += 2;
        after.tracks[1].spans.pop();
        let changes = compare(&before, &after).changes;
        assert_eq!(changes.len(), 2);
        assert_eq!((changes[0].event.as_str(), changes[0].before, changes[0].after), ("Work", 4, 6));
    }

    #[test]
    fn a_timeline_shows_what_was_done_most() {
        let svg = crate::svg::draw(&sample(), 0, 0);
        // The ground, the spans of both tracks, the legend of three events and of idle.
        assert_eq!(svg.matches("<rect").count(), 1 + 3 + 2 + 3 + 1);
        // The axis has its unit, and a line at each time.
        assert!(svg.contains("time, µs") && svg.contains("blank: idle"));
        assert!(svg.matches("<path").count() > 3, "{svg}");
    }
}
