//! Words of look-up tables (vectors/picagpu/FORMAT.md, sections 5, 7 and 8).

/// A value from 0 to 1 in `bits` bits.
fn unit(value: f32, bits: u32) -> u32 {
    let max = ((1u32 << bits) - 1) as f32;
    (value.clamp(0.0, 1.0) * max + 0.5) as u32
}

/// Values at the entries of a table with `N` entries over 0 to 1, each with the step to the next.
fn steps<const N: usize>(f: impl Fn(f32) -> f32) -> [(f32, f32); N] {
    let at = |i: usize| f(i as f32 / N as f32).clamp(0.0, 1.0);
    std::array::from_fn(|i| (at(i), at(i + 1) - at(i)))
}

/// A table of fragment lighting over 0 to 1.
pub fn lighting(f: impl Fn(f32) -> f32) -> [u32; 256] {
    steps(f).map(|(value, step)| {
        unit(value, 12) | unit(libm::fabsf(step), 11) << 12 | u32::from(step < 0.0) << 23
    })
}

/// A highlight: a power of the cosine.
pub fn shine(exponent: f32) -> [u32; 256] {
    lighting(|cosine| libm::powf(cosine, exponent))
}

/// Fog: how much of the fragment is seen, over depth from 0 to 1.
pub fn fog(f: impl Fn(f32) -> f32) -> [u32; 128] {
    steps(f).map(|(value, step)| {
        let step = libm::roundf(step * 2047.0) as i32;
        unit(value, 11) << 13 | step as u32 & 0x1fff
    })
}

/// A map of procedural textures over 0 to 1.
pub fn map(f: impl Fn(f32) -> f32) -> [u32; 128] {
    steps(f).map(|(value, step)| {
        let step = libm::roundf(step * 4095.0) as i32;
        unit(value, 12) | (step as u32 & 0xfff) << 12
    })
}

/// Colours of procedural textures, and the table of halved steps between them.
pub fn colors(f: impl Fn(f32) -> [u8; 3]) -> ([u32; 256], [u32; 256]) {
    let at = |i: usize| f(i as f32 / 255.0);
    let color = |i: usize| {
        let [r, g, b] = at(i);
        u32::from_le_bytes([r, g, b, 255])
    };
    let step = |i: usize| {
        let (here, next) = (at(i), at((i + 1).min(255)));
        let half = |n: usize| ((i32::from(next[n]) - i32::from(here[n])) / 2).clamp(-128, 127) as u8;
        u32::from_le_bytes([half(0), half(1), half(2), 0])
    };
    (std::array::from_fn(color), std::array::from_fn(step))
}
