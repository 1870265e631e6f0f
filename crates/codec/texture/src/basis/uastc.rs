//! UASTC: nineteen kinds of blocks, each both a block of ASTC and nearly one of BC7.

use crate::astc::ise;

/// The colour of blocks that are illegal.
pub const ERROR: [u8; 4] = [255, 0, 255, 255];

/// What a block of one of the nineteen modes holds.
pub struct Mode {
    /// The row of [`ise::LEVELS`] that endpoint values are of.
    pub levels: u8,
    /// Bits of a weight.
    pub weight_bits: u8,
    /// Pairs of endpoints.
    pub subsets: u8,
    pub components: Components,
    /// Whether a component has weights of its own.
    pub dual: bool,
    /// Bits between the number of the mode and the partition pattern: hints for transcoders.
    hints: u8,
}

impl Mode {
    /// The row of [`ise::LEVELS`] that weights are of.
    pub const fn weight_row(&self) -> usize {
        [0, 0, 2, 5, 8, 11][self.weight_bits as usize % 6]
    }
}

/// What endpoints are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Components {
    Rgb,
    Rgba,
    /// Luminance and alpha.
    La,
}

impl Components {
    /// Values of a pair of endpoints.
    pub const fn values(self) -> usize {
        match self {
            Components::La => 4,
            Components::Rgb => 6,
            Components::Rgba => 8,
        }
    }
}

const fn mode(
    levels: u8,
    weight_bits: u8,
    subsets: u8,
    components: Components,
    dual: bool,
    hints: u8,
) -> Mode {
    Mode { levels, weight_bits, subsets, components, dual, hints }
}

/// By index. Hints: two bits for BC1, but of 10 to 12 one; eight for ETC1 and five of bias, but of 10 to 12 none; eight for
/// alpha of ETC2 from 9 to 17.
pub const MODES: [Mode; 19] = {
    use Components::{La, Rgb, Rgba};
    [
        mode(19, 4, 1, Rgb, false, 15),
        mode(20, 2, 1, Rgb, false, 15),
        mode(8, 3, 2, Rgb, false, 15),
        mode(7, 2, 3, Rgb, false, 15),
        mode(12, 2, 2, Rgb, false, 15),
        mode(20, 3, 1, Rgb, false, 15),
        mode(18, 2, 1, Rgb, true, 15),
        mode(12, 2, 2, Rgb, false, 15),
        // One colour.
        mode(20, 0, 0, Rgba, false, 0),
        mode(8, 2, 2, Rgba, false, 23),
        mode(13, 4, 1, Rgba, false, 17),
        mode(13, 2, 1, Rgba, true, 17),
        mode(19, 3, 1, Rgba, false, 17),
        mode(20, 1, 1, Rgba, true, 23),
        mode(20, 2, 1, Rgba, false, 23),
        mode(20, 4, 1, La, false, 23),
        mode(20, 2, 2, La, false, 23),
        mode(20, 2, 1, La, true, 23),
        mode(11, 5, 1, Rgb, false, 15),
    ]
};

/// The mode of one colour.
pub const SOLID: u8 = 8;

/// Numbers of modes: bits, the lowest first, and how many.
const NUMBERS: [(u8, u8); 19] = [
    (0x01, 4),
    (0x35, 6),
    (0x1d, 5),
    (0x03, 5),
    (0x13, 5),
    (0x0b, 5),
    (0x1b, 5),
    (0x07, 5),
    (0x17, 5),
    (0x0f, 5),
    (0x02, 3),
    (0x00, 2),
    (0x06, 3),
    (0x1f, 5),
    (0x0d, 5),
    (0x05, 7),
    (0x15, 6),
    (0x25, 6),
    (0x09, 4),
];

/// Modes by the lowest seven bits of a block; 255 where they are no mode's number.
const BY_BITS: [u8; 128] = {
    let mut table = [255; 128];
    let mut mode = 0;
    while mode < NUMBERS.len() {
        let (number, bits) = NUMBERS[mode];
        let mut i = number as usize;
        while i < 128 {
            table[i] = mode as u8;
            i += 1 << bits;
        }
        mode += 1;
    }
    table
};

/// The number of a block's mode; 255 where it has none.
#[inline(always)]
pub fn mode_of(block: &[u8; 16]) -> u8 {
    BY_BITS[usize::from(block[0] & 0x7f)]
}

/// Where the fields of a mode begin, in bits.
pub struct Layout {
    /// The multiplier of ETC2's alpha, four bits that are not 0, if the mode has it.
    pub multiplier: Option<u32>,
    pub pattern: u32,
    pub pattern_bits: u32,
    /// The component with weights of its own, two bits if they are there.
    pub second: u32,
    /// Digits of endpoint values, then their bits.
    pub digits: u32,
    pub low_bits: u32,
    pub weights: u32,
}

impl Layout {
    pub const fn of(mode: usize) -> Layout {
        let Mode { levels, subsets, components, hints, .. } = MODES[mode];
        let hints_end = (NUMBERS[mode].1 + hints) as u32;
        let multiplier = if mode >= 9 && mode <= 17 { Some(hints_end - 4) } else { None };
        let pattern_bits = match mode {
            2 | 4 | 7 | 9 | 16 => 5,
            3 => 4,
            _ => 0,
        };
        let second = hints_end + pattern_bits;
        let digits = second + if matches!(mode, 6 | 11 | 13) { 2 } else { 0 };
        let (levels, count) = (ise::LEVELS[levels as usize], components.values() as u32 * subsets as u32);
        let low_bits = digits + levels.bits(count) - count * levels.low_bits();
        let weights = digits + levels.bits(count);
        Layout { multiplier, pattern: hints_end, pattern_bits, second, digits, low_bits, weights }
    }
}

/// A partition pattern: the subsets of texels, two bits each, the first lowest, and ASTC's index of the same partitions.
#[derive(Clone, Copy)]
pub struct Pattern {
    pub subsets: u32,
    pub astc: u16,
    /// A bit for the first texel of each subset, whose weight lacks the highest bit.
    pub anchors: u16,
}

const fn pattern(subsets: u32, astc: u16) -> Pattern {
    let (mut anchors, mut seen) = (0, 0u32);
    let mut texel = 0;
    while texel < 16 {
        let subset = 1 << (subsets >> (2 * texel) & 3);
        if seen & subset == 0 {
            anchors |= 1 << texel;
        }
        seen |= subset;
        texel += 1;
    }
    Pattern { subsets, astc, anchors }
}

/// Of modes 2, 4, 9 and 16.
pub const TWO: [Pattern; 30] = [
    pattern(0x5050_5050, 28),
    pattern(0x4040_4040, 20),
    pattern(0x0101_0101, 16),
    pattern(0x5450_5040, 29),
    pattern(0x0515_1555, 91),
    pattern(0x5554_5450, 9),
    pattern(0x0001_0515, 107),
    pattern(0x0105_1555, 72),
    pattern(0x5040_0000, 149),
    pattern(0x0000_0105, 204),
    pattern(0x5554_4000, 50),
    pattern(0x0115_5555, 114),
    pattern(0x0000_0115, 496),
    pattern(0x0000_5555, 17),
    pattern(0x5555_5500, 78),
    pattern(0x0055_5555, 39),
    pattern(0x5555_1501, 252),
    pattern(0x4054_5555, 828),
    pattern(0x0040_5054, 43),
    pattern(0x0000_4050, 156),
    pattern(0x1505_0100, 116),
    pattern(0x5054_5555, 210),
    pattern(0x1505_0501, 476),
    pattern(0x0040_4050, 273),
    pattern(0x5054_5455, 684),
    pattern(0x1414_1414, 359),
    pattern(0x5500_0055, 246),
    pattern(0x1111_1111, 195),
    pattern(0x0055_0055, 694),
    pattern(0x0514_5041, 524),
];

/// Of mode 3.
pub const THREE: [Pattern; 11] = [
    pattern(0xa5a5_0000, 260),
    pattern(0xaa00_5555, 74),
    pattern(0xaa00_0055, 32),
    pattern(0x0000_aa55, 156),
    pattern(0x2525_2525, 183),
    pattern(0x9494_9494, 15),
    pattern(0x5858_5858, 745),
    pattern(0x5656_0202, 0),
    pattern(0x9292_9292, 335),
    pattern(0x55aa_0055, 902),
    pattern(0xa050_50a0, 254),
];

/// Of mode 7.
pub const SEVEN: [Pattern; 19] = [
    pattern(0x0000_5500, 36),
    pattern(0x1010_1010, 48),
    pattern(0x0001_0505, 61),
    pattern(0x5050_4000, 137),
    pattern(0x5500_5555, 161),
    pattern(0x0404_0404, 183),
    pattern(0x5555_5040, 226),
    pattern(0x5050_5054, 281),
    pattern(0x0550_0005, 302),
    pattern(0x0000_5454, 307),
    pattern(0x1515_0000, 479),
    pattern(0x0500_0005, 495),
    pattern(0x0000_5054, 593),
    pattern(0x5555_4000, 594),
    pattern(0x1455_5555, 605),
    pattern(0x0105_0505, 799),
    pattern(0x0101_5555, 812),
    pattern(0x0105_1450, 988),
    pattern(0x0000_5455, 993),
];

/// A single subset.
pub const ONE: Pattern = pattern(0, 0);

/// Those of a mode.
pub const fn patterns(mode: usize) -> &'static [Pattern] {
    match mode {
        2 | 4 | 9 | 16 => &TWO,
        3 => &THREE,
        7 => &SEVEN,
        _ => &[ONE],
    }
}

impl Pattern {
    /// The subset of a texel.
    #[inline(always)]
    pub const fn subset(&self, texel: usize) -> usize {
        (self.subsets >> (2 * texel) & 3) as usize
    }
}

/// RGBA of a block of the mode of one colour.
#[inline(always)]
pub fn color_of_solid(bits: u128) -> [u8; 4] {
    ((bits >> NUMBERS[SOLID as usize].1) as u32).to_le_bytes()
}

/// A pair of endpoints, low and high, RGBA.
pub type Endpoints = [[u8; 4]; 2];
