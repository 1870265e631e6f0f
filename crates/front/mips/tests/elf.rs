//! The ELF reader on built files and on any bytes.

use proptest::prelude::*;
use xenoglot_mips::container::elf::{Elf, Error, FloatAbi, Kind, Limits};
use xenoglot_mips::{Endian, decode, disasm};

/// A file with one segment that holds the headers and `code`, and a header for the ABI flags.
fn file(endian: Endian, code: &[u8]) -> Vec<u8> {
    let half = |v: u16| if endian == Endian::Big { v.to_be_bytes() } else { v.to_le_bytes() };
    let word = |v: u32| if endian == Endian::Big { v.to_be_bytes() } else { v.to_le_bytes() };
    let code_at = 52 + 64 + 24;
    let mut out = b"\x7fELF\x01\0\x01".to_vec();
    out[5] = if endian == Endian::Big { 2 } else { 1 };
    out.resize(16, 0);
    [2, 8].iter().for_each(|&v| out.extend(half(v)));
    [1, 0x40_0000 + code_at, 52, 0, 0x5000_1005].iter().for_each(|&v| out.extend(word(v)));
    [52, 32, 2, 0, 0, 0].iter().for_each(|&v| out.extend(half(v)));
    let size = code_at + code.len() as u32;
    [1, 0, 0x40_0000, 0x40_0000, size, size + 0x100, 5, 0x1000].iter().for_each(|&v| out.extend(word(v)));
    [0x7000_0003, 52 + 64, 0x40_0074, 0, 24, 24, 4, 8].iter().for_each(|&v| out.extend(word(v)));
    out.extend([0, 0, 32, 1, 1, 1, 0, 1]);
    out.resize(code_at as usize, 0);
    out.extend(code);
    out
}

#[test]
fn both_byte_orders_are_read() {
    for endian in [Endian::Big, Endian::Little] {
        let bytes = file(endian, &[1, 2, 3, 4]);
        let elf = Elf::parse(&bytes, &Limits::default()).expect("a file");
        assert_eq!((elf.endian, elf.kind, elf.entry), (endian, Kind::Executable, 0x40_008c));
        assert_eq!(elf.float_abi, Some(FloatAbi::Double));
        assert_eq!(elf.headers_address, Some(0x40_0034));
        let [segment] = elf.segments.as_slice() else { panic!("one segment") };
        assert_eq!((segment.address, segment.size as usize), (0x40_0000, bytes.len() + 0x100));
        assert_eq!(segment.bytes, bytes);
        assert!(segment.rights.execute && segment.rights.read && !segment.rights.write);
        assert_eq!(elf.functions(&Limits::default()), Ok(Vec::new()));
    }
}

#[test]
fn a_field_that_does_not_fit_is_an_error_with_its_offset() {
    let whole = file(Endian::Big, &[0; 16]);
    let cases: [(usize, u8, u64); 4] = [(4, 2, 4), (5, 3, 5), (18, 9, 18), (42, 9, 42)];
    for (at, value, offset) in cases {
        let mut bytes = whole.clone();
        bytes[at] = value;
        match Elf::parse(&bytes, &Limits::default()) {
            Err(Error::Wrong { offset: found, .. }) => assert_eq!(found, offset),
            other => panic!("{at}: {other:?}"),
        }
    }
    let mut outside = whole.clone();
    outside[52 + 8] = 0xff;
    outside[52 + 20] = 0xff;
    let error = Elf::parse(&outside, &Limits::default());
    assert!(matches!(error, Err(Error::Segment { index: 0, offset: 52, .. })), "{error:?}");
    let cut = Elf::parse(&whole[..100], &Limits::default());
    assert!(matches!(cut, Err(Error::Outside { .. })), "{cut:?}");
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        changes in proptest::collection::vec((0usize..200, any::<u8>()), 0..12),
    ) {
        let mut file = file(Endian::Little, &bytes);
        for (at, value) in changes {
            if let Some(byte) = file.get_mut(at) {
                *byte = value;
            }
        }
        for bytes in [&bytes, &file] {
            if let Ok(elf) = Elf::parse(bytes, &Limits::default()) {
                let _ = elf.functions(&Limits::default());
                for segment in &elf.segments {
                    prop_assert!(segment.bytes.len() <= segment.size as usize);
                    prop_assert!(u64::from(segment.address) + u64::from(segment.size) <= 1 << 32);
                }
            }
        }
    }

    #[test]
    fn any_word_has_a_text(word: u32, pc: u32) {
        let text = disasm::text(word, pc);
        prop_assert_eq!(decode(word).is_err(), text.starts_with(".word"));
        if let Ok(inst) = decode(word) {
            prop_assert_eq!(word & inst.op.info().mask, inst.op.info().bits);
        }
    }
}
