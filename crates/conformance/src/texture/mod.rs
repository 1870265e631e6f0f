//! Suite of the texture codecs.

mod astc;
mod blocks;
mod console;
pub(crate) mod files;

use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xenoglot_texture::{Extent, Format, decode_into};

/// Engines of the suite. `compute` has no programs for consoles' layouts and leaves their files out.
pub(crate) const ENGINES: &[&str] = &[
    "cpu",
    #[cfg(feature = "host")]
    "compute",
];

/// Decodes as [`decode_into`] does.
type Decode = dyn Fn(Format, Extent, &[u8], &mut [u8]) -> Result<(), String> + Send + Sync;

/// Bytes of a file for which a case may be counted: the smallest textures of consoles.
const BYTES_EACH: usize = 1024;

/// Most blocks of a picture.
const STRIP: usize = 4096;

/// Blocks of a file as pictures, a block high.
struct Strip<'a> {
    format: Format,
    blocks: &'a [u8],
}

impl Strip<'_> {
    /// Decodes all blocks; the texels of each, in rows of slices.
    fn decode(&self, decode: &Decode) -> Result<Vec<Vec<u8>>, Error> {
        let [width, height, depth] = self.format.block();
        let row = width as usize * self.format.texel().bytes();
        let mut all = Vec::new();
        for blocks in self.blocks.chunks(STRIP * self.format.block_bytes()) {
            let count = blocks.len() / self.format.block_bytes();
            let extent = Extent { width: width * count as u32, height, depth };
            let mut picture = vec![0; self.format.output_bytes(extent).unwrap_or(0)];
            decode(self.format, extent, blocks, &mut picture)
                .map_err(|e| Error::Device(format!("{:?}: {e}", self.format)))?;
            let texels = |block: usize| {
                picture.chunks_exact(row * count).flat_map(|r| &r[block * row..][..row]).copied().collect()
            };
            all.extend((0..count).map(texels));
        }
        Ok(all)
    }
}

struct Engine {
    decode: Box<Decode>,
    /// Whether it knows the layouts of consoles.
    consoles: bool,
}

fn engine(request: &Request) -> Result<Engine, Error> {
    match request.engine {
        #[cfg(feature = "host")]
        "compute" => {
            let decoder = xenoglot_texture::compute::Decoder::new(&crate::host::device(request)?);
            let decode: Box<Decode> = Box::new(move |format, extent, data, out| {
                decoder.decode_into(format, extent, data, out).map_err(|e| e.to_string())
            });
            Ok(Engine { decode, consoles: false })
        }
        _ => {
            let decode: Box<Decode> = Box::new(|format, extent, data, out| {
                decode_into(format, extent, data, out).map_err(|e| e.to_string())
            });
            Ok(Engine { decode, consoles: true })
        }
    }
}

/// What kind of a file it is, by its first bytes.
fn cases(path: &Path, bytes: &[u8], engine: &Engine) -> Option<Result<Vec<Case>, Error>> {
    let name = path.file_name()?.to_str()?.split('.').next()?;
    Some(match bytes.get(..8)? {
        b"ASTCVEC1" => astc::cases(name, bytes, &engine.decode),
        b"BCVEC001" => blocks::cases(name, bytes, &engine.decode),
        _ if !engine.consoles => return None,
        b"PICAVEC1" => console::pica(bytes),
        b"DSTXVEC1" => console::ds(bytes),
        start if start.starts_with(b"L2B ") || start.starts_with(b"SURF ") => console::tegra(bytes),
        _ => return None,
    })
}

/// Runs the suite on a file, a folder of files, or a folder of such folders.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let item = |path: PathBuf| {
        let bytes = input::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Item::file(name, bytes.len(), BYTES_EACH, (path, bytes)))
    };
    let items = files(&request.path)?.into_iter().map(item).collect::<Result<_, Error>>()?;
    let engine = Arc::new(engine(request)?);
    let work = Work::files(
        items,
        move || Ok(Arc::clone(&engine)),
        |engine, (path, bytes)| cases(path, bytes, engine).unwrap_or_else(|| Ok(Vec::new())),
    );
    let summary = work.run(observer)?;
    if summary == Summary::default() {
        let magic = "ASTCVEC1, BCVEC001, PICAVEC1, DSTXVEC1, L2B or SURF".into();
        return Err(Error::NoVectors { path: request.path.clone(), magic });
    }
    Ok(summary)
}

/// The files at `path` and in the folders of it.
fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = input::files(path)?;
    if path.is_dir() {
        let io = |source| Error::Io { path: path.into(), source };
        for entry in std::fs::read_dir(path).map_err(io)? {
            let entry = entry.map_err(io)?.path();
            if entry.is_dir() {
                files.extend(input::files(&entry)?);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The verdict on bytes that must be the same.
fn same(got: &[u8], expected: &[u8]) -> Verdict {
    match got.iter().zip(expected).position(|(a, b)| a != b) {
        None if got.len() == expected.len() => Verdict::Passed,
        None => Verdict::Failed(format!("{} bytes, expected {}", got.len(), expected.len())),
        Some(at) => Verdict::Failed(format!("byte {at}: {:#04x}, expected {:#04x}", got[at], expected[at])),
    }
}
