//! Traces of runs: written while the machine runs where that can be done, so that a long animation takes little memory.

use crate::output;
use anyhow::{Context, Result};
use std::io::BufWriter;
use std::path::Path;
use xenoglot_dragon::Machine;
use xenoglot_output::{Durability, Output};
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
    /// Begins the file, and the machine's recording if it does not record yet.
    pub fn start(path: &'p Path, machine: &mut Machine, window: Window) -> Result<Stream<'p>> {
        if !machine.is_traced() {
            machine.start_trace();
        }
        let part = machine.take_trace_part().context("the machine records nothing")?;
        let out = BufWriter::new(output::create(path)?);
        let mut writer = perfetto::Writer::new(out, &part)?;
        writer.push(&window.clip(part))?;
        Ok(Stream { path, writer, window })
    }

    /// Adds what the machine did in a frame.
    pub fn push(&mut self, machine: &mut Machine, frame: u32) -> Result<()> {
        match machine.take_trace_part() {
            Some(part) if self.window.has(frame) => Ok(self.writer.push(&self.window.clip(part))?),
            _ => Ok(()),
        }
    }

    /// Adds the rest, and puts the file in its place.
    pub fn finish(mut self, machine: &mut Machine, frame: u32) -> Result<()> {
        if let Some(rest) = machine.take_trace().filter(|_| self.window.has(frame)) {
            self.writer.push(&self.window.clip(rest))?;
        }
        let out = self.writer.finish()?.into_inner().map_err(|e| e.into_error())?;
        out.finish(Durability::Cached)?;
        tracing::info!(file = %self.path.display(), "written");
        Ok(())
    }
}

/// Writes a whole trace in the format of its name.
pub fn write(path: &Path, trace: &Trace) -> Result<()> {
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|e| e == "json") {
        chrome::write(trace, &mut bytes)?;
    } else {
        perfetto::write(trace, &mut bytes)?;
    }
    output::write(path, &bytes)
}
