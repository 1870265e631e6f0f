//! From inputs to programs: which programs of which files, and their modules.

use crate::batch::{self, Artifact, BatchArgs};
use crate::isolate::attempt;
use crate::lift::LiftArgs;
use crate::source::Source;
use anyhow::{Context, Result, bail};
use clap::Args;
use xenoglot::guest::{self, GUESTS, Guest, Image, Program};
use xenoglot::{Error, Translator};
use xenoglot_ir::Module;

/// Which of the programs in an input.
#[derive(Args, Clone, Default)]
pub struct Select {
    /// What the input is, if its content does not say: pica, maxwell, dxil, mips, vpu or ir.
    #[arg(long, value_name = "GUEST", value_parser = parse_guest)]
    pub guest: Option<Named>,
    /// The program with this number, from 0; all if not given.
    #[arg(long, value_name = "N")]
    pub entry: Option<usize>,
    /// The shader binary at this byte offset of a file with several; all if not given.
    #[arg(long, value_name = "OFFSET", value_parser = parse_offset)]
    pub at: Option<usize>,
    /// The kernel, shader or function of this name; all if not given.
    #[arg(long, visible_alias = "function", value_name = "NAME")]
    pub kernel: Option<String>,
}

/// A guest that was named.
#[derive(Clone, Copy)]
pub struct Named(&'static dyn Guest);

fn parse_guest(name: &str) -> Result<Named, String> {
    guest::named(name).map(Named).ok_or_else(|| {
        let names: Vec<&str> = GUESTS.iter().map(|guest| guest.name()).collect();
        format!("there are {}", names.join(", "))
    })
}

/// Parses a decimal or `0x` number.
pub fn parse_offset(text: &str) -> Result<usize, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "not an offset: decimal, or hexadecimal after 0x".into())
}

impl Select {
    /// The guest of an input: the one named, else what the content says; with the name of the format.
    pub fn guest(&self, bytes: &[u8]) -> Result<(&'static dyn Guest, &'static str)> {
        match self.guest {
            Some(Named(guest)) => Ok((guest, guest.detect(bytes).unwrap_or(guest.title()))),
            None => Ok(guest::detect(bytes).ok_or(Error::UnknownFormat)?),
        }
    }

    /// Whether a program of an image is among those chosen.
    fn chooses(&self, image: &dyn Image, program: &Program) -> bool {
        let offset = || image.units().get(program.unit).and_then(|unit| unit.offset);
        self.entry.is_none_or(|entry| entry == program.number)
            && self.kernel.as_ref().is_none_or(|name| *name == program.name)
            && self.at.is_none_or(|at| offset() == Some(at))
    }

    /// The numbers in an image of the programs that are chosen, at least one.
    pub fn programs(&self, image: &dyn Image) -> Result<Vec<usize>> {
        let programs = image.programs();
        let chosen: Vec<usize> = (0..programs.len()).filter(|&n| self.chooses(image, &programs[n])).collect();
        if chosen.is_empty() {
            self.nothing(image)?;
        }
        Ok(chosen)
    }

    /// The numbers of an image's units that are chosen, or have a program that is; at least one.
    pub fn units(&self, image: &dyn Image) -> Result<Vec<usize>> {
        let all = self.at.is_none() && self.kernel.is_none() && self.entry.is_none();
        let chosen: Vec<usize> = match all {
            true => (0..image.units().len()).collect(),
            false => {
                let units = self.programs(image)?.into_iter().map(|n| image.programs()[n].unit);
                let mut units: Vec<usize> = units.collect();
                units.dedup();
                units
            }
        };
        if chosen.is_empty() {
            self.nothing(image)?;
        }
        Ok(chosen)
    }

    /// Says why nothing was found.
    fn nothing(&self, image: &dyn Image) -> Result<()> {
        let count = image.programs().len();
        match (self.at, &self.kernel, self.entry) {
            (Some(at), ..) if image.units().iter().all(|unit| unit.offset != Some(at)) => {
                bail!("there is no shader binary at {at:#x}")
            }
            (_, Some(name), _) => bail!("there is no program {name:?}"),
            (_, _, Some(index)) => Err(Error::NoExecutable { index, count }.into()),
            _ => bail!("there is no program inside"),
        }
    }
}

/// A module to work on, with where it comes from.
pub struct Unit {
    /// The module.
    pub module: Module,
    /// What tells it from the input's others in the name of a result.
    pub suffix: String,
}

/// The modules of the programs in an input that `select` chooses. With `listing` they have the guest's, for comments.
pub fn modules(bytes: &[u8], select: &Select, lift: &LiftArgs, listing: bool) -> Result<Vec<Result<Unit>>> {
    let (guest, _) = select.guest(bytes)?;
    let options = lift.options(guest)?;
    let image = guest.load(bytes)?;
    let unit = |number: usize| {
        let program = &image.programs()[number];
        let mut module = image.lift(number, &options).with_context(|| program.name.clone())?;
        if listing {
            module.listing = image.listing(number);
        }
        Ok(Unit { module, suffix: program.suffix.clone() })
    };
    Ok(select.programs(&*image)?.into_iter().map(|number| attempt(|| unit(number))).collect())
}

/// Does `work` on the module of every program in every input, and writes what comes of it; programs that cannot be
/// lifted, and those at which `work` panics, are reported, and the others go on. Gives whether everything went well.
pub fn each_unit(
    batch: &BatchArgs,
    select: &Select,
    lift: &LiftArgs,
    listing: bool,
    work: impl Fn(&mut Translator, &Source, Unit) -> Vec<Result<Artifact>> + Sync,
) -> Result<bool> {
    batch::run(batch, Translator::new, |translator, source, bytes| {
        let units = modules(bytes, select, lift, listing)?;
        let each = |unit: Result<Unit>| match unit {
            Ok(unit) => attempt(|| Ok(work(translator, source, unit))).unwrap_or_else(|e| {
                *translator = Translator::new();
                vec![Err(e)]
            }),
            Err(e) => vec![Err(e)],
        };
        Ok(units.into_iter().flat_map(each).collect())
    })
}
