//! Save states: what lasts from one access to the next, as bytes.
//!
//! Each type lists its fields once, for both directions. A list names all fields, also those that are left out because they
//! follow from others, so that a new field cannot be forgotten.

use thiserror::Error;

/// First bytes of a state.
pub const MAGIC: [u8; 4] = *b"XNDS";
/// Version of the layout: another one is refused.
pub const VERSION: u32 = 3;

/// Why a state was not taken.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StateError {
    /// It is none.
    #[error("not a state of the graphics: no {}", MAGIC.escape_ascii())]
    Magic,
    /// Of another version.
    #[error("version {0} of the layout; this reads {VERSION}")]
    Version(u32),
    /// It ends early.
    #[error("{offset:#x}: the state ends early")]
    Truncated {
        /// Where in the state.
        offset: usize,
    },
    /// It was changed.
    #[error("its checksum is {got:08x}, not {wanted:08x}")]
    Checksum {
        /// Of its bytes.
        got: u32,
        /// As it says.
        wanted: u32,
    },
    /// It has impossible contents.
    #[error("{offset:#x}: {what}")]
    Contents {
        /// Where in the state.
        offset: usize,
        /// What is impossible.
        what: &'static str,
    },
}

/// A state being written or read.
pub enum Io<'a> {
    /// Bytes so far.
    Save(Vec<u8>),
    /// Bytes, and how many were read.
    Load(&'a [u8], usize),
}

impl Io<'_> {
    /// Bytes of a fixed number.
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), StateError> {
        match self {
            Io::Save(out) => out.extend_from_slice(bytes),
            Io::Load(all, at) => {
                let end = at.saturating_add(bytes.len());
                let from = all.get(*at..end).ok_or(StateError::Truncated { offset: all.len() })?;
                bytes.copy_from_slice(from);
                *at = end;
            }
        }
        Ok(())
    }

    /// Whether a state is being read.
    pub fn is_loading(&self) -> bool {
        matches!(self, Io::Load(..))
    }

    /// That what was just read is impossible.
    pub fn contents<T>(&self, what: &'static str) -> Result<T, StateError> {
        let offset = match self {
            Io::Save(out) => out.len(),
            Io::Load(_, at) => *at,
        };
        Err(StateError::Contents { offset, what })
    }

    /// A list of up to `limit` elements.
    pub fn list<T: Stated + Default + Clone>(
        &mut self,
        list: &mut Vec<T>,
        limit: usize,
    ) -> Result<(), StateError> {
        let mut length = list.len() as u32;
        length.state(self)?;
        if length as usize > limit {
            return self.contents("a list longer than it can be");
        }
        list.resize(length as usize, T::default());
        list.iter_mut().try_for_each(|element| element.state(self))
    }

    /// What is stored as a number.
    pub fn number<T>(
        &mut self,
        value: &mut T,
        to: impl Fn(&T) -> u32,
        from: impl Fn(u32) -> T,
    ) -> Result<(), StateError> {
        let mut number = to(value);
        number.state(self)?;
        if self.is_loading() {
            *value = from(number);
        }
        Ok(())
    }
}

/// What can be a part of a state.
pub trait Stated {
    /// Writes or reads it.
    fn state(&mut self, io: &mut Io) -> Result<(), StateError>;
}

macro_rules! numbers {
    ($($type:ty)*) => {
        $(impl Stated for $type {
            fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
                let mut bytes = self.to_le_bytes();
                io.bytes(&mut bytes)?;
                *self = <$type>::from_le_bytes(bytes);
                Ok(())
            }
        })*
    };
}

numbers!(u8 u16 u32 u64 i8 i16 i32);

impl Stated for bool {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let mut byte = u8::from(*self);
        byte.state(io)?;
        *self = byte != 0;
        Ok(())
    }
}

impl Stated for usize {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let mut number = *self as u64;
        number.state(io)?;
        *self = number as usize;
        Ok(())
    }
}

impl<T: Stated, const N: usize> Stated for [T; N] {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        self.iter_mut().try_for_each(|element| element.state(io))
    }
}

impl<T: Stated + ?Sized> Stated for Box<T> {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        (**self).state(io)
    }
}

impl<A: Stated, B: Stated> Stated for (A, B) {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        self.0.state(io)?;
        self.1.state(io)
    }
}

impl<T: Stated + Default> Stated for Option<T> {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let mut is_some = self.is_some();
        is_some.state(io)?;
        if !is_some {
            *self = None;
            return Ok(());
        }
        self.get_or_insert_default().state(io)
    }
}

/// Makes a type a part of states: its fields in order, then, after a semicolon, those that are left out.
macro_rules! stated {
    ($type:ty { $($field:ident),* $(,)? $(; $($left_out:ident),*)? }) => {
        impl $crate::state::Stated for $type {
            fn state(&mut self, io: &mut $crate::state::Io) -> Result<(), $crate::state::StateError> {
                let Self { $($field,)* $($($left_out: _,)*)? } = self;
                $($crate::state::Stated::state($field, io)?;)*
                Ok(())
            }
        }
    };
}
pub(crate) use stated;

/// A whole state of what `state` writes.
pub fn save(state: impl FnOnce(&mut Io) -> Result<(), StateError>) -> Vec<u8> {
    let mut io = Io::Save(Vec::new());
    // Nothing fails but what is read.
    let _ = state(&mut io);
    let Io::Save(payload) = io else { return Vec::new() };
    let head = [VERSION.to_le_bytes(), crc32fast::hash(&payload).to_le_bytes()];
    [&MAGIC[..], head.as_flattened(), &payload].concat()
}

/// Has `state` read a whole state.
///
/// # Errors
/// If it is none, of another version, damaged or impossible.
pub fn load(bytes: &[u8], state: impl FnOnce(&mut Io) -> Result<(), StateError>) -> Result<(), StateError> {
    let Some(([magic, version, wanted], payload)) = bytes.split_first_chunk::<12>().map(|(head, payload)| {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *head;
        ([[a, b, c, d], [e, f, g, h], [i, j, k, l]], payload)
    }) else {
        return Err(StateError::Magic);
    };
    if magic != MAGIC {
        return Err(StateError::Magic);
    }
    let version = u32::from_le_bytes(version);
    if version != VERSION {
        return Err(StateError::Version(version));
    }
    let (got, wanted) = (crc32fast::hash(payload), u32::from_le_bytes(wanted));
    if got != wanted {
        return Err(StateError::Checksum { got, wanted });
    }
    let mut io = Io::Load(payload, 0);
    state(&mut io)?;
    match io {
        Io::Load(_, at) if at == payload.len() => Ok(()),
        _ => io.contents("more than a state"),
    }
}
