//! The programs on the host's device against the bitmaps made on the CPU.

use xenoglot_host::{Commands, Device, DeviceOptions};
use xenoglot_raster::host::Binner;
use xenoglot_raster::wgsl::{Joining, Shape};
use xenoglot_raster::{Bounds, Edges, Grid, HalfPlanes, TILE, cpu};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;

fn bounds(rng: &mut Rng, size: [u32; 2]) -> Bounds {
    let [mut low, mut high] = [[0; 2]; 2];
    for axis in 0..2 {
        let span = size[axis] + 40;
        low[axis] = rng.below(span) as i32 - 20;
        let most = 1 << rng.below(9);
        high[axis] = low[axis] + rng.below(most) as i32 - 1;
    }
    if rng.below(50) == 0 {
        (low, high) = ([i32::MIN; 2], [i32::MAX; 2]);
    }
    Bounds { low, high }
}

/// The device to test on; `None`, with a notice, where there is none.
fn device() -> Option<Device> {
    Device::open(&DeviceOptions::from_env()).inspect_err(|error| skip(&error.to_string())).ok()
}

#[test]
fn programs_make_the_bitmaps_of_the_cpu() {
    let Some(device) = device() else { return };
    for joining in joinings(&device) {
        let binner = Binner::joining(&device, TILE, Shape::Boxes, joining).unwrap();
        boxes_are_binned_as_on_the_cpu(&device, &binner);
    }
}

/// The ways to join bits that the device has.
fn joinings(device: &Device) -> Vec<Joining> {
    if !device.has_subgroups() {
        skip("the device has no subgroup operations");
        return vec![Joining::Plain];
    }
    vec![Joining::Plain, Joining::Subgroups]
}

fn boxes_are_binned_as_on_the_cpu(device: &Device, binner: &Binner) {
    let mut rng = property::rng(1);
    for (size, primitives) in
        [([256, 192], 2048), ([1, 1], 1), ([63, 130], 33), ([512, 384], 1025), ([72, 8], 0), ([4096, 64], 5)]
    {
        let grid = Grid { size, primitives, tile: TILE };
        let all: Vec<Bounds> = (0..primitives).map(|_| bounds(&mut rng, size)).collect();
        let words: Vec<u32> = all.iter().flat_map(Bounds::words).collect();
        let bounds = device.buffer_of(&words).unwrap();
        let [bins, tiles] = [grid.bin_words(), grid.words()].map(|words| device.buffer(4 * words).unwrap());
        let mut commands = Commands::default();
        if primitives > 0 {
            binner.record(device, &mut commands, &grid, (&bounds, Bounds::WORDS), &bins, &tiles).unwrap();
        }
        commands.submit(device).unwrap();
        let read = device.read(&[(&tiles, 0..4 * grid.words())]).unwrap();
        assert!(read[0] == cpu::bin(&grid, &all).words(), "{grid:?}");
    }
}

#[test]
fn edges_are_binned_by_their_spans() {
    let Some(device) = device() else { return };
    let mut rng = property::rng(2);
    for (size, primitives, tile) in [([256, 192], 700, 8), ([200, 130], 1025, 16), ([33, 77], 40, 8)] {
        let grid = Grid { size, primitives, tile };
        let screen = Bounds { low: [0; 2], high: size.map(|pixels| pixels as i32 - 1) };
        let all: Vec<Edges> = (0..primitives)
            .map(|number| {
                let reach = if number % 5 == 0 { 4000 } else { 160 };
                let at = size.map(|pixels| rng.below(8 * pixels) as i32);
                let mut corners = [0; 3].map(|_| at.map(|v| v + rng.below(reach) as i32 - reach as i32 / 2));
                corners.sort_by_key(|corner| (corner[1], corner[0]));
                let edges = Edges::new(corners, screen.intersect(&bounds(&mut rng, size)));
                // Some whose columns do not fit.
                if number % 31 == 0 { Edges { slope: [i32::MAX, 5, i32::MIN], ..edges } } else { edges }
            })
            .collect();
        let words: Vec<u32> = all.iter().flat_map(Edges::words).collect();
        let records = device.buffer_of(&words).unwrap();
        let expected = cpu::bin(&grid, &all);
        for joining in joinings(&device) {
            let binner = Binner::joining(&device, tile, Shape::Edges, joining).unwrap();
            let [bins, tiles] =
                [grid.bin_words(), grid.words()].map(|words| device.buffer(4 * words).unwrap());
            let mut commands = Commands::default();
            binner.record(&device, &mut commands, &grid, (&records, Edges::WORDS), &bins, &tiles).unwrap();
            commands.submit(&device).unwrap();
            let read = device.read(&[(&tiles, 0..4 * grid.words())]).unwrap();
            assert!(read[0] == expected.words(), "{joining:?}, {grid:?}");
        }
    }
}

#[test]
fn half_planes_are_binned_by_their_functions() {
    let Some(device) = device() else { return };
    let mut rng = property::rng(3);
    for (size, primitives, tile) in [([256, 192], 700, 8), ([400, 240], 1025, 8), ([200, 130], 300, 16)] {
        let grid = Grid { size, primitives, tile };
        let screen = Bounds { low: [0; 2], high: size.map(|pixels| pixels as i32 - 1) };
        let all: Vec<HalfPlanes> = (0..primitives)
            .map(|number| {
                let corners = [0; 3].map(|_| size.map(|pixels| rng.below(16 * pixels) as i32));
                let functions = [0, 1, 2].map(|i| {
                    let [[ax, ay], [bx, by]] = [corners[i], corners[(i + 1) % 3]];
                    [ax * by - bx * ay, 16 * (ay - by), 16 * (bx - ax)]
                });
                let [mut at, right, down] = [0, 1, 2].map(|part| functions.map(|function| function[part]));
                // Some whose values wrap around.
                if number % 31 == 0 {
                    at = at.map(|at| at ^ i32::MIN);
                }
                let bounds = screen.intersect(&bounds(&mut rng, size));
                let bounds = if number % 3 == 0 { bounds } else { screen };
                HalfPlanes { at, right, down, bounds, reach: 8 * (number % 2) as u16 }
            })
            .filter(|of| !of.bounds.is_empty())
            .collect();
        let grid = Grid { primitives: all.len() as u32, ..grid };
        let words: Vec<u32> = all.iter().flat_map(HalfPlanes::words).collect();
        let records = device.buffer_of(&words).unwrap();
        let expected = cpu::bin(&grid, &all);
        for joining in joinings(&device) {
            let binner = Binner::joining(&device, tile, Shape::HalfPlanes, joining).unwrap();
            let [bins, tiles] =
                [grid.bin_words(), grid.words()].map(|words| device.buffer(4 * words).unwrap());
            let mut commands = Commands::default();
            binner
                .record(&device, &mut commands, &grid, (&records, HalfPlanes::WORDS), &bins, &tiles)
                .unwrap();
            commands.submit(&device).unwrap();
            let read = device.read(&[(&tiles, 0..4 * grid.words())]).unwrap();
            assert!(read[0] == expected.words(), "{joining:?}, {grid:?}");
        }
    }
}
