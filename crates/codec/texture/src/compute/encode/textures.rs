//! Encoding on a device of the caller's, among its own commands.

use super::{Encoder, EncoderPlan};
use crate::compute::Error;
use crate::compute::embed::other_texture;
use crate::format::{Extent, Format};
use xenoglot_host::{Buffer, Commands};

/// What rows in copies between buffers and textures begin at multiples of.
const ALIGNMENT: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// An encoding whose arguments are bound: recording it makes nothing, however often.
#[derive(Debug)]
pub struct PreparedEncoding {
    commands: Commands,
    /// Copies before and after the commands; none where buffers are encoded.
    textures: Option<Textures>,
}

/// A texture that is encoded, and what it becomes.
#[derive(Debug)]
struct Textures {
    source: wgpu::Texture,
    target: wgpu::Texture,
    levels: Vec<Level>,
}

/// Where a level lies on its way.
#[derive(Debug)]
struct Level {
    extent: Extent,
    texels: Buffer,
    blocks: Buffer,
    /// Bytes from a row of texels to the next, and from one of blocks.
    rows: (u32, u32),
}

impl PreparedEncoding {
    /// Records the encoding: a compute pass, and for textures copies of each level before and after it.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let Some(Textures { source, target, levels }) = &self.textures else {
            return self.commands.record(encoder);
        };
        for (number, level) in (0..).zip(levels) {
            let (from, to) = (place(source, number), level.buffer(&level.texels, level.rows.0, 1));
            encoder.copy_texture_to_buffer(from, to, level.size(1));
        }
        self.commands.record(encoder);
        for (number, level) in (0..).zip(levels) {
            let (from, to) = (level.buffer(&level.blocks, level.rows.1, 4), place(target, number));
            encoder.copy_buffer_to_texture(from, to, level.size(4));
        }
    }
}

impl Level {
    /// A buffer as one side of a copy, of blocks with `side` texels along a side.
    fn buffer<'a>(&self, buffer: &'a Buffer, row: u32, side: u32) -> wgpu::TexelCopyBufferInfo<'a> {
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: Some(self.extent.height.div_ceil(side)),
        };
        wgpu::TexelCopyBufferInfo { buffer: buffer.wgpu(), layout }
    }

    /// Texels that are copied: those of whole blocks.
    fn size(&self, side: u32) -> wgpu::Extent3d {
        wgpu::Extent3d {
            width: self.extent.width.next_multiple_of(side),
            height: self.extent.height.next_multiple_of(side),
            depth_or_array_layers: self.extent.depth,
        }
    }
}

fn place(texture: &wgpu::Texture, mip_level: u32) -> wgpu::TexelCopyTextureInfo<'_> {
    wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() }
}

impl Encoder {
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
        Ok(PreparedEncoding { commands, textures: None })
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
        Ok(PreparedEncoding { commands, textures: None })
    }

    /// As [`Encoder::prepare`] from a texture to a compressed one, such as one that was rendered to one that is sampled: all levels of
    /// `target`, with their layers or slices. Texels and blocks go through buffers that are made here.
    ///
    /// `source` has the usage `COPY_SRC`, is of `Rgba8Unorm`, `Rgba8UnormSrgb` or `Rgba8Uint`, for BC6H of `Rgba16Float` or
    /// `Rgba16Uint`, and has at least the levels of `target`. `target` has the usage `COPY_DST`, the same size and dimension, and is
    /// of the format, sRGB or not: bytes are encoded as they are stored. That of [`Format::Bc1Rgb`] is `Bc1RgbaUnorm`.
    ///
    /// # Errors
    /// [`Error::Encoder`] if the format has no encoder, [`Error::WgpuTexture`] if a texture is another, [`Error::Extent`] if a level
    /// has more texels than programs count, [`Error::Host`] if the device has no buffers for it, or refuses.
    pub fn prepare_texture(
        &self,
        format: Format,
        source: &wgpu::Texture,
        target: &wgpu::Texture,
    ) -> Result<PreparedEncoding, Error> {
        let ready = self.program(format)?;
        check_source(format, source, target)?;
        check_target(format, target)?;
        let mut commands = Commands::default();
        let mut levels = Vec::new();
        for number in 0..target.mip_level_count() {
            let size = source.size().mip_level_size(number, source.dimension());
            let extent = Extent { width: size.width, height: size.height, depth: size.depth_or_array_layers };
            let too_large = || Error::Extent(extent);
            let rows = EncoderPlan::rows(format, extent.width, ALIGNMENT).ok_or_else(too_large)?;
            let most = self.device().max_groups();
            let plan = EncoderPlan::padded(format, extent, ALIGNMENT, most).ok_or_else(too_large)?;
            let texels = self.device().buffer(plan.texel_bytes)?;
            let blocks = self.device().buffer(plan.block_bytes)?;
            self.put(&mut commands, &ready, &plan, &texels, &blocks)?;
            levels.push(Level { extent, texels, blocks, rows });
        }
        let textures = Textures { source: source.clone(), target: target.clone(), levels };
        Ok(PreparedEncoding { commands, textures: Some(textures) })
    }
}

fn check_source(format: Format, source: &wgpu::Texture, target: &wgpu::Texture) -> Result<(), Error> {
    use wgpu::TextureFormat as F;
    let formats: &[F] = match format {
        Format::Bc6hUfloat | Format::Bc6hSfloat => &[F::Rgba16Float, F::Rgba16Uint],
        _ => &[F::Rgba8Unorm, F::Rgba8UnormSrgb, F::Rgba8Uint],
    };
    let is_right = formats.contains(&source.format())
        && source.usage().contains(wgpu::TextureUsages::COPY_SRC)
        && source.sample_count() == 1
        && source.size() == target.size()
        && source.dimension() == target.dimension()
        && source.mip_level_count() >= target.mip_level_count();
    if is_right { Ok(()) } else { Err(other_texture(source)) }
}

fn check_target(format: Format, target: &wgpu::Texture) -> Result<(), Error> {
    use wgpu::TextureFormat as F;
    let formats: &[F] = match format {
        Format::Bc1Rgb => &[F::Bc1RgbaUnorm, F::Bc1RgbaUnormSrgb],
        Format::Bc3 => &[F::Bc3RgbaUnorm, F::Bc3RgbaUnormSrgb],
        Format::Bc4Unorm => &[F::Bc4RUnorm],
        Format::Bc5Unorm => &[F::Bc5RgUnorm],
        Format::Bc6hUfloat => &[F::Bc6hRgbUfloat],
        Format::Bc6hSfloat => &[F::Bc6hRgbFloat],
        Format::Bc7 => &[F::Bc7RgbaUnorm, F::Bc7RgbaUnormSrgb],
        _ => &[],
    };
    let is_right =
        formats.contains(&target.format()) && target.usage().contains(wgpu::TextureUsages::COPY_DST);
    if is_right { Ok(()) } else { Err(other_texture(target)) }
}
