//! What the lifter of one instruction works with: values, types, the function being made.

use super::bind::Bindings;
use super::hits::HitObjects;
use super::int::Scalar;
use super::interface::Interface;
use super::known::Known;
use super::memory::{Memory, Pointer};
use super::node::Given;
use super::ops::Nvapi;
use super::queries::Queries;
use super::val::Val;
use super::{Lift, LiftError, LiftOptions, Stop};
use crate::binding::Remapper;
use crate::bitcode::{Body, Constant, Def, Inst, InstKind, Module, TypeId, ValueId};
use crate::program::{Program, ShaderFlags};
use rustc_hash::FxHashMap;
use xenoglot_ir::{Block, Builder, Flags, Function, Imm, Module as IrModule, Op, Type, Value};

/// Everything the lifter of one instruction needs.
pub(super) struct Cx<'a> {
    pub module: &'a Module,
    pub body: &'a Body,
    pub program: &'a Program,
    pub options: LiftOptions,
    pub ir: &'a mut IrModule,
    pub b: Builder<'a>,
    /// The IR's first block: constants, and memory that starts with something.
    prelude: Block,
    /// Constants that are there, by type and bits.
    pub known: FxHashMap<(Type, u64), Value>,
    /// Values of the function, the first one's number being the count of the module's.
    values: Known,
    /// Constants of the module.
    constants: Known,
    /// Which members of an aggregate that an instruction gives are ever looked at, by the value's place in the function.
    used: Vec<u32>,
    /// The operation that a function was found to be named after.
    pub operations: Vec<Option<crate::ops::Op>>,
    pub memory: Memory,
    pub remapper: &'a dyn Remapper,
    pub bound: Bindings,
    /// Whether pixels' invocations access something in the order of their primitives.
    pub ordered: bool,
    pub interface: Interface,
    pub queries: Queries,
    pub hits: HitObjects,
    /// The intrinsic of NVAPI at work.
    pub nvapi: Nvapi,
    /// What a node of a work graph was given.
    pub given: Option<Given>,
    /// Whether 16-bit types have 16 bits.
    pub native16: bool,
    /// Whether they have them in registers alone, and 32 in memory.
    pub wide_memory: bool,
    /// Whether quads are squares of the group ([`places`](super::places)).
    pub square_quads: bool,
    /// Where the function returns.
    pub end: Option<Block>,
    /// Functions that the one being lifted is called from.
    pub calls: u32,
    /// Instructions of LLVM that may still be lifted for calls.
    pub call_budget: usize,
    /// Sums and products of addresses, by the block that they are in.
    pub addresses: FxHashMap<(Block, Op, Value, Value), Value>,
    /// Whether a mesh shader says how many vertices and primitives there are.
    pub has_counts: bool,
    /// Members of the aggregates that were made so far.
    pub members: usize,
    /// The instruction being lifted.
    pub at: u32,
    /// Constant expressions that the one being lifted is in.
    pub expressions: u32,
}

impl<'a> Cx<'a> {
    pub fn new(
        module: &'a Module,
        body: &'a Body,
        program: &'a Program,
        (options, remapper): (LiftOptions, &'a dyn Remapper),
        ir: &'a mut IrModule,
        func: &'a mut Function,
    ) -> Result<Cx<'a>, LiftError> {
        let native16 = program.flags.contains(ShaderFlags::NATIVE_LOW_PRECISION);
        let prelude = func.add_block();
        let memory = Memory::new(module, program, options.limits)?;
        let calls = |name: &[u8]| module.functions.iter().any(|f| f.name.starts_with(name));
        let interface = Interface::new(calls(b"dx.op.attributeAtVertex."));
        Ok(Cx {
            module,
            body,
            program,
            options,
            ir,
            b: Builder::new(func, prelude),
            prelude,
            known: FxHashMap::default(),
            values: Known::default(),
            constants: Known::new(module.values.len()),
            used: Vec::new(),
            operations: vec![None; module.functions.len()],
            memory,
            remapper,
            bound: Bindings::default(),
            ordered: false,
            interface,
            queries: Queries::default(),
            hits: HitObjects::new(module),
            nvapi: Nvapi::default(),
            given: None,
            native16: native16 || options.native_min_precision,
            wide_memory: options.native_min_precision && !native16,
            square_quads: false,
            end: None,
            calls: 0,
            call_budget: call_budget(module),
            addresses: FxHashMap::default(),
            has_counts: false,
            members: 0,
            at: 0,
            expressions: 0,
        })
    }

    /// Works on another function for a while, with arguments.
    pub fn in_function<T>(&mut self, body: &'a Body, args: Vec<Val>, f: impl FnOnce(&mut Self) -> T) -> T {
        let mut values = Known::new(body.values.len());
        for (at, arg) in args.into_iter().enumerate() {
            values.set(at, arg);
        }
        let body = std::mem::replace(&mut self.body, body);
        let values = std::mem::replace(&mut self.values, values);
        let used = std::mem::replace(&mut self.used, used_members(self.module, self.body));
        let (end, at) = (self.end.take(), self.at);
        self.calls += 1;
        let made = f(self);
        self.calls -= 1;
        (self.body, self.values, self.used) = (body, values, used);
        (self.end, self.at) = (end, at);
        made
    }

    /// Ends the invocation here; what is appended next is not reached.
    pub fn end_invocation(&mut self) {
        self.b.ret(&[]);
        let block = self.b.func.add_block();
        self.b.switch_to(block);
    }

    /// Puts what `f` appends in front of everything else.
    pub fn in_prelude<T>(&mut self, f: impl FnOnce(&mut Builder<'a>) -> T) -> T {
        let here = self.b.block();
        self.b.switch_to(self.prelude);
        let made = f(&mut self.b);
        self.b.switch_to(here);
        made
    }

    /// Ends the first block and tells the sizes of memory.
    pub fn finish(&mut self) {
        self.b.func.private_size = self.memory.private_size();
        // Invocations that are launched one by one share nothing.
        self.ir.shared_size = if self.is_thread_node() { 0 } else { self.memory.shared_size() };
    }

    /// The block that returns.
    pub fn end(&mut self) -> Block {
        let func = &mut *self.b.func;
        *self.end.get_or_insert_with(|| func.add_block())
    }

    pub fn prelude(&self) -> Block {
        self.prelude
    }

    pub fn ty(&self, v: Value) -> Type {
        self.b.func.ty(v)
    }

    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.b.op(op, args)
    }

    /// An op that computes an address, once in a block.
    pub fn address_op(&mut self, op: Op, a: Value, b: Value) -> Value {
        let key = (self.b.block(), op, a, b);
        if let Some(&known) = self.addresses.get(&key) {
            return known;
        }
        let v = self.op(op, &[a, b]);
        self.addresses.insert(key, v);
        v
    }

    /// An instruction with one result of a type.
    pub fn inst(&mut self, op: Op, imm: Imm, args: &[Value], ty: Type) -> Value {
        let inst = self.b.inst(op, Flags::NONE, imm, args, &[ty]);
        self.b.func.results(inst)[0]
    }

    /// The type of a value of LLVM.
    pub fn type_of(&self, id: ValueId) -> Lift<TypeId> {
        self.module.value(Some(self.body), id).map(|v| v.ty).ok_or(Stop::Undefined(id.0))
    }

    pub fn def(&self, id: ValueId) -> Lift<&'a Def> {
        let (module, body) = (self.module, self.body);
        module.value(Some(body), id).map(|v| &v.def).ok_or(Stop::Undefined(id.0))
    }

    /// A value.
    pub fn value(&mut self, id: ValueId) -> Lift<Val> {
        let (known, at) = self.known(id);
        match known.get(at) {
            Some(known) => Ok(known),
            None => self.new_value(id),
        }
    }

    /// Where it is noted what a value is.
    #[inline]
    fn known(&self, id: ValueId) -> (&Known, usize) {
        let (id, base) = (id.0 as usize, self.constants.len());
        if id < base { (&self.constants, id) } else { (&self.values, id - base) }
    }

    #[inline]
    fn known_mut(&mut self, id: ValueId) -> (&mut Known, usize) {
        let (id, base) = (id.0 as usize, self.constants.len());
        if id < base { (&mut self.constants, id) } else { (&mut self.values, id - base) }
    }

    /// A value that was not asked for so far.
    fn new_value(&mut self, id: ValueId) -> Lift<Val> {
        match self.def(id)? {
            Def::Global(index) => self.global(*index),
            Def::Constant(constant) => {
                let ty = self.type_of(id)?;
                let v = self.lift_constant(constant, ty, 0)?;
                // Constants stand in front of everything, expressions where they are used.
                let plain = match &v {
                    Val::Pointer(pointer) => pointer.dynamic.is_none(),
                    _ => matches!(constant, Constant::Integer(_) | Constant::Float(_) | Constant::Undef),
                };
                if plain {
                    self.set(id, v.clone());
                }
                Ok(v)
            }
            _ => Err(Stop::Undefined(id.0)),
        }
    }

    /// A scalar, if it was asked for already: most are. Others take more.
    #[inline]
    pub fn known_scalar(&self, id: ValueId) -> Option<Value> {
        let (known, at) = self.known(id);
        known.scalar(at)
    }

    /// An address, if it was asked for already.
    #[inline]
    pub fn known_pointer(&self, id: ValueId) -> Option<&Pointer> {
        let (known, at) = self.known(id);
        known.pointer(at)
    }

    /// A scalar; zero where it is undefined.
    pub fn scalar(&mut self, id: ValueId) -> Lift<Value> {
        if let Some(v) = self.known_scalar(id) {
            return Ok(v);
        }
        let ty = self.type_of(id)?;
        let v = self.value(id)?;
        self.scalar_of(v, ty)
    }

    pub fn scalar_of(&mut self, v: Val, ty: TypeId) -> Lift<Value> {
        match v {
            Val::Scalar(v) => Ok(v),
            Val::Undef => {
                let ty = self.scalar_type(ty)?.ty;
                Ok(self.constant(ty, 0))
            }
            _ => Err(Stop::Unsupported("a value that is no scalar")),
        }
    }

    /// The scalar type of a value.
    pub fn scalar_type_of(&self, id: ValueId) -> Lift<Scalar> {
        self.scalar_type(self.type_of(id)?)
    }

    /// A constant integer of LLVM, with zeros above.
    pub fn integer(&self, id: ValueId) -> Lift<u64> {
        match self.def(id)? {
            Def::Constant(Constant::Integer(n)) => Ok(*n),
            Def::Constant(Constant::Null | Constant::Undef) => Ok(0),
            _ => Err(Stop::Unsupported("an operand that is not constant")),
        }
    }

    pub fn is_undef(&self, id: ValueId) -> bool {
        matches!(self.def(id), Ok(Def::Constant(Constant::Undef)))
    }

    /// [`Cx::set`] of a scalar.
    #[inline]
    pub fn set_scalar(&mut self, id: Option<ValueId>, v: Value) {
        if let Some(id) = id {
            let (known, at) = self.known_mut(id);
            known.set_scalar(at, v);
        }
    }

    /// Gives a value of the function its meaning.
    pub fn set(&mut self, id: ValueId, v: Val) {
        if let Val::Members(members) = &v {
            self.members += members.len();
        }
        let (known, at) = self.known_mut(id);
        known.set(at, v);
    }

    /// Which members of an instruction's result are looked at, a bit each; all of what is used as a whole.
    pub fn used_members(&self, result: Option<ValueId>) -> u32 {
        let local = |id: ValueId| (id.0 as usize).checked_sub(self.constants.len());
        result.and_then(local).and_then(|i| self.used.get(i).copied()).unwrap_or(0)
    }
}

/// How many instructions calls may come to: functions are lifted where they are called.
fn call_budget(module: &Module) -> usize {
    let insts = |f: &crate::bitcode::Function| f.body.as_ref().map_or(0, |b| b.insts.len());
    (1 << 12) + 16 * module.functions.iter().map(insts).sum::<usize>()
}

/// For each aggregate that an instruction gives, a bit for each of its first 32 members that something looks at; all ones
/// where it is used as a whole.
fn used_members(module: &Module, body: &Body) -> Vec<u32> {
    let mut used = vec![0; body.values.len()];
    let base = module.values.len();
    let mut note = |id: ValueId, bits: u32| {
        if let Some(used) = (id.0 as usize).checked_sub(base).and_then(|i| used.get_mut(i)) {
            *used |= bits;
        }
    };
    let member = |index: Option<&u32>| index.and_then(|&i| 1u32.checked_shl(i)).unwrap_or(0);
    for Inst { kind, .. } in &body.insts {
        match kind {
            InstKind::ExtractValue { aggregate, indices } => {
                note(*aggregate, member(body.list(*indices).first()))
            }
            InstKind::InsertValue { aggregate, value, .. } => {
                note(*aggregate, u32::MAX);
                note(*value, u32::MAX);
            }
            InstKind::Select(args) => args.iter().for_each(|&a| note(a, u32::MAX)),
            InstKind::Phi(incoming) => body.list(*incoming).iter().for_each(|&(v, _)| note(v, u32::MAX)),
            InstKind::Store { value, .. } => note(*value, u32::MAX),
            InstKind::Return(Some(value)) => note(*value, u32::MAX),
            InstKind::ExtractElement([vector, _]) => note(*vector, u32::MAX),
            InstKind::InsertElement([vector, ..]) => note(*vector, u32::MAX),
            InstKind::ShuffleVector([a, b, _]) => [*a, *b].into_iter().for_each(|v| note(v, u32::MAX)),
            _ => {}
        }
    }
    used
}
