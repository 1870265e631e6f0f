//! Random fragment programs: quads that tell each other values, votes and shuffles across a warp, and fragments that are
//! killed.
//!
//! Flow parts by quads alone, as everything within a quad needs. Which fragments share a warp nobody knows, so only what
//! holds for any of them is asked: votes on what all agree on, ballots that have no lane in common, own lanes and lanes of
//! the own quad.

use super::asm::{ALWAYS, Asm};
use super::shape::{Writer, inst, reg};
use super::words::{PREDS, REGISTERS, Words};
use super::{BANK, BANK_BYTES, word};
use crate::rng::Rng;
use xenoglot_ir::module::Texel;
use xenoglot_maxwell::gpu::GpuAccessor;
use xenoglot_maxwell::inst::RZ;
use xenoglot_maxwell::isa::Src;
use xenoglot_maxwell::lift::{LiftError, LiftOptions, Lifted, Shader, lift_graphics};
use xenoglot_maxwell::modifier::{CcTest, IntCompare, LogicOp, Mod};
use xenoglot_maxwell::sph::{Maps, Sph, Stage};
use xenoglot_maxwell::{Guard, Inst, Opcode, Role, Value, decode};

/// The fragment's place as integers, halved to that of its quad, and as singles.
const PLACE: [u8; 2] = [16, 17];
const QUAD_PLACE: [u8; 2] = [18, 19];
const SINGLES: [u8; 2] = [20, 21];
/// Registers of one statement.
const SCRATCH: u8 = 22;
const SCRATCH2: u8 = 23;
/// Rounds of a loop that are left.
const ROUNDS: u8 = 24;
/// A predicate that no random word writes.
const TEST: u8 = 5;

/// A generated fragment program, which puts four words out to a target of integers.
#[derive(Clone, Debug)]
pub struct Fragments {
    /// Groups of a scheduling word and three instructions.
    pub code: Vec<u8>,
    /// Constant bank [`BANK`].
    pub constants: Vec<u8>,
}

/// The GPU that these programs run on.
struct Integers;

impl GpuAccessor for Integers {
    fn color_target(&self, _target: u32) -> Texel {
        Texel::Uint
    }
}

/// A program of about `size` statements.
pub fn fragments(rng: &mut Rng, words: &Words, size: u32) -> Fragments {
    let mut asm = Asm::default();
    let end = asm.label();
    let mut w = Program { w: Writer::new(rng, words, &mut asm, end, size), kills: false };
    w.kills = w.w.rng.percent(40);
    w.prologue();
    for _ in 0..size {
        w.statement(0);
    }
    w.epilogue();
    Fragments {
        code: asm.code(rng),
        constants: (0..BANK_BYTES / 4).flat_map(|_| word(rng).to_le_bytes()).collect(),
    }
}

impl Fragments {
    /// Lifts the program.
    ///
    /// # Errors
    /// The lifter's.
    pub fn lift(&self, options: &LiftOptions) -> Result<Lifted, LiftError> {
        /// x and y of the place in the target: attributes 0x70 and 0x74.
        const POSITION: u32 = 0b11 << 28;
        let sph = Sph {
            version: 3,
            stage: Stage::Fragment,
            mrt_enable: false,
            kills_pixels: true,
            global_store: false,
            sass_version: 3,
            geometry_passthrough: false,
            load_or_store: false,
            fp64: false,
            stream_mask: 0,
            local_low_bytes: 0,
            patch_attributes: 0,
            local_high_bytes: 0,
            threads_per_primitive: 0,
            call_stack_bytes: 0,
            topology: None,
            max_output_vertices: 0,
            store_first: 0,
            store_last: 0,
            maps: Maps::Pixel {
                system: POSITION,
                late_system: 0,
                generics: [0; 4],
                color_mask: 0xf,
                sample_mask: false,
                depth: false,
            },
        };
        let shader = Shader { sph, code: &self.code, entry: 0, constants: &[] };
        lift_graphics(&shader, None, options, &Integers)
    }
}

/// Segments of a SHFL: of a quad, and of a warp.
const QUAD: u64 = 0x1c03;
const WARP: u64 = 0x1f;

/// SHFL.BFLY and .IDX by a number.
fn exchange(dst: u8, src: u8, idx: bool, number: u32, segments: u64) -> u64 {
    let form = if idx { 0xef17_0000_3007_0000u64 } else { 0xef17_0000_f007_0000 };
    form | segments << 34 | u64::from(number) << 20 | u64::from(src) << 8 | u64::from(dst)
}

/// FSWZADD.
fn signs(dst: u8, [a, b]: [u8; 2], pattern: u8) -> u64 {
    0x50f8_0000_0007_0000 | u64::from(pattern) << 28 | u64::from(b) << 20 | u64::from(a) << 8 | u64::from(dst)
}

/// MOV of some lanes of a quad.
fn lanes(dst: u8, src: u8, mask: u8) -> u64 {
    0x5c98_0000_0007_0000 | u64::from(mask & 0xf) << 39 | u64::from(src) << 20 | u64::from(dst)
}

struct Program<'a> {
    w: Writer<'a>,
    /// Fragments may be killed; then no lane is asked across the warp.
    kills: bool,
}

impl Program<'_> {
    fn register(&mut self) -> u8 {
        self.w.rng.below(REGISTERS.into()) as u8
    }

    fn prologue(&mut self) {
        // IPA.PASS of a[0x70] and a[0x74].
        for (to, word) in SINGLES.into_iter().zip([0xe003_ff87_0ff7_ff00u64, 0xe003_ff87_4ff7_ff00]) {
            self.w.asm.word(word | u64::from(to));
        }
        for ((single, to), quad) in SINGLES.into_iter().zip(PLACE).zip(QUAD_PLACE) {
            // F2I.FTZ.S32.F32.TRUNC
            self.w.asm.word(0x5cb0_1180_0007_1a00 | u64::from(single) << 20 | u64::from(to));
            let operands = [(Role::Dst, reg(quad)), (Role::A, reg(to)), (Role::B, Value::Imm(1))];
            self.w.put(Opcode::Shr, Src::Imm, &operands);
        }
        for n in 0..REGISTERS {
            let constant = Value::Const { bank: BANK, offset: 4 * i32::from(n), index: RZ };
            let from = PLACE.into_iter().chain(SINGLES).nth(self.w.rng.below(4) as usize).unwrap_or(PLACE[0]);
            match self.w.rng.below(4) {
                0 => self.w.put(
                    Opcode::Mov,
                    Src::Const,
                    &[(Role::Dst, reg(n)), (Role::B, constant), (Role::Number, Value::Imm(15))],
                ),
                1 => {
                    let [x, y] = SINGLES;
                    let operands =
                        [(Role::Dst, reg(n)), (Role::A, reg(x)), (Role::B, reg(x)), (Role::C, reg(y))];
                    self.w.put(Opcode::Ffma, Src::Reg, &operands);
                }
                2 => {
                    let operands = [(Role::Dst, reg(n)), (Role::A, reg(from)), (Role::B, constant)];
                    self.w.put(Opcode::Iadd, Src::Const, &operands);
                }
                _ => {
                    let operands =
                        [(Role::Dst, reg(n)), (Role::B, reg(from)), (Role::Number, Value::Imm(15))];
                    self.w.put(Opcode::Mov, Src::Reg, &operands);
                }
            }
        }
    }

    fn statement(&mut self, depth: u32) {
        match self.w.rng.below(12) {
            0..=2 => self.derivative(),
            3 | 4 => self.quad(),
            5 if depth < 2 => self.branch(depth),
            6 if depth < 2 => self.repeat(depth),
            7 => self.vote(),
            8 if self.kills && depth == 0 => {
                let guard = self.w.guard();
                self.w.asm.pop(Opcode::Kil, guard, CcTest::T);
            }
            8 => self.across(),
            _ => self.straight(),
        }
    }

    /// Words in a row, some under one guard.
    fn straight(&mut self) {
        let guard = if self.w.rng.percent(40) { self.w.guard() } else { ALWAYS };
        for _ in 0..1 + self.w.rng.below(4) {
            let word = self.w.words.integer(self.w.rng);
            self.w.computing(word, guard);
        }
    }

    /// A difference to a neighbour, or another sum with it. The value is an integer as a float, of which none is denormal.
    fn derivative(&mut self) {
        let (from, dst, src) = (self.register(), self.register(), SCRATCH2);
        // I2F.F32.S32
        self.w.asm.word(0x5cb8_0000_0007_2a00 | u64::from(from) << 20 | u64::from(src));
        let along_y = self.w.rng.percent(50);
        let under = if self.w.rng.percent(25) { self.w.guard() } else { ALWAYS };
        self.w.computing(exchange(SCRATCH, src, false, 1 + u32::from(along_y), QUAD), under);
        let forward = if along_y { 0xa5 } else { 0x99 };
        let pattern = match self.w.rng.below(5) {
            0 => self.w.rng.next_u32() as u8,
            1 => !forward,
            _ => forward,
        };
        let args = if self.w.rng.percent(80) { [SCRATCH, src] } else { [src, SCRATCH] };
        self.w.computing(signs(dst, args, pattern), under);
    }

    /// A value of another lane of the quad; or a move in some of its lanes.
    fn quad(&mut self) {
        let (src, dst) = (self.register(), self.register());
        let (number, mask) = (self.w.rng.below(4), self.w.rng.next_u32() as u8);
        let word = match self.w.rng.below(3) {
            0 => exchange(dst, src, true, number, QUAD),
            1 => exchange(dst, src, false, number.max(1), QUAD),
            _ => lanes(dst, src, mask),
        };
        self.w.computing(word, ALWAYS);
    }

    /// Sets [`TEST`] to what all of a quad agree on.
    fn choose(&mut self) {
        let [a, b] = QUAD_PLACE;
        let operands = [(Role::Dst, reg(SCRATCH)), (Role::A, reg(a)), (Role::B, reg(b))];
        let op = *self.w.rng.pick(&[LogicOp::Xor, LogicOp::And, LogicOp::Or]).unwrap_or(&LogicOp::Xor);
        let made =
            inst(Opcode::Lop, Src::Reg, &operands).and_then(|i| i.with_modifier(Mod::LogicOp, op as u8));
        self.w.asm.inst(made);
        let bit = 1 << self.w.rng.below(2);
        let operands = [(Role::Dst, reg(SCRATCH)), (Role::A, reg(SCRATCH)), (Role::B, Value::Imm(bit))];
        let made = inst(Opcode::Lop32i, Src::None, &operands);
        self.w.asm.inst(made.and_then(|i| i.with_modifier(Mod::LogicOp, LogicOp::And as u8)));
        self.compare(SCRATCH, RZ, IntCompare::Ne);
    }

    /// Sets [`TEST`] by a comparison of two registers.
    fn compare(&mut self, a: u8, b: u8, how: IntCompare) {
        let operands = [
            (Role::DstPred, Value::Pred(TEST)),
            (Role::DstPred2, Value::Pred(7)),
            (Role::A, reg(a)),
            (Role::B, reg(b)),
            (Role::Pred, Value::Pred(7)),
        ];
        let made = inst(Opcode::Isetp, Src::Reg, &operands)
            .and_then(|i| i.with_modifier(Mod::Signed, 1)?.with_modifier(Mod::IntCompare, how as u8));
        self.w.asm.inst(made);
    }

    /// SSY around a branch that some quads take.
    fn branch(&mut self, depth: u32) {
        let (join, other) = (self.w.asm.label(), self.w.asm.label());
        self.choose();
        self.w.asm.jump(Opcode::Ssy, join, ALWAYS, CcTest::T);
        self.w.asm.jump(Opcode::Bra, other, Guard { pred: TEST, not: self.w.rng.percent(50) }, CcTest::T);
        self.statement(depth + 1);
        self.w.asm.pop(Opcode::Sync, ALWAYS, CcTest::T);
        self.w.asm.place(other);
        self.statement(depth + 1);
        self.w.asm.pop(Opcode::Sync, ALWAYS, CcTest::T);
        self.w.asm.place(join);
    }

    /// A loop of as many rounds as the quad's place says.
    fn repeat(&mut self, depth: u32) {
        let rounds = ROUNDS + depth as u8;
        let from = QUAD_PLACE[self.w.rng.below(2) as usize];
        let operands = [(Role::Dst, reg(rounds)), (Role::A, reg(from)), (Role::B, Value::Imm(3))];
        let made = inst(Opcode::Lop32i, Src::None, &operands);
        self.w.asm.inst(made.and_then(|i| i.with_modifier(Mod::LogicOp, LogicOp::And as u8)));
        let (head, after) = (self.w.asm.label(), self.w.asm.label());
        self.w.asm.jump(Opcode::Pbk, after, ALWAYS, CcTest::T);
        self.w.asm.place(head);
        self.statement(depth + 1);
        let operands = [(Role::Dst, reg(rounds)), (Role::A, reg(rounds)), (Role::B, Value::Imm(u32::MAX))];
        self.w.put(Opcode::Iadd32i, Src::None, &operands);
        self.compare(rounds, RZ, IntCompare::Lt);
        self.w.asm.pop(Opcode::Brk, Guard { pred: TEST, not: false }, CcTest::T);
        self.w.asm.jump(Opcode::Bra, head, ALWAYS, CcTest::T);
        self.w.asm.place(after);
    }

    /// VOTE of the lanes that are there: whether a test that all agree on holds, or which lanes both pass a test and fail
    /// it.
    fn vote(&mut self) {
        let dst = self.register();
        if self.w.rng.percent(50) {
            // A constant's sign, which all have.
            let constant =
                Value::Const { bank: BANK, offset: 4 * self.w.rng.below(BANK_BYTES / 4) as i32, index: RZ };
            let operands = [(Role::Dst, reg(SCRATCH)), (Role::B, constant), (Role::Number, Value::Imm(15))];
            self.w.put(Opcode::Mov, Src::Const, &operands);
            self.compare(SCRATCH, RZ, IntCompare::Lt);
            let to = self.w.rng.below(PREDS.into()) as u8;
            let mode = self.w.rng.below(3) as u8;
            let made = ballot(RZ, to, TEST, false).and_then(|i| i.with_modifier(Mod::VoteMode, mode));
            return self.w.asm.inst(made);
        }
        let pred = self.w.rng.below(PREDS.into()) as u8;
        self.w.asm.inst(ballot(SCRATCH, 7, pred, false));
        self.w.asm.inst(ballot(SCRATCH2, 7, pred, true));
        let operands = [(Role::Dst, reg(dst)), (Role::A, reg(SCRATCH)), (Role::B, reg(SCRATCH2))];
        let made = inst(Opcode::Lop, Src::Reg, &operands);
        self.w.asm.inst(made.and_then(|i| i.with_modifier(Mod::LogicOp, LogicOp::And as u8)));
    }

    /// A shuffle across the warp: from the own lane, or one of the quad. Killed fragments are not there to ask.
    fn across(&mut self) {
        let (src, dst) = (self.register(), self.register());
        if self.kills || self.w.rng.percent(50) {
            let operands = [(Role::Dst, reg(SCRATCH)), (Role::A, Value::Special(0))];
            self.w.put(Opcode::S2r, Src::None, &operands);
            // SHFL.IDX by a register, the whole warp.
            let word = 0xef17_0000_2007_0000u64 | WARP << 34;
            let word = word | u64::from(SCRATCH) << 20 | u64::from(src) << 8 | u64::from(dst);
            return self.w.computing(word, ALWAYS);
        }
        let number = 1 + self.w.rng.below(3);
        self.w.computing(exchange(dst, src, false, number, WARP), ALWAYS);
    }

    /// What all registers hold, in the four that are put out.
    fn epilogue(&mut self) {
        for n in 4..REGISTERS {
            let operands = [(Role::Dst, reg(n % 4)), (Role::A, reg(n % 4)), (Role::B, reg(n))];
            let made = inst(Opcode::Lop, Src::Reg, &operands);
            self.w.asm.inst(made.and_then(|i| i.with_modifier(Mod::LogicOp, LogicOp::Xor as u8)));
        }
        self.w.asm.pop(Opcode::Exit, ALWAYS, CcTest::T);
    }
}

/// `VOTE.ANY` of a predicate.
fn ballot(dst: u8, to: u8, pred: u8, inverted: bool) -> Option<Inst> {
    let word = 0x50d9_0000_0007_0000u64 | u64::from(to) << 45 | u64::from(inverted) << 42;
    decode(8, word | u64::from(pred) << 39 | u64::from(dst)).ok()
}
