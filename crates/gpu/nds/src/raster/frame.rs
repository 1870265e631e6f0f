//! Frames that were drawn, by whichever renderer.

use super::buffers::WIDTH;

/// Rows of a frame, not scrolled.
#[derive(Clone, Copy, Debug)]
pub struct FrameRow<'a> {
    /// Colours: 6 bits of red, green and blue from the lowest byte on, 5 bits of alpha.
    pub color: &'a [u32],
    /// Depths of 24 bits.
    pub depth: &'a [u32],
    /// Attributes ([`super::buffers::PixelFlags`] and numbers).
    pub attributes: &'a [u32],
}

/// A frame that was drawn.
pub trait Frame {
    /// Columns and rows; 256 and 192 times a whole number.
    fn size(&self) -> [usize; 2];

    /// Columns of the console, 0 to 511, that it is scrolled by.
    fn scroll(&self) -> usize;

    /// A row; `None` below the frame.
    fn row(&self, y: usize) -> Option<FrameRow<'_>>;

    /// A row's colours as shown, scrolled: transparent where nothing is. Empty below the frame.
    fn shown_row(&self, y: usize) -> Vec<u32> {
        let [width, _] = self.size();
        let Some(FrameRow { color, .. }) = self.row(y) else { return Vec::new() };
        let by = self.scroll() * (width / WIDTH);
        let mut out = vec![0; width];
        // Offsets from the width on scroll in from the right.
        if by < width {
            out[..width - by].copy_from_slice(&color[by..]);
        } else {
            out[2 * width - by..].copy_from_slice(&color[..by - width]);
        }
        out
    }
}
