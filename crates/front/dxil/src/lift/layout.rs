//! Sizes and alignments of types in memory.

use crate::bitcode::{Module, Type as Llvm, TypeId};
use rustc_hash::FxHashMap;

/// Size and alignment of a type in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub size: u64,
    pub align: u64,
    /// Aggregates within each other.
    pub depth: u32,
}

impl Layout {
    /// A word.
    pub const WORD: Layout = Layout { size: 4, align: 4, depth: 0 };
}

/// Deepest aggregates that are laid out.
const MAX_DEPTH: u32 = 16;

/// Layouts of all types that are stored; members of aggregates have lower numbers.
pub(super) fn layouts(module: &Module, native16: bool) -> FxHashMap<TypeId, Layout> {
    let mut all: FxHashMap<TypeId, Layout> = FxHashMap::default();
    let scalar = |bytes| Some(Layout { size: bytes, align: bytes, depth: 0 });
    for (id, ty) in module.types.iter() {
        let layout = match ty {
            Llvm::Half if native16 => scalar(2),
            Llvm::Half | Llvm::Float => scalar(4),
            Llvm::Double => scalar(8),
            Llvm::Integer(16) if native16 => scalar(2),
            Llvm::Integer(0..=32) => scalar(4),
            Llvm::Integer(_) => scalar(8),
            Llvm::Array { count, of } | Llvm::Vector { count, of } => {
                let many = |l: &Layout| {
                    Some(Layout { size: l.size.checked_mul(*count)?, align: l.align, depth: l.depth + 1 })
                };
                all.get(of).and_then(many)
            }
            Llvm::Struct { fields, .. } => {
                let empty = Layout { size: 0, align: 1, depth: 1 };
                fields.iter().try_fold(empty, |at, f| {
                    let field = all.get(f)?;
                    let start = at.size.checked_next_multiple_of(field.align)?;
                    Some(Layout {
                        size: start.checked_add(field.size)?,
                        align: at.align.max(field.align),
                        depth: at.depth.max(field.depth + 1),
                    })
                })
            }
            _ => None,
        };
        // What is larger than 4 GiB, or deeper than walks over it may go, is not laid out.
        if let Some(layout) = layout.filter(|l| l.size <= u32::MAX.into() && l.depth <= MAX_DEPTH) {
            let size = layout.size.next_multiple_of(layout.align);
            all.insert(id, Layout { size, ..layout });
        }
    }
    all
}
