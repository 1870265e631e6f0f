//! ASTC, BC, ETC and EAC on the host's GPU, bit for bit as on the CPU.
//!
//! A [`Decoder`] is for a device. [`Decoder::record`] puts the decoding of a picture among other commands: blocks and
//! texels are buffers of the device, and nobody waits. [`Decoder::decode_into`] takes blocks there and brings texels back.
//!
//! All arithmetic is of integers, and the tables are those of the CPU's decoders, in a storage buffer.

mod source;
mod tables;

use crate::astc::shape;
use crate::decode;
use crate::format::{Extent, Format, Profile};
use std::sync::OnceLock;
use thiserror::Error;
use xenoglot_host::{
    Access, Arguments, Binding, Buffer, Commands, Device, Error as HostError, Layout, Program,
};

/// Programs: one for each of [`Format::BC_ETC`], and one for ASTC.
const PROGRAMS: usize = Format::BC_ETC.len() + 1;

/// Why nothing was decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// There is no program for a format: for the PICA200's, and for plain texels.
    #[error("{0} is not decoded on GPUs")]
    Format(Format),
    /// Sizes that do not fit each other.
    #[error(transparent)]
    Size(#[from] decode::Error),
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
    layout: Layout,
    programs: [OnceLock<Result<Ready, HostError>>; PROGRAMS],
}

/// A program and its tables.
#[derive(Clone)]
struct Ready {
    program: Program,
    tables: Buffer,
}

/// Words of `Picture` in `wgsl/common.wgsl`.
const PICTURE_WORDS: usize = 16;

impl Decoder {
    /// Decoders on a device.
    pub fn new(device: &Device) -> Decoder {
        let bindings = [
            Binding::new(0, Access::Uniform { size: 4 * PICTURE_WORDS as u32 }),
            Binding::new(1, Access::Read),
            Binding::new(2, Access::Read),
            Binding::new(3, Access::ReadWrite),
        ];
        let layout = device.layout(&bindings);
        Decoder { device: device.clone(), layout, programs: [const { OnceLock::new() }; PROGRAMS] }
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
        let too_large = || Error::Extent(extent);
        let needed = format.data_bytes(extent).ok_or_else(too_large)?;
        if (needed as u64) > blocks.size() {
            return Err(decode::Error::Data { needed, given: blocks.size() as usize }.into());
        }
        let needed = Decoder::output_bytes(format, extent).ok_or_else(too_large)?;
        if (needed as u64) > texels.size() {
            return Err(decode::Error::Output { needed, given: texels.size() as usize }.into());
        }
        let Ready { program, tables } = self.program(format)?;
        if needed == 0 {
            return Ok(());
        }
        let (picture, groups) = picture(format, extent);
        if groups.iter().any(|&n| n > self.device.max_groups()) {
            return Err(too_large());
        }
        let uniform = self.device.buffer_of(&picture)?;
        let arguments = Arguments::new(&self.device, &self.layout, &[&uniform, &tables, blocks, texels])?;
        commands.dispatch(&program, &arguments, &[0], groups);
        Ok(())
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
        let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let blocks = self.device.buffer_of(&words)?;
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

    fn program(&self, format: Format) -> Result<Ready, Error> {
        let unknown = || Error::Format(format);
        let number = match format {
            Format::Astc(..) => Format::BC_ETC.len(),
            _ => Format::BC_ETC.iter().position(|&f| f == format).ok_or_else(unknown)?,
        };
        let compile = || {
            let (source, tables) = source::program(format).unwrap_or_default();
            let program = self.device.wgsl_program(&self.layout, &source, "main")?;
            Ok(Ready { program, tables: self.device.buffer_of(&tables)? })
        };
        Ok(self.programs.get(number).ok_or_else(unknown)?.get_or_init(compile).clone()?)
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
    ([width, height, depth, pitch, bx, by, bz, profile, fx, fy, fz, 0, sx, sy, sz, 0], groups)
}
