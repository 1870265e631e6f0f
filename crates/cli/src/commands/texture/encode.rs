//! Pictures and textures as blocks of another format, in KTX 2.

use super::shown::Budget;
use crate::batch::Artifact;
use crate::engine::EngineName;
use crate::picture::Picture;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::borrow::Cow;
use xenoglot_texture::container::{Image, Limits, Texture, Transfer, write_ktx2};
use xenoglot_texture::{Extent, Format, Quality, Texel, transcode_into_parallel};

/// Formats that are encoded.
#[derive(Clone, Copy, ValueEnum)]
pub enum To {
    /// Opaque, four bits a texel.
    Bc1,
    /// The same with one bit of alpha.
    Bc1Alpha,
    /// Colours of BC1, and alpha.
    Bc3,
    /// One component, red.
    Bc4,
    /// Two components, red and green.
    Bc5,
    /// Colours of halves that are not negative, eight bits a texel; of textures of halves alone.
    Bc6h,
    /// The same with signs.
    Bc6hSigned,
    /// Eight bits a texel, with alpha.
    Bc7,
    /// Opaque, four bits a texel; written as ETC2, which has the same blocks.
    Etc1,
    /// Opaque, four bits a texel.
    Etc2,
    /// The same with alpha of EAC.
    Etc2Alpha,
    /// One component, red, of 11 bits.
    EacR,
    /// Two components, red and green.
    EacRg,
}

impl To {
    const fn format(self) -> Format {
        match self {
            To::Bc1 => Format::Bc1Rgb,
            To::Bc1Alpha => Format::Bc1,
            To::Bc3 => Format::Bc3,
            To::Bc4 => Format::Bc4Unorm,
            To::Bc5 => Format::Bc5Unorm,
            To::Bc6h => Format::Bc6hUfloat,
            To::Bc6hSigned => Format::Bc6hSfloat,
            To::Bc7 => Format::Bc7,
            To::Etc1 => Format::Etc1,
            To::Etc2 => Format::Etc2Rgb,
            To::Etc2Alpha => Format::Etc2Rgba8,
            To::EacR => Format::EacR11Unorm,
            To::EacRg => Format::EacRg11Unorm,
        }
    }

    /// The format of the file, and how its texels are meant.
    fn stored(self, transfer: Transfer) -> (Format, Transfer) {
        match self {
            To::Etc1 => (Format::Etc2Rgb, transfer),
            // There is no sRGB of these.
            To::Bc4 | To::Bc5 | To::Bc6h | To::Bc6hSigned | To::EacR | To::EacRg => {
                (self.format(), Transfer::Linear)
            }
            _ => (self.format(), transfer),
        }
    }
}

/// How long is searched.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Effort {
    /// Faster for BC1 and BC3; for others as fast.
    Fastest,
    /// As fast as a frame wants it.
    Fast,
    /// What costs little and helps much.
    #[default]
    Normal,
    /// Best, and slowest.
    High,
}

impl Effort {
    const fn quality(self) -> Quality {
        match self {
            Effort::Fastest => Quality::Fastest,
            Effort::Fast => Quality::Fast,
            Effort::Normal => Quality::Normal,
            Effort::High => Quality::High,
        }
    }
}

/// Encodes as [`transcode_into_parallel`] does.
pub type Engine = dyn Fn(Format, Extent, &[u8], Format, &mut [u8]) -> Result<()> + Sync;

/// What encodes. On the GPU the search is always the fast one.
pub fn open(engine: EngineName, effort: Effort) -> Result<Box<Engine>> {
    Ok(match engine {
        EngineName::Cpu => {
            let quality = effort.quality();
            Box::new(move |from, extent, data, to, out| {
                Ok(transcode_into_parallel(from, extent, data, to, quality, out)?)
            })
        }
        #[cfg(feature = "gpu")]
        EngineName::Compute => {
            let encoder = xenoglot_texture::compute::Encoder::new(&crate::engine::device()?);
            Box::new(move |from, extent, data, to, out| {
                Ok(encoder.transcode_into(from, extent, data, to, out)?)
            })
        }
    })
}

/// A picture as a texture of one image.
pub fn picture(engine: &Engine, picture: &Picture, to: To) -> Result<Artifact> {
    let extent = Extent::flat(picture.width, picture.height);
    let format = to.format();
    if format.encoder_texel() != Some(Texel::Rgba8) {
        bail!("{format} is made of textures whose texels are halves; those of pictures are bytes");
    }
    let mut blocks = vec![0; format.data_bytes(extent).context("the picture is too large")?];
    engine(Format::Plain(Texel::Rgba8), extent, &picture.rgba, format, &mut blocks)?;
    let (stored, transfer) = to.stored(Transfer::Srgb);
    let mut texture = Texture::new(stored, extent);
    texture.transfer = transfer;
    texture.images.push(Image { level: 0, layer: 0, face: 0, extent, data: Cow::Owned(blocks) });
    artifact(&texture)
}

/// A texture with all its images.
pub fn texture(engine: &Engine, texture: &Texture<'_>, to: To, limits: &Limits) -> Result<Artifact> {
    let mut budget = Budget::new(limits, texture);
    let format = to.format();
    let (stored, transfer) = to.stored(texture.transfer);
    let mut images = Vec::with_capacity(texture.images.len());
    for image in &texture.images {
        let bytes = format.data_bytes(image.extent).context("the picture is too large")?;
        // The file has all blocks once more.
        budget.take(bytes.saturating_mul(2))?;
        let mut blocks = vec![0; bytes];
        engine(texture.format, image.extent, &image.data, format, &mut blocks)?;
        images.push(Image { data: Cow::Owned(blocks), ..*image });
    }
    if images.is_empty() {
        bail!("there are no images");
    }
    let mut encoded = texture.with_images(stored, images);
    encoded.transfer = transfer;
    encoded.channels = stored.channels();
    artifact(&encoded)
}

fn artifact(texture: &Texture<'_>) -> Result<Artifact> {
    let Extent { width, height, .. } = texture.extent;
    let artifact = Artifact::bytes(".ktx2", write_ktx2(texture)?);
    Ok(artifact.fact("format", texture.format.to_string()).fact("width", width).fact("height", height))
}
