//! Relocations of cubins, applied and refused.

mod common;

use common::{code, store};
use xenoglot_maxwell::container::{Cubin, LinkError, link};
use xenoglot_maxwell::launch::{Memory, place_globals};

/// `MOV32I R0, 0x0` and `MOV32I R1, 0x0`.
const MOV32I: [u64; 2] = [0x0100_0000_0007_f000, 0x0100_0000_0007_f001];

/// A relocation: offset, type, symbol, addend; none is in its place.
type Relocation = (u64, u32, u32, Option<u64>);

struct Section {
    name: &'static str,
    kind: u32,
    link: u32,
    info: u32,
    data: Vec<u8>,
    /// Bytes, where they are not those of `data`.
    zeros: u64,
}

fn section(name: &'static str, kind: u32, data: Vec<u8>) -> Section {
    Section { name, kind, link: 0, info: 0, data, zeros: 0 }
}

fn symbol(section: u16, value: u64) -> Vec<u8> {
    [&[0; 6][..], &section.to_le_bytes(), &value.to_le_bytes(), &[0; 8]].concat()
}

const TEXT: u32 = 3;
const BANK: u32 = 4;
const INIT: u32 = 5;
const ZEROED: u32 = 6;
const SYMBOLS: u32 = 2;

/// A cubin with kernel `k`; relocations of a section by its number. Symbols: 1 the kernel, 2 at 0x10 of the initialised data,
/// 3 at 8 of the zeroed data, 4 undefined.
fn cubin(relocations: &[(u32, Relocation)]) -> Vec<u8> {
    let symbols = [
        symbol(0, 0),
        symbol(TEXT as u16, 0),
        symbol(INIT as u16, 0x10),
        symbol(ZEROED as u16, 8),
        symbol(0, 0),
    ];
    let mut sections = vec![
        section("", 0, Vec::new()),
        section(".shstrtab", 3, Vec::new()),
        section(".symtab", 2, symbols.concat()),
        section(".text.k", 1, code(&[MOV32I[0], MOV32I[1], store(0), store(1)])),
        section(".nv.constant4", 1, vec![0; 16]),
        section(".nv.global.init", 1, (0..0x20).collect()),
        Section { zeros: 0x18, ..section(".nv.global", 8, Vec::new()) },
    ];
    sections[SYMBOLS as usize].link = 1;
    sections[TEXT as usize].info = 8 << 24 | 1;
    for &(target, (offset, kind, symbol, addend)) in relocations {
        let info = u64::from(symbol) << 32 | u64::from(kind);
        let mut data = [offset.to_le_bytes(), info.to_le_bytes()].concat();
        data.extend(addend.iter().flat_map(|a| a.to_le_bytes()));
        let kind = if addend.is_some() { 4 } else { 9 };
        sections.push(Section { link: SYMBOLS, info: target, ..section(".rel", kind, data) });
    }
    let mut names = Vec::new();
    let starts: Vec<u32> = sections
        .iter()
        .map(|s| {
            let at = names.len() as u32;
            names.extend(s.name.bytes().chain([0]));
            at
        })
        .collect();
    sections[1].data = names;
    let mut out = vec![0; 64];
    let mut headers = Vec::new();
    for (s, name) in sections.iter().zip(starts) {
        out.resize(out.len().next_multiple_of(32), 0);
        let (offset, size) = (out.len() as u64, s.data.len() as u64 + s.zeros);
        out.extend_from_slice(&s.data);
        let entry = [0, 0, 24, 0, 24, 0, 0, 0, 0, 16][s.kind as usize];
        headers.extend([name, s.kind].map(u32::to_le_bytes).concat());
        headers.extend([0, 0, offset, size].map(u64::to_le_bytes).concat());
        headers.extend([s.link, s.info].map(u32::to_le_bytes).concat());
        headers.extend([8u64, entry].map(u64::to_le_bytes).concat());
    }
    out.resize(out.len().next_multiple_of(8), 0);
    let table = out.len() as u64;
    out.extend(headers);
    out[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0");
    out[16..24].copy_from_slice(&[2, 0, 190, 0, 1, 0, 0, 0]);
    out[40..48].copy_from_slice(&table.to_le_bytes());
    out[48..52].copy_from_slice(&0x0035_0535u32.to_le_bytes());
    out[52..54].copy_from_slice(&64u16.to_le_bytes());
    out[58..60].copy_from_slice(&64u16.to_le_bytes());
    out[60..62].copy_from_slice(&(sections.len() as u16).to_le_bytes());
    out[62..64].copy_from_slice(&1u16.to_le_bytes());
    out
}

const ADDRESSES: [u64; 2] = [0x12_3456_7000, 0x98_7654_3f00];

/// The first words are after a scheduling word.
const LOW: Relocation = (8, 43, 2, None);
const HIGH: Relocation = (16, 44, 2, None);

#[test]
fn addresses_are_written_to_code_banks_and_data() {
    let file = cubin(&[
        (TEXT, LOW),
        (TEXT, HIGH),
        (BANK, (0, 2, 2, None)),
        (BANK, (8, 2, 3, None)),
        (INIT, (0, 4, 3, None)),
        (INIT, (8, 4, 2, Some(5))),
    ]);
    let before = Cubin::parse(&file).unwrap();
    assert!(before.kernels[0].relocated && before.kernels[0].banks[0].relocated);
    let linked = link(&file, "k", &ADDRESSES).unwrap();
    let cubin = Cubin::parse(&linked).unwrap();
    let kernel = cubin.kernel("k").unwrap();
    assert!(!kernel.relocated && !kernel.banks[0].relocated);
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // 0x12_3456_7010, the lower and the upper word.
    assert_eq!(word(kernel.code, 8), MOV32I[0] | 0x3456_7010 << 20);
    assert_eq!(word(kernel.code, 16), MOV32I[1] | 0x12 << 20);
    let bank = kernel.banks[0].data;
    assert_eq!([word(bank, 0), word(bank, 8)], [0x12_3456_7010, 0x98_7654_3f08]);
    // What is in the place is added, or what the relocation says.
    let data = cubin.globals[0].data;
    assert_eq!(word(data, 0), 0x98_7654_3f08 + 0x0706_0504_0302_0100);
    assert_eq!(word(data, 8), 0x12_3456_7015);
    assert_eq!((cubin.globals[1].bytes, cubin.globals[1].contents().unwrap()), (0x18, vec![0; 0x18]));
}

#[test]
fn relocations_that_are_not_known_are_refused_by_name() {
    let refused = |relocation| link(&cubin(&[relocation]), "k", &ADDRESSES).unwrap_err();
    let kind = refused((TEXT, (8, 42, 2, None)));
    assert_eq!(kind, LinkError::Type { section: ".text.k".into(), offset: 8, kind: 42 });
    for symbol in [1, 4] {
        let error = refused((BANK, (0, 2, symbol, None)));
        assert!(matches!(error, LinkError::Symbol { offset: 0, .. }), "{error}");
    }
    // Half of an addend says nothing of the other.
    assert!(matches!(refused((TEXT, (32 + 8, 44, 2, None))), LinkError::Type { kind: 44, .. }));
    assert!(matches!(refused((BANK, (12, 2, 2, None))), LinkError::Container(_)));
    assert!(matches!(refused((ZEROED, (0, 2, 2, None))), LinkError::Container(_)));
    let few = link(&cubin(&[]), "k", &ADDRESSES[..1]);
    assert_eq!(few, Err(LinkError::Addresses { given: 1, wanted: 2 }));
    // What concerns another kernel stays.
    let other = link(&cubin(&[(TEXT, LOW)]), "other", &ADDRESSES).unwrap();
    assert!(Cubin::parse(&other).unwrap().kernels[0].relocated);
}

#[test]
fn global_data_is_placed_in_memory() {
    let file = cubin(&[(INIT, (0, 4, 3, Some(0))), (BANK, (0, 2, 2, None))]);
    let mut memory = Memory::new(0x1_0000_0000);
    let linked = place_globals(&file, "k", &mut memory).unwrap();
    let [init, zeroed] = memory.buffers() else { panic!("{:?}", memory.buffers()) };
    let address = |place: &std::ops::Range<usize>| 0x1_0000_0000 + place.start as u64;
    let contents = &memory.bytes()[init.clone()];
    assert_eq!(contents[..8], (address(zeroed) + 8).to_le_bytes());
    assert_eq!(contents[8..], (8..0x20).collect::<Vec<u8>>());
    assert_eq!(memory.bytes()[zeroed.clone()], [0; 0x18]);
    let cubin = Cubin::parse(&linked).unwrap();
    assert_eq!(cubin.kernels[0].banks[0].data[..8], (address(init) + 0x10).to_le_bytes());
}
