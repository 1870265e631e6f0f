//! Pictures to be encoded, RGBA8 or of halves: made by a rule, the same every time, and unlike each other.

use crate::rng::Rng;

/// A picture of so many texels along each side.
pub type Picture = fn(usize) -> Vec<u8>;

/// All of them with their names.
pub const ALL: [(&str, Picture); 3] = [("smooth", smooth), ("detail", detail), ("sprite", sprite)];

/// A picture of bytes as one of halves: [`STEP`] halves further for each step of a byte. The brightest texels are some 60,000 times as
/// bright as the darkest. Every other component is negative if there are signs.
pub fn halves(texels: &[u8], signed: bool) -> Vec<u8> {
    let half = |(i, &byte): (usize, &u8)| {
        let sign = u16::from(signed && i % 4 % 2 == 1) << 15;
        (u16::from(byte) * STEP + 0x1c00) | sign
    };
    texels.iter().enumerate().map(half).flat_map(u16::to_le_bytes).collect()
}

/// Halves that a step of a byte is in [`halves`].
pub const STEP: u16 = 64;

/// Red, green and blue of RGBA of halves, as numbers that rise with them: in steps of [`STEP`] halves.
pub fn steps(halves: &[u8]) -> impl Iterator<Item = f64> {
    let step = |half: u16| match half >> 15 {
        0 => f64::from(half) / f64::from(STEP),
        _ => -f64::from(half & 0x7fff) / f64::from(STEP),
    };
    let rgb = move |texel: &[u8; 8]| [0, 2, 4].map(|at| step(u16::from_le_bytes([texel[at], texel[at + 1]])));
    halves.as_chunks().0.iter().flat_map(rgb)
}

/// A side of the picture of [`every_half`].
pub const EVERY_HALF: usize = 1024;

/// RGBA of halves with a colour to each block of 4x4 texels: every half is a red, another green and a third blue.
pub fn every_half() -> Vec<u8> {
    let half = |x: usize, y: usize| (x / 4 + y / 4 * 256) as u16;
    let places = (0..EVERY_HALF).flat_map(|y| (0..EVERY_HALF).map(move |x| (x, y)));
    let texel = |half: u16| [half, half ^ 0x0155, !half, 0x3c00].map(u16::to_le_bytes);
    places.flat_map(|(x, y)| texel(half(x, y))).flatten().collect()
}

/// The finite half nearest to one, without a sign unless there are signs; 0 for a NaN.
pub fn nearest_finite(half: u16, signed: bool) -> u16 {
    match (half & 0x7fff, half >> 15) {
        (0x7c01.., _) | (0, _) => 0,
        (_, 1) if !signed => 0,
        (magnitude, sign) => magnitude.min(0x7bff) | sign << 15,
    }
}

/// Noise of a value at each corner of a grid, smooth between them.
struct Noise {
    values: Vec<f32>,
    side: usize,
}

impl Noise {
    fn new(rng: &mut Rng, side: usize) -> Noise {
        Noise { values: (0..side * side).map(|_| rng.below(4096) as f32 / 4095.0).collect(), side }
    }

    /// At a place, of which 1 is a round trip.
    fn at(&self, x: f32, y: f32) -> f32 {
        let (x, y) = (x * self.side as f32, y * self.side as f32);
        let corner = |x: f32, y: f32| {
            let wrapped = |v: f32| v.rem_euclid(self.side as f32) as usize % self.side;
            self.values[wrapped(y) * self.side + wrapped(x)]
        };
        let ease = |t: f32| t * t * (3.0 - 2.0 * t);
        let (left, top) = (x.floor(), y.floor());
        let (a, b) = (ease(x - left), ease(y - top));
        let upper = corner(left, top) * (1.0 - a) + corner(left + 1.0, top) * a;
        let lower = corner(left, top + 1.0) * (1.0 - a) + corner(left + 1.0, top + 1.0) * a;
        upper * (1.0 - b) + lower * b
    }
}

fn painted(side: usize, mut texel: impl FnMut(f32, f32) -> [f32; 4]) -> Vec<u8> {
    let at = |i: usize| (i as f32 + 0.5) / side as f32;
    let places = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    places.flat_map(|(x, y)| texel(at(x), at(y)).map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8)).collect()
}

/// Slow changes of colour, with discs that are lit from a side.
pub fn smooth(side: usize) -> Vec<u8> {
    let mut rng = Rng::new(101);
    let noises = [0; 3].map(|_| Noise::new(&mut rng, 6));
    let mut unit = || rng.below(1000) as f32 / 1000.0;
    let discs: Vec<[f32; 6]> =
        (0..24).map(|_| [unit(), unit(), 0.02 + 0.08 * unit(), unit(), unit(), unit()]).collect();
    painted(side, |x, y| {
        let mut color = noises.each_ref().map(|noise| noise.at(x, y));
        for [cx, cy, radius, disc @ ..] in &discs {
            let (dx, dy) = ((x - cx) / radius, (y - cy) / radius);
            let square = dx * dx + dy * dy;
            if square < 1.0 {
                let light = 0.25 + 0.75 * (0.5 * dx - 0.5 * dy + 0.7 * (1.0 - square).sqrt()).max(0.0);
                color = disc.map(|c| c * light);
            }
        }
        let [r, g, b] = color;
        [r, g, b, 1.0]
    })
}

/// Noise of ten octaves under stripes.
pub fn detail(side: usize) -> Vec<u8> {
    let mut rng = Rng::new(102);
    let octaves: Vec<[Noise; 2]> = (1..=10).map(|i| [0; 2].map(|_| Noise::new(&mut rng, 1 << i))).collect();
    painted(side, |x, y| {
        let (mut light, mut tint, mut weight) = (0.0, 0.0, 0.5);
        for [lights, tints] in &octaves {
            light += weight * lights.at(x, y);
            tint += weight * tints.at(x, y);
            weight *= 0.5;
        }
        let stripe = 0.06 * ((x * 3.0 + y * 5.0 + tint) * 40.0).sin();
        let light = light + stripe;
        [light * (0.8 + 0.3 * tint), light, light * (1.2 - 0.4 * tint), 1.0]
    })
}

/// Soft edges of alpha over colours of which some are turned over.
pub fn sprite(side: usize) -> Vec<u8> {
    let mut rng = Rng::new(103);
    let noises = [0; 4].map(|_| Noise::new(&mut rng, 12));
    painted(side, |x, y| {
        let [r, g, b, a] = noises.each_ref().map(|noise| noise.at(x, y));
        let alpha = (a - 0.4) * 8.0;
        if (x * 8.0) as u32 % 2 == (y * 8.0) as u32 % 2 {
            [r, g, b, alpha]
        } else {
            [1.0 - r, g, 1.0 - b, alpha]
        }
    })
}
