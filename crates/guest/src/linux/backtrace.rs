//! Where a program is, for people: symbols of addresses, and the calls that led there.
//!
//! MIPS code has no frame pointer as a rule. A caller is found by reading the function's first instructions, as
//! debuggers do: how much it takes from the stack, and where it puts the return address.

use crate::cpu::{Cpu, reg};
use crate::memory::Memory;
use std::fmt;
use xenoglot_mips::container::elf::{Elf, Limits};
use xenoglot_mips::{Op, decode};

/// Calls that are followed.
const MAX_FRAMES: usize = 64;
/// Instructions of a function that are looked through.
const MAX_SEARCH: u32 = 1 << 14;

/// A function in memory.
#[derive(Clone, Debug)]
struct Function {
    address: u32,
    size: u32,
    name: String,
}

/// The functions of a program and its loader.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    functions: Vec<Function>,
    /// The parts of the address space that the files take.
    files: Vec<(std::ops::Range<u32>, String)>,
}

impl Symbols {
    pub fn add(&mut self, elf: &Elf<'_>, bias: u32, path: &[u8]) {
        let name = String::from_utf8_lossy(path).into_owned();
        for segment in &elf.segments {
            let start = segment.address.wrapping_add(bias);
            self.files.push((start..start.saturating_add(segment.size), name.clone()));
        }
        // A file with a broken symbol table runs all the same.
        for symbol in elf.functions(&Limits::default()).unwrap_or_default() {
            let name = String::from_utf8_lossy(symbol.name).into_owned();
            self.functions.push(Function {
                address: symbol.address.wrapping_add(bias),
                size: symbol.size,
                name,
            });
        }
        self.functions.sort_by_key(|function| function.address);
    }

    fn function(&self, pc: u32) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.address <= pc);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (function.size == 0 || pc - function.address < function.size).then_some(function)
    }

    fn place(&self, pc: u32) -> Option<(String, u32)> {
        if let Some(function) = self.function(pc) {
            return Some((function.name.clone(), pc - function.address));
        }
        let (range, name) = self.files.iter().find(|(range, _)| range.contains(&pc))?;
        Some((name.clone(), pc - range.start))
    }
}

/// A place in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Address.
    pub pc: u32,
    /// The function, or the file when no function is known, and the distance from its start.
    pub symbol: Option<(String, u32)>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.symbol {
            Some((name, offset)) => write!(f, "{:#010x} {name}+{offset:#x}", self.pc),
            None => write!(f, "{:#010x}", self.pc),
        }
    }
}

/// What a function's first instructions say.
#[derive(Default)]
struct Prologue {
    frame: u32,
    return_address: Option<u32>,
}

fn prologue(symbols: &Symbols, cpu: &Cpu, memory: &Memory, pc: u32) -> Prologue {
    let word = |address| memory.fetch(address).ok().map(|bytes| cpu.endian.word(bytes));
    let known = symbols.function(pc).map(|function| function.address);
    let mut found = Prologue::default();
    let mut at = pc & !3;
    let mut saved = None;
    for _ in 0..MAX_SEARCH {
        if known.is_some_and(|start| at <= start) || at == 0 {
            break;
        }
        at = at.wrapping_sub(4);
        let Some(inst) = word(at).and_then(|word| decode(word).ok()) else { break };
        match inst.op {
            Op::Addiu if (inst.rs(), inst.rt()) == (29, 29) && inst.imm() < 0 => {
                found.frame = inst.imm().unsigned_abs();
                break;
            }
            Op::Sw if (usize::from(inst.rs()), usize::from(inst.rt())) == (reg::SP, reg::RA) => {
                saved = Some(inst.imm() as u32);
            }
            // The end of the function before, when no symbol says where this one starts.
            Op::Jr if known.is_none() && usize::from(inst.rs()) == reg::RA && pc.wrapping_sub(at) > 8 => {
                break;
            }
            _ => {}
        }
    }
    found.return_address = saved;
    found
}

/// The calls that led to where the processor is, the innermost first.
pub(super) fn backtrace(symbols: &Symbols, cpu: &Cpu, memory: &Memory) -> Vec<Frame> {
    let mut out = Vec::new();
    let (mut pc, mut sp) = (cpu.pc, cpu.get(reg::SP));
    while out.len() < MAX_FRAMES {
        out.push(Frame { pc, symbol: symbols.place(pc) });
        let inner = out.len() == 1;
        let found = prologue(symbols, cpu, memory, pc);
        let next = match found.return_address {
            Some(offset) => {
                let mut bytes = [0; 4];
                match memory.read_bytes(sp.wrapping_add(offset), &mut bytes) {
                    Ok(()) => cpu.endian.word(bytes),
                    Err(_) => break,
                }
            }
            // A function that calls nobody keeps it in its register.
            None if inner => cpu.get(reg::RA),
            None => break,
        };
        sp = sp.wrapping_add(found.frame);
        // A return address is behind the delay slot of the call.
        let call = next.wrapping_sub(8);
        if next == 0 || next & 3 != 0 || memory.fetch(call).is_err() || call == pc {
            break;
        }
        pc = call;
    }
    out
}
