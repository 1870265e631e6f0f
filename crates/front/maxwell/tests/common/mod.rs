//! Programs made of words, and running them.
#![allow(dead_code, reason = "each test uses a part")]

use xenoglot_interp::{Bindings, Interpreter};
use xenoglot_ir::{Module, verify};
use xenoglot_maxwell::flow::Limits;
use xenoglot_maxwell::lift::layout::GLOBAL_BINDING;
use xenoglot_maxwell::lift::{ConstantBank, Kernel, LiftError, LiftOptions, lift_compute};
use xenoglot_opt::pipeline;

const EXIT: u64 = 0xe300_0000_0007_000f;

/// MOV32I of a number to register `n`.
pub fn set(n: u8, v: u32) -> u64 {
    0x0100_0000_0007_f000 | u64::from(v) << 20 | u64::from(n)
}

/// STG.E of register `n` to word `n` of global memory.
pub fn store(n: u8) -> u64 {
    0xeedc_2000_0007_ff00 | u64::from(n) << 22 | u64::from(n)
}

/// Code of groups: a scheduling word before each three words; after them EXITs.
pub fn code(words: &[u64]) -> Vec<u8> {
    let padding = std::iter::repeat_n(EXIT, 3 + words.len().next_multiple_of(3) - words.len());
    let words: Vec<u64> = words.iter().copied().chain(padding).collect();
    let groups = words.chunks(3).flat_map(|group| std::iter::once(0).chain(group.iter().copied()));
    groups.flat_map(u64::to_le_bytes).collect()
}

/// The module of a program for one invocation, as lifted and after all passes; both verify. The stack has `max_depth`
/// entries before it becomes data.
pub fn lift(words: &[u64], max_depth: u32) -> Result<[Module; 2], LiftError> {
    let table: Vec<u8> = (0..16u32).flat_map(|i| (i * 8).to_le_bytes()).collect();
    let kernel = Kernel {
        code: &code(words),
        entry: 0,
        workgroup: [1, 1, 1],
        shared_bytes: 256,
        local_bytes: 64,
        constants: &[ConstantBank { bank: 2, data: &table }],
        functions: &[],
    };
    let options = LiftOptions { limits: Limits { max_nodes: 4096, max_depth }, ..LiftOptions::default() };
    let lifted = lift_compute(&kernel, &options)?.module;
    verify(&lifted).unwrap_or_else(|e| panic!("{e}\n{lifted}"));
    let mut module = lifted.clone();
    let optimised =
        pipeline::optimize(&mut module, &mut Default::default(), &Default::default(), &mut pipeline::Verify);
    optimised.unwrap_or_else(|e| panic!("{e}\n{module}"));
    Ok([lifted, module])
}

/// What global memory holds after a run: 64 words, some number in each at first.
pub fn run(module: &Module) -> Vec<u32> {
    let mut bindings = Bindings::new(module);
    let mut global = None;
    for (resource, data) in module.resources.iter() {
        let words: Vec<u32> = (0..0x1_0000 / 4).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
        bindings.set_words(resource, if data.binding == GLOBAL_BINDING { &words[..64] } else { &words });
        global = global.or((data.binding == GLOBAL_BINDING).then_some(resource));
    }
    let mut interpreter = Interpreter::new(module).unwrap();
    interpreter.dispatch([1, 1, 1], &mut bindings, &Default::default()).unwrap();
    global.map_or_else(Vec::new, |g| bindings.words(g))
}
