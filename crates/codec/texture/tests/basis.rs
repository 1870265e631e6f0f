//! The PSNR of ETC1S and UASTC in other formats, compared with that of Basis Universal's own transcoder.

use std::path::Path;
use xenoglot_texture::container::{Limits, read};
use xenoglot_texture::{Extent, Format, Quality, Texel, decode_into, transcode_into};

/// The targets, and the quality with which each is made. UASTC becomes BC7 with [`Quality::Fast`].
const TARGETS: [(Format, Quality); 7] = [
    (Format::Bc1Rgb, Quality::High),
    (Format::Bc3, Quality::High),
    (Format::Bc4Unorm, Quality::High),
    (Format::Bc7, Quality::Normal),
    (Format::Etc1, Quality::Normal),
    (Format::Etc2Rgba8, Quality::High),
    (Format::EacR11Unorm, Quality::High),
];

/// PSNR in dB of the transcoder of Basis Universal 1.16 for all images of files of `vectors/texture-files`, beside their decoded
/// texels: of red, green and blue, of alpha where a format has it and the file is not opaque, and of red for BC4 and EAC. Formats of
/// two components are left out, as it puts alpha into the second.
const REFERENCE: [(&str, [f64; 7]); 14] = [
    ("etc1s_array.ktx2", [32.74, 32.74, 40.65, 33.02, f64::INFINITY, f64::INFINITY, 46.44]),
    ("etc1s_cube.ktx2", [38.48, 38.48, 39.61, 39.54, f64::INFINITY, f64::INFINITY, 42.85]),
    ("etc1s_large.ktx2", [32.96, 34.21, 41.63, 34.48, f64::INFINITY, 75.37, 46.09]),
    ("etc1s_linear_rg.ktx2", [38.83, 39.89, 40.07, 41.13, f64::INFINITY, 59.13, 49.03]),
    ("etc1s_rgb.ktx2", [40.21, 40.21, 50.91, 43.64, f64::INFINITY, f64::INFINITY, 54.02]),
    ("etc1s_rgba_mips.ktx2", [38.50, 39.61, 48.50, 40.85, f64::INFINITY, 55.49, 52.21]),
    ("etc1s_rgb.basis", [38.07, 38.07, 50.59, 40.41, f64::INFINITY, f64::INFINITY, 52.55]),
    ("etc1s_rgba_mips.basis", [38.02, 39.17, 48.27, 39.73, f64::INFINITY, 61.49, 51.54]),
    ("etc1s_yflip.basis", [34.97, 34.97, 45.53, 35.28, f64::INFINITY, f64::INFINITY, 52.83]),
    ("uastc_cube_mips.ktx2", [15.16, 15.16, 32.76, 53.88, 14.03, 14.03, 35.15]),
    ("uastc_linear.ktx2", [18.26, 19.51, 33.47, 47.07, 17.11, 18.36, 36.15]),
    ("uastc_rgb_zstd.ktx2", [23.52, 23.52, 36.09, 51.52, 21.54, 21.54, 36.95]),
    ("uastc_rgba.basis", [21.98, 23.22, 35.28, 48.49, 20.45, 21.70, 36.78]),
    ("uastc_rgba_mips.ktx2", [20.56, 21.80, 34.29, 48.07, 19.02, 20.27, 36.35]),
];

/// How much lower ours may be, in dB.
const LESS: f64 = 0.05;

fn decoded(format: Format, extent: Extent, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; format.output_bytes(extent).unwrap()];
    decode_into(format, extent, data, &mut out).unwrap();
    out
}

/// The sum of squared differences in the first `count` components, in steps of 255.
fn squares(format: Format, count: usize, texels: &[u8], found: &[u8]) -> f64 {
    let found: Vec<f64> = match format.texel() {
        Texel::Rgba8 => found.chunks(4).flat_map(|t| t[..count].iter().map(|c| f64::from(*c))).collect(),
        _ => found.as_chunks().0.iter().map(|w| f64::from(u16::from_le_bytes(*w)) / 257.0).collect(),
    };
    let wanted = texels.chunks(4).flat_map(|texel| &texel[..count]);
    wanted.zip(found).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum()
}

#[test]
fn no_target_loses_more_than_by_the_reference() {
    let archive = "../../../vectors/texture-files/texture-files.tar.zst";
    let files =
        xenoglot_testgen::archive::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(archive), "files");
    let mut worse = Vec::new();
    for (name, reference) in REFERENCE {
        let (_, bytes) = files.iter().find(|(file, _)| file.rsplit('/').next() == Some(name)).unwrap();
        let texture = read(bytes, &Limits::default()).unwrap();
        let from = texture.format;
        let images: Vec<_> =
            texture.images.iter().map(|image| (image, decoded(from, image.extent, &image.data))).collect();
        let is_opaque = images.iter().all(|(_, texels)| texels.iter().skip(3).step_by(4).all(|a| *a == 255));
        for ((to, quality), reference) in TARGETS.into_iter().zip(reference) {
            let count = (to.channels().count() as usize).min(if is_opaque { 3 } else { 4 });
            let quality = if (from, to) == (Format::Uastc, Format::Bc7) { Quality::Fast } else { quality };
            let (mut sum, mut all) = (0.0, 0);
            for (image, texels) in &images {
                let mut blocks = vec![0; to.data_bytes(image.extent).unwrap()];
                transcode_into(from, image.extent, &image.data, to, quality, &mut blocks).unwrap();
                sum += squares(to, count, texels, &decoded(to, image.extent, &blocks));
                all += texels.len() / 4 * count;
            }
            let ours = 10.0 * (65025.0 * all as f64 / sum).log10();
            println!("{name} {to} {quality:?}: {ours:.2} dB, the reference {reference:.2}");
            if ours < reference - LESS {
                worse.push(format!("{name} {to}: {ours:.2} dB, the reference {reference:.2}"));
            }
        }
    }
    assert!(worse.is_empty(), "{worse:#?}");
}
