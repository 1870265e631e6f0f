//! Files written here, whole and damaged.

use proptest::prelude::*;
use xenoglot_texture::container::{
    Container, Error, Image, Limits, Orientation, Pair, Source, Swizzle, Texture, Transfer, read, write_ktx2,
};
use xenoglot_texture::{Channels, Extent, Format, Profile, Texel, decode_into};

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

/// 4 x 4 of B8G8R8A8 in a KTX 1, with `pairs` of keys and values.
fn ktx1_plain(format: u32, ty: u32, pairs: &[u8]) -> Vec<u8> {
    let mut file = b"\xabKTX 11\xbb\r\n\x1a\n".to_vec();
    file.extend(words(&[0x0403_0201, ty, 1, format, 0x8058, 0x1908, 4, 4, 0, 0, 1, 1, pairs.len() as u32]));
    file.extend(pairs);
    file.extend(words(&[64]));
    file.extend(blocks(64));
    file
}

/// 4 x 4 of R8G8B8A8 in a KTX 2: plain, or a frame of Zstandard with one block of a repeated byte. The last words before the
/// level are a basic descriptor.
fn ktx2(zstd: bool, dimensions: u32) -> Vec<u8> {
    let rle = [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 3 | (64 << 3 & 0xff) as u8, (64u32 >> 5) as u8, 0, 0x77];
    let data = if zstd { rle.to_vec() } else { blocks(64) };
    let mut file = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    file.extend(words(&[37, 1, 4, 4, 0, 0, 1, 1, if zstd { 2 } else { 0 }, 104, 28, 0, 0, 0, 0, 0, 0]));
    file.extend(words(&[132, 0, data.len() as u32, 0, 64, 0]));
    file.extend(words(&[28, 0, 2 | 24 << 16, 1 | 1 << 8 | 1 << 16, dimensions, 0, 0]));
    file.extend(data);
    file
}

fn files() -> Vec<Vec<u8>> {
    vec![astc(), dds(), dds_dx10(), ktx1(), ktx2(false, 0), ktx2(true, 0)]
}

#[test]
fn whole_files() {
    let limits = Limits::default();
    let shapes = [
        (Container::Astc, 1, 1, 1, 32),
        (Container::Dds, 2, 1, 1, 16),
        (Container::Dds, 1, 2, 1, 32),
        (Container::Ktx1, 1, 1, 6, 8),
        (Container::Ktx2, 1, 1, 1, 64),
        (Container::Ktx2, 1, 1, 1, 64),
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

/// A descriptor may say that a block is 256 texels wide; the `ktx2` crate adds 1 to that in a byte.
#[test]
fn ktx2_block_dimensions_of_256_are_refused() {
    for dimension in 0..4 {
        let file = ktx2(false, 0xff << (8 * dimension));
        assert_eq!(read(&file, &Limits::default()), Err(Error::Malformed("dimension of a block")));
    }
    assert!(read(&ktx2(false, 0x0303_0303), &Limits::default()).is_ok());
}

#[test]
fn ktx1_gl_bgra_is_not_rgba() {
    const GL_RGBA: u32 = 0x1908;
    const GL_BGRA: u32 = 0x80e1;
    const GL_UNSIGNED_BYTE: u32 = 0x1401;
    const GL_UNSIGNED_INT_8_8_8_8: u32 = 0x8035;
    const GL_UNSIGNED_INT_8_8_8_8_REV: u32 = 0x8367;
    let limits = Limits::default();
    for ty in [GL_UNSIGNED_BYTE, GL_UNSIGNED_INT_8_8_8_8_REV] {
        let [rgba, bgra] = [GL_RGBA, GL_BGRA].map(|format| {
            let file = ktx1_plain(format, ty, &[]);
            read(&file, &limits).unwrap().decode(&limits).unwrap().images[0].data.to_vec()
        });
        assert_eq!(rgba, blocks(64));
        for (rgba, bgra) in rgba.chunks(4).zip(bgra.chunks(4)) {
            assert_eq!([rgba[2], rgba[1], rgba[0], rgba[3]], bgra);
        }
    }
    // A word with red in its highest byte.
    let file = ktx1_plain(GL_RGBA, GL_UNSIGNED_INT_8_8_8_8, &[]);
    let texture = read(&file, &limits).unwrap();
    let abgr = texture.decode(&limits).unwrap().images[0].data.to_vec();
    assert!(abgr.chunks(4).flat_map(|texel| texel.iter().rev()).eq(&blocks(64)));
    // Other orders and types would decode to other colours, and there are not enough bytes for others.
    for (format, ty) in [(0x190b, GL_UNSIGNED_BYTE), (GL_RGBA, 0x1407)] {
        let refused = read(&ktx1_plain(format, ty, &[]), &limits).map(|texture| texture.format);
        assert!(matches!(refused, Err(Error::Format(_))), "{refused:?}");
    }
}

/// The last index of a block of three colours, in every file that tells BC1 with alpha from that without.
#[test]
fn bc1_rgb_has_opaque_black() {
    // Red and blue, the lower first; indices 3 2 1 0 in each row.
    let block = [0x1f, 0x00, 0x00, 0xf8, 0x1b, 0x1b, 0x1b, 0x1b];
    let row = |alpha| [[0, 0, 0, alpha], [128, 0, 128, 255], [255, 0, 0, 255], [0, 0, 255, 255]];
    let limits = Limits::default();
    for (internal, format, srgb, alpha) in [
        (0x83f0, Format::Bc1Rgb, false, 255),
        (0x83f1, Format::Bc1, false, 0),
        (0x8c4c, Format::Bc1Rgb, true, 255),
        (0x8c4d, Format::Bc1, true, 0),
    ] {
        let mut file = b"\xabKTX 11\xbb\r\n\x1a\n".to_vec();
        file.extend(words(&[0x0403_0201, 0, 1, 0, internal, 0x1907, 4, 4, 0, 0, 1, 1, 0, 8]));
        file.extend(block);
        let texture = read(&file, &limits).unwrap();
        assert_eq!((texture.format, texture.channels.count()), (format, if alpha == 0 { 4 } else { 3 }));
        let ktx2 = write_ktx2(&texture).unwrap();
        // The number of Vulkan's format.
        let numbers = if format == Format::Bc1Rgb { [131, 132] } else { [133, 134] };
        assert_eq!(u32::from(ktx2[12]), numbers[usize::from(srgb)]);
        for file in [&file, &ktx2] {
            let texture = read(file, &limits).unwrap();
            let texels = texture.decode(&limits).unwrap().images[0].data.to_vec();
            assert_eq!(texels, [row(alpha); 4].as_flattened().as_flattened());
            assert_eq!(texture.transfer == Transfer::Srgb, srgb);
        }
    }
}

#[test]
fn ktx1_orientations_are_read_and_kept() {
    let pair = |text: &str| {
        let mut pair = (text.len() as u32).to_le_bytes().to_vec();
        pair.extend(text.bytes());
        pair.resize(pair.len().next_multiple_of(4), 0);
        pair
    };
    let up = Some(Orientation { up: true, ..Orientation::default() });
    for (pairs, expected) in [
        (vec![], None),
        (pair("KTXorientation\0S=r,T=u\0"), up),
        ([pair("KTXwriter\0somebody\0"), pair("KTXorientation\0S=r,T=u")].concat(), up),
        (pair("KTXorientation\0S=r,T=d\0"), Some(Orientation::default())),
        (pair("KTXorientation\0S=r,T=sideways\0"), None),
        (words(&[1000]), None),
    ] {
        let file = ktx1_plain(0x1908, 0x1401, &pairs);
        let texture = read(&file, &Limits::default()).unwrap();
        assert_eq!(texture.orientation, expected);
        let written = write_ktx2(&texture).unwrap();
        assert_eq!(read(&written, &Limits::default()).unwrap().orientation, expected);
    }
}

#[test]
fn limits_are_kept() {
    assert_eq!(read(&ktx1(), &Limits { images: 5, ..Limits::default() }), Err(Error::TooLarge));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(2000))]

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
            prop_assert!(held <= file.len() || texture.held_bytes() <= Limits::default().bytes);
        }
    }

    /// Headers, descriptors, pairs and frames of KTX 2, as the file comes and as it is written again.
    #[test]
    fn changed_ktx2_files(zstd: bool, changes in proptest::collection::vec((0usize..200, any::<u8>()), 1..8)) {
        let mut up = texture(Format::Plain(Texel::Rgba8), Extent::flat(4, 4), 1, 1);
        up.orientation = Some(Orientation { up: true, ..Orientation::default() });
        let mut file = if zstd { ktx2(true, 0) } else { write_ktx2(&up).unwrap() };
        for (at, byte) in changes {
            if let Some(old) = file.get_mut(at) {
                *old = byte;
            }
        }
        let limits = Limits { bytes: 1 << 16, images: 256 };
        if let Ok(texture) = read(&file, &limits) {
            prop_assert!(texture.held_bytes() <= limits.bytes);
            if let Ok(decoded) = texture.decode(&limits) {
                prop_assert!(decoded.held_bytes() <= limits.bytes);
            }
            let Ok(written) = write_ktx2(&texture) else { return Ok(()) };
            let back = read(&written, &Limits::default()).unwrap();
            prop_assert_eq!((back.transfer, back.premultiplied), (texture.transfer, texture.premultiplied));
            prop_assert_eq!(back.images, texture.images);
        }
    }

    #[test]
    fn any_bytes_after_a_magic(magic in 0usize..8, rest in proptest::collection::vec(any::<u8>(), 0..300)) {
        let magics: [&[u8]; 8] = [
            b"PVR\x03",
            b"PKM 20",
            b"sB",
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
    Texture {
        transfer: Transfer::Linear,
        levels: 2,
        array: layers > 1,
        layers,
        faces,
        images,
        ..Texture::new(format, extent)
    }
}

#[test]
fn what_is_written_is_read() {
    // ETC1 has no number of Vulkan, and both outputs of ASTC's low dynamic range are one format.
    let blocks = Format::compressed().filter(|format| {
        !matches!(format, Format::Etc1 | Format::Pica(_) | Format::Astc(_, Profile::LdrFloat16))
    });
    let numbered = (1..200).chain(1_000_340_000..1_000_340_002).chain(1_000_156_007..1_000_156_020);
    let plain = numbered.filter_map(|n| Some(Format::from_vulkan(n)?.0)).filter(|f| f.block() == [1; 3]);
    for format in plain.chain(blocks) {
        let depth = format.block()[2];
        for (extent, layers, faces) in [
            (Extent { width: 9, height: 6, depth: if depth > 1 { 4 } else { 1 } }, 1, 1),
            (Extent { width: 8, height: 8, depth: if depth > 1 { 7 } else { 1 } }, 3, 1),
            (Extent { width: 4, height: 4, depth: if depth > 1 { 2 } else { 1 } }, 1, 6),
        ] {
            let mut written = texture(format, extent, layers, faces);
            for transfer in [Transfer::Linear, Transfer::Srgb, Transfer::Unknown, Transfer::Other(10)] {
                written.transfer = match format {
                    Format::Astc(_, Profile::Srgb) => Transfer::Srgb,
                    Format::Astc(_, Profile::LdrUnorm8) if transfer == Transfer::Srgb => continue,
                    _ => transfer,
                };
                written.premultiplied = layers == 3;
                written.orientation = (faces == 6).then_some(Orientation { up: true, ..Default::default() });
                let sources = [Source::Component(1), Source::Zero, Source::One, Source::Component(3)];
                written.swizzle = (faces == 6).then_some(Swizzle(sources));
                let pair = |key: &'static str| Pair { key: key.into(), value: b"of a test\0"[..].into() };
                written.pairs = ["Another", "KTXwriter"].map(pair).into();
                let bytes = write_ktx2(&written).unwrap_or_else(|e| panic!("{format}: {e}"));
                assert_eq!(read(&bytes, &Limits::default()), Ok(written.clone()), "{format}");
            }
        }
    }
}

/// ASTC decodes sRGB to other bytes: a texture of sRGB is written as such.
#[test]
fn astc_of_srgb_is_written_as_such() {
    for format in Format::compressed() {
        if let Format::Astc(footprint, Profile::LdrUnorm8 | Profile::LdrFloat16) = format {
            let mut texture = texture(format, Extent::flat(8, 8), 1, 1);
            texture.transfer = Transfer::Srgb;
            let bytes = write_ktx2(&texture).unwrap();
            let back = read(&bytes, &Limits::default()).unwrap();
            assert_eq!(back.format, Format::Astc(footprint, Profile::Srgb));
            assert_eq!(back.transfer, Transfer::Srgb);
        }
    }
}

#[test]
fn levels_are_textures() {
    let whole = texture(Format::Bc1Rgb, Extent::flat(9, 6), 3, 1);
    let level = whole.level(1).unwrap();
    assert_eq!((level.extent, level.levels, level.images.len()), (Extent::flat(4, 3), 1, 3));
    assert_eq!(level.images[2].data, whole.images[5].data);
    assert_eq!(whole.level(2), None);
    let decoded = level.decode(&Limits::default()).unwrap();
    assert_eq!((decoded.format, decoded.channels), (Format::Plain(Texel::Rgba8), Channels::Rgb));
}

#[test]
fn what_cannot_be_written() {
    let mut missing = texture(Format::Bc7, Extent::flat(8, 8), 1, 1);
    missing.images.pop();
    assert_eq!(write_ktx2(&missing), Err(Error::Truncated("an image")));
    let unknown = texture(Format::Etc1, Extent::flat(8, 8), 1, 1);
    assert!(matches!(write_ktx2(&unknown), Err(Error::Format(_))));
}
