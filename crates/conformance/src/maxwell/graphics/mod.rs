//! Suite `maxwell-graphics`: shaders compiled by uam, translated, built into pipelines and compared with their sources
//! (`vectors/maxwell/FORMAT.md`, section 3).

mod contents;
mod images;
pub mod pipeline;
mod reference;
mod reflect;
mod render;
pub mod source;
mod warps;

use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::vulkan::{self, Language};
use crate::{Error, Request, input};
use source::{Declarations, SourceGpu};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use xenoglot::maxwell::{self, Options};
use xenoglot_maxwell::lift::{LiftOptions, Lifted};
use xenoglot_vulkan::glslang::{self, Stage};

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
    /// What the source declares.
    pub declarations: Declarations,
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
/// A file that cannot be read or unpacked, or one without shaders; a source without SPIR-V beside it that glslang cannot
/// compile.
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
        let shader = [".dksh", ".spv"].iter().find_map(|ending| name.strip_suffix(ending));
        if stage(shader.unwrap_or(&name)).is_some() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(damaged)?;
            files.insert(name, bytes);
        }
    }
    let mut shaders = Vec::new();
    for (name, source) in &files {
        let Some(dksh) = files.get(&format!("{name}.dksh")).cloned() else { continue };
        let Some((stage, _)) = stage(name) else { continue };
        let Ok(source) = String::from_utf8(source.clone()) else { continue };
        let declarations = declarations(&source, stage, files.get(&format!("{name}.spv")));
        let unread = |reason| Error::Archive { path: path.into(), reason: format!("{name}: {reason}") };
        let declarations = declarations.map_err(unread)?;
        shaders.push(Shader { name: name.clone(), stage, source, dksh, declarations });
    }
    if shaders.is_empty() {
        return Err(Error::NoVectors { path: path.into(), magic: "NAME.frag and NAME.frag.dksh".into() });
    }
    Ok(shaders)
}

/// What a source declares, by the SPIR-V that it is for OpenGL.
fn declarations(source: &str, stage: Stage, spirv: Option<&Vec<u8>>) -> Result<Declarations, String> {
    let compiled = match spirv {
        Some(bytes) => words(bytes),
        None => glslang::compile_opengl(source, stage).map_err(|e| e.to_string())?,
    };
    Declarations::of_spirv(&compiled, stage)
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
        Ok(SourceGpu::new(&self.declarations, program.gpu, base))
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
        (Ok(true), _) => Verdict::Passed,
        (Ok(false), _) => {
            Verdict::Unconfirmed("neither the source nor its translation draws or writes anything".into())
        }
        (Err(e), Some((_, reason))) => Verdict::Unconfirmed(format!("{reason}: {e}")),
        (Err(e), None) => Verdict::Failed(e),
    }
}

/// Suite `maxwell-graphics`: a case for each shader.
pub(crate) fn shaders(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let shaders = Arc::new(read(&request.path)?);
    let language = if request.engine == "glsl" { Language::Glsl } else { Language::Spirv };
    let (device, request) = (vulkan::device(request)?, request.clone());
    let items = shaders.iter().map(|s| Item::single(s.name.clone(), s.clone())).collect();
    let start = move || pipeline::Engine::new(language, &request, &device);
    let judge = move |engine: &mut pipeline::Engine, item: &Item<Shader>, emit: &mut Emit| {
        let verdict = verdict(engine, &item.data, &shaders);
        emit(Case { name: item.data.name.clone(), verdict });
    };
    Work::with(items, start, judge).run(observer)
}
