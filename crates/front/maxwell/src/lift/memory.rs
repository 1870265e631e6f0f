//! Loads and stores.
//!
//! Global memory is one storage buffer that holds the guest addresses from [`GlobalMemory::Window`]'s base on. A generic
//! address is in shared or local memory if its upper 40 bits are those of that window, else global.
//!
//! [`GlobalMemory::Window`]: super::GlobalMemory::Window

use super::cx::{Cx, Lift, dst, operand};
use super::layout::GLOBAL_BINDING;
use super::{GlobalMemory, Unsupported};
use crate::inst::{Inst, RZ, Role, Value as Named};
use crate::modifier::{LdcMode, MemSize, Mod};
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Kind, MemInfo, Op, Resource, Space, Type, Value};

/// Bits of an offset in a window of generic addresses.
const WINDOW_BITS: u32 = 24;

/// Global offsets that cannot be told from others in 32 bits become this one, which no buffer has.
const OUTSIDE: u32 = 0xffff_fff0;

/// A memory instruction's idea of where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Global,
    Shared,
    Local,
    Generic,
}

/// What is loaded or stored: a type, and whether a narrow one has a sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub ty: Type,
    pub signed: bool,
}

impl Width {
    fn of(inst: &Inst) -> Lift<Width> {
        let (ty, signed) = match inst.get(Mod::Size)? {
            MemSize::U8 => (Type::scalar(Kind::I8), false),
            MemSize::S8 => (Type::scalar(Kind::I8), true),
            MemSize::U16 => (Type::scalar(Kind::I16), false),
            MemSize::S16 => (Type::scalar(Kind::I16), true),
            MemSize::B32 => (Type::I32, false),
            MemSize::B64 => (Type::I32X2, false),
            MemSize::B128 | MemSize::U128 => (Type::I32X4, false),
        };
        Ok(Width { ty, signed })
    }

    /// What the loaded value is in registers.
    fn words(self) -> Type {
        if self.ty.kind() == Kind::I32 { self.ty } else { Type::I32 }
    }
}

/// An address of two words plus an offset. All of it is done in words: few hosts are fast at 64 bits, and some have none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    low: Value,
    high: Value,
    offset: i64,
}

impl Cx<'_> {
    /// The storage buffer of global memory.
    pub fn global(&mut self) -> Resource {
        *self.global.get_or_insert_with(|| {
            self.module.resources.push(ResourceData {
                name: "global".into(),
                kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
                set: self.options.set,
                binding: GLOBAL_BINDING,
                count: Count::One,
                oob: OutOfBounds::Zero,
            })
        })
    }

    /// The address operand.
    pub fn address(&mut self, inst: &Inst) -> Lift<Address> {
        let Named::Mem { base, offset, wide } = operand(inst, Role::Address)?.value else {
            return Err(Unsupported);
        };
        let zero = self.zero();
        if wide {
            let [low, high] =
                if base == RZ { [zero, zero] } else { [base, base.saturating_add(1)].map(|n| self.reg(n)) };
            return Ok(Address { low, high, offset: offset.into() });
        }
        let (base, offset) = (self.reg(base), self.number(offset as u32));
        Ok(Address { low: self.op(Op::Iadd, &[base, offset]), high: zero, offset: 0 })
    }

    /// The words of an address less a number.
    fn less(&mut self, address: Address, base: u64) -> [Value; 2] {
        let delta = (address.offset as u64).wrapping_sub(base);
        if delta == 0 {
            return [address.low, address.high];
        }
        let [low, high] = [delta, delta >> 32].map(|word| self.number(word as u32));
        let no = self.truth(false);
        let sum = self.op(Op::Iadd, &[address.low, low]);
        let carry = self.carry_out(sum, [address.low, low, no]);
        [sum, self.op(Op::IaddCarry, &[address.high, high, carry])]
    }

    /// The offset of a global address in its buffer.
    fn global_offset(&mut self, address: Address) -> Value {
        let GlobalMemory::Window { base } = self.options.global;
        let [low, high] = self.less(address, base);
        let (zero, outside) = (self.zero(), self.number(OUTSIDE));
        let inside = self.op(Op::IcmpEq, &[high, zero]);
        self.select(inside, low, outside)
    }

    /// The offset of an address in shared or local memory.
    fn near_offset(&mut self, address: Address) -> Value {
        let offset = self.number(address.offset as u32);
        self.op(Op::Iadd, &[address.low, offset])
    }

    /// Memory and offset of an address that is not generic.
    fn locate(&mut self, place: Place, address: Address, align_log2: u8) -> (MemInfo, Value) {
        match place {
            Place::Global | Place::Generic => {
                let offset = self.global_offset(address);
                let global = self.global();
                (MemInfo::plain(Space::Storage, Some(global), align_log2), offset)
            }
            Place::Shared => (MemInfo::plain(Space::Shared, None, align_log2), self.near_offset(address)),
            Place::Local => (MemInfo::plain(Space::Private, None, align_log2), self.near_offset(address)),
        }
    }

    /// Notes an access, and whether the place exists.
    fn note(&mut self, place: Place, writes: bool) -> Lift<()> {
        match place {
            Place::Global => {
                self.info.reads_global |= !writes;
                self.info.writes_global |= writes;
            }
            Place::Generic => {
                self.info.generic_addresses = true;
                return self.note(Place::Global, writes);
            }
            Place::Shared if self.info.shared_bytes == 0 => return Err(Unsupported),
            Place::Local if self.info.local_bytes == 0 => return Err(Unsupported),
            Place::Shared | Place::Local => {}
        }
        Ok(())
    }

    /// Does `access` where `address` lies, with what it gives of type `result`.
    ///
    /// A generic address is looked up: shared, local, else global.
    pub fn access(
        &mut self,
        place: Place,
        address: Address,
        align_log2: u8,
        writes: bool,
        result: Option<Type>,
        mut access: impl FnMut(&mut Self, MemInfo, Value) -> Option<Value>,
    ) -> Lift<Option<Value>> {
        self.note(place, writes)?;
        if place != Place::Generic {
            let (mem, offset) = self.locate(place, address, align_log2);
            return Ok(access(self, mem, offset));
        }
        let [low, high] = self.less(address, 0);
        let zero = self.zero();
        let below = self.op(Op::IcmpEq, &[high, zero]);
        let shift = self.number(WINDOW_BITS);
        let window = self.op(Op::Ushr, &[low, shift]);
        let mask = self.number((1 << WINDOW_BITS) - 1);
        let inner = self.op(Op::And, &[low, mask]);
        let (join, params) = self.join_block(result.as_slice());
        let windows = [
            (Place::Shared, self.options.shared_window, self.info.shared_bytes),
            (Place::Local, self.options.local_window, self.info.local_bytes),
        ];
        let mut arm = |cx: &mut Self, place, low, high| {
            let (mem, offset) = cx.locate(place, Address { low, high, offset: 0 }, align_log2);
            let v = access(cx, mem, offset);
            cx.b.jump(join, v.as_slice());
        };
        for (place, base, _) in windows.into_iter().filter(|w| w.2 != 0) {
            let base = self.number(base >> WINDOW_BITS);
            let same = self.op(Op::IcmpEq, &[window, base]);
            let hit = self.op(Op::And, &[below, same]);
            let (yes, no) = (self.b.func.add_block(), self.b.func.add_block());
            self.b.branch(hit, (yes, &[]), (no, &[]));
            self.b.switch_to(yes);
            arm(self, place, inner, zero);
            self.b.switch_to(no);
        }
        arm(self, Place::Global, low, high);
        self.b.switch_to(join);
        Ok(params.first().copied())
    }

    /// LDG, LDS, LDL, LD. The predicate that LDG may write is taken for what it is of textures and surfaces: that memory
    /// is resident, which all of it is.
    pub fn load(&mut self, inst: &Inst, place: Place) -> Lift<()> {
        let (width, to) = (Width::of(inst)?, dst(inst)?);
        let address = self.address(inst)?;
        let words = width.words();
        let v = self.access(place, address, align(width.ty), false, Some(words), |cx, mem, offset| {
            let v = cx.b.load(mem, offset, width.ty);
            Some(if width.ty == words { v } else { cx.extend(v, width.signed) })
        })?;
        self.set_words(to, v.ok_or(Unsupported)?);
        let resident = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, resident);
        Ok(())
    }

    fn extend(&mut self, v: Value, signed: bool) -> Value {
        self.convert(if signed { Op::Sext } else { Op::Zext }, v, Type::I32)
    }

    /// Writes a vector of words to registers from `n` on.
    fn set_words(&mut self, n: u8, v: Value) {
        let lanes = self.b.func.ty(v).lanes();
        if lanes == 1 {
            return self.set_reg(n, v);
        }
        let words: Vec<Value> = (0..lanes).map(|lane| self.b.extract(v, lane)).collect();
        for (i, word) in (0..).zip(words) {
            self.set_reg(n.saturating_add(i), word);
        }
    }

    /// STG, STS, STL, ST.
    pub fn store(&mut self, inst: &Inst, place: Place) -> Lift<()> {
        let width = Width::of(inst)?;
        let from = operand(inst, Role::Data)?.reg().ok_or(Unsupported)?;
        let address = self.address(inst)?;
        let lanes = width.ty.lanes();
        let words: Vec<Value> = (0..lanes).map(|i| self.reg(from.saturating_add(i))).collect();
        let v = if lanes > 1 { self.op(Op::Build, &words) } else { words[0] };
        let v = if width.ty == width.words() { v } else { self.convert(Op::TruncInt, v, width.ty) };
        self.access(place, address, align(width.ty), true, None, |cx, mem, offset| {
            cx.b.store(mem, offset, v);
            None
        })?;
        Ok(())
    }

    /// LDC. With `.IL`, `.IS` and `.ISL` the register's upper half is added to the bank; only a bank known here can be
    /// bound.
    pub fn ldc(&mut self, inst: &Inst) -> Lift<()> {
        let Named::Const { bank, offset, index } = operand(inst, Role::A)?.value else {
            return Err(Unsupported);
        };
        let mode: LdcMode = inst.get(Mod::LdcMode)?;
        let (width, to) = (Width::of(inst)?, dst(inst)?);
        if mode != LdcMode::Default && index != RZ {
            let index = self.reg(index);
            let v = self.indexed_bank(mode, (bank, offset as u32), index, width.ty)?;
            let v = if width.ty == width.words() { v } else { self.extend(v, width.signed) };
            self.set_words(to, v);
            return Ok(());
        }
        let at = self.number(offset as u32);
        let at = if index == RZ {
            at
        } else {
            let index = self.reg(index);
            self.op(Op::Iadd, &[index, at])
        };
        if let (Some(at), Kind::I32) = (self.known_number(at), width.ty.kind()) {
            for i in 0..width.ty.lanes() {
                let v = self.constant(bank, at.wrapping_add(4 * u32::from(i)) as i32)?;
                self.set_reg(to.saturating_add(i), v);
            }
            return Ok(());
        }
        let resource = self.bank(bank)?;
        let mem = MemInfo::plain(Space::Uniform, Some(resource), align(width.ty));
        let v = self.b.load(mem, at, width.ty);
        let v = if width.ty == width.words() { v } else { self.extend(v, width.signed) };
        self.set_words(to, v);
        Ok(())
    }
}

impl Cx<'_> {
    /// LDC whose register names a bank, too: in its upper half, which is added to the bank of the instruction (IS, ISL), or
    /// by an offset that goes on from bank to bank (IL). Every bank there is may be the one.
    fn indexed_bank(
        &mut self,
        mode: LdcMode,
        (bank, offset): (u8, u32),
        index: Value,
        ty: Type,
    ) -> Lift<Value> {
        let (sixteen, low) = (self.number(16), self.number(0xffff));
        let offset = self.number(offset & 0xffff);
        let sum = match mode {
            LdcMode::Il => self.op(Op::Iadd, &[index, offset]),
            _ => {
                let within = self.op(Op::And, &[index, low]);
                self.op(Op::Iadd, &[within, offset])
            }
        };
        let upper = self.op(Op::Ushr, &[if mode == LdcMode::Il { sum } else { index }, sixteen]);
        let first = self.number(bank.into());
        let wanted = self.op(Op::Iadd, &[upper, first]);
        let at = self.op(Op::And, &[sum, low]);
        let mut result = self.b.constant(ty, xenoglot_ir::Bits::default());
        for n in 0..BOUND_BANKS {
            let resource = self.bank(n)?;
            let mem = MemInfo::plain(Space::Uniform, Some(resource), align(ty));
            let v = self.b.load(mem, at, ty);
            let number = self.number(n.into());
            let here = self.op(Op::IcmpEq, &[wanted, number]);
            result = self.select(here, v, result);
        }
        Ok(result)
    }
}

/// Constant banks that can be bound.
const BOUND_BANKS: u8 = 18;

/// Alignment that an access of a type has: that of its words, which is less than the machine asks for.
fn align(ty: Type) -> u8 {
    ty.lane().bytes().unwrap_or(1).trailing_zeros() as u8
}
