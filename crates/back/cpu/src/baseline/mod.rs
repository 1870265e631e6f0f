//! Baseline code: operations one by one as instructions of the host, compiled at once.
//!
//! It stands between the interpreter and the code that Cranelift makes: compiling takes little more than decoding, so that it is
//! worth its while for code that runs ten times. Each register is written to its home when it changes, so that homes are exact at any
//! instruction; within a block, registers of the host keep what was read and written last. It counts the runs of its blocks, by
//! which those that are hot become Cranelift's.
//!
//! What it does not know (system calls, traps, rare instructions of the floating-point unit) it leaves to the interpreter, and goes on
//! behind it.

mod asm;
mod block;
mod cache;
mod discover;
mod float;
mod memory;

use crate::compiler::Code;
use crate::signals::{Pending, Site};
use crate::state::{Exit, State};
use asm::{Asm, Cond, Label, Mem, R14, R15, RAX, RDI, RSI, SUB, Width};
use cache::Cache;
pub(crate) use discover::Region;
use discover::{Block, End};
use rustc_hash::FxHashMap;
use xenoglot_mips::Endian;

/// Offset in a block at which a detour to better code of its address is written: behind the load of the window's base, which
/// branches from within the region skip.
pub(crate) const DETOUR: u64 = 7;

/// What takes the place of a block's first instructions from [`DETOUR`] on when there is better code for it: it goes on through
/// the place in the table at `entry`, or returns.
pub(crate) fn detour(pc: u32, entry: Option<u64>) -> Vec<u8> {
    let mut asm = Asm::default();
    match entry {
        Some(entry) => {
            asm.mov_imm(RSI, pc);
            asm.mov_imm64(RAX, entry);
            asm.jmp_mem(Mem::at(RAX, 0));
        }
        None => {
            asm.mov_imm(RAX, pc);
            asm.ret();
        }
    }
    asm.finish().unwrap_or_default()
}

/// Code of a region, and where its blocks begin: guest addresses and offsets.
pub(crate) struct Baseline {
    pub(crate) code: Code,
    pub(crate) entries: Vec<(u32, u32)>,
}

/// Cold code of a block, emitted behind the hot code.
enum Cold {
    /// Leaves the code, with so many instructions to count.
    Leave { exit: Exit, pc: u32, count: u32 },
    /// Goes on at code outside of the region.
    Link(u32),
    /// An access that is not aligned.
    Unaligned(Pending),
}

struct Emitter<'a> {
    asm: Asm,
    endian: Endian,
    /// Where the table has the code of guest addresses; `None` when code returns instead of going on by itself.
    links: Option<&'a mut dyn FnMut(u32) -> Option<u64>>,
    /// The blocks of the region by their addresses.
    blocks: FxHashMap<u32, Label>,
    cache: Cache,
    sites: Vec<Site>,
    cold: Vec<(Label, Cold)>,
    /// Of the instruction at hand: its address, and what is to be done when it fails.
    at: Pending,
}

/// Where a register has its home.
fn home(register: u8) -> Mem {
    Mem::at(RDI, i32::from(register) * 4)
}

/// Compiles a region. `links` says where the table has the code for guest addresses, `None` when code is to return; `None` comes
/// back for what cannot be.
pub(crate) fn compile(
    region: &Region,
    endian: Endian,
    links: Option<&mut dyn FnMut(u32) -> Option<u64>>,
) -> Option<Baseline> {
    let mut asm = Asm::default();
    let blocks = region.blocks.iter().map(|block| (block.pc, asm.label())).collect();
    let at = Pending { access: 0, pc: 0, count: 0 };
    let (sites, cold) = (Vec::new(), Vec::new());
    let mut emitter = Emitter { asm, endian, links, blocks, cache: Cache::default(), sites, cold, at };
    let mut entries = Vec::with_capacity(region.blocks.len());
    for (n, block) in region.blocks.iter().enumerate() {
        entries.push((block.pc, emitter.asm.offset()));
        let next = region.blocks.get(n + 1).map(|block| block.pc);
        emitter.block(block, region.ops(block), next);
    }
    emitter.finish_cold();
    let Emitter { asm, sites, .. } = emitter;
    Some(Baseline { code: Code::new(asm.finish()?, sites), entries })
}

impl Emitter<'_> {
    fn cold(&mut self, cold: Cold) -> Label {
        let label = self.asm.label();
        self.cold.push((label, cold));
        label
    }

    /// Where the instruction at hand is left to the interpreter, which begins it anew.
    fn give_up(&mut self) -> Label {
        let Pending { pc, count, .. } = self.at;
        self.cold(Cold::Leave { exit: Exit::Interpret, pc, count: count as u32 })
    }

    /// Counts instructions. Flags stay.
    fn count(&mut self, count: u32) {
        if count != 0 {
            self.asm.lea64(R15, Mem::at(R15, -(count as i32)));
        }
    }

    fn leave(&mut self, exit: Exit, pc: u32) {
        self.asm.mov_imm64(RAX, (exit as u64) << 32 | u64::from(pc));
        self.asm.ret();
    }

    /// Goes on at a guest address that is known.
    fn go_on(&mut self, pc: u32) {
        match self.blocks.get(&pc) {
            Some(&label) => self.asm.jmp(label),
            None => self.link(pc),
        }
    }

    /// The same under a condition.
    fn go_on_if(&mut self, cond: Cond, pc: u32) {
        let label = match self.blocks.get(&pc) {
            Some(&label) => label,
            None => self.cold(Cold::Link(pc)),
        };
        self.asm.jcc(cond, label);
    }

    /// Goes on at code outside of the region.
    fn link(&mut self, pc: u32) {
        match self.links.as_mut().and_then(|links| links(pc)) {
            Some(entry) => {
                self.asm.mov_imm(RSI, pc);
                self.asm.mov_imm64(RAX, entry);
                self.asm.jmp_mem(Mem::at(RAX, 0));
            }
            None => self.leave(Exit::Next, pc),
        }
    }

    fn finish_cold(&mut self) {
        for (label, cold) in std::mem::take(&mut self.cold) {
            self.asm.bind(label);
            match cold {
                Cold::Leave { exit, pc, count } => {
                    self.count(count);
                    self.leave(exit, pc);
                }
                Cold::Link(pc) => self.link(pc),
                Cold::Unaligned(pending) => {
                    self.sites.push(Site { offset: self.asm.offset(), pending });
                    self.asm.ud2();
                }
            }
        }
    }

    /// The block at a guest address, as far as the region has it.
    fn block(&mut self, block: &Block, ops: &[xenoglot_guest::ops::Op], next: Option<u32>) {
        let Some(&label) = self.blocks.get(&block.pc) else { return };
        self.cache.clear();
        self.enter(block.pc, label);
        let branch = block.branch.map(usize::from);
        for (n, op) in ops.iter().enumerate().take(branch.unwrap_or(ops.len())) {
            self.begin(block.pc, n, n);
            self.op(op);
        }
        let count = ops.len() as u32;
        match (block.end, branch) {
            (_, Some(n)) => {
                if let [branch, slot] = ops.get(n..).unwrap_or_default() {
                    self.branch(block, n, branch, slot, next);
                }
            }
            (End::Leave, None) => {
                self.count(count);
                self.leave(Exit::Interpret, block.behind(ops.len()));
            }
            (End::Next, None) => {
                self.count(count);
                let pc = block.behind(ops.len());
                if next != Some(pc) {
                    self.go_on(pc);
                }
            }
        }
    }

    /// What each block begins with: whether there is fuel, and whether it is hot. A [`detour`] has room there.
    fn enter(&mut self, pc: u32, label: Label) {
        let start = self.asm.offset();
        self.asm.load(Width::W64, R14, Mem::at(RDI, State::WINDOW));
        debug_assert_eq!(u64::from(self.asm.offset() - start), DETOUR);
        self.asm.bind(label);
        let no_fuel = self.cold(Cold::Leave { exit: Exit::Next, pc, count: 0 });
        self.asm.test64(R15, R15);
        self.asm.jcc(Cond::LESS_EQUAL, no_fuel);
        let hot = self.cold(Cold::Leave { exit: Exit::Hot, pc, count: 0 });
        self.asm.alu_mem_imm(SUB, Mem::at(RDI, State::counter(pc)), 1);
        self.asm.jcc(Cond::SIGN, hot);
    }

    /// The instruction `n` of a block is at hand; when it fails, the guest goes on at instruction `from`.
    fn begin(&mut self, block: u32, n: usize, from: usize) {
        let address = |n: usize| block.wrapping_add(4 * n as u32);
        self.at = Pending { access: address(n), pc: address(from), count: from as i32 };
        self.cache.unlock();
    }
}
