//! ELF files for MIPS: what is in them, and their code as text.

use anyhow::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use xenoglot_mips::container::elf::{Elf, FloatAbi, Kind, Limits};
use xenoglot_mips::{Endian, disasm};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The architecture that the header's flags name.
fn architecture(flags: u32) -> &'static str {
    match flags >> 28 {
        0 => "MIPS I",
        1 => "MIPS II",
        2 => "MIPS III",
        3 => "MIPS IV",
        4 => "MIPS V",
        5 => "MIPS32",
        6 => "MIPS64",
        7 => "MIPS32 release 2",
        8 => "MIPS64 release 2",
        9 => "MIPS32 release 6",
        10 => "MIPS64 release 6",
        _ => "unknown",
    }
}

/// What is in a file.
pub fn facts(bytes: &[u8]) -> Result<Map<String, Value>> {
    let limits = Limits::default();
    let elf = Elf::parse(bytes, &limits)?;
    let hex = |address: u32| format!("{address:#010x}");
    let segments: Vec<Value> = elf
        .segments
        .iter()
        .map(|segment| {
            let mark = |has: bool, letter: &'static str| if has { letter } else { "-" };
            let rights = segment.rights;
            let marks = [mark(rights.read, "r"), mark(rights.write, "w"), mark(rights.execute, "x")];
            json!({
                "address": hex(segment.address),
                "bytes": segment.size,
                "in the file": segment.bytes.len(),
                "rights": marks.concat(),
            })
        })
        .collect();
    let float = match elf.float_abi {
        None => "not said",
        Some(FloatAbi::Any) => "any",
        Some(FloatAbi::Double) => "doubles in pairs of registers",
        Some(FloatAbi::Single) => "singles only",
        Some(FloatAbi::Soft) => "none",
        Some(FloatAbi::Either) => "pairs or 64-bit registers",
        Some(FloatAbi::Registers64) => "64-bit registers",
        Some(FloatAbi::Unknown(_)) => "unknown",
    };
    let mut facts = Map::new();
    let mut fact = |name: &str, value: Value| drop(facts.insert(name.into(), value));
    fact("format", "32-bit ELF file for MIPS".into());
    fact("bytes", bytes.len().into());
    fact("byte order", if elf.endian == Endian::Big { "big" } else { "little" }.into());
    fact("architecture", architecture(elf.flags.0).into());
    fact("kind", if elf.kind == Kind::Executable { "executable" } else { "shared" }.into());
    fact("entry", hex(elf.entry).into());
    fact("floating point", float.into());
    fact("loader", elf.interpreter.map(text).into());
    fact("executable stack", elf.executable_stack.into());
    fact("functions with symbols", elf.functions(&limits)?.len().into());
    fact("segments", segments.into());
    Ok(facts)
}

/// The executable segments, a line each instruction, with the names of functions when `names` says so.
pub fn listing(bytes: &[u8], names: bool) -> Result<String> {
    let limits = Limits::default();
    let elf = Elf::parse(bytes, &limits)?;
    let mut functions: BTreeMap<u32, String> = BTreeMap::new();
    if names {
        functions
            .extend(elf.functions(&limits)?.into_iter().map(|symbol| (symbol.address, text(symbol.name))));
    }
    let mut out = String::new();
    for segment in elf.segments.iter().filter(|segment| segment.rights.execute) {
        for (n, bytes) in segment.bytes.as_chunks().0.iter().enumerate() {
            let at = segment.address.wrapping_add(4 * n as u32);
            if let Some(name) = functions.get(&at) {
                writeln!(out, "\n{at:08x} <{name}>:")?;
            }
            let word = elf.endian.word(*bytes);
            writeln!(out, "{at:8x}:\t{word:08x}\t{}", disasm::text(word, at))?;
        }
    }
    Ok(out)
}
