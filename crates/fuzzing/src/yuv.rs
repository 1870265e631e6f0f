//! YUV4MPEG2 files, and frames of every form.

use xenoglot_yuv::y4m::{Error, Y4m};
use xenoglot_yuv::{
    Component, Conversion, Filter, Format, Frame, Layout, Precision, Reconstruction, Siting, Subsampling,
    convert, convert_rgba8, convert_rgba8_with, sample,
};

/// Files: frames that convert, and an error at most at their end.
pub fn y4m(data: &[u8]) {
    let Ok(y4m) = Y4m::parse(data) else { return };
    let texels = y4m.width.checked_mul(y4m.height).expect("frames can be counted");
    let mut frames = y4m.frames();
    for frame in frames.by_ref() {
        let frame = match frame {
            Ok(frame) => frame,
            Err(Error::Line { at } | Error::Frame { at } | Error::Truncated { at }) => {
                assert!(at <= data.len());
                break;
            }
            Err(error) => panic!("{error}"),
        };
        let frame = Frame::tight(y4m.format, y4m.width, y4m.height, frame).expect("as large as it says");
        let conversion = Conversion { components: Conversion::IDENTITY, ..Conversion::default() };
        convert_rgba8(&frame, &conversion, &mut vec![[0; 4]; texels]).expect("there is room");
    }
    assert_eq!(frames.next(), None);
}

/// Inputs to start from: small files of every colour space.
pub fn files() -> Vec<Vec<u8>> {
    let spaces = [
        "411", "420jpeg", "420mpeg2", "420paldv", "420", "422", "444", "444alpha", "420p10", "422p12",
        "444p16", "mono",
    ];
    let mut seeds: Vec<Vec<u8>> = spaces
        .map(|space| {
            let header = format!("YUV4MPEG2 W3 H2 F25:1 Ip A1:1 C{space} XCOLORRANGE=LIMITED\n");
            let frame = [b"FRAME Ip\n".as_slice(), &[100; 36]].concat();
            [header.into_bytes(), frame.clone(), frame].concat()
        })
        .to_vec();
    seeds.push(b"YUV4MPEG2 W1 H1\nFRAME\nyuvFRAME\nyuv".to_vec());
    seeds
}

/// Bytes that say what a frame and its conversion are; its samples follow.
const HEADER: usize = 6;

fn pick<T: Copy, const N: usize>(of: [T; N], by: u8) -> T {
    of[usize::from(by) % N]
}

/// Frames: refused, or converted in both precisions to bytes that differ by one at most, and sampled.
pub fn yuv(data: &[u8]) {
    let Some((&[layout, subsampling, bits, width, height, options], samples)) = data.split_first_chunk()
    else {
        return;
    };
    let format = Format {
        layout: pick(Layout::ALL, layout),
        subsampling: pick(Subsampling::ALL, subsampling),
        bits: u32::from(bits % 20),
        high: bits & 128 != 0,
    };
    let (width, height) = (usize::from(width) * 3, usize::from(height % 16));
    let Ok(frame) = Frame::tight(format, width, height, samples) else { return };
    let is = |bit: u8| options >> bit & 1 == 1;
    let siting = |bit: u8| if is(bit) { Siting::Midpoint } else { Siting::CositedEven };
    let conversion = Conversion {
        siting: [siting(0), siting(1)],
        reconstruction: if is(2) { Reconstruction::Implicit } else { Reconstruction::Explicit },
        filter: pick([Filter::Nearest, Filter::Linear, Filter::Cubic], options >> 3 & 3),
        components: match (is(5), is(6)) {
            (true, true) => [Component::Alpha, Component::Green, Component::Blue, Component::Red],
            (true, false) => Conversion::IDENTITY,
            _ => Conversion::OPAQUE,
        },
        ..Conversion::default()
    };
    let texels = width * height;
    let mut singles = vec![[0.0; 4]; texels];
    convert(&frame, &conversion, &mut singles).expect("there is room");
    assert!(singles.as_flattened().iter().all(|c| c.is_finite()));
    let (mut exact, mut close) = (vec![[0; 4]; texels], vec![[0; 4]; texels]);
    convert_rgba8(&frame, &conversion, &mut exact).expect("there is room");
    convert_rgba8_with(&frame, &conversion, Precision::WithinOne, &mut close).expect("there is room");
    let mut pairs = exact.as_flattened().iter().zip(close.as_flattened());
    assert!(pairs.all(|(a, b)| a.abs_diff(*b) <= 1));
    let places = [[-1e30, f32::NAN], [width as f32, 0.3], [f32::INFINITY, height as f32], [1.7, 2.2]];
    sample(&frame, &conversion, conversion.filter, &places, &mut [[0.0; 4]; 4]).expect("there is room");
}

/// Inputs to start from: a frame of every layout.
pub fn frames() -> Vec<Vec<u8>> {
    let frame = |(i, layout): (usize, Layout)| {
        let subsampling = layout.subsampling().unwrap_or(pick(Subsampling::ALL, i as u8));
        let place = Subsampling::ALL.iter().position(|&of| of == subsampling).unwrap_or_default();
        let bits = layout.bits().unwrap_or([8, 10, 16][i % 3]);
        let header: [u8; HEADER] = [i as u8, place as u8, bits as u8, 3, 4, (i as u8).wrapping_mul(37)];
        let format = Format { layout, subsampling, bits, high: false };
        let bytes = format.bytes(9, 4).expect("a small frame");
        header.into_iter().chain((0..bytes).map(|at| (at as u8).wrapping_mul(29))).collect()
    };
    Layout::ALL.into_iter().enumerate().map(frame).collect()
}
