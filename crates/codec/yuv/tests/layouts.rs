//! Layouts beside planes of the same samples, written as their descriptions have it.

use xenoglot_testgen::rng::Rng;
use xenoglot_yuv::{
    Conversion, Error, Filter, Format, Frame, Layout, Plane, Precision, Subsampling, convert, convert_rgba8,
    convert_rgba8_with,
};

const HEIGHT: usize = 5;

/// Codes of planes: luma, Cb, Cr and alpha.
struct Codes {
    width: usize,
    subsampling: Subsampling,
    bits: u32,
    planes: [Vec<u16>; 4],
}

impl Codes {
    fn random(width: usize, subsampling: Subsampling, bits: u32) -> Codes {
        let mut rng = Rng::new(width as u64);
        let [fx, fy] = subsampling.factors();
        let (luma, chroma) = (width * HEIGHT, width.div_ceil(fx) * HEIGHT.div_ceil(fy));
        let planes = [luma, chroma, chroma, luma]
            .map(|count| (0..count).map(|_| (rng.next_u32() >> (32 - bits)) as u16).collect());
        Codes { width, subsampling, bits, planes }
    }

    fn chroma_width(&self) -> usize {
        self.width.div_ceil(self.subsampling.factors()[0])
    }

    /// Luma, Cb, Cr and alpha; those of chroma by their own column. Behind a row's end there is 0.
    fn at(&self, plane: char, x: usize, y: usize) -> u16 {
        let (plane, width) = match plane {
            'y' => (0, self.width),
            'u' => (1, self.chroma_width()),
            'v' => (2, self.chroma_width()),
            _ => (3, self.width),
        };
        if x < width { self.planes[plane][y * width + x] } else { 0 }
    }

    fn bytes(&self, codes: impl IntoIterator<Item = u16>, high: bool) -> Vec<u8> {
        let shift = if high { 16 - self.bits } else { 0 };
        let word = |code: u16| (code << shift).to_le_bytes();
        match self.bits {
            8 => codes.into_iter().map(|code| code as u8).collect(),
            _ => codes.into_iter().flat_map(word).collect(),
        }
    }

    fn planar(&self) -> (Format, Vec<u8>) {
        let format = Format {
            layout: Layout::PlanarAlpha,
            subsampling: self.subsampling,
            bits: self.bits,
            high: false,
        };
        (format, self.bytes(self.planes.iter().flatten().copied(), false))
    }

    /// A plane of samples in an order, for every two texels of 4:2:2 or each of 4:4:4.
    fn packed(&self, order: &str, high: bool) -> Vec<u8> {
        let lumas = order.matches('y').count();
        let mut codes = Vec::new();
        for y in 0..HEIGHT {
            for group in 0..self.width.div_ceil(lumas) {
                let mut x = lumas * group;
                for sample in order.chars() {
                    let column = if "uv".contains(sample) { group } else { x };
                    codes.push(self.at(sample, column, y));
                    x += usize::from(sample == 'y' && lumas == 2);
                }
            }
        }
        self.bytes(codes, high)
    }
}

/// Both frames are converted to the same, with alpha and without.
fn same(codes: &Codes, format: Format, data: &[u8]) {
    let (planar, planes) = codes.planar();
    let width = codes.width;
    let meant = Frame::tight(planar, width, HEIGHT, &planes).unwrap();
    let frame = Frame::tight(format, width, HEIGHT, data).unwrap();
    for filter in [Filter::Nearest, Filter::Linear, Filter::Cubic] {
        for components in [Conversion::OPAQUE, Conversion::IDENTITY] {
            // Other layouts' alpha is 1.
            if components == Conversion::IDENTITY && !format.layout.has_alpha() {
                continue;
            }
            let conversion = Conversion { filter, components, ..Conversion::default() };
            let singles = |frame| {
                let mut out = vec![[0.0; 4]; width * HEIGHT];
                convert(frame, &conversion, &mut out).unwrap();
                out
            };
            assert!(singles(&frame) == singles(&meant), "{format:?} {conversion:?}");
            for precision in [Precision::Exact, Precision::WithinOne] {
                let bytes = |frame| {
                    let mut out = vec![[0; 4]; width * HEIGHT];
                    convert_rgba8_with(frame, &conversion, precision, &mut out).unwrap();
                    out
                };
                assert!(bytes(&frame) == bytes(&meant), "{format:?} {conversion:?} {precision:?}");
            }
        }
    }
}

#[test]
fn packed_samples() {
    for (layout, order) in [
        (Layout::PackedYuyv, "yuyv"),
        (Layout::PackedUyvy, "uyvy"),
        (Layout::PackedYvyu, "yvyu"),
        (Layout::PackedVyuy, "vyuy"),
        (Layout::PackedVuya, "vuya"),
        (Layout::PackedUyva, "uyva"),
        (Layout::PackedAyuv, "ayuv"),
        (Layout::PackedVyua, "vyua"),
    ] {
        let subsampling = layout.subsampling().unwrap();
        for (bits, high) in [(8, false), (10, true), (12, true), (12, false), (16, true)] {
            for width in [1, 2, 7, 130, 1031] {
                let codes = Codes::random(width, subsampling, bits);
                let data = codes.packed(order, high);
                same(&codes, Format { layout, subsampling, bits, high }, &data);
            }
        }
    }
}

#[test]
fn pairs_of_chroma() {
    for subsampling in
        [Subsampling::S411, Subsampling::S420, Subsampling::S422, Subsampling::S440, Subsampling::S444]
    {
        for (layout, order) in [(Layout::SemiPlanar, [1, 2]), (Layout::SemiPlanarSwapped, [2, 1])] {
            let codes = Codes::random(101, subsampling, 10);
            let pairs = (0..codes.planes[1].len()).flat_map(|i| order.map(|plane| codes.planes[plane][i]));
            let samples: Vec<u16> = codes.planes[0].iter().copied().chain(pairs).collect();
            let data = codes.bytes(samples, true);
            let format = Format { layout, subsampling, bits: 10, high: true };
            let without_alpha = Format { layout: Layout::Planar, ..codes.planar().0 };
            assert_eq!(format.bytes(101, HEIGHT), without_alpha.bytes(101, HEIGHT));
            same(&codes, format, &data);
        }
    }
}

/// Six texels in four words of 32 bits, from the lowest bits on: Cb Y Cr, Y Cb Y, Cr Y Cb, Y Cr Y.
#[test]
fn v210() {
    const ORDER: [[(char, usize); 3]; 4] = [
        [('u', 0), ('y', 0), ('v', 0)],
        [('y', 1), ('u', 1), ('y', 2)],
        [('v', 1), ('y', 3), ('u', 2)],
        [('y', 4), ('v', 2), ('y', 5)],
    ];
    let format = Format { layout: Layout::PackedV210, subsampling: Subsampling::S422, bits: 10, high: false };
    for width in [1, 2, 5, 6, 7, 48, 49, 1031, 1920] {
        let codes = Codes::random(width, Subsampling::S422, 10);
        let pitch = width.div_ceil(48) * 128;
        assert_eq!(format.planes(width, HEIGHT), Some(vec![(pitch, HEIGHT)]));
        let mut data = Vec::new();
        for y in 0..HEIGHT {
            for group in 0..width.div_ceil(6) {
                for samples in ORDER {
                    let word = samples.into_iter().enumerate().fold(0, |word, (i, (plane, place))| {
                        let of_group = if plane == 'y' { 6 } else { 3 };
                        word | u32::from(codes.at(plane, of_group * group + place, y)) << (10 * i)
                    });
                    // The two highest bits are of no matter.
                    data.extend((word | (group as u32) << 30).to_le_bytes());
                }
            }
            data.resize((y + 1) * pitch, 0xff);
        }
        same(&codes, format, &data);
        same(&codes, Format { high: true, ..format }, &data);
        // Rows without padding.
        let short = width.div_ceil(6) * 16;
        let rows: Vec<u8> = data.chunks(pitch).flat_map(|row| &row[..short]).copied().collect();
        let frame = Frame::new(format, width, HEIGHT, &[Plane { data: &rows, pitch: short }]).unwrap();
        let padded = Frame::tight(format, width, HEIGHT, &data).unwrap();
        let bytes = |frame| {
            let mut out = vec![[0; 4]; width * HEIGHT];
            convert_rgba8(frame, &Conversion::default(), &mut out).unwrap();
            out
        };
        assert_eq!(bytes(&frame), bytes(&padded));
        let planes = [Plane { data: &rows[1..], pitch: short }];
        assert!(matches!(Frame::new(format, width, HEIGHT, &planes), Err(Error::Plane { .. })));
    }
    let bits = Frame::tight(Format { bits: 8, ..format }, 1, 1, &[0; 128]).err();
    assert_eq!(bits, Some(Error::PackedBits { needed: 10, given: 8 }));
    let subsampling = Format { subsampling: Subsampling::S444, ..format };
    assert_eq!(Frame::tight(subsampling, 1, 1, &[0; 128]).err(), Some(Error::Packed));
}

#[test]
fn y410() {
    let format = Format { layout: Layout::PackedY410, subsampling: Subsampling::S444, bits: 10, high: false };
    for width in [1, 2, 17, 1031] {
        let mut codes = Codes::random(width, Subsampling::S444, 10);
        let mut data = Vec::new();
        let twos: Vec<u32> = codes.planes[3].iter().map(|alpha| u32::from(alpha >> 8)).collect();
        // Alpha of 0, 1, 2, 3 is 0, 1/3, 2/3 and 1.
        codes.planes[3].iter_mut().zip(&twos).for_each(|(code, two)| *code = *two as u16 * 341);
        for (i, two) in twos.iter().enumerate() {
            let [y, u, v, _] = codes.planes.each_ref().map(|plane| u32::from(plane[i]));
            data.extend((u | y << 10 | v << 20 | two << 30).to_le_bytes());
        }
        assert_eq!(format.bytes(width, HEIGHT), Some(data.len()));
        same(&codes, format, &data);
    }
}

/// Alpha is 1 unless it is asked for, and full alpha is exactly 1.
#[test]
fn alpha_is_asked_for() {
    for bits in [8, 9, 10, 12, 14, 16] {
        let mut codes = Codes::random(300, Subsampling::S420, bits);
        codes.planes[3].fill(u16::MAX >> (16 - bits));
        let (format, data) = codes.planar();
        let frame = Frame::tight(format, 300, HEIGHT, &data).unwrap();
        for filter in [Filter::Linear, Filter::Cubic] {
            for components in [Conversion::OPAQUE, Conversion::IDENTITY] {
                let conversion = Conversion { components, filter, ..Conversion::default() };
                let mut out = vec![[0.0; 4]; 300 * HEIGHT];
                convert(&frame, &conversion, &mut out).unwrap();
                assert!(out.iter().all(|texel| texel[3] == 1.0), "{bits} {conversion:?}");
            }
        }
    }
}
