//! Decoding on devices of the application's: the examples, and all formats by all ways there are.

#[path = "../examples/embed_ash.rs"]
mod embed_ash;
#[path = "../examples/embed_wgpu.rs"]
mod embed_wgpu;

use embed_wgpu::{buffer, open, read_level, texture};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_texture::compute::{BlockSource, Blocks, Decoder, Error, PLAN_WORDS, Plan, shader};
use xenoglot_texture::{Extent, Format, Profile, Texel, decode_into};

/// All of BC, ETC and EAC; of ASTC some footprints in all profiles.
fn formats() -> Vec<Format> {
    let some = |format: &Format| match format {
        Format::Astc(footprint, _) => {
            matches!(footprint.size(), [4, 4, 1] | [8, 5, 1] | [12, 12, 1] | [3, 3, 3] | [6, 5, 5])
        }
        format => format.has_program(),
    };
    Format::compressed().filter(some).collect()
}

fn copied(format: Format) -> wgpu::TextureFormat {
    match format.texel() {
        Texel::R16Unorm => wgpu::TextureFormat::R16Uint,
        Texel::R16Snorm => wgpu::TextureFormat::R16Sint,
        Texel::Rg16Unorm => wgpu::TextureFormat::Rg16Uint,
        Texel::Rg16Snorm => wgpu::TextureFormat::Rg16Sint,
        Texel::Rgba16Float => wgpu::TextureFormat::Rgba16Uint,
        _ => wgpu::TextureFormat::Rgba8Uint,
    }
}

fn random(rng: &mut Rng, count: u64) -> Vec<u8> {
    (0..count).map(|_| rng.next_u32() as u8).collect()
}

fn expected(blocks: &Blocks, plan: &Plan, data: &[u8]) -> Vec<Vec<u8>> {
    let decode = |level: &xenoglot_texture::compute::Level| {
        let mut out = vec![0; blocks.format.output_bytes(level.extent).unwrap()];
        decode_into(blocks.format, level.extent, &data[level.blocks as usize..], &mut out).unwrap();
        out
    };
    plan.levels.iter().map(decode).collect()
}

#[test]
fn the_wgpu_example() {
    match embed_wgpu::run().unwrap() {
        Some(texels) => assert!(texels > 0),
        None => skip("no device"),
    }
}

#[test]
fn the_ash_example() {
    match embed_ash::run().unwrap() {
        Some(texels) => assert!(texels > 0),
        None => skip("no Vulkan device"),
    }
}

/// Layers and levels, or volumes, from buffers, copied to textures.
#[test]
fn levels_and_layers_of_all_formats() {
    let Some((device, queue)) = open() else { return skip("no device") };
    let decoder = Decoder::from_wgpu(&device, &queue);
    let mut rng = property::rng(31);
    for format in formats() {
        for (extent, levels, volume) in [([37, 22, 3], 5, false), ([13, 29, 7], 4, true)] {
            let [width, height, depth] = extent;
            let blocks = Blocks { format, extent: Extent { width, height, depth }, levels, volume };
            let Some(plan) = Plan::new(&blocks, 65_535) else {
                assert!(format.block()[2] > 1 && !volume);
                continue;
            };
            let data = random(&mut rng, plan.block_bytes);
            // Blocks begin behind something else.
            let source = buffer(&device, &queue, &[vec![0xaa; 256], data.clone()].concat());
            let target = texture(&device, &blocks, copied(format), wgpu::TextureUsages::COPY_DST);
            let decoding = decoder.prepare(&blocks, BlockSource::Buffer(&source, 256), &target).unwrap();
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            decoding.record(&mut encoder);
            queue.submit([encoder.finish()]);
            for (level, expected) in (0..).zip(expected(&blocks, &plan, &data)) {
                let got = read_level(&device, &queue, &target, level).unwrap();
                assert!(got == expected, "{format} {extent:?} level {level}");
            }
        }
    }
}

/// Blocks in a texture of integers; and a texture that programs write.
#[test]
fn textures_in_and_out() {
    let Some((device, queue)) = open() else { return skip("no device") };
    let decoder = Decoder::from_wgpu(&device, &queue);
    let mut rng = property::rng(32);
    for format in [Format::Bc1, Format::Bc3, Format::Bc7, Format::Etc2Rgb, Format::EacRg11Unorm] {
        // Halves of these sizes are whole blocks.
        let extent = Extent { width: 64, height: 32, depth: 2 };
        let blocks = Blocks { format, extent, levels: 3, volume: false };
        let plan = Plan::new(&blocks, 65_535).unwrap();
        let data = random(&mut rng, plan.block_bytes);
        let of_blocks = match format.block_bytes() {
            8 => wgpu::TextureFormat::Rg32Uint,
            _ => wgpu::TextureFormat::Rgba32Uint,
        };
        let shape = Blocks { extent: Extent { width: 16, height: 8, depth: 2 }, ..blocks };
        let usage = wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::TEXTURE_BINDING;
        let source = texture(&device, &shape, of_blocks, usage);
        for (mip_level, level) in (0..).zip(&plan.levels) {
            let [width, height, depth_or_array_layers] = level.extent.blocks(format.block());
            let layout = wgpu::TexelCopyBufferLayout {
                offset: level.blocks,
                bytes_per_row: Some(width * format.block_bytes() as u32),
                rows_per_image: Some(height),
            };
            let to = wgpu::TexelCopyTextureInfo { mip_level, ..source.as_image_copy() };
            let size = wgpu::Extent3d { width, height, depth_or_array_layers };
            queue.write_texture(to, &data, layout, size);
        }
        let target = texture(&device, &blocks, copied(format), wgpu::TextureUsages::COPY_DST);
        let decoding = decoder.prepare(&blocks, BlockSource::Texture(&source), &target).unwrap();
        let first = Blocks { levels: 1, ..blocks };
        let storage = Decoder::texture_format(format).wgpu();
        let written = texture(&device, &first, storage, wgpu::TextureUsages::STORAGE_BINDING);
        let writing = decoder.prepare(&first, BlockSource::Texture(&source), &written).unwrap();
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        decoding.record(&mut encoder);
        writing.record(&mut encoder);
        queue.submit([encoder.finish()]);
        let expected = expected(&blocks, &plan, &data);
        for (level, expected) in (0..).zip(&expected) {
            assert!(read_level(&device, &queue, &target, level).unwrap() == *expected, "{format} {level}");
        }
        let got = read_level(&device, &queue, &written, 0).unwrap();
        if format.texel() == Texel::Rgba8 {
            assert!(got == expected[0], "{format} written");
        } else {
            let singles = got.as_chunks().0.iter().map(|single| f32::from_le_bytes(*single) * 65535.0);
            let numbers =
                expected[0].as_chunks().0.iter().map(|number| f32::from(u16::from_le_bytes(*number)));
            assert!(singles.zip(numbers).all(|(a, b)| (a - b).abs() < 0.5), "{format} written");
        }
    }
}

#[test]
fn what_cannot_be_is_a_typed_error() {
    let Some((device, queue)) = open() else { return skip("no device") };
    let decoder = Decoder::from_wgpu(&device, &queue);
    let blocks = Blocks { format: Format::Bc1, extent: Extent::flat(16, 16), levels: 2, volume: false };
    let source = buffer(&device, &queue, &[0; 160]);
    let usage = wgpu::TextureUsages::COPY_DST;
    let right = texture(&device, &blocks, wgpu::TextureFormat::Rgba8Unorm, usage);
    let from = BlockSource::Buffer(&source, 0);
    assert!(decoder.prepare(&blocks, from, &right).is_ok());
    let late = decoder.prepare(&blocks, BlockSource::Buffer(&source, 256), &right);
    assert!(matches!(late, Err(Error::Size(_))), "{late:?}");
    for (format, usage, levels) in [
        (wgpu::TextureFormat::Bgra8Unorm, usage, 2),
        (wgpu::TextureFormat::Rgba8Unorm, wgpu::TextureUsages::TEXTURE_BINDING, 2),
        (wgpu::TextureFormat::Rgba8Unorm, usage, 1),
    ] {
        let other = texture(&device, &Blocks { levels, ..blocks }, format, usage);
        let refused = decoder.prepare(&blocks, from, &other);
        assert!(matches!(refused, Err(Error::WgpuTexture { .. })), "{refused:?}");
        let as_blocks = decoder.prepare(&blocks, BlockSource::Texture(&other), &right);
        assert!(matches!(as_blocks, Err(Error::WgpuTexture { .. })), "{as_blocks:?}");
    }
    let plain = Blocks { format: Format::Plain(Texel::Rgba8), ..blocks };
    assert!(matches!(decoder.prepare(&plain, from, &right), Err(Error::Format(_))));
    let many = Blocks { levels: 6, ..blocks };
    assert!(matches!(decoder.prepare(&many, from, &right), Err(Error::Extent(_))));
}

/// Every format has a program in SPIR-V 1.0; plans of any size are none or hold together.
#[test]
fn shaders_and_plans() {
    for format in Format::compressed() {
        let program = shader(format);
        assert_eq!(program.is_ok(), format.has_program(), "{format}");
        if let Ok(program) = program {
            assert_eq!(program.spirv[..2], [0x0723_0203, 0x0001_0000]);
        }
    }
    let mut rng = property::rng(33);
    for _ in 0..1000 {
        let mut side = || rng.next_u32() >> rng.below(33).min(31);
        let extent = Extent { width: side(), height: side(), depth: side() };
        let astc = Format::Astc(xenoglot_texture::astc::Footprint::new(8, 8, 1).unwrap(), Profile::Hdr);
        for (format, volume) in [(Format::Bc7, false), (Format::Bc4Unorm, true), (astc, true)] {
            for levels in [0, 1, 5, 17] {
                let Some(plan) = Plan::new(&Blocks { format, extent, levels, volume }, 65_535) else {
                    continue;
                };
                assert_eq!((plan.uniform.len(), plan.levels.len()), (PLAN_WORDS, levels as usize));
                assert!(plan.groups.iter().all(|&groups| (1..=65_535).contains(&groups)));
                let last = plan.levels.last().unwrap();
                assert!(last.blocks < plan.block_bytes && last.texels < plan.texel_bytes);
            }
        }
    }
}
