//! Arbitrary words and arbitrary sequences of valid forms: each is lifted to a module that verifies, before and after
//! the passes, or gives an error.

mod common;

use common::{lift, run, store};
use proptest::prelude::*;
use xenoglot_ir::module::Texel;
use xenoglot_ir::verify;
use xenoglot_maxwell::flow::is_flow;
use xenoglot_maxwell::gpu::{Handle, Texture};
use xenoglot_maxwell::isa::FORMS;
use xenoglot_maxwell::lift::{
    LiftOptions, Shader, cancel_perspective, flatten_integer_cubes, lift_graphics, scale_textures,
    stage_to_compute,
};
use xenoglot_maxwell::sph::Sph;
use xenoglot_maxwell::{GpuAccessor, Opcode, Role, decode};
use xenoglot_opt::pipeline;

/// Entries of the stack before it becomes data.
const DEPTH: u32 = 16;

/// A word of the form with its open bits from `bits`.
fn word(form: usize, bits: u64) -> u64 {
    let count = FORMS.iter().count();
    FORMS.iter().nth(form % count).map_or(bits, |f| bits & !f.mask | f.value)
}

/// Operations of which no form is lifted in a kernel: those of graphics stages, and what only debuggers, exception
/// handlers and drivers use.
const REFUSED: &[Opcode] = {
    use Opcode::*;
    &[
        Ald,
        Ast,
        Getcrsptr,
        Getlmembase,
        Ipa,
        Kil,
        Lepc,
        Out,
        Pixld,
        R2b,
        Ram,
        Sam,
        Setcrsptr,
        Setlmembase,
        Stp,
        Tmml,
        Txa,
    ]
};

#[test]
fn every_form_lifts_or_is_refused() {
    let mut bits = 0x9e37_79b9_7f4a_7c15u64;
    let mut lifted = Vec::new();
    for (number, form) in FORMS.iter().enumerate() {
        for round in 0..192 {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Every other word has few bits: what is not asked for is often zero.
            let mixed = bits ^ bits >> 31;
            let sparse = mixed & mixed.rotate_left(21) & mixed.rotate_left(42);
            let word = word(number, if round % 2 == 0 { mixed } else { sparse });
            let runs = decode(8, word).is_ok_and(|inst| !inst.guard.is_never());
            if lift(&[word], DEPTH).is_ok() && runs {
                lifted.push(form.op);
            }
        }
    }
    // Arbitrary targets are mostly outside the code, and pops have nothing to pop.
    for &op in Opcode::ALL.iter().filter(|op| !is_flow(**op)) {
        let refused = REFUSED.contains(&op);
        assert_eq!(lifted.contains(&op), !refused, "{}", op.name());
    }
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
            let touches = [Role::Address, Role::Handle].map(|role| inst.operand(role).is_some());
            let memory = touches != [false; 2] || inst.op == Opcode::Ldc;
            let flow = inst.operand(Role::Target).is_some() || is_flow(inst.op);
            if !memory && !flow && lift(&[word], DEPTH).is_ok() {
                words.push(word);
            }
        }
    }
    words
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
        let [lifted, optimised] = lift(&program, DEPTH).unwrap();
        let (want, got) = (run(&lifted), run(&optimised));
        let text = || {
            program.iter().filter_map(|&w| decode(8, w).ok()).map(|i| format!("{i}\n")).collect::<String>()
        };
        assert_eq!(want, got, "{}", text());
    }
}

/// A GPU of whose textures every other is of integers.
struct Integers;

impl GpuAccessor for Integers {
    fn texture(&self, handle: Handle) -> Texture {
        let texel = if handle.texture.offset & 4 != 0 { Texel::Uint } else { Texel::Float };
        Texture { texel, ..Texture::default() }
    }
}

/// A program of a stage of the graphics pipeline, 0 to 4, with an arbitrary header.
fn graphics(stage: usize, header: &[u32], words: &[u64]) {
    const STAGES: [u32; 5] = [1 | 1 << 10, 1 | 2 << 10, 1 | 3 << 10, 1 | 4 << 10, 2 | 5 << 10];
    let first = header[0] & !0x3c1f | STAGES[stage % 5];
    let bytes: Vec<u8> =
        std::iter::once(first).chain(header[1..].iter().copied()).flat_map(u32::to_le_bytes).collect();
    let sph = Sph::parse(&bytes).unwrap();
    let code = common::code(words);
    let shader = Shader { sph, code: &code, entry: 0, constants: &[] };
    let options = LiftOptions::default();
    let Ok(lifted) = lift_graphics(&shader, None, &options, &Integers) else { return };
    // What is made for hosts that lack something.
    let mut reworked = lifted.clone();
    flatten_integer_cubes(&mut reworked);
    scale_textures(&mut reworked, &options);
    verify(&reworked.module).unwrap_or_else(|e| panic!("{e}\n{}", reworked.module));
    if stage_to_compute(&mut reworked, &options, None).is_ok() {
        verify(&reworked.module).unwrap_or_else(|e| panic!("{e}\n{}", reworked.module));
    }
    let mut module = lifted.module;
    verify(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    pipeline::optimize(&mut module, &mut Default::default(), &Default::default(), &mut pipeline::Verify)
        .unwrap_or_else(|e| panic!("{e}"));
    cancel_perspective(&mut module);
    verify(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn arbitrary_words(words in prop::collection::vec(any::<u64>(), 0..40)) {
        let _ = (lift(&words, DEPTH), lift(&words, 0));
    }

    #[test]
    fn arbitrary_graphics(
        stage in 0..5usize,
        header in prop::collection::vec(any::<u32>(), 20),
        picks in prop::collection::vec((any::<usize>(), any::<u64>()), 0..12),
    ) {
        // Few lift as they are; half of the bits are those of compilers: no guard, and the end of tuples.
        let words: Vec<u64> =
            picks.iter().map(|&(form, bits)| word(form, bits & !0x000f_0000 | 0x0007_0000)).collect();
        graphics(stage, &header, &words);
        for &word in &words {
            graphics(stage, &header, &[word]);
        }
    }

    #[test]
    fn arbitrary_instructions(picks in prop::collection::vec((any::<usize>(), any::<u64>()), 0..40)) {
        let words: Vec<u64> = picks.iter().map(|&(form, bits)| word(form, bits)).collect();
        let _ = (lift(&words, DEPTH), lift(&words, 0));
    }
}
