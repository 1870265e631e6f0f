//! Ifs, and ends of lists that lead further than to the end of their selection.
//!
//! SPIR-V has blocks inside of selections branch straight to the merge block or the continue target of the loop around them,
//! and to the merge block of the switch around them. An arm behind whose selection nothing follows but such a place branches
//! there, so that values meet once, in one phi, instead of at the end of each selection on the way. Where a list goes on
//! behind selections that end inside each other, a switch without cases around them is that place.
//!
//! An arm that only chooses values and goes on needs no block: the branch leads where it goes, and the values are written on
//! that edge.

use super::*;
use crate::options::Version;

/// Selections that end inside each other and have to choose values, which a switch around them is worth.
const WORTH_A_SWITCH: usize = 4;

/// Selections that are looked at to find those.
const LOOKED_AT: usize = 32;

/// Values that an arm without code chooses at most.
const MOST_VALUES: usize = 8;

/// A place outside of selections that blocks inside may branch to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// The merge block of the innermost loop.
    Break,
    /// The continue target of the innermost loop.
    Continue,
    /// The merge block with this label, of the innermost switch.
    Switch(Id),
}

/// What is behind a construct.
#[derive(Clone, Copy, Default)]
pub(super) struct Behind<'a> {
    /// Where its end leads, if nothing else is executed before.
    pub(super) exit: Option<Exit>,
    /// The rest of its list.
    pub(super) rest: &'a [Stmt],
}

/// What an arm does.
enum Way {
    /// It writes variables and goes on: to an exit, or to the end of the selection.
    Direct(SmallVec<[Stmt; 4]>, Option<Exit>),
    /// It has code.
    Code(List),
}

impl Body<'_, '_> {
    /// Where the end of a construct leads, with `rest` behind it in a list whose end leads to `exit`.
    pub(super) fn exit_behind(&self, rest: &[Stmt], exit: Option<Exit>) -> Option<Exit> {
        match rest {
            _ if self.shared.unit.options.portable_ops => None,
            [] => exit,
            [Stmt::Break] => Some(Exit::Break),
            [Stmt::Continue] => Some(Exit::Continue),
            _ => None,
        }
    }

    /// Where the ends of a selection's arms lead; `None`: to its merge block, as those of a selection that is no switch.
    pub(super) fn exit_of_arm(&self, select: &Select) -> Option<Exit> {
        select.exit.or(select.is_exit.then_some(Exit::Switch(select.merge)))
    }

    /// The label of an exit.
    fn target(&self, exit: Exit) -> Id {
        let target = self.scratch.targets.last();
        match exit {
            Exit::Break => target.map_or(0, |target| target.merge),
            Exit::Continue => target.map_or(0, |target| target.again),
            Exit::Switch(merge) => merge,
        }
    }

    /// Notes that `from` leads to an exit.
    fn add_exit(&mut self, exit: Exit, from: u32) {
        let target = self.scratch.targets.last_mut();
        match (exit, target) {
            (Exit::Break, Some(target)) => target.breaks.push(from),
            (Exit::Continue, Some(target)) => target.continues.push(from),
            // Selections between here and the switch have exits themselves and note nothing, so the last ones are the switch's.
            (Exit::Switch(_), _) => self.scratch.preds.push(from),
            (Exit::Break | Exit::Continue, None) => {}
        }
    }

    /// Ends the block with a jump to an exit.
    pub(super) fn leave_to(&mut self, exit: Exit) {
        if let Some(from) = self.leave(self.target(exit)) {
            self.add_exit(exit, from);
        }
    }

    /// An if with a body for true and one for false.
    pub(super) fn select(&mut self, cond: Id, bodies: &[Option<List>; 2], behind: Behind<'_>) {
        if self.shared.unit.options.portable_ops || !self.scratch.ssa.blocks[self.block as usize].reachable {
            return self.open_if(cond, bodies);
        }
        match bodies.map(|body| self.way(body)) {
            [Way::Direct(yes, to), Way::Direct(no, or)] => {
                if !self.direct(cond, [&yes, &no], [to, or], behind) {
                    self.open_if(cond, bodies);
                }
            }
            [Way::Code(yes), Way::Direct(no, to)] => self.beside(cond, yes, true, &no, to, behind),
            [Way::Direct(yes, to), Way::Code(no)] => self.beside(cond, no, false, &yes, to, behind),
            [Way::Code(_), Way::Code(_)] => {
                let exit = behind.exit.or_else(|| self.wrap(bodies));
                let first = self.open_if_head(cond, bodies);
                let merge = first.1;
                let (head, preds) = (self.block, self.scratch.preds.len() as u32);
                self.next_arm(Select { arms: first.0 as u32, preds, head, merge, exit, is_exit: false });
            }
        }
    }

    /// An if whose arms end at its merge block, in blocks of their own.
    fn open_if(&mut self, cond: Id, bodies: &[Option<List>; 2]) {
        let head = self.block;
        let (first, merge) = self.open_if_head(cond, bodies);
        let direct = bodies.iter().any(Option::is_none).then_some(head);
        self.open_select(first, merge, direct, false);
    }

    /// The head of an if; the place of its first arm, and its merge block.
    fn open_if_head(&mut self, cond: Id, bodies: &[Option<List>; 2]) -> (usize, Id) {
        let merge = self.unit().id();
        let labels = bodies.map(|b| if b.is_some() { self.unit().id() } else { merge });
        self.unit().effect(S::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.end(S::BranchConditional, &[cond, labels[0], labels[1]]);
        let first = self.scratch.arms.len();
        for (label, body) in labels.into_iter().zip(bodies).rev() {
            if let &Some(body) = body {
                self.scratch.arms.push((label, Arm::List(body)));
            }
        }
        (first, merge)
    }

    /// What an arm does.
    fn way(&self, body: Option<List>) -> Way {
        let Some(body) = body else { return Way::Direct(SmallVec::new(), None) };
        let (writes, exit) = match self.tree.list(body) {
            [writes @ .., Stmt::Break] => (writes, Some(Exit::Break)),
            [writes @ .., Stmt::Continue] => (writes, Some(Exit::Continue)),
            writes => (writes, None),
        };
        if self.are_writes(writes) { Way::Direct(writes.into(), exit) } else { Way::Code(body) }
    }

    /// Whether statements do nothing but write variables, few and not in memory.
    fn are_writes(&self, list: &[Stmt]) -> bool {
        list.len() <= MOST_VALUES
            && list.iter().all(|stmt| match *stmt {
                Stmt::Edge(edge) => {
                    let edge = &self.function.edges(edge.from)[edge.index as usize];
                    let params = self.function.params(edge.block);
                    params.len() <= MOST_VALUES && params.iter().all(|p| self.memory(p.as_u32()).is_none())
                }
                Stmt::Set { var, .. } => self.memory(selector(self.function, var)).is_none(),
                _ => false,
            })
    }

    /// An if without code; whether it could be made one without blocks of its own.
    fn direct(&mut self, cond: Id, writes: [&[Stmt]; 2], to: [Option<Exit>; 2], behind: Behind<'_>) -> bool {
        let mut ways = [0, 1].map(|n| (SmallVec::<[Stmt; 8]>::from_slice(writes[n]), to[n].or(behind.exit)));
        if ways[0].1 == ways[1].1 {
            if !self.choose(cond, writes) {
                return false;
            }
            // What has no exit of its own goes on with the list.
            if let Some(exit) = to[0].and(to[1]) {
                self.leave_to(exit);
            }
            return true;
        }
        // The one that goes on with the list takes what is left of it along if that are writes and an exit, too.
        let mut takes_rest = false;
        if let Some((stays, _)) = ways.iter_mut().find(|way| way.1.is_none()) {
            let (more, exit) = match behind.rest {
                [more @ .., Stmt::Break] => (more, Exit::Break),
                [more @ .., Stmt::Continue] => (more, Exit::Continue),
                _ => (&[][..], Exit::Switch(0)),
            };
            let is_other = to.iter().flatten().all(|&other| other != exit);
            if exit != Exit::Switch(0) && is_other && self.are_writes(more) {
                stays.extend_from_slice(more);
                takes_rest = true;
                ways.iter_mut().for_each(|way| way.1 = way.1.or(Some(exit)));
            }
        }
        if takes_rest && let Some(Frame::List { list, next, .. }) = self.scratch.frames.last_mut() {
            *next = self.tree.list(*list).len() as u32;
        }
        let head = self.block;
        let from = [0, 1].map(|n| self.edge_block(head, &ways[n].0));
        let next = self.unit().id();
        let labels = [0, 1].map(|n| ways[n].1.map_or(next, |exit| self.target(exit)));
        self.block = head;
        self.end(S::BranchConditional, &[cond, labels[0], labels[1]]);
        for n in 0..2 {
            match ways[n].1 {
                Some(exit) => self.add_exit(exit, from[n]),
                None => {
                    self.open_block(next, from[n]);
                }
            }
        }
        true
    }

    /// An `if` with code in one arm; the other arm only writes variables.
    fn beside(
        &mut self,
        cond: Id,
        code: List,
        code_if: bool,
        writes: &[Stmt],
        to: Option<Exit>,
        behind: Behind<'_>,
    ) {
        let exit = match to {
            Some(_) => behind.exit,
            None => behind.exit.or_else(|| self.wrap(&[Some(code), None])),
        };
        let head = self.block;
        let from = self.edge_block(head, writes);
        self.block = head;
        let inner = self.unit().id();
        let order = |to: Id| if code_if { [cond, inner, to] } else { [cond, to, inner] };
        let Some(leaves) = to.or(exit) else {
            let merge = self.unit().id();
            self.unit().effect(S::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
            self.end(S::BranchConditional, &order(merge));
            let first = self.scratch.arms.len();
            self.scratch.arms.push((inner, Arm::List(code)));
            return self.open_select(first, merge, Some(from), false);
        };
        // A branch with an exit on one side is no selection and needs no merge block.
        let words = order(self.target(leaves));
        self.end(S::BranchConditional, &words);
        self.add_exit(leaves, from);
        self.open_block(inner, head);
        if exit.is_some() {
            let (arms, preds) = (self.scratch.arms.len() as u32, self.scratch.preds.len() as u32);
            let select = Select { arms, preds, head, merge: 0, exit, is_exit: false };
            self.scratch.frames.push(Frame::Select(select));
        }
        self.push_list(code, exit);
    }

    /// The block that phis know an edge out of `head` by: `head` itself, or where the edge writes variables, one that has its label
    /// and those writes.
    fn edge_block(&mut self, head: u32, writes: &[Stmt]) -> u32 {
        if writes.is_empty() {
            return head;
        }
        let (label, start) = (self.label(head), self.unit().code.len());
        self.block = self.scratch.ssa.add_one(label, start, head);
        for &stmt in writes {
            match stmt {
                Stmt::Edge(edge) => self.edge(edge),
                Stmt::Set { var, value } => {
                    let id = self.unit().u32(value);
                    self.write(selector(self.function, var), id);
                }
                _ => {}
            }
        }
        self.block
    }

    /// An if whose arms do nothing but choose values, as choices of values; whether it is one.
    fn choose(&mut self, cond: Id, arms: [&[Stmt]; 2]) -> bool {
        let mut written: [SmallVec<[(u32, Id); 4]>; 2] = Default::default();
        for (written, list) in written.iter_mut().zip(arms) {
            if list.iter().filter(|stmt| matches!(stmt, Stmt::Edge(_))).count() > 1 {
                return false;
            }
            for &stmt in list {
                match stmt {
                    Stmt::Set { var, value } => {
                        let id = self.unit().u32(value);
                        written.push((selector(self.function, var), id));
                    }
                    Stmt::Edge(edge) => written.extend(self.edge_values(edge)),
                    _ => {}
                }
            }
        }
        let [yes, no] = &written;
        let vars = || yes.iter().chain(no).map(|&(var, _)| var);
        let vectors = self.shared.unit.since(Version::V1_4);
        let fits = |var: u32| vectors || var_type(self.function, var).is_scalar();
        if vars().count() > MOST_VALUES || !vars().all(fits) {
            return false;
        }
        let mut chosen: SmallVec<[(u32, Id); 4]> = SmallVec::new();
        for var in vars() {
            if chosen.iter().any(|&(known, _)| known == var) {
                continue;
            }
            let mut of = |arm: &[(u32, Id)]| match arm.iter().rev().find(|&&(known, _)| known == var) {
                Some(&(_, id)) => id,
                None => self.scratch.ssa.read(var, self.block),
            };
            let (yes, no) = (of(yes), of(no));
            let id = match (yes, no) {
                // What was not written before may be anything.
                (UNDEF, id) | (id, UNDEF) => id,
                (yes, no) if yes == no => yes,
                (yes, no) => {
                    let ty = var_type(self.function, var);
                    self.unit().op(S::Select, ty, &[cond, yes, no])
                }
            };
            chosen.push((var, id));
        }
        for (var, id) in chosen {
            if id != UNDEF {
                self.write(var, id);
            }
        }
        true
    }

    /// Opens a switch without cases around an if with these bodies, if it is worth one, and returns its end.
    fn wrap(&mut self, bodies: &[Option<List>; 2]) -> Option<Exit> {
        if !self.is_worth_a_switch(bodies.iter().copied().flatten()) {
            return None;
        }
        let unit = self.unit();
        let (merge, inner, zero) = (unit.id(), unit.id(), unit.u32(0));
        let head = self.block;
        self.unit().effect(S::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.end(S::Switch, &[zero, inner]);
        let (arms, preds) = (self.scratch.arms.len() as u32, self.scratch.preds.len() as u32);
        let select = Select { arms, preds, head, merge, exit: None, is_exit: true };
        self.scratch.frames.push(Frame::Select(select));
        self.open_block(inner, head);
        Some(Exit::Switch(merge))
    }

    /// Whether so many selections that write variables are at the ends of these lists, at the ends of their arms, and so on,
    /// that a switch whose end they all lead to is shorter than merge blocks of their own.
    pub(super) fn is_worth_a_switch(&self, lists: impl Iterator<Item = List>) -> bool {
        if self.shared.unit.options.portable_ops {
            return false;
        }
        let mut work: SmallVec<[List; LOOKED_AT]> = lists.take(LOOKED_AT).collect();
        let (mut looked_at, mut count) = (0, 0);
        while let Some(list) = work.pop() {
            let bodies: SmallVec<[List; 4]> = match self.tree.list(list).last() {
                Some(&Stmt::Branch { arms, .. }) => {
                    self.tree.arms(arms).iter().take(LOOKED_AT).map(|arm| arm.body).collect()
                }
                Some(&Stmt::Guard { body, .. }) => SmallVec::from_slice(&[body]),
                _ => continue,
            };
            looked_at += 1;
            count += usize::from(bodies.iter().any(|&body| self.writes(body)));
            if count >= WORTH_A_SWITCH || looked_at >= LOOKED_AT {
                break;
            }
            work.extend(bodies);
        }
        count >= WORTH_A_SWITCH
    }

    /// Whether a list writes variables itself.
    fn writes(&self, list: List) -> bool {
        self.tree.list(list).iter().any(|stmt| match *stmt {
            Stmt::Edge(edge) => !self.function.edges(edge.from)[edge.index as usize].args.is_empty(),
            Stmt::Set { .. } => true,
            _ => false,
        })
    }
}
