//! Textures that programs write, and reading them back.

use crate::{Device, Error};
use serde::{Deserialize, Serialize};

/// What rows of a copy start at multiples of, in bytes: WebGPU's rule.
const ROW_ALIGNMENT: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// Texels of a texture: formats that programs may write on every device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TextureFormat {
    /// Four bytes, 0..=1. Views may take them for sRGB.
    Rgba8Unorm,
    /// Four halves.
    Rgba16Float,
    /// A single.
    R32Float,
    /// Two singles.
    Rg32Float,
}

impl TextureFormat {
    /// Bytes of a texel.
    pub fn bytes(self) -> u32 {
        match self {
            TextureFormat::Rgba8Unorm | TextureFormat::R32Float => 4,
            TextureFormat::Rgba16Float | TextureFormat::Rg32Float => 8,
        }
    }

    /// Its name in WGSL.
    pub fn wgsl(self) -> &'static str {
        match self {
            TextureFormat::Rgba8Unorm => "rgba8unorm",
            TextureFormat::Rgba16Float => "rgba16float",
            TextureFormat::R32Float => "r32float",
            TextureFormat::Rg32Float => "rg32float",
        }
    }

    /// What wgpu calls it.
    pub fn wgpu(self) -> wgpu::TextureFormat {
        match self {
            TextureFormat::Rgba8Unorm => wgpu::TextureFormat::Rgba8Unorm,
            TextureFormat::Rgba16Float => wgpu::TextureFormat::Rgba16Float,
            TextureFormat::R32Float => wgpu::TextureFormat::R32Float,
            TextureFormat::Rg32Float => wgpu::TextureFormat::Rg32Float,
        }
    }
}

/// What the third axis of a texture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TextureShape {
    /// Layers of an array, `texture_storage_2d_array` in WGSL.
    Layers,
    /// Depth, `texture_storage_3d`.
    Volume,
}

impl TextureShape {
    pub(crate) fn raw(self) -> wgpu::TextureViewDimension {
        match self {
            TextureShape::Layers => wgpu::TextureViewDimension::D2Array,
            TextureShape::Volume => wgpu::TextureViewDimension::D3,
        }
    }
}

/// A texture of the device, one level. Clones are the same memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Texture {
    pub(crate) raw: wgpu::Texture,
    format: TextureFormat,
    shape: TextureShape,
}

impl Texture {
    /// Its texels.
    pub fn format(&self) -> TextureFormat {
        self.format
    }

    /// Its shape.
    pub fn shape(&self) -> TextureShape {
        self.shape
    }

    /// Texels along each axis.
    pub fn size(&self) -> [u32; 3] {
        [self.raw.width(), self.raw.height(), self.raw.depth_or_array_layers()]
    }

    /// What wgpu has, to sample from.
    pub fn wgpu(&self) -> &wgpu::Texture {
        &self.raw
    }

    pub(crate) fn view(&self) -> wgpu::TextureView {
        let dimension = Some(self.shape.raw());
        self.raw.create_view(&wgpu::TextureViewDescriptor { dimension, ..Default::default() })
    }
}

impl Device {
    /// A texture of `size` texels, all 0, that programs may write and sample.
    ///
    /// # Errors
    /// [`Error::Texture`] if it is too large for the device, or has no texels.
    pub fn texture(
        &self,
        format: TextureFormat,
        shape: TextureShape,
        size: [u32; 3],
    ) -> Result<Texture, Error> {
        let [width, height, depth_or_array_layers] = size;
        let views: &[_] = match format {
            TextureFormat::Rgba8Unorm => &[wgpu::TextureFormat::Rgba8UnormSrgb],
            _ => &[],
        };
        let descriptor = wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers },
            mip_level_count: 1,
            sample_count: 1,
            dimension: match shape {
                TextureShape::Layers => wgpu::TextureDimension::D2,
                TextureShape::Volume => wgpu::TextureDimension::D3,
            },
            format: format.wgpu(),
            usage: wgpu::TextureUsages::STORAGE_BINDING
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC,
            view_formats: views,
        };
        let refused = |reason: String| Error::Texture { size, reason };
        let raw = self.attempt(|| self.raw.create_texture(&descriptor)).map_err(refused)?;
        Ok(Texture { raw, format, shape })
    }

    /// Waits for the device and reads a texture: rows without gaps, in slices.
    ///
    /// # Errors
    /// As [`Device::read`].
    pub fn read_texture(&self, texture: &Texture) -> Result<Vec<u8>, Error> {
        let [width, height, depth] = texture.size();
        let row = width * texture.format.bytes();
        let pitch = row.next_multiple_of(ROW_ALIGNMENT);
        let bytes = u64::from(pitch) * u64::from(height) * u64::from(depth);
        let buffer = self.buffer(bytes)?;
        let copied = self.attempt(|| {
            let mut encoder = self.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(pitch),
                rows_per_image: Some(height),
            };
            let to = wgpu::TexelCopyBufferInfo { buffer: &buffer.raw, layout };
            encoder.copy_texture_to_buffer(texture.raw.as_image_copy(), to, texture.raw.size());
            self.queue.submit([encoder.finish()]);
        });
        copied.map_err(Error::Arguments)?;
        let words = self.read(&[(&buffer, 0..bytes)])?.concat();
        let rows = bytemuck::cast_slice::<u32, u8>(&words).chunks_exact(pitch as usize);
        Ok(rows.flat_map(|whole| &whole[..row as usize]).copied().collect())
    }
}
