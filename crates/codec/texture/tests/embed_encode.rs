//! Encoding on devices of the application's: by buffers, by textures, and with programs and plans of its own.

use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_texture::compute::{Encoder, EncoderPlan, Error, Resource, encoder_shader};
use xenoglot_texture::{Extent, Format, Texel, decode_into};

/// A device of the first adapter, with BC if it has that; nothing if there is none.
fn open() -> Option<(wgpu::Device, wgpu::Queue)> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.into_iter().next()?;
    let required_features = adapter.features() & wgpu::Features::TEXTURE_COMPRESSION_BC;
    let descriptor = wgpu::DeviceDescriptor { required_features, ..Default::default() };
    pollster::block_on(adapter.request_device(&descriptor)).ok()
}

fn buffer(device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8]) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let size = bytes.len() as u64;
    let buffer =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}

fn read(encoder: &Encoder, buffer: &wgpu::Buffer) -> Vec<u8> {
    let buffer = xenoglot_host::Buffer::from_wgpu(buffer);
    let words = encoder.device().read(&[(&buffer, 0..buffer.size())]).unwrap().concat();
    bytemuck::cast_slice(&words).to_vec()
}

fn random(rng: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.next_u32() as u8).collect()
}

fn encoded(encoder: &Encoder, format: Format, extent: Extent, texels: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.data_bytes(extent).unwrap()];
    encoder.encode_into(format, extent, texels, &mut out).unwrap();
    out
}

#[test]
fn buffers() {
    let Some((device, queue)) = open() else { return skip("no device") };
    let encoder = Encoder::from_wgpu(&device, &queue);
    let extent = Extent::flat(62, 35);
    let mut rng = property::rng(45);
    let from = Format::Etc2Rgba8;
    let data = random(&mut rng, from.data_bytes(extent).unwrap());
    let of_zeros = |bytes: usize| buffer(&device, &queue, &vec![0; bytes]);
    let blocks = [0; 2].map(|_| of_zeros(Format::Bc7.data_bytes(extent).unwrap()));
    let texels = of_zeros(from.output_bytes(extent).unwrap());
    let encoding = encoder.prepare(Format::Bc7, extent, &texels, &blocks[0]).unwrap();
    let source = buffer(&device, &queue, &data);
    let transcoding = encoder.prepare_transcode(from, extent, &source, Format::Bc7, &blocks[1]).unwrap();
    // What has changed is encoded the second time.
    for _ in 0..2 {
        let picture = random(&mut rng, from.output_bytes(extent).unwrap());
        queue.write_buffer(&texels, 0, &picture);
        let mut commands = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoding.record(&mut commands);
        transcoding.record(&mut commands);
        queue.submit([commands.finish()]);
        let mut decoded = vec![0; picture.len()];
        decode_into(from, extent, &data, &mut decoded).unwrap();
        for (blocks, texels) in blocks.iter().zip([picture, decoded]) {
            assert!(read(&encoder, blocks) == encoded(&encoder, Format::Bc7, extent, &texels));
        }
    }
    let no_storage = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 1 << 16,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let refused = encoder.prepare(Format::Bc7, extent, &no_storage, &blocks[0]);
    assert!(matches!(refused, Err(Error::Host(_))), "{refused:?}");
}

fn texture(
    device: &wgpu::Device,
    [width, height, layers]: [u32; 3],
    mip_level_count: u32,
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: layers },
        mip_level_count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// The blocks of a level, rows without gaps.
fn read_blocks(encoder: &Encoder, texture: &wgpu::Texture, mip_level: u32, extent: Extent) -> Vec<u8> {
    let (device, queue) = encoder.device().wgpu();
    let block = texture.format().block_copy_size(None).unwrap();
    let [across, down, layers] = [extent.width.div_ceil(4), extent.height.div_ceil(4), extent.depth];
    let pitch = (across * block).next_multiple_of(256);
    let to = buffer(device, queue, &vec![0; (pitch * down * layers) as usize]);
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: Some(down) };
    let mut commands = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    commands.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() },
        wgpu::TexelCopyBufferInfo { buffer: &to, layout },
        wgpu::Extent3d { width: 4 * across, height: 4 * down, depth_or_array_layers: layers },
    );
    queue.submit([commands.finish()]);
    let rows = read(encoder, &to);
    rows.chunks_exact(pitch as usize).flat_map(|row| &row[..(across * block) as usize]).copied().collect()
}

/// Textures of several levels and layers become compressed ones.
#[test]
fn textures() {
    let Some((device, queue)) = open() else { return skip("no device") };
    if !device.features().contains(wgpu::Features::TEXTURE_COMPRESSION_BC) {
        return skip("the device has no textures of BC");
    }
    let encoder = Encoder::from_wgpu(&device, &queue);
    let mut rng = property::rng(46);
    let size @ [width, height, depth] = [84, 44, 3];
    for (format, of_texels, of_blocks) in [
        (Format::Bc1Rgb, wgpu::TextureFormat::Rgba8Unorm, wgpu::TextureFormat::Bc1RgbaUnorm),
        (Format::Bc5Unorm, wgpu::TextureFormat::Rgba8Unorm, wgpu::TextureFormat::Bc5RgUnorm),
        (Format::Bc7, wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::Bc7RgbaUnormSrgb),
        (Format::Bc6hUfloat, wgpu::TextureFormat::Rgba16Float, wgpu::TextureFormat::Bc6hRgbUfloat),
    ] {
        let (source, target) = (texture(&device, size, 5, of_texels), texture(&device, size, 4, of_blocks));
        let level = |n: u32| Extent { width: (width >> n).max(1), height: (height >> n).max(1), depth };
        let bytes = format.encoder_texel().unwrap().bytes() as u32;
        let mut pictures = Vec::new();
        for mip_level in 0..4 {
            let Extent { width, height, .. } = level(mip_level);
            // Halves whose exponents are not the highest.
            let picture: Vec<u8> = random(&mut rng, (width * height * depth * bytes) as usize)
                .iter()
                .map(|byte| byte & 0x3f)
                .collect();
            queue.write_texture(
                wgpu::TexelCopyTextureInfo { mip_level, ..source.as_image_copy() },
                &picture,
                wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(width * bytes),
                    rows_per_image: Some(height),
                },
                wgpu::Extent3d { width, height, depth_or_array_layers: depth },
            );
            pictures.push(picture);
        }
        let encoding = encoder.prepare_texture(format, &source, &target).unwrap();
        let mut commands = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoding.record(&mut commands);
        queue.submit([commands.finish()]);
        for (n, picture) in (0..).zip(&pictures) {
            let found = read_blocks(&encoder, &target, n, level(n));
            assert!(found == encoded(&encoder, format, level(n), picture), "{format} level {n}");
        }
    }
    let of_bc7 = texture(&device, size, 2, wgpu::TextureFormat::Bc7RgbaUnorm);
    for (size, levels, format) in [
        (size, 1, wgpu::TextureFormat::Rgba8Unorm),
        (size, 2, wgpu::TextureFormat::Rgba16Float),
        ([84, 40, 3], 2, wgpu::TextureFormat::Rgba8Unorm),
    ] {
        let other = texture(&device, size, levels, format);
        let refused = encoder.prepare_texture(Format::Bc7, &other, &of_bc7);
        assert!(matches!(refused, Err(Error::WgpuTexture { .. })), "{refused:?}");
    }
    let right = texture(&device, size, 2, wgpu::TextureFormat::Rgba8Unorm);
    let refused = encoder.prepare_texture(Format::Bc3, &right, &of_bc7);
    assert!(matches!(refused, Err(Error::WgpuTexture { .. })), "{refused:?}");
    let refused = encoder.prepare_texture(Format::Etc1, &right, &of_bc7);
    assert!(matches!(refused, Err(Error::Encoder(Format::Etc1))), "{refused:?}");
}

/// Every format has a program in SPIR-V 1.0; plans of any size are none or hold together.
#[test]
fn shaders_and_plans() {
    for format in Format::compressed().chain([Format::Plain(Texel::Rgba8)]) {
        let program = encoder_shader(format);
        assert_eq!(program.is_ok(), Encoder::FORMATS.contains(&format), "{format}");
        if let Ok(program) = program {
            assert_eq!(program.spirv[..2], [0x0723_0203, 0x0001_0000]);
            assert_eq!(program.bindings[0], Resource::Uniform { bytes: 80 });
        }
    }
    let mut rng = property::rng(47);
    for _ in 0..1000 {
        let mut side = || rng.next_u32() >> rng.below(33).min(31);
        let extent = Extent { width: side(), height: side(), depth: side() };
        for format in Encoder::FORMATS {
            let Some(plan) = EncoderPlan::new(format, extent, 65_535) else { continue };
            assert!(plan.groups.iter().all(|&groups| (1..=65_535).contains(&groups)));
            let texel = Format::Plain(format.encoder_texel().unwrap());
            assert_eq!(Some(plan.texel_bytes as usize), texel.data_bytes(extent));
            assert_eq!(Some(plan.block_bytes as usize), format.data_bytes(extent));
            let invocations = plan.groups.iter().map(|&n| u64::from(n)).product::<u64>() * 64;
            assert!(invocations >= plan.block_bytes / format.block_bytes() as u64);
            assert!(u32::try_from(invocations).is_ok());
        }
    }
}
