//! Statements of single instructions: assignments, stores, calls, barriers.

use crate::error::Error;
use crate::expr::{ANY, Sel};
use crate::plan::Mode;
use crate::writer::{Extension, Writer};
use std::fmt::Write;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::Scope;
use xenoglot_ir::{Imm, Inst, Op, Stage, Value};

impl Writer<'_> {
    /// Writes what an instruction does, unless it is part of an expression elsewhere or does nothing.
    pub(crate) fn statement(&mut self, inst: Inst) -> Result<(), Error> {
        let f = self.func;
        let data = &f.insts[inst];
        if self.is_inline(inst) {
            return Ok(());
        }
        let start = self.out.len();
        let writes = data.op.info().traits.writes;
        if let &[v] = f.results(inst)
            && data.op != Op::Call
        {
            if let Some(n) = self.vars.of(v) {
                self.pad();
                self.assign(n, v, inst)?;
            } else if writes {
                self.pad();
                self.inst(inst, v, Sel::all(f.ty(v)), ANY)?;
                self.out.push_str(";\n");
            }
        } else if writes {
            self.note_guest(inst);
            self.pad();
            self.effect(inst)?;
            self.out.push('\n');
        }
        self.comment(start);
        Ok(())
    }

    /// `name = expression;`, or only the lanes that change.
    fn assign(&mut self, n: u32, v: Value, inst: Inst) -> Result<(), Error> {
        let f = self.func;
        let var = self.vars.get(n).ok_or(Error::Malformed("a variable that does not exist"))?;
        self.out.push_str(&var.name);
        let ty = f.ty(v);
        let data = &f.insts[inst];
        let same = |a: Value| self.plan.mode(a) == Mode::Var && self.vars.of(a) == Some(n) && f.ty(a) == ty;
        match (data.op, data.imm, f.args(inst)) {
            (Op::Insert, Imm::Lane(lane), &[a, s]) if same(a) => {
                self.note_guest(inst);
                Sel::some(&[lane], ty.lanes()).write(self.out);
                self.out.push_str(" = ");
                self.value(s, ANY)?;
            }
            (Op::Shuffle, Imm::Lanes(lanes), &[a, b]) if same(a) || same(b) => {
                self.note_guest(inst);
                // Lanes that stay, by where they come from.
                let keep = |&(i, &l): &(u8, &u8)| (l == i && same(a)) || (l == i + 4 && same(b));
                let numbered = || (0u8..).zip(lanes.as_slice());
                let mut changed = [0; 4];
                let mut sources = [0; 4];
                let mut count = 0;
                for (i, &l) in numbered().filter(|x| !keep(x)) {
                    (changed[count], sources[count]) = (i, l);
                    count += 1;
                }
                let from_a = sources[..count].iter().all(|&l| l < 4);
                let from_b = sources[..count].iter().all(|&l| l >= 4);
                if count == 0 || count == usize::from(ty.lanes()) || !(from_a || from_b) {
                    self.out.push_str(" = ");
                    self.inst(inst, v, Sel::all(ty), ANY)?;
                } else {
                    Sel::some(&changed[..count], ty.lanes()).write(self.out);
                    self.out.push_str(" = ");
                    sources.iter_mut().for_each(|l| *l &= 3);
                    let from = if from_a { a } else { b };
                    self.expr(from, Sel::some(&sources[..count], f.ty(from).lanes()), ANY)?;
                }
            }
            _ => {
                self.out.push_str(" = ");
                self.inst(inst, v, Sel::all(ty), ANY)?;
            }
        }
        self.out.push_str(";\n");
        Ok(())
    }

    /// A statement without result.
    fn effect(&mut self, inst: Inst) -> Result<(), Error> {
        let f = self.func;
        let data = &f.insts[inst];
        match data.op {
            Op::SlotSet => {
                let (Imm::Slot(slot), &[v]) = (data.imm, f.args(inst)) else {
                    return Err(Error::Malformed("a slot and its value are expected"));
                };
                let slots = self.slots;
                let name = slots.get(slot.index()).ok_or(Error::Malformed("a slot that does not exist"))?;
                self.out.push_str(name);
                self.out.push_str(" = ");
                self.value(v, ANY)?;
                self.out.push(';');
                Ok(())
            }
            Op::Output => self.interface_write(inst),
            Op::ImgStore => self.image_store(inst),
            Op::EmitVertex | Op::EndPrimitive
                if self.module.stage == Stage::Geometry && data.imm == Imm::Stream(0) =>
            {
                self.out.push_str(if data.op == Op::EmitVertex {
                    "EmitVertex();"
                } else {
                    "EndPrimitive();"
                });
                Ok(())
            }
            Op::Store => self.store(inst),
            Op::Call => self.call_statement(inst),
            Op::Barrier => self.barrier(inst),
            Op::Demote if self.demotes() => {
                self.extension(Extension::Demote);
                self.out.push_str("demote;");
                Ok(())
            }
            Op::DiscardIf if self.demotes() => {
                self.extension(Extension::Demote);
                let &[v] = f.args(inst) else { return Err(Error::Malformed("a condition is expected")) };
                self.out.push_str("if (");
                self.value(v, ANY)?;
                self.out.push_str(") demote;");
                Ok(())
            }
            _ => Err(self.unsupported(inst, "the op has no GLSL form in this stage and version")),
        }
    }

    fn demotes(&self) -> bool {
        self.module.stage == Stage::Fragment && self.target().is_450()
    }

    fn call_statement(&mut self, inst: Inst) -> Result<(), Error> {
        let f = self.func;
        let Imm::Func(callee) = f.insts[inst].imm else {
            return Err(Error::Malformed("a call without function"));
        };
        let names = self.names;
        let name =
            names.funcs.get(callee).ok_or(Error::Malformed("a call of a function that does not exist"))?;
        let results = f.results(inst);
        if let &[v] = results
            && let Some(var) = self.vars.of(v).and_then(|n| self.vars.get(n))
        {
            self.out.push_str(&var.name);
            self.out.push_str(" = ");
        }
        let _ = write!(self.out, "{name}(");
        let mut first = true;
        for &a in f.args(inst) {
            self.out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            self.value(a, ANY)?;
        }
        if results.len() > 1 {
            for &v in results {
                self.out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
                let var = self.vars.of(v).and_then(|n| self.vars.get(n));
                self.out.push_str(&var.ok_or(Error::Malformed("a result without a variable"))?.name);
            }
        }
        self.out.push_str(");");
        Ok(())
    }

    fn barrier(&mut self, inst: Inst) -> Result<(), Error> {
        let Imm::Barrier(info) = self.func.insts[inst].imm else {
            return Err(Error::Malformed("a barrier without its facts"));
        };
        let waits = matches!(self.module.stage, Stage::Compute | Stage::TessControl);
        if (info.exec || info.shared) && !waits {
            return Err(self.unsupported(inst, "barriers are for compute and tessellation control"));
        }
        let subgroup = info.scope == Scope::Subgroup;
        if subgroup {
            if !self.target().is_450() {
                return Err(self.unsupported(inst, "subgroups need version 450"));
            }
            self.extension(Extension::SubgroupBasic);
        }
        let names = match subgroup {
            true => [
                "subgroupMemoryBarrierShared();",
                "subgroupMemoryBarrierBuffer();",
                "subgroupMemoryBarrierImage();",
                "subgroupBarrier();",
            ],
            false => {
                ["memoryBarrierShared();", "memoryBarrierBuffer();", "memoryBarrierImage();", "barrier();"]
            }
        };
        let wanted = [info.shared, info.storage, info.image, info.exec];
        let mut first = true;
        for (name, _) in names.into_iter().zip(wanted).filter(|(_, on)| *on) {
            self.out.push_str(if std::mem::take(&mut first) { "" } else { " " });
            self.out.push_str(name);
        }
        Ok(())
    }
}
