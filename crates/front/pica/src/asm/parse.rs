//! Tokens to statements. The operands an instruction takes follow from its row in the opcode table.

mod directives;
mod expression;

use super::ast::{Guard, Instruction, Name, Operands, Place, Reg, Statement, StatementKind, Targets};
use super::lex::{Kind, Token};
use super::{Position, Reason};
use crate::desc::Component;
use crate::inst::{Condition, ConditionMode, Format, Index, Opcode, Relation};

type Error = (Position, Reason);
type Result<T> = std::result::Result<T, Error>;

/// Mnemonics beside those of the opcode table.
const SYNONYMS: [(&str, Opcode); 2] = [("lit", Opcode::Lit), ("loop", Opcode::Loop)];

/// The operation a mnemonic names, in any case.
fn opcode(mnemonic: &str) -> Option<Opcode> {
    let lower = mnemonic.to_ascii_lowercase();
    let synonym = SYNONYMS.iter().find(|row| row.0 == lower).map(|row| row.1);
    synonym.or_else(|| Opcode::from_name(&lower))
}

/// The index register a name means: picasso's names, then the chip's.
fn index_register(name: &str) -> Option<Index> {
    match name {
        "a0" => Some(Index::A0x),
        "a1" => Some(Index::A0y),
        "a2" | "lcnt" | "aL" => Some(Index::Al),
        _ => None,
    }
}

pub(super) fn parse<'a>(tokens: &'a [Token<'a>]) -> Result<Vec<Statement<'a>>> {
    let mut parser = Parser { tokens, next: 0 };
    let mut statements = Vec::with_capacity(tokens.len() / 8);
    while parser.next < tokens.len() {
        if parser.take_end() {
            continue;
        }
        let at = parser.at();
        let kind = parser.statement()?;
        if !matches!(kind, StatementKind::CodeLabel(_)) && !parser.take_end() {
            return parser.expected("the end of the line");
        }
        statements.push(Statement { at, kind });
    }
    Ok(statements)
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    next: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a Kind<'a> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &'a Kind<'a> {
        self.tokens.get(self.next + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    fn at(&self) -> Position {
        self.tokens.get(self.next).or(self.tokens.last()).map_or_else(Position::default, |token| token.at)
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T> {
        Err((self.at(), Reason::Expected { expected, found: self.peek().to_string() }))
    }

    fn take_end(&mut self) -> bool {
        let is_end = *self.peek() == Kind::End;
        self.next += usize::from(is_end);
        is_end
    }

    fn is_punct(&self, c: char) -> bool {
        *self.peek() == Kind::Punct(c)
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.is_punct(c);
        self.next += usize::from(found);
        found
    }

    fn want(&mut self, c: char, expected: &'static str) -> Result<()> {
        if self.take(c) { Ok(()) } else { self.expected(expected) }
    }

    fn comma(&mut self) -> Result<()> {
        self.want(',', "','")
    }

    fn ident(&mut self, expected: &'static str) -> Result<&'a str> {
        match self.peek() {
            Kind::Ident(name) => {
                self.next += 1;
                Ok(name)
            }
            _ => self.expected(expected),
        }
    }

    fn string(&mut self) -> Result<String> {
        match self.peek() {
            Kind::String(text) => {
                self.next += 1;
                Ok(text.clone())
            }
            _ => self.expected("a quoted name"),
        }
    }

    /// An integer, decimal or hexadecimal, with an optional sign.
    fn integer(&mut self) -> Result<i64> {
        let at = self.at();
        let negative = self.take('-');
        let Kind::Number(text) = self.peek() else { return self.expected("an integer") };
        self.next += 1;
        let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => text.parse::<u32>(),
        };
        let value = i64::from(parsed.map_err(|_| (at, Reason::Number((*text).to_owned())))?);
        Ok(if negative { -value } else { value })
    }

    fn integer_in(&mut self, what: &'static str, min: i64, max: i64) -> Result<i64> {
        let at = self.at();
        let value = self.integer()?;
        if (min..=max).contains(&value) {
            Ok(value)
        } else {
            Err((at, Reason::Range { what, value, min, max }))
        }
    }

    /// Four values in parentheses.
    fn vector<T: Copy>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<[T; 4]> {
        self.want('(', "'('")?;
        let x = item(self)?;
        let mut values = [x; 4];
        for value in &mut values[1..] {
            self.comma()?;
            *value = item(self)?;
        }
        self.want(')', "')'")?;
        Ok(values)
    }

    fn int_vector(&mut self) -> Result<[i64; 4]> {
        self.vector(|p| p.integer_in("component", -128, 255))
    }

    fn boolean(&mut self) -> Result<bool> {
        let value = match self.peek() {
            Kind::Ident("true" | "on") | Kind::Number("1") => true,
            Kind::Ident("false" | "off") | Kind::Number("0") => false,
            _ => return self.expected("true or false"),
        };
        self.next += 1;
        Ok(value)
    }

    /// `.letters`, if there is one: up to four component letters, or `_` for none.
    fn components(&mut self) -> Result<Option<&'a str>> {
        if !self.take('.') {
            return Ok(None);
        }
        let Kind::Ident(letters) = self.peek() else { return self.expected("component letters") };
        let letters = if *letters == "_" { "" } else { letters };
        if letters.len() > 4 || !letters.chars().all(|c| Component::from_letter(c).is_some()) {
            return self.expected("up to four component letters");
        }
        self.next += 1;
        Ok(Some(letters))
    }

    fn reg(&mut self) -> Result<Reg<'a>> {
        let at = self.at();
        let negate = self.take('-');
        let name = self.ident("a register")?;
        let (mut index, mut offset) = (Index::None, 0);
        if self.take('[') {
            if let Kind::Ident(name) = self.peek() {
                index = index_register(name).map_or_else(|| self.expected("an index register"), Ok)?;
                self.next += 1;
                if let Some(component) = self.components()? {
                    index = match (index, component) {
                        (Index::A0x, "x") => Index::A0x,
                        (Index::A0x, "y") => Index::A0y,
                        _ => return self.expected("a0.x or a0.y"),
                    };
                }
                if self.take('+') || self.is_punct('-') {
                    offset = self.integer()?;
                }
            } else {
                offset = self.integer()?;
            }
            self.want(']', "']'")?;
        }
        Ok(Reg { at, negate, name, index, offset, components: self.components()? })
    }

    fn place(&mut self) -> Result<Place<'a>> {
        let at = self.at();
        match self.peek() {
            Kind::Ident(name) => {
                self.next += 1;
                Ok(Place::Name(at, name))
            }
            Kind::Number(_) => Ok(Place::Address(at, self.integer()?)),
            _ => self.expected("a label, a procedure or a word address"),
        }
    }

    fn name(&mut self) -> Result<Name<'a>> {
        match self.peek() {
            Kind::String(_) => Ok(Name::Exact(self.string()?)),
            _ => Ok(Name::Ident(self.ident("a name")?)),
        }
    }

    /// `[n]`, if there is one.
    fn size(&mut self) -> Result<Option<i64>> {
        if !self.take('[') {
            return Ok(None);
        }
        let size = self.integer_in("size", 1, 96)?;
        self.want(']', "']'")?;
        Ok(Some(size))
    }

    fn statement(&mut self) -> Result<StatementKind<'a>> {
        if self.take('.') {
            return self.directive();
        }
        let name = self.ident("an instruction, a directive or a label")?;
        if self.take(':') {
            return Ok(StatementKind::CodeLabel(name));
        }
        let Some(op) = opcode(name) else {
            self.next -= 1;
            return Err((self.at(), Reason::Instruction(name.to_owned())));
        };
        Ok(StatementKind::Instruction(self.instruction(op)?))
    }

    fn instruction(&mut self, op: Opcode) -> Result<Instruction<'a>> {
        let operands = match op.format() {
            Format::Nullary => Operands::Nullary,
            Format::Unary => {
                let dst = self.reg()?;
                self.comma()?;
                Operands::Unary(dst, self.reg()?)
            }
            Format::MoveAddress => {
                let mask = self.address_mask()?;
                self.comma()?;
                Operands::MoveAddress(mask, self.reg()?)
            }
            Format::Binary | Format::BinaryInverted => {
                let dst = self.reg()?;
                self.comma()?;
                let first = self.reg()?;
                self.comma()?;
                Operands::Binary(dst, [first, self.reg()?])
            }
            Format::Compare => {
                let first = self.reg()?;
                self.comma()?;
                let x = self.relation()?;
                self.comma()?;
                let y = self.relation()?;
                self.comma()?;
                Operands::Compare([first, self.reg()?], x, y)
            }
            Format::Mad | Format::MadInverted => {
                let dst = self.reg()?;
                self.comma()?;
                let first = self.reg()?;
                self.comma()?;
                let second = self.reg()?;
                self.comma()?;
                Operands::Mad(dst, [first, second, self.reg()?])
            }
            Format::Condition => Operands::Condition(self.condition()?),
            Format::Range => Operands::Flow(Guard::Always, self.range(None)?),
            Format::ConditionRange => {
                let guard = Guard::Condition(self.condition()?);
                Operands::Flow(guard, self.range(Some(op))?)
            }
            Format::ConditionTarget => {
                let guard = Guard::Condition(self.condition()?);
                self.comma()?;
                Operands::Flow(guard, Targets::One(self.place()?))
            }
            Format::BoolRange => {
                let guard = Guard::Uniform(self.reg()?, true);
                Operands::Flow(guard, self.range(Some(op))?)
            }
            Format::BoolTarget => {
                let value = !self.take('!');
                let guard = Guard::Uniform(self.reg()?, value);
                self.comma()?;
                Operands::Flow(guard, Targets::One(self.place()?))
            }
            Format::Loop => {
                let guard = Guard::Uniform(self.reg()?, true);
                let targets = if self.take(',') { Targets::One(self.place()?) } else { Targets::Block };
                Operands::Flow(guard, targets)
            }
            Format::SetEmit => self.set_emit()?,
        };
        let (mut descriptor, mut bits) = (None, 0);
        while self.take('{') {
            let at = self.at();
            match self.ident("desc or bits")? {
                "desc" => descriptor = Some(self.integer_in("operand descriptor", 0, 127)?),
                "bits" => bits = self.integer_in("bits", 0, 0xffff_ffff)?,
                other => {
                    let (expected, found) = ("desc or bits", format!("{other:?}"));
                    return Err((at, Reason::Expected { expected, found }));
                }
            }
            self.want('}', "'}'")?;
        }
        Ok(Instruction { op, operands, descriptor, bits })
    }

    /// `a0`, `a1`, `a01`, `a0.xy` or `a.xyzw`.
    fn address_mask(&mut self) -> Result<&'a str> {
        let (at, name) = (self.at(), self.ident("a0, a1 or a01")?);
        let letters = self.components()?;
        match (name, letters) {
            ("a0", None) => Ok("x"),
            ("a1", None) => Ok("y"),
            ("a01", None) => Ok("xy"),
            ("a" | "a0", Some(letters)) => Ok(letters),
            _ => Err((at, Reason::Expected { expected: "a0, a1 or a01", found: format!("{name:?}") })),
        }
    }

    fn relation(&mut self) -> Result<Relation> {
        let (Kind::Ident(name) | Kind::Number(name)) = self.peek() else {
            return self.expected("eq, ne, lt, le, gt or ge");
        };
        let found = Relation::ALL.into_iter().find(|relation| relation.name() == *name);
        let relation = found.map_or_else(|| self.expected("eq, ne, lt, le, gt or ge"), Ok)?;
        self.next += 1;
        Ok(relation)
    }

    /// `[!]cmp.x` or `[!]cmp.y`: the flag and its wanted value.
    fn flag(&mut self) -> Result<(Component, bool)> {
        let value = !self.take('!');
        if *self.peek() != Kind::Ident("cmp") {
            return self.expected("cmp.x or cmp.y");
        }
        self.next += 1;
        match self.components()? {
            Some("x") => Ok((Component::X, value)),
            Some("y") => Ok((Component::Y, value)),
            _ => self.expected("cmp.x or cmp.y"),
        }
    }

    fn condition(&mut self) -> Result<Condition> {
        let (component, value) = self.flag()?;
        let mode = match self.peek() {
            Kind::Punct('&') => ConditionMode::And,
            Kind::Punct('|') => ConditionMode::Or,
            _ => {
                return Ok(match component {
                    Component::X => Condition { x: value, y: false, mode: ConditionMode::X },
                    _ => Condition { x: false, y: value, mode: ConditionMode::Y },
                });
            }
        };
        let Kind::Punct(operator) = self.peek() else { return self.expected("'&&' or '||'") };
        self.next += 1;
        self.take(*operator);
        let at = self.at();
        let (other, other_value) = self.flag()?;
        if other == component {
            let found = format!("cmp.{} twice", other.letter());
            return Err((at, Reason::Expected { expected: "both flags", found }));
        }
        let (x, y) = if component == Component::X { (value, other_value) } else { (other_value, value) };
        Ok(Condition { x, y, mode })
    }

    /// The places of CALL (`None`), or what may follow the guard of another instruction with a range.
    fn range(&mut self, after_guard: Option<Opcode>) -> Result<Targets<'a>> {
        let is_block = matches!(after_guard, Some(Opcode::Ifc | Opcode::Ifu));
        if after_guard.is_some() && !self.take(',') {
            return if is_block { Ok(Targets::Block) } else { self.expected("','") };
        }
        let first = self.place()?;
        if self.take(',') {
            return Ok(Targets::Two(first, self.place()?));
        }
        if is_block { self.expected("','") } else { Ok(Targets::One(first)) }
    }

    fn set_emit(&mut self) -> Result<Operands<'a>> {
        let vertex = self.integer_in("vertex", 0, 3)?;
        let (mut primitive, mut winding) = (false, false);
        if self.take(',') {
            while let Kind::Ident(flag) = self.peek() {
                match *flag {
                    "prim" | "primitive" => primitive = true,
                    "inv" | "invert" => winding = true,
                    _ => return self.expected("prim or inv"),
                }
                self.next += 1;
            }
        }
        Ok(Operands::SetEmit { vertex, primitive, winding })
    }
}
