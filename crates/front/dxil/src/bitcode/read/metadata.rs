//! Metadata of the module and of functions.

use super::{Reader, Record};
use crate::bitcode::codes::{block, metadata as code};
use crate::bitcode::error::{ErrorKind, Step};
use crate::bitcode::module::{MetadataId, Node, ValueId};

/// Bits of a record, about.
const RECORD_BITS: u64 = 64;

impl Reader<'_> {
    pub(super) fn metadata(&mut self) -> Step<()> {
        let mut name = None;
        self.stream.enter(block::METADATA)?;
        let records = (self.stream.block_left() / RECORD_BITS) as usize;
        self.module.metadata.pool.reserve_metadata(records);
        if self.body.is_none() {
            self.module.metadata.nodes.reserve(records);
        }
        let record = |r: &mut Self, mut record: Record<'_>| {
            match record.code {
                code::NAME => name = Some(r.module.metadata.pool.list(record.bytes())),
                code::NAMED_NODE => {
                    let name = name.take().ok_or(ErrorKind::malformed("name of metadata", 0u32))?;
                    let metadata = &mut r.module.metadata;
                    let items = metadata.pool.try_list(record.operands.iter().map(|&n| id(n)))?;
                    metadata.named.push((name, items));
                }
                code::KIND => {
                    let kind = record.next32()?;
                    let metadata = &mut r.module.metadata;
                    let name = metadata.pool.list(record.bytes());
                    metadata.kinds.push((kind, name));
                }
                _ => {
                    let node = r.node(record)?;
                    match &mut r.body {
                        Some(body) => body.metadata.push(node),
                        None => r.module.metadata.nodes.push(node),
                    }
                }
            }
            Ok(())
        };
        self.each("METADATA", record, |r, _| r.stream.skip())
    }

    fn node(&mut self, mut record: Record<'_>) -> Step<Node> {
        let pool = &mut self.module.metadata.pool;
        Ok(match record.code {
            code::STRING => Node::Text(pool.list(record.bytes())),
            code::VALUE => {
                let ty = self.module.types.find(record.next()?)?;
                let value = ValueId(record.next32()?);
                self.expect(value, ty)?;
                Node::Value(value)
            }
            code::NODE | code::DISTINCT_NODE => Node::List {
                distinct: record.code == code::DISTINCT_NODE,
                items: pool.try_list(record.operands.iter().map(|&n| optional(n)))?,
            },
            code => Node::Debug { code, operands: pool.list(record.operands.iter().copied()) },
        })
    }

    /// Metadata of instructions and of the function itself.
    pub(super) fn attachments(&mut self) -> Step<()> {
        self.records(block::METADATA_ATTACHMENT, "METADATA_ATTACHMENT", |r, mut record| {
            if record.code != code::ATTACHMENT {
                return Ok(());
            }
            let inst = match record.operands.len() % 2 {
                1 => Some(record.next32()?),
                _ => None,
            };
            let mut pairs = Vec::new();
            while !record.operands.is_empty() {
                pairs.push((record.next32()?, id(record.next()?)?));
            }
            if let Some(body) = &mut r.body {
                match inst {
                    Some(inst) => body.attachments.push((inst, pairs)),
                    None => body.attached.extend(pairs),
                }
            }
            Ok(())
        })
    }
}

fn id(number: u64) -> Step<MetadataId> {
    u32::try_from(number).map(MetadataId).map_err(|_| ErrorKind::missing("metadata", number))
}

/// Numbers from 1 on; 0 is null.
fn optional(number: u64) -> Step<Option<MetadataId>> {
    number.checked_sub(1).map(id).transpose()
}
