//! The assembler: one instruction, label or `.word` a line; `;` and `//` start comments.
//!
//! ```
//! let words = xenoglot_vpu::asm::assemble(
//!     "        ldt   r2, tb1          ; depth so far
//!              sub   r3.x, r0, r2
//!              kill  r3               ; behind it
//!      again:  mad.sat r1, r1, g0, g1
//!              store tb0, r1
//!              exit",
//! )?;
//! assert_eq!(words.len(), 6);
//! # Ok::<(), xenoglot_vpu::asm::AsmError>(())
//! ```

use crate::inst::Inst;
use crate::isa::{Op, Operand};
use crate::program::MAX_PROGRAM_WORDS;
use std::collections::BTreeMap;
use thiserror::Error;

/// Bytes a source may have.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Why a source does not assemble, and where: line and column count from 1, columns in characters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{line}:{column}: {reason}")]
pub struct AsmError {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Why.
    pub reason: Reason,
}

/// What is wrong at an [`AsmError`]'s place.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Reason {
    /// More bytes than [`MAX_SOURCE_BYTES`].
    #[error("the source is longer than {MAX_SOURCE_BYTES} bytes")]
    SourceTooLong,
    /// More words than [`MAX_PROGRAM_WORDS`].
    #[error("the program is longer than {MAX_PROGRAM_WORDS} words")]
    ProgramTooLong,
    /// A character that starts nothing.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// Something else than what has to stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What has to stand here.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A mnemonic that does not exist.
    #[error("no instruction {0:?}")]
    UnknownInstruction(String),
    /// `.sat` where there is no destination.
    #[error("{0} has no result to saturate")]
    NoSaturation(&'static str),
    /// A number out of range, or between the numbers there are.
    #[error("{number} is not {allowed}")]
    Range {
        /// The number.
        number: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A label that is not defined.
    #[error("no label {0:?}")]
    UnknownLabel(String),
    /// A label that is defined twice.
    #[error("label {0:?} is there already")]
    LabelTwice(String),
}

/// A token: its text and its column. Words, numbers and single marks.
#[derive(Clone, Copy)]
struct Token<'s> {
    text: &'s str,
    column: u32,
}

struct Line<'s> {
    number: u32,
    tokens: Vec<Token<'s>>,
    next: usize,
    /// Column after the last token.
    end: u32,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+')
}

impl<'s> Line<'s> {
    fn lex(number: u32, text: &'s str) -> Result<Line<'s>, AsmError> {
        let mut tokens = Vec::new();
        let mut chars = text.char_indices().peekable();
        let mut column = 0;
        while let Some((at, c)) = chars.next() {
            column += 1;
            let start = column;
            match c {
                ';' => break,
                '/' if text[at..].starts_with("//") => break,
                c if c.is_whitespace() => {}
                ',' | ':' => tokens.push(Token { text: &text[at..at + 1], column }),
                c if is_word(c) => {
                    let mut end = at + 1;
                    while let Some(&(at, c)) = chars.peek().filter(|&&(_, c)| is_word(c)) {
                        end = at + c.len_utf8();
                        column += 1;
                        chars.next();
                    }
                    tokens.push(Token { text: &text[at..end], column: start });
                }
                c => return Err(AsmError { line: number, column, reason: Reason::Character(c) }),
            }
        }
        Ok(Line { number, tokens, next: 0, end: column + 1 })
    }

    fn error<T>(&self, column: u32, reason: Reason) -> Result<T, AsmError> {
        Err(AsmError { line: self.number, column, reason })
    }

    fn peek(&self) -> Option<Token<'s>> {
        self.tokens.get(self.next).copied()
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, AsmError> {
        let (column, found) = match self.peek() {
            Some(t) => (t.column, format!("{:?}", t.text)),
            None => (self.end, "the end of the line".into()),
        };
        self.error(column, Reason::Expected { expected, found })
    }

    /// The next token; `expected` says what if there is none.
    fn token(&mut self, expected: &'static str) -> Result<Token<'s>, AsmError> {
        match self.peek() {
            Some(t) if !matches!(t.text, "," | ":") => {
                self.next += 1;
                Ok(t)
            }
            _ => self.expected(expected),
        }
    }

    fn mark(&mut self, mark: &'static str, expected: &'static str) -> Result<(), AsmError> {
        match self.peek() {
            Some(t) if t.text == mark => {
                self.next += 1;
                Ok(())
            }
            _ => self.expected(expected),
        }
    }

    /// An operand that `parse` takes, or an error that says what was expected.
    fn parsed<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'s str) -> Option<T>,
    ) -> Result<T, AsmError> {
        let token = self.token(expected)?;
        parse(token.text).map_or_else(
            || {
                let found = format!("{:?}", token.text);
                self.error(token.column, Reason::Expected { expected, found })
            },
            Ok,
        )
    }

    fn range<T>(
        &self,
        token: Token,
        allowed: &'static str,
        value: Option<T>,
        ok: impl Fn(&T) -> bool,
    ) -> Result<T, AsmError> {
        match value.filter(ok) {
            Some(v) => Ok(v),
            None => self.error(token.column, Reason::Range { number: token.text.into(), allowed }),
        }
    }
}

/// A number below `count` without sign or leading zeros.
fn number(text: &str, count: u8) -> Option<u8> {
    let digits = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|&n: &u8| digits && n < count)
}

fn register(text: &str) -> Option<u8> {
    number(text.strip_prefix('r')?, 16)
}

fn source(text: &str) -> Option<u8> {
    register(text).or_else(|| Some(number(text.strip_prefix('g')?, 16)? | 16))
}

fn lane(c: char) -> Option<u8> {
    "xyzw".find(c).map(|n| n as u8)
}

/// `r0.xz`: register and mask.
fn destination(text: &str) -> Option<(u8, u8)> {
    let Some((name, lanes)) = text.split_once('.') else { return Some((register(text)?, 0xf)) };
    if lanes == "_" {
        return Some((register(name)?, 0));
    }
    let mut mask = 0u8;
    for c in lanes.chars() {
        let bit = 1 << lane(c)?;
        // In order, each once.
        if mask >= bit {
            return None;
        }
        mask |= bit;
    }
    (mask != 0).then_some((register(name)?, mask))
}

/// `r0.yxzw`: source and swizzle.
fn swizzled(text: &str) -> Option<(u8, u16)> {
    let (name, lanes) = text.split_once('.')?;
    if lanes.chars().count() != 4 {
        return None;
    }
    let swizzle = lanes.chars().rev().try_fold(0, |all, c| Some(all << 2 | u16::from(lane(c)?)))?;
    Some((source(name)?, swizzle))
}

fn is_label(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A jump whose label is looked up when all are known.
struct Fixup {
    word: usize,
    label: String,
    line: u32,
    column: u32,
}

#[derive(Default)]
struct Assembler {
    words: Vec<u32>,
    labels: BTreeMap<String, u16>,
    fixups: Vec<Fixup>,
}

/// Assembles a program.
///
/// # Errors
/// The first thing that is wrong, and where.
pub fn assemble(source: &str) -> Result<Vec<u32>, AsmError> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(AsmError { line: 1, column: 1, reason: Reason::SourceTooLong });
    }
    let mut assembler = Assembler::default();
    for (number, text) in (1..).zip(source.lines()) {
        assembler.line(Line::lex(number, text)?)?;
    }
    assembler.finish()
}

impl Assembler {
    fn line(&mut self, mut line: Line) -> Result<(), AsmError> {
        while line.tokens.get(line.next + 1).is_some_and(|t| t.text == ":") {
            let token = line.token("a label")?;
            if !is_label(token.text) {
                let found = format!("{:?}", token.text);
                return line.error(token.column, Reason::Expected { expected: "a label", found });
            }
            line.mark(":", "`:`")?;
            if self.labels.insert(token.text.into(), self.words.len() as u16).is_some() {
                return line.error(token.column, Reason::LabelTwice(token.text.into()));
            }
        }
        let Some(first) = line.peek() else { return Ok(()) };
        if self.words.len() >= MAX_PROGRAM_WORDS {
            return line.error(first.column, Reason::ProgramTooLong);
        }
        let word = match first.text {
            ".word" => {
                line.next += 1;
                let token = line.token("a word")?;
                let hex = token.text.strip_prefix("0x").and_then(|h| u32::from_str_radix(h, 16).ok());
                let value = hex.or_else(|| token.text.parse().ok());
                line.range(token, "a word of 32 bits", value, |_| true)?
            }
            _ => self.instruction(&mut line)?.encode(),
        };
        if line.peek().is_some() {
            return line.expected("the end of the line");
        }
        self.words.push(word);
        Ok(())
    }

    fn instruction(&mut self, line: &mut Line) -> Result<Inst, AsmError> {
        let mnemonic = line.token("an instruction")?;
        let (name, saturate) = match mnemonic.text.strip_suffix(".sat") {
            Some(name) => (name, true),
            None => (mnemonic.text, false),
        };
        let Some(op) = Op::parse(name) else {
            return line.error(mnemonic.column, Reason::UnknownInstruction(mnemonic.text.into()));
        };
        if saturate && !op.info().has_dst() {
            return line.error(mnemonic.column, Reason::NoSaturation(op.info().name));
        }
        let mut inst = Inst { saturate, ..Inst::new(op) };
        for (n, &operand) in op.info().operands.iter().enumerate() {
            if n > 0 {
                line.mark(",", "`,`")?;
            }
            self.operand(line, operand, &mut inst)?;
        }
        Ok(inst)
    }

    fn operand(&mut self, line: &mut Line, operand: Operand, inst: &mut Inst) -> Result<(), AsmError> {
        const SOURCE: &str = "a register or global";
        match operand {
            Operand::Dst => {
                (inst.d, inst.mask) = line.parsed("a register with lanes in order", destination)?
            }
            Operand::A => inst.a = line.parsed(SOURCE, source)?,
            Operand::B => inst.b = line.parsed(SOURCE, source)?,
            Operand::C => inst.c = line.parsed(SOURCE, source)?,
            Operand::Swizzled => {
                (inst.a, inst.extra) = line.parsed("a register or global with four lanes", swizzled)?;
            }
            Operand::Value => {
                let token = line.token("a number")?;
                let value = token.text.parse().ok().map(|v: f64| v * 256.0);
                let fits = |v: &f64| v.fract() == 0.0 && (-16384.0..16384.0).contains(v);
                let value = line.range(token, "a multiple of 1/256 from -64 to below 64", value, fits)?;
                inst.extra = value as i16 as u16 & 0x7fff;
            }
            Operand::Index => {
                let token = line.token("an index")?;
                inst.extra =
                    line.range(token, "an index from 0 to 15", number(token.text, 16), |_| true)?.into();
            }
            Operand::Tile => {
                inst.extra = line.parsed("a tile buffer", |t| number(t.strip_prefix("tb")?, 4))?.into();
            }
            Operand::Unit => {
                inst.extra = line.parsed("a texture", |t| number(t.strip_prefix('t')?, 4))?.into();
            }
            Operand::Target => {
                let token = line.token("a label or word number")?;
                if is_label(token.text) {
                    let (word, label) = (self.words.len(), token.text.to_owned());
                    self.fixups.push(Fixup { word, label, line: line.number, column: token.column });
                } else {
                    let value: Option<u16> = token.text.parse().ok();
                    inst.extra = line.range(token, "a word number below 2048", value, |&v| v < 2048)?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u32>, AsmError> {
        for fixup in self.fixups {
            let Some(&target) = self.labels.get(&fixup.label) else {
                let reason = Reason::UnknownLabel(fixup.label);
                return Err(AsmError { line: fixup.line, column: fixup.column, reason });
            };
            if let Some(word) = self.words.get_mut(fixup.word) {
                *word |= u32::from(target);
            }
        }
        Ok(self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disasm::disassemble;
    use proptest::prelude::*;

    fn place(source: &str) -> (u32, u32, Reason) {
        let e = assemble(source).unwrap_err();
        (e.line, e.column, e.reason)
    }

    #[test]
    fn errors_say_where() {
        let expected = |expected, found: &str| Reason::Expected { expected, found: found.into() };
        assert_eq!(place("nop\n  foo r1"), (2, 3, Reason::UnknownInstruction("foo".into())));
        let lanes = "a register with lanes in order";
        assert_eq!(place("mov r16, r1"), (1, 5, expected(lanes, "\"r16\"")));
        assert_eq!(place("mov r1.yx, r1"), (1, 5, expected(lanes, "\"r1.yx\"")));
        assert_eq!(place("add r1, r2"), (1, 11, expected("`,`", "the end of the line")));
        assert_eq!(place("exit r1"), (1, 6, expected("the end of the line", "\"r1\"")));
        assert_eq!(place("jmp there ; ä"), (1, 5, Reason::UnknownLabel("there".into())));
        assert_eq!(place("a: nop\na: nop"), (2, 1, Reason::LabelTwice("a".into())));
        assert_eq!(place("kill.sat r1"), (1, 1, Reason::NoSaturation("kill")));
        assert_eq!(place("ä"), (1, 1, Reason::Character('ä')));
        let allowed = "a multiple of 1/256 from -64 to below 64";
        assert_eq!(place("imm r0, 64"), (1, 9, Reason::Range { number: "64".into(), allowed }));
        assert_eq!(place("nop\n".repeat(257).as_str()), (257, 1, Reason::ProgramTooLong));
    }

    #[test]
    fn labels_stand_for_words() {
        let words = assemble("start: jz r0, end\njmp start\nend:").unwrap();
        assert_eq!(words, assemble("jz r0, 2\njmp 0").unwrap());
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(1024))]
        #[test]
        fn what_is_disassembled_assembles_to_the_same(
            parts in prop::collection::vec((any::<u32>(), 0u32..32), 0..MAX_PROGRAM_WORDS)
        ) {
            // Words with few bits are mostly instructions.
            let word = |(bits, opcode): (u32, u32)| match Op::from_opcode(opcode) {
                Some(op) => bits & op.info().bits() & 0x3ff_ffff | opcode << 26,
                None => bits,
            };
            let words: Vec<u32> = parts.into_iter().map(word).collect();
            let text = disassemble(&words);
            prop_assert_eq!(assemble(&text), Ok(words), "{}", text);
        }

        #[test]
        fn any_text_assembles_or_does_not(text in "[a-z0-9.,:; \n-]{0,64}|\\PC{0,32}") {
            if let Ok(words) = assemble(&text) {
                prop_assert_eq!(assemble(&disassemble(&words)), Ok(words));
            }
        }
    }
}
