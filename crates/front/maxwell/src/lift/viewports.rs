//! Viewport masks: primitives that go to several viewports.
//!
//! Hosts without such masks have geometry shaders run once more for each viewport: an invocation emits its vertices if the mask has
//! the invocation's viewport. A host's invocation is `16 * guest's invocation + viewport`.

use super::LiftError;
use super::cx::Cx;
use super::interface::words_of;
use super::layout::{LAYER_LOCATION, MASK_LOCATION, VIEWPORT_LOCATION};
use crate::gpu::GpuAccessor;
use crate::info::GeometryInfo;
use crate::inst::Inst;
use crate::opcode::Opcode;
use crate::sph::Stage;
use xenoglot_ir::module::{Builtin, Interpolation};
use xenoglot_ir::{Block, Op, Type, Value};

/// The attribute that says which viewports a primitive goes to.
pub const VIEWPORT_MASK: u32 = 0x3a0;
/// The attributes of a primitive's layer and of its viewport.
const LAYER: u32 = 0x64;
const VIEWPORT: u32 = 0x68;
/// Viewports of the guest, a power of two.
pub const VIEWPORTS: u32 = 16;
/// Invocations of a geometry shader that every host has.
const INVOCATIONS: u32 = 32;

/// Where the mask goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewports {
    /// To the host's builtin.
    Mask,
    /// Nowhere: each invocation has one viewport.
    Invocations,
    /// To [`MASK_LOCATION`], for a geometry shader behind this one.
    Location,
}

impl Viewports {
    /// Of a shader of a stage that writes the mask.
    fn of(stage: Option<Stage>, gpu: &dyn GpuAccessor) -> Viewports {
        match stage {
            _ if gpu.viewport_mask() => Viewports::Mask,
            Some(Stage::Geometry) => Viewports::Invocations,
            _ => Viewports::Location,
        }
    }
}

/// Gives a geometry shader that writes the mask invocations for all viewports, where the host has no masks.
pub fn add_invocations<'i>(
    geometry: &mut GeometryInfo,
    mut insts: impl Iterator<Item = &'i Inst>,
    gpu: &dyn GpuAccessor,
) -> Result<(), LiftError> {
    let is_mask = |inst: &Inst| inst.op == Opcode::Ast && words_of(inst).any(|word| word == VIEWPORT_MASK);
    if insts.any(is_mask) && Viewports::of(Some(Stage::Geometry), gpu) == Viewports::Invocations {
        geometry.invocations *= VIEWPORTS;
        if geometry.invocations > INVOCATIONS {
            return Err(LiftError::Stage(
                "a geometry shader with a viewport mask has at most two invocations",
            ));
        }
    }
    Ok(())
}

impl Cx<'_> {
    /// Where the shader's mask goes; `None` if it writes none.
    pub fn viewports(&self) -> Option<Viewports> {
        self.output_slot(VIEWPORT_MASK)?;
        Some(Viewports::of(self.io.stage(), self.io.gpu))
    }

    /// The location that a layer, a viewport or a mask goes to for a geometry shader behind this one; `None` if it does not.
    pub fn own_location(&self, word: u32) -> Option<u32> {
        let viewports = self.viewports();
        let is_behind = || viewports == Some(Viewports::Location) || !self.io.gpu.layer_from_vertex();
        match word {
            _ if self.io.stage() == Some(Stage::Geometry) => None,
            VIEWPORT_MASK if viewports == Some(Viewports::Location) => Some(MASK_LOCATION),
            LAYER if is_behind() => Some(LAYER_LOCATION),
            VIEWPORT if is_behind() => Some(VIEWPORT_LOCATION),
            _ => None,
        }
    }

    /// Whether a word goes to a location that the shader itself has something at.
    pub fn has_no_place(&self, word: u32) -> bool {
        let generic = |location| (0x80 + 16 * location..).step_by(4).take(4);
        self.own_location(word)
            .is_some_and(|location| generic(location).any(|word| self.output_slot(word).is_some()))
    }

    /// The guest's number of an invocation that has one viewport.
    pub fn guest_invocation(&mut self, host: Value) -> Value {
        let bits = self.number(VIEWPORTS.trailing_zeros());
        self.op(Op::Ushr, &[host, bits])
    }

    fn viewport(&mut self) -> Value {
        let host = self.builtin(Builtin::InvocationId, Type::I32);
        let last = self.number(VIEWPORTS - 1);
        self.op(Op::And, &[host, last])
    }

    /// Puts the mask out.
    pub fn put_viewports(&mut self, mask: Value) {
        let (var, v) = match self.viewports() {
            Some(Viewports::Invocations) => {
                (self.builtin_var(true, Builtin::ViewportIndex, Type::I32, None), self.viewport())
            }
            Some(Viewports::Location) => {
                let how = (Type::I32, Interpolation::Flat, None);
                (self.location(true, false, MASK_LOCATION, 0, how), mask)
            }
            Some(Viewports::Mask) => (self.builtin_var(true, Builtin::ViewportMask, Type::I32, None), mask),
            None => return,
        };
        self.write(var, v, None);
    }

    /// Goes on where the mask has the invocation's viewport. Returns the block for both cases behind it; `None` if the invocation has all
    /// viewports.
    pub fn branch_by_viewport(&mut self) -> Option<Block> {
        let slot = self.output_slot(VIEWPORT_MASK)?;
        if self.viewports() != Some(Viewports::Invocations) {
            return None;
        }
        let (mask, viewport) = (self.b.slot_get(slot), self.viewport());
        let (one, zero) = (self.number(1), self.zero());
        let bit = self.op(Op::Shl, &[one, viewport]);
        let bit = self.op(Op::And, &[mask, bit]);
        let goes = self.op(Op::IcmpNe, &[bit, zero]);
        let (here, rest) = (self.b.func.add_block(), self.b.func.add_block());
        self.b.branch(goes, (here, &[]), (rest, &[]));
        self.b.switch_to(here);
        Some(rest)
    }
}
