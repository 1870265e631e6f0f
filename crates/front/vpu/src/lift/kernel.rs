//! The compute kernel around a program, and its instructions.

use super::LiftOptions;
use super::arith::Arith;
use super::layout::*;
use super::sample::Sampler;
use crate::inst::Inst;
use crate::isa::Op as Vpu;
use crate::program::Program;
use crate::{REGISTERS, TILE_BUFFERS};
use std::collections::{BTreeMap, BTreeSet};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{
    Block, Builder, Function, Lanes, MemInfo, Module, NO_GUEST, Op, Resource, Slot, Space, Stage, Type, Value,
};

/// Where control can come from elsewhere, among the words it reaches from the first.
fn leaders(program: &Program) -> BTreeSet<u16> {
    let mut leaders = BTreeSet::new();
    let mut todo = vec![0];
    while let Some(leader) = todo.pop() {
        if !leaders.insert(leader) {
            continue;
        }
        let mut pc = leader;
        while let Some(Ok(inst)) = program.get(pc) {
            match inst.op {
                Vpu::Exit => break,
                Vpu::Jmp => {
                    todo.push(inst.extra);
                    break;
                }
                Vpu::Jz | Vpu::Kill => {
                    todo.push(pc + 1);
                    if inst.op == Vpu::Jz {
                        todo.push(inst.extra);
                    }
                    break;
                }
                _ => pc += 1,
            }
        }
    }
    leaders
}

fn buffer(module: &mut Module, name: &str, kind: ResourceKind, binding: u32, oob: OutOfBounds) -> Resource {
    module.resources.push(ResourceData { name: name.into(), kind, set: 0, binding, count: Count::One, oob })
}

pub(super) struct Kernel<'f> {
    cx: Arith<'f>,
    options: &'f LiftOptions,
    globals: Resource,
    threads: Resource,
    memory: Resource,
    registers: [Slot; REGISTERS],
    tiles: [Slot; TILE_BUFFERS],
    /// How the thread ended.
    ended: Slot,
    blocks: BTreeMap<u16, Block>,
    end: Block,
}

impl<'f> Kernel<'f> {
    pub fn lift(program: &Program, options: &'f LiftOptions) -> Module {
        let mut module = Module::new(Stage::Compute, "vpu");
        module.workgroup = [options.workgroup, 1, 1];
        let uniform = ResourceKind::UniformBuffer { size: GLOBAL_SIZE };
        let storage = |access| ResourceKind::StorageBuffer { access };
        let undefined = OutOfBounds::Undefined;
        let globals = buffer(&mut module, "globals", uniform, GLOBAL_BINDING, undefined);
        let threads = buffer(&mut module, "threads", storage(Access::ReadWrite), THREAD_BINDING, undefined);
        let memory = buffer(&mut module, "memory", storage(Access::Read), MEMORY_BINDING, OutOfBounds::Zero);
        let invocation = module.vars.push(VarData {
            name: "invocation".into(),
            direction: Direction::Input,
            ty: Type::I32X3,
            semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
            interpolation: Interpolation::Flat,
            array: None,
            inner: None,
            stream: 0,
        });
        let mut func = Function::new("main");
        let entry = func.add_block();
        let blocks = leaders(program).into_iter().map(|pc| (pc, func.add_block())).collect();
        let end = func.add_block();
        let cx = Arith { b: Builder::forwarding(&mut func, entry), number: options.number };
        let register = cx.register();
        let mut slot = |name: String, ty| cx.b.func.add_slot(name, ty);
        let registers = std::array::from_fn(|n| slot(format!("r{n}"), register));
        let tiles = std::array::from_fn(|n| slot(format!("tb{n}"), Type::I32));
        let ended = slot("ended".into(), Type::I32);
        let mut kernel =
            Kernel { cx, options, globals, threads, memory, registers, tiles, ended, blocks, end };
        let id = kernel.cx.b.input(invocation, Type::I32X3);
        let id = kernel.cx.b.extract(id, 0);
        let base = kernel.cx.with(Op::Imul, id, THREAD_STRIDE);
        kernel.prologue(base);
        let leaders: Vec<(u16, Block)> = kernel.blocks.iter().map(|(&pc, &block)| (pc, block)).collect();
        kernel.cx.b.jump(leaders[0].1, &[]);
        for (pc, block) in leaders {
            kernel.cx.b.switch_to(block);
            kernel.block(program, pc);
        }
        kernel.cx.b.switch_to(end);
        kernel.cx.b.set_guest(NO_GUEST);
        kernel.epilogue(base);
        kernel.cx.b.ret(&[]);
        module.entry = Some(module.funcs.push(func)).into();
        module
    }

    fn at(&mut self, base: Value, offset: u32) -> Value {
        if offset == 0 { base } else { self.cx.with(Op::Iadd, base, offset) }
    }

    fn record(&self) -> MemInfo {
        MemInfo::plain(Space::Storage, Some(self.threads), 4)
    }

    fn prologue(&mut self, base: Value) {
        let (register, mem) = (self.cx.register(), self.record());
        for (n, slot) in (0..).zip(self.registers) {
            let at = self.at(base, THREAD_REGISTERS + 16 * n);
            let v = self.cx.b.load(mem, at, register);
            self.cx.b.slot_set(slot, v);
        }
        let at = self.at(base, THREAD_TILES);
        let tiles = self.cx.b.load(mem, at, Type::I32X4);
        for (n, slot) in (0..).zip(self.tiles) {
            let v = self.cx.b.extract(tiles, n);
            self.cx.b.slot_set(slot, v);
        }
    }

    fn epilogue(&mut self, base: Value) {
        let mem = self.record();
        for (n, slot) in (0..).zip(self.registers) {
            let v = self.cx.b.slot_get(slot);
            let at = self.at(base, THREAD_REGISTERS + 16 * n);
            self.cx.b.store(mem, at, v);
        }
        let tiles = self.tiles.map(|slot| self.cx.b.slot_get(slot));
        let tiles = self.cx.b.op(Op::Build, &tiles);
        let at = self.at(base, THREAD_TILES);
        self.cx.b.store(mem, at, tiles);
        let (ended, zero) = (self.cx.b.slot_get(self.ended), self.cx.b.i32(0));
        let ended = self.cx.b.op(Op::Build, &[ended, zero, zero, zero]);
        let at = self.at(base, THREAD_END);
        self.cx.b.store(mem, at, ended);
    }

    /// The block of a word that control reaches.
    fn target(&self, pc: u16) -> Block {
        self.blocks.get(&pc).copied().unwrap_or(self.end)
    }

    fn finish(&mut self, how: u32) {
        let how = self.cx.b.i32(how);
        self.cx.b.slot_set(self.ended, how);
        self.cx.b.jump(self.end, &[]);
    }

    /// The words from a leader to the next branch or leader.
    fn block(&mut self, program: &Program, leader: u16) {
        let mut pc = leader;
        loop {
            self.cx.b.set_guest(pc.into());
            let inst = match program.get(pc) {
                Some(Ok(inst)) => inst,
                Some(Err(_)) => return self.finish(ENDED_UNDEFINED),
                None => return self.finish(ENDED_BY_EXIT),
            };
            pc += 1;
            match inst.op {
                Vpu::Exit => return self.finish(ENDED_BY_EXIT),
                Vpu::Jmp => return self.cx.b.jump(self.target(inst.extra), &[]),
                Vpu::Jz => {
                    let a = self.source(inst.a);
                    let x = self.cx.b.extract(a, 0);
                    let zero = self.cx.is_zero(x);
                    let (yes, no) = (self.target(inst.extra), self.target(pc));
                    return self.cx.b.branch(zero, (yes, &[]), (no, &[]));
                }
                Vpu::Kill => {
                    let a = self.source(inst.a);
                    let x = self.cx.b.extract(a, 0);
                    let dead = self.cx.below_zero(x);
                    // Set either way: the thread ends differently if it goes on.
                    let how = self.cx.b.i32(ENDED_BY_KILL);
                    self.cx.b.slot_set(self.ended, how);
                    let (yes, no) = (self.end, self.target(pc));
                    return self.cx.b.branch(dead, (yes, &[]), (no, &[]));
                }
                _ => self.inst(&inst),
            }
            if let Some(&next) = self.blocks.get(&pc) {
                return self.cx.b.jump(next, &[]);
            }
        }
    }

    fn source(&mut self, n: u8) -> Value {
        if n < 16 {
            return self.cx.b.slot_get(self.registers[usize::from(n)]);
        }
        let at = self.cx.b.i32(u32::from(n & 15) * 16);
        self.global(at)
    }

    fn global(&mut self, at: Value) -> Value {
        let ty = self.cx.register();
        self.cx.b.load(MemInfo::plain(Space::Uniform, Some(self.globals), 4), at, ty)
    }

    fn inst(&mut self, inst: &Inst) {
        let tile = usize::from(inst.extra) % TILE_BUFFERS;
        let result = match inst.op {
            Vpu::Nop => return,
            Vpu::Store => {
                let v = self.source(inst.a);
                let word = self.cx.pack(self.options.formats[tile].components(), v);
                return self.cx.b.slot_set(self.tiles[tile], word);
            }
            Vpu::Ldt => {
                let word = self.cx.b.slot_get(self.tiles[tile]);
                self.cx.unpack(self.options.formats[tile].components(), word)
            }
            Vpu::Imm => {
                let ty = self.cx.register();
                self.cx.splat(ty, self.options.number.ratio(inst.value(), 8))
            }
            Vpu::Swz => {
                let a = self.source(inst.a);
                match Lanes::new(&inst.swizzle()) {
                    Some(lanes) => self.cx.b.shuffle(a, a, lanes),
                    None => a,
                }
            }
            Vpu::Ldg => {
                let a = self.source(inst.a);
                let x = self.cx.b.extract(a, 0);
                let n = self.cx.whole(x);
                let n = self.cx.with(Op::Iadd, n, inst.extra.into());
                let n = self.cx.with(Op::And, n, 15);
                let at = self.cx.with(Op::Shl, n, 4);
                self.global(at)
            }
            Vpu::Tex => {
                let uv = self.source(inst.a);
                let texture = self.options.textures[tile];
                Sampler { cx: &mut self.cx, memory: self.memory, texture }.sample(uv)
            }
            op => {
                let (a, b, c) = (self.source(inst.a), self.source(inst.b), self.source(inst.c));
                self.cx.alu(op, a, b, c)
            }
        };
        let result = if inst.saturate { self.cx.saturate(result) } else { result };
        self.cx.b.slot_set_lanes(self.registers[usize::from(inst.d & 15)], inst.mask, result);
    }
}
