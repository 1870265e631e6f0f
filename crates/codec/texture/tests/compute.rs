//! Decoders on the host's GPU against those on the CPU: random blocks, and pictures of odd sizes.

use xenoglot_host::{Commands, Device, DeviceOptions};
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_texture::compute::{Decoder, Error};
use xenoglot_texture::{Extent, Format, Texel, decode_into};

/// Blocks along a side of the pictures.
fn side() -> u32 {
    if std::env::var_os("XENOGLOT_LONG").is_some() { 500 } else { 40 }
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
    let mut rng = Rng::new(5);
    for format in formats() {
        let [width, height, depth] = format.block();
        let extent = Extent { width: side() * width, height: side() * height, depth };
        compare(&decoder, format, extent, &random_blocks(&mut rng, format, extent));
    }
}

#[test]
fn sizes_need_not_be_multiples_of_blocks() {
    let Some(decoder) = decoder() else { return };
    let mut rng = Rng::new(6);
    for format in formats() {
        for extent in [[1, 1, 1], [13, 7, 1], [70, 9, 3], [3, 14, 7], [0, 5, 1]] {
            let [width, height, depth] = extent;
            let extent = Extent { width, height, depth };
            compare(&decoder, format, extent, &random_blocks(&mut rng, format, extent));
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
    let wide = Extent::flat(u32::MAX, u32::MAX);
    assert!(decoder.record(&mut commands, Format::Bc1, wide, &small, &large).is_err());
    assert!(commands.is_empty());
}
