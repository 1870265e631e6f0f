//! Lights to the primary (diffuse) and secondary (specular) colour of pixels.

use super::config::{Bump, BumpKind, Input, Light, Lighting, Lookup, Shadow};
use super::lut::{LutCache, look_up, look_up_unit};
use crate::raster::batch::{Batch, Floats, LANES, Plane, Vectors, byte, semantic};
use crate::raster::combiner::Source;

/// Values on the way.
#[derive(Clone, Debug)]
pub struct Scratch {
    normal: Vectors,
    tangent: Vectors,
    view: Vectors,
    /// Direction of the light.
    light: Vectors,
    /// Half vector, normalised.
    half: Vectors,
    /// Square of the half vector's length before that.
    half_square: Floats,
    /// Cosine between light and normal, as far as it lights the surface.
    facing: Floats,
    /// Distance attenuation.
    distance: Floats,
    spot: Floats,
    /// Shadow's colour and alpha.
    shadow: [Floats; 4],
    distribution: [Floats; 2],
    reflection: Vectors,
    geometric: Floats,
    /// Sums over the lights.
    diffuse: Vectors,
    specular: Vectors,
    fresnel: Floats,
}

const ZERO: Floats = [0.0; LANES];
const ONE: Floats = [1.0; LANES];

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            normal: [ZERO; 3],
            tangent: [ZERO; 3],
            view: [ZERO; 3],
            light: [ZERO; 3],
            half: [ZERO; 3],
            half_square: ZERO,
            facing: ZERO,
            distance: ZERO,
            spot: ZERO,
            shadow: [ZERO; 4],
            distribution: [ZERO; 2],
            reflection: [ZERO; 3],
            geometric: ZERO,
            diffuse: [ZERO; 3],
            specular: [ZERO; 3],
            fresnel: ZERO,
        }
    }
}

impl Lighting {
    /// Lights the batch, which needs quaternion and view and the colours of [`Lighting::sources`].
    #[inline(always)]
    pub fn run(&self, batch: &mut Batch, scratch: &mut Scratch, luts: &LutCache) {
        let lanes = batch.lanes();
        scratch.surface(batch, self.bump);
        scratch.normalise_view(batch);
        if let Some(shadow) = &self.shadow {
            scratch.sample_shadow(batch, shadow);
        }
        scratch.diffuse = [ZERO; 3];
        scratch.specular = [ZERO; 3];
        for light in &self.lights {
            scratch.aim(batch, light, luts);
            let shadow = self.shadow.filter(|_| light.shadow);
            scratch.add_diffuse(lanes, light, shadow.is_some_and(|shadow| shadow.primary));
            for (number, lookup) in self.distribution.iter().enumerate() {
                let mut values = ONE;
                scratch.look_up(lookup.as_ref(), light, luts, &mut values, lanes);
                scratch.distribution[number] = values;
            }
            scratch.reflect(&self.reflection, light, luts, lanes);
            let shadowed = shadow.is_some_and(|shadow| shadow.secondary);
            scratch.add_specular(lanes, light, self.clamp_highlights, shadowed);
        }
        // Fresnel counts for the last light only, whose vectors are still there.
        let mut fresnel = ONE;
        if let Some(light) = self.lights.last() {
            scratch.look_up(self.fresnel.as_ref(), light, luts, &mut fresnel, lanes);
        }
        scratch.fresnel = fresnel;
        for (diffuse, ambient) in scratch.diffuse.iter_mut().zip(self.ambient) {
            for value in &mut diffuse[..lanes] {
                *value += ambient;
            }
        }
        scratch.store(self, batch);
    }
}

impl Scratch {
    /// Normal and tangent.
    #[inline(always)]
    fn surface(&mut self, batch: &Batch, bump: Option<Bump>) {
        let lanes = batch.lanes();
        let Some(bump) = bump else {
            self.rotate(batch, lanes, |_| [0.0, 0.0, 1.0], |_| [1.0, 0.0, 0.0]);
            return;
        };
        let [r, g, b] = [0, 1, 2].map(|channel| &batch.planes[bump.source.plane() + channel]);
        let map = |lane: usize| [r, g, b].map(|plane: &Plane| f32::from(plane[lane]) / 127.5 - 1.0);
        match bump.kind {
            BumpKind::Normal { renormalise: false } => self.rotate(batch, lanes, map, |_| [1.0, 0.0, 0.0]),
            BumpKind::Normal { renormalise: true } => {
                let upright = |lane| {
                    let [x, y, _] = map(lane);
                    [x, y, (1.0 - (x * x + y * y)).max(0.0).sqrt()]
                };
                self.rotate(batch, lanes, upright, |_| [1.0, 0.0, 0.0]);
            }
            BumpKind::Tangent => self.rotate(batch, lanes, |_| [0.0, 0.0, 1.0], map),
        }
    }

    #[inline(always)]
    fn rotate(
        &mut self,
        batch: &Batch,
        lanes: usize,
        normal: impl Fn(usize) -> [f32; 3],
        tangent: impl Fn(usize) -> [f32; 3],
    ) {
        let q: [&Floats; 4] = std::array::from_fn(|i| &batch.attributes[semantic::QUATERNION + i]);
        for lane in 0..lanes.min(LANES) {
            let quaternion = q.map(|plane| plane[lane]);
            let [x, y, z, w] = quaternion;
            let length = (x * x + y * y + z * z + w * w).sqrt();
            let quaternion = quaternion.map(|value| value / length);
            set(&mut self.normal, lane, rotated(quaternion, normal(lane)));
            set(&mut self.tangent, lane, rotated(quaternion, tangent(lane)));
        }
    }

    #[inline(always)]
    fn normalise_view(&mut self, batch: &Batch) {
        let view: [&Floats; 3] = std::array::from_fn(|i| &batch.attributes[semantic::VIEW + i]);
        for lane in 0..batch.lanes() {
            let view = view.map(|plane| plane[lane]);
            let length = dot(view, view).sqrt();
            set(&mut self.view, lane, view.map(|value| value / length));
        }
    }

    #[inline(always)]
    fn sample_shadow(&mut self, batch: &Batch, shadow: &Shadow) {
        let lanes = batch.lanes();
        for (to, from) in self.shadow.iter_mut().zip(&batch.planes[shadow.source.plane()..]) {
            for (to, from) in to[..lanes].iter_mut().zip(from) {
                let value = f32::from(*from) / 255.0;
                *to = if shadow.invert { 1.0 - value } else { value };
            }
        }
    }

    /// Vectors and attenuation of `light`.
    #[inline(always)]
    fn aim(&mut self, batch: &Batch, light: &Light, luts: &LutCache) {
        let lanes = batch.lanes();
        let view: [&Floats; 3] = std::array::from_fn(|i| &batch.attributes[semantic::VIEW + i]);
        for lane in 0..lanes {
            let vector: [f32; 3] = std::array::from_fn(|i| {
                if light.directional { light.position[i] } else { light.position[i] + view[i][lane] }
            });
            let length = dot(vector, vector).sqrt();
            let direction = vector.map(|value| value / length);
            let half: [f32; 3] = std::array::from_fn(|i| self.view[i][lane] + direction[i]);
            let half_square = dot(half, half);
            let half_length = half_square.sqrt();
            let cosine = dot(direction, get(&self.normal, lane));
            set(&mut self.light, lane, direction);
            set(&mut self.half, lane, half.map(|value| value / half_length));
            self.half_square[lane] = half_square;
            self.facing[lane] = if light.two_sided { cosine.abs() } else { cosine.max(0.0) };
            self.distance[lane] = length;
        }
        match light.distance.and_then(|(table, scale, bias)| Some((luts.get(table)?, scale, bias))) {
            Some((entries, scale, bias)) => {
                for value in &mut self.distance[..lanes] {
                    *value = (scale * *value + bias).clamp(0.0, 1.0);
                }
                look_up_unit(entries, &mut self.distance, lanes);
            }
            None => self.distance = ONE,
        }
        let mut spot = ONE;
        self.look_up(light.spot.as_ref(), light, luts, &mut spot, lanes);
        self.spot = spot;
    }

    /// Replaces `values` by the entries of a table, if there is one.
    #[inline(always)]
    fn look_up(
        &self,
        lookup: Option<&Lookup>,
        light: &Light,
        luts: &LutCache,
        values: &mut Floats,
        lanes: usize,
    ) {
        let Some((lookup, entries)) = lookup.and_then(|lookup| Some((lookup, luts.get(lookup.table)?)))
        else {
            return;
        };
        match lookup.input {
            Input::NormalHalf => dots(values, &self.normal, &self.half, lanes),
            Input::ViewHalf => dots(values, &self.view, &self.half, lanes),
            Input::NormalView => dots(values, &self.normal, &self.view, lanes),
            Input::LightNormal => dots(values, &self.light, &self.normal, lanes),
            Input::Spot => {
                for lane in 0..lanes.min(LANES) {
                    values[lane] = dot(get(&self.light, lane), light.spot_direction);
                }
            }
            Input::Tangent => {
                for lane in 0..lanes.min(LANES) {
                    let (normal, half) = (get(&self.normal, lane), get(&self.half, lane));
                    let along = dot(normal, half);
                    let in_surface: [f32; 3] = std::array::from_fn(|i| half[i] - normal[i] * along);
                    values[lane] = dot(in_surface, get(&self.tangent, lane));
                }
            }
            Input::Zero => values[..lanes].fill(0.0),
        }
        look_up(entries, lookup.index(light.two_sided), lookup.scale, &mut values[..lanes]);
    }

    #[inline(always)]
    fn reflect(&mut self, reflection: &[Option<Lookup>; 3], light: &Light, luts: &LutCache, lanes: usize) {
        let mut red = ONE;
        self.look_up(reflection[0].as_ref(), light, luts, &mut red, lanes);
        for (channel, lookup) in reflection.iter().enumerate().skip(1) {
            let mut values = red;
            self.look_up(lookup.as_ref(), light, luts, &mut values, lanes);
            self.reflection[channel] = values;
        }
        self.reflection[0] = red;
    }

    #[inline(always)]
    fn add_diffuse(&mut self, lanes: usize, light: &Light, shadowed: bool) {
        for channel in 0..3 {
            let (color, ambient) = (light.diffuse[channel], light.ambient[channel]);
            let shadow = if shadowed { &self.shadow[channel] } else { &ONE };
            let sum = &mut self.diffuse[channel];
            for lane in 0..lanes.min(LANES) {
                let lit = color * self.facing[lane] * shadow[lane] + ambient;
                sum[lane] += lit * self.distance[lane] * self.spot[lane];
            }
        }
    }

    #[inline(always)]
    fn add_specular(&mut self, lanes: usize, light: &Light, clamp_highlights: bool, shadowed: bool) {
        if light.geometric != [false; 2] {
            for lane in 0..lanes.min(LANES) {
                let square = self.half_square[lane];
                self.geometric[lane] =
                    if square == 0.0 { 0.0 } else { (self.facing[lane] / square).min(1.0) };
            }
        }
        let geometric = light.geometric.map(|on| if on { &self.geometric } else { &ONE });
        for channel in 0..3 {
            let colors = light.specular.map(|color| color[channel]);
            let shadow = if shadowed { &self.shadow[channel] } else { &ONE };
            let sum = &mut self.specular[channel];
            for lane in 0..lanes.min(LANES) {
                let first = self.distribution[0][lane] * colors[0] * geometric[0][lane];
                let second = self.distribution[1][lane] * self.reflection[channel][lane] * colors[1];
                let second = second * geometric[1][lane];
                let highlight = if clamp_highlights && self.facing[lane] == 0.0 { 0.0 } else { 1.0 };
                let lit = (first + second) * highlight * self.distance[lane] * self.spot[lane];
                sum[lane] += lit * shadow[lane];
            }
        }
    }

    /// Sums to the planes of the batch.
    #[inline(always)]
    fn store(&self, lighting: &Lighting, batch: &mut Batch) {
        let lanes = batch.lanes();
        let shadow = lighting.shadow.filter(|shadow| shadow.alpha).map(|_| &self.shadow[3]);
        let outputs = [(Source::LightPrimary, &self.diffuse), (Source::LightSecondary, &self.specular)];
        for ((source, color), fresnel) in outputs.into_iter().zip(lighting.fresnel_alpha) {
            let planes = &mut batch.planes[source.plane()..][..4];
            for (plane, values) in planes.iter_mut().zip(color) {
                for (to, value) in plane[..lanes].iter_mut().zip(values) {
                    *to = byte(value.clamp(0.0, 1.0) * 255.0);
                }
            }
            let alpha = &mut planes[3][..lanes];
            if !fresnel {
                alpha.fill(255);
                continue;
            }
            let factor = shadow.unwrap_or(&ONE);
            for ((to, value), factor) in alpha.iter_mut().zip(&self.fresnel).zip(factor) {
                *to = byte((value * factor).clamp(0.0, 1.0) * 255.0);
            }
        }
    }
}

#[inline(always)]
fn dots(values: &mut Floats, a: &Vectors, b: &Vectors, lanes: usize) {
    for lane in 0..lanes.min(LANES) {
        values[lane] = dot(get(a, lane), get(b, lane));
    }
}

#[inline(always)]
fn get(vectors: &Vectors, lane: usize) -> [f32; 3] {
    [vectors[0][lane], vectors[1][lane], vectors[2][lane]]
}

#[inline(always)]
fn set(vectors: &mut Vectors, lane: usize, value: [f32; 3]) {
    for (plane, value) in vectors.iter_mut().zip(value) {
        plane[lane] = value;
    }
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `v` turned by a quaternion of length 1: v + 2 q × (q × v + w v).
#[inline(always)]
fn rotated([x, y, z, w]: [f32; 4], v: [f32; 3]) -> [f32; 3] {
    let axis = [x, y, z];
    let inner = cross(axis, v);
    let outer = cross(axis, std::array::from_fn(|i| inner[i] + v[i] * w));
    std::array::from_fn(|i| v[i] + 2.0 * outer[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regs::{self, Registers};
    use crate::tables::Tables;

    /// One light at position (0, 0, 1), white everywhere; view straight down; all tables off or 1.
    fn regs() -> Registers {
        let mut regs = Registers::default();
        let white = 255 << 20 | 255 << 10 | 255;
        regs.set(regs::LIGHT + 2, white);
        regs.set(regs::LIGHT + 5, 0x3c00);
        regs.set(regs::LIGHT + 9, 1);
        regs.set(regs::LIGHT_DISABLE, !0xff);
        regs
    }

    /// Primary and secondary colour of a pixel turned by `quaternion`.
    fn lit(regs: &Registers, tables: &Tables, quaternion: [f32; 4]) -> [[u16; 4]; 2] {
        let lighting = Lighting::decode(regs).unwrap();
        let mut luts = LutCache::default();
        lighting.tables().for_each(|table| luts.prepare(tables, table));
        let mut batch = Batch::of(1);
        for (i, value) in quaternion.into_iter().enumerate() {
            batch.attributes[semantic::QUATERNION + i].fill(value);
        }
        batch.attributes[semantic::VIEW + 2].fill(1.0);
        lighting.run(&mut batch, &mut Scratch::default(), &luts);
        [Source::LightPrimary, Source::LightSecondary]
            .map(|source| std::array::from_fn(|channel| batch.planes[source.plane() + channel][0]))
    }

    const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 2.0];
    const TURNED_AWAY: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

    #[test]
    fn diffuse_light_by_the_angle() {
        let tables = Tables::default();
        assert_eq!(lit(&regs(), &tables, UPRIGHT)[0], [255; 4]);
        assert_eq!(lit(&regs(), &tables, TURNED_AWAY)[0], [0, 0, 0, 255]);
        // 60 degrees around x.
        let half_angle = std::f32::consts::PI / 6.0;
        let [r, ..] = lit(&regs(), &tables, [half_angle.sin(), 0.0, 0.0, half_angle.cos()])[0];
        assert!((126..=128).contains(&r), "{r}");
    }

    #[test]
    fn two_sided_light() {
        let mut regs = regs();
        regs.set(regs::LIGHT + 9, 3);
        assert_eq!(lit(&regs, &Tables::default(), TURNED_AWAY)[0], [255; 4]);
    }

    #[test]
    fn ambient_light_needs_no_angle() {
        let mut regs = regs();
        regs.set(regs::LIGHT + 3, 51 << 20);
        regs.set(regs::LIGHT_AMBIENT, 102 << 10);
        assert_eq!(lit(&regs, &Tables::default(), TURNED_AWAY)[0], [51, 102, 0, 255]);
    }

    #[test]
    fn highlights_through_a_table() {
        let mut regs = regs();
        let mut tables = Tables::default();
        // D0 of N.H in the last entry: 2048/4095, then twice that for scale 1; its difference is 0.
        tables.lighting[0][255] = 1024;
        regs.set(regs::LIGHT_DISABLE, regs.get(regs::LIGHT_DISABLE) & !(1 << 16));
        regs.set(regs::LIGHT_LUT_SCALE, 1);
        regs.set(regs::LIGHT, 255 << 20);
        let expected = (2048.0_f32 / 4095.0 * 255.0) as u16;
        assert_eq!(lit(&regs, &tables, UPRIGHT)[1], [expected, 0, 0, 255]);
        regs.set(regs::LIGHT_CONFIG, 1 << 27);
        assert_eq!(lit(&regs, &tables, TURNED_AWAY)[1], [0, 0, 0, 255]);
    }

    #[test]
    fn fresnel_replaces_alpha() {
        let mut regs = regs();
        let mut tables = Tables::default();
        tables.lighting[3] = [2048; 256];
        regs.set(regs::LIGHT_CONFIG, 1 << 4 | 1 << 3);
        regs.set(regs::LIGHT_DISABLE, regs.get(regs::LIGHT_DISABLE) & !(1 << 19));
        let [primary, secondary] = lit(&regs, &tables, UPRIGHT);
        assert_eq!((primary[3], secondary[3]), (255, 127));
    }
}
