//! Hit objects of SM 6.9: the variables that they become, and when they are refused.

mod corpus;

use corpus::{own, own_vectors, second_vectors};
use xenoglot_dxil::bitcode::{Limits, read};
use xenoglot_dxil::container::bitcode;
use xenoglot_dxil::lift::{LiftError, LiftOptions, lift};
use xenoglot_ir::module::{Count, ResourceKind};
use xenoglot_ir::{Module, Op};

fn lifted(bytes: &[u8], entry: usize) -> Result<Module, LiftError> {
    let module = read(bitcode(bytes).unwrap().bytes, &Limits::default()).unwrap();
    lift(&module, &LiftOptions { entry, ..LiftOptions::default() }).map(|lifted| lifted.module)
}

/// The shader of a name in a library.
fn shader(file: &[u8], name: &str) -> Module {
    (0..8).map(|entry| lifted(file, entry).unwrap()).find(|m| m.name.contains(name)).unwrap()
}

fn library(name: &str) -> Vec<u8> {
    let files = own_vectors().into_iter().chain(second_vectors());
    files.into_iter().find(|file| file.name == name).unwrap().bytes
}

/// How many elements each variable of hit objects has.
fn variables(module: &Module) -> Vec<Count> {
    let objects = module.resources.values().filter(|data| data.kind == ResourceKind::HitObject);
    objects.map(|data| data.count).collect()
}

fn count(module: &Module, op: Op) -> usize {
    module.funcs.values().flat_map(|f| f.insts.values()).filter(|inst| inst.op == op).count()
}

#[test]
fn objects_that_are_never_alive_together_share_a_variable() {
    // One that is traced, replaced by a miss and given another record; and the nop that threads are reordered by.
    let module = shader(&library("lib_ser"), "gen");
    assert_eq!(variables(&module), [Count::One; 2], "{module}");
    let module = shader(&library("lib_hits"), "told");
    assert_eq!(variables(&module), [Count::One], "{module}");
    // Two that are alive together, but are never the same.
    let module = shader(&library("lib_hits"), "nested");
    assert_eq!(variables(&module), [Count::One; 2], "{module}");
}

#[test]
fn objects_that_outlive_the_next_one_are_elements_of_an_array() {
    let module = shader(&library("lib_hits"), "nearest");
    assert_eq!(variables(&module), [Count::Fixed(2)], "{module}");
    // The place that the nearest one so far does not have.
    assert!(count(&module, Op::Ctz) >= 1, "{module}");
}

#[test]
fn objects_of_queries_have_no_record_until_they_are_given_one() {
    let module = shader(&library("lib_hits"), "queried");
    assert_eq!(count(&module, Op::HitFromQuery), 1, "{module}");
    assert_eq!(count(&module, Op::HitSetRecord), 1, "{module}");
    // A query that has hit nothing gives a nop.
    assert_eq!(count(&module, Op::HitNop), 1, "{module}");
    assert_eq!(variables(&module), [Count::One], "{module}");
    let module = lifted(&own("hit_kind"), 0).unwrap();
    assert_eq!((count(&module, Op::HitFromQuery), count(&module, Op::HitAttributes)), (1, 1), "{module}");
}

#[test]
fn a_change_of_an_object_that_is_kept_is_refused() {
    let error = lifted(&own("hit_copied"), 0).unwrap_err();
    let LiftError::Unsupported { text, why, .. } = &error else { panic!("{error}") };
    assert_eq!(text, "dx.op.hitObject_SetShaderTableIndex");
    assert_eq!(*why, "a hit object that is used as it was before its change");
}
