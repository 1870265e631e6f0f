//! Algebra: ops with a simpler equal, exactly.
//!
//! ```text
//! v1 : f32x4 = insert v0, v9, 0
//! v2 : f32   = extract v1, 1           =>   v2 : f32 = extract v0, 1
//! v3 : f32   = fmul.zw v2, v8 (2.0)         v3 : f32 = fmul v2, v8
//! v4 : bool  = fcmp.olt v3, v2              v5 : bool = fcmp.ule v2, v3
//! v5 : bool  = not v4
//! ```
//!
//! *Exactly* means bit for bit but for NaN payloads, whatever the flags: `x + 0.0` stays because of -0, `x * 1.0`
//! goes unless `ftz`, `sat` or `fmz` would change `x`. The rules are by family in `int`, `float` and
//! `vector`; ops on constants fold on the way, so that chains of both need one sweep.

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, constant_fold, edit};
use smallvec::SmallVec;
use xenoglot_ir::func::InstData;
use xenoglot_ir::{Bits, Flags, Function, Imm, Inst, Op, Type, Value};

mod float;
mod int;
mod interest;
mod vector;

#[derive(Default)]
pub(crate) struct Buffers {
    insts: Vec<Inst>,
}

/// Operands of an instruction, copied out.
type Args = SmallVec<[Value; 4]>;

/// What a rule makes of an instruction.
enum Rule {
    /// Nothing.
    Keep,
    /// Its result is this value.
    Value(Value),
    /// Its result is this constant.
    Const(Bits),
    /// It is this instruction.
    Inst(Op, Flags, Imm, Args),
}

impl Rule {
    fn op(op: Op, args: &[Value]) -> Rule {
        Rule::Inst(op, Flags::NONE, Imm::None, args.into())
    }

    fn flagged(op: Op, flags: Flags, args: &[Value]) -> Rule {
        Rule::Inst(op, flags, Imm::None, args.into())
    }
}

/// An instruction as rules see it.
struct Site<'f> {
    f: &'f mut Function,
    /// Instructions of the block so far: new ones go here.
    out: &'f mut Vec<Inst>,
    op: Op,
    flags: Flags,
    imm: Imm,
    args: Args,
    ty: Type,
    guest: u32,
}

impl Site<'_> {
    /// The instruction that defines `v`.
    fn def(&self, v: Value) -> Option<&InstData> {
        self.f.def_inst(v).map(|i| &self.f.insts[i])
    }

    /// The operands of `v`'s definition if it is an `op`.
    fn args_of<const N: usize>(&self, v: Value, op: Op) -> Option<[Value; N]> {
        let inst = self.f.def_inst(v).filter(|&i| self.f.insts[i].op == op)?;
        self.f.args(inst).try_into().ok()
    }

    /// The bits in each lane of a constant whose lanes are equal.
    fn splat(&self, v: Value) -> Option<u64> {
        let bits = self.f.const_bits(v)?;
        let lanes = usize::from(self.f.ty(v).lanes());
        bits.0[1..lanes].iter().all(|&l| l == bits.0[0]).then_some(bits.0[0])
    }

    /// Whether `v` is a constant with all lanes as `test` says.
    fn all_lanes(&self, v: Value, test: impl Fn(u64) -> bool) -> bool {
        let lanes = usize::from(self.f.ty(v).lanes());
        self.f.const_bits(v).is_some_and(|b| b.0[..lanes].iter().all(|&l| test(l)))
    }

    /// A new constant before the instruction.
    fn constant(&mut self, ty: Type, bits: Bits) -> Value {
        let inst = edit::make_const(self.f, ty, bits, self.guest);
        self.out.push(inst);
        // One result type gives one result.
        self.f.results(inst)[0]
    }

    fn rule(&mut self) -> Rule {
        match self.op {
            op if vector::is_mover(op) => vector::rule(self),
            _ if self.args.first().is_some_and(|&a| self.f.ty(a).kind().is_float()) => float::rule(self),
            _ => int::rule(self),
        }
    }
}

/// A rule's result may have a rule of its own; so many in a row are enough for any that exist.
const MAX_STEPS: usize = 8;

/// Simplifies in one sweep; operands come before their users. What was looked at before is looked at again only if its
/// operands or their definitions changed since.
pub fn run(w: &mut Work<'_>) -> Done {
    let (f, out) = (&mut *w.f, &mut w.buffers.simplify.insts);
    let Known { analyses, replaced, .. } = &mut *w.known;
    if replaced.stale.is_none(f) {
        return w.finish();
    }
    analyses.ensure_cfg(f);
    replaced.reset(f);
    let rpo = analyses.cfg().rpo();
    let first = replaced.stale.is_all();
    let mut changed = false;
    for &block in rpo {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        // The list is copied from where it first changes.
        let mut copied = false;
        out.clear();
        for (i, &inst) in insts.iter().enumerate() {
            replaced.apply_inst(f, inst);
            let (data, args) = (&f.insts[inst], f.args(inst));
            let stale =
                first || is_stale(&replaced.stale, args) || is_stale(&replaced.stale, f.results(inst));
            let concerned = stale && interest::concerns(f, data.op, args);
            debug_assert!(
                concerned || !stale || is_stable(f, inst),
                "a rule that `interest` does not know of"
            );
            let mut gone = false;
            if concerned && let Some(result) = f.result(inst) {
                match step(f, out, inst, result) {
                    Outcome::Kept => {}
                    Outcome::Rewritten => {
                        replaced.stale.mark(result);
                        changed = true;
                    }
                    Outcome::Replaced(by) => {
                        replaced.set(f, result, by);
                        changed = true;
                        gone = true;
                    }
                }
                if !copied && (gone || !out.is_empty()) {
                    out.splice(0..0, insts[..i].iter().copied());
                    copied = true;
                }
            }
            if copied && !gone {
                out.push(inst);
            }
        }
        if copied {
            insts.clear();
            insts.extend_from_slice(out);
        }
        f.blocks[block].insts = insts;
        replaced.apply_term(f, block);
    }
    if !replaced.is_empty() && rpo.len() != f.layout.len() {
        replaced.apply(f); // unreachable blocks
    }
    replaced.stale.none(f);
    w.done(Changed::insts_if(changed), Keeps::STALE)
}

/// Whether one of these changed since it was looked at.
#[inline]
fn is_stale(stale: &edit::Stale, values: &[Value]) -> bool {
    values.iter().any(|&v| stale.contains(v))
}

/// What became of an instruction.
enum Outcome {
    Kept,
    Rewritten,
    /// This value takes the place of its result.
    Replaced(Value),
}

/// Applies rules to `inst` until none fits.
fn step(f: &mut Function, out: &mut Vec<Inst>, inst: Inst, result: Value) -> Outcome {
    let mut outcome = Outcome::Kept;
    for _ in 0..MAX_STEPS {
        if f.args(inst).is_empty() {
            break;
        }
        if let Some(bits) = constant_fold::fold_inst(f, inst) {
            edit::rewrite_const(f, inst, bits);
            return Outcome::Rewritten;
        }
        let data = &f.insts[inst];
        let (op, flags, imm, guest) = (data.op, data.flags, data.imm, data.guest);
        let (args, ty) = (Args::from_slice(f.args(inst)), f.ty(result));
        match (Site { f, out, op, flags, imm, args, ty, guest }).rule() {
            Rule::Keep => break,
            Rule::Value(v) => return Outcome::Replaced(v),
            Rule::Const(bits) => edit::rewrite_const(f, inst, bits),
            Rule::Inst(new, flags, imm, args) => {
                edit::rewrite(f, inst, new, flags, imm, &args);
                if vector::is_mover(op) {
                    // Lanes were followed to the end: nothing is left to do but to fold them.
                    if let Some(bits) = constant_fold::fold_inst(f, inst) {
                        edit::rewrite_const(f, inst, bits);
                    }
                    return Outcome::Rewritten;
                }
            }
        }
        outcome = Outcome::Rewritten;
    }
    outcome
}

/// Whether no rule fits `inst`.
fn is_stable(f: &mut Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let traits = data.op.info().traits;
    let (op, flags, imm, guest) = (data.op, data.flags, data.imm, data.guest);
    let args = Args::from_slice(f.args(inst));
    match f.result(inst) {
        Some(result) if traits.pure && !traits.convergent && !op.is_open() && !args.is_empty() => {
            let ty = f.ty(result);
            let folds = constant_fold::fold_inst(f, inst).is_some();
            !folds
                && matches!(
                    Site { f, out: &mut Vec::new(), op, flags, imm, args, ty, guest }.rule(),
                    Rule::Keep
                )
        }
        _ => true,
    }
}
