//! The verifier: what a module has to be for the rest of the code to take it.
//!
//! **Promise.** Of a module that [`verify`] accepts, a pass, back end or interpreter may index every table by every
//! id it meets, rely on operand counts and types, and never panic. It may still answer `Unsupported`: for ops whose
//! row in the op table is *open*, and for what its host lacks. Everything that makes or changes modules keeps them
//! acceptable.
//!
//! **Contract.** A module is acceptable if
//!
//! * *names* of functions, variables, resources and slots are identifiers, unique among their own sort;
//! * *ids* name something that exists: blocks in the layout, values with a definition in it, slots (name hints too),
//!   constants, variables, resources, functions;
//! * *interface*: workgroup sizes and array sizes are not zero; builtins have their type and direction and occur
//!   once; variables at locations are numbers, fit their location and do not overlap; integers a fragment shader
//!   reads are flat; uniform buffers are a positive multiple of 16 bytes, push constants of 4, of which there is one;
//! * *entry*: modules other than of stage `cpu` have one; a shader's entry takes and returns nothing and nobody calls
//!   it. No function calls itself, directly or through others;
//! * *blocks*: a function has at least one; the first one is the entry and no edge leads to it; every block and
//!   instruction stands in one place; edges carry one argument per parameter, of its type;
//! * *definitions*: a value is what its definition says it is (instruction and result number, block and parameter
//!   number); in blocks that the entry reaches, each definition dominates its uses. Blocks that it does not reach are
//!   only checked for types;
//! * *instructions* have operands and results as the op's [`Sig`](crate::op::Sig) says, the kind of immediate and no
//!   flag but those its row names, in a stage that has the op; *open* ops are free in operands and results;
//! * *immediates*: constants have no bits outside their lanes; lane numbers exist in the operands; accesses name a
//!   resource exactly if the space has one, of the space's kind and not an array, allow what the op does, and are
//!   aligned to 16 bytes at most; atomic accesses are of one 32- or 64-bit lane, naturally aligned, with an order that
//!   the op can have; shared and private memory have a size if they are used;
//! * *terminators* have the operands and edges of their kind; the cases of a switch are distinct and within the
//!   operand's width; `return` gives what the function declares; `kill` ends fragments, `exit`, `tail_call_guest` and
//!   `trap` CPU guests only;
//! * *homes* of slots are for scalars other than `bool`, and CPU guests only.
//!
//! One thing cannot be checked: operand lists must come from the function's own pool.
//!
//! All errors are collected, up to [`MOST_ERRORS`]; a function whose ids are wrong is not checked further.

use crate::entities::{Block, Func, Inst};
use crate::func::Function;
use crate::module::Module;
use std::fmt;
use thiserror::Error;

mod func;
mod imm;
mod interface;
mod quick;
mod texture;
mod types;

/// Errors after which the verifier reports no more.
pub const MOST_ERRORS: usize = 64;

/// Something that is wrong with a module.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct VerifyError {
    /// The function's name; `None` for the module itself.
    pub func: Option<String>,
    /// The block.
    pub block: Option<Block>,
    /// The instruction; `None` with a text for a terminator.
    pub inst: Option<Inst>,
    /// The instruction or terminator in the text form.
    pub text: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(func) = &self.func {
            write!(f, "@{func}: ")?;
        }
        if let Some(block) = self.block {
            write!(f, "{block}: ")?;
        }
        if let Some(text) = &self.text {
            write!(f, "`{text}`: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with a module, in order; not empty.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct VerifyErrors {
    /// The errors, [`MOST_ERRORS`] at most.
    pub errors: Vec<VerifyError>,
    /// How many more there are.
    pub unreported: usize,
}

impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.errors.iter().enumerate() {
            write!(f, "{}{error}", if n == 0 { "" } else { "\n" })?;
        }
        match self.unreported {
            0 => Ok(()),
            n => write!(f, "\nand {n} more"),
        }
    }
}

/// Checks a module against the contract.
pub fn verify(module: &Module) -> Result<(), VerifyErrors> {
    let mut sink = Sink::new(module);
    interface::check(&mut sink);
    for id in module.funcs.keys() {
        func::check(&mut sink, id);
    }
    sink.finish()
}

/// Checks one function of a module that was acceptable before the function changed: everything that does not concern
/// the module's interface or the call graph.
pub fn verify_func(module: &Module, func: Func) -> Result<(), VerifyErrors> {
    let mut sink = Sink::new(module);
    func::check(&mut sink, func);
    sink.finish()
}

/// What an error is about.
#[derive(Clone, Copy)]
enum Place<'m> {
    Module,
    Func(&'m Function),
    Block(&'m Function, Block),
    Inst(&'m Function, Block, Inst),
    Term(&'m Function, Block),
}

/// Where errors go.
struct Sink<'m> {
    module: &'m Module,
    place: Place<'m>,
    errors: Vec<VerifyError>,
    unreported: usize,
}

impl<'m> Sink<'m> {
    fn new(module: &'m Module) -> Sink<'m> {
        Sink { module, place: Place::Module, errors: Vec::new(), unreported: 0 }
    }

    /// Reports `message` at the current place. Nothing is formatted once there are too many.
    fn report(&mut self, message: fmt::Arguments<'_>) {
        if self.errors.len() >= MOST_ERRORS {
            self.unreported += 1;
            return;
        }
        let (func, block, inst, text) = match self.place {
            Place::Module => (None, None, None, None),
            Place::Func(f) => (Some(f), None, None, None),
            Place::Block(f, b) => (Some(f), Some(b), None, None),
            Place::Inst(f, b, i) => {
                (Some(f), Some(b), Some(i), Some(f.display_inst(self.module, i).to_string()))
            }
            Place::Term(f, b) => (Some(f), Some(b), None, Some(f.display_term(self.module, b).to_string())),
        };
        let func = func.map(|f| f.name.clone());
        self.errors.push(VerifyError { func, block, inst, text, message: message.to_string() });
    }

    /// How many errors there are so far.
    fn count(&self) -> usize {
        self.errors.len() + self.unreported
    }

    fn finish(self) -> Result<(), VerifyErrors> {
        let Sink { errors, unreported, .. } = self;
        if errors.is_empty() { Ok(()) } else { Err(VerifyErrors { errors, unreported }) }
    }
}

/// Reports a formatted message; `None`, so that `?` ends a check that cannot go on.
macro_rules! fail {
    ($sink:expr, $($format:tt)+) => {{
        $sink.report(format_args!($($format)+));
        None
    }};
}
use fail;
