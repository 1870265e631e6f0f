//! Where a fragment program finds its values: bindings, offsets, and how registers, tables and textures get there.
//!
//! All resources are in set 0, above the bindings of the vertex programs; offsets are in bytes, words little-endian.
//!
//! | binding | resource | content |
//! |---|---|---|
//! | [`UNIFORM_BINDING`] | uniform buffer of [`UNIFORM_SIZE`] bytes | [`uniforms`] |
//! | [`TABLE_BINDING`] | storage buffer of [`TABLE_SIZE`] bytes, read | [`tables`] |
//! | [`TEXTURE_BINDING`]` + n` | storage buffer, read | [`texels`] of unit n |
//! | [`DESTINATION_BINDING`] | storage buffer, read | a word per pixel, row by row of [`PIXEL_STRIDE`] pixels |
//!
//! Tile programs ([`super::tile`]) have buffers of a word per pixel in the order of guest memory instead:
//!
//! | binding | resource | content |
//! |---|---|---|
//! | [`DESTINATION_BINDING`] | storage buffer, read and written | colour buffer: stored pixels as they are in memory, plane by plane |
//! | [`DEPTH_BINDING`] | storage buffer, read and written | depth buffer: the same |
//! | [`TRIANGLE_BINDING`] | uniform buffer of [`TRIANGLES_SIZE`] bytes | triangles |
//! | [`BIN_BINDING`] | storage buffer, read | bins: the triangles of each tile |
//!
//! Triangles are in a uniform buffer because all invocations of a workgroup read the same one: hosts have a path for
//! that.

use super::key::UNIT_SOURCES;
use crate::memory::Memory;
use crate::raster::Chip;
use crate::raster::alpha_test::AlphaTest;
use crate::raster::filter::Filter;
use crate::raster::interpolate::DepthMap;
use crate::raster::lighting::{Lighting, Lookup, entry as light_entry, table};
use crate::raster::proctex;
use crate::raster::sample::{Image, Unit};
use crate::raster::shadow_map::ShadowMap;
use crate::raster::{self, fog};
use crate::regs::{self, Registers};
use crate::tables::Tables;
use crate::texture::{Texture, TileCache};

/// Binding of the uniform buffer.
pub const UNIFORM_BINDING: u32 = 4;
/// Binding of the tables.
pub const TABLE_BINDING: u32 = 5;
/// Binding of texture unit 0; the others follow.
pub const TEXTURE_BINDING: u32 = 6;
/// Binding of the destination, for programs that blend.
pub const DESTINATION_BINDING: u32 = 9;

/// Binding of a tile program's depth buffer.
pub const DEPTH_BINDING: u32 = 10;
/// Binding of a tile program's triangles.
pub const TRIANGLE_BINDING: u32 = 11;
/// Binding of a tile program's bins.
pub const BIN_BINDING: u32 = 12;
/// Size of the buffer of triangles: what every device allows for a uniform buffer.
pub const TRIANGLES_SIZE: u32 = 1 << 16;

/// Constants of the combiner stages, then the buffer's first colour: r, g, b, a as four u32 each.
pub const CONSTANTS: u32 = 0;
/// Fog colour: r, g, b, 0 to 255, as f32; then a word unused.
pub const FOG_COLOR: u32 = CONSTANTS + 7 * 16;
/// Depth scale and offset, shadow-map constant and slope, as f32.
pub const DEPTH: u32 = FOG_COLOR + 16;
/// Reference of the alpha test, u32.
pub const ALPHA_REFERENCE: u32 = DEPTH + 16;
/// Pixels in a row of the destination, u32; then two words
/// unused. [`MORE_TEXELS`], [`FIRST_ENLARGED`], [`DENSITY`]; then [`LEVELS`].
pub const PIXEL_STRIDE: u32 = ALPHA_REFERENCE + 4;
/// Blend constant: r, g, b, a as four u32.
pub const BLEND_CONSTANT: u32 = ALPHA_REFERENCE + 16;
/// Texture units: width, height, shadow bias, one word unused; the border's r, g, b, a, all u32; then, for planes other than
/// the first ([`super::Scale`]): texels along each axis for one of the first plane's, less one, u32; the first texel, u32;
/// two words unused.
pub const UNITS: u32 = BLEND_CONSTANT + 16;
/// Offset in a texture unit: texels of a larger version along each axis for one of the image, less one, u32.
pub const MORE_TEXELS: u32 = 32;
/// Offset in a texture unit: first texel of the larger version in the buffer, u32.
pub const FIRST_ENLARGED: u32 = 36;
/// Offset in a texture unit: the square of texels of the larger version for a sample's step, of those of the image for a pixel's,
/// f32.
pub const DENSITY: u32 = 40;
/// Offset in a texture unit: bias of the level of detail, then the first and the last level, f32; a word unused.
pub const LEVELS: u32 = 48;
/// Words before texels that have levels: the first word of each level, counted from the first of these. The number of a level has
/// four bits.
pub const LEVEL_HEADER: u32 = 16;
/// Bytes of a texture unit.
pub const UNIT_STRIDE: u32 = 64;
/// Procedural texture, f32: amplitude, phase, 9 × frequency and a word unused for u; the same for v.
pub const PROCTEX_AXES: u32 = UNITS + 3 * UNIT_STRIDE;
/// Procedural texture, f32: first entry of the colour table, its last one from there; then two words unused.
pub const PROCTEX_TABLE: u32 = PROCTEX_AXES + 32;
/// Global ambient colour: r, g, b as f32; then a word unused.
pub const AMBIENT: u32 = PROCTEX_TABLE + 16;
/// Factors of the tables of fragment lighting, f32: D0, D1, spot, Fresnel, red, green, blue reflection; then a word
/// unused.
pub const LIGHT_SCALES: u32 = AMBIENT + 16;
/// Lights by slot.
pub const LIGHTS: u32 = LIGHT_SCALES + 32;
/// Bytes of a light: six f32 vectors of which [`light`] names x, y, z, then offsets.
pub const LIGHT_STRIDE: u32 = 112;
/// Tile programs: tiles in a row of the framebuffer, its last row.
pub const TILES: u32 = LIGHTS + 8 * LIGHT_STRIDE;
/// Tile programs: offset of the first bin in its buffer in bytes.
pub const FIRST_BIN: u32 = TILES + 8;
/// Tile programs: samples of a pixel along each axis.
pub const SAMPLES: u32 = FIRST_BIN + 4;
/// Tile programs: columns and rows where pixels are dropped, first and last plus one: x, y, x, y as i32.
pub const OUTSIDE: u32 = TILES + 16;
/// Tile programs: reference, input mask and write mask of the stencil test; then a word unused.
pub const STENCIL: u32 = OUTSIDE + 16;
/// Tile programs: bytes from plane to plane of the colour buffer and of the depth buffer.
pub const PLANES: u32 = STENCIL + 16;
/// Tile programs: column and row of the pixel that triangles count from.
pub const ORIGIN: u32 = PLANES + 8;
/// Size of the uniform buffer.
pub const UNIFORM_SIZE: u32 = PLANES + 16;

/// Offsets within a light.
pub mod light {
    /// Specular colour 0.
    pub const SPECULAR: u32 = 0;
    /// Diffuse colour.
    pub const DIFFUSE: u32 = 32;
    /// Ambient colour.
    pub const AMBIENT: u32 = 48;
    /// Position or direction; w is the scale of the distance.
    pub const POSITION: u32 = 64;
    /// Direction of the spot; w is the bias of the distance.
    pub const SPOT: u32 = 80;
    /// Offsets in the table buffer of the tables of distance and spot, u32; then two words unused.
    pub const TABLES: u32 = 96;
}

/// Table buffer: the tables of fragment lighting by number, 256 entries each. An entry is a value and the difference
/// to the next, two f32.
pub const LIGHT_TABLES: u32 = 0;
/// Bytes of a table of fragment lighting.
pub const LIGHT_TABLE_BYTES: u32 = 256 * 8;
/// Table buffer: fog, 128 entries.
pub const FOG_TABLE: u32 = LIGHT_TABLES + table::COUNT as u32 * LIGHT_TABLE_BYTES;
/// Table buffer: procedural texture, noise, 128 entries.
pub const NOISE_TABLE: u32 = FOG_TABLE + 128 * 8;
/// Table buffer: procedural texture, colour map, 128 entries.
pub const COLOR_MAP: u32 = NOISE_TABLE + 128 * 8;
/// Table buffer: procedural texture, alpha map, 128 entries.
pub const ALPHA_MAP: u32 = COLOR_MAP + 128 * 8;
/// Table buffer: procedural texture, 256 colours, r in the lowest byte.
pub const COLORS: u32 = ALPHA_MAP + 128 * 8;
/// Table buffer: procedural texture, differences to the next colour, four signed bytes each.
pub const COLOR_DIFFERENCES: u32 = COLORS + 256 * 4;
/// Size of the table buffer.
pub const TABLE_SIZE: u32 = COLOR_DIFFERENCES + 256 * 4;

/// The uniform buffer's words.
pub type Uniforms = [u32; UNIFORM_SIZE as usize / 4];

/// Writes words at a place of the uniform buffer.
pub(crate) fn set<const N: usize>(uniforms: &mut Uniforms, offset: u32, words: [u32; N]) {
    let at = offset as usize / 4;
    uniforms[at..at + N].copy_from_slice(&words);
}

/// Words being placed.
struct Words(Uniforms);

impl Words {
    fn set<const N: usize>(&mut self, offset: u32, words: [u32; N]) {
        set(&mut self.0, offset, words);
    }

    fn floats<const N: usize>(&mut self, offset: u32, floats: [f32; N]) {
        self.set(offset, floats.map(f32::to_bits));
    }

    fn bytes(&mut self, offset: u32, word: u32) {
        self.set(offset, word.to_le_bytes().map(u32::from));
    }

    fn lighting(&mut self, lighting: &Lighting) {
        self.floats(AMBIENT, lighting.ambient);
        let scale = |lookup: &Option<Lookup>| lookup.map_or(0.0, |lookup| lookup.scale);
        let [d0, d1] = lighting.distribution.each_ref().map(scale);
        let spot = lighting.lights.iter().find_map(|light| light.spot).map_or(0.0, |lookup| lookup.scale);
        let [red, green, blue] = lighting.reflection.each_ref().map(scale);
        self.floats(LIGHT_SCALES, [d0, d1, spot, scale(&lighting.fresnel), red, green, blue]);
        for (light, base) in lighting.lights.iter().zip((LIGHTS..).step_by(LIGHT_STRIDE as usize)) {
            let (distance, distance_scale, distance_bias) = light.distance.unwrap_or_default();
            let [x, y, z] = light.position;
            let [spot_x, spot_y, spot_z] = light.spot_direction;
            self.floats(base + light::SPECULAR, light.specular[0]);
            self.floats(base + light::SPECULAR + 16, light.specular[1]);
            self.floats(base + light::DIFFUSE, light.diffuse);
            self.floats(base + light::AMBIENT, light.ambient);
            self.floats(base + light::POSITION, [x, y, z, distance_scale]);
            self.floats(base + light::SPOT, [spot_x, spot_y, spot_z, distance_bias]);
            let spot = light.spot.map_or(0, |spot| spot.table);
            self.set(base + light::TABLES, [distance, spot].map(table_offset));
        }
    }
}

/// Place of a table of fragment lighting in the table buffer.
pub fn table_offset(number: usize) -> u32 {
    LIGHT_TABLES + number as u32 * LIGHT_TABLE_BYTES
}

/// The uniform buffer for a draw. The caller, who knows the destination, fills in [`PIXEL_STRIDE`].
pub fn uniforms(regs: &Registers) -> Box<Uniforms> {
    uniforms_for(regs, Chip::default())
}

/// The same with other registers obeyed.
pub(crate) fn uniforms_for(regs: &Registers, chip: Chip) -> Box<Uniforms> {
    let mut words = Words([0; UNIFORM_SIZE as usize / 4]);
    for (stage, offset) in raster::combiner::STAGES.into_iter().zip((CONSTANTS..).step_by(16)) {
        words.bytes(offset, regs.get(stage + 3));
    }
    words.bytes(CONSTANTS + 6 * 16, regs.get(regs::COMBINER_BUFFER));
    words.floats(FOG_COLOR, fog::color(regs));
    let (depth, shadow) = (DepthMap::decode(regs), ShadowMap::decode(regs));
    words.floats(DEPTH, [depth.scale, depth.offset, shadow.constant, shadow.linear]);
    words.set(ALPHA_REFERENCE, [AlphaTest::decode(regs).map_or(0, |test| test.reference.into())]);
    words.bytes(BLEND_CONSTANT, regs.get(regs::BLEND_CONSTANT));
    for (unit, offset) in (0..UNIT_SOURCES.len()).zip((UNITS..).step_by(UNIT_STRIDE as usize)) {
        if let Unit::Image(image) = Unit::decode(regs, unit, chip) {
            if let Some(filter) = &image.filter {
                let [first, last] = filter.range;
                words.floats(offset + LEVELS, [filter.bias, first, last]);
            }
            words.set(offset, [image.texture.width, image.texture.height, image.shadow_bias as u32]);
            words.bytes(offset + 16, image.border);
        }
    }
    if let Some(setup) = proctex::Setup::decode(regs) {
        for (axis, offset) in setup.axes.iter().zip((PROCTEX_AXES..).step_by(16)) {
            words.floats(offset, [axis.amplitude, axis.phase, 9.0 * axis.frequency]);
        }
        words.floats(PROCTEX_TABLE, [setup.offset, setup.last]);
    }
    if let Some(lighting) = Lighting::decode(regs) {
        words.lighting(&lighting);
    }
    Box::new(words.0)
}

/// The table buffer.
pub fn tables(tables: &Tables) -> Vec<u32> {
    let mut words = Vec::with_capacity(TABLE_SIZE as usize / 4);
    let mut entries = |of: &[u32], entry: fn(u32) -> [f32; 2]| {
        words.extend(of.iter().flat_map(|&word| entry(word).map(f32::to_bits)));
    };
    entries(tables.lighting.as_flattened(), light_entry);
    entries(&tables.fog, fog::entry);
    for map in [&tables.noise, &tables.color_map, &tables.alpha_map] {
        entries(map, proctex::entry);
    }
    words.extend(tables.colors);
    words.extend(tables.color_differences);
    words
}

/// The texels of unit `unit` (0 to 2): a word each, r in the lowest byte; rows from the top of the image down, six
/// images for a cube, at most 2047×2047 each. None if the unit reads no texels.
pub fn texels(regs: &Registers, unit: usize, memory: &dyn Memory) -> Option<Vec<u32>> {
    if unit >= UNIT_SOURCES.len() {
        return None;
    }
    let Unit::Image(image) = Unit::decode(regs, unit, Chip::default()) else { return None };
    Some(image_texels(&image, memory))
}

/// The texels of an image. If it has levels, [`LEVEL_HEADER`] words come first.
pub(crate) fn image_texels(image: &Image, memory: &dyn Memory) -> Vec<u32> {
    let levels = image.filter.as_ref().map(Filter::levels).unwrap_or_default();
    if levels.len() < 2 {
        let mut texels = Vec::new();
        faces(image).for_each(|face| decode(&face, memory, &mut texels));
        return texels;
    }
    with_levels(levels.iter().map(|level| {
        let mut texels = Vec::new();
        faces(image).for_each(|face| decode(&level.of(&face), memory, &mut texels));
        texels
    }))
}

/// Levels behind the words that say where each begins.
pub(crate) fn with_levels(levels: impl Iterator<Item = Vec<u32>>) -> Vec<u32> {
    let mut words = vec![0; LEVEL_HEADER as usize];
    for (number, level) in levels.take(LEVEL_HEADER as usize).enumerate() {
        words[number] = words.len() as u32;
        words.extend(level);
    }
    words
}

fn decode(texture: &Texture, memory: &dyn Memory, texels: &mut Vec<u32>) {
    let mut cache = TileCache::default();
    cache.start(texture.tiles());
    for t in 0..texture.height {
        for tile in 0..texture.tiles_per_row() {
            let place = (t >> 3) * texture.tiles_per_row() + tile;
            let row = (t & 7) as usize * 8;
            let len = (texture.width - tile * 8).min(8) as usize;
            texels.extend_from_slice(&cache.tile(memory, texture, 0, place)[row..row + len]);
        }
    }
}

fn faces(image: &Image) -> impl Iterator<Item = Texture> {
    let count = if image.kind.is_cube() { 6 } else { 1 };
    let addresses = if image.kind.is_cube() { image.faces } else { [image.texture.address; 6] };
    addresses.into_iter().take(count).map(|address| Texture { address, ..image.texture })
}
