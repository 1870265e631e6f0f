//! The sampler of [`texture`](crate::texture) as IR.

use super::arith::Arith;
use crate::number::Number;
use crate::texture::{SUBTEXEL, TexelFormat, Texture};
use xenoglot_ir::{Flags, MemInfo, Op, Resource, Space, Type, Value};

/// A sampler of one texture.
pub(super) struct Sampler<'a, 'f> {
    pub cx: &'a mut Arith<'f>,
    pub memory: Resource,
    pub texture: Texture,
}

impl Sampler<'_, '_> {
    /// A coordinate in sixteenths of a texel.
    fn coordinate(&mut self, v: Value, log2: u8) -> Value {
        let scale = u32::from(log2) + SUBTEXEL;
        let fraction = self.cx.frac(v);
        let at = match self.cx.number {
            Number::Fixed(f) => {
                let at = self.cx.with(Op::Shl, fraction, scale);
                self.cx.with(Op::Ushr, at, f.bits())
            }
            Number::Float => {
                let size = self.cx.b.f32((1u32 << scale) as f32);
                let at = self.cx.b.op(Op::Fmul, &[fraction, size]);
                self.cx.b.convert(Op::F2u, Flags::NONE.with_clamp(), at, Type::I32)
            }
        };
        self.cx.with(Op::And, at, (1 << scale) - 1)
    }

    fn word(&mut self, address: Value) -> Value {
        let address = self.cx.with(Op::And, address, !3);
        self.cx.b.load(MemInfo::plain(Space::Storage, Some(self.memory), 2), address, Type::I32)
    }

    /// The two bytes at index `n` after `base`.
    fn half(&mut self, base: u32, n: Value) -> Value {
        let offset = self.cx.with(Op::Shl, n, 1);
        let address = self.cx.with(Op::Iadd, offset, base & !31);
        let word = self.word(address);
        let shift = self.cx.with(Op::And, address, 2);
        let shift = self.cx.with(Op::Shl, shift, 3);
        let v = self.cx.b.op(Op::Ushr, &[word, shift]);
        self.cx.with(Op::And, v, 0xffff)
    }

    /// A texel's components in eight bits each.
    fn texel(&mut self, x: Value, y: Value) -> [Value; 4] {
        let [w, _] = self.texture.log2();
        let (tile_x, tile_y) = (self.cx.with(Op::Ushr, x, 3), self.cx.with(Op::Ushr, y, 3));
        let tile = self.cx.with(Op::Shl, tile_y, u32::from(w) - 3);
        let tile = self.cx.b.op(Op::Iadd, &[tile, tile_x]);
        let tile = self.cx.with(Op::Shl, tile, 6);
        let (x, y) = (self.cx.with(Op::And, x, 7), self.cx.with(Op::And, y, 7));
        let row = self.cx.with(Op::Shl, y, 3);
        let within = self.cx.b.op(Op::Or, &[row, x]);
        let index = self.cx.b.op(Op::Or, &[tile, within]);
        let color = match self.texture.format {
            TexelFormat::Palette4 => {
                let offset = self.cx.with(Op::Ushr, index, 1);
                let address = self.cx.with(Op::Iadd, offset, self.texture.address & !31);
                let word = self.word(address);
                let shift = self.cx.with(Op::And, index, 7);
                let shift = self.cx.with(Op::Shl, shift, 2);
                let chosen = self.cx.b.op(Op::Ushr, &[word, shift]);
                let chosen = self.cx.with(Op::And, chosen, 15);
                self.half(self.texture.palette, chosen)
            }
            _ => self.half(self.texture.address, index),
        };
        self.texture.format.components().map(|(shift, bits)| match bits {
            0 => self.cx.b.i32(255),
            1 => {
                let v = self.cx.field(color, shift, 1);
                self.cx.with(Op::Imul, v, 255)
            }
            _ => {
                let v = self.cx.field(color, shift, bits);
                let (up, down) =
                    (self.cx.with(Op::Shl, v, 8 - bits), self.cx.with(Op::Ushr, v, 2 * bits - 8));
                self.cx.b.op(Op::Or, &[up, down])
            }
        })
    }

    /// What [`Texture::sample`] gives.
    pub fn sample(&mut self, uv: Value) -> Value {
        let log2 = self.texture.log2();
        let at = [0, 1].map(|n| {
            let v = self.cx.b.extract(uv, n as u8);
            self.coordinate(v, log2[n])
        });
        let components = if self.texture.bilinear {
            self.bilinear(at, log2)
        } else {
            let [x, y] = at.map(|at| self.cx.with(Op::Ushr, at, SUBTEXEL));
            self.texel(x, y)
        };
        let lanes = components.map(|v| self.cx.unorm(v, 255));
        self.cx.b.op(Op::Build, &lanes)
    }

    fn bilinear(&mut self, at: [Value; 2], log2: [u8; 2]) -> [Value; 4] {
        let axes = [0, 1].map(|n| {
            let at = self.cx.with(Op::Isub, at[n], 8);
            let at = self.cx.with(Op::And, at, (1 << (u32::from(log2[n]) + SUBTEXEL)) - 1);
            let near = self.cx.with(Op::Ushr, at, SUBTEXEL);
            let far = self.cx.with(Op::Iadd, near, 1);
            let far = self.cx.with(Op::And, far, (1 << log2[n]) - 1);
            let far_weight = self.cx.with(Op::And, at, 15);
            let sixteen = self.cx.b.i32(16);
            let near_weight = self.cx.b.op(Op::Isub, &[sixteen, far_weight]);
            [(near, near_weight), (far, far_weight)]
        });
        let half = self.cx.b.i32(128);
        let mut sums = [half; 4];
        for (y, wy) in axes[1] {
            for (x, wx) in axes[0] {
                let weight = self.cx.b.op(Op::Imul, &[wx, wy]);
                let texel = self.texel(x, y);
                for (sum, component) in sums.iter_mut().zip(texel) {
                    let part = self.cx.b.op(Op::Imul, &[component, weight]);
                    *sum = self.cx.b.op(Op::Iadd, &[*sum, part]);
                }
            }
        }
        sums.map(|sum| self.cx.with(Op::Ushr, sum, 8))
    }
}
