//! Modules of any shape, mostly unsound: what the text form has to carry and the verifier has to survive.

// Not every test file uses all of it.
#![allow(dead_code)]

use proptest::prelude::*;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{
    BarrierInfo, Dim, FloatFormat, HitInfo, ImmKind, Order, QueryInfo, RayValue, Reduce, Scope, SpecInfo,
    SubgroupInfo, TexInfo, TexOperands,
};
use xenoglot_ir::list::ValueList;
use xenoglot_ir::module::*;
use xenoglot_ir::op::OPS;
use xenoglot_ir::stage::*;
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

fn pipeline(t: &mut Tape) -> Pipeline {
    Pipeline {
        early_fragment_tests: t.flip(),
        depth: t.of(Depth::ALL),
        dual_source: t.flip(),
        invariant_position: t.flip(),
        geometry: t.flip().then(|| Geometry {
            input_vertices: t.u32(),
            output_vertices: t.u32(),
            max_vertices: t.u32(),
            invocations: t.u32(),
        }),
        patch_vertices: t.flip().then(|| t.u32()),
        tessellation: t.flip().then(|| Tessellation {
            domain: t.of(TessDomain::ALL),
            spacing: t.flip().then(|| t.of(TessSpacing::ALL)),
            clockwise: t.flip().then(|| t.flip()),
            points: t.flip(),
        }),
        mesh: t.flip().then(|| Mesh {
            primitive_vertices: t.u32(),
            max_vertices: t.u32(),
            max_primitives: t.u32(),
        }),
    }
}

fn module(t: &mut Tape) -> Module {
    let name = t.name(0);
    let mut m = Module::new(t.of(Stage::ALL), name);
    m.workgroup = [1 + t.u32() % 3, t.u32(), 1];
    m.shared_size = t.u32();
    m.pipeline = pipeline(t);
    m.denormals = t.of(Denormals::ALL);
    m.samplers = t.of(Samplers::ALL);
    m.optimized = t.flip();
    m.relaxed_floats = t.flip();
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
        let kind = match t.below(11) {
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
            8 => ResourceKind::ShaderRecord { size: t.u32() },
            9 => ResourceKind::HitObject,
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
        let slot = f.add_slot(name, ty);
        f.slots[slot].home = t.flip().then(|| t.u32());
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
        f.insts[inst].args = ValueList::from_slice(&args, &mut f.pool);
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
                big: t.flip(),
                apart: t.flip(),
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
        ImmKind::Spec => Imm::Spec(SpecInfo { id: t.word() as u32, default: t.word() as u32 }),
        ImmKind::Hit => Imm::Hit(HitInfo {
            object: Resource::new(any(t, m.resources.len())?),
            payload: Resource::new(any(t, m.resources.len())?),
            query: any(t, m.resources.len()).filter(|_| t.flip()).map(Resource::new).into(),
        }),
    })
}

/// What to do to a module: a way, where, and an id.
pub type Damage = (u8, usize, u32);

/// Up to three times damage, with ids that exist, do not, or nearly do.
pub fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let ids = prop_oneof![0..8u32, Just(u32::MAX - 1), any::<u32>().prop_map(|x| x.min(u32::MAX - 1))];
    proptest::collection::vec((any::<u8>(), any::<usize>(), ids), 0..4)
}

/// Ways to make ids of a module point nowhere or elsewhere.
pub fn damage(m: &mut Module, how: u8, pick: usize, id: u32) {
    let Some(last) = m.funcs.len().checked_sub(1) else {
        m.entry = Func::from_u32(id).into();
        return;
    };
    let f = &mut m.funcs[Func::new(pick % (last + 1))];
    let (value, list) =
        (Value::from_u32(id), |f: &mut Function| ValueList::from_slice(&[Value::from_u32(id)], &mut f.pool));
    let inst = (!f.insts.is_empty()).then(|| Inst::new(pick % f.insts.len()));
    let block = (!f.blocks.is_empty()).then(|| Block::new(pick % f.blocks.len()));
    match (how % 17, inst, block) {
        (0, ..) => f.layout.push(Block::from_u32(id)),
        (1, Some(i), _) => f.insts[i].args = list(f),
        (2, Some(i), _) => f.insts[i].results = list(f),
        (3, _, Some(b)) => f.blocks[b].params = list(f),
        (4, _, Some(b)) => f.blocks[b].insts.push(Inst::from_u32(id)),
        (5, _, Some(b)) => f.blocks[b].term.args = list(f),
        (6, _, Some(b)) => {
            f.blocks[b].term.edges.push(Edge { block: Block::from_u32(id), args: ValueList::EMPTY })
        }
        (7, Some(i), _) => f.insts[i].imm = Imm::Const(Const::from_u32(id)),
        (8, Some(i), _) => f.insts[i].imm = Imm::Func(Func::from_u32(id)),
        (9, Some(i), _) => f.insts[i].imm = Imm::Var(Var::from_u32(id)),
        (10, ..) if !f.values.is_empty() => {
            let v = Value::new(pick % f.values.len());
            f.values[v].hint = Slot::from_u32(id).into();
            f.values[v].def = ValueDef::Inst(Inst::from_u32(id), 0);
        }
        // Immediates of another kind than the op's, or with bits that mean nothing.
        (12, Some(i), _) => {
            f.insts[i].imm = [Imm::None, Imm::Lane(id as u8), Imm::Stream(id as u8)][pick % 3]
        }
        (13, Some(i), _) => match &mut f.insts[i].imm {
            Imm::Tex(tex) => tex.operands.0 = id as u8,
            Imm::Mem(mem) => mem.align_log2 = id as u8,
            imm => *imm = Imm::Resource(Resource::from_u32(id)),
        },
        (14, _, Some(b)) => f.blocks[b].term.cases.push(id.into()),
        (15, ..) => m.captures.push(Capture { var: Var::from_u32(id), buffer: 0, offset: 0, stride: 16 }),
        (16, ..) => m.entry = Func::from_u32(id).into(),
        (11, _, Some(b)) => {
            let insts = f.blocks[b].insts.clone();
            f.blocks[b].insts.extend(insts);
        }
        _ => f.layout.retain(|b| b.as_u32() != value.as_u32()),
    }
}
