//! Listings of MIPS programs: the executable segments of an ELF file, with the names of its functions.

use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;
use xenoglot_mips::container::{Elf, Limits};
use xenoglot_mips::disasm::text;

/// Whether `bytes` are an ELF file for MIPS, of either byte order, by their header.
pub fn is_program(bytes: &[u8]) -> bool {
    const MACHINE: u16 = 8;
    let Some(&[low, high]) = bytes.get(18..20) else { return false };
    let machine = match bytes.get(5) {
        Some(2) => u16::from_be_bytes([low, high]),
        _ => u16::from_le_bytes([low, high]),
    };
    bytes.starts_with(b"\x7fELF") && machine == MACHINE
}

/// A line for each word: its address, the word and the instruction, as the GNU binutils write them.
pub fn listing(bytes: &[u8]) -> Result<String> {
    let limits = Limits::default();
    let elf = Elf::parse(bytes, &limits)?;
    let names: BTreeMap<u32, String> = elf
        .functions(&limits)?
        .iter()
        .map(|symbol| (symbol.address, String::from_utf8_lossy(symbol.name).into_owned()))
        .collect();
    let mut out = String::new();
    for segment in elf.segments.iter().filter(|segment| segment.rights.execute) {
        for (word, address) in segment.bytes.as_chunks().0.iter().zip((segment.address..).step_by(4)) {
            let word = elf.endian.word(*word);
            // Writing to a string cannot fail.
            if let Some(name) = names.get(&address) {
                let _ = writeln!(out, "\n{address:08x} <{name}>:");
            }
            let _ = writeln!(out, "{address:8x}:\t{word:08x}\t{}", text(word, address));
        }
    }
    Ok(out)
}
