//! Pixels on their way through the stages: a plane of values per quantity.

use super::combiner::PLANES;
use crate::vertex::Vertex;

/// Pixels of a batch: a tile of the framebuffer.
pub const LANES: usize = 64;
/// Loops run over a multiple of this many lanes; surplus lanes repeat the last pixel.
pub const STEP: usize = 8;

/// A float per pixel.
pub type Floats = [f32; LANES];
/// A vector per pixel.
pub type Vectors = [Floats; 3];
/// A channel of 0 to 255 per pixel.
pub type Plane = [u16; LANES];

/// Index of a value in [`Vertex::values`].
pub mod semantic {
    /// Quaternion of the surface, four values.
    pub const QUATERNION: usize = 4;
    /// Primary colour, four values.
    pub const COLOR: usize = 8;
    /// Coordinates of texture unit 0, two values.
    pub const TEX0: usize = 12;
    /// Coordinates of texture unit 1, two values.
    pub const TEX1: usize = 14;
    /// Third coordinate of texture unit 0.
    pub const TEX0_W: usize = 16;
    /// View vector, three values.
    pub const VIEW: usize = 18;
    /// Coordinates of texture unit 2, two values.
    pub const TEX2: usize = 22;
    /// Values of a vertex.
    pub const COUNT: usize = 24;
}

const _: () = assert!(size_of::<Vertex>() == semantic::COUNT * 4);

/// Covered pixels: where they are and their weights.
#[derive(Clone, Debug)]
pub struct Pixels {
    /// How many.
    pub len: usize,
    /// Weights of the three vertices, biases included.
    pub weights: [[i32; LANES]; 3],
    /// Place of the pixel in the colour and depth buffers, in memory order.
    pub index: [u32; LANES],
    /// Whether the pixels are a whole tile, in memory order.
    pub whole_tile: bool,
}

impl Default for Pixels {
    fn default() -> Self {
        Pixels { len: 0, weights: [[0; LANES]; 3], index: [0; LANES], whole_tile: false }
    }
}

impl Pixels {
    /// Adds a pixel. There must be room.
    #[inline]
    pub fn push(&mut self, index: u32, weights: [i32; 3]) {
        self.index[self.len] = index;
        for (plane, weight) in self.weights.iter_mut().zip(weights) {
            plane[self.len] = weight;
        }
        self.len += 1;
    }

    /// Lanes to work on: the pixels and up to a full step more.
    #[inline(always)]
    pub fn lanes(&self) -> usize {
        self.len.min(LANES).next_multiple_of(STEP)
    }

    /// Repeats the last pixel in the surplus lanes.
    #[inline(always)]
    pub fn pad(&mut self) {
        let lanes = self.lanes();
        if let Some(last) = self.len.checked_sub(1) {
            for plane in &mut self.weights {
                let weight = plane[last];
                plane[self.len..lanes].fill(weight);
            }
        }
    }
}

/// What the stages work out for the pixels of a batch.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Pixels.
    pub len: usize,
    lanes: usize,
    /// Weights of the vertices, biases included.
    pub weights: [Floats; 3],
    /// 1 / (1/w interpolated).
    pub w: Floats,
    /// Depth, 0 to 1.
    pub depth: Floats,
    /// Interpolated attributes, by semantic.
    pub attributes: [Floats; semantic::COUNT],
    /// Colours, by [`super::combiner::Source`] and what the combiner makes of them.
    pub planes: [Plane; PLANES],
    /// The fragment's colour.
    pub color: [Plane; 4],
    /// All ones while the pixel is alive, else 0.
    pub alive: Plane,
}

impl Default for Batch {
    fn default() -> Self {
        Batch {
            len: 0,
            lanes: 0,
            weights: [[0.0; LANES]; 3],
            w: [0.0; LANES],
            depth: [0.0; LANES],
            attributes: [[0.0; LANES]; semantic::COUNT],
            planes: [[0; LANES]; PLANES],
            color: [[0; LANES]; 4],
            alive: [0; LANES],
        }
    }
}

impl Batch {
    /// A batch of `pixels` that are alive and 0 in all else.
    #[cfg(test)]
    pub fn of(pixels: usize) -> Batch {
        let mut batch = Batch::default();
        batch.start(pixels);
        batch
    }

    /// Makes room for `pixels`, all alive.
    #[inline(always)]
    pub fn start(&mut self, pixels: usize) {
        self.len = pixels.min(LANES);
        self.lanes = self.len.next_multiple_of(STEP);
        self.alive = [u16::MAX; LANES];
    }

    /// Lanes to work on: the pixels, padded.
    #[inline(always)]
    pub fn lanes(&self) -> usize {
        // What the compiler sees here frees loops of bounds checks.
        self.lanes.min(LANES) & !(STEP - 1)
    }

    /// Whether no pixel is left.
    #[inline(always)]
    pub fn is_dead(&self) -> bool {
        self.alive[..self.len].iter().all(|&alive| alive == 0)
    }

    /// Kills the lanes for which `test` does not hold.
    #[inline(always)]
    pub fn keep(alive: &mut [u16], test: impl Fn(usize) -> bool) {
        for (lane, alive) in alive.iter_mut().enumerate() {
            *alive &= u16::from(test(lane)).wrapping_neg();
        }
    }
}

/// `value` truncated, as C does it on x86: what does not fit, and NaN, is `i32::MIN`. Unlike a saturating cast this
/// leaves loops vectorisable.
#[inline(always)]
pub fn truncate(value: f32) -> i32 {
    const LIMIT: f32 = 2_147_483_648.0;
    let value = if (-LIMIT..LIMIT).contains(&value) { value } else { -LIMIT };
    // SAFETY: the value is a number from -2^31 up to below 2^31.
    unsafe { value.to_int_unchecked() }
}

/// `value` truncated; its low eight bits.
#[inline(always)]
pub fn byte(value: f32) -> u16 {
    (truncate(value) & 0xff) as u16
}

/// `value` rounded, halves away from zero. (`f32::round` is a call on targets without SSE 4.1.)
#[inline(always)]
pub fn round_half_away(value: f32) -> i32 {
    let whole = truncate(value);
    let rest = value - whole as f32;
    whole.wrapping_add(i32::from(rest >= 0.5)).wrapping_sub(i32::from(rest <= -0.5))
}

/// A product as the unit forms it: 0 instead of NaN for zero times infinity.
#[inline(always)]
pub fn multiply(a: f32, b: f32) -> f32 {
    let product = a * b;
    if product.is_nan() && !a.is_nan() && !b.is_nan() { 0.0 } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_that_of_the_library() {
        for i in -4000..4000 {
            let value = i as f32 / 8.0;
            assert_eq!(round_half_away(value), value.round() as i32, "{value}");
        }
        for value in [0.499_999_97_f32, 8_388_607.5, -8_388_607.5, 1.0e9, -0.499_999_97] {
            assert_eq!(round_half_away(value), value.round() as i32, "{value}");
        }
    }

    #[test]
    fn truncation_of_what_does_not_fit() {
        assert_eq!([0.9, -0.9, -1.5, 255.99].map(truncate), [0, 0, -1, 255]);
        assert_eq!(truncate(2_147_483_520.0), 2_147_483_520);
        assert_eq!(truncate(-2_147_483_648.0), i32::MIN);
        for value in [2_147_483_648.0, -2_147_483_904.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert_eq!(truncate(value), i32::MIN, "{value}");
        }
    }

    #[test]
    fn zero_times_infinity_is_zero() {
        assert_eq!(multiply(0.0, f32::NEG_INFINITY), 0.0);
        assert!(multiply(f32::NAN, 0.0).is_nan());
        assert_eq!(multiply(2.0, 3.0), 6.0);
    }
}
