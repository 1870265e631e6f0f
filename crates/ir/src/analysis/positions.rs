//! Where instructions stand: their block and place in it.

use crate::entities::{Block, Inst, Value};
use crate::func::{Function, ValueDef};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Block and index of every instruction in the layout.
#[derive(Default)]
pub struct Positions {
    at: SecondaryMap<Inst, (PackedOption<Block>, u32)>,
}

impl Positions {
    /// Analyses `f`.
    pub fn compute(&mut self, f: &Function) {
        self.at.clear();
        self.at.resize(f.insts.len());
        for &b in &f.layout {
            for (i, &inst) in f.blocks[b].insts.iter().enumerate() {
                self.at[inst] = (b.into(), i as u32);
            }
        }
    }

    /// The block `inst` stands in; `None` if it was removed.
    pub fn block(&self, inst: Inst) -> Option<Block> {
        self.at[inst].0.expand()
    }

    /// Block and index of `inst`; `None` if it was removed.
    #[inline]
    pub fn place(&self, inst: Inst) -> Option<(Block, u32)> {
        let (block, index) = self.at[inst];
        Some((block.expand()?, index))
    }

    /// The place of `inst` in its block.
    pub fn index(&self, inst: Inst) -> u32 {
        self.at[inst].1
    }

    /// The block that defines `v`; `None` if its instruction was removed.
    pub fn def_block(&self, f: &Function, v: Value) -> Option<Block> {
        match f.values[v].def {
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Inst(inst, _) => self.block(inst),
        }
    }
}
