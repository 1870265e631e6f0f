//! The verifier against the op table: each op's own shape is accepted, every other one is refused; and nothing makes
//! it panic.

mod common;

use common::{any_module, damage, damages};
use proptest::prelude::*;
use std::sync::Mutex;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{
    BarrierInfo, FloatFormat, HitInfo, ImmKind, Order, QueryInfo, RayValue, Reduce, Scope, SpecInfo,
    SubgroupInfo,
};
use xenoglot_ir::module::*;
use xenoglot_ir::op::{Class, OPS, OpInfo, Sig};
use xenoglot_ir::stage::{Geometry, Mesh};
use xenoglot_ir::*;
use xenoglot_testgen::property::config_in;

fn ty(kind: Kind, lanes: u8) -> Type {
    Type::new(kind, lanes).unwrap()
}

/// Types of a class, scalars and vectors.
fn members(class: Class) -> Vec<Type> {
    let kinds = Kind::ALL.into_iter().filter(|&k| class.has(k));
    kinds.flat_map(|k| [1, 3].map(|lanes| ty(k, lanes))).collect()
}

/// Operand and result types of some sound uses of an op, as its documentation has them.
fn shapes(row: &OpInfo) -> Vec<(Vec<Type>, Vec<Type>)> {
    let f32x4 = Type::F32X4;
    let all = |class: Class, f: &dyn Fn(Type) -> (Vec<Type>, Vec<Type>)| {
        members(class).into_iter().map(f).collect()
    };
    let bool_of = |t: Type| t.with_kind(Kind::Bool);
    match row.sig {
        Sig::Vote => vec![(vec![Type::BOOL], vec![Type::BOOL])],
        Sig::Ballot => vec![(vec![Type::BOOL], vec![Type::I64])],
        Sig::Same(..) if matches!(row.op, Op::SgReduce | Op::SgScan) => {
            vec![(vec![Type::I32], vec![Type::I32])]
        }
        Sig::Same(n, class) => all(class, &|t| (vec![t; n.into()], vec![t])),
        Sig::Test(n, class) => all(class, &|t| (vec![t; n.into()], vec![bool_of(t)])),
        Sig::CarryIn => all(Class::Int, &|t| (vec![t, t, bool_of(t)], vec![t])),
        Sig::CarryOut => all(Class::Int, &|t| (vec![t, t, bool_of(t)], vec![bool_of(t)])),
        Sig::Convert(..) => {
            let pairs = match row.op {
                Op::TruncInt => [(Kind::I64, Kind::I8), (Kind::I32, Kind::I16)],
                Op::Zext | Op::Sext => [(Kind::Bool, Kind::I32), (Kind::I8, Kind::I64)],
                Op::F2f => [(Kind::F16, Kind::F32), (Kind::F64, Kind::F32)],
                Op::F2s | Op::F2u => [(Kind::F32, Kind::I32), (Kind::F64, Kind::I8)],
                Op::S2f | Op::U2f => [(Kind::I32, Kind::F32), (Kind::I8, Kind::F64)],
                other => panic!("{other:?} has no example"),
            };
            let both = pairs.iter().flat_map(|&(a, b)| [(ty(a, 1), ty(b, 1)), (ty(a, 4), ty(b, 4))]);
            both.map(|(a, b)| (vec![a], vec![b])).collect()
        }
        Sig::Bitcast => {
            vec![(vec![ty(Kind::F16, 2)], vec![Type::I32]), (vec![f32x4], vec![ty(Kind::F64, 2)])]
        }
        Sig::Select => vec![
            (vec![Type::BOOL, f32x4, f32x4], vec![f32x4]),
            (vec![bool_of(f32x4), f32x4, f32x4], vec![f32x4]),
        ],
        Sig::LoadExp => vec![(vec![f32x4, Type::I32X4], vec![f32x4])],
        Sig::ExtractExp => vec![(vec![ty(Kind::F64, 2)], vec![ty(Kind::I32, 2)])],
        Sig::Dot(n) => vec![(vec![ty(Kind::F32, n); 2], vec![Type::F32])],
        Sig::Splat => vec![(vec![Type::F32], vec![f32x4])],
        Sig::Build => vec![(vec![Type::F32; 2], vec![ty(Kind::F32, 2)])],
        Sig::Extract => vec![(vec![f32x4], vec![Type::F32])],
        Sig::Insert => vec![(vec![f32x4, Type::F32], vec![f32x4])],
        Sig::Shuffle => vec![(vec![f32x4, f32x4], vec![ty(Kind::F32, 2)])],
        Sig::Leaf(result) => vec![(vec![], vec![result.unwrap_or(Type::I32)])],
        Sig::SlotGet | Sig::VarGet => vec![(vec![], vec![f32x4])],
        Sig::SlotSet | Sig::VarSet => vec![(vec![f32x4], vec![])],
        Sig::Load => vec![(vec![Type::I32], vec![f32x4]), (vec![Type::I32], vec![Type::I32])],
        Sig::Store => vec![(vec![Type::I32, f32x4], vec![])],
        Sig::Atomic(Class::Float) => vec![(vec![Type::I32, Type::F32], vec![Type::F32])],
        Sig::Atomic(_) => vec![(vec![Type::I32; 2], vec![Type::I32])],
        Sig::FromLane => [Type::BOOL, Type::I32, f32x4].map(|t| (vec![t, Type::I32], vec![t])).into(),
        Sig::AtomicCas => vec![(vec![Type::I32; 3], vec![Type::I32])],
        Sig::Call => vec![(vec![Type::F32, Type::I32], vec![Type::BOOL, f32x4])],
        Sig::CallPure => vec![(vec![Type::F32, Type::I32], vec![f32x4])],
        Sig::Effect => vec![(vec![], vec![])],
        Sig::EffectIf => vec![(vec![Type::BOOL], vec![])],
        Sig::Fixed(args, result) => vec![(args.to_vec(), result.into_iter().collect())],
        Sig::Query => vec![(vec![], vec![Type::F32X3])],
        Sig::Handle => vec![(vec![], vec![Type::scalar(Kind::Buf)])],
        Sig::Size => [Type::I32, Type::I64].map(|t| (vec![], vec![t])).into(),
        Sig::Interpolate(args) => vec![(args.to_vec(), vec![f32x4])],
        Sig::Texture => vec![texture_shape(row.op)],
        Sig::Open => vec![(vec![Type::scalar(Kind::Tex)], vec![Type::I32; 3])],
    }
}

/// Operands and results of an op on a plane of floats.
fn texture_shape(op: Op) -> (Vec<Type>, Vec<Type>) {
    let (tex, img) = (Type::scalar(Kind::Tex), Type::scalar(Kind::Img));
    match op {
        Op::TexSample | Op::TexGather => (vec![tex, Type::F32X2], vec![Type::F32X4]),
        Op::TexFetch => (vec![tex, Type::I32X2], vec![Type::F32X4]),
        Op::TexQuerySize => (vec![tex], vec![Type::I32X2]),
        Op::TexQueryLevels | Op::TexQuerySamples => (vec![tex], vec![Type::I32]),
        Op::TexQueryLod => (vec![tex, Type::F32X2], vec![Type::F32X2]),
        Op::ImgLoad => (vec![img, Type::I32X2], vec![Type::F32X4]),
        Op::ImgStore => (vec![img, Type::I32X2, Type::F32X4], vec![]),
        Op::ImgQuery => (vec![img], vec![Type::I32X2]),
        Op::ImgAtomicCmpxchg => (vec![img, Type::I32X2, Type::I32, Type::I32], vec![Type::I32]),
        _ => (vec![img, Type::I32X2, Type::I32], vec![Type::I32]),
    }
}

/// A module of one instruction whose operands are parameters of its function.
fn module_of(row: &OpInfo, args: &[Type], results: &[Type]) -> (Module, Func, Inst) {
    let stage = match row.op {
        Op::EmitVertex | Op::EndPrimitive => Stage::Geometry,
        Op::Barrier => Stage::Compute,
        Op::MeshSetCounts => Stage::Mesh,
        Op::MeshDispatch => Stage::Task,
        Op::RayTrace | Op::RayCall => Stage::RayGen,
        _ if row.name.starts_with("hit.") => Stage::RayGen,
        Op::RayReport => Stage::Intersection,
        Op::RayIgnore | Op::RayAccept | Op::RayT => Stage::AnyHit,
        _ => Stage::Fragment,
    };
    let mut m = Module::new(stage, "");
    if stage == Stage::Geometry {
        let (input_vertices, output_vertices) = (3, 3);
        m.pipeline.geometry =
            Some(Geometry { input_vertices, output_vertices, max_vertices: 3, invocations: 1 });
    }
    if stage == Stage::Mesh {
        m.pipeline.mesh = Some(Mesh { primitive_vertices: 3, max_vertices: 3, max_primitives: 1 });
    }
    let location = Semantic::Location { location: 0, component: 0 };
    let mut vars = Vec::new();
    if stage == Stage::Fragment {
        for direction in [Direction::Input, Direction::Output] {
            vars.push(m.vars.push(VarData {
                name: direction.name().into(),
                direction,
                ty: Type::F32X4,
                semantic: location,
                interpolation: Interpolation::Smooth,
                array: None,
                inner: None,
                stream: 0,
            }));
        }
    }
    let buffer = m.resources.push(ResourceData {
        name: "buffer".into(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding: 0,
        count: Count::One,
        oob: OutOfBounds::Zero,
    });
    let object = |name: &str, kind| ResourceData {
        name: name.into(),
        kind,
        set: 0,
        binding: 0,
        count: Count::One,
        oob: OutOfBounds::Undefined,
    };
    let payload = |kind| object("payload", ResourceKind::Payload { kind, size: 16 });
    let query = object("query", ResourceKind::RayQuery);
    let resource = match row.op {
        Op::RayTrace => m.resources.push(payload(PayloadKind::Ray)),
        Op::RayCall => m.resources.push(payload(PayloadKind::Callable)),
        Op::MeshDispatch => m.resources.push(payload(PayloadKind::Task)),
        Op::BufferSize | Op::ResourceHandle => buffer,
        _ if row.name.starts_with("hit.") => m.resources.push(object("hit", ResourceKind::HitObject)),
        _ => m.resources.push(query.clone()),
    };
    let mut callee = Function::new("callee");
    let is_pure = row.op == Op::CallPure;
    callee.returns = if is_pure { vec![Type::F32X4] } else { vec![Type::BOOL, Type::F32X4] };
    let b = callee.add_block();
    callee.add_param(b, Type::F32);
    callee.add_param(b, Type::I32);
    let mut at = Builder::new(&mut callee, b);
    let values = [at.bool(true), at.f32x4([0.0; 4])];
    at.ret(&values[usize::from(is_pure)..]);
    let callee = m.funcs.push(callee);

    let mut f = Function::new("f");
    let slot = f.add_slot("r0", Type::F32X4);
    let b = f.add_block();
    let args: Vec<Value> = args.iter().map(|&t| f.add_param(b, t)).collect();
    let imm = match row.imm {
        ImmKind::None => Imm::None,
        ImmKind::Const => Imm::Const(f.consts.push(Bits::default())),
        ImmKind::Slot => Imm::Slot(slot),
        ImmKind::Var => {
            let input = row.op == Op::Input || matches!(row.sig, Sig::Interpolate(_));
            Imm::Var(vars[usize::from(!input)])
        }
        ImmKind::Mem => {
            let mut mem = MemInfo::plain(Space::Storage, Some(buffer), 2);
            if matches!(row.sig, Sig::Atomic(_) | Sig::AtomicCas) {
                mem.order = Order::AcqRel;
            }
            Imm::Mem(mem)
        }
        ImmKind::Lane => Imm::Lane(3),
        ImmKind::Lanes => Imm::Lanes(Lanes::new(&[3, 4]).unwrap()),
        ImmKind::Func => Imm::Func(callee),
        ImmKind::Format => Imm::Format(FloatFormat::F24),
        ImmKind::Tex => Imm::Tex(imm::TexInfo {
            dim: imm::Dim::D2,
            arrayed: false,
            multisampled: false,
            shadow: false,
            operands: imm::TexOperands::default(),
            component: 0,
            residency: false,
        }),
        ImmKind::Subgroup => {
            Imm::Subgroup(SubgroupInfo { width: 32, reduce: Reduce::Iadd, exclusive: false })
        }
        ImmKind::Barrier => Imm::Barrier(BarrierInfo {
            scope: Scope::Workgroup,
            shared: true,
            storage: false,
            image: false,
            exec: true,
        }),
        ImmKind::Resource => Imm::Resource(resource),
        ImmKind::Stream => Imm::Stream(1),
        ImmKind::Query => Imm::Query(QueryInfo {
            query: resource,
            value: RayValue::WorldToObject,
            committed: row.op == Op::QueryGet,
            column: 3,
        }),
        ImmKind::Spec => Imm::Spec(SpecInfo { id: 3, default: 4 }),
        ImmKind::Hit => {
            let attributes = matches!(row.op, Op::HitFromQuery | Op::HitAttributes);
            let kind = if attributes { PayloadKind::HitObjectAttribute } else { PayloadKind::Ray };
            let payload = m.resources.push(payload(kind));
            let query = (row.op == Op::HitFromQuery).then(|| m.resources.push(query));
            Imm::Hit(HitInfo { object: resource, payload, query: query.into() })
        }
    };
    let mut at = Builder::new(&mut f, b);
    let inst = at.inst(row.op, row.flags_to_try(), imm, &args, results);
    at.ret(&[]);
    let func = m.funcs.push(f);
    let mut main = Function::new("main");
    let b = main.add_block();
    Builder::new(&mut main, b).ret(&[]);
    m.entry = m.funcs.push(main).into();
    (m, func, inst)
}

trait FlagsToTry {
    fn flags_to_try(&self) -> Flags;
}

impl FlagsToTry for OpInfo {
    /// Every flag the op takes, with one value of each mode.
    fn flags_to_try(&self) -> Flags {
        let names =
            ["contract", "ftz", "zw", "fmz", "sat", "clamp", "nonuniform", "down", "propagate", "trap"];
        let added = |flags: Flags, name| flags.parse_add(name).unwrap_or(flags);
        names.iter().fold(Flags::NONE, |flags, name| {
            let more = added(flags, *name);
            if more.within(self.flags) { more } else { flags }
        })
    }
}

#[test]
fn every_op_is_accepted_in_its_own_shape() {
    let mut count = 0;
    for row in OPS {
        for (args, results) in shapes(row) {
            let (m, ..) = module_of(row, &args, &results);
            verify(&m).unwrap_or_else(|e| panic!("{} {args:?} {results:?}: {e}", row.name));
            count += 1;
        }
    }
    println!("{count} shapes of {} ops accepted", OPS.len());
}

#[test]
fn every_op_is_refused_in_another_shape() {
    let mut count = 0;
    for row in OPS.iter().filter(|row| row.sig != Sig::Open) {
        for (args, results) in shapes(row) {
            let refused = |args: &[Type], results: &[Type]| {
                let (m, ..) = module_of(row, args, results);
                assert!(verify(&m).is_err(), "{} {args:?} {results:?} is accepted", row.name);
            };
            let odd = Type::scalar(Kind::Ptr);
            for n in 0..args.len() {
                let mut wrong = args.clone();
                wrong[n] = odd;
                refused(&wrong, &results);
                count += 1;
            }
            for n in 0..results.len() {
                let mut wrong = results.clone();
                wrong[n] = odd;
                refused(&args, &wrong);
                count += 1;
            }
            refused(&[args.clone(), vec![odd]].concat(), &results);
            refused(&args, &[results.clone(), vec![Type::I32]].concat());
            count += 2;
            if let Some((_, fewer)) = args.split_last() {
                refused(fewer, &results);
                count += 1;
            }
        }
    }
    println!("{count} shapes refused");
}

#[test]
fn immediates_and_flags_of_other_ops_are_refused() {
    let every = Flags::NONE.with_contract().with_ftz().with_zero_wins().with_fmz().with_sat().with_clamp();
    for row in OPS {
        let (args, results) = shapes(row).swap_remove(0);
        let (mut m, f, inst) = module_of(row, &args, &results);
        let wrong = if row.imm == ImmKind::Lane { Imm::None } else { Imm::Lane(0) };
        m.funcs[f].insts[inst].imm = wrong;
        assert!(verify(&m).is_err(), "{} with {wrong:?}", row.name);
        let (mut m, f, inst) = module_of(row, &args, &results);
        m.funcs[f].insts[inst].flags = every;
        assert!(verify(&m).is_err(), "{} with {every:?}", row.name);
    }
}

#[test]
fn no_module_makes_verifier_or_printer_panic() {
    let counts = Mutex::new((0, 0));
    proptest!(config_in(file!(), 2000), |(m in any_module(), damages in damages())| {
        let mut m = m;
        for (how, pick, id) in damages {
            damage(&mut m, how, pick, id);
        }
        let verdict = verify(&m);
        let _ = (m.to_string(), text::canonical(&m));
        for f in m.funcs.keys() {
            let _ = verify::verify_func(&m, f);
        }
        let mut counts = counts.lock().unwrap();
        counts.0 += 1;
        counts.1 += usize::from(verdict.is_err_and(|e| e.to_string().contains("operand")));
    });
    let (modules, typed) = *counts.lock().unwrap();
    println!("{modules} modules, {typed} of them with ids in order, so that types were checked");
    assert!(typed > 100);
}

#[test]
fn errors_are_bounded() {
    let mut m = Module::new(Stage::Cpu, "");
    let mut f = Function::new("f");
    let b = f.add_block();
    for _ in 0..1000 {
        f.blocks[b].insts.push(Inst::from_u32(9999));
    }
    m.funcs.push(f);
    let errors = verify(&m).unwrap_err();
    assert_eq!(errors.errors.len(), verify::MOST_ERRORS);
    assert_eq!(errors.unreported, 1000 - verify::MOST_ERRORS);
    assert!(errors.to_string().ends_with("and 936 more"));
}

/// A chain of calls and blocks far deeper than a stack.
#[test]
fn depth_is_no_danger() {
    let mut m = Module::new(Stage::Cpu, "");
    let n = 20_000;
    for i in 0..n {
        let mut f = Function::new(format!("f{i}"));
        let b = f.add_block();
        let mut at = Builder::new(&mut f, b);
        at.call(Func::new((i + 1) % n), &[], &[]);
        at.ret(&[]);
        m.funcs.push(f);
    }
    let errors = verify(&m).unwrap_err();
    assert_eq!(errors.to_string(), "recursion: `@f19999` calls `@f0`");
    let mut f = Function::new("deep");
    let blocks: Vec<Block> = (0..n).map(|_| f.add_block()).collect();
    for pair in blocks.windows(2) {
        f.set_jump(pair[0], pair[1], &[], NO_GUEST);
    }
    let mut m = Module::new(Stage::Cpu, "");
    m.funcs.push(f);
    verify(&m).unwrap();
    let read = text::parse(&m.to_string(), &text::Limits::default()).unwrap();
    assert_eq!(text::canonical(&read), text::canonical(&m));
}
