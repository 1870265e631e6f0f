//! Memory that is handed to other shaders, and copies of it.

use super::cx::Cx;
use super::memory::{Pointer, Region};
use super::{Lift, LiftError};
use xenoglot_ir::module::{Count, OutOfBounds, PayloadKind, ResourceData, ResourceKind};
use xenoglot_ir::{Op, Type, Value};

/// Bytes of the largest payload: what amplification shaders may hand on, and more than shaders of rays do.
const MOST_PAYLOAD: u32 = 1 << 14;

impl Cx<'_> {
    /// Memory of a kind that is handed to other shaders, of a size; there is one of each kind and size.
    pub fn payload(&mut self, kind: PayloadKind, bytes: u32) -> Lift<Region> {
        if bytes > MOST_PAYLOAD {
            return Err(LiftError::Memory.into());
        }
        let size = bytes.next_multiple_of(4).max(4);
        let wanted = ResourceKind::Payload { kind, size };
        let known = self.ir.resources.iter().find(|(_, data)| data.kind == wanted).map(|(r, _)| r);
        let resource = known.unwrap_or_else(|| {
            let number = self.memory.payloads.len();
            self.ir.resources.push(ResourceData {
                name: format!("{}_payload{number}", kind.name()),
                kind: wanted,
                set: 0,
                binding: number as u32,
                count: Count::One,
                oob: OutOfBounds::Undefined,
            })
        });
        self.memory.payloads.insert(resource, size);
        Ok(Region::Payload(resource))
    }

    /// Copies a number of bytes, a multiple of four.
    pub fn copy(&mut self, from: &Pointer, to: &Pointer, bytes: u32) -> Lift<()> {
        for offset in (0..bytes).step_by(4) {
            let offset = self.i32(offset);
            self.copy_word(from, to, offset)?;
        }
        Ok(())
    }

    /// Copies the word at a number of bytes behind both.
    pub fn copy_word(&mut self, from: &Pointer, to: &Pointer, offset: Value) -> Lift<()> {
        let at = |cx: &mut Self, pointer: &Pointer| {
            let mut pointer = pointer.clone();
            match (cx.b.func.const_bits(offset), pointer.dynamic) {
                (Some(bits), _) => pointer.offset = pointer.offset.wrapping_add(bits.lane(0) as u32),
                (None, Some(v)) => pointer.dynamic = Some(cx.op(Op::Iadd, &[v, offset])),
                (None, None) => pointer.dynamic = Some(offset),
            }
            let address = cx.access(&pointer, 4)?;
            Lift::Ok((pointer.region.access(2), address))
        };
        let (mem, address) = at(self, from)?;
        let v = self.b.load(mem, address, Type::I32);
        let (mem, address) = at(self, to)?;
        self.b.store(mem, address, v);
        Ok(())
    }
}
