//! YUV4MPEG2 files: what is written is read, and nothing that is read panics.

use proptest::prelude::*;
use xenoglot_yuv::y4m::{Error, Y4m};
use xenoglot_yuv::{Conversion, Frame, Layout, Model, Range, Siting, Subsampling, convert_rgba8};

/// A file of frames of these bytes.
fn file(parameters: &str, frames: &[&[u8]]) -> Vec<u8> {
    let mut file = format!("YUV4MPEG2 {parameters}\n").into_bytes();
    for frame in frames {
        file.extend(b"FRAME\n");
        file.extend(*frame);
    }
    file
}

#[test]
fn parameters() {
    let bytes = file("W4 H2 F30000:1001 Ip A1:1 C420mpeg2 XCOLORRANGE=FULL", &[&[1; 12], &[2; 12]]);
    let y4m = Y4m::parse(&bytes).unwrap();
    assert_eq!((y4m.width, y4m.height, y4m.rate), (4, 2, Some([30000, 1001])));
    assert_eq!(y4m.siting, Some([Siting::CositedEven, Siting::Midpoint]));
    assert_eq!(y4m.range, Some(Range::Full));
    let frames: Vec<&[u8]> = y4m.frames().collect::<Result<_, _>>().unwrap();
    assert_eq!(frames, [[1; 12], [2; 12]]);
    assert!(Frame::tight(y4m.format, 4, 2, frames[1]).is_ok());
}

#[test]
fn color_spaces() {
    let of = |name: &str| {
        let bytes = file(&format!("W1 H1 C{name}"), &[]);
        Y4m::parse(&bytes).map(|y4m| (y4m.format.subsampling, y4m.format.bits, y4m.siting.is_some()))
    };
    assert_eq!(of("420jpeg"), Ok((Subsampling::S420, 8, true)));
    assert_eq!(of("420p10"), Ok((Subsampling::S420, 10, false)));
    assert_eq!(of("422"), Ok((Subsampling::S422, 8, false)));
    assert_eq!(of("444p16"), Ok((Subsampling::S444, 16, false)));
    assert_eq!(of("411"), Ok((Subsampling::S411, 8, false)));
    assert_eq!(of("444alpha"), Ok((Subsampling::S444, 8, false)));
    for name in ["mono8", "monop10", "411p10", "410", "444alpha10", "420p11", "422jpeg", ""] {
        assert_eq!(of(name), Err(Error::ColorSpace(name.into())));
    }
    let bytes = file("W1 H1", &[]);
    assert_eq!(Y4m::parse(&bytes).unwrap().siting, Some([Siting::Midpoint; 2]));
}

/// A plane of alpha behind the others, which a conversion may take.
#[test]
fn alpha() {
    let planes = [[81; 6], [90; 6], [240; 6], [7; 6]].concat();
    let file = file("W3 H2 C444alpha", &[&planes]);
    let y4m = Y4m::parse(&file).unwrap();
    assert_eq!(y4m.format.layout, Layout::PlanarAlpha);
    let frame = Frame::tight(y4m.format, 3, 2, y4m.frames().next().unwrap().unwrap()).unwrap();
    for (components, alpha) in [(Conversion::OPAQUE, 255), (Conversion::IDENTITY, 7)] {
        let conversion = Conversion { components, model: Model::Bt601, ..Conversion::default() };
        let mut out = [[0; 4]; 6];
        convert_rgba8(&frame, &conversion, &mut out).unwrap();
        assert_eq!(out, [[254, 0, 0, alpha]; 6]);
    }
}

#[test]
fn grey() {
    for (name, bits, bytes) in [("mono", 8, 6), ("mono10", 10, 12), ("mono16", 16, 12)] {
        let planes = vec![7; bytes];
        let file = file(&format!("W3 H2 C{name}"), &[&planes, &planes]);
        let y4m = Y4m::parse(&file).unwrap();
        assert_eq!((y4m.format.layout, y4m.format.bits, y4m.siting), (Layout::Mono, bits, None));
        let frames: Vec<&[u8]> = y4m.frames().collect::<Result<_, _>>().unwrap();
        assert_eq!(frames, [planes.as_slice(); 2]);
        assert!(Frame::tight(y4m.format, 3, 2, frames[1]).is_ok());
    }
}

#[test]
fn damage() {
    assert_eq!(Y4m::parse(b"YUV4MPEG3 W1 H1\n"), Err(Error::Magic));
    assert_eq!(Y4m::parse(b"YUV4MPEG2 W1 H1"), Err(Error::Line { at: 0 }));
    assert_eq!(Y4m::parse(b"YUV4MPEG2 W1\n"), Err(Error::Parameter("size")));
    assert_eq!(Y4m::parse(b"YUV4MPEG2 Wx H1\n"), Err(Error::Parameter("width")));
    let huge = format!("YUV4MPEG2 W{} H{}\n", usize::MAX, usize::MAX);
    assert_eq!(Y4m::parse(huge.as_bytes()), Err(Error::TooLarge(usize::MAX, usize::MAX)));
    let start = b"YUV4MPEG2 W2 H2\n".len();
    for (frame, error) in [
        (b"FRAME\n12345".as_slice(), Error::Truncated { at: start + 6 }),
        (b"FRAMES\n123456", Error::Frame { at: start }),
        (b"frame\n123456", Error::Frame { at: start }),
        (b"FRAME", Error::Line { at: start }),
    ] {
        let bytes = [b"YUV4MPEG2 W2 H2\n", frame].concat();
        let frames: Vec<_> = Y4m::parse(&bytes).unwrap().frames().collect();
        assert_eq!(frames, [Err(error)]);
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes(rest in proptest::collection::vec(any::<u8>(), 0..200), start in any::<bool>()) {
        let bytes = if start { [b"YUV4MPEG2 W2 H2 ".as_slice(), &rest].concat() } else { rest };
        if let Ok(y4m) = Y4m::parse(&bytes) {
            for frame in y4m.frames().flatten() {
                prop_assert!(Frame::tight(y4m.format, y4m.width, y4m.height, frame).is_ok());
            }
        }
    }

    #[test]
    fn frames_come_back(
        width in 1usize..20,
        height in 1usize..20,
        space in proptest::sample::select(vec!["411", "420", "422", "444", "444alpha", "420p10", "422p12", "444p16"]),
        count in 0u8..4,
    ) {
        let header = file(&format!("W{width} H{height} C{space}"), &[]);
        let format = Y4m::parse(&header).unwrap().format;
        let frames: Vec<Vec<u8>> =
            (0..count).map(|i| vec![i; format.bytes(width, height).unwrap()]).collect();
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let bytes = file(&format!("W{width} H{height} C{space}"), &frames);
        let read: Result<Vec<_>, _> = Y4m::parse(&bytes).unwrap().frames().collect();
        prop_assert_eq!(read.unwrap(), frames);
    }
}
