//! Operands and results of ops on textures and images, by their immediate.

use super::types::Site;
use super::{Sink, fail};
use crate::imm::{Dim, Imm, TexInfo, TexOperands};
use crate::module::{Count, ResourceKind};
use crate::op::Op;
use crate::ty::{Kind, Type};

/// What an op on textures or images takes besides its handle.
struct Takes {
    handle: Kind,
    /// Kind of the coordinates, and whether a layer is one of them.
    coordinates: Option<(Kind, bool)>,
    /// Whether a sampler may be named apart from the texture.
    sampler: bool,
    /// Optional operands it may have.
    operands: u8,
    /// Stored or compared values.
    values: &'static [Type],
}

const FILTERED: u8 = TexOperands::COMPARE.0 | TexOperands::OFFSET.0;
const LEVELS: u8 = TexOperands::BIAS.0 | TexOperands::LOD.0 | TexOperands::GRAD.0 | TexOperands::MIN_LOD.0;

fn takes(op: Op) -> Takes {
    let texture = Takes { handle: Kind::Tex, coordinates: None, sampler: false, operands: 0, values: &[] };
    let filtered = Takes { coordinates: Some((Kind::F32, true)), sampler: true, ..texture };
    let image = Takes { handle: Kind::Img, coordinates: Some((Kind::I32, true)), ..texture };
    let sample = TexOperands::SAMPLE.0;
    match op {
        Op::TexSample => Takes { operands: FILTERED | LEVELS, ..filtered },
        Op::TexGather => Takes { operands: FILTERED, ..filtered },
        Op::TexQueryLod => Takes { coordinates: Some((Kind::F32, false)), ..filtered },
        Op::TexFetch => Takes {
            coordinates: Some((Kind::I32, true)),
            operands: TexOperands::LOD.0 | TexOperands::OFFSET.0 | sample,
            ..texture
        },
        Op::TexQuerySize => Takes { operands: TexOperands::LOD.0, ..texture },
        Op::ImgLoad => Takes { operands: sample, ..image },
        Op::ImgStore => Takes { operands: sample, values: &[Type::I32X4], ..image },
        Op::ImgQuery => Takes { coordinates: None, ..image },
        Op::ImgAtomicCmpxchg => Takes { values: &[Type::I32; 2], ..image },
        Op::TexQueryLevels | Op::TexQuerySamples => texture,
        _ => Takes { values: &[Type::I32], ..image },
    }
}

impl TexInfo {
    /// An op without optional operands on a texture or image of a shape.
    pub const fn new(dim: Dim, arrayed: bool, multisampled: bool) -> TexInfo {
        let operands = TexOperands(0);
        TexInfo { dim, arrayed, multisampled, shadow: false, operands, component: 0, residency: false }
    }

    /// Coordinates within a layer.
    pub fn spatial(&self) -> u8 {
        match self.dim {
            Dim::D1 | Dim::Buffer => 1,
            Dim::D2 | Dim::Subpass => 2,
            Dim::D3 | Dim::Cube => 3,
        }
    }

    /// Lanes of a size: that of a cube is a plane's.
    pub fn size_lanes(&self) -> u8 {
        let plane = if self.dim == Dim::Cube { 2 } else { self.spatial() };
        plane + u8::from(self.arrayed)
    }
}

impl<'m> Site<'m> {
    /// A handle is of the resource's kind.
    pub(super) fn handle(&self, sink: &mut Sink<'m>) -> Option<()> {
        let Imm::Resource(r) = self.data.imm else { return None };
        let data = sink.module.resources.get(r)?;
        let (kind, array) = (data.kind, data.count != Count::One);
        self.takes(sink, usize::from(array))?;
        if array {
            self.is(sink, 0, Type::I32)?;
        }
        let kind = match kind {
            ResourceKind::Texture { .. } => Kind::Tex,
            ResourceKind::Sampler => Kind::Samp,
            ResourceKind::Image { .. } => Kind::Img,
            ResourceKind::AccelerationStructure => Kind::Accel,
            _ => Kind::Buf,
        };
        self.gives(sink, &[Type::scalar(kind)])
    }

    /// An access to a texture or image.
    pub(super) fn texture(&self, sink: &mut Sink<'m>) -> Option<()> {
        let Imm::Tex(t) = self.data.imm else { return None };
        let mut takes = takes(self.data.op);
        // Images have samples, too.
        if self.data.op == Op::TexQuerySamples && self.args.first() == Some(&Type::scalar(Kind::Img)) {
            takes.handle = Kind::Img;
        }
        let lanes = |kind: Kind, n: u8| Type::new(kind, n).unwrap_or(Type::scalar(kind));
        let mut types = vec![Type::scalar(takes.handle)];
        if takes.sampler && self.args.get(1) == Some(&Type::scalar(Kind::Samp)) {
            types.push(Type::scalar(Kind::Samp));
        }
        if t.spatial() + u8::from(t.arrayed) > 4 || t.component > 3 {
            return fail!(sink, "the shape has too many coordinates");
        }
        if let Some((kind, layer)) = takes.coordinates {
            types.push(lanes(kind, t.spatial() + u8::from(layer && t.arrayed)));
        }
        if t.operands.0 & !takes.operands != 0 {
            return fail!(sink, "`{}` does not take all of these operands", self.info.name);
        }
        let lod = if self.data.op == Op::TexSample { Type::F32 } else { Type::I32 };
        for (operand, _) in TexOperands::NAMED {
            if t.operands.0 & operand.0 == 0 {
                continue;
            }
            match operand {
                TexOperands::GRAD => types.extend([lanes(Kind::F32, t.spatial()); 2]),
                TexOperands::OFFSET => types.push(lanes(Kind::I32, t.spatial())),
                TexOperands::LOD => types.push(lod),
                TexOperands::SAMPLE => types.push(Type::I32),
                _ => types.push(Type::F32),
            }
        }
        let compares = t.operands.0 & TexOperands::COMPARE.0 != 0;
        if compares != t.shadow && takes.operands & TexOperands::COMPARE.0 != 0 {
            return fail!(sink, "what is compared with and the shape do not agree");
        }
        let start = types.len();
        types.extend(takes.values);
        // A texel is of floats or of integers; those of images, and atomics, are of 32 bits or 64.
        let kind = self.args.get(start).or(self.results.first()).map(|ty| ty.kind());
        let wide = takes.handle == Kind::Img && kind == Some(Kind::I64);
        let texel = match kind {
            Some(Kind::F32) => Type::F32X4,
            _ if wide => Type::I64X4,
            _ => Type::I32X4,
        };
        if self.data.op == Op::ImgStore {
            types[start] = texel;
        } else if wide {
            types[start..].fill(Type::I64);
        }
        self.takes(sink, types.len())?;
        types.iter().enumerate().try_for_each(|(n, &ty)| self.is(sink, n, ty))?;
        let reads = matches!(self.data.op, Op::TexSample | Op::TexFetch | Op::TexGather | Op::ImgLoad);
        if t.residency && !reads {
            return fail!(sink, "`{}` reads no texels", self.info.name);
        }
        let read = match self.data.op {
            Op::TexSample if t.shadow => Type::F32,
            _ => texel,
        };
        match self.data.op {
            _ if reads && t.residency => self.gives(sink, &[read, Type::BOOL]),
            _ if reads => self.gives(sink, &[read]),
            Op::TexQueryLod => self.gives(sink, &[Type::F32X2]),
            Op::TexQuerySize | Op::ImgQuery => self.gives(sink, &[lanes(Kind::I32, t.size_lanes())]),
            Op::ImgStore => self.gives(sink, &[]),
            _ => self.gives(sink, &[if wide { Type::I64 } else { Type::I32 }]),
        }
    }
}
