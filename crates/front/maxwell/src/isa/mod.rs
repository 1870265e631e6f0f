//! The instruction set as a table: a row for each operation, expanded to a form for each kind of second source.
//!
//! Sources: `vectors/maxwell/FORMAT.md` and the decode vectors, that is, the text of the vendor's disassembler.
//! Two forms that match one word, or a form no word reaches, do not compile.

mod common;
mod convert;
mod encode;
mod float;
mod flow;
mod form;
mod half;
mod index;
mod int;
mod memory;
mod spec;
mod special;
mod surface;
mod texture;
mod video;

pub use form::{FORMS, Form, FormId, Forms, Src};
pub(crate) use index::find;
pub(crate) use spec::extract;
pub use spec::{Choice, Field, Kind, ModSpec, OperandSpec, PartChoice, Place, RESERVED, Style, Ty};
