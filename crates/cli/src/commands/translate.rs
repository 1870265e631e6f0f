//! `xenoglot translate`: to shader languages.

use crate::batch::{Artifact, BatchArgs};
use crate::isolate::{Panicked, attempt};
use crate::lift::LiftArgs;
use crate::program::{Select, Unit, each_unit};
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::fmt::Write as _;
use xenoglot::host::{Language as HostLanguage, Subgroups, UnknownHost};
use xenoglot::{Code, Floats, Host, Options, Translator};
use xenoglot_opt::pipeline::Level;
use xenoglot_spirv::Capability;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// SPIR-V for Vulkan, binary.
    Spirv,
    /// GLSL.
    Glsl,
    /// WGSL.
    #[cfg(feature = "naga")]
    Wgsl,
    /// Metal Shading Language.
    #[cfg(feature = "naga")]
    Msl,
    /// HLSL.
    #[cfg(feature = "naga")]
    Hlsl,
}

impl Language {
    /// The host that is known by its language only.
    pub fn host(self) -> Host {
        Host::of(match self {
            Language::Spirv => HostLanguage::Spirv(None),
            Language::Glsl => HostLanguage::Glsl(Glsl::default().target()),
            #[cfg(feature = "naga")]
            Language::Wgsl => HostLanguage::Wgsl,
            #[cfg(feature = "naga")]
            Language::Msl => HostLanguage::Msl(2, 4),
            #[cfg(feature = "naga")]
            Language::Hlsl => HostLanguage::Hlsl(6, 0),
        })
    }
}

/// How much to optimise.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Optimize {
    /// Promote registers to values, nothing else.
    None,
    /// Also simplify once what lifting leaves behind.
    Light,
    /// All passes.
    Full,
}

impl Optimize {
    /// The pass list's.
    fn level(self) -> Level {
        match self {
            Optimize::None => Level::None,
            Optimize::Light => Level::Light,
            Optimize::Full => Level::Full,
        }
    }
}

/// A version of GLSL.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Glsl {
    /// OpenGL 3.3 core.
    #[value(name = "330")]
    V330,
    /// OpenGL 4.5.
    #[value(name = "450")]
    V450,
    /// Vulkan.
    #[default]
    #[value(name = "450-vulkan")]
    Vulkan,
    /// OpenGL ES 3.1.
    #[value(name = "310es")]
    Es310,
}

impl Glsl {
    /// The writer's.
    pub fn target(self) -> xenoglot_glsl::Target {
        match self {
            Glsl::V330 => xenoglot_glsl::Target::Gl330,
            Glsl::V450 => xenoglot_glsl::Target::Gl450,
            Glsl::Vulkan => xenoglot_glsl::Target::Vulkan450,
            Glsl::Es310 => xenoglot_glsl::Target::Es310,
        }
    }
}

/// A version of SPIR-V.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Spirv {
    /// 1.0.
    #[value(name = "1.0")]
    V0,
    /// 1.1.
    #[value(name = "1.1")]
    V1,
    /// 1.2.
    #[value(name = "1.2")]
    V2,
    /// 1.3.
    #[value(name = "1.3")]
    V3,
    /// 1.4.
    #[value(name = "1.4")]
    V4,
    /// 1.5.
    #[value(name = "1.5")]
    V5,
    /// 1.6.
    #[value(name = "1.6")]
    V6,
}

impl Spirv {
    fn version(self) -> xenoglot_spirv::Version {
        xenoglot_spirv::Version::ALL[self as usize]
    }
}

/// A version of Vulkan.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Vulkan {
    /// 1.1: SPIR-V 1.3.
    #[value(name = "1.1")]
    V1,
    /// 1.2: SPIR-V 1.5.
    #[value(name = "1.2")]
    V2,
    /// 1.3: SPIR-V 1.6.
    #[value(name = "1.3")]
    V3,
}

impl Vulkan {
    fn spirv(self) -> xenoglot_spirv::Version {
        match self {
            Vulkan::V1 => xenoglot_spirv::Version::V1_3,
            Vulkan::V2 => xenoglot_spirv::Version::V1_5,
            Vulkan::V3 => xenoglot_spirv::Version::V1_6,
        }
    }
}

/// How floats are computed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum FloatsArg {
    /// As the guest computes them, to the bit wherever the host can.
    #[default]
    Exact,
    /// As the host computes them: shorter code, other results for denormals, zeros, NaNs and rounding.
    Relaxed,
}

impl FloatsArg {
    fn mode(self) -> Floats {
        match self {
            FloatsArg::Exact => Floats::Exact,
            FloatsArg::Relaxed => Floats::Relaxed,
        }
    }
}

/// Arguments of `translate`.
#[derive(clap::Args)]
#[command(after_help = list_of_hosts())]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    lift: LiftArgs,
    /// The language; several separated by commas.
    #[arg(long, value_enum, required_unless_present = "host", value_delimiter = ',')]
    to: Vec<Language>,
    /// A host by name, which stands for a language and what of it the host has; several separated by commas. They are
    /// listed below.
    #[arg(long, value_name = "NAME", conflicts_with = "to", value_delimiter = ',', value_parser = parse_host)]
    host: Vec<Chosen>,
    /// Version of GLSL.
    #[arg(long, value_enum, default_value_t)]
    glsl_version: Glsl,
    /// Version of SPIR-V. Without this and --vulkan: 1.3, or the first version that the shader can use.
    #[arg(long, value_enum)]
    spirv_version: Option<Spirv>,
    /// The newest SPIR-V of a version of Vulkan.
    #[arg(long, value_enum, conflicts_with = "spirv_version")]
    vulkan: Option<Vulkan>,
    /// Capabilities of SPIR-V that the host lacks, by their names (`Int64`, `SparseResidency`): shaders that need one are
    /// refused.
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', value_parser = parse_capability)]
    without: Vec<Capability>,
    /// Write each guest instruction and its address above the code made of it: a comment in GLSL, OpLine in SPIR-V.
    #[arg(long)]
    comments: bool,
    /// Guard against hostile shaders: bound loops and, in SPIR-V, keep accesses inside buffers. Not GLSL.
    #[arg(long)]
    robust: bool,
    /// Name values in SPIR-V after the guest's registers.
    #[arg(long)]
    names: bool,
    /// Lanes of the host's subgroups. Shuffles and votes of warps of another width go through shared memory; all of them do
    /// if this is not given.
    #[arg(long, value_name = "LANES", value_parser = clap::value_parser!(u8).range(1..=128))]
    subgroup_width: Option<u8>,
    /// How floats are computed.
    #[arg(long, value_enum, default_value_t)]
    floats: FloatsArg,
    /// How much to optimise. Default: full, or light where the guest's compiler has optimised (DXIL).
    #[arg(long, value_enum, value_name = "LEVEL")]
    optimize: Option<Optimize>,
}

fn parse_capability(name: &str) -> Result<Capability, String> {
    name.parse().map_err(|()| "no capability of SPIR-V".into())
}

/// A host that code is asked for.
#[derive(Clone)]
pub struct Chosen {
    /// Its name, or its language's.
    pub name: String,
    /// What it is.
    pub host: Host,
}

/// The host of an argument.
pub fn parse_host(name: &str) -> Result<Chosen, UnknownHost> {
    Ok(Chosen { name: name.into(), host: name.parse()? })
}

/// The named hosts, for the end of the help.
fn list_of_hosts() -> String {
    Host::names().fold("Hosts:\n".into(), |mut text, name| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:12} {}", Host::doc(name).unwrap_or_default());
        text
    })
}

impl Args {
    /// The hosts asked for, as the other arguments say.
    fn hosts(&self) -> Vec<Chosen> {
        let of_language = |&language: &Language| {
            let name = language.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
            let language = self.language(language);
            // As the host called `vulkan`.
            let robust_buffers = matches!(language, HostLanguage::Spirv(_));
            Chosen { name, host: Host { robust_buffers, ..Host::of(language) } }
        };
        let named = self.host.iter().cloned();
        let mut all: Vec<Chosen> = named.chain(self.to.iter().map(of_language)).collect();
        for Chosen { host, .. } in &mut all {
            self.without.iter().for_each(|&capability| host.without.insert(capability));
            host.robust_buffers &= !self.robust;
            if let Some(width) = self.subgroup_width {
                host.subgroups = Subgroups::exactly(width);
            }
        }
        all
    }

    fn language(&self, language: Language) -> HostLanguage {
        match language {
            Language::Spirv => {
                let version = self.spirv_version.map(Spirv::version);
                HostLanguage::Spirv(version.or(self.vulkan.map(Vulkan::spirv)))
            }
            Language::Glsl => HostLanguage::Glsl(self.glsl_version.target()),
            #[cfg(feature = "naga")]
            Language::Wgsl | Language::Msl | Language::Hlsl => language.host().language,
        }
    }

    fn options(&self) -> Options {
        Options {
            level: self.optimize.map(Optimize::level),
            floats: self.floats.mode(),
            names: if self.names { xenoglot_spirv::Names::All } else { Default::default() },
            guest_lines: self.comments,
            robust: self.robust,
            flip_y: false,
        }
    }
}

/// Translates.
pub fn run(args: &Args) -> Result<bool> {
    let (hosts, options) = (args.hosts(), args.options());
    each_unit(&args.batch, &args.select, &args.lift, args.comments, |translator, _, unit| {
        // What one language's writer cannot do is not the others' error.
        let one = |chosen: &Chosen| {
            let made = attempt(|| one(translator, &unit, chosen, &options, &hosts));
            if made.as_ref().is_err_and(|e| e.is::<Panicked>()) {
                *translator = Translator::new();
            }
            made
        };
        hosts.iter().map(one).collect()
    })
}

fn one(
    translator: &mut Translator,
    unit: &Unit,
    chosen: &Chosen,
    options: &Options,
    hosts: &[Chosen],
) -> Result<Artifact> {
    let Chosen { name, host } = chosen;
    let mut module = unit.module.clone();
    let code = translator.compile(&mut module, host, options).with_context(|| format!("to {name}"))?;
    let extension = extension(host.language, unit.module.stage.name());
    // Several hosts of one language are told apart by their names.
    let alike = hosts.iter().filter(|other| other.host.language.name() == host.language.name()).count();
    let suffix = match alike {
        0 | 1 => format!("{}.{extension}", unit.suffix),
        _ => format!("{}.{name}.{extension}", unit.suffix),
    };
    let (size, artifact) = match code {
        Code::Text(text) => (text.len(), Artifact::text(suffix, text)),
        other => {
            let bytes = other.into_bytes();
            (bytes.len(), Artifact::bytes(suffix, bytes))
        }
    };
    let artifact = artifact
        .fact("module", unit.module.name.clone())
        .fact("language", host.language.name())
        .fact("bytes", size);
    Ok(artifact)
}

/// A file's extension. Tools tell GLSL stages by it.
pub fn extension(language: HostLanguage, stage: &str) -> &'static str {
    match (language, stage) {
        (HostLanguage::Spirv(_) | HostLanguage::SpirvForNaga, _) => "spv",
        (HostLanguage::Glsl(_), "vertex") => "vert",
        (HostLanguage::Glsl(_), "fragment") => "frag",
        (HostLanguage::Glsl(_), "geometry") => "geom",
        (HostLanguage::Glsl(_), "tess_control") => "tesc",
        (HostLanguage::Glsl(_), "tess_eval") => "tese",
        (HostLanguage::Glsl(_), _) => "comp",
        (HostLanguage::Wgsl, _) => "wgsl",
        (HostLanguage::Msl(..), _) => "metal",
        (HostLanguage::Hlsl(..), _) => "hlsl",
        (HostLanguage::Native, _) => "bin",
    }
}
