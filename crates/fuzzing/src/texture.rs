//! Texture codecs and containers.

use crate::bytes::Bytes;
use xenoglot_texture::container::{Error as FileError, Image, Limits, Texture, read, read_all, write_ktx2};
use xenoglot_texture::{
    EncodeError, Error, Extent, Format, Quality, decode_into, decode_into_parallel, encode_into,
    transcode_into,
};

const MAGICS: [&[u8]; 6] = [
    b"\xabKTX 11\xbb\r\n\x1a\n",
    b"\xabKTX 20\xbb\r\n\x1a\n",
    b"DDS \x7c\0\0\0",
    b"\x13\xab\xa1\x5c",
    b"PVR\x03",
    b"PKM 20",
];

/// Texture files: images whose bytes decode, within the limits; what is written as KTX 2 is read to the same.
pub fn texture_file(data: &[u8]) {
    let limits = Limits { bytes: 1 << 20, images: 256 };
    let first = read(data, &limits).ok();
    let Ok(textures) = read_all(data, &limits) else { return };
    if let Some(first) = first {
        assert_eq!(textures.first(), Some(&Ok(first)));
    }
    let textures: Vec<_> = textures.into_iter().flatten().collect();
    assert!(textures.iter().map(Texture::held_bytes).sum::<usize>() <= limits.bytes);
    assert!(textures.iter().map(|texture| texture.images.len()).sum::<usize>() <= limits.images);
    textures.iter().for_each(|texture| whole(texture, &limits));
}

/// A texture with all its levels, which decodes and is written, unless it takes more than the limits.
fn whole(texture: &Texture<'_>, limits: &Limits) {
    for level in 0..texture.levels {
        assert!(texture.level(level).is_some_and(|level| !level.images.is_empty()));
    }
    match texture.decode(limits) {
        Ok(decoded) => {
            assert!(texture.held_bytes() + decoded.held_bytes() <= limits.bytes);
            written(&decoded);
        }
        Err(e) => assert!(matches!(e, FileError::Memory { .. } | FileError::TooLarge), "{e}"),
    }
    if texture.format.vulkan(false).is_some() {
        written(texture);
    }
}

/// Writes a texture and reads it back.
fn written(texture: &Texture<'_>) {
    let file = match write_ktx2(texture) {
        Ok(file) => file,
        Err(e) => panic!("{e}\n{:?}", texture.format),
    };
    let back = match read(&file, &Limits::default()) {
        Ok(back) => back,
        Err(e) => panic!("{e}\n{:?}", texture.format),
    };
    assert_eq!(
        (back.transfer, back.premultiplied, back.extent, back.levels, back.layers, back.faces),
        (
            texture.transfer,
            texture.premultiplied,
            texture.extent,
            texture.levels,
            texture.layers,
            texture.faces
        )
    );
    for image in &texture.images {
        let place = |other: &&Image<'_>| {
            [other.level, other.layer, other.face] == [image.level, image.layer, image.face]
        };
        assert_eq!(back.images.iter().find(place).map(|other| &other.data), Some(&image.data));
    }
}

/// Blocks of any format and extent: texels, or an error that says how many bytes are missing.
pub fn texture(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let Some(format) = Format::compressed().nth(usize::from(bytes.u8()) % Format::compressed().count())
    else {
        return;
    };
    let [width, height, depth] = [40, 40, 5].map(|limit| u32::from(bytes.u8() % limit));
    let extent = Extent { width, height, depth };
    let blocks = data.get(4..).unwrap_or_default();
    let (Some(needed), Some(texels)) = (format.data_bytes(extent), format.output_bytes(extent)) else {
        return;
    };
    let (mut serial, mut parallel) = (vec![0; texels], vec![0; texels]);
    let result = decode_into(format, extent, blocks, &mut serial);
    assert_eq!(result, decode_into_parallel(format, extent, blocks, &mut parallel));
    assert_eq!(serial, parallel);
    if blocks.len() < needed {
        assert_eq!(result, Err(Error::Data { needed, given: blocks.len() }));
    } else {
        assert_eq!(result, Ok(()));
        transcoded(format, extent, blocks, &serial);
    }
}

/// Makes blocks of another format of blocks, and of their texels: the same, unless the encoder takes other texels.
fn transcoded(from: Format, extent: Extent, blocks: &[u8], texels: &[u8]) {
    let choice = blocks.iter().fold(0usize, |sum, byte| sum.wrapping_add(usize::from(*byte)));
    let formats: Vec<Format> =
        Format::BC_ETC.into_iter().filter(|format| format.encoder_texel().is_some()).collect();
    let (to, quality) =
        (formats[choice % formats.len()], Quality::ALL[choice / formats.len() % Quality::ALL.len()]);
    let Some(needed) = to.data_bytes(extent) else { return };
    let (mut out, mut expected) = (vec![0; needed], vec![0; needed]);
    match transcode_into(from, extent, blocks, to, quality, &mut out) {
        Ok(()) => {
            assert_eq!(encode_into(to, extent, texels, quality, &mut expected), Ok(()));
            assert_eq!(out, expected);
        }
        Err(e) => assert!(to.encoder_texel().is_some_and(|texel| e == EncodeError::Source(from, to, texel))),
    }
}

/// Inputs to start from: a few blocks of every format.
pub fn textures() -> Vec<Vec<u8>> {
    (0..Format::compressed().count())
        .map(|i| [i as u8, 13, 9, 1].into_iter().chain(body(200)).collect())
        .collect()
}

fn body(count: u32) -> impl Iterator<Item = u8> {
    (0..count).map(|i| (i * 91 + 17) as u8)
}

/// Inputs to start from: small files of every container, with pairs of keys and values, levels, layers and faces.
pub fn texture_files() -> Vec<Vec<u8>> {
    let word = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let with =
        |parts: &[&[u8]], count: u32| -> Vec<u8> { parts.concat().into_iter().chain(body(count)).collect() };
    let mut seeds = Vec::new();
    let pair = [&word(&[23])[..], b"KTXorientation\0S=r,T=u\0"].concat();
    // Six faces of ETC2; texels of GL_BGRA, which are upside down; BC1 without alpha.
    let cube = word(&[0x0403_0201, 0, 1, 0, 0x9274, 0, 4, 4, 0, 0, 6, 1, 0, 8]);
    seeds.push(with(&[MAGICS[0], &cube], 48));
    let bgra = word(&[0x0403_0201, 0x1401, 1, 0x80e1, 0x8058, 0x1908, 3, 5, 0, 0, 1, 1, pair.len() as u32]);
    seeds.push(with(&[MAGICS[0], &bgra, &pair, &word(&[60])], 60));
    let bc1 = word(&[0x0403_0201, 0, 1, 0, 0x83f0, 0x1907, 4, 4, 0, 0, 1, 1, 0, 8]);
    seeds.push(with(&[MAGICS[0], &bc1], 8));
    // Two levels of DXT1; two layers of BC7, premultiplied.
    let dds = |name: &[u8; 4], levels: u32| {
        let start = word(&[124, 0, 4, 8, 0, 0, levels]);
        let pixels = word(&[32, 4, u32::from_le_bytes(*name), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        [b"DDS ".as_slice(), &start, &[0; 44], &pixels].concat()
    };
    seeds.push(with(&[&dds(b"DXT1", 2)], 24));
    seeds.push(with(&[&dds(b"DX10", 1), &word(&[98, 3, 0, 2, 2])], 64));
    for block in [6, 12] {
        let header: &[u8] = &[block, block, 1, 10, 0, 0, 6, 0, 0, 1, 0, 0];
        seeds.push(with(&[MAGICS[3], header], 32));
    }
    // Two layers of ETC2 in PVR; ETC2 with alpha in PKM.
    let pvr = word(&[0, 22, 0, 0, 0, 4, 4, 1, 2, 1, 1, 0]);
    seeds.push(with(&[MAGICS[4], &pvr], 16));
    seeds.push(with(&[MAGICS[5], &[0, 3, 0, 4, 0, 4, 0, 4, 0, 4]], 16));
    // Texels of linear colours and of sRGB, and blocks, plain and in a frame of Zstandard with one block, raw or repeated.
    let pair = [&word(&[18])[..], b"KTXorientation\0ru\0\0\0"].concat();
    for (format, transfer, bytes) in
        [(37u32, 1u32, 64u32), (43, 2, 64), (132, 2, 8), (145, 1, 16), (97, 1, 128)]
    {
        let raw: Vec<u8> = with(&[&[0x28, 0xb5, 0x2f, 0xfd, 0, 0], &word(&[1 | bytes << 3])[..3]], bytes);
        let repeated = with(&[&[0x28, 0xb5, 0x2f, 0xfd, 0, 0], &word(&[3 | bytes << 3])[..3]], 1);
        for (scheme, data) in [(0, body(bytes).collect::<Vec<u8>>()), (2, raw), (2, repeated)] {
            let length = pair.len() as u32;
            let header = word(&[format, 1, 4, 4, 0, 0, 1, 1, scheme, 104, 28, 132, length, 0, 0, 0, 0]);
            let level = word(&[132 + length, 0, data.len() as u32, 0, bytes, 0]);
            let descriptor = word(&[28, 0, 2 | 24 << 16, 1 | 1 << 8 | transfer << 16 | 1 << 24, 0, 0, 0]);
            seeds.push([MAGICS[1], &header, &level, &descriptor, &pair, &data].concat());
        }
    }
    seeds.extend(consoles());
    seeds
}

/// Small files of consoles.
fn consoles() -> [Vec<u8>; 5] {
    let word = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    // CTPK with a texture of I8 with a level, and one of ETC1.
    let mut ctpk = [b"CTPK\x01\0\x02\0".to_vec(), word(&[0x60, 96, 0, 0, 0, 0])].concat();
    ctpk.extend(word(&[0x5c, 64, 0, 7, 8 | 8 << 16, 1 | 2 << 8, 0, 0]));
    ctpk.extend(word(&[0x5c, 32, 64, 12, 8 | 8 << 16, 1 | 2 << 8, 0, 0]));
    ctpk.truncate(0x5c);
    ctpk.extend(b"abc\0");
    ctpk.extend(body(96));
    // BCLIM of 12 x 4 in a texture of 16 x 8.
    let mut bclim: Vec<u8> = body(128).collect();
    bclim.extend(b"CLIM\xff\xfe\x14\0");
    bclim.extend(word(&[0x0202_0000, 168, 1]));
    bclim.extend(b"imag");
    bclim.extend(word(&[16, 12 | 4 << 16, 0, 128]));
    // BFLIM of the Wii U, 12 x 4 of BC1 in a surface of 32 x 16 blocks.
    let mut bflim: Vec<u8> = body(4096).collect();
    bflim.extend(b"FLIM\xfe\xff\0\x14\x02\x02\0\0\0\0\x10\x28\0\x01\0\0imag");
    bflim.extend(b"\0\0\0\x10\0\x0c\0\x04\x10\0\x0c\xc4\0\0\x10\0");
    // NSBTX with a texture of 8 x 8 of 16 colours and its palette.
    let dictionary = |entry: &[u32], unit: u32| {
        let head = [1 << 8 | (40 + unit) << 16, 8 | 16 << 16, 0, 0, unit | (4 + unit) << 16];
        [word(&head), word(entry), b"a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec()].concat()
    };
    let (textures, palettes) = (dictionary(&[3 << 26, 0], 8), dictionary(&[0], 4));
    let at = 0x3c + textures.len() as u32;
    let data = at + palettes.len() as u32;
    let mut nsbtx = b"BTX0\xff\xfe\x01\0".to_vec();
    nsbtx.extend(word(&[20 + data + 64, 16 | 1 << 16, 20]));
    nsbtx.extend(b"TEX0");
    let dictionaries = [0x3c << 16, 0, data, 0, 0x3c << 16, 0, data, data, 0, 0, at, data + 32];
    nsbtx.extend(word(&[data + 64, 0]));
    nsbtx.extend(word(&dictionaries));
    nsbtx.extend([textures, palettes, body(64).collect()].concat());
    // BNTX with a block-linear texture of 4 x 4 of BC1.
    let mut bntx = b"BNTX\0\0\0\0\0\0\x04\0\xff\xfe\x0c\x40".to_vec();
    bntx.extend(word(&[0, 0, 0, 0]));
    bntx.extend(b"NX  ");
    bntx.extend(word(&[1, 0x40, 0, 0, 0, 0, 0, 0x48, 0]));
    bntx.extend(b"BRTI");
    bntx.extend(word(&[0, 0, 0, 2 << 8, 1 << 16, 1, 0x1a01, 0x20, 4, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0]));
    bntx.extend(word(&[512, 512, 0x0504_0302, 1, 0, 0, 0, 0, 0xc0, 0]));
    bntx.resize(0xc0, 0);
    bntx.extend(word(&[0xc8, 0]));
    bntx.extend(body(512));
    [ctpk, bclim, bflim, nsbtx, bntx]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_to_start_from_are_read() {
        for file in consoles() {
            let textures = read_all(&file, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
            assert!(!textures.is_empty() && textures.iter().all(Result::is_ok), "{textures:?}");
        }
    }
}
