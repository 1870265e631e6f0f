//! Which change of the machine saves how much of a frame, and what the frame hangs on.
//!
//! Every lever ([`levers`]) is measured by simulation, not guessed from a table of stalls: units hide each other's
//! waits, so that the unit that waits most is often not the one to change.

use super::levers::{Kind, Lever, levers};
use super::scene::{Animation, DemoError};
use crate::machine::Machine;
use crate::params::{ParamError, Params};
use crate::unit::LINKS;
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use std::fmt;
use thiserror::Error;
use xenoglot_trace::path::{self, Path};

/// What is tried, and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Frames of the turn that are drawn.
    pub frames: Vec<u32>,
    /// How many of the best levers are tried in pairs.
    pub paired: usize,
}

impl ExplainOptions {
    /// `count` frames spread evenly over a turn of `turn`, and pairs of the six best levers.
    pub fn spread(count: u32, turn: u32) -> ExplainOptions {
        let (count, turn) = (count.clamp(1, turn.max(1)), turn.max(1));
        // Both are below 2^32.
        let frame = |n: u32| (u64::from(n) * u64::from(turn) / u64::from(count)) as u32;
        ExplainOptions { frames: (0..count).map(frame).collect(), paired: 6 }
    }
}

/// What one change, or two together, save.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// The change or changes.
    pub levers: Vec<Lever>,
    /// Ticks of all frames with it.
    pub ticks: u64,
    /// Mean of what it saves of a frame, from 0 to 1; below 0 where it costs.
    pub mean: f64,
    /// Half the width of the interval around `mean` that holds the true mean with a confidence of 95 %, were the frames drawn
    /// at random (Student's t); 0 for one frame, which says nothing about others.
    pub spread: f64,
    /// The least and the most it saves of a frame.
    pub range: [f64; 2],
}

impl Saving {
    /// The changes, as one would write them.
    pub fn name(&self) -> String {
        let name = |l: &Lever| match l.kind {
            Kind::Instant => l.name.clone(),
            _ => format!("{} {} → {}", l.name, l.from, l.to),
        };
        self.levers.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// What a frame hangs on and which changes save how much of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The frames.
    pub frames: Vec<u32>,
    /// Ticks of each frame as it is.
    pub ticks: Vec<u64>,
    /// The critical path, summed over the frames.
    pub path: Path,
    /// Changes that can be built, the best first.
    pub savings: Vec<Saving>,
    /// Units that take no time, the best first: no change of a unit saves more.
    pub bounds: Vec<Saving>,
    /// Pairs of changes that can be built, the best first.
    pub pairs: Vec<Saving>,
}

/// Why nothing is explained.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// Parameters that are not possible.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A frame that cannot be drawn, with a change or without.
    #[error("{change}: {error}")]
    Demo {
        /// The change.
        change: String,
        /// What is wrong.
        error: DemoError,
    },
    /// No frames.
    #[error("no frames to draw")]
    NoFrames,
}

/// Draws the frames as they are and with every change, on all cores. `done` is told how many of how many runs are over.
///
/// # Errors
/// The first run that fails.
pub fn explain(
    animation: &dyn Animation,
    params: &Params,
    options: &ExplainOptions,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Explanation, ExplainError> {
    if options.frames.is_empty() {
        return Err(ExplainError::NoFrames);
    }
    let levers = levers(params);
    let paired = options.paired.min(levers.len());
    let count = options.frames.len();
    let runs = count * (1 + levers.len() + paired * paired.saturating_sub(1) / 2);
    let over = std::sync::atomic::AtomicUsize::new(0);
    let tell = || done(1 + over.fetch_add(1, std::sync::atomic::Ordering::Relaxed), runs);

    let plain = options.frames.par_iter().map(|&frame| {
        let error = |error| ExplainError::Demo { change: "as it is".into(), error };
        let mut machine = Machine::new(params.clone())?;
        machine.start_trace();
        let ticks = animation.scene(frame).draw(&mut machine).map_err(error)?.ticks;
        let path = machine.take_trace().map(|trace| path::critical(&trace, &LINKS, 0, u64::MAX));
        tell();
        Ok((ticks, path))
    });
    let plain: Vec<(u64, Option<Path>)> = plain.collect::<Result<_, ExplainError>>()?;
    let (ticks, paths): (Vec<u64>, Vec<Option<Path>>) = plain.into_iter().unzip();

    let measure = |sets: Vec<Vec<Lever>>| -> Result<Vec<Saving>, ExplainError> {
        let jobs: Vec<(usize, u32)> =
            (0..sets.len()).flat_map(|set| options.frames.iter().map(move |&f| (set, f))).collect();
        let run = |(set, frame): (usize, u32)| {
            let assignments: Vec<String> = sets[set].iter().map(Lever::assignment).collect();
            let error = |error| ExplainError::Demo { change: assignments.join(", "), error };
            let mut machine = Machine::new(params.with(&assignments)?)?;
            let ticks = animation.scene(frame).draw(&mut machine).map_err(error)?.ticks;
            tell();
            Ok(ticks)
        };
        let changed: Vec<u64> = jobs.into_par_iter().map(run).collect::<Result<_, ExplainError>>()?;
        let savings = sets.into_iter().zip(changed.chunks(count));
        let mut savings: Vec<Saving> = savings.map(|(levers, c)| saving(levers, &ticks, c)).collect();
        // Stable: equal ones stay in the order of the levers.
        savings.sort_by_key(|s| s.ticks);
        Ok(savings)
    };
    let all = measure(levers.into_iter().map(|lever| vec![lever]).collect())?;
    let (bounds, savings): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|s| s.levers.iter().any(|l| l.kind == Kind::Instant));
    let best: Vec<&Lever> = savings.iter().take(paired).flat_map(|s| &s.levers).collect();
    let pair = |a: usize| best[a + 1..].iter().map(move |b| (a, *b));
    let pairs = (0..best.len()).flat_map(pair).map(|(a, b)| vec![best[a].clone(), b.clone()]).collect();
    let pairs = measure(pairs)?;
    Ok(Explanation { frames: options.frames.clone(), ticks, path: sum(paths), savings, bounds, pairs })
}

fn saving(levers: Vec<Lever>, before: &[u64], after: &[u64]) -> Saving {
    let shares: Vec<f64> =
        before.iter().zip(after).map(|(&b, &a)| 1.0 - a as f64 / b.max(1) as f64).collect();
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let spread = match shares.len() {
        0 | 1 => 0.0,
        count => {
            let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
            student(count - 1) * (variance / n).sqrt()
        }
    };
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Saving { levers, ticks: after.iter().sum(), mean, spread, range: [least, most] }
}

/// The quantile of Student's t that leaves 2.5 % above it, by degrees of freedom; from 31 on that of the next smaller
/// tabulated number, which is on the safe side.
fn student(freedom: usize) -> f64 {
    const SMALL: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match freedom {
        0 => f64::INFINITY,
        n @ 1..=30 => SMALL[n - 1],
        31..=59 => 2.042,
        60..=119 => 2.000,
        _ => 1.980,
    }
}

/// The paths of several frames as one.
fn sum(paths: Vec<Option<Path>>) -> Path {
    let mut all = Path { ticks: 0, parts: Vec::new() };
    for path in paths.into_iter().flatten() {
        all.ticks += path.ticks;
        for part in path.parts {
            match all.parts.iter_mut().find(|p| p.unit == part.unit && p.event == part.event) {
                Some(known) => known.ticks += part.ticks,
                None => all.parts.push(part),
            }
        }
    }
    all.parts.sort_by_key(|p| Reverse(p.ticks));
    all
}

/// Rows of each table of the text form.
const ROWS: usize = 10;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.ticks.iter().sum();
        writeln!(
            f,
            "{} frames, {} ticks a frame\n",
            self.frames.len(),
            all / self.ticks.len().max(1) as u64
        )?;
        writeln!(f, "{}", self.path)?;
        let table = |f: &mut fmt::Formatter<'_>, title: &str, savings: &[Saving]| {
            writeln!(f, "{title:<58} {:>8} {:>8}  of a frame", "saves", "±")?;
            for saving in savings.iter().take(ROWS) {
                let [mean, spread, least, most] =
                    [saving.mean, saving.spread, saving.range[0], saving.range[1]].map(|v| 100.0 * v);
                let name = saving.name();
                writeln!(f, "{name:<58} {mean:>6.1} % {spread:>6.1} %  {least:.1} to {most:.1} %")?;
            }
            Ok(())
        };
        table(f, "change", &self.savings)?;
        writeln!(f)?;
        table(f, "two changes", &self.pairs)?;
        writeln!(f)?;
        table(f, "units that take no time", &self.bounds)
    }
}
