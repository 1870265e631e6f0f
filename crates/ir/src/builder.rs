//! Appends instructions to a block, inferring result types from the op table.

mod lanes;
mod slots;

pub use lanes::ANY_LANE;

use crate::entities::{Block, Func, Inst, Value, Var};
use crate::flags::Flags;
use crate::func::{Edge, Function, NO_GUEST, TermKind};
use crate::imm::{Imm, Lanes, MemInfo};
use crate::op::{Op, result_type};
use crate::ty::{Bits, Kind, Type};
use slots::Forward;
use smallvec::{SmallVec, smallvec};

/// A cursor at the end of a block.
///
/// The builder does not check operand types: what it makes is checked by the verifier. Where the result type
/// cannot be inferred from ill-typed operands it is `i32`.
pub struct Builder<'f> {
    /// The function.
    pub func: &'f mut Function,
    block: Block,
    guest: u32,
    forward: Option<Box<Forward>>,
}

impl<'f> Builder<'f> {
    /// A cursor at the end of `block`.
    pub fn new(func: &'f mut Function, block: Block) -> Builder<'f> {
        Builder { func, block, guest: NO_GUEST, forward: None }
    }

    /// A cursor that forwards slots within a block: [`Builder::slot_get`] and [`Builder::slot_get_lanes`] give the values
    /// that were set or read last, and of the sets only what is left of them is appended, when the block ends or the cursor
    /// leaves it. For front ends whose instructions set many registers; an instruction that only moves may leave no trace.
    /// The last block under the cursor has to be ended.
    pub fn forwarding(func: &'f mut Function, block: Block) -> Builder<'f> {
        Builder { func, block, guest: NO_GUEST, forward: Some(Box::default()) }
    }

    /// The block under the cursor.
    pub fn block(&self) -> Block {
        self.block
    }

    /// Moves to the end of `block`.
    pub fn switch_to(&mut self, block: Block) {
        self.append_sets();
        self.block = block;
    }

    /// Begins the guest instruction at `guest`: notes the block in [`Function::guest_code`], and sets the address of what
    /// follows.
    pub fn begin_guest(&mut self, guest: u32) {
        self.func.guest_code.push((self.block, guest));
        self.guest = guest;
    }

    /// The guest address of what follows.
    pub fn guest(&self) -> u32 {
        self.guest
    }

    /// Sets the guest address of what follows; [`NO_GUEST`] for none.
    pub fn set_guest(&mut self, guest: u32) {
        self.guest = guest;
    }

    /// Appends an instruction with any results.
    pub fn inst(&mut self, op: Op, flags: Flags, imm: Imm, args: &[Value], results: &[Type]) -> Inst {
        let inst = self.func.make_inst(op, flags, imm, args, results, self.guest);
        self.func.blocks[self.block].insts.push(inst);
        inst
    }

    fn value(&mut self, op: Op, flags: Flags, imm: Imm, args: &[Value], ty: Type) -> Value {
        let (inst, value) = self.func.make_value(op, flags, imm, args, ty, self.guest);
        self.func.blocks[self.block].insts.push(inst);
        value
    }

    /// Appends an op whose result type follows from its operands.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.op_flags(op, Flags::NONE, args)
    }

    /// [`Builder::op`] with flags.
    pub fn op_flags(&mut self, op: Op, flags: Flags, args: &[Value]) -> Value {
        self.op_imm(op, flags, Imm::None, args)
    }

    /// [`Builder::op_flags`] with an immediate.
    pub fn op_imm(&mut self, op: Op, flags: Flags, imm: Imm, args: &[Value]) -> Value {
        let ty = |v| self.func.ty(v);
        // What the types of more operands are does not matter to any op's result.
        let ty = match *args {
            [] => result_type(op, &[]),
            [a] => result_type(op, &[ty(a)]),
            [a, b] => result_type(op, &[ty(a), ty(b)]),
            [a, b, c] => result_type(op, &[ty(a), ty(b), ty(c)]),
            [a, b, c, d, ..] => result_type(op, &[ty(a), ty(b), ty(c), ty(d)]),
        };
        let ty = ty.unwrap_or(Type::I32);
        self.value(op, flags, imm, args, ty)
    }

    /// [`Builder::op_flags`] where the type of the result is known.
    #[inline]
    pub fn op_typed(&mut self, op: Op, flags: Flags, args: &[Value], ty: Type) -> Value {
        self.value(op, flags, Imm::None, args, ty)
    }

    /// Appends a conversion, bitcast or splat to `ty`.
    pub fn convert(&mut self, op: Op, flags: Flags, arg: Value, ty: Type) -> Value {
        self.value(op, flags, Imm::None, &[arg], ty)
    }

    /// A constant.
    pub fn constant(&mut self, ty: Type, bits: Bits) -> Value {
        let c = self.func.consts.push(bits);
        self.value(Op::Const, Flags::NONE, Imm::Const(c), &[], ty)
    }

    /// A 32-bit integer constant.
    pub fn i32(&mut self, v: u32) -> Value {
        self.constant(Type::I32, Bits::scalar(u64::from(v)))
    }

    /// A 32-bit float constant.
    pub fn f32(&mut self, v: f32) -> Value {
        self.constant(Type::F32, Bits::scalar(u64::from(v.to_bits())))
    }

    /// A truth constant.
    pub fn bool(&mut self, v: bool) -> Value {
        self.constant(Type::BOOL, Bits::scalar(u64::from(v)))
    }

    /// A four-lane float constant.
    pub fn f32x4(&mut self, lanes: [f32; 4]) -> Value {
        self.constant(Type::F32X4, Bits::f32x4(lanes))
    }

    /// An undefined value.
    pub fn undef(&mut self, ty: Type) -> Value {
        self.value(Op::Undef, Flags::NONE, Imm::None, &[], ty)
    }

    /// One lane of a vector.
    pub fn extract(&mut self, v: Value, lane: u8) -> Value {
        self.op_imm(Op::Extract, Flags::NONE, Imm::Lane(lane), &[v])
    }

    /// A vector with one lane replaced.
    pub fn insert(&mut self, v: Value, lane: u8, scalar: Value) -> Value {
        self.op_imm(Op::Insert, Flags::NONE, Imm::Lane(lane), &[v, scalar])
    }

    /// Lanes of two vectors of one type; 0 to 3 from `a`, 4 to 7 from `b`.
    pub fn shuffle(&mut self, a: Value, b: Value, lanes: Lanes) -> Value {
        let n = lanes.as_slice().len() as u8;
        let ty = self.func.ty(a).with_lanes(n).unwrap_or(Type::I32);
        self.value(Op::Shuffle, Flags::NONE, Imm::Lanes(lanes), &[a, b], ty)
    }

    /// `cond ? a : b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.op(Op::Select, &[cond, a, b])
    }

    /// Copies of a scalar in every lane of a vector of `lanes` lanes (the scalar itself for one).
    pub fn splat(&mut self, scalar: Value, lanes: u8) -> Value {
        match self.func.ty(scalar).with_lanes(lanes) {
            Some(ty) if lanes > 1 => self.convert(Op::Splat, Flags::NONE, scalar, ty),
            _ => scalar,
        }
    }

    /// Reads an input or builtin of type `ty`.
    pub fn input(&mut self, var: Var, ty: Type) -> Value {
        self.value(Op::Input, Flags::NONE, Imm::Var(var), &[], ty)
    }

    /// Writes an output or builtin.
    pub fn output(&mut self, var: Var, v: Value) {
        self.inst(Op::Output, Flags::NONE, Imm::Var(var), &[v], &[]);
    }

    /// Loads a `ty`.
    pub fn load(&mut self, mem: MemInfo, offset: Value, ty: Type) -> Value {
        self.value(Op::Load, Flags::NONE, Imm::Mem(mem), &[offset], ty)
    }

    /// Stores `v`.
    pub fn store(&mut self, mem: MemInfo, offset: Value, v: Value) {
        self.inst(Op::Store, Flags::NONE, Imm::Mem(mem), &[offset, v], &[]);
    }

    /// Calls `func`, which returns values of the given types.
    pub fn call(&mut self, func: Func, args: &[Value], returns: &[Type]) -> Inst {
        self.inst(Op::Call, Flags::NONE, Imm::Func(func), args, returns)
    }

    /// Calls `func`, which computes a value of type `ty` from its operands alone.
    pub fn call_pure(&mut self, func: Func, args: &[Value], ty: Type) -> Value {
        self.value(Op::CallPure, Flags::NONE, Imm::Func(func), args, ty)
    }

    /// A comparison of two integers or floats, or any other op that gives a `bool`, negated.
    pub fn not(&mut self, v: Value) -> Value {
        debug_assert!(self.func.ty(v).kind() == Kind::Bool || self.func.ty(v).kind().is_int());
        self.op(Op::Not, &[v])
    }

    fn term(&mut self, kind: TermKind, args: &[Value], edges: SmallVec<[Edge; 2]>, cases: Vec<u64>) {
        self.append_sets();
        self.func.set_term(self.block, kind, args, edges, cases, self.guest);
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: Block, args: &[Value]) {
        self.append_sets();
        self.func.set_jump(self.block, to, args, self.guest);
    }

    /// Ends the block with a branch: to the first target if `cond` is true, else to the second.
    pub fn branch(&mut self, cond: Value, yes: (Block, &[Value]), no: (Block, &[Value])) {
        let yes = self.func.make_edge(yes.0, yes.1);
        let no = self.func.make_edge(no.0, no.1);
        self.term(TermKind::Branch, &[cond], smallvec![yes, no], Vec::new());
    }

    /// Ends the block with a switch.
    pub fn switch(&mut self, v: Value, cases: &[(u64, Block, &[Value])], default: (Block, &[Value])) {
        let mut edges: SmallVec<[Edge; 2]> =
            cases.iter().map(|&(_, b, args)| self.func.make_edge(b, args)).collect();
        edges.push(self.func.make_edge(default.0, default.1));
        self.term(TermKind::Switch, &[v], edges, cases.iter().map(|c| c.0).collect());
    }

    /// Ends the block with a return.
    pub fn ret(&mut self, values: &[Value]) {
        self.term(TermKind::Return, values, SmallVec::new(), Vec::new());
    }

    /// Ends the block with `unreachable`.
    pub fn unreachable(&mut self) {
        self.term(TermKind::Unreachable, &[], SmallVec::new(), Vec::new());
    }

    /// Ends the block with `kill`.
    pub fn kill(&mut self) {
        self.term(TermKind::Kill, &[], SmallVec::new(), Vec::new());
    }
}
