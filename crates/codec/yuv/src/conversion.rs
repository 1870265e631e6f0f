//! What a conversion is made of, named as in Vulkan.

use crate::frame::{Format, Layout};

/// How RGB comes of what was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// Samples are RGB: green in the luma plane, blue in the Cb plane, red in the Cr plane.
    RgbIdentity,
    /// Y′CbCr as it is: G is Y′, B is Cb, R is Cr, chroma around 0.
    YcbcrIdentity,
    /// BT.709.
    Bt709,
    /// BT.601.
    Bt601,
    /// BT.2020, non-constant luminance.
    Bt2020,
}

/// Which codes mean 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// All codes.
    Full,
    /// 16 to 235 for luma, 16 to 240 for chroma, of 8 bits.
    Narrow,
}

/// Where chroma samples lie along an axis with fewer of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Siting {
    /// At the even luma samples.
    CositedEven,
    /// Half way between luma samples.
    Midpoint,
}

/// How chroma between samples is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest sample's.
    Nearest,
    /// Between the two nearest along each axis.
    Linear,
}

/// Which of Vulkan's two definitions is followed; they differ for the nearest of co-sited samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reconstruction {
    /// Chroma is first brought to luma's resolution; the nearest is `⌊x / 2⌋`.
    Explicit,
    /// Chroma is sampled where the texel lies; the nearest of co-sited samples is `⌊(x + 1) / 2⌋`.
    Implicit,
}

/// What a component of the image is taken from, before range and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// Code 0.
    Zero,
    /// The highest code.
    One,
    /// Red: Cr.
    Red,
    /// Green: luma.
    Green,
    /// Blue: Cb.
    Blue,
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The model.
    pub model: Model,
    /// The range.
    pub range: Range,
    /// Siting along x and y; of no matter along an axis with all chroma samples.
    pub siting: [Siting; 2],
    /// The filter for chroma.
    pub filter: Filter,
    /// The definition followed.
    pub reconstruction: Reconstruction,
    /// What red, green and blue are taken from.
    pub components: [Component; 3],
}

impl Default for Conversion {
    /// BT.709, narrow, chroma as in MPEG-2 and later: between rows, at even columns; linear.
    fn default() -> Conversion {
        Conversion {
            model: Model::Bt709,
            range: Range::Narrow,
            siting: [Siting::CositedEven, Siting::Midpoint],
            filter: Filter::Linear,
            reconstruction: Reconstruction::Explicit,
            components: Conversion::IDENTITY,
        }
    }
}

/// A conversion with all that does not change from texel to texel worked out: RGB is `matrix` times the codes of red,
/// green and blue, plus `offset`.
pub(crate) struct Affine {
    pub matrix: [[f32; 3]; 3],
    pub offset: [f32; 3],
}

impl Conversion {
    /// Every component from itself.
    pub const IDENTITY: [Component; 3] = [Component::Red, Component::Green, Component::Blue];

    /// For codes of a format; where it has no chroma, that has no part.
    pub(crate) fn affine(&self, format: Format) -> Affine {
        let bits = format.bits;
        let top = f64::from((1u32 << bits) - 1);
        let unit = f64::from(1u32 << (bits - 8));
        // Scale and code of zero of luma and chroma.
        let (luma, chroma) = match (self.model, self.range) {
            (Model::RgbIdentity, _) => ([1.0 / top, 0.0], [1.0 / top, 0.0]),
            (_, Range::Full) => ([1.0 / top, 0.0], [1.0 / top, 128.0 * unit]),
            (_, Range::Narrow) => ([1.0 / (219.0 * unit), 16.0 * unit], [1.0 / (224.0 * unit), 128.0 * unit]),
        };
        let weights = match self.model {
            Model::RgbIdentity | Model::YcbcrIdentity => None,
            Model::Bt709 => Some((0.2126, 0.0722)),
            Model::Bt601 => Some((0.299, 0.114)),
            Model::Bt2020 => Some((0.2627, 0.0593)),
        };
        // RGB of Cr, Y′, Cb.
        let model = match weights {
            None => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Some((kr, kb)) => {
                let (r, b, kg) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb), 1.0 - kr - kb);
                [[r, 1.0, 0.0], [-r * kr / kg, 1.0, -b * kb / kg], [0.0, 1.0, b]]
            }
        };
        let ranges = [chroma, luma, chroma];
        let mut affine = Affine { matrix: [[0.0; 3]; 3], offset: [0.0; 3] };
        for (row, model) in model.iter().enumerate() {
            let mut offset = 0.0;
            for ((&factor, [scale, zero]), &component) in model.iter().zip(ranges).zip(&self.components) {
                let is_chroma = matches!(component, Component::Red | Component::Blue);
                if is_chroma && format.layout == Layout::Mono && self.model != Model::RgbIdentity {
                    continue;
                }
                let scaled = factor * scale;
                offset -= scaled * zero;
                match component {
                    Component::Zero => {}
                    Component::One => offset += scaled * top,
                    Component::Red => affine.matrix[row][0] += scaled as f32,
                    Component::Green => affine.matrix[row][1] += scaled as f32,
                    Component::Blue => affine.matrix[row][2] += scaled as f32,
                }
            }
            affine.offset[row] = offset as f32;
        }
        affine
    }
}
