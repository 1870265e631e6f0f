//! What happens to whole rows at the end.

use crate::picture::*;
use xenoglot_nds::raster::buffers::WIDTH;
use xenoglot_nds::registers::{Control, Registers};

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

/// A frame with other registers than those of [`Picture::new`].
fn with(picture: &mut Picture, change: impl FnOnce(&mut Registers)) {
    let mut registers = picture.0.registers().clone();
    change(&mut registers);
    picture.0.set_registers(registers);
}

#[test]
fn outlines_take_the_color_of_eight_ids_and_keep_alpha() {
    let mut picture = Picture::new(Control::EDGE_MARKING, BLACK);
    with(&mut picture, |r| r.edge_colors = [0, 0x1f, 0x3e0, 0x7c00, 0, 0, 0, 0x7fff]);
    picture.polygon(attributes(31, 8 + 7, 0), WHITE, 0, &SQUARE);
    picture.polygon(attributes(31, 63, 0), RED, 0, &[[200, 64], [200, 128], [240, 128], [240, 64]]);
    let gpu = picture.draw();
    assert_eq!(at(&gpu, 64, 100), 63 | 31 << 24);
    assert_eq!(at(&gpu, 200, 100), 0x3f_3f3f | 31 << 24);
}

#[test]
fn the_outside_of_the_screen_has_the_clear_registers_id_and_depth() {
    let outlined = |id: u32, clear_depth: u16| {
        let mut picture = Picture::new(Control::EDGE_MARKING | Control::CLEAR_IMAGE, BLACK | 5 << 24);
        with(&mut picture, |r| {
            r.edge_colors = [0x1f; 8];
            r.clear_depth = clear_depth;
        });
        // A clear image that is far away, whatever the register says.
        picture.0.memory.write_textures(0x60000, &[0xff, 0x7f].repeat(0x10000));
        picture.polygon(attributes(31, id, 0), WHITE, 0, &[[0, 0], [0, 192], [256, 192], [256, 0]]);
        at(&picture.draw(), 0, 100) & 0xff_ffff == 63
    };
    assert!(outlined(1, 0x7fff));
    assert!(!outlined(5, 0x7fff));
    assert!(!outlined(1, 0));
}

#[test]
fn outlines_are_half_transparent_with_antialiasing() {
    let mut picture = Picture::new(Control::EDGE_MARKING | Control::ANTIALIASING, BLACK);
    with(&mut picture, |r| r.edge_colors = [0x7fff; 8]);
    picture.polygon(attributes(31, 1, 0), RED, 0, &SQUARE);
    let gpu = picture.draw();
    // 63 * 17 / 32 over black.
    assert_eq!(at(&gpu, 64, 100), 0x21_2121 | 31 << 24);
    assert_eq!(gpu.renderer().attribute_row(100).unwrap()[64] >> 8 & 31, 16);
}

#[test]
fn fog_comes_after_outlines_and_reaches_what_lies_under_edges() {
    let mut picture = Picture::new(Control::EDGE_MARKING | Control::FOG | Control::ANTIALIASING, 0x1f_fc00);
    with(&mut picture, |r| {
        r.edge_colors = [0x7fff; 8];
        r.fog_color = 31 << 16 | 31 << 5;
        r.fog_table = [127; 32];
    });
    picture.polygon(attributes(31, 1, 1 << 15), RED, 0, &SQUARE);
    let gpu = picture.draw();
    let green = 63 << 8 | 31 << 24;
    // The outline, what lies under it, the inside and the background are all fog.
    assert_eq!([64, 100, 10].map(|x| at(&gpu, x, 100)), [green; 3]);
}

#[test]
fn fog_of_alpha_only_keeps_colors() {
    let mut picture = Picture::new(Control::FOG | Control::FOG_ALPHA_ONLY, BLACK);
    with(&mut picture, |r| r.fog_table = [64; 32]);
    picture.polygon(attributes(31, 1, 1 << 15), RED, 0, &SQUARE);
    // 31 * 64 / 128.
    assert_eq!(at(&picture.draw(), 100, 100), 63 | 15 << 24);
}

#[test]
fn first_and_last_rows_are_covered_whole() {
    let mut picture = Picture::new(Control::ANTIALIASING, BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
    let gpu = picture.draw();
    let coverage = |x: usize, y: usize| gpu.renderer().attribute_row(y).unwrap()[x] >> 8 & 31;
    assert_eq!([64, 127].map(|y| coverage(100, y)), [31; 2]);
    // Inside there is nothing to cover.
    assert_eq!(coverage(100, 100), 0);
}

#[test]
fn coverage_of_x_major_edges_advances_on_drawn_pixels_only() {
    let coverages = |hidden: bool| {
        let mut picture = Picture::new(Control::ANTIALIASING, BLACK);
        if hidden {
            // In front of the first columns, and sorted before.
            picture.polygon(attributes(31, 2, 0), RED, -0x800, &[[20, 0], [20, 12], [24, 12], [24, 0]]);
        }
        picture.polygon(attributes(31, 1, 0), WHITE, 0, &[[20, 10], [20, 12], [52, 12]]);
        let gpu = picture.draw();
        let row = gpu.renderer().attribute_row(10).unwrap();
        (24..36).map(|x| row[x] >> 8 & 31).collect::<Vec<u32>>()
    };
    // Of the right edge, 16 pixels long: each drawn pixel takes two of 32.
    let (whole, rest) = (coverages(false), coverages(true));
    assert!(whole.windows(2).all(|w| w[1] < w[0]) && rest.windows(2).all(|w| w[1] < w[0]));
    // Two pixels of it are hidden; those behind edge pixels are drawn under them.
    assert_eq!(rest[0], whole[0] + 2 * 2);
}
