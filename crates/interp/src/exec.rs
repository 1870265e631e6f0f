//! One invocation, step by step: registers, frames, and what each instruction does to them.

mod state;

pub(crate) use state::{Fragments, Frame, Lane, World};

use crate::bindings::Bindings;
use crate::code::{Access, Act, BlockCode, Code, FuncCode};
use crate::guest::{self, Guest};
use crate::memory::Region;
use crate::order::Order;
use crate::outcome::{End, Event, Limits, Stats, Visit};
use crate::texel;
use crate::trap::{At, Cause, Trap};
use smallvec::SmallVec;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::fold::{Fault, MAX_FOLD_ARGS, eval};
use xenoglot_ir::imm::Space;
use xenoglot_ir::module::{Builtin, OutOfBounds, Semantic};
use xenoglot_ir::{Bits, Block, Func, Module, TermKind, Var};

/// How far to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// To the end.
    End,
    /// Until control has moved: along an edge, into a call or out of one.
    Moved,
}

/// Why an invocation paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pause {
    /// It has ended.
    Ended,
    /// The next instruction is one that invocations execute together.
    Joint,
    /// Control has moved.
    Moved,
}

/// Where the instructions of a block led.
pub(crate) enum Flow {
    /// At an instruction that invocations execute together.
    Joint,
    /// Into a call.
    Called,
    /// At the terminator.
    Terminator,
}

/// A resolved module.
#[derive(Debug)]
pub(crate) struct Program<'m> {
    pub(crate) module: &'m Module,
    pub(crate) funcs: Vec<FuncCode>,
    /// By function; empty if no instruction is executed by several invocations together.
    pub(crate) orders: Vec<Order>,
}

impl FuncCode {
    pub(crate) fn block(&self, block: Block) -> &BlockCode {
        &self.blocks[block]
    }
}

impl Program<'_> {
    pub(crate) fn func(&self, func: Func) -> &FuncCode {
        &self.funcs[func.index()]
    }

    pub(crate) fn order(&self, func: Func) -> Option<&Order> {
        self.orders.get(func.index())
    }

    /// Where the invocation stands.
    pub(crate) fn at(&self, lane: &Lane) -> At {
        let Some(frame) = lane.frames.last() else { return At::nowhere() };
        let func = self.func(frame.func);
        let block = func.block(frame.block);
        let code = (frame.pc < block.end).then(|| &func.code[frame.pc as usize]);
        At {
            func: frame.func,
            block: frame.block,
            inst: code.map(|c| c.inst),
            guest: code.map_or(block.guest, |c| c.guest),
        }
    }

    pub(crate) fn trap(&self, lane: &Lane, cause: Cause) -> Trap {
        Trap { cause, at: self.at(lane) }
    }

    /// The instruction the invocation stands at; `None` at a terminator.
    pub(crate) fn next<'a>(&'a self, lane: &Lane) -> Option<(&'a FuncCode, &'a Code)> {
        let frame = lane.frames.last()?;
        let func = self.func(frame.func);
        (frame.pc < func.block(frame.block).end).then(|| (func, &func.code[frame.pc as usize]))
    }

    /// Starts `func` with `args`, one per parameter.
    pub(crate) fn enter(
        &self,
        lane: &mut Lane,
        world: &mut World,
        func: Func,
        args: &[Bits],
    ) -> Result<(), Cause> {
        let code = self.funcs.get(func.index()).ok_or(Cause::NoFunction { func })?;
        let limit = world.limits.call_depth;
        if lane.frames.len() as u64 > u64::from(limit) {
            return Err(Cause::CallDepth { limit });
        }
        world.claim(self.frame_bytes(func))?;
        let (base, private) = (lane.regs.len(), lane.private.len());
        lane.regs.resize(base + code.reg_count as usize, Bits::default());
        lane.private.resize(private + code.private_size as usize, 0);
        let entry = code.entry;
        lane.frames.push(Frame {
            func,
            block: entry,
            pc: code.block(entry).start,
            base,
            private,
            iterations: self.order(func).map_or_else(Vec::new, |order| order.start(entry)),
        });
        for (&r, &value) in code.regs(code.params).iter().zip(args) {
            lane.set(r, value);
        }
        guest::fill(lane, world, code)?;
        world.visit(func, entry);
        Ok(())
    }

    fn frame_bytes(&self, func: Func) -> u64 {
        let code = self.func(func);
        u64::from(code.reg_count) * size_of::<Bits>() as u64 + u64::from(code.private_size)
    }

    fn leave(&self, lane: &mut Lane, world: &mut World) {
        if let Some(frame) = lane.frames.pop() {
            world.release(self.frame_bytes(frame.func));
            lane.regs.truncate(frame.base);
            lane.private.truncate(frame.private);
        }
    }

    fn end(&self, lane: &mut Lane, world: &mut World, end: End) {
        while !lane.frames.is_empty() {
            self.leave(lane, world);
        }
        lane.end = Some(end);
    }

    /// Runs until a joint instruction, the end, or as far as `until` says.
    pub(crate) fn run(&self, lane: &mut Lane, world: &mut World, until: Until) -> Result<Pause, Trap> {
        loop {
            let flow = self.body(lane, world).map_err(|cause| self.trap(lane, cause))?;
            match flow {
                Flow::Joint => return Ok(Pause::Joint),
                Flow::Called => {}
                Flow::Terminator => self.terminate(lane, world).map_err(|cause| self.trap(lane, cause))?,
            }
            if lane.end.is_some() {
                return Ok(Pause::Ended);
            }
            if until == Until::Moved {
                return Ok(Pause::Moved);
            }
        }
    }

    /// Executes instructions of the current block up to its terminator, a call, or a joint instruction.
    pub(crate) fn body(&self, lane: &mut Lane, world: &mut World) -> Result<Flow, Cause> {
        let frame = lane.frame();
        let func = self.func(frame.func);
        let end = func.block(frame.block).end;
        while lane.frame().pc < end {
            let code = &func.code[lane.frame().pc as usize];
            if code.act.is_joint() {
                return Ok(Flow::Joint);
            }
            world.burn()?;
            if let Act::Call(callee, _) = code.act {
                self.call(lane, world, func, code, callee)?;
                return Ok(Flow::Called);
            }
            self.step(lane, world, func, code)?;
            lane.frame().pc += 1;
        }
        Ok(Flow::Terminator)
    }

    fn call(
        &self,
        lane: &mut Lane,
        world: &mut World,
        func: &FuncCode,
        code: &Code,
        callee: Func,
    ) -> Result<(), Cause> {
        let args: SmallVec<[Bits; 8]> = func.regs(code.args).iter().map(|&r| lane.reg(r)).collect();
        guest::spill(lane, world, func)?;
        // The caller stands at the call until it returns, so that the results find their registers.
        self.enter(lane, world, callee, &args)
    }

    fn step(&self, lane: &mut Lane, world: &mut World, func: &FuncCode, code: &Code) -> Result<(), Cause> {
        let regs = func.regs(code.args);
        let operand = |lane: &Lane, i: usize| regs.get(i).map_or(Bits::default(), |&r| lane.reg(r));
        let result = match code.act {
            Act::Fold => {
                let mut args = [Bits::default(); MAX_FOLD_ARGS];
                if regs.len() > MAX_FOLD_ARGS {
                    return Err(Cause::Unsupported { op: code.op });
                }
                for (to, &r) in args.iter_mut().zip(regs) {
                    *to = lane.reg(r);
                }
                let args = &args[..regs.len()];
                let value =
                    eval(code.op, &code.cx, args, func.types(code.args)).map_err(|fault| match fault {
                        Fault::Unsupported => Cause::Unsupported { op: code.op },
                        Fault::DivisionByZero => Cause::DivisionByZero,
                    })?;
                if let Some(guest) = &mut world.guest
                    && guest::rounds(code.op)
                {
                    guest.float(code.op, &code.cx, args);
                }
                value
            }
            Act::Const(c) => func.consts[c as usize],
            Act::Zero => Bits::default(),
            Act::Word(word) => Bits::scalar(word.into()),
            Act::Get(slot) => lane.reg(slot),
            Act::Set(slot) => {
                lane.set(slot, operand(lane, 0));
                return Ok(());
            }
            Act::Input(var) => self.input(lane, world, var, operand(lane, 0).0[0] as u32)?,
            Act::OutputGet(var) => *world.output(lane.index, var, operand(lane, 0).0[0] as u32)?,
            Act::Output(var) => {
                let (value, index) = (operand(lane, 0), operand(lane, 1).0[0] as u32);
                if !lane.helper {
                    *world.output(lane.index, var, index)? = value;
                }
                return Ok(());
            }
            Act::EmitVertex => {
                let vertex = world.bindings.all_outputs().to_vec();
                return world.event(Event::Vertex(vertex));
            }
            Act::EndPrimitive => return world.event(Event::EndPrimitive),
            Act::GuestLoad(access) => guest::load(lane, world, func, &access, operand(lane, 0).0[0])?,
            Act::GuestStore(access) => {
                let [address, value] = [0, 1].map(|i| operand(lane, i));
                return guest::store(lane, world, func, &access, address.0[0], value);
            }
            Act::Load(access) => {
                let (mut region, offset) = region(self, lane, world, &access, regs)?;
                region.load(offset, access.ty)?
            }
            Act::Store(access) => {
                let (value, helper) = (operand(lane, 1), lane.helper);
                let (mut region, offset) = region(self, lane, world, &access, regs)?;
                return if helper { Ok(()) } else { region.store(offset, access.ty, value) };
            }
            Act::Atomic(..) if lane.helper => Bits::default(),
            Act::Atomic(access) => {
                let (a, b) = (operand(lane, 1).0[0], operand(lane, 2).0[0]);
                let (mut region, offset) = region(self, lane, world, &access, regs)?;
                region.atomic(code.op, offset, access.ty, a, b)?
            }
            Act::Size(resource) => {
                let element = regs.first().map(|&r| lane.reg(r).0[0] as u32);
                let bound = world.bindings.bound_mut(resource, element);
                Bits::scalar(bound.ok_or(Cause::UnboundResource { resource })?.len() as u64)
            }
            Act::Demote => {
                lane.helper = true;
                return Ok(());
            }
            Act::DiscardIf => {
                lane.helper |= operand(lane, 0).0[0] != 0;
                return Ok(());
            }
            Act::Helper => Bits::scalar(u64::from(lane.helper)),
            Act::Handle(resource) => texel::handle(resource, regs.first().map(|&r| lane.reg(r))),
            Act::TexelLoad(results) => {
                let texel = texel::load(world.bindings, code.op, operand(lane, 0), operand(lane, 1))?;
                let values = [texel, Bits::scalar(1)];
                func.regs(results).iter().zip(values).for_each(|(&r, value)| lane.set(r, value));
                return Ok(());
            }
            Act::Clock => {
                let count = world.stats.insts;
                Bits([count & u64::from(u32::MAX), count >> 32, 0, 0])
            }
            Act::TexelStore => {
                if !lane.helper {
                    let [handle, index, value] = [0, 1, 2].map(|i| operand(lane, i));
                    texel::store(world.bindings, code.op, handle, index, value)?;
                }
                return Ok(());
            }
            Act::TexelAtomic(_) if lane.helper => Bits::default(),
            Act::TexelAtomic(ty) => {
                let [handle, index, a, b] = [0, 1, 2, 3].map(|i| operand(lane, i));
                let operands = [a.0[0], b.0[0]];
                texel::atomic(world.bindings, code.op, ty, handle, index, operands)?
            }
            Act::Nothing => return Ok(()),
            Act::Unsupported => return Err(Cause::Unsupported { op: code.op }),
            // Left to the caller of `body`, which never steps over them.
            Act::Call(..) | Act::Barrier(_) | Act::Subgroup(..) => return Ok(()),
        };
        if let Some(r) = code.result {
            lane.set(r, result);
        }
        Ok(())
    }

    fn input(&self, lane: &Lane, world: &World, var: Var, index: u32) -> Result<Bits, Cause> {
        let own = world.fragments.as_ref().and_then(|f| f.inputs.get(lane.index as usize));
        if let Some((_, value)) = own.and_then(|own| own.iter().find(|(of, _)| *of == var)) {
            return Ok(*value);
        }
        match world.bindings.input(var, index) {
            Some(value) => value,
            None => self.builtin(lane, world, var).ok_or(Cause::UnboundInput { var }),
        }
    }

    /// What a dispatch knows about the invocation.
    fn builtin(&self, lane: &Lane, world: &World, var: Var) -> Option<Bits> {
        let Semantic::Builtin(builtin) = self.module.vars[var].semantic else { return None };
        let size = self.module.workgroup;
        let xyz = |v: [u32; 3]| Bits([v[0].into(), v[1].into(), v[2].into(), 0]);
        Some(match builtin {
            Builtin::GlobalInvocationId => {
                xyz(std::array::from_fn(|i| world.group[i].wrapping_mul(size[i]).wrapping_add(lane.local[i])))
            }
            Builtin::LocalInvocationId => xyz(lane.local),
            Builtin::LocalInvocationIndex => Bits::scalar(lane.index.into()),
            Builtin::WorkgroupId => xyz(world.group),
            Builtin::NumWorkgroups => xyz(world.groups),
            _ => return None,
        })
    }

    /// Executes the terminator of the current block.
    pub(crate) fn terminate(&self, lane: &mut Lane, world: &mut World) -> Result<(), Cause> {
        world.burn()?;
        let frame = lane.frame();
        let func = self.func(frame.func);
        let block = func.block(frame.block);
        let args = func.regs(block.args);
        let operand = |lane: &Lane| args.first().map_or(0, |&r| lane.reg(r).0[0]);
        match block.kind {
            TermKind::Jump | TermKind::Branch | TermKind::Switch => {
                let edge = block.first_edge + self.choose(lane, func, block);
                self.copy(lane, func, edge);
                self.go(lane, world, func.edges[edge as usize].target);
            }
            TermKind::Return => self.give_back(lane, world, args)?,
            TermKind::Kill => self.end(lane, world, End::Kill),
            TermKind::Unreachable => return Err(Cause::Unreachable),
            TermKind::Exit | TermKind::TailCallGuest | TermKind::Trap => {
                let first = operand(lane);
                let end = match block.kind {
                    TermKind::Exit => End::Exit(first),
                    TermKind::Trap => {
                        End::Trap { code: first, pc: args.get(1).map_or(0, |&r| lane.reg(r).0[0]) }
                    }
                    _ => End::TailCallGuest(first),
                };
                guest::spill(lane, world, func)?;
                self.end(lane, world, end);
            }
        }
        Ok(())
    }

    /// Which out edge the block's terminator takes.
    pub(crate) fn choose(&self, lane: &Lane, func: &FuncCode, block: &BlockCode) -> u32 {
        let value = func.regs(block.args).first().map_or(0, |&r| lane.reg(r).0[0]);
        match block.kind {
            TermKind::Branch => u32::from(value == 0),
            TermKind::Switch => match block.cases.binary_search_by_key(&value, |c| c.0) {
                Ok(i) => block.cases[i].1,
                Err(_) => block.cases.len() as u32,
            },
            _ => 0,
        }
    }

    /// The parallel copy of an edge: every argument is read before a parameter is written.
    pub(crate) fn copy(&self, lane: &mut Lane, func: &FuncCode, edge: u32) {
        let edge = &func.edges[edge as usize];
        let mut scratch = std::mem::take(&mut lane.scratch);
        scratch.clear();
        scratch.extend(func.regs(edge.args).iter().map(|&r| lane.reg(r)));
        for (&r, &value) in func.regs(edge.params).iter().zip(&scratch) {
            lane.set(r, value);
        }
        lane.scratch = scratch;
    }

    pub(crate) fn go(&self, lane: &mut Lane, world: &mut World, to: Block) {
        let frame = lane.frame();
        let func = frame.func;
        if let Some(order) = self.order(func) {
            order.follow(&mut frame.iterations, frame.block, to);
        }
        frame.block = to;
        frame.pc = self.func(func).block(to).start;
        world.visit(func, to);
    }

    fn give_back(&self, lane: &mut Lane, world: &mut World, values: &[u32]) -> Result<(), Cause> {
        let mut returned: SmallVec<[Bits; 4]> = values.iter().map(|&r| lane.reg(r)).collect();
        let func = lane.frame().func;
        guest::spill(lane, world, self.func(func))?;
        self.leave(lane, world);
        let Some(caller) = lane.frames.last_mut() else {
            lane.returns = std::mem::take(&mut returned);
            lane.end = Some(End::Return);
            return Ok(());
        };
        let func = self.func(caller.func);
        if let Act::Call(_, results) = func.code[caller.pc as usize].act {
            for (&r, &value) in func.regs(results).iter().zip(&returned) {
                lane.set(r, value);
            }
        }
        guest::fill(lane, world, func)?;
        lane.frame().pc += 1;
        Ok(())
    }
}

/// The memory an access goes to, and its offset there.
fn region<'a>(
    program: &Program,
    lane: &'a mut Lane,
    world: &'a mut World,
    access: &Access,
    regs: &[u32],
) -> Result<(Region<'a>, u64), Cause> {
    let mem = &access.mem;
    let mut offset = regs.first().map_or(0, |&r| lane.reg(r).0[0]);
    let (bytes, policy): (&mut [u8], OutOfBounds) = match (mem.space, mem.resource.expand()) {
        (Space::Shared, _) => (world.shared, OutOfBounds::Fault),
        (Space::Private, _) => {
            let start = lane.frame().private;
            (&mut lane.private[start..], OutOfBounds::Fault)
        }
        (Space::GuestRegs, _) => {
            let guest = world.guest.as_deref_mut().ok_or(Cause::NoGuest)?;
            (guest.registers(), OutOfBounds::Fault)
        }
        (Space::Global, _) => match world.bindings.memory_mut(offset) {
            Some((bytes, inside)) => {
                offset = inside;
                (bytes, OutOfBounds::Fault)
            }
            None => (&mut [], OutOfBounds::Fault),
        },
        (_, Some(resource)) => {
            let element = regs.last().filter(|_| access.array).map(|&r| lane.reg(r).0[0] as u32);
            let bound = world.bindings.bound_mut(resource, element);
            let buffer = bound.ok_or(Cause::UnboundResource { resource })?;
            (buffer, program.module.resources[resource].oob)
        }
        // `resolve` lets nothing else through.
        (_, None) => (&mut [], OutOfBounds::Fault),
    };
    Ok((Region { bytes, policy, info: *mem, stats: &mut world.stats }, offset))
}
