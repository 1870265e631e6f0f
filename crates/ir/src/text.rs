//! The text form of modules: a printer, a parser, and a canonical form to compare modules by.
//!
//! The grammar is in `docs/ir-text.md`. What the printer writes the parser reads back, ids renumbered in the order
//! of the text; the guest's listing is the one thing the text does not carry. The parser checks syntax and names
//! only: that the result makes sense is for the verifier to say.

use crate::module::Module;

mod lex;
mod literal;
mod name;
mod parse;
mod print;

pub use literal::LiteralError;
pub use name::{Quoted, is_name};
pub use parse::{Limits, ParseError, ParseErrorKind, parse};
pub use print::{FuncText, GuestStyle, InstText, ModuleText, Numbers, Style};

/// The lossless text with values and blocks numbered in order: equal for modules that differ in ids, dead entities
/// and listing only.
pub fn canonical(module: &Module) -> String {
    module.display(Style { guest: GuestStyle::Prefix, numbers: Numbers::Ordered }).to_string()
}
