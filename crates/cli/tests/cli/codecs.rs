//! Textures, frames and tones.

use crate::common::{folder, json, picture, run, text};
use std::fs;

/// An 8x8 `.astc` file of 4x4 blocks, each a void extent of the colour (1, 0.5, 0, 1).
fn astc() -> Vec<u8> {
    let mut file = vec![0x13, 0xab, 0xa1, 0x5c, 4, 4, 1, 8, 0, 0, 8, 0, 0, 1, 0, 0];
    for _ in 0..4 {
        file.extend([0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        file.extend([0xffffu16, 0x8000, 0, 0xffff].iter().flat_map(|v| v.to_le_bytes()));
    }
    file
}

/// An 8x8 DDS file of BC1 blocks that are all of their first colour, red.
fn dds() -> Vec<u8> {
    let mut header = [0u32; 32];
    (header[0], header[1], header[2], header[3], header[4]) =
        (u32::from_le_bytes(*b"DDS "), 124, 0x8_1007, 8, 8);
    (header[5], header[19], header[20]) = (32, 32, 4);
    (header[21], header[27]) = (u32::from_le_bytes(*b"DXT1"), 0x1000);
    let mut file: Vec<u8> = header.iter().flat_map(|v| v.to_le_bytes()).collect();
    for _ in 0..4 {
        file.extend([0x00, 0xf8, 0x1f, 0x00, 0, 0, 0, 0]);
    }
    file
}

/// Blocks without a header, and a CTPK of two pictures of 8x8 intensities.
#[test]
fn raw_blocks_and_archives() {
    let folder = folder("consoles");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::write(folder.join("red.bin"), &dds()[128..]).unwrap();
    let raw = ["texture", "decode", &path("red.bin"), "--format", "bc1_rgba_srgb", "--size", "8x8"];
    run(&[&raw[..], &["-o", &path("red.png")]].concat(), 0);
    assert!(picture(&folder.join("red.png")).1.iter().all(|&p| p == [255, 0, 0, 255]));
    // Both, and a size that is none.
    run(&raw[..5], 2);
    run(&[&raw[..6], &["8"]].concat(), 2);
    run(&["texture", "decode", &path("red.bin"), "-o", &path("none.png")], 1);
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = [b"CTPK\x01\0\x02\0".to_vec(), words(&[0x80, 128, 0, 0, 0, 0])].concat();
    for (name, data) in [(0x60, 0), (0x6c, 64)] {
        file.extend(words(&[name, 64, data, 7, 8 | 8 << 16, 1 | 2 << 8, 0, 0]));
    }
    file.extend(b"tex/one.tga\0../two\0");
    file.resize(0x80, 0);
    file.extend([[10; 64], [20; 64]].concat());
    fs::write(folder.join("a.ctpk"), file).unwrap();
    run(&["texture", "decode", &path("a.ctpk"), "-o", &path("out")], 0);
    for (name, value) in [("a.0.one.tga.png", 10), ("a.1.two.png", 20)] {
        let (size, pixels) = picture(&folder.join("out").join(name));
        assert_eq!(size, (8, 8));
        assert!(pixels.iter().all(|&p| p == [value, value, value, 255]), "{name}");
    }
}

#[test]
fn textures_become_pictures() {
    let folder = folder("textures");
    let pictures = folder.join("pictures");
    fs::create_dir_all(&pictures).unwrap();
    fs::write(pictures.join("orange.astc"), astc()).unwrap();
    fs::write(pictures.join("red.dds"), dds()).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    run(&["texture", "decode", &path("pictures"), "-o", &path("out")], 0);
    for (name, color) in [("orange", [255, 128, 0, 255]), ("red", [255, 0, 0, 255])] {
        let (size, pixels) = picture(&folder.join("out").join(name).with_extension("png"));
        assert_eq!(size, (8, 8));
        assert!(pixels.iter().all(|&p| p == color), "{name}");
    }
    let info = text(&["texture", "info", &path("pictures/red.dds")]);
    assert!(info.contains("[8,8,1]") && info.contains("format: BC1_RGBA\n"), "{info}");
    // What was decoded to KTX 2 is a texture again, of the same pixels.
    run(&["texture", "decode", &path("pictures/orange.astc"), "--to", "ktx2", "-o", &path("orange.ktx2")], 0);
    let info = text(&["texture", "info", &path("orange.ktx2")]);
    assert!(info.contains("container: KTX 2\nformat: R8G8B8A8\n"), "{info}");
    run(&["texture", "compare", &path("orange.ktx2"), &path("out/orange.png")], 0);
    let hdr = ["texture", "decode", &path("pictures/orange.astc"), "--profile", "hdr", "--to", "exr"];
    run(&[&hdr[..], &["-o", &path("orange.exr")]].concat(), 0);
    let image = exr::prelude::read_first_flat_layer_from_file(path("orange.exr")).unwrap();
    assert_eq!(image.layer_data.size, exr::prelude::Vec2(8, 8));
    let green = &image.layer_data.channel_data.list[2];
    assert_eq!(green.name.to_string(), "G");
    assert!(green.sample_data.values_as_f32().all(|v| v == 0.5));
    let (orange, red) = (path("out/orange.png"), path("pictures/red.dds"));
    run(&["texture", "compare", &orange, &orange], 0);
    run(&["texture", "compare", &orange, &red, "--difference", &path("difference.png")], 1);
    let (_, pixels) = picture(&folder.join("difference.png"));
    assert!(pixels.iter().all(|p| p[..3] == [0, 128, 0]));
    fs::write(pictures.join("cut.dds"), &dds()[..140]).unwrap();
    run(&["texture", "decode", &path("pictures/cut.dds"), "-o", &path("out")], 1);
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A KTX 1 of a block or of plain texels, with its orientation.
fn ktx1(ty: u32, format: u32, internal: u32, size: [u32; 2], orientation: &str, data: &[u8]) -> Vec<u8> {
    let mut pair = format!("KTXorientation\0{orientation}\0").into_bytes();
    let length = pair.len() as u32;
    pair.resize(pair.len().next_multiple_of(4), 0);
    let mut file = b"\xabKTX 11\xbb\r\n\x1a\n".to_vec();
    let pairs = pair.len() as u32 + 4;
    file.extend(words(&[
        0x0403_0201,
        ty,
        1,
        format,
        internal,
        0x1908,
        size[0],
        size[1],
        0,
        0,
        1,
        1,
        pairs,
        length,
    ]));
    file.extend(pair);
    file.extend(words(&[data.len() as u32]));
    file.extend(data);
    file
}

/// A KTX 2 of a level of a `VkFormat`, of its size and supercompression.
fn ktx2(format: u32, side: u32, scheme: u32, data: &[u8]) -> Vec<u8> {
    let mut file = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    file.extend(words(&[format, 1, side, side, 0, 0, 1, 1, scheme, 104, 28, 0, 0, 0, 0, 0, 0]));
    file.extend(words(&[132, 0, data.len() as u32, 0, 0, 0]));
    let srgb = matches!(format, 43 | 146);
    file.extend(words(&[28, 0, 2 | 24 << 16, 1 | 1 << 8 | (1 + u32::from(srgb)) << 16, 0, 0, 0]));
    file.extend(data);
    file
}

/// Red, and below it half of green; all of them as bytes of blue, green, red and alpha.
#[test]
fn ktx1_bgra_and_orientation_reach_the_picture() {
    let folder = folder("orientation");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (red, green) = ([255, 0, 0, 255], [0, 128, 0, 255]);
    let bgra = [[0, 0, 255, 255], [0, 128, 0, 255]].concat();
    for (orientation, expected) in [("S=r,T=d", [red, green]), ("S=r,T=u", [green, red])] {
        fs::write(path("a.ktx"), ktx1(0x1401, 0x80e1, 0x8058, [1, 2], orientation, &bgra)).unwrap();
        run(&["texture", "decode", &path("a.ktx"), "-o", &path("a.png")], 0);
        assert_eq!(picture(&folder.join("a.png")), ((1, 2), expected.to_vec()), "{orientation}");
        // KTX 2 keeps the rows and says which way up they are.
        run(&["texture", "decode", &path("a.ktx"), "--to", "ktx2", "-o", &path("a.ktx2")], 0);
        run(&["texture", "compare", &path("a.ktx2"), &path("a.png")], 0);
        run(&["texture", "decode", &path("a.ktx"), "--to", "exr", "-o", &path("a.exr")], 0);
        let image = exr::prelude::read_first_flat_layer_from_file(path("a.exr")).unwrap();
        let reds: Vec<f32> = image.layer_data.channel_data.list[3].sample_data.values_as_f32().collect();
        assert_eq!(reds, expected.map(|color| f32::from(color[0]) / 255.0));
    }
    let turned = ktx1(0x1401, 0x80e1, 0x8058, [2, 1], "S=l,T=d", &bgra);
    fs::write(path("a.ktx"), turned).unwrap();
    run(&["texture", "decode", &path("a.ktx"), "-o", &path("a.png")], 0);
    assert_eq!(picture(&folder.join("a.png")).1, [green, red]);
    let info = text(&["texture", "info", &path("a.ktx")]);
    let expected = "channels: RGBA\ntransfer: linear\npremultiplied: false\norientation: ld\n";
    assert!(info.contains(expected), "{info}");
}

#[test]
fn srgb_survives_every_output() {
    let folder = folder("srgb");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let grey = [128, 128, 128, 64];
    fs::write(path("a.ktx2"), ktx2(43, 1, 0, &grey)).unwrap();
    for to in ["png", "exr", "ktx2"] {
        run(&["texture", "decode", &path("a.ktx2"), "--to", to, "-o", &path(&format!("out.{to}"))], 0);
    }
    // PNG: the same bytes, and a chunk that says what they are.
    assert_eq!(picture(&folder.join("out.png")).1, [grey]);
    let png = fs::read(path("out.png")).unwrap();
    assert!(png.windows(4).any(|name| name == b"sRGB"));
    // KTX 2: R8G8B8A8_SRGB.
    assert_eq!(fs::read(path("out.ktx2")).unwrap()[12], 43);
    assert!(text(&["texture", "info", &path("out.ktx2")]).contains("transfer: srgb\n"));
    // OpenEXR: linear, but for alpha. 128 is 0.2158605 (IEC 61966-2-1).
    let image = exr::prelude::read_first_flat_layer_from_file(path("out.exr")).unwrap();
    let first = |i: usize| image.layer_data.channel_data.list[i].sample_data.values_as_f32().next().unwrap();
    assert_eq!(first(0), 64.0 / 255.0);
    assert!((1..4).all(|i| (first(i) - 0.215_860_5).abs() < 1e-6));
    // Blocks: BC7 of sRGB becomes texels of sRGB.
    fs::write(path("b.ktx2"), ktx2(146, 4, 0, &[0; 16])).unwrap();
    run(&["texture", "decode", &path("b.ktx2"), "--to", "ktx2", "-o", &path("b_out.ktx2")], 0);
    assert_eq!(fs::read(path("b_out.ktx2")).unwrap()[12], 43);
    // Floats are linear; a PNG of them is encoded. The halves 0.5, 0.0, 2.0, 0.5.
    let halves: Vec<u8> = [0x3800u16, 0, 0x4000, 0x3800].iter().flat_map(|half| half.to_le_bytes()).collect();
    fs::write(path("c.ktx2"), ktx2(97, 1, 0, &halves)).unwrap();
    run(&["texture", "decode", &path("c.ktx2"), "-o", &path("c.png")], 0);
    assert_eq!(picture(&folder.join("c.png")).1, [[188, 0, 255, 128]]);
}

/// 33 KB of blocks of one repeated byte that unpack to a gigabyte; and a megabyte, with room for it and without.
#[test]
fn zstd_bombs_need_leave() {
    let folder = folder("bombs");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let frame = |blocks: u32| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (17 - 10) << 3];
        for block in 1..=blocks {
            let header = u32::from(block == blocks) | 1 << 1 | 0x2_0000 << 3;
            frame.extend(&header.to_le_bytes()[..3]);
            frame.push(0x55);
        }
        frame
    };
    let bomb = ktx2(37, 16_384, 2, &frame(8192));
    assert!(bomb.len() < 34_000);
    fs::write(path("bomb.ktx2"), bomb).unwrap();
    fs::write(path("small.ktx2"), ktx2(37, 512, 2, &frame(8))).unwrap();
    for command in [&["decode"][..], &["info"]] {
        let bomb = path("bomb.ktx2");
        let refused = run(&[&["texture"], command, &[&bomb, "-o", &path("out")]].concat(), 1);
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains("--memory-limit"), "{message}");
    }
    run(&["texture", "compare", &path("bomb.ktx2"), &path("bomb.ktx2")], 1);
    let small = ["texture", "decode", &path("small.ktx2"), "-o", &path("small.png")];
    run(&small, 0);
    run(&[&small[..], &["--memory-limit", "1"]].concat(), 1);
    run(&[&small[..], &["--memory-limit", "8"]].concat(), 0);
}

/// Frames of a colour space, black and white in turn.
fn y4m(space: &str, frame_bytes: usize) -> Vec<u8> {
    let mut file = format!("YUV4MPEG2 W4 H2 F25:1 C{space}\n").into_bytes();
    for luma in [16, 235] {
        file.extend(b"FRAME\n");
        file.extend([luma; 8]);
        file.extend(vec![128; frame_bytes - 8]);
    }
    file
}

#[test]
fn frames_become_pictures() {
    let folder = folder("frames");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::write(path("a.y4m"), y4m("444", 24)).unwrap();
    fs::write(path("b.y4m"), y4m("420jpeg", 12)).unwrap();
    fs::write(path("c.y4m"), y4m("411", 12)).unwrap();
    run(&["yuv", &path("a.y4m"), &path("b.y4m"), &path("c.y4m"), "--all", "-o", &path("out")], 0);
    for name in ["a", "b", "c"] {
        for (frame, value) in [(0, 0), (1, 255)] {
            let ((width, height), pixels) = picture(&folder.join(format!("out/{name}.{frame}.png")));
            assert_eq!((width, height), (4, 2));
            assert!(pixels.iter().all(|&p| p == [value, value, value, 255]), "{name} {frame}");
        }
    }
    let facts = json(&["yuv", &path("b.y4m"), "--frame", "1", "--json", "-o", &path("one.png")]);
    assert_eq!((&facts[0]["frame"], &facts[0]["width"]), (&1.into(), &4.into()));
    // One frame, semi-planar, of ten bits in the high ones: luma 940 is white, and Cr 960 is the most of red.
    let raw: Vec<u8> = [[940u16; 8].as_slice(), &[512, 960, 512, 960]]
        .concat()
        .iter()
        .flat_map(|v| (v << 6).to_le_bytes())
        .collect();
    fs::write(path("raw.yuv"), &raw).unwrap();
    let arguments = ["yuv", &path("raw.yuv"), "--size", "4x2", "--layout", "semi-planar", "--bits", "10"];
    let to = ["--high", "--matrix", "ycbcr-identity", "--to", "rgba32f", "-o", &path("raw.rgba32f")];
    run(&[&arguments[..], &to].concat(), 0);
    let floats: Vec<f32> = fs::read(path("raw.rgba32f"))
        .unwrap()
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    let expected = [0.5, 1.0, 0.0, 1.0];
    assert_eq!(floats.len(), 32);
    assert!(
        floats.chunks(4).all(|t| t.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6)),
        "{floats:?}"
    );
    run(&["yuv", &path("raw.yuv"), "-o", &path("x.png")], 2);
    run(&["yuv", &path("raw.yuv"), "--size", "400x200", "-o", &path("x.png")], 1);
    run(&["yuv", &path("a.y4m"), "--frame", "2", "-o", &path("x.png")], 1);
    run(&["yuv", &path("a.y4m"), "--swizzle", "rgx", "-o", &path("x.png")], 2);
    run(&["yuv", &path("a.y4m"), "--transfer", "srgb", "-o", &path("x.png")], 2);
}

#[test]
fn frames_of_v210_with_alpha_and_as_light() {
    let folder = folder("frames-packed");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    // Luma of half the narrow range, and chroma of none: words have chroma, luma, chroma and luma, chroma, luma in turn.
    let (luma, chroma) = (64 + 438, 512);
    let word = |[a, b, c]: [u32; 3]| (a | b << 10 | c << 20).to_le_bytes();
    let group = [word([chroma, luma, chroma]), word([luma, chroma, luma])].concat();
    let mut raw = group.repeat(2);
    raw.resize(128, 0);
    fs::write(path("raw.v210"), raw.repeat(2)).unwrap();
    let arguments = ["yuv", &path("raw.v210"), "--size", "6x2", "--layout", "v210", "--filter", "cubic"];
    run(&[&arguments[..], &["-o", &path("grey.png")]].concat(), 0);
    let ((width, height), pixels) = picture(&folder.join("grey.png"));
    assert_eq!((width, height), (6, 2));
    // Half of 255 is in the middle of two bytes.
    assert!(pixels.iter().all(|p| p[..3].iter().all(|c| (127..=128).contains(c))), "{pixels:?}");
    let light =
        ["--to", "rgba32f", "--transfer", "bt1886", "--primaries", "bt2020", "--to-primaries", "bt709"];
    run(&[&arguments[..], &light, &["-o", &path("light")]].concat(), 0);
    for texel in fs::read(path("light")).unwrap().as_chunks::<16>().0 {
        for (component, bytes) in texel.as_chunks().0.iter().enumerate() {
            let meant = if component == 3 { 1.0 } else { 0.5f32.powf(2.4) };
            assert!((f32::from_le_bytes(*bytes) - meant).abs() < 1e-5);
        }
    }
    // The fourth plane is the last that is written: 128 of 255.
    fs::write(path("alpha.y4m"), y4m("444alpha", 32)).unwrap();
    for (arguments, alpha) in [(&[][..], 255), (&["--alpha"][..], 128), (&["--swizzle", "rgb0"][..], 0)] {
        let alone = ["yuv", &path("alpha.y4m"), "-o", &path("alpha.png")];
        run(&[&alone[..], arguments].concat(), 0);
        let (_, pixels) = picture(&folder.join("alpha.png"));
        assert!(pixels.iter().all(|&p| p == [0, 0, 0, alpha]), "{pixels:?}");
    }
}

#[test]
fn tones_are_filtered_and_drawn() {
    let folder = folder("tones");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: 48_000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut wav = hound::WavWriter::create(path("in.wav"), spec).unwrap();
    for i in 0..4_800 {
        let phase = f64::from(i) * 440.0 / 48_000.0 * std::f64::consts::TAU;
        wav.write_sample((phase.sin() * 8_000.0) as i16).unwrap();
    }
    wav.finalize().unwrap();
    for engine in [&[][..], &["--engine", "scalar"]] {
        let (input, output, plot) = (path("in.wav"), path("out.wav"), path("bands.svg"));
        let arguments = [&["tone", &input, "-o", &output, "--plot", &plot], engine].concat();
        run(&arguments, 0);
        let filtered = hound::WavReader::open(&output).unwrap();
        assert_eq!((filtered.duration(), filtered.spec().sample_rate), (4_800, 48_000));
        let plot = fs::read_to_string(&plot).unwrap();
        for part in ["time, s", "frequency, Hz", "880", "held back", "data:image/png;base64,"] {
            assert!(plot.contains(part), "{part}");
        }
    }
    fs::write(path("in.wav"), b"RIFF").unwrap();
    run(&["tone", &path("in.wav"), "-o", &path("out.wav")], 1);
}
