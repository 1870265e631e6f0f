//! LLVM 3.7 bitcode as DXC writes it: bits, blocks and records, and the module they say.
//!
//! What [`read`](read()) gives keeps LLVM's numbers of types, values, blocks and
//! metadata; nothing here knows what a shader is. After it every number names something, values have the types that
//! their users said, and aggregates consist of types with lower numbers, so that walks over types end. What depends on
//! the order of execution (that a definition comes before its use) is not checked.
//!
//! Source: LLVM's BitCodeFormat; where it is silent, the notes on records in `LLVMBitCodes.h` of LLVM 3.7.

mod bits;
mod codes;
mod error;
mod list;
mod module;
mod read;
mod stream;
mod ty;

pub use codes::{BinaryOp, CastOp, Predicate, RmwOp};
pub use error::{BitcodeError, ErrorKind, Limits};
pub use list::{List, Listed, Pool};
pub use module::{
    Atomic, Attribute, AttributeGroup, BlockId, Body, Constant, Def, FastMath, Function, Global, Inst,
    InstKind, MathFlags, Metadata, MetadataId, Module, Node, Operand, Value, ValueId,
};
pub use read::read;
pub use ty::{Type, TypeId, Types};
