//! Files written here, whole and damaged.

use proptest::prelude::*;
use xenoglot_texture::container::{Container, Error, Image, Limits, Texture, read, write_ktx2};
use xenoglot_texture::{Extent, Format, Profile, Texel, decode_into};

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn blocks(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 37 + 11) as u8).collect()
}

/// 10 x 6 texels of 6 x 6 blocks.
fn astc() -> Vec<u8> {
    let mut file = vec![0x13, 0xab, 0xa1, 0x5c, 6, 6, 1, 10, 0, 0, 6, 0, 0, 1, 0, 0];
    file.extend(blocks(32));
    file
}

/// 8 x 4 of BC1, two levels.
fn dds() -> Vec<u8> {
    let mut file = b"DDS ".to_vec();
    file.extend(words(&[124, 0, 4, 8, 0, 0, 2]));
    file.extend([0; 44]);
    file.extend(words(&[32, 4, u32::from_le_bytes(*b"DXT1"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    file.extend(blocks(24));
    file
}

/// 8 x 4 of BC7, two layers.
fn dds_dx10() -> Vec<u8> {
    let mut file = b"DDS ".to_vec();
    file.extend(words(&[124, 0, 4, 8, 0, 0, 1]));
    file.extend([0; 44]);
    file.extend(words(&[32, 4, u32::from_le_bytes(*b"DX10"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    file.extend(words(&[98, 3, 0, 2, 0]));
    file.extend(blocks(64));
    file
}

/// 4 x 4 of ETC2, six faces.
fn ktx1() -> Vec<u8> {
    let mut file = b"\xabKTX 11\xbb\r\n\x1a\n".to_vec();
    file.extend(words(&[0x0403_0201, 0, 1, 0, 0x9274, 0, 4, 4, 0, 0, 6, 1, 4, 0, 8]));
    file.extend(blocks(48));
    file
}

fn files() -> Vec<Vec<u8>> {
    vec![astc(), dds(), dds_dx10(), ktx1()]
}

#[test]
fn whole_files() {
    let limits = Limits::default();
    let shapes = [
        (Container::Astc, 1, 1, 1, 32),
        (Container::Dds, 2, 1, 1, 16),
        (Container::Dds, 1, 2, 1, 32),
        (Container::Ktx1, 1, 1, 6, 8),
    ];
    for (file, (container, levels, layers, faces, first)) in files().iter().zip(shapes) {
        let texture = read(file, &limits).unwrap();
        assert_eq!((texture.container, texture.levels), (container, levels));
        assert_eq!((texture.layers, texture.faces), (layers, faces));
        assert_eq!(texture.images.len() as u32, levels * layers * faces);
        assert_eq!(texture.images[0].data.len(), first);
        for image in &texture.images {
            let mut out = vec![0; texture.format.output_bytes(image.extent).unwrap()];
            decode_into(texture.format, image.extent, &image.data, &mut out).unwrap();
        }
    }
    let file = dds();
    let texture = read(&file, &limits).unwrap();
    assert_eq!((texture.format, texture.extent), (Format::Bc1, Extent::flat(8, 4)));
    assert_eq!(texture.images[1].extent, Extent::flat(4, 2));
}

#[test]
fn every_cut_is_an_error() {
    for file in files() {
        for cut in 0..file.len() {
            assert!(read(&file[..cut], &Limits::default()).is_err(), "{cut} of {}", file.len());
        }
    }
}

#[test]
fn limits_are_kept() {
    assert_eq!(read(&ktx1(), &Limits { images: 5, ..Limits::default() }), Err(Error::TooLarge));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn changed_files(which in 0usize..4, changes in proptest::collection::vec((0usize..200, any::<u8>()), 1..8)) {
        let mut file = files().swap_remove(which);
        for (at, byte) in changes {
            if let Some(old) = file.get_mut(at) {
                *old = byte;
            }
        }
        if let Ok(texture) = read(&file, &Limits::default()) {
            let held: usize = texture.images.iter().map(|i| i.data.len()).sum();
            prop_assert!(held <= file.len());
        }
    }

    #[test]
    fn any_bytes_after_a_magic(magic in 0usize..5, rest in proptest::collection::vec(any::<u8>(), 0..300)) {
        let magics: [&[u8]; 5] = [
            b"\xabKTX 11\xbb\r\n\x1a\n",
            b"\xabKTX 20\xbb\r\n\x1a\n",
            b"DDS \x7c\0\0\0",
            b"\x13\xab\xa1\x5c",
            b"",
        ];
        let _ = read(&[magics[magic], &rest].concat(), &Limits::default());
    }
}

/// A texture with all images, of levels 0 and 1.
fn texture(format: Format, extent: Extent, layers: u32, faces: u32) -> Texture<'static> {
    let mut images = Vec::new();
    for level in 0..2 {
        let half = |size: u32| (size >> level).max(1);
        let extent =
            Extent { width: half(extent.width), height: half(extent.height), depth: half(extent.depth) };
        for (layer, face) in (0..layers).flat_map(|layer| (0..faces).map(move |face| (layer, face))) {
            let data: Vec<u8> = blocks(format.data_bytes(extent).unwrap());
            let data = data.iter().map(|byte| byte ^ (16 * level + 4 * layer + face) as u8).collect();
            images.push(Image { level, layer, face, extent, data });
        }
    }
    Texture { container: Container::Ktx2, format, extent, levels: 2, layers, faces, images }
}

#[test]
fn what_is_written_is_read() {
    let plain = [
        Texel::R8Unorm,
        Texel::Rg8Unorm,
        Texel::Rgba8,
        Texel::R16Unorm,
        Texel::R16Snorm,
        Texel::Rg16Unorm,
        Texel::Rg16Snorm,
        Texel::Rgba16Float,
        Texel::Rgba32Float,
    ];
    // ETC1 has no number of Vulkan, and both outputs of ASTC's low dynamic range are one format.
    let blocks = Format::compressed().filter(|format| {
        !matches!(format, Format::Etc1 | Format::Pica(_) | Format::Astc(_, Profile::LdrFloat16))
    });
    for format in plain.map(Format::Plain).into_iter().chain(blocks) {
        let depth = format.block()[2];
        for (extent, layers, faces) in [
            (Extent { width: 9, height: 6, depth: if depth > 1 { 4 } else { 1 } }, 1, 1),
            (Extent { width: 8, height: 8, depth: if depth > 1 { 7 } else { 1 } }, 3, 1),
            (Extent { width: 4, height: 4, depth: if depth > 1 { 2 } else { 1 } }, 1, 6),
        ] {
            for srgb in [false, true] {
                let written = texture(format, extent, layers, faces);
                let bytes = write_ktx2(&written, srgb).unwrap_or_else(|e| panic!("{format}: {e}"));
                assert_eq!(read(&bytes, &Limits::default()), Ok(written), "{format}");
            }
        }
    }
}

#[test]
fn what_cannot_be_written() {
    let mut missing = texture(Format::Bc7, Extent::flat(8, 8), 1, 1);
    missing.images.pop();
    assert_eq!(write_ktx2(&missing, false), Err(Error::Truncated("an image")));
    let unknown = texture(Format::Etc1, Extent::flat(8, 8), 1, 1);
    assert!(matches!(write_ktx2(&unknown, false), Err(Error::Format(_))));
}
