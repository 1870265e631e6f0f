//! Fixed-function state: textures, combiners, lights, tests, blending.

use super::{Builder, f24};
use glam::{Vec3, Vec4};
use xenoglot_pica::regs::*;
use xenoglot_pica::texture::Format;
use xenoglot_pica_shader::float::{Denormals, F16};

/// First register of each texture unit, and its format register.
const UNITS: [(u32, u32); 3] =
    [(TEXTURE0, TEXTURE0_FORMAT), (TEXTURE1, TEXTURE1_FORMAT), (TEXTURE2, TEXTURE2_FORMAT)];
const COMBINERS: [u32; 6] = [COMBINER0, COMBINER1, COMBINER2, COMBINER3, COMBINER4, COMBINER5];
/// Kind of texture of unit 0: a shadow map.
const SHADOW_TEXTURE: u32 = 2 << 28;
/// Everything of lighting that can be turned off, but the table D0.
const ONLY_D0: u32 = !(1 << 16);

/// Bits of a 16-bit float field.
pub(crate) fn f16(value: f32) -> u32 {
    F16.from_f32(value, Denormals::Flush)
}

/// A texture in memory.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// Physical address.
    pub address: u32,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Format.
    pub format: Format,
}

/// What is outside of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Wrap {
    /// The texels at its edge.
    Edge = 0,
    /// The texture again.
    Repeat = 2,
    /// The texture again, every other time reversed.
    Mirror = 3,
}

/// A test, by its number in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Compare {
    /// Always passes.
    Always = 1,
    /// Equal.
    Equal = 2,
    /// Greater, or nearer in depth.
    Greater = 6,
}

/// How a fragment goes into the colour buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blend {
    /// It replaces what is there.
    Replace,
    /// By its alpha.
    Alpha,
    /// Multiplied with its alpha, it is added.
    Add,
}

/// Input of a combiner stage, by its number in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// Vertex colour.
    Primary = 0,
    /// Diffuse light.
    LightPrimary = 1,
    /// Specular light.
    LightSecondary = 2,
    /// Texture unit 0.
    Texture0 = 3,
    /// Texture unit 1.
    Texture1 = 4,
    /// Texture unit 2.
    Texture2 = 5,
    /// Procedural texture.
    Procedural = 6,
    /// The stage's constant.
    Constant = 14,
    /// The stage before.
    Previous = 15,
}

/// What of a source is taken for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Operand {
    /// Red, green and blue.
    Color = 0,
    /// Alpha.
    Alpha = 2,
}

/// What a combiner stage does with its sources a, b and c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Combine {
    /// a
    Replace = 0,
    /// a b
    Modulate = 1,
    /// a + b
    Add = 2,
    /// a c + b (1 - c)
    Interpolate = 4,
}

/// A combiner stage. Alpha is done as the colours are.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    combine: Combine,
    sources: [Source; 3],
    operands: [Operand; 3],
    constant: [u8; 4],
}

impl Stage {
    /// A stage of three sources; those that the operation does not take do not matter.
    pub const fn new(combine: Combine, sources: [Source; 3]) -> Stage {
        Stage { combine, sources, operands: [Operand::Color; 3], constant: [255; 4] }
    }

    /// Takes these parts of the sources for colours.
    pub fn operands(self, operands: [Operand; 3]) -> Stage {
        Stage { operands, ..self }
    }

    /// Sets the constant.
    pub fn constant(self, constant: [u8; 4]) -> Stage {
        Stage { constant, ..self }
    }

    fn words(&self) -> [u32; 5] {
        let fields =
            |width: u32, values: [u32; 3]| values.into_iter().rev().fold(0, |word, v| word << width | v);
        let twice = |word: u32| word | word << 16;
        [
            twice(fields(4, self.sources.map(|source| source as u32))),
            // Alpha operands: 0 is alpha.
            fields(4, self.operands.map(|operand| operand as u32)),
            twice(self.combine as u32),
            u32::from_le_bytes(self.constant),
            0,
        ]
    }
}

/// A light in view space.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// Position, or the direction to it if w is 0.
    pub position: Vec4,
    /// Colour of diffuse light.
    pub diffuse: Vec3,
    /// Colour of specular light, which the table D0 shapes.
    pub specular: Vec3,
    /// Colour it gives to everything.
    pub ambient: Vec3,
}

/// A colour of a light: 255 is 1.
fn light_color(color: Vec3) -> u32 {
    let [r, g, b] = (color * 255.0).to_array().map(|c| (c + 0.5) as u32 & 0x3ff);
    b | g << 10 | r << 20
}

impl Builder {
    /// What scenes begin with: near is depth 1, nothing is blended, lit, textured or culled.
    pub fn reset(&mut self) {
        self.list.write(CLIP_PLANE_ENABLE, 0).write(SCISSOR_MODE, 0);
        self.list.write_all(DEPTH_SCALE, &[f24(-1.0), f24(0.0)]);
        self.list.write(DEPTH_MODE, 1).write(DEPTH_FORMAT, 3).write(COLOR_FORMAT, 2);
        self.list.write_all(COLOR_READ, &[0xf, 0xf, 3, 3]);
        self.list.write(ALPHA_TEST, 0).write(FOG_MODE, 0);
        self.cull(true);
        self.depth(Compare::Greater, true);
        self.stencil(None);
        self.blend(Blend::Replace);
        self.combiners(&[]);
        self.textures(&[]);
        self.unlit();
    }

    /// Whether triangles that turn clockwise are dropped; otherwise those that turn the other way are.
    pub fn cull(&mut self, clockwise: bool) {
        self.list.write(CULLING, if clockwise { 2 } else { 1 });
    }

    /// Depth test, and whether depth is written. Colours are.
    pub fn depth(&mut self, test: Compare, write: bool) {
        self.list.write(DEPTH_TEST, 1 | (test as u32) << 4 | 0xf << 8 | u32::from(write) << 12);
    }

    /// No colour is written until the next [`Builder::depth`], nor depth.
    pub fn no_color(&mut self) {
        self.list.write(DEPTH_TEST, 1 | (Compare::Greater as u32) << 4);
    }

    /// Stencil test against 1: what passes this and the depth test leaves 1. None turns it off.
    pub fn stencil(&mut self, test: Option<Compare>) {
        const REPLACE: u32 = 2;
        let word = test.map_or(0, |test| 1 | (test as u32) << 4 | 0xff << 8 | 1 << 16 | 0xff << 24);
        self.list.write_all(STENCIL_TEST, &[word, REPLACE << 8]);
    }

    /// How fragments go into the colour buffer.
    pub fn blend(&mut self, blend: Blend) {
        const ZERO: u32 = 0;
        const ONE: u32 = 1;
        const ALPHA: u32 = 6;
        const ONE_MINUS_ALPHA: u32 = 7;
        let (source, destination) = match blend {
            Blend::Replace => (ONE, ZERO),
            Blend::Alpha => (ALPHA, ONE_MINUS_ALPHA),
            Blend::Add => (ALPHA, ONE),
        };
        let factors = source << 16 | destination << 20 | source << 24 | destination << 28;
        self.list.write_all(FRAGMENT_MODE, &[1 << 8, factors]);
    }

    /// From now on the colour buffer is a shadow map.
    pub fn shadow_mode(&mut self) {
        self.list.write(FRAGMENT_MODE, 3 | 1 << 8);
    }

    /// The combiner stages. Stages that are not given pass their input on; the first stage's input is the vertex colour.
    pub fn combiners(&mut self, stages: &[Stage]) {
        for (n, register) in COMBINERS.into_iter().enumerate() {
            let default = if n == 0 { Source::Primary } else { Source::Previous };
            let stage = stages.get(n).copied().unwrap_or(Stage::new(Combine::Replace, [default; 3]));
            self.list.write_all(register, &stage.words());
        }
    }

    /// The texture units, from 0 on; those that are not given are off. Unit 2 shares the coordinates of unit 1.
    pub fn textures(&mut self, textures: &[(Texture, Wrap)]) {
        for ((texture, wrap), (first, format)) in textures.iter().zip(UNITS) {
            let size = texture.height | texture.width << 16;
            let wrap = (*wrap as u32) << 8 | (*wrap as u32) << 12;
            self.list.write_all(first, &[0, size, wrap, 0, texture.address / 8]);
            self.list.write(format, texture.format as u32);
        }
        let on = (1 << textures.len()) - 1;
        self.list.write(TEXTURE_UNITS, on | 1 << 12 | 1 << 13 | 1 << 16);
    }

    /// Makes unit 0 a shadow map of parallel light. `bias` is a part of the depth range.
    pub fn shadow_map(&mut self, bias: f32) {
        const HALF_RANGE: f32 = 8_388_608.0;
        self.list.write(TEXTURE0 + 2, SHADOW_TEXTURE);
        self.list.write(TEXTURE0_SHADOW, 1 | ((bias * HALF_RANGE) as u32) << 1);
    }

    /// Lighting off.
    pub fn unlit(&mut self) {
        self.list.write(LIGHTING_ENABLE, 0).write(LIGHTING_DISABLE, 1);
    }

    /// Lighting by up to eight lights, with highlights by the table D0.
    pub fn lights(&mut self, lights: &[Light], shadowed: bool) {
        const SHADOW_ON: u32 = 1;
        const SHADOW_ON_BOTH: u32 = 3 << 16;
        const CLAMP_HIGHLIGHTS: u32 = 1 << 27;
        self.list.write(LIGHTING_ENABLE, 1).write(LIGHTING_DISABLE, 0);
        self.list.write(LIGHT_AMBIENT, 0).write(LIGHT_COUNT, lights.len() as u32 - 1);
        let shadow = if shadowed { SHADOW_ON | SHADOW_ON_BOTH } else { 0 };
        self.list.write(LIGHT_CONFIG, shadow | CLAMP_HIGHLIGHTS);
        self.list.write(LIGHT_DISABLE, if shadowed { ONLY_D0 & !0xff } else { ONLY_D0 });
        self.list.write_all(LIGHT_LUT_SIGNED, &[0, 0, 0]);
        self.list.write(LIGHT_ORDER, 0x7654_3210);
        for (light, first) in lights.iter().zip((LIGHT..).step_by(0x10)) {
            let Light { position, diffuse, specular, ambient } = *light;
            let colors = [specular, Vec3::ZERO, diffuse, ambient].map(light_color);
            self.list.write_all(first, &colors);
            let directional = position.w == 0.0;
            let position = [f16(position.x) | f16(position.y) << 16, f16(position.z)];
            self.list.write_all(first + 4, &position);
            self.list.write(first + 9, directional.into());
        }
    }

    /// Light that is everywhere, also in shadows.
    pub fn ambient(&mut self, color: Vec3) {
        self.list.write(LIGHT_AMBIENT, light_color(color));
    }

    /// Fills a table of fragment lighting.
    pub fn lighting_table(&mut self, table: u32, words: &[u32; 256]) {
        self.list.write(LIGHT_LUT_PORT, table << 8).stream(LIGHT_LUT_DATA, words);
    }

    /// Fog of a colour by a table over depth.
    pub fn fog(&mut self, [r, g, b]: [u8; 3], words: &[u32; 128]) {
        const FOG: u32 = 5;
        self.list.write(FOG_MODE, FOG).write(FOG_COLOR, u32::from_le_bytes([r, g, b, 0]));
        self.list.write(FOG_LUT_PORT, 0).stream(FOG_LUT_DATA, words);
    }
}
