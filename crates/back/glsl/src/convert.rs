//! Conversions between kinds, and subgroup ops: expressions around one operand.

use crate::error::Error;
use crate::expr::{ANY, POSTFIX, Prec, Sel};
use crate::helpers::Helper;
use crate::literal::{signed_name, type_name};
use crate::writer::{Extension, Writer};
use std::fmt::Write;
use xenoglot_ir::flags::Round;
use xenoglot_ir::imm::Reduce;
use xenoglot_ir::{Imm, Inst, Kind, Op, Type, Value};

impl Writer<'_> {
    pub(crate) fn integer_of(&mut self, inst: Inst, sel: Sel) -> Result<(), Error> {
        let data = &self.func.insts[inst];
        let is_plain = matches!(data.flags.round(), Round::Natural | Round::Zero);
        if data.flags.clamp() || data.flags.ftz() || !is_plain {
            return Err(self.unlowered(inst));
        }
        let to = self.func.result(inst).map_or(Kind::I32, |v| self.func.ty(v).kind());
        self.out.push_str(type_name(Type::new(to, sel.lanes()).unwrap_or(Type::I32))?);
        if data.op == Op::F2s {
            self.out.push('(');
            self.out.push_str(signed_name(to, sel.lanes()));
        }
        self.parenthesised(inst, sel)?;
        if data.op == Op::F2s {
            self.out.push(')');
        }
        Ok(())
    }

    pub(crate) fn bitcast(&mut self, inst: Inst, to: Type, sel: Sel, min: Prec) -> Result<(), Error> {
        let a = *self.func.args(inst).first().ok_or(Error::Malformed("an operand is missing"))?;
        let from = self.func.ty(a);
        let scalars = from.is_scalar() && to.is_scalar();
        let whole = Sel::all(from);
        // Bits as an integer of as many bits, or as words.
        let name = match (from.kind(), to.kind()) {
            (f, t) if f == t => return self.expr(a, sel, min),
            (Kind::I32, Kind::F32) => "uintBitsToFloat",
            (Kind::F32, Kind::I32) => "floatBitsToUint",
            (Kind::I16, Kind::F16) => "uint16BitsToFloat16",
            (Kind::F16, Kind::I16) => "float16BitsToUint16",
            (Kind::I64, Kind::F64) => "uint64BitsToDouble",
            (Kind::F64, Kind::I64) => "doubleBitsToUint64",
            (Kind::I32, Kind::I64) if to.is_scalar() => return self.around("packUint2x32", a, whole, sel),
            (Kind::I32, Kind::F64) if to.is_scalar() => return self.around("packDouble2x32", a, whole, sel),
            (Kind::I64, Kind::I32) if from.is_scalar() => {
                return self.around("unpackUint2x32", a, whole, sel);
            }
            (Kind::F64, Kind::I32) if from.is_scalar() => {
                return self.around("unpackDouble2x32", a, whole, sel);
            }
            (Kind::F32, Kind::I64) if to.is_scalar() => {
                self.extension(Extension::Int64);
                self.out.push_str("packUint2x32(");
                self.cast(a, "floatBitsToUint", whole)?;
                self.out.push(')');
                return Ok(());
            }
            (Kind::I64, Kind::F32) if from.is_scalar() => {
                self.extension(Extension::Int64);
                self.out.push_str("uintBitsToFloat(unpackUint2x32(");
                self.value(a, ANY)?;
                self.out.push_str("))");
                sel.write(self.out);
                return Ok(());
            }
            (Kind::F16, Kind::F32) if to.is_scalar() => {
                self.out.push_str("uintBitsToFloat(");
                self.around("packFloat2x16", a, whole, Sel::all(to))?;
                self.out.push(')');
                return Ok(());
            }
            (Kind::F32, Kind::F16) if from.is_scalar() => {
                Extension::of(Kind::F16).iter().for_each(|extension| self.extension(*extension));
                self.out.push_str("unpackFloat2x16(");
                self.cast(a, "floatBitsToUint", whole)?;
                self.out.push(')');
                sel.write(self.out);
                return Ok(());
            }
            (Kind::F16, Kind::I32) if to.is_scalar() => return self.around("packFloat2x16", a, whole, sel),
            (Kind::I32, Kind::F16) if from.is_scalar() => {
                return self.around("unpackFloat2x16", a, whole, sel);
            }
            (Kind::I16, Kind::I32) if to.is_scalar() => return self.around("pack32", a, whole, sel),
            (Kind::I32, Kind::I16) if from.is_scalar() => return self.around("unpack16", a, whole, sel),
            (Kind::I8, Kind::I32) if to.is_scalar() => return self.around("pack32", a, whole, sel),
            (Kind::I32, Kind::I8) if from.is_scalar() => return self.around("unpack8", a, whole, sel),
            _ => return Err(self.unsupported(inst, "a cast between these types")),
        };
        self.cast(a, name, if scalars { whole } else { sel })
    }

    /// Lanes of a function of a whole value.
    fn around(&mut self, name: &str, a: Value, whole: Sel, sel: Sel) -> Result<(), Error> {
        for extension in Extension::of(self.func.ty(a).kind()) {
            self.extension(*extension);
        }
        self.cast(a, name, whole)?;
        sel.write(self.out);
        Ok(())
    }

    pub(crate) fn subgroup(&mut self, inst: Inst, ty: Type, sel: Sel) -> Result<(), Error> {
        let data = &self.func.insts[inst];
        let Imm::Subgroup(info) = data.imm else {
            return Err(Error::Malformed("a subgroup op without its facts"));
        };
        if !self.target().is_450() {
            return Err(self.unsupported(inst, "subgroups need version 450"));
        }
        if info.width != 0 && info.width != self.options.subgroup_width {
            return Err(
                self.unsupported(inst, "a guest's subgroup width has to be lowered to the host's first")
            );
        }
        let narrow = |&v: &Value| matches!(self.func.ty(v).kind(), Kind::I8 | Kind::I16 | Kind::F16);
        if self.func.args(inst).iter().any(narrow) {
            return Err(self.unsupported(inst, "subgroups take no 8-bit and 16-bit types"));
        }
        self.extension(Extension::SubgroupBasic);
        match data.op {
            Op::SgId => self.out.push_str("gl_SubgroupInvocationID"),
            Op::SgSize => self.out.push_str("gl_SubgroupSize"),
            Op::SgElect => self.out.push_str("subgroupElect()"),
            Op::SgBallot => {
                self.extension(Extension::SubgroupBallot);
                let wide = ty.kind() == Kind::I64;
                self.out.push_str(if wide { "packUint2x32(subgroupBallot" } else { "subgroupBallot" });
                self.parenthesised(inst, Sel::all(Type::BOOL))?;
                if ty.is_scalar() {
                    self.out.push_str(if wide { ".xy)" } else { ".x" });
                } else {
                    sel.write(self.out);
                }
            }
            Op::SgAll | Op::SgAny if ty.is_scalar() => {
                self.extension(Extension::SubgroupVote);
                return self.call(
                    inst,
                    if data.op == Op::SgAll { "subgroupAll" } else { "subgroupAny" },
                    sel,
                );
            }
            Op::SgReadFirst => {
                self.extension(Extension::SubgroupBallot);
                return self.call(inst, "subgroupBroadcastFirst", sel);
            }
            Op::SgReduce | Op::SgScan => {
                self.extension(Extension::SubgroupArithmetic);
                let signed = matches!(info.reduce, Reduce::Imin | Reduce::Imax);
                let suffix = match info.reduce {
                    Reduce::Iadd | Reduce::Fadd => "Add",
                    Reduce::Imul | Reduce::Fmul => "Mul",
                    Reduce::Imin | Reduce::Umin | Reduce::Fmin => "Min",
                    Reduce::Imax | Reduce::Umax | Reduce::Fmax => "Max",
                    Reduce::And => "And",
                    Reduce::Or => "Or",
                    Reduce::Xor => "Xor",
                };
                let prefix = match (data.op, info.exclusive) {
                    (Op::SgReduce, _) => "subgroup",
                    (_, false) => "subgroupInclusive",
                    (_, true) => "subgroupExclusive",
                };
                let a = *self.func.args(inst).first().ok_or(Error::Malformed("an operand is missing"))?;
                if signed {
                    self.out.push_str(type_name(Type::new(ty.kind(), sel.lanes()).unwrap_or(ty))?);
                    self.out.push('(');
                }
                let _ = write!(self.out, "{prefix}{suffix}(");
                if signed {
                    self.cast(a, signed_name(ty.kind(), sel.lanes()), sel)?;
                } else {
                    self.expr(a, sel, ANY)?;
                }
                self.out.push_str(if signed { "))" } else { ")" });
            }
            Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown if ty.is_scalar() => {
                self.extension(Extension::SubgroupBallot);
                self.extension(Extension::SubgroupShuffle);
                let helper = match ty.kind() {
                    Kind::F32 => Helper::FromLaneFloat,
                    Kind::Bool => Helper::FromLaneBool,
                    Kind::I32 => Helper::FromLaneWord,
                    _ => return Err(self.unsupported(inst, "shuffles of this type")),
                };
                self.open_helper(helper, 1);
                self.operand(inst, 0, sel, ANY)?;
                self.out.push_str(match data.op {
                    Op::SgShuffleXor => ", gl_SubgroupInvocationID ^ ",
                    Op::SgShuffleUp => ", gl_SubgroupInvocationID - ",
                    Op::SgShuffleDown => ", gl_SubgroupInvocationID + ",
                    _ => ", ",
                });
                self.operand(inst, 1, sel, if data.op == Op::SgShuffle { ANY } else { POSTFIX })?;
                self.out.push(')');
            }
            Op::SgQuadSwap | Op::SgQuadBroadcast => {
                let which = self.func.args(inst).get(1).and_then(|&v| self.func.const_bits(v));
                let which = which.ok_or(Error::Malformed("a quad's lane that is no constant"))?.lane(0);
                self.extension(Extension::SubgroupQuad);
                self.out.push_str(match (data.op, which) {
                    (Op::SgQuadBroadcast, _) => "subgroupQuadBroadcast(",
                    (_, 0) => "subgroupQuadSwapHorizontal(",
                    (_, 1) => "subgroupQuadSwapVertical(",
                    _ => "subgroupQuadSwapDiagonal(",
                });
                self.operand(inst, 0, sel, ANY)?;
                if data.op == Op::SgQuadBroadcast {
                    let _ = write!(self.out, ", {}u", which & 3);
                }
                self.out.push(')');
            }
            _ => return Err(self.unsupported(inst, "votes and shuffles of vectors")),
        }
        Ok(())
    }
}
