//! Instructions that compute: sources, modifiers, masks and the meaning of each opcode in IR.
//!
//! Semantics: vectors/pica/FORMAT.md, section 4. LIT: its results were found on hardware by the Panda3DS project
//! (test `PICA_LITP`). DST, DSTI: the distance vector of the shader languages of the time; no test of the chip is
//! known to us.

use super::Numeric;
use super::layout::{UNIFORM_BOOLS, UNIFORM_INTS};
use super::regs::{File, Regs, Scalar};
use crate::desc::{Component, Descriptor, Mask, Modifier, Swizzle};
use crate::inst::{Condition, ConditionMode, Dst, Index, Inst, Opcode, Operands, Relation, Src, SrcReg};
use crate::program::Program;
use xenoglot_ir::imm::FloatFormat;
use xenoglot_ir::{
    Bits, Builder, Flags, Imm, Kind, Lanes, MemInfo, NanMode, Op, Resource, Space, Type, Value,
};

/// Everything the lifter of one instruction needs.
pub(super) struct Cx<'f> {
    /// Cursor.
    pub b: Builder<'f>,
    /// Register slots.
    pub regs: Regs,
    /// The program.
    pub program: &'f Program,
    /// Arithmetic.
    pub numeric: Numeric,
    /// The uniform buffer.
    pub uniforms: Resource,
    /// v0 to v15, loaded in the prologue.
    pub inputs: [Option<Value>; 16],
    /// Geometry: which outputs EMIT copies.
    pub output_mask: u16,
    /// Geometry: where events go.
    pub events: Option<super::geometry::Events>,
}

/// The file of a destination, and its number there.
fn file(dst: Dst) -> (File, u8) {
    match dst {
        Dst::Output(n) => (File::Output, n),
        Dst::Temp(n) => (File::Temp, n),
    }
}

/// The largest magnitude LIT leaves in y: 128 - 2^-8.
const LIT_LIMIT: f32 = 127.996_09;

impl Cx<'_> {
    pub fn get(&mut self, s: Scalar) -> Value {
        let slot = self.regs.scalar(self.b.func, s);
        self.b.slot_get(slot)
    }

    pub fn set(&mut self, s: Scalar, v: Value) {
        let slot = self.regs.scalar(self.b.func, s);
        self.b.slot_set(slot, v);
    }

    pub fn get_vector(&mut self, file: File, n: u8) -> Value {
        let slot = self.regs.vector(self.b.func, file, n);
        self.b.slot_get(slot)
    }

    pub fn set_vector(&mut self, file: File, n: u8, v: Value) {
        let slot = self.regs.vector(self.b.func, file, n);
        self.b.slot_set(slot, v);
    }

    /// Component `c` (0 x to 3 w) of int uniform `n` as `i32`.
    pub fn int_uniform(&mut self, n: u8, c: u32) -> Value {
        let offset = self.b.i32(UNIFORM_INTS + u32::from(n & 3) * 16 + c * 4);
        self.b.load(MemInfo::plain(Space::Uniform, Some(self.uniforms), 2), offset, Type::I32)
    }

    /// Whether bool uniform `n` is set.
    pub fn bool_uniform(&mut self, n: u8) -> Value {
        let offset = self.b.i32(UNIFORM_BOOLS);
        let bits = self.b.load(MemInfo::plain(Space::Uniform, Some(self.uniforms), 4), offset, Type::I32);
        let mask = self.b.i32(1 << (n & 15));
        let bit = self.b.op(Op::And, &[bits, mask]);
        let zero = self.b.i32(0);
        self.b.op(Op::IcmpNe, &[bit, zero])
    }

    /// Whether the condition flags satisfy `cond`.
    pub fn condition(&mut self, cond: Condition) -> Value {
        let flag = |cx: &mut Self, s, wanted| {
            let v = cx.get(s);
            if wanted { v } else { cx.b.not(v) }
        };
        match cond.mode {
            ConditionMode::X => flag(self, Scalar::FlagX, cond.x),
            ConditionMode::Y => flag(self, Scalar::FlagY, cond.y),
            mode => {
                let x = flag(self, Scalar::FlagX, cond.x);
                let y = flag(self, Scalar::FlagY, cond.y);
                self.b.op(if mode == ConditionMode::Or { Op::Or } else { Op::And }, &[x, y])
            }
        }
    }

    fn uniform(&mut self, offset: Value) -> Value {
        self.b.load(MemInfo::plain(Space::Uniform, Some(self.uniforms), 4), offset, Type::F32X4)
    }

    /// `c[n + index]`: an index outside -128..=127 counts as 0, the sum is taken modulo 128, and what does not
    /// exist reads 1.
    fn indexed_uniform(&mut self, n: u8, index: Scalar) -> Value {
        let index = self.get(index);
        let (half, range, zero) = (self.b.i32(128), self.b.i32(256), self.b.i32(0));
        let shifted = self.b.op(Op::Iadd, &[index, half]);
        let in_range = self.b.op(Op::IcmpUlt, &[shifted, range]);
        let index = self.b.select(in_range, index, zero);
        let (base, wrap, last, size) =
            (self.b.i32(n.into()), self.b.i32(0x7f), self.b.i32(95), self.b.i32(16));
        let sum = self.b.op(Op::Iadd, &[index, base]);
        let number = self.b.op(Op::And, &[sum, wrap]);
        let clamped = self.b.op(Op::Umin, &[number, last]);
        let offset = self.b.op(Op::Imul, &[clamped, size]);
        let value = self.uniform(offset);
        let exists = self.b.op(Op::IcmpUle, &[number, last]);
        let ones = self.b.f32x4([1.0; 4]);
        self.b.select(exists, value, ones)
    }

    /// A source register as it is.
    fn register(&mut self, src: Src) -> Value {
        match (src.reg, src.index) {
            (SrcReg::Input(n), _) => match self.inputs[usize::from(n & 15)] {
                Some(v) => v,
                None => self.b.f32x4([0.0; 4]),
            },
            (SrcReg::Temp(n), _) => self.get_vector(File::Temp, n),
            (SrcReg::Const(n), Index::None) => {
                let offset = self.b.i32(u32::from(n) * 16);
                self.uniform(offset)
            }
            (SrcReg::Const(n), Index::A0x) => self.indexed_uniform(n, Scalar::A0x),
            (SrcReg::Const(n), Index::A0y) => self.indexed_uniform(n, Scalar::A0y),
            (SrcReg::Const(n), Index::Al) => self.indexed_uniform(n, Scalar::Al),
        }
    }

    /// The first `lanes` lanes of a source after selection and negation.
    fn source(&mut self, src: Src, m: Modifier, lanes: u8) -> Value {
        let v = self.register(src);
        let picked = m.swizzle.lanes().map(|c| c as u8);
        let v = match Lanes::new(&picked[..usize::from(lanes.clamp(1, 4))]) {
            Some(l) if lanes < 4 || m.swizzle != Swizzle::IDENTITY => self.b.shuffle(v, v, l),
            _ => v,
        };
        if m.negate { self.b.op(Op::Fneg, &[v]) } else { v }
    }

    /// The selected x component of a source, after negation.
    fn scalar_source(&mut self, src: Src, m: Modifier) -> Value {
        let v = self.register(src);
        let v = self.b.extract(v, m.swizzle.lane(Component::X) as u8);
        if m.negate { self.b.op(Op::Fneg, &[v]) } else { v }
    }

    fn product_flags(&self) -> Flags {
        if self.numeric == Numeric::Fast { Flags::NONE } else { Flags::NONE.with_zero_wins() }
    }

    /// A result as the numeric mode stores it.
    fn rounded(&mut self, v: Value) -> Value {
        match self.numeric {
            Numeric::F24 => self.b.op_imm(Op::Fquantize, Flags::NONE, Imm::Format(FloatFormat::F24), &[v]),
            Numeric::Single | Numeric::Fast => v,
        }
    }

    /// Writes the enabled components of a vector.
    fn write(&mut self, dst: Dst, mask: Mask, v: Value) {
        let (file, n) = file(dst);
        match mask {
            Mask::NONE => {}
            Mask::ALL => self.set_vector(file, n, v),
            _ => {
                let old = self.get_vector(file, n);
                let lanes = Component::ALL.map(|c| c as u8 + if mask.contains(c) { 4 } else { 0 });
                if let Some(lanes) = Lanes::new(&lanes) {
                    let merged = self.b.shuffle(old, v, lanes);
                    self.set_vector(file, n, merged);
                }
            }
        }
    }

    /// Writes a scalar to all enabled components.
    fn write_scalar(&mut self, dst: Dst, mask: Mask, v: Value) {
        let mut lanes = Component::ALL.into_iter().filter(|&c| mask.contains(c));
        match (lanes.next(), lanes.next()) {
            (Some(only), None) => {
                let (file, n) = file(dst);
                let old = self.get_vector(file, n);
                let merged = self.b.insert(old, only as u8, v);
                self.set_vector(file, n, merged);
            }
            _ => {
                let v = self.b.splat(v, 4);
                self.write(dst, mask, v);
            }
        }
    }

    /// Lifts an instruction that is not flow. Flow instructions, NOP and END have no effect here.
    pub fn lift(&mut self, inst: &Inst) {
        let d = self.program.descriptor(inst.desc().unwrap_or(0));
        match inst.operands {
            Operands::Unary { dst, src, .. } => self.unary(inst.op, dst, src, d),
            Operands::Binary { dst, src, .. } => self.binary(inst.op, dst, src, d),
            Operands::Mad { dst, src, .. } => {
                let [a, b, c] = [0, 1, 2].map(|i| self.source(src[i], d.source(i), 4));
                let flags = self.product_flags();
                let product = self.b.op_flags(Op::Fmul, flags, &[a, b]);
                let product = self.rounded(product);
                let sum = self.b.op(Op::Fadd, &[product, c]);
                let sum = self.rounded(sum);
                self.write(dst, d.mask(), sum);
            }
            Operands::MoveAddress { src, .. } => self.move_address(src, d),
            Operands::Compare { src, x, y, .. } => {
                let [a, b] = [0, 1].map(|i| self.source(src[i], d.source(i), 2));
                for (lane, relation, flag) in [(0, x, Scalar::FlagX), (1, y, Scalar::FlagY)] {
                    let (a, b) = (self.b.extract(a, lane), self.b.extract(b, lane));
                    let holds = self.relation(relation, a, b);
                    self.set(flag, holds);
                }
            }
            Operands::SetEmit { vertex, primitive, winding } => self.set_emit(vertex, primitive, winding),
            _ if inst.op == Opcode::Emit => self.emit(),
            _ => {}
        }
    }

    fn relation(&mut self, r: Relation, a: Value, b: Value) -> Value {
        match r {
            Relation::Eq => self.b.op(Op::FcmpOeq, &[a, b]),
            Relation::Ne => self.b.op(Op::FcmpUne, &[a, b]),
            Relation::Lt => self.b.op(Op::FcmpOlt, &[a, b]),
            Relation::Le => self.b.op(Op::FcmpOle, &[a, b]),
            Relation::Gt => self.b.op(Op::FcmpOlt, &[b, a]),
            Relation::Ge => self.b.op(Op::FcmpOle, &[b, a]),
            // No meaning is known; false is what a comparator that matches nothing gives.
            Relation::Reserved6 | Relation::Reserved7 => self.b.bool(false),
        }
    }

    fn unary(&mut self, op: Opcode, dst: Dst, src: Src, d: Descriptor) {
        let scalar = match op {
            Opcode::Rcp => Some(Op::Rcp),
            Opcode::Rsq => Some(Op::Rsqrt),
            Opcode::Ex2 => Some(Op::Exp2),
            Opcode::Lg2 => Some(Op::Log2),
            _ => None,
        };
        if let Some(op) = scalar {
            let x = self.scalar_source(src, d.source(0));
            let v = self.b.op(op, &[x]);
            let v = self.rounded(v);
            return self.write_scalar(dst, d.mask(), v);
        }
        let v = self.source(src, d.source(0), 4);
        let v = match op {
            Opcode::Flr => {
                let v = self.b.op(Op::Floor, &[v]);
                self.rounded(v)
            }
            Opcode::Lit => self.lit(v),
            _ => v, // MOV
        };
        self.write(dst, d.mask(), v);
    }

    fn lit(&mut self, v: Value) -> Value {
        let [x, y, w] = [0, 1, 3].map(|lane| self.b.extract(v, lane));
        let zero = self.b.f32(0.0);
        let second = Flags::NONE.with_nan(NanMode::Second);
        let (low, high) = (self.b.f32(-LIT_LIMIT), self.b.f32(LIT_LIMIT));
        for (v, flag) in [(x, Scalar::FlagX), (w, Scalar::FlagY)] {
            let positive = self.b.op(Op::FcmpOle, &[zero, v]);
            self.set(flag, positive);
        }
        let x = self.b.op_flags(Op::Fmax, second, &[x, zero]);
        let w = self.b.op_flags(Op::Fmax, second, &[w, zero]);
        let y = self.b.op_flags(Op::Fmax, second, &[y, low]);
        let y = self.b.op_flags(Op::Fmin, second, &[y, high]);
        self.b.op(Op::Build, &[x, y, zero, w])
    }

    fn binary(&mut self, op: Opcode, dst: Dst, src: [Src; 2], d: Descriptor) {
        let lanes = if op == Opcode::Dp3 { 3 } else { 4 };
        let [a, b] = [0, 1].map(|i| self.source(src[i], d.source(i), lanes));
        let zero_wins = self.product_flags();
        let second = Flags::NONE.with_nan(NanMode::Second);
        let v = match op {
            Opcode::Add => self.b.op(Op::Fadd, &[a, b]),
            Opcode::Mul => self.b.op_flags(Op::Fmul, zero_wins, &[a, b]),
            Opcode::Max => self.b.op_flags(Op::Fmax, second, &[a, b]),
            Opcode::Min => self.b.op_flags(Op::Fmin, second, &[a, b]),
            Opcode::Sge | Opcode::Sgei => self.one_where(Op::FcmpOle, b, a),
            Opcode::Slt | Opcode::Slti => self.one_where(Op::FcmpOlt, a, b),
            Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph | Opcode::Dphi => {
                let a = if matches!(op, Opcode::Dph | Opcode::Dphi) {
                    let one = self.b.f32(1.0);
                    self.b.insert(a, 3, one)
                } else {
                    a
                };
                let dot = if op == Opcode::Dp3 { Op::Fdot3 } else { Op::Fdot4 };
                let v = self.b.op_flags(dot, zero_wins, &[a, b]);
                let v = self.rounded(v);
                return self.write_scalar(dst, d.mask(), v);
            }
            _ => {
                // DST, DSTI
                let one = self.b.f32(1.0);
                let [ay, by] = [a, b].map(|v| self.b.extract(v, 1));
                let y = self.b.op_flags(Op::Fmul, zero_wins, &[ay, by]);
                let (z, w) = (self.b.extract(a, 2), self.b.extract(b, 3));
                self.b.op(Op::Build, &[one, y, z, w])
            }
        };
        let v = self.rounded(v);
        self.write(dst, d.mask(), v);
    }

    fn one_where(&mut self, op: Op, a: Value, b: Value) -> Value {
        let holds = self.b.op(op, &[a, b]);
        let (one, zero) = (self.b.f32x4([1.0; 4]), self.b.f32x4([0.0; 4]));
        self.b.select(holds, one, zero)
    }

    /// MOVA: truncation; a NaN and what an `i32` cannot hold become the least `i32`, which counts as out of range.
    fn move_address(&mut self, src: Src, d: Descriptor) {
        let m = d.source(0);
        let source = self.register(src); // once: the index may be an address register written below
        for (c, reg) in [(Component::X, Scalar::A0x), (Component::Y, Scalar::A0y)] {
            if !d.mask().contains(c) {
                continue;
            }
            let v = self.b.extract(source, m.swizzle.lane(c) as u8);
            let v = if m.negate { self.b.op(Op::Fneg, &[v]) } else { v };
            let magnitude = self.b.op(Op::Fabs, &[v]);
            let limit = self.b.f32(2_147_483_648.0);
            let fits = self.b.op(Op::FcmpOlt, &[magnitude, limit]);
            let int = self.b.convert(Op::F2s, Flags::NONE.with_clamp(), v, Type::I32);
            let out = self.b.i32(i32::MIN as u32);
            let v = self.b.select(fits, int, out);
            self.set(reg, v);
        }
    }

    /// A constant of `Scalar`'s type.
    pub fn flag(&mut self, v: bool) -> Value {
        self.b.constant(Type::scalar(Kind::Bool), Bits::scalar(u64::from(v)))
    }
}
