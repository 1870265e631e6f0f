//! The op table: the single source of what each op means.
//!
//! Every op is one row of [`OPS`]: name, operand shape, immediate, flags, traits, fold function and definition.
//! Interpreter, constant folder, text form, verifier and the reference (`docs/ops.md`) read the row; nothing else
//! defines an op. The rows are in [`table`]; this file says what a row is.

use crate::flags::Flags;
use crate::fold::Fold;
use crate::imm::ImmKind;
use crate::module::Stage;
use crate::ty::{Kind, Type};

pub mod table;

pub use table::{OPS, Op};

/// A class of kinds an operand may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// `i8` to `i64`.
    Int,
    /// `f16` to `f64`.
    Float,
    /// `f32`.
    Single,
    /// `bool`.
    Bool,
    /// Integers and `bool`.
    Bits,
    /// Anything but handles.
    Number,
}

impl Class {
    /// Whether `kind` belongs to the class.
    pub const fn has(self, kind: Kind) -> bool {
        match self {
            Class::Int => kind.is_int(),
            Class::Float => kind.is_float(),
            Class::Single => matches!(kind, Kind::F32),
            Class::Bool => matches!(kind, Kind::Bool),
            Class::Bits => kind.is_int() || matches!(kind, Kind::Bool),
            Class::Number => !kind.is_handle(),
        }
    }
}

/// How wide the result of a conversion is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// As wide as the operand or not.
    Any,
    /// Of fewer bits than the operand.
    Narrower,
    /// Of more bits than the operand.
    Wider,
    /// Of fewer bits or of more.
    Other,
}

impl Width {
    /// Whether a conversion of one kind to another is so.
    pub fn allows(self, from: Kind, to: Kind) -> bool {
        match self {
            Width::Any => true,
            Width::Narrower => to.bits() < from.bits(),
            Width::Wider => to.bits() > from.bits(),
            Width::Other => to.bits() != from.bits(),
        }
    }
}

/// Operand and result shape of an op. `T` stands for one type throughout a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sig {
    /// `n` operands `T`, result `T`, lane by lane.
    Same(u8, Class),
    /// `n` operands `T`, result `bool` with as many lanes.
    Test(u8, Class),
    /// `T, T, bool` (as many lanes), result `T`: a carry goes in.
    CarryIn,
    /// `T, T, bool` (as many lanes), result `bool`: a carry comes out.
    CarryOut,
    /// One operand of the first class, result of the second class and of this width, with as many lanes.
    Convert(Class, Class, Width),
    /// One operand, result of as many bits in all; no `bool`, no handles.
    Bitcast,
    /// `bool` (one lane or as many as `T`), `T`, `T`, result `T`.
    Select,
    /// Float `T`, `i32` with as many lanes, result `T`.
    LoadExp,
    /// Float, result `i32` with as many lanes.
    ExtractExp,
    /// Two operands `T` of `n` float lanes, result one lane.
    Dot(u8),
    /// One lane, result any number of lanes.
    Splat,
    /// Two to four operands of one lane, result the vector of them.
    Build,
    /// Vector; immediate lane; result that lane.
    Extract,
    /// Vector `T`, one lane; immediate lane; result `T`.
    Insert,
    /// Two vectors `T`; immediate lanes; result those lanes.
    Shuffle,
    /// No operand, result of this type, or of any number type.
    Leaf(Option<Type>),
    /// No operand, result the slot's type.
    SlotGet,
    /// The slot's type, no result.
    SlotSet,
    /// An `i32` index for each array around the variable's type; result the type.
    VarGet,
    /// The variable's type, then an `i32` index for each array around it; no result.
    VarSet,
    /// Byte offset (`i32`, or `i64` in spaces of pointers); result any number type but `bool`. As all accesses it takes an
    /// `i32` more where the resource is an array: the element.
    Load,
    /// Byte offset, value; no result.
    Store,
    /// Byte offset, operand `T` of the class; result `T`, the old value.
    Atomic(Class),
    /// Byte offset, expected `T`, new `T`; result `T`, the old value.
    AtomicCas,
    /// `T`, one `i32`; result `T`: another lane's first operand, chosen by the second.
    FromLane,
    /// As the called function says.
    Call,
    /// As the called function says, which has one result.
    CallPure,
    /// No operand, no result.
    Effect,
    /// One `bool`, no result.
    EffectIf,
    /// One `i32` where the resource is an array, none otherwise; result a handle.
    Handle,
    /// One `i32` where the resource is an array, none otherwise; result `i32` or `i64`.
    Size,
    /// Operands of these types, and the result.
    Fixed(&'static [Type], Option<Type>),
    /// No operand; the result is of the type that the value asked for has.
    Query,
    /// As the row's comment and its immediate say.
    Texture,
    /// Operands of these types; result the variable's type.
    Interpolate(&'static [Type]),
    /// One `bool`, result one `bool`.
    Vote,
    /// One `bool`, result `i32`, `i64` or `i32x4`.
    Ballot,
    /// Defined by the row's text; operands are checked by the front end that makes it, and no pass or back end
    /// of this version takes it.
    Open,
}

/// Facts passes rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits {
    /// May be removed when unused, and merged with an equal op.
    pub pure: bool,
    /// The first two operands may be exchanged (not where a NaN or zero mode tells them apart).
    pub commutes: bool,
    /// Depends on which other invocations run it together: never moved across control flow.
    pub convergent: bool,
    /// The result depends on memory or other mutable state.
    pub reads: bool,
    /// Changes memory or other state: never removed.
    pub writes: bool,
}

/// A row of the table.
pub struct OpInfo {
    /// The op this row defines.
    pub op: Op,
    /// Mnemonic in the text form.
    pub name: &'static str,
    /// Operand and result shape.
    pub sig: Sig,
    /// The immediate it takes.
    pub imm: ImmKind,
    /// Flags it may carry.
    pub flags: Flags,
    /// What passes may do with it.
    pub traits: Traits,
    /// The stages that have it; `None` for all.
    pub stages: Option<&'static [Stage]>,
    /// The meaning. [`Fold::None`] for ops that read something other than their operands, or that no front end
    /// makes yet.
    pub fold: Fold,
    /// Largest error of a host's result in units in the last place of an `f32`; 0 means exact.
    pub ulp: u32,
    /// Definition; NaN, overflow and zero behaviour belong here.
    pub doc: &'static str,
}

impl Op {
    /// The row that defines this op.
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The op called `name` in the text form.
    pub fn parse(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.name == name).map(|row| row.op)
    }

    /// Whether passes, interpreter and verifier know the op's shape; otherwise back ends answer `Unsupported`.
    #[inline]
    pub fn is_open(self) -> bool {
        self.info().sig == Sig::Open
    }

    /// The atomic on memory that does what this one on an image does; `None` for ops that are no atomics on images.
    pub fn atomic_on_memory(self) -> Option<Op> {
        Some(match self {
            Op::ImgAtomicAdd => Op::AtomicAdd,
            Op::ImgAtomicAnd => Op::AtomicAnd,
            Op::ImgAtomicOr => Op::AtomicOr,
            Op::ImgAtomicXor => Op::AtomicXor,
            Op::ImgAtomicXchg => Op::AtomicXchg,
            Op::ImgAtomicCmpxchg => Op::AtomicCmpxchg,
            Op::ImgAtomicUmin => Op::AtomicUmin,
            Op::ImgAtomicUmax => Op::AtomicUmax,
            Op::ImgAtomicSmin => Op::AtomicSmin,
            Op::ImgAtomicSmax => Op::AtomicSmax,
            _ => return None,
        })
    }

    /// Whether the op's value is a function of its operands, lane by lane, so that it can be split into scalar
    /// ops.
    pub fn is_lanewise(self) -> bool {
        !self.info().traits.convergent
            && matches!(
                self.info().sig,
                Sig::Same(..)
                    | Sig::Test(..)
                    | Sig::CarryIn
                    | Sig::CarryOut
                    | Sig::Convert(..)
                    | Sig::Select
                    | Sig::LoadExp
                    | Sig::ExtractExp
            )
    }
}

/// The result type an op has by its operands alone; `None` where it is free (constants, conversions, loads) or
/// does not exist.
#[inline]
pub fn result_type(op: Op, args: &[Type]) -> Option<Type> {
    match (RESULT[op as usize], args) {
        (ResultOf::First, &[first, ..]) => Some(first),
        (ResultOf::Test, &[first, ..]) => Some(first.with_kind(Kind::Bool)),
        (ResultOf::Second, &[_, second, ..]) => Some(second),
        _ => other_result_type(op, args),
    }
}

/// What the result type of most ops is.
#[derive(Clone, Copy)]
enum ResultOf {
    /// The first operand's.
    First,
    /// As many truth values as the first operand has lanes.
    Test,
    /// The second operand's.
    Second,
    /// Something else.
    Other,
}

static RESULT: [ResultOf; OPS.len()] = {
    let mut table = [ResultOf::Other; OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        table[i] = match OPS[i].sig {
            Sig::Same(..) | Sig::CarryIn | Sig::LoadExp | Sig::Insert | Sig::FromLane | Sig::Vote => {
                ResultOf::First
            }
            Sig::Test(..) | Sig::CarryOut => ResultOf::Test,
            Sig::Select | Sig::Atomic(_) | Sig::AtomicCas => ResultOf::Second,
            _ => ResultOf::Other,
        };
        i += 1;
    }
    table
};

fn other_result_type(op: Op, args: &[Type]) -> Option<Type> {
    let first = args.first().copied();
    match op.info().sig {
        Sig::ExtractExp => first.map(|t| t.with_kind(Kind::I32)),
        Sig::Dot(_) | Sig::Extract => first.map(Type::lane),
        Sig::Build => first.and_then(|t| t.with_lanes(u8::try_from(args.len()).ok()?)),
        Sig::Fixed(_, result) | Sig::Leaf(result) => result,
        _ => None,
    }
}

/// The table as Markdown: the reference in `docs/ops.md`.
pub fn reference() -> String {
    use std::fmt::Write;
    let mut out = String::from(
        "# The ops\n\nPrinted from the op table (`cargo run -p xenoglot-ir --example ops`). \
         *Open* ops are defined here so that front ends can be designed against them; passes keep them as they \
         are and back ends answer `Unsupported`.\n\n\
         | op | shape | immediate | flags | traits | max. ulp | definition |\n|---|---|---|---|---|---|---|\n",
    );
    for row in OPS {
        let traits: Vec<&str> = [
            (row.traits.pure, "pure"),
            (row.traits.commutes, "commutes"),
            (row.traits.convergent, "convergent"),
            (row.traits.reads, "reads"),
            (row.traits.writes, "writes"),
        ]
        .into_iter()
        .filter_map(|(on, name)| on.then_some(name))
        .collect();
        let ulp = if row.ulp == 0 { String::new() } else { row.ulp.to_string() };
        let imm = if row.imm == ImmKind::None { "" } else { row.imm.name() };
        let flags: Vec<&str> = table::flag_names(row.flags);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | {:?} | {imm} | {} | {} | {ulp} | {} |",
            row.name,
            row.sig,
            flags.join(" "),
            traits.join(" "),
            row.doc
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_stand_in_the_order_of_the_enum_with_unique_names() {
        let mut names = BTreeSet::new();
        for (i, row) in OPS.iter().enumerate() {
            assert_eq!(row.op as usize, i, "{}", row.name);
            assert!(names.insert(row.name), "{} twice", row.name);
            assert_eq!(Op::parse(row.name), Some(row.op));
        }
    }

    #[test]
    fn what_is_pure_neither_writes_nor_reads() {
        for row in OPS {
            assert!(!row.traits.pure || !(row.traits.writes || row.traits.reads), "{}", row.name);
        }
    }

    #[test]
    fn lanewise_ops_without_other_state_have_a_fold() {
        for row in OPS {
            if row.op.is_lanewise() && row.sig != Sig::Open {
                assert!(!matches!(row.fold, Fold::None), "{}", row.name);
            }
        }
    }
}
