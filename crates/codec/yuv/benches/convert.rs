//! Milliseconds of a frame to RGBA of eight bits: `cargo bench -p xenoglot-yuv`. Samples are random, of BT.709 and the narrow range.
//! Both precisions on one core, the faster one on two, and the crate `yuv` on the same samples stand next to each other.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::time::Duration;
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
const CASES: [(&str, Layout, Subsampling, u32, bool, Filter, usize); 17] = [
    ("i420_linear", Layout::Planar, S420, 8, false, Filter::Linear, 1920),
    ("i420_nearest", Layout::Planar, S420, 8, false, Filter::Nearest, 1920),
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
    ("i411_linear", Layout::Planar, S411, 8, false, Filter::Linear, 1920),
    ("v210_linear", Layout::PackedV210, S422, 10, false, Filter::Linear, 1920),
    ("v210_nearest", Layout::PackedV210, S422, 10, false, Filter::Nearest, 1920),
    ("i420_linear_4k", Layout::Planar, S420, 8, false, Filter::Linear, 3840),
    ("i420_nearest_4k", Layout::Planar, S420, 8, false, Filter::Nearest, 3840),
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
        Some(match name {
            "i420_linear" | "i420_linear_4k" => {
                yuv::yuv420_to_rgba_bilinear(&self.planar(bytes), out, pitch, range, matrix)
            }
            "i420_nearest" | "i420_nearest_4k" => {
                yuv::yuv420_to_rgba(&self.planar(bytes), out, pitch, range, matrix)
            }
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

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn convert(c: &mut Criterion) {
    let (one, two) = (pool(1), pool(2));
    let mut rng = Rng::new(3);
    for (name, layout, subsampling, bits, high, filter, width) in CASES {
        let (height, format) = (width * 9 / 16, Format { layout, subsampling, bits, high });
        let count = format.bytes(width, height).expect("a frame of ordinary size");
        let mut bytes: Vec<u8> = (0..count).map(|_| rng.next_u32() as u8).collect();
        let mut words = Vec::new();
        if bits > 8 {
            // Bits that are not a code's are 0, as the other crate expects.
            let mask = if high { u16::MAX << (16 - bits) } else { u16::MAX >> (16 - bits) };
            for word in bytes.as_chunks_mut().0 {
                *word = (u16::from_le_bytes(*word) & mask).to_le_bytes();
                words.push(u16::from_le_bytes(*word));
            }
        }
        let samples = Samples { width, height, subsampling, bytes, words };
        let frame = Frame::tight(format, width, height, &samples.bytes).expect("enough samples");
        let conversion = Conversion { filter, ..Conversion::default() };
        let mut out = vec![[0; 4]; width * height];
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements((width * height) as u64));
        group.bench_function("exact", |b| {
            b.iter(|| one.install(|| convert_rgba8(black_box(&frame), &conversion, &mut out)));
        });
        for (cores, pool) in [(1, &one), (2, &two)] {
            group.bench_function(BenchmarkId::new("within_one", cores), |b| {
                let precision = Precision::WithinOne;
                b.iter(|| {
                    pool.install(|| convert_rgba8_with(black_box(&frame), &conversion, precision, &mut out))
                });
            });
        }
        let out = out.as_flattened_mut();
        if samples.by_peer(name, out).is_some() {
            group.bench_function("yuv", |b| b.iter(|| black_box(&samples).by_peer(name, out)));
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = convert
}
criterion_main!(benches);
