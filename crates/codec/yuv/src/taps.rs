//! Which samples a filter takes, and how much of each.

use crate::conversion::{Conversion, Filter, Reconstruction, Siting};

/// Most samples along an axis.
pub(crate) const TAPS: usize = 4;

/// Samples along an axis: the first, which may lie before the axis' start, and weights of it and those behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Taps {
    pub first: isize,
    pub weights: [f32; TAPS],
}

/// Rounds down. Places are far from the limits of `i64`.
fn floor(place: f64) -> f64 {
    let whole = place as i64 as f64;
    if whole > place { whole - 1.0 } else { whole }
}

impl Taps {
    const fn one(at: isize) -> Taps {
        Taps { first: at, weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// Those for a place, which is a whole number at the centre of each sample.
    pub(crate) fn new(place: f64, filter: Filter) -> Taps {
        let whole = floor(place);
        let (at, t) = (whole as isize, place - whole);
        let (squared, cubed) = (t * t, t * t * t);
        match filter {
            Filter::Nearest => Taps::one(floor(place + 0.5) as isize),
            Filter::Linear => Taps { first: at, weights: [(1.0 - t) as f32, t as f32, 0.0, 0.0] },
            Filter::Cubic => Taps {
                first: at.saturating_sub(1),
                weights: [
                    (-t + 2.0 * squared - cubed) / 2.0,
                    (2.0 - 5.0 * squared + 3.0 * cubed) / 2.0,
                    (t + 4.0 * squared - 3.0 * cubed) / 2.0,
                    (cubed - squared) / 2.0,
                ]
                .map(|weight| weight as f32),
            },
        }
    }

    /// The places of the samples on an axis with so many, the outermost repeated beyond its ends, and their weights.
    pub(crate) fn clamped(self, size: usize) -> impl Iterator<Item = (usize, f32)> {
        let last = size.saturating_sub(1);
        let place = move |i: usize| self.first.saturating_add_unsigned(i).max(0).unsigned_abs().min(last);
        (0..).map(place).zip(self.weights).filter(|&(_, weight)| weight != 0.0)
    }
}

/// An axis of chroma.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    /// Luma samples to a sample of chroma.
    pub factor: usize,
    pub siting: Siting,
    pub filter: Filter,
    pub reconstruction: Reconstruction,
}

impl Axis {
    /// Along x (0) or y (1).
    pub(crate) fn new(factors: [usize; 2], conversion: &Conversion, axis: usize) -> Axis {
        Axis {
            factor: factors[axis],
            siting: conversion.siting[axis],
            filter: conversion.filter,
            reconstruction: conversion.reconstruction,
        }
    }

    /// The place among chroma samples that lies where a place among luma samples does.
    pub(crate) fn place(self, luma: f64) -> f64 {
        let factor = self.factor as f64;
        match self.siting {
            Siting::CositedEven => luma / factor,
            Siting::Midpoint => (luma + 0.5) / factor - 0.5,
        }
    }

    /// Samples of chroma for a sample of luma.
    pub(crate) fn taps(self, luma: usize) -> Taps {
        let (group, phase) = (luma / self.factor, luma % self.factor);
        // By the place in the group alone, so that weights are exact wherever it is.
        let taps = match (self.filter, self.reconstruction) {
            (Filter::Nearest, Reconstruction::Explicit) => Taps::one(0),
            (filter, _) => Taps::new(self.place(phase as f64), filter),
        };
        Taps { first: taps.first.saturating_add_unsigned(group), ..taps }
    }
}
