//! One function: ids and definitions, then instructions and terminators, then dominance. What [`quick`] says is sound
//! needs none of this.

use super::types::Site;
use super::{Place, Sink, imm, interface, quick};
use crate::analysis::{Cfg, Dominators, Positions};
use crate::entities::{Block, Func, Value};
use crate::func::{Function, TermKind, ValueDef};
use crate::module::Stage;
use crate::ty::Type;
use cranelift_entity::EntityRef;

pub(super) fn check(sink: &mut Sink, id: Func) {
    let m = sink.module;
    sink.place = Place::Module;
    let Some(f) = m.funcs.get(id) else {
        return sink.report(format_args!("{id} does not exist"));
    };
    sink.place = Place::Func(f);
    slots(sink, f);
    let sound = quick::is_sound(m, f);
    if sound && !cfg!(debug_assertions) {
        sink.place = Place::Module;
        return;
    }
    let before = sink.count();
    let (values, blocks) = (Marks::new(f.values.len()), Marks::new(f.blocks.len()));
    Structure { sink, f, values, blocks }.check();
    if sink.count() == before {
        for &block in &f.layout {
            for &inst in &f.blocks[block].insts {
                sink.place = Place::Inst(f, block, inst);
                Site::new(f, inst).check(sink);
            }
            sink.place = Place::Term(f, block);
            terminator(sink, f, block);
        }
        dominance(sink, f);
    }
    debug_assert!(!sound || sink.count() == before, "a walk over what is right missed something");
    sink.place = Place::Module;
}

fn slots(sink: &mut Sink, f: &Function) {
    interface::names(sink, "slot", f.slots.values().map(|s| &s.name[..]));
    for slot in f.slots.values() {
        if slot.ty.kind().is_handle() {
            sink.report(format_args!("slot `{}` is {}", slot.name, slot.ty));
        }
        match (slot.home, slot.ty.bytes()) {
            (None, _) => {}
            (Some(_), _) if sink.module.stage != Stage::Cpu => {
                sink.report(format_args!("slot `{}` has a home, which is for CPU guests", slot.name));
            }
            (Some(home), Some(bytes)) if slot.ty.is_scalar() && home.checked_add(bytes).is_some() => {}
            _ => sink.report(format_args!("slot `{}`: {} has no home there", slot.name, slot.ty)),
        }
    }
    for (v, data) in f.values.iter() {
        if let Some(slot) = data.hint.expand().filter(|&s| !f.slots.is_valid(s)) {
            sink.report(format_args!("the name hint of {v}, {slot}, does not exist"));
        }
    }
}

/// Which of a function's values, instructions or blocks were met.
struct Marks(Vec<bool>);

impl Marks {
    fn new(count: usize) -> Marks {
        Marks(vec![false; count])
    }

    /// Marks what exists; whether it was not marked before.
    #[inline]
    fn insert(&mut self, entity: impl EntityRef) -> bool {
        self.0.get_mut(entity.index()).is_some_and(|mark| !std::mem::replace(mark, true))
    }

    #[inline]
    fn contains(&self, entity: impl EntityRef) -> bool {
        self.0.get(entity.index()).is_some_and(|&mark| mark)
    }
}

/// Whether everything exists and stands in one place.
struct Structure<'s, 'm> {
    sink: &'s mut Sink<'m>,
    f: &'m Function,
    /// Values with a definition in the layout.
    values: Marks,
    blocks: Marks,
}

impl Structure<'_, '_> {
    fn check(&mut self) {
        let f = self.f;
        if f.layout.is_empty() {
            return self.sink.report(format_args!("the function has no block"));
        }
        let mut insts = Marks::new(f.insts.len());
        for &block in &f.layout {
            let Some(data) = f.blocks.get(block) else {
                self.sink.report(format_args!("{block} does not exist"));
                continue;
            };
            self.sink.place = Place::Block(f, block);
            if !self.blocks.insert(block) {
                self.sink.report(format_args!("the block is listed twice"));
                continue;
            }
            self.definitions(data.params.as_slice(&f.pool), |n| ValueDef::Param(block, n));
            for &inst in &data.insts {
                let Some(data) = f.insts.get(inst) else {
                    self.sink.report(format_args!("{inst} does not exist"));
                    continue;
                };
                self.sink.place = Place::Inst(f, block, inst);
                if insts.insert(inst) {
                    self.definitions(data.results.as_slice(&f.pool), |n| ValueDef::Inst(inst, n));
                } else {
                    self.sink.report(format_args!("the instruction is listed twice"));
                }
                self.sink.place = Place::Block(f, block);
            }
        }
        for &block in f.layout.iter().filter(|&&b| f.blocks.is_valid(b)) {
            let data = &f.blocks[block];
            for &inst in data.insts.iter().filter(|&&i| f.insts.is_valid(i)) {
                self.sink.place = Place::Inst(f, block, inst);
                self.uses(f.args(inst));
                imm::ids(self.sink, f, &f.insts[inst].imm);
            }
            self.sink.place = Place::Term(f, block);
            self.uses(f.term_args(block));
            for edge in &data.term.edges {
                self.uses(f.edge_args(edge));
                if !self.blocks.contains(edge.block) {
                    self.sink.report(format_args!("{} does not exist", edge.block));
                } else if Some(edge.block) == f.entry() {
                    self.sink.report(format_args!("an edge leads to the entry block"));
                }
            }
        }
        self.sink.place = Place::Func(f);
    }

    fn definitions(&mut self, values: &[Value], def: impl Fn(u16) -> ValueDef) {
        for (n, &v) in values.iter().enumerate() {
            match (self.f.values.get(v), u16::try_from(n)) {
                (Some(data), Ok(n)) if data.def == def(n) => {
                    self.values.insert(v);
                }
                (Some(_), _) => self.sink.report(format_args!("{v} has another definition than this")),
                (None, _) => self.sink.report(format_args!("{v} does not exist")),
            }
        }
    }

    fn uses(&mut self, values: &[Value]) {
        for &v in values {
            if self.values.contains(v) {
                continue;
            }
            if !self.f.values.is_valid(v) {
                self.sink.report(format_args!("{v} does not exist"));
            } else {
                self.sink.report(format_args!("{v} has no definition in the function"));
            }
        }
    }
}

pub(super) fn terminator(sink: &mut Sink, f: &Function, block: Block) {
    let term = f.term(block);
    let args = f.term_args(block);
    let stage = sink.module.stage;
    let name = term.kind.name();
    let operands = match term.kind {
        TermKind::Jump | TermKind::Kill | TermKind::Unreachable => 0,
        TermKind::Trap => 2,
        _ => 1,
    };
    if term.kind == TermKind::Return {
        let types = args.iter().map(|&v| f.ty(v));
        if !types.clone().eq(f.returns.iter().copied()) {
            let types: Vec<Type> = types.collect();
            sink.report(format_args!("the values are {types:?}, the function returns {:?}", f.returns));
        }
    } else if args.len() != operands {
        sink.report(format_args!("`{name}` takes {operands} operands, not {}", args.len()));
    }
    let edges = match term.kind {
        TermKind::Jump => 1,
        TermKind::Branch => 2,
        TermKind::Switch => term.cases.len() + 1,
        _ => 0,
    };
    if term.edges.len() != edges {
        sink.report(format_args!("`{name}` has {} edges instead of {edges}", term.edges.len()));
    }
    if term.kind != TermKind::Switch && !term.cases.is_empty() {
        sink.report(format_args!("`{name}` has cases"));
    }
    let operand = args.first().map(|&v| f.ty(v));
    match term.kind {
        TermKind::Branch if operand.is_some_and(|t| t != Type::BOOL) => {
            sink.report(format_args!("the condition is {:?}, not bool", f.ty(args[0])));
        }
        TermKind::Switch | TermKind::Exit | TermKind::TailCallGuest | TermKind::Trap => {
            let types = args.iter().map(|&v| f.ty(v));
            if let Some(ty) = types.into_iter().find(|t| !(t.is_scalar() && t.kind().is_int())) {
                sink.report(format_args!("the operand is {ty}, expected one integer"));
            }
        }
        _ => {}
    }
    if let (TermKind::Switch, Some(ty)) = (term.kind, operand) {
        cases(sink, &term.cases, ty);
    }
    match term.kind {
        TermKind::Kill if stage != Stage::Fragment => {
            sink.report(format_args!("`kill` is for fragment shaders"));
        }
        TermKind::Exit | TermKind::TailCallGuest | TermKind::Trap if stage != Stage::Cpu => {
            sink.report(format_args!("`{name}` is for code of CPU guests"));
        }
        _ => {}
    }
    for edge in &term.edges {
        let params = f.params(edge.block);
        let args = f.edge_args(edge);
        if params.len() != args.len() {
            sink.report(format_args!("{} takes {} arguments, not {}", edge.block, params.len(), args.len()));
        }
        for (n, (&param, &arg)) in params.iter().zip(args).enumerate() {
            let (param, arg) = (f.ty(param), f.ty(arg));
            if param != arg {
                sink.report(format_args!("argument {} of {} is {arg}, not {param}", n + 1, edge.block));
            }
        }
    }
}

fn cases(sink: &mut Sink, cases: &[u64], ty: Type) {
    let mut sorted = cases.to_vec();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        if pair[0] == pair[1] {
            sink.report(format_args!("two cases are {:#x}", pair[0]));
        }
    }
    if let Some(&case) = sorted.last().filter(|&&c| c & !ty.kind().mask() != 0) {
        sink.report(format_args!("case {case:#x} does not fit {ty}"));
    }
}

fn dominance<'m>(sink: &mut Sink<'m>, f: &'m Function) {
    let (mut cfg, mut dominators, mut positions) =
        (Cfg::default(), Dominators::default(), Positions::default());
    cfg.compute(f);
    dominators.compute(&cfg);
    positions.compute(f);
    // Whether `v` is defined wherever the instruction at a place of a block, which is reached, comes to run.
    let reaches = |block: Block, index: u32, v: Value| {
        let def = match f.values[v].def {
            ValueDef::Param(def, _) => def,
            ValueDef::Inst(def, _) => match positions.place(def) {
                Some((def, before)) if def == block => return before < index,
                Some((def, _)) => def,
                None => return false,
            },
        };
        def == block || dominators.dominates(def, block)
    };
    for &block in f.layout.iter().filter(|&&b| cfg.is_reachable(b)) {
        for (index, &inst) in (0..).zip(&f.blocks[block].insts) {
            for &v in f.args(inst).iter().filter(|&&v| !reaches(block, index, v)) {
                sink.place = Place::Inst(f, block, inst);
                sink.report(format_args!("{v} is not defined on every path to its use"));
            }
        }
        let mut end = |values: &[Value]| {
            for &v in values.iter().filter(|&&v| !reaches(block, u32::MAX, v)) {
                sink.place = Place::Term(f, block);
                sink.report(format_args!("{v} is not defined on every path to its use"));
            }
        };
        end(f.term_args(block));
        f.edges(block).iter().for_each(|edge| end(f.edge_args(edge)));
    }
}
