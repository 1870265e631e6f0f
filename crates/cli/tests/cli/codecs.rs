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

/// Frames of 4:4:4 and 4:2:0, black and white in turn.
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
    run(&["yuv", &path("a.y4m"), &path("b.y4m"), "--all", "-o", &path("out")], 0);
    for name in ["a", "b"] {
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
        let (input, output, plot) = (path("in.wav"), path("out.wav"), path("bands.png"));
        let arguments = [&["tone", &input, "-o", &output, "--plot", &plot], engine].concat();
        run(&arguments, 0);
        let filtered = hound::WavReader::open(&output).unwrap();
        assert_eq!((filtered.duration(), filtered.spec().sample_rate), (4_800, 48_000));
        assert!(picture(plot.as_ref()).1.iter().any(|p| p[..3] != [0; 3]));
    }
    fs::write(path("in.wav"), b"RIFF").unwrap();
    run(&["tone", &path("in.wav"), "-o", &path("out.wav")], 1);
}
