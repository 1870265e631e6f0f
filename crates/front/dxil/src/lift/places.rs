//! Places of invocations in their group.
//!
//! Quads of the IR are four invocations that follow each other in the workgroup, and so are Direct3D's, but for groups of
//! SM 6.6 and later whose X and Y are even: there a quad is a square of `SV_GroupThreadID`, in whichever lanes the driver
//! puts it. A shader that looks into such quads is given a workgroup of (2X, Y/2, Z), a row of which holds two rows of the
//! group, square after square:
//!
//! ```text
//! 0 1 | 2 3        0 1 4 5 | 2 3 6 7
//! 4 5 | 6 7   →
//! ```
//!
//! Its invocations' numbers in the group are computed from where they are. Four lanes that follow each other are a quad
//! then, on every host, for derivatives, quad operations and whatever a shader makes of its lane's number. Others are left
//! as they are: shaders without quads often count on lanes that follow rows.
//!
//! Source: "HLSL Shader Model 6.6 Derivatives" of the DirectX specifications.

use super::cx::Cx;
use super::{Lift, Stop};
use crate::bitcode::{Body, Constant, Def, InstKind, Module};
use crate::model::ShaderModel;
use crate::ops::Op as Dx;
use crate::program::Program;
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Op, Type, Value};

/// Whether the shader looks into quads that are squares of its group.
pub(super) fn has_square_quads(module: &Module, program: &Program) -> bool {
    let [x, y, _] = program.threads;
    let even = x % 2 == 0 && y % 2 == 0;
    even && program.model >= ShaderModel::sm6(6) && needs_quads(module)
}

/// The host's workgroup for a group with square quads.
pub(super) fn workgroup([x, y, z]: [u32; 3]) -> [u32; 3] {
    [x.saturating_mul(2), y / 2, z]
}

/// Whether some function of the module calls an operation that looks into a quad.
fn needs_quads(module: &Module) -> bool {
    let is_op = |body: &Body, kind: &InstKind| {
        let InstKind::Call { callee, args, .. } = kind else { return false };
        let Some(Def::Function(callee)) = module.value(Some(body), *callee).map(|v| &v.def) else {
            return false;
        };
        let function = module.functions.get(*callee as usize);
        let number = body.list(*args).first().and_then(|number| number.value());
        let number = number.and_then(|id| module.value(Some(body), id)).map(|v| &v.def);
        match (function, number) {
            (Some(function), Some(Def::Constant(Constant::Integer(number)))) => {
                let op = u32::try_from(*number).ok().and_then(Dx::from_number);
                function.name.starts_with(b"dx.op.") && op.is_some_and(Dx::needs_quads)
            }
            _ => false,
        }
    };
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref());
    bodies.into_iter().any(|body| body.insts.iter().any(|inst| is_op(body, &inst.kind)))
}

impl Cx<'_> {
    /// A component of `SV_GroupThreadID`.
    pub(super) fn place_in_group(&mut self, lane: u8) -> Lift<Value> {
        let local = self.builtin(Builtin::LocalInvocationId, Type::I32X3);
        if !self.square_quads || lane > 1 {
            return self.component_of(local, lane);
        }
        // In a row: squares of four, in which bit 0 is x and bit 1 is y.
        let along = self.b.extract(local, 0);
        let one = self.i32(1);
        let bit = match lane {
            0 => along,
            _ => self.op(Op::Ushr, &[along, one]),
        };
        let bit = self.op(Op::And, &[bit, one]);
        let pair = match lane {
            0 => {
                let two = self.i32(2);
                self.op(Op::Ushr, &[along, two])
            }
            _ => self.b.extract(local, 1),
        };
        let first = self.op(Op::Shl, &[pair, one]);
        Ok(self.op(Op::Or, &[first, bit]))
    }

    /// A component of `SV_DispatchThreadID`.
    pub(super) fn place_in_dispatch(&mut self, lane: u8) -> Lift<Value> {
        if !self.square_quads || lane > 1 {
            let global = self.builtin(Builtin::GlobalInvocationId, Type::I32X3);
            return self.component_of(global, lane);
        }
        let group = self.builtin(Builtin::WorkgroupId, Type::I32X3);
        let group = self.component_of(group, lane)?;
        let size = self.i32(self.program.threads[usize::from(lane)]);
        let first = self.op(Op::Imul, &[group, size]);
        let place = self.place_in_group(lane)?;
        Ok(self.op(Op::Iadd, &[first, place]))
    }

    /// `SV_GroupIndex`: places in the group, counted by rows.
    pub(super) fn index_in_group(&mut self) -> Lift<Value> {
        if !self.square_quads {
            return Ok(self.builtin(Builtin::LocalInvocationIndex, Type::I32));
        }
        let [x, y, _] = self.program.threads.map(|n| self.i32(n));
        let mut index = self.place_in_group(2)?;
        for (size, lane) in [(y, 1), (x, 0)] {
            let before = self.op(Op::Imul, &[index, size]);
            let place = self.place_in_group(lane)?;
            index = self.op(Op::Iadd, &[before, place]);
        }
        Ok(index)
    }

    /// A component of three.
    pub(super) fn component_of(&mut self, v: Value, lane: u8) -> Lift<Value> {
        match lane {
            0..=2 => Ok(self.b.extract(v, lane)),
            _ => Err(Stop::Unsupported("its component")),
        }
    }
}
