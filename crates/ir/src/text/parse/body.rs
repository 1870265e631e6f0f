//! Functions.
//!
//! Values and blocks may be used before the text defines them. While a function is read, operands hold numbers of
//! names in order of appearance; when it ends, every name has its definition and the operands are mapped.

use super::imm::ParsedImm;
use super::{ParseErrorKind, Parsed, Parser, PendingCall, duplicate, short, unknown};
use crate::entities::{Block, Func, Slot, Value};
use crate::flags::Flags;
use crate::func::{Edge, Function, NO_GUEST, TermKind};
use crate::imm::Imm;
use crate::op::{OPS, Op, OpInfo};
use crate::text::lex::Token;
use crate::text::literal::parse_number;
use crate::ty::Type;
use cranelift_entity::EntityRef;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) type SlotNames<'a> = HashMap<Cow<'a, str>, Slot>;

/// Names like `v3`: from the number in the text to the entity, which may be defined later.
struct Forward<E> {
    prefix: &'static str,
    index: HashMap<u32, usize>,
    seen: Vec<Seen<E>>,
}

struct Seen<E> {
    number: u32,
    first_use: usize,
    def: Option<E>,
}

impl<E: EntityRef> Forward<E> {
    fn new(prefix: &'static str) -> Forward<E> {
        Forward { prefix, index: HashMap::new(), seen: Vec::new() }
    }

    /// The number in `word` if it is a name of this sort.
    fn parse(&self, word: &str) -> Option<u32> {
        let digits = word.strip_prefix(self.prefix)?;
        if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
    }

    fn entry(&mut self, number: u32, at: usize) -> usize {
        let seen = &mut self.seen;
        *self.index.entry(number).or_insert_with(|| {
            seen.push(Seen { number, first_use: at, def: None });
            seen.len() - 1
        })
    }

    /// A stand-in for the entity until [`Forward::resolve`].
    fn mention(&mut self, number: u32, at: usize) -> E {
        E::new(self.entry(number, at))
    }

    /// Whether this is the first definition.
    fn define(&mut self, number: u32, at: usize, entity: E) -> bool {
        let i = self.entry(number, at);
        self.seen[i].def.replace(entity).is_none()
    }

    /// The entities by stand-in.
    fn resolve(self, what: &'static str) -> Parsed<Vec<E>> {
        let Forward { prefix, seen, .. } = self;
        let all = seen
            .into_iter()
            .map(|s| s.def.ok_or_else(|| unknown(what, &format!("{prefix}{}", s.number), s.first_use)));
        all.collect()
    }
}

/// A function while it is read.
struct Body<'a> {
    func: Function,
    slots: SlotNames<'a>,
    values: Forward<Value>,
    blocks: Forward<Block>,
    /// Name hints: slots are declared after the function's parameters.
    hints: Vec<(Value, Cow<'a, str>, usize)>,
    /// The block under the cursor, if it has no terminator yet.
    open: Option<Block>,
}

/// A value's definition: number, type, name hint.
struct Def<'a> {
    number: u32,
    at: usize,
    ty: Type,
    hint: Option<(Cow<'a, str>, usize)>,
}

type Defs<'a> = SmallVec<[Def<'a>; 2]>;

impl<'a> Parser<'a> {
    /// A function from its name on.
    pub(super) fn func(&mut self) -> Parsed<Func> {
        self.charge("names", |l| &mut l.names)?;
        let at = self.at;
        let name = self.sigil_name('@', "a name with `@`")?;
        let mut body = Body {
            func: Function::new(name.as_ref()),
            slots: SlotNames::new(),
            values: Forward::new("v"),
            blocks: Forward::new("block"),
            hints: Vec::new(),
            open: None,
        };
        self.punct('(', "`(`")?;
        let mut params = Defs::new();
        if !self.eat(')')? {
            params = self.defs(&body)?;
            self.punct(')', "`)`")?;
        }
        if self.token == Token::Arrow {
            self.advance()?;
            body.func.returns.push(self.ty()?);
            while self.eat(',')? {
                body.func.returns.push(self.ty()?);
            }
        }
        self.punct('{', "`{`")?;
        self.end_of_line()?;
        if self.eat_word("private")? {
            body.func.private_size = self.number("size of private memory")?;
            self.end_of_line()?;
        }
        while self.eat_word("slot")? {
            self.slot(&mut body)?;
        }
        let id = self.module.funcs.next_key();
        while self.token != Token::Punct('}') {
            self.line(&mut body, id, &mut params)?;
        }
        if body.open.is_some() {
            return Err((ParseErrorKind::NoTerminator, self.at));
        }
        self.advance()?;
        if let Some(param) = params.first() {
            // Parameters belong to the entry block, and there is none.
            return Err((ParseErrorKind::NoBlock, param.at));
        }
        self.module.funcs.push(body.finish()?);
        match self.funcs.insert(name.clone(), id) {
            Some(_) => Err(duplicate("function", &name, at)),
            None => Ok(id),
        }
    }

    fn slot(&mut self, body: &mut Body<'a>) -> Parsed<()> {
        self.charge("names", |l| &mut l.names)?;
        let at = self.at;
        let name = self.name("the slot's name")?;
        self.punct(':', "`:` and a type")?;
        let slot = body.func.add_slot(name.as_ref(), self.ty()?);
        if self.eat_word("home")? {
            body.func.slots[slot].home = Some(self.number("home of a slot")?);
        }
        self.end_of_line()?;
        match body.slots.insert(name.clone(), slot) {
            Some(_) => Err(duplicate("slot", &name, at)),
            None => Ok(()),
        }
    }

    /// A label, an instruction or a terminator. The first label takes the function's parameters.
    fn line(&mut self, body: &mut Body<'a>, func: Func, params: &mut Defs<'a>) -> Parsed<()> {
        let mut guest = NO_GUEST;
        let prefixed = self.eat('@')?;
        if prefixed {
            guest = self.number("guest address")?;
        }
        let at = self.at;
        let Token::Word(word) = self.token else { return self.expected("a label or an instruction") };
        if let Some(number) = body.blocks.parse(word).filter(|_| !prefixed) {
            self.advance()?;
            self.label(body, number, at, params)?;
        } else if let Some(kind) = TermKind::parse(word) {
            self.advance()?;
            self.term(body, kind, guest, at)?;
        } else {
            let mut defs = Defs::new();
            if body.values.parse(word).is_some() {
                defs = self.defs(body)?;
                self.punct('=', "`=`")?;
            }
            self.inst(body, func, defs, guest)?;
        }
        self.end_of_line()
    }

    fn label(&mut self, body: &mut Body<'a>, number: u32, at: usize, params: &mut Defs<'a>) -> Parsed<()> {
        self.charge("blocks", |l| &mut l.blocks)?;
        if body.open.is_some() {
            return Err((ParseErrorKind::NoTerminator, at));
        }
        let mut defs = std::mem::take(params);
        // The entry's parameters stand in the function's first line.
        if !body.func.layout.is_empty() && self.eat('(')? {
            defs = self.defs(body)?;
            self.punct(')', "`)`")?;
        }
        self.punct(':', "`:`")?;
        let block = body.func.add_block();
        if !body.blocks.define(number, at, block) {
            return Err(duplicate("block", &format!("block{number}"), at));
        }
        for def in defs {
            let value = body.func.add_param(block, def.ty);
            body.define(def, value)?;
        }
        body.open = Some(block);
        Ok(())
    }

    /// `v1(r0) : f32, v2 : i32`.
    fn defs(&mut self, body: &Body<'a>) -> Parsed<Defs<'a>> {
        let mut defs = Defs::new();
        loop {
            self.charge("values", |l| &mut l.values)?;
            // Results and parameters are numbered in 16 bits.
            if defs.len() > usize::from(u16::MAX) {
                let kind = ParseErrorKind::Limit { what: "values defined at once", limit: 1 << 16 };
                return Err((kind, self.at));
            }
            let at = self.at;
            let number = self.known("a value", |w| body.values.parse(w))?;
            let mut hint = None;
            if self.eat('(')? {
                let at = self.at;
                hint = Some((self.name("a slot")?, at));
                self.punct(')', "`)`")?;
            }
            self.punct(':', "`:` and a type")?;
            defs.push(Def { number, at, ty: self.ty()?, hint });
            if !self.eat(',')? {
                return Ok(defs);
            }
        }
    }

    fn inst(&mut self, body: &mut Body<'a>, func: Func, defs: Defs<'a>, guest: u32) -> Parsed<()> {
        self.charge("insts", |l| &mut l.insts)?;
        let at = self.at;
        let Some(block) = body.open else { return Err((ParseErrorKind::NoBlock, at)) };
        let (op, flags) = parse_mnemonic(self.word("an instruction")?, at)?;
        let types: SmallVec<[Type; 2]> = defs.iter().map(|d| d.ty).collect();
        let ty = if let [ty] = types[..] { Some(ty) } else { None };
        let start = self.at;
        let imm = self.imm(&mut body.func, &body.slots, op.info().imm, ty)?;
        // Of some ops, the usual immediate is not written.
        let first = self.at == start;
        let mut args = SmallVec::<[Value; 4]>::new();
        if self.token != Token::Newline && (first || self.eat(',')?) {
            args.push(self.value(body)?);
            while self.eat(',')? {
                args.push(self.value(body)?);
            }
        }
        let known = match imm {
            ParsedImm::Imm(imm) => imm,
            ParsedImm::Callee(..) => Imm::None,
        };
        let inst = body.func.make_inst(op, flags, known, &args, &types, guest);
        if let ParsedImm::Callee(callee, at) = imm {
            self.calls.push(PendingCall { func, inst, callee, at });
        }
        body.func.blocks[block].insts.push(inst);
        for (n, def) in defs.into_iter().enumerate() {
            let value = body.func.results(inst)[n];
            body.define(def, value)?;
        }
        Ok(())
    }

    fn value(&mut self, body: &mut Body<'a>) -> Parsed<Value> {
        let at = self.at;
        let number = self.known("a value", |w| body.values.parse(w))?;
        Ok(body.values.mention(number, at))
    }

    fn edge(&mut self, body: &mut Body<'a>) -> Parsed<Edge> {
        let at = self.at;
        let number = self.known("a block", |w| body.blocks.parse(w))?;
        let mut args = SmallVec::<[Value; 8]>::new();
        if self.eat('(')? {
            args.push(self.value(body)?);
            while self.eat(',')? {
                args.push(self.value(body)?);
            }
            self.punct(')', "`)`")?;
        }
        let block = body.blocks.mention(number, at);
        Ok(body.func.make_edge(block, &args))
    }

    /// Operands, cases in brackets, then edges: whatever there is, for the verifier to judge.
    fn term(&mut self, body: &mut Body<'a>, kind: TermKind, guest: u32, at: usize) -> Parsed<()> {
        let Some(block) = body.open.take() else { return Err((ParseErrorKind::NoBlock, at)) };
        let mut args = SmallVec::<[Value; 4]>::new();
        let mut edges = SmallVec::<[Edge; 2]>::new();
        let mut cases = Vec::new();
        let mut listed = false;
        let mut more = self.token != Token::Newline;
        while more {
            if !listed && edges.is_empty() && self.eat('[')? {
                listed = true;
                self.cases(body, &mut cases, &mut edges)?;
            } else {
                let Token::Word(word) = self.token else { return self.expected("a value or a block") };
                if edges.is_empty() && !listed && body.values.parse(word).is_some() {
                    args.push(self.value(body)?);
                } else {
                    edges.push(self.edge(body)?);
                }
            }
            more = self.eat(',')?;
        }
        body.func.set_term(block, kind, &args, edges, cases, guest);
        Ok(())
    }

    /// `1: block1, 2: block2(v3)]`.
    fn cases(
        &mut self,
        body: &mut Body<'a>,
        cases: &mut Vec<u64>,
        edges: &mut SmallVec<[Edge; 2]>,
    ) -> Parsed<()> {
        while !self.eat(']')? {
            cases.push(self.known("a case", parse_number)?);
            self.punct(':', "`:`")?;
            edges.push(self.edge(body)?);
            if self.token != Token::Punct(']') {
                self.punct(',', "`,` or `]`")?;
            }
        }
        Ok(())
    }
}

impl<'a> Body<'a> {
    fn define(&mut self, def: Def<'a>, value: Value) -> Parsed<()> {
        if !self.values.define(def.number, def.at, value) {
            return Err(duplicate("value", &format!("v{}", def.number), def.at));
        }
        if let Some((name, at)) = def.hint {
            self.hints.push((value, name, at));
        }
        Ok(())
    }

    fn finish(mut self) -> Parsed<Function> {
        let values = self.values.resolve("value")?;
        let blocks = self.blocks.resolve("block")?;
        for (value, name, at) in self.hints {
            let slot = *self.slots.get(&name).ok_or_else(|| unknown("slot", &name, at))?;
            self.func.values[value].hint = slot.into();
        }
        for block in self.func.layout.clone() {
            self.func.map_uses(block, |v| values[v.index()]);
            for edge in &mut self.func.blocks[block].term.edges {
                edge.block = blocks[edge.block.index()];
            }
        }
        Ok(self.func)
    }
}

/// The rows of the op table by name.
static BY_NAME: LazyLock<Vec<&'static OpInfo>> = LazyLock::new(|| {
    let mut rows: Vec<&OpInfo> = OPS.iter().collect();
    rows.sort_by_key(|row| row.name);
    rows
});

/// A mnemonic with its flags. Both have dots: the op is the longest one whose name the word starts with.
fn parse_mnemonic(word: &str, at: usize) -> Parsed<(Op, Flags)> {
    let mut name = word;
    let op = loop {
        if let Ok(i) = BY_NAME.binary_search_by_key(&name, |row| row.name) {
            break BY_NAME[i].op;
        }
        match name.rsplit_once('.') {
            Some((shorter, _)) => name = shorter,
            None => return Err(unknown("op", word, at)),
        }
    };
    let mut flags = Flags::NONE;
    let mut count = 0;
    for flag in word[name.len()..].split('.').skip(1) {
        flags = flags.parse_add(flag).ok_or_else(|| unknown("flag", &short(flag), at))?;
        count += 1;
    }
    // A flag written twice, or a second value of a mode, adds nothing.
    if flags.to_string().split('.').skip(1).count() != count {
        return Err((ParseErrorKind::ConflictingFlags, at));
    }
    Ok((op, flags))
}
