//! The texture units: coordinates to texels. Nearest texel of the base level, whatever filter is asked for, unless
//! [`Chip`] says to look.

use super::batch::{Batch, Floats, LANES, Plane, semantic, truncate};
use super::combiner::Source;
use super::filter::{Filter, WEIGHT_BITS, between, mix, neighbours, round};
use super::options::Chip;
use super::setup::Setup;
use crate::memory::Memory;
use crate::regs::{self, Registers};
use crate::texture::{Format, Texture, TileCache};

/// Units with images.
pub const UNITS: usize = 3;

/// First register of a unit's group and the one with its format.
const GROUPS: [(u32, u32); UNITS] = [
    (regs::TEXTURE0, regs::TEXTURE0_FORMAT),
    (regs::TEXTURE1, regs::TEXTURE1_FORMAT),
    (regs::TEXTURE2, regs::TEXTURE2_FORMAT),
];
/// Registers within a group.
const SIZE: u32 = 1;
const PARAMETERS: u32 = 2;
const LOD: u32 = 3;
const ADDRESS: u32 = 4;

const FACE_BITS: u32 = 22;

/// What a unit with an image gives at address 0.
const NO_IMAGE: [u8; 4] = [0, 0, 0, 255];

/// Beyond the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The edge's texel.
    Edge,
    /// The border's colour.
    Border,
    /// Repeated.
    Repeat,
    /// Every other repetition turned round.
    Mirror,
    /// Edge above, repeated below 0.
    EdgeAbove,
    /// Border above, repeated below 0.
    BorderAbove,
}

impl Wrap {
    fn from_number(number: u32) -> Wrap {
        match number {
            0 => Wrap::Edge,
            1 => Wrap::Border,
            3 => Wrap::Mirror,
            4 => Wrap::EdgeAbove,
            5 => Wrap::BorderAbove,
            _ => Wrap::Repeat,
        }
    }

    /// Brings coordinates into `0..size`, setting `border` where the border's colour shows. `size` is not 0.
    #[inline(always)]
    fn run(self, coordinates: &mut [i32], border: &mut [bool], size: u32) {
        let last = size as i32 - 1;
        match self {
            Wrap::Edge => each(coordinates, |c| c.clamp(0, last)),
            Wrap::Border => {
                for (c, border) in coordinates.iter_mut().zip(border) {
                    *border |= *c < 0 || *c > last;
                    *c = (*c).clamp(0, last);
                }
            }
            Wrap::Repeat if size.is_power_of_two() => each(coordinates, |c| c & last),
            Wrap::Repeat => each(coordinates, |c| repeat(c, size)),
            Wrap::Mirror => each(coordinates, |c| {
                let c = repeat(c, 2 * size);
                c.min(2 * last + 1 - c)
            }),
            Wrap::EdgeAbove => each(coordinates, |c| if c < 0 { repeat(c, size) } else { c.min(last) }),
            Wrap::BorderAbove => {
                for (c, border) in coordinates.iter_mut().zip(border) {
                    *border |= *c > last;
                    *c = if *c < 0 { repeat(*c, size) } else { (*c).min(last) };
                }
            }
        }
    }
}

#[inline(always)]
fn each(coordinates: &mut [i32], wrap: impl Fn(i32) -> i32) {
    for coordinate in coordinates {
        *coordinate = wrap(*coordinate);
    }
}

#[inline(always)]
fn repeat(coordinate: i32, size: u32) -> i32 {
    (coordinate as u32 % size) as i32
}

/// How a unit reads its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Two coordinates.
    Flat,
    /// A direction to six faces.
    Cube,
    /// Two coordinates divided by the third.
    Projection,
    /// A shadow map.
    Shadow {
        /// Whether the coordinates are divided by the third.
        perspective: bool,
    },
    /// Six shadow maps.
    ShadowCube,
}

impl Kind {
    /// Whether there are six faces.
    pub fn is_cube(self) -> bool {
        matches!(self, Kind::Cube | Kind::ShadowCube)
    }

    /// Whether texels are compared with a distance.
    pub fn is_shadow(self) -> bool {
        matches!(self, Kind::Shadow { .. } | Kind::ShadowCube)
    }
}

/// A texture unit of a draw.
#[derive(Clone, Debug)]
pub enum Unit {
    /// The same colour everywhere: off, or without an image.
    Constant([u8; 4]),
    /// With an image.
    Image(Image),
}

/// A texture unit with an image.
#[derive(Clone, Debug)]
pub struct Image {
    /// How coordinates are read.
    pub kind: Kind,
    /// Semantic of the first coordinate.
    pub coordinates: usize,
    /// The texels, of a cube the first face's.
    pub texture: Texture,
    /// Addresses of a cube's faces.
    pub faces: [u32; 6],
    /// Beyond the edges of s and t.
    pub wrap: [Wrap; 2],
    /// Colour of the border, r in the lowest byte.
    pub border: u32,
    /// Subtracted from the distance, in units of 2^-24.
    pub shadow_bias: i32,
    /// Linear filtering and levels, if they are asked for.
    pub filter: Option<Filter>,
}

impl Unit {
    /// Decodes the registers of unit `number`, 0 to 2. A unit with an image of no size or of a format that does not
    /// exist is as one without address.
    pub fn decode(regs: &Registers, number: usize, chip: Chip) -> Unit {
        if !regs.bit(regs::TEXTURE_UNITS, number as u32) {
            return Unit::Constant([0; 4]);
        }
        let (group, format) = GROUPS[number];
        let kind = match regs.bits(group + PARAMETERS, 28, 3) {
            _ if number > 0 => Kind::Flat,
            0 => Kind::Flat,
            1 => Kind::Cube,
            2 => Kind::Shadow { perspective: !regs.bit(regs::TEXTURE0_SHADOW, 0) },
            3 => Kind::Projection,
            4 => Kind::ShadowCube,
            _ => return Unit::Constant([0; 4]),
        };
        let address = regs.bits(group + ADDRESS, 0, 28) << 3;
        let (height, width) = (regs.bits(group + SIZE, 0, 11), regs.bits(group + SIZE, 16, 11));
        let format = Format::from_number(regs.bits(format, 0, 4));
        let Some(format) = format.filter(|_| address != 0 && width != 0 && height != 0) else {
            return Unit::Constant(NO_IMAGE);
        };
        let texture = Texture { address, width, height, format };
        let filter = Filter::decode(regs, group + PARAMETERS, group + LOD, &texture, chip);
        Unit::Image(Image {
            kind,
            coordinates: match number {
                0 => semantic::TEX0,
                2 if !regs.bit(regs::TEXTURE_UNITS, 13) => semantic::TEX2,
                _ => semantic::TEX1,
            },
            texture,
            faces: std::array::from_fn(|face| face_address(regs, face as u32)),
            wrap: [12, 8].map(|lo| Wrap::from_number(regs.bits(group + PARAMETERS, lo, 3))),
            border: regs.get(group),
            filter: filter.filter(|_| !kind.is_shadow()),
            shadow_bias: (regs.get(regs::TEXTURE0_SHADOW) & 0xff_fffe) as i32,
        })
    }
}

impl Unit {
    /// The image, if there is one.
    pub fn image(&self) -> Option<&Image> {
        match self {
            Unit::Constant(_) => None,
            Unit::Image(image) => Some(image),
        }
    }
}

/// Address of a face of unit 0's cube: +x -x +y -y +z -z.
fn face_address(regs: &Registers, face: u32) -> u32 {
    let first = regs.bits(regs::TEXTURE0 + ADDRESS, 0, 28);
    let low = regs.bits(regs::TEXTURE0 + ADDRESS + face, 0, FACE_BITS);
    (first >> FACE_BITS << FACE_BITS | low) << 3
}

/// Coordinates of a batch within an image.
struct Coordinates {
    u: Floats,
    v: Floats,
    /// Distance to compare with a shadow map.
    depth: Floats,
    face: [u8; LANES],
}

impl Image {
    /// Semantics of the attributes it reads.
    pub fn semantics(&self) -> impl Iterator<Item = usize> {
        let third = !matches!(self.kind, Kind::Flat);
        [Some(self.coordinates), Some(self.coordinates + 1), third.then_some(semantic::TEX0_W)]
            .into_iter()
            .flatten()
    }

    /// Ranges of addresses it reads: start and length.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32)> {
        let faces = if self.kind.is_cube() { 6 } else { 1 };
        let first = if self.kind.is_cube() { self.faces } else { [self.texture.address; 6] };
        first.into_iter().take(faces).map(|address| (address, self.extent().0))
    }

    /// Tiles of all images.
    pub fn tiles(&self) -> u32 {
        self.extent().1 * if self.kind.is_cube() { 6 } else { 1 }
    }

    /// Bytes and tiles of one image with its levels.
    fn extent(&self) -> (u32, u32) {
        let base = || (self.texture.bytes(), self.texture.tiles());
        self.filter.as_ref().map_or_else(base, |filter| filter.extent(&self.texture))
    }

    /// Samples for the batch into the planes of `source`.
    #[inline(always)]
    pub fn run(
        &self,
        batch: &mut Batch,
        source: Source,
        setup: &Setup,
        cache: &mut TileCache,
        memory: &dyn Memory,
    ) {
        let lanes = batch.lanes();
        let place = self.coordinates(batch);
        let mut texels = match &self.filter {
            None => self.nearest(batch, &place, cache, memory),
            Some(filter) => self.filtered(filter, batch, &place, setup, cache, memory),
        };
        if self.kind.is_shadow() {
            for (texel, depth) in texels[..lanes].iter_mut().zip(&place.depth) {
                *texel = self.compare(*texel, *depth);
            }
        }
        unpack(&texels[..lanes], &mut batch.planes[source.plane()..][..4]);
    }

    #[inline(always)]
    fn nearest(
        &self,
        batch: &Batch,
        place: &Coordinates,
        cache: &mut TileCache,
        memory: &dyn Memory,
    ) -> [u32; LANES] {
        let lanes = batch.lanes();
        let (mut s, mut t) = ([0; LANES], [0; LANES]);
        let (width, height) = (self.texture.width, self.texture.height);
        for lane in 0..lanes {
            s[lane] = truncate(place.u[lane] * width as f32);
            t[lane] = truncate(place.v[lane] * height as f32);
        }
        let mut border = [false; LANES];
        self.wrap[0].run(&mut s[..lanes], &mut border[..lanes], width);
        self.wrap[1].run(&mut t[..lanes], &mut border[..lanes], height);
        let mut texels = [0; LANES];
        if self.kind.is_cube() {
            for (lane, texel) in texels[..batch.len].iter_mut().enumerate() {
                let face = place.face[lane];
                let texture = Texture { address: self.faces[usize::from(face)], ..self.texture };
                *texel = texel_at(&texture, u32::from(face), s[lane], t[lane], cache, memory);
            }
        } else {
            for (lane, texel) in texels[..batch.len].iter_mut().enumerate() {
                *texel = texel_at(&self.texture, 0, s[lane], t[lane], cache, memory);
            }
        }
        if self.wrap.iter().any(|wrap| matches!(wrap, Wrap::Border | Wrap::BorderAbove)) {
            for (texel, _) in texels.iter_mut().zip(&border).filter(|&(_, &border)| border) {
                *texel = self.border;
            }
        }
        texels
    }

    fn filtered(
        &self,
        filter: &Filter,
        batch: &Batch,
        place: &Coordinates,
        setup: &Setup,
        cache: &mut TileCache,
        memory: &dyn Memory,
    ) -> [u32; LANES] {
        let semantics = [self.coordinates, self.coordinates + 1, semantic::TEX0_W];
        let size = [self.texture.width as f32, self.texture.height as f32];
        let mut texels = [0; LANES];
        for (lane, texel) in texels[..batch.len].iter_mut().enumerate() {
            let (face, here) = (place.face[lane], [place.u[lane], place.v[lane]]);
            let weights = batch.weights.each_ref().map(|weights| weights[lane]);
            // The longer one of the two steps to the neighbours, in texels, as its square.
            let density = neighbours(setup, &weights, semantics)
                .map(|there| {
                    let there = self.on_image(face, there);
                    let [s, t] = [0, 1].map(|axis| (there[axis] - here[axis]) * size[axis]);
                    s * s + t * t
                })
                .into_iter()
                .fold(0.0, f32::max);
            let choice = filter.choose(density);
            let mut sample = |number: usize| {
                let level = filter.level(number);
                let base = Texture { address: self.address(face), ..self.texture };
                let texture = level.of(&base);
                let image = u32::from(face) + 6 * number as u32;
                let mut texel = |s, t| self.wrapped_texel(&texture, image, s, t, cache, memory);
                if choice.linear {
                    bilinear(here, &texture, &mut texel)
                } else {
                    let [s, t] = [here[0] * texture.width as f32, here[1] * texture.height as f32];
                    texel(truncate(s), truncate(t))
                }
            };
            let first = sample(choice.level);
            *texel = if choice.next == 0 {
                first
            } else {
                round(mix(channels(first), channels(sample(choice.level + 1)), choice.next), WEIGHT_BITS)
            };
        }
        texels
    }

    /// Address of an image, a cube's face or the only one.
    fn address(&self, face: u8) -> u32 {
        if self.kind.is_cube() { self.faces[usize::from(face)] } else { self.texture.address }
    }

    /// The texel of coordinates that may be outside, or the border's colour.
    fn wrapped_texel(
        &self,
        texture: &Texture,
        image: u32,
        mut s: i32,
        mut t: i32,
        cache: &mut TileCache,
        memory: &dyn Memory,
    ) -> u32 {
        let mut border = [false];
        self.wrap[0].run(std::slice::from_mut(&mut s), &mut border, texture.width);
        self.wrap[1].run(std::slice::from_mut(&mut t), &mut border, texture.height);
        if border[0] { self.border } else { texel_at(texture, image, s, t, cache, memory) }
    }

    /// Coordinates of a place on an image, on the plane of `face` if it is a cube's.
    fn on_image(&self, face: u8, [u, v, w]: [f32; 3]) -> [f32; 2] {
        match self.kind {
            Kind::Flat | Kind::Shadow { perspective: false } => [u, v],
            Kind::Projection | Kind::Shadow { perspective: true } => [u / w, v / w],
            Kind::Cube | Kind::ShadowCube => {
                let [x, y, z] = on_face(face, u, v, w);
                [x / z * 0.5 + 0.5, y / z * 0.5 + 0.5]
            }
        }
    }

    #[inline(always)]
    fn coordinates(&self, batch: &Batch) -> Coordinates {
        let lanes = batch.lanes();
        let mut place = Coordinates {
            u: batch.attributes[self.coordinates],
            v: batch.attributes[self.coordinates + 1],
            depth: [0.0; LANES],
            face: [0; LANES],
        };
        let w = &batch.attributes[semantic::TEX0_W];
        match self.kind {
            Kind::Flat => {}
            Kind::Projection => divide(&mut place, w, lanes),
            Kind::Shadow { perspective } => {
                if perspective {
                    divide(&mut place, w, lanes);
                }
                for lane in 0..lanes {
                    place.depth[lane] = w[lane].abs();
                }
            }
            Kind::Cube | Kind::ShadowCube => {
                for lane in 0..lanes {
                    let (face, [x, y, z]) = cube_face(place.u[lane], place.v[lane], w[lane]);
                    place.face[lane] = face;
                    place.u[lane] = x / z * 0.5 + 0.5;
                    place.v[lane] = y / z * 0.5 + 0.5;
                    place.depth[lane] = z.abs();
                }
            }
        }
        place
    }

    /// The density of a shadow map's texel, if it is not in front of `depth`.
    #[inline(always)]
    fn compare(&self, texel: u32, depth: f32) -> u32 {
        let depth = truncate(depth.min(1.0) * 16_777_215.0) - self.shadow_bias;
        let [r, g, b, a] = texel.to_le_bytes();
        let reference = u32::from_be_bytes([0, a, b, g]) as i32;
        let density = if reference >= depth { r } else { 0 };
        u32::from_le_bytes([density; 4])
    }
}

#[inline(always)]
fn divide(place: &mut Coordinates, w: &Floats, lanes: usize) {
    for lane in 0..lanes {
        place.u[lane] /= w[lane];
        place.v[lane] /= w[lane];
    }
}

/// The face a direction points to, and its coordinates x, y, z there.
#[inline(always)]
fn cube_face(u: f32, v: f32, w: f32) -> (u8, [f32; 3]) {
    let [x, y, z] = [u, v, w].map(f32::abs);
    let face = if x > y && x > z {
        if u > 0.0 { 0 } else { 1 }
    } else if y > z {
        if v > 0.0 { 2 } else { 3 }
    } else if w > 0.0 {
        4
    } else {
        5
    };
    (face, on_face(face, u, v, w))
}

/// Coordinates x, y, z on a face.
#[inline(always)]
fn on_face(face: u8, u: f32, v: f32, w: f32) -> [f32; 3] {
    match face {
        0 => [-w, -v, u],
        1 => [-w, v, u],
        2 => [u, w, v],
        3 => [-u, w, v],
        4 => [u, -v, w],
        _ => [u, v, w],
    }
}

fn channels(texel: u32) -> [u32; 4] {
    texel.to_le_bytes().map(u32::from)
}

/// The mean of the four texels around a place, by nearness.
fn bilinear([u, v]: [f32; 2], texture: &Texture, texel: &mut impl FnMut(i32, i32) -> u32) -> u32 {
    let ((s, s_part), (t, t_part)) = (between(u, texture.width), between(v, texture.height));
    let mut row = |t| mix(channels(texel(s, t)), channels(texel(s + 1, t)), s_part);
    round(mix(row(t), row(t + 1), t_part), 2 * WEIGHT_BITS)
}

#[inline(always)]
fn texel_at(
    texture: &Texture,
    image: u32,
    s: i32,
    t: i32,
    cache: &mut TileCache,
    memory: &dyn Memory,
) -> u32 {
    // The first row in memory is the top one.
    let (s, t) = (s as u32, texture.height - 1 - t as u32);
    let tile = (t >> 3) * texture.tiles_per_row() + (s >> 3);
    cache.tile(memory, texture, image, tile)[((t & 7) * 8 + (s & 7)) as usize]
}

/// Texels to planes of channels.
#[inline(always)]
fn unpack(texels: &[u32], planes: &mut [Plane]) {
    for (channel, plane) in planes.iter_mut().enumerate() {
        for (to, from) in plane.iter_mut().zip(texels) {
            *to = (from >> (8 * channel)) as u16 & 0xff;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(number: u32, size: u32, coordinate: i32) -> Option<i32> {
        let (mut c, mut border) = ([coordinate], [false]);
        Wrap::from_number(number).run(&mut c, &mut border, size);
        assert!((0..size as i32).contains(&c[0]));
        (!border[0]).then_some(c[0])
    }

    #[test]
    fn wrap_modes() {
        let row = |number, size| [-9, -1, 0, 7, 8, 17].map(|c| wrapped(number, size, c));
        assert_eq!(row(0, 8), [0, 0, 0, 7, 7, 7].map(Some));
        assert_eq!(row(1, 8), [None, None, Some(0), Some(7), None, None]);
        assert_eq!(row(2, 8), [7, 7, 0, 7, 0, 1].map(Some));
        assert_eq!(row(3, 8), [7, 0, 0, 7, 7, 1].map(Some));
        assert_eq!(row(4, 8), [7, 7, 0, 7, 7, 7].map(Some));
        assert_eq!(row(5, 8), [Some(7), Some(7), Some(0), Some(7), None, None]);
        assert_eq!(row(6, 8), row(2, 8));
        // Sizes that are no powers of two repeat from 2^32.
        assert_eq!(wrapped(2, 3, -1), Some(0));
        for number in 0..8 {
            for c in [i32::MIN, i32::MAX, 12345] {
                for size in [1, 3, 1024, 2047] {
                    wrapped(number, size, c);
                }
            }
        }
    }

    #[test]
    fn cube_faces() {
        let faces = [
            ([2.0, 1.0, 0.5], 0, [-0.5, -1.0, 2.0]),
            ([-2.0, 1.0, 0.5], 1, [-0.5, 1.0, -2.0]),
            ([1.0, 2.0, 0.5], 2, [1.0, 0.5, 2.0]),
            ([1.0, -2.0, 0.5], 3, [-1.0, 0.5, -2.0]),
            ([1.0, 0.5, 2.0], 4, [1.0, -0.5, 2.0]),
            ([1.0, 0.5, -2.0], 5, [1.0, 0.5, -2.0]),
            ([1.0, 1.0, 1.0], 4, [1.0, -1.0, 1.0]),
        ];
        for ([u, v, w], face, coordinates) in faces {
            assert_eq!(cube_face(u, v, w), (face, coordinates));
        }
    }

    #[test]
    fn shadow_comparison() {
        let mut regs = Registers::default();
        regs.set(regs::TEXTURE_UNITS, 1);
        regs.set(regs::TEXTURE0 + SIZE, 8 << 16 | 8);
        regs.set(regs::TEXTURE0 + PARAMETERS, 2 << 28);
        regs.set(regs::TEXTURE0 + ADDRESS, 1);
        regs.set(regs::TEXTURE0_SHADOW, 0x10 << 1);
        let Unit::Image(image) = Unit::decode(&regs, 0, Chip::default()) else { panic!("no image") };
        let texel =
            |reference: u32| 0x77 | reference << 8 & 0xff00 | reference << 8 & 0xff_0000 | reference << 8;
        assert_eq!(image.compare(texel(0xff_ffdf), 2.0), 0x7777_7777);
        assert_eq!(image.compare(texel(0xff_ffde), 2.0), 0);
        assert_eq!(image.compare(0x77, 0.0), 0x7777_7777);
    }
}
