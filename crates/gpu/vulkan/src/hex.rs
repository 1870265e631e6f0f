//! Bytes as text, two hexadecimal digits each.

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(bytes.iter().copied()))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    decode(&String::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("not hexadecimal bytes"))
}

/// Words, as their bytes from the least significant one.
pub(crate) mod words {
    use serde::{Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(words: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::encode(words.iter().flat_map(|word| word.to_le_bytes())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let bytes = super::deserialize(deserializer)?;
        let (words, []) = bytes.as_chunks() else { return Err(D::Error::custom("not whole words")) };
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}

/// A list of such texts.
pub(crate) mod list {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(list: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|bytes| super::encode(bytes.iter().copied())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        Vec::<String>::deserialize(deserializer)?
            .iter()
            .map(|text| super::decode(text))
            .collect::<Option<_>>()
            .ok_or_else(|| D::Error::custom("not hexadecimal bytes"))
    }
}

fn encode(bytes: impl Iterator<Item = u8>) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble & 15)]);
    bytes.flat_map(|byte| [digit(byte >> 4), digit(byte)]).collect()
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |c: u8| char::from(c).to_digit(16);
    pairs.iter().map(|&[high, low]| u8::try_from(digit(high)? << 4 | digit(low)?).ok()).collect()
}
