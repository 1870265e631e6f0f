//! What bitcode says: a module of LLVM 3.7 with its values by number.

use super::codes::{BinaryOp, CastOp, Predicate, RmwOp};
use super::list::{List, Listed, Pool};
use super::ty::{TypeId, Types};
use bitflags::bitflags;

/// A value by its number: globals, functions and constants of the module first, then arguments, constants and results
/// of the function around.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub u32);

/// A basic block of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);

/// A piece of metadata by its number, those of functions after the module's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MetadataId(pub u32);

/// A module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Target triple, `dxil-ms-dx`.
    pub triple: String,
    /// Data layout.
    pub data_layout: String,
    /// Types.
    pub types: Types,
    /// Values of the module.
    pub values: Vec<Value>,
    /// Global variables.
    pub globals: Vec<Global>,
    /// Functions, declared and defined.
    pub functions: Vec<Function>,
    /// Sets of attributes, by the number less one that functions and calls have.
    pub attributes: Vec<Vec<u32>>,
    /// Groups of attributes that sets name.
    pub attribute_groups: Vec<AttributeGroup>,
    /// Metadata.
    pub metadata: Metadata,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// What it is.
    pub def: Def,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    /// The address of a global variable, by index.
    Global(u32),
    /// A function, by index.
    Function(u32),
    /// A constant.
    Constant(Constant),
    /// An argument of the function, by index.
    Argument(u32),
    /// The result of an instruction of the function, by index.
    Inst(u32),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Zero of any type.
    Null,
    /// Any value.
    Undef,
    /// An integer, its bits above the type's width being zero.
    Integer(u64),
    /// Bits of a float.
    Float(u64),
    /// Members of an aggregate.
    Aggregate(Box<[ValueId]>),
    /// Bits of the elements of an array or vector of scalars.
    Data(Box<[u64]>),
    /// An operation on two constants.
    Binary(BinaryOp, [ValueId; 2]),
    /// A conversion.
    Cast(CastOp, ValueId),
    /// An address computed from constants: as [`InstKind::Gep`].
    Gep {
        /// Whether all of it is within the object.
        inbounds: bool,
        /// The type that the first operand is taken to point to.
        of: TypeId,
        /// Address and indices.
        operands: Box<[ValueId]>,
    },
    /// One of two constants.
    Select([ValueId; 3]),
    /// A comparison.
    Compare(Predicate, [ValueId; 2]),
}

/// A global variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Its name.
    pub name: Vec<u8>,
    /// Its type.
    pub ty: TypeId,
    /// Its address space.
    pub space: u32,
    /// Whether nothing writes it.
    pub constant: bool,
    /// What it starts with.
    pub initializer: Option<ValueId>,
    /// Linkage as a number.
    pub linkage: u32,
    /// Alignment in bytes; 0 if not said.
    pub align: u32,
    /// Whether its address does not matter.
    pub unnamed_addr: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Vec<u8>,
    /// Its type, which is a function's.
    pub ty: TypeId,
    /// Linkage as a number.
    pub linkage: u32,
    /// Number of its set of attributes; 0 for none.
    pub attributes: u32,
    /// Its code; none if it is only declared.
    pub body: Option<Body>,
}

/// The code of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Values of the function; the first one's number is the count of the module's.
    pub values: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// What is in the lists of instructions.
    pub lists: Pool,
    /// Where each block's instructions start.
    pub blocks: Vec<u32>,
    /// Names of values, by number.
    pub names: Vec<(ValueId, Vec<u8>)>,
    /// Names of blocks.
    pub block_names: Vec<(BlockId, Vec<u8>)>,
    /// Metadata of instructions by their number: kind and metadata, in order.
    pub attachments: Vec<(u32, Vec<(u32, MetadataId)>)>,
    /// Metadata of the function itself.
    pub attached: Vec<(u32, MetadataId)>,
    /// Pieces of metadata of the function; the first one's number is the count of the module's.
    pub metadata: Vec<Node>,
    /// Places in the source of instructions: line, column, scope and what it is inlined at, as numbers from 1.
    pub places: Vec<(u32, [u32; 4])>,
}

impl Body {
    /// What is in a list of an instruction.
    #[inline]
    pub fn list<T: Listed>(&self, list: List<T>) -> &[T] {
        self.lists.get(list)
    }

    /// Instructions of a block, with the number of the first one.
    pub fn block(&self, block: BlockId) -> (u32, &[Inst]) {
        let at = |n: u32| self.blocks.get(n as usize).map_or(self.insts.len(), |&i| i as usize);
        let (start, end) = (at(block.0), at(block.0.saturating_add(1)));
        (start as u32, self.insts.get(start..end).unwrap_or_default())
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// Its result, if it has one.
    pub result: Option<ValueId>,
    /// What it does.
    pub kind: InstKind,
}

bitflags! {
    /// Flags of arithmetic.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct MathFlags: u8 {
        /// No unsigned overflow.
        const NUW = 1;
        /// No signed overflow.
        const NSW = 2;
        /// No remainder, no bits shifted out.
        const EXACT = 4;
    }
}

bitflags! {
    /// What may be assumed of floats; the bits of the record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct FastMath: u8 {
        /// Any algebra.
        const UNSAFE_ALGEBRA = 1;
        /// No NaNs.
        const NO_NANS = 2;
        /// No infinities.
        const NO_INFS = 4;
        /// Zeros need no sign.
        const NO_SIGNED_ZEROS = 8;
        /// A product by the reciprocal may replace a quotient.
        const ALLOW_RECIPROCAL = 16;
    }
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InstKind {
    /// An operation on two values of one type.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Operands.
        args: [ValueId; 2],
        /// Flags of integers.
        flags: MathFlags,
        /// Flags of floats.
        fast: FastMath,
    },
    /// A conversion to the result's type.
    Cast {
        /// Which.
        op: CastOp,
        /// Operand.
        arg: ValueId,
    },
    /// Address arithmetic: steps of the first index over whole objects of type `of`, of the others into it.
    Gep {
        /// Whether all of it is within the object.
        inbounds: bool,
        /// The type that the first operand is taken to point to.
        of: TypeId,
        /// Address and indices.
        operands: List<ValueId>,
    },
    /// Condition, and what is given if it is true or not.
    Select([ValueId; 3]),
    /// An element of a vector: vector, index.
    ExtractElement([ValueId; 2]),
    /// A vector with one element replaced: vector, element, index.
    InsertElement([ValueId; 3]),
    /// Elements of two vectors: vectors, constant vector of numbers.
    ShuffleVector([ValueId; 3]),
    /// A comparison.
    Compare {
        /// Which.
        predicate: Predicate,
        /// Operands.
        args: [ValueId; 2],
        /// Flags of floats.
        fast: FastMath,
    },
    /// Returns.
    Return(Option<ValueId>),
    /// Goes on elsewhere.
    Jump(BlockId),
    /// Goes on in one of two blocks.
    Branch {
        /// Decides.
        condition: ValueId,
        /// Where to if it is true, and if not.
        targets: [BlockId; 2],
    },
    /// Goes on by a value.
    Switch {
        /// Decides.
        value: ValueId,
        /// Where to if no case has it.
        default: BlockId,
        /// Constants and where to.
        cases: List<(ValueId, BlockId)>,
    },
    /// Never reached.
    Unreachable,
    /// By where control comes from.
    Phi(List<(ValueId, BlockId)>),
    /// Memory of the invocation.
    Alloca {
        /// Of what.
        of: TypeId,
        /// How many, a constant.
        count: ValueId,
        /// Alignment in bytes; 0 if not said.
        align: u32,
    },
    /// Reads memory.
    Load {
        /// Where.
        pointer: ValueId,
        /// Alignment in bytes; 0 if not said.
        align: u32,
        /// Whether it may not be left out.
        volatile: bool,
    },
    /// Writes memory.
    Store {
        /// Where.
        pointer: ValueId,
        /// What.
        value: ValueId,
        /// Alignment in bytes; 0 if not said.
        align: u32,
        /// Whether it may not be left out.
        volatile: bool,
    },
    /// A member of an aggregate.
    ExtractValue {
        /// Of what.
        aggregate: ValueId,
        /// Which, from the outermost in.
        indices: List<u32>,
    },
    /// An aggregate with one member replaced.
    InsertValue {
        /// Of what.
        aggregate: ValueId,
        /// The new member.
        value: ValueId,
        /// Which, from the outermost in.
        indices: List<u32>,
    },
    /// A call.
    Call {
        /// The function.
        callee: ValueId,
        /// Number of its set of attributes; 0 for none.
        attributes: u32,
        /// Whether it may be a tail call.
        tail: bool,
        /// Operands.
        args: List<Operand>,
    },
    /// Replaces what is in memory by an operation on it, at once.
    AtomicRmw {
        /// Which.
        op: RmwOp,
        /// Where.
        pointer: ValueId,
        /// The operand.
        value: ValueId,
        /// How.
        how: Atomic,
    },
    /// Replaces what is in memory if it is what is expected; gives what was there and whether it was replaced.
    CompareExchange {
        /// Where.
        pointer: ValueId,
        /// What is expected.
        expected: ValueId,
        /// What replaces it.
        new: ValueId,
        /// How.
        how: Atomic,
        /// Order where it is not replaced, as a number.
        failure: u32,
        /// Whether it may fail for no reason.
        weak: bool,
    },
    /// Orders memory.
    Fence(Atomic),
}

/// How an atomic access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// Whether it may not be left out.
    pub volatile: bool,
    /// Order as a number, 2 (monotonic) to 6 (sequentially consistent).
    pub ordering: u32,
    /// Whether only the thread itself is concerned.
    pub single_thread: bool,
}

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value.
    Value(ValueId),
    /// Metadata.
    Metadata(MetadataId),
    /// A block.
    Block(BlockId),
}

impl Operand {
    /// The value, if it is one.
    pub fn value(self) -> Option<ValueId> {
        match self {
            Operand::Value(v) => Some(v),
            _ => None,
        }
    }
}

/// Attributes of a function, its result or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeGroup {
    /// Its number.
    pub id: u32,
    /// What it is of: 0 the result, 1 the first parameter, all ones the function.
    pub of: u32,
    /// The attributes.
    pub attributes: Vec<Attribute>,
}

/// An attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// One that LLVM knows, by number.
    Known(u32),
    /// One that LLVM knows, with a number.
    Number(u32, u64),
    /// A text, with a text if it has one.
    Text(Vec<u8>, Option<Vec<u8>>),
}

/// Metadata of a module.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// Pieces by number.
    pub nodes: Vec<Node>,
    /// Lists by name.
    pub named: Vec<(List<u8>, List<MetadataId>)>,
    /// Names of kinds of attached metadata.
    pub kinds: Vec<(u32, List<u8>)>,
    /// What is in the lists, of functions' pieces, too.
    pub(super) pool: Pool,
}

/// A piece of metadata. [`Metadata::contents`] has what is in its lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A text.
    Text(List<u8>),
    /// A value.
    Value(ValueId),
    /// A list of others.
    List {
        /// Whether it is told by its place and not by its contents.
        distinct: bool,
        /// The others; none for null.
        items: List<Option<MetadataId>>,
    },
    /// A record of debug information.
    Debug {
        /// Its code.
        code: u32,
        /// Its operands.
        operands: List<u64>,
    },
}

impl Metadata {
    /// What is in a list.
    pub fn contents<T: Listed>(&self, list: List<T>) -> &[T] {
        self.pool.get(list)
    }

    /// The list called `name`.
    pub fn named(&self, name: &str) -> Option<&[MetadataId]> {
        let found = self.named.iter().find(|(n, _)| self.contents(*n) == name.as_bytes());
        found.map(|&(_, items)| self.contents(items))
    }

    /// A piece by number.
    pub fn get(&self, id: MetadataId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// The others in a list.
    pub fn list(&self, id: MetadataId) -> Option<&[Option<MetadataId>]> {
        match *self.get(id)? {
            Node::List { items, .. } => Some(self.contents(items)),
            _ => None,
        }
    }
}

impl Module {
    /// A value of the module, or of `body` within it.
    pub fn value<'m>(&'m self, body: Option<&'m Body>, id: ValueId) -> Option<&'m Value> {
        let index = id.0 as usize;
        match index.checked_sub(self.values.len()) {
            None => self.values.get(index),
            Some(local) => body?.values.get(local),
        }
    }

    /// The constant that a piece of metadata holds, if it is an integer.
    pub fn metadata_integer(&self, id: MetadataId) -> Option<u64> {
        let Node::Value(v) = self.metadata.get(id)? else { return None };
        match self.values.get(v.0 as usize)?.def {
            Def::Constant(Constant::Integer(n)) => Some(n),
            Def::Constant(Constant::Null) => Some(0),
            _ => None,
        }
    }

    /// The function called `name`.
    pub fn function(&self, name: &[u8]) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }
}
