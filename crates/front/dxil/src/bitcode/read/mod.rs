//! From records to a module.

mod constants;
mod function;
mod insts;
mod metadata;
mod types;

use super::codes::{attribute, block, module as code, symbol};
use super::error::{BitcodeError, ErrorKind, Limits, Step};
use super::list::Pool;
use super::module::{
    Attribute, AttributeGroup, BlockId, Body, Def, Function, Global, Module, Value, ValueId,
};
use super::stream::{Item, Stream};
use super::ty::{Type, TypeId};

/// Magic number of bitcode.
const MAGIC: [u8; 4] = *b"BC\xc0\xde";

/// Reads a module.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Module, BitcodeError> {
    let whole = |kind| BitcodeError { offset: 0, kind };
    if bytes.len() > limits.bytes {
        return Err(whole(ErrorKind::Limit("bytes")));
    }
    if !bytes.starts_with(&MAGIC) {
        return Err(whole(ErrorKind::Magic));
    }
    let mut reader = Reader {
        stream: Stream::new(bytes, 32, *limits).map_err(whole)?,
        module: Module::default(),
        body: None,
        lists: Pool::default(),
        value_types: Vec::new(),
        forward: Vec::new(),
        bodies: 0,
        limits: *limits,
        insts: 0,
        blocks: 0,
    };
    reader.top().map_err(|kind| reader.stream.at(kind))?;
    Ok(reader.module)
}

/// Operands of a record, one after the other.
struct Record<'r> {
    block: &'static str,
    code: u32,
    operands: &'r [u64],
}

impl Record<'_> {
    #[inline(always)]
    fn next(&mut self) -> Step<u64> {
        match self.operands {
            [first, rest @ ..] => {
                self.operands = rest;
                Ok(*first)
            }
            [] => Err(self.short()),
        }
    }

    #[inline(always)]
    fn next32(&mut self) -> Step<u32> {
        let value = self.next()?;
        u32::try_from(value).map_err(|_| ErrorKind::malformed("operand", value))
    }

    /// The next operand, or 0 where older writers end.
    fn optional(&mut self) -> u64 {
        match self.operands {
            [first, rest @ ..] => {
                self.operands = rest;
                *first
            }
            [] => 0,
        }
    }

    #[cold]
    fn short(&self) -> ErrorKind {
        ErrorKind::Short { block: self.block, code: self.code }
    }

    fn unsupported(&self) -> ErrorKind {
        ErrorKind::Record { block: self.block, code: self.code }
    }

    /// The rest as characters.
    fn bytes(&self) -> impl Iterator<Item = u8> {
        self.operands.iter().map(|&c| c as u8)
    }

    fn text(&self) -> Vec<u8> {
        self.bytes().collect()
    }

    fn string(&self) -> String {
        let text = String::from_utf8(self.text());
        text.unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }
}

/// Alignment as records have it: its logarithm and one more, 0 for none.
fn alignment(log2: u64) -> Step<u32> {
    match log2 {
        0 => Ok(0),
        1..=30 => Ok(1 << (log2 - 1)),
        other => Err(ErrorKind::malformed("alignment", other)),
    }
}

struct Reader<'a> {
    stream: Stream<'a>,
    module: Module,
    /// The function being read.
    body: Option<Body>,
    /// What is in its lists.
    lists: Pool,
    /// Types of the values that were read: the module's, then the function's.
    value_types: Vec<TypeId>,
    /// Types that users of values that were not read yet took them to have.
    forward: Vec<(ValueId, TypeId)>,
    /// Functions read.
    bodies: usize,
    limits: Limits,
    insts: usize,
    blocks: usize,
}

impl Reader<'_> {
    /// Reads the records and blocks of a block, entered already, to its end.
    fn each(
        &mut self,
        name: &'static str,
        mut record: impl FnMut(&mut Self, Record<'_>) -> Step<()>,
        mut block: impl FnMut(&mut Self, u32) -> Step<()>,
    ) -> Step<()> {
        loop {
            match self.stream.next()? {
                Item::End => return Ok(()),
                Item::Block(id) => block(self, id)?,
                Item::Record(code) => {
                    let operands = self.stream.take_operands();
                    record(self, Record { block: name, code, operands: &operands })?;
                    self.stream.return_operands(operands);
                }
            }
        }
    }

    /// [`Reader::each`] of a block that has no blocks inside.
    fn records(
        &mut self,
        id: u32,
        name: &'static str,
        record: impl FnMut(&mut Self, Record<'_>) -> Step<()>,
    ) -> Step<()> {
        self.stream.enter(id)?;
        self.each(name, record, |r, _| r.stream.skip())
    }

    fn top(&mut self) -> Step<()> {
        let mut found = false;
        while !self.stream.done() {
            match self.stream.next()? {
                Item::Block(block::MODULE) if !found => {
                    found = true;
                    self.stream.enter(block::MODULE)?;
                    self.each("MODULE_BLOCK", Self::module_record, Self::module_block)?;
                }
                Item::Block(_) => self.stream.skip()?,
                Item::Record(_) | Item::End => {}
            }
        }
        if !found {
            return Err(ErrorKind::Truncated("the file"));
        }
        let defined = self.module.functions.iter().filter(|f| f.body.is_some()).count();
        if self.bodies < defined {
            return Err(ErrorKind::missing("function", self.bodies as u64));
        }
        self.check_initializers()
    }

    fn module_block(&mut self, id: u32) -> Step<()> {
        match id {
            block::TYPE => self.types(),
            block::PARAMATTR_GROUP => self.attribute_groups(),
            block::PARAMATTR => self.attribute_sets(),
            block::CONSTANTS => {
                self.before_functions()?;
                self.constants()
            }
            block::METADATA => {
                self.before_functions()?;
                self.metadata()
            }
            block::VALUE_SYMTAB => self.module_symbols(),
            block::FUNCTION => self.function(),
            _ => self.stream.skip(),
        }
    }

    fn module_record(&mut self, mut record: Record<'_>) -> Step<()> {
        match record.code {
            code::VERSION => match record.next()? {
                // Operands are numbered from the instruction backwards.
                1 => Ok(()),
                other => Err(ErrorKind::malformed("version", other)),
            },
            code::TRIPLE => {
                self.module.triple = record.string();
                Ok(())
            }
            code::DATALAYOUT => {
                self.module.data_layout = record.string();
                Ok(())
            }
            code::GLOBALVAR => self.global(record),
            code::FUNCTION => self.declaration(record),
            // An alias has a number like other values: without it all others would be wrong.
            code::ALIAS => Err(record.unsupported()),
            _ => Ok(()),
        }
    }

    /// Numbers of values of functions start after those of the module.
    fn before_functions(&self) -> Step<()> {
        match self.bodies {
            0 => Ok(()),
            _ => Err(ErrorKind::malformed("order of blocks", 0u32)),
        }
    }

    fn global(&mut self, mut record: Record<'_>) -> Step<()> {
        const CONSTANT: u64 = 1;
        const EXPLICIT_TYPE: u64 = 2;
        self.before_functions()?;
        let mut ty = self.module.types.find(record.next()?)?;
        let flags = record.next()?;
        let mut space = (flags >> 2) as u32;
        if flags & EXPLICIT_TYPE == 0 {
            (ty, space) = self.module.types.pointee(ty).ok_or(ErrorKind::Type("a global"))?;
        }
        let initializer = record.next32()?.checked_sub(1).map(ValueId);
        let linkage = record.next32()?;
        let align = alignment(record.optional())?;
        let [_section, _visibility, _thread_local, unnamed_addr] = [(); 4].map(|()| record.optional());
        let pointer = self.module.types.intern(Type::Pointer { to: ty, space });
        let index = self.module.globals.len() as u32;
        self.module.globals.push(Global {
            name: Vec::new(),
            ty,
            space,
            constant: flags & CONSTANT != 0,
            initializer,
            linkage,
            align,
            unnamed_addr: unnamed_addr != 0,
        });
        self.new_value(pointer, Def::Global(index));
        Ok(())
    }

    fn declaration(&mut self, mut record: Record<'_>) -> Step<()> {
        self.before_functions()?;
        let mut ty = self.module.types.find(record.next()?)?;
        if let Some((to, _)) = self.module.types.pointee(ty) {
            ty = to;
        }
        if !matches!(self.module.types.get(ty), Some(Type::Function { .. })) {
            return Err(ErrorKind::Type("a function"));
        }
        let _convention = record.next()?;
        let defined = record.next()? == 0;
        let linkage = record.next32()?;
        let attributes = record.optional() as u32;
        let pointer = self.module.types.intern(Type::Pointer { to: ty, space: 0 });
        let index = self.module.functions.len() as u32;
        let body = defined.then(Body::default);
        self.module.functions.push(Function { name: Vec::new(), ty, linkage, attributes, body });
        self.new_value(pointer, Def::Function(index));
        Ok(())
    }

    fn module_symbols(&mut self) -> Step<()> {
        self.records(block::VALUE_SYMTAB, "VALUE_SYMTAB", |r, mut record| {
            if record.code != symbol::ENTRY {
                return Ok(());
            }
            let number = record.next()?;
            let value = r.module.values.get(usize::try_from(number).unwrap_or(usize::MAX));
            let name = match value.ok_or(ErrorKind::missing("value", number))?.def {
                Def::Global(i) => r.module.globals.get_mut(i as usize).map(|g| &mut g.name),
                Def::Function(i) => r.module.functions.get_mut(i as usize).map(|f| &mut f.name),
                _ => None,
            };
            *name.ok_or(ErrorKind::missing("symbol", number))? = record.text();
            Ok(())
        })
    }

    /// Names within a function.
    fn symbols(&mut self) -> Step<()> {
        self.records(block::VALUE_SYMTAB, "VALUE_SYMTAB", |r, mut record| {
            let number = record.next32()?;
            let Some(body) = &mut r.body else { return Ok(()) };
            match record.code {
                symbol::ENTRY => body.names.push((ValueId(number), record.text())),
                symbol::BLOCK_ENTRY => body.block_names.push((BlockId(number), record.text())),
                _ => {}
            }
            Ok(())
        })
    }

    fn attribute_sets(&mut self) -> Step<()> {
        self.records(block::PARAMATTR, "PARAMATTR", |r, record| {
            if record.code == attribute::ENTRY {
                r.module.attributes.push(record.operands.iter().map(|&g| g as u32).collect());
            }
            Ok(())
        })
    }

    fn attribute_groups(&mut self) -> Step<()> {
        self.records(block::PARAMATTR_GROUP, "PARAMATTR_GROUP", |r, mut record| {
            if record.code != attribute::GROUP_ENTRY {
                return Ok(());
            }
            let (id, of) = (record.next32()?, record.next32()?);
            let mut attributes = Vec::new();
            while !record.operands.is_empty() {
                attributes.push(attribute_of(&mut record)?);
            }
            r.module.attribute_groups.push(AttributeGroup { id, of, attributes });
            Ok(())
        })
    }

    /// Initializers exist and have the type of their variables.
    fn check_initializers(&self) -> Step<()> {
        for global in &self.module.globals {
            let Some(id) = global.initializer else { continue };
            let value = self.module.values.get(id.0 as usize);
            if value.ok_or(ErrorKind::missing("value", id.0))?.ty != global.ty {
                return Err(ErrorKind::Type("an initializer"));
            }
        }
        Ok(())
    }

    /// Gives the next number to a value.
    #[inline]
    fn new_value(&mut self, ty: TypeId, def: Def) -> ValueId {
        let values = match &mut self.body {
            Some(body) => &mut body.values,
            None => &mut self.module.values,
        };
        values.push(Value { ty, def });
        let id = self.next_value();
        self.value_types.push(ty);
        ValueId(id)
    }

    /// The number of the next value.
    #[inline]
    fn next_value(&self) -> u32 {
        self.value_types.len() as u32
    }

    /// The type of a value, if it was read already.
    #[inline]
    fn type_of(&self, id: ValueId) -> Option<TypeId> {
        self.value_types.get(id.0 as usize).copied()
    }

    /// Checks that a value has a type: now, or when it is read.
    fn expect(&mut self, id: ValueId, ty: TypeId) -> Step<()> {
        match self.type_of(id) {
            Some(known) if known == ty => Ok(()),
            Some(_) => Err(ErrorKind::Type("an operand")),
            None => {
                self.forward.push((id, ty));
                Ok(())
            }
        }
    }

    /// What [`Reader::expect`] put off.
    fn check_forward(&mut self) -> Step<()> {
        for (id, ty) in std::mem::take(&mut self.forward) {
            if self.type_of(id).ok_or(ErrorKind::missing("value", id.0))? != ty {
                return Err(ErrorKind::Type("an operand"));
            }
        }
        Ok(())
    }
}

/// One attribute: known by number (0), with a number (1), a text (3), two texts (4).
fn attribute_of(record: &mut Record<'_>) -> Step<Attribute> {
    let text = |record: &mut Record<'_>| {
        let mut text = Vec::new();
        loop {
            match record.next()? {
                0 => return Ok(text),
                c => text.push(c as u8),
            }
        }
    };
    Ok(match record.next()? {
        0 => Attribute::Known(record.next32()?),
        1 => Attribute::Number(record.next32()?, record.next()?),
        3 => Attribute::Text(text(record)?, None),
        4 => {
            let key = text(record)?;
            Attribute::Text(key, Some(text(record)?))
        }
        other => return Err(ErrorKind::malformed("attribute", other)),
    })
}
