//! Numbers of values and blocks without names, as LLVM counts them in text: arguments, then each block and its
//! instructions.

use crate::bitcode::{BlockId, Body, Def, Module, ValueId};
use rustc_hash::FxHashMap;

/// Names and numbers of a function.
pub(super) struct Slots<'m> {
    body: &'m Body,
    base: u32,
    values: FxHashMap<ValueId, u32>,
    blocks: Vec<u32>,
    names: FxHashMap<ValueId, &'m [u8]>,
    block_names: FxHashMap<BlockId, &'m [u8]>,
}

/// How a value or block is called.
pub(super) enum Name<'m> {
    /// By a name.
    Text(&'m [u8]),
    /// By a number.
    Number(u32),
}

impl<'m> Slots<'m> {
    pub fn of(module: &Module, body: &'m Body) -> Slots<'m> {
        let base = module.values.len() as u32;
        let mut slots = Slots {
            body,
            base,
            values: FxHashMap::default(),
            blocks: Vec::new(),
            names: body.names.iter().map(|(id, name)| (*id, name.as_slice())).collect(),
            block_names: body.block_names.iter().map(|(id, name)| (*id, name.as_slice())).collect(),
        };
        let mut next = 0;
        let mut count = || {
            next += 1;
            next - 1
        };
        for (id, value) in (base..).map(ValueId).zip(&body.values) {
            if matches!(value.def, Def::Argument(_)) && !slots.names.contains_key(&id) {
                slots.values.insert(id, count());
            }
        }
        for block in (0..body.blocks.len() as u32).map(BlockId) {
            let named = slots.block_names.contains_key(&block);
            slots.blocks.push(if named { 0 } else { count() });
            for id in body.block(block).1.iter().filter_map(|i| i.result) {
                if !slots.names.contains_key(&id) {
                    slots.values.insert(id, count());
                }
            }
        }
        slots
    }

    pub fn body(&self) -> &'m Body {
        self.body
    }

    /// The argument with an index: arguments are a function's first values.
    pub fn first_local(&self, index: usize) -> ValueId {
        ValueId(self.base.wrapping_add(index as u32))
    }

    pub fn value(&self, id: ValueId) -> Option<Name<'m>> {
        match self.names.get(&id) {
            Some(name) => Some(Name::Text(name)),
            None => self.values.get(&id).map(|&n| Name::Number(n)),
        }
    }

    pub fn block(&self, id: BlockId) -> Option<Name<'m>> {
        match self.block_names.get(&id) {
            Some(name) => Some(Name::Text(name)),
            None => self.blocks.get(id.0 as usize).map(|&n| Name::Number(n)),
        }
    }
}
