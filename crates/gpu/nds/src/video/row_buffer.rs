//! The buffer between the 3D engines and the screen: 48 rows, and what becomes of rows that come too late.
//!
//! Source: GBATEK, "DS 3D Display Control" and "DS 3D Final 2D Output": drawing begins in line 214, up to 48 rows ahead of the
//! screen; RDLINES_COUNT has the fewest rows that were ready in a frame, less two; DISP3DCNT bit 12 says that one was not. How
//! long a row takes is not published, so it is a parameter ([`RowTime`]), and nothing is late unless one is set. That a late
//! row shows what its place in the buffer had before follows from the buffer; no recording of it is known.

use super::clock::LINE_CYCLES;
use super::{HEIGHT, LINES, Picture};
use crate::engine2d::PictureLine;
use crate::geometry::polygon::{Flags, Polygon, PolygonList};
use crate::state::{Io, StateError, Stated};
use std::ops::Range;

/// Rows that the buffer holds.
pub const ROWS: usize = 48;
/// The line in which drawing begins.
pub const FIRST_LINE: u32 = 214;
/// The most that RDLINES_COUNT counts.
const MOST_COUNTED: usize = 46;

/// Cycles of 33 MHz that a row of the 3D engines' picture takes. All zero, the default: no time, so that no row is ever late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowTime {
    /// Of a row by itself.
    pub row: u32,
    /// Of each polygon that the row crosses.
    pub polygon: u32,
    /// Of each pixel between a polygon's sides.
    pub pixel: u32,
}

/// What later rows, frames and registers depend on.
#[derive(Clone, Debug)]
pub struct RowBuffer {
    /// Rows that the screen reaches before they are drawn.
    late: [bool; HEIGHT],
    /// RDLINES_COUNT of the frame at hand and of the one before.
    count: [u8; 2],
    /// DISP3DCNT bit 12.
    underflow: bool,
    /// Rows by their place. Of a picture that is drawn as a whole, those that are left at its end.
    rows: Box<[PictureLine; ROWS]>,
    /// A picture is being drawn row by row.
    by_row: bool,
    /// How many of its rows are drawn, if so.
    drawn: usize,
    /// When its rows are drawn: cycles since drawing began. `None` if that is to be found out.
    ends: Option<Box<[u64; HEIGHT]>>,
}

impl Default for RowBuffer {
    fn default() -> RowBuffer {
        RowBuffer {
            late: [false; HEIGHT],
            count: [MOST_COUNTED as u8; 2],
            underflow: false,
            rows: super::zeroed([0; 256]),
            by_row: false,
            drawn: 0,
            ends: None,
        }
    }
}

impl RowBuffer {
    /// RDLINES_COUNT, 0x04000320.
    pub fn count(&self) -> u16 {
        self.count[1].into()
    }

    /// DISP3DCNT bit 12: a row was late.
    pub fn has_underflowed(&self) -> bool {
        self.underflow
    }

    /// What writing 1 to DISP3DCNT bit 12 does.
    pub fn clear_underflow(&mut self) {
        self.underflow = false;
    }

    /// The screen takes a row.
    pub fn show(&mut self, y: usize) {
        self.underflow |= self.late.get(y).is_some_and(|&late| late);
    }

    /// The frame is over.
    pub fn end_frame(&mut self) {
        self.count[1] = self.count[0];
        self.by_row = false;
    }

    /// Finds out when rows are drawn, which are late, and how far ahead drawing is.
    fn schedule(&mut self, list: &PolygonList, time: RowTime) -> [u64; HEIGHT] {
        let ends = ends(&costs(list, time));
        let mut fewest = ROWS;
        for (y, late) in self.late.iter_mut().enumerate() {
            let now = shown_at(y);
            let ready = (y..HEIGHT).take(ROWS).take_while(|&row| ends[row] <= now).count();
            // The row that the screen has just left is still there. Behind the last row none is missing.
            if y + ready < HEIGHT {
                fewest = fewest.min(ready + 1);
            }
            *late = ready == 0;
        }
        self.count[0] = fewest.saturating_sub(2).min(MOST_COUNTED) as u8;
        ends
    }

    /// Makes of a whole picture's rows what the screen will find in the buffer: a row that is late is what was there before.
    pub fn take(&mut self, list: &PolygonList, time: RowTime, picture: &mut Picture) {
        self.by_row = false;
        if time == RowTime::default() {
            (self.late, self.count[0]) = ([false; HEIGHT], MOST_COUNTED as u8);
            return;
        }
        let drawn = picture.to_vec();
        let ends = self.schedule(list, time);
        for (y, shown) in picture.iter_mut().enumerate().filter(|&(y, _)| self.late[y]) {
            let now = shown_at(y);
            let before = (0..y).rev().skip(ROWS - 1).step_by(ROWS).find(|&row| ends[row] <= now);
            *shown = before.map_or(self.rows[y % ROWS], |row| drawn[row]);
        }
        let is_drawn = |&(y, _): &(usize, _)| ends[y] <= shown_at(HEIGHT - 1);
        for (y, row) in drawn.iter().enumerate().take_while(is_drawn) {
            self.rows[y % ROWS] = *row;
        }
    }

    /// A picture begins that is drawn row by row.
    pub fn begin(&mut self, list: &PolygonList, time: RowTime) {
        self.ends = Some(Box::new(self.schedule(list, time)));
        (self.by_row, self.drawn) = (true, 0);
    }

    /// Whether a picture is being drawn row by row.
    pub fn is_by_row(&self) -> bool {
        self.by_row
    }

    /// Rows that are drawn up to the start of a line, and were not up to the one before.
    pub fn due(&mut self, line: u32, list: &PolygonList, time: RowTime) -> Range<usize> {
        let ends = self.ends.get_or_insert_with(|| Box::new(ends(&costs(list, time))));
        let now = u64::from((line + LINES - FIRST_LINE) % LINES) * u64::from(LINE_CYCLES);
        self.drawn..ends.iter().take_while(|&&end| end <= now).count().max(self.drawn)
    }

    /// Takes rows that were drawn.
    pub fn put(&mut self, rows: Range<usize>, picture: &Picture) {
        for (y, row) in picture.iter().enumerate().take(rows.end).skip(rows.start) {
            self.rows[y % ROWS] = *row;
        }
        self.drawn = rows.end;
    }

    /// What the screen finds in a row's place.
    pub fn row(&self, y: usize) -> &PictureLine {
        &self.rows[y % ROWS]
    }
}

/// When the screen takes a row: cycles since drawing began.
fn shown_at(y: usize) -> u64 {
    u64::from(LINES - FIRST_LINE + y as u32) * u64::from(LINE_CYCLES)
}

/// When each row is drawn. It can begin when the one before is done and the screen has left its place in the buffer.
fn ends(costs: &[u64; HEIGHT]) -> [u64; HEIGHT] {
    let mut ends = [0; HEIGHT];
    let mut now = 0;
    for (y, &cost) in costs.iter().enumerate() {
        let free = y.checked_sub(ROWS - 1).map_or(0, shown_at);
        now = free.max(now) + cost;
        ends[y] = now;
    }
    ends
}

/// Cycles of each row.
fn costs(list: &PolygonList, time: RowTime) -> [u64; HEIGHT] {
    let mut costs = [u64::from(time.row); HEIGHT];
    for polygon in list.polygons.iter().filter(|polygon| !polygon.flags.contains(Flags::NEVER_DRAWN)) {
        let [left, right] = sides(polygon, list);
        for (cost, (&left, &right)) in costs.iter_mut().zip(left.iter().zip(&right)) {
            if left <= right {
                *cost += u64::from(time.polygon) + u64::from(time.pixel) * (right - left) as u64;
            }
        }
    }
    costs
}

/// Columns of a polygon's outline in each row; the left one is greater than the right one where it has none.
fn sides(polygon: &Polygon, list: &PolygonList) -> [[i32; HEIGHT]; 2] {
    let (mut left, mut right) = ([i32::MAX; HEIGHT], [i32::MIN; HEIGHT]);
    let mut reach = |y: i32, x: i32| {
        if let Some(y) = usize::try_from(y).ok().filter(|&y| y < HEIGHT) {
            left[y] = left[y].min(x);
            right[y] = right[y].max(x);
        }
    };
    let corner =
        |&place: &u16| list.vertices.get(usize::from(place)).map(|vertex| vertex.screen.map(i32::from));
    let corners = polygon.indices().iter().filter_map(corner);
    for ([x0, y0], [x1, y1]) in corners.clone().zip(corners.cycle().skip(1)) {
        let ([x0, y0], [x1, y1]) = if y0 <= y1 { ([x0, y0], [x1, y1]) } else { ([x1, y1], [x0, y0]) };
        for y in y0..y1 {
            reach(y, x0 + (x1 - x0) * (y - y0) / (y1 - y0));
        }
        // A polygon within a row is drawn there.
        if polygon.top_y == polygon.bottom_y {
            reach(y0, x0);
            reach(y0, x1);
        }
    }
    [left, right]
}

impl Stated for RowBuffer {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let RowBuffer { late, count, underflow, rows, by_row, drawn, ends } = self;
        late.state(io)?;
        count.state(io)?;
        *count = count.map(|count| count.min(MOST_COUNTED as u8));
        underflow.state(io)?;
        rows.state(io)?;
        rows.as_flattened_mut().iter_mut().for_each(|color| *color &= 0x1f3f_3f3f);
        by_row.state(io)?;
        drawn.state(io)?;
        *drawn = (*drawn).min(HEIGHT);
        if io.is_loading() {
            *ends = None;
        }
        Ok(())
    }
}
