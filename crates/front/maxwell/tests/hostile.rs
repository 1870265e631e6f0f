//! Arbitrary words and arbitrary sequences of valid forms: each is lifted to a module that verifies, before and after
//! the passes, or gives an error.

use proptest::prelude::*;
use xenoglot_interp::{Bindings, Interpreter};
use xenoglot_ir::{Module, verify};
use xenoglot_maxwell::flow::{ConstantBank, Limits, is_flow};
use xenoglot_maxwell::isa::FORMS;
use xenoglot_maxwell::lift::layout::GLOBAL_BINDING;
use xenoglot_maxwell::lift::{Kernel, LiftError, LiftOptions, lift_compute};
use xenoglot_maxwell::{Opcode, Role, decode};
use xenoglot_opt::pipeline;

const EXIT: u64 = 0xe300_0000_0007_000f;

/// Code of groups: a scheduling word before each three words; after them EXITs.
fn code(words: &[u64]) -> Vec<u8> {
    let padding = std::iter::repeat_n(EXIT, 3 + words.len().next_multiple_of(3) - words.len());
    let words: Vec<u64> = words.iter().copied().chain(padding).collect();
    let groups = words.chunks(3).flat_map(|group| std::iter::once(0).chain(group.iter().copied()));
    groups.flat_map(u64::to_le_bytes).collect()
}

fn lift_checked(words: &[u64]) -> Result<[Module; 2], LiftError> {
    lift_with(words, 16)
}

/// Lifts with a stack of so many entries before it becomes data.
fn lift_with(words: &[u64], max_depth: u32) -> Result<[Module; 2], LiftError> {
    let table: Vec<u8> = (0..16u32).flat_map(|i| (i * 8).to_le_bytes()).collect();
    let kernel = Kernel {
        code: &code(words),
        entry: 0,
        workgroup: [1, 1, 1],
        shared_bytes: 256,
        local_bytes: 64,
        constants: &[ConstantBank { bank: 2, data: &table }],
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

/// A word of the form with its open bits from `bits`.
fn word(form: usize, bits: u64) -> u64 {
    let count = FORMS.iter().count();
    FORMS.iter().nth(form % count).map_or(bits, |f| bits & !f.mask | f.value)
}

#[test]
fn every_form_lifts_or_is_refused() {
    let mut bits = 0x9e37_79b9_7f4a_7c15u64;
    for form in 0..FORMS.iter().count() {
        for _ in 0..16 {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let _ = lift_checked(&[word(form, bits ^ bits >> 31)]);
        }
    }
}

/// STG.E of register `n` to word `n` of global memory.
fn store(n: u64) -> u64 {
    0xeedc_2000_0007_ff00 | n << 22 | n
}

/// Words that lift, of every form that has them; none that touches memory, so that running them faults nowhere.
fn harmless() -> Vec<u64> {
    let mut bits = 1u64;
    let mut words = Vec::new();
    for form in 0..FORMS.iter().count() {
        for _ in 0..64 {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Few registers and predicates, so that values meet.
            let word = word(form, (bits ^ bits >> 31) & !0x0000_e000_00e0_e0e0);
            let Ok(inst) = decode(8, word) else { continue };
            let memory = inst.operand(Role::Address).is_some() || inst.op == Opcode::Ldc;
            let flow = inst.operand(Role::Target).is_some() || is_flow(inst.op);
            if !memory && !flow && lift_checked(&[word]).is_ok() {
                words.push(word);
            }
        }
    }
    words
}

/// What global memory holds after a run.
fn run(module: &Module) -> Vec<u32> {
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

#[test]
fn passes_keep_what_instructions_compute() {
    let words = harmless();
    assert!(words.len() > 1000, "{}", words.len());
    let mut bits = 7u64;
    for _ in 0..400 {
        let program: Vec<u64> = (0..24)
            .map(|_| {
                bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                words[(bits >> 33) as usize % words.len()]
            })
            .chain((0..32).map(store))
            .collect();
        let [lifted, optimised] = lift_checked(&program).unwrap();
        let (want, got) = (run(&lifted), run(&optimised));
        let text = || {
            program.iter().filter_map(|&w| decode(8, w).ok()).map(|i| format!("{i}\n")).collect::<String>()
        };
        assert_eq!(want, got, "{}", text());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_words(words in prop::collection::vec(any::<u64>(), 0..40)) {
        let _ = (lift_checked(&words), lift_with(&words, 0));
    }

    #[test]
    fn arbitrary_instructions(picks in prop::collection::vec((any::<usize>(), any::<u64>()), 0..40)) {
        let words: Vec<u64> = picks.iter().map(|&(form, bits)| word(form, bits)).collect();
        let _ = (lift_checked(&words), lift_with(&words, 0));
    }
}
