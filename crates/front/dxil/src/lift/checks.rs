//! Whether descriptors of heaps are what they are used as ([`checks`]).

use super::bind::Element;
use super::cx::Cx;
use crate::binding::{DescriptorKind, Slot, checks};
use xenoglot_ir::imm::{MemInfo, Order, Scope};
use xenoglot_ir::{Flags, Imm, Op, Space, Type, Value};

impl Cx<'_> {
    /// A place of a heap where there is a descriptor for what it is used as: the one given, or the one behind the last.
    /// The first fault is told.
    pub(super) fn checked(&mut self, element: Element, used_as: DescriptorKind, slot: Slot) -> Element {
        let buffer = self.own_buffer("checks", slot);
        let mem = MemInfo::plain(Space::Storage, Some(buffer), 2);
        let place = element.index;
        let at = self.i32(checks::COUNT);
        let count = self.b.load(mem, at, Type::I32);
        let inside = self.op(Op::IcmpUlt, &[place, count]);
        let (zero, four, words) = (self.i32(0), self.i32(4), self.i32(checks::WORDS));
        let at = self.op(Op::Imul, &[place, four]);
        let at = self.op(Op::Iadd, &[at, words]);
        let word = self.b.load(mem, at, Type::I32);
        let word = self.op(Op::Select, &[inside, word, zero]);
        let needed = self.i32(checks::word(&[used_as]));
        let has = self.op(Op::And, &[word, needed]);
        let is_good = self.op(Op::IcmpEq, &[has, needed]);

        let [fault, first, next] = [(); 3].map(|()| self.b.func.add_block());
        self.b.branch(is_good, (next, &[]), (fault, &[]));
        self.b.switch_to(fault);
        let claim = MemInfo { order: Order::Relaxed, scope: Scope::Device, ..mem };
        let (at, one) = (self.i32(checks::CLAIMED), self.i32(1));
        let claimed = self.inst(Op::AtomicCmpxchg, Imm::Mem(claim), &[at, zero, one], Type::I32);
        let is_first = self.op(Op::IcmpEq, &[claimed, zero]);
        self.b.branch(is_first, (first, &[]), (next, &[]));
        self.b.switch_to(first);
        let (kind, instruction) = (self.i32(used_as as u32), self.i32(self.at));
        let told: [(u32, Value); 4] = [
            (checks::PLACE, place),
            (checks::USED_AS, kind),
            (checks::WORD, word),
            (checks::INSTRUCTION, instruction),
        ];
        for (at, value) in told {
            let at = self.i32(at);
            self.b.inst(Op::Store, Flags::NONE, Imm::Mem(mem), &[at, value], &[]);
        }
        self.b.jump(next, &[]);
        self.b.switch_to(next);
        Element { index: self.op(Op::Select, &[is_good, place, count]), ..element }
    }
}
