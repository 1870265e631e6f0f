//! Accesses to the bytes of buffers, wherever those are.

use super::bind::{Bound, Element};
use super::cx::Cx;
use super::{Lift, Stop};
use smallvec::SmallVec;
use xenoglot_ir::imm::{MemInfo, Order, Scope};
use xenoglot_ir::module::ResourceKind;
use xenoglot_ir::{Flags, Imm, Op, Space, Type, Value};

/// A byte that no buffer has, nor those behind it.
const OUTSIDE: u32 = 0xffff_fff0;

/// An access to bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The operation.
    pub op: Op,
    /// The first byte, an `i32`.
    pub offset: Value,
    /// What is loaded, stored or exchanged.
    pub ty: Type,
    /// The logarithm of what the offset is a multiple of.
    pub align_log2: u8,
    /// Whether lanes may be outside by themselves.
    pub apart: bool,
}

impl Access {
    /// An access that is aligned to its type.
    pub fn aligned(op: Op, offset: Value, ty: Type) -> Access {
        Access { op, offset, ty, align_log2: ty.bytes().unwrap_or(4).trailing_zeros() as u8, apart: false }
    }
}

impl Cx<'_> {
    /// Accesses a buffer; what comes of it.
    pub fn access_bytes(&mut self, bound: Bound, access: Access, values: &[Value]) -> Lift<Option<Value>> {
        let Access { op, offset, ty, align_log2, apart } = access;
        let (mut space, mut resource, mut element, mut address) = (Space::Global, None, None, offset);
        match bound {
            Bound::Texels { resource, element } => {
                return self.access_words(resource, element, access, values);
            }
            Bound::Resource { resource: r, element: e } => {
                space = match self.ir.resources[r].kind {
                    ResourceKind::UniformBuffer { .. } => Space::Uniform,
                    ResourceKind::StorageBuffer { .. } => Space::Storage,
                    _ => return Err(Stop::Unsupported("a resource that is no buffer")),
                };
                (resource, element) = (Some(r), e);
            }
            Bound::Window { resource: r, element: e, start, size } => {
                (space, resource, element) = (Space::Storage, Some(r), Some(e));
                address = self.seen(offset, ty, start, size);
            }
            Bound::Inside(r, start) => {
                (space, resource) = (self.space_of_arguments(r), Some(r));
                let start = self.i32(start);
                address = self.op(Op::Iadd, &[offset, start]);
            }
            Bound::Address(base) => {
                let offset = self.b.convert(Op::Zext, Flags::NONE, offset, Type::I64);
                address = self.op(Op::Iadd, &[base, offset]);
            }
        }
        if !space.is_writable() && op != Op::Load {
            return Err(Stop::Unsupported("a buffer that is only read"));
        }
        let mut mem = MemInfo { apart, ..MemInfo::plain(space, resource, align_log2.min(4)) };
        if !matches!(op, Op::Load | Op::Store) {
            (mem.order, mem.scope) = (Order::Relaxed, Scope::Device);
        }
        let args: SmallVec<[Value; 4]> =
            [address].iter().chain(values).copied().chain(element.map(|e| e.index)).collect();
        let flags = Element::flags(element);
        let results: &[Type] = if op == Op::Store { &[] } else { &[ty] };
        let inst = self.b.inst(op, flags, Imm::Mem(mem), &args, results);
        Ok(self.b.func.result(inst))
    }

    /// Where an access to a part of a buffer goes: outside of all of it where it is not inside of the part.
    fn seen(&mut self, offset: Value, ty: Type, start: Value, size: Value) -> Value {
        let starts = self.op(Op::IcmpUlt, &[offset, size]);
        let left = self.op(Op::Isub, &[size, offset]);
        let bytes = self.i32(ty.bytes().unwrap_or(4));
        let ends = self.op(Op::IcmpUle, &[bytes, left]);
        let inside = self.op(Op::And, &[starts, ends]);
        let (at, outside) = (self.op(Op::Iadd, &[start, offset]), self.i32(OUTSIDE));
        self.op(Op::Select, &[inside, at, outside])
    }

    /// Loads from a buffer.
    pub fn load_bytes(&mut self, bound: Bound, offset: Value, ty: Type) -> Lift<Value> {
        let loaded = self.access_bytes(bound, Access::aligned(Op::Load, offset, ty), &[])?;
        loaded.ok_or(Stop::Unsupported("no result"))
    }

    /// Bytes of a buffer; 0 where nobody knows.
    pub fn size_of(&mut self, bound: Bound) -> Value {
        let (resource, element) = match bound {
            Bound::Resource { resource, element } => (resource, element),
            Bound::Window { size, .. } => return size,
            Bound::Texels { resource, element } => return self.size_of_words(resource, element),
            Bound::Inside(..) | Bound::Address(_) => return self.i32(0),
        };
        let index = element.map(|e| e.index);
        let flags = Element::flags(element);
        let imm = Imm::Resource(resource);
        let inst = self.b.inst(Op::BufferSize, flags, imm, index.as_slice(), &[Type::I32]);
        self.b.func.results(inst)[0]
    }
}
