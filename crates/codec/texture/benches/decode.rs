//! Texels a second of each format on one core: `cargo bench -p xenoglot-texture`. Blocks are random, ASTC's legal ones,
//! of up to four partitions, among them; decoders of other hands on the same blocks stand next to ours.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::time::Duration;
use xenoglot_testgen::rng::Rng;
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::{Extent, Format, Profile, decode_into};

/// Texels along a side.
const SIDE: u32 = 1024;

/// Random blocks for a picture, of those that `wanted` takes.
fn blocks(format: Format, extent: Extent, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut rng = Rng::new(5);
    let needed = format.data_bytes(extent).expect("a picture of ordinary size");
    let mut data = Vec::with_capacity(needed);
    while data.len() < needed {
        let block: Vec<u8> = (0..format.block_bytes()).map(|_| rng.next_u32() as u8).collect();
        if wanted(&block) {
            data.extend(block);
        }
    }
    data
}

/// Whether no texel of an ASTC block is the error colour.
fn legal(format: Format, block: &[u8]) -> bool {
    let [width, height, depth] = format.block();
    let mut out = [0; 144 * 8];
    decode_into(format, Extent { width, height, depth }, block, &mut out).expect("one block");
    let texel = format.texel().bytes();
    let error = if texel == 4 { vec![255, 0, 255, 255] } else { vec![255; 8] };
    out.chunks_exact(texel).take((width * height) as usize).all(|t| t != error)
}

/// Whether texture2ddecoder panics on an ASTC block of `side` texels along each side.
fn panics(side: usize, block: &[u8]) -> bool {
    let mut out = vec![0; side * side];
    catch_unwind(AssertUnwindSafe(|| texture2ddecoder::decode_astc(block, side, side, side, side, &mut out)))
        .is_err()
}

fn ours(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, format: Format, data: &[u8], extent: Extent) {
    let mut out = vec![0; format.output_bytes(extent).expect("a picture of ordinary size")];
    group.bench_function(name, |b| {
        b.iter(|| decode_into(format, extent, black_box(data), &mut out).expect("enough bytes"));
    });
}

/// A decoder of single blocks: the block, the output and its pitch.
type ByBlock = fn(&[u8], &mut [u8], usize);

fn bc(c: &mut Criterion) {
    let peers: [(&str, Format, usize, Option<ByBlock>); 5] = [
        ("bc1", Format::Bc1, 4, Some(bcdec_rs::bc1)),
        ("bc3", Format::Bc3, 4, Some(bcdec_rs::bc3)),
        ("bc7", Format::Bc7, 4, Some(bcdec_rs::bc7)),
        ("bc6h", Format::Bc6hUfloat, 6, None),
        ("etc2", Format::Etc2Rgb, 4, None),
    ];
    let extent = Extent::flat(SIDE, SIDE);
    let across = SIDE as usize / 4;
    for (name, format, texel, theirs) in peers {
        let data = blocks(format, extent, |_| true);
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(u64::from(SIDE) * u64::from(SIDE)));
        ours(&mut group, "xenoglot", format, &data, extent);
        let pitch = SIDE as usize * texel;
        let at = |i: usize| i / across * 4 * pitch + i % across * 4 * texel;
        let chunks = || black_box(&data).chunks_exact(format.block_bytes()).enumerate();
        if let Some(theirs) = theirs {
            let mut out = vec![0; pitch * SIDE as usize];
            group.bench_function("bcdec_rs", |b| {
                b.iter(|| chunks().for_each(|(i, block)| theirs(block, &mut out[at(i)..], pitch)));
            });
        }
        if format == Format::Bc6hUfloat {
            let mut out = vec![0; pitch / 2 * SIDE as usize];
            group.bench_function("bcdec_rs", |b| {
                b.iter(|| {
                    chunks().for_each(|(i, block)| {
                        bcdec_rs::bc6h_half(block, &mut out[at(i) / 2..], pitch / 2, false);
                    });
                });
            });
        }
        if format == Format::Etc2Rgb {
            let side = SIDE as usize;
            let mut out = vec![0; side * side];
            group.bench_function("texture2ddecoder", |b| {
                b.iter(|| texture2ddecoder::decode_etc2_rgb(black_box(&data), side, side, &mut out));
            });
        }
        group.finish();
    }
}

fn astc(c: &mut Criterion) {
    let profiles = [("ldr", Profile::LdrUnorm8), ("hdr", Profile::Hdr)];
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    for side in [4, 6, 8] {
        let footprint = Footprint::new(side, side, 1).expect("a footprint of the specification");
        let extent = Extent::flat(SIDE, SIDE);
        let mut group = c.benchmark_group(format!("astc_{side}x{side}"));
        group.throughput(Throughput::Elements(u64::from(SIDE) * u64::from(SIDE)));
        for (name, profile) in profiles {
            let format = Format::Astc(footprint, profile);
            let data = blocks(format, extent, |block| legal(format, block) && !panics(side as usize, block));
            ours(&mut group, name, format, &data, extent);
            if profile == Profile::LdrUnorm8 {
                let (edge, block) = (SIDE as usize, side as usize);
                let mut out = vec![0; edge * edge];
                group.bench_function("texture2ddecoder", |b| {
                    b.iter(|| {
                        texture2ddecoder::decode_astc(black_box(&data), edge, edge, block, block, &mut out)
                    });
                });
            }
        }
        group.finish();
    }
    set_hook(hook);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = bc, astc
}
criterion_main!(benches);
