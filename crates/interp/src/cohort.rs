//! Invocations that run together: subgroups in lock step, workgroups that meet at barriers.
//!
//! In a subgroup those who stand at the same place with the same calls and iterations behind them go together; of
//! several such parties the one that is behind goes first (see [`crate::order`]), so that parties meet again. One turn
//! takes a party to the end of its block, or over one op that it executes as one.

use crate::code::Act;
use crate::exec::{Lane, Program, Until, World};
use crate::outcome::Visit;
use crate::subgroup::{Active, together};
use crate::trap::{Cause, Trap};
use std::cmp::Ordering;
use xenoglot_ir::Bits;
use xenoglot_ir::imm::Scope;

/// Runs a workgroup of started invocations to the end.
pub(crate) fn run(program: &Program, lanes: &mut [Lane], world: &mut World, width: u8) -> Result<(), Trap> {
    let mut party = Vec::new();
    let mut active = Vec::new();
    loop {
        for (number, subgroup) in (0..).zip(lanes.chunks_mut(usize::from(width))) {
            while gather(program, subgroup, &mut party) {
                turn(program, subgroup, number, &party, world, width, &mut active)?;
            }
        }
        if lanes.iter().all(|l| l.end.is_some()) {
            return Ok(());
        }
        meet(program, lanes)?;
    }
}

/// Which of two running invocations is behind (`Less`: the first).
fn compare(program: &Program, a: &Lane, b: &Lane) -> Ordering {
    for (fa, fb) in a.frames.iter().zip(&b.frames) {
        // Equal so far means in the same call, so in the same function.
        let order = program.order(fa.func).map_or(Ordering::Equal, |order| order.compare(fa, fb));
        if order != Ordering::Equal {
            return order;
        }
    }
    // Lanes that have yet to make the call are behind.
    a.frames.len().cmp(&b.frames.len())
}

/// Fills `party` with those of the subgroup whose turn it is; `false` if all have ended or wait.
fn gather(program: &Program, subgroup: &[Lane], party: &mut Vec<usize>) -> bool {
    party.clear();
    for (i, lane) in subgroup.iter().enumerate() {
        if lane.end.is_some() || lane.waits {
            continue;
        }
        match party.first().map_or(Ordering::Equal, |&first| compare(program, lane, &subgroup[first])) {
            Ordering::Less => {
                party.clear();
                party.push(i);
            }
            Ordering::Equal => party.push(i),
            Ordering::Greater => {}
        }
    }
    !party.is_empty()
}

fn turn(
    program: &Program,
    subgroup: &mut [Lane],
    number: u32,
    party: &[usize],
    world: &mut World,
    width: u8,
    active: &mut Vec<Active>,
) -> Result<(), Trap> {
    let leader = &subgroup[party[0]];
    if let Some(frame) = leader.frames.last()
        && frame.pc == program.func(frame.func).block(frame.block).start
    {
        let lanes = party.iter().fold(0, |mask, &i| mask | 1 << i);
        world.record(Visit { func: frame.func, block: frame.block, subgroup: number, lanes });
    }
    let Some((func, code)) = program.next(leader).filter(|(_, code)| code.act.is_joint()) else {
        for &i in party {
            program.run(&mut subgroup[i], world, Until::Moved)?;
        }
        return Ok(());
    };
    for &i in party {
        world.burn().map_err(|cause| program.trap(&subgroup[i], cause))?;
    }
    match code.act {
        Act::Barrier(info) if info.scope >= Scope::Workgroup => {
            party.iter().for_each(|&i| subgroup[i].waits = true);
        }
        Act::Subgroup(info, ty) => {
            let regs = func.regs(code.args);
            active.clear();
            active.extend(party.iter().map(|&i| {
                let operand = |n: usize| regs.get(n).map_or(Bits::default(), |&r| subgroup[i].reg(r));
                Active { lane: i as u32, value: operand(0), second: operand(1), third: operand(2) }
            }));
            together(code.op, &info, ty, width, code.cx.flags, active)
                .map_err(|cause| program.trap(&subgroup[party[0]], cause))?;
            for a in active {
                let lane = &mut subgroup[a.lane as usize];
                if let Some(r) = code.result {
                    lane.set(r, a.value);
                }
                lane.step_over();
            }
        }
        // A barrier among those who are in step already.
        _ => party.iter().for_each(|&i| subgroup[i].step_over()),
    }
    Ok(())
}

/// Lets the workgroup pass the barrier that all of it stands at.
fn meet(program: &Program, lanes: &mut [Lane]) -> Result<(), Trap> {
    let Some(first) = lanes.iter().find(|l| l.waits) else { return Ok(()) };
    let ended = lanes.iter().filter(|l| l.end.is_some()).count() as u32;
    if ended > 0 {
        return Err(program.trap(first, Cause::BarrierMissing { ended }));
    }
    if let Some(other) = lanes.iter().find(|l| compare(program, first, l) != Ordering::Equal) {
        let other = program.at(other);
        return Err(program.trap(first, Cause::BarrierDivergence { block: other.block, inst: other.inst }));
    }
    for lane in lanes {
        lane.waits = false;
        lane.step_over();
    }
    Ok(())
}
