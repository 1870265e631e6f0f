//! Blocks that ran a few times get baseline code.

use crate::baseline::{self, Baseline};
use crate::jit::{Jit, MOST_LEFT};
use crate::options::{Access, Compiled};
use crate::state::counter_of;
use std::time::Instant;
use xenoglot_guest::memory::{Memory, PAGE_BITS};

impl Jit {
    /// Makes baseline code of the blocks from `pc` on; whether there is code for it now.
    #[cold]
    pub(crate) fn warm(&mut self, pc: u32, memory: &mut Memory) -> bool {
        let has_code = self.make_baseline(pc, memory).is_some();
        if !has_code && let Some(unlikely) = self.unlikely.get_mut(counter_of(pc)) {
            *unlikely = true;
        }
        has_code
    }

    fn make_baseline(&mut self, pc: u32, memory: &mut Memory) -> Option<()> {
        let start = Instant::now();
        if self.options.access != Access::Window || self.changes_often(pc) {
            return None;
        }
        let endian = self.state.cpu.endian;
        let (table, library) = (&mut self.table, self.library.as_deref().filter(|_| self.fits));
        let fetch = |pc| memory.fetch(pc).ok().map(|bytes| endian.word(bytes));
        let (counters, runs) = (&self.state.counters, self.options.runs());
        let has_run = |at| at == pc || counters.get(counter_of(at)).is_some_and(|&left| left < runs);
        let has_code =
            |at| table.get(at).is_some() || library.is_some_and(|library| library.get(at).is_some());
        // Most of a program's code never runs.
        let is_other = |at| has_code(at) || !has_run(at);
        let leaves = |pc| self.left.get(&pc).is_some_and(|&left| left >= MOST_LEFT);
        let region = baseline::Region::discover(pc, self.options.max_insts as usize, fetch, is_other, leaves);
        let mut entry = |pc| table.entry(pc);
        let links = self.options.links.then_some(&mut entry as &mut dyn FnMut(u32) -> Option<u64>);
        let Baseline { code, entries } = baseline::compile(&region, endian, links)?;
        if !entries.iter().any(|&(entry, _)| entry == pc) {
            return None;
        }
        let address = self.place(&code).ok()?;
        let words = region.words();
        words.iter().for_each(|&word| memory.watch_code(word));
        let mut pages: Vec<u32> = words.iter().map(|word| word >> PAGE_BITS).collect();
        pages.dedup();
        for &(entry, offset) in &entries {
            self.table.set(entry, Some(address + u64::from(offset)));
            self.baseline.insert(entry, address + u64::from(offset));
        }
        let bytes = code.len();
        self.stats.baseline += 1;
        self.stats.baseline_bytes += bytes as u64;
        self.stats.baseline_time += start.elapsed();
        if let Some(observer) = &self.observer {
            let ends = entries.iter().skip(1).map(|&(_, offset)| offset as usize).chain([bytes]);
            for (&(pc, offset), end) in entries.iter().zip(ends) {
                let (address, bytes) = (address + u64::from(offset), end.saturating_sub(offset as usize));
                observer(&Compiled { pc, address, bytes });
            }
        }
        let entries = entries.into_iter().map(|(pc, _)| pc).collect();
        self.add_region(entries, address..address + bytes as u64, &pages);
        Some(())
    }
}
