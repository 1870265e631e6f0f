//! Colour of a pixel from its vertex colour and texel, and blending.

use super::buffers::WIDTH;
use super::texture::{Format, Texel, Texture};
use crate::memory::TextureMemory;
use crate::registers::{Control, Registers, color6};

/// A colour: 6 bits of red, green, blue from the lowest byte on, 5 bits of alpha.
pub type Color = u32;

/// Alpha of a colour.
#[inline]
pub fn alpha(color: Color) -> u32 {
    color >> 24
}

/// A colour from its channels.
#[inline]
pub fn pack([r, g, b]: [u32; 3], alpha: u32) -> Color {
    r | g << 8 | b << 16 | alpha << 24
}

/// Red, green and blue of a colour.
#[inline]
pub fn unpack(color: Color) -> [u32; 3] {
    [color & 63, color >> 8 & 63, color >> 16 & 63]
}

/// A colour RGB555 as one of 6 bits a channel.
#[inline]
pub fn from_rgb555(color: u16, alpha: u32) -> Color {
    // All channels at once: 2c, and 1 more but for 0.
    let c = u32::from(color);
    let spread = (c & 31 | (c & 0x3e0) << 3 | (c & 0x7c00) << 6) << 1;
    let filled = (spread + 0x3e_3e3e) >> 6 & 0x1_0101;
    spread | filled | alpha << 24
}

/// `(a * part + b * (whole - part)) >> shift` on red, green and blue, where `whole` is `1 << shift` and up to 7 bits.
#[inline]
pub fn mix_rgb(a: Color, b: Color, part: u32, shift: u32) -> Color {
    let rest = (1 << shift) - part;
    let rb = ((a & 0x3f_003f) * part + (b & 0x3f_003f) * rest) >> shift & 0x3f_003f;
    let g = ((a & 0x3f00) * part + (b & 0x3f00) * rest) >> shift & 0x3f00;
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

/// Pixels on their way to a colour.
#[derive(Clone, Debug)]
pub struct Pixels {
    /// Vertex colours: red, green, blue of 6 bits.
    pub rgb: [[i32; WIDTH]; 3],
    /// Texture coordinates of 12.4.
    pub texcoord: [[i32; WIDTH]; 2],
    /// What comes of them.
    pub color: [Color; WIDTH],
}

impl Default for Pixels {
    fn default() -> Pixels {
        Pixels { rgb: [[0; WIDTH]; 3], texcoord: [[0; WIDTH]; 2], color: [0; WIDTH] }
    }
}

impl Pixels {
    /// Replaces vertex colours by what becomes of their red.
    #[inline(always)]
    fn replace_vertex_colors(&mut self, count: usize, from_red: impl Fn(u32) -> [u32; 3]) {
        let [r, g, b] = &mut self.rgb;
        for ((r, g), b) in r.iter_mut().zip(g).zip(b).take(count) {
            let [red, green, blue] = from_red(*r as u32);
            (*r, *g, *b) = (red as i32, green as i32, blue as i32);
        }
    }
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

    /// Colours of the first `count` pixels.
    #[inline(always)]
    pub fn colors(&self, environment: &Environment, pixels: &mut Pixels, count: usize) {
        match self.mode {
            Mode::Modulate => self.textured::<false>(environment, pixels, count),
            Mode::Decal => self.textured::<true>(environment, pixels, count),
            Mode::Toon => {
                pixels.replace_vertex_colors(count, |red| unpack(environment.toon(red)));
                self.textured::<false>(environment, pixels, count);
            }
            Mode::Highlight => {
                pixels.replace_vertex_colors(count, |red| [red; 3]);
                self.textured::<false>(environment, pixels, count);
                let reds = pixels.rgb[0].iter();
                for (color, &red) in pixels.color.iter_mut().zip(reds).take(count) {
                    *color = add_clamped(*color, environment.toon(red as u32));
                }
            }
        }
        // Wireframe is opaque.
        if self.alpha == 0 {
            pixels.color.iter_mut().take(count).for_each(|color| *color = *color & 0xff_ffff | 31 << 24);
        }
    }

    #[inline(always)]
    fn textured<const DECAL: bool>(&self, environment: &Environment, pixels: &mut Pixels, count: usize) {
        let Pixels { rgb: [r, g, b], texcoord: [s, t], color } = pixels;
        let color = &mut color[..count];
        let (r, g, b) = (&r[..count], &g[..count], &b[..count]);
        let vertex = |i: usize| [r[i] as u32, g[i] as u32, b[i] as u32];
        if self.is_textured() {
            self.texture.texels(environment.memory, &mut s[..count], &mut t[..count], color);
            for (i, color) in color.iter_mut().enumerate() {
                let texel = Texel::from_bits(*color);
                *color = if DECAL { self.decal(vertex(i), texel) } else { self.modulate(vertex(i), texel) };
            }
        } else {
            for (i, color) in color.iter_mut().enumerate() {
                *color = pack(vertex(i), self.alpha);
            }
        }
    }

    #[inline(always)]
    fn modulate(&self, vertex: [u32; 3], texel: Texel) -> Color {
        let texture = unpack(from_rgb555(texel.color, 0));
        let channel = |i: usize| ((texture[i] + 1) * (vertex[i] + 1) - 1) >> 6;
        let alpha = ((u32::from(texel.alpha) + 1) * (self.alpha + 1) - 1) >> 5;
        pack([channel(0), channel(1), channel(2)], alpha)
    }

    #[inline(always)]
    fn decal(&self, vertex: [u32; 3], texel: Texel) -> Color {
        let weight = u32::from(texel.alpha);
        let texture = unpack(from_rgb555(texel.color, 0));
        let rgb = match weight {
            0 => vertex,
            31 => texture,
            // The weights' sum is 31, the divisor 32.
            _ => [0, 1, 2].map(|i| (texture[i] * weight + vertex[i] * (31 - weight)) >> 5),
        };
        pack(rgb, self.alpha)
    }
}

/// Adds red, green and blue, up to 63.
#[inline(always)]
fn add_clamped(color: Color, by: Color) -> Color {
    let (a, b) = (unpack(color), unpack(by));
    pack([0, 1, 2].map(|i| (a[i] + b[i]).min(63)), alpha(color))
}

/// Blends a pixel over another, or copies it if blending is off; alpha is the larger one.
#[inline]
pub fn blend(source: Color, destination: Color, blending: bool) -> Color {
    let (a, below) = (alpha(source), alpha(destination));
    if below == 0 {
        return source;
    }
    let rgb = if blending { mix_rgb(source, destination, a + 1, 5) } else { source & 0xff_ffff };
    rgb | a.max(below) << 24
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
            assert_eq!(from_rgb555(c, 7), pack(color6(c).map(u32::from), 7));
        }
    }

    /// The colour of one pixel without a texture.
    fn pixel(shader: &Shader, environment: &Environment, vertex: [u32; 3]) -> Color {
        let mut pixels = Pixels::default();
        for (channel, value) in pixels.rgb.iter_mut().zip(vertex) {
            channel[0] = value as i32;
        }
        shader.colors(environment, &mut pixels, 1);
        pixels.color[0]
    }

    #[test]
    fn modulate_and_decal() {
        let modulate = shader(Control::TEXTURES, 31 << 16);
        let texel = Texel { color: 31, alpha: 15 };
        assert_eq!(modulate.modulate([63, 63, 63], texel), pack([63, 0, 0], 15));
        let decal = shader(Control::TEXTURES, 31 << 16 | 1 << 4);
        // 63 * 15 / 32 + 63 * 16 / 32, cut: the weights leave a thirty-second out.
        assert_eq!(decal.decal([63, 63, 63], texel), pack([61, 31, 31], 31));
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
