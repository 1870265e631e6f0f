//! Suite `nds-slopes`: captures of lines drawn by a console; layout in `vectors/nds-slopes/FORMAT.md`.

use crate::input::Reader;
use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::path::{Path, PathBuf};
use xenoglot_nds::raster::{Rules, slope};

/// Most bytes a capture unpacks to.
const MAX_BYTES: u64 = 64 << 20;
/// First bytes of an xz file.
const XZ: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
/// Columns and rows of targets: one more than the screen has pixels.
const TARGETS: [i32; 2] = [257, 193];
/// Last visible row and column.
const LAST: [i32; 2] = [255, 191];

/// What a capture holds, and how an edge differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Lines compared.
    pub slopes: usize,
    /// Rows compared.
    pub rows: usize,
    /// Lines that differ.
    pub different: usize,
    /// The first of them.
    pub first: Option<String>,
}

/// A row of a capture: lit columns, first and last.
type Row = Option<[i32; 2]>;

/// Compares a capture, unpacked.
///
/// # Errors
/// When it is not of the format.
pub fn compare(bytes: &[u8], rules: Rules) -> Result<Outcome, Error> {
    let mut r = Reader::new(bytes);
    let kind = r.u8()?;
    let bounds = (r.u16()?, r.u16()?, r.u8()?, r.u8()?);
    if kind > 3 || bounds != (0, 256, 0, 192) {
        return Err(Error::Malformed { offset: 0, what: "header of a slope capture" });
    }
    let (is_right, is_bottom) = (kind & 1 != 0, kind & 2 != 0);
    let corner = [if is_right { 256 } else { 0 }, if is_bottom { 192 } else { 0 }];
    let mut outcome = Outcome::default();
    // The first record was taken before anything was shown; each later one carries the label of its own target, and the
    // last one none.
    let labels = (0..TARGETS[1]).flat_map(|y| (0..TARGETS[0]).map(move |x| [x, y]));
    let targets = std::iter::once(None).chain(labels.map(Some));
    let last = [TARGETS[0] - 1, TARGETS[1] - 1];
    for target in targets {
        let [x, y] = target.unwrap_or([0, 0]);
        if target != Some(last) {
            let offset = r.offset();
            if (i32::from(r.u8()?), i32::from(r.u8()?)) != (x & 255, y) {
                return Err(Error::Malformed { offset, what: "label of a slope" });
            }
        }
        let edge_row = y.min(LAST[1]);
        let captured = if is_bottom { edge_row..=LAST[1] } else { 0..=edge_row };
        let mut differs = None;
        for row in captured {
            let (lit, first, end) = (r.u8()?, i32::from(r.u8()?), i32::from(r.u8()?));
            let Some(target) = target else { continue };
            let seen: Row = (lit != 0).then_some([first, end]);
            // Columns from 256 on are off the screen.
            let drawn = slope(corner, target, rules, row).filter(|line| line[0] <= LAST[0]);
            outcome.rows += usize::from(drawn.is_some());
            if drawn != seen && differs.is_none() {
                differs = Some(format!("line to {x}, {y}, row {row}: {drawn:?}, captured {seen:?}"));
            }
        }
        if target.is_some() {
            outcome.slopes += 1;
            outcome.different += usize::from(differs.is_some());
            outcome.first = outcome.first.or(differs);
        }
    }
    if !r.is_empty() {
        return Err(Error::Malformed { offset: r.offset(), what: "end of a slope capture" });
    }
    Ok(outcome)
}

/// The bytes of a capture, unpacked if they are xz.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    use std::io::Read;
    let bytes = input::read(path)?;
    if !bytes.starts_with(&XZ) {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    lzma_rust2::XzReader::new(bytes.as_slice(), false)
        .take(MAX_BYTES)
        .read_to_end(&mut out)
        .map_err(|e| Error::Archive { path: path.into(), reason: e.to_string() })?;
    Ok(out)
}

/// The captures at a path.
fn captures(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_capture = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".bin") || name.ends_with(".bin.xz")
    };
    let files: Vec<PathBuf> = input::files(path)?.into_iter().filter(is_capture).collect();
    if files.is_empty() {
        return Err(Error::NoVectors { path: path.into(), magic: "a slope capture's header".into() });
    }
    Ok(files)
}

/// Suite `nds-slopes`.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let item = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Item::single(name, read(&path)?))
    };
    let items = captures(&request.path)?.into_iter().map(item).collect::<Result<_, Error>>()?;
    let judge = |item: &Item<Vec<u8>>, emit: &mut Emit| {
        let verdict = match compare(&item.data, Rules::all()) {
            Err(error) => Verdict::Failed(error.to_string()),
            Ok(Outcome { first: None, .. }) => Verdict::Passed,
            Ok(Outcome { first: Some(first), different, slopes, .. }) => {
                Verdict::Failed(format!("{different} of {slopes} lines: {first}"))
            }
        };
        item.names.iter().for_each(|name| emit(Case { name: name.clone(), verdict: verdict.clone() }));
    };
    Work::plain(items, judge).run(observer)
}
