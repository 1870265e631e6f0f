//! Mosaic: which lines and points blocks of lines are drawn from.

use super::background::{Point, Points};
use super::registers::Registers;
use crate::state::{Io, StateError, Stated};

/// Mosaic of backgrounds.
#[derive(Clone, Debug, Default)]
pub struct BackgroundMosaic {
    /// Lines since the block's first.
    counter: u8,
    /// Height of blocks less one, as it was when this block began.
    height: u8,
    /// The block's first line.
    line: u32,
    /// Points of the block's first line.
    points: [Point; 2],
}

impl BackgroundMosaic {
    /// The line that text is taken from.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The point that an affine background is drawn from.
    pub fn point(&self, n: usize) -> Point {
        self.points.get(n).copied().unwrap_or_default()
    }

    /// The start of line 0.
    pub fn start_frame(&mut self) {
        self.counter = 0;
    }

    /// A drawn line's start: the first of a block is what the others are drawn from.
    pub fn start_line(&mut self, line: u32, points: &Points) {
        if self.counter == 0 {
            self.line = line;
            self.points = points.now();
        }
    }

    /// A line's end: a new block begins with the next, or not.
    pub fn end_line(&mut self, line: u32, registers: &Registers) {
        if self.counter >= self.height || line == 262 {
            self.counter = 0;
            self.height = registers.mosaic(1);
        } else {
            self.counter += 1;
        }
    }
}

/// Mosaic of OBJs.
#[derive(Clone, Debug, Default)]
pub struct ObjMosaic {
    /// Lines since the block's first, 4 bits.
    counter: u8,
    /// The block's first line.
    line: u32,
}

impl ObjMosaic {
    /// The line that OBJs with mosaic are fetched from.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// OBJs are about to be fetched for a line.
    pub fn step(&mut self, line: u32, registers: &Registers) {
        // A height set lower within a block lets the counter run through all of its 4 bits.
        if line == 0 || self.counter == registers.mosaic(3) {
            (self.counter, self.line) = (0, line);
        } else {
            self.counter = (self.counter + 1) & 15;
        }
    }
}

impl Stated for BackgroundMosaic {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let BackgroundMosaic { counter, height, line, points } = self;
        counter.state(io)?;
        height.state(io)?;
        line.state(io)?;
        points.state(io)?;
        (*counter, *height) = (*counter & 15, *height & 15);
        Ok(())
    }
}

impl Stated for ObjMosaic {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let ObjMosaic { counter, line } = self;
        counter.state(io)?;
        line.state(io)?;
        *counter &= 15;
        Ok(())
    }
}
