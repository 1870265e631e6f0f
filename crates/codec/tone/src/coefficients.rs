//! What the filter multiplies with.

use crate::math;
use crate::{Error, MAX_RATE, MAX_TUNING, MIN_RATE, MIN_TUNING, TONES};
use core::f64::consts::TAU;

/// Distance of the poles from the origin.
const POLE: f64 = 0.9999;

/// What powers keep of themselves in a second: of the signal, and of a tone.
const TOTAL_KEPT: f64 = 0.01215;
const TONE_KEPT: f64 = 0.00503;

/// A resonance: `y = n0 x + n1 x' + n2 x'' + c1 y' + c2 y''`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Biquad {
    /// Of the sample.
    pub n0: f32,
    /// Of the last sample; zero.
    pub n1: f32,
    /// Of the sample before that.
    pub n2: f32,
    /// Of the last result.
    pub c1: f32,
    /// Of the result before that.
    pub c2: f32,
}

/// The coefficients of a filter, rounded to singles.
#[derive(Clone, Debug, PartialEq)]
pub struct Tones {
    biquads: [Biquad; TONES],
    /// What is taken from a new sample for the running powers.
    pub(crate) total_lerp: f32,
    pub(crate) tone_lerp: f32,
}

impl Tones {
    /// For samples at `rate` Hz, with the thirteenth tone at `tuning` Hz.
    ///
    /// # Errors
    /// If the rate or the tuning is out of range.
    pub fn new(rate: u32, tuning: f64) -> Result<Tones, Error> {
        if !(MIN_RATE..=MAX_RATE).contains(&rate) {
            return Err(Error::Rate(rate));
        }
        if !(MIN_TUNING..=MAX_TUNING).contains(&tuning) {
            return Err(Error::Tuning);
        }
        let rate = f64::from(rate);
        let lerp = |kept: f64| (1.0 - math::exp(math::ln(kept) / rate)) as f32;
        Ok(Tones {
            biquads: core::array::from_fn(|i| {
                let frequency = tuning * math::exp2((i as f64 - 12.0) / 12.0);
                biquad(TAU * frequency / rate)
            }),
            total_lerp: lerp(TOTAL_KEPT),
            tone_lerp: lerp(TONE_KEPT),
        })
    }

    /// The resonances, the lowest first.
    pub fn biquads(&self) -> &[Biquad; TONES] {
        &self.biquads
    }
}

/// A resonance at `angle` radians a sample, where its gain is 1; nothing passes at 0 and at half the sample rate.
fn biquad(angle: f64) -> Biquad {
    let (d1, d2) = (-2.0 * POLE * math::cos(angle), POLE * POLE);
    let at = |d: [f64; 3]| {
        let (re, im) = (
            d[0] + d[1] * math::cos(angle) + d[2] * math::cos(2.0 * angle),
            d[1] * math::sin(angle) + d[2] * math::sin(2.0 * angle),
        );
        math::hypot(re, im)
    };
    let scale = at([1.0, d1, d2]) / at([1.0, 0.0, -1.0]);
    Biquad { n0: scale as f32, n1: 0.0, n2: -scale as f32, c1: -d1 as f32, c2: -d2 as f32 }
}
