//! Weights to attributes and depth.

use xenoglot_pica_shader::float::F24;

use super::batch::{Batch, Floats, Pixels, STEP, multiply};
use super::setup::{Screen, Setup};
use crate::regs::{self, Registers};

/// From z/w to the depth buffer's range.
#[derive(Clone, Copy, Debug)]
pub struct DepthMap {
    /// Factor of z/w.
    pub scale: f32,
    /// Added to it.
    pub offset: f32,
    /// Whether the sum is multiplied by w.
    pub w_buffer: bool,
}

impl DepthMap {
    /// Decodes the registers.
    pub fn decode(regs: &Registers) -> DepthMap {
        DepthMap {
            scale: F24.to_f32(regs.get(regs::DEPTH_SCALE)),
            offset: F24.to_f32(regs.get(regs::DEPTH_OFFSET)),
            w_buffer: !regs.bit(regs::DEPTH_MODE, 0),
        }
    }

    /// Depth of the pixels, 0 to 1. The batch needs its weights and w.
    #[inline(always)]
    pub fn run(&self, batch: &mut Batch, setup: &Setup) {
        let lanes = batch.lanes();
        let sum = setup.weight_sum as f32;
        let ([w0, w1, w2], [z0, z1, z2]) = (planes(&batch.weights, lanes), setup.z);
        let w = &batch.w[..lanes];
        for (lane, depth) in batch.depth[..lanes].iter_mut().enumerate() {
            let z = (z0 * w0[lane] + z1 * w1[lane] + z2 * w2[lane]) / sum;
            *depth = z * self.scale + self.offset;
        }
        if self.w_buffer {
            for (depth, w) in batch.depth[..lanes].iter_mut().zip(w) {
                *depth *= w * sum;
            }
        }
        for depth in &mut batch.depth[..lanes] {
            *depth = depth.clamp(0.0, 1.0);
        }
    }
}

/// z/w and w of a pixel of the batch, which needs its weights and w.
pub fn position(batch: &Batch, setup: &Setup, lane: usize) -> [f32; 2] {
    let sum = setup.weight_sum as f32;
    let ([w0, w1, w2], [z0, z1, z2]) = (batch.weights.each_ref().map(|plane| plane[lane]), setup.z);
    [(z0 * w0 + z1 * w1 + z2 * w2) / sum, batch.w[lane] * sum]
}

/// Sets the weights and, for perspective, w of the pixels.
#[inline(always)]
pub fn start(batch: &mut Batch, pixels: &mut Pixels, setup: &Setup) {
    pixels.pad();
    batch.start(pixels.len);
    let lanes = batch.lanes();
    for (to, from) in batch.weights.iter_mut().zip(&pixels.weights) {
        let from = from[..lanes].as_chunks::<STEP>().0;
        for (to, from) in to.as_chunks_mut::<STEP>().0.iter_mut().zip(from) {
            *to = from.map(|weight| weight as f32);
        }
    }
    if setup.finite {
        inverse_w(batch, setup, |a, b| a * b);
    } else {
        inverse_w(batch, setup, multiply);
    }
}

#[inline(always)]
fn inverse_w(batch: &mut Batch, setup: &Setup, product: impl Fn(f32, f32) -> f32 + Copy) {
    let lanes = batch.lanes();
    let ([w0, w1, w2], [i0, i1, i2]) = (steps(&batch.weights, lanes), setup.inverse_w);
    for (((to, w0), w1), w2) in batch.w.as_chunks_mut::<STEP>().0.iter_mut().zip(w0).zip(w1).zip(w2) {
        for i in 0..STEP {
            to[i] = 1.0 / (product(i0, w0[i]) + product(i1, w1[i]) + product(i2, w2[i]));
        }
    }
}

/// Interpolates the attributes that the draw needs.
#[inline(always)]
pub fn attributes(batch: &mut Batch, setup: &Setup, screen: &Screen) {
    for &semantic in &screen.attributes {
        if setup.finite {
            attribute(batch, setup, semantic, |a, b| a * b);
        } else {
            attribute(batch, setup, semantic, multiply);
        }
    }
}

#[inline(always)]
fn attribute(batch: &mut Batch, setup: &Setup, semantic: u8, product: impl Fn(f32, f32) -> f32 + Copy) {
    let lanes = batch.lanes();
    let [w0, w1, w2] = steps(&batch.weights, lanes);
    let [a0, a1, a2] = setup.attributes[usize::from(semantic)];
    let values = batch.attributes[usize::from(semantic)].as_chunks_mut::<STEP>().0;
    let w = batch.w.as_chunks::<STEP>().0;
    for ((((to, w0), w1), w2), w) in values.iter_mut().zip(w0).zip(w1).zip(w2).zip(w) {
        for i in 0..STEP {
            let sum = product(a0, w0[i]) + product(a1, w1[i]) + product(a2, w2[i]);
            to[i] = product(sum, w[i]);
        }
    }
}

/// The first `lanes` weights of each vertex in steps: few pixels would be left to a loop's scalar rest otherwise.
#[inline(always)]
fn steps(weights: &[Floats; 3], lanes: usize) -> [&[[f32; STEP]]; 3] {
    planes(weights, lanes).map(|plane| plane.as_chunks().0)
}

#[inline(always)]
fn planes(weights: &[Floats; 3], lanes: usize) -> [&[f32]; 3] {
    [&weights[0][..lanes], &weights[1][..lanes], &weights[2][..lanes]]
}
