//! Random PICA200 programs, and the uniforms and inputs they run with.
//!
//! Every word of a program decodes. Programs end, unless their category says otherwise: backward jumps count rounds
//! in r15, which nothing else writes, against c95, and loops have few rounds.

mod shape;

use crate::rng::Rng;
use xenoglot_pica_shader::decode::encode;
use xenoglot_pica_shader::desc::{Component, Descriptor, Mask, Modifier, Swizzle};
use xenoglot_pica_shader::float::F24;
use xenoglot_pica_shader::inst::{
    Condition, ConditionMode, Dst, Format, Index, Inst, OPCODES, Opcode, Operands, Relation, Src, SrcReg,
};
use xenoglot_pica_shader::program::{MAX_CODE_WORDS, MAX_DESCRIPTORS, Program};

/// What a program is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// Arithmetic only, every opcode that computes.
    Straight,
    /// IFC, IFU, LOOP, BREAKC and calls, nested, with a harmless last word in each scope as assemblers pad them.
    Structured,
    /// Conditionals and loops made of JMPC and JMPU, with exits from loops.
    Jumps,
    /// Jumps from anywhere to anywhere: mostly irreducible. A few run for ever.
    Irreducible,
    /// Structured without padding and deeper than the stacks; every other one with ranges moved at random and jumps
    /// across their borders. Many run for ever.
    Scopes,
    /// One of the first three with SETEMIT and EMIT.
    Geometry,
    /// Random words. Many run for ever.
    Wild,
    /// What games do: skinning, transform, lights; no control flow.
    Typical,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 8] = [
        Category::Straight,
        Category::Structured,
        Category::Jumps,
        Category::Irreducible,
        Category::Scopes,
        Category::Geometry,
        Category::Wild,
        Category::Typical,
    ];
}

/// A generated program.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Words and descriptors.
    pub program: Program,
    /// Word address of the entry point.
    pub entry: u32,
    /// For geometry programs, what EMIT copies: bit n is o`n`.
    pub geometry: Option<u16>,
}

/// Most words of a program: a program counter of 4095 ends it.
pub const MAX_WORDS: u32 = MAX_CODE_WORDS as u32 - 1;

/// A program of random category and size, 1 to `max_words` words; small ones are likelier.
pub fn random(rng: &mut Rng, max_words: u32) -> (Category, Sample) {
    let category = Category::ALL[rng.below(Category::ALL.len() as u32) as usize];
    let top = max_words.clamp(1, MAX_WORDS) >> rng.below(6);
    let words = 1 + rng.below(top.max(1));
    (category, program(rng, category, words))
}

/// A program of the category with `words` words, 1 to [`MAX_WORDS`].
pub fn program(rng: &mut Rng, category: Category, words: u32) -> Sample {
    let words = words.clamp(1, MAX_WORDS) as usize;
    let mut w = Writer::new(rng);
    let entry = match category {
        Category::Straight => w.straight(words),
        Category::Structured => w.structured(words, true),
        Category::Jumps => w.jumping(words),
        Category::Irreducible => w.irreducible(words),
        Category::Scopes => {
            let entry = w.structured(words, false);
            if w.rng.percent(50) {
                w.disturb();
            }
            entry
        }
        Category::Geometry => {
            w.emits = true;
            match w.rng.below(3) {
                0 => w.straight(words),
                1 => w.structured(words, true),
                _ => w.jumping(words),
            }
        }
        Category::Wild => w.wild(words),
        Category::Typical => w.typical(words),
    };
    let wild_geometry = category == Category::Wild && w.rng.percent(30);
    let mask = w.rng.next_u32() as u16;
    let geometry = (category == Category::Geometry || wild_geometry).then_some(mask);
    let Writer { code, descriptors, .. } = w;
    debug_assert_eq!(code.len(), words);
    Sample { program: Program { code, descriptors }, entry, geometry }
}

/// Uniforms and inputs; floats as the bits of IEEE singles, all of them values of the unit's 24-bit format.
#[derive(Clone, Debug)]
pub struct Environment {
    /// c0 to c95.
    pub floats: [[u32; 4]; 96],
    /// i0 to i3, x y z w each.
    pub ints: [[u8; 4]; 4],
    /// Bit n is b`n`.
    pub bools: u16,
    /// v0 to v15.
    pub inputs: [[u32; 4]; 16],
}

/// A random environment. c94 is 1 and c95 a small number of rounds, as guarded jumps want them.
pub fn environment(rng: &mut Rng) -> Environment {
    let mut floats = std::array::from_fn(|_| vector(rng));
    floats[usize::from(ONE)] = [1f32.to_bits(); 4];
    floats[usize::from(ROUNDS)] = [(1.0 + rng.below(6) as f32).to_bits(); 4];
    let ints = std::array::from_fn(|_| {
        let count = if rng.percent(3) { rng.next_u32() as u8 } else { rng.below(4) as u8 };
        let start = if rng.percent(20) { rng.next_u32() as u8 } else { rng.below(16) as u8 };
        let step = if rng.percent(10) { rng.next_u32() as u8 } else { rng.below(4) as u8 };
        [count, start, step, rng.next_u32() as u8]
    });
    let bools = rng.next_u32() as u16;
    Environment { floats, ints, bools, inputs: std::array::from_fn(|_| vector(rng)) }
}

fn vector(rng: &mut Rng) -> [u32; 4] {
    // Vectors of usual numbers keep computations from ending in NaN at once.
    let plain = rng.percent(70);
    std::array::from_fn(|_| F24.to_single_bits(if plain { usual(rng) } else { number(rng) }))
}

/// A small multiple of a quarter, or a number of magnitude 2^-6 to 2^6.
fn usual(rng: &mut Rng) -> u32 {
    if rng.percent(50) {
        let quarters = rng.below(129) as f32 - 64.0;
        let single = (quarters / 4.0).to_bits();
        let (sign, exponent, mantissa) = (single >> 31, single >> 23 & 0xff, single >> 7 & 0xffff);
        return sign << 23 | exponent.saturating_sub(127 - 63) << 16 | mantissa;
    }
    (rng.below(2) << 23) | (57 + rng.below(13)) << 16 | rng.below(1 << 16)
}

/// Any number of the 24-bit format, special ones likelier.
fn number(rng: &mut Rng) -> u32 {
    const SPECIAL: [u32; 10] = [
        0, 0x80_0000, 0x3f_0000, 0xbf_0000, 0x7f_0000, 0xff_0000, 0x7f_8000, 0x7e_ffff, 0x01_0000, 0x00_0001,
    ];
    match rng.below(10) {
        0..3 => SPECIAL[rng.below(SPECIAL.len() as u32) as usize],
        3..5 => rng.next_u32() & 0xff_ffff,
        5 => rng.next_u32() & 0x80_ffff,
        _ => usual(rng),
    }
}

/// The temporary that counts rounds of backward jumps.
const COUNTER: u8 = 15;
/// The uniform that is 1.
const ONE: u8 = 94;
/// The uniform with the number of rounds.
const ROUNDS: u8 = 95;

/// Opcodes that compute, with their weights.
const ARITHMETIC: &[(Opcode, u32)] = &[
    (Opcode::Mov, 14),
    (Opcode::Add, 12),
    (Opcode::Mul, 12),
    (Opcode::Mad, 10),
    (Opcode::Madi, 5),
    (Opcode::Dp4, 8),
    (Opcode::Dp3, 5),
    (Opcode::Dph, 3),
    (Opcode::Dphi, 2),
    (Opcode::Cmp, 8),
    (Opcode::Mova, 4),
    (Opcode::Max, 3),
    (Opcode::Min, 3),
    (Opcode::Sge, 2),
    (Opcode::Slt, 2),
    (Opcode::Sgei, 1),
    (Opcode::Slti, 1),
    (Opcode::Flr, 2),
    (Opcode::Rcp, 2),
    (Opcode::Rsq, 2),
    (Opcode::Ex2, 1),
    (Opcode::Lg2, 1),
    (Opcode::Lit, 1),
    (Opcode::Dst, 1),
    (Opcode::Dsti, 1),
];

/// A program under construction.
struct Writer<'r> {
    rng: &'r mut Rng,
    code: Vec<u32>,
    descriptors: Vec<u32>,
    /// Whether SETEMIT and EMIT stand among the instructions that compute.
    emits: bool,
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng) -> Writer<'r> {
        let mut w = Writer { rng, code: Vec::new(), descriptors: Vec::new(), emits: false };
        // Those of the guards come first: every opcode reaches them.
        w.descriptor(Descriptor::new(Mask::ALL, [Modifier::PLAIN; 3]), MAD_DESCRIPTORS);
        w.descriptor(X_ONLY, MAD_DESCRIPTORS);
        w
    }

    fn here(&self) -> u16 {
        self.code.len() as u16
    }

    fn put(&mut self, op: Opcode, operands: Operands) {
        self.put_with(op, operands, 0);
    }

    fn put_with(&mut self, op: Opcode, operands: Operands, ignored: u32) {
        self.code.push(word(op, operands, ignored));
    }

    /// The index of a descriptor, below `limit`. When the table is full, that of another one.
    fn descriptor(&mut self, d: Descriptor, limit: usize) -> u8 {
        let reach = self.descriptors.len().min(limit);
        if let Some(at) = self.descriptors[..reach].iter().position(|&have| have == d.0) {
            return at as u8;
        }
        if self.descriptors.len() >= limit {
            return self.rng.below(limit as u32) as u8;
        }
        self.descriptors.push(d.0);
        reach as u8
    }

    fn modifier(&mut self) -> Modifier {
        let swizzle = match self.rng.below(10) {
            0..5 => Swizzle::IDENTITY,
            5..7 => Swizzle::new([Component::from_bits(self.rng.below(4)); 4]),
            _ => Swizzle::from_bits(self.rng.next_u32() as u8),
        };
        Modifier { swizzle, negate: self.rng.percent(20) }
    }

    fn random_descriptor(&mut self, op: Opcode) -> u8 {
        let limit = match op {
            Opcode::Mad | Opcode::Madi => MAD_DESCRIPTORS,
            _ => MAX_DESCRIPTORS,
        };
        let reach = self.descriptors.len().min(limit) as u32;
        if self.rng.percent(50) {
            return self.rng.below(reach) as u8;
        }
        let mask = if self.rng.percent(40) { Mask::ALL } else { Mask::from_bits(self.rng.below(16) as u8) };
        let sources = [self.modifier(), self.modifier(), self.modifier()];
        self.descriptor(Descriptor::new(mask, sources), limit)
    }

    fn dst(&mut self) -> Dst {
        if self.rng.percent(35) {
            Dst::Output(self.rng.below(16) as u8)
        } else {
            Dst::Temp(self.rng.below(COUNTER.into()) as u8)
        }
    }

    fn narrow(&mut self) -> Src {
        Src::plain(SrcReg::from_bits(self.rng.below(0x20)))
    }

    fn wide(&mut self) -> Src {
        if self.rng.percent(50) {
            return self.narrow();
        }
        let index = if self.rng.percent(25) { Index::from_bits(self.rng.below(4)) } else { Index::None };
        Src { reg: SrcReg::Const(self.rng.below(96) as u8), index }
    }

    fn condition(&mut self) -> Condition {
        const MODES: [ConditionMode; 4] =
            [ConditionMode::Or, ConditionMode::And, ConditionMode::X, ConditionMode::Y];
        let bits = self.rng.below(16);
        Condition { x: bits & 1 != 0, y: bits & 2 != 0, mode: MODES[(bits >> 2) as usize] }
    }

    fn relation(&mut self) -> Relation {
        let known = if self.rng.percent(3) { 8 } else { 6 };
        Relation::from_bits(self.rng.below(known))
    }

    /// Random operands for an operation; targets are below `targets`.
    fn operands(&mut self, op: Opcode, targets: u32) -> Operands {
        let target = |w: &mut Self| w.rng.below(targets.max(1)) as u16;
        let count = |w: &mut Self| w.rng.below(24) as u8;
        match op.format() {
            Format::Nullary => Operands::Nullary,
            Format::Unary => {
                Operands::Unary { dst: self.dst(), src: self.wide(), desc: self.random_descriptor(op) }
            }
            Format::MoveAddress => {
                Operands::MoveAddress { src: self.wide(), desc: self.random_descriptor(op) }
            }
            Format::Binary => {
                let (dst, src) = (self.dst(), [self.wide(), self.narrow()]);
                Operands::Binary { dst, src, desc: self.random_descriptor(op) }
            }
            Format::BinaryInverted => {
                let (dst, src) = (self.dst(), [self.narrow(), self.wide()]);
                Operands::Binary { dst, src, desc: self.random_descriptor(op) }
            }
            Format::Compare => {
                let (src, x, y) = ([self.wide(), self.narrow()], self.relation(), self.relation());
                Operands::Compare { src, x, y, desc: self.random_descriptor(op) }
            }
            Format::Mad => {
                let (dst, src) = (self.dst(), [self.narrow(), self.wide(), self.narrow()]);
                Operands::Mad { dst, src, desc: self.random_descriptor(op) }
            }
            Format::MadInverted => {
                let (dst, src) = (self.dst(), [self.narrow(), self.narrow(), self.wide()]);
                Operands::Mad { dst, src, desc: self.random_descriptor(op) }
            }
            Format::Condition => Operands::Condition { cond: self.condition() },
            Format::Range => Operands::Range { target: target(self), count: count(self) },
            Format::ConditionRange => {
                Operands::ConditionRange { cond: self.condition(), target: target(self), count: count(self) }
            }
            Format::ConditionTarget => {
                Operands::ConditionTarget { cond: self.condition(), target: target(self) }
            }
            Format::BoolRange => Operands::BoolRange {
                uniform: self.rng.below(16) as u8,
                target: target(self),
                count: count(self),
            },
            Format::BoolTarget => Operands::BoolTarget {
                uniform: self.rng.below(16) as u8,
                value: self.rng.percent(50),
                target: target(self),
            },
            Format::Loop => Operands::Loop { uniform: self.rng.below(4) as u8, target: target(self) },
            Format::SetEmit => Operands::SetEmit {
                vertex: if self.rng.percent(3) { 3 } else { self.rng.below(3) as u8 },
                primitive: self.rng.percent(40),
                winding: self.rng.percent(30),
            },
        }
    }

    /// One instruction that computes.
    fn arithmetic(&mut self) {
        if self.emits && self.rng.percent(20) {
            let op = if self.rng.percent(50) { Opcode::Emit } else { Opcode::Setemit };
            let operands = self.operands(op, 0);
            return self.put(op, operands);
        }
        let total = ARITHMETIC.iter().map(|&(_, weight)| weight).sum();
        let mut at = self.rng.below(total);
        let op = ARITHMETIC.iter().find(|&&(_, weight)| match at.checked_sub(weight) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        });
        let op = op.map_or(Opcode::Mov, |&(op, _)| op);
        let operands = self.operands(op, 0);
        self.put(op, operands);
    }

    fn straight(&mut self, words: usize) -> u32 {
        while self.code.len() + 1 < words {
            self.arithmetic();
        }
        self.put(Opcode::End, Operands::Nullary);
        0
    }

    fn wild(&mut self, words: usize) -> u32 {
        while self.code.len() < words {
            let op = OPCODES[self.rng.below(OPCODES.len() as u32) as usize].op;
            // Control flow would leave little else.
            if op == Opcode::End && self.rng.percent(50) || self.rng.percent(40) {
                self.arithmetic();
                continue;
            }
            let operands = self.operands(op, words as u32 + 1);
            let ignored = if self.rng.percent(20) { self.rng.next_u32() } else { 0 };
            self.put_with(op, operands, ignored & !op.format().used_bits());
        }
        self.rng.below(words as u32)
    }
}

/// Descriptors that MAD and MADI reach.
const MAD_DESCRIPTORS: usize = 32;

/// Writes x, reads plainly.
const X_ONLY: Descriptor = Descriptor(0x8 | 0x1b << 5 | 0x1b << 14 | 0x1b << 23);
/// Its place in every program.
const X_ONLY_AT: u8 = 1;

/// The word of an instruction made here.
///
/// # Panics
/// When the operands are not those of the operation, which is a mistake of the generator.
fn word(op: Opcode, operands: Operands, ignored: u32) -> u32 {
    encode(&Inst { op, operands, ignored }).unwrap_or_else(|e| panic!("{operands:?}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn programs_have_the_size_asked_for_and_decode() {
        for category in Category::ALL {
            let mut opcodes = BTreeSet::new();
            for seed in 0..200 {
                let mut rng = Rng::new(seed);
                let words = match seed {
                    0..100 => seed as u32 + 1,
                    199 => MAX_WORDS,
                    _ => 1 + rng.below(700),
                };
                let sample = program(&mut rng, category, words);
                assert_eq!(sample.program.code.len() as u32, words, "{category:?} {seed}");
                assert!(sample.entry < words && sample.program.descriptors.len() <= MAX_DESCRIPTORS);
                for pc in 0..words {
                    opcodes.insert(sample.program.inst(pc).unwrap().op.name());
                }
            }
            let has = |op: Opcode| opcodes.contains(op.name());
            if category != Category::Typical {
                assert!(ARITHMETIC.iter().all(|&(op, _)| has(op)), "{category:?}: {opcodes:?}");
            }
            let flow = [Opcode::Call, Opcode::Callc, Opcode::Callu, Opcode::Ifu, Opcode::Ifc, Opcode::Loop];
            let scopes = !matches!(
                category,
                Category::Straight | Category::Jumps | Category::Irreducible | Category::Typical
            );
            assert!(flow.iter().all(|&op| has(op) == scopes), "{category:?}: {opcodes:?}");
            if category == Category::Wild {
                assert_eq!(opcodes.len(), OPCODES.len());
            }
        }
    }

    #[test]
    fn environments_are_of_the_24_bit_format() {
        use xenoglot_pica_shader::float::Denormals;
        let mut rng = Rng::new(1);
        for _ in 0..100 {
            let e = environment(&mut rng);
            for &bits in e.floats.iter().chain(&e.inputs).flatten() {
                let value = f32::from_bits(bits);
                let back = F24.to_f32(F24.from_f32(value, Denormals::Keep));
                assert!(value.is_nan() || back.to_bits() == bits, "{bits:#x}");
            }
        }
    }
}
