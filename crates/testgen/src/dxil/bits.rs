//! Bitstreams as LLVM has them ("LLVM Bitstream File Format"): blocks and records of fields of any width, without
//! abbreviations of one's own.

/// Widths of what stands before and in blocks.
const BLOCK_ID: u32 = 8;
const ABBREV_WIDTH: u32 = 4;
const FIELD: u32 = 6;
/// Abbreviations that every block has.
const END_BLOCK: u32 = 0;
const ENTER_SUBBLOCK: u32 = 1;
const UNABBREV_RECORD: u32 = 3;
/// Bits of an abbreviation's number in the blocks written here, and outside of all blocks.
const INSIDE: u32 = 3;
const OUTSIDE: u32 = 2;

/// A stream that is being written.
#[derive(Default)]
pub(super) struct Stream {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet.
    pending: u64,
    count: u32,
    /// Where the lengths of the open blocks are.
    open: Vec<usize>,
}

impl Stream {
    /// A stream that begins with these bytes.
    pub fn new(magic: &[u8]) -> Stream {
        Stream { bytes: magic.to_vec(), ..Stream::default() }
    }

    fn fixed(&mut self, value: u32, bits: u32) {
        self.pending |= u64::from(value) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// A number in groups of `bits - 1` bits, lowest first, each with a bit that says whether there are more.
    fn variable(&mut self, mut value: u64, bits: u32) {
        let more = 1 << (bits - 1);
        while value >= more {
            self.fixed((value & (more - 1) | more) as u32, bits);
            value >>= bits - 1;
        }
        self.fixed(value as u32, bits);
    }

    fn align(&mut self) {
        self.fixed(0, self.count.wrapping_neg() % 8);
        let bytes = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(bytes, 0);
    }

    fn abbreviation(&mut self, number: u32) {
        self.fixed(number, if self.open.is_empty() { OUTSIDE } else { INSIDE });
    }

    /// Writes a block, whose contents are what `contents` writes.
    pub fn block(&mut self, id: u32, contents: impl FnOnce(&mut Stream)) {
        self.abbreviation(ENTER_SUBBLOCK);
        self.variable(id.into(), BLOCK_ID);
        self.variable(INSIDE.into(), ABBREV_WIDTH);
        self.align();
        self.open.push(self.bytes.len());
        self.fixed(0, 32);
        contents(self);
        self.abbreviation(END_BLOCK);
        self.align();
        if let Some(length) = self.open.pop() {
            let words = ((self.bytes.len() - length) / 4 - 1) as u32;
            self.bytes[length..length + 4].copy_from_slice(&words.to_le_bytes());
        }
    }

    /// Writes a record.
    pub fn record(
        &mut self,
        code: u32,
        operands: impl IntoIterator<Item = u64, IntoIter: ExactSizeIterator>,
    ) {
        let operands = operands.into_iter();
        self.abbreviation(UNABBREV_RECORD);
        self.variable(code.into(), FIELD);
        self.variable(operands.len() as u64, FIELD);
        for operand in operands {
            self.variable(operand, FIELD);
        }
    }

    /// Writes a record of characters behind the operands.
    pub fn text(&mut self, code: u32, operands: &[u64], text: &str) {
        let all: Vec<u64> = operands.iter().copied().chain(text.bytes().map(u64::from)).collect();
        self.record(code, all);
    }

    /// All of the stream.
    pub fn finish(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }
}
