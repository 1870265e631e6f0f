//! The filter over all tones at once, in loops that vectorise: every operation is a multiple of the widest register. No
//! operation depends on the width, so every engine gives the same bits.

use crate::reference::shaped;
use crate::{State, TONES, Tones, math};

/// Partial sums of the tones, each of one tone of each third.
const LANES: usize = TONES / 3;

/// Samples after which silence is looked for.
const PERIOD: usize = 64;
/// Samples whose sums are finished together.
const GROUP: usize = 4;

/// Below these, results and powers are as good as nothing. Powers are held there and not at zero: their products with
/// anything audible are then no denormal numbers. In a period neither a tone nor the smoothed sum falls from its limit to
/// the denormal numbers.
const SILENT_RESULT: f32 = 1e-18;
const SILENT_POWER: f32 = 1e-30;
/// The cube root of the least cube of the low threshold.
const LEAST_LOW: f32 = 2.154_434_7e-4;
/// Least ratio to the low threshold whose cube is looked at: of less, the fourth power is inaudible and denormal.
const LEAST_RATIO: f32 = 1e-5;
/// What results are multiplied with before they are shaped.
const DRIVE: f32 = 40.0;

/// A value for each tone; a lane's values form a column.
type Bank = [[f32; LANES]; 3];

/// Coefficients of all tones.
struct Coefficients {
    /// Driven, and so are all results.
    n0: Bank,
    c1: Bank,
    c2: Bank,
    /// What powers keep of themselves in a sample, and what they take.
    keep: f32,
    take: f32,
    /// A factor of ratios whose cube is `take`, and undoes that squares are driven twice.
    scale: f32,
}

/// States of all tones.
struct Memory {
    last: Bank,
    before: Bank,
    powers: Bank,
}

#[inline(always)]
pub fn run(tones: &Tones, state: &mut State, input: &[f32], output: &mut [f32]) {
    let (mut n0, mut c1, mut c2) = ([0.0; TONES], [0.0; TONES], [0.0; TONES]);
    for (i, biquad) in tones.biquads().iter().enumerate() {
        (n0[i], c1[i], c2[i]) = (DRIVE * biquad.n0, biquad.c1, biquad.c2);
    }
    let take = tones.tone_lerp;
    let coefficients = Coefficients {
        n0: bank(&n0),
        c1: bank(&c1),
        c2: bank(&c2),
        keep: 1.0 - take,
        take,
        scale: math::cbrt(take / (DRIVE * DRIVE)),
    };
    let mut memory =
        Memory { last: bank(&state.last), before: bank(&state.before), powers: bank(&state.powers) };
    let samples = input.len().min(output.len());
    let (mut input, mut output) = (&input[..samples], &mut output[..samples]);
    while !input.is_empty() {
        let (now, later) = input.split_at(input.len().min(PERIOD - state.age % PERIOD));
        let (out, rest) = output.split_at_mut(now.len());
        period(tones, &coefficients, &mut memory, state, now, out);
        (input, output) = (later, rest);
    }
    state.last.copy_from_slice(memory.last.as_flattened());
    state.before.copy_from_slice(memory.before.as_flattened());
    state.powers.copy_from_slice(memory.powers.as_flattened());
}

#[inline(always)]
fn bank(values: &[f32; TONES]) -> Bank {
    let mut bank = [[0.0; LANES]; 3];
    bank.as_flattened_mut().copy_from_slice(values);
    bank
}

/// Filters samples up to the end of a period.
#[inline(always)]
fn period(
    tones: &Tones,
    coefficients: &Coefficients,
    memory: &mut Memory,
    state: &mut State,
    input: &[f32],
    output: &mut [f32],
) {
    // The last two samples, then those of the input.
    let mut samples = [0.0; PERIOD + 2];
    [samples[1], samples[0]] = state.input;
    samples[2..][..input.len()].copy_from_slice(input);
    for (g, group) in output.chunks_mut(GROUP).enumerate() {
        let mut quarters = [[0.0; 4]; GROUP];
        for (i, quarters) in (g * GROUP..PERIOD).zip(&mut quarters).take(group.len()) {
            // The zeros are at 1 and -1: n1 = 0 and n2 = -n0.
            let (change, x) = (samples[i + 2] - samples[i], samples[i + 2]);
            let total = state.total * (1.0 - tones.total_lerp) + tones.total_lerp * x * x;
            state.total = greater(total, SILENT_POWER);
            *quarters = step(coefficients, memory, change, state.total);
        }
        for (out, [a, b, c, d]) in group.iter_mut().zip(quarters) {
            state.smooth = 0.5 * (state.smooth + ((a + c) + (b + d)));
            *out = state.smooth;
        }
    }
    for out in &mut *output {
        *out = shaped(2.0 * *out);
    }
    state.input = [samples[input.len() + 1], samples[input.len()]];
    state.age = (state.age + input.len()) % PERIOD;
    if state.age == 0 {
        silence(memory, state);
    }
}

/// What is as good as nothing becomes nothing. One small result alone may be a wave's way through zero.
#[inline(always)]
fn silence(memory: &mut Memory, state: &mut State) {
    let (last, before) = (memory.last.as_flattened_mut(), memory.before.as_flattened_mut());
    for (last, before) in last.iter_mut().zip(before) {
        if last.abs() + before.abs() < SILENT_RESULT {
            (*last, *before) = (0.0, 0.0);
        }
    }
    for power in memory.powers.as_flattened_mut() {
        *power = greater(*power, SILENT_POWER);
    }
    if state.smooth.abs() < SILENT_RESULT {
        state.smooth = 0.0;
    }
}

/// Four partial sums of the tones of a sample.
#[inline(always)]
fn step(of: &Coefficients, memory: &mut Memory, change: f32, total: f32) -> [f32; 4] {
    let high = of.take * 0.10 * total;
    let inverse = of.scale / (DRIVE * DRIVE) / greater(0.0002 * total, LEAST_LOW);
    let (least, most) = (of.scale * LEAST_RATIO, of.scale);
    let mut partial = [0.0; LANES];
    for (i, sum) in partial.iter_mut().enumerate() {
        // A sum of three fractions, with one division.
        let (mut numerator, mut denominator) = (0.0, 1.0);
        for third in 0..3 {
            let y1 = memory.last[third][i];
            let y = of.n0[third][i] * change + of.c1[third][i] * y1;
            let y = y + of.c2[third][i] * memory.before[third][i];
            (memory.last[third][i], memory.before[third][i]) = (y, y1);
            let square = y * y;
            // The fourth power over the low threshold's third, where that is less.
            let ratio = less(greater(square * inverse, least), most);
            let power = less(square * (ratio * ratio * ratio), high);
            let power = memory.powers[third][i] * of.keep + power;
            memory.powers[third][i] = power;
            let rms = math::sqrt(power);
            // rms · v / (1 + |v|) of v = y / (rms + 0.001).
            let (n, d) = (rms * y, rms + 0.001 + y.abs());
            (numerator, denominator) =
                if third == 0 { (n, d) } else { (numerator * d + n * denominator, denominator * d) };
        }
        *sum = numerator / denominator;
    }
    let mut quarters = [0.0; 4];
    for (i, quarter) in quarters.iter_mut().enumerate() {
        *quarter = (partial[i] + partial[i + 8]) + (partial[i + 4] + partial[i + 12]);
    }
    quarters
}

/// The greater of two, and `b` for what is no number: one instruction, which `f32::max` is not.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The less of two, and `b` for what is no number.
#[inline(always)]
fn less(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}
