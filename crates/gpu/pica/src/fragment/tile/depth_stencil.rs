//! Stencil and depth test on stored words.

use xenoglot_ir::Value;

use crate::fragment::emit::Emit;
use crate::fragment::layout::STENCIL;
use crate::fragment::output::compare;
use crate::raster::Chip;
use crate::raster::alpha_test::Compare;
use crate::raster::depth_stencil::{Action, DepthStencil};
use crate::raster::framebuffer::DepthFormat;
use crate::regs::Registers;

const STENCIL_SHIFT: u32 = 24;

/// The tests of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TestsKey {
    format: DepthFormat,
    stencil: Option<StencilKey>,
    depth: Compare,
    /// Whether the stored depth is seen; 0 otherwise.
    readable: bool,
    write_depth: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StencilKey {
    function: Compare,
    stencil_fails: Action,
    depth_fails: Action,
    passes: Action,
    /// Whether the stored value is seen; 0 otherwise.
    readable: bool,
}

impl TestsKey {
    pub fn decode(regs: &Registers, chip: Chip) -> Option<TestsKey> {
        let DepthStencil { format, stencil, depth, seen, write_depth, .. } =
            DepthStencil::decode(regs, chip)?;
        let stencil = stencil.map(|stencil| StencilKey {
            function: stencil.function,
            stencil_fails: stencil.stencil_fails,
            depth_fails: stencil.depth_fails,
            passes: stencil.passes,
            readable: stencil.seen != 0,
        });
        Some(TestsKey { format, stencil, depth, readable: seen != 0, write_depth })
    }

    /// Whether a pixel of `depth`, 0 to 1, passes; the word that takes the place of `stored` if it does not, and if it
    /// does.
    pub fn run(&self, emit: &mut Emit, depth: Value, stored: Value) -> (Value, Value, Value) {
        let max = emit.f32(self.format.max() as f32);
        let depth = emit.fmul(depth, max);
        let depth = emit.int(depth);
        let mask = emit.i32(self.format.max());
        let stored_depth = if self.readable { emit.and(stored, mask) } else { emit.i32(0) };
        let nearer = compare(emit, self.depth, depth, stored_depth);
        let (passes, failed, passed) = match &self.stencil {
            None => (nearer, stored, stored),
            Some(stencil) => stencil.run(emit, stored, nearer),
        };
        if !self.write_depth {
            return (passes, failed, passed);
        }
        let rest = emit.i32(!self.format.max());
        let rest = emit.and(passed, rest);
        (passes, failed, emit.or(rest, depth))
    }
}

impl StencilKey {
    fn run(&self, emit: &mut Emit, stored: Value, nearer: Value) -> (Value, Value, Value) {
        let [reference, input_mask, write_mask] = [0, 4, 8].map(|at| emit.uniform_i32(STENCIL + at));
        let shift = emit.i32(STENCIL_SHIFT);
        let old = emit.ushr(stored, shift);
        let visible = if self.readable { old } else { emit.i32(0) };
        let [seen_reference, seen] = [reference, visible].map(|value| emit.and(value, input_mask));
        let passes = compare(emit, self.function, seen_reference, seen);
        let [stencil_fails, depth_fails, passed] = [self.stencil_fails, self.depth_fails, self.passes]
            .map(|action| apply(emit, action, old, visible, reference));
        let failed = emit.select(passes, depth_fails, stencil_fails);
        let [failed, passed] = [failed, passed].map(|new| {
            // The bits of the write mask that differ.
            let change = emit.xor(new, old);
            let change = emit.and(change, write_mask);
            let change = emit.shl(change, shift);
            emit.xor(stored, change)
        });
        (emit.and(passes, nearer), failed, passed)
    }
}

/// The new stencil value, of the stored one and what is seen of it.
fn apply(emit: &mut Emit, action: Action, stored: Value, old: Value, reference: Value) -> Value {
    let [zero, one, white] = [0, 1, 255].map(|value| emit.i32(value));
    match action {
        Action::Keep => stored,
        Action::Zero => zero,
        Action::Replace => reference,
        Action::Increment => {
            let new = emit.iadd(old, one);
            emit.imin(new, white)
        }
        Action::Decrement => {
            let new = emit.isub(old, one);
            emit.imax(new, zero)
        }
        Action::Invert => emit.xor(old, white),
        Action::IncrementWrap => {
            let new = emit.iadd(old, one);
            emit.and(new, white)
        }
        Action::DecrementWrap => {
            let new = emit.isub(old, one);
            emit.and(new, white)
        }
    }
}
