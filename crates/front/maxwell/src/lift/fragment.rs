//! Instructions of fragment shaders: IPA, PIXLD, KIL, and what their registers hold at the end.

use super::Unsupported;
use super::cx::{Cx, Lift, operand};
use super::interface::Place;
use crate::gpu::AlphaTest;
use crate::inst::{Inst, PT, RZ, Role, Value as Named};
use crate::modifier::{IpaMode, IpaSample, Mod, PixldMode};
use crate::sph::{Interpolation as Sampling, Maps, Stage};
use xenoglot_ir::imm::TexOperands;
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, Texel, VarData};
use xenoglot_ir::{Flags, Imm, Op, Type, Value, Var};

/// Registers of a colour target.
const TARGET_REGISTERS: u8 = 4;

/// Colour targets.
const TARGETS: u8 = 8;

/// The register with the multiplier and where in the pixel a value is taken.
#[derive(Clone, Copy)]
struct How {
    mode: IpaMode,
    sample: IpaSample,
    /// The offset from the pixel's centre, for [`IpaSample::Offset`].
    offset: Option<Value>,
}

impl Cx<'_> {
    fn fragment(&self) -> Lift<()> {
        if self.io.stage() == Some(Stage::Fragment) { Ok(()) } else { Err(Unsupported) }
    }

    /// IPA: an attribute, interpolated linearly on the screen and multiplied by B where the mode says. Programs multiply
    /// what has perspective by 1/(1/w); the host's inputs are divided already, so that 1/w makes up for it.
    /// [`super::cancel_perspective`] removes the pair.
    pub fn ipa(&mut self, inst: &Inst) -> Lift<()> {
        self.fragment()?;
        if inst.operand(Role::Pred).is_some_and(|p| p.inv || p.pred() != Some(PT)) {
            return Err(Unsupported);
        }
        let Named::Attr { offset, index } = operand(inst, Role::Address)?.value else {
            return Err(Unsupported);
        };
        let sample = inst.get(Mod::IpaSample)?;
        let offset_register = inst.operand(Role::C).and_then(|o| o.reg()).unwrap_or(RZ);
        let at = (sample == IpaSample::Offset).then(|| self.reg(offset_register));
        let how = How { mode: inst.get(Mod::IpaMode)?, sample, offset: at };
        let word = u32::try_from(offset).map_err(|_| Unsupported)?;
        let v = match index {
            RZ => self.interpolated(word, how)?,
            index => {
                let base = self.reg(index);
                let mut result = self.b.f32(0.0);
                for candidate in self.io.candidates(false) {
                    let v = self.interpolated(candidate, how)?;
                    let v = self.cast(v, Type::F32);
                    let number = self.number(candidate.wrapping_sub(word));
                    let here = self.op(Op::IcmpEq, &[base, number]);
                    result = self.select(here, v, result);
                }
                result
            }
        };
        let v = if how.mode == IpaMode::Multiply || (how.mode == IpaMode::Sc && self.is_divided(word)) {
            let b = self.float(inst, Role::B)?;
            let v = self.cast(v, Type::F32);
            self.op(Op::Fmul, &[v, b])
        } else {
            v
        };
        let v = if inst.has(Mod::Sat) {
            let v = self.cast(v, Type::F32);
            self.op(Op::Fsat, &[v])
        } else {
            v
        };
        self.set_dst(inst, v)
    }

    /// How the words of a location are interpolated: as the first that is used.
    fn sampling(&self, word: u32) -> Sampling {
        let Some(sph) = self.io.sph.filter(|_| (0x080..0x280).contains(&word)) else {
            return Sampling::Perspective;
        };
        let ways = (0..4).map(|component| sph.interpolation((word - 0x080) / 16, component));
        ways.into_iter().find(|way| *way != Sampling::Unused).unwrap_or(Sampling::Perspective)
    }

    fn is_divided(&self, word: u32) -> bool {
        matches!(self.io.place(word, false), Some(Place::Location { .. }))
            && self.sampling(word) == Sampling::Perspective
    }

    fn frag_coord(&mut self, lane: u8) -> Value {
        let v = self.builtin(Builtin::FragCoord, Type::F32X4);
        self.b.extract(v, lane)
    }

    /// A word of the input before B multiplies it.
    fn interpolated(&mut self, word: u32, how: How) -> Lift<Value> {
        Ok(match self.io.place(word, false).ok_or(Unsupported)? {
            Place::Location { location, component } => {
                let front = self.location_input(word, location, component, how)?;
                if !(0x280..0x2a0).contains(&word) || !self.io.gpu.two_sided_colors() {
                    return Ok(front);
                }
                let back = self.location_input(word + 0x20, location + 2, component, how)?;
                let facing = self.builtin(Builtin::FrontFacing, Type::BOOL);
                self.select(facing, front, back)
            }
            Place::Builtin(Builtin::Position, lane) => self.frag_coord(lane),
            Place::Builtin(Builtin::PointCoord, lane) => {
                let v = self.builtin(Builtin::PointCoord, Type::F32X2);
                self.b.extract(v, lane)
            }
            Place::Builtin(b @ (Builtin::PrimitiveId | Builtin::Layer | Builtin::ViewportIndex), _) => {
                self.builtin(b, Type::I32)
            }
            Place::Builtin(Builtin::FrontFacing, _) => {
                let facing = self.builtin(Builtin::FrontFacing, Type::BOOL);
                self.convert(Op::Sext, facing, Type::I32)
            }
            Place::Builtin(..) => return Err(Unsupported),
        })
    }

    fn location_input(&mut self, word: u32, location: u32, component: u8, how: How) -> Lift<Value> {
        let sampling = self.sampling(word);
        let interpolation = match sampling {
            Sampling::Flat => Interpolation::Flat,
            Sampling::Linear => Interpolation::Linear,
            Sampling::Perspective | Sampling::Unused => Interpolation::Smooth,
        };
        let var = self.location(false, false, location, component, (Type::F32, interpolation, None));
        let flat = sampling == Sampling::Flat || how.mode == IpaMode::Constant;
        let v = match how.sample {
            _ if flat => self.read(Op::Input, var, None),
            IpaSample::Default => self.read(Op::Input, var, None),
            IpaSample::Centroid => self.at(Op::InterpolateCentroid, var, &[]),
            IpaSample::Offset => {
                let at = how.offset.ok_or(Unsupported)?;
                let offset = self.pixel_offset(at);
                self.at(Op::InterpolateOffset, var, &[offset])
            }
        };
        if flat || sampling != Sampling::Perspective {
            return Ok(v);
        }
        let w = self.frag_coord(3);
        Ok(self.op(Op::Fmul, &[v, w]))
    }

    fn at(&mut self, op: Op, var: Var, args: &[Value]) -> Value {
        let ty = self.module.vars[var].ty;
        let inst = self.b.inst(op, Flags::NONE, Imm::Var(var), args, &[ty]);
        self.b.func.results(inst)[0]
    }

    /// An offset from the pixel's centre: the low 12 bits of each half, with sign, in 4096ths.
    fn pixel_offset(&mut self, packed: Value) -> Value {
        let scale = self.b.f32(1.0 / 4096.0);
        let axes = [0, 16].map(|at| {
            let v = self.field(packed, at, 12, true);
            let v = self.convert(Op::S2f, v, Type::F32);
            self.op(Op::Fmul, &[v, scale])
        });
        self.op(Op::Build, &axes)
    }

    /// PIXLD.
    pub fn pixld(&mut self, inst: &Inst) -> Lift<()> {
        self.fragment()?;
        let v = match inst.get(Mod::PixldMode)? {
            PixldMode::Count => self.number(self.io.gpu.samples()),
            PixldMode::CovMask => self.builtin(Builtin::SampleMask, Type::I32),
            PixldMode::MyIndex if self.io.gpu.per_sample() => self.builtin(Builtin::SampleId, Type::I32),
            PixldMode::MyIndex => self.zero(),
            PixldMode::Covered | PixldMode::Offset | PixldMode::CentroidOffset => return Err(Unsupported),
        };
        let yes = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, yes);
        self.set_dst(inst, v)
    }

    /// KIL: the invocation goes on without effects, so that its neighbours keep their derivatives.
    pub fn kil(&mut self, inst: &Inst) -> Lift<()> {
        self.fragment()?;
        if let Some(graphics) = &mut self.info.graphics {
            graphics.discards = true;
        }
        match inst.operand(Role::Cc) {
            Some(_) => {
                let test = self.cc_operand(inst)?;
                self.b.inst(Op::DiscardIf, Flags::NONE, Imm::None, &[test], &[]);
            }
            None => {
                self.b.inst(Op::Demote, Flags::NONE, Imm::None, &[], &[]);
            }
        }
        Ok(())
    }

    /// Puts out what the registers hold: four for each colour target that is written, then the sample mask and the depth,
    /// which leaves a register to the mask even where none is written.
    pub fn put_fragment(&mut self) -> Lift<()> {
        let Some(Maps::Pixel { color_mask, sample_mask, depth, .. }) = self.io.sph.map(|sph| sph.maps) else {
            return Err(Unsupported);
        };
        let mut register = 0;
        for target in 0..TARGETS {
            let mask = color_mask >> (4 * u32::from(target)) & 0xf;
            if mask == 0 {
                continue;
            }
            let words: [Value; 4] = [0, 1, 2, 3].map(|i| self.reg(register + i));
            if target == 0 {
                self.alpha_test(words[3]);
                self.dither_alpha(words[3]);
            }
            self.put_color(target, words);
            register += TARGET_REGISTERS;
        }
        if sample_mask {
            let var = self.builtin_var(true, Builtin::SampleMask, Type::I32, None);
            let v = self.reg(register);
            self.write(var, v, None);
        }
        if depth {
            let var = self.builtin_var(true, Builtin::FragDepth, Type::F32, None);
            let v = self.reg(register + 1);
            self.write(var, v, None);
        }
        Ok(())
    }

    fn put_color(&mut self, target: u8, words: [Value; 4]) {
        let blended = if target == 1 && self.module.pipeline.dual_source { 0 } else { target };
        let float = self.io.gpu.color_target(blended.into()) == Texel::Float;
        let var = self.module.vars.push(VarData {
            name: format!("color{target}"),
            direction: Direction::Output,
            ty: if float { Type::F32X4 } else { Type::I32X4 },
            semantic: Semantic::Location { location: target.into(), component: 0 },
            interpolation: Interpolation::Flat,
            array: None,
            inner: None,
            stream: 0,
        });
        let lanes = words.map(|word| if float { self.cast(word, Type::F32) } else { word });
        let v = self.op(Op::Build, &lanes);
        self.write(var, v, None);
    }

    fn alpha_test(&mut self, alpha: Value) {
        let Some((test, reference)) = self.io.gpu.alpha_test() else { return };
        let (alpha, reference) = (self.cast(alpha, Type::F32), self.b.f32(reference));
        let passes = match test {
            AlphaTest::Never => self.truth(false),
            AlphaTest::Less => self.op(Op::FcmpOlt, &[alpha, reference]),
            AlphaTest::Equal => self.op(Op::FcmpOeq, &[alpha, reference]),
            AlphaTest::LessEqual => self.op(Op::FcmpOle, &[alpha, reference]),
            AlphaTest::Greater => self.op(Op::FcmpOlt, &[reference, alpha]),
            AlphaTest::NotEqual => self.op(Op::FcmpUne, &[alpha, reference]),
            AlphaTest::GreaterEqual => self.op(Op::FcmpOle, &[reference, alpha]),
        };
        let fails = self.not(passes);
        self.b.inst(Op::DiscardIf, Flags::NONE, Imm::None, &[fails], &[]);
        if let Some(graphics) = &mut self.info.graphics {
            graphics.discards = true;
        }
    }

    /// Discards by alpha against thresholds of 1/8, 3/8, 5/8 and 7/8, one for each of 2x2 pixels.
    fn dither_alpha(&mut self, alpha: Value) {
        if !self.io.gpu.alpha_to_coverage_dither() {
            return;
        }
        let one = self.number(1);
        let [x, y] = [0, 1].map(|lane| {
            let v = self.frag_coord(lane);
            let v = self.convert(Op::F2u, v, Type::I32);
            self.op(Op::And, &[v, one])
        });
        // 0 and 2 above, 3 and 1 below.
        let odd = self.op(Op::Xor, &[x, y]);
        let odd = self.op(Op::Shl, &[odd, one]);
        let order = self.op(Op::Or, &[odd, y]);
        let order = self.convert(Op::U2f, order, Type::F32);
        let (quarter, eighth) = (self.b.f32(0.25), self.b.f32(0.125));
        let threshold = self.op(Op::Fmul, &[order, quarter]);
        let threshold = self.op(Op::Fadd, &[threshold, eighth]);
        let alpha = self.cast(alpha, Type::F32);
        let passes = self.op(Op::FcmpOle, &[threshold, alpha]);
        let fails = self.not(passes);
        self.b.inst(Op::DiscardIf, Flags::NONE, Imm::None, &[fails], &[]);
        if let Some(graphics) = &mut self.info.graphics {
            graphics.discards = true;
        }
    }

    /// Notes that a texture's level of detail is implicit.
    pub fn note_derivatives(&mut self, operands: TexOperands) {
        let explicit = TexOperands::LOD.0 | TexOperands::GRAD.0;
        if let Some(graphics) = &mut self.info.graphics
            && operands.0 & explicit == 0
            && self.io.sph.is_some_and(|sph| sph.stage == Stage::Fragment)
        {
            graphics.derivatives = true;
        }
    }
}
