//! Registers of fragment lighting.

use xenoglot_pica_shader::float::{F16, F20};

use super::lut::{Index, table};
use crate::raster::combiner::Source;
use crate::regs::{self, Registers};

const LIGHT_STRIDE: u32 = 16;

/// What the index of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Normal and half vector.
    NormalHalf,
    /// View and half vector.
    ViewHalf,
    /// Normal and view.
    NormalView,
    /// Light and normal.
    LightNormal,
    /// Light and the spot's direction.
    Spot,
    /// Tangent and the half vector's part in the surface.
    Tangent,
    /// Always 0.
    Zero,
}

/// A table and how it is read.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// Number of the table.
    pub table: usize,
    /// Index.
    pub input: Input,
    /// Whether the index is signed.
    pub signed: bool,
    /// Factor of the result.
    pub scale: f32,
}

impl Lookup {
    /// The table `table` whose fields are the nibble `nibble` of registers 0x1D0 to 0x1D2.
    fn decode(regs: &Registers, table: usize, nibble: u32, has_tangent: bool) -> Lookup {
        let field = |register| regs.bits(register, 4 * nibble, 3);
        Lookup {
            table,
            input: match field(regs::LIGHT_LUT_INPUT) {
                0 => Input::NormalHalf,
                1 => Input::ViewHalf,
                2 => Input::NormalView,
                3 => Input::LightNormal,
                4 => Input::Spot,
                5 if has_tangent => Input::Tangent,
                _ => Input::Zero,
            },
            signed: regs.bit(regs::LIGHT_LUT_SIGNED, 4 * nibble + 1),
            scale: match field(regs::LIGHT_LUT_SCALE) {
                0 => 1.0,
                1 => 2.0,
                2 => 4.0,
                3 => 8.0,
                6 => 0.25,
                7 => 0.5,
                _ => 0.0,
            },
        }
    }

    /// How the index comes from the input for a light.
    pub fn index(&self, two_sided: bool) -> Index {
        Index::new(self.signed, two_sided)
    }
}

/// Nibbles of the tables in registers 0x1D0 to 0x1D2.
mod nibble {
    pub const D0: u32 = 0;
    pub const D1: u32 = 1;
    pub const SPOT: u32 = 2;
    pub const FR: u32 = 3;
    pub const RB: u32 = 4;
    pub const RG: u32 = 5;
    pub const RR: u32 = 6;
}

/// A slot's light.
#[derive(Clone, Debug)]
pub struct Light {
    /// Specular colours 0 and 1, diffuse and ambient colour.
    pub specular: [[f32; 3]; 2],
    /// Diffuse colour.
    pub diffuse: [f32; 3],
    /// Ambient colour.
    pub ambient: [f32; 3],
    /// Position or direction.
    pub position: [f32; 3],
    /// Direction of the spot.
    pub spot_direction: [f32; 3],
    /// The position is a direction.
    pub directional: bool,
    /// Lit from behind as well.
    pub two_sided: bool,
    /// Whether the specular colours take the geometric factor.
    pub geometric: [bool; 2],
    /// Table number, scale and bias of the distance.
    pub distance: Option<(usize, f32, f32)>,
    /// Spot.
    pub spot: Option<Lookup>,
    /// Whether shadows are applied.
    pub shadow: bool,
}

impl Light {
    fn decode(regs: &Registers, number: u32, spot: Option<Lookup>) -> Light {
        let base = regs::LIGHT + number * LIGHT_STRIDE;
        let color = |offset| color(regs.get(base + offset));
        let float16 = |offset, lo| F16.to_f32(regs.bits(base + offset, lo, 16));
        let direction = |offset, lo| ((regs.bits(base + offset, lo, 13) << 19) as i32 >> 19) as f32 / 2047.0;
        let enabled = |lo: u32| !regs.bit(regs::LIGHT_DISABLE, lo + number);
        let float20 = |offset| F20.to_f32(regs.get(base + offset));
        Light {
            specular: [color(0), color(1)],
            diffuse: color(2),
            ambient: color(3),
            position: [float16(4, 0), float16(4, 16), float16(5, 0)],
            spot_direction: [direction(6, 0), direction(6, 16), direction(7, 0)],
            directional: regs.bit(base + 9, 0),
            two_sided: regs.bit(base + 9, 1),
            geometric: [regs.bit(base + 9, 2), regs.bit(base + 9, 3)],
            distance: enabled(24).then(|| (table::DISTANCE + number as usize, float20(0xb), float20(0xa))),
            spot: spot
                .filter(|_| enabled(8))
                .map(|spot| Lookup { table: table::SPOT + number as usize, ..spot }),
            shadow: enabled(0),
        }
    }
}

/// Channels of 10 bits, blue lowest; 255 is one.
fn color(word: u32) -> [f32; 3] {
    [20, 10, 0].map(|lo| (word >> lo & 0x3ff) as f32 / 255.0)
}

/// What a normal map changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BumpKind {
    /// The normal; z is worked out from x and y or taken as it is.
    Normal {
        /// Whether z is worked out.
        renormalise: bool,
    },
    /// The tangent.
    Tangent,
}

/// A normal map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bump {
    /// The map.
    pub source: Source,
    /// What it changes.
    pub kind: BumpKind,
}

/// Shadows from a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shadow {
    /// The texture.
    pub source: Source,
    /// 1 minus its colour.
    pub invert: bool,
    /// On the diffuse colour.
    pub primary: bool,
    /// On the specular colour.
    pub secondary: bool,
    /// On alpha from Fresnel.
    pub alpha: bool,
}

/// Fragment lighting of a draw.
#[derive(Clone, Debug)]
pub struct Lighting {
    /// The lights, by slot.
    pub lights: Vec<Light>,
    /// Global ambient colour.
    pub ambient: [f32; 3],
    /// Normal map.
    pub bump: Option<Bump>,
    /// Shadows.
    pub shadow: Option<Shadow>,
    /// Distributions.
    pub distribution: [Option<Lookup>; 2],
    /// Reflection of red, green, blue; green and blue fall back to red's.
    pub reflection: [Option<Lookup>; 3],
    /// Fresnel.
    pub fresnel: Option<Lookup>,
    /// Fresnel replaces the alpha of the primary, secondary colour.
    pub fresnel_alpha: [bool; 2],
    /// Highlights vanish on sides that are not lit.
    pub clamp_highlights: bool,
}

impl Lighting {
    /// Decodes the registers; none if lighting is off.
    pub fn decode(regs: &Registers) -> Option<Lighting> {
        if regs.bit(regs::LIGHTING_DISABLE, 0) {
            return None;
        }
        let config = |lo, count| regs.bits(regs::LIGHT_CONFIG, lo, count);
        let flag = |lo| regs.bit(regs::LIGHT_CONFIG, lo);
        let configuration = config(4, 4);
        let lookup = |table, nibble| Lookup::decode(regs, table, nibble, configuration == 8);
        let used = |disable: Option<u32>, missing_in: &[u32]| {
            !missing_in.contains(&configuration)
                && disable.is_none_or(|bit| !regs.bit(regs::LIGHT_DISABLE, bit))
        };
        let table = |table, nibble, disable, missing_in: &[u32]| {
            used(Some(disable), missing_in).then(|| lookup(table, nibble))
        };
        let spot = used(None, &[2, 3]).then(|| lookup(table::SPOT, nibble::SPOT));
        let full = [4, 5, 8].contains(&configuration);
        let slots = regs.bits(regs::LIGHT_COUNT, 0, 3) + 1;
        let slot = |slot: u32| Light::decode(regs, regs.bits(regs::LIGHT_ORDER, 4 * slot, 3), spot);
        Some(Lighting {
            lights: (0..slots).map(slot).collect(),
            ambient: color(regs.get(regs::LIGHT_AMBIENT)),
            bump: match config(28, 2) {
                1 => Some(BumpKind::Normal { renormalise: !flag(30) }),
                2 => Some(BumpKind::Tangent),
                _ => None,
            }
            .map(|kind| Bump { source: texture(config(22, 2)), kind }),
            shadow: flag(0).then(|| Shadow {
                source: texture(config(24, 2)),
                invert: flag(18),
                primary: flag(16),
                secondary: flag(17),
                alpha: flag(19),
            }),
            distribution: [
                table(table::D0, nibble::D0, 16, &[1]),
                table(table::D1, nibble::D1, 17, &[0, 1, 5]),
            ],
            reflection: [
                table(table::RR, nibble::RR, 20, &[3]),
                table(table::RG, nibble::RG, 21, &[]).filter(|_| full),
                table(table::RB, nibble::RB, 22, &[]).filter(|_| full),
            ],
            fresnel: table(table::FR, nibble::FR, 19, &[0, 2, 4]),
            fresnel_alpha: [flag(2), flag(3)],
            clamp_highlights: flag(27),
        })
    }

    /// Numbers of the tables it reads.
    pub fn tables(&self) -> impl Iterator<Item = usize> {
        let shared = self.distribution.iter().chain(&self.reflection).chain([&self.fresnel]);
        let spots = self.lights.iter().map(|light| &light.spot);
        let distances = self.lights.iter().filter_map(|light| light.distance.map(|(table, ..)| table));
        shared.chain(spots).flatten().map(|lookup| lookup.table).chain(distances)
    }

    /// Colours it reads.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        self.bump.iter().map(|bump| bump.source).chain(self.shadow.iter().map(|shadow| shadow.source))
    }
}

/// A texture unit of a number of 2 bits.
fn texture(number: u32) -> Source {
    match number {
        0 => Source::Texture0,
        1 => Source::Texture1,
        2 => Source::Texture2,
        _ => Source::Procedural,
    }
}
