//! Which pixels polygons have.

use crate::picture::*;
use xenoglot_nds::raster::buffers::{HEIGHT, PixelFlags};
use xenoglot_nds::raster::{Rules, slope};
use xenoglot_nds::registers::Control;

#[test]
fn wireframe_lines_have_the_gaps_of_the_console() {
    for to in [[69, 49], [70, 66], [71, 49], [160, 96], [33, 150], [40, 40]] {
        let mut picture = Picture::new(Control::empty(), BLACK);
        picture.polygon(attributes(0, 1, 0), WHITE, 0, &[[0, 0], [0, 0], to]);
        let expected: Vec<[usize; 2]> = (0..to[1])
            .filter_map(|y| Some((y, slope([0, 0], to, Rules::all(), y)?)))
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
fn top_and_bottom_rows_are_flagged_over_their_whole_span() {
    let mut picture = Picture::new(Control::empty(), BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
    let gpu = picture.draw();
    let flags = |x: usize, y: usize| gpu.renderer().attribute_row(y).unwrap()[x] & 15;
    assert_eq!(flags(100, 64), PixelFlags::TOP_ROW.bits());
    assert_eq!(flags(100, 127), PixelFlags::BOTTOM_ROW.bits());
    assert_eq!((flags(64, 100), flags(127, 100), flags(100, 100)), (1, 2, 0));
}

/// An opaque triangle or quad near 10, 10, in 8 columns and 4 rows.
fn shape(control: Control, alpha: u32, points: &[[i32; 2]]) -> Vec<String> {
    let mut picture = Picture::new(control, BLACK);
    picture.polygon(attributes(alpha, 1, 0), WHITE, 0, points);
    ascii(&picture.draw(), [10, 10], [8, 4])
}

#[test]
fn left_edges_of_opaque_polygons_are_drawn_if_negative_or_y_major() {
    let vertical_left = [[10, 10], [10, 14], [18, 14]];
    assert_eq!(shape(Control::empty(), 31, &vertical_left), ["##......", "####....", "######..", "########"]);
    let negative_left = [[18, 10], [10, 14], [18, 14]];
    assert_eq!(shape(Control::empty(), 31, &negative_left), ["......##", "....####", "..######", "########"]);
    let positive_left = [[10, 10], [18, 14], [18, 10]];
    assert_eq!(shape(Control::empty(), 31, &positive_left), ["..######", "....####", "......##", "........"]);
}

#[test]
fn right_edges_of_opaque_polygons_are_drawn_if_positive_x_major_or_vertical() {
    let negative_right = [[10, 10], [10, 14], [18, 10]];
    // The left edge's pixel stays where both edges meet.
    assert_eq!(
        shape(Control::empty(), 31, &negative_right),
        ["######..", "####....", "##......", "#......."]
    );
    let y_major_right = [[10, 10], [10, 14], [14, 14], [12, 10]];
    assert_eq!(shape(Control::empty(), 31, &y_major_right), ["##......", "##......", "###.....", "###....."]);
}

#[test]
fn translucent_polygons_have_all_edges_where_blending_is_on() {
    let negative_right = [[10, 10], [10, 14], [18, 10]];
    let filled = ["########", "######..", "####....", "##......"];
    assert_eq!(shape(Control::BLENDING, 15, &negative_right), filled);
    assert_eq!(
        shape(Control::empty(), 15, &negative_right),
        ["######..", "####....", "##......", "#......."]
    );
    assert_eq!(shape(Control::ANTIALIASING, 31, &negative_right)[1..], filled[1..]);
}

#[test]
fn the_last_row_of_an_x_major_edge_beside_a_flat_bottom_is_drawn() {
    let flat_bottom = [[10, 10], [14, 12], [18, 12], [18, 10]];
    assert_eq!(shape(Control::empty(), 31, &flat_bottom), ["..######", "..######", "........", "........"]);
    let pointed = [[10, 10], [14, 12], [18, 14], [18, 10]];
    assert_eq!(shape(Control::empty(), 31, &pointed)[..2], ["..######", "....####"]);
}

#[test]
fn coinciding_edges_are_drawn() {
    // Both edges are X-major, positive, and cover the same pixels: the left one would not be drawn.
    assert_eq!(
        shape(Control::empty(), 31, &[[10, 10], [18, 14], [18, 14]]),
        ["##......", "..##....", "....##..", "......##"]
    );
}

#[test]
fn wireframe_has_its_first_and_last_row_and_is_opaque() {
    let mut picture = Picture::new(Control::BLENDING, BLACK);
    picture.polygon(attributes(0, 1, 0), WHITE, 0, &[[10, 10], [10, 14], [17, 14], [17, 10]]);
    let gpu = picture.draw();
    assert_eq!(ascii(&gpu, [10, 10], [8, 5]), ["#######.", "#.....#.", "#.....#.", "#######.", "........"]);
    assert_eq!(at(&gpu, 10, 11), 0x3f_3f3f | 31 << 24);
}

#[test]
fn x_major_edges_of_a_crossed_half_are_one_pixel_long() {
    // Its first three corners make the lower half of the bow, so that the upper one has left and right exchanged.
    let bow = [[10, 10], [18, 14], [10, 14], [18, 10]];
    let mut picture = Picture::new(Control::EDGE_MARKING, BLACK);
    picture.polygon(attributes(31, 1, 0), WHITE, 0, &bow);
    let gpu = picture.draw();
    let edges = |y: usize| {
        let row = gpu.renderer().attribute_row(y).unwrap();
        [1, 2].map(|side| (10..18).filter(|&x| row[x] & 3 == side).count())
    };
    assert_eq!([edges(10), edges(11)], [[1, 1]; 2]);
    assert_eq!([edges(12), edges(13)], [[2, 2]; 2]);
}
