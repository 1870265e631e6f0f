//! The critical path of a trace: from the last tick back to the first, which unit the end waited for.
//!
//! The walk starts at the last thing that happened. Where a unit works, or waits for something of its own, the path stays
//! with it. Where it waits for another unit, the path goes on at that unit, in the tick in which the wait ended; where it
//! has nothing to do, at the unit that gave it something to do. So the path's ticks add up to the trace's, and shortening
//! what is not on it saves nothing.

use crate::{Kind, Span, Trace, Track};
use serde::Serialize;
use std::fmt;

/// How the units of a machine depend on each other.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    /// Where the path ends up at last: the unit that the end of a run waits for.
    pub last: &'static str,
    /// A unit's event that means waiting for others, and these.
    pub waits: &'static [(&'static str, &'static str, &'static [&'static str])],
    /// A unit, and those that give it work.
    pub feeds: &'static [(&'static str, &'static [&'static str])],
    /// Units that are alike, and what they are called together.
    pub groups: &'static [(&'static str, &'static str)],
}

impl Links {
    /// What a unit is called on paths: the name of its group, or its own.
    pub fn group<'a>(&self, unit: &'a str) -> &'a str {
        self.groups.iter().find(|(member, _)| *member == unit).map_or(unit, |&(_, group)| group)
    }
}

/// A share of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The unit or group of units; [`HOST`] where no unit has anything to do.
    pub unit: String,
    /// What it did; empty for the host.
    pub event: String,
    /// Ticks.
    pub ticks: u64,
}

impl Part {
    /// The unit and what it did, as one would say it.
    pub fn name(&self) -> String {
        if self.event.is_empty() { self.unit.clone() } else { format!("{}: {}", self.unit, self.event) }
    }
}

/// What a run hung on, the largest part first. The ticks add up to those of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Ticks of the run.
    pub ticks: u64,
    /// The parts; equal ones by name.
    pub parts: Vec<Part>,
}

/// Stands for the host in paths: the machine has nothing to do.
pub const HOST: &str = "host";

/// What grew or shrank on the path of a second run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shift {
    /// The unit or group of units.
    pub unit: String,
    /// What it did.
    pub event: String,
    /// Ticks on the first path.
    pub before: u64,
    /// Ticks on the second.
    pub after: u64,
}

/// The critical path of the ticks from `from` to `to` (all of the trace for `0..u64::MAX`).
pub fn critical(trace: &Trace, links: &Links, from: u64, to: u64) -> Path {
    let to = to.min(trace.ticks);
    let from = from.min(to);
    let mut parts: Vec<(Option<(usize, u16)>, u64)> = Vec::new();
    let mut walk = Walk::new(trace, links);
    let mut tick = to;
    while tick > from {
        let (blamed, start) = walk.back(tick);
        let start = start.clamp(from, tick - 1);
        match parts.iter_mut().find(|part| part.0 == blamed) {
            Some(part) => part.1 += tick - start,
            None => parts.push((blamed, tick - start)),
        }
        tick = start;
    }
    let mut named: Vec<Part> = Vec::new();
    for (blamed, ticks) in parts {
        let (unit, event) = match blamed {
            Some((track, event)) => (links.group(&trace.tracks[track].name), trace.event_name(event)),
            None => (HOST, ""),
        };
        match named.iter_mut().find(|part| part.unit == unit && part.event == event) {
            Some(part) => part.ticks += ticks,
            None => named.push(Part { unit: unit.into(), event: event.into(), ticks }),
        }
    }
    named.sort_by(|a, b| b.ticks.cmp(&a.ticks).then_with(|| (&a.unit, &a.event).cmp(&(&b.unit, &b.event))));
    Path { ticks: to - from, parts: named }
}

/// What makes two runs differ, the largest difference first.
pub fn compare(before: &Path, after: &Path) -> Vec<Shift> {
    let mut shifts: Vec<Shift> = before
        .parts
        .iter()
        .map(|p| Shift { unit: p.unit.clone(), event: p.event.clone(), before: p.ticks, after: 0 })
        .collect();
    for part in &after.parts {
        match shifts.iter_mut().find(|s| s.unit == part.unit && s.event == part.event) {
            Some(shift) => shift.after = part.ticks,
            None => shifts.push(Shift {
                unit: part.unit.clone(),
                event: part.event.clone(),
                before: 0,
                after: part.ticks,
            }),
        }
    }
    shifts.retain(|s| s.before != s.after);
    shifts.sort_by_key(|s| std::cmp::Reverse(s.before.abs_diff(s.after)));
    shifts
}

/// Where the walk stands.
struct Walk<'t> {
    trace: &'t Trace,
    /// Of each track: for each event whether it means waiting for others, and for whom.
    waits: Vec<Vec<Vec<usize>>>,
    /// Of each track: who gives it work.
    feeds: Vec<Vec<usize>>,
    /// The unit that the path is at.
    at: usize,
    last: usize,
}

impl<'t> Walk<'t> {
    fn new(trace: &'t Trace, links: &Links) -> Walk<'t> {
        let track = |name: &str| trace.tracks.iter().position(|t| t.name == name);
        let tracks = |names: &[&str]| names.iter().filter_map(|n| track(n)).collect::<Vec<_>>();
        let mut waits = vec![vec![Vec::new(); trace.events.len()]; trace.tracks.len()];
        for (unit, event, others) in links.waits {
            let event = trace.events.iter().position(|(name, _)| name == event);
            if let Some((of_unit, event)) = track(unit).and_then(|n| waits.get_mut(n)).zip(event) {
                of_unit[event] = tracks(others);
            }
        }
        let mut feeds = vec![Vec::new(); trace.tracks.len()];
        for (unit, others) in links.feeds {
            if let Some(of_unit) = track(unit).and_then(|n| feeds.get_mut(n)) {
                *of_unit = tracks(others);
            }
        }
        let last = track(links.last).unwrap_or(0);
        Walk { trace, waits, feeds, at: last, last }
    }

    /// The unit and event that tick `tick - 1` hangs on, and the first tick that hangs on the same.
    fn back(&mut self, tick: u64) -> (Option<(usize, u16)>, u64) {
        // Each step goes to another unit; units that wait for each other in a ring end it.
        for _ in 0..=self.trace.tracks.len() {
            let Some(track) = self.trace.tracks.get(self.at) else { break };
            let next = match span_at(track, tick - 1) {
                Some(span) => {
                    let others = &self.waits[self.at][usize::from(span.event)];
                    match self.released_by(others, tick) {
                        Some(other) => other,
                        None => return (Some((self.at, span.event)), span.start),
                    }
                }
                None => match self.released_by(&self.feeds[self.at], tick) {
                    Some(other) => other,
                    None => break,
                },
            };
            if next == self.at {
                break;
            }
            self.at = next;
        }
        self.outside(tick)
    }

    /// Which of some units had something to do before `tick` and ended that last, at `tick` rather than after it.
    fn released_by(&self, units: &[usize], tick: u64) -> Option<usize> {
        let rank = |&unit: &usize| {
            let track = self.trace.tracks.get(unit)?;
            let span = last_before(track, tick)?;
            let ended = span.end() <= tick && span_at(track, tick).is_none();
            let works = self.trace.kind(span.event) == Kind::Work;
            let active = span.end().min(tick);
            Some((active, ended, works))
        };
        // The first of equal ones: `max_by_key` gives the last.
        units.iter().rev().copied().filter(|unit| rank(unit).is_some()).max_by_key(|unit| rank(unit))
    }

    /// No unit to blame: the path goes to whichever unit was active last, and from there on; without one to the host.
    fn outside(&mut self, tick: u64) -> (Option<(usize, u16)>, u64) {
        self.at = self.last;
        let active = |track: &Track| last_before(track, tick).map(|span| (span.end().min(tick), *span));
        let tracks = self.trace.tracks.iter().enumerate().rev();
        let last = tracks.filter_map(|(n, track)| Some((active(track)?, n))).max_by_key(|((end, _), _)| *end);
        match last {
            Some(((end, span), n)) if end == tick => {
                self.at = n;
                (Some((n, span.event)), span.start)
            }
            Some(((end, _), _)) => (None, end),
            None => (None, 0),
        }
    }
}

/// The span that covers a tick.
fn span_at(track: &Track, tick: u64) -> Option<&Span> {
    let span = track.spans.get(track.spans.partition_point(|s| s.end() <= tick))?;
    (span.start <= tick).then_some(span)
}

/// The last span that begins before a tick.
fn last_before(track: &Track, tick: u64) -> Option<&Span> {
    track.spans.get(track.spans.partition_point(|s| s.start < tick).checked_sub(1)?)
}

/// Parts of the text form.
const PARTS: usize = 12;

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |ticks: u64| 100.0 * ticks as f64 / self.ticks.max(1) as f64;
        writeln!(f, "{:<20} {:<20} {:>10} {:>7}", "critical path", "what it does", "ticks", "share")?;
        for Part { unit, event, ticks } in self.parts.iter().take(PARTS) {
            writeln!(f, "{unit:<20} {event:<20} {ticks:>10} {:>5.1} %", percent(*ticks))?;
        }
        let rest: u64 = self.parts.iter().skip(PARTS).map(|p| p.ticks).sum();
        if rest > 0 {
            writeln!(f, "{:<20} {:<20} {rest:>10} {:>5.1} %", "others", "", percent(rest))?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::tests::sample;

    pub(crate) const LINKS: Links = Links {
        last: "back",
        waits: &[("front", "QueueFull", &["back"])],
        feeds: &[("back", &["front"])],
        groups: &[("back", "consumer")],
    };

    #[test]
    fn a_path_follows_who_is_waited_for() {
        let path = critical(&sample(), &LINKS, 0, u64::MAX);
        let parts: Vec<(&str, &str, u64)> =
            path.parts.iter().map(|p| (p.unit.as_str(), p.event.as_str(), p.ticks)).collect();
        // Back: front ends its last work at 8; it worked from 6, when `back` made room, which worked from 2 on what
        // front made in 0 and 1.
        assert_eq!(parts, [("consumer", "Work", 4), ("front", "Work", 4), (HOST, "", 2)]);
        assert_eq!(path.parts.iter().map(|p| p.ticks).sum::<u64>(), path.ticks);
    }

    #[test]
    fn a_part_of_a_run_has_a_path_of_its_own() {
        let path = critical(&sample(), &LINKS, 1, 7);
        assert_eq!(path.ticks, 6);
        assert_eq!(path.parts.iter().map(|p| p.ticks).sum::<u64>(), 6);
    }

    #[test]
    fn rings_of_waits_and_unknown_names_end() {
        let ring = Links {
            last: "nobody",
            waits: &[("front", "Work", &["back"]), ("back", "Work", &["front"])],
            feeds: &[("front", &["back"]), ("back", &["front", "nobody"])],
            groups: &[],
        };
        let path = critical(&sample(), &ring, 0, u64::MAX);
        assert_eq!(path.parts.iter().map(|p| p.ticks).sum::<u64>(), 10);
    }

    #[test]
    fn what_differs_is_named() {
        let before = critical(&sample(), &LINKS, 0, u64::MAX);
        let mut after = before.clone();
        after.parts[0].ticks += 3;
        let shifts = compare(&before, &after);
        assert_eq!(shifts.len(), 1);
        assert_eq!((shifts[0].before, shifts[0].after), (4, 7));
    }
}
