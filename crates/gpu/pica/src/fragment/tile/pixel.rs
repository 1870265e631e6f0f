//! Stored words to channels of 8 bits and back.

use xenoglot_ir::Value;

use crate::fragment::emit::Emit;
use crate::raster::framebuffer::ColorFormat;

/// Lowest bit and width of r, g, b and a in a stored word.
fn fields(format: ColorFormat) -> [(u32, u32); 4] {
    match format {
        ColorFormat::Rgba8 => [(24, 8), (16, 8), (8, 8), (0, 8)],
        ColorFormat::Rgb8 => [(16, 8), (8, 8), (0, 8), (0, 0)],
        ColorFormat::Rgb5A1 => [(11, 5), (6, 5), (1, 5), (0, 1)],
        ColorFormat::Rgb565 => [(11, 5), (5, 6), (0, 5), (0, 0)],
        ColorFormat::Rgba4 => [(12, 4), (8, 4), (4, 4), (0, 4)],
    }
}

/// Widens by repeating the top bits; a channel that is not there is 255.
pub fn unpack(emit: &mut Emit, format: ColorFormat, word: Value) -> [Value; 4] {
    fields(format).map(|(shift, bits)| {
        if bits == 0 {
            return emit.i32(255);
        }
        let (shift, mask) = (emit.i32(shift), emit.i32((1 << bits) - 1));
        let value = emit.ushr(word, shift);
        let value = emit.and(value, mask);
        match bits {
            8 => value,
            1 => {
                let white = emit.i32(255);
                emit.imul(value, white)
            }
            bits => {
                let (up, down) = (emit.i32(8 - bits), emit.i32(2 * bits - 8));
                let (high, low) = (emit.shl(value, up), emit.ushr(value, down));
                emit.or(high, low)
            }
        }
    })
}

/// Narrows by dropping low bits.
pub fn pack(emit: &mut Emit, format: ColorFormat, color: [Value; 4]) -> Value {
    let mut word = emit.i32(0);
    for (channel, (shift, bits)) in color.into_iter().zip(fields(format)).filter(|(_, (_, bits))| *bits != 0)
    {
        let (down, up) = (emit.i32(8 - bits), emit.i32(shift));
        let value = emit.ushr(channel, down);
        let value = emit.shl(value, up);
        word = emit.or(word, value);
    }
    word
}
