//! Modules through `compile` to machine code of this CPU: what it leaves in memory is what the interpreter leaves.
#![cfg(feature = "native")]

use std::collections::BTreeMap;
use xenoglot::{Code, Error, Host, Options, Translator};
use xenoglot_ir::Kind;
use xenoglot_ir::text::{Limits as TextLimits, parse};
use xenoglot_native::{Bindings, CompileError, Limits, Program};
use xenoglot_testgen::ir;
use xenoglot_testgen::property;

fn run(program: &Program, input: &[u32], words: usize, count: u32) -> Vec<u32> {
    let input: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut output = vec![0; words * 4];
    let mut bindings = Bindings::new();
    bindings.read(0, ir::INPUT, &input).write(0, ir::OUTPUT, &mut output);
    program.run(&mut bindings, 0..count, &Limits::default()).unwrap();
    drop(bindings);
    output.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// Compares `count` random programs; no more than `refused` in a hundred may be refused.
fn compare(count: u64, refused: usize, options: &ir::Options) {
    let host = Host::named("native").unwrap();
    let mut translator = Translator::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut equal = 0;
    for seed in property::seeds(count * property::budget(1, 20)) {
        let module = ir::generate(seed, options);
        let (input, words) = (ir::inputs(seed, options), ir::output_words(options));
        let Some(want) = ir::interpret(&module, &input, words) else { continue };
        match translator.compile(&mut module.clone(), &host, &Options::default()) {
            Ok(Code::Native(program)) => {
                let got = run(&program, &input, words, options.invocations);
                assert_eq!(got, want, "seed {seed}\n{}", xenoglot_ir::text::canonical(&module));
                equal += 1;
            }
            Ok(_) => panic!("seed {seed}: not machine code"),
            Err(Error::Native(CompileError::Unsupported { what, .. })) => {
                *reasons.entry(what).or_default() += 1
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    let others: usize = reasons.values().sum();
    println!("{equal} equal, {others} refused: {reasons:?}");
    assert!(others * 100 <= refused * (equal + others), "{reasons:?}");
}

/// All that programs may have, denormals too.
fn everything() -> ir::Options {
    ir::Options { denormals: true, invocations: 7, ..ir::Options::default() }
}

#[test]
fn words_and_calls_agree_with_the_interpreter() {
    compare(200, 5, &everything());
}

/// Numbers that the back end has none of are made of words.
#[test]
fn numbers_of_other_widths_agree_with_the_interpreter() {
    for kinds in [vec![Kind::I64, Kind::I16, Kind::I8], vec![Kind::F64, Kind::F16]] {
        compare(60, 10, &ir::Options { kinds, nodes: 6, ..everything() });
    }
}

/// Workgroups, and the invocations in them, are computed from the invocation in the dispatch.
#[test]
fn workgroups_are_numbered() {
    let text = r#"module compute "numbers" {
  workgroup 6 1 1
  input %local = builtin local_invocation_id : i32x3
  input %index = builtin local_invocation_index : i32
  input %group = builtin workgroup_id : i32x3
  input %global = builtin global_invocation_id : i32x3
  storage @data = set 0 binding 1 readwrite oob zero
  entry func @main() {
  block0:
    v0 : i32x3 = input %local
    v1 : i32 = extract 0, v0
    v2 : i32 = extract 1, v0
    v3 : i32 = input %index
    v4 : i32x3 = input %group
    v5 : i32 = extract 0, v4
    v6 : i32 = const 100
    v7 : i32 = imul v5, v6
    v8 : i32 = iadd v7, v1
    v9 : i32 = const 10000
    v10 : i32 = imul v3, v9
    v11 : i32 = iadd v8, v10
    v12 : i32 = iadd v11, v2
    v13 : i32x3 = input %global
    v14 : i32 = extract 0, v13
    v15 : i32 = const 4
    v16 : i32 = imul v14, v15
    store storage @data align 4, v16, v12
    return
  }
}"#;
    for size in [6, 8] {
        let text = text.replace("workgroup 6", &format!("workgroup {size}"));
        let mut module = parse(&text, &TextLimits::default()).unwrap();
        xenoglot_ir::verify(&module).unwrap();
        let host: Host = "native".parse().unwrap();
        let Code::Native(program) = xenoglot::compile(&mut module, &host, &Options::default()).unwrap()
        else {
            panic!("not machine code")
        };
        let want: Vec<u32> = (0..20).map(|i| i / size * 100 + i % size * 10001).collect();
        assert_eq!(run(&program, &[], 20, 20), want);
    }
}

#[test]
fn what_it_does_not_have_is_refused() {
    let text = r#"module vertex "v" {
  entry func @main() {
  block0:
    return
  }
}"#;
    let mut module = parse(text, &TextLimits::default()).unwrap();
    let host: Host = "native".parse().unwrap();
    let error = xenoglot::compile(&mut module, &host, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Native(CompileError::Unsupported { .. })), "{error}");
}
