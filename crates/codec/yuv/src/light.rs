//! What comes behind a conversion: from R′G′B′ to light, and from some primaries to others. These are passes of their own over the
//! texels that [`crate::convert`] and [`crate::sample`](crate::sample()) make; alpha stays as it is.
//!
//! ```
//! use xenoglot_yuv::light::{Primaries, Transfer};
//!
//! // White of 100 cd/m² in PQ, made light and then brought from BT.2020 to BT.709.
//! let mut texels = [[0.508_078, 0.508_078, 0.508_078, 1.0]];
//! Transfer::Pq.decode(&mut texels);
//! Primaries::Bt2020.convert(Primaries::Bt709, &mut texels);
//! assert!((texels[0][0] * 10_000.0 - 100.0).abs() < 0.01);
//! ```

use rayon::prelude::*;

/// How light is coded.
///
/// Numbers beyond 0..=1, which the narrow range and wide gamuts have: [`Transfer::Bt709`], [`Transfer::Bt1886`] and
/// [`Transfer::Srgb`] go on above 1 and are mirrored below 0; [`Transfer::Pq`] is clamped; [`Transfer::Hlg`] goes on above 1 and is
/// 0 below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// The inverse of the camera's function of BT.709, item 1.2, which BT.601 and BT.2020 have, too: light of the scene, 1 is its
    /// white. The constants are those for which both parts meet (BT.2020, table 4).
    Bt709,
    /// Displays of BT.1886, annex 1, with a black of no light: a power of 2.4. Light of the display, 1 is its white.
    Bt1886,
    /// IEC 61966-2-1. Light of the display, 1 is its white.
    Srgb,
    /// SMPTE ST 2084, PQ of BT.2100, table 4: light of the display, 1 is 10,000 cd/m².
    Pq,
    /// HLG of BT.2100, table 5, the inverse OETF: light of the scene, 1 is its peak.
    ///
    /// What a display shows of it is by the OOTF, which is left out as it depends on the display: each component times
    /// `L · Y^(γ - 1)`, where `Y` is 0.2627 R + 0.6780 G + 0.0593 B, `L` is the display's peak in cd/m², and γ is 1.2 for a peak of 1,000 and
    /// 1.2 + 0.42 log₁₀(`L` / 1,000) for others.
    Hlg,
}

/// Texels that a thread takes at once.
const TEXELS: usize = 1024;

/// BT.2020, table 4: where the function begins to be a power, and what makes both parts meet.
const ALPHA_709: f64 = 1.099_296_826_809_44;
const BETA_709: f64 = 0.018_053_968_510_807;

/// SMPTE ST 2084, which has them as fractions.
mod pq {
    pub const M1: f64 = 2610.0 / 16384.0;
    pub const M2: f64 = 2523.0 / 4096.0 * 128.0;
    pub const C1: f64 = 3424.0 / 4096.0;
    pub const C2: f64 = 2413.0 / 4096.0 * 32.0;
    pub const C3: f64 = 2392.0 / 4096.0 * 32.0;
}

/// BT.2100, table 5: `b` is 1 - 4a, `c` is 1/2 - a ln(4a).
mod hlg {
    pub const A: f64 = 0.178_832_77;
    pub const B: f64 = 1.0 - 4.0 * A;
    pub const C: f64 = 0.559_910_729_529_562;
}

impl Transfer {
    /// Light of a coded number.
    pub fn light(self, coded: f64) -> f64 {
        let size = coded.abs();
        match self {
            Transfer::Bt709 if size < 4.5 * BETA_709 => coded / 4.5,
            Transfer::Bt709 => ((size + ALPHA_709 - 1.0) / ALPHA_709).powf(1.0 / 0.45).copysign(coded),
            Transfer::Bt1886 => size.powf(2.4).copysign(coded),
            Transfer::Srgb if size <= 0.04045 => coded / 12.92,
            Transfer::Srgb => ((size + 0.055) / 1.055).powf(2.4).copysign(coded),
            Transfer::Pq => {
                let power = coded.clamp(0.0, 1.0).powf(1.0 / pq::M2);
                ((power - pq::C1).max(0.0) / (pq::C2 - pq::C3 * power)).powf(1.0 / pq::M1)
            }
            Transfer::Hlg if coded <= 0.5 => coded.max(0.0).powi(2) / 3.0,
            Transfer::Hlg => (((coded - hlg::C) / hlg::A).exp() + hlg::B) / 12.0,
        }
    }

    /// The number that codes light: the inverse of [`Transfer::light`].
    pub fn coded(self, light: f64) -> f64 {
        let size = light.abs();
        match self {
            Transfer::Bt709 if size < BETA_709 => light * 4.5,
            Transfer::Bt709 => (ALPHA_709 * size.powf(0.45) - (ALPHA_709 - 1.0)).copysign(light),
            Transfer::Bt1886 => size.powf(1.0 / 2.4).copysign(light),
            Transfer::Srgb if size <= 0.04045 / 12.92 => light * 12.92,
            Transfer::Srgb => (1.055 * size.powf(1.0 / 2.4) - 0.055).copysign(light),
            Transfer::Pq => {
                let power = light.clamp(0.0, 1.0).powf(pq::M1);
                ((pq::C1 + pq::C2 * power) / (1.0 + pq::C3 * power)).powf(pq::M2)
            }
            Transfer::Hlg if light <= 1.0 / 12.0 => (3.0 * light.max(0.0)).sqrt(),
            Transfer::Hlg => hlg::A * (12.0 * light - hlg::B).ln() + hlg::C,
        }
    }

    /// Makes light of red, green and blue. It is computed in doubles.
    pub fn decode(self, texels: &mut [[f32; 4]]) {
        each(texels, |rgb| rgb.map(|c| self.light(c)));
    }

    /// Codes light: the inverse of [`Transfer::decode`].
    pub fn encode(self, texels: &mut [[f32; 4]]) {
        each(texels, |rgb| rgb.map(|c| self.coded(c)));
    }
}

/// What light red, green, blue and white are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primaries {
    /// BT.709 and sRGB.
    Bt709,
    /// BT.2020 and BT.2100.
    Bt2020,
    /// P3 with the white D65: SMPTE EG 432-1, Display P3.
    P3D65,
    /// BT.601 of 525 lines: SMPTE 170M, and 240M.
    Bt601Lines525,
    /// BT.601 of 625 lines: BT.470 B and G.
    Bt601Lines625,
}

/// Rows of a matrix.
pub type Matrix = [[f64; 3]; 3];

impl Primaries {
    /// Chromaticities x and y of red, green, blue and white, which is D65 for all.
    pub const fn chromaticities(self) -> [[f64; 2]; 4] {
        const D65: [f64; 2] = [0.3127, 0.3290];
        match self {
            Primaries::Bt709 => [[0.640, 0.330], [0.300, 0.600], [0.150, 0.060], D65],
            Primaries::Bt2020 => [[0.708, 0.292], [0.170, 0.797], [0.131, 0.046], D65],
            Primaries::P3D65 => [[0.680, 0.320], [0.265, 0.690], [0.150, 0.060], D65],
            Primaries::Bt601Lines525 => [[0.630, 0.340], [0.310, 0.595], [0.155, 0.070], D65],
            Primaries::Bt601Lines625 => [[0.640, 0.330], [0.290, 0.600], [0.150, 0.060], D65],
        }
    }

    /// What makes XYZ of CIE 1931 of light; 1, 1, 1 has Y of 1.
    pub fn to_xyz(self) -> Matrix {
        let [columns @ .., white] = self.chromaticities().map(|[x, y]| [x / y, 1.0, (1.0 - x - y) / y]);
        // Columns are XYZ of the primaries for a Y of 1; they are scaled so that their sum is white.
        let matrix = transposed(columns);
        let scale = apply(&inverse(&matrix), white);
        matrix.map(|row| [row[0] * scale[0], row[1] * scale[1], row[2] * scale[2]])
    }

    /// What makes light of other primaries of light of these. They have the same white, which stays as it is.
    pub fn matrix_to(self, other: Primaries) -> Matrix {
        if self == other {
            return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        }
        let (from, to) = (self.to_xyz(), inverse(&other.to_xyz()));
        transposed(transposed(from).map(|column| apply(&to, column)))
    }

    /// Brings light from these primaries to others. Colours outside of their gamut have components below 0.
    pub fn convert(self, other: Primaries, texels: &mut [[f32; 4]]) {
        let matrix = self.matrix_to(other);
        each(texels, |rgb| apply(&matrix, rgb));
    }
}

/// Makes R′G′B′ of BT.2020, coded by [`Transfer::Bt709`], of its luma and chroma of constant luminance, as
/// [`crate::Model::YcbcrIdentity`] gives them: Cr in red, luma in green, Cb in blue. Source: BT.2020, table 4.
pub fn constant_luminance(texels: &mut [[f32; 4]]) {
    each(texels, |[cr, luma, cb]| {
        // The farthest that blue and red may lie below and above luma, twice.
        let blue = luma + cb * if cb <= 0.0 { 1.9404 } else { 1.5820 };
        let red = luma + cr * if cr <= 0.0 { 1.7182 } else { 0.9938 };
        let [of_red, of_all, of_blue] = [red, luma, blue].map(|c| Transfer::Bt709.light(c));
        let green = Transfer::Bt709.coded((of_all - 0.2627 * of_red - 0.0593 * of_blue) / 0.6780);
        [red, green, blue]
    });
}

/// Changes red, green and blue of all texels.
fn each(texels: &mut [[f32; 4]], change: impl Fn([f64; 3]) -> [f64; 3] + Sync) {
    texels.par_iter_mut().with_min_len(TEXELS).for_each(|texel| {
        let [r, g, b, _] = *texel;
        let rgb = change([r, g, b].map(f64::from));
        texel.iter_mut().zip(rgb).for_each(|(to, c)| *to = c as f32);
    });
}

fn apply(matrix: &Matrix, by: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * by[0] + row[1] * by[1] + row[2] * by[2])
}

fn transposed(m: Matrix) -> Matrix {
    [0, 1, 2].map(|column| [m[0][column], m[1][column], m[2][column]])
}

/// By cofactors. Matrices of primaries have a determinant that is far from 0.
fn inverse(m: &Matrix) -> Matrix {
    let cofactor = |row: usize, column: usize| {
        let ([r0, r1], [c0, c1]) = ([(row + 1) % 3, (row + 2) % 3], [(column + 1) % 3, (column + 2) % 3]);
        m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0]
    };
    let determinant: f64 = (0..3).map(|column| m[0][column] * cofactor(0, column)).sum();
    [0, 1, 2].map(|row| [0, 1, 2].map(|column| cofactor(column, row) / determinant))
}
