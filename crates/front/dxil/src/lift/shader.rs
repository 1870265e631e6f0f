//! What is around a shader's function: what it is given, and what becomes of its outputs.

use super::cx::Cx;
use super::flow;
use super::interface::Signature;
use super::val::Val;
use super::{LiftError, Stop};
use crate::bitcode::{Body, Def};
use xenoglot_ir::imm::{BarrierInfo, Scope};
use xenoglot_ir::module::{Builtin, PayloadKind};
use xenoglot_ir::{Flags, Imm, NO_GUEST, Op, Stage, Type};

/// Lifts the shader.
pub(super) fn emit(cx: &mut Cx<'_>) -> Result<(), LiftError> {
    if cx.ir.stage == Stage::Geometry {
        cx.declare_outputs().map_err(|stop| outside(stop, "the outputs"))?;
    }
    cx.begin_node().map_err(|stop| outside(stop, "the node's arguments"))?;
    let args = arguments(cx)?;
    let body = cx.body;
    let (entry, end) = cx.in_function(body, args, |cx| Ok::<_, LiftError>((flow::body(cx)?, cx.end)))?;
    cx.b.set_guest(NO_GUEST);
    if let Some(end) = end {
        if !cx.b.func.params(end).is_empty() {
            return Err(LiftError::Entry);
        }
        cx.b.switch_to(end);
        match cx.ir.stage {
            Stage::Vertex | Stage::Fragment | Stage::TessEval => written(cx, Signature::Output)?,
            Stage::TessControl => {
                written(cx, Signature::Output)?;
                patch(cx)?;
            }
            _ => {}
        }
        cx.positions_are_whole().map_err(|stop| outside(stop, "the outputs"))?;
        if cx.ordered {
            // The whole of the shader: nobody knows which of its accesses come first and last.
            cx.b.inst(Op::InterlockEnd, Flags::NONE, Imm::None, &[], &[]);
            cx.in_prelude(|b| b.inst(Op::InterlockBegin, Flags::NONE, Imm::None, &[], &[]));
        }
        cx.b.ret(&[]);
    }
    cx.b.switch_to(cx.prelude());
    if cx.ir.stage == Stage::Mesh && !cx.has_counts {
        // A mesh of which nothing is said is empty.
        let zero = cx.i32(0);
        cx.b.inst(Op::MeshSetCounts, Flags::NONE, Imm::None, &[zero; 2], &[]);
    }
    match cx.given.and_then(|given| given.is_launched) {
        Some(is_launched) => {
            let none = cx.b.func.add_block();
            cx.b.branch(is_launched, (entry, &[]), (none, &[]));
            cx.b.switch_to(none);
            cx.b.ret(&[]);
        }
        None => cx.b.jump(entry, &[]),
    }
    Ok(())
}

fn written(cx: &mut Cx<'_>, signature: Signature) -> Result<(), LiftError> {
    cx.write_outputs(signature, 0).map_err(|stop| outside(stop, "the outputs"))
}

/// What stops the lifter where no instruction is at work.
fn outside(stop: Stop, text: &str) -> LiftError {
    match stop {
        Stop::Error(e) => *e,
        Stop::Undefined(value) => LiftError::Order { inst: 0, value },
        Stop::Unsupported(why) => LiftError::Unsupported { inst: 0, text: text.into(), why },
    }
}

/// Shaders of rays are given addresses: of the payload, then of the hit's attributes.
fn arguments(cx: &mut Cx<'_>) -> Result<Vec<Val>, LiftError> {
    let is_argument =
        |body: &Body, n: usize| matches!(body.values.get(n).map(|v| &v.def), Some(Def::Argument(_)));
    let count = (0..3).take_while(|&n| is_argument(cx.body, n)).count();
    let kinds: &[PayloadKind] = match cx.ir.stage {
        Stage::AnyHit | Stage::ClosestHit => &[PayloadKind::IncomingRay, PayloadKind::HitAttribute],
        Stage::Miss => &[PayloadKind::IncomingRay],
        Stage::Callable => &[PayloadKind::IncomingCallable],
        _ => &[],
    };
    if count > kinds.len() {
        return Err(LiftError::Entry);
    }
    let mut args = Vec::new();
    for (&kind, value) in kinds.iter().zip(&cx.body.values).take(count) {
        let pointee = cx.module.types.pointee(value.ty).ok_or(LiftError::Entry)?.0;
        let bytes = cx.memory.size(pointee).map_err(|stop| outside(stop, "the payload"))?;
        let region = cx.payload(kind, bytes).map_err(|stop| outside(stop, "the payload"))?;
        args.push(Val::Pointer(cx.memory.whole(region)));
    }
    Ok(args)
}

/// When all control points are there, one invocation computes what there is once for the patch.
fn patch(cx: &mut Cx<'_>) -> Result<(), LiftError> {
    let functions = &cx.module.functions;
    let function =
        cx.program.patch_function.and_then(|f| functions.get(f as usize)).ok_or(LiftError::Entry)?;
    let body = function.body.as_ref().ok_or(LiftError::Entry)?;
    let info =
        BarrierInfo { scope: Scope::Workgroup, shared: false, storage: false, image: false, exec: true };
    cx.b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
    let (own, zero) = (cx.builtin(Builtin::InvocationId, Type::I32), cx.i32(0));
    let first = cx.op(Op::IcmpEq, &[own, zero]);
    let here = cx.b.block();
    let (entry, end) =
        cx.in_function(body, Vec::new(), |cx| Ok::<_, LiftError>((flow::body(cx)?, cx.end)))?;
    cx.b.set_guest(NO_GUEST);
    let done = cx.b.func.add_block();
    cx.b.switch_to(here);
    cx.b.branch(first, (entry, &[]), (done, &[]));
    if let Some(end) = end {
        if !cx.b.func.params(end).is_empty() {
            return Err(LiftError::Entry);
        }
        cx.b.switch_to(end);
        written(cx, Signature::Patch)?;
        cx.b.jump(done, &[]);
    }
    cx.b.switch_to(done);
    Ok(())
}
