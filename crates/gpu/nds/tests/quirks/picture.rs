//! Frames of a few polygons, whose corners are pixels.

use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::raster::Options;
use xenoglot_nds::raster::buffers::HEIGHT;
use xenoglot_nds::registers::{Control, Registers};

/// POLYGON_ATTR: both faces, an alpha, an id, and more bits.
pub fn attributes(alpha: u32, id: u32, more: u32) -> u32 {
    0xc0 | alpha << 16 | id << 24 | more
}

/// Texture coordinates and colours do not matter to most.
pub struct Picture(pub Gpu, pub Vec<u32>);

impl Picture {
    pub fn new(control: Control, clear_color: u32) -> Picture {
        let mut gpu = Gpu::new(Options { threads: 1, ..Options::default() });
        gpu.set_registers(Registers {
            control: control.bits(),
            clear_color,
            clear_depth: 0x7fff,
            ..Registers::default()
        });
        Picture(gpu, vec![0x60, 255 << 16 | 191 << 24])
    }

    /// A polygon through pixels, at a depth from -0x1000 to 0x1000.
    pub fn polygon(&mut self, attributes: u32, color: u32, depth: i32, points: &[[i32; 2]]) {
        self.polygon_at(attributes, color, depth * 3, points);
    }

    /// The same at a z from -0x3000 to 0x3000.
    pub fn polygon_at(&mut self, attributes: u32, color: u32, z: i32, points: &[[i32; 2]]) {
        let words = &mut self.1;
        words.extend([0x29, attributes, 0x40, u32::from(points.len() == 4), 0x20, color]);
        // Pixels of 1/256 and 1/192 of the screen; w is 0x3000, so that all of them are exact.
        words.extend([0x10, 0, 0x16]);
        words.extend([0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x3000]);
        for &[x, y] in points {
            let (x, y) = (x * 0x6000 / 256 - 0x3000, 0x3000 - y * 0x6000 / 192);
            words.extend([0x23, (x as u32 & 0xffff) | (y as u32) << 16, z as u32 & 0xffff]);
        }
    }

    pub fn draw(mut self) -> Gpu {
        self.1.extend([0x50, 0]);
        self.0.feed(&self.1);
        self.0.vblank();
        self.0
    }
}

pub const WHITE: u32 = 0x7fff;
pub const RED: u32 = 0x1f;
pub const BLUE: u32 = 0x7c00;
pub const BLACK: u32 = 31 << 16;

pub fn lit(gpu: &Gpu) -> Vec<[usize; 2]> {
    let row = |y| gpu.renderer().color_row(y).into_iter().enumerate().filter(|(_, c)| c & 0xff_ffff != 0);
    (0..HEIGHT).flat_map(|y| row(y).map(move |(x, _)| [x, y])).collect()
}

pub fn at(gpu: &Gpu, x: usize, y: usize) -> u32 {
    gpu.renderer().color_row(y)[x]
}

pub const SQUARE: [[i32; 2]; 4] = [[64, 64], [64, 128], [128, 128], [128, 64]];

/// What is lit of a part of the screen: `#`, and `.` for what is not.
pub fn ascii(gpu: &Gpu, [left, top]: [usize; 2], [columns, rows]: [usize; 2]) -> Vec<String> {
    let pixel = |x, y| if at(gpu, x, y) & 0xff_ffff != 0 { '#' } else { '.' };
    (top..top + rows).map(|y| (left..left + columns).map(|x| pixel(x, y)).collect()).collect()
}
