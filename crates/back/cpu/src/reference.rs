//! The IR's interpreter as an engine: what lifted code means.

use crate::words::Words;
use rustc_hash::FxHashMap;
use xenoglot_guest::float::{self, DOUBLE, Env, Flags, Rounding, SINGLE};
use xenoglot_guest::memory::{Identity, Memory};
use xenoglot_guest::{Cpu, Engine, Event, HI, Interpreter, LO, Link, float_cause};
use xenoglot_interp::{Cause, End, Guest, Limits, Refused, Trap};
use xenoglot_ir::fold::Cx;
use xenoglot_ir::{Bits, Kind, Op};
use xenoglot_mips::Endian;
use xenoglot_mips::lift::{self, Region, layout};

/// FCSR's bits of rounding, enabled exceptions and flushing: none is set while lifted code runs.
const UNUSUAL: u32 = 0x0100_0f83;
/// Cause bits of FCSR.
const CAUSE: u32 = 0x3f << 12;

/// An engine that runs everything as IR, region by region.
#[derive(Debug, Default)]
pub struct Reference {
    regions: FxHashMap<u32, Region>,
    interpreter: Interpreter,
    /// The memory that all of this is of.
    memory: Option<Identity>,
}

/// A guest in the hands of the IR's interpreter.
struct Machine<'a> {
    memory: &'a mut Memory,
    registers: [u8; layout::SIZE as usize],
    flags: Flags,
}

impl Guest for Machine<'_> {
    fn load(&mut self, address: u64, align: u64, bytes: &mut [u8]) -> Result<(), Refused> {
        let address = u32::try_from(address).map_err(|_| Refused)?;
        if u64::from(address) % align != 0 {
            return Err(Refused);
        }
        self.memory.read_bytes(address, bytes).map_err(|_| Refused)
    }

    fn store(&mut self, address: u64, align: u64, bytes: &[u8]) -> Result<(), Refused> {
        let address = u32::try_from(address).map_err(|_| Refused)?;
        if u64::from(address) % align != 0 || self.memory.is_watched(address, bytes.len() as u32) {
            return Err(Refused);
        }
        self.memory.write_bytes(address, bytes).map(|_| ()).map_err(|_| Refused)
    }

    fn registers(&mut self) -> &mut [u8] {
        &mut self.registers
    }

    fn float(&mut self, op: Op, cx: &Cx, args: &[Bits]) {
        let mut env = Env::from_fcsr(0);
        let format = if cx.arg.kind() == Kind::F64 { DOUBLE } else { SINGLE };
        let to = if cx.result.kind() == Kind::F64 { DOUBLE } else { SINGLE };
        let arg = |n: usize| args.get(n).map_or(0, |bits| bits.0[0]);
        let (a, b) = (arg(0), arg(1));
        let whole = |rounding, env: &mut Env| {
            float::to_int(a, format, 64, rounding, env);
        };
        match op {
            Op::Fadd => drop(float::add(a, b, format, &mut env)),
            Op::Fsub => drop(float::sub(a, b, format, &mut env)),
            Op::Fmul => drop(float::mul(a, b, format, &mut env)),
            Op::Fdiv => drop(float::div(a, b, format, &mut env)),
            Op::Sqrt => drop(float::sqrt(a, format, &mut env)),
            Op::F2f => drop(float::convert(a, format, to, &mut env)),
            Op::S2f => drop(float::from_int((a as u32 as i32).into(), to, &mut env)),
            Op::RoundEven => whole(Rounding::Nearest, &mut env),
            Op::Trunc => whole(Rounding::Zero, &mut env),
            Op::Ceil => whole(Rounding::Up, &mut env),
            Op::Floor => whole(Rounding::Down, &mut env),
            _ => {}
        }
        // What is invalid is not told, as the lifter leaves it to the interpreter.
        self.flags |= env.flags - Flags::INVALID;
    }
}

impl Machine<'_> {
    fn set(&mut self, at: u32, bytes: &[u8]) {
        if let Some(place) = self.registers.get_mut(at as usize..at as usize + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    fn word(&self, at: u32) -> u32 {
        let bytes = self.registers.get(at as usize..).and_then(|rest| rest.first_chunk());
        u32::from_le_bytes(bytes.copied().unwrap_or_default())
    }

    fn double_word(&self, at: u32) -> u64 {
        u64::from(self.word(at + 4)) << 32 | u64::from(self.word(at))
    }

    fn fill(&mut self, cpu: &Cpu, fuel: i64) {
        for (n, value) in (0..).zip(cpu.regs.iter().take(LO.max(HI) + 1)) {
            self.set(layout::GENERAL + 4 * n, &value.to_le_bytes());
        }
        for (n, value) in (0..).zip(&cpu.fpr) {
            self.set(layout::FLOAT + 4 * n, &value.to_le_bytes());
        }
        for (at, value) in [
            (layout::FCSR, cpu.fcsr),
            (layout::THREAD, cpu.tls),
            (layout::LINK_ADDRESS, cpu.link.address),
            (layout::LINK_VALUE, cpu.link.value),
            (layout::LAST_FLOAT, 0),
        ] {
            self.set(at, &value.to_le_bytes());
        }
        self.set(layout::LINK_VALID, &[u8::from(cpu.link.valid)]);
        self.set(layout::FUEL, &fuel.to_le_bytes());
    }

    fn spill(&self, cpu: &mut Cpu) {
        for (n, value) in (0..).zip(cpu.regs.iter_mut().take(LO.max(HI) + 1)) {
            *value = self.word(layout::GENERAL + 4 * n);
        }
        for (n, value) in (0..).zip(&mut cpu.fpr) {
            *value = self.word(layout::FLOAT + 4 * n);
        }
        cpu.fcsr = self.word(layout::FCSR) | u32::from(self.flags.bits()) << 2;
        let last = self.word(layout::LAST_FLOAT);
        if last != 0 {
            let operands = layout::LAST_OPERANDS.map(|at| self.double_word(at));
            cpu.fcsr = cpu.fcsr & !CAUSE | float_cause(last, operands, 0);
        }
        cpu.link = Link {
            address: self.word(layout::LINK_ADDRESS),
            value: self.word(layout::LINK_VALUE),
            valid: self.word(layout::LINK_VALID) & 0xff != 0,
        };
    }
}

impl Reference {
    /// Lifts the region at `pc`, unless it is there; whether it can run.
    fn load(&mut self, pc: u32, endian: Endian, memory: &mut Memory) -> bool {
        if let Some(region) = self.regions.get(&pc) {
            return region.runs;
        }
        let options = lift::Options { endian, max_insts: 64, gp: None };
        let region = lift::lift(&Words { memory, endian, has_region: &|_| false }, pc, &options);
        region.words.iter().for_each(|&word| memory.watch_code(word));
        let runs = region.runs;
        self.regions.insert(pc, region);
        runs
    }

    /// Runs the region at the guest's address; whether the instruction it stopped at is for the direct interpreter.
    fn region(&self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> bool {
        let Some(region) = self.regions.get(&cpu.pc) else { return true };
        let (Ok(mut interpreter), Some(func)) =
            (xenoglot_interp::Interpreter::new(&region.module), region.module.entry.expand())
        else {
            return true;
        };
        let before = i64::try_from(*fuel).unwrap_or(i64::MAX);
        let mut machine = Machine { memory, registers: [0; layout::SIZE as usize], flags: Flags::empty() };
        machine.fill(cpu, before);
        let limits = Limits { fuel: u64::MAX, ..Limits::default() };
        let pc = Bits::scalar(cpu.pc.into());
        let (pc, leave) = match interpreter.run_guest(func, &[pc], &mut machine, &limits) {
            Ok(outcome) => match outcome.end {
                End::Exit(pc) | End::TailCallGuest(pc) => (pc as u32, false),
                End::Trap { pc, .. } => (pc as u32, true),
                End::Return | End::Kill => return true,
            },
            Err(Trap { cause: Cause::Guest { .. }, at }) => (at.guest, true),
            // Nothing that the lifter makes stops for another reason.
            Err(_) => return true,
        };
        machine.spill(cpu);
        let left = machine.double_word(layout::FUEL) as i64;
        let used = before.wrapping_sub(left).max(0) as u64;
        cpu.retired += used;
        *fuel = fuel.saturating_sub(used);
        cpu.pc = pc;
        leave
    }
}

impl Engine for Reference {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        if self.memory != Some(memory.identity()) {
            *self = Reference { memory: Some(memory.identity()), ..Reference::default() };
        }
        loop {
            if memory.is_stale() {
                // Regions are few here, and pages change seldom.
                self.interpreter.forget(&memory.take_stale());
                self.regions.clear();
            }
            if *fuel == 0 {
                return Event::OutOfFuel;
            }
            let usual = cpu.fcsr & UNUSUAL == 0;
            let leave = !usual || !self.load(cpu.pc, cpu.endian, memory) || self.region(cpu, memory, fuel);
            if leave && let Some(event) = self.interpreter.step(cpu, memory, fuel) {
                return event;
            }
        }
    }
}
