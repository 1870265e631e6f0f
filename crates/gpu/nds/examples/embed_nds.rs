//! What an emulator does with the 3D engines: its bus writes go in, its scanlines come out.
//!
//! `cargo run -p xenoglot-nds --example embed_nds` draws a spinning cube for a second and writes the last frame as
//! `cube.ppm`.

use std::f64::consts::TAU;
use std::io::Write;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::raster::Options;
use xenoglot_nds::raster::buffers::{HEIGHT, WIDTH};
use xenoglot_nds::registers::{Control, Registers};

/// Cycles of the geometry engine in a frame: 263 lines of 355 dots of 6 cycles of 33 MHz.
const FRAME_CYCLES: u64 = 263 * 355 * 6;

/// Writes a command to its port, as the console's processor does: if the queue is full, the engine works first.
fn command(gpu: &mut Gpu, number: u8, params: &[u32]) {
    let none = [0];
    for &param in if params.is_empty() { none.as_slice() } else { params } {
        while gpu.write_port(number, param).is_err() {
            gpu.run(100);
        }
    }
}

/// 20.12.
fn fixed(value: f64) -> u32 {
    (value * 4096.0) as i32 as u32
}

fn matrix(gpu: &mut Gpu, mode: u32, rows: [[f64; 4]; 4]) {
    command(gpu, 0x10, &[mode]);
    command(gpu, 0x16, &rows.as_flattened().iter().map(|&v| fixed(v)).collect::<Vec<_>>());
}

/// Corners of each face, counterclockwise from outside; bit 0 is x, bit 1 y, bit 2 z.
const FACES: [[u32; 4]; 6] =
    [[1, 3, 7, 5], [4, 6, 2, 0], [2, 6, 7, 3], [1, 5, 4, 0], [4, 5, 7, 6], [2, 3, 1, 0]];
const COLORS: [u32; 6] = [0x001f, 0x03e0, 0x7c00, 0x03ff, 0x7fe0, 0x7c1f];

fn cube(gpu: &mut Gpu, angle: f64) {
    let (near, far, zoom) = (1.0, 16.0, 1.6);
    let depth = (far + near) / (near - far);
    let projection = [
        [zoom * 0.75, 0.0, 0.0, 0.0],
        [0.0, zoom, 0.0, 0.0],
        [0.0, 0.0, depth, -1.0],
        [0.0, 0.0, 2.0 * far * near / (near - far), 0.0],
    ];
    let (s, c) = angle.sin_cos();
    let (ts, tc) = 0.5f64.sin_cos();
    let model =
        [[c, s * ts, -s * tc, 0.0], [0.0, tc, ts, 0.0], [s, -c * ts, c * tc, 0.0], [0.0, 0.0, -4.0, 1.0]];
    command(gpu, 0x60, &[(WIDTH as u32 - 1) << 16 | (HEIGHT as u32 - 1) << 24]);
    matrix(gpu, 0, projection);
    matrix(gpu, 2, model);
    for (id, (face, color)) in FACES.iter().zip(COLORS).enumerate() {
        command(gpu, 0x29, &[0x80 | 31 << 16 | (id as u32 + 1) << 24]);
        command(gpu, 0x40, &[1]);
        command(gpu, 0x20, &[color]);
        for corner in face {
            let at = |bit: u32| if corner >> bit & 1 != 0 { 0x1000 } else { 0xf000 };
            command(gpu, 0x23, &[at(0) | at(1) << 16, at(2)]);
        }
    }
    command(gpu, 0x50, &[0]);
}

fn main() -> std::io::Result<()> {
    let mut gpu = Gpu::new(Options::default());
    gpu.set_registers(Registers {
        control: (Control::ANTIALIASING | Control::BLENDING).bits(),
        clear_color: 0x2108 | 31 << 16,
        clear_depth: 0x7fff,
        ..Registers::default()
    });
    for frame in 0..60 {
        cube(&mut gpu, f64::from(frame) * TAU / 240.0);
        gpu.run(FRAME_CYCLES);
        gpu.vblank();
    }
    let mut out = std::io::BufWriter::new(std::fs::File::create("cube.ppm")?);
    writeln!(out, "P6 {WIDTH} {HEIGHT} 63")?;
    for y in 0..HEIGHT {
        let row = gpu.renderer().color_row(y);
        out.write_all(row.map(|c| [c as u8, (c >> 8) as u8, (c >> 16) as u8]).as_flattened())?;
    }
    println!("{} frames, {} polygons in the last: cube.ppm", gpu.frames(), gpu.polygons().polygons.len());
    Ok(())
}
