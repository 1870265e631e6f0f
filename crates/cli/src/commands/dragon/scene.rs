//! What is drawn: a model that turns, or the frames of a capture.

use crate::failure::usage;
use crate::model;
use crate::print;
use crate::source::{name, read, read_text};
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use xenoglot_capture::{Capture, Limits};
use xenoglot_dragon::Params;
use xenoglot_dragon::host::{
    Animation, Buffering, DEPTH_PROGRAM, Demo, Film, FilmLimits, TEXTURE_PROGRAM, glass, globe, load_capture,
    load_gltf, load_obj, torus, wooden_crate,
};
use xenoglot_vpu::asm;

/// What is drawn.
#[derive(clap::Args)]
pub struct SceneArgs {
    /// The model: an .obj, .glb or .gltf file, `-` for one on standard input, or one of our own: `torus`, `globe`, `crate`
    /// (textured), `glass` (blended). Or frames: a capture of the PICA200 (.xgc).
    #[arg(long, default_value = "torus")]
    model: String,
    /// A VPU program as assembly, instead of the one with depth: for all materials, or with a name before it for that one.
    #[arg(long = "program", value_name = "[MATERIAL=]FILE")]
    programs: Vec<String>,
    /// Parameters in TOML.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// A parameter, such as `raster.row_skip=false`; wins over the file.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    assignments: Vec<String>,
    /// Order of the tile buffers.
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// Give every bin all triangles.
    #[arg(long)]
    no_bins: bool,
    /// Interpolate colours without perspective.
    #[arg(long)]
    no_perspective: bool,
    /// Frames of a whole turn.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    turn: u32,
}

/// Order of the tile buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Fill, draw and store one bin after the other.
    Single,
    /// Fill the next bin and store the last one while drawing.
    #[default]
    Double,
}

/// What is drawn, ready.
pub struct Stage {
    /// The frames.
    pub animation: Box<dyn Animation>,
    /// Sources of the programs, in their order; where they are not known, empty.
    pub sources: Vec<String>,
    /// Pixels across and down.
    pub screen: [u16; 2],
}

impl SceneArgs {
    /// Loads it.
    pub fn stage(&self) -> Result<Stage> {
        let path = Path::new(&self.model);
        if path.extension().is_some_and(|e| e == "xgc") {
            let film = self.film(path)?;
            let screen = film.scenes.first().map_or([1, 1], |scene| scene.screen);
            return Ok(Stage { animation: Box::new(film), sources: Vec::new(), screen });
        }
        let (demo, sources) = self.demo(path)?;
        let screen = demo.screen;
        Ok(Stage { animation: Box::new(demo), sources, screen })
    }

    fn buffering(&self) -> Buffering {
        if self.order == Order::Single { Buffering::Single } else { Buffering::Double }
    }

    /// The frames of a capture.
    fn film(&self, path: &Path) -> Result<Film> {
        let capture = Capture::from_bytes(&read(path)?, &Limits::default()).with_context(|| name(path))?;
        let mut film = load_capture(&capture, &FilmLimits::default()).with_context(|| name(path))?;
        film.notes.iter().for_each(|note| print::note(format!("{}: {note}", name(path))));
        if !self.programs.is_empty() {
            return Err(usage("a capture's frames have programs of their own"));
        }
        for scene in &mut film.scenes {
            scene.buffering = self.buffering();
            (scene.binning, scene.perspective) = (!self.no_bins, !self.no_perspective);
        }
        Ok(film)
    }

    fn demo(&self, path: &Path) -> Result<(Demo, Vec<String>)> {
        let load =
            |load: model::Load, bytes: &[u8]| -> Result<_> { Ok(model::load(path, bytes, load)?.centred()) };
        let extension = path.extension().and_then(|e| e.to_str());
        let mesh = match (self.model.as_str(), extension) {
            ("torus", _) => torus(48, 24),
            ("globe", _) => globe(48, 24),
            ("crate", _) => wooden_crate(),
            ("glass", _) => glass(),
            (_, Some("obj")) => load(load_obj, &read(path)?)?,
            (_, Some("glb" | "gltf")) => load(load_gltf, &read(path)?)?,
            // Without a name the first bytes tell: GLB has a magic number.
            ("-", _) => {
                let bytes = read(path)?;
                if bytes.starts_with(b"glTF") { load(load_gltf, &bytes)? } else { load(load_obj, &bytes)? }
            }
            _ => {
                let text = format!("{}: neither .obj, .glb, .gltf nor .xgc, nor a model of ours", self.model);
                return Err(usage(text));
            }
        };
        let mut demo = Demo::new(mesh)?;
        let plain = asm::assemble(DEPTH_PROGRAM).is_ok_and(|words| words == demo.program);
        let mut sources = vec![(if plain { DEPTH_PROGRAM } else { TEXTURE_PROGRAM }).to_owned()];
        for text in &self.programs {
            // A file may have `=` in its name; a material's name comes first.
            let (material, file) = match text.split_once('=') {
                Some((material, file)) if !Path::new(text).exists() => (Some(material), Path::new(file)),
                _ => (None, Path::new(text.as_str())),
            };
            let source = read_text(file)?;
            let words = asm::assemble(&source).map_err(|e| anyhow!("{}:{e}", name(file)))?;
            match material {
                None => (demo.program, sources[0]) = (words, source),
                Some(material) => {
                    let known = demo.mesh.materials.iter().any(|m| m.name == material);
                    if !known {
                        return Err(usage(format!("{}: no material {material:?}", self.model)));
                    }
                    demo.programs.push((material.into(), words));
                    sources.push(source);
                }
            }
        }
        demo.buffering = self.buffering();
        (demo.binning, demo.perspective, demo.frames) = (!self.no_bins, !self.no_perspective, self.turn);
        Ok((demo, sources))
    }

    /// The machine's parameters.
    pub fn params(&self) -> Result<Params> {
        let base = match &self.params {
            Some(path) => {
                let text = read_text(path)?;
                Params::from_toml(&text).with_context(|| name(path))?
            }
            None => Params::default(),
        };
        Ok(base.with(&self.assignments)?)
    }
}
