//! The stack of pushed targets as data: the numbers of its entries in a ring in private memory, above local memory. The
//! oldest is dropped where there are more than [`DEPTH`].

use super::cx::Cx;
use xenoglot_ir::{Block, MemInfo, Op, Space, Type, Value};

/// Entries that are kept.
const DEPTH: u32 = 64;

/// Bytes of private memory that the stack takes.
pub(super) const BYTES: u32 = 4 * DEPTH;

impl Cx<'_> {
    /// Where the entry at a place of the ring lies.
    fn place(&mut self, at: Value) -> (MemInfo, Value) {
        let (size, base) = (self.number(2), self.number(self.stack_base));
        let offset = self.op(Op::Shl, &[at, size]);
        (MemInfo::plain(Space::Private, None, 2), self.op(Op::Iadd, &[base, offset]))
    }

    fn step(&mut self, at: Value, by: u32) -> Value {
        let (by, mask) = (self.number(by), self.number(DEPTH - 1));
        let moved = self.op(Op::Iadd, &[at, by]);
        self.op(Op::And, &[moved, mask])
    }

    /// Pushes the entry of a number.
    pub fn push_entry(&mut self, number: u32) {
        let slots = self.regs.stack(self.b.func);
        let [top, depth] = slots.map(|slot| self.b.slot_get(slot));
        let (mem, offset) = self.place(top);
        let number = self.number(number);
        self.b.store(mem, offset, number);
        let top = self.step(top, 1);
        let (one, most) = (self.number(1), self.number(DEPTH));
        let depth = self.op(Op::Iadd, &[depth, one]);
        let depth = self.op(Op::Umin, &[depth, most]);
        self.b.slot_set(slots[0], top);
        self.b.slot_set(slots[1], depth);
    }

    /// Pops an entry and gives its number; goes to `empty` if there is none.
    pub fn pop_entry(&mut self, empty: Block) -> Value {
        let slots = self.regs.stack(self.b.func);
        let depth = self.b.slot_get(slots[1]);
        let zero = self.zero();
        let some = self.op(Op::IcmpNe, &[depth, zero]);
        let next = self.b.func.add_block();
        self.b.branch(some, (next, &[]), (empty, &[]));
        self.b.switch_to(next);
        let [top, depth] = slots.map(|slot| self.b.slot_get(slot));
        let top = self.step(top, DEPTH - 1);
        let one = self.number(1);
        let depth = self.op(Op::Isub, &[depth, one]);
        self.b.slot_set(slots[0], top);
        self.b.slot_set(slots[1], depth);
        let (mem, offset) = self.place(top);
        self.b.load(mem, offset, Type::I32)
    }
}
