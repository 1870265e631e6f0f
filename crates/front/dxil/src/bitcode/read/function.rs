//! Function blocks: arguments, constants, and what surrounds instructions.

use super::Reader;
use crate::bitcode::codes::{block, function as code};
use crate::bitcode::error::{ErrorKind, Step};
use crate::bitcode::module::{BlockId, Body, Def, Inst, InstKind, Value, ValueId};
use crate::bitcode::ty::{Type, TypeId};

/// What an instruction takes with all that stands beside it, to make room for about as many as there are.
const INST_BITS: u64 = 48;

impl Reader<'_> {
    /// The body of the next function that is defined.
    pub(super) fn function(&mut self) -> Step<()> {
        let mut defined = self.module.functions.iter().enumerate().filter(|(_, f)| f.body.is_some());
        let number = self.bodies as u64;
        let (index, function) = defined.nth(self.bodies).ok_or(ErrorKind::missing("function", number))?;
        let Some(Type::Function { params, .. }) = self.module.types.get(function.ty) else {
            return Err(ErrorKind::Type("a function"));
        };
        let params = params.clone();
        self.bodies += 1;
        self.body = Some(Body::default());
        for (n, &ty) in (0..).zip(&params) {
            self.new_value(ty, Def::Argument(n));
        }
        let mut reading = Reading::default();
        self.stream.enter(block::FUNCTION)?;
        let insts = (self.stream.block_left() / INST_BITS) as usize;
        if let Some(body) = &mut self.body {
            body.insts.reserve(insts);
            body.values.reserve(insts);
        }
        self.value_types.reserve(insts);
        self.lists.reserve(insts);
        self.each(
            "FUNCTION_BLOCK",
            |r, mut record| match record.code {
                code::DECLAREBLOCKS => {
                    reading.blocks = record.next32()?;
                    r.blocks = r.blocks.saturating_add(reading.blocks as usize);
                    if r.blocks > r.limits.blocks {
                        return Err(ErrorKind::Limit("blocks"));
                    }
                    if let Some(body) = &mut r.body {
                        body.blocks.reserve((reading.blocks as usize).min(body.insts.capacity()));
                    }
                    Ok(())
                }
                code::DEBUG_LOC => {
                    reading.place = [(); 4].map(|()| record.optional() as u32);
                    r.place(&reading)
                }
                code::DEBUG_LOC_AGAIN => r.place(&reading),
                _ => r.inst(record, &mut reading),
            },
            |r, id| match id {
                block::CONSTANTS => r.constants(),
                block::METADATA => r.metadata(),
                block::METADATA_ATTACHMENT => r.attachments(),
                block::VALUE_SYMTAB => r.symbols(),
                _ => r.stream.skip(),
            },
        )?;
        self.check_forward()?;
        let mut body = self.body.take().unwrap_or_default();
        body.lists = std::mem::take(&mut self.lists);
        self.value_types.truncate(self.module.values.len());
        self.check_body(&body, &reading)?;
        if let Some(function) = self.module.functions.get_mut(index) {
            function.body = Some(body);
        }
        Ok(())
    }

    /// What numbers alone cannot tell while they are read.
    fn check_body(&self, body: &Body, reading: &Reading) -> Step<()> {
        if reading.inside || body.blocks.len() != reading.blocks as usize || body.blocks.is_empty() {
            return Err(ErrorKind::malformed("number of blocks", reading.blocks));
        }
        let count = self.module.metadata.nodes.len() + body.metadata.len();
        let attached = body.attachments.iter().flat_map(|(_, pairs)| pairs).chain(&body.attached);
        match attached.clone().find(|(_, node)| node.0 as usize >= count) {
            Some((_, node)) => Err(ErrorKind::missing("metadata", node.0)),
            None => Ok(()),
        }
    }

    /// The place of the instruction before.
    fn place(&mut self, reading: &Reading) -> Step<()> {
        if let Some(body) = &mut self.body {
            let inst = (body.insts.len() as u32).wrapping_sub(1);
            body.places.push((inst, reading.place));
        }
        Ok(())
    }

    /// Adds an instruction with the type of its result. Inlined, as copies of what was only just written are slow.
    #[inline(always)]
    pub(super) fn add(&mut self, reading: &mut Reading, ty: Option<TypeId>, kind: InstKind) -> Step<()> {
        self.insts += 1;
        if self.insts > self.limits.instructions {
            return Err(ErrorKind::Limit("instructions"));
        }
        let Some(body) = &mut self.body else { return Ok(()) };
        let index = body.insts.len() as u32;
        if !reading.inside {
            body.blocks.push(index);
            reading.inside = true;
        }
        let ends = matches!(
            kind,
            InstKind::Return(_)
                | InstKind::Jump(_)
                | InstKind::Branch { .. }
                | InstKind::Switch { .. }
                | InstKind::Unreachable
        );
        reading.inside = !ends;
        let result = ty.map(|ty| {
            // Written where it stays: a copy of what was only just written in parts would wait for it.
            body.values.extend(std::iter::once_with(|| Value { ty, def: Def::Inst(index) }));
            self.value_types.push(ty);
            ValueId(self.value_types.len() as u32 - 1)
        });
        body.insts.push(Inst { result, kind });
        Ok(())
    }
}

/// How far a function is read.
#[derive(Default)]
pub(super) struct Reading {
    /// Blocks it says it has.
    blocks: u32,
    /// Whether the last instruction did not end a block.
    inside: bool,
    /// The last place in the source.
    place: [u32; 4],
}

impl Reading {
    /// A block of the function.
    pub fn block(&self, number: u64) -> Step<BlockId> {
        let id = u32::try_from(number).ok().filter(|&n| n < self.blocks);
        id.map(BlockId).ok_or(ErrorKind::missing("block", number))
    }
}
