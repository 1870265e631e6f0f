//! Blocks and records: the bitstream without what LLVM puts in it.
//!
//! Records are read into one buffer, whatever abbreviation they have. Blocks are entered or passed over by their length,
//! so that depth is up to who reads. Numbers past the end are zeros, and noticed when the record has been read.

mod abbreviation;

use super::bits::{Bits, MAX_FIXED};
use super::error::{BitcodeError, ErrorKind, Limits, Step};
use abbreviation::{Abbreviation, Rest, Scalar};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Abbreviation numbers that every block has (BitCodeFormat, "Abbreviation IDs").
mod number {
    pub const END_BLOCK: u64 = 0;
    pub const ENTER_SUBBLOCK: u64 = 1;
    pub const DEFINE_ABBREV: u64 = 2;
    pub const UNABBREV_RECORD: u64 = 3;
    pub const FIRST: u64 = 4;
}

/// The block that describes blocks, and its record that says which one.
const BLOCKINFO: u32 = 0;
const SET_BLOCK: u32 = 1;

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
    /// Those that are told once for all blocks of a kind are shared.
    abbreviations: Rc<Vec<Abbreviation>>,
    /// Where it has to end, in bits.
    end: u64,
}

/// A cursor in a bitstream.
pub(super) struct Stream<'a> {
    records: Records<'a>,
    /// The block under the cursor.
    scope: Scope,
    /// Blocks around it, the innermost last.
    around: Vec<Scope>,
    info: FxHashMap<u32, Rc<Vec<Abbreviation>>>,
    limits: Limits,
}

impl<'a> Stream<'a> {
    /// A stream after its magic number.
    pub fn new(bytes: &'a [u8], start: u64, limits: Limits) -> Step<Stream<'a>> {
        let mut bits = Bits::new(bytes);
        bits.seek(start)?;
        let scope = Scope { width: 2, abbreviations: Rc::default(), end: bits.end() };
        let records = Records { bits, scalars: Vec::new(), operands: Vec::new(), budget: bits.end() / 2 };
        Ok(Stream { records, scope, around: Vec::new(), info: FxHashMap::default(), limits })
    }

    /// Adds the cursor's place.
    pub fn at(&self, kind: ErrorKind) -> BitcodeError {
        BitcodeError { offset: self.records.bits.at().min(self.records.bits.end()) / 8, kind }
    }

    /// Operands of the record that was read last; [`Stream::return_operands`] gives their memory back.
    pub fn take_operands(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.records.operands)
    }

    pub fn return_operands(&mut self, operands: Vec<u64>) {
        self.records.operands = operands;
    }

    /// Whether nothing but padding follows the last block.
    pub fn done(&self) -> bool {
        self.records.bits.left() < 32
    }

    /// Bits to the end of the block under the cursor.
    pub fn block_left(&self) -> u64 {
        self.scope.end.saturating_sub(self.records.bits.at())
    }

    /// The number of the abbreviation that follows.
    #[inline]
    fn number(&mut self) -> Step<u64> {
        if self.records.bits.at() >= self.scope.end {
            return Err(ErrorKind::Truncated("a block"));
        }
        Ok(self.records.bits.fixed(self.scope.width))
    }

    /// What stands next. Abbreviations and BLOCKINFO are read on the way.
    #[inline(always)]
    pub fn next(&mut self) -> Step<Item> {
        loop {
            let code = match self.number()? {
                number @ number::FIRST.. => {
                    let found = self.scope.abbreviations.get((number - number::FIRST) as usize);
                    let found = found.ok_or(ErrorKind::missing("abbreviation", number))?;
                    self.records.abbreviated(found)?
                }
                number::UNABBREV_RECORD => self.records.unabbreviated()?,
                number => match self.structure(number)? {
                    Some(item) => return Ok(item),
                    None => continue,
                },
            };
            if self.records.bits.at() > self.scope.end {
                return Err(ErrorKind::Truncated("a block"));
            }
            self.records.pay()?;
            return Ok(Item::Record(code));
        }
    }

    /// What no record is; none where it tells only how records are written.
    fn structure(&mut self, code: u64) -> Step<Option<Item>> {
        match code {
            number::END_BLOCK => {
                self.records.bits.align()?;
                self.leave();
                Ok(Some(Item::End))
            }
            number::ENTER_SUBBLOCK => match number(&mut self.records.bits, 8)? {
                BLOCKINFO => {
                    self.enter(BLOCKINFO)?;
                    self.block_info()?;
                    Ok(None)
                }
                id => Ok(Some(Item::Block(id))),
            },
            _ => {
                let new = self.records.abbreviation()?;
                add(&mut self.scope.abbreviations, new, self.limits.abbreviations)?;
                Ok(None)
            }
        }
    }

    /// Steps into the block that [`Stream::next`] just gave.
    pub fn enter(&mut self, id: u32) -> Step<()> {
        let width = number(&mut self.records.bits, 4)?;
        if !(2..=MAX_FIXED).contains(&width) {
            return Err(ErrorKind::malformed("width of abbreviation numbers", width));
        }
        let end = self.block_end()?;
        let abbreviations = self.info.get(&id).cloned().unwrap_or_default();
        self.around.push(std::mem::replace(&mut self.scope, Scope { width, abbreviations, end }));
        Ok(())
    }

    /// Goes on in the block around; there is always one.
    fn leave(&mut self) {
        if let Some(around) = self.around.pop() {
            self.scope = around;
        }
    }

    /// Passes over the block that [`Stream::next`] just gave.
    pub fn skip(&mut self) -> Step<()> {
        self.records.bits.vbr(4);
        let end = self.block_end()?;
        self.records.bits.seek(end)
    }

    /// Reads a block's length; where it ends.
    fn block_end(&mut self) -> Step<u64> {
        self.records.bits.align()?;
        let words = self.records.bits.fixed(32);
        let end = self.records.bits.at().saturating_add(words * 32);
        match end <= self.scope.end {
            true => Ok(end),
            false => Err(ErrorKind::Truncated("a block")),
        }
    }

    /// The block of abbreviations for other blocks, entered already.
    fn block_info(&mut self) -> Step<()> {
        let mut current = None;
        loop {
            match self.number()? {
                number::END_BLOCK => {
                    self.leave();
                    return self.records.bits.align();
                }
                number::DEFINE_ABBREV => {
                    let new = self.records.abbreviation()?;
                    let block = current.ok_or(ErrorKind::malformed("abbreviation", 0u32))?;
                    add(self.info.entry(block).or_default(), new, self.limits.abbreviations)?;
                }
                number::UNABBREV_RECORD => {
                    // Names of blocks and records are for other tools.
                    if self.records.unabbreviated()? == SET_BLOCK {
                        current = self.records.operands.first().map(|&id| id as u32);
                    }
                }
                number::ENTER_SUBBLOCK => {
                    number(&mut self.records.bits, 8)?;
                    self.skip()?;
                }
                other => return Err(ErrorKind::missing("abbreviation", other)),
            }
        }
    }
}

fn add(list: &mut Rc<Vec<Abbreviation>>, new: Abbreviation, most: usize) -> Step<()> {
    if list.len() >= most {
        return Err(ErrorKind::Limit("abbreviations"));
    }
    Rc::make_mut(list).push(new);
    Ok(())
}

/// Reads records.
struct Records<'a> {
    bits: Bits<'a>,
    /// Those of all abbreviations.
    scalars: Vec<Scalar>,
    operands: Vec<u64>,
    /// Operands that may still come: literals take no bits, and could else ask for any amount of memory.
    budget: u64,
}

#[inline(always)]
fn number(bits: &mut Bits<'_>, width: u32) -> Step<u32> {
    let value = if width == 6 { bits.vbr6() } else { bits.vbr(width) };
    u32::try_from(value).map_err(|_| ErrorKind::malformed("number", value))
}

impl Records<'_> {
    /// Counts the operands that were read.
    fn pay(&mut self) -> Step<()> {
        let left = self.budget.checked_sub(self.operands.len() as u64);
        self.budget = left.ok_or(ErrorKind::Limit("operands"))?;
        Ok(())
    }

    fn abbreviation(&mut self) -> Step<Abbreviation> {
        Abbreviation::read(&mut self.bits, &mut self.scalars)
    }

    fn unabbreviated(&mut self) -> Step<u32> {
        // Of a copy the bits ahead stay in registers.
        let mut bits = self.bits;
        self.operands.clear();
        let code = number(&mut bits, 6)?;
        let count = count(&mut bits, 6)?;
        self.operands.extend((0..count).map(|_| bits.vbr6()));
        self.bits = bits;
        Ok(code)
    }

    /// The first operand is the code, whatever its encoding.
    #[inline]
    fn abbreviated(&mut self, abbreviation: &Abbreviation) -> Step<u32> {
        let mut bits = self.bits;
        self.operands.clear();
        let code = abbreviation.code.read(&mut bits);
        let scalars = abbreviation.scalars(&self.scalars);
        self.operands.extend(scalars.iter().map(|scalar| scalar.read(&mut bits)));
        self.bits = bits;
        match abbreviation.rest {
            Rest::None => {}
            Rest::Array(element) => self.array(element)?,
            Rest::Blob => {
                let len = count(&mut self.bits, 8)? as u64;
                self.bits.align()?;
                self.operands.extend(self.bits.bytes(len)?.iter().map(|&byte| u64::from(byte)));
                self.bits.align()?;
            }
        }
        u32::try_from(code).map_err(|_| ErrorKind::malformed("code of a record", code))
    }

    fn array(&mut self, element: Scalar) -> Step<()> {
        let mut bits = self.bits;
        let numbers = 0..count(&mut bits, element.least_bits())?;
        match element {
            Scalar::Fixed(width) => self.operands.extend(numbers.map(|_| bits.fixed(width))),
            Scalar::Vbr(width) => self.operands.extend(numbers.map(|_| bits.vbr(width))),
            Scalar::Vbr6 => self.operands.extend(numbers.map(|_| bits.vbr6())),
            Scalar::Literal(_) | Scalar::Char6 => {
                self.operands.extend(numbers.map(|_| element.read(&mut bits)));
            }
        }
        self.bits = bits;
        Ok(())
    }
}

/// How many operands follow of which each takes so many bits.
#[inline(always)]
fn count(bits: &mut Bits<'_>, least: u64) -> Step<usize> {
    let count = u64::from(number(bits, 6)?);
    if count * least > bits.left() {
        return Err(ErrorKind::Truncated("a number"));
    }
    // An operand takes 6 bits at least, but for what arrays of single bits hold.
    match count <= bits.end() / 4 {
        true => Ok(count as usize),
        false => Err(ErrorKind::Limit("operands of a record")),
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
    fn operands_that_take_no_bits_are_bounded() {
        // A literal code and 14 literal operands, and then records of three bits.
        let mut w = Writer::default();
        w.put(2, 3).put(15, 5);
        (0..15).for_each(|_| _ = w.put(1, 1).put(9, 8));
        (0..1000).for_each(|_| _ = w.put(4, 3));
        w.align();
        let mut s = stream(&w.bytes);
        s.scope.width = 3;
        let last = std::iter::repeat_with(|| s.next()).find(|item| *item != Ok(Item::Record(9)));
        assert_eq!(last, Some(Err(ErrorKind::Limit("operands"))));
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
