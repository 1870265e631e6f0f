//! The text of instructions and programs, in the syntax of [`asm`](crate::asm).

use crate::inst::Inst;
use crate::isa::{Op, Operand};
use crate::number::LANES;
use crate::program::Program;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

const LANE_NAMES: [char; LANES] = ['x', 'y', 'z', 'w'];

struct Source(u8);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.0 < 16 { 'r' } else { 'g' };
        write!(f, "{file}{}", self.0 & 15)
    }
}

/// What follows a destination: nothing for all lanes, `._` for none.
fn mask(f: &mut fmt::Formatter<'_>, mask: u8) -> fmt::Result {
    if mask == 0xf {
        return Ok(());
    }
    f.write_char('.')?;
    if mask == 0 {
        return f.write_char('_');
    }
    let lanes = LANE_NAMES.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0);
    lanes.into_iter().try_for_each(|(_, &name)| f.write_char(name))
}

/// One line of assembly; targets are word numbers.
impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.op.info();
        f.write_str(info.name)?;
        if self.saturate {
            f.write_str(".sat")?;
        }
        for (n, operand) in info.operands.iter().enumerate() {
            f.write_str(if n == 0 { " " } else { ", " })?;
            match operand {
                Operand::Dst => {
                    write!(f, "r{}", self.d)?;
                    mask(f, self.mask)?;
                }
                Operand::A => write!(f, "{}", Source(self.a))?,
                Operand::B => write!(f, "{}", Source(self.b))?,
                Operand::C => write!(f, "{}", Source(self.c))?,
                Operand::Swizzled => {
                    let lanes: String = self.swizzle().map(|l| LANE_NAMES[usize::from(l)]).iter().collect();
                    write!(f, "{}.{lanes}", Source(self.a))?;
                }
                // 256ths have at most eight decimals: this is exact.
                Operand::Value => write!(f, "{}", f64::from(self.value()) / 256.0)?,
                Operand::Index | Operand::Target => write!(f, "{}", self.extra)?,
                Operand::Tile => write!(f, "tb{}", self.extra)?,
                Operand::Unit => write!(f, "t{}", self.extra)?,
            }
        }
        Ok(())
    }
}

/// A program as assembly: labels `L0`, `L1`, … where jumps lead to words of the program, `.word` for what is no
/// instruction. Assembling it gives the same words.
pub fn disassemble(words: &[u32]) -> String {
    let program = Program::from_words(words);
    let at = |n: usize| program.get(n as u16);
    let target = |inst: &Inst| {
        (matches!(inst.op, Op::Jmp | Op::Jz) && usize::from(inst.extra) < program.len()).then_some(inst.extra)
    };
    let targets: BTreeSet<u16> =
        (0..program.len()).filter_map(|n| at(n)?.ok()).filter_map(|inst| target(&inst)).collect();
    let mut out = String::new();
    for n in 0..program.len() {
        if targets.contains(&(n as u16)) {
            out.push_str(&format!("L{n}:\n"));
        }
        let line = match at(n) {
            Some(Ok(inst)) => match target(&inst) {
                Some(to) if inst.op == Op::Jz => format!("jz {}, L{to}", Source(inst.a)),
                Some(to) => format!("jmp L{to}"),
                None => inst.to_string(),
            },
            Some(Err(undefined)) => format!(".word {:#010x}", undefined.word),
            None => continue,
        };
        out.push_str(&format!("    {line}\n"));
    }
    out
}
