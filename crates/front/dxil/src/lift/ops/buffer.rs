//! Buffers: raw, structured, typed and constant.

use super::texture::STATUS;
use super::{Call, Made, NOT_LIFTED};
use crate::bitcode::ValueId;
use crate::lift::bind::{Bound, Part};
use crate::lift::bytes::Access;
use crate::lift::cx::Cx;
use crate::lift::resource::Handle;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Class, Resource as Declared, Shape, Vendor};
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
            Dx::RawBufferVectorLoad => self.vector_load(call),
            Dx::RawBufferVectorStore => self.vector_store(call),
            Dx::AtomicBinOp | Dx::AtomicCompareExchange => self.resource_atomic(call),
            Dx::BufferUpdateCounter => self.counter(call),
            Dx::CBufferLoadLegacy => self.constant_row(call),
            Dx::CBufferLoad => {
                let buffer = self.constant_buffer(call)?;
                let ty = self.result_scalar(call, None)?;
                let offset = self.arg(call, 1)?;
                let v = self.load_bytes(buffer, offset, self.held(ty))?;
                Ok(self.of_memory(v, ty).into())
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
        self.scalar_type(self.lane_type(ty)).map(|s| s.ty)
    }

    /// Loads what is looked at of up to four components; the others are undefined. Hosts do not say whether all of raw and
    /// structured buffers is there: their status says that it is.
    fn buffer_load(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        if handle.declared.vendor == Some(Vendor::Nvapi) {
            return self.nvapi_load(call);
        }
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
            let (texels, part) = self.texels(&handle, kind)?;
            let index = self.texel_of(part, index);
            return self.read_texel(call, op, TEXELS, &[texels, index], self.texel_type(&handle));
        }
        let ty = self.result_scalar(call, Some(0))?;
        let mut members = vec![Val::Undef; STATUS + 1];
        let mask = match call.op {
            Dx::RawBufferLoad => self.integer(call.arg(3)?)? as u32,
            _ => 0xf,
        };
        let used = [0, 1, 2, 3].map(|n| (used & mask) >> n & 1 != 0);
        if used.contains(&true) {
            let held = self.held(ty);
            let run = self.run(&handle, call.arg(1)?, call.arg(2)?, held.bytes().unwrap_or(4))?;
            for (member, v) in members.iter_mut().zip(self.load_run(&run, held, &used)?) {
                *member = v.map_or(Val::Undef, |v| Val::Scalar(self.of_memory(v, ty)));
            }
        } else {
            // What is wrong with the registers is an error all the same.
            self.bind(&handle)?;
        }
        members[STATUS] = self.mapped();
        Ok(Made::Value(Val::members(members)))
    }

    /// Loads a vector, and says that all of it is there: handle, offset or record, offset in the record, alignment.
    fn vector_load(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let result = self.type_of(call.result.ok_or(Stop::Unsupported("no result"))?)?;
        let vector = self.module.types.member(result, 0).ok_or(Stop::Unsupported("its result"))?;
        let scalar = self.scalar_type(self.lane_type(vector))?;
        let count = self.members_of(vector)?.unwrap_or(1) as usize;
        let held = self.held(scalar.ty);
        let run = self.run(&handle, call.arg(1)?, call.arg(2)?, held.bytes().unwrap_or(4))?;
        let loaded = self.load_run(&run, held, &vec![true; count])?;
        let lanes: Vec<Val> = loaded
            .into_iter()
            .map(|v| v.map_or(Val::Undef, |v| Val::Scalar(self.of_memory(v, scalar.ty))))
            .collect();
        Ok(Made::Value(Val::members([Val::members(lanes), self.mapped()])))
    }

    /// Handle, offset or record, offset in the record, vector, alignment.
    fn vector_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        let lanes = self.lanes(call.arg(3)?)?;
        let lanes: Vec<Option<Value>> = lanes.into_iter().map(|v| Some(self.as_memory(v))).collect();
        let run = self.run(&handle, call.arg(1)?, call.arg(2)?, self.size_of_first(&lanes))?;
        self.store_run(&run, &lanes)?;
        Ok(Made::Nothing)
    }

    fn buffer_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        if handle.declared.vendor == Some(Vendor::Nvapi) {
            return self.nvapi_store(call);
        }
        if self.nvapi_marks(call, &handle) {
            return Ok(Made::Nothing);
        }
        if is_typed(&handle) {
            // All four are there: what is not said is repeated.
            let texel = self.stored_texel(call, &handle, 3)?;
            let index = self.arg(call, 1)?;
            let (texels, part) = self.texels(&handle, Kind::Img)?;
            let index = self.texel_of(part, index);
            self.b.inst(Op::ImgStore, Flags::NONE, Imm::Tex(TEXELS), &[texels, index, texel], &[]);
            return Ok(Made::Nothing);
        }
        let mask = self.integer(call.arg(7)?)?;
        let mut values = [None; 4];
        for (n, value) in values.iter_mut().enumerate() {
            let id = call.arg(3 + n)?;
            if mask >> n & 1 == 1 && !self.is_undef(id) {
                let v = self.scalar(id)?;
                *value = Some(self.as_memory(v));
            }
        }
        let run = self.run(&handle, call.arg(1)?, call.arg(2)?, self.size_of_first(&values))?;
        self.store_run(&run, &values)?;
        Ok(Made::Nothing)
    }

    /// Bytes of the first component that there is.
    fn size_of_first(&self, values: &[Option<Value>]) -> u32 {
        values.iter().flatten().next().and_then(|&v| self.ty(v).bytes()).unwrap_or(4)
    }

    /// The texels of a typed buffer.
    pub(super) fn texel_count(&mut self, handle: &Handle) -> Lift<Value> {
        let (op, kind) = match handle.declared.class {
            Class::Uav => (Op::ImgQuery, Kind::Img),
            _ => (Op::TexQuerySize, Kind::Tex),
        };
        let (texels, part) = self.texels(handle, kind)?;
        Ok(match part {
            Part::All => self.inst(op, Imm::Tex(TEXELS), &[texels], Type::I32),
            Part::Window { size, .. } => size,
        })
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
        if handle.declared.vendor == Some(Vendor::Ags) && call.op == Dx::AtomicCompareExchange {
            let operands = [self.arg(call, 4)?, self.arg(call, 5)?];
            return Ok(self.ags(call.arg(1)?, operands)?.into());
        }
        let (op, first, count) = match call.op {
            Dx::AtomicCompareExchange => (Op::AtomicCmpxchg, 1, 2),
            _ => (self.atomic_op(call.arg(1)?)?, 2, 1),
        };
        let operands = (0..count).map(|n| self.arg(call, first + 3 + n)).collect::<Lift<Vec<Value>>>()?;
        let ty = self.ty(operands[0]);
        if matches!(handle.declared.shape, Shape::RawBuffer | Shape::StructuredBuffer) {
            let run = self.run(&handle, call.arg(first)?, call.arg(first + 1)?, 4)?;
            let offset = self.first_byte(&run);
            let old = self.access_bytes(run.buffer, Access::aligned(op, offset, ty), &operands)?;
            return Ok(old.ok_or(Stop::Unsupported("no result"))?.into());
        }
        let of_texels = is_typed(&handle);
        let info = if of_texels { TEXELS } else { self.texture(call)?.1 };
        let op = image_atomic(op).ok_or(Stop::Unsupported("its kind"))?;
        if !matches!(ty, Type::I32 | Type::I64) {
            return Err(Stop::Unsupported("texels of this type"));
        }
        let coordinates = self.vector(call, first, info.spatial() + u8::from(info.arrayed))?;
        // Handles of heaps do not say it, and are not the same array then.
        let declared = Declared { wide: ty == Type::I64, ..handle.declared };
        let handle = Handle::new(declared, handle.place);
        let (image, coordinates) = match of_texels {
            true => {
                let (texels, part) = self.texels(&handle, Kind::Img)?;
                (texels, self.texel_of(part, coordinates))
            }
            false => (self.opaque(&handle, Kind::Img)?, coordinates),
        };
        let args: Vec<Value> = [image, coordinates].into_iter().chain(operands).collect();
        Ok(self.inst(op, Imm::Tex(info), &args, ty).into())
    }

    /// Counts a structured buffer's records up or down: the number before or after.
    fn counter(&mut self, call: &Call<'_>) -> Lift<Made> {
        let handle = self.handle_of(call.arg(0)?)?;
        if handle.declared.vendor == Some(Vendor::Nvapi) {
            return self.nvapi_count(call);
        }
        let down = self.integer(call.arg(1)?)? & 0x80 != 0;
        let (offset, step) = (self.i32(0), self.i32(if down { u32::MAX } else { 1 }));
        let counter = self.bind_counter(&handle)?;
        let access = Access::aligned(Op::AtomicAdd, offset, Type::I32);
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
        let result = self.result_scalar(call, Some(0))?;
        let ty = self.held(result);
        let used = self.used_members(call.result);
        let row = self.arg(call, 1)?;
        let rows = self.i32(ROW.trailing_zeros());
        let address = match self.b.func.const_bits(row) {
            Some(bits) => self.i32((bits.lane(0) as u32).wrapping_mul(ROW)),
            None => self.address_op(Op::Shl, row, rows),
        };
        let count = ROW / ty.bytes().unwrap_or(4);
        let looked_at = (used & ((1 << count) - 1)).count_ones();
        // The row at once, if more of it than one member is looked at; it is there as a whole.
        let at_once = matches!(count, 4)
            && looked_at > 1
            && !matches!(buffer, Bound::Inside(..) | Bound::Window { .. });
        let whole = match at_once {
            true => {
                let ty = ty.with_lanes(count as u8).unwrap_or(ty);
                let access = Access { align_log2: 4, ..Access::aligned(Op::Load, address, ty) };
                self.access_bytes(buffer, access, &[])?
            }
            false => None,
        };
        let mut members = Vec::new();
        for n in 0..count {
            members.push(match (used >> n & 1, whole) {
                (0, _) => Val::Undef,
                (_, Some(row)) => {
                    let v = self.b.extract(row, n as u8);
                    Val::Scalar(self.of_memory(v, result))
                }
                (_, None) => {
                    let at = self.component_address(address, n, ty);
                    let v = self.load_bytes(buffer, at, ty)?;
                    Val::Scalar(self.of_memory(v, result))
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
