//! Objects of inline ray queries.
//!
//! An allocation gives a number, which is mostly used where it was made. A shader may keep it in variables, too, and choose
//! between several: then all its queries are one array, and the number says which.

use super::cx::Cx;
use super::{Lift, LiftError, Stop};
use crate::bitcode::{Body, Def, InstKind, Module, ValueId};
use crate::ops::Op as Dx;
use smallvec::SmallVec;
use xenoglot_ir::module::{Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Op, Resource, Value};

/// Queries that a number in 16 bits can tell apart; the flags of their rays are in the bits above.
const MOST: u32 = 1 << 16;

/// The queries of a shader.
#[derive(Default)]
pub(super) struct Queries {
    /// Where queries are variables of their own.
    single: Vec<Resource>,
    /// Where they are elements of an array.
    array: Option<(Resource, u32)>,
    /// Whether numbers are computed with; none before it is asked.
    computed: Option<bool>,
}

/// A query that an operation works on.
#[derive(Clone)]
pub(super) struct Query {
    /// The query, or the array that it is in.
    pub resource: Resource,
    /// Which element.
    pub element: Option<Value>,
    /// Flags of all its rays.
    pub flags: Value,
}

impl Query {
    /// The operands of an op on the query.
    pub fn operands(&self, of_op: &[Value]) -> SmallVec<[Value; 10]> {
        of_op.iter().copied().chain(self.element).collect()
    }
}

impl Cx<'_> {
    /// The number of a new query, all of whose rays have these flags.
    pub(super) fn new_query(&mut self, flags: u32) -> Lift<Value> {
        let computed = *self.queries.computed.get_or_insert_with(|| is_computed(self.module));
        let number = match computed {
            false => self.queries.single.len() as u32,
            true => self.queries.array.map_or(0, |(_, count)| count),
        };
        if number >= MOST || flags >= MOST {
            return Err(LiftError::Memory.into());
        }
        let data = |count| ResourceData {
            name: format!("query{number}"),
            kind: ResourceKind::RayQuery,
            set: 0,
            binding: number,
            count,
            oob: OutOfBounds::Undefined,
        };
        if computed {
            let resources = &mut self.ir.resources;
            let (array, count) =
                self.queries.array.get_or_insert_with(|| (resources.push(data(Count::One)), 0));
            *count += 1;
            resources[*array].count = Count::Fixed(*count);
        } else {
            self.queries.single.push(self.ir.resources.push(data(Count::One)));
        }
        Ok(self.i32(number | flags << 16))
    }

    /// The query of a number.
    pub(super) fn query_of(&mut self, number: Value) -> Lift<Query> {
        let known = self.b.func.const_bits(number).map(|b| b.lane(0) as u32);
        if let Some((resource, _)) = self.queries.array {
            let (low, sixteen) = (self.i32(MOST - 1), self.i32(16));
            let (element, flags) = match known {
                Some(known) => (self.i32(known & (MOST - 1)), self.i32(known >> 16)),
                None => (self.op(Op::And, &[number, low]), self.op(Op::Ushr, &[number, sixteen])),
            };
            return Ok(Query { resource, element: Some(element), flags });
        }
        let single = known.and_then(|n| self.queries.single.get((n & (MOST - 1)) as usize));
        let resource = *single.ok_or(Stop::Unsupported("a ray query of unknown origin"))?;
        let flags = self.i32(known.unwrap_or(0) >> 16);
        Ok(Query { resource, element: None, flags })
    }
}

/// Whether the number of some query goes elsewhere than into operations on it.
fn is_computed(module: &Module) -> bool {
    let bodies = module.functions.iter().filter_map(|f| f.body.as_ref());
    bodies.into_iter().any(|body| {
        let allocated: Vec<ValueId> = body
            .insts
            .iter()
            .filter(|inst| {
                let op = called(module, body, &inst.kind);
                matches!(op, Some(Dx::AllocateRayQuery | Dx::AllocateRayQuery2))
            })
            .filter_map(|inst| inst.result)
            .collect();
        let is_query = |id: ValueId| allocated.binary_search(&id).is_ok();
        !allocated.is_empty() && body.insts.iter().any(|inst| uses(module, body, &inst.kind, &is_query))
    })
}

/// Whether an instruction that is no operation uses one of some values.
fn uses(module: &Module, body: &Body, kind: &InstKind, is_query: &dyn Fn(ValueId) -> bool) -> bool {
    match kind {
        InstKind::Phi(incoming) => body.list(*incoming).iter().any(|&(value, _)| is_query(value)),
        InstKind::Select([_, yes, no]) => is_query(*yes) || is_query(*no),
        InstKind::Store { value, .. } | InstKind::Return(Some(value)) => is_query(*value),
        InstKind::InsertValue { value, .. } => is_query(*value),
        InstKind::InsertElement([_, value, _]) => is_query(*value),
        InstKind::Call { args, .. } if called(module, body, kind).is_none() => {
            body.list(*args).iter().filter_map(|a| a.value()).any(is_query)
        }
        _ => false,
    }
}

/// The operation that an instruction calls.
pub(super) fn called(module: &Module, body: &Body, kind: &InstKind) -> Option<Dx> {
    let InstKind::Call { callee, args, .. } = kind else { return None };
    let Def::Function(function) = module.value(Some(body), *callee)?.def else { return None };
    if !module.functions.get(function as usize)?.name.starts_with(b"dx.op.") {
        return None;
    }
    let number = module.value(Some(body), body.list(*args).first()?.value()?)?;
    match number.def {
        Def::Constant(crate::bitcode::Constant::Integer(number)) => {
            Dx::from_number(u32::try_from(number).ok()?)
        }
        _ => None,
    }
}
