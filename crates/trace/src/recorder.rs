//! Merges what units report.

use crate::{Counter, Inconsistent, Kind, Phase, Schema, Span, Trace, Track};

/// A track that is recorded: its last event is not among the spans yet.
#[derive(Clone, Debug)]
struct Open {
    event: u16,
    start: u64,
    end: u64,
}

/// Records events, counters and phases. What is recorded grows with the number of changes, not of ticks.
#[derive(Clone, Debug)]
pub struct Recorder {
    schema: &'static Schema,
    clock_hz: u64,
    now: u64,
    open: Vec<Open>,
    tracks: Vec<Track>,
    counters: Vec<Counter>,
    phases: Vec<Phase>,
}

impl Recorder {
    /// A recorder at tick 0. Event 0 of the schema is what tracks start with.
    pub fn new(schema: &'static Schema, clock_hz: u64, tracks: &[&str], counters: &[&str]) -> Recorder {
        Recorder {
            schema,
            clock_hz: clock_hz.max(1),
            now: 0,
            open: vec![Open { event: 0, start: 0, end: 0 }; tracks.len()],
            tracks: tracks
                .iter()
                .map(|&name| Track { name: name.into(), spans: Vec::new(), idle: 0 })
                .collect(),
            counters: counters
                .iter()
                .map(|&name| Counter { name: name.into(), samples: Vec::new() })
                .collect(),
            phases: Vec::new(),
        }
    }

    /// A recorder that goes on where `trace` ends, as if that had never been finished. The other arguments are those
    /// it was recorded with.
    ///
    /// # Errors
    /// A trace of another machine, or one that contradicts itself.
    pub fn resume(
        schema: &'static Schema,
        clock_hz: u64,
        tracks: &[&str],
        counters: &[&str],
        trace: Trace,
    ) -> Result<Recorder, Inconsistent> {
        trace.check()?;
        let events = trace.events.iter().map(|(name, kind)| (name.as_str(), *kind));
        let same = trace.process == schema.process
            && trace.clock_hz == clock_hz.max(1)
            && events.eq(schema.events.iter().copied())
            && trace.tracks.iter().map(|t| t.name.as_str()).eq(tracks.iter().copied())
            && trace.counters.iter().map(|c| c.name.as_str()).eq(counters.iter().copied());
        if !same {
            return Err(Inconsistent("it is of another machine"));
        }
        let now = trace.ticks;
        let Trace { mut tracks, counters, phases, .. } = trace;
        // What a track did last may go on.
        let open = tracks
            .iter_mut()
            .map(|track| match track.spans.pop_if(|span| span.end() == now) {
                Some(Span { start, event, .. }) => Open { event, start, end: now },
                None => Open { event: 0, start: now, end: now },
            })
            .collect();
        Ok(Recorder { schema, clock_hz: clock_hz.max(1), now, open, tracks, counters, phases })
    }

    /// The tick that comes next.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// `track` does `event` for `ticks` ticks after what it did before. Unknown tracks are ignored.
    #[inline]
    pub fn event(&mut self, track: usize, event: u16, ticks: u64) {
        let Some(open) = self.open.get_mut(track) else { return };
        if open.event == event {
            open.end += ticks;
            return;
        }
        let (start, end) = (open.end, open.end + ticks);
        let last = std::mem::replace(open, Open { event, start, end });
        self.close(track, &last);
    }

    fn close(&mut self, track: usize, open: &Open) {
        let ticks = open.end - open.start;
        let Some(track) = self.tracks.get_mut(track).filter(|_| ticks > 0) else { return };
        match self.schema.events.get(usize::from(open.event)) {
            Some((_, Kind::Idle)) => track.idle += ticks,
            _ => {
                let mut start = open.start;
                while start < open.end {
                    let ticks = u32::try_from(open.end - start).unwrap_or(u32::MAX);
                    track.spans.push(Span { start, ticks, event: open.event });
                    start += u64::from(ticks);
                }
            }
        }
    }

    /// `counter` has a value from the tick that comes next on. Unknown counters are ignored.
    #[inline]
    pub fn count(&mut self, counter: usize, value: i64) {
        let Some(counter) = self.counters.get_mut(counter) else { return };
        match counter.samples.last_mut() {
            Some(last) if last.1 == value => {}
            Some(last) if last.0 == self.now => last.1 = value,
            _ => counter.samples.push((self.now, value)),
        }
    }

    /// The last value of a counter.
    pub fn counted(&self, counter: usize) -> i64 {
        self.counters.get(counter).and_then(|c| c.samples.last()).map_or(0, |s| s.1)
    }

    /// A part of the run from `start` up to the tick that comes next.
    pub fn phase(&mut self, name: String, start: u64) {
        self.phases.push(Phase { name, start, end: self.now });
    }

    /// Ticks pass. Every track should have had events for as many.
    #[inline]
    pub fn advance(&mut self, ticks: u64) {
        self.now += ticks;
    }

    /// What is over of what was recorded since the last call; what tracks are doing, and the counters' last values, are in
    /// a later part. Parts in order are what [`finish`](Self::finish) gives at once, so that a run of any length is
    /// written in little memory ([`perfetto::Writer`](crate::perfetto::Writer)).
    pub fn part(&mut self) -> Trace {
        let tracks = self.tracks.iter_mut().map(|track| Track {
            name: track.name.clone(),
            spans: std::mem::take(&mut track.spans),
            idle: std::mem::take(&mut track.idle),
        });
        let tracks = tracks.collect();
        let counters = self.counters.iter_mut().map(|counter| {
            let last = counter.samples.pop();
            let samples = std::mem::replace(&mut counter.samples, last.into_iter().collect());
            Counter { name: counter.name.clone(), samples }
        });
        let counters = counters.collect();
        let phases = std::mem::take(&mut self.phases);
        self.trace(tracks, counters, phases)
    }

    /// What was recorded, since the last [`part`](Self::part) if there was one.
    pub fn finish(mut self) -> Trace {
        for (track, open) in self.open.clone().iter().enumerate() {
            self.close(track, open);
        }
        let (tracks, counters) = (std::mem::take(&mut self.tracks), std::mem::take(&mut self.counters));
        let phases = std::mem::take(&mut self.phases);
        self.trace(tracks, counters, phases)
    }

    fn trace(&self, tracks: Vec<Track>, counters: Vec<Counter>, mut phases: Vec<Phase>) -> Trace {
        phases.sort_by_key(|p| p.start);
        Trace {
            process: self.schema.process.into(),
            events: self.schema.events.iter().map(|&(name, kind)| (name.into(), kind)).collect(),
            clock_hz: self.clock_hz,
            ticks: self.now,
            tracks,
            counters,
            phases,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SCHEMA: Schema = Schema {
        process: "machine",
        events: &[("Idle", Kind::Idle), ("Work", Kind::Work), ("Stall", Kind::Stall)],
    };

    fn tick(recorder: &mut Recorder, n: u64) {
        for (track, period) in [(0, 3), (1, 5)] {
            recorder.event(track, (n / period % 3) as u16, 1);
        }
        recorder.count(0, (n / 4) as i64);
        recorder.advance(1);
        if n % 7 == 6 {
            recorder.phase("seven".into(), n - 6);
        }
    }

    #[test]
    fn parts_are_the_whole() {
        let new = || Recorder::new(&SCHEMA, 1000, &["a", "b"], &["c"]);
        let mut whole = new();
        (0..40).for_each(|n| tick(&mut whole, n));
        let whole = whole.finish();
        for every in 1..20 {
            let mut recorder = new();
            let mut parts = Vec::new();
            for n in 0..40 {
                tick(&mut recorder, n);
                if n % every == 0 {
                    parts.push(recorder.part());
                }
            }
            parts.push(recorder.finish());
            let mut all = parts.remove(0);
            for part in parts {
                part.check().unwrap();
                all.append(part);
            }
            assert_eq!(all, whole, "{every}");
        }
    }

    #[test]
    fn runs_of_more_ticks_than_a_span_has_are_several() {
        let ticks = 2 * u64::from(u32::MAX) + 5;
        let mut recorder = Recorder::new(&SCHEMA, 1000, &["a"], &[]);
        recorder.event(0, 1, ticks);
        recorder.event(0, 0, 3);
        recorder.advance(ticks + 3);
        let trace = recorder.finish();
        trace.check().unwrap();
        assert_eq!(trace.tracks[0].spans.len(), 3);
        assert_eq!(trace.totals(0), [3, ticks, 0]);
    }

    #[test]
    fn a_recording_goes_on_wherever_it_was_finished() {
        let new = || Recorder::new(&SCHEMA, 1000, &["a", "b"], &["c"]);
        let mut whole = new();
        (0..40).for_each(|n| tick(&mut whole, n));
        let whole = whole.finish();
        for pause in 0..40 {
            let mut first = new();
            (0..pause).for_each(|n| tick(&mut first, n));
            let mut second = Recorder::resume(&SCHEMA, 1000, &["a", "b"], &["c"], first.finish()).unwrap();
            (pause..40).for_each(|n| tick(&mut second, n));
            assert_eq!(second.finish(), whole, "{pause}");
        }
        assert!(Recorder::resume(&SCHEMA, 1000, &["a"], &["c"], whole).is_err());
    }
}
