//! Files of consoles written here, whole and damaged.

use proptest::prelude::*;
use tegra_swizzle::BlockHeight;
use tegra_swizzle::surface::{BlockDim, swizzle_surface};
use xenoglot_testgen::rng::Rng;
use xenoglot_texture::console::latte::{self, Tiling};
use xenoglot_texture::console::{ds, pica};
use xenoglot_texture::container::{
    Container, Error, Limits, Source, Swizzle, Texture, Transfer, raw, read, read_all,
};
use xenoglot_texture::{Channels, Extent, Format, Profile, Texel, decode_into};

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn halves(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|h| h.to_le_bytes()).collect()
}

fn bytes(count: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|i| ((i + seed) * 37 + (i >> 8) * 11) as u8).collect()
}

fn decoded(texture: &Texture<'_>) -> Vec<u8> {
    texture.decode(&Limits::default()).unwrap().images[0].data.to_vec()
}

/// Two textures: 16 x 8 of ETC1A4 in two levels, and the faces of a cube of I8.
fn ctpk() -> (Vec<u8>, [Vec<u8>; 2]) {
    let data = [bytes(16 * 8 + 8 * 8, 1), bytes(6 * 64, 2)];
    let mut file = b"CTPK".to_vec();
    file.extend(halves(&[1, 2]));
    file.extend(words(&[0x80, 0x280, 0, 0, 0, 0]));
    for (path, data, offset, format, size, levels, kind) in
        [(0x60, &data[0], 0, 13, [16, 8], 2, 2), (0x68, &data[1], 0x100, 7, [8, 8], 1, 0)]
    {
        file.extend(words(&[path, data.len() as u32, offset, format]));
        file.extend(halves(&size));
        file.extend([levels, kind, 0, 0]);
        file.extend([0; 8]);
    }
    file.extend(b"one.tga\0two.tga\0");
    file.resize(0x80, 0);
    file.extend(&data[0]);
    file.resize(0x180, 0);
    file.extend(&data[1]);
    (file, data)
}

/// A picture in a texture of `memory` texels, with the footer of a BCLIM or BFLIM.
fn clim(magic: &[u8; 4], format: (u8, pica::Format), size: [u16; 2], memory: [u32; 2]) -> (Vec<u8>, Vec<u8>) {
    let data = bytes(Format::Pica(format.1).data_bytes(Extent::flat(memory[0], memory[1])).unwrap(), 3);
    let mut file = data.clone();
    file.extend(magic);
    file.extend(halves(&[0xfeff, 0x14]));
    file.extend(words(&[0x0202_0000, data.len() as u32 + 0x28, 1]));
    file.extend(b"imag");
    file.extend(words(&[0x10]));
    file.extend(halves(&size));
    let number = format.0;
    file.extend(if magic == b"CLIM" { [number, 0, 0, 0] } else { [0x80, 0, number, 0] });
    file.extend(words(&[data.len() as u32]));
    (file, data)
}

/// A picture in a surface of the Wii U, with the footer of a BFLIM, and the rows of the surface.
fn cafe(number: u8, format: Format, size: [u16; 2], tiling: Tiling) -> (Vec<u8>, Vec<u8>) {
    let [across, down, _] = format.block();
    let surface = latte::Surface {
        width: u32::from(size[0]).div_ceil(across),
        rows: u32::from(size[1]).div_ceil(down),
        element: format.block_bytes() as u32,
        tiling,
    };
    let mut file = bytes(surface.tiled_bytes().unwrap(), 4);
    let mut rows = vec![0; surface.linear_bytes().unwrap()];
    surface.untile(&file, &mut rows).unwrap();
    let length = file.len() as u32;
    let half = |half: u16| half.to_be_bytes();
    let word = |word: u32| word.to_be_bytes();
    file.extend(b"FLIM");
    file.extend([half(0xfeff), half(0x14)].concat());
    file.extend([word(0x0202_0000), word(length + 0x28), word(0x0001_0000)].concat());
    file.extend(b"imag");
    file.extend([word(0x10).as_slice(), &half(size[0]), &half(size[1]), &half(0x800)].concat());
    file.extend(match tiling {
        Tiling::Micro => [number, 2],
        Tiling::Macro(swizzle) => [number, swizzle << 5 | 4],
    });
    file.extend(word(length));
    (file, rows)
}

/// An entry of a dictionary is `unit` bytes.
fn dictionary(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (count, unit) = (entries.len(), entries[0].1.len());
    let table = 8 + 4 * (count + 1);
    let mut out = vec![0, count as u8];
    out.extend(halves(&[(table + 4 + count * (unit + 16)) as u16, 8, table as u16]));
    out.resize(table, 0);
    out.extend(halves(&[unit as u16, (4 + count * unit) as u16]));
    entries.iter().for_each(|(_, entry)| out.extend(entry));
    for (name, _) in entries {
        let mut name = name.as_bytes().to_vec();
        name.resize(16, 0);
        out.extend(name);
    }
    out
}

/// A texture of each format, in the order of TEXIMAGE_PARAM's numbers, and what its decoder makes of its own memory.
fn nsbtx() -> (Vec<u8>, Vec<Vec<u8>>) {
    let palettes = bytes(2048, 4);
    let (plain, blocks, infos) = (bytes(4096, 5), bytes(256, 6), bytes(128, 7));
    let mut expected = Vec::new();
    let (mut textures, mut names) = (Vec::new(), Vec::new());
    let mut address = 0u32;
    for format in 1..=7u32 {
        // 16 x 8, transparent where the first colour is.
        let param = format << 26 | 1 << 20 | u32::from(format == 3) << 29;
        let bits = [0, 8, 2, 4, 8, 2, 8, 16][format as usize];
        let base = 16 * format as u16;
        let at = if format == 5 { 8 } else { address };
        textures.push((format!("texture{format}"), words(&[param | at >> 3, 16 | 8 << 11 | 1 << 31])));
        if format != 7 {
            names.push((format!("texture{format}_pl"), halves(&[base, 0])));
        }
        let memory = if format == 5 {
            let mut memory = blocks.clone();
            memory.resize(128 << 10, 0);
            memory.extend(&infos);
            memory
        } else {
            address += 16 * 8 * bits / 8;
            plain.clone()
        };
        let mut texels = vec![ds::Texel::default(); 128];
        let registers = ds::Texture { param: param | at >> 3, palette_base: 0 };
        let palette = &palettes[8 * usize::from(base)..];
        registers.decode_into(&ds::Memory { texture: &memory, palette }, &mut texels).unwrap();
        let color = |t: &ds::Texel| if t.alpha == 0 { [0; 4] } else { t.rgba8() };
        expected.push(texels.iter().flat_map(color).collect());
    }
    // Another order than that of the textures.
    names.reverse();
    let entries = |all: &[(String, Vec<u8>)]| -> Vec<u8> {
        dictionary(&all.iter().map(|(name, entry)| (name.as_str(), entry.clone())).collect::<Vec<_>>())
    };
    let (textures, names) = (entries(&textures), entries(&names));
    let mut at = 0x3c;
    let mut place = |part: &Vec<u8>| {
        at += part.len() as u32;
        at - part.len() as u32
    };
    let starts = [&textures, &names, &plain, &blocks, &infos, &palettes].map(&mut place);
    let low = |word: u32, high: u32| word | high << 16;
    let mut block = b"TEX0".to_vec();
    block.extend(words(&[at, 0, low(0, starts[0]), 0, starts[2], 0, low(0, starts[0]), 0, starts[3]]));
    block.extend(words(&[starts[4], 0, 0, starts[1], starts[5]]));
    for part in [&textures, &names, &plain, &blocks, &infos, &palettes] {
        block.extend(part);
    }
    let mut file = b"BTX0".to_vec();
    file.extend(halves(&[0xfeff, 1]));
    file.extend(words(&[block.len() as u32 + 20]));
    file.extend(halves(&[16, 1]));
    file.extend(words(&[20]));
    file.extend(block);
    (file, expected)
}

struct Surface {
    format: u32,
    size: [u32; 3],
    levels: u32,
    layers: u32,
    kind: u8,
    block: Option<u32>,
}

/// A file with a texture whose surface another library has tiled, or that lies in rows.
fn bntx(surface: &Surface, element: [u32; 2], linear: &[u8]) -> Vec<u8> {
    let Surface { format, size: [width, height, depth], levels, layers, kind, block } = *surface;
    let [side, size] = element;
    let tiled = match block {
        None => linear.to_vec(),
        Some(block) => swizzle_surface(
            width,
            height,
            depth,
            linear,
            if side == 1 { BlockDim::uncompressed() } else { BlockDim::block_4x4() },
            Some(BlockHeight::new(1 << block).unwrap()),
            size,
            levels,
            layers,
        )
        .unwrap(),
    };
    let long = |value: u64| value.to_le_bytes();
    let mut file = b"BNTX\0\0\0\0".to_vec();
    file.extend(words(&[0x0004_0000]));
    file.extend([0xff, 0xfe, 12, 64]);
    file.extend(words(&[0, 0x58 << 16, 0, 0]));
    file.extend(b"NX  ");
    file.extend(words(&[1]));
    file.extend(long(0x60));
    file.resize(0x60, 0);
    file.extend(long(0x80));
    file.extend(halves(&[4]));
    file.extend(b"name\0");
    file.resize(0x80, 0);
    file.extend(b"BRTI");
    file.extend([0; 12]);
    file.extend([0, if depth > 1 { 3 } else { 2 }]);
    file.extend(halves(&[u16::from(block.is_none()), 0, levels as u16, 1, 0]));
    file.extend(words(&[format, 0x20, width, height, depth, layers, block.unwrap_or(0), 0]));
    file.resize(0x80 + 0x50, 0);
    file.extend(words(&[tiled.len() as u32, 512]));
    file.extend([2, 3, 4, 1, kind, 0, 0, 0]);
    file.extend(long(0x68));
    file.extend(long(0x20));
    file.extend(long(0x120));
    file.resize(0x120, 0);
    file.extend(long(0x200));
    file.resize(0x200, 0);
    file.extend(tiled);
    file
}

/// Bytes of the levels of a layer.
fn level_bytes(format: Format, surface: &Surface) -> Vec<usize> {
    let [width, height, depth] = surface.size;
    let smaller = |size: u32, level: u32| (size >> level).max(1);
    let extent = |level| Extent {
        width: smaller(width, level),
        height: smaller(height, level),
        depth: smaller(depth, level),
    };
    (0..surface.levels).map(|level| format.data_bytes(extent(level)).unwrap()).collect()
}

fn surfaces() -> Vec<(Surface, Format, Transfer)> {
    let bc7 = Surface { format: 0x2006, size: [200, 72, 1], levels: 5, layers: 1, kind: 1, block: Some(1) };
    let cube = Surface { format: 0x0b01, size: [32, 32, 1], levels: 3, layers: 6, kind: 3, block: Some(2) };
    let array = Surface { format: 0x1a01, size: [60, 60, 1], levels: 2, layers: 3, kind: 5, block: Some(0) };
    // The other library has volumes in blocks of one group.
    let volume =
        Surface { format: 0x0201, size: [40, 24, 12], levels: 1, layers: 1, kind: 2, block: Some(0) };
    let rows = Surface { format: 0x0b06, size: [10, 6, 1], levels: 1, layers: 1, kind: 1, block: None };
    vec![
        (bc7, Format::Bc7, Transfer::Srgb),
        (cube, Format::Plain(Texel::Rgba8), Transfer::Linear),
        (array, Format::Bc1, Transfer::Linear),
        (volume, Format::Plain(Texel::R8Unorm), Transfer::Linear),
        (rows, Format::Plain(Texel::Rgba8), Transfer::Srgb),
    ]
}

fn files() -> Vec<Vec<u8>> {
    let (surface, format, _) = &surfaces()[2];
    let linear = bytes(3 * level_bytes(*format, surface).iter().sum::<usize>(), 8);
    vec![
        ctpk().0,
        clim(b"CLIM", (9, pica::Format::Rgba8), [20, 9], [32, 16]).0,
        clim(b"FLIM", (3, pica::Format::Ia8), [8, 9], [8, 16]).0,
        cafe(23, Format::Bc3, [20, 9], Tiling::Macro(6)).0,
        nsbtx().0,
        bntx(surface, [4, 8], &linear),
    ]
}

#[test]
fn ctpk_textures() {
    let (file, data) = ctpk();
    let limits = Limits::default();
    let textures = read_all(&file, &limits).unwrap();
    let [Ok(one), Ok(two)] = textures.as_slice() else { panic!("{textures:?}") };
    assert_eq!((one.container, one.name.as_deref()), (Container::Ctpk, Some("one.tga")));
    assert_eq!((one.format, one.levels, one.faces), (Format::Pica(pica::Format::Etc1A4), 2, 1));
    assert_eq!((&*one.images[0].data, &*one.images[1].data), data[0].split_at(128));
    assert_eq!((two.name.as_deref(), two.faces, two.images.len()), (Some("two.tga"), 6, 6));
    assert_eq!(&*two.images[5].data, &data[1][5 * 64..]);
    assert_eq!(read(&file, &limits).as_ref(), Ok(one));
}

/// The picture in a texture of powers of two, and in whole tiles.
#[test]
fn clim_pictures() {
    let numbers = [
        (0, pica::Format::I8),
        (5, pica::Format::Rgb565),
        (6, pica::Format::Rgb8),
        (9, pica::Format::Rgba8),
        (10, pica::Format::Etc1),
        (11, pica::Format::Etc1A4),
        (12, pica::Format::I4),
    ];
    for format in numbers {
        for (size, memory) in
            [([20, 9], [32, 16]), ([20, 9], [24, 16]), ([33, 40], [64, 64]), ([8, 3], [8, 8])]
        {
            let (file, data) = clim(b"CLIM", format, size, memory);
            let texture = read(&file, &Limits::default()).unwrap();
            assert_eq!(texture.extent, Extent::flat(size[0].into(), size[1].into()));
            // All of memory, cut.
            let whole = Extent::flat(memory[0], memory[1]);
            let mut texels = vec![0; Format::Pica(format.1).output_bytes(whole).unwrap()];
            decode_into(Format::Pica(format.1), whole, &data, &mut texels).unwrap();
            let rows = texels.chunks(4 * memory[0] as usize).take(size[1].into());
            let cut: Vec<u8> = rows.flat_map(|row| &row[..4 * usize::from(size[0])]).copied().collect();
            assert!(decoded(&texture) == cut, "{format:?} {size:?} {memory:?}");
        }
    }
    let (mut file, _) = clim(b"FLIM", (3, pica::Format::Ia8), [8, 9], [8, 16]);
    assert_eq!(read(&file, &Limits::default()).unwrap().container, Container::Bflim);
    // No BCLIM has the Wii U's byte order.
    let start = file.len() - 0x28;
    file[start] = b'C';
    file.swap(start + 4, start + 5);
    assert!(matches!(read(&file, &Limits::default()), Err(Error::Format(_))));
}

/// Rows of surfaces of 75 x 37 elements, as `deswizzle_mipmap` of the crate wiiu_swizzle 0.3.0 makes them: FNV-1a of their bytes.
#[test]
fn latte_surfaces() {
    let tilings = [Tiling::Micro, Tiling::Macro(0), Tiling::Macro(3), Tiling::Macro(6)];
    for (element, digests) in [
        (1, [0xe910_ce9a_77e5_c165, 0x4967_f6f2_1afe_85f9, 0x63e5_97af_6162_ca72, 0x1d0a_89ca_8be3_0382u64]),
        (2, [0xf172_1127_a513_5039, 0x8ab6_71cc_e651_23c9, 0xe221_9822_e053_7dc4, 0x66f9_82ce_cc9a_6fc2]),
        (4, [0xb48e_405e_76a3_f672, 0xe6cd_364a_10e6_c1da, 0x31dc_a549_aa74_3e74, 0x68c7_d390_0b21_5505]),
        (8, [0x44e1_0381_0f4f_c3fc, 0xfe0e_343f_5cd4_3314, 0xdb55_eab9_52f3_193a, 0x331f_8611_bfd3_db56]),
        (16, [0xfe7f_7121_1449_f479, 0x2d2e_d582_9f74_0ce6, 0xa24d_0501_5bfe_1e1c, 0x147b_27c8_d853_645f]),
    ] {
        for (tiling, expected) in tilings.into_iter().zip(digests) {
            let surface = latte::Surface { width: 75, rows: 37, element, tiling };
            let mut rng = Rng::new(5);
            let tiled: Vec<u8> = (0..surface.tiled_bytes().unwrap()).map(|_| rng.next_u32() as u8).collect();
            let mut rows = vec![0; surface.linear_bytes().unwrap()];
            surface.untile(&tiled, &mut rows).unwrap();
            let digest = rows.iter().fold(0xcbf2_9ce4_8422_2325u64, |digest, byte| {
                (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
            });
            assert_eq!(digest, expected, "{surface:?}");
            let short = surface.untile(&tiled[1..], &mut rows);
            assert_eq!(short, Err(latte::Error::Tiled { needed: tiled.len(), given: tiled.len() - 1 }));
            let short = surface.untile(&tiled, &mut rows[1..]);
            assert!(matches!(short, Err(latte::Error::Linear { .. })));
        }
    }
    for (width, rows, element) in [(8, 8, 3), (u32::MAX, u32::MAX, 16)] {
        let surface = latte::Surface { width, rows, element, tiling: Tiling::Macro(0) };
        assert_eq!(surface.untile(&[], &mut []), Err(latte::Error::Surface(surface)));
    }
}

/// BFLIM of the Wii U: formats, transfer functions, what components stand for, and the texels of a surface.
#[test]
fn cafe_pictures() {
    let [first, second] = [0, 1].map(Source::Component);
    let luminance = |alpha| Some(Swizzle([first, first, first, alpha]));
    let alpha = Some(Swizzle([Source::Zero, Source::Zero, Source::Zero, first]));
    let plain = |name: &str| Format::from_name(name).unwrap().0;
    let limits = Limits::default();
    for (number, format, swizzle) in [
        (9, plain("R8G8B8A8_UNORM"), None),
        (20, plain("R8G8B8A8_SRGB"), None),
        (12, Format::Bc1, None),
        (21, Format::Bc1, None),
        (13, Format::Bc2, None),
        (14, Format::Bc3, None),
        (23, Format::Bc3, None),
        (15, Format::Bc4Unorm, luminance(Source::One)),
        (16, Format::Bc4Unorm, alpha),
        (17, Format::Bc5Unorm, luminance(second)),
    ] {
        for tiling in [Tiling::Micro, Tiling::Macro(0), Tiling::Macro(5)] {
            let (file, rows) = cafe(number, format, [150, 70], tiling);
            let texture = read(&file, &limits).unwrap();
            assert_eq!((texture.container, texture.format), (Container::Bflim, format));
            assert_eq!(texture.transfer, if number >= 20 { Transfer::Srgb } else { Transfer::Unknown });
            assert_eq!((texture.extent, texture.swizzle), (Extent::flat(150, 70), swizzle));
            assert!(*texture.images[0].data == rows, "{format} {tiling:?}");
        }
    }
    // L8, A8 and LA8.
    for (number, like, channels) in
        [(0, "R8_UNORM", Channels::L), (1, "R8_UNORM", Channels::A), (3, "R8G8_UNORM", Channels::La)]
    {
        let (file, rows) = cafe(number, plain(like), [9, 9], Tiling::Macro(1));
        let texture = read(&file, &limits).unwrap();
        assert_eq!((texture.channels, &*texture.images[0].data), (channels, &*rows));
    }
    let (file, _) = cafe(9, plain("R8G8B8A8_UNORM"), [20, 9], Tiling::Macro(2));
    let changed = |from_end: usize, value: u8| {
        let mut file = file.clone();
        let at = file.len() - from_end;
        file[at] = value;
        read(&file, &limits).map(|_| ())
    };
    // Formats and tile modes that are not read; sizes that the surface does not have.
    assert!(matches!(changed(6, 5), Err(Error::Format(_))));
    assert!(matches!(changed(5, 7), Err(Error::Format(_))));
    assert_eq!(changed(11, 40), Err(Error::Malformed("size of the data")));
    assert_eq!(changed(11, 0), Err(Error::Malformed("size")));
    let few = Limits { bytes: 719, ..limits };
    assert_eq!(read(&file, &few), Err(Error::Memory { needed: 720, limit: 719 }));
}

#[test]
fn nsbtx_textures() {
    let (file, expected) = nsbtx();
    let textures = read_all(&file, &Limits::default()).unwrap();
    assert_eq!(textures.len(), 7);
    for ((i, texture), expected) in textures.iter().enumerate().zip(&expected) {
        let texture = texture.as_ref().unwrap();
        assert_eq!(texture.name.as_deref(), Some(&*format!("texture{}", i + 1)));
        assert_eq!(texture.extent, Extent::flat(16, 8));
        assert!(*texture.images[0].data == *expected, "format {}", i + 1);
        let has_alpha = matches!(i + 1, 1 | 3 | 5 | 6 | 7);
        assert_eq!(texture.channels, if has_alpha { Channels::Rgba } else { Channels::Rgb });
    }
    // What they hold counts together.
    let limits = Limits { bytes: 2048, ..Limits::default() };
    let few = read_all(&file, &limits).unwrap();
    assert_eq!((few[0].is_ok(), few[6].is_ok()), (true, false));
}

#[test]
fn bntx_surfaces() {
    for (surface, format, transfer) in surfaces() {
        let sizes = level_bytes(format, &surface);
        let layer: usize = sizes.iter().sum();
        let linear = bytes(layer * surface.layers as usize, 9);
        let element = [format.block()[0], format.block_bytes() as u32];
        let file = bntx(&surface, element, &linear);
        let texture = read(&file, &Limits::default()).unwrap();
        assert_eq!((texture.format, texture.transfer), (format, transfer));
        assert_eq!(texture.name.as_deref(), Some("name"));
        let sources = [Source::Component(0), Source::Component(1), Source::Component(2), Source::One];
        assert_eq!(texture.swizzle, Some(Swizzle(sources)));
        assert_eq!(texture.layers * texture.faces, surface.layers);
        assert_eq!(texture.array, surface.kind == 5);
        for image in &texture.images {
            let index = (image.layer * texture.faces + image.face) as usize;
            let start = index * layer + sizes[..image.level as usize].iter().sum::<usize>();
            let size = sizes[image.level as usize];
            assert!(*image.data == linear[start..start + size], "{format} {:?}", (image.level, index));
        }
    }
}

/// Bytes without a header, and the names of formats.
#[test]
fn raw_blocks() {
    let limits = Limits::default();
    let data = bytes(40, 1);
    let texture = raw(&data, Format::Bc1, Extent::flat(8, 8), &limits).unwrap();
    assert_eq!((texture.container, &*texture.images[0].data), (Container::Raw, &data[..32]));
    let short = raw(&data, Format::Bc1, Extent::flat(9, 8), &limits);
    assert_eq!(short, Err(Error::Truncated("the last block")));
    assert!(raw(&data, Format::Bc1, Extent::flat(0, 8), &limits).is_err());
    for format in Format::compressed() {
        let (found, srgb) = Format::from_name(&format.to_string()).unwrap();
        match format {
            Format::Astc(footprint, Profile::LdrFloat16) => {
                assert_eq!(found, Format::Astc(footprint, Profile::LdrUnorm8));
            }
            _ => assert_eq!(found, format),
        }
        assert_eq!(srgb, matches!(format, Format::Astc(_, Profile::Srgb)));
    }
    for (name, format, srgb) in [
        ("VK_FORMAT_BC7_SRGB_BLOCK", Format::Bc7, true),
        ("bc1_rgba_unorm", Format::Bc1, false),
        ("etc2-r8g8b8-srgb", Format::Etc2Rgb, true),
        ("R8G8B8A8_UNORM", Format::Plain(Texel::Rgba8), false),
    ] {
        assert_eq!(Format::from_name(name), Some((format, srgb)), "{name}");
    }
    assert_eq!(Format::from_name("BC8"), None);
}

/// Of a footer at the end, the file without its last bytes is none of ours.
#[test]
fn every_cut_is_an_error() {
    for file in files() {
        for cut in 0..file.len() {
            let cut = &file[..cut];
            let textures = read_all(cut, &Limits::default());
            let whole = textures.is_ok_and(|all| all.iter().all(Result::is_ok));
            assert!(!whole || file.starts_with(b"BTX0"), "{} of {}", cut.len(), file.len());
        }
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(2000))]

    #[test]
    fn changed_files(which in 0usize..6, changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8)) {
        let mut file = files().swap_remove(which);
        // Headers, and the footers of three.
        let from = if matches!(which, 1..=3) { file.len() - 0x28 } else { 0 };
        let length = (file.len() - from).min(0x200);
        for (at, byte) in changes {
            file[from + at % length] = byte;
        }
        let limits = Limits { bytes: 1 << 16, images: 64 };
        if let Ok(textures) = read_all(&file, &limits) {
            let read: Vec<_> = textures.into_iter().flatten().collect();
            prop_assert!(read.iter().map(Texture::held_bytes).sum::<usize>() <= limits.bytes);
            prop_assert!(read.iter().map(|texture| texture.images.len()).sum::<usize>() <= limits.images);
            for texture in &read {
                if let Err(error) = texture.decode(&limits) {
                    prop_assert!(matches!(error, Error::Memory { .. } | Error::TooLarge), "{error}");
                }
            }
        }
    }
}
