//! A timeline as a picture: a row for each track, a column for equal parts of the time.
//!
//! A cell has the colour of what the track did most in that part; idle stays blank. The picture's size does not grow
//! with the trace.

use crate::{Kind, Trace};
use std::fmt::Write;

const LABEL: usize = 150;
const ROW: usize = 18;
const TOP: usize = 40;
/// Room on the right, for the last time of the axis.
const MARGIN: usize = 30;
/// Most times on the axis.
const MAX_MARKS: usize = 32;
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

/// A step of 1, 2 or 5 times a power of ten that has up to ten multiples in `length`.
fn axis_step(length: f64) -> f64 {
    let power = 10f64.powf((length / 10.0).max(f64::MIN_POSITIVE).log10().floor());
    let steps = [power, 2.0 * power, 5.0 * power];
    steps.into_iter().find(|step| length / step <= 10.0).unwrap_or(10.0 * power)
}

/// The time axis: a line down the rows at round times, and the times above, in microseconds.
fn axis(out: &mut String, from: f64, to: f64, bottom: usize) {
    let length = (to - from).max(f64::MIN_POSITIVE);
    let step = axis_step(length);
    let first = (from / step).ceil() as u64;
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    for time in (first..).map(|n| n as f64 * step).take_while(|&time| time <= to).take(MAX_MARKS) {
        let x = LABEL as f64 + (time - from) / length * COLUMNS as f64;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {}V{bottom}\" stroke=\"#ccc\"/>\n\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{time:.digits$}</text>",
            TOP - 4,
            TOP - 8
        );
    }
}

/// Draws the ticks `from` up to but without `to`; all of them for an empty range. Times are in microseconds; below the
/// rows is a legend of the events that occur.
pub fn draw(trace: &Trace, from: u64, to: u64) -> String {
    let to = to.min(trace.ticks);
    let (from, to) = if from < to { (from, to) } else { (0, trace.ticks) };
    let us = |tick| trace.nanoseconds(tick) as f64 / 1000.0;
    let bottom = TOP + ROW * trace.tracks.len();
    let mut rows = String::new();
    axis(&mut rows, us(from), us(to), bottom);
    let mut used = vec![false; trace.events.len()];
    for (n, track) in trace.tracks.iter().enumerate() {
        let y = TOP + n * ROW;
        // Writing to a String cannot fail.
        let _ = writeln!(rows, "<text x=\"4\" y=\"{}\">{}</text>", y + 13, escaped(&track.name));
        let cells = cells(trace, n, from, to);
        let mut start = 0;
        for part in cells.chunk_by(|a, b| a == b) {
            let event = part[0];
            if trace.kind(event) != Kind::Idle {
                let (x, width) = (LABEL + start, part.len());
                let (fill, y, height) = (color(trace, event), y + 2, ROW - 4);
                let _ = writeln!(
                    rows,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
                );
                if let Some(used) = used.get_mut(usize::from(event)) {
                    *used = true;
                }
            }
            start += part.len();
        }
    }
    let bottom = legend(&mut rows, trace, &used, bottom + ROW);
    let width = LABEL + COLUMNS + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        bottom + ROW / 2
    );
    let _ = writeln!(out, "<text x=\"4\" y=\"14\">ticks {from} to {to}</text>");
    let _ =
        writeln!(out, "<text x=\"{}\" y=\"14\" text-anchor=\"middle\">time, µs</text>", LABEL + COLUMNS / 2);
    out.push_str(&rows);
    out.push_str("</svg>\n");
    out
}

/// The colours of the events that are drawn, in lines that fit the picture; the end of the last one.
fn legend(out: &mut String, trace: &Trace, used: &[bool], top: usize) -> usize {
    let (mut x, mut y) = (4, top);
    let drawn = (0..).zip(&trace.events).zip(used).filter(|&(_, &used)| used);
    let colored = drawn.map(|((event, (name, _)), _)| (color(trace, event), name.as_str()));
    for (fill, name) in colored.chain([("white", "blank: idle")]) {
        let width = 22 + 7 * name.chars().count();
        if x > 4 && x + width > LABEL + COLUMNS {
            (x, y) = (4, y + ROW);
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{fill}\" stroke=\"#999\" stroke-width=\"0.5\"/>\n\
             <text x=\"{}\" y=\"{y}\">{}</text>",
            y - 9,
            x + 14,
            escaped(name)
        );
        x += width;
    }
    y
}
