//! Scales: guest memory is the same at each, and the larger picture shows what the guest's own does.

use std::sync::Arc;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::host::{HostRenderer, Options, Programs, Scale};
use xenoglot_pica::memory::{Memory, Regions};
use xenoglot_pica::replay::{Image, Operation};
use xenoglot_pica_scenes::{Params, SCENES, Scene};
use xenoglot_testgen::skip::skip;

fn programs() -> Option<Arc<Programs>> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => Some(Arc::new(Programs::new(&device, Compilation::Blocking))),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// Channels that differ by no more than this are alike.
const ALIKE: u8 = 4;

/// The second frame of a scene: the picture that is presented at a scale, and the one in guest memory.
fn second_frame(programs: &Arc<Programs>, scene: &Scene, samples: u32) -> [Image; 2] {
    let options = Options { scale: Scale::new(samples).unwrap(), ..Options::default() };
    let mut gpu = Gpu::new(HostRenderer::with_options(Arc::clone(programs), options).unwrap());
    let capture = scene.build(Params { frames: Some(2), count: None });
    let mut memory = Regions::console(128 << 20);
    memory.set_tracked(true);
    for block in &capture.memory {
        memory.bytes_mut(block.address, block.bytes.len() as u32).unwrap().copy_from_slice(&block.bytes);
    }
    let mut last = None;
    for op in capture.ops.iter() {
        match Operation::decode(&op).unwrap() {
            Operation::Frame(shown) => last = Some(shown.frame()),
            operation => operation.run(&mut gpu, &mut memory).unwrap(),
        }
    }
    let report = gpu.take_report();
    assert_eq!((report.errors, report.detours), (0, 0), "{}: {:?}", scene.name, report.messages);
    let frame = last.unwrap();
    let picture = gpu.renderer_mut().present(&mut memory, &frame, None).unwrap();
    let large = gpu.renderer_mut().screenshot(&picture).unwrap();
    [large, gpu.show(&mut memory, &frame).unwrap()]
}

/// A pixel of a larger picture: the mean of its samples, and the most that a channel of two of them differs by.
fn reduced(image: &Image, samples: u32, [x, y]: [u32; 2]) -> ([u8; 4], u8) {
    let pixels = image.rgba.as_chunks::<4>().0;
    let (mut sum, mut low, mut high) = ([0u32; 4], [255; 4], [0; 4]);
    for n in 0..samples * samples {
        let place = (y * samples + n / samples) * image.width + x * samples + n % samples;
        for (channel, &value) in pixels[place as usize].iter().enumerate() {
            sum[channel] += u32::from(value);
            low[channel] = value.min(low[channel]);
            high[channel] = value.max(high[channel]);
        }
    }
    let mean = sum.map(|sum| ((sum + samples * samples / 2) / (samples * samples)) as u8);
    (mean, distance(&high, &low))
}

fn distance(a: &[u8; 4], b: &[u8; 4]) -> u8 {
    a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

/// Whether no channel of the pixels around one differs from it by more than [`ALIKE`].
fn is_smooth(image: &Image, [x, y]: [u32; 2]) -> bool {
    let pixels = image.rgba.as_chunks::<4>().0;
    let pixel = |x: u32, y: u32| &pixels[(y * image.width + x) as usize];
    let [columns, rows] =
        [(x, image.width), (y, image.height)].map(|(at, end)| at.saturating_sub(1)..(at + 2).min(end));
    rows.flat_map(|row| columns.clone().map(move |column| (column, row)))
        .all(|(column, row)| distance(pixel(x, y), pixel(column, row)) <= ALIKE)
}

/// Pixels without an edge, those of them whose mean is the guest's own pixel but for 1, and such ones among all pixels.
fn agreement(own: &Image, large: &Image, samples: u32) -> [usize; 3] {
    let places = (0..own.height).flat_map(|y| (0..own.width).map(move |x| [x, y]));
    let mut counts = [0; 3];
    for (place, pixel) in places.zip(own.rgba.as_chunks::<4>().0) {
        let (mean, spread) = reduced(large, samples, place);
        let is_same = distance(pixel, &mean) <= 1;
        let has_no_edge = spread <= ALIKE && is_smooth(own, place);
        for (count, counts_here) in counts.iter_mut().zip([has_no_edge, has_no_edge && is_same, is_same]) {
            *count += usize::from(counts_here);
        }
    }
    counts
}

/// The measure of docs/host-gpu.md: the mean of a pixel's samples is the guest's own pixel, but for 1 of 255, where no edge of a
/// triangle or texel goes through the pixel.
#[test]
fn the_larger_picture_reduces_to_the_guests_own() {
    let Some(programs) = programs() else { return };
    for samples in [2, 3, 4] {
        let mut sum = [0; 3];
        for scene in SCENES {
            let [own, same] = second_frame(&programs, scene, 1);
            assert!(own == same, "{}", scene.name);
            let [large, in_memory] = second_frame(&programs, scene, samples);
            assert!(in_memory == own, "{} at {samples}", scene.name);
            assert_eq!((large.width, large.height), (own.width * samples, own.height * samples));
            let counts = agreement(&own, &large, samples);
            let [alike, alike_same, same] = counts;
            let pixels = own.rgba.len() / 4;
            println!(
                "{samples} {:14}{alike:>7} of {pixels} without an edge, {alike_same} equal; {same} equal in all",
                scene.name
            );
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
            assert!(alike_same * 100 >= alike * 95, "{} at {samples}", scene.name);
        }
        let [alike, alike_same, _] = sum;
        println!("{samples} in all: {alike_same} of {alike} equal");
        assert!(alike_same * 1000 >= alike * 995);
    }
}
