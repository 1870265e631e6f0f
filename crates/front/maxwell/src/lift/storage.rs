//! Global memory as the storage buffers of a graphics API.
//!
//! Programs reach a buffer by the 64-bit address that a driver put into two words of a constant bank, plus an offset.
//! [`bind_storage`] follows the address of an access back through sums, choices and edges to those words, and makes the
//! access one of a storage buffer that begins there. What leads to no such pair of words, or to several, stays in the
//! window of global memory. Run it after `promote`.

use super::layout::{BANKS, GLOBAL_BINDING, MAX_RESOURCES, STORAGE_BINDING, bank_binding};
use super::{GlobalMemory, LiftOptions, Lifted};
use crate::gpu::ConstantWord;
use crate::info::StorageBinding;
use smallvec::SmallVec;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::list::ValueList;
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{
    Block, Builder, Function, Imm, Inst, MemInfo, Module, Op, Resource, Space, Type, Value, ValueDef,
};

/// Most values that are looked at to find where a word of an address comes from.
const MAX_STEPS: usize = 256;

/// Binds what can be traced, and says so in the shader's information.
///
/// Buffers begin at the address in their words, rounded down to a multiple of `alignment`, a power of two: what the host
/// wants of the offsets of storage buffers.
pub fn bind_storage(lifted: &mut Lifted, options: &LiftOptions, alignment: u32) {
    let is_global = |r: &ResourceData| {
        (r.set, r.binding) == (options.set, GLOBAL_BINDING)
            && matches!(r.kind, ResourceKind::StorageBuffer { .. })
    };
    let Some(global) = lifted.module.resources.iter().find_map(|(r, data)| is_global(data).then_some(r))
    else {
        return;
    };
    let GlobalMemory::Window { base } = options.global;
    let mut binder = Binder {
        window: base as u32,
        mask: alignment.checked_next_power_of_two().unwrap_or(1 << 31).wrapping_neg(),
        set: options.set,
        buffers: Vec::new(),
        left: [false; 2],
    };
    let mut cfg = Cfg::default();
    for key in lifted.module.funcs.keys().collect::<Vec<_>>() {
        let mut func = std::mem::take(&mut lifted.module.funcs[key]);
        cfg.compute(&func);
        for i in 0..func.layout.len() {
            let block = func.layout[i];
            for inst in std::mem::take(&mut func.blocks[block].insts) {
                if let Some(mem) = access(&func, inst, global) {
                    binder.access(&mut lifted.module, &mut func, &cfg, (block, inst), mem);
                }
                func.blocks[block].insts.push(inst);
            }
        }
        lifted.module.funcs[key] = func;
    }
    let info = &mut lifted.info;
    [info.reads_global, info.writes_global] = binder.left;
    info.storage_buffers = binder.buffers.into_iter().map(|(binding, _)| binding).collect();
}

/// What an instruction does to a resource, if it does.
fn access(func: &Function, inst: Inst, resource: Resource) -> Option<MemInfo> {
    match func.insts[inst].imm {
        Imm::Mem(mem) if mem.space == Space::Storage && mem.resource == resource.into() => Some(mem),
        _ => None,
    }
}

struct Binder {
    /// The lower word of the window's guest address.
    window: u32,
    /// Bits of an address that the buffer's start keeps.
    mask: u32,
    set: u32,
    buffers: Vec<(StorageBinding, Resource)>,
    /// Whether any access that reads, and any that writes, stays global.
    left: [bool; 2],
}

/// Where the address of a buffer lies.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Source {
    bank: Resource,
    word: ConstantWord,
}

impl Binder {
    /// Makes an access one of a storage buffer, if it can be traced.
    fn access(
        &mut self,
        module: &mut Module,
        func: &mut Function,
        cfg: &Cfg,
        (block, inst): (Block, Inst),
        mem: MemInfo,
    ) {
        let op = func.insts[inst].op;
        let (reads, writes) = (op != Op::Store, op != Op::Load);
        let traced = Tracer { module, func, cfg, set: self.set }.address(inst);
        let Some((source, low)) = traced else { return self.leave(reads, writes) };
        let Some(resource) = self.buffer(module, source.word, writes) else {
            return self.leave(reads, writes);
        };
        let mut b = Builder::new(func, block);
        b.set_guest(b.func.insts[inst].guest);
        let word = MemInfo::plain(Space::Uniform, Some(source.bank), 2);
        let (at, mask, window) = (b.i32(source.word.offset), b.i32(self.mask), b.i32(self.window));
        let start = b.load(word, at, Type::I32);
        let start = b.op(Op::And, &[start, mask]);
        let start = b.op(Op::Isub, &[start, window]);
        let offset = b.op(Op::Isub, &[low, start]);
        let args: SmallVec<[Value; 4]> = func.args(inst).iter().copied().collect();
        let rest = args.get(1..).unwrap_or_default();
        let args: SmallVec<[Value; 4]> = std::iter::once(offset).chain(rest.iter().copied()).collect();
        func.insts[inst].args = ValueList::from_slice(&args, &mut func.pool);
        func.insts[inst].imm = Imm::Mem(MemInfo { resource: resource.into(), ..mem });
    }

    /// An access stays global.
    fn leave(&mut self, reads: bool, writes: bool) {
        self.left[0] |= reads;
        self.left[1] |= writes;
    }

    /// The storage buffer whose address is in `word` and the next; none if there are too many.
    fn buffer(&mut self, module: &mut Module, address: ConstantWord, writes: bool) -> Option<Resource> {
        if let Some((binding, resource)) = self.buffers.iter_mut().find(|(b, _)| b.address == address) {
            binding.written |= writes;
            return Some(*resource);
        }
        let n = self.buffers.len() as u32;
        if n >= MAX_RESOURCES {
            return None;
        }
        let binding = StorageBinding { address, binding: STORAGE_BINDING + n, written: writes };
        let resource = module.resources.push(ResourceData {
            name: format!("c{}_{:x}", address.bank, address.offset),
            kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
            set: self.set,
            binding: binding.binding,
            count: Count::One,
            oob: OutOfBounds::Zero,
        });
        self.buffers.push((binding, resource));
        Some(resource)
    }
}

/// Follows addresses.
struct Tracer<'a> {
    module: &'a Module,
    func: &'a Function,
    cfg: &'a Cfg,
    set: u32,
}

impl Tracer<'_> {
    /// Where the buffer's address comes from that an access is in, and the lower word of the access's own.
    ///
    /// The lifter makes offsets that say "outside" unless the upper word is zero.
    fn address(&self, inst: Inst) -> Option<(Source, Value)> {
        let &offset = self.func.args(inst).first()?;
        let &[inside, low, _] = self.operands(offset, Op::Select)? else { return None };
        let &[high, _] = self.operands(inside, Op::IcmpEq)? else { return None };
        let (lows, highs) = (self.sources(low)?, self.sources(high)?);
        let is_upper = |low: &Source, high: &Source| {
            low.bank == high.bank && low.word.offset.checked_add(4) == Some(high.word.offset)
        };
        let mut pairs = lows.iter().filter(|low| highs.iter().any(|high| is_upper(low, high)));
        match (pairs.next(), pairs.next()) {
            (Some(&source), None) => Some((source, low)),
            _ => None,
        }
    }

    fn operands(&self, v: Value, op: Op) -> Option<&[Value]> {
        let inst = self.func.def_inst(v)?;
        (self.func.insts[inst].op == op).then(|| self.func.args(inst))
    }

    /// Words of constant banks that a value may be the sum of; none if it is of too many values.
    fn sources(&self, v: Value) -> Option<SmallVec<[Source; 4]>> {
        let mut found: SmallVec<[Source; 4]> = SmallVec::new();
        let mut todo: SmallVec<[Value; 16]> = SmallVec::from_slice(&[v]);
        let mut seen: SmallVec<[Value; 16]> = todo.clone();
        let mut reach = |todo: &mut SmallVec<[Value; 16]>, v: Value| {
            if !seen.contains(&v) {
                seen.push(v);
                todo.push(v);
            }
            seen.len() <= MAX_STEPS
        };
        while let Some(v) = todo.pop() {
            let inst = match self.func.values[v].def {
                ValueDef::Inst(inst, _) => inst,
                ValueDef::Param(block, n) => {
                    for pred in self.cfg.preds(block) {
                        let edge = self.func.edges(pred.block).get(pred.edge as usize)?;
                        if !reach(&mut todo, *self.func.edge_args(edge).get(usize::from(n))?) {
                            return None;
                        }
                    }
                    continue;
                }
            };
            if let Some(source) = self.constant_word(inst) {
                if !found.contains(&source) {
                    found.push(source);
                }
                continue;
            }
            let args = self.func.args(inst);
            let terms = match self.func.insts[inst].op {
                Op::Iadd | Op::IaddCarry => args.get(..2),
                Op::Isub => args.get(..1),
                Op::Select => args.get(1..),
                Op::Bitcast | Op::Extract | Op::Build => Some(args),
                _ => None,
            };
            if !terms.unwrap_or_default().iter().all(|&v| reach(&mut todo, v)) {
                return None;
            }
        }
        Some(found)
    }

    /// The word that an instruction loads from a constant bank, or takes out of several it loaded.
    fn constant_word(&self, inst: Inst) -> Option<Source> {
        let data = &self.func.insts[inst];
        if let (Op::Extract, Imm::Lane(lane)) = (data.op, data.imm) {
            let vector = self.func.def_inst(*self.func.args(inst).first()?)?;
            let mut source = self.loaded(vector)?;
            source.word.offset = source.word.offset.checked_add(4 * u32::from(lane))?;
            return Some(source);
        }
        self.loaded(inst).filter(|_| self.func.result(inst).is_some_and(|v| self.func.ty(v) == Type::I32))
    }

    fn loaded(&self, inst: Inst) -> Option<Source> {
        let data = &self.func.insts[inst];
        let (Op::Load, Imm::Mem(mem)) = (data.op, data.imm) else { return None };
        let bank = mem.resource.expand().filter(|_| mem.space == Space::Uniform)?;
        let resource = &self.module.resources[bank];
        let number = resource.binding.checked_sub(bank_binding(0)).filter(|&n| n < BANKS.into())?;
        let offset = self.func.const_bits(*self.func.args(inst).first()?)?.lane(0) as u32;
        let word = ConstantWord { bank: number as u8, offset };
        (resource.set == self.set).then_some(Source { bank, word })
    }
}
