//! Whether descriptors of heaps are what they are used as ([`checks`]).

use super::bind::Element;
use super::cx::Cx;
use crate::binding::{Checks, DescriptorKind, checks};
use xenoglot_ir::imm::{MemInfo, Order, Scope};
use xenoglot_ir::{Flags, Imm, Op, Space, Type, Value};

impl Cx<'_> {
    /// A place of a heap where there is a descriptor for what it is used as: the one given, or the one behind the last.
    /// Faults are told.
    pub(super) fn checked(&mut self, element: Element, used_as: DescriptorKind, checks: Checks) -> Element {
        let Checks { slot, program } = checks;
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

        let [fault, told, next] = [(); 3].map(|()| self.b.func.add_block());
        self.b.branch(is_good, (next, &[]), (fault, &[]));
        self.b.switch_to(fault);
        let counter = MemInfo { order: Order::Relaxed, scope: Scope::Device, ..mem };
        let (at, one) = (self.i32(checks::TOLD), self.i32(1));
        let before = self.inst(Op::AtomicAdd, Imm::Mem(counter), &[at, one], Type::I32);
        let at = self.i32(checks::CAPACITY);
        let capacity = self.b.load(mem, at, Type::I32);
        let is_told = self.op(Op::IcmpNe, &[capacity, zero]);
        self.b.branch(is_told, (told, &[]), (next, &[]));
        self.b.switch_to(told);
        let entry = self.op(Op::Urem, &[before, capacity]);
        let bytes = self.i32(checks::ENTRY);
        let entry = self.op(Op::Imul, &[entry, bytes]);
        let descriptors = self.op(Op::Imul, &[count, four]);
        let ring = self.op(Op::Iadd, &[descriptors, words]);
        let entry = self.op(Op::Iadd, &[ring, entry]);
        let number = self.op(Op::Iadd, &[before, one]);
        let [kind, program, instruction] = [used_as as u32, program, self.at].map(|number| self.i32(number));
        let fields: [(u32, Value); 6] = [
            (checks::NUMBER, number),
            (checks::PLACE, place),
            (checks::USED_AS, kind),
            (checks::WORD, word),
            (checks::PROGRAM, program),
            (checks::INSTRUCTION, instruction),
        ];
        for (at, value) in fields {
            let at = self.i32(at);
            let at = self.op(Op::Iadd, &[entry, at]);
            self.b.inst(Op::Store, Flags::NONE, Imm::Mem(mem), &[at, value], &[]);
        }
        self.b.jump(next, &[]);
        self.b.switch_to(next);
        Element { index: self.op(Op::Select, &[is_good, place, count]), ..element }
    }
}
