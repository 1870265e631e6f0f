//! Surface instructions: SULD, SUST, SUATOM, SURED.
//!
//! A formatted access goes through a view of the image's own format, a raw one through a view of integers as wide as the
//! access, whatever the format. Out of range, loads give 0 and stores are dropped, which is what `.IGN` asks for and
//! stands for `.TRAP`; without either, coordinates are kept inside.
//!
//! uam 1.1.0 writes bound raw atomics with the operation's type over the low bits of the handle's index, where it cannot
//! be told from the index: whether such an operation is signed comes from the image's own format.

use super::Unsupported;
use super::cx::{Cx, Lift, dst, operand};
use crate::gpu::Handle;
use crate::inst::{Inst, RZ, Role, Value as Named};
use crate::modifier::{AtomOp, AtomType, MemSize, Mod, SurfaceClamp, SurfaceDim};
use crate::opcode::Opcode;
use smallvec::SmallVec;
use xenoglot_ir::imm::{Dim, TexInfo};
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_ir::{Flags, Imm, Kind, Op, Type, Value};

/// An image with what its ops say of it.
struct Surface {
    handle: Value,
    info: TexInfo,
    coordinates: Value,
    format: ImageFormat,
}

/// The format of a raw view, its components, and whether a narrow one has a sign.
fn raw(inst: &Inst) -> Lift<(ImageFormat, u8, bool)> {
    Ok(match inst.get(Mod::Size)? {
        MemSize::U8 => (ImageFormat::R8ui, 1, false),
        MemSize::S8 => (ImageFormat::R8ui, 1, true),
        MemSize::U16 => (ImageFormat::R16ui, 1, false),
        MemSize::S16 => (ImageFormat::R16ui, 1, true),
        MemSize::B32 => (ImageFormat::R32ui, 1, false),
        MemSize::B64 => (ImageFormat::Rg32ui, 2, false),
        MemSize::B128 | MemSize::U128 => (ImageFormat::Rgba32ui, 4, false),
    })
}

fn texel_bytes_log2(format: ImageFormat) -> u32 {
    match format {
        ImageFormat::R8ui => 0,
        ImageFormat::R16ui => 1,
        ImageFormat::Rg32ui => 3,
        ImageFormat::Rgba32ui => 4,
        _ => 2,
    }
}

impl Cx<'_> {
    fn surface(&mut self, inst: &Inst, format: Option<ImageFormat>, writes: bool) -> Lift<Surface> {
        let (dim, arrayed) = match inst.get(Mod::SurfaceDim)? {
            SurfaceDim::D1 => (Dim::D1, false),
            SurfaceDim::Buffer1d => (Dim::Buffer, false),
            SurfaceDim::Array1d => (Dim::D1, true),
            SurfaceDim::D2 => (Dim::D2, false),
            SurfaceDim::Array2d => (Dim::D2, true),
            SurfaceDim::D3 => (Dim::D3, false),
        };
        let source = self.handle_operand(inst)?;
        let format = format.unwrap_or_else(|| self.io.gpu.image_format(source.handle));
        let handle = self.image_handle(source, (dim, arrayed), format, writes)?;
        let info = TexInfo::new(dim, arrayed, false);
        let Named::Mem { base, .. } = operand(inst, Role::Address)?.value else { return Err(Unsupported) };
        let n = info.spatial() + u8::from(arrayed);
        let register = |i: u8| if base == RZ { RZ } else { base.saturating_add(i) };
        let mut values: SmallVec<[Value; 4]> = (0..n).map(|i| self.reg(register(i))).collect();
        if inst.has(Mod::ByteAddress) {
            let shift = self.number(texel_bytes_log2(format));
            values[0] = self.op(Op::Ushr, &[values[0], shift]);
        }
        if inst.get::<SurfaceClamp>(Mod::SurfaceClamp)? == SurfaceClamp::Near {
            self.keep_inside(handle, info, &mut values)?;
        }
        let coordinates = if n > 1 { self.op(Op::Build, &values) } else { values[0] };
        Ok(Surface { handle, info, coordinates, format })
    }

    fn keep_inside(&mut self, handle: Value, info: TexInfo, values: &mut [Value]) -> Lift<()> {
        let lanes = info.size_lanes();
        let ty = Type::new(Kind::I32, lanes).ok_or(Unsupported)?;
        let size = self.image_op(Op::ImgQuery, info, &[handle], Some(ty)).ok_or(Unsupported)?;
        let (zero, one) = (self.zero(), self.number(1));
        for (i, v) in (0..lanes).zip(values) {
            let extent = if lanes > 1 { self.b.extract(size, i) } else { size };
            let last = self.op(Op::Isub, &[extent, one]);
            let low = self.op(Op::Imax, &[*v, zero]);
            *v = self.op(Op::Imin, &[low, last]);
        }
        Ok(())
    }

    fn image_op(&mut self, op: Op, info: TexInfo, args: &[Value], ty: Option<Type>) -> Option<Value> {
        let results: SmallVec<[Type; 1]> = ty.into_iter().collect();
        let inst = self.b.inst(op, Flags::NONE, Imm::Tex(info), args, &results);
        self.b.func.result(inst)
    }

    /// Registers from the one of a role on; RZ stays RZ.
    fn tuple(&mut self, first: u8, n: u8) -> SmallVec<[Value; 4]> {
        (0..n).map(|i| self.reg(if first == RZ { RZ } else { first.saturating_add(i) })).collect()
    }

    /// SULD.
    pub fn suld(&mut self, inst: &Inst) -> Lift<()> {
        let raw = if inst.has(Mod::Raw) { Some(raw(inst)?) } else { None };
        let s = self.surface(inst, raw.map(|r| r.0), false)?;
        let float = s.format.texel() == Texel::Float;
        let ty = if float { Type::F32X4 } else { Type::I32X4 };
        let v = self.image_op(Op::ImgLoad, s.info, &[s.handle, s.coordinates], Some(ty));
        let v = v.ok_or(Unsupported)?;
        let mask = match raw {
            Some((_, n, _)) => (1 << n) - 1,
            None => inst.modifier(Mod::Components),
        };
        let mut to = dst(inst)?;
        for lane in (0..4).filter(|lane| mask >> lane & 1 != 0) {
            let mut word = self.b.extract(v, lane);
            if let Some((format, _, true)) = raw {
                word = self.field(word, 0, 8 << texel_bytes_log2(format), true);
            }
            self.set_reg(to, word);
            to = to.saturating_add(1);
        }
        self.resident_surface(inst);
        Ok(())
    }

    fn resident_surface(&mut self, inst: &Inst) {
        let yes = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, yes);
    }

    /// SUST.
    pub fn sust(&mut self, inst: &Inst) -> Lift<()> {
        let raw = if inst.has(Mod::Raw) { Some(raw(inst)?) } else { None };
        let s = self.surface(inst, raw.map(|r| r.0), true)?;
        let mask = match raw {
            Some((_, n, _)) => (1 << n) - 1,
            None => inst.modifier(Mod::Components),
        };
        let first = operand(inst, Role::Data)?.reg().ok_or(Unsupported)?;
        let stored = self.tuple(first, mask.count_ones() as u8);
        let float = s.format.texel() == Texel::Float;
        let mut stored = stored.into_iter();
        let lanes = [0, 1, 2, 3].map(|lane| {
            let v = if mask >> lane & 1 != 0 { stored.next() } else { None };
            let v = v.unwrap_or_else(|| self.zero());
            if float { self.cast(v, Type::F32) } else { v }
        });
        let v = self.op(Op::Build, &lanes);
        self.image_op(Op::ImgStore, s.info, &[s.handle, s.coordinates, v], None);
        Ok(())
    }

    /// The format that an atomic sees the image in; none is the image's own.
    fn atomic_format(&self, inst: &Inst, how: AtomOp) -> Lift<Option<ImageFormat>> {
        if !inst.has(Mod::Raw) {
            return Ok(None);
        }
        if !inst.has_field(Mod::AtomType) {
            return Ok(match self.io.gpu.image_format(self.bound_image(inst)?) {
                ImageFormat::R32i | ImageFormat::UnknownSint => Some(ImageFormat::R32i),
                // An exchange is one of bits. What else the type could be of a format nobody knows is not known either:
                // compilers use unsigned integers most.
                ImageFormat::R32ui | ImageFormat::UnknownUint | ImageFormat::Unknown => {
                    Some(ImageFormat::R32ui)
                }
                ImageFormat::R32f if how == AtomOp::Exch => Some(ImageFormat::R32ui),
                _ => return Err(Unsupported),
            });
        }
        match inst.get(Mod::AtomType)? {
            AtomType::U32 => Ok(Some(ImageFormat::R32ui)),
            AtomType::S32 => Ok(Some(ImageFormat::R32i)),
            AtomType::F32FtzRn if how == AtomOp::Exch => Ok(Some(ImageFormat::R32ui)),
            _ => Err(Unsupported),
        }
    }

    /// The handle that an instruction names by its index.
    fn bound_image(&self, inst: &Inst) -> Lift<Handle> {
        let word = operand(inst, Role::Handle)?.imm().ok_or(Unsupported)?;
        Ok(self.bound_handle(word).handle)
    }

    /// SUATOM, SURED.
    pub fn suatom(&mut self, inst: &Inst) -> Lift<()> {
        let how: AtomOp = inst.get(Mod::AtomOp)?;
        let format = self.atomic_format(inst, how)?;
        let s = self.surface(inst, format, true)?;
        let signed = match s.format {
            ImageFormat::R32i => true,
            ImageFormat::R32ui => false,
            _ => return Err(Unsupported),
        };
        let op = match how {
            AtomOp::Add => Op::ImgAtomicAdd,
            AtomOp::Min if signed => Op::ImgAtomicSmin,
            AtomOp::Min => Op::ImgAtomicUmin,
            AtomOp::Max if signed => Op::ImgAtomicSmax,
            AtomOp::Max => Op::ImgAtomicUmax,
            AtomOp::And => Op::ImgAtomicAnd,
            AtomOp::Or => Op::ImgAtomicOr,
            AtomOp::Xor => Op::ImgAtomicXor,
            AtomOp::Exch => Op::ImgAtomicXchg,
            AtomOp::Cas => Op::ImgAtomicCmpxchg,
            AtomOp::Inc | AtomOp::Dec | AtomOp::Cast | AtomOp::SafeAdd => return Err(Unsupported),
        };
        let first = operand(inst, Role::Data)?.reg().ok_or(Unsupported)?;
        let values = self.tuple(first, if how == AtomOp::Cas { 2 } else { 1 });
        let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&[s.handle, s.coordinates]);
        args.extend(values);
        let old = self.image_op(op, s.info, &args, Some(Type::I32)).ok_or(Unsupported)?;
        if inst.op == Opcode::Suatom {
            self.set_dst(inst, old)?;
            self.resident_surface(inst);
        }
        Ok(())
    }
}
