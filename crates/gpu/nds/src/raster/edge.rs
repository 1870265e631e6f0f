//! Edges of polygons: which pixels they cover in a row, and how much of them.

use super::interpolate::AlongEdge;
use super::{Rules, Scale, ScaledRules};

/// Fraction bits of places along a row.
const FRACTION: u32 = 18;
/// 1.0.
const ONE: i32 = 1 << FRACTION;

/// Coverage of an edge's pixels in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The same for all, 0 to 31.
    Level(u32),
    /// Of an X-major edge: of the first pixel and what each drawn one adds, with 10 bits.
    Rising {
        /// Of the first pixel.
        first: u32,
        /// What each drawn pixel adds.
        step: u32,
        /// It falls from the left: what is covered is the rest.
        falls: bool,
    },
}

impl Coverage {
    /// What it is after some pixels.
    pub fn after(self, pixels: u32) -> Coverage {
        match self {
            Coverage::Level(_) => self,
            Coverage::Rising { first, step, falls } => {
                Coverage::Rising { first: (first + pixels * step).min(0x3ff), step, falls }
            }
        }
    }
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage::Level(0)
    }
}

/// An edge in the row at hand.
///
/// All places are counted along the edge's direction from its upper end: `near` is the first pixel of the row, `far`
/// the last (`vectors/nds-slopes/FORMAT.md`, where s is the upper end plus this accumulator).
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    upper_x: i32,
    upper_y: i32,
    min_x: i32,
    max_x: i32,
    /// Goes left while going down.
    pub negative: bool,
    /// Covers more than one pixel a row.
    pub x_major: bool,
    /// What the place gains by a row, 18 bits of fraction; 0 is vertical.
    pub increment: i32,
    accumulator: i32,
    x_length: i32,
    y_length: i32,
    is_right: bool,
    rules: ScaledRules,
    row: i32,
    /// Interpolates along the edge, at the row.
    pub along: AlongEdge,
}

impl Default for Edge {
    /// A point at the left border.
    fn default() -> Edge {
        Edge {
            upper_x: 0,
            upper_y: 0,
            min_x: 0,
            max_x: 0,
            negative: false,
            x_major: false,
            increment: 0,
            accumulator: 0,
            x_length: 1,
            y_length: 0,
            is_right: false,
            rules: Rules::empty().at(Scale::ONE),
            row: 0,
            along: AlongEdge::default(),
        }
    }
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// Pixel column.
    pub x: i32,
    /// Row.
    pub y: i32,
    /// Normalised w.
    pub w: i32,
}

impl Edge {
    /// An edge from its upper to its lower end, on a polygon's right or left, in `row`.
    pub fn new(upper: End, lower: End, is_right: bool, rules: ScaledRules, row: i32) -> Edge {
        let (x_length, y_length) = ((lower.x - upper.x).abs(), lower.y - upper.y);
        let negative = lower.x < upper.x;
        let increment = match y_length {
            0 => 0,
            // The reciprocal of a diagonal's height would lose what makes it one.
            _ if x_length == y_length => ONE,
            _ => x_length * (ONE / y_length),
        };
        let x_major = increment > ONE;
        let mut edge = Edge {
            upper_x: upper.x,
            upper_y: upper.y,
            min_x: upper.x.min(lower.x),
            max_x: if x_length == 0 { upper.x } else { upper.x.max(lower.x) - 1 },
            negative,
            x_major,
            increment,
            accumulator: (if x_major { ONE / 2 } else { 0 }) + (row - upper.y) * increment,
            x_length: x_length.max(1),
            y_length,
            is_right,
            rules,
            row,
            along: AlongEdge::default(),
        };
        // Edges that end their row's pixels are a row ahead.
        let ahead = i32::from(increment >= ONE && edge.ends_outward());
        edge.along = AlongEdge::new(upper.y - ahead, lower.y - ahead, upper.w, lower.w, rules.is_fine);
        edge.along.move_to(row);
        edge
    }

    /// The edge of a polygon without height: a point.
    pub fn point(x: i32) -> Edge {
        Edge { upper_x: x, min_x: x, max_x: x, ..Edge::default() }
    }

    /// Whether the polygon lies behind the edge's direction.
    fn ends_outward(&self) -> bool {
        self.is_right != self.negative
    }

    fn near(&self) -> i32 {
        self.accumulator >> FRACTION
    }

    fn far(&self) -> i32 {
        if self.x_major {
            ((self.accumulator & self.rules.far_mask()) + self.increment - ONE) >> FRACTION
        } else {
            self.near()
        }
    }

    /// The outermost pixel of the row: leftmost of a left edge, rightmost of a right one.
    #[inline]
    pub fn outermost(&self) -> i32 {
        let place = if self.ends_outward() { self.far() } else { self.near() };
        let x = if self.negative { self.upper_x - 1 - place } else { self.upper_x + place };
        if self.increment == 0 { self.upper_x } else { x.clamp(self.min_x, self.max_x) }
    }

    /// How many pixels it has in the row, at least 1 but for gaps. A `swapped` edge is on the wrong side of its polygon.
    #[inline]
    pub fn length(&self, swapped: bool) -> i32 {
        if self.x_major && !swapped { self.far() - self.near() + 1 } else { 1 }
    }

    /// Coverage of the row's pixels.
    pub fn coverage(&self, swapped: bool) -> Coverage {
        if self.x_major && !swapped && self.rules.contains(Rules::COVERAGE) {
            return self.recorded_coverage();
        }
        if self.x_major {
            let first = if self.negative { self.x_length - 1 - self.far() } else { self.near() };
            // (first + 1/2) * y_length / x_length with 10 bits; of its whole part nothing is kept.
            let rest = first * self.y_length % self.x_length;
            let start = ((rest << 10) + 0x1ff * self.y_length) / self.x_length;
            // All ones count from 0.
            let start = if start & 0x3ff == 0x3ff { 0 } else { start & 0x3ff };
            return Coverage::Rising { first: start as u32, step: self.coverage_step(), falls: false };
        }
        let level = if self.increment == 0 {
            if swapped { 0 } else { 31 }
        } else {
            let covered = ((self.accumulator >> 9) + (self.increment >> 10)) >> 4;
            let covered = if covered >> 5 == self.near() { covered & 31 } else { 31 };
            if self.ends_outward() == swapped { 31 - covered } else { covered }
        };
        Coverage::Level(level as u32)
    }

    /// What a pixel of an X-major edge adds to the coverage, with 10 bits.
    fn coverage_step(&self) -> u32 {
        ((self.y_length << 10) / self.x_length) as u32 & 0x3ff
    }

    /// Coverage of an X-major edge's pixels as consoles have it (`vectors/nds-console/FORMAT.md`, where this is the rule, k the
    /// row and t the place).
    fn recorded_coverage(&self) -> Coverage {
        let (near, far) = (self.near(), self.far());
        // The place of the leftmost pixel, and the height of the line in its middle, in 1024ths of the row.
        let place = if self.negative { far } else { near };
        let reciprocal = (self.y_length << 19) / self.x_length + 1;
        let rounding = i32::from(self.negative);
        let height = (((2 * place + 1) * reciprocal + rounding) >> 10) - ((self.row - self.upper_y) << 10);
        let is_single = near == far;
        let is_inside = (0..0x400).contains(&height);
        // Counted from the low end of the ramp.
        let is_turned = !is_single && is_inside == self.negative;
        let first = if is_turned { !height & 0x3ff } else { height & 0x3ff };
        let falls = self.negative && is_single;
        Coverage::Rising { first: first as u32, step: self.coverage_step(), falls }
    }

    /// Goes down to a row.
    #[inline]
    pub fn move_to(&mut self, row: i32) {
        self.accumulator += (row - self.row) * self.increment;
        self.row = row;
        self.along.move_to(row);
    }

    /// First and last pixel of the row as a line of its own, for comparison with captured slopes.
    pub fn line(&self) -> [i32; 2] {
        let (near, far) = (self.near(), self.far());
        if self.negative {
            [self.upper_x - 1 - far, self.upper_x - 1 - near]
        } else {
            [self.upper_x + near, self.upper_x + far]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: (i32, i32), to: (i32, i32), rules: Rules, row: i32) -> Edge {
        let end = |(x, y)| End { x, y, w: 0 };
        Edge::new(end(from), end(to), false, rules.at(Scale::ONE), row)
    }

    /// Rows whose pixels end before the next row's start.
    fn gap_rows(from: (i32, i32), to: (i32, i32), rules: Rules) -> usize {
        let line = |row| edge(from, to, rules, row).line();
        (from.1..to.1 - 1).filter(|&row| line(row)[1] + 1 < line(row + 1)[0]).count()
    }

    #[test]
    fn gaps_of_x_major_edges_are_the_hardwares() {
        for to in [(69, 49), (70, 66), (71, 49)] {
            assert!(gap_rows((0, 0), to, Rules::all()) > 0, "{to:?}");
            assert_eq!(gap_rows((0, 0), to, Rules::empty()), 0, "{to:?}");
        }
    }

    #[test]
    fn diagonals_are_exact() {
        for size in 1..192 {
            let last = edge((0, 0), (size, size), Rules::all(), size - 1);
            assert_eq!(last.line(), [size - 1; 2]);
            assert!(!last.x_major);
        }
    }

    #[test]
    fn vertical_edges_are_covered_unless_swapped() {
        let vertical = edge((5, 0), (5, 9), Rules::all(), 3);
        assert_eq!(vertical.outermost(), 5);
        assert_eq!(vertical.coverage(false), Coverage::Level(31));
        assert_eq!(vertical.coverage(true), Coverage::Level(0));
    }

    /// What is interpolated along them, too: a row earlier than along the same edge on the left.
    #[test]
    fn right_x_major_edges_are_a_row_ahead() {
        let ends = |x| [End { x: 0, y: 0, w: 0x1000 }, End { x, y: 4, w: 0x1000 }];
        let value = |x, is_right, row| {
            let [upper, lower] = ends(x);
            Edge::new(upper, lower, is_right, Rules::all().at(Scale::ONE), row).along.value(0, 100)
        };
        assert_eq!([0, 1, 2, 3].map(|row| value(40, false, row)), [0, 25, 50, 75]);
        assert_eq!([0, 1, 2, 3].map(|row| value(40, true, row)), [25, 50, 75, 100]);
        // Going left, it is the left edge that ends its row's pixels.
        assert_eq!([value(-40, true, 1), value(-40, false, 1)], [25, 50]);
        // Steep ones are not.
        assert_eq!([value(2, true, 1), value(2, false, 1)], [25, 25]);
    }

    #[test]
    fn swapped_x_major_edges_are_one_pixel_long() {
        let flat = edge((0, 0), (40, 4), Rules::all(), 1);
        assert!(flat.length(false) > 5);
        assert_eq!(flat.length(true), 1);
    }
}
