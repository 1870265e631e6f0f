//! What the processor computes of a draw's triangles, wherever they are set up.

use crate::renderer::OutOfPixels;

/// A draw that the device cannot do exactly: products of its attributes with weights may be NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

/// Why collecting triangles stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing is left of the pixels.
    OutOfPixels,
    /// The device cannot draw it.
    NotFinite,
}

impl Stop {
    /// How a draw ends.
    pub fn sort(done: Result<(), Stop>) -> Result<Result<(), OutOfPixels>, NotFinite> {
        match done {
            Ok(()) => Ok(Ok(())),
            Err(Stop::OutOfPixels) => Ok(Err(OutOfPixels)),
            Err(Stop::NotFinite) => Err(NotFinite),
        }
    }
}

/// Takes the pixels of a triangle's bounds off those that are left.
pub fn take(pixels: &mut u64, bounds: u64) -> Result<(), Stop> {
    match pixels.checked_sub(bounds) {
        Some(left) => {
            *pixels = left;
            Ok(())
        }
        None => {
            *pixels = 0;
            Err(Stop::OutOfPixels)
        }
    }
}

/// What a draw touches, and how much it is.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The first and the last tile, in memory order.
    pub tiles: (u32, u32),
    /// Words that it adds to a batch, roughly.
    pub words: usize,
}
