//! Milliseconds of a frame to RGBA of eight bits: `cargo bench -p xenoglot-yuv`. Samples are random, of BT.709 and the narrow range.
//! Both precisions on one core, the faster one on two, and the crate `yuv` on the same samples stand next to each other.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::time::Instant;
use xenoglot_testgen::rng::Rng;
use xenoglot_yuv::{
    Conversion, Filter, Format, Frame, Layout, Precision, Subsampling, convert_rgba8, convert_rgba8_with,
};
use yuv::{
    YuvBiPlanarImage, YuvConversionMode, YuvError, YuvPackedImage, YuvPlanarImage, YuvRange,
    YuvStandardMatrix,
};

const S411: Subsampling = Subsampling::S411;
const S420: Subsampling = Subsampling::S420;
const S422: Subsampling = Subsampling::S422;
const S444: Subsampling = Subsampling::S444;

/// Layout, subsampling, bits, whether they are the high ones of words, the filter of chroma and the width.
type Case = (&'static str, Layout, Subsampling, u32, bool, Filter, usize);

const CASES: [Case; 26] = [
    ("i420_linear", Layout::Planar, S420, 8, false, Filter::Linear, 1920),
    ("i420_nearest", Layout::Planar, S420, 8, false, Filter::Nearest, 1920),
    ("nv12_linear", Layout::SemiPlanar, S420, 8, false, Filter::Linear, 1920),
    ("nv12_nearest", Layout::SemiPlanar, S420, 8, false, Filter::Nearest, 1920),
    ("i422_linear", Layout::Planar, S422, 8, false, Filter::Linear, 1920),
    ("i422_nearest", Layout::Planar, S422, 8, false, Filter::Nearest, 1920),
    ("yuyv_nearest", Layout::PackedYuyv, S422, 8, false, Filter::Nearest, 1920),
    ("i444", Layout::Planar, S444, 8, false, Filter::Nearest, 1920),
    ("i010_linear", Layout::Planar, S420, 10, false, Filter::Linear, 1920),
    ("i010_nearest", Layout::Planar, S420, 10, false, Filter::Nearest, 1920),
    ("p010_linear", Layout::SemiPlanar, S420, 10, true, Filter::Linear, 1920),
    ("p010_nearest", Layout::SemiPlanar, S420, 10, true, Filter::Nearest, 1920),
    ("i420_cubic", Layout::Planar, S420, 8, false, Filter::Cubic, 1920),
    ("nv12_cubic", Layout::SemiPlanar, S420, 8, false, Filter::Cubic, 1920),
    ("i411_linear", Layout::Planar, S411, 8, false, Filter::Linear, 1920),
    ("v210_linear", Layout::PackedV210, S422, 10, false, Filter::Linear, 1920),
    ("v210_nearest", Layout::PackedV210, S422, 10, false, Filter::Nearest, 1920),
    ("yuva420_linear", Layout::PlanarAlpha, S420, 8, false, Filter::Linear, 1920),
    ("ayuv", Layout::PackedAyuv, S444, 8, false, Filter::Nearest, 1920),
    ("y410", Layout::PackedY410, S444, 10, false, Filter::Nearest, 1920),
    ("i420_linear_4k", Layout::Planar, S420, 8, false, Filter::Linear, 3840),
    ("i420_nearest_4k", Layout::Planar, S420, 8, false, Filter::Nearest, 3840),
    ("nv12_nearest_4k", Layout::SemiPlanar, S420, 8, false, Filter::Nearest, 3840),
    ("i422_nearest_4k", Layout::Planar, S422, 8, false, Filter::Nearest, 3840),
    ("i444_4k", Layout::Planar, S444, 8, false, Filter::Nearest, 3840),
    ("i010_nearest_4k", Layout::Planar, S420, 10, false, Filter::Nearest, 3840),
];

/// Samples of a frame: bytes, and the same as words where there are more than eight bits.
struct Samples {
    width: usize,
    height: usize,
    subsampling: Subsampling,
    bytes: Vec<u8>,
    words: Vec<u16>,
}

impl Samples {
    fn planar<'a, T: Copy + std::fmt::Debug>(&self, samples: &'a [T]) -> YuvPlanarImage<'a, T> {
        let [fx, fy] = self.subsampling.factors();
        let (luma, chroma) = (self.width * self.height, (self.width / fx) * (self.height / fy));
        let (y_plane, rest) = samples.split_at(luma);
        let (u_plane, v_plane) = rest.split_at(chroma);
        let (width, height) = (self.width as u32, self.height as u32);
        let (u_stride, v_stride) = (width / fx as u32, width / fx as u32);
        YuvPlanarImage { y_plane, y_stride: width, u_plane, u_stride, v_plane, v_stride, width, height }
    }

    fn semi_planar<'a, T: Copy + std::fmt::Debug>(&self, samples: &'a [T]) -> YuvBiPlanarImage<'a, T> {
        let (y_plane, uv_plane) = samples.split_at(self.width * self.height);
        let (width, height) = (self.width as u32, self.height as u32);
        YuvBiPlanarImage { y_plane, y_stride: width, uv_plane, uv_stride: width, width, height }
    }

    /// Converts by the crate `yuv`, if it has such a function.
    fn by_peer(&self, name: &str, out: &mut [u8]) -> Option<Result<(), YuvError>> {
        let (range, matrix) = (YuvRange::Limited, YuvStandardMatrix::Bt709);
        let mode = YuvConversionMode::Balanced;
        let (bytes, words) = (&*self.bytes, &*self.words);
        let (width, height) = (self.width as u32, self.height as u32);
        let pitch = 4 * width;
        Some(match name.trim_end_matches("_4k") {
            "i420_linear" => yuv::yuv420_to_rgba_bilinear(&self.planar(bytes), out, pitch, range, matrix),
            "i420_nearest" => yuv::yuv420_to_rgba(&self.planar(bytes), out, pitch, range, matrix),
            "nv12_nearest" => {
                yuv::yuv_nv12_to_rgba(&self.semi_planar(bytes), out, pitch, range, matrix, mode)
            }
            "i422_linear" => yuv::yuv422_to_rgba_bilinear(&self.planar(bytes), out, pitch, range, matrix),
            "i422_nearest" => yuv::yuv422_to_rgba(&self.planar(bytes), out, pitch, range, matrix),
            "yuyv_nearest" => {
                let image = YuvPackedImage { yuy: bytes, yuy_stride: 2 * width, width, height };
                yuv::yuyv422_to_rgba(&image, out, pitch, range, matrix)
            }
            "i444" => yuv::yuv444_to_rgba(&self.planar(bytes), out, pitch, range, matrix),
            "i010_nearest" => yuv::i010_to_rgba(&self.planar(words), out, pitch, range, matrix),
            "p010_nearest" => yuv::p010_to_rgba(&self.semi_planar(words), out, pitch, range, matrix, mode),
            _ => return None,
        })
    }
}

type Convert<'a> = dyn FnMut(&mut [[u8; 4]]) + 'a;

/// A way to convert, its times in seconds.
struct Way<'a> {
    name: &'static str,
    convert: Box<Convert<'a>>,
    times: Vec<f64>,
}

impl<'a> Way<'a> {
    fn new(name: &'static str, convert: impl FnMut(&mut [[u8; 4]]) + 'a) -> Way<'a> {
        Way { name, convert: Box::new(convert), times: Vec::new() }
    }
}

/// Runs all ways in turns and prints the milliseconds of each: the least, and the median.
fn measure(case: &str, mut ways: Vec<Way<'_>>, out: &mut [[u8; 4]], rounds: usize) {
    for _ in 0..rounds {
        for way in &mut ways {
            let start = Instant::now();
            (way.convert)(black_box(&mut *out));
            way.times.push(start.elapsed().as_secs_f64());
        }
    }
    print!("{case:16}");
    for Way { name, mut times, .. } in ways {
        times.sort_by(f64::total_cmp);
        let [least, median] = [times[0], times[times.len() / 2]].map(|seconds| seconds * 1e3);
        print!(" | {name} {least:.3} {median:.3}");
    }
    println!();
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn main() {
    // Without `--bench` Cargo only wants to know whether it runs.
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let rounds = if options.iter().any(|option| option == "--bench") { 200 } else { 1 };
    let (one, two) = (pool(1), pool(2));
    println!("milliseconds, the least and the median of {rounds} rounds, in which all take turns");
    for case in &CASES {
        if wanted.is_empty() || wanted.iter().any(|part| case.0.contains(part.as_str())) {
            // On the thread of the one core, so that none waits for another to begin.
            one.install(|| compare(case, &two, rounds));
        }
    }
}

fn compare(&(name, layout, subsampling, bits, high, filter, width): &Case, two: &ThreadPool, rounds: usize) {
    let mut rng = Rng::new(3);
    let (height, format) = (width * 9 / 16, Format { layout, subsampling, bits, high });
    let count = format.bytes(width, height).expect("a frame of ordinary size");
    let mut bytes: Vec<u8> = (0..count).map(|_| rng.next_u32() as u8).collect();
    let mut words = Vec::new();
    if bits > 8 && layout.bits().is_none() {
        // The other crate expects zeros in the bits beside a code.
        let mask = if high { u16::MAX << (16 - bits) } else { u16::MAX >> (16 - bits) };
        for word in bytes.as_chunks_mut().0 {
            *word = (u16::from_le_bytes(*word) & mask).to_le_bytes();
            words.push(u16::from_le_bytes(*word));
        }
    }
    let samples = Samples { width, height, subsampling, bytes, words };
    let frame = Frame::tight(format, width, height, &samples.bytes).expect("enough samples");
    let components = if format.layout.has_alpha() { Conversion::IDENTITY } else { Conversion::OPAQUE };
    let conversion = Conversion { filter, components, ..Conversion::default() };
    let by_words = |out: &mut [[u8; 4]]| {
        convert_rgba8_with(&frame, &conversion, Precision::WithinOne, out).expect("room for all texels");
    };
    let mut out = vec![[0; 4]; width * height];
    let mut ways = vec![
        Way::new("exact", |out| convert_rgba8(&frame, &conversion, out).expect("room for all texels")),
        Way::new("within one", by_words),
        Way::new("on two cores", |out| two.install(|| by_words(out))),
    ];
    if samples.by_peer(name, out.as_flattened_mut()).is_some() {
        ways.push(Way::new("yuv", |out| {
            let result = samples.by_peer(name, out.as_flattened_mut());
            result.expect("a function that is there").expect("room for all texels");
        }));
    }
    measure(name, ways, &mut out, rounds);
}
