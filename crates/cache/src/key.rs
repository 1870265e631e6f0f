//! Keys: hashes of canonical bytes.
//!
//! A key must be the same for the same question on every machine and in every build, and another for every other
//! question. Structures are therefore written as their name, the number of their schema and their `postcard` bytes, each
//! with its length before it: nothing runs into its neighbour.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What an entry is found by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// Starts a key. Keys of different domains never meet, whatever is put in them.
    pub fn of(domain: &str) -> KeyWriter {
        let mut writer = KeyWriter(blake3::Hasher::new());
        writer.bytes(domain.as_bytes());
        writer
    }

    /// The first eight bytes as a number: short names for what a key stands for.
    pub fn short(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The key that a text of 64 hexadecimal digits says.
    pub fn parse(text: &str) -> Option<Key> {
        blake3::Hash::from_hex(text).ok().map(|hash| Key(*hash.as_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// A structure with canonical bytes.
///
/// The bytes are those of `postcard`: they depend on the order of fields and variants, not on their names. Whoever changes
/// a type, so that the same bytes would mean something else, raises its `SCHEMA`. A snapshot test of the bytes shows that
/// they changed.
pub trait Canonical: Serialize {
    /// A name that no other type in keys has.
    const NAME: &'static str;
    /// Counts the changes of the type's bytes.
    const SCHEMA: u16;
}

/// The canonical bytes of a value.
///
/// # Errors
/// A serialiser that fails.
pub fn canonical<T: Canonical>(value: &T) -> Result<Vec<u8>, postcard::Error> {
    let mut bytes = Vec::new();
    bytes.extend((T::NAME.len() as u32).to_le_bytes());
    bytes.extend(T::NAME.as_bytes());
    bytes.extend(T::SCHEMA.to_le_bytes());
    postcard::to_extend(value, bytes)
}

/// A key in the making.
#[derive(Clone, Debug)]
pub struct KeyWriter(blake3::Hasher);

impl KeyWriter {
    /// Adds bytes and how many they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut KeyWriter {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) -> &mut KeyWriter {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Adds another key.
    pub fn key(&mut self, key: Key) -> &mut KeyWriter {
        self.0.update(&key.0);
        self
    }

    /// Adds a value's canonical bytes.
    ///
    /// # Errors
    /// A serialiser that fails.
    pub fn value<T: Canonical>(&mut self, value: &T) -> Result<&mut KeyWriter, postcard::Error> {
        let bytes = canonical(value)?;
        Ok(self.bytes(&bytes))
    }

    /// The key.
    pub fn finish(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}

/// Whose an entry is: a short name made of a program's id, by which its entries are told apart and removed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Title(pub u64);

impl Title {
    /// Nobody's in particular.
    pub const NONE: Title = Title(0);

    /// The title of a program's id: any text.
    pub fn new(id: &str) -> Title {
        Title(Key::of("title").bytes(id.as_bytes()).finish().short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Pair(u32, &'static str);

    impl Canonical for Pair {
        const NAME: &'static str = "pair";
        const SCHEMA: u16 = 3;
    }

    #[test]
    fn canonical_bytes_are_name_schema_and_postcard() {
        assert_eq!(canonical(&Pair(300, "ab")).unwrap(), *b"\x04\0\0\0pair\x03\0\xac\x02\x02ab");
    }

    #[test]
    fn neighbours_do_not_run_into_each_other() {
        let of = |parts: &[&[u8]]| {
            let mut key = Key::of("test");
            for part in parts {
                key.bytes(part);
            }
            key.finish()
        };
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"", b"x"]), of(&[b"x", b""]));
        assert_ne!(Key::of("a").finish(), Key::of("b").finish());
    }

    #[test]
    fn a_key_reads_back_from_its_text() {
        let key = Key::of("test").number(7).finish();
        assert_eq!(Key::parse(&key.to_string()), Some(key));
        assert_eq!(Key::parse("12"), None);
    }
}
