//! Which triangles touch which bin.

/// A bin of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The bin's first pixel.
    pub x: u16,
    /// The bin's first pixel.
    pub y: u16,
    /// Numbers of the triangles whose bounding box touches it, in order.
    pub triangles: Vec<u32>,
}

/// Bins of `size` pixels that cover a screen, row by row, and the triangles of each. Corners are in sixteenths of a
/// pixel; triangles go to every bin their bounding box touches.
pub fn bin_triangles(screen: [u16; 2], size: u16, triangles: &[[[i16; 2]; 3]]) -> Vec<Bin> {
    let size = size.max(1);
    let across = screen.map(|n| usize::from(n.div_ceil(size)));
    let mut bins: Vec<Bin> = (0..across[0] * across[1])
        .map(|n| Bin {
            x: (n % across[0]) as u16 * size,
            y: (n / across[0]) as u16 * size,
            triangles: Vec::new(),
        })
        .collect();
    for (n, corners) in (0..).zip(triangles) {
        let span = |axis: usize| {
            let values = corners.map(|c| i32::from(c[axis]) >> 4);
            let low = values.into_iter().fold(i32::MAX, i32::min) / i32::from(size);
            let high = values.into_iter().fold(i32::MIN, i32::max).div_euclid(i32::from(size));
            // Nothing is left of a range that ends before the screen.
            let last = high.min(across[axis] as i32 - 1);
            low.max(0)..last + 1
        };
        for y in span(1) {
            for x in span(0) {
                bins[y as usize * across[0] + x as usize].triangles.push(n);
            }
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_write_ups_screen_has_eighty_bins() {
        let whole = [[-100, -100], [32000, -100], [-100, 32000]];
        let outside = [[-100, -100], [-50, -100], [-100, -50]];
        let corner = [[32 * 16, 32 * 16], [33 * 16, 32 * 16], [32 * 16, 33 * 16]];
        let bins = bin_triangles([320, 240], 32, &[whole, outside, corner]);
        assert_eq!(bins.len(), 80);
        assert_eq!(bins.iter().filter(|b| b.triangles.contains(&1)).count(), 0);
        let with: Vec<(u16, u16)> =
            bins.iter().filter(|b| b.triangles.contains(&2)).map(|b| (b.x, b.y)).collect();
        assert_eq!(with, [(32, 32)]);
        assert!(bins.iter().all(|b| b.triangles.contains(&0)));
    }
}
