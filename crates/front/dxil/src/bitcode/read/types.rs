//! The table of types.

use super::{Reader, Record};
use crate::bitcode::codes::{block, ty as code};
use crate::bitcode::error::{ErrorKind, Step};
use crate::bitcode::ty::{Type, TypeId};

/// Bits of LLVM's widest integer.
const MOST_BITS: u32 = (1 << 23) - 1;

impl Reader<'_> {
    pub(super) fn types(&mut self) -> Step<()> {
        // A name stands before the structure that has it.
        let mut name = None;
        self.records(block::TYPE, "TYPE_BLOCK", |r, record| {
            match record.code {
                code::NUMENTRY => {}
                code::STRUCT_NAME => name = Some(record.string()),
                _ => {
                    let ty = of_record(record, &mut name)?;
                    r.module.types.push(ty);
                }
            }
            Ok(())
        })?;
        self.module.types.check()
    }
}

fn of_record(mut record: Record<'_>, name: &mut Option<String>) -> Step<Type> {
    Ok(match record.code {
        code::VOID => Type::Void,
        code::HALF => Type::Half,
        code::FLOAT => Type::Float,
        code::DOUBLE => Type::Double,
        code::LABEL => Type::Label,
        code::METADATA => Type::Metadata,
        code::OPAQUE => Type::Opaque { name: name.take().unwrap_or_default() },
        code::INTEGER => match record.next32()? {
            bits @ 1..=64 => Type::Integer(bits),
            // Compilers of SM 6.9 leave such types behind; no value has one.
            bits @ 65..=MOST_BITS => Type::Opaque { name: format!("i{bits}") },
            bits => return Err(ErrorKind::malformed("width of an integer", bits)),
        },
        code::POINTER => Type::Pointer { to: TypeId(record.next32()?), space: record.optional() as u32 },
        code::ARRAY => Type::Array { count: record.next()?, of: TypeId(record.next32()?) },
        code::VECTOR => Type::Vector { count: record.next()?, of: TypeId(record.next32()?) },
        code::STRUCT_ANON | code::STRUCT_NAMED => {
            let named = record.code == code::STRUCT_NAMED;
            Type::Struct {
                name: if named { Some(name.take().unwrap_or_default()) } else { None },
                packed: record.next()? != 0,
                fields: types(&record)?,
            }
        }
        code::FUNCTION => Type::Function {
            variadic: record.next()? != 0,
            returns: TypeId(record.next32()?),
            params: types(&record)?,
        },
        _ => return Err(record.unsupported()),
    })
}

/// The rest of a record as numbers of types.
fn types(record: &Record<'_>) -> Step<Vec<TypeId>> {
    let id = |&n: &u64| u32::try_from(n).map(TypeId).map_err(|_| ErrorKind::missing("type", n));
    record.operands.iter().map(id).collect()
}
