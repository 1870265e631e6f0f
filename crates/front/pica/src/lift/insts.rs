//! Instructions that compute: sources, modifiers, masks and the meaning of each opcode in IR.
//!
//! Semantics: vectors/pica/FORMAT.md, section 4. LIT: its results were found on hardware by the Panda3DS project
//! (test `PICA_LITP`). DST, DSTI: the distance vector of the shader languages of the time; no test of the chip is
//! known to us.

use super::Numeric;
use super::layout::{UNIFORM_BOOLS, UNIFORM_INTS, UNIFORM_ONES};
use super::live::{self, Lanes, Live};
use super::regs::{File, Regs, Scalar};
use crate::desc::{Component, Descriptor, Modifier};
use crate::inst::{Condition, ConditionMode, Dst, Index, Inst, Opcode, Operands, Relation, Src, SrcReg};
use crate::program::Program;
use xenoglot_ir::builder::ANY_LANE;
use xenoglot_ir::imm::FloatFormat;
use xenoglot_ir::{
    Bits, Block, Builder, Flags, Imm, Kind, MemInfo, NanMode, Op, Resource, Space, Type, Value,
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
    /// c0 to c95, each in the block that loaded it last.
    pub loaded: [Option<(Block, Value)>; 96],
    /// Geometry: which outputs EMIT copies.
    pub output_mask: u16,
    /// Geometry: where events go.
    pub events: Option<super::geometry::Events>,
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

    /// Float uniform `n`, loaded once in a block.
    fn float_uniform(&mut self, n: u8) -> Value {
        let block = self.b.block();
        if let Some(&Some((at, v))) = self.loaded.get(usize::from(n))
            && at == block
        {
            return v;
        }
        let offset = self.b.i32(u32::from(n) * 16);
        let v = self.uniform(offset);
        if let Some(loaded) = self.loaded.get_mut(usize::from(n)) {
            *loaded = Some((block, v));
        }
        v
    }

    /// `c[n + index]`: an index outside -128..=127 counts as 0, the sum is taken modulo 128, and what does not
    /// exist reads 1.
    fn indexed_uniform(&mut self, n: u8, index: Scalar) -> Value {
        let index = self.get(index);
        let (half, range, zero) = (self.b.i32(128), self.b.i32(256), self.b.i32(0));
        let shifted = self.b.op(Op::Iadd, &[index, half]);
        let in_range = self.b.op(Op::IcmpUlt, &[shifted, range]);
        let index = self.b.select(in_range, index, zero);
        // In bytes from here on, so that all uniforms with this index share the multiplication.
        let size = self.b.i32(16);
        let from = self.b.op(Op::Imul, &[index, size]);
        let (base, wrap, ones) =
            (self.b.i32(u32::from(n) * 16), self.b.i32(0x7f * 16), self.b.i32(UNIFORM_ONES));
        let sum = self.b.op(Op::Iadd, &[from, base]);
        let wrapped = self.b.op(Op::And, &[sum, wrap]);
        let offset = self.b.op(Op::Umin, &[wrapped, ones]);
        self.uniform(offset)
    }

    /// A source register as it is.
    fn register(&mut self, src: Src) -> Value {
        match (src.reg, src.index) {
            (SrcReg::Input(n), _) => match self.inputs[usize::from(n & 15)] {
                Some(v) => v,
                None => self.b.f32x4([0.0; 4]),
            },
            (SrcReg::Temp(n), _) => self.get_vector(File::Temp, n),
            (SrcReg::Const(n), Index::None) => self.float_uniform(n),
            (SrcReg::Const(n), Index::A0x) => self.indexed_uniform(n, Scalar::A0x),
            (SrcReg::Const(n), Index::A0y) => self.indexed_uniform(n, Scalar::A0y),
            (SrcReg::Const(n), Index::Al) => self.indexed_uniform(n, Scalar::Al),
        }
    }

    /// The first `lanes` lanes of a source after selection and negation.
    ///
    /// Of lanes that are not `needed` nothing is said.
    fn source(&mut self, src: Src, m: Modifier, lanes: u8, needed: Lanes) -> Value {
        let mut picked = m.swizzle.lanes().map(|c| c as u8);
        for (i, lane) in picked.iter_mut().enumerate() {
            if needed >> i & 1 == 0 {
                *lane = ANY_LANE;
            }
        }
        self.selected(src, &picked[..usize::from(lanes.clamp(1, 4))], m.negate)
    }

    /// What lane `c` of a source is after selection and negation.
    fn component(&mut self, src: Src, m: Modifier, c: Component) -> Value {
        self.selected(src, &[m.swizzle.lane(c) as u8], m.negate)
    }

    fn selected(&mut self, src: Src, lanes: &[u8], negate: bool) -> Value {
        let v = if let SrcReg::Temp(n) = src.reg {
            let slot = self.regs.vector(self.b.func, File::Temp, n);
            self.b.slot_get_lanes(slot, lanes)
        } else {
            let v = self.register(src);
            self.b.lanes(v, lanes)
        };
        if negate { self.b.op(Op::Fneg, &[v]) } else { v }
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

    /// Writes components: those of a vector, or a scalar to each.
    fn write(&mut self, dst: Dst, lanes: Lanes, v: Value) {
        let (file, n) = match dst {
            Dst::Output(n) => (File::Output, n),
            Dst::Temp(n) => (File::Temp, n),
        };
        if lanes != 0 {
            let slot = self.regs.vector(self.b.func, file, n);
            self.b.slot_set_lanes(slot, lanes, v);
        }
    }

    /// Says what of the registers is wanted after the block.
    pub fn leave(&mut self, live: &Live) {
        for (file, n, slot) in self.regs.vectors() {
            self.b.slot_live_lanes(slot, live.vector(file, n));
        }
        let scalars = [
            (Scalar::FlagX, live.flag_x),
            (Scalar::FlagY, live.flag_y),
            (Scalar::A0x, live.a0x),
            (Scalar::A0y, live.a0y),
        ];
        for (s, live) in scalars {
            if !live && let Some(slot) = self.regs.known_scalar(s) {
                self.b.slot_live_lanes(slot, 0);
            }
        }
    }

    /// Lifts what an instruction that is not flow does to what is live after it. Flow instructions, NOP and END have no
    /// effect here.
    pub fn lift(&mut self, inst: &Inst, after: &Live) {
        let d = self.program.descriptor(inst.desc().unwrap_or(0));
        let needed = inst.dst().map_or(0, |dst| live::lanes(d.mask()) & after.lanes(dst));
        match inst.operands {
            Operands::Unary { dst, src, .. } => self.unary(inst.op, (dst, needed), src, d, after),
            Operands::Binary { .. } | Operands::Mad { .. } if needed == 0 => {}
            Operands::Binary { dst, src, .. } => self.binary(inst.op, (dst, needed), src, d),
            Operands::Mad { dst, src, .. } => {
                let [a, b, c] = [0, 1, 2].map(|i| self.source(src[i], d.source(i), 4, needed));
                let flags = self.product_flags();
                let product = self.b.op_flags(Op::Fmul, flags, &[a, b]);
                let product = self.rounded(product);
                let sum = self.b.op(Op::Fadd, &[product, c]);
                let sum = self.rounded(sum);
                self.write(dst, needed, sum);
            }
            Operands::MoveAddress { src, .. } => self.move_address(src, d, after),
            Operands::Compare { src, x, y, .. } => {
                let flags = [
                    (after.flag_x, Component::X, x, Scalar::FlagX),
                    (after.flag_y, Component::Y, y, Scalar::FlagY),
                ];
                for (_, c, relation, flag) in flags.into_iter().filter(|f| f.0) {
                    let [a, b] = [0, 1].map(|i| self.component(src[i], d.source(i), c));
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

    fn unary(&mut self, op: Opcode, (dst, needed): (Dst, Lanes), src: Src, d: Descriptor, after: &Live) {
        let m = d.source(0);
        let scalar = match op {
            Opcode::Lit => return self.lit((dst, needed), src, m, after),
            _ if needed == 0 => return,
            Opcode::Rcp => Some(Op::Rcp),
            Opcode::Rsq => Some(Op::Rsqrt),
            Opcode::Ex2 => Some(Op::Exp2),
            Opcode::Lg2 => Some(Op::Log2),
            _ => None,
        };
        let v = match scalar {
            Some(op) => {
                let x = self.component(src, m, Component::X);
                let v = self.b.op(op, &[x]);
                self.rounded(v)
            }
            None => {
                let v = self.source(src, m, 4, needed);
                if op == Opcode::Flr {
                    let v = self.b.op(Op::Floor, &[v]);
                    self.rounded(v)
                } else {
                    v // MOV
                }
            }
        };
        self.write(dst, needed, v);
    }

    fn lit(&mut self, (dst, needed): (Dst, Lanes), src: Src, m: Modifier, after: &Live) {
        if needed == 0 && !after.flag_x && !after.flag_y {
            return;
        }
        let [x, y, w] = [Component::X, Component::Y, Component::W].map(|c| self.component(src, m, c));
        let zero = self.b.f32(0.0);
        for (live, v, flag) in [(after.flag_x, x, Scalar::FlagX), (after.flag_y, w, Scalar::FlagY)] {
            if live {
                let positive = self.b.op(Op::FcmpOle, &[zero, v]);
                self.set(flag, positive);
            }
        }
        let second = Flags::NONE.with_nan(NanMode::Second);
        let (low, high) = (self.b.f32(-LIT_LIMIT), self.b.f32(LIT_LIMIT));
        let x = self.b.op_flags(Op::Fmax, second, &[x, zero]);
        let w = self.b.op_flags(Op::Fmax, second, &[w, zero]);
        let y = self.b.op_flags(Op::Fmax, second, &[y, low]);
        let y = self.b.op_flags(Op::Fmin, second, &[y, high]);
        let v = self.b.op(Op::Build, &[x, y, zero, w]);
        self.write(dst, needed, v);
    }

    fn binary(&mut self, op: Opcode, (dst, needed): (Dst, Lanes), src: [Src; 2], d: Descriptor) {
        const XYZ: Lanes = 7;
        let (lanes, [in_a, in_b]) = match op {
            Opcode::Dp3 => (3, [XYZ; 2]),
            Opcode::Dp4 => (4, [live::ALL_LANES; 2]),
            Opcode::Dph | Opcode::Dphi => (4, [XYZ, live::ALL_LANES]),
            Opcode::Dst | Opcode::Dsti => return self.distance((dst, needed), src, d),
            _ => (4, [needed; 2]),
        };
        let a = self.source(src[0], d.source(0), lanes, in_a);
        let b = self.source(src[1], d.source(1), lanes, in_b);
        let zero_wins = self.product_flags();
        let second = Flags::NONE.with_nan(NanMode::Second);
        let v = match op {
            Opcode::Add => self.b.op(Op::Fadd, &[a, b]),
            Opcode::Mul => self.b.op_flags(Op::Fmul, zero_wins, &[a, b]),
            Opcode::Max => self.b.op_flags(Op::Fmax, second, &[a, b]),
            Opcode::Min => self.b.op_flags(Op::Fmin, second, &[a, b]),
            Opcode::Sge | Opcode::Sgei => self.one_where(Op::FcmpOle, b, a),
            Opcode::Slt | Opcode::Slti => self.one_where(Op::FcmpOlt, a, b),
            _ => {
                // The dot products
                let a = if matches!(op, Opcode::Dph | Opcode::Dphi) {
                    let one = self.b.f32(1.0);
                    self.b.insert(a, 3, one)
                } else {
                    a
                };
                let dot = if op == Opcode::Dp3 { Op::Fdot3 } else { Op::Fdot4 };
                self.b.op_flags(dot, zero_wins, &[a, b])
            }
        };
        let v = self.rounded(v);
        self.write(dst, needed, v);
    }

    /// DST, DSTI.
    fn distance(&mut self, (dst, needed): (Dst, Lanes), src: [Src; 2], d: Descriptor) {
        let mut part = |i: usize, c| self.component(src[i], d.source(i), c);
        let (ay, by) = (part(0, Component::Y), part(1, Component::Y));
        let (z, w) = (part(0, Component::Z), part(1, Component::W));
        let (one, flags) = (self.b.f32(1.0), self.product_flags());
        let y = self.b.op_flags(Op::Fmul, flags, &[ay, by]);
        let v = self.b.op(Op::Build, &[one, y, z, w]);
        let v = self.rounded(v);
        self.write(dst, needed, v);
    }

    fn one_where(&mut self, op: Op, a: Value, b: Value) -> Value {
        let holds = self.b.op(op, &[a, b]);
        let (one, zero) = (self.b.f32x4([1.0; 4]), self.b.f32x4([0.0; 4]));
        self.b.select(holds, one, zero)
    }

    /// MOVA: truncation; a NaN and what an `i32` cannot hold become the least `i32`, which counts as out of range.
    fn move_address(&mut self, src: Src, d: Descriptor, after: &Live) {
        let m = d.source(0);
        // All reads come before the writes: the source's index may be one of the address registers.
        let [x, y] = [(after.a0x, Component::X), (after.a0y, Component::Y)].map(|(live, c)| {
            (live && d.mask().contains(c)).then(|| {
                let v = self.component(src, m, c);
                self.address(v)
            })
        });
        for (v, reg) in [(x, Scalar::A0x), (y, Scalar::A0y)] {
            if let Some(v) = v {
                self.set(reg, v);
            }
        }
    }

    fn address(&mut self, v: Value) -> Value {
        let magnitude = self.b.op(Op::Fabs, &[v]);
        let limit = self.b.f32(2_147_483_648.0);
        let fits = self.b.op(Op::FcmpOlt, &[magnitude, limit]);
        let int = self.b.convert(Op::F2s, Flags::NONE.with_clamp(), v, Type::I32);
        let out = self.b.i32(i32::MIN as u32);
        self.b.select(fits, int, out)
    }

    /// A constant of `Scalar`'s type.
    pub fn flag(&mut self, v: bool) -> Value {
        self.b.constant(Type::scalar(Kind::Bool), Bits::scalar(u64::from(v)))
    }
}
