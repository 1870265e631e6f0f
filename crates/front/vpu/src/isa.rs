//! The instruction set as a table: a row for each operation.
//!
//! A word is `op[31:26] d[25:21] a[20:16] b[15:11] c[10:6] mask[5:2] saturate[1] 0`. What an operation does not use is
//! zero, and a word with other bits set is undefined, as are destinations above `r15`. Operands other than registers
//! lie where the registers they replace would: see [`Operand`].

/// What an operand is, and which bits of the word it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register with a write mask: `r0.xyz`. Bits 24–21, mask 5–2; the mnemonic's `.sat` is bit 1.
    Dst,
    /// The first source, bits 20–16: `r0`–`r15` are 0–15, `g0`–`g15` are 16–31.
    A,
    /// The second source, bits 15–11.
    B,
    /// The third source, bits 10–6.
    C,
    /// The first source with four lane choices, `r0.yxzw`: two bits for each lane in 15–8, lane x lowest.
    Swizzled,
    /// A signed constant in 256ths, bits 20–6: -64 to 63.996.
    Value,
    /// A global's number added to an index, bits 9–6.
    Index,
    /// A tile buffer, `tb0`–`tb3`: bits 12–11.
    Tile,
    /// A texture, `t0`–`t3`: bits 12–11.
    Unit,
    /// A word of the program, bits 10–0.
    Target,
}

impl Operand {
    /// Shift and width of the field that only this kind of operand has; `None` for registers.
    pub(crate) fn extra(self) -> Option<(u32, u32)> {
        match self {
            Operand::Swizzled => Some((8, 8)),
            Operand::Value => Some((6, 15)),
            Operand::Index => Some((6, 4)),
            Operand::Tile | Operand::Unit => Some((11, 2)),
            Operand::Target => Some((0, 11)),
            Operand::Dst | Operand::A | Operand::B | Operand::C => None,
        }
    }

    /// The bits of the word it takes.
    fn bits(self) -> u32 {
        let registers = match self {
            Operand::Dst => 0xf << 21 | 0xf << 2 | 1 << 1,
            Operand::A | Operand::Swizzled => 0x1f << 16,
            Operand::B => 0x1f << 11,
            Operand::C => 0x1f << 6,
            _ => 0,
        };
        registers | self.extra().map_or(0, |(shift, width)| ((1 << width) - 1) << shift)
    }
}

/// What the simulator's parameters call the latency of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Moves, sums, comparisons, control flow.
    Simple,
    /// Products.
    Multiply,
    /// Products that are added up.
    Dot,
    /// Reciprocal and reciprocal square root.
    Special,
    /// Tile buffer accesses.
    Tile,
    /// Texture samples, cache misses apart.
    Texture,
}

/// A row of the table.
#[derive(Debug)]
pub struct OpInfo {
    /// The operation; its discriminant is the opcode.
    pub op: Op,
    /// Mnemonic.
    pub name: &'static str,
    /// Operands in the order of the text.
    pub operands: &'static [Operand],
    /// Latency.
    pub latency: Latency,
    /// What it does.
    pub doc: &'static str,
}

impl OpInfo {
    /// Bits of the word that the operation gives a meaning.
    pub(crate) fn bits(&self) -> u32 {
        self.operands.iter().fold(0x3f << 26, |bits, o| bits | o.bits())
    }

    /// Whether it writes a register.
    pub fn has_dst(&self) -> bool {
        self.operands.contains(&Operand::Dst)
    }
}

macro_rules! ops {
    ($($op:ident $name:literal [$($operand:ident)*] $latency:ident $doc:literal;)+) => {
        /// The operations, in the order of their opcodes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = $doc] $op,)+
        }

        /// The rows, by opcode.
        pub static OPS: &[OpInfo] = &[
            $(OpInfo {
                op: Op::$op,
                name: $name,
                operands: &[$(Operand::$operand),*],
                latency: Latency::$latency,
                doc: $doc,
            },)+
        ];
    };
}

ops! {
    Nop "nop" [] Simple "Nothing.";
    Exit "exit" [] Simple "Ends the thread.";
    Mov "mov" [Dst A] Simple "`a`.";
    Add "add" [Dst A B] Simple "`a + b`.";
    Sub "sub" [Dst A B] Simple "`a - b`.";
    Mul "mul" [Dst A B] Multiply "`a * b`.";
    Mad "mad" [Dst A B C] Multiply "`a * b + c`, the product rounded before the sum.";
    Dp3 "dp3" [Dst A B] Dot "Sum of the products of lanes x, y, z in that order, in every lane.";
    Dp4 "dp4" [Dst A B] Dot "Sum of the products of all lanes in order, in every lane.";
    Min "min" [Dst A B] Simple "The lesser; `b` if equal or both are NaN; of a NaN and a number the number.";
    Max "max" [Dst A B] Simple "The greater; `b` if equal or both are NaN; of a NaN and a number the number.";
    Abs "abs" [Dst A] Simple "Magnitude.";
    Neg "neg" [Dst A] Simple "`-a`.";
    Rcp "rcp" [Dst A] Special "`1 / a.x` in every lane.";
    Rsq "rsq" [Dst A] Special "`1 / sqrt(a.x)` in every lane.";
    Floor "floor" [Dst A] Simple "The greatest whole number that is not greater.";
    Frac "frac" [Dst A] Simple "`a - floor(a)`.";
    Slt "slt" [Dst A B] Simple "1 where `a < b`, else 0.";
    Sge "sge" [Dst A B] Simple "1 where `a >= b`, else 0.";
    Seq "seq" [Dst A B] Simple "1 where `a == b`, else 0.";
    Sel "sel" [Dst A B C] Simple "`a` in lanes where `c` is not zero, else `b`.";
    Swz "swz" [Dst Swizzled] Simple "Chosen lanes of `a`.";
    Imm "imm" [Dst Value] Simple "The constant in every lane.";
    Ldg "ldg" [Dst A Index] Simple "The global whose number is `floor(a.x)` plus the index, modulo 16.";
    Ldt "ldt" [Dst Tile] Tile "The tile buffer's pixel at the thread's location.";
    Store "store" [Tile A] Tile "Sets the tile buffer's pixel at the thread's location.";
    Tex "tex" [Dst A Unit] Texture "The texture at `a.xy`, repeating; 1 is its far edge.";
    Kill "kill" [A] Simple "Ends the thread if `a.x < 0`. What it stored stays.";
    Jmp "jmp" [Target] Simple "Goes on at the target.";
    Jz "jz" [A Target] Simple "Goes on at the target if `a.x` is zero.";
}

impl Op {
    /// The row that defines this operation.
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The operation with an opcode of six bits.
    pub fn from_opcode(opcode: u32) -> Option<Op> {
        OPS.get(usize::try_from(opcode).ok()?).map(|row| row.op)
    }

    /// The operation called `name` in assembly.
    pub fn parse(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.name == name).map(|row| row.op)
    }
}

/// The table as Markdown, for `docs/dragon.md`.
pub fn reference() -> String {
    let mut out = String::from("| opcode | text | latency | meaning |\n|---|---|---|---|\n");
    for row in OPS {
        let operands: Vec<&str> = row
            .operands
            .iter()
            .map(|o| match o {
                Operand::Dst => "d.mask",
                Operand::A => "a",
                Operand::B => "b",
                Operand::C => "c",
                Operand::Swizzled => "a.xyzw",
                Operand::Value => "value",
                Operand::Index => "index",
                Operand::Tile => "tb",
                Operand::Unit => "t",
                Operand::Target => "target",
            })
            .collect();
        let text = format!("{} {}", row.name, operands.join(", "));
        let (text, latency) = (text.trim(), format!("{:?}", row.latency).to_lowercase());
        out.push_str(&format!("| {} | `{text}` | {latency} | {} |\n", row.op as u8, row.doc));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_opcodes_with_unique_names() {
        for (i, row) in OPS.iter().enumerate() {
            assert_eq!(row.op as usize, i, "{}", row.name);
            assert_eq!(Op::parse(row.name), Some(row.op));
            let together: u32 = row.operands.iter().map(|o| o.bits().count_ones()).sum();
            assert_eq!(together + 6, row.bits().count_ones(), "operands of {} overlap", row.name);
        }
    }
}
