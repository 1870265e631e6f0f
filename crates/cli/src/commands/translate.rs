//! `xenoglot translate`: to shader languages.

use crate::batch::{Artifact, BatchArgs};
use crate::isolate::{Panicked, attempt};
use crate::program::{LiftArgs, Select, Unit, each_unit};
use anyhow::{Context, Result};
use clap::ValueEnum;
use xenoglot::{Code, Target, Translator};
use xenoglot_opt::lower_floats;
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

/// Arguments of `translate`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    lift: LiftArgs,
    /// The language; several separated by commas.
    #[arg(long, value_enum, required = true, value_delimiter = ',')]
    to: Vec<Language>,
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
    /// Guard against hostile shaders: bound loops and keep accesses inside buffers. SPIR-V only.
    #[arg(long)]
    robust: bool,
    /// Name values in SPIR-V after the guest's registers.
    #[arg(long)]
    names: bool,
    /// Lanes of the host's subgroups, 0 if unknown. Shuffles and votes of warps of another width go through shared memory.
    #[arg(long, value_name = "LANES", default_value_t = 0)]
    subgroup_width: u8,
    /// How much to optimise. Default: full, or light where the guest's compiler has optimised (DXIL).
    #[arg(long, value_enum, value_name = "LEVEL")]
    optimize: Option<Optimize>,
}

fn parse_capability(name: &str) -> Result<Capability, String> {
    name.parse().map_err(|()| "no capability of SPIR-V".into())
}

/// Passes that leave what hosts have.
pub fn lowering() -> xenoglot_opt::Options {
    let floats = lower_floats::Options { directed: true, doubles: true, ..Default::default() };
    xenoglot_opt::Options { lower_memory: true, floats, ..Default::default() }
}

/// Translates.
pub fn run(args: &Args) -> Result<bool> {
    each_unit(&args.batch, &args.select, &args.lift, args.comments, |translator, _, mut unit| {
        let level = args.optimize.map(Optimize::level);
        let options = xenoglot_opt::Options { level, subgroup_width: args.subgroup_width, ..lowering() };
        translator.optimize(&mut unit.module, &options);
        // What one language's writer cannot do is not the others' error.
        let one = |&language: &Language| {
            let made = attempt(|| one(args, translator, &unit, language));
            if made.as_ref().is_err_and(|e| e.is::<Panicked>()) {
                *translator = Translator::new();
            }
            made
        };
        args.to.iter().map(one).collect()
    })
}

fn one(args: &Args, translator: &mut Translator, unit: &Unit, language: Language) -> Result<Artifact> {
    let target = target(args, language);
    let name = language.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
    let code = translator.emit(&unit.module, &target).with_context(|| format!("to {name}"))?;
    let suffix = format!("{}.{}", unit.suffix, extension(language, unit.module.stage.name()));
    let size = match &code {
        Code::Words(words) => words.len() * 4,
        Code::Text(text) => text.len(),
    };
    let artifact = match code {
        Code::Words(_) => Artifact::bytes(suffix, code.into_bytes()),
        Code::Text(text) => Artifact::text(suffix, text),
    };
    let artifact =
        artifact.fact("module", unit.module.name.clone()).fact("language", name).fact("bytes", size);
    Ok(artifact)
}

fn target(args: &Args, language: Language) -> Target {
    match language {
        Language::Spirv => Target::Spirv(xenoglot_spirv::Options {
            guest_lines: args.comments,
            robust: args.robust,
            without: args.without.clone(),
            subgroup_width: args.subgroup_width,
            names: if args.names { xenoglot_spirv::Names::All } else { Default::default() },
            version: args.spirv_version.map(Spirv::version).or(args.vulkan.map(Vulkan::spirv)),
            ..Default::default()
        }),
        Language::Glsl => Target::Glsl(xenoglot_glsl::Options {
            target: args.glsl_version.target(),
            guest_comments: args.comments,
            subgroup_width: args.subgroup_width,
            ..Default::default()
        }),
        #[cfg(feature = "naga")]
        Language::Wgsl => Target::Wgsl(Default::default()),
        #[cfg(feature = "naga")]
        Language::Msl => Target::Msl(Default::default()),
        #[cfg(feature = "naga")]
        Language::Hlsl => Target::Hlsl(Default::default()),
    }
}

/// A file's extension. Tools tell GLSL stages by it.
pub fn extension(language: Language, stage: &str) -> &'static str {
    match (language, stage) {
        (Language::Spirv, _) => "spv",
        (Language::Glsl, "vertex") => "vert",
        (Language::Glsl, "fragment") => "frag",
        (Language::Glsl, "geometry") => "geom",
        (Language::Glsl, "tess_control") => "tesc",
        (Language::Glsl, "tess_eval") => "tese",
        (Language::Glsl, _) => "comp",
        #[cfg(feature = "naga")]
        (Language::Wgsl, _) => "wgsl",
        #[cfg(feature = "naga")]
        (Language::Msl, _) => "metal",
        #[cfg(feature = "naga")]
        (Language::Hlsl, _) => "hlsl",
    }
}
