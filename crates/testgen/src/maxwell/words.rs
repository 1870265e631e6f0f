//! Words of the table that compute, with operands that suit every kernel.

use super::{BANK, BANK_BYTES, word};
use crate::rng::Rng;
use xenoglot_maxwell::gpu::DefaultGpu;
use xenoglot_maxwell::inst::RZ;
use xenoglot_maxwell::isa::{FORMS, Form};
use xenoglot_maxwell::lift::{Kernel, LiftOptions, lift_compute_on};
use xenoglot_maxwell::modifier::{HalfMerge, Mod, NumType};
use xenoglot_maxwell::{Inst, Opcode, Role, Value, decode};

/// Registers that random instructions write: 0 up to this one, pairs beyond it by one.
pub(super) const REGISTERS: u8 = 16;
/// Predicates that they write.
pub(super) const PREDS: u8 = 5;

/// What a word writes that may be a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nan {
    Never,
    Half,
    Single,
    Double,
}

/// Words that lift, by the operation.
#[derive(Clone, Debug)]
pub struct Words {
    alone: Vec<Vec<u64>>,
    integers: Vec<Vec<u64>>,
    across: Vec<Vec<u64>>,
}

/// Words of each operation.
const PER_OP: usize = 160;
/// Attempts at one word.
const ATTEMPTS: usize = 12;

/// Operations on registers, predicates and constants whose results every device agrees on.
const ALONE: &[Opcode] = {
    use Opcode::*;
    &[
        Bfe, Bfi, Cset, Csetp, Dadd, Dfma, Dmnmx, Dmul, Dset, Dsetp, F2f, F2i, Fadd, Fadd32i, Fchk, Fcmp,
        Ffma, Ffma32i, Flo, Fmnmx, Fmul, Fmul32i, Fset, Fsetp, Hadd2, Hadd2_32i, Hfma2, Hfma2_32i, Hmul2,
        Hmul2_32i, Hset2, Hsetp2, I2f, I2i, Iadd, Iadd3, Iadd32i, Icmp, Idp, Imad, Imad32i, Imadsp, Imnmx,
        Imul, Imul32i, Iscadd, Iscadd32i, Iset, Isetp, Lea, Lop, Lop3, Lop32i, Mov, Mov32i, Nop, P2r, Popc,
        Prmt, Pset, Psetp, R2p, Sel, Shf, Shl, Shr, Vabsdiff, Vabsdiff4, Vadd, Vmad, Vmnmx, Vset, Vsetp,
        Vshl, Vshr, Xmad,
    ]
};

/// Those of them that see no floats: in fragment shaders, renderers on the CPU take denormals for zeros.
const INTEGERS: &[Opcode] = {
    use Opcode::*;
    &[
        Bfe, Bfi, Cset, Csetp, Flo, I2i, Iadd, Iadd3, Iadd32i, Icmp, Idp, Imad, Imad32i, Imadsp, Imnmx, Imul,
        Imul32i, Iscadd, Iscadd32i, Isetp, Lea, Lop, Lop3, Lop32i, Mov, Mov32i, P2r, Popc, Prmt, Psetp, R2p,
        Sel, Shf, Shl, Shr, Vabsdiff, Vabsdiff4, Vadd, Vmad, Vmnmx, Vset, Vsetp, Vshl, Vshr, Xmad,
    ]
};

/// Those that take something from other lanes, or from the lane's place.
const ACROSS: &[Opcode] = &[Opcode::Shfl, Opcode::Vote, Opcode::Fswzadd, Opcode::S2r];

impl Words {
    /// Words for every operation that computes.
    pub fn new(rng: &mut Rng) -> Words {
        let mut of = |ops: &[Opcode]| -> Vec<Vec<u64>> {
            ops.iter().map(|&op| of_op(rng, op)).filter(|words| !words.is_empty()).collect()
        };
        let (alone, across) = (of(ALONE), of(ACROSS));
        Words { alone, across, integers: of(INTEGERS) }
    }

    /// A word that computes in its lane, without floats.
    pub(super) fn integer(&self, rng: &mut Rng) -> u64 {
        pick(rng, &self.integers)
    }

    /// A word that computes in its lane.
    pub(super) fn alone(&self, rng: &mut Rng) -> u64 {
        pick(rng, &self.alone)
    }

    /// A word that sees other lanes.
    pub(super) fn across(&self, rng: &mut Rng) -> u64 {
        pick(rng, &self.across)
    }
}

fn pick(rng: &mut Rng, words: &[Vec<u64>]) -> u64 {
    rng.pick(words).and_then(|of_op| rng.pick(of_op)).copied().expect("every operation has words")
}

fn of_op(rng: &mut Rng, op: Opcode) -> Vec<u64> {
    let forms: Vec<&Form> = FORMS.iter().filter(|f| f.op == op).collect();
    let mut words = Vec::new();
    for attempt in 0..PER_OP * ATTEMPTS {
        if words.len() == PER_OP {
            break;
        }
        let bits = rng.next_u64();
        // Every other word has few bits: what is not asked for is often zero.
        let bits = if attempt % 2 == 0 { bits } else { bits & rng.next_u64() & rng.next_u64() };
        let word = forms[attempt % forms.len()].word(bits & !0xf_0000 | 0x7_0000);
        let suited = decode(8, word).ok().and_then(|inst| suited(rng, inst));
        words.extend(suited.filter(is_lifted).map(|inst| inst.word));
    }
    words
}

/// The instruction with operands that every kernel has.
fn suited(rng: &mut Rng, mut inst: Inst) -> Option<Inst> {
    for operand in inst.operands() {
        let written = matches!(operand.role, Role::Dst | Role::DstPred | Role::DstPred2);
        let value = match operand.value {
            Value::Reg(_) if !written && rng.percent(10) => Value::Reg(RZ),
            Value::Reg(_) => Value::Reg(rng.below(REGISTERS.into()) as u8),
            Value::Pred(p) if written && p >= PREDS => Value::Pred(xenoglot_maxwell::inst::PT),
            Value::Const { index, .. } => {
                Value::Const { bank: BANK, offset: 4 * rng.below(BANK_BYTES / 4 + 2) as i32, index }
            }
            Value::Imm(_) if operand.role == Role::B && rng.percent(50) => Value::Imm(word(rng)),
            Value::Special(_) => {
                Value::Special(*rng.pick(&[0, 0x20, 0x21, 0x25, 0x38, 0x39, 0x3a, 0x3b, 0x3c])?)
            }
            _ => continue,
        };
        // A number that does not fit stays what it was.
        inst = match inst.with(operand.role, value) {
            Some(inst) => inst,
            None if matches!(value, Value::Imm(_)) => inst,
            None => return None,
        };
    }
    // The sign of a NaN is nobody's business.
    if nan(&inst) != Nan::Never && inst.has(Mod::Cc) { inst.with_modifier(Mod::Cc, 0) } else { Some(inst) }
}

/// What NaN an instruction may write.
pub(super) fn nan(inst: &Inst) -> Nan {
    use Opcode::*;
    match inst.op {
        Fadd | Fadd32i | Fmul | Fmul32i | Ffma | Ffma32i | Fmnmx | Fswzadd => Nan::Single,
        Dadd | Dmul | Dfma | Dmnmx => Nan::Double,
        Hadd2 | Hadd2_32i | Hmul2 | Hmul2_32i | Hfma2 | Hfma2_32i => match inst.get(Mod::HalfMerge) {
            Ok(HalfMerge::F32) => Nan::Single,
            _ => Nan::Half,
        },
        F2f => match inst.get(Mod::DstType) {
            Ok(NumType::F16) => Nan::Half,
            Ok(NumType::F64) => Nan::Double,
            _ => Nan::Single,
        },
        _ => Nan::Never,
    }
}

fn is_lifted(inst: &Inst) -> bool {
    const EXIT: u64 = 0xe300_0000_0007_000f;
    let code: Vec<u8> = [0, inst.word, EXIT, EXIT].into_iter().flat_map(u64::to_le_bytes).collect();
    let kernel = Kernel {
        code: &code,
        entry: 0,
        workgroup: [32, 1, 1],
        shared_bytes: 64,
        local_bytes: 64,
        constants: &[],
        functions: &[],
    };
    lift_compute_on(&kernel, &LiftOptions::default(), &DefaultGpu).is_ok()
}
