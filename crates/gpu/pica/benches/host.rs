//! Draws of more and more triangles on the host's GPU, binned by the processor and by the device: what a draw costs the processor
//! until it waits in a batch, and how long it takes until the device is done, in microseconds.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{SIDE, small_triangles, textured};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::host::{HostRenderer, Options, Programs, Triangles};
use xenoglot_pica::memory::Regions;
use xenoglot_pica::renderer::{Draw, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::Triangle;

/// Draws that are handed to the device together.
const DRAWS: u32 = 8;
/// The best of so many batches.
const BATCHES: u32 = 12;
const LEGS: [f32; 2] = [8.0, 8.0];

fn main() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return println!("{error}"),
    };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    println!("{}, {SIDE}x{SIDE}, triangles with legs of {} pixels", device.name(), LEGS[0]);
    println!("{:>9}  {:>22}  {:>22}", "triangles", "processor: draw, done", "device: draw, done");
    for count in [16, 32, 64, 128, 256, 512, 1024, 2048, 4096] {
        let triangles = small_triangles(count, LEGS);
        let [processor, device] = [Triangles::Processor, Triangles::Device].map(|side| {
            let options = Options { triangles: side, ..Options::default() };
            let renderer = HostRenderer::with_options(Arc::clone(&programs), options).expect("memory");
            let [draw, done] = measure(&device, renderer, &triangles).map(|time| time.as_secs_f64() * 1e6);
            format!("{draw:>10.1} {done:>11.1}")
        });
        println!("{count:>9}  {processor:>22}  {device:>22}");
    }
}

/// Times of a draw: until it waits in a batch, and until it is done.
fn measure(device: &Device, mut renderer: HostRenderer, triangles: &[Triangle]) -> [Duration; 2] {
    let (regs, tables) = (textured(), Tables::default());
    let mut memory = Regions::console(1 << 20);
    memory.set_tracked(true);
    let mut best = [Duration::MAX; 2];
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..DRAWS {
            let (mut early_depth, mut pixels) = (EarlyDepth::default(), u64::MAX);
            let draw = Draw {
                regs: &regs,
                tables: &tables,
                memory: &mut memory,
                early_depth: &mut early_depth,
                triangles,
                pixels: &mut pixels,
            };
            renderer.draw(draw).expect("pixels");
        }
        let drawn = start.elapsed();
        renderer.finish(&mut memory);
        device.wait().expect("a device");
        let times = [drawn, start.elapsed()].map(|time| time / DRAWS);
        best = [0, 1].map(|i: usize| best[i].min(times[i]));
    }
    best
}
