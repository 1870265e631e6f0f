//! A line of a layer.

/// Pixels of a line.
pub const WIDTH: usize = 256;

/// A line of a background.
///
/// Colours are as in memory: 5 bits of red, green and blue from the lowest bit on, and a sixth bit of green in bit 15.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where it is not 0, the pixel is visible.
    pub index: [u8; WIDTH],
    /// Colours of visible pixels; anything elsewhere, and on lines on which all colours are in the palette.
    pub color: [u16; WIDTH],
}

impl Default for Layer {
    fn default() -> Layer {
        Layer { index: [0; WIDTH], color: [0; WIDTH] }
    }
}

impl Layer {
    /// Colours of the indices.
    #[inline(always)]
    pub fn look_up(&mut self, palette: &[u16; 256]) {
        for (color, &index) in self.color.iter_mut().zip(&self.index) {
            *color = palette[usize::from(index)];
        }
    }

    /// Repeats the first pixel of each block of `width` + 1, with its colour or without.
    #[inline(always)]
    pub fn repeat(&mut self, width: u8, has_colors: bool) {
        let firsts = &FIRSTS[usize::from(width % 16)];
        let index = self.index;
        for (place, &first) in self.index.iter_mut().zip(firsts) {
            *place = index[usize::from(first)];
        }
        if has_colors {
            let color = self.color;
            for (place, &first) in self.color.iter_mut().zip(firsts) {
                *place = color[usize::from(first)];
            }
        }
    }
}

/// The first pixel of each pixel's block, by the width of blocks less one.
static FIRSTS: [[u8; WIDTH]; 16] = {
    let mut out = [[0; WIDTH]; 16];
    let mut width = 0;
    while width < 16 {
        let mut x = 0;
        while x < WIDTH {
            out[width][x] = (x - x % (width + 1)) as u8;
            x += 1;
        }
        width += 1;
    }
    out
};
