//! Suite `maxwell-graphics`: shaders compiled by uam, translated, built into pipelines and compared with their sources
//! (`vectors/maxwell/FORMAT.md`, section 3).

mod contents;
mod images;
pub mod pipeline;
mod reference;
mod render;
pub mod source;
mod warps;

use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request, input};
use source::{Declarations, SourceGpu};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use xenoglot::maxwell::{self, Options};
use xenoglot_maxwell::lift::{LiftOptions, Lifted};
use xenoglot_vulkan::glslang::Stage;

/// A shader of the corpus.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its file's name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// The GLSL it was made from.
    pub source: String,
    /// The compiled file.
    pub dksh: Vec<u8>,
}

/// Extension, stage, and where the driver's bank has the stage's handles.
const STAGES: [(&str, Stage, u32); 6] = [
    ("vert", Stage::Vertex, 0x010),
    ("tesc", Stage::TessControl, 0x1b0),
    ("tese", Stage::TessEvaluation, 0x350),
    ("geom", Stage::Geometry, 0x4f0),
    ("frag", Stage::Fragment, 0x690),
    ("comp", Stage::Compute, 0x0a0),
];

pub(crate) fn stage(name: &str) -> Option<(Stage, u32)> {
    let extension = name.rsplit('.').next()?;
    STAGES.iter().find(|s| s.0 == extension).map(|s| (s.1, s.2))
}

/// The shaders of an archive, by name.
///
/// # Errors
/// A file that cannot be read or unpacked, or one without shaders.
pub fn read(path: &Path) -> Result<Vec<Shader>, Error> {
    let damaged = |e: std::io::Error| Error::Archive { path: path.into(), reason: e.to_string() };
    let bytes = input::read(path)?;
    let tar: Box<dyn Read> = match bytes.starts_with(super::format::XZ_MAGIC) {
        true => Box::new(lzma_rust2::XzReader::new(bytes.as_slice(), false)),
        false => Box::new(bytes.as_slice()),
    };
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut archive = tar::Archive::new(tar.take(input::MAX_BYTES));
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let name = {
            let path = entry.path().map_err(damaged)?;
            path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        if stage(name.strip_suffix(".dksh").unwrap_or(&name)).is_some() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(damaged)?;
            files.insert(name, bytes);
        }
    }
    let shaders: Vec<Shader> = files
        .iter()
        .filter_map(|(name, source)| {
            let dksh = files.get(&format!("{name}.dksh"))?.clone();
            let source = String::from_utf8(source.clone()).ok()?;
            Some(Shader { name: name.clone(), stage: stage(name)?.0, source, dksh })
        })
        .collect();
    if shaders.is_empty() {
        return Err(Error::NoVectors { path: path.into(), magic: "NAME.frag and NAME.frag.dksh".into() });
    }
    Ok(shaders)
}

impl Shader {
    /// The GPU that the source describes.
    ///
    /// # Errors
    /// A file that is no DKSH.
    pub fn gpu(&self) -> Result<SourceGpu, String> {
        let programs = maxwell::load(&self.dksh).map_err(|e| e.to_string())?;
        let program = programs.first().ok_or("no program")?;
        let base = stage(&self.name).map_or(0, |s| s.1);
        Ok(SourceGpu::new(&Declarations::read(&self.source), program.gpu, base))
    }

    /// Lifts the machine code; everything bound is in descriptor set `set`.
    ///
    /// # Errors
    /// A damaged file, or what is not lifted.
    pub fn lift(&self, set: u32) -> Result<Lifted, String> {
        let gpu = self.gpu()?;
        let programs = maxwell::load(&self.dksh).map_err(|e| e.to_string())?;
        let program = programs.first().ok_or("no program")?;
        let options = Options { lift: LiftOptions { set, ..LiftOptions::default() }, ..Options::default() };
        maxwell::lift_on(program, None, &options, &gpu).map_err(|e| e.to_string())
    }
}

/// Greatest difference of a component; of those above 1, relative.
const TOLERANCE: f32 = 1.0 / 255.0;

fn near(integers: bool, want: u32, got: u32) -> bool {
    if integers || want == got {
        return want == got;
    }
    let (want, got) = (f32::from_bits(want), f32::from_bits(got));
    (want.is_nan() && got.is_nan()) || (want - got).abs() <= TOLERANCE * want.abs().max(1.0)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

/// Shaders that may leave something else than their sources, and why.
const FREE: [(&str, &str); 2] = [
    ("fs_depth_mrt.frag", "it shows all bits of a varying, and those by w may be rounded in another order"),
    ("fs_sysvals.frag", "the fragments it covers go by the order of atomics"),
];

fn verdict(engine: &mut pipeline::Engine, shader: &Shader, shaders: &[Shader]) -> Verdict {
    if let Err(e) = engine.build(shader) {
        return Verdict::Failed(e);
    }
    match (engine.render(shader, shaders), FREE.iter().find(|f| f.0 == shader.name)) {
        (Ok(()), _) => Verdict::Passed,
        (Err(e), Some((_, reason))) => Verdict::Unconfirmed(format!("{reason}: {e}")),
        (Err(e), None) => Verdict::Failed(e),
    }
}

/// Suite `maxwell-graphics`: a case for each shader.
pub(crate) fn shaders(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let shaders = read(&request.path)?;
    let language = if request.engine == "glsl" { Language::Glsl } else { Language::Spirv };
    let device = vulkan::device(request)?;
    let mut engine = pipeline::Engine::new(language, request, &device)?;
    observer.total(shaders.len());
    let cases: Vec<Case> = shaders
        .iter()
        .map(|shader| {
            let verdict = verdict(&mut engine, shader, &shaders);
            let case = Case { name: shader.name.clone(), verdict };
            observer.case(&case);
            case
        })
        .collect();
    Ok(Summary::of(&cases))
}
