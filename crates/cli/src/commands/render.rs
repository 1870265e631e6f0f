//! `xenoglot render`: captures, scenes and models to pictures.

#[cfg(feature = "gpu")]
use super::render_textures::{Folders, Found};
use super::{render_nds as nds, render_warp as warp};
use crate::failure::usage;
use crate::picture::Picture;
use crate::progress::Progress;
use crate::{output, print, source};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
#[cfg(feature = "gpu")]
use std::sync::Arc;
use std::time::Instant;
use xenoglot_capture::{Capture, FRAME_END, Frame, Limits};
#[cfg(feature = "gpu")]
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_nds::dump::FrameDump;
#[cfg(feature = "gpu")]
use xenoglot_pica::host::{HostRenderer, Options, Programs, Scale};
use xenoglot_pica::raster::{self, Chip};
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::replay::{self, Image, Player};
use xenoglot_pica::report::Report;
use xenoglot_pica::shader::{Choice, Engines, Native};

/// Arguments of `render`.
#[derive(clap::Args)]
pub struct Args {
    /// The capture (.xgc), a Nintendo DS scene (.ndsf, also as zstd), or a frame dump of one (NTRFD, also in a PNG); a model (.gltf,
    /// .glb) or a scene file of Warp (.rwgold, also as zstd), which Warp draws; `-` for standard input.
    pub file: PathBuf,
    /// The PNG to write, or the folder with `--all`.
    #[arg(short, long, value_name = "FILE|FOLDER")]
    pub output: Option<PathBuf>,
    /// The frame to write, from 0; the last one if not given.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    frame: Option<usize>,
    /// Write all frames, numbered, into a folder.
    #[arg(long, requires = "output")]
    all: bool,
    /// What shades vertices.
    #[arg(long, value_enum, default_value_t = EngineName::Interp)]
    engine: EngineName,
    /// What draws pixels; with --scale it is the host's GPU.
    #[arg(long, value_enum, default_value_t = RendererName::Cpu)]
    pub renderer: RendererName,
    /// A part of the name of the host's GPU; any if not given.
    #[cfg(feature = "gpu")]
    #[arg(long)]
    device: Option<String>,
    /// Let the GPU's programs compile in the background: until they are there, draws are the CPU's.
    #[cfg(feature = "gpu")]
    #[arg(long)]
    pub background: bool,
    /// Have the GPU's driver compile each program in another process first: one that makes it crash or hang is an error.
    #[cfg(feature = "gpu")]
    #[arg(long)]
    isolate_driver: bool,
    /// Draw N pixels for each of the console's, along either axis, on the host's GPU: 1 to 8, of DS scenes to 16.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub scale: u32,
    /// Draw pictures of this folder in place of textures: PNGs with the names of --dump-textures, of any size in DS scenes, and
    /// 1, 2, 4 or 8 times as large as the texture in captures (--renderer gpu).
    #[arg(long, value_name = "DIR")]
    pub textures: Option<PathBuf>,
    /// Write each texture that is drawn as a PNG, named by what it shows; of captures with --renderer gpu.
    #[arg(long, value_name = "DIR")]
    pub dump_textures: Option<PathBuf>,
    /// Registers of the PICA200 to obey that the renderers otherwise ignore, as the emulator does that they are held against.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    chip: Vec<ChipArg>,
    /// Compare with the frames that the capture expects.
    #[arg(long)]
    pub check: bool,
    /// Play a damaged file up to the damage.
    #[arg(long)]
    recover: bool,
    /// Print an object with counts and messages.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scene: nds::Options,
    #[command(flatten)]
    pub warp: warp::ModelOptions,
}

/// Engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum EngineName {
    /// The IR interpreter, the reference.
    Interp,
    /// The interpreter that works on sixteen vertices at once.
    Lanes,
    /// Machine code for this machine; `lanes` where that fails.
    Native,
    /// Whichever is done first, by measurement; machine code is made in the background.
    Auto,
}

/// Renderers by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RendererName {
    /// The CPU renderer.
    Cpu,
    /// The host's GPU; the CPU renderer where that cannot.
    #[cfg(feature = "gpu")]
    Gpu,
}

/// Registers that may be obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ChipArg {
    /// Linear filters of textures.
    Filters,
    /// Levels of detail.
    Mipmaps,
    /// Read and write permissions of colour, depth and stencil.
    Permissions,
    /// The early depth test.
    EarlyDepth,
    /// Gas and its shading.
    Gas,
    /// Attributes that no loader has keep their values.
    Retention,
}

impl Args {
    fn chip(&self) -> Chip {
        let has = |wanted| self.chip.contains(&wanted);
        Chip {
            filters: has(ChipArg::Filters),
            mipmaps: has(ChipArg::Mipmaps),
            permissions: has(ChipArg::Permissions),
            early_depth: has(ChipArg::EarlyDepth),
            gas: has(ChipArg::Gas),
            retention: has(ChipArg::Retention),
        }
    }

    fn replaces_textures(&self) -> bool {
        self.textures.is_some() || self.dump_textures.is_some()
    }
}

impl EngineName {
    fn engines(self) -> Result<Engines> {
        Ok(match self {
            EngineName::Interp => Engines::reference(),
            EngineName::Lanes => Engines::default(),
            EngineName::Native => Engines::new(vec![Box::new(Native::new()?)]),
            EngineName::Auto => Engines::with_choice(vec![Box::new(Native::new()?)], Choice::Measured),
        })
    }
}

/// What came of a replay.
#[derive(Default)]
struct Outcome {
    frames: usize,
    /// The picture to write at the end, if it is not written on the way.
    picture: Option<Image>,
    files: Vec<PathBuf>,
    /// Frames that are expected, and how those that differ do.
    checked: usize,
    different: Vec<String>,
    report: Report,
    /// Textures that were written, and pictures that were read in place of some.
    textures: [usize; 2],
    /// Why it ended early.
    error: Option<replay::Error>,
}

/// Replays. False if something is missing or differs.
pub fn run(args: &Args) -> Result<bool> {
    let writes_files = args.scene.writes_dump() || args.dump_textures.is_some() || args.warp.dump.is_some();
    if args.output.is_none() && !writes_files && !args.check && !args.json {
        return Err(usage(
            "nothing to do: give -o, --dump, --frame-dump, --dump-textures, --check or --json",
        ));
    }
    match &args.output {
        Some(folder) if args.all => output::check_folder(folder)?,
        Some(file) => output::check_ending(file, "png")?,
        None => {}
    }
    let bytes = source::read(&args.file)?;
    let scene = nds::unpacked(&args.file, &bytes)?;
    let is_dump = scene.is_none() && FrameDump::detect(&bytes);
    if (scene.is_some() || is_dump) && !args.chip.is_empty() {
        return Err(usage("--chip is for captures of the PICA200"));
    }
    if let Some(scene) = scene {
        return nds::render(args, &scene);
    }
    if is_dump {
        return nds::render_dump(args, &bytes);
    }
    if args.scene.writes_dump() {
        return Err(usage("--frame-dump is for scenes of the Nintendo DS"));
    }
    if args.check && args.scale != 1 {
        return Err(usage("--check compares frames of the console's own size, without --scale"));
    }
    let bytes = source::unpacked(&args.file, bytes)?;
    if let Some(scene) = warp::scene(args, &bytes)? {
        return warp::render(args, &scene);
    }
    if args.warp.dump.is_some() {
        return Err(usage("--dump is for models and scenes of Warp"));
    }
    let name = source::name(&args.file);
    let (capture, damaged) = load(args, &bytes)?;
    drop(bytes);
    let start = Instant::now();
    let mut outcome = play(args, &capture).with_context(|| name.clone())?;
    let seconds = start.elapsed().as_secs_f64();
    let shown = outcome.picture.is_some();
    if let (Some(path), Some(image)) = (&args.output, outcome.picture.take()) {
        save(path, image)?;
        outcome.files.push(path.clone());
    }
    let mut out = print::beside(args.output.as_deref());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&facts(&capture, &outcome, seconds))?)?;
    } else {
        print(&outcome, seconds, &mut out)?;
    }
    if let Some(error) = &outcome.error {
        print::error(format_args!("{name}: {error}"));
    }
    match args.frame {
        Some(frame) if !shown => bail!("{name}: no frame {frame}; there are {}", outcome.frames),
        None if outcome.frames == 0 => bail!("{name}: nothing is shown"),
        _ => {}
    }
    if args.check && capture.frames.is_empty() {
        bail!("{name}: no frames are expected, so there is nothing to check");
    }
    Ok(!damaged && outcome.error.is_none() && outcome.report.errors == 0 && outcome.different.is_empty())
}

/// The capture, and whether it is only a part of one.
fn load(args: &Args, bytes: &[u8]) -> Result<(Capture, bool)> {
    match Capture::from_bytes(bytes, &Limits::default()) {
        Ok(capture) => Ok((capture, false)),
        Err(error) => {
            let message = format!("{}: {error}", source::name(&args.file));
            match error.recovered().filter(|_| args.recover) {
                Some(capture) => {
                    print::error(message);
                    Ok((capture, true))
                }
                None => bail!(message),
            }
        }
    }
}

fn play(args: &Args, capture: &Capture) -> Result<Outcome> {
    match args.renderer {
        #[cfg(feature = "gpu")]
        _ if args.scale != 1 => play_on_gpu(args, capture),
        RendererName::Cpu if args.replaces_textures() => {
            Err(usage("--textures and --dump-textures of a capture need --renderer gpu"))
        }
        #[cfg(not(feature = "gpu"))]
        RendererName::Cpu if args.scale != 1 => {
            Err(usage("--scale needs the host's GPU, which this build is without"))
        }
        RendererName::Cpu => {
            let reference = raster::Reference::Chip(args.chip());
            let options = raster::Options { reference, ..raster::Options::default() };
            play_on(args, capture, raster::Renderer::with_options(options))
        }
        #[cfg(feature = "gpu")]
        RendererName::Gpu => play_on_gpu(args, capture),
    }
}

/// The host's GPU that is asked for.
#[cfg(feature = "gpu")]
pub fn device(args: &Args) -> Result<Device> {
    let mut options = DeviceOptions::from_env();
    options.selector = args.device.clone().or(options.selector);
    let device = Device::open(&options)?;
    match args.isolate_driver {
        true => Ok(device.with_compilers(crate::compilers::start()?)?),
        false => Ok(device),
    }
}

#[cfg(feature = "gpu")]
fn play_on_gpu(args: &Args, capture: &Capture) -> Result<Outcome> {
    let scale = Scale::new(args.scale).ok_or_else(|| usage("--scale is from 1 to 8 for captures"))?;
    let compilation = if args.background { Compilation::Background } else { Compilation::Blocking };
    let programs = Arc::new(Programs::new(&device(args)?, compilation));
    let options = Options { scale, chip: args.chip(), ..Options::default() };
    let mut renderer = HostRenderer::with_options(programs, options)?;
    let folders = Arc::new(Folders::new(args.dump_textures.clone(), args.textures.clone()));
    if folders.are_asked_for() {
        let folders = Arc::clone(&folders);
        renderer.set_custom_textures(Some(Box::new(move |texture| folders.replace_pica(texture))));
    }
    let outcome = play_on(args, capture, renderer)?;
    let Found { written, read, .. } = folders.finish()?;
    Ok(Outcome { textures: [written, read], ..outcome })
}

fn play_on<R: Renderer>(args: &Args, capture: &Capture, renderer: R) -> Result<Outcome> {
    let engines = args.engine.engines()?;
    let mut player = Player::with_engines(capture, renderer, engines, replay::Limits::default())?;
    let expected: BTreeMap<usize, &Frame> = capture.frames.iter().map(|f| (f.index as usize, f)).collect();
    let progress = Progress::new(capture.ops.iter().filter(|op| op.kind == FRAME_END).count());
    let mut outcome = Outcome::default();
    while let Some(frame) = player.next_frame() {
        let image = match frame {
            Ok(image) => image,
            Err(error) => {
                outcome.error = Some(error);
                break;
            }
        };
        let number = outcome.frames;
        outcome.frames += 1;
        if let Some(frame) = expected.get(&number).filter(|_| args.check) {
            outcome.checked += 1;
            outcome.different.extend(difference(frame, &image));
        }
        match &args.output {
            Some(folder) if args.all => {
                let path = folder.join(format!("{number:05}.png"));
                save(&path, image)?;
                outcome.files.push(path);
            }
            _ if args.frame.is_none_or(|wanted| wanted == number) => outcome.picture = Some(image),
            _ => {}
        }
        progress.step();
        // Nothing of what comes later is asked for.
        if args.frame == Some(number) && !args.check {
            break;
        }
    }
    drop(progress);
    if args.check && outcome.error.is_none() {
        let missing =
            expected.range(outcome.frames..).map(|(number, _)| format!("frame {number} is missing"));
        outcome.different.extend(missing);
    }
    outcome.report = player.take_report();
    Ok(outcome)
}

/// How a frame differs from what is expected.
fn difference(expected: &Frame, got: &Image) -> Option<String> {
    let index = expected.index;
    if (expected.width, expected.height) != (got.width, got.height) {
        let (w, h) = (expected.width, expected.height);
        return Some(format!("frame {index} is {}x{}, expected {w}x{h}", got.width, got.height));
    }
    let (pixels, expected_pixels) = (got.rgba.as_chunks::<4>().0, expected.rgba.as_chunks::<4>().0);
    let differs = |(a, b): (&[u8; 4], &[u8; 4])| a != b;
    let count = pixels.iter().zip(expected_pixels).filter(|&pair| differs(pair)).count();
    let first = pixels.iter().zip(expected_pixels).position(differs)?;
    let worst = got.rgba.iter().zip(&expected.rgba).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let (x, y) = (first % got.width.max(1) as usize, first / got.width.max(1) as usize);
    Some(format!("frame {index}: {count} pixels differ, by at most {worst}, the first at {x}, {y}"))
}

/// Writes a PNG.
pub(super) fn save(path: &Path, image: Image) -> Result<()> {
    let Image { width, height, rgba } = image;
    output::write(path, &Picture { width, height, rgba, srgb: false }.png()?)
}

fn print(outcome: &Outcome, seconds: f64, out: &mut dyn Write) -> Result<()> {
    let Report { draws, vertices, triangles, errors, fallbacks, detours, .. } = outcome.report;
    writeln!(
        out,
        "{} frames in {seconds:.2} s: {draws} draws, {vertices} vertices, {triangles} triangles, {fallbacks} fall-backs, \
         {detours} detours, {errors} errors",
        outcome.frames
    )?;
    for (engine, share) in &outcome.report.engines {
        writeln!(out, "{engine}: {} batches, {} invocations", share.batches, share.invocations)?;
    }
    for (feature, draws) in outcome.report.ignored.iter() {
        writeln!(out, "{draws} draws ask for the {feature}, which is left out")?;
    }
    for message in &outcome.report.messages {
        writeln!(out, "{message}")?;
    }
    let [written, read] = outcome.textures;
    if written + read > 0 {
        writeln!(out, "{written} textures written, {read} replaced")?;
    }
    if outcome.checked > 0 {
        writeln!(out, "{} frames compared, {} differ", outcome.checked, outcome.different.len())?;
    }
    for different in &outcome.different {
        writeln!(out, "DIFFERENT {different}")?;
    }
    Ok(())
}

fn facts(capture: &Capture, outcome: &Outcome, seconds: f64) -> Value {
    let report = &outcome.report;
    json!({
        "title": capture.info.title,
        "creator": capture.info.creator,
        "frames": outcome.frames,
        "seconds": seconds,
        "files": outcome.files,
        "report": {
            "writes": report.writes,
            "draws": report.draws,
            "vertices": report.vertices,
            "invocations": report.invocations,
            "triangles": report.triangles,
            "instructions": report.instructions,
            "engines": report
                .engines
                .iter()
                .map(|(engine, share)| (engine.to_string(), json!({"batches": share.batches, "invocations": share.invocations})))
                .collect::<serde_json::Map<_, _>>(),
            "deferred": report.deferred,
            "ignored": report.ignored.iter().map(|(feature, draws)| (feature.to_string(), json!(draws))).collect::<serde_json::Map<_, _>>(),
            "fallbacks": report.fallbacks,
            "detours": report.detours,
            "errors": report.errors,
            "messages": report.messages.iter().map(ToString::to_string).collect::<Vec<_>>(),
        },
        "textures": {"written": outcome.textures[0], "replaced": outcome.textures[1]},
        "compared": outcome.checked,
        "different": outcome.different,
        "error": outcome.error.as_ref().map(ToString::to_string),
    })
}
