//! Draws of more and more triangles on the host's GPU, set up and binned by the processor and by the device: what a draw costs the
//! processor until it waits in a batch, and how long it takes until the device is done, in microseconds.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{SIDE, textured, vertex};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::host::{HostRenderer, Options, Programs, Triangles};
use xenoglot_pica::memory::Regions;
use xenoglot_pica::renderer::{Draw, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::{Mesh, Vertex};

/// Draws in a submission.
const DRAWS: u32 = 8;
/// The best of so many batches.
const BATCHES: u32 = 12;
/// Pixels of a side of a square of two triangles.
const SQUARE: usize = 8;

/// Squares that share their corners, in rows over the screen: vertices, and triangles by number.
fn mesh(triangles: usize) -> (Vec<Vertex>, Vec<[u32; 3]>) {
    let columns = SIDE as usize / SQUARE;
    let rows = (triangles / 2).div_ceil(columns);
    let place = |at: usize| (at * SQUARE * 2) as f32 / SIDE as f32 - 1.0;
    let vertices = (0..=rows).flat_map(|y| (0..=columns).map(move |x| vertex(place(x), place(y), -0.5, 0.5)));
    let corners = (0..triangles).map(|number| {
        let (x, y) = (number / 2 % columns, number / 2 / columns);
        let corner = |right, up| ((y + up) * (columns + 1) + x + right) as u32;
        match number % 2 {
            0 => [corner(0, 0), corner(1, 0), corner(0, 1)],
            _ => [corner(1, 0), corner(1, 1), corner(0, 1)],
        }
    });
    (vertices.collect(), corners.collect())
}

fn main() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return println!("{error}"),
    };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    println!("{}, {SIDE}x{SIDE}, triangles with legs of {SQUARE} pixels", device.name());
    println!("{:>9}  {:>22}  {:>22}", "triangles", "processor: draw, done", "device: draw, done");
    for count in [16, 32, 64, 128, 256, 512, 1024, 2048, 4096] {
        let (vertices, corners) = mesh(count);
        let triangles = Mesh::new(&vertices, &corners);
        let [processor, device] = [Triangles::Processor, Triangles::Device].map(|side| {
            let options = Options { triangles: side, ..Options::default() };
            let renderer = HostRenderer::with_options(Arc::clone(&programs), options).expect("memory");
            let [draw, done] = measure(&device, renderer, triangles).map(|time| time.as_secs_f64() * 1e6);
            format!("{draw:>10.1} {done:>11.1}")
        });
        println!("{count:>9}  {processor:>22}  {device:>22}");
    }
}

/// Times of a draw: until it waits in a batch, and until it is done.
fn measure(device: &Device, mut renderer: HostRenderer, triangles: Mesh<'_>) -> [Duration; 2] {
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
