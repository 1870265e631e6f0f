//! Texture instructions.
//!
//! Operands stand in one order whatever the instruction: layer, coordinates in the first tuple; handle, level of detail,
//! offsets, what is compared with or the sample in the second. The packed forms (TEXS, TLDS, TLD4S) have the same list
//! without tuples: up to two operands a register each, else two in the first pair and the rest in the second.

mod sample;

use super::Unsupported;
use super::cx::{Cx, Lift, dst, operand};
use super::handle::Source;
use crate::gpu::Shape;
use crate::inst::{Inst, RZ, Role};
use crate::modifier::{LodMode, Mod, TextureDim, TextureQuery};
use crate::opcode::Opcode;
use crate::sph::Stage;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use xenoglot_ir::imm::{Dim, TexOperands};
use xenoglot_ir::{Flags, Kind, Op, Type, Value};

type Values = SmallVec<[Value; 4]>;

/// Registers taken one after the other.
#[derive(Clone, Copy)]
struct Tuple {
    next: u8,
}

impl Tuple {
    fn of(inst: &Inst, role: Role) -> Tuple {
        Tuple { next: inst.operand(role).and_then(|o| o.reg()).unwrap_or(RZ) }
    }

    fn take(&mut self) -> u8 {
        let n = self.next;
        self.next = n.saturating_add(1);
        n
    }
}

/// The registers of a packed form: those of `count` operands.
struct Packed {
    registers: SmallVec<[u8; 4]>,
    next: usize,
}

impl Packed {
    fn of(inst: &Inst, count: usize) -> Packed {
        let (mut a, mut b) = (Tuple::of(inst, Role::A), Tuple::of(inst, Role::Extra));
        let first = if count > 2 { 2 } else { 1 };
        let registers = (0..count).map(|i| if i < first { a.take() } else { b.take() }).collect();
        Packed { registers, next: 0 }
    }

    fn take(&mut self) -> u8 {
        let n = self.registers.get(self.next).copied().unwrap_or(RZ);
        self.next += 1;
        n
    }
}

/// What an instruction asks of a texture, as it stands in registers.
#[derive(Clone)]
struct Request {
    source: Source,
    dim: TextureDim,
    layer: Option<Value>,
    coordinates: Values,
    lod: LodMode,
    lod_value: Option<Value>,
    /// Offset of each axis: a word, and bit and width of the first axis' field and the distance of fields.
    offset: Option<(Value, Fields)>,
    compare: Option<Value>,
    sample: Option<Value>,
    gradient: Option<[Values; 2]>,
    multisampled: bool,
}

impl Request {
    /// A request for what is at these coordinates, and nothing else.
    fn new(source: Source, dim: TextureDim, layer: Option<Value>, coordinates: Values) -> Request {
        Request {
            source,
            dim,
            layer,
            coordinates,
            lod: LodMode::Implicit,
            lod_value: None,
            offset: None,
            compare: None,
            sample: None,
            gradient: None,
            multisampled: false,
        }
    }
}

/// Fields of a word.
#[derive(Clone, Copy)]
struct Fields {
    first: u32,
    len: u32,
    step: u32,
}

/// Offsets of samples and fetches: four bits per axis.
const NARROW: Fields = Fields { first: 0, len: 4, step: 4 };
/// Those of TXD, above the layer.
const UPPER: Fields = Fields { first: 16, len: 4, step: 4 };
/// Offsets of gathers: six bits in a byte per axis.
const BYTES: Fields = Fields { first: 0, len: 6, step: 8 };

/// Coordinates of a shape within its layer.
fn axes(dim: TextureDim) -> usize {
    match dim {
        TextureDim::D1 | TextureDim::Array1d => 1,
        TextureDim::D2 | TextureDim::Array2d => 2,
        TextureDim::D3 | TextureDim::Array3d | TextureDim::Cube | TextureDim::ArrayCube => 3,
    }
}

fn has_layer(dim: TextureDim) -> bool {
    matches!(dim, TextureDim::Array1d | TextureDim::Array2d | TextureDim::Array3d | TextureDim::ArrayCube)
}

/// The shape an instruction takes its texture for.
fn shape_of(dim: TextureDim, multisampled: bool) -> Shape {
    let plain = match dim {
        TextureDim::D1 | TextureDim::Array1d => Dim::D1,
        TextureDim::D2 | TextureDim::Array2d => Dim::D2,
        TextureDim::D3 | TextureDim::Array3d => Dim::D3,
        TextureDim::Cube | TextureDim::ArrayCube => Dim::Cube,
    };
    Shape { dim: plain, arrayed: has_layer(dim) && plain != Dim::D3, multisampled }
}

fn lanes(kind: Kind, n: u8) -> Lift<Type> {
    Type::new(kind, n).ok_or(Unsupported)
}

/// Shapes of textures by their handle's word, as instructions that name one tell.
pub(super) fn named_shapes<'i>(insts: impl Iterator<Item = &'i Inst>) -> BTreeMap<u32, Shape> {
    let mut shapes = BTreeMap::new();
    for inst in insts {
        let dim = match inst.op {
            Opcode::Tld4s => Ok(TextureDim::D2),
            Opcode::Tex
            | Opcode::Texs
            | Opcode::Tld
            | Opcode::Tlds
            | Opcode::Tld4
            | Opcode::Txd
            | Opcode::Tmml => inst.get(Mod::TextureDim),
            _ => continue,
        };
        let word = inst.operand(Role::Handle).and_then(|o| o.imm());
        if let (Ok(dim), Some(word)) = (dim, word) {
            shapes.entry(word).or_insert(shape_of(dim, inst.has(Mod::Multisample)));
        }
    }
    shapes
}

impl Cx<'_> {
    fn taken(&mut self, register: u8) -> Value {
        self.reg(register)
    }

    /// The handle: named in the instruction, or the tuple's first.
    fn fetch_handle(&mut self, inst: &Inst, tuple: &mut Tuple) -> Lift<Source> {
        if inst.has(Mod::Bindless) {
            let v = self.taken(tuple.take());
            return self.trace(v);
        }
        self.handle_operand(inst)
    }

    fn request(&mut self, inst: &Inst) -> Lift<Request> {
        if inst.has(Mod::LodClamp) {
            return Err(Unsupported);
        }
        let dim: TextureDim = inst.get(Mod::TextureDim)?;
        let (mut a, mut b) = (Tuple::of(inst, Role::A), Tuple::of(inst, Role::Extra));
        let source = self.fetch_handle(inst, &mut b)?;
        let layer = has_layer(dim).then(|| self.taken(a.take()));
        let coordinates = (0..axes(dim)).map(|_| self.taken(a.take())).collect();
        let lod: LodMode = inst.get(Mod::LodMode)?;
        let lod_value = match lod {
            LodMode::Implicit | LodMode::Lz => None,
            LodMode::Lb | LodMode::Ll => Some(self.taken(b.take())),
            LodMode::Lba | LodMode::Lla => return Err(Unsupported),
        };
        let offset = inst.has(Mod::Offset).then(|| (self.taken(b.take()), NARROW));
        let compare = inst.has(Mod::DepthCompare).then(|| self.taken(b.take()));
        let multisampled = inst.has(Mod::Multisample);
        let sample = multisampled.then(|| self.taken(b.take()));
        let request = Request::new(source, dim, layer, coordinates);
        Ok(Request { lod, lod_value, offset, compare, sample, multisampled, ..request })
    }

    /// TEX.
    pub fn tex(&mut self, inst: &Inst) -> Lift<()> {
        let request = self.request(inst)?;
        let texel = self.sample(&request)?;
        self.write_masked(inst, &texel)
    }

    /// TLD.
    pub fn tld(&mut self, inst: &Inst) -> Lift<()> {
        let request = self.request(inst)?;
        let texel = self.fetch(&request)?;
        self.write_masked(inst, &texel)
    }

    /// TXD: the gradient of each axis along x and along y in the second tuple; layer and offset in a word after the
    /// coordinates.
    pub fn txd(&mut self, inst: &Inst) -> Lift<()> {
        if inst.has(Mod::LodClamp) {
            return Err(Unsupported);
        }
        let dim: TextureDim = inst.get(Mod::TextureDim)?;
        let (mut a, mut b) = (Tuple::of(inst, Role::A), Tuple::of(inst, Role::Extra));
        let source = self.fetch_handle(inst, &mut a)?;
        let coordinates: Values = (0..axes(dim)).map(|_| self.taken(a.take())).collect();
        let mut gradient: [Values; 2] = Default::default();
        for _ in 0..axes(dim) {
            for along in &mut gradient {
                let v = self.taken(b.take());
                along.push(self.cast(v, Type::F32));
            }
        }
        let above = (has_layer(dim) || inst.has(Mod::Offset)).then(|| self.taken(a.take()));
        let offset = above.filter(|_| inst.has(Mod::Offset)).map(|v| (v, UPPER));
        let layer = above.filter(|_| has_layer(dim));
        let request = Request::new(source, dim, layer, coordinates);
        let request = Request { offset, gradient: Some(gradient), ..request };
        let texel = self.sample(&request)?;
        self.write_masked(inst, &texel)
    }

    /// TEXS, TLDS.
    pub fn packed_fetch(&mut self, inst: &Inst) -> Lift<()> {
        let dim: TextureDim = inst.get(Mod::TextureDim)?;
        let lod: LodMode = inst.get(Mod::LodMode)?;
        let has = |which| inst.has(which);
        let given = matches!(lod, LodMode::Ll | LodMode::Lb);
        let extra = [given, has(Mod::Offset), has(Mod::DepthCompare), has(Mod::Multisample)];
        let count = axes(dim) + usize::from(has_layer(dim)) + extra.iter().filter(|e| **e).count();
        let source = self.handle_operand(inst)?;
        let mut packed = Packed::of(inst, count);
        if inst.op == Opcode::Tlds && has_layer(dim) {
            // The layer alone is in the first.
            let (mut a, mut b) = (Tuple::of(inst, Role::A), Tuple::of(inst, Role::Extra));
            packed.registers = (0..count).map(|i| if i == 0 { a.take() } else { b.take() }).collect();
        }
        let layer = has_layer(dim).then(|| self.taken(packed.take()));
        let coordinates = (0..axes(dim)).map(|_| self.taken(packed.take())).collect();
        let lod_value = given.then(|| self.taken(packed.take()));
        let offset = has(Mod::Offset).then(|| (self.taken(packed.take()), NARROW));
        let compare = has(Mod::DepthCompare).then(|| self.taken(packed.take()));
        let multisampled = has(Mod::Multisample);
        let sample = multisampled.then(|| self.taken(packed.take()));
        let request = Request::new(source, dim, layer, coordinates);
        let request = Request { lod, lod_value, offset, compare, sample, multisampled, ..request };
        let texel = if inst.op == Opcode::Texs { self.sample(&request)? } else { self.fetch(&request)? };
        let mask = inst.modifier(Mod::Components);
        let values: Values = (0..4).filter(|i| mask >> i & 1 != 0).map(|i| texel[i]).collect();
        self.write_packed(inst, &values)
    }

    /// TLD4.
    pub fn tld4(&mut self, inst: &Inst) -> Lift<()> {
        const PER_TEXEL: u8 = 2;
        let dim: TextureDim = inst.get(Mod::TextureDim)?;
        let (mut a, mut b) = (Tuple::of(inst, Role::A), Tuple::of(inst, Role::Extra));
        let source = self.fetch_handle(inst, &mut b)?;
        let layer = has_layer(dim).then(|| self.taken(a.take()));
        let coordinates: Values = (0..axes(dim)).map(|_| self.taken(a.take())).collect();
        let offsets: SmallVec<[(Value, Fields); 4]> = match inst.modifier(Mod::GatherOffset) {
            0 => SmallVec::new(),
            PER_TEXEL => {
                let words = [self.taken(b.take()), self.taken(b.take())];
                let upper = Fields { first: 16, ..BYTES };
                [(words[0], BYTES), (words[0], upper), (words[1], BYTES), (words[1], upper)].into()
            }
            _ => SmallVec::from_slice(&[(self.taken(b.take()), BYTES)]),
        };
        let compare = inst.has(Mod::DepthCompare).then(|| self.taken(b.take()));
        let component = inst.modifier(Mod::Component);
        let mut request = Request { compare, ..Request::new(source, dim, layer, coordinates) };
        if offsets.len() < 4 {
            request.offset = offsets.first().copied();
            let texels = self.gather(&request, component)?;
            return self.write_masked(inst, &texels);
        }
        // The texel without a step along either axis is the last of each.
        let mut texels = [self.zero(); 4];
        for (texel, offset) in texels.iter_mut().zip(offsets) {
            request.offset = Some(offset);
            *texel = self.gather(&request, component)?[3];
        }
        self.write_masked(inst, &texels)
    }

    /// TLD4S.
    pub fn tld4s(&mut self, inst: &Inst) -> Lift<()> {
        let (offset, compare) = (inst.has(Mod::Offset), inst.has(Mod::DepthCompare));
        let mut packed = Packed::of(inst, 2 + usize::from(offset) + usize::from(compare));
        let source = self.handle_operand(inst)?;
        let coordinates: Values = (0..2).map(|_| self.taken(packed.take())).collect();
        let offset = offset.then(|| (self.taken(packed.take()), BYTES));
        let compare = compare.then(|| self.taken(packed.take()));
        let request = Request::new(source, TextureDim::D2, None, coordinates);
        let request = Request { offset, compare, ..request };
        let texels = self.gather(&request, inst.modifier(Mod::Component))?;
        self.write_packed(inst, &texels)
    }

    /// Writes the components of a mask to registers one after the other.
    fn write_masked(&mut self, inst: &Inst, texel: &[Value; 4]) -> Lift<()> {
        let mask = inst.operand(Role::Mask).and_then(|o| o.imm()).unwrap_or(0xf);
        let mut to = Tuple { next: dst(inst)? };
        for (i, &v) in texel.iter().enumerate() {
            if mask >> i & 1 != 0 {
                self.set_reg(to.take(), v);
            }
        }
        self.resident(inst);
        Ok(())
    }

    /// The host's textures are resident as a whole.
    fn resident(&mut self, inst: &Inst) {
        let yes = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, yes);
    }

    /// Writes the components of a packed form: two registers or halves to each destination.
    fn write_packed(&mut self, inst: &Inst, values: &[Value]) -> Lift<()> {
        let second = operand(inst, Role::Dst2)?.reg().ok_or(Unsupported)?;
        let destinations = [dst(inst)?, second];
        for (register, pair) in destinations.into_iter().zip(values.chunks(2)) {
            if inst.has(Mod::F16Result) {
                let v = self.pack_halves(pair);
                self.set_reg(register, v);
                continue;
            }
            for (i, &v) in (0..).zip(pair) {
                let to = if register == RZ { RZ } else { register.saturating_add(i) };
                self.set_reg(to, v);
            }
        }
        Ok(())
    }

    fn pack_halves(&mut self, pair: &[Value]) -> Value {
        let zero = self.b.f32(0.0);
        let halves = [0, 1].map(|i| {
            let v = pair.get(i).copied().unwrap_or(zero);
            let v = self.cast(v, Type::F32);
            self.convert(Op::F2f, v, Type::F16)
        });
        let v = self.op(Op::Build, &halves);
        self.cast(v, Type::I32)
    }

    /// TXQ.
    pub fn txq(&mut self, inst: &Inst) -> Lift<()> {
        let mut a = Tuple::of(inst, Role::A);
        let bindless = inst.has(Mod::Bindless);
        let source = self.fetch_handle(inst, &mut a)?;
        let word = inst.operand(Role::Handle).and_then(|o| o.imm()).filter(|_| !bindless);
        let texture = self.io.gpu.texture(source.handle);
        let named = word.and_then(|word| self.shapes.get(&word).copied());
        let shape = texture.shape.or(named).unwrap_or(shape_of(TextureDim::D2, false));
        let request = Request::new(source, TextureDim::D2, None, Values::new());
        let zero = self.zero();
        let values = match inst.get(Mod::TextureQuery)? {
            TextureQuery::Dimension => {
                let level = self.taken(a.take());
                let size = self.size(&request, (texture, shape), level)?;
                let n = self.b.func.ty(size).lanes();
                let mut values = [zero; 4];
                for (i, v) in (0..n).zip(&mut values) {
                    *v = if n > 1 { self.b.extract(size, i) } else { size };
                }
                let mask = operand(inst, Role::Mask)?.imm().unwrap_or(0);
                if mask & 8 != 0 {
                    values[3] = self.levels(&request, (texture, shape))?;
                }
                values
            }
            TextureQuery::TextureType => {
                // Only the number of samples is known of it.
                if operand(inst, Role::Mask)?.imm() != Some(4) {
                    return Err(Unsupported);
                }
                let samples = if shape.multisampled {
                    let handle = self.declared(&request, texture, shape)?;
                    let info = Self::info(shape, false);
                    self.texture_op(Op::TexQuerySamples, info, &[handle], Type::I32)
                } else {
                    self.number(1)
                };
                [zero, zero, samples, zero]
            }
            _ => return Err(Unsupported),
        };
        self.write_masked(inst, &values)
    }

    /// TMML: the level of detail as it comes out and clamped to the levels there are, in 256ths.
    pub fn tmml(&mut self, inst: &Inst) -> Lift<()> {
        let dim: TextureDim = inst.get(Mod::TextureDim)?;
        let (mut a, mut b) = (Tuple::of(inst, Role::A), Tuple::of(inst, Role::Extra));
        let source = self.fetch_handle(inst, &mut b)?;
        if has_layer(dim) {
            a.take();
        }
        let coordinates: Values = (0..axes(dim)).map(|_| self.taken(a.take())).collect();
        let request = Request::new(source, dim, None, coordinates);
        let (texture, shape) = self.texture(&request);
        let mask = operand(inst, Role::Mask)?.imm().unwrap_or(0);
        if mask & !3 != 0 || self.io.stage() != Some(Stage::Fragment) || shape.multisampled {
            return Err(Unsupported);
        }
        let plain = Shape { arrayed: false, ..shape };
        let v = self.float_coordinates(&request, texture, plain, false)?;
        let handle = self.declared(&request, texture, shape)?;
        self.note_derivatives(TexOperands::default());
        let info = Self::info(shape, false);
        let levels = self.texture_op(Op::TexQueryLod, info, &[handle, v], Type::F32X2);
        let scale = self.b.f32(256.0);
        let [clamped, raw] = [0, 1].map(|i| {
            let v = self.b.extract(levels, i);
            let v = self.op(Op::Fmul, &[v, scale]);
            self.b.convert(Op::F2s, Flags::NONE.with_clamp(), v, Type::I32)
        });
        let zero = self.zero();
        self.write_masked(inst, &[raw, clamped, zero, zero])
    }
}
