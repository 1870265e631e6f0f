//! Expressions: what each op becomes.
//!
//! An expression is written for a selection of its lanes, so that a swizzle of an inlined vector op becomes the op
//! on swizzled operands. Recursion goes as deep as the plan inlines, which is bounded.

mod operators;

use crate::error::{Error, Guest};
use crate::helpers::Helper;
use crate::literal::{lane, signed_name, type_name};
use crate::options::Target;
use crate::plan::Mode;
use crate::writer::{Extension, Writer};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::flags::{DivZero, Round};
use xenoglot_ir::{Func, Imm, Inst, Kind, Op, Stage, Type, Value};

/// How tightly an expression binds; the higher the tighter.
pub(crate) type Prec = u8;
/// Anything goes.
pub(crate) const ANY: Prec = 0;
const TERNARY: Prec = 1;
const LOGIC: Prec = 2;
const BITS: Prec = 3;
const COMPARE: Prec = 4;
const SHIFT: Prec = 5;
const SUM: Prec = 6;
const PRODUCT: Prec = 7;
const UNARY: Prec = 8;
/// Names, calls, indexing, swizzles.
pub(crate) const POSTFIX: Prec = 9;

/// Which lanes of a value are asked for, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sel {
    n: u8,
    at: [u8; 4],
    whole: bool,
}

impl Sel {
    /// All lanes of `ty`.
    pub(crate) fn all(ty: Type) -> Sel {
        Sel { n: ty.lanes(), at: [0, 1, 2, 3], whole: true }
    }

    /// Some lanes of a vector of `of` lanes.
    pub(crate) fn some(lanes: &[u8], of: u8) -> Sel {
        let mut at = [0, 1, 2, 3];
        let n = lanes.len().min(4);
        at[..n].copy_from_slice(&lanes[..n]);
        let whole = n == usize::from(of) && at[..n].iter().zip(0..).all(|(&l, i)| l == i);
        Sel { n: n as u8, at, whole }
    }

    /// How many lanes.
    pub(crate) fn lanes(&self) -> u8 {
        self.n
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.at[..usize::from(self.n)]
    }

    /// Writes the swizzle, nothing for the whole value.
    pub(crate) fn write(&self, out: &mut String) {
        if !self.whole {
            out.push('.');
            out.extend(self.as_slice().iter().map(|&l| ['x', 'y', 'z', 'w'][usize::from(l & 3)]));
        }
    }
}

impl Writer<'_> {
    /// All lanes of `v`.
    pub(crate) fn value(&mut self, v: Value, min: Prec) -> Result<(), Error> {
        self.expr(v, Sel::all(self.func.ty(v)), min)
    }

    /// Lanes of `v`, in parentheses if the expression binds less tightly than `min`.
    pub(crate) fn expr(&mut self, v: Value, sel: Sel, min: Prec) -> Result<(), Error> {
        match self.plan.mode(v) {
            Mode::Var => {
                let var = self.vars.of(v).and_then(|n| self.vars.get(n));
                self.out.push_str(&var.ok_or(Error::Malformed("a value without a definition"))?.name);
                sel.write(self.out);
                Ok(())
            }
            Mode::Inline => {
                let inst = self.func.def_inst(v).ok_or(Error::Malformed("a parameter without a variable"))?;
                self.inst(inst, v, sel, min)
            }
            Mode::Dead => Err(Error::Malformed("a use of a value outside its function's flow")),
        }
    }

    /// The expression of the instruction that defines `v`.
    pub(crate) fn inst(&mut self, inst: Inst, v: Value, sel: Sel, min: Prec) -> Result<(), Error> {
        self.note_guest(inst);
        let flags = self.func.insts[inst].flags;
        let converts = matches!(self.func.insts[inst].op, Op::F2s | Op::F2u);
        let directed = !matches!(flags.round(), Round::Natural | Round::Even) && !converts;
        if directed || flags.ftz() || flags.sat() || flags.zero_wins() || flags.fmz() {
            return Err(self.unlowered(inst));
        }
        self.operation(inst, v, sel, min)
    }

    fn operation(&mut self, inst: Inst, v: Value, sel: Sel, min: Prec) -> Result<(), Error> {
        let f = self.func;
        let data = &f.insts[inst];
        let args = f.args(inst);
        let ty = f.ty(v);
        let kind = ty.kind();
        let n = sel.lanes();
        let arg = |i: usize| args.get(i).copied().ok_or(Error::Malformed("an operand is missing"));
        let scalar = n == 1;
        match data.op {
            Op::Const => {
                let Imm::Const(c) = data.imm else {
                    return Err(Error::Malformed("a constant without its lanes"));
                };
                let bits = f.consts.get(c).ok_or(Error::Malformed("a constant that does not exist"))?;
                self.literal(ty, &bits.0, sel, min)
            }
            Op::SpecConst => {
                let Imm::Spec(spec) = data.imm else {
                    return Err(Error::Malformed("a specialization constant without its default"));
                };
                self.literal(ty, &[spec.default.into(), 0, 0, 0], sel, min)
            }
            Op::Undef => self.literal(ty, &[0; 4], sel, min),
            Op::Freeze => self.expr(arg(0)?, sel, min),

            Op::Iadd => self.infix(inst, " + ", SUM, sel, min),
            Op::Isub => self.infix(inst, " - ", SUM, sel, min),
            Op::Imul => self.infix(inst, " * ", PRODUCT, sel, min),
            Op::Ineg => self.wrapped(SUM, min, |w| {
                w.zero(kind, n)?;
                w.out.push_str(" - ");
                w.expr(arg(0)?, sel, SUM + 1)
            }),
            Op::Umin => self.call(inst, "min", sel),
            Op::Umax => self.call(inst, "max", sel),
            Op::Imin => self.signed_call(inst, "min", sel),
            Op::Imax => self.signed_call(inst, "max", sel),
            Op::Umulh | Op::Imulh if kind != Kind::I32 || self.target() == Target::Gl330 => {
                Err(self.unlowered(inst))
            }
            Op::Umulh => self.helper(inst, Helper::Umulh, sel),
            Op::Imulh => self.helper(inst, Helper::Imulh, sel),
            Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => match (data.flags.div_zero(), data.op) {
                (DivZero::Never, Op::Udiv) => self.infix(inst, " / ", PRODUCT, sel, min),
                (DivZero::Never, Op::Urem) => self.infix(inst, " % ", PRODUCT, sel, min),
                (DivZero::Never, Op::Sdiv) => self.signed_infix(inst, " / ", sel),
                (DivZero::Trap, _) => Err(self.unsupported(inst, "a division that traps")),
                _ => Err(self.unlowered(inst)),
            },

            Op::And | Op::Or | Op::Xor if kind == Kind::Bool => {
                let (symbol, helper) = match data.op {
                    Op::And => (" && ", Helper::AndBool),
                    Op::Or => (" || ", Helper::OrBool),
                    _ => (" ^^ ", Helper::XorBool),
                };
                if scalar {
                    self.tight(inst, symbol, LOGIC, COMPARE, sel, min)
                } else {
                    self.helper(inst, helper, sel)
                }
            }
            Op::And => self.tight(inst, " & ", BITS, UNARY, sel, min),
            Op::Or => self.tight(inst, " | ", BITS, UNARY, sel, min),
            Op::Xor => self.tight(inst, " ^ ", BITS, UNARY, sel, min),
            Op::Not if kind == Kind::Bool => {
                if scalar {
                    self.prefix("!", arg(0)?, sel, min)
                } else {
                    self.call(inst, "not", sel)
                }
            }
            Op::Not => self.prefix("~", arg(0)?, sel, min),
            Op::Shl => self.shift(inst, " << ", kind, sel, min),
            Op::Ushr => self.shift(inst, " >> ", kind, sel, min),
            Op::Sshr => {
                self.out.push_str(type_name(Type::new(kind, n).unwrap_or(ty))?);
                self.out.push('(');
                self.cast(arg(0)?, signed_name(kind, n), sel)?;
                self.out.push_str(" >> ");
                self.amount(arg(1)?, kind, sel)?;
                self.out.push(')');
                Ok(())
            }
            Op::BitfieldU | Op::BitfieldInsert => self.field(inst, sel),
            Op::Popcount | Op::Clz | Op::Reverse if kind != Kind::I32 || self.target() == Target::Gl330 => {
                Err(self.unlowered(inst))
            }
            Op::Popcount => self.unsigned_call(inst, "bitCount", sel),
            Op::Reverse => self.call(inst, "bitfieldReverse", sel),
            Op::Clz => self.wrapped(SUM, min, |w| {
                w.literal(ty, &[31; 4], sel, ANY)?;
                w.out.push_str(" - ");
                w.unsigned_call(inst, "findMSB", sel)
            }),

            Op::IcmpEq => self.compare(inst, " == ", "equal", false, sel, min),
            Op::IcmpNe => self.compare(inst, " != ", "notEqual", false, sel, min),
            Op::IcmpUlt => self.compare(inst, " < ", "lessThan", false, sel, min),
            Op::IcmpUle => self.compare(inst, " <= ", "lessThanEqual", false, sel, min),
            Op::IcmpSlt => self.compare(inst, " < ", "lessThan", true, sel, min),
            Op::IcmpSle => self.compare(inst, " <= ", "lessThanEqual", true, sel, min),

            Op::Fadd => self.infix(inst, " + ", SUM, sel, min),
            Op::Fsub => self.infix(inst, " - ", SUM, sel, min),
            Op::Fmul => self.infix(inst, " * ", PRODUCT, sel, min),
            Op::Fdiv => self.infix(inst, " / ", PRODUCT, sel, min),
            Op::Fma => {
                match self.target() {
                    Target::Gl330 => {
                        return Err(self.unsupported(inst, "version 330 has no fused multiply-add"));
                    }
                    Target::Es310 => self.extension(Extension::Fma),
                    _ => {}
                }
                self.call(inst, "fma", sel)
            }
            Op::Fneg => self.prefix("-", arg(0)?, sel, min),
            Op::Fabs => self.call(inst, "abs", sel),
            // The host's own, of modules whose floats follow the host.
            Op::Fmin => self.call(inst, "min", sel),
            Op::Fmax => self.call(inst, "max", sel),
            Op::Fsat => {
                self.out.push_str("clamp(");
                self.operand(inst, 0, sel, ANY)?;
                self.out.push_str(", ");
                self.literal(ty, &[0; 4], Sel::some(&[0], ty.lanes()), ANY)?;
                self.out.push_str(", ");
                let one = [xenoglot_ir::fold::float::one_bits(kind); 4];
                self.literal(ty, &one, Sel::some(&[0], ty.lanes()), ANY)?;
                self.out.push(')');
                Ok(())
            }
            Op::Floor => self.call(inst, "floor", sel),
            Op::Ceil => self.call(inst, "ceil", sel),
            Op::Trunc => self.call(inst, "trunc", sel),
            Op::RoundEven => self.call(inst, "roundEven", sel),
            Op::Fract => self.call(inst, "fract", sel),
            Op::Sqrt => self.call(inst, "sqrt", sel),
            Op::Rsqrt => self.call(inst, "inversesqrt", sel),
            Op::Rcp => self.wrapped(PRODUCT, min, |w| {
                w.out.push_str(match kind {
                    Kind::F64 => "1.0lf / ",
                    Kind::F16 => "float16_t(1.0) / ",
                    _ => "1.0 / ",
                });
                w.operand(inst, 0, sel, UNARY)
            }),
            Op::Exp2 | Op::Log2 | Op::Sin | Op::Cos if kind == Kind::F64 => {
                Err(self.unsupported(inst, "not for 64-bit floats"))
            }
            Op::Exp2 => self.call(inst, "exp2", sel),
            Op::Log2 => self.call(inst, "log2", sel),
            Op::Sin => self.call(inst, "sin", sel),
            Op::Cos => self.call(inst, "cos", sel),
            Op::Fdot2 | Op::Fdot3 | Op::Fdot4 => {
                self.out.push_str("dot(");
                self.value(arg(0)?, ANY)?;
                self.out.push_str(", ");
                self.value(arg(1)?, ANY)?;
                self.out.push(')');
                Ok(())
            }

            Op::FcmpOlt => self.compare(inst, " < ", "lessThan", false, sel, min),
            Op::FcmpOle => self.compare(inst, " <= ", "lessThanEqual", false, sel, min),
            // What differs from itself is a NaN: said so, since compilers take it for never true.
            Op::FcmpUne if arg(0)? == arg(1)? => self.cast(arg(0)?, "isnan", sel),
            Op::FcmpOeq if arg(0)? == arg(1)? => {
                self.out.push_str(if scalar { "!" } else { "not(" });
                self.cast(arg(0)?, "isnan", sel)?;
                self.out.push_str(if scalar { "" } else { ")" });
                Ok(())
            }
            Op::FcmpOeq => self.compare(inst, " == ", "equal", false, sel, min),
            Op::FcmpUne => self.compare(inst, " != ", "notEqual", false, sel, min),

            Op::Bitcast => self.bitcast(inst, ty, sel, min),
            Op::TruncInt | Op::Zext if f.ty(arg(0)?).kind() == kind => self.expr(arg(0)?, sel, min),
            Op::TruncInt | Op::Zext | Op::U2f => {
                self.cast(arg(0)?, type_name(Type::new(kind, n).unwrap_or(ty))?, sel)
            }
            Op::Sext | Op::S2f => {
                let of = f.ty(arg(0)?).kind();
                if of == Kind::Bool {
                    return self.wrapped(SUM, min, |w| {
                        w.zero(kind, n)?;
                        w.out.push_str(" - ");
                        w.cast(arg(0)?, type_name(Type::new(kind, n).unwrap_or(ty))?, sel)
                    });
                }
                self.out.push_str(type_name(Type::new(kind, n).unwrap_or(ty))?);
                self.out.push('(');
                let widens = kind.is_int() && kind != of;
                if widens {
                    self.out.push_str(signed_name(kind, n));
                    self.out.push('(');
                }
                self.cast(arg(0)?, signed_name(of, n), sel)?;
                self.out.push_str(if widens { "))" } else { ")" });
                Ok(())
            }
            Op::F2f if f.ty(arg(0)?).kind() == kind => self.operand(inst, 0, sel, min),
            Op::F2f => {
                self.out.push_str(type_name(Type::new(kind, n).unwrap_or(ty))?);
                self.parenthesised(inst, sel)
            }
            Op::F2s | Op::F2u => self.integer_of(inst, sel),

            Op::Splat => {
                if scalar {
                    return self.value(arg(0)?, min);
                }
                self.cast_as(arg(0)?, ty, n)
            }
            Op::Build => {
                if let &[lane] = sel.as_slice() {
                    return self.value(arg(usize::from(lane))?, min);
                }
                self.out.push_str(type_name(Type::new(kind, n).unwrap_or(ty))?);
                for (i, &lane) in sel.as_slice().iter().enumerate() {
                    self.out.push_str(if i == 0 { "(" } else { ", " });
                    self.value(arg(usize::from(lane))?, ANY)?;
                }
                self.out.push(')');
                Ok(())
            }
            Op::Extract => {
                let Imm::Lane(lane) = data.imm else { return Err(Error::Malformed("a lane is missing")) };
                let of = f.ty(arg(0)?).lanes();
                self.expr(arg(0)?, Sel::some(&[lane], of), min)
            }
            Op::Insert => {
                let Imm::Lane(lane) = data.imm else { return Err(Error::Malformed("a lane is missing")) };
                self.pieces(ty, sel, min, |l| if l == lane { (1, 0) } else { (0, l) }, [arg(0)?, arg(1)?])
            }
            Op::Shuffle => {
                let Imm::Lanes(lanes) = data.imm else { return Err(Error::Malformed("lanes are missing")) };
                let from = |l: u8| lanes.as_slice().get(usize::from(l)).copied().unwrap_or(0);
                let (a, b) = (arg(0)?, arg(1)?);
                let place = |l: u8| {
                    let at = from(l);
                    if at < 4 { (0, at) } else { (usize::from(a != b), at - 4) }
                };
                self.pieces(ty, sel, min, place, [a, b])
            }
            Op::Select => self.select(inst, ty, sel, min),

            Op::SlotGet => {
                let Imm::Slot(slot) = data.imm else { return Err(Error::Malformed("a slot is missing")) };
                let slots = self.slots;
                let name = slots.get(slot.index()).ok_or(Error::Malformed("a slot that does not exist"))?;
                self.out.push_str(name);
                sel.write(self.out);
                Ok(())
            }
            Op::Input | Op::OutputGet => self.interface_read(inst, ty, sel),
            Op::Load => self.load(inst, ty, sel),
            Op::BufferSize => self.buffer_size(inst, ty),
            op if op >= Op::AtomicAdd && op <= Op::AtomicSmax => self.atomic(inst, ty),
            Op::Helper => {
                if self.target() == Target::Gl330 {
                    return Err(self.unsupported(inst, "helper invocations are not told in this version"));
                }
                self.out.push_str("gl_HelperInvocation");
                Ok(())
            }
            Op::Clock | Op::DeviceClock => {
                if !self.target().is_450() {
                    return Err(self.unsupported(inst, "the clock needs version 450"));
                }
                let (extension, call) = match f.insts[inst].op {
                    Op::Clock => (Extension::ShaderClock, "clock2x32ARB()"),
                    _ => (Extension::RealtimeClock, "clockRealtime2x32EXT()"),
                };
                self.extension(extension);
                self.out.push_str(call);
                sel.write(self.out);
                Ok(())
            }
            Op::DdxCoarse | Op::DdxFine | Op::DdyCoarse | Op::DdyFine => {
                if !self.target().is_450() || self.module.stage != Stage::Fragment {
                    let reason = "coarse and fine derivatives need version 450 and a fragment shader";
                    return Err(self.unsupported(inst, reason));
                }
                self.only_f32(inst, kind)?;
                let name = match data.op {
                    Op::DdxCoarse => "dFdxCoarse",
                    Op::DdxFine => "dFdxFine",
                    Op::DdyCoarse => "dFdyCoarse",
                    _ => "dFdyFine",
                };
                self.call(inst, name, sel)
            }
            Op::InterpolateCentroid | Op::InterpolateSample | Op::InterpolateOffset => {
                self.interpolate(inst, sel)
            }
            op if crate::texture::is_texture(op) => self.texture(inst, sel),
            op if op >= Op::SgId && op <= Op::SgQuadBroadcast => self.subgroup(inst, ty, sel),
            Op::CallPure => match data.imm {
                Imm::Func(callee) => self.call_pure(inst, callee, sel),
                _ => Err(Error::Malformed("a call without function")),
            },
            op if is_lowered(op) => Err(self.unlowered(inst)),
            _ => Err(self.unsupported(inst, "the op has no GLSL form")),
        }
    }

    fn only_f32(&self, inst: Inst, kind: Kind) -> Result<(), Error> {
        if kind == Kind::F32 { Ok(()) } else { Err(self.unsupported(inst, "only for 32-bit floats")) }
    }

    /// What `legalize` makes of other ops.
    pub(crate) fn unlowered(&self, inst: Inst) -> Error {
        self.unsupported(inst, "the op or its flags have to be lowered first")
    }

    pub(crate) fn unsupported(&self, inst: Inst, reason: &'static str) -> Error {
        let data = &self.func.insts[inst];
        Error::Unsupported { op: data.op, guest: Guest::new(data.guest), reason }
    }

    fn wrapped(
        &mut self,
        prec: Prec,
        min: Prec,
        write: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if prec < min {
            self.out.push('(');
        }
        write(self)?;
        if prec < min {
            self.out.push(')');
        }
        Ok(())
    }

    /// Operand `i`, flushed if the flag asks for it.
    pub(crate) fn operand(&mut self, inst: Inst, i: usize, sel: Sel, min: Prec) -> Result<(), Error> {
        let v = *self.func.args(inst).get(i).ok_or(Error::Malformed("an operand is missing"))?;
        let sel = if self.func.ty(v).is_scalar() { Sel::all(self.func.ty(v)) } else { sel };
        self.expr(v, sel, min)
    }

    pub(crate) fn open_helper(&mut self, helper: Helper, lanes: u8) {
        let name = self.helpers.call(helper, lanes);
        self.out.push_str(name);
        self.out.push('(');
    }

    /// The lane to which all asked lanes of an inlined value are equal, if that is plain to see.
    fn uniform_lane(&self, v: Value, sel: Sel) -> Option<(Value, u8)> {
        if self.plan.mode(v) != Mode::Inline || self.func.ty(v).is_scalar() {
            return None;
        }
        let inst = self.func.def_inst(v)?;
        let &[first, ref rest @ ..] = sel.as_slice() else { return None };
        match self.func.insts[inst].op {
            Op::Const => {
                let bits = self.func.const_bits(v)?;
                let same = rest.iter().all(|&l| bits.lane(usize::from(l)) == bits.lane(usize::from(first)));
                same.then_some((v, first))
            }
            Op::Splat => Some((v, first)),
            _ => None,
        }
    }
}

/// Whether GLSL has nothing for an op, and `legalize` something.
fn is_lowered(op: Op) -> bool {
    matches!(
        op,
        Op::Iadd3
            | Op::IaddCarry
            | Op::IaddCarryOut
            | Op::IaddOverflowOut
            | Op::IsubBorrow
            | Op::IsubBorrowOut
            | Op::IsubOverflowOut
            | Op::Iabs
            | Op::Rotl
            | Op::FunnelL
            | Op::FunnelR
            | Op::BitfieldS
            | Op::Ctz
            | Op::FindMsbS
            | Op::Byteswap
            | Op::PermuteBytes
            | Op::Sdot4
            | Op::Udot4
            | Op::SUdot4
            | Op::Lop3
            | Op::Fldexp
            | Op::FfrexpExp
            | Op::FfrexpMant
            | Op::Fquantize
            | Op::FcmpUlt
            | Op::FcmpUle
            | Op::FcmpOne
            | Op::FcmpUeq
            | Op::FcmpUno
            | Op::FcmpOrd
    )
}

fn lane_of(out: &mut String, kind: Kind, bits: u64) -> Result<(), Error> {
    lane(out, kind, bits).map(|_| ())
}
