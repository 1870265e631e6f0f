//! What a naive implementation gets wrong, shown by pixels: each test draws a picture that protects a rule.

use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::raster::buffers::{HEIGHT, PixelFlags, WIDTH};
use xenoglot_nds::raster::{Options, SlopeGaps, slope};
use xenoglot_nds::registers::{Control, Registers};

/// POLYGON_ATTR: both faces, an alpha, an id, and more bits.
fn attributes(alpha: u32, id: u32, more: u32) -> u32 {
    0xc0 | alpha << 16 | id << 24 | more
}

/// Texture coordinates and colours do not matter to most.
struct Picture(Gpu, Vec<u32>);

impl Picture {
    fn new(control: Control, clear_color: u32) -> Picture {
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
    fn polygon(&mut self, attributes: u32, color: u32, depth: i32, points: &[[i32; 2]]) {
        let words = &mut self.1;
        words.extend([0x29, attributes, 0x40, u32::from(points.len() == 4), 0x20, color]);
        // Pixels of 1/256 and 1/192 of the screen; w is 0x3000, so that all of them are exact.
        words.extend([0x10, 0, 0x16]);
        words.extend([0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x3000]);
        for &[x, y] in points {
            let (x, y) = (x * 0x6000 / 256 - 0x3000, 0x3000 - y * 0x6000 / 192);
            words.extend([0x23, (x as u32 & 0xffff) | (y as u32) << 16, (depth * 3) as u32 & 0xffff]);
        }
    }

    fn draw(mut self) -> Gpu {
        self.1.extend([0x50, 0]);
        self.0.feed(&self.1);
        self.0.vblank();
        self.0
    }
}

const WHITE: u32 = 0x7fff;
const RED: u32 = 0x1f;
const BLUE: u32 = 0x7c00;
const BLACK: u32 = 31 << 16;

fn lit(gpu: &Gpu) -> Vec<[usize; 2]> {
    let row = |y| gpu.renderer().color_row(y).into_iter().enumerate().filter(|(_, c)| c & 0xff_ffff != 0);
    (0..HEIGHT).flat_map(|y| row(y).map(move |(x, _)| [x, y])).collect()
}

fn at(gpu: &Gpu, x: usize, y: usize) -> u32 {
    gpu.renderer().color_row(y)[x]
}

const SQUARE: [[i32; 2]; 4] = [[64, 64], [64, 128], [128, 128], [128, 64]];

#[test]
fn wireframe_lines_have_the_gaps_of_the_console() {
    for to in [[69, 49], [70, 66], [71, 49], [160, 96], [33, 150], [40, 40]] {
        let mut picture = Picture::new(Control::empty(), BLACK);
        picture.polygon(attributes(0, 1, 0), WHITE, 0, &[[0, 0], [0, 0], to]);
        let expected: Vec<[usize; 2]> = (0..to[1])
            .filter_map(|y| Some((y, slope([0, 0], to, SlopeGaps::Hardware, y)?)))
            .flat_map(|(y, [a, b])| (a..=b).map(move |x| [x as usize, y as usize]))
            .collect();
        assert_eq!(lit(&picture.draw()), expected, "{to:?}");
    }
}

#[test]
fn right_and_bottom_pixels_are_not_drawn() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
    let lit = lit(&picture.draw());
    assert_eq!((lit.first(), lit.last(), lit.len()), (Some(&[64, 64]), Some(&[127, 127]), 64 * 64));
}

#[test]
fn a_right_edge_at_column_0_stays() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &[[0, 10], [0, 20], [0, 20], [0, 10]]);
    let lit = lit(&picture.draw());
    assert_eq!((lit.len(), lit.first()), (10, Some(&[0, 10])));
}

#[test]
fn a_polygon_without_height_is_a_row() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &[[10, 50], [90, 50], [40, 50]]);
    let lit = lit(&picture.draw());
    assert!(lit.iter().all(|p| p[1] == 50));
    assert_eq!((lit.first(), lit.last()), (Some(&[10, 50]), Some(&[89, 50])));
}

#[test]
fn antialiasing_and_translucency_fill_all_edges() {
    let triangle = [[10, 10], [40, 90], [90, 30]];
    let count = |control, alpha| {
        let mut picture = Picture::new(control, BLACK);
        picture.polygon(attributes(alpha, 1, 1 << 11), WHITE, 0, &triangle);
        // By depth, as outlines are black.
        let gpu = picture.draw();
        let drawn =
            |y| gpu.renderer().depth_row(y).into_iter().flatten().filter(|&&z| z != 0xff_ffff).count();
        (0..HEIGHT).map(drawn).sum::<usize>()
    };
    let opaque = count(Control::empty(), 31);
    assert_eq!(count(Control::BLENDING, 31), opaque);
    // Translucent polygons only where blending is enabled.
    assert_eq!(count(Control::empty(), 15), opaque);
    let filled = count(Control::BLENDING, 15);
    assert!(filled > opaque);
    assert_eq!(count(Control::EDGE_MARKING, 31), filled);
}

#[test]
fn crossed_quads_are_one_span_a_row() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &[[20, 20], [20, 120], [120, 20], [120, 120]]);
    let lit = lit(&picture.draw());
    for y in 20..120 {
        let row: Vec<usize> = lit.iter().filter(|p| p[1] == y).map(|p| p[0]).collect();
        assert!(row.windows(2).all(|w| w[1] == w[0] + 1), "row {y}");
    }
}

#[test]
fn equal_fronts_win_over_backs_alone() {
    let back: Vec<[i32; 2]> = SQUARE.iter().rev().copied().collect();
    let drawn = |first: &[[i32; 2]]| {
        let mut picture = Picture::new(Control::empty(), BLACK);
        picture.polygon(attributes(31, 1, 0), RED, 0, first);
        picture.polygon(attributes(31, 2, 0), BLUE, 0, &SQUARE);
        at(&picture.draw(), 100, 100) & 0xff_ffff
    };
    assert_eq!(drawn(&SQUARE), 63);
    assert_eq!(drawn(&back), 63 << 16);
}

#[test]
fn translucent_pixels_of_one_id_are_drawn_once() {
    let drawn = |id| {
        let mut picture = Picture::new(Control::BLENDING, BLACK);
        picture.polygon(attributes(15, 1, 0), RED, 0, &SQUARE);
        picture.polygon(attributes(15, id, 0), RED, -0x100, &SQUARE);
        at(&picture.draw(), 100, 100) & 63
    };
    assert_eq!((drawn(1), drawn(2)), (31, 47));
}

#[test]
fn translucent_pixels_write_depth_if_told() {
    let drawn = |bit| {
        let mut picture = Picture::new(Control::BLENDING, BLACK);
        picture.polygon(attributes(15, 1, bit), RED, -0x800, &SQUARE);
        picture.polygon(attributes(15, 2, 0), BLUE, 0, &SQUARE);
        at(&picture.draw(), 100, 100) >> 16 & 63
    };
    assert_eq!((drawn(1 << 11), drawn(0)), (0, 31));
}

#[test]
fn without_blending_colors_are_copied_and_alpha_is_the_larger() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(9, 1, 0), RED, 0, &SQUARE);
    assert_eq!(at(&picture.draw(), 100, 100), 63 | 31 << 24);
}

#[test]
fn over_alpha_0_nothing_is_blended() {
    let mut picture = Picture::new(Control::BLENDING, 0x7fff);
    picture.polygon(attributes(9, 1, 0), RED, 0, &SQUARE);
    assert_eq!(at(&picture.draw(), 100, 100), 63 | 9 << 24);
}

#[test]
fn edge_marking_does_not_see_translucent_ids() {
    let mut picture = Picture::new(Control::EDGE_MARKING | Control::BLENDING, BLACK);
    picture.polygon(attributes(31, 8, 0), WHITE, 0, &SQUARE);
    let gpu = picture.draw();
    // EDGE_COLOR 1 is black; inside it is white.
    assert_eq!((at(&gpu, 64, 100), at(&gpu, 100, 100)), (BLACK << 8, 0x3f_3f3f | 31 << 24));
    let mut picture = Picture::new(Control::EDGE_MARKING | Control::BLENDING, BLACK);
    picture.polygon(attributes(15, 8, 0), WHITE, 0, &SQUARE);
    assert_ne!(at(&picture.draw(), 64, 100) & 0xff_ffff, 0);
}

#[test]
fn shadows_fall_where_the_mask_fails_on_other_ids() {
    const MODE: u32 = 3 << 4;
    let drawn = |floor_id| {
        let mut picture = Picture::new(Control::BLENDING, BLACK);
        picture.polygon(attributes(31, floor_id, 0), WHITE, 0, &SQUARE);
        // The mask lies behind the left half of the floor, the shadow before all of it.
        let left = [[64, 64], [64, 128], [96, 128], [96, 64]];
        picture.polygon(attributes(15, 0, MODE), 0, 0x800, &left);
        picture.polygon(attributes(15, 5, MODE), 0, -0x800, &SQUARE);
        let gpu = picture.draw();
        [at(&gpu, 70, 100) & 63, at(&gpu, 120, 100) & 63]
    };
    assert_eq!(drawn(1), [31, 63]);
    assert_eq!(drawn(5), [63, 63]);
}

#[test]
fn depth_mode_is_that_of_the_swap_before() {
    let mut gpu = Gpu::default();
    for (swap, is_w) in [(2, false), (0, true), (0, false)] {
        let mut picture = Picture(gpu, vec![0x60, 255 << 16 | 191 << 24]);
        picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
        picture.1.extend([0x50, swap]);
        picture.0.feed(&picture.1);
        picture.0.vblank();
        gpu = picture.0;
        use xenoglot_nds::geometry::polygon::Flags;
        assert_eq!(gpu.polygons().polygons[0].flags.contains(Flags::W_BUFFERED), is_w);
    }
}

#[test]
fn scroll_blanks_what_comes_in() {
    for (scroll, lit) in [(0, 64), (64, 0), (500, 76)] {
        let mut picture = Picture::new(Control::empty(), BLACK);
        let registers = Registers { scroll_x: scroll, ..picture.0.registers().clone() };
        picture.0.set_registers(registers);
        picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
        let gpu = picture.draw();
        let row = gpu.renderer().color_row(100);
        assert_eq!(row.iter().position(|c| c & 63 != 0), Some(lit), "{scroll}");
        let blank = row.iter().filter(|c| **c == 0).count();
        assert_eq!(blank, if scroll < 256 { usize::from(scroll) } else { WIDTH * 2 - usize::from(scroll) });
    }
}

#[test]
fn top_and_bottom_rows_are_flagged_over_their_whole_span() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
    let gpu = picture.draw();
    let flags = |x: usize, y: usize| gpu.renderer().attribute_row(y).unwrap()[x] & 15;
    assert_eq!(flags(100, 64), PixelFlags::TOP_ROW.bits());
    assert_eq!(flags(100, 127), PixelFlags::BOTTOM_ROW.bits());
    assert_eq!((flags(64, 100), flags(127, 100), flags(100, 100)), (1, 2, 0));
}
