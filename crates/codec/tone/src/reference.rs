//! The filter in the order of operations of `vectors/tone/FORMAT.md`, bit for bit.

use crate::{State, Tones, math};

/// States below this are as good as nothing: denormal numbers, which processors are slow with.
const SILENCE: f32 = f32::MIN_POSITIVE;

/// `v / (1 + |v|)`.
pub fn shaped(v: f32) -> f32 {
    v / (1.0 + v.abs())
}

/// `v`, or zero for what is as good as nothing or no number.
fn audible(v: f32) -> f32 {
    if v.abs() >= SILENCE { v } else { 0.0 }
}

pub fn run(tones: &Tones, state: &mut State, input: &[f32], output: &mut [f32]) {
    let (total_lerp, tone_lerp) = (tones.total_lerp, tones.tone_lerp);
    for (&x, out) in input.iter().zip(output) {
        let total = state.total * (1.0 - total_lerp) + total_lerp * x * x;
        state.total = audible(total);
        let (low, high) = (0.0002 * total, 0.10 * total);
        let divider = 1.0 / (low * low * low).max(1e-11);
        let [x1, x2] = state.input;
        let mut sum = 0.0;
        for (i, tone) in tones.biquads().iter().enumerate() {
            let (y1, y2) = (state.last[i], state.before[i]);
            let y = audible(tone.n0 * x + tone.n1 * x1 + tone.n2 * x2 + tone.c1 * y1 + tone.c2 * y2);
            (state.last[i], state.before[i]) = (y, y1);
            let power = y * y;
            let power = power.min(power * power * power * power * divider).min(high);
            let power = state.powers[i] * (1.0 - tone_lerp) + tone_lerp * power;
            // The powers of a tone that begins are denormal numbers for a while, and heard.
            let power = if y == 0.0 { audible(power) } else { power };
            state.powers[i] = power;
            let rms = math::sqrt(power);
            sum += rms * shaped(40.0 * y / (rms + 0.001));
        }
        state.input = [x, x1];
        state.smooth = audible(0.5 * state.smooth + 0.5 * sum);
        *out = shaped(2.0 * state.smooth);
    }
}
