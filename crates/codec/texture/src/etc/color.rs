//! The colours of ETC1 and ETC2.

type Rgba = [u8; 4];

/// Distances of the modifiers of a subblock: small and large.
pub const MODIFIERS: [[u8; 2]; 8] =
    [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// Distances of the modes T and H.
pub const DISTANCES: [u8; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

/// What a palette's four colours add to or take from the base, RGBA.
#[derive(Clone, Copy)]
struct Steps {
    up: [[u8; 4]; 4],
    down: [[u8; 4]; 4],
}

/// By modifier: opaque first, then with the small distance 0.
const STEPS: [[Steps; 8]; 2] = {
    let mut out = [[Steps { up: [[0; 4]; 4], down: [[0; 4]; 4] }; 8]; 2];
    let mut i = 0;
    while i < 16 {
        let [small, large] = MODIFIERS[i & 7];
        let small = if i < 8 { small } else { 0 };
        let steps = &mut out[i >> 3][i & 7];
        steps.up[0] = [small, small, small, 0];
        steps.up[1] = [large, large, large, 0];
        steps.down[2] = [small, small, small, 0];
        steps.down[3] = [large, large, large, 0];
        i += 1;
    }
    out
};

/// ETC1; a second colour out of range is read modulo 32.
#[inline(always)]
pub fn etc1(block: u64) -> [Rgba; 16] {
    match differential(block) {
        true => subblocks(block, differential_bases(block), false),
        false => subblocks(block, individual_bases(block), false),
    }
}

/// ETC1 as the PICA200 has it: a second colour out of range is widened as the byte it is.
pub fn pica_etc1(block: u64) -> [Rgba; 16] {
    let bytes = |value: u64| (value as u8) << 3 | value as u8 >> 2;
    match differential(block) {
        true => subblocks(block, widened_bases(block, bytes), false),
        false => subblocks(block, individual_bases(block), false),
    }
}

/// ETC2 without alpha.
#[inline(always)]
pub fn rgb(block: u64) -> [Rgba; 16] {
    if !differential(block) {
        return subblocks(block, individual_bases(block), false);
    }
    match overflow(block) {
        None => subblocks(block, differential_bases(block), false),
        Some(0) => paint(block, t_palette(block)),
        Some(1) => paint(block, h_palette(block)),
        Some(_) => planar(block),
    }
}

/// ETC2 with one bit of alpha: the bit that tells modes apart in the others says that all is opaque.
#[inline(always)]
pub fn rgba1(block: u64) -> [Rgba; 16] {
    let transparent = !differential(block);
    let palette = match overflow(block) {
        None => return subblocks(block, differential_bases(block), transparent),
        Some(0) => t_palette(block),
        Some(1) => h_palette(block),
        Some(_) => return planar(block),
    };
    let [a, b, c, d] = palette;
    paint(block, [a, b, if transparent { [0; 4] } else { c }, d])
}

#[inline(always)]
const fn differential(block: u64) -> bool {
    block >> 33 & 1 != 0
}

/// The first component whose second base is out of range: what tells the modes of ETC2.
#[inline(always)]
fn overflow(block: u64) -> Option<u32> {
    // Base and difference of a component in each lane; a sum of 32 and more, or below 0, has bit 5 set.
    let sum = |shift: u32| (block >> (shift + 3) & 0x1f).wrapping_add(delta(block, shift) as u64) & 0x20;
    let out = sum(56) >> 5 | sum(48) >> 4 | sum(40) >> 3;
    (out != 0).then(|| out.trailing_zeros())
}

/// The difference at `shift`, three bits with a sign.
#[inline(always)]
const fn delta(block: u64, shift: u32) -> i64 {
    (block << (61 - shift)) as i64 >> 61
}

#[inline(always)]
const fn extend4(value: u64) -> u8 {
    (value & 0xf) as u8 * 17
}

#[inline(always)]
const fn extend5(value: u64) -> u8 {
    ((value & 0x1f) << 3 | (value & 0x1f) >> 2) as u8
}

#[inline(always)]
fn individual_bases(block: u64) -> [Rgba; 2] {
    let base = |low: u32| {
        [extend4(block >> (56 + low)), extend4(block >> (48 + low)), extend4(block >> (40 + low)), 255]
    };
    [base(4), base(0)]
}

#[inline(always)]
fn differential_bases(block: u64) -> [Rgba; 2] {
    widened_bases(block, extend5)
}

/// The bases of a differential block, with a widening of the second's components, which may be out of range.
#[inline(always)]
fn widened_bases(block: u64, widen: impl Fn(u64) -> u8) -> [Rgba; 2] {
    let first = |shift: u32| block >> (shift + 3) & 0x1f;
    let second = |shift: u32| first(shift).wrapping_add(delta(block, shift) as u64);
    [
        [extend5(first(56)), extend5(first(48)), extend5(first(40)), 255],
        [widen(second(56)), widen(second(48)), widen(second(40)), 255],
    ]
}

/// The modes of ETC1: two halves, side by side or one above the other.
#[inline(always)]
fn subblocks(block: u64, bases: [Rgba; 2], transparent: bool) -> [Rgba; 16] {
    let steps = &STEPS[usize::from(transparent)];
    let tables = [(block >> 37) as usize & 7, (block >> 34) as usize & 7];
    let mut palette = [[0; 4]; 8];
    for half in 0..2 {
        let Steps { up, down } = &steps[tables[half]];
        for i in 0..4 {
            for c in 0..4 {
                palette[4 * half + i][c] = bases[half][c].saturating_add(up[i][c]).saturating_sub(down[i][c]);
            }
        }
        if transparent {
            palette[4 * half + 2] = [0; 4];
        }
    }
    // A bit for each texel of the second half, column by column.
    let second: usize = if block >> 32 & 1 != 0 { 0xcccc } else { 0xff00 };
    core::array::from_fn(|i| palette[(second >> i & 1) << 2 | index(block, i)])
}

/// The index of texel `i`, column by column.
#[inline(always)]
const fn index(block: u64, i: usize) -> usize {
    (block >> (15 + i)) as usize & 2 | (block >> i) as usize & 1
}

#[inline(always)]
fn paint(block: u64, palette: [Rgba; 4]) -> [Rgba; 16] {
    core::array::from_fn(|i| palette[index(block, i)])
}

#[inline(always)]
fn moved([r, g, b, a]: Rgba, step: impl Fn(u8) -> u8) -> Rgba {
    [step(r), step(g), step(b), a]
}

#[inline(always)]
fn t_palette(block: u64) -> [Rgba; 4] {
    let red = block >> 59 & 3;
    let first = [extend4(red << 2 | block >> 56 & 3), extend4(block >> 52), extend4(block >> 48), 255];
    let second = [extend4(block >> 44), extend4(block >> 40), extend4(block >> 36), 255];
    let distance = DISTANCES[(block >> 33) as usize & 6 | (block >> 32) as usize & 1];
    [
        first,
        moved(second, |c| c.saturating_add(distance)),
        second,
        moved(second, |c| c.saturating_sub(distance)),
    ]
}

#[inline(always)]
fn h_palette(block: u64) -> [Rgba; 4] {
    let green = block >> 56 & 7;
    let blue = block >> 51 & 1;
    let first = [
        extend4(block >> 59),
        extend4(green << 1 | block >> 52 & 1),
        extend4(blue << 3 | block >> 47 & 7),
        255,
    ];
    let second = [extend4(block >> 43), extend4(block >> 39), extend4(block >> 35), 255];
    let order = usize::from(first >= second);
    let distance = DISTANCES[(block >> 32) as usize & 4 | (block >> 31) as usize & 2 | order];
    [
        moved(first, |c| c.saturating_add(distance)),
        moved(first, |c| c.saturating_sub(distance)),
        moved(second, |c| c.saturating_add(distance)),
        moved(second, |c| c.saturating_sub(distance)),
    ]
}

/// The mode of a colour at the origin and its slopes.
#[inline(always)]
fn planar(block: u64) -> [Rgba; 16] {
    let field = |shift: u32, bits: u32| (block >> shift) as i32 & ((1 << bits) - 1);
    let six = |value: i32| value << 2 | value >> 4;
    let seven = |value: i32| value << 1 | value >> 6;
    let origin = [
        six(field(57, 6)),
        seven(field(56, 1) << 6 | field(49, 6)),
        six(field(48, 1) << 5 | field(43, 2) << 3 | field(39, 3)),
    ];
    let right = [six(field(34, 5) << 1 | field(32, 1)), seven(field(25, 7)), six(field(19, 6))];
    let below = [six(field(13, 6)), seven(field(6, 7)), six(field(0, 6))];
    core::array::from_fn(|i| {
        let (x, y) = ((i / 4) as i32, (i % 4) as i32);
        let at = |c: usize| {
            let value = x * (right[c] - origin[c]) + y * (below[c] - origin[c]) + 4 * origin[c] + 2;
            (value >> 2).clamp(0, 255) as u8
        };
        [at(0), at(1), at(2), 255]
    })
}
