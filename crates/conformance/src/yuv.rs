//! Suite of the conversion of frames: `vectors/yuv/FORMAT.md`.

mod sampler;

use crate::input::{self, Reader};
use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request};
use std::path::PathBuf;
use xenoglot_yuv::{
    Conversion, Filter, Format, Frame, Layout, Model, Range, Reconstruction, Siting, Subsampling, convert,
};

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &[
    "cpu",
    #[cfg(feature = "host")]
    "compute",
    "sampler",
];

/// A frame of a file.
struct Source<'a> {
    size: [usize; 2],
    format: Format,
    data: &'a [u8],
}

/// Converts as [`convert`] does, or says why the engine does not.
type Convert = dyn FnMut(&Source<'_>, &Conversion, &mut [[f32; 4]]) -> Result<(), Verdict>;

const MAGIC: &[u8] = b"YUVVEC01";
/// Bytes of a file for which a case may be counted.
const BYTES_EACH: usize = 1024;
/// The difference allowed to filters in floats.
const TOLERANCE: f32 = 1e-4;
/// The difference allowed to hosts: their filters may round to what samples are made of, and lavapipe takes samples of ten
/// bits for the high ones of sixteen, a thousandth less.
const HOST_TOLERANCE: f32 = 0.01;
/// Most texels of a frame and frames of a file.
const MAX: u32 = 1 << 20;

/// Runs the suite on a file or the files of a folder.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let tolerance = if request.engine == "sampler" { HOST_TOLERANCE } else { TOLERANCE };
    let item = |(path, bytes): (PathBuf, Vec<u8>)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Item::file(name, bytes.len(), BYTES_EACH, bytes)
    };
    let items = input::with_magic(&request.path, MAGIC)?.into_iter().map(item).collect();
    let request = request.clone();
    let cases = move |convert: &mut Box<Convert>, bytes: &Vec<u8>| file(bytes, tolerance, convert);
    Work::files(items, move || engine(&request), cases).on_one_thread().run(observer)
}

fn engine(request: &Request) -> Result<Box<Convert>, Error> {
    let failed = |reason: String| Verdict::Failed(reason);
    match request.engine {
        #[cfg(feature = "host")]
        "compute" => {
            let converter = xenoglot_yuv::compute::Converter::new(&crate::host::device(request)?)
                .map_err(|e| Error::Device(e.to_string()))?;
            Ok(Box::new(move |source, conversion, texels| {
                let frame = source.frame().map_err(failed)?;
                converter.convert(&frame, conversion, texels).map_err(|e| failed(e.to_string()))
            }))
        }
        "sampler" => {
            let mut sampler = sampler::Sampler::new(request)?;
            Ok(Box::new(move |source, conversion, texels| sampler.convert(source, conversion, texels)))
        }
        _ => Ok(Box::new(move |source, conversion, texels| {
            let frame = source.frame().map_err(failed)?;
            convert(&frame, conversion, texels).map_err(|e| failed(e.to_string()))
        })),
    }
}

impl<'a> Source<'a> {
    fn frame(&self) -> Result<Frame<'a>, String> {
        let [width, height] = self.size;
        Frame::tight(self.format, width, height, self.data).map_err(|e| e.to_string())
    }
}

fn file(bytes: &[u8], tolerance: f32, convert: &mut Convert) -> Result<Vec<Case>, Error> {
    let mut reader = Reader::new(bytes);
    reader.take(MAGIC.len())?;
    let (width, height) = (reader.u32()?, reader.u32()?);
    let (frames, count) = (reader.u32()?, reader.u32()?);
    if u64::from(width) * u64::from(height) > MAX.into() || frames > MAX {
        return Err(Error::Malformed { offset: 8, what: "size or number of frames" });
    }
    let (width, height) = (width as usize, height as usize);
    let mut planes = Vec::new();
    for _ in 0..frames {
        let offset = reader.offset();
        planes.push((format(&mut reader)?, reader_bytes(&mut reader)?));
        let (format, data) = planes[planes.len() - 1];
        Frame::tight(format, width, height, data).map_err(|_| Error::Malformed { offset, what: "frame" })?;
    }
    let start = reader.offset();
    let descriptions = reader.take((count as usize).saturating_mul(8))?;
    let mut cases = Vec::new();
    for reconstruction in [Reconstruction::Explicit, Reconstruction::Implicit] {
        for (i, description) in descriptions.chunks_exact(8).enumerate() {
            let bad = Error::Malformed { offset: start + 8 * i, what: "case" };
            let (format, data) = *planes.get(usize::from(description[0])).ok_or(bad)?;
            let conversion = conversion(description, reconstruction)
                .ok_or(Error::Malformed { offset: start + 8 * i, what: "conversion" })?;
            let expected = reader.words(width * height * 3)?;
            let mut texels = vec![[0.0; 4]; width * height];
            let source = Source { size: [width, height], format, data };
            let verdict = match convert(&source, &conversion, &mut texels) {
                Ok(()) => verdict(&texels, &expected, tolerance),
                Err(verdict) => verdict,
            };
            cases.push(Case { name: format!("{i}/{reconstruction:?} {format:?} {conversion:?}"), verdict });
        }
    }
    Ok(cases)
}

/// The header of a frame, without its number of bytes.
fn format(reader: &mut Reader<'_>) -> Result<Format, Error> {
    let offset = reader.offset();
    reader.u32()?;
    let (bits, x, y, planes) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
    let subsampling = match (x, y) {
        (2, 2) => Subsampling::S420,
        (2, 1) => Subsampling::S422,
        (1, 1) => Subsampling::S444,
        _ => return Err(Error::Malformed { offset, what: "subsampling" }),
    };
    let layout = match planes {
        2 => Layout::SemiPlanar,
        3 => Layout::Planar,
        _ => return Err(Error::Malformed { offset, what: "number of planes" }),
    };
    Ok(Format { layout, subsampling, bits, high: true })
}

fn reader_bytes<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let count = reader.u32()? as usize;
    reader.take(count)
}

fn conversion(description: &[u8], reconstruction: Reconstruction) -> Option<Conversion> {
    let siting = |value: u8| [Siting::CositedEven, Siting::Midpoint].get(usize::from(value)).copied();
    let models = [Model::RgbIdentity, Model::YcbcrIdentity, Model::Bt709, Model::Bt601, Model::Bt2020];
    Some(Conversion {
        model: *models.get(usize::from(description[1]))?,
        range: *[Range::Full, Range::Narrow].get(usize::from(description[2]))?,
        siting: [siting(description[3])?, siting(description[4])?],
        filter: *[Filter::Nearest, Filter::Linear].get(usize::from(description[5]))?,
        reconstruction,
        components: Conversion::IDENTITY,
    })
}

fn verdict(texels: &[[f32; 4]], expected: &[u32], tolerance: f32) -> Verdict {
    for (i, (texel, expected)) in texels.iter().zip(expected.chunks_exact(3)).enumerate() {
        for (c, (got, want)) in texel.iter().zip(expected).enumerate() {
            let want = f32::from_bits(*want);
            let error = (got - want).abs();
            if error > tolerance || error.is_nan() {
                return Verdict::Failed(format!("texel {i}, component {c}: {got}, expected {want}"));
            }
        }
    }
    Verdict::Passed
}
