//! Encoders on the host's GPU: texels, or blocks of another format, become blocks of BC.
//!
//! The search is that of the CPU's [`Quality::Fast`](crate::Quality::Fast), an invocation for each block: a line by principal
//! components, levels, and least squares whose ends are rounded together. Arithmetic is of floats, which devices round differently, so
//! that blocks are the same from call to call, but not from device to device.

mod bands;
mod plan;
pub(super) mod source;
mod textures;

pub use plan::{ENCODER_PLAN_WORDS, EncoderPlan};
pub use textures::PreparedEncoding;

use super::{Decoder, Error, Ready, words_of};
use crate::decode;
use crate::format::{Extent, Format, Texel};
use bands::{Band, bands};
use std::sync::OnceLock;
use xenoglot_host::{Access, Argument, Buffer, Commands, Device, Error as HostError};

/// Encoders on a device. Programs are compiled when they are needed first.
///
/// A block that reaches over the right or the lower edge repeats the last column or row; slices are blocks of their own. Components
/// that a format does not have are dropped. Blocks of a single colour are exact in BC4, BC5, BC6H and BC7; opaque blocks stay opaque.
pub struct Encoder {
    decoder: Decoder,
    programs: [OnceLock<Result<Ready, HostError>>; Encoder::FORMATS.len()],
}

impl Encoder {
    /// The formats that have an encoder. They are made of RGBA8, and of RGBA of halves for BC6H ([`Format::encoder_texel`]).
    pub const FORMATS: [Format; 7] = [
        Format::Bc1Rgb,
        Format::Bc3,
        Format::Bc4Unorm,
        Format::Bc5Unorm,
        Format::Bc6hUfloat,
        Format::Bc6hSfloat,
        Format::Bc7,
    ];

    /// Encoders on a device.
    pub fn new(device: &Device) -> Encoder {
        let programs = [const { OnceLock::new() }; Encoder::FORMATS.len()];
        Encoder { decoder: Decoder::new(device), programs }
    }

    /// Encoders on a device that the caller has opened. It needs no features.
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Encoder {
        Encoder::new(&Device::from_wgpu(device, queue))
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.decoder.device()
    }

    /// Puts an encoding at the end of `commands`: of the texels at the start of `texels`, slices of rows without padding, to
    /// blocks of `format` at the start of `blocks`, which lie as for [`crate::decode_into`]. Nothing is put there for an extent
    /// without texels.
    ///
    /// # Errors
    /// [`Error::Encoder`] if the format has no encoder, [`Error::Size`] if a buffer is too small, [`Error::Extent`] if the
    /// extent has more texels than programs count, [`Error::Host`] if the device fails.
    pub fn record(
        &self,
        commands: &mut Commands,
        format: Format,
        extent: Extent,
        texels: &Buffer,
        blocks: &Buffer,
    ) -> Result<(), Error> {
        let [needed, _] = sizes(format, extent)?;
        check(needed, texels.size(), |needed, given| decode::Error::Data { needed, given })?;
        let Some((ready, plan)) = self.planned(format, extent, blocks)? else { return Ok(()) };
        self.put(commands, &ready, &plan, texels, blocks)
    }

    /// As [`Encoder::record`] from blocks of the format `from`, which lie at the start of `data` as for [`crate::decode_into`]. Texels
    /// are in a buffer of the device that is made here; nothing goes through the host.
    ///
    /// # Errors
    /// [`Error::Source`] if `from` does not decode to what the encoder takes; as [`Decoder::record`] and [`Encoder::record`], and if the
    /// device has no buffer for the texels.
    pub fn record_transcode(
        &self,
        commands: &mut Commands,
        from: Format,
        extent: Extent,
        data: &Buffer,
        to: Format,
        blocks: &Buffer,
    ) -> Result<(), Error> {
        check_source(from, to)?;
        if matches!(from, Format::Plain(_)) {
            return self.record(commands, to, extent, data, blocks);
        }
        // What the encoder refuses, it refuses before the decoding is recorded.
        let Some((ready, plan)) = self.planned(to, extent, blocks)? else { return Ok(()) };
        let texels = self.device().buffer(plan.texel_bytes)?;
        self.decoder.record(commands, from, extent, data, &texels)?;
        self.put(commands, &ready, &plan, &texels, blocks)
    }

    /// As [`crate::encode_into`], through buffers of the device; waits for it. A picture that is larger than a buffer of the device is
    /// encoded in parts.
    ///
    /// # Errors
    /// As [`Encoder::record`], with [`Error::Size`] if `texels` or `out` is too short; `out` is unchanged but where the device fails.
    pub fn encode_into(
        &self,
        format: Format,
        extent: Extent,
        texels: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let texel = texel_of(format)?;
        self.transcode_into(Format::Plain(texel), extent, texels, format, out)
    }

    /// As [`crate::transcode_into`], through buffers of the device, where texels stay; waits for it. Volumes of ASTC are transcoded, too,
    /// slice by slice. A picture that is larger than a buffer of the device is transcoded in parts.
    ///
    /// # Errors
    /// As [`Encoder::record_transcode`], with [`Error::Size`] if `data` or `out` is too short; `out` is unchanged but where the device
    /// fails.
    pub fn transcode_into(
        &self,
        from: Format,
        extent: Extent,
        data: &[u8],
        to: Format,
        out: &mut [u8],
    ) -> Result<(), Error> {
        check_source(from, to)?;
        let [_, needed] = sizes(to, extent)?;
        let given = out.len();
        let out = out.get_mut(..needed).ok_or(decode::Error::Output { needed, given })?;
        let needed = from.data_bytes(extent).ok_or(Error::Extent(extent))?;
        let data = data.get(..needed).ok_or(decode::Error::Data { needed, given: data.len() })?;
        self.program(to)?;
        if out.is_empty() {
            return Ok(());
        }
        let bands = bands(from, to, extent, self.device().max_buffer()).ok_or(Error::Extent(extent))?;
        for Band { extent, data: at, out: to_at } in bands {
            let (data, out) = (data.get(at).unwrap_or_default(), out.get_mut(to_at).unwrap_or_default());
            self.round_trip(from, extent, data, to, out)?;
        }
        Ok(())
    }

    /// Transcodes a band, and waits for it.
    fn round_trip(
        &self,
        from: Format,
        extent: Extent,
        data: &[u8],
        to: Format,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let device = self.device();
        let (data, blocks) = (device.buffer_of(&words_of(data))?, device.buffer(out.len() as u64)?);
        let mut commands = Commands::default();
        self.record_transcode(&mut commands, from, extent, &data, to, &blocks)?;
        commands.submit(device)?;
        let words = device.read(&[(&blocks, 0..out.len() as u64)])?.concat();
        for (out, word) in out.as_chunks_mut().0.iter_mut().zip(&words) {
            *out = word.to_le_bytes();
        }
        Ok(())
    }

    /// The program of a format and the plan of a picture, whose blocks have room in `blocks`; nothing for an extent without texels.
    fn planned(
        &self,
        format: Format,
        extent: Extent,
        blocks: &Buffer,
    ) -> Result<Option<(Ready, EncoderPlan)>, Error> {
        let ready = self.program(format)?;
        let [_, needed] = sizes(format, extent)?;
        check(needed, blocks.size(), |needed, given| decode::Error::Output { needed, given })?;
        if needed == 0 {
            return Ok(None);
        }
        let plan = EncoderPlan::new(format, extent, self.device().max_groups());
        Ok(Some((ready, plan.ok_or(Error::Extent(extent))?)))
    }

    /// Puts the dispatch of a plan at the end of `commands`.
    fn put(
        &self,
        commands: &mut Commands,
        ready: &Ready,
        plan: &EncoderPlan,
        texels: &Buffer,
        blocks: &Buffer,
    ) -> Result<(), Error> {
        let work = (&plan.uniform, plan.groups);
        ready.put(self.device(), commands, work, texels, Argument::Buffer(blocks.clone()))
    }

    fn program(&self, format: Format) -> Result<Ready, Error> {
        let unknown = || Error::Encoder(format);
        let number = Encoder::FORMATS.iter().position(|&f| f == format);
        let program = number.and_then(|number| self.programs.get(number)).ok_or_else(unknown)?;
        let compile = || {
            let (source, tables) = source::program(format).unwrap_or_default();
            Ready::new(self.device(), &source, &tables, Access::ReadWrite)
        };
        Ok(program.get_or_init(compile).clone()?)
    }
}

/// What a format is made of.
fn texel_of(format: Format) -> Result<Texel, Error> {
    let texel = format.encoder_texel().filter(|_| Encoder::FORMATS.contains(&format));
    texel.ok_or(Error::Encoder(format))
}

/// Bytes of the texels and of the blocks of a picture.
fn sizes(format: Format, extent: Extent) -> Result<[usize; 2], Error> {
    let texel = texel_of(format)?;
    let bytes = [Format::Plain(texel).data_bytes(extent), format.data_bytes(extent)];
    match bytes {
        [Some(texels), Some(blocks)] => Ok([texels, blocks]),
        _ => Err(Error::Extent(extent)),
    }
}

/// Whether a buffer is large enough.
fn check(needed: usize, given: u64, short: impl Fn(usize, usize) -> decode::Error) -> Result<(), Error> {
    if (needed as u64) > given {
        return Err(short(needed, given as usize).into());
    }
    Ok(())
}

/// Whether `from` decodes to what the encoder of `to` takes, on the device.
fn check_source(from: Format, to: Format) -> Result<(), Error> {
    let texel = texel_of(to)?;
    if from.texel() != texel {
        return Err(Error::Source(from, to, texel));
    }
    if !from.has_program() && from != Format::Plain(texel) {
        return Err(Error::Format(from));
    }
    Ok(())
}
