//! Splits the byte offset of an access into `value * factor + constant`. The writer then computes the number of the element
//! directly, instead of computing bytes and dividing them again.
//!
//! Done only for hosts that check bounds themselves (`host_bounds`): an offset that wraps around in 32 bits is out of bounds
//! there, and does not access the place that it wraps to.

use crate::pure::const_bits;
use xenoglot_ir::{Function, Imm, Inst, Op, Space, Value};

/// `value * factor + plus`; `factor` is a multiple of 4.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) value: Value,
    pub(crate) factor: u32,
    pub(crate) plus: u32,
}

/// An operand and the constant beside it.
fn with_constant(function: &Function, inst: Inst) -> Option<(Value, u32)> {
    let &[a, b] = function.args(inst) else { return None };
    let bits = |v| const_bits(function, v).map(|bits| bits.lane(0) as u32);
    bits(b).map(|b| (a, b)).or_else(|| bits(a).map(|a| (b, a)))
}

/// Splits an offset; `None` if it has not this form.
pub(crate) fn parts(function: &Function, offset: Value) -> Option<Parts> {
    let (mut product, mut plus) = (function.def_inst(offset)?, 0);
    if function.insts[product].op == Op::Iadd {
        let (value, constant) = with_constant(function, product)?;
        (product, plus) = (function.def_inst(value)?, constant);
    }
    let (value, factor) = match function.insts[product].op {
        Op::Shl => {
            let &[value, by] = function.args(product) else { return None };
            (value, 1u32.checked_shl(const_bits(function, by)?.lane(0) as u32)?)
        }
        Op::Imul => with_constant(function, product)?,
        _ => return None,
    };
    (factor != 0 && factor.is_multiple_of(4)).then_some(Parts { value, factor, plus })
}

/// The parts of an access's offset, if it is split.
#[inline]
pub(crate) fn of_access(function: &Function, inst: Inst) -> Option<Parts> {
    match function.insts[inst].imm {
        Imm::Mem(mem) if mem.space != Space::Global => parts(function, *function.args(inst).first()?),
        _ => None,
    }
}

/// Instructions that are no longer needed once the accesses of a function split their offsets.
#[derive(Default)]
pub(crate) struct Offsets {
    /// By value; empty if nothing is taken apart.
    needed: Vec<bool>,
    pending: Vec<Inst>,
}

/// Whether an instruction may be part of an offset and nothing else.
fn is_part(function: &Function, inst: Inst) -> bool {
    matches!(function.insts[inst].op, Op::Iadd | Op::Shl | Op::Imul)
}

impl Offsets {
    /// Finds these instructions; none if `apart` is false, because accesses do not split their offsets then.
    pub(crate) fn find(&mut self, function: &Function, apart: bool) {
        self.needed.clear();
        let splits = |inst: &Inst| of_access(function, *inst).is_some();
        if !apart || !function.layout.iter().any(|&block| function.blocks[block].insts.iter().any(splits)) {
            return;
        }
        let insts = || function.layout.iter().flat_map(|&block| &function.blocks[block].insts).copied();
        self.needed.resize(function.values.len(), false);
        for inst in insts().filter(|&inst| !is_part(function, inst)) {
            let mut args = function.args(inst);
            if let Some(parts) = of_access(function, inst) {
                self.need(function, parts.value);
                args = &args[1..];
            }
            args.iter().for_each(|&v| self.need(function, v));
        }
        for &block in &function.layout {
            function.term_args(block).iter().for_each(|&v| self.need(function, v));
            for edge in function.edges(block) {
                function.edge_args(edge).iter().for_each(|&v| self.need(function, v));
            }
        }
        while let Some(inst) = self.pending.pop() {
            function.args(inst).iter().for_each(|&v| self.need(function, v));
        }
    }

    fn need(&mut self, function: &Function, v: Value) {
        let needed = &mut self.needed[v.as_u32() as usize];
        if !*needed {
            *needed = true;
            self.pending.extend(function.def_inst(v).filter(|&inst| is_part(function, inst)));
        }
    }

    /// Whether accesses take their offsets apart.
    #[inline]
    pub(crate) fn apart(&self) -> bool {
        !self.needed.is_empty()
    }

    /// Whether the results of an instruction are only used in offsets that are split.
    #[inline]
    pub(crate) fn is_dead(&self, function: &Function, inst: Inst) -> bool {
        self.apart() && is_part(function, inst) && !self.needs_any(function.results(inst))
    }

    fn needs_any(&self, values: &[Value]) -> bool {
        values.iter().any(|v| self.needed[v.as_u32() as usize])
    }
}
