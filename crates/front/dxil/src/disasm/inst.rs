//! Instructions as text.

use super::slots::{Name, Slots};
use super::text::Printer;
use super::{Groups, Out};
use crate::bitcode::{
    Atomic, BinaryOp, BlockId, Body, Constant, Def, FastMath, Inst, InstKind, MathFlags, MetadataId, Operand,
    Type, ValueId,
};
use crate::ops::Op;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Where the comment on a block's predecessors stands.
const PREDECESSORS: usize = 50;

/// Prints a function's blocks.
pub(super) fn body(p: &mut Printer<'_>, body: &Body, slots: &Slots<'_>, groups: &Groups) -> Out {
    let predecessors = predecessors(body);
    let attached: FxHashMap<u32, &[(u32, MetadataId)]> =
        body.attachments.iter().map(|(inst, pairs)| (*inst, pairs.as_slice())).collect();
    let mut writer = Writer { slots, groups };
    for block in (0..body.blocks.len() as u32).map(BlockId) {
        label(p, block, slots, predecessors.get(&block).map_or(&[], Vec::as_slice))?;
        let (first, insts) = body.block(block);
        for (at, inst) in (first..).zip(insts) {
            write!(p, "  ")?;
            writer.inst(p, inst)?;
            for &(kind, node) in attached.get(&at).copied().unwrap_or_default() {
                let metadata = &p.module.metadata;
                let name = metadata.kinds.iter().find(|(k, _)| *k == kind);
                let name = name.map(|&(_, n)| String::from_utf8_lossy(metadata.contents(n)).into_owned());
                write!(p, ", !{} ", name.unwrap_or_else(|| kind.to_string()))?;
                p.metadata(Some(body), node)?;
            }
            writer.comment(p, inst)?;
            writeln!(p)?;
        }
    }
    Ok(())
}

/// Blocks that lead to each block, in order of the terminators, as often as they do.
fn predecessors(body: &Body) -> FxHashMap<BlockId, Vec<BlockId>> {
    let mut all: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    // LLVM lists the latest use first.
    for from in (0..body.blocks.len() as u32).rev().map(BlockId) {
        let mut add = |to: BlockId| all.entry(to).or_default().push(from);
        match body.block(from).1.last().map(|i| &i.kind) {
            Some(InstKind::Jump(to)) => add(*to),
            Some(InstKind::Branch { targets, .. }) => targets.iter().for_each(|&t| add(t)),
            Some(InstKind::Switch { default, cases, .. }) => {
                body.list(*cases).iter().for_each(|&(_, to)| add(to));
                add(*default);
            }
            _ => {}
        }
    }
    all
}

fn label(p: &mut Printer<'_>, block: BlockId, slots: &Slots<'_>, from: &[BlockId]) -> Out {
    match slots.block(block) {
        Some(Name::Text(name)) => {
            write!(p, "{}", if block.0 == 0 { "" } else { "\n" })?;
            p.escaped(name)?;
            write!(p, ":")?;
        }
        Some(Name::Number(n)) if block.0 != 0 => write!(p, "\n; <label>:{n}")?,
        _ => return Ok(()),
    }
    if block.0 != 0 {
        p.pad(PREDECESSORS)?;
        write!(p, "; preds = ")?;
        for (n, &from) in from.iter().enumerate() {
            write!(p, "{}", if n == 0 { "" } else { ", " })?;
            block_name(p, slots, from)?;
        }
        if from.is_empty() {
            write!(p, "none")?;
        }
    }
    writeln!(p)
}

fn block_name(p: &mut Printer<'_>, slots: &Slots<'_>, block: BlockId) -> Out {
    match slots.block(block) {
        Some(Name::Text(name)) => p.local_name(name),
        Some(Name::Number(n)) => write!(p, "%{n}"),
        None => write!(p, "%?"),
    }
}

struct Writer<'w, 'm> {
    slots: &'w Slots<'m>,
    groups: &'w Groups,
}

impl Writer<'_, '_> {
    fn typed(&self, p: &mut Printer<'_>, id: ValueId) -> Out {
        p.typed(Some(self.slots), id)
    }

    fn value(&self, p: &mut Printer<'_>, id: ValueId) -> Out {
        p.value(Some(self.slots), id)
    }

    fn list(&self, p: &mut Printer<'_>, ids: &[ValueId]) -> Out {
        p.typed_list(Some(self.slots), ids)
    }

    fn block(&self, p: &mut Printer<'_>, block: BlockId) -> Out {
        write!(p, "label ")?;
        block_name(p, self.slots, block)
    }

    fn result_type(&self, p: &mut Printer<'_>, inst: &Inst) -> Out {
        match inst.result.and_then(|r| p.module.value(Some(self.slots.body()), r)) {
            Some(value) => p.ty(value.ty),
            None => write!(p, "void"),
        }
    }

    fn is_float(&self, p: &Printer<'_>, id: ValueId) -> bool {
        let scalar =
            p.module.value(Some(self.slots.body()), id).and_then(|v| match p.module.types.get(v.ty)? {
                Type::Vector { of, .. } => p.module.types.get(*of),
                other => Some(other),
            });
        matches!(scalar, Some(Type::Half | Type::Float | Type::Double))
    }

    fn inst(&mut self, p: &mut Printer<'_>, inst: &Inst) -> Out {
        if let Some(result) = inst.result {
            p.local(Some(self.slots), result)?;
            write!(p, " = ")?;
        }
        let body = self.slots.body();
        match &inst.kind {
            InstKind::Binary { op, args, flags, fast } => {
                let name = match self.is_float(p, args[0]) {
                    true => float_name(*op),
                    false => op.name(),
                };
                write!(p, "{name}{}{} ", fast_flags(*fast), math_flags(*flags))?;
                self.typed(p, args[0])?;
                write!(p, ", ")?;
                self.value(p, args[1])
            }
            InstKind::Cast { op, arg } => {
                write!(p, "{} ", op.name())?;
                self.typed(p, *arg)?;
                write!(p, " to ")?;
                self.result_type(p, inst)
            }
            InstKind::Gep { inbounds, of, operands } => {
                write!(p, "getelementptr {}", if *inbounds { "inbounds " } else { "" })?;
                p.ty(*of)?;
                write!(p, ", ")?;
                self.list(p, body.list(*operands))
            }
            InstKind::Select(args) => {
                write!(p, "select ")?;
                self.list(p, args)
            }
            InstKind::ExtractElement(args) => {
                write!(p, "extractelement ")?;
                self.list(p, args)
            }
            InstKind::InsertElement(args) => {
                write!(p, "insertelement ")?;
                self.list(p, args)
            }
            InstKind::ShuffleVector(args) => {
                write!(p, "shufflevector ")?;
                self.list(p, args)
            }
            InstKind::Compare { predicate, args, fast } => {
                write!(p, "{}{} {} ", predicate.instruction(), fast_flags(*fast), predicate.name())?;
                self.typed(p, args[0])?;
                write!(p, ", ")?;
                self.value(p, args[1])
            }
            InstKind::Return(None) => write!(p, "ret void"),
            InstKind::Return(Some(value)) => {
                write!(p, "ret ")?;
                self.typed(p, *value)
            }
            InstKind::Jump(to) => {
                write!(p, "br ")?;
                self.block(p, *to)
            }
            InstKind::Branch { condition, targets } => {
                write!(p, "br ")?;
                self.typed(p, *condition)?;
                for &target in targets {
                    write!(p, ", ")?;
                    self.block(p, target)?;
                }
                Ok(())
            }
            InstKind::Switch { value, default, cases } => self.switch(p, *value, *default, body.list(*cases)),
            InstKind::Unreachable => write!(p, "unreachable"),
            InstKind::Phi(incoming) => {
                write!(p, "phi ")?;
                self.result_type(p, inst)?;
                for (n, &(value, from)) in body.list(*incoming).iter().enumerate() {
                    write!(p, "{}[ ", if n == 0 { " " } else { ", " })?;
                    self.value(p, value)?;
                    write!(p, ", ")?;
                    block_name(p, self.slots, from)?;
                    write!(p, " ]")?;
                }
                Ok(())
            }
            InstKind::ExtractValue { aggregate, indices } => {
                write!(p, "extractvalue ")?;
                self.typed(p, *aggregate)?;
                body.list(*indices).iter().try_for_each(|i| write!(p, ", {i}"))
            }
            InstKind::InsertValue { aggregate, value, indices } => {
                write!(p, "insertvalue ")?;
                self.list(p, &[*aggregate, *value])?;
                body.list(*indices).iter().try_for_each(|i| write!(p, ", {i}"))
            }
            InstKind::Call { callee, attributes, tail, args } => {
                write!(p, "{}call ", if *tail { "tail " } else { "" })?;
                self.result_type(p, inst)?;
                write!(p, " ")?;
                self.value(p, *callee)?;
                write!(p, "(")?;
                for (n, &arg) in body.list(*args).iter().enumerate() {
                    write!(p, "{}", if n == 0 { "" } else { ", " })?;
                    match arg {
                        Operand::Value(v) => {
                            if let Some(value) = p.module.value(Some(self.slots.body()), v) {
                                p.ty(value.ty)?;
                            }
                            for attribute in self.groups.of_param(p.module, *attributes, n as u32 + 1) {
                                write!(p, " {attribute}")?;
                            }
                            write!(p, " ")?;
                            self.value(p, v)?;
                        }
                        Operand::Block(b) => self.block(p, b)?,
                        Operand::Metadata(node) => {
                            write!(p, "metadata ")?;
                            p.metadata(Some(self.slots.body()), node)?;
                        }
                    }
                }
                write!(p, ")")?;
                self.groups.reference(p, *attributes)
            }
            other => self.memory(p, inst, other),
        }
    }

    fn switch(
        &self,
        p: &mut Printer<'_>,
        value: ValueId,
        default: BlockId,
        cases: &[(ValueId, BlockId)],
    ) -> Out {
        write!(p, "switch ")?;
        self.typed(p, value)?;
        write!(p, ", ")?;
        self.block(p, default)?;
        write!(p, " [")?;
        for &(case, to) in cases {
            write!(p, "\n    ")?;
            self.typed(p, case)?;
            write!(p, ", ")?;
            self.block(p, to)?;
        }
        write!(p, "\n  ]")
    }

    fn memory(&self, p: &mut Printer<'_>, inst: &Inst, kind: &InstKind) -> Out {
        let aligned = |p: &mut Printer<'_>, align: u32| match align {
            0 => Ok(()),
            align => write!(p, ", align {align}"),
        };
        let word = |volatile: bool| if volatile { "volatile " } else { "" };
        match kind {
            InstKind::Alloca { of, count, align } => {
                write!(p, "alloca ")?;
                p.ty(*of)?;
                let count_def = p.module.value(Some(self.slots.body()), *count).map(|v| &v.def);
                if !matches!(count_def, Some(Def::Constant(Constant::Integer(1)))) {
                    write!(p, ", ")?;
                    self.typed(p, *count)?;
                }
                aligned(p, *align)
            }
            InstKind::Load { pointer, align, volatile } => {
                write!(p, "load {}", word(*volatile))?;
                self.result_type(p, inst)?;
                write!(p, ", ")?;
                self.typed(p, *pointer)?;
                aligned(p, *align)
            }
            InstKind::Store { pointer, value, align, volatile } => {
                write!(p, "store {}", word(*volatile))?;
                self.list(p, &[*value, *pointer])?;
                aligned(p, *align)
            }
            InstKind::AtomicRmw { op, pointer, value, how } => {
                write!(p, "atomicrmw {}{} ", word(how.volatile), op.name())?;
                self.list(p, &[*pointer, *value])?;
                ordered(p, how)
            }
            InstKind::CompareExchange { pointer, expected, new, how, failure, weak } => {
                write!(p, "cmpxchg {}{}", if *weak { "weak " } else { "" }, word(how.volatile))?;
                self.list(p, &[*pointer, *expected, *new])?;
                ordered(p, how)?;
                write!(p, " {}", ordering(*failure))
            }
            InstKind::Fence(how) => {
                write!(p, "fence")?;
                ordered(p, how)
            }
            _ => Ok(()),
        }
    }

    /// What an operation of DXIL is called, with the names of its operands.
    fn comment(&self, p: &mut Printer<'_>, inst: &Inst) -> Out {
        let InstKind::Call { args, .. } = &inst.kind else { return Ok(()) };
        let args = self.slots.body().list(*args);
        let Some(row) = self.operation(p, &inst.kind, args) else { return Ok(()) };
        write!(p, "  ; {}(", row.name)?;
        for (n, operand) in row.operands.iter().enumerate() {
            write!(p, "{}{}", if n == 0 { "" } else { "," }, operand.name)?;
        }
        write!(p, ")")
    }

    fn operation(
        &self,
        p: &Printer<'_>,
        kind: &InstKind,
        args: &[Operand],
    ) -> Option<&'static crate::ops::OpInfo> {
        let InstKind::Call { callee, .. } = kind else { return None };
        let Def::Function(index) = p.module.value(None, *callee)?.def else { return None };
        if !p.module.functions.get(index as usize)?.name.starts_with(b"dx.op.") {
            return None;
        }
        let number = p.module.value(Some(self.slots.body()), args.first()?.value()?)?;
        let number = match number.def {
            Def::Constant(Constant::Integer(n)) => u32::try_from(n).ok()?,
            Def::Constant(Constant::Null) => 0,
            _ => return None,
        };
        Op::from_number(number).map(Op::info)
    }
}

fn float_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "fadd",
        BinaryOp::Sub => "fsub",
        BinaryOp::Mul => "fmul",
        BinaryOp::Sdiv => "fdiv",
        BinaryOp::Srem => "frem",
        other => other.name(),
    }
}

fn math_flags(flags: MathFlags) -> String {
    let names = [(MathFlags::NUW, " nuw"), (MathFlags::NSW, " nsw"), (MathFlags::EXACT, " exact")];
    names.iter().filter(|(f, _)| flags.contains(*f)).map(|(_, n)| *n).collect()
}

fn fast_flags(flags: FastMath) -> String {
    if flags.contains(FastMath::UNSAFE_ALGEBRA) {
        return " fast".into();
    }
    let names = [
        (FastMath::NO_NANS, " nnan"),
        (FastMath::NO_INFS, " ninf"),
        (FastMath::NO_SIGNED_ZEROS, " nsz"),
        (FastMath::ALLOW_RECIPROCAL, " arcp"),
    ];
    names.iter().filter(|(f, _)| flags.contains(*f)).map(|(_, n)| *n).collect()
}

fn ordering(number: u32) -> &'static str {
    match number {
        0 => "not_atomic",
        1 => "unordered",
        2 => "monotonic",
        3 => "acquire",
        4 => "release",
        5 => "acq_rel",
        _ => "seq_cst",
    }
}

fn ordered(p: &mut Printer<'_>, how: &Atomic) -> Out {
    let scope = if how.single_thread { " singlethread" } else { "" };
    write!(p, "{scope} {}", ordering(how.ordering))
}
