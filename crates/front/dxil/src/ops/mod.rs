//! The operations of DXIL: functions `dx.op.CLASS.OVERLOAD` whose first argument is the number of an operation.
//!
//! The [table](Op) has every operation of shader models 6.0 to 6.9, a row each. Numbers, names, classes, types and
//! attributes are those of DirectXShaderCompiler's documentation (`docs/DXIL.rst`, `utils/hct/hctdb.py`).

mod table;

pub use table::Op;

use crate::model::{ShaderModel, Stages};
use bitflags::bitflags;

bitflags! {
    /// The types an operation is there for. Empty: it is not overloaded, and its function's name ends with the class.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Overloads: u16 {
        /// `half`.
        const F16 = 1 << 0;
        /// `float`.
        const F32 = 1 << 1;
        /// `double`.
        const F64 = 1 << 2;
        /// A bit.
        const I1 = 1 << 3;
        /// An integer of 8 bits.
        const I8 = 1 << 4;
        /// An integer of 16 bits.
        const I16 = 1 << 5;
        /// An integer of 32 bits.
        const I32 = 1 << 6;
        /// An integer of 64 bits.
        const I64 = 1 << 7;
        /// A structure of the shader, by pointer.
        const STRUCT = 1 << 8;
        /// A resource as a library's global variable holds it.
        const OBJECT = 1 << 9;
    }
}

impl Overloads {
    /// A letter for each, in the order of the flags.
    const LETTERS: &[u8; 10] = b"hfd18wiluo";
    /// How names of functions end, in the order of the flags; the last two end with a type's name.
    const SUFFIXES: [&str; 8] = ["f16", "f32", "f64", "i1", "i8", "i16", "i32", "i64"];

    const fn parse(letters: &str) -> Overloads {
        let letters = letters.as_bytes();
        let (mut bits, mut at) = (0, 0);
        while at < letters.len() {
            let mut flag = 0;
            while Self::LETTERS[flag] != letters[at] {
                flag += 1;
            }
            bits |= 1 << flag;
            at += 1;
        }
        Overloads::from_bits_retain(bits)
    }

    /// Whether the name of a function may end with `suffix`, which is empty or begins behind a dot. What there is for a
    /// type, there is for vectors of it, which SM 6.9 has: `v4f32`.
    pub fn allow(self, suffix: &str) -> bool {
        match Self::SUFFIXES.iter().position(|&s| s == lane_of(suffix)) {
            Some(flag) => self.bits() & 1 << flag != 0,
            None if suffix.is_empty() => self.is_empty(),
            None => self.intersects(Overloads::STRUCT | Overloads::OBJECT),
        }
    }
}

/// The suffix of a vector's lanes: `f32` of `v4f32`.
fn lane_of(suffix: &str) -> &str {
    let lane = || {
        let rest = suffix.strip_prefix('v')?;
        let lane = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        (lane.len() < rest.len()).then_some(lane)
    };
    lane().unwrap_or(suffix)
}

/// What an operation does to memory and control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Its result depends on its operands alone.
    ReadNone,
    /// Reads.
    ReadOnly,
    /// Reads and writes, or depends on other invocations.
    ReadWrite,
    /// Must not be duplicated.
    NoDuplicate,
    /// Ends the shader.
    NoReturn,
}

/// Operations that are lifted together, each family by a file of `lift/ops`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Handles of resources.
    Handle,
    /// Arithmetic of floats.
    Math,
    /// Arithmetic of integers, and their bits.
    Bits,
    /// Conversions.
    Convert,
    /// Places in dispatches and groups, barriers.
    Compute,
    /// Waves and quads.
    Wave,
    /// Parts of waves.
    Partition,
    /// Buffers and atomic operations.
    Buffer,
    /// Textures.
    Texture,
    /// Maps of what of textures is sampled.
    Feedback,
    /// Samples of targets and textures.
    Samples,
    /// Interfaces of vertex and pixel shaders.
    Stage,
    /// Patches, primitives, meshes.
    Primitive,
    /// Rays and ray queries.
    Ray,
    /// Hit objects.
    Hit,
    /// Nodes of work graphs.
    Node,
    /// None: the operation is not lifted.
    None,
}

/// The type of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The overload's type.
    Overload,
    /// A bit.
    I1,
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// `half`.
    F16,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// `%dx.types.Handle`.
    Handle,
    /// A pointer to floats: an indexable register.
    FloatPtr,
    /// A pointer to a structure of the shader.
    UserStruct,
    /// A resource as a library's global variable holds it.
    Object,
    /// `%dx.types.ResourceProperties`: two words.
    ResourceProperties,
    /// `%dx.types.ResBind`: lower and upper bound, space, class.
    ResourceBinding,
    /// Nothing.
    Void,
    /// `%dx.types.ResRet`: four of the overload's type and the status of residency.
    ResourceReturn,
    /// `%dx.types.CBufRet`: the 16 bytes of a row as the overload's type.
    CBufferReturn,
    /// `%dx.types.Dimensions`: width, height, depth or elements, levels or samples.
    Dimensions,
    /// `%dx.types.splitdouble`: low and high word.
    SplitDouble,
    /// `%dx.types.twoi32`.
    TwoI32,
    /// `%dx.types.i32c`: a word and a bit.
    I32WithCarry,
    /// `%dx.types.fouri32`.
    FourI32,
    /// `%dx.types.SamplePos`: x and y as `float`.
    SamplePosition,
    /// A vector of four of the overload's type.
    Vector4,
    /// A lane of the overload's type, which is a vector.
    OverloadLane,
    /// `%dx.types.NodeHandle`: an output of a node.
    NodeHandle,
    /// `%dx.types.NodeRecordHandle`: records that a node takes or gives.
    NodeRecordHandle,
    /// `%dx.types.NodeInfo` or `%dx.types.NodeRecordInfo`: two words.
    NodeProperties,
    /// `%dx.types.HitObject`.
    HitObject,
}

/// An operand behind the operation's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its name in disassembly.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// Its name in disassembly.
    pub name: &'static str,
    /// Its class: what follows `dx.op.` in the name of its function, which operations of the same type share.
    pub class: &'static str,
    /// The types it is there for.
    pub overloads: Overloads,
    /// What it does to memory.
    pub effect: Effect,
    /// The shaders that may use it; a library holds shaders of any kind.
    pub stages: Stages,
    /// What lifts it.
    pub family: Family,
    /// The shader model it came with.
    pub since: ShaderModel,
    /// Its result.
    pub result: Kind,
    /// Its operands behind its number.
    pub operands: &'static [Operand],
}

impl OpInfo {
    /// The overload in the name of a function, empty if there is none; `None` if it is not this operation's function.
    pub fn overload_in<'a>(&self, function: &'a str) -> Option<&'a str> {
        let rest = function.strip_prefix("dx.op.")?.strip_prefix(self.class)?;
        let suffix = if rest.is_empty() { rest } else { rest.strip_prefix('.')? };
        self.overloads.allow(suffix).then_some(suffix)
    }
}

impl Op {
    /// The operation of a number.
    pub fn from_number(number: u32) -> Option<Op> {
        let before =
            table::HOLES.iter().filter(|hole| hole.end <= number).map(|hole| hole.len()).sum::<usize>();
        let row = Op::all().get(usize::try_from(number).ok()?.checked_sub(before)?)?;
        (row.op.number() == number).then_some(row.op)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Its row.
    pub fn info(self) -> &'static OpInfo {
        let before = table::HOLES.iter().filter(|hole| hole.end <= self.number()).map(|hole| hole.len());
        &Op::all()[self as usize - before.sum::<usize>()]
    }

    /// Whether it looks into the invocation's quad: operations that do are there for the stages that have quads, and no others.
    pub fn needs_quads(self) -> bool {
        self.info().stages == table::QUADS
    }

    /// Why the operation is refused wherever it stands, if it is.
    pub fn refusal(self) -> Option<&'static str> {
        if self.info().family != Family::None {
            return None;
        }
        Some(match self {
            Op::TempRegLoad | Op::TempRegStore | Op::MinPrecXRegLoad | Op::MinPrecXRegStore => {
                "translators of older bytecode have it, which take it out again"
            }
            _ => "no compiler that is released makes it",
        })
    }

    /// The table as Markdown: `docs/dxil-operations.md`.
    pub fn reference() -> String {
        use std::fmt::Write;
        let mut text = String::from(
            "# The operations of DXIL\n\nPrinted from the table (`cargo test -p xenoglot-dxil --test operations`): every operation \
             of shader models 6.0 to 6.9, and what becomes of it. Numbers that are missing are reserved, or belong to an \
             experiment that no shader model has.\n\n| number | operation | since | state |\n|---|---|---|---|\n",
        );
        for row in Op::all() {
            let state = match row.op.refusal() {
                Some(reason) => format!("refused: {reason}"),
                None => "lifted".to_owned(),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} | {} | {} | {state} |", row.op.number(), row.name, row.since);
        }
        let refused = Op::all().iter().filter(|row| row.op.refusal().is_some()).count();
        let _ = writeln!(text, "\n{} operations, {refused} of them refused.", Op::all().len());
        text
    }

    /// Every row, by number.
    pub fn all() -> &'static [OpInfo] {
        table::ROWS
    }
}

#[cfg(test)]
mod tests;
