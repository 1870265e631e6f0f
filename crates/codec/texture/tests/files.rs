//! The files of `vectors/texture-files`, written again as KTX 2. That their pixels and metadata are as expected is the suite
//! `texture-files` of `xenoglot conformance`.

use std::path::Path;
use xenoglot_texture::Format;
use xenoglot_texture::container::{Error, Limits, Supercompression, read, write_ktx2};

/// Names and bytes of all files.
fn files() -> Vec<(String, Vec<u8>)> {
    let archive = "../../../vectors/texture-files/texture-files.tar.zst";
    xenoglot_testgen::archive::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(archive), "files")
}

/// Through KTX 2, as blocks and decoded, nothing of a file is lost.
#[test]
fn ktx2_keeps_pixels_and_metadata() {
    let limits = Limits::default();
    let (mut count, mut written) = (0, 0);
    for (name, bytes) in files() {
        let texture = match read(&bytes, &limits) {
            Ok(texture) => texture,
            Err(Error::Format(_) | Error::Supercompression(_)) => continue,
            Err(e) => panic!("{name}: {e}"),
        };
        count += 1;
        let decoded = texture.decode(&limits).unwrap();
        for source in [&texture, &decoded] {
            // Formats without a number of Vulkan can only be written as texels.
            if source.format.vulkan(false).is_none() {
                assert!(source.format != decoded.format, "{name}");
                continue;
            }
            let file = write_ktx2(source).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut back = read(&file, &limits).unwrap_or_else(|e| panic!("{name}: {e}"));
            // Images are sorted by level in the file; texels of four components are read as such.
            let mut expected = source.clone();
            expected.images.sort_by_key(|image| (image.level, image.layer, image.face));
            (expected.container, expected.channels) = (back.container, back.channels);
            expected.supercompression = Supercompression::None;
            expected.pairs.sort_by(|a, b| a.key.cmp(&b.key));
            back.pairs.sort_by(|a, b| a.key.cmp(&b.key));
            assert_eq!(back, expected, "{name}");
            written += 1;
        }
    }
    println!("{count} files read, {written} written");
    assert!(count > 400 && written > 750);
}

/// What is cut off is an error, wherever it is; so are files of which a byte is another, or textures.
#[test]
fn damaged_files_are_refused_or_read() {
    let limits = Limits { bytes: 1 << 22, images: 256 };
    for (name, bytes) in files() {
        let step = bytes.len() / 40 + 1;
        for at in (0..bytes.len()).step_by(step) {
            let _ = read(&bytes[..at], &limits);
            let mut changed = bytes.clone();
            changed[at] ^= 0x5a;
            if let Ok(texture) = read(&changed, &limits) {
                assert!(texture.held_bytes() <= limits.bytes, "{name}");
                let _ = texture.decode(&limits);
            }
        }
    }
}

/// Formats have numbers of Vulkan and of DXGI that stand for them; depth has those of its texels.
#[test]
fn numbers_there_and_back() {
    for number in (1..200).chain(1_000_066_000..1_000_066_014).chain(1_000_156_007..1_000_156_020) {
        if let Some((format, srgb)) = Format::from_vulkan(number) {
            let back = format.vulkan(srgb).and_then(Format::from_vulkan);
            assert_eq!(back, Some((format, srgb)), "VkFormat {number}");
        }
    }
    for number in 1..192 {
        if let Some((format, srgb)) = Format::from_dxgi(number) {
            let back = format.dxgi(srgb).and_then(Format::from_dxgi);
            assert_eq!(back, Some((format, srgb)), "DXGI_FORMAT {number}");
        }
    }
}
