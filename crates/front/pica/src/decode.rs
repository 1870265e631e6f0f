//! Words to instructions and back.
//!
//! Both directions name the same `Field`s, and the bits that no field of a format covers travel in
//! [`Inst::ignored`], so `encode(&decode(..)?)` gives the word back for every word that decodes.

use crate::inst::{
    Condition, ConditionMode, Dst, Format, Index, Inst, OPCODES, Opcode, Operands, Relation, Src, SrcReg,
};
use thiserror::Error;

/// Why a word is not an instruction.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// No row of the opcode table matches.
    #[error("{offset:#06x}: {word:#010x} is not an instruction (opcode {:#04x})", word >> 26)]
    UnknownOpcode {
        /// Byte offset in the program.
        offset: usize,
        /// The word found there.
        word: u32,
    },
}

/// Why an instruction has no word.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    /// The operands are those of another format.
    #[error("{0} does not take these operands")]
    Operands(&'static str),
    /// A number does not fit its field.
    #[error("{what} {value} is out of range (at most {max})")]
    Range {
        /// The field.
        what: &'static str,
        /// The number.
        value: u32,
        /// The greatest number the field holds.
        max: u32,
    },
    /// A register that does not exist, or not in this kind of field.
    #[error("register {0} cannot stand here: only the wide source reaches uniforms")]
    Narrow(SrcReg),
    /// A register number beyond its file.
    #[error("there is no register {0}")]
    NoSource(SrcReg),
    /// A register number beyond its file.
    #[error("there is no register {0}")]
    NoDestination(Dst),
    /// An index on a source other than the wide one.
    #[error("only the wide source can be indexed")]
    NarrowIndex,
    /// `ignored` sets bits that operands own.
    #[error("ignored bits {0:#010x} overlap the operands")]
    Ignored(u32),
}

/// A run of bits in a word.
#[derive(Clone, Copy)]
struct Field {
    hi: u32,
    lo: u32,
}

impl Field {
    const fn max(self) -> u32 {
        (1 << (self.hi - self.lo + 1)) - 1
    }

    const fn bits(self) -> u32 {
        self.max() << self.lo
    }

    fn get(self, word: u32) -> u32 {
        (word >> self.lo) & self.max()
    }

    fn put(self, what: &'static str, value: u32) -> Result<u32, EncodeError> {
        if value > self.max() {
            return Err(EncodeError::Range { what, value, max: self.max() });
        }
        Ok(value << self.lo)
    }
}

/// Bits `hi` down to `lo`, both included.
const fn f(hi: u32, lo: u32) -> Field {
    Field { hi, lo }
}

const OPCODE: Field = f(31, 26);

/// The fields shared by the formats that compute.
struct Arithmetic {
    dst: Field,
    index: Field,
    src: [Field; 3],
    desc: Field,
    /// Which source is wide.
    wide: usize,
}

const FORMAT_1: Arithmetic = Arithmetic {
    dst: f(25, 21),
    index: f(20, 19),
    src: [f(18, 12), f(11, 7), f(0, 0)],
    desc: f(6, 0),
    wide: 0,
};
const FORMAT_1I: Arithmetic = Arithmetic { src: [f(18, 14), f(13, 7), f(0, 0)], wide: 1, ..FORMAT_1 };
const FORMAT_MAD: Arithmetic = Arithmetic {
    dst: f(28, 24),
    index: f(23, 22),
    src: [f(21, 17), f(16, 10), f(9, 5)],
    desc: f(4, 0),
    wide: 1,
};
const FORMAT_MADI: Arithmetic = Arithmetic { src: [f(21, 17), f(16, 12), f(11, 5)], wide: 2, ..FORMAT_MAD };

const RELATION_X: Field = f(26, 24);
const RELATION_Y: Field = f(23, 21);
const FLAG_X: Field = f(25, 25);
const FLAG_Y: Field = f(24, 24);
const MODE: Field = f(23, 22);
const BOOL: Field = f(25, 22);
const INT: Field = f(23, 22);
const TARGET: Field = f(21, 10);
const COUNT: Field = f(7, 0);
/// JMPU jumps on false if this lowest bit of the count is set.
const JUMP_IF_FALSE: Field = f(0, 0);
const VERTEX: Field = f(25, 24);
const PRIMITIVE: Field = f(23, 23);
const WINDING: Field = f(22, 22);

impl Format {
    /// The bits that the opcode and the operands own.
    pub const fn used_bits(self) -> u32 {
        const CONDITION: u32 = FLAG_X.bits() | FLAG_Y.bits() | MODE.bits();
        let op = OPCODE.bits();
        match self {
            Format::Nullary => op,
            Format::Unary => op | FORMAT_1.dst.bits() | FORMAT_1.one_source(),
            Format::MoveAddress => op | FORMAT_1.one_source(),
            // Format 1 and the compare and MAD layouts leave no bit over.
            Format::Binary | Format::BinaryInverted | Format::Compare | Format::Mad | Format::MadInverted => {
                !0
            }
            Format::Condition => op | CONDITION,
            Format::Range => op | TARGET.bits() | COUNT.bits(),
            Format::ConditionRange => op | CONDITION | TARGET.bits() | COUNT.bits(),
            Format::ConditionTarget => op | CONDITION | TARGET.bits(),
            Format::BoolRange => op | BOOL.bits() | TARGET.bits() | COUNT.bits(),
            Format::BoolTarget => op | BOOL.bits() | TARGET.bits() | JUMP_IF_FALSE.bits(),
            Format::Loop => op | INT.bits() | TARGET.bits(),
            Format::SetEmit => op | VERTEX.bits() | PRIMITIVE.bits() | WINDING.bits(),
        }
    }
}

impl Arithmetic {
    const fn one_source(&self) -> u32 {
        self.index.bits() | self.src[0].bits() | self.desc.bits()
    }

    fn get_src(&self, word: u32, n: usize) -> Src {
        let index = if n == self.wide { Index::from_bits(self.index.get(word)) } else { Index::None };
        Src { reg: SrcReg::from_bits(self.src[n].get(word)), index }
    }

    fn get_desc(&self, word: u32) -> u8 {
        self.desc.get(word) as u8
    }

    fn put_dst(&self, dst: Dst) -> Result<u32, EncodeError> {
        self.dst.put("destination", dst.bits().ok_or(EncodeError::NoDestination(dst))?)
    }

    fn put_srcs(&self, srcs: &[Src]) -> Result<u32, EncodeError> {
        let mut word = 0;
        for (n, (src, field)) in srcs.iter().zip(self.src).enumerate() {
            let bits = src.reg.bits().ok_or(EncodeError::NoSource(src.reg))?;
            if bits > field.max() {
                return Err(EncodeError::Narrow(src.reg));
            }
            word |= bits << field.lo;
            match src.index {
                Index::None => {}
                index if n == self.wide => word |= (index as u32) << self.index.lo,
                _ => return Err(EncodeError::NarrowIndex),
            }
        }
        Ok(word)
    }

    fn put_desc(&self, desc: u8) -> Result<u32, EncodeError> {
        self.desc.put("operand descriptor", desc.into())
    }
}

/// The table row of each value of bits 31:26.
const BY_OPCODE: [Option<Opcode>; 64] = {
    let mut table = [None; 64];
    let mut i = 0;
    while i < OPCODES.len() {
        let mut code = OPCODES[i].first;
        while code <= OPCODES[i].last {
            table[code as usize] = Some(OPCODES[i].op);
            code += 1;
        }
        i += 1;
    }
    table
};

/// Decodes one word; `offset` is its byte offset in the program and only goes into the error.
pub fn decode(offset: usize, word: u32) -> Result<Inst, DecodeError> {
    let op = BY_OPCODE[OPCODE.get(word) as usize].ok_or(DecodeError::UnknownOpcode { offset, word })?;
    let format = op.format();
    let condition = Condition {
        x: FLAG_X.get(word) != 0,
        y: FLAG_Y.get(word) != 0,
        mode: [ConditionMode::Or, ConditionMode::And, ConditionMode::X, ConditionMode::Y]
            [MODE.get(word) as usize],
    };
    let target = TARGET.get(word) as u16;
    let count = COUNT.get(word) as u8;
    let uniform = BOOL.get(word) as u8;
    let operands = match format {
        Format::Nullary => Operands::Nullary,
        Format::Unary => Operands::Unary {
            dst: Dst::from_bits(FORMAT_1.dst.get(word)),
            src: FORMAT_1.get_src(word, 0),
            desc: FORMAT_1.get_desc(word),
        },
        Format::MoveAddress => {
            Operands::MoveAddress { src: FORMAT_1.get_src(word, 0), desc: FORMAT_1.get_desc(word) }
        }
        Format::Binary | Format::BinaryInverted => {
            let layout = if format == Format::Binary { &FORMAT_1 } else { &FORMAT_1I };
            Operands::Binary {
                dst: Dst::from_bits(layout.dst.get(word)),
                src: [0, 1].map(|n| layout.get_src(word, n)),
                desc: layout.get_desc(word),
            }
        }
        Format::Compare => Operands::Compare {
            src: [0, 1].map(|n| FORMAT_1.get_src(word, n)),
            x: Relation::from_bits(RELATION_X.get(word)),
            y: Relation::from_bits(RELATION_Y.get(word)),
            desc: FORMAT_1.get_desc(word),
        },
        Format::Mad | Format::MadInverted => {
            let layout = if format == Format::Mad { &FORMAT_MAD } else { &FORMAT_MADI };
            Operands::Mad {
                dst: Dst::from_bits(layout.dst.get(word)),
                src: [0, 1, 2].map(|n| layout.get_src(word, n)),
                desc: layout.get_desc(word),
            }
        }
        Format::Condition => Operands::Condition { cond: condition },
        Format::Range => Operands::Range { target, count },
        Format::ConditionRange => Operands::ConditionRange { cond: condition, target, count },
        Format::ConditionTarget => Operands::ConditionTarget { cond: condition, target },
        Format::BoolRange => Operands::BoolRange { uniform, target, count },
        Format::BoolTarget => Operands::BoolTarget { uniform, value: JUMP_IF_FALSE.get(word) == 0, target },
        Format::Loop => Operands::Loop { uniform: INT.get(word) as u8, target },
        Format::SetEmit => Operands::SetEmit {
            vertex: VERTEX.get(word) as u8,
            primitive: PRIMITIVE.get(word) != 0,
            winding: WINDING.get(word) != 0,
        },
    };
    Ok(Inst { op, operands, ignored: word & !format.used_bits() })
}

/// The word of an instruction; the inverse of [`decode`].
pub fn encode(inst: &Inst) -> Result<u32, EncodeError> {
    let format = inst.op.format();
    if inst.ignored & format.used_bits() != 0 {
        return Err(EncodeError::Ignored(inst.ignored));
    }
    let target = |t: u16| TARGET.put("target", t.into());
    let count = |n: u8| COUNT.put("count", n.into());
    let boolean = |b: u8| BOOL.put("bool uniform", b.into());
    let operands = match (format, inst.operands) {
        (Format::Nullary, Operands::Nullary) => 0,
        (Format::Unary, Operands::Unary { dst, src, desc }) => {
            FORMAT_1.put_dst(dst)? | FORMAT_1.put_srcs(&[src])? | FORMAT_1.put_desc(desc)?
        }
        (Format::MoveAddress, Operands::MoveAddress { src, desc }) => {
            FORMAT_1.put_srcs(&[src])? | FORMAT_1.put_desc(desc)?
        }
        (Format::Binary | Format::BinaryInverted, Operands::Binary { dst, src, desc }) => {
            let layout = if format == Format::Binary { &FORMAT_1 } else { &FORMAT_1I };
            layout.put_dst(dst)? | layout.put_srcs(&src)? | layout.put_desc(desc)?
        }
        (Format::Compare, Operands::Compare { src, x, y, desc }) => {
            FORMAT_1.put_srcs(&src)?
                | FORMAT_1.put_desc(desc)?
                | RELATION_X.put("relation", x as u32)?
                | RELATION_Y.put("relation", y as u32)?
        }
        (Format::Mad | Format::MadInverted, Operands::Mad { dst, src, desc }) => {
            let layout = if format == Format::Mad { &FORMAT_MAD } else { &FORMAT_MADI };
            layout.put_dst(dst)? | layout.put_srcs(&src)? | layout.put_desc(desc)?
        }
        (Format::Condition, Operands::Condition { cond }) => put_condition(cond),
        (Format::Range, Operands::Range { target: t, count: n }) => target(t)? | count(n)?,
        (Format::ConditionRange, Operands::ConditionRange { cond, target: t, count: n }) => {
            put_condition(cond) | target(t)? | count(n)?
        }
        (Format::ConditionTarget, Operands::ConditionTarget { cond, target: t }) => {
            put_condition(cond) | target(t)?
        }
        (Format::BoolRange, Operands::BoolRange { uniform, target: t, count: n }) => {
            boolean(uniform)? | target(t)? | count(n)?
        }
        (Format::BoolTarget, Operands::BoolTarget { uniform, value, target: t }) => {
            boolean(uniform)? | target(t)? | u32::from(!value) << JUMP_IF_FALSE.lo
        }
        (Format::Loop, Operands::Loop { uniform, target: t }) => {
            INT.put("int uniform", uniform.into())? | target(t)?
        }
        (Format::SetEmit, Operands::SetEmit { vertex, primitive, winding }) => {
            VERTEX.put("vertex", vertex.into())?
                | u32::from(primitive) << PRIMITIVE.lo
                | u32::from(winding) << WINDING.lo
        }
        _ => return Err(EncodeError::Operands(inst.op.name())),
    };
    Ok(u32::from(inst.op.info().first) << OPCODE.lo | operands | inst.ignored)
}

fn put_condition(cond: Condition) -> u32 {
    u32::from(cond.x) << FLAG_X.lo | u32::from(cond.y) << FLAG_Y.lo | (cond.mode as u32) << MODE.lo
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn compare_overlaps_its_opcode_with_the_x_relation() {
        // 2F: the opcode's low bit is bit 2 of the x relation, here 5 (ge); y is 1 (ne).
        let word = 0x2f << 26 | 1 << 24 | 1 << 21 | 0x21 << 12 | 0x12 << 7 | 9;
        let inst = decode(0, word).unwrap();
        assert_eq!(inst.op, Opcode::Cmp);
        assert_eq!(
            inst.operands,
            Operands::Compare {
                src: [Src::plain(SrcReg::Const(1)), Src::plain(SrcReg::Temp(2))],
                x: Relation::Ge,
                y: Relation::Ne,
                desc: 9,
            }
        );
    }

    #[test]
    fn mad_indexes_its_second_source_and_madi_its_third() {
        let mad = decode(0, 7 << 29 | 0x13 << 24 | 1 << 22 | 2 << 17 | 0x25 << 10 | 0x11 << 5 | 31).unwrap();
        assert_eq!(
            mad.operands,
            Operands::Mad {
                dst: Dst::Temp(3),
                src: [
                    Src::plain(SrcReg::Input(2)),
                    Src { reg: SrcReg::Const(5), index: Index::A0x },
                    Src::plain(SrcReg::Temp(1)),
                ],
                desc: 31,
            }
        );
        let madi = decode(0, 6 << 29 | 0x04 << 24 | 3 << 22 | 2 << 17 | 0x11 << 12 | 0x7f << 5).unwrap();
        assert_eq!(
            madi.operands,
            Operands::Mad {
                dst: Dst::Output(4),
                src: [
                    Src::plain(SrcReg::Input(2)),
                    Src::plain(SrcReg::Temp(1)),
                    Src { reg: SrcReg::Const(95), index: Index::Al },
                ],
                desc: 0,
            }
        );
    }

    #[test]
    fn jump_sense_is_the_lowest_bit_of_the_count() {
        let inst = decode(0, 0x2d << 26 | 5 << 22 | 0x123 << 10 | 0xf1).unwrap();
        assert_eq!(inst.operands, Operands::BoolTarget { uniform: 5, value: false, target: 0x123 });
        assert_eq!(inst.ignored, 0xf0);
    }

    #[test]
    fn an_unknown_word_is_named_with_its_place() {
        let e = decode(8, 0x4000_0001).unwrap_err();
        assert_eq!(e.to_string(), "0x0008: 0x40000001 is not an instruction (opcode 0x10)");
    }

    #[test]
    fn what_has_no_word_is_refused() {
        let add = |src| Inst {
            op: Opcode::Add,
            operands: Operands::Binary { dst: Dst::Temp(0), src, desc: 0 },
            ignored: 0,
        };
        let (c, v) = (Src::plain(SrcReg::Const(7)), Src::plain(SrcReg::Input(0)));
        assert_eq!(encode(&add([v, c])), Err(EncodeError::Narrow(SrcReg::Const(7))));
        assert_eq!(encode(&add([c, Src { index: Index::A0x, ..v }])), Err(EncodeError::NarrowIndex));
        assert_eq!(
            encode(&add([Src::plain(SrcReg::Const(96)), v])),
            Err(EncodeError::NoSource(SrcReg::Const(96)))
        );
        let end = Inst {
            op: Opcode::End,
            operands: Operands::SetEmit { vertex: 0, primitive: false, winding: false },
            ignored: 0,
        };
        assert_eq!(encode(&end), Err(EncodeError::Operands("end")));
    }

    #[test]
    fn every_opcode_decodes_or_is_unknown() {
        let known = (0..64u32).filter(|op| decode(0, op << 26).is_ok()).count();
        // 00-0F, 12, 13, 18-1B, 20-3F.
        assert_eq!(known, 16 + 2 + 4 + 32);
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(4096))]
        #[test]
        fn encoding_gives_the_word_back(word: u32) {
            if let Ok(inst) = decode(0, word) {
                prop_assert_eq!(encode(&inst), Ok(word));
            }
        }
    }
}
