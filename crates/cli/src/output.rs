//! Where results go: names that agree with what is written, and the one writer for all commands (`xenoglot-output`).

use crate::failure::usage;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use xenoglot_output::{Durability, Output};

/// Endings of file names that promise a format, grouped by format. Other endings promise nothing.
const FORMATS: &[&[&str]] = &[
    &["png", "apng"],
    &["jpg", "jpeg", "jpe", "jfif"],
    &["gif"],
    &["bmp"],
    &["tga"],
    &["tif", "tiff"],
    &["webp"],
    &["avif"],
    &["exr"],
    &["hdr"],
    &["ktx"],
    &["ktx2"],
    &["dds"],
    &["astc"],
    &["svg"],
    &["pdf"],
    &["html", "htm"],
    &["json"],
    &["wav"],
    &["mp3"],
    &["ogg"],
    &["flac"],
    &["y4m"],
    &["rgba"],
    &["rgba32f"],
    &["xgc"],
    &["ndsf"],
    &["zst"],
    &["shbin"],
    &["pica"],
    &["cubin"],
    &["sass"],
    &["dxil", "dxbc", "cso"],
    &["ll"],
    &["xir"],
    &["spv", "spirv"],
    &["glsl", "vert", "frag", "geom", "tesc", "tese", "comp", "mesh", "task"],
    &["wgsl"],
    &["metal", "msl"],
    &["hlsl"],
];

/// Whether `-o` names standard output. What is said besides then goes to standard error.
pub fn is_stdout(path: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| path.as_os_str() == *name)
}

/// Writes a result that can be made again; `-` is standard output. Folders on the way are made.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, bytes, Durability::Cached)
}

/// Writes a result that cannot be made again, and waits for the disk.
pub fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, bytes, Durability::Synced)
}

/// Opens a result that is written in pieces; `-` is standard output. Folders on the way are made.
pub fn create(path: &Path) -> Result<Output> {
    let path = if is_stdout(path) { Path::new("/dev/stdout") } else { path };
    make_folder(path)?;
    Ok(Output::create(path)?)
}

/// Puts a result that was written in pieces, and can be made again, in its place.
pub fn finish(out: BufWriter<Output>) -> Result<()> {
    Ok(out.into_inner().map_err(io::IntoInnerError::into_error)?.finish(Durability::Cached)?)
}

fn make_folder(path: &Path) -> Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
        }
        None => Ok(()),
    }
}

fn write_with(path: &Path, bytes: &[u8], durability: Durability) -> Result<()> {
    if is_stdout(path) {
        use std::io::Write;
        let mut out = crate::print::stdout();
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    }
    make_folder(path)?;
    match durability {
        Durability::Cached => xenoglot_output::write(path, bytes)?,
        Durability::Synced => xenoglot_output::write_synced(path, bytes)?,
    }
    tracing::info!(file = %path.display(), bytes = bytes.len(), "written");
    Ok(())
}

/// Refuses a name that promises another format than `ending` does.
pub fn check_ending(path: &Path, ending: &str) -> Result<()> {
    let Some(given) = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase) else {
        return Ok(());
    };
    let promised = FORMATS.iter().find(|format| format.contains(&given.as_str()));
    if given == ending || promised.is_none_or(|format| format.contains(&ending)) {
        return Ok(());
    }
    Err(usage(format!("{}: what is written is .{ending}, not .{given}", path.display())))
}

/// Refuses what cannot be meant as a folder: a file, or a new name with an ending but no `/` behind it.
pub fn check_folder(path: &Path) -> Result<()> {
    let name = path.display();
    if path.is_dir() || ends_with_slash(path) {
        return Ok(());
    }
    if is_stdout(path) || path.exists() {
        return Err(usage(format!("{name} is no folder, and there are several results")));
    }
    if path.extension().is_some() {
        let why = "there may be several results, and this looks like a file";
        return Err(usage(format!("{name}: {why}; if it is to be a folder, end it with a slash: {name}/")));
    }
    Ok(())
}

/// Whether a name says that it is a folder's.
pub fn ends_with_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b.into()))
}

/// Files that are read, and therefore not written.
#[derive(Default)]
pub struct Inputs(BTreeSet<PathBuf>);

impl Inputs {
    /// These files. Names that lead nowhere are passed over.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Inputs {
        Inputs(paths.into_iter().filter_map(|path| fs::canonicalize(path).ok()).collect())
    }

    /// Refuses to write one of them, by whatever name. Devices are read and written.
    pub fn check(&self, output: &Path) -> Result<()> {
        match fs::canonicalize(output) {
            Ok(path) if path.is_file() && self.0.contains(&path) => {
                bail!("{} is an input; it is not overwritten", output.display())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_that_promise_another_format_are_refused() {
        for (name, ending) in [("x.jpg", "png"), ("x.JPEG", "png"), ("a/x.png", "spv"), ("x.wgsl", "metal")] {
            assert!(check_ending(Path::new(name), ending).is_err(), "{name}");
        }
        for (name, ending) in [
            ("x.png", "png"),
            ("x.PNG", "png"),
            ("x", "png"),
            ("x.v2", "png"),
            ("x.txt", "xir"),
            ("x.glsl", "vert"),
            ("x.spirv", "spv"),
            ("/dev/fd/63", "png"),
        ] {
            assert!(check_ending(Path::new(name), ending).is_ok(), "{name}");
        }
    }
}
