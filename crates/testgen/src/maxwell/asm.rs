//! Instructions in a row, with labels, to code in groups.

use crate::rng::Rng;
use xenoglot_maxwell::isa::Src;
use xenoglot_maxwell::modifier::CcTest;
use xenoglot_maxwell::{Guard, Inst, Opcode, Role, Value};

/// A place in the code that may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(usize);

/// An operation that goes to, or pushes, a label.
#[derive(Clone, Copy, Debug)]
struct Jump {
    op: Opcode,
    to: Label,
    guard: Guard,
    test: CcTest,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Word(u64),
    Jump(Jump),
}

/// A guard that always holds.
pub(super) const ALWAYS: Guard = Guard { pred: xenoglot_maxwell::inst::PT, not: false };

#[derive(Default)]
pub(super) struct Asm {
    items: Vec<Item>,
    /// The number of the instruction at each label; those never placed are the last instruction.
    labels: Vec<Option<usize>>,
}

/// The byte address of an instruction by its number.
fn address(number: usize) -> u32 {
    8 * (number / 3 * 4 + 1 + number % 3) as u32
}

/// Flow instructions as the table has them.
fn flow(at: u32, op: Opcode, guard: Guard, test: CcTest) -> Option<Inst> {
    let inst = Inst::of(at, op, Src::None)?;
    let inst = if guard == ALWAYS { inst } else { inst.with_guard(guard)? };
    if test == CcTest::T { Some(inst) } else { inst.with(Role::Cc, Value::Cc(test)) }
}

impl Asm {
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.items.len());
    }

    pub fn word(&mut self, word: u64) {
        self.items.push(Item::Word(word));
    }

    pub fn inst(&mut self, inst: Option<Inst>) {
        let inst = inst.expect("the table has the instructions that generators write");
        self.word(inst.word);
    }

    /// An operation that goes to or pushes a label.
    pub fn jump(&mut self, op: Opcode, to: Label, guard: Guard, test: CcTest) {
        self.items.push(Item::Jump(Jump { op, to, guard, test }));
    }

    /// A pop or an exit.
    pub fn pop(&mut self, op: Opcode, guard: Guard, test: CcTest) {
        self.inst(flow(8, op, guard, test));
    }

    /// The code; some targets are the scheduling words before what they mean.
    pub fn code(&self, rng: &mut Rng) -> Vec<u8> {
        let last = self.items.len().saturating_sub(1);
        let mut code = Vec::new();
        for (number, item) in self.items.iter().enumerate() {
            if number.is_multiple_of(3) {
                code.extend(0u64.to_le_bytes());
            }
            let word = match *item {
                Item::Word(word) => word,
                Item::Jump(Jump { op, to, guard, test }) => {
                    let target = self.labels[to.0].unwrap_or(last);
                    let early = target.is_multiple_of(3) && rng.percent(20);
                    let to = address(target) - if early { 8 } else { 0 };
                    let inst = flow(address(number), op, guard, test);
                    let inst = inst.and_then(|i| i.with(Role::Target, Value::Target(to)));
                    inst.expect("targets are within reach").word
                }
            };
            code.extend(word.to_le_bytes());
        }
        code
    }
}
