//! Instructions on attributes of stages before the rasteriser: ALD, AST, AL2P, ISBERD, OUT.

use super::Unsupported;
use super::cx::{Cx, Lift, dst, operand};
use super::interface::attribute;
use crate::inst::{Inst, RZ, Role, Value as Named};
use crate::modifier::{Mod, OutMode};
use crate::sph::Stage;
use xenoglot_ir::{Flags, Imm, Op, Value};

/// Words of an access.
fn count(inst: &Inst) -> u8 {
    inst.modifier(Mod::AttrSize).clamp(1, 4)
}

fn byte_offset(offset: i32) -> Lift<u32> {
    u32::try_from(offset).map_err(|_| Unsupported)
}

impl Cx<'_> {
    /// The vertex an access is of; none if none is named.
    fn vertex(&mut self, inst: &Inst) -> Option<Value> {
        let register = inst.operand(Role::Vertex)?.reg()?;
        (register != RZ).then(|| self.reg(register))
    }

    fn read_attribute(&mut self, inst: &Inst, word: u32, vertex: Option<Value>) -> Lift<Value> {
        let patch = inst.has(Mod::Patch);
        if inst.has(Mod::Output) {
            self.read_output(word, patch, vertex)
        } else {
            self.read_input(word, patch, vertex)
        }
    }

    /// ALD.
    pub fn ald(&mut self, inst: &Inst) -> Lift<()> {
        self.io.stage().ok_or(Unsupported)?;
        let (offset, index) = attribute(inst)?;
        let vertex = self.vertex(inst);
        let first = dst(inst)?;
        let mut values = Vec::new();
        for i in 0..count(inst) {
            let at = offset.wrapping_add(4 * i32::from(i));
            values.push(match index {
                RZ => self.read_attribute(inst, byte_offset(at)?, vertex)?,
                index => self.read_indexed(inst, index, at, vertex)?,
            });
        }
        for (i, v) in (0..).zip(values) {
            self.set_reg(first.saturating_add(i), v);
        }
        Ok(())
    }

    /// The word at a register plus an offset: one of those in the header's map.
    fn read_indexed(&mut self, inst: &Inst, index: u8, at: i32, vertex: Option<Value>) -> Lift<Value> {
        let address = self.attribute_address(index, at);
        let mut result = self.zero();
        for word in self.io.candidates(inst.has(Mod::Output)) {
            let v = self.read_attribute(inst, word, vertex)?;
            let number = self.number(word);
            let here = self.op(Op::IcmpEq, &[address, number]);
            result = self.select(here, v, result);
        }
        Ok(result)
    }

    fn attribute_address(&mut self, index: u8, at: i32) -> Value {
        let (base, at) = (self.reg(index), self.number(at as u32));
        self.op(Op::Iadd, &[base, at])
    }

    /// AST.
    pub fn ast(&mut self, inst: &Inst) -> Lift<()> {
        self.io.stage().ok_or(Unsupported)?;
        let (offset, index) = attribute(inst)?;
        let first = operand(inst, Role::Data)?.reg().ok_or(Unsupported)?;
        let register = |i: u8| if first == RZ { RZ } else { first.saturating_add(i) };
        let values: Vec<Value> = (0..count(inst)).map(|i| self.reg(register(i))).collect();
        let patch = inst.has(Mod::Patch);
        if index == RZ {
            let first = byte_offset(offset)?;
            if (first..).step_by(4).take(values.len()).any(|word| self.has_no_place(word)) {
                return Err(Unsupported);
            }
            return self.write_outputs(first, patch, &values);
        }
        if patch || self.io.stage() == Some(Stage::TessControl) {
            return Err(Unsupported);
        }
        for (i, &v) in (0..).zip(&values) {
            let address = self.attribute_address(index, offset.wrapping_add(4 * i));
            for word in self.io.candidates(true) {
                let Some(slot) = self.output_slot(word) else { continue };
                let number = self.number(word);
                let here = self.op(Op::IcmpEq, &[address, number]);
                let old = self.b.slot_get(slot);
                let new = self.select(here, v, old);
                self.b.slot_set(slot, new);
            }
        }
        Ok(())
    }

    /// AL2P: the address of an attribute, which is its byte offset here.
    pub fn al2p(&mut self, inst: &Inst) -> Lift<()> {
        let base = inst.operand(Role::A).and_then(|o| o.reg()).unwrap_or(RZ);
        let offset = inst.operand(Role::Number).and_then(|o| o.imm()).unwrap_or(0);
        let (base, offset) = (self.reg(base), self.number(offset));
        let v = self.op(Op::Iadd, &[base, offset]);
        let yes = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, yes);
        self.set_dst(inst, v)
    }

    /// ISBERD: where a vertex lies, which is its number here.
    pub fn isberd(&mut self, inst: &Inst) -> Lift<()> {
        let Named::Mem { base, .. } = operand(inst, Role::Address)?.value else { return Err(Unsupported) };
        let v = self.reg(base);
        self.set_dst(inst, v)
    }

    /// OUT: emits a vertex, ends a strip. The register that counts vertices has no meaning here.
    pub fn out(&mut self, inst: &Inst) -> Lift<()> {
        if self.io.stage() != Some(Stage::Geometry) {
            return Err(Unsupported);
        }
        // Vertex streams beside the first go nowhere without transform feedback of their own.
        match operand(inst, Role::B)?.value {
            Named::Reg(RZ) | Named::Imm(0) => {}
            _ => return Err(Unsupported),
        }
        let mode: OutMode = inst.get(Mod::OutMode)?;
        if matches!(mode, OutMode::Emit | OutMode::EmitThenCut) {
            self.emit_vertex()?;
        }
        if matches!(mode, OutMode::Cut | OutMode::EmitThenCut) {
            self.b.inst(Op::EndPrimitive, Flags::NONE, Imm::Stream(0), &[], &[]);
        }
        let handle = self.zero();
        self.set_dst(inst, handle)
    }

    /// What a passthrough shader leaves to the hardware: every vertex of the input, with what the program wrote in place
    /// of its own.
    pub fn pass_through(&mut self) -> Lift<()> {
        for vertex in 0..self.input_vertices() {
            let vertex = self.number(vertex);
            for word in self.io.passed.clone() {
                let v = self.read_input(word, false, Some(vertex))?;
                self.set_output(word, v);
            }
            self.emit_vertex()?;
        }
        self.b.inst(Op::EndPrimitive, Flags::NONE, Imm::Stream(0), &[], &[]);
        Ok(())
    }

    /// Emits a vertex, in an invocation of one viewport if the vertex goes there.
    fn emit_vertex(&mut self) -> Lift<()> {
        let rest = self.branch_by_viewport();
        self.put_out()?;
        self.b.inst(Op::EmitVertex, Flags::NONE, Imm::Stream(0), &[], &[]);
        if let Some(rest) = rest {
            self.b.jump(rest, &[]);
            self.b.switch_to(rest);
        }
        Ok(())
    }
}
