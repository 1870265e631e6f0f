//! Special registers (S2R, CS2R).

use super::Unsupported;
use super::cx::{Cx, Lift, WARP, operand};
use crate::inst::{Inst, Role, Value as Named};
use crate::sph::Stage;
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Type, Value};

impl Cx<'_> {
    /// S2R, CS2R.
    pub fn s2r(&mut self, inst: &Inst) -> Lift<()> {
        let special = inst.operands().into_iter().find_map(|o| match o.value {
            Named::Special(n) => Some(n),
            _ => None,
        });
        let number = special.ok_or(Unsupported)?;
        let of_workgroups = matches!(number, 0x03 | 0x20..=0x2f);
        if of_workgroups && self.io.stage().is_some() {
            return Err(Unsupported);
        }
        let v = self.special(number)?;
        if let Err(at) = self.info.special_registers.binary_search(&number) {
            self.info.special_registers.insert(at, number);
        }
        operand(inst, Role::Dst)?;
        self.set_dst(inst, v)
    }

    fn special(&mut self, number: u8) -> Lift<Value> {
        Ok(match number {
            // Invocations of a patch are lanes from 0 on, and the tessellator's own vertex is its only one.
            0x00 if self.io.stage() == Some(Stage::TessControl) => self.invocation(),
            0x00 if self.io.stage() == Some(Stage::TessEval) => self.zero(),
            // Vertices of the input patch in bits 8 to 15.
            0x10 if self.is_tessellation() => {
                let (n, shift) = (self.builtin(Builtin::PatchVertices, Type::I32), self.number(8));
                self.op(Op::Shl, &[n, shift])
            }
            0x11 if matches!(self.io.stage(), Some(Stage::TessControl | Stage::Geometry)) => {
                self.invocation()
            }
            0x12 if self.io.stage().is_some() => {
                let up = if self.io.gpu.y_down() { -1.0f32 } else { 1.0 };
                self.number(up.to_bits())
            }
            0x13 if self.io.stage() == Some(Stage::Fragment) => {
                let inst = self.b.inst(Op::Helper, Flags::NONE, Imm::None, &[], &[Type::BOOL]);
                let helper = self.b.func.results(inst)[0];
                self.convert(Op::Sext, helper, Type::I32)
            }
            0x13 => self.zero(),
            // Vertices of the primitive or patch from bit 16 on; the primitive's number below, which is always 0 here.
            0x1d if self.io.stage() == Some(Stage::Geometry) => {
                let n = self.input_vertices();
                self.number(n << 16)
            }
            0x1d if self.is_tessellation() => {
                let (n, shift) = (self.builtin(Builtin::PatchVertices, Type::I32), self.number(16));
                self.op(Op::Shl, &[n, shift])
            }
            // Lane, and the slot of the warp on its multiprocessor, which is always the first here.
            0x00 => self.lane(),
            0x03 => {
                let lane = self.lane();
                let warp = self.warp_id();
                let shift = self.number(8);
                let warp = self.op(Op::Shl, &[warp, shift]);
                self.op(Op::Or, &[warp, lane])
            }
            // x in bits 0 to 15, y in 16 to 25, z in 26 to 31.
            0x20 => {
                let [x, y, z] = [0, 1, 2].map(|lane| self.component(Builtin::LocalInvocationId, lane));
                let [y_at, z_at] = [16, 26].map(|at| self.number(at));
                let (y, z) = (self.op(Op::Shl, &[y, y_at]), self.op(Op::Shl, &[z, z_at]));
                let xy = self.op(Op::Or, &[x, y]);
                self.op(Op::Or, &[xy, z])
            }
            0x21..=0x23 => self.component(Builtin::LocalInvocationId, number - 0x21),
            0x25..=0x27 => self.component(Builtin::WorkgroupId, number - 0x25),
            0x28..=0x2a => {
                let size = self.info.workgroup[usize::from(number - 0x28)];
                self.number(size)
            }
            0x2d..=0x2f => self.component(Builtin::NumWorkgroups, number - 0x2d),
            // Where local memory ends below the stack, which no stack reaches: there is nothing below.
            0x37 => self.zero(),
            // Masks of the lanes equal to, below, up to, above and from this one on.
            0x38 => self.lane_mask(1),
            0x39 => {
                let bit = self.lane_mask(1);
                let one = self.number(1);
                self.op(Op::Isub, &[bit, one])
            }
            0x3a => {
                let above = self.lane_mask(u32::MAX - 1);
                self.op(Op::Not, &[above])
            }
            0x3b => self.lane_mask(u32::MAX - 1),
            0x3c => self.lane_mask(u32::MAX),
            // The host has no clock that shaders of every kind can read: time stands still.
            0x01 | 0x50 | 0x51 => self.zero(),
            _ => return Err(Unsupported),
        })
    }

    fn is_tessellation(&self) -> bool {
        matches!(self.io.stage(), Some(Stage::TessControl | Stage::TessEval))
    }

    fn lane(&mut self) -> Value {
        self.info.warp_operations = true;
        self.lane_id()
    }

    /// `pattern` shifted left by the lane's number.
    fn lane_mask(&mut self, pattern: u32) -> Value {
        let (pattern, lane) = (self.number(pattern), self.lane());
        self.op(Op::Shl, &[pattern, lane])
    }

    fn component(&mut self, builtin: Builtin, lane: u8) -> Value {
        let v = self.builtin(builtin, Type::I32X3);
        self.b.extract(v, lane)
    }

    fn warp_id(&mut self) -> Value {
        let index = self.builtin(Builtin::LocalInvocationIndex, Type::I32);
        let shift = self.number(WARP.trailing_zeros());
        self.op(Op::Ushr, &[index, shift])
    }
}
