//! Rows of the 3D engines' picture that are not drawn when the screen takes them.

use xenoglot_nds::raster::{Options, Renderer};
use xenoglot_nds::video::bus::Width;
use xenoglot_nds::video::{Drawing, RowTime, Video};

const DISP3DCNT: u32 = 0x0400_0060;
const RDLINES_COUNT: u32 = 0x0400_0320;
const UNDERFLOW: u32 = 1 << 12;

/// A machine that draws its frames in time, or not.
struct Machine(Video, Renderer);

impl Machine {
    fn new(time: RowTime) -> Machine {
        let mut video = Video::new(Options::default());
        video.write(0x0400_0304, 0x820f, Width::Half).unwrap();
        // Everything is nearer than the clear plane.
        video.write(0x0400_0354, 0x7fff, Width::Half).unwrap();
        video.set_row_time(time);
        Machine(video, Renderer::new(Options::default()))
    }

    /// Draws a frame of a number of quads over some rows, and shows it.
    fn frame(&mut self, quads: usize, color: u32, rows: [i32; 2]) {
        self.submit(quads, color, rows);
        [191, 192].into_iter().for_each(|line| self.run_to(line));
        self.show(192);
    }

    /// Goes on from a line to the end of the frame in which the picture is shown, which is drawn in the blank before.
    fn show(&mut self, line: u32) {
        let rest = if line >= 192 { &[0, 192][..] } else { &[192] };
        rest.iter().for_each(|&line| self.run_to(line));
    }

    /// Commands of a frame of a number of quads over some rows.
    fn submit(&mut self, quads: usize, color: u32, [top, bottom]: [i32; 2]) {
        let video = &mut self.0;
        // Rows 0 to 192 are 1 to -1, of six bits of fraction.
        let y = |row: i32| (96 - row) * 64 / 96;
        let words = [
            &[0x60, 255 << 16 | 191 << 24, 0x10, 0, 0x15, 0x10, 2, 0x15, 0x29, 31 << 16 | 0xc0, 0x20, color]
                [..],
            &[0x40, 1],
        ]
        .concat();
        video.three_d_mut().feed(&words);
        for _ in 0..quads {
            for (x, row) in [(-512, top), (511, top), (511, bottom), (-512, bottom)] {
                video.three_d_mut().feed(&[0x24, (x & 0x3ff) as u32 | ((y(row) & 0x3ff) as u32) << 10]);
            }
        }
        video.three_d_mut().feed(&[0x50, 0]);
    }

    fn run_to(&mut self, line: u32) {
        let Machine(video, renderer) = self;
        while video.line() != line {
            let Ok(_) = video.advance(video.cycles_to_event(), renderer);
        }
    }

    fn read(&mut self, address: u32) -> u32 {
        self.0.read(address, Width::Half)
    }
}

#[test]
fn nothing_is_late_where_drawing_takes_no_time() {
    let mut machine = Machine::new(RowTime::default());
    assert_eq!(machine.read(RDLINES_COUNT), 46);
    machine.frame(500, 31, [0, 192]);
    assert_eq!((machine.read(RDLINES_COUNT), machine.read(DISP3DCNT) & UNDERFLOW), (46, 0));
}

#[test]
fn the_lead_of_48_rows_makes_up_for_some_slow_ones() {
    // A line has 2130 cycles. Ten rows of three lines each eat up twenty of the lead.
    let mut machine = Machine::new(RowTime { row: 0, polygon: 3 * 2130, pixel: 0 });
    machine.frame(1, 31, [96, 108]);
    let count = machine.read(RDLINES_COUNT);
    assert!((15..35).contains(&count), "{count}");
    assert_eq!(machine.read(DISP3DCNT) & UNDERFLOW, 0);
    let picture = *machine.0.picture_3d();
    let mut other = Machine::new(RowTime::default());
    other.frame(1, 31, [96, 108]);
    assert!(picture == *other.0.picture_3d() && picture[100][128] & 0x3f == 63);
}

#[test]
fn rows_that_come_too_late_show_what_their_place_in_the_buffer_has() {
    let mut machine = Machine::new(RowTime { row: 1, polygon: 30 * 2130, pixel: 0 });
    // Ten rows of thirty lines each: from the second on the lead is gone.
    machine.frame(1, 31, [96, 108]);
    assert_eq!(machine.read(RDLINES_COUNT), 0);
    assert_eq!(machine.read(DISP3DCNT) & UNDERFLOW, UNDERFLOW);
    let red: Vec<usize> = (0..192).filter(|&y| machine.0.picture_3d()[y][128] & 0x3f != 0).collect();
    assert_eq!(red.first(), Some(&96), "{red:?}");
    // Rows that were drawn late are seen when the screen comes to their place again, 48 rows on.
    assert!(red.iter().any(|&y| y >= 96 + 48), "{red:?}");
    // Writing 1 acknowledges it, and it stays so while everything is in time.
    machine.frame(0, 0, [0, 0]);
    assert_eq!(machine.read(DISP3DCNT) & UNDERFLOW, UNDERFLOW);
    machine.0.write(DISP3DCNT, UNDERFLOW, Width::Half).unwrap();
    assert_eq!(machine.read(DISP3DCNT) & UNDERFLOW, 0);
    machine.frame(0, 0, [0, 0]);
    assert_eq!((machine.read(RDLINES_COUNT), machine.read(DISP3DCNT) & UNDERFLOW), (46, 0));
}

#[test]
fn pixels_and_polygons_have_times_of_their_own() {
    let counts =
        [RowTime { row: 0, polygon: 4000, pixel: 0 }, RowTime { row: 0, polygon: 0, pixel: 4000 / 256 }].map(
            |time| {
                let mut machine = Machine::new(time);
                machine.frame(1, 31, [96, 130]);
                machine.read(RDLINES_COUNT)
            },
        );
    assert!(counts.iter().all(|&count| (1..46).contains(&count)), "{counts:?}");
    assert!(counts[0].abs_diff(counts[1]) <= 2, "{counts:?}");
}

#[test]
fn rows_drawn_one_by_one_are_those_of_a_whole_frame() {
    let times = [
        RowTime::default(),
        RowTime { row: 0, polygon: 3 * 2130, pixel: 0 },
        RowTime { row: 1, polygon: 30 * 2130, pixel: 0 },
        RowTime { row: 2000, polygon: 300, pixel: 1 },
    ];
    for time in times {
        let [mut whole, mut by_row] = [Drawing::WholeFrame, Drawing::ByRow].map(|drawing| {
            let mut machine = Machine::new(time);
            machine.0.set_drawing(drawing);
            machine
        });
        for (color, rows) in [(31, [96, 108]), (31 << 5, [30, 150]), (31 << 10, [100, 120]), (0, [0, 0])] {
            for machine in [&mut whole, &mut by_row] {
                machine.frame(2, color, rows);
            }
            assert!(whole.0.picture_3d() == by_row.0.picture_3d(), "{time:?}, {rows:?}");
            let registers = |machine: &mut Machine| [RDLINES_COUNT, DISP3DCNT].map(|at| machine.read(at));
            assert_eq!(registers(&mut whole), registers(&mut by_row), "{time:?}, {rows:?}");
        }
    }
}

/// Each picture is drawn in one way or the other, also if that changes while drawing begins.
#[test]
fn the_way_of_drawing_may_change_in_any_line() {
    for line in [213, 214, 215, 100] {
        for ways in [[Drawing::WholeFrame, Drawing::ByRow], [Drawing::ByRow, Drawing::WholeFrame]] {
            let [mut machine, mut other] = [0, 1].map(|_| Machine::new(RowTime::default()));
            machine.0.set_drawing(ways[0]);
            for (color, rows) in [(31, [96, 108]), (31 << 5, [30, 150])] {
                other.frame(1, color, rows);
                machine.submit(1, color, rows);
                // In the frame in which it is drawn, or in the one in which it is shown.
                [191, 192, line].into_iter().for_each(|line| machine.run_to(line));
                machine.0.set_drawing(ways[1]);
                machine.show(line);
                assert!(machine.0.picture_3d() == other.0.picture_3d(), "{ways:?} in line {line}");
                machine.0.set_drawing(ways[0]);
            }
        }
    }
}

/// In the middle of the screen another bank becomes texture memory.
#[test]
fn rows_drawn_one_by_one_have_textures_of_their_time() {
    let mut machine = Machine::new(RowTime::default());
    machine.0.set_drawing(Drawing::ByRow);
    let map = |machine: &mut Machine, banks: [u32; 2]| {
        for (bank, control) in (0..).zip(banks) {
            machine.0.write(0x0400_0240 + bank, control, Width::Byte).unwrap();
        }
    };
    map(&mut machine, [0x80, 0x80]);
    for (address, color) in [(0x0680_0000, 0x801f), (0x0682_0000, 0x83e0)] {
        for texel in 0..64 {
            machine.0.write(address + 2 * texel, color, Width::Half).unwrap();
        }
    }
    map(&mut machine, [0x83, 0x80]);
    machine.0.write(DISP3DCNT, 1, Width::Half).unwrap();
    // 8 x 8 direct colours, all the same.
    machine.0.three_d_mut().feed(&[0x2a, 7 << 26 | 3 << 16]);
    machine.frame(1, 0x7fff, [0, 192]);
    // The picture is drawn once more, for the frame after this one.
    [262, 60].into_iter().for_each(|line| machine.run_to(line));
    map(&mut machine, [0x80, 0x83]);
    machine.run_to(192);
    // 48 rows are there when the screen is in row 60: that one and 47 below.
    let is_red = |y: usize| machine.0.picture_3d()[y][128] & 0x3f3f == 63;
    let reds: Vec<usize> = (0..192).filter(|&y| is_red(y)).collect();
    assert_eq!(reds, (0..=107).collect::<Vec<_>>());
    assert_eq!(machine.0.picture_3d()[108][128] & 0x3f3f, 63 << 8);
}
