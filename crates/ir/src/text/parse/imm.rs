//! Immediates.

use super::{ParseErrorKind, Parsed, Parser, unknown};
use crate::entities::Resource;
use crate::func::Function;
use crate::imm::{
    BarrierInfo, Dim, FloatFormat, HitInfo, Imm, ImmKind, Lanes, MemInfo, Order, QueryInfo, RayValue, Reduce,
    Scope, Space, SpecInfo, SubgroupInfo, TexInfo, TexOperands,
};
use crate::text::lex::Token;
use crate::text::literal::{parse_lane, parse_number};
use crate::ty::{Bits, Type};

/// What [`Parser::imm`] reads: an immediate, or the name of a function that may come later.
pub(super) enum ParsedImm<'a> {
    Imm(Imm),
    Callee(std::borrow::Cow<'a, str>, usize),
}

impl<'a> Parser<'a> {
    /// An immediate of `kind`; `ty` is the type of the instruction's only result, which constants are written in.
    pub(super) fn imm(
        &mut self,
        func: &mut Function,
        slots: &super::body::SlotNames<'a>,
        kind: ImmKind,
        ty: Option<Type>,
    ) -> Parsed<ParsedImm<'a>> {
        let at = self.at;
        Ok(ParsedImm::Imm(match kind {
            ImmKind::None => Imm::None,
            ImmKind::Const => Imm::Const(func.consts.push(self.constant(ty)?)),
            ImmKind::Slot => {
                let name = self.name("a slot")?;
                Imm::Slot(*slots.get(&name).ok_or_else(|| unknown("slot", &name, at))?)
            }
            ImmKind::Var => {
                let name = self.sigil_name('%', "a variable")?;
                Imm::Var(*self.vars.get(&name).ok_or_else(|| unknown("variable", &name, at))?)
            }
            ImmKind::Mem => Imm::Mem(self.mem()?),
            ImmKind::Lane => Imm::Lane(self.number("lane")?),
            ImmKind::Lanes => Imm::Lanes(self.lanes()?),
            ImmKind::Func => return Ok(ParsedImm::Callee(self.sigil_name('@', "a function")?, at)),
            ImmKind::Format => Imm::Format(self.known("a float format", parse_format)?),
            ImmKind::Tex => Imm::Tex(self.tex()?),
            ImmKind::Subgroup => {
                self.keyword("width", "`width`")?;
                Imm::Subgroup(SubgroupInfo {
                    width: self.number("width")?,
                    reduce: self.known("a way to combine values", Reduce::parse)?,
                    exclusive: self.eat_word("exclusive")?,
                })
            }
            ImmKind::Barrier => Imm::Barrier(BarrierInfo {
                scope: self.known("a scope", Scope::parse)?,
                shared: self.eat_word("shared")?,
                storage: self.eat_word("storage")?,
                image: self.eat_word("image")?,
                exec: self.eat_word("exec")?,
            }),
            ImmKind::Resource => Imm::Resource(self.resource_name()?),
            ImmKind::Stream => Imm::Stream(if self.eat_word("stream")? { self.number("stream")? } else { 0 }),
            ImmKind::Query => Imm::Query(QueryInfo {
                query: self.resource_name()?,
                value: self.known("a value of a ray query", RayValue::parse)?,
                committed: self.eat_word("committed")?,
                column: if self.eat_word("column")? { self.number("column")? } else { 0 },
            }),
            ImmKind::Spec => {
                self.keyword("id", "`id`")?;
                let id = self.number("number of a constant")?;
                self.keyword("default", "`default`")?;
                Imm::Spec(SpecInfo { id, default: self.number("default")? })
            }
            ImmKind::Hit => Imm::Hit(HitInfo {
                object: self.resource_name()?,
                payload: self.resource_name()?,
                query: if self.eat_word("query")? { Some(self.resource_name()?) } else { None }.into(),
            }),
        }))
    }

    /// A lane for all lanes, a list of lanes, or `bits` and four raw words.
    fn constant(&mut self, ty: Option<Type>) -> Parsed<Bits> {
        let mut bits = Bits::default();
        if self.eat_word("bits")? {
            self.list(&mut bits, 4, |text| parse_number(text).ok_or(None))?;
            return Ok(bits);
        }
        let Some(ty) = ty else { return self.expected("`bits`") };
        let lane = |text: &str| parse_lane(ty.kind(), text).map_err(Some);
        if self.token == Token::Punct('[') {
            self.list(&mut bits, usize::from(ty.lanes()), lane)?;
        } else {
            let at = self.at;
            let word = self.word("a constant")?;
            let value = lane(word).map_err(|e| literal_error(e, at))?;
            bits = Bits::splat(ty, value);
        }
        Ok(bits)
    }

    /// `[a, b]` with exactly `count` elements.
    fn list(
        &mut self,
        bits: &mut Bits,
        count: usize,
        lane: impl Fn(&str) -> Result<u64, Option<super::LiteralError>>,
    ) -> Parsed<()> {
        let start = self.at;
        self.punct('[', "`[`")?;
        let mut found = 0;
        loop {
            let at = self.at;
            let word = self.word("a literal")?;
            if let Some(to) = bits.0.get_mut(found) {
                *to = lane(word).map_err(|e| literal_error(e, at))?;
            }
            found += 1;
            if !self.eat(',')? {
                break;
            }
        }
        self.punct(']', "`,` or `]`")?;
        if found == count {
            Ok(())
        } else {
            Err((ParseErrorKind::LaneCount { expected: count, found }, start))
        }
    }

    fn resource_name(&mut self) -> Parsed<Resource> {
        let at = self.at;
        let name = self.sigil_name('@', "a resource")?;
        self.resources.get(&name).copied().ok_or_else(|| unknown("resource", &name, at))
    }

    fn mem(&mut self) -> Parsed<MemInfo> {
        let space = self.known("a memory space", Space::parse)?;
        let resource = match self.token {
            Token::Punct('@') => Some(self.resource_name()?),
            _ => None,
        };
        self.keyword("align", "`align`")?;
        let at = self.at;
        let align: u64 = self.number("alignment")?;
        if !align.is_power_of_two() {
            return Err((ParseErrorKind::OutOfRange { what: "alignment" }, at));
        }
        let mut mem = MemInfo::plain(space, resource, align.trailing_zeros() as u8);
        mem.order = self.eat_known(Order::parse)?.unwrap_or(mem.order);
        mem.scope = self.eat_known(Scope::parse)?.unwrap_or(mem.scope);
        mem.volatile = self.eat_word("volatile")?;
        mem.big = self.eat_word("big")?;
        mem.apart = self.eat_word("apart")?;
        Ok(mem)
    }

    fn lanes(&mut self) -> Parsed<Lanes> {
        let at = self.at;
        self.punct('[', "`[`")?;
        let mut lanes = [0; 4];
        let mut count = 0;
        while !self.eat(']')? {
            let lane = self.number("lane")?;
            *lanes.get_mut(count).ok_or((ParseErrorKind::OutOfRange { what: "number of lanes" }, at))? = lane;
            count += 1;
        }
        let lanes = lanes.get(..count).and_then(Lanes::new);
        lanes.ok_or((ParseErrorKind::OutOfRange { what: "lane" }, at))
    }

    fn tex(&mut self) -> Parsed<TexInfo> {
        let mut tex = TexInfo {
            dim: self.known("a shape", Dim::parse)?,
            arrayed: self.eat_word("array")?,
            multisampled: self.eat_word("ms")?,
            shadow: self.eat_word("shadow")?,
            operands: TexOperands::default(),
            component: 0,
            residency: false,
        };
        let operand = |word: &str| TexOperands::NAMED.iter().find(|(_, n)| *n == word).map(|(bit, _)| *bit);
        while let Some(bit) = self.eat_known(operand)? {
            tex.operands.0 |= bit.0;
        }
        if self.eat_word("comp")? {
            tex.component = self.number("component")?;
        }
        tex.residency = self.eat_word("residency")?;
        Ok(tex)
    }
}

fn literal_error(error: Option<super::LiteralError>, at: usize) -> super::At {
    let raw = ParseErrorKind::OutOfRange { what: "raw word" };
    (error.map_or(raw, ParseErrorKind::Literal), at)
}

/// `e7m16`; any field widths, valid or not.
fn parse_format(text: &str) -> Option<FloatFormat> {
    let (exp, mant) = text.strip_prefix('e')?.split_once('m')?;
    let field = |t: &str| parse_number(t).and_then(|n| u8::try_from(n).ok());
    Some(FloatFormat { exp: field(exp)?, mant: field(mant)? })
}
