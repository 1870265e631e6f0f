//! PICA200 programs: from files to modules.

/// The front end.
pub use xenoglot_pica_shader as front;

use crate::Error;
use crate::guest::{self, Guest, Image, Program, Style, Unit, entry, first_word, suffix, text};
use xenoglot_ir::Module;
use xenoglot_ir::module::ListingLine;
use xenoglot_pica_shader::asm;
use xenoglot_pica_shader::container::extract::extract;
use xenoglot_pica_shader::container::{Dvle, Limits, ShaderKind, Shbin};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble, instruction_text};
use xenoglot_pica_shader::inst::Opcode;
use xenoglot_pica_shader::lift::{
    ClipSpace, GeometryWrapper, LiftOptions, Lifted, Numeric, OutputMap, VertexOutputs, Wrapper, lift,
};
use xenoglot_pica_shader::names::Names;

/// The guest.
#[derive(Clone, Copy, Debug)]
pub struct Pica;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A shader binary.
    Shbin,
    /// Assembly.
    Assembly,
    /// Anything else with shader binaries inside.
    Contains,
}

impl Format {
    /// What `bytes` are, if a shader binary or a text that begins with a directive, a label or an instruction.
    fn of(bytes: &[u8]) -> Option<Format> {
        if bytes.starts_with(b"DVLB") {
            // A file that only begins like one may still hold others.
            let damaged = Shbin::parse(bytes, &Limits::default()).is_err();
            return (!damaged || !contains_shbin(bytes)).then_some(Format::Shbin);
        }
        let word = first_word(bytes)?;
        let is_assembly = word.starts_with('.') || word.ends_with(':') || Opcode::from_name(word).is_some();
        is_assembly.then_some(Format::Assembly)
    }

    fn inside(bytes: &[u8]) -> Option<Format> {
        contains_shbin(bytes).then_some(Format::Contains)
    }

    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Format::Shbin => "PICA200 shader binary (SHBIN)",
            Format::Assembly => "PICA200 assembly",
            Format::Contains => "file with PICA200 shader binaries inside",
        }
    }
}

fn contains_shbin(bytes: &[u8]) -> bool {
    !extract(bytes, &Limits::default()).found.is_empty()
}

/// A shader binary and where it was found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Byte offset in the file; 0 for a file that is one, or was assembled.
    pub offset: usize,
    /// The binary.
    pub shbin: Shbin,
}

/// Every shader binary in a file: the file itself, what its assembly makes, or all that it has inside.
///
/// # Errors
/// [`Error::UnknownFormat`] if there is none; the reader's or assembler's error with its place.
pub fn load(bytes: &[u8]) -> Result<Vec<Loaded>, Error> {
    let limits = Limits::default();
    match Format::of(bytes).or_else(|| Format::inside(bytes)).ok_or(Error::UnknownFormat)? {
        Format::Shbin => Ok(vec![Loaded { offset: 0, shbin: Shbin::parse(bytes, &limits)? }]),
        Format::Assembly => Ok(vec![Loaded { offset: 0, shbin: asm::assemble(text(bytes)?)? }]),
        Format::Contains => {
            let found = extract(bytes, &limits).found;
            Ok(found.into_iter().map(|f| Loaded { offset: f.offset, shbin: f.shbin }).collect())
        }
    }
}

/// What to make of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// A vertex shader with the output map applied; geometry programs become compute kernels.
    #[default]
    Host,
    /// A compute kernel.
    Compute,
}

/// How to lift an executable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What to make of it.
    pub shape: Shape,
    /// Arithmetic.
    pub numeric: Numeric,
    /// How the position leaves a vertex shader.
    pub clip: ClipSpace,
    /// Whether compute kernels count executed instructions.
    pub count_steps: bool,
    /// Whether each instruction that writes a register leaves its trace ([`LiftOptions::traceable`]).
    pub traceable: bool,
}

/// EMITs of an invocation of a geometry kernel that are stored.
pub const EMIT_CAPACITY: u32 = 128;

/// The lifter's options for an executable.
pub fn lift_options(dvle: &Dvle, options: &Options) -> LiftOptions {
    let geometry = (dvle.kind == ShaderKind::Geometry)
        .then_some(GeometryWrapper { output_mask: dvle.output_mask, emit_capacity: EMIT_CAPACITY });
    let wrapper = match (options.shape, geometry) {
        (Shape::Host, None) => {
            Wrapper::Vertex(VertexOutputs::Mapped(OutputMap::from_outputs(&dvle.outputs), options.clip))
        }
        _ => Wrapper::Compute { workgroup: 64, persistent: geometry.is_some(), geometry },
    };
    LiftOptions {
        wrapper,
        numeric: options.numeric,
        count_steps: options.count_steps,
        traceable: options.traceable,
        ..LiftOptions::compute(dvle.main)
    }
}

/// A name for an executable: the label at its entry point, or `main`.
pub fn entry_name(dvle: &Dvle) -> &str {
    dvle.labels.iter().find(|l| l.address == dvle.main && !l.name.is_empty()).map_or("main", |l| &l.name)
}

/// Lifts an executable of `shbin`.
///
/// # Errors
/// [`Error::NoExecutable`] if there is no such one, or the lifter's.
pub fn lift_executable(shbin: &Shbin, index: usize, options: &Options) -> Result<Lifted, Error> {
    let dvle =
        shbin.executables.get(index).ok_or(Error::NoExecutable { index, count: shbin.executables.len() })?;
    let mut lifted = lift(&shbin.program, &lift_options(dvle, options))?;
    lifted.module.name = entry_name(dvle).into();
    Ok(lifted)
}

/// The disassembly of every word of an executable's program.
pub fn listing(shbin: &Shbin, dvle: &Dvle) -> Vec<ListingLine> {
    let names = Names::from_dvle(dvle);
    let program = &shbin.program;
    let line = |address: u32| {
        let inst = program.inst(address).ok()?;
        let text = instruction_text(&inst, program.descriptor(inst.desc().unwrap_or(0)), &names);
        Some(ListingLine { address, text })
    };
    (0..program.code.len() as u32).filter_map(line).collect()
}

impl Guest for Pica {
    fn name(&self) -> &'static str {
        "pica"
    }

    fn title(&self) -> &'static str {
        "PICA200 (Nintendo 3DS)"
    }

    fn detect(&self, bytes: &[u8]) -> Option<&'static str> {
        Format::of(bytes).map(Format::name)
    }

    fn detect_inside(&self, bytes: &[u8]) -> Option<&'static str> {
        Format::inside(bytes).map(Format::name)
    }

    fn options(&self) -> guest::LiftOptions {
        guest::LiftOptions::Pica(Options::default())
    }

    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error> {
        let binaries = load(bytes)?;
        let several = binaries.len() > 1;
        let (mut units, mut programs, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (unit, Loaded { offset, shbin }) in binaries.iter().enumerate() {
            let unit_suffix = if several { format!(".{offset:06x}") } else { String::new() };
            let count = shbin.executables.len();
            for (number, dvle) in shbin.executables.iter().enumerate() {
                let stage = match dvle.kind {
                    ShaderKind::Vertex => "vertex",
                    ShaderKind::Geometry => "geometry",
                };
                let suffix = unit_suffix.clone() + &suffix(number, count);
                programs.push(Program { name: entry_name(dvle).into(), stage, unit, number, suffix });
                places.push((unit, number));
            }
            units.push(Unit { name: None, offset: Some(*offset), suffix: unit_suffix, extension: "pica" });
        }
        Ok(Box::new(Binaries { binaries, units, programs, places }))
    }
}

struct Binaries {
    binaries: Vec<Loaded>,
    units: Vec<Unit>,
    programs: Vec<Program>,
    /// Binary and executable of each program.
    places: Vec<(usize, usize)>,
}

impl Binaries {
    fn executable(&self, program: usize) -> Result<(&Shbin, usize), Error> {
        let &(binary, index) = entry(&self.places, program)?;
        Ok((&entry(&self.binaries, binary)?.shbin, index))
    }
}

impl Image for Binaries {
    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn programs(&self) -> &[Program] {
        &self.programs
    }

    fn disassemble(&self, unit: usize, style: Style) -> Result<String, Error> {
        let options = DisasmOptions { names: style.names, comments: style.addresses };
        Ok(disassemble(&entry(&self.binaries, unit)?.shbin, &options))
    }

    fn lift(&self, program: usize, options: &guest::LiftOptions) -> Result<Module, Error> {
        let guest::LiftOptions::Pica(options) = options else { return Err(options.foreign("pica")) };
        let (shbin, index) = self.executable(program)?;
        Ok(lift_executable(shbin, index, options)?.module)
    }

    fn listing(&self, program: usize) -> Vec<ListingLine> {
        let Ok((shbin, index)) = self.executable(program) else { return Vec::new() };
        shbin.executables.get(index).map_or_else(Vec::new, |dvle| listing(shbin, dvle))
    }
}
