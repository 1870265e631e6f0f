//! A function's body over a given graph.
//!
//! Each node becomes a block, or two where a cycle passes: one that counts down and may leave, one with the ops. What
//! an op may use are the values of the blocks that dominate it, found by their type. An accumulator goes along all
//! edges with the counter; both are block parameters, or slots in some functions.

use super::ops::{Family, allowed};
use super::{IN_WORDS, OUT_WORDS, Options, values};
use crate::rng::Rng;
use xenoglot_ir::analysis::{Cfg, Dominators};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::flags::Flags;
use xenoglot_ir::fold::float;
use xenoglot_ir::op::Class;
use xenoglot_ir::{
    Bits, Block, Builder, Edge, Func, Function, Kind, MemInfo, NO_GUEST, Op, Resource, Slot, Space, TermKind,
    Type, Value, Var,
};

/// The kernel's connections.
pub(super) struct Memory {
    pub(super) id: Var,
    pub(super) input: Resource,
    pub(super) output: Resource,
}

/// A function that can be called.
pub(super) struct Signature {
    pub(super) func: Func,
    pub(super) params: Vec<Type>,
    pub(super) returns: Vec<Type>,
}

impl Signature {
    pub(super) fn random(func: Func, rng: &mut Rng, options: &Options) -> Signature {
        let mut types = |n: u32| (0..n).filter_map(|_| random_type(rng, options, Class::Number)).collect();
        Signature { func, params: types(3), returns: types(2) }
    }
}

/// A function that computes what `signature` says.
pub(super) fn helper(
    rng: &mut Rng,
    options: &Options,
    signature: &Signature,
    succs: &[Vec<u32>],
) -> Function {
    let mut f = Function::new(format!("helper{}", signature.func.as_u32()));
    f.returns = signature.returns.clone();
    let entry = f.add_block();
    let params: Vec<Value> = signature.params.iter().map(|&ty| f.add_param(entry, ty)).collect();
    let mut body = Body::new(rng, options, &[], f, entry);
    body.own[entry] = params;
    body.function(succs, options.iterations.div_ceil(8))
}

/// The entry function.
pub(super) fn main(
    rng: &mut Rng,
    options: &Options,
    callees: &[Signature],
    memory: &Memory,
    succs: &[Vec<u32>],
) -> Function {
    let mut f = Function::new("main");
    let entry = f.add_block();
    let mut body = Body::new(rng, options, callees, f, entry);
    body.connect(memory);
    body.function(succs, options.iterations)
}

/// A random type of the class with kinds that the options allow; `None` if there is no such kind.
pub(super) fn random_type(rng: &mut Rng, options: &Options, class: Class) -> Option<Type> {
    let kind = random_kind(rng, options, |kind| class.has(kind))?;
    let lanes = if options.has(Family::Vector) && rng.percent(35) { 2 + rng.below(3) as u8 } else { 1 };
    Type::new(kind, lanes)
}

pub(super) fn random_kind(rng: &mut Rng, options: &Options, fits: impl Fn(Kind) -> bool) -> Option<Kind> {
    let floats = [Family::Float, Family::FloatPick, Family::FloatConvert].into_iter().any(|f| options.has(f));
    let common = [Kind::Bool, Kind::I32, Kind::I32, Kind::F32, Kind::F32];
    let kinds: Vec<Kind> = common
        .into_iter()
        .chain(options.kinds.iter().copied())
        .filter(|&kind| fits(kind) && (floats || !kind.is_float()))
        .collect();
    rng.pick(&kinds).copied()
}

/// Where the counter and the accumulator are.
#[derive(Clone, Copy)]
enum State {
    Params,
    Slots { fuel: Slot, acc: Slot },
}

/// A part of a buffer that belongs to the invocation.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) resource: Resource,
    /// Byte offset of its start.
    pub(super) base: Value,
}

pub(super) struct Body<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) options: &'a Options,
    pub(super) callees: &'a [Signature],
    pub(super) ops: Vec<Op>,
    pub(super) f: Function,
    block: Block,
    /// Values by the block that defines them.
    own: SecondaryMap<Block, Vec<Value>>,
    /// Values that can be used in the current block.
    pool: Vec<Value>,
    pub(super) slots: Vec<Slot>,
    state: State,
    /// Counter and accumulator in the current block, if they are not in slots.
    fuel: Option<Value>,
    acc: Option<Value>,
    /// What they are at the end of a block.
    left: SecondaryMap<Block, [Option<Value>; 2]>,
    /// How many of a block's first parameters are the accumulator, or counter and accumulator.
    carries: SecondaryMap<Block, u32>,
    pub(super) parts: Option<[Part; 2]>,
}

impl<'a> Body<'a> {
    fn new(
        rng: &'a mut Rng,
        options: &'a Options,
        callees: &'a [Signature],
        mut f: Function,
        entry: Block,
    ) -> Body<'a> {
        let slots = options.has(Family::Slots);
        let state = if slots && rng.percent(40) {
            State::Slots { fuel: f.add_slot("fuel", Type::I32), acc: f.add_slot("acc", Type::I32) }
        } else {
            State::Params
        };
        let count = if slots { rng.below(4) } else { 0 };
        let slots = (0..count)
            .filter_map(|n| Some(f.add_slot(format!("r{n}"), random_type(rng, options, Class::Number)?)))
            .collect();
        Body {
            rng,
            options,
            callees,
            ops: allowed(options),
            f,
            block: entry,
            own: SecondaryMap::new(),
            pool: Vec::new(),
            slots,
            state,
            fuel: None,
            acc: None,
            left: SecondaryMap::new(),
            carries: SecondaryMap::new(),
            parts: None,
        }
    }

    pub(super) fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.f, self.block)
    }

    /// Makes `v` available to what follows.
    pub(super) fn keep(&mut self, v: Value) {
        self.pool.push(v);
        self.own[self.block].push(v);
    }

    /// Finds the invocation's parts of the buffers and reads some of the input.
    fn connect(&mut self, memory: &Memory) {
        let xyz = Type::new(Kind::I32, 3).unwrap_or(Type::I32);
        let mut b = self.b();
        let id = b.input(memory.id, xyz);
        let x = b.extract(id, 0);
        let parts = [(memory.input, IN_WORDS), (memory.output, OUT_WORDS)].map(|(resource, words)| {
            let bytes = b.i32(4 * words);
            let base = b.op(Op::Imul, &[x, bytes]);
            Part { resource, base }
        });
        self.keep(x);
        self.parts = Some(parts);
        for _ in 0..4 {
            self.load_input();
        }
    }

    /// Everything from the end of the entry block on.
    fn function(mut self, succs: &[Vec<u32>], iterations: u32) -> Function {
        let start = self.block;
        let params = match self.state {
            State::Params => 2,
            State::Slots { .. } => 0,
        };
        let done = self.f.add_block();
        self.add_params(done, params / 2, 0);
        // A cycle of the graph has an edge that does not lead forward in any numbering.
        let counts: Vec<bool> = (0..succs.len() as u32)
            .map(|n| (n..).zip(&succs[n as usize..]).any(|(_, to)| to.contains(&n)))
            .collect();
        let heads: Vec<Block> = succs.iter().map(|_| self.f.add_block()).collect();
        let bodies: Vec<Block> = heads
            .iter()
            .zip(&counts)
            .map(|(&head, &counts)| {
                let extra = self.rng.below(4);
                self.add_params(head, params, extra);
                if !counts {
                    return head;
                }
                let body = self.f.add_block();
                let extra = self.rng.below(2);
                self.add_params(body, 0, extra);
                body
            })
            .collect();

        // Edges without arguments first: what dominates what decides which values there are to choose from.
        self.shape(start, TermKind::Jump, &heads[..1]);
        for (n, to) in succs.iter().enumerate() {
            if counts[n] {
                self.shape(heads[n], TermKind::Branch, &[done, bodies[n]]);
            }
            let to: Vec<Block> = to.iter().map(|&t| heads[t as usize]).collect();
            match to.len() {
                0 => self.shape(bodies[n], TermKind::Jump, &[done]),
                1 => self.shape(bodies[n], TermKind::Jump, &to),
                _ => self.shape(bodies[n], TermKind::Switch, &to),
            }
        }
        let (mut cfg, mut dominators) = (Cfg::default(), Dominators::default());
        cfg.compute(&self.f);
        dominators.compute(&cfg);

        self.start(iterations);
        self.jump(heads[0]);
        let node_of = |block: Block| heads.iter().zip(&bodies).position(|(&h, &b)| h == block || b == block);
        for &block in cfg.rpo().iter().skip(1) {
            self.enter(block, &dominators);
            match node_of(block) {
                None => self.finish(),
                Some(n) if counts[n] && block == heads[n] => self.count_down(done, bodies[n]),
                Some(n) => {
                    if counts[n] {
                        [self.fuel, self.acc] = self.left[heads[n]];
                    }
                    let to: Vec<Block> = succs[n].iter().map(|&t| heads[t as usize]).collect();
                    self.node(&to, done);
                }
            }
        }
        // Where all nodes end by themselves nothing leads to `done` any more.
        cfg.compute(&self.f);
        self.f.layout.retain(|&b| cfg.is_reachable(b));
        self.f
    }

    fn add_params(&mut self, block: Block, state: u32, extra: u32) {
        self.carries[block] = state;
        for _ in 0..state {
            self.f.add_param(block, Type::I32);
        }
        for _ in 0..extra {
            if let Some(ty) = random_type(self.rng, self.options, Class::Number) {
                self.f.add_param(block, ty);
            }
        }
    }

    fn shape(&mut self, block: Block, kind: TermKind, to: &[Block]) {
        let edges = to.iter().map(|&t| self.f.make_edge(t, &[])).collect();
        self.f.set_term(block, kind, &[], edges, Vec::new(), NO_GUEST);
    }

    /// Goes to `block`, all of whose dominators are done.
    fn enter(&mut self, block: Block, dominators: &Dominators) {
        self.block = block;
        self.own[block] = self.f.params(block).to_vec();
        self.pool.clear();
        let mut at = Some(block);
        while let Some(b) = at {
            self.pool.extend(&self.own[b]);
            at = dominators.idom(b);
        }
        // The block's own values last, where they are likelier to be picked.
        self.pool.reverse();
        let params = self.f.params(block);
        (self.fuel, self.acc) = match self.carries[block] {
            2 => (params.first().copied(), params.get(1).copied()),
            1 => (None, params.first().copied()),
            _ => (None, None),
        };
    }

    fn start(&mut self, iterations: u32) {
        let (fuel, acc) = {
            let mut b = self.b();
            (b.i32(iterations.max(1)), b.i32(0x9e37_79b9))
        };
        self.set_state(fuel, acc);
    }

    fn set_state(&mut self, fuel: Value, acc: Value) {
        match self.state {
            State::Params => (self.fuel, self.acc) = (Some(fuel), Some(acc)),
            State::Slots { fuel: f, acc: a } => {
                let mut b = self.b();
                b.slot_set(f, fuel);
                b.slot_set(a, acc);
            }
        }
    }

    fn fuel(&mut self) -> Value {
        match (self.state, self.fuel) {
            (State::Slots { fuel, .. }, _) => self.b().slot_get(fuel),
            (State::Params, Some(fuel)) => fuel,
            (State::Params, None) => self.b().i32(1),
        }
    }

    fn acc(&mut self) -> Value {
        match (self.state, self.acc) {
            (State::Slots { acc, .. }, _) => self.b().slot_get(acc),
            (State::Params, Some(acc)) => acc,
            (State::Params, None) => self.b().i32(0),
        }
    }

    fn set_acc(&mut self, v: Value) {
        match self.state {
            State::Params => self.acc = Some(v),
            State::Slots { acc, .. } => self.b().slot_set(acc, v),
        }
    }

    /// An edge to `to` with an argument for each of its parameters.
    fn edge(&mut self, to: Block) -> Edge {
        let types: Vec<Type> = self.f.params(to).iter().map(|&p| self.f.ty(p)).collect();
        let carries = self.carries[to];
        let mut args = Vec::with_capacity(types.len());
        if carries == 2 {
            args.push(self.fuel());
        }
        if carries >= 1 {
            args.push(self.acc());
        }
        for &ty in &types[args.len()..] {
            args.push(self.value(ty));
        }
        self.f.make_edge(to, &args)
    }

    fn end(&mut self, kind: TermKind, args: &[Value], edges: Vec<Edge>, cases: Vec<u64>) {
        self.left[self.block] = [self.fuel, self.acc];
        self.f.set_term(self.block, kind, args, edges.into(), cases, NO_GUEST);
    }

    fn jump(&mut self, to: Block) {
        let edge = self.edge(to);
        self.end(TermKind::Jump, &[], vec![edge], Vec::new());
    }

    /// Takes one from the counter; leaves for `done` when that makes it zero.
    fn count_down(&mut self, done: Block, body: Block) {
        let fuel = self.fuel();
        let acc = self.acc();
        let mut b = self.b();
        let (one, zero) = (b.i32(1), b.i32(0));
        let fuel = b.op(Op::Isub, &[fuel, one]);
        let out = b.op(Op::IcmpEq, &[fuel, zero]);
        self.set_state(fuel, acc);
        let edges = vec![self.edge(done), self.edge(body)];
        self.end(TermKind::Branch, &[out], edges, Vec::new());
    }

    /// The ops of a node, and how it ends.
    fn node(&mut self, to: &[Block], done: Block) {
        for _ in 0..self.rng.below(self.options.ops + 1) {
            self.step();
        }
        if self.rng.percent(70) {
            self.mix();
        }
        match *to {
            [] if self.rng.percent(50) => self.finish(),
            [] => self.jump(done),
            [to] => self.jump(to),
            [yes, no] if !self.options.has(Family::Switches) || self.rng.percent(70) => {
                let condition = self.condition();
                let edges = vec![self.edge(yes), self.edge(no)];
                self.end(TermKind::Branch, &[condition], edges, Vec::new());
            }
            _ => {
                let cases: Vec<u64> =
                    (0..to.len() as u64 - 1).map(|c| 2 * c + u64::from(self.rng.below(2))).collect();
                let (v, wide) = (self.value(Type::I32), 2 * to.len() as u32);
                let mut b = self.b();
                let wide = b.i32(wide);
                let v = b.op(Op::Urem, &[v, wide]);
                let edges = to.iter().map(|&t| self.edge(t)).collect();
                self.end(TermKind::Switch, &[v], edges, cases);
            }
        }
    }

    fn condition(&mut self) -> Value {
        if self.rng.percent(50) {
            return self.value(Type::BOOL);
        }
        let (acc, bit) = (self.acc(), 1 << self.rng.below(32));
        let mut b = self.b();
        let (bit, zero) = (b.i32(bit), b.i32(0));
        let masked = b.op(Op::And, &[acc, bit]);
        b.op(Op::IcmpNe, &[masked, zero])
    }

    /// Ends the function: the accumulator and some values go to the buffer, or are returned.
    fn finish(&mut self) {
        self.mix();
        let acc = self.acc();
        let Some([_, output]) = self.parts else {
            let returns = self.f.returns.clone();
            let values: Vec<Value> = returns
                .into_iter()
                .map(|ty| {
                    let v = self.value(ty);
                    if ty == Type::I32 { self.b().op(Op::Xor, &[v, acc]) } else { v }
                })
                .collect();
            return self.end(TermKind::Return, &values, Vec::new(), Vec::new());
        };
        for word in 0..HASHED {
            let v = if word == 0 { acc } else { self.some_word() };
            let mut b = self.b();
            let offset = b.i32(4 * word);
            let at = b.op(Op::Iadd, &[output.base, offset]);
            b.store(plain(output.resource), at, v);
        }
        self.end(TermKind::Return, &[], Vec::new(), Vec::new());
    }

    /// Mixes a value into the accumulator.
    fn mix(&mut self) {
        let (acc, word) = (self.acc(), self.some_word());
        let mut b = self.b();
        let odd = b.i32(0x0100_0193);
        let spread = b.op(Op::Imul, &[acc, odd]);
        let mixed = b.op(Op::Xor, &[spread, word]);
        self.set_acc(mixed);
    }

    /// The bits of some value as one word.
    fn some_word(&mut self) -> Value {
        match self.pick(|_| true) {
            Some(v) => self.word(v),
            None => self.b().i32(1),
        }
    }

    fn word(&mut self, v: Value) -> Value {
        let v = self.canonical(v);
        let ty = self.f.ty(v);
        let mut sum = None;
        for lane in 0..ty.lanes() {
            let mut b = self.b();
            let v = if ty.is_scalar() { v } else { b.extract(v, lane) };
            let bits = match ty.kind() {
                Kind::F16 => b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(Kind::I16)),
                Kind::F32 => b.convert(Op::Bitcast, Flags::NONE, v, Type::I32),
                Kind::F64 => b.convert(Op::Bitcast, Flags::NONE, v, Type::I64),
                _ => v,
            };
            let word = match b.func.ty(bits).kind().bits() {
                32 => bits,
                64 => {
                    let half = b.constant(Type::I64, Bits::scalar(32));
                    let high = b.op(Op::Ushr, &[bits, half]);
                    let both = b.op(Op::Xor, &[bits, high]);
                    b.convert(Op::TruncInt, Flags::NONE, both, Type::I32)
                }
                _ => b.convert(Op::Zext, Flags::NONE, bits, Type::I32),
            };
            sum = Some(match sum {
                None => word,
                Some(sum) => {
                    let odd = b.i32(31);
                    let spread = b.op(Op::Imul, &[sum, odd]);
                    b.op(Op::Iadd, &[spread, word])
                }
            });
        }
        match sum {
            Some(word) => word,
            None => self.b().i32(0),
        }
    }

    /// `v` with the canonical NaN for any NaN: hosts may differ in its bits.
    pub(super) fn canonical(&mut self, v: Value) -> Value {
        let ty = self.f.ty(v);
        if !ty.kind().is_float() {
            return v;
        }
        // By its bits: drivers that were not told to keep NaNs take `x != x ? nan : x` for `x`.
        let int = bits_of(ty);
        let mut b = self.b();
        let [nan, infinity, magnitude] = [float::nan(ty.kind()), infinity(ty.kind()), int.kind().mask() >> 1]
            .map(|bits| b.constant(int, Bits::splat(int, bits)));
        let bits = b.convert(Op::Bitcast, Flags::NONE, v, int);
        let size = b.op(Op::And, &[bits, magnitude]);
        let is_nan = b.op(Op::IcmpUlt, &[infinity, size]);
        let bits = b.select(is_nan, nan, bits);
        b.convert(Op::Bitcast, Flags::NONE, bits, ty)
    }

    /// `v` with zeros of its sign for what is too small; see [`super`].
    pub(super) fn tame(&mut self, v: Value) -> Value {
        let ty = self.f.ty(v);
        let mut b = self.b();
        let least = b.constant(ty, Bits::splat(ty, values::least(ty.kind())));
        let size = b.op(Op::Fabs, &[v]);
        let small = b.op(Op::FcmpOlt, &[size, least]);
        // By its bits: drivers that were not told to keep the signs of zeros take `x * 0` for `0`.
        let int = bits_of(ty);
        let sign = b.constant(int, Bits::splat(int, int.kind().mask() & !(int.kind().mask() >> 1)));
        let bits = b.convert(Op::Bitcast, Flags::NONE, v, int);
        let signed = b.op(Op::And, &[bits, sign]);
        let signed = b.convert(Op::Bitcast, Flags::NONE, signed, ty);
        b.select(small, signed, v)
    }

    /// A value of the pool, later ones likelier.
    pub(super) fn pick(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let found: Vec<Value> = self.pool.iter().copied().filter(|&v| fits(self.f.ty(v))).collect();
        let n = found.len() as u32;
        let at = self.rng.below(n).max(self.rng.below(n));
        found.get(at as usize).copied()
    }

    pub(super) fn constant(&mut self, ty: Type) -> Value {
        let bits = values::constant(self.rng, ty, self.options.denormals);
        self.b().constant(ty, bits)
    }

    /// A value of type `ty`: one of the pool, mostly.
    pub(super) fn value(&mut self, ty: Type) -> Value {
        if self.rng.percent(88)
            && let Some(v) = self.pick(|t| t == ty)
        {
            return v;
        }
        let lane = if ty.is_scalar() { None } else { self.pick(|t| t == ty.lane()) };
        match lane {
            Some(lane) => self.b().splat(lane, ty.lanes()),
            None => self.constant(ty),
        }
    }
}

/// Words of the output that the end of the program writes; the others are for stores in its middle.
pub(super) const HASHED: u32 = 4;

pub(super) fn plain(resource: Resource) -> MemInfo {
    MemInfo::plain(Space::Storage, Some(resource), 2)
}

/// The integers as wide as floats.
fn bits_of(ty: Type) -> Type {
    ty.with_kind(match ty.kind() {
        Kind::F16 => Kind::I16,
        Kind::F64 => Kind::I64,
        _ => Kind::I32,
    })
}

/// The bits of infinity.
fn infinity(kind: Kind) -> u64 {
    match kind {
        Kind::F16 => 0x7c00,
        Kind::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    }
}
