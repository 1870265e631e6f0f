//! What a device's driver takes for shaders: each is compiled and its test run, in a worker process without the driver's own
//! cache. The round trip to the worker and buffers are in it, which a shader that does nothing shows.

use crate::commands::run::device;
use anyhow::{Context as _, Result};
use std::path::Path;
use std::time::{Duration, Instant};
use xenoglot_conformance::dxil::{format, job};
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand};

/// The largest modules that are given to the driver: lavapipe takes minutes for some that are larger.
const MOST_WORDS: usize = 8192;
/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A device.
pub struct Driver {
    device: Isolated,
    /// Its name.
    pub name: String,
    repetitions: usize,
}

impl Driver {
    /// The device that the environment selects, or the first; none if there is none.
    pub fn open(quick: bool) -> Result<Option<Driver>> {
        // Mesa would not compile the second time (its documentation, "Environment Variables").
        let worker = WorkerCommand::this_program()?.env("MESA_SHADER_CACHE_DISABLE", "true");
        let options = IsolatedOptions { timeout: PATIENCE, ..IsolatedOptions::default() };
        let repetitions = if quick { 2 } else { 7 };
        let found = device::select(worker, options).ok();
        Ok(found.map(|(device, info)| Driver { device, name: info.name, repetitions }))
    }

    /// Milliseconds to compile each of several modules and run the test beside a container on it: the fastest of
    /// repetitions, in turns. None of those that are too large or that the device does not take, or if there is no test.
    pub fn measure<const N: usize>(
        &mut self,
        container: &Path,
        modules: [Option<Vec<u32>>; N],
    ) -> Result<[Option<f64>; N]> {
        let test = container.with_extension("test");
        if !test.is_file() {
            return Ok([None; N]);
        }
        let text = std::fs::read_to_string(&test).with_context(|| test.display().to_string())?;
        let test = format::parse(&test, &text)?;
        let mut jobs = modules.map(|module| module.filter(|m| m.len() <= MOST_WORDS).map(|m| job(&test, m)));
        let mut best = [None; N];
        for _ in 0..self.repetitions {
            for (wanted, best) in jobs.iter_mut().zip(&mut best) {
                let Some(job) = wanted else { continue };
                let start = Instant::now();
                if self.device.run(job).is_err() {
                    (*wanted, *best) = (None, None);
                    continue;
                }
                let took = start.elapsed().as_secs_f64() * 1e3;
                *best = Some(best.map_or(took, |before: f64| before.min(took)));
            }
        }
        Ok(best)
    }
}
