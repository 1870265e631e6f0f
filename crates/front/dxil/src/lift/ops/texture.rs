//! Textures, images and samplers.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::resource::{Handle, texture};
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Class, Component, Shape};
use std::rc::Rc;
use xenoglot_ir::imm::{TexInfo, TexOperands};
use xenoglot_ir::{Bits, Flags, Imm, Kind, Op, Type, Value};

/// What a sample's level is chosen by.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// The coordinates of the quad's invocations.
    Quad,
    /// Those, and this is added.
    Bias(Value),
    /// Its number.
    Level(Value),
    /// How the coordinates change along x and y.
    Gradients([Value; 2]),
}

/// Which member of a result is the residency status.
pub(super) const STATUS: usize = 4;
/// The status where everything is there; 0 where something is not.
const MAPPED: u32 = 1;

impl Cx<'_> {
    pub(super) fn textures(&mut self, call: &Call<'_>) -> Lift<Made> {
        match call.op {
            Dx::Sample | Dx::SampleBias | Dx::SampleLevel | Dx::SampleGrad => self.sample(call),
            Dx::SampleCmp | Dx::SampleCmpLevelZero | Dx::SampleCmpLevel => self.sample(call),
            Dx::SampleCmpBias | Dx::SampleCmpGrad => self.sample(call),
            Dx::TextureGather | Dx::TextureGatherCmp | Dx::TextureGatherRaw => self.gather(call),
            Dx::TextureLoad => self.texture_load(call),
            Dx::TextureStore | Dx::TextureStoreSample => self.texture_store(call),
            Dx::CalculateLOD => self.lod(call),
            Dx::GetDimensions => self.dimensions(call),
            Dx::CheckAccessFullyMapped => {
                let status = self.arg(call, 0)?;
                let zero = self.constant(self.ty(status), 0);
                Ok(self.op(Op::IcmpNe, &[status, zero]).into())
            }
            _ => Err(NOT_LIFTED),
        }
    }

    /// The handle of operand 0 and its shape.
    pub(super) fn texture(&mut self, call: &Call<'_>) -> Lift<(Rc<Handle>, TexInfo)> {
        let handle = self.handle_of(call.arg(0)?)?;
        let (dim, arrayed, multisampled) = texture(handle.declared.shape)?;
        Ok((handle, TexInfo::new(dim, arrayed, multisampled)))
    }

    /// Operands from `first` on as a vector, or one of them.
    pub(super) fn vector(&mut self, call: &Call<'_>, first: usize, lanes: u8) -> Lift<Value> {
        let values = (0..usize::from(lanes)).map(|n| self.arg(call, first + n)).collect::<Lift<Vec<_>>>()?;
        Ok(match *values {
            [v] => v,
            _ => self.op(Op::Build, &values),
        })
    }

    /// The offset in operands from `first` on, if there is one that is not zero. Hosts take constants alone, which it is in
    /// shader models that the compiler knows.
    fn offset(&mut self, call: &Call<'_>, first: usize, lanes: u8) -> Lift<Option<Value>> {
        let mut constant = Bits::default();
        for n in 0..usize::from(lanes) {
            match self.integer(call.arg(first + n)?) {
                Ok(offset) => constant.0[n] = offset & Type::I32.kind().mask(),
                Err(_) => return self.vector(call, first, lanes).map(Some),
            }
        }
        if constant == Bits::default() {
            return Ok(None);
        }
        let ty = Type::I32.with_lanes(lanes).unwrap_or(Type::I32);
        Ok(Some(self.b.constant(ty, constant)))
    }

    /// The status of what is always there.
    pub(super) fn mapped(&mut self) -> Val {
        Val::Scalar(self.i32(MAPPED))
    }

    /// Whether a call's result is asked whether all that was read is there, and the host is to say so.
    pub(super) fn asks_residency(&self, call: &Call<'_>) -> bool {
        !self.options.all_resident && self.used_members(call.result) >> STATUS & 1 != 0
    }

    /// Reads a texel: its lanes as a result's members, and the status.
    pub(super) fn read_texel(
        &mut self,
        call: &Call<'_>,
        op: Op,
        info: TexInfo,
        args: &[Value],
        ty: Type,
    ) -> Lift<Made> {
        let residency = self.asks_residency(call);
        let types = [ty, Type::BOOL];
        let imm = Imm::Tex(TexInfo { residency, ..info });
        let inst = self.b.inst(op, Flags::NONE, imm, args, &types[..1 + usize::from(residency)]);
        let results = self.b.func.results(inst);
        let (texel, resident) = (results[0], results.get(1).copied());
        let mut members = self.texel_members(call, texel)?;
        members.push(match resident {
            Some(resident) => Val::Scalar(self.resize(resident, Type::I32)),
            None => self.mapped(),
        });
        Ok(Made::Value(Val::members(members)))
    }

    /// What is looked at of a texel's lanes. Those of a texel of 64 bits are its two words.
    fn texel_members(&mut self, call: &Call<'_>, texel: Value) -> Lift<Vec<Val>> {
        let ty = self.result_scalar(call, Some(0))?;
        let used = self.used_members(call.result);
        let texel = match self.ty(texel) {
            Type::I64X4 => {
                let texel = self.b.extract(texel, 0);
                self.inst(Op::Bitcast, Imm::None, &[texel], Type::I32X2)
            }
            _ => texel,
        };
        let lanes = self.ty(texel).lanes();
        let mut members = Vec::new();
        for lane in 0..STATUS as u8 {
            members.push(match used >> lane & 1 {
                0 => Val::Undef,
                _ if lanes > 1 && lane >= lanes => Val::Undef,
                _ => {
                    let v = if lanes == 1 { texel } else { self.b.extract(texel, lane) };
                    Val::Scalar(if ty.kind().is_float() { self.float(v, ty) } else { self.resize(v, ty) })
                }
            });
        }
        Ok(members)
    }

    pub(super) fn texel_type(&self, handle: &Handle) -> Type {
        match handle.declared.component {
            Some(Component::Sint | Component::Uint) if handle.declared.wide => Type::I64X4,
            Some(Component::Sint | Component::Uint) => Type::I32X4,
            _ => Type::F32X4,
        }
    }

    /// Texture, sampler, four coordinates, three offsets, then what the operation adds.
    fn sample(&mut self, call: &Call<'_>) -> Lift<Made> {
        const MORE: usize = 9;
        let (handle, mut info) = self.texture(call)?;
        let plain = info;
        let sampler = self.handle_of(call.arg(1)?)?;
        let spatial = info.spatial();
        let (texture, sampler) = (self.opaque(&handle, Kind::Tex)?, self.opaque(&sampler, Kind::Samp)?);
        let coordinates = self.vector(call, 2, spatial + u8::from(info.arrayed))?;
        let mut args = vec![texture, sampler, coordinates];
        let mut operands = 0;
        // What the level is chosen by comes behind what is compared with.
        let mut more = MORE;
        if matches!(
            call.op,
            Dx::SampleCmp
                | Dx::SampleCmpLevelZero
                | Dx::SampleCmpLevel
                | Dx::SampleCmpBias
                | Dx::SampleCmpGrad
        ) {
            info.shadow = true;
            operands |= TexOperands::COMPARE.0;
            args.push(self.arg(call, MORE)?);
            more += 1;
        }
        let (by, clamp) = match call.op {
            Dx::SampleCmpLevelZero => (By::Level(self.f32(0.0)), None),
            Dx::SampleLevel | Dx::SampleCmpLevel => (By::Level(self.arg(call, more)?), None),
            Dx::SampleBias | Dx::SampleCmpBias => (By::Bias(self.arg(call, more)?), Some(more + 1)),
            Dx::SampleGrad | Dx::SampleCmpGrad => {
                let gradients = [self.vector(call, more, spatial)?, self.vector(call, more + 3, spatial)?];
                (By::Gradients(gradients), Some(more + 6))
            }
            _ => (By::Quad, Some(more)),
        };
        match by {
            By::Quad => {}
            By::Bias(bias) => {
                operands |= TexOperands::BIAS.0;
                args.push(bias);
            }
            By::Level(level) => {
                operands |= TexOperands::LOD.0;
                args.push(level);
            }
            By::Gradients(gradients) => {
                operands |= TexOperands::GRAD.0;
                args.extend(gradients);
            }
        }
        match self.offset(call, 6, spatial)? {
            Some(offset) if self.b.func.const_bits(offset).is_some() => {
                operands |= TexOperands::OFFSET.0;
                args.push(offset);
            }
            // Hosts take constants alone.
            Some(offset) => args[2] = self.moved_by(plain, args[2], offset, [texture, sampler], by),
            None => {}
        }
        // A least level of 0, which the compiler writes where there has to be one, is none.
        if let Some(n) = clamp
            && !self.is_undef(call.arg(n)?)
        {
            let least = self.arg(call, n)?;
            if self.b.func.const_bits(least) != Some(Bits::default()) {
                operands |= TexOperands::MIN_LOD.0;
                args.push(least);
            }
        }
        info.operands = TexOperands(operands);
        let ty = if info.shadow { Type::F32 } else { self.texel_type(&handle) };
        self.read_texel(call, Op::TexSample, info, &args, ty)
    }

    /// Coordinates moved by texels, those of the level that is read: the nearest one, where a filter reads two.
    fn moved_by(
        &mut self,
        info: TexInfo,
        coordinates: Value,
        offset: Value,
        [texture, sampler]: [Value; 2],
        by: By,
    ) -> Value {
        let spatial = info.spatial();
        let lane = |cx: &mut Self, v: Value, n: u8| if cx.ty(v).is_scalar() { v } else { cx.b.extract(v, n) };
        let all: Vec<Value> = (0..self.ty(coordinates).lanes()).map(|n| lane(self, coordinates, n)).collect();
        let place = match &all[..usize::from(spatial)] {
            &[v] => v,
            lanes => self.op(Op::Build, lanes),
        };
        let level = self.level(info, [texture, sampler], place, by);
        let half = self.f32(0.5);
        let level = self.op(Op::Fadd, &[level, half]);
        let level = self.op(Op::Floor, &[level]);
        let level = self.b.convert(Op::F2s, Flags::NONE.with_clamp(), level, Type::I32);
        let size = self.size_of_level(info, texture, Some(level));
        let mut moved = Vec::new();
        for (n, &v) in (0..).zip(&all) {
            if n >= spatial {
                moved.push(v);
                continue;
            }
            let (by, size) = (lane(self, offset, n), lane(self, size, n));
            let by = self.b.convert(Op::S2f, Flags::NONE, by, Type::F32);
            let size = self.b.convert(Op::U2f, Flags::NONE, size, Type::F32);
            let by = self.op(Op::Fdiv, &[by, size]);
            moved.push(self.op(Op::Fadd, &[v, by]));
        }
        match moved[..] {
            [v] => v,
            _ => self.op(Op::Build, &moved),
        }
    }

    /// The level that is sampled at a place within a layer, a float that may be outside of the texture's.
    pub(super) fn level(&mut self, info: TexInfo, handles: [Value; 2], place: Value, by: By) -> Value {
        match by {
            By::Level(level) => level,
            By::Gradients(gradients) => {
                let size = self.size_of_level(info, handles[0], None);
                let mut longest = None;
                for gradient in gradients {
                    let mut sum = None;
                    for n in 0..info.spatial() {
                        let lane = |cx: &mut Self, v: Value| {
                            if cx.ty(v).is_scalar() { v } else { cx.b.extract(v, n) }
                        };
                        let (slope, size) = (lane(self, gradient), lane(self, size));
                        let size = self.b.convert(Op::U2f, Flags::NONE, size, Type::F32);
                        let texels = self.op(Op::Fmul, &[slope, size]);
                        let square = self.op(Op::Fmul, &[texels, texels]);
                        sum = Some(match sum {
                            Some(sum) => self.op(Op::Fadd, &[sum, square]),
                            None => square,
                        });
                    }
                    let sum = sum.unwrap_or_else(|| self.f32(1.0));
                    longest = Some(match longest {
                        Some(other) => self.op(Op::Fmax, &[other, sum]),
                        None => sum,
                    });
                }
                // Half the logarithm of the square.
                let longest = longest.unwrap_or_else(|| self.f32(1.0));
                let (level, half) = (self.op(Op::Log2, &[longest]), self.f32(0.5));
                self.op(Op::Fmul, &[level, half])
            }
            By::Quad | By::Bias(_) => {
                let args = [handles[0], handles[1], place];
                let levels = self.inst(Op::TexQueryLod, Imm::Tex(info), &args, Type::F32X2);
                let level = self.b.extract(levels, 1);
                match by {
                    By::Bias(bias) => self.op(Op::Fadd, &[level, bias]),
                    _ => level,
                }
            }
        }
    }

    /// The size of a level, or of the first: of one that there is not, that of the nearest.
    pub(super) fn size_of_level(&mut self, info: TexInfo, texture: Value, level: Option<Value>) -> Value {
        let zero = self.i32(0);
        let level = match level {
            Some(level) => {
                let levels = self.inst(Op::TexQueryLevels, Imm::Tex(info), &[texture], Type::I32);
                let one = self.i32(1);
                let last = self.op(Op::Isub, &[levels, one]);
                let level = self.op(Op::Imax, &[level, zero]);
                self.op(Op::Imin, &[level, last])
            }
            None => zero,
        };
        let ty = Type::I32.with_lanes(info.size_lanes()).unwrap_or(Type::I32);
        let of_level = TexInfo { operands: TexOperands::LOD, ..info };
        self.inst(Op::TexQuerySize, Imm::Tex(of_level), &[texture, level], ty)
    }

    /// Texture, sampler, four coordinates, two offsets, the channel, and what is compared with.
    fn gather(&mut self, call: &Call<'_>) -> Lift<Made> {
        let (handle, mut info) = self.texture(call)?;
        let sampler = self.handle_of(call.arg(1)?)?;
        let mut args = vec![self.opaque(&handle, Kind::Tex)?, self.opaque(&sampler, Kind::Samp)?];
        args.push(self.vector(call, 2, info.spatial() + u8::from(info.arrayed))?);
        let mut operands = 0;
        if call.op != Dx::TextureGatherRaw {
            info.component = self.integer(call.arg(8)?)? as u8 & 3;
        }
        if call.op == Dx::TextureGatherCmp {
            info.shadow = true;
            operands |= TexOperands::COMPARE.0;
            args.push(self.arg(call, 9)?);
        }
        // Cubes have no offsets.
        if info.spatial() == 2
            && let Some(offset) = self.offset(call, 6, 2)?
        {
            operands |= TexOperands::OFFSET.0;
            args.push(offset);
        }
        info.operands = TexOperands(operands);
        self.read_texel(call, Op::TexGather, info, &args, self.texel_type(&handle))
    }

    /// Texture, level or sample, three coordinates, three offsets.
    fn texture_load(&mut self, call: &Call<'_>) -> Lift<Made> {
        let (handle, mut info) = self.texture(call)?;
        let spatial = info.spatial();
        let mut coordinates = self.vector(call, 2, spatial + u8::from(info.arrayed))?;
        let ty = self.texel_type(&handle);
        if handle.declared.class == Class::Uav {
            let mut args = vec![self.opaque(&handle, Kind::Img)?, coordinates];
            if info.multisampled {
                info.operands = TexOperands::SAMPLE;
                args.push(self.arg(call, 1)?);
            }
            return self.read_texel(call, Op::ImgLoad, info, &args, ty);
        }
        let level = self.arg(call, 1)?;
        let mut offset = self.offset(call, 5, spatial)?;
        // Hosts take constants alone.
        if let Some(by) = offset.filter(|&v| self.b.func.const_bits(v).is_none()) {
            coordinates = self.added(coordinates, by);
            offset = None;
        }
        let mut args = vec![self.opaque(&handle, Kind::Tex)?, coordinates];
        let mut operands = 0;
        if !info.multisampled {
            operands |= TexOperands::LOD.0;
            args.push(level);
        }
        if let Some(offset) = offset {
            operands |= TexOperands::OFFSET.0;
            args.push(offset);
        }
        if info.multisampled {
            operands |= TexOperands::SAMPLE.0;
            args.push(level);
        }
        info.operands = TexOperands(operands);
        self.read_texel(call, Op::TexFetch, info, &args, ty)
    }

    /// Coordinates further by a vector that is as long or lacks the layer.
    fn added(&mut self, coordinates: Value, by: Value) -> Value {
        let (lanes, less) = (self.ty(coordinates).lanes(), self.ty(by).lanes());
        let by = match (less, lanes) {
            _ if less == lanes => by,
            (1, _) => {
                let zero = self.i32(0);
                self.op(Op::Build, &[by, zero])
            }
            _ => {
                let mut all: Vec<Value> = (0..less).map(|n| self.b.extract(by, n)).collect();
                all.push(self.i32(0));
                self.op(Op::Build, &all)
            }
        };
        self.op(Op::Iadd, &[coordinates, by])
    }

    /// Image, three coordinates, four values, their mask; then a sample, which is the first if none is named.
    fn texture_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        const SAMPLE: usize = 9;
        let (handle, mut info) = self.texture(call)?;
        if self.nvapi_marks(call, &handle) {
            return Ok(Made::Nothing);
        }
        let coordinates = self.vector(call, 1, info.spatial() + u8::from(info.arrayed))?;
        let texel = self.stored_texel(call, &handle, 4)?;
        let mut args = vec![self.opaque(&handle, Kind::Img)?, coordinates];
        if info.multisampled {
            info.operands = TexOperands::SAMPLE;
            args.push(match call.op {
                Dx::TextureStoreSample => self.arg(call, SAMPLE)?,
                _ => self.i32(0),
            });
        }
        args.push(texel);
        self.b.inst(Op::ImgStore, Flags::NONE, Imm::Tex(info), &args, &[]);
        Ok(Made::Nothing)
    }

    /// Operands from `first` on as a texel of four lanes; the first two are the words of one of 64 bits.
    pub(super) fn stored_texel(&mut self, call: &Call<'_>, handle: &Handle, first: usize) -> Lift<Value> {
        if self.texel_type(handle) == Type::I64X4 {
            let words = self.vector(call, first, 2)?;
            if self.ty(words) != Type::I32X2 {
                return Err(Stop::Unsupported("texels of this type"));
            }
            let texel = self.inst(Op::Bitcast, Imm::None, &[words], Type::I64);
            return Ok(self.inst(Op::Splat, Imm::None, &[texel], Type::I64X4));
        }
        let lane = self.texel_type(handle).lane();
        let mut lanes = Vec::new();
        for n in first..first + 4 {
            let v = self.arg(call, n)?;
            lanes.push(match (lane.kind().is_float(), self.ty(v).kind().is_float()) {
                (true, true) => self.float(v, lane),
                (false, false) if handle.declared.component == Some(Component::Sint) => {
                    self.resize_signed(v, lane)
                }
                (false, false) => self.resize(v, lane),
                _ => return Err(Stop::Unsupported("texels of this type")),
            });
        }
        Ok(self.op(Op::Build, &lanes))
    }

    /// Resource and level: width, height, depth or layers; then levels or samples. Of buffers their bytes, texels, or
    /// records and the bytes of one.
    fn dimensions(&mut self, call: &Call<'_>) -> Lift<Made> {
        const COUNT: usize = 3;
        let handle = self.handle_of(call.arg(0)?)?;
        let used = self.used_members(call.result);
        let mut members = vec![Val::Undef; COUNT + 1];
        let declared = handle.declared;
        match declared.shape {
            Shape::RawBuffer | Shape::StructuredBuffer => {
                let buffer = self.bind(&handle)?;
                let mut size = self.size_of(buffer);
                if declared.shape == Shape::StructuredBuffer {
                    let stride = self.i32(declared.bytes.max(1));
                    size = self.op(Op::Udiv, &[size, stride]);
                    members[1] = Val::Scalar(stride);
                }
                members[0] = Val::Scalar(size);
                return Ok(Made::Value(Val::members(members)));
            }
            _ => {}
        }
        if matches!(declared.shape, Shape::TypedBuffer | Shape::TBuffer) {
            members[0] = Val::Scalar(self.texel_count(&handle)?);
            return Ok(Made::Value(Val::members(members)));
        }
        let mut info = self.texture(call)?.1;
        let lanes = info.size_lanes();
        let ty = Type::I32.with_lanes(lanes).unwrap_or(Type::I32);
        let size = if declared.class == Class::Uav {
            let image = self.opaque(&handle, Kind::Img)?;
            if info.multisampled && used >> COUNT & 1 == 1 {
                let samples = self.inst(Op::TexQuerySamples, Imm::Tex(info), &[image], Type::I32);
                members[COUNT] = Val::Scalar(samples);
            }
            self.inst(Op::ImgQuery, Imm::Tex(info), &[image], ty)
        } else {
            let texture = self.opaque(&handle, Kind::Tex)?;
            let levels = !info.multisampled;
            if used >> COUNT & 1 == 1 {
                let op = if levels { Op::TexQueryLevels } else { Op::TexQuerySamples };
                members[COUNT] = Val::Scalar(self.inst(op, Imm::Tex(info), &[texture], Type::I32));
            }
            let mut args = vec![texture];
            if levels {
                info.operands = TexOperands::LOD;
                args.push(self.arg(call, 1)?);
            }
            self.inst(Op::TexQuerySize, Imm::Tex(info), &args, ty)
        };
        for lane in 0..lanes {
            let v = if lanes == 1 { size } else { self.b.extract(size, lane) };
            members[usize::from(lane)] = Val::Scalar(v);
        }
        Ok(Made::Value(Val::members(members)))
    }

    /// Texture, sampler, three coordinates, whether the level is held within the texture's.
    fn lod(&mut self, call: &Call<'_>) -> Lift<Made> {
        let (handle, info) = self.texture(call)?;
        let sampler = self.handle_of(call.arg(1)?)?;
        let mut args = vec![self.opaque(&handle, Kind::Tex)?, self.opaque(&sampler, Kind::Samp)?];
        args.push(self.vector(call, 2, info.spatial())?);
        let clamped = self.integer(call.arg(5)?)? != 0;
        let levels = self.inst(Op::TexQueryLod, Imm::Tex(info), &args, Type::F32X2);
        Ok(self.b.extract(levels, u8::from(!clamped)).into())
    }
}
