//! Lists of instructions and of metadata in pools: no allocation for each.

use super::error::Step;
use super::module::{BlockId, MetadataId, Operand, ValueId};
use std::marker::PhantomData;

/// A list in the [`Pool`] of a function or of metadata: [`Body::list`](super::Body::list) and
/// [`Metadata::contents`](super::Metadata::contents) have what is in it.
pub struct List<T> {
    start: u32,
    len: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.len) == (other.start, other.len)
    }
}

impl<T> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..+{}", self.start, self.len)
    }
}

impl<T> List<T> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// What is in the lists of a function's instructions, or of metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    values: Vec<ValueId>,
    edges: Vec<(ValueId, BlockId)>,
    indices: Vec<u32>,
    operands: Vec<Operand>,
    bytes: Vec<u8>,
    numbers: Vec<u64>,
    ids: Vec<MetadataId>,
    nullable: Vec<Option<MetadataId>>,
}

impl Pool {
    /// What is in a list.
    #[inline]
    pub fn get<T: Listed>(&self, list: List<T>) -> &[T] {
        let start = list.start as usize;
        T::all(self).get(start..start + list.len as usize).unwrap_or_default()
    }

    /// Makes room for the lists of about so many instructions.
    pub(super) fn reserve(&mut self, insts: usize) {
        self.values.reserve(insts / 8);
        self.edges.reserve(insts / 4);
        self.operands.reserve(insts);
    }

    /// Makes room for the lists of about so many records of metadata.
    pub(super) fn reserve_metadata(&mut self, records: usize) {
        self.bytes.reserve(records * 4);
        self.nullable.reserve(records * 2);
    }

    /// Where the next list starts.
    pub(super) fn start<T: Listed>(&self) -> usize {
        T::all(self).len()
    }

    /// Adds to the list that was started.
    pub(super) fn push<T: Listed>(&mut self, item: T) {
        T::all_mut(self).push(item);
    }

    /// A list of these.
    pub(super) fn list<T: Listed>(&mut self, items: impl IntoIterator<Item = T>) -> List<T> {
        let start = self.start::<T>();
        T::all_mut(self).extend(items);
        self.since(start)
    }

    /// A list of these, if all can be had.
    pub(super) fn try_list<T: Listed>(&mut self, items: impl IntoIterator<Item = Step<T>>) -> Step<List<T>> {
        let start = self.start::<T>();
        for item in items {
            self.push(item?);
        }
        Ok(self.since(start))
    }

    /// The list of what was added since it was started. Limits on bitcode keep pools below 2^32.
    pub(super) fn since<T: Listed>(&self, start: usize) -> List<T> {
        List { start: start as u32, len: (T::all(self).len() - start) as u32, of: PhantomData }
    }
}

/// What lists are of.
pub trait Listed: Sized + 'static {
    /// All of them in a pool.
    fn all(pool: &Pool) -> &Vec<Self>;
    /// All of them in a pool, to be added to.
    fn all_mut(pool: &mut Pool) -> &mut Vec<Self>;
}

macro_rules! listed {
    ($($ty:ty: $field:ident,)+) => {$(
        impl Listed for $ty {
            fn all(pool: &Pool) -> &Vec<Self> {
                &pool.$field
            }

            fn all_mut(pool: &mut Pool) -> &mut Vec<Self> {
                &mut pool.$field
            }
        }
    )+};
}

listed! {
    ValueId: values,
    (ValueId, BlockId): edges,
    u32: indices,
    Operand: operands,
    u8: bytes,
    u64: numbers,
    MetadataId: ids,
    Option<MetadataId>: nullable,
}
