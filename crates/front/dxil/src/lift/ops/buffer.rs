//! Buffers: raw, structured, typed and constant.

use super::{Call, Made};
use crate::bitcode::ValueId;
use crate::lift::cx::Cx;
use crate::lift::resource::Handle;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Class, Shape};
use xenoglot_ir::imm::{Dim, Order, Scope, TexInfo, TexOperands};
use xenoglot_ir::{Flags, Imm, Kind, MemInfo, Op, Space, Type, Value};

/// Bytes of a row of a constant buffer.
const ROW: u32 = 16;
/// What a member that is not looked at is.
const STATUS: usize = 4;

/// Shape of a buffer of texels.
const TEXELS: TexInfo = TexInfo {
    dim: Dim::Buffer,
    arrayed: false,
    multisampled: false,
    shadow: false,
    operands: TexOperands(0),
    component: 0,
};

impl Cx<'_> {
    pub(super) fn buffers(&mut self, call: &Call<'_>) -> Lift<Made> {
        match call.op {
            Dx::BufferLoad | Dx::RawBufferLoad => self.buffer_load(call),
            Dx::BufferStore | Dx::RawBufferStore => self.buffer_store(call),
            Dx::AtomicBinOp | Dx::AtomicCompareExchange => self.buffer_atomic(call),
            Dx::CBufferLoadLegacy => self.constant_row(call),
            Dx::CBufferLoad => {
                let handle = self.constant_buffer(call)?;
                let ty = self.result_scalar(call, None)?;
                let address = self.arg(call, 1)?;
                let resource = self.resource(&handle)?;
                let mem = MemInfo::plain(Space::Uniform, Some(resource), align(ty));
                Ok(self.b.load(mem, address, ty).into())
            }
            _ => Ok(Made::Not),
        }
    }

    /// The scalar type of a call's result, or of a member of it.
    pub(super) fn result_scalar(&self, call: &Call<'_>, member: Option<u64>) -> Lift<Type> {
        let result = self.type_of(call.result.ok_or(Stop::Unsupported("no result"))?)?;
        let ty = match member {
            None => result,
            Some(n) => self.module.types.member(result, n).ok_or(Stop::Unsupported("its result"))?,
        };
        self.scalar_type(ty).map(|s| s.ty)
    }

    /// Loads what is looked at of up to four components; the others are undefined. The status says that all was there.
    fn buffer_load(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let ty = self.result_scalar(call, Some(0))?;
        let used = self.used_members(call.result);
        let mut members = vec![Val::Undef; STATUS + 1];
        if is_typed(&handle) {
            if used & 0xf != 0 {
                let texel = self.texel(&handle, call.arg(1)?, ty)?;
                for (lane, member) in (0..4u8).zip(&mut members) {
                    if used >> lane & 1 == 1 {
                        *member = Val::Scalar(self.b.extract(texel, lane));
                    }
                }
            }
        } else {
            let address = self.buffer_address(&handle, call.arg(1)?, call.arg(2)?)?;
            let mask = match call.op {
                Dx::RawBufferLoad => self.integer(call.arg(3)?)? as u32,
                _ => 0xf,
            };
            let resource = self.resource(&handle)?;
            for (n, member) in (0..STATUS as u32).zip(&mut members) {
                if used & mask & 1 << n != 0 {
                    let at = self.component_address(address, n, ty);
                    let mem = MemInfo::plain(Space::Storage, Some(resource), align(ty));
                    *member = Val::Scalar(self.b.load(mem, at, ty));
                }
            }
        }
        members[STATUS] = Val::Scalar(self.i32(1));
        Ok(Made::Value(Val::members(members)))
    }

    /// A texel by its number, in four lanes of a component's type.
    fn texel(&mut self, handle: &Handle, index: ValueId, ty: Type) -> Lift<Value> {
        let lanes = match ty {
            Type::F32 => Type::F32X4,
            Type::I32 => Type::I32X4,
            _ => return Err(Stop::Unsupported("texels of this type")),
        };
        let index = self.scalar(index)?;
        let (op, kind) = match handle.declared.class {
            Class::Srv => (Op::TexFetch, Kind::Tex),
            _ => (Op::ImgLoad, Kind::Img),
        };
        let texels = self.opaque(handle, kind)?;
        Ok(self.inst(op, Imm::Tex(TEXELS), &[texels, index], lanes))
    }

    fn buffer_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let mask = self.integer(call.arg(7)?)?;
        let ids = [call.arg(3)?, call.arg(4)?, call.arg(5)?, call.arg(6)?];
        if is_typed(&handle) {
            // All four are there: what is not said is repeated.
            let values =
                [self.scalar(ids[0])?, self.scalar(ids[1])?, self.scalar(ids[2])?, self.scalar(ids[3])?];
            let texel = self.op(Op::Build, &values);
            let index = self.scalar(call.arg(1)?)?;
            let texels = self.opaque(&handle, Kind::Img)?;
            self.b.inst(Op::ImgStore, Flags::NONE, Imm::Tex(TEXELS), &[texels, index, texel], &[]);
            return Ok(Made::Nothing);
        }
        let address = self.buffer_address(&handle, call.arg(1)?, call.arg(2)?)?;
        let resource = self.resource(&handle)?;
        for (n, &id) in (0..).zip(&ids) {
            if mask >> n & 1 == 1 && !self.is_undef(id) {
                let v = self.scalar(id)?;
                let ty = self.ty(v);
                let at = self.component_address(address, n, ty);
                let mem = MemInfo::plain(Space::Storage, Some(resource), align(ty));
                self.b.store(mem, at, v);
            }
        }
        Ok(Made::Nothing)
    }

    /// The byte that an access starts at: an offset, or the number of a record and an offset in it.
    fn buffer_address(&mut self, handle: &Handle, first: ValueId, second: ValueId) -> Lift<Value> {
        let v = self.scalar(first)?;
        match handle.declared.shape {
            Shape::StructuredBuffer => {
                let stride = self.i32(handle.declared.bytes);
                let record = self.op(Op::Imul, &[v, stride]);
                if matches!(self.integer(second), Ok(0)) {
                    return Ok(record);
                }
                let offset = self.scalar(second)?;
                Ok(self.op(Op::Iadd, &[record, offset]))
            }
            Shape::RawBuffer => Ok(v),
            _ => Err(Stop::Unsupported("a resource of this shape")),
        }
    }

    fn component_address(&mut self, address: Value, n: u32, ty: Type) -> Value {
        if n == 0 {
            return address;
        }
        let offset = self.i32(n * ty.bytes().unwrap_or(4));
        self.op(Op::Iadd, &[address, offset])
    }

    /// An atomic access: three coordinates, of which buffers have two, then the operands.
    fn buffer_atomic(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let (op, first, count) = match call.op {
            Dx::AtomicCompareExchange => (Op::AtomicCmpxchg, 1, 2),
            _ => (self.atomic_op(call.arg(1)?)?, 2, 1),
        };
        let operands = (0..count).map(|n| self.arg(call, first + 3 + n)).collect::<Lift<Vec<Value>>>()?;
        let ty = self.ty(operands[0]);
        if is_typed(&handle) {
            let image = image_atomic(op).ok_or(Stop::Unsupported("its kind"))?;
            if ty != Type::I32 {
                return Err(Stop::Unsupported("texels of this type"));
            }
            let index = self.arg(call, first)?;
            let texels = self.opaque(&handle, Kind::Img)?;
            let args: Vec<Value> = [texels, index].into_iter().chain(operands).collect();
            return Ok(self.inst(image, Imm::Tex(TEXELS), &args, ty).into());
        }
        let address = self.buffer_address(&handle, call.arg(first)?, call.arg(first + 1)?)?;
        let resource = self.resource(&handle)?;
        let mem = MemInfo {
            order: Order::Relaxed,
            scope: Scope::Device,
            ..MemInfo::plain(Space::Storage, Some(resource), align(ty))
        };
        let args: Vec<Value> = [address].into_iter().chain(operands).collect();
        Ok(self.inst(op, Imm::Mem(mem), &args, ty).into())
    }

    fn atomic_op(&self, id: ValueId) -> Lift<Op> {
        Ok(match self.integer(id)? {
            0 => Op::AtomicAdd,
            1 => Op::AtomicAnd,
            2 => Op::AtomicOr,
            3 => Op::AtomicXor,
            4 => Op::AtomicSmin,
            5 => Op::AtomicSmax,
            6 => Op::AtomicUmin,
            7 => Op::AtomicUmax,
            8 => Op::AtomicXchg,
            _ => return Err(Stop::Unsupported("its kind")),
        })
    }

    fn constant_buffer(&mut self, call: &Call<'_>) -> Lift<Handle> {
        let handle = self.handle_of(call.arg(0)?)?;
        match handle.declared.class {
            Class::Cbv => Ok(handle),
            _ => Err(Stop::Unsupported("a resource that is no constant buffer")),
        }
    }

    /// What is looked at of a row of a constant buffer: 16 bytes as the result's members.
    fn constant_row(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.constant_buffer(call)?;
        let ty = self.result_scalar(call, Some(0))?;
        let used = self.used_members(call.result);
        let row = self.arg(call, 1)?;
        let size = self.i32(ROW);
        let address = self.op(Op::Imul, &[row, size]);
        let resource = self.resource(&handle)?;
        let mem = MemInfo::plain(Space::Uniform, Some(resource), align(ty));
        let mut members = Vec::new();
        for n in 0..ROW / ty.bytes().unwrap_or(4) {
            members.push(match used >> n & 1 {
                0 => Val::Undef,
                _ => {
                    let at = self.component_address(address, n, ty);
                    Val::Scalar(self.b.load(mem, at, ty))
                }
            });
        }
        Ok(Made::Value(Val::members(members)))
    }
}

/// Whether a resource is read by the number of a texel.
fn is_typed(handle: &Handle) -> bool {
    matches!(handle.declared.shape, Shape::TypedBuffer)
}

/// Alignment of an access: that of its type.
fn align(ty: Type) -> u8 {
    ty.bytes().unwrap_or(4).trailing_zeros() as u8
}

fn image_atomic(op: Op) -> Option<Op> {
    Some(match op {
        Op::AtomicAdd => Op::ImgAtomicAdd,
        Op::AtomicAnd => Op::ImgAtomicAnd,
        Op::AtomicOr => Op::ImgAtomicOr,
        Op::AtomicXor => Op::ImgAtomicXor,
        Op::AtomicSmin => Op::ImgAtomicSmin,
        Op::AtomicSmax => Op::ImgAtomicSmax,
        Op::AtomicUmin => Op::ImgAtomicUmin,
        Op::AtomicUmax => Op::ImgAtomicUmax,
        Op::AtomicXchg => Op::ImgAtomicXchg,
        Op::AtomicCmpxchg => Op::ImgAtomicCmpxchg,
        _ => return None,
    })
}
