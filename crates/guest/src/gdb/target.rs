//! What the debugger sees: registers, memory, breakpoints and watchpoints.

use crate::cpu::{Cpu, HI, LO};
use crate::memory::Memory;
use gdbstub::arch::{Arch, Registers};
use gdbstub::common::Signal;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::{Target, TargetError, TargetResult};
use std::collections::BTreeSet;
use std::convert::Infallible;
use xenoglot_mips::isa::Operand;
use xenoglot_mips::{Endian, Inst, Op, decode};

/// How the program goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Continue,
    Step,
}

/// A watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watch {
    address: u32,
    length: u32,
    kind: WatchKind,
}

/// A program under the debugger. The memory is here while it runs.
pub(super) struct Debuggee {
    pub(super) cpu: Cpu,
    pub(super) memory: Memory,
    pub(super) mode: Mode,
    /// The debugger just let it go on.
    pub(super) resumed: bool,
    /// The signal that it goes on with.
    pub(super) signal: Option<Signal>,
    pub(super) breakpoints: BTreeSet<u32>,
    watches: Vec<Watch>,
}

impl Default for Debuggee {
    fn default() -> Debuggee {
        Debuggee {
            cpu: Cpu::new(Endian::Big),
            memory: Memory::new(0),
            mode: Mode::Continue,
            resumed: false,
            signal: None,
            breakpoints: BTreeSet::new(),
            watches: Vec::new(),
        }
    }
}

/// Bytes and direction of an access to memory.
fn access(inst: Inst) -> Option<(u32, bool)> {
    Some(match inst.op {
        Op::Lb | Op::Lbu => (1, false),
        Op::Lh | Op::Lhu => (2, false),
        Op::Lw | Op::Ll | Op::Lwc1 | Op::Lwxc1 | Op::Lwl | Op::Lwr => (4, false),
        Op::Ldc1 | Op::Ldxc1 => (8, false),
        Op::Sb => (1, true),
        Op::Sh => (2, true),
        Op::Sw | Op::Sc | Op::Swc1 | Op::Swxc1 | Op::Swl | Op::Swr => (4, true),
        Op::Sdc1 | Op::Sdxc1 => (8, true),
        _ => return None,
    })
}

impl Debuggee {
    /// The watchpoint that the next instruction, or the one in its delay slot, hits.
    pub(super) fn watched(&self) -> Option<(WatchKind, u32)> {
        if self.watches.is_empty() {
            return None;
        }
        let at = |pc: u32| decode(self.cpu.endian.word(self.memory.fetch(pc).ok()?)).ok();
        let first = at(self.cpu.pc)?;
        let slot = if first.op.has_slot() { at(self.cpu.pc.wrapping_add(4)) } else { None };
        [Some(first), slot].into_iter().flatten().find_map(|inst| self.hit(inst))
    }

    fn hit(&self, inst: Inst) -> Option<(WatchKind, u32)> {
        let (bytes, writes) = access(inst)?;
        let base = self.cpu.get(inst.rs().into());
        let address = match inst.op.info().operands.contains(&Operand::Indexed) {
            true => base.wrapping_add(self.cpu.get(inst.rt().into())),
            false => base.wrapping_add(inst.imm() as u32),
        };
        let hit = self.watches.iter().find(|watch| {
            let wanted = match watch.kind {
                WatchKind::Write => writes,
                WatchKind::Read => !writes,
                WatchKind::ReadWrite => true,
            };
            let (first, end) = (u64::from(watch.address), u64::from(watch.address) + u64::from(watch.length));
            wanted && u64::from(address) < end && first < u64::from(address) + u64::from(bytes)
        })?;
        Some((hit.kind, hit.address))
    }

    fn word(&self, value: u32) -> [u8; 4] {
        match self.cpu.endian {
            Endian::Big => value.to_be_bytes(),
            Endian::Little => value.to_le_bytes(),
        }
    }
}

/// The MIPS processor as gdb knows it.
pub(super) enum Mips {}

impl Arch for Mips {
    type Usize = u32;
    type Registers = Words;
    type BreakpointKind = usize;
    type RegId = ();

    fn target_description_xml() -> Option<&'static str> {
        Some(include_str!("target.xml"))
    }
}

/// Registers in gdb's order, each four bytes in the order of the guest: the general ones, status, LO, HI, bad address, cause,
/// program counter, those of the floating-point unit, FCSR, FIR, and one that restarts system calls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Words {
    bytes: [[u8; 4]; Words::COUNT],
    pc: u32,
}

impl Words {
    const COUNT: usize = 73;
    const LO: usize = 33;
    const HI: usize = 34;
    const PC: usize = 37;
    const FLOAT: usize = 38;
    const FCSR: usize = 70;
}

impl Default for Words {
    fn default() -> Words {
        Words { bytes: [[0; 4]; Words::COUNT], pc: 0 }
    }
}

impl Registers for Words {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.pc
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.bytes.iter().flatten().for_each(|&byte| write_byte(Some(byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let words = bytes.as_chunks().0;
        // A debugger may leave out the last ones.
        for (to, from) in self.bytes.iter_mut().zip(words) {
            *to = *from;
        }
        if words.len() > Words::PC { Ok(()) } else { Err(()) }
    }
}

impl Target for Debuggee {
    type Arch = Mips;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Mips, Infallible> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }
}

impl SingleThreadBase for Debuggee {
    fn read_registers(&mut self, registers: &mut Words) -> TargetResult<(), Self> {
        let cpu = &self.cpu;
        let mut values = [0; Words::COUNT];
        values[..32].copy_from_slice(&cpu.regs[..32]);
        (values[Words::LO], values[Words::HI]) = (cpu.regs[LO], cpu.regs[HI]);
        (values[Words::PC], values[Words::FCSR]) = (cpu.pc, cpu.fcsr);
        values[Words::FLOAT..Words::FCSR].copy_from_slice(&cpu.fpr);
        *registers = Words { bytes: values.map(|value| self.word(value)), pc: cpu.pc };
        Ok(())
    }

    fn write_registers(&mut self, registers: &Words) -> TargetResult<(), Self> {
        let endian = self.cpu.endian;
        let values = registers.bytes.map(|bytes| endian.word(bytes));
        let cpu = &mut self.cpu;
        cpu.regs[1..32].copy_from_slice(&values[1..32]);
        (cpu.regs[LO], cpu.regs[HI]) = (values[Words::LO], values[Words::HI]);
        (cpu.pc, cpu.fcsr) = (values[Words::PC], values[Words::FCSR]);
        cpu.fpr.copy_from_slice(&values[Words::FLOAT..Words::FCSR]);
        Ok(())
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        // As much as there is, by pages: the debugger asks for more than it needs.
        let mut done = 0;
        while let Some(rest) = data.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = start.wrapping_add(done as u32);
            let count = rest.len().min((crate::memory::PAGE_BYTES - at % crate::memory::PAGE_BYTES) as usize);
            let Some(part) = rest.get_mut(..count) else { break };
            if self.memory.read_bytes(at, part).is_err() {
                break;
            }
            done += count;
        }
        if done == 0 && !data.is_empty() { Err(TargetError::NonFatal) } else { Ok(done) }
    }

    fn write_addrs(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        self.memory.poke(start, data).map(drop).map_err(|_| TargetError::NonFatal)
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl Debuggee {
    fn go(&mut self, mode: Mode, signal: Option<Signal>) {
        (self.mode, self.signal, self.resumed) = (mode, signal, true);
    }
}

impl SingleThreadResume for Debuggee {
    fn resume(&mut self, signal: Option<Signal>) -> Result<(), Infallible> {
        self.go(Mode::Continue, signal);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for Debuggee {
    fn step(&mut self, signal: Option<Signal>) -> Result<(), Infallible> {
        self.go(Mode::Step, signal);
        Ok(())
    }
}

impl Breakpoints for Debuggee {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debuggee {
    fn add_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.breakpoints.insert(address);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.breakpoints.remove(&address))
    }
}

impl HwWatchpoint for Debuggee {
    fn add_hw_watchpoint(&mut self, address: u32, length: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        self.watches.push(Watch { address, length, kind });
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u32,
        length: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let before = self.watches.len();
        self.watches.retain(|watch| *watch != Watch { address, length, kind });
        Ok(self.watches.len() != before)
    }
}
