//! Native code of PICA200 programs.

use crate::bytes::Bytes;
use crate::translate::decodable;
use xenoglot_interp::{Bindings as Reference, Interpreter, Limits as ReferenceLimits};
use xenoglot_ir::Module;
use xenoglot_native::{Bindings, CompileError, Compiler, Limits, MAX_FRAME, RunError};
use xenoglot_opt::{Context, optimize};
use xenoglot_pica_shader::Program;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::{LiftOptions, lift};
use xenoglot_testgen::pica::{Category, environment, program};
use xenoglot_testgen::rng::Rng;

/// Bytes of stack of the thread that runs the code.
const STACK: usize = 256 << 10;
/// Longer programs cost time; frames of irreducible ones show their growth from 150 words on.
const MAX_WORDS: usize = 256;
/// One group and a part of another.
const INVOCATIONS: u32 = 6;
/// Instructions that the interpreter executes of a program, and rounds that native code goes.
const FUEL: u64 = 1 << 15;

/// Seeds: programs of all categories with the number that makes their uniforms and inputs.
pub fn programs() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for category in Category::ALL.into_iter().filter(|&c| c != Category::Geometry) {
        for seed in 0..3 {
            let mut rng = Rng::new(seed);
            let words = if category == Category::Irreducible { 100 + 30 * seed as u32 } else { 40 };
            let sample = program(&mut rng, category, words);
            let descriptors = &sample.program.descriptors;
            let mut bytes = vec![seed as u8, sample.entry as u8, descriptors.len() as u8];
            let words = descriptors.iter().chain(&sample.program.code);
            bytes.extend(words.flat_map(|w| w.to_le_bytes()));
            all.push(bytes);
        }
    }
    all
}

/// A PICA200 vertex program: its native code keeps within its bound on a thread with little stack, and leaves what the
/// interpreter leaves.
pub fn native(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut rng = Rng::new(bytes.u8().into());
    let entry = bytes.u8().into();
    let descriptors = (0..bytes.u8() & 127).map(|_| bytes.u32()).collect();
    let mut code = Vec::new();
    while !bytes.is_empty() && code.len() < MAX_WORDS {
        code.push(decodable(bytes.u32()));
    }
    crate::translate::end(&mut code);
    let options = LiftOptions::compute(entry);
    let mut module = lift(&Program { code, descriptors }, &options)
        .expect("every word decodes and the entry is in range")
        .module;
    let Ok(()) = optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    let mut compiler = Compiler::new().expect("a host");
    let compiled = compiler.compile(&module);
    let program = match compiled {
        Ok(program) => program,
        Err(CompileError::Unsupported { .. }) => return,
        Err(e) => panic!("{e}"),
    };
    if let Err(e) = program.prepare_exact(&mut compiler)
        && !matches!(&*e, CompileError::Unsupported { .. })
    {
        panic!("{e}");
    }
    assert!(program.stack_size() <= MAX_FRAME);

    let first = environment(&mut rng);
    let uniforms = uniform_buffer(first.floats.concat(), first.ints.concat(), first.bools);
    let inputs = (0..INVOCATIONS).flat_map(|_| environment(&mut rng).inputs.concat());
    let inputs: Vec<u8> = inputs.flat_map(u32::to_le_bytes).collect();
    let mut state = vec![0; (INVOCATIONS * VERTEX_STATE_STRIDE) as usize];
    let expected = interpret(&mut module, &uniforms, &inputs, &state);
    let run = || {
        let mut bindings = Bindings::new();
        bindings.read(0, UNIFORM_BINDING, &uniforms).read(0, INPUT_BINDING, &inputs);
        bindings.write(0, STATE_BINDING, &mut state);
        program.run(&mut bindings, 0..INVOCATIONS, &Limits { fuel: FUEL })
    };
    let ran = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        thread.expect("a thread").join().expect("native code does not panic")
    });
    match (ran, expected) {
        (Ok(_), Some(expected)) => assert!(state == expected, "another state\n{module}"),
        (Ok(_) | Err(RunError::OutOfFuel { .. }), None) | (Err(RunError::Compile(_)), _) => {}
        (Err(e), _) => panic!("{e}\n{module}"),
    }
}

/// What the interpreter leaves in the state; nothing if it runs out of fuel.
fn interpret(module: &mut Module, uniforms: &[u8], inputs: &[u8], state: &[u8]) -> Option<Vec<u8>> {
    module.workgroup = [INVOCATIONS, 1, 1];
    let mut bindings = Reference::new(module);
    let mut left = None;
    for (r, data) in &module.resources {
        let buffers = [(UNIFORM_BINDING, uniforms), (INPUT_BINDING, inputs), (STATE_BINDING, state)];
        let buffer = buffers.iter().find(|b| b.0 == data.binding).expect("a binding of the layout");
        bindings.set_buffer(r, buffer.1.to_vec());
        left = left.or((data.binding == STATE_BINDING).then_some(r));
    }
    let limits = ReferenceLimits { fuel: FUEL, ..ReferenceLimits::default() };
    let mut interpreter = Interpreter::new(module).expect("verified modules are whole");
    interpreter.dispatch([1; 3], &mut bindings, &limits).ok()?;
    Some(bindings.buffer(left.expect("a state record")).to_vec())
}
