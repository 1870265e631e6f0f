//! Types of LLVM values.

use super::error::{ErrorKind, Step};
use rustc_hash::FxHashMap;

/// A type by its number in [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub u32);

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// 16 bits.
    Half,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// A basic block.
    Label,
    /// Metadata as an operand.
    Metadata,
    /// A structure of unknown contents.
    Opaque {
        /// Its name.
        name: String,
    },
    /// An integer of so many bits, 1 to 64.
    Integer(u32),
    /// A pointer.
    Pointer {
        /// What it points to.
        to: TypeId,
        /// The address space: 0 for memory of the invocation, 3 for that of the workgroup.
        space: u32,
    },
    /// Several of one type in memory.
    Array {
        /// How many.
        count: u64,
        /// Of what; a type with a lower number.
        of: TypeId,
    },
    /// Several of one scalar type.
    Vector {
        /// How many.
        count: u64,
        /// Of what; a type with a lower number.
        of: TypeId,
    },
    /// Several of different types; all of them have lower numbers.
    Struct {
        /// Its name; none for those that are told by their contents.
        name: Option<String>,
        /// Whether fields are not aligned.
        packed: bool,
        /// What is in it.
        fields: Vec<TypeId>,
    },
    /// A function.
    Function {
        /// What it gives.
        returns: TypeId,
        /// What it takes.
        params: Vec<TypeId>,
        /// Whether it takes any number of further ones.
        variadic: bool,
    },
}

impl Type {
    /// Whether values are stored and computed with: integers, floats and pointers.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Half | Type::Float | Type::Double | Type::Integer(_) | Type::Pointer { .. })
    }
}

/// The types of a module.
#[derive(Clone, Debug, Default)]
pub struct Types {
    all: Vec<Type>,
    /// Types that are asked for by what they are: scalars, pointers and vectors, and pairs that instructions give.
    known: FxHashMap<Type, TypeId>,
    /// The integer of one bit, which every comparison and branch asks for.
    bool: Option<TypeId>,
}

impl Types {
    /// A type by number.
    pub fn get(&self, id: TypeId) -> Option<&Type> {
        self.all.get(id.0 as usize)
    }

    /// Every type in order.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.all)
    }

    /// A type by a number that was read.
    pub(super) fn find(&self, number: u64) -> Step<TypeId> {
        let id = u32::try_from(number).ok().filter(|&n| (n as usize) < self.all.len());
        id.map(TypeId).ok_or(ErrorKind::missing("type", number))
    }

    pub(super) fn push(&mut self, ty: Type) {
        let id = TypeId(self.all.len() as u32);
        if ty.is_scalar() || matches!(ty, Type::Vector { .. } | Type::Struct { name: None, .. }) {
            self.known.entry(ty.clone()).or_insert(id);
        }
        self.all.push(ty);
    }

    /// The number of a type that an instruction gives, which the table may not have.
    pub(super) fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.known.get(&ty) {
            return id;
        }
        let id = TypeId(self.all.len() as u32);
        self.known.insert(ty.clone(), id);
        self.all.push(ty);
        id
    }

    /// [`Types::intern`] of the integer of one bit.
    pub(super) fn bool(&mut self) -> TypeId {
        if let Some(id) = self.bool {
            return id;
        }
        let id = self.intern(Type::Integer(1));
        self.bool = Some(id);
        id
    }

    /// What a function of type `id` takes as argument `n`.
    pub(super) fn param(&self, id: TypeId, n: usize) -> Option<TypeId> {
        match self.get(id)? {
            Type::Function { params, .. } => params.get(n).copied(),
            _ => None,
        }
    }

    /// Checks that aggregates consist of earlier types and that pointers lead somewhere, so that walking types ends.
    pub(super) fn check(&self) -> Step<()> {
        let count = self.all.len() as u32;
        let below = |id: &TypeId, most: u32| match id.0 < most {
            true => Ok(()),
            false => Err(ErrorKind::missing("type", id.0)),
        };
        for (id, ty) in self.iter() {
            match ty {
                Type::Array { of, .. } | Type::Vector { of, .. } => below(of, id.0)?,
                Type::Struct { fields, .. } => fields.iter().try_for_each(|f| below(f, id.0))?,
                Type::Pointer { to, .. } => below(to, count)?,
                Type::Function { returns, params, .. } => {
                    below(returns, count)?;
                    params.iter().try_for_each(|p| below(p, count))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What a pointer of type `id` points to, and its address space.
    pub fn pointee(&self, id: TypeId) -> Option<(TypeId, u32)> {
        match *self.get(id)? {
            Type::Pointer { to, space } => Some((to, space)),
            _ => None,
        }
    }

    /// The type of member `index` of an aggregate of type `id`.
    pub fn member(&self, id: TypeId, index: u64) -> Option<TypeId> {
        match self.get(id)? {
            Type::Array { count, of } | Type::Vector { count, of } => (index < *count).then_some(*of),
            Type::Struct { fields, .. } => fields.get(usize::try_from(index).ok()?).copied(),
            _ => None,
        }
    }
}
