//! Numbers, and ops as they are appended: constants are made once for the function, ops on constants are folded and those
//! that leave an operand as it is go, so that the passes have less to look at.

use super::cx::Cx;
use rustc_hash::FxHashMap;
use xenoglot_ir::entity::packed_option::PackedOption;
use xenoglot_ir::fold::{self, MAX_FOLD_ARGS};
use xenoglot_ir::op::result_type;
use xenoglot_ir::{Bits, Block, Flags, Imm, NO_GUEST, Op, Type, Value};

/// Constants of a function by type and bits, all in its first block.
pub(super) struct Numbers {
    home: Block,
    values: FxHashMap<(Type, u32), Value>,
    /// The small integers and the truth values among them: nearly all that is asked for.
    small: [PackedOption<Value>; SMALL],
    truths: [PackedOption<Value>; 2],
}

const SMALL: usize = 33;

impl Numbers {
    /// None yet; they will be in `home`, which dominates every block.
    pub fn new(home: Block) -> Numbers {
        let small = [PackedOption::default(); SMALL];
        Numbers { home, values: FxHashMap::default(), small, truths: Default::default() }
    }
}

impl Cx<'_> {
    /// A constant of up to 32 bits.
    fn shared_constant(&mut self, ty: Type, bits: u32) -> Value {
        let Numbers { home, values, .. } = &mut self.numbers;
        *values.entry((ty, bits)).or_insert_with(|| {
            let func = &mut *self.b.func;
            let c = func.consts.push(Bits::scalar(bits.into()));
            let inst = func.make_inst(Op::Const, Flags::NONE, Imm::Const(c), &[], &[ty], NO_GUEST);
            func.blocks[*home].insts.push(inst);
            // One result type gives one result.
            func.results(inst)[0]
        })
    }

    /// A 32-bit number.
    #[inline]
    pub fn number(&mut self, v: u32) -> Value {
        match self.numbers.small.get(v as usize).and_then(|known| known.expand()) {
            Some(known) => known,
            None => self.new_number(v),
        }
    }

    fn new_number(&mut self, v: u32) -> Value {
        let value = self.shared_constant(Type::I32, v);
        if let Some(known) = self.numbers.small.get_mut(v as usize) {
            *known = value.into();
        }
        value
    }

    /// Zero.
    pub fn zero(&mut self) -> Value {
        self.number(0)
    }

    /// A truth value.
    pub fn truth(&mut self, v: bool) -> Value {
        if let Some(known) = self.numbers.truths[usize::from(v)].expand() {
            return known;
        }
        let value = self.shared_constant(Type::BOOL, v.into());
        self.numbers.truths[usize::from(v)] = value.into();
        value
    }

    /// The number that a value is, if it is a constant scalar of up to 32 bits.
    #[inline]
    pub fn known_number(&self, v: Value) -> Option<u32> {
        let lane = self.b.func.const_lane(v)?;
        matches!(self.b.func.ty(v), Type::I32 | Type::BOOL).then_some(lane as u32)
    }

    /// An op without flags.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        match self.shortened(op, args) {
            Some(v) => v,
            None => self.b.op(op, args),
        }
    }

    /// A truth value or an integer, inverted.
    pub fn not(&mut self, v: Value) -> Value {
        self.op(Op::Not, &[v])
    }

    /// `a` where `cond` holds, else `b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        match self.known_number(cond) {
            _ if a == b => a,
            Some(cond) => {
                if cond != 0 {
                    a
                } else {
                    b
                }
            }
            None => self.b.select(cond, a, b),
        }
    }

    /// What an op gives without being appended.
    fn shortened(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        let mut known = [None; MAX_FOLD_ARGS];
        for (known, &v) in known.get_mut(..args.len())?.iter_mut().zip(args) {
            *known = self.known_number(v);
        }
        let known = &known[..args.len()];
        if known.iter().all(Option::is_none) {
            return None;
        }
        match (op, known, args) {
            (
                Op::Iadd | Op::Isub | Op::Or | Op::Xor | Op::Shl | Op::Ushr | Op::Sshr,
                &[_, Some(0)],
                &[a, _],
            )
            | (Op::Iadd | Op::Or | Op::Xor, &[Some(0), _], &[_, a]) => Some(a),
            (Op::Shl | Op::Ushr | Op::Sshr, &[Some(0), _], &[zero, _]) => Some(zero),
            (Op::And, &[_, Some(k)], &[a, b]) | (Op::And, &[Some(k), _], &[b, a]) => {
                let all = self.b.func.ty(a).kind().mask() as u32;
                (k == all).then_some(a).or((k == 0).then_some(b))
            }
            (Op::Or, &[_, Some(1)], &[_, one]) | (Op::Or, &[Some(1), _], &[one, _])
                if self.b.func.ty(one) == Type::BOOL =>
            {
                Some(one)
            }
            _ if known.iter().all(Option::is_some) && !op.info().traits.convergent => {
                self.evaluated(op, known, args)
            }
            _ => None,
        }
    }

    /// What an op on constants gives.
    fn evaluated(&mut self, op: Op, known: &[Option<u32>], args: &[Value]) -> Option<Value> {
        let mut bits = [Bits::default(); MAX_FOLD_ARGS];
        let mut types = [Type::I32; MAX_FOLD_ARGS];
        for (i, (known, &v)) in known.iter().zip(args).enumerate() {
            bits[i] = Bits::scalar((*known)?.into());
            types[i] = self.b.func.ty(v);
        }
        let types = types.get(..args.len())?;
        let result = result_type(op, types).filter(|ty| matches!(*ty, Type::I32 | Type::BOOL))?;
        let cx = fold::Cx { result, arg: *types.first()?, flags: Flags::NONE, imm: Imm::None };
        let v = fold::eval(op, &cx, &bits[..args.len()], types).ok()?;
        Some(self.shared_constant(result, v.0[0] as u32))
    }
}
