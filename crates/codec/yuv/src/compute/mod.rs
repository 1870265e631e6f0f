//! Conversion on the host's GPU. It is of the same equations as on the CPU; the last bits of floats may differ.

use crate::conversion::{Conversion, Filter, Reconstruction, Siting};
use crate::format::Format;
use crate::frame::{self, Frame, Packing};
use thiserror::Error;
use xenoglot_host::{
    Access, Arguments, Binding, Buffer, Commands, Device, Error as HostError, Layout, Program,
};

/// Words of `Job` in `convert.wgsl`.
const JOB_WORDS: usize = 80;
/// Words of `Channel` there.
const CHANNEL_WORDS: usize = 12;
/// Texels of a workgroup along each axis.
const GROUP: [usize; 2] = [16, 4];

/// Why nothing was converted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Sizes that do not fit each other.
    #[error(transparent)]
    Size(#[from] frame::Error),
    /// The device failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// What texels are written as, RGBA, rows without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Four singles, not clamped.
    Float,
    /// Four bytes, clamped and rounded to the nearest.
    Rgba8,
}

impl Output {
    /// Bytes of a texel.
    pub const fn texel_bytes(self) -> usize {
        match self {
            Output::Float => 16,
            Output::Rgba8 => 4,
        }
    }
}

/// Conversions on a device.
pub struct Converter {
    device: Device,
    layout: Layout,
    program: Program,
}

/// A frame in a device's memory.
pub struct DeviceFrame {
    size: [usize; 2],
    format: Format,
    channels: [[u32; CHANNEL_WORDS]; 4],
    samples: Buffer,
}

impl Converter {
    /// Compiles the program for a device.
    ///
    /// # Errors
    /// When the device refuses it.
    pub fn new(device: &Device) -> Result<Converter, Error> {
        let bindings = [
            Binding::new(0, Access::Uniform { size: 4 * JOB_WORDS as u32 }),
            Binding::new(1, Access::Read),
            Binding::new(2, Access::ReadWrite),
        ];
        let layout = device.layout(&bindings);
        let program = device.wgsl_program(&layout, include_str!("convert.wgsl"), "main")?;
        Ok(Converter { device: device.clone(), layout, program })
    }

    /// Copies a frame's planes to the device.
    ///
    /// # Errors
    /// When the device has no memory for them, or they are 4 GiB or more.
    pub fn upload(&self, frame: &Frame<'_>) -> Result<DeviceFrame, Error> {
        let [width, height] = frame.size;
        let too_large = || Error::Size(frame::Error::TooLarge(width, height));
        // Planes, which channels share, and where they begin in the buffer.
        let mut planes: Vec<(&[u8], usize)> = Vec::with_capacity(4);
        let mut bytes = Vec::new();
        let mut channels = [[0; CHANNEL_WORDS]; 4];
        let [_, luma, _] = &frame.channels;
        // Where there is no alpha its factors are 0.
        let alpha = frame.alpha.as_ref().unwrap_or(luma);
        let [fx, fy] = frame.format.subsampling.factors();
        let factors = [[fx, fy], [1; 2], [fx, fy], [1; 2]];
        let all = frame.channels.iter().chain([alpha]).zip(factors);
        for ((channel, factors), words) in all.zip(&mut channels) {
            let start = match planes.iter().find(|(plane, _)| std::ptr::eq(*plane, channel.data)) {
                Some(&(_, start)) => start,
                None => {
                    planes.push((channel.data, bytes.len()));
                    bytes.extend_from_slice(channel.data);
                    bytes.len() - channel.data.len()
                }
            };
            let packing = match channel.packing {
                Packing::Apart => 0,
                Packing::Tens => 1,
                Packing::Twos => 2,
            };
            let [last_x, last_y] = channel.size.map(|size| size.saturating_sub(1));
            let numbers = [start, channel.pitch, channel.offset, channel.step, factors[0], factors[1]];
            for (word, number) in words.iter_mut().zip(numbers.into_iter().chain([last_x, last_y, packing])) {
                *word = u32::try_from(number).map_err(|_| too_large())?;
            }
        }
        if u32::try_from(bytes.len()).is_err() {
            return Err(too_large());
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let samples = self.device.buffer_of(&words)?;
        Ok(DeviceFrame { size: frame.size, format: frame.format, channels, samples })
    }

    /// Puts a conversion at the end of `commands`, to the start of `texels`.
    ///
    /// # Errors
    /// When `texels` is too small, the frame is too large for the device, or the device fails.
    pub fn record(
        &self,
        commands: &mut Commands,
        frame: &DeviceFrame,
        conversion: &Conversion,
        output: Output,
        texels: &Buffer,
    ) -> Result<(), Error> {
        let [width, height] = frame.size;
        let too_large = frame::Error::TooLarge(width, height);
        let needed = width.checked_mul(height).ok_or(too_large)?;
        let given = usize::try_from(texels.size()).unwrap_or(usize::MAX) / output.texel_bytes();
        if given < needed {
            return Err(frame::Error::Output { needed, given }.into());
        }
        let groups = [width.div_ceil(GROUP[0]), height.div_ceil(GROUP[1])];
        if groups.iter().any(|&n| n > self.device.max_groups() as usize) {
            return Err(too_large.into());
        }
        if needed == 0 {
            return Ok(());
        }
        let job = self.device.buffer_of(&job(frame, conversion, output))?;
        let arguments = Arguments::new(&self.device, &self.layout, &[&job, &frame.samples, texels])?;
        commands.dispatch(&self.program, &arguments, &[0], [groups[0] as u32, groups[1] as u32, 1]);
        Ok(())
    }

    /// As [`crate::convert`], through buffers of the device; waits for it.
    ///
    /// # Errors
    /// As [`Converter::upload`] and [`Converter::record`], and when `out` is too short.
    pub fn convert(
        &self,
        frame: &Frame<'_>,
        conversion: &Conversion,
        out: &mut [[f32; 4]],
    ) -> Result<(), Error> {
        let words = self.converted(frame, conversion, Output::Float, out.len())?;
        for (texel, words) in out.iter_mut().zip(words.as_chunks().0) {
            *texel = words.map(f32::from_bits);
        }
        Ok(())
    }

    /// As [`crate::convert_rgba8`], through buffers of the device; waits for it.
    ///
    /// # Errors
    /// As [`Converter::convert`].
    pub fn convert_rgba8(
        &self,
        frame: &Frame<'_>,
        conversion: &Conversion,
        out: &mut [[u8; 4]],
    ) -> Result<(), Error> {
        let words = self.converted(frame, conversion, Output::Rgba8, out.len())?;
        for (texel, word) in out.iter_mut().zip(words) {
            *texel = word.to_le_bytes();
        }
        Ok(())
    }

    /// The words of the texels, which may be at most `given`.
    fn converted(
        &self,
        frame: &Frame<'_>,
        conversion: &Conversion,
        output: Output,
        given: usize,
    ) -> Result<Vec<u32>, Error> {
        let [width, height] = frame.size;
        let needed = width.checked_mul(height).ok_or(frame::Error::TooLarge(width, height))?;
        if given < needed {
            return Err(frame::Error::Output { needed, given }.into());
        }
        let bytes = (needed as u64).saturating_mul(output.texel_bytes() as u64);
        let texels = self.device.buffer(bytes)?;
        let mut commands = Commands::default();
        self.record(&mut commands, &self.upload(frame)?, conversion, output, &texels)?;
        commands.submit(&self.device)?;
        Ok(self.device.read(&[(&texels, 0..bytes)])?.concat())
    }
}

/// What the program is told.
fn job(frame: &DeviceFrame, conversion: &Conversion, output: Output) -> [u32; JOB_WORDS] {
    let Format { bits, high, .. } = frame.format;
    let unused = if bits == 8 { 0 } else { 16 - bits };
    let shift = if high { unused } else { 0 };
    let [x, y] = conversion.siting.map(|siting| u32::from(siting == Siting::Midpoint));
    let head = [
        frame.size[0] as u32,
        frame.size[1] as u32,
        if bits == 8 { 1 } else { 2 },
        shift,
        (1 << bits) - 1,
        x | y << 1,
        match conversion.filter {
            Filter::Nearest => 0,
            Filter::Linear => 1,
            Filter::Cubic => 2,
        },
        u32::from(conversion.reconstruction == Reconstruction::Implicit),
    ];
    let affine = conversion.affine(frame.format);
    let factors = affine.matrix.as_flattened().iter().chain(&affine.offset).copied().map(f32::to_bits);
    let mut job = [0; JOB_WORDS];
    let words = head.into_iter().chain(frame.channels.as_flattened().iter().copied()).chain(factors);
    let words = words.chain([u32::from(output == Output::Rgba8)]);
    job.iter_mut().zip(words).for_each(|(to, word)| *to = word);
    job
}
