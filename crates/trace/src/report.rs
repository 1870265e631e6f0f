//! What a trace says: how busy units are, what they wait for, which unit each phase hangs on, what changed between two
//! traces.

use crate::path::{self, Links, Part, Path, Shift};
use crate::{Kind, Trace};
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
    /// Its critical path, most ticks first. The ticks add up to the phase's.
    pub parts: Vec<Part>,
}

/// A report on one trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Ticks of the trace.
    pub ticks: u64,
    /// Units in the order of the tracks.
    pub units: Vec<Unit>,
    /// What the run hung on.
    pub path: Path,
    /// Phases.
    pub phases: Vec<Critical>,
}

/// What a unit, or units that are alike together, did more or less of in a second trace.
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
    /// What differs on the critical path, the largest difference first: the causes. Their differences add up to that of the
    /// ticks.
    pub causes: Vec<Shift>,
    /// What differs at all, by unit and event, the largest difference first.
    pub changes: Vec<Change>,
}

/// Reads a trace of a machine whose units depend on each other as `links` say.
pub fn report(trace: &Trace, links: &Links) -> Report {
    let phase = |phase: &crate::Phase| Critical {
        phase: phase.name.clone(),
        ticks: phase.end - phase.start,
        parts: path::critical(trace, links, phase.start, phase.end).parts,
    };
    Report {
        ticks: trace.ticks,
        units: units(trace),
        path: path::critical(trace, links, 0, trace.ticks),
        phases: trace.phases.iter().map(phase).collect(),
    }
}

/// How busy the units were, in the order of the tracks.
pub fn units(trace: &Trace) -> Vec<Unit> {
    (0..trace.tracks.len()).map(|n| unit(trace, n)).collect()
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

/// Compares two traces by names: what grew and shrank on their critical paths, and in all.
pub fn compare(before: &Trace, after: &Trace, links: &Links) -> Comparison {
    let totals = |trace: &Trace| -> Vec<(String, String, u64)> {
        let mut all: Vec<(String, String, u64)> = Vec::new();
        for (n, track) in trace.tracks.iter().enumerate() {
            let unit = links.group(&track.name);
            for (event, ticks) in (0..).zip(trace.totals(n)).filter(|t| t.1 > 0) {
                let event = trace.event_name(event);
                match all.iter_mut().find(|(u, e, _)| u == unit && e == event) {
                    Some(known) => known.2 += ticks,
                    None => all.push((unit.into(), event.into(), ticks)),
                }
            }
        }
        all
    };
    let path = |trace: &Trace| path::critical(trace, links, 0, trace.ticks);
    let causes = path::compare(&path(before), &path(after));
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
    Comparison { before: before.ticks, after: after.ticks, causes, changes }
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
        write!(f, "\n{}", self.path)?;
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
                .map(|p| format!("{} {:.0} %", p.name(), percent(p.ticks, phase.ticks)))
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
        let row = |f: &mut fmt::Formatter<'_>, unit: &str, event: &str, before: u64, after: u64| {
            let signed = i128::from(after) - i128::from(before);
            writeln!(f, "{unit:<20} {event:<20} {before:>10} → {after:>10} {signed:>+10}")
        };
        writeln!(f, "on the critical path")?;
        for c in &self.causes {
            row(f, &c.unit, &c.event, c.before, c.after)?;
        }
        writeln!(f, "\nin all")?;
        for c in &self.changes {
            row(f, &c.unit, &c.event, c.before, c.after)?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::path::tests::LINKS;
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
        let report = report(&sample(), &LINKS);
        assert!(report.units.iter().all(|u| u.work + u.stall + u.idle == report.ticks));
        assert_eq!(report.units[0].stalls, [("QueueFull".to_owned(), 3)]);
        // The sample's only phase is the whole run.
        assert_eq!(report.phases[0].parts, report.path.parts);
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
        let comparison = compare(&before, &after, &LINKS);
        let changes = comparison.changes;
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
