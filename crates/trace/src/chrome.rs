//! Chrome's trace event format: JSON, times in microseconds.
//!
//! Source of the format: "Trace Event Format" (Chromium project). Each track is a thread of one process; phases are a
//! track of their own, as many as overlap. Ticks are in `otherData`, so that [`read`] gives the trace back exactly.

use crate::{Inconsistent, Trace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::{self, Write};
use thiserror::Error;

/// Why bytes are no trace of ours.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Not JSON, or not with our data.
    #[error("not a trace of this program: {0}")]
    Json(#[from] serde_json::Error),
    /// Ticks that contradict each other.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    other_data: Other<Trace, Value>,
}

#[derive(Serialize, Deserialize)]
struct Other<T, M> {
    xenoglot: T,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    more: Option<M>,
}

/// Microseconds with the nanoseconds as decimals.
fn micros(ns: u64) -> Value {
    match serde_json::Number::from_f64(ns as f64 / 1000.0) {
        Some(number) => Value::Number(number),
        None => Value::Null,
    }
}

/// A lane for each phase, so that phases in one lane do not overlap.
pub(crate) fn lanes(trace: &Trace) -> Vec<usize> {
    let mut ends: Vec<u64> = Vec::new();
    let mut place = |start: u64, end: u64| {
        let free = ends.iter().position(|&e| e <= start).unwrap_or(ends.len());
        match ends.get_mut(free) {
            Some(e) => *e = end,
            None => ends.push(end),
        }
        free
    };
    trace.phases.iter().map(|p| place(p.start, p.end)).collect()
}

/// Writes a trace.
///
/// # Errors
/// The writer's.
pub fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    write_with(trace, None::<()>, out)
}

/// As [`write`](fn@write), with a value of the machine's own beside the trace, such as its counters.
///
/// # Errors
/// The writer's.
pub fn write_with(trace: &Trace, more: Option<impl Serialize>, out: &mut impl Write) -> io::Result<()> {
    const PID: u32 = 1;
    out.write_all(b"{\"traceEvents\":[\n")?;
    let named = |what: &str, tid: usize, name: &str| {
        let args = json!({"name": name});
        json!({"ph": "M", "pid": PID, "tid": tid, "name": what, "args": args})
    };
    write!(out, "{}", named("process_name", 0, &trace.process))?;
    let mut event = |v: Value| write!(out, ",\n{v}");
    for (tid, track) in trace.tracks.iter().enumerate() {
        event(named("thread_name", tid + 1, &track.name))?;
        event(
            json!({"ph": "M", "pid": PID, "tid": tid + 1, "name": "thread_sort_index", "args": {"sort_index": tid}}),
        )?;
    }
    let lanes = lanes(trace);
    let first = trace.tracks.len() + 1;
    for lane in 0..lanes.iter().max().map_or(0, |m| m + 1) {
        event(named("thread_name", first + lane, &format!("phases {lane}")))?;
    }
    let span = |name: &str, tid: usize, start: u64, end: u64| {
        let (from, to) = (trace.nanoseconds(start), trace.nanoseconds(end));
        json!({"ph": "X", "pid": PID, "tid": tid, "ts": micros(from), "dur": micros(to - from), "name": name})
    };
    for (tid, track) in trace.tracks.iter().enumerate() {
        for s in &track.spans {
            event(span(trace.event_name(s.event), tid + 1, s.start, s.end()))?;
        }
    }
    for (phase, lane) in trace.phases.iter().zip(lanes) {
        event(span(&phase.name, first + lane, phase.start, phase.end.max(phase.start)))?;
    }
    for counter in &trace.counters {
        for &(tick, value) in &counter.samples {
            let ts = micros(trace.nanoseconds(tick));
            event(json!({"ph": "C", "pid": PID, "ts": ts, "name": counter.name, "args": {"value": value}}))?;
        }
    }
    out.write_all(b"\n],\"displayTimeUnit\":\"ns\",\"otherData\":")?;
    serde_json::to_writer(&mut *out, &Other { xenoglot: trace, more })?;
    out.write_all(b"}\n")
}

/// Reads a trace that [`write`](fn@write) wrote.
///
/// # Errors
/// Anything else.
pub fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    Ok(read_with(bytes)?.0)
}

/// As [`read`], with what [`write_with`] wrote beside the trace.
///
/// # Errors
/// Anything else.
pub fn read_with(bytes: &[u8]) -> Result<(Trace, Option<Value>), ReadError> {
    let file: File = serde_json::from_slice(bytes)?;
    let Other { xenoglot: trace, more } = file.other_data;
    trace.check()?;
    Ok((trace, more))
}
