//! ASTC, BC, ETC and EAC on the host's GPU, bit for bit as on the CPU.
//!
//! A [`Decoder`] is for a device. [`Decoder::record`] puts the decoding of a picture among other commands: blocks and
//! texels are buffers of the device, and nobody waits. [`Decoder::record_texture`] writes a texture instead, ready to be
//! sampled. [`Decoder::decode_into`] takes blocks there and brings texels back.
//!
//! Applications with a device of their own open a decoder by [`Decoder::from_wgpu`], bind blocks and a texture with all its
//! levels and layers by [`Decoder::prepare`], and record that with their own encoder ([`Prepared::record`]); those that use Vulkan
//! without wgpu take [`shader`].
//!
//! All arithmetic of decoding is of integers, and the tables are those of the CPU's decoders, in a storage buffer.
//!
//! An [`Encoder`] makes blocks of BC of texels, or of blocks of another format: with [`Encoder::record`], [`Encoder::prepare_texture`],
//! and [`encoder_shader`].

mod embed;
mod encode;
mod plan;
mod shader;
mod source;
mod tables;

pub use embed::{BlockSource, Prepared};
pub use encode::{ENCODER_PLAN_WORDS, Encoder, EncoderPlan, PreparedEncoding};
pub use plan::{Blocks, Level, MAX_LEVELS, PLAN_WORDS, Plan};
pub use shader::{Resource, Shader, encoder_shader, shader};

use crate::astc::shape;
use crate::decode;
use crate::format::{Extent, Format, Profile, Texel};
use embed::Ready as Embedded;
use source::{Input, Target};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use thiserror::Error;
use xenoglot_host::{
    Access, Argument, Arguments, Binding, Buffer, Commands, Device, Error as HostError, Layout, Program,
    Texture, TextureFormat,
};

/// Programs of a target: one for each of [`Format::BC_ETC`], and two for ASTC, to bytes and to halves.
const PROGRAMS: usize = Format::BC_ETC.len() + 2;

/// Why nothing was decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// There is no program for a format: for the PICA200's, and for plain texels.
    #[error("{0} is not decoded on GPUs")]
    Format(Format),
    /// There is no program that encodes a format: it is none of [`Encoder::FORMATS`].
    #[error("{0} is not encoded on GPUs")]
    Encoder(Format),
    /// The first format does not decode to the texels that the encoder of the second takes.
    #[error("{0} is not transcoded to {1}: it does not decode to {2:?}")]
    Source(Format, Format, Texel),
    /// Sizes that do not fit each other.
    #[error(transparent)]
    Size(#[from] decode::Error),
    /// A texture has not the texels of the format, or not as many as the extent along each axis.
    #[error("a texture of {format:?}, {size:?} is not for the picture")]
    Texture {
        /// What it is made of.
        format: TextureFormat,
        /// Texels along each axis.
        size: [u32; 3],
    },
    /// The same of a texture of the caller's.
    #[error(
        "a texture of {format:?}, {size:?} with {levels} levels is not for the picture, or its usage is another"
    )]
    WgpuTexture {
        /// What it is made of.
        format: wgpu::TextureFormat,
        /// Texels along each axis, or layers.
        size: [u32; 3],
        /// Its levels.
        levels: u32,
    },
    /// The device would need more workgroups along an axis than it has.
    #[error("an extent of {0:?} is too large for the device")]
    Extent(Extent),
    /// The device failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Decoders on a device. Programs are compiled when they are needed first.
pub struct Decoder {
    device: Device,
    programs: [[OnceLock<Result<Ready, HostError>>; PROGRAMS]; Target::ALL.len()],
    /// Those of [`Decoder::prepare`].
    embedded: Mutex<HashMap<(usize, Input, Target), Arc<Embedded>>>,
}

/// A program and its tables.
#[derive(Clone)]
struct Ready {
    layout: Layout,
    program: Program,
    tables: Buffer,
}

impl Ready {
    /// Compiles a program with the bindings of all: what it is told of the picture, tables, what it reads, and what it writes.
    fn new(device: &Device, source: &str, tables: &[u32], output: Access) -> Result<Ready, HostError> {
        let uniform = Access::Uniform { size: 4 * PICTURE_WORDS as u32 };
        let accesses = [uniform, Access::Read, Access::Read, output];
        let bindings: Vec<Binding> = (0..).zip(accesses).map(|(n, access)| Binding::new(n, access)).collect();
        let layout = device.layout(&bindings);
        let program = device.wgsl_program(&layout, source, "main")?;
        Ok(Ready { layout, program, tables: device.buffer_of(tables)? })
    }

    /// Puts a dispatch at the end of `commands`, over a picture and so many workgroups.
    fn put(
        &self,
        device: &Device,
        commands: &mut Commands,
        (picture, groups): (&[u32; PICTURE_WORDS], [u32; 3]),
        input: &Buffer,
        output: Argument,
    ) -> Result<(), Error> {
        let buffers = [device.buffer_of(picture)?, self.tables.clone(), input.clone()];
        let [uniform, tables, input] = buffers.map(Argument::Buffer);
        let arguments = Arguments::of(device, &self.layout, &[uniform, tables, input, output])?;
        commands.dispatch(&self.program, &arguments, &[0], groups);
        Ok(())
    }
}

/// Bytes, of which there are a multiple of four, as words for a buffer.
fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Words of `Picture` in `wgsl/common.wgsl`.
const PICTURE_WORDS: usize = 20;

impl Decoder {
    /// Decoders on a device.
    pub fn new(device: &Device) -> Decoder {
        let programs = Target::ALL.map(|_| [const { OnceLock::new() }; PROGRAMS]);
        Decoder { device: device.clone(), programs, embedded: Mutex::default() }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes of a row of texels in the output of [`Decoder::record`]: those of the texels, to a multiple of 4. Nothing if
    /// they cannot be counted.
    pub fn row_bytes(format: Format, width: u32) -> Option<usize> {
        (width as usize).checked_mul(format.texel().bytes())?.checked_next_multiple_of(4)
    }

    /// Bytes of the output of [`Decoder::record`]; nothing if they cannot be counted.
    pub fn output_bytes(format: Format, extent: Extent) -> Option<usize> {
        let rows = (extent.height as usize).checked_mul(extent.depth as usize)?;
        Decoder::row_bytes(format, extent.width)?.checked_mul(rows)
    }

    /// Puts a decoding at the end of `commands`: of the blocks at the start of `blocks`, which lie as for
    /// [`crate::decode_into`], to texels at the start of `texels`, rows of [`Decoder::row_bytes`] in slices. What fills a
    /// row behind its last texel may be anything. Nothing is put there for an extent without texels.
    ///
    /// # Errors
    /// When the format has no program, a buffer is too small, the extent is too large for the device, or the device fails.
    pub fn record(
        &self,
        commands: &mut Commands,
        format: Format,
        extent: Extent,
        blocks: &Buffer,
        texels: &Buffer,
    ) -> Result<(), Error> {
        let needed = Decoder::output_bytes(format, extent).ok_or(Error::Extent(extent))?;
        if (needed as u64) > texels.size() {
            return Err(decode::Error::Output { needed, given: texels.size() as usize }.into());
        }
        self.put(commands, format, extent, blocks, Target::Buffer, Argument::Buffer(texels.clone()))
    }

    /// What a texture for [`Decoder::record_texture`] is made of: formats that every device samples with filters, or, for
    /// components of 16 bits, singles. sRGB is for a view to say.
    pub fn texture_format(format: Format) -> TextureFormat {
        source::texture_format(format)
    }

    /// As [`Decoder::record`], to a texture of [`Decoder::texture_format`] and the extent's size; slices are layers or
    /// depth, as the texture has them. Components of 16 bits are within what the device's division leaves of their value.
    ///
    /// # Errors
    /// As [`Decoder::record`], and [`Error::Texture`] if the texture is another.
    pub fn record_texture(
        &self,
        commands: &mut Commands,
        format: Format,
        extent: Extent,
        blocks: &Buffer,
        texture: &Texture,
    ) -> Result<(), Error> {
        let Extent { width, height, depth } = extent;
        if texture.format() != Decoder::texture_format(format) || texture.size() != [width, height, depth] {
            return Err(Error::Texture { format: texture.format(), size: texture.size() });
        }
        let target = Target::Texture(texture.shape());
        self.put(commands, format, extent, blocks, target, Argument::Texture(texture.clone()))
    }

    fn put(
        &self,
        commands: &mut Commands,
        format: Format,
        extent: Extent,
        blocks: &Buffer,
        target: Target,
        texels: Argument,
    ) -> Result<(), Error> {
        let too_large = || Error::Extent(extent);
        let needed = format.data_bytes(extent).ok_or_else(too_large)?;
        if (needed as u64) > blocks.size() {
            return Err(decode::Error::Data { needed, given: blocks.size() as usize }.into());
        }
        let ready = self.program(format, target)?;
        if needed == 0 {
            return Ok(());
        }
        let (picture, groups) = picture(format, extent);
        if groups.iter().any(|&n| n > self.device.max_groups()) {
            return Err(too_large());
        }
        ready.put(&self.device, commands, (&picture, groups), blocks, texels)
    }

    /// As [`crate::decode_into`], through buffers of the device; waits for it.
    ///
    /// # Errors
    /// As [`crate::decode_into`] and [`Decoder::record`]; also when the device has no memory for the picture.
    pub fn decode_into(
        &self,
        format: Format,
        extent: Extent,
        data: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let (data, out) = decode::checked(format, extent, data, out)?;
        let Some(row) = Decoder::row_bytes(format, extent.width).filter(|_| !out.is_empty()) else {
            return Ok(());
        };
        let blocks = self.device.buffer_of(&words_of(data))?;
        let size = Decoder::output_bytes(format, extent).ok_or(Error::Extent(extent))?;
        let texels = self.device.buffer(size as u64)?;
        let mut commands = Commands::default();
        self.record(&mut commands, format, extent, &blocks, &texels)?;
        commands.submit(&self.device)?;
        let words = self.device.read(&[(&texels, 0..size as u64)])?.concat();
        let rows = bytemuck::cast_slice::<u32, u8>(&words).chunks_exact(row);
        let tight = extent.width as usize * format.texel().bytes();
        for (out, row) in out.chunks_exact_mut(tight).zip(rows) {
            out.copy_from_slice(&row[..tight]);
        }
        Ok(())
    }

    fn program(&self, format: Format, target: Target) -> Result<Ready, Error> {
        let unknown = || Error::Format(format);
        let number = program_number(format, target).ok_or_else(unknown)?;
        let compile = || {
            let (source, tables) = source::program(format, Input::Picture, target).unwrap_or_default();
            let output = match target {
                Target::Buffer => Access::ReadWrite,
                Target::Texture(shape) => {
                    Access::WriteTexture { format: source::texture_format(format), shape }
                }
            };
            Ready::new(&self.device, &source, &tables, output)
        };
        let of_target = Target::ALL.iter().zip(&self.programs).find(|(t, _)| **t == target);
        let program = of_target.and_then(|(_, programs)| programs.get(number)).ok_or_else(unknown)?;
        Ok(program.get_or_init(compile).clone()?)
    }
}

/// The number of a format's program among [`PROGRAMS`].
fn program_number(format: Format, target: Target) -> Option<usize> {
    match (format, target) {
        (Format::Astc(_, Profile::LdrFloat16 | Profile::Hdr), Target::Texture(_)) => Some(PROGRAMS - 1),
        (Format::Astc(..), _) => Some(PROGRAMS - 2),
        _ => Format::BC_ETC.iter().position(|&f| f == format),
    }
}

/// What a program is told of a picture, and its workgroups along each axis.
fn picture(format: Format, extent: Extent) -> ([u32; PICTURE_WORDS], [u32; 3]) {
    let Extent { width, height, depth } = extent;
    let pitch = width.div_ceil(source::texels_of_an_element(format));
    let footprint @ [fx, fy, fz] = format.block();
    let [bx, by, bz] = extent.blocks(footprint);
    let [sx, sy, sz] =
        footprint.map(|texels| if texels > 1 { shape::step(texels as usize) as u32 } else { 0 });
    let (profile, groups) = match format {
        Format::Astc(_, profile) => {
            let profile = Profile::ALL.iter().position(|&p| p == profile).unwrap_or(0);
            (profile as u32, [bx.div_ceil(4), by, bz])
        }
        _ => (0, [pitch.div_ceil(16), height.div_ceil(4), depth]),
    };
    let [gx, gy, gz] = groups;
    let words =
        [width, height, depth, pitch, bx, by, bz, profile, fx, fy, fz, 0, sx, sy, sz, 0, gx, gy, gz, 0];
    (words, groups)
}
