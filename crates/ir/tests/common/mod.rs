//! Modules of any shape, mostly unsound: what the text form has to carry and the verifier has to survive.

use proptest::prelude::*;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{
    BarrierInfo, Dim, FloatFormat, ImmKind, Order, QueryInfo, RayValue, Reduce, Scope, SubgroupInfo, TexInfo,
    TexOperands,
};
use xenoglot_ir::module::*;
use xenoglot_ir::op::OPS;
use xenoglot_ir::*;

/// A stream of choices; all zeros once it has run dry, which is the simplest choice everywhere.
struct Tape<'a>(std::slice::Iter<'a, u64>);

impl Tape<'_> {
    fn word(&mut self) -> u64 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.word() % n.max(1) as u64) as usize
    }

    fn flip(&mut self) -> bool {
        self.word() & 1 == 1
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn u32(&mut self) -> u32 {
        let shift = self.below(33);
        (self.word() as u32).checked_shr(shift as u32).unwrap_or(0)
    }

    fn ty(&mut self) -> Type {
        let kind = self.of(&Kind::ALL);
        Type::new(kind, 1 + self.below(4) as u8).unwrap_or(Type::scalar(kind))
    }

    fn name(&mut self, n: usize) -> String {
        match self.below(6) {
            0 => format!("odd name \"{n}\" \\ \n\u{1}é"),
            1 => format!("{n}"),
            2 => format!("block{n}"),
            _ => format!("name_{n}"),
        }
    }

    /// Any flags, made by the public constructors.
    fn flags(&mut self) -> Flags {
        let names =
            ["contract", "ftz", "zw", "fmz", "sat", "clamp", "nonuniform", "even", "zero", "up", "down"];
        let modes = ["second", "first", "propagate", "ones", "trap"];
        let mut flags = Flags::NONE;
        while self.below(3) == 2 {
            let name = if self.flip() { self.of(&names) } else { self.of(&modes) };
            flags = flags.parse_add(name).unwrap();
        }
        flags
    }
}

/// Modules from choices.
pub fn any_module() -> impl Strategy<Value = Module> {
    proptest::collection::vec(any::<u64>(), 0..600).prop_map(|tape| module(&mut Tape(tape.iter())))
}

fn module(t: &mut Tape) -> Module {
    let name = t.name(0);
    let mut m = Module::new(t.of(Stage::ALL), name);
    m.workgroup = [1 + t.u32() % 3, t.u32(), 1];
    m.shared_size = t.u32();
    for n in 0..t.below(4) {
        let semantic = if t.flip() {
            Semantic::Location { location: t.u32(), component: t.below(4) as u8 }
        } else {
            Semantic::Builtin(t.of(Builtin::ALL))
        };
        let var = m.vars.push(VarData {
            name: t.name(n),
            direction: t.of(Direction::ALL),
            ty: t.ty(),
            semantic,
            interpolation: t.of(Interpolation::ALL),
            array: t.flip().then(|| t.u32()),
            inner: t.flip().then(|| t.u32()),
            stream: t.below(5) as u8,
        });
        if t.flip() {
            m.captures.push(Capture { var, buffer: t.u32(), offset: t.u32(), stride: t.u32() });
        }
    }
    for n in 0..t.below(4) {
        let dim = t.of(Dim::ALL);
        let access = t.of(Access::ALL);
        let kind = match t.below(9) {
            0 => ResourceKind::UniformBuffer { size: t.u32() },
            1 => ResourceKind::StorageBuffer { access },
            2 => ResourceKind::PushConstants { size: t.u32() },
            3 => ResourceKind::Texture {
                dim,
                arrayed: t.flip(),
                multisampled: t.flip(),
                texel: t.of(Texel::ALL),
            },
            4 => ResourceKind::Sampler,
            5 => ResourceKind::Image {
                dim,
                arrayed: t.flip(),
                multisampled: t.flip(),
                access,
                format: t.of(ImageFormat::ALL),
            },
            6 => ResourceKind::AccelerationStructure,
            7 => ResourceKind::Payload { kind: t.of(PayloadKind::ALL), size: t.u32() },
            _ => ResourceKind::RayQuery,
        };
        m.resources.push(ResourceData {
            name: t.name(n),
            kind,
            set: t.u32(),
            binding: t.u32(),
            count: [Count::One, Count::Fixed(t.u32()), Count::Unbounded][t.below(3)],
            oob: t.of(OutOfBounds::ALL),
        });
    }
    let funcs = t.below(4);
    for n in 0..funcs {
        let name = t.name(n);
        let func = function(t, name, &m, funcs);
        m.funcs.push(func);
    }
    if funcs > 0 && t.flip() {
        m.entry = Func::new(t.below(funcs)).into();
    }
    m
}

fn function(t: &mut Tape, name: String, m: &Module, funcs: usize) -> Function {
    let mut f = Function::new(name);
    f.returns = (0..t.below(3)).map(|_| t.ty()).collect();
    f.private_size = t.u32();
    for n in 0..t.below(3) {
        let (name, ty) = (t.name(n), t.ty());
        f.add_slot(name, ty);
    }
    let blocks = t.below(5);
    let mut values = Vec::new();
    for _ in 0..blocks {
        let b = f.add_block();
        for _ in 0..t.below(3) {
            let ty = t.ty();
            values.push(f.add_param(b, ty));
        }
    }
    let all: Vec<Block> = f.layout.clone();
    let mut insts = Vec::new();
    for &b in &all {
        for _ in 0..t.below(6) {
            let row = &OPS[t.below(OPS.len())];
            let results: Vec<Type> = (0..t.below(3)).map(|_| t.ty()).collect();
            let Some(imm) = imm(t, row.imm, &mut f, m, funcs) else { continue };
            let (flags, guest) = (t.flags(), if t.flip() { t.u32() } else { NO_GUEST });
            let inst = f.make_inst(row.op, flags, imm, &[], &results, guest);
            f.blocks[b].insts.push(inst);
            values.extend_from_slice(f.results(inst));
            insts.push(inst);
        }
    }
    let some = |t: &mut Tape| -> Vec<Value> {
        let n = if values.is_empty() { 0 } else { t.below(4) };
        (0..n).map(|_| t.of(&values)).collect()
    };
    // Operands come last: uses may stand before definitions.
    for inst in insts {
        let args = some(t);
        f.insts[inst].args = xenoglot_ir::list::ValueList::from_slice(&args, &mut f.pool);
    }
    for &b in &all {
        let kind = t.of(TermKind::ALL);
        let args = some(t);
        let edges: Vec<_> = (0..t.below(4)).map(|_| (t.of(&all), some(t))).collect();
        let edges: smallvec::SmallVec<_> = edges.iter().map(|(b, args)| f.make_edge(*b, args)).collect();
        let cases = if kind == TermKind::Switch { t.below(edges.len() + 1) } else { 0 };
        let cases = (0..cases).map(|_| t.word()).collect();
        let guest = if t.flip() { t.u32() } else { NO_GUEST };
        f.set_term(b, kind, &args, edges, cases, guest);
    }
    for &v in &values {
        if !f.slots.is_empty() && t.flip() {
            f.values[v].hint = Slot::new(t.below(f.slots.len())).into();
        }
    }
    // Dead entities and an order of its own: ids are not the order of the text.
    f.make_inst(Op::Undef, Flags::NONE, Imm::None, &[], &[Type::I32], NO_GUEST);
    if blocks > 2 && t.flip() {
        f.layout[1..].rotate_left(1);
    }
    f
}

fn imm(t: &mut Tape, kind: ImmKind, f: &mut Function, m: &Module, funcs: usize) -> Option<Imm> {
    let any = |t: &mut Tape, n: usize| (n > 0).then(|| t.below(n));
    Some(match kind {
        ImmKind::None => Imm::None,
        ImmKind::Const => Imm::Const(f.consts.push(match t.below(3) {
            0 => Bits([t.word(), t.word(), t.word(), t.word()]),
            1 => Bits::f32x4([1.5, -0.0, 1e-7, f32::NAN]),
            _ => Bits::scalar(t.word() & 0xff),
        })),
        ImmKind::Slot => Imm::Slot(Slot::new(any(t, f.slots.len())?)),
        ImmKind::Var => Imm::Var(Var::new(any(t, m.vars.len())?)),
        ImmKind::Mem => {
            let resource = any(t, m.resources.len()).filter(|_| t.flip()).map(Resource::new);
            Imm::Mem(MemInfo {
                space: t.of(Space::ALL),
                resource: resource.into(),
                align_log2: t.below(64) as u8,
                order: t.of(Order::ALL),
                scope: t.of(Scope::ALL),
                volatile: t.flip(),
            })
        }
        ImmKind::Lane => Imm::Lane(t.word() as u8),
        ImmKind::Lanes => {
            let lanes: Vec<u8> = (0..=t.below(4)).map(|_| t.below(8) as u8).collect();
            Imm::Lanes(Lanes::new(&lanes)?)
        }
        ImmKind::Func => Imm::Func(Func::new(any(t, funcs)?)),
        ImmKind::Format => Imm::Format(FloatFormat { exp: t.word() as u8, mant: t.word() as u8 }),
        ImmKind::Tex => Imm::Tex(TexInfo {
            dim: t.of(Dim::ALL),
            arrayed: t.flip(),
            multisampled: t.flip(),
            shadow: t.flip(),
            operands: TexOperands(t.word() as u8 & 0x7f),
            component: t.word() as u8,
            residency: t.flip(),
        }),
        ImmKind::Subgroup => Imm::Subgroup(SubgroupInfo {
            width: t.word() as u8,
            reduce: t.of(Reduce::ALL),
            exclusive: t.flip(),
        }),
        ImmKind::Barrier => Imm::Barrier(BarrierInfo {
            scope: t.of(Scope::ALL),
            shared: t.flip(),
            storage: t.flip(),
            image: t.flip(),
            exec: t.flip(),
        }),
        ImmKind::Resource => Imm::Resource(Resource::new(any(t, m.resources.len())?)),
        ImmKind::Stream => Imm::Stream(t.word() as u8),
        ImmKind::Query => Imm::Query(QueryInfo {
            query: Resource::new(any(t, m.resources.len())?),
            value: t.of(RayValue::ALL),
            committed: t.flip(),
            column: t.word() as u8,
        }),
    })
}
