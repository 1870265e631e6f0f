//! Buffers: raw, structured, typed and constant.

use super::texture::STATUS;
use super::{Call, Made, NOT_LIFTED};
use crate::bitcode::ValueId;
use crate::lift::bind::Bound;
use crate::lift::bytes::Access;
use crate::lift::cx::Cx;
use crate::lift::resource::Handle;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Class, Resource as Declared, Shape};
use xenoglot_ir::imm::{Dim, TexInfo};
use xenoglot_ir::{Flags, Imm, Kind, Op, Type, Value};

/// Bytes of a row of a constant buffer.
const ROW: u32 = 16;

/// Shape of a buffer of texels.
const TEXELS: TexInfo = TexInfo::new(Dim::Buffer, false, false);

impl Cx<'_> {
    pub(super) fn buffers(&mut self, call: &Call<'_>) -> Lift<Made> {
        match call.op {
            Dx::BufferLoad | Dx::RawBufferLoad => self.buffer_load(call),
            Dx::BufferStore | Dx::RawBufferStore => self.buffer_store(call),
            Dx::AtomicBinOp | Dx::AtomicCompareExchange => self.resource_atomic(call),
            Dx::BufferUpdateCounter => self.counter(call),
            Dx::CBufferLoadLegacy => self.constant_row(call),
            Dx::CBufferLoad => {
                let buffer = self.constant_buffer(call)?;
                let ty = self.result_scalar(call, None)?;
                let offset = self.arg(call, 1)?;
                Ok(self.load_bytes(buffer, offset, ty)?.into())
            }
            _ => Err(NOT_LIFTED),
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

    /// Loads what is looked at of up to four components; the others are undefined. Hosts do not say whether all of raw and
    /// structured buffers is there: their status says that it is.
    fn buffer_load(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let used = self.used_members(call.result);
        if is_typed(&handle) {
            if used & 0xf == 0 && !self.asks_residency(call) {
                let status = self.mapped();
                return Ok(Made::Value(Val::members(
                    [const { Val::Undef }; STATUS].into_iter().chain([status]),
                )));
            }
            let index = self.arg(call, 1)?;
            let (op, kind) = match handle.declared.class {
                Class::Srv => (Op::TexFetch, Kind::Tex),
                _ => (Op::ImgLoad, Kind::Img),
            };
            let texels = self.opaque(&handle, kind)?;
            return self.read_texel(call, op, TEXELS, &[texels, index], self.texel_type(&handle));
        }
        let ty = self.result_scalar(call, Some(0))?;
        let mut members = vec![Val::Undef; STATUS + 1];
        let buffer = self.bind(&handle)?;
        let mask = match call.op {
            Dx::RawBufferLoad => self.integer(call.arg(3)?)? as u32,
            _ => 0xf,
        };
        let used = used & mask & 0xf;
        if let Some((quad, first)) = self.quad(call, &handle, buffer, ty, used)? {
            let ty = ty.with_lanes(4).unwrap_or(ty);
            let loaded = self.load_bytes(buffer, quad, ty)?;
            for (n, member) in (0..STATUS as u8).zip(&mut members) {
                if used >> n & 1 != 0 {
                    *member = Val::Scalar(self.b.extract(loaded, first + n));
                }
            }
        } else {
            let address = self.buffer_address(&handle, call.arg(1)?, call.arg(2)?)?;
            for (n, member) in (0..STATUS as u32).zip(&mut members) {
                if used >> n & 1 != 0 {
                    let at = self.component_address(address, n, ty);
                    *member = Val::Scalar(self.load_bytes(buffer, at, ty)?);
                }
            }
        }
        members[STATUS] = self.mapped();
        Ok(Made::Value(Val::members(members)))
    }

    /// Where the aligned quad of words begins that all of what a load looks at lies in, and the first lane. It may be loaded
    /// at once where the whole quad is there if a part of it is: in records of as many words as make quads, which a buffer
    /// has none or all of. Of buffers that are written only whole quads are, as the others would take them apart again.
    fn quad(
        &mut self,
        call: &Call<'_>,
        handle: &Handle,
        buffer: Bound,
        ty: Type,
        used: u32,
    ) -> Lift<Option<(Value, u8)>> {
        const QUAD: u64 = 16;
        let declared = &handle.declared;
        let records = declared.shape == Shape::StructuredBuffer && u64::from(declared.bytes) % QUAD == 0;
        if !records
            || declared.bytes == 0
            || !matches!(buffer, Bound::Resource { .. })
            || ty.bytes() != Some(4)
        {
            return Ok(None);
        }
        let Ok(offset) = self.integer(call.arg(2)?) else { return Ok(None) };
        let first = offset % QUAD / 4;
        let lanes = u64::from(u32::BITS - used.leading_zeros());
        let whole = first == 0 && used == 0xf;
        if used == 0 || offset % 4 != 0 || first + lanes > 4 || (declared.class == Class::Uav && !whole) {
            return Ok(None);
        }
        let (record, stride) = (self.arg(call, 1)?, self.i32(declared.bytes));
        let record = self.op(Op::Imul, &[record, stride]);
        let start = self.i32((offset - first * 4) as u32);
        Ok(Some((self.op(Op::Iadd, &[record, start]), first as u8)))
    }

    fn buffer_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        if is_typed(&handle) {
            // All four are there: what is not said is repeated.
            let texel = self.stored_texel(call, &handle, 3)?;
            let index = self.arg(call, 1)?;
            let texels = self.opaque(&handle, Kind::Img)?;
            self.b.inst(Op::ImgStore, Flags::NONE, Imm::Tex(TEXELS), &[texels, index, texel], &[]);
            return Ok(Made::Nothing);
        }
        let mask = self.integer(call.arg(7)?)?;
        let buffer = self.bind(&handle)?;
        let address = self.buffer_address(&handle, call.arg(1)?, call.arg(2)?)?;
        for n in 0..4 {
            let id = call.arg(3 + n as usize)?;
            if mask >> n & 1 == 1 && !self.is_undef(id) {
                let v = self.scalar(id)?;
                let at = self.component_address(address, n, self.ty(v));
                self.store_bytes(buffer, at, v)?;
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

    /// An atomic access: three coordinates, of which raw and typed buffers have one and structured ones two, then the
    /// operands.
    fn resource_atomic(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let (op, first, count) = match call.op {
            Dx::AtomicCompareExchange => (Op::AtomicCmpxchg, 1, 2),
            _ => (self.atomic_op(call.arg(1)?)?, 2, 1),
        };
        let operands = (0..count).map(|n| self.arg(call, first + 3 + n)).collect::<Lift<Vec<Value>>>()?;
        let ty = self.ty(operands[0]);
        if matches!(handle.declared.shape, Shape::RawBuffer | Shape::StructuredBuffer) {
            let buffer = self.bind(&handle)?;
            let offset = self.buffer_address(&handle, call.arg(first)?, call.arg(first + 1)?)?;
            let old = self.access_bytes(buffer, Access { op, offset, ty }, &operands)?;
            return Ok(old.ok_or(Stop::Unsupported("no result"))?.into());
        }
        let info = if is_typed(&handle) { TEXELS } else { self.texture(call)?.1 };
        let op = image_atomic(op).ok_or(Stop::Unsupported("its kind"))?;
        if !matches!(ty, Type::I32 | Type::I64) {
            return Err(Stop::Unsupported("texels of this type"));
        }
        let coordinates = self.vector(call, first, info.spatial() + u8::from(info.arrayed))?;
        // Handles of heaps do not say it, and are not the same array then.
        let declared = Declared { wide: ty == Type::I64, ..handle.declared };
        let image = self.opaque(&Handle::new(declared, handle.place), Kind::Img)?;
        let args: Vec<Value> = [image, coordinates].into_iter().chain(operands).collect();
        Ok(self.inst(op, Imm::Tex(info), &args, ty).into())
    }

    /// Counts a structured buffer's records up or down: the number before or after.
    fn counter(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let down = self.integer(call.arg(1)?)? & 0x80 != 0;
        let (offset, step) = (self.i32(0), self.i32(if down { u32::MAX } else { 1 }));
        let counter = self.bind_counter(&handle)?;
        let access = Access { op: Op::AtomicAdd, offset, ty: Type::I32 };
        let old = self.access_bytes(counter, access, &[step])?.ok_or(Stop::Unsupported("no result"))?;
        Ok(if down { self.op(Op::Iadd, &[old, step]) } else { old }.into())
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

    fn constant_buffer(&mut self, call: &Call<'_>) -> Lift<Bound> {
        let handle = self.handle_of(call.arg(0)?)?;
        match handle.declared.class {
            Class::Cbv => self.bind(&handle),
            _ => Err(Stop::Unsupported("a resource that is no constant buffer")),
        }
    }

    /// What is looked at of a row of a constant buffer: 16 bytes as the result's members.
    fn constant_row(&mut self, call: &Call<'_>) -> Lift<Made> {
        let buffer = self.constant_buffer(call)?;
        let ty = self.result_scalar(call, Some(0))?;
        let used = self.used_members(call.result);
        let row = self.arg(call, 1)?;
        let size = self.i32(ROW);
        let address = self.op(Op::Imul, &[row, size]);
        let mut members = Vec::new();
        for n in 0..ROW / ty.bytes().unwrap_or(4) {
            members.push(match used >> n & 1 {
                0 => Val::Undef,
                _ => {
                    let at = self.component_address(address, n, ty);
                    Val::Scalar(self.load_bytes(buffer, at, ty)?)
                }
            });
        }
        Ok(Made::Value(Val::members(members)))
    }
}

/// Whether a resource is read by the number of a texel.
fn is_typed(handle: &Handle) -> bool {
    matches!(handle.declared.shape, Shape::TypedBuffer | Shape::TBuffer)
}

/// The atomic on an image that does what one on memory does.
pub(in crate::lift) fn image_atomic(op: Op) -> Option<Op> {
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
