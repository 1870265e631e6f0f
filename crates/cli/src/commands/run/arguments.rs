//! Arguments of kernels, as text and as bytes.

use super::float_json;
use crate::source;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Most bytes of a buffer.
const MAX_BUFFER: usize = 64 << 20;

/// What an element of a buffer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    name: &'static str,
    bytes: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

const ELEMENTS: [Element; 10] = [
    Element { name: "u8", bytes: 1, kind: Kind::Unsigned },
    Element { name: "i8", bytes: 1, kind: Kind::Signed },
    Element { name: "u16", bytes: 2, kind: Kind::Unsigned },
    Element { name: "i16", bytes: 2, kind: Kind::Signed },
    Element { name: "u32", bytes: 4, kind: Kind::Unsigned },
    Element { name: "i32", bytes: 4, kind: Kind::Signed },
    Element { name: "u64", bytes: 8, kind: Kind::Unsigned },
    Element { name: "i64", bytes: 8, kind: Kind::Signed },
    Element { name: "f32", bytes: 4, kind: Kind::Float },
    Element { name: "f64", bytes: 8, kind: Kind::Float },
];

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A number as it was written; its parameter says how many bytes it has.
    Number(String),
    /// A buffer; the kernel gets its address.
    Buffer {
        /// What is in it.
        element: Element,
        /// Its contents.
        bytes: Vec<u8>,
    },
    /// A structure: offsets of its members in bytes, and the members.
    Structure(Vec<(usize, Member)>),
}

/// A member of a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member {
    /// A number's bytes.
    Number(Vec<u8>),
    /// A buffer, whose address the structure has.
    Buffer {
        /// What is in it.
        element: Element,
        /// Its contents.
        bytes: Vec<u8>,
    },
}

/// Bytes of an address.
const ADDRESS: usize = 8;

/// Reads the members of a structure: `TYPE=NUMBER` or a buffer each, behind `OFFSET:` where it is not the next one that C
/// would take.
fn members(text: &str) -> Result<Vec<(usize, Member)>> {
    let (mut all, mut next) = (Vec::new(), 0usize);
    for text in text.split(';').map(str::trim).filter(|text| !text.is_empty()) {
        let is_number = |offset: &str| offset.trim().bytes().all(|b| b.is_ascii_digit());
        let (offset, text) = match text.split_once(':').filter(|(offset, _)| is_number(offset)) {
            Some((offset, rest)) => {
                let offset = offset.trim();
                (Some(offset.parse().with_context(|| format!("{offset:?} is no offset"))?), rest.trim())
            }
            None => (None, text),
        };
        let (member, size) = match Argument::parse(text)? {
            Argument::Buffer { element, bytes } => (Member::Buffer { element, bytes }, ADDRESS),
            Argument::Number(text) => {
                let (name, number) = text.split_once('=').context("expected TYPE=NUMBER or a buffer")?;
                let element = Element::named(name.trim()).with_context(|| format!("{name:?} is no type"))?;
                (Member::Number(element.encode(number.trim())?), element.bytes)
            }
            Argument::Structure(_) => bail!("a structure in a structure"),
        };
        let at = offset.unwrap_or(next.next_multiple_of(size));
        next = at.checked_add(size).filter(|&end| end <= MAX_BUFFER).context("an offset that large")?;
        all.push((at, member));
    }
    Ok(all)
}

impl Argument {
    /// Reads `NUMBER`, `TYPE[COUNT]`, `TYPE[COUNT]=NUMBER,…` or `TYPE[COUNT]=@FILE`; what is given makes up for no count;
    /// or `{MEMBER; …}`.
    pub fn parse(text: &str) -> Result<Argument> {
        if let Some(inner) = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            // A brace inside would begin another structure.
            anyhow::ensure!(!inner.contains('{'), "a structure in a structure");
            return Ok(Argument::Structure(members(inner)?));
        }
        let Some((name, rest)) = text.split_once('[') else { return Ok(Argument::Number(text.to_owned())) };
        let element = Element::named(name.trim()).with_context(|| format!("{name:?} is no type"))?;
        let (count, contents) = rest.split_once(']').context("expected TYPE[COUNT]")?;
        let mut bytes = match contents.strip_prefix('=') {
            None if contents.is_empty() => Vec::new(),
            None => bail!("expected `=` after {name}[{count}]"),
            Some(contents) => match contents.strip_prefix('@') {
                Some(path) => source::read(Path::new(path))?,
                None => element.encode_all(contents)?,
            },
        };
        let given = bytes.len().div_ceil(element.bytes);
        let count = match count.trim() {
            "" if given > 0 => given,
            count => count.parse().with_context(|| format!("{count:?} is no count"))?,
        };
        let size = count.checked_mul(element.bytes).filter(|&size| size <= MAX_BUFFER);
        let size = size.with_context(|| format!("a buffer has at most {MAX_BUFFER} bytes"))?;
        if bytes.len() > size {
            bail!("{given} elements for {count}");
        }
        bytes.resize(size, 0);
        Ok(Argument::Buffer { element, bytes })
    }
}

/// The little-endian bytes of a number, as many as it is to have.
pub fn encode(text: &str, bytes: usize) -> Result<Vec<u8>> {
    let is_float = text.contains(['.', 'n', 'N']) || text.contains(['e', 'E']) && !text.contains(['x', 'X']);
    let kind = if is_float { Kind::Float } else { Kind::Signed };
    Element { name: "", bytes, kind }.encode(text)
}

impl Element {
    /// 32 bits without sign.
    pub const WORD: Element = ELEMENTS[4];

    /// The element of a name.
    pub fn named(name: &str) -> Option<Element> {
        ELEMENTS.into_iter().find(|e| e.name == name)
    }

    fn encode_all(self, list: &str) -> Result<Vec<u8>> {
        let numbers = list.split(',').map(|text| self.encode(text.trim()));
        Ok(numbers.collect::<Result<Vec<_>>>()?.concat())
    }

    fn encode(self, text: &str) -> Result<Vec<u8>> {
        let unreadable = || format!("{text:?} is no number");
        let bits = match (self.kind, self.bytes) {
            (Kind::Float, 4) => u64::from(text.parse::<f32>().with_context(unreadable)?.to_bits()),
            (Kind::Float, 8) => text.parse::<f64>().with_context(unreadable)?.to_bits(),
            (Kind::Float, bytes) => bail!("{text:?}: there is no float of {bytes} bytes"),
            _ => integer(text).with_context(unreadable)?,
        };
        let all = bits.to_le_bytes();
        let (kept, lost) = all
            .split_at_checked(self.bytes)
            .with_context(|| format!("{text:?}: a number of {} bytes; at most 8 are possible", self.bytes))?;
        let sign = if kept.last().is_some_and(|&top| top >= 0x80) { 0xff } else { 0 };
        if lost.iter().any(|&b| b != 0) && (sign == 0 || lost.iter().any(|&b| b != sign)) {
            bail!("{text} does not fit into {} bytes", self.bytes);
        }
        Ok(kept.to_vec())
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The elements in the bytes of a buffer.
    pub fn decode(self, bytes: &[u8]) -> impl Iterator<Item = Number> {
        bytes
            .chunks_exact(self.bytes)
            .map(move |bytes| self.number(bytes.iter().rev().fold(0u64, |bits, &b| bits << 8 | u64::from(b))))
    }

    /// The number that bits are, of which there are no more than an element has.
    pub fn number(self, bits: u64) -> Number {
        let unused = 64 - 8 * self.bytes as u32;
        match (self.kind, self.bytes) {
            (Kind::Float, 4) => Number::Single(bits as u32),
            (Kind::Float, _) => Number::Double(bits),
            (Kind::Signed, _) => Number::Signed((bits << unused) as i64 >> unused),
            (Kind::Unsigned, _) => Number::Unsigned(bits),
        }
    }

    /// The bits of a number of this element.
    pub fn bits(self, text: &str) -> Result<u64> {
        let bytes = self.encode(text)?;
        Ok(bytes.iter().rev().fold(0u64, |bits, &b| bits << 8 | u64::from(b)))
    }
}

/// Writes the elements of a buffer as a table: some to a line, the number of the first in front.
pub fn rows(out: &mut String, numbers: &[Number]) {
    /// Numbers of a line.
    const LINE: usize = 8;
    let numbers: Vec<String> = numbers.iter().map(Number::to_string).collect();
    let width = numbers.iter().map(String::len).max().unwrap_or(0);
    for (line, numbers) in numbers.chunks(LINE).enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(out, "  {:>6}:", line * LINE);
        for number in numbers {
            let _ = write!(out, " {number:>width$}");
        }
        out.push('\n');
    }
}

/// The bits of an integer: decimal with a sign, or hexadecimal after `0x`.
fn integer(text: &str) -> Result<u64, std::num::ParseIntError> {
    match (text.strip_prefix("0x"), text.starts_with('-')) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (None, true) => text.parse::<i64>().map(|v| v as u64),
        (None, false) => text.parse(),
    }
}

/// An element of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// Of a type without sign.
    Unsigned(u64),
    /// Of a type with sign.
    Signed(i64),
    /// The bits of a single.
    Single(u32),
    /// The bits of a double.
    Double(u64),
}

impl Number {
    /// As JSON has it; text where it has no number for it.
    pub fn json(self) -> Value {
        match self {
            Number::Unsigned(v) => json!(v),
            Number::Signed(v) => json!(v),
            Number::Single(bits) => float_json(bits),
            Number::Double(bits) => {
                let v = f64::from_bits(bits);
                serde_json::Number::from_f64(v)
                    .map_or_else(|| v.to_string().to_lowercase().into(), Value::Number)
            }
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Number::Unsigned(v) => v.fmt(f),
            Number::Signed(v) => v.fmt(f),
            Number::Single(bits) => f32::from_bits(bits).fmt(f),
            Number::Double(bits) => f64::from_bits(bits).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str) -> (Element, Vec<u8>) {
        match Argument::parse(text).unwrap() {
            Argument::Buffer { element, bytes } => (element, bytes),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn buffers_are_read() {
        assert_eq!(buffer("u16[3]=1,0xffff").1, [1, 0, 0xff, 0xff, 0, 0]);
        assert_eq!(buffer("i8[]=-1, 127").1, [0xff, 127]);
        assert_eq!(buffer("f32[2]").1, [0; 8]);
        let (element, bytes) = buffer("f64[]=-0.5,nan");
        let numbers: Vec<String> = element.decode(&bytes).map(|n| n.to_string()).collect();
        assert_eq!(numbers, ["-0.5", "NaN"]);
        let (element, bytes) = buffer("i16[]=-2,300");
        let numbers: Vec<Value> = element.decode(&bytes).map(Number::json).collect();
        assert_eq!(numbers, [json!(-2), json!(300)]);
    }

    #[test]
    fn structures_are_laid_out_as_c_does() {
        let Argument::Structure(members) =
            Argument::parse("{u8=1; f32=1; u32[2]=7; 40: i16=-2; u8=3}").unwrap()
        else {
            panic!("no structure")
        };
        assert_eq!(members.iter().map(|m| m.0).collect::<Vec<_>>(), [0, 4, 8, 40, 42]);
        assert_eq!(members[3].1, Member::Number(vec![0xfe, 0xff]));
        assert!(
            matches!(&members[2].1, Member::Buffer { bytes, .. } if bytes[..] == [7, 0, 0, 0, 0, 0, 0, 0])
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "{{u32=1}}",
            "{5}",
            "{x: u32=1}",
            "{18446744073709551615: u32=1}",
            "u7[1]",
            "u8[",
            "u8[]",
            "u8[x]",
            "u8[1]=1,2",
            "u8[]=256",
            "u32[]=1.5",
            "f32[9]+1",
            "u64[99999999]",
        ] {
            assert!(Argument::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_take_the_size_of_their_parameter() {
        assert_eq!(encode("-2", 4).unwrap(), [0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(encode("0x1e", 2).unwrap(), [0x1e, 0]);
        assert_eq!(encode("1e2", 4).unwrap(), 100f32.to_le_bytes());
        assert_eq!(encode("0.5", 8).unwrap(), 0.5f64.to_le_bytes());
        assert_eq!(encode("255", 1).unwrap(), [255]);
        assert!(encode("256", 1).is_err() && encode("-129", 1).is_err() && encode("1.5", 2).is_err());
        assert!(encode("1", 12).is_err() && encode("", 4).is_err());
    }
}
