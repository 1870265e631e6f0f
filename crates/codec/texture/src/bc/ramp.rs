//! The ramps of BC3's alpha, BC4 and BC5: two values of eight bits, and four or six between them.

/// The ramp in eight bits.
#[inline(always)]
pub fn unorm8(block: u64) -> [u8; 8] {
    let (a, b) = (u32::from(block as u8), u32::from((block >> 8) as u8));
    if a > b {
        return seventh_parts().map(|(x, y)| ((a * x + b * y + 3) / 7) as u8);
    }
    let mut ramp = fifth_parts().map(|(x, y)| ((a * x + b * y + 2) / 5) as u8);
    (ramp[6], ramp[7]) = (0, 255);
    ramp
}

/// The ramp in 16 bits: of unsigned values, or the bits of signed ones.
#[inline(always)]
pub fn wide<const SIGNED: bool>(block: u64) -> [u16; 16] {
    select(block, if SIGNED { snorm16(block) } else { unorm16(block) })
}

#[inline(always)]
fn unorm16(block: u64) -> [u16; 8] {
    let (a, b) = (u32::from(block as u8), u32::from((block >> 8) as u8));
    if a > b {
        return seventh_parts().map(|(x, y)| (((a * x + b * y) * 257 + 3) / 7) as u16);
    }
    let mut ramp = fifth_parts().map(|(x, y)| (((a * x + b * y) * 257 + 2) / 5) as u16);
    (ramp[6], ramp[7]) = (0, 0xffff);
    ramp
}

/// The bytes are compared as they are; only then -128 becomes -127 (`vectors/texture/FORMAT.md`).
#[inline(always)]
fn snorm16(block: u64) -> [u16; 8] {
    let (a, b) = (block as i8, (block >> 8) as i8);
    let more = a > b;
    let (a, b) = (i32::from(a.max(-127)), i32::from(b.max(-127)));
    let scaled = |(x, y): (u32, u32), parts: i32| {
        let sum = a * x as i32 + b * y as i32;
        let half = 127 * parts;
        ((sum * 2 * 32767 + half).div_euclid(2 * half)) as u16
    };
    if more {
        return seventh_parts().map(|part| scaled(part, 7));
    }
    let mut ramp = fifth_parts().map(|part| scaled(part, 5));
    (ramp[6], ramp[7]) = (-32767i16 as u16, 32767);
    ramp
}

/// Parts of the first and the second value of a ramp of eight.
const fn seventh_parts() -> [(u32, u32); 8] {
    [(7, 0), (0, 7), (6, 1), (5, 2), (4, 3), (3, 4), (2, 5), (1, 6)]
}

/// Parts in a ramp of six; the last two are the lowest and the highest value.
const fn fifth_parts() -> [(u32, u32); 8] {
    [(5, 0), (0, 5), (4, 1), (3, 2), (2, 3), (1, 4), (0, 0), (0, 0)]
}

#[inline(always)]
fn select<T: Copy>(block: u64, ramp: [T; 8]) -> [T; 16] {
    let indices = block >> 16;
    core::array::from_fn(|i| ramp[(indices >> (3 * i)) as usize & 7])
}
