//! Programs of the Dragon's vector processing unit: assembly. Nothing in a text says that it is one, so that the guest has to
//! be named.

/// The front end.
pub use xenoglot_vpu as front;

use crate::Error;
use crate::guest::{Guest, Image, LiftOptions, Program, Style, Unit, entry, text};
use xenoglot_ir::Module;
use xenoglot_ir::module::ListingLine;
use xenoglot_vpu::{asm, disasm, lift};

/// The guest.
#[derive(Clone, Copy, Debug)]
pub struct Vpu;

impl Guest for Vpu {
    fn name(&self) -> &'static str {
        "vpu"
    }

    fn title(&self) -> &'static str {
        "Dragon vector processing unit"
    }

    fn detect(&self, _: &[u8]) -> Option<&'static str> {
        None
    }

    fn options(&self) -> LiftOptions {
        LiftOptions::Vpu(lift::LiftOptions::default())
    }

    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error> {
        let words = asm::assemble(text(bytes)?)?;
        let units = [Unit { extension: "vpu", ..Unit::default() }];
        let programs =
            [Program { name: "main".into(), stage: "compute", unit: 0, number: 0, suffix: String::new() }];
        Ok(Box::new(Assembled { words, units, programs }))
    }
}

struct Assembled {
    words: Vec<u32>,
    units: [Unit; 1],
    programs: [Program; 1],
}

impl Image for Assembled {
    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn programs(&self) -> &[Program] {
        &self.programs
    }

    fn disassemble(&self, unit: usize, _: Style) -> Result<String, Error> {
        entry(&self.units, unit)?;
        Ok(disasm::disassemble(&self.words))
    }

    fn lift(&self, program: usize, options: &LiftOptions) -> Result<Module, Error> {
        entry(&self.programs, program)?;
        match options {
            LiftOptions::Vpu(options) => {
                Ok(lift::lift(&xenoglot_vpu::Program::from_words(&self.words), options)?)
            }
            other => Err(other.foreign("vpu")),
        }
    }

    fn listing(&self, _: usize) -> Vec<ListingLine> {
        let line = |(n, word): (usize, &u32)| {
            let text = disasm::disassemble(std::slice::from_ref(word)).trim().to_owned();
            ListingLine { address: n as u32, text }
        };
        self.words.iter().enumerate().map(line).collect()
    }
}
