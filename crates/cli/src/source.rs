//! Inputs: files, folders, standard input.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Most bytes of one input.
const MAX_BYTES: u64 = 4 << 30;

/// An input that was named or found in a folder.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name for messages.
    pub name: String,
    /// Its path from the folder it was found in, without its extension: the start of its outputs' names.
    pub stem: PathBuf,
    /// Whether it was named itself. What was only found in a folder may be no input at all.
    pub named: bool,
    /// None for standard input.
    path: Option<PathBuf>,
}

impl Source {
    /// Its file, unless it is standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Reads it.
    pub fn read(&self) -> Result<Vec<u8>> {
        match &self.path {
            None => stdin(),
            Some(path) => bounded(File::open(path)?),
        }
    }
}

/// Standard input. It can be read once only but named more often: by several arguments, and by each thread that reads
/// the file of an argument.
fn stdin() -> Result<Vec<u8>> {
    static CONTENT: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let mut content = CONTENT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*content {
        Some(bytes) => Ok(bytes.clone()),
        None => Ok(content.insert(bounded(std::io::stdin().lock())?).clone()),
    }
}

fn bounded(file: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("more than {MAX_BYTES} bytes");
    }
    Ok(bytes)
}

/// Reads the file of an argument; `-` is standard input.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = match path.as_os_str() == "-" {
        true => stdin(),
        false => File::open(path).map_err(Into::into).and_then(bounded),
    };
    bytes.with_context(|| name(path))
}

/// Reads the file of an argument as text.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| anyhow::anyhow!("{}: not UTF-8", name(path)))
}

/// What messages call a file.
pub fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".into() } else { path.display().to_string() }
}

/// The inputs that `paths` name: files as they are, folders as the files in them, sorted.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut out = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        if name == "-" {
            out.push(Source { name: "<stdin>".into(), stem: "stdin".into(), named: true, path: None });
        } else if path.is_dir() {
            walk(path, &mut out)?;
        } else {
            let stem = PathBuf::from(path.file_stem().unwrap_or(path.as_os_str()));
            out.push(Source { name, stem, named: true, path: Some(path.clone()) });
        }
    }
    Ok(out)
}

/// All files below `root`. Links to folders are not followed, so that there is an end.
fn walk(root: &Path, out: &mut Vec<Source>) -> Result<()> {
    let (mut folders, mut files) = (vec![root.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        let context = || folder.display().to_string();
        for entry in folder.read_dir().with_context(context)? {
            let entry = entry.with_context(context)?;
            if entry.file_type().with_context(context)?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    out.extend(files.into_iter().map(|path| Source {
        name: path.display().to_string(),
        stem: path.strip_prefix(root).unwrap_or(&path).with_extension(""),
        named: false,
        path: Some(path),
    }));
    Ok(())
}

/// The bytes of an input, unpacked if they are packed by Zstandard: 256 MiB at most.
pub fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    const FIRST: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    const MOST: u64 = 1 << 28;
    if !bytes.starts_with(&FIRST) {
        return Ok(bytes);
    }
    let context = || name(path);
    let mut out = Vec::new();
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice()).with_context(context)?;
    decoder.take(MOST + 1).read_to_end(&mut out).with_context(context)?;
    if out.len() as u64 > MOST {
        bail!("{}: more than {MOST} bytes", name(path));
    }
    Ok(out)
}
