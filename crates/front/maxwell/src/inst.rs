//! Typed instructions.

use crate::isa::{self, FORMS, FormId};
use crate::modifier::{CcTest, Mod, ModifierValue, Reserved};
use crate::opcode::Opcode;
use smallvec::SmallVec;

/// The register that reads 0 and drops what is written to it.
pub const RZ: u8 = 255;

/// The predicate that is always true.
pub const PT: u8 = 7;

/// The predicate in front of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// 0 to 6, or [`PT`].
    pub pred: u8,
    /// The instruction runs where the predicate is false.
    pub not: bool,
}

impl Guard {
    /// The instruction runs in every lane.
    pub const fn is_always(self) -> bool {
        self.pred == PT && !self.not
    }

    /// `@!PT`: the instruction runs in no lane.
    pub const fn is_never(self) -> bool {
        self.pred == PT && self.not
    }
}

/// What an operand is to its instruction. An instruction has at most one operand of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The destination: a register, the first of as many as the operation writes. Of MEM stores there is none.
    Dst,
    /// The second destination tuple (TEXS, TLDS, TLD4S).
    Dst2,
    /// The predicate written: the comparison, the carry-less flag, the residency of a sparse texture.
    DstPred,
    /// The second predicate written: SETP's complement combined with the source predicate.
    DstPred2,
    /// First source.
    A,
    /// Second source.
    B,
    /// Third source.
    C,
    /// The source predicate: combined by SETP, the selector of SEL and MNMX.
    Pred,
    /// First of the two predicates that PSET and PSETP combine before [`Role::Pred`].
    PredA,
    /// Second of them.
    PredB,
    /// The predicate file or the condition codes (P2R, R2P).
    File,
    /// The vertex whose attribute ALD and AST access.
    Vertex,
    /// An address in memory, of an attribute, or of a surface.
    Address,
    /// What a store, an atomic or a surface store takes: the first register of a tuple.
    Data,
    /// A small number that is part of the operation: shift of ISCADD and LEA, table of LOP3, mask of SHFL …
    Number,
    /// A second such number.
    Number2,
    /// The texture or surface's handle: a word index into the handle constant buffer, or a register.
    Handle,
    /// The second register tuple of a texture fetch.
    Extra,
    /// The components a texture fetch writes, as bits R G B A from 0 (TEX …), not by [`Mod::Components`].
    Mask,
    /// Where a flow operation goes or what it pushes.
    Target,
    /// The condition-code test of a flow operation ([`Value::Cc`]); absent means always.
    Cc,
}

/// The part of a register, or the arrangement of its halves, that an operand takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it. Of a packed half operation: both halves in place.
    #[default]
    Full,
    /// Lower 16 bits.
    H0,
    /// Upper 16 bits.
    H1,
    /// Byte 0.
    B0,
    /// Byte 1.
    B1,
    /// Byte 2.
    B2,
    /// Byte 3.
    B3,
    /// The lower half, twice.
    H0H0,
    /// The upper half, twice.
    H1H1,
    /// A single, in place of both halves.
    F32,
    /// Four bytes, a hexadecimal digit each from the lowest: 0 to 3 are those of A, 4 to 7 those of B (VABSDIFF4).
    Bytes(u16),
    /// A choice the ISA reserves.
    Reserved,
}

/// What an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Register 0 to 254, or [`RZ`]. Pairs and quadruples are named by their first.
    Reg(u8),
    /// Predicate 0 to 6, or [`PT`].
    Pred(u8),
    /// A constant buffer's word: bank, byte offset with an index register ([`RZ`] for none).
    Const {
        /// Bank 0 to 31.
        bank: u8,
        /// Byte offset, sign-extended from 16 bits as the vendor prints it.
        offset: i32,
        /// LDC's register; [`RZ`] otherwise.
        index: u8,
    },
    /// An integer, already sign-extended as the operand is defined.
    Imm(u32),
    /// A single by its bits.
    F32(u32),
    /// A double by its bits.
    F64(u64),
    /// A half by its bits.
    F16(u16),
    /// Two halves by their bits; the low half is that of the lower lane.
    F16x2 {
        /// Lower lane.
        lo: u16,
        /// Upper lane.
        hi: u16,
    },
    /// Memory at a register plus a byte offset.
    Mem {
        /// The register; with `wide` the first of a pair.
        base: u8,
        /// Byte offset; without a register the absolute address, as `u32`.
        offset: i32,
        /// The address has 64 bits.
        wide: bool,
    },
    /// A shader attribute at a byte offset plus a register.
    Attr {
        /// Byte offset, 0 to 1023 (signed where the form has more bits).
        offset: i32,
        /// Index register, [`RZ`] for none.
        index: u8,
    },
    /// A special register by its number; see [`crate::modifier::special_register`].
    Special(u8),
    /// A byte address in the code: that of the next word plus the signed offset, or an absolute one.
    Target(u32),
    /// A test of the condition codes.
    Cc(CcTest),
    /// The condition-code register as a whole.
    CcRegister,
    /// The predicate file as a whole.
    PredFile,
}

/// An operand: what it names and what is done to it before use.
///
/// `abs` goes before `neg`. `inv` is bitwise not of an integer, logical not of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What it is to the instruction.
    pub role: Role,
    /// What it names.
    pub value: Value,
    /// Negated.
    pub neg: bool,
    /// Made positive, before `neg`.
    pub abs: bool,
    /// Inverted.
    pub inv: bool,
    /// The part of the register taken.
    pub part: Part,
}

impl Operand {
    /// The register it names, if it names one.
    pub const fn reg(&self) -> Option<u8> {
        match self.value {
            Value::Reg(r) => Some(r),
            _ => None,
        }
    }

    /// The predicate it names, if it names one.
    pub const fn pred(&self) -> Option<u8> {
        match self.value {
            Value::Pred(p) => Some(p),
            _ => None,
        }
    }

    /// The integer it is, if it is one.
    pub const fn imm(&self) -> Option<u32> {
        match self.value {
            Value::Imm(v) => Some(v),
            _ => None,
        }
    }
}

/// A decoded instruction. Small and `Copy`: operands and modifiers are taken from the word when asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Byte address of the word, counted from the start of the code.
    pub address: u32,
    /// The word.
    pub word: u64,
    /// The operation.
    pub op: Opcode,
    /// The row of the table it was decoded by.
    pub form: FormId,
    /// The guarding predicate.
    pub guard: Guard,
}

impl Inst {
    /// The operands, destinations first, then sources in the order of the vendor's text.
    pub fn operands(&self) -> SmallVec<[Operand; 8]> {
        let form = &FORMS[self.form];
        form.operands.iter().filter_map(|spec| isa::extract(form, spec, self)).collect()
    }

    /// The operand of a role, if the form has one.
    pub fn operand(&self, role: Role) -> Option<Operand> {
        let form = &FORMS[self.form];
        if !form.has_operand(role) {
            return None;
        }
        form.operands.iter().filter(|spec| spec.role == role).find_map(|spec| isa::extract(form, spec, self))
    }

    /// The code of a modifier; 0, its neutral value, where the form has none.
    #[inline]
    pub fn modifier(&self, which: Mod) -> u8 {
        self.find_modifier(which).unwrap_or(0)
    }

    /// Whether a flag is set, or a modifier other than neutral.
    #[inline]
    pub fn has(&self, which: Mod) -> bool {
        self.modifier(which) != 0
    }

    /// Whether the form has a field for a modifier, be it neutral or not.
    pub fn has_field(&self, which: Mod) -> bool {
        FORMS[self.form].has_modifier(which)
    }

    /// A modifier as its enum: `inst.get::<Rounding>(Mod::Rounding)?`.
    ///
    /// # Errors
    /// [`Reserved`] if the word holds a value the ISA does not define.
    pub fn get<T: ModifierValue>(&self, which: Mod) -> Result<T, Reserved> {
        let code = self.modifier(which);
        T::from_code(code).ok_or(Reserved { address: self.address, word: self.word, modifier: which, code })
    }

    #[inline]
    fn find_modifier(&self, which: Mod) -> Option<u8> {
        let form = &FORMS[self.form];
        if !form.has_modifier(which) {
            return None;
        }
        form.modifiers.iter().find(|m| m.which == which).map(|m| m.code(self.word))
    }
}
