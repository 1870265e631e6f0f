//! Engines that look on: which functions of a program the time goes to, and which instructions it executes.

use crate::print;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use xenoglot_guest::memory::Memory;
use xenoglot_guest::{Cpu, Engine, Event, Interpreter};
use xenoglot_mips::container::elf::{Elf, Limits};
use xenoglot_mips::{decode, disasm};

/// Instructions between looks at the program counter: a prime, so that loops do not keep step with it.
const PERIOD: u64 = 10_007;
/// Most addresses that are kept.
const MOST: usize = 1 << 20;

/// Names of a program's functions.
pub struct Functions(BTreeMap<u32, String>);

impl Functions {
    /// Those of a file's symbol table; none if it has none that can be read.
    pub fn new(file: &[u8]) -> Functions {
        let limits = Limits::default();
        let functions = Elf::parse(file, &limits).and_then(|elf| {
            let functions = elf.functions(&limits)?.into_iter();
            Ok(functions.map(|f| (f.address, String::from_utf8_lossy(f.name).into_owned())).collect())
        });
        Functions(functions.unwrap_or_default())
    }

    /// The function that an address is in; the address of its page in brackets where there is none.
    pub fn name(&self, pc: u32) -> String {
        let end = self.0.last_key_value().map_or(0, |(address, _)| address.saturating_add(1 << 16));
        let named = self.0.range(..=pc).next_back().filter(|_| pc < end);
        named.map_or_else(|| format!("[{:#010x}]", pc & !0xfff), |(_, name)| name.clone())
    }
}

/// How often the program was found at an address.
#[derive(Clone, Default)]
pub struct Profile(Arc<Mutex<HashMap<u32, u64>>>);

impl Profile {
    /// An engine that looks where the program is now and then.
    pub fn engine(&self, inner: Box<dyn Engine + Send>) -> Box<dyn Engine + Send> {
        Box::new(Profiled { inner, profile: self.clone(), until_next: PERIOD })
    }

    fn count(&self, pc: u32) {
        if let Ok(mut counts) = self.0.lock()
            && (counts.len() < MOST || counts.contains_key(&pc))
        {
            *counts.entry(pc).or_default() += 1;
        }
    }

    /// Lines by function, most first; addresses in no function of the file by their page.
    pub fn lines(&self, functions: &Functions) -> Vec<String> {
        let Ok(counts) = self.0.lock() else { return Vec::new() };
        let total: u64 = counts.values().sum();
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for (&pc, &count) in counts.iter() {
            *by_name.entry(functions.name(pc)).or_default() += count;
        }
        let mut rows: Vec<(String, u64)> = by_name.into_iter().collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let percent = |count: u64| 100.0 * count as f64 / total.max(1) as f64;
        rows.into_iter()
            .map(|(name, count)| format!("{:6.2} %  {count:>8}  {name}", percent(count)))
            .collect()
    }
}

struct Profiled {
    inner: Box<dyn Engine + Send>,
    profile: Profile,
    until_next: u64,
}

impl Engine for Profiled {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        loop {
            let granted = self.until_next.min(*fuel);
            let mut left = granted;
            let event = self.inner.run(cpu, memory, &mut left);
            let used = granted - left;
            *fuel -= used;
            self.until_next -= used;
            if self.until_next == 0 {
                self.until_next = PERIOD;
                self.profile.count(cpu.pc);
            }
            if event != Event::OutOfFuel || *fuel == 0 {
                return event;
            }
        }
    }

    fn repeat_itself(&mut self) {
        self.inner.repeat_itself();
    }

    fn exact_registers(&mut self, exact: bool) {
        self.inner.exact_registers(exact);
    }
}

/// An engine that prints the instructions that it executes to standard error, until enough are printed.
pub struct Traced {
    left: usize,
    interpreter: Interpreter,
    inner: Box<dyn Engine + Send>,
}

impl Traced {
    /// An engine that prints so many instructions, and is `inner` then.
    pub fn new(most: usize, inner: Box<dyn Engine + Send>) -> Traced {
        Traced { left: most, interpreter: Interpreter::default(), inner }
    }

    /// Prints the instruction at an address; whether it has a delay slot.
    fn print(&mut self, cpu: &Cpu, memory: &Memory, pc: u32) -> bool {
        let Ok(bytes) = memory.fetch(pc) else { return false };
        let word = cpu.endian.word(bytes);
        print::note(format_args!("{pc:8x}:\t{word:08x}\t{}", disasm::text(word, pc)));
        self.left = self.left.saturating_sub(1);
        decode(word).is_ok_and(|inst| inst.op.has_slot())
    }
}

impl Engine for Traced {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        while self.left > 0 {
            if memory.is_stale() {
                self.interpreter.forget(&memory.take_stale());
            }
            if *fuel == 0 {
                return Event::OutOfFuel;
            }
            let pc = cpu.pc;
            if self.print(cpu, memory, pc) {
                self.print(cpu, memory, pc.wrapping_add(4));
            }
            if let Some(event) = self.interpreter.step(cpu, memory, fuel) {
                return event;
            }
        }
        self.inner.run(cpu, memory, fuel)
    }

    fn repeat_itself(&mut self) {
        self.inner.repeat_itself();
    }

    fn exact_registers(&mut self, exact: bool) {
        self.inner.exact_registers(exact);
    }
}
