//! What a game does to the graphics: a function of the frame's number, so that machines that start in any frame are given the
//! same.

use std::fmt::Debug;
use xenoglot_nds::video::bus::Width;
use xenoglot_nds::video::clock::Lines;
use xenoglot_nds::video::{LINES, Rasterizer, Video};
use xenoglot_testgen::rng::Rng;

/// A write in a line's horizontal blank.
#[derive(Clone, Copy)]
struct Write {
    line: u32,
    address: u32,
    value: u32,
    width: Width,
}

fn halves(line: u32, writes: &[(u32, u32)]) -> Vec<Write> {
    writes.iter().map(|&(address, value)| Write { line, address, value, width: Width::Half }).collect()
}

/// Commands of a frame: triangles with the other bank's capture as their texture.
fn commands(rng: &mut Rng, frame: u32) -> Vec<u32> {
    let mut out = vec![0x60, 255 << 16 | 191 << 24, 0x10, 0, 0x15];
    for _ in 0..2 + rng.below(6) {
        let alpha = if rng.below(3) == 0 { 1 + rng.below(31) } else { 31 };
        out.extend([0x29, rng.next_u32() & 0x3f00_c830 & !0x30 | 0xc0 | alpha << 16]);
        // Direct colours of 256 x 256, or none.
        let texture = if rng.below(4) == 0 { 0 } else { 7 << 26 | 5 << 23 | 5 << 20 | 3 << 16 };
        out.extend([0x2a, texture, 0x40, rng.below(3)]);
        for _ in 0..3 + rng.below(4) {
            out.extend([0x20, rng.next_u32() & 0x7fff, 0x22, rng.next_u32() & 0x0fff_0fff]);
            let coordinate = |rng: &mut Rng| rng.below(0x2400).wrapping_sub(0x1200) & 0xffff;
            let (x, y, z) = (coordinate(rng), coordinate(rng), rng.below(0x1800));
            out.extend([0x23, x | y << 16, z.wrapping_sub(0xc00) & 0xffff]);
        }
        out.push(0x41);
    }
    out.extend([0x50, frame & 3]);
    out
}

/// All writes of a frame, by line.
fn writes(frame: u32) -> Vec<Write> {
    let rng = &mut Rng::new(u64::from(frame) + 77);
    let mut out = Vec::new();
    // Banks A and B take turns: one is captured into, the other is the texture.
    let captured = frame & 1;
    let bank =
        |bank: u32, value: u32| Write { line: 192, address: 0x0400_0240 + bank, value, width: Width::Byte };
    out.extend([bank(captured, 0x80), bank(1 - captured, 0x83), bank(2, 0x84), bank(3, 0x84)]);
    // Now and then, banks go elsewhere for a frame: two of them overlap.
    let small = if frame.is_multiple_of(11) { 0x91 } else { 0x81 };
    out.extend([bank(4, 0x83), bank(5, 0x82), bank(6, small), bank(8, 0x81 + (frame % 3)), bank(9, 0x83)]);
    let capture = 1 << 31
        | 3 << 20
        | captured << 16
        | rng.next_u32() & 0x6100_1f1f
        | (rng.below(4) << 18 & if frame.is_multiple_of(5) { 3 << 18 } else { 0 });
    out.push(Write { line: 260, address: 0x0400_0064, value: capture, width: Width::Word });
    // Both screens take turns, too.
    out.extend(halves(192, &[(0x0400_0304, 0x020f | frame << 15 & 0x8000)]));
    let mode = if frame % 9 == 8 { 2 } else { 1 };
    let display = 0x1f10 | 8 | mode << 16 | (1 - captured) << 18 | (rng.below(8) << 13);
    out.push(Write { line: 192, address: 0x0400_0000, value: display, width: Width::Word });
    let lower = 0x1f10 | 5 | 1 << 16 | 1 << 31 | 1 << 30;
    out.push(Write { line: 192, address: 0x0400_1000, value: lower, width: Width::Word });
    out.extend(halves(
        193,
        &[
            (0x0400_0008, rng.below(4)),
            (0x0400_000a, rng.next_u32() & 0xdf43),
            (0x0400_100c, 0x4084 | rng.below(4)),
            (0x0400_100e, 0x4080 | rng.below(4)),
            (0x0400_0050, rng.next_u32() & 0x3fff),
            (0x0400_1050, rng.next_u32() & 0x3fff),
            (0x0400_0060, rng.next_u32() & 0x0fbf),
            (0x0400_0352, rng.next_u32() & 0x3f1f),
            (0x0400_0350, rng.next_u32() & 0xffff),
            (0x0400_0354, 0x7fff),
            (0x0400_004c, rng.next_u32() & 0x3333),
        ],
    ));
    for n in 0..2 {
        for (offset, value) in [(0, 0x100), (2, rng.below(32)), (4, rng.below(32)), (6, 0x100)] {
            out.extend(halves(193, &[(0x0400_1020 + 16 * n + offset, value)]));
        }
    }
    for n in 0..32 {
        let at = 0x0500_0000 + rng.below(1024) * 2;
        out.extend(halves(194 + n / 8, &[(at, rng.next_u32() & 0xffff)]));
        let at = 0x0700_0000 + rng.below(1024) * 2;
        out.extend(halves(198 + n / 8, &[(at, rng.next_u32() & 0xffff)]));
    }
    // Tiles, maps and bitmaps, written as a DMA would.
    for base in [0x0600_0000u32, 0x0640_0000, 0x0620_0000, 0x0660_0000] {
        let start = base + rng.below(0x800) * 16;
        for word in 0..64 {
            let value = if rng.below(4) == 0 { 0 } else { rng.next_u32() };
            out.push(Write { line: 205, address: start + 4 * word, value, width: Width::Word });
        }
    }
    for _ in 0..24 {
        let registers =
            [0x0400_0014, 0x0400_0016, 0x0400_0052, 0x0400_0054, 0x0400_0040, 0x0400_1028, 0x0400_1052];
        let address = registers[rng.below(registers.len() as u32) as usize];
        out.extend(halves(rng.below(192), &[(address, rng.next_u32() & 0xffff)]));
    }
    for word in commands(rng, frame) {
        out.push(Write { line: 20, address: 0x0400_0400, value: word, width: Width::Word });
    }
    out.sort_by_key(|write| (write.line + LINES - 192) % LINES);
    out
}

/// A machine: the graphics, and what draws the 3D engines' picture.
pub struct Machine<R> {
    pub video: Video,
    pub rasterizer: R,
    /// All that was asked for, in order.
    pub asked: Vec<Lines>,
}

impl<R: Rasterizer<Error: Debug>> Machine<R> {
    fn advance(&mut self, cycles: u32) {
        let lines = self.video.advance(cycles, &mut self.rasterizer).expect("a frame");
        self.asked.push(lines);
        if lines.contains(Lines::DMA_DISPLAY) {
            self.video.deliver_display_pixels(&[0x1234; 256]);
        }
    }

    /// Plays from the start of line 192 to that of the next frame's; `between` is called after each line.
    pub fn frame(&mut self, frame: u32, mut between: impl FnMut(u32, &mut Machine<R>)) {
        let writes = writes(frame);
        let mut next = writes.iter().peekable();
        for line in (192..LINES).chain(0..192) {
            assert_eq!(self.video.line(), line);
            let to_blank = self.video.cycles_to_event();
            self.advance(to_blank);
            while let Some(write) = next.next_if(|write| write.line == line) {
                while self.video.write(write.address, write.value, write.width).is_err() {
                    // The processor stalls.
                    let cycles = 32.min(self.video.cycles_to_event());
                    assert!(cycles > 0);
                    self.advance(cycles);
                }
            }
            while self.video.line() == line {
                let to_line = self.video.cycles_to_event();
                self.advance(to_line);
            }
            between(line, self);
        }
    }
}

/// The graphics at the start of line 192, with all switched on.
pub fn start(mut video: Video) -> Video {
    video.write(0x0400_0304, 0x820f, Width::Half).unwrap();
    // Interrupts, and VCOUNT's at line 77.
    video.write(0x0400_0004, 77 << 8 | 0x38, Width::Half).unwrap();
    video.write(0x0400_0600, 1 << 30, Width::Word).unwrap();
    video.begin_at(193);
    video
}
