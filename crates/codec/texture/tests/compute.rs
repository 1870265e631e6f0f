//! Decoders on the host's GPU against those on the CPU: random blocks, and pictures of odd sizes.

use xenoglot_host::{Commands, Device, DeviceOptions, TextureFormat, TextureShape};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_texture::compute::{Decoder, Error};
use xenoglot_texture::{Extent, Format, Texel, decode_into};

/// Blocks along a side of the pictures.
fn side() -> u32 {
    property::budget(40, 500)
}

fn decoder() -> Option<Decoder> {
    let options = DeviceOptions { timeout_s: 300, ..DeviceOptions::from_env() };
    match Device::open(&options) {
        Ok(device) => Some(Decoder::new(&device)),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// Bytes that a storage buffer of any device may have (WebGPU's `maxStorageBufferBindingSize`).
const LARGEST_BUFFER: usize = 128 << 20;

/// Formats with programs.
fn formats() -> impl Iterator<Item = Format> {
    Format::compressed().filter(|format| !matches!(format, Format::Pica(_)))
}

fn random_blocks(rng: &mut Rng, format: Format, extent: Extent) -> Vec<u8> {
    (0..format.data_bytes(extent).unwrap()).map(|_| rng.next_u32() as u8).collect()
}

fn compare(decoder: &Decoder, format: Format, extent: Extent, blocks: &[u8]) {
    let (mut cpu, mut gpu) =
        (vec![0; format.output_bytes(extent).unwrap()], vec![0; format.output_bytes(extent).unwrap()]);
    decode_into(format, extent, blocks, &mut cpu).unwrap();
    decoder.decode_into(format, extent, blocks, &mut gpu).unwrap();
    let bytes = format.texel().bytes();
    let texel = cpu.iter().zip(&gpu).position(|(a, b)| a != b).map(|at| at / bytes);
    if let Some(i) = texel {
        let at = i * bytes..(i + 1) * bytes;
        panic!("{format:?} {extent:?}, texel {i}: {:x?}, not {:x?}", &gpu[at.clone()], &cpu[at]);
    }
}

/// Of ASTC most random blocks are illegal, so that legal ones are few; those are in `vectors/texture`.
#[test]
fn random_blocks_are_as_on_the_cpu() {
    let Some(decoder) = decoder() else { return };
    let mut rng = property::rng(5);
    for format in formats() {
        let [width, height, depth] = format.block();
        let mut extent = Extent { width: side() * width, height: side() * height, depth };
        // In a long run texels of floats are more than a buffer of lavapipe holds.
        while format.output_bytes(extent).unwrap() > LARGEST_BUFFER {
            extent.height = (extent.height / 2).next_multiple_of(height);
        }
        compare(&decoder, format, extent, &random_blocks(&mut rng, format, extent));
    }
}

#[test]
fn sizes_need_not_be_multiples_of_blocks() {
    let Some(decoder) = decoder() else { return };
    let mut rng = property::rng(6);
    for format in formats() {
        for extent in [[1, 1, 1], [13, 7, 1], [70, 9, 3], [3, 14, 7], [0, 5, 1]] {
            let [width, height, depth] = extent;
            let extent = Extent { width, height, depth };
            compare(&decoder, format, extent, &random_blocks(&mut rng, format, extent));
        }
    }
}

/// The CPU's texels from those of a texture: numbers of 16 bits are singles there.
fn from_texture(texel: Texel, bytes: &[u8]) -> Vec<u8> {
    let scale = match texel {
        Texel::R16Unorm | Texel::Rg16Unorm => 65535.0,
        Texel::R16Snorm | Texel::Rg16Snorm => 32767.0,
        _ => return bytes.to_vec(),
    };
    let singles = bytes.as_chunks().0.iter().map(|single| f32::from_le_bytes(*single) * scale);
    singles.flat_map(|x| (x.round() as i32 as u16).to_le_bytes()).collect()
}

/// NaNs are all the same.
fn halves(bytes: &[u8]) -> Vec<u16> {
    let canonical = |half: u16| if half & 0x7fff > 0x7c00 { 0x7e00 } else { half };
    bytes.as_chunks().0.iter().map(|half| canonical(u16::from_le_bytes(*half))).collect()
}

#[test]
fn textures_have_the_same_texels() {
    let Some(decoder) = decoder() else { return };
    let mut rng = property::rng(8);
    let device = decoder.device();
    for format in formats() {
        for (shape, depth) in [(TextureShape::Layers, 1), (TextureShape::Volume, 3)] {
            let extent = Extent { width: 37, height: 14, depth };
            let words: Vec<u32> =
                (0..format.data_bytes(extent).unwrap() / 4).map(|_| rng.next_u32()).collect();
            let mut expected = vec![0; format.output_bytes(extent).unwrap()];
            decode_into(format, extent, bytemuck::cast_slice(&words), &mut expected).unwrap();
            let blocks = device.buffer_of(&words).unwrap();
            let texture = device.texture(Decoder::texture_format(format), shape, [37, 14, depth]).unwrap();
            let mut commands = Commands::default();
            decoder.record_texture(&mut commands, format, extent, &blocks, &texture).unwrap();
            commands.submit(device).unwrap();
            let got = from_texture(format.texel(), &device.read_texture(&texture).unwrap());
            let equal = match format.texel() {
                Texel::Rgba16Float => halves(&got) == halves(&expected),
                _ => got == expected,
            };
            assert!(equal, "{format} {shape:?}");
        }
    }
}

#[test]
fn what_cannot_be_is_a_typed_error() {
    let Some(decoder) = decoder() else { return };
    let extent = Extent::flat(8, 8);
    let plain = Format::Plain(Texel::Rgba8);
    assert_eq!(decoder.decode_into(plain, extent, &[0; 256], &mut [0; 256]), Err(Error::Format(plain)));
    let short = decoder.decode_into(Format::Bc1, extent, &[0; 31], &mut [0; 256]);
    assert!(matches!(short, Err(Error::Size(_))), "{short:?}");
    let [small, large] = [16, 256].map(|bytes| decoder.device().buffer(bytes).unwrap());
    let mut commands = Commands::default();
    for (blocks, texels) in [(&small, &large), (&large, &small)] {
        let recorded = decoder.record(&mut commands, Format::Bc1, extent, blocks, texels);
        assert!(matches!(recorded, Err(Error::Size(_))), "{recorded:?}");
    }
    for (format, side) in [(TextureFormat::Rgba16Float, 8), (TextureFormat::Rgba8Unorm, 9)] {
        let other = decoder.device().texture(format, TextureShape::Layers, [8, side, 1]).unwrap();
        let recorded = decoder.record_texture(&mut commands, Format::Bc1, extent, &large, &other);
        assert!(matches!(recorded, Err(Error::Texture { .. })), "{recorded:?}");
    }
    let wide = Extent::flat(u32::MAX, u32::MAX);
    assert!(decoder.record(&mut commands, Format::Bc1, wide, &small, &large).is_err());
    assert!(commands.is_empty());
}
