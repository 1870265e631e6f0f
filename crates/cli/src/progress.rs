//! Progress of a long command, on standard error: a bar on a terminal, elsewhere a line every few seconds.
//!
//! Whoever reads a log, or waits for a job on a server, sees that the command is alive and how far it is. Commands that
//! end before the first line is due print nothing.

use crate::print;
use indicatif::{ProgressBar, ProgressStyle};
use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The variable with the seconds between two lines: 5 if it is not set, no lines if it is 0.
const INTERVAL: &str = "XENOGLOT_PROGRESS";

/// How many of a number of steps are done. Dropping it removes the bar.
pub struct Progress {
    /// Counts, and draws where standard error is a terminal.
    bar: ProgressBar,
    /// Prints the lines elsewhere.
    ticker: Option<Ticker>,
}

/// A thread that prints a line at each interval until it is dropped.
struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// For `total` steps; more can be added.
    pub fn new(total: usize) -> Progress {
        // Of a single step there is nothing to draw.
        let bar = if total == 1 { ProgressBar::hidden() } else { ProgressBar::no_length() };
        bar.set_length(total as u64);
        let style = ProgressStyle::with_template("{bar:40.cyan/dim} {pos}/{len}  {elapsed} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let ticker = match interval() {
            Some(interval) if !io::stderr().is_terminal() => Some(Ticker::start(bar.clone(), interval)),
            _ => None,
        };
        Progress { bar, ticker }
    }

    /// There are `steps` more.
    pub fn add_total(&self, steps: usize) {
        self.bar.inc_length(steps as u64);
    }

    /// A step is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// What is said beside the numbers.
    pub fn say(&self, message: impl Into<Cow<'static, str>>) {
        self.bar.set_message(message);
    }

    /// Does what may write to the terminal, without the bar in its way.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.ticker.take());
        self.bar.finish_and_clear();
    }
}

/// Time between two lines, unless there are to be none.
fn interval() -> Option<Duration> {
    let seconds = std::env::var(INTERVAL).ok().and_then(|value| value.parse::<f64>().ok()).unwrap_or(5.0);
    Duration::try_from_secs_f64(seconds).ok().filter(|interval| !interval.is_zero())
}

impl Ticker {
    fn start(bar: ProgressBar, interval: Duration) -> Ticker {
        let (stop, stopped) = channel();
        let print = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                print::note(line(&bar));
            }
        };
        // Without a thread the command goes on in silence.
        let thread = thread::Builder::new().name("progress".into()).spawn(print).ok();
        Ticker { stop: Some(stop), thread }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// `progress: 12 of 400, 3 %, 35 s`, with the message behind it.
fn line(bar: &ProgressBar) -> String {
    let (done, total) = (bar.position(), bar.length().unwrap_or(0));
    let percent = if total == 0 { 0 } else { u128::from(done) * 100 / u128::from(total) };
    let message = bar.message();
    let gap = if message.is_empty() { "" } else { ", " };
    format!("progress: {done} of {total}, {percent} %, {} s{gap}{message}", bar.elapsed().as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_steps_and_message() {
        let bar = ProgressBar::hidden();
        assert_eq!(line(&bar), "progress: 0 of 0, 0 %, 0 s");
        bar.set_length(8);
        bar.inc(2);
        bar.set_message("1 not as expected");
        assert_eq!(line(&bar), "progress: 2 of 8, 25 %, 0 s, 1 not as expected");
    }

    #[test]
    fn a_ticker_ends_when_it_is_dropped() {
        drop(Ticker::start(ProgressBar::hidden(), Duration::from_secs(3600)));
    }
}
