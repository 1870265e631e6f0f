//! Pairs of keys and values, which both KTX have.

use super::{Error, Reader};
use std::borrow::Cow;

/// Most pairs that are kept: no file has cause for more.
const MOST: usize = 1024;

/// The key of a picture's orientation.
pub const ORIENTATION: &str = "KTXorientation";

/// The key of where components are to be read from.
pub const SWIZZLE: &str = "KTXswizzle";

/// A key and its value. A value that is text ends with a zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// The value.
    pub value: Cow<'a, [u8]>,
}

/// The pairs of a file; what is damaged is left out. `reader` has the pairs and nothing else.
pub fn read<'a>(mut reader: Reader<'a>) -> Result<Vec<Pair<'a>>, Error> {
    let mut pairs = Vec::new();
    while let Ok(size) = reader.u32("a pair") {
        let Ok(pair) = reader.take(size as usize, "a value") else { break };
        reader.skip((size as usize).next_multiple_of(4) - size as usize);
        let Some(end) = pair.iter().position(|&byte| byte == 0) else { continue };
        let (key, value) = pair.split_at(end);
        let Ok(key) = std::str::from_utf8(key) else { continue };
        if pairs.len() == MOST {
            return Err(Error::TooLarge);
        }
        pairs
            .push(Pair { key: Cow::Borrowed(key), value: Cow::Borrowed(value.get(1..).unwrap_or_default()) });
    }
    Ok(pairs)
}

/// The text of a key, if there is one.
pub fn text<'p>(pairs: &'p [Pair<'_>], key: &str) -> Option<&'p [u8]> {
    let value = &*pairs.iter().find(|pair| pair.key == key)?.value;
    Some(value.strip_suffix(b"\0").unwrap_or(value))
}

/// The bytes of pairs in KTX 2, in the order of their keys.
pub fn write<'p>(pairs: impl Iterator<Item = (&'p str, &'p [u8])>) -> Vec<u8> {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    let mut bytes = Vec::new();
    for (key, value) in pairs {
        bytes.extend(((key.len() + 1 + value.len()) as u32).to_le_bytes());
        bytes.extend(key.as_bytes());
        bytes.push(0);
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}
