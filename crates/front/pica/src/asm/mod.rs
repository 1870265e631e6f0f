//! The assembler: picasso's syntax, with directives for what that cannot say.
//!
//! What picasso's manual documents is accepted: `.proc .else .end .alias .fvec .ivec .bool .constf .consti .constfa .in
//! .out .entry .nodvle .gsh .setf .seti .setb`, labels, aliases with swizzles, relative addressing, inverted opcodes
//! found by themselves, several sources linked into one file, NOPs inserted where a flow instruction would stand last
//! in a scope. Uniforms are given out upwards from `c0`, constants downwards from `c95`. Constants are rounded to the
//! nearest 24-bit float, or truncated ([`Options::rounding`]); each may be an expression with `+ - * /`
//! and parentheses, as in `.constf scale(1.0/128.0, 2*(3-1), 0, 1)`. `.gsh` takes the names of what the modes are for:
//! `subdivision` for `variable`, `particle` for `fixed`. With [`Options::picasso`] the file is picasso's, byte for byte.
//!
//! The rest makes every program and every container expressible; the disassembler uses it only where it must:
//!
//! | syntax | meaning |
//! |---|---|
//! | `.word 0x...` | a word of code as it is |
//! | `inst ... {bits 0x...}` | bits of the word that no operand expresses |
//! | `inst ... {desc 5}` | the operand descriptor to use |
//! | `.desc 5 0x... [0x...]` | operand descriptor 5, and the second word of its entry in the container |
//! | `r0._` | a write mask without components |
//! | `mova a.xz, c0` | MOVA with a mask that `a0`, `a1`, `a01` do not cover |
//! | `call from, to` | the words from `from` up to but without `to`; each a label or a word address; also `callc`, `callu` |
//! | `ifc cond, else, end`, `ifu b0, else, end` | explicit branches, without `.else` and `.end` |
//! | `for i0, end` | explicit loop, without `.end` |
//! | `.entry from, to` | entry range as labels or word addresses |
//! | `.fvec name[4] = c8` | the registers to use; also `.ivec`, `.bool`; `.in name[2] v3` |
//! | `"any name"` | in place of an identifier: the exact name, without an alias |
//! | `.out - semantic7 o3.xy` | an output semantic by number |
//! | `raw(0x7f0001)` | in place of a number: the bits of a 24-bit float |
//! | `.dvle 1` | what follows belongs to executable 1 |
//! | `.vsh` | vertex shader, even with `setemit` in it |
//! | `.geometry mode, start, variable, fixed` | the geometry settings as bytes |
//! | `.merge true` | the merge-outputs flag |
//! | `.inmask 0x7`, `.outmask 0x7` | the register masks, if not those of `.in` and `.out` |
//! | `.version 0x1002`, `.dvlpversion 0` | version fields of the executable, of the program |
//! | `.label "name" id address size` | an entry of the label table |
//! | `.filename "name"`, `.sourceline file, line` | entries of the source tables |

mod ast;
pub(crate) mod descriptors;
pub(crate) mod encode;
pub(crate) mod lex;
mod parse;
pub(crate) mod registers;
pub(crate) mod section;

use crate::container::Shbin;
use crate::decode::EncodeError;
use thiserror::Error;

/// The version picasso writes into executables, and what this assembler writes without `.version`.
pub const DEFAULT_VERSION: u16 = 0x1002;

/// A source file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Bounds on what a source may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all sources together.
    pub source_bytes: usize,
    /// Program words.
    pub code_words: usize,
    /// Executables.
    pub executables: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { source_bytes: 4 << 20, code_words: 4096, executables: 64 }
    }
}

/// How the constants of a source become 24-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rounding {
    /// The nearest one, ties to even.
    #[default]
    Nearest,
    /// The next one towards zero.
    Truncate,
    /// As picasso does: the mantissa's low bits are dropped, and numbers below 2⁻⁶³ are zero. From there to 2⁻⁶², and from 2⁶⁴
    /// to 2⁶⁵, the mantissa stays beside an exponent of denormals and of NaNs.
    Picasso,
}

/// What the source does not say and the file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// Instructions that agree in all modifiers of the sources they have share a descriptor, the input mask of a source
    /// without `.in` is that of the registers it reads, and names are in the order of their declarations.
    #[default]
    Plain,
    /// As picasso 2.7.1 writes it: instructions share a descriptor if they agree in the lanes they read, the input mask is
    /// that of `.in` alone, names are in the order of their registers, and a condition wants the flag that does not matter set.
    Picasso,
}

/// How to assemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Insert a NOP where a flow instruction or the end of another scope would be the last thing in a scope, since
    /// the unit loses one of the two there.
    pub pad: bool,
    /// How constants become 24-bit floats.
    pub rounding: Rounding,
    /// What the source does not say.
    pub layout: Layout,
    /// Bounds.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            pad: true,
            rounding: Rounding::default(),
            layout: Layout::default(),
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// Those with which sources of picasso become its files, byte for byte.
    pub fn picasso() -> Options {
        Options { rounding: Rounding::Picasso, layout: Layout::Picasso, ..Options::default() }
    }
}

/// A place in a source, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// Why a source does not assemble.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{source_name}:{}:{}: {reason}", at.line, at.column)]
pub struct AsmError {
    /// Name of the source.
    pub source_name: String,
    /// Where in it.
    pub at: Position,
    /// Why.
    pub reason: Reason,
}

/// What is wrong at an [`AsmError`]'s place.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Reason {
    /// A character that starts nothing.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// A string without its closing quote, or with a bad escape.
    #[error("malformed string")]
    String,
    /// A number that is none.
    #[error("malformed number {0:?}")]
    Number(String),
    /// Something else should stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// No such instruction.
    #[error("unknown instruction {0:?}")]
    Instruction(String),
    /// No such directive.
    #[error("unknown directive {0:?}")]
    Directive(String),
    /// A name that is neither a register nor an alias.
    #[error("unknown register or alias {0:?}")]
    Register(String),
    /// A register of the wrong file.
    #[error("{found} cannot stand here; expected {expected}")]
    WrongRegister {
        /// What can.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A place that is not defined.
    #[error("label or procedure {0:?} is not defined")]
    Undefined(String),
    /// A name defined twice.
    #[error("{0:?} is already defined")]
    Duplicate(String),
    /// A number beyond its range.
    #[error("{what} {value} is out of range ({min} to {max})")]
    Range {
        /// What it is.
        what: &'static str,
        /// The number.
        value: i64,
        /// Least.
        min: i64,
        /// Greatest.
        max: i64,
    },
    /// No registers or table entries left.
    #[error("no {0} left")]
    Full(&'static str),
    /// A limit of [`Limits`].
    #[error("more than {limit} {what}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
    /// `.end` or `.else` without a block, or a block inside the wrong one.
    #[error("{0}")]
    Block(&'static str),
    /// The operands do not fit the instruction.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// `{desc n}` names a descriptor that says something else.
    #[error("operand descriptor {index} is {found:#010x}, which does not say what is written here")]
    Descriptor {
        /// Its index.
        index: u8,
        /// What it holds.
        found: u32,
    },
    /// `{bits n}` sets bits that operands own.
    #[error("bits {0:#010x} overlap the operands")]
    Bits(u32),
}

/// Assembles one source with the default options.
pub fn assemble(text: &str) -> Result<Shbin, AsmError> {
    assemble_sources(&[Source { name: "<source>", text }], &Options::default())
}

/// Assembles sources into one file: each gives an executable, unless it says `.nodvle`. Procedures are shared by all
/// of them, and so are the uniforms of vertex shaders.
pub fn assemble_sources(sources: &[Source<'_>], options: &Options) -> Result<Shbin, AsmError> {
    let error = |source: &Source<'_>, (at, reason): (Position, Reason)| AsmError {
        source_name: source.name.to_owned(),
        at,
        reason,
    };
    let limit = options.limits.source_bytes;
    let mut bytes = 0usize;
    let mut tokens = Vec::with_capacity(sources.len());
    for source in sources {
        bytes = bytes.saturating_add(source.text.len());
        if bytes > limit {
            return Err(error(
                source,
                (Position::default(), Reason::Limit { what: "bytes of source", limit }),
            ));
        }
        tokens.push(lex::lex(source.text).map_err(|e| error(source, e))?);
    }
    let mut encoder = encode::Encoder::new(*options);
    for (index, (source, tokens)) in sources.iter().zip(&tokens).enumerate() {
        let statements = parse::parse(tokens).map_err(|e| error(source, e))?;
        encoder.source(index, &statements).map_err(|e| error(source, e))?;
    }
    encoder.finish().map_err(|(index, at, reason)| {
        let source_name = sources.get(index).map_or_else(String::new, |source| source.name.to_owned());
        AsmError { source_name, at, reason }
    })
}

#[cfg(test)]
pub(crate) mod tests;
