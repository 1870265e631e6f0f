//! YUV4MPEG2 files.

use xenoglot_yuv::y4m::{Error, Y4m};
use xenoglot_yuv::{Conversion, Frame, convert_rgba8};

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
        convert_rgba8(&frame, &Conversion::default(), &mut vec![[0; 4]; texels]).expect("there is room");
    }
    assert_eq!(frames.next(), None);
}

/// Inputs to start from: small files of every colour space.
pub fn files() -> Vec<Vec<u8>> {
    let spaces =
        ["420jpeg", "420mpeg2", "420paldv", "420", "422", "444", "420p10", "422p12", "444p16", "mono"];
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
