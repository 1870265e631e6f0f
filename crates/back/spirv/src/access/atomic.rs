//! Atomics.

use super::*;

impl Body<'_, '_> {
    pub(super) fn atomic(
        &mut self,
        op: Op,
        view: &View,
        mem: MemInfo,
        place: Number,
        values: &[Id],
    ) -> Result<Id, Reason> {
        let ty = view.element;
        if !matches!(ty, Type::I32 | Type::I64) || view.is_private() {
            return Err(Reason::Unsupported("atomics on this memory"));
        }
        let host = host_atomic(op)?;
        let element = self.calc(S::ShiftRightLogical, place, (ty.bits() / 8).trailing_zeros());
        let inside = self.inside(view, element);
        let mut old = self.unit().splat(ty, 0);
        let zero = old;
        let write = |body: &mut Self| {
            let pointer = body.pointer(view, ty, element, None);
            body.exchange(host, ty, view.class, mem, pointer, values).unwrap_or(zero)
        };
        match inside {
            Inside::No => {}
            Inside::Yes => old = write(self),
            Inside::If(cond) => {
                let mut inner = zero;
                let (head, then) = self.when(cond, |body| inner = write(body));
                let [head, then] = [head, then].map(|b| self.label(b));
                old = self.unit().op(S::Phi, ty, &[zero, head, inner, then]);
            }
        }
        Ok(old)
    }

    /// Semantics of a comparison that fails: it stores nothing, so it releases nothing.
    pub(super) fn unequal_order(&mut self, class: StorageClass, mem: MemInfo) -> Id {
        let order = match mem.order {
            Order::AcqRel => Order::Acquire,
            Order::Release => Order::Relaxed,
            other => other,
        };
        self.sync(class, MemInfo { order, ..mem })[1]
    }

    /// An atomic at a pointer; nothing if its operands are too many or too few.
    pub(crate) fn exchange(
        &mut self,
        host: S,
        ty: Type,
        class: StorageClass,
        mem: MemInfo,
        pointer: Id,
        values: &[Id],
    ) -> Option<Id> {
        let [scope, order] = self.sync(class, mem);
        let words: SmallVec<[u32; 6]> = match (host, values) {
            (S::AtomicCompareExchange, &[expected, new]) => {
                let unequal = self.unequal_order(class, mem);
                SmallVec::from_slice(&[pointer, scope, order, unequal, new, expected])
            }
            (S::AtomicCompareExchange, _) => return None,
            (_, &[value]) => {
                let value = self.unit().here(ty, value);
                SmallVec::from_slice(&[pointer, scope, order, value])
            }
            _ => return None,
        };
        Some(self.unit().op_of(host, ty, &words))
    }
}

/// The host's atomic.
pub(crate) fn host_atomic(op: Op) -> Result<S, Reason> {
    Ok(match op {
        Op::AtomicAdd => S::AtomicIAdd,
        Op::AtomicAnd => S::AtomicAnd,
        Op::AtomicOr => S::AtomicOr,
        Op::AtomicXor => S::AtomicXor,
        Op::AtomicXchg => S::AtomicExchange,
        Op::AtomicCmpxchg => S::AtomicCompareExchange,
        Op::AtomicUmin => S::AtomicUMin,
        Op::AtomicUmax => S::AtomicUMax,
        Op::AtomicSmin => S::AtomicSMin,
        Op::AtomicSmax => S::AtomicSMax,
        _ => return Err(OPERANDS),
    })
}
