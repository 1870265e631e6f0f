//! The parser: tokens to a module, one line at a time and without recursion.
//!
//! This file has the errors, the limits and the token-level helpers; [`header`] reads what stands before the
//! functions, [`body`] functions, [`imm`] immediates.

use super::lex::{Lexer, Token};
use super::literal::{LiteralError, parse_number};
use super::name::unescape;
use crate::entities::{Func, Inst, Resource, Var};
use crate::module::{Module, Stage};
use crate::ty::Type;
use std::borrow::Cow;
use std::collections::HashMap;
use thiserror::Error;

mod body;
mod header;
mod imm;

/// How much a text may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of text.
    pub bytes: usize,
    /// Functions, variables, resources and slots, together.
    pub names: usize,
    /// Blocks, of all functions together.
    pub blocks: usize,
    /// Values, of all functions together.
    pub values: usize,
    /// Instructions, of all functions together.
    pub insts: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 64 << 20, names: 1 << 16, blocks: 1 << 20, values: 1 << 22, insts: 1 << 22 }
    }
}

/// Why a text is no module.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {kind}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: ParseErrorKind,
}

/// What is wrong at a place of a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParseErrorKind {
    /// No token starts with this.
    #[error("unexpected character {0:?}")]
    BadCharacter(char),
    /// A string without an end on its line.
    #[error("unterminated string")]
    UnterminatedString,
    /// An escape that means nothing.
    #[error("malformed escape in string")]
    BadEscape,
    /// Something else has to stand here.
    #[error("expected {what}, found {found}")]
    Expected {
        /// What was expected.
        what: &'static str,
        /// What was found, shortened.
        found: String,
    },
    /// A name of something that is not there.
    #[error("unknown {what} {name}")]
    Unknown {
        /// What is named.
        what: &'static str,
        /// Its name, shortened.
        name: String,
    },
    /// A second definition.
    #[error("{what} {name} is defined twice")]
    Duplicate {
        /// What is defined.
        what: &'static str,
        /// Its name, shortened.
        name: String,
    },
    /// Flags that exclude one another or are repeated.
    #[error("conflicting flags")]
    ConflictingFlags,
    /// A malformed lane of a constant.
    #[error("{0}")]
    Literal(LiteralError),
    /// A number too large for what it is for.
    #[error("{what} is out of range")]
    OutOfRange {
        /// What the number is.
        what: &'static str,
    },
    /// A constant with another number of lanes than its type.
    #[error("expected {expected} lanes, found {found}")]
    LaneCount {
        /// Lanes of the type.
        expected: usize,
        /// Lanes in the text.
        found: usize,
    },
    /// A block without a terminator.
    #[error("the block before has no terminator")]
    NoTerminator,
    /// An instruction before the first label.
    #[error("instruction outside of a block")]
    NoBlock,
    /// The text asks for more than the limits allow.
    #[error("more than {limit} {what}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

/// An error kind and the offset it belongs to.
type At = (ParseErrorKind, usize);
type Parsed<T> = Result<T, At>;

/// Reads a module. The result is well-formed text, not necessarily a sound module.
pub fn parse(text: &str, limits: &Limits) -> Result<Module, ParseError> {
    parse_module(text, limits).map_err(|(kind, offset)| {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        ParseError {
            line: 1 + before.bytes().filter(|&b| b == b'\n').count(),
            column: 1 + before.get(line_start..).map_or(0, |t| t.chars().count()),
            kind,
        }
    })
}

fn parse_module(text: &str, limits: &Limits) -> Parsed<Module> {
    if text.len() > limits.bytes {
        return Err((ParseErrorKind::Limit { what: "bytes", limit: limits.bytes }, 0));
    }
    let mut p = Parser {
        lexer: Lexer::new(text),
        token: Token::End,
        at: 0,
        limits: *limits,
        left: *limits,
        module: Module::new(Stage::Compute, ""),
        vars: HashMap::new(),
        resources: HashMap::new(),
        funcs: HashMap::new(),
        calls: Vec::new(),
    };
    p.advance()?;
    p.skip_newline()?;
    p.module()?;
    Ok(p.module)
}

/// A call whose callee is not looked up yet: it may be defined further down.
struct PendingCall<'a> {
    func: Func,
    inst: Inst,
    callee: Cow<'a, str>,
    at: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// Offset of `token`.
    at: usize,
    limits: Limits,
    /// What is left of the limits.
    left: Limits,
    module: Module,
    vars: HashMap<Cow<'a, str>, Var>,
    resources: HashMap<Cow<'a, str>, Resource>,
    funcs: HashMap<Cow<'a, str>, Func>,
    calls: Vec<PendingCall<'a>>,
}

/// `text` cut to a length fit for messages.
fn short(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Parsed<()> {
        (self.token, self.at) = self.lexer.next()?;
        Ok(())
    }

    /// Takes one from what is left of a limit.
    fn charge(&mut self, what: &'static str, field: fn(&mut Limits) -> &mut usize) -> Parsed<()> {
        let left = field(&mut self.left);
        match left.checked_sub(1) {
            Some(less) => {
                *left = less;
                Ok(())
            }
            None => Err((ParseErrorKind::Limit { what, limit: *field(&mut self.limits) }, self.at)),
        }
    }

    fn expected<T>(&self, what: &'static str) -> Parsed<T> {
        let found = match self.token {
            Token::Word(w) => format!("`{}`", short(w)),
            Token::Str(_) => "a string".into(),
            Token::Punct(c) => format!("`{c}`"),
            Token::Arrow => "`->`".into(),
            Token::Newline => "the end of the line".into(),
            Token::End => "the end of the text".into(),
        };
        Err((ParseErrorKind::Expected { what, found }, self.at))
    }

    fn skip_newline(&mut self) -> Parsed<()> {
        if self.token == Token::Newline { self.advance() } else { Ok(()) }
    }

    fn end_of_line(&mut self) -> Parsed<()> {
        if self.token == Token::Newline { self.advance() } else { self.expected("the end of the line") }
    }

    /// Whether the token was `c`; it is taken then.
    fn eat(&mut self, c: char) -> Parsed<bool> {
        let is = self.token == Token::Punct(c);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn punct(&mut self, c: char, what: &'static str) -> Parsed<()> {
        if self.eat(c)? { Ok(()) } else { self.expected(what) }
    }

    fn word(&mut self, what: &'static str) -> Parsed<&'a str> {
        let Token::Word(word) = self.token else { return self.expected(what) };
        self.advance()?;
        Ok(word)
    }

    /// Whether the token was the word `text`; it is taken then.
    fn eat_word(&mut self, text: &str) -> Parsed<bool> {
        let is = self.token == Token::Word(text);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn keyword(&mut self, text: &str, what: &'static str) -> Parsed<()> {
        if self.eat_word(text)? { Ok(()) } else { self.expected(what) }
    }

    /// A word that `parse` knows.
    fn known<T>(&mut self, what: &'static str, parse: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        match self.eat_known(parse)? {
            Some(found) => Ok(found),
            None => self.expected(what),
        }
    }

    /// What `parse` makes of the token; it is taken if it is a word that `parse` knows.
    fn eat_known<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Parsed<Option<T>> {
        let Token::Word(word) = self.token else { return Ok(None) };
        let found = parse(word);
        if found.is_some() {
            self.advance()?;
        }
        Ok(found)
    }

    /// A number that fits `T`.
    fn number<T: TryFrom<u64>>(&mut self, what: &'static str) -> Parsed<T> {
        let at = self.at;
        let number = self.known(what, parse_number)?;
        T::try_from(number).map_err(|_| (ParseErrorKind::OutOfRange { what }, at))
    }

    fn ty(&mut self) -> Parsed<Type> {
        self.known("a type", Type::parse)
    }

    fn string(&mut self, what: &'static str) -> Parsed<Cow<'a, str>> {
        let Token::Str(text) = self.token else { return self.expected(what) };
        let out = if text.contains('\\') {
            Cow::Owned(unescape(text).ok_or((ParseErrorKind::BadEscape, self.at))?)
        } else {
            Cow::Borrowed(text)
        };
        self.advance()?;
        Ok(out)
    }

    /// A name, bare or quoted.
    fn name(&mut self, what: &'static str) -> Parsed<Cow<'a, str>> {
        match self.token {
            Token::Str(_) => self.string(what),
            _ => self.word(what).map(Cow::Borrowed),
        }
    }

    /// A sigil and a name.
    fn sigil_name(&mut self, sigil: char, what: &'static str) -> Parsed<Cow<'a, str>> {
        self.punct(sigil, what)?;
        self.name(what)
    }
}

fn unknown(what: &'static str, name: &str, at: usize) -> At {
    (ParseErrorKind::Unknown { what, name: short(name) }, at)
}

fn duplicate(what: &'static str, name: &str, at: usize) -> At {
    (ParseErrorKind::Duplicate { what, name: short(name) }, at)
}
