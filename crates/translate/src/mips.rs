//! MIPS programs: from ELF files to a module for each function. Running them is `xenoglot-guest`'s, which lifts what a program
//! reaches.

/// The front end.
pub use xenoglot_mips as front;

use crate::Error;
use crate::guest::{Guest, Image, LiftOptions, Program, Style, Unit, entry, suffix};
use std::collections::BTreeMap;
use std::fmt::Write;
use xenoglot_ir::Module;
use xenoglot_ir::module::ListingLine;
use xenoglot_mips::container::elf::{Elf, Limits, Segment, is_mips};
use xenoglot_mips::lift::Code;
use xenoglot_mips::{disasm, lift};

/// The guest.
#[derive(Clone, Copy, Debug)]
pub struct Mips;

/// How a function is lifted.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// About how many instructions a module has at most ([`lift::Options::max_insts`]).
    pub max_insts: u32,
    /// What the register `gp` holds, where that is known: jump tables of position-independent code are found by it.
    pub gp: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_insts: 4096, gp: None }
    }
}

impl Guest for Mips {
    fn name(&self) -> &'static str {
        "mips"
    }

    fn title(&self) -> &'static str {
        "MIPS, 32 bit"
    }

    fn detect(&self, bytes: &[u8]) -> Option<&'static str> {
        is_mips(bytes).then_some("32-bit ELF file for MIPS")
    }

    fn options(&self) -> LiftOptions {
        LiftOptions::Mips(Options::default())
    }

    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error> {
        let limits = Limits::default();
        let elf = Elf::parse(bytes, &limits)?;
        let mut functions = functions(&elf, &limits)?;
        if functions.is_empty() {
            functions.insert(elf.entry, "main".into());
        }
        let addresses: Vec<u32> = functions.keys().copied().collect();
        let count = functions.len();
        let program = |(number, name): (usize, String)| Program {
            name,
            stage: "cpu",
            unit: 0,
            number,
            suffix: suffix(number, count),
        };
        let programs = functions.into_values().enumerate().map(program).collect();
        let units = [Unit { extension: "s", ..Unit::default() }];
        Ok(Box::new(Loaded { elf, addresses, units, programs }))
    }
}

/// The functions of a file's symbol tables that lie in its code, by address.
fn functions(elf: &Elf, limits: &Limits) -> Result<BTreeMap<u32, String>, Error> {
    let symbols = elf.functions(limits)?.into_iter();
    let in_code =
        |address: u32| elf.segments.iter().any(|s| s.rights.execute && word(elf, s, address).is_some());
    let named = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Ok(symbols.filter(|s| in_code(s.address)).map(|s| (s.address, named(s.name))).collect())
}

/// The word of a segment at an address that is a multiple of four.
fn word(elf: &Elf, segment: &Segment, address: u32) -> Option<u32> {
    let at = address.checked_sub(segment.address)? as usize;
    let bytes = segment.bytes.get(at..)?.first_chunk()?;
    address.is_multiple_of(4).then(|| elf.endian.word(*bytes))
}

struct Loaded<'a> {
    elf: Elf<'a>,
    /// Where each program begins.
    addresses: Vec<u32>,
    units: [Unit; 1],
    programs: Vec<Program>,
}

/// Code as the file has it: for programs that are loaded at the addresses of their segments, or before they are moved.
impl Code for Loaded<'_> {
    fn instruction(&self, pc: u32) -> Option<u32> {
        self.elf.segments.iter().filter(|s| s.rights.execute).find_map(|s| word(&self.elf, s, pc))
    }

    fn data(&self, address: u32) -> Option<u32> {
        self.elf.segments.iter().filter(|s| s.rights.read).find_map(|s| word(&self.elf, s, address))
    }
}

impl Loaded<'_> {
    fn region(&self, program: usize, options: &Options) -> Result<lift::Region, Error> {
        let options = lift::Options { endian: self.elf.endian, max_insts: options.max_insts, gp: options.gp };
        Ok(lift::lift(self, *entry(&self.addresses, program)?, &options))
    }
}

impl Image for Loaded<'_> {
    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The executable segments in the form of binutils.
    fn disassemble(&self, unit: usize, style: Style) -> Result<String, Error> {
        entry(&self.units, unit)?;
        let names: BTreeMap<u32, &str> = match style.names {
            true => {
                self.addresses.iter().copied().zip(self.programs.iter().map(|p| p.name.as_str())).collect()
            }
            false => BTreeMap::new(),
        };
        let mut out = String::new();
        for segment in self.elf.segments.iter().filter(|segment| segment.rights.execute) {
            for (n, bytes) in segment.bytes.as_chunks().0.iter().enumerate() {
                let at = segment.address.wrapping_add(4 * n as u32);
                // Writing to a string cannot fail.
                if let Some(name) = names.get(&at) {
                    let _ = writeln!(out, "\n{at:08x} <{name}>:");
                }
                let word = self.elf.endian.word(*bytes);
                let _ = writeln!(out, "{at:8x}:\t{word:08x}\t{}", disasm::text(word, at));
            }
        }
        Ok(out)
    }

    fn lift(&self, program: usize, options: &LiftOptions) -> Result<Module, Error> {
        let LiftOptions::Mips(options) = options else { return Err(options.foreign("mips")) };
        let mut module = self.region(program, options)?.module;
        module.name.clone_from(&entry(&self.programs, program)?.name);
        Ok(module)
    }

    fn listing(&self, program: usize) -> Vec<ListingLine> {
        let Ok(region) = self.region(program, &Options::default()) else { return Vec::new() };
        let line = |pc: u32| {
            let text = disasm::text(self.instruction(pc)?, pc).to_string();
            Some(ListingLine { address: pc, text })
        };
        region.words.into_iter().filter_map(line).collect()
    }
}
