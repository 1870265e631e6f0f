//! Every op of the table against its fold function, and what is not supported.

mod common;

use common::compare;
use xenoglot_ir::fold::Fold;
use xenoglot_ir::imm::FloatFormat;
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::op::{Class, OPS, Op, Sig};
use xenoglot_ir::{
    Builder, DivZero, Flags, Function, Imm, Kind, Lanes, MemInfo, Module, NanMode, Resource, Round, Space,
    Stage, Type, Value,
};
use xenoglot_native::{CompileError, Compiler};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// Words of input and output per invocation.
const WORDS: u32 = 16;
const INVOCATIONS: u32 = 61;

/// A module with a buffer to load from and one to store to, and its entry function's start.
struct Kernel {
    module: Module,
    f: Function,
    buffers: [Resource; 2],
}

fn kernel() -> (Kernel, xenoglot_ir::Block, xenoglot_ir::Var) {
    let mut module = Module::new(Stage::Compute, "op");
    let buffers = [("from", Access::Read), ("to", Access::Write)].map(|(name, access)| {
        let binding = module.resources.len() as u32;
        let kind = ResourceKind::StorageBuffer { access };
        let oob = OutOfBounds::Zero;
        module.resources.push(ResourceData {
            name: name.into(),
            kind,
            set: 0,
            binding,
            count: Count::One,
            oob,
        })
    });
    let id = module.vars.push(VarData {
        name: "id".into(),
        direction: Direction::Input,
        ty: Type::new(Kind::I32, 3).unwrap(),
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let mut f = Function::new("main");
    let block = f.add_block();
    (Kernel { module, f, buffers }, block, id)
}

fn mem(r: Resource) -> MemInfo {
    MemInfo::plain(Space::Storage, Some(r), 2)
}

/// Operand and result types of an op on vectors of `lanes`; `None` if it is not one of plain values.
fn shape(op: Op) -> Option<(Vec<Kind>, Kind)> {
    let of = |class: Class| match class {
        Class::Float | Class::Single => Kind::F32,
        Class::Bool => Kind::Bool,
        Class::Int | Class::Bits | Class::Number => Kind::I32,
    };
    // Between widths of which there is only one.
    if matches!(op, Op::TruncInt | Op::F2f) {
        return None;
    }
    Some(match op.info().sig {
        Sig::Same(n, c) => (vec![of(c); n.into()], of(c)),
        Sig::Test(n, c) => (vec![of(c); n.into()], Kind::Bool),
        Sig::CarryIn => (vec![Kind::I32, Kind::I32, Kind::Bool], Kind::I32),
        Sig::CarryOut => (vec![Kind::I32, Kind::I32, Kind::Bool], Kind::Bool),
        Sig::Convert(from, to, _) => {
            (vec![if to == Class::Int && from == Class::Bits { Kind::Bool } else { of(from) }], of(to))
        }
        Sig::Bitcast => (vec![Kind::F32], Kind::I32),
        Sig::Select => (vec![Kind::Bool, Kind::F32, Kind::F32], Kind::F32),
        Sig::LoadExp => (vec![Kind::F32, Kind::I32], Kind::F32),
        Sig::ExtractExp => (vec![Kind::F32], Kind::I32),
        Sig::Dot(_) => (vec![Kind::F32, Kind::F32], Kind::F32),
        _ => return None,
    })
}

fn flags(op: Op, rng: &mut Rng) -> Flags {
    let all = op.info().flags;
    let mut flags = Flags::NONE;
    for one in [
        Flags::NONE.with_ftz(),
        Flags::NONE.with_sat(),
        Flags::NONE.with_zero_wins(),
        Flags::NONE.with_fmz(),
        Flags::NONE.with_clamp(),
    ] {
        if one.within(all) && rng.percent(25) {
            flags = flags.union(one);
        }
    }
    for nan in [NanMode::Second, NanMode::First, NanMode::Propagate] {
        if Flags::NONE.with_nan(NanMode::Propagate).within(all) && rng.percent(30) {
            flags = flags.with_nan(nan);
        }
    }
    if Flags::NONE.with_div_zero(DivZero::Ones).within(all) && rng.percent(50) {
        flags = flags.with_div_zero(DivZero::Ones);
    }
    if matches!(op, Op::F2s | Op::F2u) && rng.percent(50) {
        flags = flags.with_round([Round::Even, Round::Up, Round::Down, Round::Zero][rng.below(4) as usize]);
    }
    flags
}

/// Interesting words: floats of every sort, small and large integers.
fn word(rng: &mut Rng) -> u32 {
    const ODD: [u32; 16] = [
        0,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc0_1234,
        0x7f80_0001,
        1,
        0x807f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0x4f00_0000,
        0xffff_ffff,
        31,
    ];
    match rng.below(4) {
        0 => ODD[rng.below(16) as usize],
        1 => rng.below(64),
        2 => (rng.below(4000) as f32 / 100.0 - 20.0).to_bits(),
        _ => rng.next_u32(),
    }
}

/// `op` on values loaded from the invocation's part of a buffer, and its result stored.
fn module(op: Op, lanes: u8, flags: Flags, used: u8) -> Option<Module> {
    let (kinds, result) = shape(op)?;
    let lanes = if let Sig::Dot(n) = op.info().sig { n } else { lanes };
    let (mut k, block, id) = kernel();
    let mut b = Builder::new(&mut k.f, block);
    let id = b.input(id, Type::new(Kind::I32, 3).unwrap());
    let id = b.extract(id, 0);
    let stride = b.i32(4 * WORDS);
    let base = b.op(Op::Imul, &[id, stride]);
    let vector = |kind: Kind| Type::new(kind, lanes).unwrap();
    let mut args: Vec<Value> = Vec::new();
    for (n, &kind) in kinds.iter().enumerate() {
        let offset = b.i32(16 * n as u32);
        let at = b.op(Op::Iadd, &[base, offset]);
        let loaded =
            b.load(mem(k.buffers[0]), at, vector(if kind == Kind::F32 { Kind::F32 } else { Kind::I32 }));
        args.push(if kind == Kind::Bool {
            let zero = b.constant(vector(Kind::I32), Default::default());
            b.op(Op::IcmpSlt, &[loaded, zero])
        } else {
            loaded
        });
    }
    let imm = if op == Op::Fquantize { Imm::Format(FloatFormat::F24) } else { Imm::None };
    let ty = if matches!(op.info().sig, Sig::Dot(_)) { Type::scalar(result) } else { vector(result) };
    let v = match op.info().sig {
        Sig::Convert(..) | Sig::Bitcast => b.convert(op, flags, args[0], ty),
        _ => b.op_imm(op, flags, imm, &args),
    };
    let v =
        if result == Kind::Bool { b.convert(Op::Zext, Flags::NONE, v, ty.with_kind(Kind::I32)) } else { v };
    // Only some of the components, so that the others are not needed.
    let used: Vec<u8> = (0..ty.lanes()).filter(|l| used >> l & 1 == 1).collect();
    let v = match (ty.is_scalar(), Lanes::new(&used)) {
        (false, Some(l)) if used.len() > 1 => b.shuffle(v, v, l),
        (false, Some(_)) => b.extract(v, used[0]),
        _ => v,
    };
    b.store(mem(k.buffers[1]), base, v);
    b.ret(&[]);
    k.module.entry = Some(k.module.funcs.push(k.f)).into();
    xenoglot_ir::verify(&k.module).unwrap_or_else(|e| panic!("{}: {e}", op.info().name));
    Some(k.module)
}

#[test]
fn every_op_is_its_fold_function() {
    let mut compiler = Compiler::new().unwrap();
    let mut rng = property::rng(5);
    let (mut supported, mut refused, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for row in OPS {
        if matches!(row.fold, Fold::None) {
            other.push(row.name);
            continue;
        }
        let mut runs = 0;
        for round in 0..12u8 {
            let flags = if round == 0 { Flags::NONE } else { flags(row.op, &mut rng) };
            let Some(module) = module(row.op, 1 + round % 4, flags, 1 + rng.below(15) as u8) else {
                continue;
            };
            let input = (0..INVOCATIONS * WORDS).flat_map(|_| word(&mut rng).to_le_bytes()).collect();
            let buffers = [input, vec![0; 4 * (INVOCATIONS * WORDS) as usize]];
            match compare(&mut compiler, &module, &buffers, INVOCATIONS, row.name) {
                Ok(_) => runs += 1,
                Err(CompileError::Unsupported { .. }) => {}
                Err(e) => panic!("{}: {e}", row.name),
            }
        }
        if runs > 0 { supported.push(row.name) } else { refused.push(row.name) }
    }
    println!("{} ops equal: {supported:?}", supported.len());
    println!("refused, or moved about in every other test: {refused:?}");
    println!("{} ops without fold function: {other:?}", other.len());
    // Conversions between widths that registers of 32 bits do not have, derivatives, and moves, which random programs
    // are full of.
    let refusable = |name: &&str| {
        name.starts_with("dd")
            || ["trunc_int", "f2f", "splat", "build", "extract", "insert", "shuffle"].contains(name)
    };
    assert!(refused.iter().all(refusable), "{refused:?}");
    assert!(supported.len() > 80);
}
