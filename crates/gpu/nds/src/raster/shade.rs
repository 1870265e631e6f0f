//! Colour of a pixel from its vertex colour and texel, and blending.

use super::lanes::{Lanes, SignedLanes, gather};
use super::replace::{Replaced, Replacement};
use super::texture::{Format, Texture};
use crate::memory::TextureMemory;
use crate::registers::{Control, Registers, color6};
use fearless_simd::prelude::*;
use fearless_simd::u16x32;
use std::sync::Arc;

/// A colour: 6 bits of red, green, blue from the lowest byte on, 5 bits of alpha.
pub type Color = u32;

/// Colours of pixels.
pub type Colors<S> = Lanes<S>;

/// Alpha of colours.
#[inline(always)]
pub fn alpha<S: Simd>(colors: Colors<S>) -> Lanes<S> {
    colors >> 24
}

/// A colour from its channels.
#[inline(always)]
pub fn pack([r, g, b]: [u32; 3], alpha: u32) -> Color {
    r | g << 8 | b << 16 | alpha << 24
}

/// A colour RGB555, whose bit 15 may be anything, as one of 6 bits a channel.
#[inline(always)]
pub fn from_rgb555(c: u32) -> Color {
    // All channels at once: 2c, and 1 more but for 0.
    let spread = (c & 31 | (c & 0x3e0) << 3 | (c & 0x7c00) << 6) << 1;
    spread | (spread + 0x3e_3e3e) >> 6 & 0x1_0101
}

/// [`from_rgb555`] of pixels.
#[inline(always)]
pub fn colors_from_rgb555<S: Simd>(c: Lanes<S>) -> Colors<S> {
    let spread = ((c & 31) | (c & 0x3e0) << 3 | (c & 0x7c00) << 6) << 1;
    spread | (spread + 0x3e_3e3e) >> 6 & 0x1_0101
}

/// Red and blue.
const RED_BLUE: u32 = 0x3f_003f;
/// Green.
const GREEN: u32 = 0x3f00;
/// All three.
pub const RGB: u32 = 0xff_ffff;

/// `(a * part + b * (whole - part)) >> shift` on red, green and blue, where `whole` is `1 << shift` and up to 7 bits.
#[inline(always)]
pub fn mix_rgb<S: Simd>(a: Colors<S>, b: Colors<S>, part: Lanes<S>, shift: u32) -> Colors<S> {
    weighted(a, part, b, (1 << shift) - part, shift)
}

/// `(a * of_a + b * of_b) >> shift` on red, green and blue.
#[inline(always)]
fn weighted<S: Simd>(a: Colors<S>, of_a: Lanes<S>, b: Colors<S>, of_b: Lanes<S>, shift: u32) -> Colors<S> {
    let red_blue = (a & RED_BLUE) * of_a + (b & RED_BLUE) * of_b;
    let green = (a & GREEN) * of_a + (b & GREEN) * of_b;
    ((red_blue >> shift) & RED_BLUE) | ((green >> shift) & GREEN)
}

/// How a polygon's pixels get their colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Modulate,
    /// Shadows, too.
    Decal,
    Toon,
    Highlight,
}

/// Colours a polygon's pixels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shader {
    mode: Mode,
    texture: Texture,
    /// What is in the texture's place.
    replaced: Option<Replaced>,
    /// Of the polygon, 0 to 31.
    alpha: u32,
}

/// What all polygons of a frame are coloured with.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// Texture memory.
    pub memory: &'a TextureMemory,
    /// TOON_TABLE in 6 bits.
    pub toon: [Color; 32],
    /// Pictures in place of textures.
    pub pictures: &'a [Arc<Replacement>],
}

impl<'a> Environment<'a> {
    /// From the registers.
    pub fn new(
        registers: &Registers,
        memory: &'a TextureMemory,
        pictures: &'a [Arc<Replacement>],
    ) -> Environment<'a> {
        let toon = registers.toon_table.map(|c| pack(color6(c).map(u32::from), 0));
        Environment { memory, toon, pictures }
    }
}

impl Environment<'_> {
    /// The toon table's colours of reds of 6 bits.
    #[inline(always)]
    fn toon<S: Simd>(&self, red: Lanes<S>) -> Colors<S> {
        gather(
            red >> 1,
            #[inline(always)]
            |entry| self.toon[entry as usize % self.toon.len()],
        )
    }
}

/// What pixels are coloured with.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<S: Simd> {
    /// Vertex colours: red, green, blue of 6 bits.
    pub rgb: [Lanes<S>; 3],
    /// Texture coordinates of 12.4.
    pub texcoord: [SignedLanes<S>; 2],
}

/// 1 more than red and blue, in halves of 16 bits.
#[inline(always)]
fn factors<S: Simd>(channels: Colors<S>) -> u16x32<S> {
    ((channels & RED_BLUE) + 0x1_0001).bitcast()
}

impl Shader {
    /// From POLYGON_ATTR and the texture's registers.
    pub fn new(control: Control, attributes: u32, texture: u32, palette: u32) -> Shader {
        let mode = match attributes >> 4 & 3 {
            0 => Mode::Modulate,
            2 if control.contains(Control::HIGHLIGHT) => Mode::Highlight,
            2 => Mode::Toon,
            _ => Mode::Decal,
        };
        let mut texture = Texture::new(texture, palette);
        if !control.contains(Control::TEXTURES) {
            texture.format = Format::None;
        }
        Shader { mode, texture, replaced: None, alpha: attributes >> 16 & 31 }
    }

    /// Takes a picture in place of the texture.
    pub fn replace(&mut self, by: Replaced) {
        if self.is_textured() {
            self.replaced = Some(by);
        }
    }

    /// Whether texture coordinates count.
    pub fn is_textured(&self) -> bool {
        self.texture.format != Format::None
    }

    /// Colours of pixels.
    #[inline(always)]
    pub fn colors<S: Simd>(&self, simd: S, environment: &Environment, pixels: &Pixels<S>) -> Colors<S> {
        let [r, g, b] = pixels.rgb;
        let vertex = match self.mode {
            Mode::Modulate | Mode::Decal => r | g << 8 | b << 16,
            Mode::Toon => environment.toon(r),
            Mode::Highlight => r * 0x1_0101,
        };
        let mut colors = if self.is_textured() {
            let (texture, weight) = match &self.replaced {
                Some(replaced) => {
                    let colors = replaced.texels(environment.pictures, pixels.texcoord);
                    (colors & RGB, alpha(colors))
                }
                None => {
                    let texels = self.texture.texels(simd, environment.memory, pixels.texcoord);
                    (colors_from_rgb555(texels.color), texels.alpha)
                }
            };
            match self.mode {
                Mode::Decal => self.decal(vertex, texture, weight),
                _ => self.modulate(vertex, texture, weight),
            }
        } else {
            vertex | self.alpha << 24
        };
        if self.mode == Mode::Highlight {
            colors = add_clamped(colors, environment.toon(r));
        }
        // Wireframe is opaque.
        if self.alpha == 0 { (colors & RGB) | 31 << 24 } else { colors }
    }

    #[inline(always)]
    fn modulate<S: Simd>(&self, vertex: Colors<S>, texture: Colors<S>, alpha: Lanes<S>) -> Colors<S> {
        // Products of red and blue fit 16 bits each.
        let red_blue = (factors(vertex) * factors(texture) - 1) >> 6;
        let green = (factors(vertex >> 8) * factors(texture >> 8) - 1) >> 6;
        let alpha = ((alpha + 1) * (self.alpha + 1) - 1) >> 5;
        red_blue.bitcast::<Lanes<S>>() | (green.bitcast::<Lanes<S>>() & 63) << 8 | alpha << 24
    }

    #[inline(always)]
    fn decal<S: Simd>(&self, vertex: Colors<S>, texture: Colors<S>, weight: Lanes<S>) -> Colors<S> {
        // The weights' sum is 31, the divisor 32.
        let mixed = weighted(texture, weight, vertex, 31 - weight, 5);
        let rgb = weight.simd_eq(31).select(texture, mixed);
        weight.simd_eq(0).select(vertex, rgb) | self.alpha << 24
    }
}

/// Adds red, green and blue, up to 63.
#[inline(always)]
fn add_clamped<S: Simd>(colors: Colors<S>, by: Colors<S>) -> Colors<S> {
    // Sums have 7 bits in a channel of 8; those with the highest become all ones.
    let sums = (colors & RGB) + by;
    let over = (sums >> 6) & 0x1_0101;
    ((sums | (over * 63)) & 0x3f_3f3f) | (colors & !RGB)
}

/// Blends pixels over others, or copies them if blending is off; alpha is the larger one.
#[inline(always)]
pub fn blend<S: Simd>(source: Colors<S>, destination: Colors<S>, blending: bool) -> Colors<S> {
    let (a, below) = (alpha(source), alpha(destination));
    let rgb = if blending { mix_rgb(source, destination, a + 1, 5) } else { source & RGB };
    below.simd_eq(0).select(source, rgb | a.max(below) << 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::lanes::all;
    use fearless_simd::{Level, dispatch};

    fn shader(control: Control, attributes: u32) -> Shader {
        Shader::new(control, attributes, 4 << 26, 0)
    }

    #[test]
    fn rgb555_by_channel_or_at_once() {
        for c in 0..0x8000u16 {
            let color = pack(color6(c).map(u32::from), 0);
            assert_eq!(from_rgb555(c.into()), color);
            dispatch!(Level::new(), simd => {
                assert_eq!(colors_from_rgb555(all(simd, c.into())).to_array()[0], color);
            });
        }
    }

    /// The colour of one pixel without a texture.
    fn pixel(shader: &Shader, environment: &Environment, vertex: [u32; 3]) -> Color {
        dispatch!(Level::new(), simd => {
            let pixels =
                Pixels { rgb: vertex.map(|value| all(simd, value)), texcoord: [SignedLanes::splat(simd, 0); 2] };
            shader.colors(simd, environment, &pixels).to_array()[0]
        })
    }

    #[test]
    fn modulate_and_decal() {
        let modulate = shader(Control::TEXTURES, 31 << 16);
        let decal = shader(Control::TEXTURES, 31 << 16 | 1 << 4);
        dispatch!(Level::new(), simd => {
            let [white, red, part] = [pack([63; 3], 0), pack([63, 0, 0], 0), 15].map(|value| all(simd, value));
            assert_eq!(modulate.modulate(white, red, part).to_array()[0], pack([63, 0, 0], 15));
            // 63 * 15 / 32 + 63 * 16 / 32, cut: the weights leave a thirty-second out.
            assert_eq!(decal.decal(white, red, part).to_array()[0], pack([61, 31, 31], 31));
        });
    }

    #[test]
    fn toon_and_highlight_take_red_for_all() {
        let registers = Registers { toon_table: [0x7fff; 32], ..Registers::default() };
        let memory = TextureMemory::default();
        let environment = Environment::new(&registers, &memory, &[]);
        let toon = shader(Control::empty(), 31 << 16 | 2 << 4);
        assert_eq!(pixel(&toon, &environment, [4, 60, 60]), pack([63; 3], 31));
        let highlight = shader(Control::HIGHLIGHT, 31 << 16 | 2 << 4);
        assert_eq!(pixel(&highlight, &environment, [4, 60, 60]), pack([63; 3], 31));
        let black = Registers::default();
        let environment = Environment::new(&black, &memory, &[]);
        assert_eq!(pixel(&highlight, &environment, [4, 60, 60]), pack([4; 3], 31));
    }

    #[test]
    fn blending() {
        let (a, b) = (pack([63, 0, 10], 15), pack([0, 63, 10], 31));
        let blended = |a, b, blending| dispatch!(Level::new(), simd => blend(all(simd, a), all(simd, b), blending).to_array()[0]);
        assert_eq!(blended(a, b, true), pack([31, 31, 10], 31));
        assert_eq!(blended(a, b, false), pack([63, 0, 10], 31));
        assert_eq!(blended(a, b & RGB, true), a);
    }
}
