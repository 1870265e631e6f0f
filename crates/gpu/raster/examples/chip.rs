//! A whole chip on the core, in the manner of early consoles: flat and Gouraud triangles in 15-bit colour, put in order by
//! an ordering table, without depth. Its pixel rule is written once and drawn by four engines, which must agree: a pixel
//! at a time, sixteen at once, the IR on the interpreter, and the IR on the host's GPU.
//!
//! ```text
//! cargo run -p xenoglot-raster --features host --example chip
//! ```

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, i32x16};
use xenoglot_host::{Access as Use, Arguments, Binding, Commands, Device, DeviceOptions};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::Module;
use xenoglot_ir::module::Access;
use xenoglot_raster::edges::covers;
use xenoglot_raster::host::Binner;
use xenoglot_raster::ops::{LANES, Lanes, Ops, Scalar};
use xenoglot_raster::tile_program::{frame_words, load_edges, tile_program};
use xenoglot_raster::wgsl::Shape;
use xenoglot_raster::{Bounds, Edges, Grid, TILE, cpu};

type Failure = Box<dyn std::error::Error>;

const SIZE: [u32; 2] = [320, 240];
/// Buckets of the ordering table; the last one is the farthest.
const BUCKETS: usize = 64;
/// Fraction bits of colours.
const FRACTION: u32 = 12;
/// Words of a triangle: its edges, then base and both gradients of red, green and blue.
const WORDS: usize = Edges::WORDS + 9;

/// A corner: column and row in pixels, red, green and blue of 8 bits.
type Corner = ([i32; 2], [i32; 3]);

/// The table: triangles are drawn from the last bucket to the first, in each the newest first, as linked lists were.
struct OrderingTable {
    buckets: Vec<Vec<[Corner; 3]>>,
}

impl OrderingTable {
    fn add(&mut self, bucket: usize, triangle: [Corner; 3]) {
        self.buckets[bucket].push(triangle);
    }

    fn in_order(&self) -> impl Iterator<Item = &[Corner; 3]> {
        self.buckets.iter().rev().flat_map(|bucket| bucket.iter().rev())
    }
}

/// A triangle that is set up: a colour is `base + dx * column + dy * row`, with [`FRACTION`] bits of fraction.
struct Triangle {
    edges: Edges,
    base: [i32; 3],
    dx: [i32; 3],
    dy: [i32; 3],
}

impl Triangle {
    fn new(mut corners: [Corner; 3]) -> Option<Triangle> {
        corners.sort_by_key(|(at, _)| (at[1], at[0]));
        let screen = Bounds { low: [0; 2], high: SIZE.map(|pixels| pixels as i32 - 1) };
        let edges = Edges::new(corners.map(|(at, _)| at.map(|v| v * 8)), screen);
        let [(a, first), (b, second), (c, third)] = corners;
        let [[ab_x, ab_y], [ac_x, ac_y]] = [b, c].map(|to| [to[0] - a[0], to[1] - a[1]]);
        let area = i64::from(ab_x * ac_y - ab_y * ac_x);
        if area == 0 {
            return None;
        }
        // Gradients by Cramer's rule, towards zero.
        let gradient = |i: usize, along: [i32; 2]| {
            let [b, c] = [second[i] - first[i], third[i] - first[i]];
            let n = i64::from(b * along[1] - c * along[0]) << FRACTION;
            (n / area) as i32
        };
        let dx = [0, 1, 2].map(|i| gradient(i, [ab_y, ac_y]));
        let dy = [0, 1, 2].map(|i| -gradient(i, [ab_x, ac_x]));
        let half = 1 << (FRACTION - 1);
        let base = [0, 1, 2].map(|i| (first[i] << FRACTION) + half - dx[i] * a[0] - dy[i] * a[1]);
        Some(Triangle { edges, base, dx, dy })
    }

    fn words(&self) -> impl Iterator<Item = u32> {
        let colors = [self.base, self.dx, self.dy].into_iter().flatten().map(|v| v as u32);
        self.edges.words().into_iter().chain(colors)
    }
}

/// The chip's pixel rule: the word of a pixel that the triangle covers.
#[inline(always)]
fn pixel<O: Ops>(o: &mut O, [base, dx, dy]: [[O::Int; 3]; 3], [x, y]: [O::Int; 2]) -> O::Int {
    let channels = [0, 1, 2].map(|i| {
        let (right, down) = (o.mul(dx[i], x), o.mul(dy[i], y));
        let sum = o.add(base[i], right);
        let sum = o.add(sum, down);
        let value = o.sar_by(sum, FRACTION);
        let value = o.clamp(value, 0, 255);
        o.shr_by(value, 3)
    });
    let (green, blue) = (o.shl_by(channels[1], 5), o.shl_by(channels[2], 10));
    let word = o.or(channels[0], green);
    o.or(word, blue)
}

/// A pixel at a time, without tiles.
fn reference(triangles: &[Triangle]) -> Vec<u32> {
    let mut frame = vec![0; (SIZE[0] * SIZE[1]) as usize];
    let mut o = Scalar::new(&[]);
    for triangle in triangles {
        for y in 0..SIZE[1] as i32 {
            let [left, right] = triangle.edges.span(y);
            for x in left..=right {
                let colors = [triangle.base, triangle.dx, triangle.dy];
                frame[(y * SIZE[0] as i32 + x) as usize] = pixel(&mut o, colors, [x, y]) as u32;
            }
        }
    }
    frame
}

/// Tiles, sixteen pixels of a row at once. Tiles share no pixels, so that threads could draw one each.
fn lanes(grid: &Grid, triangles: &[Triangle]) -> Vec<u32> {
    let mut frame = vec![0; (SIZE[0] * SIZE[1]) as usize];
    let edges: Vec<Edges> = triangles.iter().map(|triangle| triangle.edges).collect();
    let tiles = cpu::bin(grid, &edges);
    let [columns, rows] = grid.tiles();
    for at in (0..rows).flat_map(|y| (0..columns).map(move |x| [x, y])) {
        for number in tiles.primitives(at[0], at[1]) {
            let triangle = &triangles[number as usize];
            dispatch!(Level::new(), simd => tile_lanes(simd, &mut frame, at.map(|at| at * grid.tile), grid.tile, triangle));
        }
    }
    frame
}

#[inline(always)]
fn tile_lanes<S: Simd>(simd: S, frame: &mut [u32], origin: [u32; 2], tile: u32, triangle: &Triangle) {
    let mut o = Lanes::new(simd, &[]);
    let colors = [triangle.base, triangle.dx, triangle.dy].map(|values| values.map(|value| o.int(value)));
    let numbers: [i32; LANES] = std::array::from_fn(|i| i as i32);
    for row in origin[1]..(origin[1] + tile).min(SIZE[1]) {
        let [left, right] = triangle.edges.span(row as i32);
        let first = origin[0] as usize;
        let x = i32x16::load_array(simd, numbers) + first as i32;
        let y = o.int(row as i32);
        let words = pixel(&mut o, colors, [x, y]).to_array();
        let end = (first + tile as usize).min(SIZE[0] as usize);
        for (x, word) in (first..end).zip(words) {
            if (left..=right).contains(&(x as i32)) {
                frame[row as usize * SIZE[0] as usize + x] = word as u32;
            }
        }
    }
}

/// The rule as a program: buffers 2 triangles, 3 pixels.
fn program() -> Module {
    tile_program(
        "chip",
        TILE,
        |o| [o.storage("triangles", 2, Access::Read), o.storage("pixels", 3, Access::ReadWrite)],
        |o, [_, pixels], at| [o.word(*pixels, at.index)],
        |o, [triangles, _], at, number, [stored]| {
            let base = o.times(number, WORDS as i32);
            let edges = load_edges(o, *triangles, base);
            let covered = covers(o, &edges, at.place[0], at.place[1]);
            o.when(covered, [stored], |o| {
                let mut words = Edges::WORDS as u32..;
                let mut next = || words.next().unwrap_or_default();
                let colors = [0; 3].map(|_| [0; 3].map(|_| o.word_at(*triangles, base, next())));
                [pixel(o, colors, at.place)]
            })
        },
        |o, [_, pixels], at, [word]| o.set_word(*pixels, at.index, word),
    )
}

fn interpreted(grid: &Grid, triangles: &[Triangle]) -> Result<Vec<u32>, Failure> {
    let module = program();
    let edges: Vec<Edges> = triangles.iter().map(|triangle| triangle.edges).collect();
    let tiles = cpu::bin(grid, &edges);
    let records: Vec<u32> = triangles.iter().flat_map(Triangle::words).collect();
    let pixels = vec![0; (SIZE[0] * SIZE[1]) as usize];
    let buffers = [frame_words(grid).to_vec(), tiles.words().to_vec(), records, pixels];
    let mut bindings = Bindings::new(&module);
    for (resource, data) in module.resources.iter() {
        bindings.set_words(resource, &buffers[data.binding as usize]);
    }
    let [columns, rows] = grid.tiles();
    let limits = Limits { fuel: u64::MAX, ..Limits::default() };
    Interpreter::new(&module)?.dispatch([columns, rows, 1], &mut bindings, &limits)?;
    let pixels = module.resources.iter().find(|(_, data)| data.binding == 3).ok_or("no pixels")?;
    Ok(bindings.words(pixels.0))
}

fn on_device(device: &Device, grid: &Grid, triangles: &[Triangle]) -> Result<Vec<u32>, Failure> {
    let access = [Use::Read, Use::Read, Use::Read, Use::ReadWrite];
    let bindings: Vec<Binding> = (0..).zip(access).map(|(i, access)| Binding::new(i, access)).collect();
    let layout = device.layout(&bindings);
    let program = device.program(&layout, program())?;
    let records: Vec<u32> = triangles.iter().flat_map(Triangle::words).collect();
    let records = device.buffer_of(&records)?;
    let [bins, tiles] = [device.buffer(4 * grid.bin_words())?, device.buffer(4 * grid.words())?];
    let frame = device.buffer_of(&frame_words(grid))?;
    let pixels = device.buffer(u64::from(4 * SIZE[0] * SIZE[1]))?;
    let mut commands = Commands::default();
    let binner = Binner::with(device, TILE, Shape::Edges)?;
    binner.record(device, &mut commands, grid, (&records, WORDS), &bins, &tiles)?;
    let arguments = Arguments::new(device, &layout, &[&frame, &tiles, &records, &pixels])?;
    let [columns, rows] = grid.tiles();
    commands.dispatch(&program, &arguments, &[], [columns, rows, 1]);
    commands.submit(device)?;
    Ok(device.read(&[(&pixels, 0..pixels.size())])?.concat())
}

fn main() -> Result<(), Failure> {
    let mut table = OrderingTable { buckets: vec![Vec::new(); BUCKETS] };
    let mut seed = 1u32;
    let mut below = |n: i32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(seed) * n as u64) >> 32) as i32
    };
    for number in 0..500 {
        let at = SIZE.map(|pixels| below(pixels as i32));
        let flat = [0; 3].map(|_| below(256));
        let corners = [0; 3].map(|_| {
            let place = at.map(|v| v + below(60) - 30);
            (place, if number % 2 == 0 { flat } else { [0; 3].map(|_| below(256)) })
        });
        table.add(below(BUCKETS as i32) as usize, corners);
    }
    let triangles: Vec<Triangle> = table.in_order().filter_map(|corners| Triangle::new(*corners)).collect();
    let grid = Grid { size: SIZE, primitives: triangles.len() as u32, tile: TILE };
    let expected = reference(&triangles);
    assert!(lanes(&grid, &triangles) == expected, "sixteen pixels at once");
    assert!(interpreted(&grid, &triangles)? == expected, "interpreter");
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => assert!(on_device(&device, &grid, &triangles)? == expected, "{}", device.name()),
        Err(error) => println!("no device: {error}"),
    }
    let drawn = expected.iter().filter(|&&word| word != 0).count();
    println!("{} triangles, {drawn} pixels, the same on every engine", triangles.len());
    Ok(())
}
