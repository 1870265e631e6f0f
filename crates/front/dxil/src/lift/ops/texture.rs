//! Textures, images and samplers.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::resource::{Handle, texture};
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Class, Component, Shape};
use std::rc::Rc;
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::{Bits, Flags, Imm, Kind, Op, Type, Value};

/// Which member of a result is the residency status.
pub(super) const STATUS: usize = 4;
/// The status where everything is there; 0 where something is not.
const MAPPED: u32 = 1;

impl Cx<'_> {
    pub(super) fn textures(&mut self, call: &Call<'_>) -> Lift<Made> {
        match call.op {
            Dx::Sample | Dx::SampleBias | Dx::SampleLevel | Dx::SampleGrad => self.sample(call),
            Dx::SampleCmp | Dx::SampleCmpLevelZero | Dx::SampleCmpLevel => self.sample(call),
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
        let sampler = self.handle_of(call.arg(1)?)?;
        let spatial = info.spatial();
        let mut args = vec![self.opaque(&handle, Kind::Tex)?, self.opaque(&sampler, Kind::Samp)?];
        args.push(self.vector(call, 2, spatial + u8::from(info.arrayed))?);
        let mut operands = 0;
        let mut clamp = None;
        match call.op {
            Dx::SampleCmp | Dx::SampleCmpLevelZero | Dx::SampleCmpLevel => {
                info.shadow = true;
                operands |= TexOperands::COMPARE.0;
                args.push(self.arg(call, MORE)?);
                match call.op {
                    Dx::SampleCmp => clamp = Some(MORE + 1),
                    _ => {
                        operands |= TexOperands::LOD.0;
                        let level = match call.op {
                            Dx::SampleCmpLevel => self.arg(call, MORE + 1)?,
                            _ => self.f32(0.0),
                        };
                        args.push(level);
                    }
                }
            }
            Dx::SampleBias => {
                operands |= TexOperands::BIAS.0;
                args.push(self.arg(call, MORE)?);
                clamp = Some(MORE + 1);
            }
            Dx::SampleLevel => {
                operands |= TexOperands::LOD.0;
                args.push(self.arg(call, MORE)?);
            }
            Dx::SampleGrad => {
                operands |= TexOperands::GRAD.0;
                args.push(self.vector(call, MORE, spatial)?);
                args.push(self.vector(call, MORE + 3, spatial)?);
                clamp = Some(MORE + 6);
            }
            _ => clamp = Some(MORE),
        }
        if let Some(offset) = self.offset(call, 6, spatial)? {
            operands |= TexOperands::OFFSET.0;
            args.push(offset);
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
        let coordinates = self.vector(call, 2, spatial + u8::from(info.arrayed))?;
        let ty = self.texel_type(&handle);
        if handle.declared.class == Class::Uav {
            let mut args = vec![self.opaque(&handle, Kind::Img)?, coordinates];
            if info.multisampled {
                info.operands = TexOperands::SAMPLE;
                args.push(self.arg(call, 1)?);
            }
            return self.read_texel(call, Op::ImgLoad, info, &args, ty);
        }
        let mut args = vec![self.opaque(&handle, Kind::Tex)?, coordinates];
        let level = self.arg(call, 1)?;
        let offset = self.offset(call, 5, spatial)?;
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

    /// Image, three coordinates, four values, their mask; then a sample, which is the first if none is named.
    fn texture_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        const SAMPLE: usize = 9;
        let (handle, mut info) = self.texture(call)?;
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
        let mut info = match declared.shape {
            Shape::TypedBuffer | Shape::TBuffer => TexInfo::new(Dim::Buffer, false, false),
            _ => self.texture(call)?.1,
        };
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
            let levels = info.dim != Dim::Buffer && !info.multisampled;
            if used >> COUNT & 1 == 1 && info.dim != Dim::Buffer {
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
