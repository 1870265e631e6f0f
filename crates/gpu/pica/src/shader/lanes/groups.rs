//! Control flow: groups of vertices that are at the same word with the same scopes.
//!
//! Where the vertices of a group take different branches it is split, and the group at the lowest address runs next. Groups
//! at the same place with the same scopes are joined. Scopes end by address (vectors/pica/FORMAT.md, section 4).

use super::code::{Code, Op, Place, Step};
use super::registers::{Registers, Set};
use crate::shader::unit::Uniforms;
use xenoglot_pica_shader::flow::{CALL_DEPTH, Control, IF_DEPTH, LOOP_DEPTH, Stack, Step as Way, Test};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Branch {
    otherwise: u32,
    end: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Call {
    end: u32,
    back: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Loop {
    start: u32,
    end: u32,
    /// Rounds that are left.
    count: u32,
    /// aL at first, and what is added to it.
    first: i32,
    step: i32,
}

/// The scopes that a group is in, and aL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Scopes {
    branches: Stack<Branch, IF_DEPTH>,
    calls: Stack<Call, CALL_DEPTH>,
    loops: Stack<Loop, LOOP_DEPTH>,
    al: i32,
}

impl Scopes {
    /// Takes a way from the word at `pc`, then closes the scopes that end after it. Gives where control goes on; nothing at
    /// END.
    fn take(&mut self, pc: u32, way: Way, uniforms: &Uniforms) -> Option<u32> {
        let after = pc + 1;
        let mut to = after;
        match way {
            Way::End => return None,
            Way::Next | Way::Break => {}
            Way::To(target) => to = target,
            Way::PushIf { otherwise, end } => {
                self.branches.push(Branch { otherwise, end });
            }
            Way::PushCall { to: target, end } => {
                self.calls.push(Call { end, back: after });
                to = target;
            }
            Way::PushLoop { end, uniform } => {
                let [count, first, step, _] = uniforms.int(uniform.into());
                let (first, step) = (first as i32, step as i32);
                self.loops.push(Loop { start: after, end, count, first, step });
                self.al = first;
            }
        }
        let mut q = after;
        for round in 1..=CALL_DEPTH {
            let Some(call) = self.calls.top().filter(|c| c.end == q) else { break };
            self.calls.pop();
            if round < CALL_DEPTH {
                (to, q) = (call.back, call.back);
            }
        }
        if let Some(branch) = self.branches.top().filter(|b| b.otherwise == after) {
            self.branches.pop();
            to = branch.end;
        }
        let broke = way == Way::Break;
        if let Some(top) = self.loops.top_mut().filter(|l| broke || l.end == after) {
            self.al = self.al.wrapping_add(top.step);
            if !broke && top.count != 0 {
                top.count -= 1;
                return Some(top.start);
            }
            let Loop { end, first, .. } = *top;
            self.loops.pop();
            to = end;
            if !self.loops.is_empty() {
                self.al = first;
            }
        }
        Some(to)
    }
}

/// Vertices at the same place.
#[derive(Clone, Copy, Debug)]
struct Group {
    set: Set,
    /// The next step.
    at: usize,
    scopes: Scopes,
}

/// Why a run did not come to the program's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// Nothing is left of the steps that may be executed.
    Fuel,
    /// Control reaches a word that is no instruction.
    Nothing,
    /// Control reaches a word that was left out of the code.
    Beyond,
}

/// What a run executes besides arithmetic.
pub(super) trait Emitter<const N: usize> {
    /// EMIT or SETEMIT.
    fn emit(&mut self, step: &Step, registers: &mut Registers<N>);
}

/// The emitter of vertex programs: none.
pub(super) struct NoEmitter;

impl<const N: usize> Emitter<N> for NoEmitter {
    fn emit(&mut self, _: &Step, _: &mut Registers<N>) {}
}

/// A run of a program.
pub(super) struct Run<'r> {
    pub code: &'r Code,
    pub uniforms: &'r Uniforms,
    /// Steps times vertices that may be executed; those that were are subtracted.
    pub fuel: &'r mut u64,
    /// Where the program starts, and aL there.
    pub entry: u32,
    pub al: i32,
}

impl Run<'_> {
    /// Runs the program on all vertices; gives aL at the end of the group that was done last.
    pub fn run<const N: usize>(
        &mut self,
        registers: &mut Registers<N>,
        emitter: &mut impl Emitter<N>,
    ) -> Result<i32, Stop> {
        let scopes = Scopes { al: self.al, ..Scopes::default() };
        let Some(at) = self.step_at(self.entry)? else { return Ok(self.al) };
        let mut group = Group { set: Registers::<N>::ALL, at, scopes };
        let mut waiting: Vec<Group> = Vec::new();
        loop {
            self.straight(&mut group, registers, emitter)?;
            let last = group.at;
            let pc = self.code.steps.get(last).map_or(0, |s| u32::from(s.pc));
            let (way, other) = match self.code.control(last) {
                Control::Always(way) => (way, None),
                Control::If(test, yes, no) => {
                    let holds = self.test(test, registers);
                    match (group.set & holds, group.set & !holds) {
                        (0, _) => (no, None),
                        (_, 0) => (yes, None),
                        (set, rest) => {
                            group.set = set;
                            (yes, Some((no, Group { set: rest, ..group })))
                        }
                    }
                }
            };
            let mut goes_on = self.follow(&mut group, pc, way)?;
            if let Some((way, mut other)) = other
                && self.follow(&mut other, pc, way)?
            {
                if goes_on {
                    waiting.push(other);
                } else {
                    (group, goes_on) = (other, true);
                }
            }
            if waiting.is_empty() {
                if goes_on {
                    continue;
                }
                return Ok(group.scopes.al);
            }
            if goes_on {
                waiting.push(group);
            }
            group = hindmost(&mut waiting).unwrap_or(group);
        }
    }

    /// Executes steps up to the next boundary, and leaves the group at that step.
    fn straight<const N: usize>(
        &mut self,
        group: &mut Group,
        registers: &mut Registers<N>,
        emitter: &mut impl Emitter<N>,
    ) -> Result<(), Stop> {
        let steps = self.code.steps.get(group.at..).unwrap_or_default();
        let al = group.scopes.al;
        let mut executed = 0;
        for step in steps {
            if let Op::Emit | Op::SetEmit(..) = step.op {
                emitter.emit(step, registers);
            } else {
                registers.execute(step, group.set, al);
            }
            executed += 1;
            if step.boundary {
                break;
            }
        }
        group.at += (executed as usize).saturating_sub(1);
        *self.fuel = self.fuel.checked_sub(executed * N as u64).ok_or(Stop::Fuel)?;
        Ok(())
    }

    fn test<const N: usize>(&self, test: Test, registers: &Registers<N>) -> Set {
        match test {
            Test::Flags(condition) => registers.condition(condition),
            Test::Bool(n, wanted) if (self.uniforms.bools() >> (n & 15) & 1 != 0) == wanted => Set::MAX,
            Test::Bool(..) => 0,
        }
    }

    /// Moves a group along a way from the word at `pc`. False at the program's end.
    fn follow(&self, group: &mut Group, pc: u32, way: Way) -> Result<bool, Stop> {
        let Some(to) = group.scopes.take(pc, way, self.uniforms) else { return Ok(false) };
        let Some(at) = self.step_at(to)? else { return Ok(false) };
        group.at = at;
        Ok(true)
    }

    /// The first step of the word at an address; nothing at the program's end.
    fn step_at(&self, pc: u32) -> Result<Option<usize>, Stop> {
        match self.code.place(pc) {
            Place::Step(at) => Ok(Some(at)),
            Place::End => Ok(None),
            Place::Nothing => Err(Stop::Nothing),
            Place::Beyond => Err(Stop::Beyond),
        }
    }
}

/// Takes out the group at the lowest address, joined with those at the same place.
fn hindmost(waiting: &mut Vec<Group>) -> Option<Group> {
    let at = waiting.iter().enumerate().min_by_key(|(_, g)| g.at)?.0;
    let mut group = waiting.swap_remove(at);
    waiting.retain(|other| {
        let same = other.at == group.at && other.scopes == group.scopes;
        if same {
            group.set |= other.set;
        }
        !same
    });
    Some(group)
}
