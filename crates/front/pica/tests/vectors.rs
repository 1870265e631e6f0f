//! The crate against the oracle's files.

mod common;

use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::container::{
    Constant, ConstantValue, Dvle, Limits, RegisterFile, Semantic, ShaderKind, Shbin,
};
use xenoglot_pica_shader::decode;
use xenoglot_pica_shader::desc::Mask;
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble};
use xenoglot_pica_shader::float::{F16, F20, F24};
use xenoglot_pica_shader::program::Program;

#[test]
fn every_float_conversion_is_exact() {
    let cases = common::floats();
    for case in &cases {
        let format = match case.kind {
            24 => F24,
            20 => F20,
            16 => F16,
            other => panic!("no float of {other} bits"),
        };
        assert_eq!(format.to_single_bits(case.raw), case.single, "f{} {:#x}", case.kind, case.raw);
    }
    assert_eq!(cases.len(), 5000);
}

#[test]
fn a_shader_of_a_real_program_parses() {
    let path = common::root().join("../shared/vectors/pica-found/lovepotion-main_v_pica.shbin");
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let (shbin, extent) = Shbin::parse_prefix(&bytes, &Limits::default()).unwrap();
    assert!((bytes.len() - 3..=bytes.len()).contains(&extent));
    assert_eq!(shbin.program.code.len(), 13);
    assert_eq!(shbin.program.descriptors.len(), 7);
    let dvle = &shbin.executables[0];
    assert_eq!((dvle.main, dvle.end, dvle.input_mask, dvle.output_mask), (0, 13, 7, 7));
    let semantics: Vec<_> = dvle.outputs.iter().map(|o| (o.semantic, o.register, o.mask)).collect();
    assert_eq!(
        semantics,
        [
            (Semantic::Position, 0, Mask::ALL),
            (Semantic::Color, 1, Mask::ALL),
            (Semantic::TexCoord0, 2, Mask::ALL)
        ]
    );
    let names: Vec<_> = dvle.uniforms.iter().map(|u| (u.name.as_str(), u.file, u.first, u.count)).collect();
    assert_eq!(
        names,
        [
            ("inPosition", RegisterFile::Input, 0, 1),
            ("inColor", RegisterFile::Input, 1, 1),
            ("inTexCoord", RegisterFile::Input, 2, 1),
            ("projMtx", RegisterFile::Float, 0, 4),
            ("mdlvMtx", RegisterFile::Float, 4, 4),
        ]
    );
    assert_eq!(
        dvle.constants,
        [Constant { register: 95, value: ConstantValue::Float([0x3f_0000, 0, 0, 0]) }]
    );
    let text = disassemble(&shbin, &DisasmOptions { comments: true, ..DisasmOptions::default() });
    println!("{text}");
    // picasso made this file, so its choices of form and descriptor must be ours: nothing to spell out.
    assert!(!text.contains(".desc") && !text.contains('{'), "{text}");
    assert_eq!(assemble(&text), Ok(shbin));
}

#[test]
fn every_program_of_the_public_set_round_trips_through_assembly() {
    let (mut programs, mut words, mut automatic) = (0, 0, 0);
    for case in common::programs() {
        let shbin = Shbin {
            program: Program { code: case.code, descriptors: case.descriptors },
            executables: vec![Dvle {
                kind: if case.geometry { ShaderKind::Geometry } else { ShaderKind::Vertex },
                main: case.entry.into(),
                end: u32::MAX,
                ..Dvle::default()
            }],
            ..Shbin::default()
        };
        for address in 0..shbin.program.code.len() as u32 {
            let word = shbin.program.word(address);
            assert_eq!(
                decode::encode(&shbin.program.inst(address).unwrap()),
                Ok(word),
                "program {}",
                case.id
            );
        }
        let text = disassemble(&shbin, &DisasmOptions { comments: true, ..DisasmOptions::default() });
        assert!(!text.contains(".word"), "program {}:\n{text}", case.id);
        let back = assemble(&text).unwrap_or_else(|e| panic!("program {}: {e}\n{text}", case.id));
        assert_eq!(back, shbin, "program {}", case.id);
        programs += 1;
        words += shbin.program.code.len();
        automatic += usize::from(!text.contains(".desc"));
    }
    println!("{programs} programs, {words} words; {automatic} need no descriptor table in their text");
    assert_eq!(programs, 422);
}
