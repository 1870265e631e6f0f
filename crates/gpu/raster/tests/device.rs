//! The programs on the host's device against the bitmaps made on the CPU.

use xenoglot_host::{Commands, Device, DeviceOptions};
use xenoglot_raster::host::Binner;
use xenoglot_raster::{Bounds, Grid, TILE, cpu};
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

#[test]
fn programs_make_the_bitmaps_of_the_cpu() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let binner = Binner::new(&device).unwrap();
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
            binner.record(&device, &mut commands, &grid, &bounds, &bins, &tiles).unwrap();
        }
        commands.submit(&device).unwrap();
        let read = device.read(&[(&tiles, 0..4 * grid.words())]).unwrap();
        assert!(read[0] == cpu::bin(&grid, &all).words(), "{grid:?}");
    }
}
