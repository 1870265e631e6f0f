//! Registers to what the stages of a draw need.

use super::alpha_test::AlphaTest;
use super::batch::{LANES, Plane, semantic};
use super::blend::Blend;
use super::combiner::{Program, Source};
use super::depth_stencil::DepthStencil;
use super::early::EarlyTest;
use super::fog::Fog;
use super::framebuffer::{ColorBuffer, PixelBuffer, Size};
use super::gas::{self, Accumulation};
use super::interpolate::DepthMap;
use super::lighting::Lighting;
use super::logic_op;
use super::options::Chip;
use super::proctex::Proctex;
use super::sample::{UNITS, Unit};
use super::setup::Screen;
use super::shadow_map::ShadowMap;
use crate::regs::{self, Registers};
use crate::tables::Tables;

const MODE_SHADOW: u32 = 3;

/// The sources the texture units fill.
pub const UNIT_SOURCES: [Source; UNITS] = [Source::Texture0, Source::Texture1, Source::Texture2];

/// Everything about a draw but its triangles.
#[derive(Debug)]
pub struct State {
    /// Size of the buffers.
    pub size: Size,
    /// Viewport, culling, scissor.
    pub screen: Screen,
    /// Depth, if anything needs it.
    pub depth: Option<DepthMap>,
    /// The early depth test.
    pub early_depth: Option<EarlyTest>,
    /// Work on colours; none if only depth and stencil are of interest.
    pub shading: Option<Shading>,
    /// Alpha test.
    pub alpha_test: Option<AlphaTest>,
    /// Stencil and depth test.
    pub depth_stencil: Option<DepthStencil>,
    /// Where colours go.
    pub target: Target,
    /// Whether something is read where something else is written, so that each pixel must see what the one before it
    /// wrote.
    pub feedback: bool,
}

/// The stages that make a fragment's colour. Only what reaches it is there.
#[derive(Debug)]
pub struct Shading {
    /// Whether the interpolated vertex colour is needed.
    pub primary: bool,
    /// Texture units and the sources they fill.
    pub units: Vec<(Source, Unit)>,
    /// Procedural texture; without it its source is 0.
    pub proctex: Option<Proctex>,
    /// Fragment lighting; without it its sources are 0.
    pub lighting: Option<Lighting>,
    /// Combiner stages.
    pub program: Program,
    /// Fog.
    pub fog: Option<Fog>,
    /// Shading of gas, which takes the place of all colours before.
    pub gas: Option<gas::Shading>,
}

/// Where colours go.
#[derive(Debug)]
pub enum Target {
    /// Nowhere.
    None,
    /// Into the colour buffer.
    Color(Output),
    /// Into a shadow map.
    Shadow(ShadowMap),
    /// Into densities.
    Gas(Accumulation),
}

/// How colours get into the colour buffer.
#[derive(Debug)]
pub struct Output {
    /// The buffer.
    pub buffer: ColorBuffer,
    /// What happens to fragment and pixel.
    pub mix: Mix,
    /// Channels that are written, all ones or 0.
    pub mask: [u16; 4],
    /// Whether blending and logic operations see the stored pixel; 0 otherwise.
    pub readable: bool,
}

/// What happens to fragment and pixel.
#[derive(Debug)]
pub enum Mix {
    /// The fragment replaces the pixel.
    Replace,
    /// Blending.
    Blend(Blend),
    /// The logic operation of a number.
    Logic(u32),
}

/// Whether blending and logic operations see the stored pixel.
pub fn is_color_readable(regs: &Registers, chip: Chip) -> bool {
    !chip.permissions || regs.bits(regs::COLOR_READ, 0, 4) != 0
}

impl Output {
    fn decode(regs: &Registers, chip: Chip) -> Option<Output> {
        let mask = [8, 9, 10, 11].map(|bit| u16::from(regs.bit(regs::DEPTH_TEST, bit)).wrapping_neg());
        if regs.bits(regs::COLOR_WRITE, 0, 4) == 0 || mask == [0; 4] {
            return None;
        }
        let mix = if regs.bit(regs::FRAGMENT_MODE, 8) {
            Blend::decode(regs).map_or(Mix::Replace, Mix::Blend)
        } else {
            Mix::Logic(regs.bits(regs::LOGIC_OP, 0, 4))
        };
        let readable = is_color_readable(regs, chip);
        Some(Output { buffer: ColorBuffer::decode(regs)?, mix, mask, readable })
    }

    /// Whether the stored pixel matters.
    pub fn reads_destination(&self) -> bool {
        self.mask != [u16::MAX; 4]
            || match &self.mix {
                Mix::Replace => false,
                Mix::Blend(_) => true,
                Mix::Logic(number) => logic_op::reads_destination(*number),
            }
    }

    /// Blends `color` with `destination` in place, or applies the logic operation.
    #[inline(always)]
    pub fn mix(&self, color: &mut [Plane; 4], destination: &[Plane; 4], lanes: usize) {
        let seen = if self.readable { destination } else { &[[0; LANES]; 4] };
        match &self.mix {
            Mix::Replace => {}
            Mix::Blend(blend) => blend.run(color, seen, lanes),
            Mix::Logic(number) => {
                for (source, destination) in color.iter_mut().zip(seen) {
                    logic_op::apply(*number, &mut source[..lanes], &destination[..lanes]);
                }
            }
        }
        for ((source, destination), mask) in color.iter_mut().zip(destination).zip(self.mask) {
            if mask == 0 {
                *source = *destination;
            }
        }
    }
}

impl Target {
    fn decode(regs: &Registers, chip: Chip) -> Target {
        if regs.bits(regs::FRAGMENT_MODE, 0, 2) == MODE_SHADOW {
            return Target::Shadow(ShadowMap::decode(regs));
        }
        if chip.gas && gas::accumulates(regs) {
            return Accumulation::decode(regs).map_or(Target::None, Target::Gas);
        }
        Output::decode(regs, chip).map_or(Target::None, Target::Color)
    }

    /// Where colours are written.
    pub fn buffer(&self) -> Option<PixelBuffer> {
        match self {
            Target::None => None,
            Target::Color(output) => Some(output.buffer.buffer),
            Target::Shadow(map) => Some(map.buffer),
            Target::Gas(gas) => Some(gas.buffer),
        }
    }

    /// The depth buffer, if the target reads it by itself.
    pub fn depth(&self) -> Option<PixelBuffer> {
        match self {
            Target::Gas(Accumulation { depth: Some((buffer, _)), .. }) => Some(*buffer),
            _ => None,
        }
    }
}

impl State {
    /// Decodes the registers; none if a draw changes nothing.
    pub fn decode(regs: &Registers, tables: &Tables, chip: Chip) -> Option<State> {
        let target = Target::decode(regs, chip);
        let is_shadow = matches!(target, Target::Shadow(_));
        // Shadow rendering replaces all tests.
        let depth_stencil = DepthStencil::decode(regs, chip).filter(|_| !is_shadow);
        let early_depth = EarlyTest::decode(regs, chip);
        let alpha_test = AlphaTest::decode(regs).filter(|_| !is_shadow);
        let writes_color = !matches!(target, Target::None);
        if !writes_color && depth_stencil.is_none() && early_depth.is_none() {
            return None;
        }
        let shading = (writes_color || alpha_test.is_some())
            .then(|| Shading::decode(regs, tables, matches!(target, Target::Color(_)), chip));
        let needs_depth = is_shadow
            || matches!(target, Target::Gas(_))
            || early_depth.is_some()
            || depth_stencil.is_some()
            || shading.as_ref().is_some_and(|shading| shading.fog.is_some());
        let size = Size::decode(regs);
        let attributes = shading.as_ref().map(Shading::semantics).unwrap_or_default();
        let mut state = State {
            size,
            screen: Screen::decode(regs, size, attributes),
            depth: needs_depth.then(|| DepthMap::decode(regs)),
            early_depth,
            shading,
            alpha_test,
            depth_stencil,
            target,
            feedback: false,
        };
        state.feedback = state.has_feedback();
        Some(state)
    }

    /// Whether fragment lighting is on.
    pub fn is_lit(&self) -> bool {
        self.shading.as_ref().is_some_and(|shading| shading.lighting.is_some())
    }

    /// Whether it is left to the CPU renderer: what is modelled and not documented has no programs on the host's GPU.
    pub fn is_modelled(&self) -> bool {
        self.early_depth.is_some()
            || matches!(self.target, Target::Gas(_))
            || self.shading.as_ref().is_some_and(|shading| shading.gas.is_some())
    }

    fn has_feedback(&self) -> bool {
        let range = |buffer: PixelBuffer| (buffer.address, self.size.pixels() * buffer.bytes);
        let color = self.target.buffer().map(range);
        let tested = self.depth_stencil.as_ref().map(|tests| tests.buffer);
        let depth = tested.or(self.target.depth()).map(range);
        let units = self.shading.iter().flat_map(|shading| &shading.units);
        let mut textures = units.filter_map(|(_, unit)| unit.image()).flat_map(|image| image.ranges());
        let meets = |a: (u32, u32), b: Option<(u32, u32)>| b.is_some_and(|b| overlap(a, b));
        color.is_some_and(|color| meets(color, depth))
            || textures.any(|texture| meets(texture, color) || meets(texture, depth))
    }
}

/// Whether two ranges of start and length, which may go on at 0, have an address in common.
fn overlap((a, a_len): (u32, u32), (b, b_len): (u32, u32)) -> bool {
    a.wrapping_sub(b) < b_len || b.wrapping_sub(a) < a_len
}

impl Shading {
    fn decode(regs: &Registers, tables: &Tables, has_fog: bool, chip: Chip) -> Shading {
        let program = Program::compile(regs);
        let lit = program.uses(Source::LightPrimary) || program.uses(Source::LightSecondary);
        let lighting = Lighting::decode(regs).filter(|_| lit);
        let gas = Some(()).filter(|()| has_fog).and_then(|()| gas::Shading::decode(regs, tables, chip));
        let uses = |source: Source| {
            program.uses(source)
                || (gas.is_some() && source == Source::Texture0)
                || lighting.as_ref().is_some_and(|lighting| lighting.sources().any(|s| s == source))
        };
        let units = UNIT_SOURCES.into_iter().enumerate().filter(|&(_, source)| uses(source));
        Shading {
            primary: program.uses(Source::Primary),
            units: units
                .map(|(number, source)| {
                    // Densities are two 16-bit numbers in four channels: filters would mix them up.
                    let nearest = Chip { filters: false, mipmaps: false, ..chip };
                    let chip = if gas.is_some() && source == Source::Texture0 { nearest } else { chip };
                    (source, Unit::decode(regs, number, chip))
                })
                .collect(),
            proctex: Some(())
                .filter(|()| uses(Source::Procedural))
                .and_then(|()| Proctex::decode(regs, tables)),
            fog: Some(()).filter(|()| has_fog).and_then(|()| Fog::decode(regs, tables)),
            gas,
            lighting,
            program,
        }
    }

    /// Semantics of the attributes it reads, each once.
    fn semantics(&self) -> Vec<u8> {
        let mut needed = [false; semantic::COUNT];
        if self.primary {
            needed[semantic::COLOR..semantic::COLOR + 4].fill(true);
        }
        if self.lighting.is_some() {
            needed[semantic::QUATERNION..semantic::QUATERNION + 4].fill(true);
            needed[semantic::VIEW..semantic::VIEW + 3].fill(true);
        }
        let images = self.units.iter().filter_map(|(_, unit)| unit.image());
        let proctex = self.proctex.iter().flat_map(Proctex::semantics);
        for semantic in images.flat_map(|image| image.semantics()).chain(proctex) {
            needed[semantic] = true;
        }
        (0..).zip(needed).filter(|&(_, needed)| needed).map(|(semantic, _)| semantic).collect()
    }
}
