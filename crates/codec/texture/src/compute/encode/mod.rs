//! Encoders on the host's GPU: texels, or blocks of another format, become blocks of BC.
//!
//! The search is that of the CPU's [`Quality::Fast`](crate::Quality::Fast), an invocation for each block: a line by principal
//! components, levels, and least squares whose ends are rounded together. Arithmetic is of floats, which devices round differently, so
//! that blocks are the same from call to call, but not from device to device.

mod source;

use super::{Decoder, Error, PICTURE_WORDS, Ready, words_of};
use crate::decode;
use crate::format::{Extent, Format};
use std::sync::OnceLock;
use xenoglot_host::{Access, Argument, Buffer, Commands, Device, Error as HostError};

/// Invocations of a workgroup, each of which encodes a block.
const INVOCATIONS: u32 = 64;

/// Encoders on a device. Programs are compiled when they are needed first.
///
/// A block that reaches over the right or the lower edge repeats the last column or row; slices are blocks of their own. Components
/// that a format does not have are dropped. BC7 keeps blocks of a single colour exactly, and alpha of opaque ones; so does BC3.
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
        let [texel_bytes, block_bytes] = sizes(format, extent)?;
        check(texel_bytes, texels.size(), |needed, given| decode::Error::Data { needed, given })?;
        check(block_bytes, blocks.size(), |needed, given| decode::Error::Output { needed, given })?;
        let ready = self.program(format)?;
        if block_bytes == 0 {
            return Ok(());
        }
        let work = work(format, extent, self.device().max_groups()).ok_or(Error::Extent(extent))?;
        ready.put(self.device(), commands, (&work.0, work.1), texels, Argument::Buffer(blocks.clone()))
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
        let [texel_bytes, block_bytes] = sizes(to, extent)?;
        // Before anything is recorded.
        check(block_bytes, blocks.size(), |needed, given| decode::Error::Output { needed, given })?;
        if matches!(from, Format::Plain(_)) {
            return self.record(commands, to, extent, data, blocks);
        }
        self.program(to)?;
        let texels = self.device().buffer(texel_bytes as u64)?;
        self.decoder.record(commands, from, extent, data, &texels)?;
        self.record(commands, to, extent, &texels, blocks)
    }

    /// As [`crate::encode_into`], through buffers of the device; waits for it.
    ///
    /// # Errors
    /// As [`Encoder::record`], with [`Error::Size`] if `texels` or `out` is too short. `out` is then unchanged.
    pub fn encode_into(
        &self,
        format: Format,
        extent: Extent,
        texels: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let texel = format.encoder_texel().ok_or(Error::Encoder(format))?;
        self.transcode_into(Format::Plain(texel), extent, texels, format, out)
    }

    /// As [`crate::transcode_into`], through buffers of the device; waits for it. Texels stay there. Volumes of ASTC are transcoded,
    /// too, slice by slice.
    ///
    /// # Errors
    /// As [`Encoder::record_transcode`], with [`Error::Size`] if `data` or `out` is too short. `out` is then unchanged.
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

    /// Compiles what is needed and binds buffers of the caller's, to encode once or, when texels change, again and again. Both have the
    /// usage `STORAGE`; what lies in them is as for [`Encoder::record`].
    ///
    /// # Errors
    /// As [`Encoder::record`].
    pub fn prepare(
        &self,
        format: Format,
        extent: Extent,
        texels: &wgpu::Buffer,
        blocks: &wgpu::Buffer,
    ) -> Result<PreparedEncoding, Error> {
        let mut commands = Commands::default();
        let [texels, blocks] = [texels, blocks].map(Buffer::from_wgpu);
        self.record(&mut commands, format, extent, &texels, &blocks)?;
        Ok(PreparedEncoding { commands })
    }

    /// As [`Encoder::prepare`] from blocks of the format `from`.
    ///
    /// # Errors
    /// As [`Encoder::record_transcode`].
    pub fn prepare_transcode(
        &self,
        from: Format,
        extent: Extent,
        data: &wgpu::Buffer,
        to: Format,
        blocks: &wgpu::Buffer,
    ) -> Result<PreparedEncoding, Error> {
        let mut commands = Commands::default();
        let [data, blocks] = [data, blocks].map(Buffer::from_wgpu);
        self.record_transcode(&mut commands, from, extent, &data, to, &blocks)?;
        Ok(PreparedEncoding { commands })
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

/// An encoding whose arguments are bound: recording it makes nothing, however often.
#[derive(Debug)]
pub struct PreparedEncoding {
    commands: Commands,
}

impl PreparedEncoding {
    /// Records the encoding: a compute pass.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        self.commands.record(encoder);
    }
}

/// Bytes of the texels and of the blocks of a picture.
fn sizes(format: Format, extent: Extent) -> Result<[usize; 2], Error> {
    let texel = format.encoder_texel().ok_or(Error::Encoder(format))?;
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
    let texel = to.encoder_texel().filter(|_| Encoder::FORMATS.contains(&to)).ok_or(Error::Encoder(to))?;
    if from.texel() != texel {
        return Err(Error::Source(from, to, texel));
    }
    if !from.has_program() && from != Format::Plain(texel) {
        return Err(Error::Format(from));
    }
    Ok(())
}

/// What a program is told of a picture with texels, and its workgroups along each axis. Nothing if there are more than `max_groups`
/// along one, or more words than 32 bits count.
fn work(format: Format, extent: Extent, max_groups: u32) -> Option<([u32; PICTURE_WORDS], [u32; 3])> {
    let Extent { width, height, depth } = extent;
    let [texel_bytes, block_bytes] = sizes(format, extent).ok()?;
    u32::try_from(texel_bytes / 4).ok()?;
    u32::try_from(block_bytes / 4).ok()?;
    let count = u32::try_from(block_bytes / format.block_bytes()).ok()?;
    let groups = count.div_ceil(INVOCATIONS);
    let down = groups.div_ceil(max_groups.max(1));
    let across = groups.div_ceil(down.max(1));
    let [bx, by, bz] = extent.blocks(format.block());
    let mut words = [0; PICTURE_WORDS];
    words[..7].copy_from_slice(&[width, height, depth, width, bx, by, bz]);
    words[16..19].copy_from_slice(&[across, down, 1]);
    (down <= max_groups).then_some((words, [across, down, 1]))
}
