//! Text form of the IR: modules that are lifted already.

use crate::Error;
use crate::guest::{Guest, Image, LiftOptions, Program, Style, Unit, entry, first_word, text};
use xenoglot_ir::text::{Limits, parse};
use xenoglot_ir::{Module, verify};

/// The guest. A file is one module, which is read and verified.
#[derive(Clone, Copy, Debug)]
pub struct IrText;

impl Guest for IrText {
    fn name(&self) -> &'static str {
        "ir"
    }

    fn title(&self) -> &'static str {
        "Xenoglot IR"
    }

    fn detect(&self, bytes: &[u8]) -> Option<&'static str> {
        (first_word(bytes)? == "module").then_some("Xenoglot IR text")
    }

    fn options(&self) -> LiftOptions {
        LiftOptions::Ir
    }

    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error> {
        let module = parse(text(bytes)?, &Limits::default())?;
        verify::verify(&module)?;
        let units = [Unit { extension: "xir", ..Unit::default() }];
        let (name, stage) = (module.name.clone(), module.stage.name());
        let programs = [Program { name, stage, unit: 0, number: 0, suffix: String::new() }];
        Ok(Box::new(Parsed { module, units, programs }))
    }
}

struct Parsed {
    module: Module,
    units: [Unit; 1],
    programs: [Program; 1],
}

impl Image for Parsed {
    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn programs(&self) -> &[Program] {
        &self.programs
    }

    fn disassemble(&self, unit: usize, _: Style) -> Result<String, Error> {
        entry(&self.units, unit)?;
        Ok(self.module.to_string())
    }

    fn lift(&self, program: usize, options: &LiftOptions) -> Result<Module, Error> {
        entry(&self.programs, program)?;
        match options {
            LiftOptions::Ir => Ok(self.module.clone()),
            #[allow(unreachable_patterns, reason = "features take the other guests out")]
            other => Err(other.foreign("ir")),
        }
    }
}
