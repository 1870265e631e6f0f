//! Random machines on the crate and on a plain reference: whole pictures of both screens, and what is captured.

mod reference;

use rayon::prelude::*;
use reference::{BANKS, Machine, Progress};
use std::convert::Infallible;
use xenoglot_nds::geometry::polygon::PolygonList;
use xenoglot_nds::memory::TextureMemory;
use xenoglot_nds::raster::{Extensions, Options};
use xenoglot_nds::registers::Registers;
use xenoglot_nds::video::bus::Width;
use xenoglot_nds::video::{LINES, Picture, Rasterizer, Video};
use xenoglot_testgen::property::{budget, seed};
use xenoglot_testgen::rng::Rng;

/// A picture of the 3D engines that is given.
struct Given(Vec<[u32; 256]>);

impl Rasterizer for Given {
    type Error = Infallible;

    fn draw(
        &mut self,
        _: &PolygonList,
        _: &Registers,
        _: &TextureMemory,
        picture: &mut Picture,
    ) -> Result<(), Infallible> {
        picture.copy_from_slice(&self.0);
        Ok(())
    }
}

/// Bytes of which some are the same for a while, as in pictures.
fn bytes(rng: &mut Rng, length: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(length);
    while out.len() < length {
        let run = 1 + rng.below(12) as usize;
        match rng.below(4) {
            0 => out.extend(std::iter::repeat_n(0, run)),
            1 => out.extend(std::iter::repeat_n(rng.next_u32() as u8, run)),
            _ => (0..run).for_each(|_| out.push(rng.next_u32() as u8)),
        }
    }
    out.truncate(length);
    out
}

/// Offsets of a 2D engine's registers and which bits of them are random.
const ENGINE: [(usize, u16); 40] = [
    (0x08, 0xffff),
    (0x0a, 0xffff),
    (0x0c, 0xffff),
    (0x0e, 0xffff),
    (0x10, 0x1ff),
    (0x12, 0x1ff),
    (0x14, 0x1ff),
    (0x16, 0x1ff),
    (0x18, 0x1ff),
    (0x1a, 0x1ff),
    (0x1c, 0x1ff),
    (0x1e, 0x1ff),
    (0x20, 0xffff),
    (0x22, 0xffff),
    (0x24, 0xffff),
    (0x26, 0xffff),
    (0x28, 0xffff),
    (0x2a, 0xffff),
    (0x2c, 0xffff),
    (0x2e, 0xffff),
    (0x30, 0xffff),
    (0x32, 0xffff),
    (0x34, 0xffff),
    (0x36, 0xffff),
    (0x38, 0xffff),
    (0x3a, 0xffff),
    (0x3c, 0xffff),
    (0x3e, 0xffff),
    (0x40, 0xffff),
    (0x42, 0xffff),
    (0x44, 0xffff),
    (0x46, 0xffff),
    (0x48, 0x3f3f),
    (0x4a, 0x3f3f),
    (0x4c, 0xffff),
    (0x50, 0x3fff),
    (0x52, 0x1f1f),
    (0x54, 0x1f),
    (0x6c, 0xc01f),
    (0x00, 0),
];

fn machine(rng: &mut Rng) -> Machine {
    let mut io = [[0u16; 0x38]; 2];
    for (engine, io) in io.iter_mut().enumerate() {
        for (offset, mask) in ENGINE {
            io[offset / 2] = rng.next_u32() as u16 & mask;
        }
        // Matrices and points that stay within reach of a picture, mostly.
        for n in 0..2 {
            if rng.below(4) != 0 {
                for offset in [0x20, 0x22, 0x24, 0x26] {
                    io[(offset + 16 * n) / 2] = (rng.below(0x300) as i32 - 0x180) as u16;
                }
                for offset in [0x2a, 0x2e] {
                    io[(offset + 16 * n) / 2] = (rng.below(5) as i32 - 2) as u16;
                }
            }
        }
        let small = |rng: &mut Rng| if rng.below(2) == 0 { 0 } else { rng.next_u32() as u16 };
        io[0x4c / 2] &= small(rng) | 0x1111;
        io[0x6c / 2] &= small(rng);
        let mode = rng.below(if engine == 0 { 7 } else { 6 });
        let layers = (rng.next_u32() | rng.next_u32()) & 0x1f00;
        let windows = rng.next_u32() & rng.next_u32() & 0xe000;
        let shown = if rng.below(8) == 0 { rng.below(4) } else { 1 };
        let other = rng.next_u32() & 0xff7c_0078;
        // Both bits of bitmap OBJs are reserved together.
        let other = if other & 0x60 == 0x60 { other & !0x20 } else { other };
        let control = mode | layers | windows | shown << 16 | other;
        let control = if engine == 1 { control & 0xc0b1_fff7 } else { control };
        io[0] = control as u16;
        io[1] = (control >> 16) as u16;
    }
    let control: [u8; 9] = std::array::from_fn(|bank| {
        let usual = [0x81, 0x82, 0x84, 0x84, 0x84, 0x85, 0x80, 0x82, 0x83];
        if rng.below(3) != 0 { usual[bank] } else { rng.next_u32() as u8 & 0x9f | 0x80 }
    });
    let oam = (0..256).flat_map(|_| {
        // Half of them are off the screen or switched off.
        let y = if rng.below(2) == 0 { 200 } else { rng.below(256) };
        let a0 = y | (rng.next_u32() & 0xfd00) | if rng.below(3) == 0 { 0x200 } else { 0 };
        let near = |rng: &mut Rng| (rng.below(0x300) as i32 - 0x180) as u16;
        let halves = [a0 as u16, rng.next_u32() as u16, rng.next_u32() as u16, near(rng)];
        halves.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    });
    let oam = oam.collect();
    let three_d = (0..192)
        .map(|_| {
            let mut color = 0;
            std::array::from_fn(|_| {
                if rng.below(6) == 0 {
                    color = rng.next_u32() & 0x1f3f_3f3f;
                    color = if rng.below(2) == 0 { color | 0x1f00_0000 } else { color };
                    color = if rng.below(3) == 0 { 0 } else { color };
                }
                color
            })
        })
        .collect();
    // All is on, mostly.
    let power = 0x820f & !(if rng.below(8) == 0 { rng.next_u32() as u16 & 0x202 } else { 0 })
        ^ (rng.next_u32() as u16 & 0x8000);
    Machine {
        banks: BANKS.iter().map(|&size| bytes(rng, size)).collect(),
        control,
        palettes: bytes(rng, 0x800),
        oam,
        io,
        power,
        capture: if rng.below(3) == 0 { 1 << 31 | rng.next_u32() & 0x6f3f_1f1f } else { 0 },
        three_d,
        fifo: std::array::from_fn(|_| rng.next_u32() as u16),
    }
}

/// The crate with the same memory and registers, written over the bus, at the start of line 192.
fn video(machine: &Machine, extensions: Extensions) -> Video {
    let mut video = Video::new(Options { extensions, threads: 1, ..Options::default() });
    let mut write = |address: u32, value: u32, width: Width| video.write(address, value, width).unwrap();
    write(0x0400_0304, 0x820f, Width::Half);
    for (bank, memory) in machine.banks.iter().enumerate() {
        // Each bank with the LCD controller, by words.
        let port = 0x0400_0240 + bank as u32 + u32::from(bank >= 7);
        write(port, 0x80, Width::Byte);
        let start = 0x0680_0000 + BANKS[..bank].iter().sum::<usize>() as u32;
        for (at, word) in (start..).step_by(4).zip(memory.as_chunks().0) {
            write(at, u32::from_le_bytes(*word), Width::Word);
        }
        write(port, machine.control[bank].into(), Width::Byte);
    }
    for (at, pair) in (0x0500_0000..).step_by(2).zip(machine.palettes.as_chunks().0) {
        write(at, u16::from_le_bytes(*pair).into(), Width::Half);
    }
    for (at, word) in (0x0700_0000..).step_by(4).zip(machine.oam.as_chunks().0) {
        write(at, u32::from_le_bytes(*word), Width::Word);
    }
    for (engine, io) in machine.io.iter().enumerate() {
        for (offset, &value) in (0..0x58u32).step_by(2).chain([0x6c]).map(|at| (at, &io[at as usize / 2])) {
            write(0x0400_0000 + 0x1000 * engine as u32 + offset, value.into(), Width::Half);
        }
    }
    write(0x0400_0064, machine.capture, Width::Word);
    write(0x0400_0304, machine.power.into(), Width::Half);
    video.begin_at(192);
    video
}

/// The first line that differs.
fn difference(case: u64, extensions: Extensions) -> Option<String> {
    let mut machine = machine(&mut Rng::new(case));
    let mut video = video(&machine, extensions);
    let mut given = Given(machine.three_d.clone());
    let mut progress = Progress::default();
    for line in (192..LINES).chain(0..192) {
        let Ok(()) = video.start_line(&mut given);
        if line == 0 {
            let fifo = machine.fifo;
            (0..8).for_each(|i| {
                let word = u32::from(fifo[2 * i]) | u32::from(fifo[2 * i + 1]) << 16;
                video.write(0x0400_0068, word, Width::Word).unwrap();
            });
        }
        video.draw_line();
        machine.start_line(line, &mut progress);
        let Some(y) = Some(line as usize).filter(|&y| y < 192) else { continue };
        let wanted = machine.line(y, machine.capture >> 31 != 0, &mut progress);
        for (screen, wanted) in wanted.iter().enumerate() {
            let got = &video.screen(screen)[y];
            if let Some(x) = (0..256).find(|&x| got[x] != wanted[x]) {
                let count = (0..256).filter(|&x| got[x] != wanted[x]).count();
                return Some(format!(
                    "case {case}: screen {screen}, line {y}: {count} differ, first {x}: {:05x}, reference {:05x}; DISPCNT {:04x}{:04x} {:04x}{:04x}",
                    got[x], wanted[x], machine.io[0][1], machine.io[0][0], machine.io[1][1], machine.io[1][0],
                ));
            }
        }
    }
    let bank = (0..9).find(|&bank| video.vram().bank(bank) != machine.banks[bank])?;
    Some(format!("case {case}: bank {bank} differs"))
}

/// What long runs found: maps of 32 KiB that start within a page, of which the third page's bank is not that of the first two.
const FOUND: [u64; 3] = [14_273_421_645_559_038_189, 14_273_421_645_559_038_950, 14_273_421_645_559_038_969];

#[test]
fn random_pictures_are_those_of_the_plain_reference() {
    let (first, count) = (seed(), budget(48, 2000));
    let random = (0..count).map(|i| first.wrapping_mul(0x1_0000) + i);
    let cases: Vec<u64> = random.chain(FOUND).collect();
    let differences: Vec<String> = cases
        .par_iter()
        .filter_map(|&case| {
            let extensions = Extensions::ALL[case as usize % Extensions::ALL.len()];
            difference(case, extensions)
        })
        .collect();
    println!("{count} random pictures: {} differ", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
