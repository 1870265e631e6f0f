//! Texture codecs and containers.

use crate::bytes::Bytes;
use xenoglot_texture::container::{Limits, read};
use xenoglot_texture::{Error, Extent, Format, decode_into, decode_into_parallel};

const MAGICS: [&[u8]; 4] =
    [b"\xabKTX 11\xbb\r\n\x1a\n", b"\xabKTX 20\xbb\r\n\x1a\n", b"DDS \x7c\0\0\0", b"\x13\xab\xa1\x5c"];

/// Blocks of any format and extent: texels, or an error that says how many bytes are missing. Files: images whose bytes
/// decode, held within the limits.
pub fn texture(data: &[u8]) {
    if MAGICS.iter().any(|magic| data.starts_with(magic)) {
        let limits = Limits { bytes: 1 << 20, images: 256 };
        let Ok(texture) = read(data, &limits) else { return };
        let held: usize = texture.images.iter().map(|image| image.data.len()).sum();
        assert!(held <= data.len() + 2 * limits.bytes);
        for image in texture.images {
            let Some(bytes) = texture.format.output_bytes(image.extent).filter(|n| *n < 1 << 20) else {
                continue;
            };
            let decoded = decode_into(texture.format, image.extent, &image.data, &mut vec![0; bytes]);
            assert_eq!(decoded, Ok(()));
        }
        return;
    }
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
    }
}

/// Inputs to start from: a few blocks of every format, and a file of each container but KTX 2.
pub fn textures() -> Vec<Vec<u8>> {
    let word = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let body = |count: u32| (0..count).map(|i| (i * 91 + 17) as u8);
    let mut seeds: Vec<Vec<u8>> = (0..Format::compressed().count())
        .map(|i| [i as u8, 13, 9, 1].into_iter().chain(body(200)).collect())
        .collect();
    let ktx = word(&[0x0403_0201, 0, 1, 0, 0x9274, 0, 4, 4, 0, 0, 6, 1, 0, 8]);
    seeds.push([MAGICS[0], &ktx].concat().into_iter().chain(body(48)).collect());
    let dds = word(&[124, 0, 4, 8, 0, 0, 2]);
    let pixels = word(&[32, 4, u32::from_le_bytes(*b"DXT1"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    seeds.push([b"DDS ".as_slice(), &dds, &[0; 44], &pixels].concat().into_iter().chain(body(24)).collect());
    let astc: &[u8] = &[6, 6, 1, 10, 0, 0, 6, 0, 0, 1, 0, 0];
    seeds.push([MAGICS[3], astc].concat().into_iter().chain(body(32)).collect());
    seeds
}
