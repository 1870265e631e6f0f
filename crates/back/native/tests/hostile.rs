//! Modules that mean harm: addresses outside, loops without end, buffers that are missing or too small.

mod common;

use common::{native, reference};
use xenoglot_ir::module::Access;
use xenoglot_ir::text::{Limits as TextLimits, parse};
use xenoglot_ir::{Module, verify};
use xenoglot_native::{Bindings, CompileError, Compiler, Fault, Limits, RunError};

fn module(text: &str) -> Module {
    let module = parse(text, &TextLimits::default()).unwrap_or_else(|e| panic!("{e}"));
    verify(&module).unwrap_or_else(|e| panic!("{e}"));
    module
}

const HEAD: &str = "module compute \"hostile\" {
  workgroup 1 1 1
  input %id = builtin global_invocation_id : i32x3
";

/// Loads from wherever the input says, and stores there, too.
fn wanderer(policy: &str) -> Module {
    module(&format!(
        "{HEAD}
  storage @at = set 0 binding 0 read oob zero
  storage @from = set 0 binding 1 read oob {policy}
  storage @to = set 0 binding 2 readwrite oob {policy}

  entry func @main() {{
  block0:
    v0 : i32x3 = input %id
    v1 : i32 = extract 0, v0
    v2 : i32 = const 0x4
    v3 : i32 = imul v1, v2
    v4 : i32 = load storage @at align 4, v3
    v5 : f32x4 = load storage @from align 1, v4
    v6 : i32x4 = bitcast v5
    store storage @to align 1, v4, v6
    return
  }}
}}"
    ))
}

#[test]
fn addresses_outside_read_zero_and_store_nothing() {
    let mut compiler = Compiler::new().unwrap();
    for policy in ["zero", "ignore", "undefined"] {
        let module = wanderer(policy);
        for size in [0usize, 3, 4, 15, 16, 17, 64, 100] {
            let at: Vec<u8> =
                [0u32, 1, 4, 48, 52, 60, 61, 63, 64, 99, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, u32::MAX]
                    .iter()
                    .flat_map(|a| a.to_le_bytes())
                    .collect();
            let count = at.len() as u32 / 4;
            let buffers = [at, (1..=size as u8).collect(), vec![0; size]];
            // Invocations past the end of the addresses get 0.
            let (got, _) = native(&mut compiler, &module, &buffers, count + 6).unwrap();
            assert_eq!(got, reference(&module, &buffers, count + 6), "{policy}, {size} bytes");
        }
    }
}

#[test]
fn faults_are_errors() {
    let program = Compiler::new().unwrap().compile(&wanderer("fault")).unwrap();
    let at: Vec<u8> = [0u32, 0, 0, 0, 0, 0, 49, 0].iter().flat_map(|a| a.to_le_bytes()).collect();
    let (from, mut to) = (vec![1; 64], vec![0; 64]);
    let mut bindings = Bindings::new();
    bindings.read(0, 0, &at).read(0, 1, &from).write(0, 2, &mut to);
    assert!(program.run(&mut bindings, 0..6, &Limits::default()).is_ok());
    let error = program.run(&mut bindings, 0..8, &Limits::default()).unwrap_err();
    assert!(matches!(error, RunError::Fault { invocation: 4, cause: Fault::OutOfBounds }), "{error}");
}

#[test]
fn bindings_are_checked() {
    let program = Compiler::new().unwrap().compile(&wanderer("zero")).unwrap();
    let bytes = [0; 64];
    let mut bindings = Bindings::new();
    bindings.read(0, 0, &bytes).read(0, 1, &bytes);
    let missing = program.run(&mut bindings, 0..1, &Limits::default()).unwrap_err();
    assert!(matches!(missing, RunError::Binding { set: 0, binding: 2, .. }), "{missing}");
    bindings.read(0, 2, &bytes);
    let read_only = program.run(&mut bindings, 0..1, &Limits::default()).unwrap_err();
    assert!(matches!(read_only, RunError::Binding { set: 0, binding: 2, .. }), "{read_only}");
    assert!(matches!(program.run(&mut bindings, 0..u32::MAX, &Limits::default()), Err(RunError::Range)));
    assert_eq!(Access::ReadWrite.name(), "readwrite");
}

/// Goes round for ever in the invocations that `condition` is true for.
fn endless(condition: &str) -> Module {
    module(&format!(
        "{HEAD}

  entry func @main() {{
  block0:
    v0 : i32x3 = input %id
    v1 : i32 = extract 0, v0
    v2 : i32 = const 0x5
    jump block1
  block1:
    v3 : bool = {condition}
    branch v3, block2, block3
  block2:
    jump block1
  block3:
    return
  }}
}}"
    ))
}

#[test]
fn endless_loops_run_out_of_fuel() {
    let mut compiler = Compiler::new().unwrap();
    for (condition, invocation) in [("icmp.eq v2, v2", 0), ("icmp.eq v1, v2", 4)] {
        let program = compiler.compile(&endless(condition)).unwrap();
        let error = program.run(&mut Bindings::new(), 0..16, &Limits { fuel: 1000 }).unwrap_err();
        let RunError::OutOfFuel { invocation: at } = error else { panic!("{error}") };
        assert_eq!(at, invocation, "{condition}");
    }
    let program = compiler.compile(&endless("icmp.ne v2, v2")).unwrap();
    let ran = program.run(&mut Bindings::new(), 0..16, &Limits { fuel: 1000 }).unwrap();
    assert_eq!(program.run(&mut Bindings::new(), 0..16, &Limits { fuel: ran.rounds }).unwrap(), ran);
    assert!(program.run(&mut Bindings::new(), 0..16, &Limits { fuel: 4 }).is_ok());
}

#[test]
fn other_stages_are_refused() {
    let mut module = endless("icmp.eq v2, v2");
    module.entry = None.into();
    assert!(matches!(Compiler::new().unwrap().compile(&module), Err(CompileError::Unsupported { .. })));
}

/// An index that is brought into range needs no check, and reads what it should wherever it came from.
#[test]
fn indices_brought_into_range_stay_in_their_buffer() {
    let module = module(&format!(
        "{HEAD}
  storage @at = set 0 binding 0 read oob zero
  uniform @rows = set 0 binding 1 size 64
  storage @to = set 0 binding 2 readwrite oob zero

  entry func @main() {{
  block0:
    v0 : i32x3 = input %id
    v1 : i32 = extract 0, v0
    v2 : i32 = const 0x4
    v3 : i32 = imul v1, v2
    v4 : i32 = load storage @at align 4, v3
    v5 : i32 = const 0x3
    v6 : i32 = umin v4, v5
    v7 : i32 = shl v6, v2
    v8 : f32x4 = load uniform @rows align 16, v7
    v9 : i32x4 = bitcast v8
    v10 : i32 = shl v1, v2
    store storage @to align 16, v10, v9
    return
  }}
}}"
    ));
    let at = [0u32, 1, 2, 3, 4, 5, 0x1000_0000, u32::MAX, 2];
    let buffers =
        [at.iter().flat_map(|a| a.to_le_bytes()).collect(), (0..64).collect(), vec![0; 16 * at.len()]];
    let (got, ran) = native(&mut Compiler::new().unwrap(), &module, &buffers, at.len() as u32).unwrap();
    assert!(got == reference(&module, &buffers, at.len() as u32));
    assert_eq!(ran.exact, 0);
}

/// Words of a uniform buffer that the program also stores to, by another name, are not taken for constants.
#[test]
fn words_that_are_stored_to_are_loaded_anew() {
    let module = module(&format!(
        "{HEAD}
  uniform @count = set 0 binding 0 size 16
  storage @same = set 0 binding 0 readwrite oob zero

  entry func @main() {{
  block0:
    v0 : i32 = const 0x0
    v1 : i32 = load uniform @count align 4, v0
    v2 : i32 = const 0x1
    v3 : i32 = iadd v1, v2
    store storage @same align 4, v0, v3
    return
  }}
}}"
    ));
    let program = Compiler::new().unwrap().compile(&module).unwrap();
    let mut bytes = vec![0; 16];
    let mut bindings = Bindings::new();
    bindings.write(0, 0, &mut bytes);
    program.run(&mut bindings, 0..12, &Limits::default()).unwrap();
    drop(bindings);
    // Each of three groups adds one.
    assert_eq!(bytes[0], 3);
}
