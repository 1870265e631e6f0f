//! Sums over the lanes of a quad: differences of neighbours become derivatives, others plain sums with signs by lane.
//!
//! ```text
//! v2 : i32 = const 0
//! v3 : f32 = sg.quad_swap v1, v2           =>   v5 : f32 = ddx.fine v1
//! v4 : f32 = sg.quad_add v3, v1, 0x99           (v4 is v5)
//! ```
//!
//! Some machines have no derivatives but exchange values in a quad and subtract. Every host has derivatives; exchanges, and
//! numbers of lanes, not all. A derivative stands where the exchange stood, as flow may have parted since. It is rounded
//! as the host does it, and denormals stay.
//!
//! A pass over functions of fragment shaders. It runs early, as later passes may tell the operands of an exchange and of
//! a sum apart.

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, edit};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Bits, Flags, Function, Imm, Inst, Op, Round, Type, Value};

/// Lanes of a quad.
const QUAD: u8 = 4;

/// Instructions to put in.
#[derive(Default)]
struct Added {
    before: FxHashMap<Inst, SmallVec<[Inst; 8]>>,
    after: FxHashMap<Inst, SmallVec<[Inst; 8]>>,
    /// The derivatives made of exchanges, and the negative ones.
    derivatives: FxHashMap<(Inst, bool), Value>,
    /// Selections of a derivative: their condition, and the derivative.
    guarded: FxHashMap<Value, (Value, Value)>,
}

/// Replaces every `sg.quad_add`.
pub fn run(w: &mut Work<'_>) -> Done {
    if !w.known.rare.has_subgroup() {
        return w.done(Changed::NONE, Keeps::USES);
    }
    let f = &mut *w.f;
    let insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts).copied();
    let sums: Vec<Inst> = insts.filter(|&i| f.insts[i].op == Op::SgQuadAdd).collect();
    if sums.is_empty() {
        return w.done(Changed::NONE, Keeps::USES);
    }
    let mut added = Added::default();
    let mut new = Vec::new();
    for inst in sums {
        let (&[a, b, table], Some(result)) = (f.args(inst), f.result(inst)) else { continue };
        let Some(table) = f.const_bits(table) else { continue };
        let sum = Sum { inst, flags: f.insts[inst].flags, guest: f.insts[inst].guest };
        if let Some(v) = sum.replaced(f, &mut added, [a, b], table.lane(0) as u8) {
            new.push((result, v));
        }
    }
    let guarded = std::mem::take(&mut added.guarded);
    added.put_in(f);
    let Known { replaced, .. } = &mut *w.known;
    replaced.reset(f);
    for (old, by) in new {
        replaced.set(f, old, by);
    }
    replaced.apply(f);
    drop_others(f, &guarded);
    w.done(Changed::INSTS, Keeps::NOTHING)
}

/// Lets selections by the guard of an exchange take the derivative itself.
fn drop_others(f: &mut Function, guarded: &FxHashMap<Value, (Value, Value)>) {
    if guarded.is_empty() {
        return;
    }
    for i in 0..f.layout.len() {
        for n in 0..f.blocks[f.layout[i]].insts.len() {
            let inst = f.blocks[f.layout[i]].insts[n];
            if let (Op::Select, &[cond, yes, no]) = (f.insts[inst].op, f.args(inst))
                && let Some(&(_, yes)) = guarded.get(&yes).filter(|(by, _)| *by == cond)
            {
                edit::rewrite(f, inst, Op::Select, Flags::NONE, Imm::None, &[cond, yes, no]);
            }
        }
    }
}

impl Added {
    fn put_in(mut self, f: &mut Function) {
        for i in 0..f.layout.len() {
            let block = f.layout[i];
            let insts = std::mem::take(&mut f.blocks[block].insts);
            let mut all = Vec::with_capacity(insts.len());
            for inst in insts {
                all.extend(self.before.remove(&inst).into_iter().flatten());
                all.push(inst);
                all.extend(self.after.remove(&inst).into_iter().flatten());
            }
            f.blocks[block].insts = all;
        }
    }
}

/// A sum over a quad.
struct Sum {
    inst: Inst,
    flags: Flags,
    guest: u32,
}

/// A neighbour's value in a quad: along x or y.
struct Swapped {
    inst: Inst,
    value: Value,
    along_y: bool,
}

impl Sum {
    /// What takes the place of the sum of `args` with the signs of `table`.
    fn replaced(&self, f: &mut Function, added: &mut Added, args: [Value; 2], table: u8) -> Option<Value> {
        if let Some(v) = self.derivative(f, added, args, table) {
            return Some(v);
        }
        // An exchange under a guard: the sum is under the same, and what it makes of the other value is dropped.
        if let Some((cond, yes, no)) = selected(f, args[0])
            && let Some(yes) = self.derivative(f, added, [yes, args[1]], table)
        {
            let no = self.cast(f, added, no, Type::F32)?;
            let no = self.plain(f, added, [no, args[1]], table)?;
            let args = [cond, yes, no];
            let v = self.make(f, added, Op::Select, Flags::NONE, Imm::None, &args, Type::F32)?;
            added.guarded.insert(v, (cond, yes));
            return Some(v);
        }
        self.plain(f, added, args, table)
    }

    /// A derivative, if the sum is the difference of a value and its neighbour's.
    fn derivative(&self, f: &mut Function, added: &mut Added, args: [Value; 2], table: u8) -> Option<Value> {
        let mirrored = |table: u8| {
            (0..QUAD).fold(0, |all, lane| {
                let code = table >> (2 * lane) & 3;
                all | [0, 2, 1, 3][usize::from(code)] << (2 * lane)
            })
        };
        let [a, b] = args;
        let (swapped, table) = match swapped(f, a).filter(|s| bits_of(f, s.value) == bits_of(f, b)) {
            Some(swapped) => (swapped, table),
            None => {
                let swapped = swapped(f, b).filter(|s| bits_of(f, s.value) == bits_of(f, a))?;
                // `b` alone is no difference.
                if (0..QUAD).any(|lane| table >> (2 * lane) & 3 == 3) {
                    return None;
                }
                (swapped, mirrored(table))
            }
        };
        let forward = if swapped.along_y { 0xa5 } else { 0x99 };
        let negative = match table {
            t if t == forward => false,
            t if t == mirrored(forward) => true,
            _ => return None,
        };
        if self.flags.round() != Round::Natural && self.flags.round() != Round::Even {
            return None;
        }
        // The negative is the derivative of the negated value: that of equal values is +0 as well.
        let v = match added.derivatives.get(&(swapped.inst, negative)) {
            Some(&v) => v,
            None => {
                let op = if swapped.along_y { Op::DdyFine } else { Op::DdxFine };
                let guest = f.insts[swapped.inst].guest;
                let after = added.after.entry(swapped.inst).or_default();
                let mut x = swapped.value;
                let is_float = f.ty(x) == Type::F32;
                for op in [(Op::Bitcast, !is_float), (Op::Fneg, negative), (op, true)]
                    .into_iter()
                    .filter_map(|(op, wanted)| wanted.then_some(op))
                {
                    let inst = f.make_inst(op, Flags::NONE, Imm::None, &[x], &[Type::F32], guest);
                    after.push(inst);
                    x = f.result(inst)?;
                }
                added.derivatives.insert((swapped.inst, negative), x);
                x
            }
        };
        match self.flags.sat() {
            true => self.make(f, added, Op::Fsat, Flags::NONE, Imm::None, &[v], Type::F32),
            false => Some(v),
        }
    }

    /// A sum of operands whose signs are flipped by the lane's number in its quad.
    fn plain(&self, f: &mut Function, added: &mut Added, args: [Value; 2], table: u8) -> Option<Value> {
        let mask = |code: u8| {
            (0..QUAD)
                .fold(0u32, |all, lane| all | u32::from(table >> (2 * (QUAD - 1 - lane)) & 3 == code) << lane)
        };
        let mut lane = None;
        let [a, b] = [(args[0], mask(1)), (args[1], mask(2))];
        let x = self.negated(f, added, a, &mut lane)?;
        let y = self.negated(f, added, b, &mut lane)?;
        let sum = self.make(f, added, Op::Fadd, self.flags, Imm::None, &[x, y], Type::F32)?;
        if mask(3) == 0 {
            return Some(sum);
        }
        let bit = self.bit(f, added, mask(3), &mut lane)?;
        let zero = self.number(f, added, 0)?;
        let alone = self.make(f, added, Op::IcmpNe, Flags::NONE, Imm::None, &[bit, zero], Type::BOOL)?;
        self.make(f, added, Op::Select, Flags::NONE, Imm::None, &[alone, args[1], sum], Type::F32)
    }

    /// A value that the lanes of a mask negate.
    fn negated(
        &self,
        f: &mut Function,
        added: &mut Added,
        (v, mask): (Value, u32),
        lane: &mut Option<Value>,
    ) -> Option<Value> {
        match mask {
            0 => Some(v),
            0xf => self.make(f, added, Op::Fneg, Flags::NONE, Imm::None, &[v], Type::F32),
            _ => {
                let bit = self.bit(f, added, mask, lane)?;
                let top = self.number(f, added, 31)?;
                let sign = self.word(f, added, Op::Shl, &[bit, top])?;
                let word = self.cast(f, added, v, Type::I32)?;
                let word = self.word(f, added, Op::Xor, &[word, sign])?;
                self.cast(f, added, word, Type::F32)
            }
        }
    }

    /// The bit of a mask that is this lane's.
    fn bit(&self, f: &mut Function, added: &mut Added, mask: u32, lane: &mut Option<Value>) -> Option<Value> {
        let number = match *lane {
            Some(v) => v,
            None => {
                let imm = Imm::Subgroup(SubgroupInfo { width: QUAD, reduce: Reduce::Iadd, exclusive: false });
                *lane.insert(self.make(f, added, Op::SgId, Flags::NONE, imm, &[], Type::I32)?)
            }
        };
        let mask = self.number(f, added, mask)?;
        let one = self.number(f, added, 1)?;
        let shifted = self.word(f, added, Op::Ushr, &[mask, number])?;
        self.word(f, added, Op::And, &[shifted, one])
    }

    fn number(&self, f: &mut Function, added: &mut Added, v: u32) -> Option<Value> {
        let inst = edit::make_const(f, Type::I32, Bits::scalar(v.into()), self.guest);
        added.before.entry(self.inst).or_default().push(inst);
        f.result(inst)
    }

    fn word(&self, f: &mut Function, added: &mut Added, op: Op, args: &[Value]) -> Option<Value> {
        self.make(f, added, op, Flags::NONE, Imm::None, args, Type::I32)
    }

    fn cast(&self, f: &mut Function, added: &mut Added, v: Value, ty: Type) -> Option<Value> {
        if f.ty(v) == ty {
            return Some(v);
        }
        self.make(f, added, Op::Bitcast, Flags::NONE, Imm::None, &[v], ty)
    }

    /// An instruction before the sum; its result.
    #[allow(clippy::too_many_arguments)]
    fn make(
        &self,
        f: &mut Function,
        added: &mut Added,
        op: Op,
        flags: Flags,
        imm: Imm,
        args: &[Value],
        ty: Type,
    ) -> Option<Value> {
        let inst = f.make_inst(op, flags, imm, args, &[ty], self.guest);
        added.before.entry(self.inst).or_default().push(inst);
        f.result(inst)
    }
}

/// What a value is whose bits this one is.
fn bits_of(f: &Function, mut v: Value) -> Value {
    while let Some(inst) = f.def_inst(v)
        && f.insts[inst].op == Op::Bitcast
        && let &[arg] = f.args(inst)
        && matches!(f.ty(arg), Type::I32 | Type::F32)
    {
        v = arg;
    }
    v
}

/// The neighbour's value that `v` is, if it is one.
fn swapped(f: &Function, v: Value) -> Option<Swapped> {
    let inst = f.def_inst(bits_of(f, v)).filter(|&i| f.insts[i].op == Op::SgQuadSwap)?;
    let &[value, way] = f.args(inst) else { return None };
    match f.const_bits(way)?.lane(0) {
        way @ (0 | 1) => Some(Swapped { inst, value, along_y: way == 1 }),
        _ => None,
    }
}

/// Condition and values of a selection.
fn selected(f: &Function, v: Value) -> Option<(Value, Value, Value)> {
    let inst = f.def_inst(bits_of(f, v)).filter(|&i| f.insts[i].op == Op::Select)?;
    match f.args(inst) {
        &[cond, yes, no] if f.ty(cond) == Type::BOOL => Some((cond, yes, no)),
        _ => None,
    }
}
