//! What the lifter of one instruction works with: registers, operands, flags.

use super::Unsupported;
use super::handle::Bound;
use super::interface::Io;
use super::layout::{BANK_SIZE, bank_binding};
use super::pending::Pending;
use super::product::Piece;
use super::regs::{Flag, FlagSet, Regs};
use super::value::Numbers;
use crate::gpu::Shape;
use crate::info::ShaderInfo;
use crate::inst::{Guard, Inst, Operand, PT, Part, RZ, Role, Value as Named};
use crate::modifier::Mod;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use xenoglot_ir::imm::{Reduce, Scope, SubgroupInfo};
use xenoglot_ir::module::{Builtin, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Bits, Block, Builder, Flags, Imm, MemInfo, Module, Op, Resource, Space, Type, Value};

pub(super) type Lift<T> = Result<T, Unsupported>;

/// Threads of a warp.
pub(super) const WARP: u8 = 32;

/// Values that a block has already.
#[derive(Default)]
pub(super) struct Known {
    block: Option<Block>,
    /// Words of constant banks.
    words: FxHashMap<(u8, i32), Value>,
    /// Halves of words: the upper ones, those with their sign.
    pub halves: FxHashMap<(Value, bool, bool), Value>,
}

/// Everything the lifter of one instruction needs.
pub(super) struct Cx<'a> {
    pub b: Builder<'a>,
    pub module: &'a mut Module,
    pub regs: Regs,
    pub info: ShaderInfo,
    pub options: super::LiftOptions,
    /// What registers keep their old values without; none where all are written.
    pub guard: Option<Value>,
    pub banks: [Option<Resource>; 32],
    /// Numbers of the function.
    pub numbers: Numbers,
    /// What the block under the cursor has already.
    pub known: Known,
    /// Flags that are read after the instruction at hand.
    pub flags_read: FlagSet,
    /// Values that are parts of a product of words.
    pub pieces: FxHashMap<Value, Piece>,
    /// Those that are not computed yet.
    pub pending: Vec<Pending>,
    pub global: Option<Resource>,
    pub io: Io<'a>,
    pub bound: Bound,
    /// Shapes of textures by their handle's word, as instructions that name one tell.
    pub shapes: BTreeMap<u32, Shape>,
    /// Where a stack that is data starts in private memory.
    pub stack_base: u32,
    /// Where the result of a reducing barrier is gathered in shared memory.
    pub barrier_scratch: Option<u32>,
}

impl Cx<'_> {
    pub fn i64(&mut self, v: u64) -> Value {
        self.b.constant(Type::I64, Bits::scalar(v))
    }

    pub fn cast(&mut self, v: Value, ty: Type) -> Value {
        self.b.bitcast(v, ty)
    }

    pub fn convert(&mut self, op: Op, v: Value, ty: Type) -> Value {
        self.b.convert(op, Flags::NONE, v, ty)
    }

    /// Register `n`; zero for RZ.
    pub fn reg(&mut self, n: u8) -> Value {
        self.reg_as(n, Type::I32)
    }

    /// Register `n` as a scalar of 32 bits; zero for RZ.
    fn reg_as(&mut self, n: u8, ty: Type) -> Value {
        self.settle(n);
        match self.regs.general(self.b.func, n) {
            Some(slot) => self.b.slot_get_as(slot, ty),
            None => {
                let zero = self.zero();
                self.cast(zero, ty)
            }
        }
    }

    /// Writes register `n` where the guard holds: 32 bits, of which singles are kept as what they are in the block.
    pub fn set_reg(&mut self, n: u8, v: Value) {
        let v = if self.b.func.ty(v) == Type::F32 { v } else { self.cast(v, Type::I32) };
        match self.guard {
            Some(_) => self.settle(n),
            None => self.forget(n),
        }
        if let Some(slot) = self.regs.general(self.b.func, n) {
            let v = self.guarded(slot, v);
            self.b.slot_set(slot, v);
        }
    }

    fn guarded(&mut self, slot: xenoglot_ir::Slot, v: Value) -> Value {
        match self.guard {
            Some(guard) => {
                let old = self.b.slot_get_as(slot, self.b.func.ty(v));
                self.select(guard, v, old)
            }
            None => v,
        }
    }

    /// Registers `n` and the next as one value of 64 bits, the first its low word; zero for RZ.
    pub fn pair(&mut self, n: u8, ty: Type) -> Value {
        let words = [n, n.saturating_add(1)].map(|r| self.reg(r));
        self.join(words, ty)
    }

    /// Two words as one value of 64 bits.
    pub fn join(&mut self, words: [Value; 2], ty: Type) -> Value {
        let v = match self.was_split(words) {
            Some(v) => v,
            None => self.op(Op::Build, &words),
        };
        self.cast(v, ty)
    }

    /// The pair of words that these are the first and the second of.
    fn was_split(&self, words: [Value; 2]) -> Option<Value> {
        let mut pairs = [0, 1].map(|lane| {
            let inst = self.b.func.def_inst(words[lane])?;
            let data = &self.b.func.insts[inst];
            let is_lane = data.op == Op::Extract && data.imm == Imm::Lane(lane as u8);
            self.b.func.args(inst).first().copied().filter(|&v| is_lane && self.b.func.ty(v) == Type::I32X2)
        });
        let [low, high] = [pairs[0].take()?, pairs[1].take()?];
        (low == high).then_some(low)
    }

    /// The words of a 64-bit value.
    pub fn split(&mut self, v: Value) -> [Value; 2] {
        let v = self.cast(v, Type::I32X2);
        [0, 1].map(|lane| self.b.extract(v, lane))
    }

    /// Writes a 64-bit value to registers `n` and the next; RZ drops both.
    pub fn set_pair(&mut self, n: u8, v: Value) {
        let words = self.split(v);
        for (i, word) in (0u8..).zip(words) {
            self.set_reg(n.saturating_add(i), word);
        }
    }

    /// Predicate `n`.
    pub fn pred(&mut self, n: u8) -> Value {
        match self.regs.pred(self.b.func, n) {
            Some(slot) => self.b.slot_get(slot),
            None => self.truth(true),
        }
    }

    /// Writes predicate `n` where the guard holds.
    pub fn set_pred(&mut self, n: u8, v: Value) {
        if let Some(slot) = self.regs.pred(self.b.func, n) {
            let v = self.guarded(slot, v);
            self.b.slot_set(slot, v);
        }
    }

    pub fn flag(&mut self, flag: Flag) -> Value {
        let slot = self.regs.flag(self.b.func, flag);
        self.b.slot_get(slot)
    }

    /// Writes a flag. C written by anything but a sum of three is a carry of at most 1.
    pub fn set_flag(&mut self, flag: Flag, v: Value) {
        let slot = self.regs.flag(self.b.func, flag);
        let v = self.guarded(slot, v);
        self.b.slot_set(slot, v);
        if flag == Flag::Carry {
            self.set_flag_by(Flag::SecondCarry, |cx| cx.truth(false));
        }
    }

    /// Writes Z and S by a result, and the other flags, as far as they are read.
    pub fn set_flags(
        &mut self,
        result: Value,
        carry: impl FnOnce(&mut Self) -> Value,
        overflow: impl FnOnce(&mut Self) -> Value,
    ) {
        let zero = self.zero();
        self.set_flag_by(Flag::Zero, |cx| cx.op(Op::IcmpEq, &[result, zero]));
        self.set_flag_by(Flag::Sign, |cx| cx.op(Op::IcmpSlt, &[result, zero]));
        self.set_flag_by(Flag::Carry, carry);
        self.set_flag_by(Flag::Overflow, overflow);
    }

    /// Writes a flag if it is read before it is written again.
    pub fn set_flag_by(&mut self, flag: Flag, v: impl FnOnce(&mut Self) -> Value) {
        if self.flags_read.has(flag) {
            let v = v(self);
            self.set_flag(flag, v);
        }
    }

    /// [`Cx::set_flags`] where the instruction has `.CC`, C and O being clear.
    pub fn set_logic_flags(&mut self, inst: &Inst, result: Value) {
        if inst.has(Mod::Cc) {
            self.set_flags(result, |cx| cx.truth(false), |cx| cx.truth(false));
        }
    }

    /// What a guard says; none for one that always holds.
    pub fn guard_value(&mut self, guard: Guard) -> Option<Value> {
        if guard.is_always() {
            return None;
        }
        let p = self.pred(guard.pred);
        Some(if guard.not { self.not(p) } else { p })
    }

    /// The buffer of a constant bank.
    pub fn bank(&mut self, bank: u8) -> Lift<Resource> {
        let entry = self.banks.get_mut(usize::from(bank)).ok_or(Unsupported)?;
        self.info.constant_banks |= 1 << bank;
        Ok(*entry.get_or_insert_with(|| {
            self.module.resources.push(ResourceData {
                name: format!("c{bank}"),
                kind: ResourceKind::UniformBuffer { size: BANK_SIZE },
                set: self.options.set,
                binding: bank_binding(bank.into()),
                count: Count::One,
                oob: OutOfBounds::Zero,
            })
        }))
    }

    /// What is known in the block under the cursor.
    pub fn known_here(&mut self) -> &mut Known {
        let block = Some(self.b.block());
        if self.known.block != block {
            self.known.block = block;
            self.known.words.clear();
            self.known.halves.clear();
        }
        &mut self.known
    }

    /// What of the draw a word of a constant bank is, if it is.
    fn draw_constant(&self, bank: u8, offset: i32) -> Option<Builtin> {
        if self.io.stage() != Some(crate::sph::Stage::Vertex) {
            return None;
        }
        let first = self.io.gpu.draw_constants().filter(|word| word.bank == bank)?;
        match u32::try_from(offset).ok()?.checked_sub(first.offset)? {
            0 => Some(Builtin::BaseVertex),
            4 => Some(Builtin::BaseInstance),
            8 => Some(Builtin::DrawIndex),
            _ => None,
        }
    }

    /// A word of a constant bank.
    pub fn constant(&mut self, bank: u8, offset: i32) -> Lift<Value> {
        if let Some(builtin) = self.draw_constant(bank, offset) {
            return Ok(self.builtin(builtin, Type::I32));
        }
        if let Some(&known) = self.known_here().words.get(&(bank, offset)) {
            return Ok(known);
        }
        let value = self.load_constant(bank, offset)?;
        self.known.words.insert((bank, offset), value);
        Ok(value)
    }

    fn load_constant(&mut self, bank: u8, offset: i32) -> Lift<Value> {
        let resource = self.bank(bank)?;
        let offset = self.number(offset as u32 & (BANK_SIZE - 1) & !3);
        Ok(self.b.load(MemInfo::plain(Space::Uniform, Some(resource), 2), offset, Type::I32))
    }

    /// A builtin input of type `ty`.
    pub fn builtin(&mut self, builtin: Builtin, ty: Type) -> Value {
        let var = self.builtin_var(false, builtin, ty, None);
        self.b.input(var, ty)
    }

    /// The lane's number in the warp.
    pub fn lane_id(&mut self) -> Value {
        self.b.op_imm(Op::SgId, Flags::NONE, warp(), &[])
    }

    /// The operand of a role as it is named, without abs, neg or inv.
    pub fn raw(&mut self, o: &Operand) -> Lift<Value> {
        Ok(match o.value {
            Named::Reg(n) => self.reg(n),
            Named::Const { bank, offset, index: RZ } => self.constant(bank, offset)?,
            Named::Imm(v) | Named::F32(v) => self.number(v),
            Named::F16x2 { lo, hi } => self.number(u32::from(hi) << 16 | u32::from(lo)),
            _ => return Err(Unsupported),
        })
    }

    /// An operand's 64 bits.
    pub fn raw64(&mut self, o: &Operand, ty: Type) -> Lift<Value> {
        Ok(match o.value {
            Named::Reg(n) => self.pair(n, ty),
            Named::Const { bank, offset, index: RZ } => {
                let words = [self.constant(bank, offset)?, self.constant(bank, offset.wrapping_add(4))?];
                self.join(words, ty)
            }
            Named::F64(v) => self.b.constant(ty, Bits::scalar(v)),
            Named::Imm(v) => self.b.constant(ty, Bits::scalar(i64::from(v as i32) as u64)),
            _ => return Err(Unsupported),
        })
    }

    /// The selected part of a word as 32 bits, with its sign if `signed`.
    pub fn part(&mut self, v: Value, part: Part, signed: bool) -> Lift<Value> {
        let (at, len) = match part {
            Part::Full => return Ok(v),
            Part::H0 | Part::H0H0 => (0, 16),
            Part::H1 | Part::H1H1 => (16, 16),
            Part::B0 => (0, 8),
            Part::B1 => (8, 8),
            Part::B2 => (16, 8),
            Part::B3 => (24, 8),
            Part::F32 | Part::Bytes(_) | Part::Reserved => return Err(Unsupported),
        };
        Ok(self.field(v, at, len, signed))
    }

    /// `len` bits of `v` from bit `at` on.
    pub fn field(&mut self, v: Value, at: u32, len: u32, signed: bool) -> Value {
        let (at, len) = (self.number(at), self.number(len));
        self.op(if signed { Op::BitfieldS } else { Op::BitfieldU }, &[v, at, len])
    }

    /// An integer operand with all that is done to it.
    pub fn int(&mut self, inst: &Inst, role: Role) -> Lift<Value> {
        let o = operand(inst, role)?;
        let v = self.raw(&o)?;
        let v = self.part(v, o.part, false)?;
        let v = if o.inv { self.op(Op::Not, &[v]) } else { v };
        let v = if o.abs { self.op(Op::Iabs, &[v]) } else { v };
        Ok(if o.neg { self.op(Op::Ineg, &[v]) } else { v })
    }

    /// A single with all that is done to it.
    pub fn float(&mut self, inst: &Inst, role: Role) -> Lift<Value> {
        let o = operand(inst, role)?;
        let v = match o.value {
            Named::Reg(n) => self.reg_as(n, Type::F32),
            _ => self.raw(&o)?,
        };
        let v = self.cast(v, Type::F32);
        Ok(self.with_signs(&o, v))
    }

    /// A double with all that is done to it.
    pub fn double(&mut self, inst: &Inst, role: Role) -> Lift<Value> {
        let o = operand(inst, role)?;
        let v = self.raw64(&o, Type::F64)?;
        Ok(self.with_signs(&o, v))
    }

    /// Abs and neg of an operand on a float made from it.
    pub fn with_signs(&mut self, o: &Operand, v: Value) -> Value {
        let v = if o.abs { self.op(Op::Fabs, &[v]) } else { v };
        if o.neg { self.op(Op::Fneg, &[v]) } else { v }
    }

    /// A predicate operand; true where the form has none.
    pub fn pred_operand(&mut self, inst: &Inst, role: Role) -> Lift<Value> {
        let Some(o) = inst.operand(role) else { return Ok(self.truth(true)) };
        let p = self.pred(o.pred().ok_or(Unsupported)?);
        Ok(if o.inv || o.neg { self.not(p) } else { p })
    }

    /// Writes the destination register.
    pub fn set_dst(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        let n = dst(inst)?;
        self.set_reg(n, v);
        Ok(())
    }

    /// Writes the destination pair.
    pub fn set_dst64(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        let n = dst(inst)?;
        self.set_pair(n, v);
        Ok(())
    }

    /// Writes a predicate destination, if the form has it.
    pub fn set_dst_pred(&mut self, inst: &Inst, role: Role, v: Value) {
        if let Some(n) = written_pred(inst, role) {
            self.set_pred(n, v);
        }
    }

    /// A block to go on in, with parameters.
    pub fn join_block(&mut self, types: &[Type]) -> (Block, Vec<Value>) {
        let block = self.b.func.add_block();
        let params = types.iter().map(|&ty| self.b.func.add_param(block, ty)).collect();
        (block, params)
    }

    /// Waits for the workgroup.
    pub fn workgroup_barrier(&mut self) {
        self.barrier(Scope::Workgroup, true);
    }

    /// Orders all memory in a scope; with `exec` waits for it.
    pub fn barrier(&mut self, scope: Scope, exec: bool) {
        let shared = self.io.stage().is_none();
        let info = xenoglot_ir::imm::BarrierInfo { scope, shared, storage: true, image: true, exec };
        self.b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
    }
}

/// Guest subgroups have [`WARP`] lanes.
pub(super) fn warp() -> Imm {
    Imm::Subgroup(SubgroupInfo { width: WARP, reduce: Reduce::Iadd, exclusive: false })
}

/// The operand of a role.
pub(super) fn operand(inst: &Inst, role: Role) -> Lift<Operand> {
    inst.operand(role).ok_or(Unsupported)
}

/// The predicate that an operand is a destination of, if the form has it and it is not PT.
pub(super) fn written_pred(inst: &Inst, role: Role) -> Option<u8> {
    inst.operand(role).and_then(|o| o.pred()).filter(|&n| n != PT)
}

/// The destination register.
pub(super) fn dst(inst: &Inst) -> Lift<u8> {
    operand(inst, Role::Dst)?.reg().ok_or(Unsupported)
}

/// An operand that must be a number in the instruction.
pub(super) fn immediate(inst: &Inst, role: Role) -> Lift<u32> {
    operand(inst, role)?.imm().ok_or(Unsupported)
}
