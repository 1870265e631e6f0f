//! Random programs: the executor, the lifted module and the optimised module leave the same records, bit for bit.

use proptest::prelude::*;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::{Module, verify};
use xenoglot_vpu::isa::OPS;
use xenoglot_vpu::lift::layout::*;
use xenoglot_vpu::lift::record::{Record, global_bytes, run};
use xenoglot_vpu::lift::{LiftOptions, lift};
use xenoglot_vpu::number::{Fraction, Lanes};
use xenoglot_vpu::texture::TexelFormat;
use xenoglot_vpu::{Inst, Number, Op, Program, REGISTERS, Texture, TileFormat};

const THREADS: usize = 4;

fn interpreted(
    module: &Module,
    globals: &[Lanes; REGISTERS],
    memory: &[u32],
    records: &[Record],
) -> Vec<Record> {
    let mut interpreter = Interpreter::new(module).unwrap();
    let mut bindings = Bindings::new(module);
    let resource = |binding| module.resources.iter().find(|(_, r)| r.binding == binding).unwrap().0;
    bindings.set_buffer(resource(GLOBAL_BINDING), global_bytes(globals));
    bindings.set_buffer(resource(THREAD_BINDING), records.iter().flat_map(Record::to_bytes).collect());
    bindings.set_words(resource(MEMORY_BINDING), memory);
    interpreter.dispatch([records.len() as u32, 1, 1], &mut bindings, &Limits::default()).unwrap();
    bindings.buffer(resource(THREAD_BINDING)).chunks(THREAD_STRIDE as usize).map(Record::from_bytes).collect()
}

/// Numbers that mean something: small ones, limits, and any bits.
fn lane() -> impl Strategy<Value = u32> {
    let special =
        vec![0, 1, 1 << 16, u32::MAX, i32::MAX as u32, 1 << 31, 0x7fc0_0000, 0x7f80_0000, 0x3f80_0000];
    prop_oneof![
        any::<u32>(),
        (-0x40_0000i32..0x40_0000).prop_map(|v| v as u32),
        (-8.0f32..8.0).prop_map(f32::to_bits),
        prop::sample::select(special),
    ]
}

/// An instruction that mostly stays among the first registers; jumps go forward.
fn inst(at: u16) -> impl Strategy<Value = u32> {
    let fields = (0u32..OPS.len() as u32, 0u8..6, 0u8..16, any::<bool>(), prop::array::uniform3(0u8..20));
    (fields, any::<u16>()).prop_map(move |((opcode, d, mask, saturate, [a, b, c]), extra)| {
        let op = Op::from_opcode(opcode).unwrap();
        let extra = if matches!(op, Op::Jmp | Op::Jz) { at + 1 + extra % 4 } else { extra };
        let source = |n: u8| if n < 6 { n } else { n & 1 | (n & 2) << 3 };
        let (a, b, c) = (source(a), source(b), source(c));
        Inst { op, d, mask: mask | 1, saturate, a, b, c, extra }.encode()
    })
}

fn options() -> impl Strategy<Value = LiftOptions> {
    let number = prop::sample::select(vec![
        Number::Float,
        Number::default(),
        Number::Fixed(Fraction::new(8).unwrap()),
        Number::Fixed(Fraction::new(14).unwrap()),
    ]);
    let texel = prop::sample::select(vec![TexelFormat::Rgb565, TexelFormat::Rgba5551, TexelFormat::Palette4]);
    let texture =
        (texel, any::<bool>(), 3u8..6, 3u8..6, 0u32..4096).prop_map(|(format, bilinear, w, h, at)| Texture {
            address: at,
            palette: at ^ 512,
            log2_size: [w, h],
            format,
            bilinear,
        });
    let formats = prop::array::uniform4(prop::sample::select(TileFormat::ALL.to_vec()));
    (number, formats, prop::array::uniform4(texture)).prop_map(|(number, formats, textures)| LiftOptions {
        number,
        formats,
        textures,
        workgroup: 1,
    })
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(384))]
    #[test]
    fn lifted_programs_do_what_the_executor_does(
        words in (1usize..24).prop_flat_map(|n| (0..n as u16).map(inst).collect::<Vec<_>>()),
        options in options(),
        registers in prop::collection::vec(prop::array::uniform4(lane()), THREADS * 6),
        tiles in prop::array::uniform4(any::<u32>()),
        globals in prop::array::uniform16(prop::array::uniform4(lane())),
        seed in any::<u32>(),
    ) {
        let program = Program::from_words(&words);
        let memory: Vec<u32> = (0..1200u32).map(|n| n.wrapping_mul(0x9e37_79b9) ^ seed).collect();
        let records: Vec<Record> = registers
            .chunks(6)
            .map(|start| {
                let mut record = Record { tiles, ..Record::default() };
                record.registers[..6].copy_from_slice(start);
                record
            })
            .collect();
        let want: Vec<Record> =
            records.iter().map(|r| run(&program, &options, &globals, &memory, r, 64).unwrap()).collect();
        let mut module = lift(&program, &options).unwrap();
        prop_assert!(verify(&module).is_ok(), "{:?}", verify(&module));
        prop_assert_eq!(&interpreted(&module, &globals, &memory, &records), &want);
        let mut context = xenoglot_opt::Context::new();
        let Ok(()) = xenoglot_opt::optimize(&mut module, &mut context, &xenoglot_opt::Options::default(), &mut ());
        prop_assert_eq!(&interpreted(&module, &globals, &memory, &records), &want);
    }

    #[test]
    fn any_words_lift_to_a_sound_module(words in prop::collection::vec(any::<u32>(), 0..300)) {
        let module = lift(&Program::from_words(&words), &LiftOptions::default()).unwrap();
        prop_assert!(verify(&module).is_ok());
    }
}
