//! Traces of runs: written while the machine runs where that can be done, so that a long animation takes little memory.

use crate::output;
use anyhow::Result;
use std::io::BufWriter;
use std::path::Path;
use xenoglot_dragon::host::Counters;
use xenoglot_output::Output;
use xenoglot_trace::{Trace, chrome, perfetto};

/// What of a run is traced.
#[derive(Clone, Copy)]
pub struct Window {
    /// Ticks, the second one not included.
    pub ticks: (u64, u64),
    /// Every n-th frame, from the first on.
    pub every: u32,
}

impl Window {
    fn has(self, frame: u32) -> bool {
        frame.is_multiple_of(self.every.max(1))
    }

    /// What of a part of a run's trace is in the window.
    pub fn clip(self, mut trace: Trace) -> Trace {
        trace.clip(self.ticks.0, self.ticks.1);
        trace
    }
}

/// A trace in Perfetto's packets that grows with each frame.
pub struct Stream<'p> {
    path: &'p Path,
    writer: perfetto::Writer<BufWriter<Output>>,
    window: Window,
}

/// Whether a trace's format is one that can be written part by part.
pub fn streams(path: &Path) -> bool {
    path.extension().is_none_or(|e| e != "json")
}

impl<'p> Stream<'p> {
    /// Begins the file; units and counters are those of a trace of the machine.
    pub fn start(path: &'p Path, like: &Trace, window: Window) -> Result<Stream<'p>> {
        let out = BufWriter::new(output::create(path)?);
        Ok(Stream { path, writer: perfetto::Writer::new(out, like)?, window })
    }

    /// Adds what the machine did in a frame.
    pub fn push(&mut self, trace: Trace, frame: u32) -> Result<()> {
        match self.window.has(frame) {
            true => Ok(self.writer.push(&self.window.clip(trace))?),
            false => Ok(()),
        }
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        output::finish(self.writer.finish()?)?;
        tracing::info!(file = %self.path.display(), "written");
        Ok(())
    }
}

/// Writes a whole trace in the format of its name; JSON has the counters beside it.
pub fn write(path: &Path, trace: &Trace, counters: Option<&Counters>) -> Result<()> {
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|e| e == "json") {
        chrome::write_with(trace, counters, &mut bytes)?;
    } else {
        perfetto::write(trace, &mut bytes)?;
    }
    output::write(path, &bytes)
}
