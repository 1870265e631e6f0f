//! Encoders on the host's GPU: what they make is decoded on the CPU, and compared with what the CPU's fast encoders make.

use std::time::Instant;
use xenoglot_host::{Commands, Device, DeviceOptions};
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_testgen::{pictures, property};
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::compute::{Encoder, Error};
use xenoglot_texture::{
    Extent, Format, Profile, Quality, Texel, decode_into, encode_into, encode_into_parallel,
};

fn encoder() -> Option<Encoder> {
    let options = DeviceOptions { timeout_s: 300, ..DeviceOptions::from_env() };
    match Device::open(&options) {
        Ok(device) => Some(Encoder::new(&device)),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

fn is_of_halves(format: Format) -> bool {
    format.encoder_texel() == Some(Texel::Rgba16Float)
}

fn texel_bytes(format: Format, extent: Extent) -> usize {
    Format::Plain(format.encoder_texel().unwrap()).data_bytes(extent).unwrap()
}

fn on_gpu(encoder: &Encoder, format: Format, extent: Extent, texels: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.data_bytes(extent).unwrap()];
    encoder.encode_into(format, extent, texels, &mut out).unwrap();
    out
}

fn on_cpu(format: Format, extent: Extent, texels: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.data_bytes(extent).unwrap()];
    encode_into(format, extent, texels, Quality::Fast, &mut out).unwrap();
    out
}

fn decoded(format: Format, extent: Extent, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.output_bytes(extent).unwrap()];
    decode_into(format, extent, data, &mut out).unwrap();
    out
}

/// The components that a format has, in steps of a byte.
fn numbers(format: Format, texel: Texel, texels: &[u8]) -> Vec<f64> {
    let count = format.channels().count() as usize;
    match texel {
        Texel::Rgba16Float => pictures::steps(texels).collect(),
        Texel::Rgba8 => texels.chunks(4).flat_map(|t| t[..count].iter().map(|&c| f64::from(c))).collect(),
        _ => texels.as_chunks().0.iter().map(|w| f64::from(u16::from_le_bytes(*w)) / 257.0).collect(),
    }
}

/// The mean squared error of blocks.
fn error(format: Format, extent: Extent, texels: &[u8], blocks: &[u8]) -> f64 {
    let wanted = numbers(format, format.encoder_texel().unwrap(), texels);
    let found = numbers(format, format.texel(), &decoded(format, extent, blocks));
    assert_eq!(wanted.len(), found.len());
    wanted.iter().zip(&found).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / found.len() as f64
}

fn psnr(error: f64) -> f64 {
    10.0 * (65025.0 / error).log10()
}

/// A picture in the texels that a format is made of.
fn painted(format: Format, picture: pictures::Picture, side: usize) -> Vec<u8> {
    match is_of_halves(format) {
        true => pictures::halves(&picture(side), format == Format::Bc6hSfloat),
        false => picture(side),
    }
}

#[test]
fn pictures_are_kept_as_on_the_cpu() {
    let Some(encoder) = encoder() else { return };
    let extent = Extent::flat(128, 128);
    for (name, picture) in pictures::ALL {
        for format in Encoder::FORMATS {
            let texels = painted(format, picture, 128);
            let blocks = [on_cpu(format, extent, &texels), on_gpu(&encoder, format, extent, &texels)];
            let [cpu, gpu] = blocks.map(|blocks| psnr(error(format, extent, &texels, &blocks)));
            println!("{name} {format}: {cpu:.2} dB on the CPU, {gpu:.2} dB on the GPU");
            assert!(gpu >= cpu - 0.3, "{name} {format}: {gpu}, not {cpu} dB");
        }
    }
}

/// Each slice has edges of its own: it is as if it were encoded alone, with its last column and row repeated.
#[test]
fn sizes_need_not_be_multiples_of_blocks() {
    let Some(encoder) = encoder() else { return };
    let mut rng = property::rng(41);
    let sizes = [[1, 1, 1], [5, 3, 1], [70, 9, 3], [3, 14, 7], [257, 2, 1], [0, 5, 1]];
    let any = (0..6).map(|_| [0; 3].map(|_| 1 + rng.below(60)));
    for [width, height, depth] in sizes.into_iter().chain(any.collect::<Vec<_>>()) {
        let extent = Extent { width, height, depth };
        for format in Encoder::FORMATS {
            let bytes = Format::Plain(format.encoder_texel().unwrap()).texel().bytes();
            let texels: Vec<u8> = (0..texel_bytes(format, extent)).map(|_| rng.next_u32() as u8).collect();
            let found = on_gpu(&encoder, format, extent, &texels);
            // The same picture with whole blocks.
            let whole =
                Extent { width: width.next_multiple_of(4), height: height.next_multiple_of(4), depth };
            let mut padded = Vec::with_capacity(texel_bytes(format, whole));
            for z in 0..depth {
                for y in 0..whole.height {
                    for x in 0..whole.width {
                        let at =
                            ((z * height + y.min(height - 1)) * width + x.min(width - 1)) as usize * bytes;
                        padded.extend_from_slice(&texels[at..at + bytes]);
                    }
                }
            }
            let expected = on_gpu(&encoder, format, whole, &padded);
            assert!(found == expected, "{format} {extent:?}");
        }
    }
}

/// Random texels close to each other: what is worst is far from what a block of the mean would be.
#[test]
fn any_texels_are_near() {
    let Some(encoder) = encoder() else { return };
    let mut rng = property::rng(42);
    let extent = Extent::flat(64, 64);
    for spread in 0..8 {
        for format in Encoder::FORMATS.into_iter().filter(|&format| !is_of_halves(format)) {
            let base = rng.below(256 - (1 << spread)) as u8;
            let random = |rng: &mut Rng| base + (rng.next_u32() & ((1 << spread) - 1)) as u8;
            let texels: Vec<u8> = (0..texel_bytes(format, extent)).map(|_| random(&mut rng)).collect();
            let [cpu, gpu] = [on_cpu(format, extent, &texels), on_gpu(&encoder, format, extent, &texels)]
                .map(|blocks| error(format, extent, &texels, &blocks).sqrt());
            assert!(gpu <= 1.03 * cpu + 0.05, "{format} {spread} bits: {gpu}, not {cpu}");
        }
    }
}

/// One colour in all texels of a block: exact in BC7, BC4 and BC5.
#[test]
fn single_colors() {
    let Some(encoder) = encoder() else { return };
    let extent = Extent::flat(64 * 4, 8 * 4);
    let color = |x: u32, y: u32| {
        let n = x / 4 + y / 4 * 64;
        let [r, g, b, a] = (n.wrapping_mul(0x9e37_79b1)).to_le_bytes();
        [r, g, b, if n.is_multiple_of(2) { 255 } else { a }]
    };
    let places = || (0..extent.height).flat_map(|y| (0..extent.width).map(move |x| (x, y)));
    let texels: Vec<u8> = places().flat_map(|(x, y)| color(x, y)).collect();
    for format in Encoder::FORMATS.into_iter().filter(|&format| !is_of_halves(format)) {
        let worst = |blocks: Vec<u8>| {
            let found = numbers(format, format.texel(), &decoded(format, extent, &blocks));
            let wanted = numbers(format, Texel::Rgba8, &texels);
            found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let [cpu, gpu] =
            [on_cpu(format, extent, &texels), on_gpu(&encoder, format, extent, &texels)].map(worst);
        assert!(gpu <= cpu, "{format}: {gpu}, not {cpu}");
        assert!(gpu == 0.0 || matches!(format, Format::Bc1Rgb | Format::Bc3), "{format}: {gpu}");
    }
}

/// Blocks of one colour are kept to the last bit; what a format does not have becomes what is nearest to it.
#[test]
fn every_half() {
    let Some(encoder) = encoder() else { return };
    let texels = pictures::every_half();
    let extent = Extent::flat(pictures::EVERY_HALF as u32, pictures::EVERY_HALF as u32);
    for format in Encoder::FORMATS.into_iter().filter(|&format| is_of_halves(format)) {
        let back = decoded(format, extent, &on_gpu(&encoder, format, extent, &texels));
        for (texel, found) in texels.as_chunks::<8>().0.iter().zip(back.as_chunks::<8>().0) {
            let nearest = |at: usize| {
                let half = u16::from_le_bytes([texel[at], texel[at + 1]]);
                pictures::nearest_finite(half, format == Format::Bc6hSfloat).to_le_bytes()
            };
            assert_eq!(found[..6], [nearest(0), nearest(2), nearest(4)].concat(), "{format} {texel:x?}");
        }
    }
}

#[test]
fn opaque_blocks_are_opaque() {
    let Some(encoder) = encoder() else { return };
    let extent = Extent::flat(64, 64);
    let mut rng = property::rng(43);
    let noise: Vec<u8> = (0..64 * 64 * 4).map(|_| rng.next_u32() as u8).collect();
    for mut texels in [pictures::sprite(64), pictures::detail(64), noise] {
        texels.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
        for format in [Format::Bc1Rgb, Format::Bc3, Format::Bc7] {
            let back = decoded(format, extent, &on_gpu(&encoder, format, extent, &texels));
            assert!(back.chunks(4).all(|texel| texel[3] == 255), "{format}");
        }
    }
}

fn astc(width: u32, height: u32, depth: u32, profile: Profile) -> Format {
    Format::Astc(Footprint::new(width, height, depth).unwrap(), profile)
}

#[test]
fn transcoding_is_decoding_and_encoding() {
    let Some(encoder) = encoder() else { return };
    let mut rng = property::rng(44);
    let of_bytes = [
        astc(4, 4, 1, Profile::LdrUnorm8),
        astc(6, 6, 1, Profile::Srgb),
        astc(3, 3, 3, Profile::LdrUnorm8),
        Format::Etc2Rgb,
        Format::Etc2Rgba8,
        Format::Bc3,
    ];
    let of_halves = [astc(4, 4, 1, Profile::Hdr), astc(6, 5, 1, Profile::Hdr), Format::Bc6hSfloat];
    for extent in [Extent::flat(150, 37), Extent { width: 33, height: 18, depth: 3 }] {
        for to in Encoder::FORMATS {
            let sources = if is_of_halves(to) { &of_halves[..] } else { &of_bytes };
            for &from in sources {
                let data: Vec<u8> =
                    (0..from.data_bytes(extent).unwrap()).map(|_| rng.next_u32() as u8).collect();
                let expected = on_gpu(&encoder, to, extent, &decoded(from, extent, &data));
                let mut found = vec![0; expected.len()];
                encoder.transcode_into(from, extent, &data, to, &mut found).unwrap();
                assert!(found == expected, "{from} to {to} {extent:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_a_typed_error() {
    let Some(encoder) = encoder() else { return };
    let extent = Extent::flat(8, 8);
    let (texels, mut out) = ([0; 256], [7; 64]);
    for format in [Format::Bc1, Format::Bc2, Format::Etc2Rgb, Format::Plain(Texel::Rgba8)] {
        assert_eq!(encoder.encode_into(format, extent, &texels, &mut out), Err(Error::Encoder(format)));
    }
    let short = encoder.encode_into(Format::Bc7, extent, &texels[..255], &mut out);
    assert!(matches!(short, Err(Error::Size(_))), "{short:?}");
    let short = encoder.encode_into(Format::Bc7, extent, &texels, &mut out[..63]);
    assert!(matches!(short, Err(Error::Size(_))), "{short:?}");
    let hdr = Format::Bc6hUfloat;
    let wrong = encoder.transcode_into(hdr, extent, &texels, Format::Bc7, &mut out);
    assert_eq!(wrong, Err(Error::Source(hdr, Format::Bc7, Texel::Rgba8)));
    let none = encoder.transcode_into(Format::Uastc, extent, &texels, Format::Bc7, &mut out);
    assert_eq!(none, Err(Error::Format(Format::Uastc)));
    assert_eq!(out, [7; 64]);
    let [small, large] = [16, 256].map(|bytes| encoder.device().buffer(bytes).unwrap());
    let mut commands = Commands::default();
    for (texels, blocks) in [(&small, &large), (&large, &small)] {
        let recorded = encoder.record(&mut commands, Format::Bc1Rgb, extent, texels, blocks);
        assert!(matches!(recorded, Err(Error::Size(_))), "{recorded:?}");
        let recorded =
            encoder.record_transcode(&mut commands, Format::Bc7, extent, texels, Format::Bc3, blocks);
        assert!(matches!(recorded, Err(Error::Size(_))), "{recorded:?}");
    }
    for side in [u32::MAX, 1 << 20] {
        let wide = Extent { width: side, height: side, depth: 1 << 12 };
        assert!(encoder.record(&mut commands, Format::Bc7, wide, &small, &large).is_err());
        assert!(encoder.transcode_into(Format::Bc3, wide, &texels, Format::Bc7, &mut out).is_err());
    }
    assert!(commands.is_empty());
    encoder.encode_into(Format::Bc7, Extent::flat(0, 8), &[], &mut []).unwrap();
}

/// Texels along a side of the pictures that are timed.
const SIDE: u32 = 1024;

/// Megatexels a second of the fastest of five runs, after one that is not counted.
fn megatexels(mut encode: impl FnMut()) -> f64 {
    let mut seconds = || {
        let start = Instant::now();
        encode();
        start.elapsed().as_secs_f64()
    };
    seconds();
    let least = (0..5).map(|_| seconds()).fold(f64::INFINITY, f64::min);
    f64::from(SIDE * SIDE) / least / 1e6
}

/// Megatexels a second, on the device and, on all cores, on the CPU: `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let Some(encoder) = encoder() else { return };
    let extent = Extent::flat(SIDE, SIDE);
    for format in Encoder::FORMATS {
        let texels = painted(format, pictures::sprite, SIDE as usize);
        let words: Vec<u32> = texels.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let source = encoder.device().buffer_of(&words).unwrap();
        let blocks = encoder.device().buffer(format.data_bytes(extent).unwrap() as u64).unwrap();
        let on_device = || {
            let mut commands = Commands::default();
            encoder.record(&mut commands, format, extent, &source, &blocks).unwrap();
            commands.submit(encoder.device()).unwrap();
            encoder.device().wait().unwrap();
        };
        let mut out = vec![0; format.data_bytes(extent).unwrap()];
        let gpu = megatexels(on_device);
        let cpu =
            megatexels(|| encode_into_parallel(format, extent, &texels, Quality::Fast, &mut out).unwrap());
        println!("{format}: {gpu:.1} Mtexel/s on {}, {cpu:.1} on the CPU", encoder.device().name());
    }
}
