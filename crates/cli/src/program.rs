//! From inputs to programs: which executables of which binaries, and how they are lifted.

use crate::batch::{self, Artifact, BatchArgs};
use crate::isolate::attempt;
use crate::source::{self, Source};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::rc::Rc;
use xenoglot::detect::{Format, detect};
use xenoglot::dxil::BindingModel;
use xenoglot::pica::{self, Shape};
use xenoglot::{Error, Translator};
use xenoglot::{dxil, maxwell};
use xenoglot_ir::{Module, text, verify};
use xenoglot_pica_shader::container::{Dvle, Shbin};
use xenoglot_pica_shader::lift::{ClipSpace, FlowStats, Numeric};

/// Which of the programs in an input.
#[derive(Args, Clone, Debug, Default)]
pub struct Select {
    /// The executable with this number, from 0; all if not given.
    #[arg(long, value_name = "N")]
    pub entry: Option<usize>,
    /// The shader binary at this byte offset of a file with several; all if not given.
    #[arg(long, value_name = "OFFSET", value_parser = parse_offset)]
    pub at: Option<usize>,
    /// The kernel of this name; all if not given.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
}

/// Parses a decimal or `0x` number.
pub fn parse_offset(text: &str) -> Result<usize, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "not an offset: decimal, or hexadecimal after 0x".into())
}

/// Arithmetic.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum NumericArg {
    /// IEEE single, but 0 times infinity is 0.
    #[default]
    Single,
    /// Results rounded to the chip's 24 bits.
    F24,
    /// Plain IEEE single: 0 times infinity is NaN.
    Fast,
}

/// What to make of a program.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ShapeArg {
    /// A vertex shader with the output map applied; geometry programs become compute kernels.
    #[default]
    Host,
    /// A compute kernel that reads inputs from a buffer and writes all registers to one.
    Compute,
}

/// Clip space of positions.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ClipArg {
    /// z from 0 to w.
    #[default]
    Vulkan,
    /// z from -w to w.
    Opengl,
    /// As the program wrote it: z from -w to 0.
    Guest,
}

/// How to lift.
#[derive(Args, Clone, Debug, Default)]
pub struct LiftArgs {
    /// Arithmetic of results.
    #[arg(long, value_enum, default_value_t)]
    pub numeric: NumericArg,
    /// The kind of shader to make.
    #[arg(long, value_enum, default_value_t)]
    pub shape: ShapeArg,
    /// Clip space of a vertex shader's position.
    #[arg(long, value_enum, default_value_t)]
    pub clip: ClipArg,
    /// Invocations of a workgroup along x, y and z, for kernels whose file does not record them.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_workgroup, default_value = "32,1,1")]
    pub workgroup: Workgroup,
    /// Maxwell: turn global memory whose addresses come from constant banks into storage buffers, aligned to BYTES.
    #[arg(long, value_name = "BYTES", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    pub storage_buffers: Option<u32>,
    /// Maxwell: let textures and render targets be scaled; a uniform buffer holds the factors.
    #[arg(long)]
    pub scale_textures: bool,
    /// Maxwell: make compute shaders of vertex and geometry shaders, for hosts without the stage.
    #[arg(long)]
    pub stages_to_compute: bool,
    /// Maxwell: bind cube maps of integers as array layers, for hosts that cannot sample them.
    #[arg(long)]
    pub flatten_integer_cubes: bool,
    /// DXIL: how resources are bound; by root signature if one is given.
    #[arg(long, value_enum)]
    pub bindings: Option<BindingsArg>,
    /// DXIL: the root signature, bare or in a container; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub root_signature: Option<PathBuf>,
    /// DXIL: check descriptors of heaps before each access, against buffers in set 3. Needs --bindings root-signature.
    #[arg(long)]
    pub check_descriptors: bool,
    /// DXIL: offset and bound storage buffers of heaps by the table in set 3, binding 2. Needs --bindings root-signature.
    #[arg(long)]
    pub buffer_windows: bool,
    /// DXIL: assume that all textures are resident, for hosts without sparse resources.
    #[arg(long)]
    pub all_resident: bool,
    /// DXIL: samples of the render targets, for pixel shaders that query them.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub samples: Option<u8>,
}

/// Where resources of DXIL shaders are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BindingsArg {
    /// A descriptor set for each space, a binding for each register.
    Registers,
    /// By root signature: the one given, the container's own, or tables for all that the shader declares.
    RootSignature,
}

/// Invocations of a workgroup.
#[derive(Clone, Copy, Debug)]
pub struct Workgroup(pub [u32; 3]);

impl Default for Workgroup {
    fn default() -> Workgroup {
        Workgroup(maxwell::Options::default().workgroup)
    }
}

/// Parses one to three sizes; those not given are 1.
pub fn parse_workgroup(text: &str) -> Result<Workgroup, String> {
    let sizes: Result<Vec<u32>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match sizes.as_deref() {
        Ok(&[x]) => Ok(Workgroup([x, 1, 1])),
        Ok(&[x, y]) => Ok(Workgroup([x, y, 1])),
        Ok(&[x, y, z]) => Ok(Workgroup([x, y, z])),
        _ => Err("one to three numbers separated by commas".into()),
    }
}

impl NumericArg {
    /// The lifter's.
    pub fn mode(self) -> Numeric {
        match self {
            NumericArg::Single => Numeric::Single,
            NumericArg::F24 => Numeric::F24,
            NumericArg::Fast => Numeric::Fast,
        }
    }
}

impl LiftArgs {
    /// How DXIL shaders' resources are bound.
    fn binding_model(&self) -> Result<BindingModel> {
        let signature = match &self.root_signature {
            Some(file) => {
                let bytes = source::read(file)?;
                Some(dxil::RootSignature::parse(&bytes).with_context(|| source::name(file))?)
            }
            None => None,
        };
        /// The first set after those of heaps and static samplers.
        const OWN_SET: u32 = 3;
        let own = self.check_descriptors || self.buffer_windows;
        match (self.bindings, signature) {
            (Some(BindingsArg::Registers), Some(_)) => bail!("a root signature binds no registers plainly"),
            (Some(BindingsArg::Registers) | None, None) if own => {
                bail!("checks and windows are of heaps: use --bindings root-signature")
            }
            (Some(BindingsArg::Registers) | None, None) => Ok(BindingModel::Registers),
            (_, signature) => {
                let heaps = dxil::HeapSets {
                    checks: self.check_descriptors.then_some(OWN_SET),
                    windows: self.buffer_windows.then_some(dxil::Slot { set: OWN_SET, binding: 2 }),
                    ..dxil::HeapSets::default()
                };
                Ok(BindingModel::RootSignature { signature, heaps })
            }
        }
    }

    /// The facade's options.
    pub fn options(&self, listing: bool) -> pica::Options {
        pica::Options {
            shape: match self.shape {
                ShapeArg::Host => Shape::Host,
                ShapeArg::Compute => Shape::Compute,
            },
            numeric: self.numeric.mode(),
            clip: match self.clip {
                ClipArg::Vulkan => ClipSpace::Vulkan,
                ClipArg::Opengl => ClipSpace::OpenGl,
                ClipArg::Guest => ClipSpace::Guest,
            },
            count_steps: false,
            listing,
            traceable: false,
        }
    }
}

/// A shader binary in an input.
pub struct Binary {
    /// The binary.
    pub shbin: Rc<Shbin>,
    /// Its byte offset in the input.
    pub offset: usize,
    /// What tells it from the input's others in the name of a result; empty or starting with a period.
    pub suffix: String,
}

/// The shader binaries in an input that `select` chooses.
pub fn binaries(bytes: &[u8], select: &Select) -> Result<Vec<Binary>> {
    let loaded = pica::load(bytes)?;
    let several = loaded.len() > 1;
    let suffix = |offset| if several { format!(".{offset:06x}") } else { String::new() };
    let out: Vec<Binary> = loaded
        .into_iter()
        .filter(|l| select.at.is_none_or(|at| at == l.offset))
        .map(|l| Binary { shbin: Rc::new(l.shbin), offset: l.offset, suffix: suffix(l.offset) })
        .collect();
    match select.at {
        Some(at) if out.is_empty() => bail!("there is no shader binary at {at:#x}"),
        _ => Ok(out),
    }
}

/// An executable of a shader binary.
pub struct Executable {
    /// The binary.
    pub shbin: Rc<Shbin>,
    /// Byte offset of the binary in the input.
    pub offset: usize,
    /// Number of the executable in the binary.
    pub index: usize,
    /// What tells it from the input's others in the name of a result; empty or starting with a period.
    pub suffix: String,
}

impl Executable {
    /// Its table entry.
    pub fn dvle(&self) -> Result<&Dvle> {
        let count = self.shbin.executables.len();
        let dvle = self.shbin.executables.get(self.index);
        Ok(dvle.ok_or(Error::NoExecutable { index: self.index, count })?)
    }

    /// A module of it.
    pub fn lift(&self, options: &pica::Options) -> Result<(Module, FlowStats)> {
        let lifted = pica::lift_executable(&self.shbin, self.index, options)?;
        Ok((lifted.module, lifted.flow))
    }
}

/// The executables in an input that `select` chooses, at least one.
pub fn executables(bytes: &[u8], select: &Select) -> Result<Vec<Executable>> {
    let mut out = Vec::new();
    for binary in binaries(bytes, select)? {
        let count = binary.shbin.executables.len();
        let wanted = match select.entry {
            Some(index) if index >= count => return Err(Error::NoExecutable { index, count }.into()),
            Some(index) => index..index + 1,
            None => 0..count,
        };
        out.extend(wanted.map(|index| {
            let number = if count > 1 { format!(".{index}") } else { String::new() };
            Executable {
                shbin: Rc::clone(&binary.shbin),
                offset: binary.offset,
                index,
                suffix: format!("{}{number}", binary.suffix),
            }
        }));
    }
    if out.is_empty() {
        bail!("there is no executable inside");
    }
    Ok(out)
}

/// A module to work on, with where it comes from.
pub struct Unit {
    /// The module.
    pub module: Module,
    /// What tells it from the input's others in the name of a result.
    pub suffix: String,
}

/// The modules of an input: its executables lifted, or the one its IR text says, verified.
pub fn modules(bytes: &[u8], select: &Select, lift: &LiftArgs, listing: bool) -> Result<Vec<Result<Unit>>> {
    if detect(bytes) == Format::IrText {
        let text = std::str::from_utf8(bytes).map_err(|e| Error::Utf8 { offset: e.valid_up_to() })?;
        let module = text::parse(text, &text::Limits::default())?;
        verify::verify(&module).context("the module is not sound")?;
        return Ok(vec![Ok(Unit { module, suffix: String::new() })]);
    }
    if let Format::Maxwell(_) = detect(bytes) {
        return maxwell_modules(bytes, select, lift);
    }
    if let Format::Dxil(_) = detect(bytes) {
        return dxil_modules(bytes, select, lift);
    }
    let options = lift.options(listing);
    let unit = |e: Executable| {
        let (module, _) = e.lift(&options).with_context(|| format!("executable {}", e.index))?;
        Ok(Unit { module, suffix: e.suffix })
    };
    Ok(executables(bytes, select)?.into_iter().map(|e| attempt(|| unit(e))).collect())
}

/// The Maxwell programs in an input that `select` chooses, at least one, with what tells each from the others.
pub fn maxwell_programs<'a>(bytes: &'a [u8], select: &Select) -> Result<Vec<(maxwell::Program<'a>, String)>> {
    let programs = maxwell::load(bytes)?;
    let count = programs.len();
    let chosen: Vec<_> = programs
        .into_iter()
        .enumerate()
        .filter(|(index, p)| {
            select.entry.is_none_or(|entry| entry == *index)
                && select.kernel.as_ref().is_none_or(|name| *name == p.name)
        })
        .map(|(index, p)| {
            let suffix = if count > 1 { format!(".{index}") } else { String::new() };
            (p, suffix)
        })
        .collect();
    match (chosen.is_empty(), select) {
        (false, _) => Ok(chosen),
        (true, Select { kernel: Some(name), .. }) => bail!("there is no kernel {name:?}"),
        (true, Select { entry: Some(index), .. }) => Err(Error::NoExecutable { index: *index, count }.into()),
        (true, _) => bail!("there is no program inside"),
    }
}

fn dxil_modules(bytes: &[u8], select: &Select, lift: &LiftArgs) -> Result<Vec<Result<Unit>>> {
    let module = dxil::load(bytes)?;
    let model = lift.binding_model()?;
    let count = dxil::programs(&module)?.len();
    let wanted = match select.entry {
        Some(index) if index >= count => return Err(Error::NoExecutable { index, count }.into()),
        Some(index) => index..index + 1,
        None => 0..count,
    };
    let unit = |entry: usize| {
        let (all_resident, samples) = (lift.all_resident, lift.samples);
        let options = dxil::LiftOptions { entry, all_resident, samples, ..Default::default() };
        let remapper = model.remapper(bytes, &module, entry)?;
        let lifted = dxil::lift_bound(&module, &options, &*remapper);
        let lifted = lifted.with_context(|| format!("shader {entry}"))?;
        let suffix = if count > 1 { format!(".{entry}") } else { String::new() };
        Ok(Unit { module: lifted.module, suffix })
    };
    Ok(wanted.map(|entry| attempt(|| unit(entry))).collect())
}

fn maxwell_modules(bytes: &[u8], select: &Select, lift: &LiftArgs) -> Result<Vec<Result<Unit>>> {
    let options = maxwell::Options {
        workgroup: lift.workgroup.0,
        storage_alignment: lift.storage_buffers,
        flatten_integer_cubes: lift.flatten_integer_cubes,
        scale_textures: lift.scale_textures,
        stages_to_compute: lift.stages_to_compute,
        ..Default::default()
    };
    let unit = |(program, suffix): (maxwell::Program, String)| {
        let lifted = maxwell::lift(&program, &options).with_context(|| program.name.clone())?;
        Ok(Unit { module: lifted.module, suffix })
    };
    Ok(maxwell_programs(bytes, select)?.into_iter().map(|p| attempt(|| unit(p))).collect())
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
