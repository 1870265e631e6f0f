//! Runs of one frame with different parameters, in parallel.

use super::counters::Counters;
use super::scene::{Animation, DemoError, Frame, Scene};
use crate::machine::Machine;
use crate::params::{ParamError, Params};
use crate::unit::LINKS;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use thiserror::Error;
use xenoglot_trace::path::{Path, critical};
use xenoglot_trace::report::{Unit, units};

/// A parameter and the values it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name as in TOML, with dots: `raster.row_skip`.
    pub name: String,
    /// Its values in TOML's syntax.
    pub values: Vec<String>,
}

/// One combination of values.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// A value for each axis.
    pub values: Vec<String>,
    /// What came of it.
    pub frame: Frame,
    /// Milliseconds at the parameters' clock.
    pub milliseconds: f64,
    /// How busy the units were.
    pub units: Vec<Unit>,
    /// What the frame hung on.
    pub path: Path,
    /// Hit rates, bandwidth and occupancy.
    pub counters: Counters,
}

/// Why a sweep does not run.
#[derive(Debug, Error)]
pub enum SweepError {
    /// A combination of parameters that is not possible.
    #[error("{combination}: {error}")]
    Param {
        /// The combination.
        combination: String,
        /// What is wrong with it.
        error: ParamError,
    },
    /// A frame that cannot be drawn.
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// More combinations than `MAX_COMBINATIONS`.
    #[error("more than {MAX_COMBINATIONS} combinations")]
    TooMany,
}

/// Most combinations of a sweep.
pub const MAX_COMBINATIONS: usize = 4096;

/// Draws one frame for each combination of the axes' values over the base parameters, the last axis changing fastest. The
/// frames have no checkerboard, which would follow the size of bins: pictures differ where the model does.
/// `done` is told how many of how many runs are over.
///
/// # Errors
/// The first combination that cannot be run.
pub fn sweep(
    animation: &dyn Animation,
    base: &Params,
    axes: &[Axis],
    frame: u32,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<SweepRow>, SweepError> {
    let mut combinations: Vec<Vec<String>> = vec![Vec::new()];
    for axis in axes {
        if combinations.len().saturating_mul(axis.values.len()) > MAX_COMBINATIONS {
            return Err(SweepError::TooMany);
        }
        let longer = |c: &Vec<String>| {
            axis.values.iter().map(|v| c.iter().chain([v]).cloned().collect()).collect::<Vec<Vec<String>>>()
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    let scene = Scene { checkerboard: false, ..animation.scene(frame) };
    let (runs, over) = (combinations.len(), AtomicUsize::new(0));
    let run = |values| {
        let row = run(&scene, base, axes, values)?;
        done(1 + over.fetch_add(1, Ordering::Relaxed), runs);
        Ok(row)
    };
    combinations.into_par_iter().map(run).collect()
}

fn run(scene: &Scene, base: &Params, axes: &[Axis], values: Vec<String>) -> Result<SweepRow, SweepError> {
    let assignments: Vec<String> =
        axes.iter().zip(&values).map(|(a, v)| format!("{} = {v}", a.name)).collect();
    let wrong = |error| SweepError::Param { combination: assignments.join(", "), error };
    let params = base.with(&assignments).map_err(wrong)?;
    let mut machine = Machine::new(params).map_err(wrong)?;
    machine.start_trace();
    machine.start_profile();
    let frame = scene.draw(&mut machine)?;
    let milliseconds = 1000.0 * frame.ticks as f64 / machine.params().clock_hz as f64;
    let trace = machine.take_trace();
    let units = trace.as_ref().map(units).unwrap_or_default();
    let path = trace.map(|trace| critical(&trace, &LINKS, 0, u64::MAX)).unwrap_or_default();
    let counters = Counters::of(&machine);
    Ok(SweepRow { values, frame, milliseconds, units, path, counters })
}
