//! `xenoglot scenes`: the scenes that come with the program, as captures.

use crate::failure::usage;
use crate::progress::Progress;
use crate::{output, print};
use anyhow::Result;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use xenoglot_pica_scenes::{MAX_FRAMES, Params, SCENES, Scene};

/// Arguments of `scenes`.
#[derive(clap::Args)]
pub struct Args {
    /// Which; all if none is named.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write captures NAME.xgc into this folder. Without it the scenes are listed.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Frames of each capture; the scene's own number if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FRAMES)))]
    frames: Option<u32>,
    /// How many cubes, triangles and so on, in scenes that count something.
    #[arg(long, value_name = "N")]
    count: Option<u32>,
    /// Print an array of JSON objects, one for each scene.
    #[arg(long)]
    json: bool,
}

/// Lists or writes scenes.
pub fn run(args: &Args) -> Result<bool> {
    let scenes = chosen(&args.names)?;
    if let Some(folder) = &args.output {
        output::check_folder(folder)?;
    }
    let params = Params { frames: args.frames, count: args.count };
    let written = match &args.output {
        Some(folder) => write(&scenes, params, folder)?,
        None => Vec::new(),
    };
    let mut out = print::stdout();
    if args.json {
        let rows: Vec<_> = scenes.iter().enumerate().map(|(n, scene)| row(scene, written.get(n))).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
    } else if args.output.is_some() {
        written.iter().try_for_each(|file| writeln!(out, "{}", file.display()))?;
    } else {
        scenes.iter().try_for_each(|scene| list(scene, &mut out))?;
    }
    Ok(true)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Scene>> {
    if names.is_empty() {
        return Ok(SCENES.iter().collect());
    }
    let find = |name: &String| {
        let all = || SCENES.iter().map(|scene| scene.name).collect::<Vec<_>>().join(", ");
        Scene::find(name).ok_or_else(|| usage(format!("no scene is called {name:?}; there are {}", all())))
    };
    names.iter().map(find).collect()
}

fn list(scene: &Scene, out: &mut impl Write) -> std::io::Result<()> {
    let counted = scene.count.as_ref().map_or(String::new(), |count| {
        format!(
            "; --count {} to {}, {} {}",
            count.range.start(),
            count.range.end(),
            count.default,
            count.what
        )
    });
    writeln!(out, "{:13} {} ({} frames{counted})", scene.name, scene.doc, scene.frames)
}

fn row(scene: &Scene, file: Option<&PathBuf>) -> serde_json::Value {
    let mut row = json!({ "name": scene.name, "doc": scene.doc, "frames": scene.frames });
    if let Some(count) = &scene.count {
        let (start, end) = (count.range.start(), count.range.end());
        row["count"] = json!({ "what": count.what, "default": count.default, "min": start, "max": end });
    }
    if let Some(file) = file {
        row["file"] = json!(file);
    }
    row
}

/// Writes captures, each whole or not at all; their paths.
fn write(scenes: &[&Scene], params: Params, folder: &Path) -> Result<Vec<PathBuf>> {
    let progress = Progress::new(scenes.len());
    let written = scenes
        .par_iter()
        .map(|scene| {
            let path = folder.join(scene.name).with_extension("xgc");
            output::write(&path, &scene.build(params).to_bytes())?;
            progress.step();
            Ok(path)
        })
        .collect();
    drop(progress);
    written
}
