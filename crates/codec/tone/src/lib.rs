//! A filter that hears 48 musical tones and nothing else.
//!
//! Four octaves of twelve tones, each a resonance of two poles. The power of each is followed; what lies far below the
//! power of the whole signal is muted, what stands out is held back; what is left is shaped by `x / (1 + |x|)`, added up
//! and smoothed. Source: `vectors/tone/FORMAT.md`.
//!
//! [`ToneFilter`] is the filter of one channel, [`TonePlayer`] mixes it with interleaved channels. Both take blocks of any
//! length: what comes out does not depend on how a signal was cut. [`Engine::Scalar`] is the reference in its order of
//! operations; the others work on several tones at once and give the same bits among each other.
//!
//! Without the feature `std`, which is on by default, the crate needs `core` alone; coefficients may then differ in their last bits.
//!
//! ```
//! use xenoglot_tone::ToneFilter;
//!
//! let mut filter = ToneFilter::new(48_000)?;
//! // A tenth of a second of 440 Hz.
//! let input: Vec<f32> = (0..4_800).map(|n| (n as f32 * 440.0 * std::f32::consts::TAU / 48_000.0).sin()).collect();
//! let mut output = vec![0.0; input.len()];
//! filter.process(&input, &mut output);
//! assert!(output.iter().any(|sample| sample.abs() > 0.01));
//! # Ok::<(), xenoglot_tone::Error>(())
//! ```
#![deny(missing_docs)]
#![cfg_attr(not(any(feature = "std", test)), no_std)]

mod coefficients;
mod engine;
mod lanes;
mod math;
mod player;
mod reference;

pub use coefficients::{Biquad, Tones};
pub use engine::Engine;
pub use player::{Channels, Mode, TonePlayer};

use thiserror::Error;

/// Tones of the filter: four octaves.
pub const TONES: usize = 48;

/// Why a filter cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The highest tone needs twice its frequency.
    #[error("a sample rate of {0} Hz is none of {MIN_RATE} to {MAX_RATE}")]
    Rate(u32),
    /// No concert pitch.
    #[error("the tuning is none of {MIN_TUNING} to {MAX_TUNING} Hz")]
    Tuning,
    /// The processor lacks the instructions.
    #[error("this processor cannot run the engine {0}")]
    Engine(Engine),
}

/// Lowest sample rate, Hz.
pub const MIN_RATE: u32 = 16_000;
/// Highest sample rate, Hz.
pub const MAX_RATE: u32 = 768_000;
/// Lowest tuning, Hz.
pub const MIN_TUNING: f64 = 220.0;
/// Highest tuning, Hz.
pub const MAX_TUNING: f64 = 880.0;

/// What the filter remembers. Only the running powers are the same in every engine.
#[derive(Clone, Debug, PartialEq)]
struct State {
    /// The last two samples.
    input: [f32; 2],
    /// The last results of the resonances, and those before; lanes have them times a factor.
    last: [f32; TONES],
    before: [f32; TONES],
    /// Power of each tone, running.
    powers: [f32; TONES],
    /// Power of the signal, running.
    total: f32,
    /// The sum of the tones, smoothed.
    smooth: f32,
    /// Samples since silence was looked for.
    age: usize,
}

impl State {
    /// Before the first sample.
    const REST: State = State {
        input: [0.0; 2],
        last: [0.0; TONES],
        before: [0.0; TONES],
        powers: [0.0; TONES],
        total: 0.0,
        smooth: 0.0,
        age: 0,
    };
}

/// The filter of one channel.
#[derive(Clone, Debug)]
pub struct ToneFilter {
    tones: Tones,
    engine: Engine,
    state: State,
}

impl ToneFilter {
    /// A filter at rest for samples at `rate` Hz, on the fastest engine of this processor, tuned to 440 Hz.
    ///
    /// # Errors
    /// If the rate is none of [`MIN_RATE`] to [`MAX_RATE`].
    pub fn new(rate: u32) -> Result<ToneFilter, Error> {
        ToneFilter::with_engine(rate, 440.0, Engine::fastest())
    }

    /// A filter at rest. `tuning` is the frequency of the thirteenth tone in Hz.
    ///
    /// # Errors
    /// If the rate or the tuning is out of range, or the processor cannot run the engine.
    pub fn with_engine(rate: u32, tuning: f64, engine: Engine) -> Result<ToneFilter, Error> {
        if !engine.is_available() {
            return Err(Error::Engine(engine));
        }
        Ok(ToneFilter { tones: Tones::new(rate, tuning)?, engine, state: State::REST })
    }

    /// Forgets the signal.
    pub fn reset(&mut self) {
        self.state = State::REST;
    }

    /// Filters as many samples as both slices have. The signal continues from the last call.
    pub fn process(&mut self, input: &[f32], output: &mut [f32]) {
        self.engine.run(&self.tones, &mut self.state, input, output);
    }

    /// The coefficients.
    pub fn tones(&self) -> &Tones {
        &self.tones
    }

    /// The engine it runs on.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The running power of each tone, the lowest first.
    pub fn powers(&self) -> &[f32; TONES] {
        &self.state.powers
    }

    /// The running power of the signal.
    pub fn total_power(&self) -> f32 {
        self.state.total
    }
}
