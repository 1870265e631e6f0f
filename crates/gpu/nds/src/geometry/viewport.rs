//! From clip coordinates to pixels.

/// Bits of a pixel's fraction.
const FRACTION: u32 = 4;

/// A place on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Pixel: x of 9 bits, y of 8.
    pub pixel: [u16; 2],
    /// Sixteenths of a pixel, 0 to 15: what the console's division leaves over.
    pub fraction: [u8; 2],
}

/// VIEWPORT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewport {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) width: u32,
    pub(super) height: u32,
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
    /// Place of a vertex. A w of 0 leads to pixel 0, 0.
    #[inline]
    pub fn transform(&self, [x, y, _, w]: [i32; 4]) -> Place {
        let w = w as u32;
        if w == 0 {
            return Place::default();
        }
        let (mut across, mut down) = ((x as u32).wrapping_add(w), w.wrapping_sub(y as u32));
        let mut divisor = w;
        if w > 0xffff {
            // The divider has 32 bits.
            (across, down, divisor) = ((across as i32 >> 1) as u32, (down as i32 >> 1) as u32, divisor >> 1);
        }
        let divisor = divisor << 1;
        let sixteenths = |numerator: u32| (u64::from(numerator) << FRACTION) / u64::from(divisor);
        let (x, y) =
            (sixteenths(across.wrapping_mul(self.width)), sixteenths(down.wrapping_mul(self.height)));
        let pixel = |at: u64, first: u32| ((at >> FRACTION) as u32).wrapping_add(first);
        Place {
            pixel: [(pixel(x, self.left) & 0x1ff) as u16, (pixel(y, self.top) & 0xff) as u16],
            fraction: [x, y].map(|at| (at & ((1 << FRACTION) - 1)) as u8),
        }
    }
}

crate::state::stated!(Viewport { left, top, width, height });

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: u32 = 255 << 16 | 191 << 24;

    #[test]
    fn corners_of_the_screen() {
        let full = Viewport::from(FULL);
        let pixel = |position| full.transform(position).pixel;
        assert_eq!(pixel([-4096, 4096, 0, 4096]), [0, 0]);
        assert_eq!(pixel([4096, -4096, 0, 4096]), [256, 192]);
        assert_eq!(pixel([0, 0, 0, 0x20001]), [128, 96]);
        assert_eq!(pixel([5, 5, 0, 0]), [0, 0]);
    }

    #[test]
    fn results_are_cut_to_nine_and_eight_bits() {
        let outside = Viewport::from(200 | 255 << 16 | 255 << 24);
        let [x, y] = outside.transform([4096, -4096, 0, 4096]).pixel;
        assert!(x <= 0x1ff && y <= 0xff);
    }

    #[test]
    fn fractions_are_what_pixels_leave_out() {
        let full = Viewport::from(FULL);
        // 5 / 8 of the screen and 1 / 16384 of it: 160 and a 64th.
        let place = full.transform([0x401, 0, 0, 0x1000]);
        assert_eq!((place.pixel[0], place.fraction[0]), (160, 0));
        let place = full.transform([0x408, 0, 0, 0x1000]);
        assert_eq!((place.pixel[0], place.fraction[0]), (160, 4));
        assert_eq!(full.transform([0x40f, 0, 0, 0x1000]).fraction[0], 7);
    }
}
