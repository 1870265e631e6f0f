//! Decoded blocks by address, and which pages they are from.
//!
//! A block ends behind the delay slot of its first branch, at an instruction that always leaves, or at the end of its
//! page; only a delay slot may lie in the next page. Blocks of a page that changed are forgotten.

use crate::memory::{Fault, Memory, PAGE_BITS, PAGE_BYTES};
use crate::ops::{Code, Op, lower};
use rustc_hash::FxHashMap;
use xenoglot_mips::{Endian, decode};

/// Instructions of a block.
const MAX_BLOCK: usize = 128;
/// Entries of the table that is looked into first.
const RECENT: usize = 1 << 13;
/// Operations that are kept before everything is forgotten.
const MAX_OPS: usize = 1 << 22;

/// A block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub pc: u32,
    /// Address behind it.
    pub next: u32,
    start: u32,
    len: u16,
    /// Index of the delay slot, `u16::MAX` for none.
    pub slot: u16,
}

#[derive(Debug)]
pub(super) struct Cache {
    ops: Vec<Op>,
    blocks: FxHashMap<u32, Block>,
    by_page: FxHashMap<u32, Vec<u32>>,
    /// The last block of each hash; one of address 1 for none, as no block has an odd address.
    recent: Vec<Block>,
    /// Instructions of a block, its delay slot not counted.
    max_block: usize,
}

const NO_BLOCK: Block = Block { pc: 1, next: 0, start: 0, len: 0, slot: u16::MAX };

impl Default for Cache {
    fn default() -> Self {
        Cache::new(MAX_BLOCK)
    }
}

impl Cache {
    /// An empty cache of blocks with at most so many instructions.
    pub(super) fn new(max_block: usize) -> Self {
        Cache {
            ops: Vec::new(),
            blocks: FxHashMap::default(),
            by_page: FxHashMap::default(),
            recent: vec![NO_BLOCK; RECENT],
            max_block,
        }
    }

    #[inline(always)]
    pub(super) fn find(&self, pc: u32) -> Option<Block> {
        self.recent.get((pc >> 2) as usize & (RECENT - 1)).filter(|block| block.pc == pc).copied()
    }

    #[inline(always)]
    pub(super) fn ops(&self, block: &Block) -> &[Op] {
        self.ops
            .get(block.start as usize..)
            .and_then(|ops| ops.get(..usize::from(block.len)))
            .unwrap_or_default()
    }

    /// Forgets the blocks of pages that changed.
    pub(super) fn forget(&mut self, pages: &[u32]) {
        for page in pages {
            for pc in self.by_page.remove(page).unwrap_or_default() {
                self.blocks.remove(&pc);
                if let Some(recent) = self.recent.get_mut((pc >> 2) as usize & (RECENT - 1))
                    && recent.pc == pc
                {
                    *recent = NO_BLOCK;
                }
            }
        }
    }

    /// Decodes the block at `pc`, unless it is there.
    #[cold]
    #[inline(never)]
    pub(super) fn load(&mut self, pc: u32, memory: &mut Memory, endian: Endian) -> Result<Block, Fault> {
        let block = match self.blocks.get(&pc) {
            Some(block) => *block,
            None => self.decode(pc, memory, endian)?,
        };
        if let Some(recent) = self.recent.get_mut((pc >> 2) as usize & (RECENT - 1)) {
            *recent = block;
        }
        Ok(block)
    }

    fn decode(&mut self, pc: u32, memory: &mut Memory, endian: Endian) -> Result<Block, Fault> {
        memory.fetch(pc)?;
        if self.ops.len() > MAX_OPS {
            *self = Cache::new(self.max_block);
        }
        let start = self.ops.len();
        let mut at = pc;
        let mut slot = u16::MAX;
        let mut in_slot = false;
        loop {
            let (op, branch) = match memory.fetch(at) {
                Err(_) => (Op::new(Code::FetchFault, 0, 0, 0, 0), false),
                Ok(bytes) => {
                    let word = endian.word(bytes);
                    memory.watch_code(at);
                    let list = self.by_page.entry(at >> PAGE_BITS).or_default();
                    if list.last() != Some(&pc) {
                        list.push(pc);
                    }
                    match decode(word) {
                        // A branch in a delay slot is refused, as the manual leaves open what it does.
                        Ok(inst) if !(in_slot && inst.op.has_slot()) => (lower(inst, at), inst.op.has_slot()),
                        _ => (Op::new(Code::Reserved, 0, 0, 0, word), false),
                    }
                }
            };
            self.ops.push(op);
            at = at.wrapping_add(4);
            let len = self.ops.len() - start;
            if in_slot {
                // A slot without effect needs no operation.
                if op.code == Code::Nop {
                    self.ops.pop();
                }
                break;
            }
            if branch {
                slot = len as u16;
                in_slot = true;
                continue;
            }
            let leaves = matches!(op.code, Code::Syscall | Code::Break | Code::Reserved | Code::FetchFault);
            if leaves || len >= self.max_block || at & (PAGE_BYTES - 1) == 0 {
                break;
            }
        }
        let len = (self.ops.len() - start) as u16;
        let block = Block { pc, next: at, start: start as u32, len, slot };
        self.blocks.insert(pc, block);
        Ok(block)
    }
}
