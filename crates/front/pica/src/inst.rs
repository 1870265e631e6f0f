//! Typed instructions and the opcode table.
//!
//! [`OPCODES`] is the one definition of the instruction set: decoder, encoder, assembler, disassembler and lifter all
//! read its rows. Opcode numbers and field positions are from vectors/pica/FORMAT.md, section 3; DST, LIT, DSTI and
//! BREAK from the public opcode map (3dbrew, "Shader Instruction Set").

use crate::desc::Component;
use std::fmt;

/// Every operation of the shader unit. The discriminant indexes [`OPCODES`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the row in OPCODES documents each operation")]
pub enum Opcode {
    Add,
    Dp3,
    Dp4,
    Dph,
    Dst,
    Ex2,
    Lg2,
    Lit,
    Mul,
    Sge,
    Slt,
    Flr,
    Max,
    Min,
    Rcp,
    Rsq,
    Mova,
    Mov,
    Dphi,
    Dsti,
    Sgei,
    Slti,
    Break,
    Nop,
    End,
    Breakc,
    Call,
    Callc,
    Callu,
    Ifu,
    Ifc,
    Loop,
    Emit,
    Setemit,
    Jmpc,
    Jmpu,
    Cmp,
    Madi,
    Mad,
}

/// How an opcode lays out its word. The bits a format does not name are ignored by the chip.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// No operands.
    Nullary,
    /// `dst, src1` (format 1 without its second source).
    Unary,
    /// `a0, src1`: the descriptor's mask names the address registers.
    MoveAddress,
    /// `dst, src1, src2`, the first source wide (format 1).
    Binary,
    /// `dst, src1, src2`, the second source wide (format 1i).
    BinaryInverted,
    /// `src1, relation x, relation y, src2`.
    Compare,
    /// `dst, src1, src2, src3`, the second source wide.
    Mad,
    /// `dst, src1, src2, src3`, the third source wide.
    MadInverted,
    /// A condition alone.
    Condition,
    /// A range of words.
    Range,
    /// A condition and a range of words.
    ConditionRange,
    /// A condition and a target.
    ConditionTarget,
    /// A bool uniform and a range of words.
    BoolRange,
    /// A bool uniform, its wanted value and a target.
    BoolTarget,
    /// An int uniform and a target.
    Loop,
    /// Geometry emitter state.
    SetEmit,
}

/// A row of [`OPCODES`].
#[derive(Clone, Copy, Debug)]
pub struct OpcodeInfo {
    /// The operation.
    pub op: Opcode,
    /// Lowest value of bits 31:26 that means it.
    pub first: u8,
    /// Highest value of bits 31:26 that means it.
    pub last: u8,
    /// Mnemonic.
    pub name: &'static str,
    /// Layout of the word.
    pub format: Format,
    /// What it does, in one or two sentences.
    pub doc: &'static str,
}

const fn row(
    op: Opcode,
    first: u8,
    last: u8,
    name: &'static str,
    format: Format,
    doc: &'static str,
) -> OpcodeInfo {
    OpcodeInfo { op, first, last, name, format, doc }
}

/// The instruction set, one row per operation, in the order of [`Opcode`].
#[rustfmt::skip]
pub const OPCODES: &[OpcodeInfo] = {
    use Format::*;
    use Opcode as O;
    &[
        row(O::Add,     0x00, 0x00, "add",     Binary,          "Component-wise sum."),
        row(O::Dp3,     0x01, 0x01, "dp3",     Binary,          "Dot product of x, y, z to all enabled components."),
        row(O::Dp4,     0x02, 0x02, "dp4",     Binary,          "Dot product of all components to all enabled components."),
        row(O::Dph,     0x03, 0x03, "dph",     Binary,          "Dot product with w of the first source replaced by 1."),
        row(O::Dst,     0x04, 0x04, "dst",     Binary,          "Distance vector: (1, src1.y * src2.y, src1.z, src2.w)."),
        row(O::Ex2,     0x05, 0x05, "ex2",     Unary,           "2 to the power of the selected x, to all enabled components."),
        row(O::Lg2,     0x06, 0x06, "lg2",     Unary,           "Base-2 logarithm of the selected x, to all enabled components."),
        row(O::Lit,     0x07, 0x07, "litp",    Unary,          "Lighting vector (max(x, 0), clamp(y, -127.996, 127.996), 0, max(w, 0)); the flags become x >= 0 and w >= 0."),
        row(O::Mul,     0x08, 0x08, "mul",     Binary,          "Component-wise product; a NaN product of factors that are not NaN is +0."),
        row(O::Sge,     0x09, 0x09, "sge",     Binary,          "1 where the first source is greater or equal, else 0."),
        row(O::Slt,     0x0a, 0x0a, "slt",     Binary,          "1 where the first source is less, else 0."),
        row(O::Flr,     0x0b, 0x0b, "flr",     Unary,           "Rounds towards minus infinity."),
        row(O::Max,     0x0c, 0x0c, "max",     Binary,          "The first source where it is greater, else the second."),
        row(O::Min,     0x0d, 0x0d, "min",     Binary,          "The first source where it is less, else the second."),
        row(O::Rcp,     0x0e, 0x0e, "rcp",     Unary,           "Reciprocal of the selected x, to all enabled components."),
        row(O::Rsq,     0x0f, 0x0f, "rsq",     Unary,           "Reciprocal square root of the selected x, to all enabled components."),
        row(O::Mova,    0x12, 0x12, "mova",    MoveAddress,     "Truncates x and y into a0.x and a0.y where enabled."),
        row(O::Mov,     0x13, 0x13, "mov",     Unary,           "Copies."),
        row(O::Dphi,    0x18, 0x18, "dphi",    BinaryInverted,  "DPH with the second source wide."),
        row(O::Dsti,    0x19, 0x19, "dsti",    BinaryInverted,  "DST with the second source wide."),
        row(O::Sgei,    0x1a, 0x1a, "sgei",    BinaryInverted,  "SGE with the second source wide."),
        row(O::Slti,    0x1b, 0x1b, "slti",    BinaryInverted,  "SLT with the second source wide."),
        row(O::Break,   0x20, 0x20, "break",   Nullary,         "Leaves the innermost loop."),
        row(O::Nop,     0x21, 0x21, "nop",     Nullary,         "Nothing."),
        row(O::End,     0x22, 0x22, "end",     Nullary,         "Ends the invocation, at any depth."),
        row(O::Breakc,  0x23, 0x23, "breakc",  Condition,       "Leaves the innermost loop if the condition holds."),
        row(O::Call,    0x24, 0x24, "call",    Range,           "Calls `count` words from `target`."),
        row(O::Callc,   0x25, 0x25, "callc",   ConditionRange,  "CALL if the condition holds."),
        row(O::Callu,   0x26, 0x26, "callu",   BoolRange,       "CALL if the bool uniform is true."),
        row(O::Ifu,     0x27, 0x27, "ifu",     BoolRange,       "Runs up to `target` if the bool uniform is true, else `count` words from `target`."),
        row(O::Ifc,     0x28, 0x28, "ifc",     ConditionRange,  "Runs up to `target` if the condition holds, else `count` words from `target`."),
        row(O::Loop,    0x29, 0x29, "for",     Loop,            "Runs the words up to and including `target` i.x + 1 times; aL starts at i.y and steps by i.z."),
        row(O::Emit,    0x2a, 0x2a, "emit",    Nullary,         "Geometry: stores the outputs as the vertex SETEMIT named."),
        row(O::Setemit, 0x2b, 0x2b, "setemit", SetEmit,         "Geometry: says what the next EMIT does."),
        row(O::Jmpc,    0x2c, 0x2c, "jmpc",    ConditionTarget, "Jumps if the condition holds."),
        row(O::Jmpu,    0x2d, 0x2d, "jmpu",    BoolTarget,      "Jumps if the bool uniform has the wanted value."),
        row(O::Cmp,     0x2e, 0x2f, "cmp",     Compare,         "Sets both condition flags from components x and y."),
        row(O::Madi,    0x30, 0x37, "madi",    MadInverted,     "MAD with the third source wide."),
        row(O::Mad,     0x38, 0x3f, "mad",     Mad,             "src1 * src2, rounded, plus src3."),
    ]
};

impl Opcode {
    /// The row that defines this operation.
    pub fn info(self) -> &'static OpcodeInfo {
        &OPCODES[self as usize]
    }

    /// The mnemonic.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The layout of its word.
    pub fn format(self) -> Format {
        self.info().format
    }

    /// The operation a mnemonic names.
    pub fn from_name(name: &str) -> Option<Opcode> {
        OPCODES.iter().find(|row| row.name == name).map(|row| row.op)
    }

    /// The same operation with its other source wide: `dph` and `dphi`, `dst` and `dsti`, `sge` and `sgei`, `slt` and
    /// `slti`, `mad` and `madi`.
    pub fn inverted(self) -> Option<Opcode> {
        const PAIRS: [(Opcode, Opcode); 5] = [
            (Opcode::Dph, Opcode::Dphi),
            (Opcode::Dst, Opcode::Dsti),
            (Opcode::Sge, Opcode::Sgei),
            (Opcode::Slt, Opcode::Slti),
            (Opcode::Mad, Opcode::Madi),
        ];
        PAIRS.iter().find_map(|&(a, b)| match self {
            x if x == a => Some(b),
            x if x == b => Some(a),
            _ => None,
        })
    }

    /// The bits of an operand descriptor that this operation obeys; 0 for operations without a descriptor.
    ///
    /// CMP obeys no mask: it always writes both flags.
    pub fn descriptor_bits(self) -> u32 {
        use crate::desc::Descriptor as D;
        let sources = |n| (0..n).fold(0, |bits, i| bits | D::source_bits(i));
        match self.format() {
            Format::Unary | Format::MoveAddress => D::MASK_BITS | sources(1),
            Format::Binary | Format::BinaryInverted => D::MASK_BITS | sources(2),
            Format::Compare => sources(2),
            Format::Mad | Format::MadInverted => D::MASK_BITS | sources(3),
            _ => 0,
        }
    }
}

/// A register that a source field can name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SrcReg {
    /// `v0`–`v15`, vertex inputs.
    Input(u8),
    /// `r0`–`r15`, temporaries.
    Temp(u8),
    /// `c0`–`c95`, float uniforms.
    Const(u8),
}

impl SrcReg {
    /// The register with source number `n & 0x7f`: 00–0F v, 10–1F r, 20–7F c.
    pub fn from_bits(n: u32) -> SrcReg {
        match (n & 0x7f) as u8 {
            n @ ..0x10 => SrcReg::Input(n),
            n @ 0x10..0x20 => SrcReg::Temp(n - 0x10),
            n => SrcReg::Const(n - 0x20),
        }
    }

    /// The 7-bit source number; `None` if the register does not exist.
    pub fn bits(self) -> Option<u32> {
        match self {
            SrcReg::Input(n) if n < 16 => Some(n.into()),
            SrcReg::Temp(n) if n < 16 => Some(0x10 + u32::from(n)),
            SrcReg::Const(n) if n < 96 => Some(0x20 + u32::from(n)),
            _ => None,
        }
    }
}

impl fmt::Display for SrcReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SrcReg::Input(n) => write!(f, "v{n}"),
            SrcReg::Temp(n) => write!(f, "r{n}"),
            SrcReg::Const(n) => write!(f, "c{n}"),
        }
    }
}

/// A register that a destination field can name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dst {
    /// `o0`–`o15`, outputs.
    Output(u8),
    /// `r0`–`r15`, temporaries.
    Temp(u8),
}

impl Dst {
    /// The register with destination number `n & 0x1f`: 00–0F o, 10–1F r.
    pub fn from_bits(n: u32) -> Dst {
        match (n & 0x1f) as u8 {
            n @ ..0x10 => Dst::Output(n),
            n => Dst::Temp(n - 0x10),
        }
    }

    /// The 5-bit destination number; `None` if the register does not exist.
    pub fn bits(self) -> Option<u32> {
        match self {
            Dst::Output(n) if n < 16 => Some(n.into()),
            Dst::Temp(n) if n < 16 => Some(0x10 + u32::from(n)),
            _ => None,
        }
    }
}

impl fmt::Display for Dst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dst::Output(n) => write!(f, "o{n}"),
            Dst::Temp(n) => write!(f, "r{n}"),
        }
    }
}

/// The register added to the number of the wide source, if that is a `c` register; ignored for `v` and `r`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Index {
    /// None.
    #[default]
    None = 0,
    /// `a0.x`.
    A0x = 1,
    /// `a0.y`.
    A0y = 2,
    /// The loop counter `aL`.
    Al = 3,
}

impl Index {
    /// The index with number `n & 3`.
    pub fn from_bits(n: u32) -> Index {
        [Index::None, Index::A0x, Index::A0y, Index::Al][(n & 3) as usize]
    }

    /// `a0.x`, `a0.y`, `aL`; `None` for no index.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Index::None => None,
            Index::A0x => Some("a0.x"),
            Index::A0y => Some("a0.y"),
            Index::Al => Some("aL"),
        }
    }
}

/// A source operand, before the descriptor's modifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Src {
    /// The register named.
    pub reg: SrcReg,
    /// Index register; only the wide source of an instruction can have one.
    pub index: Index,
}

impl Src {
    /// `reg` without an index.
    pub fn plain(reg: SrcReg) -> Src {
        Src { reg, index: Index::None }
    }
}

/// A comparison of CMP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Relation {
    /// Equal.
    Eq = 0,
    /// Not equal; true for NaN.
    Ne = 1,
    /// Less.
    Lt = 2,
    /// Less or equal.
    Le = 3,
    /// Greater.
    Gt = 4,
    /// Greater or equal.
    Ge = 5,
    /// Number 6, without a known meaning.
    Reserved6 = 6,
    /// Number 7, without a known meaning.
    Reserved7 = 7,
}

impl Relation {
    /// All eight, by number.
    pub const ALL: [Relation; 8] = [
        Relation::Eq,
        Relation::Ne,
        Relation::Lt,
        Relation::Le,
        Relation::Gt,
        Relation::Ge,
        Relation::Reserved6,
        Relation::Reserved7,
    ];

    /// The relation with number `n & 7`.
    pub fn from_bits(n: u32) -> Relation {
        Self::ALL[(n & 7) as usize]
    }

    /// Its name in assembly.
    pub fn name(self) -> &'static str {
        ["eq", "ne", "lt", "le", "gt", "ge", "6", "7"][self as usize]
    }
}

/// How the two flags of a condition are joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum ConditionMode {
    /// `fx == x || fy == y`.
    Or = 0,
    /// `fx == x && fy == y`.
    And = 1,
    /// `fx == x`.
    X = 2,
    /// `fy == y`.
    Y = 3,
}

/// A condition on the flags `cmp.x` and `cmp.y`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    /// Wanted value of flag x; kept, though ignored, in mode [`ConditionMode::Y`].
    pub x: bool,
    /// Wanted value of flag y; kept, though ignored, in mode [`ConditionMode::X`].
    pub y: bool,
    /// Join.
    pub mode: ConditionMode,
}

impl Condition {
    /// Whether it holds for the flags `fx` and `fy`.
    pub fn holds(self, fx: bool, fy: bool) -> bool {
        let (x, y) = (fx == self.x, fy == self.y);
        match self.mode {
            ConditionMode::Or => x || y,
            ConditionMode::And => x && y,
            ConditionMode::X => x,
            ConditionMode::Y => y,
        }
    }

    /// The same with `wanted` for the flag that does not matter.
    pub fn with_ignored(self, wanted: bool) -> Condition {
        match self.mode {
            ConditionMode::Or | ConditionMode::And => self,
            ConditionMode::X => Condition { y: wanted, ..self },
            ConditionMode::Y => Condition { x: wanted, ..self },
        }
    }

    /// The address component whose flag alone decides, if one does.
    pub fn single(self) -> Option<Component> {
        match self.mode {
            ConditionMode::X => Some(Component::X),
            ConditionMode::Y => Some(Component::Y),
            _ => None,
        }
    }
}

/// The operands of an instruction, by [`Format`].
///
/// `desc` is an index into the descriptor table: 0–127, 0–31 for MAD and MADI. Targets are word addresses, 0–4095.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the fields are the operands the format lists")]
pub enum Operands {
    /// [`Format::Nullary`].
    Nullary,
    /// [`Format::Unary`].
    Unary { dst: Dst, src: Src, desc: u8 },
    /// [`Format::MoveAddress`].
    MoveAddress { src: Src, desc: u8 },
    /// [`Format::Binary`] and [`Format::BinaryInverted`]: sources in operand order.
    Binary { dst: Dst, src: [Src; 2], desc: u8 },
    /// [`Format::Compare`].
    Compare { src: [Src; 2], x: Relation, y: Relation, desc: u8 },
    /// [`Format::Mad`] and [`Format::MadInverted`]: sources in operand order.
    Mad { dst: Dst, src: [Src; 3], desc: u8 },
    /// [`Format::Condition`].
    Condition { cond: Condition },
    /// [`Format::Range`]: `count` words from `target`.
    Range { target: u16, count: u8 },
    /// [`Format::ConditionRange`]: `count` words from `target`.
    ConditionRange { cond: Condition, target: u16, count: u8 },
    /// [`Format::ConditionTarget`].
    ConditionTarget { cond: Condition, target: u16 },
    /// [`Format::BoolRange`]: bool uniform `b0`–`b15`, `count` words from `target`.
    BoolRange { uniform: u8, target: u16, count: u8 },
    /// [`Format::BoolTarget`]: jumps if bool uniform `b0`–`b15` equals `value`.
    BoolTarget { uniform: u8, value: bool, target: u16 },
    /// [`Format::Loop`]: int uniform `i0`–`i3`; `target` is the body's last word.
    Loop { uniform: u8, target: u16 },
    /// [`Format::SetEmit`]: buffer 0–3 (3 does not exist on the chip).
    SetEmit { vertex: u8, primitive: bool, winding: bool },
}

/// A decoded instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Opcode,
    /// With what.
    pub operands: Operands,
    /// The bits of the word that no operand covers, in place; 0 in what an assembler writes.
    pub ignored: u32,
}

impl Inst {
    /// The descriptor index, if the instruction has one.
    pub fn desc(&self) -> Option<u8> {
        match self.operands {
            Operands::Unary { desc, .. }
            | Operands::MoveAddress { desc, .. }
            | Operands::Binary { desc, .. }
            | Operands::Compare { desc, .. }
            | Operands::Mad { desc, .. } => Some(desc),
            _ => None,
        }
    }

    /// The flow target, if the instruction has one.
    pub fn target(&self) -> Option<u16> {
        match self.operands {
            Operands::Range { target, .. }
            | Operands::ConditionRange { target, .. }
            | Operands::ConditionTarget { target, .. }
            | Operands::BoolRange { target, .. }
            | Operands::BoolTarget { target, .. }
            | Operands::Loop { target, .. } => Some(target),
            _ => None,
        }
    }

    /// Destination register, if the instruction writes one.
    pub fn dst(&self) -> Option<Dst> {
        match self.operands {
            Operands::Unary { dst, .. } | Operands::Binary { dst, .. } | Operands::Mad { dst, .. } => {
                Some(dst)
            }
            _ => None,
        }
    }

    /// Sources in operand order; modifier `n` of the descriptor belongs to source `n`.
    pub fn srcs(&self) -> &[Src] {
        match &self.operands {
            Operands::Unary { src, .. } | Operands::MoveAddress { src, .. } => std::slice::from_ref(src),
            Operands::Binary { src, .. } | Operands::Compare { src, .. } => src,
            Operands::Mad { src, .. } => src,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (i, row) in OPCODES.iter().enumerate() {
            assert_eq!(row.op as usize, i, "{}", row.name);
        }
    }

    #[test]
    fn no_two_rows_claim_one_opcode() {
        let mut owner = [None; 64];
        for row in OPCODES {
            for code in row.first..=row.last {
                let before = owner[usize::from(code)].replace(row.name);
                assert_eq!(before, None, "{code:#04x} is {} too", row.name);
            }
        }
    }

    #[test]
    fn inversion_is_its_own_inverse() {
        for row in OPCODES {
            if let Some(other) = row.op.inverted() {
                assert_eq!(other.inverted(), Some(row.op));
                assert_eq!(other.descriptor_bits(), row.op.descriptor_bits());
            }
        }
        assert_eq!(Opcode::Add.inverted(), None);
    }
}
