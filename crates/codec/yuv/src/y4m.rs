//! YUV4MPEG2 files (`.y4m`): a line of parameters, then frames of planes, each behind a line of its own. Source: the manual
//! page yuv4mpeg(5) of mjpegtools, and for depths above eight bits the names that FFmpeg writes.
//!
//! Nothing is copied: frames are parts of the file.

use crate::conversion::{Range, Siting};
use crate::format::{Format, Layout, Subsampling};
use alloc::string::String;
use thiserror::Error;

/// What files start with.
pub const MAGIC: &[u8] = b"YUV4MPEG2";
const FRAME: &[u8] = b"FRAME";
/// Most bytes of a line of parameters.
const MAX_LINE: usize = 4096;

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The file does not start as such files do.
    #[error("no YUV4MPEG2 file")]
    Magic,
    /// A line of parameters without an end.
    #[error("{at:#x}: a line of parameters that does not end")]
    Line {
        /// Byte offset of its start.
        at: usize,
    },
    /// A parameter is missing or impossible.
    #[error("bad parameter: {0}")]
    Parameter(&'static str),
    /// A colour space that is not read.
    #[error("colour space {0} is not supported")]
    ColorSpace(String),
    /// Frames have more bytes than an address counts.
    #[error("frames of {0} x {1} are too large")]
    TooLarge(usize, usize),
    /// No frame begins where one should.
    #[error("{at:#x}: no frame begins here")]
    Frame {
        /// Byte offset.
        at: usize,
    },
    /// The file ends in a frame.
    #[error("{at:#x}: the file ends in a frame")]
    Truncated {
        /// Byte offset of the frame's planes.
        at: usize,
    },
}

/// A file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Y4m<'a> {
    /// Form of the frames: planar, with alpha or without, or luma alone.
    pub format: Format,
    /// Width in luma samples, at least 1.
    pub width: usize,
    /// Height in luma samples, at least 1.
    pub height: usize,
    /// Frames a second as a fraction, where the file says.
    pub rate: Option<[u32; 2]>,
    /// Where chroma samples lie, where the file says.
    pub siting: Option<[Siting; 2]>,
    /// The range, where the file says.
    pub range: Option<Range>,
    bytes: &'a [u8],
    /// Where the first frame's line begins.
    start: usize,
    frame_bytes: usize,
}

impl<'a> Y4m<'a> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// When the bytes are no such file, or of a colour space other than 4:1:1, 4:2:0, 4:2:2, 4:4:4, 4:4:4 with alpha and grey.
    pub fn parse(bytes: &'a [u8]) -> Result<Y4m<'a>, Error> {
        let line = line(bytes, 0)?;
        let parameters = line.strip_prefix(MAGIC).filter(|rest| rest.first().is_none_or(|&b| b == b' '));
        let (mut size, mut rate, mut range) = ([0; 2], None, None);
        // 4:2:0 as in JPEG is what a file without a colour space has.
        let (mut format, mut siting) = color_space("420jpeg")?;
        for parameter in parameters.ok_or(Error::Magic)?.split(|&byte| byte == b' ') {
            let Some((name, value)) = parameter.split_first() else { continue };
            let value = core::str::from_utf8(value).map_err(|_| Error::Parameter("not ASCII"))?;
            match name {
                b'W' => size[0] = value.parse().map_err(|_| Error::Parameter("width"))?,
                b'H' => size[1] = value.parse().map_err(|_| Error::Parameter("height"))?,
                b'F' => rate = Some(fraction(value).ok_or(Error::Parameter("frame rate"))?),
                b'C' => (format, siting) = color_space(value)?,
                b'X' if value == "COLORRANGE=FULL" => range = Some(Range::Full),
                b'X' if value == "COLORRANGE=LIMITED" => range = Some(Range::Narrow),
                // Interlacing, the aspect of samples, comments.
                _ => {}
            }
        }
        let [width, height] = size;
        if width == 0 || height == 0 {
            return Err(Error::Parameter("size"));
        }
        let frame_bytes = format.bytes(width, height).ok_or(Error::TooLarge(width, height))?;
        Ok(Y4m { format, width, height, rate, siting, range, bytes, start: line.len() + 1, frame_bytes })
    }

    /// The planes of the frames, without padding, in order; for [`crate::Frame::tight`]. Ends after an error.
    pub fn frames(&self) -> Frames<'a> {
        Frames { bytes: self.bytes, at: self.start, frame_bytes: self.frame_bytes }
    }
}

/// Frames of a file.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    frame_bytes: usize,
}

impl<'a> Frames<'a> {
    fn frame(&mut self) -> Result<&'a [u8], Error> {
        let line = line(self.bytes, self.at)?;
        let parameters = line.strip_prefix(FRAME).ok_or(Error::Frame { at: self.at })?;
        if parameters.first().is_some_and(|&byte| byte != b' ') {
            return Err(Error::Frame { at: self.at });
        }
        let at = self.at + line.len() + 1;
        let end = at.checked_add(self.frame_bytes).ok_or(Error::Truncated { at })?;
        self.at = end;
        self.bytes.get(at..end).ok_or(Error::Truncated { at })
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<&'a [u8], Error>;

    fn next(&mut self) -> Option<Result<&'a [u8], Error>> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let frame = self.frame();
        if frame.is_err() {
            self.at = self.bytes.len();
        }
        Some(frame)
    }
}

/// The line that begins at `at`, without its end.
fn line(bytes: &[u8], at: usize) -> Result<&[u8], Error> {
    let rest = bytes.get(at..).unwrap_or_default();
    let end = rest.iter().take(MAX_LINE).position(|&byte| byte == b'\n');
    rest.get(..end.ok_or(Error::Line { at })?).ok_or(Error::Line { at })
}

fn fraction(text: &str) -> Option<[u32; 2]> {
    let (numerator, denominator) = text.split_once(':')?;
    Some([numerator.parse().ok()?, denominator.parse().ok()?])
}

/// The format of a colour space's name, and where its chroma samples lie if the name says so.
fn color_space(name: &str) -> Result<(Format, Option<[Siting; 2]>), Error> {
    use Siting::{CositedEven, Midpoint};
    let unknown = || Error::ColorSpace(name.chars().take(32).collect());
    let bits_of = |bits: &str| match bits {
        "9" | "10" | "12" | "14" | "16" => bits.parse().map_err(|_| unknown()),
        _ => Err(unknown()),
    };
    if let Some(bits) = name.strip_prefix("mono") {
        let bits = if bits.is_empty() { 8 } else { bits_of(bits)? };
        let format = Format { layout: Layout::Mono, subsampling: Subsampling::S444, bits, high: false };
        return Ok((format, None));
    }
    // These have eight bits only.
    let of_bytes =
        [("411", Layout::Planar, Subsampling::S411), ("444alpha", Layout::PlanarAlpha, Subsampling::S444)];
    if let Some((_, layout, subsampling)) = of_bytes.into_iter().find(|(of_bytes, ..)| *of_bytes == name) {
        return Ok((Format { layout, subsampling, bits: 8, high: false }, None));
    }
    let (subsampling, rest) =
        [("420", Subsampling::S420), ("422", Subsampling::S422), ("444", Subsampling::S444)]
            .into_iter()
            .find_map(|(prefix, subsampling)| Some((subsampling, name.strip_prefix(prefix)?)))
            .ok_or_else(unknown)?;
    let siting = match (subsampling, rest) {
        (Subsampling::S420, "" | "jpeg") => Some([Midpoint, Midpoint]),
        (Subsampling::S420, "mpeg2") => Some([CositedEven, Midpoint]),
        (Subsampling::S420, "paldv") => Some([CositedEven, CositedEven]),
        _ => None,
    };
    let bits = match rest.strip_prefix('p') {
        _ if siting.is_some() || rest.is_empty() => 8,
        Some(bits) => bits_of(bits)?,
        None => return Err(unknown()),
    };
    Ok((Format { layout: Layout::Planar, subsampling, bits, high: false }, siting))
}
