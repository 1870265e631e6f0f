//! Frames as pictures of 8 bits a channel, for people.

use crate::geometry::polygon::{Flags, PolygonList};
use crate::raster::buffers::{EDGES, PixelFlags, WIDTH};
use crate::raster::{Frame, Rules, Scale, slope};

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The 3D layer as shown, scrolled.
    Color,
    /// Depths: near is dark.
    Depth,
    /// Attributes: red is the opaque id, green the coverage, blue what kind of pixel it is.
    Attributes,
    /// Colours, with the outlines of all polygons in their drawing order.
    Polygons,
    /// Colours dimmed, with edge pixels: left red, right green, first and last rows blue.
    Edges,
    /// A colour for each opaque polygon id, shaded by the frame.
    Ids,
}

/// Red, green, blue and alpha of each pixel of 8 bits.
pub type Pixels = Vec<[u8; 4]>;

/// A picture of a frame that a renderer drew of `list`, rows from top to bottom.
pub fn picture(list: &PolygonList, frame: &dyn Frame, view: View) -> Pixels {
    match view {
        View::Color => rows(frame).flat_map(|y| frame.shown_row(y)).map(rgba).collect(),
        View::Depth => combined(frame, |_, depth, _| depth_color(depth)),
        View::Attributes => combined(frame, |_, _, attributes| attribute_color(attributes)),
        View::Edges => combined(frame, |color, _, attributes| edge_color(color, attributes)),
        View::Ids => combined(frame, |color, _, attributes| id_color(color, attributes)),
        View::Polygons => {
            let mut pixels = combined(frame, |color, _, _| color);
            outlines(list, frame.size(), &mut pixels);
            pixels
        }
    }
}

fn rows(frame: &dyn Frame) -> std::ops::Range<usize> {
    0..frame.size()[1]
}

fn rgba(color: u32) -> [u8; 4] {
    let six = |shift: u32| {
        let c = color >> shift & 63;
        (c << 2 | c >> 4) as u8
    };
    let alpha = color >> 24 & 31;
    [six(0), six(8), six(16), (alpha << 3 | alpha >> 2) as u8]
}

fn depth_color(depth: u32) -> [u8; 4] {
    let level = (depth >> 16) as u8;
    [level, level, level, 255]
}

fn attribute_color(attributes: u32) -> [u8; 4] {
    let id = (attributes >> 24 & 63) as u8;
    let coverage = (attributes >> 8 & 31) as u8;
    let has = |flag: PixelFlags, level: u8| if attributes & flag.bits() != 0 { level } else { 0 };
    let kind = has(PixelFlags::TRANSLUCENT, 0x80) + has(PixelFlags::FOG, 0x40) + has(PixelFlags::BACK, 0x20);
    let edge = if attributes & EDGES != 0 { 0x1f } else { 0 };
    [id << 2, coverage << 3, kind + edge, 255]
}

/// Each pixel, not scrolled, by its colour, depth and attributes.
fn combined(frame: &dyn Frame, pixel: impl Fn([u8; 4], u32, u32) -> [u8; 4]) -> Pixels {
    let mut out = Vec::new();
    for row in rows(frame).filter_map(|y| frame.row(y)) {
        let all = row.color.iter().zip(row.depth).zip(row.attributes);
        out.extend(all.map(|((&color, &depth), &attributes)| pixel(rgba(color), depth, attributes)));
    }
    out
}

fn edge_color([r, g, b, _]: [u8; 4], attributes: u32) -> [u8; 4] {
    let mark = |flags: PixelFlags, dim: u8| if attributes & flags.bits() != 0 { 255 } else { dim };
    [
        mark(PixelFlags::LEFT_EDGE, r / 3),
        mark(PixelFlags::RIGHT_EDGE, g / 3),
        mark(PixelFlags::TOP_ROW | PixelFlags::BOTTOM_ROW, b / 3),
        255,
    ]
}

/// A bright colour, different from the colours of neighbouring numbers.
fn distinct(number: u32) -> [u8; 3] {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b1).to_be_bytes();
    [mixed[0] | 0x40, mixed[1] | 0x40, mixed[2] | 0x40]
}

fn id_color([r, g, b, _]: [u8; 4], attributes: u32) -> [u8; 4] {
    let [x, y, z] = distinct(attributes >> 24 & 63);
    let shade = ((u32::from(r) + u32::from(g) + u32::from(b)) / 3) as u16;
    let mix = |c: u8| ((u16::from(c) * 3 + shade) / 4) as u8;
    [mix(x), mix(y), mix(z), 255]
}

fn outlines(list: &PolygonList, [width, _]: [usize; 2], pixels: &mut [[u8; 4]]) {
    let scale = Scale::new((width / WIDTH) as u32).unwrap_or_default();
    for &place in &list.order {
        let Some(polygon) = list.polygons.get(usize::from(place)) else { continue };
        if polygon.flags.contains(Flags::NEVER_DRAWN) {
            continue;
        }
        let [r, g, b] = distinct(place.into());
        let at = |&index: &u16| list.vertices.get(usize::from(index)).map(|v| scale.place(v));
        let corners = polygon.indices().iter().filter_map(at);
        let next = corners.clone().cycle().skip(1);
        for (from, to) in corners.zip(next) {
            for row in from[1].min(to[1])..=from[1].max(to[1]) {
                let Some([first, last]) = slope(from, to, Rules::empty(), row) else { continue };
                for x in first.max(0)..=last.min(width as i32 - 1) {
                    if let Some(pixel) = pixels.get_mut(row as usize * width + x as usize) {
                        *pixel = [r, g, b, 255];
                    }
                }
            }
        }
    }
}
