//! What becomes of a request: samples, fetches, gathers and queries of the host's textures.

use super::{Fields, Request, Values, lanes, shape_of};
use crate::gpu::{Shape, Texture};
use crate::lift::Unsupported;
use crate::lift::cx::{Cx, Lift};
use crate::lift::handle::Declared;
use crate::modifier::LodMode;
use crate::sph::Stage;
use smallvec::SmallVec;
use xenoglot_ir::imm::{Dim, TexInfo, TexOperands};
use xenoglot_ir::module::Texel;
use xenoglot_ir::{Bits, Flags, Imm, Kind, Op, Type, Value};

impl Cx<'_> {
    /// What the texture is, and the shape it has for the host.
    pub(super) fn texture(&self, request: &Request) -> (Texture, Shape) {
        let texture = self.io.gpu.texture(request.source.handle);
        let shape = texture.shape.unwrap_or(shape_of(request.dim, request.multisampled));
        (texture, shape)
    }

    pub(super) fn declared(&mut self, request: &Request, texture: Texture, shape: Shape) -> Lift<Value> {
        let shadow = request.compare.is_some();
        let texel = if shadow { Texel::Float } else { texture.texel };
        self.texture_handle(request.source, Declared { shape, shadow, texel })
    }

    pub(super) fn info(shape: Shape, shadow: bool) -> TexInfo {
        TexInfo { shadow, ..TexInfo::new(shape.dim, shape.arrayed, shape.multisampled) }
    }

    fn vector(&mut self, values: &[Value]) -> Lift<Value> {
        match values {
            [] => Err(Unsupported),
            &[v] => Ok(v),
            values => Ok(self.op(Op::Build, values)),
        }
    }

    /// Coordinates as floats, as many as the shape has, then the layer.
    pub(super) fn float_coordinates(
        &mut self,
        request: &Request,
        texture: Texture,
        shape: Shape,
        moved: bool,
    ) -> Lift<Value> {
        let n = usize::from(Self::info(shape, false).spatial());
        let zero = self.b.f32(0.0);
        let mut values = Values::new();
        for i in 0..n {
            let v = request.coordinates.get(i).copied();
            values.push(v.map_or(zero, |v| self.cast(v, Type::F32)));
        }
        if !texture.normalized || moved {
            let offset = request.offset.filter(|_| moved);
            self.scale(request, (texture, shape), &mut values, offset)?;
        }
        if shape.arrayed {
            let layer = match request.layer {
                Some(v) => {
                    let v = self.field(v, 0, 16, false);
                    self.convert(Op::U2f, v, Type::F32)
                }
                None => zero,
            };
            values.push(layer);
        }
        self.vector(&values)
    }

    /// Divides coordinates in texels by the size, and moves coordinates by offsets that the host does not take.
    fn scale(
        &mut self,
        request: &Request,
        (texture, shape): (Texture, Shape),
        values: &mut [Value],
        offset: Option<(Value, Fields)>,
    ) -> Lift<()> {
        let level = self.zero();
        let size = self.size(request, (texture, shape), level)?;
        let size_lanes = self.b.func.ty(size).lanes();
        for (i, v) in (0..size_lanes).zip(values.iter_mut()) {
            let extent = if size_lanes > 1 { self.b.extract(size, i) } else { size };
            let extent = self.convert(Op::U2f, extent, Type::F32);
            if !texture.normalized {
                *v = self.op(Op::Fdiv, &[*v, extent]);
            }
            if let Some((word, fields)) = offset {
                let step = self.field(word, fields.first + fields.step * u32::from(i), fields.len, true);
                let step = self.convert(Op::S2f, step, Type::F32);
                let step = self.op(Op::Fdiv, &[step, extent]);
                *v = self.op(Op::Fadd, &[*v, step]);
            }
        }
        Ok(())
    }

    /// The size of a level.
    pub(super) fn size(
        &mut self,
        request: &Request,
        (texture, shape): (Texture, Shape),
        level: Value,
    ) -> Lift<Value> {
        let handle = self.declared(request, texture, shape)?;
        let mut info = Self::info(shape, request.compare.is_some());
        let mut args: Values = SmallVec::from_slice(&[handle]);
        if shape.dim != Dim::Buffer && !shape.multisampled {
            info.operands = TexOperands::LOD;
            args.push(level);
        }
        let ty = lanes(Kind::I32, info.size_lanes())?;
        Ok(self.texture_op(Op::TexQuerySize, info, &args, ty))
    }

    pub(super) fn texture_op(&mut self, op: Op, info: TexInfo, args: &[Value], ty: Type) -> Value {
        let inst = self.b.inst(op, Flags::NONE, Imm::Tex(info), args, &[ty]);
        self.b.func.results(inst)[0]
    }

    /// An offset as a constant vector, if it is known.
    fn constant_offset(&mut self, (word, fields): (Value, Fields), n: u8) -> Option<Value> {
        let word = self.b.func.const_bits(word)?.lane(0) as u32;
        let axis = |i: u32| {
            let at = fields.first + fields.step * i;
            let field = (word >> at) << (32 - fields.len);
            u64::from((field as i32 >> (32 - fields.len)) as u32)
        };
        let bits: [u64; 4] = std::array::from_fn(|i| if i < usize::from(n) { axis(i as u32) } else { 0 });
        Some(self.b.constant(Type::new(Kind::I32, n)?, Bits(bits)))
    }

    /// An offset as a vector.
    fn offset_vector(&mut self, offset: (Value, Fields), n: u8) -> Lift<Value> {
        if let Some(v) = self.constant_offset(offset, n) {
            return Ok(v);
        }
        let (word, fields) = offset;
        let axes: Values = (0..u32::from(n))
            .map(|i| self.field(word, fields.first + fields.step * i, fields.len, true))
            .collect();
        self.vector(&axes)
    }

    /// The four components of a texel, of floats or integers.
    fn components(&mut self, v: Value) -> [Value; 4] {
        if self.b.func.ty(v).is_scalar() {
            return [v; 4];
        }
        [0, 1, 2, 3].map(|i| self.b.extract(v, i))
    }

    /// A filtered texel.
    pub(super) fn sample(&mut self, request: &Request) -> Lift<[Value; 4]> {
        let (texture, shape) = self.texture(request);
        if shape.multisampled || shape.dim == Dim::Buffer {
            return Err(Unsupported);
        }
        let mut info = Self::info(shape, request.compare.is_some());
        let n = info.spatial();
        let constant = match request.offset {
            // A cube has no offsets.
            Some(offset) if shape.dim != Dim::Cube => self.constant_offset(offset, n),
            _ => None,
        };
        let moved = request.offset.is_some() && constant.is_none() && shape.dim != Dim::Cube;
        let coordinates = self.float_coordinates(request, texture, shape, moved)?;
        let handle = self.declared(request, texture, shape)?;
        let mut args: SmallVec<[Value; 8]> = SmallVec::from_slice(&[handle, coordinates]);
        if let Some(v) = request.compare {
            info.operands.0 |= TexOperands::COMPARE.0;
            args.push(self.cast(v, Type::F32));
        }
        let quads = self.io.stage() == Some(Stage::Fragment);
        let level = match (request.lod, request.lod_value) {
            _ if request.gradient.is_some() => None,
            (LodMode::Lb, Some(v)) if quads => {
                info.operands.0 |= TexOperands::BIAS.0;
                args.push(self.cast(v, Type::F32));
                None
            }
            (LodMode::Implicit, _) if quads => None,
            // Without neighbours, the level is the first.
            (_, Some(v)) => Some(self.cast(v, Type::F32)),
            (_, None) => Some(self.b.f32(0.0)),
        };
        if let Some(level) = level {
            info.operands.0 |= TexOperands::LOD.0;
            args.push(level);
        }
        if let Some(gradient) = &request.gradient {
            info.operands.0 |= TexOperands::GRAD.0;
            let zero = self.b.f32(0.0);
            for along in gradient {
                let along: Values =
                    (0..usize::from(n)).map(|i| along.get(i).copied().unwrap_or(zero)).collect();
                args.push(self.vector(&along)?);
            }
        }
        if let Some(offset) = constant {
            info.operands.0 |= TexOperands::OFFSET.0;
            args.push(offset);
        }
        self.note_derivatives(info.operands);
        let ty = match (info.shadow, texture.texel) {
            (true, _) => Type::F32,
            (_, Texel::Float) => Type::F32X4,
            _ => Type::I32X4,
        };
        let v = self.texture_op(Op::TexSample, info, &args, ty);
        Ok(self.components(v))
    }

    /// A texel by its place.
    pub(super) fn fetch(&mut self, request: &Request) -> Lift<[Value; 4]> {
        let (texture, shape) = self.texture(request);
        if shape.dim == Dim::Cube {
            return Err(Unsupported);
        }
        let mut info = Self::info(shape, false);
        let zero = self.zero();
        let mut values = Values::new();
        for i in 0..u32::from(info.spatial()) {
            let v = request.coordinates.get(i as usize).copied().unwrap_or(zero);
            values.push(match request.offset {
                Some((word, fields)) => {
                    let step = self.field(word, fields.first + fields.step * i, fields.len, true);
                    self.op(Op::Iadd, &[v, step])
                }
                None => v,
            });
        }
        if shape.arrayed {
            let layer = request.layer.map_or(zero, |v| self.field(v, 0, 16, false));
            values.push(layer);
        }
        let coordinates = self.vector(&values)?;
        let handle = self.declared(request, texture, shape)?;
        let mut args: SmallVec<[Value; 8]> = SmallVec::from_slice(&[handle, coordinates]);
        if shape.multisampled {
            info.operands = TexOperands::SAMPLE;
            args.push(request.sample.unwrap_or(zero));
        } else if shape.dim != Dim::Buffer {
            info.operands = TexOperands::LOD;
            args.push(request.lod_value.unwrap_or(zero));
        }
        let ty = if texture.texel == Texel::Float { Type::F32X4 } else { Type::I32X4 };
        let v = self.texture_op(Op::TexFetch, info, &args, ty);
        Ok(self.components(v))
    }

    /// A gather of a plane, its coordinates moved as the host needs it.
    fn biased(&mut self, request: &Request, texture: Texture, shape: Shape) -> Lift<Option<Request>> {
        if shape.dim != Dim::D2 {
            return Ok(None);
        }
        let Some(bits) = self.io.gpu.gather_bias() else { return Ok(None) };
        let step = self.b.f32(0.5f32.powi(i32::from(bits) + 1));
        let mut request = request.clone();
        let level = self.zero();
        let size = self.size(&request, (texture, shape), level)?;
        for (i, v) in (0..2).zip(&mut request.coordinates) {
            let step = if texture.normalized {
                let extent = self.b.extract(size, i);
                let extent = self.convert(Op::U2f, extent, Type::F32);
                self.op(Op::Fdiv, &[step, extent])
            } else {
                step
            };
            let at = self.cast(*v, Type::F32);
            *v = self.op(Op::Fadd, &[at, step]);
        }
        Ok(Some(request))
    }

    /// A component of four texels.
    pub(super) fn gather(&mut self, request: &Request, component: u8) -> Lift<[Value; 4]> {
        let (texture, shape) = self.texture(request);
        if shape.multisampled || !matches!(shape.dim, Dim::D2 | Dim::Cube) {
            return Err(Unsupported);
        }
        let mut info = Self::info(shape, request.compare.is_some());
        let biased = self.biased(request, texture, shape)?;
        let request = biased.as_ref().unwrap_or(request);
        let coordinates = self.float_coordinates(request, texture, shape, false)?;
        let handle = self.declared(request, texture, shape)?;
        let mut args: SmallVec<[Value; 8]> = SmallVec::from_slice(&[handle, coordinates]);
        match request.compare {
            Some(v) => {
                info.operands.0 |= TexOperands::COMPARE.0;
                args.push(self.cast(v, Type::F32));
            }
            None => info.component = component & 3,
        }
        if let Some(offset) = request.offset.filter(|_| shape.dim == Dim::D2) {
            info.operands.0 |= TexOperands::OFFSET.0;
            args.push(self.offset_vector(offset, 2)?);
        }
        let float = info.shadow || texture.texel == Texel::Float;
        let ty = if float { Type::F32X4 } else { Type::I32X4 };
        let v = self.texture_op(Op::TexGather, info, &args, ty);
        Ok(self.components(v))
    }

    pub(super) fn levels(&mut self, request: &Request, (texture, shape): (Texture, Shape)) -> Lift<Value> {
        if shape.multisampled || shape.dim == Dim::Buffer {
            return Ok(self.number(1));
        }
        let handle = self.declared(request, texture, shape)?;
        Ok(self.texture_op(Op::TexQueryLevels, Self::info(shape, false), &[handle], Type::I32))
    }
}
