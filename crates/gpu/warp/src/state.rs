//! Render states: what decides how a primitive's pixels look, in 64 bytes.

/// Bytes of a state.
pub const STATE_BYTES: usize = 64;
/// Levels of a texture at most.
pub const LEVELS: usize = 8;

/// How the new depth must relate to the stored one. Only the low three bits of a state's byte are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum DepthTest {
    Always,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Never,
}

/// Bits of [`RenderState::depth`].
pub mod depth {
    /// The test.
    pub const TEST: u8 = 7;
    /// The new depth is stored where the test passes.
    pub const WRITE: u8 = 0x80;
}

/// Values of [`RenderState::blend`]; where it has any other, colours are kept.
pub mod blend {
    /// The new colour.
    pub const REPLACE: u8 = 0;
    /// The sum, each channel clamped.
    pub const ADD: u8 = 1;
    /// Mixed by the new colour's alpha.
    pub const ALPHA: u8 = 2;
    /// The stored colour less the new one, each channel clamped.
    pub const SUBTRACT: u8 = 3;
}

/// Bits of [`RenderState::combiner`].
pub mod combiner {
    /// The mode; any other than those below makes 0.
    pub const MODE: u8 = 0x3f;
    /// Texel times colour.
    pub const MULTIPLY: u8 = 0;
    /// The texel.
    pub const TEXEL: u8 = 1;
    /// The colour.
    pub const COLOR: u8 = 2;
    /// The constant colour is added, each channel clamped.
    pub const ADD_CONSTANT: u8 = 0x40;
    /// There is a texture; without one the texel is 0.
    pub const SAMPLE: u8 = 0x80;
}

/// Bits of [`RenderState::format`].
pub mod format {
    /// Which format it is; any other than those below is read as [`ARGB1555`] with one texel in a unit.
    pub const KIND: u8 = 0x3f;
    /// Alpha, red, green, blue from the highest bit down.
    pub const ARGB1555: u8 = 0;
    /// Two texels in a unit of 16 bits, the low one first: all channels are the byte.
    pub const I8: u8 = 1;
    /// Luminance in the low, alpha in the high byte.
    pub const LA88: u8 = 4;
    /// Two levels are mixed.
    pub const TRILINEAR: u8 = 0x40;
    /// Four texels are mixed.
    pub const BILINEAR: u8 = 0x80;
}

/// How pixels of a primitive are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RenderState {
    /// First column and row, columns and rows that may be drawn.
    pub scissor: [i16; 4],
    /// The constant colour: red, green, blue, alpha.
    pub constant: [u8; 4],
    /// [`depth`].
    pub depth: u8,
    /// [`blend`].
    pub blend: u8,
    /// [`combiner`].
    pub combiner: u8,
    /// Texels whose alpha is below it are not drawn.
    pub alpha_threshold: u8,
    /// Texels are clamped to these: left, top, right, bottom of level 0.
    pub clamp: [i16; 4],
    /// Bits of coordinates that are kept after clamping.
    pub mask: [u16; 2],
    /// Texels in a row of level 0.
    pub width: i16,
    /// Last level; it counts as 0 where it is negative, as 7 where it is above.
    pub max_level: i8,
    /// [`format`](mod@format).
    pub format: u8,
    /// Where each level lies, in bytes.
    pub levels: [u32; LEVELS],
}

impl RenderState {
    /// The state of these bytes.
    pub fn from_bytes(bytes: &[u8; STATE_BYTES]) -> RenderState {
        let half = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
        let signed = |i: usize| half(i) as i16;
        RenderState {
            scissor: [0, 2, 4, 6].map(signed),
            constant: [8, 9, 10, 11].map(|i| bytes[i]),
            depth: bytes[12],
            blend: bytes[13],
            combiner: bytes[14],
            alpha_threshold: bytes[15],
            clamp: [16, 18, 20, 22].map(signed),
            mask: [24, 26].map(half),
            width: signed(28),
            max_level: bytes[30] as i8,
            format: bytes[31],
            levels: std::array::from_fn(|i| {
                let at = 32 + 4 * i;
                u32::from(half(at)) | u32::from(half(at + 2)) << 16
            }),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; STATE_BYTES] {
        let mut bytes = [0; STATE_BYTES];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        self.scissor.iter().for_each(|v| put(&v.to_le_bytes()));
        put(&self.constant);
        put(&[self.depth, self.blend, self.combiner, self.alpha_threshold]);
        self.clamp.iter().for_each(|v| put(&v.to_le_bytes()));
        self.mask.iter().for_each(|v| put(&v.to_le_bytes()));
        put(&self.width.to_le_bytes());
        put(&[self.max_level as u8, self.format]);
        self.levels.iter().for_each(|v| put(&v.to_le_bytes()));
        bytes
    }

    /// Its last level.
    pub fn last_level(&self) -> u8 {
        self.max_level.clamp(0, LEVELS as i8 - 1) as u8
    }
}
