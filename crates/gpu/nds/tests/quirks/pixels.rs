//! The way of a pixel: depth test, colour, blending, shadows.

use crate::picture::*;
use xenoglot_nds::registers::Control;

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

/// Replaces the alpha test's reference.
fn with_reference(picture: &mut Picture, reference: u8) {
    let registers =
        xenoglot_nds::registers::Registers { alpha_test_ref: reference, ..picture.0.registers().clone() };
    picture.0.set_registers(registers);
}

#[test]
fn the_alpha_test_drops_the_reference_itself() {
    let drawn = |control: Control, alpha| {
        let mut picture = Picture::new(control, BLACK);
        with_reference(&mut picture, 10);
        picture.polygon(attributes(alpha, 1, 0), RED, 0, &SQUARE);
        at(&picture.draw(), 100, 100) & 63 != 0
    };
    assert_eq!([9, 10, 11].map(|alpha| drawn(Control::ALPHA_TEST, alpha)), [false, false, true]);
    assert!(drawn(Control::empty(), 9));
}

#[test]
fn texels_without_alpha_are_dropped_without_a_test() {
    let mut picture = Picture::new(Control::TEXTURES, BLACK);
    // Texture of RGB555 without the bit of alpha: all zero.
    picture.1.extend([0x2a, 7 << 26]);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
    assert!(lit(&picture.draw()).is_empty());
}

#[test]
fn fog_of_translucent_pixels_needs_fog_below() {
    let fog = |below: u32, own: u32| {
        let mut picture = Picture::new(Control::BLENDING, BLACK);
        picture.polygon(attributes(31, 1, below << 15), RED, 0, &SQUARE);
        picture.polygon(attributes(15, 2, own << 15), BLUE, -0x100, &SQUARE);
        picture.draw().renderer().attribute_row(100).unwrap()[100] >> 15 & 1
    };
    assert_eq!([fog(0, 0), fog(0, 1), fog(1, 0), fog(1, 1)], [0, 0, 0, 1]);
}

#[test]
fn translucent_pixels_keep_edges_below_and_color_what_lies_under_them() {
    let drawn = |with_glass: bool| {
        let mut picture = Picture::new(Control::ANTIALIASING | Control::BLENDING, 31 << 16 | 0x3e0);
        // The left edge of a steep triangle: partly covered, the background under it.
        picture.polygon(attributes(31, 1, 0), RED, 0, &[[90, 20], [80, 120], [160, 120]]);
        if with_glass {
            picture.polygon(attributes(15, 2, 0), BLUE, -0x100, &[[0, 0], [0, 192], [256, 192], [256, 0]]);
        }
        let gpu = picture.draw();
        let row = gpu.renderer().attribute_row(75).unwrap();
        let x = (70..100).find(|&x| row[x] & 1 != 0).unwrap();
        (row[x] & 0x1f0f, at(&gpu, x, 75))
    };
    let ((bare, color), (glass, tinted)) = (drawn(false), drawn(true));
    assert_eq!(bare, glass);
    let channels = |c: u32| [c & 63, c >> 8 & 63, c >> 16 & 63];
    let ([r, g, b], [red, green, blue]) = (channels(color), channels(tinted));
    // Both layers are half blue: red of the edge and green of the background are halved alike.
    assert!(r > 0 && g > 0 && b == 0);
    assert!(red.abs_diff(r / 2) <= 1 && green.abs_diff(g / 2) <= 1 && blue.abs_diff(31) <= 1);
}

#[test]
fn what_fails_against_an_edge_is_tested_against_what_it_covers() {
    let under = |depth| {
        let mut picture = Picture::new(Control::ANTIALIASING, BLACK);
        picture.polygon(attributes(31, 1, 0), RED, -0x800, &[[90, 20], [80, 120], [160, 120]]);
        // Behind the triangle, and before or behind the background.
        picture.polygon(attributes(31, 2, 0), BLUE, depth, &[[0, 10], [0, 150], [256, 150], [256, 10]]);
        let gpu = picture.draw();
        let row = gpu.renderer().attribute_row(75).unwrap();
        let x = (70..100).find(|&x| row[x] >> 24 == 1 && row[x] & 1 != 0).unwrap();
        let color = at(&gpu, x, 75);
        [color & 63 != 0, color >> 16 & 63 != 0]
    };
    assert_eq!(under(0), [true, true]);
}

#[test]
fn equal_depths_have_a_margin() {
    let drawn = |difference: i32| {
        let mut picture = Picture::new(Control::empty(), BLACK);
        picture.polygon(attributes(31, 1, 0), RED, 0, &SQUARE);
        picture.polygon_at(attributes(31, 2, 1 << 14), BLUE, difference, &SQUARE);
        at(&picture.draw(), 100, 100) >> 16 & 63 != 0
    };
    // Steps of depth are 3/4 of one of z: one passes, before and behind, two do not.
    assert_eq!([-1, 0, 1].map(drawn), [true; 3]);
    assert_eq!([-2, 2].map(drawn), [false; 2]);
}

#[test]
fn marks_of_masks_come_back_two_rows_later() {
    const MODE: u32 = 3 << 4;
    let mut picture = Picture::new(Control::BLENDING, BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
    // A mask of a single row, behind the floor, and a shadow over all of it. Drawn manually, so that the mask is first.
    let mask = [[64, 80], [64, 81], [128, 81], [128, 80]];
    picture.polygon(attributes(15, 0, MODE), 0, 0x800, &mask);
    picture.polygon(attributes(15, 5, MODE), 0, -0x800, &SQUARE);
    let gpu = picture.draw();
    let dark: Vec<usize> = (70..90).filter(|&y| at(&gpu, 100, y) & 63 == 31).collect();
    // Nothing clears the rows of the mask's parity below it.
    assert_eq!(dark, [80, 82, 84, 86, 88]);
}

#[test]
fn a_mask_after_a_mask_does_not_clear() {
    const MODE: u32 = 3 << 4;
    let drawn = |between: bool| {
        let mut picture = Picture::new(Control::BLENDING, BLACK);
        picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
        let [left, right] = [[64, 96], [96, 128]].map(|[a, b]| [[a, 64], [a, 128], [b, 128], [b, 64]]);
        picture.polygon(attributes(15, 0, MODE), 0, 0x800, &left);
        if between {
            picture.polygon(attributes(15, 9, 0), RED, 0x800, &[[0, 64], [0, 128], [8, 128], [8, 64]]);
        }
        picture.polygon(attributes(15, 0, MODE), 0, 0x800, &right);
        picture.polygon(attributes(15, 5, MODE), 0, -0x800, &SQUARE);
        let gpu = picture.draw();
        [80, 112].map(|x| at(&gpu, x, 100) & 63 == 31)
    };
    assert_eq!(drawn(false), [true, true]);
    assert_eq!(drawn(true), [false, true]);
}
