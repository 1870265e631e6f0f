//! What came of a frame, in the layout of a scene file's expected chunks (`vectors/nds/FORMAT.md`).

use crate::geometry::Readback;
use crate::geometry::polygon::{Polygon, PolygonList};
use crate::geometry::vertex::Vertex;
use crate::gpu::Gpu;
use crate::raster::Frame;
use crate::raster::buffers::{HEIGHT, WIDTH};

/// GXSTAT's bits that results have.
pub const STATUS_MASK: u32 = 0xbf02;
/// Bytes of a vertex.
pub const VERTEX_BYTES: usize = 32;
/// Bytes of a probe.
pub const PROBE_BYTES: usize = 136;

/// A chunk made of results: its tag, how it is made, and what its parts are.
pub struct Result {
    /// The tag.
    pub tag: [u8; 4],
    /// What it has, in a word.
    pub name: &'static str,
    /// Bytes of a part, or 0 if parts differ.
    pub part: usize,
    /// Makes it.
    pub make: fn(&Gpu, &dyn Frame) -> Vec<u8>,
}

/// All chunks that depend on the last frame alone; frames are of the console's resolution.
pub const RESULTS: [Result; 9] = [
    Result { tag: *b"XSTA", name: "status", part: 4, make: |gpu, _| status(gpu) },
    Result { tag: *b"XVTX", name: "vertices", part: VERTEX_BYTES, make: |gpu, _| vertices(gpu.polygons()) },
    Result { tag: *b"XPOL", name: "polygons", part: 0, make: |gpu, _| polygons(gpu.polygons()) },
    Result {
        tag: *b"XPCR",
        name: "polygon checksums",
        part: 4,
        make: |gpu, _| polygon_checksums(gpu.polygons()),
    },
    Result { tag: *b"XORD", name: "order", part: 2, make: |gpu, _| order(gpu.polygons()) },
    Result { tag: *b"XCOL", name: "colours", part: 1, make: |_, frame| colors(frame) },
    Result { tag: *b"XDEP", name: "depths", part: 1, make: |_, frame| depths(frame) },
    Result { tag: *b"XATT", name: "attributes", part: 1, make: |_, frame| attributes(frame) },
    Result { tag: *b"XCRC", name: "row checksums", part: 4, make: |_, frame| row_checksums(frame) },
];

/// `XSTA`.
fn status(gpu: &Gpu) -> Vec<u8> {
    let list = gpu.polygons();
    let words = [
        gpu.frames() as u32,
        gpu.geometry().swap_buffers().0,
        list.polygons.len() as u32,
        list.vertices.len() as u32,
        gpu.geometry().status() & STATUS_MASK,
        gpu.control().into(),
    ];
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// A record of `XPRB`, sampled after `words` words.
pub fn probe(words: u32, read: &Readback) -> Vec<u8> {
    let mut out = Vec::with_capacity(PROBE_BYTES);
    out.extend(words.to_le_bytes());
    out.extend((read.status & STATUS_MASK).to_le_bytes());
    let numbers = read.clip_matrix.iter().chain(&read.vector_matrix).chain(&read.position);
    out.extend(numbers.flat_map(|n| n.to_le_bytes()));
    out.extend(read.vector.iter().flat_map(|n| n.to_le_bytes()));
    out.extend([0; 2]);
    out.extend(read.polygons.to_le_bytes());
    out.extend(read.vertices.to_le_bytes());
    out
}

fn vertex(vertex: &Vertex, out: &mut Vec<u8>) {
    out.extend(vertex.screen.iter().flat_map(|v| v.to_le_bytes()));
    out.extend(vertex.position.iter().flat_map(|v| v.to_le_bytes()));
    out.extend(vertex.color9().iter().flat_map(|v| v.to_le_bytes()));
    out.extend(vertex.texcoord.iter().flat_map(|v| v.to_le_bytes()));
    out.extend(u16::from(vertex.clipped).to_le_bytes());
}

/// `XVTX`.
fn vertices(list: &PolygonList) -> Vec<u8> {
    let mut out = Vec::new();
    list.vertices.iter().for_each(|v| vertex(v, &mut out));
    out
}

fn polygon(polygon: &Polygon, out: &mut Vec<u8>) {
    let words = [polygon.attributes, polygon.texture, polygon.palette];
    out.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    out.extend([polygon.len, polygon.flags.bits(), polygon.top, polygon.bottom]);
    out.extend(polygon.top_y.to_le_bytes());
    out.extend(polygon.bottom_y.to_le_bytes());
    out.extend(polygon.w_shift.to_le_bytes());
    out.extend([0; 3]);
    for (i, &index) in polygon.indices().iter().enumerate() {
        out.extend(u32::from(index).to_le_bytes());
        out.extend(polygon.depth[i].to_le_bytes());
        out.extend(polygon.w[i].to_le_bytes());
    }
}

/// `XPOL`.
fn polygons(list: &PolygonList) -> Vec<u8> {
    let mut out = Vec::new();
    list.polygons.iter().for_each(|p| polygon(p, &mut out));
    out
}

/// `XPCR`.
fn polygon_checksums(list: &PolygonList) -> Vec<u8> {
    let mut record = Vec::new();
    let checksum = |p: &Polygon| {
        record.clear();
        polygon(p, &mut record);
        let own = p.indices().iter().filter_map(|&i| list.vertices.get(usize::from(i)));
        own.for_each(|v| vertex(v, &mut record));
        crc32fast::hash(&record).to_le_bytes()
    };
    list.polygons.iter().flat_map(checksum).collect()
}

/// `XORD`.
fn order(list: &PolygonList) -> Vec<u8> {
    list.order.iter().flat_map(|i| i.to_le_bytes()).collect()
}

/// Planes of bytes of a word per pixel.
fn planes(words: impl Fn(usize) -> [u32; WIDTH], count: usize) -> Vec<u8> {
    let rows: Vec<[u32; WIDTH]> = (0..HEIGHT).map(words).collect();
    (0..count).flat_map(|plane| rows.as_flattened().iter().map(move |w| w.to_le_bytes()[plane])).collect()
}

/// A row of `words`, as long as the console's.
fn console_row(words: &[u32]) -> [u32; WIDTH] {
    std::array::from_fn(|x| words.get(x).copied().unwrap_or(0))
}

/// `XCOL`.
fn colors(frame: &dyn Frame) -> Vec<u8> {
    planes(|y| console_row(&frame.shown_row(y)), 4)
}

fn depth_row(frame: &dyn Frame, y: usize) -> [u32; WIDTH] {
    console_row(frame.row(y).map_or(&[], |row| row.depth))
}

fn attribute_row(frame: &dyn Frame, y: usize) -> [u32; WIDTH] {
    console_row(frame.row(y).map_or(&[], |row| row.attributes))
}

/// `XDEP`: differences along rows.
fn depths(frame: &dyn Frame) -> Vec<u8> {
    let row = |y| {
        let mut left = 0;
        depth_row(frame, y).map(|depth| depth.wrapping_sub(std::mem::replace(&mut left, depth)))
    };
    planes(row, 3)
}

/// `XATT`.
fn attributes(frame: &dyn Frame) -> Vec<u8> {
    planes(|y| attribute_row(frame, y), 4)
}

/// `XCRC`.
fn row_checksums(frame: &dyn Frame) -> Vec<u8> {
    let checksum =
        |row: [u32; WIDTH]| crc32fast::hash(row.map(u32::to_le_bytes).as_flattened()).to_le_bytes();
    let depths = (0..HEIGHT).flat_map(|y| checksum(depth_row(frame, y)));
    depths.chain((0..HEIGHT).flat_map(|y| checksum(attribute_row(frame, y)))).collect()
}
