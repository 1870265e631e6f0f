//! From clip coordinates to pixels.

/// VIEWPORT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewport {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl From<u32> for Viewport {
    fn from(param: u32) -> Viewport {
        let [x0, y0, x1, y1] = param.to_le_bytes().map(u32::from);
        // The parameter counts from the bottom, the engine from the top, in 8 bits.
        let (bottom, top) = (191u32.wrapping_sub(y0) & 0xff, 191u32.wrapping_sub(y1) & 0xff);
        Viewport {
            left: x0,
            top,
            width: x1.wrapping_sub(x0).wrapping_add(1) & 0x1ff,
            height: bottom.wrapping_sub(top).wrapping_add(1) & 0xff,
        }
    }
}

impl Viewport {
    /// Pixel of a vertex: x of 9 bits, y of 8. A w of 0 leads to pixel 0, 0.
    #[inline]
    pub fn transform(&self, [x, y, _, w]: [i32; 4]) -> [u16; 2] {
        let w = w as u32;
        if w == 0 {
            return [0, 0];
        }
        let (mut across, mut down) = ((x as u32).wrapping_add(w), w.wrapping_sub(y as u32));
        let mut divisor = w;
        if w > 0xffff {
            // The divider has 32 bits.
            (across, down, divisor) = ((across as i32 >> 1) as u32, (down as i32 >> 1) as u32, divisor >> 1);
        }
        let divisor = divisor << 1;
        let x = (across.wrapping_mul(self.width) / divisor).wrapping_add(self.left);
        let y = (down.wrapping_mul(self.height) / divisor).wrapping_add(self.top);
        [(x & 0x1ff) as u16, (y & 0xff) as u16]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: u32 = 255 << 16 | 191 << 24;

    #[test]
    fn corners_of_the_screen() {
        let full = Viewport::from(FULL);
        assert_eq!(full.transform([-4096, 4096, 0, 4096]), [0, 0]);
        assert_eq!(full.transform([4096, -4096, 0, 4096]), [256, 192]);
        assert_eq!(full.transform([0, 0, 0, 0x20001]), [128, 96]);
        assert_eq!(full.transform([5, 5, 0, 0]), [0, 0]);
    }

    #[test]
    fn results_are_cut_to_nine_and_eight_bits() {
        let outside = Viewport::from(200 | 255 << 16 | 255 << 24);
        assert!(outside.transform([4096, -4096, 0, 4096])[0] <= 0x1ff);
        assert!(outside.transform([4096, -4096, 0, 4096])[1] <= 0xff);
    }
}
