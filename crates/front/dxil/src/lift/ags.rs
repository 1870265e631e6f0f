//! AMD's AGS: the intrinsics that Vulkan has, too.
//!
//! Each is a compare-exchange at an address of a UAV that is no buffer. The address says which (`ags_shader_intrinsics_dx12.h`,
//! which comes with the library): the number 5 in the highest four bits, the phase of those of several results or operands in
//! bits 24 and 25, data in bits 8 to 23, the operation in the low eight. What is compared and what is stored are operands.

use super::cx::Cx;
use super::{Lift, Stop};
use crate::bitcode::ValueId;
use crate::program::Vendor;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Imm, Op, Type, Value};

/// What marks an address.
const MARK: u64 = 5;

fn subgroup(reduce: Reduce, exclusive: bool) -> Imm {
    Imm::Subgroup(SubgroupInfo { width: 0, reduce, exclusive })
}

impl Cx<'_> {
    /// What an intrinsic gives, a word.
    pub(super) fn ags(&mut self, address: ValueId, [a, b]: [Value; 2]) -> Lift<Value> {
        let refused = |cx: &Self| Stop::from(cx.refused(Vendor::Ags));
        let Ok(address) = self.integer(address) else { return Err(refused(self)) };
        if address >> 28 != MARK || self.ty(a) != Type::I32 {
            return Err(refused(self));
        }
        let (operation, data, phase) = (address & 0xff, (address >> 8 & 0xffff) as u32, address >> 24 & 3);
        let plain = subgroup(Reduce::Iadd, false);
        let is_vertex = self.ir.stage == xenoglot_ir::Stage::Vertex;
        Ok(match operation {
            0x01 => self.inst(Op::SgReadFirst, plain, &[a], Type::I32),
            0x02 => {
                let lane = self.i32(data);
                self.inst(Op::SgShuffle, plain, &[a, lane], Type::I32)
            }
            0x03 => self.inst(Op::SgId, plain, &[], Type::I32),
            0x04 => {
                let lane = self.swizzled(data);
                self.inst(Op::SgShuffle, plain, &[a, lane], Type::I32)
            }
            0x05 if phase < 2 => {
                let zero = self.i32(0);
                let is_set = self.op(Op::IcmpNe, &[a, zero]);
                let mask = self.inst(Op::SgBallot, plain, &[is_set], Type::I64);
                let words = self.cast(mask, Type::I32X2);
                self.b.extract(words, phase as u8)
            }
            // Bits of a mask of two words in front of the lane.
            0x06 => {
                let mask = self.op(Op::Build, &[a, b]);
                let mask = self.cast(mask, Type::I64);
                let id = self.inst(Op::SgId, plain, &[], Type::I32);
                let id = self.b.convert(Op::Zext, xenoglot_ir::Flags::NONE, id, Type::I64);
                let one = self.constant(Type::I64, 1);
                let next = self.op(Op::Shl, &[one, id]);
                let before = self.op(Op::Isub, &[next, one]);
                let counted = self.op(Op::And, &[mask, before]);
                let count = self.op(Op::Popcount, &[counted]);
                self.resize(count, Type::I32)
            }
            // The operation in the low byte; of scans whether the lane itself counts (1) or not (2) in the high one.
            0x12 | 0x13 => {
                let Some((reduce, is_float)) = reduction(data & 0xff) else { return Err(refused(self)) };
                let ty = if is_float { Type::F32 } else { Type::I32 };
                let (op, imm) = match (operation, data >> 8) {
                    (0x12, _) => (Op::SgReduce, subgroup(reduce, false)),
                    (_, flags) => (Op::SgScan, subgroup(reduce, flags & 2 != 0)),
                };
                let v = self.cast(a, ty);
                let made = self.inst(op, imm, &[v], ty);
                self.cast(made, Type::I32)
            }
            0x17 if is_vertex => self.builtin(Builtin::DrawIndex, Type::I32),
            0x1a if is_vertex => self.builtin(Builtin::BaseInstance, Type::I32),
            0x1b if is_vertex => self.builtin(Builtin::BaseVertex, Type::I32),
            0x1f | 0x20 if phase < 2 => {
                let op = if operation == 0x1f { Op::Clock } else { Op::DeviceClock };
                let clock = self.inst(op, Imm::None, &[], Type::I32X2);
                self.b.extract(clock, phase as u8)
            }
            _ => return Err(refused(self)),
        })
    }

    /// The lane that a swizzle reads: of a quad, each lane's in two bits; or the lane's number in 32 with some bits kept, some
    /// set and some turned.
    fn swizzled(&mut self, pattern: u32) -> Value {
        let lane = self.inst(Op::SgId, subgroup(Reduce::Iadd, false), &[], Type::I32);
        if pattern & 0x8000 != 0 {
            let (three, one, table) = (self.i32(3), self.i32(1), self.i32(pattern & 0xff));
            let within = self.op(Op::And, &[lane, three]);
            let shift = self.op(Op::Shl, &[within, one]);
            let number = self.op(Op::Ushr, &[table, shift]);
            let number = self.op(Op::And, &[number, three]);
            let quad = self.i32(!3);
            let quad = self.op(Op::And, &[lane, quad]);
            return self.op(Op::Or, &[quad, number]);
        }
        // Lanes of other halves of the wave are kept apart.
        let (keep, set, turn) = (pattern & 0x1f | !0x1f, pattern >> 5 & 0x1f, pattern >> 10 & 0x1f);
        let [keep, set, turn] = [keep, set, turn].map(|bits| self.i32(bits));
        let kept = self.op(Op::And, &[lane, keep]);
        let with = self.op(Op::Or, &[kept, set]);
        self.op(Op::Xor, &[with, turn])
    }
}

/// How a wave's values are combined, and whether they are floats.
fn reduction(number: u32) -> Option<(Reduce, bool)> {
    Some(match number {
        0x1 => (Reduce::Fadd, true),
        0x2 | 0x3 => (Reduce::Iadd, false),
        0x4 => (Reduce::Fmul, true),
        0x5 | 0x6 => (Reduce::Imul, false),
        0x7 => (Reduce::Fmin, true),
        0x8 => (Reduce::Imin, false),
        0x9 => (Reduce::Umin, false),
        0xa => (Reduce::Fmax, true),
        0xb => (Reduce::Imax, false),
        0xc => (Reduce::Umax, false),
        0xd => (Reduce::And, false),
        0xe => (Reduce::Or, false),
        0xf => (Reduce::Xor, false),
        _ => return None,
    })
}
