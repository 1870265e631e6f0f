//! The registers of the shader unit as slots, made when first touched.

use xenoglot_ir::{Function, Slot, Type};

/// A scalar register or a piece of hidden state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    A0x,
    A0y,
    Al,
    FlagX,
    FlagY,
    Steps,
    EmitVertex,
    EmitPrimitive,
    EmitWinding,
    /// EMITs so far.
    Emits,
    /// Primitives stored so far.
    Primitives,
    /// Pool slot of the vertex in this emitter buffer, 0 to 2.
    EmitSlot(u8),
    /// Remaining rounds of the loop at this depth of the stack; 0 is the oldest.
    LoopCount(u8),
    /// Stacks as data: places of the top entries.
    IfTop,
    CallTop,
    LoopTop,
    /// Stacks as data: the address after the instruction whose scopes are checked, and whether it was a taken break.
    After,
    Broke,
    /// Stacks as data: where control goes next.
    Pc,
}

const SCALARS: usize = 24;

impl Scalar {
    fn index(self) -> usize {
        match self {
            Scalar::A0x => 0,
            Scalar::A0y => 1,
            Scalar::Al => 2,
            Scalar::FlagX => 3,
            Scalar::FlagY => 4,
            Scalar::Steps => 5,
            Scalar::EmitVertex => 6,
            Scalar::EmitPrimitive => 7,
            Scalar::EmitWinding => 8,
            Scalar::Emits => 9,
            Scalar::LoopCount(n) => 10 + usize::from(n & 3),
            Scalar::Primitives => 14,
            Scalar::EmitSlot(n) => 15 + usize::from(n % 3),
            Scalar::IfTop => 18,
            Scalar::CallTop => 19,
            Scalar::LoopTop => 20,
            Scalar::After => 21,
            Scalar::Broke => 22,
            Scalar::Pc => 23,
        }
    }

    fn name(self) -> String {
        match self {
            Scalar::A0x => "a0x".into(),
            Scalar::A0y => "a0y".into(),
            Scalar::Al => "aL".into(),
            Scalar::FlagX => "cmp_x".into(),
            Scalar::FlagY => "cmp_y".into(),
            Scalar::Steps => "steps".into(),
            Scalar::EmitVertex => "emit_vertex_id".into(),
            Scalar::EmitPrimitive => "emit_primitive".into(),
            Scalar::EmitWinding => "emit_winding".into(),
            Scalar::Emits => "emits".into(),
            Scalar::Primitives => "primitives".into(),
            Scalar::EmitSlot(n) => format!("emit_slot{n}"),
            Scalar::LoopCount(n) => format!("loop_count{n}"),
            Scalar::IfTop => "if_top".into(),
            Scalar::CallTop => "call_top".into(),
            Scalar::LoopTop => "loop_top".into(),
            Scalar::After => "after".into(),
            Scalar::Broke => "broke".into(),
            Scalar::Pc => "pc".into(),
        }
    }

    fn ty(self) -> Type {
        match self {
            Scalar::FlagX | Scalar::FlagY | Scalar::EmitPrimitive | Scalar::EmitWinding | Scalar::Broke => {
                Type::BOOL
            }
            _ => Type::I32,
        }
    }
}

/// A file of sixteen vector registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum File {
    Temp,
    Output,
    /// The output bank that is not current.
    OtherBank,
}

const FILES: usize = 3;

impl File {
    /// All of them.
    pub const ALL: [File; FILES] = [File::Temp, File::Output, File::OtherBank];

    fn index(self) -> usize {
        match self {
            File::Temp => 0,
            File::Output => 1,
            File::OtherBank => 2,
        }
    }

    fn name(self, n: u8) -> String {
        numbered(
            match self {
                File::Temp => "r",
                File::Output => "o",
                File::OtherBank => "other_o",
            },
            n,
        )
    }
}

/// The name of register `n`, 0 to 15, of a file. Every lifted program makes dozens of them.
pub(super) fn numbered(prefix: &str, n: u8) -> String {
    let mut name = String::with_capacity(prefix.len() + 2);
    name.push_str(prefix);
    if n > 9 {
        name.push('1');
    }
    name.push(char::from(b'0' + n % 10));
    name
}

/// Slots by register; none for registers the program never names.
pub(super) struct Regs {
    vectors: [[Option<Slot>; 16]; FILES],
    scalars: [Option<Slot>; SCALARS],
}

impl Default for Regs {
    fn default() -> Regs {
        Regs { vectors: [[None; 16]; FILES], scalars: [None; SCALARS] }
    }
}

impl Regs {
    /// The slot of a vector register.
    pub fn vector(&mut self, f: &mut Function, file: File, n: u8) -> Slot {
        *self.vectors[file.index()][usize::from(n & 15)]
            .get_or_insert_with(|| f.add_slot(file.name(n & 15), Type::F32X4))
    }

    /// The vector registers that were touched.
    pub fn vectors(&self) -> impl Iterator<Item = (File, u8, Slot)> + use<> {
        let vectors = self.vectors;
        File::ALL.into_iter().flat_map(move |file| {
            (0..16u8).filter_map(move |n| Some((file, n, vectors[file.index()][usize::from(n)]?)))
        })
    }

    /// The slot of a scalar that was touched.
    pub fn known_scalar(&self, s: Scalar) -> Option<Slot> {
        self.scalars[s.index()]
    }

    /// Whether the register was ever touched.
    pub fn has_vector(&self, file: File, n: u8) -> bool {
        self.vectors[file.index()][usize::from(n & 15)].is_some()
    }

    /// The slot of a scalar.
    pub fn scalar(&mut self, f: &mut Function, s: Scalar) -> Slot {
        *self.scalars[s.index()].get_or_insert_with(|| f.add_slot(s.name(), s.ty()))
    }
}
