//! Memory: the timer, or an SDRAM of banks with a row open each.

use xenoglot_dragon::cosim::*;

#[derive(Clone, Copy, Default, PartialEq)]
struct Bank {
    open: Option<u32>,
    column: u64,
    precharge: u64,
    active: u64,
}

#[derive(Default)]
pub struct MemoryModel {
    config: MemoryConfig,
    banks: Vec<Bank>,
    bus: u64,
    wrote: bool,
    active: u64,
    refresh: u64,
}

impl MemoryModel {
    fn refreshes(&mut self, at: u64) -> u32 {
        let c = &self.config;
        let mut made = 0;
        while c.refresh != 0 && self.refresh <= at {
            let open = self.banks.iter().any(|b| b.open.is_some());
            let free = |b: &Bank| if b.open.is_some() { b.precharge } else { b.active };
            let start = self.banks.iter().map(free).max().unwrap_or(0).max(self.refresh).max(self.bus);
            let active = start + u64::from(c.rfc) + if open { u64::from(c.rp) } else { 0 };
            // What is long over leaves nothing but that banks are closed.
            self.banks.fill(Bank { active, ..Bank::default() });
            self.refresh += u64::from(c.refresh);
            made += 1;
        }
        made
    }

    fn burst(&mut self, at: u64, write: bool, address: u32, out: &mut MemoryOutput) -> u64 {
        out.refreshes += self.refreshes(at.max(self.bus));
        let c = &self.config;
        let row = address / c.row_bytes;
        let count = self.banks.len();
        let bank = &mut self.banks[row as usize % count];
        match bank.open {
            Some(open) if open == row => out.hits += 1,
            other => {
                let mut begin = at;
                match other {
                    Some(_) => {
                        out.conflicts += 1;
                        begin = at.max(bank.precharge) + u64::from(c.rp);
                    }
                    None => out.closed += 1,
                }
                let active = begin.max(bank.active).max(self.active);
                let after = |ticks: u32| active + u64::from(ticks);
                let (column, precharge) = (after(c.rcd), after(c.ras));
                *bank = Bank { open: Some(row), column, precharge, active: after(c.rc) };
                self.active = after(c.rrd);
            }
        }
        let free = if self.wrote == write { self.bus } else { self.bus + u64::from(c.turnaround) };
        let data = bank.column.max(at) + if write { 0 } else { u64::from(c.cas) };
        let end = data.max(free) + u64::from(c.burst);
        let closes = if write { end + u64::from(c.wr) } else { end - u64::from(c.cas) };
        bank.precharge = bank.precharge.max(closes);
        (self.bus, self.wrote) = (end, write);
        end
    }
}

impl Model<MemoryInput, MemoryOutput> for MemoryModel {
    fn reset(&mut self, config: &Config) {
        let config = config.memory;
        let banks = vec![Bank::default(); config.banks as usize];
        *self = MemoryModel { config, banks, refresh: config.refresh.into(), ..Default::default() };
    }

    fn tick(&mut self, input: &MemoryInput) -> MemoryOutput {
        let mut out = MemoryOutput::default();
        let bursts = (input.address % 32 + input.bytes).div_ceil(32);
        let c = self.config;
        if c.timer != 0 {
            let first = if input.write != 0 { c.write } else { c.read };
            out.done = input.now + u64::from(first) + u64::from((bursts - 1) * c.burst);
            return out;
        }
        let at = input.now + u64::from(c.controller);
        out.queued = self.bus.saturating_sub(at);
        for burst in 0..bursts {
            let address = (input.address / 32 + burst) * 32;
            out.done = out.done.max(self.burst(at, input.write != 0, address, &mut out));
        }
        out
    }

    fn save(&self) -> Option<Vec<u8>> {
        let mut words = vec![self.bus, self.wrote.into(), self.active, self.refresh];
        for bank in &self.banks {
            words.extend([bank.open.map_or(u64::MAX, u64::from), bank.column, bank.precharge, bank.active]);
        }
        Some(words.iter().flat_map(|w| w.to_le_bytes()).collect())
    }

    fn load(&mut self, state: &[u8]) -> bool {
        let words: Vec<u64> =
            state.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
        (self.bus, self.wrote, self.active, self.refresh) = (words[0], words[1] != 0, words[2], words[3]);
        for (bank, w) in self.banks.iter_mut().zip(words[4..].chunks_exact(4)) {
            let open = u32::try_from(w[0]).ok();
            *bank = Bank { open, column: w[1], precharge: w[2], active: w[3] };
        }
        true
    }
}
