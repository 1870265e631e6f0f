//! What is told of a process that a signal ended.

use super::abi::Signal;
use super::backtrace::{Frame, backtrace};
use super::process::Process;
use super::signals::{Fields, Info};
use crate::cpu::{Cpu, HI, LO};
use crate::memory::Memory;
use std::fmt;
use xenoglot_mips::disasm::{GPR_NAMES, text};

/// A process that a signal ended.
#[derive(Clone, Debug)]
pub struct Death {
    /// Number of the process and of the thread.
    pub ids: (u32, u32),
    /// The signal.
    pub signal: Signal,
    /// Why: `si_code`.
    pub code: i32,
    /// The address that the signal is about, for faults.
    pub address: Option<u32>,
    /// The processor.
    pub cpu: Cpu,
    /// The instruction at the program counter, disassembled; `None` when it cannot be read.
    pub instruction: Option<String>,
    /// The calls that led there, the innermost first.
    pub backtrace: Vec<Frame>,
}

impl Death {
    pub(super) fn new(process: &Process, info: &Info, cpu: &Cpu, memory: &Memory) -> Death {
        let word = memory.fetch(cpu.pc).ok().map(|bytes| cpu.endian.word(bytes));
        Death {
            ids: (process.pid, process.tid()),
            signal: info.signal,
            code: info.code,
            address: if let Fields::Fault { address } = info.fields { Some(address) } else { None },
            cpu: cpu.clone(),
            instruction: word.map(|word| text(word, cpu.pc)),
            backtrace: backtrace(&process.program.symbols, cpu, memory),
        }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} thread {}: {} (code {})", self.ids.0, self.ids.1, self.signal, self.code)?;
        if let Some(address) = self.address {
            write!(f, ", address {address:#010x}")?;
        }
        write!(f, "\n  pc {:#010x}", self.cpu.pc)?;
        if let Some(instruction) = &self.instruction {
            write!(f, ": {}", instruction.replace('\t', " "))?;
        }
        for (number, name) in GPR_NAMES.iter().enumerate() {
            let separator = if number % 4 == 0 { "\n " } else { " " };
            write!(f, "{separator} {name:>4} {:08x}", self.cpu.get(number))?;
        }
        let (hi, lo) = (self.cpu.regs[HI], self.cpu.regs[LO]);
        write!(f, "\n    hi {hi:08x}   lo {lo:08x} fcsr {:08x}", self.cpu.fcsr)?;
        for (number, frame) in self.backtrace.iter().enumerate() {
            write!(f, "\n  #{number} {frame}")?;
        }
        Ok(())
    }
}
