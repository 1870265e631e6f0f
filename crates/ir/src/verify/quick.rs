//! One walk over a function that has nothing wrong with it, as nearly all have.
//!
//! In reverse post-order, what dominates a use is reached before it: a value that was not is either wrong or in a block
//! that is not reached. Whatever is not as expected ends the walk, and the checks of [`super::func`], one by one, say why.

use super::func::terminator;
use super::types::Site;
use super::{Sink, imm};
use crate::analysis::{Cfg, Dominators};
use crate::entities::{Block, Inst, Value};
use crate::flags::Flags;
use crate::func::{Function, InstData, ValueDef};
use crate::imm::{Imm, ImmKind};
use crate::module::Module;
use crate::op::{Class, OPS, Op, Sig};
use crate::ty::{Bits, Kind};
use cranelift_entity::EntityRef as _;

/// Whether every block of `f` is reached and nothing is wrong, slots apart.
pub(super) fn is_sound(m: &Module, f: &Function) -> bool {
    if !are_blocks_sound(f) {
        return false;
    }
    let (mut cfg, mut dominators) = (Cfg::default(), Dominators::default());
    cfg.compute(f);
    dominators.compute(&cfg);
    let mut walk = Walk { f, dominators, homes: vec![0; f.values.len()], listed: vec![false; f.insts.len()] };
    let mut sink = Sink::new(m);
    cfg.rpo().len() == f.layout.len()
        && (1..).zip(cfg.rpo()).all(|(number, &block)| {
            let sound = walk.is_block_sound(&mut sink, block, number);
            if sound {
                terminator(&mut sink, f, block);
            }
            sound && sink.count() == 0
        })
}

struct Walk<'m> {
    f: &'m Function,
    dominators: Dominators,
    /// The block that defines a value, by its number in the order, counted from 1; 0 until the walk reaches it.
    homes: Vec<u32>,
    /// Whether the walk has reached an instruction.
    listed: Vec<bool>,
}

impl<'m> Walk<'m> {
    /// The instructions of a block and what its terminator and edges use.
    fn is_block_sound(&mut self, sink: &mut Sink<'m>, block: Block, number: u32) -> bool {
        let f = self.f;
        for v in f.params(block) {
            self.homes[v.index()] = number;
        }
        for &inst in &f.blocks[block].insts {
            let Some(data) = f.insts.get(inst) else { return false };
            let (args, results) = (data.args.as_slice(&f.pool), data.results.as_slice(&f.pool));
            if std::mem::replace(&mut self.listed[inst.index()], true) || !self.reach(args, number) {
                return false;
            }
            for (n, &v) in results.iter().enumerate() {
                match f.values.get(v).map(|data| data.def) {
                    Some(ValueDef::Inst(of, k)) if of == inst && usize::from(k) == n => {}
                    _ => return false,
                }
                self.homes[v.index()] = number;
            }
            if !is_plain(f, data, args, results) && !is_inst_sound(sink, f, inst) {
                return false;
            }
        }
        self.reach(f.term_args(block), number)
            && f.edges(block).iter().all(|edge| self.reach(f.edge_args(edge), number))
    }

    /// Whether every value exists and its definition precedes this point in block `number`.
    #[inline]
    fn reach(&self, values: &[Value], number: u32) -> bool {
        for v in values {
            match self.homes.get(v.index()) {
                Some(&home) if home == number => {}
                Some(&home) if home != 0 && self.dominators.dominates_by_number(home - 1, number - 1) => {}
                _ => return false,
            }
        }
        true
    }
}

/// Whether an instruction needs no closer look: a constant, or an op without flags and immediate on operands of one type,
/// that gives this type or truth values. [`Site::check`] says the same of it.
#[inline]
fn is_plain(f: &Function, data: &InstData, args: &[Value], results: &[Value]) -> bool {
    let &[result] = results else { return false };
    let (shape, ty) = (PLAIN[data.op as usize], f.ty(result));
    if args.len() != usize::from(shape.operands) || data.flags != Flags::NONE {
        return false;
    }
    match (data.imm, args) {
        (Imm::None, &[first, ref rest @ ..]) => {
            let t = f.ty(first);
            for &v in rest {
                if f.ty(v) != t {
                    return false;
                }
            }
            shape.kinds >> t.kind() as u16 & 1 != 0
                && ty == if shape.test { t.with_kind(Kind::Bool) } else { t }
        }
        (Imm::Const(c), []) => {
            let fits = |bits: &Bits| bits.0[0] & !ty.kind().mask() == 0 && bits.0[1..] == [0; 3];
            data.op == Op::Const
                && !ty.kind().is_handle()
                && ty.is_scalar()
                && f.consts.get(c).is_some_and(fits)
        }
        _ => false,
    }
}

/// The shape of an op whose instructions may be plain.
#[derive(Clone, Copy)]
struct Plain {
    operands: u8,
    /// Whether it gives truth values.
    test: bool,
    /// The kinds of operands with which it is plain, a bit for each.
    kinds: u16,
}

static PLAIN: [Plain; OPS.len()] = {
    let mut table = [Plain { operands: 0, test: false, kinds: 0 }; OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        let row = &OPS[i];
        // What has a rule of its own is convergent, for one stage, or has flags.
        let simple = row.traits.pure && !row.traits.convergent && matches!(row.imm, ImmKind::None);
        match row.sig {
            Sig::Same(operands, class) if simple => {
                table[i] = Plain { operands, test: false, kinds: kinds(class) };
            }
            Sig::Test(operands, class) if simple => {
                table[i] = Plain { operands, test: true, kinds: kinds(class) };
            }
            _ => {}
        }
        i += 1;
    }
    table
};

/// The kinds of a class, a bit for each.
const fn kinds(class: Class) -> u16 {
    let mut kinds = 0;
    let mut i = 0;
    while i < Kind::ALL.len() {
        if class.has(Kind::ALL[i]) {
            kinds |= 1 << Kind::ALL[i] as u16;
        }
        i += 1;
    }
    kinds
}

/// An instruction whose operands and results are known to be right.
#[inline(never)]
fn is_inst_sound<'m>(sink: &mut Sink<'m>, f: &'m Function, inst: Inst) -> bool {
    imm::ids(sink, f, &f.insts[inst].imm);
    if sink.count() == 0 {
        Site::new(f, inst).check(sink);
    }
    sink.count() == 0
}

/// Whether the layout lists blocks that exist, once, with parameters of their own, and edges lead to those that it lists
/// but not to the first.
fn are_blocks_sound(f: &Function) -> bool {
    let mut listed = vec![false; f.blocks.len()];
    for &block in &f.layout {
        match listed.get_mut(block.index()) {
            Some(listed) if !*listed => *listed = true,
            _ => return false,
        }
        for (n, &v) in f.params(block).iter().enumerate() {
            match f.values.get(v).map(|data| data.def) {
                Some(ValueDef::Param(of, k)) if of == block && usize::from(k) == n => {}
                _ => return false,
            }
        }
    }
    let is_target = |block: Block| f.entry() != Some(block) && listed.get(block.index()) == Some(&true);
    !f.layout.is_empty()
        && f.layout.iter().flat_map(|&block| f.edges(block)).all(|edge| is_target(edge.block))
}
