//! What an application with a wgpu device of its own does: an array of BC7 with all its levels becomes a texture that shaders sample,
//! in the application's encoder.
//!
//! `cargo run -p xenoglot-texture --features compute --example embed_wgpu`

use std::error::Error;
use std::sync::mpsc;
use xenoglot_texture::compute::{BlockSource, Blocks, Decoder};
use xenoglot_texture::{Extent, Format, decode_into};

/// A device of the first adapter; nothing if there is none.
pub fn open() -> Option<(wgpu::Device, wgpu::Queue)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.into_iter().next()?;
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).ok()
}

/// A texture that is copied to and sampled.
pub fn texture(
    device: &wgpu::Device,
    blocks: &Blocks,
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    let Extent { width, height, depth } = blocks.extent;
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: depth },
        mip_level_count: blocks.levels,
        sample_count: 1,
        dimension: if blocks.volume { wgpu::TextureDimension::D3 } else { wgpu::TextureDimension::D2 },
        format,
        usage: usage | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// A buffer with these bytes.
pub fn buffer(device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8]) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len().next_multiple_of(4) as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}

/// A level of a texture, rows without gaps.
pub fn read_level(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    texture: &wgpu::Texture,
    level: u32,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let size = texture.size().mip_level_size(level, texture.dimension());
    let row = size.width * texture.format().block_copy_size(None).unwrap_or(0);
    let pitch = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(pitch) * u64::from(size.height) * u64::from(size.depth_or_array_layers),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo { mip_level: level, ..texture.as_image_copy() },
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(pitch),
                rows_per_image: Some(size.height),
            },
        },
        size,
    );
    queue.submit([encoder.finish()]);
    let (send, receive) = mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |done| {
        let _ = send.send(done);
    });
    device.poll(wgpu::PollType::Wait { submission_index: None, timeout: None })?;
    receive.recv()??;
    let bytes = buffer.get_mapped_range(..)?;
    Ok(bytes.chunks_exact(pitch as usize).flat_map(|line| &line[..row as usize]).copied().collect())
}

/// Decodes an array of four layers and six levels with the GPU and the CPU; nothing without a GPU.
pub fn run() -> Result<Option<usize>, Box<dyn Error>> {
    let Some((device, queue)) = open() else { return Ok(None) };
    let blocks = Blocks {
        format: Format::Bc7,
        extent: Extent { width: 100, height: 60, depth: 4 },
        levels: 6,
        volume: false,
    };
    // Once: programs are compiled and arguments bound.
    let decoder = Decoder::from_wgpu(&device, &queue);
    let usage = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::TEXTURE_BINDING;
    let target = texture(&device, &blocks, wgpu::TextureFormat::Rgba8UnormSrgb, usage);
    let data: Vec<u8> = (0..60_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let source = buffer(&device, &queue, &data);
    let decoding = decoder.prepare(&blocks, BlockSource::Buffer(&source, 0), &target)?;

    // Each time that blocks have changed: among other commands, with nothing to wait for.
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    decoding.record(&mut encoder);
    queue.submit([encoder.finish()]);

    let mut texels = 0;
    for (number, level) in (0..).zip(&decoding.plan().levels) {
        let mut expected = vec![0; blocks.format.output_bytes(level.extent).ok_or("too large")?];
        decode_into(blocks.format, level.extent, &data[level.blocks as usize..], &mut expected)?;
        if read_level(&device, &queue, &target, number)? != expected {
            return Err(format!("level {number} is another").into());
        }
        texels += expected.len() / 4;
    }
    Ok(Some(texels))
}

#[allow(dead_code)]
fn main() -> Result<(), Box<dyn Error>> {
    match run()? {
        Some(texels) => println!("{texels} texels as on the CPU"),
        None => println!("there is no GPU"),
    }
    Ok(())
}
