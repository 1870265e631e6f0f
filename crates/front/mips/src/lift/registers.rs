//! Guest registers as slots.

use super::block::Lifter;
use super::layout;
use xenoglot_ir::{Flags, Kind, Op, Slot, Type, Value};

const I8: Type = Type::scalar(Kind::I8);

/// A register of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Register {
    General(u8),
    Hi,
    Lo,
    /// One that holds singles and words only.
    Single(u8),
    /// An even-odd pair by its number.
    Double(u8),
    Fcsr,
    Thread,
    LinkAddress,
    LinkValue,
    LinkValid,
    LastFloat,
    LastOperand(u8),
    Fuel,
}

impl Register {
    fn home(self) -> (String, Type, u32) {
        use Register::*;
        match self {
            General(n) => (format!("r{n}"), Type::I32, layout::GENERAL + 4 * u32::from(n)),
            Hi => ("hi".into(), Type::I32, layout::HI),
            Lo => ("lo".into(), Type::I32, layout::LO),
            Single(n) => (format!("f{n}"), Type::F32, layout::FLOAT + 4 * u32::from(n)),
            Double(n) => (format!("d{n}"), Type::F64, layout::FLOAT + 8 * u32::from(n)),
            Fcsr => ("fcsr".into(), Type::I32, layout::FCSR),
            Thread => ("thread".into(), Type::I32, layout::THREAD),
            LinkAddress => ("link_address".into(), Type::I32, layout::LINK_ADDRESS),
            LinkValue => ("link_value".into(), Type::I32, layout::LINK_VALUE),
            LinkValid => ("link_valid".into(), I8, layout::LINK_VALID),
            LastFloat => ("last_float".into(), Type::I32, layout::LAST_FLOAT),
            LastOperand(n) => {
                let home = layout::LAST_OPERANDS.get(usize::from(n)).copied().unwrap_or(layout::SIZE);
                (format!("last_operand{n}"), Type::I64, home)
            }
            Fuel => ("fuel".into(), Type::I64, layout::FUEL),
        }
    }
}

impl Lifter<'_> {
    fn slot(&mut self, register: Register) -> Slot {
        if let Some(slot) = self.slots.get(&register) {
            return *slot;
        }
        let (name, ty, home) = register.home();
        let slot = self.b.func.add_register(name, ty, home);
        self.slots.insert(register, slot);
        slot
    }

    pub(super) fn get(&mut self, register: Register) -> Value {
        let slot = self.slot(register);
        self.b.slot_get(slot)
    }

    pub(super) fn set(&mut self, register: Register, v: Value) {
        let slot = self.slot(register);
        self.b.slot_set(slot, v);
    }

    /// A general register.
    pub(super) fn gpr(&mut self, number: u8) -> Value {
        if number == 0 { self.b.i32(0) } else { self.get(Register::General(number)) }
    }

    /// Sets a general register; writing `zero` does nothing.
    pub(super) fn set_gpr(&mut self, number: u8, v: Value) {
        if number != 0 {
            self.set(Register::General(number), v);
        }
    }

    fn is_paired(&self, number: u8) -> bool {
        self.flow.doubles >> (number >> 1) & 1 != 0
    }

    /// The bits of a floating-point register.
    pub(super) fn fpr_bits(&mut self, number: u8) -> Value {
        if !self.is_paired(number) {
            let v = self.get(Register::Single(number));
            return self.b.bitcast(v, Type::I32);
        }
        let mut bits = self.pair_bits(number);
        if number & 1 != 0 {
            let half = self.i64(32);
            bits = self.b.op(Op::Ushr, &[bits, half]);
        }
        self.b.convert(Op::TruncInt, Flags::NONE, bits, Type::I32)
    }

    /// The bits of a floating-point register and its neighbour, which are one slot.
    fn pair_bits(&mut self, number: u8) -> Value {
        let v = self.get(Register::Double(number >> 1));
        self.b.bitcast(v, Type::I64)
    }

    /// Sets the bits of a floating-point register: an `i32`.
    pub(super) fn set_fpr_bits(&mut self, number: u8, v: Value) {
        if !self.is_paired(number) {
            let v = self.b.bitcast(v, Type::F32);
            return self.set(Register::Single(number), v);
        }
        let pair = self.pair_bits(number);
        let mut bits = self.b.convert(Op::Zext, Flags::NONE, v, Type::I64);
        let mut keep = 0xffff_ffff_0000_0000;
        if number & 1 != 0 {
            let half = self.i64(32);
            bits = self.b.op(Op::Shl, &[bits, half]);
            keep = 0xffff_ffff;
        }
        let keep = self.i64(keep);
        let kept = self.b.op(Op::And, &[pair, keep]);
        let bits = self.b.op(Op::Or, &[kept, bits]);
        let v = self.b.bitcast(bits, Type::F64);
        self.set(Register::Double(number >> 1), v);
    }

    /// A floating-point register as a single.
    pub(super) fn single(&mut self, number: u8) -> Value {
        if !self.is_paired(number) {
            return self.get(Register::Single(number));
        }
        let bits = self.fpr_bits(number);
        self.b.bitcast(bits, Type::F32)
    }

    /// The double in the pair of an even register.
    pub(super) fn double(&mut self, number: u8) -> Value {
        self.get(Register::Double(number >> 1))
    }

    /// Sets a floating-point register, or the pair of an even one, by the value's type.
    pub(super) fn set_fpr(&mut self, number: u8, v: Value) {
        if self.b.func.ty(v) == Type::F64 {
            return self.set(Register::Double(number >> 1), v);
        }
        if !self.is_paired(number) {
            return self.set(Register::Single(number), v);
        }
        let bits = self.b.bitcast(v, Type::I32);
        self.set_fpr_bits(number, bits);
    }

    pub(super) fn i64(&mut self, v: u64) -> Value {
        self.b.constant(Type::I64, xenoglot_ir::Bits::scalar(v))
    }

    pub(super) fn i8(&mut self, v: u8) -> Value {
        self.b.constant(I8, xenoglot_ir::Bits::scalar(v.into()))
    }
}
