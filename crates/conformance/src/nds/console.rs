//! Suite `nds-console`: pixels recorded on consoles; layout in `vectors/nds-console/FORMAT.md`. Scenes with recorded spans,
//! coverage of antialiased edges, and frame dumps with screenshots beside them (`NAME.bmp`, as ndsframereplay takes them).

use super::screenshot::Screenshot;
use super::{Loaded, judge, load};
use crate::input::{self, Reader};
use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request};
use std::path::Path;
use std::sync::Arc;
use xenoglot_nds::container::Scene;
use xenoglot_nds::dump::FrameDump;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::{Frame, Options, Rules};
use xenoglot_nds::registers::{Control, Registers};

/// First bytes of a file of edges.
const MAGIC: [u8; 4] = *b"NDAA";
/// Version of its layout.
const VERSION: u8 = 1;
/// Edges of an item: what is judged in one go.
const EDGES: usize = 512;
/// A pixel of which nothing is known.
const UNKNOWN: u8 = 255;
/// Set where a coverage may be one more, too.
const OPEN: u8 = 64;

/// On which side of its triangle an edge is, and where it goes on its way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    is_right: bool,
    is_negative: bool,
}

impl Kind {
    fn of(kind: u8) -> Option<Kind> {
        (kind < 4).then_some(Kind { is_right: kind & 2 != 0, is_negative: kind & 1 != 0 })
    }

    /// Whether the triangle stands on the bottom of the screen; else it hangs from the top.
    fn stands(self) -> bool {
        self.is_right != self.is_negative
    }

    /// Corners of the triangle whose edge is `width` and `height` pixels large.
    fn triangle(self, width: i32, height: i32) -> [[i32; 2]; 3] {
        let base = if self.stands() { 192 } else { 0 };
        let x = if self.is_right { 256 - width } else { width };
        [[0, base], [256, base], [x, (base - height).abs()]]
    }

    /// Screen row of an edge's first.
    fn first_row(self, height: usize) -> usize {
        if self.stands() { 192 - height } else { 0 }
    }
}

/// A row of an edge.
#[derive(Clone, Debug)]
struct Row {
    first: u16,
    coverage: Vec<u8>,
}

/// An edge with what was recorded of it.
#[derive(Clone, Debug)]
struct Edge {
    kind: Kind,
    width: u16,
    height: u16,
    rows: Vec<Row>,
}

/// The edges of a file, unpacked.
fn edges(bytes: &[u8]) -> Result<Vec<Edge>, Error> {
    let mut r = Reader::new(bytes);
    let malformed = |offset, what| Error::Malformed { offset, what };
    if [r.u8()?, r.u8()?, r.u8()?, r.u8()?] != MAGIC || r.u8()? != VERSION {
        return Err(malformed(0, "header of antialiased edges"));
    }
    let kind = Kind::of(r.u8()?).ok_or_else(|| malformed(5, "kind of antialiased edges"))?;
    let counts = [u32::from(r.u16()?), r.u32()?, r.u32()?].map(|n| n as usize);
    // Each has at least two bytes in the file.
    if counts.iter().any(|&n| n > bytes.len()) {
        return Err(malformed(6, "number of antialiased edges"));
    }
    let [edge_count, row_count, _] = counts;
    let sizes = (0..edge_count).map(|_| Ok((r.u16()?, r.u16()?))).collect::<Result<Vec<_>, Error>>()?;
    let firsts = (0..row_count).map(|_| r.u16()).collect::<Result<Vec<_>, Error>>()?;
    let lengths = (0..row_count).map(|_| r.u16()).collect::<Result<Vec<_>, Error>>()?;
    let mut rows = firsts.into_iter().zip(lengths);
    let mut out = Vec::with_capacity(edge_count);
    for (width, height) in sizes {
        let offset = r.offset();
        if !(2..=256).contains(&width) || height == 0 || height > 192 || height >= width {
            return Err(malformed(offset, "size of an antialiased edge"));
        }
        let row = |(first, length): (u16, u16)| {
            let coverage = (0..length).map(|_| r.u8()).collect::<Result<_, Error>>()?;
            Ok(Row { first, coverage })
        };
        let rows = rows.by_ref().take(height.into()).map(row).collect::<Result<Vec<_>, Error>>()?;
        if rows.len() != usize::from(height) {
            return Err(malformed(offset, "rows of antialiased edges"));
        }
        out.push(Edge { kind, width, height, rows });
    }
    if r.is_empty() { Ok(out) } else { Err(malformed(r.offset(), "end of antialiased edges")) }
}

/// Clip coordinates' w: twice it is a multiple of the screen's columns and rows.
const W: u32 = 0xc000;

/// Commands that draw a white triangle with corners at pixels.
fn commands(corners: [[i32; 2]; 3]) -> Vec<u32> {
    // A corner's coordinates are pixels in units of 2^-12.
    let one = 1 << 12;
    let (x, y) = (2 * W / 256 * one, (2 * W / 192 * one).wrapping_neg());
    let projection = [x, 0, 0, 0, 0, y, 0, 0, 0, 0, 0, 0, W.wrapping_neg(), W, 0, W];
    let mut words = vec![0x10, 0, 0x16];
    words.extend(projection);
    words.extend([0x10, 1, 0x15]);
    // The whole screen; both sides are shown, alpha 31; no texture; white.
    words.extend([0x60, 191 << 24 | 255 << 16, 0x29, 31 << 16 | 0xc0, 0x2a, 0, 0x20, 0x7fff, 0x40, 0]);
    for [x, y] in corners {
        words.extend([0x23, x as u32 & 0xffff | (y as u32) << 16, 0]);
    }
    words.extend([0x41, 0x50, 0]);
    words
}

/// How many pixels of an edge differ, and the first.
fn differences(gpu: &mut Gpu, edge: &Edge) -> (usize, Option<String>) {
    let triangle = edge.kind.triangle(edge.width.into(), edge.height.into());
    gpu.feed(&commands(triangle));
    gpu.vblank();
    let top = edge.kind.first_row(edge.height.into());
    let (mut count, mut first) = (0, None);
    for (y, row) in (top..).zip(&edge.rows) {
        let drawn = gpu.renderer().row(y).map_or(&[][..], |row| row.color);
        for (x, &wanted) in (usize::from(row.first)..).zip(&row.coverage) {
            let got = drawn.get(x).map_or(0, |color| (color >> 1 & 31) as u8);
            let fits = match wanted {
                UNKNOWN => true,
                wanted if wanted >= OPEN => got == wanted - OPEN || got == wanted - OPEN + 1,
                wanted => got == wanted,
            };
            if !fits {
                count += 1;
                let (width, height) = (edge.width, edge.height);
                first.get_or_insert_with(|| {
                    format!("edge of {width} x {height} at {x}, {y}: {got}, recorded {wanted}")
                });
            }
        }
    }
    (count, first)
}

fn judge_edges<'a>(edges: impl IntoIterator<Item = &'a Edge>) -> Verdict {
    let mut gpu = Gpu::new(Options { rules: Rules::all(), threads: 1, ..Options::default() });
    gpu.set_registers(Registers {
        control: Control::ANTIALIASING.bits(),
        clear_color: 63 << 24 | 31 << 16,
        clear_depth: 0x7fff,
        ..Registers::default()
    });
    let (mut count, mut first) = (0, None);
    for edge in edges {
        let (more, said) = differences(&mut gpu, edge);
        count += more;
        first = first.or(said);
    }
    match first {
        None => Verdict::Passed,
        Some(first) => Verdict::Failed(format!("{count} pixels: {first}")),
    }
}

/// What is judged in one go.
enum Data {
    Scene(Box<Loaded>),
    /// Edges of a file, and which of them.
    Edges(Arc<Vec<Edge>>, std::ops::Range<usize>),
    /// A frame dump, and what a console drew of it.
    Dump(Box<(Scene, Screenshot)>),
}

/// Frame dumps at a path that have a screenshot beside them.
fn dumps(path: &Path) -> Result<Vec<Item<Data>>, Error> {
    let mut items = Vec::new();
    for file in input::files(path)? {
        let picture = file.with_extension("bmp");
        // What cannot be read is the other kinds' to report.
        let Some(bytes) = input::read(&file).ok().filter(|bytes| FrameDump::detect(bytes)) else { continue };
        if !picture.is_file() {
            continue;
        }
        let invalid = |path: &Path, reason: String| Error::Invalid { path: path.into(), reason };
        let dump = FrameDump::from_bytes(&bytes).map_err(|error| invalid(&file, error.to_string()))?;
        let scene = dump.scene().map_err(|error| invalid(&file, error.to_string()))?;
        let screenshot = Screenshot::from_bytes(&input::read(&picture)?);
        let screenshot = screenshot.map_err(|reason| invalid(&picture, reason))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        items.push(Item::single(name, Data::Dump(Box::new((scene, screenshot)))));
    }
    Ok(items)
}

/// Draws a dump and compares it.
fn judge_dump(scene: &Scene, screenshot: &Screenshot) -> Verdict {
    let options = Options { rules: Rules::all(), threads: 1, ..Options::default() };
    match play(scene, None, Gpu::new(options)) {
        Ok(played) => screenshot.difference(played.gpu.renderer()).map_or(Verdict::Passed, Verdict::Failed),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

/// Scenes, dumps and edges at a path; any may be missing, not all.
fn items(path: &Path) -> Result<Vec<Item<Data>>, Error> {
    let scenes = match load(path) {
        Ok(scenes) => scenes,
        Err(Error::NoVectors { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let single = |scene: Loaded| Item::single(scene.name.clone(), Data::Scene(Box::new(scene)));
    let mut items: Vec<Item<Data>> = scenes.into_iter().map(single).collect();
    items.extend(dumps(path)?);
    match input::with_magic(path, &MAGIC) {
        Ok(files) => {
            for (file, bytes) in files {
                let stem = file.file_name().unwrap_or_default().to_string_lossy();
                let stem = stem.split('.').next().unwrap_or_default().to_owned();
                let edges = Arc::new(edges(&bytes)?);
                for start in (0..edges.len()).step_by(EDGES) {
                    let range = start..edges.len().min(start + EDGES);
                    let name = format!("{stem}, edges {} to {}", range.start, range.end - 1);
                    items.push(Item::single(name, Data::Edges(Arc::clone(&edges), range)));
                }
            }
        }
        Err(Error::NoVectors { .. }) if !items.is_empty() => {}
        Err(error) => return Err(error),
    }
    Ok(items)
}

/// Suite `nds-console`.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let work = Work::plain(items(&request.path)?, |item: &Item<Data>, emit| {
        let verdict = match &item.data {
            Data::Scene(loaded) => judge(loaded, 1),
            Data::Dump(dump) => judge_dump(&dump.0, &dump.1),
            Data::Edges(edges, range) => judge_edges(edges.get(range.clone()).unwrap_or_default()),
        };
        item.names.iter().for_each(|name| emit(Case { name: name.clone(), verdict: verdict.clone() }));
    });
    work.run(observer)
}

/// Draws each `step`th edge of a file, which may be packed by zstd, and compares it.
///
/// # Errors
/// When the file is not of the format, with the offset.
pub fn judge_file(bytes: &[u8], step: usize) -> Result<Verdict, Error> {
    let edges = edges(&input::unpack(bytes, Path::new("edges"))?)?;
    Ok(judge_edges(edges.iter().step_by(step.max(1))))
}
