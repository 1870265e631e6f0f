use super::extract::{MAX_REJECTED, extract};
use super::*;
use crate::desc::Mask;
use crate::program::Program;
use proptest::prelude::*;

/// Names as files have them: any bytes but NUL, as characters.
fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec(1u8..=255, 0..12).prop_map(|bytes| bytes.into_iter().map(char::from).collect())
}

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        (0u8..16, any::<bool>())
            .prop_map(|(register, b)| Constant { register, value: ConstantValue::Bool(b) }),
        (0u8..4, any::<[u8; 4]>())
            .prop_map(|(register, v)| Constant { register, value: ConstantValue::Int(v) }),
        (0u8..96, proptest::array::uniform4(0u32..1 << 24))
            .prop_map(|(register, v)| Constant { register, value: ConstantValue::Float(v) }),
    ]
}

fn uniform() -> impl Strategy<Value = Uniform> {
    let file = prop_oneof![
        Just(RegisterFile::Input),
        Just(RegisterFile::Float),
        Just(RegisterFile::Int),
        Just(RegisterFile::Bool)
    ];
    (name(), file, any::<u8>(), any::<u8>()).prop_map(|(name, file, a, b)| {
        let first = a % file.count();
        Uniform { name, file, first, count: 1 + b % (file.count() - first) }
    })
}

fn dvle() -> impl Strategy<Value = Dvle> {
    let label = (any::<u16>(), any::<u32>(), any::<u32>(), name())
        .prop_map(|(id, address, size, name)| Label { id, address, size, name });
    let output = (0u16..12, 0u8..16, 0u8..16).prop_map(|(semantic, register, mask)| Output {
        semantic: Semantic::from_number(semantic),
        register,
        mask: Mask::from_bits(mask),
    });
    let mode =
        prop_oneof![Just(GeometryMode::Point), Just(GeometryMode::Variable), Just(GeometryMode::Fixed)];
    let geometry = (mode, any::<[u8; 3]>()).prop_map(|(mode, n)| Geometry {
        mode,
        fixed_start: n[0],
        variable_count: n[1],
        fixed_count: n[2],
    });
    (
        (any::<u16>(), any::<bool>(), any::<bool>(), any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>()),
        geometry,
        proptest::collection::vec(constant(), 0..4),
        proptest::collection::vec(label, 0..4),
        proptest::collection::vec(output, 0..4),
        proptest::collection::vec(uniform(), 0..4),
    )
        .prop_map(|(head, geometry, constants, labels, outputs, uniforms)| Dvle {
            version: head.0,
            kind: if head.1 { ShaderKind::Geometry } else { ShaderKind::Vertex },
            merge_outputs: head.2,
            main: head.3,
            end: head.4,
            input_mask: head.5,
            output_mask: head.6,
            geometry,
            constants,
            labels,
            outputs,
            uniforms,
        })
}

/// Any file the container can hold.
pub(crate) fn shbin() -> impl Strategy<Value = Shbin> {
    (
        any::<u32>(),
        proptest::collection::vec(any::<u32>(), 0..40),
        proptest::collection::vec((any::<u32>(), prop_oneof![3 => Just(0u32), 1 => any::<u32>()]), 0..40),
        proptest::collection::vec((any::<u32>(), any::<u32>()), 0..4),
        proptest::collection::vec(name(), 0..3),
        proptest::collection::vec(dvle(), 0..3),
    )
        .prop_map(|(version, code, descriptors, lines, filenames, executables)| {
            let mut tags: Vec<u32> = descriptors.iter().map(|d| d.1).collect();
            while tags.last() == Some(&0) {
                tags.pop();
            }
            Shbin {
                version,
                program: Program { code, descriptors: descriptors.iter().map(|d| d.0).collect() },
                descriptor_tags: tags,
                lines: lines.into_iter().map(|(file, line)| LineEntry { file, line }).collect(),
                filenames,
                executables,
            }
        })
}

fn small() -> Shbin {
    Shbin {
        program: Program { code: vec![0x8800_0000], descriptors: vec![0x36f] },
        executables: vec![Dvle {
            uniforms: vec![Uniform {
                name: "projection".into(),
                file: RegisterFile::Float,
                first: 4,
                count: 4,
            }],
            ..Dvle::default()
        }],
        ..Shbin::default()
    }
}

/// The sections of [`small`] without its name: DVLE header, code, descriptors.
fn sections() -> (Shbin, [Vec<u8>; 3]) {
    let mut file = small();
    file.executables[0].uniforms.clear();
    let bytes = file.write();
    let at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (dvlp, dvle) = (12, at(8));
    let (code, descriptors) = (dvlp + at(dvlp + 8), dvlp + at(dvlp + 16));
    (file, [&bytes[dvle..][..0x40], &bytes[code..][..4], &bytes[descriptors..][..8]].map(<[u8]>::to_vec))
}

/// A file with a program header of seven words, the last of which is `seventh`: `order` are the sections behind it, by
/// their numbers in [`sections`].
fn short_header(order: [usize; 3], seventh: u32) -> (Shbin, Vec<u8>) {
    let (file, sections) = sections();
    let mut offsets = [0; 3];
    let mut end = 0x1c;
    for n in order {
        offsets[n] = end;
        end += sections[n].len() as u32;
    }
    let [dvle, code, descriptors] = offsets;
    let mut bytes = b"DVLB".to_vec();
    bytes.extend([1, 12 + dvle].map(u32::to_le_bytes).concat());
    bytes.extend(b"DVLP");
    bytes.extend([0, code, 1, descriptors, 1, seventh].map(u32::to_le_bytes).concat());
    order.iter().for_each(|&n| bytes.extend(&sections[n]));
    (file, bytes)
}

#[test]
fn program_headers_of_seven_words_parse() {
    // As an older assembler writes it: code first. As emulators dump it: the executable's header first.
    for order in [[1, 2, 0], [0, 1, 2]] {
        for seventh in [0, 0x28] {
            let (file, bytes) = short_header(order, seventh);
            assert_eq!(Shbin::parse(&bytes, &Limits::default()).unwrap(), file, "{order:?}");
            let found = extract(&bytes, &Limits::default()).found;
            assert_eq!((found.len(), found[0].len), (1, bytes.len()), "{order:?}");
        }
    }
}

#[test]
fn a_count_of_four_billion_is_a_limit_error_not_an_allocation() {
    for (at, what) in [(0x04, "executables"), (0x18, "program words"), (0x20, "operand descriptors")] {
        let mut bytes = small().write();
        bytes[at..at + 4].fill(0xff);
        let error = Shbin::parse(&bytes, &Limits::default()).unwrap_err();
        assert!(
            matches!(error, ContainerError::Limit { what: w, value: 0xffff_ffff, offset, .. } if w == what && offset == at as u64),
            "{at:#x}: {error}"
        );
    }
}

#[test]
fn an_offset_beyond_the_end_names_its_table() {
    let mut bytes = small().write();
    let dvle = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    bytes[dvle + 0x30..dvle + 0x34].copy_from_slice(&0xffff_fff0u32.to_le_bytes());
    let error = Shbin::parse(&bytes, &Limits::default()).unwrap_err();
    let offset = dvle as u64 + 0xffff_fff0;
    assert_eq!(error, ContainerError::Truncated { offset, what: "uniforms", needed: 8, end: bytes.len() });
}

#[test]
fn registers_that_do_not_exist_are_refused() {
    let mut file = small();
    file.executables[0].outputs.push(Output { semantic: Semantic::Color, register: 16, mask: Mask::ALL });
    let error = Shbin::parse(&file.write(), &Limits::default()).unwrap_err();
    assert!(matches!(error, ContainerError::Value { what: "output register", value: 16, .. }), "{error}");
}

#[test]
fn extraction_finds_files_at_any_alignment_with_their_true_length() {
    let file = small().write();
    let mut data = b"DVLB, says this text. DVLBDVLB".to_vec();
    let first = data.len();
    data.extend(&file);
    data.extend(b"xyz DVLBDVLP");
    let second = data.len();
    data.extend(&file);
    let result = extract(&data, &Limits::default());
    let places: Vec<_> = result.found.iter().map(|f| (f.offset, f.len)).collect();
    // The writer pads to a multiple of four after the last name, which no section covers.
    let len = file.len() - 1;
    assert_eq!(places, [(first, len), (second, len)]);
    assert_eq!(result.found[0].shbin, small());
    assert_eq!(result.rejected.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 22, 26, first + file.len() + 4]);
    assert_eq!(result.gave_up_at, None);
}

#[test]
fn false_candidates_cannot_make_extraction_slow() {
    // Headers that share one big block of code and fail only at the very end, where no DVLE is.
    let mut header = b"DVLB\x01\0\0\0\0\0\0\0DVLP\0\0\0\0\0\0\0\0\0\x10\0\0".to_vec();
    header.extend([0; 24]);
    let mut data: Vec<u8> = header.iter().copied().cycle().take(header.len() * 10_000).collect();
    data.extend([0; 1 << 15]);
    let result = extract(&data, &Limits::default());
    assert!(result.found.is_empty());
    assert!(result.gave_up_at.is_some());
    assert_eq!(result.rejected.len(), MAX_REJECTED);
}

#[test]
fn overlapping_tables_cannot_ask_for_much_memory() {
    let mut file = small();
    let label = Label { id: 0, address: 0, size: 0, name: "n".repeat(1000) };
    file.executables[0].labels = vec![label; 900];
    let limits = Limits { work_bytes: 1 << 20, ..Limits::default() };
    let mut bytes = file.write();
    assert!(bytes.len() < 20_000);
    assert!(Shbin::parse(&bytes, &limits).is_ok());
    // Two executables, both at the one DVLE.
    let dvle = u32::from_le_bytes(bytes[8..12].try_into().unwrap());
    bytes[4] = 2;
    bytes.splice(8..12, [(dvle + 4).to_le_bytes(); 2].concat());
    let error = Shbin::parse(&bytes, &limits).err();
    assert!(matches!(error, Some(ContainerError::Work { .. })));
}

#[test]
fn raw_dumps_round_trip() {
    let program = Program { code: vec![1, 2, 3], descriptors: vec![4, 5] };
    let (code, descriptors) = raw::write_pair(&program);
    let limits = Limits::default();
    assert_eq!(raw::parse_pair(&code, &descriptors, &limits), Ok(program.clone()));
    let joined = [code.clone(), descriptors.clone()].concat();
    assert_eq!(raw::parse_joined(&joined, 3, &limits), Ok(program));
    let error = raw::parse_pair(&code[..11], &[], &limits).unwrap_err();
    assert!(matches!(error, ContainerError::Truncated { offset: 8, .. }), "{error}");
    assert!(raw::parse_joined(&joined, usize::MAX, &limits).is_err());
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn what_is_written_parses_back_equal(file in shbin()) {
        let bytes = file.write();
        let (back, extent) = Shbin::parse_prefix(&bytes, &Limits::default()).unwrap();
        prop_assert_eq!(back, file);
        prop_assert!(extent <= bytes.len());
    }

    #[test]
    fn any_bytes_parse_or_err(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Shbin::parse(&bytes, &Limits::default());
        let _ = extract(&bytes, &Limits::default());
    }

    #[test]
    fn damaged_files_parse_or_err(file in shbin(), hits in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8)) {
        let mut bytes = file.write();
        for (at, value) in hits {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let _ = Shbin::parse(&bytes, &Limits::default());
        for found in extract(&bytes, &Limits::default()).found {
            prop_assert!(found.offset + found.len <= bytes.len());
        }
    }
}
