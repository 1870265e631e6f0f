//! A timeline as a picture: a row for each track, a column for equal parts of the time.
//!
//! A cell has the colour of what the track did most in that part; idle stays blank. The picture's size does not grow
//! with the trace.

use crate::{Kind, Trace};
use std::fmt::Write;

const LABEL: usize = 150;
const ROW: usize = 18;
const TOP: usize = 24;
/// Columns of the timeline, a pixel each.
pub const COLUMNS: usize = 1000;

/// Colours of events by number: greens and blues for work, reds and yellows for stalls.
const WORK: [&str; 10] = [
    "#2a9d8f", "#3a7ca5", "#90be6d", "#264653", "#7a9e3f", "#4d6cfa", "#00bbf9", "#5e60ce", "#006d77",
    "#a8dadc",
];
const STALL: [&str; 10] = [
    "#e76f51", "#f4a261", "#e9c46a", "#c1121f", "#b56576", "#ff8fab", "#fee440", "#9d0208", "#bc6c25",
    "#ffb4a2",
];

fn color(trace: &Trace, event: u16) -> &'static str {
    let kind = trace.kind(event);
    let before = (0..event).filter(|&e| trace.kind(e) == kind).count();
    match kind {
        Kind::Work => WORK[before % WORK.len()],
        _ => STALL[before % STALL.len()],
    }
}

/// Text with the characters that mean something to XML replaced.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What a track did most in each of [`COLUMNS`] parts of `from..to`.
fn cells(trace: &Trace, track: usize, from: u64, to: u64) -> Vec<u16> {
    let length = u128::from(to - from).max(1);
    let tick = |column: usize| from + (length * column as u128 / COLUMNS as u128) as u64;
    let Some(track) = trace.tracks.get(track) else { return Vec::new() };
    let mut next = track.spans.partition_point(|s| s.end() <= from);
    let mut totals = vec![0u64; trace.events.len()];
    (0..COLUMNS)
        .map(|column| {
            // A column of less than a tick shows that tick.
            let (start, end) = (tick(column), tick(column + 1).max(tick(column) + 1));
            totals.fill(0);
            let mut left = end - start;
            while let Some(s) = track.spans.get(next).filter(|s| s.start < end) {
                let ticks = s.end().min(end).saturating_sub(s.start.max(start));
                if let Some(total) = totals.get_mut(usize::from(s.event)) {
                    *total += ticks;
                }
                left -= ticks;
                if s.end() > tick(column + 1) {
                    break;
                }
                next += 1;
            }
            let most = (0..).zip(&totals).max_by_key(|&(n, &ticks)| (ticks, std::cmp::Reverse(n)));
            most.filter(|&(_, &ticks)| ticks > 0 && ticks >= left).map_or(0, |(n, _)| n)
        })
        .collect()
}

/// Draws the ticks `from` up to but without `to`; all of them for an empty range.
pub fn draw(trace: &Trace, from: u64, to: u64) -> String {
    let to = to.min(trace.ticks);
    let (from, to) = if from < to { (from, to) } else { (0, trace.ticks) };
    let height = TOP + ROW * (trace.tracks.len() + 2);
    let width = LABEL + COLUMNS + 10;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let us = |tick| trace.nanoseconds(tick) as f64 / 1000.0;
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<text x=\"{LABEL}\" y=\"14\">{} µs – {} µs, ticks {from} to {to}</text>",
        us(from),
        us(to)
    );
    let mut used = vec![false; trace.events.len()];
    for (n, track) in trace.tracks.iter().enumerate() {
        let y = TOP + n * ROW;
        let _ = writeln!(out, "<text x=\"4\" y=\"{}\">{}</text>", y + 13, escaped(&track.name));
        let cells = cells(trace, n, from, to);
        let mut start = 0;
        for part in cells.chunk_by(|a, b| a == b) {
            let event = part[0];
            if trace.kind(event) != Kind::Idle {
                let (x, width) = (LABEL + start, part.len());
                let (fill, y, height) = (color(trace, event), y + 2, ROW - 4);
                let _ = writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
                );
                if let Some(used) = used.get_mut(usize::from(event)) {
                    *used = true;
                }
            }
            start += part.len();
        }
    }
    let y = TOP + ROW * (trace.tracks.len() + 1);
    let mut x = 4;
    for (event, (name, _)) in (0..).zip(&trace.events).filter(|&(event, _)| used[usize::from(event)]) {
        let fill = color(trace, event);
        let _ = writeln!(out, "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{fill}\"/>", y - 9);
        let _ = writeln!(out, "<text x=\"{}\" y=\"{y}\">{}</text>", x + 14, escaped(name));
        x += 22 + 7 * name.len();
    }
    out.push_str("</svg>\n");
    out
}
