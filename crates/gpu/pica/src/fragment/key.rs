//! What of the registers makes a fragment program.

use super::options::Options;
use crate::raster::Chip;
use crate::raster::alpha_test::{AlphaTest, Compare};
use crate::raster::batch::semantic;
use crate::raster::blend::{Blend, Equation};
use crate::raster::combiner::{Program, Source};
use crate::raster::depth_stencil::DepthStencil;
use crate::raster::filter::Filter;
use crate::raster::fog;
use crate::raster::framebuffer::ColorFormat;
use crate::raster::interpolate::DepthMap;
use crate::raster::lighting::{Bump, Index, Input, Light, Lighting, Lookup, Shadow};
use crate::raster::proctex::{Clamp, Setup, Shift};
use crate::raster::sample::{Image, Kind, UNITS, Unit, Wrap};
use crate::regs::{self, Registers};

pub(super) use crate::raster::state::UNIT_SOURCES;
use crate::raster::state::is_color_readable;

const MODE_SHADOW: u32 = 3;

/// How colours reach the colour buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blending {
    /// The program gives the fragment's colour; the host blends, as far as its fixed functions can.
    #[default]
    Host,
    /// The program reads the pixel and computes the stored value exactly.
    Program,
}

/// All that decides about the code of a fragment program. Draws of equal keys share it; what else differs is in
/// buffers ([`super::layout`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FragmentKey {
    pub(super) program: Program,
    pub(super) units: [Option<UnitKey>; UNITS],
    pub(super) proctex: Option<ProctexKey>,
    pub(super) lighting: Option<LightingKey>,
    /// Fog, flipped or not.
    pub(super) fog: Option<bool>,
    pub(super) alpha_test: Option<Compare>,
    pub(super) depth: DepthKey,
    pub(super) output: OutputKey,
}

/// A texture unit that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum UnitKey {
    Constant([u8; 4]),
    Image(ImageKey),
}

/// A texture unit with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ImageKey {
    pub kind: Kind,
    /// Semantic of the first coordinate.
    pub coordinates: usize,
    pub wrap: [Wrap; 2],
    /// Whether width and height are powers of two, and their larger versions: repetition needs no division then.
    pub masked: [bool; 2],
    pub filter: Option<FilterKey>,
}

/// Linear filters and levels of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FilterKey {
    pub magnify_linear: bool,
    pub minify_linear: bool,
    /// Whether neighbouring levels are mixed; nothing if there is but one level.
    pub between_levels: Option<bool>,
    /// Bits of the level of detail up to which the image is taken for enlarged.
    pub threshold: u32,
}

impl FilterKey {
    fn new(filter: &Filter) -> FilterKey {
        FilterKey {
            magnify_linear: filter.magnify_linear,
            minify_linear: filter.minify_linear,
            between_levels: (filter.levels().len() > 1).then_some(filter.between_levels),
            threshold: filter.threshold().to_bits(),
        }
    }
}

impl UnitKey {
    fn decode(regs: &Registers, number: usize, options: Options) -> UnitKey {
        match Unit::decode(regs, number, options.chip) {
            Unit::Constant(color) => UnitKey::Constant(color),
            Unit::Image(Image { kind, coordinates, texture, wrap, filter, .. }) => UnitKey::Image(ImageKey {
                kind,
                coordinates,
                wrap,
                masked: [texture.width, texture.height]
                    .map(|size| (size * options.scale.get()).is_power_of_two()),
                filter: filter.as_ref().map(FilterKey::new),
            }),
        }
    }
}

/// Procedural texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProctexKey {
    pub coordinates: usize,
    pub clamp: [Clamp; 2],
    pub shift: [Shift; 2],
    pub color_function: u32,
    pub alpha_function: Option<u32>,
    pub noise: bool,
    pub linear: bool,
}

impl ProctexKey {
    fn decode(regs: &Registers) -> Option<ProctexKey> {
        let setup = Setup::decode(regs)?;
        Some(ProctexKey {
            coordinates: setup.coordinates,
            clamp: setup.axes.map(|axis| axis.clamp),
            shift: setup.axes.map(|axis| axis.shift),
            color_function: setup.color_function,
            alpha_function: setup.alpha_function,
            noise: setup.noise,
            linear: setup.linear,
        })
    }
}

/// Fragment lighting.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LightingKey {
    pub lights: Vec<LightKey>,
    pub bump: Option<Bump>,
    pub shadow: Option<Shadow>,
    pub distribution: [Option<LookupKey>; 2],
    pub reflection: [Option<LookupKey>; 3],
    pub fresnel: Option<LookupKey>,
    pub fresnel_alpha: [bool; 2],
    pub clamp_highlights: bool,
}

/// A light of a slot; which one it is, is in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LightKey {
    pub directional: bool,
    pub two_sided: bool,
    pub geometric: [bool; 2],
    pub distance: bool,
    pub spot: Option<LookupKey>,
    pub shadow: bool,
}

/// How a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LookupKey {
    /// Number of the table; 0 for spot tables, which differ by light.
    pub table: usize,
    pub input: Input,
    pub signed: bool,
}

impl LookupKey {
    fn new(lookup: Lookup) -> LookupKey {
        LookupKey { table: lookup.table, input: lookup.input, signed: lookup.signed }
    }

    /// How the index comes from the input for a light.
    pub fn index(&self, two_sided: bool) -> Index {
        Index::new(self.signed, two_sided)
    }
}

impl LightKey {
    fn new(light: &Light) -> LightKey {
        LightKey {
            directional: light.directional,
            two_sided: light.two_sided,
            geometric: light.geometric,
            distance: light.distance.is_some(),
            spot: light.spot.map(|spot| LookupKey { table: 0, ..LookupKey::new(spot) }),
            shadow: light.shadow,
        }
    }
}

impl LightingKey {
    fn new(lighting: &Lighting) -> LightingKey {
        LightingKey {
            lights: lighting.lights.iter().map(LightKey::new).collect(),
            bump: lighting.bump,
            shadow: lighting.shadow,
            distribution: lighting.distribution.map(|lookup| lookup.map(LookupKey::new)),
            reflection: lighting.reflection.map(|lookup| lookup.map(LookupKey::new)),
            fresnel: lighting.fresnel.map(LookupKey::new),
            fresnel_alpha: lighting.fresnel_alpha,
            clamp_highlights: lighting.clamp_highlights,
        }
    }
}

/// Depth of the fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DepthKey {
    pub w_buffer: bool,
    /// Whether the program sets it: something on the host needs it, and it is not what the host would use by itself.
    pub written: bool,
}

impl DepthKey {
    fn decode(regs: &Registers, tested: bool, read: bool) -> DepthKey {
        let DepthMap { scale, offset, w_buffer } = DepthMap::decode(regs);
        let natural = !w_buffer && scale == -1.0 && offset == 0.0;
        let written = tested && !natural;
        DepthKey { w_buffer: w_buffer && (written || read), written }
    }
}

/// What comes out at location 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OutputKey {
    /// Nothing.
    None,
    /// The fragment's colour.
    Color,
    /// What is to be stored, of a pixel of the destination.
    Pixel(PixelKey),
    /// A word of a shadow map, of a word of the destination.
    Shadow,
}

/// Fragment and pixel to what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PixelKey {
    pub mix: MixKey,
    /// Channels that are written.
    pub mask: [bool; 4],
    pub format: ColorFormat,
    /// Whether blending and logic operations see the pixel; 0 otherwise.
    pub readable: bool,
}

/// What happens to fragment and pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MixKey {
    Replace,
    Blend([BlendKey; 4]),
    /// The logic operation of a number.
    Logic(u32),
}

/// Blending of a channel; factors by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BlendKey {
    pub equation: Equation,
    pub source: u32,
    pub destination: u32,
}

impl OutputKey {
    fn decode(regs: &Registers, blending: Blending, chip: Chip) -> OutputKey {
        let mask = [8, 9, 10, 11].map(|bit| regs.bit(regs::DEPTH_TEST, bit));
        if regs.bits(regs::FRAGMENT_MODE, 0, 2) == MODE_SHADOW {
            return OutputKey::Shadow;
        }
        let format = match ColorFormat::decode(regs) {
            Some(format) if mask != [false; 4] && regs.bits(regs::COLOR_WRITE, 0, 4) != 0 => format,
            _ => return OutputKey::None,
        };
        match blending {
            Blending::Host => OutputKey::Color,
            Blending::Program => {
                let readable = is_color_readable(regs, chip);
                OutputKey::Pixel(PixelKey { mix: MixKey::decode(regs), mask, format, readable })
            }
        }
    }
}

impl MixKey {
    fn decode(regs: &Registers) -> MixKey {
        if !regs.bit(regs::FRAGMENT_MODE, 8) {
            return MixKey::Logic(regs.bits(regs::LOGIC_OP, 0, 4));
        }
        if Blend::decode(regs).is_none() {
            return MixKey::Replace;
        }
        let bits = |lo, count| regs.bits(regs::BLENDING, lo, count);
        let key = |equation, source, destination| BlendKey {
            equation: Equation::from_number(bits(equation, 3)),
            source: bits(source, 4),
            destination: bits(destination, 4),
        };
        let color = key(0, 16, 20);
        MixKey::Blend([color, color, color, key(8, 24, 28)])
    }
}

impl FragmentKey {
    /// The key of a draw with these registers; none if it changes nothing. Shadow rendering reads the destination
    /// whatever `blending` says.
    pub fn decode(regs: &Registers, blending: Blending) -> Option<FragmentKey> {
        FragmentKey::with_options(regs, blending, Options::default())
    }

    pub(super) fn with_options(
        regs: &Registers,
        blending: Blending,
        options: Options,
    ) -> Option<FragmentKey> {
        let output = OutputKey::decode(regs, blending, options.chip);
        let is_shadow = output == OutputKey::Shadow;
        let tested = !is_shadow && DepthStencil::decode(regs, options.chip).is_some();
        if output == OutputKey::None && !tested {
            return None;
        }
        let alpha_test = AlphaTest::decode(regs).filter(|_| !is_shadow).map(|test| test.function);
        let has_color = output != OutputKey::None || alpha_test.is_some();
        let program = if has_color { Program::compile_generic(regs) } else { Program::black() };
        let lit = program.uses(Source::LightPrimary) || program.uses(Source::LightSecondary);
        let lighting = Lighting::decode(regs).filter(|_| lit);
        let uses = |source: Source| {
            program.uses(source)
                || lighting.as_ref().is_some_and(|lighting| lighting.sources().any(|s| s == source))
        };
        let unit = |number: usize| uses(UNIT_SOURCES[number]).then(|| UnitKey::decode(regs, number, options));
        let has_fog = !is_shadow && output != OutputKey::None && fog::is_on(regs);
        Some(FragmentKey {
            units: [0, 1, 2].map(unit),
            proctex: Some(()).filter(|()| uses(Source::Procedural)).and_then(|()| ProctexKey::decode(regs)),
            lighting: lighting.as_ref().map(LightingKey::new),
            fog: has_fog.then(|| fog::is_flipped(regs)),
            alpha_test,
            depth: DepthKey::decode(regs, tested, has_fog || is_shadow),
            output,
            program,
        })
    }

    /// Whether the program reads [`super::layout::DESTINATION_BINDING`]: the pixel, r in the lowest byte and widened to
    /// 8 bits, or the word of a shadow map as it is in memory.
    pub fn reads_destination(&self) -> bool {
        match &self.output {
            OutputKey::None | OutputKey::Color => false,
            OutputKey::Shadow => true,
            OutputKey::Pixel(pixel) => pixel.reads_destination(),
        }
    }

    /// Whether it reads the tables.
    pub fn reads_tables(&self) -> bool {
        self.lighting.is_some() || self.proctex.is_some() || self.fog.is_some()
    }

    /// Which attributes it reads, by semantic.
    pub(crate) fn semantics(&self) -> [bool; semantic::COUNT] {
        let mut needed = [false; semantic::COUNT];
        let mut need = |first: usize, count: usize| needed[first..first + count].fill(true);
        if self.program.uses(Source::Primary) {
            need(semantic::COLOR, 4);
        }
        if self.lighting.is_some() {
            need(semantic::QUATERNION, 4);
            need(semantic::VIEW, 3);
        }
        for unit in self.units.iter().flatten() {
            if let UnitKey::Image(image) = unit {
                need(image.coordinates, 2);
                need(semantic::TEX0_W, usize::from(image.kind != Kind::Flat));
            }
        }
        if let Some(proctex) = &self.proctex {
            need(proctex.coordinates, 2);
        }
        needed
    }

    /// Whether it reads the texels of unit `unit`.
    pub fn reads_texture(&self, unit: usize) -> bool {
        matches!(self.units.get(unit), Some(Some(UnitKey::Image(_))))
    }
}

impl PixelKey {
    pub fn reads_destination(&self) -> bool {
        self.mask != [true; 4]
            || match self.mix {
                MixKey::Replace => false,
                MixKey::Blend(_) => true,
                MixKey::Logic(number) => crate::raster::logic_op::reads_destination(number),
            }
    }
}
