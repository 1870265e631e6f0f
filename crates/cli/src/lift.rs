//! How programs are lifted: options of each guest, and the error where they are another's.

use crate::source;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use xenoglot::dxil::{self, BindingModel};
use xenoglot::guest::{self, Guest, LiftOptions};
use xenoglot::pica::{self, Shape};
use xenoglot::{maxwell, mips};
use xenoglot_pica_shader::lift::{ClipSpace, Numeric};

/// Arithmetic.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum NumericArg {
    /// IEEE single, but 0 times infinity is 0.
    Single,
    /// Results rounded to the chip's 24 bits.
    F24,
    /// Plain IEEE single: 0 times infinity is NaN.
    Fast,
}

/// What to make of a program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShapeArg {
    /// A vertex shader with the output map applied; geometry programs become compute kernels.
    Host,
    /// A compute kernel that reads inputs from a buffer and writes all registers to one.
    Compute,
}

/// Clip space of positions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ClipArg {
    /// z from 0 to w.
    Vulkan,
    /// z from -w to w.
    Opengl,
    /// As the program wrote it: z from -w to 0.
    Guest,
}

/// How to lift. Options mean something for one guest each.
#[derive(Args, Clone, Default)]
pub struct LiftArgs {
    #[command(flatten)]
    pica: PicaArgs,
    #[command(flatten)]
    maxwell: MaxwellArgs,
    #[command(flatten)]
    dxil: DxilArgs,
    #[command(flatten)]
    mips: MipsArgs,
}

/// How PICA200 shaders are lifted.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "PICA200 shaders")]
struct PicaArgs {
    /// Arithmetic of results; single if not given.
    #[arg(long, value_enum)]
    numeric: Option<NumericArg>,
    /// The kind of shader to make; host if not given.
    #[arg(long, value_enum)]
    shape: Option<ShapeArg>,
    /// Clip space of a vertex shader's position; vulkan if not given.
    #[arg(long, value_enum)]
    clip: Option<ClipArg>,
}

/// How Maxwell programs are lifted.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Maxwell programs")]
pub struct MaxwellArgs {
    /// Invocations of a workgroup along x, y and z, for kernels whose file does not record them; 32,1,1 if not given.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_workgroup)]
    workgroup: Option<Workgroup>,
    /// Bytes of shared memory that the launch gives a workgroup beside what the file states (`extern __shared__`).
    #[arg(long, value_name = "BYTES")]
    shared_bytes: Option<u32>,
    /// Bytes of local memory of an invocation of a kernel whose functions call themselves; 1024 if not given.
    #[arg(long, value_name = "BYTES")]
    stack_bytes: Option<u32>,
    /// Turn global memory whose addresses come from constant banks into storage buffers, aligned to BYTES.
    #[arg(long, value_name = "BYTES", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    storage_buffers: Option<u32>,
    /// Let textures and render targets be scaled; a uniform buffer holds the factors.
    #[arg(long)]
    scale_textures: bool,
    /// Make compute shaders of vertex and geometry shaders, for hosts without the stage.
    #[arg(long)]
    stages_to_compute: bool,
    /// Bind cube maps of integers as array layers, for hosts that cannot sample them.
    #[arg(long)]
    flatten_integer_cubes: bool,
}

/// How Direct3D 12 shaders are lifted.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Direct3D 12 shaders")]
struct DxilArgs {
    /// How resources are bound; by root signature if one is given, else by registers.
    #[arg(long, value_enum)]
    bindings: Option<BindingsArg>,
    /// The root signature, bare or in a container; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    root_signature: Option<PathBuf>,
    /// Check descriptors of heaps before each access, against buffers in set 3, and record faults there with the shader number PROGRAM.
    /// Needs --bindings root-signature; `dxil-checks decode` prints the faults.
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "0", require_equals = true)]
    check_descriptors: Option<u32>,
    /// Offset and bound storage buffers of heaps by the table in set 3, binding 2: of STRIDE bytes for each descriptor, the first byte at
    /// START and the bytes at SIZE. Needs --bindings root-signature.
    #[arg(long, value_name = "STRIDE,START,SIZE", num_args = 0..=1, default_missing_value = "8,0,4", require_equals = true,
          value_parser = parse_windows)]
    buffer_windows: Option<dxil::Windows>,
    /// Offset and bound typed buffers of heaps by the same table, in texels.
    #[arg(long, value_name = "STRIDE,START,SIZE", num_args = 0..=1, default_missing_value = "8,0,4", require_equals = true,
          value_parser = parse_windows)]
    texel_windows: Option<dxil::Windows>,
    /// Assume that all textures are resident, for hosts without sparse resources.
    #[arg(long)]
    all_resident: bool,
    /// Samples of the render targets, for pixel shaders that query them.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=16))]
    samples: Option<u8>,
    /// Number of the specialization constant that says how many samples the render targets have; --samples is its default.
    #[arg(long, value_name = "ID")]
    samples_constant: Option<u32>,
    /// Make the second target of pixel shaders the second source of the blending of the first.
    #[arg(long)]
    dual_source: bool,
    /// Make positions invariant: equal computations give equal bits in all shaders.
    #[arg(long)]
    invariant_position: bool,
    /// Pass components of 16 bits between stages as such, not as 32 bits; all stages of a pipeline need the same.
    #[arg(long)]
    interface_16bit: bool,
    /// Keep helper lanes of pixel shaders out of votes, ballots, reductions and scans of waves.
    #[arg(long)]
    waves_without_helpers: bool,
    /// Fuse no products and sums, as if all arithmetic were `precise`.
    #[arg(long)]
    precise: bool,
    /// Declare storage images without a format, unless atomics access them, so that views of any format may be bound.
    #[arg(long)]
    images_without_format: bool,
    /// Give types of minimum precision (min16float and others) 16 bits in registers, not 32.
    #[arg(long)]
    native_min_precision: bool,
    /// Bind constant buffers as storage buffers.
    #[arg(long)]
    constants_as_storage: bool,
    /// Write other components of pixel shaders' outputs to a render target, as in `0=bgra`; may be given several times.
    #[arg(long, value_name = "TARGET=COMPONENTS", value_parser = parse_swizzle)]
    target_swizzle: Vec<(usize, [u8; 4])>,
    /// Take the arguments of the root signature from a uniform buffer in set 3, binding 3, not from push constants. Needs --bindings
    /// root-signature.
    #[arg(long)]
    argument_block: bool,
}

/// How MIPS functions are lifted.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "MIPS programs")]
struct MipsArgs {
    /// What the register gp holds: jump tables of position-independent code are found by it.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    gp: Option<u32>,
    /// About how many instructions a module has at most.
    #[arg(long, value_name = "N")]
    max_insts: Option<u32>,
}

/// Where checks of the resource heap are bound, in the first set after those of heaps and static samplers.
const CHECKS: dxil::Slot = dxil::Slot { set: 3, binding: 0 };
/// Where windows of buffers are bound, behind the checks of both heaps.
const WINDOWS: dxil::Slot = dxil::Slot { set: 3, binding: 2 };

/// Where a block of arguments is bound, behind those.
const ARGUMENTS: dxil::Slot = dxil::Slot { set: 3, binding: 3 };

fn parse_swizzle(text: &str) -> Result<(usize, [u8; 4]), String> {
    let wanted = "a target from 0 to 7 and four of r, g, b and a are wanted, as in 0=bgra";
    let (target, components) = text.split_once('=').ok_or(wanted)?;
    let target = target.parse().ok().filter(|&target| target < 8).ok_or(wanted)?;
    let places: Option<Vec<u8>> = components.chars().map(|c| "rgba".find(c).map(|at| at as u8)).collect();
    Ok((target, places.and_then(|places| places.try_into().ok()).ok_or(wanted)?))
}

fn parse_windows(text: &str) -> Result<dxil::Windows, String> {
    let numbers: Vec<u32> = text.split(',').map_while(|number| number.parse().ok()).collect();
    match numbers[..] {
        [stride, start, size] if [stride, start, size].iter().all(|n| n % 4 == 0) => {
            Ok(dxil::Windows { slot: WINDOWS, stride, start, size })
        }
        _ => Err("three multiples of 4 are wanted, as in 16,0,8".into()),
    }
}

fn parse_address(text: &str) -> Result<u32, String> {
    let offset = crate::program::parse_offset(text)?;
    offset.try_into().map_err(|_| "an address has 32 bits".into())
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

/// The first of some flags that was given.
fn first_given(flags: &[(&'static str, bool)]) -> Option<&'static str> {
    flags.iter().find(|(_, given)| *given).map(|&(flag, _)| flag)
}

impl PicaArgs {
    fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--numeric", self.numeric.is_some()),
            ("--shape", self.shape.is_some()),
            ("--clip", self.clip.is_some()),
        ])
    }

    fn options(&self) -> pica::Options {
        let mut options = pica::Options::default();
        if let Some(numeric) = self.numeric {
            options.numeric = numeric.mode();
        }
        match self.shape {
            Some(ShapeArg::Host) | None => options.shape = Shape::Host,
            Some(ShapeArg::Compute) => options.shape = Shape::Compute,
        }
        match self.clip {
            Some(ClipArg::Vulkan) | None => options.clip = ClipSpace::Vulkan,
            Some(ClipArg::Opengl) => options.clip = ClipSpace::OpenGl,
            Some(ClipArg::Guest) => options.clip = ClipSpace::Guest,
        }
        options
    }
}

impl MaxwellArgs {
    /// How programs of a guest are lifted in a corpus, which may have other guests' as well: by these options where they are
    /// for that guest. And a text that says so in keys of caches.
    pub fn of_corpus(&self, guest: Option<&dyn Guest>) -> (LiftArgs, String) {
        if guest.is_some_and(|guest| guest.name() == "maxwell") && self.given().is_some() {
            (LiftArgs { maxwell: self.clone(), ..LiftArgs::default() }, self.text())
        } else {
            (LiftArgs::default(), "default".into())
        }
    }

    /// All options as a text: the same for the same options.
    pub fn text(&self) -> String {
        format!("{self:?}")
    }

    fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--workgroup", self.workgroup.is_some()),
            ("--shared-bytes", self.shared_bytes.is_some()),
            ("--stack-bytes", self.stack_bytes.is_some()),
            ("--storage-buffers", self.storage_buffers.is_some()),
            ("--scale-textures", self.scale_textures),
            ("--stages-to-compute", self.stages_to_compute),
            ("--flatten-integer-cubes", self.flatten_integer_cubes),
        ])
    }

    fn options(&self) -> maxwell::Options {
        let default = maxwell::Options::default();
        maxwell::Options {
            workgroup: self.workgroup.map_or(default.workgroup, |Workgroup(sizes)| sizes),
            dynamic_shared_bytes: self.shared_bytes.unwrap_or(0),
            stack_bytes: self.stack_bytes.unwrap_or(default.stack_bytes),
            storage_alignment: self.storage_buffers,
            flatten_integer_cubes: self.flatten_integer_cubes,
            scale_textures: self.scale_textures,
            stages_to_compute: self.stages_to_compute,
            ..default
        }
    }
}

impl DxilArgs {
    fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--bindings", self.bindings.is_some()),
            ("--root-signature", self.root_signature.is_some()),
            ("--check-descriptors", self.check_descriptors.is_some()),
            ("--buffer-windows", self.buffer_windows.is_some()),
            ("--texel-windows", self.texel_windows.is_some()),
            ("--all-resident", self.all_resident),
            ("--samples", self.samples.is_some()),
            ("--dual-source", self.dual_source),
            ("--invariant-position", self.invariant_position),
            ("--interface-16bit", self.interface_16bit),
            ("--waves-without-helpers", self.waves_without_helpers),
            ("--precise", self.precise),
            ("--images-without-format", self.images_without_format),
            ("--samples-constant", self.samples_constant.is_some()),
            ("--native-min-precision", self.native_min_precision),
            ("--constants-as-storage", self.constants_as_storage),
            ("--target-swizzle", !self.target_swizzle.is_empty()),
            ("--argument-block", self.argument_block),
        ])
    }

    fn options(&self) -> Result<dxil::Options> {
        let mut target_swizzles = dxil::LiftOptions::DEFAULT.target_swizzles;
        for &(target, swizzle) in &self.target_swizzle {
            if let Some(to) = target_swizzles.get_mut(target) {
                *to = swizzle;
            }
        }
        let lift = dxil::LiftOptions {
            samples_constant: self.samples_constant,
            native_min_precision: self.native_min_precision,
            constants_as_storage: self.constants_as_storage,
            target_swizzles,
            all_resident: self.all_resident,
            samples: self.samples,
            dual_source: self.dual_source,
            invariant_position: self.invariant_position,
            interface_16bit: self.interface_16bit,
            waves_without_helpers: self.waves_without_helpers,
            precise: self.precise,
            images_without_format: self.images_without_format,
            ..Default::default()
        };
        Ok(dxil::Options { bindings: self.binding_model()?, lift })
    }

    fn binding_model(&self) -> Result<BindingModel> {
        let signature = match &self.root_signature {
            Some(file) => {
                let bytes = source::read(file)?;
                Some(dxil::RootSignature::parse(&bytes).with_context(|| source::name(file))?)
            }
            None => None,
        };
        let windows = self.buffer_windows.is_some() || self.texel_windows.is_some();
        let own = self.check_descriptors.is_some() || windows || self.argument_block;
        match (self.bindings, signature) {
            (Some(BindingsArg::Registers), Some(_)) => bail!("a root signature binds no registers plainly"),
            (Some(BindingsArg::Registers) | None, None) if own => {
                bail!(
                    "checks, windows and blocks of arguments are of root signatures: use --bindings root-signature"
                )
            }
            (Some(BindingsArg::Registers) | None, None) => Ok(BindingModel::Registers),
            (_, signature) => {
                let heaps = dxil::HeapSets {
                    checks: self.check_descriptors.map(|program| dxil::Checks { slot: CHECKS, program }),
                    windows: self.buffer_windows,
                    texel_windows: self.texel_windows,
                    arguments: self.argument_block.then_some(ARGUMENTS),
                    ..dxil::HeapSets::default()
                };
                Ok(BindingModel::RootSignature { signature, heaps })
            }
        }
    }
}

impl MipsArgs {
    fn given(&self) -> Option<&'static str> {
        first_given(&[("--gp", self.gp.is_some()), ("--max-insts", self.max_insts.is_some())])
    }

    fn options(&self) -> mips::Options {
        let default = mips::Options::default();
        mips::Options { max_insts: self.max_insts.unwrap_or(default.max_insts), gp: self.gp }
    }
}

impl LiftArgs {
    /// A guest's options. Those of another guest that were given are an error.
    pub fn options(&self, guest: &dyn Guest) -> Result<LiftOptions> {
        let given = [
            ("pica", self.pica.given()),
            ("maxwell", self.maxwell.given()),
            ("dxil", self.dxil.given()),
            ("mips", self.mips.given()),
        ];
        for (name, flag) in given {
            if let Some(flag) = flag
                && name != guest.name()
            {
                let of = guest::named(name).map_or(name, Guest::title);
                bail!("{flag} is an option of {of}, and this is a program of {}", guest.title());
            }
        }
        Ok(match guest.options() {
            LiftOptions::Pica(_) => LiftOptions::Pica(self.pica.options()),
            LiftOptions::Maxwell(_) => LiftOptions::Maxwell(self.maxwell.options()),
            LiftOptions::Dxil(_) => LiftOptions::Dxil(self.dxil.options()?),
            LiftOptions::Mips(_) => LiftOptions::Mips(self.mips.options()),
            other => other,
        })
    }
}
