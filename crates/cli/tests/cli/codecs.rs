//! Textures and tones.

use crate::common::{folder, picture, run, text};
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
    assert!(text(&["texture", "info", &path("pictures/red.dds")]).contains("[8,8,1]"));
    let (orange, red) = (path("out/orange.png"), path("pictures/red.dds"));
    run(&["texture", "compare", &orange, &orange], 0);
    run(&["texture", "compare", &orange, &red, "--difference", &path("difference.png")], 1);
    let (_, pixels) = picture(&folder.join("difference.png"));
    assert!(pixels.iter().all(|p| p[..3] == [0, 128, 0]));
    fs::write(pictures.join("cut.dds"), &dds()[..140]).unwrap();
    run(&["texture", "decode", &path("pictures/cut.dds"), "-o", &path("out")], 1);
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
