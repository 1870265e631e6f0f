//! Encoders: what they make is decoded, by the decoders that the vectors check, and compared with what went in.

use proptest::prelude::*;
use xenoglot_testgen::pictures;
use xenoglot_testgen::property;
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::{
    EncodeError, Extent, Format, Profile, Quality, Texel, decode_into, encode_into, encode_into_parallel,
    transcode_into, transcode_into_parallel,
};

/// The formats, and the PSNR in dB that each quality reaches at least on the pictures.
const FORMATS: [(Format, [f64; 4]); 11] = [
    (Format::Bc1, [34.2, 34.5, 34.5, 34.6]),
    (Format::Bc1Rgb, [32.5, 32.7, 32.7, 32.8]),
    (Format::Bc3, [33.3, 33.5, 33.7, 33.8]),
    (Format::Bc4Unorm, [42.8, 42.8, 43.5, 44.0]),
    (Format::Bc5Unorm, [42.8, 42.8, 43.5, 44.0]),
    (Format::Bc7, [33.2, 33.2, 35.0, 36.5]),
    (Format::Etc1, [29.8, 29.8, 30.0, 30.1]),
    (Format::Etc2Rgb, [31.0, 31.0, 31.2, 31.3]),
    (Format::Etc2Rgba8, [32.2, 32.2, 32.5, 32.6]),
    (Format::EacR11Unorm, [42.0, 42.0, 43.3, 43.9]),
    (Format::EacRg11Unorm, [42.0, 42.0, 43.3, 43.9]),
];

fn encoded(format: Format, extent: Extent, texels: &[u8], quality: Quality) -> Vec<u8> {
    let mut out = vec![0; format.data_bytes(extent).unwrap()];
    encode_into(format, extent, texels, quality, &mut out).unwrap();
    out
}

fn decoded(format: Format, extent: Extent, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.output_bytes(extent).unwrap()];
    decode_into(format, extent, data, &mut out).unwrap();
    out
}

/// The mean squared error of the components that a format has, in steps of 255; colours of transparent texels count too.
fn error(format: Format, texels: &[u8], decoded: &[u8]) -> f64 {
    let components = match format.channels().count() {
        4 if format == Format::Bc1 => 3,
        count => count as usize,
    };
    let found: Vec<f64> = match format.texel() {
        Texel::Rgba8 => {
            decoded.chunks(4).flat_map(|t| t[..components].iter().map(|c| f64::from(*c))).collect()
        }
        _ => decoded.as_chunks().0.iter().map(|w| f64::from(u16::from_le_bytes(*w)) / 257.0).collect(),
    };
    let wanted = texels.chunks(4).flat_map(|texel| &texel[..components]);
    found.iter().zip(wanted).map(|(a, b)| (a - f64::from(*b)).powi(2)).sum::<f64>() / found.len() as f64
}

fn psnr(error: f64) -> f64 {
    10.0 * (65025.0 / error).log10()
}

#[test]
fn pictures_are_kept() {
    let extent = Extent::flat(128, 128);
    for (name, picture) in pictures::ALL {
        let texels = picture(128);
        for (format, least) in FORMATS {
            let mut last = f64::INFINITY;
            for (quality, least) in Quality::ALL.into_iter().zip(least) {
                let texels_back = decoded(format, extent, &encoded(format, extent, &texels, quality));
                let error = error(format, &texels, &texels_back);
                // Transparent texels of BC1 are black.
                if format == Format::Bc1 && name == "sprite" {
                    continue;
                }
                println!("{name} {format} {quality:?}: {:.2} dB", psnr(error));
                assert!(psnr(error) >= least, "{name} {format} {quality:?}: {:.2} dB", psnr(error));
                assert!(error <= last * 1.01, "{name} {format} {quality:?} is no better than a faster one");
                last = error;
            }
        }
    }
}

/// One colour in all texels: BC7, BC4 and BC5 keep it, others come near.
#[test]
fn single_colors() {
    let extent = Extent::flat(64, 4);
    for (format, _) in FORMATS {
        for color in 0..64u32 {
            let [r, g, b, _] = (color * 0x0053_1f07).to_le_bytes();
            let texels: Vec<u8> = [r, g, b, 255].repeat(256);
            for quality in Quality::ALL {
                let texels_back = decoded(format, extent, &encoded(format, extent, &texels, quality));
                let largest = error(format, &texels, &texels_back).sqrt();
                let most = match format {
                    Format::Bc4Unorm | Format::Bc5Unorm | Format::Bc7 => 0.0,
                    Format::EacR11Unorm | Format::EacRg11Unorm => 0.6,
                    Format::Bc1 | Format::Bc1Rgb | Format::Bc3 => 1.5,
                    _ => 4.0,
                };
                assert!(largest <= most, "{format} {quality:?} {:?}: {largest}", [r, g, b]);
            }
        }
    }
}

/// The formats of halves.
const OF_HALVES: [Format; 2] = [Format::Bc6hUfloat, Format::Bc6hSfloat];

#[test]
fn halves_are_kept() {
    let extent = Extent::flat(128, 128);
    for (name, picture) in pictures::ALL {
        for (format, least) in OF_HALVES.into_iter().zip([[34.0, 34.0, 36.0, 36.0]; 2]) {
            let texels = pictures::halves(&picture(128), format == Format::Bc6hSfloat);
            let mut last = f64::INFINITY;
            for (quality, least) in Quality::ALL.into_iter().zip(least) {
                let back = decoded(format, extent, &encoded(format, extent, &texels, quality));
                let pairs = pictures::steps(&texels).zip(pictures::steps(&back));
                let error = pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>() / (3 * 128 * 128) as f64;
                println!("{name} {format} {quality:?}: {:.2} dB", psnr(error));
                assert!(psnr(error) >= least && error <= last * 1.01, "{name} {format} {quality:?}");
                last = error;
            }
        }
    }
}

/// Blocks of one colour are kept to the last bit; what a format does not have becomes what is nearest to it.
#[test]
fn every_half() {
    let texels = pictures::every_half();
    let extent = Extent::flat(pictures::EVERY_HALF as u32, pictures::EVERY_HALF as u32);
    for (format, quality) in OF_HALVES.into_iter().zip([Quality::Fast, Quality::High]) {
        let back = decoded(format, extent, &encoded(format, extent, &texels, quality));
        for (texel, found) in texels.as_chunks::<8>().0.iter().zip(back.as_chunks::<8>().0) {
            let nearest = |at: usize| {
                let half = u16::from_le_bytes([texel[at], texel[at + 1]]);
                pictures::nearest_finite(half, format == Format::Bc6hSfloat).to_le_bytes()
            };
            assert_eq!(found[..6], [nearest(0), nearest(2), nearest(4)].concat(), "{format} {texel:x?}");
        }
    }
}

/// Opaque blocks are opaque, and of BC1 a texel is transparent where alpha is below a half.
#[test]
fn alpha_is_kept() {
    let extent = Extent::flat(256, 64);
    let mut texels = pictures::sprite(256);
    texels.truncate(256 * 64 * 4);
    let cut = decoded(Format::Bc1, extent, &encoded(Format::Bc1, extent, &texels, Quality::Normal));
    for (wanted, found) in texels.chunks(4).zip(cut.chunks(4)) {
        assert_eq!(found[3], if wanted[3] < 128 { 0 } else { 255 });
    }
    texels.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
    for format in [Format::Bc1, Format::Bc3, Format::Bc7, Format::Etc2Rgba8] {
        for quality in Quality::ALL {
            let back = decoded(format, extent, &encoded(format, extent, &texels, quality));
            assert!(back.chunks(4).all(|texel| texel[3] == 255), "{format} {quality:?}");
        }
    }
}

/// Opaque blocks between blocks with alpha stay opaque in BC7; single colours and the magenta of illegal ASTC blocks are exact.
#[test]
fn blocks_between_others() {
    let extent = Extent::flat(212, 24);
    let astc = Format::Astc(Footprint::new(4, 4, 1).unwrap(), Profile::LdrUnorm8);
    let mut rng = xenoglot_testgen::rng::Rng::new(7);
    let mut data = vec![0; astc.data_bytes(extent).unwrap()];
    // Every third block is illegal, as all of its bits are 0.
    for (place, block) in data.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        if place % 3 != 0 {
            block.fill_with(|| rng.next_u32() as u8);
        }
    }
    let texels = decoded(astc, extent, &data);
    for quality in Quality::ALL {
        let mut out = vec![0; Format::Bc7.data_bytes(extent).unwrap()];
        transcode_into(astc, extent, &data, Format::Bc7, quality, &mut out).unwrap();
        let back = decoded(Format::Bc7, extent, &out);
        let at = |texels: &[u8], x: usize, y: usize| -> [u8; 4] {
            texels[4 * (212 * y + x)..][..4].try_into().unwrap()
        };
        for (x, y) in (0..53).flat_map(|x| (0..6).map(move |y| (4 * x, 4 * y))) {
            let block = |texels: &[u8]| -> Vec<[u8; 4]> {
                (0..16).map(|i| at(texels, x + i % 4, y + i / 4)).collect()
            };
            let (wanted, found) = (block(&texels), block(&back));
            if wanted.iter().all(|texel| *texel == wanted[0]) {
                assert_eq!(wanted, found, "{quality:?}");
            }
            if wanted.iter().all(|texel| texel[3] == 255) {
                assert!(found.iter().all(|texel| texel[3] == 255), "{quality:?}");
            }
        }
        assert_eq!(at(&back, 0, 0), [255, 0, 255, 255]);
    }
}

/// The encoder takes sixteen blocks at a time, some of which are of almost one colour. The bytes of a block are the same whichever
/// the others are.
#[test]
fn blocks_do_not_depend_on_others() {
    let mut rng = xenoglot_testgen::rng::Rng::new(47);
    let (row, one) = (Extent::flat(64, 4), Extent::flat(4, 4));
    for round in 0..40 {
        let blocks: Vec<[[u8; 4]; 16]> = (0..16)
            .map(|_| {
                let base: [u8; 3] = core::array::from_fn(|_| rng.next_u32() as u8 & 0xfc);
                let bits = [3, 3, 7, 31, 255][rng.next_u32() as usize % 5];
                core::array::from_fn(|_| {
                    let [r, g, b] = base.map(|c| c ^ rng.next_u32() as u8 & bits);
                    [r, g, b, if round % 2 == 0 { 255 } else { rng.next_u32() as u8 | 0xf0 }]
                })
            })
            .collect();
        let mut texels = Vec::new();
        for y in 0..4 {
            texels.extend(blocks.iter().flat_map(|block| block[4 * y..][..4].iter().flatten()));
        }
        for quality in [Quality::Fastest, Quality::Fast, Quality::Normal] {
            let together = encoded(Format::Bc7, row, &texels, quality);
            for (block, found) in blocks.iter().zip(together.chunks(16)) {
                assert_eq!(encoded(Format::Bc7, one, block.as_flattened(), quality), found);
            }
        }
    }
}

#[test]
fn transcoding_is_decoding_and_encoding() {
    let astc = |width, height| Format::Astc(Footprint::new(width, height, 1).unwrap(), Profile::LdrUnorm8);
    let sources = [
        astc(4, 4),
        astc(5, 5),
        astc(6, 6),
        astc(10, 8),
        astc(12, 12),
        Format::Uastc,
        Format::Bc3,
        Format::Etc1s,
    ];
    let hdr = |width, height| Format::Astc(Footprint::new(width, height, 1).unwrap(), Profile::Hdr);
    let of_halves = [hdr(4, 4), hdr(6, 5), hdr(10, 10), Format::Bc6hSfloat];
    let to_bytes = sources.into_iter().map(|from| (from, &[Format::Bc7, Format::Bc1, Format::Etc2Rgba8][..]));
    let to_halves = of_halves.into_iter().map(|from| (from, &OF_HALVES[..]));
    let mut rng = xenoglot_testgen::rng::Rng::new(31);
    for extent in [Extent::flat(700, 37), Extent { width: 33, height: 18, depth: 3 }] {
        for (from, targets) in to_bytes.clone().chain(to_halves.clone()) {
            let mut data = vec![0; from.data_bytes(extent).unwrap()];
            data.fill_with(|| rng.next_u32() as u8);
            let texels = decoded(from, extent, &data);
            for &to in targets {
                if matches!((from, to), (Format::Uastc, Format::Bc7) | (Format::Etc1s, Format::Etc2Rgba8)) {
                    // These are made without texels; see `basis.rs`, the tests of `basis::to_bc7`, and below.
                    continue;
                }
                let mut out = [0; 2].map(|_| vec![0; to.data_bytes(extent).unwrap()]);
                let quality = Quality::Fast;
                transcode_into(from, extent, &data, to, quality, &mut out[0]).unwrap();
                transcode_into_parallel(from, extent, &data, to, quality, &mut out[1]).unwrap();
                let expected = encoded(to, extent, &texels, quality);
                assert!(out.iter().all(|out| *out == expected), "{from} to {to}");
            }
        }
        // Blocks of ETC1S are blocks of ETC1.
        let mut data = vec![0; Format::Etc1s.data_bytes(extent).unwrap()];
        data.fill_with(|| rng.next_u32() as u8);
        let mut out = vec![0; data.len()];
        transcode_into(Format::Etc1s, extent, &data, Format::Etc1, Quality::Fast, &mut out).unwrap();
        assert_eq!(out, data);
        // They are the colours of ETC2 with alpha, whose first half is an alpha of 255.
        let mut out = vec![0; Format::Etc2Rgba8.data_bytes(extent).unwrap()];
        transcode_into_parallel(Format::Etc1s, extent, &data, Format::Etc2Rgba8, Quality::High, &mut out)
            .unwrap();
        for (out, block) in out.as_chunks::<16>().0.iter().zip(data.as_chunks::<8>().0) {
            assert_eq!(out[..], [&[255, 0, 0, 0, 0, 0, 0, 0], &block[..]].concat());
        }
        // ETC1S with alpha has the same colours, and keeps them in ETC1 and ETC2.
        let mut data = vec![0; Format::Etc1sAlpha.data_bytes(extent).unwrap()];
        data.fill_with(|| rng.next_u32() as u8);
        let mut out = vec![0; data.len() / 2];
        transcode_into(Format::Etc1sAlpha, extent, &data, Format::Etc2Rgb, Quality::Fast, &mut out).unwrap();
        assert!(out.as_chunks::<8>().0.iter().zip(data.chunks(16)).all(|(out, block)| out[..] == block[..8]));
    }
}

#[test]
fn what_is_refused() {
    let extent = Extent::flat(8, 8);
    let (texels, mut out) = ([0; 256], [7; 64]);
    let refused = |format, texels: &[u8], out: &mut [u8]| {
        encode_into(format, extent, texels, Quality::Fast, out).unwrap_err()
    };
    assert_eq!(refused(Format::Bc2, &texels, &mut out), EncodeError::Format(Format::Bc2));
    assert!(matches!(refused(Format::Bc7, &texels[..255], &mut out), EncodeError::Size(_)));
    assert!(matches!(refused(Format::Bc7, &texels, &mut out[..63]), EncodeError::Size(_)));
    let hdr = Format::Bc6hUfloat;
    let error = transcode_into(hdr, extent, &texels, Format::Bc7, Quality::Fast, &mut out).unwrap_err();
    assert_eq!(error, EncodeError::Source(hdr, Format::Bc7, Texel::Rgba8));
    let error = transcode_into(Format::Bc7, extent, &texels, hdr, Quality::Fast, &mut out).unwrap_err();
    assert_eq!(error, EncodeError::Source(Format::Bc7, hdr, Texel::Rgba16Float));
    assert_eq!(out, [7; 64]);
    encode_into(Format::Bc7, Extent::flat(0, 8), &[], Quality::Fast, &mut []).unwrap();
}

/// Blocks of texels: all are written, threads change nothing, and nothing behind them is.
fn encoded_alike(
    format: Format,
    extent: Extent,
    texels: &[u8],
    quality: Quality,
) -> Result<Vec<u8>, TestCaseError> {
    let needed = format.data_bytes(extent).unwrap();
    let mut out = vec![0xaa; needed + 3];
    encode_into(format, extent, texels, quality, &mut out).unwrap();
    prop_assert_eq!(&out[needed..], [0xaa; 3]);
    let mut parallel = vec![0; needed];
    encode_into_parallel(format, extent, texels, quality, &mut parallel).unwrap();
    prop_assert_eq!(&out[..needed], &parallel[..]);
    Ok(out)
}

proptest! {
    #![proptest_config(property::config(64))]

    /// Any halves of any size: all blocks are written, threads change nothing, and nothing behind them is.
    #[test]
    fn any_halves(
        width in 1u32..150, height in 1u32..10, depth in 1u32..3, signed: bool, quality in 0..Quality::ALL.len(),
        seed: u64, spread in 0u32..17,
    ) {
        let (format, quality) = (OF_HALVES[usize::from(signed)], Quality::ALL[quality]);
        let extent = Extent { width, height, depth };
        let mut rng = xenoglot_testgen::rng::Rng::new(seed);
        let base = rng.next_u32() as u16;
        let texels: Vec<u8> = (0..width * height * depth * 4)
            .map(|_| base.wrapping_add((rng.next_u32() & ((1 << spread) - 1)) as u16))
            .flat_map(u16::to_le_bytes)
            .collect();
        let out = encoded_alike(format, extent, &texels, quality)?;
        // Where no half has a sign or is out of range, what is worst is near.
        if base & 0x7fff < 0x7000 && spread < 12 && (signed || base >> 15 == 0) {
            let back = decoded(format, extent, &out);
            let worst = pictures::steps(&texels).zip(pictures::steps(&back)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            prop_assert!(worst * f64::from(pictures::STEP) <= f64::from(1u32 << spread), "{}", worst);
        }
    }

    /// Any texels of any size: all blocks are written, threads change nothing, and nothing behind them is.
    #[test]
    fn any_texels(
        width in 1u32..150, height in 1u32..10, depth in 1u32..3, at in 0..FORMATS.len(), quality in 0..Quality::ALL.len(),
        seed: u64, spread in 0u32..9,
    ) {
        let (format, quality) = (FORMATS[at].0, Quality::ALL[quality]);
        let extent = Extent { width, height, depth };
        let mut rng = xenoglot_testgen::rng::Rng::new(seed);
        let base = rng.next_u32() as u8;
        let texels: Vec<u8> = (0..width * height * depth * 4)
            .map(|_| base.wrapping_add((rng.next_u32() & ((1 << spread) - 1)) as u8))
            .collect();
        let out = encoded_alike(format, extent, &texels, quality)?;
        // What is worst is far from what a block of the mean would be.
        if spread < 8 && format != Format::Bc1 && texels.chunks(4).all(|t| t[..3].iter().all(|c| c.abs_diff(base) < 128)) {
            let back = decoded(format, extent, &out);
            let most = f64::from(1 << spread).max(8.0);
            prop_assert!(error(format, &texels, &back).sqrt() <= most);
        }
    }
}
