//! Render states: what decides how a primitive's pixels look, in 64 bytes, or 96 with palette, fog and stencil.

use xenoglot_raster::Bounds;

/// Bytes of a state without palette, fog and stencil.
pub const STATE_BYTES: usize = 64;
/// Bytes of a state.
pub const FULL_STATE_BYTES: usize = 96;
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
    /// Which format it is; any other than those below is read as [`ARGB1555`] with one texel in a unit. The two lowest
    /// bits are the texels of a unit as a shift.
    pub const KIND: u8 = 0x3f;
    /// Alpha, red, green, blue from the highest bit down.
    pub const ARGB1555: u8 = 0;
    /// Two texels in a unit of 16 bits, the low one first: all channels are the byte.
    pub const I8: u8 = 1;
    /// Four texels in a unit, the lowest bits first: all channels are the nibble, twice.
    pub const I4: u8 = 2;
    /// Luminance in the low, alpha in the high byte.
    pub const LA88: u8 = 4;
    /// Two texels in a unit, as [`I8`]: the byte is an entry of the palette.
    pub const PALETTE8: u8 = 5;
    /// Four texels in a unit, as [`I4`]: the nibble is an entry of the palette.
    pub const PALETTE4: u8 = 6;
    /// Red, green, blue from the highest bit down, opaque.
    pub const RGB565: u8 = 8;
    /// Two levels are mixed.
    pub const TRILINEAR: u8 = 0x40;
    /// Four texels are mixed.
    pub const BILINEAR: u8 = 0x80;
}

/// Fog: colours go over to the fog's with their distance. The alpha stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fog {
    /// Not 0 if there is fog.
    pub enable: u8,
    /// Depth where it begins.
    pub start: u16,
    /// How fast it thickens: at depth `z` it has `(z - start) * scale / 65536` 255ths, 255 at most.
    pub scale: u16,
    /// Red, green, blue.
    pub color: [u8; 3],
}

/// What becomes of a pixel's stencil.
pub mod stencil {
    /// Bits of [`super::Stencil::test`]: a [`super::DepthTest`] of the reference against the stored stencil, both under
    /// the mask.
    pub const TEST: u8 = 7;
    /// Bits of [`super::Stencil::test`]: there is a stencil.
    pub const ENABLE: u8 = 0x80;
    /// It stays. What is done is in the three lowest bits.
    pub const KEEP: u8 = 0;
    /// 0.
    pub const ZERO: u8 = 1;
    /// The reference.
    pub const REPLACE: u8 = 2;
    /// One more, 15 at most.
    pub const INCREMENT: u8 = 3;
    /// One less, 0 at least.
    pub const DECREMENT: u8 = 4;
    /// All bits are flipped.
    pub const INVERT: u8 = 5;
    /// One more, 0 behind 15.
    pub const INCREMENT_WRAP: u8 = 6;
    /// One less, 15 behind 0.
    pub const DECREMENT_WRAP: u8 = 7;
}

/// Stencil, in the four lowest bits of stored depths. Where there is one, depths have the upper twelve; pixels that the
/// alpha test drops change neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stencil {
    /// [`stencil::TEST`], [`stencil::ENABLE`].
    pub test: u8,
    /// Bits 0 to 3.
    pub reference: u8,
    /// Bits that are compared and written, 0 to 3.
    pub mask: u8,
    /// What is done where the stencil test fails, where the depth test fails, and where both pass.
    pub operations: [u8; 3],
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
    /// Where the palette lies, in bytes: [`format::ARGB1555`], the lowest bit is not read.
    pub palette: u32,
    /// Fog.
    pub fog: Fog,
    /// Stencil.
    pub stencil: Stencil,
}

impl RenderState {
    /// The state of these bytes, without palette, fog and stencil.
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
            ..RenderState::default()
        }
    }

    /// The state of these bytes: 64 as [`RenderState::from_bytes`] has them; the palette's place; fog: enabled, colour,
    /// start, scale; stencil: test, reference, mask, three operations; 14 of 0.
    pub fn from_full_bytes(bytes: &[u8; FULL_STATE_BYTES]) -> RenderState {
        let (head, tail) = bytes.split_at(STATE_BYTES);
        let head = RenderState::from_bytes(head.first_chunk().unwrap_or(&[0; STATE_BYTES]));
        let half = |i: usize| u16::from_le_bytes([tail[i], tail[i + 1]]);
        RenderState {
            palette: u32::from(half(0)) | u32::from(half(2)) << 16,
            fog: Fog { enable: tail[4], color: [tail[5], tail[6], tail[7]], start: half(8), scale: half(10) },
            stencil: Stencil {
                test: tail[12],
                reference: tail[13],
                mask: tail[14],
                operations: [tail[15], tail[16], tail[17]],
            },
            ..head
        }
    }

    /// All of it as bytes.
    pub fn to_full_bytes(&self) -> [u8; FULL_STATE_BYTES] {
        let mut bytes = [0; FULL_STATE_BYTES];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        put(&self.to_bytes());
        put(&self.palette.to_le_bytes());
        put(&[self.fog.enable]);
        put(&self.fog.color);
        put(&self.fog.start.to_le_bytes());
        put(&self.fog.scale.to_le_bytes());
        put(&[self.stencil.test, self.stencil.reference, self.stencil.mask]);
        put(&self.stencil.operations);
        bytes
    }

    /// Its bytes without palette, fog and stencil.
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

    /// The pixels that may be drawn in a frame of this size.
    pub(crate) fn scissor_within(&self, frame: [u32; 2]) -> Bounds {
        let [x, y, width, height] = self.scissor.map(i32::from);
        let scissor = Bounds { low: [x, y], high: [x + width - 1, y + height - 1] };
        let frame = Bounds { low: [0; 2], high: frame.map(|pixels| pixels.min(1 << 24) as i32 - 1) };
        scissor.intersect(&frame)
    }

    /// Its last level.
    pub fn last_level(&self) -> u8 {
        self.max_level.clamp(0, LEVELS as i8 - 1) as u8
    }

    /// Texels of a unit of the texture, as a shift.
    pub fn texels_shift(&self) -> u32 {
        match self.format & format::KIND {
            format::I8 | format::PALETTE8 => 1,
            format::I4 | format::PALETTE4 => 2,
            _ => 0,
        }
    }

    /// Units of 16 bits from one row of 8 x 8 blocks of units to the next, of a level.
    pub fn stride(&self, level: u32) -> i32 {
        let width = i32::from(self.width >> level).max(1);
        let shift = self.texels_shift();
        let units = (width + (1 << shift) - 1) >> shift;
        (units + 7) >> 3 << 6
    }
}
