//! What an architect reads: hit rates, bandwidth, occupancy, and where programs spend their time.

use crate::machine::Machine;
use crate::memory::Port;
use crate::profile::{Profile, VpuProfile};
use crate::unit::{UNITS, VPU_NAMES};
use serde::{Deserialize, Serialize};
use std::fmt;
use xenoglot_vpu::disasm::disassemble;

/// Counters of one frame or of several together.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Ticks.
    pub ticks: u64,
    /// Ticks a second.
    pub clock_hz: u64,
    /// What units asked memory for; those that asked for nothing are left out.
    pub memory: Vec<UnitMemory>,
    /// Refreshes of the SDRAM.
    pub refreshes: u64,
    /// The vertex cache, by vertex.
    pub vertex_cache: Cache,
    /// The texture cache, by line of each sample.
    pub texture_cache: Cache,
    /// VPUs.
    pub vpus: Vec<VpuCounters>,
    /// Words of programs, those with most ticks first.
    pub hot: Vec<Hot>,
    /// Bins, row by row.
    pub bins: Vec<BinCounters>,
}

/// What a unit asked memory for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitMemory {
    /// The unit.
    pub unit: String,
    /// The counts.
    #[serde(flatten)]
    pub port: Port,
    /// Share of bursts that found their row open.
    pub row_hit_rate: f64,
    /// Megabytes a second, read and written.
    pub megabytes_per_second: f64,
    /// Ticks of an access.
    pub mean_ticks: f64,
}

/// What a cache did.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Cache {
    /// What was wanted and there.
    pub hits: u64,
    /// What was wanted and not there.
    pub misses: u64,
    /// Share of hits; 0 if nothing was wanted.
    pub rate: f64,
}

/// What a VPU did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpuCounters {
    /// The VPU.
    pub name: String,
    /// Instructions.
    pub issued: u64,
    /// Ticks of all threads.
    pub thread_ticks: u64,
    /// Instructions a tick.
    pub per_tick: f64,
    /// Mean number of threads that run.
    pub threads: f64,
}

/// A word of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hot {
    /// Number of the program, in the order in which they were loaded first.
    pub program: usize,
    /// The word's number.
    pub address: usize,
    /// The instruction.
    pub instruction: String,
    /// Its line in the source, from 1, if that is known.
    pub line: Option<u32>,
    /// How often it was issued.
    pub issued: u64,
    /// Ticks of threads it took.
    pub ticks: u64,
    /// Its share of all of them.
    pub share: f64,
}

/// A bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinCounters {
    /// Its first pixel.
    pub x: u16,
    /// Its first pixel.
    pub y: u16,
    /// Ticks of its draws.
    pub draw_ticks: u64,
    /// Ticks of the stores of its tile buffers.
    pub store_ticks: u64,
    /// Fragments.
    pub fragments: u64,
    /// The most fragments of a pixel.
    pub overdraw: u32,
    /// Instructions.
    pub instructions: u64,
}

/// `part / all`, 0 of nothing.
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Lines of a source, from 1, that have the words of its program. Each line has at most one, behind a label.
pub fn source_lines(source: &str) -> Vec<u32> {
    let has_word = |line: &str| {
        let code = line.split(';').next().unwrap_or_default();
        let code = code.split("//").next().unwrap_or_default();
        !code.rsplit_once(':').map_or(code, |(_, after)| after).trim().is_empty()
    };
    (1..).zip(source.lines()).filter(|(_, line)| has_word(line)).map(|(n, _)| n).collect()
}

impl Counters {
    /// What a machine has counted.
    pub fn of(machine: &Machine) -> Counters {
        let empty = Profile::default();
        let mut counters = Counters::with(machine, machine.profile().unwrap_or(&empty));
        counters.complete();
        counters
    }

    fn with(machine: &Machine, profile: &Profile) -> Counters {
        let unit = |(unit, port): (&&str, &Port)| UnitMemory {
            unit: (*unit).to_owned(),
            port: *port,
            row_hit_rate: 0.0,
            megabytes_per_second: 0.0,
            mean_ticks: 0.0,
        };
        let ports = UNITS.iter().zip(machine.memory().ports());
        let vpu = |(name, v): (&&str, &VpuProfile)| VpuCounters {
            name: (*name).to_owned(),
            issued: v.issued,
            thread_ticks: v.thread_ticks,
            per_tick: 0.0,
            threads: 0.0,
        };
        let hot = profile.programs.iter().enumerate().flat_map(|(program, p)| {
            let text = disassemble(&p.words);
            let lines: Vec<String> =
                text.lines().filter(|l| !source_lines(l).is_empty()).map(|l| l.trim().to_owned()).collect();
            p.hot.iter().enumerate().filter(|(_, h)| h.issued > 0).map(move |(address, h)| Hot {
                program,
                address,
                instruction: lines.get(address).cloned().unwrap_or_default(),
                line: None,
                issued: h.issued,
                ticks: h.ticks,
                share: 0.0,
            })
        });
        let bin = |(&[x, y], b): (&[u16; 2], &crate::profile::BinProfile)| BinCounters {
            x,
            y,
            draw_ticks: b.draw_ticks,
            store_ticks: b.store_ticks,
            fragments: b.fragments.iter().copied().map(u64::from).sum(),
            overdraw: b.fragments.iter().copied().max().unwrap_or(0),
            instructions: b.instructions.iter().copied().map(u64::from).sum(),
        };
        let mut bins: Vec<BinCounters> = profile.bins.iter().map(bin).collect();
        bins.sort_by_key(|b| (b.y, b.x));
        let [vertices, lines] = machine.cache_counts();
        Counters {
            ticks: machine.now(),
            clock_hz: machine.params().clock_hz,
            memory: ports.filter(|(_, p)| p.accesses > 0).map(unit).collect(),
            refreshes: machine.memory().refreshes(),
            vertex_cache: Cache { hits: vertices[0], misses: vertices[1], rate: 0.0 },
            texture_cache: Cache { hits: lines[0], misses: lines[1], rate: 0.0 },
            vpus: VPU_NAMES.iter().zip(&profile.vpus).map(vpu).collect(),
            hot: hot.collect(),
            bins,
        }
    }

    /// Adds those of another frame, of a machine that was just switched on.
    pub fn merge(&mut self, other: &Counters) {
        self.ticks += other.ticks;
        self.clock_hz = self.clock_hz.max(other.clock_hz);
        self.refreshes += other.refreshes;
        for unit in &other.memory {
            match self.memory.iter_mut().find(|u| u.unit == unit.unit) {
                Some(known) => known.port.add(&unit.port),
                None => self.memory.push(unit.clone()),
            }
        }
        for (a, b) in
            [(&mut self.vertex_cache, other.vertex_cache), (&mut self.texture_cache, other.texture_cache)]
        {
            a.hits += b.hits;
            a.misses += b.misses;
        }
        for vpu in &other.vpus {
            match self.vpus.iter_mut().find(|v| v.name == vpu.name) {
                Some(known) => {
                    known.issued += vpu.issued;
                    known.thread_ticks += vpu.thread_ticks;
                }
                None => self.vpus.push(vpu.clone()),
            }
        }
        for hot in &other.hot {
            let same = |h: &&mut Hot| {
                (h.program, h.address, &h.instruction) == (hot.program, hot.address, &hot.instruction)
            };
            match self.hot.iter_mut().find(same) {
                Some(known) => {
                    known.issued += hot.issued;
                    known.ticks += hot.ticks;
                }
                None => self.hot.push(hot.clone()),
            }
        }
        for bin in &other.bins {
            match self.bins.iter_mut().find(|b| (b.x, b.y) == (bin.x, bin.y)) {
                Some(known) => {
                    known.draw_ticks += bin.draw_ticks;
                    known.store_ticks += bin.store_ticks;
                    known.fragments += bin.fragments;
                    known.overdraw = known.overdraw.max(bin.overdraw);
                    known.instructions += bin.instructions;
                }
                None => self.bins.push(*bin),
            }
        }
        self.complete();
    }

    /// Says which lines of their sources the words are of, by number of the program.
    pub fn name_lines(&mut self, sources: &[&str]) {
        let lines: Vec<Vec<u32>> = sources.iter().map(|source| source_lines(source)).collect();
        for hot in &mut self.hot {
            hot.line = lines.get(hot.program).and_then(|lines| lines.get(hot.address)).copied();
        }
    }

    /// Rates of what was counted.
    fn complete(&mut self) {
        let seconds = self.ticks as f64 / self.clock_hz.max(1) as f64;
        for unit in &mut self.memory {
            let Port { read, written, hits, closed, conflicts, ticks, accesses, .. } = unit.port;
            unit.row_hit_rate = share(hits, hits + closed + conflicts);
            let bytes = (read + written) as f64 / 1e6;
            unit.megabytes_per_second = if seconds > 0.0 { bytes / seconds } else { 0.0 };
            unit.mean_ticks = share(ticks, accesses);
        }
        for cache in [&mut self.vertex_cache, &mut self.texture_cache] {
            cache.rate = share(cache.hits, cache.hits + cache.misses);
        }
        for vpu in &mut self.vpus {
            vpu.per_tick = share(vpu.issued, self.ticks);
            vpu.threads = share(vpu.thread_ticks, self.ticks);
        }
        let all = self.hot.iter().map(|h| h.ticks).sum();
        self.hot.iter_mut().for_each(|h| h.share = share(h.ticks, all));
        self.hot.sort_by_key(|h| (std::cmp::Reverse(h.ticks), h.program, h.address));
    }

    /// Names and values of the totals, as columns of a table. Columns of units that asked memory for nothing are there, too.
    pub fn columns(&self) -> Vec<(String, f64)> {
        let mut all = vec![
            ("vertex_cache_hit_rate".to_owned(), self.vertex_cache.rate),
            ("texture_cache_hit_rate".to_owned(), self.texture_cache.rate),
            ("instructions_per_tick".to_owned(), self.vpus.iter().map(|v| v.per_tick).sum()),
            ("threads".to_owned(), self.vpus.iter().map(|v| v.threads).sum()),
        ];
        for name in UNITS {
            let unit = self.memory.iter().find(|u| u.unit == name);
            let (megabytes, hits) = unit.map_or((0.0, 0.0), |u| (u.megabytes_per_second, u.row_hit_rate));
            // Those that move nothing have no memory at all.
            if matches!(name, "command" | "rasterizer" | "tile_buffer_fill" | "write_vpu_global") {
                continue;
            }
            all.push((format!("{name}_mb_per_s"), megabytes));
            all.push((format!("{name}_row_hit_rate"), hits));
        }
        all
    }

    /// All tables as CSV, each with a line of names, one after the other with an empty line between them.
    pub fn csv(&self) -> String {
        let mut out = String::from("counter,value\n");
        out += &format!("ticks,{}\nrefreshes,{}\n", self.ticks, self.refreshes);
        for (name, value) in self.columns() {
            out += &format!("{name},{value:.6}\n");
        }
        out +=
            "\nunit,accesses,bytes_read,bytes_written,row_hits,row_closed,row_conflicts,ticks,queued_ticks\n";
        for UnitMemory { unit, port: p, .. } in &self.memory {
            out += &format!(
                "{unit},{},{},{},{},{},{},{},{}\n",
                p.accesses, p.read, p.written, p.hits, p.closed, p.conflicts, p.ticks, p.queued
            );
        }
        out += "\nvpu,issued,thread_ticks\n";
        for vpu in &self.vpus {
            out += &format!("{},{},{}\n", vpu.name, vpu.issued, vpu.thread_ticks);
        }
        out += "\nprogram,address,line,instruction,issued,ticks\n";
        for h in &self.hot {
            let line = h.line.map_or_else(String::new, |line| line.to_string());
            let text = h.instruction.replace('"', "\"\"");
            out += &format!("{},{},{line},\"{text}\",{},{}\n", h.program, h.address, h.issued, h.ticks);
        }
        out += "\nx,y,draw_ticks,store_ticks,fragments,overdraw,instructions\n";
        for b in &self.bins {
            out += &format!(
                "{},{},{},{},{},{},{}\n",
                b.x, b.y, b.draw_ticks, b.store_ticks, b.fragments, b.overdraw, b.instructions
            );
        }
        out
    }
}

/// Words of programs in the text form.
const HOTTEST: usize = 10;

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |v: f64| 100.0 * v;
        writeln!(
            f,
            "{:<18} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "memory", "accesses", "KiB", "MB/s", "row hits", "ticks", "queued"
        )?;
        for u in &self.memory {
            let kib = (u.port.read + u.port.written) / 1024;
            let queued = percent(share(u.port.queued, u.port.ticks));
            writeln!(
                f,
                "{:<18} {:>9} {kib:>9} {:>9.1} {:>7.1} % {:>9.1} {queued:>7.1} %",
                u.unit,
                u.port.accesses,
                u.megabytes_per_second,
                percent(u.row_hit_rate),
                u.mean_ticks
            )?;
        }
        writeln!(f, "{} refreshes\n", self.refreshes)?;
        writeln!(f, "{:<18} {:>9} {:>9} {:>9}", "cache", "hits", "misses", "hit rate")?;
        for (name, c) in [("vertices", self.vertex_cache), ("texture lines", self.texture_cache)] {
            writeln!(f, "{name:<18} {:>9} {:>9} {:>7.1} %", c.hits, c.misses, percent(c.rate))?;
        }
        if !self.vpus.is_empty() {
            writeln!(f, "\n{:<18} {:>12} {:>9} {:>9}", "VPU", "instructions", "per tick", "threads")?;
            for v in &self.vpus {
                writeln!(f, "{:<18} {:>12} {:>9.2} {:>9.2}", v.name, v.issued, v.per_tick, v.threads)?;
            }
        }
        if !self.hot.is_empty() {
            writeln!(
                f,
                "\n{:<8} {:>5} {:>5} {:>12} {:>9}  instruction",
                "program", "word", "line", "issued", "time"
            )?;
        }
        for h in self.hot.iter().take(HOTTEST) {
            let line = h.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
            let time = percent(h.share);
            writeln!(
                f,
                "{:<8} {:>5} {line:>5} {:>12} {time:>7.1} %  {}",
                h.program, h.address, h.issued, h.instruction
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{DEPTH_PROGRAM, TEXTURE_PROGRAM};
    use xenoglot_vpu::asm::assemble;

    #[test]
    fn lines_have_their_words() {
        for source in [DEPTH_PROGRAM, TEXTURE_PROGRAM, "; a\n\nagain: nop // x: y\nlabel:\n  jmp again ; z\n"]
        {
            assert_eq!(source_lines(source).len(), assemble(source).unwrap().len(), "{source}");
        }
        assert_eq!(source_lines("; a\n\nagain: nop // x: y\nlabel:\n  jmp again"), [3, 5]);
    }
}
