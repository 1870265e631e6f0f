//! Statements, as written: names are not resolved yet.

use super::Position;
use crate::container::{GeometryMode, RegisterFile};
use crate::inst::{Condition, Index, Opcode, Relation};

/// A statement and where it starts.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    pub(super) at: Position,
    pub(super) kind: StatementKind<'a>,
}

/// A name as it goes into a container's table.
#[derive(Clone, Debug)]
pub(super) enum Name<'a> {
    /// An identifier, which also becomes an alias.
    Ident(&'a str),
    /// A quoted name: exactly this, no alias.
    Exact(String),
}

/// A register expression: `-name[index+offset].swizzle`.
#[derive(Clone, Debug)]
pub(super) struct Reg<'a> {
    pub(super) at: Position,
    pub(super) negate: bool,
    pub(super) name: &'a str,
    pub(super) index: Index,
    pub(super) offset: i64,
    /// Component letters, 0 to 4 of them; `None` if nothing is written.
    pub(super) components: Option<&'a str>,
}

/// A place in the code.
#[derive(Clone, Debug)]
pub(super) enum Place<'a> {
    Name(Position, &'a str),
    Address(Position, i64),
}

/// A component of a float constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum FloatValue {
    Value(f32),
    Raw(u32),
}

#[derive(Debug)]
pub(super) struct UniformDecl<'a> {
    pub(super) at: Position,
    pub(super) name: Name<'a>,
    pub(super) count: i64,
    pub(super) register: Option<Reg<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ConstantDecl {
    Float([FloatValue; 4]),
    Int([i64; 4]),
    Bool(bool),
}

/// Register mask or version fields that a directive sets outright.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    InputMask,
    OutputMask,
    Version,
    ProgramVersion,
}

#[derive(Debug)]
pub(super) enum StatementKind<'a> {
    CodeLabel(&'a str),
    Proc(&'a str),
    Else,
    End,
    Alias {
        name: &'a str,
        register: Reg<'a>,
    },
    Uniforms {
        file: RegisterFile,
        decls: Vec<UniformDecl<'a>>,
    },
    Out {
        name: Option<&'a str>,
        semantic: &'a str,
        components: Option<&'a str>,
        register: Option<Reg<'a>>,
    },
    Constant {
        name: &'a str,
        value: ConstantDecl,
    },
    ConstantArray {
        name: &'a str,
        size: Option<i64>,
    },
    ConstantItem([FloatValue; 4]),
    Set {
        register: Reg<'a>,
        value: ConstantDecl,
    },
    Entry {
        from: Place<'a>,
        to: Option<Place<'a>>,
    },
    NoDvle,
    Dvle(i64),
    /// `.gsh`; `None` for the legacy form without parameters.
    Gsh(Option<Gsh<'a>>),
    Vsh,
    Geometry([i64; 4]),
    Merge(bool),
    Field(Field, i64),
    LabelEntry {
        name: String,
        id: i64,
        address: i64,
        size: i64,
    },
    Filename(String),
    SourceLine {
        file: i64,
        line: i64,
    },
    Descriptor {
        index: i64,
        value: i64,
        tag: i64,
    },
    Word(i64),
    Instruction(Instruction<'a>),
}

#[derive(Debug)]
pub(super) struct Gsh<'a> {
    pub(super) mode: GeometryMode,
    pub(super) first: Reg<'a>,
    pub(super) start: Option<Reg<'a>>,
    pub(super) count: i64,
}

#[derive(Debug)]
pub(super) struct Instruction<'a> {
    /// As the mnemonic says; the encoder may choose its inverted form.
    pub(super) op: Opcode,
    pub(super) operands: Operands<'a>,
    /// `{desc n}`.
    pub(super) descriptor: Option<i64>,
    /// `{bits n}`.
    pub(super) bits: i64,
}

#[derive(Debug)]
pub(super) enum Operands<'a> {
    Nullary,
    Unary(Reg<'a>, Reg<'a>),
    /// Component letters of the address registers written.
    MoveAddress(&'a str, Reg<'a>),
    Binary(Reg<'a>, [Reg<'a>; 2]),
    Compare([Reg<'a>; 2], Relation, Relation),
    Mad(Reg<'a>, [Reg<'a>; 3]),
    Condition(Condition),
    Flow(Guard<'a>, Targets<'a>),
    SetEmit {
        vertex: i64,
        primitive: bool,
        winding: bool,
    },
}

/// What decides a flow instruction.
#[derive(Debug)]
pub(super) enum Guard<'a> {
    Always,
    Condition(Condition),
    /// Bool or int uniform, and the value wanted.
    Uniform(Reg<'a>, bool),
}

/// Where a flow instruction goes.
#[derive(Debug)]
pub(super) enum Targets<'a> {
    /// Nowhere yet: `.else` and `.end` say it.
    Block,
    One(Place<'a>),
    Two(Place<'a>, Place<'a>),
}
