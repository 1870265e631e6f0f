//! Native code on threads with little stack: frames are bounded, whatever the program.

mod common;

use common::{native, promote, reference};
use std::fmt::Write;
use xenoglot_interp::{Bindings as Reference, Interpreter, Limits as ReferenceLimits};
use xenoglot_ir::text::{Limits as TextLimits, parse};
use xenoglot_ir::{Module, verify};
use xenoglot_native::{Bindings, CompileError, Compiler, Limits, MAX_FRAME, Program, RunError};
use xenoglot_opt::{Context, optimize};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::{LiftOptions, lift};
use xenoglot_testgen::cfg::Shape;
use xenoglot_testgen::ir::{Family, Options, generate, inputs, output_words};
use xenoglot_testgen::pica::{Category, environment, program};
use xenoglot_testgen::rng::Rng;

/// Less than any thread of an emulator has.
const STACK: usize = 256 << 10;

/// Does `work` on a thread with little stack.
fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("no panic")
    })
}

/// Both variants of a module.
fn compile(compiler: &mut Compiler, module: &Module) -> Result<Program, CompileError> {
    let program = compiler.compile(module)?;
    program.prepare_exact(compiler).expect("the exact variant is compiled if the other is");
    assert!(program.stack_size() <= MAX_FRAME, "{} bytes of stack", program.stack_size());
    Ok(program)
}

const INVOCATIONS: u32 = 7;

/// Uniforms, inputs and an empty state of a random program.
fn environment_buffers(rng: &mut Rng) -> [Vec<u8>; 3] {
    let first = environment(rng);
    let uniforms = uniform_buffer(first.floats.concat(), first.ints.concat(), first.bools).to_vec();
    let inputs = (0..INVOCATIONS).flat_map(|_| environment(rng).inputs.concat());
    let inputs = inputs.flat_map(u32::to_le_bytes).collect();
    [uniforms, inputs, vec![0; (INVOCATIONS * VERTEX_STATE_STRIDE) as usize]]
}

/// A random program of the category with `words` words.
fn random(category: Category, words: u32, seed: u64) -> (Module, [Vec<u8>; 3]) {
    let mut rng = Rng::new(seed);
    let sample = program(&mut rng, category, words);
    let mut module = lift(&sample.program, &LiftOptions::compute(sample.entry)).expect("lifts").module;
    let Ok(()) = optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    (module, environment_buffers(&mut rng))
}

/// Instructions that the interpreter executes of programs that may run for ever.
const FUEL: u64 = 1 << 18;

/// What the interpreter leaves in the state; nothing if it runs out of fuel.
fn interpret(module: &Module, buffers: &[Vec<u8>; 3]) -> Option<Vec<u8>> {
    let mut module = module.clone();
    module.workgroup = [INVOCATIONS, 1, 1];
    let mut interpreter = Interpreter::new(&module).expect("verified");
    let mut bindings = Reference::new(&module);
    let mut state = None;
    for (r, data) in &module.resources {
        let n = [UNIFORM_BINDING, INPUT_BINDING, STATE_BINDING].iter().position(|&b| b == data.binding);
        bindings.set_buffer(r, buffers[n.expect("a binding of the layout")].clone());
        state = state.or((data.binding == STATE_BINDING).then_some(r));
    }
    let limits = ReferenceLimits { fuel: FUEL, ..ReferenceLimits::default() };
    interpreter.dispatch([1; 3], &mut bindings, &limits).ok()?;
    Some(bindings.buffer(state.expect("a state record")).to_vec())
}

/// What the program leaves in the state on a thread with little stack, or that it ran out of fuel.
fn run(program: &Program, buffers: &[Vec<u8>; 3]) -> Result<Vec<u8>, RunError> {
    let [uniforms, inputs, state] = buffers;
    let mut state = state.clone();
    on_small_stack(|| {
        let mut bindings = Bindings::new();
        bindings.read(0, UNIFORM_BINDING, uniforms).read(0, INPUT_BINDING, inputs);
        bindings.write(0, STATE_BINDING, &mut state);
        program.run(&mut bindings, 0..INVOCATIONS, &Limits { fuel: FUEL }).map(|_| ())
    })?;
    Ok(state)
}

/// Runs programs of the category on a small stack; those that end leave the same as on the interpreter.
fn programs(category: Category, words: impl IntoIterator<Item = u32>) {
    let mut compiler = Compiler::new().expect("a host");
    let (mut ended, mut endless, mut most) = (0, 0, 0);
    for (seed, words) in (0..).zip(words) {
        let (module, buffers) = random(category, words, seed);
        let program = compile(&mut compiler, &module).unwrap_or_else(|e| panic!("{words} words: {e}"));
        most = most.max(program.stack_size());
        match (run(&program, &buffers), interpret(&module, &buffers)) {
            (Ok(state), Some(expected)) => {
                assert!(state == expected, "seed {seed}, {words} words: another state\n{module}");
                ended += 1;
            }
            (Ok(_) | Err(RunError::OutOfFuel { .. }), None) => endless += 1,
            (result, _) => panic!("seed {seed}, {words} words: {result:?}"),
        }
    }
    println!("{category:?}: {ended} equal, {endless} without end, at most {most} bytes of stack");
    assert!(ended > endless);
}

/// Irreducible programs once had frames of megabytes: block parameters by the square of their length.
#[test]
fn irreducible_programs_of_more_than_150_words_run_on_a_small_stack() {
    programs(Category::Irreducible, (151..).step_by(7).take(24));
}

#[test]
fn long_programs_run_on_a_small_stack() {
    programs(Category::Irreducible, [800]);
    programs(Category::Straight, [300, 1200]);
    programs(Category::Jumps, [300, 900]);
    programs(Category::Typical, [400, 1200]);
}

/// Modules of one function whose lanes never part, and others.
#[test]
fn random_modules_of_many_blocks_run_on_a_small_stack() {
    let families = Family::ALL.iter().copied().filter(|&f| f != Family::Calls).collect();
    let options = Options {
        families,
        helpers: 0,
        invocations: 7,
        denormals: true,
        shape: Some(Shape::Wild),
        nodes: 120,
        ops: 4,
        ..Options::default()
    };
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut ran = 0;
    for seed in 0..24 {
        let mut module = generate(seed, &options);
        promote(&mut module);
        let mut compiler = Compiler::new().expect("a host");
        match compile(&mut compiler, &module) {
            Ok(_) => {}
            Err(CompileError::Unsupported { what, .. }) if what.starts_with('`') => continue,
            Err(e) => panic!("seed {seed}: {e}"),
        }
        let buffers = [bytes(&inputs(seed, &options)), vec![0; 4 * output_words(&options)]];
        let expected = reference(&module, &buffers, 7);
        let got = on_small_stack(|| native(&mut compiler, &module, &buffers, 7).map(|(left, _)| left));
        assert!(got.expect("compiled before") == expected, "seed {seed}");
        ran += 1;
    }
    assert!(ran > 12, "{ran}");
}

/// Loads `count` words of the invocation and then adds them from the last to the first, so that all are live at once.
fn hoard(count: u32) -> Module {
    let mut body = String::new();
    let mut line = |l: String| writeln!(body, "    {l}").expect("a string");
    line("v0 : i32x3 = input %id".into());
    line("v1 : i32 = extract 0, v0".into());
    line(format!("v2 : i32 = const {:#x}", 4 * count));
    line("v3 : i32 = imul v1, v2".into());
    for n in 0..count {
        line(format!("v{} : i32 = const {:#x}", 4 + 3 * n, 4 * n));
        line(format!("v{} : i32 = iadd v3, v{}", 5 + 3 * n, 4 + 3 * n));
        line(format!("v{} : i32 = load storage @from align 4, v{}", 6 + 3 * n, 5 + 3 * n));
    }
    let mut sum = 6 + 3 * (count - 1);
    let mut next = 4 + 3 * count;
    for n in (0..count - 1).rev() {
        line(format!("v{next} : i32 = imul v{sum}, v2"));
        line(format!("v{} : i32 = iadd v{next}, v{}", next + 1, 6 + 3 * n));
        (sum, next) = (next + 1, next + 2);
    }
    line(format!("v{next} : i32 = const 0x4"));
    line(format!("v{} : i32 = imul v1, v{next}", next + 1));
    line(format!("store storage @to align 4, v{}, v{sum}", next + 1));
    let module = format!(
        "module compute \"hoard\" {{
  workgroup 1 1 1
  input %id = builtin global_invocation_id : i32x3
  storage @from = set 0 binding 0 read oob zero
  storage @to = set 0 binding 1 readwrite oob zero

  entry func @main() {{
  block0:
{body}    return
  }}
}}"
    );
    let module = parse(&module, &TextLimits::default()).unwrap_or_else(|e| panic!("{e}"));
    verify(&module).unwrap_or_else(|e| panic!("{e}"));
    module
}

/// More values live at once than the stack has room for are a typed error, as many as fit run.
#[test]
fn values_beyond_the_largest_frame_are_refused() {
    let mut compiler = Compiler::new().expect("a host");
    let room = MAX_FRAME / 16;
    match compiler.compile(&hoard(room + 64)) {
        Err(CompileError::Unsupported { what, .. }) => assert!(what.contains("stack"), "{what}"),
        other => panic!("{other:?}"),
    }
    let count = room - 256;
    let module = hoard(count);
    let program = compile(&mut compiler, &module).expect("fits");
    assert!(program.stack_size() > MAX_FRAME / 2);
    let words = (0..count * 5).map(|n| n.wrapping_mul(0x9e37_79b9));
    let buffers = [words.flat_map(u32::to_le_bytes).collect(), vec![0; 20]];
    let (got, _) = on_small_stack(|| native(&mut compiler, &module, &buffers, 5)).expect("compiled before");
    assert!(got == reference(&module, &buffers, 5));
}
