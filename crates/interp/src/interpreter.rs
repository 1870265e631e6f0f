//! The entry points.

use crate::bindings::Bindings;
use crate::code::{FuncCode, Invalid, resolve};
use crate::cohort;
use crate::exec::{Fragments, Lane, Program, Until, World};
use crate::guest::Guest;
use crate::order::Order;
use crate::outcome::{Dispatched, End, Fragment, Limits, Outcome, Stats};
use crate::trap::{At, Cause, Trap};
use xenoglot_ir::{Bits, Func, Module, Var};

/// A module ready to run. Runs reuse registers and memory.
#[derive(Debug)]
pub struct Interpreter<'m> {
    program: Program<'m>,
    /// The invocation that runs alone, and those of a workgroup.
    alone: [Lane; 1],
    lanes: Vec<Lane>,
    shared: Vec<u8>,
    subgroup_width: u8,
}

impl<'m> Interpreter<'m> {
    /// Prepares `module`, in linear time; with barriers or subgroup ops, times the depth of its loops up to 64.
    /// Subgroups have 32 lanes.
    ///
    /// # Errors
    /// References to things that do not exist and wrong numbers of operands; a verified module has none. Operand
    /// types are the verifier's business and not looked at.
    pub fn new(module: &'m Module) -> Result<Interpreter<'m>, Invalid> {
        let funcs = resolve(module)?;
        let joint = funcs.iter().any(FuncCode::joint);
        let orders = if joint { funcs.iter().map(Order::new).collect() } else { Vec::new() };
        let program = Program { module, funcs, orders };
        Ok(Interpreter {
            program,
            alone: [Lane::default()],
            lanes: Vec::new(),
            shared: Vec::new(),
            subgroup_width: 32,
        })
    }

    /// Sets how many lanes a subgroup has, 1 to 64; values outside count as the nearest inside.
    pub fn set_subgroup_width(&mut self, lanes: u8) {
        self.subgroup_width = lanes.clamp(1, 64);
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.program.module
    }

    /// Runs the entry function as one invocation: the only one of its workgroup, which is the only one.
    ///
    /// # Errors
    /// As [`Interpreter::run_function`].
    pub fn run_entry(&mut self, bindings: &mut Bindings, limits: &Limits) -> Result<Outcome, Trap> {
        let func = self.entry()?;
        self.run_function(func, &[], bindings, limits)
    }

    /// Runs a function of the module as one invocation. Parameters without an argument are zeros. Outputs of
    /// `bindings` are zeroed first.
    ///
    /// # Errors
    /// What stopped it. Stores up to then have happened.
    pub fn run_function(
        &mut self,
        func: Func,
        args: &[Bits],
        bindings: &mut Bindings,
        limits: &Limits,
    ) -> Result<Outcome, Trap> {
        self.alone(func, args, bindings, limits, |program, lanes, world, width| {
            if program.orders.is_empty() {
                program.run(&mut lanes[0], world, Until::End)?;
                return Ok(());
            }
            cohort::run(program, lanes, world, width)
        })
    }

    /// Runs a function of stage `cpu` on a guest. Parameters without an argument are zeros.
    ///
    /// # Errors
    /// What stopped it. Stores up to then have happened.
    pub fn run_guest(
        &mut self,
        func: Func,
        args: &[Bits],
        guest: &mut dyn Guest,
        limits: &Limits,
    ) -> Result<Outcome, Trap> {
        let mut bindings = Bindings::new(self.program.module);
        let mut world = World::new(&mut bindings, &mut self.shared, limits);
        world.guest = Some(guest);
        let (program, lane) = (&self.program, &mut self.alone[0]);
        lane.reset([0; 3], 0);
        program.enter(lane, &mut world, func, args).map_err(|cause| program.trap(lane, cause))?;
        program.run(lane, &mut world, Until::End)?;
        Ok(Outcome {
            end: lane.end.unwrap_or(End::Return),
            returns: std::mem::take(&mut lane.returns),
            demoted: false,
            events: world.events,
            trace: world.trace,
            stats: world.stats,
        })
    }

    /// Runs one invocation by `run`.
    pub(crate) fn alone(
        &mut self,
        func: Func,
        args: &[Bits],
        bindings: &mut Bindings,
        limits: &Limits,
        run: impl FnOnce(&Program, &mut [Lane; 1], &mut World, u8) -> Result<(), Trap>,
    ) -> Result<Outcome, Trap> {
        bindings.clear_outputs();
        let mut world = World::new(bindings, &mut self.shared, limits);
        world.together = !self.program.orders.is_empty();
        let (program, lanes) = (&self.program, &mut self.alone);
        lanes[0].reset([0; 3], 0);
        let start = |lane: &mut Lane, world: &mut World| {
            world.reset_shared(program.module.shared_size)?;
            program.enter(lane, world, func, args)
        };
        start(&mut lanes[0], &mut world).map_err(|cause| program.trap(&lanes[0], cause))?;
        run(program, lanes, &mut world, self.subgroup_width)?;
        Ok(Outcome {
            end: lanes[0].end.unwrap_or(End::Return),
            returns: std::mem::take(&mut lanes[0].returns),
            demoted: lanes[0].helper,
            events: world.events,
            trace: world.trace,
            stats: world.stats,
        })
    }

    /// Runs the entry function for one workgroup, number `group` of `groups`, of the module's size.
    ///
    /// # Errors
    /// What stopped it, the first if several invocations would stop. Stores up to then have happened.
    pub fn run_workgroup(
        &mut self,
        group: [u32; 3],
        groups: [u32; 3],
        bindings: &mut Bindings,
        limits: &Limits,
    ) -> Result<Dispatched, Trap> {
        let func = self.entry()?;
        let mut world = World::new(bindings, &mut self.shared, limits);
        world.groups = groups;
        workgroup(&self.program, &mut self.lanes, &mut world, func, group, self.subgroup_width)?;
        Ok(Dispatched { trace: world.trace, stats: world.stats })
    }

    /// Runs the entry function for `groups` workgroups along x, y and z, x fastest, one after the other. The limits
    /// hold for all of them together; memory is counted for one at a time.
    ///
    /// # Errors
    /// As [`Interpreter::run_workgroup`].
    pub fn dispatch(
        &mut self,
        groups: [u32; 3],
        bindings: &mut Bindings,
        limits: &Limits,
    ) -> Result<Dispatched, Trap> {
        let func = self.entry()?;
        let mut world = World::new(bindings, &mut self.shared, limits);
        world.groups = groups;
        for z in 0..groups[2] {
            for y in 0..groups[1] {
                for x in 0..groups[0] {
                    workgroup(
                        &self.program,
                        &mut self.lanes,
                        &mut world,
                        func,
                        [x, y, z],
                        self.subgroup_width,
                    )?;
                }
            }
        }
        Ok(Dispatched { trace: world.trace, stats: world.stats })
    }

    /// Runs the entry function for fragments, each with inputs of its own beside those that are bound for all. Four in a
    /// row are a quad, the second beside the first, the third below it; quads share subgroups as lanes follow each other.
    ///
    /// # Errors
    /// What stopped it, the first if several fragments would stop. Stores up to then have happened.
    pub fn run_fragments(
        &mut self,
        fragments: &[Vec<(Var, Bits)>],
        bindings: &mut Bindings,
        limits: &Limits,
    ) -> Result<Vec<Fragment>, Trap> {
        let func = self.entry()?;
        bindings.clear_outputs();
        let outputs = vec![bindings.all_outputs().to_vec(); fragments.len()];
        let mut world = World::new(bindings, &mut self.shared, limits);
        world.fragments = Some(Fragments { inputs: fragments, outputs });
        let count = u32::try_from(fragments.len()).unwrap_or(u32::MAX);
        let size = [count, 1, 1];
        invocations(&self.program, &mut self.lanes, &mut world, func, size, self.subgroup_width)?;
        let outputs = world.fragments.take().map(|f| f.outputs).unwrap_or_default();
        let fragment = |(outputs, lane): (Vec<Bits>, &Lane)| Fragment { outputs, demoted: lane.helper };
        Ok(outputs.into_iter().zip(&self.lanes).map(fragment).collect())
    }

    fn entry(&self) -> Result<Func, Trap> {
        let entry = self.program.module.entry.expand();
        entry.ok_or(Trap { cause: Cause::NoEntry, at: At::nowhere() })
    }
}

/// Runs one workgroup; invocation by invocation if they have nothing to do together.
fn workgroup(
    program: &Program,
    lanes: &mut Vec<Lane>,
    world: &mut World,
    func: Func,
    group: [u32; 3],
    width: u8,
) -> Result<(), Trap> {
    world.group = group;
    invocations(program, lanes, world, func, program.module.workgroup, width)
}

/// Runs as many invocations as a workgroup of a size has.
fn invocations(
    program: &Program,
    lanes: &mut Vec<Lane>,
    world: &mut World,
    func: Func,
    size: [u32; 3],
    width: u8,
) -> Result<(), Trap> {
    let nowhere = |cause| Trap { cause, at: At::nowhere() };
    let count = size.iter().fold(1u64, |n, &s| n.saturating_mul(s.into()));
    world.together = !program.orders.is_empty();
    // Fragments tell each at its end whether they are helpers.
    let kept = world.together || world.fragments.is_some();
    // An empty workgroup costs something too, or a dispatch of many would never end.
    world.burn().map_err(nowhere)?;
    world.reset_shared(program.module.shared_size).map_err(nowhere)?;
    let at_once = if kept { count } else { count.min(1) };
    let bytes = at_once.saturating_mul(size_of::<Lane>() as u64);
    world.claim(bytes).map_err(nowhere)?;
    lanes.resize_with((at_once as usize).max(lanes.len()), Lane::default);
    let [width_x, width_y, _] = size.map(u64::from);
    for index in 0..count {
        let (x, yz) = (index % width_x, index / width_x);
        let lane = &mut lanes[if kept { index as usize } else { 0 }];
        lane.reset([x, yz % width_y, yz / width_y].map(|i| i as u32), index as u32);
        program.enter(lane, world, func, &[]).map_err(|cause| program.trap(lane, cause))?;
        if !world.together {
            program.run(lane, world, Until::End)?;
        }
    }
    if world.together {
        cohort::run(program, &mut lanes[..at_once as usize], world, width)?;
    }
    world.release(bytes);
    Ok(())
}

impl<'a> World<'a> {
    fn new(bindings: &'a mut Bindings, shared: &'a mut Vec<u8>, limits: &Limits) -> World<'a> {
        shared.clear();
        World {
            bindings,
            shared,
            limits: *limits,
            fuel: limits.fuel,
            memory: 0,
            stats: Stats::default(),
            trace: Vec::new(),
            events: Vec::new(),
            groups: [1; 3],
            group: [0; 3],
            guest: None,
            together: false,
            fragments: None,
        }
    }
}
