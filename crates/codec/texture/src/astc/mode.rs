//! The header of a block: what it holds and where.

use super::Footprint;
use super::ise::{self, Levels};

/// Most weights of a block.
const MAX_WEIGHTS: u32 = 64;

/// A legal block, apart from void extents.
#[derive(Clone, Copy)]
pub struct Header {
    /// Width, height, depth of the grid of weights.
    pub grid: [u8; 3],
    pub weight_levels: Levels,
    /// Weights of all planes.
    pub weight_count: usize,
    pub weight_bits: u32,
    /// The component with weights of its own, if there is one.
    pub second_plane: Option<u8>,
    /// 1 to 4.
    pub partitions: u8,
    /// The index of the partitioning.
    pub seed: u16,
    /// Endpoint modes of the partitions.
    pub endpoint_modes: [u8; 4],
    /// Where the values of the endpoints begin, how fine they are and how many bits they take.
    pub values_at: u32,
    pub value_levels: Levels,
    pub value_bits: u32,
}

/// Whether the block is one colour, and perhaps says how far that reaches.
#[inline(always)]
pub const fn is_void(bits: u128) -> bool {
    bits as u32 & 0x1ff == 0x1fc
}

impl Header {
    /// What is overwritten before it is read.
    pub const NONE: Header = Header {
        grid: [1; 3],
        weight_levels: Levels::COARSEST,
        weight_count: 0,
        weight_bits: 0,
        second_plane: None,
        partitions: 1,
        seed: 0,
        endpoint_modes: [0; 4],
        values_at: 0,
        value_levels: Levels::COARSEST,
        value_bits: 0,
    };

    /// Nothing for a block that the specification calls illegal.
    #[inline(always)]
    pub fn parse(bits: u128, footprint: Footprint) -> Option<Header> {
        let low = bits as u64;
        let modes = if footprint.depth == 1 { &FLAT } else { &DEEP };
        let BlockMode { grid, dual, weight_levels, weight_count, weight_bits } = modes[low as usize % MODES];
        let fits = grid[0] <= footprint.width && grid[1] <= footprint.height && grid[2] <= footprint.depth;
        let partitions = 1 + (low >> 11) as u32 % 4;
        if weight_count == 0 || !fits || dual && partitions == 4 {
            return None;
        }

        let mut below = 128 - u32::from(weight_bits);
        let mut endpoint_modes = [(low >> 13) as u8 & 0xf; 4];
        let mut value_count = 2 * (1 + (low >> 15) as u32 % 4);
        let (mut seed, mut values_at) = (0, 17);
        if partitions > 1 {
            seed = (low >> 13) as u16 & 0x3ff;
            values_at = 29;
            let class = (low >> 23) as u32 & 3;
            let mut packed = (low >> 25) as u32 & 0xf;
            if class == 0 {
                endpoint_modes = [packed as u8; 4];
                value_count = 2 * partitions * (1 + (packed >> 2));
            } else {
                let more = 3 * partitions - 4;
                below -= more;
                packed |= ((bits >> below) as u32 & ((1 << more) - 1)) << 4;
                value_count = 2 * (partitions * class + (packed & ((1 << partitions) - 1)).count_ones());
                for (i, mode) in (0..partitions).zip(&mut endpoint_modes) {
                    let class = class - 1 + (packed >> i & 1);
                    *mode = (class << 2 | packed >> (partitions + 2 * i) & 3) as u8;
                }
            }
        }
        let mut second_plane = None;
        if dual {
            below -= 2;
            second_plane = Some((bits >> below) as u8 & 3);
        }

        if value_count as usize > ise::MAX_VALUES {
            return None;
        }
        let (value_levels, value_bits) = ise::finest(value_count as usize, below.checked_sub(values_at)?)?;
        Some(Header {
            grid,
            weight_levels,
            weight_count: weight_count.into(),
            weight_bits: weight_bits.into(),
            second_plane,
            partitions: partitions as u8,
            seed,
            endpoint_modes,
            values_at,
            value_levels,
            value_bits,
        })
    }

    /// Weights of a point of the grid.
    #[inline(always)]
    pub fn planes(&self) -> u16 {
        1 + u16::from(self.second_plane.is_some())
    }
}

/// What the lowest bits of a block say.
#[derive(Clone, Copy)]
struct BlockMode {
    /// Width, height, depth of the grid of weights.
    grid: [u8; 3],
    /// Whether there are two weights to a point.
    dual: bool,
    weight_levels: Levels,
    /// Weights of all planes; none in a mode that is illegal whatever the footprint.
    weight_count: u8,
    weight_bits: u8,
}

/// Block modes have 11 bits.
const MODES: usize = 2048;

static FLAT: [BlockMode; MODES] = block_modes(true);
static DEEP: [BlockMode; MODES] = block_modes(false);

const fn block_modes(flat: bool) -> [BlockMode; MODES] {
    const ILLEGAL: BlockMode = BlockMode {
        grid: [0; 3],
        dual: false,
        weight_levels: Levels::COARSEST,
        weight_count: 0,
        weight_bits: 0,
    };
    let mut modes = [ILLEGAL; MODES];
    let mut i = 0;
    while i < MODES {
        let grid = if flat { flat_grid(i as u32) } else { deep_grid(i as u32) };
        if let Some(Grid { size, range, dual }) = grid
            && let Some(weight_levels) = Levels::of_weights(range)
        {
            let count = size[0] as u32 * size[1] as u32 * size[2] as u32 * (1 + dual as u32);
            let bits = weight_levels.bits(count);
            if count <= MAX_WEIGHTS && 24 <= bits && bits <= 96 {
                let (weight_count, weight_bits) = (count as u8, bits as u8);
                modes[i] = BlockMode { grid: size, dual, weight_levels, weight_count, weight_bits };
            }
        }
        i += 1;
    }
    modes
}

struct Grid {
    size: [u8; 3],
    /// The range of the weights, 2 to 7, and 8 more for the finer six.
    range: u32,
    dual: bool,
}

/// The block mode of a flat footprint, in 11 bits.
const fn flat_grid(mode: u32) -> Option<Grid> {
    let a = mode >> 5 & 3;
    let b = mode >> 7 & 3;
    let mut precision = mode >> 9 & 1;
    let mut dual = mode >> 10 & 1 != 0;
    let (range, [w, h]) = if mode & 3 != 0 {
        let size = match mode >> 2 & 3 {
            0 => [b + 4, a + 2],
            1 => [b + 8, a + 2],
            2 => [a + 2, b + 8],
            _ if b & 2 == 0 => [a + 2, (b & 1) + 6],
            _ => [(b & 1) + 2, a + 2],
        };
        (mode >> 4 & 1 | (mode & 3) << 1, size)
    } else {
        let size = match b {
            0 => [12, a + 2],
            1 => [a + 2, 12],
            2 => {
                (precision, dual) = (0, false);
                [a + 6, (mode >> 9 & 3) + 6]
            }
            _ if a == 0 => [6, 10],
            _ if a == 1 => [10, 6],
            _ => return None,
        };
        (mode >> 4 & 1 | mode >> 1 & 6, size)
    };
    Some(Grid { size: [w as u8, h as u8, 1], range: range | precision << 3, dual })
}

/// The block mode of a footprint with depth, in 11 bits.
const fn deep_grid(mode: u32) -> Option<Grid> {
    let a = mode >> 5 & 3;
    let b = mode >> 7 & 3;
    let mut precision = mode >> 9 & 1;
    let mut dual = mode >> 10 & 1 != 0;
    let (range, size) = if mode & 3 != 0 {
        (mode >> 4 & 1 | (mode & 3) << 1, [a + 2, b + 2, (mode >> 2 & 3) + 2])
    } else {
        let size = if b != 3 {
            (precision, dual) = (0, false);
            let c = mode >> 9 & 3;
            [[6, c + 2, a + 2], [a + 2, 6, c + 2], [a + 2, c + 2, 6]][b as usize]
        } else if a < 3 {
            [[6, 2, 2], [2, 6, 2], [2, 2, 6]][a as usize]
        } else {
            return None;
        };
        (mode >> 4 & 1 | mode >> 1 & 6, size)
    };
    let [w, h, d] = size;
    Some(Grid { size: [w as u8, h as u8, d as u8], range: range | precision << 3, dual })
}
