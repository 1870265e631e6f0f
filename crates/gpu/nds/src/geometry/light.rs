//! Lighting: integers, cut early.

use super::matrix::Matrix;
use crate::state::stated;

/// A vector of 10 signed bits with 9 of fraction in each third of a parameter.
#[inline]
pub fn vector10(param: u32) -> [i32; 3] {
    [0, 10, 20].map(|shift| sign_extend((param >> shift) as i32, 10))
}

/// The low `bits` of `value` as a signed number.
#[inline]
pub fn sign_extend(value: i32, bits: u32) -> i32 {
    value << (32 - bits) >> (32 - bits)
}

/// Channels of a colour RGB555.
#[inline]
fn channels(rgb555: u32) -> [i32; 3] {
    [0, 5, 10].map(|shift| (rgb555 >> shift & 31) as i32)
}

/// Red, green and blue of 5 bits of a colour RGB555.
#[inline]
pub fn color5(rgb555: u32) -> [u8; 3] {
    channels(rgb555).map(|c| c as u8)
}

/// A light as LIGHT_VECTOR and LIGHT_COLOR leave it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Light {
    /// Away from the light, in view space: 11 bits.
    pub(super) direction: [i32; 3],
    /// 2^18 / (1 + z): replaces the normalisation of the half-way vector.
    reciprocal: i32,
    pub(super) color: [i32; 3],
}

/// Lights and material.
#[derive(Clone, Debug)]
pub struct Lighting {
    pub(super) lights: [Light; 4],
    pub(super) diffuse: [i32; 3],
    pub(super) ambient: [i32; 3],
    pub(super) specular: [i32; 3],
    pub(super) emission: [i32; 3],
    /// SPE_EMI bit 15.
    pub(super) uses_table: bool,
    pub(super) shininess: [u8; 128],
}

impl Default for Lighting {
    fn default() -> Lighting {
        let black = [0; 3];
        Lighting {
            lights: [Light::default(); 4],
            diffuse: black,
            ambient: black,
            specular: black,
            emission: black,
            uses_table: false,
            shininess: [0; 128],
        }
    }
}

/// Fraction bits of the sums of a vertex's colour.
const COLOR_FRACTION: u32 = 14;

impl Lighting {
    /// DIF_AMB; the vertex colour it sets, if it does.
    pub fn set_diffuse_ambient(&mut self, param: u32) -> Option<[u8; 3]> {
        self.diffuse = channels(param);
        self.ambient = channels(param >> 16);
        (param & 1 << 15 != 0).then(|| color5(param))
    }

    /// SPE_EMI.
    pub fn set_specular_emission(&mut self, param: u32) {
        self.specular = channels(param);
        self.emission = channels(param >> 16);
        self.uses_table = param & 1 << 15 != 0;
    }

    /// LIGHT_VECTOR: the vector is transformed now, not when it is used.
    pub fn set_vector(&mut self, param: u32, vector_matrix: &Matrix) {
        let view = vector_matrix.rotate(vector10(param));
        let light = &mut self.lights[(param >> 30) as usize];
        // Cut, negated, and only then brought to 11 bits; for the reciprocal the other way round.
        light.direction = view.map(|v| sign_extend(((v >> 12) as i32).wrapping_neg(), 11));
        let z = (view[2] as i32) << 9 >> 21;
        let denominator = (1 << 9) - z;
        light.reciprocal = if denominator == 0 { 0 } else { (1 << 18) / denominator };
    }

    /// LIGHT_COLOR.
    pub fn set_color(&mut self, param: u32) {
        self.lights[(param >> 30) as usize].color = channels(param);
    }

    /// SHININESS.
    pub fn set_shininess(&mut self, params: &[u32; 32]) {
        for (entries, word) in self.shininess.as_chunks_mut::<4>().0.iter_mut().zip(params) {
            *entries = word.to_le_bytes();
        }
    }

    /// Colour of a vertex: a normal as NORMAL brings it, lights by bits.
    pub fn shade(&self, normal: [i32; 3], vector_matrix: &Matrix, enabled: u32) -> [u8; 3] {
        let normal = vector_matrix.rotate(normal).map(|v| (v as i32) << 9 >> 21);
        let mut sums = self.emission.map(|e| (e as u32) << COLOR_FRACTION);
        for (_, light) in self.lights.iter().enumerate().filter(|(i, _)| enabled >> i & 1 != 0) {
            self.add_light(&mut sums, light, normal);
        }
        sums.map(|sum| (sum >> COLOR_FRACTION).min(31) as u8)
    }

    fn add_light(&self, sums: &mut [u32; 3], light: &Light, normal: [i32; 3]) {
        let dot: i32 = light.direction.iter().zip(normal).map(|(l, n)| (l * n) >> 9).sum();
        let mut shine = 0;
        if dot > 0 {
            let diffuse = sign_extend(dot, 11);
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_add((self.diffuse[i] * light.color[i] * diffuse) as u32 & 0xf_ffff);
            }
            let half = sign_extend(dot + normal[2], 11);
            let square = ((half * half) >> 10) & 0x3ff;
            shine = ((square * light.reciprocal) >> 8) - (1 << 9);
            shine = if shine < 0 { 0 } else { sign_extend(shine, 14).clamp(0, 0x1ff) };
        }
        if self.uses_table {
            shine = i32::from(self.shininess[(shine >> 2) as usize & 127]) << 1;
        }
        for (i, sum) in sums.iter_mut().enumerate() {
            let light = (self.specular[i] * shine + (self.ambient[i] << 9)) * light.color[i];
            *sum = sum.wrapping_add(light as u32);
        }
    }
}

stated!(Light { direction, reciprocal, color });
stated!(Lighting { lights, diffuse, ambient, specular, emission, uses_table, shininess });

#[cfg(test)]
mod tests {
    use super::*;

    /// Towards the light along z, and a normal that meets it.
    const AWAY: u32 = (0x200) << 20;
    const NORMAL: [i32; 3] = [0, 0, 0x1ff];

    fn white(param: u32) -> Lighting {
        let mut lighting = Lighting::default();
        lighting.set_vector(param, &Matrix::IDENTITY);
        lighting.set_color(0x7fff);
        lighting
    }

    #[test]
    fn sums_saturate_at_31() {
        let mut lighting = white(AWAY);
        lighting.set_diffuse_ambient(0x7fff_7fff);
        assert_eq!(lighting.shade(NORMAL, &Matrix::IDENTITY, 1), [31; 3]);
        assert_eq!(lighting.shade(NORMAL, &Matrix::IDENTITY, 0), [0; 3]);
    }

    #[test]
    fn table_counts_for_a_light_behind() {
        let mut lighting = white(0x1ff << 20);
        lighting.set_specular_emission(0x7fff);
        assert_eq!(lighting.shade(NORMAL, &Matrix::IDENTITY, 1), [0; 3]);
        lighting.set_specular_emission(0xffff);
        lighting.set_shininess(&[0xff; 32]);
        assert!(lighting.shade(NORMAL, &Matrix::IDENTITY, 1)[0] > 28);
    }

    /// 55 * 57 twice and 55 * 55 are 18 of 512 together, but 17 one by one: what 31 * 31 * 18 has of a step is lost.
    #[test]
    fn products_lose_nine_bits_each() {
        let against = (-55i32 & 0x3ff) as u32;
        let mut lighting = white(against | against << 10 | against << 20);
        lighting.set_diffuse_ambient(0x7fff);
        assert_eq!(lighting.shade([57, 57, 55], &Matrix::IDENTITY, 1), [0; 3]);
        assert_eq!(lighting.shade([57, 57, 57], &Matrix::IDENTITY, 1), [1; 3]);
    }

    #[test]
    fn diffuse_bit_15_sets_the_color() {
        let mut lighting = Lighting::default();
        assert_eq!(lighting.set_diffuse_ambient(0x0421), None);
        assert_eq!(lighting.set_diffuse_ambient(0x8421), Some([1; 3]));
    }
}
