//! Memory behind 64-bit pointers: what is loaded or stored has its own type there, and no bounds.

use crate::access::host_atomic;
use crate::body::Body;
use crate::error::Reason;
use crate::options::Version;
use crate::unit::Id;
use smallvec::SmallVec;
use spirv::{Capability, MemoryAccess, Op as S, StorageClass};
use xenoglot_ir::imm::Order;
use xenoglot_ir::{MemInfo, Op, Type, Value};

const CLASS: StorageClass = StorageClass::PhysicalStorageBuffer;
const OPERANDS: Reason = Reason::Invalid("the operands of an access");

impl Body<'_, '_> {
    /// An access of `global` memory.
    pub(crate) fn access_pointer(
        &mut self,
        op: Op,
        mem: MemInfo,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Id>, Reason> {
        let (&address, values) = args.split_first().ok_or(OPERANDS)?;
        let function = self.function;
        let ty = match op {
            Op::Store => values.first().map(|&v| function.ty(v)),
            _ => result.map(|v| function.ty(v)),
        };
        let ty = ty.ok_or(OPERANDS)?;
        let lane = ty.kind().bits() / 8;
        if u32::from(mem.align_log2) < lane.trailing_zeros() {
            return Err(Reason::Unsupported("an access that is not aligned to its lanes"));
        }
        if function.ty(address) != Type::I64 {
            return Err(OPERANDS);
        }
        let address = self.value(address);
        let values: SmallVec<[Id; 2]> = values.iter().map(|&v| self.value(v)).collect();
        let unit = self.unit();
        unit.pointers();
        let narrow = match lane {
            1 => Some((Capability::UniformAndStorageBuffer8BitAccess, Version::V1_5, "SPV_KHR_8bit_storage")),
            2 => {
                Some((Capability::UniformAndStorageBuffer16BitAccess, Version::V1_3, "SPV_KHR_16bit_storage"))
            }
            _ => None,
        };
        if let Some((capability, core, extension)) = narrow {
            unit.capability(capability);
            if !unit.since(core) {
                unit.extension(extension);
            }
        }
        let type_id = unit.ty(ty);
        let pointer_type = unit.pointer(CLASS, type_id);
        let pointer = unit.op_raw(S::ConvertUToPtr, pointer_type, &[address]);
        let mut plain = MemoryAccess::ALIGNED;
        plain.set(MemoryAccess::VOLATILE, mem.volatile);
        let how = [plain.bits(), 1 << mem.align_log2];
        if mem.order != Order::None && !(ty.is_scalar() && ty.kind().is_int() && lane >= 4) {
            return Err(Reason::Unsupported("an atomic access of anything but one word"));
        }
        match (op, &values[..]) {
            (Op::Load, []) if mem.order == Order::None => {
                Ok(Some(self.unit().op(S::Load, ty, &[pointer, how[0], how[1]])))
            }
            (Op::Store, &[value]) if mem.order == Order::None => {
                self.unit().effect(S::Store, &[pointer, value, how[0], how[1]]);
                Ok(None)
            }
            (_, values) => {
                if ty == Type::I64 {
                    self.unit().capability(Capability::Int64Atomics);
                }
                match (op, values) {
                    (Op::Load, []) => {
                        let [scope, order] = self.sync(CLASS, mem);
                        Ok(Some(self.unit().op(S::AtomicLoad, ty, &[pointer, scope, order])))
                    }
                    (Op::Store, &[value]) => {
                        let [scope, order] = self.sync(CLASS, mem);
                        self.unit().effect(S::AtomicStore, &[pointer, scope, order, value]);
                        Ok(None)
                    }
                    _ => {
                        let host = host_atomic(op)?;
                        let old = self.exchange(host, ty, CLASS, mem, pointer, values);
                        old.ok_or(OPERANDS).map(Some)
                    }
                }
            }
        }
    }
}
