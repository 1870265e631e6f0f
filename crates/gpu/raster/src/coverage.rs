//! What binning asks of a primitive.

use crate::grid::Bounds;

/// A primitive that may be binned.
pub trait Coverage {
    /// The pixels it may touch. Where they lie in a square they do touch it.
    fn bounds(&self) -> Bounds;

    /// Whether it may touch one of these pixels, which lie within [`Coverage::bounds`] in part. Never false where it
    /// covers one.
    fn touches(&self, pixels: &Bounds) -> bool;
}

impl Coverage for Bounds {
    fn bounds(&self) -> Bounds {
        *self
    }

    fn touches(&self, pixels: &Bounds) -> bool {
        !self.is_empty() && !self.intersect(pixels).is_empty()
    }
}

impl<C: Coverage> Coverage for &C {
    fn bounds(&self) -> Bounds {
        (*self).bounds()
    }

    fn touches(&self, pixels: &Bounds) -> bool {
        (*self).touches(pixels)
    }
}
