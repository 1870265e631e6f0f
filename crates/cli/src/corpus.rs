//! Corpora: the files of folders, tar and zip archives, a window of them at a time.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Files of a window.
const FILES: usize = 512;
/// Bytes of a window, but for the last file.
const BYTES: usize = 64 << 20;
/// Most bytes of a file.
const LARGEST: u64 = 256 << 20;

/// A file of a corpus.
pub struct Item {
    /// Its path in the corpus.
    pub name: String,
    /// What is in it, or why it cannot be read.
    pub bytes: Result<Vec<u8>>,
}

/// Files that were read and are not handed on yet.
struct Window<'a> {
    items: Vec<Item>,
    bytes: usize,
    /// Before the names of an input's files, if there are several inputs.
    prefix: String,
    visit: &'a mut dyn FnMut(Vec<Item>) -> Result<()>,
}

impl Window<'_> {
    fn push(&mut self, name: &str, bytes: Result<Vec<u8>>) -> Result<()> {
        self.bytes += bytes.as_ref().map_or(0, Vec::len);
        self.items.push(Item { name: format!("{}{name}", self.prefix), bytes });
        if self.items.len() >= FILES || self.bytes >= BYTES { self.hand_on() } else { Ok(()) }
    }

    fn hand_on(&mut self) -> Result<()> {
        self.bytes = 0;
        let items = std::mem::take(&mut self.items);
        if items.is_empty() { Ok(()) } else { (self.visit)(items) }
    }
}

/// Reads the files of folders and archives in order and hands them to `visit`, many at once.
pub fn each_window(inputs: &[PathBuf], visit: &mut dyn FnMut(Vec<Item>) -> Result<()>) -> Result<()> {
    let mut window = Window { items: Vec::new(), bytes: 0, prefix: String::new(), visit };
    for path in inputs {
        if inputs.len() > 1 {
            let stem = path.file_stem().unwrap_or(path.as_os_str());
            window.prefix = format!("{}/", stem.to_string_lossy());
        }
        let read = if path.is_dir() { folder(path, &mut window) } else { archive(path, &mut window) };
        read.with_context(|| path.display().to_string())?;
    }
    window.hand_on()
}

fn folder(folder: &Path, window: &mut Window) -> Result<()> {
    for file in crate::source::sources(&[folder.to_path_buf()])? {
        let Some(path) = file.path() else { continue };
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        window.push(&name, File::open(path).map_err(Into::into).and_then(bounded))?;
    }
    Ok(())
}

fn archive(path: &Path, window: &mut Window) -> Result<()> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    (&mut file).take(262).read_to_end(&mut start)?;
    file.rewind()?;
    let file = BufReader::new(file);
    match start.as_slice() {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => zip(file, window),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => tar(lzma_rust2::XzReader::new(file, true), window),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => tar(ruzstd::decoding::StreamingDecoder::new(file)?, window),
        [0x1f, 0x8b, ..] => tar(flate2::read::MultiGzDecoder::new(file), window),
        tarred if tarred.get(257..).is_some_and(|rest| rest.starts_with(b"ustar")) => tar(file, window),
        _ => bail!("neither a folder nor a tar or zip archive"),
    }
}

fn tar(file: impl Read, window: &mut Window) -> Result<()> {
    for entry in tar::Archive::new(file).entries()? {
        let entry = entry?;
        if entry.header().entry_type().is_file() {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            window.push(&name, bounded(entry))?;
        }
    }
    Ok(())
}

fn zip(file: BufReader<File>, window: &mut Window) -> Result<()> {
    let mut archive = zip::ZipArchive::new(file)?;
    for number in 0..archive.len() {
        match archive.by_index(number) {
            Ok(file) if !file.is_file() => {}
            Ok(file) => {
                let name = file.name().map_or_else(|_| format!("file {number}"), |name| name.into_owned());
                window.push(&name, bounded(file))?;
            }
            Err(error) => window.push(&format!("file {number}"), Err(error.into()))?,
        }
    }
    Ok(())
}

fn bounded(file: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!("more than {LARGEST} bytes");
    }
    Ok(bytes)
}

/// A name as the path of a result: without what would lead out of the results' folder, and without its extension.
pub fn stem(name: &str) -> PathBuf {
    let parts = Path::new(name).components().filter_map(|part| match part {
        std::path::Component::Normal(part) => Some(part),
        _ => None,
    });
    parts.collect::<PathBuf>().with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_in_their_folder() {
        for (name, expected) in
            [("a/b.dxil", "a/b"), ("../../etc/x.y", "etc/x"), ("/etc/x", "etc/x"), ("./a", "a")]
        {
            assert_eq!(stem(name), Path::new(expected));
        }
    }
}
