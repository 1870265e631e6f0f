//! Colour of a pixel from its vertex colour and texel, and blending.

use super::lanes::{LANES, Lanes, SignedLanes, any_bit, select};
use super::texture::{Format, Texture};
use crate::memory::TextureMemory;
use crate::registers::{Control, Registers, color6};

/// A colour: 6 bits of red, green, blue from the lowest byte on, 5 bits of alpha.
pub type Color = u32;

/// Alpha of a colour.
#[inline(always)]
pub fn alpha(color: Color) -> u32 {
    color >> 24
}

/// A colour from its channels.
#[inline(always)]
pub fn pack([r, g, b]: [u32; 3], alpha: u32) -> Color {
    r | g << 8 | b << 16 | alpha << 24
}

/// Red, green and blue of a colour.
#[inline(always)]
pub fn unpack(color: Color) -> [u32; 3] {
    [color & 63, color >> 8 & 63, color >> 16 & 63]
}

/// A colour RGB555, whose bit 15 may be anything, as one of 6 bits a channel.
#[inline(always)]
pub fn from_rgb555(c: u32) -> Color {
    // All channels at once: 2c, and 1 more but for 0.
    let spread = (c & 31 | (c & 0x3e0) << 3 | (c & 0x7c00) << 6) << 1;
    spread | (spread + 0x3e_3e3e) >> 6 & 0x1_0101
}

/// `(a * part + b * (whole - part)) >> shift` on red, green and blue, where `whole` is `1 << shift` and up to 7 bits.
#[inline(always)]
pub fn mix_rgb(a: Color, b: Color, part: u32, shift: u32) -> Color {
    weighted(a, part, b, (1 << shift) - part, shift)
}

/// `(a * of_a + b * of_b) >> shift` on red, green and blue.
#[inline(always)]
fn weighted(a: Color, of_a: u32, b: Color, of_b: u32, shift: u32) -> Color {
    let rb = ((a & 0x3f_003f) * of_a + (b & 0x3f_003f) * of_b) >> shift & 0x3f_003f;
    let g = ((a & 0x3f00) * of_a + (b & 0x3f00) * of_b) >> shift & 0x3f00;
    rb | g
}

/// How a polygon's pixels get their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Modulate,
    /// Shadows, too.
    Decal,
    Toon,
    Highlight,
}

/// Colours a polygon's pixels.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    mode: Mode,
    texture: Texture,
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
}

impl<'a> Environment<'a> {
    /// From the registers.
    pub fn new(registers: &Registers, memory: &'a TextureMemory) -> Environment<'a> {
        Environment { memory, toon: registers.toon_table.map(|c| pack(color6(c).map(u32::from), 0)) }
    }
}

impl Environment<'_> {
    /// The toon table's colour of a red of 6 bits.
    #[inline(always)]
    fn toon(&self, red: u32) -> Color {
        self.toon[(red >> 1 & 31) as usize]
    }
}

/// What pixels are coloured with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pixels {
    /// Vertex colours: red, green, blue of 6 bits.
    pub rgb: [Lanes; 3],
    /// Texture coordinates of 12.4.
    pub texcoord: [SignedLanes; 2],
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
        Shader { mode, texture, alpha: attributes >> 16 & 31 }
    }

    /// Whether texture coordinates count.
    pub fn is_textured(&self) -> bool {
        self.texture.format != Format::None
    }

    /// Colours of pixels.
    #[inline(always)]
    pub fn colors(&self, environment: &Environment, pixels: &mut Pixels) -> Lanes {
        let mut colors = match self.mode {
            Mode::Modulate => self.textured(environment, pixels, false),
            Mode::Decal => self.textured(environment, pixels, true),
            Mode::Toon => {
                let [r, g, b] = &mut pixels.rgb;
                for i in 0..LANES {
                    [r[i], g[i], b[i]] = unpack(environment.toon(r[i]));
                }
                self.textured(environment, pixels, false)
            }
            Mode::Highlight => {
                pixels.rgb = [pixels.rgb[0]; 3];
                let mut colors = self.textured(environment, pixels, false);
                for (color, &red) in colors.iter_mut().zip(&pixels.rgb[0]) {
                    *color = add_clamped(*color, environment.toon(red));
                }
                colors
            }
        };
        // Wireframe is opaque.
        if self.alpha == 0 {
            for color in &mut colors {
                *color = *color & 0xff_ffff | 31 << 24;
            }
        }
        colors
    }

    #[inline(always)]
    fn textured(&self, environment: &Environment, pixels: &Pixels, decal: bool) -> Lanes {
        let [r, g, b] = &pixels.rgb;
        let mut colors = [0; LANES];
        if !self.is_textured() {
            for (i, color) in colors.iter_mut().enumerate() {
                *color = pack([r[i], g[i], b[i]], self.alpha);
            }
            return colors;
        }
        let texels = self.texture.texels(environment.memory, &pixels.texcoord);
        if decal {
            for (i, color) in colors.iter_mut().enumerate() {
                *color = self.decal([r[i], g[i], b[i]], texels.color[i], texels.alpha[i]);
            }
        } else {
            for (i, color) in colors.iter_mut().enumerate() {
                *color = self.modulate([r[i], g[i], b[i]], texels.color[i], texels.alpha[i]);
            }
        }
        colors
    }

    #[inline(always)]
    fn modulate(&self, vertex: [u32; 3], texture: u32, alpha: u32) -> Color {
        let [r, g, b] = unpack(from_rgb555(texture));
        let alpha = ((alpha + 1) * (self.alpha + 1) - 1) >> 5;
        pack([times(r, vertex[0]), times(g, vertex[1]), times(b, vertex[2])], alpha)
    }

    #[inline(always)]
    fn decal(&self, vertex: [u32; 3], texture: u32, weight: u32) -> Color {
        let texture = from_rgb555(texture);
        let vertex = pack(vertex, 0);
        // The weights' sum is 31, the divisor 32.
        let mixed = weighted(texture, weight, vertex, 31 - weight, 5);
        let rgb = select(any_bit(weight), select(any_bit(31 - weight), mixed, texture), vertex);
        rgb | self.alpha << 24
    }
}

/// The product of two channels of 6 bits.
#[inline(always)]
fn times(a: u32, b: u32) -> u32 {
    ((a + 1) * (b + 1) - 1) >> 6
}

/// Adds red, green and blue, up to 63.
#[inline(always)]
fn add_clamped(color: Color, by: Color) -> Color {
    let ([r, g, b], [r1, g1, b1]) = (unpack(color), unpack(by));
    pack([(r + r1).min(63), (g + g1).min(63), (b + b1).min(63)], alpha(color))
}

/// Blends a pixel over another, or copies it if blending is off; alpha is the larger one.
#[inline(always)]
pub fn blend(source: Color, destination: Color, blending: bool) -> Color {
    let (a, below) = (alpha(source), alpha(destination));
    let rgb = if blending { mix_rgb(source, destination, a + 1, 5) } else { source & 0xff_ffff };
    select(any_bit(below), rgb | a.max(below) << 24, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shader(control: Control, attributes: u32) -> Shader {
        Shader::new(control, attributes, 4 << 26, 0)
    }

    #[test]
    fn rgb555_by_channel_or_at_once() {
        for c in 0..0x8000u16 {
            assert_eq!(from_rgb555(c.into()), pack(color6(c).map(u32::from), 0));
        }
    }

    /// The colour of one pixel without a texture.
    fn pixel(shader: &Shader, environment: &Environment, vertex: [u32; 3]) -> Color {
        let mut pixels = Pixels::default();
        for (channel, value) in pixels.rgb.iter_mut().zip(vertex) {
            channel[0] = value;
        }
        shader.colors(environment, &mut pixels)[0]
    }

    #[test]
    fn modulate_and_decal() {
        let modulate = shader(Control::TEXTURES, 31 << 16);
        assert_eq!(modulate.modulate([63, 63, 63], 31, 15), pack([63, 0, 0], 15));
        let decal = shader(Control::TEXTURES, 31 << 16 | 1 << 4);
        // 63 * 15 / 32 + 63 * 16 / 32, cut: the weights leave a thirty-second out.
        assert_eq!(decal.decal([63, 63, 63], 31, 15), pack([61, 31, 31], 31));
    }

    #[test]
    fn toon_and_highlight_take_red_for_all() {
        let registers = Registers { toon_table: [0x7fff; 32], ..Registers::default() };
        let memory = TextureMemory::default();
        let environment = Environment::new(&registers, &memory);
        let toon = shader(Control::empty(), 31 << 16 | 2 << 4);
        assert_eq!(pixel(&toon, &environment, [4, 60, 60]), pack([63; 3], 31));
        let highlight = shader(Control::HIGHLIGHT, 31 << 16 | 2 << 4);
        assert_eq!(pixel(&highlight, &environment, [4, 60, 60]), pack([63; 3], 31));
        let black = Registers::default();
        let environment = Environment::new(&black, &memory);
        assert_eq!(pixel(&highlight, &environment, [4, 60, 60]), pack([4; 3], 31));
    }

    #[test]
    fn blending() {
        let (a, b) = (pack([63, 0, 10], 15), pack([0, 63, 10], 31));
        assert_eq!(blend(a, b, true), pack([31, 31, 10], 31));
        assert_eq!(blend(a, b, false), pack([63, 0, 10], 31));
        assert_eq!(blend(a, b & 0xff_ffff, true), a);
    }
}
