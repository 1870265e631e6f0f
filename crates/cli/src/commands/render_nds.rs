//! `xenoglot render` of Nintendo DS scenes.

use super::render::{Args, save};
use super::render_textures::{Folders, Found};
use crate::failure::usage;
use crate::print;
use crate::source::{name, read};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xenoglot_nds::container::{FIRST, Limits, Scene};
use xenoglot_nds::dump::FrameDump;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::picture::{View, picture};
use xenoglot_nds::play::play;
use xenoglot_nds::raster::{self, Frame, Profile, Rules, Scale};
use xenoglot_pica::replay::Image;

/// Most bytes of a file, unpacked.
const MAX_BYTES: u64 = 64 << 20;
/// First bytes of a zstd file.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Arguments for scenes of the DS.
#[derive(clap::Args)]
#[command(next_help_heading = "Nintendo DS scenes")]
pub struct Options {
    /// Write depths: near is dark.
    #[arg(long, conflicts_with_all = ["attributes", "overlay"])]
    depth: bool,
    /// Write attributes: red is the polygon id, green the coverage, blue the kind of pixel.
    #[arg(long, conflicts_with = "overlay")]
    attributes: bool,
    /// Write colours with something drawn over them.
    #[arg(long, value_enum)]
    overlay: Option<Overlay>,
    /// Whose pixels to draw: the console's, or those of melonDS. Without it, the console's; with --check, those that the
    /// scene's results are of.
    #[arg(long, value_enum)]
    profile: Option<ProfileArg>,
    /// Write the last frame as a frame dump (NTRFD), which ndsframereplay draws on a console.
    #[arg(long, value_name = "FILE")]
    frame_dump: Option<PathBuf>,
}

/// Whose pixels are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ProfileArg {
    /// A console's, as far as they are recorded.
    Console,
    /// Those of the emulator melonDS, for comparisons.
    Melonds,
}

/// What can be drawn over a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Overlay {
    /// Outlines of all polygons.
    Polygons,
    /// Edge pixels: left red, right green, first and last rows blue.
    Edges,
    /// A colour for each polygon id.
    Ids,
}

impl Options {
    /// Whether a frame dump is written besides a picture.
    pub fn writes_dump(&self) -> bool {
        self.frame_dump.is_some()
    }

    fn view(&self) -> View {
        match self.overlay {
            Some(Overlay::Polygons) => View::Polygons,
            Some(Overlay::Edges) => View::Edges,
            Some(Overlay::Ids) => View::Ids,
            None if self.depth => View::Depth,
            None if self.attributes => View::Attributes,
            None => View::Color,
        }
    }
}

/// The bytes of the file at `path`, unpacked if they are zstd, if it is a scene.
pub fn unpacked<'a>(path: &Path, bytes: &'a [u8]) -> Result<Option<Cow<'a, [u8]>>> {
    if bytes.starts_with(&FIRST) {
        check_size(path, bytes.len() as u64)?;
        return Ok(Some(bytes.into()));
    }
    if !bytes.starts_with(&ZSTD) {
        return Ok(None);
    }
    let context = || name(path);
    let mut scene = Vec::new();
    let unpacked = ruzstd::decoding::StreamingDecoder::new(bytes).with_context(context)?;
    unpacked.take(MAX_BYTES + 1).read_to_end(&mut scene).with_context(context)?;
    check_size(path, scene.len() as u64)?;
    Ok(scene.starts_with(&FIRST).then_some(scene.into()))
}

fn check_size(path: &Path, bytes: u64) -> Result<()> {
    if bytes > MAX_BYTES {
        bail!("{}: more than {MAX_BYTES} bytes", name(path));
    }
    Ok(())
}

/// The memory image that a scene names, from the folder `vram` beside it.
fn image(path: &Path, name: &str) -> Result<Vec<u8>> {
    let folder = path.parent().unwrap_or(Path::new(".")).join("vram");
    let packed = folder.join(format!("{name}.bin.zst"));
    let context = || format!("the scene's memory image {}", packed.display());
    let file = std::fs::File::open(&packed).with_context(context)?;
    let mut bytes = Vec::new();
    let unpacked = ruzstd::decoding::StreamingDecoder::new(file).with_context(context)?;
    unpacked.take(MAX_BYTES).read_to_end(&mut bytes).with_context(context)?;
    Ok(bytes)
}

/// A scene with the memory image it starts from; `None` if the file is none.
pub fn load(path: &Path) -> Result<Option<(Scene, Option<Vec<u8>>)>> {
    let bytes = read(path)?;
    unpacked(path, &bytes)?.map(|scene| parse(path, &scene)).transpose()
}

fn parse(path: &Path, bytes: &[u8]) -> Result<(Scene, Option<Vec<u8>>)> {
    let scene = Scene::from_bytes(bytes, &Limits::default()).with_context(|| name(path))?;
    let image = scene.memory.as_deref().map(|name| image(path, name)).transpose()?;
    Ok((scene, image))
}

/// Plays a scene and writes what is asked for. False if it was checked and differs.
pub fn render(args: &Args, bytes: &[u8]) -> Result<bool> {
    let (scene, image) = parse(&args.file, bytes)?;
    show(args, &scene, image.as_deref())
}

/// Plays a frame dump, as [`render`] a scene.
pub fn render_dump(args: &Args, bytes: &[u8]) -> Result<bool> {
    let context = || name(&args.file);
    let scene = FrameDump::from_bytes(bytes).with_context(context)?.scene().with_context(context)?;
    show(args, &scene, None)
}

fn show(args: &Args, scene: &Scene, image: Option<&[u8]>) -> Result<bool> {
    let options = &args.scene;
    let name = name(&args.file);
    let profile = match options.profile {
        Some(ProfileArg::Console) => Profile::Console,
        Some(ProfileArg::Melonds) => Profile::MelonDs,
        None if args.check => scene.profile(),
        None => Profile::default(),
    };
    let rules = profile.rules();
    let folders = Arc::new(Folders::new(args.dump_textures.clone(), args.textures.clone()));
    let mut gpu = Gpu::new(raster::Options { rules, ..raster::Options::default() });
    if folders.are_asked_for() {
        gpu.renderer_mut().set_replacements(Some(folders.clone()));
    }
    let played = play(scene, image, gpu).with_context(|| name.clone())?;
    if played.gpu.frames() == 0 {
        bail!("{name}: nothing is shown");
    }
    if args.check && scene.expected.is_empty() {
        bail!("{name}: no results are expected, so there is nothing to check");
    }
    let Found { written, read, .. } = folders.finish()?;
    let pictures = Folders::new(None, args.textures.clone());
    let scaled = scaled(args, &played.gpu, rules, pictures)?;
    let frame: &dyn Frame = scaled.as_deref().unwrap_or(played.gpu.renderer());
    if let Some(output) = &args.output {
        let rgba = picture(played.gpu.polygons(), frame, options.view()).into_flattened();
        let [width, height] = frame.size().map(|size| size as u32);
        save(output, Image { width, height, rgba })?;
    }
    if let Some(path) = &options.frame_dump {
        let dump = FrameDump::of_scene(scene, image).with_context(|| name.clone())?;
        crate::output::write(path, &dump.to_bytes())?;
    }
    let different = if args.check { played.differences_of(frame, scene) } else { Vec::new() };
    let (polygons, vertices) = (played.gpu.polygons().polygons.len(), played.gpu.polygons().vertices.len());
    let frames = played.gpu.frames();
    let mut out = print::beside(args.output.as_deref());
    if args.json {
        let files: Vec<&PathBuf> = [&args.output, &options.frame_dump].into_iter().flatten().collect();
        let facts = json!({
            "title": scene.meta("name"),
            "frames": frames,
            "polygons": polygons,
            "vertices": vertices,
            "files": files,
            "textures_written": written,
            "textures_replaced": read,
            "different": different,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&facts)?)?;
    } else {
        writeln!(out, "{frames} frames, the last with {polygons} polygons and {vertices} vertices")?;
        if folders.are_asked_for() {
            writeln!(out, "{written} textures written, pictures in place of {read}")?;
        }
        for different in &different {
            writeln!(out, "DIFFERENT {different}")?;
        }
    }
    Ok(different.is_empty())
}

fn scale(args: &Args) -> Result<Scale> {
    Scale::new(args.scale).ok_or_else(|| usage("--scale is from 1 to 16"))
}

/// The last frame as the host's GPU draws it, if it is to.
#[cfg(feature = "gpu")]
fn scaled(args: &Args, gpu: &Gpu, rules: Rules, pictures: Folders) -> Result<Option<Box<dyn Frame>>> {
    use super::render::{RendererName, device};
    use xenoglot_nds::raster::compute::{ComputeRenderer, Options};

    let scale = scale(args)?;
    if scale == Scale::ONE && args.renderer != RendererName::Gpu {
        return Ok(None);
    }
    let mut renderer = ComputeRenderer::new(&device(args)?, Options { rules, scale, ..Options::default() })?;
    if pictures.are_asked_for() {
        renderer.set_replacements(Some(Arc::new(pictures)));
    }
    renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory)?;
    Ok(Some(Box::new(renderer)))
}

/// There is no other renderer.
#[cfg(not(feature = "gpu"))]
fn scaled(args: &Args, _: &Gpu, _: Rules, _: Folders) -> Result<Option<Box<dyn Frame>>> {
    match scale(args)? {
        Scale::ONE => Ok(None),
        _ => Err(usage("--scale needs the host's GPU, which this build is without")),
    }
}
