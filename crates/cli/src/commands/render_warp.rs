//! `xenoglot render` of models and of scenes of Warp.

use super::render::{Args, RendererName, save};
use crate::source::name;
use crate::{model, print};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use xenoglot_dragon::host::load_gltf;
use xenoglot_pica::replay::Image;
use xenoglot_warp::golden::{Golden, Scene};
use xenoglot_warp::model::{Model, View};
use xenoglot_warp::{Draw, Engine, Frame, Memory, Surface, golden};

/// First bytes of scenes of Warp, as far as they agree, and of models.
const SCENE: &[u8] = b"RWGOLD";
const GLB: &[u8] = b"glTF";
/// The mask of a dump's results: they are those of all paths.
const ALL_PATHS: u32 = u32::MAX;

/// Arguments for models and scenes of Warp.
#[derive(clap::Args)]
#[command(next_help_heading = "Models and scenes of Warp")]
pub struct ModelOptions {
    /// Pixels of a model's frame.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x480", value_parser = size)]
    size: [u32; 2],
    /// Turn a model about its vertical axis.
    #[arg(long, value_name = "DEGREES", default_value_t = 30.0, allow_negative_numbers = true)]
    turn: f32,
    /// Look down on a model.
    #[arg(long, value_name = "DEGREES", default_value_t = 25.0, allow_negative_numbers = true)]
    down: f32,
    /// Go nearer to a model: 1 shows all of it.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    zoom: f32,
    /// Put a model in fog.
    #[arg(long)]
    fog: bool,
    /// Write what is drawn as a scene file (.rwgold) with the colours that come of it.
    #[arg(long, value_name = "FILE")]
    pub dump: Option<PathBuf>,
    /// How the host's GPU draws a model or scene.
    #[cfg(feature = "gpu")]
    #[arg(long, value_enum, default_value_t = Architecture::Uber)]
    architecture: Architecture,
    /// Pixels along a side of the GPU's tiles: 8 or 16.
    #[cfg(feature = "gpu")]
    #[arg(long, value_name = "PIXELS", default_value = "8", value_parser = tile)]
    tile: u32,
}

/// How the host's GPU draws.
#[cfg(feature = "gpu")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Architecture {
    /// One program for all states.
    Uber,
    /// A shading program for each variant of the state, then depth and blending in order.
    Split,
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let sides =
        text.split_once('x').and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    sides.ok_or_else(|| "not of the form WIDTHxHEIGHT".into())
}

#[cfg(feature = "gpu")]
fn tile(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|tile| [8, 16].contains(tile)).ok_or_else(|| "neither 8 nor 16".into())
}

/// The scene of a file, if it is a model or a scene of Warp.
pub fn scene(args: &Args, bytes: &[u8]) -> Result<Option<Scene>> {
    let path = &args.file;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if bytes.starts_with(GLB) || ["gltf", "glb"].contains(&ending) {
        let model = Model::from(&model::load(path, bytes, load_gltf)?);
        let ModelOptions { size, turn, down, zoom, fog, .. } = args.warp;
        let view = View { size, turn, down, zoom, fog, ..View::default() };
        return Ok(Some(model.scene(&view).with_context(|| name(path))?));
    }
    if !bytes.starts_with(SCENE) {
        return Ok(None);
    }
    match Golden::parse(bytes).with_context(|| name(path))? {
        Golden::Scene(scene) => Ok(Some(scene)),
        Golden::Setups(_) => bail!("{}: no scene, but triangles to set up", name(path)),
    }
}

/// Draws a scene and writes what is asked for. False if it was checked and differs.
pub fn render(args: &Args, scene: &Scene) -> Result<bool> {
    let name = name(&args.file);
    let Some(last) = scene.passes.last() else { bail!("{name}: nothing is drawn") };
    let expected = scene.expected(0x800).or_else(|| scene.expected(0x30f));
    if args.check && expected.is_none() {
        bail!("{name}: no results are expected, so there is nothing to check");
    }
    let color = last.targets.color;
    // Rows of the last pass's colours behind what the scene compares.
    let rows = (0..color.size[1]).map(|y| (color.unit(0, y).wrapping_mul(2), 2 * color.size[0]));
    let ranges = scene.ranges.iter().copied().chain(rows).collect();
    let compared: usize = scene.ranges.iter().map(|range| range.1 as usize).sum();
    let start = Instant::now();
    let bytes = run(args, &Scene { ranges, ..scene.clone() }).with_context(|| name.clone())?;
    let seconds = start.elapsed().as_secs_f64();
    let (result, picture) = bytes.split_at_checked(compared).context("the frame is not whole")?;
    let different = expected.filter(|_| args.check).map_or(0, |expected| {
        expected.as_chunks::<2>().0.iter().zip(result.as_chunks::<2>().0).filter(|(a, b)| a != b).count()
    });
    if let Some(path) = &args.output {
        save(path, image(&color, picture))?;
    }
    if let Some(path) = &args.warp.dump {
        let dump = Scene { results: vec![(ALL_PATHS, result.to_vec())], ..scene.clone() };
        crate::output::write(path, &dump.to_bytes())?;
    }
    let files: Vec<&PathBuf> = [&args.output, &args.warp.dump].into_iter().flatten().collect();
    let mut out = print::beside(args.output.as_deref());
    if args.json {
        let facts = json!({
            "primitives": scene.primitives.len(),
            "states": scene.states.len(),
            "passes": scene.passes.len(),
            "seconds": seconds,
            "files": files,
            "different": different,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&facts)?)?;
    } else {
        let (primitives, states) = (scene.primitives.len(), scene.states.len());
        writeln!(out, "{primitives} primitives with {states} states in {seconds:.3} s")?;
        if different > 0 {
            writeln!(out, "DIFFERENT {different} words of {}", result.len() / 2)?;
        }
    }
    Ok(different == 0)
}

fn run(args: &Args, scene: &Scene) -> Result<Vec<u8>> {
    match args.renderer {
        RendererName::Cpu => {
            let engine = Engine::new();
            Ok(scene.run(|frame: &mut Frame, memory: &Memory, draw: &Draw<'_>| {
                engine.draw(frame, memory, draw);
                Ok::<(), golden::Error>(())
            })?)
        }
        #[cfg(feature = "gpu")]
        RendererName::Gpu => run_on_device(args, scene),
    }
}

/// Draws on the host's GPU; what that fails at is the CPU's, and told.
#[cfg(feature = "gpu")]
fn run_on_device(args: &Args, scene: &Scene) -> Result<Vec<u8>> {
    use xenoglot_warp::host::{self, Compilation, Renderer};

    let architecture = match args.warp.architecture {
        Architecture::Uber => host::Architecture::Uber,
        Architecture::Split if args.background => host::Architecture::Split(Compilation::Background),
        Architecture::Split => host::Architecture::Split(Compilation::Blocking),
    };
    let options = host::Options { architecture, tile: args.warp.tile, ..host::Options::default() };
    let mut renderer = Renderer::new(&super::render::device(args)?, options)?;
    let engine = Engine::new();
    Ok(scene.run(|frame: &mut Frame, memory: &Memory, draw: &Draw<'_>| {
        if let Some(error) = renderer.draw_or_redraw(&engine, frame, memory, draw) {
            print::note(format!("{error}; the CPU draws"));
        }
        Ok::<(), golden::Error>(())
    })?)
}

/// The picture of colours, row by row. Alpha is left out: it is the blends', not the picture's.
fn image(surface: &Surface, bytes: &[u8]) -> Image {
    let [width, height] = surface.size;
    let pixel = |unit: &[u8; 2]| {
        let word = u16::from_le_bytes(*unit);
        let [red, green, blue] = [10, 5, 0].map(|shift| {
            let five = (word >> shift & 31) as u8;
            five << 3 | five >> 2
        });
        [red, green, blue, 255]
    };
    Image { width, height, rgba: bytes.as_chunks().0.iter().flat_map(pixel).collect() }
}
