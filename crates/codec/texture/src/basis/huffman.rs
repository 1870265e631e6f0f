//! Bits from the lowest up, and canonical codes of Huffman whose lengths are themselves packed, as in Deflate.

use thiserror::Error;

/// Why data were not unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The data end early.
    #[error("the data end early")]
    End,
    /// Codes that cannot be.
    #[error("a table of codes is damaged")]
    Table,
    /// Bits that are no code.
    #[error("bits that are no code")]
    Code,
    /// A reference to what is not there.
    #[error("a reference out of range")]
    Reference,
}

/// Longest code.
const LONGEST: usize = 16;

/// Bits that are looked up at once; longer codes are searched.
const LOOKUP: u32 = 10;

/// Symbols that lengths of codes are packed with, in the order of their own lengths.
const ORDER: [usize; 21] = [17, 18, 19, 20, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 16];

/// Bits of bytes, the lowest first.
pub struct Bits<'a> {
    bytes: &'a [u8],
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, held: 0, count: 0 }
    }

    fn fill(&mut self) {
        while self.count <= 56 {
            let Some((byte, rest)) = self.bytes.split_first() else { break };
            self.held |= u64::from(*byte) << self.count;
            self.count += 8;
            self.bytes = rest;
        }
    }

    /// The next `count` bits, up to 32.
    pub fn take(&mut self, count: u32) -> Result<u32, Error> {
        if self.count < count {
            self.fill();
        }
        let bits = self.held & ((1 << count) - 1);
        self.skip(count)?;
        Ok(bits as u32)
    }

    fn skip(&mut self, count: u32) -> Result<(), Error> {
        self.count = self.count.checked_sub(count).ok_or(Error::End)?;
        self.held >>= count;
        Ok(())
    }

    /// A number in chunks of `width` bits, each with a bit above that says whether another follows.
    pub fn chunks(&mut self, width: u32) -> Result<u32, Error> {
        let (mut value, mut at) = (0u32, 0);
        loop {
            let chunk = self.take(width + 1)?;
            value |= (chunk & ((1 << width) - 1)).unbounded_shl(at);
            at += width;
            if chunk >> width == 0 {
                return Ok(value);
            }
            if at >= 32 {
                return Err(Error::Code);
            }
        }
    }

    /// The next symbol of a table.
    pub fn symbol(&mut self, table: &Table) -> Result<u32, Error> {
        if self.count < LONGEST as u32 {
            self.fill();
        }
        let entry = table.lookup.get((self.held & ((1 << LOOKUP) - 1)) as usize).ok_or(Error::Code)?;
        if entry.length > 0 {
            self.skip(entry.length.into())?;
            return Ok(entry.symbol.into());
        }
        // The first bit of a code is its highest.
        let (mut code, mut first, mut index) = (0u32, 0u32, 0u32);
        for (length, &count) in (1..).zip(&table.counts[1..]) {
            code = code << 1 | (self.held >> (length - 1)) as u32 & 1;
            if let Some(at) = code.checked_sub(first).filter(|&at| at < u32::from(count)) {
                self.skip(length)?;
                let symbol = table.symbols.get((index + at) as usize).ok_or(Error::Code)?;
                return Ok((*symbol).into());
            }
            index += u32::from(count);
            first = (first + u32::from(count)) << 1;
        }
        Err(if self.count < LONGEST as u32 { Error::End } else { Error::Code })
    }
}

#[derive(Clone, Copy, Default)]
struct Entry {
    symbol: u16,
    /// 0 where the code is longer than [`LOOKUP`], or there is none.
    length: u8,
}

/// A table of codes.
pub struct Table {
    lookup: Vec<Entry>,
    /// Codes of each length.
    counts: [u16; LONGEST + 1],
    /// Symbols by their codes.
    symbols: Vec<u16>,
}

impl Table {
    /// From the lengths of symbols' codes, 0 for symbols without one.
    fn new(lengths: &[u8]) -> Result<Table, Error> {
        let mut counts = [0u16; LONGEST + 1];
        for &length in lengths {
            *counts.get_mut(usize::from(length)).ok_or(Error::Table)? += 1;
        }
        counts[0] = 0;
        // More codes than there are bits for would overlap.
        let mut left = 1i32;
        for &count in &counts[1..] {
            left = 2 * left - i32::from(count);
            if left < 0 {
                return Err(Error::Table);
            }
        }
        let mut symbols = Vec::with_capacity(lengths.len());
        let mut lookup = vec![Entry::default(); 1 << LOOKUP];
        let mut code = 0u32;
        for length in 1..=LONGEST as u32 {
            code <<= 1;
            for (symbol, _) in (0u16..).zip(lengths).filter(|(_, l)| u32::from(**l) == length) {
                symbols.push(symbol);
                if length <= LOOKUP {
                    let start = code.reverse_bits() >> (32 - length);
                    for entry in lookup.iter_mut().skip(start as usize).step_by(1 << length) {
                        *entry = Entry { symbol, length: length as u8 };
                    }
                }
                code += 1;
            }
        }
        Ok(Table { lookup, counts, symbols })
    }

    /// Reads a table, whose symbols are below `limit`.
    pub fn read(bits: &mut Bits<'_>) -> Result<Table, Error> {
        let count = bits.take(14)? as usize;
        if count == 0 {
            return Table::new(&[]);
        }
        let packed = bits.take(5)? as usize;
        if !(1..=ORDER.len()).contains(&packed) {
            return Err(Error::Table);
        }
        let mut own = [0; ORDER.len()];
        for &symbol in &ORDER[..packed] {
            own[symbol] = bits.take(3)? as u8;
        }
        let table = Table::new(&own)?;
        let mut lengths: Vec<u8> = Vec::with_capacity(count);
        while lengths.len() < count {
            let (length, times) = match bits.symbol(&table)? {
                length @ 0..=16 => (length as u8, 1),
                17 => (0, 3 + bits.take(3)?),
                18 => (0, 11 + bits.take(7)?),
                symbol => {
                    let last = lengths.last().copied().filter(|&last| last > 0).ok_or(Error::Table)?;
                    (last, if symbol == 19 { 3 + bits.take(2)? } else { 7 + bits.take(7)? })
                }
            };
            lengths.extend(core::iter::repeat_n(length, times as usize));
        }
        if lengths.len() > count {
            return Err(Error::Table);
        }
        Table::new(&lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of 1, 2 and 12 bits: the last ones are not looked up but searched.
    #[test]
    fn short_and_long_codes() {
        let mut lengths = vec![1, 2];
        lengths.extend([12; 1024]);
        let table = Table::new(&lengths).unwrap();
        // 0, 10, 11 and ten bits of the number, highest first.
        for number in [0u32, 1, 511, 1023] {
            let long = 0b11 << 10 | number;
            let bytes = (0b01 << 1 | (long.reverse_bits() >> 20) << 3).to_le_bytes();
            let mut bits = Bits::new(&bytes);
            let symbols: Vec<u32> = (0..3).map(|_| bits.symbol(&table).unwrap()).collect();
            assert_eq!(symbols, [0, 1, 2 + number]);
        }
    }

    #[test]
    fn codes_that_overlap() {
        assert!(matches!(Table::new(&[1, 1, 1]), Err(Error::Table)));
        assert!(matches!(Table::new(&[17]), Err(Error::Table)));
        let empty = Table::new(&[]).unwrap();
        assert_eq!(Bits::new(&[0; 8]).symbol(&empty), Err(Error::Code));
        assert_eq!(Bits::new(&[]).take(1), Err(Error::End));
    }

    #[test]
    fn numbers_in_chunks() {
        // 0b0101 with more to come, then 0b0011.
        let bytes = [0b0111_0101, 0];
        assert_eq!(Bits::new(&bytes).chunks(4), Ok(0b0011_0101));
        assert_eq!(Bits::new(&[0xff; 9]).chunks(7), Err(Error::Code));
    }
}
