//! Bands: as many rows as fit into memory, and the polygons they have.

use std::borrow::Cow;
use xenoglot_raster::{Bounds, Grid, TILE};

use super::layout::{PIXEL_WORDS, POLYGON_WORDS, Place, SPAN_WORDS, Submitted};
use crate::raster::Scale;

/// Most words of a band's pixels: 64 MiB.
const MOST_PIXEL_WORDS: u64 = 1 << 24;
/// Most words of a band's spans, and of their bitmaps of drawn pixels: 64 MiB each. A band of a tile's rows may have
/// more.
const MOST_SPAN_WORDS: u64 = 1 << 24;

/// Rows of a frame that are drawn together.
#[derive(Clone, Debug)]
pub struct Band {
    /// Columns.
    pub width: u32,
    /// Rows of the frame.
    pub height: u32,
    /// Resolution.
    pub scale: Scale,
    /// First row.
    pub first: u32,
    /// Rows.
    pub rows: u32,
    /// Rows before them that are kept of the band before.
    pub kept: u32,
    /// First row that is finished: edge marking looks at the row below.
    pub finish_first: u32,
    /// Rows that are finished.
    pub finish_rows: u32,
}

impl Band {
    /// The grid of its tiles.
    pub fn grid(&self, primitives: u32) -> Grid {
        Grid { size: [self.width, self.rows], primitives, tile: TILE }
    }

    /// Pixels of its rows and those that are kept.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.rows + self.kept)
    }
}

/// A frame to be cut into bands.
#[derive(Clone, Debug)]
pub struct Bands {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Resolution.
    pub scale: Scale,
    /// Spans have bitmaps.
    pub antialiasing: bool,
    /// Most rows of a band, if not 0.
    pub most_rows: u32,
}

impl Bands {
    /// The band after another, or the first; `None` after the last.
    pub fn next(&self, before: Option<&Band>, polygons: &[Submitted]) -> Option<(Band, BandPolygons)> {
        let first = before.map_or(0, |band| band.first + band.rows);
        if first >= self.height {
            return None;
        }
        let mut rows = (MOST_PIXEL_WORDS / PIXEL_WORDS / u64::from(self.width)) as u32;
        if self.most_rows != 0 {
            rows = rows.min(self.most_rows);
        }
        loop {
            let band = self.band(before, first, rows);
            let polygons = BandPolygons::new(&band, polygons, self.antialiasing);
            if polygons.fit() || band.rows <= TILE {
                return Some((band, polygons));
            }
            rows = band.rows / 2;
        }
    }

    /// The band of about so many rows from `first` on.
    fn band(&self, before: Option<&Band>, first: u32, rows: u32) -> Band {
        // No fewer than are kept, so that all of them are rows of the band before.
        let kept = 2 * self.scale.get();
        let rows = rows.max(kept).max(TILE).min(self.height - first);
        let finish_first = before.map_or(0, |band| band.finish_first + band.finish_rows);
        let end = first + rows;
        let finish_end = if end == self.height { end } else { end - 1 };
        Band {
            width: self.width,
            height: self.height,
            scale: self.scale,
            first,
            rows,
            kept,
            finish_first,
            finish_rows: finish_end - finish_first,
        }
    }
}

/// Polygons of a band, as the passes read them.
#[derive(Clone, Debug, Default)]
pub struct BandPolygons {
    /// Places among the frame's polygons, and the first span of each.
    places: Vec<(usize, u32)>,
    /// A record of each.
    records: Vec<u32>,
    /// Bounds of each.
    pub bounds: Vec<u32>,
    /// Spans of all.
    pub span_count: u32,
    /// Words of all bitmaps of drawn pixels.
    pub drawn_words: u32,
    /// Rows of the highest.
    pub most_rows: u32,
}

impl BandPolygons {
    fn new(band: &Band, polygons: &[Submitted], antialiasing: bool) -> BandPolygons {
        let mut out = BandPolygons::default();
        let (top, bottom) = (band.first as i32, (band.first + band.rows) as i32);
        for (i, submitted) in polygons.iter().enumerate() {
            let polygon = &submitted.polygon;
            let rows = polygon.rows().start.max(top)..polygon.rows().end.min(bottom);
            if rows.is_empty() {
                continue;
            }
            let last = band.width as i32 - 1;
            let columns = || polygon.vertices.iter().take(polygon.len.into()).map(|v| v.end.x);
            // Vertical right edges move a pixel to the left.
            let left = (columns().min().unwrap_or(0) - 1).clamp(0, last);
            let right = columns().max().unwrap_or(0).clamp(0, last);
            let count = rows.len() as u32;
            let drawn_words =
                if antialiasing && !submitted.is_mask() { (right / 32 - left / 32 + 1) as u32 } else { 0 };
            let place = Place {
                first: rows.start,
                rows: count,
                span: out.span_count,
                drawn: out.drawn_words,
                drawn_words,
                drawn_x: left / 32 * 32,
            };
            // A mask clears its whole row.
            let [left, right] = if submitted.is_mask() { [0, last] } else { [left, right] };
            let bounds = Bounds { low: [left, rows.start - top], high: [right, rows.end - 1 - top] };
            submitted.write(&place, &mut out.records);
            out.bounds.extend(bounds.words());
            out.places.push((i, out.span_count));
            out.span_count += count;
            out.drawn_words += count * drawn_words;
            out.most_rows = out.most_rows.max(count);
        }
        out
    }

    fn fit(&self) -> bool {
        u64::from(self.span_count) * SPAN_WORDS <= MOST_SPAN_WORDS
            && u64::from(self.drawn_words) <= MOST_SPAN_WORDS
    }

    /// A record of each. A buffer has one at least.
    pub fn records(&self) -> Cow<'_, [u32]> {
        if self.records.is_empty() {
            Cow::Owned(vec![0; POLYGON_WORDS])
        } else {
            Cow::Borrowed(&self.records)
        }
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.places.len() as u32
    }

    /// Each with its first span.
    pub fn spans<'a>(
        &'a self,
        polygons: &'a [Submitted],
    ) -> impl Iterator<Item = (&'a Submitted, u32)> + Clone {
        self.places.iter().filter_map(|&(place, span)| Some((polygons.get(place)?, span)))
    }
}
