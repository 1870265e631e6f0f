//! Which operations real containers use: every call agrees with its row of the table, and every row is used or listed
//! with the reason why not. Prints the table with `--nocapture`.

mod corpus;

use corpus::{own_files, own_vectors, second_vectors, vectors};
use std::collections::BTreeMap;
use xenoglot_dxil::bitcode::{
    Constant, Def, Function, InstKind, Limits, Module, Operand, Type, TypeId, ValueId, read,
};
use xenoglot_dxil::container::bitcode;
use xenoglot_dxil::model::ShaderKind;
use xenoglot_dxil::ops::{Kind, Op};

/// Operations of no container, and why. The compiler at hand is DirectXShaderCompiler 1.7.
const UNREACHED: &[(&[Op], &str)] = &[
    (
        &[Op::TempRegLoad, Op::TempRegStore, Op::MinPrecXRegLoad, Op::MinPrecXRegStore],
        "of translators of older bytecode, which take it out again before they are done",
    ),
    (
        &[Op::MatVecMul, Op::MatVecMulAdd, Op::OuterProductAccumulate, Op::VectorAccumulate, Op::FDot],
        "in none of the vectors",
    ),
];

/// How often an operation is called: in shaders that are run, in others of the vectors, in other containers of our own.
type Counts = [usize; 3];

/// The functions with code of a module and the calls in them, by operation.
struct Calls<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Calls<'_> {
    fn value(&self, id: ValueId) -> &xenoglot_dxil::bitcode::Value {
        let values = &self.module.values;
        let own = || &self.function.body.as_ref().unwrap().values[id.0 as usize - values.len()];
        values.get(id.0 as usize).unwrap_or_else(own)
    }

    /// The operation, function and arguments of a call, if it is one of an operation.
    fn operation(&self, kind: &InstKind) -> Option<(Op, &Function, Vec<ValueId>)> {
        let InstKind::Call { callee, args, .. } = kind else { return None };
        let Def::Function(function) = self.value(*callee).def else { return None };
        let function = &self.module.functions[function as usize];
        if !function.name.starts_with(b"dx.op.") {
            return None;
        }
        let body = self.function.body.as_ref().unwrap();
        let args: Vec<ValueId> = body
            .list(*args)
            .iter()
            .map(|arg| match arg {
                Operand::Value(value) => *value,
                other => panic!("{other:?}"),
            })
            .collect();
        let number = match self.value(args[0]).def {
            Def::Constant(Constant::Integer(number)) => number,
            Def::Constant(Constant::Null) => 0,
            ref other => panic!("{other:?}"),
        };
        Some((Op::from_number(number as u32).unwrap(), function, args))
    }

    /// Whether a type is what the table says.
    fn is_kind(&self, ty: TypeId, kind: Kind, overload: &str) -> bool {
        let types = &self.module.types;
        let ty = types.get(ty).unwrap();
        let named =
            |prefix: &str| matches!(ty, Type::Struct { name: Some(name), .. } if name.starts_with(prefix));
        let lane = |overload: &str| {
            let digits =
                overload.strip_prefix('v').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
            digits.unwrap_or(overload).to_owned()
        };
        let scalar = |overload: &str| {
            let (ty, overload) = match (ty, lane(overload)) {
                (Type::Vector { of, .. }, lane) if lane != overload => (types.get(*of).unwrap(), lane),
                (ty, _) => (ty, overload.to_owned()),
            };
            *ty == match overload.as_str() {
                "f16" => Type::Half,
                "f32" => Type::Float,
                "f64" => Type::Double,
                integer => Type::Integer(integer[1..].parse().unwrap()),
            }
        };
        match kind {
            Kind::Overload => scalar(overload),
            Kind::I1 => scalar("i1"),
            Kind::I8 => scalar("i8"),
            Kind::I16 => scalar("i16"),
            Kind::I32 => scalar("i32"),
            Kind::I64 => scalar("i64"),
            Kind::F16 => scalar("f16"),
            Kind::F32 => scalar("f32"),
            Kind::F64 => scalar("f64"),
            Kind::Handle => named("dx.types.Handle"),
            Kind::FloatPtr | Kind::UserStruct => matches!(ty, Type::Pointer { .. }),
            Kind::Object => named(overload),
            Kind::ResourceProperties => named("dx.types.ResourceProperties"),
            Kind::ResourceBinding => named("dx.types.ResBind"),
            Kind::Void => *ty == Type::Void,
            Kind::ResourceReturn => named(&format!("dx.types.ResRet.{overload}")),
            Kind::CBufferReturn => named(&format!("dx.types.CBufRet.{overload}")),
            Kind::Dimensions => named("dx.types.Dimensions"),
            Kind::SplitDouble => named("dx.types.splitdouble"),
            Kind::TwoI32 => named("dx.types.twoi32"),
            Kind::I32WithCarry => named("dx.types.i32c"),
            Kind::FourI32 => named("dx.types.fouri32"),
            Kind::SamplePosition => named("dx.types.SamplePos"),
            Kind::Vector4 => named(&format!("dx.types.fouri{}", &overload[1..])),
            Kind::OverloadLane => scalar(&lane(overload)),
            Kind::NodeHandle => named("dx.types.NodeHandle"),
            Kind::NodeRecordHandle => named("dx.types.NodeRecordHandle"),
            Kind::NodeProperties => named("dx.types.NodeInfo") || named("dx.types.NodeRecordInfo"),
            Kind::HitObject => named("dx.types.HitObject"),
        }
    }

    fn check(&self, op: Op, called: &Function, args: &[ValueId]) {
        let (row, name) = (op.info(), std::str::from_utf8(&called.name).unwrap());
        let overload = row.overload_in(name).unwrap_or_else(|| panic!("{name} is not for {}", row.name));
        let Some(Type::Function { returns, .. }) = self.module.types.get(called.ty) else { panic!("{name}") };
        assert!(self.is_kind(*returns, row.result, overload), "{}: the result of {name}", row.name);
        assert_eq!(args.len(), row.operands.len() + 1, "{}", row.name);
        for (operand, arg) in row.operands.iter().zip(&args[1..]) {
            let ty = self.value(*arg).ty;
            assert!(self.is_kind(ty, operand.kind, overload), "{}: {}", row.name, operand.name);
        }
    }
}

#[test]
fn every_operation_is_used_or_listed() {
    let mut counts = BTreeMap::<Op, Counts>::new();
    let vectors = vectors().into_iter().map(|file| (usize::from(file.test.is_empty()), file));
    let vectors = vectors.chain(own_vectors().into_iter().map(|file| (0, file)));
    let second = second_vectors().into_iter().map(|file| (usize::from(file.test.is_empty()), file));
    let vectors = vectors.chain(second);
    for (column, file) in vectors.chain(own_files().into_iter().map(|file| (2, file))) {
        let code = bitcode(&file.bytes).unwrap();
        let (model, kind) = code.program.map(|p| (p.model, p.kind)).unwrap();
        let module = read(code.bytes, &Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", file.name));
        for function in &module.functions {
            let calls = Calls { module: &module, function };
            for inst in function.body.iter().flat_map(|body| &body.insts) {
                let Some((op, called, args)) = calls.operation(&inst.kind) else { continue };
                calls.check(op, called, &args);
                assert!(op.info().since <= model, "{}: {}", file.name, op.info().name);
                let allowed = kind == ShaderKind::Library || op.info().stages.contains(kind.set());
                assert!(allowed, "{}: {}", file.name, op.info().name);
                counts.entry(op).or_default()[column] += 1;
            }
        }
    }
    println!("{:54} {:>8} {:>8} {:>8}", "operation", "run", "stages", "own");
    for row in Op::all() {
        let reason = UNREACHED.iter().find(|(ops, _)| ops.contains(&row.op)).map(|(_, reason)| reason);
        let count = counts.get(&row.op);
        match (count, reason) {
            (Some([run, stages, own]), None) => println!("{:54} {run:8} {stages:8} {own:8}", row.name),
            (None, Some(reason)) => println!("{:54} {reason}", row.name),
            (Some(_), Some(_)) => panic!("{} is listed as unreached, but used", row.name),
            (None, None) => panic!("{} is neither used nor listed", row.name),
        }
    }
    println!("{} of {} operations are used", counts.len(), Op::all().len());
}
