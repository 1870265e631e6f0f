//! Fragments that run together: quads, helpers, and inputs of their own.

use xenoglot_interp::{Bindings, Fragment, Interpreter, Limits};
use xenoglot_ir::module::Direction;
use xenoglot_ir::text::parse;
use xenoglot_ir::{Bits, Module, Var, verify};

/// Fragments with `%x` from a list, and what they put out.
fn run(text: &str, x: &[f32]) -> Vec<Fragment> {
    let module: Module = parse(text, &Default::default()).unwrap();
    verify(&module).unwrap_or_else(|e| panic!("{e}"));
    let input: Var = module.vars.iter().find(|(_, v)| v.direction == Direction::Input).unwrap().0;
    let inputs: Vec<_> = x.iter().map(|v| vec![(input, Bits::scalar(v.to_bits().into()))]).collect();
    let mut interpreter = Interpreter::new(&module).unwrap();
    interpreter.run_fragments(&inputs, &mut Bindings::new(&module), &Limits::default()).unwrap()
}

fn module(outputs: usize, body: &str) -> String {
    let vars: String = (0..outputs).map(|n| format!("  output %o{n} = location {n} : f32\n")).collect();
    format!(
        "module fragment \"t\" {{\n  input %x = location 0 : f32\n{vars}\n  entry func @main() {{\n  block0:\n    \
         v0 : f32 = input %x\n{body}    return\n  }}\n}}\n"
    )
}

fn floats(fragments: &[Fragment], output: usize) -> Vec<f32> {
    fragments.iter().map(|f| f32::from_bits(f.outputs[output].words()[0])).collect()
}

/// Two quads.
const X: [f32; 8] = [1.0, 3.0, 10.0, 40.0, -1.0, 0.5, 2.0, -8.0];

#[test]
fn derivatives_are_of_a_quad() {
    let ops = ["ddx.fine", "ddx.coarse", "ddy.fine", "ddy.coarse"];
    let body: String = (0..4)
        .map(|n| format!("    v{} : f32 = {} v0\n    output %o{n}, v{}\n", n + 1, ops[n], n + 1))
        .collect();
    let fragments = run(&module(4, &body), &X);
    assert_eq!(floats(&fragments, 0), [2.0, 2.0, 30.0, 30.0, 1.5, 1.5, -10.0, -10.0]);
    assert_eq!(floats(&fragments, 1), [2.0, 2.0, 2.0, 2.0, 1.5, 1.5, 1.5, 1.5]);
    assert_eq!(floats(&fragments, 2), [9.0, 37.0, 9.0, 37.0, 3.0, -8.5, 3.0, -8.5]);
    assert_eq!(floats(&fragments, 3), [9.0, 9.0, 9.0, 9.0, 3.0, 3.0, 3.0, 3.0]);
}

#[test]
fn quads_exchange_and_sum() {
    let body = "    v1 : i32 = const 0
    v2 : i32 = const 1
    v3 : i32 = const 2
    v4 : f32 = sg.quad_swap width 0 iadd, v0, v1
    output %o0, v4
    v5 : f32 = sg.quad_swap width 0 iadd, v0, v2
    output %o1, v5
    v6 : f32 = sg.quad_swap width 0 iadd, v0, v3
    output %o2, v6
    v7 : f32 = sg.quad_broadcast width 0 iadd, v0, v3
    output %o3, v7
    v8 : i32 = const 27
    v9 : f32 = sg.quad_add width 0 iadd, v4, v0, v8
    output %o4, v9
    v10 : i32 = sg.id width 4 iadd
    v11 : f32 = u2f v10
    output %o5, v11
";
    let fragments = run(&module(6, body), &X[..4]);
    assert_eq!(floats(&fragments, 0), [3.0, 1.0, 40.0, 10.0]);
    assert_eq!(floats(&fragments, 1), [10.0, 40.0, 1.0, 3.0]);
    assert_eq!(floats(&fragments, 2), [40.0, 10.0, 3.0, 1.0]);
    assert_eq!(floats(&fragments, 3), [10.0; 4]);
    // 0 a + b, 1 b - a, 2 a - b, 3 b.
    assert_eq!(floats(&fragments, 4), [4.0, 2.0, 30.0, 40.0]);
    assert_eq!(floats(&fragments, 5), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn helpers_put_nothing_out_but_are_there() {
    let body = "    v1 : f32 = const 2.0
    v2 : bool = fcmp.olt v0, v1
    discard_if v2
    v3 : f32 = ddx.fine v0
    output %o0, v3
";
    let fragments = run(&module(1, body), &X);
    assert_eq!(fragments.iter().map(|f| f.demoted).collect::<Vec<_>>(), X.map(|x| x < 2.0));
    assert_eq!(floats(&fragments, 0), [0.0, 2.0, 30.0, 30.0, 0.0, 0.0, -10.0, 0.0]);
}

#[test]
fn fragments_alone_have_inputs_of_their_own() {
    let fragments = run(&module(1, "    output %o0, v0\n"), &X);
    assert_eq!(floats(&fragments, 0), X);
}
