//! EAC: a base, a multiplier, and a table of eight modifiers.

pub const MODIFIERS: [[i8; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// The base, the multiplier and the modifiers of a block.
#[inline(always)]
fn header(block: u64) -> (u8, i32, &'static [i8; 8]) {
    ((block >> 56) as u8, (block >> 52) as i32 & 0xf, &MODIFIERS[(block >> 48) as usize & 0xf])
}

/// Alpha of eight bits; with multiplier 0 it is the base.
#[inline(always)]
pub fn alpha8(block: u64) -> [u8; 16] {
    let (base, multiplier, modifiers) = header(block);
    let ramp = modifiers.map(|m| (i32::from(base) + i32::from(m) * multiplier).clamp(0, 255) as u8);
    select(block, ramp)
}

/// A component of 11 bits, repeated to 16. With multiplier 0 the modifier counts once.
#[inline(always)]
pub fn r11<const SIGNED: bool>(block: u64) -> [u16; 16] {
    let (base, multiplier, modifiers) = header(block);
    let step = if multiplier == 0 { 1 } else { 8 * multiplier };
    let ramp = modifiers.map(|m| {
        let offset = i32::from(m) * step;
        if SIGNED {
            let value = (8 * i32::from((base as i8).max(-127)) + offset).clamp(-1023, 1023);
            let magnitude = value.unsigned_abs();
            let wide = (magnitude << 5 | magnitude >> 5) as i32;
            (if value < 0 { -wide } else { wide }) as u16
        } else {
            let value = (8 * i32::from(base) + 4 + offset).clamp(0, 2047);
            (value << 5 | value >> 6) as u16
        }
    });
    select(block, ramp)
}

/// Texels column by column; the first has the highest bits.
#[inline(always)]
fn select<T: Copy>(block: u64, ramp: [T; 8]) -> [T; 16] {
    core::array::from_fn(|i| ramp[(block >> (45 - 3 * i)) as usize & 7])
}
