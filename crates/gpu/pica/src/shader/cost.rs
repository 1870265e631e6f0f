//! What engines cost, as measured while they work.

use super::engine::Cost;

/// Weight of a new measurement in the running mean, so that an outlier on a busy machine is soon forgotten.
const WEIGHT: f64 = 0.125;
/// A measurement counts as at most so many times what was thought before, and at least that part of it.
const SURPRISE: f64 = 4.0;

/// Keeps the cost of an engine: a batch takes `batch + inst * work` seconds, work being instructions times vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter(Cost);

impl Meter {
    pub fn new(expected: Cost) -> Meter {
        Meter(expected)
    }

    /// Seconds that a batch is expected to take.
    pub fn run(&self, work: f64) -> f64 {
        self.0.batch + self.0.inst * work
    }

    /// Seconds that translating so many instructions is expected to take.
    pub fn translation(&self, insts: f64) -> f64 {
        self.0.translation * insts
    }

    /// Takes up what a batch took, and what of it was translation: that of `translated` instructions.
    pub fn note(&mut self, work: f64, translated: Option<f64>, seconds: f64) {
        let Cost { batch, inst, .. } = self.0;
        if let Some(insts) = translated {
            let run = self.run(work);
            blend(&mut self.0.translation, (seconds - run) / insts.max(1.0));
        } else if inst * work > batch {
            blend(&mut self.0.inst, (seconds - batch) / work);
        } else {
            blend(&mut self.0.batch, seconds - inst * work);
        }
    }
}

fn blend(kept: &mut f64, measured: f64) {
    let measured = measured.clamp(*kept / SURPRISE, *kept * SURPRISE);
    *kept += (measured - *kept) * WEIGHT;
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Cost = Cost { batch: 1e-5, inst: 1e-8, translation: 1e-6 };

    #[test]
    fn measurements_win_over_expectations() {
        // 100 µs a batch, 1 ns an instruction, 20 µs to translate one.
        let mut meter = Meter::new(EXPECTED);
        for _ in 0..200 {
            meter.note(100.0, None, 1e-4 + 1e-7);
            meter.note(1e7, None, 1e-4 + 1e-2);
            meter.note(100.0, Some(50.0), 1e-4 + 1e-3);
        }
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.05;
        assert!(near(meter.run(0.0), 1e-4) && near(meter.run(1e9), 1.0), "{meter:?}");
        assert!(near(meter.translation(50.0), 1e-3), "{meter:?}");
    }

    #[test]
    fn one_surprise_changes_little() {
        let mut meter = Meter::new(EXPECTED);
        meter.note(1e6, None, 10.0);
        meter.note(0.0, None, 0.0);
        assert!(meter.run(1e6) < 0.02 && meter.run(0.0) > 5e-6, "{meter:?}");
    }
}
