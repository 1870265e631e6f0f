//! Memory as hosts have it: accesses of 8 and 16 bits go by words, and atomics that hosts lack are loops of
//! compare-exchange.
//!
//! ```text
//! block0:                                    =>    block0:
//!   v2 : i32 = atomic.inc_wrap storage @b            v6 : i32 = load storage @b relaxed device, v0
//!              relaxed device, v0, v1                jump block1(v6)
//!   v3 : i32 = iadd v2, v1                         block1(v7 : i32):
//!   ...                                              v8 : i32 = ..0 if v7 >= v1, else v7 + 1..
//!                                                    v9 : i32 = atomic.cmpxchg storage @b
//!                                                               relaxed device, v0, v7, v8
//!                                                    v10 : bool = icmp.eq v9, v7
//!                                                    branch v10, block2, block1(v9)
//!                                                  block2:
//!                                                    v2 : i32 = bitcast v7
//!                                                    v3 : i32 = iadd v2, v1
//!                                                    ...
//! ```
//!
//! A narrow store is such a loop, too, so that the other bytes of its word keep what others store to them; in private
//! memory it is a load and a store.
//!
//! Not part of the pass list unless asked for: only back ends need it. A buffer whose size is no multiple of four loses
//! its last bytes to this, as it does to any host that sees words. Which element of an array of buffers is accessed is the
//! same for all that comes of an access. Vectors of narrow lanes, 64-bit atomics and accesses
//! that are not aligned to their lanes are left for the back end to refuse.

use crate::Changed;
use crate::edit::{self, SharedConsts};
use crate::session::{Done, Keeps, Work};
use smallvec::SmallVec;
use xenoglot_ir::imm::{Imm, MemInfo, Order, Scope};
use xenoglot_ir::{Block, Builder, Flags, Function, Inst, Kind, Op, Space, Type, Value};

/// Lowers the accesses of a function.
pub fn run(w: &mut Work<'_>) -> Done {
    let changed = lower(w.f, lowering);
    w.done(changed, Keeps::NOTHING)
}

/// What a pass makes of an access, if it is one of its.
pub(crate) type Choose = fn(&Function, Inst) -> Option<(Lowering, MemInfo)>;

/// Lowers what is chosen.
pub(crate) fn lower(f: &mut Function, choose: Choose) -> Changed {
    let mut changed = Changed::NONE;
    let mut numbers = SharedConsts::default();
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        if f.blocks[block].insts.iter().any(|&inst| choose(f, inst).is_some()) {
            changed = changed.or(lower_block(f, &mut numbers, block, choose));
        }
    }
    numbers.place(f);
    changed
}

/// What becomes of an access.
#[derive(Clone, Copy)]
pub(crate) enum Lowering {
    /// A load of less than a word.
    Load(Kind),
    /// A store of less than a word.
    Store(Kind),
    /// A loop that stores what [`next`] makes of the old word.
    Loop(Type),
}

#[inline]
fn lowering(f: &Function, inst: Inst) -> Option<(Lowering, MemInfo)> {
    match f.insts[inst].op {
        Op::Load | Op::Store | Op::AtomicIncWrap | Op::AtomicDecWrap | Op::AtomicFadd => access(f, inst),
        _ => None,
    }
}

fn access(f: &Function, inst: Inst) -> Option<(Lowering, MemInfo)> {
    let data = &f.insts[inst];
    let Imm::Mem(mem) = data.imm else { return None };
    let ty = match data.op {
        Op::Store => f.args(inst).get(1).map(|&v| f.ty(v)),
        _ => f.result(inst).map(|v| f.ty(v)),
    }?;
    let narrow = ty.is_scalar() && matches!(ty.kind().bits(), 8 | 16) && mem.order == Order::None;
    let aligned = u32::from(mem.align_log2) >= (ty.kind().bits() / 8).trailing_zeros();
    let how = match data.op {
        Op::Load if narrow && aligned => Lowering::Load(ty.kind()),
        Op::Store if narrow && aligned => Lowering::Store(ty.kind()),
        Op::AtomicIncWrap | Op::AtomicDecWrap if ty == Type::I32 => Lowering::Loop(ty),
        Op::AtomicFadd if ty == Type::F32 => Lowering::Loop(ty),
        _ => return None,
    };
    Some((how, mem))
}

fn lower_block(f: &mut Function, numbers: &mut SharedConsts, block: Block, choose: Choose) -> Changed {
    let insts = std::mem::take(&mut f.blocks[block].insts);
    f.blocks[block].insts.reserve(insts.len() * 2);
    let term = edit::take_term(&mut f.blocks[block].term);
    let mut code = Code { b: Builder::new(f, block), numbers };
    let mut insts = insts.into_iter().peekable();
    while let Some(inst) = insts.next() {
        code.b.set_guest(code.b.func.insts[inst].guest);
        match choose(code.b.func, inst) {
            Some((Lowering::Load(kind), mem)) => {
                if let Some(low) = code.load(inst, mem, kind)
                    && let Some(extended) = insts.next_if(|&next| is_extended(code.b.func, inst, next))
                {
                    code.mask(extended, low, kind);
                }
            }
            Some((Lowering::Store(kind), mem)) => code.store(inst, mem, kind),
            Some((Lowering::Loop(ty), mem)) => code.atomic(inst, mem, ty),
            None => append(&mut code.b, inst),
        }
    }
    let last = code.b.block();
    f.blocks[last].term = term;
    if last == block { Changed::INSTS } else { Changed::ALL }
}

/// Whether `next` makes a word of what `inst` loads, with zeros above it.
fn is_extended(f: &Function, inst: Inst, next: Inst) -> bool {
    f.insts[next].op == Op::Zext
        && f.args(next).first().copied() == f.result(inst)
        && f.result(next).is_some_and(|v| f.ty(v) == Type::I32)
}

fn append(b: &mut Builder, inst: Inst) {
    let block = b.block();
    b.func.blocks[block].insts.push(inst);
}

/// Where an access goes.
#[derive(Clone, Copy)]
struct Place {
    mem: MemInfo,
    flags: Flags,
    at: Value,
    /// The element of an array of buffers.
    element: Option<Value>,
}

impl Place {
    fn inst(&self, b: &mut Builder, op: Op, values: &[Value], results: &[Type]) -> Inst {
        let args: SmallVec<[Value; 4]> =
            [self.at].iter().chain(values).copied().chain(self.element).collect();
        b.inst(op, self.flags, Imm::Mem(self.mem), &args, results)
    }

    /// A word there.
    fn load(&self, b: &mut Builder) -> Value {
        let inst = self.inst(b, Op::Load, &[], &[Type::I32]);
        b.func.results(inst)[0]
    }
}

/// Where an access goes, and its operands behind the address; verified, it has them.
fn operands<const N: usize>(b: &Builder, inst: Inst, mem: MemInfo) -> Option<(Place, [Value; N])> {
    let (&at, rest) = b.func.args(inst).split_first()?;
    let (values, element) = rest.split_at_checked(N)?;
    let place = Place { mem, flags: b.func.insts[inst].flags, at, element: element.first().copied() };
    Some((place, values.try_into().ok()?))
}

fn integer(kind: Kind) -> Type {
    Type::scalar(if kind.bits() == 8 { Kind::I8 } else { Kind::I16 })
}

/// Makes `inst`, which has one result, the `op` of a value.
fn become_op(b: &mut Builder, inst: Inst, op: Op, arg: Value) {
    edit::rewrite(b.func, inst, op, Flags::NONE, Imm::None, &[arg]);
    append(b, inst);
}

/// What is appended in the place of an access.
struct Code<'a, 'f> {
    b: Builder<'f>,
    numbers: &'a mut SharedConsts,
}

impl Code<'_, '_> {
    fn number(&mut self, ty: Type, v: u64) -> Value {
        self.numbers.get(self.b.func, ty, v)
    }

    /// A narrow access' word: its address, and the first bit in it.
    fn word(&mut self, at: Value) -> [Value; 2] {
        let ty = self.b.func.ty(at);
        let rest = self.number(ty, ty.kind().mask() & !3);
        let [three, bits] = [3, 0x18].map(|v| self.number(Type::I32, v));
        let low = if ty == Type::I32 { at } else { self.b.convert(Op::TruncInt, Flags::NONE, at, Type::I32) };
        let shift = self.b.op(Op::Shl, &[low, three]);
        // In this order back ends see that it is below 32.
        let shift = self.b.op(Op::And, &[shift, bits]);
        [self.b.op(Op::And, &[at, rest]), shift]
    }

    /// Makes `inst` what a narrow integer or float loads. Of an integer, the word that it is the lowest bits of.
    fn load(&mut self, inst: Inst, mem: MemInfo, kind: Kind) -> Option<Value> {
        let Some((place, [])) = operands(&self.b, inst, mem) else {
            append(&mut self.b, inst);
            return None;
        };
        let [at, shift] = self.word(place.at);
        let b = &mut self.b;
        let whole = Place { mem: MemInfo { align_log2: 2, ..mem }, at, ..place }.load(b);
        let low = b.op(Op::Ushr, &[whole, shift]);
        if kind.is_int() {
            become_op(b, inst, Op::TruncInt, low);
            return Some(low);
        }
        let bits = b.convert(Op::TruncInt, Flags::NONE, low, integer(kind));
        become_op(b, inst, Op::Bitcast, bits);
        None
    }

    /// Makes `inst` the lowest bits of a word, as many as `kind` has.
    fn mask(&mut self, inst: Inst, word: Value, kind: Kind) {
        let ones = self.number(Type::I32, kind.mask());
        edit::rewrite(self.b.func, inst, Op::And, Flags::NONE, Imm::None, &[word, ones]);
        append(&mut self.b, inst);
    }

    fn store(&mut self, inst: Inst, mem: MemInfo, kind: Kind) {
        let Some((place, [value])) = operands(&self.b, inst, mem) else { return append(&mut self.b, inst) };
        let mem = MemInfo { align_log2: 2, ..mem };
        let [at, shift] = self.word(place.at);
        let ones = self.number(Type::I32, kind.mask());
        let value = self.widened(value, kind, ones);
        let b = &mut self.b;
        let value = b.op(Op::Shl, &[value, shift]);
        let mask = b.op(Op::Shl, &[ones, shift]);
        let rest = b.op(Op::Not, &[mask]);
        let merged = |b: &mut Builder, old| {
            let kept = b.op(Op::And, &[old, rest]);
            b.op(Op::Or, &[kept, value])
        };
        if mem.space == Space::Private {
            let place = Place { mem, at, ..place };
            let old = place.load(b);
            let new = merged(b, old);
            place.inst(b, Op::Store, &[new], &[]);
        } else {
            let scope = if mem.space == Space::Shared { Scope::Workgroup } else { Scope::Device };
            let mem = MemInfo { order: Order::Relaxed, scope, ..mem };
            exchange_rarely(b, Place { mem, at, ..place }, merged);
        }
    }

    /// A narrow value as a word, with zeros above it: `ones` are its bits.
    fn widened(&mut self, value: Value, kind: Kind, ones: Value) -> Value {
        let b = &mut self.b;
        if !kind.is_int() {
            let value = b.convert(Op::Bitcast, Flags::NONE, value, integer(kind));
            return b.convert(Op::Zext, Flags::NONE, value, Type::I32);
        }
        let def = b.func.def_inst(value).filter(|&def| b.func.insts[def].op == Op::TruncInt);
        match def.and_then(|def| b.func.args(def).first().copied()) {
            // Most are made of words.
            Some(word) if b.func.ty(word) == Type::I32 => b.op(Op::And, &[word, ones]),
            _ => b.convert(Op::Zext, Flags::NONE, value, Type::I32),
        }
    }

    fn atomic(&mut self, inst: Inst, mem: MemInfo, ty: Type) {
        let Code { b, numbers } = self;
        let Some((place, [operand])) = operands(b, inst, mem) else { return append(b, inst) };
        let op = b.func.insts[inst].op;
        let old = exchange(b, place, |b, old| next(b, numbers, op, ty, old, operand));
        become_op(b, inst, Op::Bitcast, old);
    }
}

/// What an atomic stores over `old`.
fn next(b: &mut Builder, numbers: &mut SharedConsts, op: Op, ty: Type, old: Value, operand: Value) -> Value {
    let mut number = |b: &mut Builder, n| numbers.get(b.func, Type::I32, n);
    match op {
        Op::AtomicIncWrap => {
            let (zero, one) = (number(b, 0), number(b, 1));
            let more = b.op(Op::Iadd, &[old, one]);
            let below = b.op(Op::IcmpUlt, &[old, operand]);
            b.select(below, more, zero)
        }
        Op::AtomicDecWrap => {
            let one = number(b, 1);
            let less = b.op(Op::Isub, &[old, one]);
            // 0 wraps to the largest number, which no operand is above.
            let inside = b.op(Op::IcmpUlt, &[less, operand]);
            b.select(inside, less, operand)
        }
        Op::AtomicSmin => b.op(Op::Imin, &[old, operand]),
        Op::AtomicSmax => b.op(Op::Imax, &[old, operand]),
        _ => {
            let old = b.convert(Op::Bitcast, Flags::NONE, old, ty);
            let sum = b.op(Op::Fadd, &[old, operand]);
            b.convert(Op::Bitcast, Flags::NONE, sum, Type::I32)
        }
    }
}

/// Exchanges the word at a place for what `new` makes of it until nobody came between; goes on behind the loop and gives
/// the old word.
fn exchange(b: &mut Builder, place: Place, new: impl FnOnce(&mut Builder, Value) -> Value) -> Value {
    let seen = relaxed(place).load(b);
    let (round, after) = (b.func.add_block(), b.func.add_block());
    let old = b.func.add_param(round, Type::I32);
    b.jump(round, &[seen]);
    b.switch_to(round);
    let new = new(b, old);
    let (seen, done) = attempt(b, place, old, new);
    b.branch(done, (after, &[]), (round, &[seen]));
    b.switch_to(after);
    old
}

/// [`exchange`] of a word that others seldom change meanwhile: each round loads it again, so that the loop carries no value.
fn exchange_rarely(b: &mut Builder, place: Place, new: impl FnOnce(&mut Builder, Value) -> Value) {
    let (round, after) = (b.func.add_block(), b.func.add_block());
    b.jump(round, &[]);
    b.switch_to(round);
    let old = relaxed(place).load(b);
    let new = new(b, old);
    let (_, done) = attempt(b, place, old, new);
    b.branch(done, (after, &[]), (round, &[]));
    b.switch_to(after);
}

fn relaxed(place: Place) -> Place {
    Place { mem: MemInfo { order: Order::Relaxed, ..place.mem }, ..place }
}

/// Exchanges a word if it is still `old`; gives what was there, and whether that was `old`.
fn attempt(b: &mut Builder, place: Place, old: Value, new: Value) -> (Value, Value) {
    let exchanged = place.inst(b, Op::AtomicCmpxchg, &[old, new], &[Type::I32]);
    let seen = b.func.results(exchanged)[0];
    (seen, b.op(Op::IcmpEq, &[seen, old]))
}
