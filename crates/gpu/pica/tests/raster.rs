//! The CPU renderer's measure of its work.

use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::memory::{FCRAM, Regions, VRAM};
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::{Draw, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::{Triangle, Vertex};

const WIDTH: u64 = 48;
const HEIGHT: u64 = 40;

/// A screen of 48×40 that takes its colours from a texture.
fn registers(texture: u32) -> Registers {
    let mut regs = Registers::default();
    let set = [
        (VIEWPORT_HALF_WIDTH, 67 << 16 | 0x8000),
        (VIEWPORT_HALF_HEIGHT, 67 << 16 | 0x4000),
        (TEXTURE_UNITS, 1),
        (TEXTURE0 + 1, 16 << 16 | 8),
        (TEXTURE0 + 4, texture / 8),
        (COMBINER5, 0x0003_0003),
        (FRAGMENT_MODE, 1 << 8),
        (DEPTH_TEST, 0xf << 8),
        (COLOR_WRITE, 0xf),
        (COLOR_ADDRESS, VRAM / 8),
        (FRAMEBUFFER_SIZE, (HEIGHT as u32 - 1) << 12 | WIDTH as u32),
    ];
    set.into_iter().for_each(|(register, value)| regs.set(register, value));
    regs
}

/// Half the screen.
fn triangle() -> Triangle {
    [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)].map(|(x, y)| {
        let mut values = [0.5; 24];
        values[..4].copy_from_slice(&[x, y, -0.5, 1.0]);
        Vertex { values }
    })
}

/// Draws and gives what is left of `pixels`, if that was enough.
fn draw(texture: u32, triangles: &[Triangle], mut pixels: u64) -> Option<u64> {
    let mut memory = Regions::console(1 << 12);
    let (regs, tables) = (registers(texture), Tables::default());
    let drawn = Renderer::new().draw(Draw {
        regs: &regs,
        tables: &tables,
        memory: &mut memory,
        early_depth: &mut EarlyDepth::default(),
        triangles: triangles.into(),
        pixels: &mut pixels,
    });
    assert!(drawn.is_ok() || pixels == 0);
    drawn.ok().map(|()| pixels)
}

#[test]
fn a_draw_stops_before_the_triangle_that_is_too_much() {
    let bounds = WIDTH * HEIGHT;
    assert_eq!(draw(FCRAM, &[triangle()], bounds + 1), Some(1));
    assert_eq!(draw(FCRAM, &[triangle(); 3], 3 * bounds), Some(0));
    assert_eq!(draw(FCRAM, &[triangle(); 3], 3 * bounds - 1), None);
    // Without an area there is nothing to look at.
    assert_eq!(draw(FCRAM, &[[triangle()[0]; 3]], 0), Some(0));
}

#[test]
fn pixels_that_read_what_others_wrote_cost_more() {
    assert_eq!(draw(VRAM, &[triangle()], 20 * WIDTH * HEIGHT), Some(4 * WIDTH * HEIGHT));
}
