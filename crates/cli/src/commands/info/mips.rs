//! What is in ELF files for MIPS.

use anyhow::Result;
use serde_json::{Map, Value, json};
use xenoglot_mips::Endian;
use xenoglot_mips::container::elf::{Elf, FloatAbi, Kind, Limits};

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
