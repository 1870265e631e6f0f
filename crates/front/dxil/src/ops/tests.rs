use super::table::HOLES;
use super::{Kind as K, Op};
use crate::model::{ShaderKind, ShaderModel, Stages};
use std::collections::HashSet;

/// The first number that no shader model has.
const END: u32 = 312;

#[test]
fn numbers_have_no_other_holes() {
    let is_hole = |number: &u32| HOLES.iter().any(|hole| hole.contains(number));
    let numbers: Vec<u32> = (0..END).filter(|number| !is_hole(number)).collect();
    assert_eq!(Op::all().iter().map(|row| row.op.number()).collect::<Vec<_>>(), numbers);
    for row in Op::all() {
        assert_eq!(Op::from_number(row.op.number()), Some(row.op));
        assert!(std::ptr::eq(row.op.info(), row));
    }
    for none in HOLES.into_iter().flatten().chain([END, u32::MAX]) {
        assert_eq!(Op::from_number(none), None);
    }
}

#[test]
fn names_are_unique() {
    let names: HashSet<&str> = Op::all().iter().map(|row| row.name).collect();
    assert_eq!(names.len(), Op::all().len());
}

/// The opcodes each version of DXIL ends with, as DirectXShaderCompiler counts them.
#[test]
fn shader_models_end_where_they_should() {
    let counts =
        [(0, 137), (1, 139), (2, 141), (3, 162), (4, 165), (5, 216), (6, 222), (7, 226), (8, 246), (9, 284)];
    for (minor, count) in counts {
        let upto = Op::all().iter().filter(|row| row.since <= ShaderModel::sm6(minor)).count();
        assert_eq!(upto, count, "SM 6.{minor}");
    }
}

/// Functions are shared by a class and an overload, so rows that share both have the same type. The one exception is
/// kept by compilers for compatibility: WavePrefixBitCount, which no overload of its class meets.
#[test]
fn rows_of_a_class_agree() {
    for a in Op::all() {
        for b in Op::all().iter().filter(|b| b.class == a.class) {
            let same = a.overloads.intersects(b.overloads) || a.overloads == b.overloads;
            let types = |row: &super::OpInfo| row.operands.iter().map(|o| o.kind).collect::<Vec<_>>();
            if same {
                assert_eq!((a.result, types(a)), (b.result, types(b)), "{} and {}", a.name, b.name);
            }
        }
    }
}

#[test]
fn overloads_are_used_or_empty() {
    for row in Op::all() {
        let kinds = || row.operands.iter().map(|o| o.kind).chain([row.result]);
        let generic = |k| {
            matches!(k, K::Overload | K::OverloadLane | K::ResourceReturn | K::CBufferReturn | K::Vector4)
        };
        let structs = kinds().any(|k| matches!(k, K::UserStruct | K::Object));
        if kinds().any(generic) || structs {
            assert!(!row.overloads.is_empty(), "{}", row.name);
        }
        let names: HashSet<&str> = row.operands.iter().map(|o| o.name).collect();
        assert_eq!(names.len(), row.operands.len(), "{}", row.name);
        assert!(!row.stages.is_empty() && Stages::ALL.contains(row.stages), "{}", row.name);
    }
}

#[test]
fn functions_are_told_by_class_and_overload() {
    assert_eq!(Op::LoadInput.info().overload_in("dx.op.loadInput.f32"), Some("f32"));
    assert_eq!(Op::LoadInput.info().overload_in("dx.op.loadInput.f64"), None);
    assert_eq!(Op::LoadInput.info().overload_in("dx.op.loadInput"), None);
    assert_eq!(Op::LoadInput.info().overload_in("dx.op.loadInputs.f32"), None);
    assert_eq!(Op::CreateHandle.info().overload_in("dx.op.createHandle"), Some(""));
    assert_eq!(Op::WavePrefixBitCount.info().overload_in("dx.op.wavePrefixOp"), Some(""));
    assert_eq!(Op::TraceRay.info().overload_in("dx.op.traceRay.struct.Payload"), Some("struct.Payload"));
    assert_eq!(Op::RayQueryAbort.info().name, "RayQuery_Abort");
}

#[test]
fn kinds_have_their_numbers() {
    for (number, kind) in (0..).zip(ShaderKind::ALL) {
        assert_eq!(kind as u32, number);
        assert_eq!(ShaderKind::from_number(number), Some(kind));
    }
    assert_eq!(ShaderKind::from_number(16), None);
}
