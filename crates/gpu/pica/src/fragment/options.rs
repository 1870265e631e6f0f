//! What an embedder may choose about pixels on a host's GPU.

use crate::raster::Chip;

/// Samples of a pixel along each axis, 1 to 8.
///
/// With more than one, the device draws each pixel several times: once as the guest has it, in its middle, and then once for
/// each sample of the larger picture, a *plane* each. A draw reads and writes all planes of its buffers, each its own, so what
/// guest memory gets after a flush, which is the first plane, does not depend on the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale(u32);

impl Scale {
    /// One sample: the guest's own resolution.
    pub const ONE: Scale = Scale(1);
    /// The most.
    pub const MAX: Scale = Scale(8);

    /// So many samples along each axis; nothing unless it is 1 to 8.
    ///
    /// ```
    /// use xenoglot_pica::fragment::Scale;
    ///
    /// assert_eq!(Scale::new(4).map(Scale::get), Some(4));
    /// assert_eq!((Scale::new(0), Scale::new(9)), (None, None));
    /// ```
    pub fn new(samples: u32) -> Option<Scale> {
        (Scale::ONE.0..=Scale::MAX.0).contains(&samples).then_some(Scale(samples))
    }

    /// Samples along each axis.
    pub fn get(self) -> u32 {
        self.0
    }

    /// How far samples lie from the middle of their pixel, in sixteenths.
    pub(crate) fn reach(self) -> u16 {
        if self.0 == 1 { 0 } else { 8 }
    }

    /// Planes: the guest's own pixels and, if there is more than one sample, a plane for each.
    pub(crate) fn planes(self) -> u32 {
        if self.0 == 1 { 1 } else { 1 + self.0 * self.0 }
    }
}

impl Default for Scale {
    fn default() -> Scale {
        Scale::ONE
    }
}

/// Where the triangles of a draw are set up and binned. The picture does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Triangles {
    /// On the device if the draw has many triangles and the device is not the processor itself.
    #[default]
    ByCount,
    /// On the processor.
    Processor,
    /// On the device. Draws for which that is not possible are done on the processor.
    Device,
}

/// Options of a renderer on the host's GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Samples of a pixel in pictures that are presented.
    pub scale: Scale,
    /// Registers to obey that the emulator behind the test vectors ignores, as the CPU renderer does with the same value.
    pub chip: Chip,
    /// Where triangles are set up and binned.
    pub triangles: Triangles,
}
