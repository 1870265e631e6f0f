//! Frames of any size and any planes.

use proptest::prelude::*;
use xenoglot_yuv::{
    Component, Conversion, Filter, Format, Frame, Layout, Model, Plane, Precision, Range, Reconstruction,
    Siting, Subsampling, convert, convert_rgba8, convert_rgba8_with, sample,
};

fn format() -> impl Strategy<Value = Format> {
    let layout = proptest::sample::select(Layout::ALL.to_vec());
    let subsampling = proptest::sample::select(Subsampling::ALL.to_vec());
    (layout, subsampling, 0u32..20, any::<bool>()).prop_map(|(layout, subsampling, bits, high)| Format {
        layout,
        subsampling,
        bits,
        high,
    })
}

fn conversion() -> impl Strategy<Value = Conversion> {
    use Model::*;
    let model =
        proptest::sample::select(vec![RgbIdentity, YcbcrIdentity, Bt709, Bt601, Bt2020, Smpte240M, Fcc]);
    let filter = proptest::sample::select(vec![Filter::Nearest, Filter::Linear, Filter::Cubic]);
    let components = proptest::sample::select(vec![
        Conversion::OPAQUE,
        Conversion::IDENTITY,
        [Component::Alpha, Component::Green, Component::Zero, Component::Blue],
    ]);
    (model, filter, components, any::<[bool; 4]>()).prop_map(|(model, filter, components, is)| {
        let [range, x, y, reconstruction] = is;
        let siting = |midpoint| if midpoint { Siting::Midpoint } else { Siting::CositedEven };
        Conversion {
            model,
            range: if range { Range::Full } else { Range::Narrow },
            siting: [siting(x), siting(y)],
            filter,
            reconstruction: if reconstruction { Reconstruction::Implicit } else { Reconstruction::Explicit },
            components,
        }
    })
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn frames_of_any_size(
        format in format(),
        conversion in conversion(),
        size in [0usize..600, 0usize..9],
        data in proptest::collection::vec(any::<u8>(), 0..20000),
    ) {
        let [width, height] = size;
        let Ok(frame) = Frame::tight(format, width, height, &data) else {
            let short = format.bytes(width, height).is_none_or(|n| n > data.len());
            let is_other = format.layout.subsampling().is_some_and(|s| s != format.subsampling)
                || format.layout.bits().is_some_and(|bits| bits != format.bits);
            prop_assert!(short || is_other || !(8..=16).contains(&format.bits));
            return Ok(());
        };
        let mut out = vec![[0.5; 4]; width * height];
        convert(&frame, &conversion, &mut out).unwrap();
        // The farthest from 0..=1 that a narrow range goes is blue of BT.2020; cubic filters go farther.
        prop_assert!(out.iter().flatten().all(|c| c.abs() < 4.0));
        let mut bytes = vec![[0; 4]; width * height];
        convert_rgba8(&frame, &conversion, &mut bytes).unwrap();
        for (byte, float) in bytes.iter().flatten().zip(out.iter().flatten()) {
            prop_assert!((f32::from(*byte) - float.clamp(0.0, 1.0) * 255.0).abs() <= 0.501);
        }
        let mut close = vec![[0; 4]; width * height];
        convert_rgba8_with(&frame, &conversion, Precision::WithinOne, &mut close).unwrap();
        prop_assert!(close.iter().flatten().zip(bytes.iter().flatten()).all(|(a, b)| a.abs_diff(*b) <= 1));
        let places = [[0.5; 2], [-1e9, f32::NAN], [width as f32, f32::INFINITY], [3.7, 1.2]];
        let mut texels = [[0.0; 4]; 4];
        sample(&frame, &conversion, conversion.filter, &places, &mut texels).unwrap();
        prop_assert!(texels.iter().flatten().all(|c| c.abs() < 8.0));
        prop_assert!(sample(&frame, &conversion, Filter::Linear, &places, &mut texels[..3]).is_err());
        if !out.is_empty() {
            let less = out.len() - 1;
            prop_assert!(convert(&frame, &conversion, &mut out[..less]).is_err());
        }
    }

    #[test]
    fn planes_of_any_numbers(
        format in format(),
        size in any::<[usize; 2]>(),
        pitches in proptest::collection::vec(any::<usize>(), 0..5),
        data in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let planes: Vec<Plane> = pitches.iter().map(|&pitch| Plane { data: &data, pitch }).collect();
        for size in [size, [size[0] % 8, size[1] % 8]] {
            if let Ok(frame) = Frame::new(format, size[0], size[1], &planes) {
                let places = [[0.5, 1e30], [size[0] as f32, size[1] as f32]];
                sample(&frame, &Conversion::default(), Filter::Cubic, &places, &mut [[0.0; 4]; 2]).unwrap();
                let mut out = vec![[0; 4]; size[0].saturating_mul(size[1]).min(64)];
                let _ = convert_rgba8(&frame, &Conversion::default(), &mut out);
            }
        }
    }
}

/// Texels do not depend on where in a row they are, nor on how long it is.
#[test]
fn parts_of_long_rows() {
    const WIDTH: usize = 4608;
    let mut rng = xenoglot_testgen::rng::Rng::new(1);
    for bits in [8, 10, 16] {
        for (layout, subsampling) in [
            (Layout::Planar, Subsampling::S420),
            (Layout::Planar, Subsampling::S440),
            (Layout::Planar, Subsampling::S444),
            (Layout::SemiPlanar, Subsampling::S422),
            (Layout::PackedYuyv, Subsampling::S422),
            (Layout::PackedVyua, Subsampling::S444),
            (Layout::PlanarAlpha, Subsampling::S411),
            (Layout::Mono, Subsampling::S444),
        ] {
            let format = Format { layout, subsampling, bits, high: false };
            let sizes = format.planes(WIDTH, 4).unwrap();
            let planes: Vec<Vec<u8>> = sizes
                .iter()
                .map(|(row, rows)| (0..row * rows).map(|_| rng.next_u32() as u8).collect())
                .collect();
            for filter in [Filter::Linear, Filter::Nearest, Filter::Cubic] {
                let components = Conversion::IDENTITY;
                let conversion = Conversion { filter, components, ..Conversion::default() };
                let make = |from: usize, width: usize| {
                    let planes: Vec<Plane> = planes
                        .iter()
                        .zip(&sizes)
                        .map(|(data, &(row, _))| Plane { data: &data[row * from / WIDTH..], pitch: row })
                        .collect();
                    let mut out = vec![[0; 4]; width * 4];
                    convert_rgba8(&Frame::new(format, width, 4, &planes).unwrap(), &conversion, &mut out)
                        .unwrap();
                    out
                };
                let whole = make(0, WIDTH);
                // Around the ends of what is made at a time, and with rests of all lengths.
                for (from, width) in [(960, 128), (2000, 83), (3072, 1400), (4096, 101)] {
                    let part = make(from, width);
                    for y in 0..4 {
                        // At its edges the part has no neighbours.
                        let inner = &part[y * width..][8..width - 8];
                        assert!(
                            inner == &whole[y * WIDTH + from..][8..width - 8],
                            "{format:?} {filter:?} {from}"
                        );
                    }
                }
            }
        }
    }
}

/// Grey of every depth is grey, black and white where the narrow range has them.
#[test]
fn black_and_white() {
    for bits in [8, 10, 12, 16] {
        let format = Format { layout: Layout::Planar, subsampling: Subsampling::S444, bits, high: false };
        let code = |c: u16| (c << (bits - 8)).to_le_bytes()[..format.bytes(1, 1).unwrap() / 3].to_vec();
        for (luma, want) in [(16, 0.0), (235, 1.0)] {
            let data = [code(luma), code(128), code(128)].concat();
            let frame = Frame::tight(format, 1, 1, &data).unwrap();
            let mut out = [[9.0; 4]];
            convert(&frame, &Conversion::default(), &mut out).unwrap();
            assert!(out[0][..3].iter().all(|c| (c - want).abs() < 1e-5), "{bits} {out:?}");
        }
    }
}
