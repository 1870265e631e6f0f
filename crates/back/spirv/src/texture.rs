//! Textures, samplers and images: the ops on them; [`declare`] has their declarations.

mod declare;
mod element;

use crate::body::Body;
use crate::error::Reason;
use crate::rays::structure_type;
use crate::unit::{Id, Unit};
pub(crate) use declare::Textures;
use declare::{Opaque, texel_type};
use smallvec::SmallVec;
use spirv::{Capability, Decoration, GlslStd450Op as GlOp};
use spirv::{ImageOperands, Op as S, Scope, StorageClass};
use xenoglot_ir::entities::{Resource, Var};
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::module::{ImageFormat, Stage, Texel};
use xenoglot_ir::op::Sig;
use xenoglot_ir::{Inst, Kind, Op, Type, Value};

type Words = SmallVec<[u32; 8]>;

pub(crate) const OPERANDS: Reason = Reason::Invalid("operands of a texture op");

/// What was read, and whether it is resident, if that is asked for.
#[derive(Clone, Copy)]
struct Read {
    texel: Id,
    resident: Option<Id>,
}

/// The instruction that tells residency, too.
fn sparse(read: S) -> S {
    match read {
        S::ImageSampleImplicitLod => S::ImageSparseSampleImplicitLod,
        S::ImageSampleExplicitLod => S::ImageSparseSampleExplicitLod,
        S::ImageSampleDrefImplicitLod => S::ImageSparseSampleDrefImplicitLod,
        S::ImageSampleDrefExplicitLod => S::ImageSparseSampleDrefExplicitLod,
        S::ImageGather => S::ImageSparseGather,
        S::ImageDrefGather => S::ImageSparseDrefGather,
        S::ImageFetch => S::ImageSparseFetch,
        _ => S::ImageSparseRead,
    }
}

/// A handle that has been loaded, and the list of statements it was loaded in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded {
    id: Id,
    /// Where it was loaded from.
    pointer: Id,
    nonuniform: bool,
    /// What it is of; nothing where it was made of an address.
    resource: Option<Resource>,
    list: u32,
}

impl Read {
    /// What has no residency.
    fn of(texel: Id) -> Read {
        Read { texel, resident: None }
    }
}

/// The type of integer coordinates.
fn place_type(unit: &mut Unit, info: TexInfo) -> Id {
    let lanes = info.spatial() + u8::from(info.arrayed);
    unit.ty(Type::new(Kind::I32, lanes).unwrap_or(Type::I32))
}

/// Takes the size of an array apart and puts it together again, in what naga reads. Its reader takes the size for that of a layer;
/// `xenoglot-naga` makes the last component the count of layers, which it recognizes where it is extracted.
fn size_in_parts(unit: &mut Unit, info: TexInfo, ty: Type, size: Id) -> Id {
    if !unit.options.portable_ops || !info.arrayed {
        return size;
    }
    let scalar = Type::scalar(ty.kind());
    let parts: Words =
        (0..u32::from(ty.lanes())).map(|lane| unit.op(S::CompositeExtract, scalar, &[size, lane])).collect();
    unit.op_of(S::CompositeConstruct, ty, &parts)
}

impl Body<'_, '_> {
    fn opaque(&self, resource: Resource) -> Result<Opaque, Reason> {
        let known = self.shared.memory.textures.resources.get(resource).copied().flatten();
        known.ok_or(Reason::Unsupported("a handle of this resource"))
    }

    /// `resource_handle`: loads the descriptor.
    pub(crate) fn resource_handle(&mut self, inst: Inst, resource: Resource) -> Result<(), Reason> {
        let function = self.function;
        let opaque = self.opaque(resource)?;
        // naga finds out by itself where indices differ, and knows no capabilities for them.
        let portable = self.unit().options.portable_ops;
        let nonuniform = opaque.array && !portable && function.insts[inst].flags.nonuniform();
        let mut pointer = opaque.var;
        if opaque.array {
            let index = *function.args(inst).first().ok_or(OPERANDS)?;
            let constant = function.const_bits(index).is_some();
            let index = self.value(index);
            let unit = self.unit();
            let (dynamic, differing) = opaque.indexing();
            if !constant && !portable {
                unit.capability(dynamic);
            }
            if nonuniform {
                unit.capability(Capability::ShaderNonUniform);
                unit.capability(differing);
                unit.descriptor_indexing();
            }
            let pointer_type = unit.pointer(opaque.class, opaque.ty);
            pointer = unit.op_raw(S::AccessChain, pointer_type, &[opaque.var, index]);
            if nonuniform {
                unit.decorate(pointer, Decoration::NonUniform, &[]);
            }
        }
        let unit = self.unit();
        let id = unit.op_raw(S::Load, opaque.ty, &[pointer]);
        if nonuniform {
            unit.decorate(id, Decoration::NonUniform, &[]);
        }
        let list = self.list();
        let result = function.result(inst).ok_or(OPERANDS)?;
        self.handles.insert(result, Loaded { id, pointer, nonuniform, resource: Some(resource), list });
        Ok(())
    }

    fn handle(&self, v: Value) -> Result<Loaded, Reason> {
        let loaded = self.handles.get(&v).filter(|l| l.list == self.list()).copied();
        loaded.ok_or(Reason::Unsupported("a handle from another block"))
    }

    fn loaded(&self, v: Value) -> Result<(Opaque, Loaded), Reason> {
        let loaded = self.handle(v)?;
        Ok((self.opaque(loaded.resource.ok_or(OPERANDS)?)?, loaded))
    }

    /// `accel_at`: the acceleration structure at an address.
    pub(crate) fn structure_at(&mut self, inst: Inst) -> Result<(), Reason> {
        let function = self.function;
        let address = *function.args(inst).first().ok_or(OPERANDS)?;
        let address = self.value(address);
        let stage = self.shared.module.stage;
        let ty = structure_type(self.unit(), stage)?;
        let id = self.unit().op_raw(S::ConvertUToAccelerationStructureKHR, ty, &[address]);
        let list = self.list();
        let result = function.result(inst).ok_or(OPERANDS)?;
        self.handles.insert(result, Loaded { id, pointer: 0, nonuniform: false, resource: None, list });
        Ok(())
    }

    /// An acceleration structure.
    pub(crate) fn structure(&self, v: Value) -> Result<Id, Reason> {
        self.handle(v).map(|loaded| loaded.id)
    }

    /// An op on a texture or image.
    pub(crate) fn texture(&mut self, inst: Inst, info: TexInfo) -> Result<(), Reason> {
        let read = self.texture_op(inst, info)?;
        let ids = [read.map(|r| r.texel), read.and_then(|r| r.resident)];
        for (&v, id) in self.function.results(inst).iter().zip(ids) {
            self.define(v, id.ok_or(OPERANDS)?);
        }
        Ok(())
    }

    fn texture_op(&mut self, inst: Inst, info: TexInfo) -> Result<Option<Read>, Reason> {
        let function = self.function;
        let op = function.insts[inst].op;
        let args = function.args(inst);
        let &handle = args.first().ok_or(OPERANDS)?;
        let (opaque, loaded) = self.loaded(handle)?;
        let id = loaded.id;
        if (info.dim, info.arrayed, info.multisampled) != opaque.shape {
            return Err(Reason::Invalid("the shape of an op is not that of its texture"));
        }
        let ty = function.results(inst).first().map(|&v| function.ty(v));
        let kind = ty.map(Type::kind);
        let expected = opaque.texel_kind();
        let reads = matches!(op, Op::TexSample | Op::TexFetch | Op::TexGather | Op::ImgLoad);
        if reads && kind != Some(expected) {
            return Err(Reason::Invalid("texels are not what the texture has"));
        }
        let unit = self.unit();
        if unit.options.portable_ops && info.arrayed {
            // naga takes the coordinates within a layer from those with it, and panics where it does not know their type.
            for kind in [Kind::F32, Kind::I32] {
                unit.ty(Type::new(kind, info.spatial()).unwrap_or(Type::scalar(kind)));
            }
        }
        if opaque.storage {
            return self.image(op, info, (opaque, loaded), &args[1..], ty);
        }
        let separate = args.get(1).filter(|&&v| function.ty(v).kind() == Kind::Samp).copied();
        let rest = &args[if separate.is_some() { 2 } else { 1 }..];
        let sampled = match separate {
            Some(sampler) => {
                let (_, sampler) = self.loaded(sampler)?;
                let unit = self.unit();
                let ty = unit.type_of(S::TypeSampledImage, &[opaque.image]);
                let both = unit.op_raw(S::SampledImage, ty, &[id, sampler.id]);
                if loaded.nonuniform || sampler.nonuniform {
                    unit.decorate(both, Decoration::NonUniform, &[]);
                }
                both
            }
            None => id,
        };
        if matches!(op, Op::TexSample | Op::TexGather | Op::TexQueryLod)
            && separate.is_none()
            && !opaque.combined
        {
            return Err(Reason::Unsupported("filtering without a sampler"));
        }
        match op {
            Op::TexSample | Op::TexGather => self.filtered(op, info, opaque, sampled, rest).map(Some),
            Op::TexQueryLod => {
                self.quads()?;
                let coordinates = self.value(*rest.first().ok_or(OPERANDS)?);
                let unit = self.unit();
                unit.capability(Capability::ImageQuery);
                Ok(Some(Read::of(unit.op(S::ImageQueryLod, Type::F32X2, &[sampled, coordinates]))))
            }
            _ => {
                let unit = self.unit();
                let image = match opaque.combined {
                    true => unit.op_raw(S::Image, opaque.image, &[id]),
                    false => id,
                };
                self.unfiltered(op, info, opaque, image, rest, ty.unwrap_or(Type::I32)).map(Some)
            }
        }
    }

    /// Reads something of a host's type.
    fn read_image(&mut self, info: TexInfo, host: S, ty: Id, words: &[u32]) -> Read {
        let unit = self.unit();
        if !info.residency {
            return Read::of(unit.op_raw_of(host, ty, words));
        }
        unit.capability(Capability::SparseResidency);
        let code = unit.ty(Type::I32);
        let both = unit.type_of(S::TypeStruct, &[code, ty]);
        let id = unit.op_raw_of(sparse(host), both, words);
        let code = unit.op(S::CompositeExtract, Type::I32, &[id, 0]);
        let resident = unit.op(S::ImageSparseTexelsResident, Type::BOOL, &[code]);
        let texel = unit.op_raw(S::CompositeExtract, ty, &[id, 1]);
        Read { texel, resident: Some(resident) }
    }

    /// Reads a texel, and makes it one of the IR's types: integers without sign.
    fn read_texel(&mut self, info: TexInfo, opaque: Opaque, host: S, words: &[u32]) -> Read {
        let ty = texel_type(self.unit(), opaque);
        let read = match self.of_element(info, opaque, host, ty, words) {
            Some(texel) => Read::of(texel),
            None => self.read_image(info, host, ty, words),
        };
        match opaque.texel {
            Texel::Sint => {
                let ty = Type::new(opaque.texel_kind(), 4).unwrap_or(Type::I32X4);
                Read { texel: self.unit().op(S::Bitcast, ty, &[read.texel]), ..read }
            }
            _ => read,
        }
    }

    /// Reads a texel of an array's element without a filter, in what naga reads; see [`element`].
    fn of_element(&mut self, info: TexInfo, opaque: Opaque, host: S, texel: Id, words: &[u32]) -> Option<Id> {
        let unit = self.unit();
        if !opaque.array || !unit.options.portable_ops || !matches!(host, S::ImageFetch | S::ImageRead) {
            return None;
        }
        let types = [opaque.image, place_type(unit, info)];
        unit.texel_of_element(host, Some(texel), &types, words)
    }

    /// Words of the optional operands of an image instruction, in the order of their bits.
    fn image_operands(
        &mut self,
        op: Op,
        info: TexInfo,
        rest: &[Value],
    ) -> Result<(Option<Id>, Words), Reason> {
        let mut mask = ImageOperands::NONE;
        let mut values = rest.iter().copied();
        let mut next = || values.next().ok_or(OPERANDS);
        let mut ordered: SmallVec<[(u32, Words); 4]> = SmallVec::new();
        let mut compare = None;
        for (operand, _) in TexOperands::NAMED {
            if info.operands.0 & operand.0 == 0 {
                continue;
            }
            let v = next()?;
            let id = self.value(v);
            let (bit, words): (ImageOperands, Words) = match operand {
                TexOperands::COMPARE => {
                    compare = Some(id);
                    continue;
                }
                TexOperands::BIAS => (ImageOperands::BIAS, [id].into_iter().collect()),
                TexOperands::LOD => (ImageOperands::LOD, [id].into_iter().collect()),
                TexOperands::GRAD => {
                    let other = self.value(next()?);
                    (ImageOperands::GRAD, [id, other].into_iter().collect())
                }
                TexOperands::OFFSET if self.function.const_bits(v).is_some() => {
                    let (ty, bits) = (self.function.ty(v), self.function.const_bits(v).unwrap_or_default());
                    let unit = self.unit();
                    // naga wants signed integers.
                    let id = if unit.options.portable_ops { unit.signed(ty, &bits) } else { id };
                    (ImageOperands::CONST_OFFSET, [id].into_iter().collect())
                }
                TexOperands::OFFSET if op == Op::TexGather => {
                    self.unit().capability(Capability::ImageGatherExtended);
                    (ImageOperands::OFFSET, [id].into_iter().collect())
                }
                TexOperands::OFFSET => return Err(Reason::Unsupported("an offset that is not constant")),
                TexOperands::SAMPLE => (ImageOperands::SAMPLE, [id].into_iter().collect()),
                _ => {
                    self.unit().capability(Capability::MinLod);
                    (ImageOperands::MIN_LOD, [id].into_iter().collect())
                }
            };
            mask |= bit;
            ordered.push((bit.bits(), words));
        }
        ordered.sort_by_key(|(bit, _)| *bit);
        let mut out = Words::new();
        if !mask.is_empty() {
            out.push(mask.bits());
            ordered.iter().for_each(|(_, words)| out.extend_from_slice(words));
        }
        Ok((compare, out))
    }

    fn filtered(
        &mut self,
        op: Op,
        info: TexInfo,
        opaque: Opaque,
        sampled: Id,
        rest: &[Value],
    ) -> Result<Read, Reason> {
        let (&coordinates, rest) = rest.split_first().ok_or(OPERANDS)?;
        let coordinates = self.value(coordinates);
        let (compare, operands) = self.image_operands(op, info, rest)?;
        let mut words: Words = SmallVec::from_slice(&[sampled, coordinates]);
        let explicit = info.operands.0 & (TexOperands::LOD.0 | TexOperands::GRAD.0) != 0;
        if op == Op::TexSample && !explicit {
            self.quads()?;
        }
        let host = match (op, compare, explicit) {
            (Op::TexGather, Some(reference), _) => {
                words.push(reference);
                S::ImageDrefGather
            }
            (Op::TexGather, None, _) => {
                words.push(self.unit().u32(info.component.into()));
                S::ImageGather
            }
            (_, Some(reference), explicit) => {
                words.push(reference);
                if explicit { S::ImageSampleDrefExplicitLod } else { S::ImageSampleDrefImplicitLod }
            }
            (_, None, true) => S::ImageSampleExplicitLod,
            (_, None, false) => S::ImageSampleImplicitLod,
        };
        words.extend(operands);
        if op == Op::TexSample && compare.is_some() {
            let ty = self.unit().ty(Type::F32);
            return Ok(self.read_image(info, host, ty, &words));
        }
        Ok(self.read_texel(info, opaque, host, &words))
    }

    fn unfiltered(
        &mut self,
        op: Op,
        info: TexInfo,
        opaque: Opaque,
        image: Id,
        rest: &[Value],
        ty: Type,
    ) -> Result<Read, Reason> {
        let mut words: Words = SmallVec::from_slice(&[image]);
        if op == Op::TexFetch {
            let (&coordinates, rest) = rest.split_first().ok_or(OPERANDS)?;
            words.push(self.value(coordinates));
            let (_, operands) = self.image_operands(op, info, rest)?;
            words.extend(operands);
            return Ok(self.read_texel(info, opaque, S::ImageFetch, &words));
        }
        for &v in rest {
            words.push(self.value(v));
        }
        let levels = !info.multisampled && info.dim != Dim::Buffer;
        let host = match op {
            Op::TexQuerySize if levels && words.len() == 1 => {
                words.push(self.unit().u32(0));
                S::ImageQuerySizeLod
            }
            Op::TexQuerySize if levels => S::ImageQuerySizeLod,
            Op::TexQuerySize => S::ImageQuerySize,
            Op::TexQueryLevels if levels => S::ImageQueryLevels,
            Op::TexQuerySamples if info.multisampled => S::ImageQuerySamples,
            _ => return Err(Reason::Unsupported("this query of this shape")),
        };
        let unit = self.unit();
        unit.capability(Capability::ImageQuery);
        let made = unit.op_of(host, ty, &words);
        let is_size = op == Op::TexQuerySize;
        Ok(Read::of(if is_size { size_in_parts(unit, info, ty, made) } else { made }))
    }

    fn image(
        &mut self,
        op: Op,
        info: TexInfo,
        (opaque, loaded): (Opaque, Loaded),
        rest: &[Value],
        ty: Option<Type>,
    ) -> Result<Option<Read>, Reason> {
        let id = loaded.id;
        if matches!(op, Op::ImgQuery | Op::TexQuerySamples) {
            let host = match op {
                Op::ImgQuery => S::ImageQuerySize,
                _ if info.multisampled => S::ImageQuerySamples,
                _ => return Err(Reason::Unsupported("this query of this shape")),
            };
            let unit = self.unit();
            unit.capability(Capability::ImageQuery);
            let ty = ty.unwrap_or(Type::I32);
            let made = unit.op(host, ty, &[id]);
            let is_size = op == Op::ImgQuery;
            return Ok(Some(Read::of(if is_size { size_in_parts(unit, info, ty, made) } else { made })));
        }
        let (&coordinates, rest) = rest.split_first().ok_or(OPERANDS)?;
        let coordinates = self.value(coordinates);
        let unknown = opaque.format.is_unknown();
        match op {
            Op::ImgLoad => {
                if unknown {
                    self.unit().capability(Capability::StorageImageReadWithoutFormat);
                }
                let mut words: Words = SmallVec::from_slice(&[id, coordinates]);
                words.extend(self.image_operands(op, info, rest)?.1);
                Ok(Some(self.read_texel(info, opaque, S::ImageRead, &words)))
            }
            Op::ImgStore => {
                let (&v, rest) = rest.split_last().ok_or(OPERANDS)?;
                if self.function.ty(v).kind() != opaque.texel_kind() {
                    return Err(Reason::Invalid("texels are not what the image has"));
                }
                let v = self.value(v);
                let (_, operands) = self.image_operands(op, info, rest)?;
                let unit = self.unit();
                if unknown {
                    unit.capability(Capability::StorageImageWriteWithoutFormat);
                }
                let v = match opaque.texel {
                    Texel::Sint => {
                        let ty = texel_type(unit, opaque);
                        unit.op_raw(S::Bitcast, ty, &[v])
                    }
                    _ => v,
                };
                let mut words: Words = SmallVec::from_slice(&[id, coordinates, v]);
                words.extend(operands);
                if opaque.array && unit.options.portable_ops {
                    let types = [opaque.image, place_type(unit, info), texel_type(unit, opaque)];
                    unit.texel_of_element(S::ImageWrite, None, &types, &words);
                } else {
                    unit.effect_of(S::ImageWrite, &words);
                }
                Ok(None)
            }
            _ => self.image_atomic(op, opaque, loaded, coordinates, rest).map(|id| Some(Read::of(id))),
        }
    }

    fn image_atomic(
        &mut self,
        op: Op,
        opaque: Opaque,
        loaded: Loaded,
        coordinates: Id,
        rest: &[Value],
    ) -> Result<Id, Reason> {
        use ImageFormat as F;
        let wide = opaque.is_wide();
        if !wide && !matches!(opaque.format, F::R32ui | F::R32i) {
            return Err(Reason::Unsupported("atomics on images of this format"));
        }
        let ty = if wide { Type::I64 } else { Type::I32 };
        if rest.iter().any(|&v| self.function.ty(v) != ty) {
            return Err(Reason::Invalid("texels are not what the image has"));
        }
        let values: SmallVec<[Id; 2]> = rest.iter().map(|&v| self.value(v)).collect();
        let unit = self.unit();
        if wide {
            unit.capability(Capability::Int64Atomics);
        }
        let component = opaque.component;
        let pointer_type = unit.pointer(StorageClass::Image, component);
        let zero = unit.u32(0);
        let pointer = unit.op_raw(S::ImageTexelPointer, pointer_type, &[loaded.pointer, coordinates, zero]);
        if loaded.nonuniform {
            unit.decorate(pointer, Decoration::NonUniform, &[]);
        }
        let signed = opaque.texel == Texel::Sint;
        let values: SmallVec<[Id; 2]> = values
            .into_iter()
            .map(|v| if signed { unit.op_raw(S::Bitcast, component, &[v]) } else { v })
            .collect();
        let (scope, relaxed) = (unit.u32(Scope::Device as u32), zero);
        let host = match op {
            Op::ImgAtomicAdd => S::AtomicIAdd,
            Op::ImgAtomicAnd => S::AtomicAnd,
            Op::ImgAtomicOr => S::AtomicOr,
            Op::ImgAtomicXor => S::AtomicXor,
            Op::ImgAtomicXchg => S::AtomicExchange,
            Op::ImgAtomicCmpxchg => S::AtomicCompareExchange,
            // naga goes by the type of the texels.
            Op::ImgAtomicUmin | Op::ImgAtomicUmax if signed && unit.options.portable_ops => {
                return Err(Reason::Unsupported("an unsigned atomic on an image of signed texels"));
            }
            Op::ImgAtomicSmin | Op::ImgAtomicSmax if !signed && unit.options.portable_ops => {
                return Err(Reason::Unsupported("a signed atomic on an image of unsigned texels"));
            }
            Op::ImgAtomicUmin => S::AtomicUMin,
            Op::ImgAtomicUmax => S::AtomicUMax,
            Op::ImgAtomicSmin => S::AtomicSMin,
            Op::ImgAtomicSmax => S::AtomicSMax,
            _ => return Err(Reason::Unsupported("no back end takes this op yet")),
        };
        let mut words: Words = SmallVec::from_slice(&[pointer, scope, relaxed]);
        match values[..] {
            [expected, new] if op == Op::ImgAtomicCmpxchg => words.extend([relaxed, new, expected]),
            [v] if op != Op::ImgAtomicCmpxchg => words.push(v),
            _ => return Err(OPERANDS),
        }
        let id = unit.op_raw_of(host, component, &words);
        Ok(if signed { unit.op(S::Bitcast, ty, &[id]) } else { id })
    }

    /// An input at another place of the pixel.
    pub(crate) fn interpolate(&mut self, inst: Inst, var: Var) -> Result<Id, Reason> {
        let function = self.function;
        debug_assert!(matches!(function.insts[inst].op.info().sig, Sig::Interpolate(_)));
        let ty = function.result(inst).map_or(Type::F32, |v| function.ty(v));
        if self.shared.module.stage != Stage::Fragment || ty.kind() != Kind::F32 {
            return Err(Reason::Unsupported("interpolation of this input"));
        }
        let pointer = self.shared.interface.pointer(self.shared.unit, var, ty, &[])?;
        let op = match function.insts[inst].op {
            Op::InterpolateCentroid => GlOp::InterpolateAtCentroid,
            Op::InterpolateSample => GlOp::InterpolateAtSample,
            _ => GlOp::InterpolateAtOffset,
        };
        let mut words: Words = SmallVec::from_slice(&[pointer]);
        for &v in function.args(inst) {
            words.push(self.value(v));
        }
        let unit = self.unit();
        unit.capability(Capability::InterpolationFunction);
        Ok(unit.glsl(op, ty, &words))
    }
}
