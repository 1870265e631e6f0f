//! The filter over all tones at once, in loops that vectorise: every operation is a multiple of the widest register. No
//! operation depends on the width, so every engine gives the same bits.

use crate::reference::shaped;
use crate::{State, TONES, Tones};

/// Partial sums of the tones.
const LANES: usize = 16;

/// Below these, results and powers are as good as nothing. Powers are held there and not at zero: their products with
/// anything audible are then no denormal numbers.
const SILENT_RESULT: f32 = 1e-18;
const SILENT_POWER: f32 = 1e-30;
/// The cube root of the least cube of the low threshold.
const LEAST_LOW: f32 = 2.154_434_7e-4;
/// Least ratio to the low threshold whose cube is looked at.
const LEAST_RATIO: f32 = 1e-9;

/// Coefficients and states, an array for each.
struct Bank {
    n0: [f32; TONES],
    c1: [f32; TONES],
    c2: [f32; TONES],
}

#[inline(always)]
pub fn run(tones: &Tones, state: &mut State, input: &[f32], output: &mut [f32]) {
    let column =
        |of: fn(&crate::Biquad) -> f32| -> [f32; TONES] { std::array::from_fn(|i| of(&tones.biquads()[i])) };
    let bank = Bank { n0: column(|b| b.n0), c1: column(|b| b.c1), c2: column(|b| b.c2) };
    let mut local = state.clone();
    for (&x, out) in input.iter().zip(output) {
        *out = step(tones, &bank, &mut local, x);
    }
    *state = local;
}

#[inline(always)]
fn step(tones: &Tones, bank: &Bank, state: &mut State, x: f32) -> f32 {
    let (total_lerp, tone_lerp) = (tones.total_lerp, tones.tone_lerp);
    let total = (state.total * (1.0 - total_lerp) + total_lerp * x * x).max(SILENT_POWER);
    state.total = total;
    let high = 0.10 * total;
    let inverse = 1.0 / (0.0002 * total).max(LEAST_LOW);
    // The zeros are at 1 and -1: n1 = 0 and n2 = -n0.
    let change = x - state.input[1];
    let keep = 1.0 - tone_lerp;
    let mut shapes = [0.0; TONES];
    for (i, shape) in shapes.iter_mut().enumerate() {
        let y1 = state.last[i];
        let y = bank.n0[i] * change + bank.c1[i] * y1 + bank.c2[i] * state.before[i];
        // One small result alone may be a wave's way through zero.
        let y = if y.abs() + y1.abs() >= SILENT_RESULT { y } else { 0.0 };
        (state.last[i], state.before[i]) = (y, y1);
        let square = y * y;
        // The fourth power over the low threshold's third, where that is less.
        let ratio = (square * inverse).clamp(LEAST_RATIO, 1.0);
        let power = (square * (ratio * ratio * ratio)).min(high);
        let power = (state.powers[i] * keep + tone_lerp * power).max(SILENT_POWER);
        state.powers[i] = power;
        let rms = power.sqrt();
        // rms · v / (1 + |v|) of v = 40 y / (rms + 0.001), with one division.
        let driven = 40.0 * y;
        *shape = rms * driven / (rms + 0.001 + driven.abs());
    }
    state.input = [x, state.input[0]];
    let smooth = 0.5 * state.smooth + 0.5 * sum(&shapes);
    state.smooth = if smooth.abs() >= SILENT_POWER { smooth } else { 0.0 };
    shaped(2.0 * state.smooth)
}

/// The sum by halves.
#[inline(always)]
fn sum(shapes: &[f32; TONES]) -> f32 {
    let mut partial: [f32; LANES] = std::array::from_fn(|i| shapes[i] + shapes[i + 16] + shapes[i + 32]);
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            partial[i] += partial[i + width];
        }
        width /= 2;
    }
    partial[0]
}
