//! What a conversion is made of, named as in Vulkan.

use crate::format::{Format, Layout};

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
    /// BT.2020, non-constant luminance. Constant luminance is [`crate::light::constant_luminance`].
    Bt2020,
    /// SMPTE 240M.
    Smpte240M,
    /// FCC, of 1953: 47 CFR 73.682.
    Fcc,
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
    /// At the first of the luma samples that have it: the even ones, where it is two.
    CositedEven,
    /// In the middle of the luma samples that have it.
    Midpoint,
}

/// How chroma between samples is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest sample's.
    Nearest,
    /// Between the two nearest along each axis.
    Linear,
    /// Catmull-Rom, of the four nearest along each axis, as VK_EXT_filter_cubic defines it: for a place `t` of the way from the second
    /// to the third the weights are (-t + 2t² - t³) / 2, (2 - 5t² + 3t³) / 2, (t + 4t² - 3t³) / 2 and (-t² + t³) / 2. Results may lie
    /// beyond the samples.
    Cubic,
}

/// Which of Vulkan's two definitions is followed. At the centres of texels they differ for the nearest of co-sited samples only.
///
/// Below, `f` is how many luma samples there are to one of chroma: Vulkan has 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reconstruction {
    /// Chroma is first brought to luma's resolution; the nearest is `⌊x / f⌋`.
    Explicit,
    /// Chroma is sampled where the texel lies; the nearest of co-sited samples is `⌊x / f + 1 / 2⌋`.
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
    /// Alpha; 1 where a format has none.
    Alpha,
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
    /// What red, green, blue and alpha are taken from. Neither range nor model change alpha.
    pub components: [Component; 4],
}

impl Default for Conversion {
    /// BT.709, narrow, chroma as in MPEG-2 and later: between rows, at even columns; linear. Alpha is 1.
    fn default() -> Conversion {
        Conversion {
            model: Model::Bt709,
            range: Range::Narrow,
            siting: [Siting::CositedEven, Siting::Midpoint],
            filter: Filter::Linear,
            reconstruction: Reconstruction::Explicit,
            components: Conversion::OPAQUE,
        }
    }
}

/// A conversion with all that does not change from texel to texel worked out: red, green, blue and alpha are `matrix` times the codes
/// of Cr, luma, Cb and alpha, plus `offset`.
pub(crate) struct Affine {
    pub matrix: [[f32; 4]; 4],
    pub offset: [f32; 4],
}

impl Affine {
    /// Whether alpha is of its own samples, or the same for all, and has no part in colours.
    pub(crate) fn is_alpha_apart(&self) -> bool {
        let [[.., in_red], [.., in_green], [.., in_blue], [cr, luma, cb, _]] = self.matrix;
        [in_red, in_green, in_blue, cr, luma, cb] == [0.0; 6]
    }
}

impl Model {
    /// The parts of red and blue in luma, where there is luma.
    const fn weights(self) -> Option<(f64, f64)> {
        match self {
            Model::RgbIdentity | Model::YcbcrIdentity => None,
            Model::Bt709 => Some((0.2126, 0.0722)),
            Model::Bt601 => Some((0.299, 0.114)),
            Model::Bt2020 => Some((0.2627, 0.0593)),
            Model::Smpte240M => Some((0.212, 0.087)),
            Model::Fcc => Some((0.30, 0.11)),
        }
    }
}

impl Conversion {
    /// Every component from itself. With it alpha is that of the frame, if its layout has alpha.
    pub const IDENTITY: [Component; 4] =
        [Component::Red, Component::Green, Component::Blue, Component::Alpha];

    /// Every colour from itself, and alpha 1.
    pub const OPAQUE: [Component; 4] = [Component::Red, Component::Green, Component::Blue, Component::One];

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
        // RGB of Cr, Y′, Cb.
        let model = match self.model.weights() {
            None => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Some((kr, kb)) => {
                let (r, b, kg) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb), 1.0 - kr - kb);
                [[r, 1.0, 0.0], [-r * kr / kg, 1.0, -b * kb / kg], [0.0, 1.0, b]]
            }
        };
        let ranges = [chroma, luma, chroma];
        let [colors @ .., of_alpha] = self.components;
        let is_grey = format.layout == Layout::Mono && self.model != Model::RgbIdentity;
        // What codes of alpha are multiplied by so that the highest is 1.
        let alpha_scale = format.alpha_bits().map(|bits| 1.0 / f64::from((1u32 << bits) - 1));
        let mut affine = Affine { matrix: [[0.0; 4]; 4], offset: [0.0; 4] };
        for (row, model) in model.iter().enumerate() {
            let (columns, mut offset) = (&mut affine.matrix[row], 0.0);
            for ((&factor, [scale, zero]), component) in model.iter().zip(ranges).zip(colors) {
                if is_grey && matches!(component, Component::Red | Component::Blue) {
                    continue;
                }
                let scaled = factor * scale;
                offset -= scaled * zero;
                match component {
                    Component::Zero => {}
                    Component::One => offset += scaled * top,
                    Component::Red => columns[0] += scaled as f32,
                    Component::Green => columns[1] += scaled as f32,
                    Component::Blue => columns[2] += scaled as f32,
                    Component::Alpha => match alpha_scale {
                        Some(scale) => columns[3] += (scaled * top * scale) as f32,
                        None => offset += scaled * top,
                    },
                }
            }
            affine.offset[row] = offset as f32;
        }
        let (columns, offset) = (&mut affine.matrix[3], &mut affine.offset[3]);
        match of_alpha {
            Component::Zero => {}
            Component::Red | Component::Blue if is_grey => *offset = (chroma[1] / top) as f32,
            Component::Red => columns[0] = (1.0 / top) as f32,
            Component::Green => columns[1] = (1.0 / top) as f32,
            Component::Blue => columns[2] = (1.0 / top) as f32,
            Component::One => *offset = 1.0,
            Component::Alpha => match alpha_scale {
                Some(scale) => columns[3] = scale as f32,
                None => *offset = 1.0,
            },
        }
        affine
    }
}
