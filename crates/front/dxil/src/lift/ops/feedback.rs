//! Sampler feedback: which regions of a texture's levels are sampled.
//!
//! Vulkan has no feedback maps. Here a map is a storage image of 64-bit integers, a texel for each region of the texture's
//! first level. The logarithms of a region's width and height in texels are the low four bits of the image's width and height,
//! which the host makes that much larger than it has regions. A texel has four bits for each level, from bit `4 * level` on: whether
//! the region was sampled itself, its neighbour to the right, the one below, and the one to the right of that. What is
//! written is or-ed, so that a clear map is one of zeros. The host resolves maps; both kinds of them, which Direct3D has, can be
//! made of these.
//!
//! Marked are the levels that a trilinear filter reads, and what lies within half a texel of the coarser one, but within half a
//! region: at most two by two regions. Coordinates wrap.

use super::texture::By;
use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::resource::Handle;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Component, Resource as Declared, Shape};
use xenoglot_ir::imm::{Dim, TexInfo};
use xenoglot_ir::{Flags, Imm, Kind, Op, Type, Value};

/// The last level that a map has bits for, and that Direct3D counts.
const LAST_LEVEL: f32 = 14.0;
/// Bits of the map's size that say how large regions are.
const REGION_BITS: u32 = 15;

impl Cx<'_> {
    /// Map, texture, sampler, four coordinates, what the level is chosen by, the least level.
    pub(super) fn feedback(&mut self, call: &Call<'_>) -> Lift<Made> {
        const MORE: usize = 7;
        let map = self.handle_of(call.arg(0)?)?;
        let arrayed = match map.declared.shape {
            Shape::FeedbackTexture2D => false,
            Shape::FeedbackTexture2DArray => true,
            _ => return Err(Stop::Unsupported("a resource that is no feedback map")),
        };
        let declared =
            Declared { component: Some(Component::Uint), components: 1, wide: true, ..map.declared };
        let image = self.opaque(&Handle::new(declared, map.place), Kind::Img)?;
        let (texture, sampler) = (self.handle_of(call.arg(1)?)?, self.handle_of(call.arg(2)?)?);
        let (texture, sampler) = (self.opaque(&texture, Kind::Tex)?, self.opaque(&sampler, Kind::Samp)?);
        let info = TexInfo::new(Dim::D2, arrayed, false);
        let mut place = self.vector(call, 3, 2)?;
        let (by, clamp) = match call.op {
            Dx::WriteSamplerFeedback => (By::Quad, Some(MORE)),
            Dx::WriteSamplerFeedbackBias => {
                // A quad that is larger by so many levels.
                let bias = self.arg(call, MORE)?;
                let scale = self.op(Op::Exp2, &[bias]);
                let scale = self.inst(Op::Splat, Imm::None, &[scale], Type::F32X2);
                place = self.op(Op::Fmul, &[place, scale]);
                (By::Quad, Some(MORE + 1))
            }
            Dx::WriteSamplerFeedbackLevel => (By::Level(self.arg(call, MORE)?), None),
            Dx::WriteSamplerFeedbackGrad => {
                let gradients = [self.vector(call, MORE, 2)?, self.vector(call, MORE + 3, 2)?];
                (By::Gradients(gradients), Some(MORE + 6))
            }
            _ => return Err(NOT_LIFTED),
        };
        let mut level = self.level(info, [texture, sampler], place, by);
        if let Some(n) = clamp
            && !self.is_undef(call.arg(n)?)
        {
            let least = self.arg(call, n)?;
            level = self.op(Op::Fmax, &[level, least]);
        }
        let levels = self.inst(Op::TexQueryLevels, Imm::Tex(info), &[texture], Type::I32);
        let one = self.i32(1);
        let last = self.op(Op::Isub, &[levels, one]);
        let last = self.b.convert(Op::U2f, Flags::NONE, last, Type::F32);
        let (zero, most) = (self.f32(0.0), self.f32(LAST_LEVEL));
        let last = self.op(Op::Fmin, &[last, most]);
        let level = self.op(Op::Fmax, &[level, zero]);
        let level = self.op(Op::Fmin, &[level, last]);
        let (fine, coarse) = (self.op(Op::Floor, &[level]), self.op(Op::Ceil, &[level]));
        // Half a texel of the coarser level, in texels of the first one.
        let texel = self.op(Op::Exp2, &[coarse]);
        let half = self.f32(0.5);
        let reach = self.op(Op::Fmul, &[texel, half]);
        let at = self.vector(call, 3, 2)?;
        let size = self.size_of_level(info, texture, None);
        let map_size = Type::I32.with_lanes(2 + u8::from(arrayed)).unwrap_or(Type::I32X2);
        let map_size = self.inst(Op::ImgQuery, Imm::Tex(info), &[image], map_size);
        let axes = [0, 1].map(|n| self.axis([at, size, map_size], n, reach));
        let mut coordinates = axes.map(|axis| axis.0).to_vec();
        if arrayed {
            let layer = self.arg(call, 5)?;
            let layer = self.op(Op::RoundEven, &[layer]);
            let layer = self.op(Op::Fmax, &[layer, zero]);
            coordinates.push(self.b.convert(Op::F2s, Flags::NONE.with_clamp(), layer, Type::I32));
        }
        let coordinates = self.op(Op::Build, &coordinates);
        // Itself; to the right; below; both.
        let [right, below] = axes.map(|axis| axis.1);
        let both = self.op(Op::And, &[right, below]);
        let mut mask = one;
        for (is_met, bit) in [(right, 2), (below, 4), (both, 8)] {
            let (bit, none) = (self.i32(bit), self.i32(0));
            let bit = self.b.select(is_met, bit, none);
            mask = self.op(Op::Or, &[mask, bit]);
        }
        let mask = self.b.convert(Op::Zext, Flags::NONE, mask, Type::I64);
        let bits = [fine, coarse].map(|level| {
            let level = self.b.convert(Op::F2u, Flags::NONE.with_clamp(), level, Type::I32);
            let two = self.i32(2);
            let shift = self.op(Op::Shl, &[level, two]);
            let shift = self.b.convert(Op::Zext, Flags::NONE, shift, Type::I64);
            self.op(Op::Shl, &[mask, shift])
        });
        let bits = self.op(Op::Or, &bits);
        self.inst(Op::ImgAtomicOr, Imm::Tex(info), &[image, coordinates, bits], Type::I64);
        Ok(Made::Nothing)
    }

    /// Along an axis: the first region that a footprint meets, and whether it meets the next one, too. Place, size of the
    /// texture and of the map are vectors.
    fn axis(&mut self, [at, size, map_size]: [Value; 3], n: u8, reach: Value) -> (Value, Value) {
        let (at, size, map_size) =
            (self.b.extract(at, n), self.b.extract(size, n), self.b.extract(map_size, n));
        let low = self.i32(REGION_BITS);
        let log2 = self.op(Op::And, &[map_size, low]);
        let one = self.i32(1);
        let region = self.op(Op::Shl, &[one, log2]);
        // As many regions as cover the texture.
        let rest = self.op(Op::Isub, &[region, one]);
        let count = self.op(Op::Iadd, &[size, rest]);
        let count = self.op(Op::Ushr, &[count, log2]);
        let [size, region] = [size, region].map(|v| self.b.convert(Op::U2f, Flags::NONE, v, Type::F32));
        let half = self.f32(0.5);
        let most = self.op(Op::Fmul, &[region, half]);
        let reach = self.op(Op::Fmin, &[reach, most]);
        let at = self.op(Op::Fract, &[at]);
        let at = self.op(Op::Fmul, &[at, size]);
        let ends = [Op::Fsub, Op::Fadd].map(|op| {
            let end = self.op(op, &[at, reach]);
            let end = self.op(Op::Fdiv, &[end, region]);
            let end = self.op(Op::Floor, &[end]);
            self.b.convert(Op::F2s, Flags::NONE.with_clamp(), end, Type::I32)
        });
        let [first, last] = ends;
        let next = self.op(Op::IcmpNe, &[first, last]);
        // In front of the first one lies the last one.
        let zero = self.i32(0);
        let is_before = self.op(Op::IcmpSlt, &[first, zero]);
        let end = self.op(Op::Isub, &[count, one]);
        let first = self.b.select(is_before, end, first);
        (first, next)
    }
}
