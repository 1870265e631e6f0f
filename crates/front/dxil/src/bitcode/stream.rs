//! Blocks and records: the bitstream without what LLVM puts in it.
//!
//! Records are read into one buffer, whatever abbreviation they have. Blocks are entered or passed over by their length,
//! so that depth is up to who reads.

use super::bits::{Bits, MAX_FIXED};
use super::error::{BitcodeError, ErrorKind, Limits, Step};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Abbreviation numbers that every block has (BitCodeFormat, "Abbreviation IDs").
mod abbreviation {
    pub const END_BLOCK: u64 = 0;
    pub const ENTER_SUBBLOCK: u64 = 1;
    pub const DEFINE_ABBREV: u64 = 2;
    pub const UNABBREV_RECORD: u64 = 3;
    pub const FIRST: u64 = 4;
}

/// The block that describes blocks, and its record that says which one.
const BLOCKINFO: u32 = 0;
const SET_BLOCK: u32 = 1;

/// Encodings of an operand in an abbreviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Array,
    Char6,
    Blob,
}

type Abbreviation = Rc<[Encoding]>;

/// What stands next in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A block starts: enter it or pass over it.
    Block(u32),
    /// A record with its code; [`Stream::take_operands`] gives the rest.
    Record(u32),
    /// The block ends.
    End,
}

/// The block under the cursor.
struct Scope {
    /// Bits of an abbreviation number.
    width: u32,
    abbreviations: Vec<Abbreviation>,
    /// Where it has to end, in bits.
    end: u64,
}

/// A cursor in a bitstream.
pub(super) struct Stream<'a> {
    bits: Bits<'a>,
    /// Blocks around the cursor, the innermost last.
    scopes: Vec<Scope>,
    info: FxHashMap<u32, Vec<Abbreviation>>,
    limits: Limits,
    operands: Vec<u64>,
}

impl<'a> Stream<'a> {
    /// A stream after its magic number.
    pub fn new(bytes: &'a [u8], start: u64, limits: Limits) -> Step<Stream<'a>> {
        let mut bits = Bits::new(bytes);
        bits.seek(start)?;
        let top = Scope { width: 2, abbreviations: Vec::new(), end: bits.end() };
        Ok(Stream { bits, scopes: vec![top], info: FxHashMap::default(), limits, operands: Vec::new() })
    }

    /// Adds the cursor's place.
    pub fn at(&self, kind: ErrorKind) -> BitcodeError {
        BitcodeError { offset: self.bits.at() / 8, kind }
    }

    /// Operands of the record that was read last; [`Stream::return_operands`] gives their memory back.
    pub fn take_operands(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.operands)
    }

    pub fn return_operands(&mut self, operands: Vec<u64>) {
        self.operands = operands;
    }

    /// Whether nothing but padding follows the last block.
    pub fn done(&self) -> bool {
        self.bits.left() < 32
    }

    /// Bits to the end of the block under the cursor.
    pub fn block_left(&self) -> u64 {
        self.scopes.last().map_or(0, |scope| scope.end.saturating_sub(self.bits.at()))
    }

    fn scope(&self) -> Step<&Scope> {
        self.scopes.last().ok_or(ErrorKind::Truncated("a block"))
    }

    /// What stands next. Abbreviations and BLOCKINFO are read on the way.
    pub fn next(&mut self) -> Step<Item> {
        loop {
            let scope = self.scope()?;
            let (width, end) = (scope.width, scope.end);
            if self.bits.at() >= end {
                return Err(ErrorKind::Truncated("a block"));
            }
            match self.bits.fixed(width)? {
                abbreviation::END_BLOCK => {
                    self.bits.align()?;
                    if self.scopes.len() > 1 {
                        self.scopes.pop();
                    }
                    return Ok(Item::End);
                }
                abbreviation::ENTER_SUBBLOCK => match self.number(8)? {
                    BLOCKINFO => {
                        self.enter(BLOCKINFO)?;
                        self.block_info()?;
                    }
                    id => return Ok(Item::Block(id)),
                },
                abbreviation::DEFINE_ABBREV => {
                    let new = self.define()?;
                    let most = self.limits.abbreviations;
                    let scope = self.scopes.last_mut().ok_or(ErrorKind::Truncated("a block"))?;
                    add(&mut scope.abbreviations, new, most)?;
                }
                abbreviation::UNABBREV_RECORD => return Ok(Item::Record(self.unabbreviated()?)),
                number => {
                    let index = (number - abbreviation::FIRST) as usize;
                    let found = self.scope()?.abbreviations.get(index).cloned();
                    let found = found.ok_or(ErrorKind::missing("abbreviation", number))?;
                    return Ok(Item::Record(self.abbreviated(&found)?));
                }
            }
        }
    }

    /// Steps into the block that [`Stream::next`] just gave.
    pub fn enter(&mut self, id: u32) -> Step<()> {
        let width = self.number(4)?;
        if !(2..=MAX_FIXED).contains(&width) {
            return Err(ErrorKind::malformed("width of abbreviation numbers", width));
        }
        let end = self.block_end()?;
        let abbreviations = self.info.get(&id).cloned().unwrap_or_default();
        self.scopes.push(Scope { width, abbreviations, end });
        Ok(())
    }

    /// Passes over the block that [`Stream::next`] just gave.
    pub fn skip(&mut self) -> Step<()> {
        self.bits.vbr(4)?;
        let end = self.block_end()?;
        self.bits.seek(end)
    }

    /// Reads a block's length; where it ends.
    fn block_end(&mut self) -> Step<u64> {
        self.bits.align()?;
        let words = self.bits.fixed(32)?;
        let end = self.bits.at().saturating_add(words * 32);
        match end <= self.scope()?.end {
            true => Ok(end),
            false => Err(ErrorKind::Truncated("a block")),
        }
    }

    fn number(&mut self, width: u32) -> Step<u32> {
        let value = self.bits.vbr(width)?;
        u32::try_from(value).map_err(|_| ErrorKind::malformed("number", value))
    }

    /// Makes room for operands of which each takes so many bits.
    fn room(&mut self, count: u32, bits: u64) -> Step<usize> {
        if u64::from(count) * bits > self.bits.left() {
            return Err(ErrorKind::Truncated("a number"));
        }
        let count = count as usize;
        // An operand takes 6 bits at least, but for what arrays of single bits hold.
        if (self.operands.len() + count) as u64 > self.bits.end() / 4 {
            return Err(ErrorKind::Limit("operands of a record"));
        }
        self.operands.reserve(count);
        Ok(count)
    }

    fn unabbreviated(&mut self) -> Step<u32> {
        self.operands.clear();
        let code = self.number(6)?;
        let count = self.number(6)?;
        for _ in 0..self.room(count, 6)? {
            self.operands.push(self.bits.vbr(6)?);
        }
        Ok(code)
    }

    /// The first operand is the code, whatever its encoding.
    fn abbreviated(&mut self, encodings: &[Encoding]) -> Step<u32> {
        self.operands.clear();
        let (&first, rest) = encodings.split_first().ok_or(ErrorKind::malformed("abbreviation", 0u32))?;
        let code = self.scalar(first)?;
        let mut rest = rest.iter();
        while let Some(&encoding) = rest.next() {
            match encoding {
                Encoding::Array => {
                    let element = rest.next().copied().ok_or(ErrorKind::malformed("array", 0u32))?;
                    self.array(element)?;
                }
                Encoding::Blob => {
                    let len = self.number(6)?;
                    self.bits.align()?;
                    self.room(len, 8)?;
                    self.operands.extend(self.bits.bytes(len.into())?.iter().map(|&byte| u64::from(byte)));
                    self.bits.align()?;
                }
                scalar => {
                    let operand = self.scalar(scalar)?;
                    self.operands.push(operand);
                }
            }
        }
        u32::try_from(code).map_err(|_| ErrorKind::malformed("code of a record", code))
    }

    fn array(&mut self, element: Encoding) -> Step<()> {
        let count = self.number(6)?;
        match element {
            Encoding::Fixed(width) => {
                for _ in 0..self.room(count, width.into())? {
                    self.operands.push(self.bits.fixed(width)?);
                }
            }
            Encoding::Vbr(width) => {
                for _ in 0..self.room(count, width.into())? {
                    self.operands.push(self.bits.vbr(width)?);
                }
            }
            Encoding::Char6 => {
                for _ in 0..self.room(count, 6)? {
                    self.operands.push(char6(self.bits.fixed(6)?).into());
                }
            }
            Encoding::Literal(_) | Encoding::Array | Encoding::Blob => {
                return Err(ErrorKind::malformed("element of an array", count));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn scalar(&mut self, encoding: Encoding) -> Step<u64> {
        match encoding {
            Encoding::Literal(value) => Ok(value),
            Encoding::Fixed(width) => self.bits.fixed(width),
            Encoding::Vbr(width) => self.bits.vbr(width),
            Encoding::Char6 => Ok(char6(self.bits.fixed(6)?).into()),
            Encoding::Array | Encoding::Blob => Err(ErrorKind::malformed("code of a record", 0u32)),
        }
    }

    /// A new abbreviation. Elements of arrays take at least a bit, or a few bytes could ask for any amount of memory.
    fn define(&mut self) -> Step<Abbreviation> {
        let count = self.number(5)?;
        let mut encodings = Vec::new();
        for _ in 0..count {
            let encoding = self.encoding()?;
            if let (Some(Encoding::Array), false) = (
                encodings.last(),
                matches!(encoding, Encoding::Fixed(_) | Encoding::Vbr(_) | Encoding::Char6),
            ) {
                return Err(ErrorKind::malformed("element of an array", encodings.len() as u64));
            }
            encodings.push(encoding);
        }
        if encodings.last() == Some(&Encoding::Array) {
            return Err(ErrorKind::malformed("element of an array", encodings.len() as u64));
        }
        Ok(encodings.into())
    }

    fn encoding(&mut self) -> Step<Encoding> {
        if self.bits.fixed(1)? == 1 {
            return Ok(Encoding::Literal(self.bits.vbr(8)?));
        }
        Ok(match self.bits.fixed(3)? {
            1 => match self.number(5)? {
                // LLVM writes numbers of no bits for zeros.
                0 => Encoding::Literal(0),
                width @ 1..=MAX_FIXED => Encoding::Fixed(width),
                width => return Err(ErrorKind::malformed("width of a number", width)),
            },
            2 => match self.number(5)? {
                0 => Encoding::Literal(0),
                width @ 2..=MAX_FIXED => Encoding::Vbr(width),
                width => return Err(ErrorKind::malformed("width of a number", width)),
            },
            3 => Encoding::Array,
            4 => Encoding::Char6,
            5 => Encoding::Blob,
            other => return Err(ErrorKind::malformed("encoding", other)),
        })
    }

    /// The block of abbreviations for other blocks, entered already.
    fn block_info(&mut self) -> Step<()> {
        let mut current = None;
        loop {
            let (width, end) = (self.scope()?.width, self.scope()?.end);
            if self.bits.at() >= end {
                return Err(ErrorKind::Truncated("a block"));
            }
            match self.bits.fixed(width)? {
                abbreviation::END_BLOCK => {
                    self.scopes.pop();
                    return self.bits.align();
                }
                abbreviation::DEFINE_ABBREV => {
                    let new = self.define()?;
                    let block = current.ok_or(ErrorKind::malformed("abbreviation", 0u32))?;
                    add(self.info.entry(block).or_default(), new, self.limits.abbreviations)?;
                }
                abbreviation::UNABBREV_RECORD => {
                    // Names of blocks and records are for other tools.
                    if self.unabbreviated()? == SET_BLOCK {
                        current = self.operands.first().map(|&id| id as u32);
                    }
                }
                abbreviation::ENTER_SUBBLOCK => {
                    self.number(8)?;
                    self.skip()?;
                }
                other => return Err(ErrorKind::missing("abbreviation", other)),
            }
        }
    }
}

fn add(list: &mut Vec<Abbreviation>, new: Abbreviation, most: usize) -> Step<()> {
    if list.len() >= most {
        return Err(ErrorKind::Limit("abbreviations"));
    }
    list.push(new);
    Ok(())
}

/// Letters, digits, a point and an underscore.
fn char6(value: u64) -> u8 {
    match value as u8 {
        v @ 0..26 => b'a' + v,
        v @ 26..52 => b'A' + (v - 26),
        v @ 52..62 => b'0' + (v - 52),
        62 => b'.',
        _ => b'_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes bits from the lowest on.
    #[derive(Default)]
    struct Writer {
        bytes: Vec<u8>,
        at: u32,
    }

    impl Writer {
        fn put(&mut self, value: u64, width: u32) -> &mut Writer {
            for bit in 0..width {
                if self.at.is_multiple_of(8) {
                    self.bytes.push(0);
                }
                let last = self.bytes.len() - 1;
                self.bytes[last] |= ((value >> bit & 1) as u8) << (self.at % 8);
                self.at += 1;
            }
            self
        }

        fn align(&mut self) -> &mut Writer {
            while !self.at.is_multiple_of(32) {
                self.put(0, 1);
            }
            self
        }
    }

    fn stream(bytes: &[u8]) -> Stream<'_> {
        Stream::new(bytes, 0, Limits::default()).unwrap()
    }

    #[test]
    fn a_block_with_an_abbreviation_and_a_record_of_each_kind() {
        let mut inner = Writer::default();
        // Three operands: a literal code 9, a number of 4 bits, an array of letters.
        inner.put(2, 3).put(4, 5).put(1, 1).put(9, 8).put(0, 1).put(1, 3).put(4, 5);
        inner.put(0, 1).put(3, 3).put(0, 1).put(4, 3);
        inner.put(4, 3).put(13, 4).put(2, 6).put(0, 6).put(63, 6);
        inner.put(3, 3).put(7, 6).put(1, 6).put(30, 6);
        inner.put(0, 3).align();
        let mut outer = Writer::default();
        outer.put(1, 2).put(8, 8).put(3, 4).align().put((inner.bytes.len() / 4) as u64, 32);
        outer.bytes.extend(&inner.bytes);
        let mut s = stream(&outer.bytes);
        assert_eq!(s.next(), Ok(Item::Block(8)));
        s.enter(8).unwrap();
        assert_eq!(s.next(), Ok(Item::Record(9)));
        assert_eq!(s.take_operands(), [13, b'a'.into(), b'_'.into()]);
        assert_eq!(s.next(), Ok(Item::Record(7)));
        assert_eq!(s.take_operands(), [30]);
        assert_eq!(s.next(), Ok(Item::End));
        assert!(s.done());
        let mut s = stream(&outer.bytes);
        s.next().unwrap();
        s.skip().unwrap();
        assert!(s.done());
    }

    #[test]
    fn arrays_of_nothing_are_refused() {
        // Two operands, an array of the literal 0.
        let mut w = Writer::default();
        w.put(2, 2).put(2, 5).put(0, 1).put(3, 3).put(1, 1).put(0, 8).align();
        assert!(matches!(stream(&w.bytes).next(), Err(ErrorKind::Malformed { .. })));
    }

    #[test]
    fn blocks_end_within_the_block_around_them() {
        let mut w = Writer::default();
        w.put(1, 2).put(8, 8).put(3, 4).align().put(1000, 32).align();
        let mut s = stream(&w.bytes);
        assert_eq!(s.next(), Ok(Item::Block(8)));
        assert_eq!(s.enter(8), Err(ErrorKind::Truncated("a block")));
    }
}
