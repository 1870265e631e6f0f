//! Random modules that give every pass something to do, and how to run and compare them.

use xenoglot_interp::{Bindings, Cause, Interpreter, Limits};
use xenoglot_ir::fold::{Fold, float};
use xenoglot_ir::imm::{Imm, Lanes, MemInfo, Space};
use xenoglot_ir::module::{
    Access, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic, VarData,
};
use xenoglot_ir::op::{Class, OPS, OpInfo, Sig};
use xenoglot_ir::{
    Bits, Block, Builder, DivZero, Flags, Function, Kind, Module, NanMode, Op, Resource, Slot, Stage, Type,
    Value, Var,
};
use xenoglot_testgen::cfg::{self, Succs};
use xenoglot_testgen::rng::Rng;

/// What the modules are connected to.
pub const INPUTS: [Type; 2] = [Type::F32X4, Type::I32];
pub const OUTPUTS: [Type; 3] = [Type::F32X4, Type::I32, Type::F32];

struct Gen<'r> {
    rng: &'r mut Rng,
    types: Vec<Type>,
    ops: Vec<&'static OpInfo>,
    slots: Vec<(Slot, Type)>,
    /// Values of the entry, and from `local` on those of the block at hand.
    pool: Vec<(Value, Type)>,
    inputs: Vec<Var>,
    outputs: Vec<Var>,
    uniform: Resource,
    storage: Resource,
}

/// A module with one function `main`, of a random graph of up to `max_blocks` blocks.
pub fn random_module(rng: &mut Rng, max_blocks: u32) -> Module {
    // No edge leads to the entry.
    let mut succs: Succs = vec![vec![1]];
    succs.extend(cfg::random(rng, max_blocks).into_iter().map(|out| out.iter().map(|t| t + 1).collect()));
    let mut module = Module::new(Stage::Vertex, "random");
    let var = |module: &mut Module, n: usize, direction, ty| {
        module.vars.push(VarData {
            name: format!("{}{n}", if direction == Direction::Input { "in" } else { "out" }),
            direction,
            ty,
            semantic: Semantic::Location { location: n as u32, component: 0 },
            interpolation: Interpolation::Smooth,
            array: None,
            inner: None,
            stream: 0,
        })
    };
    let inputs = INPUTS.iter().enumerate().map(|(n, &t)| var(&mut module, n, Direction::Input, t)).collect();
    let outputs =
        OUTPUTS.iter().enumerate().map(|(n, &t)| var(&mut module, n, Direction::Output, t)).collect();
    let oob = [OutOfBounds::Zero, OutOfBounds::Fault][rng.below(2) as usize];
    let mut resource = |name: &str, kind, binding| {
        module.resources.push(ResourceData {
            name: name.into(),
            kind,
            set: 0,
            binding,
            count: Count::One,
            oob,
        })
    };
    let uniform = resource("regs", ResourceKind::UniformBuffer { size: 64 }, 0);
    let storage = resource("data", ResourceKind::StorageBuffer { access: Access::ReadWrite }, 1);
    let vec2 = |k| Type::new(k, 2).unwrap();
    let types = vec![
        Type::F32,
        Type::F32X4,
        Type::I32,
        Type::BOOL,
        vec2(Kind::F32),
        Type::I64,
        vec2(Kind::I32),
        Type::scalar(Kind::I8),
        Type::scalar(Kind::F64),
        vec2(Kind::Bool),
        Type::I32X4,
    ];
    let ops = OPS.iter().filter(|r| r.traits.pure && !matches!(r.fold, Fold::None) && !r.traits.convergent);
    let mut g = Gen {
        rng,
        types,
        ops: ops.collect(),
        slots: Vec::new(),
        pool: Vec::new(),
        inputs,
        outputs,
        uniform,
        storage,
    };
    let f = g.function(&succs);
    let main = module.funcs.push(f);
    module.entry = main.into();
    module
}

impl Gen<'_> {
    fn function(&mut self, succs: &Succs) -> Function {
        let mut f = Function::new("main");
        let blocks: Vec<Block> = succs.iter().map(|_| f.add_block()).collect();
        for n in 0..2 + self.rng.below(8) {
            let ty = self.types[self.rng.below(7) as usize];
            self.slots.push((f.add_slot(format!("r{n}"), ty), ty));
        }
        for &b in &blocks[1..] {
            for _ in 0..self.rng.below(3) {
                let ty = self.types[self.rng.below(7) as usize];
                f.add_param(b, ty);
            }
        }
        let mut entry_values = 0;
        for (n, next) in succs.iter().enumerate() {
            self.pool.truncate(entry_values);
            self.pool.extend(f.params(blocks[n]).iter().map(|&v| (v, f.ty(v))));
            let mut b = Builder::new(&mut f, blocks[n]);
            for _ in 0..self.rng.below(7) {
                self.statement(&mut b);
            }
            let targets: Vec<Block> = next.iter().map(|&t| blocks[t as usize]).collect();
            self.terminator(&mut b, &targets);
            if n == 0 {
                entry_values = self.pool.len();
            }
        }
        f
    }

    fn statement(&mut self, b: &mut Builder<'_>) {
        match self.rng.below(12) {
            0..=3 if !self.slots.is_empty() => {
                let (slot, ty) = *self.rng.pick(&self.slots).unwrap();
                let v = self.value(b, ty);
                b.slot_set(slot, v);
            }
            4 => {
                let n = self.rng.below(OUTPUTS.len() as u32) as usize;
                let v = self.value(b, OUTPUTS[n]);
                b.output(self.outputs[n], v);
            }
            5 => {
                let at = b.i32(4 * self.rng.below(16));
                let v = self.value(b, Type::I32);
                b.store(MemInfo::plain(Space::Storage, Some(self.storage), 2), at, v);
            }
            6 => {
                let offset = 4 * self.rng.below(20); // some outside
                let at = b.i32(offset);
                let (space, r) = [(Space::Uniform, self.uniform), (Space::Storage, self.storage)]
                    [self.rng.below(2) as usize];
                let ty = [Type::F32, Type::I32, Type::I32X4][self.rng.below(3) as usize];
                let v = b.load(MemInfo::plain(space, Some(r), 2), at, ty);
                self.pool.push((v, ty));
            }
            7 => {
                let n = self.rng.below(2) as usize;
                let v = b.input(self.inputs[n], INPUTS[n]);
                self.pool.push((v, INPUTS[n]));
            }
            _ => self.operation(b),
        }
    }

    fn operation(&mut self, b: &mut Builder<'_>) {
        let info = *self.rng.pick(&self.ops).unwrap();
        let class = |g: &mut Self, c: Class| loop {
            let ty = g.types[g.rng.below(g.types.len() as u32) as usize];
            if c.has(ty.kind()) {
                return ty;
            }
        };
        let flags = self.flags(info.flags);
        let (args, ty, imm): (Vec<Type>, Type, Imm) = match info.sig {
            Sig::Same(n, c) => {
                let ty = class(self, c);
                let imm = match info.op {
                    Op::Fquantize => Imm::Format(xenoglot_ir::imm::FloatFormat::F24),
                    _ => Imm::None,
                };
                (vec![ty; n.into()], ty, imm)
            }
            Sig::Test(n, c) => {
                let ty = class(self, c);
                (vec![ty; n.into()], ty.with_kind(Kind::Bool), Imm::None)
            }
            Sig::CarryIn | Sig::CarryOut => {
                let ty = class(self, Class::Int);
                let carry = ty.with_kind(Kind::Bool);
                (vec![ty, ty, carry], if info.sig == Sig::CarryIn { ty } else { carry }, Imm::None)
            }
            Sig::Convert(from, to, width) => {
                let from = class(self, from);
                let to = from.with_kind(class(self, to).kind());
                if !width.allows(from.kind(), to.kind()) {
                    return;
                }
                (vec![from], to, Imm::None)
            }
            Sig::Select => {
                let ty = class(self, Class::Number);
                let cond = if self.rng.percent(50) { Type::BOOL } else { ty.with_kind(Kind::Bool) };
                (vec![cond, ty, ty], ty, Imm::None)
            }
            Sig::Splat => {
                let ty = [Type::F32X4, Type::I32X4][self.rng.below(2) as usize];
                (vec![ty.lane()], ty, Imm::None)
            }
            Sig::Build => {
                let n = 2 + self.rng.below(3) as u8;
                (vec![Type::F32; n.into()], Type::new(Kind::F32, n).unwrap(), Imm::None)
            }
            Sig::Extract => (vec![Type::F32X4], Type::F32, Imm::Lane(self.rng.below(4) as u8)),
            Sig::Insert => (vec![Type::F32X4, Type::F32], Type::F32X4, Imm::Lane(self.rng.below(4) as u8)),
            Sig::Shuffle => {
                let n = 2 + self.rng.below(3) as usize;
                let pick: Vec<u8> = (0..n).map(|_| (self.rng.below(8)) as u8).collect();
                let ty = Type::new(Kind::F32, n as u8).unwrap();
                (vec![Type::F32X4; 2], ty, Imm::Lanes(Lanes::new(&pick).unwrap()))
            }
            Sig::Dot(n) => {
                let Some(ty) = Type::new(Kind::F32, n) else { return };
                (vec![ty; 2], Type::F32, Imm::None)
            }
            Sig::LoadExp => (vec![Type::F32, Type::I32], Type::F32, Imm::None),
            Sig::ExtractExp => (vec![Type::F32], Type::I32, Imm::None),
            _ => return,
        };
        // What the reference does not evaluate cannot be compared.
        let f64s = args[0].kind() == Kind::F64;
        let of_bytes = matches!(info.op, Op::PermuteBytes | Op::Sdot4 | Op::Udot4 | Op::SUdot4);
        if of_bytes && args[0].kind() != Kind::I32
            || info.op == Op::Fquantize && args[0].kind() != Kind::F32
            || matches!(info.op, Op::FfrexpMant) && f64s
        {
            return;
        }
        let args: Vec<Value> = args.into_iter().map(|ty| self.value(b, ty)).collect();
        let inst = b.inst(info.op, flags, imm, &args, &[ty]);
        self.pool.push((b.func.result(inst).unwrap(), ty));
    }

    fn flags(&mut self, allowed: Flags) -> Flags {
        let all = [
            Flags::NONE.with_ftz(),
            Flags::NONE.with_zero_wins(),
            Flags::NONE.with_zero_wins(),
            Flags::NONE.with_fmz(),
            Flags::NONE.with_sat(),
            Flags::NONE.with_contract(),
            Flags::NONE.with_clamp(),
            Flags::NONE.with_nan(NanMode::Second),
            Flags::NONE.with_nan(NanMode::Propagate),
            Flags::NONE.with_div_zero(DivZero::Trap),
            Flags::NONE.with_div_zero(DivZero::Ones),
        ];
        let mut flags = Flags::NONE;
        if self.rng.percent(40) {
            let f = all[self.rng.below(all.len() as u32) as usize];
            if f.within(allowed) {
                flags = f;
            }
        }
        flags
    }

    /// A value of type `ty`: one at hand, a register's, a constant, or a new vector.
    fn value(&mut self, b: &mut Builder<'_>, ty: Type) -> Value {
        let here: Vec<Value> = self.pool.iter().filter(|p| p.1 == ty).map(|p| p.0).collect();
        if !here.is_empty() && self.rng.percent(65) {
            // Newer values are likelier, so that chains get long.
            let n = here.len() as u32;
            return here[self.rng.below(n).max(self.rng.below(n)) as usize];
        }
        let slots: Vec<Slot> = self.slots.iter().filter(|s| s.1 == ty).map(|s| s.0).collect();
        let v = if let Some(&slot) = self.rng.pick(&slots)
            && self.rng.percent(50)
        {
            b.slot_get(slot)
        } else {
            self.constant(b, ty)
        };
        self.pool.push((v, ty));
        v
    }

    fn constant(&mut self, b: &mut Builder<'_>, ty: Type) -> Value {
        const F: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, f64::INFINITY, f64::NAN, 1e-40];
        let same = self.rng.percent(50);
        let mut lanes = [0u64; 4];
        for i in 0..usize::from(ty.lanes()) {
            lanes[i] = if same && i > 0 {
                lanes[0]
            } else {
                match ty.kind() {
                    Kind::F32 => u64::from((F[self.rng.below(9) as usize] as f32).to_bits()),
                    Kind::F64 => F[self.rng.below(9) as usize].to_bits(),
                    Kind::Bool => u64::from(self.rng.below(2)),
                    k => {
                        [0, 1, 2, 3, 8, 31, 32, u64::MAX, 0x8000_0000, self.rng.next_u64()]
                            [self.rng.below(10) as usize]
                            & k.mask()
                    }
                }
            };
        }
        b.constant(ty, Bits(lanes))
    }

    fn terminator(&mut self, b: &mut Builder<'_>, targets: &[Block]) {
        let args: Vec<Vec<Value>> = targets
            .iter()
            .map(|&t| {
                let types: Vec<Type> = b.func.params(t).iter().map(|&v| b.func.ty(v)).collect();
                types.into_iter().map(|ty| self.value(b, ty)).collect()
            })
            .collect();
        match *targets {
            [] => {
                let mut sum = b.i32(0x1234_5678);
                for n in 0..self.slots.len() {
                    let (slot, ty) = self.slots[n];
                    let v = b.slot_get(slot);
                    sum = mix(b, sum, v, ty);
                }
                let recent = self.pool.len().saturating_sub(12);
                for n in recent..self.pool.len() {
                    sum = mix(b, sum, self.pool[n].0, self.pool[n].1);
                }
                let at = b.i32(60);
                b.store(MemInfo::plain(Space::Storage, Some(self.storage), 2), at, sum);
                for (n, ty) in OUTPUTS.into_iter().enumerate() {
                    let v = self.value(b, ty);
                    b.output(self.outputs[n], v);
                }
                b.ret(&[]);
            }
            [t] => b.jump(t, &args[0]),
            [t, e] => {
                let cond = self.value(b, Type::BOOL);
                b.branch(cond, (t, &args[0]), (e, &args[1]));
            }
            [.., last] => {
                let v = self.value(b, Type::I32);
                let cases: Vec<(u64, Block, &[Value])> = targets[..targets.len() - 1]
                    .iter()
                    .enumerate()
                    .map(|(i, &t)| (i as u64, t, args[i].as_slice()))
                    .collect();
                b.switch(v, &cases, (last, &args[targets.len() - 1]));
            }
        }
    }
}

/// `31 * sum` plus every bit of `v`, all NaNs being equal.
fn mix(b: &mut Builder<'_>, sum: Value, v: Value, ty: Type) -> Value {
    let mut sum = sum;
    for lane in 0..ty.lanes() {
        let x = if ty.is_scalar() { v } else { b.extract(v, lane) };
        let bits = match ty.kind() {
            Kind::F32 | Kind::F64 => {
                let int = if ty.kind() == Kind::F32 { Type::I32 } else { Type::I64 };
                let ord = b.op(Op::FcmpOrd, &[x, x]);
                let raw = b.convert(Op::Bitcast, Flags::NONE, x, int);
                let nan = b.constant(int, Bits::scalar(12345));
                let same = b.select(ord, raw, nan);
                if int == Type::I64 { b.convert(Op::TruncInt, Flags::NONE, same, Type::I32) } else { same }
            }
            Kind::I64 => b.convert(Op::TruncInt, Flags::NONE, x, Type::I32),
            Kind::I32 => x,
            _ => b.convert(Op::Zext, Flags::NONE, x, Type::I32),
        };
        let factor = b.i32(31);
        let scaled = b.op(Op::Imul, &[sum, factor]);
        sum = b.op(Op::Iadd, &[scaled, bits]);
    }
    sum
}

/// What can be seen of a run from outside.
#[derive(PartialEq, Debug)]
pub struct Seen {
    end: Result<xenoglot_interp::End, &'static str>,
    outputs: Vec<Vec<Bits>>,
    data: Vec<u32>,
}

/// Runs the entry; `None` if it takes more than `fuel` or does what the reference does not evaluate.
pub fn run(module: &Module, fuel: u64) -> Option<Seen> {
    let mut interp = Interpreter::new(module).unwrap_or_else(|e| panic!("{e}"));
    let mut bindings = Bindings::new(module);
    for (v, data) in &module.vars {
        if data.direction == Direction::Input {
            let lanes = if data.ty == Type::I32 {
                [5, 0, 0, 0]
            } else {
                Bits::f32x4([1.5, -0.0, f32::INFINITY, 3e-39]).0
            };
            bindings.set_input(v, Bits(lanes));
        }
    }
    for (r, data) in &module.resources {
        let words: Vec<u32> = match data.kind {
            ResourceKind::UniformBuffer { .. } => (0..16).map(|i| (i as f32 - 3.0).to_bits()).collect(),
            _ => (0..16).collect(),
        };
        bindings.set_words(r, &words);
    }
    let end = match interp.run_entry(&mut bindings, &Limits { fuel, ..Limits::default() }) {
        Ok(outcome) => Ok(outcome.end),
        Err(trap) => match trap.cause {
            Cause::Fuel | Cause::Unsupported { .. } => return None,
            Cause::DivisionByZero => Err("division by zero"),
            _ => Err("other"),
        },
    };
    // The outputs of a faulting run are nobody's business, its stores are.
    let outputs = module.vars.iter().filter(|(_, d)| d.direction == Direction::Output && end.is_ok());
    let outputs =
        outputs.map(|(v, d)| bindings.output(v).iter().map(|&x| canonical(d.ty, x)).collect()).collect();
    let data = module.resources.iter().filter(|(_, d)| matches!(d.kind, ResourceKind::StorageBuffer { .. }));
    let data = data.flat_map(|(r, _)| bindings.words(r)).collect();
    Some(Seen { end, outputs, data })
}

/// NaNs are equal.
fn canonical(ty: Type, bits: Bits) -> Bits {
    let kind = ty.kind();
    if !kind.is_float() {
        return bits;
    }
    Bits(bits.0.map(|l| if float::is_nan(kind, l) { float::nan(kind) } else { l }))
}
