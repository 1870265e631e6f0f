//! Control flow around words that compute.

use super::asm::{ALWAYS, Asm, Label};
use super::words::{Nan, PREDS, REGISTERS, Words, nan};
use super::{Category, LANE_BYTES, SHARED_BYTES};
use crate::rng::Rng;
use xenoglot_maxwell::inst::RZ;
use xenoglot_maxwell::isa::Src;
use xenoglot_maxwell::modifier::{AtomOp, AtomType, CcTest, FloatCompare, IntCompare, LogicOp, MemSize, Mod};
use xenoglot_maxwell::{Guard, Inst, Opcode, Role, Value, decode};

/// The lane's memory: a pair whose upper word is zero.
const OWN: u8 = 16;
/// An address made for one access, a pair like that.
const AT: u8 = 18;
/// Rounds that are left.
const ROUNDS: u8 = 20;
/// The lane's shared memory.
const SHARED: u8 = 21;
const SCRATCH: u8 = 22;
/// Predicates that no random word writes.
const TEST: u8 = 5;
const TEST2: u8 = 6;

/// Where the registers go at the end.
const RESULTS: i32 = 128;
/// Rounds of all loops together.
const MAX_ROUNDS: u32 = 24;
/// Depth of nesting.
const DEPTH: u32 = 4;
/// Functions, and statements of one.
const FUNCTIONS: u32 = 3;
const FUNCTION_SIZE: u32 = 4;

pub(super) struct Writer<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) words: &'a Words,
    pub(super) asm: &'a mut Asm,
    gotos: bool,
    /// Statements that may still be written.
    left: u32,
    end: Label,
    /// Functions that may be called from here.
    callable: Vec<Label>,
    /// Loops around the statement, innermost last: whether CONT goes to their heads.
    loops: Vec<bool>,
    in_function: bool,
    /// Regions around the statement, by number.
    regions: Vec<u32>,
    next_region: u32,
    /// Labels that branches have gone to, with the regions around those.
    open: Vec<(Label, Vec<u32>)>,
}

/// Writes a program.
pub(super) fn write(rng: &mut Rng, words: &Words, asm: &mut Asm, category: Category, size: u32) {
    let end = asm.label();
    let mut w = Writer::new(rng, words, asm, end, size);
    w.gotos = category == Category::Gotos;
    w.prologue();
    match category {
        Category::Straight => w.straight_across(size),
        Category::Structured | Category::Gotos => w.structured(),
        Category::Misuse => w.misuse(size),
    }
}

pub(super) fn inst(op: Opcode, src: Src, operands: &[(Role, Value)]) -> Option<Inst> {
    operands.iter().try_fold(Inst::of(8, op, src)?, |inst, &(role, value)| inst.with(role, value))
}

pub(super) fn reg(n: u8) -> Value {
    Value::Reg(n)
}

impl<'a> Writer<'a> {
    /// A writer of `size` statements before `end`.
    pub(super) fn new(
        rng: &'a mut Rng,
        words: &'a Words,
        asm: &'a mut Asm,
        end: Label,
        size: u32,
    ) -> Writer<'a> {
        Writer {
            rng,
            words,
            asm,
            gotos: false,
            left: size,
            end,
            callable: Vec::new(),
            loops: Vec::new(),
            in_function: false,
            regions: Vec::new(),
            next_region: 0,
            open: Vec::new(),
        }
    }
}

impl Writer<'_> {
    pub(super) fn put(&mut self, op: Opcode, src: Src, operands: &[(Role, Value)]) {
        self.asm.inst(inst(op, src, operands));
    }

    /// An address in memory; a wide one where the operation has such.
    fn access(&mut self, op: Opcode, size: Option<MemSize>, data: (Role, u8), base: u8, offset: i32) {
        let wide = matches!(op, Opcode::Ldg | Opcode::Stg | Opcode::Atom | Opcode::Red);
        let made = Inst::of(8, op, Src::None)
            .and_then(|i| if wide { i.with_modifier(Mod::Wide, 1) } else { Some(i) });
        let made = made.and_then(|i| size.map_or(Some(i), |size| i.with_modifier(Mod::Size, size as u8)));
        let made = made.and_then(|i| {
            i.with(data.0, reg(data.1))?.with(Role::Address, Value::Mem { base, offset, wide })
        });
        self.asm.inst(made);
    }

    fn prologue(&mut self) {
        use Opcode::*;
        self.put(S2r, Src::None, &[(Role::Dst, reg(SCRATCH)), (Role::A, Value::Special(0x21))]);
        for (to, bytes) in [(OWN, LANE_BYTES), (SHARED, SHARED_BYTES)] {
            let amount = Value::Imm(bytes.trailing_zeros());
            self.put(Shl, Src::Imm, &[(Role::Dst, reg(to)), (Role::A, reg(SCRATCH)), (Role::B, amount)]);
        }
        for (to, number) in [(OWN + 1, 0), (AT + 1, 0), (ROUNDS, MAX_ROUNDS)] {
            self.set(to, number);
        }
        for n in (0..REGISTERS).step_by(4) {
            self.access(Ldg, Some(MemSize::B128), (Role::Dst, n), OWN, i32::from(n) * 4);
        }
        for n in 0..REGISTERS / 4 {
            self.access(Sts, Some(MemSize::B128), (Role::Data, n * 4), SHARED, i32::from(n) * 16);
            self.access(Stl, Some(MemSize::B128), (Role::Data, n * 4), RZ, i32::from(n) * 16);
        }
    }

    fn set(&mut self, to: u8, number: u32) {
        self.put(
            Opcode::Mov32i,
            Src::None,
            &[(Role::Dst, reg(to)), (Role::B, Value::Imm(number)), (Role::Number, Value::Imm(15))],
        );
    }

    /// Where every lane that gets so far writes what it has.
    fn epilogue(&mut self) {
        self.asm.place(self.end);
        for n in 0..REGISTERS {
            self.access(Opcode::Stg, Some(MemSize::B32), (Role::Data, n), OWN, RESULTS + 4 * i32::from(n));
        }
        for (i, file) in [Value::PredFile, Value::CcRegister].into_iter().enumerate() {
            let operands = [
                (Role::Dst, reg(SCRATCH)),
                (Role::File, file),
                (Role::A, reg(RZ)),
                (Role::B, Value::Imm(if i == 0 { 0x1f } else { 0xf })),
            ];
            self.put(Opcode::P2r, Src::Imm, &operands);
            let offset = RESULTS + 4 * (i32::from(REGISTERS) + i as i32);
            self.access(Opcode::Stg, Some(MemSize::B32), (Role::Data, SCRATCH), OWN, offset);
        }
        self.asm.pop(Opcode::Exit, ALWAYS, CcTest::T);
        self.asm.jump(Opcode::Bra, self.end, ALWAYS, CcTest::T);
    }

    fn straight_across(&mut self, size: u32) {
        for _ in 0..size {
            if self.rng.percent(25) {
                let word = self.words.across(self.rng);
                self.computing(word, ALWAYS);
            } else {
                self.straight();
            }
        }
        self.epilogue();
    }

    pub(super) fn guard(&mut self) -> Guard {
        Guard { pred: self.rng.below(PREDS.into()) as u8, not: self.rng.percent(50) }
    }

    /// Mostly none.
    fn test(&mut self) -> CcTest {
        if self.rng.percent(85) { CcTest::T } else { CcTest(self.rng.below(24) as u8) }
    }

    /// A word, and what makes a NaN it may have written the only one there is.
    pub(super) fn computing(&mut self, word: u64, guard: Guard) {
        let Ok(made) = decode(8, word) else { return };
        self.asm.inst(if guard == ALWAYS { Some(made) } else { made.with_guard(guard) });
        let Some(dst) = made.operand(Role::Dst).and_then(|o| o.reg()) else { return };
        if dst == RZ {
            return;
        }
        let of_test = [
            (Role::DstPred, Value::Pred(TEST)),
            (Role::DstPred2, Value::Pred(TEST2)),
            (Role::A, reg(dst)),
            (Role::B, reg(dst)),
            (Role::Pred, Value::Pred(7)),
        ];
        let unordered =
            |op, src| inst(op, src, &of_test)?.with_modifier(Mod::FloatCompare, FloatCompare::Nan as u8);
        let if_nan = |pred| Guard { pred, not: false };
        match nan(&made) {
            Nan::Never => {}
            Nan::Single => {
                self.asm.inst(unordered(Opcode::Fsetp, Src::Reg));
                self.set_where(if_nan(TEST), dst, 0x7fc0_0000);
            }
            Nan::Double => {
                self.asm.inst(unordered(Opcode::Dsetp, Src::Reg));
                self.set_where(if_nan(TEST), dst, 0);
                self.set_where(if_nan(TEST), dst + 1, 0x7ff8_0000);
            }
            Nan::Half => {
                self.asm.inst(unordered(Opcode::Hsetp2, Src::None));
                for (pred, mask) in [(TEST, 0xffff_0000), (TEST2, 0x0000_ffff)] {
                    let masked = masked(dst, dst, mask).and_then(|i| i.with_guard(if_nan(pred)));
                    self.asm.inst(masked);
                }
            }
        }
    }

    fn set_where(&mut self, guard: Guard, to: u8, number: u32) {
        let operands = [(Role::Dst, reg(to)), (Role::B, Value::Imm(number)), (Role::Number, Value::Imm(15))];
        self.asm.inst(inst(Opcode::Mov32i, Src::None, &operands).and_then(|i| i.with_guard(guard)));
    }

    /// Words in a row, some under one guard.
    fn straight(&mut self) {
        let guard = if self.rng.percent(40) { self.guard() } else { ALWAYS };
        for _ in 0..1 + self.rng.below(4) {
            let word = self.words.alone(self.rng);
            self.computing(word, guard);
        }
    }

    /// An access to the lane's own memory, at an address that a register says.
    fn memory(&mut self) {
        use MemSize::*;
        let sizes = [U8, S8, U16, S16, B32, B64, B128];
        let size = self.rng.pick(&sizes).copied().unwrap_or(B32);
        let (bytes, tuple) = match size {
            U8 | S8 => (1, 1),
            U16 | S16 => (2, 1),
            B64 => (8, 2),
            B128 => (16, 4),
            _ => (4, 1),
        };
        let from = self.rng.below(REGISTERS.into()) as u8;
        let data = (self.rng.below(REGISTERS.into()) as u8).min(REGISTERS - tuple) & !(tuple - 1);
        let (reach, base, ops) = match self.rng.below(5) {
            0 if bytes <= 8 => return self.constant(from, data, size, bytes),
            0..=2 => (128, OWN, [Opcode::Ldg, Opcode::Stg]),
            3 => (SHARED_BYTES, SHARED, [Opcode::Lds, Opcode::Sts]),
            _ => (super::LOCAL_BYTES, RZ, [Opcode::Ldl, Opcode::Stl]),
        };
        let offset = self.rng.below(reach / bytes) * bytes;
        self.asm.inst(masked(AT, from, (reach - 1 - offset) & !(bytes - 1) & !offset));
        if base != RZ {
            self.put(
                Opcode::Iadd,
                Src::Reg,
                &[(Role::Dst, reg(AT)), (Role::A, reg(AT)), (Role::B, reg(base))],
            );
        }
        let offset = offset as i32;
        match self.rng.below(5) {
            0 | 1 => self.access(ops[0], Some(size), (Role::Dst, data), AT, offset),
            4 if base == OWN && bytes == 4 => self.atomic(data, offset),
            _ => self.access(ops[1], Some(size), (Role::Data, data), AT, offset),
        }
    }

    /// A constant at an index, in this bank or one that the index says.
    fn constant(&mut self, from: u8, data: u8, size: MemSize, bytes: u32) {
        self.asm.inst(masked(AT, from, (2 * super::BANK_BYTES - 1) & !(bytes - 1)));
        let mode = self.rng.below(4) as u8;
        let made = Inst::of(8, Opcode::Ldc, Src::None).and_then(|i| {
            let i = i.with_modifier(Mod::Size, size as u8)?.with_modifier(Mod::LdcMode, mode)?;
            i.with(Role::Dst, reg(data))?
                .with(Role::A, Value::Const { bank: super::BANK, offset: 0, index: AT })
        });
        self.asm.inst(made);
    }

    fn atomic(&mut self, data: u8, offset: i32) {
        use AtomOp::*;
        let ops = [Add, Min, Max, Inc, Dec, And, Or, Xor, Exch];
        let op = self.rng.pick(&ops).copied().unwrap_or(Add);
        let ty = if self.rng.percent(30) && matches!(op, Min | Max) { AtomType::S32 } else { AtomType::U32 };
        let dst = self.rng.below(REGISTERS.into()) as u8;
        let made = Inst::of(8, Opcode::Atom, Src::None).and_then(|i| {
            let i = i.with_modifier(Mod::Wide, 1)?.with_modifier(Mod::AtomOp, op as u8)?;
            let i = i
                .with_modifier(Mod::AtomType, ty as u8)?
                .with(Role::Dst, reg(dst))?
                .with(Role::Data, reg(data))?;
            i.with(Role::Address, Value::Mem { base: AT, offset, wide: true })
        });
        self.asm.inst(made);
    }

    /// Writes a register down, for all to see which way a lane came.
    fn checkpoint(&mut self) {
        let n = self.rng.below(REGISTERS.into()) as u8;
        let place = RESULTS + 4 * (i32::from(REGISTERS) + 2 + self.rng.below(8) as i32);
        self.access(Opcode::Stg, Some(MemSize::B32), (Role::Data, n), OWN, place);
    }

    /// Takes a round, and leaves for the end when there is none.
    fn round(&mut self) {
        let minus_one = Value::Imm(u32::MAX);
        let rounds = reg(ROUNDS);
        self.put(Opcode::Iadd32i, Src::None, &[(Role::Dst, rounds), (Role::A, rounds), (Role::B, minus_one)]);
        let operands = [
            (Role::DstPred, Value::Pred(TEST)),
            (Role::DstPred2, Value::Pred(7)),
            (Role::A, rounds),
            (Role::B, reg(RZ)),
            (Role::Pred, Value::Pred(7)),
        ];
        let compare = inst(Opcode::Isetp, Src::Reg, &operands).and_then(|i| {
            i.with_modifier(Mod::Signed, 1)?.with_modifier(Mod::IntCompare, IntCompare::Lt as u8)
        });
        self.asm.inst(compare);
        self.asm.jump(Opcode::Bra, self.end, Guard { pred: TEST, not: false }, CcTest::T);
    }

    fn structured(&mut self) {
        let functions: Vec<Label> = (0..self.rng.below(FUNCTIONS + 1)).map(|_| self.asm.label()).collect();
        self.callable.clone_from(&functions);
        while self.left > 0 {
            self.block(0);
        }
        self.close_labels();
        self.epilogue();
        self.in_function = true;
        // A function calls those after it.
        for (i, &label) in functions.iter().enumerate() {
            self.callable = functions[i + 1..].to_vec();
            self.left = FUNCTION_SIZE;
            self.asm.place(label);
            self.block(1);
            self.close_labels();
            self.asm.pop(Opcode::Ret, ALWAYS, CcTest::T);
        }
    }

    fn close_labels(&mut self) {
        for (label, _) in std::mem::take(&mut self.open) {
            self.asm.place(label);
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.rng.below(4) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.land();
            self.statement(depth);
        }
    }

    /// Some of the labels that may be here.
    fn land(&mut self) {
        let around = &self.regions;
        let (here, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(_, regions)| regions.starts_with(around) && self.rng.percent(40));
        self.open = rest;
        here.iter().for_each(|(label, _)| self.asm.place(*label));
    }

    fn region(&mut self, depth: u32) {
        self.regions.push(self.next_region);
        self.next_region += 1;
        self.block(depth + 1);
        self.regions.pop();
    }

    fn statement(&mut self, depth: u32) {
        let nests = depth < DEPTH;
        match self.rng.below(20) {
            0 | 1 if nests => self.if_else(depth),
            2 | 3 if nests => self.if_sync(depth),
            4 | 5 if nests => self.repeat(depth, false),
            6 if nests => self.repeat(depth, true),
            7 | 8 => match self.rng.pick(&self.callable).copied() {
                Some(function) => self.asm.jump(Opcode::Cal, function, ALWAYS, CcTest::T),
                None => self.checkpoint(),
            },
            9 if nests => self.returning(depth),
            10 => self.checkpoint(),
            11 if self.rng.percent(40) => {
                let (guard, test) = (self.guard(), self.test());
                self.asm.pop(Opcode::Exit, guard, test);
            }
            12 | 13 => self.leave(),
            14 if self.gotos => {
                let (guard, test) = (self.guard(), self.test());
                let label = self.asm.label();
                self.open.push((label, self.regions.clone()));
                self.asm.jump(Opcode::Bra, label, guard, test);
            }
            15..=17 => self.memory(),
            _ => self.straight(),
        }
    }

    /// SSY, a branch, and a SYNC at the end of each arm.
    fn if_else(&mut self, depth: u32) {
        let (join, other) = (self.asm.label(), self.asm.label());
        self.asm.jump(Opcode::Ssy, join, ALWAYS, CcTest::T);
        let (guard, test) = (self.guard(), self.test());
        self.asm.jump(Opcode::Bra, other, guard, test);
        self.region(depth);
        self.asm.pop(Opcode::Sync, ALWAYS, CcTest::T);
        self.asm.place(other);
        self.region(depth);
        self.asm.pop(Opcode::Sync, ALWAYS, CcTest::T);
        self.asm.place(join);
    }

    /// SSY and a SYNC under a predicate.
    fn if_sync(&mut self, depth: u32) {
        let join = self.asm.label();
        self.asm.jump(Opcode::Ssy, join, ALWAYS, CcTest::T);
        let (guard, test) = (self.guard(), self.test());
        self.asm.pop(Opcode::Sync, guard, test);
        self.region(depth);
        self.asm.pop(Opcode::Sync, ALWAYS, CcTest::T);
        self.asm.place(join);
    }

    /// PBK and a loop; with PCNT it goes on by CONT.
    fn repeat(&mut self, depth: u32, counted: bool) {
        let (head, after) = (self.asm.label(), self.asm.label());
        self.asm.jump(Opcode::Pbk, after, ALWAYS, CcTest::T);
        self.asm.place(head);
        self.round();
        if counted {
            self.asm.jump(Opcode::Pcnt, head, ALWAYS, CcTest::T);
        }
        self.loops.push(counted);
        self.region(depth);
        self.loops.pop();
        let (guard, test) = (self.guard(), self.test());
        self.asm.pop(Opcode::Brk, guard, test);
        if counted {
            self.asm.pop(Opcode::Cont, ALWAYS, CcTest::T);
        } else {
            self.asm.jump(Opcode::Bra, head, ALWAYS, CcTest::T);
        }
        self.asm.place(after);
    }

    /// PRET, and a RET to what it pushed.
    fn returning(&mut self, depth: u32) {
        let after = self.asm.label();
        self.asm.jump(Opcode::Pret, after, ALWAYS, CcTest::T);
        // A RET in there comes here, one in a loop around would not.
        let (loops, in_function) =
            (std::mem::take(&mut self.loops), std::mem::replace(&mut self.in_function, true));
        self.region(depth);
        (self.loops, self.in_function) = (loops, in_function);
        self.asm.pop(Opcode::Ret, ALWAYS, CcTest::T);
        self.asm.place(after);
    }

    /// Out of a loop, on to its next round, or back to the caller.
    fn leave(&mut self) {
        let (guard, test) = (self.guard(), self.test());
        match self.loops.last() {
            Some(true) if self.rng.percent(50) => self.asm.pop(Opcode::Cont, guard, test),
            Some(_) => self.asm.pop(Opcode::Brk, guard, test),
            None if self.in_function => self.asm.pop(Opcode::Ret, guard, test),
            None => self.memory(),
        }
    }

    fn misuse(&mut self, size: u32) {
        let labels: Vec<Label> = (0..2 + size / 3).map(|_| self.asm.label()).collect();
        let mut places: Vec<u32> = labels.iter().map(|_| self.rng.below(size)).collect();
        places.sort_unstable();
        let mut places = labels.iter().zip(places).peekable();
        for at in 0..size {
            while let Some((label, _)) = places.next_if(|(_, place)| *place <= at) {
                self.asm.place(*label);
                self.round();
            }
            let to = self.rng.pick(&labels).copied().unwrap_or(self.end);
            let (guard, test) = (self.guard(), self.test());
            match self.rng.below(16) {
                0 | 1 => self.asm.jump(Opcode::Ssy, to, ALWAYS, CcTest::T),
                2 => self.asm.jump(Opcode::Pbk, to, ALWAYS, CcTest::T),
                3 => self.asm.jump(Opcode::Pcnt, to, ALWAYS, CcTest::T),
                4 => self.asm.jump(Opcode::Pret, to, ALWAYS, CcTest::T),
                5 => self.asm.jump(Opcode::Cal, to, ALWAYS, CcTest::T),
                6 | 7 => self.asm.pop(Opcode::Sync, guard, test),
                8 => self.asm.pop(Opcode::Brk, guard, test),
                9 => self.asm.pop(Opcode::Cont, guard, test),
                10 => self.asm.pop(Opcode::Ret, guard, test),
                11 => self.asm.jump(Opcode::Bra, to, guard, test),
                12 => self.checkpoint(),
                13 => self.memory(),
                _ => self.straight(),
            }
        }
        self.epilogue();
    }
}

/// `LOP32I.AND` of a register and a number.
fn masked(to: u8, from: u8, mask: u32) -> Option<Inst> {
    let operands = [(Role::Dst, reg(to)), (Role::A, reg(from)), (Role::B, Value::Imm(mask))];
    inst(Opcode::Lop32i, Src::None, &operands)?.with_modifier(Mod::LogicOp, LogicOp::And as u8)
}
